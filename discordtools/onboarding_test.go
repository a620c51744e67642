package discordtools_test

import (
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestOnboarding(t *testing.T) {
	t.Parallel()
	path := "/guilds/" + guild + "/onboarding"
	put := func(prompts, rest string) string {
		return `{"guild_id":"` + guild + `","prompts":` + prompts + `,"default_channel_ids":[` + id(general) + `],` + rest + `}`
	}
	body := func(prompts, rest string) []string {
		return []string{"PUT " + path + ` {"prompts":` + prompts + `,"default_channel_ids":[` + id(general) + `],` + rest + `}`}
	}
	const off = `"enabled":false,"mode":0`
	kept := `[{"id":"` + sandbox.DemoPrompt + `","title":"What brings you here?","type":0,"single_select":true,"required":true,"in_onboarding":true,` +
		`"options":[{"id":"1200000000000000712","title":"Game nights","description":null,"emoji_name":"🎲","role_ids":[` + id(sandbox.DemoEventsRole) + `],"channel_ids":[]}]}]`
	run(t, []row{
		{
			shows: "prompts, summary and fence", tool: "onboarding_get", args: `{"guild_id":"` + guild + `"}`, sent: []string{"GET " + path},
			want: `{"enabled":false,"mode":0,"prompts":[{"id":"` + sandbox.DemoPrompt + `","options":[{"emoji_name":"🎲","role_ids":["*"],"channel_ids":[]},{"description":"","emoji_name":"🐛"}]}],
				"summary":{"prompt_count":1,"required_prompt_count":0,"option_count":2,"default_channel_count":5,"self_assignable_role_count":1,"advanced_mode":false,"fresh_member_client_check_recommended":false},"untrusted_text":"*"}`,
			says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "none yet", tool: "onboarding_get", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`, sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/onboarding"},
			want: `{"prompts":[],"default_channel_ids":[],"enabled":false}`,
		},
		{
			shows: "unknown guild", tool: "onboarding_get", args: `{"guild_id":"1999999999999999999"}`, sent: []string{"GET /guilds/1999999999999999999/onboarding"},
			code: mcpcore.CodeNotFound,
		},
		{
			shows: "everything that was given", tool: "onboarding_modify", args: put(kept, off+`,"audit_reason":"shorter"`), sent: body(kept, off),
			want: `{"guild_id":"` + guild + `","enabled":false,"mode":0}`,
		},
		{
			shows: "new prompts are given an id", tool: "onboarding_modify", args: put(`[{"title":"A","options":[{"title":"a"}]},{"title":"B","options":[{"title":"b"}]}]`, off),
			sent: body(`[{"id":"`+discord.IDAt(now)+`","title":"A","options":[{"title":"a"}]},{"id":"`+discord.IDAt(now.Add(time.Millisecond))+`","title":"B","options":[{"title":"b"}]}]`, off),
		},
		{
			shows: "too few channels to enable", tool: "onboarding_modify", args: put(`[]`, `"enabled":true,"mode":1`), sent: body(`[]`, `"enabled":true,"mode":1`),
			code: mcpcore.CodeValidation, says: "at least 7 default channels",
		},
		{
			shows: "no options", tool: "onboarding_modify", args: put(`[{"title":"A","options":[]}]`, off), code: mcpcore.CodeValidation, says: "prompts.0.options",
		},
		{
			shows: "a prompt as Discord gives it", tool: "onboarding_modify", args: put(`[{"title":"A","options":[{"title":"a","emoji":{"name":"🎲"}}]}]`, off),
			code: mcpcore.CodeValidation, says: "emoji",
		},
	})
}
