package discord

// GuildWide are the permissions that channels have no say in: no overwrite
// changes them.
//
// Source: https://docs.discord.com/developers/topics/permissions#permissions-bitwise-permission-flags.
const GuildWide = KickMembers | BanMembers | Administrator | ManageGuild | ViewAuditLog | ViewGuildInsights | ChangeNickname |
	ManageNicknames | ManageGuildExpressions | CreateGuildExpressions | ModerateMembers | ViewCreatorMonetizationAnalytics

// Block is a group of permissions that are worth nothing for lack of others.
type Block struct {
	Permissions Permissions // held and worth nothing
	Lacking     Permissions // what they would need
	Reason      string
}

// Blocks are the permissions among p, those in a channel of the given type, that
// are worth nothing for lack of another one. A permission can be in several.
// Without VIEW_CHANNEL all are but what is [GuildWide].
//
// Source: https://docs.discord.com/developers/topics/permissions#implicit-permissions.
func Blocks(p Permissions, t ChannelType) (blocks []Block) {
	add := func(needs, of Permissions, reason string) {
		if held := p & of; held != 0 && !p.Has(needs) {
			blocks = append(blocks, Block{held, needs, reason})
		}
	}
	add(ViewChannel, ^GuildWide, "the channel cannot be seen")
	send := SendMessages
	if t.IsThread() {
		send = SendMessagesInThreads
		add(send, SendMessages, "in threads SEND_MESSAGES_IN_THREADS counts")
	}
	add(send, SendTTSMessages|MentionEveryone|EmbedLinks|AttachFiles|SendVoiceMessages|SendPolls, "nothing can be sent there")
	if t == GuildVoice || t == GuildStageVoice {
		add(Connect, ManageChannels|ManageRoles|Speak|Stream|PrioritySpeaker|UseVAD|MuteMembers|DeafenMembers|
			MoveMembers|SetVoiceChannelStatus|RequestToSpeak|UseSoundboard|UseExternalSounds, "the channel cannot be joined")
	}
	return blocks
}

// Effective is what is left of p, the permissions in a channel of the given
// type, without its [Blocks].
func Effective(p Permissions, t ChannelType) Permissions {
	left := p
	for _, b := range Blocks(p, t) {
		left &^= b.Permissions
	}
	return left
}
