package operationtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Run checks the contract of [mcpcore.OperationLedger] on ledgers that open
// makes: empty, and a fresh one for each part. The clock is the one that the
// ledger has to go by; tests move it, and it never stops a call. A ledger that is
// a Stored() []byte shows what it keeps, and is looked through for content.
func Run(t *testing.T, open func(t *testing.T, clock func() time.Time) mcpcore.OperationLedger) {
	t.Helper()
	for _, part := range []struct {
		name  string
		check func(*bench)
	}{
		{"an operation from its claim to its release", (*bench).whole},
		{"targets are claimed in one order, each once", (*bench).canonical},
		{"all of the targets or none", (*bench).together},
		{"a busy target refuses at once", (*bench).busy},
		{"one of many concurrent claims is made", (*bench).race},
		{"different targets do not meet", (*bench).apart},
		{"a claim that was never reserved is free after its lease", (*bench).neverReserved},
		{"a settled claim is free after its lease", (*bench).settled},
		{"an open claim is quarantined after its lease", (*bench).open},
		{"an uncertain claim is quarantined at once", (*bench).uncertain},
		{"epochs rise", (*bench).epochs},
		{"a key is spent once, for ever", (*bench).spent},
		{"a key of another workflow is another key", (*bench).otherWorkflow},
		{"one of many concurrent reservations of a key is made", (*bench).reserveRace},
		{"a claim that was taken over reserves nothing", (*bench).takenOver},
		{"a lease that is over reserves nothing", (*bench).late},
		{"a write that would outlast the lease is not begun", (*bench).outlast},
		{"a write is begun once", (*bench).begunOnce},
		{"an ending is final", (*bench).final},
		{"endings have their shape", (*bench).shape},
		{"an owner that comes late may say how it ended", (*bench).lateEnding},
		{"resolving waits for lease and deadline", (*bench).resolveWaits},
		{"resolving keeps the receipt and the key", (*bench).resolve},
		{"a parent is pending with its child and paused between two", (*bench).children},
		{"a child that fails or is uncertain ends its parent", (*bench).childEnds},
		{"a paused key goes on for its request alone", (*bench).resumed},
		{"a parent that stopped between two children goes on", (*bench).stopped},
		{"of a parent that goes on elsewhere the owner before writes nothing", (*bench).fenced},
		{"an open child quarantines, and is resolved with its parent", (*bench).childOpen},
		{"the owner of a child that comes late frees its parent", (*bench).childLate},
		{"receipts are listed, the newest first", (*bench).list},
		{"a done context", (*bench).done},
		{"nothing that is kept has content", (*bench).content},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			b := &bench{T: t, now: time.Date(2031, 5, 1, 18, 0, 0, 123456000, time.UTC)}
			b.l = open(t, b.time)
			part.check(b)
		})
	}
}

// bench is a ledger under test and its clock.
type bench struct {
	*testing.T
	l mcpcore.OperationLedger

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

const (
	lease = 2 * time.Minute
	write = 30 * time.Second
)

// wanted is a claim of roles for the nth intent.
func wanted(n int, roles ...string) mcpcore.Wanted {
	w := mcpcore.Wanted{Workflow: "role-deletion", Key: mcpcore.HashKey(fmt.Sprint("canary-key-", n)), Plan: mcpcore.Digest("hmac-sha256:" + strings.Repeat("a", 64)), Lease: lease}
	for _, id := range roles {
		w.Targets = append(w.Targets, mcpcore.Target{Kind: "role", ID: id})
	}
	return w
}

var reservation = mcpcore.Reservation{Activity: "a-1", Request: "r-1"}

func (b *bench) claim(n int, roles ...string) mcpcore.Claim {
	b.Helper()
	c, err := b.l.Claim(b.Context(), wanted(n, roles...))
	if err != nil {
		b.Fatalf("claim %v: %v", roles, err)
	}
	return c
}

func (b *bench) reserve(c mcpcore.Claim) mcpcore.Receipt {
	b.Helper()
	r, err := b.l.Reserve(b.Context(), c, reservation)
	if err != nil {
		b.Fatalf("reserve: %v", err)
	}
	return r
}

func (b *bench) pending(c mcpcore.Claim) mcpcore.Receipt {
	b.Helper()
	r, err := b.l.Pending(b.Context(), c, write)
	if err != nil {
		b.Fatalf("pending: %v", err)
	}
	return r
}

func (b *bench) finish(c mcpcore.Claim, e mcpcore.Ending) mcpcore.Receipt {
	b.Helper()
	r, err := b.l.Finish(b.Context(), c, e)
	if err != nil {
		b.Fatalf("finish: %v", err)
	}
	return r
}

func (b *bench) release(c mcpcore.Claim) {
	b.Helper()
	if err := b.l.Release(b.Context(), c); err != nil {
		b.Fatalf("release: %v", err)
	}
}

// refused wants a claim of the roles to fail.
func (b *bench) refused(why error, roles ...string) {
	b.Helper()
	b.holder(why, roles...)
}

// holder is the claim because of which one of the roles fails.
func (b *bench) holder(why error, roles ...string) mcpcore.TargetHeld {
	b.Helper()
	_, err := b.l.Claim(b.Context(), wanted(99, roles...))
	held, ok := errors.AsType[*mcpcore.TargetHeld](err)
	if !errors.Is(err, why) || !ok {
		b.Fatalf("claiming %v answers %v, want %v", roles, err, why)
	}
	return *held
}

func (b *bench) want(got, want error) {
	b.Helper()
	if !errors.Is(got, want) {
		b.Errorf("got %v, want %v", got, want)
	}
}

// states are those of the claims that are held, the oldest first.
func (b *bench) states(want ...mcpcore.ClaimState) []mcpcore.Held {
	b.Helper()
	all, err := b.l.Claims(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var got []mcpcore.ClaimState
	for _, h := range all {
		got = append(got, h.State)
	}
	if !slices.Equal(got, want) {
		b.Errorf("claims are %v, want %v", got, want)
	}
	return all
}

var (
	completed = mcpcore.Ending{Status: mcpcore.StatusCompleted, ResourceID: "1", Verification: mcpcore.Match}
	failed    = mcpcore.Ending{Status: mcpcore.StatusFailed, Error: mcpcore.CodePermission}
	uncertain = mcpcore.Ending{Status: mcpcore.StatusUncertain, ResourceID: "1", Error: mcpcore.CodeOutcomeUnknown}
)

func (b *bench) whole() {
	began := b.time()
	c := b.claim(1, "1", "2")
	if c.Workflow != "role-deletion" || c.Key != wanted(1).Key || c.Plan != wanted(1).Plan || !c.Made.Equal(began) || !c.Lease.Equal(began.Add(lease)) || c.ID == "" {
		b.Errorf("the claim is %+v", c)
	}
	b.states(mcpcore.ClaimLive)
	if _, err := b.l.Receipt(b.Context(), c.Workflow, c.Key); !errors.Is(err, mcpcore.ErrReceiptMissing) {
		b.Errorf("a receipt before the reservation: %v", err)
	}
	r := b.reserve(c)
	if r.Status != mcpcore.StatusReserved || r.Activity != "a-1" || r.Request != "r-1" || r.Claim != c.ID || !r.Reserved.Equal(began) || !r.Deadline.IsZero() || !r.Finished.IsZero() {
		b.Errorf("reserved: %+v", r)
	}
	b.pass(time.Second)
	if r = b.pending(c); r.Status != mcpcore.StatusPending || !r.Deadline.Equal(began.Add(time.Second+write)) {
		b.Errorf("pending: %+v", r)
	}
	b.pass(time.Second)
	r = b.finish(c, completed)
	if r.Ending() != completed || !r.Finished.Equal(began.Add(2*time.Second)) {
		b.Errorf("finished: %+v", r)
	}
	b.release(c)
	b.states()
	kept, err := b.l.Receipt(b.Context(), c.Workflow, c.Key)
	if err != nil || kept.Ending() != completed || kept.Activity != "a-1" || kept.Request != "r-1" || kept.Plan != c.Plan || kept.Claim != c.ID ||
		!kept.Reserved.Equal(began) || !kept.Deadline.Equal(began.Add(time.Second+write)) || !kept.Finished.Equal(r.Finished) {
		b.Errorf("kept: %+v, %v", kept, err)
	}
	b.release(c) // which is over
	b.claim(2, "1", "2")
}

func (b *bench) canonical() {
	c := b.claim(1, "2", "10", "1", "2")
	if want := []string{"role:1", "role:10", "role:2"}; !slices.Equal(c.Targets, want) {
		b.Errorf("targets are %v", c.Targets)
	}
	if all := b.states(mcpcore.ClaimLive); len(all) == 1 && !slices.Equal(all[0].Targets, c.Targets) {
		b.Errorf("held are %v", all[0].Targets)
	}
	for _, w := range []mcpcore.Wanted{wanted(2), {Workflow: "role-deletion", Key: "k", Targets: []mcpcore.Target{{Kind: "role", ID: "7"}}}} {
		if _, err := b.l.Claim(b.Context(), w); err == nil {
			b.Errorf("%+v is claimed", w)
		}
	}
}

func (b *bench) together() {
	b.claim(1, "2")
	b.refused(mcpcore.ErrTargetBusy, "1", "2", "3")
	b.claim(2, "1", "3")
}

func (b *bench) busy() {
	c := b.claim(1, "1")
	held := b.holder(mcpcore.ErrTargetBusy, "1")
	if held.Claim != c.ID || held.Target != "role:1" || !held.Until.Equal(c.Lease) {
		b.Errorf("held: %+v", held)
	}
	b.release(c)
	b.claim(2, "1")
}

const many = 8

// race has many do one thing at once and gives how often it went well.
func (b *bench) atOnce(do func(n int) error, otherwise error) (won int) {
	b.Helper()
	begin, ends := make(chan struct{}), make(chan error, many)
	for n := range many {
		go func() {
			<-begin
			ends <- do(n)
		}()
	}
	close(begin)
	for range many {
		switch err := <-ends; {
		case err == nil:
			won++
		case !errors.Is(err, otherwise):
			b.Errorf("one ends with %v", err)
		}
	}
	return won
}

func (b *bench) race() {
	won := b.atOnce(func(n int) error {
		roles := []string{"1", "2", "3"}
		if n%2 == 1 {
			slices.Reverse(roles)
		}
		_, err := b.l.Claim(b.Context(), wanted(n, roles...))
		return err
	}, mcpcore.ErrTargetBusy)
	if won != 1 {
		b.Errorf("%d claims were made", won)
	}
}

func (b *bench) apart() {
	won := b.atOnce(func(n int) error {
		_, err := b.l.Claim(b.Context(), wanted(n, fmt.Sprint(n)))
		return err
	}, nil)
	if won != many {
		b.Errorf("%d claims were made", won)
	}
}

func (b *bench) neverReserved() {
	b.claim(1, "1", "2")
	b.pass(lease - time.Second)
	b.refused(mcpcore.ErrTargetBusy, "1")
	b.pass(time.Second)
	b.states(mcpcore.ClaimFree)
	b.claim(2, "2")
	b.claim(3, "1")
}

func (b *bench) settled() {
	for i, e := range []mcpcore.Ending{completed, failed} {
		role := fmt.Sprint(i)
		c := b.claim(i, role)
		b.reserve(c)
		b.pending(c)
		b.finish(c, e)
		b.refused(mcpcore.ErrTargetBusy, role) // its owner is about to release it
		b.pass(lease)
		b.states(mcpcore.ClaimFree)
		b.release(b.claim(i+10, role))
	}
}

func (b *bench) open() {
	reserved, pending := b.claim(1, "1"), b.claim(2, "2")
	b.reserve(reserved)
	b.reserve(pending)
	b.pending(pending)
	for _, c := range []mcpcore.Claim{reserved, pending} {
		b.release(c) // does nothing
	}
	b.refused(mcpcore.ErrTargetBusy, "1")
	b.pass(lease)
	b.states(mcpcore.ClaimQuarantined, mcpcore.ClaimQuarantined)
	for _, role := range []string{"1", "2"} {
		if held := b.holder(mcpcore.ErrTargetQuarantined, role); held.Claim == "" {
			b.Error("nobody knows which claim to resolve")
		}
	}
	b.pass(365 * 24 * time.Hour)
	b.refused(mcpcore.ErrTargetQuarantined, "1")
}

func (b *bench) uncertain() {
	c := b.claim(1, "1")
	b.reserve(c)
	b.pending(c)
	b.finish(c, uncertain)
	b.release(c)
	b.states(mcpcore.ClaimQuarantined)
	b.refused(mcpcore.ErrTargetQuarantined, "1")
}

func (b *bench) epochs() {
	last := int64(0)
	for n := range 3 {
		c := b.claim(n, "1")
		if c.Epoch <= last {
			b.Errorf("epoch %d after %d", c.Epoch, last)
		}
		last = c.Epoch
		b.release(c)
	}
}

func (b *bench) spent() {
	for n, e := range []mcpcore.Ending{completed, failed, uncertain, {}} {
		role := fmt.Sprint(n)
		c := b.claim(n, role)
		b.reserve(c)
		if e.Status != "" {
			b.pending(c)
			b.finish(c, e)
		}
		again := b.claim(n, role+"0")
		_, err := b.l.Reserve(b.Context(), again, reservation)
		spent, ok := errors.AsType[*mcpcore.KeySpent](err)
		if !ok || spent.Receipt.Ending() != e && e.Status != "" || spent.Receipt.Claim != c.ID {
			b.Errorf("reserved again: %v", err)
		}
		b.release(again)
	}
	b.pass(365 * 24 * time.Hour)
	_, err := b.l.Reserve(b.Context(), b.claim(0, "77"), reservation)
	b.want(err, mcpcore.ErrKeySpent)
}

func (b *bench) otherWorkflow() {
	b.reserve(b.claim(1, "1"))
	w := wanted(1, "2")
	w.Workflow = "role-creation"
	c, err := b.l.Claim(b.Context(), w)
	if err != nil {
		b.Fatal(err)
	}
	b.reserve(c)
}

func (b *bench) reserveRace() {
	claims := make([]mcpcore.Claim, many)
	for n := range claims {
		claims[n] = b.claim(1, fmt.Sprint(n))
	}
	if won := b.atOnce(func(n int) error { _, err := b.l.Reserve(b.Context(), claims[n], reservation); return err }, mcpcore.ErrKeySpent); won != 1 {
		b.Errorf("the key was spent %d times", won)
	}
}

func (b *bench) takenOver() {
	old := b.claim(1, "1")
	b.pass(lease)
	now := b.claim(2, "1")
	_, err := b.l.Reserve(b.Context(), old, reservation)
	b.want(err, mcpcore.ErrClaimLost)
	b.release(old) // is not the new one's
	b.refused(mcpcore.ErrTargetBusy, "1")
	forged := now
	forged.Epoch--
	_, err = b.l.Reserve(b.Context(), forged, reservation)
	b.want(err, mcpcore.ErrClaimLost)
	b.reserve(now)
}

func (b *bench) late() {
	c := b.claim(1, "1")
	b.pass(lease)
	_, err := b.l.Reserve(b.Context(), c, reservation)
	b.want(err, mcpcore.ErrClaimLost)
}

func (b *bench) outlast() {
	c := b.claim(1, "1")
	b.reserve(c)
	b.pass(lease - write + time.Second)
	_, err := b.l.Pending(b.Context(), c, write)
	b.want(err, mcpcore.ErrClaimLost)
	if r, _ := b.l.Receipt(b.Context(), c.Workflow, c.Key); r.Status != mcpcore.StatusReserved {
		b.Errorf("the receipt is %s", r.Status)
	}
	b.finish(c, failed)
	b.release(c)
	b.claim(2, "1")
}

func (b *bench) begunOnce() {
	c := b.claim(1, "1")
	_, err := b.l.Pending(b.Context(), c, write)
	b.want(err, mcpcore.ErrClaimLost) // nothing is reserved
	b.reserve(c)
	if won := b.atOnce(func(int) error { _, err := b.l.Pending(b.Context(), c, write); return err }, mcpcore.ErrClaimLost); won != 1 {
		b.Errorf("the write was begun %d times", won)
	}
}

func (b *bench) final() {
	c := b.claim(1, "1")
	_, err := b.l.Finish(b.Context(), c, completed)
	b.want(err, mcpcore.ErrReceiptMissing)
	b.reserve(c)
	b.pending(c)
	b.finish(c, completed)
	b.finish(c, completed)
	for _, e := range []mcpcore.Ending{failed, uncertain, {Status: mcpcore.StatusCompleted, ResourceID: "2", Verification: mcpcore.Match}} {
		_, err := b.l.Finish(b.Context(), c, e)
		b.want(err, mcpcore.ErrReceiptFinished)
	}
}

func (b *bench) shape() {
	c := b.claim(1, "1")
	b.reserve(c)
	b.pending(c)
	for _, e := range []mcpcore.Ending{
		{}, {Status: mcpcore.StatusPending}, {Status: mcpcore.StatusReserved},
		{Status: mcpcore.StatusCompleted}, {Status: mcpcore.StatusCompleted, Verification: mcpcore.Match, Error: mcpcore.CodeInternal},
		{Status: mcpcore.StatusFailed}, {Status: mcpcore.StatusFailed, Error: mcpcore.CodePermission, ResourceID: "1"},
		{Status: mcpcore.StatusUncertain}, {Status: mcpcore.StatusUncertain, Error: mcpcore.CodeOutcomeUnknown, Verification: mcpcore.Drift},
	} {
		if _, err := b.l.Finish(b.Context(), c, e); err == nil {
			b.Errorf("it ended as %+v", e)
		}
	}
	b.finish(c, uncertain)
}

func (b *bench) lateEnding() {
	c := b.claim(1, "1")
	b.reserve(c)
	b.pending(c)
	b.pass(10 * lease)
	b.refused(mcpcore.ErrTargetQuarantined, "1")
	b.finish(c, completed)
	b.release(c)
	b.claim(2, "1")
}

func (b *bench) resolveWaits() {
	b.want(b.l.Resolve(b.Context(), "claim_0", "Ada"), mcpcore.ErrClaimMissing)
	c := b.claim(1, "1")
	b.reserve(c)
	b.pending(c)
	b.want(b.l.Resolve(b.Context(), c.ID, "Ada"), mcpcore.ErrClaimLive)
	b.pass(lease - time.Second)
	b.want(b.l.Resolve(b.Context(), c.ID, "Ada"), mcpcore.ErrClaimLive)
	b.pass(time.Second)
	b.want(b.l.Resolve(b.Context(), c.ID, "Ada"), nil)
}

func (b *bench) resolve() {
	c := b.claim(1, "1")
	b.reserve(c)
	b.pending(c)
	b.pass(lease)
	for range 2 { // it is the same the second time
		b.want(b.l.Resolve(b.Context(), c.ID, "Ada"), nil)
	}
	b.states()
	r, err := b.l.Receipt(b.Context(), c.Workflow, c.Key)
	if err != nil || r.Status != mcpcore.StatusUncertain || !r.Resolved || r.Error == "" {
		b.Errorf("the receipt is %+v, %v", r, err)
	}
	_, err = b.l.Finish(b.Context(), c, completed) // too late
	b.want(err, mcpcore.ErrReceiptFinished)
	again := b.claim(1, "1")
	_, err = b.l.Reserve(b.Context(), again, reservation)
	b.want(err, mcpcore.ErrKeySpent)
}

func (b *bench) list() {
	for n := range 3 {
		c := b.claim(n, "1")
		b.reserve(c)
		b.pending(c)
		b.finish(c, []mcpcore.Ending{completed, failed, completed}[n])
		b.release(c)
		b.pass(time.Second)
	}
	for _, row := range []struct {
		filter mcpcore.ReceiptFilter
		want   []int
	}{
		{mcpcore.ReceiptFilter{}, []int{2, 1, 0}},
		{mcpcore.ReceiptFilter{Status: mcpcore.StatusCompleted}, []int{2, 0}},
		{mcpcore.ReceiptFilter{Limit: 1}, []int{2}},
		{mcpcore.ReceiptFilter{Workflow: "role-creation"}, nil},
		{mcpcore.ReceiptFilter{Workflow: "role-deletion", Status: mcpcore.StatusFailed}, []int{1}},
	} {
		all, err := b.l.Receipts(b.Context(), row.filter)
		if err != nil {
			b.Fatal(err)
		}
		var want, got []mcpcore.KeyHash
		for _, n := range row.want {
			want = append(want, wanted(n).Key)
		}
		for _, r := range all {
			got = append(got, r.Key)
		}
		if !slices.Equal(got, want) {
			b.Errorf("%+v: %v, want %v", row.filter, got, want)
		}
	}
}

func (b *bench) done() {
	c := b.claim(1, "1")
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	_, claimed := b.l.Claim(ctx, wanted(2, "2"))
	_, reserved := b.l.Reserve(ctx, c, reservation)
	_, pending := b.l.Pending(ctx, c, write)
	_, finished := b.l.Finish(ctx, c, failed)
	_, listed := b.l.Receipts(ctx, mcpcore.ReceiptFilter{})
	_, held := b.l.Claims(ctx)
	for i, err := range []error{claimed, reserved, pending, finished, listed, held, b.l.Release(ctx, c), b.l.Resolve(ctx, c.ID, "Ada")} {
		if err == nil {
			b.Errorf("call %d goes on", i)
		}
	}
	b.reserve(c)
}

func (b *bench) content() {
	store, ok := b.l.(interface{ Stored(t *testing.T) []byte })
	if !ok {
		b.Skip("it keeps nothing outside the process")
	}
	c := b.claim(1, "1")
	b.reserve(c)
	b.pending(c)
	b.finish(c, completed)
	kept := store.Stored(b.T)
	if !bytes.Contains(kept, []byte(c.Key)) {
		b.Errorf("the receipt is not in what is stored")
	}
	if bytes.Contains(kept, []byte("canary")) {
		b.Errorf("the operation key is stored")
	}
}
