package discordtools

import (
	"context"
	"fmt"
	"time"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// events schedules what a guild does at a set time: on a stage, in a voice
// channel or elsewhere.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event.
func events() category {
	return category{Name: "events", Scope: mcpcore.GuildScope, Tools: []declaration{
		write[eventsCreate, eventOne]{
			Name:  "events_create",
			Title: "Schedule an event",
			Doc: `Schedules an event: on a stage (entity_type 1) or in a voice channel (2), both with
				channel_id, or elsewhere (3), with scheduled_end_time and entity_metadata.location. A guild has at
				most 100 that are not over.`,
			Route:     "POST /guilds/{guild_id}/scheduled-events",
			Needs:     discord.CreateEvents,
			NeedsWhen: eventNeeds,
			Rules:     []mcpcore.Rule{eventPlace, eventTimes, recurrenceRules},
			Redact:    []string{"image"},
			Set:       []added{{"privacy_level", func(*mcpcore.Call) string { return "2" }}},
			Fence:     fence.ChannelTopic,
			Run:       createEvent,
		},
		destroy[eventTarget, eventDeleted]{
			Name:  "events_delete",
			Title: "Delete an event",
			Doc: `Deletes a scheduled event and the list of who is interested, for good. To call it off and
				keep it visible as cancelled, use events_modify with status 4.`,
			Route: "DELETE /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}",
			Calls: []string{routeEvent},
			Needs: discord.ManageEvents,
			Facts: eventFacts,
		},
		read[eventsGet, eventOne]{
			Name:  "events_get",
			Title: "Get an event",
			Doc:   `Reads one scheduled event. recurrence_rule has the form that events_modify takes.`,
			Route: routeEvent,
			Fence: fence.ChannelTopic,
		},
		read[eventsList, eventsPage]{
			Name:  "events_list",
			Title: "List events",
			Doc:   `Lists a guild's events that are scheduled or active. Who is interested is in events_list_users.`,
			Route: "GET /guilds/{guild_id}/scheduled-events",
			Fence: fence.Username,
		},
		read[eventsListUsers, eventUsersPage]{
			Name:  "events_list_users",
			Title: "List who is interested in an event",
			Doc: `Lists users interested in a scheduled event, by id. To go on, call again with after set to
				next_after, or before to next_before.`,
			Route: "GET /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/users",
			Rules: []mcpcore.Rule{mcpcore.Exclusive("before", "after")},
			Set:   []added{limit(100)},
			Fence: fence.Username,
		},
		write[eventsModify, eventOne]{
			Name:  "events_modify",
			Title: "Change an event",
			Doc: `Changes a scheduled event, or starts (status 2), ends (3) or cancels (4) it: only what is scheduled
				can start or be cancelled, only what is active can end, and what is over stays so. Give entity_type only
				to change it, with all that the new type needs. A new recurrence_rule can undo changes of single dates.`,
			Route:      "PATCH /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}",
			Repeatable: true,
			Needs:      discord.ManageEvents,
			NeedsWhen:  eventNeeds,
			Rules: []mcpcore.Rule{anyGiven("name", "privacy_level", "scheduled_start_time", "scheduled_end_time", "entity_type", "channel_id",
				"entity_metadata", "description", "image", "recurrence_rule", "status"), eventPlace, eventTimes, recurrenceRules},
			Redact: []string{"image"},
			Set:    []added{{"channel_id", noChannel}},
			Fence:  fence.ChannelTopic,
			Run:    modifyEvent,
		},
	}}
}

const routeEvent = "GET /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}"

// eventNeeds are what the place of an event calls for.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-permissions-requirements.
var eventNeeds = []mcpcore.Need{
	{Arg: "entity_type", Equals: "1", Permissions: discord.ManageChannels | discord.MuteMembers | discord.MoveMembers},
	{Arg: "entity_type", Equals: "2", Permissions: discord.ViewChannel | discord.Connect},
}

// eventRef is an event of a guild.
type eventRef struct {
	guildRef
	EventID discord.EventID `json:"event_id" wire:"guild_scheduled_event_id" jsonschema:"event"`
}

type eventTarget struct {
	eventRef
	auditReason
}

type eventsGet struct {
	eventRef
	WithCount bool `json:"with_user_count,omitempty" jsonschema:"also how many are interested"`
}

type eventsList struct {
	guildRef
	WithCount bool `json:"with_user_count,omitempty" jsonschema:"also how many are interested"`
	offset
}

type eventsListUsers struct {
	eventRef
	Limit      int               `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"100" default:"100"`
	WithMember bool              `json:"with_member,omitempty" jsonschema:"also nickname and roles"`
	Before     discord.Snowflake `json:"before,omitempty" jsonschema:"only users with a smaller id"`
	After      discord.Snowflake `json:"after,omitempty" jsonschema:"only users with a greater id"`
}

type eventsCreate struct {
	guildRef
	Name       string            `json:"name" jsonschema:"name" minLength:"1" maxLength:"100"`
	Privacy    int               `json:"privacy_level,omitempty" jsonschema:"2: members only" enum:"2" default:"2"`
	Start      string            `json:"scheduled_start_time" jsonschema:"in the future, with an offset" format:"date-time"`
	EntityType int               `json:"entity_type" jsonschema:"1 stage, 2 voice, 3 elsewhere" enum:"1,2,3"`
	ChannelID  discord.ChannelID `json:"channel_id,omitempty" jsonschema:"stage or voice channel"`
	Metadata   eventMetadata     `json:"entity_metadata,omitzero" jsonschema:"place of an event elsewhere"`
	End        string            `json:"scheduled_end_time,omitempty" jsonschema:"with an offset" format:"date-time"`
	About      string            `json:"description,omitempty" jsonschema:"text" maxLength:"1000"`
	Image      *string           `json:"image,omitempty" as:"image" jsonschema:"cover as a data URI"`
	Recurrence recurrence        `json:"recurrence_rule,omitzero" jsonschema:"repeats it"`
	auditReason
}

type eventsModify struct {
	eventRef
	Name       string             `json:"name,omitempty" jsonschema:"name" minLength:"1" maxLength:"100"`
	Privacy    int                `json:"privacy_level,omitempty" jsonschema:"2: members only" enum:"2"`
	Start      string             `json:"scheduled_start_time,omitempty" jsonschema:"in the future, with an offset; not of an active event" format:"date-time"`
	End        *string            `json:"scheduled_end_time,omitempty" jsonschema:"with an offset; null removes it" format:"date-time"`
	EntityType int                `json:"entity_type,omitempty" jsonschema:"1 stage, 2 voice, 3 elsewhere" enum:"1,2,3"`
	ChannelID  *discord.ChannelID `json:"channel_id,omitempty" jsonschema:"stage or voice channel; null for an event elsewhere"`
	Metadata   eventMetadata      `json:"entity_metadata,omitzero" jsonschema:"place of an event elsewhere"`
	About      *string            `json:"description,omitempty" jsonschema:"text; null removes it" maxLength:"1000"`
	Image      *string            `json:"image,omitempty" as:"image" jsonschema:"cover as a data URI; null removes it"`
	Recurrence *recurrence        `json:"recurrence_rule,omitempty" jsonschema:"repeats it; null stops that"`
	Status     int                `json:"status,omitempty" jsonschema:"2 starts, 3 ends, 4 cancels" enum:"1,2,3,4"`
	auditReason
}

type eventMetadata struct {
	Location string `json:"location,omitempty" minLength:"1" maxLength:"100"`
}

// noChannel takes the channel from an event that moves elsewhere: Discord
// demands that the request says so.
func noChannel(call *mcpcore.Call) string {
	if kind, _ := argument[int](call, "entity_type"); kind == eventElsewhere {
		return "null"
	}
	return ""
}

func createEvent(ctx context.Context, a *api, in eventsCreate) (v eventOne, err error) {
	return a.saveEvent(ctx, in.Start)
}

func modifyEvent(ctx context.Context, a *api, in eventsModify) (v eventOne, err error) {
	return a.saveEvent(ctx, in.Start)
}

// saveEvent sends the call unless its start is over. start may be "".
func (a *api) saveEvent(ctx context.Context, start string) (v eventOne, err error) {
	if at, err := time.Parse(time.RFC3339, start); err == nil && !at.After(a.now()) {
		return v, mcpcore.Invalid(mcpcore.Issue{
			Path: "scheduled_start_time", Code: mcpcore.IssueRule,
			Message: fmt.Sprintf("lies in the past, it is %s now", a.now().UTC().Format(time.RFC3339)),
		})
	}
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	return v, a.project(reply, &v)
}
