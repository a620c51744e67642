// Package preconditions holds ready-made preconditions for tools and policies.
// Writing one's own needs nothing from here: a precondition is a value of
// [mcpcore.Precondition] with a name and a check.
//
//	var businessHours = mcpcore.Precondition{
//		Name: "business_hours",
//		Doc:  "Acts on weekdays only.",
//		Check: func(ctx context.Context, call *mcpcore.Call) error {
//			if d := time.Now().Weekday(); d == time.Saturday || d == time.Sunday {
//				return errors.New("nobody is here to help if it goes wrong; wait for Monday")
//			}
//			return nil
//		},
//	}
package preconditions

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// ConfirmRequired is the two-key gate. The operator holds one key: armed, which
// is MCP_DRY_RUN being exactly the text "false" at start. The caller holds the
// other: __confirm, exactly the boolean true. Without both it refuses with
// DRY_RUN_PREVIEW, which shows the redacted arguments and the tool's facts.
//
// With a ledger a preview is noted, and a confirmed call is held against it:
// other facts than were shown refuse it with FACTS_CHANGED, and a confirmation
// without a preview is unexpected; see [mcpcore.Call.CheckPreview].
//
// It proves that the server was armed and that the caller insisted, not that a
// person agreed.
func ConfirmRequired(armed bool) mcpcore.Precondition {
	return mcpcore.Precondition{
		Name: "confirm_required",
		Doc:  "Acts only when the server is armed (MCP_DRY_RUN=false) and the call carries __confirm: true.",
		Gate: mcpcore.TwoKey,
		Check: func(ctx context.Context, call *mcpcore.Call) error {
			if armed && call.Confirmed() {
				return call.CheckPreview(ctx)
			}
			return preview(ctx, call, armed)
		},
	}
}

// TwoKeys requires [ConfirmRequired] of every tool whose gate is two-key.
func TwoKeys(armed bool) mcpcore.Policy {
	return mcpcore.Policy{
		Name:    "two_keys",
		Match:   func(t *mcpcore.Tool) bool { return t.EffectiveGate() == mcpcore.TwoKey },
		Require: []mcpcore.Precondition{ConfirmRequired(armed)},
	}
}

func preview(ctx context.Context, call *mcpcore.Call, armed bool) error {
	facts, err := call.Facts(ctx)
	if err != nil {
		return err
	}
	if err := call.NotePreview(ctx); err != nil {
		return err
	}
	e := mcpcore.Errorf(mcpcore.CodeDryRun, "this is a preview, nothing was changed; %s", missingKeys(armed, call.Confirmed()))
	if len(facts) > 0 {
		e.With("facts", facts)
	}
	return e.With("tool", call.Tool().Name).With("preview", call.Preview())
}

func missingKeys(armed, confirmed bool) string {
	switch {
	case !armed && !confirmed:
		return "the server is not armed and the call is not confirmed"
	case !armed:
		return "the server is not armed"
	}
	return "the call is not confirmed"
}
