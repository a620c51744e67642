package discordtools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// tries is a transport that counts requests and answers the n-th, from 1.
func triesOf(n *int, answer func(n int, r *http.Request) (*http.Response, error)) transportFunc {
	return func(r *http.Request) (*http.Response, error) {
		*n++
		return answer(*n, r)
	}
}

// always is a transport that answers the same.
func always(status int) transportFunc {
	return func(*http.Request) (*http.Response, error) { return respond(status, nil, `{"message":"x"}`), nil }
}

// alternating is a transport that answers like a, then like b.
func alternating(a, b transportFunc) transportFunc {
	n := 0
	return func(r *http.Request) (*http.Response, error) {
		if n++; n%2 == 1 {
			return a(r)
		}
		return b(r)
	}
}

// hangs is a transport that answers when the request's context ends.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// meters collects metrics.
type meters struct {
	*sdkmetric.MeterProvider
	reader *sdkmetric.ManualReader
}

func newMeters() meters {
	reader := sdkmetric.NewManualReader()
	return meters{sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), reader}
}

// count is a counter's value for one attribute's value, "" for all.
func (m meters) count(tb testing.TB, name, value string) (n int64) {
	tb.Helper()
	var all metricdata.ResourceMetrics
	if err := m.reader.Collect(context.Background(), &all); err != nil {
		tb.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			if metric.Name != name {
				continue
			}
			for _, p := range metric.Data.(metricdata.Sum[int64]).DataPoints {
				if kv := p.Attributes.ToSlice(); value == "" || len(kv) == 1 && kv[0].Value.AsString() == value {
					n += p.Value
				}
			}
		}
	}
	return n
}

func TestZeroResilienceIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	got, err := Resilience{}.withDefaults()
	want := Resilience{
		InFlight: 100, Failures: 10, HalfOpenAfter: time.Minute, Retries: 3, BaseDelay: 200 * time.Millisecond,
		MaxDelay: 10 * time.Second, Jitter: JitterFull, Timeout: 30 * time.Second,
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestResilienceThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for _, r := range []Resilience{
		{InFlight: -1}, {Failures: -1}, {HalfOpenAfter: -1}, {Retries: -1}, {BaseDelay: -1}, {MaxDelay: -1}, {Timeout: -1}, {Jitter: "Full"},
	} {
		if _, err := NewClient(clientOn(t, always(200)).session, ClientOptions{Resilience: r}); err == nil {
			t.Errorf("%+v was taken", r)
		}
	}
}

func TestBackOff(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	almost := 1 - 1e-12
	for _, row := range []struct {
		jitter Jitter
		retry  int
		before time.Duration
		chance float64
		want   time.Duration
	}{
		{JitterNone, 1, 0, 0.9, 200 * ms},
		{JitterNone, 2, 200 * ms, 0, 400 * ms},
		{JitterNone, 3, 400 * ms, 0, 800 * ms},
		{JitterNone, 6, 0, 0, 6400 * ms},
		{JitterNone, 7, 0, 0, 10000 * ms},
		{JitterNone, 64, 0, 0, 10000 * ms},
		{JitterNone, 1000, 0, 0, 10000 * ms},
		{JitterFull, 1, 0, 0, 0},
		{JitterFull, 1, 0, almost, 200 * ms},
		{JitterFull, 3, 0, 0.5, 400 * ms},
		{JitterFull, 50, 0, almost, 10000 * ms},
		{JitterDecorrelated, 1, 0, almost, 200 * ms},
		{JitterDecorrelated, 2, 200 * ms, 0, 200 * ms},
		{JitterDecorrelated, 2, 200 * ms, almost, 600 * ms},
		{JitterDecorrelated, 3, 600 * ms, 0.5, 1000 * ms},
		{JitterDecorrelated, 9, 9000 * ms, almost, 10000 * ms},
	} {
		r, err := Resilience{Jitter: row.jitter}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if got := r.backOff(row.retry, row.before, row.chance).Round(ms); got != row.want {
			t.Errorf("%s, retry %d, %v before, chance %g: %v, want %v", row.jitter, row.retry, row.before, row.chance, got, row.want)
		}
	}
	r, _ := Resilience{BaseDelay: 5 * time.Second, MaxDelay: 500 * ms}.withDefaults()
	for _, r.Jitter = range []Jitter{JitterNone, JitterFull, JitterDecorrelated} {
		for retry := range 5 {
			if got := r.backOff(retry+1, time.Hour, almost); got > r.MaxDelay {
				t.Errorf("%s: %v is above the cap", r.Jitter, got)
			}
		}
	}
}

func TestWaitsBetweenTries(t *testing.T) {
	t.Parallel()
	limit := func(seconds string) func() *http.Response {
		return func() *http.Response {
			return respond(429, nil, `{"message":"slow","retry_after":`+seconds+`,"global":false}`)
		}
	}
	fails := func(h http.Header) func() *http.Response {
		return func() *http.Response { return respond(503, h, "") }
	}
	for _, row := range []struct {
		name     string
		method   string
		answer   func() *http.Response
		deadline time.Duration
		tries    int
		took     time.Duration
	}{
		{"back-off", "GET", fails(nil), time.Hour, 4, 1400 * time.Millisecond},
		{"Discord's wait instead", "GET", fails(http.Header{"Retry-After": {"3"}}), time.Hour, 4, 9 * time.Second},
		{"Discord's wait above the cap", "GET", fails(http.Header{"Retry-After": {"11"}}), time.Hour, 1, 0},
		{"back-off that does not fit", "GET", fails(nil), 500 * time.Millisecond, 2, 200 * time.Millisecond},
		{"429", "POST", limit("9.5"), time.Hour, 4, 28500 * time.Millisecond},
		{"429 above the cap", "POST", limit("10.5"), time.Hour, 1, 0},
		{"429 beyond the deadline", "POST", limit("5"), 4 * time.Second, 1, 0},
		{"429 up to the deadline", "POST", limit("5"), 11 * time.Second, 3, 10 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				c := clientWith(t, triesOf(&tries, func(int, *http.Request) (*http.Response, error) { return row.answer(), nil }),
					ClientOptions{Resilience: Resilience{Jitter: JitterNone}})
				ctx, cancel := context.WithTimeout(t.Context(), row.deadline)
				defer cancel()
				start := time.Now()
				r := readChannel(keyChannel)
				r.Method = row.method
				if _, err := c.Do(ctx, r); err == nil {
					t.Error("it succeeded")
				}
				if took := time.Since(start); tries != row.tries || took != row.took {
					t.Errorf("%d tries in %v, want %d in %v", tries, took, row.tries, row.took)
				}
			})
		})
	}
}

func TestEndOfTheCallerEndsTheBackOff(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		method string
		code   mcpcore.Code
	}{{"GET", mcpcore.CodeCancelled}, {"PUT", mcpcore.CodeServerError}} {
		synctest.Test(t, func(t *testing.T) {
			c := clientWith(t, always(502), ClientOptions{Resilience: Resilience{BaseDelay: 5 * time.Second, Jitter: JitterNone}})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			start := time.Now()
			r := readChannel(keyChannel)
			r.Method, r.Repeatable = row.method, true
			_, err := c.Do(ctx, r)
			wantCode(t, err, row.code) // a write's open outcome is worth more than the caller's end
			if took := time.Since(start); took != time.Second {
				t.Errorf("%s: ended after %v, want the caller's second", row.method, took)
			}
		})
	}
}

func TestRetryLayerCanBeOff(t *testing.T) {
	t.Parallel()
	tries := 0
	c := clientWith(t, triesOf(&tries, func(int, *http.Request) (*http.Response, error) { return nil, errDial }),
		ClientOptions{Resilience: Resilience{NoRetry: true, Retries: 5}})
	_, err := c.Do(t.Context(), readChannel(keyChannel))
	wantCode(t, err, mcpcore.CodeServerError)
	if tries != 1 {
		t.Errorf("%d tries", tries)
	}
}

func TestTimeoutOfATry(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		method string
		tries  int
		took   time.Duration
		code   mcpcore.Code
	}{
		{"GET", 4, 121400 * time.Millisecond, mcpcore.CodeTimeout},
		{"POST", 1, 30 * time.Second, mcpcore.CodeOutcomeUnknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			c := clientWith(t, triesOf(&tries, func(_ int, r *http.Request) (*http.Response, error) { return hangs(r) }),
				ClientOptions{Resilience: Resilience{Jitter: JitterNone}})
			start := time.Now()
			r := readChannel(keyChannel)
			r.Method = row.method
			_, err := c.Do(t.Context(), r)
			wantCode(t, err, row.code)
			if took := time.Since(start); tries != row.tries || took != row.took {
				t.Errorf("%s: %d tries in %v, want %d in %v", row.method, tries, took, row.tries, row.took)
			}
		})
	}
}

func TestTimeoutReachesIntoTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientWith(t, transportFunc(func(r *http.Request) (*http.Response, error) {
			res := respond(200, nil, `{}`)
			res.ContentLength = -1
			res.Body = io.NopCloser(readerFunc(func([]byte) (int, error) {
				<-r.Context().Done()
				return 0, r.Context().Err()
			}))
			return res, nil
		}), ClientOptions{Resilience: Resilience{NoRetry: true}})
		start := time.Now()
		_, err := c.Do(t.Context(), readChannel(keyChannel))
		wantCode(t, err, mcpcore.CodeTimeout)
		_, err = c.Do(t.Context(), sendMessage(keyChannel))
		wantCode(t, err, mcpcore.CodeOutcomeUnknown)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("took %v, want 30s each", took)
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestTimeoutIsAboutDiscordAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := clientWith(t, triesOf(&tries, func(n int, r *http.Request) (*http.Response, error) {
			if n == 1 { // no room for five seconds
				return respond(200, limitHeader(0, 5*time.Second), `{}`), nil
			}
			select {
			case <-time.After(25 * time.Second): // longer than the session's own timeout
				return respond(200, nil, `{}`), nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}), ClientOptions{Resilience: Resilience{Timeout: 26 * time.Second}})
		for range 2 {
			if _, err := c.Do(t.Context(), sendMessage(keyChannel)); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestBulkheadHasNoQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		m := newMeters()
		sent := make(chan struct{})
		c := clientWith(t, transportFunc(func(*http.Request) (*http.Response, error) {
			sent <- struct{}{}
			return respond(200, nil, `{}`), nil
		}), ClientOptions{Resilience: Resilience{InFlight: 2}, Meter: m, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
		done := make(chan error)
		for _, channel := range []string{keyChannel, keyOther} {
			go func() { _, err := c.Do(t.Context(), readChannel(channel)); done <- err }()
		}
		synctest.Wait()
		for range 3 {
			_, err := c.Do(t.Context(), readChannel(keyMessage))
			wantCode(t, err, mcpcore.CodeBulkheadFull)
		}
		if n := m.count(t, "mcp.bulkhead.rejected.count", ""); n != 3 {
			t.Errorf("%d rejections counted, want 3", n)
		}
		if n := strings.Count(log.String(), "bulkhead_rejected"); n != 1 {
			t.Errorf("%d log lines, want one for the whole time it is full", n)
		}
		<-sent
		<-sent
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		go func() { <-sent }()
		if _, err := c.Do(t.Context(), readChannel(keyMessage)); err != nil {
			t.Errorf("with room again: %v", err)
		}
	})
}

func TestPanicKeepsNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := clientWith(t, triesOf(&tries, func(n int, _ *http.Request) (*http.Response, error) {
			switch {
			case n == 1:
				return respond(500, nil, ""), nil
			case n == 2:
				panic("transport")
			}
			return respond(200, nil, `{}`), nil
		}), ClientOptions{Resilience: Resilience{InFlight: 1, Failures: 1}})
		_, err := c.Do(t.Context(), sendMessage(keyChannel)) // opens the breaker
		wantCode(t, err, mcpcore.CodeOutcomeUnknown)
		time.Sleep(time.Minute)
		func() { // the probe
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_, _ = c.Do(t.Context(), sendMessage(keyChannel))
		}()
		if _, err := c.Do(t.Context(), sendMessage(keyChannel)); err != nil {
			t.Errorf("after a panic: %v", err)
		}
	})
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		method string
		answer transportFunc
		want   mcpcore.Code // "" for none
	}{
		{"500 after a write", "POST", always(500), mcpcore.CodeOutcomeUnknown},
		{"500 after a read", "GET", always(500), mcpcore.CodeServerError},
		{"rate limit", "POST", always(429), mcpcore.CodeRateLimited},
		{"no connection", "POST", func(*http.Request) (*http.Response, error) { return nil, errDial }, mcpcore.CodeServerError},
		{"the caller's deadline in a write", "POST", hangs, mcpcore.CodeOutcomeUnknown},
		{"the caller's deadline in a read", "GET", hangs, ""},
		{"success", "POST", always(200), ""},
		{"400", "POST", always(400), ""},
		{"401", "GET", always(401), ""},
		{"404", "GET", always(404), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log lockedBuffer
				m := newMeters()
				c := clientWith(t, row.answer, ClientOptions{Meter: m, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				r := readChannel(keyChannel)
				r.Method = row.method
				_, _ = c.Do(ctx, r)
				var letters []map[string]any
				for line := range strings.Lines(log.String()) {
					var l map[string]any
					if err := json.Unmarshal([]byte(line), &l); err != nil {
						t.Fatal(err)
					}
					if l["msg"] == "dead_letter" {
						letters = append(letters, l)
					}
					if strings.Contains(line, keyChannel) {
						t.Errorf("a log line shows more than the route: %s", line)
					}
				}
				if row.want == "" {
					if n := m.count(t, "mcp.deadletter.count", ""); len(letters) > 0 || n > 0 {
						t.Errorf("letters %v, %d counted; want none", letters, n)
					}
					return
				}
				if n := m.count(t, "mcp.deadletter.count", string(row.want)); n != 1 {
					t.Errorf("%d counted as %s, want 1", n, row.want)
				}
				if len(letters) != 1 || letters[0]["method"] != row.method || letters[0]["route"] != r.Route || letters[0]["error_type"] != string(row.want) {
					t.Errorf("letters %v, want one of %s %s, %s", letters, row.method, r.Route, row.want)
				}
			})
		})
	}
}

func TestRefusedHereIsNoDeadLetter(t *testing.T) {
	t.Parallel()
	m := newMeters()
	c := clientWith(t, always(500), ClientOptions{Meter: m, Resilience: Resilience{Failures: 1, NoRetry: true}})
	_, err := c.Do(t.Context(), sendMessage(keyChannel))
	wantCode(t, err, mcpcore.CodeOutcomeUnknown)
	for range 5 {
		_, err := c.Do(t.Context(), sendMessage(keyChannel))
		wantCode(t, err, mcpcore.CodeCircuitOpen)
	}
	if n := m.count(t, "mcp.deadletter.count", ""); n != 1 {
		t.Errorf("%d dead letters, want that of the call that was sent", n)
	}
}

// deniedClient answers 403 with a code while denied holds.
func deniedClient(t *testing.T, sent *int, log io.Writer, denied *atomic.Bool) *Client {
	return clientWith(t, triesOf(sent, func(int, *http.Request) (*http.Response, error) {
		if denied.Load() {
			return respond(403, nil, `{"message":"Missing Permissions","code":50013}`), nil
		}
		return respond(200, nil, `{}`), nil
	}), ClientOptions{Logger: slog.New(slog.NewJSONHandler(log, nil))})
}

func TestL25RepeatedRefusalsAreSlowedAndReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			sent   int
			log    lockedBuffer
			denied atomic.Bool
		)
		denied.Store(true)
		c := deniedClient(t, &sent, &log, &denied)
		try := func() *mcpcore.Error {
			t.Helper()
			_, err := c.Do(t.Context(), sendMessage(keyChannel))
			return wantCode(t, err, mcpcore.CodePermission)
		}
		for range 50 {
			try()
		}
		if sent != deniedMost {
			t.Errorf("%d requests for 50 calls, want %d", sent, deniedMost)
		}
		e := try()
		if e.Fields["retry_after_ms"] != int64(30000) || e.Fields["discord_code"] != 50013 || !strings.Contains(e.Detail, "not sent") {
			t.Errorf("%v %v does not say that it was answered here, until when and why", e, e.Fields)
		}
		if lines := strings.Count(log.String(), "keeps refusing"); lines != 1 || strings.Contains(log.String(), keyChannel) {
			t.Errorf("reported %d times, want once, without an id: %s", lines, log.String())
		}

		// Everything else goes on.
		denied.Store(false)
		other := readChannel(keyChannel)
		for _, r := range []Request{sendMessage(keyOther), other} {
			if _, err := c.Do(t.Context(), r); err != nil {
				t.Errorf("another call was held back: %v", err)
			}
		}
		denied.Store(true)

		// One request every half minute looks whether it is still so.
		sent = 0
		for range 600 {
			time.Sleep(time.Second)
			try()
		}
		if sent != 20 {
			t.Errorf("%d requests in ten minutes, want 20", sent)
		}
		time.Sleep(deniedHold)
		denied.Store(false)
		time.Sleep(deniedHold)
		for range 20 {
			if _, err := c.Do(t.Context(), sendMessage(keyChannel)); err != nil {
				t.Fatalf("once it is allowed: %v", err)
			}
		}
	})
}

func TestL25OneCallLooksWhetherItIsStillRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int32
		c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) {
			sent.Add(1)
			time.Sleep(20 * time.Millisecond)
			return respond(403, nil, `{"code":50013}`), nil
		}))
		for range deniedMost {
			_, _ = c.Do(t.Context(), sendMessage(keyChannel))
		}
		time.Sleep(deniedHold)
		sent.Store(0)
		errs, _ := all(8, func(int) error { _, err := c.Do(t.Context(), sendMessage(keyChannel)); return err })
		if sent.Load() != 1 || len(errs) != 8 {
			t.Errorf("%d requests and %d refusals for 8 calls side by side, want 1 and 8", sent.Load(), len(errs))
		}
	})
}

func TestL25OrdinaryRefusalsAreNotSlowed(t *testing.T) {
	t.Parallel()
	status := func(n int, body string) func(int) *http.Response {
		return func(int) *http.Response { return respond(n, nil, body) }
	}
	forbidden := status(403, `{"code":50013}`)
	for _, row := range []struct {
		name   string
		pause  time.Duration
		answer func(n int) *http.Response
		target func(n int) string
	}{
		{"seldom", 7 * time.Second, forbidden, nil},
		{"not found", 0, status(404, `{"code":10003}`), nil},
		{"malformed", 0, status(400, `{"code":50035}`), nil},
		{"each another target", 0, forbidden, func(n int) string { return fmt.Sprint(710000000000000000 + n) }},
		{"for another reason each", 0, func(n int) *http.Response { return respond(403, nil, fmt.Sprintf(`{"code":%d}`, 50001+12*(n%2))) }, nil},
		{"a success now and then", 0, func(n int) *http.Response {
			if n%10 == 0 {
				return respond(200, nil, `{}`)
			}
			return respond(403, nil, `{"code":50013}`)
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c := clientOn(t, triesOf(&sent, func(n int, _ *http.Request) (*http.Response, error) { return row.answer(n), nil }))
				for i := range 100 {
					channel := keyChannel
					if row.target != nil {
						channel = row.target(i)
					}
					_, _ = c.Do(t.Context(), sendMessage(channel))
					time.Sleep(row.pause)
				}
				if sent != 100 {
					t.Errorf("%d requests for 100 calls", sent)
				}
			})
		})
	}
}

func TestL25RefusalsOfOneKindWhateverTheQuery(t *testing.T) {
	t.Parallel()
	sent := 0
	c := clientOn(t, triesOf(&sent, func(int, *http.Request) (*http.Response, error) { return respond(403, nil, `{"code":50001}`), nil }))
	for i := range 30 {
		r := readChannel(keyChannel)
		r.Query = map[string][]string{"after": {fmt.Sprint(i)}}
		_, _ = c.Do(t.Context(), r)
	}
	if sent != deniedMost {
		t.Errorf("%d requests, want %d", sent, deniedMost)
	}
}

func TestL25RememberedRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) { return respond(403, nil, `{"code":50013}`), nil }))
		fill := func() {
			for i := range 2 * deniedKinds {
				_, _ = c.Do(t.Context(), sendMessage(fmt.Sprint(710000000000000000+i)))
			}
		}
		fill()
		if n := len(c.denied.kinds); n != deniedKinds {
			t.Errorf("%d kinds are remembered, want %d", n, deniedKinds)
		}
		time.Sleep(2*deniedWindow + time.Second)
		_, _ = c.Do(t.Context(), sendMessage(keyOther))
		if n := len(c.denied.kinds); n != 1 {
			t.Errorf("%d kinds are remembered when all but one are over", n)
		}
	})
}

// health of Discord as the breaker sees it.
func TestWhatOpensTheBreaker(t *testing.T) {
	t.Parallel()
	reset := func(*http.Request) (*http.Response, error) { return nil, errReset }
	short := func(*http.Request) (*http.Response, error) {
		res := respond(200, nil, `{"id":"1"}`)
		res.ContentLength = 100
		return res, nil
	}
	for _, row := range []struct {
		name   string
		method string
		answer transportFunc
		sent   int // requests of ten calls
		opens  bool
	}{
		{"500 after a write", "POST", always(500), 10, true},
		{"503 after a read", "GET", always(503), 40, true},
		{"connections reset in a write", "POST", reset, 10, true},
		{"no connection", "POST", func(*http.Request) (*http.Response, error) { return nil, errDial }, 40, true},
		{"no answer in time", "POST", hangs, 10, true},
		{"answers cut off", "POST", short, 10, true},
		{"429 after 500", "GET", alternating(always(500), func(*http.Request) (*http.Response, error) {
			return respond(429, nil, `{"retry_after":60}`), nil
		}), 20, true},
		{"success", "POST", always(200), 10, false},
		{"400", "POST", always(400), 10, false},
		{"404", "GET", always(404), 10, false},
		{"429", "POST", always(429), 40, false},
		{"a block at the edge", "GET", func(*http.Request) (*http.Response, error) {
			return respond(403, http.Header{"Content-Type": {"text/html"}}, "blocked"), nil
		}, 10, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log lockedBuffer
				m, sent := newMeters(), 0
				c := clientWith(t, triesOf(&sent, func(_ int, r *http.Request) (*http.Response, error) { return row.answer(r) }),
					ClientOptions{Meter: m, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
				r := readChannel(keyChannel)
				r.Method = row.method
				for i := range 10 {
					r.Path["channel_id"] = fmt.Sprint(710000000000000000 + i)
					_, err := c.Do(t.Context(), r)
					if e, ok := err.(*mcpcore.Error); ok && e.Code == mcpcore.CodeCircuitOpen {
						t.Fatal("it opened early")
					}
				}
				if sent != row.sent {
					t.Errorf("%d requests, want %d", sent, row.sent)
				}
				_, err := c.Do(t.Context(), r)
				if !row.opens {
					if e, ok := err.(*mcpcore.Error); ok && e.Code == mcpcore.CodeCircuitOpen {
						t.Error("it opened")
					}
					return
				}
				e := wantCode(t, err, mcpcore.CodeCircuitOpen)
				if e.Fields["retry_after_ms"] != int64(60000) || sent != row.sent {
					t.Errorf("fields %v, %d requests", e.Fields, sent-row.sent)
				}
				if n := m.count(t, "mcp.circuit.transitions", "open"); n != 1 || strings.Count(log.String(), "circuit_breaker_open") != 1 {
					t.Errorf("%d transitions counted, log %s", n, log.String())
				}
			})
		})
	}
}

func TestBreakerCountsInARow(t *testing.T) {
	t.Parallel()
	sent := 0
	c := clientOn(t, triesOf(&sent, func(n int, _ *http.Request) (*http.Response, error) {
		if n%10 == 0 { // a refusal shows that Discord works
			return respond(400, nil, `{"code":50035}`), nil
		}
		return respond(500, nil, ""), nil
	}))
	for range 100 {
		_, _ = c.Do(t.Context(), sendMessage(keyChannel))
	}
	if sent != 100 {
		t.Errorf("%d requests, want 100: never ten failures in a row", sent)
	}
}

func TestCallersThatGiveUpDoNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		c := clientOn(t, triesOf(&sent, func(_ int, r *http.Request) (*http.Response, error) { return hangs(r) }))
		for range 30 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := c.Do(ctx, sendMessage(keyChannel))
			wantCode(t, err, mcpcore.CodeOutcomeUnknown)
			cancel()
		}
		if sent != 30 {
			t.Errorf("%d requests, want 30", sent)
		}
	})
}

func TestBreakerCanBeOff(t *testing.T) {
	t.Parallel()
	sent := 0
	c := clientWith(t, triesOf(&sent, func(int, *http.Request) (*http.Response, error) { return respond(500, nil, ""), nil }),
		ClientOptions{Resilience: Resilience{NoBreaker: true, Failures: 1}})
	for range 30 {
		_, err := c.Do(t.Context(), sendMessage(keyChannel))
		wantCode(t, err, mcpcore.CodeOutcomeUnknown)
	}
	if sent != 30 {
		t.Errorf("%d requests, want 30", sent)
	}
}

func TestOneProbeDecides(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		probe  transportFunc
		closes bool
		wait   time.Duration // after a probe that shows nothing the next call is one
		states []string
	}{
		{"success", always(200), true, 0, []string{"open", "half-open", "closed"}},
		{"refusal", always(404), true, 0, []string{"open", "half-open", "closed"}},
		{"failure", always(500), false, time.Minute, []string{"open", "half-open", "open"}},
		{"rate limit", always(429), false, 0, []string{"open", "half-open"}},
		{"given up", hangs, false, 0, []string{"open", "half-open"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var answer atomic.Pointer[transportFunc]
				set := func(f transportFunc) { answer.Store(&f) }
				set(always(500))
				m, sent := newMeters(), atomic.Int32{}
				c := clientWith(t, transportFunc(func(r *http.Request) (*http.Response, error) {
					sent.Add(1)
					time.Sleep(100 * time.Millisecond)
					return (*answer.Load())(r)
				}), ClientOptions{Meter: m, Resilience: Resilience{Failures: 3, NoRetry: true}})
				for i := range 3 {
					_, err := c.Do(t.Context(), sendMessage(fmt.Sprint(710000000000000010+i)))
					wantCode(t, err, mcpcore.CodeOutcomeUnknown)
				}
				time.Sleep(time.Minute - time.Millisecond)
				_, err := c.Do(t.Context(), sendMessage(keyChannel))
				if e := wantCode(t, err, mcpcore.CodeCircuitOpen); e.Fields["retry_after_ms"] != int64(1) {
					t.Errorf("fields %v, want the millisecond that is left", e.Fields)
				}
				time.Sleep(time.Millisecond)

				set(row.probe)
				sent.Store(0)
				errs, _ := all(8, func(i int) error {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					_, err := c.Do(ctx, sendMessage(fmt.Sprint(710000000000000020+i)))
					return err
				})
				stopped := 0
				for _, err := range errs {
					if e, ok := err.(*mcpcore.Error); ok && e.Code == mcpcore.CodeCircuitOpen && e.Fields["retry_after_ms"] == int64(1000) {
						stopped++
					}
				}
				if sent.Load() != 1 || stopped != 7 {
					t.Errorf("%d requests and %d calls stopped for a second, want one probe and 7", sent.Load(), stopped)
				}
				var states []string
				for _, s := range []string{"open", "half-open", "closed"} {
					for range m.count(t, "mcp.circuit.transitions", s) {
						states = append(states, s)
					}
				}
				slices.Sort(states)
				slices.Sort(row.states)
				if !slices.Equal(states, row.states) {
					t.Errorf("went through %v, want %v", states, row.states)
				}

				set(always(200))
				if row.wait > 0 {
					_, err := c.Do(t.Context(), sendMessage(keyOther))
					wantCode(t, err, mcpcore.CodeCircuitOpen)
					time.Sleep(row.wait)
				}
				if _, err := c.Do(t.Context(), sendMessage(keyOther)); err != nil {
					t.Errorf("when Discord is back: %v", err)
				}
				if errs, _ := all(8, func(i int) error {
					_, err := c.Do(t.Context(), sendMessage(fmt.Sprint(710000000000000030+i)))
					return err
				}); len(errs) > 0 {
					t.Errorf("closed again: %v", errs)
				}
			})
		})
	}
}

// Calls that left before the breaker opened come back late; their answers are
// about the past and decide nothing.
func TestLateAnswersDoNotMoveTheBreaker(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 500} {
		synctest.Test(t, func(t *testing.T) {
			late, probe := make(chan struct{}), make(chan struct{})
			c := clientWith(t, transportFunc(func(r *http.Request) (*http.Response, error) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/"+keyOther):
					<-late
					return respond(status, nil, `{}`), nil
				case strings.HasSuffix(r.URL.Path, "/"+keyMessage):
					<-probe
					return respond(200, nil, `{}`), nil
				}
				return respond(500, nil, ""), nil
			}), ClientOptions{Resilience: Resilience{Failures: 2, HalfOpenAfter: 10 * time.Second, NoRetry: true, Timeout: time.Hour}})
			lateDone, probeDone := make(chan error), make(chan error)
			go func() { _, err := c.Do(t.Context(), readChannel(keyOther)); lateDone <- err }()
			synctest.Wait()
			for range 2 {
				_, err := c.Do(t.Context(), sendMessage(keyChannel))
				wantCode(t, err, mcpcore.CodeOutcomeUnknown)
			}
			time.Sleep(10 * time.Second)
			go func() { _, err := c.Do(t.Context(), readChannel(keyMessage)); probeDone <- err }()
			synctest.Wait()
			close(late)
			<-lateDone
			_, err := c.Do(t.Context(), sendMessage(keyChannel))
			if e := wantCode(t, err, mcpcore.CodeCircuitOpen); e.Fields["retry_after_ms"] != int64(1000) {
				t.Errorf("a late %d moved the breaker: %v", status, e.Fields)
			}
			close(probe)
			if err := <-probeDone; err != nil {
				t.Error(err)
			}
		})
	}
}
