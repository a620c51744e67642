package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/internal/openapi"
)

// noon is the present of tests with a fixed clock.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// demo is a checked demo world at noon.
func demo(t *testing.T) *Discord {
	t.Helper()
	return checked(t, DemoWith(Options{Clock: func() time.Time { return noon }}))
}

// spec is Discord's description, nil where it is not at hand.
var spec = sync.OnceValues(func() (*openapi.Spec, error) {
	path, ok := openapi.Find()
	if !ok {
		return nil, nil
	}
	return openapi.Load(path)
})

// checked fails the test when an exchange departs from Discord's description:
// an answer that it does not know, or a request that it forbids and the sandbox
// executed.
func checked(t *testing.T, d *Discord) *Discord {
	t.Helper()
	s, err := spec()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return d
	}
	d.Observe(func(r Request) {
		if r.Route == "" || r.Faulted || r.Status == 0 {
			return
		}
		if err := s.CheckResponse(r.Method, r.Route, r.Status, r.ReplyHeader.Get("Content-Type"), r.Reply); err != nil {
			t.Errorf("answer to %s %s: %v\n%s", r.Method, r.Path, err, r.Reply)
		}
		if r.Status/100 != 2 {
			return
		}
		if err := s.CheckRequest(r.Method, r.Route, r.Query, r.Header.Get("Content-Type"), r.Body); err != nil {
			t.Errorf("executed %s %s: %v\n%s", r.Method, r.Path, err, r.Body)
		}
	})
	return d
}

// request builds an authorised request.
func request(t *testing.T, d *Discord, method, path, body string) *http.Request {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "https://discord.com/api/v10"+path, content)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bot "+d.Token())
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// do sends a request and reads the answer.
func do(t *testing.T, d *Discord, method, path, body string) (status int, reply []byte) {
	t.Helper()
	return send(t, d, request(t, d, method, path, body))
}

func send(t *testing.T, d *Discord, r *http.Request) (status int, reply []byte) {
	t.Helper()
	res, err := d.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	reply, err = io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, reply
}

// get sends a request that must succeed and decodes the answer.
func get[T any](t *testing.T, d *Discord, method, path, body string) (v T) {
	t.Helper()
	status, reply := do(t, d, method, path, body)
	if status/100 != 2 {
		t.Fatalf("%s %s: status %d: %s", method, path, status, reply)
	}
	if len(reply) > 0 {
		if err := json.Unmarshal(reply, &v); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, reply)
		}
	}
	return v
}

// row is a request and how it must end. In path and body, {general} and its like
// stand for the ids of the demo world.
type row struct {
	name         string
	method, path string
	body         string
	status, code int
	has          string // what the answer must contain
	before       func(*Discord)
	after        func(*testing.T, *Discord)
}

var demoNames = strings.NewReplacer(
	"{guild}", string(DemoGuild), "{club}", string(DemoClub), "{general}", string(DemoGeneral), "{rules}", string(DemoRules),
	"{news}", string(DemoAnnouncements), "{showcase}", string(DemoShowcase), "{help}", string(DemoHelp), "{lounge}", string(DemoLounge),
	"{stage}", string(DemoStage), "{staff}", string(DemoStaff), "{modlog}", string(DemoModLog), "{category}", string(DemoCommunity),
	"{thread}", string(DemoThread), "{archived}", string(DemoArchived), "{post}", string(DemoPost), "{clubgeneral}", string(DemoClubGeneral),
	"{reads}", string(DemoClubReads), "{poll}", string(DemoPoll), "{sketch}", string(DemoSketch), "{rule}", string(DemoRulesMessage),
	"{release}", string(DemoNews), "{member}", string(DemoMember), "{mod}", string(DemoModerator), "{admin}", string(DemoAdmin),
	"{owner}", string(DemoOwner), "{reader}", string(DemoReader), "{bot}", string(BotID), "{bug}", string(DemoBugTag),
	"{solved}", string(DemoSolvedTag), "{emoji}", string(DemoEmoji), "{sticker}", string(DemoSticker), "{mods}", string(DemoModeratorRole),
	"{events}", string(DemoEventsRole), "{everyone}", string(DemoGuild), "{muted}", string(DemoMutedRole),
	"{nowhere}", "1999999999999999999", "{mine}", string(mine), "{hook}", string(DemoWebhook), "{hooktoken}", secret("webhook", DemoWebhook),
	"{app}", string(ApplicationID), "{used}", used, "{usedtoken}", secret("interaction", used),
)

// mine is a message of the bot in general that rows find there, sent at noon.
const mine = "1510976205619200000"

// rows runs each row against a demo world of its own.
func rows(t *testing.T, all []row) {
	t.Helper()
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			d := demo(t)
			d.AddMessage(DemoGeneral, Message{ID: mine, Content: "mine"})
			if r.before != nil {
				r.before(d)
			}
			status, reply := do(t, d, r.method, demoNames.Replace(r.path), demoNames.Replace(r.body))
			var failed struct {
				Code int `json:"code"`
			}
			if status >= 400 {
				if err := json.Unmarshal(reply, &failed); err != nil {
					t.Fatal(err)
				}
			}
			if status != r.status || failed.Code != r.code {
				t.Fatalf("got %d, code %d; want %d, code %d: %s", status, failed.Code, r.status, r.code, reply)
			}
			if !bytes.Contains(reply, []byte(demoNames.Replace(r.has))) {
				t.Errorf("answer lacks %s: %s", demoNames.Replace(r.has), reply)
			}
			if r.after != nil {
				r.after(t, d)
			}
		})
	}
}
