package sandbox

import (
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// world is all that the sandbox's Discord knows. [Discord] guards it.
type world struct {
	clock   func() time.Time
	last    uint64            // newest id issued for the present
	serials map[uint64]uint64 // ids issued for chosen moments, by millisecond

	users    map[discord.UserID]*User
	guilds   map[discord.GuildID]*guild
	channels map[discord.ChannelID]*channel
	webhooks map[discord.WebhookID]*Webhook
	invites  map[string]*Invite           // by code; nil is none
	stages   map[discord.ChannelID]*Stage // that are live; nil is none
	played   []Played

	interactions map[discord.InteractionID]*interaction // nil is none

	app    application
	access map[string]grantedAccess // by token
}

func newWorld(clock func() time.Time) world {
	return world{
		clock:    clock,
		serials:  map[uint64]uint64{},
		users:    map[discord.UserID]*User{},
		guilds:   map[discord.GuildID]*guild{},
		channels: map[discord.ChannelID]*channel{},
		webhooks: map[discord.WebhookID]*Webhook{},
		app:      newApplication(),
		access:   map[string]grantedAccess{},
	}
}

// guild is a guild with what belongs to it. Its channels are in
// [world.channels].
type guild struct {
	Guild
	roles    map[discord.RoleID]*Role
	members  map[discord.UserID]*Member
	emojis   map[discord.EmojiID]*Emoji
	stickers map[discord.StickerID]*Sticker
	audit    []AuditEntry // oldest first
	commands commandMap
	grants   map[discord.CommandID][]CommandGrant // who may use a command; the application's id names all

	integrations map[discord.IntegrationID]*Integration // nil is none
	voice        map[discord.UserID]*VoiceState         // who is in a voice channel; nil is nobody
	bans         map[discord.UserID]Ban                 // nil is none
	welcome      *WelcomeScreen                         // nil is none
	onboarding   *Onboarding                            // nil is none
	events       map[discord.EventID]*Event             // nil is none
	sounds       map[discord.SoundID]*Sound             // nil is none
	rules        map[discord.RuleID]*AutoModRule        // nil is none
	template     *Template                              // nil is none
}

// channel is a channel or thread with its messages, oldest first.
type channel struct {
	Channel
	messages []*Message
}

// User is an account.
type User struct {
	ID            discord.UserID
	Name          string // user name
	GlobalName    string // display name; "" is none
	Discriminator string // "" means "0", as people have it
	Avatar        string // hash; "" is none
	Banner        string // hash; "" is none
	Bot, System   bool
	Flags         int
}

// Guild is a guild's own settings. Its roles, members and channels are added
// and read apart.
type Guild struct {
	ID          discord.GuildID
	Name        string
	Description string
	Icon        string // hash; "" is none
	Banner      string // hash
	Splash      string // hash
	Owner       discord.UserID
	Features    []string
	Locale      string // "" means "en-US"

	AFKChannel     discord.ChannelID
	AFKTimeout     int // seconds; 0 means 300
	SystemChannel  discord.ChannelID
	SystemFlags    int
	RulesChannel   discord.ChannelID
	UpdatesChannel discord.ChannelID
	SafetyChannel  discord.ChannelID
	WidgetEnabled  bool
	WidgetChannel  discord.ChannelID

	Verification   int
	Notifications  int // default_message_notifications
	ContentFilter  int
	MFALevel       int
	NSFWLevel      int
	PremiumTier    int
	Boosts         int
	ProgressBar    bool
	Vanity         string    // invite code; "" is none
	InvitesOffTill time.Time // incident action; zero is none
	DMsOffTill     time.Time

	DiscoverySplash string // hash
	HomeHeader      string // hash
}

// Role is a role of a guild. The role @everyone has the guild's id.
type Role struct {
	ID           discord.RoleID
	Name         string
	Permissions  discord.Permissions
	Position     int  // @everyone is 0; higher outranks
	Color        int  // primary colour, 0xRRGGBB
	Secondary    *int // of a gradient
	Tertiary     *int // of a holographic role
	Hoist        bool
	Mentionable  bool
	Managed      bool
	Icon         string // hash
	UnicodeEmoji string
	Flags        int

	Bot         discord.UserID        // the bot whose managed role this is
	Integration discord.IntegrationID // the integration that manages it
	Booster     bool                  // the role of the guild's boosters
}

// Member is a user in a guild.
type Member struct {
	User         discord.UserID
	Nick         string
	Avatar       string // hash of the guild avatar
	Banner       string // hash of the guild banner
	Roles        []discord.RoleID
	Joined       time.Time // zero: a month before it was added
	TimeoutUntil time.Time
	BoostingFrom time.Time
	Mute, Deaf   bool
	Pending      bool
	Flags        int
}

// Channel is a guild channel, a thread or a direct message channel.
type Channel struct {
	ID         discord.ChannelID
	Guild      discord.GuildID // "" for direct messages
	Type       discord.ChannelType
	Name       string
	Topic      string
	Parent     discord.ChannelID // the category; for a thread the channel it is in
	Position   int
	Overwrites []discord.Overwrite
	NSFW       bool
	SlowMode   int // seconds
	Flags      int
	LastPin    time.Time

	Bitrate, UserLimit int
	Region             string // "" is automatic
	VideoQuality       int    // 0 means 1
	Status             string // of a voice channel

	ThreadArchive  int // minutes, for new threads; 0 means Discord's default
	ThreadSlowMode int // seconds, for new threads
	Tags           []Tag
	Reaction       *EmojiRef // default reaction of posts
	SortOrder      *int
	Layout         int
	TagSetting     string

	Thread     *Thread // threads alone
	Recipients []discord.UserID
}

// Tag is a tag that posts of a forum can carry.
type Tag struct {
	ID        discord.TagID
	Name      string
	Moderated bool
	Emoji     *EmojiRef
}

// EmojiRef names an emoji: a guild's by ID, a Unicode one by Name alone.
type EmojiRef struct {
	ID       discord.EmojiID
	Name     string
	Animated bool
}

// Thread is what a channel has because it is a thread.
type Thread struct {
	Owner       discord.UserID
	Archived    bool
	Locked      bool
	Invitable   bool // private threads
	ArchivedAt  time.Time
	AutoArchive int // minutes; 0 means 1440
	Applied     []discord.TagID
	Members     []ThreadMember
	TotalSent   int
}

// ThreadMember is someone who follows a thread.
type ThreadMember struct {
	User   discord.UserID
	Joined time.Time
}

// Emoji is a guild's own emoji.
type Emoji struct {
	ID       discord.EmojiID
	Name     string
	Animated bool
	Managed  bool
	Roles    []discord.RoleID
	By       discord.UserID
}

// Sticker is a guild's own sticker.
type Sticker struct {
	ID          discord.StickerID
	Name        string
	Description string
	Tags        string
	Format      int // 0 means 1, PNG
	By          discord.UserID
}

// Webhook is a webhook: Type 1 posts, 2 follows an announcement channel, 3
// belongs to an application.
type Webhook struct {
	ID      discord.WebhookID
	Type    int
	Guild   discord.GuildID
	Channel discord.ChannelID
	By      discord.UserID
	Name    string
	Avatar  string
	Token   string // type 1: who has it acts as the webhook
	Source  discord.ChannelID
}
