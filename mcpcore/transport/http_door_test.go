package transport_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

func TestHTTPToken(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, echo, transport.HandlerOptions{})
	for name, row := range map[string]struct {
		authorization []string
		query         string
		status        int
	}{
		"the token":                 {[]string{"Bearer " + token}, "", 200},
		"the scheme in lower case":  {[]string{"bearer " + token}, "", 200},
		"spaces around it":          {[]string{"Bearer   " + token + " "}, "", 200},
		"none":                      {nil, "", 401},
		"an empty one":              {[]string{"Bearer "}, "", 401},
		"another":                   {[]string{"Bearer " + strings.Replace(token, "a", "b", 1)}, "", 401},
		"the beginning of it":       {[]string{"Bearer " + token[:31]}, "", 401},
		"more than it":              {[]string{"Bearer " + token + "x"}, "", 401},
		"in another case":           {[]string{"Bearer " + strings.ToUpper(token)}, "", 401},
		"another scheme":            {[]string{"Basic " + token}, "", 401},
		"without a scheme":          {[]string{token}, "", 401},
		"two, one of them good":     {[]string{"Bearer " + token, "Bearer x"}, "", 401},
		"in the query":              {nil, "?access_token=" + token, 401},
		"in the query, another set": {[]string{"Bearer x"}, "?token=" + token, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, headers := range [][]string{nil, modern} {
				body := initialize
				if headers != nil {
					body = call("1", `{}`)
				}
				r := newRequest(s.url()+row.query, body, headers...)
				r.Header.Del("Authorization")
				for _, value := range row.authorization {
					r.Header.Add("Authorization", value)
				}
				res, got := s.send(r)
				if res.StatusCode != row.status {
					t.Errorf("%s %s, want %d", res.Status, got, row.status)
				}
				if challenge := res.Header.Values("WWW-Authenticate"); (len(challenge) == 1 && challenge[0] == "Bearer") != (row.status == 401) {
					t.Errorf("%s with the challenge %q", res.Status, challenge)
				}
				if strings.Contains(got, token) {
					t.Errorf("the answer holds the token: %s", got)
				}
			}
		})
	}
}

func TestHTTPSessionIsItsUsers(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, whoami, transport.HandlerOptions{Verifier: users})
	id := s.begin("Authorization", "Bearer ana")
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		r := newRequest(s.url(), ping, "Authorization", "Bearer ben", "Mcp-Session-Id", id)
		r.Method = method
		if res, body := s.send(r); res.StatusCode != http.StatusForbidden {
			t.Errorf("%s by another: %s %s", method, res.Status, body)
		}
	}
	if res, body := s.send(newRequest(s.url(), ping, "Authorization", "Bearer ana", "Mcp-Session-Id", id)); res.StatusCode != http.StatusOK || !strings.Contains(body, `"next"`) {
		t.Errorf("by its own: %s %s", res.Status, body)
	}
}

func TestHTTPVerifier(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	resource := &oauthex.ProtectedResourceMetadata{Resource: "https://mcp.example.com/mcp", AuthorizationServers: []string{"https://id.example.com"}}
	s := serve(t, 0, echo, transport.HandlerOptions{
		Resource: resource, Bearer: auth.RequireBearerTokenOptions{Scopes: []string{"discord"}}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Verifier: func(_ context.Context, name string, _ *http.Request) (*auth.TokenInfo, error) {
			good := auth.TokenInfo{UserID: name, Scopes: []string{"discord"}, Expiration: time.Now().Add(time.Hour)}
			switch name {
			case "nameless":
				good.UserID = ""
			case "narrow":
				good.Scopes = nil
			case "old":
				good.Expiration = time.Now().Add(-time.Hour)
			case "endless":
				good.Expiration = time.Time{}
			case "stranger":
				return nil, auth.ErrInvalidToken
			case "broken":
				return nil, errors.New("dial 10.1.2.3: secret-password")
			case "nothing":
				return nil, nil
			}
			return &good, nil
		},
	})
	for name, status := range map[string]int{
		"ana": 200, "nameless": 401, "narrow": 403, "old": 401, "endless": 401, "stranger": 401, "broken": 500, "nothing": 500,
	} {
		res, body := s.send(newRequest(s.url(), initialize, "Authorization", "Bearer "+name))
		if res.StatusCode != status || strings.Contains(body, "secret-password") {
			t.Errorf("%s: %s %s, want %d", name, res.Status, body, status)
		}
		challenge := strings.Join(res.Header.Values("WWW-Authenticate"), "; ")
		if refused := status == 401 || status == 403; strings.Contains(challenge, `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`) != refused {
			t.Errorf("%s: %s with the challenge %q", name, res.Status, challenge)
		}
	}
	if !strings.Contains(log.String(), "10.1.2.3") {
		t.Error("the fault is not logged")
	}
	for _, path := range []string{"", "/mcp"} {
		res, err := http.Get("http://" + s.addr + "/.well-known/oauth-protected-resource" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 200 || !strings.Contains(string(body), `"https://id.example.com"`) {
			t.Errorf("%q: %s %s", path, res.Status, body)
		}
	}
}

// TestHTTPSite is who may send requests, on an address of loopback and on one that others reach.
func TestHTTPSite(t *testing.T) {
	t.Parallel()
	h := newHandler(t, echo, transport.HandlerOptions{
		Hosts: []string{"MCP.example.com", "other.example.com:8443"}, Origins: []string{"https://chat.example.com"},
	})
	const here, public, six = "127.0.0.1:3000", "203.0.113.9:3000", "[2001:db8::9]:3000"
	for name, row := range map[string]struct {
		at, host string
		origins  []string
		status   int
	}{
		"loopback":                           {here, "127.0.0.1:3000", nil, 200},
		"loopback by name":                   {here, "localhost:3000", nil, 200},
		"loopback in six":                    {here, "[::1]:3000", nil, 200},
		"loopback through a tunnel":          {here, "localhost:8080", nil, 200},
		"a foreign host":                     {here, "evil.example.com", nil, 403},
		"a foreign host, right port":         {here, "evil.example.com:3000", nil, 403},
		"a host that begins like loopback":   {here, "localhost.evil.example.com", nil, 403},
		"an address that is not this one":    {here, "203.0.113.9:3000", nil, 403},
		"no host":                            {here, "", nil, 403},
		"a listed host":                      {here, "mcp.example.com", nil, 200},
		"a listed host in another case":      {here, "Mcp.Example.com:443", nil, 200},
		"a listed host with its port":        {here, "other.example.com:8443", nil, 200},
		"a listed host with another port":    {here, "other.example.com", nil, 403},
		"public by its address":              {public, "203.0.113.9:3000", nil, 200},
		"public by its address, other port":  {public, "203.0.113.9", nil, 200},
		"public in six":                      {six, "[2001:db8::9]:3000", nil, 200},
		"public by a foreign host":           {public, "evil.example.com:3000", nil, 403},
		"public by a listed host":            {public, "mcp.example.com", nil, 200},
		"a local page":                       {here, "localhost:3000", []string{"http://localhost:6274"}, 200},
		"a local page by address":            {here, "localhost:3000", []string{"http://127.0.0.1:6274"}, 200},
		"its own page":                       {here, "mcp.example.com", []string{"https://mcp.example.com"}, 200},
		"a listed page":                      {here, "localhost:3000", []string{"https://chat.example.com"}, 200},
		"a listed page, plain":               {here, "localhost:3000", []string{"http://chat.example.com"}, 403},
		"a listed page, other port":          {here, "localhost:3000", []string{"https://chat.example.com:8443"}, 403},
		"a foreign page":                     {here, "localhost:3000", []string{"https://evil.example.com"}, 403},
		"a foreign page on a public address": {public, "203.0.113.9:3000", []string{"https://evil.example.com"}, 403},
		"a local page on a public address":   {public, "203.0.113.9:3000", []string{"http://localhost:6274"}, 403},
		"a page without origin":              {here, "localhost:3000", []string{"null"}, 403},
		"an empty origin":                    {here, "localhost:3000", []string{""}, 403},
		"two origins":                        {here, "localhost:3000", []string{"https://chat.example.com", "https://evil.example.com"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, headers := range [][]string{nil, modern} {
				body := initialize
				if headers != nil {
					body = call("1", `{}`)
				}
				r := newRequest("http://x/mcp", body, append([]string{"X-Forwarded-Host", "localhost", "X-Forwarded-For", "127.0.0.1"}, headers...)...)
				r.Host = row.host
				for _, origin := range row.origins {
					r.Header.Add("Origin", origin)
				}
				at, err := net.ResolveTCPAddr("tcp", row.at)
				if err != nil {
					t.Fatal(err)
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(at))))
				if w.Code != row.status {
					t.Errorf("got %d, want %d: %s", w.Code, row.status, w.Body)
				}
				if w.Header().Get("Access-Control-Allow-Origin") != "" {
					t.Error("other sites may read the answer")
				}
			}
		})
	}
}

func TestHTTPOptionsThatDoNotFit(t *testing.T) {
	t.Parallel()
	server := newServer(echo)
	if _, err := transport.NewHandler(transport.HandlerOptions{Server: server, Token: token}); err != nil {
		t.Fatal(err)
	}
	for want, opts := range map[string]transport.HandlerOptions{
		"needs a Server":        {Token: token},
		"exactly one of":        {Server: server},
		"one of Token, Ver":     {Server: server, Token: token, Open: true},
		"at least 32":           {Server: server, Token: token[:31]},
		"printable ASCII":       {Server: server, Token: token + "\n"},
		"is negative":           {Server: server, Token: token, MaxBody: -1},
		"not an origin":         {Server: server, Token: token, Origins: []string{"*"}},
		"of the replica":        {Server: server, Token: token, Replica: "a.b"},
		"for a Verifier":        {Server: server, Token: token, Bearer: auth.RequireBearerTokenOptions{Scopes: []string{"x"}}},
		"not the address":       {Server: server, Verifier: users, Resource: &oauthex.ProtectedResourceMetadata{Resource: "mcp"}},
		"authorization server":  {Server: server, Verifier: users, Resource: &oauthex.ProtectedResourceMetadata{Resource: "https://a/mcp"}},
		"letters, digits and d": {Token: "short", Replica: "ä"}, // all problems at once
	} {
		if _, err := transport.NewHandler(opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		} else if opts.Token != "" && strings.Contains(err.Error(), strings.TrimSpace(opts.Token)) {
			t.Errorf("the error shows the token: %v", err)
		}
	}
}

func TestHTTPHealth(t *testing.T) {
	t.Parallel()
	asked, fault := 0, errors.New("postgres://user:canary@10.0.0.1: refused")
	s := serve(t, 0, echo, transport.HandlerOptions{Ready: func(ctx context.Context) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("it may take for ever")
		}
		asked++
		return fault
	}})
	get := func(method, path, body string) (int, string) {
		r := newRequest("http://"+s.addr+path, body, "Authorization", "")
		r.Method, r.Host = method, "anything.example.com"
		res, got := s.send(r)
		return res.StatusCode, got
	}
	for _, row := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/healthz", "", 200, `{"status":"ok"}`},
		{"POST", "/healthz", "", 404, ""},
		{"GET", "/healthz", "x", 400, ""},
		{"GET", "/readyz", "", 503, `{"status":"unavailable"}`},
		{"GET", "/readyz", "", 503, `{"status":"unavailable"}`},
		{"PUT", "/readyz", "", 404, ""},
		{"GET", "/", "", 404, ""},
		{"POST", "/mcp/", initialize, 404, ""},
	} {
		if status, got := get(row.method, row.path, row.body); status != row.status || row.want != "" && got != row.want {
			t.Errorf("%s %s: %d %s, want %d %s", row.method, row.path, status, got, row.status, row.want)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times within a second", asked)
	}
	fault = nil
	within(t, "ready again", func() bool { status, _ := get("GET", "/readyz", ""); return status == 200 })
}

// An embedder's own mux serves the protocol where it likes, under a server of its own.
func TestHTTPMountedElsewhere(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/bot/agents", newHandler(t, echo, transport.HandlerOptions{}))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, version := range versions {
		client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: server.URL + "/bot/agents", HTTPClient: &http.Client{Transport: bearing{token, http.DefaultTransport}},
		}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Arguments: map[string]int{"a": 1}}); err != nil || textOf(t, res) != `{"a":1}` {
			t.Errorf("%s: %v, %v", version, res, err)
		}
		session.Close()
	}
}
