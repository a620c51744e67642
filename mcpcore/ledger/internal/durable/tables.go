package durable

import (
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// begun is an operation that was reserved, in a store that is closed again.
func (s Store) begun(t *testing.T, address string) mcpcore.Claim {
	l := s.open(t, address)
	w := mcpcore.Wanted{Workflow: "w", Key: "k", Targets: []mcpcore.Target{{Kind: "role", ID: "1"}}, Lease: time.Hour}
	c, err := l.Operations().Claim(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Operations().Reserve(t.Context(), c, mcpcore.Reservation{}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

// dropped begins anew with another key, as docs/ledgers.md says.
func dropped(t *testing.T, s Store) {
	address := s.New(t)
	c := s.begun(t, address)
	db := s.Look(t, address)
	run(t, db, `DROP TABLE guildwarden_approvals`)
	run(t, db, `DROP TABLE guildwarden_approvals_meta`)
	l, err := s.Open(address, []byte(strings.Repeat("x", 32)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if r, err := l.Operations().Receipt(t.Context(), "w", "k"); err != nil || r.Claim != c.ID {
		t.Errorf("the receipt is %+v, %v", r, err)
	}
	if held, err := l.Operations().Claims(t.Context()); err != nil || len(held) != 1 || held[0].Epoch != c.Epoch {
		t.Errorf("held are %+v, %v", held, err)
	}
}

func newer(t *testing.T, s Store) {
	address := s.New(t)
	s.open(t, address)
	run(t, s.Look(t, address), `UPDATE guildwarden_approvals_meta SET version = 99`)
	if l, err := s.Open(address, Secret); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("%v, %v", l, err)
	}
}

// older are tables of the version that had no children yet.
func older(t *testing.T, s Store) {
	address := s.New(t)
	c := s.begun(t, address)
	db := s.Look(t, address)
	run(t, db, `DROP INDEX guildwarden_operations_receipts_parent`)
	run(t, db, `DROP INDEX guildwarden_operations_receipts_claim`)
	run(t, db, `UPDATE guildwarden_approvals_meta SET version = 2`)
	l := s.open(t, address)
	child := c.Child("c")
	if _, err := l.Operations().Reserve(t.Context(), child, mcpcore.Reservation{Parent: "k"}); err != nil {
		t.Error(err)
	}
	if r, err := l.Operations().Receipt(t.Context(), "w", "k"); err != nil || r.Status != mcpcore.StatusPending {
		t.Errorf("the parent is %+v, %v", r, err)
	}
	run(t, db, `DROP INDEX guildwarden_operations_receipts_parent`) // which is there again
}
