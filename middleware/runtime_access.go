package middleware

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// AccessMode is what a gap in the bot's access does to a call.
type AccessMode int

// The modes.
const (
	Advisory AccessMode = iota // nothing is asked
	Warn                       // it is logged, and the call goes on
	Enforce                    // it refuses the call
)

// Access is what layer 7 needs. The zero value asks nothing.
type Access struct {
	Mode AccessMode

	// Bot is the bot that the evidence must be about; "" for whichever it is.
	Bot discord.UserID

	// Forget drops what the resolvers remember. It is called before a tool that
	// writes looks at evidence and after it has acted, in every mode, because
	// preconditions ask for evidence too. nil when nothing is remembered.
	Forget func()

	Logger *slog.Logger // takes the warnings; nil discards
}

// RuntimeAccess is layer 7: it weighs evidence about what the bot may do against
// what the tool declares (Needs, NeedsWhen, Intents, Outranks), never against
// its name. A gap is RUNTIME_ACCESS_DENIED; evidence that is missing or partial
// is RUNTIME_ACCESS_UNKNOWN.
//
// Permissions are weighed in the channels that top-level arguments name, or in
// the one that NeedsIn names, or else in the guild. In a thread SEND_MESSAGES
// counts as SEND_MESSAGES_IN_THREADS, and MANAGE_CHANNELS as MANAGE_THREADS. A
// tool of one channel also needs to see it. Tools that demand nothing, local
// ones and those that act by a token pass without evidence.
func RuntimeAccess(a Access) mcpcore.Middleware {
	m := mcpcore.Middleware{Name: "runtime_access", Wrap: pass}
	if a.Mode == Advisory && a.Forget == nil {
		return m
	}
	a.Logger = cmp.Or(a.Logger, slog.New(slog.DiscardHandler))
	m.Wrap = func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			if a.Forget != nil && call.Tool().Effect != mcpcore.Read {
				a.Forget()
				defer a.Forget()
			}
			if err := a.weigh(ctx, call); err != nil {
				return nil, err
			}
			return next(ctx, call)
		}
	}
	return m
}

// weigh refuses, warns or does nothing.
func (a Access) weigh(ctx context.Context, call *mcpcore.Call) error {
	if a.Mode == Advisory {
		return nil
	}
	w := weighing{Access: a, call: call, tool: call.Tool()}
	err := w.run(ctx)
	switch {
	case err == nil:
		return nil
	case a.Mode == Enforce && ctx.Err() != nil:
		return ctx.Err()
	case a.Mode == Enforce:
		return err
	}
	a.Logger.LogAttrs(ctx, slog.LevelWarn, "the bot's access is not enough or not known",
		slog.String("tool", w.tool.Name), slog.String("code", string(err.Code)), slog.Any("missing_permissions", err.Fields["missing_permissions"]),
		slog.Any("missing_intents", err.Fields["missing_intents"]), slog.Any("hierarchy", err.Fields["hierarchy"]), slog.Any("reason", err.Fields["reason"]),
		slog.String("request_id", call.ID()))
	return nil
}

// weighing is the weighing of one call.
type weighing struct {
	Access
	call *mcpcore.Call
	tool *mcpcore.Tool

	missing discord.Permissions
}

// run follows the order in which the answers count: what is not known goes
// before what is denied, since a gap may not be the only one.
func (w *weighing) run(ctx context.Context) *mcpcore.Error {
	t := w.tool
	if t.Scope == mcpcore.LocalScope || t.Anonymous {
		return nil
	}
	needs, covered := w.call.Needs()
	targets := w.targets()
	needs |= t.Always()
	switch {
	case !covered:
		return w.unknown("the tool declares no requirement for these arguments", nil)
	case needs == 0 && t.Intents == 0 && len(targets) == 0:
		return nil
	}
	bot, err := ask[discord.UserID](ctx, w.call, EvidenceIdentity, "")
	switch {
	case err != nil:
		return w.unknown("the bot's identity", err)
	case w.Bot != "" && bot != w.Bot:
		return w.denied(discord.Intents(0), Satisfied, "this is another bot than the one this server is locked to")
	}
	guild, err := w.permissions(ctx, needs, len(targets) > 0)
	if err != nil {
		return w.unknown("the bot's permissions", err)
	}
	var lacking discord.Intents
	if t.Intents != 0 {
		granted, err := ask[discord.Intents](ctx, w.call, EvidenceIntents, "")
		if err != nil {
			return w.unknown("the application's intents", err)
		}
		lacking = t.Intents &^ granted
	}
	standing := Satisfied
	for _, target := range targets {
		s, err := ask[Standing](ctx, w.call, EvidenceHierarchy, HierarchyKey(guild, target.Kind, target.Value))
		if err == nil && s != Satisfied && s != NotSatisfied {
			err = errPartial
		}
		if err != nil {
			return w.unknown("the bot's place above "+target.Path, err)
		}
		if s == NotSatisfied {
			standing = s
		}
	}
	if w.missing == 0 && lacking == 0 && standing == Satisfied {
		return nil
	}
	return w.denied(lacking, standing, "")
}

// targets are the users and roles that the bot must stand above.
func (w *weighing) targets() (targets []mcpcore.ID) {
	if w.tool.Outranks == "" {
		return nil
	}
	for _, id := range w.call.IDs() {
		inside := id.Path == w.tool.Outranks || strings.HasPrefix(id.Path, w.tool.Outranks+".")
		if inside && (id.Kind == discord.KindUser || id.Kind == discord.KindRole) {
			targets = append(targets, id)
		}
	}
	return targets
}

var errNowhere = errors.New("the call names no guild and no channel")

// permissions notes what is missing of needs and tells the guild of the call.
func (w *weighing) permissions(ctx context.Context, needs discord.Permissions, ranked bool) (discord.GuildID, error) {
	guild, channels, err := w.places(ctx)
	if err != nil || needs == 0 && !ranked {
		return guild, err
	}
	for _, channel := range channels {
		r, err := ask[ChannelRights](ctx, w.call, EvidenceChannel, string(channel))
		switch {
		case err != nil:
			return "", err
		case guild != "" && r.Guild != guild:
			return "", errors.New("the call names channels of several guilds")
		}
		guild = r.Guild
		w.missing |= inPlace(needs, r.Type) &^ r.Permissions
	}
	if len(channels) > 0 {
		return guild, nil
	}
	if guild == "" {
		return "", errNowhere
	}
	r, err := ask[GuildRights](ctx, w.call, EvidenceGuild, string(guild))
	w.missing |= needs &^ r.Permissions
	return guild, err
}

// inPlace is what permissions are called where they are needed.
func inPlace(needs discord.Permissions, t discord.ChannelType) discord.Permissions {
	if !t.IsThread() {
		return needs
	}
	for channel, thread := range map[discord.Permissions]discord.Permissions{
		discord.SendMessages: discord.SendMessagesInThreads, discord.ManageChannels: discord.ManageThreads,
	} {
		if needs.Has(channel) {
			needs = needs&^channel | thread
		}
	}
	return needs
}

// places are the guild and the channels in which permissions count.
func (w *weighing) places(ctx context.Context) (guild discord.GuildID, channels []discord.ChannelID, err error) {
	for _, id := range w.call.IDs() {
		argument, deeper, _ := strings.Cut(id.Path, ".")
		switch top := !strings.ContainsFunc(deeper, func(r rune) bool { return r < '0' || r > '9' }); {
		case !top, (id.Kind == discord.KindChannel || id.Kind == discord.KindGuild) && w.tool.NeedsIn != "" && argument != w.tool.NeedsIn:
			continue
		case id.Kind == discord.KindGuild && guild == "":
			guild = discord.GuildID(id.Value)
		case id.Kind == discord.KindChannel && !slices.Contains(channels, discord.ChannelID(id.Value)):
			channels = append(channels, discord.ChannelID(id.Value))
		case id.Kind == discord.KindWebhook, id.Kind == discord.KindInvite:
			kind := EvidenceWebhook
			if id.Kind == discord.KindInvite {
				kind = EvidenceInvite
			}
			p, err := ask[Place](ctx, w.call, kind, id.Value)
			if err != nil {
				return "", nil, err
			}
			guild = cmp.Or(guild, p.Guild)
			if p.Channel != "" {
				channels = append(channels, p.Channel)
			}
		}
	}
	return guild, channels, nil
}

var errPartial = errors.New("partial")

// ask is evidence of a known type. What is incomplete or of another type proves
// nothing.
func ask[T any](ctx context.Context, call *mcpcore.Call, kind mcpcore.EvidenceKind, key string) (v T, err error) {
	e, err := call.Evidence(ctx, kind, key)
	if err != nil {
		return v, err
	}
	data, ok := e.Data.(T)
	if !e.Complete || !ok {
		return v, errPartial
	}
	return data, nil
}

// unknown says what is not known and why. Of Discord's errors it tells the code
// alone.
func (w *weighing) unknown(what string, cause error) *mcpcore.Error {
	reason := what
	switch e, ok := errors.AsType[*mcpcore.Error](cause); {
	case ok:
		reason += ": " + string(e.Code)
	case cause != nil:
		reason += " cannot be told"
		if errors.Is(cause, errNowhere) {
			reason = errNowhere.Error()
		}
	}
	e := mcpcore.Errorf(mcpcore.CodeAccessUnknown, "whether the bot may do this is not known: %s", reason).
		With("tool", w.tool.Name).With("reason", reason)
	e.Cause = cause
	return e
}

func (w *weighing) denied(lacking discord.Intents, standing Standing, why string) *mcpcore.Error {
	var gaps []string
	if why != "" {
		gaps = append(gaps, why)
	}
	if w.missing != 0 {
		gaps = append(gaps, "the bot lacks "+w.missing.String())
	}
	if lacking != 0 {
		gaps = append(gaps, "the application lacks the intent "+strings.Join(lacking.Names(), ", "))
	}
	if standing == NotSatisfied {
		gaps = append(gaps, fmt.Sprintf("the bot's highest role is not above %s", w.tool.Outranks))
	}
	return mcpcore.Errorf(mcpcore.CodeAccessDenied, "%s", strings.Join(gaps, "; ")).
		With("tool", w.tool.Name).With("missing_permissions", w.missing.Names()).
		With("missing_intents", lacking.Names()).With("hierarchy", string(standing))
}
