package discordtools

import (
	"context"
	"errors"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// guildSnapshot is what the bot is in a guild at one moment.
type guildSnapshot struct {
	subject
	id          discord.GuildID
	ownerID     discord.UserID
	permissions discord.Permissions // in the guild, with a running timeout
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
		roles  roleSet
		member memberView
	)
	if err := together(
		func() error { return e.reading(ctx, routeGuild, atGuild(id), &guild) },
		func() (err error) { roles, err = readRoles(ctx, e.reading, id); return err },
		func() (err error) { member, err = readMemberOf(ctx, e.reading, id, bot); return err },
	); err != nil {
		return s, err
	}
	if guild.ID != id || guild.Owner == "" || member.Roles == nil {
		return s, errIncomplete
	}
	s = guildSnapshot{subject: roles.member(member, guild.Owner, e.now()), id: id, ownerID: guild.Owner}
	r := s.rights()
	if !r.unlimited && !s.known() {
		return s, errIncomplete
	}
	r.timeOut()
	s.permissions = r.may.Low()
	return s, nil
}

// reading is a [reader] of the evidence's own, outside a tool's routes.
func (e *Evidence) reading(ctx context.Context, route string, path map[string]string, out any) error {
	return get(ctx, e.rest, route, path, out)
}

// channelSnapshot is a channel with the overwrites that count in it.
type channelSnapshot struct {
	ID     discord.ChannelID   `json:"id"`
	Guild  discord.GuildID     `json:"guild_id"`
	Parent discord.ChannelID   `json:"parent_id"`
	Type   discord.ChannelType `json:"type"`
	Given  []overwriteView     `json:"permission_overwrites"`
	over   []overwrite
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
	r := s.rights()
	r.enter(c.over)
	r.keepGuildWide()
	r.timeOut()
	p := r.may.Low()
	if !r.unlimited {
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
		m, err := readMemberOf(ctx, e.reading, key.guild, key.user)
		switch told, ok := errors.AsType[*mcpcore.Error](err); {
		case ok && told.Code == mcpcore.CodeNotFound:
			return s, true, nil
		case err != nil:
			return s, false, err
		case m.Roles == nil:
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
		role, known := s.roles.byID[discord.RoleID(id)]
		if !known {
			return middleware.UnknownStanding, errIncomplete
		}
		target = role.rank
		if target.Managed {
			return middleware.NotSatisfied, nil
		}
	case discord.KindUser:
		user := discord.UserID(id)
		switch user {
		case s.user:
			return middleware.Satisfied, nil
		case s.ownerID:
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
		if target, known = s.roles.top(m.roles); !known {
			return middleware.UnknownStanding, errIncomplete
		}
	default:
		return middleware.UnknownStanding, errIncomplete
	}
	top, known := s.roles.top(s.held)
	switch {
	case s.owner:
		return middleware.Satisfied, nil
	case !known:
		return middleware.UnknownStanding, errIncomplete
	case top.above(target):
		return middleware.Satisfied, nil
	}
	return middleware.NotSatisfied, nil
}
