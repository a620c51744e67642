package discordtools

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	maxSideBySide = 64                     // calls in flight in one bucket
	probeStall    = 2 * time.Second        // a probe without an answer for so long lets another one go
	windowSlack   = 250 * time.Millisecond // two answers whose resets lie closer speak of the same window
	openFor       = time.Second            // how long an answer without limits lets others go without a probe
	globalPace    = 20 * time.Millisecond  // between calls that waited for a global stop: 50 a second
	hostPoll      = 2 * time.Millisecond   // first pause when the host bot holds the bucket
	hostPollMax   = 32 * time.Millisecond
	maxBlocks     = 512 // refused routes remembered before expired ones are swept
)

// Discord's rate-limit headers, as net/http writes their names.
//
// Source: https://docs.discord.com/developers/topics/rate-limits#header-format.
const (
	headerRemaining  = "X-Ratelimit-Remaining"
	headerResetAfter = "X-Ratelimit-Reset-After"
	headerScope      = "X-Ratelimit-Scope"
	headerBucket     = "X-Ratelimit-Bucket"
	headerGlobal     = "X-Ratelimit-Global"
)

// rateLimits admits calls to Discord under its rate limits. The windows live in
// discordgo's buckets, which the host bot uses as well; a bucket is locked to
// count and never held through a request. What is kept here beside them is a
// lane for each bucket with calls under way, and a note for each route that
// Discord refused with a wait.
//
// While a bucket's window is unknown or over, one call goes alone: the probe.
// Its answer tells the window, and calls then run side by side up to what is
// left of it. It is safe for concurrent use.
type rateLimits struct {
	shared  *discordgo.RateLimiter
	maxWait time.Duration

	mu      sync.Mutex
	lanes   map[string]*lane
	blocks  map[string]routeBlock // by method and bucket key
	stops   int                   // how many global stops there were
	slot    time.Time             // the next moment at which a call may pass after a global stop
	banned  time.Time             // no call before, the edge has blocked this address
	globals discordgo.Bucket      // never locked: a place to ask the shared limiter for its global wait
}

// routeBlock is a wait that Discord asked for one method on one bucket. It is not
// written into the shared bucket because it may stand for a limit that the
// bucket does not count, such as the one for renaming a channel.
type routeBlock struct {
	until time.Time
	scope string
}

// lane is a bucket with calls that wait or are in flight.
type lane struct {
	users int // guarded by limits.mu

	mu       sync.Mutex
	inFlight int
	probe    time.Time     // when the probe left; zero without one
	open     time.Time     // until then no probe is needed: answers carry no limits
	noted    int           // what we last left in the bucket; another value is the host bot's
	changed  chan struct{} // closed when a call has come back
}

// lanePermit is the right to send one request. leave gives it back.
type lanePermit struct {
	limits *rateLimits
	lane   *lane
	bucket *discordgo.Bucket
	key    string
	probe  bool
	left   bool
}

func newRateLimits(shared *discordgo.RateLimiter, maxWait time.Duration) *rateLimits {
	return &rateLimits{shared: shared, maxWait: maxWait, lanes: map[string]*lane{}, blocks: map[string]routeBlock{}}
}

// admit waits until one request may go. It returns an error at once when the
// wait is known and longer than ctx or the client allows; nothing was sent then.
func (l *rateLimits) admit(ctx context.Context, method, key string) (*lanePermit, *mcpcore.Error) {
	bucket := l.shared.GetBucket(key)
	ln := l.enter(key)
	poll, passed := hostPoll, 0
	for {
		var (
			admitted, probe bool
			turn            laneTurn
			scope           string
		)
		err := l.ban()
		if err == nil {
			turn.wait, scope = l.gate(method, key, &passed, func(wait time.Duration) bool { return waitFits(ctx, wait, l.maxWait) })
			if turn.wait <= 0 {
				scope = "user"
				admitted, probe, turn = ln.take(l.shared, bucket)
			}
		}
		switch {
		case err != nil:
		case admitted:
			return &lanePermit{limits: l, lane: ln, bucket: bucket, key: key, probe: probe}, nil
		case turn.host:
			err = waitFor(ctx, poll, nil)
			poll = min(2*poll, hostPollMax)
		case turn.wait > 0 && !turn.estimate && !waitFits(ctx, turn.wait, l.maxWait):
			err = unsent(rateLimited(turn.wait, scope))
		default:
			err = waitFor(ctx, turn.wait, turn.changed)
		}
		if err != nil {
			l.exit(key, ln)
			return nil, err
		}
	}
}

// laneTurn says what a call that was not admitted waits for.
type laneTurn struct {
	wait     time.Duration   // 0: until changed
	changed  <-chan struct{} // a call came back, nil when that does not matter
	estimate bool            // wait is only a time to look again
	host     bool            // the host bot holds the bucket
}

// take counts one call if the bucket has room for it.
func (ln *lane) take(shared *discordgo.RateLimiter, bucket *discordgo.Bucket) (admitted, probe bool, t laneTurn) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	now := time.Now()
	if ln.inFlight >= maxSideBySide {
		return false, false, laneTurn{changed: ln.changed}
	}
	if stall := ln.probe.Add(probeStall).Sub(now); !ln.probe.IsZero() && stall > 0 {
		return false, false, laneTurn{wait: stall, changed: ln.changed, estimate: true}
	}
	if !bucket.TryLock() {
		return false, false, laneTurn{host: true}
	}
	defer bucket.Unlock()
	ln.recount(bucket)
	window := shared.GetWaitTime(bucket, math.MaxInt)
	switch {
	case window <= 0 && now.Before(ln.open):
	case window <= 0:
		probe, ln.probe = true, now
	case bucket.Remaining < 1:
		return false, false, laneTurn{wait: window, changed: ln.changed}
	}
	bucket.Remaining--
	ln.noted = bucket.Remaining
	ln.inFlight++
	return true, probe, laneTurn{}
}

// recount corrects a count that the host bot's answer has set: it may not know
// of our calls in flight. The bucket is locked.
func (ln *lane) recount(bucket *discordgo.Bucket) {
	if bucket.Remaining != ln.noted {
		bucket.Remaining -= ln.inFlight
		ln.noted = bucket.Remaining
	}
}

// leave ends a call. header is the answer's, nil when none came; ok says that
// Discord carried the call out. A second leave does nothing.
func (p *lanePermit) leave(header http.Header, ok bool) {
	if p.left {
		return
	}
	p.left = true
	ln := p.lane
	ln.mu.Lock()
	ln.inFlight--
	if p.probe {
		ln.probe = time.Time{}
	}
	remaining, after, counted := limitWindow(header)
	switch {
	case counted:
		ln.open = time.Time{}
	case ok:
		ln.open = time.Now().Add(openFor)
	}
	// A bucket that the host bot holds is left to it: its own answer brings a
	// newer count than ours.
	if p.bucket.TryLock() {
		p.settle(remaining, after, counted)
	}
	close(ln.changed)
	ln.changed = make(chan struct{})
	ln.mu.Unlock()
	p.limits.exit(p.key, ln)
}

// settle writes what an answer told into the locked bucket and unlocks it.
func (p *lanePermit) settle(remaining int, after time.Duration, counted bool) {
	ln, shared := p.lane, p.limits.shared
	ln.recount(p.bucket)
	corrected := http.Header{}
	if counted {
		known := shared.GetWaitTime(p.bucket, math.MaxInt)
		if p.limits.globalWait() > 0 {
			known = 0 // what GetWaitTime told may be the global wait
		}
		switch {
		case known <= 0 || after > known+windowSlack: // a new window, in which all others in flight may still be counted
			ln.noted = remaining - ln.inFlight
			corrected.Set(headerRemaining, strconv.Itoa(ln.noted))
			corrected.Set(headerResetAfter, formatSeconds(after))
		case after < known-windowSlack: // an answer from an earlier window
		default: // the window we count in: answers overtake each other, so a count never grows
			ln.noted = min(p.bucket.Remaining, remaining)
			corrected.Set(headerRemaining, strconv.Itoa(ln.noted))
		}
	}
	_ = p.bucket.Release(corrected) // fails on numbers that do not parse; these are ours
}

// limitWindow reads the limits that an answer carries.
func limitWindow(h http.Header) (remaining int, after time.Duration, ok bool) {
	n, err := strconv.ParseInt(h.Get(headerRemaining), 10, 32)
	if err != nil {
		return 0, 0, false
	}
	after, ok = parseSeconds(h.Get(headerResetAfter))
	return int(n), after, ok
}

// gate is the wait that does not depend on the bucket's window: a route that
// Discord refused, or a global stop. After a stop, calls pass one by one at
// [globalPace]; passed remembers the stop for which a call has had its turn.
func (l *rateLimits) gate(method, key string, passed *int, fits func(time.Duration) bool) (time.Duration, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if b, ok := l.blocks[method+" "+key]; ok {
		if wait := b.until.Sub(now); wait > 0 {
			return wait, b.scope
		}
		delete(l.blocks, method+" "+key)
	}
	if wait := l.globalWait(); wait > 0 && l.slot.Before(now.Add(wait)) { // the host bot was stopped
		l.stops++
		l.slot = now.Add(wait)
	}
	if *passed != l.stops {
		wait := l.slot.Sub(now)
		if wait > 0 && !fits(wait) {
			return wait, "global" // a call that gives up takes no turn: the others would wait for it
		}
		*passed = l.stops
		if wait > 0 {
			l.slot = l.slot.Add(globalPace)
			return wait, "global"
		}
	}
	return 0, ""
}

// globalWait is how long the shared limiter holds back every bucket.
func (l *rateLimits) globalWait() time.Duration { return l.shared.GetWaitTime(&l.globals, math.MinInt) }

// refuse notes a 429: the route's own, or a global one that stops every route of
// this session, the host bot's calls included.
func (l *rateLimits) refuse(method, key string, wait time.Duration, scope string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if scope != "global" {
		if len(l.blocks) >= maxBlocks {
			for k, b := range l.blocks {
				if !b.until.After(now) {
					delete(l.blocks, k)
				}
			}
		}
		l.blocks[method+" "+key] = routeBlock{until: now.Add(wait), scope: scope}
		return
	}
	l.stops++
	if until := now.Add(wait); until.After(l.slot) {
		l.slot = until
	}
	b := l.shared.GetBucket("guildwarden global") // nothing else uses it, so Lock does not wait
	b.Lock()
	_ = b.Release(http.Header{headerGlobal: {"true"}, headerResetAfter: {formatSeconds(wait)}})
}

// block stops every call: the edge in front of Discord has blocked this address.
func (l *rateLimits) block(wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.banned = time.Now().Add(wait)
}

// ban is the error of a call while the address is blocked, or nil.
func (l *rateLimits) ban() *mcpcore.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait := time.Until(l.banned); wait > 0 {
		return unsent(edgeBlocked(wait))
	}
	return nil
}

func (l *rateLimits) enter(key string) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln, ok := l.lanes[key]
	if !ok {
		ln = &lane{changed: make(chan struct{})}
		l.lanes[key] = ln
	}
	ln.users++
	return ln
}

func (l *rateLimits) exit(key string, ln *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln.users--; ln.users == 0 {
		delete(l.lanes, key)
	}
}

// waitFits reports whether a wait ends before ctx does and is not above most.
func waitFits(ctx context.Context, wait, most time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return wait <= most && (!ok || time.Until(deadline) > wait)
}

// waitFor waits for d (0: no limit), for changed (nil: never) or for the end of
// ctx, which is an error: nothing was sent.
func waitFor(ctx context.Context, d time.Duration, changed <-chan struct{}) *mcpcore.Error {
	var tick <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		tick = timer.C
	}
	select {
	case <-tick:
	case <-changed:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return callEnded(ctx, failUnsent)
	}
	return nil
}

// formatSeconds writes d as Discord does, rounded up to a millisecond and one more
// against discordgo's rounding down.
func formatSeconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Milliseconds()+1)/1000, 'f', 3, 64)
}

// maxSeconds bounds a wait read from an answer.
const maxSeconds = 24 * 60 * 60

// parseSeconds reads a number of seconds that may have decimals.
func parseSeconds(s string) (time.Duration, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0, false
	}
	return time.Duration(math.Ceil(min(f, maxSeconds)*1000)) * time.Millisecond, true
}
