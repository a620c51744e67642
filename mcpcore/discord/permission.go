package discord

import (
	"fmt"
	"math/bits"
	"strings"
)

// Permissions is a set of permission bits. Bits that this build does not know
// are kept. Bits above 63, none of which is assigned, are not representable here:
// [Bits] has them, and nothing that writes a set back goes through this type.
//
// Source: https://docs.discord.com/developers/topics/permissions.
type Permissions uint64

// The permissions Discord has assigned.
const (
	CreateInstantInvite              Permissions = 1 << 0
	KickMembers                      Permissions = 1 << 1
	BanMembers                       Permissions = 1 << 2
	Administrator                    Permissions = 1 << 3
	ManageChannels                   Permissions = 1 << 4
	ManageGuild                      Permissions = 1 << 5
	AddReactions                     Permissions = 1 << 6
	ViewAuditLog                     Permissions = 1 << 7
	PrioritySpeaker                  Permissions = 1 << 8
	Stream                           Permissions = 1 << 9
	ViewChannel                      Permissions = 1 << 10
	SendMessages                     Permissions = 1 << 11
	SendTTSMessages                  Permissions = 1 << 12
	ManageMessages                   Permissions = 1 << 13
	EmbedLinks                       Permissions = 1 << 14
	AttachFiles                      Permissions = 1 << 15
	ReadMessageHistory               Permissions = 1 << 16
	MentionEveryone                  Permissions = 1 << 17
	UseExternalEmojis                Permissions = 1 << 18
	ViewGuildInsights                Permissions = 1 << 19
	Connect                          Permissions = 1 << 20
	Speak                            Permissions = 1 << 21
	MuteMembers                      Permissions = 1 << 22
	DeafenMembers                    Permissions = 1 << 23
	MoveMembers                      Permissions = 1 << 24
	UseVAD                           Permissions = 1 << 25
	ChangeNickname                   Permissions = 1 << 26
	ManageNicknames                  Permissions = 1 << 27
	ManageRoles                      Permissions = 1 << 28
	ManageWebhooks                   Permissions = 1 << 29
	ManageGuildExpressions           Permissions = 1 << 30
	UseApplicationCommands           Permissions = 1 << 31
	RequestToSpeak                   Permissions = 1 << 32
	ManageEvents                     Permissions = 1 << 33
	ManageThreads                    Permissions = 1 << 34
	CreatePublicThreads              Permissions = 1 << 35
	CreatePrivateThreads             Permissions = 1 << 36
	UseExternalStickers              Permissions = 1 << 37
	SendMessagesInThreads            Permissions = 1 << 38
	UseEmbeddedActivities            Permissions = 1 << 39
	ModerateMembers                  Permissions = 1 << 40
	ViewCreatorMonetizationAnalytics Permissions = 1 << 41
	UseSoundboard                    Permissions = 1 << 42
	CreateGuildExpressions           Permissions = 1 << 43
	CreateEvents                     Permissions = 1 << 44
	UseExternalSounds                Permissions = 1 << 45
	SendVoiceMessages                Permissions = 1 << 46
	SetVoiceChannelStatus            Permissions = 1 << 48
	SendPolls                        Permissions = 1 << 49
	UseExternalApps                  Permissions = 1 << 50
	PinMessages                      Permissions = 1 << 51
	BypassSlowmode                   Permissions = 1 << 52
)

// permissionNames is in bit order; "" marks a bit Discord has withdrawn.
var permissionNames = [...]string{
	"CREATE_INSTANT_INVITE", "KICK_MEMBERS", "BAN_MEMBERS", "ADMINISTRATOR", "MANAGE_CHANNELS", "MANAGE_GUILD",
	"ADD_REACTIONS", "VIEW_AUDIT_LOG", "PRIORITY_SPEAKER", "STREAM", "VIEW_CHANNEL", "SEND_MESSAGES",
	"SEND_TTS_MESSAGES", "MANAGE_MESSAGES", "EMBED_LINKS", "ATTACH_FILES", "READ_MESSAGE_HISTORY",
	"MENTION_EVERYONE", "USE_EXTERNAL_EMOJIS", "VIEW_GUILD_INSIGHTS", "CONNECT", "SPEAK", "MUTE_MEMBERS",
	"DEAFEN_MEMBERS", "MOVE_MEMBERS", "USE_VAD", "CHANGE_NICKNAME", "MANAGE_NICKNAMES", "MANAGE_ROLES",
	"MANAGE_WEBHOOKS", "MANAGE_GUILD_EXPRESSIONS", "USE_APPLICATION_COMMANDS", "REQUEST_TO_SPEAK",
	"MANAGE_EVENTS", "MANAGE_THREADS", "CREATE_PUBLIC_THREADS", "CREATE_PRIVATE_THREADS",
	"USE_EXTERNAL_STICKERS", "SEND_MESSAGES_IN_THREADS", "USE_EMBEDDED_ACTIVITIES", "MODERATE_MEMBERS",
	"VIEW_CREATOR_MONETIZATION_ANALYTICS", "USE_SOUNDBOARD", "CREATE_GUILD_EXPRESSIONS", "CREATE_EVENTS",
	"USE_EXTERNAL_SOUNDS", "SEND_VOICE_MESSAGES", "", "SET_VOICE_CHANNEL_STATUS", "SEND_POLLS",
	"USE_EXTERNAL_APPS", "PIN_MESSAGES", "BYPASS_SLOWMODE",
}

// KnownPermissions is every bit that has a name: what an owner or an
// administrator holds.
var KnownPermissions = func() (all Permissions) {
	for bit, name := range permissionNames {
		if name != "" {
			all |= 1 << bit
		}
	}
	return all
}()

// Has reports whether every bit of want is in p.
func (p Permissions) Has(want Permissions) bool { return p&want == want }

// Names lists the set's permissions in bit order, a bit without a name as
// "BIT_n". The empty set gives an empty, non-nil list.
func (p Permissions) Names() []string {
	names := make([]string, 0, bits.OnesCount64(uint64(p)))
	for rest := uint64(p); rest != 0; rest &= rest - 1 {
		bit := bits.TrailingZeros64(rest)
		if bit < len(permissionNames) && permissionNames[bit] != "" {
			names = append(names, permissionNames[bit])
		} else {
			names = append(names, fmt.Sprintf("BIT_%d", bit))
		}
	}
	return names
}

// String lists the names, separated by commas.
func (p Permissions) String() string { return strings.Join(p.Names(), ", ") }

// PermissionName is a permission by its name: VIEW_CHANNEL.
type PermissionName string

// manageEmojis is what MANAGE_GUILD_EXPRESSIONS was called before.
const manageEmojis PermissionName = "MANAGE_EMOJIS_AND_STICKERS"

// JSONSchema is the schema that a name publishes: an enumeration of all.
func (PermissionName) JSONSchema() string {
	names := append(KnownPermissions.Names(), string(manageEmojis))
	return `{"type":"string","enum":["` + strings.Join(names, `","`) + `"]}`
}

// Permission is the permission of that name, 0 where there is none.
func (n PermissionName) Permission() Permissions {
	if n == manageEmojis {
		return ManageGuildExpressions
	}
	for bit, name := range permissionNames {
		if name == string(n) && name != "" {
			return 1 << bit
		}
	}
	return 0
}
