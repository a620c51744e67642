// Package ledgertest is the contract of [mcpcore.Ledger] as a test. Run it on
// your own ledger:
//
//	func TestLedger(t *testing.T) {
//		ledgertest.Run(t, func(t *testing.T, clock func() time.Time) mcpcore.Ledger { return newLedger(t, clock) })
//	}
package ledgertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Store is what a ledger under test may be too, so that what it keeps outside
// the process is looked at.
type Store interface {
	// Stored is all that the ledger keeps there, as it stands there: the bytes
	// of its files, or its tables as text with binary values in hex.
	Stored(t *testing.T) []byte
}

// Run checks the contract on ledgers that open makes: empty, and a fresh one for
// each part. The clock is the one that the ledger has to go by; tests move it,
// and it never stops a call. A ledger that goes by another one shows that by when
// it issues approvals; then the parts about time are skipped, and say so.
func Run(t *testing.T, open func(t *testing.T, clock func() time.Time) mcpcore.Ledger) {
	t.Helper()
	for _, part := range []struct {
		name  string
		check func(*bench)
	}{
		{"an approval is what was proposed", (*bench).issue},
		{"the caller may reuse what it gave and got", (*bench).reuse},
		{"an approval is spent once", (*bench).once},
		{"what does not fit uses nothing up", (*bench).misfit},
		{"several are spent together or not at all", (*bench).together},
		{"an end stays known for one more lifetime", (*bench).ends},
		{"a preview is noted and never spent", (*bench).previews},
		{"an approval for a person is issued once", (*bench).person},
		{"other facts drop an approval for a person", (*bench).otherFacts},
		{"pending is what waits, oldest first", (*bench).pending},
		{"a decision is kept as it is, with its proof", (*bench).proof},
		{"the first decision stands", (*bench).decide},
		{"a decision after the end", (*bench).late},
		{"what was shown is erased on decision", (*bench).shown},
		{"what was decided is listed, where the ledger does that", (*bench).decided},
		{"the oldest make room", (*bench).room},
		{"one of many concurrent spends acts", (*bench).concurrentSpends},
		{"concurrent spends of several do not block each other", (*bench).concurrentPairs},
		{"one of many concurrent decisions stands", (*bench).concurrentDecisions},
		{"concurrent proposals to a person are one", (*bench).concurrentProposals},
		{"a done context", (*bench).done},
		{"what is stored does not tell", (*bench).stored},
	} {
		t.Run(part.name, func(t *testing.T) {
			b := &bench{T: t, now: time.Date(2031, 5, 1, 18, 0, 0, 123456789, time.UTC)}
			b.l = open(t, b.time)
			part.check(b)
		})
	}
}

// bench is a ledger under test and its clock.
type bench struct {
	*testing.T
	l mcpcore.Ledger

	mu  sync.Mutex
	now time.Time
}

func (b *bench) time() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// timed leaves the part out when the ledger goes by another clock. It takes an
// approval that was just issued.
func (b *bench) timed(a mcpcore.Approval) {
	b.Helper()
	if !a.Issued.Equal(b.time()) {
		b.Skipf("the ledger goes by a clock of its own, %s, so that time cannot be moved", a.Issued)
	}
}

// hash is a fingerprint that looks like one.
func hash(name string) mcpcore.Fingerprint {
	return mcpcore.Fingerprint(fmt.Sprintf("%064x", name))[:64]
}

// proposal is one of the purpose, for the payload of a name.
func proposal(purpose mcpcore.Purpose, name string) mcpcore.Proposal {
	return mcpcore.Proposal{
		Purpose: purpose, Tool: "ticket_close", Principal: "stdio", Fingerprint: hash(name), Facts: hash("facts"),
		Shown: json.RawMessage(`{"closes":"` + name + `"}`),
	}
}

// spend is the use of an approval that fits it.
func spend(a mcpcore.Approval) mcpcore.Spend {
	return mcpcore.Spend{ID: a.ID, Fingerprint: a.Fingerprint, Facts: a.Facts}
}

func (b *bench) propose(p mcpcore.Proposal) mcpcore.Approval {
	b.Helper()
	a, err := b.l.Propose(b.Context(), p)
	if err != nil {
		b.Fatalf("Propose(%s of %s): %v", p.Purpose, p.Fingerprint, err)
	}
	return a
}

// yes and no are a person's answers.
var (
	yes = mcpcore.Decision{By: "Ada", Approve: true, Reason: "it is \"done\"\n<b>ü</b>", Proof: []byte("\x00\xff any bytes\n\x00")}
	no  = mcpcore.Decision{By: "Grace"}
)

// said expects that the approval was decided, exactly so.
func (b *bench) said(a mcpcore.Approval, want mcpcore.Decision) {
	b.Helper()
	if d := a.Decision; d == nil || d.By != want.By || d.Approve != want.Approve || d.Reason != want.Reason || !bytes.Equal(d.Proof, want.Proof) {
		b.Errorf("the decision is %+v, want %+v", d, want)
	}
}

func (b *bench) answer(a mcpcore.Approval, d mcpcore.Decision) {
	b.Helper()
	if err := b.l.Decide(b.Context(), a.ID, d); err != nil {
		b.Fatalf("Decide: %v", err)
	}
}

// approved is an approval for a person who has approved it.
func (b *bench) approved(name string) mcpcore.Approval {
	b.Helper()
	a := b.propose(proposal(mcpcore.ForPerson, name))
	b.answer(a, yes)
	return a
}

// known are the errors that a ledger answers, besides not being available.
var known = []error{
	mcpcore.ErrApprovalMissing, mcpcore.ErrApprovalSpent, mcpcore.ErrApprovalExpired, mcpcore.ErrApprovalMismatch,
	mcpcore.ErrApprovalPending, mcpcore.ErrApprovalRefused, mcpcore.ErrApprovalDecided, mcpcore.ErrFactsChanged,
}

// is reports whether the error is the one that is wanted and none of its
// neighbours.
func is(err, want error) bool {
	for _, e := range known {
		if errors.Is(err, e) != errors.Is(want, e) {
			return false
		}
	}
	return want != nil || err == nil
}

// spends expects of a call that it spends all.
func (b *bench) spends(all ...mcpcore.Spend) {
	b.Helper()
	if err := b.l.Spend(b.Context(), all...); err != nil {
		b.Errorf("Spend: %v", err)
	}
}

// refuses expects of a call that it spends nothing because of one of them.
func (b *bench) refuses(which mcpcore.Spend, why error, all ...mcpcore.Spend) {
	b.Helper()
	if len(all) == 0 {
		all = []mcpcore.Spend{which}
	}
	err := b.l.Spend(b.Context(), all...)
	if !is(err, why) {
		b.Errorf("Spend: %v, want %v", err, why)
		return
	}
	if told, ok := errors.AsType[*mcpcore.NotSpent](err); !ok || told.ID != which.ID {
		b.Errorf("Spend does not say by a NotSpent that it is %s: %#v", which.ID, err)
	}
}

// decides expects an answer of Decide.
func (b *bench) decides(id mcpcore.ApprovalID, d mcpcore.Decision, want error) {
	b.Helper()
	if err := b.l.Decide(b.Context(), id, d); !is(err, want) {
		b.Errorf("Decide: %v, want %v", err, want)
	}
}

// waits expects what Pending lists, by the names of the payloads.
func (b *bench) waits(by mcpcore.Filter, names ...string) []mcpcore.Approval {
	b.Helper()
	list, err := b.l.Pending(b.Context(), by)
	if err != nil {
		b.Fatalf("Pending: %v", err)
	}
	var got, want []string
	for _, a := range list {
		got = append(got, string(a.Fingerprint))
	}
	for _, name := range names {
		want = append(want, string(hash(name)))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		b.Errorf("Pending(%+v) lists %d approvals, want %v", by, len(list), names)
	}
	return list
}

// same compares two approvals that should be one.
func (b *bench) same(got, want mcpcore.Approval) {
	b.Helper()
	if text(b.T, got) != text(b.T, want) {
		b.Errorf("got the approval\n%s, want\n%s", text(b.T, got), text(b.T, want))
	}
}

func text(t *testing.T, a mcpcore.Approval) string {
	t.Helper()
	a.Issued, a.Expires = a.Issued.UTC(), a.Expires.UTC()
	if len(a.Shown) == 0 {
		a.Shown = nil
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// all runs as many calls at once and counts their answers.
func all(n int, call func(i int) error) map[error]int {
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		answers = map[error]int{}
		start   = make(chan struct{})
	)
	for i := range n {
		wg.Go(func() {
			<-start
			err := call(i)
			for _, e := range known {
				if is(err, e) {
					err = e
				}
			}
			mu.Lock()
			defer mu.Unlock()
			answers[err]++
		})
	}
	close(start)
	wg.Wait()
	return answers
}
