package sandbox

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// The readers give copies of what the sandbox holds, for a test to look at. Their
// bool says whether it exists.

// User is an account.
func (d *Discord) User(id discord.UserID) (User, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return copied(d.world.users[id])
}

// Guild is a guild's settings.
func (d *Discord) Guild(id discord.GuildID) (Guild, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.world.guilds[id]
	if g == nil {
		return Guild{}, false
	}
	out := g.Guild
	out.Features = slices.Clone(out.Features)
	return out, true
}

// Role is a role of a guild.
func (d *Discord) Role(in discord.GuildID, id discord.RoleID) (Role, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.world.guilds[in]; g != nil {
		return copied(g.roles[id])
	}
	return Role{}, false
}

// Roles lists a guild's roles, the lowest first.
func (d *Discord) Roles(in discord.GuildID) []Role {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.world.guilds[in]
	if g == nil {
		return nil
	}
	return mapped(g.rolesByRank(), func(r *Role) Role { return *r })
}

// Member is a member of a guild.
func (d *Discord) Member(in discord.GuildID, id discord.UserID) (Member, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.world.guilds[in]
	if g == nil || g.members[id] == nil {
		return Member{}, false
	}
	out := *g.members[id]
	out.Roles = slices.Clone(out.Roles)
	return out, true
}

// Channel is a channel or thread.
func (d *Discord) Channel(id discord.ChannelID) (Channel, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.world.channels[id]
	if c == nil {
		return Channel{}, false
	}
	return c.Channel.clone(), true
}

// Channels lists a guild's channels by position, without threads.
func (d *Discord) Channels(in discord.GuildID) []Channel {
	d.mu.Lock()
	defer d.mu.Unlock()
	return mapped(d.world.guildChannels(in), func(c *channel) Channel { return c.Channel.clone() })
}

// Threads lists the threads of a channel, the oldest first.
func (d *Discord) Threads(of discord.ChannelID) []Channel {
	d.mu.Lock()
	defer d.mu.Unlock()
	return mapped(d.world.threads(func(c *channel) bool { return c.Parent == of }), func(c *channel) Channel { return c.Channel.clone() })
}

// Message is a message of a channel.
func (d *Discord) Message(in discord.ChannelID, id discord.MessageID) (Message, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.world.channels[in]; c != nil {
		if _, m := c.find(id); m != nil {
			return m.clone(), true
		}
	}
	return Message{}, false
}

// Messages lists a channel's messages, the oldest first.
func (d *Discord) Messages(in discord.ChannelID) []Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.world.channels[in]
	if c == nil {
		return nil
	}
	return mapped(c.messages, func(m *Message) Message { return m.clone() })
}

// Webhooks lists a guild's webhooks, the oldest first.
func (d *Discord) Webhooks(in discord.GuildID) []Webhook {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Webhook
	for _, h := range sorted(d.world.webhooks) {
		if h.Guild == in {
			out = append(out, *h)
		}
	}
	return out
}

func copied[T any](v *T) (T, bool) {
	if v == nil {
		return *new(T), false
	}
	return *v, true
}

func (c Channel) clone() Channel {
	c.Overwrites = slices.Clone(c.Overwrites)
	c.Tags = slices.Clone(c.Tags)
	c.Recipients = slices.Clone(c.Recipients)
	if c.Thread != nil {
		t := *c.Thread
		t.Applied, t.Members = slices.Clone(t.Applied), slices.Clone(t.Members)
		c.Thread = &t
	}
	return c
}

func (m *Message) clone() Message {
	out := *m
	out.Embeds, out.Attachments, out.Components = slices.Clone(m.Embeds), slices.Clone(m.Attachments), slices.Clone(m.Components)
	out.Stickers, out.Reactions = slices.Clone(m.Stickers), slices.Clone(m.Reactions)
	for i := range out.Reactions {
		out.Reactions[i].Users = slices.Clone(out.Reactions[i].Users)
	}
	if m.Poll != nil {
		p := *m.Poll
		p.Answers = slices.Clone(p.Answers)
		out.Poll = &p
	}
	return out
}

// threads lists the threads that pass, the oldest first.
func (w *world) threads(pass func(*channel) bool) []*channel {
	var out []*channel
	for _, c := range w.channels {
		if c.Thread != nil && pass(c) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *channel) int { return discord.CompareIDs(a.ID, b.ID) })
	return out
}
