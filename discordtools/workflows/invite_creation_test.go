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

func invitingTo(c discord.ChannelID, more string) string {
	return fmt.Sprintf(`{"channelId":"%s","maxAge":3600,"maxUses":2,"auditReason":"canary-reason",%s}`, c, more)
}

const toBearer = `"acceptance":"bearer","acknowledgeBearerCapability":true`

// inviting invites whoever has the invite.
func inviting() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "invite-creation", Plan: "plan_invite_creation", Execute: "execute_invite_creation",
			Args:    invitingTo(sandbox.DemoGeneral, toBearer),
			Sends:   []string{`POST /channels/1200000000000000313/invites {"max_age":3600,"max_uses":2,"temporary":false,"unique":true}`},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Secrets: []string{"canary", "Lighthouse", "general", "discord.gg"},
		},
		Route: "POST /channels/{channel_id}/invites", ReadBack: "GET /invites/{code}",
		Change: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) },
	}
}

// invitingSome invites two users, who get a role.
func invitingSome() scene {
	s := inviting()
	s.Args = invitingTo(sandbox.DemoGeneral, `"acceptance":"exact-users","userIds":["1200000000000000106","1200000000000000104"],"roleIds":["`+string(loneRole)+`"],"acknowledgePersistentGrants":true`)
	s.Sends = []string{`POST /channels/1200000000000000313/invites payload_json={"max_age":3600,"max_uses":2,"temporary":false,"unique":true,"role_ids":["1200000000000000299"]} target_users_file=text/csv of 40 bytes`}
	s.Permit.Scopes = map[string][]string{"channels": {string(sandbox.DemoGeneral)}, "roles": {string(loneRole)}}
	s.Before = func(d *sandbox.Discord) {
		d.AddRole(sandbox.DemoGuild, sandbox.Role{ID: loneRole, Name: "canary-role", Position: 1, Permissions: discord.AddReactions})
	}
	return s
}

func TestInviteCreation(t *testing.T) {
	t.Parallel()
	s := inviting()
	invalid := func(name, from, to string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodeValidation, Args: strings.Replace(s.Args, from, to, 1)}
	}
	elsewhere := func(name string, in discord.ChannelID) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: "no-invites", Args: invitingTo(in, toBearer), Policy: permits(s.Workflow, "channels", string(in))}
	}
	users := func(n int) string {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = fmt.Sprintf(`"12000000000000%05d"`, i)
		}
		return `"acceptance":"exact-users","userIds":[` + strings.Join(ids, ",") + `]`
	}
	s.Refusals = []operationtest.Refusal{
		{Name: "a channel that cannot be seen", Code: mcpcore.CodePermission, Before: without(discord.ViewChannel)},
		{Name: "a bot that may not invite", Code: mcpcore.CodePermission, Before: without(discord.CreateInstantInvite)},
		elsewhere("a thread", sandbox.DemoThread),
		elsewhere("a category", sandbox.DemoInfo),
		invalid("an invite without end", `"maxAge":3600`, `"maxAge":0`),
		invalid("less than a minute", `"maxAge":3600`, `"maxAge":59`),
		invalid("more than a week", `"maxAge":3600`, `"maxAge":604801`),
		invalid("any use", `"maxUses":2`, `"maxUses":0`),
		invalid("101 uses", `"maxUses":2`, `"maxUses":101`),
		invalid("nothing acknowledged", `,"acknowledgeBearerCapability":true`, ``),
		invalid("false acknowledged", `"acknowledgeBearerCapability":true`, `"acknowledgeBearerCapability":false`),
		invalid("users for a bearer", toBearer, toBearer+`,"userIds":["1200000000000000104"]`),
		invalid("no users for exact ones", toBearer, `"acceptance":"exact-users"`),
		invalid("101 users", toBearer, users(101)),
		invalid("roles that are not acknowledged", toBearer, toBearer+`,"roleIds":["`+string(loneRole)+`"]`),
		invalid("an acknowledgement of nothing", toBearer, toBearer+`,"acknowledgePersistentGrants":true`),
	}
	s.run(t)
}

func TestInviteCreationForSome(t *testing.T) {
	t.Parallel()
	s := invitingSome()
	role := func(name, reason string, id discord.RoleID) operationtest.Refusal {
		return operationtest.Refusal{
			Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Args: strings.Replace(s.Args, string(loneRole), string(id), 1),
			Policy: func(p *mcpcore.WorkflowPolicy) {
				p.Permits[s.Workflow] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}, "roles": {string(id)}}}
			},
		}
	}
	s.Refusals = []operationtest.Refusal{
		{Name: "exact users without managing the guild", Code: mcpcore.CodePermission, Before: allow(sandbox.DemoPermissions &^ discord.ManageGuild)},
		{Name: "roles without managing them", Code: mcpcore.CodePermission, Before: allow(sandbox.DemoPermissions &^ discord.ManageRoles)},
		{Name: "a role that the policy does not name", Code: mcpcore.CodeWorkflowScope, Args: strings.Replace(s.Args, string(loneRole), string(sandbox.DemoEventsRole), 1)},
		role("no such role", "role-missing", "1200000000000000298"),
		role("everyone", "everyone", discord.RoleID(sandbox.DemoGuild)),
		role("a managed role", "managed", sandbox.DemoBotRole),
		role("a role above", "hierarchy", sandbox.DemoAdminRole),
		{Name: "a role that gives what the bot lacks", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
			d.SetRolePermissions(sandbox.DemoGuild, loneRole, discord.ViewGuildInsights)
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, sandbox.DemoPermissions&^discord.ViewGuildInsights)
		})},
		{Name: "a role of administrators", Code: mcpcore.CodePlanRefused, Reason: "administrator", Before: world(func(d *sandbox.Discord) {
			d.SetRolePermissions(sandbox.DemoGuild, loneRole, discord.Administrator)
		})},
	}
	s.run(t)
}

// The code is told nowhere; the reference that execute gives is that of the
// list.
func TestInviteIsToldByItsReference(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s := invitingSome().observed(func(made *sandbox.Discord) { d = made })
	c := s.client(t)
	told := ""
	c.keyed(s.Plan, s.Args)
	told += c.raw
	c.want(s.Execute, s.Args, "completed")
	told += c.raw
	reference := c.field("resourceId")
	c.call("list_guild_invites", `{"guildId":"1200000000000000001"}`)
	told += c.raw
	if !strings.HasPrefix(reference, "invite_") || !strings.Contains(c.raw, `"`+reference+`"`) {
		t.Errorf("execute gives %q, the list tells %s", reference, c.raw)
	}
	code := ""
	for _, r := range d.Requests() {
		if last, is := strings.CutPrefix(r.Path, "/invites/"); is {
			code, _, _ = strings.Cut(last, "/")
		}
	}
	if code == "" || strings.Contains(told, code) {
		t.Errorf("the code %q is told: %s", code, told)
	}
}

func TestInviteThatIsNotAsMade(t *testing.T) {
	t.Parallel()
	const job, users = "GET /invites/{code}/target-users/job-status", "GET /invites/{code}/target-users"
	open := func(s scene, name string) {
		t.Helper()
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	some := invitingSome()
	for name, row := range map[string][2]string{
		"another guild": {`"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`}, "another channel": {`"id":"1200000000000000313"`, `"id":"1200000000000000314"`},
		"no end": {`"expires_at":"2026`, `"expired_at":"2026`}, "another role": {`"id":"1200000000000000299"`, `"id":"1200000000000000298"`},
		"a target": {`"type":0,"code"`, `"target_type":2,"code"`},
	} {
		open(some.answered(some.Route, row[0], row[1]), "an answer with "+name)
		open(some.answered(some.ReadBack, row[0], row[1]), "read back with "+name)
	}
	for name, row := range map[string][2]string{
		"another age": {`"max_age":3600`, `"max_age":0`}, "other uses": {`"max_uses":2`, `"max_uses":0`}, "a guest": {`"temporary":false`, `"temporary":true`},
		"one that was used": {`"uses":0`, `"uses":1`}, "another's": {`"id":"1100000000000000001"`, `"id":"1100000000000000002"`}, "none": {`"code"`, `"cord"`},
	} {
		open(some.answered(some.Route, row[0], row[1]), "an answer with "+name)
	}
	open(some.answered(some.ReadBack, `"code":"`, `"code":"x`), "another invite")
	open(some.answered(job, `"status":2`, `"status":3`), "a file that could not be read")
	open(some.answered(job, `"total_users":2`, `"total_users":3`), "another number of users")
	open(some.answered(users, "1200000000000000104\n", ""), "a user less")
	open(some.answered(users, "1200000000000000104", "1200000000000000105"), "another user")
	open(some.answered(users, "1200000000000000104", "*"), "no user")
}
