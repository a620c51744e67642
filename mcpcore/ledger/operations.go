package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// NewClaimID is a new name for a claim, for ledgers of one's own too.
func NewClaimID() mcpcore.ClaimID {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return mcpcore.ClaimID("claim_" + hex.EncodeToString(b[:]))
}

// Operations is a ledger of operations that ends with the process: for tests and
// for a sandbox. It is safe for concurrent use.
type Operations struct {
	clock func() time.Time

	mu       sync.Mutex
	epoch    int64
	claims   map[mcpcore.ClaimID]mcpcore.Claim
	targets  map[string]mcpcore.ClaimID
	receipts []*mcpcore.Receipt // oldest first
	resolved map[mcpcore.ClaimID]string
}

// NewOperations is an empty ledger. A nil clock is time.Now.
func NewOperations(clock func() time.Time) *Operations {
	if clock == nil {
		clock = time.Now
	}
	return &Operations{
		clock: clock, claims: map[mcpcore.ClaimID]mcpcore.Claim{}, targets: map[string]mcpcore.ClaimID{}, resolved: map[mcpcore.ClaimID]string{},
	}
}

var _ mcpcore.OperationLedger = (*Operations)(nil)

// Durable implements [mcpcore.OperationLedger].
func (o *Operations) Durable() bool { return false }

// Claim implements [mcpcore.OperationLedger].
func (o *Operations) Claim(ctx context.Context, w mcpcore.Wanted) (mcpcore.Claim, error) {
	targets := w.Canonical()
	if err := cmp.Or(ctx.Err(), CheckWanted(w)); err != nil {
		return mcpcore.Claim{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.clock()
	for _, target := range targets {
		if id, taken := o.targets[target]; taken {
			c := o.claims[id]
			if err := HeldBy(&c, o.receipt(c.Workflow, c.Key), target, now); err != nil {
				return mcpcore.Claim{}, err
			}
		}
	}
	for _, target := range targets {
		o.drop(o.targets[target])
	}
	o.epoch++
	c := mcpcore.Claim{
		ID: NewClaimID(), Epoch: o.epoch, Workflow: w.Workflow, Key: w.Key, Plan: w.Plan, Targets: targets, Made: now, Lease: now.Add(w.Lease),
	}
	o.claims[c.ID] = c
	for _, target := range targets {
		o.targets[target] = c.ID
	}
	c.Targets = slices.Clone(targets)
	return c, nil
}

// CheckWanted says what is wrong with a claim that is wanted.
func CheckWanted(w mcpcore.Wanted) error {
	if n := len(w.Canonical()); n == 0 || n > mcpcore.MaxTargets || w.Lease <= 0 || w.Workflow == "" || w.Key == "" {
		return fmt.Errorf("a claim of %d targets for %s is not one", n, w.Lease)
	}
	return nil
}

// HeldBy says why a target that a claim holds cannot be taken over; nil when it
// can. r is the receipt of the claim's key, nil when there is none.
func HeldBy(c *mcpcore.Claim, r *mcpcore.Receipt, target string, now time.Time) error {
	switch c.StateOf(r, now) {
	case mcpcore.ClaimLive:
		return &mcpcore.TargetHeld{Claim: c.ID, Target: target, Until: c.Lease, Why: mcpcore.ErrTargetBusy}
	case mcpcore.ClaimQuarantined:
		return &mcpcore.TargetHeld{Claim: c.ID, Target: target, Why: mcpcore.ErrTargetQuarantined}
	}
	return nil
}

// Reserve implements [mcpcore.OperationLedger].
func (o *Operations) Reserve(ctx context.Context, c mcpcore.Claim, r mcpcore.Reservation) (mcpcore.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return mcpcore.Receipt{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.clock()
	var held *mcpcore.Claim
	if kept, ok := o.held(c); ok {
		held = &kept
	}
	was := o.receipt(c.Workflow, c.Key)
	receipt, err := Reserved(held, c.Key, was, o.receipt(c.Workflow, r.Parent), r, now)
	if err != nil {
		return mcpcore.Receipt{}, err
	}
	if was != nil {
		*was = *receipt
		return *was, nil
	}
	o.receipts = append(o.receipts, receipt)
	return *receipt, nil
}

// Reserved is the receipt of a reservation, or why there is none: the rule that
// every ledger applies. held is the claim as it is kept, nil when it is not any
// more; was is the receipt of the key and parent that of the reservation's Parent,
// each nil for none. A parent becomes pending.
func Reserved(held *mcpcore.Claim, key mcpcore.KeyHash, was, parent *mcpcore.Receipt, r mcpcore.Reservation, now time.Time) (*mcpcore.Receipt, error) {
	if was != nil && !was.Resumes(r) {
		return nil, &mcpcore.KeySpent{Receipt: *was}
	}
	if held == nil || !now.Before(held.Lease) {
		return nil, mcpcore.ErrClaimLost
	}
	receipt := mcpcore.Receipt{
		Workflow: held.Workflow, Key: key, Parent: r.Parent, Status: mcpcore.StatusReserved, Reserved: now, Request: r.Request,
	}
	switch {
	case was != nil:
		receipt = *was
	case r.Parent == "" && key != held.Key, r.Parent != "" && (r.Parent != held.Key || key == held.Key || !between(parent, held)):
		return nil, mcpcore.ErrClaimLost
	case r.Parent != "":
		parent.Status = mcpcore.StatusPending
	}
	receipt.Plan, receipt.Activity, receipt.Claim = held.Plan, r.Activity, held.ID
	return &receipt, nil
}

// between reports whether a parent is between its children, under the claim.
func between(parent *mcpcore.Receipt, held *mcpcore.Claim) bool {
	return parent != nil && parent.Claim == held.ID && (parent.Status == mcpcore.StatusReserved || parent.Status == mcpcore.StatusPaused)
}

// Pending implements [mcpcore.OperationLedger].
func (o *Operations) Pending(ctx context.Context, c mcpcore.Claim, write time.Duration) (mcpcore.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return mcpcore.Receipt{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.clock()
	held, ok := o.held(c)
	r := o.receipt(c.Workflow, c.Key)
	if !ok || r == nil || r.Claim != c.ID || r.Status != mcpcore.StatusReserved || now.Add(write).After(held.Lease) {
		return mcpcore.Receipt{}, mcpcore.ErrClaimLost
	}
	r.Status, r.Deadline = mcpcore.StatusPending, now.Add(write)
	return *r, nil
}

// Finish implements [mcpcore.OperationLedger].
func (o *Operations) Finish(ctx context.Context, c mcpcore.Claim, e mcpcore.Ending) (mcpcore.Receipt, error) {
	if err := cmp.Or(ctx.Err(), e.Check()); err != nil {
		return mcpcore.Receipt{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.receipt(c.Workflow, c.Key)
	if r == nil || r.Claim != c.ID {
		return mcpcore.Receipt{}, mcpcore.ErrReceiptMissing
	}
	if !r.Finished.IsZero() {
		if r.Resolved || e != r.Ending() {
			return mcpcore.Receipt{}, mcpcore.ErrReceiptFinished
		}
		return *r, nil
	}
	r.Status, r.ResourceID, r.Verification, r.Error, r.Finished = e.Status, e.ResourceID, e.Verification, e.Error, o.clock()
	if r.Parent != "" {
		o.receipt(r.Workflow, r.Parent).ChildEnded(e, r.Finished)
	}
	return *r, nil
}

// Release implements [mcpcore.OperationLedger].
func (o *Operations) Release(ctx context.Context, c mcpcore.Claim) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.held(c); !ok {
		return nil
	}
	if r := o.receipt(c.Workflow, c.Key); r != nil && r.Claim == c.ID && !r.Status.Settled() {
		return nil
	}
	o.drop(c.ID)
	return nil
}

// Receipt implements [mcpcore.OperationLedger].
func (o *Operations) Receipt(ctx context.Context, workflow string, k mcpcore.KeyHash) (mcpcore.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return mcpcore.Receipt{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.receipt(workflow, k); r != nil {
		return *r, nil
	}
	return mcpcore.Receipt{}, mcpcore.ErrReceiptMissing
}

// Receipts implements [mcpcore.OperationLedger].
func (o *Operations) Receipts(ctx context.Context, f mcpcore.ReceiptFilter) (found []mcpcore.Receipt, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range slices.Backward(o.receipts) {
		if len(found) < f.Most() && (f.Workflow == "" || f.Workflow == r.Workflow) && (f.Status == "" || f.Status == r.Status) && (f.Parent == "" || f.Parent == r.Parent) {
			found = append(found, *r)
		}
	}
	return found, nil
}

// Claims implements [mcpcore.OperationLedger].
func (o *Operations) Claims(ctx context.Context) (all []mcpcore.Held, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.clock()
	for _, c := range o.claims {
		h := mcpcore.Held{Claim: c}
		h.Targets = slices.Clone(c.Targets)
		r := o.receipt(c.Workflow, c.Key)
		h.State = c.StateOf(r, now)
		if r != nil && r.Claim == c.ID {
			copied := *r
			h.Receipt = &copied
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b mcpcore.Held) int { return cmp.Compare(a.Epoch, b.Epoch) })
	return all, nil
}

// Resolve implements [mcpcore.OperationLedger].
func (o *Operations) Resolve(ctx context.Context, id mcpcore.ClaimID, by string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.clock()
	c, ok := o.claims[id]
	if !ok {
		if _, before := o.resolved[id]; before {
			return nil
		}
		return mcpcore.ErrClaimMissing
	}
	r := o.receipt(c.Workflow, c.Key)
	if r != nil && r.Claim != id {
		r = nil
	}
	if now.Before(c.Lease) || r != nil && now.Before(r.Deadline) {
		return mcpcore.ErrClaimLive
	}
	for _, r := range o.receipts {
		if r.Claim == id && !r.Status.Settled() {
			Resolved(r, now)
		}
	}
	o.resolved[id] = by
	o.drop(id)
	return nil
}

// Resolved makes an open receipt what it is when an operator has looked at its
// targets.
func Resolved(r *mcpcore.Receipt, now time.Time) {
	if r.Resolved = true; r.Status != mcpcore.StatusUncertain {
		r.Status, r.Error, r.Finished = mcpcore.StatusUncertain, mcpcore.CodeOutcomeUnknown, now
	}
}

// receipt is the one of a key; nil for none.
func (o *Operations) receipt(workflow string, k mcpcore.KeyHash) *mcpcore.Receipt {
	for _, r := range o.receipts {
		if r.Workflow == workflow && r.Key == k {
			return r
		}
	}
	return nil
}

func (o *Operations) held(c mcpcore.Claim) (mcpcore.Claim, bool) {
	held, ok := o.claims[c.ID]
	return held, ok && held.Epoch == c.Epoch
}

// drop forgets a claim and frees its targets.
func (o *Operations) drop(id mcpcore.ClaimID) {
	for _, target := range o.claims[id].Targets {
		delete(o.targets, target)
	}
	delete(o.claims, id)
}
