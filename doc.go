// Package guildwarden is the front page of a module that lets AI agents run
// Discord communities over the Model Context Protocol and keeps every
// consequential act behind guards that operator, caller and a person hold
// separately. It has no code of its own.
//
// A bot embeds it in a few lines: its own session, its own tools, one server.
//
//	func main() {
//		bot, err := discordgo.New("Bot " + os.Getenv("DISCORD_TOKEN"))
//		if err != nil {
//			log.Fatal(err)
//		}
//		server, err := discordtools.BuildServer(discordtools.Deps{Session: bot})
//		if err != nil {
//			log.Fatal(err) // everything that is wrong, at once
//		}
//		if err := transport.Serve(context.Background(), server, new(transport.Stdio)); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// Read on in
//
//   - [github.com/guildwarden/guildwarden/mcpcore]: tools, calls, the chain of
//     guards, preconditions, audits, errors
//   - [github.com/guildwarden/guildwarden/middleware]: the eleven layers and why
//     they stand in their order
//   - [github.com/guildwarden/guildwarden/discordtools]: the Discord tools and
//     the REST client on a *discordgo.Session
//   - [github.com/guildwarden/guildwarden/discordtools/sandbox]: a stateful
//     Discord in the process, to try and to test everything against
//   - [github.com/guildwarden/guildwarden/mcpcore/transport]: stdio that survives
//     bad input
package guildwarden
