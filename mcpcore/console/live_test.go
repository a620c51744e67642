package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// counting is a ledger that counts how often it is asked what waits.
type counting struct {
	mcpcore.Ledger
	asked atomic.Int64
}

func (c *counting) Pending(ctx ctx, by mcpcore.Filter) ([]mcpcore.Approval, error) {
	c.asked.Add(1)
	return c.Ledger.Pending(ctx, by)
}

// stream is the answer of a page that watches.
type stream struct {
	mu     sync.Mutex
	header http.Header
	status int
	text   strings.Builder
	done   chan struct{}
	leave  context.CancelFunc
}

func (s *stream) Header() http.Header { return s.header }
func (s *stream) Flush()              {}
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *stream) got() (status int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status, s.text.String()
}

func (s *stream) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// room is a console in a bubble of time, with somebody signed in.
type room struct {
	*testing.T
	ledger  *counting
	console *console.Console
	cookie  *http.Cookie
}

func enter(t *testing.T) *room {
	t.Helper()
	token, setting := made(t, "ana")
	r := &room{T: t, ledger: &counting{Ledger: ledger.NewMemory(nil)}}
	var err error
	if r.console, err = console.New(console.Options{Ledger: r.ledger, Approvers: parsed(t, setting)}); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	q := httptest.NewRequest("POST", "http://localhost/console/signin", strings.NewReader("token="+token))
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	q.Header.Set("Origin", "http://localhost")
	r.console.ServeHTTP(w, q)
	if w.Code != http.StatusSeeOther {
		t.Fatalf("signing in: %d", w.Code)
	}
	r.cookie = w.Result().Cookies()[0]
	return r
}

func (r *room) watches() *stream {
	ctx, leave := context.WithCancel(context.Background())
	s := &stream{header: http.Header{}, status: http.StatusOK, done: make(chan struct{}), leave: leave}
	q := httptest.NewRequestWithContext(ctx, "GET", "http://localhost/console/events", nil)
	q.AddCookie(r.cookie)
	go func() {
		defer close(s.done)
		r.console.ServeHTTP(s, q)
	}()
	return s
}

func (r *room) waits(name string) mcpcore.Approval {
	r.Helper()
	a, err := r.ledger.Propose(context.Background(), mcpcore.Proposal{Purpose: mcpcore.ForPerson, Fingerprint: mcpcore.Fingerprint(name), Lifetime: mcpcore.MaxLifetime})
	if err != nil {
		r.Fatal(err)
	}
	return a
}

func TestWatchersShareOneLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := enter(t)
		time.Sleep(10 * time.Second)
		if n := r.ledger.asked.Load(); n != 0 {
			t.Errorf("while nobody watches the ledger was asked %d times", n)
		}
		var all []*stream
		for range 12 {
			all = append(all, r.watches())
		}
		synctest.Wait()
		a := r.waits("one")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := r.ledger.asked.Load(); n < 10 || n > 12 {
			t.Errorf("for 12 who watch for ten seconds the ledger was asked %d times", n)
		}
		for i, s := range all {
			if _, text := s.got(); strings.Count(text, "event: waiting") != 2 || !strings.Contains(text, `data: {"ids":[]}`) || !strings.Contains(text, string(a.ID)) {
				t.Errorf("number %d was told %q", i, text)
			}
		}
		late := r.watches()
		synctest.Wait()
		if _, text := late.got(); !strings.Contains(text, string(a.ID)) {
			t.Errorf("who comes late is told %q", text)
		}
		if h := late.header; h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%v", h)
		}
		for _, s := range append(all, late) {
			s.leave()
			<-s.done
		}
		asked := r.ledger.asked.Load()
		time.Sleep(10 * time.Second)
		if n := r.ledger.asked.Load(); n > asked+1 {
			t.Errorf("after all left the ledger was asked %d times", n-asked)
		}
		again := r.watches() // and it begins anew
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if _, text := again.got(); !strings.Contains(text, string(a.ID)) {
			t.Errorf("later: %q", text)
		}
		again.leave()
		<-again.done
	})
}

func TestWatchersAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := enter(t)
		var all []*stream
		for range 40 {
			all = append(all, r.watches())
		}
		synctest.Wait()
		watching := 0
		for _, s := range all {
			switch status, text := s.got(); {
			case status == http.StatusOK:
				watching++
			case status != http.StatusServiceUnavailable || s.header.Get("Retry-After") == "":
				t.Errorf("%d %s", status, text)
			}
		}
		if watching != 16 {
			t.Errorf("%d watch under one name", watching)
		}
		for _, s := range all {
			if !s.over() {
				s.leave()
				<-s.done
				break
			}
		}
		next := r.watches() // there is a place again
		synctest.Wait()
		if status, _ := next.got(); status != http.StatusOK || next.over() {
			t.Errorf("after one left: %d", status)
		}
		r.console.Close()
		synctest.Wait()
		for _, s := range append(all, next) {
			if !s.over() {
				t.Error("it watches on after Close")
			}
		}
		if s := r.watches(); true {
			synctest.Wait()
			if status, _ := s.got(); status != http.StatusServiceUnavailable {
				t.Errorf("after Close: %d", status)
			}
		}
	})
}

func TestWatchingEndsWithTheSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := enter(t)
		s := r.watches()
		time.Sleep(59 * time.Minute)
		if s.over() {
			t.Error("it ends early")
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if _, text := s.got(); !s.over() || !strings.Contains(text, "event: over") || strings.Count(text, ": still here") < 100 {
			t.Errorf("over: %t, %d characters", s.over(), len(text))
		}
	})
}
