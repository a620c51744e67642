package surface_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// listed is the names of tools/list.
func (a agent) listed() (names []string) {
	a.Helper()
	list, err := a.ListTools(a.Context(), nil)
	if err != nil {
		a.Fatal(err)
	}
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

// call is the code of a call's answer, "" for success, "-32602" for a tool that
// is not there.
func (a agent) call(tool, args string) string {
	a.Helper()
	res, err := a.CallTool(a.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Sprint(e.Code)
	}
	if err != nil {
		a.Fatal(err)
	}
	data, _ := res.StructuredContent.(map[string]any)
	code, _ := data["code"].(string)
	return code
}

const (
	unknown = "-32602"
	find    = "discover_discord_tools"
)

func TestDiscoveryEnablesWhatItFinds(t *testing.T) {
	t.Parallel()
	a := connect(t, discordtools.Config{Progressive: true})
	if got := a.listed(); !slices.Equal(got, []string{find}) {
		t.Fatalf("begins with %v", got)
	}
	if got := a.call("channels_list", `{"guild_id":"`+string(sandbox.DemoGuild)+`"}`); got != unknown {
		t.Errorf("a tool that is not enabled answers %q", got)
	}
	f := a.discover(map[string]any{"query": "which channels are there", "limit": 2})
	if len(f.Matches) != 2 || f.TotalMatches <= 2 || !f.RefreshToolsList || len(f.NewlyEnabledToolNames) != 2 || f.Surface != "progressive" {
		t.Errorf("%+v", f)
	}
	if !slices.Contains(f.names(), "channels_list") || !slices.IsSorted(f.NewlyEnabledToolNames) {
		t.Errorf("found %v, enabled %v", f.names(), f.NewlyEnabledToolNames)
	}
	if got := a.listed(); len(got) != 3 {
		t.Errorf("lists %v", got)
	}
	if got := a.call("channels_list", `{"guild_id":"`+string(sandbox.DemoGuild)+`"}`); got != "" {
		t.Errorf("the enabled tool answers %q", got)
	}
	again := a.discover(map[string]any{"query": "which channels are there", "limit": 2})
	if again.RefreshToolsList || len(again.NewlyEnabledToolNames) > 0 || !again.Matches[0].Enabled {
		t.Errorf("found again: %+v", again)
	}
	for _, s := range again.Toolsets {
		if s.Name == "category:channels" && (s.AvailableTools != 14 || s.EnabledTools == 0) {
			t.Errorf("counts %+v", s)
		}
	}
}

func TestDiscoveryByExactName(t *testing.T) {
	t.Parallel()
	a := connect(t, discordtools.Config{Progressive: true})
	for _, query := range []string{"members_ban", "Members ban"} {
		f := a.discover(map[string]any{"query": query})
		if f.TotalMatches != 1 || len(f.Matches) != 1 {
			t.Fatalf("%q finds %v", query, f.names())
		}
		m := f.Matches[0]
		if m.Name != "members_ban" || m.Risk != "destructive" || m.Gate != "two-key" || m.Toolset != "category:members" || !m.Enabled {
			t.Errorf("%+v", m)
		}
		if m.Description == "" || !bytes.Contains(m.Annotations, []byte(`"destructiveHint":true`)) || !bytes.Contains(m.InputSchema, []byte("__confirm")) {
			t.Errorf("not defined whole: %s %s %s", m.Description, m.Annotations, m.InputSchema)
		}
	}
	if m := a.discover(map[string]any{"query": "ban a user"}).Matches[0]; m.Description != "" || m.InputSchema != nil {
		t.Errorf("a compact match has %+v", m)
	}
	if m := a.discover(map[string]any{"query": "ban a user", "detail": "full"}).Matches[0]; m.Description == "" || m.InputSchema == nil {
		t.Errorf("a full match has %+v", m)
	}
	for args, has := range map[string]bool{`{"query":"ban a user"}`: false, `{"query":"members_ban"}`: true} {
		res, err := a.CallTool(a.Context(), &mcp.CallToolParams{Name: find, Arguments: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; strings.Contains(text, "input: {") != has || strings.Contains(text, "input: \n") {
			t.Errorf("%s is answered with the text\n%s", args, text)
		}
	}
}

func TestDiscoveryWithoutAQuestionCounts(t *testing.T) {
	t.Parallel()
	a := connect(t, discordtools.Config{Progressive: true})
	f := a.discover(nil)
	if len(f.Matches) > 0 || f.TotalMatches != 0 || f.RefreshToolsList || len(f.Toolsets) < 33 {
		t.Errorf("%d matches, %d toolsets", len(f.Matches), len(f.Toolsets))
	}
	if got := a.listed(); len(got) != 1 {
		t.Errorf("lists %v", got)
	}
}

func TestDiscoveryFilters(t *testing.T) {
	t.Parallel()
	a := connect(t, discordtools.Config{Progressive: true})
	f := a.discover(map[string]any{"toolset": "category:polls", "limit": 8})
	if got := f.names(); !slices.Equal(got, []string{"polls_end", "polls_get_voters"}) || f.TotalMatches != 2 {
		t.Errorf("the toolset has %v", got)
	}
	for _, risk := range []string{"destructive", "external-read", "local-read", "write"} {
		f := a.discover(map[string]any{"risk": risk, "limit": 8})
		if len(f.Matches) == 0 || f.TotalMatches < len(f.Matches) {
			t.Errorf("%s: %d of %d", risk, len(f.Matches), f.TotalMatches)
		}
		for _, m := range f.Matches {
			if m.Risk != risk {
				t.Errorf("%s: %s is %s", risk, m.Name, m.Risk)
			}
		}
	}
	if f := a.discover(map[string]any{"query": "messages", "risk": "destructive", "toolset": "read-only"}); len(f.Matches) > 0 {
		t.Errorf("found %v", f.names())
	}
}

func TestDiscoveryKeepsItsBounds(t *testing.T) {
	t.Parallel()
	a := connect(t, discordtools.Config{Progressive: true})
	for _, args := range []string{
		`{"query":""}`, `{"query":"   "}`, `{"query":"` + strings.Repeat("a", 201) + `"}`, `{"limit":0}`, `{"limit":9}`, `{"limit":1.5}`,
		`{"detail":"whole"}`, `{"risk":"none"}`, `{"toolset":"messages"}`, `{"toolset":""}`, `{"query":7}`, `[]`,
	} {
		if got := a.call(find, args); got != string(mcpcore.CodeValidation) {
			t.Errorf("%s answers %q", args, got)
		}
	}
	if got := a.call(find, `{"query":"`+strings.Repeat("a", 200)+`","limit":8}`); got != "" {
		t.Errorf("the longest query answers %q", got)
	}
	if got := a.listed(); len(got) != 1 {
		t.Errorf("lists %v", got)
	}
	f := a.discover(map[string]any{"query": "delete", "limit": 8, "detail": "full"})
	if len(f.Matches) != 8 {
		t.Errorf("%d matches", len(f.Matches))
	}
	for _, m := range f.Matches {
		if n := utf8.RuneCountInString(m.Summary); n == 0 || n > 200 {
			t.Errorf("the summary of %s has %d letters", m.Name, n)
		}
	}
}

// What the operator left out is not found, not enabled and not named.
func TestDiscoveryStaysWithinWhatIsServed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]discordtools.Config{
		"toolsets":   {Progressive: true, Toolsets: []string{"category:messages", "category:channels"}},
		"categories": {Progressive: true, Categories: []string{"messages", "channels"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := connect(t, c)
			for _, args := range []map[string]any{{"query": "members_ban"}, {"query": "ban a member"}, {"risk": "destructive", "limit": 8}} {
				f := a.discover(args)
				for _, n := range slices.Concat(f.names(), f.NewlyEnabledToolNames) {
					if !strings.HasPrefix(n, "messages_") && !strings.HasPrefix(n, "channels_") {
						t.Errorf("%v finds %s", args, n)
					}
				}
				for _, s := range f.Toolsets {
					if s.Name == "category:members" {
						t.Errorf("%v counts %+v", args, s)
					}
				}
			}
			for _, n := range a.listed() {
				if strings.HasPrefix(n, "members_") {
					t.Errorf("lists %s", n)
				}
			}
			if got := a.call("members_ban", `{}`); got != unknown {
				t.Errorf("members_ban answers %q", got)
			}
		})
	}
}

// record is an audit sink that keeps everything.
type record struct {
	mu     sync.Mutex
	events []mcpcore.AuditEvent
}

func (r *record) Record(_ context.Context, e mcpcore.AuditEvent) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

// What was asked stands in no answer, log, audit record or span, whether it was
// answered or refused, directly or as a step.
func TestDiscoveryKeepsTheQueryToItself(t *testing.T) {
	t.Parallel()
	const canary = "canarywordthatnobodyelsesays"
	var logs bytes.Buffer
	spans, audits := tracetest.NewInMemoryExporter(), &record{}
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	server, err := discordtools.BuildServer(discordtools.Deps{
		Session: sandbox.Demo().Session(), Config: discordtools.Config{Progressive: true}, Audit: audits,
		Logger: slog.New(slog.NewJSONHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug - 8})), Tracer: provider,
	})
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	served, err := server.Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	var answers strings.Builder
	for _, c := range [][2]string{
		{find, `{"query":"run several tools"}`},
		{find, `{"query":"send a ` + canary + `"}`},
		{find, `{"query":"` + canary + `","detail":"full","limit":8}`},
		{find, `{"query":"` + canary + `","toolset":"nope"}`},
		{find, `{"query":"` + canary + `","limit":99}`},
		{find, `{"query":"` + strings.Repeat(canary, 12) + `"}`},
		{find, `{"query":["` + canary + `"]}`},
		{"mcp_pipeline", `{"steps":[{"tool":"` + find + `","args":{"query":"` + canary + `"}}]}`},
	} {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c[0], Arguments: json.RawMessage(c[1])})
		if err != nil {
			t.Fatalf("%s %s: %v", c[0], c[1], err)
		}
		b, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		answers.Write(b)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	_ = served.Wait() // it logs its end
	if err := provider.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	traced, audited := fmt.Sprintf("%+v", spans.GetSpans()), fmt.Sprintf("%+v", audits.events)
	if len(audits.events) == 0 || !strings.Contains(traced, "mcp.tool."+find) || !strings.Contains(logs.String(), find) {
		t.Fatalf("%d audit events; not everything was looked at", len(audits.events))
	}
	for where, text := range map[string]string{"an answer": answers.String(), "the log": logs.String(), "a span": traced, "an audit record": audited} {
		if i := strings.Index(text, canary); i >= 0 {
			t.Errorf("the query stands in %s: %s", where, text[max(0, i-200):i+40])
		}
	}
}

// Finding a tool permits nothing: its guards are those it always has.
func TestDiscoveryAuthorisesNothing(t *testing.T) {
	t.Parallel()
	a := connect(t, discordtools.Config{Progressive: true})
	a.discover(map[string]any{"query": "messages_delete"})
	args := `{"channel_id":"` + string(sandbox.DemoGeneral) + `","message_id":"1200000000000000503","__confirm":true}`
	if got := a.call("messages_delete", args); got != string(mcpcore.CodeDryRun) {
		t.Errorf("the call answers %q", got)
	}
}

// The order of answers does not change from run to run.
func TestDiscoveryIsDeterministic(t *testing.T) {
	t.Parallel()
	one, two := connect(t, discordtools.Config{Progressive: true}), connect(t, discordtools.Config{Progressive: true})
	for _, r := range requests(t, "held.txt") {
		args := map[string]any{"query": r.text, "limit": 8}
		if x, y := one.discover(args).names(), two.discover(args).names(); !slices.Equal(x, y) {
			t.Errorf("%q finds %v and %v", r.text, x, y)
		}
	}
}
