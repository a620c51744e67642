package discordtools

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/preconditions"
)

// consentReviewed holds a reviewed workflow that opens a conversation to the
// consent of users_create_dm: its recipient is approved before a person reviews
// what is written. Who is in a conversation already was approved then.
func consentReviewed() mcpcore.Policy {
	consent := preconditions.Consent("userId")
	required := consent.Check
	consent.Check = func(ctx context.Context, call *mcpcore.Call) error {
		if call.Text("action") != "send" {
			return nil
		}
		return required(ctx, call)
	}
	return mcpcore.Policy{
		Name: "consent_required_reviewed",
		Match: func(t *mcpcore.Tool) bool {
			return t.EffectiveGate() == mcpcore.Reviewed && slices.Contains(t.Routes, "POST /users/@me/channels")
		},
		Require: []mcpcore.Precondition{consent},
	}
}
