package discordtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// changing is how long the guild of what can change its guild is remembered, for
// tools that read; tools that write read it anew.
const changing = time.Minute

// guildIndex tells the guild of things by reading them.
type guildIndex struct {
	rest REST

	// These never change their guild, so that it is kept until 1024 others were
	// read.
	channels, roles, stickers, owners, parts guildMemory
	// A webhook can be pointed to another guild, a code given to another invite
	// or template, and a member can leave.
	loose guildMemory
}

type guildMemory = memory[middleware.GuildRef, discord.GuildID]

// NewGuildResolver tells middleware.GuildScope the guilds of channels, threads,
// webhooks, invites, templates, stickers, owners, roles, overwrites, grantees,
// events, AutoMod rules and sounds. It sends GET requests alone. A nil now is
// time.Now.
func NewGuildResolver(rest REST, now func() time.Time) middleware.GuildResolver {
	if now == nil {
		now = time.Now
	}
	g := &guildIndex{rest: rest}
	g.loose.life, g.loose.now = changing, now
	return g
}

func (g *guildIndex) GuildOf(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	switch ref.Kind {
	case discord.KindChannel:
		return g.channel(ctx, ref)
	case discord.KindSticker:
		return remembered(ctx, &g.stickers, ref, g.sticker)
	case discord.KindRole:
		return g.role(ctx, ref)
	case discord.KindOverwrite:
		return g.overwrite(ctx, ref)
	case discord.KindEvent, discord.KindRule, discord.KindSound:
		return remembered(ctx, &g.parts, middleware.GuildRef{Kind: ref.Kind, ID: ref.ID, In: ref.In}, g.part)
	case discord.KindGrantee:
		return g.grantee(ctx, ref)
	case discord.KindOwner:
		return g.owner(ctx, ref)
	case discord.KindWebhook:
		return remembered(ctx, &g.loose, ref, g.webhook)
	case discord.KindInvite:
		return remembered(ctx, &g.loose, ref, g.invite)
	case discord.KindTemplate:
		return remembered(ctx, &g.loose, ref, g.template)
	}
	return "", fmt.Errorf("the guild of a %s cannot be read", ref.Kind)
}

// remembered asks m, or what may have changed Discord. A token is no part of
// what is remembered.
func remembered(ctx context.Context, m *guildMemory, ref middleware.GuildRef, read func(context.Context, middleware.GuildRef) (discord.GuildID, error)) (discord.GuildID, error) {
	key := middleware.GuildRef{Kind: ref.Kind, ID: ref.ID, In: ref.In, Channel: ref.Channel}
	if ref.Fresh && m.life > 0 {
		guild, err := read(ctx, ref)
		if err == nil && guild != "" {
			m.set(key, guild)
		}
		return guild, err
	}
	return m.get(ctx, key, func(ctx context.Context) (discord.GuildID, bool, error) {
		guild, err := read(ctx, ref)
		return guild, guild != "", err
	})
}

// channel reads the channel, or where many are asked for those of the guild at
// once.
func (g *guildIndex) channel(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	one := middleware.GuildRef{Kind: ref.Kind, ID: ref.ID}
	if ref.In != "" && !g.channels.has(one) {
		if err := g.list(ctx, ref.In); err != nil {
			return "", err
		}
	}
	return remembered(ctx, &g.channels, one, g.readChannel)
}

// list keeps the guild of all its channels. That it was listed is not kept: a
// channel may be new.
func (g *guildIndex) list(ctx context.Context, guild discord.GuildID) error {
	_, err := g.channels.get(ctx, middleware.GuildRef{Kind: "channels", In: guild}, func(ctx context.Context) (discord.GuildID, bool, error) {
		var all []struct {
			ID discord.ChannelID `json:"id"`
		}
		err := get(ctx, g.rest, routeGuildChannels, atGuild(guild), &all)
		for _, c := range all {
			g.channels.set(middleware.GuildRef{Kind: discord.KindChannel, ID: string(c.ID)}, guild)
		}
		return guild, false, err
	})
	return err
}

func (g *guildIndex) readChannel(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	var c struct {
		ID     discord.ChannelID `json:"id"`
		Guild  discord.GuildID   `json:"guild_id"`
		Parent discord.ChannelID `json:"parent_id"`
	}
	id := discord.ChannelID(ref.ID)
	if err := get(ctx, g.rest, routeChannel, atChannel(id), &c); err != nil {
		return "", err
	}
	switch {
	case c.ID != id:
		return "", errors.New("Discord answered with another channel")
	case c.Guild == "" && c.Parent != "" && c.Parent != id: // a thread that leaves it to its channel
		return g.channel(ctx, middleware.GuildRef{Kind: ref.Kind, ID: string(c.Parent)})
	}
	return c.Guild, nil
}

func (g *guildIndex) sticker(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	var s struct {
		ID    discord.StickerID `json:"id"`
		Guild discord.GuildID   `json:"guild_id"`
	}
	err := get(ctx, g.rest, "GET /stickers/{sticker_id}", map[string]string{"sticker_id": ref.ID}, &s)
	if err == nil && string(s.ID) != ref.ID {
		err = errors.New("Discord answered with another sticker")
	}
	return s.Guild, err
}

// role tells whether a role is one of the guild, "" when it is not.
func (g *guildIndex) role(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	one := middleware.GuildRef{Kind: discord.KindRole, ID: ref.ID, In: ref.In}
	return g.roles.get(ctx, one, func(ctx context.Context) (discord.GuildID, bool, error) {
		var all []struct {
			ID discord.RoleID `json:"id"`
		}
		if err := get(ctx, g.rest, routeRoles, atGuild(ref.In), &all); err != nil {
			return "", false, err
		}
		var guild discord.GuildID
		for _, r := range all {
			if string(r.ID) == ref.ID {
				guild = ref.In
				continue
			}
			g.roles.set(middleware.GuildRef{Kind: discord.KindRole, ID: string(r.ID), In: ref.In}, ref.In)
		}
		return guild, guild != "", nil
	})
}

// overwrite tells whether an overwrite is of the guild: a role of it, one that
// its channel has (also of someone who left), or a member.
func (g *guildIndex) overwrite(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	if guild, err := g.role(ctx, ref); err != nil || guild != "" {
		return guild, err
	}
	return remembered(ctx, &g.loose, ref, func(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
		if ref.Channel != "" {
			var c channelGrants
			if err := get(ctx, g.rest, routeChannel, atChannel(ref.Channel), &c); err != nil {
				return "", err
			}
			if slices.ContainsFunc(c.Overwrites, func(o overwriteView) bool { return string(o.ID) == ref.ID }) {
				return ref.In, nil
			}
		}
		return g.member(ctx, ref)
	})
}

// member tells whether a user is a member of the guild, "" when not.
func (g *guildIndex) member(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	return g.found(ctx, ref, routeMember, "user_id")
}

// found is the guild when Discord has the thing under the route in it, "" when it
// knows none. name is the route's for its id.
func (g *guildIndex) found(ctx context.Context, ref middleware.GuildRef, route, name string) (discord.GuildID, error) {
	switch err := get(ctx, g.rest, route, map[string]string{"guild_id": string(ref.In), name: ref.ID}, nil); {
	case gone(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return ref.In, nil
}

// grantee tells whether somebody to whom a command is open is of the guild: a role
// of it, one of its channels, a member, or the id that stands for all its
// channels.
//
// Source: https://docs.discord.com/developers/interactions/application-commands#application-command-permissions-object-application-command-permissions-constants.
func (g *guildIndex) grantee(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	if n, err := strconv.ParseUint(string(ref.In), 10, 64); err == nil && ref.ID == strconv.FormatUint(n-1, 10) {
		return ref.In, nil
	}
	if guild, err := g.role(ctx, ref); err != nil || guild != "" {
		return guild, err
	}
	channel := middleware.GuildRef{Kind: discord.KindChannel, ID: ref.ID}
	if !g.channels.has(channel) {
		if err := g.list(ctx, ref.In); err != nil {
			return "", err
		}
	}
	if g.channels.has(channel) {
		return remembered(ctx, &g.channels, channel, g.readChannel)
	}
	return remembered(ctx, &g.loose, ref, g.member)
}

// owner is the guild that owns something, "" for a user. What is no user is taken
// for a guild, which is then allowed or not.
func (g *guildIndex) owner(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	one := middleware.GuildRef{Kind: ref.Kind, ID: ref.ID}
	return g.owners.get(ctx, one, func(ctx context.Context) (discord.GuildID, bool, error) {
		err := get(ctx, g.rest, routeUser, map[string]string{"user_id": ref.ID}, nil)
		switch {
		case gone(err):
			return discord.GuildID(ref.ID), true, nil
		case err != nil:
			return "", false, err
		}
		return "", true, nil
	})
}

// parts are the routes on which Discord looks up what exists within a guild
// alone.
var parts = map[discord.Kind]struct{ route, name string }{
	discord.KindEvent: {routeEvent, "guild_scheduled_event_id"},
	discord.KindRule:  {routeRule, "rule_id"},
	discord.KindSound: {routeSound, "sound_id"},
}

// part tells whether something is a part of the guild, "" when it is not. One of
// Discord's own sounds is in every guild.
func (g *guildIndex) part(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	if ref.Kind == discord.KindSound && discord.CheckID(ref.ID) != nil {
		return ref.In, nil
	}
	at := parts[ref.Kind]
	return g.found(ctx, ref, at.route, at.name)
}

// gone reports whether Discord knows no such thing.
func gone(err error) bool {
	e, ok := errors.AsType[*mcpcore.Error](err)
	return ok && e.Code == mcpcore.CodeNotFound
}

// webhook reads a webhook, with its own token where the call has one.
func (g *guildIndex) webhook(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	var w struct {
		ID      discord.WebhookID `json:"id"`
		Guild   discord.GuildID   `json:"guild_id"`
		Channel discord.ChannelID `json:"channel_id"`
	}
	r := Request{Method: "GET", Route: "/webhooks/{webhook_id}", Path: map[string]string{"webhook_id": ref.ID}, Repeatable: true}
	if ref.Token != "" {
		r.Route, r.Anonymous = "/webhooks/{webhook_id}/{webhook_token}", true
		r.Path["webhook_token"] = ref.Token
	}
	if err := decodeInto(ctx, g.rest, r, &w); err != nil {
		return "", err
	}
	switch {
	case string(w.ID) != ref.ID:
		return "", errors.New("Discord answered with another webhook")
	case w.Guild == "" && w.Channel != "":
		return g.channel(ctx, middleware.GuildRef{Kind: discord.KindChannel, ID: string(w.Channel)})
	}
	return w.Guild, nil
}

func (g *guildIndex) invite(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	var i struct {
		Guild struct {
			ID discord.GuildID `json:"id"`
		} `json:"guild"`
	}
	err := get(ctx, g.rest, routeInvite, map[string]string{"code": ref.ID}, &i)
	return i.Guild.ID, err
}

func (g *guildIndex) template(ctx context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	var t struct {
		Guild discord.GuildID `json:"source_guild_id"`
	}
	code, err := readTemplate(ref.ID)
	if err == nil {
		err = get(ctx, g.rest, routeTemplate, map[string]string{"code": code}, &t)
	}
	return t.Guild, err
}

// get reads one thing for a guard, outside a tool's own routes. out may be nil.
func get(ctx context.Context, rest REST, route string, path map[string]string, out any) error {
	return decodeInto(ctx, rest, Request{Method: "GET", Route: route[len("GET "):], Path: path, Repeatable: true}, out)
}

func decodeInto(ctx context.Context, rest REST, r Request, out any) error {
	reply, err := rest.Do(ctx, r)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(reply.Body, out); err != nil {
		return fmt.Errorf("decode reply of GET %s: %w", r.Route, err)
	}
	return nil
}
