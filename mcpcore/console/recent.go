package console

import (
	"context"
	"sync"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Recent is an audit sink that keeps the last events of calls that ended in
// memory, for the history. It keeps no intents and stops no call. It is safe for
// concurrent use; the zero value keeps nothing.
type Recent struct {
	mu   sync.Mutex
	ring []mcpcore.AuditEvent
	next int
}

// NewRecent keeps so many events.
func NewRecent(size int) *Recent { return &Recent{ring: make([]mcpcore.AuditEvent, max(size, 0))} }

var (
	_ mcpcore.AuditSink = (*Recent)(nil)
	_ Records           = (*Recent)(nil)
)

// Record implements [mcpcore.AuditSink].
func (s *Recent) Record(_ context.Context, e mcpcore.AuditEvent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Phase == mcpcore.Outcome && len(s.ring) > 0 {
		s.ring[s.next%len(s.ring)] = e
		s.next++
	}
	return nil
}

// Recent implements [Records].
func (s *Recent) Recent(_ context.Context, limit int) ([]mcpcore.AuditEvent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []mcpcore.AuditEvent
	for i := s.next - 1; i >= 0 && i >= s.next-len(s.ring) && len(all) < limit; i-- {
		all = append(all, s.ring[i%len(s.ring)])
	}
	return all, nil
}
