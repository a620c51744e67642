package preconditions

import (
	"context"
	"time"

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

// Consent is the consent gate: a person is written to only when somebody
// approved exactly this recipient before. The first call is refused with
// DM_CONSENT_REQUIRED, which issues a one-time approval; the second carries
// __consent: true, __consent_hash and __consent_id of it. It does not depend on
// the operator's key. recipient names the argument that says who is written to.
//
// It proves that the caller sent the call twice and meant it, not that the
// recipient agreed.
func Consent(recipient string) mcpcore.Precondition {
	return mcpcore.Precondition{
		Name:   "consent_required",
		Doc:    "Writes to a person only with a one-time approval of exactly this recipient.",
		Gate:   mcpcore.Consent,
		Fields: []string{"__consent", "__consent_hash", "__consent_id"},
		Check: func(ctx context.Context, call *mcpcore.Call) error {
			hash, id := call.Fingerprint(mcpcore.ForConsent), mcpcore.ApprovalID(call.Authorization("__consent_id"))
			if call.Consented() && call.Authorization("__consent_hash") == string(hash) && id != "" {
				return call.Pledge(ctx, mcpcore.ForConsent, id)
			}
			a, err := call.Propose(ctx, mcpcore.Proposal{Purpose: mcpcore.ForConsent})
			if err != nil {
				return err
			}
			return mcpcore.Errorf(mcpcore.CodeConsentRequired, "writing to this person was not approved yet, so nothing was done").
				With("tool", call.Tool().Name).With("recipient_id", call.Text(recipient)).
				With("consent_hash", hash).With("consent_id", a.ID).
				With("consent_expires_at", a.Expires.UTC().Format(time.RFC3339))
		},
	}
}

// ConsentRequired requires [Consent] of every tool whose gate is consent.
func ConsentRequired(recipient string) mcpcore.Policy {
	return mcpcore.Policy{
		Name:    "consent_required",
		Match:   func(t *mcpcore.Tool) bool { return t.EffectiveGate() == mcpcore.Consent },
		Require: []mcpcore.Precondition{Consent(recipient)},
	}
}
