package discordtools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// crew is a template of the guild, as it is.
func crew(d *sandbox.Discord) {
	d.AddTemplate(sandbox.DemoGuild, sandbox.Template{Code: "crew-7", Name: "Crew", Description: "all aboard", Uses: 3, Created: now.Add(-time.Hour)})
}

func reads(d *sandbox.Discord) {
	d.AddTemplate(sandbox.DemoClub, sandbox.Template{Code: "reads", Name: "Reads"})
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	const (
		in  = `{"guild_id":"` + guild + `"`
		of  = in + `,"template_code":"crew-7"`
		all = "/guilds/" + guild + "/templates"
		one = all + "/crew-7"
		get = "GET /guilds/templates/crew-7"
	)
	run(t, []row{
		{
			shows: "with a description", tool: "templates_create", args: in + `,"name":"Crew","description":"all aboard","audit_reason":"spring"}`,
			sent: []string{"POST " + all + ` {"name":"Crew","description":"all aboard"}`}, says: "<untrusted_discord_template",
			want: `{"template":{"code":"*","name":"Crew","description":"all aboard","usage_count":0,"creator_id":` + id(sandbox.BotID) + `,"created_at":"*","updated_at":"*","source_guild_id":` + id(guild) + `,"is_dirty":null,"use_url":"*"},"untrusted_text":"*"}`,
		},
		{
			shows: "null for no description", tool: "templates_create", args: in + `,"name":"Crew","description":null}`,
			sent: []string{"POST " + all + ` {"name":"Crew","description":null}`}, want: `{"template":{"description":null}}`,
		},
		{
			shows: "a second one", tool: "templates_create", setup: crew, args: in + `,"name":"Crew"}`,
			sent: []string{"POST " + all + ` {"name":"Crew"}`}, code: mcpcore.CodeValidation, says: "Sync or change the one there is",
		},
		{shows: "without a name", tool: "templates_create", args: in + `}`, code: mcpcore.CodeValidation},
		{
			shows: "confirmed", tool: "templates_delete", setup: crew, args: of + `,"audit_reason":"old","__confirm":true}`,
			sent: []string{"DELETE " + one}, want: `{"deleted":true,"template":{"code":"crew-7","name":"Crew"},"untrusted_text":"*"}`, says: "Crew",
		},
		{
			shows: "unconfirmed", tool: "templates_delete", setup: crew, args: of + `}`, sent: []string{get}, code: mcpcore.CodeDryRun, says: "guilds made from it",
			want: `{"preview":"*"}`,
		},
		{
			shows: "that of another guild", tool: "templates_delete", setup: reads, args: in + `,"template_code":"reads","__confirm":true}`,
			sent: []string{"DELETE " + all + "/reads"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "by its code", tool: "templates_get", setup: crew, args: `{"template_code":"crew-7"}`, sent: []string{get}, says: `"name":"general"`,
			want: `{"template":{"code":"crew-7","usage_count":3,"use_url":"https://discord.new/crew-7"},"channel_count":11,"source_guild":{"name":"Lighthouse Games","verification_level":1,
				"roles":[{"id":"0","name":"@everyone"},{"id":"1","name":"Muted"},{},{},{},{}],"channels":["*","*","*","*","*",{"name":"general","type":0,"parent_id":"2","permission_overwrites":[{"id":"1","type":0,"allow":"0","deny":"2099264"}]},"*","*","*","*","*"]},"untrusted_text":"*"}`,
		},
		{shows: "by its address", tool: "templates_get", setup: crew, args: `{"template_code":"https://discord.new/crew-7"}`, sent: []string{get}, want: `{"template":{"code":"crew-7"}}`},
		{shows: "from the tenth channel on", tool: "templates_get", setup: crew, args: `{"template_code":"crew-7","offset":9}`, sent: []string{get}, want: `{"channel_count":11,"source_guild":{"channels":["*","*"]}}`},
		{shows: "an address with a query", tool: "templates_get", setup: crew, args: `{"template_code":"https://discord.new/crew-7?x=1"}`, code: mcpcore.CodeValidation, says: "and the code"},
		{shows: "another's address", tool: "templates_get", args: `{"template_code":"https://discord.gift/crew-7"}`, code: mcpcore.CodeValidation},
		{shows: "none of that code", tool: "templates_get", args: `{"template_code":"ghost"}`, sent: []string{"GET /guilds/templates/ghost"}, code: mcpcore.CodeNotFound},
		{
			shows: "counts", tool: "templates_inspect", setup: crew, args: `{"template_code":"crew-7"}`, sent: []string{get}, says: `"risky_permission_signals"`,
			want: `{"template":{"code":"crew-7"},"blueprint":{"channel_count":11,"category_count":4,"text_channel_count":5,"voice_channel_count":1,"forum_channel_count":1,"stage_channel_count":0,"other_channel_count":0,"nsfw_channel_count":0,
				"permission_overwrite_count":10,"role_count":6,"privileged_role_count":2,"risky_permission_signals":[{"permission":"ADMINISTRATOR","role_count":1},{"permission":"KICK_MEMBERS","role_count":1}]},"untrusted_text":"*"}`,
		},
		{shows: "an address", tool: "templates_inspect", args: `{"template_code":"https://discord.new/crew-7"}`, code: mcpcore.CodeValidation},
		{
			shows: "the one there is", tool: "templates_list", setup: crew, args: in + `}`, sent: []string{"GET " + all}, says: "<untrusted_discord_template",
			want: `{"templates":[{"code":"crew-7","use_url":"https://discord.new/crew-7","is_dirty":null}],"count":1,"untrusted_text":"*"}`,
		},
		{shows: "none", tool: "templates_list", args: in + `}`, sent: []string{"GET " + all}, want: `{"templates":[],"count":0}`},
		{shows: "without the permission", tool: "templates_list", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`, sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/templates"}, code: mcpcore.CodePermission},
		{
			shows: "a new name, no description", tool: "templates_modify", setup: crew, args: of + `,"name":"Hands","description":null,"audit_reason":"shorter"}`,
			sent: []string{"PATCH " + one + ` {"name":"Hands","description":null}`}, want: `{"template":{"name":"Hands","description":null,"updated_at":"2026-03-14T14:09:26.000000+00:00"}}`,
		},
		{shows: "nothing to change", tool: "templates_modify", args: of + `}`, code: mcpcore.CodeValidation, says: "name, description"},
		{
			shows: "the guild as it is", tool: "templates_sync", args: of + `,"audit_reason":"spring"}`, setup: func(d *sandbox.Discord) {
				crew(d)
				d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: "new"})
			},
			sent: []string{"PUT " + one}, want: `{"template":{"is_dirty":null,"updated_at":"2026-03-14T15:09:26.000000+00:00"}}`, says: `"name":"new"`,
		},
		{shows: "none of that code", tool: "templates_sync", args: of + `}`, sent: []string{"PUT " + one}, code: mcpcore.CodeNotFound},
		{
			shows: "of another guild", tool: "templates_diff", setup: reads, args: in + `,"template_code":"reads"}`,
			sent: []string{"GET /guilds/templates/reads"}, want: `{"template":{"code":"reads"},"source_guild_matches":false,"drift":null,"untrusted_text":"*"}`,
		},
		{shows: "none of that code", tool: "templates_diff", args: of + `}`, sent: []string{get}, code: mcpcore.CodeNotFound},
	})
}

// TestTemplateReasonsAreSent: the audit-log reason goes into its header.
func TestTemplateReasonsAreSent(t *testing.T) {
	t.Parallel()
	b := start(t)
	crew(b.world)
	for _, call := range [][2]string{{"templates_sync", ""}, {"templates_modify", `,"name":"Hands"`}, {"templates_delete", `,"__confirm":true`}, {"templates_create", `,"name":"Crew"`}} {
		args := `{"guild_id":` + id(guild) + `,"template_code":"crew-7"` + call[1] + `,"audit_reason":"spring tide"}`
		if call[0] == "templates_create" {
			args = strings.Replace(args, `,"template_code":"crew-7"`, "", 1)
		}
		b.world.ResetRequests()
		a := b.call(call[0], args)
		if sent := b.world.Writes(); a.code != "" || len(sent) != 1 || sent[0].Header.Get("X-Audit-Log-Reason") != "spring%20tide" {
			t.Errorf("%s: code %q, sent %v", call[0], a.code, sent)
		}
	}
}

// TestTemplatesAreHeldToAllowedGuilds: also a code in an address is proven.
func TestTemplatesAreHeldToAllowedGuilds(t *testing.T) {
	t.Parallel()
	b := start(t, func(d *discordtools.Deps) { d.Config.AllowedGuilds = []discord.GuildID{sandbox.DemoGuild} })
	crew(b.world)
	reads(b.world)
	for args, want := range map[string]mcpcore.Code{
		`{"template_code":"crew-7"}`:                      "",
		`{"template_code":"https://discord.new/crew-7"}`:  "",
		`{"template_code":"reads"}`:                       mcpcore.CodeGuildNotAllowed,
		`{"template_code":"https://discord.new/reads"}`:   mcpcore.CodeGuildNotAllowed,
		`{"template_code":"ghost"}`:                       mcpcore.CodeGuildUnresolved,
		`{"template_code":"https://discord.new/reads#x"}`: mcpcore.CodeValidation,
	} {
		if a := b.call("templates_get", args); a.code != want {
			t.Errorf("%s: code %q, want %q\n%s", args, a.code, want, a.data)
		}
	}
	foreign := `{"guild_id":` + id(guild) + `,"template_code":"reads"}`
	if a := b.call("templates_diff", foreign); a.code != mcpcore.CodeGuildNotAllowed {
		t.Errorf("another guild's template was compared: code %q", a.code)
	}
	both := start(t, func(d *discordtools.Deps) {
		d.Config.AllowedGuilds = []discord.GuildID{sandbox.DemoGuild, sandbox.DemoClub}
	})
	reads(both.world)
	if a := both.call("templates_diff", foreign); a.code != "" || missing(t, a.data, `{"source_guild_matches":false}`) != "" {
		t.Errorf("that of another allowed guild: code %q\n%s", a.code, a.data)
	}
}

// TestTemplatesDiff changes the guild after its template was made.
func TestTemplatesDiff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after func(*sandbox.Discord)
		want          string
		says          string
	}{
		"nothing": {want: `{"template_channel_count":11,"source_guild_channel_count":13,"channels_missing_from_guild_count":0,"channels_added_since_snapshot_count":0,"channels_not_representable_in_template_count":2,
			"template_role_count":6,"source_guild_role_count":6,"roles_missing_from_guild_count":0,"roles_added_since_snapshot_count":0,"role_permission_difference_count":0,"channel_setting_difference_count":0,
			"permission_overwrite_difference_count":0,"template_marked_dirty":null}`},
		"a bot's overwrites have no name there": {want: `{"unmapped_permission_overwrite_count":2,"sync_recommended":true}`, says: string(sandbox.DemoBotRole)},
		"a channel more, one less": {want: `{"channels_added_since_snapshot_count":1,"channels_missing_from_guild_count":1,"template_marked_dirty":true,"sync_recommended":true}`, says: `"channels_added_since_snapshot":[{"name":"new","type":0}]`,
			before: func(d *sandbox.Discord) {
				d.AddChannel(sandbox.Channel{ID: "1200000000000000391", Guild: sandbox.DemoGuild, Name: "old"})
			},
			after: func(d *sandbox.Discord) { rename(t, d, "1200000000000000391", `{"name":"new"}`) }},
		"a stage more": {want: `{"channels_not_representable_in_template_count":3,"channels_added_since_snapshot_count":0}`, after: func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Type: discord.GuildStageVoice, Name: "stage"})
		}},
		"a role more":              {want: `{"roles_added_since_snapshot_count":1}`, says: `"roles_added_since_snapshot":["Cook"]`, after: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "Cook"}) }},
		"an integration's role":    {want: `{"roles_added_since_snapshot_count":0}`, after: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "Bot", Managed: true}) }},
		"what a role may do":       {want: `{"role_permission_difference_count":1,"sync_recommended":true}`, says: `"role":"Member"`, after: func(d *sandbox.Discord) { d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoMemberRole, 8) }},
		"settings":                 {want: `{"channel_setting_difference_count":2}`, says: `"setting":"topic"`, after: func(d *sandbox.Discord) { rename(t, d, sandbox.DemoGeneral, `{"topic":"","rate_limit_per_user":5}`) }},
		"case and spaces of names": {want: `{"channels_missing_from_guild_count":0,"channels_added_since_snapshot_count":0}`, after: func(d *sandbox.Discord) { rename(t, d, sandbox.DemoLounge, `{"name":" LOUNGE "}`) }},
		"tags in another order": {want: `{"channel_setting_difference_count":0}`, after: func(d *sandbox.Discord) {
			rename(t, d, sandbox.DemoHelp, `{"available_tags":[{"id":"1200000000000000333","name":"Solved","moderated":true},{"id":"1200000000000000332","name":"Idea","emoji_name":"💡"},{"id":"1200000000000000331","name":"Bug","emoji_name":"🐛"}]}`)
		}},
		"a tag's emoji": {want: `{"channel_setting_difference_count":1}`, says: `"setting":"available_tags"`, after: func(d *sandbox.Discord) {
			rename(t, d, sandbox.DemoHelp, `{"available_tags":[{"id":"1200000000000000331","name":"Bug","emoji_name":"🐞"},{"id":"1200000000000000332","name":"Idea","emoji_name":"💡"},{"id":"1200000000000000333","name":"Solved","moderated":true}]}`)
		}},
		"overwrites: one changed, one gone, one new, one of a member": {want: `{"permission_overwrite_difference_count":4}`, says: `"of":"member ` + string(sandbox.DemoMember) + `"`, after: func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoMutedRole), Deny: discord.SendMessages})
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoMemberRole), Allow: discord.SendMessages})
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoMember), Type: 1, Allow: discord.SendMessages})
			rename(t, d, sandbox.DemoShowcase, `{"permission_overwrites":[]}`)
		}},
		"two roles of a name": {want: `{"permission_overwrite_difference_count":0,"unmapped_permission_overwrite_count":6,"roles_missing_from_guild_count":0,"role_permission_difference_count":0}`,
			before: func(d *sandbox.Discord) {
				d.AddRole(sandbox.DemoGuild, sandbox.Role{ID: "1200000000000000291", Name: "Twin", Permissions: 1})
				d.AddRole(sandbox.DemoGuild, sandbox.Role{ID: "1200000000000000292", Name: "twin", Permissions: 2})
				d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: "1200000000000000291", Allow: 1})
				d.SetOverwrite(sandbox.DemoLounge, discord.Overwrite{ID: "1200000000000000292", Allow: 1})
			}},
		"two channels of a name": {want: `{"channel_setting_difference_count":1,"channels_missing_from_guild_count":0}`,
			before: func(d *sandbox.Discord) {
				d.AddChannel(sandbox.Channel{ID: "1200000000000000391", Guild: sandbox.DemoGuild, Name: "twin", Topic: "a", SlowMode: 5})
				d.AddChannel(sandbox.Channel{ID: "1200000000000000392", Guild: sandbox.DemoGuild, Name: "twin", Topic: "b", SlowMode: 9})
			},
			after: func(d *sandbox.Discord) { // the places are swapped, and one topic is new
				rename(t, d, "1200000000000000391", `{"position":90}`)
				rename(t, d, "1200000000000000391", `{"topic":"c"}`)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			if c.before != nil {
				c.before(b.world)
			}
			crew(b.world)
			if c.after != nil {
				c.after(b.world)
			}
			a := b.call("templates_diff", `{"guild_id":`+id(guild)+`,"template_code":"crew-7"}`)
			if diff := missing(t, a.data, `{"source_guild_matches":true,"drift":`+c.want+`}`); a.code != "" || diff != "" {
				t.Errorf("code %q: %s\nlacks %s", a.code, a.data, diff)
			}
			if !strings.Contains(a.text, c.says) {
				t.Errorf("text\n%s\nlacks %s", a.text, c.says)
			}
			if writes := b.world.Writes(); c.after == nil && len(writes) > 0 {
				t.Errorf("Discord saw %s", writes[0].Method)
			}
			covered.note("templates_diff", a.code == "")
		})
	}
}

// rename changes a channel as its guild's people would.
func rename(t *testing.T, d *sandbox.Discord, channel discord.ChannelID, change string) {
	t.Helper()
	c, err := discordtools.NewClient(d.Session(), discordtools.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), discordtools.Request{Method: "PATCH", Route: "/channels/{channel_id}", Path: map[string]string{"channel_id": string(channel)}, Body: []byte(change)}); err != nil {
		t.Fatal(err)
	}
}

// TestTemplatesOfNumbersAndNothing: Discord writes a snapshot's ids as numbers,
// and 0 for no emoji.
func TestTemplatesOfNumbersAndNothing(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	b := startOn(t, sandbox.Demo(), func(deps *discordtools.Deps) {
		deps.REST = told{
			"/guilds/templates/{code}": object{"code": "crew-7", "name": "Crew", "source_guild_id": guild, "serialized_source_guild": object{
				"name": "Lighthouse Games", "roles": []object{{"id": 0, "name": "@everyone", "permissions": "5"}},
				"channels": []object{
					{"id": 1, "name": "Community", "type": 4, "parent_id": nil, "permission_overwrites": []object{}},
					{"id": 2, "name": "help", "type": 15, "parent_id": 1, "nsfw": false, "default_sort_order": nil, "default_reaction_emoji": object{"emoji_id": 0, "emoji_name": nil},
						"available_tags":        []object{{"id": 0, "name": "Bug", "emoji_id": 0, "emoji_name": "🐛", "moderated": nil}},
						"permission_overwrites": []object{{"id": 0, "type": 0, "allow": "0", "deny": "1024"}}},
				},
			}},
			"/guilds/{guild_id}/roles": []object{{"id": guild, "name": "@everyone", "permissions": "5"}},
			"/guilds/{guild_id}/channels": []object{
				{"id": "1", "name": "community", "type": 4, "permission_overwrites": []object{}},
				{"id": "2", "name": "Help", "type": 15, "default_sort_order": 0, "default_reaction_emoji": nil, "flags": 16,
					"available_tags":        []object{{"id": "9", "name": "Bug", "emoji_id": nil, "emoji_name": "🐛", "moderated": false}},
					"permission_overwrites": []object{{"id": guild, "type": 0, "allow": "0", "deny": "1024"}}},
			},
		}
	})
	a := b.call("templates_diff", `{"guild_id":`+id(guild)+`,"template_code":"crew-7"}`)
	if diff := missing(t, a.data, `{"drift":{"channels_missing_from_guild_count":0,"channel_setting_difference_count":0,"permission_overwrite_difference_count":0,"unmapped_permission_overwrite_count":0,"template_marked_dirty":null,"sync_recommended":false}}`); diff != "" {
		t.Errorf("%s\nlacks %s", a.data, diff)
	}
	a = b.call("templates_get", `{"template_code":"crew-7"}`)
	if diff := missing(t, a.data, `{"source_guild":{"roles":[{"id":"0"}],"channels":[{"id":"1"},{"id":"2","parent_id":"1","permission_overwrites":[{"id":"0"}]}]}}`); diff != "" {
		t.Errorf("%s\nlacks %s", a.data, diff)
	}
}

// TestLargeTemplatesAreReadInParts reads a template with hundreds of channels to
// its end, each once.
func TestLargeTemplatesAreReadInParts(t *testing.T) {
	t.Parallel()
	b := start(t)
	for i := range 450 {
		b.world.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: fmt.Sprintf("deck-%03d", i), Topic: strings.Repeat("sea ", 40)})
	}
	crew(b.world)
	seen, calls := map[string]int{}, 0
	for offset := 0; ; calls++ {
		a := b.call("templates_get", fmt.Sprintf(`{"template_code":"crew-7","offset":%d}`, offset))
		if len(a.data) > 100<<10 {
			t.Fatalf("an answer of %d bytes", len(a.data))
		}
		var v struct {
			Guild struct {
				Channels []struct{ Name string } `json:"channels"`
			} `json:"source_guild"`
			Next int `json:"next_offset"`
		}
		if err := json.Unmarshal(a.data, &v); err != nil {
			t.Fatal(err)
		}
		for _, c := range v.Guild.Channels {
			seen[c.Name]++
		}
		if v.Next == 0 {
			break
		}
		offset = v.Next
		if words := fmt.Sprintf("More follow: go on with offset %d.", offset); !strings.HasSuffix(a.text, words) {
			t.Errorf("the text does not end with %q", words)
		}
	}
	for _, c := range []struct{ tool, args, says string }{ // what shows a part says so
		{"templates_inspect", `{"template_code":"crew-7"}`, "templates_get reads on with offset"},
		{"templates_modify", `{"guild_id":` + id(guild) + `,"template_code":"crew-7","name":"New"}`, "templates_get reads on with offset"},
		{"templates_sync", `{"guild_id":` + id(guild) + `,"template_code":"crew-7"}`, "templates_get reads on with offset"},
		{"templates_delete", `{"guild_id":` + id(guild) + `,"template_code":"crew-7","__confirm":true}`, "of the template's 461 channels are shown"},
	} {
		a := b.call(c.tool, c.args)
		if a.code != "" || !strings.Contains(a.text, c.says) || missing(t, a.data, `{"warnings":["*"]}`) != "" {
			t.Errorf("%s: code %q, warnings are missing: %s", c.tool, a.code, short(a.data))
		}
		if gone := c.tool == "templates_delete"; gone && strings.Contains(a.text, "reads on") {
			t.Error("a deleted template is to be read on")
		}
	}
	if len(seen) != 461 || calls < 2 {
		t.Errorf("%d names in %d calls", len(seen), calls+1)
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", name, n)
		}
	}
}

// A guild as full as Discord lets it become is compared in one answer that hosts
// take, which says what it does not name; the call tells how far it is.
func TestTemplatesDiffOfAFullGuild(t *testing.T) {
	t.Parallel()
	full := func(d *sandbox.Discord) {
		crew(d)
		long := strings.Repeat("n", 90)
		for i := range 480 {
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Type: discord.GuildText, Name: fmt.Sprintf("%s-%03d", long, i), Topic: strings.Repeat("sea ", 100)})
		}
		for i := range 230 {
			d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: fmt.Sprintf("%s-%03d", long, i)})
		}
	}
	args := `{"guild_id":` + id(guild) + `,"template_code":"crew-7"}`
	b := start(t)
	full(b.world)
	a := b.call("templates_diff", args)
	if a.code != "" || len(a.data) > 64<<10 {
		t.Fatalf("code %q, %d bytes", a.code, len(a.data))
	}
	for _, says := range []string{"channels_added_since_snapshot: the first 25 of 480 are named", "roles_added_since_snapshot: the first 25 of 230 are named"} {
		if !strings.Contains(a.text, says) || !strings.Contains(string(a.data), says) {
			t.Errorf("it does not say %q", says)
		}
	}
	few := start(t)
	crew(few.world)
	if a := few.call("templates_diff", args); strings.Contains(a.text, "are named") {
		t.Errorf("where all is named it says %s", a.text)
	}
	tellsProgress(t, full, "templates_diff", args, "0/3 reading the template", "1/3 reading the guild", "2/3 comparing 493 channels and 236 roles")
}

// TestManyRequestsTellTheirProgress: a tool that asks Discord several times tells
// each time after the first.
func TestManyRequestsTellTheirProgress(t *testing.T) {
	t.Parallel()
	tellsProgress(t, nil, "channels_list", `{"guild_id":`+id(guild)+`}`, "1/0 request 2 to Discord", "2/0 request 3 to Discord")
}
