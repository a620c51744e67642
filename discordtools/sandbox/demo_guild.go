package sandbox

import (
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// What is in the demo world beside its channels, members and messages.
const (
	DemoIntegration discord.IntegrationID = "1200000000000000701" // the bot's own
	DemoPrompt      string                = "1200000000000000711" // of the onboarding
	DemoWebhook     discord.WebhookID     = "1200000000000000751" // "Release feed", in announcements; Webhooks tells its token

	DemoGameNight discord.EventID = "1200000000000000721" // in the lounge, every Friday
	DemoDevTalk   discord.EventID = "1200000000000000722" // on the stage
	DemoMeetup    discord.EventID = "1200000000000000723" // elsewhere
	DemoSound     discord.SoundID = "1200000000000000731"
	DemoWordRule  discord.RuleID  = "1200000000000000741" // blocks words and tells mod-log
	DemoPingRule  discord.RuleID  = "1200000000000000742" // blocks and times out who mentions many
)

// demoPlans gives the demo guild events, a sound and AutoMod rules.
func (d *Discord) demoPlans(now time.Time) {
	day := now.UTC().Truncate(24 * time.Hour)
	friday := day.AddDate(0, 0, 1+(int(time.Friday)-int(day.Weekday())+6)%7).Add(19 * time.Hour)
	d.AddEvent(DemoGuild, Event{
		ID: DemoGameNight, Name: "Game night", Description: "Bring a friend and a torch.", Channel: DemoLounge, Creator: DemoModerator, Start: friday,
		Users: []discord.UserID{DemoMember, DemoModerator, DemoOwner}, Recurrence: &Recurrence{Start: friday, Frequency: 2, Interval: 1, Weekdays: []int{4}},
	})
	d.AddEvent(DemoGuild, Event{
		ID: DemoDevTalk, Name: "How we made the fog", Channel: DemoStage, Creator: DemoOwner, Start: day.AddDate(0, 0, 12).Add(18 * time.Hour),
		Users: []discord.UserID{DemoNewcomer},
	})
	d.AddEvent(DemoGuild, Event{
		ID: DemoMeetup, Name: "Summer meetup", Location: "Old lighthouse, pier 4", Start: day.AddDate(0, 0, 30).Add(14 * time.Hour),
		End: day.AddDate(0, 0, 30).Add(20 * time.Hour),
	})
	d.AddSound(DemoGuild, Sound{ID: DemoSound, Name: "foghorn", Volume: 0.8, Emoji: EmojiRef{ID: DemoEmoji}, By: DemoOwner})
	d.AddAutoModRule(DemoGuild, AutoModRule{
		ID: DemoWordRule, Name: "Scams", Creator: DemoOwner, Enabled: true, Keywords: []string{"free nitro", "*steamgift*"}, Allowed: []string{"not free nitro"},
		Actions:     []AutoModAction{{Type: ActionBlock, Message: "This looks like a scam."}, {Type: ActionAlert, Channel: DemoModLog}},
		ExemptRoles: []discord.RoleID{DemoModeratorRole}, ExemptChannels: []discord.ChannelID{DemoShowcase},
	})
	d.AddAutoModRule(DemoGuild, AutoModRule{
		ID: DemoPingRule, Name: "Mass pings", Creator: DemoOwner, Trigger: TriggerMentions, Enabled: true, MentionLimit: 3, RaidProtection: true,
		Actions: []AutoModAction{{Type: ActionBlock}, {Type: ActionTimeout, Seconds: 600}},
	})
}

// demoSettings gives the demo guild an integration, a webhook, a welcome screen, an
// onboarding that is not enabled, and people in voice: Tomasz in the
// lounge, the bot and Ines in the audience of the stage.
func (d *Discord) demoSettings(now time.Time) {
	d.AddIntegration(DemoGuild, Integration{
		ID: DemoIntegration, Name: d.options.BotName, Description: "Moderation by agents, behind guards", Bot: BotID, AddedBy: DemoOwner,
	})
	d.AddWebhook(Webhook{ID: DemoWebhook, Channel: DemoAnnouncements, By: DemoOwner, Name: "Release feed"})
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
