package workflows

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeChannelWebhooks = "GET /channels/{channel_id}/webhooks"
	channelWebhooks      = 15 // of one channel
	incoming             = 1  // the type of webhooks that post with a token
	follower             = 2  // the type of webhooks that post what another channel publishes
)

// webhookTypes are the channels that have webhooks.
var webhookTypes = []discord.ChannelType{
	discord.GuildText, discord.GuildAnnouncement, discord.GuildVoice, discord.GuildStageVoice, discord.GuildForum, discord.GuildMedia,
}

var webhookReads = append(slices.Clone(placeRoutes), routeChannelWebhooks)

// webhook is a webhook as Discord tells it, without its token: what is not read
// can stand in no result.
type webhook struct {
	ID          discord.WebhookID     `json:"id"`
	Type        int                   `json:"type"`
	Guild       discord.GuildID       `json:"guild_id"`
	Channel     discord.ChannelID     `json:"channel_id"`
	Name        string                `json:"name"`
	Avatar      *string               `json:"avatar"`
	Application discord.ApplicationID `json:"application_id"`
	Source      *webhookSource        `json:"source_channel,omitempty"`
}

// webhookSource is the channel that a webhook follows, as far as it can be seen.
type webhookSource struct {
	ID discord.ChannelID `json:"id"`
}

// webhookPlace is a channel with all of its webhooks.
type webhookPlace struct {
	placeSeen
	Count  int    `json:"webhooks"`
	Limit  int    `json:"webhookLimit"`
	Others string `json:"inventory" jsonschema:"digest of all webhooks of the channel but the one that is changed"`
}

// webhooks reads a channel's webhooks, of which one may be but.
func (r *reads) webhooks(ctx context.Context, in discord.ChannelID, but discord.WebhookID) (p webhookPlace, all []webhook, err error) {
	at, err := r.place(ctx, in)
	if err != nil {
		return p, nil, err
	}
	if !slices.Contains(webhookTypes, at.kind) {
		return p, nil, refused("channel-type", "%s has no webhooks", in)
	}
	if err := at.needs(discord.ViewChannel | discord.ManageWebhooks); err != nil {
		return p, nil, err
	}
	p.placeSeen, p.Limit = at.placeSeen, channelWebhooks
	if all, err = r.webhooksOf(ctx, in, at.Guild.ID); err != nil {
		return p, nil, err
	}
	p.Count, p.Others = len(all), otherWebhooks(all, but)
	return p, all, nil
}

func (r *reads) webhooksOf(ctx context.Context, in discord.ChannelID, guild discord.GuildID) (all []webhook, err error) {
	if err := r.get(ctx, routeChannelWebhooks, inChannel(in), &all); err != nil {
		return nil, err
	}
	for _, h := range all {
		if h.ID == "" || h.Channel != in || h.Guild != guild {
			return nil, incomplete("the webhooks of the channel")
		}
	}
	slices.SortFunc(all, func(a, b webhook) int { return discord.CompareIDs(a.ID, b.ID) })
	return all, nil
}

func theWebhookOf(all []webhook, id discord.WebhookID) (webhook, bool) {
	i := slices.IndexFunc(all, func(h webhook) bool { return h.ID == id })
	if i < 0 {
		return webhook{}, false
	}
	return all[i], true
}

func otherWebhooks(all []webhook, but discord.WebhookID) string {
	return snapshot(slices.DeleteFunc(slices.Clone(all), func(h webhook) bool { return h.ID == but }))
}

// incomingOf is one of webhooks, through which a token posts.
func incomingOf(all []webhook, id discord.WebhookID) (webhook, error) {
	h, there := theWebhookOf(all, id)
	switch {
	case !there:
		return h, refused("webhook-missing", "the channel has no webhook %s", id)
	case h.Type != incoming:
		return h, refused("not-incoming", "%s follows a channel or belongs to an application", id)
	}
	return h, nil
}

func (p *webhookPlace) room() error {
	if p.Count >= p.Limit {
		return refused("channel-full", "%s has %d webhooks, and can have %d", p.Channel.ID, p.Count, p.Limit)
	}
	return nil
}

// is reports whether an answer is of the webhook that was asked for.
func (h webhook) is(id discord.WebhookID, in discord.ChannelID, guild discord.GuildID) error {
	if id != "" && h.ID != id || h.Type != incoming || h.Channel != in || h.Guild != guild {
		return errors.New("the answer is of another webhook than was asked for")
	}
	return nil
}
