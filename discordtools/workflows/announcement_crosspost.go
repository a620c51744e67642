package workflows

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeCrosspost = "POST /channels/{channel_id}/messages/{message_id}/crosspost"

	flagCrossposted = 1 << 0 // of a message that was published
)

type crosspost struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"announcement channel of the message"`
	MessageID discord.MessageID `json:"messageId" jsonschema:"message to publish"`
}

type crosspostState struct {
	placeSeen
	Message   messageSeen `json:"message"`
	Text      string      `json:"said" jsonschema:"digest of the message without what Discord itself changes in it"`
	Published bool        `json:"published"`
}

// announcementCrosspost publishes a message to the channels that follow its own.
func announcementCrosspost(rest discordtools.REST) mcpcore.Workflow {
	return change[crosspost, crosspostState]{
		Name: "announcement-crosspost", Category: "announcement-crossposts", Title: "Publish an announcement",
		Doc: `Publishes a message of an announcement channel to every channel that follows it, in any guild. Which those are cannot be
			seen, and it cannot be undone. The plan binds the message: when it is edited before the approval counts, nothing is done.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ReadMessageHistory | discord.SendMessages,
		Intents: discord.MessageContent,
		Scopes:  []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "announcement channels whose messages may be published"}},
		Reads:   append(slices.Clone(placeRoutes), routeMessage, routeApplication), Write: []string{routeCrosspost},
		Plan: planCrosspost,
		Targets: func(in crosspost, _ crosspostState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), theMessage(in.ChannelID, in.MessageID)}
		},
		Apply: func(ctx context.Context, w *write, in crosspost, s crosspostState) (done mcpcore.Written, err error) {
			var m message
			if err := w.send(ctx, routeCrosspost, onMessage(in.ChannelID, in.MessageID), nil, &m); err != nil {
				return done, err
			}
			if done.ID, err = id(m.ID); err == nil && (m.ID != in.MessageID || m.Channel != in.ChannelID || !s.published(m) || said(unpublished(m)) != s.Text) {
				err = errors.New("the answer is not the message, published")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in crosspost, s crosspostState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			m, err := r.message(ctx, in.ChannelID, in.MessageID)
			if err == nil && !s.published(m) {
				err = errors.New("the message is not published")
			}
			var d drift
			d.unless(snapshot(unpublished(m)) == s.Message.Content, "message")
			return mcpcore.Reading{Drift: d}, err
		},
	}.on(rest)
}

// published reports whether a message is published.
func (*crosspostState) published(m message) bool { return m.Flags&flagCrossposted != 0 }

// unpublished is the message as it would be without its publication.
func unpublished(m message) message {
	m.Flags &^= flagCrossposted
	return m
}

func planCrosspost(ctx context.Context, r *reads, in crosspost) (plan mcpcore.Change[crosspostState], err error) {
	at, err := r.place(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if at.kind != discord.GuildAnnouncement {
		return plan, refused("channel-type", "%s, a %s, is no announcement channel", in.ChannelID, at.kind)
	}
	if err := at.needs(discord.ViewChannel | discord.ReadMessageHistory | discord.SendMessages); err != nil {
		return plan, err
	}
	if err := r.readsContent(ctx); err != nil {
		return plan, err
	}
	m, err := r.message(ctx, in.ChannelID, in.MessageID)
	if err != nil {
		return plan, err
	}
	if m.Author.ID != at.bot.Bot {
		if err := at.needs(discord.ManageMessages); err != nil {
			return plan, err
		}
	}
	if m.Type != 0 || m.Poll != nil || m.Reference != nil {
		return plan, refused("not-plain", "%s is a reply, a forward, a poll or a message of Discord itself", m.ID)
	}
	s := crosspostState{placeSeen: at.placeSeen, Text: said(unpublished(m))}
	s.Published = s.published(m)
	s.Message = messageSeen{m.ID, m.Author.ID, m.Type, m.Pinned, snapshot(unpublished(m))}
	plan = mcpcore.Change[crosspostState]{
		Action: "publish", State: s, Risks: []string{"irreversible", "reach-unknown"},
		Facts:    append(mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}}, m.facts()...),
		Warnings: []string{"Which channels follow, and in which guilds, cannot be seen. What is published there cannot be taken back."},
	}
	if s.Published {
		nothing(&plan)
	}
	return plan, nil
}
