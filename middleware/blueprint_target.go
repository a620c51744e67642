package middleware

import "github.com/guildwarden/guildwarden/mcpcore"

// BlueprintTarget is layer 3, the place of the checks of a blueprint's plan
// reference, guild and identity. There are no blueprint tools yet, so it passes
// everything.
func BlueprintTarget() mcpcore.Middleware {
	return mcpcore.Middleware{Name: "blueprint_target", Wrap: pass}
}
