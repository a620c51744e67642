package discordtools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// between stands between the server and the sandbox. It answers what edit
// answers and passes on what edit leaves alone.
type between struct {
	world *sandbox.Discord
	edit  func(n int, r *http.Request) (*http.Response, error) // of the n-th request, counted from 0

	mu   sync.Mutex
	seen []passed
}

// passed is one request that came by.
type passed struct {
	method, path string
	at           time.Time
}

func (b *between) RoundTrip(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	n := len(b.seen)
	b.seen = append(b.seen, passed{r.Method, r.URL.Path, time.Now()})
	b.mu.Unlock()
	if res, err := b.edit(n, r); res != nil || err != nil {
		return res, err
	}
	return b.world.RoundTrip(r)
}

func (b *between) requests() []passed {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

// startBetween serves the demo world through edit, on the test's own time.
func startBetween(t *testing.T, edit func(n int, r *http.Request) (*http.Response, error), change ...func(*discordtools.Deps)) (*bench, *between) {
	t.Helper()
	line := &between{world: sandbox.Demo(), edit: edit}
	session := line.world.Session()
	session.Client = &http.Client{Transport: line}
	return startOn(t, line.world, append([]func(*discordtools.Deps){func(d *discordtools.Deps) { d.Session, d.Clock = session, time.Now }}, change...)...), line
}

// reply is an answer with headers in pairs.
func reply(r *http.Request, status int, body string, headers ...string) *http.Response {
	res := &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
	for i := 0; i < len(headers); i += 2 {
		res.Header.Set(headers[i], headers[i+1])
	}
	return res
}

// fields are the members of an error.
func (a answer) fields(t *testing.T) (f struct {
	Retriable bool
	Scope     string
	Status    int
	RetryMS   int64  `json:"retry_after_ms"`
	Hint      string `json:"recovery_hint"`
}) {
	t.Helper()
	a.into(t, &f)
	return f
}

func readGeneral() string { return `{"channel_id":` + id(general) + `}` }

func sendGeneral() string { return `{"channel_id":` + id(general) + `,"content":"same text"}` }

// L22 429 that is not JSON.
func TestL22BlockedAtTheEdge(t *testing.T) {
	t.Parallel()
	rows := []struct {
		shows   string
		status  int
		body    string
		headers []string
		wait    time.Duration
	}{
		{"a page", 429, "<!DOCTYPE html><html><title>Access denied</title></html>", []string{"Content-Type", "text/html", "Retry-After", "120"}, 2 * time.Minute},
		{"a short text", 429, "error code: 1015", []string{"Content-Type", "text/plain; charset=UTF-8"}, time.Hour},
		{"an empty body", 429, "", nil, time.Hour},
		{"a page with 403", 403, "<html>error code: 1020</html>", []string{"Content-Type", "text/html"}, 0},
	}
	for _, r := range rows {
		t.Run(r.shows, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, line := startBetween(t, func(n int, q *http.Request) (*http.Response, error) {
					if n == 0 {
						return reply(q, r.status, r.body, r.headers...), nil
					}
					return nil, nil
				})
				a := b.call("messages_read", readGeneral())
				if a.code != mcpcore.CodeCloudflare || !strings.Contains(a.text+a.fields(t).Hint, "address") && r.wait > 0 {
					t.Fatalf("code %q: %s", a.code, a.text)
				}
				if r.wait == 0 {
					return
				}
				if got := time.Duration(a.fields(t).RetryMS) * time.Millisecond; got != r.wait || a.fields(t).Status != 429 {
					t.Errorf("to wait %v, want %v", got, r.wait)
				}
				time.Sleep(r.wait - time.Second) // in the bubble's time
				for _, tool := range []string{"messages_read", "messages_send"} {
					if a := b.call(tool, sendGeneral()); a.code != mcpcore.CodeCloudflare {
						t.Errorf("%s while blocked: code %q", tool, a.code)
					}
				}
				if n := len(line.requests()); n != 1 {
					t.Errorf("%d requests went to an edge that blocks", n)
				}
				time.Sleep(2 * time.Second)
				if a := b.call("messages_read", readGeneral()); a.code != "" {
					t.Errorf("after the block: code %q", a.code)
				}
			})
		})
	}
}

// L22 429 that is not JSON.
func TestL22PagesAndNumbersThatAreNoBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page := "<html><head><title>502 Bad Gateway</title></head><body>error code: 1015</body></html>"
		b, line := startBetween(t, func(_ int, q *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(q.URL.Path, announc+"/messages"):
				return reply(q, 502, page, "Content-Type", "text/html"), nil
			case strings.HasSuffix(q.URL.Path, "/users/1015101510151015101"):
				return reply(q, 200, `{"id":"1015101510151015101","username":"error code: 1015","discriminator":"0","global_name":null,"avatar":null}`, "Content-Type", "application/json"), nil
			}
			return nil, nil
		})
		if a := b.call("messages_read", `{"channel_id":`+id(announc)+`}`); a.code != mcpcore.CodeServerError || !a.fields(t).Retriable {
			t.Errorf("a page with 502: code %q: %s", a.code, a.text)
		}
		before := len(line.requests())
		if a := b.call("messages_send", `{"channel_id":`+id(announc)+`,"content":"x"}`); a.code != mcpcore.CodeOutcomeUnknown {
			t.Errorf("a send that got a page with 502: code %q: %s", a.code, a.text)
		}
		if n := len(line.requests()) - before; n != 1 {
			t.Errorf("it was sent %d times", n)
		}
		a := b.call("users_get", `{"user_id":"1015101510151015101"}`)
		if a.code != "" || !strings.Contains(string(a.data), "error code: 1015") {
			t.Errorf("a name with the number: code %q: %s", a.code, a.text)
		}
		if a := b.call("messages_read", readGeneral()); a.code != "" {
			t.Errorf("afterwards: code %q: %s", a.code, a.text)
		}
	})
}

// L23 429 fields read wrongly: shared scope, decimals, global.
func TestL23WaitsAsAsked(t *testing.T) {
	t.Parallel()
	rows := []struct {
		shows   string
		tool    string
		args    string
		body    string
		headers []string
		wait    time.Duration // 0: the call is refused
		scope   string
	}{
		{
			"shared, with a fraction", "messages_read", readGeneral(), `{"message":"The resource is being rate limited.","retry_after":9.7,"global":false}`,
			[]string{"X-RateLimit-Scope", "shared", "Retry-After", "10", "X-RateLimit-Reset-After", "2.0", "X-RateLimit-Remaining", "1"}, 9700 * time.Millisecond, "",
		},
		{
			"under a second", "messages_send", sendGeneral(), `{"message":"You are being rate limited.","retry_after":0.661,"global":false}`,
			[]string{"X-RateLimit-Scope", "user", "Retry-After", "1"}, 661 * time.Millisecond, "",
		},
		{
			"a reaction with requests remaining", "reactions_create", `{"channel_id":` + id(general) + `,"message_id":` + id(sandbox.DemoPoll) + `,"emoji":"👍"}`,
			`{"message":"You are being rate limited.","retry_after":0.25,"global":false}`,
			[]string{"X-RateLimit-Remaining", "3", "X-RateLimit-Reset-After", "9", "X-RateLimit-Bucket", "b"}, 250 * time.Millisecond, "",
		},
		{
			"longer than a call may take", "messages_read", readGeneral(), `{"message":"The resource is being rate limited.","retry_after":90.5,"global":false}`,
			[]string{"X-RateLimit-Scope", "shared"}, 0, "shared",
		},
	}
	for _, r := range rows {
		t.Run(r.shows, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, line := startBetween(t, func(n int, q *http.Request) (*http.Response, error) {
					if n == 0 {
						return reply(q, 429, r.body, append(r.headers, "Content-Type", "application/json")...), nil
					}
					return nil, nil
				})
				start := time.Now()
				a := b.call(r.tool, r.args)
				took := time.Since(start)
				if r.wait == 0 {
					if f := a.fields(t); a.code != mcpcore.CodeRateLimited || f.Scope != r.scope || f.RetryMS != 90500 || !f.Retriable || took != 0 || len(line.requests()) != 1 {
						t.Errorf("code %q after %v: %s", a.code, took, a.data)
					}
					return
				}
				if a.code != "" || took < r.wait || took > r.wait+50*time.Millisecond {
					t.Errorf("code %q after %v, want it after %v\n%s", a.code, took, r.wait, a.text)
				}
			})
		})
	}
}

// L23 429 fields read wrongly: shared scope, decimals, global.
func TestL23GlobalStopsEveryRouteOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const wait = 661 * time.Millisecond
		b, line := startBetween(t, func(n int, q *http.Request) (*http.Response, error) {
			if n == 0 {
				return reply(q, 429, `{"message":"You are being rate limited.","retry_after":0.661,"global":true}`,
					"Content-Type", "application/json", "X-RateLimit-Global", "true", "Retry-After", "1"), nil
			}
			return nil, nil
		})
		calls := [][2]string{
			{"messages_read", readGeneral()}, {"guild_get", `{"guild_id":` + id(guild) + `}`}, {"roles_list", `{"guild_id":` + id(guild) + `}`},
			{"channels_list", `{"guild_id":` + id(guild) + `}`}, {"members_list", `{"guild_id":` + id(guild) + `}`}, {"emojis_list_guild", `{"guild_id":` + id(guild) + `}`},
			{"stickers_list_guild", `{"guild_id":` + id(guild) + `}`}, {"invites_list_channel", readGeneral()}, {"channels_get", readGeneral()},
			{"messages_list_pins", readGeneral()}, {"users_get_current", `{}`},
		}
		start := time.Now()
		var group sync.WaitGroup
		for i, c := range calls {
			group.Go(func() {
				if i > 0 {
					time.Sleep(time.Millisecond) // after the refusal
				}
				if a := b.call(c[0], c[1]); a.code != "" {
					t.Errorf("%s: code %q: %s", c[0], a.code, a.text)
				}
			})
		}
		group.Wait()
		seen := line.requests()
		perTick := map[int]int{}
		for _, q := range seen[1:] {
			after := q.at.Sub(start)
			if after < wait {
				t.Errorf("%s %s was sent %v after the stop", q.method, q.path, after)
			}
			perTick[int(after.Milliseconds()/10)]++
		}
		for tick, n := range perTick {
			if n > 3 { // some tools send more than one request
				t.Errorf("%d requests within 10 ms, %d ms after the stop: a burst", n, tick*10)
			}
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("all were through after %v", took)
		}
	})
}

// L23 429 fields read wrongly: shared scope, decimals, global.
func TestL23GuildsAreIndependent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, line := startBetween(t, func(_ int, q *http.Request) (*http.Response, error) {
			if strings.HasSuffix(q.URL.Path, "/guilds/"+guild+"/channels") {
				return reply(q, 429, `{"message":"You are being rate limited.","retry_after":300,"global":false}`, "Content-Type", "application/json", "X-RateLimit-Bucket", "same"), nil
			}
			return nil, nil
		})
		start := time.Now()
		for range 3 {
			if a := b.call("channels_list", `{"guild_id":`+id(guild)+`}`); a.code != mcpcore.CodeRateLimited {
				t.Errorf("the exhausted guild: code %q", a.code)
			}
			if a := b.call("channels_list", `{"guild_id":`+id(sandbox.DemoClub)+`}`); a.code != "" {
				t.Errorf("the other guild: code %q: %s", a.code, a.text)
			}
			if a := b.call("roles_list", `{"guild_id":`+id(guild)+`}`); a.code != "" {
				t.Errorf("another route of the guild: code %q: %s", a.code, a.text)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v", took)
		}
		exhausted := 0
		for _, q := range line.requests() {
			if strings.HasSuffix(q.path, "/guilds/"+guild+"/channels") {
				exhausted++
			}
		}
		if exhausted != 1 {
			t.Errorf("the exhausted route was asked %d times", exhausted)
		}
	})
}

// L25 Dead token keeps calling.
func TestL25DeadTokenIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	session := sandbox.Demo().Session()
	line := &between{edit: func(_ int, q *http.Request) (*http.Response, error) {
		return reply(q, 401, `{"message":"401: Unauthorized","code":0}`, "Content-Type", "application/json"), nil
	}}
	session.Client = &http.Client{Transport: line}
	b := start(t, func(d *discordtools.Deps) { d.Session = session })
	calls := [][2]string{
		{"users_get_current", `{}`}, {"messages_read", readGeneral()}, {"messages_send", sendGeneral()}, {"guild_get", `{"guild_id":` + id(guild) + `}`},
		{"messages_delete", `{"channel_id":` + id(general) + `,"message_id":` + id(news) + `,"__confirm":true}`},
	}
	for i := range 50 {
		c := calls[i%len(calls)]
		a := b.call(c[0], c[1])
		if a.code != mcpcore.CodeAuthInvalid || a.fields(t).Retriable || !strings.Contains(a.text, "token") {
			t.Fatalf("call %d, %s: code %q: %s", i, c[0], a.code, a.text)
		}
	}
	if n := len(line.requests()); n != 1 {
		t.Errorf("%d requests went out with a dead token, want 1", n)
	}
	session.Token = "Bot another-token" // the operator's, after a reset
	b.call("users_get_current", `{}`)
	if n := len(line.requests()); n != 2 {
		t.Errorf("a new token is not tried: %d requests", n)
	}
}

// L25 Dead token keeps calling.
func TestL25OtherRefusalsDoNotLatch(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(q *http.Request) *http.Response{
		"another credential": func(q *http.Request) *http.Response {
			return reply(q, 401, `{"message":"Invalid Webhook Token","code":50027}`, "Content-Type", "application/json")
		},
		"a permission": func(q *http.Request) *http.Response {
			return reply(q, 403, `{"message":"Missing Permissions","code":50013}`, "Content-Type", "application/json")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, line := startBetween(t, func(n int, q *http.Request) (*http.Response, error) {
				if n == 0 {
					return refuse(q), nil
				}
				return nil, nil
			})
			if a := b.call("messages_read", readGeneral()); a.code == "" {
				t.Error("the refusal was lost")
			}
			if a := b.call("messages_read", readGeneral()); a.code != "" || len(line.requests()) != 2 {
				t.Errorf("the next call: code %q: %s", a.code, a.text)
			}
		})
	}
}

// creations are calls that make something new each time, and how many there are.
var creations = []struct {
	tool, args string
	count      func(*sandbox.Discord) int
}{
	{"messages_send", sendGeneral(), func(d *sandbox.Discord) int { return len(d.Messages(sandbox.DemoGeneral)) }},
	{"messages_create_thread", `{"channel_id":` + id(general) + `,"message_id":` + id(sandbox.DemoPoll) + `,"name":"plan"}`, threadsOf},
	{"channels_forum_create_thread", `{"channel_id":` + id(sandbox.DemoHelp) + `,"name":"plan","applied_tags":[` + id(sandbox.DemoBugTag) + `],"message":{"content":"x"}}`, threadsOf},
	{"webhooks_execute", `{` + byHook + `,"content":"same text"}`, func(d *sandbox.Discord) int { return len(d.Messages(sandbox.DemoAnnouncements)) }},
	{"webhooks_create", `{"channel_id":` + id(general) + `,"name":"plan"}`, func(d *sandbox.Discord) int { return len(d.Webhooks(sandbox.DemoGuild)) }},
	{"roles_create", `{"guild_id":` + id(guild) + `,"name":"plan"}`, func(d *sandbox.Discord) int { return len(d.Roles(sandbox.DemoGuild)) }},
	{"channels_create_guild_channel", `{"guild_id":` + id(guild) + `,"name":"plan"}`, func(d *sandbox.Discord) int { return len(d.Channels(sandbox.DemoGuild)) }},
}

// threadsOf counts what started threads left behind.
func threadsOf(d *sandbox.Discord) (n int) {
	for _, r := range d.Requests() {
		if r.Method == "POST" && strings.HasSuffix(r.Route, "/threads") && r.Executed {
			n++
		}
	}
	return n
}

// L26 Repeated POST makes duplicates.
func TestL26NothingIsMadeTwice(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		fault sandbox.Fault
		made  int
	}{
		"stored, then the connection broke": {sandbox.Fault{Method: "POST", AfterExecution: true, Reset: true, Times: 9}, 1},
		"stored, then 502":                  {sandbox.Fault{Method: "POST", AfterExecution: true, Status: 502, Times: 9}, 1},
		"stored, then a proxy's page":       {sandbox.Fault{Method: "POST", AfterExecution: true, Status: 502, HTML: true, Times: 9}, 1},
		"stored, the answer cut off":        {sandbox.Fault{Method: "POST", Truncate: true, Times: 9}, 1},
		"not stored, the connection broke":  {sandbox.Fault{Method: "POST", Reset: true, Times: 9}, 0},
		"not stored, 500":                   {sandbox.Fault{Method: "POST", Status: 500, Times: 9}, 0},
	} {
		for _, c := range creations {
			t.Run(c.tool+"/"+name, func(t *testing.T) {
				t.Parallel()
				b := start(t)
				before := c.count(b.world)
				b.world.Inject(r.fault)
				b.world.ResetRequests()
				a := b.call(c.tool, c.args)
				if a.code != mcpcore.CodeOutcomeUnknown || a.fields(t).Retriable {
					t.Errorf("code %q: %s", a.code, a.text)
				}
				if !strings.Contains(a.text, "Read the target to find out before you repeat it") {
					t.Errorf("it does not say to look first: %s", a.text)
				}
				posts := 0
				for _, q := range b.world.Requests() {
					if q.Method == "POST" {
						posts++
					}
				}
				if made := c.count(b.world) - before; made != r.made || posts != 1 {
					t.Errorf("%d made by %d requests, want %d by one", made, posts, r.made)
				}
			})
		}
	}
}

// L26 Repeated POST makes duplicates.
func TestL26RetriesCarryTheSameNonce(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(q *http.Request) (*http.Response, error){
		"refused with 429": func(q *http.Request) (*http.Response, error) {
			return reply(q, 429, `{"message":"slow","retry_after":0.5,"global":false}`, "Content-Type", "application/json"), nil
		},
		"not sent": func(*http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("dial tcp: %w", syscall.ECONNREFUSED)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var nonces []string
				b, _ := startBetween(t, func(n int, q *http.Request) (*http.Response, error) {
					if q.Method != "POST" {
						return nil, nil
					}
					body, err := io.ReadAll(q.Body)
					if err != nil {
						return nil, err
					}
					q.Body = io.NopCloser(bytes.NewReader(body))
					var m struct {
						Nonce   string
						Enforce bool `json:"enforce_nonce"`
					}
					if json.Unmarshal(body, &m) != nil || !m.Enforce {
						t.Errorf("sent %s", body)
					}
					nonces = append(nonces, m.Nonce)
					if n < 2 {
						return fails(q)
					}
					return nil, nil
				})
				before := len(b.world.Messages(sandbox.DemoGeneral))
				if a := b.call("messages_send", sendGeneral()); a.code != "" {
					t.Errorf("code %q: %s", a.code, a.text)
				}
				if made := len(b.world.Messages(sandbox.DemoGeneral)) - before; made != 1 || len(nonces) != 3 || len(slices.Compact(nonces)) != 1 {
					t.Errorf("%d messages, nonces %q", made, nonces)
				}
			})
		})
	}
}

// L26 Repeated POST makes duplicates.
func TestL26EqualMessagesAreSeveral(t *testing.T) {
	t.Parallel()
	b := start(t)
	before := len(b.world.Messages(sandbox.DemoGeneral))
	b.world.ResetRequests()
	made := map[string]bool{}
	for range 3 {
		var sent struct {
			ID string `json:"message_id"`
		}
		b.call("messages_send", sendGeneral()).into(t, &sent)
		made[sent.ID] = true
	}
	if n := len(b.world.Messages(sandbox.DemoGeneral)) - before; n != 3 || len(made) != 3 {
		t.Errorf("%d messages with %d ids, want 3", n, len(made))
	}
	nonces := map[string]bool{}
	for _, q := range b.world.Requests() {
		var m struct{ Nonce string }
		if q.Method == "POST" && json.Unmarshal(q.Body, &m) == nil {
			nonces[m.Nonce] = true
			if len(m.Nonce) == 0 || len(m.Nonce) > 25 {
				t.Errorf("nonce %q", m.Nonce)
			}
		}
	}
	if len(nonces) != 3 {
		t.Errorf("%d nonces for three messages", len(nonces))
	}
}

// L26 Repeated POST makes duplicates.
func TestL26RefusalsAreNoOpenOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range creations {
		b := start(t)
		b.world.Inject(sandbox.Fault{Method: "POST", Status: 400, Times: 9})
		if a := b.call(c.tool, c.args); a.code != mcpcore.CodeValidation || strings.Contains(a.text, "may have") {
			t.Errorf("%s: code %q: %s", c.tool, a.code, a.text)
		}
	}
}

// leaked has the form of a bot's token; a caller wrote it into a free text.
const leaked = "MTk4NjIyNDgzNDcxOTI1MjQ4.GfAkEx.FAKE-token-of-a-bot-in-free-text-0"

// L40 Webhook and interaction tokens in logs and traces.
func TestL40TokenStaysInside(t *testing.T) {
	t.Parallel()
	rows := map[string]func(q *http.Request) (*http.Response, error){
		"connection refused, told with the header": func(q *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("send with %s: %w", q.Header.Get("Authorization"), fmt.Errorf("dial %s: %w", q.URL, syscall.ECONNREFUSED))
		},
		"broken, told with the bare token": func(q *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("token=%s: %w", bare(q), syscall.ECONNRESET)
		},
		"404 that repeats it": func(q *http.Request) (*http.Response, error) {
			return reply(q, 404, `{"message":"no such thing for `+bare(q)+`","code":10003}`, "Content-Type", "application/json"), nil
		},
		"400 with issues that repeat it": func(q *http.Request) (*http.Response, error) {
			return reply(q, 400, `{"message":"Invalid Form Body","code":50035,"errors":{"`+bare(q)+`":{"_errors":[{"code":"X","message":"`+q.Header.Get("Authorization")+`"}]}}}`, "Content-Type", "application/json"), nil
		},
		"429 that repeats it": func(q *http.Request) (*http.Response, error) {
			return reply(q, 429, `{"message":"`+bare(q)+` is too fast","retry_after":300,"global":false}`, "Content-Type", "application/json"), nil
		},
		"401 that repeats it": func(q *http.Request) (*http.Response, error) {
			return reply(q, 401, `{"message":"bad `+bare(q)+`","code":0}`, "Content-Type", "application/json"), nil
		},
		"500 page": func(q *http.Request) (*http.Response, error) {
			return reply(q, 500, "<html>"+bare(q), "Content-Type", "text/html"), nil
		},
		"an answer that is not JSON": func(q *http.Request) (*http.Response, error) {
			return reply(q, 200, bare(q), "Content-Type", "application/json"), nil
		},
		"a panic": func(q *http.Request) (*http.Response, error) { panic("at " + bare(q)) },
		"nothing": func(*http.Request) (*http.Response, error) { return nil, nil },
	}
	for name, edit := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // tries wait between each other
				logs := &logBuffer{}
				b, line := startBetween(t, func(_ int, q *http.Request) (*http.Response, error) { return edit(q) }, func(d *discordtools.Deps) {
					d.Logger = slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
					d.Client.Logger = d.Logger
				})
				secret := strings.TrimPrefix(line.world.Token(), "Bot ")
				var seen strings.Builder
				for _, c := range [][2]string{
					{"messages_read", readGeneral()}, {"messages_send", `{"channel_id":` + id(general) + `,"content":"x"}`},
					{"roles_create", `{"guild_id":` + id(guild) + `,"name":"plan","audit_reason":"because of ` + leaked + `"}`},
					{"messages_delete", `{"channel_id":` + id(general) + `,"message_id":` + id(news) + `,"__confirm":true}`},
				} {
					a := b.call(c[0], c[1])
					seen.Write(a.data)
					seen.WriteString(a.text)
				}
				events, err := json.Marshal(b.audit.all())
				if err != nil {
					t.Fatal(err)
				}
				for sink, text := range map[string]string{"answers": seen.String(), "logs": logs.String(), "audit": string(events)} {
					for _, token := range []string{secret, leaked} {
						if i := strings.Index(text, token); i >= 0 {
							t.Errorf("the token shows in the %s: …%s…", sink, text[max(0, i-200):min(len(text), i+len(token)+50)])
						}
					}
				}
				if len(line.requests()) == 0 || logs.String() == "" || len(events) < 100 {
					t.Error("nothing was sent, logged or recorded: this test looks at nothing")
				}
				if name == "404 that repeats it" && !strings.Contains(seen.String(), "/channels/{channel_id}") {
					t.Error("the route is lost with the token")
				}
			})
		})
	}
}

// bare is the token of a request without its kind.
func bare(q *http.Request) string {
	return strings.TrimPrefix(q.Header.Get("Authorization"), "Bot ")
}
