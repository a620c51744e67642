package sandbox

import (
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestVoiceStatus(t *testing.T) {
	t.Parallel()
	const path = "/channels/{lounge}/voice-status"
	without := func(p discord.Permissions) func(*Discord) {
		return func(d *Discord) { d.world.guilds[DemoGuild].roles[DemoBotRole].Permissions &^= p }
	}
	shows := func(want string, action int) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			log := d.AuditLog(DemoGuild)
			if c := d.world.channels[DemoLounge]; c.Status != want || len(log) != 1 || log[0].Action != action || log[0].Options.Status != want {
				t.Errorf("it shows %q, and the log says %+v", c.Status, log)
			}
		}
	}
	rows(t, []row{
		{name: "set", method: "PUT", path: path, body: `{"status":"Storm level"}`, status: 204, after: shows("Storm level", 192)},
		{name: "clear", method: "PUT", path: path, body: `{"status":null}`, status: 204, after: shows("", 193)},
		{name: "without the permission", method: "PUT", path: path, body: `{"status":"x"}`, before: without(discord.SetVoiceChannelStatus), status: 403, code: 50013},
		{name: "from outside, without managing it", method: "PUT", path: path, body: `{"status":"x"}`, before: without(discord.ManageChannels), status: 403, code: 50013},
		{name: "from within, without managing it", method: "PUT", path: path, body: `{"status":"x"}`, before: func(d *Discord) {
			without(discord.ManageChannels)(d)
			d.AddVoiceState(DemoGuild, VoiceState{User: BotID, Channel: DemoLounge})
		}, status: 204},
		{name: "a stage", method: "PUT", path: "/channels/{stage}/voice-status", body: `{"status":"x"}`, status: 400, code: 50024},
	})
}

func TestVoiceStates(t *testing.T) {
	t.Parallel()
	const path = "/guilds/{guild}/voice-states/"
	without := func(p discord.Permissions) func(*Discord) {
		return func(d *Discord) {
			for _, r := range []discord.RoleID{DemoBotRole, discord.RoleID(DemoGuild)} {
				d.world.guilds[DemoGuild].roles[r].Permissions &^= p
			}
		}
	}
	suppressed := func(u discord.UserID, want, hand bool) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			if s, _ := d.VoiceState(DemoGuild, u); s.Suppress != want || s.RequestToSpeak.IsZero() == hand {
				t.Errorf("state %+v", s)
			}
		}
	}
	rows(t, []row{
		{name: "regions", method: "GET", path: "/voice/regions", status: 200, has: `"optimal":true`},
		{name: "regions of a guild", method: "GET", path: "/guilds/{guild}/regions", status: 200, has: `"id":"rotterdam"`},
		{name: "regions of nowhere", method: "GET", path: "/guilds/{nowhere}/regions", status: 404, code: 10004},
		{name: "own", method: "GET", path: path + "@me", status: 200, has: `"channel_id":"{stage}"`},
		{name: "own, nowhere", method: "GET", path: "/guilds/{club}/voice-states/@me", status: 404, code: 10065},
		{name: "another's", method: "GET", path: path + "{member}", status: 200, has: `"self_mute":true`},
		{name: "not in voice", method: "GET", path: path + "{owner}", status: 404, code: 10065},
		{name: "speak", method: "PATCH", path: path + "@me", body: `{"suppress":false}`, status: 204, after: suppressed(BotID, false, false)},
		{name: "speak without the permission", method: "PATCH", path: path + "@me", body: `{"suppress":false}`, before: without(discord.MuteMembers), status: 403, code: 50013},
		{name: "listen without the permission", method: "PATCH", path: path + "@me", body: `{"suppress":true}`, before: without(discord.MuteMembers), status: 204},
		{name: "raise the hand", method: "PATCH", path: path + "@me", body: `{"channel_id":"{stage}","request_to_speak_timestamp":"2026-06-01T12:00:00Z"}`, status: 204, after: suppressed(BotID, true, true)},
		{name: "raise it in the past", method: "PATCH", path: path + "@me", body: `{"request_to_speak_timestamp":"2026-05-01T12:00:00Z"}`, status: 400, code: 50035},
		{name: "raise it without the permission", method: "PATCH", path: path + "@me", body: `{"request_to_speak_timestamp":"2026-06-01T12:00:00Z"}`, before: without(discord.RequestToSpeak), status: 403, code: 50013},
		{name: "lower it without the permission", method: "PATCH", path: path + "@me", body: `{"request_to_speak_timestamp":null}`, before: without(discord.RequestToSpeak), status: 204},
		{name: "not a stage", method: "PATCH", path: path + "@me", body: `{"channel_id":"{lounge}"}`, status: 400, code: 50024},
		{name: "let speak", method: "PATCH", path: path + "{mod}", body: `{"channel_id":"{stage}","suppress":false}`, status: 204, after: suppressed(DemoModerator, false, true)},
		{name: "to the audience", method: "PATCH", path: path + "{mod}", body: `{"channel_id":"{stage}","suppress":true}`, status: 204, after: suppressed(DemoModerator, true, false)},
		{name: "without the permission", method: "PATCH", path: path + "{mod}", body: `{"suppress":true}`, before: without(discord.MuteMembers), status: 403, code: 50013},
		{name: "in another channel", method: "PATCH", path: path + "{member}", body: `{"channel_id":"{stage}","suppress":true}`, status: 400, code: 40032},
		{name: "nobody there", method: "PATCH", path: path + "{owner}", body: `{"channel_id":"{stage}","suppress":true}`, status: 404, code: 10065},
	})
}
