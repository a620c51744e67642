package discordtools

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// messageFields are what every view of a message shows.
type messageFields struct {
	AuthorID    discord.UserID    `json:"author_id" from:"author.id"`
	AuthorName  string            `json:"author_name" from:"author.global_name|author.username"`
	Content     string            `json:"content"`
	Timestamp   string            `json:"timestamp"`
	Edited      bool              `json:"edited" from:"@derived"`
	EditedAt    string            `json:"edited_timestamp,omitempty"`
	Type        int               `json:"type,omitempty"`
	Flags       int               `json:"flags,omitempty"`
	ReplyTo     discord.MessageID `json:"reply_to,omitempty" from:"message_reference.message_id"`
	ThreadID    discord.ChannelID `json:"thread_id,omitempty" from:"thread.id"`
	Embeds      []embedView       `json:"embeds,omitempty"`
	Attachments []attachmentView  `json:"attachments,omitempty"`
	Components  []json.RawMessage `json:"components,omitempty"`
	Reactions   []reactionView    `json:"reactions,omitempty"`
	Stickers    []stickerItem     `json:"sticker_items,omitempty"`
	Poll        *pollView         `json:"poll,omitempty"`
	Forwarded   []json.RawMessage `json:"message_snapshots,omitempty"`
}

type embedView struct {
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	URL         string           `json:"url,omitempty"`
	Author      string           `json:"author,omitempty" from:"author.name"`
	Footer      string           `json:"footer,omitempty" from:"footer.text"`
	Image       string           `json:"image,omitempty" from:"image.url"`
	Fields      []embedFieldView `json:"fields,omitempty"`
}

type embedFieldView struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type attachmentView struct {
	ID          discord.AttachmentID `json:"id"`
	Filename    string               `json:"filename"`
	Size        int                  `json:"size"`
	URL         string               `json:"url"`
	ContentType string               `json:"content_type,omitempty"`
	Description string               `json:"description,omitempty"`
}

type reactionView struct {
	EmojiID   discord.EmojiID `json:"emoji_id,omitempty" from:"emoji.id"`
	EmojiName string          `json:"emoji_name" from:"emoji.name"`
	Count     int             `json:"count"`
	Me        bool            `json:"me,omitempty"`
}

type stickerItem struct {
	ID   discord.StickerID `json:"id"`
	Name string            `json:"name"`
}

type pollView struct {
	Question string           `json:"question" from:"question.text"`
	Answers  []pollAnswerView `json:"answers"`
	Expiry   string           `json:"expiry,omitempty"`
	Final    bool             `json:"is_finalized,omitempty" from:"results.is_finalized"`
}

type pollAnswerView struct {
	AnswerID int    `json:"answer_id"`
	Text     string `json:"text" from:"poll_media.text"`
}

// text is everything readable in the message, for a fence.
func (m *messageFields) text() string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	add(m.Content)
	for _, c := range m.Components {
		textDisplays(c, add)
	}
	for _, e := range m.Embeds {
		add(e.Author)
		add(e.Title)
		add(e.Description)
		for _, f := range e.Fields {
			add(f.Name)
			add(f.Value)
		}
		add(e.Footer)
	}
	for _, a := range m.Attachments {
		add("[attachment " + a.Filename + "] " + a.Description)
	}
	for _, s := range m.Stickers {
		add("[sticker " + s.Name + "]")
	}
	if m.Poll != nil {
		add("[poll] " + m.Poll.Question)
		for _, a := range m.Poll.Answers {
			add("- " + a.Text)
		}
	}
	for _, f := range m.Forwarded {
		var snapshot struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		}
		if json.Unmarshal(f, &snapshot) == nil {
			add("[forwarded] " + snapshot.Message.Content)
		}
	}
	return strings.Join(parts, "\n")
}

// blank reports an ordinary message in which nothing is to be seen. Discord
// takes no empty message, so its text was withheld.
func (m *messageFields) blank() bool {
	const withMoreThanText = 1<<7 | 1<<13 // loading, voice message
	return m.Content == "" && m.Flags&withMoreThanText == 0 && slices.Contains(written, m.Type) && m.text() == ""
}

// written are the types of messages that somebody wrote: default, reply, and
// the answers to commands.
var written = []int{0, 19, 20, 23}

// textDisplays passes the text of components at any depth to add.
func textDisplays(raw json.RawMessage, add func(string)) {
	var c struct {
		Content    string            `json:"content"`
		Components []json.RawMessage `json:"components"`
		Accessory  json.RawMessage   `json:"accessory"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return
	}
	add(c.Content)
	for _, inner := range c.Components {
		textDisplays(inner, add)
	}
}

// withheld explains blank messages.
const withheld = "The text of some messages is withheld: the application lacks the MESSAGE CONTENT intent. The operator can enable it in Discord's developer portal, under Bot. Do not treat these messages as empty."

// noHistory explains an empty page.
const noHistory = "Nothing came back. Discord also answers like this when the bot lacks READ_MESSAGE_HISTORY in the channel, so this does not prove that nobody wrote anything."

// shown is a message of a view, and its id.
type shown struct {
	id discord.MessageID
	*messageFields
}

// finish works out what follows from the messages' other fields, and what there
// is to warn of.
func finish(all ...shown) remarks {
	if len(all) == 0 {
		return remarks{[]string{noHistory}}
	}
	var r remarks
	for _, m := range all {
		m.Edited = m.EditedAt != ""
		if r.Warnings == nil && m.blank() {
			r.Warnings = []string{withheld}
		}
	}
	return r
}

// fenced is the messages for people.
func fenced(channel discord.ChannelID, all ...shown) string {
	items := make([]fence.Item, len(all))
	for i, m := range all {
		items[i] = fence.Item{ID: string(m.id), Author: m.AuthorName, Content: m.text()}
	}
	return fence.Messages(string(channel), items)
}
