// Package statekey derives the keys of single purposes from the one secret that
// an operator sets, so that no two uses share a key.
package statekey

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
)

// Min is the least length of the secret, in bytes.
const Min = 32

// Label names what a subkey is for. A label's text never changes: what it
// sealed could not be checked any more.
type Label string

// The labels in use.
const (
	AuditChain Label = "audit chain"      // digests of audit records and of their head
	AuditKeyID Label = "audit chain id"   // tells keys apart in public
	Question   Label = "question"         // what a client carries while it is asked
	LedgerSeal Label = "ledger seal"      // what a ledger keeps of approvals that nobody else may read or write
	PlanDigest Label = "workflow plan"    // digests of plans
	RequestTag Label = "workflow request" // binds the request of an operation into its receipt
	Console    Label = "console"          // what a browser carries of an approver
	Blueprint  Label = "blueprint"        // plans, how far they were carried out, and what was proven
)

// Sub is the subkey of the secret for a label: 32 bytes of HKDF-SHA256. A secret
// shorter than [Min] is an error, which does not show it.
func Sub(secret []byte, label Label) ([]byte, error) {
	if len(secret) < Min {
		return nil, fmt.Errorf("the state key has %d bytes and needs at least %d", len(secret), Min)
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "guildwarden state key 1: "+string(label), sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("derive subkey: %w", err)
	}
	return key, nil
}
