package sqlite_test

import (
	"bytes"
	stdsql "database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/internal/durable"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sqlite"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(durable.Child); address != "" {
		durable.Serve(address, sqlite.Open, os.Stdin, os.Stderr)
		return
	}
	os.Exit(m.Run())
}

var store = durable.Store{
	New:    func(t testing.TB) string { return filepath.Join(t.TempDir(), "approvals %41 ?#é.db") },
	Open:   sqlite.Open,
	OpenAt: sqlite.OpenAt,
	Look:   look,
	Dump:   dump,
}

func look(t testing.TB, path string) *stdsql.DB {
	t.Helper()
	db, err := stdsql.Open("sqlite", sqlite.Source(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// dump is all of the file and of the log beside it.
func dump(t testing.TB, path string) []byte {
	t.Helper()
	return append(read(t, path), read(t, path+"-wal")...)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	durable.Run(t, store)
}

func BenchmarkSQLite(b *testing.B) { durable.Bench(b, store) }

var proposal = mcpcore.Proposal{Purpose: mcpcore.ForPerson, Tool: "ticket_close", Principal: "stdio", Fingerprint: "f", Shown: []byte(`"look"`)}

// approvals are in a filled ledger.
const approvals = 40

// filled is a closed ledger with approvals in it.
func filled(t *testing.T) (path string) {
	t.Helper()
	path = store.New(t)
	l, err := sqlite.Open(path, durable.Secret)
	if err != nil {
		t.Fatal(err)
	}
	for i := range approvals {
		p := proposal
		p.Fingerprint += mcpcore.Fingerprint(strings.Repeat("x", i))
		p.Shown = []byte(`"` + strings.Repeat("look ", 400) + `"`)
		if _, err := l.Propose(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFileIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	if os.PathSeparator == '\\' {
		t.Skip("this system has no file modes")
	}
	fresh, old := store.New(t), store.New(t)
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(old, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fresh, old} {
		l, err := sqlite.Open(path, durable.Secret)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
}

func TestWhatIsNoLedgerIsAnErrorAndStays(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 20_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, damage := range map[string]func(b []byte) []byte{
		"text":      func([]byte) []byte { return []byte("MCP_LEDGER=sqlite:approvals.db\n") },
		"noise":     func([]byte) []byte { return noise },
		"cut":       func(b []byte) []byte { return b[:len(b)/2] },
		"no header": func(b []byte) []byte { return append(make([]byte, 100), b[100:]...) },
		"a hole":    func(b []byte) []byte { return append(append(b[:8192:8192], make([]byte, 16384)...), b[8192+16384:]...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filled(t)
			damaged := damage(read(t, path))
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := sqlite.Open(path, durable.Secret)
			if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), path) {
				t.Fatalf("%v, %v", l, err)
			}
			if !bytes.Equal(read(t, path), damaged) {
				t.Error("the file was changed")
			}
		})
	}
	t.Run("undamaged", func(t *testing.T) {
		t.Parallel()
		l, err := sqlite.Open(filled(t), durable.Secret)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := l.Pending(t.Context(), mcpcore.Filter{}); err != nil || len(list) != approvals {
			t.Errorf("%d are pending: %v", len(list), err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestPathsThatCannotBeALedger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, path := range map[string]string{"none": "", "a folder": dir, "no folder": filepath.Join(dir, "missing", "approvals.db")} {
		if l, err := sqlite.Open(path, durable.Secret); err == nil {
			t.Errorf("%s: %v", name, l)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A server that nobody calls erases what has expired, and a second server sees
// to what a first one left.
func TestIdleLedgerErases(t *testing.T) {
	path := store.New(t)
	synctest.Test(t, func(t *testing.T) {
		db := look(t, path)
		kept := func() (rows, sealed int) {
			t.Helper()
			if err := db.QueryRowContext(t.Context(), `SELECT count(*), count(sealed_shown) FROM guildwarden_approvals`).Scan(&rows, &sealed); err != nil {
				t.Fatal(err)
			}
			return rows, sealed
		}
		first, err := sqlite.Open(path, durable.Secret)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []mcpcore.Proposal{
			{Purpose: mcpcore.ForPerson, Fingerprint: "long", Shown: proposal.Shown, Lifetime: mcpcore.MaxLifetime},
			{Purpose: mcpcore.ForPerson, Fingerprint: "short", Shown: proposal.Shown, Lifetime: time.Minute},
		} {
			if _, err := first.Propose(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		for _, after := range []struct {
			time         time.Duration
			rows, sealed int
		}{{59 * time.Second, 2, 2}, {2 * time.Second, 2, 1}, {time.Minute, 1, 1}} {
			time.Sleep(after.time)
			synctest.Wait()
			if rows, sealed := kept(); rows != after.rows || sealed != after.sealed {
				t.Errorf("%s later there are %d rows and %d of them sealed, want %d and %d", after.time, rows, sealed, after.rows, after.sealed)
			}
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		second, err := sqlite.Open(path, durable.Secret)
		if err != nil {
			t.Fatal(err)
		}
		for _, sealed := range []int{0, 0} {
			time.Sleep(mcpcore.MaxLifetime)
			synctest.Wait()
			if rows, still := kept(); still != sealed {
				t.Errorf("the second ledger has %d rows, %d of them sealed", rows, still)
			}
		}
		if rows, _ := kept(); rows != 0 {
			t.Errorf("%d rows are left for ever", rows)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
		_ = db.Close()
	})
}

func TestReady(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "approvals.db")
	l, err := sqlite.Open(path, []byte("a secret of at least thirty-two bytes"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Ready(t.Context()); err != nil {
		t.Errorf("it is there, but: %v", err)
	}
	if _, err := look(t, path).Exec("DROP TABLE guildwarden_approvals"); err != nil {
		t.Fatal(err)
	}
	if l.Ready(t.Context()) == nil {
		t.Error("it is ready without its table")
	}
	_ = l.Close()
	if l.Ready(t.Context()) == nil {
		t.Error("it is ready when it is closed")
	}
}
