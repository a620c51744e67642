package workflows

import (
	"context"
	"errors"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeWebhookDelete = "DELETE /webhooks/{webhook_id}"

type webhookDelete struct {
	ChannelID    discord.ChannelID `json:"channelId" jsonschema:"channel that it posts into"`
	WebhookID    discord.WebhookID `json:"webhookId" jsonschema:"webhook of that channel"`
	Irreversible bool              `json:"acknowledgeIrreversible" jsonschema:"true: whatever posts through it stops for good"`
	reason
}

type webhookDeleteState struct {
	webhookPlace
	Webhook webhook `json:"webhook"`
}

// webhookDeletion deletes an Incoming webhook.
func webhookDeletion(rest discordtools.REST) mcpcore.Workflow {
	return change[webhookDelete, webhookDeleteState]{
		Name: "webhook-deletion", Category: "webhooks", Title: "Delete a webhook",
		Doc:    `Deletes an Incoming webhook, by its exact id in its channel. Whatever posts through it stops for good; its messages stay.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ManageWebhooks,
		Scopes:      []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels whose webhooks may be deleted"}},
		Acknowledge: []string{"acknowledgeIrreversible"},
		Reads:       webhookReads, Write: []string{routeWebhookDelete},
		Plan: func(ctx context.Context, r *reads, in webhookDelete) (plan mcpcore.Change[webhookDeleteState], err error) {
			var s webhookDeleteState
			var there []webhook
			if s.webhookPlace, there, err = r.webhooks(ctx, in.ChannelID, in.WebhookID); err != nil {
				return plan, err
			}
			if s.Webhook, err = incomingOf(there, in.WebhookID); err != nil {
				return plan, err
			}
			return mcpcore.Change[webhookDeleteState]{
				Action: "delete", State: s, Risks: []string{"irreversible"},
				Facts:    mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}, {Name: "webhook", Value: s.Webhook.Name}},
				Warnings: []string{"What posts through the webhook cannot be seen. It stops."},
			}, nil
		},
		Targets: func(in webhookDelete, s webhookDeleteState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), theWebhook(in.WebhookID), all("webhooks", s.Guild.ID)}
		},
		Apply: func(ctx context.Context, w *write, in webhookDelete, _ webhookDeleteState) (mcpcore.Written, error) {
			err := w.send(ctx, routeWebhookDelete, path{"webhook_id": string(in.WebhookID)}, nil, nil)
			return mcpcore.Written{ID: string(in.WebhookID)}, err
		},
		ReadBack: func(ctx context.Context, r *reads, in webhookDelete, s webhookDeleteState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			left, err := r.webhooksOf(ctx, in.ChannelID, s.Guild.ID)
			if err != nil {
				return found, err
			}
			if _, there := theWebhookOf(left, in.WebhookID); there {
				return found, errors.New("the webhook is still there")
			}
			var d drift
			d.unless(snapshot(left) == s.Others, "webhooks")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}
