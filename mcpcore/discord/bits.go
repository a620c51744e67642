package discord

import (
	"fmt"
	"math/big"
)

// Bits is a set of permission bits as wide as Discord may come to write one, for
// computations in which no bit may be lost. The zero value is empty.
type Bits [4]uint64 // the lowest first

// WideBits is the set as [Bits].
func WideBits(p Permissions) Bits { return Bits{uint64(p)} }

// Low is what of the set [Permissions] can hold: the bits up to 63.
func (b Bits) Low() Permissions { return Permissions(b[0]) }

// Or is what is in either set.
func (b Bits) Or(o Bits) Bits {
	for i := range b {
		b[i] |= o[i]
	}
	return b
}

// AndNot is what is in b and not in o.
func (b Bits) AndNot(o Bits) Bits {
	for i := range b {
		b[i] &^= o[i]
	}
	return b
}

// And is what is in both sets.
func (b Bits) And(o Bits) Bits {
	for i := range b {
		b[i] &= o[i]
	}
	return b
}

// Has reports whether every bit of want is in b.
func (b Bits) Has(want Permissions) bool { return b.Low().Has(want) }

// With is b and p.
func (b Bits) With(p Permissions) Bits { return b.Or(WideBits(p)) }

// Within is what of b is in p.
func (b Bits) Within(p Permissions) Bits { return b.And(WideBits(p)) }

// Unknown is what of the set this build has no name for.
func (b Bits) Unknown() Bits { return b.AndNot(WideBits(KnownPermissions)) }

// Set is the set as Discord writes it.
func (b Bits) Set() PermissionSet {
	n := new(big.Int)
	for i := len(b) - 1; i >= 0; i-- {
		n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(b[i]))
	}
	return PermissionSet(n.String())
}

// Names lists the set's permissions in bit order, a bit without a name as
// "BIT_n". The empty set gives an empty, non-nil list.
func (b Bits) Names() []string {
	names := b.Low().Names()
	for i, word := range b[1:] {
		for bit := range 64 {
			if word>>bit&1 == 1 {
				names = append(names, fmt.Sprintf("BIT_%d", 64*(i+1)+bit))
			}
		}
	}
	return names
}

// PermissionSet is a set as Discord writes it: a decimal string.
type PermissionSet string

// JSONSchema is the schema a permission set publishes.
func (PermissionSet) JSONSchema() string { return `{"type":"string","pattern":"^[0-9]{1,32}$"}` }

// Bits reads the set. It fails on what is no decimal number and on what is wider
// than [Bits].
func (s PermissionSet) Bits() (b Bits, err error) {
	n, ok := new(big.Int).SetString(string(s), 10)
	if !ok || n.Sign() < 0 || s == "" || s[0] == '+' || s[0] == '-' || n.BitLen() > 64*len(b) {
		return b, fmt.Errorf("%.40q is not a decimal permission set", string(s))
	}
	word := new(big.Int).SetUint64(1<<64 - 1)
	for i := range b {
		b[i] = new(big.Int).And(n, word).Uint64()
		n.Rsh(n, 64)
	}
	return b, nil
}

// Permissions reads the set. Bits above 63 are dropped; see [Permissions].
func (s PermissionSet) Permissions() (Permissions, error) {
	b, err := s.Bits()
	return b.Low(), err
}

// Overlap names what two sets share, nothing where one of them is no set.
func (s PermissionSet) Overlap(t PermissionSet) []string {
	a, errA := s.Bits()
	b, errB := t.Bits()
	if errA != nil || errB != nil {
		return nil
	}
	return a.And(b).Names()
}
