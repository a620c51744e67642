package workflows

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeRole = "GET /guilds/{guild_id}/roles/{role_id}"

// guildRoles is how many roles a guild has at most, @everyone among them.
//
// Source: https://docs.discord.com/developers/topics/opcodes-and-status-codes#json,
// error 30005.
const guildRoles = 250

func ofRole(guild discord.GuildID, id discord.RoleID) path {
	return path{"guild_id": string(guild), "role_id": string(id)}
}

// roleColors is how a role is coloured: with one colour, a gradient of two, or the
// holographic three.
//
// Source: https://docs.discord.com/developers/topics/permissions#role-object-role-colors-object.
type roleColors struct {
	Primary   int  `json:"primary_color"`
	Secondary *int `json:"secondary_color"`
	Tertiary  *int `json:"tertiary_color"`
}

func (c roleColors) equal(o roleColors) bool {
	same := func(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }
	return c.Primary == o.Primary && same(c.Secondary, o.Secondary) && same(c.Tertiary, o.Tertiary)
}

// permissionsOf is the set of permissions with these names.
func permissionsOf(names []discord.PermissionName) (p discord.Permissions) {
	for _, n := range names {
		p |= n.Permission()
	}
	return p
}

// equalSets reports whether two sets of Discord hold the same bits.
func equalSets(a, b discord.PermissionSet) bool {
	x, errX := a.Bits()
	y, errY := b.Bits()
	return errX == nil && errY == nil && x == y
}

// known is a role of the guild; a plan for one that it does not have is refused.
func (s *standing) known(id discord.RoleID) (role, error) {
	r, ok := s.role(id)
	if !ok {
		return r, refused("role-missing", "the guild has no role %s", id)
	}
	return r, nil
}

// manages refuses a role that is nobody's to change by hand, or not the bot's.
func (s *standing) manages(r role) error {
	switch {
	case string(r.ID) == string(s.Guild.ID):
		return refused("everyone", "@everyone is no role for this")
	case r.Managed:
		return refused("managed", "the role %s belongs to a bot or an integration", r.ID)
	case !s.above(r):
		return refused("hierarchy", "the role %s does not stand below the bot's highest role", r.ID)
	}
	return nil
}

// standard refuses a role that the bot does not manage, or that Discord gives for
// something: for linked accounts, say.
func (s *standing) standard(r role) error {
	if err := s.manages(r); err != nil {
		return err
	}
	if len(r.Tags) > 0 && string(r.Tags) != "null" && string(r.Tags) != "{}" {
		return refused("tagged", "the role %s is given by Discord, for what its tags say", r.ID)
	}
	return nil
}

// gives refuses to give permissions on: ADMINISTRATOR and what this build does
// not know never, all others only as far as the bot has them itself.
func (s *standing) gives(p discord.Bits) error {
	switch {
	case p.Has(discord.Administrator):
		return refused("administrator", "ADMINISTRATOR is never given")
	case p.Unknown() != discord.Bits{}:
		return refused("unknown-permissions", "%v are permissions that nobody here knows", p.Unknown().Names())
	case p.AndNot(s.held) != discord.Bits{}:
		return lacks(s.held.Low(), p.Low(), "the guild, and can give only what it has")
	}
	return nil
}

// holders is how many members hold each role but @everyone.
func (r *reads) holders(ctx context.Context, guild discord.GuildID) (counts map[discord.RoleID]int, err error) {
	if err := r.get(ctx, routeMemberCounts, inGuild(guild), &counts); err != nil {
		return nil, err
	}
	if counts == nil {
		return nil, incomplete("the holders of roles")
	}
	return counts, nil
}

// role reports the fields of a role that are not as they should be.
func (d *drift) role(now, want role) {
	d.unless(now.Name == want.Name, "name")
	d.unless(equalSets(now.Permissions, want.Permissions), "permissions")
	d.unless(now.Colors.equal(want.Colors), "colors")
	d.unless(now.Hoist == want.Hoist, "hoist")
	d.unless(now.Mentionable == want.Mentionable, "mentionable")
}

// rolesScope is the scope of workflows on roles that the argument roleId names.
func rolesScope(doc string) []mcpcore.PolicyScope {
	return []mcpcore.PolicyScope{{Name: "roles", Arg: "roleId", Doc: doc}}
}
