package discordtools_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

func TestThreads(t *testing.T) {
	t.Parallel()
	members := "/channels/" + thread + "/thread-members"
	in := func(rest string) string { return `{"thread_id":` + id(thread) + rest + `}` }
	user := func(u string) string { return `,"user_id":` + id(u) }
	newcomer := string(sandbox.DemoNewcomer)
	run(t, []row{
		{
			shows: "someone new", tool: "threads_add_member", args: in(user(newcomer)),
			sent: []string{"PUT " + members + "/" + newcomer}, want: `{"added":true,"thread_id":` + id(thread) + `,"user_id":` + id(newcomer) + `}`,
		},
		{
			shows: "who is not in the guild", tool: "threads_add_member", args: in(user(string(sandbox.DemoReader))),
			sent: []string{"PUT " + members + "/" + string(sandbox.DemoReader)}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "since when", tool: "threads_get_member", args: in(user(member) + `,"with_member":false`),
			sent: []string{"GET " + members + "/" + member}, want: `{"thread_id":` + id(thread) + `,"user_id":` + id(member) + `,"join_timestamp":"*","flags":0}`,
		},
		{
			shows: "with the name", tool: "threads_get_member", args: in(user(member) + `,"with_member":true`),
			sent: []string{"GET " + members + "/" + member + "?with_member=true"}, want: `{"member":{"username":"tomasz.k","nick":"Tomo","roles":["*","*"]}}`,
			says: "<untrusted_discord_username",
		},
		{
			shows: "who does not follow it", tool: "threads_get_member", args: in(user(newcomer)),
			sent: []string{"GET " + members + "/" + newcomer}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "all at once", tool: "threads_list_members", args: in(""),
			sent: []string{"GET " + members}, want: `{"count":2,"members":[{"join_timestamp":"*","flags":0},{"user_id":` + id(member) + `}]}`,
		},
		{
			shows: "pages with names", tool: "threads_list_members", args: in(`,"with_member":true,"limit":1`),
			sent: []string{"GET " + members + "?limit=1&with_member=true"},
			want: `{"count":1,"has_more":true,"next_after":` + id(sandbox.BotID) + `,"members":[{"user_id":` + id(sandbox.BotID) + `,"member":{"bot":true}}]}`,
			says: "<untrusted_discord_username",
		},
		{
			shows: "goes on", tool: "threads_list_members", args: in(`,"with_member":true,"after":` + id(sandbox.BotID)),
			sent: []string{"GET " + members + "?after=" + string(sandbox.BotID) + "&limit=100&with_member=true"}, want: `{"count":1,"members":[{"user_id":` + id(member) + `}]}`,
		},
		{
			shows: "a channel is no thread", tool: "threads_list_members", args: `{"thread_id":` + id(general) + `}`,
			sent: []string{"GET /channels/" + general + "/thread-members"}, code: mcpcore.CodeValidation, says: "This kind of channel cannot do that",
		},
		{
			shows: "a post", tool: "threads_join", args: `{"thread_id":` + id(post) + `}`,
			sent: []string{"PUT /channels/" + post + "/thread-members/@me"}, want: `{"joined":true,"thread_id":` + id(post) + `}`,
		},
		{
			shows: "an archived one", tool: "threads_join", args: `{"thread_id":` + id(archived) + `}`,
			sent: []string{"PUT /channels/" + archived + "/thread-members/@me"}, code: mcpcore.CodeValidation, says: "archived",
		},
		{
			shows: "one it is in", tool: "threads_leave", args: in(""), sent: []string{"DELETE " + members + "/@me"}, want: `{"left":true,"thread_id":` + id(thread) + `}`,
		},
		{
			shows: "an id as a number", tool: "threads_leave", args: `{"thread_id":1200000000000000321}`, code: mcpcore.CodeValidation, says: "thread_id: must be text",
		},
		{
			shows: "one who is in", tool: "threads_remove_member", args: in(user(member)),
			sent: []string{"DELETE " + members + "/" + member}, want: `{"removed":true,"user_id":` + id(member) + `}`,
		},
		{
			shows: "in a hidden channel", tool: "threads_remove_member", args: `{"thread_id":` + id(sandbox.DemoStaff) + user(member) + `}`,
			sent: []string{"DELETE /channels/" + string(sandbox.DemoStaff) + "/thread-members/" + member}, code: mcpcore.CodePermission,
		},
	})
}
