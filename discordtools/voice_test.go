package discordtools_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

func TestVoice(t *testing.T) {
	t.Parallel()
	at := `{"guild_id":"` + guild + `"`
	states := "/guilds/" + guild + "/voice-states/"
	stage, newcomer, moderator := id(sandbox.DemoStage), string(sandbox.DemoNewcomer), string(sandbox.DemoModerator)
	run(t, []row{
		{
			shows: "all", tool: "voice_list_regions", args: `{}`, sent: []string{"GET /voice/regions"},
			want: `{"count":4,"regions":[{"id":"rotterdam","name":"Rotterdam","custom":false},{},{},{}]}`,
		},
		{
			shows: "not allowed", tool: "voice_list_regions", args: `{}`, sent: []string{"GET /voice/regions"},
			setup: func(d *sandbox.Discord) { d.Inject(sandbox.Fault{Route: "/voice/regions", Status: 403}) }, code: mcpcore.CodePermission,
		},
		{
			shows: "on stage", tool: "voice_get_current_user_state", args: at + `}`, sent: []string{"GET " + states + "@me"},
			want: `{"guild_id":"` + guild + `","channel_id":` + stage + `,"suppress":true,"request_to_speak_timestamp":null}`,
		},
		{
			shows: "nowhere", tool: "voice_get_current_user_state", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`,
			sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/voice-states/@me"}, code: mcpcore.CodeNotFound, says: "not in a voice channel",
		},
		{
			shows: "with a raised hand", tool: "voice_get_user_state", args: at + `,"user_id":"` + moderator + `"}`, sent: []string{"GET " + states + moderator},
			want: `{"user_id":"` + moderator + `","session_id":"*","self_video":false,"request_to_speak_timestamp":"*"}`,
		},
		{
			shows: "not in voice", tool: "voice_get_user_state", args: at + `,"user_id":"` + newcomer + `"}`, sent: []string{"GET " + states + newcomer},
			code: mcpcore.CodeNotFound,
		},
		{
			shows: "speaks", tool: "guild_modify_current_voice_state", args: at + `,"channel_id":` + stage + `,"suppress":false}`,
			sent: []string{"PATCH " + states + `@me {"channel_id":` + stage + `,"suppress":false}`}, want: `{"ok":true,"guild_id":"` + guild + `"}`,
		},
		{
			shows: "lowers the hand", tool: "guild_modify_current_voice_state", args: at + `,"request_to_speak_timestamp":null}`,
			sent: []string{"PATCH " + states + `@me {"request_to_speak_timestamp":null}`}, want: `{"ok":true}`,
		},
		{
			shows: "not a stage", tool: "guild_modify_current_voice_state", args: at + `,"channel_id":` + id(sandbox.DemoLounge) + `,"suppress":true}`,
			sent: []string{"PATCH " + states + `@me {"channel_id":` + id(sandbox.DemoLounge) + `,"suppress":true}`}, code: mcpcore.CodeValidation,
		},
		{
			shows: "invited to speak", tool: "guild_modify_user_voice_state", args: at + `,"user_id":"` + moderator + `","channel_id":` + stage + `,"suppress":false}`,
			sent: []string{"PATCH " + states + moderator + ` {"channel_id":` + stage + `,"suppress":false}`}, want: `{"ok":true,"user_id":"` + moderator + `","channel_id":` + stage + `}`,
		},
		{
			shows: "the channel is always sent", tool: "guild_modify_user_voice_state", args: at + `,"user_id":"` + moderator + `","suppress":true}`,
			code: mcpcore.CodeValidation, says: "channel_id: is required",
		},
		{
			shows: "not in voice", tool: "guild_modify_user_voice_state", args: at + `,"user_id":"` + newcomer + `","channel_id":` + stage + `,"suppress":true}`,
			sent: []string{"PATCH " + states + newcomer + ` {"channel_id":` + stage + `,"suppress":true}`}, code: mcpcore.CodeNotFound,
		},
	})
}

// L18 Time fields
func TestL18RequestToSpeakNeedsAnOffset(t *testing.T) {
	t.Parallel()
	path := "PATCH /guilds/" + guild + "/voice-states/@me "
	raise := func(at string) string {
		return `{"guild_id":"` + guild + `","request_to_speak_timestamp":"` + at + `"}`
	}
	run(t, []row{
		{shows: "with Z", tool: "guild_modify_current_voice_state", args: raise("2031-05-01T18:00:00Z"), sent: []string{path + `{"request_to_speak_timestamp":"2031-05-01T18:00:00Z"}`}},
		{shows: "with an offset", tool: "guild_modify_current_voice_state", args: raise("2031-05-01T18:00:00+02:00"), sent: []string{path + `{"request_to_speak_timestamp":"2031-05-01T18:00:00+02:00"}`}},
		{shows: "without", tool: "guild_modify_current_voice_state", args: raise("2031-05-01T18:00:00"), code: mcpcore.CodeValidation, says: "offset"},
		{shows: "a day", tool: "guild_modify_current_voice_state", args: raise("2031-05-01"), code: mcpcore.CodeValidation, says: "request_to_speak_timestamp"},
		{shows: "the past is Discord's to refuse", tool: "guild_modify_current_voice_state", args: raise("2020-05-01T18:00:00Z"), sent: []string{path + `{"request_to_speak_timestamp":"2020-05-01T18:00:00Z"}`}, code: mcpcore.CodeValidation},
	})
}
