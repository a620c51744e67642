package middleware

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/preconditions"
)

// CategoryGate is layer 6: it refuses tools of categories that are off
// (SCOPE_REJECTED). nil allows every category; the category "meta" is always
// on, since its tools pass each of their steps through the chain.
func CategoryGate(categories []string) mcpcore.Middleware {
	m := mcpcore.Middleware{Name: "category_gate", Wrap: pass}
	if categories == nil {
		return m
	}
	enabled := preconditions.CategoryEnabled(categories)
	m.Wrap = func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			if err := enabled.Check(ctx, call); err != nil {
				return nil, err
			}
			return next(ctx, call)
		}
	}
	return m
}
