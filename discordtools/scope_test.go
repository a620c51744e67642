package discordtools_test

import (
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// locked locks a server to the sandbox's bot.
func locked(d *discordtools.Deps) { d.Config.ExpectedBot = sandbox.BotID }
