package discordtools

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// health is what a call shows of Discord's state.
type health int

const (
	healthUnclear health = iota // nothing: never sent, given up by the caller, rate limited
	healthGood                  // Discord answered, be it a refusal
	healthBad                   // no answer, a broken one, or 5xx
)

func (f *failure) health() health {
	switch {
	case f.kind == failOpen || f.kind == failUnsent:
		return healthBad
	case f.answered:
		return healthGood
	}
	return healthUnclear
}

// breaker is failsafe-go's state machine with what that lacks: a call that shows
// nothing gives its place back, and a call counts only in the state in which it
// began. A nil breaker lets everything pass. It is safe for concurrent use.
type breaker struct {
	failures int
	log      *slog.Logger
	changes  metric.Int64Counter

	mu      sync.Mutex
	circuit circuitbreaker.CircuitBreaker[any]
	state   circuitbreaker.State
	era     int  // grows with each change of state
	vacant  bool // the probe showed nothing; the next call takes its place
}

// probeSoon is when to come back while a probe is under way.
const probeSoon = time.Second

func newBreaker(failures int, halfOpenAfter time.Duration, log *slog.Logger, meter metric.Meter) *breaker {
	b := &breaker{failures: failures, log: log}
	b.changes, _ = meter.Int64Counter("mcp.circuit.transitions", metric.WithUnit("1"), metric.WithDescription("changes of the circuit breaker's state"))
	b.circuit = circuitbreaker.NewBuilder[any]().
		WithFailureThreshold(uint(failures)).
		WithDelay(halfOpenAfter).
		WithSuccessThreshold(1). // without it there are as many probes as failures
		Build()
	return b
}

// enter admits a call, to be left with the seat that it gives, or is CIRCUIT_OPEN.
func (b *breaker) enter(ctx context.Context, p *restCall) (seat int, err error) {
	if b == nil {
		return 0, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.vacant {
		b.vacant = false
		return b.era, nil
	}
	if b.circuit.TryAcquirePermit() {
		b.observe(ctx)
		return b.era, nil
	}
	wait := b.circuit.RemainingDelay()
	if wait <= 0 {
		wait = probeSoon
	}
	return 0, mcpcore.Errorf(mcpcore.CodeCircuitOpen, "Discord failed %d times in a row; %s was not sent", b.failures, p).
		With("retry_after_ms", milliseconds(wait))
}

// leave tells what a call showed.
func (b *breaker) leave(ctx context.Context, seat int, shown health) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if seat != b.era {
		return
	}
	switch shown {
	case healthGood:
		b.circuit.RecordSuccess()
	case healthBad:
		b.circuit.RecordFailure()
	default:
		b.vacant = b.state == circuitbreaker.HalfOpenState
	}
	b.observe(ctx)
}

// observe reports a change of state. b is locked.
func (b *breaker) observe(ctx context.Context) {
	now := b.circuit.State()
	if now == b.state {
		return
	}
	b.state = now
	b.era++
	b.changes.Add(ctx, 1, metric.WithAttributes(attribute.String("to_state", now.String())))
	switch now {
	case circuitbreaker.OpenState:
		b.log.ErrorContext(ctx, "circuit_breaker_open", "half_open_after", b.circuit.RemainingDelay())
	case circuitbreaker.HalfOpenState:
		b.log.InfoContext(ctx, "circuit_breaker_half_open")
	default:
		b.log.InfoContext(ctx, "circuit_breaker_reset")
	}
}
