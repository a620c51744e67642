package middleware

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Preconditions is layer 9: the preconditions of the tool and of every policy
// that matches it, in order; the first that refuses answers.
func Preconditions() mcpcore.Middleware {
	return mcpcore.Middleware{Name: "preconditions", Guard: mcpcore.GuardCheck, Wrap: func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			if err := call.Check(ctx); err != nil {
				return nil, err
			}
			return next(ctx, call)
		}
	}}
}
