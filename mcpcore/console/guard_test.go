package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// desk is a console over a ledger, with a clock of its own.
type desk struct {
	*testing.T
	ledger    *ledger.Memory
	approvers console.Approvers
	ana, ben  string // tokens; ben's is nobody's here
	console   *console.Console
	server    *httptest.Server
	log       *strings.Builder

	mu  sync.Mutex
	now time.Time
}

func (d *desk) time() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *desk) passes(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

func open(t *testing.T, change ...func(*console.Options)) *desk {
	t.Helper()
	d := &desk{T: t, now: time.Now(), log: &strings.Builder{}}
	var setting string
	d.ana, setting = made(t, "ana")
	d.ben, _ = made(t, "ben")
	d.approvers = parsed(t, setting)
	d.ledger = ledger.NewMemory(d.time)
	o := console.Options{Ledger: d.ledger, Approvers: d.approvers, StateKey: []byte(strings.Repeat("k", 32)), Clock: d.time, Logger: slog.New(slog.NewTextHandler(d.log, nil))}
	for _, c := range change {
		c(&o)
	}
	var err error
	if d.console, err = console.New(o); err != nil {
		t.Fatal(err)
	}
	d.server = httptest.NewServer(d.console)
	t.Cleanup(func() {
		d.console.Close()
		d.server.Close()
		for _, secret := range []string{d.ana[4:], d.ben[4:]} {
			if strings.Contains(d.log.String(), secret) {
				t.Errorf("a token is logged:\n%s", d.log)
			}
		}
	})
	return d
}

// waits puts a request, and gives it as the ledger has it.
func (d *desk) waits(shown mcpcore.Shown) mcpcore.Approval {
	d.Helper()
	if shown.Question == "" {
		shown.Question = "Really?"
	}
	raw, err := json.Marshal(shown)
	if err != nil {
		d.Fatal(err)
	}
	return d.waitsRaw(raw)
}

func (d *desk) waitsRaw(raw json.RawMessage) mcpcore.Approval {
	d.Helper()
	a, err := d.ledger.Propose(d.Context(), mcpcore.Proposal{
		Purpose: mcpcore.ForPerson, Tool: "members_ban", Principal: "stdio", Fingerprint: mcpcore.Fingerprint(fmt.Sprint(len(raw), time.Now().UnixNano())), Shown: raw, Lifetime: mcpcore.MaxLifetime,
	})
	if err != nil {
		d.Fatal(err)
	}
	return a
}

// decided is what the ledger holds of it; nil while it waits.
func (d *desk) decided(a mcpcore.Approval) *mcpcore.Decision {
	d.Helper()
	again, err := d.ledger.Propose(d.Context(), a.Proposal)
	if err != nil {
		d.Fatal(err)
	}
	return again.Decision
}

// visitor is a browser.
type visitor struct {
	*desk
	client *http.Client
}

func (d *desk) visits() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.Fatal(err)
	}
	return &visitor{desk: d, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// answer is what a visitor got.
type answer struct {
	*http.Response
	text string
}

func (v *visitor) send(r *http.Request) answer {
	v.Helper()
	res, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		v.Fatal(err)
	}
	return answer{res, string(b)}
}

func (v *visitor) request(method, path string, form url.Values) *http.Request {
	v.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(v.Context(), method, v.server.URL+path, body)
	if err != nil {
		v.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", v.server.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return r
}

func (v *visitor) get(path string) answer { return v.send(v.request("GET", path, nil)) }
func (v *visitor) post(path string, form url.Values) answer {
	return v.send(v.request("POST", path, form))
}

var hidden = regexp.MustCompile(`name="(form|seen)" value="([^"]+)"`)

// fields are the hidden ones of a page's form.
func fields(page string) url.Values {
	all := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(page, -1) {
		all.Set(m[1], m[2])
	}
	return all
}

// signsIn gives a visitor who is ana.
func (d *desk) signsIn() *visitor {
	d.Helper()
	v := d.visits()
	if got := v.post("/console/signin", url.Values{"token": {d.ana}}); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/console/" {
		d.Fatalf("signing in: %s\n%s", got.Status, got.text)
	}
	return v
}

// form is that of the page about a request, with more.
func (v *visitor) form(a mcpcore.Approval, more ...string) url.Values {
	v.Helper()
	page := v.get("/console/approvals/" + string(a.ID))
	f := fields(page.text)
	if page.StatusCode != http.StatusOK || f.Get("form") == "" || f.Get("seen") == "" {
		v.Fatalf("%s\n%s", page.Status, page.text)
	}
	for i := 0; i < len(more); i += 2 {
		f.Set(more[i], more[i+1])
	}
	return f
}

func TestADecisionHoldsForTheServer(t *testing.T) {
	t.Parallel()
	for _, verdict := range []string{"approve", "refuse"} {
		d := open(t)
		a := d.waits(mcpcore.Shown{Title: "Ban a user", Effect: "destroy"})
		v := d.signsIn()
		got := v.post("/console/approvals/"+string(a.ID), v.form(a, "decision", verdict, "reason", " because ", "read", "yes"))
		if got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/console/?done=") {
			t.Fatalf("%s: %s\n%s", verdict, got.Status, got.text)
		}
		a.Decision = d.decided(a)
		if a.Decision == nil || a.Decision.By != "ana" || a.Decision.Approve != (verdict == "approve") || a.Decision.Reason != "because" {
			t.Fatalf("%s: %+v", verdict, a.Decision)
		}
		if err := d.approvers.Check(a); err != nil {
			t.Errorf("%s: the server would not take it: %v", verdict, err)
		}
		if page := v.get(got.Header.Get("Location")); !strings.Contains(page.text, map[string]string{"approve": "Approved.", "refuse": "Refused."}[verdict]) {
			t.Errorf("%s: %s", verdict, page.text)
		}
	}
}

// TestNothingIsDecided sends forms that must not count, each differing in one
// thing from one that does.
func TestNothingIsDecided(t *testing.T) {
	t.Parallel()
	other := func(name, value string) func(*visitor, *http.Request, url.Values) {
		return func(_ *visitor, _ *http.Request, f url.Values) { f.Set(name, value) }
	}
	header := func(name, value string) func(*visitor, *http.Request, url.Values) {
		return func(_ *visitor, r *http.Request, _ url.Values) { r.Header.Set(name, value) }
	}
	for name, row := range map[string]struct {
		change func(*visitor, *http.Request, url.Values)
		status int
		says   string
	}{
		"as it should be":            {func(*visitor, *http.Request, url.Values) {}, http.StatusSeeOther, ""},
		"no form token":              {other("form", ""), http.StatusForbidden, "not of your session"},
		"another form token":         {other("form", strings.Repeat("A", 22)), http.StatusForbidden, "not of your session"},
		"not what was shown":         {other("seen", strings.Repeat("0", 64)), http.StatusConflict, "no longer what you were shown"},
		"nothing was shown":          {other("seen", ""), http.StatusConflict, "no longer what you were shown"},
		"no decision":                {other("decision", ""), http.StatusBadRequest, "say Approve or Refuse"},
		"another decision":           {other("decision", "yes"), http.StatusBadRequest, "say Approve or Refuse"},
		"not read":                   {other("read", ""), http.StatusBadRequest, "for good or shuts"},
		"a long reason":              {other("reason", strings.Repeat("ä", 301)), http.StatusBadRequest, "longer"},
		"a reason in lines":          {other("reason", "a\nb"), http.StatusBadRequest, "one line"},
		"a reason turned":            {other("reason", "a\u202eb"), http.StatusBadRequest, "one line"},
		"a token as reason":          {func(v *visitor, _ *http.Request, f url.Values) { f.Set("reason", v.ben) }, http.StatusBadRequest, "Leave that out"},
		"a foreign origin":           {header("Origin", "https://evil.example"), http.StatusForbidden, "another page"},
		"an origin of null":          {header("Origin", "null"), http.StatusForbidden, "another page"},
		"no origin":                  {func(_ *visitor, r *http.Request, _ url.Values) { r.Header.Del("Origin") }, http.StatusForbidden, "another page"},
		"the host's name, as a part": {func(v *visitor, r *http.Request, _ url.Values) { r.Header.Set("Origin", v.server.URL+".evil.example") }, http.StatusForbidden, "another page"},
		"from another site":          {header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden, "another page"},
		"from a sibling site":        {header("Sec-Fetch-Site", "same-site"), http.StatusForbidden, "another page"},
		"a foreign host": {func(_ *visitor, r *http.Request, _ url.Values) {
			r.Host = "evil.example"
			r.Header.Set("Origin", "http://evil.example")
		}, http.StatusMisdirectedRequest, "not served under that name"},
		"signed out":   {func(v *visitor, _ *http.Request, _ url.Values) { v.client.Jar = nil }, http.StatusUnauthorized, "signed out"},
		"session over": {func(v *visitor, _ *http.Request, _ url.Values) { v.passes(61 * time.Minute) }, http.StatusUnauthorized, "signed out"},
		"a changed cookie": {func(v *visitor, r *http.Request, _ url.Values) {
			v.client.Jar = nil
			r.Header.Set("Cookie", "guildwarden_console=AAAA")
		}, http.StatusUnauthorized, "signed out"},
		"5 MB": {other("reason", strings.Repeat("a", 5<<20)), http.StatusRequestEntityTooLarge, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			a := d.waits(mcpcore.Shown{Effect: "destroy"})
			v := d.signsIn()
			f := v.form(a, "decision", "approve", "read", "yes")
			path := "/console/approvals/" + string(a.ID)
			r := v.request("POST", path, f)
			row.change(v, r, f)
			again := v.request("POST", path, f)
			again.Header, again.Host = r.Header, r.Host
			got := v.send(again)
			if got.StatusCode != row.status || !strings.Contains(got.text, row.says) {
				t.Errorf("%s, want %d and %q:\n%s", got.Status, row.status, row.says, got.text)
			}
			if strings.Contains(got.text, v.ben) {
				t.Error("the page holds a token")
			}
			if name == "session over" {
				return // so is the request
			}
			if decided := d.decided(a) != nil; decided != (row.status == http.StatusSeeOther) {
				t.Errorf("decided: %t", decided)
			}
		})
	}
}

// TestWhatWasShownIsWhatIsSigned replaces a request under the same id between
// the look and the decision, as whoever writes the ledger can.
func TestWhatWasShownIsWhatIsSigned(t *testing.T) {
	t.Parallel()
	swap := &swapped{}
	d := open(t, func(o *console.Options) { swap.Ledger = o.Ledger; o.Ledger = swap })
	a := d.waits(mcpcore.Shown{Question: "Read a message?", Effect: "write"})
	v := d.signsIn()
	f := v.form(a, "decision", "approve")
	swap.shown = json.RawMessage(`{"question":"Ban everybody?","effect":"write"}`)
	got := v.post("/console/approvals/"+string(a.ID), f)
	if got.StatusCode != http.StatusConflict || !strings.Contains(got.text, "Ban everybody?") || d.decided(a) != nil {
		t.Errorf("%s\n%s", got.Status, got.text)
	}
}

// swapped is a ledger that shows something else than it was given.
type swapped struct {
	mcpcore.Ledger
	shown json.RawMessage
}

func (s *swapped) Pending(c ctx, by mcpcore.Filter) ([]mcpcore.Approval, error) {
	all, err := s.Ledger.Pending(c, by)
	for i := range all {
		if s.shown != nil {
			all[i].Shown = s.shown
		}
	}
	return all, err
}

func TestTheFirstDecisionStands(t *testing.T) {
	t.Parallel()
	d := open(t)
	a, late := d.waits(mcpcore.Shown{}), d.waits(mcpcore.Shown{Title: "late"})
	v := d.signsIn()
	f, g := v.form(a, "decision", "approve"), v.form(late, "decision", "approve")
	first, _ := d.approvers.Sign(d.ana, a, false, "no")
	if err := d.ledger.Decide(t.Context(), a.ID, first); err != nil {
		t.Fatal(err)
	}
	if got := v.post("/console/approvals/"+string(a.ID), f); got.StatusCode != http.StatusNotFound || d.decided(a).Approve {
		t.Errorf("%s\n%s", got.Status, got.text)
	}
	d.passes(16 * time.Minute)
	if got := v.post("/console/approvals/"+string(late.ID), g); got.StatusCode != http.StatusNotFound {
		t.Errorf("%s\n%s", got.Status, got.text)
	}
}

func TestWhatCannotBeShownCannotBeDecided(t *testing.T) {
	t.Parallel()
	d := open(t)
	a := d.waitsRaw(nil)
	v := d.signsIn()
	page := v.get("/console/approvals/" + string(a.ID))
	if !strings.Contains(page.text, "cannot be decided") || strings.Contains(page.text, `value="approve"`) {
		t.Errorf("%s", page.text)
	}
	f := fields(v.get("/console/").text)
	f.Set("decision", "approve")
	if got := v.post("/console/approvals/"+string(a.ID), f); got.StatusCode != http.StatusConflict || d.decided(a) != nil {
		t.Errorf("%s", got.Status)
	}
}

func TestHostsThatCount(t *testing.T) {
	t.Parallel()
	d := open(t, func(o *console.Options) { o.Hosts = []string{"Console.example.org", "other.example:8443"} })
	v := d.visits()
	for host, ok := range map[string]bool{
		"127.0.0.1:3001": true, "localhost": true, "localhost:1": true, "[::1]:3001": true, "127.9.9.9": true, "LOCALHOST:3": true,
		"console.example.org": true, "CONSOLE.example.org:443": true, "other.example:8443": true,
		"other.example": false, "other.example:443": false, "evil.example": false, "console.example.org.evil.example": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false, "10.0.0.1": false, "0.0.0.0": false, "evil.example:3001": false,
	} {
		r := v.request("GET", "/console/signin", nil)
		r.Host = host
		if got := v.send(r); (got.StatusCode == http.StatusOK) != ok {
			t.Errorf("%s: %s", host, got.Status)
		}
	}
}

func TestWhoIsNotSignedInSeesNothing(t *testing.T) {
	t.Parallel()
	d := open(t)
	a := d.waits(mcpcore.Shown{Title: "Canary title", Question: "canary question"})
	for _, path := range []string{"/console/", "/console/waiting", "/console/events", "/console/history", "/console/approvals/" + string(a.ID), "/console/approvals/nothing"} {
		got := d.visits().get(path)
		if got.StatusCode != http.StatusSeeOther && got.StatusCode != http.StatusUnauthorized || strings.Contains(strings.ToLower(got.text), "canary") {
			t.Errorf("%s: %s\n%s", path, got.Status, got.text)
		}
	}
	if got := d.visits().get("/console/approvals/" + string(a.ID)); got.Header.Get("Location") != "/console/signin?to="+string(a.ID) {
		t.Errorf("leads to %s", got.Header.Get("Location"))
	}
	// And comes back to what they wanted to see, on this console alone.
	for to, want := range map[string]string{string(a.ID): "/console/approvals/" + string(a.ID), "//evil.example": "/console/", "../../x": "/console/", "": "/console/"} {
		if got := d.visits().post("/console/signin", url.Values{"token": {d.ana}, "to": {to}}); got.Header.Get("Location") != want {
			t.Errorf("%q leads to %q", to, got.Header.Get("Location"))
		}
	}
}

func TestWhoWasRemovedIsSignedOut(t *testing.T) {
	t.Parallel()
	d := open(t)
	v := d.signsIn()
	next := open(t, func(o *console.Options) {}) // the same state key, other approvers
	u, err := url.Parse(next.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	old, _ := url.Parse(d.server.URL + "/console/")
	cookies := v.client.Jar.Cookies(old)
	if len(cookies) != 1 {
		t.Fatalf("%v", cookies)
	}
	w := next.visits()
	r := w.request("GET", "/console/", nil)
	r.AddCookie(cookies[0])
	if got := w.send(r); got.StatusCode != http.StatusSeeOther {
		t.Errorf("%s at %s", got.Status, u)
	}
	// Another console of the same approvers and state key takes the session over.
	replica := open(t, func(o *console.Options) { o.Approvers = d.approvers })
	w = replica.visits()
	r = w.request("GET", "/console/", nil)
	r.AddCookie(cookies[0])
	if got := w.send(r); got.StatusCode != http.StatusOK {
		t.Errorf("a replica answers %s", got.Status)
	}
	// One with another state key does not.
	stranger := open(t, func(o *console.Options) { o.Approvers, o.StateKey = d.approvers, nil })
	w = stranger.visits()
	r = w.request("GET", "/console/", nil)
	r.AddCookie(cookies[0])
	if got := w.send(r); got.StatusCode != http.StatusSeeOther {
		t.Errorf("a stranger answers %s", got.Status)
	}
}

func TestTheCookie(t *testing.T) {
	t.Parallel()
	d := open(t)
	for origin, secure := range map[string]bool{d.server.URL: false, strings.Replace(d.server.URL, "http:", "https:", 1): true} {
		v := d.visits()
		r := v.request("POST", "/console/signin", url.Values{"token": {" " + d.ana + "\n"}})
		r.Header.Set("Origin", origin)
		got := v.send(r)
		cookies := got.Cookies()
		if got.StatusCode != http.StatusSeeOther || len(cookies) != 1 {
			t.Fatalf("%s: %s", origin, got.Status)
		}
		c := cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure != secure || c.Path != "/console" || c.MaxAge != 3600 || c.Domain != "" {
			t.Errorf("%s: %+v", origin, c)
		}
		if strings.Contains(c.Value, d.ana[4:]) || strings.Contains(got.text, d.ana[4:]) {
			t.Error("the token stands open in it")
		}
	}
	v := d.signsIn()
	f := fields(v.get("/console/").text)
	if got := v.post("/console/signout", url.Values{"form": {"x"}}); got.StatusCode != http.StatusForbidden {
		t.Errorf("signed out by a foreign form: %s", got.Status)
	}
	if got := v.post("/console/signout", f); got.StatusCode != http.StatusSeeOther || got.Cookies()[0].MaxAge >= 0 {
		t.Errorf("signing out: %s", got.Status)
	}
	if got := v.get("/console/"); got.StatusCode != http.StatusSeeOther {
		t.Errorf("after signing out: %s", got.Status)
	}
}

func TestSigningInIsLimited(t *testing.T) {
	t.Parallel()
	d := open(t)
	from := func(address, token string) int {
		r := httptest.NewRequest("POST", "http://localhost/console/signin", strings.NewReader(url.Values{"token": {token}}.Encode()))
		r.RemoteAddr = address
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://localhost")
		w := httptest.NewRecorder()
		d.console.ServeHTTP(w, r)
		if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
			t.Error("it does not say when to try again")
		}
		return w.Code
	}
	for i, token := range []string{"", "hunter2", d.ben, d.ana + "x", d.ana[:30]} {
		if got := from(fmt.Sprintf("10.0.0.1:%d", 1000+i), token); got != http.StatusForbidden {
			t.Errorf("%q: %d", token, got)
		}
	}
	if got := from("10.0.0.1:7", d.ana); got != http.StatusTooManyRequests {
		t.Errorf("the sixth try from one address: %d", got)
	}
	if got := from("10.0.0.2:7", d.ana); got != http.StatusSeeOther {
		t.Errorf("from another address: %d", got)
	}
	d.passes(time.Minute)
	if got := from("10.0.0.1:7", d.ana); got != http.StatusSeeOther {
		t.Errorf("a minute later: %d", got)
	}
	// One network of IPv6 is one address, and all together have a limit too.
	for i := range 5 {
		from(fmt.Sprintf("[2001:db8::%d]:1", i+1), "x")
	}
	if got := from("[2001:db8::ffff]:1", d.ana); got != http.StatusTooManyRequests {
		t.Errorf("from the same network: %d", got)
	}
	for i := range 200 {
		from(fmt.Sprintf("10.1.%d.1:1", i), "x")
	}
	if got := from("10.9.9.9:1", d.ana); got != http.StatusTooManyRequests {
		t.Errorf("after many from everywhere: %d", got)
	}
	d.passes(time.Minute)
	if got := from("10.9.9.9:1", d.ana); got != http.StatusSeeOther {
		t.Errorf("a minute later: %d", got)
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	d := open(t)
	a := d.waits(mcpcore.Shown{})
	v := d.signsIn()
	for path, status := range map[string]int{
		"/console": http.StatusSeeOther, "/console/": 200, "/console/history": 200, "/console/approvals/" + string(a.ID): 200, "/console/approvals/x": 404, "/console/nothing": 404, "/": 404,
		"/console/signin": http.StatusSeeOther, "/console/console.css": 200, "/console/console.js": 200, "/console/icon.svg": 200, "/console/page/show.html": 404, "/console/../etc": 404,
	} {
		got := v.get(path)
		if got.StatusCode != status && got.StatusCode != http.StatusMovedPermanently && got.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("%s: %s", path, got.Status)
		}
		csp := got.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: no %s in %q", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("X-Frame-Options") != "DENY" || got.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %v", path, got.Header)
		}
		if strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
			if got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s is kept: %v", path, got.Header)
			}
			for _, inline := range []string{"<style", " style=", "onclick", "onload", "<script>", "javascript:", "src=\"http", "href=\"http"} {
				if strings.Contains(got.text, inline) {
					t.Errorf("%s holds %s", path, inline)
				}
			}
		}
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} {
		if got := v.send(v.request(method, "/console/approvals/"+string(a.ID), nil)); got.StatusCode < 400 {
			t.Errorf("%s: %s", method, got.Status)
		}
	}
}

func TestANewConsoleNeedsItsParts(t *testing.T) {
	t.Parallel()
	_, setting := made(t, "ana")
	ana := parsed(t, setting)
	for name, row := range map[string]struct {
		o    console.Options
		says string
	}{
		"nobody":         {console.Options{Ledger: ledger.NewMemory(nil)}, "without approvers"},
		"no ledger":      {console.Options{Approvers: ana}, "ledger"},
		"a short key":    {console.Options{Ledger: ledger.NewMemory(nil), Approvers: ana, StateKey: []byte("short")}, "at least 32"},
		"a bad path":     {console.Options{Ledger: ledger.NewMemory(nil), Approvers: ana, Path: "console/"}, "path"},
		"a bad host":     {console.Options{Ledger: ledger.NewMemory(nil), Approvers: ana, Hosts: []string{"https://x"}}, "no host"},
		"any host":       {console.Options{Ledger: ledger.NewMemory(nil), Approvers: ana, Hosts: []string{"*"}}, "no host"},
		"all is there":   {console.Options{Ledger: ledger.NewMemory(nil), Approvers: ana, Path: "/bot/approve", Hosts: []string{"a.example:8443", "[fd00::1]:80"}}, ""},
		"nothing at all": {console.Options{}, "without approvers"},
	} {
		_, err := console.New(row.o)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABearerIsNoApproversToken(t *testing.T) {
	t.Parallel()
	token, setting := made(t, "ana")
	other, _ := made(t, "ben")
	a := parsed(t, setting)
	for bearer, ok := range map[string]bool{token: false, " " + token + "\n": false, other: true, "": true, "a long bearer token of some kind": true, setting: true} {
		err := a.CheckBearer(bearer)
		if (err == nil) != ok || err != nil && (strings.Contains(err.Error(), token[4:]) || !strings.Contains(err.Error(), "ana")) {
			t.Errorf("%q: %v", bearer, err)
		}
	}
}

// TestMountedElsewhere has the console under another path on an embedder's mux.
func TestMountedElsewhere(t *testing.T) {
	t.Parallel()
	d := open(t, func(o *console.Options) { o.Path = "/bot/approve" })
	a := d.waits(mcpcore.Shown{Title: "Ban a user"})
	mux := http.NewServeMux()
	mux.Handle("/bot/approve/", d.console)
	server := httptest.NewServer(mux)
	defer server.Close()
	d.server.Close()
	d.server = server
	v := d.visits()
	if got := v.post("/bot/approve/signin", url.Values{"token": {d.ana}}); got.Header.Get("Location") != "/bot/approve/" {
		t.Fatalf("%s %s", got.Status, got.text)
	}
	page := v.get("/bot/approve/")
	if !strings.Contains(page.text, `href="/bot/approve/approvals/`+string(a.ID)) || strings.Contains(page.text, `"/console`) {
		t.Errorf("%s", page.text)
	}
}
