package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func memberFlags(flags int) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Flags = flags }) }
}

// verifying lets the newcomer, who has two other flags, past the verification.
func verifying() scene {
	of := func(user discord.UserID) string {
		return `{"guildId":"1200000000000000001","userId":"` + string(user) + `","bypassesVerification":true,"auditReason":"canary-reason"}`
	}
	asked := func(reason string, user discord.UserID) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(user), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	const enough = discord.ManageGuild | discord.ManageRoles
	return scene{
		Subject: operationtest.Subject{
			Workflow: "member-verification-change", Plan: "plan_member_verification_change", Execute: "execute_member_verification_change",
			Args:     of(sandbox.DemoNewcomer),
			Sends:    []string{`PATCH /guilds/1200000000000000001/members/1200000000000000105 {"flags":13}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}}},
			Resource: string(sandbox.DemoNewcomer), Secrets: []string{"canary", "Lighthouse", "pebble"},
			Refusals: []operationtest.Refusal{
				asked("self", sandbox.BotID), asked("owner", sandbox.DemoOwner), asked("member-hierarchy", sandbox.DemoAdmin), asked("member-missing", sandbox.DemoReader),
				blocked("administrator", administrating),
				{Name: "a bot", Args: of(anotherBot), Code: mcpcore.CodePlanRefused, Reason: "bot", Before: world(func(d *sandbox.Discord) {
					d.AddUser(sandbox.User{ID: anotherBot, Name: "robot", Bot: true})
					d.AddMember(sandbox.DemoGuild, sandbox.Member{User: anotherBot})
				})},
				{Name: "a protected user", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sandbox.DemoNewcomer)} }},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: weaker(enough | discord.BanMembers)},
				{Name: "a bot that may only ban", Code: mcpcore.CodePermission, Before: weaker(enough | discord.KickMembers | discord.ModerateMembers)},
			},
		},
		Route: "PATCH /guilds/{guild_id}/members/{user_id}", ReadBack: "GET /guilds/{guild_id}/members/{user_id}", Skip: 8,
		Before: memberFlags(9), Change: memberFlags(1), Settle: memberFlags(13),
		Rename: nicked("another"),
	}
}

const anotherBot discord.UserID = "1200000000000000198"

func TestMemberVerificationChange(t *testing.T) {
	t.Parallel()
	verifying().run(t)
}

// Each of three sets of permissions is enough, and who is pending can be let
// past.
func TestMemberVerificationChangePermissions(t *testing.T) {
	t.Parallel()
	for _, lost := range []discord.Permissions{
		discord.ManageGuild | discord.BanMembers, discord.ManageRoles | discord.BanMembers, discord.ManageGuild | discord.ManageRoles,
	} {
		verifying().observed(func(d *sandbox.Discord) {
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, sandbox.DemoPermissions&^lost)
			newcomer(d, func(m *sandbox.Member) { m.Pending = true })
		}).sends(t, `PATCH /guilds/1200000000000000001/members/1200000000000000105 {"flags":13}`)
	}
	verifying().with("true", "false").observed(memberFlags(13)).sends(t, `PATCH /guilds/1200000000000000001/members/1200000000000000105 {"flags":9}`)
}

func TestMemberVerificationChangeReadsBack(t *testing.T) {
	t.Parallel()
	verifying().afterWrite(memberFlags(5)).drifts(t, "other_flags")
	for name, s := range map[string]scene{
		"not let past":     verifying().afterWrite(memberFlags(9)),
		"another answered": verifying().answered("PATCH /guilds/{guild_id}/members/{user_id}", string(sandbox.DemoNewcomer), string(sandbox.DemoMember)),
	} {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
}
