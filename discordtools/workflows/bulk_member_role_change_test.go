package workflows_test

import (
	"slices"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func bulkMemberRole() scene {
	of := func(user discord.UserID) string {
		return `{"guildId":"1200000000000000001","userIds":["` + string(user) + `","1200000000000000103"],"roleId":"1200000000000000206","action":"add","auditReason":"canary-reason"}`
	}
	member := func(reason string, user discord.UserID) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(user), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "bulk-member-role-change", Plan: "plan_bulk_member_role_change", Execute: "execute_bulk_member_role_change",
			Args: of(sandbox.DemoNewcomer),
			Sends: []string{
				`PUT /guilds/1200000000000000001/members/1200000000000000103/roles/1200000000000000206`,
				`PUT /guilds/1200000000000000001/members/1200000000000000105/roles/1200000000000000206`,
			},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}, "roles": {string(sandbox.DemoEventsRole)}}},
			Children: true, Secrets: []string{"canary", "Lighthouse", "pebble", "Game Night"},
			Refusals: []operationtest.Refusal{
				member("self", sandbox.BotID), member("owner", sandbox.DemoOwner), member("member-hierarchy", sandbox.DemoAdmin), member("member-missing", sandbox.DemoReader),
				blocked("pending", func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Pending = true }) }),
				blocked("timed-out", timedOut),
				blocked("administrator", func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoEventsRole, discord.Administrator)
				}),
				{Name: "a protected user", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sandbox.DemoModerator)} }},
				{Name: "what the bot lacks", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetOverwrite(sandbox.DemoStaff, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoEventsRole), Allow: discord.ViewChannel})
				})},
				{Name: "one member twice", Args: of(sandbox.DemoModerator), Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageGuild)
				})},
			},
		},
		Route: "PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}", ReadBack: "GET /guilds/{guild_id}/members/{user_id}", Skip: 12,
		Change: holding(sandbox.DemoMutedRole),
		Rename: func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Nick = "another" }) },
		Settle: func(d *sandbox.Discord) {
			holding(sandbox.DemoEventsRole)(d)
			moderator(d)
		},
	}
}

// moderator gives the moderator the role.
func moderator(d *sandbox.Discord) {
	m, _ := d.Member(sandbox.DemoGuild, sandbox.DemoModerator)
	m.Roles = append(m.Roles, sandbox.DemoEventsRole)
	d.AddMember(sandbox.DemoGuild, m)
}

func TestBulkMemberRoleChange(t *testing.T) {
	t.Parallel()
	bulkMemberRole().run(t)
}

// The writes stop at the first that is not done as planned, and the key with them.
func TestBulkMemberRoleChangeInPart(t *testing.T) {
	t.Parallel()
	second := func(f sandbox.Fault) func(d *sandbox.Discord) {
		return func(d *sandbox.Discord) {
			f.Method, f.Route, f.Skip = "PUT", "/guilds/{guild_id}/members/{user_id}/roles/{role_id}", 1
			d.Inject(f)
		}
	}
	first := func(change func(m *sandbox.Member)) func(d *sandbox.Discord) {
		return func(d *sandbox.Discord) {
			m, _ := d.Member(sandbox.DemoGuild, sandbox.DemoModerator)
			change(&m)
			d.AddMember(sandbox.DemoGuild, m)
		}
	}
	third := bulkMemberRole()
	third.Args = `{"guildId":"1200000000000000001","userIds":["1200000000000000103","1200000000000000105","1200000000000000106"],"roleId":"1200000000000000206","action":"add"}`
	other := func(m *sandbox.Member) { m.Roles = append(m.Roles, sandbox.DemoMutedRole) }
	for name, row := range map[string]struct {
		s      scene
		status string
		writes int
		kept   mcpcore.Status
		drift  []string
	}{
		"the second is refused":         {third.observed(second(sandbox.Fault{Status: 403})), "failed", 2, mcpcore.StatusFailed, nil},
		"the second is open":            {third.observed(second(sandbox.Fault{Status: 500})), "outcome-uncertain", 2, mcpcore.StatusUncertain, nil},
		"the first has changed besides": {third.afterWrite(first(other)), "failed", 1, mcpcore.StatusFailed, []string{"roles"}},
		"the first has lost it again":   {third.afterWrite(first(func(m *sandbox.Member) { m.Roles = nil })), "outcome-uncertain", 1, mcpcore.StatusUncertain, nil},
		"the last has changed besides": {bulkMemberRole().afterWrite(func(d *sandbox.Discord) {
			if m, _ := d.Member(sandbox.DemoGuild, sandbox.DemoNewcomer); len(m.Roles) == 1 {
				holding(sandbox.DemoEventsRole, sandbox.DemoMutedRole)(d)
			}
		}), "completed-with-drift", 2, mcpcore.StatusCompleted, []string{"roles"}},
	} {
		e, r := row.s.once(t)
		if e.Status != row.status || e.Writes != row.writes || r.Status != row.kept || !slices.Equal(e.Drift, row.drift) {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
	bulkMemberRole().observed(moderator).sends(t, bulkMemberRole().Sends[1])
	bulkMemberRole().observed(moderator).with(`"1200000000000000105"`, `"1200000000000000104"`, `"add"`, `"remove"`).sends(t,
		`DELETE /guilds/1200000000000000001/members/1200000000000000103/roles/1200000000000000206`,
		`DELETE /guilds/1200000000000000001/members/1200000000000000104/roles/1200000000000000206`)
}
