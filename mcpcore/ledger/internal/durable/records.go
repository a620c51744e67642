package durable

import (
	"bytes"
	"testing"
	"time"
)

// records shows that a record outlives its process, cannot be read in the
// tables, and is an error once somebody changed it there.
func records(t *testing.T, s Store) {
	address, text := s.New(t), []byte("a text that nobody else may read")
	l := s.openAt(t, address, time.Now)
	if _, err := l.Save(t.Context(), "plan", "n", 0, text, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = s.openAt(t, address, time.Now)
	if _, data, err := l.Load(t.Context(), "plan", "n"); err != nil || !bytes.Equal(data, text) {
		t.Errorf("after a restart: %q, %v", data, err)
	}
	db := s.Look(t, address)
	var sealed []byte
	if err := db.QueryRowContext(t.Context(), `SELECT sealed FROM guildwarden_records`).Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, text) {
		t.Error("the record can be read in the table")
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE guildwarden_records SET version = version + 1`); err != nil {
		t.Fatal(err)
	}
	if _, data, err := l.Load(t.Context(), "plan", "n"); err == nil {
		t.Errorf("a record that was changed in the table is loaded: %q", data)
	}
}
