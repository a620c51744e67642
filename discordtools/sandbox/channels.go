package sandbox

import (
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// channelRoutes read, change and delete channels.
var channelRoutes = []route{
	{method: "GET", path: "/channels/{channel_id}", handle: inChannel(0, getChannel)},
	{method: "PATCH", path: "/channels/{channel_id}", handle: inChannel(0, editChannel)},
	{method: "DELETE", path: "/channels/{channel_id}", handle: inChannel(0, deleteChannel)},
	{method: "POST", path: "/channels/{channel_id}/typing", handle: inChannel(0, triggerTyping)},
	{method: "POST", path: "/channels/{channel_id}/followers", handle: inChannel(0, followChannel)},
}

var (
	errTooManyChannels = badRequest(30013, "Maximum number of guild channels reached (500)")
	errTooManyWebhooks = badRequest(30007, "Maximum number of webhooks reached (15)")
	errCommunityNeeds  = badRequest(50074, "Cannot delete a channel required for Community guilds")
)

func getChannel(x *exchange, c *channel) (answer, error) { return ok(x.viewChannel(c)) }

func triggerTyping(x *exchange, c *channel) (answer, error) {
	if err := x.maySend(c); err != nil {
		return refuse(err)
	}
	return done()
}

// createChannel makes a channel of a guild.
func createChannel(x *exchange, g *guild) (answer, error) {
	var f channelForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if !f.Name.has() {
		return refuse(invalid("name", "BASE_TYPE_REQUIRED", "This field is required"))
	}
	all := x.guildChannels(g.ID)
	if len(all) >= 500 {
		return refuse(errTooManyChannels)
	}
	c := &channel{Channel: Channel{Guild: g.ID, Type: f.Type.or(discord.GuildText), Position: f.Position.or(len(all))}}
	if err := x.shape(g, c, f); err != nil {
		return refuse(err)
	}
	if parent := x.channels[c.Parent]; parent != nil && !f.Overwrites.has() {
		c.Overwrites = parent.clone().Overwrites
	}
	c.ID = discord.ChannelID(x.issue())
	x.channels[c.ID] = c
	x.audit(g.ID, auditChannelCreate, string(c.ID), AuditOptions{}, diff(&Channel{}, &c.Channel)...)
	return created(x.viewChannel(c))
}

// editChannel changes a guild channel (MANAGE_CHANNELS) or a thread.
func editChannel(x *exchange, c *channel) (answer, error) {
	if c.Guild == "" {
		return refuse(errDirectMessage)
	}
	if c.Thread != nil {
		return editThread(x, c)
	}
	if err := x.need(c, discord.ManageChannels); err != nil {
		return refuse(err)
	}
	var f channelForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	g := x.guilds[c.Guild]
	edited := &channel{Channel: c.clone()}
	if f.Type.has() && f.Type.value != c.Type {
		if !isTextual(c.Type) || !isTextual(f.Type.value) {
			return refuse(errChannelType)
		}
		edited.Type = f.Type.value
	}
	if f.Position.has() {
		edited.Position = f.Position.value
	}
	if err := x.shape(g, edited, f); err != nil {
		return refuse(err)
	}
	changes := diff(&c.Channel, &edited.Channel)
	c.Channel = edited.Channel
	x.audit(c.Guild, auditChannelUpdate, string(c.ID), AuditOptions{}, changes...)
	return ok(x.viewChannel(c))
}

// isTextual reports whether a channel can become an announcement channel or
// cease to be one.
func isTextual(t discord.ChannelType) bool {
	return t == discord.GuildText || t == discord.GuildAnnouncement
}

// diff lists what changed, under the keys of the audit log.
func diff(old, now *Channel) []AuditChange {
	var all []AuditChange
	all = append(all, changed("name", old.Name, now.Name)...)
	all = append(all, changed("type", old.Type, now.Type)...)
	all = append(all, changed("topic", old.Topic, now.Topic)...)
	all = append(all, changed("position", old.Position, now.Position)...)
	all = append(all, changed("parent_id", old.Parent, now.Parent)...)
	all = append(all, changed("nsfw", old.NSFW, now.NSFW)...)
	all = append(all, changed("rate_limit_per_user", old.SlowMode, now.SlowMode)...)
	all = append(all, changed("bitrate", old.Bitrate, now.Bitrate)...)
	all = append(all, changed("user_limit", old.UserLimit, now.UserLimit)...)
	all = append(all, changed("flags", old.Flags, now.Flags)...)
	return append(all, changed("available_tags", mapped(old.Tags, viewTag), mapped(now.Tags, viewTag))...)
}

// deleteChannel deletes a channel with its threads; the channels of a category
// stay and stand without one.
func deleteChannel(x *exchange, c *channel) (answer, error) {
	if c.Guild == "" {
		delete(x.channels, c.ID)
		return ok(x.viewChannel(c))
	}
	need, action := discord.ManageChannels, auditChannelDelete
	if c.Thread != nil {
		need, action = discord.ManageThreads, auditThreadDelete
	}
	if err := x.need(c, need); err != nil {
		return refuse(err)
	}
	g := x.guilds[c.Guild]
	if g.has("COMMUNITY") && (c.ID == g.RulesChannel || c.ID == g.UpdatesChannel) {
		return refuse(errCommunityNeeds)
	}
	v := x.viewChannel(c)
	x.drop(g, c)
	x.audit(c.Guild, action, string(c.ID), AuditOptions{}, diff(&c.Channel, &Channel{})...)
	return ok(v)
}

// drop removes a channel and what stands or falls with it.
func (w *world) drop(g *guild, c *channel) {
	delete(w.channels, c.ID)
	for _, other := range w.channels {
		if other.Parent != c.ID {
			continue
		}
		if other.Thread != nil {
			delete(w.channels, other.ID)
		} else {
			other.Parent = ""
		}
	}
	for id, h := range w.webhooks {
		if h.Channel == c.ID {
			delete(w.webhooks, id)
		}
	}
	for _, use := range []*discord.ChannelID{&g.SystemChannel, &g.AFKChannel, &g.RulesChannel, &g.UpdatesChannel, &g.SafetyChannel, &g.WidgetChannel} {
		if *use == c.ID {
			*use = ""
		}
	}
}

// followChannel makes a webhook in another channel that an announcement channel
// publishes to. It takes MANAGE_WEBHOOKS there.
func followChannel(x *exchange, c *channel) (answer, error) {
	var f struct {
		Target discord.ChannelID `json:"webhook_channel_id"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if c.Type != discord.GuildAnnouncement {
		return refuse(errChannelType)
	}
	target, err := x.channel(f.Target)
	if err != nil {
		return refuse(err)
	}
	if err := x.need(target, discord.ManageWebhooks); err != nil {
		return refuse(err)
	}
	if target.Type != discord.GuildText && target.Type != discord.GuildAnnouncement {
		return refuse(errChannelType)
	}
	if x.webhooksIn(target.ID) >= maxWebhooks {
		return refuse(errTooManyWebhooks)
	}
	h := &Webhook{
		ID: discord.WebhookID(x.issue()), Type: 2, Guild: target.Guild, Channel: target.ID, By: x.actor, Source: c.ID,
		Name: x.guilds[c.Guild].Name + " #" + c.Name,
	}
	x.webhooks[h.ID] = h
	x.notice(target, typeFollowNotice, h.Name, nil)
	x.audit(target.Guild, auditWebhookCreate, string(h.ID), AuditOptions{}, changed("channel_id", "", target.ID)...)
	return ok(struct {
		Channel discord.ChannelID `json:"channel_id"`
		Webhook discord.WebhookID `json:"webhook_id"`
	}{c.ID, h.ID})
}

func (w *world) webhooksIn(c discord.ChannelID) (n int) {
	for _, h := range w.webhooks {
		if h.Channel == c {
			n++
		}
	}
	return n
}

// notice puts a message of Discord's own kind into a channel, in the bot's name.
func (x *exchange) notice(c *channel, kind int, text string, about *Reference) *Message {
	m := &Message{
		ID: discord.MessageID(x.issue()), Channel: c.ID, Author: x.actor, Type: kind, Content: text, Reference: about,
	}
	x.store(c, m)
	return m
}

// textName writes a name as text channels bear it.
func textName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '-' }), "-")
}
