// Package audittest is the contract of [mcpcore.AuditSink] as a test. Run it on
// your own sink:
//
//	func TestSink(t *testing.T) {
//		audittest.Run(t, func(t *testing.T) mcpcore.AuditSink { return newSink(t) })
//	}
package audittest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Reader is what a sink under test may have, so that what it kept is looked at.
type Reader interface {
	// Events is every event that is kept, oldest first. It fails the test on
	// anything that is not a whole event.
	Events(t *testing.T) []mcpcore.AuditEvent
}

// Breaker is what a sink under test may have, so that its failures are looked
// at.
type Breaker interface {
	Break(t *testing.T)  // from now on nothing can be kept
	Repair(t *testing.T) // it can again
}

// Run checks the contract on sinks that open makes, a fresh one for each part.
// A sink that is a [Reader] or a [Breaker] as well is checked more closely.
func Run(t *testing.T, open func(t *testing.T) mcpcore.AuditSink) {
	t.Helper()
	t.Run("an intent and its outcome", func(t *testing.T) { pair(t, open(t)) })
	t.Run("concurrent records stay whole", func(t *testing.T) { concurrent(t, open(t)) })
	t.Run("the caller may reuse the arguments", func(t *testing.T) { reused(t, open(t)) })
	t.Run("a done context is not waited on", func(t *testing.T) { done(t, open(t)) })
	t.Run("a broken sink says so and recovers", func(t *testing.T) { broken(t, open(t)) })
}

// awkward is an argument with everything that encoders like to change.
const awkward = `{"content":"<@1> a && b <https://x.example/?a=1&b=2>\nline ü","id":"720000000000000001"}`

func event(phase mcpcore.Phase, id string) mcpcore.AuditEvent {
	e := mcpcore.AuditEvent{
		Phase: phase, Time: time.Date(2031, 5, 1, 18, 0, 0, 0, time.UTC), RequestID: id, Principal: "stdio",
		Tool: "ticket_close", Category: "tickets", Effect: "write", Args: json.RawMessage(awkward), Transport: "stdio",
	}
	if phase == mcpcore.Outcome {
		e.Status, e.DurationMS = "success", 1.5
	}
	return e
}

func record(t *testing.T, s mcpcore.AuditSink, e mcpcore.AuditEvent) {
	t.Helper()
	if err := s.Record(t.Context(), e); err != nil {
		t.Fatalf("Record(%s of %s): %v", e.Phase, e.RequestID, err)
	}
}

func pair(t *testing.T, s mcpcore.AuditSink) {
	record(t, s, event(mcpcore.Intent, "r1"))
	record(t, s, event(mcpcore.Outcome, "r1"))
	r, ok := s.(Reader)
	if !ok {
		return
	}
	kept := r.Events(t)
	if len(kept) == 0 || kept[len(kept)-1].Phase != mcpcore.Outcome {
		t.Fatalf("kept %v, want an outcome last", phases(kept))
	}
	for i, e := range kept {
		if string(e.Args) != awkward {
			t.Errorf("event %d has the arguments %s, want %s", i, e.Args, awkward)
		}
		if e.RequestID != "r1" || e.Tool != "ticket_close" || e.Principal != "stdio" {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	if outcome := kept[len(kept)-1]; outcome.Status != "success" || outcome.DurationMS != 1.5 {
		t.Errorf("the outcome is %+v", outcome)
	}
}

func concurrent(t *testing.T, s mcpcore.AuditSink) {
	const callers, each = 8, 25
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				id := fmt.Sprintf("r%d-%d", c, i)
				for _, phase := range []mcpcore.Phase{mcpcore.Intent, mcpcore.Outcome} {
					if err := s.Record(t.Context(), event(phase, id)); err != nil {
						t.Errorf("Record(%s of %s): %v", phase, id, err)
					}
				}
			}
		})
	}
	wg.Wait()
	r, ok := s.(Reader)
	if !ok {
		return
	}
	outcomes := map[string]int{}
	for _, e := range r.Events(t) {
		if e.Phase == mcpcore.Outcome {
			outcomes[e.RequestID]++
		} else if outcomes[e.RequestID] > 0 {
			t.Errorf("the intent of %s stands behind its outcome", e.RequestID)
		}
	}
	if len(outcomes) != callers*each {
		t.Errorf("kept the outcomes of %d calls, want %d", len(outcomes), callers*each)
	}
	for id, n := range outcomes {
		if n != 1 {
			t.Errorf("kept %d outcomes of %s", n, id)
		}
	}
}

func reused(t *testing.T, s mcpcore.AuditSink) {
	e := event(mcpcore.Outcome, "r1")
	record(t, s, e)
	for i := range e.Args {
		e.Args[i] = 'x'
	}
	if r, ok := s.(Reader); ok {
		for _, kept := range r.Events(t) {
			if string(kept.Args) != awkward {
				t.Errorf("kept %s after the caller reused its buffer", kept.Args)
			}
		}
	}
}

func done(t *testing.T, s mcpcore.AuditSink) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		_ = s.Record(ctx, event(mcpcore.Intent, "r1")) // either answer will do
	}()
	select {
	case <-returned:
	case <-time.After(10 * time.Second):
		t.Fatal("Record still waits after its context was done")
	}
}

func broken(t *testing.T, s mcpcore.AuditSink) {
	b, breaks := s.(Breaker)
	r, reads := s.(Reader)
	if !breaks || !reads {
		return
	}
	record(t, s, event(mcpcore.Intent, "r1"))
	keepsIntents := len(r.Events(t)) > 0
	b.Break(t)
	if err := s.Record(t.Context(), event(mcpcore.Intent, "r2")); keepsIntents && err == nil {
		t.Error("an intent that was not kept was not refused")
	}
	if err := s.Record(t.Context(), event(mcpcore.Outcome, "r3")); err == nil {
		t.Error("an outcome that was not kept was not told")
	}
	b.Repair(t)
	record(t, s, event(mcpcore.Outcome, "r4"))
	kept := r.Events(t)
	if len(kept) == 0 || kept[len(kept)-1].RequestID != "r4" {
		t.Errorf("kept %v after the repair, want r4 last", ids(kept))
	}
	for _, e := range kept {
		if e.RequestID == "r2" && keepsIntents || e.RequestID == "r3" {
			t.Errorf("kept %s, which Record said it did not", e.RequestID)
		}
	}
}

func phases(events []mcpcore.AuditEvent) (all []mcpcore.Phase) {
	for _, e := range events {
		all = append(all, e.Phase)
	}
	return all
}

func ids(events []mcpcore.AuditEvent) (all []string) {
	for _, e := range events {
		all = append(all, e.RequestID)
	}
	return all
}
