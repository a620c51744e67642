package workflows

import (
	"context"
	"errors"
	"fmt"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeVoiceState = "GET /guilds/{guild_id}/voice-states/{user_id}"

	unknownVoiceState = 10065 // who is in no voice channel
)

type voiceChange struct {
	GuildID   discord.GuildID   `json:"guildId" jsonschema:"guild of the member"`
	UserID    discord.UserID    `json:"userId" jsonschema:"member to act on"`
	Action    string            `json:"action" jsonschema:"what is done" enum:"move,disconnect,set-server-mute,set-server-deafen"`
	ChannelID discord.ChannelID `json:"channelId,omitempty" jsonschema:"with move: the voice channel to move to"`
	Enabled   bool              `json:"enabled,omitempty" jsonschema:"with set-server-mute and set-server-deafen: whether it is so"`
	reason
}

type voiceChangeState struct {
	Guild       guildSeen   `json:"guild"`
	Permission  evidence    `json:"permission"`
	Member      memberSeen  `json:"member"`
	Voice       *voiceSeen  `json:"voice" jsonschema:"null for who is in no voice channel"`
	Source      *voicePlace `json:"source"`
	Destination *voicePlace `json:"destination,omitempty"`
	Enabled     bool        `json:"enabled"`
}

// voiceSeen is a member's part in voice, as far as a guild decides on it.
type voiceSeen struct {
	Guild   discord.GuildID   `json:"guild_id"`
	Channel discord.ChannelID `json:"channel_id"`
	User    discord.UserID    `json:"user_id"`
	Mute    bool              `json:"mute"`
	Deaf    bool              `json:"deaf"`
}

// voicePlace is a voice channel with what the bot may do in it.
type voicePlace struct {
	ID   discord.ChannelID `json:"id"`
	Name string            `json:"name"`
	May  []string          `json:"botPermissions"`

	channel channel `json:"-"`
}

func (p *voicePlace) String() string { return fmt.Sprintf("%s (%s)", p.Name, p.ID) }

// voicePowers are the permissions that the actions take in the channel.
var voicePowers = map[string]discord.Permissions{
	"move": discord.MoveMembers, "disconnect": discord.MoveMembers,
	"set-server-mute": discord.MuteMembers, "set-server-deafen": discord.DeafenMembers,
}

// memberVoiceChange moves, disconnects, mutes or deafens one member in voice.
func memberVoiceChange(rest discordtools.REST) mcpcore.Workflow {
	return change[voiceChange, voiceChangeState]{
		Name: "member-voice-change", Category: "voice-moderation", Title: "Act on a member in voice",
		Doc: `Moves one member to another voice channel, disconnects them, or sets whether the server mutes or deafens
			them. Both channels are voice channels, no stages, and who is moved must be able to see where to. A
			mute or a deafening lasts until it is lifted, in every channel. Bots, the owner, administrators and
			who is pending are not hit.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Protects: []string{"userId"},
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds in which members may be acted on in voice"),
			{Name: "channels", Doc: "voice channels in which members may be acted on, and to which they may be moved"},
		},
		Rules: []mcpcore.Rule{{Check: voiceChangeRule}},
		Reads: append([]string{routeChannel, routeVoiceState}, standingRoutes...),
		Write: []string{routeMemberEdit},
		Plan:  planVoiceChange,
		Targets: func(in voiceChange, _ voiceChangeState) []mcpcore.Target {
			return []mcpcore.Target{theMember(in.GuildID, in.UserID)}
		},
		Apply: func(ctx context.Context, w *write, in voiceChange, s voiceChangeState) (done mcpcore.Written, err error) {
			var now struct {
				member
				Mute *bool `json:"mute"`
				Deaf *bool `json:"deaf"`
			}
			if err := w.send(ctx, routeMemberEdit, ofMember(in.GuildID, in.UserID), in.body(), &now); err != nil {
				return done, err
			}
			if done.ID, err = id(now.User.ID); err != nil {
				return done, err
			}
			is := func(v *bool) bool { return v != nil && *v == in.Enabled }
			if now.User.ID != in.UserID || in.Action == "set-server-mute" && !is(now.Mute) || in.Action == "set-server-deafen" && !is(now.Deaf) {
				err = errors.New("the answer is of another member, or of another state than was written")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in voiceChange, s voiceChangeState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.voiceState(ctx, in.GuildID, in.UserID)
			if err != nil {
				return found, err
			}
			if !in.done(now) {
				return found, errors.New("the member's part in voice is not as it should be")
			}
			var d drift
			if now != nil {
				d.unless(in.Action == "move" || now.Channel == s.Voice.Channel, "channelId")
				d.unless(in.Action == "set-server-mute" || now.Mute == s.Voice.Mute, "mute")
				d.unless(in.Action == "set-server-deafen" || now.Deaf == s.Voice.Deaf, "deaf")
			}
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// voiceChangeRule wants each action's own argument, and no other's.
func voiceChangeRule(c *mcpcore.Call) *mcpcore.Issue {
	action := c.Text("action")
	switch moves, sets := action == "move", action == "set-server-mute" || action == "set-server-deafen"; {
	case c.Has("channelId") != moves:
		return issue("channelId", "goes with the action move, and with it alone")
	case c.Has("enabled") != sets:
		return issue("enabled", "goes with set-server-mute and set-server-deafen, and with them alone")
	}
	return nil
}

// done reports whether a member's part in voice is as it is wanted; nil is none.
func (in *voiceChange) done(now *voiceSeen) bool {
	switch {
	case in.Action == "disconnect" || now == nil:
		return in.Action == "disconnect" && now == nil
	case in.Action == "move":
		return now.Channel == in.ChannelID
	case in.Action == "set-server-mute":
		return now.Mute == in.Enabled
	}
	return now.Deaf == in.Enabled
}

type (
	voiceMoveBody struct {
		Channel *discord.ChannelID `json:"channel_id"`
	}
	voiceMuteBody struct {
		Mute bool `json:"mute"`
	}
	voiceDeafBody struct {
		Deaf bool `json:"deaf"`
	}
)

// body is the one field that is written.
func (in *voiceChange) body() any {
	switch in.Action {
	case "move":
		return voiceMoveBody{&in.ChannelID}
	case "disconnect":
		return voiceMoveBody{}
	case "set-server-mute":
		return voiceMuteBody{in.Enabled}
	}
	return voiceDeafBody{in.Enabled}
}

func planVoiceChange(ctx context.Context, r *reads, in voiceChange) (plan mcpcore.Change[voiceChangeState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	seen, err := r.member(ctx, &bot, in.UserID)
	if err != nil {
		return plan, err
	}
	if err := bot.ordinary(in.UserID, seen); err != nil {
		return plan, err
	}
	switch {
	case seen.Bot:
		return plan, refused("bot", "%s is a bot", in.UserID)
	case seen.Pending:
		return plan, refused("pending", "the member %s has not passed the screening yet", in.UserID)
	}
	s := voiceChangeState{Guild: bot.Guild, Permission: bot.evidence(), Member: *seen, Enabled: in.Enabled}
	if s.Voice, err = r.voiceState(ctx, in.GuildID, in.UserID); err != nil {
		return plan, err
	}
	switch {
	case s.Voice == nil && in.Action != "disconnect":
		return plan, refused("not-in-voice", "the member %s is in no voice channel", in.UserID)
	case s.Voice != nil:
		if s.Source, err = r.voicePlace(ctx, &bot, s.Voice.Channel, voicePowers[in.Action]); err != nil {
			return plan, err
		}
	}
	plan.Facts = mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}
	plan.Unbound = mcpcore.Facts{{Name: "member", Value: seen.name}}
	if in.Action == "move" {
		if s.Destination, err = r.voicePlace(ctx, &bot, in.ChannelID, discord.MoveMembers); err != nil {
			return plan, err
		}
		may, err := bot.inAs(s.Destination.channel, seen.ID, seen.Roles, seen.held)
		if err != nil {
			return plan, err
		}
		if !may.Has(discord.ViewChannel) {
			return plan, refused("destination-hidden", "the member %s cannot see the channel %s", in.UserID, in.ChannelID)
		}
		plan.Warnings = []string{"How full the channel is cannot be seen; who may move members may fill it past its limit."}
	}
	if in.Enabled {
		plan.Warnings = []string{"It lasts in every voice channel of the guild, until it is lifted."}
	}
	plan.Action, plan.State = in.Action, s
	setting(&plan, s.fields(in)...)
	return plan, nil
}

// fields are what the action sets, in words.
func (s *voiceChangeState) fields(in voiceChange) []field {
	if s.Voice == nil {
		return nil
	}
	switch in.Action {
	case "move":
		return []field{{"channel", s.Source.String(), s.Destination.String()}}
	case "disconnect":
		return []field{{"channel", s.Source.String(), "none"}}
	case "set-server-mute":
		return []field{{"server mute", fmt.Sprint(s.Voice.Mute), fmt.Sprint(in.Enabled)}}
	}
	return []field{{"server deafening", fmt.Sprint(s.Voice.Deaf), fmt.Sprint(in.Enabled)}}
}

// voiceState reads a member's part in voice; nil is who is in no channel.
func (r *reads) voiceState(ctx context.Context, guild discord.GuildID, user discord.UserID) (*voiceSeen, error) {
	var v voiceSeen
	switch err := r.get(ctx, routeVoiceState, ofMember(guild, user), &v); {
	case unknown(err, unknownVoiceState):
		return nil, nil
	case err != nil:
		return nil, err
	case v.User != user || v.Guild != "" && v.Guild != guild:
		return nil, incomplete("the member's part in voice")
	case v.Channel == "":
		return nil, nil
	}
	v.Guild = guild
	return &v, nil
}

// voicePlace reads a voice channel of the policy's in which the bot has a power.
func (r *reads) voicePlace(ctx context.Context, bot *standing, id discord.ChannelID, power discord.Permissions) (*voicePlace, error) {
	if err := r.Call.Permitted("channels", string(id)); err != nil {
		return nil, err
	}
	c, err := r.channel(ctx, bot.Guild.ID, id)
	if err != nil {
		return nil, err
	}
	if c.Type != discord.GuildVoice {
		return nil, refused("not-voice", "%s is a %s, and this is for voice channels", id, c.Type)
	}
	may, err := bot.in(c)
	if err != nil {
		return nil, err
	}
	return &voicePlace{c.ID, c.Name, may.Names(), c}, lacks(may, discord.ViewChannel|discord.Connect|power, "the channel "+string(id))
}
