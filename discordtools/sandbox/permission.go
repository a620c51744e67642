package sandbox

import (
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// inGuild is what a member may do in a guild, channels aside. It is 0 for
// someone who is not a member.
func (w *world) inGuild(g *guild, u discord.UserID) discord.Permissions {
	m := g.members[u]
	if m == nil {
		return 0
	}
	p := g.base(m)
	if p.Has(discord.Administrator) || m.TimeoutUntil.Before(w.clock()) {
		return p
	}
	return discord.DuringTimeout(p)
}

// base is what a member's roles give, a timeout not counted.
func (g *guild) base(m *Member) discord.Permissions {
	held := []discord.Permissions{g.roles[discord.RoleID(g.ID)].Permissions}
	for _, id := range m.Roles {
		if r := g.roles[id]; r != nil {
			held = append(held, r.Permissions)
		}
	}
	return discord.Base(g.Owner == m.User, held...)
}

// inChannel is what a user may do in a channel, permissions that another one
// takes with it left out. Everything that exists there is allowed in a direct
// message channel of which the user is part.
func (w *world) inChannel(c *channel, u discord.UserID) discord.Permissions {
	if c.Guild == "" {
		if slices.Contains(c.Recipients, u) || u == BotID {
			return discord.KnownPermissions
		}
		return 0
	}
	g := w.guilds[c.Guild]
	m := g.members[u]
	if m == nil {
		return 0
	}
	p := g.base(m)
	if p.Has(discord.Administrator) {
		return p
	}
	place := c
	if c.Thread != nil {
		if place = w.channels[c.Parent]; place == nil {
			return 0
		}
	}
	p = discord.InChannel(p, g.ID, u, m.Roles, place.Overwrites)
	if !m.TimeoutUntil.Before(w.clock()) {
		p = discord.DuringTimeout(p)
	}
	if c.Type == discord.PrivateThread && !p.Has(discord.ManageThreads) && !c.Thread.has(u) {
		return 0
	}
	return implied(p, c.Type)
}

// implied drops what is worth nothing without another permission, and where the
// channel cannot be seen everything.
func implied(p discord.Permissions, t discord.ChannelType) discord.Permissions {
	if !p.Has(discord.ViewChannel) {
		return 0
	}
	return discord.Effective(p, t)
}

func (t *Thread) has(u discord.UserID) bool {
	return slices.ContainsFunc(t.Members, func(m ThreadMember) bool { return m.User == u })
}

// compareRoles orders roles by rank, the lowest first: by position, of equal
// positions the smaller id is higher.
func compareRoles(a, b *Role) int {
	if a.Position != b.Position {
		return a.Position - b.Position
	}
	return discord.CompareIDs(b.ID, a.ID)
}

// top is a member's highest role, @everyone if there is no other.
func (g *guild) top(m *Member) *Role {
	best := g.roles[discord.RoleID(g.ID)]
	for _, id := range m.Roles {
		if r := g.roles[id]; r != nil && compareRoles(r, best) > 0 {
			best = r
		}
	}
	return best
}

// outranks reports whether one member may act on another: the owner on anyone,
// nobody on the owner, everyone else on members whose highest role is lower.
func (g *guild) outranks(actor, target discord.UserID) bool {
	a, t := g.members[actor], g.members[target]
	switch {
	case a == nil || target == g.Owner:
		return false
	case actor == g.Owner || t == nil:
		return true
	}
	return compareRoles(g.top(a), g.top(t)) > 0
}

// above reports whether a member's highest role is above r: only such roles can
// be edited, assigned or moved. The owner is above every role.
func (g *guild) above(actor discord.UserID, r *Role) bool {
	m := g.members[actor]
	return m != nil && (actor == g.Owner || compareRoles(g.top(m), r) > 0)
}

// Permissions is what a user may do in a channel, or in a guild when channel is
// "". It is 0 where the user or the place is unknown.
func (d *Discord) Permissions(g discord.GuildID, c discord.ChannelID, u discord.UserID) discord.Permissions {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c != "" {
		if ch := d.world.channels[c]; ch != nil && ch.Guild == g {
			return d.world.inChannel(ch, u)
		}
		return 0
	}
	if known := d.world.guilds[g]; known != nil {
		return d.world.inGuild(known, u)
	}
	return 0
}

// has reports whether a guild has a feature, by Discord's name for it.
func (g *Guild) has(feature string) bool {
	return slices.ContainsFunc(g.Features, func(f string) bool { return strings.EqualFold(f, feature) })
}
