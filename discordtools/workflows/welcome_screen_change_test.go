package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const keeperEmoji discord.EmojiID = "1200000000000000498" // for members alone

func welcoming() scene {
	pointing := func(point string) string {
		return ofGuild(`"enabled":true,"description":null,"channels":[` + point + `]`)
	}
	refusal := func(name, reason, point string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: pointing(point), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "welcome-screen-change", Plan: "plan_guild_welcome_screen_change", Execute: "execute_guild_welcome_screen_change",
			Args: ofGuild(`"enabled":false,"description":"canary above","channels":[{"channelId":"1200000000000000313","description":"canary talk","emojiName":"💬"},` +
				`{"channelId":"1200000000000000311","description":"canary rules","emojiId":"1200000000000000401"}],"auditReason":"canary-reason"`),
			Sends: []string{`PATCH /guilds/1200000000000000001/welcome-screen {"enabled":false,"description":"canary above","welcome_channels":[` +
				`{"channel_id":"1200000000000000313","description":"canary talk","emoji_id":null,"emoji_name":"💬"},` +
				`{"channel_id":"1200000000000000311","description":"canary rules","emoji_id":"1200000000000000401","emoji_name":"lighthouse"}]}`},
			Permit: guildPermit, Resource: string(sandbox.DemoGuild), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "half of the screen", Args: ofGuild(`"enabled":true,"description":null`), Code: mcpcore.CodeValidation},
				{Name: "a channel without words", Args: pointing(`{"channelId":"1200000000000000313","description":" "}`), Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: allow(discord.ManageRoles)},
				blocked("community", func(d *sandbox.Discord) {
					d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Features = []string{"NEWS"} })
				}),
				refusal("a channel of another guild", "channel-missing", `{"channelId":"1200000000000000341","description":"x"}`),
				refusal("a channel that not everyone sees", "channel-hidden", `{"channelId":"1200000000000000318","description":"x"}`),
				refusal("a category", "channel-type", `{"channelId":"1200000000000000302","description":"x"}`),
				refusal("a channel twice", "ambiguous", `{"channelId":"1200000000000000313","description":"x"},{"channelId":"1200000000000000313","description":"y"}`),
				refusal("two emojis at one", "emoji", `{"channelId":"1200000000000000313","description":"x","emojiId":"1200000000000000401","emojiName":"💬"}`),
				refusal("a word for an emoji", "emoji", `{"channelId":"1200000000000000313","description":"x","emojiName":"lighthouse"}`),
				refusal("an emoji of nobody", "emoji-missing", `{"channelId":"1200000000000000313","description":"x","emojiId":"1200000000000000499"}`),
				refusal("an emoji for some", "emoji-restricted", `{"channelId":"1200000000000000313","description":"x","emojiId":"`+string(keeperEmoji)+`"}`),
			},
		},
		Route: "PATCH /guilds/{guild_id}/welcome-screen", ReadBack: "GET /guilds/{guild_id}/welcome-screen", Skip: 4,
		Before: func(d *sandbox.Discord) {
			d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{ID: keeperEmoji, Name: "keeper", Roles: []discord.RoleID{sandbox.DemoMemberRole}})
		},
		Change: func(d *sandbox.Discord) {
			d.SetWelcomeScreen(sandbox.DemoGuild, sandbox.WelcomeScreen{Description: "Ahoy"})
		},
		Settle: func(d *sandbox.Discord) {
			d.SetWelcomeScreen(sandbox.DemoGuild, sandbox.WelcomeScreen{Description: "canary above", Channels: []sandbox.WelcomeChannel{
				{Channel: sandbox.DemoGeneral, Description: "canary talk", Emoji: &sandbox.EmojiRef{Name: "💬"}},
				{Channel: sandbox.DemoRules, Description: "canary rules", Emoji: &sandbox.EmojiRef{ID: sandbox.DemoEmoji, Name: "as it was named once"}},
			}})
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Features = []string{"COMMUNITY", "NEWS"} })
		},
	}
}

func TestWelcomeScreenChange(t *testing.T) {
	t.Parallel()
	welcoming().run(t)
}

// What is left out is taken off, and a text of "none" is a text.
func TestWelcomeScreenIsWhole(t *testing.T) {
	t.Parallel()
	s := welcoming()
	const bare = `PATCH /guilds/1200000000000000001/welcome-screen {"enabled":true,"description":null,"welcome_channels":[]}`
	s.writes(t, ofGuild(`"enabled":true,"description":null,"channels":[]`), bare)
	s.Before = func(d *sandbox.Discord) { d.SetWelcomeScreen(sandbox.DemoGuild, sandbox.WelcomeScreen{}) }
	s.writes(t, ofGuild(`"enabled":true,"description":"none","channels":[]`), `PATCH /guilds/1200000000000000001/welcome-screen {"enabled":true,"description":"none","welcome_channels":[]}`)
}

// A guild that has none yet gets one.
func TestFirstWelcomeScreen(t *testing.T) {
	t.Parallel()
	s := welcoming()
	s.Args = `{"guildId":"1200000000000000002","enabled":true,"description":"Ahoy","channels":[]}`
	s.Permit = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoClub)}}}
	s.Before = func(d *sandbox.Discord) {
		d.ChangeGuild(sandbox.DemoClub, func(g *sandbox.Guild) { g.Features, g.Owner = []string{"COMMUNITY"}, sandbox.BotID })
	}
	s.sends(t, `PATCH /guilds/1200000000000000002/welcome-screen {"enabled":true,"description":"Ahoy","welcome_channels":[]}`)
}

func TestWelcomeScreenThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	s := welcoming()
	for name, other := range map[string][2]string{
		"another text": {"canary above", "x"}, "another channel": {`"1200000000000000311"`, `"1200000000000000314"`}, "another emoji": {"💬", "📜"},
		"no channels": {`"welcome_channels"`, `"w"`},
	} {
		s.answered(s.Route, other[0], other[1]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	s.answered(s.ReadBack, `"welcome_channels"`, `"w"`).ends(t, "a screen that is not whole", mcpcore.CodeAccessUnknown, "", "")
	s.answered(s.ReadBack, `"channel_id"`, `"c"`).ends(t, "a screen without its channels", mcpcore.CodeAccessUnknown, "", "")
	s.afterWrite(func(d *sandbox.Discord) { d.SetWelcomeScreen(sandbox.DemoGuild, sandbox.WelcomeScreen{}) }).drifts(t, "enabled", "description", "channels")
}
