package transport_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

func TestHTTPBodyThatIsTooLong(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, echo, transport.HandlerOptions{})
	long := func(bytes int) string {
		return strings.TrimSuffix(legacyCall, "}}}") + `"a":"` + strings.Repeat("x", bytes) + `"}}}`
	}
	for name, row := range map[string]struct {
		bytes, status int
		chunked       bool
	}{
		"just short enough":          {4<<20 - 200, 200, false},
		"just short enough, chunked": {4<<20 - 200, 200, true},
		"5 MB":                       {5e6, 413, false},
		"5 MB, chunked":              {5e6, 413, true},
		"50 MB, chunked":             {50e6, 413, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, headers := range [][]string{{"Mcp-Session-Id", s.begin()}, {"Mcp-Protocol-Version", "2025-11-25"}} {
				r := newRequest(s.url(), long(row.bytes), headers...)
				if row.chunked {
					r.ContentLength = -1
				}
				res, err := new(http.Transport).RoundTrip(r) // a connection of its own
				if err != nil {
					if row.status == 413 { // refused while it was still sending
						continue
					}
					t.Fatal(err)
				}
				body, _ := io.ReadAll(res.Body)
				res.Body.Close()
				if res.StatusCode != row.status || row.status == 413 && (!strings.Contains(string(body), "4194304") || !res.Close) {
					t.Errorf("%s %.200s (close: %t), want %d", res.Status, body, res.Close, row.status)
				}
			}
		})
	}
}

// gate is a tool that waits until it is let go on.
type gate struct{ entered, open chan struct{} }

func newGate() gate { return gate{make(chan struct{}, 1000), make(chan struct{})} }

func (g gate) work(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	g.entered <- struct{}{}
	select {
	case <-g.open:
		return result("done"), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestHTTPTooManyCalls(t *testing.T) {
	t.Parallel()
	const most = 4
	g := newGate()
	s := serve(t, 0, g.work, transport.HandlerOptions{MaxInFlight: most})
	id := s.begin()
	var calls sync.WaitGroup
	for i := range most {
		calls.Go(func() {
			body := strings.Replace(legacyCall, `"id":1`, fmt.Sprintf(`"id":%d`, i+10), 1)
			headers := []string{"Mcp-Session-Id", id}
			if i%2 == 0 {
				body, headers = call("1", `{}`), modern
			}
			if res, got := s.send(newRequest(s.url(), body, headers...)); res.StatusCode != 200 || !strings.Contains(got, "done") {
				t.Errorf("%s %s", res.Status, got)
			}
		})
	}
	for range most {
		<-g.entered
	}
	for name, headers := range map[string][]string{"1": modern, "2": {"Mcp-Session-Id", id}, "3": nil} {
		body := map[string]string{"1": call(name, `{}`), "2": strings.Replace(legacyCall, `"id":1`, `"id":2`, 1), "3": strings.Replace(initialize, `"init"`, "3", 1)}[name]
		res, got := s.send(newRequest(s.url(), body, headers...))
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") != "1" || !res.Close {
			t.Errorf("%s %v (close: %t)", res.Status, res.Header, res.Close)
		}
		wantError(t, got, -32000, name, "again later")
	}
	// What is no call gets through: a running one may wait for it.
	if res, got := s.send(newRequest(s.url(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)); res.StatusCode != http.StatusAccepted {
		t.Errorf("a notification: %s %s", res.Status, got)
	}
	close(g.open)
	calls.Wait()
	if res, got := s.send(newRequest(s.url(), call("1", `{}`), modern...)); res.StatusCode != 200 {
		t.Errorf("afterwards: %s %s", res.Status, got)
	}
}

// As many clients as there are places wait for their users at once, and each hears the answer.
func TestHTTPAnswersGetThroughWhenItIsFull(t *testing.T) {
	t.Parallel()
	const most = 4
	s := serve(t, 0, asks, transport.HandlerOptions{MaxInFlight: most})
	var waiting, calls sync.WaitGroup
	waiting.Add(most)
	for range most {
		session := s.client("2025-11-25", &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			waiting.Done()
			waiting.Wait()
			return &mcp.ElicitResult{Action: "accept"}, nil
		}})
		calls.Go(func() {
			if res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Arguments: map[string]int{}}); err != nil || textOf(t, res) != "accept for {}" {
				t.Errorf("%v, %v", res, err)
			}
		})
	}
	calls.Wait()
}

// A client that is refused with 503 can go on using its session.
func TestHTTPClientSurvivesARefusal(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		g := newGate()
		s := serve(t, 0, g.work, transport.HandlerOptions{MaxInFlight: 1})
		one, other := s.client(version, nil), s.client(version, nil)
		var calls sync.WaitGroup
		calls.Go(func() {
			if _, err := one.CallTool(t.Context(), &mcp.CallToolParams{Name: "work"}); err != nil {
				t.Error(err)
			}
		})
		<-g.entered
		if _, err := other.CallTool(t.Context(), &mcp.CallToolParams{Name: "work"}); err == nil || !strings.Contains(err.Error(), "Service Unavailable") {
			t.Errorf("%s: %v", version, err)
		}
		close(g.open)
		calls.Wait()
		if res, err := other.CallTool(t.Context(), &mcp.CallToolParams{Name: "work"}); err != nil || textOf(t, res) != "done" {
			t.Errorf("%s afterwards: %v, %v", version, res, err)
		}
	}
}

// A client that calls again as soon as it has its answer finds its place, also where there is one alone.
func TestHTTPNextCallFindsItsPlace(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, echo, transport.HandlerOptions{MaxInFlight: 1})
	for _, version := range versions {
		session := s.client(version, nil)
		for range 200 {
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work"}); err != nil {
				t.Fatalf("%s: %v", version, err)
			}
		}
	}
}

// TestHTTPTenThousandSessions opens them, and finds all of it released when they have timed out. It
// runs alone, since it counts the process's goroutines.
func TestHTTPTenThousandSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 10_000
		h := newHandler(t, echo, transport.HandlerOptions{MaxSessions: most, SessionTimeout: time.Minute})
		post := func(body string, headers ...string) *httptest.ResponseRecorder {
			r := newRequest("http://localhost/mcp", body, headers...)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		goroutines := runtime.NumGoroutine()
		ids := map[string]bool{}
		fill := func() {
			clear(ids)
			for range most {
				w := post(initialize)
				if w.Code != http.StatusOK {
					t.Fatalf("after %d sessions: %d %s", len(ids), w.Code, w.Body)
				}
				ids[w.Header().Get("Mcp-Session-Id")] = true
			}
			if len(ids) != most {
				t.Fatalf("%d ids", len(ids))
			}
		}
		fill()
		w := post(initialize) // in the place of an idle one
		if w.Code != http.StatusOK {
			t.Errorf("one more: %d %s", w.Code, w.Body)
		}
		one := w.Header().Get("Mcp-Session-Id")
		if w := post(call("1", `{}`), modern...); w.Code != http.StatusOK {
			t.Errorf("a call without session: %d %s", w.Code, w.Body)
		}
		for range 4 { // one is used, and outlives the others
			time.Sleep(40 * time.Second)
			synctest.Wait()
			if w := post(ping, "Mcp-Session-Id", one); w.Code != http.StatusOK {
				t.Fatalf("the used one: %d %s", w.Code, w.Body)
			}
		}
		if w := post(initialize); w.Code != http.StatusOK {
			t.Errorf("afterwards: %d %s", w.Code, w.Body)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for id := range ids {
			if w := post(ping, "Mcp-Session-Id", id); w.Code != http.StatusNotFound {
				t.Errorf("the session is still there: %d %s", w.Code, w.Body)
			}
		}
		before := heap()
		fill()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if left := runtime.NumGoroutine() - goroutines; left > 0 {
			buf := make([]byte, 1<<16)
			t.Errorf("%d goroutines are left: %s", left, buf[:runtime.Stack(buf, true)])
		}
		if grown := heap() - before; grown > 2<<20 {
			t.Errorf("%d bytes are left of the second ten thousand", grown)
		}
	})
}

// Over the limit the longest idle session of the same user makes room, and nobody else's; without one it is 503.
func TestHTTPIdleSessionMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, echo, transport.HandlerOptions{MaxSessions: 3, Verifier: users})
		send := func(ctx context.Context, method, body, user, id string) *httptest.ResponseRecorder {
			r := newRequest("http://localhost/mcp", body, "Authorization", "Bearer "+user, "Mcp-Session-Id", id).WithContext(ctx)
			r.Method = method
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		begin := func(user string) (id string) {
			t.Helper()
			time.Sleep(time.Second)
			w := send(t.Context(), http.MethodPost, initialize, user, "")
			if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") != "" {
				return ""
			}
			if w.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", user, w.Code, w.Body)
			}
			return w.Header().Get("Mcp-Session-Id")
		}
		status := func(user, id string) int {
			time.Sleep(time.Second)
			return send(t.Context(), http.MethodPost, ping, user, id).Code
		}
		first, second, bens := begin("ana"), begin("ana"), begin("ben")
		if got := status("ana", first); got != http.StatusOK { // so that it is the second that is idle for longest
			t.Fatal(got)
		}
		third := begin("ana")
		if got := status("ana", second); third == "" || got != http.StatusNotFound {
			t.Errorf("the longest idle one answers %d; the new one is %q", got, third)
		}
		if begin("eva") != "" {
			t.Error("somebody's session made room for another user")
		}
		for user, id := range map[string]string{"ana": third, "ben": bens} {
			if got := status(user, id); got != http.StatusOK {
				t.Errorf("one of %s answers %d", user, got)
			}
		}
		if got := status("ana", first); got != http.StatusOK {
			t.Errorf("the one that was used answers %d", got)
		}

		// A session whose client listens is not idle.
		var streams sync.WaitGroup
		ctx, leave := context.WithCancel(t.Context())
		for _, id := range []string{first, third} {
			streams.Go(func() { send(ctx, http.MethodGet, "", "ana", id) })
		}
		synctest.Wait()
		if begin("ana") != "" {
			t.Error("a session in use made room")
		}
		leave()
		streams.Wait()
		if begin("ana") == "" {
			t.Error("afterwards there is no room")
		}
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// dial opens connections that send a beginning and nothing more.
func (s *site) dial(n int, begin string) (all []net.Conn) {
	s.t.Helper()
	for range n {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, begin); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// TestHTTPSlowConnections has a thousand of each kind; it runs alone, since it counts the process's goroutines.
func TestHTTPSlowConnections(t *testing.T) {
	const many = 1000
	before := runtime.NumGoroutine()
	h := newHandler(t, echo, transport.HandlerOptions{ReadTimeout: 2 * time.Second, MaxInFlight: 8})
	s := serveOn(t, 0, h, &http.Server{ReadHeaderTimeout: 2 * time.Second, Handler: h})
	fine := func() {
		t.Helper()
		if res, got := s.send(newRequest(s.url(), call("1", `{}`), modern...)); res.StatusCode != 200 {
			t.Errorf("a call meanwhile: %s %s", res.Status, got)
		}
	}
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"
	statuses := func(conns []net.Conn) map[string]int {
		got := map[string]int{}
		for _, c := range conns {
			_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
			line, err := bufio.NewReader(c).ReadString('\n')
			if err != nil {
				line = "closed"
			}
			got[strings.TrimSpace(strings.TrimPrefix(line, "HTTP/1.1 "))]++
			c.Close()
		}
		return got
	}

	slow := s.dial(many, head) // the header does not end
	fine()
	if got := statuses(slow); got["closed"]+got["408 Request Timeout"] != many {
		t.Errorf("slow headers: %v", got)
	}
	strangers := s.dial(many, head+"\r\n{") // the body does not come, nor a token
	fine()
	if got := statuses(strangers); got["401 Unauthorized"] != many {
		t.Errorf("slow bodies of strangers: %v", got)
	}
	users := s.dial(many, head+"Authorization: Bearer "+token+"\r\n\r\n{")
	if got := statuses(users); got["408 Request Timeout"] < 8 || got["408 Request Timeout"]+got["503 Service Unavailable"] != many {
		t.Errorf("slow bodies: %v", got)
	}
	fine()
	http.DefaultClient.CloseIdleConnections()
	s.stop()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	within(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+5 })
}

// A client that does not read what it asked for is let go.
func TestHTTPClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	ended := make(chan struct{})
	h := newHandler(t, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return result(strings.Repeat(long, 16)), nil
	}, transport.HandlerOptions{WriteTimeout: 300 * time.Millisecond, MaxInFlight: 1})
	s := serveOn(t, 0, h, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		h.ServeHTTP(w, r)
	})})
	r := newRequest(s.url(), call("1", `{}`), modern...)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := r.Write(c); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		t.Fatal("it is still waited for")
	}
}
