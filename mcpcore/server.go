package mcpcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/internal/args"
)

// Deps is everything a server is made of. It is copied by [BuildServer], lists
// included.
type Deps struct {
	Name         string // as clients see it; "guildwarden" when empty
	Version      string // "dev" when empty
	Instructions string // for agents, sent once

	Tools    []Tool
	Chain    []Middleware // outermost first; see middleware.Standard
	Policies []Policy
	Evidence []EvidenceResolver // the first that gives a kind is asked
	Audit    AuditSink          // nil keeps nothing
	Ledger   Ledger             // keeps approvals and previews; needed by tools that are approved. ledger.NewMemory is one
	Approver Approver           // asks a person; without one a call that needs a person is refused

	// Armed is the operator's key, MCP_DRY_RUN being exactly "false": without it
	// tools whose gate is Payload only preview.
	Armed bool

	// RequirePreview refuses a confirmed call that was never previewed here
	// (MCP_REQUIRE_PREVIEW). It needs a Ledger.
	RequirePreview bool

	// Identity is the bot that the calls act as, where the operator has locked it:
	// an approval is for that bot alone.
	Identity string

	// StateKey seals what a client carries while it is asked something, at least 32
	// bytes: servers that share one take over from each other. nil is a random
	// one, so that questions end with the process.
	StateKey []byte

	// Hide keeps matching tools out of tools/list. It is no guard: a layer must
	// refuse them as well. nil hides none.
	Hide func(*Tool) bool

	// Identify says who asks. nil takes the verified user of an HTTP request
	// and the constant "stdio" elsewhere. An error or an empty name refuses the
	// call.
	Identify func(ctx context.Context, req *mcp.CallToolRequest) (string, error)

	Transport string           // "stdio" when empty; recorded in audits
	Deadline  time.Duration    // how long a call may take; 0 is two minutes
	InFlight  int              // how many calls may run at once; 0 is 128
	Logger    *slog.Logger     // nil discards
	Clock     func() time.Time // nil is time.Now
}

func (d *Deps) fill() {
	d.Tools, d.Chain = slices.Clone(d.Tools), slices.Clone(d.Chain)
	d.Policies, d.Evidence = slices.Clone(d.Policies), slices.Clone(d.Evidence)
	d.Name = cmp.Or(d.Name, "guildwarden")
	d.Version = cmp.Or(d.Version, "dev")
	d.Transport = cmp.Or(d.Transport, "stdio")
	d.Deadline = cmp.Or(d.Deadline, 2*time.Minute)
	d.InFlight = cmp.Or(d.InFlight, 128)
	if d.Audit == nil {
		d.Audit = noAudit{}
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.Clock == nil {
		d.Clock = time.Now
	}
	if d.Identify == nil {
		d.Identify = identify
	}
}

// identify is the default of [Deps.Identify].
func identify(_ context.Context, req *mcp.CallToolRequest) (string, error) {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return "stdio", nil
	}
	if req.Extra.TokenInfo.UserID == "" {
		return "", errors.New("the verified token names no user")
	}
	return req.Extra.TokenInfo.UserID, nil
}

// BuildServer makes an MCP server that serves the tools through the chain. The
// caller brings the transport: server.Run(ctx, transport).
//
// The error joins everything that is wrong with deps, each problem naming its
// tool, layer or precondition. Calls of the server that it returns never panic,
// always have a deadline, and reach a handler through the chain alone.
func BuildServer(deps Deps) (*mcp.Server, error) {
	deps.fill()
	if err := deps.check(); err != nil {
		return nil, err
	}
	handler, err := chain(deps.Chain)
	if err != nil {
		return nil, err
	}
	seal, err := newSealer(deps.StateKey, deps.Clock)
	if err != nil {
		return nil, fmt.Errorf("StateKey: %w", err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: deps.Name, Version: deps.Version}, &mcp.ServerOptions{
		Instructions: deps.Instructions,
		Logger:       deps.Logger,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	server.AddReceivingMiddleware(survive(deps.Logger, deps.Deadline))
	var filled []string
	for _, layer := range deps.Chain {
		filled = append(filled, layer.Fills...)
	}
	k := &core{
		deps: &deps, handler: handler, seal: seal, slots: make(chan struct{}, deps.InFlight), tools: make(map[string]*bound, len(deps.Tools)),
	}
	for _, t := range deps.Tools {
		b := &bound{core: k, tool: t, needs: deps.needs(&t), preconditions: deps.preconditions(&t), person: deps.person(&t)}
		k.tools[t.Name] = b
		b.definition = sync.OnceValue(func() *mcp.Tool {
			if deps.Hide != nil && deps.Hide(&b.tool) {
				return nil
			}
			return define(b, filled)
		})
		server.AddTool(&mcp.Tool{Name: t.Name, InputSchema: anyObject}, k.serve(b))
	}
	server.AddReceivingMiddleware(k.publish)
	return server, nil
}

// core is what the calls of one server share.
type core struct {
	deps    *Deps
	handler Handler
	seal    *sealer
	slots   chan struct{}
	tools   map[string]*bound // by name; not changed once the server is built
}

// bound is a tool in a server, with what was worked out for it once.
type bound struct {
	core          *core
	tool          Tool
	needs         guards
	preconditions []Precondition
	person        bool             // a person must approve its calls
	definition    func() *mcp.Tool // as clients get it, made when the first one asks; nil when it is hidden
}

// serve is the one way from the protocol to a handler.
func (k *core) serve(b *bound) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case k.slots <- struct{}{}:
		default:
			return k.refuse(ctx, b, Errorf(CodeBulkheadFull, "%d calls are running already", cap(k.slots))), nil
		}
		defer func() { <-k.slots }()
		principal, err := k.deps.Identify(ctx, req)
		if err == nil && principal == "" {
			err = errors.New("the caller has no name")
		}
		if err != nil {
			return k.refuse(ctx, b, &Error{Code: CodeAuthInvalid, Detail: "the caller is not known", Hint: "Authenticate as a user.", Cause: err}), nil
		}
		c := newCall(k.deps, b, uuid.NewString(), principal, req.Params.Arguments)
		c.client, c.reply = clientOf(req), k.replyOf(req, c.tool, principal)
		res, err := k.run(ctx, c)
		if q := c.question(err); q != nil && !c.client.rounds {
			reply := k.ask(ctx, c, q)
			c = newCall(k.deps, b, c.id, principal, req.Params.Arguments)
			c.client, c.reply = clientOf(req), reply
			res, err = k.run(ctx, c)
		}
		if q := c.question(err); q != nil {
			state, err := k.seal.close(c.stateOf(q), c.tool, principal)
			if err != nil {
				return asError(err).envelope(), nil
			}
			return &mcp.CallToolResult{
				Content: []mcp.Content{}, RequestState: state, InputRequests: mcp.InputRequestMap{q.Name: q.request()},
			}, nil
		}
		if err != nil {
			return asError(err).envelope(), nil
		}
		return res.reply(c), nil
	}
}

// refuse answers a call that does not get into the chain. The layers that
// observe see it; nothing that they do changes the answer.
func (k *core) refuse(ctx context.Context, b *bound, e *Error) *mcp.CallToolResult {
	c := newCall(k.deps, b, uuid.NewString(), "", nil)
	c.refused = e
	_, _ = k.run(ctx, c)
	return e.envelope()
}

// run sends a call through the chain. Its error is an [*Error].
func (k *core) run(ctx context.Context, c *Call) (*Result, error) {
	res, err := k.handler(ctx, c)
	// A layer that began the audit and failed to end it owes the outcome.
	if res, err = c.End(ctx, res, err); err == nil {
		err = res.check()
	}
	if err == nil {
		return res, nil
	}
	e := classify(ctx, err)
	if c.question(e) == nil {
		c.log(ctx, slog.LevelWarn, "call refused or failed", slog.String("code", string(e.Code)), slog.Any("cause", e.Cause))
	}
	return nil, e
}

// survive keeps the process alive when a handler of any method panics, and
// gives every call of a tool a deadline.
func survive(log *slog.Logger, deadline time.Duration) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if p := recover(); p != nil {
					log.ErrorContext(ctx, "panic", "method", method, "type", fmt.Sprintf("%T", p))
					res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
				}
			}()
			if method == "tools/call" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, deadline)
				defer cancel()
			}
			return next(ctx, method, req)
		}
	}
}

var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// check finds everything that is wrong with deps.
func (d *Deps) check() error {
	var problems []error
	problem := func(format string, with ...any) { problems = append(problems, fmt.Errorf(format, with...)) }
	if len(d.Tools) == 0 {
		problem("no tools")
	}
	seen := map[string]bool{}
	for i := range d.Tools {
		t := &d.Tools[i]
		if seen[t.Name] {
			problem("tool %q is declared twice", t.Name)
		}
		seen[t.Name] = true
		for _, err := range d.checkTool(t) {
			problem("tool %q: %w", t.Name, err)
		}
	}
	d.checkChain(problem)
	for _, p := range d.Policies {
		if p.Name == "" {
			problem("a policy has no name")
		}
	}
	if slices.Contains(d.Evidence, nil) {
		problem("an evidence resolver is nil")
	}
	if d.RequirePreview && d.Ledger == nil {
		problem("RequirePreview needs a Ledger to note previews in")
	}
	if d.Deadline < 0 || d.InFlight < 0 {
		problem("Deadline and InFlight cannot be negative")
	}
	return errors.Join(problems...)
}

func (d *Deps) checkTool(t *Tool) (problems []error) {
	problem := func(format string, with ...any) { problems = append(problems, fmt.Errorf(format, with...)) }
	if !toolName.MatchString(t.Name) {
		problem("the name must match %s", toolName)
	}
	if strings.TrimSpace(t.Doc) == "" {
		problem("it has no doc")
	}
	if t.Effect < Read || t.Effect > Destroy {
		problem("it states no effect")
	}
	if t.Scope < GuildScope || t.Scope > ExternalScope {
		problem("it states no scope")
	}
	if t.Gate < ByEffect || t.Gate > Reviewed {
		problem("its gate is unknown")
	}
	if t.Effect == Read && t.Steps != nil {
		problem("it only reads and makes steps, which may write")
	}
	if t.Effect == Read && t.EffectiveGate() != NoGate {
		problem("it only reads and has the gate %s", t.EffectiveGate())
	}
	switch {
	case t.impl == nil:
		problem("it was not made with Define")
		return problems
	case t.impl.err != nil:
		problem("%w", t.impl.err)
	case t.impl.run == nil:
		problem("it has no handler")
	}
	for _, name := range args.Authorization {
		if t.Takes(name) {
			problem("its argument %q is an authorization field, which no handler gets to see", name)
		}
	}
	for i, r := range t.Rules {
		if (r.Check == nil) == (r.All == nil) {
			problem("rule %d has no check, or two", i+1)
		}
	}
	if t.Outranks != "" && !t.Takes(t.Outranks) {
		problem("Outranks names %q, which is not an argument", t.Outranks)
	}
	if t.NeedsIn != "" && !t.Takes(t.NeedsIn) {
		problem("NeedsIn names %q, which is not an argument", t.NeedsIn)
	}
	for _, layer := range d.Chain {
		if layer.Check == nil {
			continue
		}
		if err := layer.Check(t); err != nil {
			problem("layer %q: %w", layer.Name, err)
		}
	}
	if t.Packed.Arg != "" && (!t.Takes(t.Packed.Arg) || slices.Contains(t.Packed.Names, t.Packed.Arg)) {
		problem("Packed is %q, which must be an argument that does not carry itself", t.Packed.Arg)
	}
	for _, n := range slices.Concat(t.Redact, needArgs(t.NeedsWhen), t.Packed.Names) {
		if !t.Takes(n) {
			problem("it speaks of %q, which is not an argument", n)
		}
	}
	if d.Ledger == nil {
		switch {
		case t.EffectiveGate() == Payload:
			problem("its gate needs a ledger, and there is none")
		case d.person(t):
			problem("a person must approve it, which needs a ledger, and there is none")
		}
	}
	if t.Payload != nil && t.EffectiveGate() != Payload {
		problem("it reviews a payload and its gate is %s", t.EffectiveGate())
	}
	gate := t.EffectiveGate()
	kept := gate == NoGate || gate == Payload
	for _, p := range d.preconditions(t) {
		kept = kept || p.Gate == gate
		if p.Name == "" || p.Check == nil {
			problem("a precondition has no name or no check")
		}
		for _, name := range p.Fields {
			if authorization[name] == nil {
				problem("precondition %q reads %q, which is not an authorization field", p.Name, name)
			}
		}
		for _, kind := range p.Needs {
			if d.resolver(kind) == nil {
				problem("precondition %q needs evidence %q, and no resolver gives it", p.Name, kind)
			}
		}
	}
	switch {
	case kept:
	case gate == TwoKey:
		problem("it is two-key, and no precondition confirms it; add preconditions.ConfirmRequired")
	default:
		problem("its gate is %s, and no precondition keeps that gate", gate)
	}
	return problems
}

func needArgs(needs []Need) (names []string) {
	for _, n := range needs {
		names = append(names, n.Arg)
	}
	return names
}

// checkChain demands a layer for every guard that some tool needs, in order.
func (d *Deps) checkChain(problem func(string, ...any)) {
	if len(d.Chain) == 0 {
		problem("the chain is empty; use middleware.Standard")
	}
	names, at := map[string]bool{}, map[Guard]int{}
	for i, layer := range d.Chain {
		if layer.Name == "" || layer.Wrap == nil {
			problem("layer %d has no name or no Wrap", i+1)
		}
		if names[layer.Name] {
			problem("layer %q stands twice", layer.Name)
		}
		names[layer.Name] = true
		if layer.Guard != "" {
			at[layer.Guard] = i + 1
		}
		if layer.Guard != "" && !slices.ContainsFunc(guardNames, func(g namedGuard) bool { return g.name == layer.Guard }) {
			problem("layer %q has the unknown guard %q", layer.Name, layer.Guard)
		}
	}
	var needed guards
	for i := range d.Tools {
		needed |= d.needs(&d.Tools[i])
	}
	last := 0
	for _, g := range guardNames {
		switch {
		case !needed.has(g.bit) && at[g.name] == 0:
		case at[g.name] == 0:
			problem("the chain has no layer for the guard %q", g.name)
		case at[g.name] < last:
			problem("the layer for the guard %q stands too far out", g.name)
		default:
			last = at[g.name]
		}
	}
}
