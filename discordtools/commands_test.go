package discordtools_test

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

const (
	app     = string(sandbox.ApplicationID)
	whoami  = "GET /users/@me"        // the lock is verified once
	whichIs = "GET /applications/@me" // asked once, where application_id is left out

	globals = "/applications/" + app + "/commands"
	locals  = "/applications/" + app + "/guilds/" + guild + "/commands"
	roll    = string(sandbox.DemoRoll)
	report  = string(sandbox.DemoReport)
	fog     = string(sandbox.DemoFog)
)

// withApp is application_id and, before what follows, a comma.
const withApp = `"application_id":"` + app + `",`

// nested is a command's options three levels down, with everything that one can
// have.
const nested = `[{"type":2,"name":"lamp","name_localizations":{"de":"lampe"},"description":"The lamp","description_localizations":{"de":"Die Lampe"},` +
	`"options":[{"type":1,"name":"light","description":"Light it","options":[` +
	`{"type":3,"name":"colour","description":"Which","required":true,"choices":[{"name":"Red","name_localizations":{"de":"Rot"},"value":"red"}]},` +
	`{"type":4,"name":"turns","description":"How often","min_value":1,"max_value":9},` +
	`{"type":3,"name":"note","description":"Why","min_length":0,"max_length":40,"autocomplete":true},` +
	`{"type":7,"name":"where","description":"Where","channel_types":[0,5]}]}]}]`

func TestCommands(t *testing.T) {
	t.Parallel()
	const lamp = `"name":"lamp","name_localizations":{"de":"lampe"},"description":"Mind the lamp","description_localizations":{"de":"Hüte die Lampe"},` +
		`"options":` + nested + `,"default_member_permissions":"8192","dm_permission":true,"default_permission":true,"type":1,"nsfw":true,` +
		`"integration_types":[0,1],"contexts":[0,2]`
	many := func(d *sandbox.Discord) {
		for i := range 99 {
			d.AddCommand(sandbox.Command{Name: "c" + strings.Repeat("x", i%30) + string(rune('a'+i/30)), Description: "x"})
		}
	}
	rows := []row{
		{
			shows: "all, in a fence", tool: "commands_list_global", args: `{` + strings.TrimSuffix(withApp, ",") + `}`, sent: []string{whoami, "GET " + globals}, says: "<untrusted_discord_channel_topic",
			want: `{"count":2,"untrusted_text":"*","commands":[{"id":` + id(roll) + `,"name":"roll","type":1,"description":"Roll dice for the weather","default_member_permissions":null,"integration_types":[0],"options":[{"name":"sides","required":true},{"name":"weather","choices":[{"value":"fog"},{"value":"storm"}]}]},{"id":` + id(report) + `,"type":3,"description":""}]}`,
		},
		{
			shows: "in other languages", tool: "commands_list_global", args: `{"with_localizations":true}`, sent: []string{whoami, whichIs, "GET " + globals + "?with_localizations=true"},
			want: `{"commands":[{"name_localizations":{"de":"würfeln"}},{"type":3}]}`,
		},
		{
			shows: "from the second on", tool: "commands_list_global", args: `{"offset":1}`, sent: []string{whoami, whichIs, "GET " + globals}, want: `{"count":1,"commands":[{"id":` + id(report) + `}]}`,
		},
		{
			shows: "of another application", tool: "commands_list_global", args: `{"application_id":"1100000000000000002"}`, sent: []string{whoami}, code: mcpcore.CodeBotUnresolved, says: "another application",
		},
		{
			shows: "one", tool: "commands_get_global", args: `{` + withApp + `"command_id":` + id(roll) + `}`, sent: []string{whoami, "GET " + globals + "/" + roll},
			want: `{"id":` + id(roll) + `,"application_id":` + id(app) + `,"name":"roll","type":1,"version":"*","untrusted_text":"*","name_localizations":{"de":"würfeln"},"options":[{"type":4},{"type":3}]}`,
		},
		{
			shows: "a guild's is not there", tool: "commands_get_global", args: `{"command_id":` + id(fog) + `}`, sent: []string{whoami, whichIs, "GET " + globals + "/" + fog},
			code: mcpcore.CodeNotFound, says: "global and guild commands are separate",
		},
		{
			shows: "all of a guild", tool: "commands_list_guild", args: `{"guild_id":` + id(guild) + `,"with_localizations":true}`, sent: []string{whoami, whichIs, "GET " + locals + "?with_localizations=true"},
			want: `{"count":1,"commands":[{"id":` + id(fog) + `,"name":"fog","default_member_permissions":"8192"}]}`,
		},
		{
			shows: "beyond the end", tool: "commands_list_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"offset":5}`, sent: []string{whoami, "GET " + locals}, want: `{"count":0,"commands":[]}`,
		},
		{
			shows: "of no guild", tool: "commands_list_guild", args: `{` + withApp + `"guild_id":"1200000000000009999"}`,
			sent: []string{whoami, "GET /applications/" + app + "/guilds/1200000000000009999/commands"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "one of a guild", tool: "commands_get_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `}`, sent: []string{whoami, "GET " + locals + "/" + fog},
			want: `{"id":` + id(fog) + `,"guild_id":` + id(guild) + `,"application_id":` + id(app) + `,"untrusted_text":"*"}`, says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "a global one", tool: "commands_get_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(roll) + `}`, sent: []string{whoami, "GET " + locals + "/" + roll}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "everything a command has", tool: "commands_create_global", args: `{` + withApp + lamp + `}`, sent: []string{whoami, "POST " + globals + " {" + lamp + "}"},
			want: `{"id":"*","created":true,"application_id":` + id(app) + `,"name":"lamp","description":"Mind the lamp","type":1}`,
		},
		{
			shows: "the name is there", tool: "commands_create_global", args: `{"name":"roll","description":"New"}`, sent: []string{whoami, whichIs, "POST " + globals + ` {"name":"roll","description":"New"}`},
			want: `{"id":` + id(roll) + `,"created":false,"description":"New"}`,
		},
		{
			shows: "an activity's entry point", tool: "commands_create_global", args: `{` + withApp + `"name":"launch","description":"Set sail","type":4,"handler":2}`,
			sent: []string{whoami, "POST " + globals + ` {"name":"launch","description":"Set sail","type":4,"handler":2}`}, want: `{"created":true,"type":4}`,
		},
		{
			shows: "Discord's reasons, by path", tool: "commands_create_global", args: `{` + withApp + `"name":"Lamp","description":"x","options":[{"type":3,"name":"a","description":"x"},{"type":3,"name":"b","description":"x","required":true}]}`,
			sent: []string{whoami, "POST " + globals + ` {"name":"Lamp","description":"x","options":"*"}`}, code: mcpcore.CodeValidation, says: "options.1: Required options must be placed before",
		},
		{
			shows: "no room", tool: "commands_create_global", setup: many, args: `{` + withApp + `"name":"lamp","description":"x"}`,
			sent: []string{whoami, "POST " + globals + ` {"name":"lamp","description":"x"}`}, code: mcpcore.CodeValidation, says: "No more commands of this kind",
		},
		{
			shows: "options four levels down", tool: "commands_create_global", code: mcpcore.CodeValidation, says: "options.0.options.0.options.0.options",
			args: `{"name":"lamp","options":[{"type":2,"name":"a","description":"x","options":[{"type":1,"name":"b","description":"x","options":[{"type":1,"name":"c","description":"x","options":[]}]}]}]}`,
		},
		{
			shows: "a number among texts", tool: "commands_create_global", code: mcpcore.CodeValidation, says: "options.0.options.0.choices.0.value: must be a text",
			args: `{"name":"lamp","options":[{"type":1,"name":"a","description":"x","options":[{"type":3,"name":"b","description":"x","choices":[{"name":"One","value":1}]}]}]}`,
		},
		{
			shows: "a text among numbers", tool: "commands_create_global", code: mcpcore.CodeValidation, says: "options.0.choices.0.value: must be a number",
			args: `{"name":"lamp","options":[{"type":4,"name":"b","description":"x","choices":[{"name":"One","value":"1"}]}]}`,
		},
		{
			shows: "neither text nor number", tool: "commands_create_global", code: mcpcore.CodeValidation, says: "options.0.choices.0.value: must be a text or a number",
			args: `{"name":"lamp","options":[{"type":3,"name":"b","description":"x","choices":[{"name":"One","value":true}]}]}`,
		},
		{
			shows: "a user menu", tool: "commands_create_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"name":"Praise","type":2}`,
			sent: []string{whoami, "POST " + locals + ` {"name":"Praise","type":2}`}, want: `{"created":true,"guild_id":` + id(guild) + `,"type":2,"description":""}`,
		},
		{
			shows: "a menu with a description", tool: "commands_create_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"name":"Praise","type":2,"description":"x"}`,
			sent: []string{whoami, "POST " + locals + ` {"name":"Praise","type":2,"description":"x"}`}, code: mcpcore.CodeValidation, says: "cannot have description",
		},
		{
			shows: "open to everyone, everywhere", tool: "commands_modify_global", args: `{` + withApp + `"command_id":` + id(roll) + `,"default_member_permissions":null,"contexts":null,"name_localizations":null,"type":1}`,
			sent: []string{whoami, "PATCH " + globals + "/" + roll + ` {"default_member_permissions":null,"contexts":null,"name_localizations":null,"type":1}`}, want: `{"id":` + id(roll) + `,"version":"*"}`,
		},
		{
			shows: "nothing to change", tool: "commands_modify_global", args: `{` + withApp + `"command_id":` + id(roll) + `}`, code: mcpcore.CodeValidation, says: "at least one setting",
		},
		{
			shows: "a new name", tool: "commands_modify_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `,"name":"mist","options":[]}`,
			sent: []string{whoami, "PATCH " + locals + "/" + fog + ` {"name":"mist","options":[]}`}, want: `{"id":` + id(fog) + `,"name":"mist","guild_id":` + id(guild) + `}`,
		},
		{
			shows: "nothing to change", tool: "commands_modify_guild", args: `{"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `}`, code: mcpcore.CodeValidation, says: "at least one setting",
		},
		{
			shows: "preview", tool: "commands_delete_global", args: `{` + withApp + `"command_id":` + id(roll) + `}`, sent: []string{whoami, "GET " + globals + "/" + roll}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"command","value":"roll"},{"value":"slash command"},{"name":"description"},{"name":"options","value":"2"}]}`,
		},
		{
			shows: "confirmed", tool: "commands_delete_global", args: `{"command_id":` + id(report) + `,"__confirm":true}`, sent: []string{whoami, whichIs, "DELETE " + globals + "/" + report},
			want: `{"deleted":true,"command_id":` + id(report) + `}`,
		},
		{
			shows: "preview", tool: "commands_delete_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `}`, sent: []string{whoami, "GET " + locals + "/" + fog}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"fog"},{"value":"slash command"},{"value":"Let fog come in"},{"value":"0"}]}`,
		},
		{
			shows: "confirmed", tool: "commands_delete_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `,"__confirm":true}`, sent: []string{whoami, "DELETE " + locals + "/" + fog},
			want: `{"deleted":true,"command_id":` + id(fog) + `,"guild_id":` + id(guild) + `}`,
		},
	}
	for i := range rows {
		rows[i].deps = locked
	}
	run(t, rows)
}

func TestCommandsAreReplaced(t *testing.T) {
	t.Parallel()
	const dice = `{"id":"` + roll + `","name":"dice","description":"Roll dice"}`
	rows := []row{
		{
			shows: "preview: one goes, one stays, one comes", tool: "commands_bulk_overwrite_global", args: `{"commands":[` + dice + `,{"name":"lamp","description":"x"}]}`,
			sent: []string{whoami, whichIs, "GET " + globals}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"commands deleted","value":"1"},{"name":"deleted","value":"Report to the keepers (message menu)"},{"name":"commands kept or changed","value":"1"},{"name":"commands created","value":"1"}]}`,
		},
		{
			shows: "preview: all go", tool: "commands_bulk_overwrite_global", args: `{` + withApp + `"commands":[]}`, sent: []string{whoami, "GET " + globals}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"2"},{"value":"/roll, Report to the keepers (message menu)"},{"value":"0"},{"value":"0"}]}`,
		},
		{
			shows: "confirmed", tool: "commands_bulk_overwrite_global", args: `{` + withApp + `"commands":[` + dice + `],"__confirm":true}`,
			sent: []string{whoami, "PUT " + globals + " [" + dice + "]"}, want: `{"count":1,"commands":[{"id":` + id(roll) + `,"name":"dice","type":1}]}`,
		},
		{
			shows: "preview: a type is part of the name", tool: "commands_bulk_overwrite_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"commands":[{"name":"fog","type":2}]}`,
			sent: []string{whoami, "GET " + locals}, code: mcpcore.CodeDryRun, want: `{"facts":[{"value":"1"},{"value":"/fog"},{"value":"0"},{"value":"1"}]}`,
		},
		{
			shows: "confirmed, with every level", tool: "commands_bulk_overwrite_guild", args: `{"guild_id":` + id(guild) + `,"commands":[{"name":"lamp","description":"x","options":` + nested + `}],"__confirm":true}`,
			sent: []string{whoami, whichIs, "PUT " + locals + ` [{"name":"lamp","description":"x","options":` + nested + `}]`}, want: `{"count":1,"commands":[{"name":"lamp"}]}`,
		},
		{
			shows: "a wrong choice in a list", tool: "commands_bulk_overwrite_guild", code: mcpcore.CodeValidation, says: "commands.0.options.0.choices.0.value: must be a number",
			args: `{"guild_id":` + id(guild) + `,"commands":[{"name":"lamp","options":[{"type":10,"name":"b","description":"x","choices":[{"name":"One","value":"1"}]}]}]}`,
		},
		{
			shows: "two of a name", tool: "commands_bulk_overwrite_guild", args: `{` + withApp + `"guild_id":` + id(guild) + `,"commands":[{"name":"a","description":"x"},{"name":"a","description":"y"}],"__confirm":true}`,
			sent: []string{whoami, "PUT " + locals + ` "*"`}, code: mcpcore.CodeValidation, says: "names must be unique",
		},
	}
	for i := range rows {
		rows[i].deps = locked
	}
	run(t, rows)
}

// TestReplacingTouchesOneGuild: the commands of a guild go with their permissions,
// and no others.
func TestReplacingTouchesOneGuild(t *testing.T) {
	t.Parallel()
	b := start(t, locked)
	if a := b.call("commands_bulk_overwrite_guild", `{"guild_id":`+id(guild)+`,"commands":[],"__confirm":true}`); a.code != "" {
		t.Fatalf("the legitimate call: %s", a.data)
	}
	if left := b.world.Commands(sandbox.DemoGuild); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if grants := b.world.CommandGrants(sandbox.DemoGuild, sandbox.DemoFog); grants != nil {
		t.Errorf("permissions left: %v", grants)
	}
	if kept := b.world.Commands(""); len(kept) != 2 {
		t.Errorf("global commands: %v", kept)
	}
}

func TestCommandPermissions(t *testing.T) {
	t.Parallel()
	of := locals + "/" + fog + "/permissions"
	mods := `{"id":` + id(sandbox.DemoModeratorRole) + `,"type":1,"permission":true}`
	run(t, []row{
		{
			shows: "of one command", tool: "commands_get_command_permissions", deps: locked, args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `}`,
			sent: []string{whoami, "GET " + of}, want: `{"id":` + id(fog) + `,"application_id":` + id(app) + `,"guild_id":` + id(guild) + `,"permissions":[` + mods + `]}`,
		},
		{
			shows: "none of its own", tool: "commands_get_command_permissions", deps: locked, args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(roll) + `}`,
			sent: []string{whoami, "GET " + locals + "/" + roll + "/permissions"}, code: mcpcore.CodeNotFound, says: "no permissions of its own",
		},
		{
			shows: "all", tool: "commands_get_guild_command_permissions", deps: locked, args: `{"guild_id":` + id(guild) + `}`,
			sent: []string{whoami, whichIs, "GET " + locals + "/permissions"}, want: `{"count":1,"permissions":[{"id":` + id(fog) + `,"permissions":[` + mods + `]}]}`,
		},
		{
			shows: "beyond the end", tool: "commands_get_guild_command_permissions", deps: locked, args: `{` + withApp + `"guild_id":` + id(guild) + `,"offset":9}`,
			sent: []string{whoami, "GET " + locals + "/permissions"}, want: `{"count":0,"permissions":[]}`,
		},
		{
			shows: "of no guild", tool: "commands_get_guild_command_permissions", deps: locked, args: `{` + withApp + `"guild_id":"1200000000000009999"}`,
			sent: []string{whoami, "GET /applications/" + app + "/guilds/1200000000000009999/commands/permissions"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "by the owner", tool: "commands_edit_command_permissions", args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `,"permissions":[` + mods + `],"bearer_token":"` + sandbox.DemoAccess + `"}`,
			sent: []string{"PUT " + of + ` {"permissions":[` + mods + `]}`}, want: `{"id":` + id(fog) + `,"application_id":` + id(app) + `,"guild_id":` + id(guild) + `,"permissions":[` + mods + `]}`,
		},
		{
			shows: "a bot's token will not do", tool: "commands_edit_command_permissions", args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `,"permissions":[]}`,
			code: mcpcore.CodeValidation, says: "bearer_token",
		},
		{
			shows: "a token that is none", tool: "commands_edit_command_permissions", args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `,"permissions":[],"bearer_token":"not-known"}`,
			sent: []string{"PUT " + of + ` {"permissions":[]}`}, code: mcpcore.CodeAuthInvalid, says: "The bearer token in the arguments",
		},
		{
			shows: "a header in the token", tool: "commands_edit_command_permissions", args: `{` + withApp + `"guild_id":` + id(guild) + `,"command_id":` + id(fog) + `,"permissions":[],"bearer_token":"a\r\nX-Evil: b"}`,
			code: mcpcore.CodeValidation, says: "bearer_token: must match",
		},
	})
}

// TestCommandPermissionsAreAPersons sends the person's token, and shows it nowhere.
func TestCommandPermissionsAreAPersons(t *testing.T) {
	t.Parallel()
	b := start(t)
	everyone, everywhere := guild, "1200000000000000000"
	edit := func(token string) answer {
		b.world.ResetRequests()
		return b.call("commands_edit_command_permissions", `{"guild_id":`+id(guild)+`,"command_id":`+id(roll)+`,"bearer_token":`+id(token)+`,"permissions":[`+
			`{"id":`+id(everyone)+`,"type":1,"permission":false},{"id":`+id(tomo)+`,"type":2,"permission":true},`+
			`{"id":`+id(general)+`,"type":3,"permission":true},{"id":`+id(everywhere)+`,"type":3,"permission":false}]}`)
	}
	const scope = "applications.commands.permissions.update"
	token := b.world.Authorize(sandbox.DemoOwner, scope)
	a := edit(token)
	if a.code != "" || missing(t, a.data, `{"id":`+id(roll)+`,"guild_id":`+id(guild)+`,"permissions":[{"type":1},{"type":2},{"type":3},{"type":3}]}`) != "" {
		t.Fatalf("the legitimate call: %s", a.data)
	}
	requests := b.world.Requests()
	if len(requests) != 2 || requests[0].Header.Get("Authorization") != "Bot "+b.world.Token() || requests[1].Header.Get("Authorization") != "foreign" {
		t.Errorf("Discord saw %v", b.sent())
	}
	if grants := b.world.CommandGrants(sandbox.DemoGuild, sandbox.DemoRoll); len(grants) != 4 {
		t.Errorf("stored %v", grants)
	}
	log := b.world.AuditLog(sandbox.DemoGuild)
	if last := log[len(log)-1]; last.User != sandbox.DemoOwner || last.Action != 121 {
		t.Errorf("audited %+v", last)
	}
	weak := b.world.Authorize(sandbox.DemoMember, scope)
	if a := edit(weak); a.code != mcpcore.CodePermission {
		t.Errorf("a member: %s", a.data)
	}
	scopeless := b.world.Authorize(sandbox.DemoOwner, "identify")
	if a := edit(scopeless); a.code != mcpcore.CodePermission {
		t.Errorf("without the scope: %s", a.data)
	}
	if a := edit("not-known"); a.code != mcpcore.CodeAuthInvalid {
		t.Errorf("an unknown token: %s", a.data)
	}
	if a := b.call("guild_get", `{"guild_id":`+id(guild)+`}`); a.code != "" {
		t.Errorf("the bot's own token is given up with the person's: %s", a.data)
	}
	for _, e := range b.audit.all() {
		for _, secret := range []string{token, weak, scopeless} {
			if strings.Contains(string(e.Args), secret) {
				t.Errorf("the audit holds a token: %s", e.Args)
			}
		}
	}
	if a := b.call("commands_edit_command_permissions", `{"guild_id":`+id(guild)+`,"command_id":`+id(roll)+`,"bearer_token":`+id(token)+`,"permissions":[{"id":"1200000000000009999","type":1,"permission":true}]}`); strings.Contains(a.text+string(a.data), token) {
		t.Errorf("a refusal holds the token: %s", a.text)
	}
}

// TestBotTokenIsRefusedByCommandPermissions: why the tool takes a person's.
func TestBotTokenIsRefusedByCommandPermissions(t *testing.T) {
	t.Parallel()
	client, err := discordtools.NewClient(sandbox.Demo().Session(), discordtools.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := discordtools.Request{
		Method: "PUT", Route: "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}/permissions",
		Path: map[string]string{"application_id": app, "guild_id": guild, "command_id": fog}, Body: []byte(`{"permissions":[]}`),
	}
	if _, err = client.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), "Bots cannot use this endpoint") {
		t.Errorf("the bot's token: %v", err)
	}
	r.Bearer = "a-person"
	if _, err := client.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), "one authorization") {
		t.Errorf("two authorizations: %v", err)
	}
}

// TestGuildCommandsAreLockedAndHeld: a guild's commands are the application's in
// that guild, so both guards count.
func TestGuildCommandsAreLockedAndHeld(t *testing.T) {
	t.Parallel()
	call := func(b *bench, of string, more string) answer {
		b.world.ResetRequests()
		return b.call("commands_create_guild", `{"guild_id":`+id(of)+`,"name":"lamp","description":"x"`+more+`}`)
	}
	for name, row := range map[string]struct {
		deps []func(*discordtools.Deps)
		of   string
		more string
		code mcpcore.Code
	}{
		"no lock":             {of: guild, code: mcpcore.CodeBotUnresolved},
		"another application": {deps: []func(*discordtools.Deps){locked}, of: guild, more: `,"application_id":"1100000000000000002"`, code: mcpcore.CodeBotUnresolved},
		"another guild":       {deps: []func(*discordtools.Deps){locked, homeOnly}, of: string(sandbox.DemoClub), code: mcpcore.CodeGuildNotAllowed},
		"both kept":           {deps: []func(*discordtools.Deps){locked, homeOnly}, of: guild, more: `,"application_id":` + id(app)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, row.deps...)
			if a := call(b, row.of, row.more); a.code != row.code {
				t.Errorf("code %q, want %q: %s", a.code, row.code, a.data)
			}
			if wrote := len(b.world.Writes()) > 0; wrote != (row.code == "") {
				t.Errorf("Discord saw %v", b.sent())
			}
		})
	}
}

// TestGranteesAreHeld: a role, a member, a channel and all channels are of the
// guild, or the call is refused before anything is changed.
func TestGranteesAreHeld(t *testing.T) {
	t.Parallel()
	b := start(t, homeOnly)
	token := b.world.Authorize(sandbox.DemoOwner, "applications.commands.permissions.update")
	for grantee, kept := range map[string]bool{
		string(sandbox.DemoMutedRole): true, tomo: true, general: true, guild: true, "1200000000000000000": true,
		string(sandbox.DemoReader): false, string(sandbox.DemoClubGeneral): false, string(sandbox.DemoClub): false, "1200000000000009999": false,
	} {
		kind := map[bool]string{true: "3", false: "1"}[grantee == general || grantee == "1200000000000000000"]
		if grantee == tomo {
			kind = "2"
		}
		b.world.ResetRequests()
		a := b.call("commands_edit_command_permissions", `{"guild_id":`+id(guild)+`,"command_id":`+id(fog)+`,"bearer_token":`+id(token)+
			`,"permissions":[{"id":`+id(grantee)+`,"type":`+kind+`,"permission":true}]}`)
		switch {
		case kept && a.code != "":
			t.Errorf("%s: %s", grantee, a.data)
		case !kept && (a.code != mcpcore.CodeGuildUnresolved || len(b.world.Writes()) > 0):
			t.Errorf("%s: code %q, Discord saw %v", grantee, a.code, b.sent())
		}
	}
	b.world.Inject(sandbox.Fault{Method: "GET", Route: "/guilds/{guild_id}/roles", Status: 403, Times: 1})
	b.world.ResetRequests()
	if a := b.call("commands_edit_command_permissions", `{"guild_id":`+id(guild)+`,"command_id":`+id(fog)+`,"bearer_token":`+id(token)+
		`,"permissions":[{"id":"1200000000000008888","type":1,"permission":true}]}`); a.code != mcpcore.CodeGuildUnresolved || len(b.world.Writes()) > 0 {
		t.Errorf("roles that cannot be read: %s", a.data)
	}
}
