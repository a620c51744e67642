package discord

// Intents are gateway intents that decide what an application may read, also
// over REST.
type Intents uint32

// The privileged intents.
const (
	GuildMembers   Intents = 1 << 1
	GuildPresences Intents = 1 << 8
	MessageContent Intents = 1 << 15
)

// Names lists the set's intents in bit order.
func (i Intents) Names() []string {
	names := []string{}
	for _, n := range []struct {
		bit  Intents
		name string
	}{{GuildMembers, "GUILD_MEMBERS"}, {GuildPresences, "GUILD_PRESENCES"}, {MessageContent, "MESSAGE_CONTENT"}} {
		if i&n.bit != 0 {
			names = append(names, n.name)
		}
	}
	return names
}

// ChannelType is the kind of a channel.
//
// Source: https://docs.discord.com/developers/resources/channel#channel-object-channel-types.
type ChannelType int

// The channel types.
const (
	GuildText          ChannelType = 0
	DM                 ChannelType = 1
	GuildVoice         ChannelType = 2
	GroupDM            ChannelType = 3
	GuildCategory      ChannelType = 4
	GuildAnnouncement  ChannelType = 5
	AnnouncementThread ChannelType = 10
	PublicThread       ChannelType = 11
	PrivateThread      ChannelType = 12
	GuildStageVoice    ChannelType = 13
	GuildDirectory     ChannelType = 14
	GuildForum         ChannelType = 15
	GuildMedia         ChannelType = 16
)

// IsThread reports whether channels of this type are threads.
func (t ChannelType) IsThread() bool {
	return t == AnnouncementThread || t == PublicThread || t == PrivateThread
}

// HoldsPosts reports whether channels of this type hold posts (threads that
// start with a message) instead of messages.
func (t ChannelType) HoldsPosts() bool { return t == GuildForum || t == GuildMedia }

var channelTypeNames = map[ChannelType]string{
	GuildText: "text channel", DM: "direct message", GuildVoice: "voice channel", GroupDM: "group direct message",
	GuildCategory: "category", GuildAnnouncement: "announcement channel", AnnouncementThread: "announcement thread",
	PublicThread: "public thread", PrivateThread: "private thread", GuildStageVoice: "stage channel",
	GuildDirectory: "directory", GuildForum: "forum", GuildMedia: "media channel",
}

// String is the type in words.
func (t ChannelType) String() string {
	if name, ok := channelTypeNames[t]; ok {
		return name
	}
	return "channel of an unknown type"
}

// MaxReason is the length Discord allows an audit-log reason, in characters.
const MaxReason = 512
