package mcpcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// How long the parts of an operation may take. The lease is longer than the write
// by what the last plan and the records take; nothing needs it after the write.
const (
	writeFor = 30 * time.Second // where the workflow does not say otherwise
	maxWrite = 10 * time.Minute
	aroundIt = 90 * time.Second
	readFor  = 30 * time.Second
	noteFor  = 10 * time.Second // a record after the write
)

// executed is what the tool that executes answers.
type executed struct {
	SchemaVersion int          `json:"schemaVersion"`
	Workflow      string       `json:"workflow"`
	Status        string       `json:"status" jsonschema:"completed, completed-with-drift, partial, partial-with-drift, paused, completed-operation-record-failed or already-current"`
	Key           KeyHash      `json:"operationKeyHash"`
	Digest        Digest       `json:"digest"`
	Activity      string       `json:"activityId,omitempty"`
	Action        string       `json:"action"`
	Count         int          `json:"affectedCount"`
	ResourceID    string       `json:"resourceId,omitempty"`
	Verification  Verification `json:"verification,omitempty" jsonschema:"match, or drift when something that was read back differs"`
	Drift         []string     `json:"drift" jsonschema:"fields that differ from the plan"`
	Failed        []string     `json:"failed" jsonschema:"ids of what was not done"`
	Children      []childView  `json:"children,omitempty" jsonschema:"the parts of it, in their order"`
	Warnings      []string     `json:"warnings"`
}

// execution is one operation from its claim to its end.
type execution struct {
	*flow
	call *Call
	ops  OperationLedger
	plan *prepared
	Claim
	takes time.Duration // of the write; of a parent, of all its children
	until time.Time     // by when a parent's writes are over
	row   []childView   // what became of them
}

// serveExecute is the handler of the tool that executes. Layer 10 has the
// approval of the call's plan.
func (f *flow) serveExecute(ctx context.Context, c *Call) (*Result, error) {
	approved, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	x := &execution{flow: f, call: c, ops: c.deps.Operations, plan: approved, takes: f.takes}
	if approved.current && !c.resumes {
		return View(x.answer(alreadyCurrent, Reading{}, ""))
	}
	if x.plan, err = f.prepare(ctx, c); err != nil {
		return nil, err
	}
	if x.plan.digest != approved.digest {
		return nil, changedPlan(approved.digest, x.plan.digest)
	}
	x.until = time.Now().Add(x.takes)
	if err := x.claim(ctx); err != nil {
		return nil, err
	}
	// Until the write nothing is open, and the targets are given back whatever
	// happens. After it Release keeps them where they must be kept.
	defer x.release(ctx)
	if err := f.renew(ctx, c, x.plan); err != nil {
		return nil, err
	}
	if x.plan.digest != approved.digest {
		return nil, changedPlan(approved.digest, x.plan.digest)
	}
	if f.parent {
		return x.writeAll(ctx)
	}
	reading, err := x.write(ctx, "")
	if err != nil {
		return nil, err
	}
	return x.completed(ctx, reading)
}

// claim takes the targets.
func (x *execution) claim(ctx context.Context) error {
	targets := x.plan.targets()
	if n := len(canonical(targets)); n == 0 || n > MaxTargets {
		return fmt.Errorf("%s claims %d targets", x.name, n)
	}
	claim, err := x.ops.Claim(ctx, Wanted{Workflow: x.name, Key: x.plan.key, Plan: x.plan.digest, Targets: targets, Lease: x.takes + aroundIt})
	if held, ok := errors.AsType[*TargetHeld](err); ok {
		e := Errorf(CodeTargetBusy, "another operation is writing %s", held.Target).With("status", targetConflict)
		if errors.Is(err, ErrTargetQuarantined) {
			e = Errorf(CodeQuarantined, "an earlier write of %s has no known outcome", held.Target).With("status", priorUncertain)
		} else if !held.Until.IsZero() {
			e.With("until", held.Until.UTC().Format(time.RFC3339))
		}
		return e.With("target", held.Target).With("claimId", held.Claim)
	}
	if err != nil {
		return x.call.noOperations(ctx, err)
	}
	x.Claim = claim
	return nil
}

// release gives the targets back. What cannot be given back is free when the
// lease is over.
func (x *execution) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteFor)
	defer cancel()
	if err := x.ops.Release(ctx, x.Claim); err != nil {
		x.call.log(ctx, slog.LevelError, "claim not released", slog.String("claim", string(x.Claim.ID)), slog.Any("error", err))
	}
}

// reserve spends the key of the claim.
func (x *execution) reserve(ctx context.Context, parent KeyHash) error {
	switch _, err := x.ops.Reserve(ctx, x.Claim, Reservation{Activity: x.call.id, Request: x.call.tag(x.flow), Parent: parent}); {
	case errors.Is(err, ErrKeySpent):
		if spent, ok := errors.AsType[*KeySpent](err); ok {
			return spentKey(spent.Receipt)
		}
		return Errorf(CodeKeyConflict, "the operation key was used before").With("status", keyConflict)
	case errors.Is(err, ErrClaimLost):
		return x.lost()
	case err != nil:
		// The answer may be lost, and the key reserved: then the operation is over.
		if parent != "" || !x.call.resumes {
			_, _ = x.finish(context.WithoutCancel(ctx), Ending{Status: StatusFailed, Error: CodeLedger})
		}
		return x.call.noOperations(ctx, err)
	}
	return nil
}

// write reserves the key, records that the write is pending, writes once and
// finds out what became of it. From the reservation on, the client's patience
// does not count: what was begun is brought to an end. An operation that is not
// done is ended here.
func (x *execution) write(ctx context.Context, parent KeyHash) (r Reading, err error) {
	if err := x.reserve(ctx, parent); err != nil {
		return r, err
	}
	ctx = context.WithoutCancel(ctx)
	began := time.Now()
	if _, err := x.ops.Pending(ctx, x.Claim, x.takes); err != nil {
		// Nothing was written. Where even that cannot be recorded, an operator
		// will have to look.
		if _, ended := x.finish(ctx, Ending{Status: StatusFailed, Error: CodeClaimLost}); ended != nil {
			x.call.log(ctx, slog.LevelError, "operation not ended", slog.String("claim", string(x.Claim.ID)), slog.Any("error", ended))
		}
		if errors.Is(err, ErrClaimLost) {
			return r, x.lost()
		}
		return r, &Error{Code: CodeLedger, Detail: "the pending write could not be recorded, so nothing was written", Cause: err, Fields: map[string]any{"status": "blocked-audit-failed", "operationKeyHash": x.plan.key}}
	}
	written, err := x.apply(ctx, began.Add(x.takes))
	if n, ok := errors.AsType[*notDone](err); ok {
		return r, x.failed(ctx, n.error)
	}
	if err != nil {
		return r, x.uncertain(ctx, written.ID, err)
	}
	if r, err = x.read(ctx, written); err != nil {
		return r, x.uncertain(ctx, written.ID, err)
	}
	r.ID = cmp.Or(r.ID, written.ID)
	return r, nil
}

// apply sends the one write, if there is time for it: a process that was
// stopped since the write was recorded sends nothing.
func (x *execution) apply(ctx context.Context, until time.Time) (w Written, err error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	// Both clocks: the monotonic one stands still while a machine sleeps.
	if now := time.Now(); !now.Before(until) || !now.Round(0).Before(until.Round(0)) {
		return w, NotDone(x.lost())
	}
	defer func() {
		if p := recover(); p != nil {
			err = recovered(ctx, x.call, p)
		}
	}()
	return x.plan.errand.apply(ctx)
}

func (x *execution) read(ctx context.Context, w Written) (r Reading, err error) {
	ctx, cancel := context.WithTimeout(ctx, max(readFor, x.takes))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = recovered(ctx, x.call, p)
		}
	}()
	return x.plan.readBack(ctx, w)
}

func (x *execution) finish(ctx context.Context, e Ending) (Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, noteFor)
	defer cancel()
	return x.ops.Finish(ctx, x.Claim, e)
}

// failed ends an operation whose write was certainly not carried out.
func (x *execution) failed(ctx context.Context, cause error) error {
	e := x.because(cause, CodeOperationFailed)
	if _, err := x.finish(ctx, Ending{Status: StatusFailed, Error: e.Code}); err != nil {
		x.call.log(ctx, slog.LevelError, "operation not ended", slog.String("claim", string(x.Claim.ID)), slog.Any("error", err))
		e.With("claimId", x.Claim.ID)
	}
	e.WithHint("%s The operation key is spent; a new attempt needs a new one.", cmp.Or(e.Hint, e.Code.Hint()))
	return e.With("status", string(StatusFailed)).With("activityId", x.call.id)
}

// uncertain ends an operation of which nobody knows what became of it.
func (x *execution) uncertain(ctx context.Context, resource string, cause error) error {
	why := classify(ctx, cause)
	if _, err := x.finish(ctx, Ending{Status: StatusUncertain, ResourceID: resource, Error: why.Code}); err != nil {
		x.call.log(ctx, slog.LevelError, "operation not ended", slog.String("claim", string(x.Claim.ID)), slog.Any("error", err))
	}
	e := &Error{Code: CodeOutcomeUnknown, Detail: "the write was sent and what became of it is not known", Cause: cause}
	if why.Detail != "" {
		e.Detail += ": " + why.Detail
	}
	if resource != "" {
		e.With("resourceId", resource)
	}
	e.WithHint("Do not repeat it, not with another key either. Read the targets; the operator looks at them and releases the claim with discord-mcp operations resolve %s.", x.Claim.ID)
	return e.With("status", "outcome-uncertain").With("operationKeyHash", x.plan.key).With("activityId", x.call.id).
		With("claimId", x.Claim.ID).With("targets", x.Claim.Targets).With("cause", why.Code)
}

// completed ends an operation that was done.
func (x *execution) completed(ctx context.Context, r Reading) (*Result, error) {
	ctx = context.WithoutCancel(ctx)
	status, verification := string(StatusCompleted), Match
	switch n := len(r.Failed); {
	case n > 0 && n >= len(x.plan.affected):
		return nil, x.failed(ctx, &Error{Code: CodeOperationFailed, Detail: "none of it was done", Fields: map[string]any{"failed": r.Failed}})
	case n > 0:
		status = "partial"
	}
	if len(r.Drift) > 0 {
		verification = Drift
		status += "-with-drift"
	}
	a := x.answer(status, r, verification)
	_, err := x.finish(ctx, Ending{Status: StatusCompleted, ResourceID: r.ID, Verification: verification})
	if err != nil {
		x.call.log(ctx, slog.LevelError, "receipt lost", slog.String("claim", string(x.Claim.ID)), slog.Any("error", err))
		a.Status = recordFailed
	}
	res, failed := View(a)
	if failed == nil && err != nil {
		res.Notes = append(res.Notes, fmt.Sprintf("the change is made, and its receipt could not be finished: the operator must look at claim %s", x.Claim.ID))
	}
	return res, failed
}

func (x *execution) answer(status string, r Reading, v Verification) *executed {
	a := &executed{
		SchemaVersion: planVersion, Workflow: x.name, Status: status, Key: x.plan.key, Digest: x.plan.digest,
		Action: x.plan.action, Count: x.plan.count(), ResourceID: r.ID, Verification: v,
		Drift: slices.Clone(r.Drift), Failed: slices.Clone(r.Failed), Warnings: slices.Clone(x.plan.warnings),
		Children: x.row,
	}
	if status != alreadyCurrent {
		a.Activity = x.call.id
	}
	return a
}

// lost is the end of an operation whose claim was over before its write.
func (x *execution) lost() *Error {
	return Errorf(CodeClaimLost, "the claim of the targets was over before the write, so nothing was written").
		With("status", claimLost).With("operationKeyHash", x.plan.key)
}

// because is the cause as this operation's own error: the other side's code and
// words, under fallback where it has none. A status that it names is the other
// side's.
func (x *execution) because(cause error, fallback Code) *Error {
	e := &Error{Code: fallback, Detail: "the write was not carried out", Cause: cause}
	if known, ok := errors.AsType[*Error](cause); ok && known != nil {
		if _, listed := codes[known.Code]; listed {
			copied := *known
			copied.Fields = maps.Clone(known.Fields)
			e = &copied
		}
	}
	if status, ok := e.Fields["status"]; ok {
		e.With("upstreamStatus", status)
	}
	return e.With("operationKeyHash", x.plan.key)
}

// canonical is targets in the order in which they are claimed, each once.
func canonical(targets []Target) []string {
	all := make([]string, 0, len(targets))
	for _, t := range targets {
		all = append(all, t.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Canonical is the targets as a claim keeps them: sorted, each once.
func (w Wanted) Canonical() []string { return canonical(w.Targets) }

// verified is what the tool that verifies answers.
type verified struct {
	Workflow   string       `json:"workflow"`
	Status     string       `json:"status" jsonschema:"verified, drifted, absent, or blocked: then nothing was looked at"`
	Key        KeyHash      `json:"operationKeyHash"`
	Reason     string       `json:"reason,omitempty" jsonschema:"why it is blocked"`
	ResourceID string       `json:"resourceId,omitempty"`
	Drift      []string     `json:"drift"`
	Receipt    *receiptView `json:"receipt,omitempty"`
}

// serveVerify is the handler of the tool that verifies. The request is held
// against the receipt before anything else is read.
func (f *flow) serveVerify(ctx context.Context, c *Call) (*Result, error) {
	v := &verified{Workflow: f.name, Key: HashKey(c.Text(keyArg))}
	r, err := c.deps.Operations.Receipt(ctx, f.name, v.Key)
	switch {
	case errors.Is(err, ErrReceiptMissing):
		v.Status, v.Reason = "absent", "there is no receipt of this operation key"
		return View(v)
	case err != nil:
		return nil, c.noOperations(ctx, err)
	}
	if r.Request != c.tag(f) {
		v.Status, v.Reason = "blocked", "the receipt is of another request"
		return View(v)
	}
	shown := r.view()
	v.Receipt, v.ResourceID = &shown, r.ResourceID
	if r.Status != StatusCompleted && r.Status != StatusPaused && (r.Status != StatusUncertain || r.ResourceID == "") {
		v.Status, v.Reason = "blocked", "the operation is "+string(r.Status)
		return View(v)
	}
	e, err := f.bind(c)
	if err != nil {
		return nil, err
	}
	if err := c.readChildren(ctx, f); err != nil {
		return nil, err
	}
	reading, err := e.verify(ctx, r)
	if err != nil {
		return nil, err
	}
	v.ResourceID, v.Drift = cmp.Or(reading.ID, v.ResourceID), reading.Drift
	switch {
	case reading.Absent:
		v.Status = "absent"
	case len(reading.Drift) > 0:
		v.Status = "drifted"
	default:
		v.Status = "verified"
	}
	return View(v)
}
