package discordtools

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type channelsPost struct {
	ChannelID        discord.ChannelID `json:"channel_id" jsonschema:"forum or media channel"`
	Name             string            `json:"name" jsonschema:"title of the post" minLength:"1" maxLength:"100"`
	Message          firstMessage      `json:"message" jsonschema:"the post's first message"`
	AppliedTags      []discord.TagID   `json:"applied_tags,omitempty" jsonschema:"tags by id, from the forum's available_tags" maxItems:"5"`
	AutoArchive      int               `json:"auto_archive_duration,omitempty" jsonschema:"minutes without activity until it is archived" enum:"60,1440,4320,10080"`
	RateLimitPerUser int               `json:"rate_limit_per_user,omitempty" jsonschema:"slow mode in seconds" minimum:"0" maximum:"21600"`
	auditReason
}

// firstMessage is the message that a post starts with. Its flags leave out the
// one that marks Components V2 (32768): those messages are sent by tools whose
// gate is an approval of the payload.
//
// Source: https://docs.discord.com/developers/resources/channel#start-thread-in-forum-or-media-channel-forum-and-media-thread-message-params-object.
type firstMessage struct {
	Content string   `json:"content,omitempty" jsonschema:"text in Discord's Markdown" maxLength:"2000"`
	Embeds  []embed  `json:"embeds,omitempty" maxItems:"10"`
	Files   []upload `json:"files,omitempty" jsonschema:"files to attach, 10 MiB each" maxItems:"10"`
	allowedMentions
	StickerIDs  []discord.StickerID `json:"sticker_ids,omitempty" maxItems:"3"`
	Components  []json.RawMessage   `json:"components,omitempty" jsonschema:"action rows; other components need Components V2" maxItems:"40"`
	Attachments []attachmentInput   `json:"attachments,omitempty" jsonschema:"attachments known to Discord; give new ones in files" maxItems:"10"`
	Flags       int                 `json:"flags,omitempty" jsonschema:"4 hides link previews, 4096 sends silently, 4100 both" enum:"0,4,4096,4100"`
}

type attachmentInput struct {
	ID          string `json:"id" pattern:"^[0-9]{1,20}$"`
	Filename    string `json:"filename,omitempty" maxLength:"1024"`
	Description string `json:"description,omitempty" maxLength:"1024"`
}

// firstMessageRule demands that a post starts with something and holds its
// mentions to [mentionRules].
var firstMessageRule = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	m, ok := argument[map[string]json.RawMessage](call, "message")
	if !ok {
		return nil
	}
	if m["files"] != nil && m["attachments"] != nil {
		return contradiction("message.attachments", "excludes files; give one of them")
	}
	if issue := mentionIssue("message.allowed_mentions", m["allowed_mentions"]); issue != nil {
		return issue
	}
	for _, name := range []string{"content", "embeds", "files", "sticker_ids", "components", "attachments"} {
		if v := string(m[name]); v != "" && v != `""` && v != "[]" {
			return nil
		}
	}
	return contradiction("message", "a post starts with a message: give content, embeds, files, sticker_ids or components")
}}

type postMade struct {
	ThreadID    discord.ChannelID  `json:"thread_id" from:"id"`
	ParentID    *discord.ChannelID `json:"parent_id"`
	MessageID   *discord.MessageID `json:"message_id" from:"message.id"`
	AppliedTags []discord.TagID    `json:"applied_tags,omitempty"`
	JumpURL     string             `json:"jump_url" from:"@derived"`
}

// createPost looks at the channel first: in a text channel the same request
// would start a private thread and drop the message.
func createPost(ctx context.Context, a *api, in channelsPost) (v postMade, err error) {
	message, parts, err := nestedMessage(a.call, "message", in.Message.Files, true)
	if err != nil {
		return v, err
	}
	r, err := a.request(member{"message", message})
	if err != nil {
		return v, err
	}
	r.Form = parts
	var c standing
	if err := a.do(ctx, routeChannel, sub{}, &c); err != nil {
		return v, err
	}
	if issue := refusePost(c.Type); issue != nil {
		return v, mcpcore.Invalid(*issue)
	}
	reply, err := a.deliver(ctx, r)
	if err != nil {
		return v, err
	}
	if err := a.project(reply, &v); err != nil {
		return v, err
	}
	v.JumpURL = jumpURL(c.GuildID, v.ThreadID, discord.MessageID(v.ThreadID))
	return v, nil
}

func refusePost(t discord.ChannelType) *mcpcore.Issue {
	switch {
	case t.HoldsPosts():
		return nil
	case t.IsThread():
		return contradiction("channel_id", "is a %s; posts are started in the forum, replies are sent with messages_send", t)
	}
	return contradiction("channel_id", "is a %s, which holds no posts; send a message with messages_send and start a thread on it with messages_create_thread", t)
}

// nestedMessage is the message in the argument called name as the caller wrote it,
// and the parts that its files become. One that says something notifies nobody
// unless it is told to.
func nestedMessage(call *mcpcore.Call, name string, files []upload, says bool) (json.RawMessage, []Part, error) {
	given, _ := argument[map[string]json.RawMessage](call, name)
	var message object
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if key != "files" {
			message.set(key, given[key])
		}
	}
	if says && !message.has(noMentions.Name) {
		message.set(noMentions.Name, json.RawMessage(noMentions.Value(call)))
	}
	if len(files) == 0 {
		return message.json(), nil, nil
	}
	parts, attachments, err := attach(name+".files", files)
	if err != nil {
		return nil, nil, err
	}
	message.set("attachments", joinLists(message.get("attachments"), attachments))
	return message.json(), parts, nil
}
