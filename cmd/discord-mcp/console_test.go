package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
)

func TestConsoleServesThisMachineAlone(t *testing.T) {
	t.Parallel()
	for at, says := range map[string]string{
		"0.0.0.0:0": "loopback", ":0": "loopback", "192.0.2.1:80": "loopback", "example.org:80": "loopback", "[::]:0": "loopback",
		"127.0.0.1": "with a port", "3001": "with a port", "127.0.0.1:port": "--console",
	} {
		if e := run(t, nil, "", "serve", "--sandbox", "--console", at); e.status != 1 || e.stdout != "" || !strings.Contains(e.stderr, says) {
			t.Errorf("%s: %+v", at, e)
		}
	}
}

func TestConsoleDoesNotOpenWithoutApprovers(t *testing.T) {
	t.Parallel()
	e := run(t, nil, "", "serve", "--console", "127.0.0.1:0")
	if e.status != 1 || !strings.Contains(e.stderr, "does not open without somebody who may decide") || !strings.Contains(e.stderr, "discord-mcp approver new NAME") || strings.Contains(e.stderr, "http://") {
		t.Errorf("%+v", e)
	}
	// In the sandbox it makes a token for the run, and another one for the next.
	tokens := map[string]bool{}
	for range 2 {
		e := run(t, []string{"MCP_HUMAN_APPROVAL=gated"}, "", "serve", "--sandbox", "--console", "127.0.0.1:0")
		said := tokenLine.FindStringSubmatch(e.stderr)
		if e.status != 0 || said == nil || consoleLine.FindString(e.stderr) == "" || e.stdout != "" {
			t.Fatalf("%+v", e)
		}
		tokens[said[1]] = true
	}
	if len(tokens) != 2 {
		t.Error("one token for two runs")
	}
	// Whoever names approvers gets no token, and none is printed.
	r := people(t)
	if e := run(t, r.env, "", "serve", "--sandbox", "--console", "127.0.0.1:0"); e.status != 0 || strings.Contains(e.stderr, "gwa_") || consoleLine.FindString(e.stderr) == "" {
		t.Errorf("%+v", e)
	}
	if e := run(t, append(r.env, "MCP_APPROVERS=nonsense"), "", "serve", "--sandbox", "--console", "127.0.0.1:0"); e.status != 1 || !strings.Contains(e.stderr, "MCP_APPROVERS: item 1") {
		t.Errorf("%+v", e)
	}
}

// visitor is somebody at a console, by hand.
type visitor struct {
	t      *testing.T
	at     *url.URL
	client *http.Client
}

func visits(t *testing.T, at *url.URL) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, at, &http.Client{Jar: jar}}
}

func (v *visitor) send(path string, form url.Values) (*http.Response, string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), "GET", v.at.String()+path, nil)
	if form != nil {
		r, err = http.NewRequestWithContext(v.t.Context(), "POST", v.at.String()+path, strings.NewReader(form.Encode()))
	}
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+v.at.Host)
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res, string(b)
}

var hiddenField = regexp.MustCompile(`name="(form|seen)" value="([^"]+)"`)

// decides signs in and decides what waits under the id.
func (v *visitor) decides(token, id, verdict string) string {
	v.t.Helper()
	v.send("/signin", url.Values{"token": {token}})
	_, page := v.send("/approvals/"+id, nil)
	form := url.Values{"decision": {verdict}, "read": {"yes"}}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], m[2])
	}
	res, page := v.send("/approvals/"+id, form)
	if res.StatusCode != http.StatusOK {
		v.t.Errorf("%s of %s: %s\n%s", verdict, id, res.Status, page)
	}
	return page
}

// TestADecisionOnAnotherProcess has an agent at one process and a person at the
// console of another, with one ledger between them, which outlives the first.
func TestADecisionOnAnotherProcess(t *testing.T) {
	t.Parallel()
	r := newFileRig(t)
	page := serve(t, r.env, "serve", "--sandbox", "--console", "127.0.0.1:0")
	page.handshake()
	where := consoleLine.FindStringSubmatch(page.stderr())
	if where == nil {
		t.Fatal(page.stderr())
	}
	at, err := url.Parse(where[1])
	if err != nil {
		t.Fatal(err)
	}
	first := r.waits() // of a process that has ended since
	v := visits(t, at)
	if _, text := v.send("/", nil); strings.Contains(text, string(first)) {
		t.Error("who is not signed in sees what waits")
	}
	if said := v.decides(r.ana, string(first), "approve"); !strings.Contains(said, "Approved.") {
		t.Errorf("%s", said)
	}
	r.actsOnce(first)
	second := r.waits()
	v.decides(r.ana, string(second), "refuse")
	if _, answer := r.act(); answer.Code != mcpcore.CodeHumanRefused || answer.By != "ana" {
		t.Errorf("%+v", answer)
	}
	if _, text := v.send("/history", nil); !strings.Contains(text, "approved") || !strings.Contains(text, "refused") || strings.Count(text, "messages_delete") < 2 {
		t.Errorf("%s", text)
	}
	r.keeps(page.stderr())
}

// TestAWatchingPageHoldsNobodyUp ends a server whose console is being watched.
func TestAWatchingPageHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	agent, at, token := consoles(t)
	v := visits(t, at)
	v.send("/signin", url.Values{"token": {token}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, "GET", at.String()+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := v.client.Do(q)
	if err != nil || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %v", res, err)
	}
	defer res.Body.Close()
	watched := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(res.Body) // until the server is gone
		watched <- string(b)
	}()
	_ = agent.in.Close()
	if e := agent.wait(); e.status != 0 {
		t.Errorf("it ends with %d:\n%s", e.status, e.stderr)
	}
	if text := <-watched; !strings.Contains(text, "retry:") {
		t.Errorf("the page got %q", text)
	}
}

// TestTheModelSeesNoForm looks at all that an agent gets of a decision.
func TestTheModelSeesNoForm(t *testing.T) {
	t.Parallel()
	agent, at, token := consoles(t)
	args := map[string]any{"channel_id": general, "content": "hello"}
	code, fields := agent.call("messages_send", args)
	if code != string(mcpcore.CodeHumanPending) || fields["where"] != at.String() {
		t.Fatalf("%s %v", code, fields)
	}
	id, _ := fields["approval_id"].(string)
	visits(t, at).decides(token, id, "refuse")
	if code, _ := agent.call("messages_send", args); code != string(mcpcore.CodeHumanRefused) {
		t.Errorf("after the refusal: %s", code)
	}
	_ = agent.in.Close()
	e := agent.wait()
	for _, secret := range []string{token[4:], "guildwarden_console", `name="form"`} {
		if strings.Contains(e.stdout, secret) {
			t.Errorf("the agent got %s", secret)
		}
	}
	if n := strings.Count(e.stderr, token); n != 1 {
		t.Errorf("the token is printed %d times", n)
	}
}

func TestAPlainServerHasNoConsole(t *testing.T) {
	t.Parallel()
	e := run(t, []string{"MCP_HUMAN_APPROVAL=gated"}, "", "serve", "--sandbox")
	if e.status != 0 || strings.Contains(e.stderr, "console:") || strings.Contains(e.stderr, "gwa_") {
		t.Errorf("%+v", e)
	}
	r := people(t)
	if e := run(t, slices.Concat(r.env, []string{"MCP_APPROVAL_CHANNEL=console"}), "", "serve", "--sandbox"); e.status != 1 || !strings.Contains(e.stderr, "--console") {
		t.Errorf("a ledger in memory that nobody sees: %+v", e)
	}
	var report struct{ Problems []string }
	if e := run(t, slices.Concat(r.env, []string{"MCP_APPROVAL_CHANNEL=console"}), "", "config", "--sandbox", "--json"); json.Unmarshal([]byte(e.stdout), &report) != nil || len(report.Problems) != 1 {
		t.Errorf("%+v", e)
	}
}
