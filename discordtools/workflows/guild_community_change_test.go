package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// noCommunity makes the demo guild none, with a bot that may make it one.
func noCommunity(d *sandbox.Discord) {
	d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) {
		g.Features, g.RulesChannel, g.UpdatesChannel = []string{"NEWS", "BANNER"}, "", ""
	})
	d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.Administrator)
}

func routing(rules, updates, more string) string {
	return ofGuild(fmt.Sprintf(`"rulesChannelId":%q,"publicUpdatesChannelId":%q,%s`, rules, updates, more))
}

func uniting() scene {
	const rules, log, general = "1200000000000000311", "1200000000000000318", "1200000000000000313"
	const more = `"safetyAlertsChannelId":null,"acknowledgeCommunityEnablement":true,"auditReason":"canary-reason"`
	refusal := func(name, reason, args string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: args, Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-community-change", Plan: "plan_guild_community_change", Execute: "execute_guild_community_change",
			Args: routing(rules, log, more),
			Sends: []string{`PATCH /guilds/1200000000000000001 {"rules_channel_id":"1200000000000000311","public_updates_channel_id":"1200000000000000318",` +
				`"safety_alerts_channel_id":null,"features":["BANNER","NEWS","COMMUNITY"]}`},
			Permit: guildPermit, Resource: string(sandbox.DemoGuild), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "half of the routing", Args: routing(rules, log, `"auditReason":"x"`), Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: allow(discord.ManageRoles)},
				{Name: "a bot that may set channels alone", Code: mcpcore.CodePermission, Before: allow(discord.ManageGuild)},
				{Name: "nobody said that it should", Args: routing(rules, log, `"safetyAlertsChannelId":null`), Code: mcpcore.CodeValidation},
				{Name: "somebody said that it should not", Args: routing(rules, log, `"safetyAlertsChannelId":null,"acknowledgeCommunityEnablement":false`), Code: mcpcore.CodeValidation},
				refusal("one channel for two", "same-channel", routing(rules, rules, more)),
				refusal("rules on a stage", "rules-channel", routing("1200000000000000317", log, more)),
				refusal("rules that not everyone sees", "channel-hidden", routing(log, general, more)),
				refusal("updates in another guild", "updates-channel", routing(rules, "1200000000000000341", more)),
				refusal("alerts in a category", "safety-channel", routing(rules, log, `"safetyAlertsChannelId":"1200000000000000302","acknowledgeCommunityEnablement":true`)),
			},
		},
		Route: "PATCH /guilds/{guild_id}", ReadBack: "GET /guilds/{guild_id}", Skip: 8, Before: noCommunity,
		Change: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Features = []string{"NEWS"} })
		},
		Settle: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) {
				g.Features, g.RulesChannel, g.UpdatesChannel = []string{"COMMUNITY", "NEWS", "BANNER"}, sandbox.DemoRules, sandbox.DemoModLog
			})
		},
	}
}

func TestGuildCommunityChange(t *testing.T) {
	t.Parallel()
	uniting().run(t)
}

// The channels of a guild that is a Community are set by whoever may manage it,
// and its features are not sent.
func TestCommunityChannelsAreSet(t *testing.T) {
	t.Parallel()
	s := uniting()
	s.Before = nil
	s.writes(t, routing("1200000000000000313", "1200000000000000318", `"safetyAlertsChannelId":"1200000000000000314","acknowledgeCommunityEnablement":true`),
		`PATCH /guilds/1200000000000000001 {"rules_channel_id":"1200000000000000313","public_updates_channel_id":"1200000000000000318","safety_alerts_channel_id":"1200000000000000314"}`)
}

func TestCommunityThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	s := uniting()
	for name, other := range map[string][2]string{
		"no Community": {`"COMMUNITY"`, `"X"`}, "a feature that is lost": {`"NEWS"`, `"X"`}, "other rules": {`"rules_channel_id":"1200000000000000311"`, `"rules_channel_id":null`},
		"alerts": {`"safety_alerts_channel_id":null`, `"safety_alerts_channel_id":"1200000000000000311"`},
	} {
		s.answered(s.Route, other[0], other[1]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	s.after(s.ReadBack, `"COMMUNITY"`, `"X"`).ends(t, "no Community any more", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.afterWrite(func(d *sandbox.Discord) {
		d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) {
			g.Features, g.RulesChannel, g.UpdatesChannel, g.SafetyChannel = []string{"COMMUNITY"}, sandbox.DemoGeneral, sandbox.DemoRules, sandbox.DemoRules
		})
	}).drifts(t, "rulesChannelId", "publicUpdatesChannelId", "safetyAlertsChannelId", "features")
}

func TestAuditGuildCommunity(t *testing.T) {
	t.Parallel()
	s := uniting()
	told := s.reads(t, "audit_guild_community", `{"guildId":"1200000000000000001"}`)
	if told["enabled"] != false || told["mayEnable"] != true || fmt.Sprint(told["faults"]) != "[same-channel rules-channel updates-channel]" {
		t.Errorf("of a guild that is none it tells %v", told)
	}
	s.Before = func(d *sandbox.Discord) {
		d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.RulesChannel, g.UpdatesChannel = sandbox.DemoModLog, sandbox.DemoGeneral })
	}
	told = s.reads(t, "audit_guild_community", `{"guildId":"1200000000000000001"}`)
	seen := fmt.Sprint(told["textChannels"])
	if told["enabled"] != true || told["mayEnable"] != false || told["mayChangeRouting"] != true || fmt.Sprint(told["faults"]) != "[channel-hidden]" ||
		seen != "[map[channelId:1200000000000000311 everyoneSees:true] map[channelId:1200000000000000313 everyoneSees:true] map[channelId:1200000000000000314 everyoneSees:true] "+
			"map[channelId:1200000000000000318 everyoneSees:false] map[channelId:1200000000000000319 everyoneSees:false]]" {
		t.Errorf("of one whose rules are hidden it tells %v", told)
	}
}
