package discordtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const soakCallers = 32

// trouble is what a soak's Discord does for a while.
type trouble struct {
	name   string
	share  float64 // of the requests are struck
	fault  sandbox.Fault
	limits []sandbox.Limit
	outage bool // nobody is to succeed
}

func troubles(pace func(time.Duration) time.Duration) []trouble {
	wait := pace(700 * time.Millisecond)
	return []trouble{
		{name: "none"},
		{name: "500 before execution", share: 0.4, fault: sandbox.Fault{Status: 500}},
		{name: "503 after execution", share: 0.4, fault: sandbox.Fault{Status: 503, AfterExecution: true}},
		{name: "502 page", share: 0.4, fault: sandbox.Fault{Status: 502, HTML: true}},
		{name: "reset before execution", share: 0.4, fault: sandbox.Fault{Reset: true}},
		{name: "reset after execution", share: 0.4, fault: sandbox.Fault{Reset: true, AfterExecution: true}},
		{name: "truncated", share: 0.4, fault: sandbox.Fault{Truncate: true}},
		{name: "slow", share: 0.3, fault: sandbox.Fault{Delay: pace(8 * time.Second)}},
		{name: "slow, then lost", share: 0.3, fault: sandbox.Fault{Delay: pace(time.Second), Reset: true, AfterExecution: true}},
		{name: "429 user", share: 0.1, fault: sandbox.Fault{RateLimit: "user", RetryAfter: wait}},
		{name: "429 shared", share: 0.1, fault: sandbox.Fault{RateLimit: "shared", RetryAfter: wait}},
		{name: "429 global", share: 0.03, fault: sandbox.Fault{RateLimit: "global", RetryAfter: wait}},
		{name: "blocked by the edge", share: 0.02, fault: sandbox.Fault{Status: 429, HTML: true, RetryAfter: pace(2 * time.Second)}},
		{name: "narrow windows", limits: []sandbox.Limit{{Max: 2, Per: pace(time.Second)}}},
		{name: "outage", share: 1, fault: sandbox.Fault{Status: 500}, outage: true},
	}
}

// soak drives one client against Discords in trouble and holds every call
// against what its Discord carried out.
type soak struct {
	*testing.T
	pace    func(time.Duration) time.Duration
	slack   time.Duration // beyond a call's deadline, for the machine's sake
	length  time.Duration // of each trouble
	client  *Client
	meters  meters
	world   atomic.Pointer[sandbox.Discord]
	trouble atomic.Pointer[trouble]
	struck  atomic.Int64
	done    atomic.Int64 // writes that succeeded

	mu       sync.Mutex
	executed map[string]int // by what the write says
	ended    map[string]mcpcore.Code
	calls    map[string]int // by code, for the log
}

// options are the defaults with a shorter timeout and breaker, to meet more.
func (s *soak) options(base string) ClientOptions {
	return ClientOptions{Base: base, Meter: s.meters, Resilience: Resilience{
		HalfOpenAfter: s.pace(10 * time.Second), BaseDelay: s.pace(200 * time.Millisecond), MaxDelay: s.pace(10 * time.Second), Timeout: s.pace(5 * time.Second),
	}}
}

// RoundTrip takes some time, strikes some requests and hands them to the world.
func (s *soak) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(s.pace(time.Duration(20+rand.IntN(60)) * time.Millisecond)):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	world, trouble := s.world.Load(), s.trouble.Load()
	if rand.Float64() < trouble.share {
		s.struck.Add(1)
		world.Inject(trouble.fault) // strikes this request or one beside it
	}
	return world.RoundTrip(r)
}

// seen notes a write that the world was asked for.
func (s *soak) seen(r sandbox.Request) {
	if !r.Executed || r.Method != "POST" && r.Method != "PATCH" {
		return
	}
	var body struct{ Content, Topic string }
	if err := json.Unmarshal(r.Body, &body); err != nil {
		s.Errorf("%s: %v", r.Route, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.executed[body.Content+body.Topic]++
}

// call makes one call, the n-th of a caller, and holds it to its deadline.
func (s *soak) call(caller, n int) {
	words := fmt.Sprintf("%d-%d", caller, n)
	channel := map[string]string{"channel_id": string([]discord.ChannelID{sandbox.DemoGeneral, sandbox.DemoShowcase}[n%2])}
	r := Request{Method: "POST", Route: "/channels/{channel_id}/messages", Path: channel, Body: []byte(`{"content":"` + words + `"}`)}
	switch kind := rand.IntN(10); {
	case kind < 2:
		r = Request{Method: "GET", Route: "/channels/{channel_id}", Path: channel}
	case kind < 3:
		r = Request{Method: "PATCH", Route: "/channels/{channel_id}", Path: channel, Body: []byte(`{"topic":"` + words + `"}`)}
	case kind < 4:
		r = Request{Method: "PUT", Route: "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me", Repeatable: true,
			Path: map[string]string{"channel_id": string(sandbox.DemoGeneral), "message_id": string(sandbox.DemoPoll), "emoji_name": "👍"}}
	}
	allowed := s.pace(time.Duration(500+rand.IntN(19500)) * time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), allowed)
	defer cancel()
	start := time.Now()
	_, err := s.client.Do(ctx, r)
	if took := time.Since(start); took > allowed+s.slack {
		s.Errorf("%s: %s ended after %v, its deadline was %v", s.trouble.Load().name, r.Method, took, allowed)
	}
	code := mcpcore.Code("")
	if e, ok := errors.AsType[*mcpcore.Error](err); ok {
		code = e.Code
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[string(code)]++
	if r.Method == "POST" || r.Method == "PATCH" {
		s.ended[words] = code
		if code == "" {
			s.done.Add(1)
		}
	}
}

// run lets all callers work through one trouble and compares.
func (s *soak) run(t trouble) {
	s.executed, s.ended = map[string]int{}, map[string]mcpcore.Code{}
	if t.limits == nil {
		t.limits = []sandbox.Limit{{Method: "GET", Max: 50, Per: s.pace(time.Second)}, {Max: 10, Per: s.pace(time.Second)}}
	}
	world := sandbox.DemoWith(sandbox.Options{Limits: t.limits})
	world.Observe(s.seen)
	s.world.Store(world)
	s.trouble.Store(&t)
	s.struck.Store(0)
	s.done.Store(0)

	// Where some must succeed, a machine that is busy elsewhere gets more time: an
	// open breaker lets nothing through for a while.
	end := time.Now().Add(s.length)
	last := end
	if !t.outage {
		last = end.Add(20 * s.length)
	}
	more := func() bool {
		now := time.Now()
		return now.Before(end) || s.done.Load() == 0 && now.Before(last)
	}
	var callers sync.WaitGroup
	for i := range soakCallers {
		callers.Go(func() {
			for n := 0; more(); n++ {
				s.call(i, n)
				time.Sleep(s.pace(time.Duration(100+rand.IntN(300)) * time.Millisecond))
			}
		})
	}
	callers.Wait()
	time.Sleep(s.pace(11 * time.Second)) // what is lost arrives, bans and the breaker's time pass

	s.mu.Lock()
	defer s.mu.Unlock()
	for words, code := range s.ended {
		n := s.executed[words]
		switch code {
		case "":
			if n != 1 {
				s.Errorf("%s: write %s succeeded and was carried out %d times", t.name, words, n)
			}
		case mcpcore.CodeOutcomeUnknown:
			if n > 1 {
				s.Errorf("%s: write %s was carried out %d times", t.name, words, n)
			}
		case mcpcore.CodeRateLimited, mcpcore.CodeCircuitOpen, mcpcore.CodeBulkheadFull, mcpcore.CodeCloudflare, mcpcore.CodeTimeout, mcpcore.CodeServerError:
			if n != 0 {
				s.Errorf("%s: write %s ended as %s and was carried out %d times", t.name, words, code, n)
			}
		default:
			s.Errorf("%s: write %s ended as %s", t.name, words, code)
		}
	}
	if done := s.done.Load(); (done > 0) == t.outage {
		s.Errorf("%s: %d of %d writes succeeded", t.name, done, len(s.ended))
	}
	if t.share > 0 && s.struck.Load() == 0 {
		s.Errorf("%s: no request was struck", t.name)
	}
}

// cycle goes through every trouble once.
func (s *soak) cycle() {
	for _, t := range troubles(s.pace) {
		s.run(t)
	}
	s.run(trouble{name: "recovery"})
}

// heap is what is held between two troubles.
func (s *soak) heap() uint64 {
	s.world.Store(nil)
	s.executed, s.ended = nil, nil
	if n := len(s.client.limits.lanes); n != 0 {
		s.Errorf("%d lanes are left when nothing is in flight", n)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one only let go of, such as connections
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// conclude looks at what must hold after all cycles.
func (s *soak) conclude(before, after uint64) {
	const most = 2 << 20
	if after > before+most {
		s.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	opened, closed := s.meters.count(s.T, "mcp.circuit.transitions", "open"), s.meters.count(s.T, "mcp.circuit.transitions", "closed")
	if opened == 0 || closed == 0 {
		s.Errorf("the breaker opened %d times and closed %d times", opened, closed)
	}
	for i := range s.client.layers.InFlight {
		if !s.client.layers.bulkhead.TryAcquirePermit() {
			s.Fatalf("%d places of the bulkhead are not given back", s.client.layers.InFlight-i)
		}
	}
	s.Logf("ended as %v; %d dead letters; the breaker opened %d times and closed %d times; heap %d, then %d KiB",
		s.calls, s.meters.count(s.T, "mcp.deadletter.count", ""), opened, closed, before>>10, after>>10)
}

// TestSoak is 32 callers against a Discord in every kind of trouble, in time
// that does not pass. It is not parallel: it measures the heap.
func TestSoak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &soak{T: t, length: 30 * time.Second, pace: func(d time.Duration) time.Duration { return d }, meters: newMeters(), calls: map[string]int{}}
		s.client = clientWith(t, s, s.options(""))
		s.client.session.Token = "Bot " + sandbox.Demo().Token()
		s.cycle()
		before := s.heap()
		s.cycle()
		s.conclude(before, s.heap())
	})
}

// TestSoakInRealTime is [TestSoak] at ten times the speed over real connections,
// for about as long as GUILDWARDEN_SOAK says, and once through every trouble.
func TestSoakInRealTime(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("GUILDWARDEN_SOAK"))
	if err != nil || length <= 0 {
		t.Skip("SKIPPED: THE SOAK OVER REAL CONNECTIONS DID NOT RUN. To run it: GUILDWARDEN_SOAK=60s go test ./discordtools -run SoakInRealTime -v")
	}
	s := &soak{
		T: t, length: 1200 * time.Millisecond, pace: func(d time.Duration) time.Duration { return d / 10 }, slack: 2 * time.Second,
		meters: newMeters(), calls: map[string]int{},
	}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	defer server.Close()
	wire := http.DefaultTransport.(*http.Transport).Clone()
	wire.MaxIdleConnsPerHost = soakCallers
	defer wire.CloseIdleConnections()
	s.client = clientWith(t, wire, s.options(server.URL+"/api/v10"))
	s.client.session.Token = "Bot " + sandbox.Demo().Token()

	end := time.Now().Add(length)
	s.run(trouble{name: "warming up"})
	before := s.heap()
	for ok := true; ok; ok = time.Now().Before(end) && !t.Failed() {
		s.cycle()
	}
	s.conclude(before, s.heap())
}

// serve speaks for the world over a connection. Where the world gives no answer
// or half of one, the connection breaks.
func (s *soak) serve(w http.ResponseWriter, r *http.Request) {
	res, err := s.RoundTrip(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer res.Body.Close()
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", fmt.Sprint(res.ContentLength))
	w.WriteHeader(res.StatusCode)
	if _, err := io.Copy(w, res.Body); err != nil {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}
