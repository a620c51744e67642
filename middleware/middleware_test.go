package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
	"github.com/guildwarden/guildwarden/preconditions"
)

const (
	home  discord.GuildID = "700000000000000001"
	other discord.GuildID = "700000000000000002"
)

type (
	where struct {
		GuildID discord.GuildID `json:"guild_id" jsonschema:"guild"`
		Text    string          `json:"text,omitempty" jsonschema:"text"`
	}
	anywhere struct {
		Text  string  `json:"text,omitempty" jsonschema:"text"`
		Place *string `json:"place,omitempty" jsonschema:"place"`
	}
	clears struct {
		GuildID *discord.GuildID `json:"guild_id" jsonschema:"guild, null to leave all"`
		Text    string           `json:"text,omitempty" jsonschema:"text"`
	}
	seen struct {
		Args string `json:"args"`
	}
)

// shows answers with the arguments that it got.
func shows[In any](name, category string, effect mcpcore.Effect) mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: name, Doc: "Shows.", Category: category, Effect: effect, Gate: mcpcore.NoGate, Scope: mcpcore.GuildScope, Redact: []string{"text"},
	}, func(_ context.Context, call *mcpcore.Call, _ In) (seen, error) { return seen{string(call.Args())}, nil })
}

func fails(name string, err func() error) mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{Name: name, Doc: "Fails.", Category: "faults", Effect: mcpcore.Write, Scope: mcpcore.LocalScope},
		func(context.Context, *mcpcore.Call, anywhere) (seen, error) { return seen{}, err() })
}

func tools() []mcpcore.Tool {
	return []mcpcore.Tool{
		shows[where]("look", "reads", mcpcore.Read), shows[where]("change", "writes", mcpcore.Write),
		shows[where]("ban", "writes", mcpcore.Destroy), shows[anywhere]("elsewhere", "meta", mcpcore.Read),
		shows[clears]("clear", "reads", mcpcore.Read),
		fails("missing", func() error { return mcpcore.Errorf(mcpcore.CodeNotFound, "canary is gone") }),
		fails("fault", func() error { return errors.New("canary") }),
		fails("panic", func() error { panic("canary") }),
	}
}

type server struct {
	*mcp.ClientSession
	t *testing.T
}

func serve(t *testing.T, chain []mcpcore.Middleware, edit ...func(*mcpcore.Deps)) server {
	t.Helper()
	deps := mcpcore.Deps{Tools: tools(), Chain: chain}
	for _, f := range edit {
		f(&deps)
	}
	s, err := mcpcore.BuildServer(deps)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := s.Connect(context.Background(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(context.Background(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return server{session, t}
}

// call answers with the code, or with the arguments that the handler got, and
// with everything that came.
func (s server) call(tool, args string) (string, map[string]any) {
	s.t.Helper()
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		s.t.Fatal(err)
	}
	data := res.StructuredContent.(map[string]any)
	if res.IsError {
		return data["code"].(string), data
	}
	return data["args"].(string), data
}

func (s server) want(tool, args, want string) map[string]any {
	s.t.Helper()
	got, data := s.call(tool, args)
	if got != want {
		s.t.Errorf("%s %s answers %s, want %s", tool, args, got, want)
	}
	return data
}

func names(chain []mcpcore.Middleware) (all []string) {
	for _, m := range chain {
		all = append(all, m.Name)
	}
	return all
}

func TestOrder(t *testing.T) {
	t.Parallel()
	want := []string{
		"telemetry", "default_guild", "blueprint_target", "validate", "guild_scope", "category_gate",
		"runtime_access", "write_mode", "preconditions", "approval", "audit",
	}
	for _, o := range []middleware.Options{{}, {DefaultGuild: home, Categories: []string{"reads"}, PreviewOnly: true}} {
		if got := names(middleware.Standard(o)); !slices.Equal(got, want) {
			t.Errorf("the order is %v, want %v", got, want)
		}
	}
}

func ExampleStandard() {
	for i, layer := range middleware.Standard(middleware.Options{}) {
		fmt.Println(strings.TrimSpace(fmt.Sprint(i+1, " ", layer.Name, " ", layer.Guard)))
	}
	// Output:
	// 1 telemetry
	// 2 default_guild
	// 3 blueprint_target
	// 4 validate validate
	// 5 guild_scope
	// 6 category_gate
	// 7 runtime_access
	// 8 write_mode
	// 9 preconditions check
	// 10 approval approve
	// 11 audit audit
}

func TestZeroOptionsPassEverything(t *testing.T) {
	t.Parallel()
	s := serve(t, middleware.Standard(middleware.Options{}))
	for _, tool := range []string{"look", "change", "ban"} {
		s.want(tool, `{"guild_id":"700000000000000001"}`, `{"guild_id":"700000000000000001"}`)
	}
	s.want("elsewhere", `{}`, `{}`)
}

func TestDefaultGuild(t *testing.T) {
	t.Parallel()
	s := serve(t, middleware.Standard(middleware.Options{DefaultGuild: home}))
	for _, row := range []struct{ name, tool, args, want string }{
		{"absent", "look", `{}`, `{"guild_id":"700000000000000001"}`},
		{"no arguments", "look", `null`, `{"guild_id":"700000000000000001"}`},
		{"null is absent", "look", `{"guild_id":null}`, `{"guild_id":"700000000000000001"}`},
		{"the call wins", "look", `{"guild_id":"` + string(other) + `"}`, `{"guild_id":"` + string(other) + `"}`},
		{"the call wins when it is wrong", "look", `{"guild_id":"x"}`, "VALIDATION_FAILED"},
		{"the call wins when it is empty", "look", `{"guild_id":""}`, "VALIDATION_FAILED"},
		{"a write too", "change", `{}`, `{"guild_id":"700000000000000001"}`},
		{"a tool that takes none", "elsewhere", `{}`, `{}`},
		{"null that clears stays", "clear", `{"guild_id":null}`, `{"guild_id":null}`},
		{"arguments that are none", "look", `[]`, "VALIDATION_FAILED"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := server{s.ClientSession, t}
			s.want(row.tool, row.args, row.want)
		})
	}
	t.Run("without one it is missing", func(t *testing.T) {
		t.Parallel()
		serve(t, middleware.Standard(middleware.Options{})).want("look", `{}`, "VALIDATION_FAILED")
	})
}

func TestDefaultGuildMakesTheArgumentOptional(t *testing.T) {
	t.Parallel()
	for guild, required := range map[discord.GuildID]bool{"": true, home: false} {
		listed, err := serve(t, middleware.Standard(middleware.Options{DefaultGuild: guild})).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range listed.Tools {
			schema := tool.InputSchema.(map[string]any)
			if _, takes := schema["properties"].(map[string]any)["guild_id"]; !takes {
				continue
			}
			list, _ := schema["required"].([]any)
			if got := slices.Contains(list, any("guild_id")); got != required {
				t.Errorf("default guild %q: %s requires it: %v", guild, tool.Name, got)
			}
		}
	}
}

func TestCategoryGate(t *testing.T) {
	t.Parallel()
	s := serve(t, middleware.Standard(middleware.Options{Categories: []string{"writes", "faults"}}))
	s.want("change", `{"guild_id":"700000000000000001"}`, `{"guild_id":"700000000000000001"}`)
	s.want("elsewhere", `{}`, `{}`) // meta
	data := s.want("look", `{"guild_id":"700000000000000001"}`, "SCOPE_REJECTED")
	if data["tool"] != "look" || data["required"] != "reads" || fmt.Sprint(data["granted"]) != "[faults writes]" {
		t.Errorf("the envelope is %v", data)
	}
	serve(t, middleware.Standard(middleware.Options{Categories: []string{}})).want("look", `{"guild_id":"700000000000000001"}`, "SCOPE_REJECTED")

	look := tools()[0]
	if !preconditions.InCategories(&look, nil) || preconditions.InCategories(&look, []string{"writes"}) || !preconditions.InCategories(&look, []string{"reads"}) {
		t.Error("InCategories tells something else")
	}
}

func TestWritePreview(t *testing.T) {
	t.Parallel()
	s := serve(t, middleware.Standard(middleware.Options{PreviewOnly: true}))
	for _, tool := range []string{"change", "ban"} {
		data := s.want(tool, `{"guild_id":"700000000000000001","text":"canary","__confirm":true}`, "WRITE_PREVIEW")
		if got, _ := json.Marshal(data["preview"]); string(got) != `{"guild_id":"700000000000000001","text":"[REDACTED:6ch]"}` {
			t.Errorf("the preview is %s", got)
		}
		s.want(tool, `{"guild_id":"x"}`, "VALIDATION_FAILED")
	}
	s.want("look", `{"guild_id":"700000000000000001"}`, `{"guild_id":"700000000000000001"}`)
}

// A preview costs nobody an approval, so it stands before what asks.
func TestWritePreviewStandsBeforePreconditions(t *testing.T) {
	t.Parallel()
	asked := false
	s := serve(t, middleware.Standard(middleware.Options{PreviewOnly: true}), func(d *mcpcore.Deps) {
		d.Policies = []mcpcore.Policy{{Name: "ask", Require: []mcpcore.Precondition{{Name: "ask", Check: func(context.Context, *mcpcore.Call) error {
			asked = true
			return nil
		}}}}}
	})
	s.want("ban", `{"guild_id":"700000000000000001"}`, "WRITE_PREVIEW")
	if asked {
		t.Error("the precondition was asked")
	}
	if s.want("look", `{"guild_id":"700000000000000001"}`, `{"guild_id":"700000000000000001"}`); !asked {
		t.Error("the precondition of a read was not asked")
	}
}

// Each guard's layer alone stops what its guard stops and passes the rest.
func TestGuardLayersAlone(t *testing.T) {
	t.Parallel()
	failing := sinkFunc(func(e mcpcore.AuditEvent) error { return errors.New("full") })
	refuse := func(d *mcpcore.Deps) {
		d.Policies = []mcpcore.Policy{{Name: "no", Match: func(t *mcpcore.Tool) bool { return t.Name == "ban" }, Require: []mcpcore.Precondition{{
			Name: "never", Check: func(context.Context, *mcpcore.Call) error { return errors.New("never") },
		}}}}
	}
	good := `{"guild_id":"700000000000000001"}`
	for _, row := range []struct {
		name       string
		edit       func(*mcpcore.Deps)
		tool, args string
		code       string
		passes     string
	}{
		{"validate", func(*mcpcore.Deps) {}, "look", `{"guild_id":5}`, "VALIDATION_FAILED", "look"},
		{"preconditions", refuse, "ban", good, "PRECONDITION_FAILED", "change"},
		{"audit", func(d *mcpcore.Deps) { d.Audit = failing }, "change", good, "AUDIT_UNAVAILABLE", "look"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			chain := []mcpcore.Middleware{middleware.Validate(), middleware.Preconditions(), middleware.Approval(), middleware.Audit()}
			s := serve(t, chain, row.edit)
			s.want(row.tool, row.args, row.code)
			s.want(row.passes, good, good)
		})
	}
}

type sinkFunc func(mcpcore.AuditEvent) error

func (f sinkFunc) Record(_ context.Context, e mcpcore.AuditEvent) error { return f(e) }

// The layers that nothing configures yet pass everything, and change nothing.
func TestPlacesPass(t *testing.T) {
	t.Parallel()
	for _, layer := range []mcpcore.Middleware{middleware.BlueprintTarget(nil), middleware.RuntimeAccess(middleware.Access{})} {
		reached := 0
		h := layer.Wrap(func(context.Context, *mcpcore.Call) (*mcpcore.Result, error) { reached++; return nil, nil })
		if _, err := h(t.Context(), nil); err != nil || reached != 1 {
			t.Errorf("%s: reached %d times, error %v", layer.Name, reached, err)
		}
	}
}

// observed is a server with telemetry in memory.
func observed(t *testing.T, o middleware.Options, edit ...func(*mcpcore.Deps)) (server, *tracetest.SpanRecorder, *sdkmetric.ManualReader) {
	t.Helper()
	spans, reader := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	o.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	o.Meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	return serve(t, middleware.Standard(o), edit...), spans, reader
}

func attrs(kv []attribute.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range kv {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

func TestTelemetryOfEveryCall(t *testing.T) {
	t.Parallel()
	s, spans, reader := observed(t, middleware.Options{Categories: []string{"reads", "faults"}})
	good := `{"guild_id":"700000000000000001"}`
	s.want("look", `{"guild_id":"700000000000000001","text":"canary"}`, `{"guild_id":"700000000000000001","text":"canary"}`)
	s.want("look", `{"guild_id":"canary","text":"canary"}`, "VALIDATION_FAILED")
	s.want("change", good, "SCOPE_REJECTED")
	s.want("missing", `{}`, "DISCORD_NOT_FOUND")
	s.want("fault", `{}`, "INTERNAL_ERROR")
	s.want("panic", `{}`, "INTERNAL_ERROR")

	want := []struct{ tool, category, code, status, args string }{
		{"look", "reads", "", "ok", `{"guild_id":"700000000000000001","text":"[REDACTED:6ch]"}`},
		{"look", "reads", "VALIDATION_FAILED", "tool_error", `{}`},
		{"change", "writes", "SCOPE_REJECTED", "tool_error", good},
		{"missing", "faults", "DISCORD_NOT_FOUND", "tool_error", `{}`},
		{"fault", "faults", "INTERNAL_ERROR", "error", `{}`},
		{"panic", "faults", "INTERNAL_ERROR", "error", `{}`},
	}
	ended := spans.Ended()
	if len(ended) != len(want) {
		t.Fatalf("%d spans for %d calls", len(ended), len(want))
	}
	ids := map[string]bool{}
	for i, w := range want {
		span := ended[i]
		a := attrs(span.Attributes())
		if span.Name() != "mcp.tool."+w.tool || span.SpanKind() != trace.SpanKindServer {
			t.Errorf("span %d is %s of kind %s", i, span.Name(), span.SpanKind())
		}
		if a["mcp.tool.name"] != w.tool || a["mcp.tool.category"] != w.category || a["mcp.transport"] != "stdio" || a["mcp.tool.idempotent"] != "false" || a["error.type"] != w.code {
			t.Errorf("span %d has %v", i, a)
		}
		ids[a["mcp.request_id"]] = true
		status := codes.Error
		if w.code == "" {
			status = codes.Ok
		}
		if span.Status().Code != status || span.Status().Description != w.code {
			t.Errorf("span %d ends with %v", i, span.Status())
		}
		if e := span.Events(); len(e) != 1 || e[0].Name != "mcp.tool.args" || attrs(e[0].Attributes)["mcp.args.redacted"] != w.args {
			t.Errorf("span %d has the events %v, want the arguments %s", i, e, w.args)
		}
		if text := fmt.Sprint(span.Attributes(), span.Events(), span.Status()); strings.Contains(text, "canary") {
			t.Errorf("span %d holds what is private: %s", i, text)
		}
	}
	if len(ids) != len(want) {
		t.Errorf("%d request ids for %d calls", len(ids), len(want))
	}

	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.ScopeMetrics) != 1 || got.ScopeMetrics[0].Scope.Name != "github.com/guildwarden/guildwarden" {
		t.Fatalf("scopes are %v", got.ScopeMetrics)
	}
	counts := map[string]uint64{}
	for _, m := range got.ScopeMetrics[0].Metrics {
		switch d := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				a := attrs(p.Attributes.ToSlice())
				counts[m.Name+" "+a["name"]+" "+a["status"]] += uint64(p.Value)
				if len(a) != 5 || a["category"] == "" || a["transport"] != "stdio" || a["idempotent"] != "false" {
					t.Errorf("%s has %v", m.Name, a)
				}
			}
		case metricdata.Histogram[float64]:
			if m.Unit != "ms" {
				t.Errorf("%s is in %s", m.Name, m.Unit)
			}
			for _, p := range d.DataPoints {
				a := attrs(p.Attributes.ToSlice())
				counts[m.Name+" "+a["name"]+" "+a["status"]] += p.Count
			}
		}
	}
	wantCounts := map[string]uint64{}
	for _, w := range want {
		wantCounts["mcp.tool.calls "+w.tool+" "+w.status]++
		wantCounts["mcp.tool.duration_ms "+w.tool+" "+w.status]++
		if w.code != "" {
			wantCounts["mcp.tool.errors "+w.tool+" "+w.status]++
		}
	}
	if fmt.Sprint(counts) != fmt.Sprint(wantCounts) {
		t.Errorf("counted\n%v, want\n%v", counts, wantCounts)
	}
}

// TestTelemetryOfCallsThatDoNotGetIn has one place, which is taken, and then a
// caller without a name.
func TestTelemetryOfCallsThatDoNotGetIn(t *testing.T) {
	t.Parallel()
	running, leave := make(chan struct{}), make(chan struct{})
	user := "ann"
	s, spans, reader := observed(t, middleware.Options{}, func(d *mcpcore.Deps) {
		d.InFlight = 1
		d.Identify = func(context.Context, *mcp.CallToolRequest) (string, error) { return user, nil }
		d.Tools = append(d.Tools, fails("wait", func() error { running <- struct{}{}; <-leave; return nil }))
	})
	var wg sync.WaitGroup
	wg.Go(func() { s.want("wait", `{}`, "") })
	<-running
	s.want("look", `{"guild_id":"700000000000000001","text":"canary"}`, "BULKHEAD_FULL")
	close(leave)
	wg.Wait()
	user = ""
	s.want("change", `{"guild_id":"700000000000000001","text":"canary"}`, "DISCORD_AUTH_INVALID")

	var got []string
	for _, span := range spans.Ended() {
		a := attrs(span.Attributes())
		if span.SpanKind() != trace.SpanKindServer || a["mcp.request_id"] == "" || strings.Contains(fmt.Sprint(span.Events()), "canary") {
			t.Errorf("%s is %s with %v, %v", span.Name(), span.SpanKind(), a, span.Events())
		}
		got = append(got, span.Name()+" "+a["error.type"])
	}
	if want := []string{"mcp.tool.look BULKHEAD_FULL", "mcp.tool.wait ", "mcp.tool.change DISCORD_AUTH_INVALID"}; !slices.Equal(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
	var measured metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &measured); err != nil {
		t.Fatal(err)
	}
	refused := map[string]int64{}
	for _, m := range measured.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "mcp.tool.errors" {
			for _, p := range sum.DataPoints {
				refused[attrs(p.Attributes.ToSlice())["name"]] += p.Value
			}
		}
	}
	if refused["look"] != 1 || refused["change"] != 1 || len(refused) != 2 {
		t.Errorf("counted %v", refused)
	}
}

// A layer that panics is counted like a handler that does, and the audit names
// the span.
func TestTelemetryAndAuditKnowEachOther(t *testing.T) {
	t.Parallel()
	var events []mcpcore.AuditEvent
	s, spans, _ := observed(t, middleware.Options{}, func(d *mcpcore.Deps) {
		d.Audit = sinkFunc(func(e mcpcore.AuditEvent) error { events = append(events, e); return nil })
		d.Chain = append(d.Chain, mcpcore.Middleware{Name: "last", Wrap: func(mcpcore.Handler) mcpcore.Handler {
			return func(context.Context, *mcpcore.Call) (*mcpcore.Result, error) { panic("canary") }
		}})
	})
	s.want("change", `{"guild_id":"700000000000000001"}`, "INTERNAL_ERROR")
	ended := spans.Ended()
	if len(ended) != 1 || ended[0].Status().Code != codes.Error {
		t.Fatalf("spans are %v", ended)
	}
	if len(events) != 2 {
		t.Fatalf("recorded %d events", len(events))
	}
	for _, e := range events {
		if e.TraceID != ended[0].SpanContext().TraceID().String() || e.SpanID != ended[0].SpanContext().SpanID().String() {
			t.Errorf("the %s names the trace %s", e.Phase, e.TraceID)
		}
		if e.RequestID != attrs(ended[0].Attributes())["mcp.request_id"] {
			t.Errorf("the %s has the request id %s", e.Phase, e.RequestID)
		}
	}
}

// TestRefusalIsLoggedInItsTrace looks at the log line of a refused call, which
// is written behind the chain.
func TestRefusalIsLoggedInItsTrace(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewInMemoryExporter()
	o := middleware.Options{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)), PreviewOnly: true}
	var logged traceHandler
	serve(t, middleware.Standard(o), func(d *mcpcore.Deps) { d.Logger = slog.New(&logged) }).
		call("change", `{"guild_id":"700000000000000001"}`)
	if got, want := logged.trace.String(), spans.GetSpans()[0].SpanContext.TraceID().String(); got != want {
		t.Errorf("logged under trace %s, the call's is %s", got, want)
	}
}

// traceHandler keeps the trace of the last warning.
type traceHandler struct{ trace trace.TraceID }

func (h *traceHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h *traceHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h *traceHandler) WithGroup(string) slog.Handler            { return h }
func (h *traceHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelWarn {
		h.trace = trace.SpanContextFromContext(ctx).TraceID()
	}
	return nil
}
