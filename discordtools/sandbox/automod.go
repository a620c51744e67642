package sandbox

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// autoModRoutes manage a guild's AutoMod rules. What the rules do is in
// automod_act.go.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation.
var autoModRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/auto-moderation/rules", handle: inGuild(discord.ManageGuild, listRules)},
	{method: "POST", path: "/guilds/{guild_id}/auto-moderation/rules", handle: inGuild(discord.ManageGuild, createRule)},
	{method: "GET", path: "/guilds/{guild_id}/auto-moderation/rules/{rule_id}", handle: onRule(getRule)},
	{method: "PATCH", path: "/guilds/{guild_id}/auto-moderation/rules/{rule_id}", handle: onRule(editRule)},
	{method: "DELETE", path: "/guilds/{guild_id}/auto-moderation/rules/{rule_id}", handle: onRule(deleteRule)},
}

const (
	auditRuleCreate = 140
	auditRuleUpdate = 141
	auditRuleDelete = 142
)

// What triggers a rule, and what it does.
const (
	TriggerKeyword  = 1
	TriggerSpam     = 3
	TriggerPreset   = 4
	TriggerMentions = 5
	TriggerProfile  = 6

	ActionBlock       = 1
	ActionAlert       = 2
	ActionTimeout     = 3
	ActionBlockMember = 4
)

// maxRules is how many rules of a trigger a guild has.
var maxRules = map[int]int{TriggerKeyword: 6, TriggerSpam: 1, TriggerPreset: 1, TriggerMentions: 1, TriggerProfile: 1}

// No code for a rule that does not exist is documented.
var errUnknownRule = notFound(0, "404: Not Found")

// AutoModRule is a rule of a guild's AutoMod.
type AutoModRule struct {
	ID             discord.RuleID
	Name           string
	Creator        discord.UserID // "" is the bot
	Trigger        int            // 0 is TriggerKeyword
	Enabled        bool
	Keywords       []string
	Patterns       []string
	Allowed        []string
	Presets        []int
	MentionLimit   int // 0 limits nothing
	RaidProtection bool
	Actions        []AutoModAction
	ExemptRoles    []discord.RoleID
	ExemptChannels []discord.ChannelID
}

// AutoModAction is one thing that a rule does.
type AutoModAction struct {
	Type    int
	Channel discord.ChannelID // of an alert
	Seconds int               // of a timeout
	Message string            // shown to those whose message is blocked
}

// AddAutoModRule adds a rule.
func (d *Discord) AddAutoModRule(in discord.GuildID, r AutoModRule) discord.RuleID {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	named(&d.world, &r.ID)
	unused(g.rules, r.ID)
	r.Trigger = orDefault(r.Trigger, TriggerKeyword)
	if r.Creator == "" {
		r.Creator = BotID
	}
	g.setRule(r.clone())
	return r.ID
}

// AutoModRules lists a guild's rules, the oldest first.
func (d *Discord) AutoModRules(in discord.GuildID) []AutoModRule {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.world.guilds[in]; g != nil {
		return mapped(sorted(g.rules), func(r *AutoModRule) AutoModRule { return *r.clone() })
	}
	return nil
}

func (r AutoModRule) clone() *AutoModRule {
	r.Keywords, r.Patterns, r.Allowed, r.Presets = slices.Clone(r.Keywords), slices.Clone(r.Patterns), slices.Clone(r.Allowed), slices.Clone(r.Presets)
	r.Actions, r.ExemptRoles, r.ExemptChannels = slices.Clone(r.Actions), slices.Clone(r.ExemptRoles), slices.Clone(r.ExemptChannels)
	return &r
}

func (g *guild) setRule(r *AutoModRule) {
	if g.rules == nil {
		g.rules = map[discord.RuleID]*AutoModRule{}
	}
	g.rules[r.ID] = r
}

// event is what a rule looks at: messages, or members.
func (r *AutoModRule) event() int {
	if r.Trigger == TriggerProfile {
		return 2
	}
	return 1
}

// onRule resolves {guild_id} and {rule_id}.
func onRule(handle func(*exchange, *guild, *AutoModRule) (answer, error)) handler {
	return inGuild(discord.ManageGuild, func(x *exchange, g *guild) (answer, error) {
		r := g.rules[id[discord.RuleID](x, "rule_id")]
		if r == nil {
			return refuse(errUnknownRule)
		}
		return handle(x, g, r)
	})
}

func listRules(_ *exchange, g *guild) (answer, error) {
	return ok(mapped(sorted(g.rules), func(r *AutoModRule) ruleView { return viewRule(g, r) }))
}

func getRule(_ *exchange, g *guild, r *AutoModRule) (answer, error) { return ok(viewRule(g, r)) }

type ruleForm struct {
	Name           opt[string]              `json:"name" minLength:"1" maxLength:"100" null:"no"`
	Event          opt[int]                 `json:"event_type" enum:"1,2" null:"no"`
	Trigger        opt[int]                 `json:"trigger_type" enum:"1,3,4,5,6" null:"no"`
	Metadata       opt[triggerForm]         `json:"trigger_metadata"`
	Actions        opt[[]actionForm]        `json:"actions" minItems:"1" maxItems:"5"`
	Enabled        opt[bool]                `json:"enabled"`
	ExemptRoles    opt[[]discord.RoleID]    `json:"exempt_roles" maxItems:"20"`
	ExemptChannels opt[[]discord.ChannelID] `json:"exempt_channels" maxItems:"50"`
}

type triggerForm struct {
	Keywords opt[[]string] `json:"keyword_filter" maxItems:"1000"`
	Patterns opt[[]string] `json:"regex_patterns" maxItems:"10"`
	Presets  opt[[]int]    `json:"presets"`
	Allowed  opt[[]string] `json:"allow_list" maxItems:"1000"`
	Limit    opt[int]      `json:"mention_total_limit" minimum:"0" maximum:"50"`
	Raids    opt[bool]     `json:"mention_raid_protection_enabled"`
}

type actionForm struct {
	Type     int `json:"type" enum:"1,2,3,4"`
	Metadata opt[struct {
		Channel opt[discord.ChannelID] `json:"channel_id"`
		Seconds opt[int]               `json:"duration_seconds" minimum:"0" maximum:"2419200"`
		Message opt[string]            `json:"custom_message" maxLength:"150"`
	}] `json:"metadata"`
}

func createRule(x *exchange, g *guild) (answer, error) {
	var f ruleForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if err := demand(field{"name", f.Name.has()}, field{"event_type", f.Event.has()}, field{"trigger_type", f.Trigger.has()}, field{"actions", f.Actions.has()}); err != nil {
		return refuse(err)
	}
	r := &AutoModRule{Creator: x.actor, Trigger: f.Trigger.value}
	if err := x.fillRule(r, f); err != nil {
		return refuse(err)
	}
	same := 0
	for _, other := range g.rules {
		if other.Trigger == r.Trigger {
			same++
		}
	}
	if most := maxRules[r.Trigger]; same >= most {
		return refuse(invalid("", "AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED", "Maximum number of rules with trigger type %d is %d", r.Trigger, most))
	}
	r.ID = discord.RuleID(x.issue())
	g.setRule(r)
	x.audit(g.ID, auditRuleCreate, string(r.ID), AuditOptions{}, changed("name", nil, &r.Name)...)
	return ok(viewRule(g, r))
}

func editRule(x *exchange, g *guild, r *AutoModRule) (answer, error) {
	var f ruleForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	edited := r.clone()
	if err := x.fillRule(edited, f); err != nil {
		return refuse(err)
	}
	changes := append(changed("name", r.Name, edited.Name), changed("enabled", r.Enabled, edited.Enabled)...)
	changes = append(changes, changed("trigger_metadata", viewRule(g, r).Metadata, viewRule(g, edited).Metadata)...)
	*r = *edited
	x.audit(g.ID, auditRuleUpdate, string(r.ID), AuditOptions{}, changes...)
	return ok(viewRule(g, r))
}

func deleteRule(x *exchange, g *guild, r *AutoModRule) (answer, error) {
	delete(g.rules, r.ID)
	x.audit(g.ID, auditRuleDelete, string(r.ID), AuditOptions{}, changed("name", &r.Name, nil)...)
	return done()
}

// fillRule puts a form into a rule after checking what comes of it. The codes of
// most violations are not documented.
func (x *exchange) fillRule(r *AutoModRule, f ruleForm) error {
	if f.Event.has() && f.Event.value != r.event() || f.Trigger.has() && f.Trigger.value != r.Trigger {
		return invalid("event_type", "BASE_TYPE_CHOICES", "Trigger type %d goes with event type %d.", r.Trigger, r.event())
	}
	f.Name.into(&r.Name)
	f.Enabled.into(&r.Enabled)
	f.ExemptRoles.into(&r.ExemptRoles)
	f.ExemptChannels.into(&r.ExemptChannels)
	if f.Metadata.has() {
		if err := f.Metadata.value.into(r); err != nil {
			return err
		}
	}
	if !f.Actions.has() {
		return nil
	}
	r.Actions = nil
	for i, a := range f.Actions.value {
		m := a.Metadata.value
		r.Actions = append(r.Actions, AutoModAction{a.Type, m.Channel.value, m.Seconds.value, m.Message.value})
		if err := x.checkAction("actions."+strconv.Itoa(i), r.Trigger, r.Actions[i], m.Seconds.has()); err != nil {
			return err
		}
	}
	return nil
}

// checkAction demands what an action takes: an alert a channel in which the bot
// can write, a timeout MODERATE_MEMBERS and one of two triggers.
func (x *exchange) checkAction(at string, trigger int, a AutoModAction, timed bool) error {
	switch a.Type {
	case ActionAlert:
		c := x.channels[a.Channel]
		if c == nil || c.Guild != id[discord.GuildID](x, "guild_id") || !x.allowed(c, discord.ViewChannel|discord.SendMessages) {
			return invalid(at+".metadata.channel_id", "INVALID_AUTO_MODERATION_CHANNEL_FLAG_ACTION_ACCESS", "The bot must be able to see the channel and write in it.")
		}
	case ActionTimeout:
		if trigger != TriggerKeyword && trigger != TriggerMentions {
			return invalid(at+".type", "BASE_TYPE_CHOICES", "Timeouts go with trigger types 1 and 5.")
		}
		if !timed {
			return invalid(at+".metadata.duration_seconds", "BASE_TYPE_REQUIRED", "This field is required")
		}
		return x.needInGuild(x.guilds[id[discord.GuildID](x, "guild_id")], discord.ModerateMembers)
	case ActionBlockMember:
		if trigger != TriggerProfile {
			return invalid(at+".type", "BASE_TYPE_CHOICES", "Blocking members goes with trigger type 6.")
		}
		return x.needInGuild(x.guilds[id[discord.GuildID](x, "guild_id")], discord.ModerateMembers)
	}
	return nil
}

// into replaces what triggers a rule. Members that its trigger does not know are
// dropped.
//
// Source: https://docs.discord.com/developers/resources/auto-moderation#auto-moderation-rule-object-trigger-metadata-field-limits.
func (f triggerForm) into(r *AutoModRule) error {
	r.Keywords, r.Patterns, r.Allowed, r.Presets, r.MentionLimit, r.RaidProtection = nil, nil, nil, nil, 0, false
	var wrong form
	texts := func(name string, list []string, most, longest int) {
		if len(list) > most {
			wrong.add("trigger_metadata."+name, "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", most)
		}
		for i, s := range list {
			if n := len([]rune(s)); n < 1 || n > longest {
				wrong.add("trigger_metadata."+name+"."+strconv.Itoa(i), "BASE_TYPE_BAD_LENGTH", "Must be between 1 and %d in length.", longest)
			}
		}
	}
	switch r.Trigger {
	case TriggerKeyword, TriggerProfile:
		r.Keywords, r.Patterns, r.Allowed = f.Keywords.value, f.Patterns.value, f.Allowed.value
		texts("keyword_filter", r.Keywords, 1000, 60)
		texts("regex_patterns", r.Patterns, 10, 260)
		texts("allow_list", r.Allowed, 100, 60)
		for i, p := range r.Patterns {
			if _, err := regexp.Compile(p); err != nil {
				wrong.add("trigger_metadata.regex_patterns."+strconv.Itoa(i), "AUTO_MODERATION_INVALID_REGEX", "Invalid regular expression.")
			}
		}
	case TriggerPreset:
		r.Presets, r.Allowed = f.Presets.value, f.Allowed.value
		texts("allow_list", r.Allowed, 1000, 60)
		for _, p := range r.Presets {
			if p < 1 || p > 3 {
				wrong.add("trigger_metadata.presets", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3}.")
			}
		}
	case TriggerMentions:
		r.MentionLimit, r.RaidProtection = f.Limit.value, f.Raids.value
	}
	return wrong.err()
}
