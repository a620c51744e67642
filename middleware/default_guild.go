package middleware

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// DefaultGuild is layer 2: it fills an absent top-level guild_id of a tool that
// declares one. A value in the call wins, also a wrong one. Without a default
// guild it passes everything. It stops nothing.
func DefaultGuild(guild discord.GuildID) mcpcore.Middleware {
	m := mcpcore.Middleware{Name: "default_guild", Wrap: pass}
	if guild == "" {
		return m
	}
	m.Fills = []string{"guild_id"}
	m.Wrap = func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			call.Default("guild_id", string(guild))
			return next(ctx, call)
		}
	}
	return m
}
