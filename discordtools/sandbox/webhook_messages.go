package sandbox

import (
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// webhookMessageRoutes send, read, edit and delete messages by a token: a
// webhook's, or with the application's id that of an interaction.
var webhookMessageRoutes = []route{
	{method: "POST", path: "/webhooks/{webhook_id}/{webhook_token}", handle: byToken(byWebhook(executeWebhook), createFollowup), open: true},
	{method: "GET", path: "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}", handle: onTokenMessage(getMessage), open: true},
	{method: "PATCH", path: "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}", handle: onTokenMessage(editTokenMessage), open: true},
	{method: "DELETE", path: "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}", handle: onTokenMessage(deleteTokenMessage), open: true},
	{method: "GET", path: "/webhooks/{webhook_id}/{webhook_token}/messages/@original", handle: onOriginal(getMessage), open: true},
	{method: "PATCH", path: "/webhooks/{webhook_id}/{webhook_token}/messages/@original", handle: onOriginal(editTokenMessage), open: true},
	{method: "DELETE", path: "/webhooks/{webhook_id}/{webhook_token}/messages/@original", handle: onOriginal(deleteTokenMessage), open: true},
}

var (
	errForumNeedsThread = badRequest(220001, "Webhooks posted to forum channels must have a thread_name or thread_id")
	errThreadTwice      = badRequest(220002, "Webhooks posted to forum channels cannot have both a thread_name and thread_id")
	errThreadInForum    = badRequest(220003, "Webhooks can only create threads in forum channels")
)

// byToken tells the two kinds of tokens apart.
func byToken(webhook, interaction handler) handler {
	return func(x *exchange) (answer, error) {
		if x.params["webhook_id"] == string(ApplicationID) {
			return interaction(x)
		}
		return webhook(x)
	}
}

// onTokenMessage resolves {message_id} among those that were sent by the token.
func onTokenMessage(handle func(*exchange, *channel, *Message) (answer, error)) handler {
	return byToken(byWebhook(func(x *exchange, h *Webhook) (answer, error) {
		c, err := x.placeOf(h)
		if err != nil {
			return refuse(err)
		}
		_, m := c.find(id[discord.MessageID](x, "message_id"))
		if m == nil || m.Webhook != h.ID {
			return refuse(errUnknownMessage)
		}
		return handle(x, c, m)
	}), byInteraction(func(x *exchange, i *interaction) (answer, error) {
		c, m := x.sentBy(i, id[discord.MessageID](x, "message_id"))
		if m == nil {
			return refuse(errUnknownMessage)
		}
		return handle(x, c, m)
	}))
}

// placeOf is the webhook's channel, or the thread of it that thread_id names.
func (x *exchange) placeOf(h *Webhook) (*channel, error) {
	c := x.channels[h.Channel]
	thread, err := x.cursor("thread_id")
	if err != nil || thread == "" {
		return c, err
	}
	t := x.channels[discord.ChannelID(thread)]
	if t == nil || t.Thread == nil || t.Parent != c.ID {
		return nil, errUnknownChannel
	}
	return t, nil
}

type executeForm struct {
	messageBody
	TTS        opt[bool]            `json:"tts"`
	Username   opt[string]          `json:"username" minLength:"1" maxLength:"80"`
	Avatar     opt[string]          `json:"avatar_url" format:"uri" maxLength:"2048"`
	ThreadName opt[string]          `json:"thread_name" maxLength:"100"`
	Applied    opt[[]discord.TagID] `json:"applied_tags" maxItems:"5"`
}

// executeWebhook posts as a webhook. Without wait the answer is empty. Components
// of a webhook that is no application's count with with_components alone.
func executeWebhook(x *exchange, h *Webhook) (answer, error) {
	var f executeForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if err := checkWebhookName("username", f.Username.value); err != nil {
		return refuse(err)
	}
	wait, err := x.flag("wait")
	if err != nil {
		return refuse(err)
	}
	with, err := x.flag("with_components")
	if err != nil {
		return refuse(err)
	}
	if !with && x.application(h) == "" {
		f.Components = opt[[]componentForm]{}
	}
	c, err := x.placeOf(h)
	if err != nil {
		return refuse(err)
	}
	if err := x.mayPost(c, x.channels[h.Channel], f); err != nil {
		return refuse(err)
	}
	m := &Message{Channel: c.ID, Author: x.actor, Webhook: h.ID, AuthorName: f.Username.or(h.Name), TTS: f.TTS.value}
	if err := x.compose(c, m, f.messageBody); err != nil {
		return refuse(err)
	}
	if name := f.ThreadName.value; name != "" {
		c = x.thread(discord.ChannelID(x.issue()), c, discord.PublicThread, threadForm{Name: name, Applied: f.Applied})
		c.Thread.Members = nil // a webhook follows nothing
		m.ID, m.Channel = discord.MessageID(c.ID), c.ID
	}
	x.send(c, m)
	if !wait {
		return done()
	}
	return ok(x.viewMessage(c, m))
}

// mayPost checks where a webhook's message would go: c, which is the webhook's
// channel or a thread of it.
func (x *exchange) mayPost(c, of *channel, f executeForm) error {
	named := f.ThreadName.value != ""
	switch {
	case of.Type.HoldsPosts() && c != of && named:
		return errThreadTwice
	case of.Type.HoldsPosts() && c == of && !named:
		return errForumNeedsThread
	case !of.Type.HoldsPosts() && named:
		return errThreadInForum
	case !named:
		return nil
	}
	if err := x.applicable(of, f.Applied.value); err != nil {
		return err
	}
	if of.Flags&flagRequireTag != 0 && len(f.Applied.value) == 0 {
		return errTagRequired
	}
	return nil
}

// editTokenMessage changes what was sent. A response that was put off is there
// with it.
func editTokenMessage(x *exchange, c *channel, m *Message) (answer, error) {
	var f struct {
		editForm
		Poll opt[pollForm] `json:"poll"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	edited := m.clone()
	loading := m.Flags&flagLoading != 0
	if loading && f.Poll.has() {
		poll, err := f.Poll.value.poll(x)
		if err != nil {
			return refuse(err)
		}
		edited.Poll = poll
	}
	edited.Flags &^= flagLoading
	if err := x.rewrite(c, &edited, f.editForm); err != nil {
		return refuse(err)
	}
	edited.Edited = x.now
	if loading {
		edited.Notified = edited.Mentions.pinged(m.Author)
	}
	*m = edited
	return ok(x.viewMessage(c, m))
}

func deleteTokenMessage(_ *exchange, c *channel, m *Message) (answer, error) {
	c.remove(m.ID)
	return done()
}
