package mcpcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/schema"
)

// The arguments that the engine adds.
const (
	keyArg  = "operationKey"
	planArg = "planDigest"
)

const (
	keyPattern  = `^[A-Za-z0-9][A-Za-z0-9._:-]{15,127}$`
	planPattern = `^hmac-sha256:[0-9a-f]{64}$`
)

// flow is a workflow with its types put away: what the engine runs. It is shared
// by the workflow's tools and is not changed.
type flow struct {
	name   string
	effect Effect
	scopes []PolicyScope
	limits []PolicyLimit
	takes  time.Duration
	parent bool // its writes are children

	// bind decodes the call's arguments once for the run that follows.
	bind func(c *Call) (errand, error)
}

// errand is one call's way through a flow's functions.
type errand interface {
	// plan reads anew; the functions below go by the plan that was made last.
	plan(ctx context.Context) (outline, error)
	targets() []Target
	children() []child
	apply(ctx context.Context) (Written, error)
	readBack(ctx context.Context, w Written) (Reading, error)
	verify(ctx context.Context, r Receipt) (Reading, error)
}

// outline is a Change without its type.
type outline struct {
	action   string
	current  bool
	state    any // a pointer
	affected []Affected
	estimate int
	facts    Facts
	unbound  Facts
	pictures []Picture
	warnings []string
	risks    []string
	more     bool
	view     func(planHead) (*Result, error)
}

type typedErrand[In, State any] struct {
	op    *Operation[In, State]
	call  *Call
	in    In
	state State
}

func (e *typedErrand[In, State]) plan(ctx context.Context) (outline, error) {
	ch, err := e.op.Plan(ctx, e.call, e.in)
	if err != nil {
		return outline{}, err
	}
	e.state = ch.State
	return outline{
		ch.Action, ch.Current, &ch.State, ch.Affected, ch.Estimate, ch.Facts, ch.Unbound, ch.Pictures, ch.Warnings, ch.Risks, ch.More,
		func(h planHead) (*Result, error) { return View(&planView[State]{h, ch.State}) },
	}, nil
}

func (e *typedErrand[In, State]) targets() []Target { return e.op.Targets(e.in, e.state) }

func (e *typedErrand[In, State]) children() (all []child) {
	if e.op.Children == nil {
		return nil
	}
	for _, c := range e.op.Children(e.in, e.state) {
		all = append(all, child{c.Name, c.Current, &typedErrand[In, State]{e.op, e.call, e.in, c.State}})
	}
	return all
}

func (e *typedErrand[In, State]) apply(ctx context.Context) (Written, error) {
	return e.op.Apply(ctx, e.call, e.in, e.state)
}

func (e *typedErrand[In, State]) readBack(ctx context.Context, w Written) (Reading, error) {
	return e.op.ReadBack(ctx, e.call, e.in, e.state, w)
}

func (e *typedErrand[In, State]) verify(ctx context.Context, r Receipt) (Reading, error) {
	return e.op.Verify(ctx, e.call, e.in, r)
}

var (
	workflowName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	nounName     = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// Workflow makes the workflow. A fault in the declaration is reported by
// [BuildServer], which names the tool.
func (o Operation[In, State]) Workflow() Workflow {
	w := Workflow{Name: o.Name, Category: o.Category, Title: o.Title, Effect: o.Effect, Scopes: slices.Clone(o.Scopes), Limits: slices.Clone(o.Limits)}
	f := &flow{name: o.Name, effect: o.Effect, scopes: w.Scopes, limits: w.Limits, takes: cmp.Or(o.Takes, writeFor), parent: o.Children != nil}
	f.bind = func(c *Call) (errand, error) {
		e := &typedErrand[In, State]{op: &o, call: c}
		return e, c.Bind(&e.in)
	}
	noun := cmp.Or(o.Noun, strings.ReplaceAll(o.Name, "-", "_"))
	in := reflect.TypeFor[In]()
	tool := func(role Role, effect Effect, gate Gate, name, title, doc string, out reflect.Type, run Handler) Tool {
		t := o.Tool
		t.Name, t.Category, t.Part = name, o.Category, Part{Workflow: o.Name, Role: role}
		t.Title, t.Doc = title, doc
		t.Effect, t.Gate, t.Scope = effect, gate, o.Scope
		t.Repeatable = effect == Read
		t.Redact = append(slices.Clone(o.Redact), keyArg)
		t.Rules = slices.Clone(o.Rules)
		for _, arg := range o.Acknowledge {
			t.Rules = append(t.Rules, acknowledged(arg))
		}
		t.Require = append([]Precondition{f.permit(gate, o.Protects)}, o.Tool.Require...)
		t = New(t, in, out, run)
		t.impl.flow = f
		if t.impl.err == nil {
			t.impl.input = withKey(t.impl.input, role == Execute)
			t.impl.validator = sync.OnceValues(func() (*args.Validator, error) { return args.Compile(t.impl.input) })
		}
		if err := o.fault(noun); err != nil {
			t.impl.err = errors.Join(t.impl.err, err)
		}
		return t
	}
	execute := cmp.Or(o.Executes, "execute_"+noun)
	p := tool(Plan, Read, NoGate, "plan_"+noun, "Plan: "+o.Title,
		o.Doc+" This plans it and changes nothing. "+execute+" takes the same arguments, with the digest as planDigest.",
		reflect.TypeFor[planView[State]](), f.servePlan)
	e := tool(Execute, o.Effect, Reviewed, execute, o.Title,
		o.Doc+" Plans, shows the plan to a person, and does it once when they approve. Keep operationKey: it names this intent and is spent for ever; after an outcome-uncertain nothing may be repeated.",
		reflect.TypeFor[executed](), f.serveExecute)
	if f.effect == Destroy {
		e.Doc += " Needs a server that is armed."
	}
	e.Facts = func(ctx context.Context, c *Call) (Facts, error) {
		ready, err := c.prepare(ctx)
		if err != nil {
			return nil, err
		}
		return ready.facts, nil
	}
	w.tools, w.prompt = []Tool{p, e}, reviewPrompt(noun, o.Title, &p, &e, o.Acknowledge)
	if o.Verify != nil {
		w.tools = append(w.tools, tool(Verify, Read, NoGate, "verify_"+noun, "Verify: "+o.Title,
			"Looks whether what "+execute+" did with these arguments and this operationKey still holds.",
			reflect.TypeFor[verified](), f.serveVerify))
	}
	for _, t := range o.Companions {
		w.tools = append(w.tools, f.beside(t))
	}
	for _, t := range o.Audits {
		t.Part = Part{Workflow: o.Name, Role: Audit}
		w.tools = append(w.tools, t)
	}
	return w
}

// beside is a companion that is there when the workflow is, and acts where the
// workflow may.
func (f *flow) beside(t Tool) Tool {
	t.Part = Part{Workflow: f.name, Role: Companion}
	t.Require = append([]Precondition{f.permit(NoGate, nil)}, t.Require...)
	if t.impl != nil {
		m := *t.impl
		m.flow, t.impl = f, &m
	}
	return t
}

// fault is what is wrong with the declaration beyond what is wrong with its
// tools.
func (o *Operation[In, State]) fault(noun string) error {
	var problems []error
	problem := func(format string, with ...any) { problems = append(problems, fmt.Errorf(format, with...)) }
	if !workflowName.MatchString(o.Name) || !nounName.MatchString(noun) {
		problem("the workflow %q is not named in lower-case words", o.Name)
	}
	if o.Effect != Write && o.Effect != Destroy {
		problem("a workflow writes or destroys")
	}
	if o.Plan == nil || o.Targets == nil || o.Apply == nil || o.ReadBack == nil {
		problem("a workflow needs Plan, Targets, Apply and ReadBack")
	}
	if o.Takes < 0 || o.Takes > maxWrite {
		problem("a write takes at most %s", maxWrite)
	}
	if len(o.Scopes) == 0 {
		problem("a workflow needs Scopes, so that an operator can say where it may act")
	}
	fields, err := schema.Of(reflect.TypeFor[In]())
	if err != nil {
		return errors.Join(problems...) // which the tool reports
	}
	has := func(arg, kind string) bool {
		p, ok := fields.Property(arg)
		return ok && (kind == "" || p.Schema.Type == kind)
	}
	for _, s := range o.Scopes {
		if s.Name == "" || s.Arg != "" && !has(s.Arg, "") {
			problem("the scope %q speaks of %q, which is not an argument", s.Name, s.Arg)
		}
	}
	for _, s := range o.Scopes {
		if _, err := regexp.Compile(s.Pattern); err != nil {
			problem("the pattern of the scope %q: %w", s.Name, err)
		}
	}
	for _, l := range o.Limits {
		if l.Name == "" || l.Default < 0 || l.Max < l.Default {
			problem("the limit %q is not between 0 and its maximum", l.Name)
		}
	}
	for _, arg := range o.Protects {
		if !has(arg, "") {
			problem("Protects speaks of %q, which is not an argument", arg)
		}
	}
	for _, arg := range o.Acknowledge {
		if !has(arg, "boolean") {
			problem("Acknowledge speaks of %q, which is not a boolean argument", arg)
		}
	}
	if has(keyArg, "") || has(planArg, "") {
		problem("%s and %s are the engine's own arguments", keyArg, planArg)
	}
	return errors.Join(problems...)
}

// acknowledged demands an argument that is true.
func acknowledged(arg string) Rule {
	return Rule{Check: func(c *Call) *Issue {
		if c.args[arg] == true {
			return nil
		}
		return &Issue{Path: arg, Message: "must be true: it says that this consequence is wanted", Code: IssueRule}
	}}
}

// withKey is the input with the engine's own arguments.
func withKey(s *schema.Schema, digest bool) *schema.Schema {
	s = s.Clone()
	s.Properties = append(s.Properties, schema.Property{Name: keyArg, Required: true, Schema: &schema.Schema{
		Type: "string", Pattern: keyPattern, Description: "names this intent, such as a UUID; keep it",
	}})
	if digest {
		s.Properties = append(s.Properties, schema.Property{Name: planArg, Schema: &schema.Schema{
			Type: "string", Pattern: planPattern, Description: "digest of a plan made before; it must still be the same",
		}})
	}
	return s
}
