package middleware

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/guildwarden/guildwarden/mcpcore"
)

const scope = "github.com/guildwarden/guildwarden"

// Telemetry is layer 1: one SERVER span "mcp.tool.<tool>" and the metrics
// mcp.tool.duration_ms, mcp.tool.calls and mcp.tool.errors around every call,
// refused ones included, also those that do not get into the chain. It uses
// OpenTelemetry's API alone; nil providers are the global ones. It stops
// nothing.
//
// A call that asks its client and runs again is measured once, when it ends,
// without the time that the client took. Its first run is a span of another
// name, "mcp.question.<tool>", which is the parent of the span of the call.
func Telemetry(tp trace.TracerProvider, mp metric.MeterProvider) mcpcore.Middleware {
	if tp == nil {
		tp = otel.GetTracerProvider()
	}
	if mp == nil {
		mp = otel.GetMeterProvider()
	}
	tracer, meter := tp.Tracer(scope), mp.Meter(scope)
	// The errors of instrument creation are about malformed names, and a nil
	// instrument is never returned.
	duration, _ := meter.Float64Histogram("mcp.tool.duration_ms", metric.WithUnit("ms"), metric.WithDescription("how long a tool call took"))
	calls, _ := meter.Int64Counter("mcp.tool.calls", metric.WithUnit("1"), metric.WithDescription("tool calls"))
	unexpected, _ := meter.Int64Counter("mcp.confirmations.unexpected", metric.WithUnit("1"), metric.WithDescription("confirmed calls that were never previewed"))
	failed, _ := meter.Int64Counter("mcp.tool.errors", metric.WithUnit("1"), metric.WithDescription("tool calls that were refused or failed"))

	return mcpcore.Middleware{Name: "telemetry", Observes: true, Wrap: func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			t := call.Tool()
			options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
			asked, before := call.Before()
			switch {
			case !asked.IsValid():
			case trace.SpanContextFromContext(ctx).IsValid(): // the transport has a trace of its own
				options = append(options, trace.WithLinks(trace.Link{SpanContext: asked}))
			default:
				ctx = trace.ContextWithRemoteSpanContext(ctx, asked)
			}
			ctx, span := tracer.Start(ctx, "mcp.tool."+t.Name, options...)
			defer span.End()
			if span.IsRecording() {
				span.SetAttributes(
					attribute.String("mcp.tool.name", t.Name),
					attribute.String("mcp.tool.category", t.Category),
					attribute.Bool("mcp.tool.idempotent", t.Repeatable),
					attribute.String("mcp.transport", call.Transport()),
					attribute.String("mcp.request_id", call.ID()),
				)
			}
			start := time.Now()
			res, err := next(ctx, call)
			if span.IsRecording() { // only now it is known which arguments are private
				span.AddEvent("mcp.tool.args", trace.WithTimestamp(start), trace.WithAttributes(attribute.String("mcp.args.redacted", string(call.Preview()))))
			}
			if kind, asks := mcpcore.Asks(err); asks {
				span.SetName("mcp.question." + t.Name)
				span.SetAttributes(attribute.String("mcp.question.kind", string(kind)))
				return res, err
			}
			if call.Unexpected() {
				unexpected.Add(ctx, 1, metric.WithAttributes(attribute.String("name", t.Name)))
			}
			if duration.Enabled(ctx) || calls.Enabled(ctx) || failed.Enabled(ctx) {
				attrs := metric.WithAttributes(
					attribute.String("name", t.Name),
					attribute.String("category", t.Category),
					attribute.Bool("idempotent", t.Repeatable),
					attribute.String("transport", call.Transport()),
					attribute.String("status", statusOf(err)),
				)
				duration.Record(ctx, float64((before+time.Since(start)).Microseconds())/1000, attrs)
				calls.Add(ctx, 1, attrs)
				if err != nil {
					failed.Add(ctx, 1, attrs)
				}
			}
			if err == nil {
				span.SetStatus(codes.Ok, "")
				return res, nil
			}
			span.SetStatus(codes.Error, codeOf(err))
			span.SetAttributes(attribute.String("error.type", codeOf(err)))
			return res, err
		}
	}}
}

// statusOf tells a refusal that was meant from a fault.
func statusOf(err error) string {
	switch codeOf(err) {
	case "":
		return "ok"
	case string(mcpcore.CodeInternal):
		return "error"
	}
	return "tool_error"
}

// codeOf is the code alone: details may hold text from Discord.
func codeOf(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*mcpcore.Error](err); ok {
		return string(e.Code)
	}
	return string(mcpcore.CodeInternal)
}
