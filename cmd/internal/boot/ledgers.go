package boot

import (
	"errors"
	"io"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Durable is a ledger that outlives the process.
type Durable interface {
	mcpcore.Ledger
	io.Closer
}

func openSQLite(path string, key []byte) (Durable, error) {
	return nil, errors.New("this version cannot keep approvals in SQLite")
}

func openPostgres(address string, key []byte) (Durable, error) {
	return nil, errors.New("this version cannot keep approvals in PostgreSQL")
}
