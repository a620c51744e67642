package discordtools_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	club := string(sandbox.DemoClub)
	run(t, []row{
		{
			shows: "itself", tool: "users_get_current", args: `{}`, sent: []string{"GET /users/@me"},
			want: `{"id":` + id(sandbox.BotID) + `,"username":"Guildwarden Demo","global_name":null,"avatar":null,"bot":true,"verified":true}`,
		},
		{
			shows: "an unreachable Discord", tool: "users_get_current", args: `{}`, sent: []string{"GET /users/@me"}, code: mcpcore.CodeAuthInvalid,
			setup: func(d *sandbox.Discord) {
				d.Inject(sandbox.Fault{Method: "GET", Route: "/users/@me", Status: 401})
			},
		},
		{
			shows: "names are fenced", tool: "users_get", args: `{"user_id":` + id(noor) + `}`, sent: []string{"GET /users/" + noor},
			want: `{"id":` + id(noor) + `,"username":"dog.eared","global_name":"Noor","avatar":null,"bot":false,"untrusted_text":"*","created_at":"*"}`,
			says: "<untrusted_discord_username",
		},
		{
			shows: "nobody", tool: "users_get", args: `{"user_id":` + id(nobody) + `}`, sent: []string{"GET /users/" + nobody}, code: mcpcore.CodeNotFound, says: "No such user",
		},
		{
			shows: "another name, no picture", tool: "users_modify_current", args: `{"username":"Keeper","avatar":null}`,
			deps: locked, sent: []string{"GET /users/@me", `PATCH /users/@me {"username":"Keeper","avatar":null}`},
			want: `{"id":` + id(sandbox.BotID) + `,"username":"Keeper","global_name":null,"avatar":null,"banner":null}`,
		},
		{
			shows: "a short name", tool: "users_modify_current", args: `{"username":"K"}`, code: mcpcore.CodeValidation, says: "username",
		},
		{
			shows: "a picture from a path", tool: "users_modify_current", args: `{"avatar":"/etc/passwd"}`, code: mcpcore.CodeValidation, says: "paths and addresses are not read",
		},
		{
			shows: "opens a channel", tool: "users_create_dm", args: `{"recipient_id":` + id(tomo) + `}`,
			sent: []string{`POST /users/@me/channels {"recipient_id":` + id(tomo) + `}`},
			want: `{"channel_id":"*","type":1,"recipient_ids":[` + id(tomo) + `]}`,
		},
		{
			shows: "to another bot", tool: "users_create_dm", args: `{"recipient_id":` + id(sandbox.BotID) + `}`,
			sent: []string{`POST /users/@me/channels {"recipient_id":` + id(sandbox.BotID) + `}`}, code: mcpcore.CodePermission, says: "Do not repeat it",
		},
		{
			shows: "all", tool: "users_list_current_user_guilds", args: `{}`, sent: []string{"GET /users/@me/guilds?limit=200"},
			want: `{"count":2,"guilds":[{"name":"Lighthouse Games","owner":false,"permissions":"*","features":["COMMUNITY","NEWS","*"]},{"id":` + id(club) + `}],"untrusted_names":"*"}`,
			says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "page by page, with counts", tool: "users_list_current_user_guilds", args: `{"limit":1,"with_counts":true}`,
			sent: []string{"GET /users/@me/guilds?limit=1&with_counts=true"},
			want: `{"guilds":[{"approximate_member_count":7}],"has_more":true,"next_after":` + id(guild) + `}`,
		},
		{
			shows: "both cursors", tool: "users_list_current_user_guilds", args: `{"before":` + id(guild) + `,"after":` + id(guild) + `}`,
			code: mcpcore.CodeValidation, says: "excludes before",
		},
		{
			shows: "preview", tool: "users_leave_guild", args: `{"guild_id":` + id(club) + `}`, sent: []string{"GET /guilds/" + club + "?with_counts=true"},
			code: mcpcore.CodeDryRun, want: `{"facts":[{"name":"guild","value":"Harbour Book Club"},{"name":"members, about","value":"3"}]}`,
		},
		{
			shows: "confirmed", tool: "users_leave_guild", args: `{"guild_id":` + id(club) + `,"__confirm":true}`, sent: []string{"DELETE /users/@me/guilds/" + club},
			want: `{"left":true,"guild_id":` + id(club) + `}`,
		},
		{
			shows: "a guild without the bot", tool: "users_leave_guild", args: `{"guild_id":` + id(nobody) + `}`, sent: []string{"GET /guilds/" + nobody + "?with_counts=true"}, code: mcpcore.CodeNotFound,
		},
	})
}
