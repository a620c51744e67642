package workflows

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/internal/components"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// dmFileBytes is Discord's limit for one file without boosts.
//
// Source: https://docs.discord.com/developers/reference#uploading-files.
const dmFileBytes = 10 << 20

// typeReply is the type of replies.
const typeReply = 19

// dmReads are what reads conversations.
var dmReads = []string{routeMe, routeChannel, routeMessage}

type dmFile struct {
	Name string `json:"name" jsonschema:"file name with its ending" pattern:"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"`
	Data string `json:"data" jsonschema:"its bytes as base64, 10 MiB decoded; paths and addresses are not read" minLength:"1"`
}

// form is the file as it is sent; nil for none.
func (f *dmFile) form() []discordtools.Part {
	if f == nil {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(f.Data)
	if err != nil {
		return nil // [dmChange.wanted] refused it
	}
	return []discordtools.Part{{Name: "files[0]", Filename: f.Name, ContentType: "application/octet-stream", Data: data}}
}

// dmContent is what a message says, as Discord keeps it.
type dmContent struct {
	Content    string      `json:"content,omitempty"`
	Components []part      `json:"components,omitempty"`
	Links      []string    `json:"linkOrigins,omitempty"`
	File       *dmFileSeen `json:"file,omitempty"`
}

// dmFileSeen is a file as plans bind it.
type dmFileSeen struct {
	Name   string `json:"name"`
	Size   int    `json:"size"`
	Digest string `json:"digest"`
}

// dmRule demands what each action takes.
var dmRule = mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
	action := c.Text("action")
	contact := action == "send" || action == "reply"
	says := c.Has("content") || c.Has("components") || c.Has("file")
	switch {
	case c.Has("channelId") != (action != "send"):
		return issue("channelId", "goes with reply, edit and delete, which need it; send finds the conversation")
	case c.Has("messageId") != (action != "send"):
		return issue("messageId", "goes with reply, edit and delete, which need it")
	case says != (action != "delete"):
		return issue("content", "or components or a file is needed, but for delete, with which nothing goes")
	case c.Has("components") && (c.Has("content") || c.Has("file")):
		return issue("components", "are all that a message has")
	case c.Has("file") && !contact:
		return issue("file", "goes with send and reply")
	case c.Has("content") && strings.TrimSpace(c.Text("content")) == "":
		return issue("content", "is blank")
	case contact != argument[bool](c, "acknowledgeExpectedContact"):
		return issue("acknowledgeExpectedContact", "must be true with send and reply, and goes with nothing else")
	case (action == "delete") != argument[bool](c, "acknowledgeIrreversible"):
		return issue("acknowledgeIrreversible", "must be true with delete, and goes with nothing else")
	}
	return nil
}}

// dmLayoutRule is [componentRule] where there are components.
var dmLayoutRule = mcpcore.Rule{All: func(c *mcpcore.Call) []mcpcore.Issue {
	if !c.Has("components") {
		return nil
	}
	return componentRule.All(c)
}}

// wanted is what the message is to say.
func (in dmChange) wanted(call *mcpcore.Call) (w dmContent, err error) {
	w.Content = strings.TrimSpace(in.Content)
	if len(in.Components) > 0 {
		if w.Components, err = parts(layoutContent{in.Components}.raw(), true); err != nil {
			return w, err
		}
		if w.Links, err = origins(w.Components); err != nil {
			return w, err
		}
		for _, origin := range w.Links {
			if err := call.Permitted("linkOrigins", origin); err != nil {
				return w, err
			}
		}
	}
	if in.File != nil {
		data, err := base64.StdEncoding.DecodeString(in.File.Data)
		if err != nil || len(data) == 0 || len(data) > dmFileBytes {
			return w, refused("file", "a file is base64 of 1 to %d bytes; paths and addresses are not read", dmFileBytes)
		}
		w.File = &dmFileSeen{in.File.Name, len(data), digest(data)}
	}
	return w, nil
}

// facts are the message for people.
func (w *dmContent) facts() (all mcpcore.Facts) {
	if w.Content != "" {
		all = append(all, mcpcore.Fact{Name: "text", Value: w.Content})
	}
	if len(w.Components) > 0 {
		raw := make([]json.RawMessage, len(w.Components))
		for i, p := range w.Components {
			raw[i], _ = json.Marshal(p) // of a struct of ours
		}
		all = append(all, mcpcore.Fact{Name: "layout", Value: components.Text(raw)}, mcpcore.Fact{Name: "links to", Value: strings.Join(w.Links, " ")})
	}
	if w.File != nil {
		all = append(all, mcpcore.Fact{Name: "file", Value: fmt.Sprintf("%s, %d bytes", w.File.Name, w.File.Size)})
	}
	return all
}

type dmOpen struct {
	Recipient discord.UserID `json:"recipient_id"`
}

// dmBody is a new message, which mentions nobody.
type dmBody struct {
	Content    string          `json:"content,omitempty"`
	Components []part          `json:"components,omitempty"`
	Flags      int             `json:"flags,omitempty"`
	Reference  *replyTo        `json:"message_reference,omitempty"`
	Mentions   allowedMentions `json:"allowed_mentions"`
	Nonce      string          `json:"nonce"`
	Enforce    bool            `json:"enforce_nonce"`
}

func (w *dmContent) body(in dmChange, nonce string) dmBody {
	b := dmBody{Content: w.Content, Components: w.Components, Mentions: notifies(nil), Nonce: nonce, Enforce: true}
	if len(w.Components) > 0 {
		b.Flags = flagComponentsV2
	}
	if in.Action == "reply" {
		b.Reference = &replyTo{in.MessageID, true}
	}
	return b
}

// dmEdit is what an edit changes.
type dmEdit struct {
	Content    string          `json:"content,omitempty"`
	Components []part          `json:"components,omitempty"`
	Mentions   allowedMentions `json:"allowed_mentions"`
}

func (w *dmContent) edit() dmEdit { return dmEdit{w.Content, w.Components, notifies(nil)} }

// compare notes what of a message differs.
func (w *dmContent) compare(m message, d *drift) {
	if len(w.Components) > 0 {
		compareParts(w.Components, m, d)
		return
	}
	d.unless(m.Content == w.Content && m.Flags&flagComponentsV2 == 0, "content")
}

// compare notes what of the message that was written differs.
func (s *dmState) compare(in dmChange, m message, d *drift) {
	s.Wanted.compare(m, d)
	if f := s.Wanted.File; in.Action != "edit" {
		same := len(m.Attachments) == 0
		if f != nil {
			same = len(m.Attachments) == 1 && m.Attachments[0].Size == f.Size && m.Attachments[0].Filename == f.Name
		}
		d.unless(same, "file")
		var to replyTo
		replies := m.Reference != nil && json.Unmarshal(m.Reference, &to) == nil && to.Message == in.MessageID
		d.unless(replies == (in.Action == "reply"), "messageId")
	}
	d.unless(!m.Everyone && len(m.MentionRoles)+len(m.Mentions) == 0, "mentions")
}

// dmChannel is a conversation as Discord tells it.
type dmChannel struct {
	ID         discord.ChannelID   `json:"id"`
	Type       discord.ChannelType `json:"type"`
	Recipients []struct {
		ID discord.UserID `json:"id"`
	} `json:"recipients"`
}

// with refuses what is not the conversation with exactly this user.
func (c *dmChannel) with(id discord.ChannelID, user discord.UserID) error {
	if discord.CheckID(string(c.ID)) != nil || c.ID != id {
		return incomplete("the conversation")
	}
	if c.Type != discord.DM || len(c.Recipients) != 1 || c.Recipients[0].ID != user {
		return refused("other-recipient", "%s is not the conversation with the user %s alone", id, user)
	}
	return nil
}

// conversation proves that a channel is the conversation with exactly this user.
func (r *reads) conversation(ctx context.Context, id discord.ChannelID, user discord.UserID) error {
	var c dmChannel
	if err := r.get(ctx, routeChannel, inChannel(id), &c); err != nil {
		return err
	}
	return c.with(id, user)
}

// dmRecipient is an account: the name that nobody else has, not the one that is
// shown.
type dmRecipient struct {
	ID   discord.UserID `json:"id"`
	Name string         `json:"username"`
}

// recipient reads the bot and the user, and refuses who is no ordinary one. shown
// is how the user is shown.
func (r *reads) recipient(ctx context.Context, user discord.UserID, s *dmState) (shown string, err error) {
	var me, u struct {
		dmRecipient
		Shown  string `json:"global_name"`
		Bot    bool   `json:"bot"`
		System bool   `json:"system"`
	}
	if err := r.get(ctx, routeMe, nil, &me); err != nil {
		return "", err
	}
	if err := r.get(ctx, routeUser, path{"user_id": string(user)}, &u); err != nil {
		return "", err
	}
	switch {
	case me.ID == "" || u.ID != user:
		return "", incomplete("the bot or the user")
	case u.Bot || u.System || u.ID == me.ID:
		return "", refused("not-ordinary", "the user %s is a bot or Discord itself", user)
	}
	s.Bot, s.Recipient = me.ID, u.dmRecipient
	return u.Shown, nil
}

// dmPlace is where a receipt says that a message is: channel/message.
func dmPlace(resource string) (discord.ChannelID, discord.MessageID, error) {
	channel, message, _ := strings.Cut(resource, "/")
	if discord.CheckID(channel) != nil || discord.CheckID(message) != nil {
		return "", "", errors.New("nobody knows which message it was")
	}
	return discord.ChannelID(channel), discord.MessageID(message), nil
}
