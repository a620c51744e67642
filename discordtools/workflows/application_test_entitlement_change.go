package workflows

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeTestEntitlementCreate = "POST /applications/{application_id}/entitlements"
	routeTestEntitlementDelete = "DELETE /applications/{application_id}/entitlements/{entitlement_id}"
)

type testEntitlementChange struct {
	ofApplication
	Action        string                `json:"action" enum:"create,delete"`
	GuildID       discord.GuildID       `json:"guildId,omitempty" jsonschema:"who has it: a guild, or with userId a user"`
	UserID        discord.UserID        `json:"userId,omitempty"`
	SKUID         discord.SKUID         `json:"skuId" jsonschema:"subscription, of type 5"`
	EntitlementID discord.EntitlementID `json:"entitlementId,omitempty" jsonschema:"with delete, what the creation made"`
	CreationKey   string                `json:"creationOperationKey,omitempty" jsonschema:"with delete, the operationKey of the creation" pattern:"^[A-Za-z0-9][A-Za-z0-9._:-]{15,127}$"`
	Irreversible  bool                  `json:"acknowledgeIrreversible,omitempty" jsonschema:"with delete, true: whoever has it loses what it gave"`
}

type testEntitlementState struct {
	Application applicationSeen `json:"application"`
	SKU         sku             `json:"sku"`
	Catalogue   string          `json:"catalogue" jsonschema:"digest of all that the application sells"`
	Now         *entitlement    `json:"current"`
	Creation    mcpcore.Digest  `json:"creationPlan,omitempty" jsonschema:"the plan by which it was made"`
}

type testEntitlementBody struct {
	SKU   discord.SKUID   `json:"sku_id"`
	Owner discord.OwnerID `json:"owner_id"`
	Kind  int             `json:"owner_type"`
}

// applicationTestEntitlementChange gives somebody a subscription to test, and takes
// back what it gave.
func applicationTestEntitlementChange(rest discordtools.REST) mcpcore.Workflow {
	return change[testEntitlementChange, testEntitlementState]{
		Name: "application-test-entitlement-change", Category: "application-entitlement-changes", Title: "Give and take a subscription to test",
		Doc: `Gives a guild or user a subscription without payment and without end, to test it, or takes it back. Only what was
			given in this way is taken back: the creation's operationKey must be given.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ApplicationScope,
		Scopes: []mcpcore.PolicyScope{
			theApplication("applications whose subscriptions may be tested"),
			guildsScope("guilds that may get a subscription to test"),
			{Name: "users", Arg: "userId", Doc: "users who may get a subscription to test"},
			{Name: "skus", Arg: "skuId", Doc: "subscriptions that may be tested"},
		},
		Rules: []mcpcore.Rule{{Check: checkTestEntitlement}}, Redact: []string{"creationOperationKey"},
		Reads: append(slices.Clone(applicationRoutes), routeSKUs, routeEntitlement, routeEntitlements),
		Write: []string{routeTestEntitlementCreate, routeTestEntitlementDelete},
		Plan:  planTestEntitlement,
		Targets: func(in testEntitlementChange, _ testEntitlementState) []mcpcore.Target {
			return []mcpcore.Target{allOf("entitlements", in.ApplicationID)}
		},
		Apply: func(ctx context.Context, w *write, in testEntitlementChange, s testEntitlementState) (done mcpcore.Written, err error) {
			if in.Action == "delete" {
				err := w.send(ctx, routeTestEntitlementDelete, in.entitlement(in.EntitlementID), nil, nil)
				return mcpcore.Written{ID: string(in.EntitlementID)}, err
			}
			var e entitlement
			if err := w.send(ctx, routeTestEntitlementCreate, in.path(), in.body(), &e); err != nil {
				return done, err
			}
			if done.ID, err = id(e.ID); err == nil {
				err = in.made(e)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in testEntitlementChange, s testEntitlementState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.entitlement(ctx, in.ofApplication, discord.EntitlementID(w.ID))
			switch {
			case in.Action == "delete" && err == nil && now.Deleted:
				return found, nil
			case in.Action == "delete":
				return found, vanished(err, "entitlement")
			case err != nil:
				return found, err
			}
			var d drift
			d.unless(now.Ends == nil, "ends")
			return mcpcore.Reading{Drift: d}, in.made(now)
		},
	}.on(rest)
}

// checkTestEntitlement refuses arguments that do not go with the action.
func checkTestEntitlement(c *mcpcore.Call) *mcpcore.Issue {
	remove := c.Text("action") == "delete"
	switch {
	case c.Has("guildId") == c.Has("userId"):
		return issue("guildId", "or userId must be given, and not both")
	case remove != c.Has("entitlementId"):
		return issue("entitlementId", "is needed with delete, and does not go with create")
	case remove != c.Has("creationOperationKey"):
		return issue("creationOperationKey", "is needed with delete, and does not go with create")
	case remove && !argument[bool](c, "acknowledgeIrreversible"):
		return issue("acknowledgeIrreversible", "must be true with delete")
	}
	return nil
}

func planTestEntitlement(ctx context.Context, r *reads, in testEntitlementChange) (plan mcpcore.Change[testEntitlementState], err error) {
	var s testEntitlementState
	if s.Application, _, err = r.application(ctx, in.ApplicationID); err != nil {
		return plan, err
	}
	if s.SKU, s.Catalogue, err = r.sku(ctx, in.ofApplication, in.SKUID); err != nil {
		return plan, err
	}
	who, owner, flag := "user", string(in.UserID), skuForUser
	if in.GuildID != "" {
		who, owner, flag = "guild", string(in.GuildID), skuForGuild
	}
	if s.SKU.Type != skuSubscription || s.SKU.Flags&flag == 0 {
		return plan, refused("sku-kind", "%s is no subscription of a %s", in.SKUID, who)
	}
	plan = mcpcore.Change[testEntitlementState]{Action: in.Action, Facts: mcpcore.Facts{{Name: "offer", Value: s.SKU.Name}, {Name: who, Value: owner}}}
	if in.Action == "create" {
		plan.Warnings = []string{"It gives what others pay for, until it is deleted."}
		err = r.unentitled(ctx, in)
	} else {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "entitlement", Value: string(in.EntitlementID)})
		plan.Risks = []string{"irreversible"}
		err = r.ownCreation(ctx, in, &s)
	}
	plan.State = s
	return plan, err
}

// unentitled refuses whoever has the subscription already.
func (r *reads) unentitled(ctx context.Context, in testEntitlementChange) error {
	query := map[string][]string{"sku_ids": {string(in.SKUID)}, "exclude_deleted": {"true"}, "limit": {"100"}}
	if in.GuildID != "" {
		query["guild_id"] = []string{string(in.GuildID)}
	} else {
		query["user_id"] = []string{string(in.UserID)}
	}
	var all []entitlement
	if err := r.query(ctx, routeEntitlements, in.path(), query, &all); err != nil {
		return err
	}
	if all == nil || len(all) >= entitlementsPage {
		return incomplete("the entitlements")
	}
	for _, e := range all {
		if e.ID == "" || e.SKU != in.SKUID || e.Application != in.ApplicationID {
			return incomplete("the entitlements")
		}
		if !e.belongs(in.GuildID, in.UserID) {
			continue
		}
		switch err := e.active(time.Now()); {
		case err == nil:
			return refused("already-entitled", "it is there already, by the entitlement %s", e.ID)
		case !declined(err):
			return err
		}
	}
	return nil
}

// ownCreation demands that this workflow gave what is to be taken.
func (r *reads) ownCreation(ctx context.Context, in testEntitlementChange, s *testEntitlementState) error {
	receipt, err := r.Call.Receipt(ctx, in.CreationKey)
	switch {
	case errors.Is(err, mcpcore.ErrReceiptMissing):
		return refused("receipt-missing", "there is no receipt of that creation")
	case err != nil:
		return err
	case receipt.Status != mcpcore.StatusCompleted || receipt.ResourceID != string(in.EntitlementID):
		return refused("not-its-creation", "the receipt of that operationKey is not of a creation of %s that was completed", in.EntitlementID)
	}
	now, err := r.entitlement(ctx, in.ofApplication, in.EntitlementID)
	switch {
	case gone(err) || err == nil && now.Deleted:
		return refused("entitlement-missing", "there is no entitlement %s", in.EntitlementID)
	case err != nil:
		return err
	case now.SKU != in.SKUID || !now.belongs(in.GuildID, in.UserID):
		return refused("other-entitlement", "%s is not what was to be taken", in.EntitlementID)
	}
	s.Creation, s.Now = receipt.Plan, &now
	return nil
}

// made reports whether an entitlement is what was asked for.
func (in testEntitlementChange) made(e entitlement) error {
	if e.Application != in.ApplicationID || e.SKU != in.SKUID || !e.belongs(in.GuildID, in.UserID) || e.Deleted || e.Consumed {
		return errors.New("the entitlement is not the one that was asked for")
	}
	return nil
}

func (in testEntitlementChange) body() testEntitlementBody {
	if in.GuildID != "" {
		return testEntitlementBody{in.SKUID, discord.OwnerID(in.GuildID), 1}
	}
	return testEntitlementBody{in.SKUID, discord.OwnerID(in.UserID), 2}
}
