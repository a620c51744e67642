// Package console is where people decide what agents asked for. Whoever may
// decide is an approver: a name, and a token from which a signing key is made.
// This side knows the hash of the public key alone, so that an agent which reads
// the configuration learns no token from it. A decision is signed with the
// approver's key, so that an agent which writes the ledger has none to write:
//
//	approvers, err := console.ParseApprovers(setting)
//	…
//	decision, ok := approvers.Sign(token, approval, true, "") // where a person is
//	…
//	mcpcore.InLedger{Check: approvers.Check} // where the call is
package console

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A token is prefix and 256 random bits, in letters that are one word to a
// terminal. Nothing else is ever taken for one, so that no approver has a
// password that somebody could guess. What keeps secrets out of logs knows the
// shape.
const (
	prefix = "gwa_"
	bits   = 256
)

var (
	letters   = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	nameShape = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$`)
	tokenPart = regexp.MustCompile(prefix + `[a-z2-7]{20}`)
)

// approver is one who may decide.
type approver struct {
	name string
	hash [sha256.Size]byte // of the public key
}

// Approvers are those who may decide. The zero value is nobody. It is safe for
// concurrent use.
type Approvers struct{ all []approver }

// ParseApprovers reads a comma list of NAME=sha256:HEX, as [NewApprover] gives
// them; an empty text is nobody. Each name and each hash stands once. The error
// joins everything that is wrong and shows no item, which may be a token that
// was put into the wrong place.
func ParseApprovers(list string) (Approvers, error) {
	var a Approvers
	if strings.TrimSpace(list) == "" {
		return a, nil
	}
	var problems []error
	for i, item := range strings.Split(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		one, err := parseApprover(item)
		for _, other := range a.all {
			switch {
			case err != nil:
			case other.name == one.name:
				err = fmt.Errorf("names %s again; each approver stands once", one.name)
			case other.hash == one.hash:
				err = fmt.Errorf("has the token of %s; make one for %s", other.name, one.name)
			}
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("item %d %w", i+1, err))
			continue
		}
		a.all = append(a.all, one)
	}
	if len(a.all) == 0 && problems == nil {
		problems = append(problems, errors.New("it names nobody; give NAME=sha256:HEX, as discord-mcp approver new NAME prints it"))
	}
	if err := errors.Join(problems...); err != nil {
		return Approvers{}, err
	}
	return a, nil
}

func parseApprover(item string) (one approver, err error) {
	name, digits, ok := strings.Cut(item, "=")
	digits, hashed := strings.CutPrefix(strings.TrimSpace(digits), "sha256:")
	hash, notHex := hex.DecodeString(digits)
	switch name = strings.TrimSpace(name); {
	case tokenPart.MatchString(item):
		return one, errors.New("holds a token, where its hash belongs. Others can read it now: make another with discord-mcp approver new NAME, and give the line that it prints")
	case !ok || !hashed || notHex != nil || len(hash) != sha256.Size:
		return one, errors.New("must be NAME=sha256: and 64 hex digits, as discord-mcp approver new NAME prints it")
	}
	if err := checkName(name); err != nil {
		return one, err
	}
	return approver{name, [sha256.Size]byte(hash)}, nil
}

// checkName does not show the name: it may be anything.
func checkName(name string) error {
	if !nameShape.MatchString(name) {
		return errors.New("needs a name of at most 64 lower-case letters, digits, dots, dashes and underscores, with a letter or digit at both ends")
	}
	return nil
}

// Names are the approvers' names, in the order given.
func (a Approvers) Names() []string {
	var names []string
	for _, one := range a.all {
		names = append(names, one.name)
	}
	return names
}

// Verify is the approver whose token it is. It takes the same time whoever that
// is.
func (a Approvers) Verify(token string) (name string, ok bool) {
	key, ok := keyOf(token)
	if !ok {
		return "", false
	}
	return a.holder(publicOf(key))
}

// holder is the approver who has the key.
func (a Approvers) holder(public ed25519.PublicKey) (name string, ok bool) {
	hash := sha256.Sum256(public)
	found := -1
	for i, one := range a.all {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], one.hash[:]), i, found)
	}
	if found < 0 {
		return "", false
	}
	return a.all[found].name, true
}

// keyOf is the key of a token; a text without a token's shape has none.
func keyOf(token string) (key ed25519.PrivateKey, ok bool) {
	encoded, ok := strings.CutPrefix(token, prefix)
	random, err := letters.DecodeString(encoded)
	if !ok || err != nil || len(random) != bits/8 || letters.EncodeToString(random) != encoded {
		return nil, false
	}
	seed, err := hkdf.Key(sha256.New, random, nil, "guildwarden approver key 1", ed25519.SeedSize)
	if err != nil {
		return nil, false
	}
	return ed25519.NewKeyFromSeed(seed), true
}

func publicOf(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// NewApprover makes an approver: the token, for the person alone and kept
// nowhere else, and the setting, an item for [ParseApprovers] that anybody may
// read.
func NewApprover(name string) (token, setting string, err error) {
	if err := checkName(name); err != nil {
		return "", "", fmt.Errorf("an approver %w", err)
	}
	var random [bits / 8]byte
	_, _ = rand.Read(random[:]) // never fails
	token = prefix + letters.EncodeToString(random[:])
	key, ok := keyOf(token)
	if !ok {
		return "", "", errors.New("no key can be made of a token here")
	}
	return token, fmt.Sprintf("%s=sha256:%x", name, sha256.Sum256(publicOf(key))), nil
}
