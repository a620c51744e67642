package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func TestRoleCreation(t *testing.T) {
	t.Parallel()
	scene{
		Subject: operationtest.Subject{
			Workflow: "role-creation", Plan: "plan_role_creation", Execute: "execute_role_creation",
			Args:    `{"guildId":"1200000000000000001","name":"canary-role","permissions":["KICK_MEMBERS","MANAGE_MESSAGES"],"color":255,"hoist":true,"auditReason":"canary-reason"}`,
			Sends:   []string{`POST /guilds/1200000000000000001/roles {"name":"canary-role","permissions":"8194","colors":{"primary_color":255,"secondary_color":null,"tertiary_color":null},"hoist":true,"mentionable":false}`},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}}},
			Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "an administrator", Args: `{"guildId":"1200000000000000001","name":"x","permissions":["ADMINISTRATOR"]}`,
					Code: mcpcore.CodePlanRefused, Reason: "administrator"},
				{Name: "what the bot lacks", Args: `{"guildId":"1200000000000000001","name":"x","permissions":["VIEW_CREATOR_MONETIZATION_ANALYTICS"]}`,
					Code: mcpcore.CodePermission},
				{Name: "a permission that there is not", Args: `{"guildId":"1200000000000000001","name":"x","permissions":["EVERYTHING"]}`,
					Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageMessages|discord.KickMembers)
				})},
				blocked("hierarchy", func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, discord.RoleID(sandbox.DemoGuild), sandbox.DemoPermissions)
					d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.BotID})
				}),
				blocked("ambiguous", func(d *sandbox.Discord) {
					for _, name := range []string{"canary_role", "Canary-Role"} {
						d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: name})
					}
				}),
				blocked("name-taken", func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "Canary Role", Color: 255}) }),
				blocked("full", func(d *sandbox.Discord) {
					for i := range 250 - len(d.Roles(sandbox.DemoGuild)) {
						d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: fmt.Sprint("filler ", i)})
					}
				}),
			},
		},
		Route: "POST /guilds/{guild_id}/roles", ReadBack: "GET /guilds/{guild_id}/roles/{role_id}",
		Change: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) },
		Settle: func(d *sandbox.Discord) {
			d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "Canary_Role", Color: 255, Hoist: true, Permissions: discord.KickMembers | discord.ManageMessages})
		},
	}.run(t)
}
