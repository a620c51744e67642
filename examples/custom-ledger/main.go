// Command custom-ledger serves Discord's tools with a ledger of its own. It
// keeps approvals as the ledger it wraps does, and writes into the bot's log what
// people were asked, what they decided and what was used. A ledger that keeps
// approvals elsewhere is made in the same way: five methods, the rules of
// ledger.Record, and ledgertest to prove it.
//
// It speaks to Discord when DISCORD_TOKEN is set and to a sandbox otherwise.
// Approvals are in the file that LEDGER_FILE names, sealed with MCP_STATE_KEY, and
// end with the process without it.
package main

import (
	"context"
	"log"
	"log/slog"
	"os"

	"github.com/bwmarrin/discordgo"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/ledger/sqlite"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// watched is a ledger that can be followed. It never writes an id: who has that
// can use the approval.
type watched struct {
	mcpcore.Ledger // Preview and Pending are this one's
	log            *slog.Logger
}

func (w watched) Propose(ctx context.Context, p mcpcore.Proposal) (mcpcore.Approval, error) {
	a, err := w.Ledger.Propose(ctx, p)
	if err == nil && p.Purpose == mcpcore.ForPerson && a.Decision == nil {
		w.log.InfoContext(ctx, "a person is asked", "for", p.Principal, "tool", p.Tool, "fingerprint", p.Fingerprint)
	}
	return a, err
}

func (w watched) Decide(ctx context.Context, id mcpcore.ApprovalID, d mcpcore.Decision) error {
	err := w.Ledger.Decide(ctx, id, d)
	if err == nil {
		w.log.InfoContext(ctx, "a person decided", "by", d.By, "approved", d.Approve, "reason", d.Reason)
	}
	return err
}

// Spend leaves the error as it is: it says which approval could not be spent.
func (w watched) Spend(ctx context.Context, spends ...mcpcore.Spend) error {
	err := w.Ledger.Spend(ctx, spends...)
	for _, s := range spends {
		if err != nil {
			w.log.WarnContext(ctx, "an approval was not used", "fingerprint", s.Fingerprint, "why", err)
		} else {
			w.log.InfoContext(ctx, "an approval was used", "fingerprint", s.Fingerprint)
		}
	}
	return err
}

// open is the ledger that is wrapped.
func open(file, secret string) (mcpcore.Ledger, error) {
	if file == "" {
		return ledger.NewMemory(nil), nil
	}
	return sqlite.Open(file, []byte(secret))
}

func main() {
	bot := sandbox.Demo().Session()
	if token := os.Getenv("DISCORD_TOKEN"); token != "" {
		bot, _ = discordgo.New("Bot " + token) // fails in no version so far
	}
	approvals, err := open(os.Getenv("LEDGER_FILE"), os.Getenv("MCP_STATE_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	server, err := discordtools.BuildServer(discordtools.Deps{
		Session: bot, Config: discordtools.Config{Armed: os.Getenv("MCP_DRY_RUN") == "false"},
		Ledger: watched{approvals, slog.New(slog.NewTextHandler(os.Stderr, nil))},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := transport.Serve(context.Background(), server, new(transport.Stdio)); err != nil {
		log.Fatal(err)
	}
}
