package operationtest

import (
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// childKey is the key of the nth child.
func childKey(n int) mcpcore.KeyHash { return wanted(50 + n).Key }

// child reserves the nth child of the claim's operation, and records that its write
// is pending.
func (b *bench) child(c mcpcore.Claim, n int) mcpcore.Claim {
	b.Helper()
	child := c.Child(childKey(n))
	r, err := b.l.Reserve(b.Context(), child, mcpcore.Reservation{Activity: "a-1", Request: "r-1", Parent: c.Key})
	if err != nil {
		b.Fatalf("reserve a child: %v", err)
	}
	if r.Key != child.Key || r.Parent != c.Key || r.Claim != c.ID || r.Plan != c.Plan || r.Status != mcpcore.StatusReserved {
		b.Errorf("the child is %+v", r)
	}
	b.pending(child)
	return child
}

// kept wants the receipt of a claim's key in a status.
func (b *bench) kept(c mcpcore.Claim, want mcpcore.Status) mcpcore.Receipt {
	b.Helper()
	r, err := b.l.Receipt(b.Context(), c.Workflow, c.Key)
	if err != nil || r.Status != want {
		b.Errorf("the receipt is %+v, %v, want %s", r, err, want)
	}
	return r
}

func (b *bench) children() {
	c := b.claim(1, "1")
	_, err := b.l.Reserve(b.Context(), c.Child(childKey(0)), mcpcore.Reservation{Parent: c.Key})
	b.want(err, mcpcore.ErrClaimLost) // without a parent
	b.reserve(c)
	for n, e := range []mcpcore.Ending{completed, {Status: mcpcore.StatusCompleted, Verification: mcpcore.Drift}} {
		child := b.child(c, n)
		b.kept(c, mcpcore.StatusPending)
		_, err := b.l.Reserve(b.Context(), c.Child(childKey(9)), mcpcore.Reservation{Parent: c.Key})
		b.want(err, mcpcore.ErrClaimLost) // one at a time
		b.finish(child, e)
		b.finish(child, e)
		b.kept(c, mcpcore.StatusPaused)
		_, err = b.l.Reserve(b.Context(), child, mcpcore.Reservation{Request: "r-1", Parent: c.Key})
		b.want(err, mcpcore.ErrKeySpent)
	}
	for _, forged := range []mcpcore.Reservation{{}, {Parent: childKey(0)}, {Parent: childKey(8)}} {
		_, err = b.l.Reserve(b.Context(), c.Child(childKey(8)), forged)
		b.want(err, mcpcore.ErrClaimLost)
	}
	all, err := b.l.Receipts(b.Context(), mcpcore.ReceiptFilter{Workflow: c.Workflow, Parent: c.Key})
	if err != nil || len(all) != 2 || all[0].Key != childKey(1) || all[1].Key != childKey(0) || all[1].Parent != c.Key {
		b.Errorf("the children are %+v, %v", all, err)
	}
	b.finish(c, completed)
	_, err = b.l.Reserve(b.Context(), c.Child(childKey(7)), mcpcore.Reservation{Parent: c.Key})
	b.want(err, mcpcore.ErrClaimLost)
	b.release(c)
	b.states()
}

func (b *bench) childEnds() {
	c := b.claim(1, "1")
	b.reserve(c)
	b.finish(b.child(c, 1), failed)
	if r := b.kept(c, mcpcore.StatusFailed); r.Error != failed.Error || r.Finished.IsZero() {
		b.Errorf("the parent is %+v", r)
	}
	b.release(c)
	b.states()
	again := b.claim(1, "1")
	_, err := b.l.Reserve(b.Context(), again, reservation)
	b.want(err, mcpcore.ErrKeySpent)
	b.release(again)

	c = b.claim(2, "2")
	b.reserve(c)
	b.finish(b.child(c, 2), uncertain)
	if r := b.kept(c, mcpcore.StatusUncertain); r.Error != uncertain.Error {
		b.Errorf("the parent is %+v", r)
	}
	b.release(c)
	b.states(mcpcore.ClaimQuarantined)
}

func (b *bench) resumed() {
	began := b.time()
	c := b.claim(1, "1")
	b.reserve(c)
	b.finish(b.child(c, 1), completed)
	b.release(c)
	b.states()
	b.pass(time.Minute)
	w := wanted(1, "1", "2")
	w.Plan = "hmac-sha256:another"
	next, err := b.l.Claim(b.Context(), w)
	if err != nil {
		b.Fatal(err)
	}
	for _, other := range []mcpcore.Reservation{{Activity: "a-2", Request: "r-2"}, {Activity: "a-2"}} {
		_, err := b.l.Reserve(b.Context(), next, other)
		b.want(err, mcpcore.ErrKeySpent)
	}
	r, err := b.l.Reserve(b.Context(), next, mcpcore.Reservation{Activity: "a-2", Request: "r-1"})
	if err != nil || r.Status != mcpcore.StatusPaused || r.Activity != "a-2" || r.Claim != next.ID || r.Plan != w.Plan || !r.Reserved.Equal(began) {
		b.Errorf("resumed: %+v, %v", r, err)
	}
	if kept := b.kept(next, mcpcore.StatusPaused); kept != r {
		b.Errorf("kept is %+v, and answered was %+v", kept, r)
	}
	_, err = b.l.Finish(b.Context(), c, completed) // of the claim before
	b.want(err, mcpcore.ErrReceiptMissing)
	b.finish(b.child(next, 2), completed)
	b.finish(next, completed)
	_, err = b.l.Reserve(b.Context(), next, mcpcore.Reservation{Activity: "a-3", Request: "r-1"})
	b.want(err, mcpcore.ErrKeySpent)
}

// stopped is a parent whose owner is gone between two children.
func (b *bench) stopped() {
	c := b.claim(1, "1")
	b.reserve(c)
	b.finish(b.child(c, 1), completed)
	b.refused(mcpcore.ErrTargetBusy, "1")
	b.pass(lease)
	b.states(mcpcore.ClaimFree)
	next := b.claim(1, "1")
	b.reserve(next)
	_, err := b.l.Reserve(b.Context(), c.Child(childKey(2)), mcpcore.Reservation{Parent: c.Key})
	b.want(err, mcpcore.ErrClaimLost) // the owner before wakes up
	b.finish(b.child(next, 2), completed)
}

// fenced is a parent that goes on under other targets.
func (b *bench) fenced() {
	c := b.claim(1, "1")
	b.reserve(c)
	b.finish(b.child(c, 1), completed)
	next := b.claim(1, "2")
	b.reserve(next)
	_, err := b.l.Reserve(b.Context(), c.Child(childKey(2)), mcpcore.Reservation{Parent: c.Key})
	b.want(err, mcpcore.ErrClaimLost)
	child := b.child(next, 3)
	_, err = b.l.Reserve(b.Context(), b.claim(1, "3"), reservation) // while a child is open
	b.want(err, mcpcore.ErrKeySpent)
	b.finish(child, completed)
}

func (b *bench) childOpen() {
	c := b.claim(1, "1")
	b.reserve(c)
	child := b.child(c, 1)
	b.release(c) // does nothing
	b.pass(lease)
	b.states(mcpcore.ClaimQuarantined)
	b.refused(mcpcore.ErrTargetQuarantined, "1")
	b.want(b.l.Resolve(b.Context(), c.ID, "Ada"), nil)
	for _, of := range []mcpcore.Claim{c, child} {
		if r := b.kept(of, mcpcore.StatusUncertain); !r.Resolved || r.Error == "" {
			b.Errorf("resolved: %+v", r)
		}
	}
	_, err := b.l.Finish(b.Context(), child, completed) // too late
	b.want(err, mcpcore.ErrReceiptFinished)
	b.kept(c, mcpcore.StatusUncertain)
	_, err = b.l.Reserve(b.Context(), b.claim(1, "1"), reservation)
	if spent, ok := errors.AsType[*mcpcore.KeySpent](err); !ok || spent.Receipt.Status != mcpcore.StatusUncertain {
		b.Errorf("reserved again: %v", err)
	}
}

// childLate is a child whose owner tells late how it ended.
func (b *bench) childLate() {
	c := b.claim(1, "1")
	b.reserve(c)
	child := b.child(c, 1)
	b.pass(10 * lease)
	b.refused(mcpcore.ErrTargetQuarantined, "1")
	b.finish(child, completed)
	b.kept(c, mcpcore.StatusPaused)
	b.reserve(b.claim(1, "1"))
}

// stop has the ledger fail when the nth write is reserved, the operation's own
// reservation not counted.
func (p *play) stop(nth int) {
	p.ops.before = map[string]func() error{"Reserve": func() error {
		if nth--; nth == -1 {
			return errDown
		}
		return nil
	}}
}

func (p *play) resumes() {
	if !p.Children {
		p.Skip("it has no writes that are operations of their own")
	}
	asked := 0
	p.user = func() *mcp.ElicitResult { asked++; return yes() }
	p.stop(2)
	r := p.do(mcpcore.CodeLedger, "")
	if r.fields["child"] == nil || r.fields["children"] == nil {
		p.Errorf("it does not say where it stopped: %s", r.raw)
	}
	p.wrote(p.Sends[:1])
	p.receipt(mcpcore.StatusPaused)
	p.held("", 0)
	p.ops.before = nil

	plan := p.call(p.connect(false), p.Plan, p.args(""))
	if p.want(plan, "", "planned"); plan.fields["done"] != 1.0 {
		p.Errorf("the plan does not tell what is done: %s", plan.raw)
	}
	p.do("", "completed")
	p.wrote(p.Sends)
	if asked != 2 {
		p.Errorf("a person was asked %d times", asked)
	}
	receipts, err := p.ops.Receipts(p.Context(), mcpcore.ReceiptFilter{Parent: mcpcore.HashKey(p.key)})
	if err != nil || len(receipts) != len(p.Sends) {
		p.Fatalf("receipts of children: %+v, %v", receipts, err)
	}
	for _, child := range receipts {
		if child.Status != mcpcore.StatusCompleted || child.Verification != mcpcore.Match || child.Plan == "" || child.ResourceID == "" {
			p.Errorf("a child is %+v", child)
		}
	}
	p.receipt(mcpcore.StatusCompleted)
	p.do(mcpcore.CodeKeyConflict, "operation-key-conflict")

	for _, row := range []struct {
		change func(q *play)
		code   mcpcore.Code
		status string
	}{
		{func(q *play) { q.user = nil }, mcpcore.CodeHumanRequired, ""},
		{func(q *play) { q.setup.StateKey = []byte(strings.Repeat("x", 32)) }, mcpcore.CodeKeyConflict, "operation-key-conflict"}, // of which no request is the same
	} {
		q := newPlay(p.T, p.Subject)
		q.stop(2)
		q.do(mcpcore.CodeLedger, "")
		q.ops.before = nil
		row.change(q)
		q.do(row.code, row.status)
		q.wrote(p.Sends[:1])
		q.receipt(mcpcore.StatusPaused)
		q.held("", 0)
	}
}
