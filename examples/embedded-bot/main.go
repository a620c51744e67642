// Command embedded-bot serves Discord's tools and one of its own on stdin and
// stdout, through the bot's own session.
package main

import (
	"context"
	"log"
	"math/rand/v2"
	"os"

	"github.com/bwmarrin/discordgo"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/transport"
)

type die struct {
	Shows int `json:"shows"`
}

func roll(context.Context, *mcpcore.Call, struct{}) (die, error) { return die{1 + rand.IntN(6)}, nil }

func main() {
	bot, _ := discordgo.New("Bot " + os.Getenv("DISCORD_TOKEN")) // fails in no version so far
	dice := mcpcore.Define(mcpcore.Tool{Name: "dice_roll", Doc: "Rolls a die.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope}, roll)
	server, err := discordtools.BuildServer(discordtools.Deps{Session: bot, Tools: []mcpcore.Tool{dice}})
	if err != nil {
		log.Fatal(err)
	}
	if err := transport.Serve(context.Background(), server, new(transport.Stdio)); err != nil {
		log.Fatal(err)
	}
}
