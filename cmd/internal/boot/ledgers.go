package boot

import (
	"io"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/postgres"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sqlite"
)

// Durable is a ledger that outlives the process.
type Durable interface {
	mcpcore.Ledger
	io.Closer
	// Operations is the ledger of operations in the same database.
	Operations() mcpcore.OperationLedger
}

func openSQLite(path string, key []byte) (Durable, error) { return sqlite.Open(path, key) }

func openPostgres(address string, key []byte) (Durable, error) { return postgres.Open(address, key) }
