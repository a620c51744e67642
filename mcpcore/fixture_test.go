package mcpcore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	memory "github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/middleware"
	"github.com/guildwarden/guildwarden/preconditions"
)

// desk is the world the fixture tools act on: it remembers what ran and with
// which arguments.
type desk struct {
	mu  sync.Mutex
	ran []string
}

func (d *desk) note(call *mcpcore.Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ran = append(d.ran, call.Tool().Name+" "+string(call.Args()))
}

func (d *desk) runs() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.ran...)
}

// The inputs and the view of the fixture tools.
type (
	ticketsList struct {
		GuildID discord.GuildID `json:"guild_id,omitempty" jsonschema:"guild to look in"`
		Query   string          `json:"query,omitempty" jsonschema:"words to look for" maxLength:"50"`
		Limit   int             `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"100"`
	}
	ticketUpdate struct {
		GuildID discord.GuildID  `json:"guild_id" jsonschema:"guild of the ticket"`
		Title   string           `json:"title" jsonschema:"new title" minLength:"1"`
		Secret  string           `json:"note,omitempty" jsonschema:"private note"`
		Tags    []discord.RoleID `json:"tags,omitempty" jsonschema:"roles" maxItems:"3"`
		Form    *ticketForm      `json:"form,omitempty" jsonschema:"form"`
	}
	ticketForm struct {
		Token string `json:"token,omitempty" jsonschema:"token"`
		Color string `json:"color,omitempty" jsonschema:"color"`
	}
	ticketDelete struct {
		Ticket int         `json:"ticket" jsonschema:"number of the ticket" minimum:"1"`
		Reason string      `json:"reason,omitempty" jsonschema:"why"`
		Form   *ticketForm `json:"form,omitempty" jsonschema:"form"`
	}
	done struct {
		Done  bool     `json:"done"`
		Names []string `json:"names"`
		Link  *string  `json:"link"`
	}
)

// runs is a handler that notes the call and succeeds.
func runs[In any](d *desk) func(context.Context, *mcpcore.Call, In) (done, error) {
	return func(_ context.Context, call *mcpcore.Call, _ In) (done, error) {
		d.note(call)
		return done{Done: true}, nil
	}
}

func (d *desk) list() mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: "tickets_list", Title: "List tickets", Doc: "Lists tickets.", Category: "tickets",
		Effect: mcpcore.Read, Repeatable: true, Scope: mcpcore.GuildScope,
	}, runs[ticketsList](d))
}

func (d *desk) update() mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: "ticket_update", Title: "Change a ticket", Doc: "Changes a ticket.", Category: "tickets",
		Effect: mcpcore.Write, Repeatable: true, Scope: mcpcore.GuildScope, Redact: []string{"note"},
	}, runs[ticketUpdate](d))
}

func (d *desk) delete() mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: "ticket_delete", Title: "Delete a ticket", Doc: "Deletes a ticket.", Category: "tickets",
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Redact: []string{"reason"},
		Facts: func(context.Context, *mcpcore.Call) (mcpcore.Facts, error) {
			return mcpcore.Facts{{Name: "title", Value: "Printer on fire"}}, nil
		},
	}, runs[ticketDelete](d))
}

func (d *desk) notice() mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: "notice_send", Title: "Send a notice", Doc: "Sends a notice.", Category: "tickets",
		Effect: mcpcore.Write, Gate: mcpcore.Payload, Scope: mcpcore.GuildScope,
	}, runs[ticketUpdate](d))
}

func (d *desk) tools() []mcpcore.Tool {
	return []mcpcore.Tool{d.list(), d.update(), d.delete(), d.notice()}
}

// deps is a working server of all fixture tools, armed.
func (d *desk) deps() mcpcore.Deps {
	return mcpcore.Deps{
		Tools: d.tools(), Chain: middleware.Standard(middleware.Options{}),
		Policies: []mcpcore.Policy{preconditions.TwoKeys(true)}, Ledger: newLedger(), Armed: true,
	}
}

// client is a session with a server, and the output schemas it publishes.
type client struct {
	*mcp.ClientSession
	tools   map[string]*mcp.Tool
	outputs map[string]*jsonschema.Schema
}

func connect(t testing.TB, deps mcpcore.Deps) *client {
	t.Helper()
	server, err := mcpcore.BuildServer(deps)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	c := &client{session, map[string]*mcp.Tool{}, map[string]*jsonschema.Schema{}}
	listed, err := session.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		c.tools[tool.Name] = tool
		c.outputs[tool.Name] = compile(t, tool.OutputSchema)
	}
	return c
}

func compile(t testing.TB, schema any) *jsonschema.Schema {
	t.Helper()
	b, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///schema.json")
	if err != nil {
		t.Fatalf("the published schema does not compile: %v", err)
	}
	return s
}

// answer is a result as a client sees it.
type answer struct {
	*mcp.CallToolResult
	text string
	data map[string]any
}

func (a answer) code() mcpcore.Code {
	code, _ := a.data["code"].(string)
	return mcpcore.Code(code)
}

// everything is all that reached the client.
func (a answer) everything() string {
	b, _ := json.Marshal(a.CallToolResult)
	return string(b) + a.text
}

func (a answer) issues() map[string]string {
	found := map[string]string{}
	list, _ := a.data["issues"].([]any)
	for _, i := range list {
		issue := i.(map[string]any)
		found[issue["path"].(string)] = issue["message"].(string)
	}
	return found
}

// call calls a tool with raw JSON arguments and checks what comes back against
// the schema that the tool publishes.
func (c *client) call(t testing.TB, tool, args string) answer {
	t.Helper()
	params := &mcp.CallToolParams{Name: tool}
	if args != "" {
		params.Arguments = json.RawMessage(args)
	}
	res, err := c.CallTool(context.Background(), params)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	a := answer{CallToolResult: res}
	if len(res.Content) != 1 {
		t.Fatalf("%s answers with %d contents", tool, len(res.Content))
	}
	a.text = res.Content[0].(*mcp.TextContent).Text
	a.data, _ = res.StructuredContent.(map[string]any)
	if schema := c.outputs[tool]; schema != nil {
		if err := schema.Validate(res.StructuredContent); err != nil {
			t.Errorf("%s answers %v, which is not what it publishes: %v", tool, a.data, err)
		}
	}
	if res.IsError != (a.code() != "") {
		t.Errorf("%s: isError is %v with code %q", tool, res.IsError, a.code())
	}
	return a
}

// refused calls and demands the code.
func (c *client) refused(t testing.TB, tool, args string, want mcpcore.Code) answer {
	t.Helper()
	a := c.call(t, tool, args)
	if a.code() != want {
		t.Errorf("%s %s answers %q, want %s\n%s", tool, args, a.code(), want, a.text)
	}
	return a
}

// passed calls and demands success.
func (c *client) passed(t testing.TB, tool, args string) answer {
	t.Helper()
	a := c.call(t, tool, args)
	if a.IsError {
		t.Errorf("%s %s is refused: %s", tool, args, a.text)
	}
	return a
}

// Arguments that are valid for the fixture tools.
const (
	goodList   = `{"query":"printer","limit":5}`
	goodUpdate = `{"guild_id":"700000000000000001","title":"Fire"}`
	goodDelete = `{"ticket":7,"reason":"sold","__confirm":true}`
	guild      = discord.GuildID("700000000000000001")
)

// sink keeps events and fails as told.
type sink struct {
	mu            sync.Mutex
	events        []mcpcore.AuditEvent
	failIntent    bool
	failOutcome   bool
	panicOutcome  bool
	outcomeWasPut chan struct{} // gets one for each outcome, when not nil
}

func (s *sink) Record(ctx context.Context, e mcpcore.AuditEvent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Phase == mcpcore.Outcome && s.outcomeWasPut != nil {
		defer func() { s.outcomeWasPut <- struct{}{} }()
	}
	if e.Phase == mcpcore.Outcome && s.panicOutcome {
		panic("canary-sink-panic")
	}
	if e.Phase == mcpcore.Intent && s.failIntent || e.Phase == mcpcore.Outcome && s.failOutcome {
		return errors.New("canary-sink-full")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.events = append(s.events, e)
	return nil
}

func (s *sink) phases() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := ""
	for _, e := range s.events {
		text += fmt.Sprintf("%s %s %s %s;", e.Tool, e.Phase, e.Status, e.ResultCode)
	}
	return text
}

// ledger is one in memory with a clock of its own, which can be down.
type ledger struct {
	*memory.Memory
	mu     sync.Mutex
	now    time.Time
	down   error // what Spend, Propose and Preview answer when not nil
	spends int
	issued []mcpcore.Approval
}

func newLedger() *ledger {
	l := &ledger{now: time.Date(2031, 5, 1, 18, 0, 0, 0, time.UTC)}
	l.Memory = memory.NewMemory(func() time.Time {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.now
	})
	return l
}

func (l *ledger) Propose(ctx context.Context, p mcpcore.Proposal) (mcpcore.Approval, error) {
	if l.down != nil {
		return mcpcore.Approval{}, l.down
	}
	a, err := l.Memory.Propose(ctx, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.issued = append(l.issued, a)
	return a, err
}

func (l *ledger) Preview(ctx context.Context, f mcpcore.Fingerprint) (mcpcore.Approval, error) {
	if l.down != nil {
		return mcpcore.Approval{}, l.down
	}
	return l.Memory.Preview(ctx, f)
}

func (l *ledger) Spend(ctx context.Context, spends ...mcpcore.Spend) error {
	l.mu.Lock()
	l.spends++
	l.mu.Unlock()
	if l.down != nil {
		return l.down
	}
	return l.Memory.Spend(ctx, spends...)
}

func (l *ledger) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

// logTo is a logger that writes JSON into b under a lock.
func logTo(b *lockedBuffer) *slog.Logger { return slog.New(slog.NewJSONHandler(b, nil)) }

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
