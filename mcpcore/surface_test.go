package mcpcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

type (
	revealInput struct {
		Names []string `json:"names" jsonschema:"tools to show"`
	}
	revealed struct {
		Fresh []string `json:"fresh"`
		Shown []string `json:"shown"` // of those asked for
		Whole bool     `json:"whole"`
	}
	stepInput struct {
		Tool string `json:"tool" jsonschema:"tool to call"`
	}
	stepped struct {
		Code string `json:"code"`
		Text string `json:"text"`
	}
)

// reveal is a tool that shows what it is told to.
func reveal() mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: "reveal", Title: "Reveal", Doc: "Reveals tools.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope,
	}, func(_ context.Context, call *mcpcore.Call, in revealInput) (revealed, error) {
		v := revealed{Fresh: call.Reveal(in.Names...), Whole: !call.Progressive()}
		for _, name := range in.Names {
			if call.Shows(name) {
				v.Shown = append(v.Shown, name)
			}
		}
		return v, nil
	})
}

// stepper is a tool that makes one step.
func stepper() mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: "stepper", Title: "Step", Doc: "Makes a step.", Effect: mcpcore.Write, Scope: mcpcore.LocalScope,
		Steps: func(call *mcpcore.Call) ([]mcpcore.Step, error) {
			return []mcpcore.Step{{Tool: call.Text("tool"), Args: json.RawMessage(`{}`)}}, nil
		},
	}, func(ctx context.Context, call *mcpcore.Call, _ stepInput) (stepped, error) {
		o := call.Step(ctx, 0, nil)
		if o.Err != nil {
			return stepped{Code: string(o.Err.Code), Text: o.Text}, nil
		}
		return stepped{Text: o.Text}, nil
	})
}

// part is a tool of a workflow.
func (d *desk) part(name string, role mcpcore.Role) mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: name, Title: name, Doc: "A part.", Category: "moves", Effect: mcpcore.Read, Scope: mcpcore.GuildScope,
		Part: mcpcore.Part{Workflow: "ticket-move", Role: role},
	}, runs[ticketsList](d))
}

// progressive is a server that begins with the tools reveal and stepper.
func (d *desk) progressive() mcpcore.Deps {
	deps := d.deps()
	deps.Tools = append(deps.Tools, reveal(), stepper(), d.part("plan_ticket_move", mcpcore.Plan), d.part("execute_ticket_move", mcpcore.Execute))
	deps.Opening = func(t *mcpcore.Tool) bool { return t.Name == "reveal" || t.Name == "stepper" }
	return deps
}

// seat is a client's session with a server of its own, counting what it is told.
type seat struct {
	*mcp.ClientSession
	changes atomic.Int64
}

func sit(t *testing.T, server *mcp.Server, era string) *seat {
	t.Helper()
	s := &seat{}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.changes.Add(1) },
	}).Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	s.ClientSession = session
	return s
}

func (s *seat) names(t *testing.T) []string {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// unknown is the protocol's answer to a tool that is not there, with the name
// taken out.
func (s *seat) unknown(t *testing.T, tool string) string {
	t.Helper()
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(`{"guild_id":"700000000000000001"}`)})
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code != jsonrpc.CodeInvalidParams {
		t.Fatalf("%s answers %v", tool, err)
	}
	return strings.ReplaceAll(e.Message, tool, "NAME")
}

func (s *seat) reveal(t *testing.T, names ...string) (v revealed) {
	t.Helper()
	args, err := json.Marshal(revealInput{names})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(say(t, s.ClientSession, &mcp.CallToolParams{Name: "reveal", Arguments: json.RawMessage(args)})), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSessionBeginsWithTheOpeningTools(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		synctest.Test(t, func(t *testing.T) {
			d := &desk{}
			a, err := mcpcore.Assemble(d.progressive())
			if err != nil {
				t.Fatal(err)
			}
			one, two := sit(t, a.Server(), era), sit(t, a.Server(), era)
			defer one.Close()
			defer two.Close()
			settle := func() { time.Sleep(time.Second) } // the SDK waits before it tells
			opening := []string{"reveal", "stepper"}
			if got := one.names(t); !slices.Equal(got, opening) {
				t.Fatalf("begins with %v", got)
			}
			if hidden, none := one.unknown(t, "tickets_list"), one.unknown(t, "no_such_tool"); hidden != none {
				t.Errorf("a tool that is not revealed answers %q, one that is not there %q", hidden, none)
			}
			if got := one.reveal(t, "no_such_tool", "reveal"); len(got.Fresh) > 0 || got.Whole {
				t.Errorf("revealed %+v", got)
			}
			if settle(); one.changes.Load() != 0 {
				t.Error("told of a change without one")
			}
			if got := one.reveal(t, "tickets_list", "reveal"); !slices.Equal(got.Fresh, []string{"tickets_list"}) || len(got.Shown) != 2 {
				t.Errorf("revealed %+v", got)
			}
			if settle(); one.changes.Load() != 1 {
				t.Errorf("told of %d changes after one", one.changes.Load())
			}
			if got := one.reveal(t, "tickets_list"); len(got.Fresh) > 0 {
				t.Errorf("revealed again %+v", got)
			}
			if settle(); one.changes.Load() != 1 {
				t.Errorf("told of %d changes after one", one.changes.Load())
			}
			if got := one.names(t); !slices.Equal(got, append(slices.Clone(opening), "tickets_list")) {
				t.Errorf("lists %v", got)
			}
			if got := say(t, one.ClientSession, &mcp.CallToolParams{Name: "tickets_list", Arguments: json.RawMessage(goodList)}); !strings.Contains(got, `"done":true`) {
				t.Errorf("it answers %s", got)
			}
			// The other session sees nothing of it.
			if got := two.names(t); !slices.Equal(got, opening) || two.changes.Load() != 0 {
				t.Errorf("the other session lists %v after %d changes", got, two.changes.Load())
			}
			two.unknown(t, "tickets_list")
		})
	}
}

func TestWorkflowIsRevealedWhole(t *testing.T) {
	t.Parallel()
	parts := []string{"execute_ticket_move", "plan_ticket_move"}
	build := func(deps mcpcore.Deps) *mcpcore.Assembly {
		t.Helper()
		a, err := mcpcore.Assemble(deps)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	d := &desk{}
	for _, one := range parts {
		s := sit(t, build(d.progressive()).Server(), eras[1])
		if got := s.reveal(t, one); !slices.Equal(got.Fresh, parts) {
			t.Errorf("%s reveals %v", one, got.Fresh)
		}
	}
	// A workflow with a hidden part is hidden, and so it is when the session
	// begins with a part of one.
	deps := d.progressive()
	deps.Hide = func(t *mcpcore.Tool) bool { return t.Name == "execute_ticket_move" }
	for _, server := range []*mcp.Server{build(deps).Server(), build(deps).Full()} {
		s := sit(t, server, eras[1])
		if got := s.reveal(t, parts...); len(got.Fresh) > 0 || len(got.Shown) > 0 {
			t.Errorf("revealed %+v of a workflow with a hidden part", got)
		}
		if got := s.names(t); slices.Contains(got, "plan_ticket_move") {
			t.Errorf("lists half of a workflow: %v", got)
		}
	}
	deps = d.progressive()
	deps.Opening = func(t *mcpcore.Tool) bool { return t.Name == "plan_ticket_move" }
	if got := sit(t, build(deps).Server(), eras[1]).names(t); !slices.Equal(got, parts) {
		t.Errorf("begins with %v", got)
	}
}

func TestFullServerOfAProgressiveAssembly(t *testing.T) {
	t.Parallel()
	d := &desk{}
	a, err := mcpcore.Assemble(d.progressive())
	if err != nil {
		t.Fatal(err)
	}
	s := sit(t, a.Full(), eras[1])
	if got := s.names(t); len(got) != len(d.progressive().Tools) {
		t.Errorf("lists %v", got)
	}
	if got := s.reveal(t, "tickets_list"); len(got.Fresh) > 0 || len(got.Shown) != 1 || !got.Whole {
		t.Errorf("revealed %+v where everything is shown", got)
	}
	if caps := s.InitializeResult().Capabilities.Tools; caps.ListChanged {
		t.Error("it says that its list changes")
	}
}

func TestEachServerIsMadeReady(t *testing.T) {
	t.Parallel()
	deps := (&desk{}).progressive()
	deps.Each = func(s *mcp.Server) {
		s.AddResource(&mcp.Resource{URI: "desk://rules", Name: "rules"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "desk://rules", Text: "be kind"}}}, nil
		})
	}
	a, err := mcpcore.Assemble(deps)
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []*mcp.Server{a.Server(), a.Server(), a.Full()} {
		res, err := sit(t, server, eras[1]).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "desk://rules"})
		if err != nil || res.Contents[0].Text != "be kind" {
			t.Errorf("%v, %v", res, err)
		}
	}
}

// A step is a call: what cannot be called is no step, and is not named.
func TestStepsReachWhatTheSessionIsShown(t *testing.T) {
	t.Parallel()
	d := &desk{}
	a, err := mcpcore.Assemble(d.progressive())
	if err != nil {
		t.Fatal(err)
	}
	s := sit(t, a.Server(), eras[1])
	step := func(tool string) string {
		return say(t, s.ClientSession, &mcp.CallToolParams{Name: "stepper", Arguments: json.RawMessage(`{"tool":"` + tool + `"}`)})
	}
	for _, tool := range []string{"tickets_list", "tickets_lists"} {
		if got := step(tool); !strings.Contains(got, string(mcpcore.CodeToolNotAvailable)) || strings.Contains(got, "tickets_list\\") {
			t.Errorf("a step of %s gives %s", tool, got)
		}
	}
	if got := d.runs(); len(got) > 0 {
		t.Errorf("ran %v", got)
	}
	s.reveal(t, "tickets_list")
	if got := step("tickets_list"); strings.Contains(got, "TOOL_") || len(d.runs()) != 1 {
		t.Errorf("a step of a revealed tool gives %s and ran %v", got, d.runs())
	}
	if got := step("tickets_lists"); !strings.Contains(got, "did you mean") {
		t.Errorf("a revealed tool is not suggested: %s", got)
	}
}

func TestOpeningMustOpenSomething(t *testing.T) {
	t.Parallel()
	deps := (&desk{}).deps()
	deps.Opening = func(*mcpcore.Tool) bool { return false }
	if _, err := mcpcore.Assemble(deps); err == nil || !strings.Contains(err.Error(), "Opening opens no tool") {
		t.Errorf("got %v", err)
	}
}

// What all servers of an assembly share is one limit.
func TestServersOfAnAssemblyShareTheLimitOfCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		deps, release := d.deps(), make(chan struct{})
		deps.InFlight = 1
		deps.Tools = []mcpcore.Tool{mcpcore.Define(d.list(), func(context.Context, *mcpcore.Call, ticketsList) (done, error) {
			<-release
			return done{Done: true}, nil
		})}
		a, err := mcpcore.Assemble(deps)
		if err != nil {
			t.Fatal(err)
		}
		one, two := sit(t, a.Server(), eras[1]), sit(t, a.Server(), eras[1])
		defer one.Close()
		defer two.Close()
		ended := make(chan string, 1)
		go func() {
			ended <- say(t, one.ClientSession, &mcp.CallToolParams{Name: "tickets_list"})
		}()
		synctest.Wait()
		if got := say(t, two.ClientSession, &mcp.CallToolParams{Name: "tickets_list"}); !strings.Contains(got, string(mcpcore.CodeBulkheadFull)) {
			t.Errorf("a second call at once gives %s", got)
		}
		close(release)
		if got := <-ended; !strings.Contains(got, `"done":true`) {
			t.Errorf("the first call gives %s", got)
		}
	})
}
