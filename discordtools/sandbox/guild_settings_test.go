package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// lastAct is the newest entry of the demo guild's audit log.
func lastAct(t *testing.T, d *Discord) AuditEntry {
	t.Helper()
	log := d.AuditLog(DemoGuild)
	if len(log) == 0 {
		t.Fatal("the audit log is empty")
	}
	return log[len(log)-1]
}

func TestModifyGuild(t *testing.T) {
	t.Parallel()
	const patch = "/guilds/{guild}"
	const picture = `"data:image/png;base64,iVBORw0KGgo="`
	rows(t, []row{
		{name: "name", method: "PATCH", path: patch, body: `{"name":"Lamp Room"}`, status: 200, has: `"name":"Lamp Room"`, after: func(t *testing.T, d *Discord) {
			if e := lastAct(t, d); e.Action != auditGuildUpdate || len(e.Changes) != 1 || e.Changes[0].Key != "name" || string(e.Changes[0].Old) != `"Lighthouse Games"` {
				t.Errorf("recorded %+v", e)
			}
		}},
		{name: "nothing changes nothing", method: "PATCH", path: patch, body: `{}`, status: 200, after: func(t *testing.T, d *Discord) {
			if n := len(d.AuditLog(DemoGuild)); n != 0 {
				t.Errorf("%d entries", n)
			}
		}},
		{name: "short name", method: "PATCH", path: patch, body: `{"name":"x"}`, status: 400, code: 50035, has: "Must be between 2 and 100"},
		{name: "null name", method: "PATCH", path: patch, body: `{"name":null}`, status: 400, code: 50035},
		{name: "null description", method: "PATCH", path: patch, body: `{"description":null}`, status: 200, has: `"description":null`},
		{name: "idle time", method: "PATCH", path: patch, body: `{"afk_channel_id":"{lounge}","afk_timeout":900}`, status: 200, has: `"afk_timeout":900`},
		{name: "idle in a text channel", method: "PATCH", path: patch, body: `{"afk_channel_id":"{general}"}`, status: 400, code: 50035, has: "CHANNEL_TYPE_INVALID"},
		{name: "idle time of another length", method: "PATCH", path: patch, body: `{"afk_timeout":61}`, status: 400, code: 50035},
		{name: "another guild's channel", method: "PATCH", path: patch, body: `{"system_channel_id":"{clubgeneral}"}`, status: 400, code: 50035, has: "CHANNEL_INVALID"},
		{name: "no system channel", method: "PATCH", path: patch, body: `{"system_channel_id":null}`, status: 200, has: `"system_channel_id":null`},
		{name: "Community without rules", method: "PATCH", path: patch, body: `{"rules_channel_id":null}`, status: 400, code: 50074},
		{name: "icon", method: "PATCH", path: patch, body: `{"icon":` + picture + `}`, status: 200, has: `"icon":"`},
		{name: "icon that is none", method: "PATCH", path: patch, body: `{"icon":"data:text/plain;base64,eA=="}`, status: 400, code: 50035, has: "IMAGE_INVALID"},
		{name: "banner without boosts", method: "PATCH", path: patch, body: `{"banner":` + picture + `}`, status: 403, code: 50101},
		{name: "invites paused", method: "PATCH", path: patch, body: `{"features":["COMMUNITY","NEWS","INVITES_DISABLED"]}`, status: 200, has: `"INVITES_DISABLED"`},
		{name: "what cannot be changed stays", method: "PATCH", path: patch, body: `{"features":["COMMUNITY","PARTNERED"]}`, status: 200, has: `"features":["COMMUNITY","NEWS"`},
		{name: "Community takes an administrator", method: "PATCH", path: patch, body: `{"features":[]}`, status: 403, code: 50013},
		{name: "not the owner", method: "PATCH", path: patch, body: `{"owner_id":"{member}"}`, status: 403, code: 50013},
		{name: "without the permission", method: "PATCH", path: "/guilds/{club}", body: `{"name":"Ours"}`, status: 403, code: 50013},
		{name: "vanity", method: "GET", path: "/guilds/{guild}/vanity-url", status: 200, has: `{"code":"lamp","uses":0}`,
			before: func(d *Discord) { d.world.guilds[DemoGuild].Vanity = "lamp" }},
		{name: "a lockdown", method: "PUT", path: "/guilds/{guild}/incident-actions", body: `{"invites_disabled_until":"2026-06-02T11:00:00Z"}`, status: 200,
			has: `{"invites_disabled_until":"2026-06-02T11:00:00.000000+00:00","dms_disabled_until":null}`},
		{name: "a lockdown of two days", method: "PUT", path: "/guilds/{guild}/incident-actions", body: `{"dms_disabled_until":"2026-06-03T12:00:01Z"}`, status: 400, code: 50035},
		{name: "a lockdown without the permission", method: "PUT", path: "/guilds/{club}/incident-actions", body: `{}`, status: 403, code: 50013},
		{name: "no vanity", method: "GET", path: "/guilds/{guild}/vanity-url", status: 200, has: `"code":null`},
	})
}

func TestWidget(t *testing.T) {
	t.Parallel()
	on := func(d *Discord) { d.SetWidget(DemoGuild, true, DemoGeneral) }
	rows(t, []row{
		{name: "settings", method: "GET", path: "/guilds/{guild}/widget", status: 200, has: `{"enabled":false,"channel_id":null}`},
		{name: "switched on", method: "PATCH", path: "/guilds/{guild}/widget", body: `{"enabled":true,"channel_id":"{general}"}`, status: 200, has: `{"enabled":true,"channel_id":"{general}"}`},
		{name: "no invite", method: "PATCH", path: "/guilds/{guild}/widget", body: `{"channel_id":null}`, before: on, status: 200, has: `{"enabled":true,"channel_id":null}`},
		{name: "unknown channel", method: "PATCH", path: "/guilds/{guild}/widget", body: `{"channel_id":"{nowhere}"}`, status: 400, code: 50035},
		{name: "without the permission", method: "PATCH", path: "/guilds/{club}/widget", body: `{"enabled":true}`, status: 403, code: 50013},
		{name: "shown", method: "GET", path: "/guilds/{guild}/widget.json", before: on, status: 200, has: `"channels":[{"id":"{lounge}","name":"Lounge","position":10}]`},
		{name: "off", method: "GET", path: "/guilds/{guild}/widget.json", status: 403, code: 50004},
		{name: "unknown guild", method: "GET", path: "/guilds/{nowhere}/widget.json", status: 404, code: 10004},
	})
	d := demo(t)
	on(d)
	r := request(t, d, "GET", "/guilds/"+string(DemoGuild)+"/widget.json", "")
	r.Header.Del("Authorization")
	if status, reply := send(t, d, r); status != 200 {
		t.Errorf("without authorization: %d %s", status, reply)
	}
}

func TestWelcomeScreen(t *testing.T) {
	t.Parallel()
	const path = "/guilds/{guild}/welcome-screen"
	rows(t, []row{
		{name: "shown", method: "GET", path: path, status: 200, has: `"emoji_id":"{emoji}","emoji_name":"lighthouse"`},
		{name: "none", method: "GET", path: "/guilds/{club}/welcome-screen", status: 404, code: 10069},
		{name: "off, to who may change it", method: "GET", path: path, status: 200, before: func(d *Discord) { d.world.guilds[DemoGuild].setFeature(welcomeEnabled, false) }},
		{name: "off, to others", method: "GET", path: "/guilds/{club}/welcome-screen", status: 403, code: 50013, before: func(d *Discord) { d.world.guilds[DemoClub].welcome = &WelcomeScreen{} }},
		{name: "replaced", method: "PATCH", path: path, body: `{"welcome_channels":[{"channel_id":"{general}","description":"Hi","emoji_name":"👋"}],"description":null}`, status: 200,
			has: `{"description":null,"welcome_channels":[{"channel_id":"{general}","description":"Hi","emoji_id":null,"emoji_name":"👋"}]}`},
		{name: "switched off", method: "PATCH", path: path, body: `{"enabled":false}`, status: 200, after: func(t *testing.T, d *Discord) {
			if g, _ := d.Guild(DemoGuild); g.has(welcomeEnabled) || lastAct(t, d).Action != auditGuildUpdate {
				t.Error("it is still on, or nobody wrote it down")
			}
		}},
		{name: "six channels", method: "PATCH", path: path, body: `{"welcome_channels":[` + strings.Repeat(`{"channel_id":"{general}","description":"x"},`, 5) + `{"channel_id":"{general}","description":"x"}]}`, status: 400, code: 50035, has: "5 or fewer"},
		{name: "unknown channel", method: "PATCH", path: path, body: `{"welcome_channels":[{"channel_id":"{nowhere}","description":"x"}]}`, status: 400, code: 50035},
		{name: "unknown emoji", method: "PATCH", path: path, body: `{"welcome_channels":[{"channel_id":"{general}","description":"x","emoji_id":"{nowhere}"}]}`, status: 400, code: 10014},
		{name: "not a Community guild", method: "PATCH", path: path, body: `{"enabled":true}`, status: 403, code: 50001,
			before: func(d *Discord) { d.world.guilds[DemoGuild].setFeature("COMMUNITY", false) }},
	})
}

func TestIntegrations(t *testing.T) {
	t.Parallel()
	const path = "/guilds/{guild}/integrations"
	rows(t, []row{
		{name: "list", method: "GET", path: path, status: 200, has: `"scopes":["bot","applications.commands"]`},
		{name: "without the permission", method: "GET", path: "/guilds/{club}/integrations", status: 403, code: 50013},
		{name: "unknown", method: "DELETE", path: path + "/{nowhere}", status: 404, code: 10005},
		{name: "its bot, role and webhooks go with it", method: "DELETE", path: path + "/1200000000000009001", status: 204,
			before: func(d *Discord) {
				bot := d.AddUser(User{ID: "1200000000000009002", Name: "tracker", Bot: true})
				role := d.AddRole(DemoGuild, Role{Name: "Tracker", Managed: true, Bot: bot})
				d.AddMember(DemoGuild, Member{User: bot, Roles: []discord.RoleID{role}})
				d.AddIntegration(DemoGuild, Integration{ID: "1200000000000009001", Name: "Tracker", Bot: bot})
				d.AddWebhook(Webhook{Channel: DemoGeneral, By: bot})
			},
			after: func(t *testing.T, d *Discord) {
				_, member := d.Member(DemoGuild, "1200000000000009002")
				if n := len(d.Integrations(DemoGuild)); member || n != 1 || len(d.Webhooks(DemoGuild)) != 1 || len(d.Roles(DemoGuild)) != 7 {
					t.Errorf("member %t, %d integrations, %d webhooks, %d roles", member, n, len(d.Webhooks(DemoGuild)), len(d.Roles(DemoGuild)))
				}
				if e := lastAct(t, d); e.Action != auditIntegrationDelete || e.Target != "1200000000000009001" {
					t.Errorf("recorded %+v", e)
				}
			}},
	})
}

func TestPrune(t *testing.T) {
	t.Parallel()
	const path = "/guilds/{guild}/prune"
	member, events := string(DemoMemberRole), string(DemoEventsRole)
	// A sleeper without a role, one who is a Member and one with both roles; one
	// who wrote ten days ago; a bot; and one in voice.
	asleep := func(d *Discord) {
		add := func(u User, roles ...discord.RoleID) discord.UserID {
			id := d.AddUser(u)
			return d.AddMember(DemoGuild, Member{User: id, Roles: roles, Joined: noon.AddDate(-1, 0, 0)})
		}
		for i, roles := range [][]discord.RoleID{nil, {DemoMemberRole}, {DemoMemberRole, DemoEventsRole}} {
			add(User{Name: fmt.Sprint("sleeper", i)}, roles...)
		}
		writer := add(User{Name: "writer"})
		d.AddMessage(DemoGeneral, Message{ID: discord.MessageID(d.IDAt(noon.AddDate(0, 0, -10))), Author: writer, Content: "zzz"})
		add(User{Name: "bot", Bot: true})
		d.AddVoiceState(DemoGuild, VoiceState{User: add(User{Name: "listener"}), Channel: DemoLounge})
	}
	rows(t, []row{
		{name: "without roles, a week", method: "GET", path: path, before: asleep, status: 200, has: `{"pruned":2}`},
		{name: "who wrote is not inactive", method: "GET", path: path + "?days=30", before: asleep, status: 200, has: `{"pruned":1}`},
		{name: "one role", method: "GET", path: path + "?days=30&include_roles=" + member, before: asleep, status: 200, has: `{"pruned":2}`},
		{name: "both roles", method: "GET", path: path + "?days=30&include_roles=" + member + "," + events, before: asleep, status: 200, has: `{"pruned":3}`},
		{name: "no id", method: "GET", path: path + "?include_roles=Member", status: 400, code: 50035},
		{name: "31 days", method: "GET", path: path + "?days=31", status: 400, code: 50035, has: "NUMBER_TYPE_MAX"},
		{name: "run", method: "POST", path: path, body: `{"days":30,"include_roles":["` + member + `"]}`, before: asleep, status: 200, has: `{"pruned":2}`, after: func(t *testing.T, d *Discord) {
			if e := lastAct(t, d); e.Action != auditMemberPrune || e.Options.Days != "30" || e.Options.Removed != "2" {
				t.Errorf("recorded %+v", e)
			}
			if status, reply := do(t, d, "GET", "/guilds/"+string(DemoGuild)+"/prune?days=30&include_roles="+member, ""); status != 200 || string(reply) != `{"pruned":0}` {
				t.Errorf("afterwards %d %s", status, reply)
			}
		}},
		{name: "run without counting", method: "POST", path: path, body: `{"compute_prune_count":false}`, before: asleep, status: 200, has: `{"pruned":null}`},
		{name: "run with 0 days", method: "POST", path: path, body: `{"days":0}`, status: 400, code: 50035},
		{name: "without the permission", method: "POST", path: "/guilds/{club}/prune", body: `{}`, status: 403, code: 50013},
	})
}
