package discordtools

import (
	"context"
	"net/url"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// webhookMessages post, read, change and delete what a webhook says, by its token.
func webhookMessages() []declaration {
	return []declaration{
		write[webhooksExecute, webhookSent]{
			Name:  "webhooks_execute",
			Title: "Post through a webhook",
			Doc: `Posts a message through a webhook: text, embeds, files, a poll, buttons. Nobody is
				notified unless allowed_mentions says so. In a forum give thread_name to start a post or
				thread_id to write in one. Without wait Discord only takes it on.`,
			Route: "POST /webhooks/{webhook_id}/{webhook_token}",
			Rules: append([]mcpcore.Rule{
				mcpcore.Exclusive("thread_id", "thread_name"), mcpcore.Requires("applied_tags", "thread_name"),
			}, tokenMessageRules...),
			Redact:    private,
			Set:       []added{noMentions, withComponents},
			Anonymous: true,
			Run:       executeWebhook,
		},
		write[webhooksEditMessage, tokenMessageEdited]{
			Name:  "webhooks_edit_message",
			Title: "Edit a webhook's message",
			Doc: `Changes a message that the webhook sent. What is not given stays. Nobody is notified
				again unless allowed_mentions says so.`,
			Route:      "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
			Repeatable: true,
			Rules:      tokenEditRules,
			Redact:     private,
			Set:        []added{noMentions, withComponents},
			Anonymous:  true,
		},
		read[webhookMessageRef, webhookMessage]{
			Name:      "webhooks_get_message",
			Title:     "Get a webhook's message",
			Doc:       `Reads a message that the webhook sent.`,
			Route:     routeWebhookMessage,
			Anonymous: true,
		},
		destroy[webhookMessageRef, webhookMessageDeleted]{
			Name:      "webhooks_delete_message",
			Title:     "Delete a webhook's message",
			Doc:       `Deletes a message that the webhook sent, for good.`,
			Route:     "DELETE /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
			Calls:     []string{routeWebhookMessage},
			Anonymous: true,
			Facts: func(ctx context.Context, a *api) (mcpcore.Facts, error) {
				query := url.Values{}
				if thread := a.call.Text("thread_id"); thread != "" {
					query.Set("thread_id", thread)
				}
				return messageFactsAt(ctx, a, routeWebhookMessage, query)
			},
		},
	}
}

const routeWebhookMessage = "GET /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"

// withComponents keeps Discord from dropping the components of a webhook that no
// application owns.
//
// Source: https://docs.discord.com/developers/resources/webhook#execute-webhook-query-string-params.
var withComponents = added{"with_components", func(call *mcpcore.Call) string {
	if call.Has("components") {
		return "true"
	}
	return ""
}}

type webhooksExecute struct {
	webhookByToken
	Username  string `json:"username,omitempty" jsonschema:"name instead of the webhook's" minLength:"1" maxLength:"80"`
	AvatarURL string `json:"avatar_url,omitempty" jsonschema:"address of a picture instead of the webhook's, which Discord loads" maxLength:"2048"`
	tokenMessage
	Flags          int               `json:"flags,omitempty" jsonschema:"4 hides link previews, 4096 sends silently, 4100 both" enum:"0,4,4096,4100"`
	ThreadID       discord.ChannelID `json:"thread_id,omitempty" in:"query" jsonschema:"thread or post of the webhook's channel"`
	ThreadName     string            `json:"thread_name,omitempty" jsonschema:"title of a new post, in a forum" maxLength:"100"`
	AppliedTags    []discord.TagID   `json:"applied_tags,omitempty" jsonschema:"tags of the new post" maxItems:"5"`
	WithComponents bool              `json:"with_components,omitempty" in:"query" jsonschema:"false drops components; true where there are any"`
	Wait           bool              `json:"wait,omitempty" in:"query" jsonschema:"answer with the message once it is there"`
}

type webhookSent struct {
	Enqueued  bool              `json:"enqueued,omitempty" from:"@derived" jsonschema:"taken on; no message is known without wait"`
	MessageID discord.MessageID `json:"message_id,omitempty" from:"id"`
	ChannelID discord.ChannelID `json:"channel_id,omitempty"`
	WebhookID discord.WebhookID `json:"webhook_id" from:"@arg"`
}

func executeWebhook(ctx context.Context, a *api, _ webhooksExecute) (v webhookSent, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	v.Enqueued = len(reply.Body) == 0
	return v, a.project(reply, &v)
}

type webhookMessageRef struct {
	webhookByToken
	MessageID discord.MessageID `json:"message_id" jsonschema:"message"`
	ThreadID  discord.ChannelID `json:"thread_id,omitempty" in:"query" jsonschema:"thread that it is in"`
}

type webhooksEditMessage struct {
	webhookMessageRef
	tokenEdit
	WithComponents bool `json:"with_components,omitempty" in:"query" jsonschema:"false drops components; true where there are any"`
}

type webhookMessage struct {
	tokenMessageView
	UntrustedContent string `json:"untrusted_content" from:"@derived"`
	remarks
}

func (v *webhookMessage) derive(*mcpcore.Call) {
	v.remarks, v.UntrustedContent = finish(v.shown()), v.Text()
}

type webhookMessageDeleted struct {
	Deleted   bool              `json:"deleted" from:"@true"`
	MessageID discord.MessageID `json:"message_id" from:"@arg"`
}
