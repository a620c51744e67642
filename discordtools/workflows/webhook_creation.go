package workflows

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeWebhookCreate = "POST /channels/{channel_id}/webhooks"

type webhookCreate struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel that it posts into"`
	Name      string            `json:"name" jsonschema:"name that its messages bear; not with clyde or discord in it" minLength:"1" maxLength:"80"`
	reason
}

type webhookCreateState struct {
	webhookPlace
	Name string `json:"name"`
}

type webhookBody struct {
	Name    string            `json:"name,omitempty"`
	Channel discord.ChannelID `json:"channel_id,omitempty"`
}

// webhookName refuses the names that Discord keeps for itself.
var webhookName = mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
	name := strings.ToLower(c.Text("name"))
	if c.Has("name") && (strings.TrimSpace(name) == "" || strings.Contains(name, "clyde") || strings.Contains(name, "discord")) {
		return issue("name", "is empty, or has clyde or discord in it, which Discord refuses")
	}
	return nil
}}

// webhookCreation makes a webhook. Its token is dropped where Discord's answer is
// read: the operator takes it from Discord.
func webhookCreation(rest discordtools.REST) mcpcore.Workflow {
	return change[webhookCreate, webhookCreateState]{
		Name: "webhook-creation", Category: "webhooks", Title: "Create a webhook",
		Doc: `Makes a webhook that posts into a channel, and tells its id. Its token, which is all that it takes to post, is in no
			answer and no record: the operator takes the address from the guild's settings in Discord under Integrations, or
			reads it by the id with the bot's own credentials.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ManageWebhooks,
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels that may get webhooks"}},
		Rules:  []mcpcore.Rule{webhookName},
		Reads:  webhookReads, Write: []string{routeWebhookCreate},
		Plan: func(ctx context.Context, r *reads, in webhookCreate) (plan mcpcore.Change[webhookCreateState], err error) {
			s, others := webhookCreateState{Name: strings.TrimSpace(in.Name)}, []webhook(nil)
			if s.webhookPlace, others, err = r.webhooks(ctx, in.ChannelID, ""); err != nil {
				return plan, err
			}
			plan = mcpcore.Change[webhookCreateState]{
				Action: "create", State: s, Risks: []string{"bearer-credential"},
				Facts:    mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}, {Name: "name", Value: s.Name}},
				Warnings: []string{"Whoever has its token posts into the channel, until the webhook is deleted."},
			}
			if slices.ContainsFunc(others, func(h webhook) bool { return h.Name == s.Name }) {
				plan.Warnings = append(plan.Warnings, "The channel has a webhook of that name already.")
			}
			return plan, s.room()
		},
		Targets: func(in webhookCreate, s webhookCreateState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), all("webhooks", s.Guild.ID)}
		},
		Apply: func(ctx context.Context, w *write, in webhookCreate, s webhookCreateState) (done mcpcore.Written, err error) {
			var h webhook
			if err := w.send(ctx, routeWebhookCreate, inChannel(in.ChannelID), webhookBody{Name: s.Name}, &h); err != nil {
				return done, err
			}
			if done.ID, err = id(h.ID); err == nil {
				err = h.is("", in.ChannelID, s.Guild.ID)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in webhookCreate, s webhookCreateState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			all, err := r.webhooksOf(ctx, in.ChannelID, s.Guild.ID)
			if err != nil {
				return found, err
			}
			h, there := theWebhookOf(all, discord.WebhookID(w.ID))
			if !there || h.Type != incoming {
				return found, errors.New("the webhook is not there")
			}
			var d drift
			d.unless(h.Name == s.Name, "name")
			d.unless(otherWebhooks(all, h.ID) == s.Others, "webhooks")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}
