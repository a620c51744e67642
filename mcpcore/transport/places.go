package transport

import (
	"sync"
	"time"
)

// patience is how long a call waits for a place. A client has its answer a little before that answer's place is free, and
// may call again at once.
const patience = 100 * time.Millisecond

// places are the rooms for what runs at the same time. It is safe for concurrent use; newPlaces makes one.
type places struct {
	maxCalls, maxHeld int

	mu       sync.Mutex
	calls    int                   // running
	held     int                   // sessions and subscriptions
	running  map[*running]struct{} // both calls and subscriptions
	stopping bool                  // no call is let in
	waiting  int                   // calls that wait for a place, at most maxCalls
	freed    chan struct{}         // closed when a place for a call is free; nil while nobody waits
	idle     chan struct{}         // closed when stopping and no call runs
}

type running struct {
	stream bool // it runs until it is cancelled
	cancel func()
}

func newPlaces(maxCalls, maxHeld int) *places {
	return &places{maxCalls: maxCalls, maxHeld: maxHeld, running: map[*running]struct{}{}, idle: make(chan struct{})}
}

// enter takes a place for a call, or for a stream. If it reports true, leave must follow.
func (p *places) enter(stream bool, cancel func()) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !stream {
		p.wait()
	}
	switch {
	case p.stopping, stream && p.held >= p.maxHeld, !stream && p.calls >= p.maxCalls:
		return nil, false
	case stream:
		p.held++
	default:
		p.calls++
	}
	r := &running{stream, cancel}
	p.running[r] = struct{}{}
	return func() { p.leave(r) }, true
}

// wait waits until there is a place for a call, as long as that is worth while. It is called with mu, and gives it away
// meanwhile.
func (p *places) wait() {
	if p.calls < p.maxCalls || p.waiting >= p.maxCalls {
		return
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	p.waiting++
	defer func() { p.waiting-- }()
	for over := false; !over && !p.stopping && p.calls >= p.maxCalls; {
		if p.freed == nil {
			p.freed = make(chan struct{})
		}
		freed := p.freed
		p.mu.Unlock()
		select {
		case <-freed:
		case <-enough.C:
			over = true
		}
		p.mu.Lock()
	}
}

// wake has those that wait look again.
func (p *places) wake() {
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}

func (p *places) leave(r *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, r)
	if r.stream {
		p.held--
		return
	}
	p.calls--
	p.wake()
	p.rest()
}

// rest closes idle when the last call has ended.
func (p *places) rest() {
	if p.stopping && p.calls == 0 {
		select {
		case <-p.idle:
		default:
			close(p.idle)
		}
	}
}

// hold takes a place for a session; release gives it back.
func (p *places) hold() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping || p.held >= p.maxHeld {
		return false
	}
	p.held++
	return true
}

func (p *places) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held--
}

func (p *places) isStopping() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopping
}

// stop lets no call in any more. The channel is closed when none runs.
func (p *places) stop() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopping = true
	p.wake()
	p.rest()
	return p.idle
}

// cancel cancels what runs: the calls, or the streams. It reports how many.
func (p *places) cancel(streams bool) int {
	p.mu.Lock()
	var cancels []func()
	for r := range p.running {
		if r.stream == streams {
			cancels = append(cancels, r.cancel)
		}
	}
	p.mu.Unlock()
	for _, cancel := range cancels {
		cancel()
	}
	return len(cancels)
}
