package workflows_test

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// Roles that nothing names, one in each demo guild: a deletion claims all roles of
// its guild.
const loneRole, clubRole discord.RoleID = "1200000000000000299", "1200000000000000297"

// world is the demo world of a refusal.
func world(f func(d *sandbox.Discord)) func(*operationtest.World) {
	return func(w *operationtest.World) { f(w.Any.(*sandbox.Discord)) }
}

// openTo makes a command of the bot that is open to a role.
func openTo(d *sandbox.Discord, role discord.RoleID) {
	id := d.AddCommand(sandbox.Command{Name: "look", Description: "Look"})
	d.SetCommandGrants(sandbox.DemoGuild, id, sandbox.CommandGrant{ID: discord.GranteeID(role), Type: 1, Allow: true})
}

// loneDeletion deletes a role that nothing names.
func loneDeletion() scene {
	of := func(role string) string {
		return `{"guildId":"1200000000000000001","roleId":"` + role + `","acknowledgeIrreversible":true,"acknowledgeNoRecoveryArtifact":true,"auditReason":"canary-reason"}`
	}
	permit := func(role string) func(*mcpcore.WorkflowPolicy) {
		return func(p *mcpcore.WorkflowPolicy) {
			p.Permits["role-deletion"] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"roles": {role}}}
		}
	}
	blocked := func(reason string, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Before: world(before), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	other := func(reason, role string) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(role), Policy: permit(role), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "role-deletion", Plan: "plan_role_deletion", Execute: "execute_role_deletion",
			Args: of(string(loneRole)), Sends: []string{"DELETE /guilds/1200000000000000001/roles/1200000000000000299"},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"roles": {string(loneRole), string(clubRole)}}},
			Resource: string(loneRole), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				other("everyone", "1200000000000000001"), other("managed", string(sandbox.DemoBotRole)), other("hierarchy", string(sandbox.DemoAdminRole)),
				other("role-missing", "1200000000000000298"),
				blocked("holders", func(d *sandbox.Discord) {
					d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.DemoReader, Roles: []discord.RoleID{loneRole}})
				}),
				blocked("overwrites", func(d *sandbox.Discord) {
					d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(loneRole), Allow: discord.ViewChannel})
				}),
				blocked("emojis", func(d *sandbox.Discord) {
					d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{Name: "keeper", Roles: []discord.RoleID{loneRole}})
				}),
				blocked("invites", func(d *sandbox.Discord) {
					d.AddInvite(sandbox.Invite{Code: "canary", Channel: sandbox.DemoGeneral, Roles: []discord.RoleID{loneRole}})
				}),
				blocked("commands", func(d *sandbox.Discord) { openTo(d, loneRole) }),
				blocked("automod", func(d *sandbox.Discord) {
					d.AddAutoModRule(sandbox.DemoGuild, sandbox.AutoModRule{Name: "Words", Keywords: []string{"x"}, ExemptRoles: []discord.RoleID{loneRole}})
				}),
				blocked("onboarding", func(d *sandbox.Discord) {
					d.SetOnboarding(sandbox.DemoGuild, sandbox.Onboarding{Prompts: []sandbox.OnboardingPrompt{{
						Title: "Who are you?", Options: []sandbox.OnboardingOption{{Title: "A keeper", Roles: []discord.RoleID{loneRole}}},
					}}})
				}),
				{Name: "not acknowledged", Code: mcpcore.CodeValidation,
					Args: `{"guildId":"1200000000000000001","roleId":"1200000000000000299","acknowledgeIrreversible":true,"acknowledgeNoRecoveryArtifact":false}`},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageRoles)
				})},
			},
		},
		Route: "DELETE /guilds/{guild_id}/roles/{role_id}", ReadBack: "GET /guilds/{guild_id}/roles", Skip: 4,
		Race: strings.Replace(of(string(clubRole)), string(sandbox.DemoGuild), string(sandbox.DemoClub), 1),
		Before: func(d *sandbox.Discord) {
			d.AddRole(sandbox.DemoGuild, sandbox.Role{ID: loneRole, Name: "canary-role", Position: 1})
			d.AddRole(sandbox.DemoClub, sandbox.Role{ID: clubRole, Name: "canary-role", Position: 1})
			keeper := d.AddRole(sandbox.DemoClub, sandbox.Role{Name: "keeper", Position: 2, Permissions: discord.ManageRoles | discord.ManageGuild})
			d.AddMember(sandbox.DemoClub, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{keeper}})
		},
		Change: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) },
	}
}

func TestRoleDeletion(t *testing.T) {
	t.Parallel()
	loneDeletion().run(t)
}

// Whatever else is there has to be as it was: what is not, the read-back names.
func TestRoleDeletionDrifts(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(d *sandbox.Discord){
		"roles": func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) },
		"channels": func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoGeneral, func(c *sandbox.Channel) { c.Topic = "another" })
		},
		"invites": func(d *sandbox.Discord) { d.AddInvite(sandbox.Invite{Code: "another", Channel: sandbox.DemoGeneral}) },
		"emojis":  func(d *sandbox.Discord) { d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{Name: "another"}) },
		"onboarding": func(d *sandbox.Discord) {
			d.SetOnboarding(sandbox.DemoGuild, sandbox.Onboarding{Prompts: []sandbox.OnboardingPrompt{{Title: "Another?"}}})
		},
		"automod": func(d *sandbox.Discord) {
			d.AddAutoModRule(sandbox.DemoGuild, sandbox.AutoModRule{Name: "Another", Keywords: []string{"x"}})
		},
		"integrations": func(d *sandbox.Discord) { d.AddIntegration(sandbox.DemoGuild, sandbox.Integration{Name: "another"}) },
		"application-commands": func(d *sandbox.Discord) {
			openTo(d, sandbox.DemoEventsRole)
		},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			loneDeletion().afterWrite(change).drifts(t, field)
		})
	}
	loneDeletion().afterWrite(func(*sandbox.Discord) {}).sends(t, loneDeletion().Sends...)
}
