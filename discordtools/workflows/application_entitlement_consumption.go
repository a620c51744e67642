package workflows

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeConsume = "POST /applications/{application_id}/entitlements/{entitlement_id}/consume"

type consumption struct {
	ofApplication
	UserID        discord.UserID        `json:"userId" jsonschema:"who bought it"`
	SKUID         discord.SKUID         `json:"skuId" jsonschema:"what was bought"`
	EntitlementID discord.EntitlementID `json:"entitlementId" jsonschema:"the purchase"`
	Reference     string                `json:"fulfilmentReference" jsonschema:"names in your own books what was handed over; only a digest of it is kept" pattern:"^[A-Za-z0-9][A-Za-z0-9._:-]{15,127}$"`
	Fulfilled     bool                  `json:"acknowledgeFulfilment" jsonschema:"true: the buyer got what they paid for, outside of this server"`
	Irreversible  bool                  `json:"acknowledgeIrreversible" jsonschema:"true: the purchase is used up for good"`
}

type consumptionState struct {
	Application applicationSeen `json:"application"`
	SKU         sku             `json:"sku"`
	Catalogue   string          `json:"catalogue" jsonschema:"digest of all that the application sells"`
	Entitlement entitlement     `json:"entitlement"`
	Fulfilment  string          `json:"fulfilment" jsonschema:"digest of the reference"`
}

// applicationEntitlementConsumption uses up what somebody bought once.
func applicationEntitlementConsumption(rest discordtools.REST) mcpcore.Workflow {
	return change[consumption, consumptionState]{
		Name: "application-entitlement-consumption", Category: "application-entitlement-changes", Title: "Use up a purchase",
		Doc: `Marks one purchase of a consumable as used up, after the buyer got what they paid for; they can then buy it again.
			It hands nothing over itself and cannot be taken back.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ApplicationScope,
		Scopes: []mcpcore.PolicyScope{
			theApplication("applications whose sales may be used up"),
			{Name: "users", Arg: "userId", Doc: "users whose purchases may be used up"},
			{Name: "skus", Arg: "skuId", Doc: "consumables that may be used up"},
		},
		Acknowledge: []string{"acknowledgeFulfilment", "acknowledgeIrreversible"}, Redact: []string{"fulfilmentReference"},
		Reads: append(slices.Clone(applicationRoutes), routeSKUs, routeEntitlement), Write: []string{routeConsume},
		Plan: planConsumption,
		Targets: func(in consumption, _ consumptionState) []mcpcore.Target {
			return []mcpcore.Target{allOf("entitlements", in.ApplicationID)}
		},
		Apply: func(ctx context.Context, w *write, in consumption, _ consumptionState) (mcpcore.Written, error) {
			err := w.send(ctx, routeConsume, in.entitlement(in.EntitlementID), nil, nil)
			return mcpcore.Written{ID: string(in.EntitlementID)}, err
		},
		ReadBack: func(ctx context.Context, r *reads, in consumption, s consumptionState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.entitlement(ctx, in.ofApplication, in.EntitlementID)
			if err != nil {
				return found, err
			}
			if !now.Consumed || now.SKU != in.SKUID || !now.belongs("", in.UserID) {
				return found, errors.New("the purchase is not used up")
			}
			var d drift
			wanted := s.Entitlement
			wanted.Consumed = true
			d.unless(compact(now) == compact(wanted), "entitlement")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func planConsumption(ctx context.Context, r *reads, in consumption) (plan mcpcore.Change[consumptionState], err error) {
	s := consumptionState{Fulfilment: digest([]byte("fulfilment\x00" + in.Reference))}
	if s.Application, _, err = r.application(ctx, in.ApplicationID); err != nil {
		return plan, err
	}
	if s.SKU, s.Catalogue, err = r.sku(ctx, in.ofApplication, in.SKUID); err != nil {
		return plan, err
	}
	if s.SKU.Type != skuConsumable {
		return plan, refused("not-consumable", "%s is not used up", in.SKUID)
	}
	if s.Entitlement, err = r.entitlement(ctx, in.ofApplication, in.EntitlementID); err != nil {
		return plan, err
	}
	if e := s.Entitlement; e.SKU != in.SKUID || !e.belongs("", in.UserID) {
		return plan, refused("other-entitlement", "%s is not what %s has of %s", in.EntitlementID, in.UserID, in.SKUID)
	}
	plan = mcpcore.Change[consumptionState]{
		Action: "consume", State: s, Risks: []string{"irreversible"},
		Facts: mcpcore.Facts{
			{Name: "offer", Value: s.SKU.Name}, {Name: "buyer", Value: string(in.UserID)}, {Name: "purchase", Value: string(in.EntitlementID)}, {Name: "fulfilment", Value: s.Fulfilment},
		},
		Warnings: []string{"Whether the buyer got what they paid for cannot be seen."},
	}
	if s.Entitlement.Consumed {
		nothing(&plan)
		return plan, nil
	}
	return plan, s.Entitlement.active(r.Call.Now())
}
