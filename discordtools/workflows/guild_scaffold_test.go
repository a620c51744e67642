package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// harbour is a role and a channel in a category that is there.
func harbour() scene {
	refused := func(reason string, pairs ...string) operationtest.Refusal {
		args := strings.NewReplacer(pairs...).Replace(harbourArgs)
		return operationtest.Refusal{Name: reason + " " + pairs[1], Args: args, Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-scaffold", Plan: "plan_guild_scaffold", Execute: "execute_guild_scaffold", Verify: "verify_guild_scaffold",
			Args: harbourArgs,
			Sends: []string{
				`POST /guilds/1200000000000000001/roles {"name":"canary-crew","permissions":"8192","colors":{"primary_color":255,"secondary_color":null,"tertiary_color":null},"hoist":true,"mentionable":false}`,
				`POST /guilds/1200000000000000001/channels {"name":"canary-harbour","type":0,"parent_id":"1200000000000000302","topic":"canary-topic"}`,
			},
			Children: true,
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}}},
			Secrets:  []string{"canary", "Lighthouse", "crew", "harbour"},
			Refusals: []operationtest.Refusal{
				refused("twice", `"symbol":"harbour"`, `"symbol":"place"`),
				refused("twice", `"channels":[`, `"channels":[{"symbol":"p","kind":"category","name":"COMMUNITY"},`),
				refused("twice", `"roles":[`, `"roles":[{"symbol":"crew","name":"y"},`),
				refused("twice", `"roles":[`, `"roles":[{"symbol":"z","name":"Canary Crew"},`),
				refused("parent", `"parent":"place"`, `"parent":"elsewhere"`),
				refused("parent", `"parent":"place",`, ``),
				refused("category", `"kind":"category"`, `"kind":"category","topic":"x"`),
				refused("administrator", `MANAGE_MESSAGES`, `ADMINISTRATOR`),
				{Name: "too many steps", Args: scaffoldOf(10, 16), Code: mcpcore.CodePlanRefused, Reason: "too-many-steps"},
				{Name: "nothing", Args: `{"guildId":"1200000000000000001"}`, Code: mcpcore.CodeValidation},
				{Name: "what the bot lacks", Args: strings.Replace(harbourArgs, "MANAGE_MESSAGES", "VIEW_CREATOR_MONETIZATION_ANALYTICS", 1), Code: mcpcore.CodePermission},
				{Name: "a bot that makes no roles", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageMessages|discord.ManageChannels|discord.ViewChannel)
				})},
				{Name: "a bot that makes no channels", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageMessages|discord.ManageRoles)
				})},
				{Name: "a category that the bot may not change", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetOverwrite(sandbox.DemoCommunity, discord.Overwrite{ID: discord.OverwriteID(sandbox.BotID), Type: 1, Deny: discord.ManageChannels})
				})},
				blocked("ambiguous", func(d *sandbox.Discord) {
					for _, name := range []string{"canary_harbour", "Canary-Harbour"} {
						d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: name, Parent: sandbox.DemoCommunity})
					}
				}),
				blocked("name-taken", func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "Canary Crew", Color: 3}) }),
				blocked("parent-full", func(d *sandbox.Discord) {
					for i := range 47 {
						d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: fmt.Sprint("filler-", i), Parent: sandbox.DemoCommunity})
					}
				}),
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
			d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "Canary_Crew", Color: 255, Hoist: true, Permissions: discord.ManageMessages})
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: "canary-harbour", Parent: sandbox.DemoCommunity})
		},
	}
}

const harbourArgs = `{"guildId":"1200000000000000001",
	"roles":[{"symbol":"crew","name":"canary-crew","permissions":["MANAGE_MESSAGES"],"color":255,"hoist":true}],
	"channels":[{"symbol":"harbour","kind":"text","name":"canary-harbour","parent":"place","topic":"canary-topic"},{"symbol":"place","kind":"category","name":"community"}],
	"auditReason":"canary-reason"}`

// scaffoldOf is a request for so many roles, and channels in a new category.
func scaffoldOf(roles, channels int) string {
	var r, c []string
	for i := range roles {
		r = append(r, fmt.Sprintf(`{"symbol":"r%d","name":"role %d"}`, i, i))
	}
	for i := range channels - 1 {
		c = append(c, fmt.Sprintf(`{"symbol":"c%d","kind":"text","name":"channel-%d","parent":"new"}`, i, i))
	}
	c = append(c, `{"symbol":"new","kind":"category","name":"New"}`)
	return `{"guildId":"1200000000000000001","roles":[` + strings.Join(r, ",") + `],"channels":[` + strings.Join(c, ",") + `]}`
}

func TestGuildScaffold(t *testing.T) {
	t.Parallel()
	harbour().run(t)
}

// A new category ends what one plan makes, and so do ten steps; the same call goes
// on with the rest, in the parents that it made.
func TestGuildScaffoldGoesOn(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		roles, channels int
		writes          []int // after each call
	}{
		{1, 3, []int{2, 4}},
		{10, 2, []int{10, 11, 12}},
		{8, 12, []int{9, 19, 20}},
	} {
		s := harbour()
		s.Args = scaffoldOf(row.roles, row.channels)
		w, ops := s.world(t), durable{ledger.NewOperations(nil)}
		for i, want := range row.writes {
			status := "paused"
			if i == len(row.writes)-1 {
				status = "completed"
			}
			if e := s.execute(t, w, ops, firstKey); e.Status != status || e.Writes != want {
				t.Errorf("%d roles and %d channels, call %d: it answers %+v, want %s with %d", row.roles, row.channels, i, e, status, want)
			}
		}
		d := w.Any.(*sandbox.Discord)
		var category discord.ChannelID
		for _, c := range d.Channels(sandbox.DemoGuild) {
			if c.Name == "New" {
				category = c.ID
			}
		}
		last := w.Writes()[len(w.Writes())-1]
		if category == "" || !strings.Contains(last, `"parent_id":"`+string(category)+`"`) {
			t.Errorf("the last of them is %s", last)
		}
	}
}

// What an earlier call made has to be as it was: else the key goes on with nothing,
// and nothing is made again.
func TestGuildScaffoldStandsByWhatItMade(t *testing.T) {
	t.Parallel()
	made := func(d *sandbox.Discord) (r sandbox.Role, c sandbox.Channel) {
		for _, r = range d.Roles(sandbox.DemoGuild) {
			if r.Name == "role 0" {
				break
			}
		}
		for _, c = range d.Channels(sandbox.DemoGuild) {
			if c.Name == "New" {
				break
			}
		}
		return r, c
	}
	for name, change := range map[string]func(d *sandbox.Discord){
		"a role has other permissions": func(d *sandbox.Discord) {
			r, _ := made(d)
			d.SetRolePermissions(sandbox.DemoGuild, r.ID, discord.KickMembers)
		},
		"the category has another name": func(d *sandbox.Discord) {
			_, c := made(d)
			d.EditChannel(c.ID, func(c *sandbox.Channel) { c.Name = "Elsewhere" })
		},
	} {
		s := harbour()
		s.Args = scaffoldOf(1, 3)
		w, ops := s.world(t), durable{ledger.NewOperations(nil)}
		if e := s.execute(t, w, ops, firstKey); e.Status != "paused" {
			t.Fatalf("%s: it answers %+v", name, e)
		}
		change(w.Any.(*sandbox.Discord))
		if e := s.execute(t, w, ops, firstKey); e.Status != "failed" || e.Code != mcpcore.CodePlanRefused || e.Writes != 2 {
			t.Errorf("%s: it answers %+v", name, e)
		}
		if e := s.execute(t, w, ops, firstKey); e.Code != mcpcore.CodeKeyConflict || e.Writes != 2 {
			t.Errorf("%s: again it answers %+v", name, e)
		}
	}
}

// The receipts tell what was made, also of a scaffold that is paused.
func TestGuildScaffoldIsVerified(t *testing.T) {
	t.Parallel()
	var world *sandbox.Discord
	s := harbour().observed(func(d *sandbox.Discord) { world = d })
	c, args := s.client(t), scaffoldOf(1, 2)
	c.want("verify_guild_scaffold", args, "absent")
	c.want("execute_guild_scaffold", args, "paused")
	c.want("verify_guild_scaffold", args, "verified")
	c.want("execute_guild_scaffold", args, "completed")
	c.want("verify_guild_scaffold", args, "verified")
	c.want("verify_guild_scaffold", scaffoldOf(1, 3), "blocked")
	for _, r := range world.Roles(sandbox.DemoGuild) {
		if r.Name == "role 0" {
			world.SetRolePermissions(sandbox.DemoGuild, r.ID, discord.KickMembers)
		}
	}
	c.want("verify_guild_scaffold", args, "drifted")
	if c.field("drift") != "[role/r0]" {
		t.Errorf("drift is %s", c.raw)
	}
}
