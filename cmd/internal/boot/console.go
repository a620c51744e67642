package boot

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/caarlos0/env/v11"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
	"github.com/guildwarden/guildwarden/mcpcore/console"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// ReadConsole is [Read] for a process that serves the approval console itself,
// at an address for people. In a sandbox without MCP_APPROVERS it makes an
// approver for this run and gives the token; it is "" otherwise.
func ReadConsole(environ []string, sandbox bool, at string) (c Config, token string, err error) {
	vars := env.ToMap(environ)
	if sandbox && strings.TrimSpace(vars["MCP_APPROVERS"]) == "" {
		if token, vars["MCP_APPROVERS"], err = console.NewApprover("sandbox"); err != nil {
			return c, "", err
		}
	}
	c, err = finish(read(vars, sandbox, at))
	return c, token, err
}

// Console makes the approval console of the server that deps are for. It gives
// deps a ledger in memory where they have none, and, unless their sink is a file,
// one that keeps records for the history. hosts are the names under which it is reached, besides those of
// loopback.
func Console(c Config, deps *discordtools.Deps, hosts ...string) (*console.Console, error) {
	if deps.Ledger == nil {
		deps.Ledger = ledger.NewMemory(nil)
	}
	records, kept := deps.Audit.(console.Records) // a file is read
	if !kept {
		recent := console.NewRecent(500)
		deps.Audit, records = audit.Tee(deps.Audit, recent), recent
	}
	those, problems := approvers(c.Approvers)
	if len(problems) > 0 {
		return nil, problems[0]
	}
	rest, err := discordtools.NewClient(deps.Session, deps.Client)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	look := discordtools.NewLookup(rest)
	return console.New(console.Options{
		Ledger: deps.Ledger, Approvers: those, StateKey: deps.StateKey, Hosts: hosts, Names: look.Names,
		Current: func(ctx context.Context, t console.Target) map[string]json.RawMessage {
			return look.Current(ctx, t.Routes, t.IDs)
		},
		Records: records, Logger: deps.Logger,
	})
}
