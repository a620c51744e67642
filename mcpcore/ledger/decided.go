package ledger

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Decided lists what a person decided, the newest proposal first, at most limit
// of them, as long as it is known: for one lifetime after it expired.
func (m *Memory) Decided(ctx context.Context, limit int) ([]mcpcore.Approval, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now()
	var all []mcpcore.Approval
	if s := m.shelf[mcpcore.ForPerson]; s != nil {
		for i := len(s.order) - 1; i >= 0 && len(all) < limit; i-- {
			if r := s.order[i]; r.Decision != nil {
				all = append(all, r.Copy())
			}
		}
	}
	return all, nil
}
