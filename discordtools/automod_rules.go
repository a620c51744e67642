package discordtools

import (
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// What triggers a rule.
const (
	triggerKeyword  = 1
	triggerPreset   = 4
	triggerMentions = 5
	triggerProfile  = 6
)

// What a rule does.
const (
	actionBlock   = 1
	actionAlert   = 2
	actionTimeout = 3
)

// triggerRules demands of a new rule what its trigger_type needs and refuses
// what that would ignore.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation#auto-moderation-rule-object-trigger-metadata.
var triggerRules = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	trigger, _ := argument[int](call, "trigger_type")
	event, _ := argument[int](call, "event_type")
	m, _ := argument[triggerMetadata](call, "trigger_metadata")
	if want := eventOf(trigger); event != want {
		return contradiction("event_type", "is %d with trigger_type %d", want, trigger)
	}
	for _, field := range []struct {
		name     string
		given    bool
		triggers []int
	}{
		{"keyword_filter", len(m.Keywords) > 0, []int{triggerKeyword, triggerProfile}},
		{"regex_patterns", len(m.Patterns) > 0, []int{triggerKeyword, triggerProfile}},
		{"presets", len(m.Presets) > 0, []int{triggerPreset}},
		{"allow_list", len(m.Allowed) > 0, []int{triggerKeyword, triggerPreset, triggerProfile}},
		{"mention_total_limit", m.MentionLimit != nil, []int{triggerMentions}},
		{"mention_raid_protection_enabled", m.RaidProtection != nil, []int{triggerMentions}},
	} {
		if field.given && !slices.Contains(field.triggers, trigger) {
			return contradiction("trigger_metadata."+field.name, "does nothing with trigger_type %d", trigger)
		}
	}
	switch trigger {
	case triggerKeyword, triggerProfile:
		if len(m.Keywords)+len(m.Patterns) == 0 {
			return contradiction("trigger_metadata", "needs keyword_filter or regex_patterns with trigger_type %d", trigger)
		}
		if len(m.Allowed) > 100 {
			return contradiction("trigger_metadata.allow_list", "has at most 100 words with trigger_type %d, this has %d", trigger, len(m.Allowed))
		}
	case triggerPreset:
		if len(m.Presets) == 0 {
			return contradiction("trigger_metadata.presets", "is required with trigger_type %d", trigger)
		}
	case triggerMentions:
		if m.MentionLimit == nil && m.RaidProtection == nil {
			return contradiction("trigger_metadata", "needs mention_total_limit or mention_raid_protection_enabled with trigger_type %d", trigger)
		}
	}
	return nil
}}

// eventOf is the only event_type that a trigger goes with.
func eventOf(trigger int) int {
	if trigger == triggerProfile {
		return 2
	}
	return 1
}

// actionRules demands of each action what it needs and refuses what it would
// ignore. A change of a rule does not tell its trigger.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation#auto-moderation-action-object-action-types.
var actionRules = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	trigger, told := argument[int](call, "trigger_type")
	actions, _ := argument[[]ruleAction](call, "actions")
	for i, a := range actions {
		at := fmt.Sprintf("actions.%d", i)
		m := a.Metadata
		switch {
		case a.Type == actionAlert && m.ChannelID == "":
			return contradiction(at+".metadata.channel_id", "is required with type 2, alert")
		case a.Type != actionAlert && m.ChannelID != "":
			return contradiction(at+".metadata.channel_id", "is for type 2, alert")
		case a.Type == actionTimeout && m.Duration == nil:
			return contradiction(at+".metadata.duration_seconds", "is required with type 3, timeout")
		case a.Type != actionTimeout && m.Duration != nil:
			return contradiction(at+".metadata.duration_seconds", "is for type 3, timeout")
		case a.Type != actionBlock && m.Message != "":
			return contradiction(at+".metadata.custom_message", "is for type 1, block")
		case a.Type == actionTimeout && told && trigger != triggerKeyword && trigger != triggerMentions:
			return contradiction(at+".type", "3, timeout, goes with trigger_type 1 and 5")
		}
	}
	return nil
}}
