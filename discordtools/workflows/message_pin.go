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
	routePin   = "PUT /channels/{channel_id}/messages/pins/{message_id}"
	routeUnpin = "DELETE /channels/{channel_id}/messages/pins/{message_id}"
)

type messagePin struct {
	GuildID   discord.GuildID   `json:"guildId" jsonschema:"guild of the channel"`
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel or thread of the message"`
	MessageID discord.MessageID `json:"messageId" jsonschema:"message to pin or unpin"`
	State     string            `json:"state" jsonschema:"how it is to be" enum:"pinned,unpinned"`
	reason
}

type messagePinState struct {
	Guild      guildSeen           `json:"guild"`
	Permission evidence            `json:"permission"`
	InChannel  []string            `json:"botPermissionsInChannel"`
	Channel    discord.ChannelID   `json:"channelId"`
	Type       discord.ChannelType `json:"channelType"`
	Parent     discord.ChannelID   `json:"parentId,omitempty"`
	Message    discord.MessageID   `json:"messageId"`
	Author     discord.UserID      `json:"authorId"`
	Pinned     bool                `json:"pinned"`
	Desired    bool                `json:"desired"`
	Content    string              `json:"content" jsonschema:"digest of what the message says"`
}

// said is a digest of what a message says, pinned or not. What Discord itself
// changes in embeds, components and polls is left out: when their author does, the
// time of the last edit changes.
func said(m message) string {
	m.Pinned, m.Embeds, m.Components, m.Poll = false, nil, nil, nil
	return snapshot(m)
}

// messagePinning pins or unpins a message.
func messagePinning(rest discordtools.REST) mcpcore.Workflow {
	return change[messagePin, messagePinState]{
		Name: "message-pin", Category: "pins", Title: "Pin or unpin a message",
		Doc: `Pins a message in its channel or thread, or unpins it. The plan binds what the message says: when it is edited
			before the approval counts, nothing is done. Discord tells the channel of a new pin.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ViewChannel | discord.ReadMessageHistory | discord.PinMessages, NeedsIn: "channelId",
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels and threads, each by itself, in which messages may be pinned"}},
		Reads:  append(slices.Clone(standingRoutes), routeChannel, routeThreadMember, routeMessage),
		Write:  []string{routePin, routeUnpin},
		Plan:   planPin,
		Targets: func(in messagePin, _ messagePinState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), theMessage(in.ChannelID, in.MessageID)}
		},
		Apply: func(ctx context.Context, w *write, in messagePin, s messagePinState) (mcpcore.Written, error) {
			route := routeUnpin
			if s.Desired {
				route = routePin
			}
			return mcpcore.Written{ID: string(in.MessageID)}, w.send(ctx, route, onMessage(in.ChannelID, in.MessageID), nil, nil)
		},
		ReadBack: func(ctx context.Context, r *reads, in messagePin, s messagePinState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			m, err := r.message(ctx, in.ChannelID, in.MessageID)
			switch {
			case err != nil:
				return found, err
			case m.Pinned != s.Desired:
				return found, errors.New("the message is not as it was to be")
			}
			var d drift
			d.unless(said(m) == s.Content, "content")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func planPin(ctx context.Context, r *reads, in messagePin) (plan mcpcore.Change[messagePinState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	c, err := r.channel(ctx, in.GuildID, in.ChannelID)
	if err != nil {
		return plan, err
	}
	may, err := r.may(ctx, &bot, c)
	if err != nil {
		return plan, err
	}
	if err := lacks(may, discord.ViewChannel|discord.ReadMessageHistory|discord.PinMessages, "the channel"); err != nil {
		return plan, err
	}
	if c.Type.IsThread() {
		if err := r.openThread(ctx, &bot, in); err != nil {
			return plan, err
		}
	}
	m, err := r.message(ctx, in.ChannelID, in.MessageID)
	if err != nil {
		return plan, err
	}
	if !slices.Contains(spoken, m.Type) {
		return plan, refused("system-message", "a message of Discord itself cannot be pinned")
	}
	s := messagePinState{
		Guild: bot.Guild, Permission: bot.evidence(), InChannel: may.Names(), Channel: c.ID, Type: c.Type, Parent: c.Parent,
		Message: m.ID, Author: m.Author.ID, Pinned: m.Pinned, Desired: in.State == "pinned", Content: said(m),
	}
	plan = mcpcore.Change[messagePinState]{
		Action: map[bool]string{true: "pin", false: "unpin"}[s.Desired], State: s,
		Facts:   append(mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}, m.facts()...),
		Unbound: mcpcore.Facts{{Name: "channel", Value: c.Name}},
	}
	if s.Pinned == s.Desired {
		plan.Action, plan.Current = "none", true
	}
	return plan, nil
}

// openThread refuses a thread that is archived, and a private one that the bot
// is not in.
func (r *reads) openThread(ctx context.Context, bot *standing, in messagePin) error {
	t, err := r.thread(ctx, in.GuildID, in.ChannelID)
	switch {
	case err != nil:
		return err
	case t.Meta.Archived:
		return refused("archived", "nothing is pinned in an archived thread; unarchive it first")
	case t.Type != discord.PrivateThread:
		return nil
	}
	is, err := r.inThread(ctx, in.ChannelID, bot.Bot)
	if err == nil && !is {
		err = refused("not-in-thread", "the bot is not in the private thread")
	}
	return err
}
