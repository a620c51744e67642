// Package ledger holds the ledger of a single process. The packages below it
// keep approvals in databases.
package ledger

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Memory is a ledger that ends with the process. Of each purpose it keeps
// [mcpcore.MaxApprovals]; when they are more, the oldest that nobody used makes
// room, then the oldest that is over. It is safe for concurrent use.
type Memory struct {
	clock func() time.Time

	mu    sync.Mutex
	shelf map[mcpcore.Purpose]*shelf
}

// NewMemory is an empty ledger. A nil clock is time.Now.
func NewMemory(clock func() time.Time) *Memory {
	if clock == nil {
		clock = time.Now
	}
	return &Memory{clock: clock, shelf: map[mcpcore.Purpose]*shelf{}}
}

// shelf holds the approvals of one purpose.
type shelf struct {
	byID  map[mcpcore.ApprovalID]*record
	order []*record // oldest first
}

// record is an approval and its end.
type record struct {
	mcpcore.Approval
	spent bool
}

// over says why nothing can be done with the approval any more; nil while it
// lives.
func (r *record) over(now time.Time) error {
	switch {
	case r.spent:
		return mcpcore.ErrApprovalSpent
	case !now.Before(r.Expires):
		return mcpcore.ErrApprovalExpired
	}
	return nil
}

// forgotten reports whether the approval's end is a lifetime ago.
func (r *record) forgotten(now time.Time) bool { return !now.Before(r.Expires.Add(r.Lifetime)) }

var _ mcpcore.Ledger = (*Memory)(nil)

// Propose implements [mcpcore.Ledger].
func (m *Memory) Propose(ctx context.Context, p mcpcore.Proposal) (mcpcore.Approval, error) {
	if err := ctx.Err(); err != nil {
		return mcpcore.Approval{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	s := m.shelf[p.Purpose]
	if s == nil {
		s = &shelf{byID: map[mcpcore.ApprovalID]*record{}}
		m.shelf[p.Purpose] = s
	}
	if p.Purpose == mcpcore.ForPerson {
		if r := s.alive(p.Fingerprint, now); r != nil {
			if r.Facts == p.Facts {
				return copied(r), nil
			}
			s.drop(r)
			if r.Decision != nil && r.Decision.Approve {
				return mcpcore.Approval{}, mcpcore.ErrFactsChanged
			}
		}
	}
	p.Lifetime = mcpcore.Lifetime(p.Lifetime)
	p.Shown = slices.Clone(p.Shown)
	r := &record{Approval: mcpcore.Approval{
		ID: mcpcore.ApprovalID(uuid.NewString()), Proposal: p, Issued: now, Expires: now.Add(p.Lifetime),
	}}
	s.byID[r.ID], s.order = r, append(s.order, r)
	s.make(now)
	return copied(r), nil
}

// Preview implements [mcpcore.Ledger].
func (m *Memory) Preview(ctx context.Context, f mcpcore.Fingerprint) (mcpcore.Approval, error) {
	if err := ctx.Err(); err != nil {
		return mcpcore.Approval{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if s := m.shelf[mcpcore.ForPreview]; s != nil {
		if r := s.alive(f, now); r != nil {
			return copied(r), nil
		}
	}
	return mcpcore.Approval{}, mcpcore.ErrApprovalMissing
}

// Pending implements [mcpcore.Ledger].
func (m *Memory) Pending(ctx context.Context, by mcpcore.Filter) ([]mcpcore.Approval, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	var waiting []mcpcore.Approval
	if s := m.shelf[mcpcore.ForPerson]; s != nil {
		for _, r := range s.order {
			if r.Decision == nil && r.over(now) == nil && by.Match(r.Proposal) {
				waiting = append(waiting, copied(r))
			}
		}
	}
	return waiting, nil
}

// Decide implements [mcpcore.Ledger].
func (m *Memory) Decide(ctx context.Context, id mcpcore.ApprovalID, d mcpcore.Decision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	r := m.find(id)
	switch {
	case r == nil || r.Purpose != mcpcore.ForPerson:
		return mcpcore.ErrApprovalMissing
	case r.over(now) != nil:
		return r.over(now)
	case r.Decision != nil:
		return mcpcore.ErrApprovalDecided
	}
	r.Decision, r.Shown = &d, nil
	return nil
}

// Spend implements [mcpcore.Ledger].
func (m *Memory) Spend(ctx context.Context, spends ...mcpcore.Spend) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	taken := make([]*record, 0, len(spends))
	for _, s := range spends {
		r := m.find(s.ID)
		why := r.spendable(s, now)
		if slices.Contains(taken, r) {
			why = mcpcore.ErrApprovalSpent
		}
		if why != nil {
			return &mcpcore.NotSpent{ID: s.ID, Why: why}
		}
		taken = append(taken, r)
	}
	for _, r := range taken {
		r.spent = true
	}
	return nil
}

// spendable says why the approval cannot be spent; nil when it can.
func (r *record) spendable(s mcpcore.Spend, now time.Time) error {
	switch {
	case r == nil || r.Purpose == mcpcore.ForPreview:
		return mcpcore.ErrApprovalMissing
	case r.Fingerprint != s.Fingerprint:
		return mcpcore.ErrApprovalMismatch
	case r.over(now) != nil:
		return r.over(now)
	case r.Facts != s.Facts:
		return mcpcore.ErrFactsChanged
	case r.Purpose != mcpcore.ForPerson:
		return nil
	case r.Decision == nil:
		return mcpcore.ErrApprovalPending
	case !r.Decision.Approve:
		return mcpcore.ErrApprovalRefused
	}
	return nil
}

// now is the time, with all that is past it put away.
func (m *Memory) now() time.Time {
	now := m.clock()
	for _, s := range m.shelf {
		s.order = slices.DeleteFunc(s.order, func(r *record) bool {
			if r.over(now) != nil {
				r.Shown = nil
			}
			forgotten := r.forgotten(now)
			if forgotten {
				delete(s.byID, r.ID)
			}
			return forgotten
		})
	}
	return now
}

func (m *Memory) find(id mcpcore.ApprovalID) *record {
	for _, s := range m.shelf {
		if r := s.byID[id]; r != nil {
			return r
		}
	}
	return nil
}

// alive is the newest approval of the fingerprint that can still be used.
func (s *shelf) alive(f mcpcore.Fingerprint, now time.Time) *record {
	for _, r := range slices.Backward(s.order) {
		if r.Fingerprint == f && r.over(now) == nil {
			return r
		}
	}
	return nil
}

func (s *shelf) drop(r *record) {
	delete(s.byID, r.ID)
	s.order = slices.DeleteFunc(s.order, func(o *record) bool { return o == r })
}

// make makes room when there are too many.
func (s *shelf) make(now time.Time) {
	for len(s.order) > mcpcore.MaxApprovals {
		oldest := slices.IndexFunc(s.order, func(r *record) bool { return r.over(now) == nil })
		s.drop(s.order[max(oldest, 0)])
	}
}

// copied is the approval for the caller to keep.
func copied(r *record) mcpcore.Approval {
	a := r.Approval
	a.Shown = slices.Clone(a.Shown)
	if a.Decision != nil {
		d := *a.Decision
		a.Decision = &d
	}
	return a
}
