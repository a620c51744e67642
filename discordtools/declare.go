package discordtools

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// read, write and destroy declare a tool; the word is its effect. In is what an
// agent sends, Out what it sees; see docs/declaring.md for the grammar.
type (
	read[In, Out any]    spec[In, Out]
	write[In, Out any]   spec[In, Out]
	destroy[In, Out any] spec[In, Out]
)

// spec is a declaration without its effect.
type spec[In, Out any] struct {
	Name, Title, Doc string

	Route string   // "METHOD /template": sent by the plain rule, unless Run takes over
	Calls []string // every other route that Run and Facts may use

	Scope      mcpcore.Scope // zero is the category's
	Gate       mcpcore.Gate  // zero follows from the effect
	Repeatable bool          // stated for POST and PATCH; GET, PUT and DELETE always are
	Varies     bool          // it reads, and yet a repetition answers something else
	Needs      discord.Permissions
	NeedsWhen  []mcpcore.Need
	NeedsIn    string
	Intents    discord.Intents
	Outranks   string
	Crosses    bool
	Unlocked   bool
	Locked     bool
	Rules      []mcpcore.Rule
	Redact     []string
	Set        []added    // what the server adds to the body or query where the caller gave none
	Anonymous  bool       // sent without the bot's Authorization
	Fence      fence.Kind // kind of the text in the view; "" when Discord users write none of it

	// Steps lists the calls of other tools that Run may make.
	Steps func(call *mcpcore.Call) ([]mcpcore.Step, error)
	// Facts reads what a person must see before the call acts.
	Facts func(ctx context.Context, a *api) (mcpcore.Facts, error)
	// Pictures draws what the call makes of things, for the person who decides.
	Pictures func(ctx context.Context, a *api) ([]mcpcore.Picture, error)
	// Payload says what an approval binds, for tools whose gate is a payload.
	Payload func(call *mcpcore.Call) (mcpcore.PayloadReview, error)
	// Run replaces the plain rule, which is: send Route, project the reply.
	Run func(ctx context.Context, a *api, in In) (Out, error)
}

// declaration is any of the three.
type declaration interface {
	tool(s *shared, c category) mcpcore.Tool
}

// category is one subject's tools, one file.
type category struct {
	Name  string
	Scope mcpcore.Scope // of its tools that state none
	Tools []declaration
}

func (d read[In, Out]) tool(s *shared, c category) mcpcore.Tool {
	return build(mcpcore.Read, spec[In, Out](d), s, c)
}

func (d write[In, Out]) tool(s *shared, c category) mcpcore.Tool {
	return build(mcpcore.Write, spec[In, Out](d), s, c)
}

func (d destroy[In, Out]) tool(s *shared, c category) mcpcore.Tool {
	return build(mcpcore.Destroy, spec[In, Out](d), s, c)
}

// added is a member of the body, or of the query, that the server adds.
type added struct {
	Name  string
	Value func(call *mcpcore.Call) string // JSON, "" for nothing this time
}

// limit sends the page size that the schema states as the default, whatever
// Discord's own is.
func limit(n int) added {
	return added{"limit", func(*mcpcore.Call) string { return strconv.Itoa(n) }}
}

func build[In, Out any](effect mcpcore.Effect, d spec[In, Out], s *shared, c category) mcpcore.Tool {
	method, _, _ := strings.Cut(d.Route, " ")
	t := mcpcore.Tool{
		Name: d.Name, Title: d.Title, Doc: d.Doc, Category: c.Name,
		Effect: effect, Gate: d.Gate, Scope: c.Scope,
		Repeatable: !d.Varies && (d.Repeatable || effect == mcpcore.Read || repeats(method)),
		Needs:      d.Needs, NeedsWhen: d.NeedsWhen, NeedsIn: d.NeedsIn, Intents: d.Intents, Outranks: d.Outranks,
		Crosses: d.Crosses, Anonymous: d.Anonymous, Unlocked: d.Unlocked, Locked: d.Locked,
		Rules: d.Rules, Redact: d.Redact, Payload: d.Payload, Steps: d.Steps,
	}
	if d.Scope != 0 {
		t.Scope = d.Scope
	}
	if d.Route != "" {
		t.Routes = append(t.Routes, d.Route)
	}
	t.Routes = append(t.Routes, d.Calls...)

	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	p, err := newPlan(d.Route, in, out, d.Set)
	if err == nil && !d.Anonymous && slices.ContainsFunc(p.args, func(a placed) bool { return a.in == "bearer" }) {
		err = errors.New("a tool that takes a bearer token must be Anonymous")
	}
	if err != nil {
		return mcpcore.Broken(t, err)
	}
	t.Rules = append(t.Rules, p.rules...)
	t.Packed = p.packed()
	if p.own && !slices.Contains(t.Routes, routeApplication) {
		t.Routes = append(t.Routes, routeApplication)
	}
	connect := func(call *mcpcore.Call) *api {
		return &api{shared: s, call: call, plan: p, anonymous: d.Anonymous}
	}
	if d.Facts != nil {
		t.Facts = func(ctx context.Context, call *mcpcore.Call) (mcpcore.Facts, error) {
			return d.Facts(ctx, connect(call))
		}
	}
	if d.Pictures != nil {
		t.Pictures = func(ctx context.Context, call *mcpcore.Call) ([]mcpcore.Picture, error) {
			return d.Pictures(ctx, connect(call))
		}
	}
	return mcpcore.New(t, in, out, func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
		a := connect(call)
		var view Out
		if d.Run != nil {
			var input In
			if err := call.Bind(&input); err != nil {
				return nil, err
			}
			var err error
			if view, err = d.Run(ctx, a, input); err != nil {
				return nil, err
			}
		} else {
			reply, err := a.send(ctx)
			if err != nil {
				return nil, err
			}
			if err := a.project(reply, &view); err != nil {
				return nil, err
			}
		}
		return present(a, &view, d.Fence)
	}, append(planTags, viewTag)...)
}
