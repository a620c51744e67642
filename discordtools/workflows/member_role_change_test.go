package workflows_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// newcomer is the member without roles, as changed.
func newcomer(d *sandbox.Discord, change func(m *sandbox.Member)) {
	m, _ := d.Member(sandbox.DemoGuild, sandbox.DemoNewcomer)
	change(&m)
	d.AddMember(sandbox.DemoGuild, m)
}

func holding(roles ...discord.RoleID) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Roles = roles }) }
}

func memberRole() scene {
	of := func(user discord.UserID, role discord.RoleID) string {
		return `{"guildId":"1200000000000000001","userId":"` + string(user) + `","roleId":"` + string(role) + `","action":"add","auditReason":"canary-reason"}`
	}
	permit := func(role discord.RoleID) mcpcore.Permit {
		return mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}, "roles": {string(role)}}}
	}
	member := func(reason string, user discord.UserID) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(user, sandbox.DemoEventsRole), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	role := func(code mcpcore.Code, reason string, id discord.RoleID) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(sandbox.DemoNewcomer, id), Code: code, Reason: reason,
			Policy: func(p *mcpcore.WorkflowPolicy) { p.Permits["member-role-change"] = permit(id) }}
	}
	giving := func(reason string, p discord.Permissions) operationtest.Refusal {
		return blocked(reason, func(d *sandbox.Discord) { d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoEventsRole, p) })
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "member-role-change", Plan: "plan_member_role_change", Execute: "execute_member_role_change",
			Args:   of(sandbox.DemoNewcomer, sandbox.DemoEventsRole),
			Sends:  []string{`PUT /guilds/1200000000000000001/members/1200000000000000105/roles/1200000000000000206`},
			Permit: permit(sandbox.DemoEventsRole), Resource: string(sandbox.DemoNewcomer), Secrets: []string{"canary", "Lighthouse", "pebble", "Game Night"},
			Refusals: []operationtest.Refusal{
				member("self", sandbox.BotID), member("owner", sandbox.DemoOwner), member("member-hierarchy", sandbox.DemoAdmin), member("member-missing", sandbox.DemoReader),
				blocked("pending", func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Pending = true }) }),
				blocked("timed-out", func(d *sandbox.Discord) {
					newcomer(d, func(m *sandbox.Member) { m.TimeoutUntil = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) })
				}),
				{Name: "a protected user", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sandbox.DemoNewcomer)} }},
				role(mcpcore.CodePlanRefused, "everyone", discord.RoleID(sandbox.DemoGuild)), role(mcpcore.CodePlanRefused, "managed", sandbox.DemoBotRole),
				role(mcpcore.CodePlanRefused, "hierarchy", sandbox.DemoAdminRole), role(mcpcore.CodePlanRefused, "role-missing", "1200000000000000298"),
				giving("administrator", discord.Administrator), giving("unknown-permissions", 1<<60),
				{Name: "what the bot lacks", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoEventsRole, discord.ViewCreatorMonetizationAnalytics)
				})},
				{Name: "a channel that the bot cannot see", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetOverwrite(sandbox.DemoStaff, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoEventsRole), Allow: discord.ViewChannel})
				})},
				blocked("unknown-permissions", func(d *sandbox.Discord) {
					d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoEventsRole), Allow: 1 << 60})
				}),
				blocked("too-many-channels", func(d *sandbox.Discord) {
					for i := range 51 {
						d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: fmt.Sprint("quiet-", i),
							Overwrites: []discord.Overwrite{{ID: discord.OverwriteID(sandbox.DemoEventsRole), Deny: discord.SendMessages}}})
					}
				}),
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageGuild)
				})},
			},
		},
		Route: "PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}", ReadBack: "GET /guilds/{guild_id}/members/{user_id}", Skip: 8,
		Change: holding(sandbox.DemoMutedRole),
		Rename: func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Nick = "another" }) },
		Settle: holding(sandbox.DemoEventsRole),
	}
}

func TestMemberRoleChange(t *testing.T) {
	t.Parallel()
	memberRole().run(t)
}

func TestMemberRoleChangeTakesARole(t *testing.T) {
	t.Parallel()
	memberRole().observed(holding(sandbox.DemoEventsRole, sandbox.DemoMutedRole)).with(`"add"`, `"remove"`).
		sends(t, `DELETE /guilds/1200000000000000001/members/1200000000000000105/roles/1200000000000000206`)
}

func TestMemberRoleChangeDrifts(t *testing.T) {
	t.Parallel()
	memberRole().afterWrite(holding(sandbox.DemoEventsRole, sandbox.DemoMutedRole)).drifts(t, "roles")
	if e, r := memberRole().afterWrite(holding()).once(t); e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain {
		t.Errorf("a role that is not there is answered %+v and kept as %+v", e, r)
	}
}

// The plan says what the member gains and loses, and where.
func TestMemberRoleChangeImpact(t *testing.T) {
	t.Parallel()
	s := memberRole().with(string(sandbox.DemoEventsRole), string(sandbox.DemoMutedRole)).observed(func(d *sandbox.Discord) {
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoMutedRole, discord.UseSoundboard)
	})
	s.Execute, s.Permit.Scopes["roles"] = s.Plan, []string{string(sandbox.DemoMutedRole)}
	e, _ := s.once(t)
	for _, want := range []string{
		`"gained":["USE_SOUNDBOARD"],"lost":[]`,
		`{"gained":["USE_SOUNDBOARD"],"id":"1200000000000000313","lost":["ADD_REACTIONS","SEND_MESSAGES",`, `{"gained":["USE_SOUNDBOARD"],"id":"1200000000000000316","lost":[]}`,
	} {
		if !strings.Contains(string(e.State), want) {
			t.Errorf("%s is not in %s", want, e.State)
		}
	}
}

// A channel whose overwrites Discord does not tell could give anything.
func TestMemberRoleChangeSeesAllOverwrites(t *testing.T) {
	t.Parallel()
	s := memberRole()
	s.REST = func(rest discordtools.REST) discordtools.REST { return hiding{rest} }
	if e, _ := s.once(t); e.Code != mcpcore.CodeAccessUnknown || e.Writes != 0 {
		t.Errorf("it answers %+v", e)
	}
}

// hiding is a REST that does not tell the overwrites of channels.
type hiding struct{ discordtools.REST }

func (h hiding) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	res, err := h.REST.Do(ctx, r)
	if err == nil && r.Route == "/guilds/{guild_id}/channels" {
		res.Body = bytes.ReplaceAll(res.Body, []byte(`"permission_overwrites"`), []byte(`"hidden"`))
	}
	return res, err
}
