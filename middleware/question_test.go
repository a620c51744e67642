package middleware_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/middleware"
)

// asksModel is a tool that asks the client's model.
func asksModel() mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{Name: "ponder", Doc: "Asks.", Category: "reads", Effect: mcpcore.Read, Scope: mcpcore.LocalScope},
		func(_ context.Context, call *mcpcore.Call, _ anywhere) (seen, error) {
			if a, ok := call.Answer("ponder"); ok {
				return seen{Args: a.Text}, nil
			}
			return seen{}, call.Ask(mcpcore.Question{Name: "ponder", Sample: &mcpcore.Sample{Prompt: "?", MaxTokens: 5}})
		})
}

// TestCallThatAsksIsMeasuredOnce in both eras of the protocol, on a transport
// with traces of its own and on one without.
func TestCallThatAsksIsMeasuredOnce(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"2025-06-18", "2026-07-28"} {
		for _, traced := range []bool{false, true} {
			spans, reader := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
			tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
			chain := middleware.Standard(middleware.Options{Tracer: tracer, Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
			server, err := mcpcore.BuildServer(mcpcore.Deps{Tools: append(tools(), asksModel()), Chain: chain})
			if err != nil {
				t.Fatal(err)
			}
			outer := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
			if traced {
				server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
					return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
						return next(trace.ContextWithSpanContext(ctx, outer), method, req)
					}
				})
			}
			near, far := mcp.NewInMemoryTransports()
			if _, err := server.Connect(t.Context(), far, nil); err != nil {
				t.Fatal(err)
			}
			client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
				CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
					return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "yes"}}, nil
				},
			})
			session, err := client.Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: era})
			if err != nil {
				t.Fatal(err)
			}
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ponder", Arguments: json.RawMessage(`{}`)})
			if err != nil || res.IsError {
				t.Fatalf("%v %v", res, err)
			}
			_ = session.Close()

			ended := spans.Ended()
			if len(ended) != 2 || ended[0].Name() != "mcp.question.ponder" || ended[1].Name() != "mcp.tool.ponder" {
				t.Fatalf("%s: the spans are %v", era, ended)
			}
			question, call := ended[0].SpanContext(), ended[1]
			if attrs(ended[0].Attributes())["mcp.question.kind"] != "sampling" {
				t.Errorf("%s: the question has %v", era, ended[0].Attributes())
			}
			if traced {
				if call.Parent().SpanID() != outer.SpanID() || len(call.Links()) != 1 || call.Links()[0].SpanContext.SpanID() != question.SpanID() {
					t.Errorf("%s: parent %v, links %v", era, call.Parent(), call.Links())
				}
			} else if call.SpanContext().TraceID() != question.TraceID() || call.Parent().SpanID() != question.SpanID() {
				t.Errorf("%s: the call is in another trace than its question", era)
			}

			var got metricdata.ResourceMetrics
			if err := reader.Collect(t.Context(), &got); err != nil {
				t.Fatal(err)
			}
			var counted []string
			for _, m := range got.ScopeMetrics[0].Metrics {
				switch d := m.Data.(type) {
				case metricdata.Sum[int64]:
					for _, p := range d.DataPoints {
						if p.Value != 1 {
							t.Errorf("%s: %s is %d", era, m.Name, p.Value)
						}
						counted = append(counted, m.Name)
					}
				case metricdata.Histogram[float64]:
					for _, p := range d.DataPoints {
						if p.Count != 1 {
							t.Errorf("%s: %s has %d", era, m.Name, p.Count)
						}
						counted = append(counted, m.Name)
					}
				}
			}
			slices.Sort(counted)
			if want := []string{"mcp.tool.calls", "mcp.tool.duration_ms"}; !slices.Equal(counted, want) {
				t.Errorf("%s: counted %v", era, counted)
			}
		}
	}
}
