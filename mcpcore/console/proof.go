package console

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// Sign is the decision of the approver whose token it is about an approval that
// waits, as the ledger's Pending gives it; not ok when it is nobody's. Its proof
// holds for this approval alone, for what the person was shown, and for this very
// decision.
func (a Approvers) Sign(token string, about mcpcore.Approval, approve bool, reason string) (d mcpcore.Decision, ok bool) {
	key, ok := keyOf(token)
	if !ok {
		return d, false
	}
	public := publicOf(key)
	name, ok := a.holder(public)
	if !ok {
		return d, false
	}
	d = mcpcore.Decision{By: name, Approve: approve, Reason: reason}
	d.Proof = slices.Concat(public, ed25519.Sign(key, signed(about, d)))
	return d, true
}

// Check vouches for the decision of an approval: an approver made it, under their
// own name, and about all that the approval says. Shown must be what the person
// was shown, which ledgers erase on the decision: whoever asks knows it. Check is
// made for [mcpcore.InLedger].
func (a Approvers) Check(about mcpcore.Approval) error {
	d := about.Decision
	if d == nil || len(d.Proof) != ed25519.PublicKeySize+ed25519.SignatureSize {
		return errors.New("the decision has no proof")
	}
	public, signature := ed25519.PublicKey(d.Proof[:ed25519.PublicKeySize]), d.Proof[ed25519.PublicKeySize:]
	switch name, known := a.holder(public); {
	case !known:
		return errors.New("the proof is of nobody who may decide")
	case name != d.By:
		return fmt.Errorf("the proof is of %s, and the decision says it is of somebody else", name)
	case !ed25519.Verify(public, signed(about, *d), signature):
		return fmt.Errorf("the proof is of %s, about something else", name)
	}
	return nil
}

// signed is what an approver signs. Its text never changes under this label: a
// proof could not be checked any more.
func signed(about mcpcore.Approval, d mcpcore.Decision) []byte {
	return canon.Append(nil, []any{
		"guildwarden approver decision 1", string(about.ID), about.Tool, about.Principal, string(about.Fingerprint), string(about.Facts),
		string(about.Shown), strconv.FormatInt(about.Expires.UnixNano(), 10), d.By, d.Approve, d.Reason,
	})
}
