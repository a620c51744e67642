package sandbox

import "testing"

func TestApplication(t *testing.T) {
	t.Parallel()
	const metadata = "/applications/{bot}/role-connections/metadata"
	rows(t, []row{
		{name: "its flags", method: "GET", path: "/applications/@me", status: 200, has: `"flags":557056`},
		{name: "without message content", method: "GET", path: "/applications/@me", status: 200, has: `"flags":32768`,
			before: func(d *Discord) { d.options.WithoutMessageContent = true }},
		{name: "changed in part", method: "PATCH", path: "/applications/@me", body: `{"description":"new","icon":"data:image/png;base64,eA=="}`, status: 200, has: `"description":"new"`,
			after: func(t *testing.T, d *Discord) {
				if a := d.Application(); len(a.Tags) != 1 || a.Install == nil || a.Icon == "" {
					t.Errorf("changed too much: %+v", a)
				}
			}},
		{name: "the limited flags alone", method: "PATCH", path: "/applications/@me", body: `{"flags":8193}`, status: 200, has: `"flags":8192`},
		{name: "no picture", method: "PATCH", path: "/applications/@me", body: `{"cover_image":"x"}`, status: 400, code: 50035, has: "IMAGE_INVALID"},
		{name: "no address", method: "PATCH", path: "/applications/@me", body: `{"event_webhooks_url":"x"}`, status: 400, code: 50035, has: "URL_TYPE_INVALID_URL"},
		{name: "too many tags", method: "PATCH", path: "/applications/@me", body: `{"tags":["a","b","c","d","e","f"]}`, status: 400, code: 50035, has: "BASE_TYPE_MAX_LENGTH"},
		{name: "kinds of installation", method: "PATCH", path: "/applications/@me", body: `{"integration_types_config":{"1":{"oauth2_install_params":{"scopes":["bot"],"permissions":"8"}}},"install_params":null}`, status: 200,
			has: `"integration_types_config":{"1":{"oauth2_install_params":{"scopes":["bot"],"permissions":"8"}}}`},
		{name: "an activity", method: "GET", path: "/applications/{bot}/activity-instances/" + DemoActivity, status: 200, has: `"kind":"gc"`},
		{name: "an activity in private", method: "GET", path: "/applications/{bot}/activity-instances/private", status: 200, has: `"kind":"pc"`,
			before: func(d *Discord) {
				d.AddActivity(Activity{ID: "private", Launch: "1", Channel: d.AddChannel(Channel{Type: 1, Recipients: nil})})
			}},
		{name: "no activity", method: "GET", path: "/applications/{bot}/activity-instances/none", status: 404},
		{name: "fields of linked accounts", method: "GET", path: metadata, status: 200, has: `"key":"voyages"`},
		{name: "other fields", method: "PUT", path: metadata, body: `[{"type":7,"key":"captain","name":"Captain","description":"Has a ship","name_localizations":{"de":"Kapitän"}}]`, status: 200, has: `"de":"Kapitän"`},
		{name: "a key twice", method: "PUT", path: metadata, body: `[{"type":7,"key":"a","name":"a","description":"a"},{"type":7,"key":"a","name":"a","description":"a"}]`, status: 400, code: 50035, has: `"1":{"key"`},
		{name: "a key with capitals", method: "PUT", path: metadata, body: `[{"type":7,"key":"A","name":"a","description":"a"}]`, status: 400, code: 50035, has: "STRING_TYPE_REGEX"},
		{name: "an unknown kind of field", method: "PUT", path: metadata, body: `[{"type":9,"key":"a","name":"a","description":"a"}]`, status: 400, code: 50035, has: "BASE_TYPE_CHOICES"},
		{name: "an unknown language", method: "PUT", path: metadata, body: `[{"type":7,"key":"a","name":"a","description":"a","description_localizations":{"xx":"a"}}]`, status: 400, code: 50035, has: `"xx"`},
	})
}

func TestApplicationEmojis(t *testing.T) {
	t.Parallel()
	const path, png = "/applications/{bot}/emojis", `"image":"data:image/png;base64,eA=="`
	rows(t, []row{
		{name: "listed", method: "GET", path: path, status: 200, has: `{"items":[{"id":"` + string(DemoFoghorn) + `"`},
		{name: "one", method: "GET", path: path + "/" + string(DemoFoghorn), status: 200, has: `"user":{"id":"{bot}"`},
		{name: "a guild's", method: "GET", path: path + "/{emoji}", status: 404, code: 10014},
		{name: "created", method: "POST", path: path, body: `{"name":"spray",` + png + `}`, status: 201, has: `"animated":false`},
		{name: "a name that is taken", method: "POST", path: path, body: `{"name":"foghorn",` + png + `}`, status: 400, code: 50035, has: "NAME_ALREADY_TAKEN"},
		{name: "a name with a space", method: "POST", path: path, body: `{"name":"a b",` + png + `}`, status: 400, code: 50035, has: "STRING_TYPE_REGEX"},
		{name: "no picture", method: "POST", path: path, body: `{"name":"spray","image":"x"}`, status: 400, code: 50035, has: "IMAGE_INVALID"},
		{name: "no room", method: "POST", path: path, body: `{"name":"spray",` + png + `}`, status: 400, code: 30008, before: func(d *Discord) {
			for range applicationEmojis {
				d.AddApplicationEmoji(Emoji{Name: "buoy"})
			}
		}},
		{name: "renamed", method: "PATCH", path: path + "/" + string(DemoFoghorn), body: `{"name":"horn"}`, status: 200, has: `"name":"horn"`},
		{name: "renamed to itself", method: "PATCH", path: path + "/" + string(DemoFoghorn), body: `{"name":"foghorn"}`, status: 200, has: `"name":"foghorn"`},
		{name: "deleted", method: "DELETE", path: path + "/" + string(DemoFoghorn), status: 204},
		{name: "deleted of another application", method: "DELETE", path: "/applications/{nowhere}/emojis/" + string(DemoFoghorn), status: 404, code: 10002},
	})
}

func TestMonetization(t *testing.T) {
	t.Parallel()
	const path = "/applications/{bot}/entitlements"
	test := func(name, body string, status, code int) row {
		return row{name: name, method: "POST", path: path, body: body, status: status, code: code}
	}
	rows(t, []row{
		{name: "what is sold", method: "GET", path: "/applications/{bot}/skus", status: 200, has: `"name":"Keeper Premium","slug":"keeper-premium","flags":132`},
		{name: "who has it", method: "GET", path: path + "?limit=1", status: 200, has: string(DemoPaid)},
		{name: "who has what", method: "GET", path: path + "?sku_ids=" + string(DemoLampOil), status: 200, has: `[{"id":"` + string(DemoOil) + `"`},
		{name: "what has ended is shown", method: "GET", path: path, status: 200, has: "1200000000000000899", before: ended},
		{name: "what has ended is left out", method: "GET", path: path + "?exclude_ended=true&user_id={mod}", status: 200, has: "[]", before: ended},
		{name: "too many", method: "GET", path: path + "?limit=101", status: 400, code: 50035, has: "NUMBER_TYPE_MAX"},
		{name: "no flag", method: "GET", path: path + "?exclude_deleted=perhaps", status: 400, code: 50035, has: "BOOLEAN_TYPE_CONVERT"},
		{name: "one", method: "GET", path: path + "/" + string(DemoOil), status: 200, has: `"consumed":false`},
		{name: "none", method: "GET", path: path + "/{nowhere}", status: 404, code: 10029},
		test("for a guild", `{"sku_id":"`+string(DemoPremium)+`","owner_id":"{guild}","owner_type":1}`, 200, 0),
		test("for a user", `{"sku_id":"`+string(DemoPremium)+`","owner_id":"{member}","owner_type":2}`, 200, 0),
		test("for nobody", `{"sku_id":"`+string(DemoPremium)+`","owner_id":"{nowhere}","owner_type":2}`, 404, 10013),
		test("for no guild", `{"sku_id":"`+string(DemoPremium)+`","owner_id":"{member}","owner_type":1}`, 404, 10004),
		test("of nothing", `{"sku_id":"{nowhere}","owner_id":"{member}","owner_type":2}`, 404, 10027),
		test("for a third kind", `{"sku_id":"`+string(DemoPremium)+`","owner_id":"{member}","owner_type":3}`, 400, 50035),
		{name: "a test is deleted", method: "DELETE", path: path + "/" + string(DemoTrial), status: 204,
			after: func(t *testing.T, d *Discord) {
				if _, there := d.Entitlement(DemoTrial); there {
					t.Error("it is there")
				}
			}},
		{name: "what was paid for is not", method: "DELETE", path: path + "/" + string(DemoPaid), status: 403, code: 50001},
		{name: "used up", method: "POST", path: path + "/" + string(DemoOil) + "/consume", status: 204,
			after: func(t *testing.T, d *Discord) {
				if e, _ := d.Entitlement(DemoOil); !e.Consumed {
					t.Error("it is not")
				}
			}},
		{name: "a subscription is not used up", method: "POST", path: path + "/" + string(DemoPaid) + "/consume", status: 400, code: 50035},
		{name: "subscriptions of a user", method: "GET", path: "/skus/" + string(DemoPremium) + "/subscriptions?user_id={owner}", status: 200, has: string(DemoSubscribed)},
		{name: "subscriptions of another", method: "GET", path: "/skus/" + string(DemoPremium) + "/subscriptions?user_id={member}", status: 200, has: "[]"},
		{name: "subscriptions of everybody", method: "GET", path: "/skus/" + string(DemoPremium) + "/subscriptions", status: 400, code: 50035},
		{name: "subscriptions to nothing", method: "GET", path: "/skus/{nowhere}/subscriptions?user_id={owner}", status: 404, code: 10027},
		{name: "a subscription", method: "GET", path: "/skus/" + string(DemoPremium) + "/subscriptions/" + string(DemoSubscribed), status: 200, has: `"renewal_sku_ids":null`},
		{name: "a subscription to something else", method: "GET", path: "/skus/" + string(DemoLampOil) + "/subscriptions/" + string(DemoSubscribed), status: 404},
	})
}

func ended(d *Discord) {
	d.AddEntitlement(Entitlement{ID: "1200000000000000899", SKU: DemoLampOil, User: DemoModerator, Ends: noon.AddDate(0, 0, -1)})
}
