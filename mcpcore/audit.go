package mcpcore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Phase is when an audit event was recorded.
type Phase string

// The phases. A sink that keeps only outcomes ignores intents.
const (
	Intent  Phase = "intent"  // before the handler; nothing was done yet
	Outcome Phase = "outcome" // after it; exactly one per call that began
)

// AuditEvent is what is recorded of a call that is not read-only and got as far
// as layer 11. It holds no authorization field and no secret.
type AuditEvent struct {
	Phase      Phase           `json:"phase"`
	Time       time.Time       `json:"timestamp"`
	RequestID  string          `json:"request_id"`
	Principal  string          `json:"principal"`
	Tool       string          `json:"tool"`
	Category   string          `json:"category"`
	Effect     string          `json:"effect"`
	Idempotent bool            `json:"idempotent"`
	Args       json.RawMessage `json:"args_redacted"`
	Status     string          `json:"status,omitempty"` // outcome: success, tool_error or thrown
	ResultCode Code            `json:"result_code,omitempty"`
	DurationMS float64         `json:"duration_ms,omitempty"`
	Evidence   []EvidenceKind  `json:"evidence,omitempty"`
	ApprovedBy string          `json:"approved_by,omitempty"`             // the person who approved it
	Unexpected bool            `json:"unexpected_confirmation,omitempty"` // confirmed without a preview that was issued here
	Transport  string          `json:"transport"`
	TraceID    string          `json:"trace_id,omitempty"`
	SpanID     string          `json:"span_id,omitempty"`
}

// AuditSink keeps audit events. It is safe for concurrent use.
type AuditSink interface {
	// Record keeps one event. For an intent, nil promises that the intent is
	// kept (or that this sink keeps none); an error stops the call before
	// anything is done. It returns within ctx.
	Record(ctx context.Context, e AuditEvent) error
}

func newEvent(ctx context.Context, c *Call, phase Phase) *AuditEvent {
	e := &AuditEvent{
		Phase: phase, Time: c.deps.Clock().UTC(), RequestID: c.id, Principal: c.principal,
		Tool: c.tool.Name, Category: c.tool.Category, Effect: c.Effect().String(), Idempotent: c.tool.Repeatable,
		Args: c.Preview(), Evidence: c.evidenceKinds(), ApprovedBy: c.approver, Unexpected: c.unexpected, Transport: c.transport,
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		e.TraceID, e.SpanID = span.TraceID().String(), span.SpanID().String()
	}
	return e
}

// outcome turns the event of an intent into that of its outcome.
func (e *AuditEvent) outcome(err error, took time.Duration) {
	e.Phase = Outcome
	e.Time = e.Time.Add(took)
	e.DurationMS = float64(took.Microseconds()) / 1000
	e.Status = "success"
	if err != nil {
		e.Status = "tool_error"
		e.ResultCode = asError(err).Code
		if e.ResultCode == CodeInternal {
			e.Status = "thrown"
		}
	}
}

// record asks the sink and takes its panic for a refusal.
func (d *Deps) record(ctx context.Context, e AuditEvent) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the audit sink panicked: %T", p)
		}
	}()
	return d.Audit.Record(ctx, e)
}

// noAudit is the sink of a server that was given none.
type noAudit struct{}

func (noAudit) Record(context.Context, AuditEvent) error { return nil }
