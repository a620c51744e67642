// Package middleware holds the eleven layers around every tool call, one file
// each, and [Standard], which puts them in order. Each layer is a value of
// [mcpcore.Middleware]; an embedder can take them singly and put its own
// between them, as long as the guards stay in their order.
package middleware

import (
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Options is what the layers need of their surroundings. The zero value is
// safe: no default guild, every category, writes allowed, every guild,
// application-wide tools refused, no evidence asked for, OpenTelemetry's global
// providers.
type Options struct {
	Tracer trace.TracerProvider // nil takes the global one
	Meter  metric.MeterProvider // nil takes the global one

	DefaultGuild discord.GuildID
	Categories   []string // nil allows all
	PreviewOnly  bool     // MCP_WRITE_MODE=preview

	Blueprint BlueprintCheck
	Scope     Scope
	Access    Access
}

// Standard is the chain, outermost first. Its order is part of what the server
// guarantees:
//
//  1. telemetry sees every call, also those that are refused
//  2. default guild fills what the later layers check
//  3. blueprint target resolves what a plan reference stands for
//  4. validate freezes the arguments that all later layers rely on
//  5. guild scope, before anything else looks at Discord for this call
//  6. category gate
//  7. runtime access
//  8. write mode, before anything asks a person
//  9. preconditions
//  10. approval, after everything that can refuse without a person
//  11. audit, for calls that will act
func Standard(o Options) []mcpcore.Middleware {
	return []mcpcore.Middleware{
		Telemetry(o.Tracer, o.Meter),
		DefaultGuild(o.DefaultGuild),
		BlueprintTarget(o.Blueprint),
		Validate(),
		GuildScope(o.Scope),
		CategoryGate(o.Categories),
		RuntimeAccess(o.Access),
		WriteMode(o.PreviewOnly),
		Preconditions(),
		Approval(),
		Audit(),
	}
}

// pass is a layer that lets everything through.
func pass(next mcpcore.Handler) mcpcore.Handler { return next }
