package mcpcore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// relay is a tool that makes the steps of its arguments, in the order of Make or
// as they stand.
type relay struct {
	Steps []relayStep `json:"steps" jsonschema:"steps"`
	Make  []int       `json:"make,omitempty" jsonschema:"which to make"`
}

type relayStep struct {
	Tool    string            `json:"tool" jsonschema:"tool"`
	Args    mcpcore.Arguments `json:"args" jsonschema:"its arguments"`
	Depends bool              `json:"depends,omitempty" jsonschema:"arguments come later"`
	Give    mcpcore.Arguments `json:"give,omitempty" jsonschema:"arguments given then"`
}

type relayed struct {
	Outcomes []relayOutcome `json:"outcomes"`
}

type relayOutcome struct {
	Data json.RawMessage `json:"data"`
	Text string          `json:"text"`
	Code mcpcore.Code    `json:"code"`
	Ran  bool            `json:"ran"`
}

// relaying may be watched by its handler.
func relaying(watch func(call *mcpcore.Call)) mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: "relay", Doc: "Makes steps.", Effect: mcpcore.Write, Scope: mcpcore.LocalScope,
		Steps: func(call *mcpcore.Call) (steps []mcpcore.Step, err error) {
			var in relay
			if err := call.Bind(&in); err != nil {
				return nil, err
			}
			for i, s := range in.Steps {
				steps = append(steps, mcpcore.Step{Tool: s.Tool, Args: json.RawMessage(s.Args), Depends: s.Depends, At: fmt.Sprintf("steps.%d.args", i)})
			}
			return steps, nil
		},
	}, func(ctx context.Context, call *mcpcore.Call, in relay) (v relayed, err error) {
		if watch != nil {
			watch(call)
		}
		order := in.Make
		for i := 0; in.Make == nil && i < len(in.Steps); i++ {
			order = append(order, i)
		}
		for _, i := range order {
			var raw json.RawMessage
			if i >= 0 && i < len(in.Steps) {
				raw = json.RawMessage(in.Steps[i].Give)
			}
			o := call.Step(ctx, i, raw)
			out := relayOutcome{Data: o.Data, Text: o.Text, Ran: o.Ran}
			if o.Err != nil {
				out.Code = o.Err.Code
			}
			v.Outcomes = append(v.Outcomes, out)
		}
		return v, nil
	})
}

func relayDeps(d *desk, watch func(*mcpcore.Call)) mcpcore.Deps {
	deps := d.deps()
	deps.Tools = append(deps.Tools, relaying(watch))
	return deps
}

// outcomes calls relay and gives each step's code, ok where there is none, with
// a mark where the handler ran.
func outcomes(t *testing.T, c *client, args string) string {
	t.Helper()
	a := c.passed(t, "relay", args)
	var all []string
	list, _ := a.data["outcomes"].([]any)
	for _, o := range list {
		o := o.(map[string]any)
		word := o["code"].(string)
		if word == "" {
			word = "ok"
		}
		if o["ran"] == true {
			word += "*"
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

const (
	deleteStep = `{"tool":"ticket_delete","args":{"ticket":7,"__confirm":true}}`
	updateStep = `{"tool":"ticket_update","args":` + goodUpdate + `}`
)

// TestL67StepPassesTheWholeChain: each gate counts in the step's own arguments,
// and no confirmation of the outer call covers a step.
func TestL67StepPassesTheWholeChain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, args, want string }{
		{"a step that is confirmed", `{"steps":[` + deleteStep + `]}`, "ok*"},
		{"a confirmation in neither", `{"steps":[{"tool":"ticket_delete","args":{"ticket":7}}]}`, "DRY_RUN_PREVIEW"},
		{"a confirmation of the whole", `{"steps":[{"tool":"ticket_delete","args":{"ticket":7}}],"__confirm":true}`, "DRY_RUN_PREVIEW"},
		{"a confirmation further down", `{"steps":[{"tool":"ticket_delete","args":{"ticket":7,"form":{"__confirm":true}}}]}`, "VALIDATION_FAILED"},
		{"arguments that are wrong", `{"steps":[{"tool":"ticket_update","args":{"titel":"x"}}]}`, "VALIDATION_FAILED"},
		{"an approval that is missing", `{"steps":[{"tool":"notice_send","args":` + goodUpdate + `}]}`, "PAYLOAD_CONFIRMATION_REQUIRED"},
		{"a step that makes steps", `{"steps":[{"tool":"relay","args":{"steps":[]}}]}`, "PIPELINE_RECURSION"},
		{"a tool that is not there", `{"steps":[{"tool":"ticket_updat","args":{}}]}`, "TOOL_NOT_AVAILABLE"},
		{"one after another", `{"steps":[` + updateStep + `,` + deleteStep + `]}`, "ok* ok*"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{}
			if got := outcomes(t, connect(t, relayDeps(d, nil)), row.args); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			if ran := len(d.runs()); ran != strings.Count(row.want, "*") {
				t.Errorf("%d handlers ran", ran)
			}
		})
	}
}

// One approval lets one step act, whichever pipeline it stands in.
func TestL67OneApprovalOneStep(t *testing.T) {
	t.Parallel()
	d := &desk{}
	c := connect(t, relayDeps(d, nil))
	step := `{"tool":"notice_send","args":` + confirmed(t, c) + `}`
	if got := outcomes(t, c, `{"steps":[`+step+`,`+step+`]}`); got != "ok* PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED" {
		t.Errorf("got %s", got)
	}
	if got := outcomes(t, c, `{"steps":[`+step+`]}`); got != "PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED" || len(d.runs()) != 1 {
		t.Errorf("again: %s, ran %v", got, d.runs())
	}
}

func TestL67StepMeetsTheLayers(t *testing.T) {
	t.Parallel()
	steps := `{"steps":[{"tool":"tickets_list","args":{}},` + updateStep + `]}`
	for _, row := range []struct {
		name string
		o    middleware.Options
		want string
	}{
		{"a category that is off", middleware.Options{Categories: []string{}}, "SCOPE_REJECTED SCOPE_REJECTED"},
		{"another guild", middleware.Options{Scope: middleware.Scope{Guilds: []discord.GuildID{"700000000000000009"}}}, "GUILD_SCOPE_UNRESOLVED GUILD_NOT_ALLOWED"},
		{"a default guild", middleware.Options{DefaultGuild: guild, Scope: middleware.Scope{Guilds: []discord.GuildID{guild}}}, "ok* ok*"},
	} {
		d := &desk{}
		deps := relayDeps(d, nil)
		deps.Tools = []mcpcore.Tool{d.list(), d.update(), relaying(nil)}
		deps.Tools[2].Category = "meta"
		deps.Chain = middleware.Standard(row.o)
		if got := outcomes(t, connect(t, deps), steps); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	deps := relayDeps(&desk{}, nil)
	deps.Chain = middleware.Standard(middleware.Options{PreviewOnly: true})
	connect(t, deps).refused(t, "relay", `{"steps":[{"tool":"tickets_list","args":{}}]}`, mcpcore.CodeWritePreview)
}

// What a call did not declare it cannot do.
func TestStepsAreTheDeclaredOnes(t *testing.T) {
	t.Parallel()
	const two = `{"steps":[` + updateStep + `,{"tool":"tickets_list","args":{},"depends":true,"give":{"limit":5}}]`
	for _, row := range []struct{ name, args, want string }{
		{"in another order", two + `,"make":[1,0]}`, "ok* ok*"},
		{"twice", two + `,"make":[0,0]}`, "ok* INTERNAL_ERROR"},
		{"one more", two + `,"make":[2,-1]}`, "INTERNAL_ERROR INTERNAL_ERROR"},
		{"other arguments", `{"steps":[{"tool":"tickets_list","args":{},"give":{"limit":5}}]}`, "INTERNAL_ERROR"},
		{"no arguments", `{"steps":[{"tool":"tickets_list","args":{},"depends":true}]}`, "INTERNAL_ERROR"},
	} {
		d := &desk{}
		if got := outcomes(t, connect(t, relayDeps(d, nil)), row.args); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	var kept *mcpcore.Call
	d := &desk{}
	outcomes(t, connect(t, relayDeps(d, func(c *mcpcore.Call) { kept = c })), two+`,"make":[]}`)
	if o := kept.Step(t.Context(), 0, nil); o.Err == nil || o.Err.Code != mcpcore.CodeInternal || d.runs() != nil {
		t.Errorf("a step of a call that has ended: %+v, ran %v", o, d.runs())
	}
}

func TestStepKnowsItsParent(t *testing.T) {
	t.Parallel()
	d, s := &desk{}, &sink{}
	deps := relayDeps(d, nil)
	deps.Audit = s
	var seen []string
	watch := lies("watch", "", func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if parent, i := c.Parent(); parent != nil {
			seen = append(seen, fmt.Sprintf("%s %d of %s, %s", c.Tool().Name, i, parent.Tool().Name, strings.TrimPrefix(c.ID(), parent.ID())))
		} else {
			seen = append(seen, fmt.Sprintf("%s %s with %d steps", c.Tool().Name, c.Effect(), len(c.Steps())))
		}
		return next(ctx, c)
	})
	deps.Chain = append(deps.Chain, watch)
	outcomes(t, connect(t, deps), `{"steps":[`+updateStep+`,`+deleteStep+`]}`)
	want := "[relay destroy with 2 steps ticket_update 0 of relay, .1 ticket_delete 1 of relay, .2]"
	if fmt.Sprint(seen) != want {
		t.Errorf("seen %v, want %s", seen, want)
	}
	phases := "relay intent  ;ticket_update intent  ;ticket_update outcome success ;ticket_delete intent  ;ticket_delete outcome success ;relay outcome success ;"
	if got := s.phases(); got != phases {
		t.Errorf("recorded %s, want %s", got, phases)
	}
	if s.events[0].Effect != "destroy" {
		t.Errorf("the whole is on record as %s", s.events[0].Effect)
	}
}

// Records and previews of the whole hide what the steps' tools hide.
func TestStepsHideWhatTheirToolsHide(t *testing.T) {
	t.Parallel()
	s := &sink{}
	deps := relayDeps(&desk{}, nil)
	deps.Audit = s
	connect(t, deps).passed(t, "relay", `{"steps":[
		{"tool":"ticket_delete","args":{"ticket":7,"reason":"canary-private","form":{"token":"canary-token"},"__confirm":true}},
		{"tool":"ticket_update","args":{"guild_id":"700000000000000001","title":"x","note":"canary-note"}},
		{"tool":"no_such_tool","args":{"x":"canary-unknown"}}]}`)
	want := `{"steps":[{"args":{"form":{"token":"[REDACTED:12ch]"},"reason":"[REDACTED:14ch]","ticket":7},"tool":"ticket_delete"},` +
		`{"args":{"guild_id":"700000000000000001","note":"[REDACTED:11ch]","title":"x"},"tool":"ticket_update"},` +
		`{"args":"[REDACTED:value]","tool":"no_such_tool"}]}`
	if got := string(s.events[0].Args); got != want {
		t.Errorf("recorded\n%s, want\n%s", got, want)
	}
	for _, e := range s.events {
		if strings.Contains(string(e.Args), "canary") {
			t.Errorf("the %s of %s holds %s", e.Phase, e.Tool, e.Args)
		}
	}
}

// A step takes no place beside its call's.
func TestStepsDoNotWaitForAPlace(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := relayDeps(d, nil)
	deps.InFlight = 1
	if got := outcomes(t, connect(t, deps), `{"steps":[`+updateStep+`,`+updateStep+`]}`); got != "ok* ok*" {
		t.Errorf("got %s", got)
	}
}

func TestCancelledCallMakesNoFurtherStep(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := relayDeps(d, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	deps.Tools[1] = acting(d, func(ctx context.Context, _ *mcpcore.Call) error {
		cancel()
		<-ctx.Done()
		return nil
	})
	deps.Chain = append([]mcpcore.Middleware{lies("ends", "", func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if parent, _ := c.Parent(); parent == nil {
			defer close(ended)
		}
		return next(ctx, c)
	})}, deps.Chain...)
	c := connect(t, deps)
	_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "relay", Arguments: json.RawMessage(`{"steps":[` + updateStep + `,` + deleteStep + `]}`)})
	if err == nil {
		t.Error("the cancelled call answers")
	}
	<-ended
	if ran := d.runs(); len(ran) != 1 || !strings.HasPrefix(ran[0], "ticket_update") {
		t.Errorf("ran %v", ran)
	}
}

func TestStepAsksNobody(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := relayDeps(d, nil)
	deps.Chain = append(deps.Chain, lies("asks", "", func(ctx context.Context, c *mcpcore.Call, next handlerFunc) (*mcpcore.Result, error) {
		if parent, _ := c.Parent(); parent != nil && (c.CanAsk(mcpcore.Elicitation) || c.CanAsk(mcpcore.Sampling)) {
			return nil, mcpcore.Errorf(mcpcore.CodeInternal, "a step could ask")
		}
		return next(ctx, c)
	}))
	for _, era := range eras {
		s := join(t, deps, era, answering(nil))
		if got := say(t, s, &mcp.CallToolParams{Name: "relay", Arguments: json.RawMessage(`{"steps":[` + updateStep + `]}`)}); !strings.Contains(got, `"code":""`) {
			t.Errorf("%s: %s", era, got)
		}
	}
}

func TestNearNameOfAStepIsNoHiddenOne(t *testing.T) {
	t.Parallel()
	for hidden, want := range map[bool]bool{false: true, true: false} {
		deps := relayDeps(&desk{}, nil)
		deps.Hide = func(t *mcpcore.Tool) bool { return hidden && t.Name == "tickets_list" }
		a := connect(t, deps).passed(t, "relay", `{"steps":[{"tool":"tickets_lost","args":{}}]}`)
		if got := strings.Contains(a.everything(), "tickets_list"); got != want {
			t.Errorf("hidden %t, named %t", hidden, got)
		}
	}
}

func TestToolThatOnlyReadsMakesNoSteps(t *testing.T) {
	t.Parallel()
	deps := relayDeps(&desk{}, nil)
	deps.Tools[len(deps.Tools)-1].Effect = mcpcore.Read
	if _, err := mcpcore.BuildServer(deps); err == nil || !strings.Contains(err.Error(), "makes steps, which may write") {
		t.Errorf("built: %v", err)
	}
}
