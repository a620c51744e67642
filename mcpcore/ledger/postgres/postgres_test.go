package postgres_test

import (
	stdsql "database/sql"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/internal/postgrestest"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/internal/durable"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/postgres"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(durable.Child); address != "" {
		durable.Serve(address, postgres.Open, os.Stdin, os.Stderr)
		return
	}
	code := m.Run()
	postgrestest.Stop()
	os.Exit(code)
}

var store = durable.Store{New: postgrestest.Schema, Open: postgres.Open, OpenAt: postgres.OpenAt, Look: look, Dump: dump}

func look(t testing.TB, address string) *stdsql.DB {
	t.Helper()
	db, err := stdsql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func dump(t testing.TB, address string) []byte {
	t.Helper()
	var all string
	if err := look(t, address).QueryRowContext(t.Context(), `SELECT concat(
		(SELECT string_agg(a::text, E'\n') FROM guildwarden_approvals a),
		(SELECT string_agg(o::text, E'\n') FROM guildwarden_operations_receipts o),
		(SELECT string_agg(c::text, E'\n') FROM guildwarden_operations_claims c))`).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return []byte(all)
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	postgrestest.Server(t)
	durable.Run(t, store)
}

func BenchmarkPostgreSQL(b *testing.B) { durable.Bench(b, store) }

var proposal = mcpcore.Proposal{Purpose: mcpcore.ForPayload, Tool: "ticket_close", Principal: "stdio", Fingerprint: "f"}

// The process's clock stands still in another year here.
func TestTimeIsTheDatabases(t *testing.T) {
	address := postgrestest.Schema(t)
	var before, after time.Time
	db := look(t, address)
	ask := func(into *time.Time) {
		if err := db.QueryRow(`SELECT clock_timestamp()`).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	ask(&before)
	synctest.Test(t, func(t *testing.T) {
		l, err := postgres.Open(address, durable.Secret)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		p := proposal
		p.Lifetime = 1
		a, err := l.Propose(t.Context(), p)
		ask(&after)
		if err != nil || a.Issued.Before(before) || a.Issued.After(after) {
			t.Errorf("issued %s, %v; it was between %s and %s", a.Issued, err, before, after)
		}
		if err := l.Spend(t.Context(), mcpcore.Spend{ID: a.ID, Fingerprint: "f"}); !errors.Is(err, mcpcore.ErrApprovalMissing) { // two lifetimes later
			t.Errorf("spent later with %v", err)
		}
		if time.Now().Year() != 2000 {
			t.Errorf("the process has the time %s", time.Now())
		}
	})
}

func TestLostConnectionsComeBack(t *testing.T) {
	t.Parallel()
	address := postgrestest.Schema(t)
	l, err := postgres.Open(address+"&application_name=victim", durable.Secret)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := l.Propose(t.Context(), proposal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := look(t, address).ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'`); err != nil {
		t.Fatal(err)
	}
	if _, err = l.Preview(t.Context(), "f"); !errors.Is(err, mcpcore.ErrApprovalMissing) { // the call that notices
		t.Logf("the first call answers %v", err)
	}
	if err := l.Spend(t.Context(), mcpcore.Spend{ID: a.ID, Fingerprint: "f"}); err != nil {
		t.Errorf("the next: %v", err)
	}
}

// A server that would forget what it said it kept is refused.
func TestCommitsMustLast(t *testing.T) {
	t.Parallel()
	l, err := postgres.Open(postgrestest.Schema(t)+"&synchronous_commit=off", durable.Secret)
	if err == nil || !strings.Contains(err.Error(), "synchronous_commit") {
		t.Errorf("%v, %v", l, err)
	}
}

// canary stands in every password.
const canary = "canary"

func refused(t *testing.T, address string, say string) {
	t.Helper()
	l, err := postgres.Open(address, durable.Secret)
	if err == nil {
		_ = l.Close()
		t.Fatalf("%s opens", address)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), canary) {
			t.Errorf("for %s it says %v", address, e)
		}
	}
	if !strings.Contains(err.Error(), say) {
		t.Errorf("for %s it says %v, and nothing of %q", address, err, say)
	}
}

func TestErrorsShowNoPassword(t *testing.T) {
	t.Parallel()
	none := t.TempDir()
	for address, say := range map[string]string{
		"":                                                              "postgres://",
		"mysql://u:canary@db.example/x":                                 "postgres://",
		"host=db user=u password=canary":                                "postgres://",
		"postgres://u:canary/1@db.example/x":                            "%2F",
		"postgres://u:1/canary@db.example/x":                            "%2F",
		"postgres://u:canary#1@db.example/x":                            "%23",
		"postgres://u:1#canary@db.example/x":                            "%23",
		"postgres://u:1?canary@db.example/x":                            "%3F",
		"postgres://u:canary%zz@db/x":                                   "%25",
		"postgres://u:canary@db:port/x":                                 "read",
		"postgres://u:canary@db/x?sslmode=requried":                     "sslmode",
		"postgres://u:can%61ry@db/x?sslmode=requried":                   "sslmode",
		"postgres://u@db/x?password=canary&sslmode=requried":            "sslmode",
		"postgres://u:canary@db/x?connect_timeout=canary":               "connect_timeout",
		"postgres://u:canary@/x?host=" + url.QueryEscape(none):          none,
		"postgres://u@/x?password=canary&host=" + url.QueryEscape(none): none,
		"postgres://u:canary@/x?host=" + url.QueryEscape(none) + "&sslrootcert=/no/such/file.pem&sslmode=verify-full": "file",
	} {
		refused(t, address, say)
	}
}

func TestWrongPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(postgrestest.Server(t))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(postgrestest.Where) != "" && os.Getenv(postgrestest.Where) != "local" {
		t.Skip("the named server may ask for no password")
	}
	u.User = url.UserPassword(u.User.Username(), "another "+canary)
	refused(t, u.String(), "authentication")
}

func TestReady(t *testing.T) {
	t.Parallel()
	l, err := postgres.Open(postgrestest.Schema(t), []byte("a secret of at least thirty-two bytes"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Ready(t.Context()); err != nil {
		t.Errorf("it is there, but: %v", err)
	}
	_ = l.Close()
	if l.Ready(t.Context()) == nil {
		t.Error("it is ready when it is closed")
	}
}
