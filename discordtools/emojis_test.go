package discordtools_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// uri is a data URI of n bytes.
func uri(kind string, n int) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", n)))
}

func TestEmojis(t *testing.T) {
	t.Parallel()
	const emoji, path = string(sandbox.DemoEmoji), "/guilds/" + guild + "/emojis"
	one := `"guild_id":` + id(guild) + `,"emoji_id":` + id(emoji)
	full := func(d *sandbox.Discord) {
		for range 49 {
			d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{Name: "buoy"})
		}
	}
	restricted := func(d *sandbox.Discord) {
		d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{ID: "1200000000000000499", Name: "crew", Animated: true, Roles: []discord.RoleID{sandbox.DemoMemberRole}})
	}
	run(t, []row{
		{
			shows: "all, in a fence", tool: "emojis_list_guild", args: `{"guild_id":` + id(guild) + `}`, sent: []string{"GET " + path}, says: "<untrusted_discord_username",
			want: `{"count":1,"emojis":[{"id":` + id(emoji) + `,"name":"lighthouse","animated":false,"available":true,"roles":[],"user_id":` + id(sandbox.DemoOwner) + `}]}`,
		},
		{
			shows: "unknown guild", tool: "emojis_list_guild", args: `{"guild_id":"1200000000000009999"}`,
			sent: []string{"GET /guilds/1200000000000009999/emojis"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "one", tool: "emojis_get", args: `{` + one + `}`, sent: []string{"GET " + path + "/" + emoji}, want: `{"name":"lighthouse","available":true}`,
		},
		{
			shows: "L02 an emoji id that is not an id", tool: "emojis_get", args: `{"guild_id":` + id(guild) + `,"emoji_id":"` + emoji + `/../../roles"}`,
			code: mcpcore.CodeValidation, says: "emoji_id: must be an id",
		},
		{
			shows: "animated, for some", tool: "emojis_create",
			args: `{"guild_id":` + id(guild) + `,"name":"wave_1","image":` + id(uri("image/gif", 9)) + `,"roles":[` + id(sandbox.DemoMemberRole) + `],"audit_reason":"new"}`,
			sent: []string{"POST " + path + ` {"name":"wave_1","image":` + id(uri("image/gif", 9)) + `,"roles":[` + id(sandbox.DemoMemberRole) + `]}`},
			want: `{"id":"*","name":"wave_1","animated":true,"roles":[` + id(sandbox.DemoMemberRole) + `]}`,
		},
		{
			shows: "no slot left", tool: "emojis_create", setup: full, args: `{"guild_id":` + id(guild) + `,"name":"one_more","image":` + id(uri("image/png", 9)) + `}`,
			sent: []string{"POST " + path + ` {"name":"one_more","image":"*"}`}, code: mcpcore.CodeValidation, says: "no free emoji slot",
		},
		{
			shows: "a name with a space", tool: "emojis_create", args: `{"guild_id":` + id(guild) + `,"name":"light house","image":` + id(uri("image/png", 9)) + `}`,
			code: mcpcore.CodeValidation, says: "name: must match",
		},
		{
			shows: "roles are lifted", tool: "emojis_modify", setup: restricted, args: `{"guild_id":` + id(guild) + `,"emoji_id":"1200000000000000499","roles":[]}`,
			sent: []string{"PATCH " + path + `/1200000000000000499 {"roles":[]}`}, want: `{"name":"crew","animated":true,"roles":[]}`,
		},
		{
			shows: "a new name", tool: "emojis_modify", args: `{` + one + `,"name":"beacon"}`,
			sent: []string{"PATCH " + path + "/" + emoji + ` {"name":"beacon"}`}, want: `{"id":` + id(emoji) + `,"name":"beacon"}`,
		},
		{
			shows: "nothing to change", tool: "emojis_modify", args: `{` + one + `,"audit_reason":"x"}`, code: mcpcore.CodeValidation, says: "at least one of name, roles",
		},
		{
			shows: "preview", tool: "emojis_delete", setup: restricted, args: `{"guild_id":` + id(guild) + `,"emoji_id":"1200000000000000499"}`,
			sent: []string{"GET " + path + "/1200000000000000499"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"emoji","value":"crew"},{"value":"animated"},{"name":"roles that may use it","value":"1"},{"name":"uploaded by"}]}`,
		},
		{
			shows: "preview of none", tool: "emojis_delete", args: `{"guild_id":` + id(guild) + `,"emoji_id":"1200000000000000498"}`,
			sent: []string{"GET " + path + "/1200000000000000498"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "confirmed", tool: "emojis_delete", args: `{` + one + `,"__confirm":true}`,
			sent: []string{"DELETE " + path + "/" + emoji}, want: `{"deleted":true,"guild_id":` + id(guild) + `,"emoji_id":` + id(emoji) + `}`,
		},
	})
}

// L62 Upload of any local file, L63 Server fetches a URL for the caller
func TestL62EmojiImageIsDataOnly(t *testing.T) {
	t.Parallel()
	b := start(t)
	for image, says := range map[string]string{
		"/etc/hostname":                           "paths and addresses are not read",
		"../../secrets/id_demo":                   "paths and addresses are not read",
		"file:///etc/hostname":                    "paths and addresses are not read",
		"https://lighthouse.example/beacon.png":   "paths and addresses are not read",
		"http://169.254.169.254/latest":           "paths and addresses are not read",
		"data:image/png,plain":                    "data URI",
		"data:image/png;base64,":                  "must not be empty",
		"data:image/png;base64,eA=":               "base64 is broken",
		"data:image/png;base64,eA":                "base64 is broken",
		"data:image/png;base64,eB==":              "base64 is broken",
		"data:image/png;base64,eHh4\neHh4":        "base64 is broken",
		"data:image/png;base64,eHh4*Hh4":          "base64 is broken",
		uri("image/svg+xml", 9):                   "png, jpeg, gif, webp or avif",
		uri("text/html", 9):                       "png, jpeg, gif, webp or avif",
		uri("image/png", 256<<10+1):               "has 262145 bytes, Discord takes at most 262144",
		"data:image/png;base64,../../id_demo":     "base64 is broken",
		"data:image/png;base64,https://a.example": "base64 is broken",
	} {
		a := b.call("emojis_create", `{"guild_id":`+id(guild)+`,"name":"beacon","image":`+id(image)+`}`)
		if a.code != mcpcore.CodeValidation || !strings.Contains(a.text, says) || !strings.Contains(a.text, "image: ") {
			t.Errorf("%.60s: code %q: %s", image, a.code, a.text)
		}
	}
	if got := b.sent(); len(got) != 0 {
		t.Errorf("Discord saw %q", got)
	}
	for _, image := range []string{uri("image/png", 256<<10), uri("image/jpeg", 1), uri("image/webp", 2), uri("image/avif", 3)} {
		if a := b.call("emojis_create", `{"guild_id":`+id(guild)+`,"name":"beacon","image":`+id(image)+`}`); a.code != "" {
			t.Errorf("%.30s: code %q: %s", image, a.code, a.text)
		}
	}
	for _, e := range b.audit.all() {
		if strings.Contains(string(e.Args), "base64") {
			t.Errorf("the audit keeps the image: %.200s", e.Args)
		}
	}
}
