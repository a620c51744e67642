package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/cmd/internal/consoletest"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
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
		at, token := consoletest.Printed(e.stderr)
		if e.status != 0 || token == "" || at == nil || e.stdout != "" {
			t.Fatalf("%+v", e)
		}
		tokens[token] = true
	}
	if len(tokens) != 2 {
		t.Error("one token for two runs")
	}
	// Whoever names approvers gets no token, and none is printed.
	r := people(t)
	if e := run(t, r.env, "", "serve", "--sandbox", "--console", "127.0.0.1:0"); e.status != 0 || strings.Contains(e.stderr, "gwa_") || !strings.Contains(e.stderr, "approval console: http://127.0.0.1:") {
		t.Errorf("%+v", e)
	}
	if e := run(t, append(r.env, "MCP_APPROVERS=nonsense"), "", "serve", "--sandbox", "--console", "127.0.0.1:0"); e.status != 1 || !strings.Contains(e.stderr, "MCP_APPROVERS: item 1") {
		t.Errorf("%+v", e)
	}
}

// caller is an agent at a process.
type caller struct {
	*process
	calls int
}

func (c *caller) call(tool string, args map[string]any) (code string, fields map[string]any) {
	c.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		c.t.Fatal(err)
	}
	c.calls++
	c.send(call(fmt.Sprint(c.calls), tool, string(raw)))
	var result struct {
		Structured map[string]any `json:"structuredContent"`
	}
	if m := c.next(); m.Error != nil || json.Unmarshal(m.Result, &result) != nil {
		c.t.Fatalf("%s: %+v %s", tool, m.Error, m.Result)
	}
	code, _ = result.Structured["code"].(string)
	return code, result.Structured
}

// consoles is a server in the sandbox with a console, and what it prints for
// its operator.
func consoles(t *testing.T, env ...string) (c *caller, at *url.URL, token string) {
	t.Helper()
	p := serve(t, append([]string{"MCP_DRY_RUN=false", "MCP_HUMAN_APPROVAL=writes", "MCP_AUDIT_SINK=none"}, env...), "serve", "--sandbox", "--console", "127.0.0.1:0")
	p.handshake()
	if at, token = consoletest.Printed(p.stderr()); at == nil || token == "" {
		t.Fatalf("stderr:\n%s", p.stderr())
	}
	return &caller{process: p}, at, token
}

// TestAPersonDecidesInABrowser has the agent on stdio.
func TestAPersonDecidesInABrowser(t *testing.T) {
	t.Parallel()
	var agent *caller
	consoletest.PersonDecides(t, "stdio", func() (consoletest.Call, *url.URL, string) {
		c, at, token := consoles(t)
		agent = c
		return c.call, at, token
	})
	_ = agent.in.Close()
	if e := agent.wait(); e.status != 0 {
		t.Errorf("it ends with %d:\n%s", e.status, e.stderr)
	}
}

// TestAPersonSeesAPlanInABrowser has a blueprint carried out.
func TestAPersonSeesAPlanInABrowser(t *testing.T) {
	t.Parallel()
	consoletest.PersonSeesThePlan(t, func() (consoletest.Call, *url.URL, string) {
		c, at, token := consoles(t, "MCP_HUMAN_APPROVAL=gated", "ALLOWED_GUILDS="+string(sandbox.DemoGuild), "DISCORD_EXPECTED_BOT_ID="+string(sandbox.BotID))
		return c.call, at, token
	})
}

// TestADecisionOnAnotherProcess has an agent at one process and a person at the
// console of another, with one ledger between them, which outlives the first.
func TestADecisionOnAnotherProcess(t *testing.T) {
	t.Parallel()
	r := newFileRig(t)
	page := serve(t, r.env, "serve", "--sandbox", "--console", "127.0.0.1:0")
	page.handshake()
	at, _ := consoletest.Printed(page.stderr())
	if at == nil {
		t.Fatal(page.stderr())
	}
	first := r.waits() // of a process that has ended since
	v := consoletest.Visit(t, at, nil)
	if _, text := v.Send("/", nil); strings.Contains(text, string(first)) {
		t.Error("who is not signed in sees what waits")
	}
	v.SignIn(r.ana)
	if said := v.Decide(string(first), "approve"); !strings.Contains(said, "Approved.") {
		t.Errorf("%s", said)
	}
	r.actsOnce(first)
	second := r.waits()
	v.Decide(string(second), "refuse")
	if _, answer := r.act(); answer.Code != mcpcore.CodeHumanRefused || answer.By != "ana" {
		t.Errorf("%+v", answer)
	}
	if _, text := v.Send("/history", nil); !strings.Contains(text, "approved") || !strings.Contains(text, "refused") || strings.Count(text, "messages_delete") < 2 {
		t.Errorf("%s", text)
	}
	r.keeps(page.stderr())
}

// TestAWatchingPageHoldsNobodyUp ends a server whose console is being watched.
func TestAWatchingPageHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	agent, at, token := consoles(t)
	v := consoletest.Visit(t, at, nil)
	v.SignIn(token)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	updates := v.Watch(ctx)
	defer updates.Close()
	watched := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(updates) // until the server is gone
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
	v := consoletest.Visit(t, at, nil)
	v.SignIn(token)
	v.Decide(id, "refuse")
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
