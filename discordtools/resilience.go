package discordtools

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/bulkhead"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Resilience says how a [Client] meets a Discord that is slow, failing or gone.
// Outermost first: the bulkhead bounds the calls under way, the breaker stops
// calling what keeps failing, the retry sends again what may be sent again, the
// timeout ends each try. The zero value is every layer with the values named
// below. Negative values are errors.
//
// After an open outcome (5xx, a broken connection, a timeout) only reads and
// Repeatable PUT and DELETE are sent again. What Discord refused with 429, or
// never received, was not carried out and is sent again whatever its method.
type Resilience struct {
	// InFlight is how many calls may be under way at once, waiting ones
	// included. The next one is BULKHEAD_FULL at once. 0: 100.
	InFlight int

	// Failures is how many calls in a row must end in a server failure, their
	// retries spent, for the breaker to open: CIRCUIT_OPEN without a request.
	// Rate limits and refusals such as 400 and 403 are none. 0: 10.
	Failures int
	// HalfOpenAfter is how long the breaker stays open. One call then goes
	// through and decides. 0: one minute.
	HalfOpenAfter time.Duration
	NoBreaker     bool

	// Retries is how often a call is sent again at most. 0: 3.
	Retries int
	// BaseDelay is the wait before the first retry; it doubles with each. A
	// wait that Discord names takes its place. 0: 200 ms.
	BaseDelay time.Duration
	// MaxDelay caps the wait. What Discord wants to wait longer is not sent
	// again. 0: ten seconds.
	MaxDelay time.Duration
	Jitter   Jitter // "": [JitterFull]
	NoRetry  bool

	// Timeout ends a try, from the moment it may go under the rate limits to
	// the end of its answer. 0: 30 seconds.
	Timeout time.Duration
}

// Jitter spreads the waits between tries, so that callers that failed together
// do not come back together.
type Jitter string

// The kinds of [Jitter].
const (
	JitterNone         Jitter = "none"         // the doubling wait itself
	JitterFull         Jitter = "full"         // anything up to it
	JitterDecorrelated Jitter = "decorrelated" // between BaseDelay and three times the wait before
)

func (r Resilience) withDefaults() (Resilience, error) {
	if min(r.InFlight, r.Failures, r.Retries) < 0 || min(r.HalfOpenAfter, r.BaseDelay, r.MaxDelay, r.Timeout) < 0 {
		return r, errors.New("Resilience has no negative values")
	}
	switch r.Jitter = cmp.Or(r.Jitter, JitterFull); r.Jitter {
	case JitterNone, JitterFull, JitterDecorrelated:
	default:
		return r, errors.New("Jitter is none, full or decorrelated")
	}
	r.InFlight = cmp.Or(r.InFlight, 100)
	r.Failures = cmp.Or(r.Failures, 10)
	r.HalfOpenAfter = cmp.Or(r.HalfOpenAfter, time.Minute)
	r.Retries = cmp.Or(r.Retries, 3)
	r.BaseDelay = cmp.Or(r.BaseDelay, 200*time.Millisecond)
	r.MaxDelay = cmp.Or(r.MaxDelay, 10*time.Second)
	r.Timeout = cmp.Or(r.Timeout, 30*time.Second)
	if r.NoRetry {
		r.Retries = 0
	}
	return r, nil
}

// backOff is the wait before a retry, of which the first is number 1. before is
// the wait before the previous one, chance is in [0, 1).
func (r *Resilience) backOff(retry int, before time.Duration, chance float64) time.Duration {
	wait := r.MaxDelay
	if shift := retry - 1; shift < 32 && r.BaseDelay < r.MaxDelay>>shift {
		wait = r.BaseDelay << shift
	}
	low, high := wait, wait
	switch r.Jitter {
	case JitterFull:
		low = 0
	case JitterDecorrelated:
		low = min(r.BaseDelay, r.MaxDelay)
		high = min(max(3*before, low), r.MaxDelay)
	}
	return low + time.Duration(chance*float64(high-low))
}

// layers are the bulkhead and the breaker of a client, and what is reported of
// its calls.
type layers struct {
	Resilience
	bulkhead bulkhead.Bulkhead[any]
	breaker  *breaker // nil when there is none
	full     atomic.Bool

	log            *slog.Logger
	rejected, dead metric.Int64Counter
}

func newLayers(r Resilience, log *slog.Logger, meters metric.MeterProvider) (*layers, error) {
	r, err := r.withDefaults()
	if err != nil {
		return nil, err
	}
	if meters == nil {
		meters = otel.GetMeterProvider()
	}
	meter := meters.Meter("github.com/guildwarden/guildwarden")
	// The errors of instrument creation are about malformed names, and a nil
	// instrument is never returned.
	rejected, _ := meter.Int64Counter("mcp.bulkhead.rejected.count", metric.WithUnit("1"), metric.WithDescription("calls of Discord beyond the limit of calls under way"))
	dead, _ := meter.Int64Counter("mcp.deadletter.count", metric.WithUnit("1"), metric.WithDescription("calls of Discord that were given up without an answer that stands"))
	l := &layers{Resilience: r, bulkhead: bulkhead.New[any](uint(r.InFlight)), log: log, rejected: rejected, dead: dead}
	if !r.NoBreaker {
		l.breaker = newBreaker(r.Failures, r.HalfOpenAfter, log, meter)
	}
	return l, nil
}

// Do implements [REST].
//
// The bulkhead and the breaker are failsafe-go's; they are entered and left by
// hand, because its executor keeps their permits when a transport panics. The
// loop of tries and their timeout are our own: failsafe-go's overwrite an answer
// that came together with the end of a context, and so forget whether a write
// happened.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	p, bad := c.prepare(r)
	if bad != nil {
		return nil, bad
	}
	if err := c.layers.enter(ctx, p); err != nil {
		return nil, err
	}
	defer c.layers.bulkhead.ReleasePermit()
	seat, err := c.layers.breaker.enter(ctx, p)
	if err != nil {
		return nil, err
	}
	shown := healthUnclear
	defer func() { c.layers.breaker.leave(ctx, seat, shown) }()

	res, f, shown := c.tries(ctx, p)
	if f == nil {
		return res, nil
	}
	c.layers.bury(ctx, p, f)
	return nil, p.scrub(f.err)
}

// enter takes a place in the bulkhead.
func (l *layers) enter(ctx context.Context, p *restCall) error {
	if l.bulkhead.TryAcquirePermit() {
		if l.full.Load() {
			l.full.Store(false)
		}
		return nil
	}
	l.rejected.Add(ctx, 1)
	if !l.full.Swap(true) { // once until a call finds a place again
		l.log.WarnContext(ctx, "bulkhead_rejected", "limit", l.InFlight)
	}
	return mcpcore.Errorf(mcpcore.CodeBulkheadFull, "%d calls to Discord are under way, the most at once; %s was not sent", l.InFlight, p)
}

// bury reports a call that was given up: Discord gave no answer that stands.
func (l *layers) bury(ctx context.Context, p *restCall, f *failure) {
	if f.kind == failFinal && f.err.Code != mcpcore.CodeOutcomeUnknown {
		return
	}
	l.dead.Add(ctx, 1, metric.WithAttributes(attribute.String("error.type", string(f.err.Code))))
	l.log.WarnContext(ctx, "dead_letter", "method", p.method, "route", p.route, "error_type", f.err.Code)
}

// tries sends a call until it has an answer that stands or may not be sent
// again. It also tells what the call showed of Discord's health.
func (c *Client) tries(ctx context.Context, p *restCall) (*Response, *failure, health) {
	var (
		open   *mcpcore.Error // an earlier try that may have been carried out
		shown  = healthUnclear
		before time.Duration
	)
	for try := 1; ; try++ {
		start := time.Now()
		res, f := c.once(ctx, p)
		c.note(ctx, p, try, time.Since(start), res, f)
		if f == nil {
			return res, nil, healthGood
		}
		if h := f.health(); h != healthUnclear {
			shown = h
		}
		switch {
		case f.kind == failOpen:
			open = f.err
		case !p.read() && open != nil:
			f = f.after(open)
		}
		if try > c.layers.Retries || !f.again(p) {
			return nil, f, shown
		}
		before = c.layers.backOff(try, before, rand.Float64())
		wait := before
		if f.kind == failRefused || f.wait > 0 {
			wait = f.wait
		}
		if !waitFits(ctx, wait, min(c.layers.MaxDelay, c.limits.maxWait)) {
			return nil, f, shown
		}
		if f.kind == failRefused {
			continue // once waits it out
		}
		if err := waitFor(ctx, wait, nil); err != nil {
			if !p.read() && open != nil {
				err = f.err
			}
			return nil, &failure{err: err}, shown
		}
	}
}
