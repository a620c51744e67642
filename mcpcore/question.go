package mcpcore

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// QuestionKind is who at the client is asked.
type QuestionKind string

// The kinds of questions.
const (
	Elicitation QuestionKind = "elicitation" // the person in front of it
	Sampling    QuestionKind = "sampling"    // its model
)

// Question is what a call asks its client. A call asks once: it looks for the
// answer with [Call.Answer], and where there is none, and [Call.CanAsk] says
// that there can be one, ends itself with what [Call.Ask] returns. It then runs
// again as a whole, every layer included, and finds the answer.
//
//	answer, ok := call.Answer("colour")
//	if !ok && call.CanAsk(mcpcore.Elicitation) {
//		return nil, call.Ask(mcpcore.Question{Name: "colour", Form: form})
//	}
//
// Between the two runs the server keeps nothing: what binds the answer to the
// call travels with the client, sealed. An answer that belongs to no question of
// this server, or to other arguments, another tool or another principal, or that
// comes too late, refuses the call, as the protocol has it: with invalid params,
// and not with a result. The same answer can be given again until it expires; what may happen
// once only needs a [Ledger].
type Question struct {
	Name string // tells it from the call's other questions: a word in lower case

	Form   *mcp.ElicitParams // for the person, in form mode; or
	Sample *Sample           // for the model. Exactly one of them

	// Keep comes back with the answer, so that the second run need not find out
	// again what the first one knew. The client cannot read or change it. At most
	// 32 KiB of JSON; nil for nothing.
	Keep json.RawMessage

	Lifetime time.Duration // how long an answer counts; 0 is five minutes
}

// Sample is a question to a model.
type Sample struct {
	Prompt       string
	MaxTokens    int
	Intelligence float64 // how much a capable model matters, 0 to 1
	Hint         string  // name of a fitting model; "" for none
}

// Answer is what the client said. Nothing in it is known to be true: a model
// writes what it likes, and a client may answer for its user.
type Answer struct {
	Text string // of a model, at most 64 KiB of it

	Action string         // of a person: accept, decline or cancel
	Fields map[string]any // what they filled in; not checked against the form

	Kept json.RawMessage // the question's Keep
}

const (
	maxKeep   = 32 << 10
	maxAnswer = 64 << 10
	answerIn  = 5 * time.Minute
)

func (q *Question) kind() QuestionKind {
	if q.Sample != nil {
		return Sampling
	}
	return Elicitation
}

// request is the question on the wire.
func (q *Question) request() mcp.InputRequest {
	if q.Sample == nil {
		return q.Form
	}
	return q.Sample.params()
}

//nolint:staticcheck // deprecated by 2026-07-28 and without a successor there
func (s *Sample) params() *mcp.CreateMessageWithToolsParams {
	preferences := &mcp.ModelPreferences{IntelligencePriority: s.Intelligence}
	if s.Hint != "" {
		preferences.Hints = []*mcp.ModelHint{{Name: s.Hint}}
	}
	return &mcp.CreateMessageWithToolsParams{
		Messages:         []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: s.Prompt}}}},
		MaxTokens:        int64(s.MaxTokens),
		ModelPreferences: preferences,
	}
}

// CanAsk reports whether the call's client can be asked. It is false for a step
// of another call, for a call that asked already, and for one that writes and
// is on record: what asks must ask before it acts.
func (c *Call) CanAsk(kind QuestionKind) bool {
	return c.client.can(kind) && c.reply == nil && c.event == nil && c.guard.has(guardValidate)
}

// Ask ends the run with a question: pass on what it returns, unchanged. It is an
// INTERNAL_ERROR when the call cannot ask or the question is malformed.
func (c *Call) Ask(q Question) error {
	switch {
	case !c.CanAsk(q.kind()):
		return Errorf(CodeInternal, "%s asked its client, which cannot be asked", c.tool.Name)
	case (q.Form == nil) == (q.Sample == nil), !questionName.MatchString(q.Name), len(q.Keep) > maxKeep, len(q.Keep) > 0 && !json.Valid(q.Keep):
		return Errorf(CodeInternal, "%s asked its client a malformed question", c.tool.Name)
	}
	return &Error{Code: CodeInputRequired, Detail: "the client is asked", Cause: &asked{q, c.id}}
}

// asked is the cause of the error that ends a run with a question.
type asked struct {
	Question
	call string // its id
}

func (a *asked) Error() string { return "question " + a.Name }

var questionName = regexp.MustCompile(`^[a-z][a-z_]{0,30}$`)

// question is what the run ended with, nil when it ended otherwise.
func (c *Call) question(err error) *Question {
	if a, ok := errors.AsType[*asked](err); ok && a.call == c.id && asError(err).Code == CodeInputRequired {
		return &a.Question
	}
	return nil
}

// Asks tells layers whether a run ends with a question, and whom it is for. Such
// a run is not the end of the call.
func Asks(err error) (kind QuestionKind, asks bool) {
	if a, ok := errors.AsType[*asked](err); ok && asError(err).Code == CodeInputRequired {
		return a.kind(), true
	}
	return "", false
}

// Answer is the client's answer to the call's question of that name. ok is false
// before [Call.Validate], when nothing was asked yet, and when the client
// did not answer; CanAsk tells the last two apart.
func (c *Call) Answer(name string) (a Answer, ok bool) {
	if c.reply == nil || !c.guard.has(guardValidate) || c.reply.state.Question != name {
		return Answer{}, false
	}
	a.Kept = c.reply.state.Keep
	switch r := c.reply.response.(type) {
	case *mcp.ElicitResult:
		a.Action, a.Fields = r.Action, maps.Clone(r.Content)
	case *mcp.CreateMessageWithToolsResult: //nolint:staticcheck // see params
		a.Text = textOf(r.Content)
	default:
		return Answer{}, false
	}
	return a, true
}

func textOf(contents []mcp.Content) string {
	var b strings.Builder
	for _, c := range contents {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	text := b.String()
	if len(text) > maxAnswer {
		text = text[:maxAnswer]
	}
	return strings.ToValidUTF8(text, "")
}

// reply is what came back to a question of an earlier run of the call.
type reply struct {
	state    *state            // nil when it is to none that this server asked
	response mcp.InputResponse // nil when the client did not answer
}

// errNoQuestion is the cause of a refusal that clients get as an error of the
// protocol: they, and no model, carry states.
var errNoQuestion = errors.New("the state is none of ours, was changed, is of another call, or is too old")

// hear refuses a reply that is not to a question of exactly this call.
func (c *Call) hear() error {
	r := c.reply
	if r == nil {
		return nil
	}
	fits := r.state != nil && r.state.Call == c.Fingerprint(ForQuestion)
	if fits && r.response != nil {
		_, elicited := r.response.(*mcp.ElicitResult)
		_, sampled := r.response.(*mcp.CreateMessageWithToolsResult) //nolint:staticcheck // see params
		fits = elicited && r.state.Kind == Elicitation || sampled && r.state.Kind == Sampling
	}
	if !fits {
		c.reply = nil
		e := (&Error{Code: CodeValidation, Detail: "the answer that came with this call is to no question that this server asked about it, or came too late", Cause: errNoQuestion}).
			WithHint("Make the call again without inputResponses and requestState.")
		if c.tool.flow() != nil {
			e.With("status", confirmationInvalid)
		}
		return e
	}
	return nil
}

// replyOf is what the request says about an earlier question; nil for a first
// run.
func (k *core) replyOf(req *mcp.CallToolRequest, t *Tool, principal string) *reply {
	p := req.Params
	if p.RequestState == "" && len(p.InputResponses) == 0 {
		return nil
	}
	r := &reply{state: k.seal.open(p.RequestState, t, principal)}
	if r.state != nil {
		r.response = p.InputResponses[r.state.Question]
	}
	return r
}

// ask puts the question to a client that does not come back by itself, and is
// the reply to it. A client that refuses, fails or stays silent gives none; the
// call then goes on without, for which a little of its time is left.
//
// The call leaves its place to others meanwhile.
func (k *core) ask(ctx context.Context, c *Call, q *Question) *reply {
	<-k.slots
	defer func() { k.slots <- struct{}{} }()
	r := &reply{state: c.stateOf(q)}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		left := time.Until(deadline)
		ctx, cancel = context.WithTimeout(ctx, left-min(left/4, 15*time.Second))
		defer cancel()
	}
	var err error
	if q.Sample != nil {
		res, failed := c.client.req.Session.CreateMessageWithTools(ctx, q.Sample.params()) //nolint:staticcheck // see params
		if err = failed; err == nil {
			r.response = res
		}
	} else {
		res, failed := c.client.req.Session.Elicit(ctx, q.Form)
		if err = failed; err == nil {
			r.response = res
		}
	}
	if err != nil {
		c.log(ctx, slog.LevelWarn, "the client did not answer", slog.String("question", q.Name), slog.Any("cause", err))
	}
	return r
}
