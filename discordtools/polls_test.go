package discordtools_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestPolls(t *testing.T) {
	t.Parallel()
	const own = "1200000000000000991"
	poll := func(voters int) func(*sandbox.Discord) {
		return func(d *sandbox.Discord) {
			var who []discord.UserID
			for i := range voters {
				who = append(who, d.AddUser(sandbox.User{Name: fmt.Sprintf("voter%d", i)}))
			}
			d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: own, Poll: &sandbox.Poll{
				Question: "Tea?", Expires: now.AddDate(0, 0, 1), Answers: []sandbox.PollAnswer{{Text: "Yes", Voters: who}, {Text: "No"}},
			}})
		}
	}
	on := func(message, more string) string {
		return `{"channel_id":` + id(general) + `,"message_id":` + id(message) + more + `}`
	}
	const demo = string(sandbox.DemoPoll)
	run(t, []row{
		{
			shows: "one answer's, in a fence", tool: "polls_get_voters", args: on(demo, `,"answer_id":1`),
			sent: []string{"GET /channels/" + general + "/polls/" + demo + "/answers/1?limit=25"}, says: "<untrusted_discord_username",
			want: `{"count":2,"voters":[{"id":` + id(sandbox.DemoAdmin) + `,"username":"beacon_ben"},{"username":"tomasz.k"}],"untrusted_text":"*"}`,
		},
		{
			shows: "L59 History and member lists end at the first page", tool: "polls_get_voters", setup: poll(30), args: on(own, `,"answer_id":1,"limit":20`),
			sent: []string{"GET /channels/" + general + "/polls/" + own + "/answers/1?limit=20"},
			want: `{"count":20,"has_more":true,"next_after":"*"}`,
		},
		{
			shows: "L59 the last page", tool: "polls_get_voters", setup: poll(3), args: on(own, `,"answer_id":1,"after":"1200000000000000000"`),
			sent: []string{"GET /channels/" + general + "/polls/" + own + "/answers/1?after=1200000000000000000&limit=25"},
			want: `{"count":3}`,
		},
		{
			shows: "no such answer", tool: "polls_get_voters", args: on(demo, `,"answer_id":9`),
			sent: []string{"GET /channels/" + general + "/polls/" + demo + "/answers/9?limit=25"}, code: mcpcore.CodeValidation,
		},
		{
			shows: "answers count from one", tool: "polls_get_voters", args: on(demo, `,"answer_id":0`),
			code: mcpcore.CodeValidation, says: "answer_id: must be at least 1",
		},
		{
			shows: "the bot's own", tool: "polls_end", setup: poll(1), args: on(own, `,"audit_reason":"decided"`),
			sent: []string{"POST /channels/" + general + "/polls/" + own + "/expire"},
			want: `{"ended":true,"channel_id":` + id(general) + `,"message_id":` + id(own) + `}`,
		},
		{
			shows: "somebody else's", tool: "polls_end", args: on(demo, ""),
			sent: []string{"POST /channels/" + general + "/polls/" + demo + "/expire"}, code: mcpcore.CodePermission,
		},
	})
}
