package preconditions

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// CategoryEnabled refuses tools of other categories than the given ones
// (SCOPE_REJECTED), as the layer category_gate does; with a policy it holds for
// some tools alone. nil enables every category, an empty list none but "meta",
// which is always on. The list is copied.
func CategoryEnabled(categories []string) mcpcore.Precondition {
	p := mcpcore.Precondition{
		Name:  "category_enabled",
		Doc:   "Acts only when the tool's category is on.",
		Check: func(context.Context, *mcpcore.Call) error { return nil },
	}
	if categories == nil {
		return p
	}
	granted := append([]string{}, categories...) // not nil: it is sent as a list
	slices.Sort(granted)
	p.Check = func(_ context.Context, call *mcpcore.Call) error {
		t := call.Tool()
		if InCategories(t, granted) {
			return nil
		}
		return mcpcore.Errorf(mcpcore.CodeScopeRejected, "the category %s of %s is off on this server", t.Category, t.Name).
			With("tool", t.Name).With("required", t.Category).With("granted", granted)
	}
	return p
}

// InCategories reports whether the tool is on when only the given categories
// are; nil is all of them.
func InCategories(t *mcpcore.Tool, categories []string) bool {
	return categories == nil || t.Category == "meta" || slices.Contains(categories, t.Category)
}
