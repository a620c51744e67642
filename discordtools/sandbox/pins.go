package sandbox

import (
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// pinRoutes list, set and lift pins, at their places of today and at the old
// ones.
var pinRoutes = []route{
	{method: "GET", path: "/channels/{channel_id}/messages/pins", handle: inChannel(0, listPins)},
	{method: "PUT", path: "/channels/{channel_id}/messages/pins/{message_id}", handle: onMessage(discord.PinMessages, pin)},
	{method: "DELETE", path: "/channels/{channel_id}/messages/pins/{message_id}", handle: onMessage(discord.PinMessages, unpin)},
	{method: "GET", path: "/channels/{channel_id}/pins", handle: inChannel(0, listAllPins)},
	{method: "PUT", path: "/channels/{channel_id}/pins/{message_id}", handle: onMessage(discord.PinMessages, pin)},
	{method: "DELETE", path: "/channels/{channel_id}/pins/{message_id}", handle: onMessage(discord.PinMessages, unpin)},
}

var errTooManyPins = badRequest(30003, "Maximum number of pins reached for the channel (250)")

const maxPins = 250

// pins are a channel's pinned messages, the newest pin first; none without
// READ_MESSAGE_HISTORY.
func (x *exchange) pins(c *channel) []*Message {
	if !x.allowed(c, discord.ReadMessageHistory) {
		return nil
	}
	return c.pinned()
}

func (c *channel) pinned() []*Message {
	var all []*Message
	for _, m := range c.messages {
		if !m.Pinned.IsZero() {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *Message) int { return b.Pinned.Compare(a.Pinned) })
	return all
}

type pinView struct {
	At      string      `json:"pinned_at"`
	Message messageView `json:"message"`
}

func listPins(x *exchange, c *channel) (answer, error) {
	limit, err := x.number("limit", 50, 1, 50)
	if err != nil {
		return refuse(err)
	}
	before, err := x.moment("before")
	if err != nil {
		return refuse(err)
	}
	all := x.pins(c)
	if !before.IsZero() {
		all = slices.DeleteFunc(all, func(m *Message) bool { return !m.Pinned.Before(before) })
	}
	more := len(all) > limit
	return ok(struct {
		Items []pinView `json:"items"`
		More  bool      `json:"has_more"`
	}{mapped(all[:min(limit, len(all))], func(m *Message) pinView { return pinView{stamp(m.Pinned), x.viewMessage(c, m)} }), more})
}

func listAllPins(x *exchange, c *channel) (answer, error) {
	return ok(mapped(x.pins(c), func(m *Message) messageView { return x.viewMessage(c, m) }))
}

// pin pins a message and says so in the channel. A message that is pinned stays
// as it is.
func pin(x *exchange, c *channel, m *Message) (answer, error) {
	switch {
	case c.Thread != nil && c.Thread.Archived:
		return refuse(errThreadArchived)
	case !m.Pinned.IsZero():
		return done()
	case m.Type != 0 && m.Type != typeReply:
		return refuse(errSystemMessage)
	case len(c.pinned()) >= maxPins:
		return refuse(errTooManyPins)
	}
	m.Pinned = x.now.UTC().Truncate(time.Microsecond)
	c.LastPin = m.Pinned
	x.notice(c, typePinNotice, "", &Reference{Guild: c.Guild, Channel: c.ID, Message: m.ID})
	x.audit(c.Guild, auditMessagePin, string(m.Author), AuditOptions{Channel: c.ID, Message: m.ID})
	return done()
}

func unpin(x *exchange, c *channel, m *Message) (answer, error) {
	if c.Thread != nil && c.Thread.Archived {
		return refuse(errThreadArchived)
	}
	if !m.Pinned.IsZero() {
		m.Pinned = time.Time{}
		x.audit(c.Guild, auditMessageUnpin, string(m.Author), AuditOptions{Channel: c.ID, Message: m.ID})
	}
	return done()
}
