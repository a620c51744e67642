package main_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
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
