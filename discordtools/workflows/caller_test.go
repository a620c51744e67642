package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// caller is a client of a scene's server whose user approves everything.
type caller struct {
	*testing.T
	session *mcp.ClientSession
	raw     string // the last answer
}

// client makes a world of its own, which stays for all calls.
func (s scene) client(t *testing.T) *caller {
	t.Helper()
	return s.keyedClient(t, secret)
}

// keyedClient is [scene.client] with another state key.
func (s scene) keyedClient(t *testing.T, key []byte) *caller {
	t.Helper()
	server, err := s.world(t).Serve(operationtest.Setup{
		Permits:    mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{s.Workflow: s.Permit}},
		Operations: durable{ledger.NewOperations(nil)}, Ledger: ledger.NewMemory(nil), Approver: mcpcore.AtClient{}, StateKey: key, Armed: true,
	})
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
	return &caller{T: t, session: session}
}

func (c *caller) call(tool, args string) {
	c.Helper()
	res, err := c.session.CallTool(c.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		c.Fatalf("%s: %v", tool, err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		c.Fatal(err)
	}
	c.raw = string(raw)
}

// keyed is a call with an operation key.
func (c *caller) keyed(tool, args string) {
	c.Helper()
	c.call(tool, strings.TrimSuffix(args, "}")+`,"operationKey":"`+firstKey+`"}`)
}

// want is a keyed call that ends with a status.
func (c *caller) want(tool, args, status string) {
	c.Helper()
	if c.keyed(tool, args); c.field("status") != status {
		c.Errorf("%s answers %s, want %s", tool, c.raw, status)
	}
}

func (c *caller) into(v any) {
	c.Helper()
	if err := json.Unmarshal([]byte(c.raw), v); err != nil {
		c.Fatal(err)
	}
}

// field is a member of the last answer, "" for none.
func (c *caller) field(name string) string {
	var all map[string]any
	c.into(&all)
	if all[name] == nil {
		return ""
	}
	return fmt.Sprint(all[name])
}
