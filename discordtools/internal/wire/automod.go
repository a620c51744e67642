// Package wire has things of Discord's as its API writes them, for the packages
// that read and write them in Discord's words.
package wire

import "github.com/guildwarden/guildwarden/mcpcore/discord"

// Rule is an AutoMod rule.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation#auto-moderation-rule-object.
type Rule struct {
	ID             discord.RuleID      `json:"id,omitempty"`
	Guild          discord.GuildID     `json:"guild_id,omitempty"`
	Name           string              `json:"name"`
	Event          int                 `json:"event_type"`
	Trigger        int                 `json:"trigger_type"`
	Metadata       Trigger             `json:"trigger_metadata"`
	Actions        []Action            `json:"actions"`
	Enabled        bool                `json:"enabled"`
	ExemptRoles    []discord.RoleID    `json:"exempt_roles"`
	ExemptChannels []discord.ChannelID `json:"exempt_channels"`
}

// Trigger is what sets a rule off, with empty lists left out.
type Trigger struct {
	Keywords       []string `json:"keyword_filter,omitempty"`
	Patterns       []string `json:"regex_patterns,omitempty"`
	Presets        []int    `json:"presets,omitempty"`
	Allowed        []string `json:"allow_list,omitempty"`
	MentionLimit   int      `json:"mention_total_limit,omitempty"`
	RaidProtection bool     `json:"mention_raid_protection_enabled,omitempty"`
}

// Action is what a rule does.
type Action struct {
	Type     int            `json:"type"`
	Metadata ActionMetadata `json:"metadata"`
}

// ActionMetadata is what an action needs to know.
type ActionMetadata struct {
	Channel discord.ChannelID `json:"channel_id,omitempty"`
	Seconds int               `json:"duration_seconds,omitempty"`
	Message string            `json:"custom_message,omitempty"`
}
