package workflows_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const oneEntitlement = "/applications/{application_id}/entitlements/{entitlement_id}"

func anotherSKU(d *sandbox.Discord) {
	d.AddSKU(sandbox.SKU{ID: "1200000000000000869", Type: sandbox.SKUDurable, Name: "canary Chart", Flags: 4})
}

// salesPermit allows a workflow on what is sold to these.
func salesPermit(guild discord.GuildID, user discord.UserID, skus ...discord.SKUID) mcpcore.Permit {
	p := mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"applications": {string(sandbox.ApplicationID)}}}
	if guild != "" {
		p.Scopes["guilds"] = []string{string(guild)}
	}
	if user != "" {
		p.Scopes["users"] = []string{string(user)}
	}
	for _, id := range skus {
		p.Scopes["skus"] = append(p.Scopes["skus"], string(id))
	}
	return p
}

func consuming() scene {
	args := func(user discord.UserID, sku discord.SKUID, of discord.EntitlementID) string {
		return ofTheApplication(fmt.Sprintf(`"userId":"%s","skuId":"%s","entitlementId":"%s","fulfilmentReference":"canary-fulfilment-1","acknowledgeFulfilment":true,"acknowledgeIrreversible":true`, user, sku, of))
	}
	all := func(p *mcpcore.WorkflowPolicy) {
		p.Permits["application-entitlement-consumption"] = salesPermit("", sandbox.DemoMember, sandbox.DemoLampOil, sandbox.DemoPremium, "1200000000000000868")
	}
	refuse := func(name, reason string, change func(e *sandbox.Entitlement)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Before: world(func(d *sandbox.Discord) { d.ChangeEntitlement(sandbox.DemoOil, change) })}
	}
	whole := args(sandbox.DemoMember, sandbox.DemoLampOil, sandbox.DemoOil)
	other := otherApplication("", "")
	other.Args = strings.Replace(whole, string(sandbox.ApplicationID), "1200000000000000999", 1)
	other.Policy = func(p *mcpcore.WorkflowPolicy) {
		permit := salesPermit("", sandbox.DemoMember, sandbox.DemoLampOil)
		permit.Scopes["applications"] = []string{"1200000000000000999"}
		p.Permits["application-entitlement-consumption"] = permit
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "application-entitlement-consumption", Plan: "plan_application_entitlement_consumption", Execute: "execute_application_entitlement_consumption",
			Args: whole, Sends: []string{`POST /applications/1100000000000000001/entitlements/1200000000000000814/consume`},
			Permit: salesPermit("", sandbox.DemoMember, sandbox.DemoLampOil), Resource: string(sandbox.DemoOil), Secrets: []string{"canary", "Lamp Oil"},
			Refusals: []operationtest.Refusal{
				other,
				{Name: "a fulfilment that is not acknowledged", Args: strings.Replace(whole, `"acknowledgeFulfilment":true,`, "", 1), Code: mcpcore.CodeValidation},
				{Name: "not acknowledged", Args: strings.Replace(whole, `,"acknowledgeIrreversible":true`, "", 1), Code: mcpcore.CodeValidation},
				{Name: "a short reference", Args: strings.Replace(whole, "canary-fulfilment-1", "short", 1), Code: mcpcore.CodeValidation},
				{Name: "another user", Args: args(sandbox.DemoOwner, sandbox.DemoLampOil, sandbox.DemoOil), Code: mcpcore.CodeWorkflowScope},
				{Name: "another offer", Args: args(sandbox.DemoMember, sandbox.DemoPremium, sandbox.DemoOil), Code: mcpcore.CodeWorkflowScope},
				{Name: "an offer that is not there", Args: args(sandbox.DemoMember, "1200000000000000868", sandbox.DemoOil), Policy: all, Code: mcpcore.CodePlanRefused, Reason: "sku-missing"},
				{Name: "a subscription", Args: args(sandbox.DemoMember, sandbox.DemoPremium, sandbox.DemoPaid), Policy: all, Code: mcpcore.CodePlanRefused, Reason: "not-consumable"},
				{Name: "an entitlement to something else", Args: args(sandbox.DemoMember, sandbox.DemoLampOil, sandbox.DemoPaid), Code: mcpcore.CodePlanRefused, Reason: "other-entitlement"},
				{Name: "no entitlement", Args: args(sandbox.DemoMember, sandbox.DemoLampOil, "1200000000000000867"), Code: mcpcore.CodeNotFound},
				refuse("somebody else's", "other-entitlement", func(e *sandbox.Entitlement) { e.User = sandbox.DemoOwner }),
				refuse("a guild's", "other-entitlement", func(e *sandbox.Entitlement) { e.Guild = sandbox.DemoGuild }),
				refuse("one that was deleted", "deleted", func(e *sandbox.Entitlement) { e.Deleted = true }),
				refuse("one that has ended", "ended", func(e *sandbox.Entitlement) { e.Ends = time.Now().Add(-time.Minute) }),
				refuse("one that has not begun", "not-started", func(e *sandbox.Entitlement) { e.Starts = time.Now().Add(time.Hour) }),
			},
		},
		Route: "POST /applications/{application_id}/entitlements/{entitlement_id}/consume", ReadBack: "GET " + oneEntitlement, Skip: 4,
		Change: anotherSKU,
		Settle: func(d *sandbox.Discord) {
			d.ChangeEntitlement(sandbox.DemoOil, func(e *sandbox.Entitlement) { e.Consumed = true })
		},
	}
}

func TestEntitlementConsumption(t *testing.T) {
	t.Parallel()
	consuming().run(t)
}

// The reference of the buyer's books stays with them: plan, end and receipt have a
// digest of it.
func TestFulfilmentReferenceIsNotTold(t *testing.T) {
	t.Parallel()
	s := consuming()
	c := s.client(t)
	c.call(s.Plan, strings.TrimSuffix(s.Args, "}")+`,"operationKey":"`+secondKey+`"}`)
	told := c.raw
	c.want(s.Execute, s.Args, "completed")
	told += c.raw
	c.call("list_activity", `{}`)
	if told += c.raw; strings.Contains(told, "canary-fulfilment") || !strings.Contains(told, `"fulfilment":"sha256:`) {
		t.Errorf("it is told: %s", told)
	}
}

// What was used up is read back, and what else became of it is told.
func TestEntitlementThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(e *sandbox.Entitlement)
		status string
		drift  string
	}{
		"it is deleted":      {func(e *sandbox.Entitlement) { e.Deleted = true }, "completed-with-drift", "[entitlement]"},
		"it is not used up":  {func(e *sandbox.Entitlement) { e.Consumed = false }, "outcome-uncertain", "[]"},
		"it is someone's":    {func(e *sandbox.Entitlement) { e.User = sandbox.DemoOwner }, "outcome-uncertain", "[]"},
		"it is of something": {func(e *sandbox.Entitlement) { e.SKU = sandbox.DemoPremium }, "outcome-uncertain", "[]"},
	} {
		var d *sandbox.Discord
		s := consuming()
		s.Before = func(made *sandbox.Discord) { d = made }
		s.REST = later(&d, oneEntitlement, 5, func(d *sandbox.Discord) { d.ChangeEntitlement(sandbox.DemoOil, row.change) })
		if e, _ := s.once(t); e.Status != row.status || fmt.Sprint(e.Drift) != row.drift {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
}

// The catalogue and the entitlement are read whole.
func TestSalesThatAreNotReadWhole(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ route, from, to string }{
		"another application's offer":       {"/applications/{application_id}/skus", `"application_id":"1`, `"application_id":"2`},
		"an offer without a type":           {"/applications/{application_id}/skus", `"type":5`, `"type":0`},
		"another entitlement":               {oneEntitlement, `"id":"1200000000000000814"`, `"id":"1200000000000000815"`},
		"another application's entitlement": {oneEntitlement, `"application_id":"1`, `"application_id":"2`},
	} {
		s := consuming()
		s.REST = func(rest discordtools.REST) discordtools.REST { return reading{rest, row.route, row.from, row.to} }
		if e, _ := s.once(t); e.Code != mcpcore.CodeAccessUnknown || e.Writes != 0 {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
}

const (
	userSKU     discord.SKUID         = "1200000000000000861"
	given       discord.EntitlementID = "1200000000000000862"
	creationKey                       = "canary-creation-key-1"
)

func addUserSKU(d *sandbox.Discord) {
	d.AddSKU(sandbox.SKU{ID: userSKU, Type: sandbox.SKUSubscription, Name: "canary Club", Flags: 1<<2 | 1<<8})
}

func addGiven(d *sandbox.Discord) {
	addUserSKU(d)
	d.AddEntitlement(sandbox.Entitlement{ID: given, SKU: userSKU, User: sandbox.DemoMember, Test: true})
}

func testEntitling() scene {
	create := func(more string) string { return ofTheApplication(`"action":"create",` + more) }
	forMember := `"userId":"` + string(sandbox.DemoMember) + `","skuId":"` + string(userSKU) + `"`
	entitled := func(name string, change func(e *sandbox.Entitlement)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: "already-entitled", Before: world(func(d *sandbox.Discord) {
			e := sandbox.Entitlement{SKU: userSKU, User: sandbox.DemoMember}
			change(&e)
			d.AddEntitlement(e)
		})}
	}
	all := func(p *mcpcore.WorkflowPolicy) {
		p.Permits["application-test-entitlement-change"] = salesPermit(sandbox.DemoGuild, sandbox.DemoMember, userSKU, sandbox.DemoLampOil, sandbox.DemoPremium, "1200000000000000868")
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "application-test-entitlement-change", Plan: "plan_application_test_entitlement_change", Execute: "execute_application_test_entitlement_change",
			Args:   create(forMember),
			Sends:  []string{`POST /applications/1100000000000000001/entitlements {"sku_id":"1200000000000000861","owner_id":"` + string(sandbox.DemoMember) + `","owner_type":2}`},
			Permit: salesPermit("", sandbox.DemoMember, userSKU), Secrets: []string{"canary"},
			Refusals: []operationtest.Refusal{
				{Name: "nobody", Args: create(`"skuId":"` + string(userSKU) + `"`), Code: mcpcore.CodeValidation},
				{Name: "two of them", Args: create(forMember + `,"guildId":"` + string(sandbox.DemoGuild) + `"`), Policy: all, Code: mcpcore.CodeValidation},
				{Name: "a new one with an id", Args: create(forMember + `,"entitlementId":"1200000000000000862"`), Code: mcpcore.CodeValidation},
				{Name: "a new one with a creation", Args: create(forMember + `,"creationOperationKey":"canary-creation-key-1"`), Code: mcpcore.CodeValidation},
				{Name: "a user whom the policy does not name", Args: create(`"userId":"` + string(sandbox.DemoOwner) + `","skuId":"` + string(userSKU) + `"`), Code: mcpcore.CodeWorkflowScope},
				{Name: "a guild that the policy does not name", Args: create(`"guildId":"` + string(sandbox.DemoGuild) + `","skuId":"` + string(userSKU) + `"`), Code: mcpcore.CodeWorkflowScope},
				{Name: "an offer that is not there", Args: strings.Replace(create(forMember), string(userSKU), "1200000000000000868", 1), Policy: all, Code: mcpcore.CodePlanRefused, Reason: "sku-missing"},
				{Name: "a consumable", Args: strings.Replace(create(forMember), string(userSKU), string(sandbox.DemoLampOil), 1), Policy: all, Code: mcpcore.CodePlanRefused, Reason: "sku-kind"},
				{Name: "a guild's subscription for a user", Args: strings.Replace(create(forMember), string(userSKU), string(sandbox.DemoPremium), 1), Policy: all, Code: mcpcore.CodePlanRefused, Reason: "sku-kind"},
				{Name: "a user's subscription for a guild", Args: create(`"guildId":"` + string(sandbox.DemoGuild) + `","skuId":"` + string(userSKU) + `"`), Policy: all, Code: mcpcore.CodePlanRefused, Reason: "sku-kind"},
				entitled("somebody who has it", func(*sandbox.Entitlement) {}),
				entitled("somebody who has it for a time", func(e *sandbox.Entitlement) { e.Ends = time.Now().Add(time.Hour) }),
			},
		},
		Route: "POST /applications/{application_id}/entitlements", ReadBack: "GET " + oneEntitlement,
		Before: addUserSKU, Change: anotherSKU,
	}
}

// receipts is a ledger that knows of a creation besides.
type receipts struct {
	mcpcore.OperationLedger
	of mcpcore.Receipt
}

func (r receipts) Receipt(ctx context.Context, workflow string, k mcpcore.KeyHash) (mcpcore.Receipt, error) {
	if workflow == "application-test-entitlement-change" && k == mcpcore.HashKey(creationKey) {
		return r.of, nil
	}
	return r.OperationLedger.Receipt(ctx, workflow, k)
}

func (s scene) afterCreation(of mcpcore.Receipt) scene {
	s.Ledger = func(l mcpcore.OperationLedger) mcpcore.OperationLedger { return receipts{l, of} }
	return s
}

func testEntitlementDeletion() scene {
	s := testEntitling()
	s.Args = ofTheApplication(`"action":"delete","userId":"` + string(sandbox.DemoMember) + `","skuId":"` + string(userSKU) + `","entitlementId":"` + string(given) +
		`","creationOperationKey":"` + creationKey + `","acknowledgeIrreversible":true`)
	s.Sends = []string{`DELETE /applications/1100000000000000001/entitlements/1200000000000000862`}
	s.Route, s.Resource, s.Skip, s.Before = "DELETE "+oneEntitlement, string(given), 4, addGiven
	change := func(name, reason string, change func(e *sandbox.Entitlement)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Before: world(func(d *sandbox.Discord) { d.ChangeEntitlement(given, change) })}
	}
	swap := func(name, from, to string, code mcpcore.Code, reason string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: strings.Replace(s.Args, from, to, 1), Code: code, Reason: reason}
	}
	s.Refusals = []operationtest.Refusal{
		swap("not acknowledged", `,"acknowledgeIrreversible":true`, ``, mcpcore.CodeValidation, ""),
		swap("no entitlement", `"entitlementId":"1200000000000000862",`, ``, mcpcore.CodeValidation, ""),
		swap("no creation", `"creationOperationKey":"canary-creation-key-1",`, ``, mcpcore.CodeValidation, ""),
		swap("a creation that nobody knows", creationKey, "canary-creation-key-2", mcpcore.CodePlanRefused, "receipt-missing"),
		swap("what somebody paid for", string(given), string(sandbox.DemoPaid), mcpcore.CodePlanRefused, "not-its-creation"),
		change("one that was deleted", "entitlement-missing", func(e *sandbox.Entitlement) { e.Deleted = true }),
		change("somebody else's", "other-entitlement", func(e *sandbox.Entitlement) { e.User = sandbox.DemoOwner }),
		change("one to something else", "other-entitlement", func(e *sandbox.Entitlement) { e.SKU = sandbox.DemoPremium }),
	}
	return s.afterCreation(mcpcore.Receipt{Status: mcpcore.StatusCompleted, ResourceID: string(given)})
}

func TestTestEntitlementCreation(t *testing.T) {
	t.Parallel()
	testEntitling().run(t)
}

func TestTestEntitlementOfAGuild(t *testing.T) {
	t.Parallel()
	s := testEntitling()
	s.Args = ofTheApplication(`"action":"create","guildId":"` + string(sandbox.DemoGuild) + `","skuId":"` + string(sandbox.DemoPremium) + `"`)
	s.Permit = salesPermit(sandbox.DemoGuild, "", sandbox.DemoPremium)
	s.Before = func(d *sandbox.Discord) {
		d.ChangeEntitlement(sandbox.DemoPaid, func(e *sandbox.Entitlement) { e.Ends = time.Now().Add(-time.Minute) })
	}
	if e, r := s.once(t); e.Status != "completed" || r.ResourceID == "" {
		t.Errorf("it answers %+v and keeps %+v", e, r)
	}
}

func TestTestEntitlementDeletion(t *testing.T) {
	t.Parallel()
	testEntitlementDeletion().run(t)
}

// Only a creation that was completed, and made just this, lets it be taken back.
func TestTestEntitlementOfAnotherEnd(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]mcpcore.Receipt{
		"failed":           {Status: mcpcore.StatusFailed},
		"uncertain":        {Status: mcpcore.StatusUncertain, ResourceID: string(given)},
		"pending":          {Status: mcpcore.StatusPending},
		"of something":     {Status: mcpcore.StatusCompleted, ResourceID: string(sandbox.DemoOil)},
		"without an entry": {Status: mcpcore.StatusCompleted},
	} {
		if e, _ := testEntitlementDeletion().afterCreation(of).once(t); e.Code != mcpcore.CodePlanRefused || e.Writes != 0 {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
}

// What was given is taken back by the key that it was given with, in one world.
func TestTestEntitlementThereAndBack(t *testing.T) {
	t.Parallel()
	s := testEntitling()
	c := s.client(t)
	c.want(s.Execute, s.Args, "completed")
	made := c.field("resourceId")
	back := testEntitlementDeletion()
	args := strings.NewReplacer(string(given), made, creationKey, firstKey).Replace(back.Args)
	c.call(back.Execute, strings.TrimSuffix(args, "}")+`,"operationKey":"`+secondKey+`"}`)
	if c.field("status") != "completed" || c.field("resourceId") != made {
		t.Errorf("it answers %s", c.raw)
	}
}

func TestTestEntitlementThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s := testEntitlementDeletion()
	s.Before = func(made *sandbox.Discord) { d = made; addGiven(d) }
	s.REST = later(&d, oneEntitlement, 5, func(d *sandbox.Discord) {
		d.AddEntitlement(sandbox.Entitlement{ID: given, SKU: userSKU, User: sandbox.DemoMember, Test: true})
	})
	if e, _ := s.once(t); e.Status != "outcome-uncertain" {
		t.Errorf("it is there again: it answers %+v", e)
	}
	s.REST = later(&d, oneEntitlement, 5, func(d *sandbox.Discord) {
		d.AddEntitlement(sandbox.Entitlement{ID: given, SKU: userSKU, User: sandbox.DemoMember, Deleted: true})
	})
	if e, _ := s.once(t); e.Status != "completed" {
		t.Errorf("it is marked as deleted: it answers %+v", e)
	}
	s = testEntitling()
	s.REST = func(rest discordtools.REST) discordtools.REST {
		return reading{rest, oneEntitlement, `"ends_at":null`, `"ends_at":"2031-01-01T00:00:00+00:00"`}
	}
	if e, _ := s.once(t); e.Status != "completed-with-drift" || fmt.Sprint(e.Drift) != "[ends]" {
		t.Errorf("it ends: it answers %+v", e)
	}
	for name, row := range map[string]struct{ from, to string }{
		"of another offer":    {`"sku_id":"1200000000000000861"`, `"sku_id":"1200000000000000862"`},
		"of somebody else":    {`"user_id":"`, `"user_id":"9`},
		"of a guild":          {`"guild_id":null`, `"guild_id":"1200000000000000001"`},
		"deleted at once":     {`"deleted":false`, `"deleted":true`},
		"without an id":       {`"id":"1`, `"id":"x`},
		"another application": {`"application_id":"1`, `"application_id":"2`},
	} {
		s := testEntitling()
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return answering{rest, nil, func(r *discordtools.Response) *discordtools.Response {
				if !bytes.Contains(r.Body, []byte(row.from)) {
					t.Errorf("%s: %s is not in %s", name, row.from, r.Body)
				}
				r.Body = bytes.Replace(r.Body, []byte(row.from), []byte(row.to), 1)
				return r
			}}
		}
		if e, r := s.once(t); e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain || e.Writes != 1 || (r.ResourceID != "") != (name != "without an id") {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
}
