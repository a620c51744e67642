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
	helperIntegration discord.IntegrationID = "1200000000000000709"
	helperBot         discord.UserID        = "1200000000000000199"
)

func addHelper(d *sandbox.Discord) {
	d.AddUser(sandbox.User{ID: helperBot, Name: "canary-bot", Bot: true})
	d.AddMember(sandbox.DemoGuild, sandbox.Member{User: helperBot})
	d.AddIntegration(sandbox.DemoGuild, sandbox.Integration{ID: helperIntegration, Name: "canary-helper", Bot: helperBot, AddedBy: sandbox.DemoAdmin})
}

func unplugging() scene {
	of := func(id discord.IntegrationID) string {
		return ofGuild(fmt.Sprintf(`"integrationId":%q,"acknowledgeWebhookRemoval":true,"acknowledgeBotKick":true,"auditReason":"canary-reason"`, id))
	}
	permit := func(id discord.IntegrationID) mcpcore.Permit {
		return mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoGuild)}, "integrations": {string(id)}}}
	}
	other := func(name, reason string, id discord.IntegrationID, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{
			Name: name, Args: of(id), Policy: func(p *mcpcore.WorkflowPolicy) { p.Permits["integration-deletion"] = permit(id) }, Before: world(before),
			Code: mcpcore.CodePlanRefused, Reason: reason,
		}
	}
	beside := func(i sandbox.Integration) func(d *sandbox.Discord) {
		return func(d *sandbox.Discord) { d.AddIntegration(sandbox.DemoGuild, i) }
	}
	const another discord.IntegrationID = "1200000000000000708"
	return scene{
		Subject: operationtest.Subject{
			Workflow: "integration-deletion", Plan: "plan_guild_integration_deletion", Execute: "execute_guild_integration_deletion",
			Args: of(helperIntegration), Sends: []string{"DELETE /guilds/1200000000000000001/integrations/1200000000000000709"},
			Permit: permit(helperIntegration), Resource: string(helperIntegration), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "webhooks that were not acknowledged", Code: mcpcore.CodeValidation, Args: strings.Replace(of(helperIntegration), "Removal\":true", "Removal\":false", 1)},
				{Name: "a bot that was not acknowledged", Code: mcpcore.CodeValidation, Args: strings.Replace(of(helperIntegration), "Kick\":true", "Kick\":false", 1)},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: weaker(discord.ManageGuild)},
				{Name: "a protected bot", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(helperBot)} }},
				other("one of nobody", "integration-missing", another, func(*sandbox.Discord) {}),
				other("its own", "self", sandbox.DemoIntegration, func(*sandbox.Discord) {}),
				other("how it is paid for", "subscription", another, beside(sandbox.Integration{ID: another, Type: "guild_subscription", Name: "boosts"})),
				blocked("unknown-type", beside(sandbox.Integration{Type: "carrier-pigeon", Name: "pigeons"})),
				blocked("unknown-scope", beside(sandbox.Integration{Name: "pigeons", Scopes: []string{"bot", "feathers"}})),
				blocked("too-many-integrations", func(d *sandbox.Discord) {
					for i := range 48 {
						d.AddIntegration(sandbox.DemoGuild, sandbox.Integration{Name: fmt.Sprint("pigeon ", i)})
					}
				}),
			},
		},
		Route: "DELETE /guilds/{guild_id}/integrations/{integration_id}", ReadBack: "GET /guilds/{guild_id}/integrations", Skip: 4,
		Before: addHelper,
		Change: beside(sandbox.Integration{Type: "twitch", Name: "another"}),
		Rename: func(d *sandbox.Discord) {
			d.AddMember(sandbox.DemoGuild, sandbox.Member{User: helperBot, Nick: "helper"})
		},
	}
}

func TestIntegrationDeletion(t *testing.T) {
	t.Parallel()
	unplugging().run(t)
}

// The plan counts the webhooks that go too, as far as the bot may see them, and
// an integration need not have a bot.
func TestIntegrationsWebhooksAndBot(t *testing.T) {
	t.Parallel()
	s := unplugging().observed(func(d *sandbox.Discord) {
		d.AddWebhook(sandbox.Webhook{Channel: sandbox.DemoGeneral, By: helperBot, Name: "canary-hook"})
	})
	state := func(s scene) map[string]any {
		told := s.plans(t)
		got, _ := told["state"].(map[string]any)
		return got
	}
	if got := state(s); fmt.Sprint(got["webhooks"]) != "1" || got["bot"] == nil {
		t.Errorf("of one with a bot and a webhook the plan tells %v", got)
	}
	blind := s.observed(func(d *sandbox.Discord) {
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageGuild)
	})
	if got := state(blind); got["webhooks"] != nil {
		t.Errorf("of one whose webhooks cannot be seen the plan tells %v", got)
	}
	s.Before = func(d *sandbox.Discord) {
		d.AddIntegration(sandbox.DemoGuild, sandbox.Integration{ID: helperIntegration, Type: "youtube", Name: "canary-tube"})
	}
	if got := state(s); got["bot"] != nil || got["webhooks"] != nil {
		t.Errorf("of one without a bot the plan tells %v", got)
	}
	s.sends(t, "DELETE /guilds/1200000000000000001/integrations/1200000000000000709")
}

func TestIntegrationThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	s := unplugging()
	s.answered(s.ReadBack, `"enabled"`, `"pigeons":true,"enabled"`).ends(t, "a field that nobody knows", mcpcore.CodePlanRefused, "", "")
	s.answered(s.ReadBack, `"id":"1200000000000000701"`, `"id":""`).ends(t, "one without an id", mcpcore.CodeAccessUnknown, "", "")
	s.after(s.ReadBack, string(sandbox.DemoIntegration), string(helperIntegration)).ends(t, "still there", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.afterWrite(func(d *sandbox.Discord) {
		d.AddIntegration(sandbox.DemoGuild, sandbox.Integration{Type: "twitch", Name: "another"})
		d.AddMember(sandbox.DemoGuild, sandbox.Member{User: helperBot})
	}).drifts(t, "other_integrations", "bot_member")
}
