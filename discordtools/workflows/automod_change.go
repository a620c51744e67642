package workflows

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/internal/wire"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeRuleCreate = "POST /guilds/{guild_id}/auto-moderation/rules"
	routeRuleEdit   = "PATCH /guilds/{guild_id}/auto-moderation/rules/{rule_id}"
	routeRuleDelete = "DELETE /guilds/{guild_id}/auto-moderation/rules/{rule_id}"
)

type ruleChange struct {
	GuildID        discord.GuildID     `json:"guildId" jsonschema:"guild of the rule"`
	Action         string              `json:"action" jsonschema:"a rule is created disabled; one that is enabled can only be disabled" enum:"create,update,enable,disable,delete"`
	RuleID         discord.RuleID      `json:"ruleId,omitempty" jsonschema:"rule, but for create"`
	Name           string              `json:"name,omitempty" jsonschema:"name" minLength:"1" maxLength:"100"`
	Trigger        string              `json:"trigger,omitempty" jsonschema:"what sets it off; with create alone, and for good" enum:"keyword,spam,keyword_preset,mention_spam,member_profile"`
	Metadata       *triggerInput       `json:"triggerMetadata,omitempty" jsonschema:"what the trigger looks for, whole"`
	Actions        []actionInput       `json:"actions,omitempty" jsonschema:"what the rule does, whole" minItems:"1" maxItems:"5"`
	ExemptRoles    []discord.RoleID    `json:"exemptRoles,omitempty" jsonschema:"roles that it leaves alone, whole" maxItems:"20" uniqueItems:"true"`
	ExemptChannels []discord.ChannelID `json:"exemptChannels,omitempty" jsonschema:"channels that it leaves alone, whole" maxItems:"50" uniqueItems:"true"`
	reason
}

type ruleState struct {
	Guild      guildSeen `json:"guild"`
	Permission evidence  `json:"permission"`
	Now        *autoRule `json:"current"`
	Wanted     *autoRule `json:"wanted"`
	Changed    []string  `json:"changedFields"`
	OfTrigger  int       `json:"rulesOfTrigger"`
	Limit      int       `json:"rulesOfTriggerLimit"`
	Others     string    `json:"otherRules" jsonschema:"digest of all other rules of the guild"`
	Channels   string    `json:"channels" jsonschema:"digest of all visible channels"`
}

// rulePatch is what of a rule is sent.
type rulePatch struct {
	Name           string               `json:"name,omitempty"`
	Event          int                  `json:"event_type,omitempty"`
	Trigger        int                  `json:"trigger_type,omitempty"`
	Metadata       *wire.Trigger        `json:"trigger_metadata,omitempty"`
	Actions        []wire.Action        `json:"actions,omitempty"`
	Enabled        *bool                `json:"enabled,omitempty"`
	ExemptRoles    *[]discord.RoleID    `json:"exempt_roles,omitempty"`
	ExemptChannels *[]discord.ChannelID `json:"exempt_channels,omitempty"`
}

// ruleFields are what of a rule can be changed, in order.
var ruleFields = []string{"name", "triggerMetadata", "actions", "exemptRoles", "exemptChannels", "enabled"}

// automodChange makes, changes, enables, disables or deletes an AutoMod rule.
func automodChange(rest discordtools.REST) mcpcore.Workflow {
	return change[ruleChange, ruleState]{
		Name: "automod-change", Category: "automod", Title: "Change an AutoMod rule",
		Doc: `Creates an AutoMod rule, disabled; changes or deletes a disabled one; enables or disables one. Alerts go to channels that the
			policy names.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds whose rules may be changed"),
			{Name: "alertChannels", Doc: "channels that rules may send alerts to"},
		},
		Rules: []mcpcore.Rule{{Check: checkRuleArguments}}, Redact: []string{"triggerMetadata", "actions"},
		Reads: append(slices.Clone(standingRoutes), routeChannels, routeAutomod), Write: []string{routeRuleCreate, routeRuleEdit, routeRuleDelete},
		Plan: planRule,
		Targets: func(in ruleChange, _ ruleState) []mcpcore.Target {
			return []mcpcore.Target{all("automod", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in ruleChange, s ruleState) (done mcpcore.Written, err error) {
			at, made := path{"guild_id": string(in.GuildID), "rule_id": string(in.RuleID)}, autoRule{}
			switch in.Action {
			case "delete":
				return mcpcore.Written{ID: string(in.RuleID)}, w.send(ctx, routeRuleDelete, at, nil, nil)
			case "create":
				err = w.send(ctx, routeRuleCreate, inGuild(in.GuildID), s.patch(), &made)
			default:
				err = w.send(ctx, routeRuleEdit, at, s.patch(), &made)
			}
			if err != nil {
				return done, err
			}
			if done.ID, err = id(made.ID); err == nil && (made.Guild != in.GuildID || made.Trigger != s.Wanted.Trigger || in.RuleID != "" && made.ID != in.RuleID) {
				err = errors.New("the answer is of another rule than was asked for")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in ruleChange, s ruleState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			all, err := r.rules(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			rule, others := pick(all, discord.RuleID(w.ID))
			if (rule == nil) != (s.Wanted == nil) {
				return found, errors.New("the rule is there where it should not be, or is not there")
			}
			if rule != nil {
				found.Drift = rule.differ(*s.Wanted)
			}
			if others != s.Others {
				found.Drift = append(found.Drift, "otherRules")
			}
			return found, nil
		},
		Verify: verifyRule,
	}.on(rest)
}

// verifyRule looks whether a rule is what the receipt's change made of it.
func verifyRule(ctx context.Context, r *reads, in ruleChange, receipt mcpcore.Receipt) (found mcpcore.Reading, err error) {
	all, err := r.rules(ctx, in.GuildID)
	if err != nil {
		return found, err
	}
	switch rule, _ := pick(all, discord.RuleID(receipt.ResourceID)); {
	case in.Action == "delete" && rule != nil:
		found.Drift = []string{"present"}
	case in.Action != "delete" && rule == nil:
		found.Absent = true
	case rule != nil:
		wanted := *rule
		if in.Action == "create" {
			wanted = autoRule{} // all of it was said
		}
		found.Drift = rule.differ(in.onto(wanted, r.Call.Has))
	}
	return found, nil
}

// checkRuleArguments refuses arguments that do not go with the action.
func checkRuleArguments(c *mcpcore.Call) *mcpcore.Issue {
	action := c.Text("action")
	with := func(path, message string) *mcpcore.Issue {
		return issue(path, "%s with the action %s", message, action)
	}
	given := slices.DeleteFunc(slices.Clone(ruleFields), func(f string) bool { return !c.Has(f) })
	switch {
	case (action == "create") == c.Has("ruleId"):
		return with("ruleId", "is needed, or does not go,")
	case (action == "create") != c.Has("trigger"):
		return with("trigger", "is needed, or cannot be changed,")
	case action == "create" && (!c.Has("name") || !c.Has("actions")):
		return with("name", "and actions are needed")
	case action == "update" && len(given) == 0:
		return with("name", "or something else must be given")
	case action != "create" && action != "update" && len(given) > 0:
		return with(given[0], "does not go")
	}
	return nil
}

func planRule(ctx context.Context, r *reads, in ruleChange) (plan mcpcore.Change[ruleState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	channels, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	rules, err := r.rules(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := ruleState{Guild: bot.Guild, Permission: bot.evidence(), Channels: snapshot(channels)}
	s.Now, s.Others = pick(rules, in.RuleID)
	wanted := autoRule{Trigger: ruleTriggers[in.Trigger], Event: 1, Guild: in.GuildID}
	if in.Trigger == "member_profile" {
		wanted.Event = 2
	}
	if in.RuleID != "" {
		switch {
		case s.Now == nil:
			return plan, refused("rule-missing", "the guild has no rule %s", in.RuleID)
		case s.Now.Enabled && (in.Action == "update" || in.Action == "delete"):
			return plan, refused("enabled", "the rule is enabled; disable it first")
		}
		wanted = *s.Now
	}
	for _, rule := range rules {
		if rule.Trigger == wanted.Trigger {
			s.OfTrigger++
		}
	}
	if s.Limit = maxRules[wanted.Trigger]; in.Action == "create" && s.OfTrigger >= s.Limit {
		return plan, refused("trigger-full", "the guild has %d rules of the trigger, and can have %d", s.OfTrigger, s.Limit)
	}
	plan = mcpcore.Change[ruleState]{Action: in.Action, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}}
	if in.Action == "delete" {
		plan.Risks = []string{"irreversible"}
	} else {
		wanted = in.onto(wanted, r.Call.Has)
		s.Wanted = &wanted
		if in.Action != "disable" {
			if err := wanted.fault(); err != nil {
				return plan, err
			}
			if err := wanted.may(r.Call, &bot, channels); err != nil {
				return plan, err
			}
		}
		if s.Changed = wanted.differ(autoRule{}); s.Now != nil {
			s.Changed = wanted.differ(*s.Now)
		}
		if plan.Current = s.Now != nil && len(s.Changed) == 0; plan.Current {
			plan.Action = "none"
		}
	}
	var does []string
	for _, a := range wanted.Actions {
		does = append(does, nameOf(ruleActions, a.Type))
	}
	plan.State = s
	plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "rule", Value: wanted.Name}, mcpcore.Fact{Name: "trigger", Value: nameOf(ruleTriggers, wanted.Trigger)},
		mcpcore.Fact{Name: "does", Value: strings.Join(does, ", ")}, mcpcore.Fact{Name: "changes", Value: strings.Join(s.Changed, ", ")})
	return plan, nil
}

// onto is a rule with what was given.
func (in ruleChange) onto(r autoRule, given func(string) bool) autoRule {
	if given("name") {
		r.Name = in.Name
	}
	if in.Metadata != nil {
		r.Metadata = in.Metadata.trigger()
	}
	if given("actions") {
		r.Actions = actionsOf(in.Actions)
	}
	if given("exemptRoles") {
		r.ExemptRoles = in.ExemptRoles
	}
	if given("exemptChannels") {
		r.ExemptChannels = in.ExemptChannels
	}
	switch in.Action {
	case "create", "disable":
		r.Enabled = false
	case "enable":
		r.Enabled = true
	}
	r.sort()
	return r
}

// differ are the fields in which two rules are not the same.
func (r autoRule) differ(other autoRule) (fields []string) {
	other.sort()
	for i, same := range []bool{
		r.Name == other.Name, snapshot(r.Metadata) == snapshot(other.Metadata), snapshot(r.Actions) == snapshot(other.Actions),
		slices.Equal(r.ExemptRoles, other.ExemptRoles), slices.Equal(r.ExemptChannels, other.ExemptChannels), r.Enabled == other.Enabled,
	} {
		if !same {
			fields = append(fields, ruleFields[i])
		}
	}
	return fields
}

// patch is the whole of a new rule, and what changes of another.
func (s *ruleState) patch() (p rulePatch) {
	w, changed := s.Wanted, s.Changed
	if s.Now == nil {
		p.Event, p.Trigger, changed = w.Event, w.Trigger, ruleFields
	}
	for _, field := range changed {
		switch field {
		case "name":
			p.Name = w.Name
		case "triggerMetadata":
			p.Metadata = &w.Metadata
		case "actions":
			p.Actions = w.Actions
		case "exemptRoles":
			p.ExemptRoles = &w.ExemptRoles
		case "exemptChannels":
			p.ExemptChannels = &w.ExemptChannels
		case "enabled":
			p.Enabled = &w.Enabled
		}
	}
	return p
}
