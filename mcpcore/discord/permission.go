package discord

import (
	"fmt"
	"math/big"
	"math/bits"
	"strings"
)

// Permissions is a set of permission bits. Bits that this build does not know
// are kept. Discord writes a set as a decimal string of any length; bits above
// 63, none of which is assigned, are not representable here, so nothing that
// writes a set back may go through this type: it sends the caller's string.
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

// PermissionSet is a set as Discord writes it: a decimal string of any length.
type PermissionSet string

// JSONSchema is the schema a permission set publishes.
func (PermissionSet) JSONSchema() string { return `{"type":"string","pattern":"^[0-9]{1,32}$"}` }

// Permissions reads the set. Bits above 63 are dropped; see [Permissions].
func (s PermissionSet) Permissions() (Permissions, error) {
	n, ok := new(big.Int).SetString(string(s), 10)
	if !ok || n.Sign() < 0 || s == "" || s[0] == '+' {
		return 0, fmt.Errorf("%.40q is not a decimal permission set", string(s))
	}
	return Permissions(new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)).Uint64()), nil
}

// Overlap names what two sets share, bits above 63 included.
func (s PermissionSet) Overlap(t PermissionSet) []string {
	a, okA := new(big.Int).SetString(string(s), 10)
	b, okB := new(big.Int).SetString(string(t), 10)
	if !okA || !okB {
		return nil
	}
	both := a.And(a, b)
	names := Permissions(new(big.Int).And(both, new(big.Int).SetUint64(1<<64-1)).Uint64()).Names()
	for bit := 64; bit < both.BitLen(); bit++ {
		if both.Bit(bit) == 1 {
			names = append(names, fmt.Sprintf("BIT_%d", bit))
		}
	}
	return names
}

// Overwrite changes permissions in one channel for a role (Type 0) or a member
// (Type 1).
type Overwrite struct {
	ID    OverwriteID
	Type  int
	Allow Permissions
	Deny  Permissions
}

// The two kinds of [Overwrite].
const (
	OverwriteRole   = 0
	OverwriteMember = 1
)

// Base is what a member may do in a guild before any channel is looked at: the
// bits of @everyone and of the member's roles; every known bit for the owner
// and for administrators.
func Base(owner bool, roles ...Permissions) Permissions {
	var p Permissions
	for _, r := range roles {
		p |= r
	}
	if owner || p.Has(Administrator) {
		return p | KnownPermissions
	}
	return p
}

// InChannel applies a channel's overwrites to base: @everyone first, then all
// of the member's roles together (deny before allow), then the member. everyone
// is the guild's id, which is also the id of the role @everyone. Administrators
// are not limited by overwrites. A thread has the overwrites of its parent.
func InChannel(base Permissions, everyone GuildID, member UserID, roles []RoleID, over []Overwrite) Permissions {
	if base.Has(Administrator) {
		return base
	}
	held := make(map[OverwriteID]bool, len(roles))
	for _, r := range roles {
		held[OverwriteID(r)] = true
	}
	var all, some, own Overwrite
	for _, o := range over {
		switch {
		case o.Type == OverwriteRole && o.ID == OverwriteID(everyone):
			all = o
		case o.Type == OverwriteRole && held[o.ID]:
			some.Allow |= o.Allow
			some.Deny |= o.Deny
		case o.Type == OverwriteMember && o.ID == OverwriteID(member):
			own = o
		}
	}
	for _, o := range []Overwrite{all, some, own} {
		base = base&^o.Deny | o.Allow
	}
	return base
}

// DuringTimeout is what is left of p while the member is timed out. The owner
// and administrators cannot be timed out; the caller leaves them alone.
func DuringTimeout(p Permissions) Permissions { return p & (ViewChannel | ReadMessageHistory) }
