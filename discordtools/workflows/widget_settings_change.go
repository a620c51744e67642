package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeWidget     = "GET /guilds/{guild_id}/widget"
	routeWidgetEdit = "PATCH /guilds/{guild_id}/widget"
)

type widgetChange struct {
	GuildID discord.GuildID    `json:"guildId" jsonschema:"guild of the widget"`
	Enabled bool               `json:"enabled" jsonschema:"whether anyone can see the widget"`
	Channel *discord.ChannelID `json:"channelId" jsonschema:"channel that it invites to; null for no invite"`
	reason
}

// widgetSettings is whether a guild has a widget, and what it invites to.
type widgetSettings struct {
	Enabled bool              `json:"enabled"`
	Channel discord.ChannelID `json:"channelId" jsonschema:"empty for no invite"`
}

type widgetState struct {
	Guild      guildSeen      `json:"guild"`
	Permission evidence       `json:"permission"`
	Now        widgetSettings `json:"current"`
	Wanted     widgetSettings `json:"wanted"`
	Changed    []string       `json:"changedFields"`
	Exposes    bool           `json:"publicExposure" jsonschema:"whether the public sees or can enter more than before"`
	Channels   string         `json:"channels" jsonschema:"digest of how all visible channels stand"`
}

type widgetWire struct {
	Enabled *bool              `json:"enabled"`
	Channel *discord.ChannelID `json:"channel_id"`
}

type widgetBody struct {
	Enabled bool            `json:"enabled"`
	Channel json.RawMessage `json:"channel_id"`
}

// widgetSettingsChange sets whether a guild has a widget, and what it invites to.
func widgetSettingsChange(rest discordtools.REST) mcpcore.Workflow {
	return change[widgetChange, widgetState]{
		Name: "widget-settings-change", Noun: "guild_widget_settings_change", Category: "widget-settings", Title: "Change a guild's widget",
		Doc: `Sets both of a guild's widget settings: whether anyone can see it, and the channel that it invites to. To switch it on or to
			point it to another channel, the guild must also be in the policy's scope publicGuilds; to switch it off or to take the
			invite away, it need not be.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds whose widget may be changed"),
			{Name: "publicGuilds", Doc: "those of them whose widget may be switched on and pointed to another channel, for anyone"},
		},
		Reads: append(slices.Clone(standingRoutes), routeChannels, routeWidget), Write: []string{routeWidgetEdit},
		Plan: planWidget,
		Targets: func(in widgetChange, _ widgetState) []mcpcore.Target {
			return []mcpcore.Target{all("widget-settings", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in widgetChange, s widgetState) (done mcpcore.Written, err error) {
			var got widgetWire
			body := widgetBody{s.Wanted.Enabled, orNull(s.Wanted.Channel)}
			if err := w.send(ctx, routeWidgetEdit, inGuild(in.GuildID), body, &got); err != nil {
				return done, err
			}
			if now, err := got.settings(); err != nil || now != s.Wanted {
				return done, errors.New("the answer has other widget settings than were asked for")
			}
			return mcpcore.Written{ID: string(in.GuildID)}, nil
		},
		ReadBack: func(ctx context.Context, r *reads, in widgetChange, s widgetState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.widget(ctx, in.GuildID)
			var d drift
			d.unless(now.Enabled == s.Wanted.Enabled, "enabled")
			d.unless(now.Channel == s.Wanted.Channel, "channelId")
			return mcpcore.Reading{Drift: d}, err
		},
	}.on(rest)
}

func planWidget(ctx context.Context, r *reads, in widgetChange) (plan mcpcore.Change[widgetState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	channels, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := widgetState{Guild: bot.Guild, Permission: bot.evidence(), Wanted: widgetSettings{Enabled: in.Enabled}, Channels: snapshot(layout(channels))}
	set(&s.Wanted.Channel, in.Channel)
	if s.Now, err = r.widget(ctx, in.GuildID); err != nil {
		return plan, err
	}
	if s.Exposes = s.Wanted.exposes(s.Now); s.Exposes {
		if err := r.Call.Permitted("publicGuilds", string(in.GuildID)); err != nil {
			return plan, err
		}
	}
	if id := s.Wanted.Channel; id != "" {
		if at := indexOf(channels, id); at < 0 || channels[at].Type == discord.GuildCategory {
			return plan, refused("channel-missing", "%s is no channel of the guild that one can be invited to", id)
		}
	}
	plan = mcpcore.Change[widgetState]{Action: "change", Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}}
	s.Changed = setting(&plan,
		field{"enabled", strconv.FormatBool(s.Now.Enabled), strconv.FormatBool(s.Wanted.Enabled)},
		field{"channelId", inviting(channels, s.Now.Channel), inviting(channels, s.Wanted.Channel)})
	if s.Exposes {
		plan.Risks = []string{"public-exposure"}
		plan.Warnings = []string{
			"Anyone on the internet can then read the guild's name, who is online and which voice channels everyone can enter, and join by the invite where there is one.",
			"Where Discord opens a guild's private profile along with the widget, it is made private again by hand.",
		}
	}
	plan.State = s
	return plan, nil
}

// exposes reports whether settings show the public what others did not, or let it
// in where they did not.
func (w widgetSettings) exposes(before widgetSettings) bool {
	return w.Enabled && !before.Enabled || w.Channel != "" && w.Channel != before.Channel
}

// inviting is the channel that a widget invites to, for people.
func inviting(channels []channel, id discord.ChannelID) string {
	if at := indexOf(channels, id); at >= 0 {
		return channels[at].Name + " (" + string(id) + ")"
	}
	return orNone(string(id))
}

// widget reads a guild's widget settings, not what anyone can read.
func (r *reads) widget(ctx context.Context, guild discord.GuildID) (s widgetSettings, err error) {
	var w widgetWire
	if err := r.get(ctx, routeWidget, inGuild(guild), &w); err != nil {
		return s, err
	}
	return w.settings()
}

func (w *widgetWire) settings() (s widgetSettings, err error) {
	if w.Enabled == nil {
		return s, incomplete("the widget of the guild")
	}
	s.Enabled = *w.Enabled
	set(&s.Channel, w.Channel)
	return s, nil
}
