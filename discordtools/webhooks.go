package discordtools

import (
	"context"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// webhooks manages webhooks and speaks through them. A webhook's token is all
// that it takes to use it: no result holds one, but that of webhooks_create when
// it is asked for, and routes with a token are sent without the bot's.
//
// Source: https://docs.discord.com/developers/resources/webhook.
func webhooks() category {
	const needs = discord.ViewChannel | discord.ManageWebhooks
	return category{Name: "webhooks", Scope: mcpcore.ChannelScope, Tools: append([]declaration{
		write[webhooksCreate, webhookMade]{
			Name:  "webhooks_create",
			Title: "Create a webhook",
			Doc: `Makes a webhook that posts into a channel under a name and picture of its own. Its token
				shows only with reveal_token, and never again.`,
			Route:  "POST /channels/{channel_id}/webhooks",
			Needs:  needs,
			Redact: []string{"avatar"},
			Fence:  fence.Username,
			Run:    createWebhook,
		},
		destroy[webhookTarget, webhookDeleted]{
			Name:  "webhooks_delete",
			Title: "Delete a webhook",
			Doc:   `Deletes a webhook for good. Whatever posts through it stops; its messages stay.`,
			Route: "DELETE /webhooks/{webhook_id}",
			Calls: []string{routeWebhook, routeChannel},
			Needs: needs,
			Facts: webhookFacts,
		},
		destroy[webhookByToken, webhookDeleted]{
			Name:      "webhooks_delete_with_token",
			Title:     "Delete a webhook by its token",
			Doc:       `Deletes the webhook that a token belongs to, for good. Needs no permission.`,
			Route:     "DELETE /webhooks/{webhook_id}/{webhook_token}",
			Calls:     []string{routeWebhookByToken},
			Anonymous: true,
			Facts:     webhookTokenFacts,
		},
		read[webhookRef, webhookOne]{
			Name:  "webhooks_get",
			Title: "Get a webhook",
			Doc:   `Reads one webhook, without its token.`,
			Route: routeWebhook,
			Needs: needs,
			Fence: fence.Username,
		},
		read[webhookByToken, webhookOne]{
			Name:      "webhooks_get_with_token",
			Title:     "Get a webhook by its token",
			Doc:       `Reads the webhook that a token belongs to, and thereby whether the token still counts. Needs no permission.`,
			Route:     routeWebhookByToken,
			Anonymous: true,
			Fence:     fence.Username,
		},
		read[webhooksInChannel, webhooksPage]{
			Name:  "webhooks_list_channel",
			Title: "List a channel's webhooks",
			Doc:   `Lists the webhooks of a channel, without their tokens.`,
			Route: "GET /channels/{channel_id}/webhooks",
			Needs: needs,
			Fence: fence.Webhook,
		},
		read[webhooksInGuild, webhooksPage]{
			Name:  "webhooks_list_guild",
			Title: "List a guild's webhooks",
			Doc:   `Lists all webhooks of a guild, without their tokens.`,
			Route: "GET /guilds/{guild_id}/webhooks",
			Scope: mcpcore.GuildScope,
			Needs: discord.ManageWebhooks,
			Fence: fence.Username,
		},
		write[webhooksModify, webhookOne]{
			Name:  "webhooks_modify",
			Title: "Change a webhook",
			Doc: `Renames a webhook, changes its picture, or points it to another channel, where all that
				posts through it goes from then on. Its token stays.`,
			Route:      "PATCH /webhooks/{webhook_id}",
			Repeatable: true,
			Needs:      needs,
			Rules:      []mcpcore.Rule{anyGiven("name", "avatar", "channel_id")},
			Redact:     []string{"avatar"},
			Fence:      fence.Username,
		},
		write[webhooksModifyByToken, webhookOne]{
			Name:       "webhooks_modify_with_token",
			Title:      "Change a webhook by its token",
			Doc:        `Renames the webhook that a token belongs to, or changes its picture. Needs no permission.`,
			Route:      "PATCH /webhooks/{webhook_id}/{webhook_token}",
			Repeatable: true,
			Rules:      []mcpcore.Rule{anyGiven("name", "avatar")},
			Redact:     []string{"avatar"},
			Anonymous:  true,
			Fence:      fence.Username,
		},
	}, webhookMessages()...)}
}

const (
	routeWebhook        = "GET /webhooks/{webhook_id}"
	routeWebhookByToken = "GET /webhooks/{webhook_id}/{webhook_token}"
)

type webhookRef struct {
	WebhookID discord.WebhookID `json:"webhook_id" jsonschema:"webhook"`
}

type webhookTarget struct {
	webhookRef
	auditReason
}

type webhookByToken struct {
	webhookRef
	Token discord.WebhookToken `json:"token" wire:"webhook_token" jsonschema:"the webhook's token, a secret: the last part of its address"`
}

type webhooksInChannel struct {
	channelRef
	offset
}

type webhooksInGuild struct {
	guildRef
	offset
}

type webhooksCreate struct {
	channelRef
	Name   string  `json:"name" jsonschema:"name that its messages bear; not with clyde or discord in it" minLength:"1" maxLength:"80"`
	Avatar *string `json:"avatar,omitempty" as:"image" jsonschema:"image as a data URI"`
	Reveal bool    `json:"reveal_token,omitempty" in:"local" jsonschema:"show the token, which is a secret"`
	auditReason
}

type webhooksModify struct {
	webhookRef
	Name      string            `json:"name,omitempty" jsonschema:"new name" minLength:"1" maxLength:"80"`
	Avatar    *string           `json:"avatar,omitempty" as:"image" jsonschema:"image as a data URI; null removes it"`
	ChannelID discord.ChannelID `json:"channel_id,omitempty" jsonschema:"channel to post into from now on"`
	auditReason
}

type webhooksModifyByToken struct {
	webhookByToken
	Name   string  `json:"name,omitempty" jsonschema:"new name" minLength:"1" maxLength:"80"`
	Avatar *string `json:"avatar,omitempty" as:"image" jsonschema:"image as a data URI; null removes it"`
}

// webhookView is a webhook without its token.
type webhookView struct {
	ID            discord.WebhookID      `json:"id"`
	Type          int                    `json:"type" jsonschema:"1 posts, 2 follows an announcement channel, 3 an application's"`
	ChannelID     *discord.ChannelID     `json:"channel_id"`
	ApplicationID *discord.ApplicationID `json:"application_id" jsonschema:"whose application's it is"`
	Name          *string                `json:"name"`
	UserID        discord.UserID         `json:"user_id,omitempty" from:"user.id" jsonschema:"who made it"`
}

type webhookOne struct {
	webhookView
	GuildID         *discord.GuildID  `json:"guild_id"`
	Avatar          *string           `json:"avatar"`
	SourceChannelID discord.ChannelID `json:"source_channel_id,omitempty" from:"source_channel.id" jsonschema:"channel that it follows"`
	UntrustedName   string            `json:"untrusted_name" from:"@derived"`
}

func (v *webhookOne) derive(*mcpcore.Call) { v.UntrustedName = fencedName(v.Name) }

func fencedName(name *string) string {
	if name == nil {
		return ""
	}
	return fence.Text(fence.Username, *name)
}

type webhookMade struct {
	webhookOne
	Token discord.WebhookToken `json:"token,omitempty" from:"@derived"`
	remarks
}

// createWebhook shows the token to who asked for it: nothing can read it later.
func createWebhook(ctx context.Context, a *api, in webhooksCreate) (v webhookMade, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	if err := a.project(reply, &v); err != nil || !in.Reveal {
		return v, err
	}
	var secret struct {
		Token discord.WebhookToken `json:"token"`
	}
	if err := a.project(reply, &secret); err != nil {
		return v, err
	}
	v.Token, v.Warnings = secret.Token, []string{secretNote}
	return v, nil
}

type webhooksPage struct {
	Webhooks []webhookView `json:"webhooks" from:"@reply"`
	part
}

type webhookDeleted struct {
	Deleted   bool              `json:"deleted" from:"@true"`
	WebhookID discord.WebhookID `json:"webhook_id" from:"@arg"`
}

// webhookAbout is a webhook as facts tell of it.
type webhookAbout struct {
	Name      string            `json:"name"`
	Type      int               `json:"type"`
	ChannelID discord.ChannelID `json:"channel_id"`
	User      person            `json:"user"`
}

func (w webhookAbout) facts(channel string) mcpcore.Facts {
	kind := "posts for who has its token"
	switch w.Type {
	case 2:
		kind = "follows an announcement channel"
	case 3:
		kind = "an application's"
	}
	return mcpcore.Facts{{Name: "webhook", Value: w.Name}, {Name: "kind", Value: kind}, {Name: "channel", Value: channel}}
}

func webhookFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var w webhookAbout
	if err := a.do(ctx, routeWebhook, sub{}, &w); err != nil {
		return nil, err
	}
	var c standing
	if err := a.do(ctx, routeChannel, sub{Path: atChannel(w.ChannelID)}, &c); err != nil {
		return nil, err
	}
	facts := w.facts(c.Name)
	if w.User.ID != "" {
		facts = append(facts, mcpcore.Fact{Name: "made by", Value: w.User.String()})
	}
	return facts, nil
}

// webhookTokenFacts are what the token alone can tell.
func webhookTokenFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var w webhookAbout
	err := a.do(ctx, routeWebhookByToken, sub{}, &w)
	return w.facts(string(w.ChannelID)), err
}
