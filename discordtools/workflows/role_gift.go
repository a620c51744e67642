package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeMemberRoleGive = "PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}"
	routeMemberRoleTake = "DELETE /guilds/{guild_id}/members/{user_id}/roles/{role_id}"
)

// impactChannels is in how many channels a change of roles may change what a
// member may do, so that a person can still read it.
const impactChannels = 50

// giftRoutes are what a gift is planned from.
var giftRoutes = append(slices.Clone(standingRoutes), routeChannels)

// gift is a role that is given to members or taken from them, with what all of
// them have in common.
type gift struct {
	Guild      guildSeen `json:"guild"`
	Permission evidence  `json:"permission"`
	Role       role      `json:"role"`
	Channels   string    `json:"channels" jsonschema:"digest of all visible channels"`

	add      bool      `json:"-"`
	bot      standing  `json:"-"`
	channels []channel `json:"-"`
}

// gifted is what a gift means for one member.
type gifted struct {
	Member  memberSeen       `json:"member"`
	Desired []discord.RoleID `json:"desiredRoles"`
	Impact  impact           `json:"impact"`
}

// impact is how a member's permissions change.
type impact struct {
	Gained   []string        `json:"gained" jsonschema:"in the guild"`
	Lost     []string        `json:"lost" jsonschema:"in the guild"`
	Channels []channelImpact `json:"channels" jsonschema:"the channels in which something changes"`
}

type channelImpact struct {
	ID     discord.ChannelID `json:"id"`
	Gained []string          `json:"gained"`
	Lost   []string          `json:"lost"`
}

func (i impact) String() string {
	return fmt.Sprintf("gains [%s], loses [%s], and something in %d channels", strings.Join(i.Gained, ", "), strings.Join(i.Lost, ", "), len(i.Channels))
}

// gift reads what is common to all members.
func (r *reads) gift(ctx context.Context, guild discord.GuildID, id discord.RoleID, add bool) (g gift, err error) {
	if g.bot, err = r.standing(ctx, guild); err != nil {
		return g, err
	}
	if err := g.bot.needs(discord.ManageRoles); err != nil {
		return g, err
	}
	if g.Role, err = g.bot.known(id); err != nil {
		return g, err
	}
	if err := g.bot.standard(g.Role); err != nil {
		return g, err
	}
	gives, err := g.Role.Permissions.Bits()
	if err != nil {
		return g, incomplete("the permissions of the role")
	}
	if add {
		if err := g.bot.gives(gives); err != nil {
			return g, err
		}
	}
	if g.channels, err = r.channels(ctx, guild); err != nil {
		return g, err
	}
	g.Guild, g.Permission, g.Channels, g.add = g.bot.Guild, g.bot.evidence(), snapshot(g.channels), add
	return g, nil
}

// to works out what the gift means for a member. current says that it is so
// already.
func (g *gift) to(ctx context.Context, r *reads, user discord.UserID) (v gifted, current bool, err error) {
	m, err := r.member(ctx, &g.bot, user)
	if err != nil {
		return v, false, err
	}
	if err := g.bot.acts(user, m); err != nil {
		return v, false, err
	}
	switch {
	case m == nil:
		return v, false, refused("member-missing", "the user %s is no member of the guild", user)
	case m.Pending:
		return v, false, refused("pending", "the member %s has not passed the screening yet", user)
	case m.TimedOut:
		return v, false, refused("timed-out", "the member %s is timed out", user)
	}
	v.Member, v.Desired = *m, slices.DeleteFunc(slices.Clone(m.Roles), func(id discord.RoleID) bool { return id == g.Role.ID })
	if g.add {
		v.Desired = slices.Sorted(slices.Values(append(v.Desired, g.Role.ID)))
	}
	v.Impact, err = g.weigh(m, v.Desired)
	return v, slices.Equal(v.Desired, m.Roles), err
}

// weigh compares what a member may do before and after, in the guild and in every
// channel. A gift gives nothing that the bot lacks.
func (g *gift) weigh(m *memberSeen, desired []discord.RoleID) (i impact, err error) {
	_, after, err := g.bot.rights(m.ID, desired)
	if err != nil {
		return i, err
	}
	i.Gained, i.Lost = after.AndNot(m.held).Names(), m.held.AndNot(after).Names()
	for _, c := range g.channels {
		had, err := g.bot.inAs(c, m.ID, m.Roles, m.held)
		if err != nil {
			return i, err
		}
		has, err := g.bot.inAs(c, m.ID, desired, after)
		if err != nil {
			return i, err
		}
		if had == has {
			continue
		}
		i.Channels = append(i.Channels, channelImpact{c.ID, (has &^ had).Names(), (had &^ has).Names()})
		if !g.add {
			continue
		}
		if unknown := has &^ had &^ discord.KnownPermissions; unknown != 0 {
			return i, refused("unknown-permissions", "%s are permissions that nobody here knows", unknown)
		}
		own, err := g.bot.in(c)
		if err != nil {
			return i, err
		}
		if err := lacks(own, has&^had, "the channel "+string(c.ID)+", and can give only what it has"); err != nil {
			return i, err
		}
	}
	if len(i.Channels) > impactChannels {
		return i, refused("too-many-channels", "it changes what the member may do in %d channels, and %d can be reviewed", len(i.Channels), impactChannels)
	}
	return i, nil
}

// route is the request that gives or takes.
func (g *gift) route() string {
	if g.add {
		return routeMemberRoleGive
	}
	return routeMemberRoleTake
}

// given reads a member's roles again. That the role is not as it should be is an
// error, that others are not is drift.
func (r *reads) given(ctx context.Context, g *gift, v gifted) (found mcpcore.Reading, err error) {
	var now member
	if err := r.get(ctx, routeMember, ofMember(g.Guild.ID, v.Member.ID), &now); err != nil {
		return found, err
	}
	if now.User.ID != v.Member.ID || now.Roles == nil {
		return found, errors.New("what was read back is not the member")
	}
	roles := slices.Sorted(slices.Values(now.Roles))
	if slices.Contains(roles, g.Role.ID) != g.add {
		return found, errors.New("the member's roles are not as they should be")
	}
	var d drift
	d.unless(slices.Equal(roles, v.Desired), "roles")
	return mcpcore.Reading{Drift: d}, nil
}

func (g *gift) path(user discord.UserID) path {
	return path{"guild_id": string(g.Guild.ID), "user_id": string(user), "role_id": string(g.Role.ID)}
}
