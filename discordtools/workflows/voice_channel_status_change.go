package workflows

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeVoiceStatus = "PUT /channels/{channel_id}/voice-status"
	routeMyVoice     = "GET /guilds/{guild_id}/voice-states/@me"

	unread = "unknown" // what a plan says of a status that nobody can read
)

type voiceStatus struct {
	GuildID   discord.GuildID   `json:"guildId" jsonschema:"guild of the channel"`
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"voice channel; no stage"`
	Status    *string           `json:"status" jsonschema:"what it shows; null for nothing" minLength:"1" maxLength:"500"`
	reason
}

type voiceStatusState struct {
	Guild      guildSeen `json:"guild"`
	Permission evidence  `json:"permission"`
	InChannel  []string  `json:"botPermissionsInChannel"`
	Channel    standsAt  `json:"channel"`
	Connected  bool      `json:"botConnected"`
	Was        string    `json:"was" jsonschema:"unknown: no route of Discord's REST API reads it"`
	Becomes    *string   `json:"becomes" jsonschema:"null for nothing"`
}

// voiceChannelStatusChange sets what a voice channel shows below its name.
func voiceChannelStatusChange(rest discordtools.REST) mcpcore.Workflow {
	return change[voiceStatus, voiceStatusState]{
		Name: "voice-channel-status-change", Category: "channel-metadata", Title: "Set the status of a voice channel",
		Doc: `Sets the status of a voice channel, or clears it. Discord's REST API cannot read a status: the plan does
			not know the one that is replaced, so that the same status is written again; and completed means that
			Discord accepted the write and that the channel is as it was planned with, not that the status was seen.
			The guild's audit log names what was set.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ViewChannel | discord.SetVoiceChannelStatus, NeedsIn: "channelId",
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "voice channels whose status may be set"}},
		Reads:  append([]string{routeChannel, routeMyVoice}, standingRoutes...),
		Write:  []string{routeVoiceStatus},
		Plan:   planVoiceStatus,
		Targets: func(in voiceStatus, _ voiceStatusState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), all("channels", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in voiceStatus, _ voiceStatusState) (mcpcore.Written, error) {
			return mcpcore.Written{ID: string(in.ChannelID)}, w.send(ctx, routeVoiceStatus, inChannel(in.ChannelID), voiceStatusBody{in.Status}, nil)
		},
		ReadBack: func(ctx context.Context, r *reads, in voiceStatus, s voiceStatusState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			c, err := r.channel(ctx, in.GuildID, in.ChannelID)
			if err != nil {
				return found, err
			}
			if c.Type != s.Channel.Type {
				return found, errOtherChannel
			}
			now := layout([]channel{c})[0]
			var d drift
			d.unless(now.Parent == s.Channel.Parent && now.Position == s.Channel.Position, "position")
			d.unless(slices.Equal(now.Overwrites, s.Channel.Overwrites), "permission_overwrites")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

type voiceStatusBody struct {
	Status *string `json:"status"`
}

func planVoiceStatus(ctx context.Context, r *reads, in voiceStatus) (plan mcpcore.Change[voiceStatusState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	c, err := r.channel(ctx, in.GuildID, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if c.Type != discord.GuildVoice {
		return plan, refused("not-voice", "%s is a %s, and this is for voice channels", in.ChannelID, c.Type)
	}
	may, err := bot.in(c)
	if err != nil {
		return plan, err
	}
	if err := lacks(may, discord.ViewChannel|discord.SetVoiceChannelStatus, "the channel"); err != nil {
		return plan, err
	}
	connected, err := r.connected(ctx, in.GuildID, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if !connected {
		if err := lacks(may, discord.ManageChannels, "the channel, in which it does not speak"); err != nil {
			return plan, err
		}
	}
	becomes := "nothing"
	if in.Status != nil {
		becomes = "'" + *in.Status + "'"
	}
	plan = mcpcore.Change[voiceStatusState]{
		Action: "set",
		State: voiceStatusState{
			Guild: bot.Guild, Permission: bot.evidence(), InChannel: may.Names(), Channel: layout([]channel{c})[0], Connected: connected, Was: unread, Becomes: in.Status,
		},
		Facts:    mcpcore.Facts{{Name: "guild", Value: bot.Guild.Name}, {Name: "channel", Value: c.Name}},
		Warnings: []string{"The status that is replaced cannot be read, and what is written cannot be read back."},
		Risks:    []string{"not-read-back"},
	}
	setting(&plan, field{"status", unread, becomes})
	return plan, nil
}

// connected reports whether the bot is in a voice channel.
func (r *reads) connected(ctx context.Context, guild discord.GuildID, to discord.ChannelID) (bool, error) {
	var v voiceSeen
	err := r.get(ctx, routeMyVoice, inGuild(guild), &v)
	if unknown(err, unknownVoiceState) {
		return false, nil
	}
	return v.Channel == to, err
}
