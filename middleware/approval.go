package middleware

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Approval is layer 10: it verifies what must be approved before the call acts,
// and asks a person for it where one must. It spends nothing; the interlock
// does.
func Approval() mcpcore.Middleware {
	return mcpcore.Middleware{Name: "approval", Guard: mcpcore.GuardApprove, Wrap: func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			if err := call.Approve(ctx); err != nil {
				return nil, err
			}
			return next(ctx, call)
		}
	}}
}
