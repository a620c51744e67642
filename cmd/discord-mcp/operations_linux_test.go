package main_test

import (
	stdsql "database/sql"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sql"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sqlite"
)

// leftOpen leaves in a ledger's file two writes without a known outcome, of which
// one was made an hour ago, and one whose owner may still write.
func leftOpen(t *testing.T, file string) (open, recent, live mcpcore.Claim) {
	t.Helper()
	claim := func(key, role string, now time.Time, uncertain bool) mcpcore.Claim {
		db, err := stdsql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)&_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		l, err := sql.Open(t.Context(), db, sql.SQLite, []byte(stateSecret), func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ops := l.Operations()
		c, err := ops.Claim(t.Context(), mcpcore.Wanted{
			Workflow: "role-deletion", Key: mcpcore.HashKey(key), Targets: []mcpcore.Target{{Kind: "role", ID: role}}, Lease: 50 * time.Minute,
		})
		if err == nil {
			_, err = ops.Reserve(t.Context(), c, mcpcore.Reservation{Activity: "activity-" + role})
		}
		if err == nil && uncertain {
			_, err = ops.Finish(t.Context(), c, mcpcore.Ending{Status: mcpcore.StatusUncertain, Error: mcpcore.CodeOutcomeUnknown})
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	return claim("canary-key-2", "2", time.Now().Add(-time.Hour), true), claim("canary-key-3", "3", time.Now(), true), claim("canary-key-1", "1", time.Now(), false)
}

func TestOperationsAreListedShownAndResolved(t *testing.T) {
	t.Parallel()
	r := newFileRig(t)
	if e := r.run(nil, "", "operations", "list"); e.status != 0 || !strings.Contains(e.stdout, "Nothing is claimed") {
		t.Errorf("%+v", e)
	}
	file := ""
	for _, v := range r.env {
		if path, ok := strings.CutPrefix(v, "MCP_LEDGER=sqlite:"); ok {
			file = path
		}
	}
	open, recent, live := leftOpen(t, file)
	list := func() string {
		e := r.run(nil, "", "operations", "list")
		if e.status != 0 || e.stderr != "" || strings.Contains(e.stdout, "canary") {
			t.Fatalf("%+v", e)
		}
		return e.stdout
	}
	for _, want := range []string{string(open.ID) + "  quarantined", "holds role:2", string(live.ID) + "  live", "holds role:1", "uncertain", "OUTCOME_UNKNOWN"} {
		if got := list(); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, id := range []string{string(open.ID), string(open.Key), "activity-2"} {
		if e := r.run(nil, "", "operations", "show", id); e.status != 0 || !strings.Contains(e.stdout, `"uncertain"`) || !strings.Contains(e.stdout, "role:2") {
			t.Errorf("%s: %+v", id, e)
		}
	}
	if e := r.run(nil, "", "operations", "show", "claim_0"); e.status != 1 {
		t.Errorf("%+v", e)
	}

	if e := r.run(nil, r.ana+"\n", "operations", "resolve", string(open.ID)); e.status != 2 || !strings.Contains(e.stderr, "terminal") {
		t.Errorf("a token from a pipe: %+v", e)
	}
	early := r.sit(nil, "", "operations", "resolve", string(live.ID))
	if e := early.ends(); e.status != 1 || !strings.Contains(e.stderr, "may still write") {
		t.Errorf("a live claim: %+v", e)
	}
	wrong := r.sit(nil, "", "operations", "resolve", string(open.ID))
	wrong.asked()
	wrong.types(r.ben + "\r")
	if e := wrong.ends(); e.status != 1 || !strings.Contains(list(), string(open.ID)) {
		t.Errorf("somebody else's token: %+v", e)
	}
	soon := r.sit(nil, "", "operations", "resolve", string(recent.ID))
	soon.asked()
	soon.types(r.ana + "\r")
	if e := soon.ends(); e.status != 1 || !strings.Contains(e.stderr, "lease") {
		t.Errorf("before its lease is over: %+v", e)
	}
	good := r.sit(nil, "", "operations", "resolve", string(open.ID))
	good.asked()
	for _, want := range []string{string(open.ID), "holds role:2"} {
		if !strings.Contains(good.screen(), want) {
			t.Errorf("the terminal does not show %q:\n%s", want, good.screen())
		}
	}
	good.types(r.ana + "\r")
	if e := good.ends(); e.status != 0 || !strings.Contains(e.stdout, "Released by ana") {
		t.Errorf("%+v", e)
	}
	if got := list(); strings.Contains(got, "holds role:2") || !strings.Contains(got, "resolved") || !strings.Contains(got, "holds role:1") {
		t.Errorf("afterwards there are\n%s", got)
	}
}

// What is a part of an operation is listed and shown with it, and found by its own
// ids too.
func TestPartsOfOperationsAreShownWithThem(t *testing.T) {
	t.Parallel()
	r := newFileRig(t)
	file := ""
	for _, v := range r.env {
		if path, ok := strings.CutPrefix(v, "MCP_LEDGER=sqlite:"); ok {
			file = path
		}
	}
	l, err := sqlite.Open(file, []byte(stateSecret))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ops := l.Operations()
	c, err := ops.Claim(t.Context(), mcpcore.Wanted{
		Workflow: "bulk-member-role-change", Key: mcpcore.HashKey("canary-key"), Targets: []mcpcore.Target{{Kind: "role", ID: "1"}}, Lease: time.Minute,
	})
	if err == nil {
		_, err = ops.Reserve(t.Context(), c, mcpcore.Reservation{Activity: "activity-1"})
	}
	for _, name := range []string{"first", "second"} {
		child := c.Child(mcpcore.HashKey(name))
		if err == nil {
			_, err = ops.Reserve(t.Context(), child, mcpcore.Reservation{Activity: "activity-1", Parent: c.Key})
		}
		if err == nil {
			_, err = ops.Finish(t.Context(), child, mcpcore.Ending{Status: mcpcore.StatusCompleted, ResourceID: name, Verification: mcpcore.Match})
		}
	}
	if err == nil {
		err = ops.Release(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
	first, second := string(mcpcore.HashKey("first")), string(mcpcore.HashKey("second"))
	e := r.run(nil, "", "operations", "list", "--limit", "1")
	lines := strings.Split(e.stdout, "\n")
	if e.status != 0 || len(lines) != 4 || !strings.HasPrefix(lines[0], string(c.Key)+"  paused") ||
		!strings.HasPrefix(lines[1], "    part "+first+"  completed") || !strings.HasPrefix(lines[2], "    part "+second+"  completed") {
		t.Errorf("%+v", e)
	}
	for _, id := range []string{string(c.Key), second, "activity-1", string(c.ID)} {
		if e := r.run(nil, "", "operations", "show", id); e.status != 0 || !strings.Contains(e.stdout, `"paused"`) || !strings.Contains(e.stdout, first) {
			t.Errorf("%s: %+v", id, e)
		}
	}
}
