package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func configuration() scene {
	of := func(role, change string) string {
		return `{"guildId":"1200000000000000001","roleId":"` + role + `",` + change + `,"auditReason":"canary-reason"}`
	}
	asked := func(reason, change string) operationtest.Refusal {
		return operationtest.Refusal{Name: reason + " " + change[:min(len(change), 30)], Args: of(string(loneRole), change), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	other := func(reason, role string) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(role, `"hoist":true`), Code: mcpcore.CodePlanRefused, Reason: reason,
			Policy: func(p *mcpcore.WorkflowPolicy) {
				p.Permits["role-configuration"] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"roles": {role}}}
			}}
	}
	code := func(code mcpcore.Code, change string) operationtest.Refusal {
		return operationtest.Refusal{Name: change, Args: of(string(loneRole), change), Code: code}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "role-configuration", Plan: "plan_role_configuration", Execute: "execute_role_configuration",
			Args:     of(string(loneRole), `"name":"canary-role","grantPermissions":["KICK_MEMBERS"],"revokePermissions":["SPEAK"],"hoist":false`),
			Sends:    []string{`PATCH /guilds/1200000000000000001/roles/1200000000000000299 {"permissions":"1152922054362660866"}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"roles": {string(loneRole)}}},
			Resource: string(loneRole), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				other("everyone", "1200000000000000001"), other("managed", string(sandbox.DemoBotRole)), other("hierarchy", string(sandbox.DemoAdminRole)),
				other("role-missing", "1200000000000000298"),
				asked("administrator", `"grantPermissions":["ADMINISTRATOR"]`),
				asked("contradiction", `"grantPermissions":["SPEAK"],"revokePermissions":["SPEAK"]`),
				asked("emoji", `"unicodeEmoji":"anchor"`), asked("feature", `"unicodeEmoji":"⚓"`), asked("icon", `"icon":"data:image/gif;base64,AAAA"`),
				asked("icon", `"icon":"`+picture(63)+`"`), asked("feature", `"icon":"`+picture(64)+`"`),
				asked("feature", `"colors":{"primary":1,"secondary":2}`), asked("colors", `"colors":{"primary":1,"secondary":2,"tertiary":3}`),
				code(mcpcore.CodePermission, `"grantPermissions":["VIEW_CREATOR_MONETIZATION_ANALYTICS"]`),
				code(mcpcore.CodePermission, `"revokePermissions":["USE_EMBEDDED_ACTIVITIES"]`),
				code(mcpcore.CodeValidation, `"grantPermissions":["EVERYTHING"]`), code(mcpcore.CodeValidation, `"clearIcon":true,"unicodeEmoji":"⚓"`),
				{Name: "no change", Args: `{"guildId":"1200000000000000001","roleId":"1200000000000000299"}`, Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, sandbox.DemoPermissions&^discord.ManageRoles)
				})},
				{Name: "a lockout", Args: of(string(loneRole), `"revokePermissions":["MANAGE_ROLES"]`), Code: mcpcore.CodePlanRefused, Reason: "lockout",
					Before: world(func(d *sandbox.Discord) {
						d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ViewChannel)
						d.SetRolePermissions(sandbox.DemoGuild, loneRole, discord.ManageRoles)
						d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{sandbox.DemoBotRole, loneRole}})
					})},
			},
		},
		Route: "PATCH /guilds/{guild_id}/roles/{role_id}", ReadBack: "GET /guilds/{guild_id}/roles/{role_id}",
		Before: func(d *sandbox.Discord) {
			d.AddRole(sandbox.DemoGuild, sandbox.Role{ID: loneRole, Name: "canary-role", Position: 1, Color: 255,
				Permissions: discord.Speak | discord.UseEmbeddedActivities | 1<<60})
		},
		Change: func(d *sandbox.Discord) {
			d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.DemoNewcomer, Roles: []discord.RoleID{loneRole}})
		},
		Settle: func(d *sandbox.Discord) {
			d.SetRolePermissions(sandbox.DemoGuild, loneRole, discord.KickMembers|discord.UseEmbeddedActivities|1<<60)
		},
	}
}

func TestRoleConfiguration(t *testing.T) {
	t.Parallel()
	configuration().run(t)
}

// Only what changes is sent, and icons are one or none.
func TestRoleConfigurationSendsWhatChanges(t *testing.T) {
	t.Parallel()
	const role = `PATCH /guilds/1200000000000000001/roles/1200000000000000299 `
	for change, want := range map[string]string{
		`"name":"canary-other","mentionable":true`:                               `{"name":"canary-other","mentionable":true}`,
		`"colors":{"primary":1,"secondary":2}`:                                   `{"colors":{"primary_color":1,"secondary_color":2,"tertiary_color":null}}`,
		`"colors":{"primary":11127295,"secondary":16759788,"tertiary":16761760}`: `{"colors":{"primary_color":11127295,"secondary_color":16759788,"tertiary_color":16761760}}`,
		`"unicodeEmoji":"⚓"`:                                                     `{"icon":null,"unicode_emoji":"⚓"}`,
		`"icon":"` + picture(64) + `"`:                                           `{"icon":"` + picture(64) + `","unicode_emoji":null}`,
	} {
		s := configuration().observed(func(d *sandbox.Discord) { d.AddFeatures(sandbox.DemoGuild, "ROLE_ICONS", "ENHANCED_ROLE_COLORS") })
		s.Args = `{"guildId":"1200000000000000001","roleId":"1200000000000000299",` + change + `}`
		s.sends(t, role+want)
	}
}

func TestRoleConfigurationDrifts(t *testing.T) {
	t.Parallel()
	configuration().afterWrite(func(d *sandbox.Discord) {
		d.SetRolePermissions(sandbox.DemoGuild, loneRole, discord.Speak)
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoMutedRole, discord.Speak)
		d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.DemoNewcomer, Roles: []discord.RoleID{loneRole}})
	}).drifts(t, "permissions", "roles", "holders")
}
