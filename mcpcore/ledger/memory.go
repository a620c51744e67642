// Package ledger holds the ledger of a single process. The packages below it
// keep approvals in databases.
package ledger

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Memory is a ledger that ends with the process. Of each purpose it keeps
// [mcpcore.MaxApprovals]; the oldest makes room for one more, used or not. It is
// safe for concurrent use.
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
	byID  map[mcpcore.ApprovalID]*Record
	order []*Record // oldest first
}

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
		s = &shelf{byID: map[mcpcore.ApprovalID]*Record{}}
		m.shelf[p.Purpose] = s
	}
	if p.Purpose == mcpcore.ForPerson {
		if r := s.alive(p.Fingerprint, now); r != nil {
			if r.Facts == p.Facts {
				return r.Copy(), nil
			}
			s.drop(r)
			if r.Decision != nil && r.Decision.Approve {
				return mcpcore.Approval{}, &mcpcore.FactsWere{Facts: r.Facts}
			}
		}
	}
	if len(s.order) >= mcpcore.MaxApprovals {
		s.drop(s.order[0])
	}
	r := NewRecord(p, now)
	s.byID[r.ID], s.order = &r, append(s.order, &r)
	return r.Copy(), nil
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
			return r.Copy(), nil
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
			if r.Decision == nil && r.Over(now) == nil && by.Match(r.Proposal) {
				waiting = append(waiting, r.Copy())
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
	if r == nil {
		return mcpcore.ErrApprovalMissing
	}
	if err := r.Decidable(now); err != nil {
		return err
	}
	d.Proof = slices.Clone(d.Proof)
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
	taken := make([]*Record, 0, len(spends))
	for _, s := range spends {
		r := m.find(s.ID)
		why := mcpcore.ErrApprovalMissing
		if r != nil {
			why = r.Spendable(s, now)
		}
		if slices.Contains(taken, r) {
			why = mcpcore.ErrApprovalSpent
		}
		if why != nil {
			return &mcpcore.NotSpent{ID: s.ID, Why: why}
		}
		taken = append(taken, r)
	}
	for _, r := range taken {
		r.Spent, r.Shown = true, nil
	}
	return nil
}

// now is the time, with all that is past it put away.
func (m *Memory) now() time.Time {
	now := m.clock()
	for _, s := range m.shelf {
		s.order = slices.DeleteFunc(s.order, func(r *Record) bool {
			if r.Over(now) != nil {
				r.Shown = nil
			}
			forgotten := r.Forgotten(now)
			if forgotten {
				delete(s.byID, r.ID)
			}
			return forgotten
		})
	}
	return now
}

func (m *Memory) find(id mcpcore.ApprovalID) *Record {
	for _, s := range m.shelf {
		if r := s.byID[id]; r != nil {
			return r
		}
	}
	return nil
}

// alive is the newest approval of the fingerprint that can still be used.
func (s *shelf) alive(f mcpcore.Fingerprint, now time.Time) *Record {
	for _, r := range slices.Backward(s.order) {
		if r.Fingerprint == f && r.Over(now) == nil {
			return r
		}
	}
	return nil
}

func (s *shelf) drop(r *Record) {
	delete(s.byID, r.ID)
	s.order = slices.DeleteFunc(s.order, func(o *Record) bool { return o == r })
}
