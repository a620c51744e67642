package mcpcore_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
)

type handlerFunc = mcpcore.Handler

// lies is a layer that says it is the guard and does what do does instead.
func lies(name string, guard mcpcore.Guard, do func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error)) mcpcore.Middleware {
	return mcpcore.Middleware{Name: name, Guard: guard, Wrap: func(next handlerFunc) handlerFunc {
		return func(ctx context.Context, c *mcpcore.Call) (*mcpcore.Result, error) { return do(ctx, c, next) }
	}}
}

func passOn(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
	return next(ctx, c)
}

// replace puts a layer in the place of the one with its name.
func replace(chain []mcpcore.Middleware, m mcpcore.Middleware) []mcpcore.Middleware {
	i := slices.IndexFunc(chain, func(l mcpcore.Middleware) bool { return l.Name == m.Name })
	chain[i] = m
	return chain
}

// confirmed previews the notice and returns the arguments that send it.
func confirmed(t testing.TB, c *client) string {
	t.Helper()
	p := c.refused(t, "notice_send", goodUpdate, mcpcore.CodePayloadRequired)
	return confirmWith(goodUpdate, p)
}

func confirmWith(args string, preview answer) string {
	return strings.TrimSuffix(args, "}") + `,"__confirm":true,"__confirm_hash":"` + preview.data["payload_hash"].(string) +
		`","__confirm_id":"` + preview.data["approval_id"].(string) + `"}`
}

func TestGuardThatSkipsItsWorkMeetsTheInterlock(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		layer string
		guard mcpcore.Guard
		tools map[string]string // tools that need the guard, with arguments
	}{
		{"validate", mcpcore.GuardValidate, map[string]string{"tickets_list": goodList, "ticket_update": goodUpdate, "ticket_delete": goodDelete, "notice_send": goodUpdate}},
		{"preconditions", mcpcore.GuardCheck, map[string]string{"ticket_delete": goodDelete}},
		{"approval", mcpcore.GuardApprove, map[string]string{"notice_send": goodUpdate}},
		{"audit", mcpcore.GuardAudit, map[string]string{"ticket_update": goodUpdate, "ticket_delete": goodDelete}},
	} {
		for tool, args := range row.tools {
			t.Run(row.layer+" of "+tool, func(t *testing.T) {
				t.Parallel()
				d := &desk{}
				deps := d.deps()
				deps.Chain = replace(deps.Chain, lies(row.layer, row.guard, passOn))
				a := connect(t, deps).refused(t, tool, args, mcpcore.CodeGuardSkipped)
				if a.data["guard"] != string(row.guard) || a.data["tool"] != tool {
					t.Errorf("it blames %v of %v", a.data["guard"], a.data["tool"])
				}
				if ran := d.runs(); ran != nil {
					t.Errorf("the handler ran: %v", ran)
				}
			})
		}
	}
}

// The audit of a payload tool needs an approval that the approval layer gave.
func TestSkippedAuditOfAnApprovedCall(t *testing.T) {
	t.Parallel()
	d, l := &desk{}, newLedger()
	deps := d.deps()
	deps.Ledger = l
	deps.Chain = replace(deps.Chain, lies("audit", mcpcore.GuardAudit, passOn))
	c := connect(t, deps)
	c.refused(t, "notice_send", confirmed(t, c), mcpcore.CodeGuardSkipped)
	if d.runs() != nil || l.spends != 0 {
		t.Errorf("ran %v, spent %d approvals", d.runs(), l.spends)
	}
}

func TestLayersInLyingOrderAreRefused(t *testing.T) {
	t.Parallel()
	validate := func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if err := c.Validate(); err != nil {
			return nil, err
		}
		return next(ctx, c)
	}
	check := func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if err := c.Check(ctx); err != nil {
			return nil, err
		}
		return next(ctx, c)
	}
	approve := func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if err := c.Approve(ctx); err != nil {
			return nil, err
		}
		return next(ctx, c)
	}
	audit := func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if err := c.Begin(ctx); err != nil {
			return nil, err
		}
		res, err := next(ctx, c)
		return c.End(ctx, res, err)
	}
	type work = func(context.Context, *mcpcore.Call, handlerFunc) (*mcpcore.Result, error)
	for name, does := range map[string][4]work{
		"check before validate":   {check, validate, approve, audit},
		"audit before validate":   {audit, check, approve, validate},
		"audit before check":      {validate, audit, approve, check},
		"approve before validate": {approve, check, validate, audit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := &desk{}, &sink{}
			deps := d.deps()
			deps.Audit = s
			deps.Chain = []mcpcore.Middleware{
				lies("a", mcpcore.GuardValidate, does[0]), lies("b", mcpcore.GuardCheck, does[1]),
				lies("c", mcpcore.GuardApprove, does[2]), lies("d", mcpcore.GuardAudit, does[3]),
			}
			c := connect(t, deps)
			c.refused(t, "ticket_delete", goodDelete, mcpcore.CodeGuardSkipped)
			if d.runs() != nil || s.phases() != "" {
				t.Errorf("ran %v, recorded %q", d.runs(), s.phases())
			}
		})
	}
	t.Run("the order that they claim passes", func(t *testing.T) {
		t.Parallel()
		d := &desk{}
		deps := d.deps()
		deps.Chain = []mcpcore.Middleware{
			lies("a", mcpcore.GuardValidate, validate), lies("b", mcpcore.GuardCheck, check),
			lies("c", mcpcore.GuardApprove, approve), lies("d", mcpcore.GuardAudit, audit),
		}
		c := connect(t, deps)
		c.passed(t, "tickets_list", goodList)
		c.passed(t, "ticket_update", goodUpdate)
		c.passed(t, "ticket_delete", goodDelete)
		c.passed(t, "notice_send", confirmed(t, c))
		if got := len(d.runs()); got != 4 {
			t.Errorf("%d handlers ran, want 4", got)
		}
	})
}

func TestLayerThatPassesAnotherCall(t *testing.T) {
	t.Parallel()
	var kept struct {
		sync.Mutex
		call *mcpcore.Call
	}
	for name, do := range map[string]func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error){
		"a zero call": func(ctx context.Context, _ *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
			return next(ctx, &mcpcore.Call{})
		},
		"none": func(ctx context.Context, _ *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
			return next(ctx, nil)
		},
		"an earlier call": func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
			kept.Lock()
			defer kept.Unlock()
			if kept.call == nil {
				kept.call = c
				return nil, mcpcore.Errorf(mcpcore.CodePrecondition, "kept for later")
			}
			// The earlier call never reached the guards behind this layer, and the
			// arguments of the later one are not its own.
			if _, err := next(ctx, kept.call); err != nil {
				return nil, err
			}
			return next(ctx, kept.call)
		},
		"a wiped call": func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
			reflect.ValueOf(c).Elem().SetZero()
			return next(ctx, c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &desk{}
			deps := d.deps()
			deps.Chain = slices.Insert(deps.Chain, 4, lies("fake", "", do))
			c := connect(t, deps)
			for range 2 {
				a := c.call(t, "ticket_delete", goodDelete)
				if !a.IsError || name != "an earlier call" && a.code() != mcpcore.CodeGuardSkipped {
					t.Errorf("it answers %q", a.code())
				}
			}
			if ran := d.runs(); len(ran) > 1 {
				t.Errorf("the handler ran %d times", len(ran))
			}
			if name != "an earlier call" && d.runs() != nil {
				t.Errorf("the handler ran: %v", d.runs())
			}
			deps = d.deps()
			connect(t, deps).passed(t, "ticket_update", goodUpdate)
		})
	}
}

func TestNextTwiceRunsTheHandlerOnce(t *testing.T) {
	t.Parallel()
	sequential := func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		_, _ = next(ctx, c)
		return next(ctx, c)
	}
	atOnce := func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wg.Go(func() { _, errs[i] = next(ctx, c) })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	copied := func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		second := reflect.New(reflect.TypeFor[mcpcore.Call]())
		second.Elem().Set(reflect.ValueOf(c).Elem())
		_, _ = next(ctx, c)
		return next(ctx, second.Interface().(*mcpcore.Call))
	}
	for name, do := range map[string]func(context.Context, *mcpcore.Call, handlerFunc) (*mcpcore.Result, error){
		"one after the other": sequential, "at once": atOnce, "with a copy": copied,
	} {
		for _, last := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := &desk{}
				deps := d.deps()
				at := 0
				if last {
					at = len(deps.Chain)
				}
				deps.Chain = slices.Insert(deps.Chain, at, lies("twice", "", do))
				connect(t, deps).refused(t, "ticket_update", goodUpdate, mcpcore.CodeInternal)
				if got := len(d.runs()); got != 1 {
					t.Errorf("the handler ran %d times", got)
				}
			})
		}
	}
}

// A layer can refuse earlier, and what it says reaches the client.
func TestLayerOfOnesOwnRefusesAndPasses(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	deps.Chain = slices.Insert(deps.Chain, 4, lies("office_hours", "", func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if c.Tool().Effect != mcpcore.Read {
			return nil, mcpcore.Errorf(mcpcore.CodePrecondition, "nobody is here")
		}
		return next(ctx, c)
	}))
	c := connect(t, deps)
	if a := c.refused(t, "ticket_update", goodUpdate, mcpcore.CodePrecondition); a.data["detail"] != "nobody is here" {
		t.Errorf("detail is %v", a.data["detail"])
	}
	c.passed(t, "tickets_list", goodList)
	if got := d.runs(); len(got) != 1 || !strings.HasPrefix(got[0], "tickets_list") {
		t.Errorf("ran %v", got)
	}
}

// An approval that a layer verified by itself is spent with the rest, and
// without a ledger the call is refused.
func TestSpendOfALayerOfOnesOwn(t *testing.T) {
	t.Parallel()
	d, l := &desk{}, newLedger()
	a, err := l.Propose(t.Context(), mcpcore.Proposal{Fingerprint: "f"})
	if err != nil {
		t.Fatal(err)
	}
	spends := lies("approval", mcpcore.GuardApprove, func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if err := c.Approve(ctx, mcpcore.Spend{ID: a.ID, Fingerprint: "f"}); err != nil {
			return nil, err
		}
		return next(ctx, c)
	})
	deps := d.deps()
	deps.Ledger, deps.Chain = l, replace(deps.Chain, spends)
	c := connect(t, deps)
	c.passed(t, "ticket_update", goodUpdate)
	c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeApprovalReplayed)

	deps.Tools, deps.Ledger = []mcpcore.Tool{d.update()}, nil
	connect(t, deps).refused(t, "ticket_update", goodUpdate, mcpcore.CodeLedger)
	if got := len(d.runs()); got != 1 {
		t.Errorf("the handler ran %d times", got)
	}
}
