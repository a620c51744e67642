package discordtools_test

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestApplicationEmojis(t *testing.T) {
	t.Parallel()
	const foghorn, path = string(sandbox.DemoFoghorn), "/applications/" + app + "/emojis"
	one := withApp + `"emoji_id":` + id(foghorn)
	rows := []row{
		{
			shows: "all", tool: "app_emojis_list", args: `{}`, sent: []string{whoami, whichIs, "GET " + path}, says: "<untrusted_discord_username",
			want: `{"count":1,"emojis":[{"id":` + id(foghorn) + `,"name":"foghorn","animated":false,"user_id":` + id(sandbox.BotID) + `}]}`,
		},
		{
			shows: "beyond the end", tool: "app_emojis_list", args: `{` + withApp + `"offset":3}`, sent: []string{whoami, "GET " + path}, want: `{"count":0,"emojis":[]}`,
		},
		{
			shows: "of another application", tool: "app_emojis_list", args: `{"application_id":"1100000000000000002"}`, sent: []string{whoami}, code: mcpcore.CodeBotUnresolved, says: "another application",
		},
		{
			shows: "one", tool: "app_emojis_get", args: `{` + one + `}`, sent: []string{whoami, "GET " + path + "/" + foghorn}, want: `{"id":` + id(foghorn) + `,"name":"foghorn","animated":false}`,
		},
		{
			shows: "a guild's", tool: "app_emojis_get", args: `{"emoji_id":` + id(sandbox.DemoEmoji) + `}`, sent: []string{whoami, whichIs, "GET " + path + "/" + string(sandbox.DemoEmoji)}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "animated", tool: "app_emojis_create", args: `{` + withApp + `"name":"spray","image":` + id(uri("image/gif", 9)) + `}`,
			sent: []string{whoami, "POST " + path + ` {"name":"spray","image":` + id(uri("image/gif", 9)) + `}`}, want: `{"id":"*","name":"spray","animated":true}`,
		},
		{
			shows: "the name is there", tool: "app_emojis_create", args: `{` + withApp + `"name":"foghorn","image":` + id(uri("image/png", 9)) + `}`,
			sent: []string{whoami, "POST " + path + ` {"name":"foghorn","image":"*"}`}, code: mcpcore.CodeValidation, says: "name: An emoji with that name",
		},
		{
			shows: "too large", tool: "app_emojis_create", args: `{"name":"spray","image":` + id(uri("image/png", 256<<10+1)) + `}`, code: mcpcore.CodeValidation, says: "at most 262144",
		},
		{
			shows: "a file's path", tool: "app_emojis_create", args: `{"name":"spray","image":"/etc/hostname"}`, code: mcpcore.CodeValidation, says: "paths and addresses are not read",
		},
		{
			shows: "a new name", tool: "app_emojis_modify", args: `{` + one + `,"name":"horn"}`, sent: []string{whoami, "PATCH " + path + "/" + foghorn + ` {"name":"horn"}`}, want: `{"id":` + id(foghorn) + `,"name":"horn"}`,
		},
		{
			shows: "no name", tool: "app_emojis_modify", args: `{` + one + `}`, code: mcpcore.CodeValidation, says: "name",
		},
		{
			shows: "preview", tool: "app_emojis_delete", args: `{` + one + `}`, sent: []string{whoami, "GET " + path + "/" + foghorn}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"emoji of the application","value":"foghorn"},{"value":"still"},{"name":"uploaded by"}]}`,
		},
		{
			shows: "confirmed, and says of which application", tool: "app_emojis_delete", args: `{"emoji_id":` + id(foghorn) + `,"__confirm":true}`, sent: []string{whoami, whichIs, "DELETE " + path + "/" + foghorn},
			want: `{"deleted":true,"application_id":` + id(app) + `,"emoji_id":` + id(foghorn) + `}`,
		},
	}
	for i := range rows {
		rows[i].deps = locked
	}
	run(t, rows)
}

func TestApplication(t *testing.T) {
	t.Parallel()
	const me, metadata = "/applications/@me", "/applications/" + app + "/role-connections/metadata"
	const voyage = `{"key":"voyages","name":"Voyages","name_localizations":{"de":"Fahrten"},"description":"How many","description_localizations":{"de":"Wie viele"},"type":2}`
	icon, links := uri("image/png", 9), func(d *sandbox.Discord) {
		d.SetApplication(sandbox.Application{
			Description: "Minds the lamp", Icon: "0011", InstallURL: "https://keeper:secret-part@lighthouse.example/install",
			InteractionsURL: "https://lighthouse.example/in?token=secret-part", ConnectionsURL: "https://lighthouse.example/link?key=secret-part",
			EventsURL: "https://lighthouse.example/events?signature=secret-part", Events: 2, EventTypes: []string{"APPLICATION_AUTHORIZED"},
		})
	}
	settings := `"description":"New","icon":` + id(icon) + `,"cover_image":null,"interactions_endpoint_url":null,"role_connections_verification_url":"https://lighthouse.example/link",` +
		`"install_params":{"scopes":["bot"],"permissions":"8"},"integration_types_config":{"0":{"oauth2_install_params":{"scopes":["bot"],"permissions":"8"}},"1":{"oauth2_install_params":{"scopes":["applications.commands"]}}},` +
		`"custom_install_url":"https://lighthouse.example/get","tags":["Lamps"],"flags":32768,"event_webhooks_url":"https://lighthouse.example/events","event_webhooks_status":2,"event_webhooks_types":["APPLICATION_AUTHORIZED"]`
	run(t, []row{
		{
			shows: "which one it is, without the lock", tool: "application_get_current", args: `{}`, sent: []string{whichIs}, says: "<untrusted_discord_channel_topic",
			want: `{"id":` + id(app) + `,"name":"Guildwarden Demo","description":"Moderation by agents, behind guards","icon":null,"owner_id":` + id(sandbox.DemoOwner) + `,"flags":557056,"tags":["Moderation"],"approximate_guild_count":2,"install_params":{"scopes":["applications.commands","bot"]},"untrusted_text":"*"}`,
		},
		{
			shows: "another bot than expected", tool: "application_get_current", args: `{}`, sent: []string{whoami}, code: mcpcore.CodeBotUnresolved,
			deps: func(d *discordtools.Deps) { d.Config.ExpectedBot = discord.UserID(nobody) },
		},
		{
			shows: "everything, sent as given", tool: "application_modify_current", deps: locked, args: `{` + settings + `}`, sent: []string{whoami, "PATCH " + me + " {" + settings + "}"},
			want: `{"description":"New","icon":"*","flags":32768,"tags":["Lamps"],"custom_install_url":"https://lighthouse.example/get","interactions_endpoint_url":null,"event_webhooks_url":"https://lighthouse.example/events","event_webhooks_status":2,"event_webhooks_types":["APPLICATION_AUTHORIZED"],"install_params":{"permissions":"8"},"integration_types_config":{"1":{}}}`,
		},
		{
			shows: "links are removed", tool: "application_modify_current", deps: locked, setup: links, args: `{"install_params":null,"event_webhooks_url":null,"custom_install_url":null}`,
			sent: []string{whoami, "PATCH " + me + ` {"install_params":null,"event_webhooks_url":null,"custom_install_url":null}`}, want: `{"event_webhooks_url":null,"description":"Minds the lamp"}`,
		},
		{
			shows: "nothing to change", tool: "application_modify_current", deps: locked, args: `{}`, code: mcpcore.CodeValidation, says: "at least one setting",
		},
		{
			shows: "no lock", tool: "application_modify_current", args: `{"description":"New"}`, code: mcpcore.CodeBotUnresolved, says: "DISCORD_EXPECTED_BOT_ID",
		},
		{
			shows: "an activity", tool: "application_get_activity_instance", deps: locked, args: `{` + withApp + `"instance_id":"` + sandbox.DemoActivity + `"}`,
			sent: []string{whoami, "GET /applications/" + app + "/activity-instances/" + sandbox.DemoActivity},
			want: `{"application_id":` + id(app) + `,"instance_id":"` + sandbox.DemoActivity + `","launch_id":"*","location":{"kind":"gc","channel_id":` + id(sandbox.DemoLounge) + `,"guild_id":` + id(guild) + `},"users":[` + id(tomo) + `]}`,
		},
		{
			shows: "an activity that ended, with a path in its id", tool: "application_get_activity_instance", deps: locked, args: `{"instance_id":"../../@me"}`,
			sent: []string{whoami, whichIs, "GET /applications/" + app + "/activity-instances/../../@me"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "fields of linked accounts", tool: "application_get_role_connection_metadata", deps: locked, args: `{}`, sent: []string{whoami, whichIs, "GET " + metadata},
			want: `{"count":1,"records":[{"key":"voyages","name":"Voyages","description":"How many voyages at least","type":2}]}`,
		},
		{
			shows: "no lock", tool: "application_get_role_connection_metadata", args: `{}`, code: mcpcore.CodeBotUnresolved,
		},
		{
			shows: "other fields", tool: "application_modify_role_connection_metadata", deps: locked, args: `{` + withApp + `"records":[` + voyage + `]}`, sent: []string{whoami, "PUT " + metadata + ` [` + voyage + `]`},
			want: `{"count":1,"records":[` + voyage + `]}`,
		},
		{
			shows: "no fields", tool: "application_modify_role_connection_metadata", deps: locked, args: `{"records":[]}`, sent: []string{whoami, whichIs, "PUT " + metadata + ` []`}, want: `{"count":0,"records":[]}`,
		},
		{
			shows: "a key twice", tool: "application_modify_role_connection_metadata", deps: locked, args: `{` + withApp + `"records":[` + voyage + `,` + voyage + `]}`,
			sent: []string{whoami, "PUT " + metadata + ` [` + voyage + `,` + voyage + `]`}, code: mcpcore.CodeValidation, says: "1.key",
		},
	})
	t.Run("keys and credentials stay out", func(t *testing.T) {
		t.Parallel()
		b := start(t, locked)
		links(b.world)
		for tool, args := range map[string]string{"application_get_current": `{}`, "application_modify_current": `{"description":"New"}`} {
			a := b.call(tool, args)
			if a.code != "" || !strings.Contains(a.text, "lighthouse.example/in?token=") {
				t.Errorf("the legitimate call: %s", a.data)
			}
			for _, private := range []string{"secret-part", "5a4d9c1e", "verify_key", "redirect", "oauth2/return"} {
				if strings.Contains(a.text+string(a.data), private) {
					t.Errorf("%s shows %s: %s", tool, private, a.data)
				}
			}
		}
	})
}

// TestOwnApplicationIsAskedOnce: what is left out is read once per connection.
func TestOwnApplicationIsAskedOnce(t *testing.T) {
	t.Parallel()
	b := start(t, locked)
	b.world.Inject(sandbox.Fault{Method: "GET", Route: "/applications/@me", Status: 403, Times: 1})
	if a := b.call("app_emojis_list", `{}`); a.code != mcpcore.CodePermission {
		t.Errorf("not known: %s", a.data)
	}
	b.world.ResetRequests()
	for _, tool := range []string{"app_emojis_list", "skus_list", "commands_list_global"} {
		if a := b.call(tool, `{}`); a.code != "" {
			t.Errorf("%s: %s", tool, a.data)
		}
	}
	asked := 0
	for _, r := range b.world.Requests() {
		if r.Path == "/applications/@me" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
