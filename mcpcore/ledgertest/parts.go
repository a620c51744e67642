package ledgertest

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

var purposes = []mcpcore.Purpose{mcpcore.ForPreview, mcpcore.ForPayload, mcpcore.ForConsent, mcpcore.ForQuestion, mcpcore.ForPerson}

// held are the purposes whose approvals the caller alone can use.
var held = []mcpcore.Purpose{mcpcore.ForPayload, mcpcore.ForConsent, mcpcore.ForQuestion}

func (b *bench) issue() {
	ids := map[mcpcore.ApprovalID]bool{}
	for _, purpose := range purposes {
		for _, lifetime := range []struct{ asked, given time.Duration }{
			{0, mcpcore.DefaultLifetime},
			{-time.Minute, mcpcore.DefaultLifetime},
			{time.Millisecond, time.Millisecond},
			{mcpcore.MaxLifetime, mcpcore.MaxLifetime},
			{mcpcore.MaxLifetime + 1, mcpcore.MaxLifetime},
		} {
			p := mcpcore.Proposal{
				Purpose: purpose, Tool: `tool "ü"`, Principal: `o'neil\ <x@y.example>`, Fingerprint: hash(lifetime.asked.String()),
				Shown: json.RawMessage(`{"a": "<&>\u2028 ü", "b": 1.0}`), Lifetime: lifetime.asked,
			}
			a := b.propose(p)
			p.Lifetime = lifetime.given
			b.same(a, mcpcore.Approval{ID: a.ID, Proposal: p, Issued: a.Issued, Expires: a.Issued.Add(lifetime.given)})
			if string(a.Shown) != string(p.Shown) {
				b.Errorf("shows %s, want %s", a.Shown, p.Shown)
			}
			if a.ID == "" || ids[a.ID] {
				b.Errorf("the id %q is not new", a.ID)
			}
			ids[a.ID] = true
		}
	}
}

func (b *bench) reuse() {
	p := proposal(mcpcore.ForPerson, "a")
	shown := string(p.Shown)
	scribble := func(a *mcpcore.Approval) {
		for i := range a.Shown {
			a.Shown[i] = 'x'
		}
		if a.Decision != nil {
			a.Decision.By, a.Decision.Approve = "nobody", false
			for i := range a.Decision.Proof {
				a.Decision.Proof[i] = 'x'
			}
		}
	}
	given := mcpcore.Approval{Proposal: p}
	got := b.propose(p)
	scribble(&given)
	scribble(&got)
	for range 2 {
		for _, a := range b.waits(mcpcore.Filter{}, "a") {
			if string(a.Shown) != shown {
				b.Errorf("shows %s, want %s", a.Shown, shown)
			}
			scribble(&a)
		}
	}
	mine := yes
	mine.Proof = bytes.Clone(yes.Proof)
	b.answer(got, mine)
	scribble(&mcpcore.Approval{Decision: &mine})
	for range 2 {
		again := b.propose(proposal(mcpcore.ForPerson, "a"))
		b.said(again, yes)
		scribble(&again)
	}
	b.spends(spend(got))
}

func (b *bench) once() {
	for _, purpose := range held {
		first, second := b.propose(proposal(purpose, "a")), b.propose(proposal(purpose, "a"))
		if first.ID == second.ID {
			b.Errorf("%s: the same id twice", purpose)
		}
		b.spends(spend(first))
		b.refuses(spend(first), mcpcore.ErrApprovalSpent)
		b.spends(spend(second))
		b.refuses(spend(second), mcpcore.ErrApprovalSpent)
		b.decides(first.ID, yes, mcpcore.ErrApprovalMissing)
		b.decides(b.propose(proposal(purpose, "b")).ID, yes, mcpcore.ErrApprovalMissing)
	}
	a := b.propose(proposal(mcpcore.ForPerson, "a"))
	b.refuses(spend(a), mcpcore.ErrApprovalPending)
	b.answer(a, yes)
	b.spends(spend(a))
	b.refuses(spend(a), mcpcore.ErrApprovalSpent)
	b.refuses(mcpcore.Spend{ID: "no such id", Fingerprint: a.Fingerprint, Facts: a.Facts}, mcpcore.ErrApprovalMissing)
	b.refuses(mcpcore.Spend{}, mcpcore.ErrApprovalMissing)
	b.decides("no such id", yes, mcpcore.ErrApprovalMissing)
}

func (b *bench) misfit() {
	for _, purpose := range append(held, mcpcore.ForPerson) {
		a := b.propose(proposal(purpose, "a"))
		other, facts, none := spend(a), spend(a), spend(a)
		other.Fingerprint, facts.Facts, none.Facts = hash("b"), hash("b"), ""
		misfits := func() {
			b.Helper()
			b.refuses(other, mcpcore.ErrApprovalMismatch)
			b.refuses(facts, mcpcore.ErrFactsChanged)
			b.refuses(none, mcpcore.ErrFactsChanged)
		}
		misfits()
		if purpose == mcpcore.ForPerson {
			b.refuses(spend(a), mcpcore.ErrApprovalPending)
			b.answer(a, yes)
			misfits()
		}
		b.spends(spend(a))
	}
	refused := b.propose(proposal(mcpcore.ForPerson, "refused"))
	b.answer(refused, no)
	for range 2 {
		b.refuses(spend(refused), mcpcore.ErrApprovalRefused)
	}
}

func (b *bench) together() {
	one, two, person := b.propose(proposal(mcpcore.ForPayload, "a")), b.propose(proposal(mcpcore.ForConsent, "b")), b.propose(proposal(mcpcore.ForPerson, "c"))
	other := spend(two)
	other.Fingerprint = hash("x")
	gone := mcpcore.Spend{ID: "no such id"}
	b.refuses(other, mcpcore.ErrApprovalMismatch, spend(one), other)
	b.refuses(other, mcpcore.ErrApprovalMismatch, other, spend(one))
	b.refuses(gone, mcpcore.ErrApprovalMissing, spend(one), spend(two), gone)
	b.refuses(spend(person), mcpcore.ErrApprovalPending, spend(one), spend(two), spend(person))
	b.refuses(spend(one), mcpcore.ErrApprovalSpent, spend(one), spend(one))
	b.answer(person, yes)
	b.spends(spend(one), spend(two), spend(person))
	for _, a := range []mcpcore.Approval{one, two, person} {
		fresh := spend(b.propose(proposal(mcpcore.ForPayload, "fresh")))
		b.refuses(spend(a), mcpcore.ErrApprovalSpent, fresh, spend(a))
		b.spends(fresh)
	}
}

func (b *bench) ends() {
	const life = 2 * time.Minute
	issue := func(purpose mcpcore.Purpose, name string) mcpcore.Approval {
		p := proposal(purpose, name)
		p.Lifetime = life
		return b.propose(p)
	}
	spent, expired := issue(mcpcore.ForPayload, "spent"), issue(mcpcore.ForPayload, "expired")
	b.timed(expired)
	refused, ignored, unused := issue(mcpcore.ForPerson, "refused"), issue(mcpcore.ForPerson, "ignored"), issue(mcpcore.ForPerson, "unused")
	b.answer(refused, no)
	b.answer(unused, yes)
	b.spends(spend(spent))

	b.pass(life - 1)
	b.spends(spend(issue(mcpcore.ForPayload, "new")))
	b.refuses(spend(spent), mcpcore.ErrApprovalSpent)
	b.refuses(spend(ignored), mcpcore.ErrApprovalPending)
	b.waits(mcpcore.Filter{}, "ignored")
	ended := func() {
		b.Helper()
		b.refuses(spend(expired), mcpcore.ErrApprovalExpired)
		b.refuses(spend(ignored), mcpcore.ErrApprovalExpired)
		b.refuses(spend(unused), mcpcore.ErrApprovalExpired)
		b.refuses(spend(refused), mcpcore.ErrApprovalRefused)
		b.waits(mcpcore.Filter{})
	}
	b.pass(1)
	ended()
	b.propose(proposal(mcpcore.ForPayload, "another")) // a ledger may tidy up now
	ended()
	b.pass(life - 1)
	ended()
	b.pass(1)
	b.propose(proposal(mcpcore.ForPayload, "another"))
	for _, a := range []mcpcore.Approval{spent, expired, refused, ignored, unused} {
		b.refuses(spend(a), mcpcore.ErrApprovalMissing)
	}
	b.decides(ignored.ID, yes, mcpcore.ErrApprovalMissing)
}

func (b *bench) previews() {
	find := func(name string, want *mcpcore.Approval) {
		b.Helper()
		got, err := b.l.Preview(b.Context(), hash(name))
		switch {
		case want == nil && !is(err, mcpcore.ErrApprovalMissing):
			b.Errorf("Preview(%s): %v, %v", name, got, err)
		case want != nil && err != nil:
			b.Errorf("Preview(%s): %v", name, err)
		case want != nil:
			b.same(got, *want)
		}
	}
	find("a", nil)
	for _, purpose := range append(held, mcpcore.ForPerson) {
		b.propose(proposal(purpose, "a"))
	}
	find("a", nil)
	p := proposal(mcpcore.ForPreview, "a")
	p.Lifetime = 2 * time.Minute
	older := b.propose(p)
	find("a", &older)
	find("b", nil)
	p.Facts, p.Lifetime = hash("others"), time.Minute
	newest := b.propose(p)
	find("a", &newest)
	b.refuses(spend(newest), mcpcore.ErrApprovalMissing)
	b.decides(newest.ID, yes, mcpcore.ErrApprovalMissing)
	b.waits(mcpcore.Filter{}, "a") // that for a person
	find("a", &newest)

	b.timed(newest)
	b.pass(time.Minute)
	find("a", &older)
	b.pass(time.Minute)
	find("a", nil)
}

func (b *bench) person() {
	p := proposal(mcpcore.ForPerson, "a")
	a := b.propose(p)
	p.Shown = nil // of the fingerprint and the facts alone
	b.same(b.propose(p), a)
	b.waits(mcpcore.Filter{}, "a")
	b.answer(a, yes)
	decided := b.propose(p)
	if decided.ID != a.ID {
		b.Errorf("after the decision %s is asked for", decided.ID)
	}
	b.said(decided, yes)
	b.spends(spend(a))
	next := b.propose(p)
	if next.ID == a.ID || next.Decision != nil {
		b.Errorf("the spent approval was issued again: %+v", next)
	}
	b.answer(next, no)
	refused := b.propose(p)
	if refused.ID != next.ID {
		b.Errorf("after the refusal %s is asked for", refused.ID)
	}
	b.said(refused, no)
	b.refuses(spend(a), mcpcore.ErrApprovalSpent)

	b.timed(next)
	b.pass(mcpcore.DefaultLifetime)
	if last := b.propose(p); last.ID == next.ID || last.Decision != nil {
		b.Errorf("the expired approval was issued again: %+v", last)
	}
	b.refuses(spend(next), mcpcore.ErrApprovalRefused)
}

func (b *bench) otherFacts() {
	p := proposal(mcpcore.ForPerson, "a")
	undecided := b.propose(p)
	p.Facts = hash("others")
	next := b.propose(p)
	if next.ID == undecided.ID || next.Facts != p.Facts {
		b.Errorf("other facts are asked for with %+v", next)
	}
	b.refuses(spend(undecided), mcpcore.ErrApprovalMissing)
	b.decides(undecided.ID, yes, mcpcore.ErrApprovalMissing)
	b.waits(mcpcore.Filter{}, "a")

	b.answer(next, no)
	p.Facts = ""
	last := b.propose(p)
	b.refuses(spend(next), mcpcore.ErrApprovalMissing)

	b.answer(last, yes)
	p.Facts = hash("facts")
	if a, err := b.l.Propose(b.Context(), p); !is(err, mcpcore.ErrFactsChanged) {
		b.Errorf("Propose with other facts than a person approved: %+v, %v", a, err)
	}
	b.refuses(spend(last), mcpcore.ErrApprovalMissing)
	b.waits(mcpcore.Filter{})
	if fresh := b.propose(p); fresh.Decision != nil {
		b.Errorf("the next one is decided: %+v", fresh)
	}
	b.waits(mcpcore.Filter{}, "a")
}

func (b *bench) pending() {
	b.waits(mcpcore.Filter{})
	issued := map[mcpcore.Fingerprint]mcpcore.Approval{}
	put := func(name, tool, principal string, lifetime time.Duration) mcpcore.Approval {
		p := proposal(mcpcore.ForPerson, name)
		p.Tool, p.Principal, p.Lifetime = tool, principal, lifetime
		a := b.propose(p)
		issued[a.Fingerprint] = a
		return a
	}
	put("a", "close", "ada", 10*time.Minute)
	for _, purpose := range append(held, mcpcore.ForPreview) {
		b.propose(proposal(purpose, "x"))
	}
	put("b", "open", "ada", 2*time.Minute)
	c := put("c", "close", "grace", 0)
	put("d", "open", "grace", 10*time.Minute)
	put("a", "close", "ada", 0) // the same question once more
	for _, a := range b.waits(mcpcore.Filter{}, "a", "b", "c", "d") {
		if a.Fingerprint != hash("a") {
			b.same(a, issued[a.Fingerprint])
		}
	}
	b.waits(mcpcore.Filter{Tool: "close"}, "a", "c")
	b.waits(mcpcore.Filter{Principal: "grace"}, "c", "d")
	b.waits(mcpcore.Filter{Tool: "open", Principal: "ada"}, "b")
	b.waits(mcpcore.Filter{Tool: "clos"})
	b.answer(c, no)
	b.waits(mcpcore.Filter{}, "a", "b", "d")

	b.timed(c)
	b.pass(2 * time.Minute)
	b.waits(mcpcore.Filter{}, "a", "d")
}

// proof looks at all that a proof can be about: besides the decision, what the
// approval says and when it ends.
func (b *bench) proof() {
	for _, said := range []mcpcore.Decision{yes, no} {
		p := proposal(mcpcore.ForPerson, said.By)
		want := b.propose(p)
		b.answer(want, said)
		got := b.propose(p)
		b.said(got, said)
		want.Shown, got.Decision = nil, nil // erased; looked at
		b.same(got, want)
	}
}

func (b *bench) decide() {
	approved, refused := b.approved("a"), b.propose(proposal(mcpcore.ForPerson, "b"))
	b.answer(refused, no)
	b.decides(approved.ID, no, mcpcore.ErrApprovalDecided)
	b.decides(approved.ID, yes, mcpcore.ErrApprovalDecided)
	b.decides(refused.ID, yes, mcpcore.ErrApprovalDecided)
	b.refuses(spend(refused), mcpcore.ErrApprovalRefused)
	b.spends(spend(approved))
	b.decides(approved.ID, no, mcpcore.ErrApprovalSpent)
}

func (b *bench) late() {
	a := b.propose(proposal(mcpcore.ForPerson, "a"))
	b.timed(a)
	b.pass(mcpcore.DefaultLifetime)
	for range 2 {
		b.decides(a.ID, yes, mcpcore.ErrApprovalExpired)
	}
	b.refuses(spend(a), mcpcore.ErrApprovalExpired)
	b.pass(mcpcore.DefaultLifetime)
	b.decides(a.ID, yes, mcpcore.ErrApprovalMissing)
}

func (b *bench) shown() {
	p := proposal(mcpcore.ForPerson, "a")
	a := b.propose(p)
	for _, listed := range b.waits(mcpcore.Filter{}, "a") {
		if string(listed.Shown) != string(p.Shown) {
			b.Errorf("pending shows %s, want %s", listed.Shown, p.Shown)
		}
	}
	if again := b.propose(p); string(again.Shown) != string(p.Shown) {
		b.Errorf("asked again it shows %s, want %s", again.Shown, p.Shown)
	}
	b.answer(a, no)
	if again := b.propose(p); again.ID != a.ID || len(again.Shown) > 0 {
		b.Errorf("after the decision it still shows %s", again.Shown)
	}
}

// room fills a ledger. What was used makes room as well: otherwise it would
// drive out what is still needed.
func (b *bench) room() {
	var issued []mcpcore.Approval
	put := func(n int) {
		b.Helper()
		for range n {
			issued = append(issued, b.propose(proposal(mcpcore.ForPayload, "a")))
		}
	}
	other := b.approved("another purpose")
	put(mcpcore.MaxApprovals)
	b.spends(spend(issued[0]))
	for _, a := range issued[3:] {
		b.spends(spend(a))
	}
	b.refuses(spend(issued[0]), mcpcore.ErrApprovalSpent)
	put(2)
	b.refuses(spend(issued[0]), mcpcore.ErrApprovalMissing)
	b.refuses(spend(issued[1]), mcpcore.ErrApprovalMissing)
	b.spends(spend(issued[2]))
	b.refuses(spend(issued[3]), mcpcore.ErrApprovalSpent)
	b.spends(spend(issued[mcpcore.MaxApprovals]), spend(issued[mcpcore.MaxApprovals+1]))
	b.spends(spend(other))
}

const crowd = 200

// counted expects one call to succeed and all others to get the error.
func (b *bench) counted(got map[error]int, n int, others error) {
	b.Helper()
	if got[nil] != 1 || got[others] != n-1 {
		b.Errorf("%d of %d calls succeed and %d get %q: %v", got[nil], n, got[others], others, got)
	}
}

func (b *bench) concurrentSpends() {
	for _, a := range []mcpcore.Approval{b.propose(proposal(mcpcore.ForPayload, "a")), b.approved("a")} {
		b.counted(all(crowd, func(int) error { return b.l.Spend(b.Context(), spend(a)) }), crowd, mcpcore.ErrApprovalSpent)
	}
}

func (b *bench) concurrentPairs() {
	const pairs = 40
	for range 5 {
		both := []mcpcore.Spend{spend(b.propose(proposal(mcpcore.ForPayload, "a"))), spend(b.approved("b")), spend(b.propose(proposal(mcpcore.ForConsent, "c")))}
		b.counted(all(pairs, func(i int) error {
			mine := slices.Clone(both)
			if i%2 == 1 {
				slices.Reverse(mine)
			}
			return b.l.Spend(b.Context(), mine...)
		}), pairs, mcpcore.ErrApprovalSpent)
		for _, s := range both {
			b.refuses(s, mcpcore.ErrApprovalSpent)
		}
	}
}

func (b *bench) concurrentDecisions() {
	const people = 40
	for round := range 5 { // connections are open after the first
		p := proposal(mcpcore.ForPerson, strconv.Itoa(round))
		a := b.propose(p)
		var said [people]error
		b.counted(all(people, func(i int) error {
			said[i] = b.l.Decide(b.Context(), a.ID, mcpcore.Decision{By: string(rune('A' + i)), Approve: i%2 == 0})
			return said[i]
		}), people, mcpcore.ErrApprovalDecided)
		first := slices.Index(said[:], nil)
		if d := b.propose(p).Decision; d == nil || d.By != string(rune('A'+first)) || d.Approve != (first%2 == 0) {
			b.Errorf("the decision is %+v and the one that was taken is number %d", d, first)
		}
	}
}

func (b *bench) concurrentProposals() {
	const callers = 40
	for round := range 5 {
		p := proposal(mcpcore.ForPerson, "a")
		p.Tool += strconv.Itoa(round)
		p.Fingerprint = hash(p.Tool)
		var ids [callers]mcpcore.ApprovalID
		if got := all(callers, func(i int) error {
			a, err := b.l.Propose(b.Context(), p)
			ids[i] = a.ID
			return err
		}); got[nil] != callers {
			b.Fatalf("proposals were answered with %v", got)
		}
		list, err := b.l.Pending(b.Context(), mcpcore.Filter{Tool: p.Tool})
		if err != nil || len(list) != 1 || slices.ContainsFunc(ids[:], func(id mcpcore.ApprovalID) bool { return id != list[0].ID }) {
			b.Errorf("%d are pending (%v), and the callers got %v", len(list), err, ids)
		}
	}
}

// done calls with a context that is done. A call may work nonetheless; what it
// answers is what it did.
func (b *bench) done() {
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	finish := func(what string, call func() error) (err error) {
		b.Helper()
		answer := make(chan error, 1)
		go func() { answer <- call() }()
		select {
		case err := <-answer:
			for _, e := range known {
				if is(err, e) {
					b.Errorf("%s with a done context answers %v", what, err)
				}
			}
			return err
		case <-time.After(10 * time.Second):
			b.Fatalf("%s still waits after its context was done", what)
		}
		return nil
	}
	a := b.propose(proposal(mcpcore.ForPayload, "a"))
	b.propose(proposal(mcpcore.ForPreview, "a"))
	person := b.propose(proposal(mcpcore.ForPerson, "a"))

	if finish("Spend", func() error { return b.l.Spend(ctx, spend(a)) }) != nil {
		b.spends(spend(a))
	}
	b.refuses(spend(a), mcpcore.ErrApprovalSpent)
	if finish("Decide", func() error { return b.l.Decide(ctx, person.ID, yes) }) != nil {
		b.answer(person, yes)
	}
	b.decides(person.ID, no, mcpcore.ErrApprovalDecided)
	if finish("Propose", func() error { _, err := b.l.Propose(ctx, proposal(mcpcore.ForPerson, "b")); return err }) != nil {
		b.waits(mcpcore.Filter{})
	}
	_ = finish("Preview", func() error { _, err := b.l.Preview(ctx, hash("a")); return err })
	_ = finish("Pending", func() error { _, err := b.l.Pending(ctx, mcpcore.Filter{}); return err })
	b.spends(spend(person))
}

// stored looks for ids and for what a person is shown.
func (b *bench) stored() {
	s, ok := b.l.(Store)
	if !ok {
		b.Skip("the ledger is no Store, so that what it keeps is not looked at")
	}
	const canary = "canary-of-what-is-shown"
	secrets := map[string]string{"what a person is shown": canary}
	for _, purpose := range purposes {
		p := proposal(purpose, "a")
		p.Shown = json.RawMessage(`"` + canary + `"`)
		secrets["the id of a "+string(purpose)] = string(b.propose(p).ID)
	}
	kept := bytes.ToLower(s.Stored(b.T))
	if !bytes.Contains(kept, []byte(hash("a"))) {
		b.Fatal("the store does not hold the approvals' fingerprints, so that this is not all of it")
	}
	for what, secret := range secrets {
		for _, form := range []string{secret, hex.EncodeToString([]byte(secret))} {
			if bytes.Contains(kept, bytes.ToLower([]byte(form))) {
				b.Errorf("the store tells %s", what)
			}
		}
	}
}
