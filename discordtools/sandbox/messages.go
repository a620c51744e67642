package sandbox

import (
	"slices"
	"sort"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// messageRoutes send, read, edit and delete messages.
var messageRoutes = []route{
	{method: "GET", path: "/channels/{channel_id}/messages", handle: inChannel(0, listMessages)},
	{method: "POST", path: "/channels/{channel_id}/messages", handle: inChannel(0, createMessage)},
	{method: "POST", path: "/channels/{channel_id}/messages/bulk-delete", handle: inChannel(discord.ManageMessages, bulkDelete)},
	{method: "GET", path: "/channels/{channel_id}/messages/{message_id}", handle: onMessage(discord.ReadMessageHistory, getMessage)},
	{method: "PATCH", path: "/channels/{channel_id}/messages/{message_id}", handle: onMessage(0, editMessage)},
	{method: "DELETE", path: "/channels/{channel_id}/messages/{message_id}", handle: onMessage(0, deleteMessage)},
	{method: "POST", path: "/channels/{channel_id}/messages/{message_id}/crosspost", handle: onMessage(discord.SendMessages, crosspost)},
}

var (
	errForeignEdit   = forbidden(50005, "Cannot edit a message authored by another user")
	errSystemMessage = forbidden(50021, "Cannot execute action on a system message")
	errDirectMessage = forbidden(50003, "Cannot execute action on a DM channel")
	errBulkCount     = badRequest(50016, "Provided too few or too many messages to delete. Must provide at least 2 and fewer than 100 messages to delete")
	errBulkAge       = badRequest(50034, "You can only bulk delete messages that are under 14 days old.")
	errCrossposted   = badRequest(40033, "This message has already been crossposted.")
)

// bulkAge is the age up to which messages can be deleted in bulk.
const bulkAge = 14 * 24 * time.Hour

// find is a message and its place, or the place where it would be.
func (c *channel) find(id discord.MessageID) (int, *Message) {
	n := number(id)
	i := sort.Search(len(c.messages), func(i int) bool { return number(c.messages[i].ID) >= n })
	if i < len(c.messages) && number(c.messages[i].ID) == n {
		return i, c.messages[i]
	}
	return i, nil
}

// listMessages gives the newest first. Without READ_MESSAGE_HISTORY there is
// nothing to see.
func listMessages(x *exchange, c *channel) (answer, error) {
	if c.Type == discord.GuildCategory || c.Type.HoldsPosts() {
		return refuse(errNotText)
	}
	limit, err := x.number("limit", 50, 1, 100)
	if err != nil {
		return refuse(err)
	}
	var at [3]string
	given := 0
	for i, name := range []string{"before", "after", "around"} {
		if at[i], err = x.cursor(name); err != nil {
			return refuse(err)
		}
		if at[i] != "" {
			given++
		}
	}
	if given > 1 {
		return refuse(invalid("", "BASE_TYPE_CHOICES", "Only one of before, after, around may be used."))
	}
	low, high := 0, len(c.messages)
	switch {
	case at[0] != "":
		high, _ = c.find(discord.MessageID(at[0]))
		low = max(0, high-limit)
	case at[1] != "":
		i, m := c.find(discord.MessageID(at[1]))
		if low = i; m != nil {
			low++
		}
		high = min(high, low+limit)
	case at[2] != "":
		i, _ := c.find(discord.MessageID(at[2]))
		low = max(0, i-limit/2)
		high = min(high, low+limit)
		low = max(0, min(low, high-limit))
	default:
		low = max(0, high-limit)
	}
	if !x.allowed(c, discord.ReadMessageHistory) {
		low = high
	}
	page := slices.Clone(c.messages[low:high])
	slices.Reverse(page)
	return ok(mapped(page, func(m *Message) messageView { return x.viewMessage(c, m) }))
}

func getMessage(x *exchange, c *channel, m *Message) (answer, error) { return ok(x.viewMessage(c, m)) }

type editForm struct {
	Content    opt[string]              `json:"content"`
	Embeds     opt[[]embedForm]         `json:"embeds" maxItems:"10"`
	Flags      opt[int]                 `json:"flags"`
	Allowed    opt[allowedMentions]     `json:"allowed_mentions"`
	Components opt[[]componentForm]     `json:"components" maxItems:"40"`
	Files      opt[[]attachmentForm]    `json:"attachments" maxItems:"10"`
	Stickers   opt[[]discord.StickerID] `json:"sticker_ids" maxItems:"3"`
}

// editMessage changes what was sent and keeps the rest. Of other people's
// messages just the flags can be changed, with MANAGE_MESSAGES.
func editMessage(x *exchange, c *channel, m *Message) (answer, error) {
	var f editForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if c.Thread != nil && c.Thread.Archived {
		return refuse(errThreadArchived)
	}
	if m.Author != x.actor {
		if f.Content.sent || f.Embeds.sent || f.Components.sent || f.Files.sent || f.Stickers.sent || !f.Flags.sent {
			return refuse(errForeignEdit)
		}
		if err := x.need(c, discord.ManageMessages); err != nil {
			return refuse(err)
		}
		m.Flags = m.Flags&^flagSuppressEmbeds | f.Flags.value&flagSuppressEmbeds
		return ok(x.viewMessage(c, m))
	}
	edited := m.clone()
	if err := x.rewrite(c, &edited, f); err != nil {
		return refuse(err)
	}
	edited.Edited = x.now
	*m = edited
	return ok(x.viewMessage(c, m))
}

func (x *exchange) rewrite(c *channel, m *Message, f editForm) (err error) {
	if f.Content.into(&m.Content); utf8.RuneCountInString(m.Content) > maxContent {
		return invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", maxContent)
	}
	if err := f.Allowed.value.check(); err != nil {
		return err
	}
	if f.Flags.sent {
		m.Flags = m.Flags&^flagSuppressEmbeds | f.Flags.value&(flagSuppressEmbeds|flagComponentsV2)
	}
	if f.Embeds.sent {
		if m.Embeds, err = embeds(f.Embeds.value); err != nil {
			return err
		}
	}
	if err := x.reattach(m, f.Files); err != nil {
		return err
	}
	if f.Stickers.sent {
		if err := x.stick(c, m, f.Stickers.value); err != nil {
			return err
		}
	}
	if f.Components.sent || m.Flags&flagComponentsV2 != 0 { // which stays, and holds whatever is edited
		from := m.Components
		if f.Components.sent {
			from = nil
		}
		made, err := x.components(f.Components.value, m)
		if err != nil {
			return err
		}
		m.Components = append(from, made...)
	}
	if m.empty() {
		return errEmptyMessage
	}
	var replied discord.UserID
	if m.Type == typeReply {
		if _, original := c.find(m.Reference.Message); original != nil {
			replied = original.Author
		}
	}
	m.Mentions = x.mentions(c, m.text(), f.Allowed, replied)
	return x.need(c, m.takes()&^discord.SendPolls)
}

// reattach keeps the attachments that are listed, all where no list is sent, and
// adds the files of the request.
func (x *exchange) reattach(m *Message, listed opt[[]attachmentForm]) error {
	var kept []Attachment
	added := opt[[]attachmentForm]{}
	for i, a := range listed.value {
		at := slices.IndexFunc(m.Attachments, func(old Attachment) bool { return old.ID == a.ID })
		switch {
		case at >= 0:
			old := m.Attachments[at]
			a.Description.into(&old.Description)
			kept = append(kept, old)
		case len(a.ID) < 17:
			added.sent = true
			added.value = append(added.value, a)
		default:
			return invalid("attachments."+strconv.Itoa(i)+".id", "ATTACHMENT_NOT_FOUND", "Attachment data not found")
		}
	}
	if !listed.sent {
		kept = m.Attachments
	}
	fresh, err := x.attach(added)
	m.Attachments = append(kept, fresh...)
	return err
}

// deleteMessage deletes the bot's own message, or with MANAGE_MESSAGES any.
func deleteMessage(x *exchange, c *channel, m *Message) (answer, error) {
	if m.Author != x.actor {
		if c.Guild == "" {
			return refuse(errDirectMessage)
		}
		if err := x.need(c, discord.ManageMessages); err != nil {
			return refuse(err)
		}
	}
	if slices.Contains([]int{1, 2, 3, 4, 5, 14, 15, 16, 17, typeThreadStarter}, m.Type) {
		return refuse(errSystemMessage)
	}
	c.remove(m.ID)
	if m.Author != x.actor {
		x.audit(c.Guild, auditMessageDelete, string(m.Author), AuditOptions{Channel: c.ID, Count: "1"})
	}
	return done()
}

func (c *channel) remove(id discord.MessageID) bool {
	i, m := c.find(id)
	if m != nil {
		c.messages = slices.Delete(c.messages, i, i+1)
	}
	return m != nil
}

// bulkDelete deletes 2 to 100 messages that are at most 14 days old; ids that
// name nothing are passed over.
func bulkDelete(x *exchange, c *channel) (answer, error) {
	var f struct {
		Messages []discord.MessageID `json:"messages"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if c.Guild == "" {
		return refuse(errDirectMessage)
	}
	if len(f.Messages) < 2 || len(f.Messages) > 100 {
		return refuse(errBulkCount)
	}
	seen := map[discord.MessageID]bool{}
	for _, m := range f.Messages {
		if seen[m] || x.now.Sub(sentAt(m)) > bulkAge {
			return refuse(errBulkAge)
		}
		seen[m] = true
	}
	gone := 0
	for _, m := range f.Messages {
		if c.remove(m) {
			gone++
		}
	}
	x.audit(c.Guild, auditMessageBulkDelete, string(c.ID), AuditOptions{Count: strconv.Itoa(gone)})
	return done()
}

// crosspost publishes a message of an announcement channel to the channels that
// follow it. Other people's messages take MANAGE_MESSAGES.
func crosspost(x *exchange, c *channel, m *Message) (answer, error) {
	if c.Type != discord.GuildAnnouncement {
		return refuse(errChannelType)
	}
	if m.Author != x.actor {
		if err := x.need(c, discord.ManageMessages); err != nil {
			return refuse(err)
		}
	}
	if m.Flags&flagCrossposted != 0 {
		return refuse(errCrossposted)
	}
	m.Flags |= flagCrossposted
	for _, h := range sorted(x.webhooks) {
		target := x.channels[h.Channel]
		if h.Source != c.ID || target == nil {
			continue
		}
		published := m.clone()
		published.ID, published.Channel, published.Author = discord.MessageID(x.issue()), target.ID, discord.UserID(h.ID)
		published.Webhook, published.AuthorName = h.ID, h.Name
		published.Flags, published.Reactions, published.Thread, published.Pinned = flagIsCrosspost, nil, "", time.Time{}
		published.Notified = Mentions{}
		published.Reference = &Reference{Guild: c.Guild, Channel: c.ID, Message: m.ID}
		x.store(target, &published)
	}
	return ok(x.viewMessage(c, m))
}
