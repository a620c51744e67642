package boot

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/preconditions"
)

// farewell is how long the end of the process may wait for a collector.
const farewell = 5 * time.Second

// observers are the providers of a server, and what stops them. The zero value
// is what a server without telemetry has.
type observers struct {
	tracer trace.TracerProvider
	meter  metric.MeterProvider
	audits log.LoggerProvider // nil unless audits go to the collector
	stops  []func(context.Context) error
	log    *slog.Logger
}

// observe starts what the settings ask for. It connects to nothing. Errors of
// OpenTelemetry go to logger from now on, in the whole process.
func observe(c Config, o Options, logger *slog.Logger) (observers, error) {
	t, err := c.telemetry()
	if t == nil || err != nil {
		return observers{}, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("telemetry", "error", t.clean(err)) }))
	otel.SetLogger(logr.New(faults{logger}))
	res, err := resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithAttributes(append(t.resource,
		attribute.String("mcp.transport", o.Transport),
		attribute.String("mcp.tool_count", strconv.Itoa(toolCount(c))),
	)...))
	if err != nil {
		return observers{}, err
	}
	seen := observers{log: logger}
	var problems []error
	if t.audits {
		problems = append(problems, seen.startAudits(t, res))
	}
	if t.enabled {
		problems = append(problems, seen.startTraces(t, res, o.Stderr), seen.startMetrics(t, res))
	}
	if err := errors.Join(problems...); err != nil {
		return seen, err
	}
	logger.Info("telemetry started", "endpoint", t.endpoint)
	if t.endpoint == "" && !t.console {
		logger.Warn("telemetry is on, but OTEL_EXPORTER_OTLP_ENDPOINT is not set: nothing is exported")
	}
	return seen, nil
}

func (o *observers) startTraces(t *telemetry, res *resource.Resource, stderr io.Writer) error {
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(res), sdktrace.WithSampler(t.sampler)}
	var exporter sdktrace.SpanExporter
	var err error
	switch {
	case t.console:
		exporter, err = stdouttrace.New(stdouttrace.WithWriter(stderr)) // never stdout, which carries the protocol
	case t.endpoint != "":
		exporter, err = t.spanExporter()
	}
	if err != nil {
		return err
	}
	if exporter != nil {
		options = append(options, sdktrace.WithBatcher(exporter))
	}
	p := sdktrace.NewTracerProvider(options...)
	o.tracer, o.stops = p, append(o.stops, p.Shutdown)
	return nil
}

func (o *observers) startMetrics(t *telemetry, res *resource.Resource) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(res)}
	if t.endpoint != "" {
		exporter, err := t.metricExporter()
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithInterval(t.interval))))
	}
	p := sdkmetric.NewMeterProvider(options...)
	o.meter, o.stops = p, append(o.stops, p.Shutdown)
	return nil
}

func (o *observers) startAudits(t *telemetry, res *resource.Resource) error {
	exporter, err := t.logExporter()
	if err != nil {
		return err
	}
	p := sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter,
		sdklog.WithMaxQueueSize(1024), sdklog.WithExportMaxBatchSize(128),
		sdklog.WithExportInterval(time.Second), sdklog.WithExportTimeout(5*time.Second))))
	o.audits, o.stops = p, append(o.stops, p.Shutdown)
	return nil
}

// stop delivers what is left and waits for it no longer than farewell. A
// collector that does not take it changes nothing but the log.
func (o observers) stop() {
	if len(o.stops) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	done := make(chan error, len(o.stops))
	for _, stop := range o.stops {
		go func() { done <- stop(ctx) }()
	}
	for range o.stops {
		select {
		case err := <-done:
			if err != nil && ctx.Err() == nil {
				otel.Handle(err)
			}
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		o.log.Warn("telemetry", "error", "the last data could not be delivered within "+farewell.String())
	}
}

// toolCount is how many tools an agent sees.
func toolCount(c Config) (n int) {
	for _, t := range discordtools.Tools(nil) { // nothing is called
		if preconditions.InCategories(&t, c.Categories) {
			n++
		}
	}
	return n
}

// clean is what an error says, without the headers and not at any length: a
// collector's answer is part of it.
func (t *telemetry) clean(err error) string {
	text := err.Error()
	for _, h := range t.headers {
		if len(h.value) >= 4 {
			text = strings.ReplaceAll(text, h.value, "[redacted]")
		}
	}
	if r := []rune(text); len(r) > 300 {
		text = string(r[:300]) + "…"
	}
	return text
}

// faults takes what OpenTelemetry logs of itself. It says what failed and not
// with which value, which may be a secret.
type faults struct{ log *slog.Logger }

func (faults) Init(logr.RuntimeInfo)                 {}
func (faults) Enabled(int) bool                      { return false }
func (faults) Info(int, string, ...any)              {}
func (f faults) Error(_ error, msg string, _ ...any) { f.log.Warn("telemetry", "error", msg) }
func (f faults) WithValues(...any) logr.LogSink      { return f }
func (f faults) WithName(string) logr.LogSink        { return f }

// withSpan adds the ids of the active span to each record.
type withSpan struct{ slog.Handler }

func (h withSpan) Handle(ctx context.Context, r slog.Record) error {
	if s := trace.SpanContextFromContext(ctx); s.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", s.TraceID().String()), slog.String("span_id", s.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h withSpan) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withSpan{h.Handler.WithAttrs(attrs)}
}
func (h withSpan) WithGroup(name string) slog.Handler { return withSpan{h.Handler.WithGroup(name)} }
