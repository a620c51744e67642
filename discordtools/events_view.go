package discordtools

import (
	"context"
	"net/url"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// eventFields are what every view of an event shows.
type eventFields struct {
	ID         discord.EventID    `json:"id"`
	Name       string             `json:"name"`
	About      *string            `json:"description"`
	Start      string             `json:"scheduled_start_time"`
	End        *string            `json:"scheduled_end_time"`
	Status     int                `json:"status" jsonschema:"1 scheduled, 2 active, 3 completed, 4 cancelled"`
	EntityType int                `json:"entity_type" jsonschema:"1 stage, 2 voice, 3 elsewhere"`
	ChannelID  *discord.ChannelID `json:"channel_id"`
	Location   string             `json:"location,omitempty" from:"entity_metadata.location"`
	CreatorID  *discord.UserID    `json:"creator_id"`
	Recurrence *recurrence        `json:"recurrence_rule,omitempty"`
	UserCount  *int               `json:"user_count,omitempty"`
}

type eventOne struct {
	eventFields
	GuildID       discord.GuildID `json:"guild_id"`
	EntityID      string          `json:"entity_id,omitempty" jsonschema:"the live stage"`
	Image         string          `json:"image,omitempty" jsonschema:"hash of the cover"`
	UntrustedText string          `json:"untrusted_text" from:"@derived"`
}

func (v *eventOne) derive(*mcpcore.Call) {
	v.UntrustedText = fencedJSON(fence.ChannelTopic, struct {
		Name     string  `json:"name"`
		About    *string `json:"description"`
		Location string  `json:"location,omitempty"`
	}{v.Name, v.About, v.Location})
}

type eventsPage struct {
	Events []eventFields `json:"events" from:"@reply"`
	part
}

type eventUsersPage struct {
	Users []eventUser `json:"users" from:"@reply"`
	page
	onward[discord.UserID]
	EventID discord.EventID `json:"event_id" from:"@arg"`
}

type eventUser struct {
	UserID     discord.UserID   `json:"user_id"`
	Username   string           `json:"username" from:"user.username"`
	GlobalName *string          `json:"global_name" from:"user.global_name"`
	Bot        bool             `json:"bot" from:"user.bot"`
	Nick       *string          `json:"nick,omitempty" from:"member.nick"`
	Roles      []discord.RoleID `json:"roles,omitempty" from:"member.roles"`
}

func (v *eventUsersPage) derive(call *mcpcore.Call) {
	if n := len(v.Users); n > 0 {
		v.lead(call, v.page, v.Users[0].UserID, v.Users[n-1].UserID)
	}
}

type eventDeleted struct {
	Deleted bool            `json:"deleted" from:"@true"`
	EventID discord.EventID `json:"event_id" from:"@arg"`
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
}

var eventStatus = []string{1: "scheduled", 2: "active", 3: "completed", 4: "cancelled"}

func eventFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var e struct {
		Name     string            `json:"name"`
		Start    string            `json:"scheduled_start_time"`
		Status   int               `json:"status"`
		Channel  discord.ChannelID `json:"channel_id"`
		Metadata eventMetadata     `json:"entity_metadata"`
		Repeats  *struct{}         `json:"recurrence_rule"`
		Users    *int              `json:"user_count"`
	}
	err := a.do(ctx, routeEvent, sub{
		Path:  map[string]string{"guild_scheduled_event_id": a.call.Text("event_id")},
		Query: url.Values{"with_user_count": {"true"}},
	}, &e)
	if err != nil {
		return nil, err
	}
	facts := mcpcore.Facts{{Name: "event", Value: e.Name}, {Name: "status", Value: nth(eventStatus, e.Status)}, {Name: "starts", Value: e.Start}}
	if e.Channel != "" {
		facts = append(facts, mcpcore.Fact{Name: "channel", Value: string(e.Channel)})
	} else {
		facts = append(facts, mcpcore.Fact{Name: "place", Value: e.Metadata.Location})
	}
	if e.Repeats != nil {
		facts = append(facts, mcpcore.Fact{Name: "repeats", Value: "all its dates go"})
	}
	return append(facts, mcpcore.Fact{Name: "interested", Value: countOf(e.Users)}), nil
}

// nth is the name of a number that Discord gives.
func nth(names []string, n int) string {
	if n < 0 || n >= len(names) || names[n] == "" {
		return unknown
	}
	return names[n]
}
