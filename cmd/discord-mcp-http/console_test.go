package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/cmd/internal/consoletest"
	"github.com/guildwarden/guildwarden/mcpcore/console"
)

// withConsole is a server in the sandbox, what it printed for its operator, and an agent.
func withConsole(t *testing.T, version string, env ...string) (p *process, at *url.URL, token string, call consoletest.Call) {
	t.Helper()
	p = start(t, append([]string{"MCP_DRY_RUN=false", "MCP_HUMAN_APPROVAL=writes", "MCP_AUDIT_SINK=none"}, env...), "--sandbox")
	if at, token = consoletest.Printed(p.output()); at == nil || token == "" {
		t.Fatalf("stderr:\n%s", p.output())
	}
	s := connect(t, p.url, version, nil)
	return p, at, token, func(tool string, args map[string]any) (code string, fields map[string]any) {
		t.Helper()
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		b, err := json.Marshal(res.StructuredContent)
		if err != nil || json.Unmarshal(b, &fields) != nil {
			t.Fatalf("%s: %v, %s", tool, err, b)
		}
		if strings.Contains(string(b), token) {
			t.Errorf("%s gives the approver's token away: %s", tool, b)
		}
		code, _ = fields["code"].(string)
		return code, fields
	}
}

// TestAPersonDecidesInABrowser has the agent over HTTP.
func TestAPersonDecidesInABrowser(t *testing.T) {
	t.Parallel()
	var p *process
	consoletest.PersonDecides(t, "http", func() (call consoletest.Call, at *url.URL, token string) {
		p, at, token, call = withConsole(t, "2026-07-28")
		return call, at, token
	})
	if status := p.end(syscall.SIGTERM); status != 0 {
		t.Errorf("it ends with %d:\n%s", status, p.output())
	}
}

// What waits in the memory of a process is decided at the console of the same process, whose address the agent is told.
func TestAMemoryIsEnoughForItsOwnConsole(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		_, at, token, call := withConsole(t, version, "MCP_APPROVAL_CHANNEL=console")
		hello := map[string]any{"channel_id": general, "content": "hello"}
		code, fields := call("messages_send", hello)
		if code != "HUMAN_APPROVAL_PENDING" || fields["where"] != at.String() {
			t.Fatalf("%s: %s %v", version, code, fields)
		}
		id, _ := fields["approval_id"].(string)
		v := consoletest.Visit(t, at, nil)
		if _, page := v.Send("/", nil); strings.Contains(page, id) {
			t.Error("who is not signed in sees what waits")
		}
		v.SignIn(token)
		v.Decide(id, "approve")
		if code, fields := call("messages_send", hello); code != "" {
			t.Errorf("%s: the approved call: %s %v", version, code, fields)
		}
		if code, _ := call("messages_send", hello); code != "HUMAN_APPROVAL_PENDING" {
			t.Errorf("%s: once more: %s", version, code)
		}
	}
}

func TestTheConsoleOpensForApproversAlone(t *testing.T) {
	t.Parallel()
	_, setting, err := console.NewApprover("ana")
	if err != nil {
		t.Fatal(err)
	}
	bot := []string{"DISCORD_TOKEN=" + botToken, "DISCORD_MCP_ACCESS_TOKEN=" + accessToken, "MCP_CATEGORIES=meta"}
	get := func(p *process, host string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(p.url, "/mcp")+"/console/signin", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+accessToken) // which opens nothing here
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	nobody := start(t, bot)
	if status, _ := get(nobody, ""); status != http.StatusNotFound || strings.Contains(nobody.output(), "console") {
		t.Errorf("without approvers: %d\n%s", status, nobody.output())
	}
	ana := start(t, append(bot, "MCP_APPROVERS="+setting, "MCP_HTTP_HOSTS=agents.example.com"))
	for host, want := range map[string]int{"": 200, "agents.example.com": 200, "evil.example": http.StatusMisdirectedRequest} {
		if status, page := get(ana, host); status != want || (want == 200) != strings.Contains(page, `name="token"`) {
			t.Errorf("at %q: %d %s", host, status, page)
		}
	}
	if out := ana.output(); !strings.Contains(out, "approval console: https://agents.example.com/console\n") || strings.Contains(out, "gwa_") {
		t.Errorf("it says\n%s", out)
	}
}

// A page that watches ends with the server, and does not hold it up.
func TestAWatchingPageHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	p, at, token, _ := withConsole(t, "2026-07-28")
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
	if status := p.end(syscall.SIGTERM); status != 0 {
		t.Errorf("it ends with %d:\n%s", status, p.output())
	}
	if text := <-watched; !strings.Contains(text, "retry:") {
		t.Errorf("the page got %q", text)
	}
	if n := strings.Count(p.output(), token); n != 1 {
		t.Errorf("the token is printed %d times", n)
	}
}
