package sandbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestRouting(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "unknown path", method: "GET", path: "/no/such/thing", status: 404, has: `{"message":"404: Not Found","code":0}`},
		{name: "known path, wrong method", method: "PUT", path: "/users/@me/guilds", status: 405, has: `"code":0`},
		{name: "a literal goes before a parameter", method: "GET", path: "/channels/{rules}/messages/pins", status: 200, has: `"items"`},
		{name: "a dead end tries the parameter", method: "PATCH", path: "/channels/{general}/messages/pins", status: 400, code: 50035},
	})
}

func TestAddressAndCredential(t *testing.T) {
	t.Parallel()
	d := demo(t)
	for _, c := range []struct {
		url, auth string
		status    int
	}{
		{"https://discord.com/api/v10/users/@me", "Bot " + d.Token(), 200},
		{"https://discord.com/api/v9/users/@me", "Bot " + d.Token(), 200},
		{"http://127.0.0.1:1/api/v10/users/@me", "Bot " + d.Token(), 200},
		{"https://discord.com/api/v8/users/@me", "Bot " + d.Token(), 404},
		{"https://discord.com/users/@me", "Bot " + d.Token(), 404},
		{"https://discord.com/api/v10/users/@me", "", 401},
		{"https://discord.com/api/v10/users/@me", d.Token(), 401},
		{"https://discord.com/api/v10/users/@me", "Bot another", 401},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.auth != "" {
			r.Header.Set("Authorization", c.auth)
		}
		if status, reply := send(t, d, r); status != c.status {
			t.Errorf("%s with %q: %d, want %d: %s", c.url, c.auth, status, c.status, reply)
		}
	}
	all := d.Requests()
	if got := all[len(all)-1].Header.Get("Authorization"); got != "foreign" {
		t.Errorf("the log holds the credential %q", got)
	}
}

func TestSessionOfDiscordgo(t *testing.T) {
	t.Parallel()
	d := demo(t)
	s := d.Session()
	if u, err := s.User("@me"); err != nil || u.Username != "Guildwarden Demo" {
		t.Errorf("User: %v, %v", u, err)
	}
	sent, err := s.ChannelMessageSendComplex(string(DemoGeneral), &discordgo.MessageSend{
		Content: "look", Files: []*discordgo.File{{Name: "a b.txt", ContentType: "text/plain", Reader: strings.NewReader("hello")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := d.Message(DemoGeneral, discord.MessageID(sent.ID))
	if len(m.Attachments) != 1 || m.Attachments[0].Name != "a_b.txt" || m.Attachments[0].Size != 5 || m.Attachments[0].ContentType != "text/plain" {
		t.Errorf("attachments %+v", m.Attachments)
	}
	if err := s.MessageReactionAdd(string(DemoGeneral), sent.ID, "lighthouse:"+string(DemoEmoji)); err != nil {
		t.Error(err)
	}
	var refused *discordgo.RESTError
	if _, err := s.Channel(string(DemoStaff)); !errors.As(err, &refused) || refused.Message.Code != 50001 {
		t.Errorf("hidden channel: %v", err)
	}
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	d := demo(t)
	path := "/channels/" + string(DemoGeneral) + "/messages"
	kind, body, err := discordgo.MultipartBodyWithJSON(
		map[string]any{"content": "two", "attachments": []map[string]any{{"id": 1, "description": "the second", "filename": "renamed.bin"}}},
		[]*discordgo.File{{Name: "one.txt", Reader: strings.NewReader("1")}, {Name: "two.txt", Reader: strings.NewReader("22")}})
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, d, "POST", path, string(body))
	r.Header.Set("Content-Type", kind)
	if status, reply := send(t, d, r); status != 200 {
		t.Fatalf("status %d: %s", status, reply)
	}
	all := d.Messages(DemoGeneral)
	m := all[len(all)-1]
	if len(m.Attachments) != 2 || m.Attachments[1].Name != "renamed.bin" || m.Attachments[1].Description != "the second" || m.Attachments[1].Size != 2 {
		t.Fatalf("attachments %+v", m.Attachments)
	}
	at := path + "/" + string(m.ID)
	get[messageReply](t, d, "PATCH", at, `{"attachments":[{"id":"`+string(m.Attachments[1].ID)+`"}]}`)
	if m, _ := d.Message(DemoGeneral, m.ID); len(m.Attachments) != 1 || m.Attachments[0].Name != "renamed.bin" {
		t.Errorf("after the edit: %+v", m.Attachments)
	}
	for name, c := range map[string]struct{ body, code string }{
		"an attachment of no file": {`{"content":"x","attachments":[{"id":3}]}`, "ATTACHMENT_NOT_FOUND"},
		"an unknown attachment":    {`{"content":"x","attachments":[{"id":"1999999999999999999"}]}`, "ATTACHMENT_NOT_FOUND"},
	} {
		if status, reply := do(t, d, "POST", path, c.body); status != 400 || !strings.Contains(string(reply), c.code) {
			t.Errorf("%s: %d %s", name, status, reply)
		}
	}
	deny(d, DemoGeneral, discord.AttachFiles)
	r = request(t, d, "POST", path, string(body))
	r.Header.Set("Content-Type", kind)
	if status, _ := send(t, d, r); status != 403 {
		t.Errorf("without ATTACH_FILES: %d", status)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	path := "/channels/" + string(DemoGeneral) + "/messages"
	for _, c := range []struct {
		name   string
		fault  Fault
		status int // 0: no answer
		stored bool
		check  func(*http.Response, string, error) bool
	}{
		{"status", Fault{Status: 503}, 503, false, nil},
		{"status after execution", Fault{Status: 502, AfterExecution: true}, 502, true, nil},
		{"reset", Fault{Reset: true}, 0, false, func(_ *http.Response, _ string, err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		{"reset after execution", Fault{Reset: true, AfterExecution: true}, 0, true, nil},
		{"truncated", Fault{Truncate: true}, 200, true, func(_ *http.Response, body string, err error) bool {
			return errors.Is(err, io.ErrUnexpectedEOF) && strings.HasPrefix(body, `{"type":0`)
		}},
		{"rate limit", Fault{RateLimit: "shared", RetryAfter: 1500 * time.Millisecond}, 429, false, func(r *http.Response, body string, _ error) bool {
			return r.Header.Get("X-RateLimit-Scope") == "shared" && r.Header.Get("Retry-After") == "2" && strings.Contains(body, `"retry_after":1.5,"global":false`)
		}},
		{"global rate limit", Fault{RateLimit: "global"}, 429, false, func(r *http.Response, body string, _ error) bool {
			return r.Header.Get("X-RateLimit-Global") == "true" && strings.Contains(body, `"global":true`)
		}},
		{"Cloudflare", Fault{Status: 429, HTML: true, RetryAfter: time.Minute}, 429, false, func(r *http.Response, body string, _ error) bool {
			return r.Header.Get("Retry-After") == "60" && strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") && body == "error code: 1015"
		}},
		{"HTML page", Fault{Status: 502, HTML: true}, 502, false, func(_ *http.Response, body string, _ error) bool { return strings.HasPrefix(body, "<!DOCTYPE html>") }},
		{"another route", Fault{Route: "/users/@me", Status: 503}, 200, true, nil},
		{"another method", Fault{Method: "GET", Status: 503}, 200, true, nil},
		{"one is let through", Fault{Skip: 1, Status: 503}, 200, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := demo(t)
			before := len(d.Messages(DemoGeneral))
			d.Inject(c.fault)
			res, err := d.RoundTrip(request(t, d, "POST", path, `{"content":"x"}`))
			status, body := 0, ""
			if err == nil {
				var raw []byte
				raw, err = io.ReadAll(res.Body)
				status, body = res.StatusCode, string(raw)
			}
			if status != c.status {
				t.Errorf("status %d, want %d: %v", status, c.status, err)
			}
			if stored := len(d.Messages(DemoGeneral)) > before; stored != c.stored {
				t.Errorf("stored %t, want %t", stored, c.stored)
			}
			if c.check != nil && !c.check(res, body, err) {
				t.Errorf("answer %q, error %v", body, err)
			}
		})
	}
}

func TestFaultIsUsedUp(t *testing.T) {
	t.Parallel()
	d := demo(t)
	d.Inject(Fault{Status: 500, Skip: 1, Times: 2})
	var got []int
	for range 4 {
		status, _ := do(t, d, "GET", "/users/@me", "")
		got = append(got, status)
	}
	if want := []int{200, 500, 500, 200}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
}

func TestDelayEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := Demo()
		d.Inject(Fault{Delay: 3 * time.Second, Times: 2})
		start := time.Now()
		if status, _ := do(t, d, "GET", "/users/@me", ""); status != 200 || time.Since(start) != 3*time.Second {
			t.Errorf("status %d after %v", status, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := d.RoundTrip(request(t, d, "POST", "/channels/"+string(DemoGeneral)+"/messages", `{"content":"late"}`).WithContext(ctx))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if log := d.Requests(); log[len(log)-1].Executed {
			t.Error("the request was executed after its context ended")
		}
	})
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	now := noon
	d := checked(t, DemoWith(Options{Clock: func() time.Time { return now }, Limits: []Limit{
		{Method: "POST", Route: "/channels/{channel_id}/messages", Max: 2, Per: 5 * time.Second},
	}}))
	post := func(c discord.ChannelID) *http.Response {
		t.Helper()
		res, err := d.RoundTrip(request(t, d, "POST", "/channels/"+string(c)+"/messages", `{"content":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	first := post(DemoGeneral)
	if h := first.Header; h.Get("X-RateLimit-Limit") != "2" || h.Get("X-RateLimit-Remaining") != "1" || h.Get("X-RateLimit-Reset-After") != "5.000" ||
		h.Get("X-RateLimit-Reset") != "1780315205.000" || h.Get("X-RateLimit-Bucket") == "" {
		t.Errorf("headers %v", h)
	}
	now = now.Add(time.Second)
	post(DemoGeneral)
	refused := post(DemoGeneral)
	body, _ := io.ReadAll(refused.Body)
	if refused.StatusCode != 429 || refused.Header.Get("X-RateLimit-Scope") != "user" || refused.Header.Get("Retry-After") != "4" ||
		!strings.Contains(string(body), `"retry_after":4`) {
		t.Errorf("third call: %d %v %s", refused.StatusCode, refused.Header, body)
	}
	if n := len(d.Writes()); n != 3 || d.Writes()[2].Executed {
		t.Errorf("%d writes, the last executed: %t", n, d.Writes()[2].Executed)
	}
	if other := post(DemoShowcase); other.StatusCode != 200 {
		t.Errorf("another channel: %d", other.StatusCode)
	}
	now = now.Add(4 * time.Second)
	if next := post(DemoGeneral); next.StatusCode != 200 {
		t.Errorf("next window: %d", next.StatusCode)
	}
}

func TestGlobalRateLimit(t *testing.T) {
	t.Parallel()
	d := checked(t, DemoWith(Options{Clock: func() time.Time { return noon }, Limits: []Limit{{Max: 1, Per: time.Second, Scope: "global"}}}))
	do(t, d, "GET", "/users/@me", "")
	res, err := d.RoundTrip(request(t, d, "GET", "/users/@me/guilds", ""))
	if err != nil || res.StatusCode != 429 || res.Header.Get("X-RateLimit-Global") != "true" {
		t.Errorf("second call: %v, %v", res, err)
	}
}

func TestNothingIsLimitedUnlessTold(t *testing.T) {
	t.Parallel()
	d := demo(t)
	for range 30 {
		res, err := d.RoundTrip(request(t, d, "POST", "/channels/"+string(DemoGeneral)+"/messages", `{"content":"x"}`))
		if err != nil || res.StatusCode != 200 || res.Header.Get("X-RateLimit-Remaining") == "0" {
			t.Fatalf("%v, %v", res, err)
		}
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	d := demo(t)
	var seen []string
	d.Observe(func(r Request) { seen = append(seen, r.Method+" "+r.Route) })
	r := request(t, d, "DELETE", "/channels/"+string(DemoGeneral)+"/messages/"+string(DemoPoll), "")
	r.Header.Set("X-Audit-Log-Reason", url.PathEscape("50% spam, größer"))
	send(t, d, r)
	do(t, d, "GET", "/channels/"+string(DemoGeneral)+"/messages?limit=3", "")
	if want := "DELETE /channels/{channel_id}/messages/{message_id}, GET /channels/{channel_id}/messages"; strings.Join(seen, ", ") != want {
		t.Errorf("observed %v", seen)
	}
	writes := d.Writes()
	if len(writes) != 1 || writes[0].Status != 204 || writes[0].Reason != "50% spam, größer" || !writes[0].At.Equal(noon) {
		t.Errorf("writes %+v", writes)
	}
	if log := d.AuditLog(DemoGuild); len(log) != 1 || log[0].Reason != "50% spam, größer" || log[0].User != BotID {
		t.Errorf("audit log %+v", log)
	}
	if all := d.Requests(); len(all) != 2 || all[1].Query.Get("limit") != "3" || len(all[1].Reply) == 0 {
		t.Errorf("requests %+v", all)
	}
	d.ResetRequests()
	if n := len(d.Requests()); n != 0 {
		t.Errorf("%d requests after the reset", n)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	d := Demo()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				do(t, d, "POST", "/channels/"+string(DemoGeneral)+"/messages", `{"content":"x"}`)
				do(t, d, "GET", "/channels/"+string(DemoGeneral)+"/messages?limit=5", "")
				d.Messages(DemoGeneral)
				d.Requests()
			}
		})
	}
	all.Wait()
	list := d.Messages(DemoGeneral)
	for i := 1; i < len(list); i++ {
		if discord.CompareIDs(list[i-1].ID, list[i].ID) >= 0 {
			t.Fatalf("ids %s and %s are out of order", list[i-1].ID, list[i].ID)
		}
	}
	if n := len(d.Writes()); n != 80 {
		t.Errorf("%d writes", n)
	}
}

func TestDemoIsTheSameInEveryRun(t *testing.T) {
	t.Parallel()
	d := Demo()
	if p := d.Permissions(DemoGuild, "", BotID); p.Has(discord.Administrator) || !p.Has(DemoPermissions) {
		t.Errorf("the bot may %s", p)
	}
	if p := d.Permissions(DemoClub, DemoClubGeneral, BotID); !p.Has(discord.ViewChannel|discord.SendMessages) || p.Has(discord.ManageMessages) {
		t.Errorf("in the club the bot may %s", p)
	}
	if p := d.Permissions(DemoGuild, DemoStaff, BotID); p != 0 {
		t.Errorf("in the hidden channel the bot may %s", p)
	}
	for _, m := range []struct {
		in discord.ChannelID
		id discord.MessageID
	}{{DemoRules, DemoRulesMessage}, {DemoAnnouncements, DemoNews}, {DemoGeneral, DemoPoll}, {DemoShowcase, DemoSketch}} {
		if _, ok := d.Message(m.in, m.id); !ok {
			t.Errorf("there is no message %s", m.id)
		}
	}
}
