package workflows

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Routes that many workflows read.
const (
	routeMe           = "GET /users/@me"
	routeGuild        = "GET /guilds/{guild_id}"
	routeRoles        = "GET /guilds/{guild_id}/roles"
	routeMember       = "GET /guilds/{guild_id}/members/{user_id}"
	routeChannels     = "GET /guilds/{guild_id}/channels"
	routeChannel      = "GET /channels/{channel_id}"
	routeMemberCounts = "GET /guilds/{guild_id}/roles/member-counts"
)

// standingRoutes are what [reads.standing] reads.
var standingRoutes = []string{routeMe, routeGuild, routeRoles, routeMember}

func inGuild(id discord.GuildID) path { return path{"guild_id": string(id)} }

// role is a role as Discord tells it.
type role struct {
	ID          discord.RoleID        `json:"id"`
	Name        string                `json:"name"`
	Position    int                   `json:"position"`
	Managed     bool                  `json:"managed"`
	Permissions discord.PermissionSet `json:"permissions"`
	Colors      roleColors            `json:"colors"`
	Hoist       bool                  `json:"hoist"`
	Mentionable bool                  `json:"mentionable"`
	Icon        *string               `json:"icon"`
	Emoji       *string               `json:"unicode_emoji"`
	Tags        json.RawMessage       `json:"tags,omitempty" jsonschema:"what it is for, where that is not for people to say"`
}

// above reports whether r stands above other: of two at one position the older
// one does.
//
// Source: https://docs.discord.com/developers/topics/permissions#permission-hierarchy.
func (r role) above(other role) bool {
	if r.Position != other.Position {
		return r.Position > other.Position
	}
	return discord.CompareIDs(r.ID, other.ID) < 0
}

// member is a member as Discord tells it.
type member struct {
	User struct {
		ID       discord.UserID `json:"id"`
		Username string         `json:"username"`
		Bot      bool           `json:"bot"`
	} `json:"user"`
	Nick    *string          `json:"nick"`
	Roles   []discord.RoleID `json:"roles"`
	Pending bool             `json:"pending"`
	Timeout *time.Time       `json:"communication_disabled_until"`
	Flags   int              `json:"flags"`
}

// channel is a guild's channel as Discord tells it.
type channel struct {
	ID         discord.ChannelID   `json:"id"`
	Guild      discord.GuildID     `json:"guild_id"`
	Type       discord.ChannelType `json:"type"`
	Name       string              `json:"name"`
	Parent     discord.ChannelID   `json:"parent_id"`
	Position   int                 `json:"position"`
	Topic      *string             `json:"topic"`
	Overwrites []overwrite         `json:"permission_overwrites"`
}

type overwrite struct {
	ID    discord.OverwriteID   `json:"id"`
	Type  int                   `json:"type"`
	Allow discord.PermissionSet `json:"allow"`
	Deny  discord.PermissionSet `json:"deny"`
}

// standing is what the bot is in a guild, read anew and complete.
type standing struct {
	Guild    guildSeen
	Bot      discord.UserID
	Features []string
	Roles    []role // all of the guild, the highest first
	Held     []discord.RoleID
	top      role
	held     discord.Bits // guild-wide
	now      time.Time    // when it was read
	timedOut bool
}

// guildSeen is a guild as plans bind and show it.
type guildSeen struct {
	ID    discord.GuildID `json:"id"`
	Name  string          `json:"name"`
	Owner discord.UserID  `json:"ownerId"`
}

// evidence is what a plan says of the bot: bound by its digest.
type evidence struct {
	Bot           discord.UserID   `json:"botId"`
	Owner         bool             `json:"botOwner"`
	Administrator bool             `json:"botAdministrator"`
	Permissions   []string         `json:"permissions"`
	Roles         []discord.RoleID `json:"roles"`
	HighestRole   discord.RoleID   `json:"highestRole"`
	AllRoles      string           `json:"roleInventory" jsonschema:"digest of all roles of the guild"`
}

// standing reads the bot, the guild, all its roles and the bot's member.
func (r *reads) standing(ctx context.Context, guild discord.GuildID) (s standing, err error) {
	var me struct {
		ID discord.UserID `json:"id"`
	}
	if err := r.get(ctx, routeMe, nil, &me); err != nil {
		return s, err
	}
	var g struct {
		ID    discord.GuildID `json:"id"`
		Name  string          `json:"name"`
		Owner discord.UserID  `json:"owner_id"`

		Features []string `json:"features"`
	}
	if err := r.get(ctx, routeGuild, inGuild(guild), &g); err != nil {
		return s, err
	}
	if err := r.get(ctx, routeRoles, inGuild(guild), &s.Roles); err != nil {
		return s, err
	}
	var m member
	if err := r.get(ctx, routeMember, path{"guild_id": string(guild), "user_id": string(me.ID)}, &m); err != nil {
		return s, err
	}
	if g.ID != guild || g.Owner == "" || m.User.ID != me.ID || me.ID == "" || m.Roles == nil {
		return s, incomplete("the guild or the bot's member")
	}
	s.Features = g.Features
	s.Guild, s.Bot, s.Held = guildSeen{g.ID, g.Name, g.Owner}, me.ID, slices.Sorted(slices.Values(m.Roles))
	s.now = r.Call.Now()
	s.timedOut = m.Timeout != nil && m.Timeout.After(s.now)
	return s, s.weigh()
}

// able is the standing of a bot that has the permissions in the guild.
func (r *reads) able(ctx context.Context, guild discord.GuildID, p discord.Permissions) (s standing, err error) {
	if s, err = r.standing(ctx, guild); err == nil {
		err = s.needs(p)
	}
	return s, err
}

// weigh works out what the bot may do in the guild.
func (s *standing) weigh() error {
	slices.SortFunc(s.Roles, func(a, b role) int {
		if a.above(b) {
			return -1
		}
		return 1
	})
	var err error
	if s.top, s.held, err = s.rights(s.Bot, s.Held); err != nil {
		return err
	}
	if s.timedOut && !s.owner() && !s.held.Has(discord.Administrator) {
		s.held = discord.DuringTimeout(s.held)
	}
	return nil
}

// rights are a member's highest role and what they may do in the guild.
func (s *standing) rights(of discord.UserID, roles []discord.RoleID) (top role, held discord.Bits, err error) {
	sets := make([]discord.Bits, 0, len(roles)+1)
	for _, id := range append([]discord.RoleID{discord.RoleID(s.Guild.ID)}, roles...) {
		r, ok := s.role(id)
		if !ok {
			return top, held, incomplete("the roles of the guild")
		}
		set, err := r.Permissions.Bits()
		if err != nil {
			return top, held, incomplete("the permissions of the role " + string(id))
		}
		if sets = append(sets, set); len(sets) == 1 || r.above(top) {
			top = r
		}
	}
	return top, discord.Base(of == s.Guild.Owner, sets...), nil
}

func (s *standing) owner() bool { return s.Bot == s.Guild.Owner }

// role is a role of the guild.
func (s *standing) role(id discord.RoleID) (role, bool) {
	i := slices.IndexFunc(s.Roles, func(r role) bool { return r.ID == id })
	if i < 0 {
		return role{}, false
	}
	return s.Roles[i], true
}

// needs refuses a plan for which the bot lacks permissions in the guild.
func (s *standing) needs(p discord.Permissions) error { return lacks(s.held.Low(), p, "the guild") }

// lacks refuses when held does not have all of p.
func lacks(held, p discord.Permissions, where string) error {
	if missing := p &^ held; missing != 0 {
		return mcpcore.Errorf(mcpcore.CodePermission, "the bot lacks %s in %s", missing, where).With("missing", missing.Names())
	}
	return nil
}

// above reports whether the bot stands above a role: strictly, the guild's owner
// always.
func (s *standing) above(r role) bool { return s.owner() || s.top.above(r) }

// in is what the bot may do in a channel of the guild, with its own overwrites;
// an error when they cannot be read completely.
func (s *standing) in(c channel) (discord.Permissions, error) {
	return s.inAs(c, s.Bot, s.Held, s.held)
}

// inAs is what a member with these roles, who may do held in the guild, may do in a
// channel of it.
func (s *standing) inAs(c channel, of discord.UserID, roles []discord.RoleID, held discord.Bits) (discord.Permissions, error) {
	over := make([]discord.OverwriteOf[discord.Bits], len(c.Overwrites))
	if c.Overwrites == nil {
		return 0, incomplete("the overwrites of the channel " + string(c.ID))
	}
	for i, o := range c.Overwrites {
		allow, err := o.Allow.Bits()
		if err != nil {
			return 0, incomplete("the overwrites of the channel " + string(c.ID))
		}
		deny, err := o.Deny.Bits()
		if err != nil {
			return 0, incomplete("the overwrites of the channel " + string(c.ID))
		}
		over[i] = discord.OverwriteOf[discord.Bits]{ID: o.ID, Type: o.Type, Allow: allow, Deny: deny}
	}
	if of == s.Guild.Owner || held.Has(discord.Administrator) {
		return held.Low(), nil
	}
	return discord.Effective(discord.InChannel(held, s.Guild.ID, of, roles, over).Low(), c.Type), nil
}

// evidence is the standing as a plan binds it.
func (s *standing) evidence() evidence {
	return evidence{s.Bot, s.owner(), s.held.Has(discord.Administrator), s.held.Names(), s.Held, s.top.ID, snapshot(s.Roles)}
}

// snapshot is a digest of something that a plan binds and does not show.
func snapshot(v any) string {
	raw, err := canon.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("workflows: encode a snapshot: %v", err)) // of our own structs
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// incomplete is the error of a plan whose reading is not whole: it is not
// guessed.
func incomplete(what string) error {
	return mcpcore.Errorf(mcpcore.CodeAccessUnknown, "Discord's answer about %s is not complete, so nothing can be planned", what)
}

// channels reads all channels of the guild that the bot can see, by id.
func (r *reads) channels(ctx context.Context, guild discord.GuildID) (list []channel, err error) {
	if err := r.get(ctx, routeChannels, inGuild(guild), &list); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b channel) int { return discord.CompareIDs(a.ID, b.ID) })
	for _, c := range list {
		if c.ID == "" || c.Guild != "" && c.Guild != guild {
			return nil, incomplete("the channels of the guild")
		}
	}
	return list, nil
}
