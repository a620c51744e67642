package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listedBy is the names of the tools that a session is shown.
func listedBy(t *testing.T, s *mcp.ClientSession) (names []string) {
	t.Helper()
	list, err := s.ListTools(t.Context(), &mcp.ListToolsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// notThere demands that a call is answered as one of a tool that does not exist.
func notThere(t *testing.T, s *mcp.ClientSession, tool, arguments string) {
	t.Helper()
	message := func(name string) string {
		_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
		e, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || e.Code != jsonrpc.CodeInvalidParams {
			t.Fatalf("%s answers %v", name, err)
		}
		return strings.ReplaceAll(e.Message, name, "NAME")
	}
	if hidden, none := message(tool), message("no_such_tool"); hidden != none {
		t.Errorf("%s answers %q, a tool that is not there %q", tool, hidden, none)
	}
}

func TestProgressiveSessionFindsEnablesAndCalls(t *testing.T) {
	t.Parallel()
	const find, read = "discover_discord_tools", "messages_read"
	target := `{"channel_id":"` + general + `","limit":1}`
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			told := make(chan struct{}, 100)
			o := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} }}
			env := []string{"MCP_TOOL_SURFACE=progressive"}
			s, end := agentWith(t, o, era, env, "serve", "--sandbox")
			defer end()
			other, endOther := agent(t, era, env, "serve", "--sandbox")
			defer endOther()
			if got := listedBy(t, s); !slices.Equal(got, []string{find}) {
				t.Fatalf("begins with %v", got)
			}
			if caps := s.InitializeResult().Capabilities.Tools; caps == nil || !caps.ListChanged {
				t.Error("it does not say that its list changes")
			}
			notThere(t, s, read, target)
			found := ask(t, s, find, `{"query":"what was said in general lately"}`)
			if found.Code != "" || found.fields["refreshToolsList"] != true || !strings.Contains(found.text, read) {
				t.Fatalf("%s", found.text)
			}
			select {
			case <-told:
			case <-time.After(limit):
				t.Fatal("the client was not told that its list changed")
			}
			if got := listedBy(t, s); !slices.Contains(got, read) || len(got) != 6 {
				t.Errorf("lists %v", got)
			}
			if got := ask(t, s, read, target); got.Code != "" || !strings.Contains(got.text, "untrusted") {
				t.Errorf("%s: %s", read, got.text)
			}
			if again := ask(t, s, find, `{"query":"messages_read"}`); again.fields["refreshToolsList"] != false {
				t.Errorf("found again: %s", again.text)
			}
			if got := listedBy(t, other); !slices.Equal(got, []string{find}) {
				t.Errorf("another session lists %v", got)
			}
			notThere(t, other, read, target)
		})
	}
}

func TestToolsetsReduceListAndCalls(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		s, end := agent(t, era, []string{"MCP_TOOLSETS=category:meta, category:messages"}, "serve", "--sandbox")
		for _, name := range listedBy(t, s) {
			if !strings.HasPrefix(name, "messages_") && name != "mcp_pipeline" && name != "discord_intent_plan" {
				t.Errorf("lists %s", name)
			}
		}
		if got := ask(t, s, "messages_read", `{"channel_id":"`+general+`","limit":1}`); got.Code != "" {
			t.Errorf("messages_read: %s", got.text)
		}
		notThere(t, s, "channels_list", `{"guild_id":"`+guild+`"}`)
		step := ask(t, s, "mcp_pipeline", `{"steps":[{"tool":"channels_list","args":{"guild_id":"`+guild+`"}}]}`)
		if !strings.Contains(step.text, "TOOL_NOT_AVAILABLE") && !strings.Contains(step.text, "no tool of that name") {
			t.Errorf("as a step: %s", step.text)
		}
		end()
	}
}

func TestToolsShowsWhatIsSelected(t *testing.T) {
	t.Parallel()
	count := func(env []string, args ...string) int {
		t.Helper()
		e := run(t, append([]string{"DISCORD_TOKEN"}, env...), "", append([]string{"tools"}, args...)...)
		if e.status != 0 || e.stderr != "" {
			t.Fatalf("%v: exit status %d: %s", args, e.status, e.stderr)
		}
		return strings.Count(e.stdout, "\n")
	}
	all, selected := count(nil), count([]string{"MCP_TOOLSETS=default"}, "--selected")
	if selected == 0 || selected >= 40 || all < 200 {
		t.Errorf("%d of %d tools; a client with a limit of 40 must have room for them", selected, all)
	}
	if got := count([]string{"MCP_TOOLSETS=default"}); got != all {
		t.Errorf("without --selected it lists %d of %d", got, all)
	}
	if got := count([]string{"MCP_TOOLSETS=category:polls", "MCP_TOOL_SURFACE=progressive"}, "--selected"); got != 2 {
		t.Errorf("%d tools of polls", got)
	}
	if got := count([]string{"MCP_TOOLSETS=category:polls", "MCP_CATEGORIES=roles"}, "--selected"); got != 0 {
		t.Errorf("%d tools in a toolset of a category that is off", got)
	}
	if got := count(nil, "--toolsets"); got < 33 {
		t.Errorf("%d toolsets", got)
	}
	e := run(t, []string{"MCP_TOOLSETS=reactions"}, "", "tools", "--selected")
	if e.status != 1 || !strings.Contains(e.stderr, "did you mean category:reactions?") {
		t.Errorf("%+v", e)
	}
}
