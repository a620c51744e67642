package boot

import (
	"errors"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

var accessModes = map[string]middleware.AccessMode{"advisory": middleware.Advisory, "warn": middleware.Warn, "enforce": middleware.Enforce}

// checkScope refuses an allowlist that holds anything but ids, one that holds
// nothing, and settings that contradict it.
func checkScope(c Config) (problems []error) {
	guilds := trimmed(c.AllowedGuilds)
	if guilds == nil && len(c.AllowedGuilds) > 1 {
		problems = append(problems, errors.New("ALLOWED_GUILDS names no server"))
	}
	for _, g := range guilds {
		if discord.CheckID(g) != nil {
			problems = append(problems, fmt.Errorf("ALLOWED_GUILDS must be servers' ids of 17 to 20 digits, separated by commas; %s is none", quoted(g)))
		}
	}
	if guilds != nil && c.DefaultGuild != "" && !slices.Contains(guilds, c.DefaultGuild) {
		problems = append(problems, errors.New("DISCORD_DEFAULT_GUILD_ID must be one of ALLOWED_GUILDS"))
	}
	if flag(c.UserScoped) && c.ExpectedBot == "" {
		problems = append(problems, errors.New("MCP_ALLOW_USER_SCOPED needs DISCORD_EXPECTED_BOT_ID"))
	}
	return problems
}
