package mcpcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// acting is the update tool with a handler of the test's.
func acting(d *desk, run func(ctx context.Context, call *mcpcore.Call) error) mcpcore.Tool {
	return mcpcore.Define(d.update(), func(ctx context.Context, call *mcpcore.Call, _ ticketUpdate) (done, error) {
		d.note(call)
		return done{Done: true}, run(ctx, call)
	})
}

func succeeds(context.Context, *mcpcore.Call) error { return nil }

func TestOneIntentAndOneOutcome(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, tool, args string
		run              func(ctx context.Context, call *mcpcore.Call) error
		want             string
	}{
		{"a read", "tickets_list", goodList, succeeds, ""},
		{"a write", "ticket_update", goodUpdate, succeeds, "ticket_update intent  ;ticket_update outcome success ;"},
		{"a destruction", "ticket_delete", goodDelete, succeeds, "ticket_delete intent  ;ticket_delete outcome success ;"},
		{"a failure", "ticket_update", goodUpdate, func(context.Context, *mcpcore.Call) error {
			return mcpcore.Errorf(mcpcore.CodeNotFound, "no such ticket")
		}, "ticket_update intent  ;ticket_update outcome tool_error DISCORD_NOT_FOUND;"},
		{"a fault", "ticket_update", goodUpdate, func(context.Context, *mcpcore.Call) error { return errors.New("x") },
			"ticket_update intent  ;ticket_update outcome thrown INTERNAL_ERROR;"},
		{"a panic", "ticket_update", goodUpdate, func(context.Context, *mcpcore.Call) error { panic("x") },
			"ticket_update intent  ;ticket_update outcome thrown INTERNAL_ERROR;"},
		{"malformed arguments", "ticket_update", `{"title":5}`, succeeds, ""},
		{"a preview", "ticket_delete", `{"ticket":7}`, succeeds, ""},
		{"a payload without its approval", "notice_send", goodUpdate, succeeds, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d, s := &desk{}, &sink{}
			deps := d.deps()
			deps.Audit, deps.Tools[1] = s, acting(d, row.run)
			connect(t, deps).call(t, row.tool, row.args)
			if got := s.phases(); got != row.want {
				t.Errorf("recorded %q, want %q", got, row.want)
			}
		})
	}
}

func TestAuditEventHoldsWhatHappened(t *testing.T) {
	t.Parallel()
	d, s := &desk{}, &sink{}
	now := time.Date(2031, 5, 1, 18, 0, 0, 0, time.UTC)
	deps := d.deps()
	deps.Audit, deps.Transport = s, "http"
	deps.Clock = func() time.Time { now = now.Add(time.Second); return now }
	deps.Identify = func(context.Context, *mcp.CallToolRequest) (string, error) { return "ann", nil }
	deps.Evidence = []mcpcore.EvidenceResolver{resolver{"identity", "ticket"}}
	deps.Tools[1] = acting(d, func(ctx context.Context, call *mcpcore.Call) error {
		for range 2 {
			if _, err := call.Evidence(ctx, "ticket", "7"); err != nil {
				return err
			}
		}
		_, err := call.Evidence(ctx, "identity", "")
		return err
	})
	connect(t, deps).passed(t, "ticket_update", `{"title":"<@1> & co","note":"canary","guild_id":"700000000000000001"}`)
	if len(s.events) != 2 {
		t.Fatalf("recorded %d events", len(s.events))
	}
	i, o := s.events[0], s.events[1]
	if i.RequestID == "" || i.RequestID != o.RequestID {
		t.Errorf("request ids are %q and %q", i.RequestID, o.RequestID)
	}
	for _, e := range s.events {
		if e.Principal != "ann" || e.Transport != "http" || e.Category != "tickets" || e.Effect != "write" || !e.Idempotent {
			t.Errorf("recorded %+v", e)
		}
		if want := `{"guild_id":"700000000000000001","note":"[REDACTED:6ch]","title":"<@1> & co"}`; string(e.Args) != want {
			t.Errorf("recorded the arguments %s, want %s", e.Args, want)
		}
	}
	if !o.Time.After(i.Time) || o.DurationMS != 2000 {
		t.Errorf("the outcome came at %v after %v ms, the intent at %v", o.Time, o.DurationMS, i.Time)
	}
	if !slices.Equal(o.Evidence, []mcpcore.EvidenceKind{"identity", "ticket"}) {
		t.Errorf("evidence is %v", o.Evidence)
	}
}

func TestSinkThatCannotTakeTheIntentStopsTheCall(t *testing.T) {
	t.Parallel()
	d, s := &desk{}, &sink{failIntent: true}
	deps := d.deps()
	deps.Audit = s
	c := connect(t, deps)
	for tool, args := range map[string]string{"ticket_update": goodUpdate, "ticket_delete": goodDelete} {
		if a := c.refused(t, tool, args, mcpcore.CodeAuditUnavailable); strings.Contains(a.everything(), "canary") {
			t.Errorf("the sink's own words reached the client: %s", a.everything())
		}
	}
	c.passed(t, "tickets_list", goodList)
	if got := d.runs(); len(got) != 1 || s.phases() != "" {
		t.Errorf("ran %v, recorded %q", got, s.phases())
	}
}

// The act is done, so the call is not refused; the agent is told.
func TestSinkThatLosesTheOutcomeIsTold(t *testing.T) {
	t.Parallel()
	const told = "he audit record of this outcome could not be written"
	for name, s := range map[string]*sink{"an error": {failOutcome: true}, "a panic": {panicOutcome: true}} {
		d, log := &desk{}, &lockedBuffer{}
		kept := &mcpcore.Result{Data: json.RawMessage(`{"done":true,"names":[],"link":null}`), Notes: make([]string, 0, 4)}
		deps := d.deps()
		deps.Audit, deps.Logger = s, logTo(log)
		deps.Tools[1] = mcpcore.New(d.update(), typeOf[ticketUpdate](), typeOf[done](), func(_ context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			if call.Text("title") == "fail" {
				return nil, mcpcore.Errorf(mcpcore.CodeNotFound, "no such ticket")
			}
			return kept, nil
		})
		c := connect(t, deps)
		for range 2 { // a result that the handler keeps does not collect notes
			if a := c.passed(t, "ticket_update", goodUpdate); strings.Count(a.text, told) != 1 || strings.Contains(a.everything(), "canary") {
				t.Errorf("%s: answers %s", name, a.everything())
			}
		}
		a := c.refused(t, "ticket_update", strings.Replace(goodUpdate, "Fire", "fail", 1), mcpcore.CodeNotFound)
		if !strings.Contains(a.text, told) || !strings.Contains(a.data["detail"].(string), "no such ticket") {
			t.Errorf("%s: the failure answers %s", name, a.text)
		}
		if len(kept.Notes) != 0 {
			t.Errorf("the handler's own result has the notes %v", kept.Notes)
		}
		if !strings.Contains(log.String(), "audit outcome lost") {
			t.Errorf("it is not in the log: %s", log.String())
		}
	}
}

// A layer that begins and never ends owes an outcome, and so does one that
// panics behind the audit.
func TestOutcomeIsRecordedForCarelessLayers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		layer mcpcore.Middleware
		want  string
	}{
		"it never ends": {lies("audit", mcpcore.GuardAudit, func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
			if err := c.Begin(ctx); err != nil {
				return nil, err
			}
			return next(ctx, c)
		}), "ticket_update intent  ;ticket_update outcome success ;"},
		"it panics after Begin": {lies("audit", mcpcore.GuardAudit, func(ctx context.Context, c *mcpcore.Call, _ handlerFunc) (*mcpcore.Result, error) {
			if err := c.Begin(ctx); err != nil {
				return nil, err
			}
			panic("x")
		}), "ticket_update intent  ;ticket_update outcome thrown INTERNAL_ERROR;"},
		"it ends twice": {lies("audit", mcpcore.GuardAudit, func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
			for range 2 {
				if err := c.Begin(ctx); err != nil {
					return nil, err
				}
			}
			res, err := next(ctx, c)
			res, err = c.End(ctx, res, err)
			return c.End(ctx, res, err)
		}), "ticket_update intent  ;ticket_update outcome success ;"},
	} {
		d, s := &desk{}, &sink{}
		deps := d.deps()
		deps.Audit, deps.Chain = s, replace(deps.Chain, row.layer)
		connect(t, deps).call(t, "ticket_update", goodUpdate)
		if got := s.phases(); got != row.want {
			t.Errorf("%s: recorded %q, want %q", name, got, row.want)
		}
	}
	t.Run("a layer behind the audit panics", func(t *testing.T) {
		t.Parallel()
		d, s := &desk{}, &sink{}
		deps := d.deps()
		deps.Audit = s
		deps.Chain = append(deps.Chain, lies("last", "", func(context.Context, *mcpcore.Call, handlerFunc) (*mcpcore.Result, error) { panic("x") }))
		connect(t, deps).refused(t, "ticket_update", goodUpdate, mcpcore.CodeInternal)
		if got, want := s.phases(), "ticket_update intent  ;ticket_update outcome thrown INTERNAL_ERROR;"; got != want {
			t.Errorf("recorded %q, want %q", got, want)
		}
	})
}

func TestOutcomeIsRecordedWhenTheClientCancels(t *testing.T) {
	t.Parallel()
	d, s := &desk{}, &sink{outcomeWasPut: make(chan struct{}, 1)}
	running := make(chan struct{})
	deps := d.deps()
	deps.Audit = s
	deps.Tools[1] = acting(d, func(ctx context.Context, _ *mcpcore.Call) error {
		close(running)
		<-ctx.Done()
		return ctx.Err()
	})
	c := connect(t, deps)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-running
		cancel()
	}()
	if _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "ticket_update", Arguments: json.RawMessage(goodUpdate)}); !errors.Is(err, context.Canceled) {
		t.Errorf("the client sees %v", err)
	}
	<-s.outcomeWasPut
	if got, want := s.phases(), "ticket_update intent  ;ticket_update outcome tool_error CANCELLED;"; got != want {
		t.Errorf("recorded %q, want %q", got, want)
	}
	c.passed(t, "tickets_list", goodList)
}
