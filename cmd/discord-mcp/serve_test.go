package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

const (
	guild   = string(sandbox.DemoGuild)
	general = string(sandbox.DemoGeneral)
)

// eras are a version of each lifecycle of the protocol: with a handshake and
// without.
var eras = []string{"2025-06-18", "2026-07-28"}

// agent is a client of the SDK over a process of its own.
func agent(t *testing.T, era string, env []string, args ...string) (*mcp.ClientSession, func()) {
	t.Helper()
	return agentWith(t, nil, era, env, args...)
}

// agentWith is an agent whose client can do more.
func agentWith(t *testing.T, o *mcp.ClientOptions, era string, env []string, args ...string) (*mcp.ClientSession, func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := command(ctx, env, args...)
	var stderr, traffic bytes.Buffer
	cmd.Stderr = &stderr
	transport := &mcp.LoggingTransport{Transport: &mcp.CommandTransport{Command: cmd}, Writer: &traffic}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).
		Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		cancel()
		t.Fatalf("connect: %v; stderr:\n%s", err, &stderr)
	}
	return session, func() {
		defer cancel()
		if err := session.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		noSecret(t, "stderr", stderr.String())
		noSecret(t, "the traffic", traffic.String())
	}
}

// answer is what a call gave, with its code when it failed.
type answer struct {
	Code       string `json:"code"`
	MessageID  string `json:"message_id"`
	ApprovalID string `json:"approval_id"`
	text       string
	fields     map[string]any
}

func ask(t *testing.T, s *mcp.ClientSession, tool, arguments string) answer {
	t.Helper()
	return askWith(t, s, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
}

// askWith is ask with more than arguments.
func askWith(t *testing.T, s *mcp.ClientSession, p *mcp.CallToolParams) answer {
	t.Helper()
	tool := p.Name
	res, err := s.CallTool(t.Context(), p)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := errors.Join(json.Unmarshal(b, &a), json.Unmarshal(b, &a.fields)); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, b)
	}
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			a.text += c.Text
		}
	}
	if res.IsError == (a.Code == "") {
		t.Fatalf("%s: isError is %t and the code is %q", tool, res.IsError, a.Code)
	}
	return a
}

func TestBothProtocolErasServeTheSame(t *testing.T) {
	t.Parallel()
	lists := map[string][]*mcp.Tool{}
	for _, era := range eras {
		s, end := agent(t, era, nil, "serve", "--sandbox")
		if got := s.InitializeResult().ProtocolVersion; got != era {
			t.Errorf("asked for %s, got %s", era, got)
		}
		list, err := s.ListTools(t.Context(), &mcp.ListToolsParams{})
		if err != nil {
			t.Fatal(err)
		}
		if list.NextCursor != "" {
			t.Errorf("%s: the list has a second page", era)
		}
		lists[era] = list.Tools

		sent := ask(t, s, "messages_send", `{"channel_id":"`+general+`","content":"The storm level is fixed."}`)
		if sent.Code != "" || sent.MessageID == "" {
			t.Fatalf("%s: messages_send: %+v", era, sent)
		}
		read := ask(t, s, "messages_read", `{"channel_id":"`+general+`","limit":1}`)
		if !strings.Contains(read.text, "The storm level is fixed.") {
			t.Errorf("%s: the message that was sent is not read: %s", era, read.text)
		}
		confirmed := `{"channel_id":"` + general + `","message_id":"` + sent.MessageID + `","__confirm":true}`
		if got := ask(t, s, "messages_delete", confirmed); got.Code != "DRY_RUN_PREVIEW" {
			t.Errorf("%s: one of two keys deleted: %+v", era, got)
		}
		if got := ask(t, s, "messages_get", `{"channel_id":"`+general+`","message_id":"`+sent.MessageID+`"}`); got.Code != "" {
			t.Errorf("%s: the message is gone: %+v", era, got)
		}
		end()
	}
	if len(lists[eras[0]]) == 0 {
		t.Error("no tools")
	}
	if diff := cmp.Diff(lists[eras[0]], lists[eras[1]]); diff != "" {
		t.Errorf("the eras list different tools:\n%s", diff)
	}
}

func TestBothKeysDelete(t *testing.T) {
	t.Parallel()
	for value, code := range map[string]string{"false": "", "False": "DRY_RUN_PREVIEW"} {
		s, end := agent(t, eras[1], []string{"MCP_DRY_RUN=" + value}, "serve", "--sandbox")
		sent := ask(t, s, "messages_send", `{"channel_id":"`+general+`","content":"short-lived"}`)
		target := `{"channel_id":"` + general + `","message_id":"` + sent.MessageID + `"`
		if got := ask(t, s, "messages_delete", target+`}`); got.Code != "DRY_RUN_PREVIEW" {
			t.Errorf("MCP_DRY_RUN=%s: deleted without the caller's key: %+v", value, got)
		}
		if got := ask(t, s, "messages_delete", target+`,"__confirm":true}`); got.Code != code {
			t.Errorf("MCP_DRY_RUN=%s: both keys: got %+v, want the code %q", value, got, code)
		}
		end()
	}
}

// TestCategoryThatIsOffIsHiddenAndRefused takes the category out whose tools
// there are, so that "meta" alone stays.
func TestCategoryThatIsOffIsHiddenAndRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		categories string
		listed     bool
		code       string
	}{
		{"meta", false, "SCOPE_REJECTED"},
		{"messages", true, ""},
		{"", true, ""},
	} {
		s, end := agent(t, eras[1], []string{"MCP_CATEGORIES=" + row.categories}, "serve", "--sandbox")
		list, err := s.ListTools(t.Context(), &mcp.ListToolsParams{})
		if err != nil {
			t.Fatal(err)
		}
		listed := false
		for _, tool := range list.Tools {
			listed = listed || tool.Name == "messages_read"
		}
		if listed != row.listed {
			t.Errorf("MCP_CATEGORIES=%s: messages_read is listed: %t", row.categories, listed)
		}
		if got := ask(t, s, "messages_read", `{"channel_id":"`+general+`"}`); got.Code != row.code {
			t.Errorf("MCP_CATEGORIES=%s: got the code %q, want %q", row.categories, got.Code, row.code)
		}
		end()
	}
}

func TestWriteModePreviewWritesNothing(t *testing.T) {
	t.Parallel()
	s, end := agent(t, eras[1], []string{"MCP_WRITE_MODE=preview", "MCP_DRY_RUN=false"}, "serve", "--sandbox")
	defer end()
	if got := ask(t, s, "messages_send", `{"channel_id":"`+general+`","content":"hello"}`); got.Code != "WRITE_PREVIEW" {
		t.Errorf("messages_send: %+v", got)
	}
	if got := ask(t, s, "messages_read", `{"channel_id":"`+general+`"}`); got.Code != "" {
		t.Errorf("reading is refused: %+v", got)
	}
}

// TestStartsWithoutNetwork points the server at a port where nobody listens.
func TestStartsWithoutNetwork(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String() + "/api/v10"
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, era := range eras {
		s, end := agent(t, era, []string{"DISCORD_API_BASE=" + base, "LOG_LEVEL=trace"}, "serve")
		list, err := s.ListTools(t.Context(), &mcp.ListToolsParams{})
		if err != nil || len(list.Tools) == 0 {
			t.Errorf("%s: tools/list without network: %v", era, err)
		}
		switch got := ask(t, s, "messages_read", `{"channel_id":"`+general+`"}`); got.Code {
		case "DISCORD_TIMEOUT", "DISCORD_SERVER_ERROR":
		default:
			t.Errorf("%s: a call without network answers %+v", era, got)
		}
		end()
	}
}

func TestHostileInputIsAnsweredAndTheNextCallWorks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, line string
		code       int
		id         string
	}{
		{"text", "garbage", -32700, "null"},
		{"byte order mark", "\ufeff" + call("1", "messages_read", `{}`), -32700, "null"},
		{"invalid UTF-8", `{"jsonrpc":"2.0","id":1,"method":"` + "\xff" + `"}`, -32700, "null"},
		{"half a message", `{"jsonrpc":"2.0","id":1,`, -32700, "null"},
		{"batch", "[" + call("1", "messages_read", `{}`) + "," + call("2", "messages_read", `{}`) + "]", -32600, "null"},
		{"no version", `{"id":7,"method":"tools/list"}`, -32600, "7"},
		{"20 MB", call("big", "messages_send", `{"channel_id":"`+general+`","content":"`+strings.Repeat("a", 20<<20)+`"}`), -32600, ""},
		{"unknown method", `{"jsonrpc":"2.0","id":8,"method":"no/such"}`, -32601, "8"},
		{"unknown tool", call("9", "no_such_tool", `{}`), -32602, `"9"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, nil, "serve", "--sandbox")
			p.handshake()
			p.send(row.line)
			m := p.next()
			if m.Error == nil || m.Error.Code != row.code {
				t.Fatalf("got %+v, want an error with %d", m, row.code)
			}
			if row.id != "" && string(m.ID) != row.id {
				t.Errorf("the answer is to %s, not to %s", m.ID, row.id)
			}
			p.works()
			_ = p.in.Close()
			if e := p.wait(); e.status != 0 {
				t.Errorf("exit status %d; stderr:\n%s", e.status, e.stderr)
			}
		})
	}
}

func TestOddButLegalInputWorks(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ content, end string }{
		"CRLF":                     {"hello", "\r"},
		"blank lines":              {"hello", "\n\n"},
		"line separator in a text": {"one\u2028two", ""},
	} {
		p := serve(t, nil, "serve", "--sandbox")
		p.handshake()
		p.send(call("1", "messages_send", `{"channel_id":"`+general+`","content":"`+row.content+`"}`) + row.end)
		if m := p.next(); m.Error != nil || bytes.Contains(m.Result, []byte(`"isError":true`)) {
			t.Errorf("%s: %+v %s", name, m.Error, m.Result)
		}
		p.works()
	}
	// A line within the limit reaches the tool, which refuses a text that long.
	size := 12 << 20
	if raced {
		size = 1 << 20 // looking for races makes each byte dear
	}
	p := serve(t, nil, "serve", "--sandbox")
	p.handshake()
	p.send(call("1", "messages_send", `{"channel_id":"`+general+`","content":"`+strings.Repeat("a", size)+`"}`))
	if m := p.next(); m.Error != nil || !bytes.Contains(m.Result, []byte("VALIDATION_FAILED")) {
		t.Errorf("%d bytes: %+v %.200s", size, m.Error, m.Result)
	}
	p.works()
}

// TestEndOfInputEndsTheProcess closes stdin right behind the calls.
func TestEndOfInputEndsTheProcess(t *testing.T) {
	t.Parallel()
	const calls = 50
	p := serve(t, nil, "serve", "--sandbox")
	p.handshake()
	for i := range calls {
		p.send(call(fmt.Sprint(i), "messages_read", `{"channel_id":"`+general+`"}`))
	}
	_ = p.in.Close()
	if e := p.wait(); e.status != 0 { // as it is when the grace period for calls ran out
		t.Errorf("exit status %d; stderr:\n%s", e.status, e.stderr)
	}
	answered := map[string]bool{}
	for m := range p.lines {
		if m.Error == nil {
			answered[string(m.ID)] = true
		}
	}
	if len(answered) != calls {
		t.Errorf("%d of %d calls were answered before the end", len(answered), calls)
	}
}

func TestEmptyInputEndsTheProcess(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() (*os.File, error){
		"/dev/null": func() (*os.File, error) { return os.Open(os.DevNull) },
		"a file": func() (*os.File, error) {
			path := filepath.Join(t.TempDir(), "input")
			if err := os.WriteFile(path, []byte("garbage\n"), 0o600); err != nil {
				return nil, err
			}
			return os.Open(path)
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		cmd := command(ctx, nil, "serve", "--sandbox")
		in, err := open()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd.Stdin = in
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestStdoutCarriesNothingButProtocol(t *testing.T) {
	t.Parallel()
	audit := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, env := range [][]string{
		{"LOG_LEVEL=trace"},
		{"LOG_LEVEL=debug", "MCP_DRYRUN=false", "GATEWAY=1"},
		{"LOG_LEVEL=debug", "MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + audit},
	} {
		p := serve(t, env, "serve", "--sandbox")
		p.handshake()
		p.send("garbage")
		p.next()
		p.send(call("1", "messages_send", `{"channel_id":"`+general+`","content":"my token is `+canary+`"}`))
		p.next()
		p.send(call("2", "messages_delete", `{"channel_id":"`+general+`","message_id":"`+canary+`"}`))
		p.next()
		_ = p.in.Close()
		p.wait() // every line was checked as it came
	}
	b, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(`"messages_send"`)) {
		t.Errorf("the audit file does not speak of the call:\n%s", b)
	}
	noSecret(t, "the audit file", string(b))
}

func TestFailedStartSaysWhyOnStderr(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		env  []string
		args []string
		says []string
	}{
		"no token":           {[]string{"DISCORD_TOKEN"}, nil, []string{"DISCORD_TOKEN is not set", "start with --sandbox"}},
		"no token, by name":  {[]string{"DISCORD_TOKEN"}, []string{"serve"}, []string{"DISCORD_TOKEN is not set"}},
		"placeholder":        {[]string{"DISCORD_TOKEN=${DISCORD_TOKEN}"}, nil, []string{"placeholder"}},
		"quotes":             {[]string{"DISCORD_TOKEN=\"" + canary + "\""}, nil, []string{"quotes"}},
		"two problems":       {[]string{"DISCORD_TOKEN=changeme", "MCP_WRITE_MODE=no"}, nil, []string{"DISCORD_TOKEN", "MCP_WRITE_MODE"}},
		"unknown category":   {[]string{"MCP_CATEGORIES=mesages"}, nil, []string{"mesages", "messages"}},
		"restriction":        {[]string{"MCP_WRITE_STYLE=strict"}, nil, []string{"MCP_WRITE_STYLE must be one of: direct, reviewed"}},
		"nobody to ask":      {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVAL_CHANNEL=console"}, nil, []string{"MCP_APPROVERS", "approver new NAME", "MCP_LEDGER", "sqlite:"}},
		"a ledger, no key":   {[]string{"MCP_LEDGER=sqlite:approvals.db"}, nil, []string{"MCP_STATE_KEY", "openssl rand"}},
		"foreign base":       {[]string{"DISCORD_API_BASE=https://example.org"}, nil, []string{"DISCORD_API_BASE_HOSTS"}},
		"sandbox, bad value": {[]string{"MCP_WRITE_MODE=no"}, []string{"serve", "--sandbox"}, []string{"MCP_WRITE_MODE"}},
	} {
		e := run(t, append(row.env, "LOG_LEVEL=debug"), "", row.args...)
		if e.status != 1 {
			t.Errorf("%s: exit status %d", name, e.status)
		}
		if e.stdout != "" {
			t.Errorf("%s: something on stdout: %q", name, e.stdout)
		}
		for _, want := range row.says {
			if !strings.Contains(e.stderr, want) {
				t.Errorf("%s: nothing about %q in:\n%s", name, want, e.stderr)
			}
		}
	}
}

// TestStepsOverAProcess: a pipeline whose second step needs both keys, in both
// eras.
func TestStepsOverAProcess(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		s, end := agent(t, era, []string{"MCP_DRY_RUN=false"}, "serve", "--sandbox")
		steps := func(confirm string) string {
			return `{"steps":[{"id":"sent","tool":"messages_send","args":{"channel_id":"` + general + `","content":"soon gone"}},` +
				`{"tool":"messages_delete","args":{"channel_id":"` + general + `","message_id":"{{sent.message_id}}"` + confirm + `}}]}`
		}
		if got := ask(t, s, "mcp_pipeline", steps("")); !strings.Contains(got.text, "Refused: step_1.") {
			t.Errorf("%s: one of two keys: %+v", era, got)
		}
		if got := ask(t, s, "mcp_pipeline", steps(`,"__confirm":true`)); !strings.Contains(got.text, "Done: sent, step_1.") {
			t.Errorf("%s: both keys: %+v", era, got)
		}
		end()
	}
}
