package boot

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// telemetry is what the settings of OpenTelemetry mean.
type telemetry struct {
	enabled  bool // spans and metrics; false when only audits go to the endpoint
	audits   bool
	console  bool // spans go to stderr instead of the endpoint
	endpoint string
	json     bool
	headers  []pair
	sampler  sdktrace.Sampler
	interval time.Duration
	resource []attribute.KeyValue // without what the server knows of itself
	warnings []string
}

// flag is true for the texts that mean it, exactly.
func flag(value string) bool { return value == "1" || value == "true" || value == "yes" }

// telemetry reads the settings of OpenTelemetry; nil when nothing asks for it,
// in which case their values do not matter. The error joins what is wrong with
// them and shows no header.
func (c Config) telemetry() (*telemetry, error) {
	t := &telemetry{enabled: flag(c.OTelEnabled), console: flag(c.OTelConsole), audits: c.AuditSink == "otlp" && c.AuditEnabled != "false"}
	if !t.enabled && !t.audits {
		return nil, nil
	}
	var problems []error
	note := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	var err error
	t.endpoint, err = endpoint(c.OTelEndpoint)
	note(err)
	if t.audits && c.OTelEndpoint == "" {
		note(errors.New("MCP_AUDIT_SINK: otlp needs OTEL_EXPORTER_OTLP_ENDPOINT"))
	}
	problems = append(problems, check(c, "otel", nil)...)
	t.json = c.OTelProtocol == "http/json"
	if c.OTelProtocol == "grpc" {
		note(errors.New("OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not spoken here; collectors listen for http on port 4318"))
	}
	t.sampler = sampler(c.OTelSampler, c.OTelSamplerArg)
	t.headers, err = t.pairs("OTEL_EXPORTER_OTLP_HEADERS", c.OTelHeaders)
	note(err)
	for _, h := range t.headers {
		if strings.Trim(h.name, tokenLetters) != "" || h.name == "" || strings.ContainsAny(h.value, "\r\n\x00") {
			note(errors.New("OTEL_EXPORTER_OTLP_HEADERS has an item that cannot be a header"))
			break
		}
	}
	given, err := t.pairs("OTEL_RESOURCE_ATTRIBUTES", c.OTelResource)
	note(err)
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	ms, err := strconv.Atoi(c.OTelInterval)
	if err != nil {
		return nil, err // was checked
	}
	t.interval = time.Duration(ms) * time.Millisecond

	t.resource = []attribute.KeyValue{ // of two with the same name, the later counts
		attribute.String("service.name", "discord-mcp"),
		attribute.String("service.version", Version()),
		attribute.String("deployment.environment.name", c.Environment),
	}
	for _, p := range given {
		t.resource = append(t.resource, attribute.String(p.name, p.value))
	}
	if c.OTelServiceName != "" {
		t.resource = append(t.resource, attribute.String("service.name", c.OTelServiceName))
	}
	if c.OTelServiceVersion != "" {
		t.resource = append(t.resource, attribute.String("service.version", c.OTelServiceVersion))
	}
	return t, nil
}

func endpoint(value string) (string, error) {
	if value == "" {
		return "", nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be a full address, such as http://127.0.0.1:4318") // err quotes it
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must have no user, query or fragment; credentials go into OTEL_EXPORTER_OTLP_HEADERS")
	}
	return strings.TrimRight(value, "/?#"), nil
}

// sampler is the one of a name and a share that were checked.
func sampler(name, arg string) sdktrace.Sampler {
	root, based := strings.CutPrefix(name, "parentbased_")
	s := sdktrace.AlwaysSample()
	switch root {
	case "always_off":
		s = sdktrace.NeverSample()
	case "traceidratio":
		ratio, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			ratio = 1
		}
		s = sdktrace.TraceIDRatioBased(ratio)
	}
	if based {
		s = sdktrace.ParentBased(s)
	}
	return s
}

// pair is an item of a list of the form name=value,name=value.
type pair struct{ name, value string }

// tokenLetters may stand in the name of a header.
const tokenLetters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// pairs reads the list of a variable, whose values are percent-encoded.
func (t *telemetry) pairs(variable, list string) (all []pair, err error) {
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			if strings.TrimSpace(item) != "" {
				t.warnings = append(t.warnings, variable+" has an item without =, which is left out")
			}
			continue
		}
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("%s has a value that is not percent-encoded: write a percent sign as %%25", variable)
		}
		all = append(all, pair{strings.TrimSpace(name), decoded})
	}
	return all, nil
}

// idleOTel warns of variables that other programs with OpenTelemetry read.
func idleOTel(vars map[string]string) (warnings []string) {
	known := names()
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if vars[name] != "" && strings.HasPrefix(name, "OTEL_EXPORTER_") && !slices.Contains(known, name) && nearest(name, known) == "" {
			warnings = append(warnings, name+" has no effect in this version")
		}
	}
	return warnings
}
