package workflows

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeSKUs         = "GET /applications/{application_id}/skus"
	routeEntitlement  = "GET /applications/{application_id}/entitlements/{entitlement_id}"
	routeEntitlements = "GET /applications/{application_id}/entitlements"

	entitlementsPage = 100 // of one answer
)

// Types of what an application sells, and flags of who can have it.
//
// Source: https://docs.discord.com/developers/resources/sku#sku-object.
const (
	skuConsumable   = 3
	skuSubscription = 5
	skuForGuild     = 1 << 7
	skuForUser      = 1 << 8
)

// sku is something the application sells.
type sku struct {
	ID          discord.SKUID         `json:"id"`
	Application discord.ApplicationID `json:"application_id"`
	Type        int                   `json:"type"`
	Name        string                `json:"name"`
	Flags       int                   `json:"flags"`
}

// sku reads all that the application sells: the one of an id, and a digest of all.
func (r *reads) sku(ctx context.Context, of ofApplication, id discord.SKUID) (one sku, catalogue string, err error) {
	var all []sku
	if err := r.get(ctx, routeSKUs, of.path(), &all); err != nil {
		return one, "", err
	}
	slices.SortFunc(all, func(a, b sku) int { return discord.CompareIDs(a.ID, b.ID) })
	for _, s := range all {
		if s.ID == "" || s.Application != of.ApplicationID || s.Type == 0 {
			return one, "", incomplete("what the application sells")
		}
		if s.ID == id {
			one = s
		}
	}
	if one.ID == "" {
		return one, "", refused("sku-missing", "the application sells no %s", id)
	}
	return one, snapshot(all), nil
}

// entitlement is what somebody has of it.
type entitlement struct {
	ID          discord.EntitlementID `json:"id"`
	SKU         discord.SKUID         `json:"sku_id"`
	Application discord.ApplicationID `json:"application_id"`
	User        discord.UserID        `json:"user_id"`
	Guild       *discord.GuildID      `json:"guild_id"`
	Deleted     bool                  `json:"deleted"`
	Starts      *string               `json:"starts_at"`
	Ends        *string               `json:"ends_at"`
	Consumed    bool                  `json:"consumed"`
}

// entitlement reads one.
func (r *reads) entitlement(ctx context.Context, of ofApplication, id discord.EntitlementID) (e entitlement, err error) {
	if err := r.get(ctx, routeEntitlement, of.entitlement(id), &e); err != nil {
		return e, err
	}
	if e.ID != id || e.Application != of.ApplicationID || e.SKU == "" {
		return e, incomplete("the entitlement")
	}
	return e, nil
}

func (a ofApplication) entitlement(id discord.EntitlementID) path {
	at := a.path()
	at["entitlement_id"] = string(id)
	return at
}

// active refuses what is not or no longer there to be had.
func (e entitlement) active(now time.Time) error {
	starts, ends := now, now.Add(time.Second)
	for _, moment := range []struct {
		told *string
		to   *time.Time
	}{{e.Starts, &starts}, {e.Ends, &ends}} {
		if moment.told == nil {
			continue
		}
		var err error
		if *moment.to, err = time.Parse(time.RFC3339, *moment.told); err != nil {
			return incomplete("the entitlement")
		}
	}
	switch {
	case e.Deleted:
		return refused("deleted", "the entitlement was deleted")
	case starts.After(now):
		return refused("not-started", "the entitlement has not begun")
	case !ends.After(now):
		return refused("ended", "the entitlement has ended")
	}
	return nil
}

// declined reports whether an error is a refusal of the plan's own, and not of
// reading what it takes.
func declined(err error) bool {
	e, ok := errors.AsType[*mcpcore.Error](err)
	return ok && e.Code == mcpcore.CodePlanRefused
}

// belongs reports whether it is the guild's or, where that is "", the user's own.
func (e entitlement) belongs(guild discord.GuildID, user discord.UserID) bool {
	if guild != "" {
		return e.Guild != nil && *e.Guild == guild
	}
	return e.User == user && (e.Guild == nil || *e.Guild == "")
}
