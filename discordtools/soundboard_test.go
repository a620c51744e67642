package discordtools_test

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

func TestSoundboard(t *testing.T) {
	t.Parallel()
	const sound, path = string(sandbox.DemoSound), "/guilds/" + guild + "/soundboard-sounds"
	g := `{"guild_id":` + id(guild)
	one := g + `,"sound_id":` + id(sound)
	mp3 := id(uri("audio/mpeg", 9))
	inLounge := func(d *sandbox.Discord) {
		d.AddVoiceState(sandbox.DemoGuild, sandbox.VoiceState{User: sandbox.BotID, Channel: sandbox.DemoLounge})
	}
	deafened := func(d *sandbox.Discord) {
		d.AddVoiceState(sandbox.DemoGuild, sandbox.VoiceState{User: sandbox.BotID, Channel: sandbox.DemoLounge, SelfDeaf: true})
	}
	const theirs = "1200000000000000739"
	external := func(d *sandbox.Discord) {
		inLounge(d)
		d.AddSound(sandbox.DemoClub, sandbox.Sound{ID: theirs, Name: "Page"})
	}
	full := func(d *sandbox.Discord) {
		for range 7 {
			d.AddSound(sandbox.DemoGuild, sandbox.Sound{Name: "Bell"})
		}
	}
	send := "POST /channels/" + lounge + "/send-soundboard-sound "
	run(t, []row{
		{
			shows: "Discord's own", tool: "soundboard_list_default_sounds", args: `{}`, sent: []string{"GET /soundboard-default-sounds"},
			want: `{"count":3,"sounds":[{"sound_id":"1","name":"quack","volume":1,"emoji_id":null,"emoji_name":"🦆","available":true},{},{}],"untrusted_names":"*"}`,
		},
		{shows: "no arguments", tool: "soundboard_list_default_sounds", setup: func(d *sandbox.Discord) {
			d.Inject(sandbox.Fault{Route: "/soundboard-default-sounds", Status: 403})
		}, args: `{}`, sent: []string{"GET /soundboard-default-sounds"}, code: mcpcore.CodePermission},
		{
			shows: "the guild's, in a fence", tool: "soundboard_list_guild_sounds", args: g + `}`, sent: []string{"GET " + path}, says: "<untrusted_discord_username",
			want: `{"count":1,"sounds":[{"sound_id":` + id(sound) + `,"name":"foghorn","volume":0.8,"emoji_id":` + id(sandbox.DemoEmoji) + `,"emoji_name":null,"available":true,"user_id":` + id(sandbox.DemoOwner) + `}],"untrusted_names":"*"}`,
		},
		{shows: "from the second on", tool: "soundboard_list_guild_sounds", args: g + `,"offset":1}`, sent: []string{"GET " + path}, want: `{"count":0,"sounds":[]}`},
		{shows: "unknown guild", tool: "soundboard_list_guild_sounds", args: `{"guild_id":"1200000000000009999"}`, sent: []string{"GET /guilds/1200000000000009999/soundboard-sounds"}, code: mcpcore.CodeNotFound},
		{shows: "one", tool: "soundboard_get_guild_sound", args: one + `}`, sent: []string{"GET " + path + "/" + sound}, want: `{"name":"foghorn","guild_id":` + id(guild) + `,"untrusted_text":"*"}`},
		{shows: "unknown", tool: "soundboard_get_guild_sound", args: g + `,"sound_id":"1200000000000000738"}`, sent: []string{"GET " + path + "/1200000000000000738"}, code: mcpcore.CodeNotFound, says: "List the guild's sounds"},
		{shows: "L02 a sound id that is not an id", tool: "soundboard_get_guild_sound", args: g + `,"sound_id":"1/../../roles"}`, code: mcpcore.CodeValidation, says: "sound_id: must match"},
		{
			shows: "a bell", tool: "soundboard_create_guild_sound", args: g + `,"name":"Bell","sound":` + mp3 + `,"volume":0.5,"emoji_name":"🔔","audit_reason":"new"}`,
			sent: []string{"POST " + path + ` {"name":"Bell","sound":` + mp3 + `,"volume":0.5,"emoji_name":"🔔"}`}, want: `{"sound_id":"*","name":"Bell","volume":0.5,"emoji_id":null,"emoji_name":"🔔"}`,
		},
		{
			shows: "silent, with a custom emoji", tool: "soundboard_create_guild_sound", args: g + `,"name":"Bell","sound":` + id(uri("audio/ogg", 9)) + `,"volume":0,"emoji_id":` + id(sandbox.DemoEmoji) + `}`,
			sent: []string{"POST " + path + ` {"name":"Bell","sound":"*","volume":0,"emoji_id":` + id(sandbox.DemoEmoji) + `}`}, want: `{"volume":0,"emoji_id":` + id(sandbox.DemoEmoji) + `}`,
		},
		{shows: "no slot left", tool: "soundboard_create_guild_sound", setup: full, args: g + `,"name":"Bell","sound":` + mp3 + `}`, sent: []string{"POST " + path + ` {"name":"Bell","sound":"*"}`}, code: mcpcore.CodeValidation, says: "no free sound slot"},
		{shows: "two emojis", tool: "soundboard_create_guild_sound", args: g + `,"name":"Bell","sound":` + mp3 + `,"emoji_name":"🔔","emoji_id":` + id(sandbox.DemoEmoji) + `}`, code: mcpcore.CodeValidation, says: "excludes emoji_id"},
		{shows: "a word for an emoji", tool: "soundboard_create_guild_sound", args: g + `,"name":"Bell","sound":` + mp3 + `,"emoji_name":"bell"}`, code: mcpcore.CodeValidation, says: "emoji_name: must be one unicode emoji"},
		{
			shows: "another name, volume and emoji", tool: "soundboard_modify_guild_sound", args: one + `,"name":"Horn","volume":null,"emoji_id":null,"emoji_name":"🔔"}`,
			sent: []string{"PATCH " + path + "/" + sound + ` {"name":"Horn","volume":null,"emoji_id":null,"emoji_name":"🔔"}`}, want: `{"name":"Horn","volume":1,"emoji_id":null,"emoji_name":"🔔"}`,
		},
		{shows: "nothing to change", tool: "soundboard_modify_guild_sound", args: one + `}`, code: mcpcore.CodeValidation, says: "at least one of name"},
		{
			shows: "preview", tool: "soundboard_delete_guild_sound", args: one + `}`, sent: []string{"GET " + path + "/" + sound}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"sound","value":"foghorn"},{"name":"volume","value":"0.8"},{"name":"uploaded by","value":"marina (Marina Holt)"}]}`,
		},
		{shows: "confirmed", tool: "soundboard_delete_guild_sound", args: one + `,"audit_reason":"old","__confirm":true}`, sent: []string{"DELETE " + path + "/" + sound}, want: `{"deleted":true,"sound_id":` + id(sound) + `,"guild_id":` + id(guild) + `}`},
		{shows: "the guild's", tool: "soundboard_send_sound", setup: inLounge, args: `{"channel_id":` + id(lounge) + `,"sound_id":` + id(sound) + `}`, sent: []string{send + `{"sound_id":` + id(sound) + `}`}, want: `{"sent":true,"channel_id":` + id(lounge) + `,"sound_id":` + id(sound) + `}`},
		{shows: "Discord's own", tool: "soundboard_send_sound", setup: inLounge, args: `{"channel_id":` + id(lounge) + `,"sound_id":"1"}`, sent: []string{send + `{"sound_id":"1"}`}, want: `{"sound_id":"1"}`},
		{shows: "another guild's", tool: "soundboard_send_sound", setup: external, args: `{"channel_id":` + id(lounge) + `,"sound_id":"` + theirs + `","source_guild_id":` + id(sandbox.DemoClub) + `}`,
			sent: []string{send + `{"sound_id":"` + theirs + `","source_guild_id":` + id(sandbox.DemoClub) + `}`}, want: `{"sent":true}`},
		{shows: "from elsewhere", tool: "soundboard_send_sound", args: `{"channel_id":` + id(lounge) + `,"sound_id":"1"}`, sent: []string{send + `{"sound_id":"1"}`}, code: mcpcore.CodePermission, says: "not connected to this voice channel"},
		{shows: "deafened", tool: "soundboard_send_sound", setup: deafened, args: `{"channel_id":` + id(lounge) + `,"sound_id":"1"}`, sent: []string{send + `{"sound_id":"1"}`}, code: mcpcore.CodePermission, says: "muted, deafened"},
	})
}

// L62 Upload of any local file, L63 Server fetches a URL for the caller
func TestL62SoundIsDataOnly(t *testing.T) {
	t.Parallel()
	b := start(t)
	for sound, says := range map[string]string{
		"/etc/hostname":                     "paths and addresses are not read",
		"https://lighthouse.example/a.mp3":  "paths and addresses are not read",
		"data:audio/mpeg;base64,":           "must not be empty",
		"data:audio/mpeg;base64,eA=":        "base64 is broken",
		uri("audio/wav", 9):                 "must be an mp3 (data:audio/mpeg) or ogg (data:audio/ogg), this is audio/wav",
		uri("image/png", 9):                 "this is image/png",
		uri("audio/mpeg", 512<<10+1):        "has 524289 bytes, Discord takes at most 524288",
		"data:audio/mpeg;base64,../../id_d": "base64 is broken",
	} {
		a := b.call("soundboard_create_guild_sound", `{"guild_id":`+id(guild)+`,"name":"Bell","sound":`+id(sound)+`}`)
		if a.code != mcpcore.CodeValidation || !strings.Contains(a.text, says) || !strings.Contains(a.text, "sound: ") {
			t.Errorf("%.60s: code %q: %s", sound, a.code, a.text)
		}
	}
	if got := b.sent(); len(got) != 0 {
		t.Errorf("Discord saw %q", got)
	}
	if a := b.call("soundboard_create_guild_sound", `{"guild_id":`+id(guild)+`,"name":"Bell","sound":`+id(uri("audio/mpeg", 512<<10))+`}`); a.code != "" {
		t.Errorf("as large as can be: %s", a.text)
	}
	for _, e := range b.audit.all() {
		if strings.Contains(string(e.Args), "base64") {
			t.Errorf("the audit keeps the sound: %.200s", e.Args)
		}
	}
}

// TestSoundCrosses: a sound may come from a second guild, if both are allowed.
func TestSoundCrosses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		allowed []discord.GuildID
		source  string
		sound   func(theirs discord.SoundID) discord.SoundID
		code    mcpcore.Code
	}{
		"both allowed":                        {[]discord.GuildID{sandbox.DemoGuild, sandbox.DemoClub}, `,"source_guild_id":` + id(sandbox.DemoClub), func(s discord.SoundID) discord.SoundID { return s }, ""},
		"the source is not":                   {[]discord.GuildID{sandbox.DemoGuild}, `,"source_guild_id":` + id(sandbox.DemoClub), func(s discord.SoundID) discord.SoundID { return s }, mcpcore.CodeGuildNotAllowed},
		"the channel's guild is not":          {[]discord.GuildID{sandbox.DemoClub}, `,"source_guild_id":` + id(sandbox.DemoClub), func(s discord.SoundID) discord.SoundID { return s }, mcpcore.CodeGuildNotAllowed},
		"the source is not told":              {[]discord.GuildID{sandbox.DemoGuild, sandbox.DemoClub}, "", func(s discord.SoundID) discord.SoundID { return s }, mcpcore.CodeGuildUnresolved},
		"the guild's own":                     {[]discord.GuildID{sandbox.DemoGuild}, "", func(discord.SoundID) discord.SoundID { return sandbox.DemoSound }, ""},
		"Discord's own":                       {[]discord.GuildID{sandbox.DemoGuild}, "", func(discord.SoundID) discord.SoundID { return sandbox.DemoDefaultSound }, ""},
		"no sound of either":                  {[]discord.GuildID{sandbox.DemoGuild, sandbox.DemoClub}, `,"source_guild_id":` + id(sandbox.DemoClub), func(discord.SoundID) discord.SoundID { return "1200000000000000738" }, mcpcore.CodeGuildUnresolved},
		"the guild's own, null for the other": {[]discord.GuildID{sandbox.DemoGuild}, `,"source_guild_id":null`, func(discord.SoundID) discord.SoundID { return sandbox.DemoSound }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, func(d *discordtools.Deps) { d.Config.AllowedGuilds = c.allowed })
			b.world.AddVoiceState(sandbox.DemoGuild, sandbox.VoiceState{User: sandbox.BotID, Channel: sandbox.DemoLounge})
			theirs := b.world.AddSound(sandbox.DemoClub, sandbox.Sound{Name: "Page"})
			a := b.call("soundboard_send_sound", `{"channel_id":`+id(lounge)+`,"sound_id":`+id(c.sound(theirs))+c.source+`}`)
			if a.code != c.code {
				t.Errorf("code %q, want %q: %s", a.code, c.code, a.text)
			}
			if played := len(b.world.Played()); (played == 1) != (c.code == "") {
				t.Errorf("%d sounds were played", played)
			}
		})
	}
}

// TestSoundEnforced: the permissions count in the channel, also where a sound of
// another guild is played.
func TestSoundEnforced(t *testing.T) {
	t.Parallel()
	b := start(t, func(d *discordtools.Deps) { d.Config.Access = middleware.Enforce })
	b.world.AddVoiceState(sandbox.DemoGuild, sandbox.VoiceState{User: sandbox.BotID, Channel: sandbox.DemoLounge})
	theirs := b.world.AddSound(sandbox.DemoClub, sandbox.Sound{Name: "Page"})
	play := `{"channel_id":` + id(lounge) + `,"sound_id":` + id(theirs) + `,"source_guild_id":` + id(sandbox.DemoClub) + `}`
	if a := b.call("soundboard_send_sound", play); a.code != "" {
		t.Errorf("the legitimate call: %s", a.text)
	}
	b.world.SetOverwrite(sandbox.DemoLounge, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: discord.UseExternalSounds})
	b.world.ResetRequests()
	b = startOn(t, b.world, func(d *discordtools.Deps) { d.Config.Access = middleware.Enforce })
	if a := b.call("soundboard_send_sound", play); a.code != mcpcore.CodeAccessDenied || !strings.Contains(a.text, "USE_EXTERNAL_SOUNDS") || len(b.world.Writes()) > 0 {
		t.Errorf("code %q: %s", a.code, a.text)
	}
}
