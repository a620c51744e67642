package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// contentView is the part of a message that a forward carries as well.
type contentView struct {
	Type         int              `json:"type"`
	Content      string           `json:"content"`
	Mentions     []userView       `json:"mentions"`
	MentionRoles []discord.RoleID `json:"mention_roles"`
	Attachments  []attachmentView `json:"attachments"`
	Embeds       []embedView      `json:"embeds"`
	Timestamp    string           `json:"timestamp"`
	Edited       *string          `json:"edited_timestamp"`
	Flags        int              `json:"flags"`
	Components   []Component      `json:"components"`
	Stickers     []stickerItem    `json:"sticker_items,omitempty"`
}

type messageView struct {
	contentView
	ID          discord.MessageID     `json:"id"`
	Channel     discord.ChannelID     `json:"channel_id"`
	Author      userView              `json:"author"`
	Pinned      bool                  `json:"pinned"`
	Everyone    bool                  `json:"mention_everyone"`
	TTS         bool                  `json:"tts"`
	Webhook     discord.WebhookID     `json:"webhook_id,omitempty"`
	Application discord.ApplicationID `json:"application_id,omitempty"`
	Nonce       json.RawMessage       `json:"nonce,omitempty"`
	Reference   *referenceView        `json:"message_reference,omitempty"`
	Snapshots   []snapshotView        `json:"message_snapshots,omitempty"`
	Reactions   []reactionCount       `json:"reactions,omitempty"`
	Poll        *pollView             `json:"poll,omitempty"`
	Thread      *channelView          `json:"thread,omitempty"`
	Position    *int                  `json:"position,omitempty"`
	Referenced  *referenced           `json:"referenced_message,omitempty"`
}

// referenced is the message replied to, null when it is gone.
type referenced struct{ message *messageView }

func (r *referenced) MarshalJSON() ([]byte, error) { return json.Marshal(r.message) }

type snapshotView struct {
	Message contentView `json:"message"`
}

type stickerItem struct {
	ID     discord.StickerID `json:"id"`
	Name   string            `json:"name"`
	Format int               `json:"format_type"`
}

type referenceView struct {
	Type    int               `json:"type"`
	Channel discord.ChannelID `json:"channel_id"`
	Message discord.MessageID `json:"message_id,omitempty"`
	Guild   discord.GuildID   `json:"guild_id,omitempty"`
}

type attachmentView struct {
	ID          discord.AttachmentID `json:"id"`
	Filename    string               `json:"filename"`
	Size        int                  `json:"size"`
	URL         string               `json:"url"`
	ProxyURL    string               `json:"proxy_url"`
	Description string               `json:"description,omitempty"`
	ContentType string               `json:"content_type,omitempty"`
}

type reactionCount struct {
	Emoji   emojiRefView `json:"emoji"`
	Count   int          `json:"count"`
	Details struct {
		Burst  int `json:"burst"`
		Normal int `json:"normal"`
	} `json:"count_details"`
	BurstColors []string `json:"burst_colors"`
	MeBurst     bool     `json:"me_burst"`
	Me          bool     `json:"me"`
}

// viewMessage is a message as the bot gets it: without the message content
// intent the contents of others are blank.
func (x *exchange) viewMessage(c *channel, m *Message) messageView {
	v := x.basicMessage(c, m)
	if m.Reference != nil && m.Type == typeReply {
		v.Referenced = &referenced{}
		if from := x.channels[m.Reference.Channel]; from != nil {
			if _, original := from.find(m.Reference.Message); original != nil {
				basic := x.basicMessage(from, original)
				v.Referenced.message = &basic
			}
		}
	}
	v.Reactions = mapped(m.Reactions, x.viewReaction)
	return v
}

// basicMessage is a message without reactions and without the one it answers.
func (x *exchange) basicMessage(c *channel, m *Message) messageView {
	v := messageView{
		contentView: x.viewContent(m, x.readable(c, m)), ID: m.ID, Channel: c.ID, Author: x.user(m.Author),
		Pinned: !m.Pinned.IsZero(), Everyone: m.Mentions.Everyone, TTS: m.TTS, Webhook: m.Webhook, Nonce: json.RawMessage(m.Nonce),
		Application: m.Application,
	}
	if m.Webhook != "" && m.Application == "" {
		v.Author = userView{ID: m.Author, Username: m.AuthorName, Discriminator: "0000", Bot: true}
	}
	if r := m.Reference; r != nil {
		v.Reference = &referenceView{r.Type, r.Channel, r.Message, r.Guild}
	}
	if m.Forwarded != nil {
		v.Snapshots = []snapshotView{{x.viewContent(m.Forwarded, true)}}
	}
	if m.Poll != nil && x.readable(c, m) {
		v.Poll = x.viewPoll(m.Poll)
	}
	if t := x.channels[m.Thread]; t != nil {
		thread := x.viewChannel(t)
		v.Thread = &thread
	}
	return v
}

// readable reports whether the bot gets a message's content.
//
// Source: https://docs.discord.com/developers/events/gateway#message-content-intent.
func (x *exchange) readable(c *channel, m *Message) bool {
	return !x.options.WithoutMessageContent || m.Author == x.actor || c.Guild == "" || slices.Contains(m.Mentions.Users, x.actor)
}

func (x *exchange) viewContent(m *Message, readable bool) contentView {
	v := contentView{
		Type: m.Type, Timestamp: stamp(sentAt(m.ID)), Edited: stampOrNull(m.Edited), Flags: m.Flags,
		Mentions: mapped(m.Mentions.Users, x.user), MentionRoles: list(m.Mentions.Roles),
		Attachments: []attachmentView{}, Embeds: []embedView{}, Components: []Component{},
	}
	if readable {
		v.Content = m.Content
		v.Attachments = mapped(m.loose(), func(a Attachment) attachmentView { return viewAttachment(m.Channel, a) })
		v.Embeds, v.Components = mapped(m.Embeds, viewEmbed), list(m.Components)
		if m.Flags&flagSuppressEmbeds != 0 {
			v.Embeds = []embedView{}
		}
	}
	for _, id := range m.Stickers {
		if s, _ := x.sticker(id); s != nil {
			v.Stickers = append(v.Stickers, stickerItem{s.ID, s.Name, max(s.Format, 1)})
		}
	}
	return v
}

func viewAttachment(in discord.ChannelID, a Attachment) attachmentView {
	at := fmt.Sprintf("attachments/%s/%s/%s", in, a.ID, a.Name)
	return attachmentView{
		ID: a.ID, Filename: a.Name, Size: a.Size, URL: "https://cdn.discordapp.com/" + at,
		ProxyURL: "https://media.discordapp.net/" + at, Description: a.Description, ContentType: a.ContentType,
	}
}

func (x *exchange) viewReaction(r Reaction) reactionCount {
	v := reactionCount{
		Emoji: viewEmojiRef(r.Emoji), Count: len(r.Users), BurstColors: []string{}, Me: slices.Contains(r.Users, x.actor),
	}
	v.Details.Normal = len(r.Users)
	return v
}

// sticker finds a sticker of any guild of the bot.
func (x *exchange) sticker(id discord.StickerID) (*Sticker, *guild) {
	for _, g := range x.guilds {
		if s := g.stickers[id]; s != nil && g.members[x.actor] != nil {
			return s, g
		}
	}
	return nil, nil
}
