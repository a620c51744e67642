package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeGuildEdit = "PATCH /guilds/{guild_id}"

// The names of settings, by Discord's numbers, and of what a guild's system
// channel can keep to itself, by bits.
//
// Source: https://docs.discord.com/developers/resources/guild#guild-object.
var (
	verifications = []string{"none", "low", "medium", "high", "very_high"}
	notifications = []string{"all_messages", "only_mentions"}
	mediaFilters  = []string{"disabled", "members_without_roles", "all_members"}
	systemNotices = []string{"join_messages", "boost_messages", "setup_tips", "join_replies", "subscription_messages", "subscription_replies"}
)

type settingsChange struct {
	GuildID       discord.GuildID    `json:"guildId" jsonschema:"guild to change"`
	Verification  string             `json:"verificationLevel,omitempty" jsonschema:"what members must have to talk" enum:"none,low,medium,high,very_high"`
	Notifications string             `json:"defaultMessageNotifications,omitempty" jsonschema:"what notifies members at first" enum:"all_messages,only_mentions"`
	Filter        string             `json:"explicitContentFilter,omitempty" jsonschema:"whose media are scanned" enum:"disabled,members_without_roles,all_members"`
	AFKChannel    *discord.ChannelID `json:"afkChannelId,omitempty" jsonschema:"voice channel for the idle; null for none"`
	AFKTimeout    int                `json:"afkTimeoutSeconds,omitempty" jsonschema:"until a member is idle" enum:"60,300,900,1800,3600"`
	SystemChannel *discord.ChannelID `json:"systemChannelId,omitempty" jsonschema:"text channel for Discord's notices; null for none"`
	Suppressed    []string           `json:"suppressedSystemNotifications,omitempty" jsonschema:"all notices that are kept back; [] for none" enum:"join_messages,boost_messages,setup_tips,join_replies,subscription_messages,subscription_replies" uniqueItems:"true" maxItems:"6"`
	ProgressBar   bool               `json:"premiumProgressBarEnabled,omitempty" jsonschema:"whether the boost bar is shown"`
	reason
}

// guildSettings are the settings that the workflow changes.
type guildSettings struct {
	Verification  string            `json:"verificationLevel"`
	Notifications string            `json:"defaultMessageNotifications"`
	Filter        string            `json:"explicitContentFilter"`
	AFKChannel    discord.ChannelID `json:"afkChannelId"`
	AFKTimeout    int               `json:"afkTimeoutSeconds"`
	SystemChannel discord.ChannelID `json:"systemChannelId"`
	Suppressed    []string          `json:"suppressedSystemNotifications"`
	ProgressBar   bool              `json:"premiumProgressBarEnabled"`
}

type settingsState struct {
	Guild      guildSeen     `json:"guild"`
	Permission evidence      `json:"permission"`
	Now        guildSettings `json:"current"`
	Wanted     guildSettings `json:"wanted"`
	Requested  []string      `json:"requestedFields"`
	Changed    []string      `json:"changedFields"`
	Channels   string        `json:"channels" jsonschema:"digest of all visible channels"`
}

// guildWire are the settings as Discord tells them.
type guildWire struct {
	ID            discord.GuildID   `json:"id"`
	Verification  *int              `json:"verification_level"`
	Notifications *int              `json:"default_message_notifications"`
	Filter        *int              `json:"explicit_content_filter"`
	AFKChannel    discord.ChannelID `json:"afk_channel_id"`
	AFKTimeout    *int              `json:"afk_timeout"`
	SystemChannel discord.ChannelID `json:"system_channel_id"`
	SystemFlags   *int              `json:"system_channel_flags"`
	ProgressBar   *bool             `json:"premium_progress_bar_enabled"`
}

// guildPatch are the settings that a change sends.
type guildPatch struct {
	Verification  *int            `json:"verification_level,omitempty"`
	Notifications *int            `json:"default_message_notifications,omitempty"`
	Filter        *int            `json:"explicit_content_filter,omitempty"`
	AFKChannel    json.RawMessage `json:"afk_channel_id,omitempty"`
	AFKTimeout    *int            `json:"afk_timeout,omitempty"`
	SystemChannel json.RawMessage `json:"system_channel_id,omitempty"`
	SystemFlags   *int            `json:"system_channel_flags,omitempty"`
	ProgressBar   *bool           `json:"premium_progress_bar_enabled,omitempty"`
}

// guildSettingsChange changes some of a guild's settings, by name.
func guildSettingsChange(rest discordtools.REST) mcpcore.Workflow {
	return change[settingsChange, settingsState]{
		Name: "guild-settings-change", Category: "guild-settings", Title: "Change a guild's settings",
		Doc:    `Changes those of a guild's settings that are given; all others stay. The list of suppressed notices is given whole.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose settings may be changed")},
		Rules:  []mcpcore.Rule{someOf(settingNames...)},
		Reads:  append(slices.Clone(standingRoutes), routeChannels), Write: []string{routeGuildEdit},
		Plan: planSettings,
		Targets: func(in settingsChange, _ settingsState) []mcpcore.Target {
			return []mcpcore.Target{all("guild-settings", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in settingsChange, s settingsState) (done mcpcore.Written, err error) {
			var g guildWire
			if err := w.send(ctx, routeGuildEdit, inGuild(in.GuildID), s.patch(), &g); err != nil {
				return done, err
			}
			done.ID = string(g.ID)
			if _, err := g.settings(); g.ID != in.GuildID || err != nil {
				return mcpcore.Written{}, errors.New("the answer is not of the guild's settings")
			}
			return done, nil
		},
		ReadBack: func(ctx context.Context, r *reads, in settingsChange, s settingsState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.settings(ctx, in.GuildID)
			return mcpcore.Reading{Drift: now.differ(s.Wanted)}, err
		},
	}.on(rest)
}

// settingNames are the settings' arguments.
var settingNames = []string{
	"verificationLevel", "defaultMessageNotifications", "explicitContentFilter", "afkChannelId", "afkTimeoutSeconds", "systemChannelId",
	"suppressedSystemNotifications", "premiumProgressBarEnabled",
}

// someOf demands one of the arguments; null counts where it is taken.
func someOf(names ...string) mcpcore.Rule {
	return mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
		if slices.ContainsFunc(names, c.Has) {
			return nil
		}
		return &mcpcore.Issue{Message: "one of " + strings.Join(names, ", ") + " must be given", Code: mcpcore.IssueRule}
	}}
}

func planSettings(ctx context.Context, r *reads, in settingsChange) (plan mcpcore.Change[settingsState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	s := settingsState{Guild: bot.Guild, Permission: bot.evidence(), Requested: slices.DeleteFunc(slices.Clone(settingNames), func(n string) bool { return !r.Call.Has(n) })}
	channels, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s.Channels = snapshot(channels)
	for _, c := range []struct {
		id   *discord.ChannelID
		kind discord.ChannelType
		word string
	}{{in.AFKChannel, discord.GuildVoice, "afk-channel"}, {in.SystemChannel, discord.GuildText, "system-channel"}} {
		if c.id != nil && !slices.ContainsFunc(channels, func(o channel) bool { return o.ID == *c.id && o.Type == c.kind }) {
			return plan, refused(c.word, "%s is no %s of the guild that the bot can see", *c.id, c.kind)
		}
	}
	if s.Now, err = r.settings(ctx, in.GuildID); err != nil {
		return plan, err
	}
	if s.Now.Suppressed == nil && r.Call.Has("suppressedSystemNotifications") {
		return plan, refused("unknown-notices", "the guild keeps back notices that this server does not know, and the whole list would be replaced")
	}
	s.Wanted = in.onto(s.Now, r.Call.Has)
	plan = mcpcore.Change[settingsState]{Action: "change", Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}}
	now, wanted := s.Now.named(), s.Wanted.named()
	fields := make([]field, len(settingNames))
	for i, name := range settingNames {
		fields[i] = field{name, now[name], wanted[name]}
	}
	s.Changed = setting(&plan, fields...)
	plan.State = s
	return plan, nil
}

// onto is the settings with what was given.
func (in settingsChange) onto(s guildSettings, given func(string) bool) guildSettings {
	set := func(name string, to, value *string) {
		if given(name) {
			*to = *value
		}
	}
	set("verificationLevel", &s.Verification, &in.Verification)
	set("defaultMessageNotifications", &s.Notifications, &in.Notifications)
	set("explicitContentFilter", &s.Filter, &in.Filter)
	for name, c := range map[string]struct{ to, value *discord.ChannelID }{
		"afkChannelId": {&s.AFKChannel, in.AFKChannel}, "systemChannelId": {&s.SystemChannel, in.SystemChannel},
	} {
		if given(name) {
			*c.to = "" // null
			if c.value != nil {
				*c.to = *c.value
			}
		}
	}
	if given("afkTimeoutSeconds") {
		s.AFKTimeout = in.AFKTimeout
	}
	if given("suppressedSystemNotifications") {
		s.Suppressed = slices.DeleteFunc(slices.Clone(systemNotices), func(n string) bool { return !slices.Contains(in.Suppressed, n) })
	}
	if given("premiumProgressBarEnabled") {
		s.ProgressBar = in.ProgressBar
	}
	return s
}

// settings reads a guild's settings.
func (r *reads) settings(ctx context.Context, guild discord.GuildID) (s guildSettings, err error) {
	var g guildWire
	if err := r.get(ctx, routeGuild, inGuild(guild), &g); err != nil {
		return s, err
	}
	if s, err = g.settings(); err == nil && g.ID != guild {
		err = incomplete("the settings of the guild")
	}
	return s, err
}

// settings names what Discord tells in numbers. Suppressed is nil when there are
// bits without a name.
func (g guildWire) settings() (s guildSettings, err error) {
	name := func(n *int, names []string) string {
		if n == nil || *n < 0 || *n >= len(names) {
			err = incomplete("the settings of the guild")
			return ""
		}
		return names[*n]
	}
	s = guildSettings{
		Verification: name(g.Verification, verifications), Notifications: name(g.Notifications, notifications), Filter: name(g.Filter, mediaFilters),
		AFKChannel: g.AFKChannel, SystemChannel: g.SystemChannel,
	}
	if g.AFKTimeout == nil || g.SystemFlags == nil || g.ProgressBar == nil {
		return s, incomplete("the settings of the guild")
	}
	s.AFKTimeout, s.ProgressBar = *g.AFKTimeout, *g.ProgressBar
	if *g.SystemFlags>>len(systemNotices) == 0 {
		s.Suppressed = []string{}
		for bit, notice := range systemNotices {
			if *g.SystemFlags>>bit&1 == 1 {
				s.Suppressed = append(s.Suppressed, notice)
			}
		}
	}
	return s, err
}

// named are the settings as texts, by their arguments.
func (s guildSettings) named() map[string]string {
	return map[string]string{
		"verificationLevel": s.Verification, "defaultMessageNotifications": s.Notifications, "explicitContentFilter": s.Filter,
		"afkChannelId": string(s.AFKChannel), "afkTimeoutSeconds": fmt.Sprint(s.AFKTimeout), "systemChannelId": string(s.SystemChannel),
		"suppressedSystemNotifications": strings.Join(s.Suppressed, " "), "premiumProgressBarEnabled": fmt.Sprint(s.ProgressBar),
	}
}

// differ are the arguments whose settings are not the same.
func (s guildSettings) differ(other guildSettings) (fields []string) {
	mine, theirs := s.named(), other.named()
	return slices.DeleteFunc(slices.Clone(settingNames), func(n string) bool { return mine[n] == theirs[n] })
}

// patch is what changes, in Discord's numbers.
func (s *settingsState) patch() (p guildPatch) {
	number := func(names []string, name string) *int {
		n := slices.Index(names, name)
		return &n
	}
	for _, field := range s.Changed {
		switch w := &s.Wanted; field {
		case "verificationLevel":
			p.Verification = number(verifications, w.Verification)
		case "defaultMessageNotifications":
			p.Notifications = number(notifications, w.Notifications)
		case "explicitContentFilter":
			p.Filter = number(mediaFilters, w.Filter)
		case "afkChannelId":
			p.AFKChannel = orNull(w.AFKChannel)
		case "afkTimeoutSeconds":
			p.AFKTimeout = &w.AFKTimeout
		case "systemChannelId":
			p.SystemChannel = orNull(w.SystemChannel)
		case "suppressedSystemNotifications":
			p.SystemFlags = new(int)
			for _, notice := range w.Suppressed {
				*p.SystemFlags |= 1 << slices.Index(systemNotices, notice)
			}
		case "premiumProgressBarEnabled":
			p.ProgressBar = &w.ProgressBar
		}
	}
	return p
}
