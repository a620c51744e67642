package mcpcore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
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

// Proposal asks a ledger for an approval.
type Proposal struct {
	Tool        string
	Principal   string
	Fingerprint Fingerprint
	Shown       json.RawMessage // what the person who decides must see; stored sealed, erased on decision or expiry
	Human       bool            // a person must decide before it can be spent
	Lifetime    time.Duration   // 0 for the ledger's own, at most 15 minutes
}

// Approval is a proposal that a ledger keeps.
type Approval struct {
	ID ApprovalID
	Proposal
	Expires  time.Time // the ledger's clock
	Decision *Decision // nil while nobody decided
}

// Decision is a person's answer.
type Decision struct {
	By      string // the approver's name
	Approve bool
	Reason  string
}

// Filter selects pending approvals. The zero value selects all.
type Filter struct {
	Tool      string
	Principal string
}

// Spend is an approval that the interlock will spend.
type Spend struct {
	ID          ApprovalID
	Fingerprint Fingerprint
}

// Why an approval cannot be spent.
var (
	ErrApprovalMissing  = errors.New("approval is not known")
	ErrApprovalSpent    = errors.New("approval was spent")
	ErrApprovalExpired  = errors.New("approval has expired")
	ErrApprovalMismatch = errors.New("approval is for something else")
	ErrApprovalPending  = errors.New("approval waits for a person")
	ErrApprovalRefused  = errors.New("approval was refused by a person")
)

// Ledger keeps approvals. It is safe for concurrent use, between processes as
// far as its store is shared. Time is the ledger's clock.
//
// An error that is none of the Err values above means that the ledger is not
// available; calls that need it are refused.
type Ledger interface {
	// Propose issues a new one-time id for a fingerprint.
	Propose(ctx context.Context, p Proposal) (Approval, error)
	// Pending lists what waits for a person, oldest first.
	Pending(ctx context.Context, by Filter) ([]Approval, error)
	// Decide records a person's answer. ErrApprovalMissing, ErrApprovalExpired
	// or ErrApprovalSpent when there is nothing left to decide; the first
	// decision stands.
	Decide(ctx context.Context, id ApprovalID, d Decision) error
	// Spend uses the approval up. Of concurrent calls exactly one gets nil. A
	// mismatch does not use it up.
	Spend(ctx context.Context, id ApprovalID, f Fingerprint) error
}

// ApprovalRequest is what a person is asked.
type ApprovalRequest struct {
	Call  *Call
	Facts Facts
}

// ApprovalState is where a request stands.
type ApprovalState struct {
	ID       ApprovalID
	Decision *Decision // nil while pending
	Expires  time.Time
}

// Approver asks a person. It is safe for concurrent use.
type Approver interface {
	// Ask puts the question, or finds the one already put for the same
	// fingerprint, and may answer at once that it is pending.
	Ask(ctx context.Context, r ApprovalRequest) (ApprovalState, error)
}

func spendError(c *Call, s Spend, err error) error {
	code, detail := CodeLedger, "the ledger did not answer"
	switch {
	case errors.Is(err, ErrApprovalMissing):
		code, detail = CodeApprovalMissing, "this approval is not known here"
	case errors.Is(err, ErrApprovalSpent):
		code, detail = CodeApprovalReplayed, "this approval was used already"
	case errors.Is(err, ErrApprovalExpired):
		code, detail = CodeApprovalExpired, "this approval has expired"
	case errors.Is(err, ErrApprovalMismatch):
		code, detail = CodeApprovalMismatch, "this approval is for something else"
	case errors.Is(err, ErrApprovalPending):
		code, detail = CodeHumanPending, "a person has not decided yet"
	case errors.Is(err, ErrApprovalRefused):
		code, detail = CodeHumanRefused, "a person refused this"
	}
	e := &Error{Code: code, Detail: detail, Cause: err}
	if code != CodeLedger {
		e.With("tool", c.tool.Name)
		if len(s.ID) <= 64 {
			e.With("approval_id", s.ID)
		}
	}
	return e
}

var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// approvePayload is the payload gate: the server is armed, the call confirmed,
// and hash and id are those that a preview of exactly these arguments issued.
func (c *Call) approvePayload(ctx context.Context) (Spend, error) {
	want := c.fingerprint()
	hash, id := c.Authorization("__confirm_hash"), ApprovalID(c.Authorization("__confirm_id"))
	switch {
	case !c.deps.Armed:
		return Spend{}, c.propose(ctx, want, (&Error{Code: CodePayloadRequired, Detail: "this server is not armed, so it only previews"}).
			WithHint("The operator arms the server by starting it with MCP_DRY_RUN=false. %s", CodePayloadRequired.Hint()))
	case !c.Confirmed() || hash == "":
		return Spend{}, c.propose(ctx, want, &Error{Code: CodePayloadRequired, Detail: "this exact payload must be approved first"})
	case hash != string(want):
		if !hashForm.MatchString(hash) {
			hash = "[invalid]"
		}
		return Spend{}, c.propose(ctx, want, (&Error{Code: CodePayloadMismatch, Detail: "the hash is not that of this payload"}).With("received_hash", hash))
	case id == "":
		return Spend{}, c.propose(ctx, want, &Error{Code: CodePayloadRequired, Detail: "the approval's id is missing"})
	}
	return Spend{id, want}, nil
}

// propose issues an approval and puts it into the refusal.
func (c *Call) propose(ctx context.Context, f Fingerprint, e *Error) error {
	facts, err := c.Facts(ctx)
	if err != nil {
		return err
	}
	preview := c.Preview()
	a, err := c.deps.Ledger.Propose(ctx, Proposal{Tool: c.tool.Name, Principal: c.principal, Fingerprint: f, Shown: preview})
	if err != nil {
		return &Error{Code: CodeLedger, Detail: "the ledger did not issue an approval", Cause: err}
	}
	if len(facts) > 0 {
		e.With("facts", facts)
	}
	return e.With("tool", c.tool.Name).With("payload_hash", f).With("approval_id", a.ID).
		With("approval_expires_at", a.Expires.UTC().Format(time.RFC3339)).With("preview", preview)
}
