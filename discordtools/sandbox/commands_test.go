package sandbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	everywhere = "/applications/{bot}/commands"
	inDemo     = "/applications/{bot}/guilds/{guild}/commands"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	invalid := func(name, body, has string) row {
		return row{name: name, method: "POST", path: everywhere, body: body, status: 400, code: 50035, has: has}
	}
	full := func(kind, n int) func(*Discord) {
		return func(d *Discord) {
			for i := range n {
				d.AddCommand(Command{Guild: DemoGuild, Type: kind, Name: "n" + strings.Repeat("x", i)})
			}
		}
	}
	rows(t, []row{
		{name: "listed without other languages", method: "GET", path: everywhere, status: 200, has: `"description":"Roll dice for the weather","dm_permission":true`},
		{name: "listed with other languages", method: "GET", path: everywhere + "?with_localizations=true", status: 200, has: `"name_localizations":{"de":"würfeln"}`},
		{name: "another application", method: "GET", path: "/applications/{nowhere}/commands", status: 404, code: 10002},
		{name: "another bot's", method: "GET", path: "/applications/1100000000000000009/commands", status: 403, code: 20012,
			before: func(d *Discord) { d.AddUser(User{ID: "1100000000000000009", Name: "other", Bot: true}) }},
		{name: "a guild without the bot", method: "GET", path: inDemo, status: 403, code: 50001,
			before: func(d *Discord) { delete(d.world.guilds[DemoGuild].members, BotID) }},
		{name: "created", method: "POST", path: everywhere, body: `{"name":"lamp","description":"x","contexts":[0],"integration_types":[0,1],"default_member_permissions":"8"}`, status: 201,
			has: `"default_member_permissions":"8","type":1,"name":"lamp"`},
		{name: "the same name replaces", method: "POST", path: everywhere, body: `{"name":"roll","description":"new"}`, status: 200, has: `"id":"` + string(DemoRoll) + `"`,
			after: func(t *testing.T, d *Discord) {
				if c := d.Commands("")[0]; c.Description != "new" || len(c.Options) != 0 || c.Names != nil {
					t.Errorf("kept of the old: %+v", c)
				}
			}},
		{name: "the same name in a guild is another", method: "POST", path: inDemo, body: `{"name":"roll","description":"x","contexts":[0]}`, status: 201, has: `"guild_id":"{guild}"`},
		{name: "in a guild without contexts", method: "POST", path: inDemo, body: `{"name":"lamp","description":"x"}`, status: 201,
			after: func(t *testing.T, d *Discord) {
				if c := d.Commands(DemoGuild)[1]; c.Contexts != nil || c.IntegrationTypes != nil {
					t.Errorf("contexts of a guild's command: %+v", c)
				}
			}},
		{name: "no room for slash commands", method: "POST", path: inDemo, body: `{"name":"lamp","description":"x"}`, status: 400, code: 30032, before: full(SlashCommand, 99)},
		{name: "no room for user menus", method: "POST", path: inDemo, body: `{"name":"Lamp","type":2}`, status: 400, code: 30032, before: full(UserMenu, 15)},
		{name: "room for message menus", method: "POST", path: inDemo, body: `{"name":"Lamp","type":3}`, status: 201, before: full(UserMenu, 15)},
		{name: "no entry point in a guild", method: "POST", path: inDemo, body: `{"name":"launch","description":"x","type":4}`, status: 400, code: 50035, has: "INVALID_TYPE"},
		invalid("no description", `{"name":"lamp"}`, `"description":{"_errors":[{"code":"BASE_TYPE_REQUIRED"`),
		invalid("capitals", `{"name":"Lamp","description":"x"}`, "APPLICATION_COMMAND_INVALID_NAME"),
		invalid("a space", `{"name":"the lamp","description":"x"}`, "APPLICATION_COMMAND_INVALID_NAME"),
		invalid("a menu with options", `{"name":"Lamp","type":3,"options":[{"type":3,"name":"a","description":"x"}]}`, "CONTEXT_MENU_OPTIONS_INVALID"),
		invalid("an unknown language", `{"name":"lamp","description":"x","name_localizations":{"xx":"y"}}`, `"xx":{"_errors":[{"code":"BASE_TYPE_CHOICES"`),
		invalid("a translation that is too long", `{"name":"lamp","description":"x","name_localizations":{"de":"`+strings.Repeat("x", 33)+`"}}`, `"de":{"_errors":[{"code":"BASE_TYPE_BAD_LENGTH"`),
		invalid("translations that are none", `{"name":"lamp","description":"x","name_localizations":["de"]}`, "DICT_TYPE_CONVERT"),
		invalid("a group in a group", `{"name":"lamp","description":"x","options":[{"type":2,"name":"a","description":"x","options":[{"type":2,"name":"b","description":"x"}]}]}`, "BASE_TYPE_CHOICES"),
		invalid("a subcommand in a subcommand", `{"name":"lamp","description":"x","options":[{"type":1,"name":"a","description":"x","options":[{"type":1,"name":"b","description":"x"}]}]}`, "BASE_TYPE_CHOICES"),
		invalid("subcommands beside options", `{"name":"lamp","description":"x","options":[{"type":1,"name":"a","description":"x"},{"type":3,"name":"b","description":"x"}]}`, "OPTIONS_TYPE_INVALID"),
		invalid("options of one name", `{"name":"lamp","description":"x","options":[{"type":3,"name":"a","description":"x"},{"type":3,"name":"a","description":"x"}]}`, "OPTIONS_NAME_INVALID"),
		invalid("a required option at the end", `{"name":"lamp","description":"x","options":[{"type":3,"name":"a","description":"x"},{"type":3,"name":"b","description":"x","required":true}]}`, "OPTIONS_REQUIRED_INVALID"),
		invalid("half a choice of whole numbers", `{"name":"lamp","description":"x","options":[{"type":4,"name":"a","description":"x","choices":[{"name":"b","value":1.5}]}]}`, "NUMBER_TYPE_COERCE"),
		invalid("a number among texts", `{"name":"lamp","description":"x","options":[{"type":3,"name":"a","description":"x","choices":[{"name":"b","value":1}]}]}`, "STRING_TYPE_CONVERT"),
		invalid("choices and suggestions", `{"name":"lamp","description":"x","options":[{"type":3,"name":"a","description":"x","autocomplete":true,"choices":[{"name":"b","value":"c"}]}]}`, "AUTOCOMPLETE"),
		invalid("more than 8000 characters", `{"name":"lamp","description":"x","options":[{"type":3,"name":"a","description":"x","choices":[{"name":"b","value":"`+strings.Repeat("x", 5999)+`"},{"name":"c","value":"`+strings.Repeat("x", 2999)+`"}]}]}`, "TOO_LARGE"),
		{name: "one", method: "GET", path: everywhere + "/" + string(DemoReport), status: 200, has: `"type":3`},
		{name: "a guild's is not everywhere", method: "GET", path: everywhere + "/" + string(DemoFog), status: 404, code: 10063},
		{name: "changed in part", method: "PATCH", path: everywhere + "/" + string(DemoRoll), body: `{"description":"new","dm_permission":false}`, status: 200, has: `"dm_permission":false`,
			after: func(t *testing.T, d *Discord) {
				if c := d.Commands("")[0]; c.Name != "roll" || len(c.Options) != 2 || c.Description != "new" {
					t.Errorf("changed too much: %+v", c)
				}
			}},
		{name: "a name that is taken", method: "PATCH", path: inDemo + "/" + string(DemoFog), body: `{"name":"roll"}`, status: 400, code: 50035, has: "DUPLICATE_NAME",
			before: func(d *Discord) { d.AddCommand(Command{Guild: DemoGuild, Name: "roll"}) }},
		{name: "a new name drops the permissions", method: "PATCH", path: inDemo + "/" + string(DemoFog), body: `{"name":"mist"}`, status: 200, has: "mist",
			after: func(t *testing.T, d *Discord) {
				if d.CommandGrants(DemoGuild, DemoFog) != nil {
					t.Error("permissions are left")
				}
			}},
		{name: "the same name keeps the permissions", method: "PATCH", path: inDemo + "/" + string(DemoFog), body: `{"nsfw":true}`, status: 200, has: `"nsfw":true`,
			after: func(t *testing.T, d *Discord) {
				if d.CommandGrants(DemoGuild, DemoFog) == nil {
					t.Error("permissions are gone")
				}
			}},
		{name: "deleted with its permissions", method: "DELETE", path: inDemo + "/" + string(DemoFog), status: 204,
			after: func(t *testing.T, d *Discord) {
				if len(d.Commands(DemoGuild)) != 0 || d.CommandGrants(DemoGuild, DemoFog) != nil {
					t.Error("something is left")
				}
			}},
		{name: "deleted twice", method: "DELETE", path: everywhere + "/{nowhere}", status: 404, code: 10063},
		{name: "replaced: known by id, by name, new", method: "PUT", path: everywhere, status: 200, has: `"name":"dice"`,
			body: `[{"id":"` + string(DemoRoll) + `","name":"dice","description":"x"},{"name":"Report to the keepers","type":3},{"name":"lamp","description":"x"}]`,
			after: func(t *testing.T, d *Discord) {
				all := d.Commands("")
				if len(all) != 3 || all[0].ID != DemoRoll || all[1].ID != DemoReport {
					t.Errorf("got %+v", all)
				}
			}},
		{name: "replaced by nothing", method: "PUT", path: inDemo, body: `[]`, status: 200, has: `[]`},
		{name: "replaced: an id of elsewhere", method: "PUT", path: inDemo, body: `[{"id":"` + string(DemoRoll) + `","name":"x","description":"x"}]`, status: 404, code: 10063},
		{name: "replaced: two of a name", method: "PUT", path: inDemo, body: `[{"name":"a","description":"x"},{"name":"a","description":"x"}]`, status: 400, code: 50035, has: `"1":{"_errors":[{"code":"APPLICATION_COMMANDS_DUPLICATE_NAME"`,
			after: func(t *testing.T, d *Discord) {
				if len(d.Commands(DemoGuild)) != 1 {
					t.Error("changed although refused")
				}
			}},
		{name: "replaced: too many menus", method: "PUT", path: inDemo, status: 400, code: 30032,
			body: `[` + strings.TrimSuffix(strings.Repeat(`{"name":"a","type":2},`, 16), ",") + `]`},
	})
}

func TestCommandPermissions(t *testing.T) {
	t.Parallel()
	of := inDemo + "/" + string(DemoFog) + "/permissions"
	rows(t, []row{
		{name: "of one", method: "GET", path: of, status: 200, has: `"permissions":[{"id":"{mods}","type":1,"permission":true}]`},
		{name: "of none", method: "GET", path: inDemo + "/" + string(DemoRoll) + "/permissions", status: 404, code: 10066},
		{name: "of all", method: "GET", path: inDemo + "/{bot}/permissions", status: 404, code: 10066},
		{name: "of nothing", method: "GET", path: inDemo + "/{nowhere}/permissions", status: 404, code: 10063},
		{name: "listed", method: "GET", path: inDemo + "/permissions", status: 200, has: `[{"id":"` + string(DemoFog) + `"`},
		{name: "a bot changes none", method: "PUT", path: of, body: `{"permissions":[]}`, status: 403, code: 20001},
	})
	for name, row := range map[string]struct {
		user   discord.UserID
		scope  string
		body   string
		status int
	}{
		"the owner":         {DemoOwner, scopeCommandPermissions, `{"permissions":[{"id":"{everyone}","type":1,"permission":false},{"id":"1200000000000000000","type":3,"permission":true}]}`, 200},
		"a member":          {DemoMember, scopeCommandPermissions, `{"permissions":[]}`, 403},
		"another scope":     {DemoOwner, "identify", `{"permissions":[]}`, 403},
		"a foreign channel": {DemoOwner, scopeCommandPermissions, `{"permissions":[{"id":"{clubgeneral}","type":3,"permission":true}]}`, 400},
		"nobody":            {"", "", `{"permissions":[]}`, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := demo(t)
			token := "none"
			if row.user != "" {
				token = d.Authorize(row.user, row.scope)
			}
			r := request(t, d, "PUT", demoNames.Replace(of), demoNames.Replace(row.body))
			r.Header.Set("Authorization", "Bearer "+token)
			if status, reply := send(t, d, r); status != row.status {
				t.Errorf("status %d, want %d: %s", status, row.status, reply)
			}
			log := d.AuditLog(DemoGuild)
			if wrote := len(log) > 0 && log[len(log)-1].Action == auditCommandPermissions; wrote != (row.status == 200) {
				t.Errorf("audit log: %+v", log)
			}
			r = request(t, d, "GET", "/users/@me", "")
			r.Header.Set("Authorization", "Bearer "+token)
			if status, _ := send(t, d, r); status != http.StatusUnauthorized {
				t.Errorf("the token opens the bot's routes: %d", status)
			}
		})
	}
}
