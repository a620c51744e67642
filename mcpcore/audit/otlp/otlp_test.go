package otlp_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/trace"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit/otlp"
	"github.com/guildwarden/guildwarden/mcpcore/audittest"
)

// memory is a processor that keeps what is emitted.
type memory struct {
	mu      sync.Mutex
	records []sdklog.Record
}

func (m *memory) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

func (m *memory) OnEmit(_ context.Context, r *sdklog.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, r.Clone())
	return nil
}

func (m *memory) Shutdown(context.Context) error   { return nil }
func (m *memory) ForceFlush(context.Context) error { return nil }

func (m *memory) all() []sdklog.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.records)
}

type collected struct {
	mcpcore.AuditSink
	m *memory
}

func collect() collected {
	m := &memory{}
	return collected{otlp.New(sdklog.NewLoggerProvider(sdklog.WithProcessor(m))), m}
}

func (c collected) Events(t *testing.T) (events []mcpcore.AuditEvent) {
	for _, r := range c.m.all() {
		var e mcpcore.AuditEvent
		if err := json.Unmarshal([]byte(r.Body().AsString()), &e); err != nil {
			t.Errorf("the body %s is no event: %v", r.Body().AsString(), err)
		}
		events = append(events, e)
	}
	return events
}

func TestSinkKeepsTheContract(t *testing.T) {
	t.Parallel()
	audittest.Run(t, func(*testing.T) mcpcore.AuditSink { return collect() })
	t.Run("no provider", func(t *testing.T) {
		t.Parallel()
		audittest.Run(t, func(*testing.T) mcpcore.AuditSink { return otlp.New(nil) })
	})
}

func TestRecordCarriesTheOutcomeAndItsAttributes(t *testing.T) {
	t.Parallel()
	e := mcpcore.AuditEvent{
		Phase: mcpcore.Intent, Time: time.Date(2031, 5, 1, 18, 0, 0, 0, time.UTC), RequestID: "9f0c", Principal: "stdio",
		Tool: "ticket_close", Category: "tickets", Effect: "write", Idempotent: true, Args: json.RawMessage(`{"a":"<&>"}`), Transport: "stdio",
	}
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	ctx := trace.ContextWithSpanContext(t.Context(), span)
	for _, code := range []mcpcore.Code{"", mcpcore.CodeNotFound} {
		c := collect()
		if err := c.Record(ctx, e); err != nil || len(c.m.all()) != 0 {
			t.Errorf("an intent was emitted (%v)", err)
		}
		outcome := e
		outcome.Phase, outcome.Status, outcome.ResultCode = mcpcore.Outcome, "success", code
		if err := c.Record(ctx, outcome); err != nil {
			t.Fatal(err)
		}
		all := c.m.all()
		if len(all) != 1 {
			t.Fatalf("%d records", len(all))
		}
		r := all[0]
		want := []attribute.KeyValue{
			attribute.String("mcp.audit.tool", "ticket_close"), attribute.String("mcp.audit.category", "tickets"),
			attribute.String("mcp.audit.status", "success"), attribute.String("mcp.audit.transport", "stdio"),
			attribute.Bool("mcp.audit.idempotent", true), attribute.String("mcp.audit.request_id", "9f0c"),
		}
		if code != "" {
			want = append(want, attribute.String("mcp.audit.result_code", string(code)))
		}
		var got []attribute.KeyValue
		r.WalkAttributes(func(kv attribute.KeyValue) bool {
			got = append(got, kv)
			return true
		})
		if !slices.Equal(got, want) {
			t.Errorf("attributes %v, want %v", got, want)
		}
		if !r.Timestamp().Equal(e.Time) || r.TraceID() != span.TraceID() || r.SpanID() != span.SpanID() || r.InstrumentationScope().Name != otlp.Scope {
			t.Errorf("time %v, trace %v, span %v, scope %v", r.Timestamp(), r.TraceID(), r.SpanID(), r.InstrumentationScope().Name)
		}
	}
}
