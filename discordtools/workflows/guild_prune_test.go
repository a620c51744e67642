package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// sleeper is a member who was not seen for long.
const sleeper discord.UserID = "1200000000000000151"

func asleep(id discord.UserID, roles ...discord.RoleID) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddUser(sandbox.User{ID: id, Name: "canary." + string(id)})
		d.AddMember(sandbox.DemoGuild, sandbox.Member{User: id, Roles: roles, Joined: at.AddDate(-1, 0, 0)})
	}
}

func pruning() scene {
	of := func(role discord.RoleID, more string) string {
		return `{"guildId":"1200000000000000001","days":30,"includeRoleIds":["` + string(role) + `"],"acknowledgeNonExactMemberSet":true` + more + `,"auditReason":"canary-reason"}`
	}
	permit := func(role discord.RoleID, most int) func(p *mcpcore.WorkflowPolicy) {
		return func(p *mcpcore.WorkflowPolicy) {
			p.Permits["guild-prune"] = mcpcore.Permit{Enabled: true, Limits: map[string]int{"maxMembers": most},
				Scopes: map[string][]string{"guilds": {"1200000000000000001"}, "includeRoles": {string(role)}}}
		}
	}
	role := func(reason string, id discord.RoleID) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(id, ""), Policy: permit(id, 9), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	const events = sandbox.DemoEventsRole
	another := world(asleep("1200000000000000152", events))
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-prune", Plan: "plan_guild_prune", Execute: "execute_guild_prune",
			Args:  of(events, `,"maxMembers":9`),
			Sends: []string{`POST /guilds/1200000000000000001/prune {"days":30,"compute_prune_count":true,"include_roles":["1200000000000000206"]}`},
			Permit: mcpcore.Permit{Enabled: true, Limits: map[string]int{"maxMembers": 9},
				Scopes: map[string][]string{"guilds": {"1200000000000000001"}, "includeRoles": {string(events)}}},
			Resource: string(sandbox.DemoGuild), Secrets: []string{"canary", "Lighthouse", "Game Night", string(sleeper)},
			Refusals: []operationtest.Refusal{
				role("everyone", discord.RoleID(sandbox.DemoGuild)), role("managed", sandbox.DemoBotRole), role("hierarchy", sandbox.DemoAdminRole),
				role("unsafe-role", sandbox.DemoModeratorRole), role("role-missing", "1200000000000000298"),
				blocked("unsafe-role", func(d *sandbox.Discord) { d.SetRolePermissions(sandbox.DemoGuild, events, 1<<60) }),
				{Name: "more than asked for", Args: of(events, `,"maxMembers":1`), Before: another, Code: mcpcore.CodePlanRefused, Reason: "too-many"},
				{Name: "more than allowed", Before: another, Policy: permit(events, 1), Code: mcpcore.CodePlanRefused, Reason: "too-many"},
				{Name: "a protected member", Code: mcpcore.CodePlanRefused, Reason: "unshielded",
					Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sleeper)} }},
				{Name: "a bot without a role", Code: mcpcore.CodePlanRefused, Reason: "unshielded", Args: `{"guildId":"1200000000000000001","days":30,"acknowledgeNonExactMemberSet":true}`,
					Before: world(func(d *sandbox.Discord) {
						d.SetRolePermissions(sandbox.DemoGuild, discord.RoleID(sandbox.DemoGuild), sandbox.DemoPermissions)
						d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{}})
					})},
				{Name: "not acknowledged", Args: `{"guildId":"1200000000000000001","days":30,"acknowledgeNonExactMemberSet":false}`, Code: mcpcore.CodeValidation},
				{Name: "too long ago", Args: `{"guildId":"1200000000000000001","days":31,"acknowledgeNonExactMemberSet":true}`, Code: mcpcore.CodeValidation},
				{Name: "six roles", Args: `{"guildId":"1200000000000000001","days":30,"acknowledgeNonExactMemberSet":true,"includeRoleIds":["1200000000000000201","1200000000000000202","1200000000000000203","1200000000000000204","1200000000000000205","1200000000000000206"]}`, Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageGuild)
				})},
			},
		},
		Route: "POST /guilds/{guild_id}/prune", ReadBack: "GET /guilds/{guild_id}/prune", Skip: 4,
		Before: asleep(sleeper, events),
		Change: asleep("1200000000000000153", events),
		Settle: func(d *sandbox.Discord) { d.AddBan(sandbox.DemoGuild, sandbox.Ban{User: sleeper}) },
	}
}

func TestGuildPrune(t *testing.T) {
	t.Parallel()
	pruning().run(t)
}

// A protected member with another role is none of those who can be pruned.
func TestGuildPruneShields(t *testing.T) {
	t.Parallel()
	s := pruning()
	s.Protected = []string{string(sandbox.DemoMember), string(sandbox.DemoReader)}
	s.sends(t, s.Sends...)
}

// The count is all that Discord tells: another one than was estimated is drift, none
// proves nothing.
func TestGuildPruneCounts(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{`{"pruned":1}`: "completed []", `{"pruned":2}`: "completed-with-drift [pruned]", `{"pruned":null}`: "outcome-uncertain []", `{}`: "outcome-uncertain []"} {
		s := pruning()
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return answering{rest, nil, func(r *discordtools.Response) *discordtools.Response { r.Body = []byte(answer); return r }}
		}
		e, _ := s.once(t)
		if got := fmt.Sprint(e.Status, " ", e.Drift); got != want {
			t.Errorf("%s ends as %s, want %s", answer, got, want)
		}
	}
	pruning().afterWrite(asleep("1200000000000000152")).drifts(t, "remaining")
}
