package console

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// How long names may take to be read for a page, how long and how many of them
// a list remembers.
const (
	lookFor   = 3 * time.Second
	namesFor  = time.Minute
	maxCached = 1024
)

// names remembers what identifiers name, for lists. Pages about one request read
// them anew.
type names struct {
	mu    sync.Mutex
	known map[mcpcore.ID]knownName // by kind and value, without a path
}

type knownName struct {
	name string // "" is one that could not be read
	at   time.Time
}

// name fills in the names of targets, from memory where that will do.
func (c *Console) name(ctx context.Context, q *request, remembered bool) {
	if c.o.Names == nil || len(q.IDs) == 0 {
		return
	}
	now := c.o.Clock()
	missing := false
	c.names.mu.Lock()
	for i, id := range q.IDs {
		k, ok := c.names.known[mcpcore.ID{Kind: id.Kind, Value: id.Value}]
		if ok = ok && remembered && now.Sub(k.at) < namesFor; ok && i < len(q.Targets) {
			q.Targets[i].Name = k.name
		}
		missing = missing || !ok
	}
	c.names.mu.Unlock()
	if !missing || ctx.Err() != nil {
		return
	}
	found := c.o.Names(ctx, slices.Clone(q.IDs))
	if ctx.Err() != nil && len(found) == 0 {
		return
	}
	c.names.mu.Lock()
	defer c.names.mu.Unlock()
	if c.names.known == nil || len(c.names.known) > maxCached {
		c.names.known = map[mcpcore.ID]knownName{}
	}
	for i, id := range q.IDs {
		c.names.known[mcpcore.ID{Kind: id.Kind, Value: id.Value}] = knownName{found[id.Path], now}
		if i < len(q.Targets) {
			q.Targets[i].Name = found[id.Path]
		}
	}
}
