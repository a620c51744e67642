package main_test

import (
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTelemetryLeavesStdoutAlone calls a tool with every kind of telemetry on:
// stdout holds the result and nothing else, whatever becomes of the collector.
func TestTelemetryLeavesStdoutAlone(t *testing.T) {
	t.Parallel()
	var taken atomic.Int32
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		taken.Add(1)
		if r.Header.Get("Authorization") != "" {
			t.Error("the collector gets an authorization")
		}
	}))
	t.Cleanup(there.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	absent := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, endpoint, console string
		says                    string
	}{
		{"there", there.URL, "", "telemetry started"},
		{"absent", absent, "", "connection refused"},
		{"console", absent, "true", `"Name":"mcp.tool.messages_send"`},
	} {
		e := run(t, []string{"OTEL_ENABLED=true", "OTEL_EXPORTER_OTLP_ENDPOINT=" + row.endpoint, "OTEL_CONSOLE_EXPORTER=" + row.console, "MCP_AUDIT_SINK=otlp",
			// What exporters read by themselves must not lead elsewhere or break the start.
			"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + there.URL + "/elsewhere", "OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip",
			"OTEL_EXPORTER_OTLP_METRICS_HEADERS=authorization=" + canary + ",=" + canary + "," + canary},
			"", "call", "messages_send", `{"channel_id":"`+general+`","content":"hello"}`, "--sandbox")
		var answer map[string]any
		if err := json.Unmarshal([]byte(e.stdout), &answer); err != nil || answer["message_id"] == "" {
			t.Errorf("%s: stdout is not the result (%v):\n%s", row.name, err, e.stdout)
		}
		if e.status != 0 {
			t.Errorf("%s: exit status %d", row.name, e.status)
		}
		if !strings.Contains(e.stderr, row.says) {
			t.Errorf("%s: stderr has no %q:\n%s", row.name, row.says, e.stderr)
		}
		if n := strings.Count(e.stderr, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT has no effect"); n != 1 {
			t.Errorf("%s: %d warnings of a variable that has no effect", row.name, n)
		}
	}
	if n := taken.Load(); n != 3 {
		t.Errorf("the collector was sent %d times, want traces, metrics and logs once each", n)
	}
}

// otlp is a collector that decodes what it is sent.
type otlp struct {
	mu    sync.Mutex
	spans []otlpSpan
	sums  map[string]int // by metric and tool: sums, and counts of histograms
}

type otlpSpan struct {
	Name, SpanID, ParentSpanID, TraceID string
	Kind                                int // 2 is SERVER
	Attributes                          []otlpAttribute
}

type otlpAttribute struct {
	Key   string
	Value struct{ StringValue string }
}

type otlpPoint struct {
	Attributes   []otlpAttribute
	AsInt, Count string
}

func (p otlpPoint) tool() string {
	for _, a := range p.Attributes {
		if a.Key == "name" {
			return a.Value.StringValue
		}
	}
	return ""
}

// newOTLP starts one; env are the settings that send it everything.
func newOTLP(t *testing.T) (c *otlp, env []string) {
	t.Helper()
	c = &otlp{sums: map[string]int{}}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []otlpSpan } }

			ResourceMetrics []struct {
				ScopeMetrics []struct {
					Metrics []struct {
						Name           string
						Sum, Histogram struct{ DataPoints []otlpPoint }
					}
				}
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, r := range m.ResourceSpans {
			for _, s := range r.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
		for _, r := range m.ResourceMetrics { // each export holds the sums until then
			for _, s := range r.ScopeMetrics {
				for _, m := range s.Metrics {
					sums := map[string]int{}
					for _, p := range append(m.Sum.DataPoints, m.Histogram.DataPoints...) {
						n, err := strconv.Atoi(p.AsInt + p.Count)
						if err != nil {
							t.Errorf("%s: %v", m.Name, err)
						}
						sums[m.Name+" "+p.tool()] += n
					}
					maps.Copy(c.sums, sums)
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return c, []string{"OTEL_ENABLED=true", "OTEL_EXPORTER_OTLP_ENDPOINT=" + s.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/json"}
}

// measured is what the metrics have come to.
func (c *otlp) measured() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sums)
}

// server lists the SERVER spans as name and parent's name.
func (c *otlp) server() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]string{}
	for _, s := range c.spans {
		names[s.TraceID+s.SpanID] = s.Name
	}
	for _, s := range c.spans {
		if s.Kind != 2 {
			continue
		}
		if parent := names[s.TraceID+s.ParentSpanID]; parent != "" {
			all = append(all, s.Name+" in "+parent)
		} else {
			all = append(all, s.Name)
		}
	}
	slices.Sort(all)
	return all
}

// TestEachCallIsOneSpan: also one that is refused, and one in which a person is
// asked in between.
func TestEachCallIsOneSpan(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		c, env := newOTLP(t)
		s, end := agentWith(t, says("accept", true).options(), era, append(env, "MCP_HUMAN_APPROVAL=writes"), "serve", "--sandbox")
		expect(t, s, "messages_send", greet, "")
		expect(t, s, "messages_send", `{}`, "VALIDATION_FAILED")
		expect(t, s, "messages_read", `{"channel_id":"`+general+`"}`, "")
		end()
		if want := []string{"mcp.question.messages_send", "mcp.tool.messages_read", "mcp.tool.messages_send", "mcp.tool.messages_send in mcp.question.messages_send"}; !slices.Equal(c.server(), want) {
			t.Errorf("%s: spans %q", era, c.server())
		}
		want := map[string]int{
			"mcp.tool.calls messages_send": 2, "mcp.tool.duration_ms messages_send": 2, "mcp.tool.errors messages_send": 1,
			"mcp.tool.calls messages_read": 1, "mcp.tool.duration_ms messages_read": 1,
		}
		if diff := cmp.Diff(want, c.measured()); diff != "" {
			t.Errorf("%s: measured (-want, +got)\n%s", era, diff)
		}
	}
}

// TestUnexpectedConfirmationIsTold to the log, the audit and the collector.
func TestUnexpectedConfirmationIsTold(t *testing.T) {
	t.Parallel()
	preview := strings.Replace(closing, `,"__confirm":true`, "", 1)
	for name, row := range map[string]struct {
		env        []string
		calls      [][2]string // arguments and code
		unexpected int         // calls
		acted      bool
	}{
		"never previewed":          {nil, [][2]string{{closing, ""}}, 1, true},
		"previewed":                {nil, [][2]string{{preview, "DRY_RUN_PREVIEW"}, {closing, ""}}, 0, true},
		"another was previewed":    {nil, [][2]string{{strings.Replace(preview, lounge, general, 1), "DRY_RUN_PREVIEW"}, {closing, ""}}, 1, true},
		"never, where it must be":  {[]string{"MCP_REQUIRE_PREVIEW=true"}, [][2]string{{closing, "PREVIEW_REQUIRED"}}, 1, false},
		"previewed, as it must be": {[]string{"MCP_REQUIRE_PREVIEW=true"}, [][2]string{{preview, "DRY_RUN_PREVIEW"}, {closing, ""}}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, env := newOTLP(t)
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			s, end := agent(t, eras[1], slices.Concat(env, row.env, []string{"MCP_DRY_RUN=false", "MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + path}), "serve", "--sandbox")
			for _, call := range row.calls {
				expect(t, s, "channels_delete", call[0], call[1])
			}
			end()
			if got := c.measured()["mcp.confirmations.unexpected channels_delete"]; got != row.unexpected {
				t.Errorf("%d are counted, want %d", got, row.unexpected)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			marked := strings.Count(string(b), `"unexpected_confirmation":true`)
			acts := strings.Count(string(b), `"tool":"channels_delete"`)
			if (acts == 2) != row.acted || acts > 0 && marked != 2*row.unexpected || acts == 0 && marked > 0 {
				t.Errorf("%d records of the call, %d marked:\n%s", acts, marked, b)
			}
		})
	}
}
