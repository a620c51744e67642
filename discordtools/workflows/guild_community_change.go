package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type communityChange struct {
	GuildID discord.GuildID    `json:"guildId" jsonschema:"guild to change"`
	Rules   discord.ChannelID  `json:"rulesChannelId" jsonschema:"text channel with the rules, which everyone can see"`
	Updates discord.ChannelID  `json:"publicUpdatesChannelId" jsonschema:"text channel for what Discord tells those who run the guild"`
	Safety  *discord.ChannelID `json:"safetyAlertsChannelId" jsonschema:"text channel for safety alerts; null for none"`
	Enable  bool               `json:"acknowledgeCommunityEnablement" jsonschema:"true: where the guild is no Community yet, it becomes one"`
	reason
}

// communityRouting are the channels that a Community guild needs.
type communityRouting struct {
	Rules   discord.ChannelID `json:"rulesChannelId"`
	Updates discord.ChannelID `json:"publicUpdatesChannelId"`
	Safety  discord.ChannelID `json:"safetyAlertsChannelId"`
}

type communityState struct {
	Guild      guildSeen        `json:"guild"`
	Permission evidence         `json:"permission"`
	Features   []string         `json:"features" jsonschema:"all that the guild has, which stay"`
	Enables    bool             `json:"enables" jsonschema:"whether the guild becomes a Community"`
	Now        communityRouting `json:"current"`
	Wanted     communityRouting `json:"wanted"`
	Changed    []string         `json:"changedFields"`
	Channels   string           `json:"channels" jsonschema:"digest of how all visible channels stand"`
}

// communityWire is what makes a Community, as Discord tells it.
type communityWire struct {
	ID       discord.GuildID    `json:"id"`
	Features []string           `json:"features"`
	Rules    *discord.ChannelID `json:"rules_channel_id"`
	Updates  *discord.ChannelID `json:"public_updates_channel_id"`
	Safety   *discord.ChannelID `json:"safety_alerts_channel_id"`
}

type communityBody struct {
	Rules    discord.ChannelID `json:"rules_channel_id"`
	Updates  discord.ChannelID `json:"public_updates_channel_id"`
	Safety   json.RawMessage   `json:"safety_alerts_channel_id"`
	Features []string          `json:"features,omitempty"`
}

// communitySeen is what audit_guild_community tells.
type communitySeen struct {
	Guild      guildSeen         `json:"guild"`
	Permission evidence          `json:"permission"`
	Enabled    bool              `json:"enabled"`
	Features   []string          `json:"features"`
	Routing    communityRouting  `json:"routing"`
	Faults     []string          `json:"faults" jsonschema:"what is wrong with the channels of the routing; [] for nothing"`
	MayRoute   bool              `json:"mayChangeRouting"`
	MayEnable  bool              `json:"mayEnable"`
	Channels   []communityChoice `json:"textChannels" jsonschema:"what can be chosen"`
}

type communityChoice struct {
	ID     discord.ChannelID `json:"channelId"`
	Public bool              `json:"everyoneSees" jsonschema:"which the rules must have"`
}

var communityReads = append(slices.Clone(standingRoutes), routeChannels)

// guildCommunityChange makes a guild a Community, or sets the channels of one.
func guildCommunityChange(rest discordtools.REST) mcpcore.Workflow {
	return change[communityChange, communityState]{
		Name: "guild-community-change", Category: "guild-community", Title: "Make a guild a Community, or set its channels",
		Doc: `Sets the channels that a Community guild needs, all of them, and makes the guild a Community where it is none yet. Nothing here
			makes it one no more, and all its other features stay.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes:      []mcpcore.PolicyScope{guildsScope("guilds that may become Communities, and whose Community channels may be set")},
		Acknowledge: []string{"acknowledgeCommunityEnablement"},
		Audits: []mcpcore.Tool{companion(rest, mcpcore.Tool{
			Name: "audit_guild_community", Title: "Look at what makes a guild a Community", Category: "guild-community",
			Doc:   "Tells whether a guild is a Community, which channels it has for that, what is wrong with them, and which text channels could be chosen.",
			Scope: mcpcore.GuildScope, Routes: communityReads,
		}, auditCommunity)},
		Reads: communityReads, Write: []string{routeGuildEdit},
		Plan: planCommunity,
		Targets: func(in communityChange, _ communityState) []mcpcore.Target {
			return []mcpcore.Target{all("community", in.GuildID), all("guild-settings", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in communityChange, s communityState) (done mcpcore.Written, err error) {
			var g communityWire
			if err := w.send(ctx, routeGuildEdit, inGuild(in.GuildID), s.body(), &g); err != nil {
				return done, err
			}
			if g.ID != in.GuildID || !slices.Contains(g.Features, community) || s.differs(&g) != nil {
				return done, errors.New("the answer is not the Community that was asked for")
			}
			return mcpcore.Written{ID: string(g.ID)}, nil
		},
		ReadBack: func(ctx context.Context, r *reads, in communityChange, s communityState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.community(ctx, in.GuildID)
			if err == nil && !slices.Contains(now.Features, community) {
				err = errors.New("the guild is no Community")
			}
			return mcpcore.Reading{Drift: s.differs(&now)}, err
		},
	}.on(rest)
}

func planCommunity(ctx context.Context, r *reads, in communityChange) (plan mcpcore.Change[communityState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	now, err := r.community(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	channels, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := communityState{
		Guild: bot.Guild, Permission: bot.evidence(), Features: slices.Sorted(slices.Values(now.Features)),
		Enables: !slices.Contains(now.Features, community), Now: now.routing(), Channels: snapshot(layout(channels)),
		Wanted: communityRouting{Rules: in.Rules, Updates: in.Updates},
	}
	set(&s.Wanted.Safety, in.Safety)
	if s.Enables {
		if err := bot.enables(); err != nil {
			return plan, err
		}
	}
	faults, err := s.Wanted.faults(&bot, channels)
	if err != nil {
		return plan, err
	}
	if len(faults) > 0 {
		return plan, refused(faults[0].word, "%s", faults[0].why)
	}
	plan = mcpcore.Change[communityState]{Action: "change", Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}}
	enabled := map[bool]string{true: "no", false: "yes"}[s.Enables]
	s.Changed = setting(&plan,
		field{"community", enabled, "yes"},
		field{"rulesChannelId", inviting(channels, s.Now.Rules), inviting(channels, s.Wanted.Rules)},
		field{"publicUpdatesChannelId", inviting(channels, s.Now.Updates), inviting(channels, s.Wanted.Updates)},
		field{"safetyAlertsChannelId", inviting(channels, s.Now.Safety), inviting(channels, s.Wanted.Safety)})
	if s.Enables {
		plan.Action = "enable"
		plan.Warnings = []string{"The guild becomes a Community, with what Discord asks of one. That is ended by hand, in Discord's own settings."}
	}
	plan.State = s
	return plan, nil
}

// enables refuses to make the guild a Community where the bot may not: it takes
// more than managing one.
func (s *standing) enables() error {
	if s.owner() || s.held.Has(discord.Administrator) {
		return nil
	}
	return lacks(s.held.Low(), discord.Administrator, "the guild, which is no Community yet")
}

type communityFault struct{ word, why string }

// faults are what is wrong with a routing.
func (c communityRouting) faults(bot *standing, channels []channel) (all []communityFault, err error) {
	found := func(word, format string, with ...any) {
		all = append(all, communityFault{word, fmt.Sprintf(format, with...)})
	}
	if c.Rules == c.Updates {
		found("same-channel", "the rules and what Discord tells those who run the guild need a channel each")
	}
	for _, each := range []struct {
		word string
		id   discord.ChannelID
	}{{"rules-channel", c.Rules}, {"updates-channel", c.Updates}, {"safety-channel", c.Safety}} {
		at := indexOf(channels, each.id)
		switch {
		case each.id == "" && each.word == "safety-channel":
		case at < 0 || channels[at].Type != discord.GuildText:
			found(each.word, "%s is no text channel of the guild that the bot can see", orNone(string(each.id)))
		case each.word == "rules-channel":
			may, err := bot.everyone(channels[at])
			if err != nil {
				return nil, err
			}
			if !may.Has(discord.ViewChannel) {
				found("channel-hidden", "not everyone can see the channel %s, which has the rules", each.id)
			}
		}
	}
	return all, nil
}

func auditCommunity(ctx context.Context, r *reads, in guildOnly) (seen communitySeen, err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return seen, err
	}
	now, err := r.community(ctx, in.GuildID)
	if err != nil {
		return seen, err
	}
	channels, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return seen, err
	}
	seen = communitySeen{
		Guild: bot.Guild, Permission: bot.evidence(), Enabled: slices.Contains(now.Features, community), Features: slices.Sorted(slices.Values(now.Features)),
		Routing: now.routing(), Faults: []string{}, MayRoute: bot.needs(discord.ManageGuild) == nil, MayEnable: bot.enables() == nil, Channels: []communityChoice{},
	}
	faults, err := seen.Routing.faults(&bot, channels)
	for _, f := range faults {
		seen.Faults = append(seen.Faults, f.word)
	}
	for _, c := range channels {
		if c.Type == discord.GuildText && err == nil {
			var may discord.Permissions
			may, err = bot.everyone(c)
			seen.Channels = append(seen.Channels, communityChoice{c.ID, may.Has(discord.ViewChannel)})
		}
	}
	return seen, err
}

// community reads what makes a guild a Community.
func (r *reads) community(ctx context.Context, guild discord.GuildID) (g communityWire, err error) {
	if err := r.get(ctx, routeGuild, inGuild(guild), &g); err != nil {
		return g, err
	}
	if g.ID != guild || g.Features == nil {
		return g, incomplete("the features of the guild")
	}
	return g, nil
}

func (g *communityWire) routing() (c communityRouting) {
	set(&c.Rules, g.Rules)
	set(&c.Updates, g.Updates)
	set(&c.Safety, g.Safety)
	return c
}

// differs are the fields in which a guild is not as the plan wants it.
func (s *communityState) differs(g *communityWire) []string {
	var d drift
	now := g.routing()
	d.unless(now.Rules == s.Wanted.Rules, "rulesChannelId")
	d.unless(now.Updates == s.Wanted.Updates, "publicUpdatesChannelId")
	d.unless(now.Safety == s.Wanted.Safety, "safetyAlertsChannelId")
	d.unless(!slices.ContainsFunc(s.Features, func(f string) bool { return !slices.Contains(g.Features, f) }), "features")
	return d
}

// body is the whole routing, and where the guild becomes a Community all its
// features with that one more.
func (s *communityState) body() communityBody {
	b := communityBody{Rules: s.Wanted.Rules, Updates: s.Wanted.Updates, Safety: orNull(s.Wanted.Safety)}
	if s.Enables {
		b.Features = append(slices.Clone(s.Features), community)
	}
	return b
}
