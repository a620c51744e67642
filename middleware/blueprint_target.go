package middleware

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// BlueprintCheck looks at a call of a blueprint's tool before its arguments are
// frozen. It may fill in the guild and the bot that the call leaves out
// ([mcpcore.Call.Default]). A result is the tool's own answer, and ends the call;
// an error refuses it; neither lets it on. Calls of other tools and malformed
// arguments are none of its business.
type BlueprintCheck func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error)

// BlueprintTarget is layer 3: it resolves what a plan reference stands for and
// demands that it fits the guild and the bot of the call, before anything else
// looks at them. nil passes everything.
func BlueprintTarget(check BlueprintCheck) mcpcore.Middleware {
	m := mcpcore.Middleware{Name: "blueprint_target", Wrap: pass}
	if check == nil {
		return m
	}
	m.Wrap = func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			if res, err := check(ctx, call); res != nil || err != nil {
				return res, err
			}
			return next(ctx, call)
		}
	}
	return m
}
