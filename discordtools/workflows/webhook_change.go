package workflows

import (
	"context"
	"errors"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeWebhookEdit = "PATCH /webhooks/{webhook_id}"

type webhookEdit struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel that it posts into now"`
	WebhookID discord.WebhookID `json:"webhookId" jsonschema:"webhook of that channel"`
	Name      string            `json:"name,omitempty" jsonschema:"new name; not with clyde or discord in it" minLength:"1" maxLength:"80"`
	To        discord.ChannelID `json:"destinationChannelId,omitempty" jsonschema:"channel of the same guild to post into from now on"`
	reason
}

type webhookEditState struct {
	Source      webhookPlace  `json:"source"`
	Destination *webhookPlace `json:"destination" jsonschema:"where it moves; null when it stays"`
	Webhook     webhook       `json:"webhook"`
	Wanted      webhookBody   `json:"changes"`
}

// webhookChange renames a webhook or moves it within its guild.
func webhookChange(rest discordtools.REST) mcpcore.Workflow {
	return change[webhookEdit, webhookEditState]{
		Name: "webhook-change", Category: "webhooks", Title: "Change a webhook",
		Doc: `Renames an Incoming webhook, points it to another channel of its guild, or both. Its token and address stay as they are, so
			all that posts through it goes on, into the other channel.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ManageWebhooks,
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels whose webhooks may be changed, and to which they may be moved"}},
		Rules: []mcpcore.Rule{webhookName, {Check: func(c *mcpcore.Call) *mcpcore.Issue {
			if !c.Has("name") && !c.Has("destinationChannelId") {
				return issue("name", "or destinationChannelId must be given")
			}
			return nil
		}}},
		Reads: webhookReads, Write: []string{routeWebhookEdit},
		Plan: planWebhookChange,
		Targets: func(in webhookEdit, s webhookEditState) []mcpcore.Target {
			claims := []mcpcore.Target{theChannel(in.ChannelID), theWebhook(in.WebhookID), all("webhooks", s.Source.Guild.ID)}
			if s.Destination != nil {
				claims = append(claims, theChannel(s.Destination.Channel.ID))
			}
			return claims
		},
		Apply: func(ctx context.Context, w *write, in webhookEdit, s webhookEditState) (done mcpcore.Written, err error) {
			var h webhook
			if err := w.send(ctx, routeWebhookEdit, path{"webhook_id": string(in.WebhookID)}, s.Wanted, &h); err != nil {
				return done, err
			}
			if done.ID, err = id(h.ID); err == nil {
				err = h.is(in.WebhookID, s.place().Channel.ID, s.Source.Guild.ID)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in webhookEdit, s webhookEditState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			all, err := r.webhooksOf(ctx, s.place().Channel.ID, s.Source.Guild.ID)
			if err != nil {
				return found, err
			}
			h, there := theWebhookOf(all, in.WebhookID)
			if !there || h.Type != incoming {
				return found, errors.New("the webhook is not where it should be")
			}
			var d drift
			d.unless(s.Wanted.Name == "" && h.Name == s.Webhook.Name || h.Name == s.Wanted.Name, "name")
			d.unless(otherWebhooks(all, in.WebhookID) == s.place().Others, "webhooks")
			if s.Destination == nil {
				return mcpcore.Reading{Drift: d}, nil
			}
			left, err := r.webhooksOf(ctx, in.ChannelID, s.Source.Guild.ID)
			if err != nil {
				return found, err
			}
			if _, there := theWebhookOf(left, in.WebhookID); there {
				return found, errors.New("the webhook is still where it was")
			}
			d.unless(snapshot(left) == s.Source.Others, "sourceWebhooks")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func theWebhook(id discord.WebhookID) mcpcore.Target {
	return mcpcore.Target{Kind: "webhook", ID: string(id)}
}

// place is where the webhook will be.
func (s *webhookEditState) place() *webhookPlace {
	if s.Destination != nil {
		return s.Destination
	}
	return &s.Source
}

func planWebhookChange(ctx context.Context, r *reads, in webhookEdit) (plan mcpcore.Change[webhookEditState], err error) {
	var s webhookEditState
	var there []webhook
	if s.Source, there, err = r.webhooks(ctx, in.ChannelID, in.WebhookID); err != nil {
		return plan, err
	}
	if s.Webhook, err = incomingOf(there, in.WebhookID); err != nil {
		return plan, err
	}
	plan = mcpcore.Change[webhookEditState]{Action: "change", Facts: mcpcore.Facts{
		{Name: "guild", Value: s.Source.Guild.Name}, {Name: "channel", Value: s.Source.Channel.Name}, {Name: "webhook", Value: s.Webhook.Name},
	}}
	if name := strings.TrimSpace(in.Name); name != "" && name != s.Webhook.Name {
		s.Wanted.Name = name
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "new name", Value: name})
	}
	if in.To != "" && in.To != in.ChannelID {
		if err := r.Call.Permitted("channels", string(in.To)); err != nil {
			return plan, err
		}
		to, _, err := r.webhooks(ctx, in.To, in.WebhookID)
		if err != nil {
			return plan, err
		}
		if to.Guild.ID != s.Source.Guild.ID {
			return plan, refused("other-guild", "%s is in another guild", in.To)
		}
		if err := to.room(); err != nil {
			return plan, err
		}
		s.Destination, s.Wanted.Channel = &to, in.To
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "moves to", Value: to.Channel.Name})
		plan.Warnings = []string{"The webhook's token and address stay valid: whoever has them posts into the other channel."}
		plan.Risks = []string{"bearer-credential"}
	}
	if s.Wanted == (webhookBody{}) {
		plan.Action, plan.Current = "none", true
	}
	plan.State = s
	return plan, nil
}
