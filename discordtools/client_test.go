package discordtools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/guildwarden/guildwarden/mcpcore"
)

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond builds an answer; a body that starts like JSON is typed as JSON unless
// h says otherwise.
func respond(status int, h http.Header, body string) *http.Response {
	header := http.Header{}
	for k, v := range h {
		header[k] = v
	}
	if header.Get("Content-Type") == "" && strings.HasPrefix(body, "{") {
		header.Set("Content-Type", "application/json")
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

const botToken = "MTk4NjIyNDgzNDcxOTI1MjQ4.FAKE.bot-token-canary"

func clientOn(tb testing.TB, transport http.RoundTripper) *Client {
	tb.Helper()
	return clientWith(tb, transport, ClientOptions{Resilience: Resilience{InFlight: 1000}})
}

func clientWith(tb testing.TB, transport http.RoundTripper, opts ClientOptions) *Client {
	tb.Helper()
	s, err := discordgo.New("Bot " + botToken)
	if err != nil {
		tb.Fatal(err)
	}
	s.Client = &http.Client{Transport: transport, Timeout: 20 * time.Second}
	c, err := NewClient(s, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func wantCode(t *testing.T, err error, code mcpcore.Code) *mcpcore.Error {
	t.Helper()
	e, ok := errors.AsType[*mcpcore.Error](err)
	if !ok || e.Code != code {
		t.Fatalf("error %v, want %s", err, code)
	}
	return e
}

func TestNewClientRefuses(t *testing.T) {
	t.Parallel()
	if _, err := NewClient(nil, ClientOptions{}); err == nil {
		t.Error("a nil session was taken")
	}
	for _, base := range []string{"discord.com", "ftp://discord.com", "https://u:p@discord.com", "https://x/?a=1", "https://", "http://x/#f"} {
		if _, err := NewClient(&discordgo.Session{}, ClientOptions{Base: base}); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("base %q: %v", base, err)
		}
	}
	if _, err := NewClient(&discordgo.Session{}, ClientOptions{MaxBody: -1}); err == nil {
		t.Error("a negative bound was taken")
	}
	if _, err := NewClient(&discordgo.Session{}, ClientOptions{Base: "http://127.0.0.1:8080/api/v10/"}); err != nil {
		t.Errorf("a proxy's address: %v", err)
	}
}

func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		r    Request
		url  string
		want map[string]string // headers, "" for absent
	}{
		{"bot", readChannel(keyChannel), "https://discord.com/api/v10/channels/" + keyChannel,
			map[string]string{"Authorization": "Bot " + botToken, "Content-Type": "", "X-Audit-Log-Reason": "", "User-Agent": userAgent}},
		{"body", sendMessage(keyChannel), "https://discord.com/api/v10/channels/" + keyChannel + "/messages",
			map[string]string{"Content-Type": "application/json"}},
		{"query", Request{Method: "GET", Route: "/guilds/{guild_id}/members", Path: map[string]string{"guild_id": keyGuild}, Query: url.Values{"limit": {"5"}, "after": {"a b"}}},
			"https://discord.com/api/v10/guilds/" + keyGuild + "/members?after=a+b&limit=5", nil},
		{"reason", Request{Method: "DELETE", Route: "/channels/{channel_id}", Path: map[string]string{"channel_id": keyChannel}, Reason: "Spam – 警告 100% #3 + more\r\nX-Extra: 1"},
			"https://discord.com/api/v10/channels/" + keyChannel,
			map[string]string{"X-Audit-Log-Reason": "Spam%20%E2%80%93%20%E8%AD%A6%E5%91%8A%20100%25%20%233%20+%20more%0D%0AX-Extra:%201", "X-Extra": ""}},
		{"anonymous", Request{Method: "GET", Route: "/webhooks/{webhook_id}/{webhook_token}", Anonymous: true, Path: map[string]string{"webhook_id": keyWebhook, "webhook_token": "a/b%2Fc"}},
			"https://discord.com/api/v10/webhooks/" + keyWebhook + "/a%2Fb%252Fc", map[string]string{"Authorization": ""}},
		{"emoji", Request{Method: "PUT", Route: "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me", Path: map[string]string{"channel_id": keyChannel, "message_id": keyMessage, "emoji_name": "1️⃣"}},
			"https://discord.com/api/v10/channels/" + keyChannel + "/messages/" + keyMessage + "/reactions/1%EF%B8%8F%E2%83%A3/@me", nil},
		{"custom emoji", Request{Method: "GET", Route: "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}", Path: map[string]string{"channel_id": keyChannel, "message_id": keyMessage, "emoji_name": "party:" + keyEmoji}},
			"https://discord.com/api/v10/channels/" + keyChannel + "/messages/" + keyMessage + "/reactions/party:" + keyEmoji, nil},
		{"answer", Request{Method: "GET", Route: "/channels/{channel_id}/polls/{message_id}/answers/{answer_id}", Path: map[string]string{"channel_id": keyChannel, "message_id": keyMessage, "answer_id": "10"}},
			"https://discord.com/api/v10/channels/" + keyChannel + "/polls/" + keyMessage + "/answers/10", nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var got *http.Request
			c := clientOn(t, transportFunc(func(r *http.Request) (*http.Response, error) {
				got = r
				return respond(200, nil, `{}`), nil
			}))
			res, err := c.Do(t.Context(), row.r)
			if err != nil {
				t.Fatal(err)
			}
			if res.Status != 200 || string(res.Body) != `{}` {
				t.Errorf("answer %d %q", res.Status, res.Body)
			}
			if got.URL.String() != row.url {
				t.Errorf("URL %s, want %s", got.URL, row.url)
			}
			for name, want := range row.want {
				if got.Header.Get(name) != want {
					t.Errorf("header %s is %q, want %q", name, got.Header.Get(name), want)
				}
			}
		})
	}
}

func TestUnsafeArgumentsNeverReachDiscord(t *testing.T) {
	t.Parallel()
	c := clientOn(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		t.Errorf("sent %s", r.URL)
		return respond(200, nil, `{}`), nil
	}))
	for _, id := range []string{
		"", keyChannel + "/../../guilds/700000000000000002", keyChannel + "?limit=1", "@me", "@original", " " + keyChannel, "0", "-5",
		strings.Repeat("1", 21), "99999999999999999999", "７１００００００００００００００００", ".", "..",
	} {
		_, err := c.Do(t.Context(), readChannel(id))
		e := wantCode(t, err, mcpcore.CodeValidation)
		if issues := e.Fields["issues"].([]mcpcore.Issue); len(issues) != 1 || issues[0].Path != "channel_id" {
			t.Errorf("%q: issues %v, want one that names channel_id", id, issues)
		}
	}
	rows := []struct {
		name, path string
		r          Request
	}{
		{"missing", "channel_id", Request{Method: "GET", Route: "/channels/{channel_id}"}},
		{"dots", "code", Request{Method: "GET", Route: "/invites/{code}", Path: map[string]string{"code": ".."}}},
		{"dot", "webhook_token", Request{Method: "GET", Route: "/webhooks/{webhook_id}/{webhook_token}", Path: map[string]string{"webhook_id": keyWebhook, "webhook_token": "."}}},
		{"empty emoji", "emoji_name", Request{Method: "DELETE", Route: "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}", Path: map[string]string{"channel_id": keyChannel, "message_id": keyMessage, "emoji_name": ""}}},
		{"numbered id", "user_id_2", Request{Method: "PUT", Route: "/x/{user_id_1}/{user_id_2}", Path: map[string]string{"user_id_1": keyUser, "user_id_2": "1"}}},
		{"answer", "answer_id", Request{Method: "GET", Route: "/x/{answer_id}", Path: map[string]string{"answer_id": "1/x"}}},
		{"reason", "audit_reason", Request{Method: "DELETE", Route: "/channels/{channel_id}", Path: map[string]string{"channel_id": keyChannel}, Reason: strings.Repeat("🚫", 513)}},
	}
	for _, row := range rows {
		_, err := c.Do(t.Context(), row.r)
		e := wantCode(t, err, mcpcore.CodeValidation)
		if issues := e.Fields["issues"].([]mcpcore.Issue); len(issues) != 1 || issues[0].Path != row.path {
			t.Errorf("%s: issues %v, want one at %s", row.name, issues, row.path)
		}
	}
	for _, r := range []Request{
		{Method: "GET", Route: "channels"}, {Method: "GET", Route: "/a//b"}, {Method: "GET", Route: "/a/../b"}, {Method: "GET", Route: "/a?b"},
		{Method: "GET", Route: "/a/{b"}, {Method: "GET", Route: "/a/x{b}"}, {Method: "TRACE", Route: "/a"},
		{Method: "GET", Route: "/a", Path: map[string]string{"guild_id": keyGuild}},
	} {
		_, err := c.Do(t.Context(), r)
		wantCode(t, err, mcpcore.CodeInternal)
	}
}

func TestReasonOf512CharactersPasses(t *testing.T) {
	t.Parallel()
	c := clientOn(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		if got, _ := url.PathUnescape(r.Header.Get("X-Audit-Log-Reason")); got != strings.Repeat("🚫", 512) {
			t.Errorf("the reason arrives as %d bytes", len(got))
		}
		return respond(204, nil, ""), nil
	}))
	_, err := c.Do(t.Context(), Request{Method: "DELETE", Route: "/channels/{channel_id}", Path: map[string]string{"channel_id": keyChannel}, Reason: strings.Repeat("🚫", 512)})
	if err != nil {
		t.Error(err)
	}
}

// broken answers for the retry table.
var (
	errReset  = &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	errDial   = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	errLate   = &net.OpError{Op: "read", Err: context.DeadlineExceeded}
	errLookup = &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}
)

func TestWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	status := func(n int, body string) func() (*http.Response, error) {
		return func() (*http.Response, error) { return respond(n, nil, body), nil }
	}
	fails := func(err error) func() (*http.Response, error) {
		return func() (*http.Response, error) { return nil, err }
	}
	short := func() (*http.Response, error) {
		res := respond(200, nil, `{"id":"1"}`)
		res.ContentLength = 100
		return res, nil
	}
	limit := status(429, `{"message":"slow","retry_after":0.5,"global":false}`)
	rows := []struct {
		name   string
		method string
		repeat bool
		answer func() (*http.Response, error)
		tries  int
		code   mcpcore.Code
	}{
		{"read, 502", "GET", false, status(502, "<html>"), 4, mcpcore.CodeServerError},
		{"read, reset", "GET", false, fails(errReset), 4, mcpcore.CodeServerError},
		{"read, late", "GET", false, fails(errLate), 4, mcpcore.CodeTimeout},
		{"read, cut off", "GET", false, short, 4, mcpcore.CodeServerError},
		{"read, refused connection", "GET", false, fails(errDial), 4, mcpcore.CodeServerError},
		{"read, 429", "GET", false, limit, 4, mcpcore.CodeRateLimited},
		{"read, 404", "GET", false, status(404, `{"code":10003}`), 1, mcpcore.CodeNotFound},
		{"send, 502", "POST", false, status(502, "<html>"), 1, mcpcore.CodeOutcomeUnknown},
		{"send, 500", "POST", false, status(500, `{"message":"500: Internal Server Error","code":0}`), 1, mcpcore.CodeOutcomeUnknown},
		{"send, reset", "POST", false, fails(errReset), 1, mcpcore.CodeOutcomeUnknown},
		{"send, late", "POST", false, fails(errLate), 1, mcpcore.CodeOutcomeUnknown},
		{"send, cut off", "POST", false, short, 1, mcpcore.CodeOutcomeUnknown},
		{"send, refused connection", "POST", false, fails(errDial), 4, mcpcore.CodeServerError},
		{"send, unknown host", "POST", false, fails(errLookup), 4, mcpcore.CodeServerError},
		{"send, 429", "POST", false, limit, 4, mcpcore.CodeRateLimited},
		{"send, 400", "POST", false, status(400, `{"code":50035}`), 1, mcpcore.CodeValidation},
		{"repeatable send", "POST", true, status(502, ""), 1, mcpcore.CodeOutcomeUnknown},
		{"repeatable change", "PATCH", true, fails(errReset), 1, mcpcore.CodeOutcomeUnknown},
		{"repeatable put, 502", "PUT", true, status(502, ""), 4, mcpcore.CodeServerError},
		{"repeatable put, reset", "PUT", true, fails(errReset), 4, mcpcore.CodeOutcomeUnknown},
		{"repeatable delete, late", "DELETE", true, fails(errLate), 4, mcpcore.CodeOutcomeUnknown},
		{"single put", "PUT", false, status(503, ""), 1, mcpcore.CodeOutcomeUnknown},
		{"single delete", "DELETE", false, fails(errReset), 1, mcpcore.CodeOutcomeUnknown},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) { tries++; return row.answer() }))
				r := readChannel(keyChannel)
				r.Method, r.Repeatable = row.method, row.repeat
				_, err := c.Do(t.Context(), r)
				e := wantCode(t, err, row.code)
				if tries != row.tries {
					t.Errorf("%d tries, want %d (%v)", tries, row.tries, e)
				}
				if tries == 4 && row.method == "POST" && row.code == mcpcore.CodeServerError && !strings.Contains(e.Detail, "nothing was changed") {
					t.Errorf("%q does not say that nothing was changed", e.Detail)
				}
			})
		})
	}
}

func TestTriesEndInSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		start := time.Now()
		c := clientWith(t, transportFunc(func(r *http.Request) (*http.Response, error) {
			if body, _ := io.ReadAll(r.Body); string(body) != `{"content":"x"}` {
				t.Errorf("try %d sends %q", tries, body)
			}
			switch tries++; tries {
			case 1:
				return respond(429, http.Header{"Retry-After": {"9"}}, `{"message":"slow","retry_after":0.25,"global":false}`), nil
			case 2:
				return nil, errDial
			}
			return respond(200, nil, `{"id":"1"}`), nil
		}), ClientOptions{Resilience: Resilience{BaseDelay: 250 * time.Millisecond, Jitter: JitterNone}})
		if _, err := c.Do(t.Context(), sendMessage(keyChannel)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 750*time.Millisecond {
			t.Errorf("took %v, want the body's 0.25s and a back-off of 0.5s", took)
		}
	})
}

func TestRepeatedDeleteThatFindsNothingSaysWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) {
			if tries++; tries == 1 {
				return nil, errReset
			}
			return respond(404, nil, `{"message":"Unknown Channel","code":10003}`), nil
		}))
		r := readChannel(keyChannel)
		r.Method, r.Repeatable = "DELETE", true
		_, err := c.Do(t.Context(), r)
		if e := wantCode(t, err, mcpcore.CodeNotFound); !strings.Contains(e.Detail, "earlier try") {
			t.Errorf("%q does not tell of the earlier try", e.Detail)
		}
	})
}

func TestOpenOutcomeIsNotForgottenByALaterRefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) {
			if tries++; tries == 1 {
				return nil, errReset
			}
			return respond(429, nil, `{"message":"slow","retry_after":50,"global":false}`), nil
		}))
		r := readChannel(keyChannel)
		r.Method, r.Repeatable = "PUT", true
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := c.Do(ctx, r)
		wantCode(t, err, mcpcore.CodeOutcomeUnknown)
	})
}

func TestEndOfTheContextInFlight(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, method string
		cancel       bool
		code         mcpcore.Code
	}{
		{"read, deadline", "GET", false, mcpcore.CodeTimeout},
		{"read, cancelled", "GET", true, mcpcore.CodeCancelled},
		{"write, deadline", "POST", false, mcpcore.CodeOutcomeUnknown},
		{"write, cancelled", "POST", true, mcpcore.CodeCancelled},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				c := clientOn(t, transportFunc(func(r *http.Request) (*http.Response, error) {
					tries++
					<-r.Context().Done()
					return nil, r.Context().Err()
				}))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if row.cancel {
					time.AfterFunc(time.Second/2, cancel)
				}
				r := readChannel(keyChannel)
				r.Method = row.method
				_, err := c.Do(ctx, r)
				e := wantCode(t, err, row.code)
				if tries != 1 || strings.Contains(e.Detail, "nothing was changed") {
					t.Errorf("%d tries, %q", tries, e.Detail)
				}
				if want := map[bool]error{true: context.Canceled, false: context.DeadlineExceeded}[row.cancel]; !errors.Is(err, want) {
					t.Errorf("the cause of %v is not %v", err, want)
				}
			})
		})
	}
}

func TestRefusedTokenIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	sent := 0
	c := clientOn(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		sent++
		if r.Header.Get("Authorization") == "Bot new" {
			return respond(200, nil, `{}`), nil
		}
		return respond(401, nil, `{"message":"401: Unauthorized","code":0}`), nil
	}))
	hook := Request{Method: "GET", Route: "/webhooks/{webhook_id}/{webhook_token}", Path: map[string]string{"webhook_id": keyWebhook, "webhook_token": keyToken}, Anonymous: true}
	for range 3 {
		_, err := c.Do(t.Context(), hook)
		wantCode(t, err, mcpcore.CodeAuthInvalid)
	}
	_, err := c.Do(t.Context(), Request{Method: "GET", Route: "/guilds/{guild_id}/widget.json", Path: map[string]string{"guild_id": keyGuild}, Anonymous: true})
	wantCode(t, err, mcpcore.CodeAuthInvalid)
	if _, err := c.Do(t.Context(), hook); err == nil || sent != 5 {
		t.Fatalf("%d requests: a 401 without the bot's token tripped it", sent)
	}
	for range 50 {
		_, err := c.Do(t.Context(), readChannel(keyChannel))
		wantCode(t, err, mcpcore.CodeAuthInvalid)
	}
	if sent != 6 {
		t.Errorf("%d requests with a refused token, want 1", sent-5)
	}
	if _, err := c.Do(t.Context(), hook); err == nil || sent != 7 {
		t.Error("a call without the bot's token was held back")
	}
	c.session.Token = "Bot new"
	if _, err := c.Do(t.Context(), readChannel(keyChannel)); err != nil {
		t.Errorf("with a new token: %v", err)
	}
}

func TestOtherCredentialsDoNotTripTheToken(t *testing.T) {
	t.Parallel()
	sent := 0
	c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) {
		sent++
		return respond(401, nil, `{"message":"Invalid OAuth2 access token","code":50025}`), nil
	}))
	for range 2 {
		_, err := c.Do(t.Context(), Request{Method: "GET", Route: "/oauth2/@me"})
		wantCode(t, err, mcpcore.CodeAuthInvalid)
	}
	if sent != 2 {
		t.Errorf("%d requests, want 2", sent)
	}
}

func TestSessionWithoutATokenSendsNothing(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "Bot a\r\nX: 1"} {
		c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) {
			t.Error("sent")
			return respond(200, nil, `{}`), nil
		}))
		c.session.Token = token
		_, err := c.Do(t.Context(), readChannel(keyChannel))
		wantCode(t, err, mcpcore.CodeAuthInvalid)
	}
}

func TestEdgeBlockStopsEveryCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) {
			if sent++; sent == 1 {
				return respond(429, http.Header{"Content-Type": {"text/html"}, "Retry-After": {"120"}}, "<html>error code: 1015"), nil
			}
			return respond(200, nil, `{"n":1015}`), nil
		}))
		_, err := c.Do(t.Context(), readChannel(keyChannel))
		if e := wantCode(t, err, mcpcore.CodeCloudflare); e.Fields["retry_after_ms"] != int64(120000) {
			t.Errorf("fields %v", e.Fields)
		}
		time.Sleep(time.Minute)
		_, err = c.Do(t.Context(), readChannel(keyOther))
		if e := wantCode(t, err, mcpcore.CodeCloudflare); e.Fields["retry_after_ms"] != int64(60000) || sent != 1 {
			t.Errorf("fields %v, %d requests; want what is left of the block and no request", e.Fields, sent)
		}
		time.Sleep(time.Minute)
		if _, err := c.Do(t.Context(), readChannel(keyOther)); err != nil {
			t.Errorf("after the block: %v", err)
		}
	})
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		method string
		size   int
		code   mcpcore.Code
	}{{"GET", 64, ""}, {"GET", 65, mcpcore.CodeServerError}, {"POST", 65, mcpcore.CodeOutcomeUnknown}} {
		c := clientWith(t, transportFunc(func(*http.Request) (*http.Response, error) {
			return respond(200, nil, strings.Repeat("x", row.size)), nil
		}), ClientOptions{MaxBody: 64})
		r := readChannel(keyChannel)
		r.Method = row.method
		res, err := c.Do(t.Context(), r)
		if row.code == "" {
			if err != nil || len(res.Body) != row.size {
				t.Errorf("a body at the limit: %v", err)
			}
			continue
		}
		if e := wantCode(t, err, row.code); !strings.Contains(e.Detail, "limit of 64 bytes") {
			t.Errorf("%q does not say why", e.Detail)
		}
	}
}

func TestSessionIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	c := clientOn(t, transportFunc(func(*http.Request) (*http.Response, error) { return respond(200, nil, `{}`), nil }))
	s, before, limiter := c.session, *c.session.Client, c.session.Ratelimiter
	client := s.Client
	if _, err := c.Do(t.Context(), readChannel(keyChannel)); err != nil {
		t.Fatal(err)
	}
	if s.Client != client || s.Client.CheckRedirect != nil || s.Client.Timeout != before.Timeout || s.Ratelimiter != limiter || s.DataReady {
		t.Error("the session was changed")
	}
}

func TestRealConnections(t *testing.T) {
	t.Parallel()
	var stored, redirected atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/messages"):
			stored.Add(1)
			panic(http.ErrAbortHandler) // the connection drops without an answer
		case strings.HasSuffix(r.URL.Path, "/elsewhere"):
			redirected.Add(1)
		case r.Method == "PATCH":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		default:
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"id":`)
		}
	}))
	t.Cleanup(srv.Close)
	c := clientWith(t, http.DefaultTransport.(*http.Transport).Clone(), ClientOptions{Base: srv.URL + "/api/v10", Resilience: Resilience{NoRetry: true}})

	_, err := c.Do(t.Context(), sendMessage(keyChannel))
	wantCode(t, err, mcpcore.CodeOutcomeUnknown)
	if stored.Load() != 1 {
		t.Errorf("a message was stored %d times", stored.Load())
	}
	change := readChannel(keyChannel)
	change.Method, change.Body = "PATCH", []byte(`{}`)
	if _, err = c.Do(t.Context(), change); err == nil || redirected.Load() != 0 {
		t.Errorf("a redirect was followed: %v", err)
	}
	remove := readChannel(keyChannel)
	remove.Method = "DELETE"
	_, err = c.Do(t.Context(), remove)
	wantCode(t, err, mcpcore.CodeOutcomeUnknown)

	srv.Close()
	_, err = c.Do(t.Context(), sendMessage(keyChannel))
	e := wantCode(t, err, mcpcore.CodeServerError)
	if !strings.Contains(e.Detail, "nothing was changed") {
		t.Errorf("%q does not say that nothing was changed", e.Detail)
	}
	if e.Cause == nil || strings.Contains(e.Cause.Error(), "://") || !errors.Is(e, syscall.ECONNREFUSED) {
		t.Errorf("cause %v, want the refused connection without the URL", e.Cause)
	}
}

func TestEndWhileConnectingIsNotAnOpenOutcome(t *testing.T) {
	t.Parallel()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	c := clientWith(t, transport, ClientOptions{Base: "http://127.0.0.1:1"})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.Do(ctx, sendMessage(keyChannel))
	if e := wantCode(t, err, mcpcore.CodeTimeout); !strings.Contains(e.Detail, "nothing was changed") {
		t.Errorf("%q does not say that nothing was changed", e.Detail)
	}
}

func TestNoFailureShowsACredential(t *testing.T) {
	t.Parallel()
	const hookToken = "whk-FAKE/token canary"
	echo := func(r *http.Request) string {
		return r.URL.String() + " " + r.URL.Path + " " + r.Header.Get("Authorization")
	}
	quoted := func(r *http.Request) string {
		return strings.NewReplacer(`"`, `'`, `\`, `/`).Replace(echo(r))
	}
	failures := map[string]func(r *http.Request) (*http.Response, error){
		"reset": func(*http.Request) (*http.Response, error) { return nil, errReset },
		"dial":  func(*http.Request) (*http.Response, error) { return nil, errDial },
		"echo":  func(r *http.Request) (*http.Response, error) { return nil, errors.New(echo(r)) },
		"wrapped": func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("a: %w", &url.Error{Op: "Get", URL: echo(r), Err: errors.New(echo(r))})
		},
		"late":    func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
		"cut off": func(*http.Request) (*http.Response, error) { return respond(200, nil, `{"a`), nil },
		"redirect": func(r *http.Request) (*http.Response, error) {
			return respond(302, http.Header{"Location": {echo(r)}}, ""), nil
		},
		"html": func(r *http.Request) (*http.Response, error) { return respond(502, nil, "<html>"+echo(r)), nil },
		"html 403": func(r *http.Request) (*http.Response, error) {
			return respond(403, http.Header{"Content-Type": {"text/html"}}, echo(r)), nil
		},
		"html 429": func(r *http.Request) (*http.Response, error) {
			return respond(429, http.Header{"Content-Type": {"text/html"}}, echo(r)), nil
		},
		"large": func(r *http.Request) (*http.Response, error) {
			return respond(200, nil, strings.Repeat(echo(r), 99)), nil
		},
		"rate limit": func(r *http.Request) (*http.Response, error) {
			return respond(429, nil, `{"message":"`+quoted(r)+`","retry_after":900}`), nil
		},
	}
	for _, status := range []int{400, 401, 403, 404, 409, 413, 500, 503} {
		failures[fmt.Sprint(status)] = func(r *http.Request) (*http.Response, error) {
			return respond(status, nil, `{"message":"`+quoted(r)+`","code":50035,"errors":{"`+quoted(r)+`":{"_errors":[{"code":"X","message":"`+quoted(r)+`"}]}}}`), nil
		}
	}
	requests := map[string]Request{
		"bot":     readChannel(keyChannel),
		"send":    sendMessage(keyChannel),
		"webhook": {Method: "POST", Route: "/webhooks/{webhook_id}/{webhook_token}", Path: map[string]string{"webhook_id": keyWebhook, "webhook_token": hookToken}, Anonymous: true, Body: []byte(`{}`)},
		"reply":   {Method: "POST", Route: "/interactions/{interaction_id}/{interaction_token}/callback", Path: map[string]string{"interaction_id": keyOther, "interaction_token": hookToken}, Anonymous: true},
	}
	for name, fail := range failures {
		for kind, r := range requests {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var log lockedBuffer
					c := clientWith(t, transportFunc(fail), ClientOptions{
						MaxBody: 1000, Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
					})
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					_, err := c.Do(ctx, r)
					if err == nil {
						t.Fatal("no failure")
					}
					shown := log.String() + fmt.Sprintf("%+v %#v", c, c)
					for e := err; e != nil; e = errors.Unwrap(e) {
						shown += fmt.Sprintf("%v %+v %#v\n", e, e, e)
						if e, ok := e.(*mcpcore.Error); ok {
							shown += fmt.Sprintf("%+v %v", *e, e.Fields)
						}
					}
					for _, secret := range []string{botToken, hookToken, url.PathEscape(hookToken)} {
						if at := strings.Index(shown, secret); at >= 0 {
							t.Errorf("%q is shown: …%s…", secret, shown[max(0, at-80):min(len(shown), at+80)])
						}
					}
					if !strings.Contains(log.String(), r.Route) {
						t.Errorf("the log does not name the route: %s", log.String())
					}
				})
			})
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func ExampleNewClient() {
	session, _ := discordgo.New("Bot token")
	session.Client = &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		fmt.Println(r.Method, r.URL)
		return respond(404, nil, `{"message":"Unknown Channel","code":10003}`), nil
	})}
	rest, err := NewClient(session, ClientOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = rest.Do(context.Background(), Request{
		Method: "GET",
		Route:  "/channels/{channel_id}",
		Path:   map[string]string{"channel_id": "710000000000000001"},
	})
	fmt.Println(err)
	// Output:
	// GET https://discord.com/api/v10/channels/710000000000000001
	// DISCORD_NOT_FOUND: Discord refused GET /channels/{channel_id} with status 404: Unknown Channel (code 10003)
}
