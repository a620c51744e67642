package workflows

import (
	"context"
	"errors"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeStageStart  = "POST /stage-instances"
	routeStageUpdate = "PATCH /stage-instances/{channel_id}"
	routeStageEnd    = "DELETE /stage-instances/{channel_id}"

	unknownStage   = 10067 // a stage channel that is not live
	stageGuildOnly = 2     // who may see a stage: the members
)

// stagePowers are what acting on a stage takes in its channel.
const stagePowers = discord.ViewChannel | discord.Connect | discord.ManageChannels | discord.MuteMembers | discord.MoveMembers

type stageChange struct {
	GuildID   discord.GuildID   `json:"guildId" jsonschema:"guild of the stage"`
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"stage channel"`
	Action    string            `json:"action" jsonschema:"what is done" enum:"start,update,end"`
	Topic     string            `json:"topic,omitempty" jsonschema:"with start and update: what it is about" minLength:"1" maxLength:"120"`
	Notify    bool              `json:"sendStartNotification,omitempty" jsonschema:"with start: notifies everyone who can see the channel"`
	reason
}

type stageChangeState struct {
	Guild      guildSeen         `json:"guild"`
	Permission evidence          `json:"permission"`
	InChannel  []string          `json:"botPermissionsInChannel"`
	Channel    discord.ChannelID `json:"channelId"`
	Live       *stageSeen        `json:"live" jsonschema:"null for a stage that is not live"`
	Topic      string            `json:"topic"`
	Notify     bool              `json:"sendStartNotification"`
}

// stageSeen is a live stage as Discord tells it.
type stageSeen struct {
	ID      string            `json:"id"`
	Guild   discord.GuildID   `json:"guild_id"`
	Channel discord.ChannelID `json:"channel_id"`
	Topic   string            `json:"topic"`
	Privacy int               `json:"privacy_level"`
	Event   *discord.EventID  `json:"guild_scheduled_event_id"`
}

// stageInstanceChange makes a stage live, changes its topic, or ends it.
func stageInstanceChange(rest discordtools.REST, paced *pace) mcpcore.Workflow {
	return change[stageChange, stageChangeState]{
		Name: "stage-instance-change", Category: "stage-instances", Title: "Start, change or end a stage",
		Doc: `Makes a stage channel live for the members of its guild, changes the topic of a live one, or ends it: its
			speakers and listeners lose their places. A start may notify everyone, where the policy lets it. A
			stage that runs for a scheduled event is left to the event.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: stagePowers, NeedsIn: "channelId",
		Scopes: []mcpcore.PolicyScope{
			{Name: "channels", Arg: "channelId", Doc: "stage channels that may be started, changed and ended"},
			{Name: "notifyFrom", Doc: "of these, the stage channels whose start may notify everyone"},
		},
		Rules:  []mcpcore.Rule{{Check: stageRule}},
		Reads:  append([]string{routeChannel, routeStage}, standingRoutes...),
		Write:  []string{routeStageStart, routeStageUpdate, routeStageEnd},
		Audits: []mcpcore.Tool{listStages(rest)},
		Paced: posts(paced, func(in stageChange, _ stageChangeState) (c discord.ChannelID) {
			if in.Action == "start" && in.Notify {
				c = in.ChannelID
			}
			return c
		}),
		Plan: planStage,
		Targets: func(in stageChange, _ stageChangeState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID)}
		},
		Apply: func(ctx context.Context, w *write, in stageChange, s stageChangeState) (done mcpcore.Written, err error) {
			var now stageSeen
			switch in.Action {
			case "start":
				err = w.send(ctx, routeStageStart, nil, stageStart{in.ChannelID, in.Topic, stageGuildOnly, in.Notify}, &now)
			case "update":
				err = w.send(ctx, routeStageUpdate, inChannel(in.ChannelID), stageTopic{in.Topic}, &now)
			default:
				return mcpcore.Written{ID: s.Live.ID}, w.send(ctx, routeStageEnd, inChannel(in.ChannelID), nil, nil)
			}
			if err != nil {
				return done, err
			}
			if done.ID, err = id(now.ID); err == nil {
				err = s.live(now)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in stageChange, s stageChangeState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.stage(ctx, in.GuildID, in.ChannelID)
			switch {
			case err != nil:
				return found, err
			case in.Action == "end" && now == nil:
				return found, nil
			case in.Action == "end" || now == nil || now.ID != w.ID:
				return found, errors.New("the stage is still live, or not the one that was written")
			}
			var d drift
			d.unless(now.Topic == in.Topic, "topic")
			return mcpcore.Reading{Drift: d}, s.live(*now)
		},
	}.on(rest)
}

type (
	stageStart struct {
		Channel discord.ChannelID `json:"channel_id"`
		Topic   string            `json:"topic"`
		Privacy int               `json:"privacy_level"`
		Notify  bool              `json:"send_start_notification"`
	}
	stageTopic struct {
		Topic string `json:"topic"`
	}
)

// stageRule wants a topic where there is one, and a notification on a start alone.
func stageRule(c *mcpcore.Call) *mcpcore.Issue {
	switch action := c.Text("action"); {
	case c.Has("topic") == (action == "end"):
		return issue("topic", "goes with start and update, and with both")
	case c.Has("sendStartNotification") && action != "start":
		return issue("sendStartNotification", "goes with start alone")
	}
	return nil
}

func planStage(ctx context.Context, r *reads, in stageChange) (plan mcpcore.Change[stageChangeState], err error) {
	need := stagePowers
	if in.Notify {
		need |= discord.MentionEveryone
		if err := r.Call.Permitted("notifyFrom", string(in.ChannelID)); err != nil {
			return plan, err
		}
	}
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	c, err := r.channel(ctx, in.GuildID, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if c.Type != discord.GuildStageVoice {
		return plan, refused("no-stage", "%s is a %s, and no stage", in.ChannelID, c.Type)
	}
	may, err := bot.in(c)
	if err != nil {
		return plan, err
	}
	if err := lacks(may, need, "the channel"); err != nil {
		return plan, err
	}
	s := stageChangeState{Guild: bot.Guild, Permission: bot.evidence(), InChannel: may.Names(), Channel: c.ID, Topic: in.Topic, Notify: in.Notify}
	if s.Live, err = r.stage(ctx, in.GuildID, in.ChannelID); err != nil {
		return plan, err
	}
	if err := s.ready(in.Action); err != nil {
		return plan, err
	}
	plan = mcpcore.Change[stageChangeState]{
		Action: in.Action, State: s, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "stage", Value: c.Name}},
	}
	wanted := "not live"
	if in.Action != "end" {
		wanted = "'" + in.Topic + "'"
	}
	setting(&plan, field{"topic", s.Live.String(), wanted})
	switch {
	case in.Notify && !plan.Current:
		plan.Warnings, plan.Risks = []string{"Everyone who can see the channel is notified, at once."}, []string{"notifies-everyone"}
	case in.Action == "end" && !plan.Current:
		plan.Warnings = []string{"Who speaks and who listens cannot be counted; all of them lose their places."}
	}
	return plan, nil
}

// ready refuses an action that is not for the stage as it is.
func (s *stageChangeState) ready(action string) error {
	switch {
	case s.Live == nil && action == "update":
		return refused("stage-missing", "the stage %s is not live; start it", s.Channel)
	case s.Live == nil:
		return nil
	case s.Live.Event != nil && *s.Live.Event != "":
		return refused("scheduled-event", "the stage runs for the event %s; change that", *s.Live.Event)
	case action == "start" && s.Live.Topic != s.Topic:
		return refused("already-live", "the stage %s is live with another topic; update it", s.Channel)
	case action != "end" && s.Live.Privacy != stageGuildOnly:
		return refused("public", "the stage %s is not for the guild's members alone", s.Channel)
	}
	return nil
}

// live reports another stage than was written, or one that others may see.
func (s *stageChangeState) live(now stageSeen) error {
	if now.Channel != s.Channel || now.Guild != s.Guild.ID || now.Privacy != stageGuildOnly || now.Event != nil && *now.Event != "" ||
		s.Live != nil && now.ID != s.Live.ID {
		return errors.New("it is about another stage than was written, or about one of another kind")
	}
	return nil
}

func (v *stageSeen) String() string {
	if v == nil {
		return "not live"
	}
	return "'" + v.Topic + "'"
}

// stage reads a channel's live stage; nil is none.
func (r *reads) stage(ctx context.Context, guild discord.GuildID, id discord.ChannelID) (*stageSeen, error) {
	var v stageSeen
	switch err := r.get(ctx, routeStage, inChannel(id), &v); {
	case unknown(err, unknownStage):
		return nil, nil
	case err != nil:
		return nil, err
	case v.Channel != id || v.Guild != guild || v.ID == "":
		return nil, incomplete("the stage")
	}
	return &v, nil
}

type stagesIn struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild to look through"`
}

type stagesLive struct {
	Stages   []stageSeen `json:"stages"`
	Channels int         `json:"stageChannels" jsonschema:"that the bot can see"`
}

// listStages lists the live stages of a guild, one request for each stage
// channel.
func listStages(rest discordtools.REST) mcpcore.Tool {
	return companion(rest, mcpcore.Tool{
		Name: "list_stage_instances", Title: "List the live stages", Category: "stage-instances",
		Doc:   "Lists the stages of a guild that are live, among the stage channels that the bot can see.",
		Scope: mcpcore.GuildScope, Needs: discord.ViewChannel, Routes: []string{routeChannels, routeStage},
	}, func(ctx context.Context, r *reads, in stagesIn) (all stagesLive, err error) {
		list, err := r.channels(ctx, in.GuildID)
		if err != nil {
			return all, err
		}
		all.Stages = []stageSeen{}
		for _, c := range list {
			if c.Type != discord.GuildStageVoice {
				continue
			}
			all.Channels++
			live, err := r.stage(ctx, in.GuildID, c.ID)
			if err != nil {
				return all, err
			}
			if live != nil {
				all.Stages = append(all.Stages, *live)
			}
		}
		return all, nil
	})
}
