package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func TestChannelCreation(t *testing.T) {
	t.Parallel()
	scene{
		Subject: operationtest.Subject{
			Workflow: "channel-creation", Plan: "plan_channel_creation", Execute: "execute_channel_creation",
			Args:    `{"guildId":"1200000000000000001","kind":"text","name":"canary-harbour","parentId":"1200000000000000302","topic":"canary-topic","auditReason":"canary-reason"}`,
			Sends:   []string{`POST /guilds/1200000000000000001/channels {"name":"canary-harbour","type":0,"parent_id":"1200000000000000302","topic":"canary-topic"}`},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}}},
			Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "a parent that is no category", Args: `{"guildId":"1200000000000000001","kind":"text","name":"x","parentId":"1200000000000000313"}`,
					Code: mcpcore.CodePlanRefused, Reason: "parent-missing"},
				{Name: "a category in a category", Args: `{"guildId":"1200000000000000001","kind":"category","name":"x","parentId":"1200000000000000302"}`,
					Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: func(w *operationtest.World) {
					w.Any.(*sandbox.Discord).SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ViewChannel)
				}},
				{Name: "two of the name", Code: mcpcore.CodePlanRefused, Reason: "ambiguous", Before: func(w *operationtest.World) {
					for _, name := range []string{"canary_harbour", "Canary-Harbour"} {
						w.Any.(*sandbox.Discord).AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: name, Parent: sandbox.DemoCommunity})
					}
				}},
			},
		},
		Route: "POST /guilds/{guild_id}/channels", ReadBack: "GET /channels/{channel_id}",
		Change: func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: "another", Parent: sandbox.DemoCommunity})
		},
		Settle: func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: "canary-harbour", Parent: sandbox.DemoCommunity})
		},
	}.run(t)
}
