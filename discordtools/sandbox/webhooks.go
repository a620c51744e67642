package sandbox

import (
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// webhookRoutes manage webhooks: as the bot, and by a webhook's own token.
//
// Source: https://docs.discord.com/developers/resources/webhook.
var webhookRoutes = []route{
	{method: "GET", path: "/channels/{channel_id}/webhooks", handle: inChannel(discord.ManageWebhooks, listChannelWebhooks)},
	{method: "POST", path: "/channels/{channel_id}/webhooks", handle: inChannel(discord.ManageWebhooks, createWebhook)},
	{method: "GET", path: "/guilds/{guild_id}/webhooks", handle: inGuild(discord.ManageWebhooks, listGuildWebhooks)},
	{method: "GET", path: "/webhooks/{webhook_id}", handle: onWebhook(getWebhook)},
	{method: "PATCH", path: "/webhooks/{webhook_id}", handle: onWebhook(editWebhook)},
	{method: "DELETE", path: "/webhooks/{webhook_id}", handle: onWebhook(deleteWebhook)},
	{method: "GET", path: "/webhooks/{webhook_id}/{webhook_token}", handle: byWebhook(getWebhook), open: true},
	{method: "PATCH", path: "/webhooks/{webhook_id}/{webhook_token}", handle: byWebhook(editWebhook), open: true},
	{method: "DELETE", path: "/webhooks/{webhook_id}/{webhook_token}", handle: byWebhook(deleteWebhook), open: true},
}

const (
	auditWebhookUpdate = 51
	auditWebhookDelete = 52

	maxWebhooks = 15 // of a channel
)

var (
	errUnknownWebhook = notFound(10015, "Unknown Webhook")
	errWebhookToken   = &apiError{status: http.StatusUnauthorized, code: 50027, message: "Invalid Webhook Token"}
)

// AddWebhook adds a webhook to a channel, whose guild it is of. One of type 1,
// which is what Type 0 means, gets a token where none is given.
func (d *Discord) AddWebhook(h Webhook) discord.WebhookID {
	d.mu.Lock()
	defer d.mu.Unlock()
	named(&d.world, &h.ID)
	unused(d.world.webhooks, h.ID)
	h.Guild = known(d.world.channels, h.Channel).Guild
	if h.Type == 0 {
		h.Type = 1
	}
	if h.Type == 1 && h.Token == "" {
		h.Token = secret("webhook", h.ID)
	}
	d.world.webhooks[h.ID] = &h
	return h.ID
}

// MoveWebhook points a webhook to another channel, as somebody with the
// permission to may do at any time.
func (d *Discord) MoveWebhook(id discord.WebhookID, to discord.ChannelID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, c := known(d.world.webhooks, id), known(d.world.channels, to)
	h.Channel, h.Guild = c.ID, c.Guild
}

// secret makes a token that looks like Discord's. It follows from the id, so that
// every run has the same.
func secret[ID ~string](kind string, id ID) string {
	sum := sha512.Sum512([]byte(kind + " " + string(id)))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:68]
}

// onWebhook resolves {webhook_id}, in whose channel the bot needs
// MANAGE_WEBHOOKS.
func onWebhook(handle func(*exchange, *Webhook) (answer, error)) handler {
	return func(x *exchange) (answer, error) {
		h := x.webhooks[id[discord.WebhookID](x, "webhook_id")]
		if h == nil {
			return refuse(errUnknownWebhook)
		}
		if err := x.need(x.channels[h.Channel], discord.ManageWebhooks); err != nil {
			return refuse(errMissingPermissions)
		}
		return handle(x, h)
	}
}

// byWebhook resolves {webhook_id} and {webhook_token}. Who has the token acts as
// the webhook, which is asked for no permission.
func byWebhook(handle func(*exchange, *Webhook) (answer, error)) handler {
	return func(x *exchange) (answer, error) {
		h := x.webhooks[id[discord.WebhookID](x, "webhook_id")]
		switch {
		case h == nil:
			return refuse(errUnknownWebhook)
		case h.Token == "" || h.Token != x.params["webhook_token"]:
			return refuse(errWebhookToken)
		}
		x.byToken, x.actor = true, discord.UserID(h.ID)
		return handle(x, h)
	}
}

type webhookView struct {
	ID            discord.WebhookID      `json:"id"`
	Type          int                    `json:"type"`
	Guild         discord.GuildID        `json:"guild_id"`
	Channel       discord.ChannelID      `json:"channel_id"`
	Name          string                 `json:"name"`
	Avatar        *string                `json:"avatar"`
	Application   *discord.ApplicationID `json:"application_id"`
	User          *userView              `json:"user,omitempty"`
	Token         string                 `json:"token,omitempty"`
	URL           string                 `json:"url,omitempty"`
	SourceGuild   *webhookGuildView      `json:"source_guild,omitempty"`
	SourceChannel *webhookChannelView    `json:"source_channel,omitempty"`
}

type webhookGuildView struct {
	ID   discord.GuildID `json:"id"`
	Name string          `json:"name"`
	Icon *string         `json:"icon"`
}

type webhookChannelView struct {
	ID   discord.ChannelID `json:"id"`
	Name string            `json:"name"`
}

// application is the application that a webhook belongs to, "" for a person's.
func (x *exchange) application(h *Webhook) discord.ApplicationID {
	if u := x.users[h.By]; u != nil && u.Bot {
		return discord.ApplicationID(h.By)
	}
	return ""
}

// viewWebhook shows a token only to who may use it, and who made the webhook
// only to who does not come with its token.
func (x *exchange) viewWebhook(h *Webhook) webhookView {
	app := x.application(h)
	v := webhookView{
		ID: h.ID, Type: h.Type, Guild: h.Guild, Channel: h.Channel, Name: h.Name, Avatar: textOrNull(h.Avatar), Application: textOrNull(app),
	}
	if h.By != "" && !x.byToken {
		by := x.user(h.By)
		v.User = &by
	}
	if h.Type == 1 && (app == "" || app == ApplicationID || x.byToken) {
		v.Token, v.URL = h.Token, "https://discord.com/api/webhooks/"+string(h.ID)+"/"+h.Token
	}
	if from := x.channels[h.Source]; from != nil {
		g := x.guilds[from.Guild]
		v.SourceGuild = &webhookGuildView{g.ID, g.Name, textOrNull(g.Icon)}
		v.SourceChannel = &webhookChannelView{from.ID, from.Name}
	}
	return v
}

func (x *exchange) viewWebhooks(pass func(*Webhook) bool) []webhookView {
	all := []webhookView{}
	for _, h := range sorted(x.webhooks) {
		if pass(h) {
			all = append(all, x.viewWebhook(h))
		}
	}
	return all
}

func listChannelWebhooks(x *exchange, c *channel) (answer, error) {
	return ok(x.viewWebhooks(func(h *Webhook) bool { return h.Channel == c.ID }))
}

func listGuildWebhooks(x *exchange, g *guild) (answer, error) {
	return ok(x.viewWebhooks(func(h *Webhook) bool { return h.Guild == g.ID }))
}

func getWebhook(x *exchange, h *Webhook) (answer, error) { return ok(x.viewWebhook(h)) }

func createWebhook(x *exchange, c *channel) (answer, error) {
	var f struct {
		Name   string      `json:"name" minLength:"1" maxLength:"80"`
		Avatar opt[string] `json:"avatar"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if err := checkWebhookName("name", f.Name); err != nil {
		return refuse(err)
	}
	if c.Thread != nil || c.Type == discord.GuildCategory || c.Type == discord.GuildDirectory {
		return refuse(errChannelType)
	}
	if x.webhooksIn(c.ID) >= maxWebhooks {
		return refuse(errTooManyWebhooks)
	}
	h := &Webhook{Type: 1, Guild: c.Guild, Channel: c.ID, By: x.actor, Name: f.Name}
	if err := picture("avatar", f.Avatar, &h.Avatar); err != nil {
		return refuse(err)
	}
	h.ID = discord.WebhookID(x.issue())
	h.Token = secret("webhook", h.ID)
	x.webhooks[h.ID] = h
	x.audit(c.Guild, auditWebhookCreate, string(h.ID), AuditOptions{}, append(changed("name", nil, &h.Name), changed("channel_id", nil, &h.Channel)...)...)
	return ok(x.viewWebhook(h))
}

// checkWebhookName refuses the names that Discord keeps for itself.
func checkWebhookName(path, name string) error {
	for _, word := range []string{"clyde", "discord"} {
		if strings.Contains(strings.ToLower(name), word) {
			return invalid(path, "USERNAME_INVALID_CONTAINS", "Username cannot contain \"%s\"", word)
		}
	}
	return nil
}

// editWebhook changes a webhook. To point it elsewhere takes MANAGE_WEBHOOKS
// there, and the bot: a token does not do it.
func editWebhook(x *exchange, h *Webhook) (answer, error) {
	var f struct {
		Name    opt[string]            `json:"name" minLength:"1" maxLength:"80" null:"no"`
		Avatar  opt[string]            `json:"avatar"`
		Channel opt[discord.ChannelID] `json:"channel_id"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if err := checkWebhookName("name", f.Name.value); err != nil {
		return refuse(err)
	}
	now := *h
	f.Name.into(&now.Name)
	if err := picture("avatar", f.Avatar, &now.Avatar); err != nil {
		return refuse(err)
	}
	if f.Channel.has() && !x.byToken {
		c, err := x.channel(f.Channel.value)
		if err != nil {
			return refuse(err)
		}
		if err := x.need(c, discord.ManageWebhooks); err != nil {
			return refuse(err)
		}
		if c.ID != h.Channel && x.webhooksIn(c.ID) >= maxWebhooks {
			return refuse(errTooManyWebhooks)
		}
		now.Channel, now.Guild = c.ID, c.Guild
	}
	changes := append(changed("name", h.Name, now.Name), changed("avatar_hash", textOrNull(h.Avatar), textOrNull(now.Avatar))...)
	changes = append(changes, changed("channel_id", h.Channel, now.Channel)...)
	*h = now
	x.auditWebhook(h, auditWebhookUpdate, changes)
	return ok(x.viewWebhook(h))
}

func deleteWebhook(x *exchange, h *Webhook) (answer, error) {
	delete(x.webhooks, h.ID)
	x.auditWebhook(h, auditWebhookDelete, changed("name", &h.Name, nil))
	return done()
}

// auditWebhook names nobody where a token did it.
func (x *exchange) auditWebhook(h *Webhook, action int, changes []AuditChange) {
	actor := x.actor
	if x.byToken {
		x.actor = ""
	}
	x.audit(h.Guild, action, string(h.ID), AuditOptions{}, changes...)
	x.actor = actor
}
