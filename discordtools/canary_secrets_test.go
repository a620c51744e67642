package discordtools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	shapedSecret = "MTIwMDAwMDAwMDAwMDAwMDAwMQ.GabcDE.zqzqzqzqzqzqzqzqzqzqzqzqzqzqzqzqzqzqzq"    // a bot's token, known by its shape
	plainSecret  = "plain-credential-of-a-webhook-or-of-a-person-0123456789-abcdefghijkl-zqzqzq" // known by its place alone
)

// credentials are the arguments that authorize.
var credentials = []string{"token", "interaction_token", "bearer_token"}

// planted is a sample with a secret in each text of it, ids included: what is
// refused for its form must not be repeated either.
func planted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		o := map[string]any{}
		for k, inner := range v {
			o[k] = planted(inner)
		}
		return o
	case []any:
		list := []any{}
		for _, inner := range v {
			list = append(list, planted(inner))
		}
		return list
	case string:
		switch {
		case strings.HasPrefix(v, "data:"), strings.HasPrefix(v, "{"):
			return v
		case strings.HasPrefix(v, "https://zq"):
			return strings.Replace(v, "https://", "https://user:"+plainSecret+"@", 1)
		}
		return "x " + shapedSecret
	}
	return v
}

// refusing is a Discord that refuses everything but who asks, and repeats what it
// was sent.
type refusing struct{ asked atomic.Int32 }

func (r *refusing) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method == "GET" && strings.HasSuffix(q.URL.Path, "/@me") {
		return reply(q, 200, `{"id":`+id(sandbox.BotID)+`,"bot":true}`, "Content-Type", "application/json"), nil
	}
	r.asked.Add(1)
	sent := []byte{}
	if q.Body != nil {
		var err error
		if sent, err = io.ReadAll(q.Body); err != nil {
			return nil, err
		}
	}
	said, err := json.Marshal(fmt.Sprintf("refused %s with %s and %s", q.URL, q.Header, sent))
	if err != nil {
		return nil, err
	}
	return reply(q, 400, `{"code":50035,"message":`+string(said)+`,"errors":{"name":{"_errors":[{"code":"BAD","message":`+string(said)+`}]}}}`, "Content-Type", "application/json"), nil
}

// TestSecretsOfEveryTool puts a secret into each argument of each tool that takes
// any text, in turn, and lets Discord refuse the call and repeat it: no secret may
// show in an answer, a log, an audit record or a trace.
//
// L40 Webhook and interaction tokens in logs and traces.
func TestSecretsOfEveryTool(t *testing.T) {
	t.Parallel()
	logs, spans, audit, discord := &logBuffer{}, tracetest.NewSpanRecorder(), &recorder{}, &refusing{}
	session := sandbox.Demo().Session()
	session.Client = &http.Client{Transport: discord}
	server, err := discordtools.BuildServer(discordtools.Deps{
		Session: session, Config: discordtools.Config{Armed: true, ExpectedBot: sandbox.BotID}, Audit: audit, Clock: func() time.Time { return now },
		Logger: slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug - 4})),
		Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)),
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, mcp: connect(t, server)}
	tried := map[string]int{} // calls with a secret
	for name, tool := range listed(t) {
		input := tree(t, tool.InputSchema)
		properties := input["properties"].(map[string]any)
		for _, arg := range slices.Sorted(maps.Keys(properties)) {
			given := usual(tool, input)
			for i, c := range companions[name+"."+arg] {
				other, value, stated := strings.Cut(c, "=")
				if given[other] = json.RawMessage(value); !stated {
					given[other] = sample(other, properties[other].(map[string]any), i)
				}
			}
			given[arg] = planted(sample(arg, properties[arg].(map[string]any), 90))
			for _, c := range credentials {
				if properties[c] != nil {
					given[c] = plainSecret
				}
			}
			if properties["__confirm"] != nil && properties["__confirm_hash"] == nil {
				given["__confirm"] = true
			}
			raw, err := json.Marshal(given)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(raw), "zqzqzq") {
				continue
			}
			tried[name]++
			a := b.call(name, string(raw))
			if shown := string(a.data) + a.text; a.code != "" && a.code != mcpcore.CodePayloadRequired && strings.Contains(shown, "zqzqzq") {
				t.Errorf("%s: a secret in %s shows in its answer: %s", name, arg, shown)
			}
			events, err := json.Marshal(audit.take())
			if err != nil {
				t.Fatal(err)
			}
			for what, text := range map[string]string{"logs": logs.take(), "audit": string(events), "traces": fmt.Sprintf("%+v", tracetest.SpanStubsFromReadOnlySpans(spans.Ended()))} {
				if i := strings.Index(text, "zqzqzq"); i >= 0 {
					t.Errorf("%s: a secret in %s shows in its %s: %s", name, arg, what, text[max(0, i-300):min(len(text), i+100)])
				}
			}
			spans.Reset()
		}
	}
	for name, tool := range listed(t) {
		if tried[name] == 0 && takesText(tree(t, tool.InputSchema)) {
			t.Errorf("%s takes text, and none was tried", name)
		}
	}
	if n := discord.asked.Load(); n < 150 {
		t.Errorf("only %d requests: this test looks at too little", n)
	}
}

// takesText reports whether an argument is a text of the caller's own.
func takesText(input map[string]any) bool {
	for _, p := range input["properties"].(map[string]any) {
		if p := p.(map[string]any); typeOf(p) == "string" && p["enum"] == nil {
			return true
		}
	}
	return false
}
