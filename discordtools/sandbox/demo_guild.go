package sandbox

import (
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// What is in the demo world beside its channels, members and messages.
const (
	DemoIntegration discord.IntegrationID = "1200000000000000701" // the bot's own
	DemoPrompt      string                = "1200000000000000711" // of the onboarding
)

// demoSettings gives the demo guild an integration, a welcome screen, an
// onboarding that is not enabled, and people in voice: Tomasz in the
// lounge, the bot and Ines in the audience of the stage.
func (d *Discord) demoSettings(now time.Time) {
	d.AddIntegration(DemoGuild, Integration{
		ID: DemoIntegration, Name: d.options.BotName, Description: "Moderation by agents, behind guards", Bot: BotID, AddedBy: DemoOwner,
	})
	d.SetWelcomeScreen(DemoGuild, WelcomeScreen{
		Description: "Welcome aboard, keeper!",
		Channels: []WelcomeChannel{
			{Channel: DemoRules, Description: "Five rules, one minute", Emoji: &EmojiRef{Name: "📜"}},
			{Channel: DemoHelp, Description: "Stuck? Open a post", Emoji: &EmojiRef{ID: DemoEmoji, Name: "lighthouse"}},
		},
	})
	d.SetOnboarding(DemoGuild, Onboarding{
		DefaultChannels: []discord.ChannelID{DemoRules, DemoAnnouncements, DemoGeneral, DemoShowcase, DemoHelp},
		Prompts: []OnboardingPrompt{{
			ID: DemoPrompt, Title: "What brings you here?", InOnboarding: true,
			Options: []OnboardingOption{
				{ID: "1200000000000000712", Title: "Game nights", Description: "We call you on Fridays", Emoji: &EmojiRef{Name: "🎲"}, Roles: []discord.RoleID{DemoEventsRole}},
				{ID: "1200000000000000713", Title: "Finding bugs", Emoji: &EmojiRef{Name: "🐛"}, Channels: []discord.ChannelID{DemoHelp}},
			},
		}},
	})
	d.AddVoiceState(DemoGuild, VoiceState{User: DemoMember, Channel: DemoLounge, SelfMute: true})
	d.AddVoiceState(DemoGuild, VoiceState{User: BotID, Channel: DemoStage, Suppress: true})
	d.AddVoiceState(DemoGuild, VoiceState{User: DemoModerator, Channel: DemoStage, Suppress: true, RequestToSpeak: now.Add(-time.Minute)})
}
