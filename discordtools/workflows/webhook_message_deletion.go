package workflows

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeWebhookByToken       = "GET /webhooks/{webhook_id}/{webhook_token}"
	routeWebhookMessage       = "GET /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"
	routeWebhookMessageDelete = "DELETE /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"
)

type webhookMessageDelete struct {
	ChannelID    discord.ChannelID    `json:"channelId" jsonschema:"channel of the webhook"`
	WebhookID    discord.WebhookID    `json:"webhookId" jsonschema:"webhook that sent the message"`
	Token        discord.WebhookToken `json:"token" jsonschema:"the webhook's token, a secret: the last part of its address"`
	MessageID    discord.MessageID    `json:"messageId" jsonschema:"message to delete"`
	ThreadID     discord.ChannelID    `json:"threadId,omitempty" jsonschema:"thread or post of the channel, where the message is in one"`
	Irreversible bool                 `json:"acknowledgeIrreversible" jsonschema:"true: the message cannot be brought back"`
	Why          string               `json:"localReason,omitempty" jsonschema:"why; the plan binds it, and it is not sent: Discord takes none here" maxLength:"512"`
}

// path is where the message is, by the token.
func (in *webhookMessageDelete) path() path {
	return path{"webhook_id": string(in.WebhookID), "webhook_token": string(in.Token), "message_id": string(in.MessageID)}
}

// thread is the query that names the thread.
func (in *webhookMessageDelete) thread() map[string][]string {
	if in.ThreadID == "" {
		return nil
	}
	return map[string][]string{"thread_id": {string(in.ThreadID)}}
}

// in is the channel or thread of the message.
func (in *webhookMessageDelete) in() discord.ChannelID {
	if in.ThreadID != "" {
		return in.ThreadID
	}
	return in.ChannelID
}

type webhookMessageState struct {
	placeSeen
	Webhook webhook           `json:"webhook"`
	Thread  discord.ChannelID `json:"threadId,omitempty"`
	Message messageSeen       `json:"message" jsonschema:"bound by what it says and its files; of the rest by the counts below"`
	Embeds  int               `json:"embeds"`
	Parts   int               `json:"components"`
	Poll    bool              `json:"poll"`
	Why     string            `json:"localReason"`
}

// webhookMessageDeletion deletes what a webhook said, by its token.
func webhookMessageDeletion(rest discordtools.REST) mcpcore.Workflow {
	return change[webhookMessageDelete, webhookMessageState]{
		Name: "webhook-message-deletion", Category: "webhooks", Title: "Delete a webhook's message",
		Doc: `Deletes a message that an Incoming webhook sent, with the webhook's own token, for good. The token is in no plan, answer or
			record. The plan binds the text and files of the message; embeds and components it counts.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel, NeedsIn: "channelId",
		Scopes:      []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels whose webhooks' messages may be deleted, in their threads too"}},
		Acknowledge: []string{"acknowledgeIrreversible"}, Redact: []string{"token"},
		Reads: append(slices.Clone(placeRoutes), routeWebhookByToken, routeWebhookMessage), Write: []string{routeWebhookMessageDelete},
		Plan: planWebhookMessage,
		Targets: func(in webhookMessageDelete, _ webhookMessageState) []mcpcore.Target {
			return []mcpcore.Target{theWebhook(in.WebhookID), theMessage(in.in(), in.MessageID)}
		},
		Apply: func(ctx context.Context, w *write, in webhookMessageDelete, s webhookMessageState) (mcpcore.Written, error) {
			r := discordtools.Request{Path: in.path(), Query: in.thread()}
			return mcpcore.Written{ID: string(in.MessageID)}, w.sendWith(ctx, routeWebhookMessageDelete, r, nil, nil)
		},
		ReadBack: func(ctx context.Context, r *reads, in webhookMessageDelete, s webhookMessageState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			_, err = r.webhookMessage(ctx, in)
			if err := vanished(err, "message"); err != nil {
				return found, err
			}
			// With a webhook that is gone or moved every message looks deleted.
			h, err := r.webhookByToken(ctx, in)
			if err == nil {
				err = h.is(in.WebhookID, in.ChannelID, s.Guild.ID)
			}
			return found, err
		},
	}.on(rest)
}

func (r *reads) webhookByToken(ctx context.Context, in webhookMessageDelete) (h webhook, err error) {
	at := in.path()
	delete(at, "message_id")
	return h, r.get(ctx, routeWebhookByToken, at, &h)
}

func (r *reads) webhookMessage(ctx context.Context, in webhookMessageDelete) (m message, err error) {
	if err := r.query(ctx, routeWebhookMessage, in.path(), in.thread(), &m); err != nil {
		return m, err
	}
	if m.ID != in.MessageID || m.Channel != in.in() || m.Webhook != in.WebhookID {
		err = errors.New("the answer is of another message than was asked for")
	}
	return m, err
}

func planWebhookMessage(ctx context.Context, r *reads, in webhookMessageDelete) (plan mcpcore.Change[webhookMessageState], err error) {
	at, err := r.place(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if !slices.Contains(webhookTypes, at.kind) {
		return plan, refused("channel-type", "%s has no webhooks", in.ChannelID)
	}
	if err := at.needs(discord.ViewChannel); err != nil {
		return plan, err
	}
	if in.ThreadID != "" {
		t, err := r.channel(ctx, at.Guild.ID, in.ThreadID)
		if err != nil {
			return plan, err
		}
		if !t.Type.IsThread() || t.Parent != in.ChannelID {
			return plan, refused("thread-missing", "%s is no thread of the channel", in.ThreadID)
		}
	}
	h, err := r.webhookByToken(ctx, in)
	if err != nil {
		return plan, err
	}
	if h.is(in.WebhookID, in.ChannelID, at.Guild.ID) != nil {
		return plan, refused("webhook-missing", "%s is no Incoming webhook of the channel", in.WebhookID)
	}
	m, err := r.webhookMessage(ctx, in)
	if err != nil {
		return plan, err
	}
	s := webhookMessageState{
		placeSeen: at.placeSeen, Webhook: h, Thread: in.ThreadID, Message: messageSeen{m.ID, m.Author.ID, m.Type, m.Pinned, said(m)},
		Embeds: len(m.Embeds), Parts: len(m.Components), Poll: m.Poll != nil, Why: in.Why,
	}
	return mcpcore.Change[webhookMessageState]{
		Action: "delete", State: s, Risks: []string{"irreversible"},
		Facts: append(mcpcore.Facts{
			{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}, {Name: "webhook", Value: h.Name}, {Name: "components", Value: strconv.Itoa(s.Parts)},
		}, m.facts()...),
		Warnings: []string{"Of embeds, components and polls only that they are there is compared."},
	}, nil
}
