package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

var (
	errNotText       = badRequest(50008, "Cannot send messages in a non-text channel")
	errEmptyMessage  = badRequest(50006, "Cannot send an empty message")
	errNoHistory     = forbidden(160002, "Cannot reply without permission to read message history")
	errThreadLocked  = badRequest(160005, "Thread is locked")
	errUnknownStick  = badRequest(50081, "Invalid sticker sent")
	errReplyToSystem = "Cannot reply to a system message"
)

// maxContent is what a bot's message holds, in characters.
const maxContent = 2000

// messageBody is what every message that is sent consists of.
type messageBody struct {
	Content    opt[string]              `json:"content"`
	Embeds     opt[[]embedForm]         `json:"embeds" maxItems:"10"`
	Allowed    opt[allowedMentions]     `json:"allowed_mentions"`
	Stickers   opt[[]discord.StickerID] `json:"sticker_ids" maxItems:"3"`
	Components opt[[]componentForm]     `json:"components" maxItems:"40"`
	Flags      opt[int]                 `json:"flags"`
	Files      opt[[]attachmentForm]    `json:"attachments" maxItems:"10"`
	Poll       opt[pollForm]            `json:"poll"`
}

type messageForm struct {
	messageBody
	Reference    opt[referenceForm]   `json:"message_reference"`
	Nonce        opt[json.RawMessage] `json:"nonce"`
	EnforceNonce opt[bool]            `json:"enforce_nonce"`
	TTS          opt[bool]            `json:"tts"`
}

type referenceForm struct {
	Guild   opt[discord.GuildID]   `json:"guild_id"`
	Channel opt[discord.ChannelID] `json:"channel_id"`
	Message discord.MessageID      `json:"message_id"`
	Fail    opt[bool]              `json:"fail_if_not_exists"`
	Type    opt[int]               `json:"type" enum:"0,1"`
}

type attachmentForm struct {
	ID          discord.AttachmentID `json:"id"`
	Name        opt[string]          `json:"filename" minLength:"1" maxLength:"1024"`
	Description opt[string]          `json:"description" maxLength:"1024"`
	Spoiler     opt[bool]            `json:"is_spoiler"`
}

// createMessage sends a message. A nonce that is enforced gives back the message
// that the bot sent with it in the last minutes.
func createMessage(x *exchange, c *channel) (answer, error) {
	if err := x.maySend(c); err != nil {
		return refuse(err)
	}
	var f messageForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	nonce, err := f.nonce()
	if err != nil {
		return refuse(err)
	}
	if nonce != "" && f.EnforceNonce.value {
		if m := c.sentWith(nonce, x.actor, x.now); m != nil {
			return ok(x.viewMessage(c, m))
		}
	}
	m := &Message{Channel: c.ID, Author: x.actor, TTS: f.TTS.value, Nonce: nonce}
	if m.TTS && !x.allowed(c, discord.SendTTSMessages) {
		return refuse(errMissingPermissions)
	}
	if err := x.refer(c, m, f.Reference); err != nil {
		return refuse(err)
	}
	if err := x.compose(c, m, f.messageBody); err != nil {
		return refuse(err)
	}
	if err := x.moderate(c, m); err != nil {
		return refuse(err)
	}
	x.send(c, m)
	return ok(x.viewMessage(c, m))
}

// maySend reports why the bot cannot send into a channel.
func (x *exchange) maySend(c *channel) error {
	switch {
	case c.Type == discord.GuildCategory || c.Type.HoldsPosts() || c.Type == discord.GuildDirectory:
		return errNotText
	case c.Thread == nil:
		return x.need(c, discord.SendMessages)
	case c.Thread.Locked && !x.allowed(c, discord.ManageThreads):
		return errThreadLocked
	}
	return x.need(c, discord.SendMessagesInThreads)
}

// nonce is the nonce as JSON, "" when there is none.
func (f *messageForm) nonce() (string, error) {
	if !f.Nonce.has() {
		return "", nil
	}
	raw := f.Nonce.value
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if utf8.RuneCountInString(text) > 25 {
			return "", invalid("nonce", "NONCE_TYPE_TOO_LONG", "Must be 25 or fewer in length.")
		}
		return string(raw), nil
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); err != nil {
		return "", invalid("nonce", "NUMBER_TYPE_COERCE", "Value %q is not int.", string(raw))
	}
	return string(raw), nil
}

// sentWith is the author's message of the last minutes with a nonce.
func (c *channel) sentWith(nonce string, author discord.UserID, now time.Time) *Message {
	for i := len(c.messages) - 1; i >= 0 && now.Sub(sentAt(c.messages[i].ID)) < 5*time.Minute; i-- {
		if m := c.messages[i]; m.Nonce == nonce && m.Author == author {
			return m
		}
	}
	return nil
}

// refer makes m a reply to, or a forward of, another message.
func (x *exchange) refer(c *channel, m *Message, ref opt[referenceForm]) error {
	if !ref.has() {
		return nil
	}
	r := ref.value
	from := x.channels[r.Channel.or(c.ID)]
	if r.Type.value == 1 {
		return x.forward(m, from, r)
	}
	if from != c {
		return invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	}
	if !x.allowed(c, discord.ReadMessageHistory) {
		return errNoHistory
	}
	_, original := c.find(r.Message)
	if original == nil {
		if !r.Fail.or(true) {
			return nil
		}
		return invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	}
	if original.Type != 0 && original.Type != typeReply && original.Type != 20 && original.Type != 23 {
		return invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", errReplyToSystem)
	}
	m.Type = typeReply
	m.Reference = &Reference{Guild: c.Guild, Channel: c.ID, Message: original.ID}
	return nil
}

func (x *exchange) forward(m *Message, from *channel, r referenceForm) error {
	if !r.Channel.has() {
		return invalid("message_reference.channel_id", "BASE_TYPE_REQUIRED", "This field is required")
	}
	if from == nil {
		return errUnknownChannel
	}
	if err := x.need(from, discord.ReadMessageHistory); err != nil {
		return err
	}
	_, original := from.find(r.Message)
	if original == nil {
		return errUnknownMessage
	}
	snapshot := original.clone()
	m.Forwarded = &snapshot
	m.Flags |= flagHasSnapshot
	m.Reference = &Reference{Type: 1, Guild: from.Guild, Channel: from.ID, Message: original.ID}
	return nil
}

// compose fills m with what body holds, after checking it and the permissions
// that it takes.
func (x *exchange) compose(c *channel, m *Message, body messageBody) error {
	m.Content = body.Content.value
	if utf8.RuneCountInString(m.Content) > maxContent {
		return invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", maxContent)
	}
	if err := body.Allowed.value.check(); err != nil {
		return err
	}
	const settable = flagSuppressEmbeds | flagSilent | flagVoiceMessage | flagComponentsV2
	m.Flags |= body.Flags.value & settable
	var err error
	if m.Embeds, err = embeds(body.Embeds.value); err != nil {
		return err
	}
	if m.Attachments, err = x.attach(body.Files); err != nil {
		return err
	}
	if body.Poll.has() {
		if m.Poll, err = body.Poll.value.poll(x); err != nil {
			return err
		}
	}
	if m.Components, err = x.components(body.Components.value, m); err != nil {
		return err
	}
	if err := x.stick(c, m, body.Stickers.value); err != nil {
		return err
	}
	if m.empty() {
		return errEmptyMessage
	}
	if err := x.need(c, m.takes()); err != nil {
		return err
	}
	var replied discord.UserID
	if m.Type == typeReply {
		_, original := c.find(m.Reference.Message)
		replied = original.Author
	}
	m.Mentions = x.mentions(c, m.text(), body.Allowed, replied)
	m.Notified = m.Mentions.pinged(m.Author)
	return nil
}

// takes is what sending a message demands beyond sending.
func (m *Message) takes() (need discord.Permissions) {
	if len(m.Embeds) > 0 {
		need |= discord.EmbedLinks
	}
	if len(m.Attachments) > 0 {
		need |= discord.AttachFiles
	}
	if m.Poll != nil {
		need |= discord.SendPolls
	}
	if m.Flags&flagVoiceMessage != 0 {
		need |= discord.SendVoiceMessages
	}
	return need
}

// text is what of a message can mention people: its content and text displays.
func (m *Message) text() string {
	parts := []string{m.Content}
	walk(m.Components, func(c *Component) {
		if c.Type == textDisplay {
			parts = append(parts, c.Content)
		}
	})
	return strings.Join(parts, "\n")
}

func (m *Message) empty() bool {
	return strings.TrimSpace(m.Content) == "" && len(m.Embeds) == 0 && len(m.Attachments) == 0 && len(m.Components) == 0 &&
		len(m.Stickers) == 0 && m.Poll == nil && m.Forwarded == nil
}

// stick adds stickers: those of the channel's guild, or with
// USE_EXTERNAL_STICKERS of another.
func (x *exchange) stick(c *channel, m *Message, ids []discord.StickerID) error {
	for _, id := range ids {
		s, g := x.sticker(id)
		if s == nil {
			return errUnknownStick
		}
		if g.ID != c.Guild && !x.allowed(c, discord.UseExternalStickers) {
			return errMissingPermissions
		}
	}
	m.Stickers = ids
	return nil
}

// attach makes attachments of the files that came with the request; what the
// body says about them goes with each.
func (x *exchange) attach(about opt[[]attachmentForm]) ([]Attachment, error) {
	said := map[int]attachmentForm{}
	for i, a := range about.value {
		n, err := strconv.Atoi(string(a.ID))
		if err != nil || !x.sends(n) {
			return nil, invalid("attachments."+strconv.Itoa(i)+".id", "ATTACHMENT_NOT_FOUND", "Attachment data not found")
		}
		said[n] = a
	}
	var out []Attachment
	for i, f := range x.files {
		if f.name == "" {
			continue
		}
		n := f.index
		if n < 0 {
			n = i
		}
		a := said[n]
		out = append(out, Attachment{
			ID: discord.AttachmentID(x.issue()), Name: fileName(a.Name.or(f.name)), Description: a.Description.value,
			ContentType: contentType(f), Size: len(f.data), Spoiler: a.Spoiler.value,
		})
	}
	if len(out) > 10 {
		return nil, invalid("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	}
	return out, nil
}

// sends reports whether the request carries files[n].
func (x *exchange) sends(n int) bool {
	for _, f := range x.files {
		if f.index == n {
			return true
		}
	}
	return false
}

func contentType(f upload) string {
	if f.contentType != "" && f.contentType != "application/octet-stream" {
		return f.contentType
	}
	return http.DetectContentType(bytes.TrimSpace(f.data))
}

// fileName keeps the characters that Discord keeps.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '_'
		case r > 0x20 && r < 0x7f && !strings.ContainsRune(`"'()[]{}<>|:*?&#%$!@^=+,;`+"`", r):
			return r
		}
		return -1
	}, path.Base(name))
}

// send gives a composed message its id and puts it into the channel. A thread
// that was archived is open again.
func (x *exchange) send(c *channel, m *Message) {
	if m.ID == "" {
		m.ID = discord.MessageID(x.issue())
	}
	if t := c.Thread; t != nil {
		if t.Archived {
			t.Archived, t.ArchivedAt = false, x.now
		}
		if m.Webhook == "" {
			t.join(m.Author, x.now)
		}
	}
	x.store(c, m)
}

// store puts a message where its id belongs.
func (w *world) store(c *channel, m *Message) {
	i, _ := c.find(m.ID)
	c.messages = append(c.messages, nil)
	copy(c.messages[i+1:], c.messages[i:])
	c.messages[i] = m
	if c.Thread != nil && m.Type != typeThreadStarter && string(m.ID) != string(c.ID) {
		c.Thread.TotalSent++
	}
}

func (t *Thread) join(u discord.UserID, at time.Time) {
	if !t.has(u) {
		t.Members = append(t.Members, ThreadMember{u, at})
	}
}
