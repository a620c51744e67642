package sandbox

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// threadRoutes start threads; [threadListRoutes] find them.
var threadRoutes = []route{
	{method: "POST", path: "/channels/{channel_id}/messages/{message_id}/threads", handle: onMessage(discord.CreatePublicThreads|discord.ReadMessageHistory, startFromMessage)},
	{method: "POST", path: "/channels/{channel_id}/threads", handle: inChannel(0, startThread)},
}

var (
	errThreadExists = badRequest(160004, "A thread has already been created for this message")
	errTagRequired  = badRequest(40067, "A tag is required to create a forum post in this channel")
)

type threadForm struct {
	Name      string               `json:"name" minLength:"1" maxLength:"100"`
	Archive   opt[int]             `json:"auto_archive_duration" enum:"60,1440,4320,10080"`
	SlowMode  opt[int]             `json:"rate_limit_per_user" minimum:"0" maximum:"21600"`
	Type      opt[int]             `json:"type" enum:"10,11,12"`
	Invitable opt[bool]            `json:"invitable"`
	Applied   opt[[]discord.TagID] `json:"applied_tags" maxItems:"5"`
	Message   opt[messageBody]     `json:"message"`
}

// thread makes a thread of c and puts it there, with the bot in it.
func (x *exchange) thread(id discord.ChannelID, c *channel, t discord.ChannelType, f threadForm) *channel {
	made := &channel{Channel: Channel{
		ID: id, Guild: c.Guild, Type: t, Name: f.Name, Parent: c.ID, SlowMode: f.SlowMode.or(c.ThreadSlowMode),
		Thread: &Thread{
			Owner: x.actor, Invitable: f.Invitable.or(true), ArchivedAt: x.now, Applied: f.Applied.value,
			AutoArchive: f.Archive.or(orDefault(c.ThreadArchive, 4320)), Members: []ThreadMember{{x.actor, x.now}},
		},
	}}
	x.channels[id] = made
	x.audit(c.Guild, auditThreadCreate, string(id), AuditOptions{}, append(
		changed("name", "", f.Name), changed("type", 0, int(t))...)...)
	return made
}

// startFromMessage starts a thread whose id is its message's.
func startFromMessage(x *exchange, c *channel, m *Message) (answer, error) {
	if !isTextual(c.Type) {
		return refuse(errChannelType)
	}
	var f threadForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if m.Thread != "" || x.channels[discord.ChannelID(m.ID)] != nil {
		return refuse(errThreadExists)
	}
	t := x.thread(discord.ChannelID(m.ID), c, threadTypeIn(c), f)
	m.Thread = t.ID
	m.Flags |= flagHasThread
	x.notice(t, typeThreadStarter, "", &Reference{Guild: c.Guild, Channel: c.ID, Message: m.ID})
	return created(x.viewChannel(t))
}

// threadTypeIn is the type of a channel's public threads.
func threadTypeIn(c *channel) discord.ChannelType {
	if c.Type == discord.GuildAnnouncement {
		return discord.AnnouncementThread
	}
	return discord.PublicThread
}

// startThread starts a thread without a message, or a post in a forum.
func startThread(x *exchange, c *channel) (answer, error) {
	if c.Type.HoldsPosts() {
		return startPost(x, c)
	}
	if !isTextual(c.Type) {
		return refuse(errChannelType)
	}
	var f threadForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	t := discord.ChannelType(f.Type.or(int(discord.PrivateThread)))
	need := discord.CreatePublicThreads
	switch {
	case t == discord.PrivateThread && c.Type == discord.GuildText:
		need = discord.CreatePrivateThreads
	case t != threadTypeIn(c):
		return refuse(errChannelType)
	}
	if err := x.need(c, need); err != nil {
		return refuse(err)
	}
	made := x.thread(discord.ChannelID(x.issue()), c, t, f)
	if t != discord.PrivateThread {
		x.notice(c, typeThreadCreated, f.Name, &Reference{Guild: c.Guild, Channel: made.ID})
	}
	return created(x.viewChannel(made))
}

// startPost starts a post: a thread and its first message, which bear one id.
// It takes SEND_MESSAGES, in forums the right to post.
func startPost(x *exchange, c *channel) (answer, error) {
	if err := x.need(c, discord.SendMessages); err != nil {
		return refuse(err)
	}
	var f threadForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if !f.Message.has() {
		return refuse(invalid("message", "BASE_TYPE_REQUIRED", "This field is required"))
	}
	if err := x.applicable(c, f.Applied.value); err != nil {
		return refuse(err)
	}
	if c.Flags&flagRequireTag != 0 && len(f.Applied.value) == 0 {
		return refuse(errTagRequired)
	}
	m := &Message{Author: x.actor}
	if err := x.compose(c, m, f.Message.value); err != nil {
		return refuse(err)
	}
	post := x.thread(discord.ChannelID(x.issue()), c, discord.PublicThread, f)
	m.ID, m.Channel = discord.MessageID(post.ID), post.ID
	x.store(post, m)
	return created(struct {
		channelView
		Message messageView `json:"message"`
	}{x.viewChannel(post), x.viewMessage(post, m)})
}

// applicable checks that a forum has the tags, and that the bot may set those
// that are moderated.
func (x *exchange) applicable(c *channel, tags []discord.TagID) error {
	for _, id := range tags {
		i := slices.IndexFunc(c.Tags, func(t Tag) bool { return t.ID == id })
		if i < 0 {
			return notFound(10087, "Unknown tag")
		}
		if c.Tags[i].Moderated && !x.allowed(c, discord.ManageThreads) {
			return errMissingPermissions
		}
	}
	return nil
}

type threadEdit struct {
	Name      opt[string]          `json:"name" minLength:"1" maxLength:"100" null:"no"`
	Archived  opt[bool]            `json:"archived"`
	Locked    opt[bool]            `json:"locked"`
	Invitable opt[bool]            `json:"invitable"`
	Archive   opt[int]             `json:"auto_archive_duration" enum:"60,1440,4320,10080"`
	SlowMode  opt[int]             `json:"rate_limit_per_user" minimum:"0" maximum:"21600"`
	Flags     opt[int]             `json:"flags"`
	Applied   opt[[]discord.TagID] `json:"applied_tags" maxItems:"5"`
}

// editThread changes a thread: its creator some of it, MANAGE_THREADS all.
// Anyone who may write in it opens a thread that is not locked again. While it
// is archived, nothing else can be changed.
func editThread(x *exchange, c *channel) (answer, error) {
	var f threadEdit
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	t := c.Thread
	manages := x.allowed(c, discord.ManageThreads)
	opens := t.Archived && f.Archived.has() && !f.Archived.value
	justOpens := opens && !f.touches()
	switch {
	case manages:
	case justOpens && !t.Locked && x.allowed(c, discord.SendMessagesInThreads):
	case t.Owner == x.actor && !f.Locked.has() && !f.SlowMode.has() && !f.Flags.has() && !t.Locked:
	default:
		return refuse(errMissingPermissions)
	}
	if t.Archived && !opens && f.touches() {
		return refuse(errThreadArchived)
	}
	parent := x.channels[c.Parent]
	if f.Applied.has() {
		if !parent.Type.HoldsPosts() {
			return refuse(errChannelType)
		}
		if err := x.applicable(parent, f.Applied.value); err != nil {
			return refuse(err)
		}
		if parent.Flags&flagRequireTag != 0 && len(f.Applied.value) == 0 {
			return refuse(errTagRequired)
		}
	}
	old := c.clone()
	f.Name.into(&c.Name)
	if f.Archived.has() && f.Archived.value != t.Archived {
		t.Archived, t.ArchivedAt = f.Archived.value, x.now
	}
	f.Locked.into(&t.Locked)
	if f.Invitable.has() && c.Type == discord.PrivateThread {
		t.Invitable = f.Invitable.value
	}
	f.Archive.into(&t.AutoArchive)
	f.SlowMode.into(&c.SlowMode)
	f.Applied.into(&t.Applied)
	if f.Flags.has() {
		c.Flags = f.Flags.value & flagPinned
	}
	changes := diff(&old, &c.Channel)
	changes = append(changes, changed("archived", old.Thread.Archived, t.Archived)...)
	changes = append(changes, changed("locked", old.Thread.Locked, t.Locked)...)
	x.audit(c.Guild, auditThreadUpdate, string(c.ID), AuditOptions{}, changes...)
	return ok(x.viewChannel(c))
}

// touches reports whether an edit changes more than whether the thread is
// archived.
func (f threadEdit) touches() bool {
	return f.Name.sent || f.Locked.sent || f.Invitable.sent || f.Archive.sent || f.SlowMode.sent || f.Flags.sent || f.Applied.sent
}
