package mcpcore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/internal/args"
)

// Guard is one of the steps that stand between a caller and a handler. The
// work of each is a method of [Call], which notes that it was done; the
// interlock refuses a call that lacks a note it needs.
type Guard string

// The guards, in the order in which a call must pass them.
const (
	GuardValidate Guard = "validate" // [Call.Validate]: every tool
	GuardCheck    Guard = "check"    // [Call.Check]: tools that preconditions or policies speak of
	GuardApprove  Guard = "approve"  // [Call.Approve]: tools whose gate is an approval
	GuardAudit    Guard = "audit"    // [Call.Begin] and [Call.End]: tools that are not read-only
)

type guards uint8

const (
	guardValidate guards = 1 << iota
	guardCheck
	guardApprove
	guardBegin
)

type namedGuard struct {
	bit  guards
	name Guard
}

var guardNames = []namedGuard{{guardValidate, GuardValidate}, {guardCheck, GuardCheck}, {guardApprove, GuardApprove}, {guardBegin, GuardAudit}}

func (g guards) has(want guards) bool { return g&want == want }

// needs is what a tool's calls must pass.
func (d *Deps) needs(t *Tool) guards {
	g := guardValidate
	if len(d.preconditions(t)) > 0 {
		g |= guardCheck
	}
	if gate := t.EffectiveGate(); gate == Payload || gate == Reviewed || d.person(t) {
		g |= guardApprove
	}
	if t.Effect != Read {
		g |= guardBegin
	}
	return g
}

// missing names the first guard before limit that the call needs and lacks.
func (c *Call) missing(limit guards) *Error {
	needed := c.needs & (limit - 1)
	for _, g := range guardNames {
		if needed.has(g.bit) && !c.guard.has(g.bit) {
			return Errorf(CodeGuardSkipped, "the chain skipped the guard %q of %s", g.name, c.tool.Name).
				With("tool", c.tool.Name).With("guard", g.name)
		}
	}
	return nil
}

// Validate fits the raw arguments to the tool's schema, checks them against it
// and against the tool's rules, and freezes them. All issues are reported at
// once as VALIDATION_FAILED.
func (c *Call) Validate() error {
	if c.guard.has(guardValidate) {
		return nil
	}
	if c.fault != nil {
		return Invalid(*c.fault)
	}
	found, dropped := args.Fit(c.args, c.tool.impl.input, c.tool.Effect != Read || c.tool.flow() != nil)
	v, err := c.tool.impl.validator()
	if err != nil {
		return fmt.Errorf("schema of %s: %w", c.tool.Name, err)
	}
	found = append(found, unseen(found, v.Validate(c.args))...)
	issues := make([]Issue, min(len(found), args.MaxIssues))
	for i := range issues {
		issues[i] = Issue(found[i])
	}
	if len(issues) == 0 {
		for _, r := range c.tool.Rules {
			issues = append(issues, r.issues(c)...)
		}
	}
	if len(issues) > 0 {
		return Invalid(issues[:min(len(issues), args.MaxIssues)]...)
	}
	c.raw, c.extra = compact(c.args), dropped
	if err := c.hear(); err != nil {
		return err
	}
	if err := c.plan(); err != nil {
		return err
	}
	c.guard |= guardValidate
	return nil
}

// Fits reports whether [Call.Validate] would find nothing wrong with the
// arguments as they are now, apart from what it says of the given ones. It
// freezes nothing, for layers that stand before validation and leave malformed
// arguments to it.
func (c *Call) Fits(except ...string) bool {
	if c.guard.has(guardValidate) {
		return true
	}
	if c.fault != nil {
		return false
	}
	probe := &Call{id: c.id, tool: c.tool, principal: c.principal, deps: c.deps}
	probe.args, probe.fault = decode(compact(c.args))
	if probe.fault != nil {
		return false
	}
	found, _ := args.Fit(probe.args, c.tool.impl.input, c.tool.Effect != Read)
	v, err := c.tool.impl.validator()
	if err != nil {
		return false
	}
	found = append(found, v.Validate(probe.args)...)
	for _, r := range c.tool.Rules {
		for _, i := range r.issues(probe) {
			found = append(found, args.Issue(i))
		}
	}
	return !slices.ContainsFunc(found, func(i args.Issue) bool { return !slices.Contains(except, i.Path) })
}

// unseen is issues without those at a place that found speaks of already.
func unseen(found, issues []args.Issue) []args.Issue {
	if len(found) == 0 {
		return issues
	}
	seen := make(map[string]bool, len(found))
	for _, i := range found {
		seen[i.Path] = true
	}
	return slices.DeleteFunc(issues, func(i args.Issue) bool { return seen[i.Path] })
}

// Check runs the preconditions of the tool and of the policies that match it,
// in order. The first that refuses ends it; an error that is not an [*Error]
// refuses as PRECONDITION_FAILED.
func (c *Call) Check(ctx context.Context) error {
	if err := c.missing(guardCheck); err != nil {
		return err
	}
	for _, p := range c.preconditions {
		if err := p.Check(ctx, c); err != nil {
			return refusal(ctx, c, p, err)
		}
	}
	c.guard |= guardCheck
	return nil
}

// Approve verifies what must be approved: for a [Payload] tool, that the call
// carries the hash and the unspent id that an earlier preview of exactly this
// payload issued; for a [Reviewed] tool, that a person approved the plan as it is
// now, or it asks; for a tool that a person must approve, that one did, or it
// asks now. Nothing is spent yet; the interlock does that.
//
// spend adds what a layer verified by itself and wants spent with the rest.
func (c *Call) Approve(ctx context.Context, spend ...Spend) error {
	if err := c.missing(guardApprove); err != nil {
		return err
	}
	if !c.guard.has(guardApprove) {
		switch c.tool.EffectiveGate() {
		case Payload:
			if err := c.approvePayload(ctx); err != nil {
				return err
			}
		case Reviewed:
			if err := c.approveReviewed(ctx); err != nil {
				return err
			}
		}
		if c.person && c.tool.EffectiveGate() != Reviewed && !c.approvedWithParent() {
			if err := c.askPerson(ctx); err != nil {
				return err
			}
		}
	}
	for _, s := range spend {
		c.pledged = append(c.pledged, pledge{Spend: s})
	}
	c.guard |= guardApprove
	return nil
}

// Begin records the intent of a call that is not read-only. AUDIT_UNAVAILABLE
// when a sink cannot take it.
func (c *Call) Begin(ctx context.Context) error {
	if err := c.missing(guardBegin); err != nil {
		return err
	}
	if c.guard.has(guardBegin) {
		return nil
	}
	c.started = c.deps.Clock()
	if c.tool.Effect != Read && !c.idle() {
		e := newEvent(ctx, c, Intent)
		if err := c.deps.record(ctx, *e); err != nil {
			return &Error{Code: CodeAuditUnavailable, Detail: "the audit sink did not take the record of this call", Cause: err}
		}
		c.event = e
	}
	c.guard |= guardBegin
	return nil
}

// End records the outcome of a call that began, exactly once, and returns what
// the call returns. A sink that fails now is logged and told in the result: the
// act is done and cannot be undone.
func (c *Call) End(ctx context.Context, res *Result, err error) (*Result, error) {
	if c.event == nil {
		return res, err
	}
	e := c.event
	c.event = nil
	switch {
	case err != nil:
		res, err = nil, classify(ctx, err)
	case res == nil:
		err = classify(ctx, errNothing)
	}
	e.outcome(err, c.deps.Clock().Sub(c.started))
	e.Evidence = c.evidenceKinds()
	// The client may be gone; the record is owed all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	failed := c.deps.record(ctx, *e)
	if failed == nil {
		return res, err
	}
	c.log(ctx, slog.LevelError, "audit outcome lost", slog.Any("error", failed))
	if err != nil {
		told := *classify(ctx, err)
		told.Detail = strings.TrimPrefix(told.Detail+"; "+auditLost, "; ")
		return nil, &told
	}
	told := *res // the handler may keep its own
	told.Notes = append(slices.Clone(res.Notes), auditLost)
	return &told, nil
}

const auditLost = "the audit record of this outcome could not be written"

// interlock is the last door: it refuses a call that skipped a guard it needs,
// spends what was approved and runs the handler. It is reached once per call.
func interlock(ctx context.Context, c *Call) (*Result, error) {
	if err := c.missing(guardBegin << 1); err != nil {
		c.log(ctx, slog.LevelError, "guard skipped", slog.Any("error", err))
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.spend(ctx); err != nil {
		return nil, err
	}
	c.reached.Store(true)
	c.acting = true
	defer func() { c.acting = false }()
	res, err := c.tool.impl.run(ctx, c)
	if _, known := errors.AsType[*Error](err); !known && errors.Is(err, context.DeadlineExceeded) && c.tool.Effect != Read && !c.tool.Repeatable {
		return nil, &Error{Code: CodeOutcomeUnknown, Detail: "the deadline passed while the tool was acting", Cause: err}
	}
	return res, err
}
