package mcpcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	memory "github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
	"github.com/guildwarden/guildwarden/middleware"
)

// mailroom is a world without Discord: letters that are sent once.
type mailroom struct {
	mu     sync.Mutex
	amount int
	label  string // shown, not bound
	sent   []string
	writes []string
	reads  int
	fault  operationtest.Fault
	broken []string // recipients that cannot be reached
	moved  bool     // what was sent reads back as something else
	panics bool
}

type sendLetters struct {
	Letter string   `json:"letter" jsonschema:"which letter"`
	To     []string `json:"to" jsonschema:"recipients" minItems:"1" maxItems:"9"`
	Sure   bool     `json:"acknowledgeSending" jsonschema:"true: a letter that is sent cannot be called back"`
}

type letterState struct {
	Letter string   `json:"letter"`
	Amount int      `json:"amount"`
	To     []string `json:"to"`
}

var errRefused = &mcpcore.Error{Code: mcpcore.CodePermission, Detail: "the post office refuses it", Fields: map[string]any{"status": 403}}

func (m *mailroom) sending() mcpcore.Operation[sendLetters, letterState] {
	return mcpcore.Operation[sendLetters, letterState]{
		Name: "letter-sending", Title: "Send a letter", Doc: "Sends a letter to everybody named.", Category: "post",
		Effect: mcpcore.Destroy, Scope: mcpcore.ExternalScope,
		Scopes:      []mcpcore.PolicyScope{{Name: "letters", Arg: "letter"}},
		Limits:      []mcpcore.PolicyLimit{{Name: "maxRecipients", Default: 6, Max: 8}},
		Protects:    []string{"to"},
		Acknowledge: []string{"acknowledgeSending"},
		Plan: func(_ context.Context, call *mcpcore.Call, in sendLetters) (plan mcpcore.Change[letterState], err error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.reads++
			if limit := call.Limit("maxRecipients"); len(in.To) > limit {
				return plan, mcpcore.Errorf(mcpcore.CodePlanRefused, "a letter goes to at most %d", limit).With("reason", "too-many")
			}
			plan = mcpcore.Change[letterState]{
				Action: "send", State: letterState{in.Letter, m.amount, in.To}, Risks: []string{"irreversible"},
				Warnings: []string{"It cannot be called back."}, Unbound: mcpcore.Facts{{Name: "label", Value: m.label}},
			}
			for _, to := range in.To {
				plan.Affected = append(plan.Affected, mcpcore.Affected{ID: to, Name: m.label})
			}
			if len(m.sent) > 0 {
				plan.Action, plan.Current, plan.Affected = "none", true, nil
			}
			return plan, nil
		},
		Targets: func(in sendLetters, _ letterState) []mcpcore.Target {
			return []mcpcore.Target{{Kind: "letter", ID: in.Letter}}
		},
		Apply: func(_ context.Context, _ *mcpcore.Call, in sendLetters, s letterState) (w mcpcore.Written, err error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.writes = append(m.writes, fmt.Sprintf("SEND %s %d %s", in.Letter, s.Amount, strings.Join(in.To, ",")))
			switch m.fault {
			case operationtest.Forbidden:
				m.fault = "" // which strikes once
				return w, mcpcore.NotDone(errRefused)
			case operationtest.Limited, operationtest.Failing, operationtest.Reset:
				return w, errors.New("canary-cause: no answer")
			}
			if m.panics {
				panic("canary-panic")
			}
			for _, to := range in.To {
				if !slices.Contains(m.broken, to) {
					m.sent = append(m.sent, to)
				}
			}
			w.ID = "parcel-1"
			if m.fault == operationtest.Lost || m.fault == operationtest.Garbled {
				return w, errors.New("canary-cause: half an answer")
			}
			return w, nil
		},
		ReadBack: func(_ context.Context, _ *mcpcore.Call, in sendLetters, _ letterState, _ mcpcore.Written) (r mcpcore.Reading, err error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.reads++
			if m.fault == operationtest.Unread {
				return r, errors.New("canary-cause: the tracking is down")
			}
			for _, to := range in.To {
				if !slices.Contains(m.sent, to) {
					r.Failed = append(r.Failed, to)
				}
			}
			if m.moved {
				r.Drift = []string{"address"}
			}
			return r, nil
		},
		Verify: func(_ context.Context, _ *mcpcore.Call, _ sendLetters, r mcpcore.Receipt) (mcpcore.Reading, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.reads++
			return mcpcore.Reading{Absent: r.ResourceID != "parcel-1" || len(m.sent) == 0}, nil
		},
	}
}

func (m *mailroom) deps(s operationtest.Setup) mcpcore.Deps {
	return mcpcore.Deps{
		Workflows: []mcpcore.Workflow{m.sending().Workflow()}, Chain: middleware.Standard(middleware.Options{}),
		Permits: s.Permits, Operations: s.Operations, Ledger: s.Ledger, Approver: s.Approver, Audit: s.Audit,
		StateKey: s.StateKey, Armed: s.Armed, Clock: s.Clock,
	}
}

func (m *mailroom) world() *operationtest.World {
	locked := func(f func()) func() {
		return func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			f()
		}
	}
	return &operationtest.World{
		Any:    m,
		Serve:  func(s operationtest.Setup) (*mcp.Server, error) { return mcpcore.BuildServer(m.deps(s)) },
		Writes: func() []string { m.mu.Lock(); defer m.mu.Unlock(); return slices.Clone(m.writes) },
		Reads:  func() int { m.mu.Lock(); defer m.mu.Unlock(); return m.reads },
		Change: locked(func() { m.amount++ }),
		Rename: locked(func() { m.label = "another" }),
		Settle: locked(func() { m.sent = []string{"ada"} }),
		Fail: func(f operationtest.Fault) bool {
			locked(func() { m.fault = f })()
			return true
		},
	}
}

const letter = `{"letter":"l-1","to":["ada","grace"],"acknowledgeSending":true}`

func letterPermit() mcpcore.Permit {
	return mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"letters": {"l-1"}}}
}

func TestWorkflowKeepsTheRules(t *testing.T) {
	t.Parallel()
	operationtest.Workflow(t, operationtest.Subject{
		Workflow: "letter-sending", Plan: "plan_letter_sending", Execute: "execute_letter_sending", Verify: "verify_letter_sending",
		World: func(*testing.T) *operationtest.World { return (&mailroom{label: "canary-label"}).world() },
		Args:  letter, Sends: []string{"SEND l-1 0 ada,grace"}, Permit: letterPermit(), Resource: "parcel-1", Secrets: []string{"canary", "ada"},
		Refusals: []operationtest.Refusal{
			{Name: "not acknowledged", Args: `{"letter":"l-1","to":["ada"],"acknowledgeSending":false}`, Code: mcpcore.CodeValidation},
			{Name: "a protected user", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{"grace"} }},
			{Name: "above the default limit", Args: `{"letter":"l-1","to":["1","2","3","4","5","6","7"],"acknowledgeSending":true}`, Code: mcpcore.CodePlanRefused, Reason: "too-many"},
			{Name: "above the policy's limit", Code: mcpcore.CodePlanRefused, Reason: "too-many", Policy: func(p *mcpcore.WorkflowPolicy) {
				permit := letterPermit()
				permit.Limits = map[string]int{"maxRecipients": 1}
				p.Permits["letter-sending"] = permit
			}},
			{Name: "the engine's own words", Args: `{"letter":"l-1","to":["ada"],"acknowledgeSending":true,"__confirm":true,"planDigests":"x"}`, Code: mcpcore.CodeValidation},
		},
	})
}

// letters is a server of the workflow with everything it needs, and a client
// whose user says yes.
func letters(t *testing.T, m *mailroom, change ...func(*mcpcore.Deps)) (*mcp.ClientSession, *memory.Operations) {
	t.Helper()
	ops := memory.NewOperations(nil)
	deps := m.deps(operationtest.Setup{
		Permits:    mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{"letter-sending": letterPermit()}},
		Operations: ops, Ledger: memory.NewMemory(nil), Approver: mcpcore.AtClient{}, Armed: true,
	})
	deps.Volatile = true
	for _, c := range change {
		c(&deps)
	}
	return join(t, deps, eras[1], (&user{answer: yes()}).options()), ops
}

func send(t *testing.T, s *mcp.ClientSession, tool, args string) string {
	t.Helper()
	return say(t, s, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(strings.TrimSuffix(args, "}") + `,"operationKey":"key-00000000000001"}`)})
}

func TestWorkflowTellsDriftAndParts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, says string
		room       *mailroom
		receipt    mcpcore.Status
	}{
		{"drift", `"status":"completed-with-drift"`, &mailroom{moved: true}, mcpcore.StatusCompleted},
		{"a part", `"failed":["grace"]`, &mailroom{broken: []string{"grace"}}, mcpcore.StatusCompleted},
		{"a part and drift", `"status":"partial-with-drift"`, &mailroom{broken: []string{"grace"}, moved: true}, mcpcore.StatusCompleted},
		{"nothing", `"status":"failed"`, &mailroom{broken: []string{"grace", "ada"}}, mcpcore.StatusFailed},
		{"a panic", `"status":"outcome-uncertain"`, &mailroom{panics: true}, mcpcore.StatusUncertain},
	} {
		s, ops := letters(t, row.room)
		got := send(t, s, "execute_letter_sending", letter)
		if !strings.Contains(got, row.says) || strings.Contains(got, "canary") {
			t.Errorf("%s: %s", row.name, got)
		}
		r, err := ops.Receipt(t.Context(), "letter-sending", mcpcore.HashKey("key-00000000000001"))
		if err != nil || r.Status != row.receipt {
			t.Errorf("%s: %+v, %v", row.name, r, err)
		}
	}
}

func TestBulkPlansCountAndShowTheFirst(t *testing.T) {
	t.Parallel()
	room := &mailroom{label: "canary-label"}
	asked := &user{answer: yes()}
	ops := memory.NewOperations(nil)
	deps := room.deps(operationtest.Setup{
		Permits:    mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{"letter-sending": letterPermit()}},
		Operations: ops, Ledger: memory.NewMemory(nil), Approver: mcpcore.AtClient{}, Armed: true,
	})
	deps.Volatile = true
	s := join(t, deps, eras[1], asked.options())
	six := `{"letter":"l-1","to":["p1","p2","p3","p4","p5","p6"],"acknowledgeSending":true}`
	plan := send(t, s, "plan_letter_sending", six)
	if !strings.Contains(plan, `"affectedCount":6`) || !strings.Contains(plan, `"id":"p5"`) || strings.Contains(plan, `"id":"p6"`) {
		t.Errorf("the plan is %s", plan)
	}
	if got := send(t, s, "execute_letter_sending", six); !strings.Contains(got, `"completed"`) {
		t.Fatal(got)
	}
	question, _ := asked.last.Load().(string)
	for _, want := range []string{`- affects: "6"`, `- 5: "p5 (canary-label)"`, `- and more: "1"`, `- warning: "It cannot be called back."`, `- risk: "irreversible"`, `- plan: "hmac-sha256:`} {
		if !strings.Contains(question, want) {
			t.Errorf("a person does not see %s in\n%s", want, question)
		}
	}
	if strings.Contains(question, "key-0000") {
		t.Errorf("a person sees the key:\n%s", question)
	}
	if list := say(t, s, &mcp.CallToolParams{Name: "list_activity"}); !strings.Contains(list, `"completed"`) || strings.Contains(list, "p1") {
		t.Errorf("the activity is %s", list)
	}
}

// sleepy is a ledger that records a pending write and then lets time pass, as a
// process does that is stopped.
type sleepy struct{ *memory.Operations }

func (s sleepy) Pending(ctx context.Context, c mcpcore.Claim, write time.Duration) (mcpcore.Receipt, error) {
	r, err := s.Operations.Pending(ctx, c, write)
	time.Sleep(write)
	return r, err
}

func TestStoppedAfterTheRecordWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := &mailroom{}
		s, ops := letters(t, room, func(d *mcpcore.Deps) { d.Operations = sleepy{d.Operations.(*memory.Operations)} })
		if got := send(t, s, "execute_letter_sending", letter); !strings.Contains(got, "CLAIM_LOST") {
			t.Error(got)
		}
		if room.writes != nil {
			t.Errorf("it wrote %v", room.writes)
		}
		if r, err := ops.Receipt(t.Context(), "letter-sending", mcpcore.HashKey("key-00000000000001")); err != nil || r.Status != mcpcore.StatusFailed {
			t.Errorf("%+v, %v", r, err)
		}
		_ = s.Close()
	})
}

func TestWorkflowsThatDoNotBuild(t *testing.T) {
	t.Parallel()
	op := func(change func(*mcpcore.Operation[sendLetters, letterState])) func(*mcpcore.Deps) {
		return func(d *mcpcore.Deps) {
			o := (&mailroom{}).sending()
			change(&o)
			d.Workflows = []mcpcore.Workflow{o.Workflow()}
		}
	}
	for _, row := range []struct {
		name   string
		change func(*mcpcore.Deps)
		says   string
	}{
		{"no name", op(func(o *mcpcore.Operation[sendLetters, letterState]) { o.Name = "Letter Sending" }), "lower-case words"},
		{"no function", op(func(o *mcpcore.Operation[sendLetters, letterState]) { o.ReadBack = nil }), "needs Plan, Targets, Apply and ReadBack"},
		{"only reads", op(func(o *mcpcore.Operation[sendLetters, letterState]) { o.Effect = mcpcore.Read }), "writes or destroys"},
		{"no scope for a policy", op(func(o *mcpcore.Operation[sendLetters, letterState]) { o.Scopes = nil }), "needs Scopes"},
		{"a scope of nothing", op(func(o *mcpcore.Operation[sendLetters, letterState]) { o.Scopes[0].Arg = "stamp" }), `"stamp", which is not an argument`},
		{"an acknowledgement that is no yes", op(func(o *mcpcore.Operation[sendLetters, letterState]) { o.Acknowledge = []string{"letter"} }), "not a boolean argument"},
		{"protects nobody", op(func(o *mcpcore.Operation[sendLetters, letterState]) { o.Protects = []string{"whom"} }), `"whom", which is not an argument`},
		{"a limit above its maximum", op(func(o *mcpcore.Operation[sendLetters, letterState]) { o.Limits[0].Default = 9 }), "maximum"},
		{"a write that takes for ever", op(func(o *mcpcore.Operation[sendLetters, letterState]) { o.Takes = time.Hour }), "at most 10m"},
		{"a part of the tools", func(d *mcpcore.Deps) {
			d.Tools, d.Workflows = (&mailroom{}).sending().Workflow().Tools()[1:], nil
		}, "needs all of its tools"},
		{"twice", func(d *mcpcore.Deps) { d.Workflows = append(d.Workflows, (&mailroom{}).sending().Workflow()) }, "declared twice"},
		{"a policy of no workflow", func(d *mcpcore.Deps) { d.Permits.Permits["letter-burning"] = mcpcore.Permit{} }, `there is no workflow "letter-burning"; there are: letter-sending`},
		{"a scope that it has not", func(d *mcpcore.Deps) {
			d.Permits.Permits["letter-sending"] = mcpcore.Permit{Scopes: map[string][]string{"parcels": nil}}
		}, `workflows.letter-sending.scopes has no "parcels"`},
		{"a limit that it has not", func(d *mcpcore.Deps) {
			d.Permits.Permits["letter-sending"] = mcpcore.Permit{Limits: map[string]int{"maxWeight": 1}}
		}, `workflows.letter-sending.limits has no "maxWeight"`},
		{"a limit above the ceiling", func(d *mcpcore.Deps) {
			d.Permits.Permits["letter-sending"] = mcpcore.Permit{Limits: map[string]int{"maxRecipients": 9}}
		}, "can be 0 to 8"},
		{"no ledger of operations", func(d *mcpcore.Deps) { d.Operations = nil }, "a ledger of operations"},
		{"one that ends with the process", func(d *mcpcore.Deps) { d.Volatile = false }, "ends with the process"},
		{"no ledger of approvals", func(d *mcpcore.Deps) { d.Ledger = nil }, "a person reviews it, which needs a ledger"},
		{"a chain without an approval", func(d *mcpcore.Deps) {
			d.Chain = slices.DeleteFunc(d.Chain, func(m mcpcore.Middleware) bool { return m.Name == "approval" })
		}, `no layer for the guard "approve"`},
	} {
		deps := (&mailroom{}).deps(operationtest.Setup{
			Permits:    mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{"letter-sending": letterPermit()}},
			Operations: memory.NewOperations(nil), Ledger: memory.NewMemory(nil), Armed: true,
		})
		deps.Volatile = true
		row.change(&deps)
		if _, err := mcpcore.BuildServer(deps); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	// What is off needs nothing.
	deps := (&mailroom{}).deps(operationtest.Setup{})
	if _, err := mcpcore.BuildServer(deps); err != nil {
		t.Error(err)
	}
}

// A plan is its principal's: what one had reviewed another cannot execute.
func TestPlanIsItsPrincipals(t *testing.T) {
	t.Parallel()
	who := "ada"
	s, _ := letters(t, &mailroom{}, func(d *mcpcore.Deps) {
		d.Identify = func(context.Context, *mcp.CallToolRequest) (string, error) { return who, nil }
	})
	plan := send(t, s, "plan_letter_sending", letter)
	_, digest, _ := strings.Cut(plan, `"digest":"`)
	digest, _, _ = strings.Cut(digest, `"`)
	who = "eve"
	detached := strings.TrimSuffix(letter, "}") + `,"planDigest":"` + digest + `"}`
	if got := send(t, s, "execute_letter_sending", detached); !strings.Contains(got, "PLAN_CHANGED") {
		t.Error(got)
	}
	who = "ada"
	if got := send(t, s, "execute_letter_sending", detached); !strings.Contains(got, `"completed"`) {
		t.Error(got)
	}
}

// A pipeline cannot execute: nobody would have seen the plan by itself.
func TestWorkflowIsNoStep(t *testing.T) {
	t.Parallel()
	room := &mailroom{}
	type nothing struct{}
	type told struct {
		Code string `json:"code"`
	}
	step := mcpcore.Step{Tool: "execute_letter_sending", Args: json.RawMessage(strings.TrimSuffix(letter, "}") + `,"operationKey":"key-00000000000001"}`)}
	run := mcpcore.Define(mcpcore.Tool{
		Name: "run_it", Doc: "Runs it.", Effect: mcpcore.Write, Scope: mcpcore.LocalScope,
		Steps: func(*mcpcore.Call) ([]mcpcore.Step, error) { return []mcpcore.Step{step}, nil },
	}, func(ctx context.Context, call *mcpcore.Call, _ nothing) (v told, err error) {
		if out := call.Step(ctx, 0, nil); out.Err != nil {
			v.Code = string(out.Err.Code)
		}
		return v, nil
	})
	s, _ := letters(t, room, func(d *mcpcore.Deps) { d.Tools = append(d.Tools, run) })
	if got := say(t, s, &mcp.CallToolParams{Name: "run_it", Arguments: json.RawMessage(`{}`)}); !strings.Contains(got, "TOOL_NOT_AVAILABLE") {
		t.Error(got)
	}
	if room.writes != nil {
		t.Errorf("it wrote %v", room.writes)
	}
}

// What belongs to a workflow is off with it; an audit is there by itself.
func TestCompanionsGoWithTheirWorkflow(t *testing.T) {
	t.Parallel()
	type look struct {
		Letter string `json:"letter" jsonschema:"which letter"`
	}
	reading := func(name string) mcpcore.Tool {
		return mcpcore.Define(mcpcore.Tool{Name: name, Doc: "Looks.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope},
			func(context.Context, *mcpcore.Call, look) (done, error) { return done{Done: true}, nil })
	}
	for _, enabled := range []bool{true, false} {
		s, _ := letters(t, &mailroom{}, func(d *mcpcore.Deps) {
			o := (&mailroom{}).sending()
			o.Companions, o.Audits = []mcpcore.Tool{reading("preview_letter")}, []mcpcore.Tool{reading("audit_letters")}
			d.Workflows = []mcpcore.Workflow{o.Workflow()}
			if !enabled {
				d.Permits = mcpcore.WorkflowPolicy{}
			}
		})
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		call := func(tool, letter string) string {
			return say(t, s, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(`{"letter":"` + letter + `"}`)})
		}
		if !slices.Contains(names, "audit_letters") || !strings.Contains(call("audit_letters", "l-2"), `"done":true`) {
			t.Errorf("enabled %v: the audit is not there: %v", enabled, names)
		}
		want, elsewhere := `"done":true`, "WORKFLOW_SCOPE_REJECTED"
		if !enabled {
			want, elsewhere = "WORKFLOW_OFF", "WORKFLOW_OFF"
		}
		if slices.Contains(names, "preview_letter") != enabled || !strings.Contains(call("preview_letter", "l-1"), want) || !strings.Contains(call("preview_letter", "l-2"), elsewhere) {
			t.Errorf("enabled %v: %v, %s", enabled, names, call("preview_letter", "l-2"))
		}
	}
}

// A workflow tells the time by the clock of its assembly, and not by the machine's.
func TestNowIsTheAssemblysClock(t *testing.T) {
	t.Parallel()
	noon := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	type told struct {
		Now string `json:"now"`
	}
	tool := mcpcore.Define(mcpcore.Tool{Name: "clock", Doc: "Tells the time.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope},
		func(_ context.Context, c *mcpcore.Call, _ struct{}) (told, error) {
			return told{c.Now().Format(time.RFC3339)}, nil
		})
	deps := mcpcore.Deps{Tools: []mcpcore.Tool{tool}, Chain: middleware.Standard(middleware.Options{}), Clock: func() time.Time { return noon }}
	s := join(t, deps, eras[1], nil)
	if got := say(t, s, &mcp.CallToolParams{Name: "clock", Arguments: json.RawMessage(`{}`)}); !strings.Contains(got, `2031-05-01T12:00:00Z`) {
		t.Errorf("it tells %s", got)
	}
}
