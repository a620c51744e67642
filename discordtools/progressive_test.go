package discordtools_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

const discover = "discover_discord_tools"

func assembled(t testing.TB, c discordtools.Config) *mcpcore.Assembly {
	t.Helper()
	a, err := discordtools.Assemble(discordtools.Deps{Session: openWorld().Session(), Config: c})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// overHTTP serves both eras at one address: a session of the older one has a
// server of its own, requests of the newer one share a full one.
func overHTTP(a *mcpcore.Assembly) http.Handler {
	base, full := a.Server(), a.Full()
	type key struct{}
	stateful := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if r.Header.Get("Mcp-Session-Id") != "" {
			return base // a session keeps the server that it began with
		}
		// The handler asks twice for a new session.
		own := r.Context().Value(key{}).(**mcp.Server)
		if *own == nil {
			*own = a.Server()
		}
		return *own
	}, nil)
	stateless := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return full }, &mcp.StreamableHTTPOptions{Stateless: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			stateless.ServeHTTP(w, r)
			return
		}
		stateful.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, new(*mcp.Server))))
	})
}

func toolNames(t *testing.T, s *mcp.ClientSession) (names []string) {
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

func TestProgressiveSessionsOverHTTP(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(overHTTP(assembled(t, discordtools.Config{Progressive: true})))
	t.Cleanup(web.Close)
	join := func(era string, changes *atomic.Int64) *mcp.ClientSession {
		t.Helper()
		o := &mcp.ClientOptions{}
		if changes != nil {
			o.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { changes.Add(1) }
		}
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL}, &mcp.ClientSessionOptions{ProtocolVersion: era})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if got := s.InitializeResult().ProtocolVersion; got != era {
			t.Fatalf("asked for %s, got %s", era, got)
		}
		return s
	}
	call := func(s *mcp.ClientSession, tool, args string) error {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
		if err == nil && res.IsError {
			err = errors.New(res.Content[0].(*mcp.TextContent).Text)
		}
		return err
	}
	const legacy = "2025-06-18"
	var mine, theirs atomic.Int64
	one, two := join(legacy, &mine), join(legacy, &theirs)
	channels := `{"guild_id":` + id(sandbox.DemoGuild) + `}`
	hidden := func(s *mcp.ClientSession) {
		t.Helper()
		if e, ok := errors.AsType[*jsonrpc.Error](call(s, "channels_list", channels)); !ok || e.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("a hidden tool answers %v", e)
		}
	}
	if got := toolNames(t, one); !slices.Equal(got, []string{discover}) {
		t.Fatalf("begins with %v", got)
	}
	hidden(one)
	if err := call(one, discover, `{"query":"channels_list"}`); err != nil {
		t.Fatal(err)
	}
	if err := call(one, "channels_list", channels); err != nil {
		t.Errorf("the enabled tool: %v", err)
	}
	if got := toolNames(t, one); !slices.Equal(got, []string{"channels_list", discover}) {
		t.Errorf("lists %v", got)
	}
	if got := toolNames(t, two); !slices.Equal(got, []string{discover}) {
		t.Errorf("another session lists %v", got)
	}
	hidden(two)
	if err := call(two, discover, `{"query":"roles_list"}`); err != nil {
		t.Fatal(err)
	}
	if got := toolNames(t, one); slices.Contains(got, "roles_list") {
		t.Errorf("lists what another session enabled: %v", got)
	}
	// A request without a session gets everything at once.
	modern := join("2026-07-28", nil)
	if got := toolNames(t, modern); len(got) != len(discordtools.Tools(nil))+1 {
		t.Errorf("a request without a session lists %d tools", len(got))
	}
	if err := call(modern, "channels_list", channels); err != nil {
		t.Error(err)
	}
}

// Whatever is enabled, the tools that clients then get are those of the full
// surface, to the byte.
func TestProgressiveShowsTheSameDefinitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := assembled(t, discordtools.Config{Progressive: true})
		near, far := mcp.NewInMemoryTransports()
		if _, err := a.Server().Connect(t.Context(), far, nil); err != nil {
			t.Fatal(err)
		}
		var changes atomic.Int64
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changes.Add(1) },
		}).Connect(t.Context(), near, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		enabled := map[string]bool{discover: true}
		told := int64(0)
		for _, tool := range discordtools.Tools(nil) {
			args, err := json.Marshal(map[string]string{"query": tool.Name})
			if err != nil {
				t.Fatal(err)
			}
			res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: discover, Arguments: json.RawMessage(args)})
			if err != nil || res.IsError {
				t.Fatalf("%s: %v, %v", tool.Name, err, res)
			}
			time.Sleep(time.Second) // the SDK waits before it tells
			if !enabled[tool.Name] {
				told++
			}
			enabled[tool.Name] = true
			if got := changes.Load(); got != told {
				t.Fatalf("%s: told of %d changes after %d", tool.Name, got, told)
			}
		}
		full := listedBy(t, a.Full())
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) != len(full) {
			t.Errorf("%d tools, %d in the full surface", len(list.Tools), len(full))
		}
		for _, tool := range list.Tools {
			got, err := json.Marshal(tool)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != full[tool.Name] {
				t.Errorf("%s differs:\n%s\n%s", tool.Name, got, full[tool.Name])
			}
		}
	})
}

// listedBy is the definitions that a client of the server gets, by name.
func listedBy(t *testing.T, server *mcp.Server) map[string]string {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, tool := range list.Tools {
		b, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		all[tool.Name] = string(b)
	}
	return all
}

// The reference's names hold the workflows that it gives them.
func TestToolsetsOfWorkflowsHaveTheReferencesNames(t *testing.T) {
	t.Parallel()
	part := func(name, workflow string, role mcpcore.Role) mcpcore.Tool {
		tool := discordtools.Tools(nil)[0]
		tool.Name, tool.Part = name, mcpcore.Part{Workflow: workflow, Role: role}
		return tool
	}
	tools := []mcpcore.Tool{
		part("plan_member_role_change", "member-role-change", mcpcore.Plan),
		part("execute_member_role_change", "member-role-change", mcpcore.Execute),
		part("plan_bulk_member_role_change", "bulk-member-role-change", mcpcore.Plan),
		part("plan_channel_creation", "channel-creation", mcpcore.Plan),
		part("plan_party", "party", mcpcore.Plan), // an embedder's
	}
	held := map[string]int{}
	for _, s := range discordtools.Toolsets(tools) {
		held[s.Name] = len(s.Of(tools))
	}
	for name, want := range map[string]int{"member-roles": 3, "channel-creation": 1, "party": 1} {
		if held[name] != want {
			t.Errorf("%s holds %d tools, want %d", name, held[name], want)
		}
	}
	if len(held) != 3 {
		t.Errorf("got %v", held)
	}
}

// What the bundle for small clients names is there.
func TestDefaultBundleNamesRealTools(t *testing.T) {
	t.Parallel()
	tools := discordtools.Tools(nil)
	for _, s := range discordtools.Toolsets(tools) {
		if s.Name != "default" {
			continue
		}
		if got := len(s.Of(tools)); got != len(s.Tools) || got >= 40 {
			t.Errorf("%d of %d tools", got, len(s.Tools))
		}
		return
	}
	t.Error("there is no toolset default")
}

// BenchmarkServer is what a session costs that gets a server of its own.
func BenchmarkServer(b *testing.B) {
	for name, progressive := range map[string]bool{"full": false, "progressive": true} {
		b.Run(name, func(b *testing.B) {
			a := assembled(b, discordtools.Config{Progressive: progressive})
			b.ReportAllocs()
			for b.Loop() {
				a.Server()
			}
		})
	}
}
