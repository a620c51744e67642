package ledger_test

import (
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func TestOperations(t *testing.T) {
	t.Parallel()
	operationtest.Run(t, func(_ *testing.T, clock func() time.Time) mcpcore.OperationLedger { return ledger.NewOperations(clock) })
}
