package workflows

import (
	"context"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools/internal/wire"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Discord's numbers of what triggers a rule and of what it does.
const (
	triggerKeyword  = 1
	triggerPreset   = 4
	triggerMentions = 5
	triggerProfile  = 6

	actionBlock   = 1
	actionAlert   = 2
	actionTimeout = 3
	actionMember  = 4
)

var (
	ruleTriggers = map[string]int{"keyword": triggerKeyword, "spam": 3, "keyword_preset": triggerPreset, "mention_spam": triggerMentions, "member_profile": triggerProfile}
	ruleActions  = map[string]int{"block_message": actionBlock, "send_alert_message": actionAlert, "timeout": actionTimeout, "block_member_interaction": actionMember}
	rulePresets  = map[string]int{"profanity": 1, "sexual_content": 2, "slurs": 3}

	// maxRules is how many rules of a trigger a guild has.
	//
	// Source: https://docs.discord.com/developers/resources/auto-moderation#auto-moderation-rule-object-trigger-types.
	maxRules = map[int]int{triggerKeyword: 6, 3: 1, triggerPreset: 1, triggerMentions: 1, triggerProfile: 1}
)

// triggerInput is what sets a rule off.
type triggerInput struct {
	Keywords       []string `json:"keywordFilter,omitempty" jsonschema:"with keyword and member_profile" maxItems:"1000" maxLength:"60" minLength:"1"`
	Patterns       []string `json:"regexPatterns,omitempty" jsonschema:"in Rust's syntax, with keyword and member_profile" maxItems:"10" maxLength:"260" minLength:"1"`
	Presets        []string `json:"presets,omitempty" jsonschema:"with keyword_preset" enum:"profanity,sexual_content,slurs" uniqueItems:"true" maxItems:"3"`
	Allowed        []string `json:"allowList,omitempty" jsonschema:"never set it off, with keyword, keyword_preset and member_profile" maxItems:"1000" maxLength:"60" minLength:"1"`
	MentionLimit   int      `json:"mentionTotalLimit,omitempty" jsonschema:"with mention_spam" minimum:"1" maximum:"50"`
	RaidProtection bool     `json:"mentionRaidProtectionEnabled,omitempty" jsonschema:"with mention_spam"`
}

// actionInput is one thing that a rule does.
type actionInput struct {
	Type    string            `json:"type" enum:"block_message,send_alert_message,timeout,block_member_interaction"`
	Channel discord.ChannelID `json:"channelId,omitempty" jsonschema:"of an alert"`
	Seconds int               `json:"durationSeconds,omitempty" jsonschema:"of a timeout" minimum:"1" maximum:"2419200"`
	Message string            `json:"customMessage,omitempty" jsonschema:"shown to whose message is blocked" minLength:"1" maxLength:"150"`
}

// autoRule is a rule in Discord's words, with empty lists left out.
type autoRule wire.Rule

// rules reads a guild's AutoMod rules, by id.
func (r *reads) rules(ctx context.Context, guild discord.GuildID) (all []autoRule, err error) {
	if err := r.get(ctx, routeAutomod, inGuild(guild), &all); err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].ID == "" || all[i].Guild != guild || maxRules[all[i].Trigger] == 0 {
			return nil, incomplete("the AutoMod rules of the guild")
		}
		all[i].sort()
	}
	slices.SortFunc(all, func(a, b autoRule) int { return discord.CompareIDs(a.ID, b.ID) })
	return all, nil
}

// sort puts what has no order into one.
func (r *autoRule) sort() {
	r.ExemptRoles = append([]discord.RoleID{}, r.ExemptRoles...)
	r.ExemptChannels = append([]discord.ChannelID{}, r.ExemptChannels...)
	slices.SortFunc(r.ExemptRoles, discord.CompareIDs)
	slices.SortFunc(r.ExemptChannels, discord.CompareIDs)
	slices.Sort(r.Metadata.Presets)
}

// pick is the rule of an id among all, and a digest of the others.
func pick(all []autoRule, id discord.RuleID) (one *autoRule, others string) {
	one, rest := apart(all, func(e autoRule) bool { return e.ID == id })
	return one, snapshot(rest)
}

// trigger is the input in Discord's words.
func (t triggerInput) trigger() wire.Trigger {
	out := wire.Trigger{Keywords: t.Keywords, Patterns: t.Patterns, Allowed: t.Allowed, MentionLimit: t.MentionLimit, RaidProtection: t.RaidProtection}
	for _, p := range t.Presets {
		out.Presets = append(out.Presets, rulePresets[p])
	}
	return out
}

func actionsOf(all []actionInput) (out []wire.Action) {
	for _, a := range all {
		out = append(out, wire.Action{Type: ruleActions[a.Type], Metadata: wire.ActionMetadata{Channel: a.Channel, Seconds: a.Seconds, Message: a.Message}})
	}
	return out
}

// fault is what Discord would refuse or ignore in a rule, nil for nothing.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation#auto-moderation-rule-object-trigger-metadata.
func (r *autoRule) fault() error {
	m, words := r.Metadata, r.Trigger == triggerKeyword || r.Trigger == triggerProfile
	mentions := r.Trigger == triggerMentions
	switch {
	case !words && len(m.Keywords)+len(m.Patterns) > 0, r.Trigger != triggerPreset && len(m.Presets) > 0,
		!words && r.Trigger != triggerPreset && len(m.Allowed) > 0, !mentions && (m.MentionLimit > 0 || m.RaidProtection):
		return refused("trigger", "triggerMetadata has something that the trigger does not use")
	case words && len(m.Keywords)+len(m.Patterns) == 0:
		return refused("trigger", "the trigger needs keywordFilter or regexPatterns")
	case words && len(m.Allowed) > 100:
		return refused("trigger", "the trigger takes 100 words in allowList")
	case r.Trigger == triggerPreset && len(m.Presets) == 0:
		return refused("trigger", "the trigger needs presets")
	case mentions && m.MentionLimit == 0 && !m.RaidProtection:
		return refused("trigger", "the trigger needs mentionTotalLimit or mentionRaidProtectionEnabled")
	case len(r.Actions) == 0:
		return refused("actions", "a rule does at least one thing")
	}
	for i, a := range r.Actions {
		with := a.Metadata
		switch {
		case (a.Type == actionAlert) != (with.Channel != ""), (a.Type == actionTimeout) != (with.Seconds > 0), a.Type != actionBlock && with.Message != "":
			return refused("actions", "action %d: channelId goes with an alert, durationSeconds with a timeout, customMessage with a block", i)
		case a.Type == actionTimeout && r.Trigger != triggerKeyword && !mentions:
			return refused("actions", "a timeout goes with keyword and mention_spam")
		case a.Type == actionMember && r.Trigger != triggerProfile, a.Type == actionBlock && r.Trigger == triggerProfile:
			return refused("actions", "of the two blocks member_profile takes block_member_interaction, and all others block_message")
		}
	}
	return nil
}

// may refuses a rule that the bot or the policy may not set up, or that names
// what is not there.
func (r *autoRule) may(call *mcpcore.Call, bot *standing, channels []channel) error {
	for _, a := range r.Actions {
		switch a.Type {
		case actionTimeout, actionMember:
			if err := bot.needs(discord.ModerateMembers); err != nil {
				return err
			}
		case actionAlert:
			if err := call.Permitted("alertChannels", string(a.Metadata.Channel)); err != nil {
				return err
			}
			i := slices.IndexFunc(channels, func(c channel) bool { return c.ID == a.Metadata.Channel })
			if i < 0 || channels[i].Type != discord.GuildText && channels[i].Type != discord.GuildAnnouncement {
				return refused("alert-channel", "%s is no text channel of the guild that the bot can see", a.Metadata.Channel)
			}
			held, err := bot.in(channels[i])
			if err != nil {
				return err
			}
			if err := lacks(held, discord.ViewChannel|discord.SendMessages, "the alerts' channel"); err != nil {
				return err
			}
		}
	}
	for _, id := range r.ExemptRoles {
		if _, there := bot.role(id); !there {
			return refused("role-missing", "the guild has no role %s", id)
		}
	}
	for _, id := range r.ExemptChannels {
		if !slices.ContainsFunc(channels, func(c channel) bool { return c.ID == id }) {
			return refused("channel-missing", "the guild has no channel %s that the bot can see", id)
		}
	}
	return nil
}

// nameOf is the name of one of Discord's numbers.
func nameOf(names map[string]int, n int) string {
	for name, v := range names {
		if v == n {
			return name
		}
	}
	return fmt.Sprint(n)
}
