package discordtools

import (
	"context"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// stageInstances opens and closes stages: a stage channel is live while it has
// an instance.
//
// Source: https://docs.discord.com/developers/resources/stage-instance.
func stageInstances() category {
	return category{Name: "stage_instances", Scope: mcpcore.ChannelScope, Tools: []declaration{
		write[stageCreate, stageOne]{
			Name:  "stage_instances_create",
			Title: "Open a stage",
			Doc: `Makes a stage channel live with a topic; a channel has one stage at a time. Discord closes it
				when nobody speaks for some minutes. send_start_notification pings @everyone.`,
			Route: "POST /stage-instances",
			Needs: stageModerator,
			NeedsWhen: []mcpcore.Need{
				{Arg: "send_start_notification", Equals: "true", Permissions: discord.MentionEveryone},
			},
			Fence: fence.ChannelTopic,
		},
		destroy[stageTarget, stageDeleted]{
			Name:  "stage_instances_delete",
			Title: "Close a stage",
			Doc: `Closes a live stage: its speakers lose their place and an event that runs on it ends. The
				channel stays.`,
			Route: "DELETE /stage-instances/{channel_id}",
			Calls: []string{routeStage, routeChannel},
			Needs: stageModerator,
			Facts: stageFacts,
		},
		read[stageRef, stageOne]{
			Name:  "stage_instances_get",
			Title: "Get a stage",
			Doc:   `Reads the live stage of a stage channel. DISCORD_NOT_FOUND means that it is not live.`,
			Route: routeStage,
			Needs: discord.ViewChannel,
			Fence: fence.ChannelTopic,
		},
		write[stageModify, stageOne]{
			Name:       "stage_instances_modify",
			Title:      "Change a stage",
			Doc:        `Changes the topic of a live stage.`,
			Route:      "PATCH /stage-instances/{channel_id}",
			Repeatable: true,
			Needs:      stageModerator,
			Rules:      []mcpcore.Rule{anyGiven("topic", "privacy_level")},
			Fence:      fence.ChannelTopic,
		},
	}}
}

const routeStage = "GET /stage-instances/{channel_id}"

// stageModerator is who may open, change and close a stage.
const stageModerator = discord.ViewChannel | discord.ManageChannels | discord.MuteMembers | discord.MoveMembers

type stageRef struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"stage channel"`
}

type stageTarget struct {
	stageRef
	auditReason
}

type stageCreate struct {
	stageRef
	Topic   string           `json:"topic" jsonschema:"what it is about" minLength:"1" maxLength:"120"`
	Privacy int              `json:"privacy_level,omitempty" jsonschema:"2: members only; 1 is deprecated" enum:"1,2"`
	Notify  bool             `json:"send_start_notification,omitempty" jsonschema:"ping @everyone"`
	EventID *discord.EventID `json:"guild_scheduled_event_id,omitempty" jsonschema:"event of this channel that it starts"`
	auditReason
}

type stageModify struct {
	stageRef
	Topic   string `json:"topic,omitempty" jsonschema:"what it is about" minLength:"1" maxLength:"120"`
	Privacy int    `json:"privacy_level,omitempty" jsonschema:"2: members only; 1 is deprecated" enum:"1,2"`
	auditReason
}

type stageOne struct {
	ID            string            `json:"id"`
	GuildID       discord.GuildID   `json:"guild_id"`
	ChannelID     discord.ChannelID `json:"channel_id"`
	Topic         string            `json:"topic"`
	Privacy       int               `json:"privacy_level"`
	EventID       discord.EventID   `json:"guild_scheduled_event_id,omitempty"`
	UntrustedText string            `json:"untrusted_text" from:"@derived"`
}

func (v *stageOne) derive(*mcpcore.Call) {
	v.UntrustedText = fencedJSON(fence.ChannelTopic, struct {
		Topic string `json:"topic"`
	}{v.Topic})
}

type stageDeleted struct {
	Deleted   bool              `json:"deleted" from:"@true"`
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
}

func stageFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var s struct {
		Topic string          `json:"topic"`
		Event discord.EventID `json:"guild_scheduled_event_id"`
	}
	if err := a.do(ctx, routeStage, sub{}, &s); err != nil {
		return nil, err
	}
	channel := unknown
	var c standing
	if err := a.do(ctx, routeChannel, sub{}, &c); err == nil {
		channel = c.Name
	}
	event := "none"
	if s.Event != "" {
		event = string(s.Event)
	}
	return mcpcore.Facts{{Name: "topic", Value: s.Topic}, {Name: "channel", Value: channel}, {Name: "event that ends with it", Value: event}}, nil
}
