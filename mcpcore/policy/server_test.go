package policy_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/policy"
	"github.com/guildwarden/guildwarden/middleware"
)

// What the document says is what a client meets.
func TestServerKeepsToTheDocument(t *testing.T) {
	t.Parallel()
	const free = `{"hallId":"1200000000000000001","userIds":["1200000000000000201"],"operationKey":"free-a-seat-0000001"}`
	for name, row := range map[string]struct {
		old, new string // a change of the whole document
		args     string
		code     mcpcore.Code // "" where it is done
		says     string
	}{
		"on":           {"", "", free, "", "completed"},
		"off":          {`"enabled": true`, `"enabled": false`, free, mcpcore.CodeWorkflowOff, "workflows.seat-removal.enabled: true in policy.json would allow it"},
		"not named":    {whole, `{"schemaVersion":1}`, free, mcpcore.CodeWorkflowOff, "workflows.seat-removal.enabled: true in policy.json"},
		"wrong scope":  {"", "", strings.Replace(free, "0001", "0003", 1), mcpcore.CodeWorkflowScope, "workflows.seat-removal.scopes.guilds in policy.json would allow it"},
		"its own id":   {"", "", strings.Replace(free, "0001", "0002", 1), "", "completed"},
		"protected":    {"", "", strings.Replace(free, `["`, `["1200000000000000109","`, 1), mcpcore.CodeProtected, "1200000000000000109"},
		"in a group":   {"", "", strings.Replace(free, "0201", "0102", 1), mcpcore.CodeProtected, "1200000000000000102"},
		"not any more": {`"protectedUsers": ["@staff", "1200000000000000109"]`, `"protectedUsers": []`, strings.Replace(free, "0201", "0102", 1), "", "completed"},
		"too many":     {"", "", strings.Replace(free, `["`, `["1200000000000000202","1200000000000000203","`, 1), mcpcore.CodePlanRefused, "too many"},
		"as many as it declares": {`"maxSeats": 2`, `"maxSeats": 3`, strings.Replace(free, `["`, `["1200000000000000202","1200000000000000203","`, 1), "",
			"completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(whole, row.old, row.new, 1)
			text = strings.Replace(text, `"invoice-sending": {"enabled": false, "scopes": {"customers": ["lantern-cafe"]}}`, "", 1)
			text = strings.Replace(text, "},\n    \n", "}\n", 1) // the server has one workflow
			var freed []string
			d := declared()
			d.Workflows = []mcpcore.Workflow{removal(&freed)}
			p, err := d.Parse("policy.json", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			s := halls(t, d.Workflows[0], p)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			on := slices.Contains(p.Enabled(), "seat-removal")
			if slices.ContainsFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == "execute_seat_removal" }) != on {
				t.Errorf("listed in spite of the policy, or not: %t", on)
			}
			res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_seat_removal", Arguments: json.RawMessage(row.args)})
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(res.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Code mcpcore.Code }
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			told := string(raw) + res.Content[0].(*mcp.TextContent).Text
			if got.Code != row.code || !strings.Contains(told, row.says) {
				t.Errorf("got %q, want %q and something about %q: %s", got.Code, row.code, row.says, told)
			}
			if (len(freed) > 0) != (row.code == "") {
				t.Errorf("freed %v", freed)
			}
		})
	}
}

// halls is a client whose user says yes, at a server of the workflow.
func halls(t *testing.T, w mcpcore.Workflow, p policy.Policy) *mcp.ClientSession {
	t.Helper()
	server, err := mcpcore.BuildServer(mcpcore.Deps{
		Workflows: []mcpcore.Workflow{w}, Permits: p.Workflows, Operations: ledger.NewOperations(nil), Volatile: true,
		Chain: middleware.Standard(middleware.Options{}), Ledger: ledger.NewMemory(nil), Approver: mcpcore.AtClient{},
		Hide: func(t *mcpcore.Tool) bool { return !p.Workflows.Permits[t.Part.Workflow].Enabled },
	})
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
		},
	}).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
