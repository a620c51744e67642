package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

func TestHTTPClientOfEachVersion(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, echo, transport.HandlerOptions{MaxInFlight: 64})
	for _, version := range mcp.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			session := s.client(version, nil)
			if got := session.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("negotiated %s", got)
			}
			if tools, err := session.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 1 {
				t.Fatalf("tools: %v, %v", tools, err)
			}
			var calls sync.WaitGroup
			for i := range 12 {
				calls.Go(func() {
					want := fmt.Sprint(i) + strings.Repeat("x", i*10_000)
					res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Arguments: map[string]string{"a": want}})
					if err != nil {
						t.Errorf("call %d: %v", i, err)
						return
					}
					if got := textOf(t, res); got != `{"a":"`+want+`"}` {
						t.Errorf("call %d: got %.40s", i, got)
					}
				})
			}
			calls.Wait()
		})
	}
}

// asks asks in the form that serves both eras.
func asks(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if answer, ok := req.Params.InputResponses["q"].(*mcp.ElicitResult); ok {
		return result(answer.Action + " for " + string(req.Params.Arguments)), nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{}, InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{
		Mode: "form", Message: string(req.Params.Arguments), RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
	}}}, nil
}

// Two clients in each era ask and are asked at once, with the same ids: each hears of its own calls alone.
func TestHTTPQuestionsStayWithTheirClient(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, asks, transport.HandlerOptions{MaxInFlight: 64})
	for _, version := range versions {
		for n := range 2 {
			t.Run(fmt.Sprint(version, n), func(t *testing.T) {
				t.Parallel()
				name := fmt.Sprintf("%s-%d", version, n)
				session := s.client(version, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					if !strings.Contains(r.Params.Message, name) {
						t.Errorf("%s was asked %s", name, r.Params.Message)
					}
					return &mcp.ElicitResult{Action: "accept"}, nil
				}})
				for i := range 20 {
					args := map[string]string{"who": fmt.Sprint(name, "/", i)}
					res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Arguments: args})
					if err != nil {
						t.Fatal(err)
					}
					if got, want := textOf(t, res), `accept for {"who":"`+args["who"]+`"}`; got != want {
						t.Errorf("got %s, want %s", got, want)
					}
				}
			})
		}
	}
}

func whoami(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return result("nobody"), nil
	}
	return result(req.Extra.TokenInfo.UserID), nil
}

func TestHTTPCallsHaveTheUserOfTheirToken(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		opts        transport.HandlerOptions
		token, user string
	}{
		"the one token": {transport.HandlerOptions{}, token, "http"},
		"open":          {transport.HandlerOptions{Open: true}, "whatever", "http"},
		"a verifier":    {transport.HandlerOptions{Verifier: users}, "ana", "ana"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, 0, whoami, row.opts)
			for _, version := range versions {
				session, err := s.connect(version, row.token, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work"})
				if err != nil {
					t.Fatal(err)
				}
				if got := textOf(t, res); got != row.user {
					t.Errorf("%s: the user is %q, want %q", version, got, row.user)
				}
			}
		})
	}
}

// What a session's later requests bring counts, not what the first one brought.
func TestHTTPTokenIsThatOfTheRequest(t *testing.T) {
	t.Parallel()
	expired := false
	s := serve(t, 0, echo, transport.HandlerOptions{Verifier: func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
		if expired {
			return nil, auth.ErrInvalidToken
		}
		return users(ctx, token, r)
	}})
	id := s.begin("Authorization", "Bearer ana")
	send := func() int {
		res, _ := s.send(newRequest(s.url(), ping, "Authorization", "Bearer ana", "Mcp-Session-Id", id))
		return res.StatusCode
	}
	if got := send(); got != http.StatusOK {
		t.Fatalf("before: %d", got)
	}
	expired = true
	if got := send(); got != http.StatusUnauthorized {
		t.Errorf("after: %d", got)
	}
}

func TestHTTPSessionHasAServerOfItsOwn(t *testing.T) {
	t.Parallel()
	made := make(chan string, 10)
	s := serve(t, 0, echo, transport.HandlerOptions{Session: func(r *http.Request) *mcp.Server {
		if r.Header.Get("X-Refuse") != "" {
			return nil
		}
		made <- auth.TokenInfoFromContext(r.Context()).UserID
		return newServer(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return result("its own"), nil
		})
	}})
	for version, want := range map[string]string{"2025-11-25": "its own", "2026-07-28": "{}"} {
		res, err := s.client(version, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Arguments: map[string]string{}})
		if err != nil {
			t.Fatal(err)
		}
		if got := textOf(t, res); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
	if len(made) != 1 || <-made != "http" {
		t.Errorf("Session was called %d times more, or for another user", len(made))
	}
	if res, body := s.send(newRequest(s.url(), initialize, "X-Refuse", "1")); res.StatusCode != http.StatusForbidden {
		t.Errorf("without a server: %s %s", res.Status, body)
	}
}

// Clients that never begin a session are served without one.
func TestHTTPOlderClientWithoutSession(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, echo, transport.HandlerOptions{})
	res, body := s.send(newRequest(s.url(), legacyCall, "Mcp-Protocol-Version", "2025-11-25"))
	if res.StatusCode != http.StatusOK || !strings.Contains(body, `"text":"{}"`) || res.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("%s %v %s", res.Status, res.Header, body)
	}
}

func TestHTTPRequestsThatAreNone(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, echo, transport.HandlerOptions{})
	id := s.begin()
	in := []string{"Mcp-Session-Id", id}
	for name, row := range map[string]struct {
		method, body string
		headers      []string
		status       int
		says         string
	}{
		"not JSON":                      {"POST", `{`, in, 400, "malformed"},
		"nothing":                       {"POST", ``, in, 400, "non-empty"},
		"a number":                      {"POST", `1`, in, 400, ""},
		"a batch":                       {"POST", `[` + ping + `]`, append(in, "Mcp-Protocol-Version", "2025-11-25"), 400, "batches"},
		"a version that is none":        {"POST", ping, append(in, "Mcp-Protocol-Version", "2025-01-01"), 400, "2025-11-25"},
		"a later version":               {"POST", ping, []string{"Mcp-Protocol-Version", "2099-01-01"}, 400, ""},
		"a newer call without headers":  {"POST", call("1", `{}`), nil, 400, "header"},
		"a newer call, other method":    {"POST", call("1", `{}`), append([]string{"Mcp-Method", "ping"}, modern[:2]...), 400, "Mcp-Method"},
		"a form":                        {"POST", ping, append(in, "Content-Type", "application/x-www-form-urlencoded"), 415, "application/json"},
		"no events wanted":              {"POST", ping, append(in, "Accept", "application/json"), 400, "text/event-stream"},
		"no events wanted of a stream":  {"GET", "", append(in, "Accept", "application/json"), 400, "text/event-stream"},
		"a session that is none":        {"POST", ping, []string{"Mcp-Session-Id", "x"}, 404, "begin another"},
		"a session of another replica":  {"POST", ping, []string{"Mcp-Session-Id", "b.x"}, 404, "replica b"},
		"a stream of no session":        {"GET", "", nil, 405, ""},
		"an end of no session":          {"DELETE", "", nil, 405, ""},
		"another method":                {"PUT", ping, in, 405, ""},
		"a question from another site":  {"OPTIONS", "", in, 405, ""},
		"a notification that is unread": {"POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, in, 202, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRequest(s.url(), row.body, row.headers...)
			r.Method = row.method
			res, body := s.send(r)
			if res.StatusCode != row.status || !strings.Contains(body, row.says) {
				t.Errorf("%s %s, want %d and %q", res.Status, body, row.status, row.says)
			}
		})
	}
	if res, body := s.send(newRequest(s.url(), ping, in...)); !strings.Contains(body, `"next"`) {
		t.Errorf("the session did not survive: %s %s", res.Status, body)
	}
}

func TestHTTPSessionEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, echo, transport.HandlerOptions{Replica: "east-1"})
	id := s.begin()
	if !strings.HasPrefix(id, "east-1.") || len(id) < len("east-1.")+26 {
		t.Errorf("the session's id is %q", id)
	}
	end := newRequest(s.url(), "", "Mcp-Session-Id", id)
	end.Method = http.MethodDelete
	if res, body := s.send(end); res.StatusCode != http.StatusNoContent || body != "" {
		t.Errorf("%s %s", res.Status, body)
	}
	res, body := s.send(newRequest(s.url(), ping, "Mcp-Session-Id", id))
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("%s %s", res.Status, body)
	}
	wantError(t, body, -32600, `"next"`, "begin another")
}
