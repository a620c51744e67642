package boot

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// The exporters read variables of their own. Each option that is given here,
// though it be the default, keeps one of them out.

func (t *telemetry) spanExporter() (sdktrace.SpanExporter, error) {
	return otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(t.endpoint+"/v1/traces"),
		otlptracehttp.WithHeaders(t.headerMap()),
		otlptracehttp.WithHTTPClient(t.client(new(traces.ExportTraceServiceRequest))),
		otlptracehttp.WithTLSClientConfig(nil),
		otlptracehttp.WithEncoding(otlptracehttp.EncodingProtobuf),
		otlptracehttp.WithCompression(otlptracehttp.NoCompression))
}

func (t *telemetry) metricExporter() (sdkmetric.Exporter, error) {
	return otlpmetrichttp.New(context.Background(),
		otlpmetrichttp.WithEndpointURL(t.endpoint+"/v1/metrics"),
		otlpmetrichttp.WithHeaders(t.headerMap()),
		otlpmetrichttp.WithHTTPClient(t.client(new(metrics.ExportMetricsServiceRequest))),
		otlpmetrichttp.WithTLSClientConfig(nil),
		otlpmetrichttp.WithCompression(otlpmetrichttp.NoCompression))
}

func (t *telemetry) logExporter() (sdklog.Exporter, error) {
	return otlploghttp.New(context.Background(),
		otlploghttp.WithEndpointURL(t.endpoint+"/v1/logs"),
		otlploghttp.WithHeaders(t.headerMap()),
		otlploghttp.WithHTTPClient(t.client(new(logs.ExportLogsServiceRequest))),
		otlploghttp.WithTLSClientConfig(nil),
		otlploghttp.WithCompression(otlploghttp.NoCompression))
}

func (t *telemetry) headerMap() map[string]string {
	m := make(map[string]string, len(t.headers))
	for _, h := range t.headers {
		m[h.name] = h.value
	}
	return m
}

// client sends messages of a kind to the collector. It follows no redirect: the
// headers are for the collector alone.
func (t *telemetry) client(kind proto.Message) *http.Client {
	var way http.RoundTripper = &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 2, IdleConnTimeout: 90 * time.Second,
	}
	if t.json {
		way = asJSON{kind, way}
	}
	return &http.Client{
		Transport: way, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// asJSON sends messages in OTLP's form of JSON that the exporters encoded as
// protobuf; they speak no JSON for metrics and logs. That a collector took only
// some of a message goes unnoticed.
// Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
type asJSON struct {
	kind proto.Message
	next http.RoundTripper
}

func (t asJSON) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	message := t.kind.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(b, message); err != nil {
		return nil, fmt.Errorf("telemetry as JSON: %w", err)
	}
	if b, err = otlpJSON(message); err != nil {
		return nil, fmt.Errorf("telemetry as JSON: %w", err)
	}
	r = r.Clone(r.Context())
	r.Body, r.GetBody, r.ContentLength = io.NopCloser(bytes.NewReader(b)), nil, int64(len(b))
	r.Header.Set("Content-Type", "application/json")
	return t.next.RoundTrip(r)
}

// otlpJSON is protobuf's JSON except that enums are numbers and ids hexadecimal.
func otlpJSON(message proto.Message) ([]byte, error) {
	b, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(message)
	if err != nil {
		return nil, err
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	if err := hexIDs(tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// hexIDs writes ids anew. Attributes are lists of keys and values, so a member
// with one of these names is an id.
func hexIDs(tree any) error {
	switch v := tree.(type) {
	case []any:
		for _, item := range v {
			if err := hexIDs(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, item := range v {
			text, ok := item.(string)
			if !ok {
				if err := hexIDs(item); err != nil {
					return err
				}
				continue
			}
			switch name {
			case "traceId", "spanId", "parentSpanId":
				id, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return err
				}
				v[name] = hex.EncodeToString(id)
			}
		}
	}
	return nil
}
