package workflows

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeChannelDelete = "DELETE /channels/{channel_id}"

type channelAudit struct {
	GuildID   discord.GuildID   `json:"guildId" jsonschema:"guild of the channel"`
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel to look at"`
}

type channelDelete struct {
	GuildID      discord.GuildID   `json:"guildId" jsonschema:"guild of the channel"`
	ChannelID    discord.ChannelID `json:"channelId" jsonschema:"channel to delete; no thread"`
	Irreversible bool              `json:"acknowledgeIrreversible" jsonschema:"true: the channel and all that was written in it cannot be brought back"`
	NoRecovery   bool              `json:"acknowledgeNoRecoveryArtifact" jsonschema:"true: nothing was kept from which it could be made again"`
	reason
}

// channelStanding is a channel with what falls with it and what in its guild
// names it.
type channelStanding struct {
	Guild      guildSeen    `json:"guild"`
	Permission evidence     `json:"permission"`
	Name       string       `json:"name"`
	Channel    standsAt     `json:"channel"`
	Holds      channelHolds `json:"holds" jsonschema:"what is lost with it"`
	Uses       channelUses  `json:"uses" jsonschema:"what names it"`
	Blockers   []string     `json:"blockers" jsonschema:"what stands in the way of its deletion; [] for nothing"`
	Survivors  string       `json:"survivors" jsonschema:"digest of all other visible channels"`
}

// channelDeletion deletes a channel that nothing in its guild relies on.
func channelDeletion(rest discordtools.REST) mcpcore.Workflow {
	const needs = discord.ViewChannel | discord.ManageChannels
	return change[channelDelete, channelStanding]{
		Name: "channel-deletion", Category: "channel-deletion", Title: "Delete a channel",
		Doc: `Deletes one channel, or a category without channels, that no setting of the guild, onboarding, welcome
			screen, AutoMod rule, event, stage or command of this bot names. Its messages, threads, webhooks and
			invites are lost with it; messages are counted nowhere and never read.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: needs, NeedsIn: "channelId",
		Scopes:      []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels that may be deleted"}},
		Acknowledge: []string{"acknowledgeIrreversible", "acknowledgeNoRecoveryArtifact"},
		Audits: []mcpcore.Tool{companion(rest, mcpcore.Tool{
			Name: "audit_channel_deletion", Title: "Look whether a channel can be deleted", Category: "channel-deletion",
			Doc:   "Tells what is lost with a channel, what in its guild names it and what stands in the way of its deletion. Other bots' commands and channels that follow it elsewhere cannot be seen.",
			Scope: mcpcore.GuildScope, Needs: needs, NeedsIn: "channelId", Routes: slices.Concat(standingRoutes, channelUsesRoutes),
		}, func(ctx context.Context, r *reads, in channelAudit) (channelStanding, error) {
			s, _, err := examineChannel(ctx, r, in.GuildID, in.ChannelID)
			return s, err
		})},
		Reads: slices.Concat(standingRoutes, channelUsesRoutes),
		Write: []string{routeChannelDelete},
		Plan: func(ctx context.Context, r *reads, in channelDelete) (plan mcpcore.Change[channelStanding], err error) {
			s, ready, err := examineChannel(ctx, r, in.GuildID, in.ChannelID)
			if err == nil {
				err = ready.refuse("channel")
			}
			return mcpcore.Change[channelStanding]{
				Action: "delete", State: s, Risks: []string{"irreversible"},
				Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Name}, {Name: "kind", Value: s.Channel.Type.String()}, {Name: "lost with it", Value: s.Holds.String()}},
				Warnings: []string{
					"Commands of other bots that are open to the channel cannot be seen.",
					"Channels elsewhere that follow an announcement channel cannot be seen.",
					"Channels that the bot cannot see may stand in a category.",
				},
			}, err
		},
		Targets: func(in channelDelete, _ channelStanding) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), all("channels", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in channelDelete, s channelStanding) (done mcpcore.Written, err error) {
			var was channel
			if err := w.send(ctx, routeChannelDelete, inChannel(in.ChannelID), nil, &was); err != nil {
				return done, err
			}
			if done.ID, err = id(was.ID); err == nil && (was.ID != in.ChannelID || was.Guild != in.GuildID || was.Type != s.Channel.Type) {
				err = errOtherChannel
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in channelDelete, s channelStanding, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			left, err := r.channels(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			if slices.ContainsFunc(left, func(c channel) bool { return c.ID == in.ChannelID }) {
				return found, errors.New("the channel is still there")
			}
			var d drift
			d.unless(snapshot(layout(left)) == s.Survivors, "channels")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// examineChannel reads a channel, what is in it and all that names it.
func examineChannel(ctx context.Context, r *reads, guild discord.GuildID, id discord.ChannelID) (s channelStanding, ready readiness, err error) {
	bot, err := r.able(ctx, guild, discord.ManageGuild)
	if err != nil {
		return s, ready, err
	}
	c, err := r.channel(ctx, guild, id)
	if err != nil {
		return s, ready, err
	}
	if err := c.direct(); err != nil {
		return s, ready, err
	}
	if !slices.Contains(allKinds, c.Type) {
		return s, ready, refused("kind", "what falls with a %s is not known", c.Type)
	}
	need := discord.ViewChannel | discord.ManageChannels
	if slices.Contains(contentKinds, c.Type) {
		need |= discord.ManageWebhooks
	}
	if slices.Contains(textKinds, c.Type) {
		need |= discord.ReadMessageHistory | discord.ManageThreads
	}
	if err := r.needsIn(ctx, &bot, c, need); err != nil {
		return s, ready, err
	}
	list, err := r.channels(ctx, guild)
	if err != nil {
		return s, ready, err
	}
	s.Guild, s.Permission, s.Name, s.Channel = bot.Guild, bot.evidence(), c.Name, layout([]channel{c})[0]
	s.Survivors = snapshot(layout(list, id))
	for _, other := range list {
		if other.Parent == id {
			s.Uses.Children = append(s.Uses.Children, other.ID)
		}
	}
	if err := s.Holds.read(ctx, r, guild, c); err != nil {
		return s, ready, err
	}
	if err := s.Uses.read(ctx, r, guild, c); err != nil {
		return s, ready, err
	}
	u := &s.Uses
	ready.free(
		use{"children", len(u.Children), "channels are in it"},
		use{"settings", len(u.Settings), "settings of the guild name it"},
		use{"onboarding", len(u.Onboarding), "places of the onboarding show it"},
		use{"welcome-screen", u.Welcome, "places of the welcome screen show it"},
		use{"automod", len(u.Automod), "AutoMod rules name it"},
		use{"events", len(u.Events), "scheduled events are in it"},
		use{"stage", u.Stages, "stage is live in it"},
		use{"commands", len(u.Commands), "commands of this bot name it"},
	)
	s.Blockers = ready.words
	return s, ready, nil
}
