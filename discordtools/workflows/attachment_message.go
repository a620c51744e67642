package workflows

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// fileBytes is what a file may have in a guild without boosts.
//
// Source: https://docs.discord.com/developers/reference#uploading-files.
const fileBytes = 10 << 20 // of which 14 million characters of base64 are more than enough

type filePost struct {
	ChannelID   discord.ChannelID `json:"channelId" jsonschema:"channel or thread"`
	Filename    string            `json:"filename" jsonschema:"name of the file, of letters, digits, dots, dashes and underscores" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]*$" maxLength:"100"`
	Data        string            `json:"data" jsonschema:"its bytes as base64 or a data URI; paths and addresses are not read" minLength:"1" maxLength:"14000000"`
	Description string            `json:"description,omitempty" jsonschema:"alt text" maxLength:"1024"`
	Content     string            `json:"content,omitempty" jsonschema:"text beside the file" maxLength:"2000"`
	ReplyTo     discord.MessageID `json:"replyToMessageId,omitempty" jsonschema:"message of the channel to reply to"`
}

type filePostState struct {
	placeSeen
	File    fileSeen     `json:"file"`
	Content string       `json:"content"`
	ReplyTo *messageSeen `json:"replyTo"`
}

// fileSeen is a file as a plan binds it: without its bytes.
type fileSeen struct {
	Filename    string `json:"filename"`
	Size        int    `json:"size" jsonschema:"in bytes"`
	Digest      string `json:"digest" jsonschema:"of the bytes"`
	Description string `json:"description"`
}

type filePostBody struct {
	Content     string          `json:"content,omitempty"`
	Attachments []fileAbout     `json:"attachments"`
	Mentions    allowedMentions `json:"allowed_mentions"`
	Reference   *replyTo        `json:"message_reference,omitempty"`
}

type fileAbout struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
}

type replyTo struct {
	Message discord.MessageID `json:"message_id"`
	Must    bool              `json:"fail_if_not_exists"`
}

// attachmentMessage posts one file.
func attachmentMessage(rest discordtools.REST, paced *pace) mcpcore.Workflow {
	return change[filePost, filePostState]{
		Name: "attachment-message", Category: "attachments", Title: "Post a file",
		Doc: `Posts one file into a channel or thread, with a text and as a reply if wanted. Its bytes come with the call; the plan binds
			their digest. It notifies nobody.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ReadMessageHistory | discord.AttachFiles,
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels and threads to post files into"}},
		Limits: []mcpcore.PolicyLimit{{Name: "maxBytes", Default: fileBytes, Max: fileBytes, Doc: "bytes that one file may have"}},
		Redact: []string{"data", "description", "content"},
		Reads:  append(slices.Clone(placeRoutes), routeMessage), Write: []string{routeMessageCreate},
		Paced: posts(paced, func(in filePost, _ filePostState) discord.ChannelID { return in.ChannelID }),
		Plan:  planFilePost,
		Targets: func(in filePost, _ filePostState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID)}
		},
		Apply: func(ctx context.Context, w *write, in filePost, s filePostState) (done mcpcore.Written, err error) {
			data, err := fileOf(in.Data)
			if err != nil {
				return done, mcpcore.NotDone(err)
			}
			var m message
			part := discordtools.Part{Name: "files[0]", Filename: s.File.Filename, ContentType: http.DetectContentType(data), Data: data}
			err = w.sendWith(ctx, routeMessageCreate, discordtools.Request{Path: inChannel(in.ChannelID), Form: []discordtools.Part{part}}, s.body(), &m)
			if err != nil {
				return done, err
			}
			if done.ID, err = id(m.ID); err == nil {
				err = s.is(m)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in filePost, s filePostState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			m, err := r.message(ctx, in.ChannelID, discord.MessageID(w.ID))
			if err == nil {
				err = s.is(m)
			}
			return found, err
		},
	}.on(rest)
}

func (s *filePostState) body() filePostBody {
	b := filePostBody{
		Content: s.Content, Attachments: []fileAbout{{"0", s.File.Filename, s.File.Description}}, Mentions: notifies(nil),
	}
	if s.ReplyTo != nil {
		b.Reference = &replyTo{s.ReplyTo.ID, true}
	}
	return b
}

// is is an error unless the message is the bot's, with exactly that file. What
// Discord does to it is not known to be harmless, so nothing of it is a drift.
func (s *filePostState) is(m message) error {
	var to, wanted replyTo
	if s.ReplyTo != nil {
		wanted.Message = s.ReplyTo.ID
	}
	switch {
	case m.Channel != s.Channel.ID || !m.wroteIt(s.Permission.Bot) || m.Content != s.Content || !m.mentionsOnly(nil),
		m.Reference != nil && json.Unmarshal(m.Reference, &to) != nil, to.Message != wanted.Message, len(m.Attachments) != 1:
		return errors.New("what is there is not the message that was asked for")
	}
	if f := m.Attachments[0]; f.Filename != s.File.Filename || f.Size != s.File.Size || f.Description != s.File.Description {
		return errors.New("the message has another file than was asked for")
	}
	return nil
}

// fileOf is the bytes in base64 or a data URI. Nothing is read from a path or an
// address.
func fileOf(text string) ([]byte, error) {
	if strings.HasPrefix(text, "data:") {
		_, text, _ = strings.Cut(text, ";base64,")
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(data) == 0 || strings.ContainsAny(text, "\r\n") {
		return nil, refused("file", "a file is base64 or a data URI, and not empty; paths and addresses are not read")
	}
	return data, nil
}

func planFilePost(ctx context.Context, r *reads, in filePost) (plan mcpcore.Change[filePostState], err error) {
	data, err := fileOf(in.Data)
	if err != nil {
		return plan, err
	}
	if most := r.Call.Limit("maxBytes"); len(data) > most {
		return plan, refused("file-size", "the file has %d bytes; it may have %d", len(data), most)
	}
	at, err := r.place(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if err := at.takes(discord.AttachFiles); err != nil {
		return plan, err
	}
	s := filePostState{
		placeSeen: at.placeSeen, Content: strings.TrimSpace(in.Content), File: fileSeen{in.Filename, len(data), digest(data), strings.TrimSpace(in.Description)},
	}
	plan = mcpcore.Change[filePostState]{Action: "create", Facts: mcpcore.Facts{
		{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}, {Name: "file", Value: s.File.Filename},
		{Name: "bytes", Value: strconv.Itoa(s.File.Size)}, {Name: "kind", Value: http.DetectContentType(data)}, {Name: "text", Value: s.Content},
	}}
	if in.ReplyTo != "" {
		m, err := r.message(ctx, in.ChannelID, in.ReplyTo)
		if err != nil {
			return plan, err
		}
		if !slices.Contains(spoken, m.Type) {
			return plan, refused("system-message", "a message of Discord itself is not replied to")
		}
		s.ReplyTo = &messageSeen{m.ID, m.Author.ID, m.Type, m.Pinned, said(m)}
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "in reply to", Value: excerpt(m.Content)})
	}
	plan.State = s
	return plan, nil
}
