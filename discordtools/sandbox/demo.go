package sandbox

import (
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// The ids of the demo world, the same in every run. Messages that are not named
// here are younger than a day when the world is made.
const (
	DemoGuild discord.GuildID = "1200000000000000001" // Lighthouse Games, where the bot moderates
	DemoClub  discord.GuildID = "1200000000000000002" // Harbour Book Club, where it may only talk

	DemoOwner     discord.UserID = "1200000000000000101" // owns both guilds
	DemoAdmin     discord.UserID = "1200000000000000102" // administrator, above the bot
	DemoModerator discord.UserID = "1200000000000000103"
	DemoMember    discord.UserID = "1200000000000000104" // nickname "Tomo"
	DemoNewcomer  discord.UserID = "1200000000000000105" // has no role
	DemoTimedOut  discord.UserID = "1200000000000000106" // timed out for some hours
	DemoReader    discord.UserID = "1200000000000000107" // member of the club alone

	DemoAdminRole     discord.RoleID = "1200000000000000201"
	DemoBotRole       discord.RoleID = "1200000000000000202" // managed; below Admin, above all others
	DemoModeratorRole discord.RoleID = "1200000000000000203"
	DemoMemberRole    discord.RoleID = "1200000000000000204"
	DemoMutedRole     discord.RoleID = "1200000000000000205"
	DemoEventsRole    discord.RoleID = "1200000000000000206" // can be mentioned by everyone

	DemoInfo          discord.ChannelID = "1200000000000000301" // categories
	DemoCommunity     discord.ChannelID = "1200000000000000302"
	DemoVoiceCategory discord.ChannelID = "1200000000000000303"
	DemoStaffCategory discord.ChannelID = "1200000000000000304"
	DemoRules         discord.ChannelID = "1200000000000000311"
	DemoAnnouncements discord.ChannelID = "1200000000000000312" // announcement channel
	DemoGeneral       discord.ChannelID = "1200000000000000313"
	DemoShowcase      discord.ChannelID = "1200000000000000314"
	DemoHelp          discord.ChannelID = "1200000000000000315" // forum that requires a tag
	DemoLounge        discord.ChannelID = "1200000000000000316" // voice
	DemoStage         discord.ChannelID = "1200000000000000317"
	DemoModLog        discord.ChannelID = "1200000000000000318"
	DemoStaff         discord.ChannelID = "1200000000000000319" // hidden from the bot

	DemoThread   discord.ChannelID = "1200000000000000321" // in general
	DemoArchived discord.ChannelID = "1200000000000000322" // in general
	DemoPost     discord.ChannelID = "1200000000000000323" // in help

	DemoBugTag    discord.TagID = "1200000000000000331"
	DemoIdeaTag   discord.TagID = "1200000000000000332"
	DemoSolvedTag discord.TagID = "1200000000000000333" // moderated

	DemoClubGeneral discord.ChannelID = "1200000000000000341"
	DemoClubReads   discord.ChannelID = "1200000000000000342"

	DemoEmoji   discord.EmojiID   = "1200000000000000401" // :lighthouse:
	DemoSticker discord.StickerID = "1200000000000000402"

	DemoRulesMessage discord.MessageID = "1200000000000000501" // pinned in rules
	DemoNews         discord.MessageID = "1200000000000000502" // with an embed, in announcements
	DemoPoll         discord.MessageID = "1200000000000000503" // in general
	DemoSketch       discord.MessageID = "1200000000000000504" // with an attachment and reactions, in showcase
)

// DemoPermissions is what the bot's own role gives it in [DemoGuild]: the
// everyday moderation permissions, not ADMINISTRATOR.
const DemoPermissions = discord.ViewChannel | discord.SendMessages | discord.SendMessagesInThreads | discord.EmbedLinks |
	discord.AttachFiles | discord.ReadMessageHistory | discord.AddReactions | discord.UseExternalEmojis |
	discord.UseExternalStickers | discord.MentionEveryone | discord.SendPolls | discord.SendTTSMessages |
	discord.SendVoiceMessages | discord.CreatePublicThreads | discord.CreatePrivateThreads | discord.ManageThreads |
	discord.ManageMessages | discord.PinMessages | discord.ManageChannels | discord.ManageRoles | discord.ManageGuild |
	discord.ManageWebhooks | discord.ManageEvents | discord.CreateEvents | discord.ManageGuildExpressions |
	discord.CreateGuildExpressions | discord.ManageNicknames | discord.ChangeNickname | discord.KickMembers |
	discord.BanMembers | discord.ModerateMembers | discord.ViewAuditLog | discord.ViewGuildInsights |
	discord.CreateInstantInvite | discord.Connect | discord.Speak | discord.Stream | discord.UseVAD | discord.MuteMembers |
	discord.DeafenMembers | discord.MoveMembers | discord.RequestToSpeak | discord.SetVoiceChannelStatus |
	discord.UseSoundboard | discord.UseExternalSounds | discord.PrioritySpeaker | discord.UseApplicationCommands

// demoEveryone is what @everyone may do in the demo guilds.
const demoEveryone = discord.ViewChannel | discord.SendMessages | discord.SendMessagesInThreads | discord.ReadMessageHistory |
	discord.AddReactions | discord.EmbedLinks | discord.AttachFiles | discord.CreatePublicThreads | discord.Connect |
	discord.Speak | discord.UseVAD | discord.ChangeNickname | discord.CreateInstantInvite | discord.UseApplicationCommands |
	discord.SendPolls

// Demo is a furnished Discord: [DemoGuild], in which the bot "Guildwarden Demo"
// may do everyday moderation, and [DemoClub], in which it may talk.
func Demo() *Discord { return DemoWith(Options{}) }

// DemoWith is [Demo] with other options.
func DemoWith(o Options) *Discord {
	if o.BotName == "" {
		o.BotName = "Guildwarden Demo"
	}
	d := New(o)
	for _, u := range []User{
		{ID: DemoOwner, Name: "marina", GlobalName: "Marina Holt"},
		{ID: DemoAdmin, Name: "beacon_ben", GlobalName: "Ben"},
		{ID: DemoModerator, Name: "saltwick", GlobalName: "Ines"},
		{ID: DemoMember, Name: "tomasz.k", GlobalName: "Tomasz"},
		{ID: DemoNewcomer, Name: "pebble42"},
		{ID: DemoTimedOut, Name: "capslock_carl", GlobalName: "CARL"},
		{ID: DemoReader, Name: "dog.eared", GlobalName: "Noor"},
	} {
		d.AddUser(u)
	}
	now := d.options.Clock()
	d.demoGuild(now)
	d.demoChannels()
	d.demoThreads(now)
	d.demoMessages(now)
	d.demoClub(now)
	d.demoSettings(now)
	d.demoPlans(now)
	d.demoApplication(now)
	return d
}

func (d *Discord) demoGuild(now time.Time) {
	d.AddGuild(Guild{
		ID: DemoGuild, Name: "Lighthouse Games", Description: "We make small games about big weather.", Owner: DemoOwner,
		Features: []string{"COMMUNITY", "NEWS"}, SystemChannel: DemoGeneral, RulesChannel: DemoRules, UpdatesChannel: DemoModLog,
		Verification: 1, ContentFilter: 2, Notifications: 1,
	}, demoEveryone)
	for _, r := range []Role{
		{ID: DemoMutedRole, Name: "Muted", Position: 1, Color: 0x607D8B},
		{ID: DemoEventsRole, Name: "Game Night", Position: 2, Color: 0xF1C40F, Mentionable: true},
		{ID: DemoMemberRole, Name: "Member", Position: 3, Color: 0x3498DB, Hoist: true},
		{ID: DemoModeratorRole, Name: "Moderator", Position: 4, Color: 0x2ECC71, Hoist: true, Permissions: discord.ManageMessages |
			discord.KickMembers | discord.ModerateMembers | discord.ManageThreads | discord.ViewAuditLog | discord.ManageNicknames},
		{ID: DemoBotRole, Name: "Guildwarden Demo", Position: 5, Managed: true, Bot: BotID, Permissions: DemoPermissions},
		{ID: DemoAdminRole, Name: "Admin", Position: 6, Color: 0xE74C3C, Hoist: true, Permissions: discord.Administrator},
	} {
		d.AddRole(DemoGuild, r)
	}
	for _, m := range []Member{
		{User: BotID, Roles: []discord.RoleID{DemoBotRole}},
		{User: DemoOwner, Nick: "Marina (studio)", Roles: []discord.RoleID{DemoAdminRole, DemoMemberRole}},
		{User: DemoAdmin, Roles: []discord.RoleID{DemoAdminRole, DemoMemberRole}},
		{User: DemoModerator, Nick: "Ines | mod", Roles: []discord.RoleID{DemoModeratorRole, DemoMemberRole}},
		{User: DemoMember, Nick: "Tomo", Roles: []discord.RoleID{DemoMemberRole, DemoEventsRole}},
		{User: DemoNewcomer, Joined: now.Add(-3 * time.Hour)},
		{User: DemoTimedOut, Roles: []discord.RoleID{DemoMemberRole}, TimeoutUntil: now.Add(6 * time.Hour)},
	} {
		if m.Joined.IsZero() {
			m.Joined = now.AddDate(0, -8, 0)
		}
		d.AddMember(DemoGuild, m)
	}
	d.AddEmoji(DemoGuild, Emoji{ID: DemoEmoji, Name: "lighthouse", By: DemoOwner})
	d.AddSticker(DemoGuild, Sticker{ID: DemoSticker, Name: "Ahoy", Description: "A waving lighthouse keeper", Tags: "wave", By: DemoOwner})
}

func (d *Discord) demoChannels() {
	everyone := discord.OverwriteID(DemoGuild)
	readOnly := []discord.Overwrite{
		{ID: everyone, Deny: discord.SendMessages | discord.CreatePublicThreads},
		{ID: discord.OverwriteID(DemoBotRole), Allow: discord.SendMessages | discord.CreatePublicThreads},
		{ID: discord.OverwriteID(DemoModeratorRole), Allow: discord.SendMessages},
	}
	staffOnly := []discord.Overwrite{
		{ID: everyone, Deny: discord.ViewChannel},
		{ID: discord.OverwriteID(DemoModeratorRole), Allow: discord.ViewChannel},
	}
	muted := []discord.Overwrite{{ID: discord.OverwriteID(DemoMutedRole), Deny: discord.SendMessages | discord.AddReactions | discord.Speak}}
	for _, c := range []Channel{
		{ID: DemoInfo, Type: discord.GuildCategory, Name: "Information", Position: 1},
		{ID: DemoCommunity, Type: discord.GuildCategory, Name: "Community", Position: 2, Overwrites: muted},
		{ID: DemoVoiceCategory, Type: discord.GuildCategory, Name: "Voice", Position: 3},
		{ID: DemoStaffCategory, Type: discord.GuildCategory, Name: "Staff", Position: 4},
		{ID: DemoRules, Type: discord.GuildText, Name: "rules", Parent: DemoInfo, Position: 5, Overwrites: readOnly,
			Topic: "Five rules. Read them once, keep them always."},
		{ID: DemoAnnouncements, Type: discord.GuildAnnouncement, Name: "announcements", Parent: DemoInfo, Position: 6,
			Overwrites: readOnly, Topic: "Releases, game nights and patch notes"},
		{ID: DemoGeneral, Type: discord.GuildText, Name: "general", Parent: DemoCommunity, Position: 7, Overwrites: muted,
			Topic: "Anything about our games, and the weather", ThreadArchive: 4320},
		{ID: DemoShowcase, Type: discord.GuildText, Name: "showcase", Parent: DemoCommunity, Position: 8, Overwrites: muted,
			Topic: "Screenshots, fan art, high scores", SlowMode: 30},
		{ID: DemoHelp, Type: discord.GuildForum, Name: "help", Parent: DemoCommunity, Position: 9, Overwrites: muted,
			Topic: "One question per post. Say which version you play.", Flags: flagRequireTag, Reaction: &EmojiRef{Name: "👍"},
			Tags: []Tag{
				{ID: DemoBugTag, Name: "Bug", Emoji: &EmojiRef{Name: "🐛"}},
				{ID: DemoIdeaTag, Name: "Idea", Emoji: &EmojiRef{Name: "💡"}},
				{ID: DemoSolvedTag, Name: "Solved", Moderated: true},
			}},
		{ID: DemoLounge, Type: discord.GuildVoice, Name: "Lounge", Parent: DemoVoiceCategory, Position: 10, UserLimit: 12},
		{ID: DemoStage, Type: discord.GuildStageVoice, Name: "Dev Talks", Parent: DemoVoiceCategory, Position: 11,
			Topic: "Once a month we show what we are building"},
		{ID: DemoModLog, Type: discord.GuildText, Name: "mod-log", Parent: DemoStaffCategory, Position: 12, Overwrites: append(staffOnly[:2:2],
			discord.Overwrite{ID: discord.OverwriteID(DemoBotRole), Allow: discord.ViewChannel})},
		{ID: DemoStaff, Type: discord.GuildText, Name: "staff-room", Parent: DemoStaffCategory, Position: 13, Overwrites: staffOnly},
	} {
		c.Guild = DemoGuild
		d.AddChannel(c)
	}
}

func (d *Discord) demoThreads(now time.Time) {
	d.AddChannel(Channel{
		ID: DemoThread, Guild: DemoGuild, Type: discord.PublicThread, Name: "Storm level feedback", Parent: DemoGeneral,
		Thread: &Thread{Owner: DemoMember, Members: []ThreadMember{{DemoMember, now.AddDate(0, 0, -1)}, {BotID, now.AddDate(0, 0, -1)}}},
	})
	d.AddMessage(DemoThread, Message{ID: d.message(now, 5*time.Hour), Author: DemoMember, Content: "The second wave comes a little too early on a controller."})
	d.AddMessage(DemoThread, Message{ID: d.message(now, 4*time.Hour), Author: DemoModerator, Content: "Noted, I will pass it on to Ben."})
	d.AddChannel(Channel{
		ID: DemoArchived, Guild: DemoGuild, Type: discord.PublicThread, Name: "Spring game night", Parent: DemoGeneral,
		Thread: &Thread{Owner: DemoModerator, Archived: true, ArchivedAt: now.AddDate(0, 0, -40), Members: []ThreadMember{{DemoModerator, now.AddDate(0, 0, -60)}}},
	})
	d.AddMessage(DemoArchived, Message{ID: d.message(now, 45*24*time.Hour), Author: DemoModerator, Content: "Thanks everyone, 31 keepers and not one shipwreck!"})
	d.AddChannel(Channel{
		ID: DemoPost, Guild: DemoGuild, Type: discord.PublicThread, Name: "Lamp stays dark after loading", Parent: DemoHelp,
		Thread: &Thread{Owner: DemoNewcomer, Applied: []discord.TagID{DemoBugTag}, Members: []ThreadMember{{DemoNewcomer, now.Add(-2 * time.Hour)}}},
	})
	d.AddMessage(DemoPost, Message{ID: discord.MessageID(DemoPost), Author: DemoNewcomer,
		Content: "Version 1.4.2 on Linux. I load my save and the lamp stays dark until I restart."})
	d.AddMessage(DemoPost, Message{ID: d.message(now, time.Hour), Author: DemoModerator, Content: "Could you send the log file? It is in the save folder."})
}

func (d *Discord) demoMessages(now time.Time) {
	colour := 0xF1C40F
	d.AddMessage(DemoRules, Message{ID: DemoRulesMessage, Author: DemoOwner, Pinned: sentAt(DemoRulesMessage).Add(time.Minute),
		Content: "1. Be kind.\n2. No spoilers outside threads.\n3. One language per channel: English.\n4. No advertising.\n5. Moderators decide; ask them in private."})
	d.AddMessage(DemoAnnouncements, Message{ID: DemoNews, Author: DemoOwner, Embeds: []Embed{{
		Title: "Keeper 1.4 is out", Description: "Fog, a harbour map and 23 fixes.", URL: "https://lighthouse.example/keeper/1.4", Color: &colour,
		Fields: []EmbedField{{"Platforms", "Windows, Linux, macOS", true}, {"Size", "212 MB", true}},
		Footer: &EmbedFooter{Text: "Lighthouse Games"},
	}}})
	d.AddMessage(DemoGeneral, Message{ID: DemoPoll, Author: DemoModerator, Poll: &Poll{
		Question: "Which evening suits you for game night?", Expires: now.AddDate(0, 0, 5),
		Answers: []PollAnswer{
			{Text: "Friday", Emoji: &EmojiRef{Name: "🎉"}, Voters: []discord.UserID{DemoMember, DemoAdmin}},
			{Text: "Saturday", Voters: []discord.UserID{DemoOwner}},
			{Text: "Sunday"},
		},
	}})
	d.AddMessage(DemoShowcase, Message{ID: DemoSketch, Author: DemoMember, Content: "First sketch of the old harbour. Too much fog?",
		Attachments: []Attachment{{ID: "1200000000000000601", Name: "harbour-sketch.png", Description: "Pencil sketch of a harbour in fog",
			ContentType: "image/png", Size: 184_320}},
		Reactions: []Reaction{
			{Emoji: EmojiRef{Name: "🔥"}, Users: []discord.UserID{DemoModerator, DemoOwner}},
			{Emoji: EmojiRef{ID: DemoEmoji, Name: "lighthouse"}, Users: []discord.UserID{DemoAdmin}},
		}})
	for _, m := range []struct {
		ago  time.Duration
		by   discord.UserID
		text string
	}{
		{9 * time.Hour, DemoOwner, "Good morning, keepers! Patch 1.4.3 goes to testing today."},
		{8 * time.Hour, DemoMember, "Finally, the lamp bug has cost me three ships."},
		{7 * time.Hour, DemoTimedOut, "WHEN IS THE PATCH WHEN IS THE PATCH WHEN IS THE PATCH"},
		{7*time.Hour - time.Minute, DemoTimedOut, "ANSWER ME"},
		{6 * time.Hour, DemoModerator, "Carl, please stop shouting. Take a break and come back later."},
		{2 * time.Hour, DemoNewcomer, "Hi all, I just joined. Where do I report a bug?"},
		{110 * time.Minute, DemoMember, "Welcome! Open a post in <#" + string(DemoHelp) + "> with the tag Bug."},
	} {
		d.AddMessage(DemoGeneral, Message{ID: d.message(now, m.ago), Author: m.by, Content: m.text})
	}
	d.AddMessage(DemoModLog, Message{ID: d.message(now, 6*time.Hour), Content: "capslock_carl was timed out for 12 hours: spam in #general."})
	d.AddMessage(DemoStaff, Message{ID: d.message(now, 5*time.Hour), Author: DemoAdmin, Content: "Budget for the anniversary stream is approved."})
}

func (d *Discord) demoClub(now time.Time) {
	d.AddGuild(Guild{ID: DemoClub, Name: "Harbour Book Club", Owner: DemoOwner}, demoEveryone&^discord.CreatePublicThreads)
	d.AddMember(DemoClub, Member{User: DemoReader})
	d.AddChannel(Channel{ID: DemoClubGeneral, Guild: DemoClub, Type: discord.GuildText, Name: "general", Position: 1})
	d.AddChannel(Channel{ID: DemoClubReads, Guild: DemoClub, Type: discord.GuildText, Name: "current-read", Position: 2,
		Overwrites: []discord.Overwrite{{ID: discord.OverwriteID(DemoClub), Deny: discord.SendMessages}}})
	d.AddMessage(DemoClubGeneral, Message{ID: d.message(now, 20*time.Hour), Author: DemoReader, Content: "Chapter nine made me cry on the bus."})
}

// message is an id for a message sent so long ago.
func (d *Discord) message(now time.Time, ago time.Duration) discord.MessageID {
	return discord.MessageID(d.IDAt(now.Add(-ago)))
}
