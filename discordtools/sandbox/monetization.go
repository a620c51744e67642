package sandbox

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// monetizationRoutes are what the application sells and who has it.
//
// Source: https://docs.discord.com/developers/resources/entitlement.
var monetizationRoutes = []route{
	{method: "GET", path: "/applications/{application_id}/skus", handle: inApplication(listSKUs)},
	{method: "GET", path: "/applications/{application_id}/entitlements", handle: inApplication(listEntitlements)},
	{method: "POST", path: "/applications/{application_id}/entitlements", handle: inApplication(createEntitlement)},
	{method: "GET", path: "/applications/{application_id}/entitlements/{entitlement_id}", handle: onEntitlement(getEntitlement)},
	{method: "DELETE", path: "/applications/{application_id}/entitlements/{entitlement_id}", handle: onEntitlement(deleteEntitlement)},
	{method: "POST", path: "/applications/{application_id}/entitlements/{entitlement_id}/consume", handle: onEntitlement(consumeEntitlement)},
	{method: "GET", path: "/skus/{sku_id}/subscriptions", handle: onSKU(listSubscriptions)},
	{method: "GET", path: "/skus/{sku_id}/subscriptions/{subscription_id}", handle: onSKU(getSubscription)},
}

// Types of SKUs.
const (
	SKUDurable           = 2
	SKUConsumable        = 3
	SKUSubscription      = 5
	SKUSubscriptionGroup = 6
)

// applicationSubscription is the type of entitlements that Discord describes.
const applicationSubscription = 8

var (
	errNoSKU         = notFound(10027, "Unknown SKU")
	errNoEntitlement = notFound(10029, "Unknown Entitlement")
)

// SKU is something the application sells.
type SKU struct {
	ID    discord.SKUID
	Type  int
	Name  string
	Slug  string
	Flags int
}

// Entitlement is what somebody has of the application's offers.
type Entitlement struct {
	ID       discord.EntitlementID
	SKU      discord.SKUID
	User     discord.UserID // who has it or bought it
	Guild    discord.GuildID
	Deleted  bool
	Starts   time.Time
	Ends     time.Time // zero is never
	Consumed bool
	Test     bool // made to test, not paid for
}

// Subscription is a payment that is made again and again.
type Subscription struct {
	ID           discord.SubscriptionID
	User         discord.UserID
	SKUs         []discord.SKUID
	Entitlements []discord.EntitlementID
	Start, End   time.Time
	Status       int
	Canceled     time.Time
}

// AddSKU adds something that the application sells.
func (d *Discord) AddSKU(s SKU) discord.SKUID {
	d.mu.Lock()
	defer d.mu.Unlock()
	named(&d.world, &s.ID)
	unused(d.world.app.skus, s.ID)
	d.world.app.skus[s.ID] = &s
	return s.ID
}

// AddEntitlement gives somebody something that the application sells.
func (d *Discord) AddEntitlement(e Entitlement) discord.EntitlementID {
	d.mu.Lock()
	defer d.mu.Unlock()
	known(d.world.app.skus, e.SKU)
	named(&d.world, &e.ID)
	unused(d.world.app.entitlements, e.ID)
	d.world.app.entitlements[e.ID] = &e
	return e.ID
}

// Entitlement is an entitlement, false when there is none.
func (d *Discord) Entitlement(id discord.EntitlementID) (Entitlement, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return copied(d.world.app.entitlements[id])
}

// AddSubscription adds a subscription.
func (d *Discord) AddSubscription(s Subscription) discord.SubscriptionID {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, of := range s.SKUs {
		known(d.world.app.skus, of)
	}
	named(&d.world, &s.ID)
	unused(d.world.app.subscriptions, s.ID)
	d.world.app.subscriptions[s.ID] = &s
	return s.ID
}

type skuView struct {
	ID          discord.SKUID         `json:"id"`
	Type        int                   `json:"type"`
	Application discord.ApplicationID `json:"application_id"`
	Name        string                `json:"name"`
	Slug        string                `json:"slug"`
	Flags       int                   `json:"flags"`
}

func listSKUs(x *exchange) (answer, error) {
	return ok(mapped(sorted(x.app.skus), func(s *SKU) skuView {
		return skuView{s.ID, s.Type, ApplicationID, s.Name, s.Slug, s.Flags}
	}))
}

type entitlementView struct {
	ID          discord.EntitlementID `json:"id"`
	SKU         discord.SKUID         `json:"sku_id"`
	Application discord.ApplicationID `json:"application_id"`
	User        discord.UserID        `json:"user_id"`
	Guild       *discord.GuildID      `json:"guild_id"`
	Deleted     bool                  `json:"deleted"`
	Starts      *string               `json:"starts_at"`
	Ends        *string               `json:"ends_at"`
	Type        int                   `json:"type"`
	Consumed    bool                  `json:"consumed"`
}

func viewEntitlement(e *Entitlement) entitlementView {
	return entitlementView{
		e.ID, e.SKU, ApplicationID, e.User, textOrNull(e.Guild), e.Deleted, stampOrNull(e.Starts), stampOrNull(e.Ends), applicationSubscription, e.Consumed,
	}
}

func onEntitlement(handle func(*exchange, *Entitlement) (answer, error)) handler {
	return inApplication(func(x *exchange) (answer, error) {
		e := x.app.entitlements[id[discord.EntitlementID](x, "entitlement_id")]
		if e == nil {
			return refuse(errNoEntitlement)
		}
		return handle(x, e)
	})
}

// listEntitlements leaves out deleted ones unless asked for them.
func listEntitlements(x *exchange) (answer, error) {
	withoutEnded, err := x.flag("exclude_ended")
	if err != nil {
		return refuse(err)
	}
	withoutDeleted := true
	if x.query.Has("exclude_deleted") {
		if withoutDeleted, err = x.flag("exclude_deleted"); err != nil {
			return refuse(err)
		}
	}
	user, guild := x.query.Get("user_id"), x.query.Get("guild_id")
	var skus []string
	if s := x.query.Get("sku_ids"); s != "" {
		skus = strings.Split(s, ",")
	}
	all := slices.DeleteFunc(sorted(x.app.entitlements), func(e *Entitlement) bool {
		ended := !e.Ends.IsZero() && !e.Ends.After(x.now)
		return withoutEnded && ended || withoutDeleted && e.Deleted || user != "" && string(e.User) != user ||
			guild != "" && string(e.Guild) != guild || skus != nil && !slices.Contains(skus, string(e.SKU))
	})
	shown, err := page(x, all, func(e *Entitlement) string { return string(e.ID) }, 100, 100)
	if err != nil {
		return refuse(err)
	}
	return ok(mapped(shown, viewEntitlement))
}

func getEntitlement(_ *exchange, e *Entitlement) (answer, error) { return ok(viewEntitlement(e)) }

// createEntitlement makes a test entitlement, which never ends. A guild's is named
// after the application's owner too.
func createEntitlement(x *exchange) (answer, error) {
	var f struct {
		SKU   discord.SKUID   `json:"sku_id"`
		Owner discord.OwnerID `json:"owner_id"`
		Kind  int             `json:"owner_type" enum:"1,2"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	e := &Entitlement{SKU: f.SKU, User: discord.UserID(f.Owner), Test: true}
	if f.Kind == 1 {
		e.User, e.Guild = cmp.Or(x.app.Owner, DemoOwner), discord.GuildID(f.Owner)
	}
	switch {
	case x.app.skus[f.SKU] == nil:
		return refuse(errNoSKU)
	case f.Kind == 1 && x.guilds[e.Guild] == nil:
		return refuse(errUnknownGuild)
	case f.Kind == 2 && x.users[e.User] == nil:
		return refuse(errUnknownUser)
	}
	e.ID = discord.EntitlementID(x.issue())
	x.app.entitlements[e.ID] = e
	return ok(viewEntitlement(e))
}

func deleteEntitlement(x *exchange, e *Entitlement) (answer, error) {
	if !e.Test {
		return refuse(errMissingAccess)
	}
	delete(x.app.entitlements, e.ID)
	return done()
}

func consumeEntitlement(x *exchange, e *Entitlement) (answer, error) {
	if x.app.skus[e.SKU].Type != SKUConsumable {
		return refuse(invalid("entitlement_id", "ENTITLEMENT_NOT_CONSUMABLE", "This entitlement cannot be consumed"))
	}
	e.Consumed = true
	return done()
}

func onSKU(handle func(*exchange, *SKU) (answer, error)) handler {
	return func(x *exchange) (answer, error) {
		s := x.app.skus[id[discord.SKUID](x, "sku_id")]
		if s == nil {
			return refuse(errNoSKU)
		}
		return handle(x, s)
	}
}

type subscriptionView struct {
	ID           discord.SubscriptionID  `json:"id"`
	User         discord.UserID          `json:"user_id"`
	SKUs         []discord.SKUID         `json:"sku_ids"`
	Renewal      []discord.SKUID         `json:"renewal_sku_ids"`
	Entitlements []discord.EntitlementID `json:"entitlement_ids"`
	Start        string                  `json:"current_period_start"`
	End          string                  `json:"current_period_end"`
	Status       int                     `json:"status"`
	Canceled     *string                 `json:"canceled_at"`
}

func viewSubscription(s *Subscription) subscriptionView {
	return subscriptionView{
		s.ID, s.User, list(s.SKUs), nil, list(s.Entitlements), stamp(s.Start), stamp(s.End), s.Status, stampOrNull(s.Canceled),
	}
}

// listSubscriptions tells a bot the subscriptions of one user.
func listSubscriptions(x *exchange, s *SKU) (answer, error) {
	user, err := x.cursor("user_id")
	if err != nil {
		return refuse(err)
	}
	if user == "" {
		return refuse(invalid("user_id", "BASE_TYPE_REQUIRED", "This field is required"))
	}
	all := slices.DeleteFunc(sorted(x.app.subscriptions), func(of *Subscription) bool {
		return string(of.User) != user || !slices.Contains(of.SKUs, s.ID)
	})
	shown, err := page(x, all, func(of *Subscription) string { return string(of.ID) }, 50, 100)
	if err != nil {
		return refuse(err)
	}
	return ok(mapped(shown, viewSubscription))
}

func getSubscription(x *exchange, s *SKU) (answer, error) {
	of := x.app.subscriptions[id[discord.SubscriptionID](x, "subscription_id")]
	if of == nil || !slices.Contains(of.SKUs, s.ID) {
		return refuse(errNoRoute)
	}
	return ok(viewSubscription(of))
}
