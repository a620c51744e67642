package boot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	channel   = "1200000000000000313"
	webhook   = "1200000000000000777"
	hookToken = "whk-canary-nobody-may-see-me"
)

// collector takes what is exported.
type collector struct {
	*httptest.Server
	answer http.HandlerFunc // instead of 200; nil for none

	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

func collect(t *testing.T, answer http.HandlerFunc) *collector {
	t.Helper()
	c := &collector{answer: answer}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		c.requests, c.bodies = append(c.requests, r), append(c.bodies, b)
		c.mu.Unlock()
		if c.answer != nil {
			c.answer(w, r)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// each decodes the bodies that came for a path.
func each[M proto.Message](t *testing.T, c *collector, path string, use func(M)) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.requests {
		if r.URL.Path != path {
			continue
		}
		var m M
		m = m.ProtoReflect().New().Interface().(M)
		if err := proto.Unmarshal(c.bodies[i], m); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		use(m)
	}
}

func (c *collector) spans(t *testing.T, base string) (all []*tracepb.Span) {
	t.Helper()
	each(t, c, base+"/v1/traces", func(m *traces.ExportTraceServiceRequest) {
		for _, r := range m.ResourceSpans {
			for _, s := range r.ScopeSpans {
				all = append(all, s.Spans...)
			}
		}
	})
	slices.SortFunc(all, func(a, b *tracepb.Span) int { return int(a.StartTimeUnixNano) - int(b.StartTimeUnixNano) })
	return all
}

func attributes(list []*commonpb.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			m[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			m[kv.Key] = fmt.Sprint(v.IntValue)
		case *commonpb.AnyValue_BoolValue:
			m[kv.Key] = fmt.Sprint(v.BoolValue)
		default:
			m[kv.Key] = fmt.Sprintf("%T", v)
		}
	}
	return m
}

// output is a stderr that may be read at any time.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// wired is a server as the binary builds it, with a Discord of its own.
type wired struct {
	*mcp.ClientSession
	stderr *output
	close  func() error
}

// wire starts a server on an environment. Discord knows one channel without
// messages, and webhooks. The tool "knock" uses one.
func wire(t *testing.T, vars ...string) wired {
	t.Helper()
	discord := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Traceparent", "Tracestate", "Baggage"} {
			if r.Header.Get(name) != "" {
				t.Errorf("Discord gets the header %s", name)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.Contains(r.URL.Path, "/webhooks/"):
			_, _ = io.WriteString(w, "{}")
		case r.URL.Path == "/channels/"+channel+"/messages":
			_, _ = io.WriteString(w, "[]")
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message":"Unknown Channel","code":10003}`)
		}
	}))
	t.Cleanup(discord.Close)
	c, err := boot.Read(with(append(vars, "DISCORD_API_BASE="+discord.URL, "LOG_LEVEL=debug")...), false)
	if err != nil {
		t.Fatal(err)
	}
	stderr := &output{}
	deps, done, err := boot.Deps(c, boot.Options{Transport: "stdio", Stderr: stderr})
	if err != nil {
		t.Fatal(err)
	}
	client := deps.Client
	client.Tracer = deps.Tracer
	rest, err := discordtools.NewClient(deps.Session, client)
	if err != nil {
		t.Fatal(err)
	}
	deps.Tools = append(deps.Tools, knock(rest))
	server, err := discordtools.BuildServer(deps)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(context.Background(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return wired{session, stderr, sync.OnceValue(done)}
}

// knock is a tool of an embedder that writes to a webhook.
func knock(rest discordtools.REST) mcpcore.Tool {
	type in struct {
		Secret string `json:"secret" jsonschema:"secret"`
	}
	type out struct {
		Done bool `json:"done"`
	}
	return mcpcore.Define(mcpcore.Tool{Name: "knock", Title: "Knock", Doc: "Knocks.", Category: "meta", Effect: mcpcore.Write, Gate: mcpcore.NoGate, Scope: mcpcore.LocalScope},
		func(ctx context.Context, _ *mcpcore.Call, _ in) (out, error) {
			_, err := rest.Do(ctx, discordtools.Request{
				Method: "POST", Route: "/webhooks/{webhook_id}/{webhook_token}", Anonymous: true,
				Path: map[string]string{"webhook_id": webhook, "webhook_token": hookToken}, Query: map[string][]string{"wait": {"query-canary"}},
			})
			return out{true}, err
		})
}

// answers calls a tool and wants a code, "" for success.
func (w wired) answers(t *testing.T, tool, args, code string) {
	t.Helper()
	res, err := w.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := res.StructuredContent.(map[string]any)["code"].(string)
	if got != code {
		t.Errorf("%s %s answers %q, want %q: %v", tool, args, got, code, res.StructuredContent)
	}
}

// use makes calls of all kinds: two good ones, a refused one and one that fails
// in Discord.
func (w wired) use(t *testing.T) {
	t.Helper()
	w.answers(t, "knock", `{"secret":"argument-canary"}`, "")
	w.answers(t, "messages_read", `{"channel_id":"`+channel+`","limit":5}`, "")
	w.answers(t, "messages_read", `{"channel_id":"refused-canary"}`, "VALIDATION_FAILED")
	w.answers(t, "messages_read", `{"channel_id":"1200000000000000999"}`, "DISCORD_NOT_FOUND")
	if err := w.close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// hidden are what no telemetry may hold.
func hidden() []string {
	return []string{token, token[:16], token[len(token)-16:], hookToken, webhook, "canary", "wait="}
}

func TestCollectorGetsEveryCall(t *testing.T) {
	t.Parallel()
	got := collect(t, nil)
	w := wire(t, "OTEL_ENABLED=1", "OTEL_EXPORTER_OTLP_ENDPOINT="+got.URL+"/otlp/", "OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20b,ignored,",
		"OTEL_SERVICE_NAME=bot", "OTEL_RESOURCE_ATTRIBUTES=service.name=other,region=a%2Cb,mcp.transport=pigeon", "MCP_CATEGORIES=messages")
	w.use(t)

	const base = "/otlp"
	for i, r := range got.requests {
		if r.Header.Get("X-Key") != "a b" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Method != "POST" {
			t.Errorf("%s %s comes with %v", r.Method, r.URL, r.Header)
		}
		for _, secret := range hidden() {
			if bytes.Contains(got.bodies[i], []byte(secret)) {
				t.Errorf("%s holds %s", r.URL, secret)
			}
		}
	}
	type span struct {
		name   string
		kind   tracepb.Span_SpanKind
		status tracepb.Status_StatusCode
		args   string
		attrs  map[string]string
	}
	tool := func(name, category, code, args string) span {
		s := span{name: "mcp.tool." + name, kind: tracepb.Span_SPAN_KIND_SERVER, status: tracepb.Status_STATUS_CODE_OK, args: args, attrs: map[string]string{
			"mcp.tool.name": name, "mcp.tool.category": category, "mcp.tool.idempotent": "false", "mcp.transport": "stdio",
		}}
		if code != "" {
			s.status, s.attrs["error.type"] = tracepb.Status_STATUS_CODE_ERROR, code
		}
		return s
	}
	request := func(method, template, redacted, status, code string) span {
		s := span{name: method + " " + template, kind: tracepb.Span_SPAN_KIND_CLIENT, attrs: map[string]string{
			"http.request.method": method, "http.response.status_code": status, "discord.route": method + " " + redacted, "server.address": "127.0.0.1",
		}}
		if code != "" {
			s.status, s.attrs["error.type"] = tracepb.Status_STATUS_CODE_ERROR, code
		}
		return s
	}
	want := []span{
		tool("knock", "meta", "", `{"secret":"[REDACTED:15ch]"}`),
		request("POST", "/webhooks/{webhook_id}/{webhook_token}", "/webhooks/:id/:token", "200", ""),
		tool("messages_read", "messages", "", `{"channel_id":"`+channel+`","limit":5}`),
		request("GET", "/channels/{channel_id}/messages", "/channels/:id/messages", "200", ""),
		tool("messages_read", "messages", "VALIDATION_FAILED", `{}`),
		tool("messages_read", "messages", "DISCORD_NOT_FOUND", `{"channel_id":"1200000000000000999"}`),
		request("GET", "/channels/{channel_id}/messages", "/channels/:id/messages", "404", "DISCORD_NOT_FOUND"),
	}
	var have []span
	var call *tracepb.Span
	for _, s := range got.spans(t, base) {
		h := span{name: s.Name, kind: s.Kind, status: s.GetStatus().GetCode(), attrs: attributes(s.Attributes)}
		if s.Kind == tracepb.Span_SPAN_KIND_SERVER {
			call = s
			if h.attrs["mcp.request_id"] == "" || len(s.Events) != 1 || s.Events[0].Name != "mcp.tool.args" || len(s.ParentSpanId) > 0 {
				t.Errorf("%s: %v", s.Name, s)
			}
			delete(h.attrs, "mcp.request_id")
			h.args = attributes(s.Events[0].Attributes)["mcp.args.redacted"]
			if h.attrs["mcp.tool.idempotent"] == "true" { // declarations may say so
				h.attrs["mcp.tool.idempotent"] = "false"
			}
		} else if !bytes.Equal(s.ParentSpanId, call.SpanId) || !bytes.Equal(s.TraceId, call.TraceId) {
			t.Errorf("%s is not in its call", s.Name)
		}
		have = append(have, h)
	}
	if diff := cmp.Diff(want, have, cmp.AllowUnexported(span{})); diff != "" {
		t.Errorf("the spans are not those of the calls:\n%s", diff)
	}
	for _, line := range []string{fmt.Sprintf(`"trace_id":"%x"`, call.TraceId), fmt.Sprintf(`"span_id":"%x"`, call.SpanId)} {
		if !strings.Contains(w.stderr.String(), line) {
			t.Errorf("no log line has %s", line)
		}
	}
	if log := w.stderr.String(); !strings.Contains(log, "OTEL_EXPORTER_OTLP_HEADERS has an item without =") || strings.Contains(log, "ignored") {
		t.Errorf("the header without a value is not warned of, or shown:\n%s", log)
	}

	each(t, got, base+"/v1/traces", func(m *traces.ExportTraceServiceRequest) {
		for _, r := range m.ResourceSpans {
			a := attributes(r.Resource.Attributes)
			if a["mcp.tool_count"] == "" || a["mcp.tool_count"] == "0" || a["service.version"] != boot.Version() || a["telemetry.sdk.name"] != "opentelemetry" {
				t.Errorf("the resource is %v", a)
			}
			for name, value := range map[string]string{"service.name": "bot", "region": "a,b", "mcp.transport": "stdio", "deployment.environment.name": "development"} {
				if a[name] != value {
					t.Errorf("the resource says %s is %q, want %q", name, a[name], value)
				}
			}
		}
	})
	checkMetrics(t, got, base)
}

// checkMetrics wants the metrics of use.
func checkMetrics(t *testing.T, got *collector, base string) {
	t.Helper()
	have := map[string]uint64{}
	note := func(name string, list []*commonpb.KeyValue, n uint64) {
		a := attributes(list)
		if len(a) != 5 || a["transport"] != "stdio" || a["idempotent"] == "" {
			t.Errorf("%s has the attributes %v", name, a)
		}
		have[strings.Join([]string{name, a["category"], a["name"], a["status"]}, " ")] = n
	}
	each(t, got, base+"/v1/metrics", func(m *metrics.ExportMetricsServiceRequest) { // the last is the sum of all
		for _, r := range m.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, m := range s.Metrics {
					for _, p := range m.GetSum().GetDataPoints() {
						note(m.Name+"/"+m.Unit, p.Attributes, uint64(p.GetAsInt()))
					}
					for _, p := range m.GetHistogram().GetDataPoints() {
						note(m.Name+"/"+m.Unit, p.Attributes, p.Count)
					}
				}
			}
		}
	})
	want := map[string]uint64{"mcp.tool.errors/1 messages messages_read tool_error": 2}
	for _, name := range []string{"mcp.tool.calls/1", "mcp.tool.duration_ms/ms"} {
		want[name+" meta knock ok"] = 1
		want[name+" messages messages_read ok"] = 1
		want[name+" messages messages_read tool_error"] = 2
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("the metrics are not those of the calls:\n%s", diff)
	}
}

func TestCollectorGetsJSON(t *testing.T) {
	t.Parallel()
	got := collect(t, nil)
	wire(t, "OTEL_ENABLED=yes", "OTEL_EXPORTER_OTLP_ENDPOINT="+got.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "MCP_AUDIT_SINK=otlp").use(t)
	type message struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					Name                          string
					Kind                          int
					TraceID, SpanID, ParentSpanID string
				}
			}
		}
		ResourceMetrics []struct {
			ScopeMetrics []struct{ Metrics []struct{ Name string } }
		}
		ResourceLogs []struct {
			ScopeLogs []struct{ LogRecords []struct{ TraceID string } }
		}
	}
	seen, ids := map[string]int{}, map[string]bool{}
	for i, r := range got.requests {
		if r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s is %s", r.URL, r.Header.Get("Content-Type"))
		}
		for _, secret := range hidden() {
			if bytes.Contains(got.bodies[i], []byte(secret)) {
				t.Errorf("%s holds %s", r.URL, secret)
			}
		}
		var m message
		if err := json.Unmarshal(got.bodies[i], &m); err != nil {
			t.Fatalf("%s: %v", r.URL, err)
		}
		for _, rs := range m.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					seen[r.URL.Path+" "+s.Name]++
					ids[s.TraceID] = true
					if len(s.TraceID) != 32 || len(s.SpanID) != 16 || s.Kind == 3 && len(s.ParentSpanID) != 16 || s.Kind != 2 && s.Kind != 3 {
						t.Errorf("%s: %+v", r.URL, s)
					}
				}
			}
		}
		for _, rm := range m.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					seen[r.URL.Path+" "+m.Name]++
				}
			}
		}
		for _, rl := range m.ResourceLogs {
			for _, sl := range rl.ScopeLogs {
				for _, l := range sl.LogRecords {
					seen[r.URL.Path]++
					if len(l.TraceID) != 32 {
						t.Errorf("a record names the trace %q", l.TraceID)
					}
				}
			}
		}
	}
	want := map[string]int{
		"/v1/traces mcp.tool.knock": 1, "/v1/traces mcp.tool.messages_read": 3,
		"/v1/traces POST /webhooks/{webhook_id}/{webhook_token}": 1, "/v1/traces GET /channels/{channel_id}/messages": 2,
		"/v1/metrics mcp.tool.calls": 1, "/v1/metrics mcp.tool.duration_ms": 1, "/v1/metrics mcp.tool.errors": 1,
		"/v1/logs": 1,
	}
	if diff := cmp.Diff(want, seen); diff != "" || len(ids) != 4 {
		t.Errorf("%d traces;\n%s", len(ids), diff)
	}
}

// Audit records go to the collector without the rest of telemetry, too.
func TestAuditGoesToTheCollectorAlone(t *testing.T) {
	t.Parallel()
	got := collect(t, nil)
	w := wire(t, "MCP_AUDIT_SINK=otlp", "OTEL_EXPORTER_OTLP_ENDPOINT="+got.URL)
	w.use(t)
	var bodies []string
	each(t, got, "/v1/logs", func(m *logs.ExportLogsServiceRequest) {
		for _, l := range m.ResourceLogs[0].ScopeLogs[0].LogRecords {
			bodies = append(bodies, l.Body.GetStringValue())
			if a := attributes(l.Attributes); a["mcp.audit.tool"] != "knock" || a["mcp.audit.status"] != "success" {
				t.Errorf("the record has %v", a)
			}
		}
	})
	if len(bodies) != 1 || !strings.Contains(bodies[0], `"args_redacted":{"secret":"[REDACTED:15ch]"}`) {
		t.Errorf("the records are %q", bodies)
	}
	if len(got.requests) != 1 {
		t.Errorf("%d requests, want those of audits alone", len(got.requests))
	}
	if strings.Contains(w.stderr.String(), "args_redacted") {
		t.Error("the record is on stderr as well")
	}
}

func TestNothingLeavesUnasked(t *testing.T) {
	t.Parallel()
	got := collect(t, nil)
	for name, vars := range map[string][]string{
		"unset":      {"OTEL_EXPORTER_OTLP_ENDPOINT=" + got.URL},
		"off":        {"OTEL_ENABLED=false", "OTEL_EXPORTER_OTLP_ENDPOINT=" + got.URL},
		"no address": {"OTEL_ENABLED=true"},
	} {
		wire(t, vars...).use(t)
		if n := len(got.requests); n > 0 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

func TestSampler(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, arg string
		spans     bool
	}{
		{"", "", true}, {"always_on", "", true}, {"parentbased_always_on", "", true}, {"traceidratio", "1", true}, {"parentbased_traceidratio", "", true},
		{"always_off", "", false}, {"parentbased_always_off", "", false}, {"traceidratio", "0", false}, {"parentbased_traceidratio", "0.0", false},
	} {
		t.Run(row.name+" "+row.arg, func(t *testing.T) {
			t.Parallel()
			got := collect(t, nil)
			wire(t, "OTEL_ENABLED=1", "OTEL_EXPORTER_OTLP_ENDPOINT="+got.URL, "OTEL_TRACES_SAMPLER="+row.name, "OTEL_TRACES_SAMPLER_ARG="+row.arg).use(t)
			if n := len(got.spans(t, "")); (n > 0) != row.spans {
				t.Errorf("%d spans", n)
			}
			checkMetrics(t, got, "") // whatever is sampled
		})
	}
}

func TestConsoleIsStderr(t *testing.T) {
	t.Parallel()
	got := collect(t, nil)
	w := wire(t, "OTEL_ENABLED=1", "OTEL_CONSOLE_EXPORTER=1", "OTEL_EXPORTER_OTLP_ENDPOINT="+got.URL)
	w.use(t)
	if n := strings.Count(w.stderr.String(), `"SpanKind":2`); n != 4 {
		t.Errorf("%d spans on stderr", n)
	}
	for _, secret := range hidden() {
		if strings.Contains(w.stderr.String(), secret) {
			t.Errorf("stderr holds %s", secret)
		}
	}
	if len(got.spans(t, "")) > 0 {
		t.Error("the spans went to the collector as well")
	}
	checkMetrics(t, got, "")
}

// A collector in whose place nobody answers, or nonsense, or nothing for long,
// costs no call and no answer.
func TestCollectorThatFailsCostsNothing(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	absent := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cut := collect(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	nonsense := collect(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = io.WriteString(w, "<html>")
	})
	elsewhere := collect(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, nonsense.URL, http.StatusTemporaryRedirect)
	})
	for name, url := range map[string]string{"absent": absent, "cut": cut.URL, "nonsense": nonsense.URL, "elsewhere": elsewhere.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire(t, "OTEL_ENABLED=1", "OTEL_EXPORTER_OTLP_ENDPOINT="+url, "MCP_AUDIT_SINK=otlp").use(t)
		})
	}
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		held, release := make(chan struct{}, 1), make(chan struct{})
		slow := collect(t, func(http.ResponseWriter, *http.Request) {
			select {
			case held <- struct{}{}:
			default:
			}
			<-release
		})
		w := wire(t, "OTEL_ENABLED=1", "OTEL_EXPORTER_OTLP_ENDPOINT="+slow.URL, "OTEL_METRIC_EXPORT_INTERVAL=100")
		w.answers(t, "knock", `{"secret":"x"}`, "")
		<-held // an export is under way and stays so
		w.answers(t, "knock", `{"secret":"x"}`, "")
		close(release)
		w.use(t)
	})
}

// The end waits for a collector no longer than five seconds, even when an
// exporter does not listen to its context.
func TestEndIsBounded(t *testing.T) {
	t.Parallel()
	for name, stuck := range map[string]func(ctx context.Context, release chan struct{}) error{
		"polite":   func(ctx context.Context, _ chan struct{}) error { <-ctx.Done(); return ctx.Err() },
		"stubborn": func(_ context.Context, release chan struct{}) error { <-release; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log output
				release := make(chan struct{})
				start := time.Now()
				stop := func(ctx context.Context) error { return stuck(ctx, release) }
				boot.Stop(slog.New(slog.NewTextHandler(&log, nil)), stop, func(context.Context) error { return nil }, stop)
				if took := time.Since(start); took != 5*time.Second {
					t.Errorf("it took %s", took)
				}
				close(release)
				if !strings.Contains(log.String(), "could not be delivered within 5s") {
					t.Errorf("the log says %q", &log)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		boot.Stop(slog.New(slog.DiscardHandler), func(context.Context) error { return errors.New("refused") })
		if time.Since(start) > 0 {
			t.Error("a collector that refuses is waited for")
		}
	})
}

// TestExporterErrorsAreLogged does not run beside other tests: OpenTelemetry has
// one handler of errors in a process.
func TestExporterErrorsAreLogged(t *testing.T) {
	const key = "header-canary"
	got := collect(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "no such key: "+r.Header.Get("X-Key")+strings.Repeat(" and so on", 1000))
	})
	w := wire(t, "OTEL_ENABLED=1", "OTEL_EXPORTER_OTLP_ENDPOINT="+got.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key="+key)
	w.use(t)
	log := w.stderr.String()
	for _, want := range []string{`"msg":"telemetry","error":"`, "403 Forbidden", "/v1/traces", "/v1/metrics", "no such key: [redacted]"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s:\n%s", want, log)
		}
	}
	if strings.Contains(log, key) {
		t.Error("the log holds the header")
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"msg":"telemetry"`) && len(line) > 600 {
			t.Errorf("a line of %d bytes: %.200s", len(line), line)
		}
	}
}

func TestTelemetrySettings(t *testing.T) {
	t.Parallel()
	const at = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318"
	for _, row := range []struct {
		name             string
		starts, problems []string
	}{
		{"OTEL_ENABLED", []string{"", "1", "true", "yes", "0", "false", "no"}, []string{"TRUE", "on", "2"}},
		{"OTEL_CONSOLE_EXPORTER", []string{"", "1", "false"}, []string{"stdout"}},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", []string{"", "http://127.0.0.1:4318", "https://otel.example.org/base/"},
			[]string{"127.0.0.1:4318", "localhost", "grpc://x:4317", "http://", "http://user:canary@x", "http://x/?key=canary", "http://x/#canary", "http://x:canary"}},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", []string{"", "http/protobuf", "http/json"}, []string{"grpc", "http", "HTTP/JSON"}},
		{"OTEL_EXPORTER_OTLP_HEADERS", []string{"", "a=b", " a = b , c=d=e,", "x-key=", "authorization=Basic%20canary", "left out"},
			[]string{"a b=canary", "=canary", "a=canary%zz", "a=canary%0d%0ax: y"}},
		{"OTEL_TRACES_SAMPLER", []string{"", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"},
			[]string{"never", "parentbased_", "jaeger_remote"}},
		{"OTEL_TRACES_SAMPLER_ARG", []string{"", "0", "1", "0.25"}, []string{"-0.1", "1.1", "half", "NaN"}},
		{"OTEL_METRIC_EXPORT_INTERVAL", []string{"", "100", "60000"}, []string{"0", "-1", "99", "30s", "3600001", "99999999999999999999"}},
		{"OTEL_RESOURCE_ATTRIBUTES", []string{"", "a=b,c=d%2C", "nothing"}, []string{"a=%"}},
		{"MCP_AUDIT_SINK", []string{"otlp"}, nil},
	} {
		for _, v := range row.starts {
			if _, err := boot.Read(with("OTEL_ENABLED=true", at, row.name+"="+v), false); err != nil {
				t.Errorf("%s=%q does not start: %v", row.name, v, err)
			}
		}
		for _, v := range row.problems {
			_, err := boot.Read(with("OTEL_ENABLED=true", at, row.name+"="+v), false)
			if err == nil {
				t.Errorf("%s=%q starts", row.name, v)
			} else if !strings.HasPrefix(err.Error(), row.name) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s=%q: the problem is not under the name, or shows the value: %v", row.name, v, err)
			}
			if row.name == "OTEL_ENABLED" || row.name == "OTEL_CONSOLE_EXPORTER" {
				continue
			}
			if _, err := boot.Read(with(row.name+"="+v), false); err != nil {
				t.Errorf("%s=%q does not start although telemetry is off: %v", row.name, v, err)
			}
		}
	}
	_, err := boot.Read(with("OTEL_ENABLED=1", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_TRACES_SAMPLER=no", "OTEL_TRACES_SAMPLER_ARG=2",
		"OTEL_METRIC_EXPORT_INTERVAL=x", "OTEL_EXPORTER_OTLP_ENDPOINT=x", "OTEL_EXPORTER_OTLP_HEADERS==", "OTEL_RESOURCE_ATTRIBUTES=a=%"), false)
	if err == nil {
		t.Fatal("it starts")
	}
	for _, name := range []string{"_PROTOCOL", "_SAMPLER ", "_SAMPLER_ARG", "_INTERVAL", "_ENDPOINT", "_HEADERS", "_ATTRIBUTES"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not among the problems:\n%v", name, err)
		}
	}
	if _, err := boot.Read(with("MCP_AUDIT_SINK=otlp"), false); err == nil || !strings.HasPrefix(err.Error(), "MCP_AUDIT_SINK") {
		t.Errorf("audits go to a collector that nobody named: %v", err)
	}
	c, err := boot.Read(with("OTEL_ENABLED=1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://x", "OTEL_BSP_MAX_QUEUE_SIZE=9"), false)
	if err != nil || !slices.Equal(c.Warnings, []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT has no effect in this version"}) {
		t.Errorf("warnings are %q, error %v", c.Warnings, err)
	}
}
