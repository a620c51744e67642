package workflows_test

import (
	"bufio"
	"cmp"
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/internal/postgrestest"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/postgres"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sql"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sqlite"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // thousands of short servers
	code := m.Run()
	postgrestest.Stop()
	os.Exit(code)
}

// child is the variable that makes a test's binary another process of its
// scene.
const child = "GUILDWARDEN_TEST_WORKFLOW"

// order is what another process does: it executes the scene's change, with the
// key, and dies at a step. Base and Args are "" for a world of its own and the
// scene's change. Skip is how often it passes the step before it dies there.
type order struct {
	Kind, Address, Step, Key, Base, Args string
	Skip                                 int
}

// ended is how it ended, when it did not die.
type ended struct {
	Code   mcpcore.Code
	Status string
	Writes int

	Drift, Failed []string
	State         json.RawMessage // of a plan
}

var secret = []byte(strings.Repeat("k", 32))

// open opens the ledger of another process.
func (o order) open() (*sql.Ledger, error) {
	if o.Kind == "postgres" {
		return postgres.Open(o.Address, secret)
	}
	return sqlite.Open(o.Address, secret)
}

// later opens it with a clock that is so far ahead.
func (o order) later(t *testing.T, by time.Duration) mcpcore.OperationLedger {
	t.Helper()
	driver, source, dialect := "sqlite", "file:"+o.Address+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_txlock=immediate", sql.SQLite
	if o.Kind == "postgres" {
		driver, source, dialect = "pgx", o.Address, sql.PostgreSQL
	}
	db, err := stdsql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	l, err := sql.Open(t.Context(), db, dialect, secret, func() time.Time { return time.Now().Add(by) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Operations()
}

// run does it in another process. died is false when that told how it ended.
func (o order) run(t *testing.T) (e ended, died bool) {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	root, _, _ := strings.Cut(t.Name(), "/")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+root+"$")
	cmd.Env = append(cmd.Environ(), child+"="+string(raw))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told := false
	for in := bufio.NewScanner(out); in.Scan(); {
		if line, ok := strings.CutPrefix(in.Text(), "ENDED "); ok {
			told = json.Unmarshal([]byte(line), &e) == nil
		}
	}
	_ = cmd.Wait() // a killed one ends with an error
	if ctx.Err() != nil {
		t.Fatalf("the process hangs at %s", o.Step)
	}
	return e, !told
}

// serve is the other process.
func (s scene) serve(t *testing.T, raw string) {
	var o order
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		t.Fatal(err)
	}
	l, err := o.open()
	if err != nil {
		t.Fatal(err)
	}
	s.Base, s.Args = o.Base, cmp.Or(o.Args, s.Args)
	w := s.world(t)
	written := false
	w.Any.(*sandbox.Discord).Observe(func(r sandbox.Request) {
		switch {
		case r.Method != "GET":
			written = true
			o.die("written")
		case written:
			o.die("read back")
		}
	})
	e := s.execute(t, w, dying{l.Operations(), &o}, o.Key)
	out, _ := json.Marshal(e) // of our own struct
	fmt.Fprintf(os.Stderr, "ENDED %s\n", out)
}

// die kills the process at its step.
func (o *order) die(step string) {
	if o.Step != step {
		return
	}
	if o.Skip--; o.Skip >= 0 {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // until it is dead
}

// dying is a ledger whose process dies at a step.
type dying struct {
	mcpcore.OperationLedger
	*order
}

func (d dying) Claim(ctx context.Context, w mcpcore.Wanted) (mcpcore.Claim, error) {
	c, err := d.OperationLedger.Claim(ctx, w)
	d.die("claimed")
	return c, err
}

func (d dying) Reserve(ctx context.Context, c mcpcore.Claim, r mcpcore.Reservation) (mcpcore.Receipt, error) {
	receipt, err := d.OperationLedger.Reserve(ctx, c, r)
	d.die("reserved")
	return receipt, err
}

func (d dying) Pending(ctx context.Context, c mcpcore.Claim, write time.Duration) (mcpcore.Receipt, error) {
	receipt, err := d.OperationLedger.Pending(ctx, c, write)
	d.die("pending")
	return receipt, err
}

func (d dying) Finish(ctx context.Context, c mcpcore.Claim, e mcpcore.Ending) (mcpcore.Receipt, error) {
	d.die("known")
	receipt, err := d.OperationLedger.Finish(ctx, c, e)
	d.die("finished")
	return receipt, err
}

// execute executes the scene's change, approved by the client's user.
func (s scene) execute(t *testing.T, w *operationtest.World, ops mcpcore.OperationLedger, key string) (e ended) {
	t.Helper()
	server, err := w.Serve(operationtest.Setup{
		Permits:    mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{s.Workflow: s.Permit}, Protected: s.Protected},
		Operations: ops, Ledger: ledger.NewMemory(nil), Approver: mcpcore.AtClient{}, StateKey: secret, Armed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
		},
	}).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	args := json.RawMessage(strings.TrimSuffix(s.Args, "}") + `,"operationKey":"` + key + `"}`)
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: s.Execute, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	e.Writes = len(w.Writes())
	return e
}

const firstKey, secondKey = "canary-key-0000000001", "canary-key-0000000002"

// killed kills a process between each two durable steps and looks what another
// one does afterwards.
func (s scene) killed(t *testing.T, kind string, address func(t *testing.T) string) {
	for _, row := range []struct {
		step    string
		receipt mcpcore.Status // "" for none
		claim   mcpcore.ClaimState
	}{
		{"claimed", "", mcpcore.ClaimFree},
		{"reserved", mcpcore.StatusReserved, mcpcore.ClaimQuarantined},
		{"pending", mcpcore.StatusPending, mcpcore.ClaimQuarantined},
		{"written", mcpcore.StatusPending, mcpcore.ClaimQuarantined},
		{"read back", mcpcore.StatusPending, mcpcore.ClaimQuarantined},
		{"known", mcpcore.StatusPending, mcpcore.ClaimQuarantined},
		{"finished", mcpcore.StatusCompleted, mcpcore.ClaimFree},
	} {
		again := mcpcore.CodeKeyConflict
		if s.Children && row.step == "finished" { // the first of them, which the world that follows does not have
			row.receipt, again = mcpcore.StatusPaused, mcpcore.CodePlanRefused
		}
		o := order{Kind: kind, Address: address(t), Step: row.step, Key: firstKey}
		if e, died := o.run(t); !died {
			t.Fatalf("%s: the process lives and answers %+v", row.step, e)
		}
		soon, late := o.later(t, 0), o.later(t, time.Hour)
		receipt, err := soon.Receipt(t.Context(), s.Workflow, mcpcore.HashKey(firstKey))
		if receipt.Status != row.receipt || row.receipt == "" && !errors.Is(err, mcpcore.ErrReceiptMissing) {
			t.Errorf("%s: the receipt is %q, %v", row.step, receipt.Status, err)
		}
		busy := s.execute(t, s.world(t), soon, secondKey)
		if busy.Code != mcpcore.CodeTargetBusy || busy.Writes != 0 {
			t.Errorf("%s: before the lease is over it answers %+v", row.step, busy)
		}
		held, err := late.Claims(t.Context())
		if err != nil || len(held) != 1 || held[0].State != row.claim {
			t.Errorf("%s: the claims are %+v, %v", row.step, held, err)
		}
		if row.receipt != "" {
			if e := s.execute(t, s.world(t), late, firstKey); e.Code != again || e.Writes != 0 {
				t.Errorf("%s: the key again answers %+v", row.step, e)
			}
		}
		next := s.execute(t, s.world(t), late, secondKey)
		if row.claim == mcpcore.ClaimFree && next.Status != "completed" {
			t.Errorf("%s: another operation answers %+v", row.step, next)
		}
		if row.claim == mcpcore.ClaimQuarantined && (next.Code != mcpcore.CodeQuarantined || next.Writes != 0) {
			t.Errorf("%s: another operation answers %+v", row.step, next)
		}
	}
}

// restarted kills a process between two children and has another one go on in the
// same world with the same key.
func (s scene) restarted(t *testing.T, kind string, address func(t *testing.T) string) {
	last := len(s.Sends) - 1
	for _, row := range []struct {
		name, step string
		skip       int
		receipt    mcpcore.Status
		sent       int // before it died
	}{
		{"before the first", "reserved", 1, mcpcore.StatusPending, 0},
		{"after the first", "finished", 0, mcpcore.StatusPaused, 1},
		{"before the last is known", "known", last, mcpcore.StatusPending, last + 1},
		{"after the last", "finished", last, mcpcore.StatusPaused, last + 1},
	} {
		w := s.world(t)
		front := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: w.Any.(*sandbox.Discord)})
		t.Cleanup(front.Close)
		o := order{Kind: kind, Address: address(t), Step: row.step, Skip: row.skip, Key: firstKey, Base: front.URL + "/api/v10"}
		if e, died := o.run(t); !died {
			t.Fatalf("%s: the process lives and answers %+v", row.name, e)
		}
		soon, late := o.later(t, 0), o.later(t, time.Hour)
		receipt, err := soon.Receipt(t.Context(), s.Workflow, mcpcore.HashKey(firstKey))
		if sent := w.Writes(); err != nil || receipt.Status != row.receipt || !slices.Equal(sent, s.Sends[:row.sent]) {
			t.Errorf("%s: the receipt is %q, %v, and sent was %q", row.name, receipt.Status, err, sent)
		}
		paused := row.receipt == mcpcore.StatusPaused
		if e := s.execute(t, w, soon, firstKey); paused && e.Code != mcpcore.CodeTargetBusy || e.Writes != row.sent {
			t.Errorf("%s: before the lease is over it answers %+v", row.name, e)
		}
		e := s.execute(t, w, late, firstKey)
		switch {
		case paused && (e.Status != "completed" || !slices.Equal(w.Writes(), s.Sends)):
			t.Errorf("%s: going on answers %+v, and sent was %q", row.name, e, w.Writes())
		case !paused && (e.Code != mcpcore.CodeKeyConflict || e.Writes != row.sent):
			t.Errorf("%s: the key again answers %+v", row.name, e)
		}
		held, err := late.Claims(t.Context())
		if err != nil || paused != (len(held) == 0) || !paused && held[0].State != mcpcore.ClaimQuarantined {
			t.Errorf("%s: the claims are %+v, %v", row.name, held, err)
		}
		if again := s.execute(t, w, late, firstKey); again.Code != mcpcore.CodeKeyConflict {
			t.Errorf("%s: after its end the key answers %+v", row.name, again)
		}
	}
}

// raced has several processes execute at once in one world.
func (s scene) raced(t *testing.T, kind string, address func(t *testing.T) string) {
	for _, row := range []struct {
		name   string
		args   []string
		hold   bool
		writes int
		lose   []mcpcore.Code // how the others end
	}{
		{"one target", []string{s.Args, s.Args, s.Args}, true, 1, []mcpcore.Code{mcpcore.CodeTargetBusy}},
		// Who comes when the first has finished plans in the world that it left.
		{"one target, unheld", []string{s.Args, s.Args, s.Args}, false, 1,
			[]mcpcore.Code{mcpcore.CodeTargetBusy, mcpcore.CodePlanChanged, mcpcore.CodePlanRefused}},
		{"other targets", []string{s.Args, s.Race}, true, 2, nil},
	} {
		o := order{Kind: kind, Address: address(t)}
		l := o.later(t, 0) // makes the tables
		won := 0
		ends, writes := s.together(t, o, row.args, row.hold)
		for n, e := range ends {
			kept, err := l.Receipt(t.Context(), s.Workflow, mcpcore.HashKey(raceKey(n)))
			switch {
			case e.Status == "completed" && kept.Status == mcpcore.StatusCompleted:
				won++
			case !slices.Contains(row.lose, e.Code) || !errors.Is(err, mcpcore.ErrReceiptMissing):
				t.Errorf("%s: a process ends with %+v, its receipt is %q, %v", row.name, e, kept.Status, err)
			}
		}
		if won != row.writes || len(writes) != row.writes {
			t.Errorf("%s: %d processes completed, and written is %q", row.name, won, writes)
		}
	}
}

func raceKey(n int) string { return fmt.Sprintf("canary-key-000000000%d", n) }

// together has one process for each of args, all in one world, and tells how they
// ended and what was written there. Nobody reads before all are there. With hold
// a write waits until every other process writes too or has ended.
func (s scene) together(t *testing.T, o order, args []string, hold bool) (ends []ended, writes []string) {
	w := s.world(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: w.Any.(*sandbox.Discord)}
	var all, reading, writing sync.WaitGroup
	reading.Add(len(args))
	writing.Add(len(args))
	ends = make([]ended, len(args))
	for n := range args {
		came, wrote := sync.OnceFunc(reading.Done), sync.OnceFunc(writing.Done)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			came()
			reading.Wait()
			if r.Method != "GET" {
				wrote()
				if hold {
					writing.Wait()
				}
			}
			proxy.ServeHTTP(w, r)
		}))
		o := o
		o.Base, o.Args, o.Key = front.URL+"/api/v10", args[n], raceKey(n)
		all.Go(func() {
			defer front.Close()
			defer wrote()
			defer came()
			ends[n], _ = o.run(t)
		})
	}
	all.Wait()
	return ends, w.Writes()
}

// stores kills and races processes on both durable ledgers. It starts some thirty
// of them at most, which -short leaves out.
func (s scene) stores(t *testing.T) {
	t.Helper()
	if testing.Short() {
		return
	}
	for kind, address := range map[string]func(t *testing.T) string{
		"sqlite": func(t *testing.T) string { return filepath.Join(t.TempDir(), "operations.db") },
		"postgres": func(t *testing.T) string {
			postgrestest.Server(t)
			return postgrestest.Schema(t)
		},
	} {
		t.Run("killed between two steps, "+kind, func(t *testing.T) {
			t.Parallel()
			s.killed(t, kind, address)
		})
		if s.Children {
			t.Run("killed between two writes, "+kind, func(t *testing.T) {
				t.Parallel()
				s.restarted(t, kind, address)
			})
		}
		if s.Race != "" {
			t.Run("processes race, "+kind, func(t *testing.T) {
				t.Parallel()
				s.raced(t, kind, address)
			})
		}
	}
}
