package middleware

import "github.com/guildwarden/guildwarden/mcpcore"

// RuntimeAccess is layer 7, the place where evidence about the bot's
// permissions is weighed. It is advisory, which asks Discord nothing and passes
// everything.
func RuntimeAccess() mcpcore.Middleware {
	return mcpcore.Middleware{Name: "runtime_access", Wrap: pass}
}
