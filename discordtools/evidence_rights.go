package discordtools

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// guildSnapshot is what the bot is in a guild at one moment.
type guildSnapshot struct {
	id          discord.GuildID
	bot, owner  discord.UserID
	held        []discord.RoleID // by the bot, without @everyone
	roles       map[discord.RoleID]rank
	base        discord.Permissions
	permissions discord.Permissions // base, with a running timeout
	unlimited   bool                // owner or administrator
}

// rank is a role's place.
type rank struct {
	ID       discord.RoleID `json:"id"`
	Position int            `json:"position"`
	Managed  bool           `json:"managed"`
}

// above reports whether r stands above other: of two at one position the older
// one does.
//
// Source: https://docs.discord.com/developers/topics/permissions#permission-hierarchy.
func (r rank) above(other rank) bool {
	if r.Position != other.Position {
		return r.Position > other.Position
	}
	return olderID(string(r.ID), string(other.ID))
}

func olderID(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// top is the highest of the roles; false when one is not of the guild.
func (s *guildSnapshot) top(held []discord.RoleID) (top rank, known bool) {
	top = s.roles[discord.RoleID(s.id)]
	for _, id := range held {
		r, ok := s.roles[id]
		if !ok {
			return top, false
		}
		if r.above(top) {
			top = r
		}
	}
	return top, true
}

type memberView struct {
	User struct {
		ID discord.UserID `json:"id"`
	} `json:"user"`
	Roles   []discord.RoleID `json:"roles"`
	Timeout *time.Time       `json:"communication_disabled_until"`
}

// guild reads the guild, its roles and the bot's member at once.
func (e *Evidence) guild(ctx context.Context, id discord.GuildID) (guildSnapshot, error) {
	return e.guilds.get(ctx, id, func(ctx context.Context) (guildSnapshot, bool, error) {
		s, err := e.readGuild(ctx, id)
		return s, true, err
	})
}

func (e *Evidence) readGuild(ctx context.Context, id discord.GuildID) (s guildSnapshot, err error) {
	bot, err := e.bot(ctx)
	if err != nil {
		return s, err
	}
	var (
		guild struct {
			ID    discord.GuildID `json:"id"`
			Owner discord.UserID  `json:"owner_id"`
		}
		roles []struct {
			rank
			Permissions discord.PermissionSet `json:"permissions"`
		}
		member  memberView
		errs    [3]error
		reading sync.WaitGroup
	)
	reading.Go(func() { errs[0] = get(ctx, e.rest, routeGuild, atGuild(id), &guild) })
	reading.Go(func() { errs[1] = get(ctx, e.rest, routeRoles, atGuild(id), &roles) })
	reading.Go(func() { errs[2] = e.readMember(ctx, id, bot, &member) })
	reading.Wait()
	for _, err := range errs {
		if err != nil {
			return s, err
		}
	}
	s = guildSnapshot{id: id, bot: bot, owner: guild.Owner, held: member.Roles, roles: map[discord.RoleID]rank{}}
	var sets []discord.Permissions
	for _, r := range roles {
		p, err := r.Permissions.Permissions()
		if _, twice := s.roles[r.ID]; err != nil || twice {
			return s, errIncomplete
		}
		s.roles[r.ID] = r.rank
		if r.ID == discord.RoleID(id) || slices.Contains(member.Roles, r.ID) {
			sets = append(sets, p)
		}
	}
	_, everyone := s.roles[discord.RoleID(id)]
	if guild.ID != id || guild.Owner == "" || member.User.ID != bot || !everyone {
		return s, errIncomplete
	}
	s.base = discord.Base(guild.Owner == bot, sets...)
	if s.unlimited = s.base.Has(discord.Administrator); !s.unlimited && len(sets) != len(member.Roles)+1 {
		return s, errIncomplete // a role that nobody described may give anything
	}
	s.permissions = s.base
	if !s.unlimited && member.Timeout != nil && member.Timeout.After(e.now()) {
		s.permissions = discord.DuringTimeout(s.base)
	}
	return s, nil
}

func (e *Evidence) readMember(ctx context.Context, guild discord.GuildID, user discord.UserID, m *memberView) error {
	return get(ctx, e.rest, routeMember, map[string]string{"guild_id": string(guild), "user_id": string(user)}, m)
}

// channelSnapshot is a channel with the overwrites that count in it.
type channelSnapshot struct {
	ID     discord.ChannelID   `json:"id"`
	Guild  discord.GuildID     `json:"guild_id"`
	Parent discord.ChannelID   `json:"parent_id"`
	Type   discord.ChannelType `json:"type"`
	Given  []overwriteView     `json:"permission_overwrites"`
	over   []discord.Overwrite
}

// channel is what the bot may do in a channel. Everything that exists there is
// allowed in a direct message.
func (e *Evidence) channel(ctx context.Context, id discord.ChannelID) (middleware.ChannelRights, error) {
	c, err := e.snapshot(ctx, id)
	if err != nil {
		return middleware.ChannelRights{}, err
	}
	rights := middleware.ChannelRights{Guild: c.Guild, Type: c.Type, Permissions: discord.KnownPermissions}
	if c.Guild == "" {
		return rights, nil
	}
	s, err := e.guild(ctx, c.Guild)
	if err != nil {
		return middleware.ChannelRights{}, err
	}
	p := s.base
	if !s.unlimited {
		p = discord.InChannel(p, c.Guild, s.bot, s.held, c.over)&^discord.GuildWide | p&discord.GuildWide
		if s.permissions != s.base { // a timeout runs
			p = discord.DuringTimeout(p)
		}
		p = discord.Effective(p, c.Type)
	}
	rights.Permissions = p
	return rights, nil
}

func (e *Evidence) snapshot(ctx context.Context, id discord.ChannelID) (channelSnapshot, error) {
	return e.channels.get(ctx, id, func(ctx context.Context) (channelSnapshot, bool, error) {
		c, err := e.readChannel(ctx, id)
		return c, true, err
	})
}

func (e *Evidence) readChannel(ctx context.Context, id discord.ChannelID) (c channelSnapshot, err error) {
	if err := get(ctx, e.rest, routeChannel, atChannel(id), &c); err != nil {
		return c, err
	}
	direct := c.Type == discord.DM || c.Type == discord.GroupDM
	switch {
	case c.ID != id, (c.Guild == "") != direct:
		return c, errIncomplete
	case direct:
		return c, nil
	case !c.Type.IsThread():
		c.over, err = overwritesOf(c.Given)
		return c, err
	case c.Parent == "" || c.Parent == id:
		return c, errIncomplete
	}
	parent, err := e.snapshot(ctx, c.Parent) // whose overwrites a thread has
	if err == nil && (parent.Guild != c.Guild || parent.Type.IsThread()) {
		err = errIncomplete
	}
	c.over = parent.over
	return c, err
}

// overwritesOf reads a channel's overwrites. A channel without any says [].
func overwritesOf(given []overwriteView) ([]discord.Overwrite, error) {
	if given == nil {
		return nil, errIncomplete
	}
	over := make([]discord.Overwrite, len(given))
	for i, o := range given {
		allow, allowErr := o.Allow.Permissions()
		deny, denyErr := o.Deny.Permissions()
		if allowErr != nil || denyErr != nil {
			return nil, errIncomplete
		}
		over[i] = discord.Overwrite{ID: o.ID, Type: o.Type, Allow: allow, Deny: deny}
	}
	return over, nil
}

type memberKey struct {
	guild discord.GuildID
	user  discord.UserID
}

type memberSnapshot struct {
	there bool
	roles []discord.RoleID
}

// member is another member of the guild; one that is not there is an answer too.
func (e *Evidence) member(ctx context.Context, key memberKey) (memberSnapshot, error) {
	return e.members.get(ctx, key, func(ctx context.Context) (s memberSnapshot, keep bool, err error) {
		var m memberView
		err = e.readMember(ctx, key.guild, key.user, &m)
		switch told, ok := errors.AsType[*mcpcore.Error](err); {
		case ok && told.Code == mcpcore.CodeNotFound:
			return s, true, nil
		case err != nil:
			return s, false, err
		case m.User.ID != key.user:
			return s, false, errIncomplete
		}
		return memberSnapshot{there: true, roles: m.Roles}, true, nil
	})
}

// standing compares the bot's highest role with a user or a role. The bot stands
// above itself and above those who are not members; never above the owner nor a
// role that Discord or an integration manages.
func (e *Evidence) standing(ctx context.Context, guild discord.GuildID, kind discord.Kind, id string) (middleware.Standing, error) {
	s, err := e.guild(ctx, guild)
	if err != nil {
		return middleware.UnknownStanding, err
	}
	var target rank
	switch kind {
	case discord.KindRole:
		var known bool
		if target, known = s.roles[discord.RoleID(id)]; !known {
			return middleware.UnknownStanding, errIncomplete
		}
		if target.Managed {
			return middleware.NotSatisfied, nil
		}
	case discord.KindUser:
		user := discord.UserID(id)
		switch user {
		case s.bot:
			return middleware.Satisfied, nil
		case s.owner:
			return middleware.NotSatisfied, nil
		}
		m, err := e.member(ctx, memberKey{guild, user})
		if err != nil {
			return middleware.UnknownStanding, err
		}
		if !m.there {
			return middleware.Satisfied, nil
		}
		var known bool
		if target, known = s.top(m.roles); !known {
			return middleware.UnknownStanding, errIncomplete
		}
	default:
		return middleware.UnknownStanding, errIncomplete
	}
	top, known := s.top(s.held)
	switch {
	case s.owner == s.bot:
		return middleware.Satisfied, nil
	case !known:
		return middleware.UnknownStanding, errIncomplete
	case top.above(target):
		return middleware.Satisfied, nil
	}
	return middleware.NotSatisfied, nil
}
