package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

const (
	ping       = `{"jsonrpc":"2.0","id":"next","method":"ping"}`
	pong       = `{"jsonrpc":"2.0","id":"next","result":{}}`
	initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}}`
)

type handler = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// newServer has one tool, "work".
func newServer(work handler) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)}, work)
	return server
}

func result(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func echo(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return result(string(req.Params.Arguments)), nil
}

// call is a line that calls "work" in the 2026-07-28 form, which needs no handshake. id is JSON.
func call(id, arguments string) string {
	return request(id, "tools/call", `"name":"work","arguments":`+arguments)
}

func request(id, method, members string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, id, method, members)
}

// rig is the client's side of a session: lines in, lines out.
type rig struct {
	t     testing.TB
	in    *io.PipeWriter
	lines chan string // closed at the end of the output
	done  chan error  // what Serve returned
}

func start(ctx context.Context, t testing.TB, server *mcp.Server, opts transport.StdioOptions) *rig {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	opts.In, opts.Out = inR, outW
	r := &rig{t: t, in: inW, lines: make(chan string, 10_000), done: make(chan error, 1)}
	go func() {
		defer close(r.lines)
		out := bufio.NewReader(outR)
		for {
			line, err := out.ReadString('\n')
			if line != "" {
				r.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	go func() { r.done <- transport.Serve(ctx, server, transport.NewStdio(opts)) }()
	return r
}

func (r *rig) send(lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(r.in, line+"\n"); err != nil {
			r.t.Fatalf("send: %v", err)
		}
	}
}

func (r *rig) read() string {
	r.t.Helper()
	line, ok := <-r.lines
	if !ok {
		r.t.Fatal("the output ended")
	}
	if !strings.HasSuffix(line, "\n") {
		r.t.Errorf("not a whole line: %q", line)
	}
	return strings.TrimSuffix(line, "\n")
}

// end closes the input and returns what was still written.
func (r *rig) end() []string {
	r.t.Helper()
	r.in.Close()
	if err := <-r.done; err != nil {
		r.t.Errorf("Serve: %v", err)
	}
	return r.rest()
}

func (r *rig) rest() (lines []string) {
	for line := range r.lines {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}

// answer is a response line.
type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func parse(t testing.TB, line string) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		t.Fatalf("not JSON: %q: %v", line, err)
	}
	if a.Version != "2.0" || (a.Result == nil) == (a.Error == nil) || len(a.ID) == 0 {
		t.Errorf("not a JSON-RPC response: %s", line)
	}
	return a
}

// wantError checks the code and the id of an error answer, and that its text has every one of the words.
func wantError(t testing.TB, line string, code int, id string, words ...string) {
	t.Helper()
	a := parse(t, line)
	if a.Error == nil {
		t.Fatalf("got %s, want error %d", line, code)
	}
	if a.Error.Code != code || !bytes.Equal(a.ID, []byte(id)) {
		t.Errorf("got %s, want code %d and id %s", line, code, id)
	}
	for _, word := range words {
		if !strings.Contains(a.Error.Message, word) {
			t.Errorf("message %q does not say %q", a.Error.Message, word)
		}
	}
}
