package discordtools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// guildIcon is a picture of a few bytes.
const guildIcon = "data:image/png;base64,iVBORw0KGgo="

func TestGuild(t *testing.T) {
	t.Parallel()
	const nowhere = "1999999999999999999"
	at := `{"guild_id":"` + guild + `"`
	path := "/guilds/" + guild
	patch := func(body string) []string { return []string{"PATCH " + path + " " + body} }
	run(t, []row{
		{
			shows: "with counts", tool: "guild_get", args: at + `}`, sent: []string{"GET " + path + "?with_counts=true"},
			want: `{"id":"*","name":"Lighthouse Games","icon":null,"owner_id":` + id(sandbox.DemoOwner) + `,"member_count":7,"vanity_url_code":null}`,
			says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "unknown", tool: "guild_get", args: `{"guild_id":"` + nowhere + `"}`,
			sent: []string{"GET /guilds/" + nowhere + "?with_counts=true"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "null clears, a zero is sent", tool: "guild_modify", args: at + `,"description":null,"verification_level":0,"audit_reason":"fresh"}`,
			sent: patch(`{"description":null,"verification_level":0}`),
			want: `{"description":null,"name":"Lighthouse Games","untrusted_text":"*"}`,
		},
		{
			shows: "an icon from data", tool: "guild_modify", args: at + `,"icon":"` + guildIcon + `"}`,
			sent: patch(`{"icon":"` + guildIcon + `"}`), want: `{"icon":"*"}`,
		},
		{
			shows: "an icon from an address", tool: "guild_modify", args: at + `,"icon":"https://a.example/i.png"}`,
			code: mcpcore.CodeValidation, says: "data URI",
		},
		{
			shows: "a banner without boosts", tool: "guild_modify", args: at + `,"banner":"` + guildIcon + `"}`,
			sent: patch(`{"banner":"` + guildIcon + `"}`), code: mcpcore.CodePermission,
		},
		{
			shows: "another's guild is not handed over", tool: "guild_modify", args: at + `,"owner_id":` + id(sandbox.DemoMember) + `}`,
			sent: patch(`{"owner_id":` + id(sandbox.DemoMember) + `}`), code: mcpcore.CodePermission,
		},
		{
			shows: "an idle time that Discord does not have", tool: "guild_modify", args: at + `,"afk_timeout":120}`,
			code: mcpcore.CodeValidation, says: "afk_timeout",
		},
		{
			shows: "none", tool: "guild_get_vanity_url", args: at + `}`, sent: []string{"GET " + path + "/vanity-url"}, want: `{"code":null,"uses":0}`,
		},
		{
			shows: "without the permission", tool: "guild_get_vanity_url", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`,
			sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/vanity-url"}, code: mcpcore.CodePermission,
		},
		{
			shows: "of the guild", tool: "guild_list_voice_regions", args: at + `}`, sent: []string{"GET " + path + "/regions"},
			want: `{"count":4,"regions":[{"id":"rotterdam","optimal":true},{},{},{"deprecated":true}]}`,
		},
		{
			shows: "unknown guild", tool: "guild_list_voice_regions", args: `{"guild_id":"` + nowhere + `"}`,
			sent: []string{"GET /guilds/" + nowhere + "/regions"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "the bot's own", tool: "guild_list_integrations", args: at + `}`, sent: []string{"GET " + path + "/integrations"},
			want: `{"count":1,"integrations":[{"id":` + id(sandbox.DemoIntegration) + `,"type":"discord","enabled":true,"bot_id":` + id(sandbox.BotID) + `}]}`,
			says: "<untrusted_discord_username",
		},
		{
			shows: "without the permission", tool: "guild_list_integrations", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`,
			sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/integrations"}, code: mcpcore.CodePermission,
		},
		{
			shows: "preview names what goes", tool: "guild_delete_integration", args: at + `,"integration_id":` + id(sandbox.DemoIntegration) + `}`,
			sent: []string{"GET " + path + "/integrations"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"Guildwarden Demo"},{"value":"discord"},{},{"name":"bot that is kicked","value":"Guildwarden Demo (` + string(sandbox.BotID) + `)"}]}`,
		},
		{
			shows: "preview of nothing", tool: "guild_delete_integration", args: at + `,"integration_id":"` + nowhere + `"}`,
			sent: []string{"GET " + path + "/integrations"}, code: mcpcore.CodeNotFound, says: "guild_list_integrations",
		},
		{
			shows: "confirmed", tool: "guild_delete_integration", setup: addTracker, args: at + `,"integration_id":"1200000000000009001","__confirm":true}`,
			sent: []string{"DELETE " + path + "/integrations/1200000000000009001"}, want: `{"deleted":true,"integration_id":"1200000000000009001"}`,
		},
		{
			shows: "texts in a fence", tool: "guild_get_welcome_screen", args: at + `}`, sent: []string{"GET " + path + "/welcome-screen"},
			want: `{"description":"Welcome aboard, keeper!","untrusted_text":"*","welcome_channels":[{"emoji_id":null,"emoji_name":"📜"},{"emoji_id":` + id(sandbox.DemoEmoji) + `}]}`,
			says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "none", tool: "guild_get_welcome_screen", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`,
			sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/welcome-screen"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "an empty list is sent", tool: "guild_modify_welcome_screen", args: at + `,"enabled":false,"welcome_channels":[],"description":null}`,
			sent: []string{"PATCH " + path + `/welcome-screen {"enabled":false,"welcome_channels":[],"description":null}`},
			want: `{"description":null,"welcome_channels":[]}`,
		},
		{
			shows: "one channel with an emoji", tool: "guild_modify_welcome_screen",
			args: at + `,"welcome_channels":[{"channel_id":` + id(general) + `,"description":"Say hello","emoji_id":null,"emoji_name":"👋"}]}`,
			sent: []string{"PATCH " + path + `/welcome-screen {"welcome_channels":[{"channel_id":` + id(general) + `,"description":"Say hello","emoji_id":null,"emoji_name":"👋"}]}`},
			want: `{"description":"Welcome aboard, keeper!","welcome_channels":[{"emoji_id":null,"emoji_name":"👋"}]}`,
		},
		{
			shows: "six channels", tool: "guild_modify_welcome_screen",
			args: at + `,"welcome_channels":[` + strings.Repeat(`{"channel_id":`+id(general)+`,"description":"x"},`, 5) + `{"channel_id":` + id(general) + `,"description":"x"}]}`,
			code: mcpcore.CodeValidation, says: "welcome_channels",
		},
		{
			shows: "on", tool: "guild_get_widget", args: at + `}`, sent: []string{"GET " + path + "/widget.json"}, setup: enableWidget,
			want: `{"name":"Lighthouse Games","instant_invite":null,"presence_count":4,"members_count":4,"channels":[{"name":"Lounge"}],"members":[{"status":"online"},{},{},{}]}`,
			says: "<untrusted_discord_username",
		},
		{
			shows: "off", tool: "guild_get_widget", args: at + `}`, sent: []string{"GET " + path + "/widget.json"}, code: mcpcore.CodePermission, says: "widget is off",
		},
		{
			shows: "default style, no call", tool: "guild_get_widget_image_url", args: at + `}`,
			want: `{"url":"https://discord.com/api/guilds/` + guild + `/widget.png?style=shield","style":"shield"}`,
		},
		{
			shows: "a banner", tool: "guild_get_widget_image_url", args: at + `,"style":"banner3"}`,
			want: `{"url":"https://discord.com/api/guilds/` + guild + `/widget.png?style=banner3","style":"banner3"}`,
		},
		{
			shows: "no such style", tool: "guild_get_widget_image_url", args: at + `,"style":"round"}`, code: mcpcore.CodeValidation, says: "style",
		},
		{
			shows: "off, no channel", tool: "guild_get_widget_settings", args: at + `}`, sent: []string{"GET " + path + "/widget"}, want: `{"enabled":false,"channel_id":null}`,
		},
		{
			shows: "without the permission", tool: "guild_get_widget_settings", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`,
			sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/widget"}, code: mcpcore.CodePermission,
		},
		{
			shows: "on, to a channel", tool: "guild_modify_widget", args: at + `,"enabled":true,"channel_id":` + id(general) + `}`,
			sent: []string{"PATCH " + path + `/widget {"enabled":true,"channel_id":` + id(general) + `}`}, want: `{"enabled":true,"channel_id":` + id(general) + `}`,
		},
		{
			shows: "another guild's channel", tool: "guild_modify_widget", args: at + `,"channel_id":` + id(sandbox.DemoClubGeneral) + `}`,
			sent: []string{"PATCH " + path + `/widget {"channel_id":` + id(sandbox.DemoClubGeneral) + `}`}, code: mcpcore.CodeValidation, says: "channel_id",
		},
	})
}

// addTracker gives the demo guild another bot.
func addTracker(d *sandbox.Discord) {
	bot := d.AddUser(sandbox.User{Name: "tracker", Bot: true})
	d.AddMember(sandbox.DemoGuild, sandbox.Member{User: bot})
	d.AddIntegration(sandbox.DemoGuild, sandbox.Integration{ID: "1200000000000009001", Name: "Tracker", Bot: bot})
}

func enableWidget(d *sandbox.Discord) { d.SetWidget(sandbox.DemoGuild, true, "") }

// TestWidgetIsAnonymous shows that the bot's token does not go to the public
// widget, and that it goes elsewhere.
func TestWidgetIsAnonymous(t *testing.T) {
	t.Parallel()
	b := start(t)
	enableWidget(b.world)
	b.world.ResetRequests()
	b.call("guild_get_widget", `{"guild_id":"`+guild+`"}`)
	b.call("guild_get", `{"guild_id":"`+guild+`"}`)
	seen := b.world.Requests()
	if len(seen) != 2 || seen[0].Header.Get("Authorization") != "" || seen[1].Header.Get("Authorization") == "" {
		t.Errorf("got %d requests; the widget's authorization is %t, the guild's %t", len(seen),
			seen[0].Header.Get("Authorization") != "", seen[1].Header.Get("Authorization") != "")
	}
}

// sleepers gives the demo guild three members who did nothing for months: one
// without a role, one Member, and one Member who is on the events list as well.
func sleepers(d *sandbox.Discord) {
	for i, roles := range [][]discord.RoleID{nil, {sandbox.DemoMemberRole}, {sandbox.DemoMemberRole, sandbox.DemoEventsRole}} {
		u := d.AddUser(sandbox.User{Name: fmt.Sprintf("sleeper%d", i)})
		d.AddMember(sandbox.DemoGuild, sandbox.Member{User: u, Roles: roles, Joined: now.AddDate(0, -6, 0)})
	}
}

// L19 Destructive call dressed as harmless: command overwrite, prune
func TestL19Prune(t *testing.T) {
	t.Parallel()
	path := "/guilds/" + guild
	at := `{"guild_id":"` + guild + `"`
	member, events := string(sandbox.DemoMemberRole), string(sandbox.DemoEventsRole)
	listed := `,"include_roles":["` + member + `"]`
	run(t, []row{
		{
			shows: "without roles", tool: "guild_get_prune_count", setup: sleepers, args: at + `}`,
			sent: []string{"GET " + path + "/prune?days=7"}, want: `{"pruned":1}`,
		},
		{
			shows: "a member with one more role does not count", tool: "guild_get_prune_count", setup: sleepers, args: at + `,"days":30` + listed + `}`,
			sent: []string{"GET " + path + "/prune?days=30&include_roles=" + member}, want: `{"pruned":2}`,
		},
		{
			shows: "all of whose roles are listed", tool: "guild_get_prune_count", setup: sleepers, args: at + `,"include_roles":["` + member + `","` + events + `"]}`,
			sent: []string{"GET " + path + "/prune?days=7&include_roles=" + member + "," + events}, want: `{"pruned":3}`,
		},
		{
			shows: "31 days", tool: "guild_get_prune_count", args: at + `,"days":31}`, code: mcpcore.CodeValidation, says: "days",
		},
		{
			shows: "preview counts with the same parameters", tool: "guild_begin_prune", setup: sleepers, args: at + `,"days":30` + listed + `,"compute_prune_count":false}`,
			sent: []string{"GET " + path, "GET " + path + "/prune?days=30&include_roles=" + member}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"Lighthouse Games"},{"name":"members to be kicked","value":"2"},{"value":"30"},{"value":"no role, or none but Member"}]}`,
		},
		{
			shows: "preview of the defaults", tool: "guild_begin_prune", setup: sleepers, args: at + `}`,
			sent: []string{"GET " + path, "GET " + path + "/prune?days=7"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{},{"value":"1"},{"value":"7"},{"value":"no role at all"}]}`,
		},
		{
			shows: "preview with a role that is not there", tool: "guild_begin_prune", args: at + `,"include_roles":["1999999999999999999"]}`,
			sent: []string{"GET " + path}, code: mcpcore.CodeValidation, says: "include_roles.0",
		},
		{
			shows: "confirmed", tool: "guild_begin_prune", setup: sleepers, args: at + `,"days":30` + listed + `,"__confirm":true}`,
			sent: []string{"POST " + path + `/prune {"days":30,"include_roles":["` + member + `"]}`}, want: `{"pruned":2}`,
		},
		{
			shows: "not counted is unknown, not 0", tool: "guild_begin_prune", setup: sleepers, args: at + `,"compute_prune_count":false,"__confirm":true}`,
			sent: []string{"POST " + path + `/prune {"days":7,"compute_prune_count":false}`}, want: `{"pruned":null,"warnings":["*"]}`, says: "unknown",
		},
		{
			shows: "without the permission", tool: "guild_begin_prune", args: `{"guild_id":` + id(sandbox.DemoClub) + `,"__confirm":true}`,
			sent: []string{"POST /guilds/" + string(sandbox.DemoClub) + `/prune {"days":7}`}, code: mcpcore.CodePermission,
		},
	})
	b := start(t)
	for _, tool := range []string{"guild_begin_prune", "guild_get_prune_count"} {
		if d := b.description(tool); !strings.Contains(d, "only members all of whose roles are listed") {
			t.Errorf("%s does not say whom it takes: %s", tool, d)
		}
	}
}

// description is the text that clients are given of a tool.
func (b *bench) description(tool string) string {
	b.Helper()
	res, err := b.mcp.ListTools(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range res.Tools {
		if d.Name == tool {
			return d.Description
		}
	}
	b.Fatalf("%s is not listed", tool)
	return ""
}
