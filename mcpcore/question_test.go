package mcpcore_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// eras are a version of each lifecycle of the protocol: clients of the first are
// asked in between, those of the second come back with an answer.
var eras = []string{"2025-06-18", "2026-07-28"}

const stateKey = "a state key for tests, long enough"

// consult is a reading tool that asks what its argument says.
type consult struct {
	Ask   string `json:"ask" jsonschema:"whom" enum:"person,model,both"`
	Topic string `json:"topic,omitempty" jsonschema:"about what"`
}

type consulted struct {
	Said string `json:"said"`
	Kept string `json:"kept"`
	Runs int    `json:"runs"`
}

func consulting(runs *atomic.Int64) mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: "consult", Doc: "Asks somebody.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope,
	}, func(_ context.Context, call *mcpcore.Call, in consult) (v consulted, err error) {
		v.Runs = int(runs.Add(1))
		name, kind := "colour_person", mcpcore.Elicitation
		q := mcpcore.Question{Name: name, Form: &mcp.ElicitParams{
			Mode: "form", Message: "Which colour?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}`),
		}}
		if in.Ask == "model" {
			name, kind = "colour_model", mcpcore.Sampling
			q = mcpcore.Question{Name: name, Sample: &mcpcore.Sample{Prompt: "Which colour?", MaxTokens: 10, Intelligence: 0.5, Hint: "claude"}}
		}
		q.Keep = json.RawMessage(`"canary-kept"`)
		if in.Ask == "both" {
			q.Sample = &mcpcore.Sample{Prompt: "x"}
			return v, call.Ask(q)
		}
		a, ok := call.Answer(name)
		switch {
		case ok:
			v.Said, v.Kept = a.Text+a.Action, string(a.Kept)
			if c, ok := a.Fields["colour"].(string); ok {
				v.Said += " " + c
			}
			return v, nil
		case call.CanAsk(kind):
			return v, call.Ask(q)
		}
		v.Said = "nobody answers"
		return v, nil
	})
}

// answering are a client's options that answer both kinds, counting.
func answering(asked *atomic.Int64) *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked.Add(1)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"colour": "green"}}, nil
		},
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			asked.Add(1)
			if p := r.Params; p.MaxTokens != 10 || p.ModelPreferences.IntelligencePriority != 0.5 || p.ModelPreferences.Hints[0].Name != "claude" || p.SystemPrompt != "" {
				return nil, errors.New("the preferences got lost")
			}
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "blue"}}, nil
		},
	}
}

// join is a session of a client with the options, in an era.
func join(t *testing.T, deps mcpcore.Deps, era string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	server, err := mcpcore.BuildServer(deps)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).
		Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != era {
		t.Fatalf("asked for %s, got %s", era, got)
	}
	return session
}

// say calls and gives the structured answer as JSON.
func say(t *testing.T, s *mcp.ClientSession, p *mcp.CallToolParams) string {
	t.Helper()
	res, err := s.CallTool(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// invalid wants a call to be refused by the protocol, and gives what that says.
func invalid(t *testing.T, s *mcp.ClientSession, p *mcp.CallToolParams) string {
	t.Helper()
	res, err := s.CallTool(t.Context(), p)
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("the protocol does not refuse it: %+v, %v", res, err)
		return ""
	}
	var data struct{ Code mcpcore.Code }
	if err := json.Unmarshal(e.Data, &data); err != nil || data.Code != mcpcore.CodeValidation {
		t.Errorf("its data is %s, %v", e.Data, err)
	}
	return e.Message
}

func consultWith(args string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "consult", Arguments: json.RawMessage(args)}
}

func questionDeps(runs *atomic.Int64) mcpcore.Deps {
	deps := new(desk).deps()
	deps.Tools = append(deps.Tools, consulting(runs))
	deps.StateKey = []byte(stateKey)
	return deps
}

func TestQuestionIsAnsweredInBothEras(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		for whom, want := range map[string]string{
			"person": `{"kept":"\"canary-kept\"","runs":2,"said":"accept green"}`,
			"model":  `{"kept":"\"canary-kept\"","runs":2,"said":"blue"}`,
		} {
			t.Run(era+" "+whom, func(t *testing.T) {
				t.Parallel()
				var runs, asked atomic.Int64
				s := join(t, questionDeps(&runs), era, answering(&asked))
				if got := say(t, s, consultWith(`{"ask":"`+whom+`"}`)); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if asked.Load() != 1 {
					t.Errorf("asked %d times", asked.Load())
				}
			})
		}
	}
}

func TestClientThatCannotAnswerIsNotAsked(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		var runs atomic.Int64
		s := join(t, questionDeps(&runs), era, nil)
		for _, whom := range []string{"person", "model"} {
			if got := say(t, s, consultWith(`{"ask":"`+whom+`"}`)); !strings.Contains(got, "nobody answers") {
				t.Errorf("%s, %s: %s", era, whom, got)
			}
		}
	}
}

// Where the server itself does the asking, a client that fails or says nothing
// costs the call its answer and no more.
func TestCallGoesOnWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error){
		"refuses": func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return nil, errors.New("canary: the user declined")
		},
		"is silent": func(ctx context.Context, _ *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs atomic.Int64
			deps := questionDeps(&runs)
			deps.Deadline = 2 * time.Second
			s := join(t, deps, eras[0], &mcp.ClientOptions{CreateMessageHandler: handler})
			if got := say(t, s, consultWith(`{"ask":"model"}`)); !strings.Contains(got, `"runs":2,"said":"nobody answers"`) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// byHand is a session that hands questions to its caller.
func byHand(t *testing.T, deps mcpcore.Deps) *mcp.ClientSession {
	t.Helper()
	o := answering(new(atomic.Int64))
	o.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	return join(t, deps, eras[1], o)
}

// question is the state that comes with the question to a call.
func question(t *testing.T, s *mcp.ClientSession, args string) string {
	t.Helper()
	res, err := s.CallTool(t.Context(), consultWith(args))
	if err != nil {
		t.Fatal(err)
	}
	if !res.NeedsInput() || res.RequestState == "" || len(res.InputRequests) != 1 || res.IsError {
		t.Fatalf("no question: %+v", res)
	}
	return res.RequestState
}

var (
	accepted = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"colour": "green"}}
	written  = &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "blue"}}
)

func TestForgedAnswersAreRefused(t *testing.T) {
	t.Parallel()
	var runs atomic.Int64
	now := time.Now()
	deps := questionDeps(&runs)
	deps.Clock = func() time.Time { return now }
	var principal atomic.Value
	principal.Store("ada")
	deps.Identify = func(context.Context, *mcp.CallToolRequest) (string, error) { return principal.Load().(string), nil }
	s := byHand(t, deps)
	state := question(t, s, `{"ask":"person"}`)
	person := mcp.InputResponseMap{"colour_person": accepted}

	tampered := []byte(state)
	tampered[len(tampered)/2] ^= 1
	strange := questionDeps(&runs)
	strange.StateKey = []byte("another state key for tests, long")
	for _, row := range []struct {
		name string
		p    mcp.CallToolParams
		as   string
		at   time.Time
	}{
		{"no state", mcp.CallToolParams{Arguments: json.RawMessage(`{"ask":"person"}`), InputResponses: person}, "ada", now},
		{"a tampered state", mcp.CallToolParams{Arguments: json.RawMessage(`{"ask":"person"}`), InputResponses: person, RequestState: string(tampered)}, "ada", now},
		{"nonsense", mcp.CallToolParams{Arguments: json.RawMessage(`{"ask":"person"}`), InputResponses: person, RequestState: "{}"}, "ada", now},
		{"other arguments", mcp.CallToolParams{Arguments: json.RawMessage(`{"ask":"person","topic":"x"}`), InputResponses: person, RequestState: state}, "ada", now},
		{"another principal", mcp.CallToolParams{Arguments: json.RawMessage(`{"ask":"person"}`), InputResponses: person, RequestState: state}, "eve", now},
		{"another tool", mcp.CallToolParams{Name: "tickets_list", Arguments: json.RawMessage(`{}`), InputResponses: person, RequestState: state}, "ada", now},
		{"an answer of another kind", mcp.CallToolParams{Arguments: json.RawMessage(`{"ask":"person"}`), InputResponses: mcp.InputResponseMap{"colour_person": written}, RequestState: state}, "ada", now},
		{"too late", mcp.CallToolParams{Arguments: json.RawMessage(`{"ask":"person"}`), InputResponses: person, RequestState: state}, "ada", now.Add(6 * time.Minute)},
		{"another server's", mcp.CallToolParams{Arguments: json.RawMessage(`{"ask":"person"}`), InputResponses: person, RequestState: question(t, byHand(t, strange), `{"ask":"person"}`)}, "ada", now},
	} {
		began := now
		now = row.at
		principal.Store(row.as)
		if row.p.Name == "" {
			row.p.Name = "consult"
		}
		before := runs.Load()
		if got := invalid(t, s, &row.p); !strings.Contains(got, "no question") || !strings.Contains(got, "without inputResponses") {
			t.Errorf("%s: %s", row.name, got)
		}
		if runs.Load() != before {
			t.Errorf("%s: the handler ran", row.name)
		}
		now = began
	}
	principal.Store("ada")
	p := consultWith(`{ "ask" : "person" }`) // the same to us
	p.InputResponses, p.RequestState = person, state
	if got := say(t, s, p); !strings.Contains(got, "accept green") {
		t.Errorf("the true answer: %s", got)
	}
}

// A client that comes back without an answer is not asked again.
func TestEmptyHandedClientIsNotAskedTwice(t *testing.T) {
	t.Parallel()
	var runs atomic.Int64
	s := byHand(t, questionDeps(&runs))
	p := consultWith(`{"ask":"person"}`)
	p.RequestState = question(t, s, `{"ask":"person"}`)
	if got := say(t, s, p); !strings.Contains(got, "nobody answers") {
		t.Errorf("got %s", got)
	}
}

func TestServersOfOneKeyTakeOver(t *testing.T) {
	t.Parallel()
	var runs atomic.Int64
	deps := questionDeps(&runs)
	p := consultWith(`{"ask":"model"}`)
	p.RequestState = question(t, byHand(t, deps), `{"ask":"model"}`)
	p.InputResponses = mcp.InputResponseMap{"colour_model": written}
	if got := say(t, byHand(t, deps), p); !strings.Contains(got, `"said":"blue"`) {
		t.Errorf("the other server answers %s", got)
	}
	deps.StateKey = nil
	if got := invalid(t, byHand(t, deps), p); !strings.Contains(got, "no question") {
		t.Errorf("a server of a random key answers %s", got)
	}
	deps.StateKey = []byte("short")
	if _, err := mcpcore.BuildServer(deps); err == nil || !strings.Contains(err.Error(), "StateKey") || strings.Contains(err.Error(), "short") {
		t.Errorf("a short key: %v", err)
	}
}

func TestStateShowsNothing(t *testing.T) {
	t.Parallel()
	var runs atomic.Int64
	state := question(t, byHand(t, questionDeps(&runs)), `{"ask":"person","topic":"canary-topic"}`)
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("canary")) || strings.Contains(state, "canary") {
		t.Error("the client can read the state")
	}
}

// A layer can ask before a call acts: then the call acts once and is on record
// once. What is on record already cannot ask.
func TestWriteAsksBeforeItActs(t *testing.T) {
	t.Parallel()
	form := &mcp.ElicitParams{Mode: "form", Message: "Sure?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}
	asks := func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if _, ok := c.Answer("sure"); ok || c.Tool().Effect == mcpcore.Read {
			return next(ctx, c)
		}
		return nil, c.Ask(mcpcore.Question{Name: "sure", Form: form})
	}
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			d, s := &desk{}, &sink{}
			deps := d.deps()
			deps.Audit = s
			deps.Chain = append(deps.Chain[:9:9], append([]mcpcore.Middleware{lies("sure", "", asks)}, deps.Chain[9:]...)...)
			client := join(t, deps, era, answering(new(atomic.Int64)))
			if got := say(t, client, &mcp.CallToolParams{Name: "ticket_update", Arguments: json.RawMessage(goodUpdate)}); !strings.Contains(got, `"done":true`) {
				t.Errorf("got %s", got)
			}
			if got := s.phases(); len(d.runs()) != 1 || got != "ticket_update intent  ;ticket_update outcome success ;" {
				t.Errorf("ran %v, recorded %s", d.runs(), got)
			}

			d, s = &desk{}, &sink{}
			deps = d.deps()
			deps.Audit = s
			deps.Chain = append(deps.Chain, lies("sure", "", asks))
			client = join(t, deps, era, answering(new(atomic.Int64)))
			if got := say(t, client, &mcp.CallToolParams{Name: "ticket_update", Arguments: json.RawMessage(goodUpdate)}); !strings.Contains(got, "INTERNAL_ERROR") || d.runs() != nil {
				t.Errorf("on record it asks: %s, ran %v", got, d.runs())
			}
		})
	}
}

func TestMalformedQuestionIsAFault(t *testing.T) {
	t.Parallel()
	var runs, asked atomic.Int64
	for _, era := range eras {
		s := join(t, questionDeps(&runs), era, answering(&asked))
		if got := say(t, s, consultWith(`{"ask":"both"}`)); !strings.Contains(got, "INTERNAL_ERROR") || asked.Load() != 0 {
			t.Errorf("%s: %s, asked %d times", era, got, asked.Load())
		}
	}
}

// While its client thinks, a call keeps nobody out.
func TestAskingLeavesItsPlace(t *testing.T) {
	t.Parallel()
	var runs atomic.Int64
	deps := questionDeps(&runs)
	deps.InFlight = 1
	var session *mcp.ClientSession
	var inner string
	o := answering(new(atomic.Int64))
	o.ElicitationHandler = func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "tickets_list", Arguments: json.RawMessage(goodList)})
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(res.StructuredContent)
		inner = string(b)
		return accepted, err
	}
	session = join(t, deps, eras[0], o)
	if got := say(t, session, consultWith(`{"ask":"person"}`)); !strings.Contains(got, "accept green") || !strings.Contains(inner, `"done":true`) {
		t.Errorf("got %s, and meanwhile %s", got, inner)
	}
}
