package ledger

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Record is an approval and its end, with the rules that every ledger applies
// to it. A ledger of one's own may keep records too. Its methods take the time
// of the ledger's clock.
type Record struct {
	mcpcore.Approval
	Spent bool
}

// NewRecord is the approval of a proposal, with a new id and its lifetime within
// the bounds. It shares no memory with the proposal.
func NewRecord(p mcpcore.Proposal, now time.Time) Record {
	p.Lifetime = mcpcore.Lifetime(p.Lifetime)
	p.Shown = slices.Clone(p.Shown)
	return Record{Approval: mcpcore.Approval{
		ID: mcpcore.ApprovalID(uuid.NewString()), Proposal: p, Issued: now, Expires: now.Add(p.Lifetime),
	}}
}

// Over says that the approval was spent or has expired; nil while it is alive.
func (r *Record) Over(now time.Time) error {
	switch {
	case r.Spent:
		return mcpcore.ErrApprovalSpent
	case !now.Before(r.Expires):
		return mcpcore.ErrApprovalExpired
	}
	return nil
}

// Forgotten reports whether the approval is not known any more: it expired a
// lifetime ago.
func (r *Record) Forgotten(now time.Time) bool {
	return !now.Before(r.Expires.Add(r.Expires.Sub(r.Issued)))
}

// Spendable says why the approval cannot be spent; nil when it can.
func (r *Record) Spendable(s mcpcore.Spend, now time.Time) error {
	switch {
	case r.Purpose == mcpcore.ForPreview, r.Forgotten(now):
		return mcpcore.ErrApprovalMissing
	case r.Fingerprint != s.Fingerprint:
		return mcpcore.ErrApprovalMismatch
	case r.Spent:
		return mcpcore.ErrApprovalSpent
	case r.Decision != nil && !r.Decision.Approve:
		return mcpcore.ErrApprovalRefused
	case r.Over(now) != nil:
		return r.Over(now)
	case r.Facts != s.Facts:
		return mcpcore.ErrFactsChanged
	case r.Purpose == mcpcore.ForPerson && r.Decision == nil:
		return mcpcore.ErrApprovalPending
	}
	return nil
}

// Decidable says why there is nothing to decide; nil when there is.
func (r *Record) Decidable(now time.Time) error {
	switch {
	case r.Purpose != mcpcore.ForPerson, r.Forgotten(now):
		return mcpcore.ErrApprovalMissing
	case r.Over(now) != nil:
		return r.Over(now)
	case r.Decision != nil:
		return mcpcore.ErrApprovalDecided
	}
	return nil
}

// Copy is the approval for the caller to keep.
func (r *Record) Copy() mcpcore.Approval {
	a := r.Approval
	a.Shown = slices.Clone(a.Shown)
	if a.Decision != nil {
		d := *a.Decision
		d.Proof = slices.Clone(d.Proof)
		a.Decision = &d
	}
	return a
}
