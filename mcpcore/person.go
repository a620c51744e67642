package mcpcore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/redact"
)

// ApprovalRequest is what a person is asked.
type ApprovalRequest struct {
	Call  *Call
	Facts Facts

	// Question is for the person to read: lines written here, with the exact ids
	// first. What callers and Discord wrote stands in it as JSON literals on one
	// line each, with nothing in them that could pass for another line. It holds
	// what [Tool.Redact] keeps out of records, since nobody can decide about what
	// they do not see; secrets are masked.
	Question string

	// Shown holds the question and more, in the form that [ReadShown] reads: what a
	// [Proposal] stores for whoever decides elsewhere.
	Shown json.RawMessage
}

// ApprovalState is where a request stands.
type ApprovalState struct {
	// ID is spent by the interlock. "" for a decision that is for this call alone
	// and kept nowhere.
	ID       ApprovalID
	Purpose  Purpose   // what ID was issued for; "" is ForPerson
	Decision *Decision // nil while pending
	Expires  time.Time
	Where    string // where a person decides, for the agent to say; "" when it cannot

	// Seen is the facts or the plan that the person decided about; ""
	// when nobody can tell.
	Seen Fingerprint
}

// Approver asks a person. It is safe for concurrent use.
type Approver interface {
	// Ask puts the question, or finds the one already put for the same call, and
	// may answer at once that it is pending. An [*Error] refuses with its code,
	// any other error as HUMAN_APPROVAL_REQUIRED: nobody could be asked.
	Ask(ctx context.Context, r ApprovalRequest) (ApprovalState, error)
}

// askPerson is the gate of calls that a person must approve.
func (c *Call) askPerson(ctx context.Context) error {
	if c.deps.Approver == nil {
		return Errorf(CodeHumanRequired, "a person must approve %s, and nothing here can ask one", c.tool.Name).With("tool", c.tool.Name)
	}
	facts, err := c.Facts(ctx)
	if err != nil {
		return err
	}
	// What a person may read: identifiers that are credentials, such as a webhook's
	// token, are masked too.
	args, _ := redact.Secrets(c.args).(map[string]any)
	question, err := c.forPerson(facts, args)
	if err != nil {
		return err
	}
	shown, err := c.shown(ctx, question, facts, args)
	if err != nil {
		return err
	}
	st, err := c.deps.Approver.Ask(ctx, ApprovalRequest{Call: c, Facts: facts, Question: question, Shown: shown})
	if err != nil {
		if _, ok := errors.AsType[*Error](err); ok || ctx.Err() != nil {
			return err
		}
		return &Error{Code: CodeHumanRequired, Detail: "a person must approve this, and asking one failed", Cause: err, Fields: map[string]any{"tool": c.tool.Name}}
	}
	switch seen, err := c.seen(ctx); {
	case err != nil:
		return err
	case st.Decision == nil:
		return c.pending(st)
	case !st.Decision.Approve:
		return refusedBy(*st.Decision).With("tool", c.tool.Name)
	case st.Seen != "" && st.Seen != seen:
		return c.factsChanged(ctx, &FactsWere{st.Seen})
	}
	c.approver = st.Decision.By
	if st.ID == "" {
		return nil
	}
	return c.Pledge(ctx, cmp.Or(st.Purpose, ForPerson), st.ID)
}

// approvedWithParent reports whether a person approved this step with the call
// that makes it.
func (c *Call) approvedWithParent() bool {
	return c.parent != nil && c.parent.guard.has(guardApprove) && c.parent.steps[c.step].person()
}

func (c *Call) pending(st ApprovalState) error {
	e := Errorf(CodeHumanPending, "a person was asked and has not decided yet").With("tool", c.tool.Name)
	if st.ID != "" {
		e.With("approval_id", st.ID)
	}
	if !st.Expires.IsZero() {
		e.With("approval_expires_at", st.Expires.UTC().Format(time.RFC3339))
	}
	if st.Where != "" {
		return e.With("where", st.Where).WithHint("Tell the user to decide at %s, then send the identical call.", st.Where)
	}
	return e
}

func refusedBy(d Decision) *Error {
	e := Errorf(CodeHumanRefused, "a person refused this")
	if d.By != "" {
		e.Detail = fmt.Sprintf("%s refused this", d.By)
		e.With("refused_by", d.By)
	}
	if d.Reason != "" {
		e.With("reason", d.Reason)
	}
	return e
}

// What is shown of an id, a name or a fact, of an argument or a step, and of all
// of it, in characters.
const (
	maxName      = 300
	maxShown     = 2000
	maxQuestion  = 8000
	shownOfLists = 20
)

// forPerson is what a person reads before deciding. What is too long to be shown
// is refused, since nobody could approve it. args are the call's without secrets.
func (c *Call) forPerson(facts Facts, args map[string]any) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s? (%s, asked by %s)\n", cmp.Or(c.tool.Title, c.tool.Name), c.tool.Name, literal(c.principal))
	if c.steps != nil {
		if err := c.stepsForPerson(&b); err != nil {
			return "", err
		}
	}
	shown := map[string]bool{}
	ids := c.idsIn(args)
	for i, id := range ids {
		if i == shownOfLists {
			fmt.Fprintf(&b, "and %d more ids\n", len(ids)-i)
			break
		}
		shown[id.Path] = true
		fmt.Fprintf(&b, "%s: %s\n", id.Path, literal(id.Value))
	}
	if len(facts) > 0 {
		b.WriteString(facts.lines())
		b.WriteByte('\n')
	}
	if c.steps == nil { // which say all that the arguments do
		if c.tool.flow() != nil { // whose plan says them
			shown[keyArg], shown[planArg] = true, true
		}
		for _, name := range c.Names() {
			if !shown[name] {
				fmt.Fprintf(&b, "%s: %s\n", name, short(visible(compact(args[name]))))
			}
		}
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if utf8.RuneCountInString(text) > maxQuestion {
		return "", Errorf(CodeHumanRequired, "this is too much to be shown to a person at once").
			WithHint("Make fewer steps in one call, or send less in it.").With("tool", c.tool.Name)
	}
	return text, nil
}

// stepsForPerson writes every step that a person must approve, with its final
// arguments.
func (c *Call) stepsForPerson(b *strings.Builder) error {
	for i, s := range c.steps {
		if !s.person() {
			continue
		}
		if s.Depends {
			return Errorf(CodeHumanRequired, "a person must approve step %d (%s), and its arguments depend on an earlier result, so nobody can see them yet", i+1, s.Tool).
				WithHint("Make the earlier steps first, then call %s itself with its final arguments.", s.Tool).With("tool", c.tool.Name)
		}
		fmt.Fprintf(b, "step %d: %s (%s) %s\n", i+1, cmp.Or(s.bound.tool.Title, s.Tool), s.Tool, short(visible(compact(s.shown(redact.Secrets)))))
	}
	return nil
}

// literal is an id, a name or a fact as a JSON literal on one line.
func literal(s string) string {
	if runes := []rune(s); len(runes) > maxName {
		s = string(runes[:maxName]) + "…"
	}
	return visible(canon.AppendString(nil, s))
}

// short is a line as far as it is shown. What was cut off is said.
func short(s string) string {
	runes := []rune(s)
	if len(runes) <= maxShown {
		return s
	}
	return fmt.Sprintf("%s… (%d characters more)", string(runes[:maxShown]), len(runes)-maxShown)
}

// InLedger is the approver whose questions wait in the server's ledger for
// somebody who may decide: on the approval console, or with discord-mcp approvals. The call
// answers HUMAN_APPROVAL_PENDING, and the identical call acts after the
// decision, once.
type InLedger struct {
	Where    string        // where to decide, for agents to tell; "" when there is no such place
	Lifetime time.Duration // of a question; 0 is MaxLifetime

	// Wait is how long a call waits for the decision, telling its client that it
	// does, before it answers that it is pending; 0 does not wait.
	Wait time.Duration

	// Check vouches for the decision that the ledger holds of the approval: that
	// it is of somebody who may decide, and about exactly this. The approval says
	// what the call is and, in Shown, what a person is asked about it; the id, the
	// expiry and the decision alone are the ledger's word. An error refuses the
	// call with HUMAN_APPROVAL_REQUIRED, whatever was decided. nil vouches for
	// everything: then whoever can write the ledger can decide.
	Check func(Approval) error
}

// While a call waits, it looks at the ledger every half second and tells its
// client every fifth.
const (
	lookAgain = 500 * time.Millisecond
	tellAfter = 10 // looks
)

// Ask implements [Approver].
func (a InLedger) Ask(ctx context.Context, r ApprovalRequest) (ApprovalState, error) {
	var deadline <-chan time.Time
	if a.Wait > 0 {
		timer := time.NewTimer(a.Wait)
		defer timer.Stop()
		deadline = timer.C
	}
	for looks := 0; ; looks++ {
		found, err := r.Call.Propose(ctx, Proposal{Purpose: ForPerson, Shown: r.Shown, Lifetime: cmp.Or(a.Lifetime, MaxLifetime)})
		if err == nil && found.Decision != nil {
			err = a.check(ctx, r, found)
		}
		st := ApprovalState{ID: found.ID, Decision: found.Decision, Expires: found.Expires, Where: a.Where}
		if err != nil || st.Decision != nil || deadline == nil {
			return st, err
		}
		if looks%tellAfter == 0 {
			r.Call.Progress(ctx, float64(looks)*lookAgain.Seconds(), a.Wait.Seconds(), "waiting for a person")
		}
		select {
		case <-time.After(lookAgain):
		case <-deadline:
			return st, nil
		case <-ctx.Done():
			return st, nil
		}
	}
}

// check refuses a call whose decision nobody vouches for. Neither a yes nor a no
// counts then: the agent is not told what it says, since that is nobody's word.
func (a InLedger) check(ctx context.Context, r ApprovalRequest, found Approval) error {
	if a.Check == nil {
		return nil
	}
	c := r.Call
	found.Shown = r.Shown
	err := a.Check(found)
	if err == nil {
		return nil
	}
	// Earlier versions stored the question alone, which they may still do beside
	// this one.
	if question, bad := canon.Marshal(r.Question); bad == nil {
		found.Shown = question
		if a.Check(found) == nil {
			return nil
		}
	}
	c.log(ctx, slog.LevelError, "decision without proof", slog.String("approval_id", string(found.ID)), slog.Any("error", err))
	expires := found.Expires.UTC().Format(time.RFC3339)
	return Errorf(CodeHumanRequired, "a person must approve %s, and the decision in the ledger is not one of a person who may", c.tool.Name).
		WithHint("Tell the operator: whoever decided this may not any more, or something else wrote into the ledger. After %s the identical call asks a person again.", expires).
		With("tool", c.tool.Name).With("approval_id", found.ID).With("approval_expires_at", expires)
}

// AtClient is the approver that asks the person in front of the caller's client,
// by MCP's elicitation. The client answers for its user, and nothing here can
// tell whether a person saw the question: see docs/confirmation.md. A client that
// cannot ask, does not answer or answers anything but a plain yes refuses the
// call.
type AtClient struct {
	Lifetime time.Duration // of a question; 0 is MaxLifetime
}

// approveField is the one field of the form that a person fills in.
const approveField = "approve"

// Ask implements [Approver].
func (a AtClient) Ask(ctx context.Context, r ApprovalRequest) (ApprovalState, error) {
	if answer, ok := r.Call.Answer(approveField); ok {
		return decided(answer)
	}
	if !r.Call.CanAsk(Elicitation) {
		return ApprovalState{}, r.Call.unasked()
	}
	lifetime := cmp.Or(a.Lifetime, MaxLifetime)
	issued, err := r.Call.Propose(ctx, Proposal{Purpose: ForQuestion, Lifetime: lifetime})
	if err != nil {
		return ApprovalState{}, err
	}
	keep, err := canon.Marshal(kept{issued.ID, issued.Facts})
	if err != nil {
		return ApprovalState{}, fmt.Errorf("encode approval id: %w", err)
	}
	return ApprovalState{}, r.Call.Ask(Question{Name: approveField, Keep: keep, Lifetime: lifetime, Form: &mcp.ElicitParams{
		Mode: "form", Message: r.Question, RequestedSchema: json.RawMessage(approveForm),
	}})
}

// kept is what an answer is held against.
type kept struct {
	ID   ApprovalID  `json:"id"`
	Seen Fingerprint `json:"seen"`
}

const approveForm = `{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve","description":"true lets exactly this call act, once"}},"required":["approve"]}`

// decided is what a client said that its user decided.
func decided(answer Answer) (ApprovalState, error) {
	st := ApprovalState{Purpose: ForQuestion, Decision: &Decision{By: "the client's user"}}
	var k kept
	if err := json.Unmarshal(answer.Kept, &k); err != nil {
		return st, fmt.Errorf("decode what was asked: %w", err)
	}
	st.ID, st.Seen = k.ID, k.Seen
	switch {
	case answer.Action == "accept" && answer.Fields[approveField] == true:
		st.Decision.Approve = true
	case answer.Action == "cancel":
		st.Decision.Reason = "the question was closed without an answer"
	}
	return st, nil
}

// unasked refuses a call whose client cannot ask its user, or did not answer.
func (c *Call) unasked() error {
	e := Errorf(CodeHumanRequired, "a person must approve %s, and this client cannot ask one", c.tool.Name)
	if c.reply != nil {
		e.Detail = fmt.Sprintf("a person must approve %s, and the client did not answer", c.tool.Name)
	}
	return e.With("tool", c.tool.Name)
}

var (
	_ Approver = InLedger{}
	_ Approver = AtClient{}
)
