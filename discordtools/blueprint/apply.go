package blueprint

import (
	"context"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Applier carries plans out.
type Applier struct {
	Conn    Conn
	Records Records
	Clock   func() time.Time

	// Operations keeps others from what is written, on every server that shares
	// it: each write has a claim of the collections that the plan changes.
	Operations mcpcore.OperationLedger

	// Wait waits, or ends with the context's error. nil is a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// Order is one call to carry a plan out, or to go on with it.
type Order struct {
	Plan      *Plan
	Principal string
	Activity  string // of the call, for the receipts of its writes
	Budget    int    // at most so many operations; at least 1

	// Progress is told before each operation. nil for nobody.
	Progress func(ctx context.Context, done, total int, words string)
}

// Status is how a call to carry a plan out ends.
type Status string

// The statuses.
const (
	Complete       Status = "complete"        // all was done, and read back
	AlreadyCurrent Status = "already_current" // there was nothing to do
	Partial        Status = "partial"         // some of it was done
	Blocked        Status = "blocked"         // something stands in the way, and nothing was done
	Busy           Status = "busy"            // another call is at it
	Stale          Status = "stale"           // somebody else changed the guild
)

// What to do next.
const (
	NextDone   = "done"
	NextResume = "resume"
	NextReplan = "replan"
	NextFix    = "fix_configuration"
)

// Codes of what stops a plan.
const (
	CodeSnapshotStale = "PLAN_SNAPSHOT_STALE"
	CodeConsumed      = "PLAN_ALREADY_CONSUMED"
)

// Outcome is how a call ended.
type Outcome struct {
	Status   Status
	Next     string
	Planned  int // operations of the plan
	Due      int // operations at the beginning of this call
	Left     int // operations at its end
	Version  *int
	Attempts []Attempt
	Blockers []Problem
	Failure  *Failure
	Warnings []string

	Readback      string  // match, drift or not_run
	Before, After *string // digests of the guild
	Persisted     bool    // the checkpoint says what was done
	Bindings      Bindings
	Completed     []string
	Evidence      *Evidence
}

// Attempt is one operation of this call.
type Attempt struct {
	Operation string  `json:"operation_id"`
	Status    string  `json:"status"` // completed or failed
	Resource  *string `json:"resource_id"`
	Code      *string `json:"error_code"`
}

// Read-backs.
const (
	Match  = "match"
	Drift  = "drift"
	NotRun = "not_run"
)

// Apply carries a plan out, or goes on with it: what an earlier call did is
// found and not done again. The same order may be given any number of times. A
// plan that was carried out to the end never acts again.
//
// While somebody else writes what the plan changes it ends Busy at once. A write
// of which nobody knows what became of it keeps everybody else away; the same
// plan finds out by reading, unless somebody changed the guild, and goes on.
func (a *Applier) Apply(ctx context.Context, o Order) *Outcome {
	r := &run{Applier: a, Order: o, Outcome: &Outcome{
		Planned: len(o.Plan.Operations), Left: len(o.Plan.Operations), Readback: NotRun, Bindings: Bindings{}.clone(), Completed: []string{}, Blockers: []Problem{}, Attempts: []Attempt{},
	}}
	defer r.giveBack(ctx)
	r.apply(ctx)
	return r.Outcome
}

// wait waits for d.
func (a *Applier) wait(ctx context.Context, d time.Duration) error {
	if a.Wait != nil {
		return a.Wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
