package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const (
	someRule discord.RuleID = "1200000000000000811"

	block = `"actions":[{"type":"block_message"}]`
)

var rulePermit = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoGuild)}, "alertChannels": {string(sandbox.DemoModLog), string(sandbox.DemoLounge)}}}

// addRule adds a rule that is disabled.
func addRule(d *sandbox.Discord) {
	d.AddAutoModRule(sandbox.DemoGuild, sandbox.AutoModRule{ID: someRule, Name: "canary-old", Keywords: []string{"canary-word"},
		Actions: []sandbox.AutoModAction{{Type: sandbox.ActionBlock}, {Type: sandbox.ActionAlert, Channel: sandbox.DemoModLog}}})
}

func enabledRule(d *sandbox.Discord) {
	addRule(d)
	d.ChangeAutoModRule(sandbox.DemoGuild, someRule, func(r *sandbox.AutoModRule) { r.Enabled = true })
}

func ruling() scene {
	create := func(name, more string, code mcpcore.Code, reason string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: ofGuild(`"action":"create","name":"x",` + more), Code: code, Reason: reason}
	}
	of := func(name, action, more string, code mcpcore.Code, reason string, before func(*sandbox.Discord)) operationtest.Refusal {
		r := operationtest.Refusal{Name: name, Args: ofGuild(`"action":"` + action + `","ruleId":"` + string(someRule) + `"` + more), Code: code, Reason: reason}
		if before != nil {
			r.Before = world(before)
		}
		return r
	}
	const keyword = `"trigger":"keyword","triggerMetadata":{"keywordFilter":["x"]},`
	alert := func(in discord.ChannelID) string {
		return keyword + fmt.Sprintf(`"actions":[{"type":"send_alert_message","channelId":"%s"}]`, in)
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "automod-change", Plan: "plan_automod_change", Execute: "execute_automod_change", Verify: "verify_automod_change",
			Args: ofGuild(`"action":"create","name":"canary-rule","trigger":"keyword","triggerMetadata":{"keywordFilter":["canary-word"],"allowList":["canary-bird"]},` +
				`"actions":[{"type":"block_message","customMessage":"canary-told"},{"type":"send_alert_message","channelId":"1200000000000000318"},{"type":"timeout","durationSeconds":60}],` +
				`"exemptRoles":["1200000000000000203"],"exemptChannels":["1200000000000000313"],"auditReason":"canary-reason"`),
			Sends: []string{`POST /guilds/1200000000000000001/auto-moderation/rules {"name":"canary-rule","event_type":1,"trigger_type":1,` +
				`"trigger_metadata":{"keyword_filter":["canary-word"],"allow_list":["canary-bird"]},` +
				`"actions":[{"type":1,"metadata":{"custom_message":"canary-told"}},{"type":2,"metadata":{"channel_id":"1200000000000000318"}},{"type":3,"metadata":{"duration_seconds":60}}],` +
				`"enabled":false,"exempt_roles":["1200000000000000203"],"exempt_channels":["1200000000000000313"]}`},
			Permit: rulePermit, Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: allow(discord.ManageRoles | discord.ModerateMembers)},
				{Name: "a timeout without MODERATE_MEMBERS", Code: mcpcore.CodePermission, Before: allow(discord.ManageGuild)},
				create("an id for a new rule", keyword+block+`,"ruleId":"1200000000000000811"`, mcpcore.CodeValidation, ""),
				create("no trigger", block, mcpcore.CodeValidation, ""),
				create("no actions", `"trigger":"spam"`, mcpcore.CodeValidation, ""),
				create("keywords without words", `"trigger":"keyword",`+block, mcpcore.CodePlanRefused, "trigger"),
				create("words that the trigger does not use", `"trigger":"spam","triggerMetadata":{"keywordFilter":["x"]},`+block, mcpcore.CodePlanRefused, "trigger"),
				create("a list of presets without any", `"trigger":"keyword_preset",`+block, mcpcore.CodePlanRefused, "trigger"),
				{Name: "mentions without a limit", Args: ofGuild(`"action":"create","name":"x","trigger":"mention_spam",` + block), Code: mcpcore.CodePlanRefused, Reason: "trigger",
					Before: world(func(d *sandbox.Discord) { d.RemoveAutoModRule(sandbox.DemoGuild, sandbox.DemoPingRule) })},
				create("more allowed words than the trigger takes", `"trigger":"keyword","triggerMetadata":{"keywordFilter":["x"],"allowList":[`+strings.Repeat(`"y",`, 100)+`"y"]},`+block, mcpcore.CodePlanRefused, "trigger"),
				create("an alert without a channel", keyword+`"actions":[{"type":"send_alert_message"}]`, mcpcore.CodePlanRefused, "actions"),
				create("a timeout without a time", keyword+`"actions":[{"type":"timeout"}]`, mcpcore.CodePlanRefused, "actions"),
				create("a timeout for spam", `"trigger":"spam","actions":[{"type":"timeout","durationSeconds":5}]`, mcpcore.CodePlanRefused, "actions"),
				create("a block of members for words", keyword+`"actions":[{"type":"block_member_interaction"}]`, mcpcore.CodePlanRefused, "actions"),
				create("a role that is not there", keyword+block+`,"exemptRoles":["1200000000000000298"]`, mcpcore.CodePlanRefused, "role-missing"),
				create("a channel that is not there", keyword+block+`,"exemptChannels":["1200000000000000341"]`, mcpcore.CodePlanRefused, "channel-missing"),
				create("alerts where the policy does not let them", alert(sandbox.DemoGeneral), mcpcore.CodeWorkflowScope, ""),
				create("alerts in a voice channel", alert(sandbox.DemoLounge), mcpcore.CodePlanRefused, "alert-channel"),
				{Name: "alerts in a channel that cannot be written", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetOverwrite(sandbox.DemoModLog, discord.Overwrite{ID: discord.OverwriteID(sandbox.BotID), Type: 1, Deny: discord.SendMessages})
				})},
				{Name: "a seventh rule of keywords", Code: mcpcore.CodePlanRefused, Reason: "trigger-full", Before: world(func(d *sandbox.Discord) {
					for range 6 {
						d.AddAutoModRule(sandbox.DemoGuild, sandbox.AutoModRule{Name: "x", Keywords: []string{"x"}})
					}
				})},
				of("a rule that is not there", "delete", "", mcpcore.CodePlanRefused, "rule-missing", nil),
				of("an enabled rule changed", "update", `,"name":"y"`, mcpcore.CodePlanRefused, "enabled", enabledRule),
				of("an enabled rule deleted", "delete", "", mcpcore.CodePlanRefused, "enabled", enabledRule),
				of("another trigger", "update", `,"trigger":"spam"`, mcpcore.CodeValidation, "", addRule),
				of("nothing to change", "update", "", mcpcore.CodeValidation, "", addRule),
				of("a change by the way", "enable", `,"name":"y"`, mcpcore.CodeValidation, "", addRule),
			},
		},
		Route: "POST /guilds/{guild_id}/auto-moderation/rules", ReadBack: "GET /guilds/{guild_id}/auto-moderation/rules", Skip: 4,
		Change: func(d *sandbox.Discord) {
			d.AddAutoModRule(sandbox.DemoGuild, sandbox.AutoModRule{Name: "another", Keywords: []string{"x"}})
		},
	}
}

// acting is another action on a rule that is there.
func acting(action, more, sends string) scene {
	s := ruling()
	s.Args = ofGuild(`"action":"` + action + `","ruleId":"` + string(someRule) + `"` + more)
	s.Sends, s.Refusals, s.Resource = []string{sends}, nil, string(someRule)
	s.Permit = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoGuild)}}}
	s.Route, s.Before = strings.Split(sends, " ")[0]+" /guilds/{guild_id}/auto-moderation/rules/{rule_id}", addRule
	return s
}

func TestAutomodRuleCreated(t *testing.T) {
	t.Parallel()
	ruling().run(t)
}

func TestAutomodRuleEnabled(t *testing.T) {
	t.Parallel()
	s := acting("enable", "", `PATCH /guilds/1200000000000000001/auto-moderation/rules/1200000000000000811 {"enabled":true}`)
	s.Permit = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoGuild)}, "alertChannels": {string(sandbox.DemoModLog)}}}
	s.Settle = func(d *sandbox.Discord) {
		d.ChangeAutoModRule(sandbox.DemoGuild, someRule, func(r *sandbox.AutoModRule) { r.Enabled = true })
	}
	s.run(t)
}

func TestAutomodRuleDeleted(t *testing.T) {
	t.Parallel()
	acting("delete", "", `DELETE /guilds/1200000000000000001/auto-moderation/rules/1200000000000000811`).run(t)
}

// A change sends what differs and nothing else.
func TestAutomodRuleUpdated(t *testing.T) {
	t.Parallel()
	s := acting("update", `,"name":"canary-old","triggerMetadata":{"regexPatterns":["canary.*"]},`+block, "PATCH /")
	var d *sandbox.Discord
	s.Before = func(made *sandbox.Discord) { d = made; addRule(d) }
	e, _ := s.once(t)
	w := d.Writes()
	if want := `{"trigger_metadata":{"regex_patterns":["canary.*"]},"actions":[{"type":1,"metadata":{}}]}`; e.Status != "completed" || len(w) != 1 || string(w[0].Body) != want {
		t.Errorf("it answers %+v and sends %s", e, w[0].Body)
	}
	s = acting("disable", "", "PATCH /")
	s.Before = func(made *sandbox.Discord) { d = made; enabledRule(d) }
	if e, _ := s.once(t); e.Status != "completed" || string(d.Writes()[0].Body) != `{"enabled":false}` {
		t.Errorf("it answers %+v", e)
	}
}

// What became of a rule later is found by the receipt.
func TestAutomodRuleIsVerifiedLater(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s := ruling()
	s.Before = func(made *sandbox.Discord) { d = made }
	c := s.client(t)
	c.want(s.Execute, s.Args, "completed")
	id := discord.RuleID(c.field("resourceId"))
	d.ChangeAutoModRule(sandbox.DemoGuild, id, func(r *sandbox.AutoModRule) {
		r.Enabled, r.Keywords = true, nil
	})
	if c.want(s.Verify, s.Args, "drifted"); c.field("drift") != "[triggerMetadata enabled]" {
		t.Errorf("drift %s", c.raw)
	}
	d.RemoveAutoModRule(sandbox.DemoGuild, id)
	c.want(s.Verify, s.Args, "absent")

	s = acting("delete", "", "DELETE /")
	s.Before = func(made *sandbox.Discord) { d = made; addRule(d) }
	c = s.client(t)
	c.want(s.Execute, s.Args, "completed")
	c.want(s.Verify, s.Args, "verified")
	addRule(d)
	c.want(s.Verify, s.Args, "drifted")
}
