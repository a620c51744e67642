package boot

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// ledgerPlace is where approvals are kept.
type ledgerPlace struct {
	kind string // memory, sqlite or postgres
	at   string // the path or the address; an address holds a password
}

// parseLedger reads MCP_LEDGER. The error does not show it.
func parseLedger(value string) (ledgerPlace, error) {
	value = strings.TrimSpace(value)
	scheme, at, _ := strings.Cut(value, ":")
	switch scheme {
	case "", "memory":
		if value == scheme {
			return ledgerPlace{kind: "memory"}, nil
		}
	case "sqlite":
		if at == "" || strings.HasPrefix(at, "//") || strings.HasPrefix(at, ":") {
			return ledgerPlace{}, errors.New("MCP_LEDGER: behind sqlite: stands the path of a file, such as sqlite:/var/lib/discord-mcp/approvals.db")
		}
		return ledgerPlace{scheme, at}, nil
	case "postgres", "postgresql":
		u, err := url.Parse(value)
		if err != nil || u.Host == "" && u.Query().Get("host") == "" {
			return ledgerPlace{}, errors.New("MCP_LEDGER is not an address; it has a host, and what is special in its user and password stands percent-encoded, such as %40")
		}
		return ledgerPlace{"postgres", value}, nil
	}
	return ledgerPlace{}, errors.New("MCP_LEDGER must be memory, sqlite:PATH or an address that begins with postgres://")
}

// shared reports whether another process can reach the ledger.
func (p ledgerPlace) shared() bool { return p.kind == "sqlite" || p.kind == "postgres" }

// checkKey refuses a ledger that would outlive the key it is sealed with.
func (p ledgerPlace) checkKey(stateKey string) error {
	if p.shared() && strings.TrimSpace(stateKey) == "" {
		return errors.New("MCP_LEDGER: this ledger is sealed and needs MCP_STATE_KEY; a good one is made by: openssl rand -base64 32")
	}
	return nil
}

// open opens the ledger; nil is the one in the server's own memory.
func (p ledgerPlace) open(key []byte) (kept Durable, err error) {
	switch p.kind {
	case "sqlite":
		kept, err = openSQLite(p.at, key)
	case "postgres":
		kept, err = openPostgres(p.at, key)
	}
	if err != nil {
		return nil, fmt.Errorf("MCP_LEDGER: %s", mcpcore.Redact(err.Error())) // a driver may quote the address
	}
	return kept, nil
}

// String is the place for people, without a secret.
func (p ledgerPlace) String() string {
	switch p.kind {
	case "postgres":
		return address(p.at)
	case "sqlite":
		if path, err := filepath.Abs(p.at); err == nil {
			return p.kind + ":" + path
		}
	}
	return p.kind
}

// exists refuses a file that is not there: opened, it would be made, and look as
// if nothing waited in it.
func (p ledgerPlace) exists() error {
	if p.kind != "sqlite" {
		return nil
	}
	if _, err := os.Stat(p.at); err != nil {
		return fmt.Errorf("MCP_LEDGER: %s is not there. Give this command the settings of the server, with the whole path; the server makes the file when it starts", p)
	}
	return nil
}
