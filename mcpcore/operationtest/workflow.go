package operationtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// Subject is a workflow under test, with one change that it makes.
type Subject struct {
	Workflow string // its name
	Plan     string // the tools' names
	Execute  string
	Verify   string // "" for none

	// World makes a world in which Args are a change to be made.
	World func(t *testing.T) *World
	Args  string   // a JSON object without operationKey
	Sends []string // the writes that executing sends, each as the world's Writes tells them

	// Children says that each of Sends, of which there are several, is an operation of
	// its own, and the first of several writes is read back before the second.
	Children bool

	Permit mcpcore.Permit // that allows it, and no more
	// Resource is the id that the receipt holds at the end; "" for any.
	Resource string
	// Secrets are texts of Args and of the world that no record may hold.
	Secrets []string

	// Refusals are changes that must be refused without a write.
	Refusals []Refusal
}

// Refusal is a change that the workflow refuses.
type Refusal struct {
	Name   string
	Args   string // "" is the subject's
	Before func(w *World)
	Policy func(p *mcpcore.WorkflowPolicy) // changes it; nil leaves it alone
	Code   mcpcore.Code
	Reason string // of PLAN_REFUSED
}

// World is what a workflow acts on.
type World struct {
	// Serve makes a server of the workflow on this world.
	Serve func(s Setup) (*mcp.Server, error)
	// Writes are the requests that changed something or tried to, in order, each
	// on one line: "DELETE /guilds/1/roles/2".
	Writes func() []string
	// Reads is how many requests only read.
	Reads func() int

	Change func()             // changes something that the plan binds, and leaves the change possible
	Rename func()             // changes something that the plan shows and does not bind; nil for nothing
	Settle func()             // makes everything as the change wants it; nil where that cannot be
	Fail   func(f Fault) bool // what becomes of the next write; false for a fault that it cannot have

	Any any // the world itself, for Refusal.Before
}

// Fault is what becomes of a write.
type Fault string

// The faults.
const (
	Forbidden Fault = "403"                              // definitely refused
	Limited   Fault = "429"                              // which says nothing certain
	Failing   Fault = "500"                              // not carried out, and nobody knows
	Reset     Fault = "a reset connection"               // before the write
	Lost      Fault = "a lost answer"                    // after it
	Garbled   Fault = "a truncated answer"               // after it
	Unread    Fault = "a read-back that is not answered" // the write was answered
)

// Setup is what a server under test is made of beside its world.
type Setup struct {
	Permits    mcpcore.WorkflowPolicy
	Operations mcpcore.OperationLedger
	Ledger     mcpcore.Ledger
	Approver   mcpcore.Approver
	Audit      mcpcore.AuditSink
	StateKey   []byte
	Armed      bool
	Clock      func() time.Time
}

// Workflow checks the rules of reviewed workflows on one of them.
func Workflow(t *testing.T, s Subject) {
	t.Helper()
	for _, rule := range []struct {
		name  string
		check func(*play)
	}{
		{"it is off until the policy enables it", (*play).off},
		{"it acts on what the policy names alone", (*play).scope},
		{"its tools are there together, and the plan only reads", (*play).tools},
		{"a plan changes nothing and leaves nothing", (*play).plans},
		{"one approved call writes once, is read back and recorded", (*play).acts},
		{"a plan that was made before is executed", (*play).detached},
		{"the console approves it too", (*play).console},
		{"a client that cannot ask writes nothing", (*play).mute},
		{"whoever does not say yes writes nothing", (*play).declined},
		{"a forged, changed or late answer writes nothing", (*play).forged},
		{"an answer counts once", (*play).replayed},
		{"a plan that changed is not executed, and the key is free", (*play).changed},
		{"a name that changed does not matter", (*play).renamed},
		{"what is so already leaves no trace", (*play).current},
		{"a key is spent for ever", (*play).spent},
		{"a definite refusal has failed and frees the target", (*play).refusedByOther},
		{"an open outcome is not repeated and quarantines the target", (*play).uncertain},
		{"what stops between two writes goes on under its key, and only as it was left", (*play).resumes},
		{"a ledger that fails stops before the write", (*play).ledgerFails},
		{"a receipt that cannot be finished keeps the target", (*play).unfinished},
		{"an audit that fails stops before the write", (*play).auditFails},
		{"an owner that is paused past its lease writes nothing", (*play).paused},
		{"a server that is not armed destroys nothing", (*play).unarmed},
		{"records hold no content", (*play).contentFree},
		{"verification goes by the receipt", (*play).verifies},
		{"what must be refused is refused", (*play).refusals},
	} {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			rule.check(newPlay(t, s))
		})
	}
}

// play is one workflow in a world of its own.
type play struct {
	*testing.T
	Subject
	world *World
	setup Setup
	ops   *faulty
	audit *events
	user  func() *mcp.ElicitResult // nil cannot be asked
	era   string

	mu  sync.Mutex
	now time.Time
	key string
}

const era26, era25 = "2026-07-28", "2025-06-18"

func newPlay(t *testing.T, s Subject) *play {
	t.Helper()
	p := &play{T: t, Subject: s, world: s.World(t), now: time.Now(), key: "canary-key-0000000001", era: era26}
	p.user = yes
	p.ops = &faulty{OperationLedger: ledger.NewOperations(p.clock)}
	p.audit = &events{}
	p.setup = Setup{
		Permits:    mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{s.Workflow: s.Permit}},
		Operations: p.ops, Ledger: ledger.NewMemory(p.clock), Approver: mcpcore.AtClient{}, Audit: p.audit,
		StateKey: []byte(strings.Repeat("k", 32)), Armed: true, Clock: p.clock,
	}
	return p
}

func (p *play) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *play) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
}

func yes() *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}
}

// connect is a client of a new server.
func (p *play) connect(byHand bool) *mcp.ClientSession {
	p.Helper()
	server, err := p.world.Serve(p.setup)
	if err != nil {
		p.Fatal(err)
	}
	o := &mcp.ClientOptions{}
	if p.user != nil {
		o.ElicitationHandler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return p.user(), nil }
	}
	if byHand {
		o.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(p.Context(), far, nil); err != nil {
		p.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).
		Connect(p.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: p.era})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = session.Close() })
	return session
}

// args are the subject's, with the key and more.
func (p *play) args(args string, more ...string) json.RawMessage {
	if args == "" {
		args = p.Args
	}
	all := strings.TrimSuffix(strings.TrimSpace(args), "}")
	if all != "{" {
		all += ","
	}
	all += fmt.Sprintf(`"operationKey":%q`, p.key)
	for _, m := range more {
		all += "," + m
	}
	return json.RawMessage(all + "}")
}

// reply is an answer as tests look at it.
type reply struct {
	raw    string
	text   string
	code   mcpcore.Code
	status string
	fields map[string]any
}

func (p *play) call(s *mcp.ClientSession, tool string, args json.RawMessage) reply {
	p.Helper()
	res, err := s.CallTool(p.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		p.Fatalf("%s: %v", tool, err)
	}
	return p.read(res)
}

func (p *play) read(res *mcp.CallToolResult) reply {
	p.Helper()
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		p.Fatal(err)
	}
	r := reply{raw: string(raw)}
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			r.text += t.Text
		}
	}
	_ = json.Unmarshal(raw, &r.fields) // nil for a question
	code, _ := r.fields["code"].(string)
	r.code = mcpcore.Code(code)
	r.status, _ = r.fields["status"].(string)
	if res.IsError != (r.code != "") {
		p.Errorf("isError is %v with code %q", res.IsError, r.code)
	}
	return r
}

// do makes a server, executes and wants the end.
func (p *play) do(code mcpcore.Code, status string) reply {
	p.Helper()
	r := p.call(p.connect(false), p.Execute, p.args(""))
	p.want(r, code, status)
	return r
}

func (p *play) want(r reply, code mcpcore.Code, status string) {
	p.Helper()
	if r.code != code || status != "" && r.status != status {
		p.Errorf("answers %q with status %q, want %q with %q\n%s", r.code, r.status, code, status, r.raw)
	}
}

// wrote wants so many of the subject's writes, from the first on.
func (p *play) wrote(want []string) {
	p.Helper()
	if got := p.world.Writes(); !slices.Equal(got, want) {
		p.Errorf("sent\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// first is how many of the subject's writes are sent when the first is not ended.
func (p *play) first() []string {
	if p.Children {
		return p.Sends[:1]
	}
	return p.Sends
}

// held wants so many claims in a state, and no others.
func (p *play) held(state mcpcore.ClaimState, want int) {
	p.Helper()
	all, err := p.ops.Claims(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	for _, c := range all {
		if c.State != state {
			p.Errorf("claim %s of %v is %s", c.ID, c.Targets, c.State)
		}
	}
	if len(all) != want {
		p.Errorf("%d claims are held, want %d", len(all), want)
	}
}

// receipt wants the receipt of the key: "" for none.
func (p *play) receipt(status mcpcore.Status) mcpcore.Receipt {
	p.Helper()
	r, err := p.ops.Receipt(p.Context(), p.Workflow, mcpcore.HashKey(p.key))
	if status == "" && !errors.Is(err, mcpcore.ErrReceiptMissing) || status != "" && (err != nil || r.Status != status) {
		p.Errorf("the receipt is %q, %v, want %q", r.Status, err, status)
	}
	return r
}

// untouched wants no write, no claim and no receipt.
func (p *play) untouched() {
	p.Helper()
	p.wrote(nil)
	p.held("", 0)
	p.receipt("")
}

// events keeps audit events and fails as told.
type events struct {
	mu   sync.Mutex
	all  []mcpcore.AuditEvent
	fail bool
}

func (e *events) Record(_ context.Context, event mcpcore.AuditEvent) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail {
		return errors.New("the sink is full")
	}
	e.all = append(e.all, event)
	return nil
}

func (e *events) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.all)
}

// faulty is a ledger that fails, or stops, at a step.
type faulty struct {
	mcpcore.OperationLedger
	before map[string]func() error // by the method's name
	lost   string                  // the method whose answer is lost
}

func (f *faulty) at(step string) error {
	if do := f.before[step]; do != nil {
		return do()
	}
	return nil
}

// Durable says that it is, so that a server takes it.
func (f *faulty) Durable() bool { return true }

func (f *faulty) Claim(ctx context.Context, w mcpcore.Wanted) (mcpcore.Claim, error) {
	if err := f.at("Claim"); err != nil {
		return mcpcore.Claim{}, err
	}
	return f.OperationLedger.Claim(ctx, w)
}

func (f *faulty) Reserve(ctx context.Context, c mcpcore.Claim, r mcpcore.Reservation) (mcpcore.Receipt, error) {
	if err := f.at("Reserve"); err != nil {
		return mcpcore.Receipt{}, err
	}
	receipt, err := f.OperationLedger.Reserve(ctx, c, r)
	if f.lost == "Reserve" {
		err = errDown
	}
	return receipt, err
}

func (f *faulty) Pending(ctx context.Context, c mcpcore.Claim, write time.Duration) (mcpcore.Receipt, error) {
	if err := f.at("Pending"); err != nil {
		return mcpcore.Receipt{}, err
	}
	receipt, err := f.OperationLedger.Pending(ctx, c, write)
	if f.lost == "Pending" {
		err = errDown
	}
	return receipt, err
}

func (f *faulty) Finish(ctx context.Context, c mcpcore.Claim, e mcpcore.Ending) (mcpcore.Receipt, error) {
	if err := f.at("Finish"); err != nil {
		return mcpcore.Receipt{}, err
	}
	return f.OperationLedger.Finish(ctx, c, e)
}
