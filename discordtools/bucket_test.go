package discordtools

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// window counts requests like one of Discord's buckets: limit in per, refused
// with 429 beyond it. limit 0 sends no rate-limit headers.
type fakeWindow struct {
	limit   int
	per     time.Duration
	latency time.Duration

	mu       sync.Mutex
	left     int
	reset    time.Time
	inFlight int
	most     int
	served   []time.Time
	refused  int
}

func (w *fakeWindow) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	now := time.Now()
	if w.limit > 0 && !now.Before(w.reset) {
		w.left, w.reset = w.limit, now.Add(w.per)
	}
	w.inFlight++
	w.most = max(w.most, w.inFlight)
	h := http.Header{}
	status := 200
	if w.limit > 0 {
		if w.left == 0 {
			status = 429
			w.refused++
		} else {
			w.left--
		}
		h = limitHeader(w.left, w.reset.Sub(now))
	}
	if status == 200 {
		w.served = append(w.served, now)
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.inFlight--
		w.mu.Unlock()
	}()
	select {
	case <-time.After(w.latency):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if status == 429 {
		return respond(429, h, fmt.Sprintf(`{"message":"You are being rate limited.","retry_after":%f,"global":false}`, w.reset.Sub(now).Seconds())), nil
	}
	return respond(200, h, `{"id":"1"}`), nil
}

func limitHeader(remaining int, after time.Duration) http.Header {
	return http.Header{
		"X-Ratelimit-Remaining":   {strconv.Itoa(remaining)},
		"X-Ratelimit-Reset-After": {strconv.FormatFloat(after.Seconds(), 'f', 3, 64)},
	}
}

// all runs n calls side by side and returns their errors and the time they took.
func all(n int, do func(i int) error) (errs []error, took time.Duration) {
	start := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range n {
		wg.Go(func() {
			if err := do(i); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errs, time.Since(start)
}

func sendMessage(channel string) Request {
	return Request{Method: "POST", Route: "/channels/{channel_id}/messages", Path: map[string]string{"channel_id": channel}, Body: []byte(`{"content":"x"}`)}
}

func readChannel(channel string) Request {
	return Request{Method: "GET", Route: "/channels/{channel_id}", Path: map[string]string{"channel_id": channel}}
}

func TestCallsOfOneChannelOverlapAfterOneProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWindow{limit: 1000, per: time.Second, latency: 20 * time.Millisecond}
		c := clientOn(t, w)
		errs, took := all(64, func(int) error { _, err := c.Do(t.Context(), sendMessage(keyChannel)); return err })
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if took != 40*time.Millisecond {
			t.Errorf("64 calls took %v, want two round trips of 20ms: the probe, then the rest side by side", took)
		}
		if w.most != 63 {
			t.Errorf("%d calls were in flight at most, want 63", w.most)
		}
		if len(c.limits.lanes) != 0 {
			t.Errorf("%d lanes are left when nothing is in flight", len(c.limits.lanes))
		}
	})
}

func TestCallsWithoutLimitsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWindow{latency: 20 * time.Millisecond}
		c := clientOn(t, w)
		errs, took := all(1+2*maxSideBySide, func(int) error { _, err := c.Do(t.Context(), sendMessage(keyChannel)); return err })
		if len(errs) > 0 || w.most != maxSideBySide || took != 60*time.Millisecond {
			t.Errorf("errors %v, %d side by side, %v; want none, %d, 60ms", errs, w.most, took, maxSideBySide)
		}
	})
}

func TestNoCallGoesBeyondTheWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWindow{limit: 5, per: 5 * time.Second, latency: 30 * time.Millisecond}
		c := clientOn(t, w)
		errs, took := all(14, func(int) error { _, err := c.Do(t.Context(), sendMessage(keyChannel)); return err })
		if len(errs) > 0 || w.refused != 0 {
			t.Errorf("errors %v and %d answers of 429, want none", errs, w.refused)
		}
		if took < 10*time.Second || took > 11*time.Second {
			t.Errorf("14 calls at 5 in 5s took %v, want three windows", took)
		}
	})
}

func TestWaitBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWindow{limit: 1, per: 5 * time.Second}
		c := clientOn(t, w)
		if _, err := c.Do(t.Context(), sendMessage(keyChannel)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		_, err := c.Do(ctx, sendMessage(keyChannel))
		e := wantCode(t, err, mcpcore.CodeRateLimited)
		if ms := e.Fields["retry_after_ms"].(int64); ms < 4900 || ms > 5010 {
			t.Errorf("retry_after_ms is %d, want about 5000", ms)
		}
		if time.Since(start) != 0 || len(w.served) != 1 {
			t.Errorf("it took %v and %d requests, want none", time.Since(start), len(w.served)-1)
		}

		long, stop := context.WithTimeout(t.Context(), 6*time.Second)
		defer stop()
		if _, err := c.Do(long, sendMessage(keyChannel)); err != nil {
			t.Errorf("a call whose deadline leaves room: %v", err)
		}
	})
}

func TestWaitAboveMaxWaitFailsWithoutADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOn(t, &fakeWindow{limit: 1, per: time.Hour})
		if _, err := c.Do(t.Context(), sendMessage(keyChannel)); err != nil {
			t.Fatal(err)
		}
		_, err := c.Do(t.Context(), sendMessage(keyChannel))
		wantCode(t, err, mcpcore.CodeRateLimited)
	})
}

func TestFailedProbeLetsTheNextGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWindow{limit: 1000, per: time.Second, latency: 20 * time.Millisecond}
		first := make(chan struct{}, 1)
		first <- struct{}{}
		c := clientOn(t, transportFunc(func(r *http.Request) (*http.Response, error) {
			select {
			case <-first:
				time.Sleep(10 * time.Millisecond)
				return nil, fmt.Errorf("connection reset by peer")
			default:
				return w.RoundTrip(r)
			}
		}))
		errs, took := all(10, func(int) error { _, err := c.Do(t.Context(), sendMessage(keyChannel)); return err })
		if len(errs) != 1 || took != 50*time.Millisecond {
			t.Errorf("%d errors in %v, want the probe's own and 10+20+20ms", len(errs), took)
		}
	})
}

func TestStalledProbeLetsAnotherGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWindow{limit: 1000, per: time.Second, latency: 20 * time.Millisecond}
		var calls atomic.Int32
		c := clientOn(t, transportFunc(func(r *http.Request) (*http.Response, error) {
			if calls.Add(1) == 1 {
				time.Sleep(15 * time.Second)
			}
			return w.RoundTrip(r)
		}))
		go c.Do(t.Context(), sendMessage(keyChannel))
		synctest.Wait()
		start := time.Now()
		_, err := c.Do(t.Context(), readMessages(keyChannel))
		if took := time.Since(start); err != nil || took != probeStall+20*time.Millisecond {
			t.Errorf("%v after %v, want success after %v and a round trip", err, took, probeStall)
		}
		time.Sleep(20 * time.Second)
	})
}

// readMessages shares its bucket with sendMessage.
func readMessages(channel string) Request {
	return Request{Method: "GET", Route: "/channels/{channel_id}/messages", Path: map[string]string{"channel_id": channel}}
}

func TestWaitingForAProbeEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWindow{limit: 5, per: time.Second, latency: time.Second}
		c := clientOn(t, w)
		go c.Do(t.Context(), sendMessage(keyChannel))
		synctest.Wait()

		late, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer stop()
		start := time.Now()
		_, err := c.Do(late, sendMessage(keyChannel))
		wantCode(t, err, mcpcore.CodeTimeout)
		if time.Since(start) != 100*time.Millisecond {
			t.Errorf("took %v", time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = c.Do(ctx, sendMessage(keyChannel))
		wantCode(t, err, mcpcore.CodeCancelled)
		time.Sleep(2 * time.Second)
		if len(w.served) != 1 {
			t.Errorf("%d requests, want the probe alone", len(w.served))
		}
	})
}

func TestHostBotHoldsTheBucket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOn(t, &fakeWindow{limit: 5, per: time.Second})
		key := bucketKey("POST", "/channels/{channel_id}/messages", map[string]string{"channel_id": keyChannel}, nil)
		host := c.session.Ratelimiter.LockBucket(key)

		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := c.Do(ctx, sendMessage(keyChannel))
		wantCode(t, err, mcpcore.CodeTimeout)

		go func() {
			time.Sleep(time.Second)
			host.Release(limitHeader(4, 10*time.Second))
		}()
		if _, err := c.Do(t.Context(), sendMessage(keyChannel)); err != nil {
			t.Errorf("after the host's call: %v", err)
		}
	})
}

func TestHostsCountIsCorrectedByCallsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOn(t, nil)
		bucket := c.limits.shared.GetBucket("k")
		first := admitted(t, c, "k")
		first.leave(limitHeader(9, 10*time.Second), true)
		flying := []*lanePermit{admitted(t, c, "k"), admitted(t, c, "k"), admitted(t, c, "k")}

		host := c.session.Ratelimiter.LockBucket("k")
		host.Release(limitHeader(4, 10*time.Second)) // may not have seen the three
		admitted(t, c, "k").leave(nil, false)
		if bucket.Remaining != 0 {
			t.Errorf("%d left, want the host's 4, minus 3 in flight, minus 1 sent", bucket.Remaining)
		}
		for _, p := range flying {
			p.leave(nil, false)
		}
	})
}

func TestAnswersThatOvertakeEachOtherDoNotRaiseTheCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOn(t, nil)
		bucket := c.limits.shared.GetBucket("k")
		admitted(t, c, "k").leave(limitHeader(4, 5*time.Second), true)
		var flying []*lanePermit
		for range 4 {
			flying = append(flying, admitted(t, c, "k"))
		}
		for i, p := range flying { // the last one Discord saw answers first
			p.leave(limitHeader(i, 5*time.Second), true)
			if bucket.Remaining > 0 {
				t.Fatalf("answer %d raised the count to %d", i, bucket.Remaining)
			}
		}
		time.Sleep(4900 * time.Millisecond)
		late := admittedSoon(t, c, "k") // the window is over: a probe
		late.leave(limitHeader(4, 5*time.Second), true)
		if bucket.Remaining != 4 {
			t.Errorf("%d left in the new window, want 4", bucket.Remaining)
		}
		flew := admitted(t, c, "k")
		time.Sleep(6 * time.Second)
		admitted(t, c, "k").leave(limitHeader(4, 5*time.Second), true)
		if bucket.Remaining != 3 {
			t.Errorf("%d left in a new window, want its 4 minus the one still in flight", bucket.Remaining)
		}
		flew.leave(nil, false)
		bucket.Remaining = 4
		old := admitted(t, c, "k")
		old.leave(limitHeader(0, 100*time.Millisecond), true)
		if bucket.Remaining != 3 {
			t.Errorf("%d left after an answer of an earlier window, want 3", bucket.Remaining)
		}
	})
}

func admitted(t *testing.T, c *Client, key string) *lanePermit {
	t.Helper()
	start := time.Now()
	p := admittedSoon(t, c, key)
	if time.Since(start) != 0 {
		t.Fatalf("admitted after %v, want at once", time.Since(start))
	}
	return p
}

func admittedSoon(t *testing.T, c *Client, key string) *lanePermit {
	t.Helper()
	p, err := c.limits.admit(t.Context(), "POST", key)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGlobalLimitStopsEveryRouteOnceAndResumesWithoutABurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sent []time.Duration
		start := time.Now()
		c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, time.Since(start))
			if len(sent) == 1 {
				return respond(429, http.Header{"X-Ratelimit-Global": {"true"}, "Retry-After": {"1"}}, `{"message":"You are being rate limited.","retry_after":0.661,"global":true}`), nil
			}
			return respond(200, limitHeader(9, time.Second), `{}`), nil
		}))
		go c.Do(t.Context(), readChannel(keyOther))
		synctest.Wait()
		if wait := c.session.Ratelimiter.GetWaitTime(c.session.Ratelimiter.GetBucket("host"), 1); wait < 661*time.Millisecond {
			t.Errorf("the host bot waits %v, want the whole stop", wait)
		}
		errs, _ := all(10, func(i int) error {
			_, err := c.Do(t.Context(), readChannel(strconv.Itoa(800000000000000000+i)))
			return err
		})
		time.Sleep(time.Second)
		if len(errs) > 0 || len(sent) != 12 {
			t.Fatalf("errors %v, %d requests, want 12", errs, len(sent))
		}
		if sent[1] < 661*time.Millisecond {
			t.Errorf("a call went after %v, during the stop", sent[1])
		}
		for i := 2; i < len(sent); i++ {
			if gap := sent[i] - sent[i-1]; gap < globalPace {
				t.Errorf("calls %d and %d follow each other after %v", i-1, i, gap)
			}
		}
	})
}

// TestRefusedCallsTakeNoTurnAfterAGlobalStop shows that calls which cannot wait
// for the end of a global stop do not push back those that come after it.
func TestRefusedCallsTakeNoTurnAfterAGlobalStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stopped := false
		c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) {
			if !stopped {
				stopped = true
				return respond(429, http.Header{"X-Ratelimit-Global": {"true"}, "Retry-After": {"1"}}, `{"message":"You are being rate limited.","retry_after":1,"global":true}`), nil
			}
			return respond(200, nil, `{}`), nil
		}))
		try := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := c.Do(ctx, Request{Method: "GET", Route: "/users/@me"})
			return err
		}
		for range 500 {
			wantCode(t, try(), mcpcore.CodeRateLimited)
		}
		time.Sleep(1100 * time.Millisecond)
		if err := try(); err != nil {
			t.Errorf("the stop is over and a call is still held back: %v", err)
		}
	})
}

func TestSharedLimitBlocksItsRouteAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		c := clientOn(t, transportFunc(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, r.Method)
			if r.Method == "PATCH" && len(sent) == 1 {
				h := limitHeader(1, 2*time.Second)
				h.Set("X-RateLimit-Scope", "shared")
				h.Set("Retry-After", "40")
				return respond(429, h, `{"message":"The resource is being rate limited.","retry_after":39.7,"global":false}`), nil
			}
			return respond(200, limitHeader(5, 2*time.Second), `{}`), nil
		}))
		rename := readChannel(keyChannel)
		rename.Method, rename.Body = "PATCH", []byte(`{}`)
		short, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := c.Do(short, rename)
		e := wantCode(t, err, mcpcore.CodeRateLimited)
		if e.Fields["retry_after_ms"] != int64(39700) || e.Fields["scope"] != "shared" {
			t.Errorf("fields %v, want 39700 and shared", e.Fields)
		}
		if _, err := c.Do(short, readChannel(keyChannel)); err != nil {
			t.Errorf("reading the same channel: %v", err)
		}
		other := rename
		other.Path = map[string]string{"channel_id": keyOther}
		if _, err := c.Do(short, other); err != nil {
			t.Errorf("another channel: %v", err)
		}
		start := time.Now()
		if _, err := c.Do(t.Context(), rename); err != nil || time.Since(start) != 39700*time.Millisecond {
			t.Errorf("%v after %v, want success after 39.7s", err, time.Since(start))
		}
		if !slices.Equal(sent, []string{"PATCH", "GET", "PATCH", "PATCH"}) {
			t.Errorf("sent %v", sent)
		}
	})
}

func TestReactionRefusedWithCallsLeftWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent []time.Time
		c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) {
			sent = append(sent, time.Now())
			if len(sent) == 1 {
				return respond(429, limitHeader(3, time.Second), `{"message":"You are being rate limited.","retry_after":2.5,"global":false}`), nil
			}
			return respond(204, limitHeader(3, time.Second), ""), nil
		}))
		_, err := c.Do(t.Context(), Request{
			Method: "PUT", Route: "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me",
			Path: map[string]string{"channel_id": keyChannel, "message_id": keyMessage, "emoji_name": "👍"},
		})
		if err != nil || len(sent) != 2 || sent[1].Sub(sent[0]) != 2500*time.Millisecond {
			t.Errorf("%v, sent at %v; want a second try after 2.5s", err, sent)
		}
	})
}

func TestExpiredBlocksAreSwept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := clientOn(t, nil).limits
		for i := range maxBlocks {
			l.refuse("GET", strconv.Itoa(i), time.Second, "user")
		}
		time.Sleep(2 * time.Second)
		l.refuse("GET", "new", time.Second, "user")
		if len(l.blocks) != 1 {
			t.Errorf("%d blocks are kept, want the new one", len(l.blocks))
		}
	})
}

func TestParseSecondsRefusesWhatIsNoWait(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"1": time.Second, "0.661": 661 * time.Millisecond, "0.0001": time.Millisecond, "0": 0, "1e300": maxSeconds * time.Second,
	} {
		if got, ok := parseSeconds(text); !ok || got != want {
			t.Errorf("%q is %v, %t; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-1", "NaN", "soon", strconv.FormatFloat(math.Inf(-1), 'f', 0, 64)} {
		if got, ok := parseSeconds(text); ok {
			t.Errorf("%q is %v, want no number", text, got)
		}
	}
}

func BenchmarkOneChannel64Callers20ms(b *testing.B) {
	c := clientOn(b, transportFunc(func(*http.Request) (*http.Response, error) {
		time.Sleep(20 * time.Millisecond)
		return respond(200, limitHeader(999999, time.Second), `{"id":"1"}`), nil
	}))
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Do(b.Context(), sendMessage(keyChannel)); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkDo(b *testing.B) {
	c := clientOn(b, transportFunc(func(*http.Request) (*http.Response, error) {
		return respond(200, limitHeader(999999, time.Second), `{"id":"1"}`), nil
	}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Do(b.Context(), sendMessage(keyChannel)); err != nil {
			b.Fatal(err)
		}
	}
}
