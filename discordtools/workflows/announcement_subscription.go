package workflows

import (
	"context"
	"errors"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeFollow = "POST /channels/{channel_id}/followers"

type subscription struct {
	Action    string            `json:"action" jsonschema:"follow a channel, or end it" enum:"subscribe,unsubscribe"`
	SourceID  discord.ChannelID `json:"sourceChannelId,omitempty" jsonschema:"subscribe: announcement channel to follow"`
	TargetID  discord.ChannelID `json:"targetChannelId" jsonschema:"text channel that gets what is published"`
	WebhookID discord.WebhookID `json:"webhookId,omitempty" jsonschema:"unsubscribe: the webhook that follows"`
	reason
}

type subscriptionState struct {
	webhookPlace
	Source   *placeSeen        `json:"source"`
	Webhook  *webhook          `json:"webhook"`
	Existing discord.WebhookID `json:"existingWebhook,omitempty"`
}

type followBody struct {
	Target discord.ChannelID `json:"webhook_channel_id"`
}

// announcementSubscription has a channel follow an announcement channel, or ends
// it.
func announcementSubscription(rest discordtools.REST) mcpcore.Workflow {
	return change[subscription, subscriptionState]{
		Name: "announcement-subscription", Category: "announcement-subscriptions", Title: "Follow an announcement channel",
		Doc: `Has a text channel follow an announcement channel, of its guild or another that the bot is in, or ends that by the
			exact webhook that follows. What was published before stays.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ChannelScope, Crosses: true,
		Needs: discord.ViewChannel | discord.ManageWebhooks, NeedsIn: "targetChannelId",
		Scopes: []mcpcore.PolicyScope{
			{Name: "sources", Arg: "sourceChannelId", Doc: "announcement channels that may be followed"},
			{Name: "targets", Arg: "targetChannelId", Doc: "text channels whose subscriptions may be changed"},
		},
		Rules: []mcpcore.Rule{{Check: func(c *mcpcore.Call) *mcpcore.Issue {
			if follow := c.Text("action") == "subscribe"; c.Has("sourceChannelId") != follow || c.Has("webhookId") == follow {
				return issue("action", "takes sourceChannelId to subscribe, and webhookId to unsubscribe")
			}
			return nil
		}}},
		Reads: webhookReads, Write: []string{routeFollow, routeWebhookDelete},
		Plan: planSubscription,
		Targets: func(in subscription, s subscriptionState) []mcpcore.Target {
			claims := []mcpcore.Target{theChannel(in.TargetID), all("webhooks", s.Guild.ID)}
			if in.SourceID != "" {
				return append(claims, theChannel(in.SourceID))
			}
			return append(claims, theWebhook(in.WebhookID))
		},
		Apply: func(ctx context.Context, w *write, in subscription, s subscriptionState) (done mcpcore.Written, err error) {
			if in.WebhookID != "" {
				return mcpcore.Written{ID: string(in.WebhookID)}, w.send(ctx, routeWebhookDelete, path{"webhook_id": string(in.WebhookID)}, nil, nil)
			}
			var made struct {
				Source  discord.ChannelID `json:"channel_id"`
				Webhook discord.WebhookID `json:"webhook_id"`
			}
			if err := w.send(ctx, routeFollow, inChannel(in.SourceID), followBody{in.TargetID}, &made); err != nil {
				return done, err
			}
			if done.ID, err = id(made.Webhook); err == nil && made.Source != in.SourceID {
				err = errOtherChannel
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in subscription, s subscriptionState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.webhooksOf(ctx, in.TargetID, s.Guild.ID)
			if err != nil {
				return found, err
			}
			h, there := theWebhookOf(now, discord.WebhookID(w.ID))
			if there != (in.SourceID != "") || there && !h.follows(in.SourceID) {
				return found, errors.New("the channel does not follow as it was to")
			}
			var d drift
			d.unless(otherWebhooks(now, h.ID) == s.Others, "webhooks")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func planSubscription(ctx context.Context, r *reads, in subscription) (plan mcpcore.Change[subscriptionState], err error) {
	var s subscriptionState
	var there []webhook
	if s.webhookPlace, there, err = r.webhooks(ctx, in.TargetID, in.WebhookID); err != nil {
		return plan, err
	}
	if s.Type != discord.GuildText.String() {
		return plan, refused("target-type", "%s, a %s, is no text channel", in.TargetID, s.Type)
	}
	plan = mcpcore.Change[subscriptionState]{Action: in.Action, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}}}
	if in.SourceID == "" {
		h, err := followerOf(there, in.WebhookID)
		if err != nil {
			return plan, err
		}
		s.Webhook = &h
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "ends following", Value: h.Name})
		plan.State = s
		return plan, nil
	}
	source, err := r.place(ctx, in.SourceID)
	if err != nil {
		return plan, err
	}
	if source.kind != discord.GuildAnnouncement {
		return plan, refused("source-type", "%s, a %s, is no announcement channel", in.SourceID, source.kind)
	}
	if err := source.needs(discord.ViewChannel); err != nil {
		return plan, err
	}
	var alike []discord.WebhookID
	for _, h := range there {
		switch {
		case h.Type == follower && (h.Source == nil || h.Source.ID == ""):
			return plan, refused("source-unknown", "%s follows a channel that cannot be seen, which may be this one", h.ID)
		case h.follows(in.SourceID):
			alike = append(alike, h.ID)
		}
	}
	s.Source = &source.placeSeen
	plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "follows", Value: source.Channel.Name}, mcpcore.Fact{Name: "of the guild", Value: source.Guild.Name})
	if s.Existing, err = joining(&plan, "webhooks", alike, s.Count, s.Limit); err != nil {
		return plan, err
	}
	plan.State = s
	return plan, nil
}

// follows reports whether a webhook follows a channel.
func (h webhook) follows(source discord.ChannelID) bool {
	return h.Type == follower && h.Source != nil && h.Source.ID == source
}

// followerOf is one of webhooks, which follows a channel.
func followerOf(all []webhook, id discord.WebhookID) (webhook, error) {
	h, there := theWebhookOf(all, id)
	switch {
	case !there:
		return h, refused("webhook-missing", "the channel has no webhook %s", id)
	case h.Type != follower:
		return h, refused("not-follower", "%s follows no channel", id)
	}
	return h, nil
}
