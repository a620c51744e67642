package workflows_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func blueprintBuild() scene {
	args := func(members string) string {
		return `{"guildId":"1200000000000000001","blueprint":{"schema_version":"guild_blueprint.v1",` + members + `}}`
	}
	permit := func(phases ...string) mcpcore.Permit {
		return mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}, "phases": phases}}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-blueprint", Plan: "plan_guild_blueprint", Execute: "execute_guild_blueprint", Verify: "verify_guild_blueprint",
			Args: args(`"roles":[{"key":"one","name":"canary-one","color":255},{"key":"two","name":"canary-two"}]`),
			Sends: []string{
				`POST /guilds/1200000000000000001/roles {"color":0,"hoist":false,"mentionable":false,"name":"canary-two","permissions":"0"}`,
				`POST /guilds/1200000000000000001/roles {"color":255,"hoist":false,"mentionable":false,"name":"canary-one","permissions":"0"}`,
			},
			Permit: permit("roles", "ordering"), Children: true, Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "a blueprint that is not valid", Args: args(`"roles":[{"key":"one","name":"x","permissions":["ADMINISTRATOR"]}]`), Code: mcpcore.CodeValidation},
				{Name: "a phase that the policy does not name", Code: mcpcore.CodeWorkflowScope, Policy: func(p *mcpcore.WorkflowPolicy) {
					p.Permits["guild-blueprint"] = permit("channels")
				}},
				{Name: "one of that name that differs", Args: args(`"roles":[{"key":"one","name":"Member","color":7}]`), Code: mcpcore.CodePlanRefused, Reason: "resource-conflict"},
				{Name: "two of that name", Code: mcpcore.CodePlanRefused, Reason: "ambiguous-resource", Before: world(func(d *sandbox.Discord) {
					d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "canary-one", Position: 1})
					d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "canary-one", Position: 1})
				})},
				{Name: "a bot that may not", Code: mcpcore.CodePlanRefused, Reason: "missing-permissions", Before: world(func(d *sandbox.Discord) {
					d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ManageMessages|discord.ManageGuild)
				})},
			},
		},
		Route: "POST /guilds/{guild_id}/roles", ReadBack: "GET /guilds/{guild_id}/roles", Skip: 4,
		Change: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "Foreign", Position: 1}) },
		Settle: func(d *sandbox.Discord) {
			d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "canary-two", Position: 1})
			d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "canary-one", Position: 1, Color: 255})
		},
	}
}

func TestGuildBlueprint(t *testing.T) {
	t.Parallel()
	blueprintBuild().run(t)
}

// built is what a call of execute_guild_blueprint answers.
type built struct {
	Status   string `json:"status"`
	Code     string `json:"code"`
	Children []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"children"`
}

// TestGuildBlueprintPhaseByPhase makes an empty guild like a blueprint of a request:
// the same call again and again, each with an approval of its own, until nothing is
// left.
func TestGuildBlueprintPhaseByPhase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, phaseByPhase) // in which nobody waits for a rate limit
}

func phaseByPhase(t *testing.T) {
	s := newShared(t, "", "")
	c := s.replica(0, nil)
	var made struct {
		Manifest  string          `json:"manifest"`
		Blueprint json.RawMessage `json:"blueprint"`
		Valid     bool            `json:"valid"`
		Parts     []string        `json:"operations"`
		Dropped   int             `json:"notShown"`
	}
	c.call("compile_guild_blueprint_starter", `{"request":"a small study group with a help forum"}`)
	c.into(&made)
	compiled := made.Manifest
	c.call("preview_guild_blueprint", `{"blueprint":`+string(made.Blueprint)+`}`)
	if c.into(&made); !made.Valid || made.Manifest != compiled || len(made.Parts) == 0 {
		t.Fatalf("the preview is %s", c.raw)
	}
	parts := len(made.Parts) + made.Dropped
	args := fmt.Sprintf(`{"guildId":%q,"blueprint":%s}`, s.guild, made.Blueprint)
	calls, writes, phases := 0, 0, map[string]bool{}
	for ; ; calls++ {
		c.keyed("plan_guild_blueprint", args)
		phases[c.state("phase")] = true
		var b built
		c.keyed("execute_guild_blueprint", args)
		if c.into(&b); b.Status == "completed" {
			break
		}
		if b.Status != "paused" || calls > parts {
			t.Fatalf("call %d answers %s", calls, c.raw)
		}
		if n := len(s.world.Writes()) - writes; n > 10 {
			t.Errorf("%d writes in one call", n)
		}
		writes = len(s.world.Writes())
	}
	if len(phases) < 6 {
		t.Errorf("the phases are %v", phases)
	}
	if writes := len(s.world.Writes()); writes > parts {
		t.Errorf("%d writes for %d parts", writes, parts)
	}
	c.keyed("verify_guild_blueprint", args)
	if c.field("status") != "verified" {
		t.Errorf("it is not verified: %s", c.raw)
	}
	c.call("plan_guild_blueprint", strings.TrimSuffix(args, "}")+`,"operationKey":"`+secondKey+`"}`)
	if c.field("status") != "already-current" {
		t.Errorf("another plan is %s", c.raw)
	}
	c.call("capture_guild_blueprint", fmt.Sprintf(`{"guildId":%q}`, s.guild))
	c.into(&made)
	c.call("plan_guild_blueprint", fmt.Sprintf(`{"guildId":%q,"blueprint":%s,"operationKey":%q}`, s.guild, made.Blueprint, secondKey))
	if c.field("status") != "already-current" {
		t.Errorf("the plan of what was captured is %s", c.raw)
	}
	// Somebody changes it: the receipt does not hold any more, and says in which phase.
	s.world.AddAutoModRule(s.guild, sandbox.AutoModRule{Name: "Foreign", Keywords: []string{"x"}})
	c.keyed("verify_guild_blueprint", args)
	if c.field("status") != "verified" { // which is none of the blueprint's business
		t.Errorf("%s", c.raw)
	}
	for _, r := range s.world.Roles(s.guild) {
		if r.Name != "@everyone" && r.Name != "Bot" {
			s.world.SetRolePermissions(s.guild, r.ID, discord.KickMembers)
		}
	}
	c.keyed("verify_guild_blueprint", args)
	if c.field("status") != "drifted" || !strings.Contains(c.raw, `"drift":["roles"]`) && !strings.Contains(c.raw, `"drift":["blocked"`) {
		t.Errorf("the drift is %s", c.raw)
	}
}

// A key whose work somebody changed between two phases goes on with nothing.
func TestGuildBlueprintGoesOnOnlyAsItWasLeft(t *testing.T) {
	t.Parallel()
	s := newShared(t, "sqlite", filepath.Join(t.TempDir(), "ledger.db"))
	c := s.replica(0, nil)
	args := fmt.Sprintf(`{"guildId":%q,"blueprint":{"schema_version":"guild_blueprint.v1","roles":[{"key":"a","name":"A"}],"categories":[{"key":"b","name":"B"}]}}`, s.guild)
	c.want("execute_guild_blueprint", args, "paused")
	for _, r := range s.world.Roles(s.guild) {
		if r.Name == "A" {
			s.world.SetRolePermissions(s.guild, r.ID, discord.KickMembers)
		}
	}
	c.keyed("execute_guild_blueprint", args)
	if c.field("code") != string(mcpcore.CodePlanRefused) || len(s.world.Writes()) != 1 {
		t.Errorf("it goes on: %s", c.raw)
	}
	// Omission deletes nothing, and a new key goes on where the guild is as wanted.
	args = fmt.Sprintf(`{"guildId":%q,"blueprint":{"schema_version":"guild_blueprint.v1","categories":[{"key":"b","name":"B"}]}}`, s.guild)
	c.call("execute_guild_blueprint", strings.TrimSuffix(args, "}")+`,"operationKey":"`+secondKey+`"}`)
	if c.field("status") != "completed" || len(s.world.Roles(s.guild)) != 3 {
		t.Errorf("a new key answers %s", c.raw)
	}
}

// state is a member of the plan's state.
func (c *caller) state(name string) string {
	c.Helper()
	var plan struct {
		State map[string]json.RawMessage `json:"state"`
	}
	c.into(&plan)
	return strings.Trim(string(plan.State[name]), `"`)
}
