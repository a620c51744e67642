package mcpcore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// child is a Child without its type: a name, and the errand that writes it.
type child struct {
	name    string
	current bool
	errand  errand
}

// childView is what a caller learns of a child.
type childView struct {
	Name       string  `json:"name"`
	Status     string  `json:"status" jsonschema:"already-current, completed, completed-with-drift, failed, uncertain, or left: it was not begun"`
	Key        KeyHash `json:"operationKeyHash,omitempty" jsonschema:"of its receipt"`
	ResourceID string  `json:"resourceId,omitempty"`
}

const childLeft = "left"

// maxChildren is how many receipts a ledger lists at once.
const maxChildren = 1000

// childKey is the key of a child: only who has the parent's can tell what it
// is of.
func childKey(parent, name string) KeyHash {
	return HashKey(keyed([]byte(parent), []byte("guildwarden child\x00"+name)))
}

// Completed is what the call's operation key has done before of a change that takes
// several writes: of the child of that name, the id that its receipt holds. A Plan goes
// by it where nothing else tells what was made.
func (c *Call) Completed(child string) (id string, ok bool) {
	r, ok := c.children[childKey(c.Text(keyArg), child)]
	return r.ResourceID, ok && r.Status == StatusCompleted
}

// checkRow says what is wrong with the children of a plan.
func checkRow(row []child, more bool) error {
	if len(row) > maxChildren {
		return fmt.Errorf("it has %d children, and can have %d", len(row), maxChildren)
	}
	names, left := map[string]bool{}, false
	for _, one := range row {
		if one.name == "" || names[one.name] {
			return fmt.Errorf("two of its children are %q", one.name)
		}
		names[one.name], left = true, left || !one.current
	}
	if more && !left {
		return errors.New("there is more to do, and nothing of it is planned")
	}
	return nil
}

// readChildren reads the receipts of the children of the call's operation key.
func (c *Call) readChildren(ctx context.Context, f *flow) error {
	if !f.parent {
		return nil
	}
	receipts, err := c.deps.Operations.Receipts(ctx, ReceiptFilter{Workflow: f.name, Parent: HashKey(c.Text(keyArg)), Limit: maxChildren})
	if err != nil {
		return c.noOperations(ctx, err)
	}
	c.children = make(map[KeyHash]Receipt, len(receipts))
	for _, r := range receipts {
		c.children[r.Key] = r
	}
	return nil
}

// brokenChild is the name of a child that is not as it was completed, or of a
// receipt's hash that no child of the plan has; "" for none.
func (c *Call) brokenChild(row []child) string {
	open := maps.Clone(c.children)
	for _, one := range row {
		key := childKey(c.Text(keyArg), one.name)
		r, written := open[key]
		if delete(open, key); written && (!one.current || r.Status != StatusCompleted || r.Verification != Match) {
			return one.name
		}
	}
	for key := range open {
		return string(key)
	}
	return ""
}

// brokenPlan refuses to go on with a key.
func brokenPlan(name string) *Error {
	return Errorf(CodePlanRefused, "%s is not as it was when it was done, so this key goes on with nothing", name).
		With("reason", "child-changed").With("child", name).
		WithHint("Nothing was changed. Look at what is there; what is still wanted needs a new operation key.")
}

// writeAll writes the children that are left, one after the other, each reserved,
// recorded and read back by itself. Between two of them the operation is paused, and
// stays so when the client has gone, or the time is over.
func (x *execution) writeAll(ctx context.Context) (*Result, error) {
	if err := x.reserve(ctx, ""); err != nil {
		return nil, err
	}
	if x.plan.broken != "" {
		return nil, x.block(ctx, brokenPlan(x.plan.broken))
	}
	if err := x.confirm(ctx); err != nil {
		return nil, err
	}
	var last Reading
	begun := x.call.resumes
	for i, one := range x.plan.row {
		view := &x.row[i]
		if view.Status != childLeft {
			continue
		}
		if begun && (ctx.Err() != nil || time.Now().Add(min(writeFor, x.takes)).After(x.until)) {
			return x.pause()
		}
		begun = true
		w := x.child(one)
		r, err := w.write(ctx, x.plan.key)
		if err == nil && (len(r.Failed) > 0 || r.Absent) {
			err = w.uncertain(context.WithoutCancel(ctx), r.ID, errors.New("the read-back does not prove it"))
		}
		if err != nil {
			return nil, x.stopped(ctx, err, view, w)
		}
		view.Key, view.ResourceID, view.Status = w.Claim.Key, r.ID, string(StatusCompleted)
		end := Ending{Status: StatusCompleted, ResourceID: r.ID, Verification: Match}
		if len(r.Drift) > 0 {
			end.Verification = Drift
			view.Status += "-with-drift"
		}
		if _, err := w.finish(context.WithoutCancel(ctx), end); err != nil {
			return x.unrecorded(ctx, r, err)
		}
		last.Drift = r.Drift
		if len(r.Drift) > 0 && (x.plan.more || slices.ContainsFunc(x.row, func(v childView) bool { return v.Status == childLeft })) {
			return nil, x.block(ctx, Errorf(CodeOperationFailed, "%s was done and differs from the plan, so the rest was not begun", one.name).With("drift", r.Drift).
				WithHint("What was done stays done. Look at it; what is still wanted needs a new operation key."))
		}
	}
	if x.plan.more {
		return x.pause()
	}
	return x.completed(ctx, last)
}

// confirm reads back what the key has completed before, and lists the children.
func (x *execution) confirm(ctx context.Context) error {
	for _, one := range x.plan.row {
		w := x.child(one)
		view := childView{Name: one.name, Status: childLeft}
		r, written := x.call.children[w.Claim.Key]
		switch {
		case written:
			view.Status, view.Key, view.ResourceID = string(StatusCompleted), r.Key, r.ResourceID
		case one.current:
			view.Status = alreadyCurrent
		}
		x.row = append(x.row, view)
		if !written {
			continue
		}
		found, err := w.read(ctx, Written{r.ResourceID})
		if err != nil {
			return x.paused(ctx, err)
		}
		if len(found.Drift) > 0 || len(found.Failed) > 0 || found.Absent {
			return x.block(ctx, brokenPlan(one.name).With("drift", found.Drift))
		}
	}
	return nil
}

// child is the execution of one child, under the parent's claim and plan.
func (x *execution) child(one child) *execution {
	plan := *x.plan
	plan.errand = one.errand
	return &execution{
		flow: x.flow, call: x.call, ops: x.ops, plan: &plan, Claim: x.Claim.Child(childKey(x.call.Text(keyArg), one.name)), takes: min(writeFor, x.takes),
	}
}

// block ends the operation, so that its key goes on with nothing.
func (x *execution) block(ctx context.Context, e *Error) error {
	hint := e.Hint
	err := x.failed(context.WithoutCancel(ctx), e)
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed.WithHint("%s", hint).With("children", x.row)
	}
	return err
}

// pause answers that the rest is still to be done.
func (x *execution) pause() (*Result, error) {
	res, err := View(x.answer(string(StatusPaused), Reading{}, ""))
	if err == nil {
		res.Notes = append(res.Notes, "it is paused: the same call with the same operationKey goes on with what is left, when a person has approved it")
	}
	return res, err
}

// paused is the error of a call that could not go on, and whose operation still
// can.
func (x *execution) paused(ctx context.Context, cause error) error {
	e := x.because(classify(ctx, cause), CodeInternal)
	return e.With("status", string(StatusPaused)).With("children", x.row)
}

// stopped is the error of an operation whose child ended it.
func (x *execution) stopped(ctx context.Context, err error, view *childView, w *execution) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	view.Key = w.Claim.Key
	if r, err := x.ops.Receipt(context.WithoutCancel(ctx), x.name, w.Claim.Key); err == nil {
		view.Status = string(r.Status)
	}
	return e.With("child", view.Name).With("children", x.row)
}

// unrecorded is the end of a child that was done, and of which that could not be
// recorded: nothing is done after it.
func (x *execution) unrecorded(ctx context.Context, r Reading, err error) (*Result, error) {
	x.call.log(ctx, slog.LevelError, "receipt lost", slog.String("claim", string(x.Claim.ID)), slog.Any("error", err))
	res, failed := View(x.answer(recordFailed, r, ""))
	if failed == nil {
		res.Notes = append(res.Notes, "it stopped where a part was made whose receipt could not be finished: the operator must look at claim "+string(x.Claim.ID))
	}
	return res, failed
}
