package middleware

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Audit is layer 11: for every tool that is not read-only it records the intent
// before the handler runs, which stops the call when a sink cannot take it, and
// exactly one outcome after it.
func Audit() mcpcore.Middleware {
	return mcpcore.Middleware{Name: "audit", Guard: mcpcore.GuardAudit, Wrap: func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			if err := call.Begin(ctx); err != nil {
				return nil, err
			}
			res, err := next(ctx, call)
			return call.End(ctx, res, err)
		}
	}}
}
