package mcpcore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// KeyHash is an operation key as it is kept: "sha256:" and 64 hex digits. The
// key itself is the caller's.
type KeyHash string

// Digest is the keyed digest of a plan: "hmac-sha256:" and 64 hex digits.
type Digest string

// ClaimID names a claim: "claim_" and 32 hex digits.
type ClaimID string

// Claim is the right to write some targets, of one operation, for a time.
type Claim struct {
	ID       ClaimID
	Epoch    int64 // greater than that of every earlier claim of the ledger
	Workflow string
	Key      KeyHash
	Plan     Digest
	Targets  []string // in canonical order: sorted, each once
	Made     time.Time
	Lease    time.Time // until when nobody else gets the targets
}

// Child is the claim under the key of a child of its operation: what Reserve,
// Pending and Finish take for a write that is one of several.
func (c Claim) Child(key KeyHash) Claim {
	c.Key = key
	return c
}

// Wanted asks a ledger for a claim.
type Wanted struct {
	Workflow string
	Key      KeyHash
	Plan     Digest
	Targets  []Target
	Lease    time.Duration // more than zero
}

// Reservation spends an operation key.
type Reservation struct {
	Activity string      // unique, of the call that executes
	Request  Fingerprint // binds the request, so that it can be verified later
	Parent   KeyHash     // of the operation that this one is a child of; "" for none
}

// Status is how far an operation has come.
type Status string

// The statuses of a receipt. The last three are final.
const (
	StatusReserved  Status = "reserved"  // the key is spent and nothing was written
	StatusPending   Status = "pending"   // the write, or that of a child, may have been sent
	StatusPaused    Status = "paused"    // none of its children is open, and its request may go on under its key
	StatusCompleted Status = "completed" // it was done, and was read back
	StatusFailed    Status = "failed"    // it was certainly not done
	StatusUncertain Status = "uncertain" // nobody knows
)

// Known reports whether the status is one of these.
func (s Status) Known() bool {
	return s == StatusReserved || s == StatusPending || s == StatusUncertain || s.Settled()
}

// Settled reports whether what became of the operation is known: nothing of it is
// open.
func (s Status) Settled() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusPaused
}

// Receipt is what is kept of an operation for ever. It holds ids, digests and
// fixed words alone: no names, no texts, no reasons and no keys.
type Receipt struct {
	Workflow string  `json:"workflow"`
	Key      KeyHash `json:"operationKeyHash"`
	Plan     Digest  `json:"planDigest"`
	Activity string  `json:"activityId"`
	Parent   KeyHash `json:"parentKeyHash,omitempty"`
	Claim    ClaimID `json:"claimId"`

	Status       Status       `json:"status"`
	ResourceID   string       `json:"resourceId,omitempty"`
	Verification Verification `json:"verification,omitempty"`
	Error        Code         `json:"error,omitempty"`
	Resolved     bool         `json:"resolved,omitempty"` // an operator looked at an uncertain one

	Reserved time.Time `json:"timestamp"`           // the ledger's clock, like all its times
	Deadline time.Time `json:"-"`                   // by when the write is over; zero before it is pending
	Finished time.Time `json:"finishedAt,omitzero"` // zero until then

	Request Fingerprint `json:"-"`
}

// Resumes reports whether a reservation of the receipt's key goes on with the
// operation: it is paused, and the request is the same.
func (r *Receipt) Resumes(by Reservation) bool {
	return r.Status == StatusPaused && r.Request == by.Request && r.Parent == by.Parent
}

// ChildEnded makes the receipt of a parent what the end of a child makes of it:
// paused, when that one was completed, and else ended as the child is. Ledgers apply
// it where they end the child.
func (r *Receipt) ChildEnded(e Ending, at time.Time) {
	switch {
	case r.Status != StatusPending:
	case e.Status == StatusCompleted:
		r.Status = StatusPaused
	default:
		r.Status, r.Error, r.Finished = e.Status, e.Error, at
	}
}

// Verification is what the read-back said.
type Verification string

// The verifications; "" is none.
const (
	Match Verification = "match"
	Drift Verification = "drift" // the write is proven, and something that was read differs
)

// Ending is how an operation ends.
type Ending struct {
	Status       Status // completed, failed or uncertain
	ResourceID   string
	Verification Verification // of a completed one
	Error        Code         // of one that is not completed
}

// Ending is how the operation of the receipt ended.
func (r *Receipt) Ending() Ending { return Ending{r.Status, r.ResourceID, r.Verification, r.Error} }

// Check says what is wrong with an ending: a completed one has a verification
// and no error, a failed one an error and no resource, an uncertain one an
// error. Ledgers apply it.
func (e Ending) Check() error {
	switch {
	case e.Status == StatusCompleted && (e.Verification == Match || e.Verification == Drift) && e.Error == "":
	case e.Status == StatusFailed && e.Verification == "" && e.Error != "" && e.ResourceID == "":
	case e.Status == StatusUncertain && e.Verification == "" && e.Error != "":
	default:
		return fmt.Errorf("an operation cannot end as %s with verification %q, error %q and resource %q", e.Status, e.Verification, e.Error, e.ResourceID)
	}
	return nil
}

// ClaimState is what a claim means to others.
type ClaimState string

// The states of a claim.
const (
	ClaimLive        ClaimState = "live"        // its owner may still write
	ClaimFree        ClaimState = "free"        // its owner is gone and left nothing open: the next who wants the targets gets them
	ClaimQuarantined ClaimState = "quarantined" // nobody knows what was written: an operator must look
)

// Held is a claim that a ledger holds, and what it means.
type Held struct {
	Claim
	State   ClaimState
	Receipt *Receipt // nil when the key was not reserved
}

// StateOf is what a claim means at a time: the rule that every ledger applies.
// r is the receipt of the claim's key, nil when there is none.
func (c *Claim) StateOf(r *Receipt, now time.Time) ClaimState {
	ours := r != nil && r.Claim == c.ID
	switch {
	case ours && r.Status == StatusUncertain:
		return ClaimQuarantined
	case now.Before(c.Lease):
		return ClaimLive
	case ours && !r.Status.Settled():
		return ClaimQuarantined
	}
	return ClaimFree
}

// ReceiptFilter selects receipts. The zero value selects the newest hundred.
type ReceiptFilter struct {
	Workflow string
	Status   Status
	Parent   KeyHash // of whose children; "" for all
	Limit    int     // 0 is 100, at most 1000
}

// Most is Limit within its bounds.
func (f ReceiptFilter) Most() int {
	if f.Limit <= 0 {
		return 100
	}
	return min(f.Limit, 1000)
}

// Why a ledger does not do what it is asked. Those that say more than this are
// [*TargetHeld] and [*KeySpent].
var (
	ErrTargetBusy        = errors.New("the target is claimed by another operation")
	ErrTargetQuarantined = errors.New("an earlier write to the target has no known outcome")
	ErrKeySpent          = errors.New("the operation key was used before")
	ErrClaimLost         = errors.New("the claim is over")
	ErrClaimMissing      = errors.New("there is no such claim")
	ErrClaimLive         = errors.New("the claim's owner may still write")
	ErrReceiptMissing    = errors.New("there is no such receipt")
	ErrReceiptFinished   = errors.New("the operation has ended in another way")
)

// TargetHeld says which claim holds a target.
type TargetHeld struct {
	Claim  ClaimID
	Target string
	Until  time.Time // of a busy one, when its lease ends
	Why    error     // ErrTargetBusy or ErrTargetQuarantined
}

func (e *TargetHeld) Error() string { return e.Why.Error() }

// Unwrap is why.
func (e *TargetHeld) Unwrap() error { return e.Why }

// KeySpent is ErrKeySpent with what became of the operation.
type KeySpent struct{ Receipt Receipt }

func (e *KeySpent) Error() string { return ErrKeySpent.Error() }

// Unwrap is ErrKeySpent.
func (e *KeySpent) Unwrap() error { return ErrKeySpent }

// OperationLedger keeps who may write what, which operation keys are spent, and
// the receipts of operations. It is safe for concurrent use, between processes
// as far as its store is shared. Time is the ledger's clock. Each method does
// all that it says in one transaction, or nothing. [operationtest.Run] checks an
// implementation.
//
// What it keeps is free of content: ids, digests and fixed words.
//
// An error that is none of the Err values above means that the ledger is not
// available. Before the write that ends the operation; after it, the targets stay
// quarantined.
//
// [operationtest.Run]: https://pkg.go.dev/github.com/guildwarden/guildwarden/mcpcore/operationtest#Run
type OperationLedger interface {
	// Durable reports whether what it keeps outlives the process.
	Durable() bool

	// Claim takes all of the targets or none. A target that another operation
	// holds is a [*TargetHeld]: at once, without waiting. A claim whose owner is
	// gone, its lease over, is taken over when its operation is settled or was
	// never reserved; otherwise the target is quarantined.
	Claim(ctx context.Context, w Wanted) (Claim, error)
	// Reserve spends the operation key of the claim, for this workflow and for
	// ever: a [*KeySpent] when it was spent before, whatever became of it.
	// ErrClaimLost when the claim is not held any more, or its lease is over, and
	// the key is unspent.
	//
	// An operation that is paused goes on when its request reserves its key again: the
	// receipt stays paused and gets the claim, the plan and the activity of now.
	//
	// With a Parent, the claim is the parent's [Claim.Child]. The parent must be
	// reserved or paused under that claim, ErrClaimLost otherwise, and is pending from
	// now until the child ends.
	Reserve(ctx context.Context, c Claim, r Reservation) (Receipt, error)
	// Pending records that the write will be sent now and be over after so long.
	// ErrClaimLost when the claim is not held any more, or its lease ends before
	// that. It answers the receipt with its Deadline. The write may be sent only
	// when this is nil.
	Pending(ctx context.Context, c Claim, write time.Duration) (Receipt, error)
	// Finish ends the operation of the claim. The same ending may be given again;
	// another one is ErrReceiptFinished. It does not ask for the lease: the owner
	// knows what it did. Once an operator has resolved the claim it is
	// ErrReceiptFinished. What the end of a child makes of its parent,
	// [Receipt.ChildEnded] says.
	Finish(ctx context.Context, c Claim, e Ending) (Receipt, error)
	// Release gives the targets up. While the operation of the claim is reserved
	// or pending, or is uncertain, it does nothing: they are quarantined. A claim
	// that is not held any more is no error.
	Release(ctx context.Context, c Claim) error

	// Receipt is what is kept of the key; ErrReceiptMissing when it is not spent.
	Receipt(ctx context.Context, workflow string, k KeyHash) (Receipt, error)
	// Receipts lists them, the newest first.
	Receipts(ctx context.Context, f ReceiptFilter) ([]Receipt, error)
	// Claims lists what is held, the oldest first.
	Claims(ctx context.Context) ([]Held, error)
	// Resolve releases a claim for an operator who has looked at its targets, and
	// notes who that was. ErrClaimLive until its lease and the deadline of its
	// write have passed; ErrClaimMissing when there never was one. A claim that
	// was resolved before is no error. The receipt stays, an open one and an open
	// child of it as uncertain and resolved, and the key stays spent.
	Resolve(ctx context.Context, id ClaimID, by string) error
}
