package discordtools

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// monetization is what the application sells (SKUs), who has it (entitlements) and
// who pays for it again and again (subscriptions).
//
// Source: https://docs.discord.com/developers/resources/entitlement.
func monetization() category {
	return category{Name: "monetization", Scope: mcpcore.ApplicationScope, Tools: []declaration{
		write[entitlementRef, entitlementConsumed]{
			Name:       "entitlements_consume",
			Title:      "Consume an entitlement",
			Doc:        `Marks a one-time purchase as used up, after the buyer got what they paid for; they can then buy it again. It cannot be taken back.`,
			Route:      "POST /applications/{application_id}/entitlements/{entitlement_id}/consume",
			Repeatable: true,
			Run:        ofApplication[entitlementRef, entitlementConsumed],
		},
		write[entitlementsCreateTest, entitlementSaved]{
			Name:  "entitlements_create_test",
			Title: "Create a test entitlement",
			Doc:   `Gives a guild or user something the application sells, without payment and without end, to test it. Take it back with entitlements_delete_test.`,
			Route: "POST /applications/{application_id}/entitlements",
		},
		destroy[entitlementRef, entitlementDeleted]{
			Name:  "entitlements_delete_test",
			Title: "Delete a test entitlement",
			Doc:   `Deletes a test entitlement: who has it loses what it gave. Discord refuses it for what was paid for.`,
			Route: "DELETE /applications/{application_id}/entitlements/{entitlement_id}",
			Calls: []string{routeEntitlement, routeSKUs},
			Facts: entitlementFacts,
			Run:   ofApplication[entitlementRef, entitlementDeleted],
		},
		read[entitlementRef, entitlement]{
			Name:  "entitlements_get",
			Title: "Get an entitlement",
			Doc:   `Reads who has what of the application's offers, and until when.`,
			Route: routeEntitlement,
		},
		read[entitlementsList, entitlementsPage]{
			Name:  "entitlements_list",
			Title: "List entitlements",
			Doc:   `Lists who has what of the application's offers, also what has ended. To go on, call again with after set to next_after, or before to next_before.`,
			Route: "GET /applications/{application_id}/entitlements",
			Rules: []mcpcore.Rule{mcpcore.Exclusive("before", "after")},
			Set:   []added{limit(100)},
		},
		read[skusList, skusPage]{
			Name:  "skus_list",
			Title: "List SKUs",
			Doc:   `Lists what the application sells. Of a subscription there are two; use that of type 5, the other (6) is Discord's own.`,
			Route: routeSKUs,
			Fence: fence.ChannelTopic,
		},
		read[subscriptionRef, subscription]{
			Name:  "subscriptions_get",
			Title: "Get a subscription",
			Doc:   `Reads one subscription to a SKU. Whether somebody may use what they pay for say entitlements, not this.`,
			Route: "GET /skus/{sku_id}/subscriptions/{subscription_id}",
		},
		read[subscriptionsList, subscriptionsPage]{
			Name:  "subscriptions_list",
			Title: "List subscriptions",
			Doc:   `Lists a user's subscriptions to a SKU. Discord wants user_id of bots. To go on, call again with after set to next_after, or before to next_before.`,
			Route: "GET /skus/{sku_id}/subscriptions",
			Rules: []mcpcore.Rule{mcpcore.Exclusive("before", "after")},
			Set:   []added{limit(50)},
		},
	}}
}

const (
	routeEntitlement = "GET /applications/{application_id}/entitlements/{entitlement_id}"
	routeSKUs        = "GET /applications/{application_id}/skus"
)

type entitlementRef struct {
	applicationRef
	EntitlementID discord.EntitlementID `json:"entitlement_id" jsonschema:"entitlement"`
}

type entitlementConsumed struct {
	Consumed bool `json:"consumed" from:"@true"`
	whose
	EntitlementID discord.EntitlementID `json:"entitlement_id" from:"@arg"`
}

type entitlementDeleted struct {
	Deleted bool `json:"deleted" from:"@true"`
	whose
	EntitlementID discord.EntitlementID `json:"entitlement_id" from:"@arg"`
}

type entitlementsCreateTest struct {
	applicationRef
	SKUID     discord.SKUID   `json:"sku_id" jsonschema:"what is given, from skus_list"`
	OwnerID   discord.OwnerID `json:"owner_id" jsonschema:"guild or user who gets it"`
	OwnerType int             `json:"owner_type" jsonschema:"1 a guild, 2 a user" enum:"1,2"`
}

// entitlementSaved is what Discord promises of a new one.
type entitlementSaved struct {
	ID            discord.EntitlementID `json:"id"`
	SKUID         discord.SKUID         `json:"sku_id"`
	ApplicationID discord.ApplicationID `json:"application_id"`
	UserID        discord.UserID        `json:"user_id,omitempty"`
	GuildID       *discord.GuildID      `json:"guild_id"`
	Type          int                   `json:"type"`
}

type entitlement struct {
	entitlementSaved
	Deleted  bool    `json:"deleted"`
	StartsAt *string `json:"starts_at"`
	EndsAt   *string `json:"ends_at" jsonschema:"null: no end is known"`
	Consumed bool    `json:"consumed,omitempty"`
}

type entitlementsList struct {
	applicationRef
	UserID         discord.UserID    `json:"user_id,omitempty" jsonschema:"only this user's"`
	SKUIDs         []discord.SKUID   `json:"sku_ids,omitempty" join:"," jsonschema:"only of these" maxItems:"100" uniqueItems:"true"`
	Before         discord.Snowflake `json:"before,omitempty" jsonschema:"only smaller ids"`
	After          discord.Snowflake `json:"after,omitempty" jsonschema:"only greater ids"`
	Limit          int               `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"100" default:"100"`
	GuildID        discord.GuildID   `json:"guild_id,omitempty" jsonschema:"only this guild's"`
	ExcludeEnded   bool              `json:"exclude_ended,omitempty" jsonschema:"leave out what has ended"`
	ExcludeDeleted bool              `json:"exclude_deleted,omitempty" jsonschema:"false also shows deleted ones" default:"true"`
}

type entitlementsPage struct {
	Entitlements []entitlement `json:"entitlements" from:"@reply"`
	page
	onward[discord.EntitlementID]
}

func (v *entitlementsPage) derive(call *mcpcore.Call) {
	if n := len(v.Entitlements); n > 0 {
		v.lead(call, v.page, v.Entitlements[0].ID, v.Entitlements[n-1].ID)
	}
}

type skusList struct {
	applicationRef
	offset
}

type skusPage struct {
	SKUs []sku `json:"skus" from:"@reply"`
	part
}

type sku struct {
	ID    discord.SKUID `json:"id"`
	Type  int           `json:"type" jsonschema:"2 bought once, 3 used up, 5 subscription, 6 its group"`
	Name  string        `json:"name"`
	Slug  string        `json:"slug"`
	Flags int           `json:"flags" jsonschema:"4 on sale, 128 for a guild, 256 for a user"`
}

type skuRef struct {
	SKUID discord.SKUID `json:"sku_id" jsonschema:"SKU, from skus_list"`
}

type subscriptionRef struct {
	skuRef
	SubscriptionID discord.SubscriptionID `json:"subscription_id" jsonschema:"subscription"`
}

type subscriptionsList struct {
	skuRef
	Before discord.Snowflake `json:"before,omitempty" jsonschema:"only smaller ids"`
	After  discord.Snowflake `json:"after,omitempty" jsonschema:"only greater ids"`
	Limit  int               `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"100" default:"50"`
	UserID discord.UserID    `json:"user_id,omitempty" jsonschema:"whose"`
}

type subscription struct {
	ID             discord.SubscriptionID  `json:"id"`
	UserID         discord.UserID          `json:"user_id"`
	SKUIDs         []discord.SKUID         `json:"sku_ids"`
	RenewalSKUIDs  []discord.SKUID         `json:"renewal_sku_ids,omitempty"`
	EntitlementIDs []discord.EntitlementID `json:"entitlement_ids"`
	PeriodStart    string                  `json:"current_period_start"`
	PeriodEnd      string                  `json:"current_period_end"`
	Status         int                     `json:"status" jsonschema:"0 active, 1 inactive, 2 ends with the period"`
	CanceledAt     *string                 `json:"canceled_at"`
}

type subscriptionsPage struct {
	Subscriptions []subscription `json:"subscriptions" from:"@reply"`
	page
	onward[discord.SubscriptionID]
}

func (v *subscriptionsPage) derive(call *mcpcore.Call) {
	if n := len(v.Subscriptions); n > 0 {
		v.lead(call, v.page, v.Subscriptions[0].ID, v.Subscriptions[n-1].ID)
	}
}

func entitlementFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var e entitlement
	if err := a.show(ctx, routeEntitlement, sub{}, &e); err != nil {
		return nil, err
	}
	var offers []sku
	if err := a.do(ctx, routeSKUs, sub{}, &offers); err != nil {
		return nil, err
	}
	offer := unknown
	if i := slices.IndexFunc(offers, func(s sku) bool { return s.ID == e.SKUID }); i >= 0 {
		offer = offers[i].Name
	}
	facts := mcpcore.Facts{{Name: "offer", Value: offer}, {Name: "SKU", Value: string(e.SKUID)}}
	if e.GuildID != nil {
		facts = append(facts, mcpcore.Fact{Name: "guild that loses it", Value: string(*e.GuildID)})
	} else {
		facts = append(facts, mcpcore.Fact{Name: "user who loses it", Value: string(e.UserID)})
	}
	if e.EndsAt != nil {
		facts = append(facts, mcpcore.Fact{Name: "ends", Value: *e.EndsAt})
	}
	return facts, nil
}
