package discordtools_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// tokenWrites are the calls that say something by a token, each with a place for
// what it says: arguments of a message.
var tokenWrites = []struct {
	tool, args string
	setup      func(*sandbox.Discord)
}{
	{"webhooks_execute", `{` + byHook + `,%s}`, hookIn(sandbox.DemoGeneral)},
	{"webhooks_edit_message", `{` + ofHook + `,%s}`, func(d *sandbox.Discord) { hookIn(sandbox.DemoGeneral)(d); hookWrote(sandbox.DemoGeneral)(d) }},
	{"interactions_create_followup", `{` + byUse + `,%s}`, follows},
	{"interactions_edit_followup", `{` + byUse + `,"message_id":` + id(followed) + `,%s}`, follows},
	{"interactions_edit_original_response", `{` + byUse + `,%s}`, uses(0, true)},
	{"interactions_create_response", answersUse + `,"type":4,"data":{%s}}`, uses(0, false)},
	{"interactions_create_response", answersUse + `,"type":7,"data":{%s}}`, uses(sandbox.ComponentInteraction, false)},
}

// packs reports whether a tool takes payload_json.
func packs(tool string) bool { return tool != "interactions_create_response" }

// L20 Unwanted pings.
func TestL20TokensPingNobody(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(loud)
	if err != nil {
		t.Fatal(err)
	}
	inner := `{"content":` + string(text) + `}`
	packed, err := json.Marshal(inner)
	if err != nil {
		t.Fatal(err)
	}
	everyone := sandbox.Mentions{Everyone: true}
	for _, w := range tokenWrites {
		for says, want := range map[string]sandbox.Mentions{
			`"content":` + string(text):                                                {},
			`"content":` + string(text) + `,"allowed_mentions":{}`:                     {},
			`"embeds":[{"description":` + string(text) + `}]`:                          {},
			`"content":` + string(text) + `,"allowed_mentions":{"parse":["everyone"]}`: everyone,
			`"payload_json":` + string(packed):                                         {},
		} {
			if strings.HasPrefix(says, `"payload`) && !packs(w.tool) {
				continue
			}
			b := start(t)
			w.setup(b.world)
			b.world.ResetRequests()
			if a := b.call(w.tool, fmt.Sprintf(w.args, says)); a.code != "" {
				t.Fatalf("%s %s: %s", w.tool, says, a.text)
			}
			q := b.world.Writes()[0]
			if !strings.Contains(string(q.Body), `"allowed_mentions":{`) {
				t.Errorf("%s %s says nothing of mentions: %s", w.tool, says, q.Body)
			}
			pinged := sandbox.Mentions{}
			for _, m := range b.world.Messages(sandbox.DemoGeneral) {
				for _, is := range []sandbox.Mentions{m.Notified, m.Mentions} {
					pinged.Everyone = pinged.Everyone || is.Everyone
					pinged.Roles, pinged.Users = append(pinged.Roles, is.Roles...), append(pinged.Users, is.Users...)
				}
			}
			if pinged.Everyone != want.Everyone || len(pinged.Roles) > 0 || len(pinged.Users) > 0 {
				t.Errorf("%s %s mentions %+v", w.tool, says, pinged)
			}
		}
	}
}

// L20 Unwanted pings.
func TestL20ContradictionsByToken(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.world.ResetRequests()
	for _, w := range tokenWrites {
		for _, allowed := range []string{`{"parse":["users"],"users":["720000000000000001"]}`, `{"parse":["here"]}`, `{"users":["everyone"]}`, `{"reply":true}`} {
			says := []string{`"content":"x","allowed_mentions":` + allowed}
			if packs(w.tool) {
				packed, err := json.Marshal(`{"content":"x","allowed_mentions":` + allowed + `}`)
				if err != nil {
					t.Fatal(err)
				}
				says = append(says, `"payload_json":`+string(packed))
			}
			for _, s := range says {
				if a := b.call(w.tool, fmt.Sprintf(w.args, s)); a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "allowed_mentions") {
					t.Errorf("%s %s: code %q: %s", w.tool, s, a.code, a.text)
				}
			}
		}
	}
	if got := b.sent(); len(got) > 0 {
		t.Errorf("Discord saw %q", got)
	}
}

// TestComponentsV2NeedsItsTools: neither the flag nor a layout that needs it goes
// through a tool without an approval of the payload, however it is written.
func TestComponentsV2NeedsItsTools(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.world.ResetRequests()
	for _, w := range tokenWrites {
		for _, says := range []string{
			`"content":"x","flags":32768`, `"content":"x","flags":32772`, `"content":"x","flags":-1`,
			`"components":[{"type":17,"components":[{"type":10,"content":"x"}]}]`,
			`"content":"x","components":[{"type":1,"components":[]},{"type":10,"content":"x"}]`,
			`"components":[{"content":"x"}]`, `"components":["x"]`, `"components":[{"type":"1"}]`,
		} {
			all := []string{says}
			if packs(w.tool) {
				packed, err := json.Marshal("{" + says + "}")
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, `"payload_json":`+string(packed))
			}
			for _, s := range all {
				a := b.call(w.tool, fmt.Sprintf(w.args, s))
				if a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "flags: must be one of") && !strings.Contains(a.text, "components_v2_send") {
					t.Errorf("%s %s: code %q: %s", w.tool, s, a.code, a.text)
				}
			}
		}
	}
	if got := b.sent(); len(got) > 0 {
		t.Errorf("Discord saw %q", got)
	}
}

// TestPayloadIsTheArguments: what payload_json carries is sent, held and hidden
// like the arguments that it stands for, and cannot stand for others.
func TestPayloadIsTheArguments(t *testing.T) {
	t.Parallel()
	const quiet = `"allowed_mentions":{"parse":[],"replied_user":false}`
	pack := func(s string) string {
		packed, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return `{` + byHook + `,"payload_json":` + string(packed)
	}
	home := homeOnly
	run(t, []row{
		{
			shows: "a payload", tool: "webhooks_execute", args: pack(`{"content":"from a payload","username":"Foghorn"}`) + `}`,
			sent: []string{"POST " + hookOwn + ` {"content":"from a payload","username":"Foghorn",` + quiet + `}`},
		},
		{
			shows: "a payload beside arguments", tool: "webhooks_execute", args: pack(`{"embeds":[{"title":"x"}]}`) + `,"content":"y","files":[{"name":"a.txt","data":"aGVsbG8="}]}`,
			sent: []string{"POST " + hookOwn + " (multipart)"},
		},
		{shows: "a payload and the same argument", tool: "webhooks_execute", args: pack(`{"content":"x"}`) + `,"content":"y"}`, code: mcpcore.CodeValidation, says: "payload_json.content: is an argument of the call as well"},
		{shows: "a payload with a target", tool: "webhooks_execute", args: pack(`{"content":"x","thread_id":"1200000000000000341"}`) + `}`, code: mcpcore.CodeValidation, says: "payload_json.thread_id: is not an argument here"},
		{shows: "a payload with a token", tool: "webhooks_execute", args: pack(`{"content":"x","token":"y"}`) + `}`, code: mcpcore.CodeValidation, says: "payload_json.token: is not an argument here"},
		{shows: "a payload too long", tool: "webhooks_execute", args: pack(`{"content":"`+strings.Repeat("x", 2001)+`"}`) + `}`, code: mcpcore.CodeValidation, says: "content: must have at most 2000"},
		{shows: "an empty payload", tool: "webhooks_execute", args: pack(`{}`) + `}`, code: mcpcore.CodeValidation, says: "at least one of content"},
		{shows: "no payload", tool: "webhooks_execute", args: pack(`content=x`) + `}`, code: mcpcore.CodeValidation, says: "payload_json: is not valid JSON"},
		{
			shows: "a payload that mentions a role of the guild", tool: "webhooks_execute", deps: home, args: pack(`{"content":"x","allowed_mentions":{"roles":["`+string(sandbox.DemoEventsRole)+`"]}}`) + `}`,
			sent: []string{"GET " + hookOwn, "GET /guilds/" + guild + "/roles", "POST " + hookOwn + ` {"content":"x","allowed_mentions":{"roles":["` + string(sandbox.DemoEventsRole) + `"]}}`},
		},
		{
			shows: "a payload that mentions a role of no guild", tool: "webhooks_execute", deps: home, args: pack(`{"content":"x","allowed_mentions":{"roles":["1200000000000009999"]}}`) + `}`,
			sent: []string{"GET " + hookOwn, "GET /guilds/" + guild + "/roles"}, code: mcpcore.CodeGuildUnresolved,
		},
	})
	b := start(t)
	b.call("webhooks_execute", pack(`{"content":"very private"}`)+`}`)
	events := b.audit.all()
	if len(events) != 2 || strings.Contains(string(events[0].Args), "private") || !strings.Contains(string(events[0].Args), `"content":"[REDACTED`) {
		t.Errorf("the audit has %d events: %s", len(events), events[0].Args)
	}
}

// TestMovedWebhook: a webhook that somebody points into a guild that is not
// allowed is not used again. Tools that write ask each time, those that read at
// least each minute.
func TestMovedWebhook(t *testing.T) {
	t.Parallel()
	at := now
	world := sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return at }})
	b := startOn(t, world, homeOnly, func(d *discordtools.Deps) { d.Clock = func() time.Time { return at } })
	calls := func(code mcpcore.Code, tools ...string) {
		t.Helper()
		for _, tool := range tools {
			world.ResetRequests()
			a := b.call(tool, map[string]string{
				"webhooks_get_with_token":    `{` + byHook + `}`,
				"webhooks_get_message":       `{` + ofHook + `}`,
				"webhooks_execute":           `{` + byHook + `,"content":"x"}`,
				"webhooks_edit_message":      `{` + ofHook + `,"content":"y"}`,
				"webhooks_modify_with_token": `{` + byHook + `,"name":"x"}`,
				"webhooks_delete_message":    `{` + ofHook + `,"__confirm":true}`,
				"webhooks_delete_with_token": `{` + byHook + `,"__confirm":true}`,
			}[tool])
			if a.code != code {
				t.Errorf("%s: code %q, want %q: %s", tool, a.code, code, a.text)
			}
			if writes := world.Writes(); code != "" && len(writes) > 0 {
				t.Errorf("%s: Discord saw %s %s", tool, writes[0].Method, writes[0].Path)
			}
		}
	}
	writes := []string{"webhooks_execute", "webhooks_edit_message", "webhooks_modify_with_token", "webhooks_delete_message", "webhooks_delete_with_token"}
	reads := []string{"webhooks_get_with_token", "webhooks_get_message"}
	hookWrote(sandbox.DemoAnnouncements)(world)
	calls("", append(reads, writes[:3]...)...)
	world.MoveWebhook(sandbox.DemoWebhook, sandbox.DemoClubGeneral)
	calls(mcpcore.CodeGuildNotAllowed, append(writes, reads...)...)
	world.MoveWebhook(sandbox.DemoWebhook, sandbox.DemoAnnouncements)
	calls("", "webhooks_execute")
	world.MoveWebhook(sandbox.DemoWebhook, sandbox.DemoClubGeneral)
	at = at.Add(time.Minute)
	calls(mcpcore.CodeGuildNotAllowed, reads...)
	world.MoveWebhook(sandbox.DemoWebhook, sandbox.DemoGeneral) // within the guild
	calls("", "webhooks_execute", "webhooks_get_with_token", "webhooks_modify_with_token", "webhooks_delete_with_token")
}

// TestWebhookAndThreadAreOfOneGuild: neither a token nor a thread leads elsewhere.
func TestWebhookAndThreadAreOfOneGuild(t *testing.T) {
	t.Parallel()
	thread := func(d *sandbox.Discord) {
		d.AddChannel(sandbox.Channel{ID: "1200000000000000399", Guild: sandbox.DemoClub, Type: discord.PublicThread, Name: "t", Parent: sandbox.DemoClubGeneral})
	}
	both := func(d *discordtools.Deps) {
		d.Config.AllowedGuilds = []discord.GuildID{sandbox.DemoGuild, sandbox.DemoClub}
	}
	run(t, []row{
		{
			shows: "a thread of another guild", tool: "webhooks_execute", setup: thread, deps: homeOnly, args: `{` + byHook + `,"content":"x","thread_id":"1200000000000000399"}`,
			sent: []string{"GET " + hookOwn, "GET /channels/1200000000000000399"}, code: mcpcore.CodeGuildNotAllowed,
		},
		{
			shows: "a thread of another guild that is allowed", tool: "webhooks_execute", setup: thread, deps: both, args: `{` + byHook + `,"content":"x","thread_id":"1200000000000000399"}`,
			sent: []string{"GET " + hookOwn, "GET /channels/1200000000000000399"}, code: mcpcore.CodeGuildUnresolved, says: "acts in one",
		},
		{
			shows: "another's token", tool: "webhooks_execute", deps: homeOnly, args: `{"webhook_id":` + id(hook) + `,"token":"another-token","content":"x"}`,
			sent: []string{"GET " + hookPath + "/another-token"}, code: mcpcore.CodeGuildUnresolved,
		},
		{
			shows: "an interaction's token", tool: "webhooks_execute", setup: follows, deps: homeOnly,
			args: `{"webhook_id":` + id(sandbox.ApplicationID) + `,"token":` + id(useToken) + `,"content":"x"}`, sent: []string{"GET " + useOwn}, code: mcpcore.CodeGuildUnresolved,
		},
		{
			shows: "moved into another guild", tool: "webhooks_modify", deps: homeOnly, args: `{"webhook_id":` + id(hook) + `,"channel_id":` + id(sandbox.DemoClubGeneral) + `}`,
			sent: []string{"GET " + hookPath, "GET /channels/" + string(sandbox.DemoClubGeneral)}, code: mcpcore.CodeGuildNotAllowed,
		},
		{
			shows: "moved within", tool: "webhooks_modify", deps: homeOnly, args: `{"webhook_id":` + id(hook) + `,"channel_id":` + id(general) + `}`,
			sent: []string{"GET " + hookPath, "GET /channels/" + general, "PATCH " + hookPath + ` {"channel_id":` + id(general) + `}`},
		},
	})
}

// L25 Dead token keeps calling.
func TestL25WebhookTokenDoesNotLatch(t *testing.T) {
	t.Parallel()
	b := start(t)
	if a := b.call("webhooks_execute", `{"webhook_id":`+id(hook)+`,"token":"another-token","content":"x"}`); a.code != mcpcore.CodeAuthInvalid {
		t.Errorf("code %q: %s", a.code, a.text)
	}
	for _, call := range [][2]string{{"messages_read", readGeneral()}, {"webhooks_execute", `{` + byHook + `,"content":"x"}`}} {
		if a := b.call(call[0], call[1]); a.code != "" {
			t.Errorf("%s afterwards: %s", call[0], a.text)
		}
	}
}

// L40 Webhook and interaction tokens in logs and traces.
func TestL40OtherTokensStayInside(t *testing.T) {
	t.Parallel()
	asks := func(q *http.Request) string { return q.URL.Path[strings.LastIndex(q.URL.Path, "/v10")+4:] }
	rows := map[string]func(q *http.Request) (*http.Response, error){
		"connection refused, told with the address": func(q *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("send: %w", fmt.Errorf("dial %s: %w", q.URL, syscall.ECONNREFUSED))
		},
		"broken, told with the path": func(q *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("%s: %w", asks(q), syscall.ECONNRESET)
		},
		"404 that repeats it": func(q *http.Request) (*http.Response, error) {
			return reply(q, 404, `{"message":"nothing at `+asks(q)+`","code":10015}`, "Content-Type", "application/json"), nil
		},
		"429 that repeats it": func(q *http.Request) (*http.Response, error) {
			return reply(q, 429, `{"message":"`+asks(q)+` is too fast","retry_after":300,"global":false}`, "Content-Type", "application/json"), nil
		},
		"400 with issues that repeat it": func(q *http.Request) (*http.Response, error) {
			return reply(q, 400, `{"message":"Invalid Form Body","code":50035,"errors":{"`+asks(q)+`":{"_errors":[{"code":"X","message":"`+asks(q)+`"}]}}}`, "Content-Type", "application/json"), nil
		},
		"500 page": func(q *http.Request) (*http.Response, error) {
			return reply(q, 500, "<html>"+asks(q), "Content-Type", "text/html"), nil
		},
		"a text": func(q *http.Request) (*http.Response, error) {
			return reply(q, 200, asks(q), "Content-Type", "application/json"), nil
		},
		"a panic":       func(q *http.Request) (*http.Response, error) { panic("at " + asks(q)) },
		"what there is": nil,
	}
	var calls [][2]string
	for _, w := range tokenWrites {
		calls = append(calls, [2]string{w.tool, fmt.Sprintf(w.args, `"content":"x"`)})
	}
	calls[0][1] = `{` + byHook + `,"username":"` + hookOwn + `","content":"https://discord.com/api` + hookOwn + `"}` // is not read again
	calls = append(calls, [][2]string{
		{"webhooks_create", `{"channel_id":` + id(general) + `,"name":"x"}`}, {"webhooks_get", `{"webhook_id":` + id(hook) + `}`},
		{"webhooks_list_guild", `{"guild_id":` + id(guild) + `}`}, {"webhooks_list_channel", `{"channel_id":` + id(general) + `}`},
		{"webhooks_modify", `{"webhook_id":` + id(hook) + `,"name":"y"}`}, {"webhooks_get_with_token", `{` + byHook + `}`},
		{"webhooks_modify_with_token", `{` + byHook + `,"name":"y"}`}, {"webhooks_get_message", `{` + ofHook + `}`},
		{"webhooks_delete_message", `{` + ofHook + `}`}, {"webhooks_delete_with_token", `{` + byHook + `}`}, {"webhooks_delete_with_token", `{` + byHook + `,"__confirm":true}`},
		{"interactions_get_original_response", `{` + byUse + `}`}, {"interactions_get_followup", `{` + byUse + `,"message_id":` + id(followed) + `}`},
		{"interactions_delete_followup", `{` + byUse + `,"message_id":` + id(followed) + `}`}, {"interactions_delete_original_response", `{` + byUse + `,"__confirm":true}`},
	}...)
	for name, edit := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // tries wait between each other
				logs, spans := &logBuffer{}, tracetest.NewSpanRecorder()
				b, line := startBetween(t, func(_ int, q *http.Request) (*http.Response, error) {
					if edit == nil {
						return nil, nil
					}
					return edit(q)
				}, func(d *discordtools.Deps) {
					d.Logger = slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
					d.Client.Logger = d.Logger
					d.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
				})
				hookWrote(sandbox.DemoAnnouncements)(line.world)
				line.world.AddInteraction(sandbox.Interaction{ID: use, Token: useToken, Channel: sandbox.DemoGeneral, User: sandbox.DemoMember, Deferred: true})
				var answers strings.Builder
				for _, c := range calls {
					a := b.call(c[0], c[1])
					answers.Write(a.data)
					answers.WriteString(a.text)
				}
				events, err := json.Marshal(b.audit.all())
				if err != nil {
					t.Fatal(err)
				}
				var traces strings.Builder
				for _, s := range spans.Ended() {
					fmt.Fprintln(&traces, s.Name(), s.Attributes(), s.Events(), s.Status())
				}
				for sink, text := range map[string]string{"answers": answers.String(), "logs": logs.String(), "audit": string(events), "traces": traces.String()} {
					for _, token := range []string{hookToken, useToken} {
						if i := strings.Index(text, token); i >= 0 {
							t.Errorf("a token shows in the %s: …%s…", sink, text[max(0, i-200):min(len(text), i+len(token)+50)])
						}
					}
				}
				if len(line.requests()) == 0 || logs.String() == "" || len(events) < 100 || traces.Len() == 0 {
					t.Error("nothing was sent, logged, recorded or traced: this test looks at nothing")
				}
				if name == "404 that repeats it" && !strings.Contains(answers.String(), "/webhooks/{webhook_id}/{webhook_token}") {
					t.Error("the route is lost with the token")
				}
			})
		})
	}
}
