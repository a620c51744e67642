package mcpcore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/redact"
)

// Step is a call of another tool of the same server that a call makes. A tool
// says with [Tool.Steps], before anything is done, which steps a call of it may
// make, and makes them with [Call.Step]; it can make no other. Whoever approves
// the call so knows all that can follow from it.
type Step struct {
	Tool string
	// Args are the step's arguments, its own __confirm fields included. Where the
	// step Depends, they are what is known of them.
	Args json.RawMessage
	// Depends says that the arguments depend on an earlier result and are given
	// to [Call.Step] only.
	Depends bool
	// At is where the arguments stand in the call's own, such as steps.0.args:
	// there previews and records hide what the step's tool hides. "" for nowhere.
	At string
}

// StepOutcome is how a step ended: the answer that a direct call would have got.
type StepOutcome struct {
	Data json.RawMessage // the structured content
	Text string
	Err  *Error // nil when it was done
	Ran  bool   // the step's handler was reached; otherwise nothing was done
}

// Arguments is the type of an argument that holds the arguments of a step. They
// are not looked into: the step's own validation does. It publishes an object.
type Arguments json.RawMessage

// JSONSchema is an object of any members.
func (Arguments) JSONSchema() string { return `{"type":"object","additionalProperties":true}` }

// MarshalJSON is the arguments themselves.
func (a Arguments) MarshalJSON() ([]byte, error) { return json.RawMessage(a).MarshalJSON() }

// UnmarshalJSON keeps a copy of raw.
func (a *Arguments) UnmarshalJSON(raw []byte) error {
	*a = slices.Clone(raw)
	return nil
}

// planned is a step that a call may make.
type planned struct {
	Step
	bound *bound // nil when there is no such tool
	made  bool
}

// plan asks the tool once for the steps of the frozen call.
func (c *Call) plan() error {
	if c.tool.Steps == nil {
		return nil
	}
	steps, err := c.tool.Steps(c)
	if err != nil {
		return err
	}
	c.steps = make([]planned, len(steps))
	for i, s := range steps {
		c.steps[i] = planned{Step: s, bound: c.stepTool(s.Tool)}
		if c.steps[i].person() {
			c.person = true
			c.needs |= guardApprove
		}
	}
	return nil
}

// stepTool is the tool of a step, nil when there is none or the session is not
// shown it: what cannot be called cannot be a step either.
func (c *Call) stepTool(name string) *bound {
	b := c.core.tools[name]
	if b == nil || c.surface != nil && !c.surface.shows(b) {
		return nil
	}
	return b
}

// person reports whether a person must approve the step: with the call that makes
// it, since a step asks nobody.
func (s *planned) person() bool { return s.bound != nil && s.bound.person }

// Steps are the steps that the call may make, in their order. It is nil before
// [Call.Validate].
func (c *Call) Steps() []Step {
	var all []Step
	for _, s := range c.steps {
		s.Args = slices.Clone(s.Args)
		all = append(all, s.Step)
	}
	return all
}

// Parent is the call that this one is a step of, and which of its Steps it is;
// nil for a call that came from a client.
func (c *Call) Parent() (parent *Call, step int) { return c.parent, c.step }

// Peer is a tool of the same server. It must not be changed.
func (c *Call) Peer(name string) (*Tool, bool) {
	b, ok := c.core.tools[name]
	if !ok {
		return nil, false
	}
	return &b.tool, true
}

// Effect is the greatest of the effects of the call's tool and of its steps.
func (c *Call) Effect() Effect {
	e := c.tool.Effect
	for _, s := range c.steps {
		if s.bound != nil {
			e = max(e, s.bound.tool.Effect)
		}
	}
	return e
}

// Step makes the step of the given index: a call of its own through the whole
// chain, with its own validation, scope, gates, audit and telemetry, by the same
// principal. Its request id is the call's with the step's number behind it. It
// takes no slot of Deps.InFlight beside the call's, ends with the call's
// deadline, and asks its client nothing.
//
// raw are the arguments of a step that Depends, nil of any other. A handler makes
// each step at most once, while it runs. A step that makes steps itself is
// PIPELINE_RECURSION, one whose tool is not there TOOL_NOT_AVAILABLE.
func (c *Call) Step(ctx context.Context, i int, raw json.RawMessage) StepOutcome {
	fault := func(why string) StepOutcome {
		return failed(Errorf(CodeInternal, "%s made a step that it may not make: %s", c.tool.Name, why))
	}
	switch {
	case !c.acting:
		return fault("it is not running")
	case i < 0 || i >= len(c.steps):
		return fault("it did not declare it")
	case c.steps[i].made:
		return fault("it was made already")
	case c.steps[i].Depends == (raw == nil):
		return fault("its arguments are not the ones declared")
	}
	s := &c.steps[i]
	s.made = true
	if err := s.fault(c); err != nil {
		return failed(err)
	}
	if raw == nil {
		raw = s.Args
	}
	call := newCall(c.deps, s.bound, c.id+"."+strconv.Itoa(i+1), c.principal, raw)
	call.parent, call.step, call.surface = c, i, c.surface
	res, err := c.core.run(ctx, call)
	if err != nil {
		o := failed(asError(err))
		o.Ran = call.reached.Load()
		return o
	}
	return outcome(res.reply(call), nil, true)
}

// StepFault is how a step must end whatever its arguments: its tool is not
// there, or makes steps itself. found is false for a step that may go well.
func (c *Call) StepFault(i int) (fault StepOutcome, found bool) {
	if i < 0 || i >= len(c.steps) {
		return StepOutcome{}, false
	}
	if err := c.steps[i].fault(c); err != nil {
		return failed(err), true
	}
	return StepOutcome{}, false
}

func (s *planned) fault(c *Call) *Error {
	switch {
	case s.bound == nil:
		names := make([]string, 0, len(c.core.tools))
		for name := range c.core.tools {
			if c.Shows(name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		e := Errorf(CodeToolNotAvailable, "there is no tool of that name")
		if near := args.Nearest(s.Tool, names); near != "" {
			e.Detail += fmt.Sprintf("; did you mean %q?", near)
		}
		return e
	case s.bound.tool.Steps != nil:
		return Errorf(CodeRecursion, "%s makes steps itself", s.bound.tool.Name)
	}
	return nil
}

func failed(e *Error) StepOutcome { return outcome(e.envelope(), e, false) }

func outcome(res *mcp.CallToolResult, err *Error, ran bool) StepOutcome {
	o := StepOutcome{Err: err, Ran: ran}
	o.Data, _ = res.StructuredContent.(json.RawMessage)
	for _, content := range res.Content {
		if t, ok := content.(*mcp.TextContent); ok {
			o.Text += t.Text
		}
	}
	return o
}

// conceal hides in shown, the redacted copy of the arguments, what the tools of
// the steps hide. Arguments of a tool that is not there are hidden whole.
func (c *Call) conceal(shown any) any {
	for _, s := range c.steps {
		if s.At == "" {
			continue
		}
		shown = replaceAt(shown, strings.Split(s.At, "."), func(any) any {
			return s.shown(func(v any) any { return redact.Tree(v, s.bound.tool.Redact) })
		})
	}
	return shown
}

// shown is the step's arguments without authorization fields, as hide leaves
// them.
func (s *planned) shown(hide func(any) any) any {
	object, fault := args.Parse(s.Args)
	if s.bound == nil || fault != nil {
		return "[REDACTED:value]" // nobody knows what of them is private
	}
	args.TakeAuthorization(object)
	return hide(object)
}

// replaceAt replaces, in place, what stands at the path; where nothing does,
// nothing changes.
func replaceAt(v any, path []string, by func(any) any) any {
	if len(path) == 0 {
		return by(v)
	}
	switch v := v.(type) {
	case map[string]any:
		if inner, ok := v[path[0]]; ok {
			v[path[0]] = replaceAt(inner, path[1:], by)
		}
	case []any:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(v) {
			v[i] = replaceAt(v[i], path[1:], by)
		}
	}
	return v
}
