package console

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// How often the ledger is looked at while anybody watches, how often a silent
// connection is kept alive, how many watch at once, and how many of them under
// one name.
const (
	lookEvery   = time.Second
	beatEvery   = 15 * time.Second
	maxWatchers = 128
	maxOfOne    = 16
)

// live tells watchers what waits. However many there are, the ledger is asked
// once for all of them, and not at all while nobody watches.
type live struct {
	ledger mcpcore.Ledger
	log    *slog.Logger

	mu       sync.Mutex
	watchers map[chan string]string // and under which name they watch
	last     string                 // "" before the first look
	stop     context.CancelFunc     // of the looking; nil while nobody watches
	closed   bool
}

func newLive(l mcpcore.Ledger, log *slog.Logger) *live {
	return &live{ledger: l, log: log, watchers: map[chan string]string{}}
}

// watch begins to watch; not ok when there are too many who do. The channel
// holds the newest state alone, and is closed when there will be no other.
func (l *live) watch(name string) (ch chan string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := 0
	for _, n := range l.watchers {
		if n == name {
			same++
		}
	}
	if l.closed || len(l.watchers) >= maxWatchers || same >= maxOfOne {
		return nil, false
	}
	ch = make(chan string, 1)
	l.watchers[ch] = name
	if l.last != "" {
		ch <- l.last
	}
	if l.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		l.stop = stop
		go l.look(ctx)
	}
	return ch, true
}

func (l *live) leave(ch chan string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watchers, ch)
	if len(l.watchers) == 0 && l.stop != nil {
		l.stop()
		l.stop, l.last = nil, ""
	}
}

func (l *live) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for ch := range l.watchers {
		close(ch)
	}
	clear(l.watchers)
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

func (l *live) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	failed := false
	for {
		waiting, err := l.ledger.Pending(ctx, mcpcore.Filter{})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !failed {
				l.log.WarnContext(ctx, "console: the ledger does not say what waits", "error", err)
			}
		default:
			l.tell(ctx, state(waiting))
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// state is what watchers are told: how many wait, and which.
func state(waiting []mcpcore.Approval) string {
	ids := make([]mcpcore.ApprovalID, len(waiting))
	for i, a := range waiting {
		ids[i] = a.ID
	}
	b, err := json.Marshal(struct {
		IDs []mcpcore.ApprovalID `json:"ids"`
	}{ids})
	if err != nil {
		return "{}" // texts can always be encoded
	}
	return string(b)
}

func (l *live) tell(ctx context.Context, now string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now == l.last || ctx.Err() != nil {
		return
	}
	l.last = now
	for ch := range l.watchers {
		select {
		case <-ch: // what they have not read yet is old
		default:
		}
		ch <- now
	}
}

// events tells a page what waits, as server-sent events, until its session ends.
func (c *Console) events(w http.ResponseWriter, r *http.Request) {
	ch, ok := c.live.watch(who(r).name) //nolint:contextcheck // the looking is for all who watch, and ends with the last of them
	if !ok {
		w.Header().Set("Retry-After", "30")
		http.Error(w, "too many pages watch", http.StatusServiceUnavailable)
		return
	}
	defer c.live.leave(ch)
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy that collects answers would hold it back
	ends := time.NewTimer(who(r).Ends.Sub(c.o.Clock()))
	defer ends.Stop()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	send := func(text string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(beatEvery)) // where the server has none, it needs none
		if _, err := fmt.Fprint(w, text); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	for going := send("retry: 3000\n\n"); going; {
		select {
		case now, more := <-ch:
			if !more {
				return
			}
			going = send("event: waiting\ndata: " + now + "\n\n")
		case <-beat.C:
			going = send(": still here\n\n")
		case <-ends.C:
			send("event: over\ndata: {}\n\n")
			return
		case <-r.Context().Done():
			return
		}
	}
}
