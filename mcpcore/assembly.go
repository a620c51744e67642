package mcpcore

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Assembly is Deps put together once, for any number of servers: they share the
// chain, the schemas and validators, the key of the questions and the limit of
// calls in flight. It is safe for concurrent use.
type Assembly struct{ core *core }

// Assemble puts a server's parts together. The error joins everything that is
// wrong with deps, each problem naming its tool, layer or precondition.
func Assemble(deps Deps) (*Assembly, error) {
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
	keys, err := newFlowKeys(deps.StateKey)
	if err != nil {
		return nil, fmt.Errorf("StateKey: %w", err)
	}
	var filled []string
	for _, layer := range deps.Chain {
		filled = append(filled, layer.Fills...)
	}
	k := &core{
		deps: &deps, handler: handler, seal: seal, keys: keys, slots: make(chan struct{}, deps.InFlight), filled: filled,
		tools: make(map[string]*bound, len(deps.Tools)), order: make([]*bound, len(deps.Tools)),
	}
	for i, t := range deps.Tools {
		b := &bound{
			core: k, tool: t, needs: deps.needs(&t), preconditions: deps.preconditions(&t), person: deps.person(&t),
			opening: deps.Opening == nil || deps.Opening(&t),
		}
		k.tools[t.Name], k.order[i] = b, b
	}
	k.group()
	return &Assembly{k}, nil
}

// BuildServer makes an MCP server that serves the tools through the chain. The
// caller brings the transport: server.Run(ctx, transport). It is [Assemble] for
// one server, and has its errors.
//
// Calls of the server that it returns never panic, always have a deadline, and
// reach a handler through the chain alone.
func BuildServer(deps Deps) (*mcp.Server, error) {
	a, err := Assemble(deps)
	if err != nil {
		return nil, err
	}
	return a.Server(), nil
}

// Server is a new server, which lists the tools that [Deps.Opening] opens. What a
// call reveals is revealed to all sessions of its server: where Opening is set,
// give each session a server of its own. It costs little beside a session.
func (a *Assembly) Server() *mcp.Server { return a.core.server(false) }

// Full is a new server that lists every tool from the start, for requests that
// belong to no session.
func (a *Assembly) Full() *mcp.Server { return a.core.server(true) }

func (k *core) server(full bool) *mcp.Server {
	full = full || k.deps.Opening == nil
	o := &mcp.ServerOptions{
		Instructions: k.deps.Instructions,
		Logger:       slog.New(quiet{k.deps.Logger.Handler()}),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: !full}},
	}
	if !full {
		o.SetCacheable = ofOneSession
	}
	server := mcp.NewServer(&mcp.Implementation{Name: k.deps.Name, Version: k.deps.Version}, k.deps.documented(o))
	server.AddReceivingMiddleware(survive(k.deps.Logger, k.deps.Deadline))
	s := &surface{core: k, server: server, full: full}
	if !full {
		s.shown = map[*bound]bool{}
	}
	for _, b := range k.order {
		switch {
		case full:
			s.show(b)
		case b.opening:
			s.reveal([]string{b.tool.Name})
		}
	}
	k.document(server)
	server.AddReceivingMiddleware(k.publish)
	if k.deps.Each != nil {
		k.deps.Each(server)
	}
	return server
}

// group finds what is shown together: the tools of a workflow, which nobody gets
// to see in part, and its audits with them. An audit is also there by itself.
func (k *core) group() {
	whole, audits := map[string][]*bound{}, map[string][]*bound{}
	for _, b := range k.order {
		switch p := b.tool.Part; {
		case p.Together():
			whole[p.Workflow] = append(whole[p.Workflow], b)
		case p.Role == Audit:
			audits[p.Workflow] = append(audits[p.Workflow], b)
		}
	}
	for i, b := range k.order {
		b.group = k.order[i : i+1]
		if p := b.tool.Part; p.Together() {
			b.group, b.audits = whole[p.Workflow], audits[p.Workflow]
		}
	}
}

// hides reports whether nobody gets to see the tool.
func (d *Deps) hides(t *Tool) bool {
	return d.Permits.Hides(t) || d.Hide != nil && d.Hide(t)
}

// ofOneSession keeps what depends on a session out of caches that others share.
func ofOneSession(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }

// core is what the calls of all servers of an assembly share.
type core struct {
	deps    *Deps
	handler Handler
	seal    *sealer
	keys    flowKeys
	slots   chan struct{}
	tools   map[string]*bound // by name; not changed once assembled
	order   []*bound          // as in Deps
	filled  []string          // arguments that layers supply
}

// bound is a tool of an assembly, with what was worked out for it once.
type bound struct {
	core          *core
	tool          Tool
	needs         guards
	preconditions []Precondition
	person        bool     // a person must approve its calls
	opening       bool     // a session begins with it
	group         []*bound // what is shown together or not at all: itself, or the tools of its workflow
	audits        []*bound // what is shown with them where it can be

	hiding, defining sync.Once
	unseen           bool
	defined          *mcp.Tool
}

// hidden reports whether nobody gets to see the tool, or another of its group.
func (b *bound) hidden() bool {
	b.hiding.Do(func() {
		b.unseen = slices.ContainsFunc(b.group, func(b *bound) bool { return b.core.deps.hides(&b.tool) })
	})
	return b.unseen
}

// definition is the tool as clients get it, made when the first one asks.
func (b *bound) definition() *mcp.Tool {
	b.defining.Do(func() { b.defined = define(b, b.core.filled) })
	return b.defined
}
