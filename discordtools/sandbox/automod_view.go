package sandbox

import (
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type ruleView struct {
	ID             discord.RuleID      `json:"id"`
	Guild          discord.GuildID     `json:"guild_id"`
	Creator        discord.UserID      `json:"creator_id"`
	Name           string              `json:"name"`
	Event          int                 `json:"event_type"`
	Trigger        int                 `json:"trigger_type"`
	Metadata       triggerView         `json:"trigger_metadata"`
	Actions        []actionView        `json:"actions"`
	Enabled        bool                `json:"enabled"`
	ExemptRoles    []discord.RoleID    `json:"exempt_roles"`
	ExemptChannels []discord.ChannelID `json:"exempt_channels"`
}

// triggerView has the members of one trigger.
type triggerView struct {
	Keywords *[]string `json:"keyword_filter,omitempty"`
	Patterns *[]string `json:"regex_patterns,omitempty"`
	Allowed  *[]string `json:"allow_list,omitempty"`
	Presets  *[]int    `json:"presets,omitempty"`
	Limit    *int      `json:"mention_total_limit,omitempty"`
	Raids    *bool     `json:"mention_raid_protection_enabled,omitempty"`
}

type actionView struct {
	Type     int `json:"type"`
	Metadata struct {
		Channel discord.ChannelID `json:"channel_id,omitempty"`
		Seconds *int              `json:"duration_seconds,omitempty"`
		Message string            `json:"custom_message,omitempty"`
	} `json:"metadata"`
}

func viewRule(g *guild, r *AutoModRule) ruleView {
	v := ruleView{
		ID: r.ID, Guild: g.ID, Creator: r.Creator, Name: r.Name, Event: r.event(), Trigger: r.Trigger, Enabled: r.Enabled,
		Actions: mapped(r.Actions, viewAction), ExemptRoles: list(r.ExemptRoles), ExemptChannels: list(r.ExemptChannels),
	}
	keywords, patterns, allowed, presets := list(r.Keywords), list(r.Patterns), list(r.Allowed), list(r.Presets)
	switch r.Trigger {
	case TriggerKeyword, TriggerProfile:
		v.Metadata = triggerView{Keywords: &keywords, Patterns: &patterns, Allowed: &allowed}
	case TriggerPreset:
		v.Metadata = triggerView{Presets: &presets, Allowed: &allowed}
	case TriggerMentions:
		v.Metadata = triggerView{Limit: &r.MentionLimit, Raids: &r.RaidProtection}
	}
	return v
}

func viewAction(a AutoModAction) actionView {
	v := actionView{Type: a.Type}
	v.Metadata.Channel, v.Metadata.Message = a.Channel, a.Message
	if a.Type == ActionTimeout {
		v.Metadata.Seconds = &a.Seconds
	}
	return v
}
