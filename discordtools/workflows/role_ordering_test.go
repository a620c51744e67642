package workflows_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func orderOfRoles() scene {
	of := func(role discord.RoleID, placement string, anchor discord.RoleID) string {
		return `{"guildId":"1200000000000000001","roleId":"` + string(role) + `","placement":"` + placement + `","anchorRoleId":"` + string(anchor) + `","auditReason":"canary-reason"}`
	}
	asked := func(reason string, role discord.RoleID, placement string, anchor discord.RoleID) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(role, placement, anchor), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	const muted, events, members, mods = sandbox.DemoMutedRole, sandbox.DemoEventsRole, sandbox.DemoMemberRole, sandbox.DemoModeratorRole
	return scene{
		Subject: operationtest.Subject{
			Workflow: "role-ordering", Plan: "plan_role_order", Execute: "execute_role_order",
			Args: of(mods, "below", events),
			Sends: []string{`PATCH /guilds/1200000000000000001/roles [{"id":"1200000000000000204","position":4},` +
				`{"id":"1200000000000000206","position":3},{"id":"1200000000000000203","position":2}]`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}}},
			Resource: string(mods), Secrets: []string{"canary", "Lighthouse", "Moderator"},
			Refusals: []operationtest.Refusal{
				asked("role-missing", mods, "above", "1200000000000000298"), asked("everyone", mods, "above", discord.RoleID(sandbox.DemoGuild)),
				asked("managed", members, "above", "1200000000000000297"), asked("hierarchy", mods, "above", sandbox.DemoAdminRole),
				asked("held", mods, "above", sandbox.DemoBotRole),
				{Name: "itself", Args: of(mods, "above", mods), Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageGuild)
				})},
				{Name: "a role of the bot in between", Code: mcpcore.CodePlanRefused, Reason: "held", Before: world(func(d *sandbox.Discord) {
					d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{sandbox.DemoBotRole, members}})
				})},
				blocked("tied", func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "beside", Position: 3}) }),
			},
		},
		Route: "PATCH /guilds/{guild_id}/roles", ReadBack: "GET /guilds/{guild_id}/roles", Skip: 8,
		Change: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) },
	}
}

func TestRoleOrdering(t *testing.T) {
	t.Parallel()
	s := orderOfRoles()
	s.Refusals[2].Before = world(func(d *sandbox.Discord) {
		d.AddRole(sandbox.DemoGuild, sandbox.Role{ID: "1200000000000000297", Name: "a shop", Managed: true, Position: 4})
	})
	s.run(t)
}

// A role moves to either side of its anchor, from above and from below.
func TestRoleOrderingPlaces(t *testing.T) {
	t.Parallel()
	const roles = `PATCH /guilds/1200000000000000001/roles `
	for _, row := range []struct{ role, placement, anchor, want string }{
		{"203", "above", "206", `[{"id":"1200000000000000204","position":4},{"id":"1200000000000000203","position":3}]`},
		{"205", "above", "204", `[{"id":"1200000000000000205","position":3},{"id":"1200000000000000204","position":2},{"id":"1200000000000000206","position":1}]`},
		{"205", "below", "204", `[{"id":"1200000000000000205","position":2},{"id":"1200000000000000206","position":1}]`},
	} {
		s := orderOfRoles()
		s.Args = `{"guildId":"1200000000000000001","roleId":"1200000000000000` + row.role + `","placement":"` + row.placement + `","anchorRoleId":"1200000000000000` + row.anchor + `"}`
		s.sends(t, roles+row.want)
	}
	s := orderOfRoles()
	s.Args = `{"guildId":"1200000000000000001","roleId":"1200000000000000203","placement":"above","anchorRoleId":"1200000000000000204"}`
	if e, _ := s.once(t); e.Status != "already-current" || e.Writes != 0 {
		t.Errorf("a role that is there is answered %+v", e)
	}
}

func TestRoleOrderingReadsBackAll(t *testing.T) {
	t.Parallel()
	orderOfRoles().afterWrite(func(d *sandbox.Discord) {
		d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.DemoNewcomer, Roles: []discord.RoleID{sandbox.DemoMutedRole}})
	}).drifts(t, "holders")
	e, r := orderOfRoles().afterWrite(func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) }).once(t)
	if e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain {
		t.Errorf("another order is answered %+v and kept as %+v", e, r)
	}
}

// What nobody knows of a role, or what Discord gives it for, keeps it in its place.
func TestRoleOrderingKnowsRoles(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]mcpcore.Code{
		`"guild_only":true`: mcpcore.CodePlanRefused, `"tags":{"guild_connections":null}`: mcpcore.CodePlanRefused, `"description":null`: "",
	} {
		s := orderOfRoles()
		s.REST = func(rest discordtools.REST) discordtools.REST { return saying{rest, field} }
		if e, _ := s.once(t); e.Code != want || want != "" && e.Writes != 0 {
			t.Errorf("%s is answered %+v", field, e)
		}
	}
}

// saying is a REST that says more of the role Member.
type saying struct {
	discordtools.REST
	field string
}

func (s saying) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	res, err := s.REST.Do(ctx, r)
	if err == nil && r.Method == "GET" && r.Route == "/guilds/{guild_id}/roles" {
		res.Body = bytes.Replace(res.Body, []byte(`"name":"Member"`), []byte(`"name":"Member",`+s.field), 1)
	}
	return res, err
}
