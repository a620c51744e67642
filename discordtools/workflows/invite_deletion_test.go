package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// revoking revokes the first of two invites, by the reference that the list gives
// it.
func revoking(t *testing.T) scene {
	t.Helper()
	s := scene{
		Subject: operationtest.Subject{
			Workflow: "invite-deletion", Plan: "plan_invite_deletion", Execute: "execute_invite_deletion",
			Sends:   []string{"DELETE /invites/canaryinv"},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoGuild)}}},
			Secrets: []string{"canary", "Lighthouse"},
		},
		Route: "DELETE /invites/{code}", ReadBack: "GET /guilds/{guild_id}/invites", Skip: 4,
		Before: func(d *sandbox.Discord) {
			d.AddInvite(sandbox.Invite{Code: "canaryinv", Channel: sandbox.DemoGeneral, Inviter: sandbox.DemoMember, Uses: 3, Roles: []discord.RoleID{sandbox.DemoEventsRole}})
			d.AddInvite(sandbox.Invite{Code: "canaryother", Channel: sandbox.DemoShowcase, Inviter: sandbox.DemoModerator, MaxAge: 3600})
		},
		Change: func(d *sandbox.Discord) { d.AddInvite(sandbox.Invite{Code: "another", Channel: sandbox.DemoGeneral}) },
		Rename: func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoGeneral, func(c *sandbox.Channel) { c.Name = "chat" })
		},
	}
	list := s.reads(t, "list_guild_invites", `{"guildId":"1200000000000000001"}`)
	raw, err := json.Marshal(list["invites"])
	if err != nil || strings.Contains(string(raw), "canary") {
		t.Fatalf("the list tells %s, %v", raw, err)
	}
	var told []struct {
		Invite  string            `json:"invite"`
		Channel discord.ChannelID `json:"channelId"`
		Uses    int               `json:"uses"`
		Roles   []discord.RoleID  `json:"roleIds"`
	}
	if err := json.Unmarshal(raw, &told); err != nil || len(told) != 2 || told[0].Channel != sandbox.DemoGeneral || told[0].Uses != 3 || len(told[0].Roles) != 1 {
		t.Fatalf("the list tells %s, %v", raw, err)
	}
	s.Args = `{"guildId":"1200000000000000001","invite":"` + told[0].Invite + `","auditReason":"canary-reason"}`
	s.Resource = told[0].Invite
	return s
}

func TestInviteDeletion(t *testing.T) {
	t.Parallel()
	s := revoking(t)
	s.Refusals = []operationtest.Refusal{
		{Name: "a reference of nothing", Code: mcpcore.CodePlanRefused, Reason: "invite-missing",
			Args: `{"guildId":"1200000000000000001","invite":"invite_00000000000000000000000000000000"}`},
		{Name: "a code", Code: mcpcore.CodeValidation, Args: `{"guildId":"1200000000000000001","invite":"canaryinv"}`},
		{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: weaker(discord.ManageGuild)},
	}
	s.run(t)
}

func TestInviteThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	s := revoking(t)
	open := func(s scene, name string) {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	open(s.answered(s.Route, `"code":"canaryinv"`, `"code":"canaryother"`), "another invite")
	open(s.answered(s.Route, `"id":"1200000000000000313"`, `"id":"1200000000000000314"`), "another channel")
	open(s.after(s.ReadBack, `"code":"canaryother"`, `"code":"canaryinv"`), "still there")
	s.after(s.ReadBack, `"max_age":3600`, `"max_age":60`).ends(t, "another that changed", "", "completed-with-drift", mcpcore.StatusCompleted)
	s.answered(s.ReadBack, `"channel":{"id":"1200000000000000313"`, `"channel":{"id":"1200000000000000399"`).ends(t, "a channel that cannot be seen", mcpcore.CodeAccessUnknown, "", "")
	s.answered(s.ReadBack, `"id":"1200000000000000206"`, `"id":"1200000000000000299"`).ends(t, "a role that is not there", mcpcore.CodeAccessUnknown, "", "")
	s.answered(s.ReadBack, `"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`).ends(t, "an invite of another guild", mcpcore.CodeAccessUnknown, "", "")
}

// A reference is of use where the same state key is, and nowhere else.
func TestInviteReferencesAreKeyed(t *testing.T) {
	t.Parallel()
	s := revoking(t)
	for name, row := range map[string]struct {
		key   []byte
		known bool
	}{
		"the same key": {secret, true},
		"another key":  {[]byte(strings.Repeat("j", 32)), false},
		"a random key": {nil, false},
	} {
		c := s.keyedClient(t, row.key)
		if c.keyed(s.Plan, s.Args); (c.field("status") == "planned") != row.known {
			t.Errorf("%s: it answers %s", name, c.raw)
		}
	}
}
