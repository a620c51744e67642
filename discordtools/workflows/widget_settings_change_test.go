package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func widgeting() scene {
	guild := []string{string(sandbox.DemoGuild)}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "widget-settings-change", Plan: "plan_guild_widget_settings_change", Execute: "execute_guild_widget_settings_change",
			Args:   ofGuild(`"enabled":true,"channelId":"1200000000000000313","auditReason":"canary-reason"`),
			Sends:  []string{`PATCH /guilds/1200000000000000001/widget {"enabled":true,"channel_id":"1200000000000000313"}`},
			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": guild, "publicGuilds": guild}}, Resource: string(sandbox.DemoGuild),
			Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "half of the settings", Args: ofGuild(`"enabled":true`), Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: allow(discord.ManageRoles)},
				{Name: "a public widget without its gate", Code: mcpcore.CodeWorkflowScope, Policy: permits("widget-settings-change", "guilds", guild...)},
				{Name: "another channel without the gate", Args: ofGuild(`"enabled":false,"channelId":"1200000000000000313"`), Code: mcpcore.CodeWorkflowScope,
					Policy: permits("widget-settings-change", "guilds", guild...)},
				{Name: "a channel of another guild", Args: ofGuild(`"enabled":true,"channelId":"1200000000000000341"`), Code: mcpcore.CodePlanRefused, Reason: "channel-missing"},
				{Name: "a category", Args: ofGuild(`"enabled":true,"channelId":"1200000000000000302"`), Code: mcpcore.CodePlanRefused, Reason: "channel-missing"},
				{Name: "a thread", Args: ofGuild(`"enabled":true,"channelId":"1200000000000000321"`), Code: mcpcore.CodePlanRefused, Reason: "channel-missing"},
			},
		},
		Route: "PATCH /guilds/{guild_id}/widget", ReadBack: "GET /guilds/{guild_id}/widget", Skip: 4,
		Change: func(d *sandbox.Discord) { d.SetWidget(sandbox.DemoGuild, false, sandbox.DemoShowcase) },
		Settle: func(d *sandbox.Discord) { d.SetWidget(sandbox.DemoGuild, true, sandbox.DemoGeneral) },
	}
}

func TestWidgetSettingsChange(t *testing.T) {
	t.Parallel()
	widgeting().run(t)
}

// What shows the public less goes without the gate for showing it more.
func TestWidgetIsClosedWithoutTheGate(t *testing.T) {
	t.Parallel()
	s := widgeting()
	s.Permit = guildPermit
	s.Before = func(d *sandbox.Discord) { d.SetWidget(sandbox.DemoGuild, true, sandbox.DemoGeneral) }
	s.writes(t, ofGuild(`"enabled":false,"channelId":"1200000000000000313"`), `PATCH /guilds/1200000000000000001/widget {"enabled":false,"channel_id":"1200000000000000313"}`)
	s.writes(t, ofGuild(`"enabled":true,"channelId":null`), `PATCH /guilds/1200000000000000001/widget {"enabled":true,"channel_id":null}`)
}

func TestWidgetThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	s := widgeting()
	s.answered(s.Route, `true`, `false`).ends(t, "a widget that is off", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.answered(s.Route, `313"`, `314"`).ends(t, "another channel", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.answered(s.ReadBack, `"enabled"`, `"on"`).ends(t, "settings that are not whole", mcpcore.CodeAccessUnknown, "", "")
	s.afterWrite(func(d *sandbox.Discord) { d.SetWidget(sandbox.DemoGuild, false, sandbox.DemoShowcase) }).drifts(t, "enabled", "channelId")
}
