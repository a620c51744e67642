package middleware

import "github.com/guildwarden/guildwarden/mcpcore"

// GuildScope is layer 5, the place where a call is proven to touch allowed
// guilds only. Nothing configures an allowlist yet, so it passes everything.
func GuildScope() mcpcore.Middleware {
	return mcpcore.Middleware{Name: "guild_scope", Wrap: pass}
}
