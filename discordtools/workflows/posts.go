package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeMessageCreate = "POST /channels/{channel_id}/messages"
	routeMessageEdit   = "PATCH /channels/{channel_id}/messages/{message_id}"
	routeApplication   = "GET /applications/@me"
)

// Flags of messages and of applications.
const (
	flagComponentsV2   = 1 << 15
	flagMessageContent = 1<<18 | 1<<19
)

var (
	postReads  = append(slices.Clone(placeRoutes), routeMessage, routeApplication)
	postWrites = []string{routeMessageCreate, routeMessageEdit}
	postScopes = []mcpcore.PolicyScope{
		{Name: "channels", Arg: "channelId", Doc: "channels and threads to post into"},
		{Name: "mentionUsers", Arg: "mentionUserIds", Doc: "users whom a post may notify"},
	}
)

// textTypes are the channels that hold messages.
var textTypes = []discord.ChannelType{
	discord.GuildText, discord.GuildAnnouncement, discord.GuildVoice, discord.GuildStageVoice,
	discord.AnnouncementThread, discord.PublicThread, discord.PrivateThread,
}

// post says where a message of the bot's goes.
type post struct {
	Action    string            `json:"action" jsonschema:"create a message, or edit one of the bot's" enum:"create,edit"`
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel or thread"`
	MessageID discord.MessageID `json:"messageId,omitempty" jsonschema:"message to edit"`
	Notify    []discord.UserID  `json:"mentionUserIds,omitempty" jsonschema:"users to notify, each of whom the text mentions as <@id>; nobody else is" maxItems:"25" uniqueItems:"true"`
}

type postState struct {
	placeSeen
	Message *messageSeen     `json:"message" jsonschema:"what is edited, as it is"`
	Notify  []discord.UserID `json:"notifies"`
}

// argument is an argument for a rule, which stands before the arguments are
// bound; the zero value where it is none of the type.
func argument[T any](c *mcpcore.Call, name string) (v T) {
	if raw, given := c.Arg(name); given && json.Unmarshal(raw, &v) != nil {
		return *new(T) // the schema has spoken
	}
	return v
}

// postRule demands the message of an edit, and of nothing else.
var postRule = mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
	if (c.Text("action") == "edit") != c.Has("messageId") {
		return issue("messageId", "goes with the action edit, which needs it")
	}
	return nil
}}

func postTargets(in post) []mcpcore.Target {
	if in.MessageID != "" {
		return []mcpcore.Target{theMessage(in.ChannelID, in.MessageID)}
	}
	return []mcpcore.Target{theChannel(in.ChannelID)}
}

// post reads where a message goes and, for an edit, what it is now. text is all
// in it that can mention somebody.
func (r *reads) post(ctx context.Context, in post, more discord.Permissions, text string) (s postState, now *message, err error) {
	at, err := r.place(ctx, in.ChannelID)
	if err != nil {
		return s, nil, err
	}
	s.placeSeen, s.Notify = at.placeSeen, slices.Sorted(slices.Values(in.Notify))
	if err := at.takes(more); err != nil {
		return s, nil, err
	}
	if err := r.readsContent(ctx); err != nil {
		return s, nil, err
	}
	if err := mentioned(s.Notify, text); err != nil {
		return s, nil, err
	}
	if in.MessageID == "" {
		return s, nil, nil
	}
	m, err := r.message(ctx, in.ChannelID, in.MessageID)
	switch {
	case err != nil:
		return s, nil, err
	case !m.wroteIt(at.bot.Bot):
		return s, nil, refused("not-own", "the bot did not write %s", m.ID)
	case m.Pinned:
		return s, nil, refused("pinned", "%s is pinned", m.ID)
	case m.Type != 0 || m.Reference != nil || m.Poll != nil || len(m.Stickers) > 0:
		return s, nil, refused("not-plain", "%s is a reply, a forward, a poll, an answer or has stickers", m.ID)
	}
	s.Message = &messageSeen{m.ID, m.Author.ID, m.Type, m.Pinned, snapshot(m)}
	return s, &m, nil
}

// takes refuses a place into which the bot cannot post, and read what it posted.
func (p *place) takes(more discord.Permissions) error {
	send := discord.SendMessages
	if p.kind.IsThread() {
		send = discord.SendMessagesInThreads
	}
	switch {
	case !slices.Contains(textTypes, p.kind):
		return refused("no-text", "%s is no channel to post into", p.Channel.ID)
	case p.Archived, p.Locked && !p.may.Has(discord.ManageThreads):
		return refused("thread-closed", "the thread is archived or locked")
	}
	return p.needs(discord.ViewChannel | discord.ReadMessageHistory | send | more)
}

// readsContent refuses where the application is not shown what others write.
func (r *reads) readsContent(ctx context.Context) error {
	var app struct {
		Flags int `json:"flags"`
	}
	if err := r.get(ctx, routeApplication, nil, &app); err != nil {
		return err
	}
	if app.Flags&flagMessageContent == 0 {
		return refused("intent-missing", "the application lacks the Message Content intent, without which what was posted cannot be compared")
	}
	return nil
}

// mentioned refuses to notify users whom the text does not mention.
func mentioned(users []discord.UserID, text string) error {
	for _, user := range users {
		if !strings.Contains(text, "<@"+string(user)+">") {
			return refused("not-mentioned", "the text does not mention <@%s>", user)
		}
	}
	return nil
}

// allowedMentions lets a message notify the listed users and nobody else.
type allowedMentions struct {
	Parse   []string         `json:"parse"`
	Users   []discord.UserID `json:"users"`
	Replied bool             `json:"replied_user"`
}

func notifies(users []discord.UserID) allowedMentions {
	return allowedMentions{Parse: []string{}, Users: append([]discord.UserID{}, users...)}
}

// post sends or edits the message and checks whose the answer is. Discord's audit
// log does not have the bot's own messages.
func (w *write) post(ctx context.Context, in post, bot discord.UserID, body any) (done mcpcore.Written, err error) {
	var m message
	if in.MessageID == "" {
		err = w.send(ctx, routeMessageCreate, inChannel(in.ChannelID), body, &m)
	} else {
		err = w.send(ctx, routeMessageEdit, onMessage(in.ChannelID, in.MessageID), body, &m)
	}
	if err != nil {
		return done, err
	}
	if done.ID, err = id(m.ID); err == nil && (m.Channel != in.ChannelID || !m.wroteIt(bot) || in.MessageID != "" && m.ID != in.MessageID) {
		err = errors.New("the answer is of another message than was asked for")
	}
	return done, err
}

// posted reads a post again; its drift is whom it mentions.
func (r *reads) posted(ctx context.Context, in post, bot discord.UserID, id string) (m message, d drift, err error) {
	if m, err = r.message(ctx, in.ChannelID, discord.MessageID(id)); err != nil {
		return m, nil, err
	}
	if !m.wroteIt(bot) {
		return m, nil, fmt.Errorf("the bot did not write what was read back")
	}
	d.unless(m.mentionsOnly(in.Notify), "mentions")
	return m, d, nil
}

// mentionsOnly reports whether a message mentions nobody but these users.
func (m *message) mentionsOnly(users []discord.UserID) bool {
	for _, u := range m.Mentions {
		if !slices.Contains(users, u.ID) {
			return false
		}
	}
	return !m.Everyone && len(m.MentionRoles) == 0
}

// verifies reads a post that a receipt speaks of. compare notes what of it
// differs.
func (r *reads) verifies(ctx context.Context, in post, receipt mcpcore.Receipt, compare func(message, *drift)) (mcpcore.Reading, error) {
	var me struct {
		ID discord.UserID `json:"id"`
	}
	if err := r.get(ctx, routeMe, nil, &me); err != nil {
		return mcpcore.Reading{}, err
	}
	m, d, err := r.posted(ctx, in, me.ID, receipt.ResourceID)
	if gone(err) {
		return mcpcore.Reading{Absent: true}, nil
	}
	if err != nil {
		return mcpcore.Reading{}, err
	}
	compare(m, &d)
	return mcpcore.Reading{Drift: d}, nil
}
