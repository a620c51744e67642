package discordtools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/internal/canon"
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
			Doc: `Reads messages of a channel or thread, newest first, up to 100 a call. To go back
				further, call again with before set to oldest_id. A forum holds posts, not messages:
				list its threads and read one of them.`,
			Route:   "GET /channels/{channel_id}/messages",
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
			Rules:   []mcpcore.Rule{mcpcore.Exclusive("before", "after", "around")},
			Set:     []added{limit(50)},
		},
		read[messageRef, messageOne]{
			Name:    "messages_get",
			Title:   "Get a message",
			Doc:     `Reads one message with its embeds, attachments, components, reactions and poll.`,
			Route:   "GET /channels/{channel_id}/messages/{message_id}",
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
		},
		read[messagesSearch, messagesFound]{
			Name:  "messages_search_recent",
			Title: "Search recent messages",
			Doc: `Searches one page of a channel's messages for a text, whatever its case. To search
				further back, call again with before set to oldest_scanned_id, also when nothing matched.`,
			Route:   "GET /channels/{channel_id}/messages",
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
			Calls:     []string{"GET /channels/{channel_id}"},
			Needs:     discord.ViewChannel | discord.SendMessages,
			NeedsWhen: sendNeeds,
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
			Doc: `Changes the text or the embeds of one of the bot's own messages. Others' messages
				cannot be edited. Nobody is notified again unless allowed_mentions says so.`,
			Route:  "PATCH /channels/{channel_id}/messages/{message_id}",
			Needs:  discord.ViewChannel,
			Rules:  append([]mcpcore.Rule{mcpcore.AnyOf("content", "embeds")}, mentionRules...),
			Redact: []string{"content", "embeds"},
			Set:    []added{noMentions},
		},
		destroy[messageRef, messageDeleted]{
			Name:  "messages_delete",
			Title: "Delete a message",
			Doc: `Deletes one message for good. Deleting somebody else's needs MANAGE_MESSAGES; several
				at once are quicker with messages_bulk_delete.`,
			Route: "DELETE /channels/{channel_id}/messages/{message_id}",
			Calls: []string{"GET /channels/{channel_id}/messages/{message_id}"},
			Needs: discord.ManageMessages,
			Facts: messageFacts,
		},
		destroy[messagesBulkDelete, messagesBulkDeleted]{
			Name:  "messages_bulk_delete",
			Title: "Delete several messages",
			Doc: `Deletes up to 100 messages of one channel for good. Discord deletes no message older
				than two weeks this way: those are left and listed as too_old; delete them one by one.`,
			Route:      "POST /channels/{channel_id}/messages/bulk-delete",
			Calls:      []string{"DELETE /channels/{channel_id}/messages/{message_id}"},
			Repeatable: true,
			Needs:      discord.ManageMessages,
			Redact:     []string{"message_ids"},
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
			Doc:   `Pins a message. A channel holds 250 pins; unpin one first when it is full.`,
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
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel or thread"`
	Limit     int               `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"100" default:"50"`
	Before    discord.MessageID `json:"before,omitempty" jsonschema:"only older than this id"`
	After     discord.MessageID `json:"after,omitempty" jsonschema:"only newer than this id"`
	Around    discord.MessageID `json:"around,omitempty" jsonschema:"the messages around this id"`
}

type messagesPage struct {
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	Messages  []messageItem     `json:"messages" from:"@reply"`
	page
	OldestID discord.MessageID `json:"oldest_id,omitempty" from:"@derived"`
	NewestID discord.MessageID `json:"newest_id,omitempty" from:"@derived"`
	Warnings []string          `json:"warnings,omitempty" from:"@derived"`
}

type messageItem struct {
	ID discord.MessageID `json:"id"`
	messageFields
}

func (v *messagesPage) derive(call *mcpcore.Call) {
	v.of(len(v.Messages), limitOf(call, 50))
	all, _ := v.split()
	v.Warnings = warnings(all)
	if n := len(v.Messages); n > 0 {
		v.NewestID, v.OldestID = v.Messages[0].ID, v.Messages[n-1].ID
	}
}

func (v *messagesPage) split() (all []*messageFields, ids []discord.MessageID) {
	for i := range v.Messages {
		v.Messages[i].finish()
		all, ids = append(all, &v.Messages[i].messageFields), append(ids, v.Messages[i].ID)
	}
	return all, ids
}

// Text is the messages in a fence.
func (v *messagesPage) Text() string {
	all, ids := v.split()
	return fenced(v.ChannelID, ids, all, v.Warnings)
}

type messageRef struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel or thread"`
	MessageID discord.MessageID `json:"message_id" jsonschema:"message"`
}

// messageTarget is a message, with a reason for the audit log.
type messageTarget struct {
	messageRef
	auditReason
}

type messageOne struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	ChannelID discord.ChannelID `json:"channel_id"`
	messageFields
	Pinned   bool     `json:"pinned"`
	Warnings []string `json:"warnings,omitempty" from:"@derived"`
}

func (v *messageOne) derive(*mcpcore.Call) {
	v.finish()
	v.Warnings = warnings([]*messageFields{&v.messageFields})
}

// Text is the message in a fence.
func (v *messageOne) Text() string {
	return fenced(v.ChannelID, []discord.MessageID{v.MessageID}, []*messageFields{&v.messageFields}, v.Warnings)
}

type messagesSearch struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel or thread"`
	Query     string            `json:"query" in:"local" jsonschema:"text to look for; it is not sent to Discord" minLength:"1" maxLength:"200"`
	Limit     int               `json:"limit,omitempty" jsonschema:"how many messages to look through" minimum:"1" maximum:"100" default:"100"`
	Before    discord.MessageID `json:"before,omitempty" jsonschema:"only older than this id"`
	After     discord.MessageID `json:"after,omitempty" jsonschema:"only newer than this id"`
}

type messagesFound struct {
	ChannelID       discord.ChannelID `json:"channel_id" from:"@arg"`
	Query           string            `json:"query" from:"@arg"`
	Matches         []messageMatch    `json:"matches" from:"@list"`
	ScannedCount    int               `json:"scanned_count" from:"@derived"`
	OldestScannedID discord.MessageID `json:"oldest_scanned_id,omitempty" from:"@derived"`
	NewestScannedID discord.MessageID `json:"newest_scanned_id,omitempty" from:"@derived"`
	Truncated       bool              `json:"truncated,omitempty" from:"@derived" jsonschema:"cut because of its size"`
	Warnings        []string          `json:"warnings,omitempty" from:"@derived"`
}

type messageMatch struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	messageFields
}

// Text is the matches in a fence.
func (v *messagesFound) Text() string {
	var all []*messageFields
	var ids []discord.MessageID
	for i := range v.Matches {
		all, ids = append(all, &v.Matches[i].messageFields), append(ids, v.Matches[i].MessageID)
	}
	head := fmt.Sprintf("%d of %d messages match.", len(all), v.ScannedCount)
	return head + "\n" + fenced(v.ChannelID, ids, all, v.Warnings)
}

func searchMessages(ctx context.Context, a *api, in messagesSearch) (v messagesFound, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	var scanned messagesPage
	if err := a.project(reply, &scanned); err != nil {
		return v, err
	}
	scanned.derive(a.call)
	v = messagesFound{
		ChannelID: in.ChannelID, Query: in.Query, ScannedCount: len(scanned.Messages), Warnings: scanned.Warnings,
		OldestScannedID: scanned.OldestID, NewestScannedID: scanned.NewestID,
	}
	query := strings.ToLower(in.Query)
	for _, m := range scanned.Messages {
		if strings.Contains(strings.ToLower(m.text()), query) {
			v.Matches = append(v.Matches, messageMatch{m.ID, m.messageFields})
		}
	}
	return v, nil
}

type messagesSend struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel or thread"`
	Content   string            `json:"content,omitempty" jsonschema:"text in Discord's Markdown" maxLength:"2000"`
	TTS       bool              `json:"tts,omitempty" jsonschema:"read it aloud to who is looking"`
	Embeds    []embed           `json:"embeds,omitempty" jsonschema:"rich embeds, 6000 characters in all" maxItems:"10"`
	Files     []upload          `json:"files,omitempty" in:"files" jsonschema:"files to attach, 10 MiB each" maxItems:"10"`
	Reference *messageReference `json:"message_reference,omitempty" jsonschema:"message to reply to or to forward"`
	allowedMentions
	StickerIDs []discord.StickerID `json:"sticker_ids,omitempty" jsonschema:"stickers of this guild" maxItems:"3"`
	Poll       *pollInput          `json:"poll,omitempty" jsonschema:"a poll"`
	Flags      int                 `json:"flags,omitempty" jsonschema:"4 hides link previews, 4096 sends silently, 4100 both" enum:"4,4096,4100"`
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
	v.JumpURL = jumpURL(a.guildOf(ctx, v.ChannelID), v.ChannelID, v.MessageID)
	return v, nil
}

func jumpURL(guild discord.GuildID, channel discord.ChannelID, message discord.MessageID) string {
	if guild == "" {
		guild = "@me"
	}
	return fmt.Sprintf("https://discord.com/channels/%s/%s/%s", guild, channel, message)
}

type messagesEdit struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel or thread"`
	MessageID discord.MessageID `json:"message_id" jsonschema:"message of the bot"`
	Content   *string           `json:"content,omitempty" jsonschema:"new text; null removes it" maxLength:"2000"`
	Embeds    *[]embed          `json:"embeds,omitempty" jsonschema:"new embeds instead of the old; null removes them" maxItems:"10"`
	allowedMentions
}

type messageEdited struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	ChannelID discord.ChannelID `json:"channel_id"`
	EditedAt  string            `json:"edited_timestamp"`
}

type messageDeleted struct {
	Deleted   bool              `json:"deleted" from:"@true"`
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	MessageID discord.MessageID `json:"message_id" from:"@arg"`
}

func messageFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var m struct {
		Content string `json:"content"`
		Author  struct {
			Username string `json:"username"`
		} `json:"author"`
		Timestamp string `json:"timestamp"`
	}
	err := a.do(ctx, "GET /channels/{channel_id}/messages/{message_id}", sub{Path: map[string]string{
		"channel_id": a.call.Text("channel_id"), "message_id": a.call.Text("message_id"),
	}}, &m)
	if err != nil {
		return nil, err
	}
	return mcpcore.Facts{
		{Name: "author", Value: m.Author.Username}, {Name: "sent", Value: m.Timestamp}, {Name: "text", Value: excerpt(m.Content)},
	}, nil
}

// excerpt is the beginning of a text, on one line.
func excerpt(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return s
}

type messagesBulkDelete struct {
	ChannelID  discord.ChannelID   `json:"channel_id" jsonschema:"channel or thread"`
	MessageIDs []discord.MessageID `json:"message_ids" wire:"messages" jsonschema:"messages of that channel" minItems:"2" maxItems:"100" uniqueItems:"true"`
	auditReason
}

type messagesBulkDeleted struct {
	Deleted   bool                `json:"deleted" from:"@true"`
	ChannelID discord.ChannelID   `json:"channel_id" from:"@arg"`
	Count     int                 `json:"count" from:"@derived"`
	TooOld    []discord.MessageID `json:"too_old,omitempty" from:"@derived" jsonschema:"left, because older than two weeks"`
}

// bulkAge is Discord's limit of two weeks, less a margin for clocks and for the
// time the request takes.
//
// Source: https://docs.discord.com/developers/resources/message#bulk-delete-messages.
const bulkAge = 14*24*time.Hour - 5*time.Minute

func byAge(ids []discord.MessageID, now time.Time) (fresh, old []discord.MessageID) {
	for _, id := range ids {
		if now.Sub(discord.IDTime(string(id))) < bulkAge {
			fresh = append(fresh, id)
		} else {
			old = append(old, id)
		}
	}
	return fresh, old
}

func bulkFacts(_ context.Context, a *api) (mcpcore.Facts, error) {
	var in messagesBulkDelete
	if err := a.call.Bind(&in); err != nil {
		return nil, err
	}
	fresh, old := byAge(in.MessageIDs, a.now())
	return mcpcore.Facts{
		{Name: "will be deleted", Value: fmt.Sprint(len(fresh))}, {Name: "too old, will stay", Value: fmt.Sprint(len(old))},
	}, nil
}

func bulkDelete(ctx context.Context, a *api, in messagesBulkDelete) (v messagesBulkDeleted, err error) {
	fresh, old := byAge(in.MessageIDs, a.now())
	v = messagesBulkDeleted{Deleted: true, ChannelID: in.ChannelID, Count: len(fresh), TooOld: old}
	path := map[string]string{"channel_id": string(in.ChannelID)}
	switch len(fresh) {
	case 0:
		return v, mcpcore.Invalid(mcpcore.Issue{Path: "message_ids", Message: "are all older than two weeks; delete them one by one with messages_delete", Code: mcpcore.IssueRule})
	case 1: // Discord's bulk route takes at least two
		path["message_id"] = string(fresh[0])
		return v, a.do(ctx, "DELETE /channels/{channel_id}/messages/{message_id}", sub{Path: path, Reason: in.AuditReason, Repeatable: true}, nil)
	}
	list := make([]any, len(fresh))
	for i, id := range fresh {
		list[i] = string(id)
	}
	return v, a.do(ctx, "POST /channels/{channel_id}/messages/bulk-delete", sub{
		Path: path, Reason: in.AuditReason, Body: canon.Append(nil, map[string]any{"messages": list}),
	}, nil)
}

type messageCrossposted struct {
	Crossposted bool              `json:"crossposted" from:"@true"`
	ChannelID   discord.ChannelID `json:"channel_id" from:"@arg"`
	MessageID   discord.MessageID `json:"message_id" from:"@arg"`
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

type messagesPins struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel or thread"`
	Before    string            `json:"before,omitempty" jsonschema:"only pinned before this time" format:"date-time"`
	Limit     int               `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"50" default:"50"`
}

type pinsPage struct {
	ChannelID  discord.ChannelID `json:"channel_id" from:"@arg"`
	Pins       []pin             `json:"pins" from:"items"`
	Count      int               `json:"count" from:"@derived"`
	HasMore    bool              `json:"has_more"`
	NextBefore string            `json:"next_before,omitempty" from:"@derived"`
	Warnings   []string          `json:"warnings,omitempty" from:"@derived"`
}

type pin struct {
	MessageID  discord.MessageID `json:"message_id" from:"message.id"`
	AuthorID   discord.UserID    `json:"author_id" from:"message.author.id"`
	AuthorName string            `json:"author_name" from:"message.author.global_name|message.author.username"`
	Content    string            `json:"content" from:"message.content"`
	Timestamp  string            `json:"timestamp" from:"message.timestamp"`
	PinnedAt   string            `json:"pinned_at"`
}

func (v *pinsPage) derive(*mcpcore.Call) {
	v.Count = len(v.Pins)
	if v.Count == 0 {
		v.Warnings = []string{noHistory}
		return
	}
	if v.HasMore {
		v.NextBefore = v.Pins[v.Count-1].PinnedAt
	}
}

// Text is the pinned messages in a fence.
func (v *pinsPage) Text() string {
	items := make([]fence.Item, len(v.Pins))
	for i, p := range v.Pins {
		items[i] = fence.Item{ID: string(p.MessageID), Author: p.AuthorName, Content: p.Content}
	}
	return strings.Join(append([]string{fence.Messages(string(v.ChannelID), items)}, v.Warnings...), "\n\n")
}

type messagePinned struct {
	Pinned    bool              `json:"pinned" from:"@true"`
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	MessageID discord.MessageID `json:"message_id" from:"@arg"`
}

type messageUnpinned struct {
	Unpinned  bool              `json:"unpinned" from:"@true"`
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	MessageID discord.MessageID `json:"message_id" from:"@arg"`
}
