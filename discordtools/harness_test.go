package discordtools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/internal/openapi"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// bench is a client of a server on a sandbox: everything a test of a tool needs.
type bench struct {
	*testing.T
	world *sandbox.Discord
	mcp   *mcp.ClientSession
	audit *recorder
}

// now is when every demo world of these tests is made.
var now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// start serves the demo world. change may alter the server's parts.
func start(t *testing.T, change ...func(*discordtools.Deps)) *bench {
	t.Helper()
	return startOn(t, sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return now }}), change...)
}

// startOn serves a given world.
func startOn(t *testing.T, world *sandbox.Discord, change ...func(*discordtools.Deps)) *bench {
	t.Helper()
	b := &bench{T: t, world: world, audit: &recorder{}}
	world.Observe(func(r sandbox.Request) { checkExchange(t, r) })
	deps := discordtools.Deps{
		Session: world.Session(), Config: discordtools.Config{Armed: true}, Audit: b.audit,
		Clock: func() time.Time { return now },
	}
	for _, c := range change {
		c(&deps)
	}
	server, err := discordtools.BuildServer(deps)
	if err != nil {
		t.Fatalf("build server: %v", err)
	}
	b.mcp = connect(t, server)
	return b
}

// connect is a client session over an in-memory transport.
func connect(t *testing.T, server *mcp.Server) *mcp.ClientSession {
	t.Helper()
	ct, st := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), st, nil); err != nil {
		t.Fatalf("connect server: %v", err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), ct, nil)
	if err != nil {
		t.Fatalf("connect client: %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call calls a tool with arguments as raw JSON.
func (b *bench) call(tool, args string) answer {
	b.Helper()
	res, err := b.mcp.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		b.Fatalf("%s %s: %v", tool, args, err)
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		b.Fatalf("%s: encode structured content: %v", tool, err)
	}
	if err := b.published(tool).Validate(value(b.T, data)); err != nil {
		b.Errorf("%s: the answer breaks the published output schema: %v\n%s", tool, err, short(data))
	}
	a := answer{data: data}
	for _, c := range res.Content {
		a.text += c.(*mcp.TextContent).Text
	}
	if res.IsError {
		var e struct {
			Code mcpcore.Code `json:"code"`
		}
		if err := json.Unmarshal(data, &e); err != nil || e.Code == "" {
			b.Fatalf("%s: an error without a code: %s", tool, data)
		}
		a.code = e.Code
	} else {
		covered.took(tool, args)
	}
	return a
}

// schemas are the published output schemas, compiled.
var schemas sync.Map // tool to *jsonschema.Schema

// published is the output schema that clients receive of a tool. Clients
// validate every answer against it, refusals and previews included.
//
// L47 Result does not match the published output schema.
func (b *bench) published(tool string) *jsonschema.Schema {
	b.Helper()
	if s, ok := schemas.Load(tool); ok {
		return s.(*jsonschema.Schema)
	}
	list, err := b.mcp.ListTools(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range list.Tools {
		raw, err := json.Marshal(t.OutputSchema)
		if err != nil {
			b.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:///"+t.Name, value(b.T, raw)); err != nil {
			b.Fatal(err)
		}
		s, err := c.Compile("mem:///" + t.Name)
		if err != nil {
			b.Fatal(err)
		}
		schemas.Store(t.Name, s)
	}
	s, ok := schemas.Load(tool)
	if !ok {
		b.Fatalf("%s is not listed", tool)
	}
	return s.(*jsonschema.Schema)
}

func value(t *testing.T, raw []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("not JSON: %v", err)
	}
	return v
}

// answer is what a call gave: a code when it failed.
type answer struct {
	code mcpcore.Code
	data []byte
	text string
}

// row is one call and everything that is to be seen of it.
type row struct {
	shows string // what it shows
	tool  string
	args  string
	setup func(*sandbox.Discord)   // changes the world first
	deps  func(*discordtools.Deps) // changes the server's parts
	// approved previews the payload first and calls with the approval.
	approved bool
	// sent is each request that Discord must have seen, in order, as
	// "METHOD /path?query BODY"; "*" in a body stands for any value. nil is none.
	sent []string
	// code is how the call fails; "" for success.
	code mcpcore.Code
	// want is JSON that the structured answer must contain; "*" stands for any
	// value, a list must have the same length.
	want string
	// says is text that the answer must hold, for errors what helps the agent.
	says string
}

// run makes every row on a world of its own.
func run(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.tool+"/"+r.shows, func(t *testing.T) {
			t.Parallel()
			b := start(t, func(d *discordtools.Deps) {
				if r.deps != nil {
					r.deps(d)
				}
			})
			if r.setup != nil {
				r.setup(b.world)
			}
			args := r.args
			if r.approved {
				args = b.approve(r.tool, r.args)
			}
			b.world.ResetRequests()
			a := b.call(r.tool, args)
			if a.code != r.code {
				t.Fatalf("code %q, want %q\n%s", a.code, r.code, a.data)
			}
			if got := b.sent(); !slices.EqualFunc(got, r.sent, sameRequest) {
				t.Errorf("Discord saw\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(r.sent, "\n\t"))
			}
			if r.want != "" {
				if diff := missing(t, a.data, r.want); diff != "" {
					t.Errorf("answer %s\nlacks %s", a.data, diff)
				}
			}
			if !strings.Contains(a.text, r.says) {
				t.Errorf("text\n%s\nlacks %q", a.text, r.says)
			}
			covered.note(r.tool, r.code == "")
			if first := strings.Replace(r.args, `,"__confirm":true`, "", 1); r.code == "" && first != r.args {
				previewed(t, r, first)
			}
		})
	}
}

// previewed makes the row's call in the way it is meant: a preview first. Facts
// that differ although nothing changed would refuse the confirmation.
func previewed(t *testing.T, r row, first string) {
	t.Helper()
	b := start(t, func(d *discordtools.Deps) {
		if r.deps != nil {
			r.deps(d)
		}
		d.Config.RequirePreview = true
	})
	if r.setup != nil {
		r.setup(b.world)
	}
	if a := b.call(r.tool, first); a.code != mcpcore.CodeDryRun {
		t.Errorf("without its confirmation it answers %s", a.data)
	}
	if a := b.call(r.tool, r.args); a.code != "" {
		t.Errorf("confirmed after its preview it answers %s", a.data)
	}
}

// approve previews a payload and is the arguments that confirm it.
func (b *bench) approve(tool, args string) string {
	b.Helper()
	a := b.call(tool, args)
	if a.code != mcpcore.CodePayloadRequired {
		b.Fatalf("%s %s is not previewed: %s", tool, args, a.data)
	}
	return confirming(b.T, args, a.data)
}

// confirming is the arguments with the hash and the id of a preview.
func confirming(t *testing.T, args string, preview []byte) string {
	t.Helper()
	var p struct {
		Hash string `json:"payload_hash"`
		ID   string `json:"approval_id"`
	}
	if err := json.Unmarshal(preview, &p); err != nil || p.Hash == "" || p.ID == "" {
		t.Fatalf("no approval in %s", preview)
	}
	return fmt.Sprintf(`%s,"__confirm":true,"__confirm_hash":%q,"__confirm_id":%q}`, strings.TrimSuffix(args, "}"), p.Hash, p.ID)
}

// sent is what Discord saw, one request a line.
func (b *bench) sent() []string {
	var lines []string
	for _, r := range b.world.Requests() {
		line := r.Method + " " + r.Path
		if len(r.Query) > 0 {
			q := r.Query.Encode()
			line += "?" + strings.ReplaceAll(strings.ReplaceAll(q, "%3A", ":"), "%2C", ",")
		}
		if len(r.Body) > 0 {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
				line += " (multipart)"
			} else {
				line += " " + string(r.Body)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// sameRequest compares a request line with what was wanted of it.
func sameRequest(got, want string) bool {
	gotHead, gotBody := splitBody(got)
	wantHead, wantBody := splitBody(want)
	if gotHead != wantHead || (gotBody == "") != (wantBody == "") {
		return false
	}
	if gotBody == "" || gotBody == wantBody {
		return true
	}
	var g, w any
	if json.Unmarshal([]byte(gotBody), &g) != nil || json.Unmarshal([]byte(wantBody), &w) != nil {
		return false
	}
	return equal(g, w, true)
}

func splitBody(line string) (head, body string) {
	parts := strings.SplitN(line, " ", 3)
	if len(parts) < 3 {
		return line, ""
	}
	return parts[0] + " " + parts[1], parts[2]
}

// missing says what of want is not in got, "" when all is.
func missing(t *testing.T, got []byte, want string) string {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("answer is not JSON: %v", err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("want is not JSON: %v", err)
	}
	if equal(g, w, false) {
		return ""
	}
	return want
}

// equal compares two JSON values; "*" in want is anything. Unless exact, got
// may have members that want lacks.
func equal(got, want any, exact bool) bool {
	if want == "*" {
		return got != nil
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || exact && len(g) != len(w) {
			return false
		}
		for k, v := range w {
			if have, ok := g[k]; !ok || !equal(have, v, exact) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(g, w, func(a, b any) bool { return equal(a, b, exact) })
	}
	return got == want
}

// recorder is an audit sink that keeps everything.
type recorder struct {
	mu     sync.Mutex
	events []mcpcore.AuditEvent
}

func (r *recorder) Record(_ context.Context, e mcpcore.AuditEvent) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

func (r *recorder) all() []mcpcore.AuditEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// take is what was recorded so far, which is forgotten.
func (r *recorder) take() []mcpcore.AuditEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.events = nil }()
	return r.events
}

// spec is Discord's own description of its API, where it is at hand.
var spec = sync.OnceValues(func() (*openapi.Spec, error) {
	path, ok := openapi.Find()
	if !ok {
		return nil, nil
	}
	return openapi.Load(path)
})

// checkExchange holds every request and answer of every test against Discord's
// description, and sees to it that a route with a token goes out without the
// bot's.
func checkExchange(t *testing.T, r sandbox.Request) {
	if strings.Contains(r.Route, "_token}") && r.Header.Get("Authorization") != "" {
		t.Errorf("%s %s was sent with the bot's Authorization", r.Method, r.Route)
	}
	s, err := spec()
	if err != nil {
		t.Errorf("read Discord's OpenAPI file: %v", err)
	}
	if s == nil || r.Route == "" || r.Faulted {
		return
	}
	if r.Status < 300 {
		if err := s.CheckRequest(r.Method, r.Route, r.Query, r.Header.Get("Content-Type"), r.Body); err != nil {
			t.Errorf("request %s %s: %v\n%s", r.Method, r.Path, err, short(r.Body))
		}
	}
	if err := s.CheckResponse(r.Method, r.Route, r.Status, r.ReplyHeader.Get("Content-Type"), r.Reply); err != nil {
		t.Errorf("answer to %s %s: %v\n%s", r.Method, r.Path, err, short(r.Reply))
	}
}

func short(b []byte) []byte { return bytes.TrimSpace(b[:min(len(b), 600)]) }

// id quotes an id for arguments.
func id[T ~string](v T) string { return fmt.Sprintf("%q", string(v)) }
