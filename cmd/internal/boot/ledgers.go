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
}

func openSQLite(path string, key []byte) (Durable, error) { return sqlite.Open(path, key) }

func openPostgres(address string, key []byte) (Durable, error) { return postgres.Open(address, key) }
