// Command custom-precondition serves Discord's tools, and lets an agent ban
// users and delete channels only while the ticket is open that the call names
// in audit_reason, such as "T-7: advertises in every channel". It speaks to
// Discord when DISCORD_TOKEN is set and to a sandbox otherwise.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"regexp"

	"github.com/bwmarrin/discordgo"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

// Tickets is what is asked of a ticket system.
type Tickets interface {
	Open(ctx context.Context, id string) (bool, error)
}

var ticketID = regexp.MustCompile(`\bT-[0-9]+\b`)

// openTicket demands that the call names an open ticket. A ticket system that
// does not answer stops the call as well.
func openTicket(tickets Tickets) mcpcore.Precondition {
	return mcpcore.Precondition{
		Name: "open_ticket",
		Doc:  "Acts only while the ticket is open that audit_reason names.",
		Check: func(ctx context.Context, call *mcpcore.Call) error {
			id := ticketID.FindString(call.Text("audit_reason"))
			if id == "" {
				return errors.New(`name the ticket in audit_reason, such as "T-7: spam"`)
			}
			switch open, err := tickets.Open(ctx, id); {
			case err != nil:
				return fmt.Errorf("whether %s is open is not known; try again later", id)
			case !open:
				return fmt.Errorf("%s is not an open ticket; ask a moderator to open one", id)
			}
			return nil
		},
	}
}

// build is the server. The policy adds the precondition to two tools, which
// keep what they demand already: the two keys.
func build(bot *discordgo.Session, config discordtools.Config, tickets Tickets) (*mcp.Server, error) {
	return discordtools.BuildServer(discordtools.Deps{
		Session: bot,
		Config:  config,
		Policies: []mcpcore.Policy{{
			Name:    "ticketed",
			Match:   func(t *mcpcore.Tool) bool { return t.Name == "members_ban" || t.Name == "channels_delete" },
			Require: []mcpcore.Precondition{openTicket(tickets)},
		}},
	})
}

// board is a ticket system that fits into a map.
type board map[string]bool

func (b board) Open(_ context.Context, id string) (bool, error) { return b[id], nil }

func main() {
	bot := sandbox.Demo().Session()
	if token := os.Getenv("DISCORD_TOKEN"); token != "" {
		bot, _ = discordgo.New("Bot " + token) // fails in no version so far
	}
	config := discordtools.Config{Armed: os.Getenv("MCP_DRY_RUN") == "false"}
	server, err := build(bot, config, board{"T-7": true})
	if err != nil {
		log.Fatal(err)
	}
	if err := transport.Serve(context.Background(), server, new(transport.Stdio)); err != nil {
		log.Fatal(err)
	}
}
