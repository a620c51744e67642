package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

const discover = "discover_discord_tools"

func listed(t *testing.T, s *mcp.ClientSession) (names []string) {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// hidden wants a tool to be unknown to a session.
func hidden(t *testing.T, s *mcp.ClientSession, tool, args string) {
	t.Helper()
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("a hidden tool answers %v", err)
	}
}

// What a session finds is its own, and requests without a session get everything at once.
func TestProgressiveSessions(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"MCP_TOOL_SURFACE=progressive", "MCP_AUDIT_SINK=none"}, "--sandbox")
	channels := `{"guild_id":"` + string(sandbox.DemoGuild) + `"}`
	changed := make(chan struct{}, 10)
	one := connect(t, p.url, "2025-11-25", &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
	two := connect(t, p.url, "2025-11-25", &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
		t.Error("a session is told of what another one found")
	}})
	for _, s := range []*mcp.ClientSession{one, two} {
		if got := listed(t, s); !slices.Equal(got, []string{discover}) {
			t.Fatalf("begins with %v", got)
		}
		hidden(t, s, "channels_list", channels)
	}
	expect(t, one, discover, `{"query":"channels_list"}`, "")
	select {
	case <-changed:
	case <-time.After(limit):
		t.Error("the session is not told of what it found")
	}
	expect(t, one, "channels_list", channels, "")
	if got := listed(t, one); !slices.Equal(got, []string{"channels_list", discover}) {
		t.Errorf("lists %v", got)
	}
	if got := listed(t, two); !slices.Equal(got, []string{discover}) {
		t.Errorf("another session lists %v", got)
	}
	hidden(t, two, "channels_list", channels)

	modern := connect(t, p.url, "2026-07-28", nil)
	if got := listed(t, modern); len(got) < 100 || !slices.Contains(got, "channels_list") {
		t.Errorf("a request without a session lists %d tools", len(got))
	}
	expect(t, modern, "channels_list", channels, "")
}
