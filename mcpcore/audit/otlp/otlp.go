// Package otlp sends audit events to an OpenTelemetry collector, as log records.
// It knows OpenTelemetry's log API alone; the program brings the SDK with its
// exporter:
//
//	exporter, err := otlploghttp.New(ctx)
//	if err != nil {
//		return err
//	}
//	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
//	defer provider.Shutdown(ctx)
//	deps.Audit = otlp.New(provider)
package otlp

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/noop"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// Scope is the name of the logger, by which a collector finds the records.
const Scope = "github.com/guildwarden/guildwarden/mcpcore/audit"

// New emits each outcome to a logger of p, with the event as JSON in the body
// and these attributes: mcp.audit.tool, .category, .status, .transport,
// .idempotent, .request_id and, where there is one, .result_code. The record
// belongs to the span of the call. A nil p keeps nothing.
//
// An exporter that fails or queues does so behind this sink, which therefore
// keeps no intents and stops no call; put [audit.File] beside it with
// [audit.Tee] where that matters. It is safe for concurrent use.
//
// [audit.File]: https://pkg.go.dev/github.com/guildwarden/guildwarden/mcpcore/audit#File
// [audit.Tee]: https://pkg.go.dev/github.com/guildwarden/guildwarden/mcpcore/audit#Tee
func New(p log.LoggerProvider) mcpcore.AuditSink {
	if p == nil {
		p = noop.NewLoggerProvider()
	}
	return sink{p.Logger(Scope)}
}

type sink struct{ log log.Logger }

func (s sink) Record(ctx context.Context, e mcpcore.AuditEvent) error {
	if e.Phase != mcpcore.Outcome {
		return nil
	}
	body, err := canon.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode audit event: %w", err)
	}
	var r log.Record
	r.SetTimestamp(e.Time)
	r.SetEventName("mcp.audit")
	r.SetSeverity(log.SeverityInfo)
	r.SetSeverityText("audit")
	r.SetBody(attribute.StringValue(string(body)))
	r.AddAttributes(
		attribute.String("mcp.audit.tool", e.Tool),
		attribute.String("mcp.audit.category", e.Category),
		attribute.String("mcp.audit.status", e.Status),
		attribute.String("mcp.audit.transport", e.Transport),
		attribute.Bool("mcp.audit.idempotent", e.Idempotent),
		attribute.String("mcp.audit.request_id", e.RequestID),
	)
	if e.ResultCode != "" {
		r.AddAttributes(attribute.String("mcp.audit.result_code", string(e.ResultCode)))
	}
	s.log.Emit(ctx, r)
	return nil
}
