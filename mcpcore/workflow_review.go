package mcpcore

import (
	"context"
	"errors"
	"time"
)

// What a call of a reviewed workflow says in the member status, beside the
// statuses of plans and receipts.
const (
	confirmationInvalid  = "confirmation-invalid"
	confirmationDeclined = "confirmation-declined"
	planChanged          = "plan-changed"
	keyConflict          = "operation-key-conflict"
	targetConflict       = "write-coordination-conflict"
	priorUncertain       = "blocked-prior-uncertain"
	claimLost            = "claim-lost"
	recordFailed         = "completed-operation-record-failed"
)

// approveReviewed is the gate of the tool that executes: a person approved
// exactly the plan as it is now. A plan with nothing to write needs nobody.
func (c *Call) approveReviewed(ctx context.Context) error {
	f := c.tool.flow()
	switch {
	case f == nil:
		return nil // a precondition keeps the gate
	case c.parent != nil:
		return Errorf(CodeToolNotAvailable, "a person reviews the plan of %s, so it cannot be a step of another call", c.tool.Name)
	}
	switch r, err := c.deps.Operations.Receipt(ctx, f.name, HashKey(c.Text(keyArg))); {
	case err == nil && !r.Resumes(Reservation{Request: c.tag(f)}):
		return spentKey(r)
	case err == nil:
		c.resumes = true
	case !errors.Is(err, ErrReceiptMissing):
		return c.noOperations(ctx, err)
	}
	p, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	if given := Digest(c.Text(planArg)); given != "" && given != p.digest {
		return changedPlan(given, p.digest)
	}
	if p.current || p.broken != "" {
		return nil // nothing is written
	}
	if f.effect == Destroy && !c.deps.Armed {
		return Errorf(CodeDryRun, "this is the plan, nothing was changed; the server is not armed").
			With("tool", c.tool.Name).With("preview", c.Preview()).With("facts", p.facts).
			WithHint("Nothing was changed. To act, the operator must have started the server with MCP_DRY_RUN=false.")
	}
	return c.reviewed(c.askPerson(ctx), p)
}

// reviewed names how a review ended.
func (c *Call) reviewed(err error, p *prepared) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	switch e.Code {
	case CodeHumanRefused:
		if a, asked := c.Answer(approveField); asked && a.Action == "accept" {
			return e.With("status", confirmationInvalid)
		}
		return e.With("status", confirmationDeclined)
	case CodeFactsChanged:
		var was Digest
		if before, ok := errors.AsType[*FactsWere](err); ok {
			was = Digest(before.Facts)
		}
		return changedPlan(was, p.digest)
	}
	return err
}

// idle reports whether the call executes a plan with nothing to write, of which
// no record is kept.
func (c *Call) idle() bool { return c.ready != nil && c.ready.current }

func changedPlan(expected, actual Digest) *Error {
	e := Errorf(CodePlanChanged, "the plan is not the one that was made or reviewed before").With("status", planChanged).With("actualDigest", actual)
	if expected != "" {
		e.With("expectedDigest", expected)
	}
	return e
}

func spentKey(r Receipt) *Error {
	if r.Status == StatusPaused {
		return Errorf(CodeKeyConflict, "the operation key is of another request, which is paused").
			With("status", keyConflict).With("receipt", r.view()).
			WithHint("Nothing was changed. Repeat the request of the key exactly to go on with it; another intent needs another operation key.")
	}
	return Errorf(CodeKeyConflict, "the operation key was used before; that operation is %s", r.Status).
		With("status", keyConflict).With("receipt", r.view())
}

// noOperations is what a caller learns of an operation ledger that does not
// answer.
func (c *Call) noOperations(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return err
	}
	return &Error{Code: CodeLedger, Detail: "the ledger of operations did not answer", Cause: err}
}

// receiptView is a receipt as agents see it.
type receiptView struct {
	Workflow     string       `json:"workflow"`
	Key          KeyHash      `json:"operationKeyHash"`
	Plan         Digest       `json:"planDigest"`
	Activity     string       `json:"activityId"`
	Parent       KeyHash      `json:"parentKeyHash,omitempty" jsonschema:"key of the operation that it is a part of"`
	Status       Status       `json:"status"`
	ResourceID   string       `json:"resourceId,omitempty"`
	Verification Verification `json:"verification,omitempty"`
	Error        Code         `json:"error,omitempty"`
	Resolved     bool         `json:"resolved,omitempty" jsonschema:"an operator looked at it"`
	Timestamp    string       `json:"timestamp"`
}

func (r Receipt) view() receiptView {
	return receiptView{r.Workflow, r.Key, r.Plan, r.Activity, r.Parent, r.Status, r.ResourceID, r.Verification, r.Error, r.Resolved, r.Reserved.UTC().Format(time.RFC3339)}
}
