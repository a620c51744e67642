package mcpcore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"
)

// ApprovalID is the one-time id of an approval.
type ApprovalID string

// Fingerprint binds an approval: the SHA-256, in lower-case hex, of the
// canonical form of what was approved.
type Fingerprint string

func fingerprintOf(b []byte) Fingerprint {
	sum := sha256.Sum256(b)
	return Fingerprint(hex.EncodeToString(sum[:]))
}

// Purpose is what an approval stands for.
type Purpose string

// The purposes.
const (
	ForPreview  Purpose = "preview"  // a preview was shown. It is noted and never spent
	ForPayload  Purpose = "payload"  // the caller got the id, with the preview of a payload
	ForConsent  Purpose = "consent"  // the caller got the id, with the recipient of a direct message
	ForQuestion Purpose = "question" // the client got the id, sealed in the question to its user
	ForPerson   Purpose = "person"   // a person must decide before it can be spent
)

// Proposal asks a ledger for an approval.
type Proposal struct {
	Purpose     Purpose
	Tool        string
	Principal   string
	Fingerprint Fingerprint
	Facts       Fingerprint     // of the facts that were shown; "" for none
	Shown       json.RawMessage // what the person who decides must see; stored sealed, erased on decision or expiry
	Lifetime    time.Duration   // 0 is five minutes, at most MaxLifetime
}

// Bounds of an approval's lifetime and of a ledger.
const (
	DefaultLifetime = 5 * time.Minute
	MaxLifetime     = 15 * time.Minute
	MaxApprovals    = 1024 // of one purpose that a ledger keeps; the oldest make room
)

// Lifetime is d within its bounds: [DefaultLifetime] for 0 and less, at most
// [MaxLifetime]. Ledgers apply it to what they are asked for.
func Lifetime(d time.Duration) time.Duration {
	if d <= 0 {
		return DefaultLifetime
	}
	return min(d, MaxLifetime)
}

// Approval is a proposal that a ledger keeps.
type Approval struct {
	ID ApprovalID
	Proposal
	Issued   time.Time // the ledger's clock
	Expires  time.Time
	Decision *Decision // nil while nobody decided
}

// Decision is a person's answer.
type Decision struct {
	By      string // the approver's name
	Approve bool
	Reason  string // "" for none
	Proof   []byte // that By decided this, in the form of whoever checks it; nil for none
}

// Filter selects approvals. The zero value selects all.
type Filter struct {
	Tool      string
	Principal string
}

// Match reports whether the filter selects the proposal.
func (f Filter) Match(p Proposal) bool {
	return (f.Tool == "" || f.Tool == p.Tool) && (f.Principal == "" || f.Principal == p.Principal)
}

// Spend is an approval that the interlock will spend.
type Spend struct {
	ID          ApprovalID
	Fingerprint Fingerprint
	Facts       Fingerprint // of the facts as they are now
}

// Why an approval cannot be spent or decided.
var (
	ErrApprovalMissing  = errors.New("approval is not known")
	ErrApprovalSpent    = errors.New("approval was spent")
	ErrApprovalExpired  = errors.New("approval has expired")
	ErrApprovalMismatch = errors.New("approval is for something else")
	ErrApprovalPending  = errors.New("approval waits for a person")
	ErrApprovalRefused  = errors.New("approval was refused by a person")
	ErrApprovalDecided  = errors.New("approval was decided before")
	ErrFactsChanged     = errors.New("the facts are not those that were approved")
)

// FactsWere is ErrFactsChanged of an approval that a ledger dropped, with what it
// was for.
type FactsWere struct{ Facts Fingerprint }

func (e *FactsWere) Error() string { return ErrFactsChanged.Error() }

// Unwrap is ErrFactsChanged.
func (e *FactsWere) Unwrap() error { return ErrFactsChanged }

// NotSpent is which of several approvals could not be spent, and why: one of
// the Err values above.
type NotSpent struct {
	ID  ApprovalID
	Why error
}

func (e *NotSpent) Error() string { return e.Why.Error() }

// Unwrap is why.
func (e *NotSpent) Unwrap() error { return e.Why }

// Ledger keeps approvals. It is safe for concurrent use, between processes as
// far as its store is shared. Time is the ledger's clock. [ledgertest.Run]
// checks an implementation.
//
// A spent, refused or expired approval stays known for one more lifetime, so
// that its late use gets its own error; after that it is missing. What a person
// was shown is erased on decision and on expiry.
//
// An error that is none of the Err values above means that the ledger is not
// available; calls that need it are refused.
//
// [ledgertest.Run]: https://pkg.go.dev/github.com/guildwarden/guildwarden/mcpcore/ledgertest#Run
type Ledger interface {
	// Propose issues a new one-time id. An approval for a person is issued once:
	// while one with the same fingerprint and facts is alive and not spent,
	// decided or not, that one is returned. One with other facts is dropped;
	// when a person had approved it, ErrFactsChanged, as a [*FactsWere] where the
	// ledger can tell, says so and nothing is issued.
	Propose(ctx context.Context, p Proposal) (Approval, error)
	// Preview is the newest note of a preview of the fingerprint that has not
	// expired, or ErrApprovalMissing.
	Preview(ctx context.Context, f Fingerprint) (Approval, error)
	// Pending lists what waits for a person, oldest first.
	Pending(ctx context.Context, by Filter) ([]Approval, error)
	// Decide records a person's answer, to be given back as it is, with its
	// proof. ErrApprovalMissing, ErrApprovalExpired, ErrApprovalSpent or
	// ErrApprovalDecided when there is nothing left to decide: the first decision
	// stands.
	Decide(ctx context.Context, id ApprovalID, d Decision) error
	// Spend uses all of the approvals up, or none and says by a [*NotSpent] which
	// one could not be. Of concurrent calls for one id exactly one gets nil. A
	// mismatch, changed facts and a decision that is still out use nothing up.
	Spend(ctx context.Context, spends ...Spend) error
}
