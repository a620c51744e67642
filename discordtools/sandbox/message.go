package sandbox

import (
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Message is a message as it is stored. Its time is its id's.
type Message struct {
	ID          discord.MessageID
	Channel     discord.ChannelID
	Author      discord.UserID
	Webhook     discord.WebhookID     // set when a webhook sent it; Author is then the webhook's id
	AuthorName  string                // a webhook message's name
	Application discord.ApplicationID // set when it answers an interaction; Webhook has the same id then
	Interaction discord.InteractionID
	Type        int
	Content     string
	Embeds      []Embed
	Attachments []Attachment
	Components  []Component
	Stickers    []discord.StickerID
	Poll        *Poll
	Flags       int
	TTS         bool
	Nonce       string // as sent, in JSON
	Reference   *Reference
	Forwarded   *Message // what a forward carries
	Edited      time.Time
	Pinned      time.Time // zero: not pinned
	Reactions   []Reaction
	Thread      discord.ChannelID // started from this message

	// Mentions are what the content mentions and allowed_mentions let through.
	Mentions Mentions
	// Notified is whom sending it pinged; an edit pings nobody.
	Notified Mentions
}

// Mentions is a set of targets of mentions.
type Mentions struct {
	Everyone bool
	Roles    []discord.RoleID
	Users    []discord.UserID
}

// Nobody reports whether m is empty.
func (m Mentions) Nobody() bool { return !m.Everyone && len(m.Roles) == 0 && len(m.Users) == 0 }

// Reference points from a message to another: Type 0 a reply, 1 a forward.
type Reference struct {
	Type    int
	Guild   discord.GuildID
	Channel discord.ChannelID
	Message discord.MessageID
}

// Attachment is a file of a message; its bytes are not kept.
type Attachment struct {
	ID          discord.AttachmentID
	Name        string
	Description string
	ContentType string
	Size        int
	Spoiler     bool
}

// Reaction is an emoji under a message with those who chose it, in order.
type Reaction struct {
	Emoji EmojiRef
	Users []discord.UserID
}

// Poll is a poll of a message.
type Poll struct {
	Question string
	Answers  []PollAnswer
	Multi    bool
	Expires  time.Time
	Final    bool
}

// PollAnswer is a choice of a poll; its id is its place, counted from 1.
type PollAnswer struct {
	Text   string
	Emoji  *EmojiRef
	Voters []discord.UserID
}

// Flags and types of messages.
const (
	flagCrossposted    = 1 << 0
	flagIsCrosspost    = 1 << 1
	flagSuppressEmbeds = 1 << 2
	flagHasThread      = 1 << 5
	flagEphemeral      = 1 << 6
	flagLoading        = 1 << 7
	flagSilent         = 1 << 12
	flagVoiceMessage   = 1 << 13
	flagHasSnapshot    = 1 << 14
	flagComponentsV2   = 1 << 15

	typePinNotice     = 6
	typeFollowNotice  = 12
	typeThreadCreated = 18
	typeReply         = 19
	typeCommandAnswer = 20
	typeThreadStarter = 21
	typeAutoMod       = 24
)
