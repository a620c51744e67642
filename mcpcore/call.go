package mcpcore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/redact"
)

// Call is one call of a tool on its way through the chain. Its arguments are
// frozen by [Call.Validate]: what was validated is what is checked, approved,
// recorded and sent.
//
// Calls are made by the server. A call belongs to one goroutine at a time,
// except for [Call.Evidence], which is safe for concurrent use.
type Call struct {
	id            string
	tool          *Tool
	needs         guards
	preconditions []Precondition
	principal     string
	transport     string

	deps    *Deps
	guard   guards
	auth    map[string]any // the authorization fields as sent
	args    map[string]any // frozen after Validate
	raw     json.RawMessage
	fault   *Issue // why the raw arguments could not be read
	refused *Error // before the chain; nil for a call that may pass
	extra   []string
	filled  []string // arguments that a layer supplied

	passed  []atomic.Bool // the doors of the chain that were used; shared by copies of the call
	pledged []pledge      // what the interlock spends
	spent   bool
	started time.Time
	span    trace.SpanContext // of the call, for what is logged behind the chain
	event   *AuditEvent

	person     bool   // a person must approve it
	approver   string // who did
	unexpected bool   // confirmed without a preview

	core    *core
	surface *surface  // of the server that was called; nil for a call refused before the chain
	parent  *Call     // nil for a call that came from a client
	step    int       // of parent
	steps   []planned // what it may do by Step
	acting  bool      // its handler is running
	reached *atomic.Bool
	made    time.Time
	client  *client // nil for a step of another call
	reply   *reply  // to the question of an earlier run; nil for a first one

	ready    *prepared           // the plan of a reviewed workflow's tool; nil before it was made
	children map[KeyHash]Receipt // of the operation key, as they were before that plan
	resumes  bool                // the key is paused, and the call goes on with it

	mu       sync.Mutex
	evidence map[EvidenceRef]evidenceOnce
	facts    func(context.Context) (Facts, error)
}

func newCall(deps *Deps, b *bound, id, principal string, raw json.RawMessage) *Call {
	c := &Call{
		id: id, tool: &b.tool, needs: b.needs, preconditions: b.preconditions, person: b.person,
		principal: principal, transport: deps.Transport, deps: deps, passed: make([]atomic.Bool, len(deps.Chain)+1),
		core: b.core, reached: new(atomic.Bool), made: time.Now(),
	}
	c.args, c.fault = decode(raw)
	if c.fault == nil {
		c.auth = args.TakeAuthorization(c.args)
	}
	if p := c.tool.Packed; c.fault == nil && p.Arg != "" {
		if fault := args.Unpack(c.args, p.Arg, p.Names); fault != nil {
			i := Issue(*fault)
			c.fault = &i
		}
	}
	return c
}

// ID is unique; it is the request id of audits and logs.
func (c *Call) ID() string { return c.id }

// Tool is what is called. It must not be changed.
func (c *Call) Tool() *Tool { return c.tool }

// Principal is who asks: a verified user's id, or "stdio". It is part of every
// fingerprint.
func (c *Call) Principal() string { return c.principal }

// Transport is "stdio", "http" or what the embedder says.
func (c *Call) Transport() string { return c.transport }

func decode(raw json.RawMessage) (map[string]any, *Issue) {
	object, fault := args.Parse(raw)
	if fault != nil {
		i := Issue(*fault)
		return nil, &i
	}
	return object, nil
}

// Has reports whether the top-level argument was given. Before [Call.Validate]
// it answers for the raw arguments.
func (c *Call) Has(name string) bool {
	_, ok := c.args[name]
	return ok
}

// Arg is the canonical JSON of a top-level argument.
func (c *Call) Arg(name string) (json.RawMessage, bool) {
	v, ok := c.args[name]
	if !ok {
		return nil, false
	}
	return compact(v), true
}

// Now is the time by the clock of the assembly.
func (c *Call) Now() time.Time { return c.deps.Clock() }

// Text is a top-level argument that is text, or "".
func (c *Call) Text(name string) string {
	s, _ := c.args[name].(string)
	return s
}

// Names lists the top-level arguments that were given, sorted.
func (c *Call) Names() []string { return slices.Sorted(maps.Keys(c.args)) }

// Args is the arguments as canonical JSON, without authorization fields. It is
// nil before [Call.Validate]. The caller owns the copy.
func (c *Call) Args() json.RawMessage { return slices.Clone(c.raw) }

// Bind decodes the frozen arguments into a struct. A value that the struct's Go
// type cannot hold is VALIDATION_FAILED.
func (c *Call) Bind(in any) error {
	err := json.Unmarshal(c.raw, in)
	if unfit, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		e := Invalid(Issue{Path: unfit.Field, Message: "does not fit a value of type " + unfit.Type.String(), Code: IssueType})
		e.Cause = err
		return e
	}
	if err != nil {
		return fmt.Errorf("bind arguments of %s: %w", c.tool.Name, err)
	}
	return nil
}

// Default fills an absent top-level argument that the tool declares. Null is
// absent too, unless the argument takes null. It does nothing once the
// arguments are frozen.
func (c *Call) Default(name, value string) {
	if c.guard.has(guardValidate) || c.fault != nil || c.tool.impl == nil {
		return
	}
	p, declared := c.tool.impl.input.Property(name)
	given, ok := c.args[name]
	if declared && (!ok || given == nil && !p.Schema.Nullable) {
		c.args[name] = value
		c.filled = append(c.filled, name)
	}
}

// Filled reports whether a layer supplied the top-level argument by
// [Call.Default], so that the caller did not name it.
func (c *Call) Filled(name string) bool { return slices.Contains(c.filled, name) }

// Confirmed reports whether the call carries __confirm as exactly the boolean
// true.
func (c *Call) Confirmed() bool { return c.auth["__confirm"] == true }

// Consented reports whether the call carries __consent as exactly the boolean
// true.
func (c *Call) Consented() bool { return c.auth["__consent"] == true }

// Authorization is a text field of the call's authorization, or "".
func (c *Call) Authorization(name string) string {
	s, _ := c.auth[name].(string)
	return s
}

// Dropped lists unknown arguments that a reading tool was given and ignored.
func (c *Call) Dropped() []string { return slices.Clone(c.extra) }

// Preview is the arguments as they may be shown and stored: redacted, without
// authorization fields. It is an empty object before [Call.Validate], when
// nobody knows yet which of them are private.
func (c *Call) Preview() json.RawMessage {
	if !c.guard.has(guardValidate) {
		return json.RawMessage("{}")
	}
	return compact(c.conceal(redact.Tree(c.args, c.tool.Redact)))
}

// Facts reads the tool's facts, once per call. An error is an [*Error]: what is
// not one came from below and is none of the caller's business.
func (c *Call) Facts(ctx context.Context) (Facts, error) {
	if c.tool.Facts == nil {
		return nil, nil
	}
	c.mu.Lock()
	if c.facts == nil {
		c.facts = onceFacts(c)
	}
	facts := c.facts
	c.mu.Unlock()
	return facts(ctx)
}

func onceFacts(c *Call) func(context.Context) (Facts, error) {
	var once sync.Once
	var facts Facts
	var err error
	return func(ctx context.Context) (Facts, error) {
		once.Do(func() {
			err = errors.New("reading the facts panicked") // what a second caller gets then
			if facts, err = c.tool.Facts(ctx, c); err != nil {
				facts, err = nil, classify(ctx, err)
			}
		})
		return facts, err
	}
}

// Evidence asks the resolver for the kind, once per call and key. What was
// asked is noted in the audit event.
func (c *Call) Evidence(ctx context.Context, kind EvidenceKind, key string) (Evidence, error) {
	ref := EvidenceRef{Kind: kind, Key: key}
	c.mu.Lock()
	if c.evidence == nil {
		c.evidence = map[EvidenceRef]evidenceOnce{}
	}
	ask, ok := c.evidence[ref]
	if !ok {
		ask = askOnce(c.deps.resolver(kind), ref)
		c.evidence[ref] = ask
	}
	c.mu.Unlock()
	return ask(ctx)
}

type evidenceOnce func(context.Context) (Evidence, error)

func askOnce(r EvidenceResolver, ref EvidenceRef) evidenceOnce {
	var once sync.Once
	var e Evidence
	var err error
	return func(ctx context.Context) (Evidence, error) {
		once.Do(func() {
			if r == nil {
				err = fmt.Errorf("no resolver for evidence %q", ref.Kind)
				return
			}
			err = fmt.Errorf("the resolver of evidence %q panicked", ref.Kind) // what a second caller gets then
			e, err = r.Resolve(ctx, ref)
		})
		return e, err
	}
}

func (c *Call) evidenceKinds() []EvidenceKind {
	c.mu.Lock()
	defer c.mu.Unlock()
	var kinds []EvidenceKind
	for ref := range c.evidence {
		if !slices.Contains(kinds, ref.Kind) {
			kinds = append(kinds, ref.Kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

func (c *Call) log(ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
	if c.deps == nil {
		return // a layer wiped the call
	}
	if !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, c.span)
	}
	c.deps.Logger.LogAttrs(ctx, level, msg, append(attrs, slog.String("tool", c.tool.Name), slog.String("request_id", c.id))...)
}
