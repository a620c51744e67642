package discordtools

import (
	"context"
	"strconv"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// automod manages the rules by which Discord itself blocks messages and silences
// members.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation.
func automod() category {
	return category{Name: "automod", Scope: mcpcore.GuildScope, Tools: []declaration{
		write[automodCreate, ruleOne]{
			Name:  "automod_create_rule",
			Title: "Create an AutoMod rule",
			Doc: `Adds an AutoMod rule; without enabled it is off. A guild has at most 6 rules of trigger_type 1 and one of
				each other. Bots and those who have ADMINISTRATOR or MANAGE_GUILD are never affected. The actions 3 and 4
				need MODERATE_MEMBERS.`,
			Route:   "POST /guilds/{guild_id}/auto-moderation/rules",
			Needs:   discord.ManageGuild,
			NeedsIn: "guild_id",
			Rules:   []mcpcore.Rule{triggerRules, actionRules},
			Fence:   fence.ChannelTopic,
		},
		destroy[ruleTarget, ruleDeleted]{
			Name:  "automod_delete_rule",
			Title: "Delete an AutoMod rule",
			Doc: `Deletes an AutoMod rule for good: what it blocked gets through from then on. To pause it use
				automod_modify_rule with enabled false.`,
			Route: "DELETE /guilds/{guild_id}/auto-moderation/rules/{rule_id}",
			Calls: []string{routeRule},
			Needs: discord.ManageGuild,
			Facts: ruleFacts,
		},
		read[ruleOf, ruleOne]{
			Name:  "automod_get_rule",
			Title: "Get an AutoMod rule",
			Doc:   `Reads one AutoMod rule with its words, patterns and actions.`,
			Route: routeRule,
			Needs: discord.ManageGuild,
			Fence: fence.ChannelTopic,
		},
		read[guildRef, rulesPage]{
			Name:  "automod_list_rules",
			Title: "List AutoMod rules",
			Doc:   `Lists a guild's AutoMod rules; their words, patterns and actions are in automod_get_rule.`,
			Route: "GET /guilds/{guild_id}/auto-moderation/rules",
			Needs: discord.ManageGuild,
			Fence: fence.ChannelTopic,
		},
		write[automodModify, ruleOne]{
			Name:  "automod_modify_rule",
			Title: "Change an AutoMod rule",
			Doc: `Changes an AutoMod rule, or switches it on or off. trigger_metadata, actions and the exempt lists replace
				the old ones whole, so start from automod_get_rule. Its trigger_type stays.`,
			Route:      "PATCH /guilds/{guild_id}/auto-moderation/rules/{rule_id}",
			Repeatable: true,
			Needs:      discord.ManageGuild,
			NeedsIn:    "guild_id",
			Rules: []mcpcore.Rule{anyGiven("name", "event_type", "trigger_metadata", "actions", "enabled", "exempt_roles", "exempt_channels"),
				actionRules},
			Fence: fence.ChannelTopic,
		},
	}}
}

const routeRule = "GET /guilds/{guild_id}/auto-moderation/rules/{rule_id}"

// ruleOf is an AutoMod rule of a guild.
type ruleOf struct {
	guildRef
	RuleID discord.RuleID `json:"rule_id" jsonschema:"rule"`
}

type ruleTarget struct {
	ruleOf
	auditReason
}

type automodCreate struct {
	guildRef
	Name           string              `json:"name" jsonschema:"name" minLength:"1" maxLength:"100"`
	EventType      int                 `json:"event_type" jsonschema:"1 a message is sent or edited, 2 a member joins or changes their profile" enum:"1,2"`
	TriggerType    int                 `json:"trigger_type" jsonschema:"1 words, 3 spam, 4 Discord's word lists, 5 mentions, 6 words in profiles (event_type 2)" enum:"1,3,4,5,6"`
	Metadata       triggerMetadata     `json:"trigger_metadata,omitzero" jsonschema:"what triggers it"`
	Actions        []ruleAction        `json:"actions" jsonschema:"what it does" minItems:"1" maxItems:"5"`
	Enabled        bool                `json:"enabled,omitempty" jsonschema:"on" default:"false"`
	ExemptRoles    []discord.RoleID    `json:"exempt_roles,omitempty" jsonschema:"not affected" maxItems:"20" uniqueItems:"true"`
	ExemptChannels []discord.ChannelID `json:"exempt_channels,omitempty" jsonschema:"not affected" maxItems:"50" uniqueItems:"true"`
	auditReason
}

type automodModify struct {
	ruleOf
	Name           string              `json:"name,omitempty" jsonschema:"name" minLength:"1" maxLength:"100"`
	EventType      int                 `json:"event_type,omitempty" jsonschema:"1 messages, 2 profiles" enum:"1,2"`
	Metadata       triggerMetadata     `json:"trigger_metadata,omitzero" jsonschema:"what triggers it"`
	Actions        []ruleAction        `json:"actions,omitempty" jsonschema:"what it does" minItems:"1" maxItems:"5"`
	Enabled        bool                `json:"enabled,omitempty" jsonschema:"on or off"`
	ExemptRoles    []discord.RoleID    `json:"exempt_roles,omitempty" jsonschema:"not affected" maxItems:"20" uniqueItems:"true"`
	ExemptChannels []discord.ChannelID `json:"exempt_channels,omitempty" jsonschema:"not affected" maxItems:"50" uniqueItems:"true"`
	auditReason
}

// triggerMetadata is what triggers a rule.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation#auto-moderation-rule-object-trigger-metadata.
type triggerMetadata struct {
	Keywords       []string `json:"keyword_filter,omitempty" jsonschema:"types 1, 6: whole words; * at an end for any continuation" minLength:"1" maxLength:"60" maxItems:"1000"`
	Patterns       []string `json:"regex_patterns,omitempty" jsonschema:"types 1, 6: in Rust's flavour" minLength:"1" maxLength:"260" maxItems:"10"`
	Presets        []int    `json:"presets,omitempty" jsonschema:"type 4: 1 profanity, 2 sexual content, 3 slurs" enum:"1,2,3" uniqueItems:"true"`
	Allowed        []string `json:"allow_list,omitempty" jsonschema:"types 1, 6: 100, type 4: 1000 words that pass" minLength:"1" maxLength:"60" maxItems:"1000"`
	MentionLimit   *int     `json:"mention_total_limit,omitempty" jsonschema:"type 5: different roles and users per message" minimum:"0" maximum:"50"`
	RaidProtection *bool    `json:"mention_raid_protection_enabled,omitempty" jsonschema:"type 5"`
}

// ruleAction is one thing that a rule does.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation#auto-moderation-action-object.
type ruleAction struct {
	Type     int            `json:"type" jsonschema:"1 block, 2 alert, 3 timeout (trigger types 1 and 5), 4 block the member (trigger type 6)" enum:"1,2,3,4"`
	Metadata actionMetadata `json:"metadata,omitzero"`
}

type actionMetadata struct {
	ChannelID discord.ChannelID `json:"channel_id,omitempty" jsonschema:"type 2: where to"`
	Duration  *int              `json:"duration_seconds,omitempty" jsonschema:"type 3" minimum:"0" maximum:"2419200"`
	Message   string            `json:"custom_message,omitempty" jsonschema:"type 1: shown to the member" maxLength:"150"`
}

// ruleFields are what every view of a rule shows.
type ruleFields struct {
	ID          discord.RuleID `json:"id"`
	Name        string         `json:"name"`
	EventType   int            `json:"event_type"`
	TriggerType int            `json:"trigger_type"`
	Enabled     bool           `json:"enabled"`
}

type ruleOne struct {
	ruleFields
	CreatorID      discord.UserID      `json:"creator_id"`
	Metadata       triggerMetadata     `json:"trigger_metadata"`
	Actions        []ruleAction        `json:"actions"`
	ExemptRoles    []discord.RoleID    `json:"exempt_roles"`
	ExemptChannels []discord.ChannelID `json:"exempt_channels"`
	UntrustedText  string              `json:"untrusted_text" from:"@derived"`
}

func (v *ruleOne) derive(*mcpcore.Call) {
	v.UntrustedText = fencedJSON(fence.ChannelTopic, struct {
		Name     string   `json:"name"`
		Keywords []string `json:"keyword_filter,omitempty"`
		Patterns []string `json:"regex_patterns,omitempty"`
	}{v.Name, v.Metadata.Keywords, v.Metadata.Patterns})
}

type rulesPage struct {
	Rules          []ruleFields `json:"rules" from:"@reply"`
	Count          int          `json:"count" from:"@count"`
	UntrustedNames string       `json:"untrusted_names" from:"@derived"`
}

func (v *rulesPage) derive(*mcpcore.Call) {
	v.UntrustedNames = fencedNames(fence.ChannelTopic, v.Rules, func(r ruleFields) titled[discord.RuleID] { return titled[discord.RuleID]{r.ID, r.Name} })
}

type ruleDeleted struct {
	Deleted bool            `json:"deleted" from:"@true"`
	RuleID  discord.RuleID  `json:"rule_id" from:"@arg"`
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
}

var triggerNames = []string{1: "words", 3: "spam", 4: "Discord's word lists", 5: "mentions", 6: "words in profiles"}

func ruleFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var r struct {
		Name     string          `json:"name"`
		Trigger  int             `json:"trigger_type"`
		Enabled  bool            `json:"enabled"`
		Metadata triggerMetadata `json:"trigger_metadata"`
		Actions  []struct{}      `json:"actions"`
	}
	if err := a.do(ctx, routeRule, sub{}, &r); err != nil {
		return nil, err
	}
	state := "off"
	if r.Enabled {
		state = "on"
	}
	facts := mcpcore.Facts{{Name: "rule", Value: r.Name}, {Name: "against", Value: nth(triggerNames, r.Trigger)}, {Name: "state", Value: state}}
	if n := len(r.Metadata.Keywords) + len(r.Metadata.Patterns); n > 0 {
		facts = append(facts, mcpcore.Fact{Name: "words and patterns", Value: strconv.Itoa(n)})
	}
	return append(facts, mcpcore.Fact{Name: "actions", Value: strconv.Itoa(len(r.Actions))}), nil
}
