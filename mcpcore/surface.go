package mcpcore

import (
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// surface is what one server shows of its assembly's tools. What it does not show
// is not registered with the SDK, which answers as if it did not exist.
type surface struct {
	core   *core
	server *mcp.Server
	full   bool // shows everything, always

	mu    sync.Mutex
	shown map[*bound]bool // nil when full
}

// show registers the tool. The caller holds mu, or the server is not out yet.
func (s *surface) show(b *bound) {
	if !s.full {
		s.shown[b] = true
	}
	s.server.AddTool(&mcp.Tool{Name: b.tool.Name, InputSchema: anyObject}, s.core.serve(s, b))
}

func (s *surface) shows(b *bound) bool {
	if s.full {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown[b]
}

// reveal shows the tools and what belongs to them, and names those that were not
// shown before, sorted.
func (s *surface) reveal(names []string) (fresh []string) {
	if s.full {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		b := s.core.tools[name]
		if b == nil || b.hidden() {
			continue
		}
		for _, b := range slices.Concat(b.group, b.audits) {
			if !s.shown[b] && !b.hidden() {
				s.show(b)
				fresh = append(fresh, b.tool.Name)
			}
		}
	}
	slices.Sort(fresh)
	return fresh
}

// Reveal shows tools to the session of the call: they are listed and callable
// from then on, and its client is told that its list changed. Tools of a workflow
// are shown together. It names those that were not shown before, sorted; names of
// none, and tools that [Deps.Hide] hides, change nothing. It grants nothing: each
// call of a tool passes the chain as ever.
func (c *Call) Reveal(names ...string) (fresh []string) {
	if c.surface == nil {
		return nil
	}
	return c.surface.reveal(names)
}

// Reveals reports whether the tool is one that [Call.Reveal] can show, or that is
// shown already.
func (c *Call) Reveals(name string) bool {
	b := c.core.tools[name]
	return b != nil && !b.hidden()
}

// Shows reports whether the session of the call is shown the tool.
func (c *Call) Shows(name string) bool {
	b := c.core.tools[name]
	return b != nil && !b.hidden() && c.surface != nil && c.surface.shows(b)
}

// Progressive reports whether the session of the call began with a part of the
// tools, so that there can be something to reveal.
func (c *Call) Progressive() bool { return c.surface != nil && !c.surface.full }

// Definition is a tool of the same server as clients get it, nil when there is
// none or nobody gets to see it. It must not be changed.
func (c *Call) Definition(name string) *mcp.Tool {
	if b := c.core.tools[name]; b != nil && !b.hidden() {
		return b.definition()
	}
	return nil
}
