package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sqlite"
)

// remoteBinary is the binary with one file replaced, by which a database is a
// ledger of the tests: they hold its clock.
var remoteBinary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "remote.exe")
	overlay, err := filepath.Abs("testdata/remote/ledgers.go")
	if err != nil {
		return "", err
	}
	replaced, err := filepath.Abs("../internal/boot/ledgers.go")
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]map[string]string{"Replace": {replaced: overlay}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path+".json", b, 0o600); err != nil {
		return "", err
	}
	return path, build(path, "-overlay", path+".json")
})

// rig is a ledger that the binary reaches, and its approvers. The test has the
// ledger as whoever knows its settings has it.
type rig struct {
	mcpcore.Ledger
	t         *testing.T
	binary    func() (string, error)
	env       []string // of every command
	approvers console.Approvers
	ana       string // her token; ben's is nowhere in the settings
	ben       string
	bens      string // the setting that would know it
	secret    string // of the ledger's address

	mu    sync.Mutex
	later time.Duration // how far the ledger's clock is ahead
}

// newRig is one whose ledger is the test's own, with the test's clock.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := people(t)
	r.binary = remoteBinary
	memory := ledger.NewMemory(func() time.Time {
		r.mu.Lock()
		defer r.mu.Unlock()
		return time.Now().Add(r.later)
	})
	r.Ledger = memory
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	server := rpc.NewServer()
	if err := server.RegisterName("Ledger", &Remote{memory}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go server.ServeConn(c)
		}
	}()
	r.env = append(r.env, "MCP_LEDGER=postgres://guildwarden:"+r.secret+"@"+l.Addr().String()+"/approvals")
	return r
}

// newFileRig is one whose ledger is a file, and whose binary is as it is built.
func newFileRig(t *testing.T) *rig {
	t.Helper()
	r := people(t)
	r.binary = func() (string, error) { return binary, nil }
	path := filepath.Join(t.TempDir(), "approvals.db")
	l, err := sqlite.Open(path, []byte(stateSecret))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r.Ledger = l
	r.env = append(r.env, "MCP_LEDGER=sqlite:"+path)
	return r
}

// people is a rig without a ledger.
func people(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, secret: "canary-pass"}
	var setting string
	var problems [3]error
	r.ana, setting, problems[0] = console.NewApprover("ana")
	r.ben, r.bens, problems[1] = console.NewApprover("ben")
	r.approvers, problems[2] = console.ParseApprovers(setting)
	if err := errors.Join(problems[:]...); err != nil {
		t.Fatal(err)
	}
	r.env = []string{stateKey, "MCP_APPROVERS=" + setting, "MCP_HUMAN_APPROVAL=gated", "MCP_DRY_RUN=false", "LOG_LEVEL=error", "MCP_AUDIT_SINK=none"}
	return r
}

// passes lets time pass at the ledger.
func (r *rig) passes(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.later += d
}

// run runs a command to its end, with more environment or other.
func (r *rig) run(more []string, stdin string, args ...string) ended {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	path, err := r.binary()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := command(ctx, slices.Concat(r.env, more), args...)
	cmd.Path = path
	e := end(ctx, r.t, cmd, stdin)
	r.keeps(e.stdout + e.stderr)
	return e
}

// keeps fails when a text holds what nobody may see.
func (r *rig) keeps(text string) {
	r.t.Helper()
	for _, secret := range []string{r.ana[4:], r.ben[4:], r.secret, stateSecret} {
		if strings.Contains(text, secret) {
			r.t.Errorf("a secret is shown in:\n%s", text)
		}
	}
}

// refused is what a tool answers that does not act.
type refused struct {
	Code   mcpcore.Code       `json:"code"`
	ID     mcpcore.ApprovalID `json:"approval_id"`
	Hint   string             `json:"recovery_hint"`
	By     string             `json:"refused_by"`
	Reason string             `json:"reason"`
}

// act sends the call that a person must approve.
func (r *rig) act(more ...string) (ended, refused) {
	r.t.Helper()
	return r.calls(more, "messages_delete", `{"channel_id":"`+general+`","message_id":"1200000000000000503","__confirm":true}`)
}

func (r *rig) calls(more []string, tool, args string) (ended, refused) {
	r.t.Helper()
	e := r.run(more, "", "call", "--sandbox", tool, args)
	var answer refused
	if err := json.Unmarshal([]byte(e.stdout), &answer); err != nil {
		r.t.Fatalf("%v: %+v", err, e)
	}
	return e, answer
}

// waits has an agent ask, and gives the id under which that waits.
func (r *rig) waits() mcpcore.ApprovalID {
	r.t.Helper()
	e, answer := r.act()
	if e.status != 1 || answer.Code != mcpcore.CodeHumanPending || answer.ID == "" || !strings.Contains(e.stderr, string(answer.ID)) {
		r.t.Fatalf("no person is asked: %+v", e)
	}
	return answer.ID
}

// actsOnce is the identical call after its approval: it acts, and the next one
// waits for an approval of its own.
func (r *rig) actsOnce(id mcpcore.ApprovalID) {
	r.t.Helper()
	if e, _ := r.act(); e.status != 0 {
		r.t.Errorf("the approved call does not act: %+v", e)
	}
	if again := r.waits(); again == id {
		r.t.Error("one approval serves two calls")
	}
}

// undecided fails unless the call still waits under the id.
func (r *rig) undecided(id mcpcore.ApprovalID) {
	r.t.Helper()
	if _, waits := r.waiting(id); !waits {
		r.t.Error("it was decided")
	}
}

// waiting is what waits under the id.
func (r *rig) waiting(id mcpcore.ApprovalID) (mcpcore.Approval, bool) {
	r.t.Helper()
	all, err := r.Pending(r.t.Context(), mcpcore.Filter{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, a := range all {
		if a.ID == id {
			return a, true
		}
	}
	return mcpcore.Approval{}, false
}

// signed is ana's decision about what waits under the id.
func (r *rig) signed(id mcpcore.ApprovalID, approve bool, reason string) mcpcore.Decision {
	r.t.Helper()
	a, waits := r.waiting(id)
	d, known := r.approvers.Sign(r.ana, a, approve, reason)
	if !waits || !known {
		r.t.Fatalf("nothing waits under %s (%t), or ana cannot sign (%t)", id, waits, known)
	}
	return d
}

// Remote gives a ledger to other processes; testdata/remote is its other end.
type Remote struct{ ledger mcpcore.Ledger }

// Answer is what a method of a ledger gives back.
type Answer struct {
	Approvals []mcpcore.Approval
	Fault     int
	ID        mcpcore.ApprovalID
}

// ADecision is what Decide takes.
type ADecision struct {
	ID mcpcore.ApprovalID
	D  mcpcore.Decision
}

var faults = []error{
	mcpcore.ErrApprovalMissing, mcpcore.ErrApprovalSpent, mcpcore.ErrApprovalExpired, mcpcore.ErrApprovalMismatch,
	mcpcore.ErrApprovalPending, mcpcore.ErrApprovalRefused, mcpcore.ErrApprovalDecided, mcpcore.ErrFactsChanged,
}

// fill answers with an error that the other end knows.
func (a *Answer) fill(err error, approvals ...mcpcore.Approval) error {
	a.Approvals = approvals
	if not, ok := errors.AsType[*mcpcore.NotSpent](err); ok {
		a.ID = not.ID
	}
	for i, fault := range faults {
		if errors.Is(err, fault) {
			a.Fault = i + 1
			return nil
		}
	}
	return err
}

func (r *Remote) Open(key []byte, _ *bool) error {
	if string(key) != stateSecret {
		return fmt.Errorf("the ledger was sealed with another key")
	}
	return nil
}

func (r *Remote) Propose(p mcpcore.Proposal, a *Answer) error {
	found, err := r.ledger.Propose(context.Background(), p)
	return a.fill(err, found)
}

func (r *Remote) Preview(f mcpcore.Fingerprint, a *Answer) error {
	found, err := r.ledger.Preview(context.Background(), f)
	return a.fill(err, found)
}

func (r *Remote) Pending(by mcpcore.Filter, a *Answer) error {
	waiting, err := r.ledger.Pending(context.Background(), by)
	return a.fill(err, waiting...)
}

func (r *Remote) Decide(d ADecision, a *Answer) error {
	return a.fill(r.ledger.Decide(context.Background(), d.ID, d.D))
}

func (r *Remote) Spend(spends []mcpcore.Spend, a *Answer) error {
	return a.fill(r.ledger.Spend(context.Background(), spends...))
}
