package discordtools

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// messages reads, writes and removes messages of a channel or thread.
//
// Source: https://docs.discord.com/developers/resources/message.
func messages() category {
	return category{Name: "messages", Scope: mcpcore.ChannelScope, Tools: []declaration{
		read[messagesRead, messagesPage]{
			Name:  "messages_read",
			Title: "Read messages",
			Doc: `Reads messages of a channel or thread, newest first. To go further back, call again
				with before set to oldest_id. A forum holds posts, not messages: list its threads and read
				one of them.`,
			Route:   routeMessages,
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
			Rules:   []mcpcore.Rule{mcpcore.Exclusive("before", "after", "around")},
			Set:     []added{limit(50)},
		},
		read[messageRef, messageOne]{
			Name:    "messages_get",
			Title:   "Get a message",
			Doc:     `Reads one message with its embeds, attachments, components, reactions and poll.`,
			Route:   routeMessage,
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
		},
		read[messagesSearch, messagesFound]{
			Name:  "messages_search_recent",
			Title: "Search recent messages",
			Doc: `Searches one page of a channel's messages for a text, whatever its case. To search
				further back, call again with before set to oldest_scanned_id, also when nothing matched.`,
			Route:   routeMessages,
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
			Rules:   []mcpcore.Rule{mcpcore.Exclusive("before", "after")},
			Set:     []added{limit(100)},
			Run:     searchMessages,
		},
		write[messagesSend, messageSent]{
			Name:  "messages_send",
			Title: "Send a message",
			Doc: `Sends a message to a channel or thread: text, embeds, files, stickers, a poll, a reply
				or a forward. Nobody is notified unless allowed_mentions says so. In a forum, start a post
				with channels_forum_create_thread; for Components V2 use components_v2_send.`,
			Route:     "POST /channels/{channel_id}/messages",
			Calls:     []string{routeChannel},
			Needs:     discord.ViewChannel | discord.SendMessages,
			NeedsWhen: sendNeeds,
			Crosses:   true, // a message of one guild can be forwarded to another
			Rules: append([]mcpcore.Rule{
				mcpcore.AnyOf("content", "embeds", "files", "sticker_ids", "poll", "message_reference"),
			}, mentionRules...),
			Redact: []string{"content", "embeds", "files", "poll"},
			Set:    append([]added{noMentions, {"tts", func(*mcpcore.Call) string { return "false" }}}, oneTime...),
			Run:    postMessage,
		},
		write[messagesEdit, messageEdited]{
			Name:  "messages_edit",
			Title: "Edit a message",
			Doc: `Changes text, embeds or files of one of the bot's own messages. Others' messages
				cannot be edited. Nobody is notified again unless allowed_mentions says so.`,
			Route:     "PATCH /channels/{channel_id}/messages/{message_id}",
			Needs:     discord.ViewChannel,
			NeedsWhen: []mcpcore.Need{{Arg: "files", Permissions: discord.AttachFiles}},
			Rules:     append([]mcpcore.Rule{anyGiven("content", "embeds", "files", "attachments")}, mentionRules...),
			Redact:    []string{"content", "embeds", "files", "attachments"},
			Set:       []added{noMentions},
		},
		destroy[messageRef, messageDeleted]{
			Name:  "messages_delete",
			Title: "Delete a message",
			Doc: `Deletes one message for good. Deleting somebody else's needs MANAGE_MESSAGES; several
				at once are quicker with messages_bulk_delete.`,
			Route: "DELETE /channels/{channel_id}/messages/{message_id}",
			Calls: []string{routeMessage},
			Needs: discord.ManageMessages,
			Facts: messageFacts,
		},
		destroy[messagesBulkDelete, messagesBulkDeleted]{
			Name:  "messages_bulk_delete",
			Title: "Delete several messages",
			Doc: `Deletes several messages of one channel for good. Discord deletes no message older
				than two weeks this way: those are left and listed as too_old; delete them one by one.`,
			Route:      "POST /channels/{channel_id}/messages/bulk-delete",
			Calls:      []string{"DELETE /channels/{channel_id}/messages/{message_id}", routeMessages},
			Repeatable: true,
			Needs:      discord.ManageMessages,
			Facts:      bulkFacts,
			Run:        bulkDelete,
		},
		write[messageTarget, messageCrossposted]{
			Name:  "messages_crosspost",
			Title: "Publish an announcement",
			Doc: `Publishes a message of an announcement channel to every channel that follows it. It
				cannot be taken back there.`,
			Route: "POST /channels/{channel_id}/messages/{message_id}/crosspost",
			Needs: discord.ViewChannel | discord.SendMessages | discord.ManageMessages,
		},
		write[messagesCreateThread, threadStarted]{
			Name:  "messages_create_thread",
			Title: "Start a thread from a message",
			Doc: `Starts a public thread on a message. For a thread without a message use a forum post
				(channels_forum_create_thread).`,
			Route: "POST /channels/{channel_id}/messages/{message_id}/threads",
			Needs: discord.ViewChannel | discord.CreatePublicThreads,
			Fence: fence.ChannelTopic,
		},
		read[messagesPins, pinsPage]{
			Name:  "messages_list_pins",
			Title: "List pinned messages",
			Doc: `Lists the pinned messages of a channel, latest pin first. To go on, call again with
				before set to next_before.`,
			Route:   "GET /channels/{channel_id}/messages/pins",
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
			Set:     []added{limit(50)},
		},
		write[messageTarget, messagePinned]{
			Name:  "messages_pin",
			Title: "Pin a message",
			Doc:   `Pins a message. Where a channel is full of pins, unpin one first.`,
			Route: "PUT /channels/{channel_id}/messages/pins/{message_id}",
			Needs: discord.PinMessages,
		},
		write[messageTarget, messageUnpinned]{
			Name:  "messages_unpin",
			Title: "Unpin a message",
			Doc:   `Removes a message from the channel's pins. The message stays.`,
			Route: "DELETE /channels/{channel_id}/messages/pins/{message_id}",
			Needs: discord.PinMessages,
		},
	}}
}

// sendNeeds are the permissions that parts of a message call for.
var sendNeeds = []mcpcore.Need{
	{Arg: "embeds", Permissions: discord.EmbedLinks},
	{Arg: "files", Permissions: discord.AttachFiles},
	{Arg: "tts", Equals: "true", Permissions: discord.SendTTSMessages},
	{Arg: "poll", Permissions: discord.SendPolls},
	{Arg: "message_reference", Permissions: discord.ReadMessageHistory},
}

type messagesRead struct {
	channelRef
	Before string `json:"before,omitempty" as:"moment" jsonschema:"only older than this id or ISO time" minLength:"1" maxLength:"40"`
	After  string `json:"after,omitempty" as:"moment" jsonschema:"only newer than this id or ISO time" minLength:"1" maxLength:"40"`
	Around string `json:"around,omitempty" as:"moment" jsonschema:"the messages around this id or ISO time" minLength:"1" maxLength:"40"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"100" default:"50"`
}

type messagesPage struct {
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	Messages  []messageItem     `json:"messages" from:"@reply"`
	page
	OldestID discord.MessageID `json:"oldest_id,omitempty" from:"@derived"`
	NewestID discord.MessageID `json:"newest_id,omitempty" from:"@derived"`
	remarks
}

type messageItem struct {
	ID discord.MessageID `json:"id"`
	messageFields
}

func (v *messagesPage) derive(*mcpcore.Call) {
	v.remarks = finish(v.shown()...)
	if n := len(v.Messages); n > 0 {
		v.NewestID, v.OldestID = v.Messages[0].ID, v.Messages[n-1].ID
	}
}

// cursors lead further back, or on where the call looked that way, or both.
func (v *messagesPage) cursors(call *mcpcore.Call) []cursor {
	return ends(call, v.OldestID, v.NewestID)
}

// anchor keeps what the call asked next to. Discord answers newest first,
// whichever the cursor.
func (v *messagesPage) anchor(call *mcpcore.Call) int {
	if call.Has("after") {
		return len(v.Messages) - 1
	}
	around, err := readMoment(call.Text("around"))
	if err != nil {
		return 0 // not asked for
	}
	return max(0, slices.IndexFunc(v.Messages, func(m messageItem) bool { return byID(m.ID, discord.MessageID(around)) <= 0 }))
}

func (v *messagesPage) shown() []shown {
	all := make([]shown, len(v.Messages))
	for i := range v.Messages {
		all[i] = shown{v.Messages[i].ID, &v.Messages[i].messageFields}
	}
	return all
}

// Text is the messages in a fence.
func (v *messagesPage) Text() string { return fenced(v.ChannelID, v.shown()...) }

type messageRef struct {
	channelRef
	MessageID discord.MessageID `json:"message_id" jsonschema:"message"`
}

// messageEcho is a messageRef, repeated in a view.
type messageEcho struct {
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	MessageID discord.MessageID `json:"message_id" from:"@arg"`
}

// messageTarget is a messageRef with a reason for the audit log.
type messageTarget struct {
	messageRef
	auditReason
}

type messageOne struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	ChannelID discord.ChannelID `json:"channel_id"`
	messageFields
	Pinned bool `json:"pinned"`
	remarks
}

func (v *messageOne) derive(*mcpcore.Call) { v.remarks = finish(v.shown()) }

func (v *messageOne) shown() shown { return shown{v.MessageID, &v.messageFields} }

// Text is the message in a fence.
func (v *messageOne) Text() string { return fenced(v.ChannelID, v.shown()) }

type messagesSend struct {
	channelRef
	Content   string            `json:"content,omitempty" jsonschema:"text in Discord's Markdown" maxLength:"2000"`
	TTS       bool              `json:"tts,omitempty" jsonschema:"read aloud to those who view the channel"`
	Embeds    []embed           `json:"embeds,omitempty" jsonschema:"rich embeds, 6000 characters in all" maxItems:"10"`
	Files     []upload          `json:"files,omitempty" in:"files" jsonschema:"files to attach, 10 MiB each" maxItems:"10"`
	Reference *messageReference `json:"message_reference,omitempty" jsonschema:"message to reply to or to forward"`
	allowedMentions
	StickerIDs []discord.StickerID `json:"sticker_ids,omitempty" jsonschema:"stickers of this guild" maxItems:"3"`
	Poll       *pollInput          `json:"poll,omitempty" jsonschema:"a poll"`
	Flags      int                 `json:"flags,omitempty" jsonschema:"4 hides link previews, 4096 sends silently, 4100 both" enum:"0,4,4096,4100"`
}

type messageSent struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	ChannelID discord.ChannelID `json:"channel_id"`
	JumpURL   string            `json:"jump_url" from:"@derived"`
	Timestamp string            `json:"timestamp"`
}

func postMessage(ctx context.Context, a *api, _ messagesSend) (v messageSent, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	if err := a.project(reply, &v); err != nil {
		return v, err
	}
	v.JumpURL = a.jumpURL(ctx, v.ChannelID, v.MessageID)
	return v, nil
}

// jumpURL is the address of a message. The tool must declare [routeChannel].
func (a *api) jumpURL(ctx context.Context, channel discord.ChannelID, message discord.MessageID) string {
	return jumpURL(a.guildOf(ctx, channel), channel, message)
}

func jumpURL(guild discord.GuildID, channel discord.ChannelID, message discord.MessageID) string {
	if guild == "" {
		guild = "@me"
	}
	return fmt.Sprintf("https://discord.com/channels/%s/%s/%s", guild, channel, message)
}

type messagesEdit struct {
	messageRef
	Content *string  `json:"content,omitempty" jsonschema:"new text; null removes it" maxLength:"2000"`
	Embeds  *[]embed `json:"embeds,omitempty" jsonschema:"new embeds instead of the old; null removes them" maxItems:"10"`
	filesEdit
	allowedMentions
}

type messageEdited struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	ChannelID discord.ChannelID `json:"channel_id"`
	EditedAt  string            `json:"edited_timestamp"`
}

type messageDeleted struct {
	Deleted bool `json:"deleted" from:"@true"`
	messageEcho
}

func messageFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	return messageFactsAt(ctx, a, routeMessage, nil)
}

// messageFactsAt are those of the message that a route reads.
func messageFactsAt(ctx context.Context, a *api, route string, query url.Values) (mcpcore.Facts, error) {
	m, err := a.readMessage(ctx, route, query)
	if err != nil {
		return nil, err
	}
	return mcpcore.Facts{
		{Name: "author", Value: m.author.String()}, {Name: "sent", Value: m.Timestamp}, {Name: "text", Value: excerpt(m.text())},
	}, nil
}

type messageCrossposted struct {
	Crossposted bool `json:"crossposted" from:"@true"`
	messageEcho
}

type messagesCreateThread struct {
	messageRef
	Name                string `json:"name" jsonschema:"name of the thread" minLength:"1" maxLength:"100"`
	AutoArchiveDuration int    `json:"auto_archive_duration,omitempty" jsonschema:"minutes without activity until it is archived" enum:"60,1440,4320,10080"`
	RateLimitPerUser    int    `json:"rate_limit_per_user,omitempty" jsonschema:"slow mode in seconds" minimum:"0" maximum:"21600"`
	auditReason
}

type threadStarted struct {
	ThreadID discord.ChannelID  `json:"thread_id" from:"id"`
	Name     string             `json:"name"`
	ParentID *discord.ChannelID `json:"parent_id"`
}

type messagePinned struct {
	Pinned bool `json:"pinned" from:"@true"`
	messageEcho
}

type messageUnpinned struct {
	Unpinned bool `json:"unpinned" from:"@true"`
	messageEcho
}
