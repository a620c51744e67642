package mcpcore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/schema"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Effect is what a tool does to the world. Hints for clients, the gate and what
// is audited follow from it. The zero value is not an effect and does not build.
type Effect int

// The effects.
const (
	Read    Effect = iota + 1 // changes nothing
	Write                     // changes something that can be changed back
	Destroy                   // removes what cannot be brought back, or shuts people out
)

// String is the effect in one word.
func (e Effect) String() string {
	if e < Read || e > Destroy {
		return "unknown"
	}
	return [...]string{"read", "write", "destroy"}[e-1]
}

// Gate is what a call must bring beside its arguments before it acts.
type Gate int

// The gates.
const (
	ByEffect Gate = iota // two keys for Destroy, none otherwise
	NoGate               // nothing
	TwoKey               // the operator's MCP_DRY_RUN=false and the call's __confirm
	Payload              // a one-time approval of exactly this payload
	Consent              // a one-time approval of exactly this recipient
	Reviewed             // a plan that was reviewed before
)

// String is the gate as documents and golden files write it.
func (g Gate) String() string {
	if g < ByEffect || g > Reviewed {
		return "unknown"
	}
	return [...]string{"by effect", "none", "two-key", "payload", "consent", "reviewed"}[g]
}

// fields are the authorization fields that the gate itself gives a meaning to.
func (g Gate) fields() []string {
	switch g {
	case TwoKey:
		return args.Authorization[:1]
	case Payload:
		return args.Authorization[:3]
	}
	return nil
}

// authorization is how the authorization fields are published.
var authorization = map[string]*schema.Schema{
	"__confirm":      {Type: "boolean", Description: "true to act, after a person has seen the preview"},
	"__confirm_hash": {Type: "string", Description: "payload_hash of the preview"},
	"__confirm_id":   {Type: "string", Description: "approval_id of the preview"},
	"__consent":      {Type: "boolean", Description: "true once the recipient agreed to be written to"},
	"__consent_hash": {Type: "string", Description: "consent_hash of the refusal"},
	"__consent_id":   {Type: "string", Description: "consent_id of the refusal"},
}

// Scope is the kind of thing a call acts on. It is stated, never inferred.
type Scope int

// The scopes.
const (
	GuildScope       Scope = iota + 1 // one guild
	ChannelScope                      // one channel, and through it a guild
	ApplicationScope                  // the bot's application, in every guild
	UserScope                         // one user, outside guilds
	GlobalScope                       // Discord as a whole
	LocalScope                        // nothing outside this process
	ExternalScope                     // a service other than Discord
)

// String is the scope in one word.
func (s Scope) String() string {
	if s < GuildScope || s > ExternalScope {
		return "unknown"
	}
	return [...]string{"guild", "channel", "application", "user", "global", "local", "external"}[s-1]
}

// Tool is one thing an agent can call: its declaration, which is data, and its
// handler. Make one with [Define]. Tools are values: copy, filter and pass them
// on freely; changing a field of a copy changes that copy alone.
type Tool struct {
	Name     string // ^[a-z][a-z0-9_]{0,63}$, unique in a server
	Title    string // for people, in a few words
	Doc      string // for agents: what it does, what to beware of, which tool instead; white space is folded
	Category string // what it is switched on and off with
	Part     Part   // what it is in a reviewed workflow

	Effect     Effect
	Gate       Gate
	Person     bool // a person must approve each call, whatever the policies say
	Repeatable bool // a repetition has the same effect
	Scope      Scope

	Needs     discord.Permissions // what the bot needs in the target
	NeedsWhen []Need              // what an argument adds to it
	Intents   discord.Intents     // what the application needs
	NeedsIn   string              // the argument naming the channel or guild in which Needs counts; "" is every channel that a top-level argument names
	Outranks  string              // the argument naming users or roles that the bot must stand above
	Routes    []string            // the routes it may use, "METHOD /template", none for a local tool

	Crosses   bool // one call may touch several guilds
	Anonymous bool // it acts by a token in its arguments, not as the bot: what the bot may do is beside the point
	Unlocked  bool // of ApplicationScope: it works without the identity lock, since it tells only which bot this is
	Locked    bool // of another scope: it acts as the application there, and needs the identity lock as well

	Packed  Packed         // an argument that carries others
	Rules   []Rule         // rules between arguments, checked after the schema
	Redact  []string       // arguments whose values are private: kept out of audits and previews
	Require []Precondition // checked in layer 9, in this order, before those of policies

	// Facts reads what a person must see before the call acts: names, kinds and
	// counts of what will be hit. nil for none.
	Facts func(ctx context.Context, call *Call) (Facts, error)
	// Pictures draws, for the person who decides, what the call makes of things. It
	// follows from the call and its facts alone. nil draws nothing.
	Pictures func(ctx context.Context, call *Call) ([]Picture, error)
	// Payload says what an approval binds and what is shown of it, for tools
	// whose gate is [Payload]. It looks at the call alone. nil binds the
	// arguments.
	Payload func(call *Call) (PayloadReview, error)

	// Steps lists the calls of other tools that a call of this one may make, from
	// its frozen arguments; see [Step]. It is asked once per call and changes
	// nothing; its error refuses the call. nil for a tool that makes none.
	Steps func(call *Call) ([]Step, error)

	impl *impl
}

// Packed is a text argument that carries other arguments as one JSON object. It
// is unpacked when the call is made, so that they go through every guard as if
// they had been given one by one. The zero value is none.
type Packed struct {
	Arg   string   // the argument
	Names []string // the arguments that it may carry
}

// Need is a permission that an argument calls for. Of the needs of one argument
// those whose Equals is met go before all others.
type Need struct {
	Arg         string // a top-level argument
	Equals      string // the JSON value it must have; "" for any value
	Unless      string // the JSON value with which it does not call for it; "" for none
	Permissions discord.Permissions
}

// Handler acts on a call. A nil error with a nil result is a fault of the
// handler.
type Handler func(ctx context.Context, call *Call) (*Result, error)

// impl is what Define makes of a tool's types, shared by its copies.
type impl struct {
	input     *schema.Schema
	output    json.RawMessage
	ids       []idPath
	validator func() (*args.Validator, error)
	run       Handler
	flow      *flow // nil for a tool of no reviewed workflow
	err       error
}

// Define makes a tool from its declaration and a typed handler. The input
// schema is built from In's fields and tags (see [Input] below), the output
// schema from Out's. A fault in either is reported by [BuildServer], which
// names the tool.
//
// # Input
//
// In is a struct. A field needs a json name and should have a jsonschema tag,
// which is its description. A field with omitempty is optional; a pointer field
// also takes null, which clears. Constraints are tags named after JSON Schema's
// keywords: minimum, maximum, minLength, maxLength, minItems, maxItems,
// uniqueItems, pattern, format, enum (comma list), default (stated, not filled
// in). Any other tag is an error. The types of package discord bring their own
// schema.
//
// # Output
//
// Out is a struct; it is what the agent sees. Nil lists are sent as []. When
// *Out has a method Text() string, that is the text for clients that show no
// structured content; otherwise it is the JSON itself.
func Define[In, Out any](t Tool, run func(ctx context.Context, call *Call, in In) (Out, error)) Tool {
	var handler Handler
	if run != nil {
		handler = typed(run)
	}
	return New(t, reflect.TypeFor[In](), reflect.TypeFor[Out](), handler)
}

func typed[In, Out any](run func(ctx context.Context, call *Call, in In) (Out, error)) Handler {
	return func(ctx context.Context, call *Call) (*Result, error) {
		var in In
		if err := call.Bind(&in); err != nil {
			return nil, err
		}
		out, err := run(ctx, call, in)
		if err != nil {
			return nil, err
		}
		return View(&out)
	}
}

// New is [Define] for packages that have a grammar of declarations of their
// own: the handler is untyped, and the struct tags named in tags are allowed
// beside JSON Schema's.
func New(t Tool, in, out reflect.Type, run Handler, tags ...string) Tool {
	m := &impl{run: run}
	t.impl = m
	success, outErr := schema.Of(out, tags...)
	if outErr != nil {
		outErr = fmt.Errorf("output: %w", outErr)
	}
	input, inErr := schema.Of(in, tags...)
	if inErr == nil {
		m.ids, inErr = idPaths(input, nil)
	}
	if inErr != nil {
		inErr = fmt.Errorf("input: %w", inErr)
	}
	if m.err = errors.Join(outErr, inErr); m.err != nil {
		return t
	}
	m.input, m.output = input, schema.Output(success)
	m.validator = sync.OnceValues(func() (*args.Validator, error) { return args.Compile(m.input) })
	return t
}

// Broken is a tool that [BuildServer] refuses with err, for packages whose
// grammar of declarations finds a fault before there is a tool.
func Broken(t Tool, err error) Tool {
	t.impl = &impl{err: err}
	return t
}

func (t *Tool) flow() *flow {
	if t.impl == nil {
		return nil
	}
	return t.impl.flow
}

// EffectiveGate is the tool's gate with [ByEffect] resolved.
func (t *Tool) EffectiveGate() Gate {
	switch {
	case t.Gate != ByEffect:
		return t.Gate
	case t.Effect == Destroy:
		return TwoKey
	}
	return NoGate
}

// Takes reports whether the tool declares the top-level argument.
func (t *Tool) Takes(arg string) bool {
	if t.impl == nil || t.impl.input == nil {
		return false
	}
	_, ok := t.impl.input.Property(arg)
	return ok
}

// Description is the text agents read: the doc, then what follows from the
// declaration.
func (t *Tool) Description() string {
	parts := []string{strings.Join(strings.Fields(t.Doc), " ")}
	for _, r := range t.Rules {
		if r.Doc != "" {
			parts = append(parts, r.Doc)
		}
	}
	switch t.EffectiveGate() {
	case TwoKey:
		parts = append(parts, "Without __confirm it only previews.")
	case Payload:
		parts = append(parts, "The first call previews; the second confirms exactly that payload.")
	}
	return strings.Join(parts, " ")
}

// InputSchema is the JSON Schema that is published for the arguments, with the
// authorization fields of the tool's gate. Arguments named in filled are
// published as optional, because a layer fills them in. nil for a tool that was
// not made with [Define].
func (t *Tool) InputSchema(filled ...string) json.RawMessage {
	return t.inputSchema(filled, t.EffectiveGate().fields())
}

func (t *Tool) inputSchema(filled, fields []string) json.RawMessage {
	if t.impl == nil || t.impl.input == nil {
		return nil
	}
	s := t.impl.input.Clone()
	for i, p := range s.Properties {
		for _, name := range filled {
			if p.Name == name {
				s.Properties[i].Required = false
			}
		}
	}
	for _, name := range fields {
		s.Properties = append(s.Properties, schema.Property{Name: name, Schema: authorization[name]})
	}
	return s.JSON()
}

// OutputSchema is the JSON Schema that is published for the result.
func (t *Tool) OutputSchema() json.RawMessage {
	if t.impl == nil {
		return nil
	}
	return t.impl.output
}

// Compile builds the tool's validator now instead of on its first call. Tests
// use it to find schemas that do not compile.
func (t *Tool) Compile() error {
	switch {
	case t.impl == nil:
		return fmt.Errorf("%s: not made with Define", t.Name)
	case t.impl.err != nil:
		return fmt.Errorf("%s: %w", t.Name, t.impl.err)
	}
	_, err := t.impl.validator()
	return err
}

// Rule is a rule between several arguments, which a flat schema cannot state.
type Rule struct {
	Doc   string // a sentence added to the tool's description; "" for none
	Check func(call *Call) *Issue
	All   func(call *Call) []Issue // instead of Check, for a rule that finds several things at once
}

func (r Rule) issues(call *Call) []Issue {
	if r.All != nil {
		return r.All(call)
	}
	if i := r.Check(call); i != nil {
		return []Issue{*i}
	}
	return nil
}

// Exclusive demands at most one of the arguments.
func Exclusive(names ...string) Rule {
	doc := "Give at most one of " + strings.Join(names, ", ") + "."
	return Rule{Doc: doc, Check: func(call *Call) *Issue {
		var given []string
		for _, n := range names {
			if call.Has(n) {
				given = append(given, n)
			}
		}
		if len(given) < 2 {
			return nil
		}
		return &Issue{Path: given[1], Message: "excludes " + given[0] + "; give one of them", Code: IssueRule}
	}}
}

// AnyOf demands at least one of the arguments. An empty text or list does not
// count.
func AnyOf(names ...string) Rule {
	doc := "Give at least one of " + strings.Join(names, ", ") + "."
	return Rule{Doc: doc, Check: func(call *Call) *Issue {
		for _, n := range names {
			if v, ok := call.Arg(n); ok && string(v) != `""` && string(v) != "[]" {
				return nil
			}
		}
		return &Issue{Message: "give at least one of " + strings.Join(names, ", "), Code: IssueRule}
	}}
}

// Requires demands the argument other wherever the argument name is given.
func Requires(name, other string) Rule {
	return Rule{Doc: name + " needs " + other + ".", Check: func(call *Call) *Issue {
		if !call.Has(name) || call.Has(other) {
			return nil
		}
		return &Issue{Path: other, Message: "is required when " + name + " is given", Code: IssueRule}
	}}
}

// compact is v as canonical JSON.
func compact(v any) json.RawMessage { return canon.Append(nil, v) }
