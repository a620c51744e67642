package discord

// GuildWide are the permissions that channels have no say in: no overwrite
// changes them.
//
// Source: https://docs.discord.com/developers/topics/permissions#permissions-bitwise-permission-flags.
const GuildWide = KickMembers | BanMembers | Administrator | ManageGuild | ViewAuditLog | ViewGuildInsights | ChangeNickname |
	ManageNicknames | ManageGuildExpressions | CreateGuildExpressions | ModerateMembers | ViewCreatorMonetizationAnalytics

// Effective is what is left of p, the permissions in a channel of the given
// type, without those that are worth nothing for lack of another one: all of
// them where the channel cannot be seen, those of voice without CONNECT. What is
// [GuildWide] stays.
//
// Source: https://docs.discord.com/developers/topics/permissions#implicit-permissions.
func Effective(p Permissions, t ChannelType) Permissions {
	switch {
	case !p.Has(ViewChannel):
		return p & GuildWide
	case (t == GuildVoice || t == GuildStageVoice) && !p.Has(Connect):
		return p &^ (ManageChannels | ManageRoles | Speak | Stream | PrioritySpeaker | UseVAD | MuteMembers | DeafenMembers |
			MoveMembers | SetVoiceChannelStatus | RequestToSpeak | UseSoundboard | UseExternalSounds)
	}
	return p
}
