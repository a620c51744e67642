package middleware

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// CategoryGate is layer 6: it refuses tools of categories that are off
// (SCOPE_REJECTED). nil allows every category; the category "meta" is always
// on, since its tools pass each of their steps through the chain.
func CategoryGate(categories []string) mcpcore.Middleware {
	m := mcpcore.Middleware{Name: "category_gate", Wrap: pass}
	if categories == nil {
		return m
	}
	granted := append([]string{}, categories...) // not nil, which would be all
	slices.Sort(granted)
	m.Wrap = func(next mcpcore.Handler) mcpcore.Handler {
		return func(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
			t := call.Tool()
			if !InCategories(t, granted) {
				return nil, mcpcore.Errorf(mcpcore.CodeScopeRejected, "the category %s of %s is off on this server", t.Category, t.Name).
					With("tool", t.Name).With("required", t.Category).With("granted", granted)
			}
			return next(ctx, call)
		}
	}
	return m
}

// InCategories reports whether the tool is on when only the given categories
// are; nil is all of them.
func InCategories(t *mcpcore.Tool, categories []string) bool {
	return categories == nil || t.Category == "meta" || slices.Contains(categories, t.Category)
}
