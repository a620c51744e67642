package ledgertest

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// decided looks at the list of what was decided, which a ledger may have.
func (b *bench) decided() {
	l, ok := b.l.(interface {
		Decided(ctx context.Context, limit int) ([]mcpcore.Approval, error)
	})
	if !ok {
		b.Skip("the ledger does not list what was decided")
	}
	lists := func(limit int, want ...string) []mcpcore.Approval {
		b.Helper()
		all, err := l.Decided(b.Context(), limit)
		if err != nil || len(all) != len(want) {
			b.Fatalf("Decided(%d): %+v, %v; want %v", limit, all, err, want)
		}
		for i, a := range all {
			if a.Fingerprint != hash(want[i]) {
				b.Errorf("number %d is %s, want %s", i, a.Fingerprint, want[i])
			}
		}
		return all
	}
	lists(10)
	b.propose(proposal(mcpcore.ForPerson, "waits"))
	b.propose(proposal(mcpcore.ForPayload, "is nobody's to decide"))
	first, second := b.approved("a"), b.propose(proposal(mcpcore.ForPerson, "b"))
	b.answer(second, no)
	b.spends(spend(first))
	all := lists(10, "b", "a")
	b.said(all[0], no)
	b.said(all[1], yes)
	for _, a := range all {
		if len(a.Shown) > 0 || a.Tool != "ticket_close" || a.Principal != "stdio" || a.Expires.IsZero() {
			b.Errorf("listed is %+v", a)
		}
	}
	lists(1, "b")

	b.timed(first)
	b.pass(mcpcore.DefaultLifetime)
	lists(10, "b", "a")
	b.pass(mcpcore.DefaultLifetime)
	lists(10)
}
