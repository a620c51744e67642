package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Scope is what layer 5 lets through. The zero value lets everything through
// but application-wide tools.
type Scope struct {
	// Guilds are the only guilds that calls may touch; nil allows every guild,
	// an empty list none.
	Guilds []discord.GuildID

	// Bot is the only bot that calls may act as. Application-wide tools need
	// it. "" locks nothing.
	Bot discord.UserID

	// UserScoped lets tools that act on users outside guilds through an
	// allowlist, if Bot is given as well.
	UserScoped bool

	// Resolver tells guilds; without it an allowlist passes direct guild ids
	// alone.
	Resolver GuildResolver

	// Verify reads whether the server acts as Bot, remembers that it does, and
	// returns an [*mcpcore.Error] that refuses the call otherwise. With Bot and
	// without Verify every call is refused.
	Verify func(ctx context.Context) error
}

// GuildResolver tells which guild something of Discord belongs to. It reads and
// never changes anything. It is safe for concurrent use and remembers no
// failure.
type GuildResolver interface {
	// GuildOf is the guild of what ref names, "" for what belongs to none. An
	// error means that it is not known.
	GuildOf(ctx context.Context, ref GuildRef) (discord.GuildID, error)
}

// GuildRef is a question to a [GuildResolver].
type GuildRef struct {
	// Kind is one of: channel, webhook, invite, template, sticker, owner, and of
	// what exists within a guild alone: role, overwrite, grantee, event, rule, sound.
	Kind discord.Kind
	ID   string

	// In is the guild that what exists within a guild alone must be of. For a
	// channel it is the guild that it is expected in, among many others of that
	// guild.
	In discord.GuildID
	// Channel is the channel that an overwrite may be in; "" for none.
	Channel discord.ChannelID
	// Token is a webhook's own, which lets it be read without permissions; ""
	// for none.
	Token string
	// Fresh demands that what can change is read anew.
	Fresh bool
}

// GuildScope is layer 5: it proves that a call touches allowed guilds alone,
// before anything is changed, and that the server acts as the expected bot. It
// knows what an argument is from the type of its field ([mcpcore.Tool.IDs]), at
// any depth:
//
//   - a guild is allowed or not: GUILD_NOT_ALLOWED
//   - a channel, thread, webhook, invite, template or sticker is of a guild that
//     the resolver tells
//   - an owner is a guild, or a user
//   - a role, an overwrite, a grantee, an event, a rule or a sound is one of the
//     guild that the rest of the call is of
//   - a message, a tag, an emoji and their like name nothing outside the guild or
//     the channel that they are given with
//   - users belong to no guild
//
// What cannot be told is GUILD_SCOPE_UNRESOLVED; so is a call that touches two
// guilds, unless the tool Crosses, and one that names none although the tool's
// scope is a guild or a channel. Tools that act as the application need the
// identity lock: BOT_SCOPE_UNRESOLVED.
func GuildScope(s Scope) mcpcore.Middleware {
	s.Guilds = slices.Clone(s.Guilds)
	return mcpcore.Middleware{Name: "guild_scope", Check: s.check, Wrap: func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			if err := s.identity(ctx, call); err != nil {
				return nil, err
			}
			if s.Guilds != nil {
				if err := s.prove(ctx, call); err != nil {
					return nil, err
				}
			}
			return next(ctx, call)
		}
	}}
}

// Hides reports whether no call of the tool can pass, so that it need not be
// listed.
func (s Scope) Hides(t *mcpcore.Tool) bool { return s.Guilds != nil && s.unprovable(t) != "" }

// check refuses to build with a tool that writes and that an allowlist could
// not hold, unless it is one of those that are outside guilds by their nature.
func (s Scope) check(t *mcpcore.Tool) error {
	if s.Guilds == nil || t.Effect == mcpcore.Read || outside(t) {
		return nil
	}
	if why := s.unprovable(t); why != "" {
		return fmt.Errorf("it writes, and with an allowlist of guilds nobody could tell where: %s", why)
	}
	return nil
}

// outside reports whether a tool is outside guilds by its nature.
func outside(t *mcpcore.Tool) bool {
	return t.Scope == mcpcore.ApplicationScope || t.Scope == mcpcore.UserScope || t.Locked || takes(t, discord.KindInteraction)
}

// unprovable says why no call of the tool can be proven, "" when one can.
func (s Scope) unprovable(t *mcpcore.Tool) string {
	switch {
	case t.Scope == mcpcore.UserScope && (!s.UserScoped || s.Bot == ""):
		return "it acts on users outside guilds"
	case s.Bot == "" && t.NeedsLock():
		return "it acts as the application, and no bot is locked"
	case takes(t, discord.KindInteraction):
		return "it answers an interaction, which tells no guild"
	case t.Scope != mcpcore.LocalScope && takes(t, ""):
		return "an argument is an id of an unknown kind; use the types of package discord"
	case s.mustAnchor(t) && !slices.ContainsFunc(t.IDs(), func(p mcpcore.IDPath) bool { return anchors(p.Kind) }):
		return "it takes nothing that tells a guild"
	}
	return ""
}

// mustAnchor reports whether a call has to name something of a guild.
func (s Scope) mustAnchor(t *mcpcore.Tool) bool {
	switch t.Scope {
	case mcpcore.GuildScope, mcpcore.ChannelScope:
		return true
	case mcpcore.GlobalScope:
		return t.Effect != mcpcore.Read
	}
	return false
}

func takes(t *mcpcore.Tool, kind discord.Kind) bool {
	return slices.ContainsFunc(t.IDs(), func(p mcpcore.IDPath) bool { return p.Kind == kind })
}

// anchors reports whether an id of the kind tells a guild by itself.
func anchors(kind discord.Kind) bool {
	switch kind {
	case discord.KindGuild, discord.KindChannel, discord.KindWebhook, discord.KindInvite, discord.KindTemplate, discord.KindSticker, discord.KindOwner:
		return true
	}
	return false
}

// within reports whether what has the kind exists within a guild alone and is
// held to it.
func within(kind discord.Kind) bool {
	switch kind {
	case discord.KindRole, discord.KindOverwrite, discord.KindGrantee, discord.KindEvent, discord.KindRule, discord.KindSound:
		return true
	}
	return false
}

// identity keeps the identity lock.
func (s Scope) identity(ctx context.Context, call *mcpcore.Call) error {
	t := call.Tool()
	if s.Bot != "" {
		if s.Verify == nil {
			return unlocked("bot "+string(s.Bot), "nothing can tell which bot this is")
		}
		if err := s.Verify(ctx); err != nil {
			return err
		}
	}
	switch locked := t.NeedsLock(); {
	case locked && s.Bot == "":
		return unlocked("tool "+t.Name, t.Name+" acts as the application, and this server is not locked to a bot")
	case s.Bot == "", !locked && !takes(t, discord.KindInteraction): // an answer to an interaction is the application's
		return nil
	}
	for _, id := range call.IDs() {
		if id.Kind == discord.KindApplication && id.Value != string(s.Bot) {
			return unlocked("application "+id.Value, fmt.Sprintf("%s is another application than the one this server is locked to", id.Path))
		}
	}
	return nil
}

func unlocked(resource, detail string) *mcpcore.Error {
	return mcpcore.Errorf(mcpcore.CodeBotUnresolved, "%s", detail).With("resource", resource)
}

// prove resolves every id of the call.
func (s Scope) prove(ctx context.Context, call *mcpcore.Call) error {
	t := call.Tool()
	if why := s.unprovable(t); why != "" {
		return unresolved("tool "+t.Name, fmt.Sprintf("%s cannot be held to the allowed guilds: %s", t.Name, why), nil)
	}
	p := proof{Scope: s, ids: call.IDs(), fresh: t.Effect != mcpcore.Read}
	if err := p.direct(); err != nil || t.Scope == mcpcore.LocalScope { // which reaches nothing
		return err
	}
	if err := p.resolved(ctx); err != nil {
		return err
	}
	switch {
	case len(p.guilds) == 0 && s.mustAnchor(t):
		return unresolved("tool "+t.Name, "the call names nothing that tells its guild", nil)
	case len(p.guilds) > 1 && !t.Crosses:
		return unresolved("tool "+t.Name, fmt.Sprintf("the call touches the guilds %s, and %s acts in one", joined(p.guilds), t.Name), nil)
	}
	return p.held(ctx)
}

// proof is what is known of one call.
type proof struct {
	Scope
	ids    []mcpcore.ID
	fresh  bool
	guilds []discord.GuildID // touched and allowed, each once
}

// direct takes the guilds that the call names.
func (p *proof) direct() error {
	for _, id := range p.ids {
		if id.Kind == discord.KindGuild {
			if err := p.touch(discord.GuildID(id.Value), id.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *proof) touch(guild discord.GuildID, path string) error {
	if !slices.Contains(p.Guilds, guild) {
		return mcpcore.Errorf(mcpcore.CodeGuildNotAllowed, "%s leads to the guild %s, which this server does not allow", path, guild).With("guild_id", string(guild))
	}
	if !slices.Contains(p.guilds, guild) {
		p.guilds = append(p.guilds, guild)
	}
	return nil
}

// manyChannels is from how many channels on the list of a guild's channels is
// read instead of each channel.
const manyChannels = 3

// resolved takes the guilds of what the call names beside.
func (p *proof) resolved(ctx context.Context) error {
	seen := map[GuildRef]bool{}
	many := len(p.of(discord.KindChannel)) >= manyChannels
	for _, id := range p.ids {
		if !anchors(id.Kind) || id.Kind == discord.KindGuild {
			continue
		}
		ref := GuildRef{Kind: id.Kind, ID: id.Value, Fresh: p.fresh}
		if id.Kind == discord.KindChannel && many && len(p.guilds) > 0 {
			ref.In = p.guilds[0]
		}
		if tokens := p.of(discord.KindWebhookToken); id.Kind == discord.KindWebhook && len(tokens) > 0 {
			ref.Token = tokens[0]
		}
		if seen[ref] {
			continue
		}
		seen[ref] = true
		guild, err := p.ask(ctx, ref, id.Path)
		switch {
		case err != nil:
			return err
		case guild == "" && (id.Kind == discord.KindSticker || id.Kind == discord.KindOwner): // Discord's own; a user
			continue
		case guild == "":
			return unresolved(resource(id), id.Path+" belongs to no guild", nil)
		}
		if err := p.touch(guild, id.Path); err != nil {
			return err
		}
	}
	return nil
}

// held demands that what exists within a guild alone is of one that the call
// touches.
func (p *proof) held(ctx context.Context) error {
	seen := map[string]bool{}
	for _, id := range p.ids {
		if !within(id.Kind) || seen[resource(id)] {
			continue
		}
		seen[resource(id)] = true
		found := slices.Contains(p.guilds, discord.GuildID(id.Value)) // @everyone
		for _, guild := range p.guilds {
			if found {
				break
			}
			ref := GuildRef{Kind: id.Kind, ID: id.Value, In: guild, Fresh: p.fresh}
			if channels := p.of(discord.KindChannel); len(channels) > 0 {
				ref.Channel = discord.ChannelID(channels[0])
			}
			of, err := p.ask(ctx, ref, id.Path)
			if err != nil {
				return err
			}
			found = of == guild
		}
		if !found {
			return unresolved(resource(id), fmt.Sprintf("%s is no %s of the guild that the call is about", id.Path, id.Kind), nil)
		}
	}
	return nil
}

// of lists the call's ids of a kind.
func (p *proof) of(kind discord.Kind) (values []string) {
	for _, id := range p.ids {
		if id.Kind == kind {
			values = append(values, id.Value)
		}
	}
	return values
}

func (p *proof) ask(ctx context.Context, ref GuildRef, path string) (discord.GuildID, error) {
	if p.Resolver == nil {
		return "", unresolved(string(ref.Kind)+" "+ref.ID, "nothing can tell the guild of "+path, nil)
	}
	guild, err := p.Resolver.GuildOf(ctx, ref)
	if err == nil || ctx.Err() != nil {
		return guild, err
	}
	detail := "the guild of " + path + " cannot be told"
	if e, ok := errors.AsType[*mcpcore.Error](err); ok {
		detail += ": " + string(e.Code) // its text may be a user's
	}
	return "", unresolved(string(ref.Kind)+" "+ref.ID, detail, err)
}

func resource(id mcpcore.ID) string { return string(id.Kind) + " " + id.Value }

func unresolved(resource, detail string, cause error) *mcpcore.Error {
	return &mcpcore.Error{Code: mcpcore.CodeGuildUnresolved, Detail: detail, Fields: map[string]any{"resource": resource}, Cause: cause}
}

func joined(guilds []discord.GuildID) string {
	all := make([]string, len(guilds))
	for i, g := range guilds {
		all[i] = string(g)
	}
	return strings.Join(all, " and ")
}
