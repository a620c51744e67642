package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

// desk is a client whose user says yes, at a server of the demo world with
// Discord's workflows.
type desk struct {
	*testing.T
	world   *sandbox.Discord
	session *mcp.ClientSession
}

func serve(t *testing.T, c discordtools.Config, permits mcpcore.WorkflowPolicy, more ...func(*discordtools.Deps)) desk {
	t.Helper()
	world := sandbox.DemoWith(sandbox.Options{})
	world.AddRole(sandbox.DemoGuild, sandbox.Role{ID: loneRole, Name: "Keepers", Position: 1})
	c.Armed = true
	deps := discordtools.Deps{
		Session: world.Session(), Config: c, Workflows: workflows.All, Permits: permits, Operations: ledger.NewOperations(nil), Volatile: true,
	}
	for _, f := range more {
		f(&deps)
	}
	server, err := discordtools.BuildServer(deps)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
		},
	}).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return desk{t, world, session}
}

func (d desk) listed() map[string]bool {
	d.Helper()
	list, err := d.session.ListTools(d.Context(), nil)
	if err != nil {
		d.Fatal(err)
	}
	names := map[string]bool{}
	for _, tool := range list.Tools {
		names[tool.Name] = true
	}
	return names
}

// call is the code of an answer, "" for a success, and its structured content.
func (d desk) call(tool, args string) (code, answer string) {
	d.Helper()
	res, err := d.session.CallTool(d.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		d.Fatalf("%s: %v", tool, err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		d.Fatal(err)
	}
	var e struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		d.Fatal(err)
	}
	return e.Code, string(raw)
}

// unknown demands that the tool answers as one that does not exist.
func (d desk) unknown(tool string) {
	d.Helper()
	_, err := d.session.CallTool(d.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(`{}`)})
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInvalidParams {
		d.Errorf("%s answers %v", tool, err)
	}
}

func keepers() mcpcore.WorkflowPolicy {
	return mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{
		"role-deletion": {Enabled: true, Scopes: map[string][]string{"roles": {string(loneRole)}}},
	}}
}

const (
	deleteDirectly = `{"guild_id":"1200000000000000001","role_id":"1200000000000000299","__confirm":true}`
	deleteReviewed = `{"guildId":"1200000000000000001","roleId":"1200000000000000299","acknowledgeIrreversible":true,` +
		`"acknowledgeNoRecoveryArtifact":true,"operationKey":"an-intent-of-its-own-0001"}`
)

func (d desk) roleIsThere() bool {
	d.Helper()
	code, answer := d.call("roles_list", `{"guild_id":"1200000000000000001"}`)
	if code != "" {
		d.Fatal(answer)
	}
	return strings.Contains(answer, string(loneRole))
}

// In the reviewed style direct tools with a gate are not there in any way; what
// was planned and reviewed still destroys.
func TestReviewedStyleLeavesOnlyReviewedDestruction(t *testing.T) {
	t.Parallel()
	direct := serve(t, discordtools.Config{}, keepers())
	reviewed := serve(t, discordtools.Config{ReviewedOnly: true}, keepers())
	gated := map[string]bool{}
	for _, tool := range discordtools.Tools(nil) {
		if tool.EffectiveGate() != mcpcore.NoGate {
			gated[tool.Name] = true
		}
	}
	if len(gated) < 30 || !gated["roles_delete"] || !gated["components_v2_send"] || !gated["users_create_dm"] || gated["messages_send"] {
		t.Fatalf("gated are %v", slices.Sorted(maps.Keys(gated)))
	}
	there := reviewed.listed()
	for name := range direct.listed() {
		if there[name] == gated[name] {
			t.Errorf("%s has a gate: %t; it is listed: %t", name, gated[name], there[name])
		}
	}
	for _, name := range []string{"plan_role_deletion", "execute_role_deletion", "audit_role_deletion", "list_activity", "messages_send"} {
		if !there[name] {
			t.Errorf("%s is not listed", name)
		}
	}
	for name := range gated {
		reviewed.unknown(name)
		if _, err := reviewed.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: surface.ContractURI + "/" + name}); err == nil {
			t.Errorf("the access contract covers %s", name)
		}
	}
	_, answer := reviewed.call("mcp_pipeline", `{"steps":[{"tool":"roles_delete","args":`+deleteDirectly+`}]}`)
	if !strings.Contains(answer, "TOOL_NOT_AVAILABLE") || !reviewed.roleIsThere() {
		t.Errorf("as a step: %s", answer)
	}
	if code, answer := reviewed.call("execute_role_deletion", deleteReviewed); code != "" || !strings.Contains(answer, `"completed"`) || reviewed.roleIsThere() {
		t.Errorf("reviewed: %s", answer)
	}
	if code, answer := direct.call("roles_delete", deleteDirectly); code != "" || direct.roleIsThere() {
		t.Errorf("directly: %s", answer)
	}
}

// What was taken away cannot be found either, and what is found comes with its
// access contract.
func TestReviewedStyleHoldsForDiscovery(t *testing.T) {
	t.Parallel()
	d := serve(t, discordtools.Config{ReviewedOnly: true, Progressive: true}, keepers())
	const find = "discover_discord_tools"
	if there := d.listed(); len(there) != 1 || !there[find] {
		t.Fatalf("it begins with %v", there)
	}
	_, answer := d.call(find, `{"query":"plan_role_deletion"}`)
	var found struct {
		Matches []struct {
			Name, Toolset string
			Access        surface.Access
		}
		Enabled []string `json:"newlyEnabledToolNames"`
	}
	if err := json.Unmarshal([]byte(answer), &found); err != nil {
		t.Fatal(err)
	}
	if all := []string{"audit_role_deletion", "execute_role_deletion", "plan_role_deletion"}; !slices.Equal(found.Enabled, all) {
		t.Errorf("enabled %v, want the whole workflow", found.Enabled)
	}
	if len(found.Matches) != 1 || found.Matches[0].Access.Class != surface.ReviewedPlan || found.Matches[0].Access.Toolset != found.Matches[0].Toolset {
		t.Errorf("found %+v", found.Matches)
	}
	if _, answer := d.call(find, `{"query":"roles_delete","limit":8}`); strings.Contains(answer, `"name":"roles_delete"`) {
		t.Error(answer)
	}
	if _, answer := d.call(find, `{"query":"list_activity"}`); !strings.Contains(answer, `"list_activity"`) {
		t.Error(answer)
	}
	d.unknown("roles_delete")
	if code, answer := d.call("execute_role_deletion", deleteReviewed); code != "" {
		t.Error(answer)
	}
}

// A workflow's tools are picked together, under the name of its toolset, which
// is the one that the access contract tells.
func TestToolsetHoldsTheWholeWorkflow(t *testing.T) {
	t.Parallel()
	both := keepers()
	both.Permits["channel-creation"] = mcpcore.Permit{Enabled: true} // which the toolsets leave out
	d := serve(t, discordtools.Config{Toolsets: []string{"role-deletion", "category:polls"}}, both)
	there := d.listed()
	for _, name := range []string{"plan_role_deletion", "execute_role_deletion", "audit_role_deletion", "list_activity", "polls_get_voters"} {
		if !there[name] {
			t.Errorf("%s is not listed", name)
		}
	}
	d.unknown("roles_delete")
	d.unknown("plan_channel_creation")
	res, err := d.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: surface.ContractURI + "/audit_role_deletion"})
	if err != nil {
		t.Fatal(err)
	}
	if text := res.Contents[0].Text; !strings.Contains(text, `"toolset":"role-deletion"`) {
		t.Error(text)
	}
}

// An audit is there without its workflow, whose permit is then nobody's.
func TestToolsetOfReadsLeavesTheWorkflowOut(t *testing.T) {
	t.Parallel()
	d := serve(t, discordtools.Config{Toolsets: []string{"read-only"}}, keepers())
	if there := d.listed(); !there["audit_role_deletion"] || there["plan_role_deletion"] {
		t.Errorf("it lists %v", there)
	}
	d.unknown("execute_role_deletion")
}
