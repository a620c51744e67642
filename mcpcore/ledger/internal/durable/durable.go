// Package durable tests what the ledgers in databases promise beyond the
// contract: that approvals outlive processes and are shared by them, that a
// killed process leaves nothing half done, and what the tables tell.
package durable

import (
	stdsql "database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sql"
	"github.com/guildwarden/guildwarden/mcpcore/ledgertest"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
	"github.com/guildwarden/guildwarden/mcpcore/storetest"
)

// Store is a kind of database.
type Store struct {
	New    func(t testing.TB) (address string) // an empty one, until the test's end
	Open   func(address string, secret []byte) (*sql.Ledger, error)
	OpenAt func(address string, secret []byte, clock func() time.Time) (*sql.Ledger, error)
	Look   func(t testing.TB, address string) *stdsql.DB // at the tables
	Dump   func(t testing.TB, address string) []byte     // see [ledgertest.Store]
}

// Secret is the tests' state key.
var Secret = []byte(strings.Repeat("k", 32))

// Run checks the ledger.
func Run(t *testing.T, s Store) {
	t.Helper()
	t.Run("contract", func(t *testing.T) {
		t.Parallel()
		ledgertest.Run(t, func(t *testing.T, clock func() time.Time) mcpcore.Ledger {
			address := s.New(t)
			return stored{s.openAt(t, address, clock), s, address}
		})
	})
	t.Run("store", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T, clock func() time.Time) mcpcore.Store { return s.openAt(t, s.New(t), clock) })
	})
	t.Run("contract of operations", func(t *testing.T) {
		t.Parallel()
		operationtest.Run(t, func(t *testing.T, clock func() time.Time) mcpcore.OperationLedger {
			address := s.New(t)
			return storedOperations{s.openAt(t, address, clock).Operations(), s, address}
		})
	})
	for name, check := range map[string]func(*testing.T, Store){
		"records are sealed and survive":        records,
		"approvals survive a restart":           survive,
		"another key is an error":               otherKey,
		"a short key is an error":               shortKey,
		"newer tables are an error":             newer,
		"tables from before children are kept":  older,
		"operations outlive another key":        dropped,
		"several start at once":                 atOnce,
		"boxes are erased":                      erased,
		"rows are bound":                        bound,
		"a lost database is not available":      lost,
		"two processes spend one id":            twoProcesses,
		"one issues, one decides, one spends":   threeProcesses,
		"a killed process spends once or never": killed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, s)
		})
	}
}

// stored shows its tables to the contract's test.
type stored struct {
	*sql.Ledger
	s       Store
	address string
}

func (s stored) Stored(t *testing.T) []byte { return s.s.Dump(t, s.address) }

// storedOperations shows its tables to the contract's test.
type storedOperations struct {
	mcpcore.OperationLedger
	s       Store
	address string
}

func (s storedOperations) Stored(t *testing.T) []byte { return s.s.Dump(t, s.address) }

func (s Store) openAt(t testing.TB, address string, clock func() time.Time) *sql.Ledger {
	t.Helper()
	l, err := s.OpenAt(address, Secret, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func (s Store) open(t testing.TB, address string) *sql.Ledger {
	t.Helper()
	l, err := s.Open(address, Secret)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func proposal(purpose mcpcore.Purpose, name string) mcpcore.Proposal {
	return mcpcore.Proposal{
		Purpose: purpose, Tool: "ticket_close", Principal: "stdio", Fingerprint: mcpcore.Fingerprint(name), Facts: "facts", Shown: []byte(`"look"`),
	}
}

func spend(a mcpcore.Approval) mcpcore.Spend {
	return mcpcore.Spend{ID: a.ID, Fingerprint: a.Fingerprint, Facts: a.Facts}
}

func propose(t testing.TB, l mcpcore.Ledger, purpose mcpcore.Purpose, name string) mcpcore.Approval {
	t.Helper()
	a, err := l.Propose(t.Context(), proposal(purpose, name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func decide(t testing.TB, l mcpcore.Ledger, a mcpcore.Approval) {
	t.Helper()
	if err := l.Decide(t.Context(), a.ID, mcpcore.Decision{By: "Ada", Approve: true}); err != nil {
		t.Fatal(err)
	}
}

// want expects an answer of Spend.
func want(t testing.TB, l mcpcore.Ledger, s mcpcore.Spend, answer error) {
	t.Helper()
	if err := l.Spend(t.Context(), s); !errors.Is(err, answer) {
		t.Errorf("spending %s: %v, want %v", s.ID, err, answer)
	}
}

// unavailable reports whether the error is none of the contract's.
func unavailable(err error) bool {
	for _, known := range []error{
		nil, mcpcore.ErrApprovalMissing, mcpcore.ErrApprovalSpent, mcpcore.ErrApprovalExpired, mcpcore.ErrApprovalMismatch,
		mcpcore.ErrApprovalPending, mcpcore.ErrApprovalRefused, mcpcore.ErrApprovalDecided, mcpcore.ErrFactsChanged,
	} {
		if errors.Is(err, known) {
			return false
		}
	}
	return true
}

func survive(t *testing.T, s Store) {
	address := s.New(t)
	before := s.open(t, address)
	spent, unspent, person, approved := propose(t, before, mcpcore.ForPayload, "a"), propose(t, before, mcpcore.ForPayload, "b"),
		propose(t, before, mcpcore.ForPerson, "c"), propose(t, before, mcpcore.ForPerson, "d")
	propose(t, before, mcpcore.ForPreview, "e")
	want(t, before, spend(spent), nil)
	decide(t, before, approved)
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}

	after := s.open(t, address)
	want(t, after, spend(spent), mcpcore.ErrApprovalSpent)
	want(t, after, spend(unspent), nil)
	want(t, after, spend(approved), nil)
	want(t, after, spend(person), mcpcore.ErrApprovalPending)
	list, err := after.Pending(t.Context(), mcpcore.Filter{})
	if err != nil || len(list) != 1 || list[0].ID != person.ID || string(list[0].Shown) != `"look"` {
		t.Errorf("pending: %+v, %v", list, err)
	}
	if again := propose(t, after, mcpcore.ForPerson, "c"); again.ID != person.ID {
		t.Errorf("the question %s is put anew as %s", person.ID, again.ID)
	}
	if _, err := after.Preview(t.Context(), "e"); err != nil {
		t.Errorf("the preview: %v", err)
	}
}

func otherKey(t *testing.T, s Store) {
	address := s.New(t)
	a := propose(t, s.open(t, address), mcpcore.ForPayload, "a")
	if l, err := s.Open(address, []byte(strings.Repeat("x", 32))); !errors.Is(err, sql.ErrKey) {
		t.Fatalf("%v, %v", l, err)
	}
	want(t, s.open(t, address), spend(a), nil)
}

func shortKey(t *testing.T, s Store) {
	for _, key := range []string{"", "too-short"} {
		l, err := s.Open(s.New(t), []byte(key))
		if err == nil || !strings.Contains(err.Error(), "32") || key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("%v, %v", l, err)
		}
	}
}

func atOnce(t *testing.T, s Store) {
	const starts = 12
	address := s.New(t)
	begin, opened := make(chan struct{}), make(chan error, starts)
	ledgers := make([]*sql.Ledger, starts)
	for i := range starts {
		go func() {
			<-begin
			var err error
			ledgers[i], err = s.Open(address, Secret)
			opened <- err
		}()
	}
	close(begin)
	for range starts {
		if err := <-opened; err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		return
	}
	a := propose(t, ledgers[0], mcpcore.ForPayload, "a")
	want(t, ledgers[1], spend(a), nil)
	want(t, ledgers[2], spend(a), mcpcore.ErrApprovalSpent)
	for _, l := range ledgers {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func run(t testing.TB, db *stdsql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// boxes says of each row, in the order of their fingerprints, what is sealed.
func boxes(t testing.TB, db *stdsql.DB) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT fingerprint, sealed_id IS NOT NULL, sealed_shown IS NOT NULL, sealed_decision IS NOT NULL
		FROM guildwarden_approvals ORDER BY fingerprint`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // Err tells
	var all []string
	for rows.Next() {
		var (
			name                string
			id, shown, decision bool
		)
		if err := rows.Scan(&name, &id, &shown, &decision); err != nil {
			t.Fatal(err)
		}
		var sealed []string
		for i, there := range []bool{id, shown, decision} {
			if there {
				sealed = append(sealed, []string{"id", "shown", "decision"}[i])
			}
		}
		all = append(all, name+":"+strings.Join(sealed, ","))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func erased(t *testing.T, s Store) {
	now := time.Now()
	clock := func() time.Time { return now }
	address := s.New(t)
	db, l := s.Look(t, address), s.openAt(t, address, clock)
	holds := func(when, want string) {
		t.Helper()
		if got := boxes(t, db); got != want {
			t.Errorf("%s the rows hold %s, want %s", when, got, want)
		}
	}
	propose(t, l, mcpcore.ForPreview, "note")
	payload := propose(t, l, mcpcore.ForPayload, "payload")
	asked, refused, spent := propose(t, l, mcpcore.ForPerson, "asked"), propose(t, l, mcpcore.ForPerson, "refused"), propose(t, l, mcpcore.ForPerson, "spent")
	holds("at first", "asked:id,shown note:id,shown payload:shown refused:id,shown spent:id,shown")
	decide(t, l, spent)
	if err := l.Decide(t.Context(), refused.ID, mcpcore.Decision{}); err != nil {
		t.Fatal(err)
	}
	holds("after the decision", "asked:id,shown note:id,shown payload:shown refused:id,decision spent:id,decision")
	want(t, l, spend(spent), nil)
	want(t, l, spend(payload), nil)
	holds("after the spending", "asked:id,shown note:id,shown payload: refused:id,decision spent:decision")

	now = now.Add(mcpcore.DefaultLifetime)
	s.openAt(t, address, clock) // sweeps
	holds("when all has expired", "asked: note: payload: refused:decision spent:decision")
	want(t, l, spend(asked), mcpcore.ErrApprovalExpired)
	now = now.Add(mcpcore.DefaultLifetime)
	s.openAt(t, address, clock)
	holds("when all is forgotten", "")
}

// bound changes rows as somebody would who can write the database and does not
// know the key.
func bound(t *testing.T, s Store) {
	address := s.New(t)
	db, l := s.Look(t, address), s.open(t, address)
	for _, forgery := range []string{
		`fingerprint = 'x'`, `facts = 'x'`, `tool = 'x'`, `principal = 'x'`, `expires_at = expires_at + 1000000000`, `issued_at = issued_at - 1`,
		`sealed_decision = (SELECT sealed_decision FROM guildwarden_approvals WHERE fingerprint = 'approved')`,
	} {
		run(t, db, `DELETE FROM guildwarden_approvals`)
		approved, asked := propose(t, l, mcpcore.ForPerson, "approved"), propose(t, l, mcpcore.ForPerson, "asked")
		decide(t, l, approved)
		if strings.HasPrefix(forgery, "sealed") {
			run(t, db, `UPDATE guildwarden_approvals SET `+forgery+` WHERE fingerprint = 'asked'`)
			if err := l.Spend(t.Context(), spend(asked)); !unavailable(err) {
				t.Errorf("%s: spent with %v", forgery, err)
			}
			continue
		}
		run(t, db, `UPDATE guildwarden_approvals SET `+forgery)
		for _, fingerprint := range []mcpcore.Fingerprint{"approved", "x"} {
			for _, facts := range []mcpcore.Fingerprint{"facts", "x"} {
				if err := l.Spend(t.Context(), mcpcore.Spend{ID: approved.ID, Fingerprint: fingerprint, Facts: facts}); !unavailable(err) {
					t.Errorf("%s: spent with %v", forgery, err)
				}
			}
		}
		if err := l.Decide(t.Context(), asked.ID, mcpcore.Decision{Approve: true}); !unavailable(err) {
			t.Errorf("%s: decided with %v", forgery, err)
		}
		if list, err := l.Pending(t.Context(), mcpcore.Filter{}); !unavailable(err) {
			t.Errorf("%s: pending are %v, %v", forgery, list, err)
		}
	}
}

func lost(t *testing.T, s Store) {
	l := s.open(t, s.New(t))
	a := propose(t, l, mcpcore.ForPayload, "a")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, proposed := l.Propose(t.Context(), proposal(mcpcore.ForPerson, "b"))
	_, noted := l.Preview(t.Context(), "b")
	_, listed := l.Pending(t.Context(), mcpcore.Filter{})
	for i, err := range []error{proposed, noted, listed, l.Spend(t.Context(), spend(a)), l.Decide(t.Context(), a.ID, mcpcore.Decision{})} {
		if !unavailable(err) {
			t.Errorf("call %d answers %v", i, err)
		}
	}
}

// Bench is a proposal and its spending.
func Bench(b *testing.B, s Store) {
	l := s.open(b, s.New(b))
	for b.Loop() {
		a, err := l.Propose(b.Context(), proposal(mcpcore.ForPayload, "a"))
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Spend(b.Context(), spend(a)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "approvals/s")
}
