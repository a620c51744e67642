package durable

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sql"
)

// Child is the variable that makes a test's binary another process of the test:
// TestMain gives its value to [Serve].
const Child = "GUILDWARDEN_TEST_LEDGER"

// order is what another process is asked to do, and answer what it did.
type order struct {
	Do      string // propose, decide, spend
	Propose mcpcore.Proposal
	Spend   mcpcore.Spend
	Times   int // spend: so often at once
}

type answer struct {
	Approval mcpcore.Approval
	Spent    int // of the spendings, how many worked
	Refused  int // and how many were told that it was spent
	Error    string
}

// Serve is the other process. It takes orders from stdin and answers on stderr.
// With the prefix "loop " it proposes, decides and spends without end and tells
// each step that is done.
func Serve(address string, open func(string, []byte) (*sql.Ledger, error), in io.Reader, out io.Writer) {
	address, loops := strings.CutPrefix(address, "loop ")
	say := json.NewEncoder(out)
	l, err := open(address, Secret)
	if err != nil {
		_ = say.Encode(answer{Error: err.Error()})
		return
	}
	if loops {
		loop(l, out)
		return
	}
	for read := json.NewDecoder(in); ; {
		var o order
		if read.Decode(&o) != nil {
			return
		}
		_ = say.Encode(obey(l, o))
	}
}

func obey(l *sql.Ledger, o order) (a answer) {
	ctx := context.Background()
	var err error
	switch o.Do {
	case "propose":
		a.Approval, err = l.Propose(ctx, o.Propose)
	case "decide":
		err = l.Decide(ctx, o.Spend.ID, mcpcore.Decision{By: "Ada", Approve: true})
	case "spend":
		var (
			all sync.WaitGroup
			mu  sync.Mutex
		)
		for range o.Times {
			all.Go(func() {
				e := l.Spend(ctx, o.Spend)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case e == nil:
					a.Spent++
				case errors.Is(e, mcpcore.ErrApprovalSpent):
					a.Refused++
				default:
					err = e
				}
			})
		}
		all.Wait()
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// process is another process that takes orders.
type process struct {
	t   *testing.T
	in  *json.Encoder
	out *json.Decoder
}

func start(t *testing.T, address string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(cmd.Environ(), Child+"="+address)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &process{t, json.NewEncoder(in), json.NewDecoder(out)}
}

func (p *process) tell(o order) {
	p.t.Helper()
	if err := p.in.Encode(o); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) hear() (a answer) {
	p.t.Helper()
	if err := p.out.Decode(&a); err != nil {
		p.t.Fatalf("the process answers nothing: %v", err)
	}
	if a.Error != "" {
		p.t.Fatalf("the process answers %s", a.Error)
	}
	return a
}

func twoProcesses(t *testing.T, s Store) {
	const each = 100
	address := s.New(t)
	l, one, two := s.open(t, address), start(t, address), start(t, address)
	for i := range 5 {
		a := propose(t, l, mcpcore.ForPayload, fmt.Sprint(i))
		for _, p := range []*process{one, two} {
			p.tell(order{Do: "spend", Spend: spend(a), Times: each})
		}
		x, y := one.hear(), two.hear()
		if x.Spent+y.Spent != 1 || x.Refused+y.Refused != 2*each-1 {
			t.Errorf("of %d spendings in two processes %d and %d worked, %d and %d were refused", 2*each, x.Spent, y.Spent, x.Refused, y.Refused)
		}
	}
}

func threeProcesses(t *testing.T, s Store) {
	address := s.New(t)
	issues, decides, spends := start(t, address), start(t, address), start(t, address)
	issues.tell(order{Do: "propose", Propose: proposal(mcpcore.ForPerson, "a")})
	a := issues.hear().Approval
	decides.tell(order{Do: "decide", Spend: spend(a)})
	decides.hear()
	spends.tell(order{Do: "spend", Spend: spend(a), Times: 1})
	if spent := spends.hear(); spent.Spent != 1 {
		t.Errorf("the third process could not spend %s: %+v", a.ID, spent)
	}
	issues.tell(order{Do: "spend", Spend: spend(a), Times: 1})
	if again := issues.hear(); again.Refused != 1 {
		t.Errorf("the first process spends %s once more: %+v", a.ID, again)
	}
}

// step is what a process that loops tells: that it got the approval, had it
// decided, and acted on it.
type step struct {
	Done     string // issued, decided, acted
	Approval mcpcore.Approval
}

func loop(l *sql.Ledger, out io.Writer) {
	say := json.NewEncoder(out)
	ctx := context.Background()
	for i := range 100_000 {
		purpose := mcpcore.ForPayload
		if i%2 == 1 {
			purpose = mcpcore.ForPerson
		}
		a, err := l.Propose(ctx, proposal(purpose, fmt.Sprintf("p%d-%d", os.Getpid(), i)))
		if err != nil {
			return
		}
		_ = say.Encode(step{"issued", a})
		if purpose == mcpcore.ForPerson {
			if err := l.Decide(ctx, a.ID, mcpcore.Decision{By: "Ada", Approve: true}); err != nil {
				return
			}
			_ = say.Encode(step{"decided", a})
		}
		if err := l.Spend(ctx, spend(a)); err != nil {
			return
		}
		_ = say.Encode(step{"acted", a})
	}
}

// kills is how often a process is killed.
const kills = 50

// killed kills processes at any moment of their work on the ledger, which goes
// from one to the next.
func killed(t *testing.T, s Store) {
	address := s.New(t)
	l := s.open(t, address)
	ends := map[string]int{}
	for range kills {
		last := map[mcpcore.ApprovalID]step{}
		var order []mcpcore.ApprovalID
		for _, told := range kill(t, address, 1+rand.IntN(8), time.Duration(rand.IntN(3000))*time.Microsecond) {
			if told.Done == "issued" {
				order = append(order, told.Approval.ID)
			}
			last[told.Approval.ID] = told
		}
		for _, id := range order {
			ends[settle(t, l, last[id])]++
		}
	}
	t.Logf("after %d kills: %v", kills, ends)
	if ends["acted"] < kills/2 {
		t.Errorf("the processes hardly worked: %v", ends)
	}
}

// settle finishes what a killed process began and says how far it had come.
func settle(t *testing.T, l *sql.Ledger, last step) string {
	t.Helper()
	a := last.Approval
	first := l.Spend(t.Context(), spend(a))
	state := last.Done
	switch {
	case last.Done == "acted" && !errors.Is(first, mcpcore.ErrApprovalSpent):
		t.Errorf("%s was acted on and is then spent with %v", a.ID, first)
	case last.Done == "acted":
	case first == nil:
		state += ", usable"
	case errors.Is(first, mcpcore.ErrApprovalSpent):
		state += ", spent"
	case errors.Is(first, mcpcore.ErrApprovalPending) && last.Done == "issued" && a.Purpose == mcpcore.ForPerson:
		state += ", undecided"
		// A server may still finish what the process asked of it last.
		if err := l.Decide(t.Context(), a.ID, mcpcore.Decision{By: "Grace", Approve: true}); err != nil && !errors.Is(err, mcpcore.ErrApprovalDecided) {
			t.Errorf("%s waits for a person and is decided with %v", a.ID, err)
		}
		want(t, l, spend(a), nil)
	default:
		t.Errorf("%s was %s and is then spent with %v", a.ID, last.Done, first)
	}
	want(t, l, spend(a), mcpcore.ErrApprovalSpent)
	return state
}

// kill lets a process loop, kills it some time after so many steps, and gives
// the steps that it told.
func kill(t *testing.T, address string, steps int, after time.Duration) (told []step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(cmd.Environ(), Child+"=loop "+address)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(out); in.Scan(); {
		var s step
		if json.Unmarshal(in.Bytes(), &s) != nil || s.Done == "" { // half a line, or an error
			if told == nil {
				t.Errorf("the process says %s", in.Bytes())
			}
			continue
		}
		if told = append(told, s); len(told) == steps {
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() || ctx.Err() != nil {
		t.Fatalf("the process ended by itself: %v, after %d steps", err, len(told))
	}
	return told
}
