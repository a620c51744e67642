package discordtools_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

func TestMonetization(t *testing.T) {
	t.Parallel()
	const (
		path                 = "/applications/" + app + "/entitlements"
		paid, oil, trial     = string(sandbox.DemoPaid), string(sandbox.DemoOil), string(sandbox.DemoTrial)
		premium, subscribed  = string(sandbox.DemoPremium), string(sandbox.DemoSubscribed)
		ofPremium, oneOfThem = "/skus/" + premium + "/subscriptions", "/skus/" + premium + "/subscriptions/" + subscribed
	)
	past := func(d *sandbox.Discord) {
		d.AddEntitlement(sandbox.Entitlement{ID: "1200000000000000899", SKU: sandbox.DemoLampOil, User: sandbox.DemoAdmin, Ends: now.AddDate(0, 0, -1), Deleted: true})
	}
	rows := []row{
		{
			shows: "what is sold", tool: "skus_list", args: `{}`, sent: []string{whoami, whichIs, "GET /applications/" + app + "/skus"}, says: "<untrusted_discord",
			want: `{"count":2,"skus":[{"id":` + id(premium) + `,"type":5,"name":"Keeper Premium","slug":"keeper-premium","flags":132},{"id":` + id(sandbox.DemoLampOil) + `,"type":3}]}`,
		},
		{
			shows: "the second", tool: "skus_list", args: `{` + withApp + `"offset":1}`, sent: []string{whoami, "GET /applications/" + app + "/skus"}, want: `{"count":1}`,
		},
		{
			shows: "of another application", tool: "skus_list", args: `{"application_id":"1100000000000000002"}`, sent: []string{whoami}, code: mcpcore.CodeBotUnresolved,
		},
		{
			shows: "all", tool: "entitlements_list", args: `{}`, sent: []string{whoami, whichIs, "GET " + path + "?limit=100"},
			want: `{"count":3,"entitlements":[{"id":` + id(paid) + `,"sku_id":` + id(premium) + `,"application_id":` + id(app) + `,"user_id":` + id(sandbox.DemoOwner) + `,"guild_id":` + id(guild) + `,"type":8,"deleted":false,"starts_at":"*","ends_at":"*"},{"id":` + id(oil) + `,"guild_id":null,"ends_at":null},{"id":` + id(trial) + `}]}`,
		},
		{
			shows: "page by page", tool: "entitlements_list", args: `{` + withApp + `"limit":1,"after":` + id(paid) + `}`, sent: []string{whoami, "GET " + path + "?after=" + paid + "&limit=1"},
			want: `{"count":1,"has_more":true,"next_after":` + id(oil) + `,"entitlements":[{"id":` + id(oil) + `}]}`,
		},
		{
			shows: "backwards", tool: "entitlements_list", args: `{` + withApp + `"limit":1,"before":` + id(trial) + `}`, sent: []string{whoami, "GET " + path + "?before=" + trial + "&limit=1"},
			want: `{"next_before":` + id(oil) + `,"entitlements":[{"id":` + id(oil) + `}]}`,
		},
		{
			shows: "of a user, of some offers", tool: "entitlements_list", args: `{` + withApp + `"user_id":` + id(tomo) + `,"sku_ids":[` + id(premium) + `,` + id(sandbox.DemoLampOil) + `]}`,
			sent: []string{whoami, "GET " + path + "?limit=100&sku_ids=" + premium + "," + string(sandbox.DemoLampOil) + "&user_id=" + tomo}, want: `{"count":1,"entitlements":[{"id":` + id(oil) + `}]}`,
		},
		{
			shows: "of a guild, running", tool: "entitlements_list", args: `{` + withApp + `"guild_id":` + id(guild) + `,"exclude_ended":true}`, sent: []string{whoami, "GET " + path + "?exclude_ended=true&guild_id=" + guild + "&limit=100"},
			want: `{"count":1,"entitlements":[{"id":` + id(paid) + `}]}`,
		},
		{
			shows: "deleted ones too", tool: "entitlements_list", setup: past, args: `{` + withApp + `"exclude_deleted":false,"user_id":` + id(sandbox.DemoAdmin) + `}`,
			sent: []string{whoami, "GET " + path + "?exclude_deleted=false&limit=100&user_id=" + string(sandbox.DemoAdmin)}, want: `{"count":1,"entitlements":[{"deleted":true}]}`,
		},
		{
			shows: "both ways", tool: "entitlements_list", args: `{"before":` + id(paid) + `,"after":` + id(paid) + `}`, code: mcpcore.CodeValidation, says: "before",
		},
		{
			shows: "one", tool: "entitlements_get", args: `{` + withApp + `"entitlement_id":` + id(paid) + `}`, sent: []string{whoami, "GET " + path + "/" + paid}, want: `{"id":` + id(paid) + `,"deleted":false}`,
		},
		{
			shows: "none", tool: "entitlements_get", args: `{"entitlement_id":"1200000000000000898"}`, sent: []string{whoami, whichIs, "GET " + path + "/1200000000000000898"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "for a guild", tool: "entitlements_create_test", args: `{` + withApp + `"sku_id":` + id(premium) + `,"owner_id":` + id(guild) + `,"owner_type":1}`,
			sent: []string{whoami, "POST " + path + ` {"sku_id":` + id(premium) + `,"owner_id":` + id(guild) + `,"owner_type":1}`}, want: `{"id":"*","sku_id":` + id(premium) + `,"application_id":` + id(app) + `,"guild_id":` + id(guild) + `,"type":8}`,
		},
		{
			shows: "for a user", tool: "entitlements_create_test", args: `{"sku_id":` + id(premium) + `,"owner_id":` + id(tomo) + `,"owner_type":2}`,
			sent: []string{whoami, whichIs, "POST " + path + ` {"sku_id":` + id(premium) + `,"owner_id":` + id(tomo) + `,"owner_type":2}`}, want: `{"user_id":` + id(tomo) + `,"guild_id":null}`,
		},
		{
			shows: "of what is not sold", tool: "entitlements_create_test", args: `{` + withApp + `"sku_id":"1200000000000000898","owner_id":` + id(tomo) + `,"owner_type":2}`,
			sent: []string{whoami, "POST " + path + ` {"sku_id":"1200000000000000898","owner_id":` + id(tomo) + `,"owner_type":2}`}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "used up", tool: "entitlements_consume", args: `{"entitlement_id":` + id(oil) + `}`, sent: []string{whoami, whichIs, "POST " + path + "/" + oil + "/consume"},
			want: `{"consumed":true,"application_id":` + id(app) + `,"entitlement_id":` + id(oil) + `}`,
		},
		{
			shows: "a subscription", tool: "entitlements_consume", args: `{` + withApp + `"entitlement_id":` + id(paid) + `}`, sent: []string{whoami, "POST " + path + "/" + paid + "/consume"}, code: mcpcore.CodeValidation,
		},
		{
			shows: "preview", tool: "entitlements_delete_test", args: `{` + withApp + `"entitlement_id":` + id(trial) + `}`, sent: []string{whoami, "GET " + path + "/" + trial, "GET /applications/" + app + "/skus"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"offer","value":"Keeper Premium"},{"name":"SKU","value":` + id(premium) + `},{"name":"guild that loses it","value":` + id(sandbox.DemoClub) + `}]}`,
		},
		{
			shows: "preview of a user's", tool: "entitlements_delete_test", args: `{` + withApp + `"entitlement_id":` + id(oil) + `}`, sent: []string{whoami, "GET " + path + "/" + oil, "GET /applications/" + app + "/skus"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"Lamp Oil"},{"name":"SKU"},{"name":"user who loses it","value":` + id(tomo) + `}]}`,
		},
		{
			shows: "confirmed", tool: "entitlements_delete_test", args: `{` + withApp + `"entitlement_id":` + id(trial) + `,"__confirm":true}`, sent: []string{whoami, "DELETE " + path + "/" + trial},
			want: `{"deleted":true,"application_id":` + id(app) + `,"entitlement_id":` + id(trial) + `}`,
		},
		{
			shows: "paid for", tool: "entitlements_delete_test", args: `{` + withApp + `"entitlement_id":` + id(paid) + `,"__confirm":true}`, sent: []string{whoami, "DELETE " + path + "/" + paid}, code: mcpcore.CodePermission,
		},
		{
			shows: "a user's", tool: "subscriptions_list", args: `{"sku_id":` + id(premium) + `,"user_id":` + id(sandbox.DemoOwner) + `}`, sent: []string{whoami, "GET " + ofPremium + "?limit=50&user_id=" + string(sandbox.DemoOwner)},
			want: `{"count":1,"subscriptions":[{"id":` + id(subscribed) + `,"user_id":` + id(sandbox.DemoOwner) + `,"sku_ids":[` + id(premium) + `],"entitlement_ids":[` + id(paid) + `],"current_period_start":"*","current_period_end":"*","status":0,"canceled_at":null}]}`,
		},
		{
			shows: "page by page", tool: "subscriptions_list", args: `{"sku_id":` + id(premium) + `,"user_id":` + id(sandbox.DemoOwner) + `,"limit":1,"after":"1200000000000000001"}`,
			sent: []string{whoami, "GET " + ofPremium + "?after=1200000000000000001&limit=1&user_id=" + string(sandbox.DemoOwner)}, want: `{"has_more":true,"next_after":` + id(subscribed) + `}`,
		},
		{
			shows: "before the first", tool: "subscriptions_list", args: `{"sku_id":` + id(premium) + `,"user_id":` + id(sandbox.DemoOwner) + `,"before":"1200000000000000001"}`,
			sent: []string{whoami, "GET " + ofPremium + "?before=1200000000000000001&limit=50&user_id=" + string(sandbox.DemoOwner)}, want: `{"count":0}`,
		},
		{
			shows: "of nobody", tool: "subscriptions_list", args: `{"sku_id":` + id(premium) + `}`, sent: []string{whoami, "GET " + ofPremium + "?limit=50"}, code: mcpcore.CodeValidation, says: "user_id",
		},
		{
			shows: "one", tool: "subscriptions_get", args: `{"sku_id":` + id(premium) + `,"subscription_id":` + id(subscribed) + `}`, sent: []string{whoami, "GET " + oneOfThem}, want: `{"id":` + id(subscribed) + `,"status":0}`,
		},
		{
			shows: "to another SKU", tool: "subscriptions_get", args: `{"sku_id":` + id(sandbox.DemoLampOil) + `,"subscription_id":` + id(subscribed) + `}`,
			sent: []string{whoami, "GET /skus/" + string(sandbox.DemoLampOil) + "/subscriptions/" + subscribed}, code: mcpcore.CodeNotFound,
		},
	}
	for i := range rows {
		rows[i].deps = locked
	}
	run(t, rows)
}

// TestOwnersAreHeld: a test entitlement of a guild that is not allowed is refused,
// whatever the call says that the owner is.
func TestOwnersAreHeld(t *testing.T) {
	t.Parallel()
	b := start(t, locked, homeOnly)
	create := func(owner, kind string) answer {
		b.world.ResetRequests()
		return b.call("entitlements_create_test", `{"sku_id":`+id(sandbox.DemoPremium)+`,"owner_id":`+id(owner)+`,"owner_type":`+kind+`}`)
	}
	for _, allowed := range [][2]string{{guild, "1"}, {tomo, "2"}} {
		if a := create(allowed[0], allowed[1]); a.code != "" {
			t.Errorf("the legitimate call: %s", a.data)
		}
	}
	for _, kind := range []string{"1", "2"} {
		for _, owner := range []string{string(sandbox.DemoClub), "1200000000000009999"} {
			if a := create(owner, kind); a.code != mcpcore.CodeGuildNotAllowed || len(b.world.Writes()) > 0 {
				t.Errorf("%s as %s: %s, Discord saw %v", owner, kind, a.data, b.sent())
			}
		}
	}
	b.world.Inject(sandbox.Fault{Method: "GET", Route: "/users/{user_id}", Status: 403, Times: 1})
	if a := create(string(sandbox.DemoAdmin), "2"); a.code != mcpcore.CodeGuildUnresolved || len(b.world.Writes()) > 0 {
		t.Errorf("an owner that cannot be read: %s", a.data)
	}
	if a := b.call("entitlements_list", `{"guild_id":`+id(sandbox.DemoClub)+`}`); a.code != mcpcore.CodeGuildNotAllowed {
		t.Errorf("the list of another guild: %s", a.data)
	}
}

// TestNewestFirstGoesOnTowardsTheOldest: a list that comes the other way round is
// paged the other way round.
func TestNewestFirstGoesOnTowardsTheOldest(t *testing.T) {
	t.Parallel()
	entry := func(id string) string {
		return `{"id":"` + id + `","sku_id":"1","application_id":"1","type":8,"deleted":false}`
	}
	rest := &sinkREST{list: `[` + entry("1200000000000000009") + `,` + entry("1200000000000000008") + `]`}
	server, err := discordtools.BuildServer(discordtools.Deps{REST: rest, Config: discordtools.Config{ExpectedBot: sandbox.BotID}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, mcp: connect(t, server)}
	for more, want := range map[string]string{
		``:                                `{"next_before":"1200000000000000008"}`,
		`,"after":"1200000000000000001"`:  `{"next_after":"1200000000000000009"}`,
		`,"before":"1200000000000000099"`: `{"next_before":"1200000000000000008"}`,
	} {
		a := b.call("entitlements_list", `{`+withApp+`"limit":2`+more+`}`)
		if diff := missing(t, a.data, want); diff != "" {
			t.Errorf("%s: %s lacks %s", more, a.data, diff)
		}
	}
}
