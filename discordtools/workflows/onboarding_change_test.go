package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const (
	kept = `"promptId":"1200000000000000711",`
)

// asking is an onboarding with two default channels and these prompts.
func asking(prompts ...string) string {
	return ofGuild(`"enabled":false,"mode":"default","defaultChannelIds":["1200000000000000313","1200000000000000311"],"prompts":[` + strings.Join(prompts, ",") + `]`)
}

func question(id, options string) string {
	return fmt.Sprintf(`{%s"title":"canary question","type":"multiple_choice","singleSelect":true,"required":false,"inOnboarding":true,"options":[%s]}`, id, options)
}

func onboardingScene() scene {
	refusal := func(name, reason, args string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: args, Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	answer := func(name, reason, gives string) operationtest.Refusal {
		return refusal(name, reason, asking(question("", `{"title":"x",`+gives+`}`)))
	}
	gives := func(name, reason string, role discord.RoleID) operationtest.Refusal {
		return answer(name, reason, fmt.Sprintf(`"roleIds":[%q]`, role))
	}
	const first = `{"optionId":"1200000000000000712","title":"canary games","description":"canary words","emojiName":"🎲","roleIds":["1200000000000000206"]}`
	unready := blocked("community", func(d *sandbox.Discord) {
		d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Features = []string{"NEWS"} })
	})
	enabled := strings.Replace(asking(), `"enabled":false`, `"enabled":true`, 1)
	unready.Args = enabled
	return scene{
		Subject: operationtest.Subject{
			Workflow: "onboarding-change", Plan: "plan_onboarding_change", Execute: "execute_onboarding_change",
			Args: strings.TrimSuffix(asking(question(kept, first)), "}") + `,"auditReason":"canary-reason"}`,
			Sends: []string{`PUT /guilds/1200000000000000001/onboarding {"enabled":false,"mode":0,"default_channel_ids":["1200000000000000311","1200000000000000313"],` +
				`"prompts":[{"id":"1200000000000000711","title":"canary question","type":0,"single_select":true,"required":false,"in_onboarding":true,"options":[` +
				`{"id":"1200000000000000712","title":"canary games","description":"canary words","emoji_name":"🎲","role_ids":["1200000000000000206"],"channel_ids":[]}]}]}`},
			Permit: guildPermit, Resource: string(sandbox.DemoGuild), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "half of it", Args: ofGuild(`"enabled":false,"mode":"default","prompts":[]`), Code: mcpcore.CodeValidation},
				{Name: "a raw mode", Args: ofGuild(`"enabled":false,"mode":1,"defaultChannelIds":[],"prompts":[]`), Code: mcpcore.CodeValidation},
				{Name: "six questions", Args: asking(strings.Split(strings.Repeat(question("", `{"title":"x"}`)+"|", 6), "|")[:6]...), Code: mcpcore.CodeValidation},
				{Name: "a question without answers", Args: asking(question("", "")), Code: mcpcore.CodeValidation},
				{Name: "26 answers", Args: asking(question("", strings.TrimSuffix(strings.Repeat(`{"title":"x"},`, 26), ","))), Code: mcpcore.CodeValidation},
				{Name: "a bot that may not manage roles", Code: mcpcore.CodePermission, Before: allow(discord.ManageGuild)},
				{Name: "a bot that may not manage the guild", Code: mcpcore.CodePermission, Before: allow(discord.ManageRoles)},
				unready,
				refusal("too few channels", "too-few-channels", enabled),
				refusal("a default channel that is hidden", "channel-hidden", strings.Replace(asking(), "1200000000000000313", "1200000000000000318", 1)),
				refusal("a default channel of another guild", "channel-missing", strings.Replace(asking(), "1200000000000000313", "1200000000000000341", 1)),
				refusal("a prompt of nobody", "prompt-missing", asking(question(`"promptId":"1200000000000000799",`, `{"title":"x"}`))),
				refusal("a prompt twice", "ambiguous", asking(question(kept, `{"title":"x"}`), question(kept, `{"title":"x"}`))),
				refusal("an option of another prompt", "option-missing", asking(question("", `{"title":"x","optionId":"1200000000000000712"}`))),
				refusal("an option of nobody", "option-missing", asking(question(kept, `{"title":"x","optionId":"1200000000000000799"}`))),
				refusal("an option twice", "ambiguous", asking(question(kept, `{"title":"x","optionId":"1200000000000000712"},{"title":"y","optionId":"1200000000000000712"}`))),
				answer("an emoji of nobody", "emoji-missing", `"emojiId":"1200000000000000499"`),
				answer("a word for an emoji", "emoji", `"emojiName":"game"`),
				answer("a channel that is hidden", "channel-hidden", `"channelIds":["1200000000000000318"]`),
				gives("a role of nobody", "role-missing", "1200000000000000299"), gives("everyone", "everyone", discord.RoleID(sandbox.DemoGuild)),
				gives("a bot's role", "managed", sandbox.DemoBotRole), gives("a role above the bot", "hierarchy", sandbox.DemoAdminRole),
				gives("a role with permissions", "role-permissions", sandbox.DemoModeratorRole),
			},
		},
		Route: "PUT /guilds/{guild_id}/onboarding", ReadBack: "GET /guilds/{guild_id}/onboarding", Skip: 4,
		Change: func(d *sandbox.Discord) {
			o := d.Onboarding(sandbox.DemoGuild)
			o.DefaultChannels = o.DefaultChannels[:1]
			d.SetOnboarding(sandbox.DemoGuild, o)
		},
		Settle: func(d *sandbox.Discord) {
			d.SetOnboarding(sandbox.DemoGuild, sandbox.Onboarding{
				DefaultChannels: []discord.ChannelID{sandbox.DemoGeneral, sandbox.DemoRules},
				Prompts: []sandbox.OnboardingPrompt{{
					ID: sandbox.DemoPrompt, Title: "canary question", SingleSelect: true, InOnboarding: true,
					Options: []sandbox.OnboardingOption{{
						ID: "1200000000000000712", Title: "canary games", Description: "canary words", Emoji: &sandbox.EmojiRef{Name: "🎲"},
						Roles: []discord.RoleID{sandbox.DemoEventsRole},
					}},
				}},
			})
		},
	}
}

func TestOnboardingChange(t *testing.T) {
	t.Parallel()
	onboardingScene().run(t)
}

// What has no id is made, what is left out is deleted, and the plan says so.
func TestOnboardingIsWhole(t *testing.T) {
	t.Parallel()
	s := onboardingScene()
	old := question(kept, `{"title":"x","emojiId":"1200000000000000401","channelIds":["1200000000000000315","1200000000000000313"]}`)
	made := strings.Replace(question("", `{"title":"y"}`), "multiple_choice", "dropdown", 1)
	s.writes(t, asking(old, made), `PUT /guilds/1200000000000000001/onboarding {"enabled":false,"mode":0,"default_channel_ids":["1200000000000000311","1200000000000000313"],`+
		`"prompts":[{"id":"1200000000000000711","title":"canary question","type":0,"single_select":true,"required":false,"in_onboarding":true,"options":[`+
		`{"title":"x","emoji_id":"1200000000000000401","emoji_name":"lighthouse","role_ids":[],"channel_ids":["1200000000000000313","1200000000000000315"]}]},`+
		`{"id":"10000000000000002","title":"canary question","type":1,"single_select":true,"required":false,"in_onboarding":true,"options":[{"title":"y","role_ids":[],"channel_ids":[]}]}]}`)
	s.Args = asking(question(kept, `{"title":"Finding bugs","optionId":"1200000000000000713","emojiName":"🐛","channelIds":["1200000000000000315"]}`))
	if told := fmt.Sprint(s.plans(t)); !strings.Contains(told, `name:deleted for good value:the option "Game nights" of "What brings you here?"]`) {
		t.Errorf("the plan of one that deletes tells %s", told)
	}
	s.Args = asking()
	if told := fmt.Sprint(s.plans(t)); !strings.Contains(told, `name:deleted for good value:the prompt "What brings you here?"]`) {
		t.Errorf("the plan of one that deletes a prompt tells %s", told)
	}
}

// It is enabled with channels enough, and in the advanced mode those of the answers
// count.
func TestOnboardingIsEnabled(t *testing.T) {
	t.Parallel()
	const five, two = `"1200000000000000311","1200000000000000312","1200000000000000313","1200000000000000314","1200000000000000315"`, `"1200000000000000316","1200000000000000317"`
	of := func(mode, defaults, options string) string {
		return ofGuild(fmt.Sprintf(`"enabled":true,"mode":%q,"defaultChannelIds":[%s],"prompts":[%s]`, mode, defaults, question("", `{"title":"x","channelIds":[`+options+`]}`)))
	}
	for args, status := range map[string]string{of("default", five+","+two, ""): "completed", of("advanced", five, two): "completed", of("default", five, two): ""} {
		s := onboardingScene()
		s.Args = args
		if e, _ := s.once(t); e.Status != status {
			t.Errorf("%s: it answers %+v", args, e)
		}
	}
}

func TestOnboardingThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	s := onboardingScene()
	for name, other := range map[string][2]string{
		"another guild": {`"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`}, "another title": {"canary question", "x"},
		"another answer in the place of one": {`"id":"1200000000000000712"`, `"id":"1200000000000000714"`}, "an answer without an id": {`"id":"1200000000000000712"`, `"id":""`},
		"another role": {`"1200000000000000206"`, `"1200000000000000205"`}, "a mode that nobody knows": {`"mode":0`, `"mode":2`},
	} {
		s.answered(s.Route, other[0], other[1]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	for name, other := range map[string][2]string{"a type that nobody knows": {`"type":0`, `"type":2`}, "no default channels": {`"default_channel_ids"`, `"d"`}, "a prompt without an id": {`"id":"1200000000000000711"`, `"id":""`}} {
		s.answered(s.ReadBack, other[0], other[1]).ends(t, name, mcpcore.CodeAccessUnknown, "", "")
	}
	s.afterWrite(func(d *sandbox.Discord) {
		d.SetOnboarding(sandbox.DemoGuild, sandbox.Onboarding{Enabled: true, Mode: 1})
	}).
		drifts(t, "enabled", "mode", "defaultChannelIds", "prompts")
}
