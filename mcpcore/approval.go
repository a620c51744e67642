package mcpcore

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/guildwarden/guildwarden/internal/canon"
)

// pledge is an approval that the interlock spends for a call.
type pledge struct {
	Spend
	purpose Purpose
}

// Fingerprint binds an approval of the purpose to the tool, the principal, the
// bot and the exact bytes of the arguments. It is meant for after
// [Call.Validate].
func (c *Call) Fingerprint(p Purpose) Fingerprint { return c.bind(p, nil, c.raw) }

func (c *Call) bind(p Purpose, target, bytes []byte) Fingerprint {
	return fingerprintOf(canon.Append(nil, []any{string(p), c.tool.Name, c.principal, c.deps.Identity, string(target), string(bytes)}))
}

// Propose issues an approval of exactly this call and of the tool's facts as
// they are now; of p only the purpose, the lifetime and what is shown count.
// LEDGER_UNAVAILABLE when the ledger does not issue it; FACTS_CHANGED when a
// person had approved the call with other facts.
func (c *Call) Propose(ctx context.Context, p Proposal) (Approval, error) {
	p.Fingerprint = c.Fingerprint(p.Purpose)
	return c.issue(ctx, p)
}

func (c *Call) issue(ctx context.Context, p Proposal) (Approval, error) {
	seen, err := c.seen(ctx)
	if err != nil {
		return Approval{}, err
	}
	if c.deps.Ledger == nil {
		return Approval{}, &Error{Code: CodeLedger, Detail: "there is no ledger to issue an approval"}
	}
	p.Tool, p.Principal, p.Facts = c.tool.Name, c.principal, seen
	a, err := c.deps.Ledger.Propose(ctx, p)
	if err != nil {
		return Approval{}, c.ledgerError(ctx, err, "the ledger did not issue an approval")
	}
	// What it is for is this call, whatever the ledger says.
	a.Purpose, a.Tool, a.Principal, a.Fingerprint, a.Facts = p.Purpose, p.Tool, p.Principal, p.Fingerprint, p.Facts
	return a, nil
}

// seen is what a person was shown of the target, bound into approvals: the
// tool's facts, or the plan of a reviewed workflow.
func (c *Call) seen(ctx context.Context) (Fingerprint, error) {
	if c.tool.flow() != nil && c.tool.Part.Role == Execute {
		p, err := c.prepare(ctx)
		if err != nil {
			return "", err
		}
		return Fingerprint(p.digest), nil
	}
	facts, err := c.Facts(ctx)
	return facts.digest(), err
}

// Pledge has the interlock spend the approval before the handler runs, together
// with whatever else the call must spend: all or nothing.
func (c *Call) Pledge(ctx context.Context, p Purpose, id ApprovalID) error {
	return c.pledge(ctx, p, id, c.Fingerprint(p))
}

func (c *Call) pledge(ctx context.Context, p Purpose, id ApprovalID, f Fingerprint) error {
	seen, err := c.seen(ctx)
	if err != nil {
		return err
	}
	one := pledge{Spend{ID: id, Fingerprint: f, Facts: seen}, p}
	if !slices.Contains(c.pledged, one) {
		c.pledged = append(c.pledged, one)
	}
	return nil
}

// Approved reports whether an approval of the purpose was spent for this call.
func (c *Call) Approved(p Purpose) bool {
	return c.spent && slices.ContainsFunc(c.pledged, func(one pledge) bool { return one.purpose == p })
}

// spend uses up what was pledged, in one transaction of the ledger.
func (c *Call) spend(ctx context.Context) error {
	if len(c.pledged) == 0 {
		return nil
	}
	if c.deps.Ledger == nil {
		return &Error{Code: CodeLedger, Detail: "there is no ledger to spend the approval in"}
	}
	spends := make([]Spend, len(c.pledged))
	for i, one := range c.pledged {
		spends[i] = one.Spend
	}
	if err := c.deps.Ledger.Spend(ctx, spends...); err != nil {
		return c.notSpent(ctx, err)
	}
	c.spent = true
	return nil
}

// refusals are the codes and words for approvals that cannot be spent.
var refusals = map[error]struct {
	payload Code
	person  Code
	reason  string // as DM_CONSENT_REJECTED names it
	detail  string
}{
	ErrApprovalMissing:  {CodeApprovalMissing, CodeHumanRequired, "missing", "this approval is not known here"},
	ErrApprovalSpent:    {CodeApprovalReplayed, CodeHumanRequired, "replayed", "this approval was used already"},
	ErrApprovalExpired:  {CodeApprovalExpired, CodeHumanRequired, "expired", "this approval has expired"},
	ErrApprovalMismatch: {CodeApprovalMismatch, CodeHumanRequired, "mismatch", "this approval is for something else"},
	ErrApprovalPending:  {CodeHumanPending, CodeHumanPending, "pending", "a person has not decided yet"},
	ErrApprovalRefused:  {CodeHumanRefused, CodeHumanRefused, "refused", "a person refused this"},
}

// notSpent is the refusal of a call whose approval could not be spent.
func (c *Call) notSpent(ctx context.Context, err error) error {
	var purpose Purpose
	one, known := errors.AsType[*NotSpent](err)
	if known {
		if i := slices.IndexFunc(c.pledged, func(p pledge) bool { return p.ID == one.ID }); i >= 0 {
			purpose = c.pledged[i].purpose
		}
	}
	for why, r := range refusals {
		if !errors.Is(err, why) {
			continue
		}
		e := &Error{Code: r.payload, Detail: r.detail, Cause: err}
		switch purpose {
		case ForConsent:
			e.Code = CodeConsentRejected
			e.With("reason", r.reason)
		case ForPerson, ForQuestion:
			if e.Code = r.person; e.Code == CodeHumanRequired {
				e.WithHint("Make the call again, so that a person is asked anew.")
			}
		}
		if known && len(one.ID) <= 64 {
			e.With("approval_id", one.ID)
		}
		return e.With("tool", c.tool.Name)
	}
	return c.ledgerError(ctx, err, "the ledger did not answer")
}

// ledgerError is what a caller learns of a ledger's error that refuses nothing
// in particular.
func (c *Call) ledgerError(ctx context.Context, err error, detail string) error {
	switch {
	case errors.Is(err, ErrFactsChanged):
		return c.factsChanged(ctx, err)
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return err // nobody refused, the time is up
	}
	return &Error{Code: CodeLedger, Detail: detail, Cause: err}
}

// NotePreview notes in the ledger that this call was previewed, with the facts
// that were shown, so that its confirmation is expected. Without a ledger it
// does nothing.
func (c *Call) NotePreview(ctx context.Context) error {
	if c.deps.Ledger == nil {
		return nil
	}
	_, err := c.Propose(ctx, Proposal{Purpose: ForPreview, Lifetime: MaxLifetime})
	return err
}

// CheckPreview is for a call that is confirmed. With other facts than its
// preview showed it is refused: FACTS_CHANGED. One whose preview this
// deployment never issued is unexpected: it is logged, marked in the audit event
// and, where the operator demands previews, refused: PREVIEW_REQUIRED. Without a
// ledger it does nothing.
func (c *Call) CheckPreview(ctx context.Context) error {
	if c.deps.Ledger == nil {
		return nil
	}
	noted, err := c.deps.Ledger.Preview(ctx, c.Fingerprint(ForPreview))
	switch {
	case errors.Is(err, ErrApprovalMissing):
		c.unexpected = true
		c.log(ctx, slog.LevelWarn, "confirmed without a preview", slog.String("principal", c.principal))
		if c.deps.RequirePreview {
			return Errorf(CodePreviewRequired, "this call was confirmed and never previewed").With("tool", c.tool.Name)
		}
		return nil
	case err != nil:
		return c.ledgerError(ctx, err, "the ledger cannot tell whether this call was previewed")
	}
	facts, err := c.Facts(ctx)
	if err != nil {
		return err
	}
	if facts.digest() != noted.Facts {
		if err := c.NotePreview(ctx); err != nil { // the refusal shows what is there now
			return err
		}
		return c.factsChanged(ctx, nil)
	}
	return nil
}

// Unexpected reports whether the call was confirmed without a preview.
func (c *Call) Unexpected() bool { return c.unexpected }
