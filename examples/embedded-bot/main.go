// Command embedded-bot serves Discord's tools and one of its own on stdin and
// stdout, through the bot's own session.
package main

import (
	"context"
	"log"
	"os"

	"github.com/bwmarrin/discordgo"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

type latency struct {
	Latency string `json:"latency" jsonschema:"of the last heartbeat"`
}

func main() {
	bot, _ := discordgo.New("Bot " + os.Getenv("DISCORD_TOKEN")) // fails in no version so far
	own := mcpcore.Define(mcpcore.Tool{Name: "bot_latency", Doc: "Tells how quick the gateway is.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope},
		func(context.Context, *mcpcore.Call, struct{}) (latency, error) {
			return latency{bot.HeartbeatLatency().String()}, nil
		})
	if server, err := discordtools.BuildServer(discordtools.Deps{Session: bot, Tools: []mcpcore.Tool{own}}); err != nil {
		log.Fatal(err) // everything that is wrong, at once
	} else if err := transport.Serve(context.Background(), server, new(transport.Stdio)); err != nil {
		log.Fatal(err)
	}
}
