package discordtools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// Evidence reads what the bot may do, of the kinds that
// [middleware.RuntimeAccess] asks for. It sends GET requests alone, shares those
// under way, and remembers complete answers for a moment, at most 1024 of each
// sort. It is safe for concurrent use.
type Evidence struct {
	rest REST
	now  func() time.Time
	me   *identity

	guilds   memory[discord.GuildID, guildSnapshot]
	channels memory[discord.ChannelID, channelSnapshot]
	members  memory[memberKey, memberSnapshot]
	places   memory[mcpcore.EvidenceRef, middleware.Place]
	intents  memory[struct{}, discord.Intents]
}

// EvidenceOptions is how [NewEvidence] remembers. The zero value is what
// [BuildServer] takes.
type EvidenceOptions struct {
	// Life is for how long an answer counts: 0 is five seconds, more than a
	// minute is a minute. Which bot this is counts for ever.
	Life time.Duration
	Now  func() time.Time // nil is time.Now
}

// NewEvidence is the evidence that can be read over rest.
func NewEvidence(rest REST, o EvidenceOptions) *Evidence {
	if o.Life <= 0 {
		o.Life = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	life := min(o.Life, time.Minute)
	e := &Evidence{rest: rest, now: o.Now, me: &identity{rest: rest}}
	e.guilds.life, e.guilds.now = life, o.Now
	e.channels.life, e.channels.now = life, o.Now
	e.members.life, e.members.now = life, o.Now
	e.places.life, e.places.now = life, o.Now
	e.intents.life, e.intents.now = life, o.Now
	return e
}

// Forget drops all answers but which bot this is. An answer that is under way
// reaches who waits for it and nobody later.
func (e *Evidence) Forget() {
	e.guilds.empty()
	e.channels.empty()
	e.members.empty()
	e.places.empty()
	e.intents.empty()
}

// Kinds implements [mcpcore.EvidenceResolver].
func (e *Evidence) Kinds() []mcpcore.EvidenceKind {
	return []mcpcore.EvidenceKind{
		middleware.EvidenceIdentity, middleware.EvidenceIntents, middleware.EvidenceGuild, middleware.EvidenceChannel,
		middleware.EvidenceWebhook, middleware.EvidenceInvite, middleware.EvidenceHierarchy,
	}
}

// errIncomplete says that Discord's answer lacks what the evidence needs.
var errIncomplete = errors.New("the answer is not complete")

// Resolve implements [mcpcore.EvidenceResolver]. An answer that lacks something
// is not complete and has no data.
func (e *Evidence) Resolve(ctx context.Context, ref mcpcore.EvidenceRef) (mcpcore.Evidence, error) {
	data, err := e.read(ctx, ref)
	if errors.Is(err, errIncomplete) {
		return mcpcore.Evidence{Source: "discord_rest"}, nil
	}
	if err != nil {
		return mcpcore.Evidence{}, err
	}
	return mcpcore.Evidence{Complete: true, Source: "discord_rest", Data: data}, nil
}

func (e *Evidence) read(ctx context.Context, ref mcpcore.EvidenceRef) (any, error) {
	switch ref.Kind {
	case middleware.EvidenceIdentity:
		return e.bot(ctx)
	case middleware.EvidenceIntents:
		return e.intents.get(ctx, struct{}{}, e.readIntents)
	case middleware.EvidenceGuild:
		s, err := e.guild(ctx, discord.GuildID(ref.Key))
		return middleware.GuildRights{Guild: s.id, Permissions: s.permissions}, err
	case middleware.EvidenceChannel:
		return e.channel(ctx, discord.ChannelID(ref.Key))
	case middleware.EvidenceWebhook, middleware.EvidenceInvite:
		return e.places.get(ctx, ref, func(ctx context.Context) (middleware.Place, bool, error) {
			p, err := e.place(ctx, ref)
			return p, true, err
		})
	case middleware.EvidenceHierarchy:
		parts := strings.Split(ref.Key, ":")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%q is no key of evidence about the hierarchy", ref.Key)
		}
		guild := discord.GuildID(parts[0])
		s, err := e.standing(ctx, guild, discord.Kind(parts[1]), parts[2])
		if errors.Is(err, errIncomplete) { // what was read does not fit together: a role may be new
			e.guilds.drop(guild)
			e.members.drop(memberKey{guild, discord.UserID(parts[2])})
		}
		return s, err
	}
	return nil, fmt.Errorf("no evidence of kind %q", ref.Kind)
}

func (e *Evidence) bot(ctx context.Context) (discord.UserID, error) {
	me, err := e.me.account(ctx)
	if err == nil && !me.Bot {
		err = errIncomplete
	}
	return me.ID, err
}

// Flags of an application that say which privileged intents it has, in full or
// as an app that is in few guilds. What may be read over REST depends on them,
// not on what a gateway session asks for.
//
// Source: https://docs.discord.com/developers/resources/application#application-object-application-flags.
const (
	flagPresence       = 1<<12 | 1<<13
	flagGuildMembers   = 1<<14 | 1<<15
	flagMessageContent = 1<<18 | 1<<19
)

func (e *Evidence) readIntents(ctx context.Context) (granted discord.Intents, keep bool, err error) {
	var app struct {
		Flags *int64 `json:"flags"`
	}
	if err := get(ctx, e.rest, "GET /applications/@me", nil, &app); err != nil {
		return 0, false, err
	}
	if app.Flags == nil {
		return 0, false, errIncomplete
	}
	for flag, intent := range map[int64]discord.Intents{
		flagPresence: discord.GuildPresences, flagGuildMembers: discord.GuildMembers, flagMessageContent: discord.MessageContent,
	} {
		if *app.Flags&flag != 0 {
			granted |= intent
		}
	}
	return granted, true, nil
}

// place is where a webhook or an invite leads.
func (e *Evidence) place(ctx context.Context, ref mcpcore.EvidenceRef) (p middleware.Place, err error) {
	var at struct {
		GuildID   discord.GuildID   `json:"guild_id"`
		ChannelID discord.ChannelID `json:"channel_id"`
		Guild     struct {
			ID discord.GuildID `json:"id"`
		} `json:"guild"`
		Channel struct {
			ID discord.ChannelID `json:"id"`
		} `json:"channel"`
	}
	if ref.Kind == middleware.EvidenceInvite {
		err = get(ctx, e.rest, routeInvite, map[string]string{"code": ref.Key}, &at)
		p = middleware.Place{Guild: at.Guild.ID, Channel: at.Channel.ID}
	} else {
		err = get(ctx, e.rest, "GET /webhooks/{webhook_id}", map[string]string{"webhook_id": ref.Key}, &at)
		p = middleware.Place{Guild: at.GuildID, Channel: at.ChannelID}
	}
	if err == nil && p.Guild == "" && p.Channel == "" {
		err = errIncomplete
	}
	return p, err
}
