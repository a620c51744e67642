package middleware

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Validate is layer 4: it checks the raw arguments against the published schema
// and the tool's rules, reports all issues at once, and freezes what every
// later layer, the handler and Discord get to see.
func Validate() mcpcore.Middleware {
	return mcpcore.Middleware{Name: "validate", Guard: mcpcore.GuardValidate, Wrap: func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			if err := call.Validate(); err != nil {
				return nil, err
			}
			return next(ctx, call)
		}
	}}
}
