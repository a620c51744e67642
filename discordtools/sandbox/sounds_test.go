package sandbox

import (
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestSounds(t *testing.T) {
	t.Parallel()
	const all, one = "/guilds/{guild}/soundboard-sounds", "/guilds/{guild}/soundboard-sounds/" + string(DemoSound)
	mp3 := imageURI("audio/mpeg", 9)
	create := func(more string) string { return `{"name":"Bell","sound":"` + mp3 + `"` + more + `}` }
	rows(t, []row{
		{name: "Discord's own", method: "GET", path: "/soundboard-default-sounds", status: 200, has: `"sound_id":"1"`},
		{name: "list", method: "GET", path: all, status: 200, has: `"items":[{"sound_id":"` + string(DemoSound)},
		{name: "list shows who uploaded", method: "GET", path: all, status: 200, has: `"user":{"id":"{owner}"`},
		{name: "get", method: "GET", path: one, status: 200, has: `"emoji_id":"{emoji}"`},
		{name: "get unknown", method: "GET", path: all + "/{nowhere}", status: 404, code: 10097},
		{name: "get of another guild", method: "GET", path: "/guilds/{club}/soundboard-sounds/" + string(DemoSound), status: 404, code: 10097},
		{name: "create", method: "POST", path: all, body: create(`,"volume":0.5,"emoji_name":"🔔"`), status: 201, has: `"volume":0.5`, after: audited(auditSoundCreate)},
		{name: "ogg", method: "POST", path: all, body: `{"name":"Bell","sound":"` + imageURI("audio/ogg", 9) + `"}`, status: 201, has: `"volume":1`},
		{name: "wav", method: "POST", path: all, body: `{"name":"Bell","sound":"` + imageURI("audio/wav", 9) + `"}`, status: 400, code: 50123},
		{name: "an address", method: "POST", path: all, body: `{"name":"Bell","sound":"https://a.example/bell.mp3"}`, status: 400, code: 50035},
		{name: "as large as can be", method: "POST", path: all, body: `{"name":"Bell","sound":"` + imageURI("audio/mpeg", largestSound) + `"}`, status: 201},
		{name: "too large", method: "POST", path: all, body: `{"name":"Bell","sound":"` + imageURI("audio/mpeg", largestSound+1) + `"}`, status: 400, code: 50035, has: "512.0 kb"},
		{name: "short name", method: "POST", path: all, body: `{"name":"B","sound":"` + mp3 + `"}`, status: 400, code: 50035},
		{name: "too loud", method: "POST", path: all, body: create(`,"volume":1.5`), status: 400, code: 50035, has: "NUMBER_TYPE_MAX"},
		{name: "two emojis", method: "POST", path: all, body: create(`,"emoji_name":"🔔","emoji_id":"{emoji}"`), status: 400, code: 50035},
		{name: "unknown emoji", method: "POST", path: all, body: create(`,"emoji_id":"{nowhere}"`), status: 400, code: 10014},
		{name: "no emoji", method: "POST", path: all, body: create(`,"emoji_name":"bell"`), status: 400, code: 10014},
		{name: "full", method: "POST", path: all, body: create(""), status: 400, code: 30045, before: func(d *Discord) {
			for range 7 {
				d.AddSound(DemoGuild, Sound{Name: "Bell"})
			}
		}},
		{name: "create without the permission", method: "POST", path: "/guilds/{club}/soundboard-sounds", body: create(""), status: 403, code: 50013},
		{name: "rename", method: "PATCH", path: one, body: `{"name":"Horn"}`, status: 200, has: `"name":"Horn"`, after: audited(auditSoundUpdate)},
		{name: "volume back", method: "PATCH", path: one, body: `{"volume":null}`, status: 200, has: `"volume":1`},
		{name: "another emoji", method: "PATCH", path: one, body: `{"emoji_id":null,"emoji_name":"🔔"}`, status: 200, has: `"emoji_id":null,"emoji_name":"🔔"`},
		{name: "without an emoji", method: "PATCH", path: one, body: `{"emoji_id":null}`, status: 200, has: `"emoji_id":null,"emoji_name":null`},
		{name: "another's without MANAGE_GUILD_EXPRESSIONS", method: "PATCH", path: one, body: `{"name":"Horn"}`, status: 403, code: 50013, before: lacking(discord.ManageGuildExpressions)},
		{name: "delete", method: "DELETE", path: one, status: 204, after: audited(auditSoundDelete)},
	})
}

func TestPlaySound(t *testing.T) {
	t.Parallel()
	const send = "/channels/{lounge}/send-soundboard-sound"
	const body = `{"sound_id":"` + string(DemoSound) + `"}`
	inLounge := func(change func(*VoiceState)) func(*Discord) {
		return func(d *Discord) {
			s := VoiceState{User: BotID, Channel: DemoLounge}
			change(&s)
			d.AddVoiceState(DemoGuild, s)
		}
	}
	there := inLounge(func(*VoiceState) {})
	played := func(id discord.SoundID) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			if p := d.Played(); len(p) != 1 || p[0] != (Played{DemoLounge, id, BotID}) {
				t.Errorf("played %v", p)
			}
		}
	}
	const theirs discord.SoundID = "1200000000000000739"
	external := func(d *Discord) {
		there(d)
		d.AddSound(DemoClub, Sound{ID: theirs, Name: "Page"})
	}
	rows(t, []row{
		{name: "the guild's", method: "POST", path: send, body: body, status: 204, before: there, after: played(DemoSound)},
		{name: "Discord's own", method: "POST", path: send, body: `{"sound_id":"1"}`, status: 204, before: there, after: played("1")},
		{name: "another guild's", method: "POST", path: send, body: `{"sound_id":"` + string(theirs) + `","source_guild_id":"{club}"}`, status: 204, before: external, after: played(theirs)},
		{name: "another guild's, without saying so", method: "POST", path: send, body: `{"sound_id":"` + string(theirs) + `"}`, status: 404, code: 10097, before: external},
		{name: "another guild's without USE_EXTERNAL_SOUNDS", method: "POST", path: send, body: `{"sound_id":"` + string(theirs) + `","source_guild_id":"{club}"}`, status: 403, code: 50013, before: func(d *Discord) {
			external(d)
			lacking(discord.UseExternalSounds)(d)
		}},
		{name: "of a guild without the bot", method: "POST", path: send, body: `{"sound_id":"1","source_guild_id":"{nowhere}"}`, status: 404, code: 10004, before: there},
		{name: "unknown", method: "POST", path: send, body: `{"sound_id":"{nowhere}"}`, status: 404, code: 10097, before: there},
		{name: "from elsewhere", method: "POST", path: send, body: body, status: 403, code: 50168},
		{name: "from nowhere", method: "POST", path: send, body: body, status: 403, code: 50168, before: func(d *Discord) { delete(d.world.guilds[DemoGuild].voice, BotID) }},
		{name: "deafened", method: "POST", path: send, body: body, status: 403, code: 50167, before: inLounge(func(s *VoiceState) { s.SelfDeaf = true })},
		{name: "muted by the guild", method: "POST", path: send, body: body, status: 403, code: 50167, before: func(d *Discord) {
			there(d)
			d.world.guilds[DemoGuild].members[BotID].Mute = true
		}},
		{name: "in the audience", method: "POST", path: "/channels/{stage}/send-soundboard-sound", body: body, status: 403, code: 50167},
		{name: "in a text channel", method: "POST", path: "/channels/{general}/send-soundboard-sound", body: body, status: 400, code: 50024},
		{name: "without SPEAK", method: "POST", path: send, body: body, status: 403, code: 50013, before: func(d *Discord) {
			there(d)
			d.SetOverwrite(DemoLounge, discord.Overwrite{ID: discord.OverwriteID(DemoBotRole), Deny: discord.Speak})
		}},
		{name: "without USE_SOUNDBOARD", method: "POST", path: send, body: body, status: 403, code: 50013, before: func(d *Discord) {
			there(d)
			lacking(discord.UseSoundboard)(d)
		}},
	})
}
