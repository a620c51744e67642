package transport_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

const token = "a-token-of-at-least-32-characters"

// versions are one of each era.
var versions = []string{"2025-11-25", "2026-07-28"}

// site is a handler on an address of loopback.
type site struct {
	t       testing.TB
	handler *transport.Handler
	addr    string
	stop    context.CancelFunc
	done    chan error // what Serve returned
}

func newHandler(t testing.TB, work handler, opts transport.HandlerOptions) *transport.Handler {
	t.Helper()
	opts.Server = newServer(work)
	if opts.Verifier == nil && !opts.Open {
		opts.Token = token
	}
	h, err := transport.NewHandler(opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// serve serves until the test ends, with grace for what runs then.
func serve(t testing.TB, grace time.Duration, work handler, opts transport.HandlerOptions) *site {
	t.Helper()
	return serveOn(t, grace, newHandler(t, work, opts), nil)
}

func serveOn(t testing.TB, grace time.Duration, h *transport.Handler, server *http.Server) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &site{t: t, handler: h, addr: l.Addr().String(), stop: stop, done: make(chan error, 1)}
	go func() { s.done <- h.Serve(ctx, l, server, grace) }()
	t.Cleanup(stop)
	return s
}

func (s *site) url() string { return "http://" + s.addr + "/mcp" }

// bearing adds a token to each request.
type bearing struct {
	token string
	next  http.RoundTripper
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// connect is a client of a version with a token.
func (s *site) connect(version, token string, opts *mcp.ClientOptions) (*mcp.ClientSession, error) {
	tr := &http.Transport{MaxIdleConnsPerHost: 100}
	s.t.Cleanup(tr.CloseIdleConnections)
	return mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, opts).Connect(s.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: s.url(), HTTPClient: &http.Client{Transport: bearing{token, tr}}},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
}

func (s *site) client(version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	s.t.Helper()
	c, err := s.connect(version, token, opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// newRequest is a POST as clients of 2025-11-25 send it; headers are name and value in turn, an empty value removes.
func newRequest(url, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, url, strings.NewReader(body))
	r.RequestURI = ""
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return r
}

// modern are the headers of a call of "work" in the 2026-07-28 form.
var modern = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "work"}

// send sends a request over the network and reads the whole answer.
func (s *site) send(r *http.Request) (*http.Response, string) {
	s.t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(body)
}

// begin begins a session as 2025-11-25 does, and gives its id.
func (s *site) begin(headers ...string) string {
	s.t.Helper()
	res, body := s.send(newRequest(s.url(), initialize, headers...))
	id := res.Header.Get("Mcp-Session-Id")
	if res.StatusCode != http.StatusOK || id == "" {
		s.t.Fatalf("initialize: %s %s", res.Status, body)
	}
	return id
}

// within waits until it is so.
func within(t testing.TB, what string, so func() bool) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("never: %s", what)
		}
	}
}

// users verifies tokens that are the user's name.
func users(_ context.Context, name string, _ *http.Request) (*auth.TokenInfo, error) {
	if name == "stranger" {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: name, Expiration: time.Now().Add(time.Hour)}, nil
}
