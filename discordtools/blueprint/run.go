package blueprint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// run is one call.
type run struct {
	*Applier
	Order
	*Outcome

	claim *mcpcore.Claim // nil for none
	taken time.Time
	open  bool // nobody knows what became of the claim's write
	point *Checkpoint
	draft *Draft
}

func (r *run) stop(s Status, f *Failure, next string) {
	r.Status, r.Failure, r.Next = s, f, next
	if f != nil && f.Retriable && next == NextReplan {
		r.Next = NextResume
	}
}

// failed ends the call because of an error.
func (r *run) failed(s Status, operation string, err error) {
	r.stop(s, failure(operation, err), NextReplan)
}

func (r *run) apply(ctx context.Context) {
	left, ok := r.enter(ctx)
	if !ok {
		return
	}
	known := r.Plan.Bindings
	if r.point != nil {
		known = r.point.Bindings
		r.noteCheckpoint()
	}
	g, err := r.read(ctx, known)
	if err != nil {
		r.failed(r.begun(), "", err)
		return
	}
	before := g.ID()
	r.Before = &before
	r.compare(g, known)
	r.Warnings = append(r.Warnings, r.draft.Warnings...)
	r.Due = r.Left
	switch {
	case r.point == nil && before != r.Plan.Snapshot:
		r.stale("the guild is not as it was when the plan was made")
	case r.point != nil && r.point.Status == statusComplete:
		r.consumed(ctx)
	case r.point != nil && r.changed(g):
	case len(r.draft.Blockers) > 0:
		r.Blockers = r.draft.Blockers
		r.stop(r.begun(), nil, NextReplan)
	case left != nil && !r.reenter(ctx, left):
	default:
		r.carryOut(ctx)
	}
}

// enter reads the checkpoint and claims what the plan changes. left is the write
// that an earlier call of the plan left open, which keeps the claim for now.
func (r *run) enter(ctx context.Context) (left *mcpcore.Held, ok bool) {
	var err error
	if r.point, err = r.Records.checkpoint(ctx, r.Plan, r.Principal); err != nil {
		r.failed(Blocked, "", err)
		return nil, false
	}
	if len(r.Plan.Operations) == 0 || r.point != nil && r.point.Status == statusComplete {
		return nil, true // which writes nothing
	}
	taken := r.take(ctx, r.version()+1, nil)
	if taken != nil {
		if left, err = r.left(ctx); left == nil {
			r.held(ctx, cmp.Or(err, taken))
			return nil, false
		}
		return left, true
	}
	now, err := r.Records.checkpoint(ctx, r.Plan, r.Principal)
	switch {
	case err != nil:
		r.failed(r.begun(), "", err)
		return nil, false
	case now != nil && (r.point == nil || now.Version != r.point.Version): // another call got ahead
		r.stop(Busy, nil, NextResume)
		return nil, false
	}
	return nil, true
}

// reenter settles what was left open and takes the claim over.
func (r *run) reenter(ctx context.Context, left *mcpcore.Held) bool {
	err := r.settle(ctx, left)
	if err == nil {
		err = r.take(ctx, r.version()+1, nil)
	}
	if err != nil {
		r.held(ctx, err)
	}
	return err == nil
}

// version is the checkpoint's, -1 before there is one.
func (r *run) version() int {
	if r.point == nil {
		return -1
	}
	return r.point.Version
}

// compare is what is left to be done in the guild.
func (r *run) compare(g *Guild, known Bindings) {
	r.draft = Compare(r.Plan.doc, g, known, r.Plan.Policy.Drift == "update")
	r.Bindings, r.Left = r.draft.Bindings, len(r.draft.Operations)
}

func (r *run) read(ctx context.Context, known Bindings) (*Guild, error) {
	t := r.Plan.Target
	return Read(ctx, r.Conn, t.Guild, t.Bot, r.Plan.doc, known.Channels)
}

// begun is how a call ends that did nothing.
func (r *run) begun() Status {
	if r.point != nil {
		return Partial
	}
	return Blocked
}

// stale ends the call because of somebody else's change.
func (r *run) stale(format string, with ...any) {
	r.Blockers = append(r.Blockers, Problem{
		Code: CodeSnapshotStale, Message: clip(fmt.Sprintf(format, with...), 500), Hint: "Plan anew: what is done already is found and not done again.",
	})
	r.stop(Stale, nil, NextReplan)
}

// changed ends the call when the guild is not as the checkpoint left it.
func (r *run) changed(g *Guild) bool {
	own := nobody
	if op := r.point.Doing; op != nil { // which may have been done before the call was cut off
		own = r.draft.touches(*op)
	}
	foreign := r.point.Expected.foreign(g.state(), own)
	if len(foreign) > 0 {
		r.stale("somebody else changed the guild while the plan was carried out: %s", told(foreign))
	}
	return len(foreign) > 0
}

// consumed answers for a plan that was carried out to the end.
func (r *run) consumed(ctx context.Context) {
	r.Completed = append(r.Completed, r.point.Completed...)
	if !r.draft.Current() {
		r.Readback = Drift
		r.Blockers = append(r.Blockers, Problem{
			Code: CodeConsumed, Message: "the plan was carried out to the end, and the guild has changed since", Hint: "Plan anew.",
		})
		r.stop(Blocked, nil, NextReplan)
		return
	}
	r.Readback, r.After, r.Persisted, r.Left = Match, r.Before, true, 0
	r.prove(ctx)
	if r.Failure == nil {
		r.Status, r.Next = AlreadyCurrent, NextDone
	}
}

func (r *run) noteCheckpoint() {
	v := r.point.Version
	r.Version = &v
	r.Completed = slices.Clone(r.point.Completed)
}

// save writes the checkpoint: what is done, and what will be done next.
func (r *run) save(ctx context.Context, status string, doing *Operation, last *Failure) error {
	if r.point == nil {
		p := r.Plan
		r.point = &Checkpoint{SchemaVersion: checkpointVersion, PlanID: p.id, BlueprintID: p.BlueprintID, Target: p.Target, Version: -1}
	}
	c := r.point
	c.Status, c.Doing, c.LastError = status, doing, last
	switch {
	case doing != nil && status == statusApplying:
		c.Write = r.Records.Sealer.operation(c.PlanID, r.Principal, c.Version+1)
	case !r.open:
		c.Write = ""
	}
	c.Bindings, c.Completed, c.Expected = r.draft.Bindings.clone(), slices.Clone(r.Completed), r.draft.Guild.state()
	if err := r.Records.saveCheckpoint(ctx, c, r.Principal); err != nil {
		return err
	}
	r.noteCheckpoint()
	return nil
}

// carryOut does what is due, one operation after the other.
func (r *run) carryOut(ctx context.Context) {
	if len(r.draft.Operations) == 0 {
		r.finish(ctx)
		return
	}
	if err := r.save(ctx, statusApplying, &r.draft.Operations[0], nil); err != nil {
		r.failed(r.beginning(), "", &ioError{err})
		return
	}
	done := map[string]bool{}
	for n := 0; n < r.Budget && len(r.draft.Operations) > 0; n++ {
		op := r.draft.Operations[0]
		if done[op.ID] {
			r.fail(ctx, op, &responseError{what: "Discord accepted the change, and it is not there"})
			return
		}
		if r.Progress != nil {
			r.Progress(ctx, n, min(r.Budget, r.Due), op.Summary)
		}
		if !r.one(ctx, op) {
			return
		}
		done[op.ID] = true
	}
	r.finish(ctx)
}

// beginning is how a call ends whose first checkpoint could not be written.
func (r *run) beginning() Status {
	if r.point != nil && r.point.stored != 0 {
		return Partial
	}
	return Blocked
}

// one looks, does an operation, and notes it. It reports whether the next may
// follow.
func (r *run) one(ctx context.Context, op Operation) bool {
	if err := r.take(ctx, r.point.Version, &op); err != nil {
		r.held(ctx, err)
		return false
	}
	within, cancel := context.WithTimeout(ctx, StepTime)
	defer cancel()
	now, err := r.look(within, r.draft, op)
	if err != nil {
		r.fail(ctx, op, err)
		return false
	}
	if foreign := r.draft.Guild.state().foreign(now.state(), nobody); len(foreign) > 0 {
		r.stale("somebody else changed the guild while the plan was carried out: %s", told(foreign))
		r.unfinished(ctx, nil)
		return false
	}
	if op.Resource == resCard && slices.ContainsFunc(now.Cards, func(c liveCard) bool {
		return c.Key == op.Key && string(c.Channel) == r.draft.Bindings.Channels[r.Plan.doc.cardChannel(op.Key)]
	}) {
		r.stale("the publication %s is there already", op.Key)
		r.unfinished(ctx, nil)
		return false
	}
	if err := within.Err(); err != nil {
		r.fail(ctx, op, err)
		return false
	}
	id, err := r.written(ctx, op)
	if err != nil {
		r.fail(ctx, op, err)
		return false
	}
	r.Attempts = append(r.Attempts, Attempt{Operation: op.ID, Status: "completed", Resource: &id})
	if !slices.Contains(r.Completed, op.ID) {
		r.Completed = append(r.Completed, op.ID)
	}
	var next *Operation
	if len(r.draft.Operations) > 0 {
		next = &r.draft.Operations[0]
	}
	if err := r.save(ctx, statusApplying, next, nil); err != nil {
		r.Warnings = append(r.Warnings, "the checkpoint could not be written after a change; the next call reads Discord again and finds it")
		r.failed(Partial, op.ID, &ioError{err})
		r.Next, r.Persisted = NextResume, false
		return false
	}
	r.Persisted = true
	return true
}

// fail ends the call because of an operation. What became of it is left open, so
// that the next call looks for it.
func (r *run) fail(ctx context.Context, op Operation, err error) {
	f := failure(op.ID, err)
	r.Attempts = append(r.Attempts, Attempt{Operation: op.ID, Status: "failed", Code: &f.Code})
	r.stop(Partial, f, NextReplan)
	r.unfinished(ctx, &op)
}

// unfinished notes that the call ended in the middle.
func (r *run) unfinished(ctx context.Context, open *Operation) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := r.save(ctx, statusPartial, open, r.Failure); err != nil {
		r.Warnings = append(r.Warnings, "the checkpoint could not be written; the next call reads Discord again")
		r.Persisted = false
		return
	}
	r.Persisted = true
}

// finish reads everything again and compares.
func (r *run) finish(ctx context.Context) {
	expected := r.draft.Guild.state()
	bindings := r.draft.Bindings
	g, err := r.read(ctx, bindings)
	if err != nil {
		r.failed(Partial, "", err)
		r.unfinished(ctx, nil)
		return
	}
	after := g.ID()
	r.After = &after
	if foreign := expected.foreign(g.state(), nobody); len(foreign) > 0 {
		r.Readback = Drift
		r.stale("somebody else changed the guild while the plan was carried out: %s", told(foreign))
		r.unfinished(ctx, nil)
		return
	}
	nothing := len(r.Attempts) == 0 && r.point == nil
	r.compare(g, bindings)
	switch {
	case len(r.draft.Blockers) > 0:
		r.Readback, r.Blockers = Drift, r.draft.Blockers
		r.stop(Partial, nil, NextReplan)
		r.unfinished(ctx, nil)
		return
	case len(r.draft.Operations) > 0:
		r.Readback = Drift
		r.stop(Partial, nil, NextResume)
		r.unfinished(ctx, &r.draft.Operations[0])
		return
	}
	r.Readback = Match
	if err := r.save(ctx, statusComplete, nil, nil); err != nil {
		r.failed(Partial, "", &ioError{err})
		return
	}
	r.Persisted = true
	r.prove(ctx)
	if r.Failure != nil {
		return
	}
	r.Status, r.Next = Complete, NextDone
	if nothing {
		r.Status = AlreadyCurrent
	}
}

// prove keeps the evidence, once.
func (r *run) prove(ctx context.Context) {
	e, err := r.Records.prove(ctx, r)
	if err != nil {
		r.failed(Partial, "", &ioError{err})
		return
	}
	r.Evidence = e
}
