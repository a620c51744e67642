package workflows

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeWelcomeEdit = "PATCH /guilds/{guild_id}/welcome-screen"
	welcomeEnabled   = "WELCOME_SCREEN_ENABLED" // the feature that says so
	unknownWelcome   = 10069                    // what Discord says where a guild has none
)

type welcomeChange struct {
	GuildID     discord.GuildID     `json:"guildId" jsonschema:"guild of the welcome screen"`
	Enabled     bool                `json:"enabled" jsonschema:"whether who is new sees it"`
	Description *string             `json:"description" jsonschema:"text above the channels; null for none" minLength:"1" maxLength:"140" pattern:"^\\S([\\s\\S]*\\S)?$"`
	Channels    []welcomeChannelAsk `json:"channels" jsonschema:"all channels that it points to, in order; what is not in it is taken off" maxItems:"5"`
	reason
}

type welcomeChannelAsk struct {
	Channel     discord.ChannelID `json:"channelId" jsonschema:"channel that everyone can see"`
	Description string            `json:"description" jsonschema:"what it is for" minLength:"1" maxLength:"50" pattern:"^\\S(.*\\S)?$"`
	guildMarkInput
}

// welcomeScreen is a welcome screen as plans bind and show it.
type welcomeScreen struct {
	Enabled     bool           `json:"enabled"`
	Description string         `json:"description" jsonschema:"empty for none"`
	Channels    []welcomePoint `json:"channels"`
}

type welcomePoint struct {
	Channel     discord.ChannelID `json:"channelId"`
	Description string            `json:"description"`
	guildMark
}

type welcomeState struct {
	Guild      guildSeen     `json:"guild"`
	Permission evidence      `json:"permission"`
	Now        welcomeScreen `json:"current"`
	Wanted     welcomeScreen `json:"wanted"`
	Changed    []string      `json:"changedFields"`
	Channels   string        `json:"guildChannels" jsonschema:"digest of how all visible channels stand"`
	Emojis     string        `json:"guildEmojis" jsonschema:"digest of all custom emojis"`
}

// welcomeWire is a welcome screen as Discord tells it and takes it.
type welcomeWire struct {
	Enabled     *bool              `json:"enabled,omitempty"` // which it does not tell
	Description *string            `json:"description"`
	Channels    []welcomeWirePoint `json:"welcome_channels"`
}

type welcomeWirePoint struct {
	Channel     discord.ChannelID `json:"channel_id"`
	Description string            `json:"description"`
	EmojiID     *discord.EmojiID  `json:"emoji_id"`
	EmojiName   *string           `json:"emoji_name"`
}

// welcomeScreenChange sets a guild's whole welcome screen.
func welcomeScreenChange(rest discordtools.REST) mcpcore.Workflow {
	return change[welcomeChange, welcomeState]{
		Name: "welcome-screen-change", Noun: "guild_welcome_screen_change", Category: "welcome-screen", Title: "Change a guild's welcome screen",
		Doc: `Sets the whole welcome screen of a Community guild: whether who is new sees it, its text and the channels that it points to, in
			order. Start from guild_get_welcome_screen: channels that are left out are taken off.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose welcome screen may be changed")},
		Reads:  append(slices.Clone(standingRoutes), routeChannels, expressionKinds["emoji"].list, routeWelcome), Write: []string{routeWelcomeEdit},
		Plan: planWelcome,
		Targets: func(in welcomeChange, _ welcomeState) []mcpcore.Target {
			return []mcpcore.Target{all("welcome-screen", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in welcomeChange, s welcomeState) (done mcpcore.Written, err error) {
			var got welcomeWire
			if err := w.send(ctx, routeWelcomeEdit, inGuild(in.GuildID), s.Wanted.wire(), &got); err != nil {
				return done, err
			}
			now, err := got.screen(nil)
			now.Enabled = s.Wanted.Enabled // which the answer does not tell
			if err != nil || now.differ(s.Wanted) != nil {
				return done, errors.New("the answer is not the welcome screen that was asked for")
			}
			return mcpcore.Written{ID: string(in.GuildID)}, nil
		},
		ReadBack: func(ctx context.Context, r *reads, in welcomeChange, s welcomeState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.welcome(ctx, in.GuildID, nil)
			return mcpcore.Reading{Drift: now.differ(s.Wanted)}, err
		},
	}.on(rest)
}

func planWelcome(ctx context.Context, r *reads, in welcomeChange) (plan mcpcore.Change[welcomeState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	if !slices.Contains(bot.Features, community) {
		return plan, refused("community", "the guild is no Community, and has no welcome screen")
	}
	channels, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	marks, err := r.guildMarks(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := welcomeState{Guild: bot.Guild, Permission: bot.evidence(), Channels: snapshot(layout(channels)), Emojis: snapshot(marks)}
	if s.Now, err = r.welcome(ctx, in.GuildID, marks); err != nil {
		return plan, err
	}
	if s.Wanted, err = in.screen(&bot, channels, marks); err != nil {
		return plan, err
	}
	plan = mcpcore.Change[welcomeState]{Action: "replace", Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}}
	s.Changed = setting(&plan,
		field{"enabled", strconv.FormatBool(s.Now.Enabled), strconv.FormatBool(s.Wanted.Enabled)},
		field{"description", inQuotes(s.Now.Description), inQuotes(s.Wanted.Description)},
		field{"channels", s.Now.points(channels), s.Wanted.points(channels)})
	plan.State = s
	return plan, nil
}

// screen is the welcome screen that is asked for.
func (in welcomeChange) screen(bot *standing, channels []channel, marks guildMarks) (s welcomeScreen, err error) {
	s = welcomeScreen{Enabled: in.Enabled, Channels: []welcomePoint{}}
	set(&s.Description, in.Description)
	for _, ask := range in.Channels {
		c, err := bot.public(channels, ask.Channel)
		switch {
		case err != nil:
			return s, err
		case !slices.Contains(contentKinds, c.Type):
			return s, refused("channel-type", "%s is no channel that one can read in", ask.Channel)
		case slices.ContainsFunc(s.Channels, func(p welcomePoint) bool { return p.Channel == ask.Channel }):
			return s, refused("ambiguous", "the channel %s is named twice", ask.Channel)
		}
		mark, err := marks.pick(ask.guildMarkInput)
		if err != nil {
			return s, err
		}
		s.Channels = append(s.Channels, welcomePoint{ask.Channel, ask.Description, mark})
	}
	return s, nil
}

// welcome reads a guild's welcome screen, an empty one where it has none.
func (r *reads) welcome(ctx context.Context, guild discord.GuildID, marks guildMarks) (s welcomeScreen, err error) {
	var w welcomeWire
	switch err := r.get(ctx, routeWelcome, inGuild(guild), &w); {
	case unknown(err, unknownWelcome):
		w.Channels = []welcomeWirePoint{}
	case err != nil:
		return s, err
	}
	if s, err = w.screen(marks); err != nil {
		return s, err
	}
	features, err := r.features(ctx, guild)
	s.Enabled = slices.Contains(features, welcomeEnabled)
	return s, err
}

func (w *welcomeWire) screen(marks guildMarks) (s welcomeScreen, err error) {
	s.Channels = []welcomePoint{}
	set(&s.Description, w.Description)
	for _, c := range w.Channels {
		p := welcomePoint{Channel: c.Channel, Description: c.Description}
		set(&p.ID, c.EmojiID)
		set(&p.Name, c.EmojiName)
		if p.guildMark = marks.as(p.guildMark); p.Channel == "" {
			return s, incomplete("the welcome screen")
		}
		s.Channels = append(s.Channels, p)
	}
	if w.Channels == nil {
		err = incomplete("the welcome screen")
	}
	return s, err
}

// wire is the screen as Discord takes it.
func (s welcomeScreen) wire() welcomeWire {
	w := welcomeWire{Enabled: &s.Enabled, Channels: []welcomeWirePoint{}}
	if s.Description != "" {
		w.Description = &s.Description
	}
	for _, p := range s.Channels {
		c := welcomeWirePoint{Channel: p.Channel, Description: p.Description}
		if p.ID != "" {
			c.EmojiID = &p.ID
		}
		if p.Name != "" {
			c.EmojiName = &p.Name
		}
		w.Channels = append(w.Channels, c)
	}
	return w
}

// differ are the fields in which two screens are not the same. Discord does not
// tell of an emoji here whether it moves.
func (s welcomeScreen) differ(other welcomeScreen) []string {
	same := func(a, b welcomePoint) bool {
		return a.Channel == b.Channel && a.Description == b.Description && a.ID == b.ID && a.Name == b.Name
	}
	var d drift
	d.unless(s.Enabled == other.Enabled, "enabled")
	d.unless(s.Description == other.Description, "description")
	d.unless(slices.EqualFunc(s.Channels, other.Channels, same), "channels")
	return d
}

// points are the channels of a screen, for people.
func (s welcomeScreen) points(channels []channel) string {
	var all []string
	for _, p := range s.Channels {
		all = append(all, inviting(channels, p.Channel)+" "+p.guildMark.String()+strconv.Quote(p.Description))
	}
	return orNone(strings.Join(all, "; "))
}
