package sql

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/guildwarden/guildwarden/internal/statekey"
)

// ErrKey is the error of [Open] with another secret than that with which the
// ledger was made.
var ErrKey = errors.New("the ledger was made with another MCP_STATE_KEY: start with that one, or with a new ledger")

var errChanged = errors.New("the approval was changed in the database by something that does not know MCP_STATE_KEY")

// seal keeps texts from who does not know the key. A box is a random nonce and
// the sealed text.
type seal struct{ aead cipher.AEAD }

func newSeal(secret []byte) (seal, error) {
	key, err := statekey.Sub(secret, statekey.LedgerSeal)
	if err != nil {
		return seal{}, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return seal{}, fmt.Errorf("seal: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return seal{}, fmt.Errorf("seal: %w", err)
	}
	return seal{aead}, nil
}

// box seals the text for a place.
func (s seal) box(text []byte, place ...string) []byte {
	return s.aead.Seal(nil, nil, text, bound(place))
}

func (s seal) open(box []byte, place ...string) ([]byte, error) {
	text, err := s.aead.Open(nil, nil, box, bound(place))
	if err != nil {
		return nil, errChanged
	}
	return text, nil
}

// bound is a place in bytes: no two places share them.
func bound(place []string) (b []byte) {
	for _, part := range place {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b
}

// keyCheck is the place of the box that tells whether the key is the right one.
const keyCheck = "guildwarden ledger key"

// Of a row there are boxes of its id, of what is shown and of the decision.
const (
	idBox       = "id"
	shownBox    = "shown"
	decisionBox = "decision"
)

// place is where a row's box belongs: to this row and all that it says, and to
// no other use.
func (r *row) place(box string) []string {
	return []string{
		"guildwarden approval", box, string(r.hash), string(r.Purpose), r.Tool, r.Principal, string(r.Fingerprint), string(r.Facts),
		strconv.FormatInt(r.Issued.UnixNano(), 10), strconv.FormatInt(r.Expires.UnixNano(), 10),
	}
}
