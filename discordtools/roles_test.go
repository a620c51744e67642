package discordtools_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	rolesPath = "/guilds/" + guild + "/roles"
	mutedRole = string(sandbox.DemoMutedRole)
	modsRole  = string(sandbox.DemoModeratorRole)
)

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func jsonOf(b []byte) any { return json.RawMessage(b) }

func TestRoles(t *testing.T) {
	t.Parallel()
	noCounts := func(d *sandbox.Discord) {
		d.Inject(sandbox.Fault{Method: "GET", Route: "/guilds/{guild_id}/roles/member-counts", Status: 404})
	}
	run(t, []row{
		{
			shows: "all", tool: "roles_list", args: inGuild(""),
			sent: []string{"GET " + rolesPath},
			want: `{"count":7,"roles":[{"id":` + id(guild) + `,"name":"@everyone","position":0,"managed":false,"permissions":"*"},{},{"mentionable":true},{"hoist":true},{},{"managed":true,"bot_id":` + id(sandbox.BotID) + `},{"color":15158332}]}`,
			says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "with counts", tool: "roles_list", args: inGuild(`,"with_counts":true`),
			sent: []string{"GET " + rolesPath, "GET " + rolesPath + "/member-counts"},
			want: `{"roles":[{"name":"@everyone"},{"member_count":0},{},{"name":"Member","member_count":5},{},{},{}]}`,
		},
		{
			shows: "counts that are not to be had are unknown", tool: "roles_list", setup: noCounts, args: inGuild(`,"with_counts":true`), // L59
			sent: []string{"GET " + rolesPath, "GET " + rolesPath + "/member-counts"},
			want: `{"count":7,"warnings":["*"]}`, says: "unknown",
		},
		{
			shows: "of a guild without the bot", tool: "roles_list", args: `{"guild_id":` + id(nobody) + `}`,
			sent: []string{"GET /guilds/" + nobody + "/roles"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "exactly what was given", tool: "roles_create",
			args: inGuild(`,"name":"Keepers","permissions":"0","color":0,"hoist":false,"mentionable":true`),
			sent: []string{"POST " + rolesPath + ` {"name":"Keepers","permissions":"0","color":0,"hoist":false,"mentionable":true}`},
			want: `{"id":"*","name":"Keepers","permissions":"0","color":0,"position":1,"hoist":false,"mentionable":true}`,
		},
		{
			shows: "nothing but the guild", tool: "roles_create", args: inGuild(""),
			sent: []string{"POST " + rolesPath + ` {}`}, want: `{"name":"new role"}`,
		},
		{
			shows: "more than the bot has", tool: "roles_create", args: inGuild(`,"permissions":"8"`),
			sent: []string{"POST " + rolesPath + ` {"permissions":"8"}`}, code: mcpcore.CodePermission,
		},
		{
			shows: "two ways to say the colour", tool: "roles_create", args: inGuild(`,"color":1,"colors":{"primary_color":2}`),
			code: mcpcore.CodeValidation, says: "excludes color",
		},
		{
			shows: "two icons", tool: "roles_create", args: inGuild(`,"icon":"data:image/png;base64,AAAA","unicode_emoji":"⚓"`),
			code: mcpcore.CodeValidation, says: "excludes icon",
		},
		{
			shows: "an icon that the guild cannot have", tool: "roles_create", args: inGuild(`,"icon":"data:image/png;base64,AAAA"`),
			sent: []string{"POST " + rolesPath + ` {"icon":"data:image/png;base64,AAAA"}`}, code: mcpcore.CodePermission, says: "more boosts",
		},
		{
			shows: "nulls reset", tool: "roles_modify", args: inGuild(`,"role_id":%q,"color":null,"hoist":null,"icon":null,"unicode_emoji":null`, modsRole),
			sent: []string{"PATCH " + rolesPath + "/" + modsRole + ` {"color":null,"hoist":null,"icon":null,"unicode_emoji":null}`},
			want: `{"id":` + id(modsRole) + `,"color":0,"hoist":false}`,
		},
		{
			shows: "an emoji instead of an icon", tool: "roles_modify", args: inGuild(`,"role_id":%q,"icon":null,"unicode_emoji":"⚓"`, modsRole),
			sent: []string{"PATCH " + rolesPath + "/" + modsRole + ` {"icon":null,"unicode_emoji":"⚓"}`}, code: mcpcore.CodePermission,
		},
		{
			shows: "a higher role", tool: "roles_modify", args: inGuild(`,"role_id":%q,"name":"x"`, sandbox.DemoAdminRole),
			sent: []string{"PATCH " + rolesPath + "/" + string(sandbox.DemoAdminRole) + ` {"name":"x"}`}, code: mcpcore.CodePermission,
		},
		{
			shows: "the body is the list", tool: "roles_modify_positions",
			args: inGuild(`,"positions":[{"id":%q,"position":4},{"id":%q,"position":1}],"audit_reason":"order"`, mutedRole, modsRole),
			sent: []string{"PATCH " + rolesPath + fmt.Sprintf(` [{"id":%q,"position":4},{"id":%q,"position":1}]`, mutedRole, modsRole)},
			want: `{"count":7,"roles":[{},{"id":` + id(modsRole) + `,"name":"Moderator","position":1},{},{},{"id":` + id(mutedRole) + `,"position":4},{},{}]}`,
		},
		{
			shows: "a role twice", tool: "roles_modify_positions", args: inGuild(`,"positions":[{"id":%q,"position":4},{"id":%q,"position":1}]`, mutedRole, mutedRole),
			code: mcpcore.CodeValidation, says: "positions.1.id: is moved twice",
		},
		{
			shows: "above the bot", tool: "roles_modify_positions", args: inGuild(`,"positions":[{"id":%q,"position":9}]`, mutedRole),
			sent: []string{"PATCH " + rolesPath + fmt.Sprintf(` [{"id":%q,"position":9}]`, mutedRole)}, code: mcpcore.CodePermission,
		},
		{
			shows: "preview", tool: "roles_delete", args: inGuild(`,"role_id":%q`, modsRole),
			sent: []string{"GET " + rolesPath + "/" + modsRole, "GET " + rolesPath + "/member-counts"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"role","value":"Moderator"},{"name":"position","value":"4"},{"name":"members who hold it","value":"1"}]}`,
		},
		{
			shows: "preview without counts", tool: "roles_delete", setup: noCounts, args: inGuild(`,"role_id":%q`, modsRole),
			sent: []string{"GET " + rolesPath + "/" + modsRole, "GET " + rolesPath + "/member-counts"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{},{},{"name":"members who hold it","value":"unknown"}]}`,
		},
		{
			shows: "nothing to delete", tool: "roles_delete", args: inGuild(`,"role_id":%q`, nobody),
			sent: []string{"GET " + rolesPath + "/" + nobody}, code: mcpcore.CodeNotFound, says: "No such role",
		},
		{
			shows: "confirmed", tool: "roles_delete", args: inGuild(`,"role_id":%q,"__confirm":true`, mutedRole),
			sent: []string{"DELETE " + rolesPath + "/" + mutedRole}, want: `{"deleted":true,"role_id":` + id(mutedRole) + `,"guild_id":` + id(guild) + `}`,
		},
	})
}

// L12 Permission bits and overwrite type on the wire
func TestL12RolePermissions(t *testing.T) {
	t.Parallel()
	const bits = "4611686018427387905" // 1<<62 has no name
	strange := sandbox.Role{ID: "1200000000000000299", Name: "Strange", Position: 1, Permissions: 4611686018427387905}
	path := rolesPath + "/" + string(strange.ID)
	add := func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, strange) }
	refused := func(shows, tool, value string) row {
		return row{shows: shows, tool: tool, setup: add, args: inGuild(`,"role_id":%q,"permissions":%s`, strange.ID, value), code: mcpcore.CodeValidation, says: "permissions"}
	}
	run(t, []row{
		{
			shows: "only the colour is sent, unknown bits survive", tool: "roles_modify", setup: add, args: inGuild(`,"role_id":%q,"color":255`, strange.ID),
			sent: []string{"PATCH " + path + ` {"color":255}`}, want: `{"permissions":"` + bits + `","color":255}`,
		},
		{
			shows: "one bit more, as text", tool: "roles_modify", setup: add, args: inGuild(`,"role_id":%q,"permissions":"4611686018427388929"`, strange.ID),
			sent: []string{"PATCH " + path + ` {"permissions":"4611686018427388929"}`}, want: `{"permissions":"4611686018427388929"}`,
		},
		{
			shows: "a set beyond 64 bits goes out as it is", tool: "roles_create", args: inGuild(`,"permissions":"18446744073709552640"`),
			sent: []string{"POST " + rolesPath + ` {"permissions":"18446744073709552640"}`},
		},
		refused("negative", "roles_modify", `"-1"`),
		refused("a negative number", "roles_modify", `-1`),
		refused("hexadecimal", "roles_modify", `"0x400"`),
		refused("an exponent", "roles_modify", `1e3`),
		refused("an exponent as text", "roles_modify", `"1e3"`),
		refused("a name", "roles_modify", `"VIEW_CHANNEL"`),
		refused("empty", "roles_modify", `""`),
	})
}
