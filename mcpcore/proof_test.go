package mcpcore_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
	memory "github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// proving is a server whose one approver is ann, and all that somebody has who
// can write its ledger.
type proving struct {
	*client
	t         *testing.T
	d         *desk
	s         *sink
	l         *ledger
	log       *lockedBuffer
	approvers console.Approvers
	token     string // ann's
}

func prove(t *testing.T) *proving {
	t.Helper()
	token, setting, err := console.NewApprover("ann")
	if err != nil {
		t.Fatal(err)
	}
	approvers, err := console.ParseApprovers(setting)
	if err != nil {
		t.Fatal(err)
	}
	p := &proving{t: t, d: &desk{}, s: &sink{}, l: newLedger(), log: &lockedBuffer{}, approvers: approvers, token: token}
	deps := personDeps(p.d, mcpcore.InLedger{Check: approvers.Check})
	deps.Ledger, deps.Audit, deps.Logger = p.l, p.s, logTo(p.log)
	p.client = connect(t, deps)
	return p
}

// asks sends the call and gives what waits for a person then.
func (p *proving) asks(args string) mcpcore.Approval {
	p.t.Helper()
	a := p.refused(p.t, "ticket_update", args, mcpcore.CodeHumanPending)
	waiting, err := p.l.Pending(p.t.Context(), mcpcore.Filter{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, w := range waiting {
		if string(w.ID) == a.data["approval_id"] {
			return w
		}
	}
	p.t.Fatalf("%v does not wait", a.data)
	return mcpcore.Approval{}
}

func (p *proving) signs(a mcpcore.Approval, approve bool, reason string) mcpcore.Decision {
	p.t.Helper()
	d, ok := p.approvers.Sign(p.token, a, approve, reason)
	if !ok {
		p.t.Fatal("it is not signed")
	}
	return d
}

func (p *proving) writes(a mcpcore.Approval, d mcpcore.Decision) {
	p.t.Helper()
	if err := p.l.Decide(p.t.Context(), a.ID, d); err != nil {
		p.t.Fatal(err)
	}
}

func TestADecisionWithProof(t *testing.T) {
	t.Parallel()
	p := prove(t)
	a := p.asks(goodUpdate)
	p.writes(a, p.signs(a, true, "fine"))
	p.passed(t, "ticket_update", goodUpdate)
	if e := p.s.events[len(p.s.events)-1]; e.ApprovedBy != "ann" || e.Phase != mcpcore.Outcome {
		t.Errorf("recorded %+v", e)
	}
	a = p.asks(goodUpdate) // the next one needs a decision of its own
	p.writes(a, p.signs(a, false, "not today"))
	if r := p.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanRefused); r.data["refused_by"] != "ann" || r.data["reason"] != "not today" {
		t.Errorf("refused with %v", r.data)
	}
	if len(p.d.runs()) != 1 {
		t.Errorf("ran %v", p.d.runs())
	}
	if strings.Contains(p.log.String(), "proof") {
		t.Errorf("logged %s", p.log)
	}
}

func TestADecisionWithoutProofIsNobodys(t *testing.T) {
	t.Parallel()
	other := strings.Replace(goodUpdate, "Fire", "Flood", 1)
	for name, forge := range map[string]func(*proving, mcpcore.Approval) mcpcore.Decision{
		"a yes": func(*proving, mcpcore.Approval) mcpcore.Decision {
			return mcpcore.Decision{By: "ann", Approve: true, Reason: "canary-reason"}
		},
		"a no": func(*proving, mcpcore.Approval) mcpcore.Decision {
			return mcpcore.Decision{By: "canary-ann", Reason: "canary-reason"}
		},
		"a copied yes": func(p *proving, _ mcpcore.Approval) mcpcore.Decision { return p.signs(p.asks(other), true, "") },
		"a copied no": func(p *proving, _ mcpcore.Approval) mcpcore.Decision {
			return p.signs(p.asks(other), false, "canary-reason")
		},
		"a no turned into a yes": func(p *proving, a mcpcore.Approval) mcpcore.Decision {
			d := p.signs(a, false, "")
			d.Approve = true
			return d
		},
		"another reason": func(p *proving, a mcpcore.Approval) mcpcore.Decision {
			d := p.signs(a, true, "fine")
			d.Reason = "canary-reason"
			return d
		},
		"another name": func(p *proving, a mcpcore.Approval) mcpcore.Decision {
			d := p.signs(a, true, "fine")
			d.By = "canary-bob"
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := prove(t)
			a := p.asks(goodUpdate)
			p.writes(a, forge(p, a))
			for range 2 {
				r := p.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanRequired)
				if r.data["approval_id"] != string(a.ID) || r.data["approval_expires_at"] != "2031-05-01T18:15:00Z" || strings.Contains(r.everything(), "canary") {
					t.Errorf("it answers %s", r.everything())
				}
			}
			if got := p.log.String(); strings.Count(got, `"level":"ERROR"`) != 2 || strings.Count(got, `"decision without proof"`) != 2 || strings.Contains(got, "canary") {
				t.Errorf("logged %s", got)
			}
			if p.l.spends != 0 || p.d.runs() != nil {
				t.Errorf("spent %d times, ran %v", p.l.spends, p.d.runs())
			}
			for _, e := range p.s.events {
				if e.ApprovedBy != "" {
					t.Errorf("recorded %+v", e)
				}
			}
			p.l.pass(16 * time.Minute)
			a = p.asks(goodUpdate) // a person is asked again, and can let it act
			p.writes(a, p.signs(a, true, ""))
			p.passed(t, "ticket_update", goodUpdate)
		})
	}
}

// swapped is a ledger that answers what it is told to.
type swapped struct {
	*ledger
	answer *mcpcore.Approval
}

func (s *swapped) Propose(ctx context.Context, p mcpcore.Proposal) (mcpcore.Approval, error) {
	if s.answer != nil {
		return *s.answer, nil
	}
	return s.ledger.Propose(ctx, p)
}

func (s *swapped) Spend(context.Context, ...mcpcore.Spend) error { return nil }

// A ledger that is somebody else's cannot pass a decision about one call off as
// one about another: what a call is, it says itself. These two look the same to a
// person, since what tells them apart is cut off.
func TestALedgerDoesNotSayWhatACallIs(t *testing.T) {
	t.Parallel()
	p := prove(t)
	l := &swapped{ledger: p.l}
	deps := personDeps(p.d, mcpcore.InLedger{Check: p.approvers.Check})
	deps.Ledger = l
	c := connect(t, deps)
	long := strings.Repeat("a", 5000)
	this, other := strings.Replace(goodUpdate, "Fire", long+"x", 1), strings.Replace(goodUpdate, "Fire", long+"y", 1)
	a := p.asks(this)
	if b := p.asks(other); string(a.Shown) != string(b.Shown) || a.Fingerprint == b.Fingerprint {
		t.Fatalf("a person reads\n%s\nand\n%s", a.Shown, b.Shown)
	}
	d := p.signs(a, true, "")
	p.writes(a, d)
	a.Decision, l.answer = &d, &a
	c.refused(t, "ticket_update", other, mcpcore.CodeHumanRequired)
	if p.d.runs() != nil {
		t.Errorf("ran %v", p.d.runs())
	}
	c.passed(t, "ticket_update", this)
}

// Who writes the ledger can have a person read what they like. Their yes is then
// one to what they read.
func TestAYesIsToWhatWasShown(t *testing.T) {
	t.Parallel()
	p := prove(t)
	planted := p.asks(goodUpdate).Proposal
	p.l.pass(16 * time.Minute)
	planted.Shown = json.RawMessage(`"List tickets? (tickets_list, asked by \"stdio\")"`)
	if _, err := p.l.Memory.Propose(t.Context(), planted); err != nil {
		t.Fatal(err)
	}
	a := p.asks(goodUpdate)
	if string(a.Shown) != string(planted.Shown) {
		t.Fatalf("it shows %s", a.Shown)
	}
	p.writes(a, p.signs(a, true, ""))
	p.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanRequired)
	if p.d.runs() != nil {
		t.Errorf("ran %v", p.d.runs())
	}
}

// A call that waits stops at a decision that is nobody's.
func TestAWaitEndsWithAForgedDecision(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, l := &desk{}, memory.NewMemory(nil)
		deps := personDeps(d, mcpcore.InLedger{Wait: time.Minute, Check: console.Approvers{}.Check})
		deps.Ledger = l
		c := connect(t, deps)
		later := time.AfterFunc(3*time.Second, func() {
			if waiting, _ := l.Pending(context.Background(), mcpcore.Filter{}); len(waiting) == 1 {
				_ = l.Decide(context.Background(), waiting[0].ID, mcpcore.Decision{By: "ann", Approve: true})
			}
		})
		defer later.Stop()
		began := time.Now()
		c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanRequired)
		if took := time.Since(began); took > 4*time.Second || d.runs() != nil {
			t.Errorf("it waited %s and ran %v", took, d.runs())
		}
		_ = c.Close()
	})
}
