package ledger_test

import (
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/ledgertest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, func(_ *testing.T, clock func() time.Time) mcpcore.Ledger { return ledger.NewMemory(clock) })
}

func BenchmarkMemory(b *testing.B) {
	l := ledger.NewMemory(nil)
	p := mcpcore.Proposal{Purpose: mcpcore.ForPayload, Tool: "ticket_close", Principal: "stdio", Fingerprint: "f"}
	for b.Loop() {
		a, err := l.Propose(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Spend(b.Context(), mcpcore.Spend{ID: a.ID, Fingerprint: a.Fingerprint}); err != nil {
			b.Fatal(err)
		}
	}
}
