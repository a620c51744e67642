package preconditions

import (
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// ConsentAdvisory keeps the consent gate open: whether a person agreed to be
// written to is the caller's to know (MCP_DM_CONSENT_MODE is not "require"). It
// stops nothing.
func ConsentAdvisory() mcpcore.Policy {
	return mcpcore.Policy{
		Name:  "consent_advisory",
		Match: func(t *mcpcore.Tool) bool { return t.EffectiveGate() == mcpcore.Consent },
		Require: []mcpcore.Precondition{{
			Name:  "consent_advisory",
			Doc:   "Leaves to the caller whether the recipient agreed to be written to.",
			Gate:  mcpcore.Consent,
			Check: func(context.Context, *mcpcore.Call) error { return nil },
		}},
	}
}
