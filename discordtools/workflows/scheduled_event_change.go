package workflows

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeEventCreate = "POST /guilds/{guild_id}/scheduled-events"
	routeEventEdit   = "PATCH /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}"
	routeEventDelete = "DELETE /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}"

	coverBytes = 8 << 20
)

type eventChange struct {
	GuildID     discord.GuildID   `json:"guildId" jsonschema:"guild of the event"`
	Action      string            `json:"action" jsonschema:"transition sets status and nothing else" enum:"create,update,transition,delete"`
	EventID     discord.EventID   `json:"eventId,omitempty" jsonschema:"event, but for create"`
	Name        string            `json:"name,omitempty" jsonschema:"name" minLength:"1" maxLength:"100"`
	Description string            `json:"description,omitempty" jsonschema:"what it is about" maxLength:"1000"`
	Place       string            `json:"place,omitempty" jsonschema:"stage and voice take channelId, external takes location and endTime" enum:"stage,voice,external"`
	ChannelID   discord.ChannelID `json:"channelId,omitempty" jsonschema:"stage or voice channel"`
	Location    string            `json:"location,omitempty" jsonschema:"where it is outside" minLength:"1" maxLength:"100"`
	Start       string            `json:"startTime,omitempty" jsonschema:"in the future" format:"date-time"`
	End         *string           `json:"endTime,omitempty" jsonschema:"after the start; null for none" format:"date-time"`
	Recurrence  *recurrence       `json:"recurrence,omitempty" jsonschema:"how it repeats; null for not at all"`
	Status      string            `json:"status,omitempty" jsonschema:"with transition: a scheduled event becomes active or canceled, an active one completed" enum:"active,completed,canceled"`
	Cover       string            `json:"coverImage,omitempty" jsonschema:"JPEG or PNG as a data URI, 8 MiB; what of it is kept is not compared"`
	reason
}

type eventState struct {
	Guild      guildSeen `json:"guild"`
	Permission evidence  `json:"permission"`
	Now        *event    `json:"current"`
	Wanted     *event    `json:"wanted"`
	Changed    []string  `json:"changedFields"`
	Open       int       `json:"openEvents"`
	Limit      int       `json:"openEventsLimit"`
	Channels   string    `json:"channels" jsonschema:"digest of all visible channels"`
}

// scheduledEventChange makes, changes, moves on or deletes a scheduled event.
func scheduledEventChange(rest discordtools.REST) mcpcore.Workflow {
	return change[eventChange, eventState]{
		Name: "scheduled-event-change", Category: "scheduled-events", Title: "Change a scheduled event",
		Doc: `Creates, changes, starts, ends, cancels or deletes a scheduled event. One that is over cannot be changed. An event on a stage
			opens it when it starts.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose events may be changed")},
		Rules:  []mcpcore.Rule{{Check: checkEventArguments}}, Redact: []string{"coverImage", "description"},
		Reads: append(slices.Clone(standingRoutes), routeChannels, routeEvents, routeEvent), Write: []string{routeEventCreate, routeEventEdit, routeEventDelete},
		Plan: planEvent,
		Targets: func(in eventChange, _ eventState) []mcpcore.Target {
			return []mcpcore.Target{all("scheduled-events", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in eventChange, s eventState) (done mcpcore.Written, err error) {
			at := path{"guild_id": string(in.GuildID), "guild_scheduled_event_id": string(in.EventID)}
			if in.Action == "delete" {
				return mcpcore.Written{ID: string(in.EventID)}, w.send(ctx, routeEventDelete, at, nil, nil)
			}
			body, err := s.Wanted.body(s.Changed, s.Now == nil, in.Cover)
			if err != nil {
				return done, mcpcore.NotDone(err)
			}
			route := routeEventEdit
			if in.Action == "create" {
				route, at = routeEventCreate, inGuild(in.GuildID)
			}
			var made eventWire
			if err := w.send(ctx, route, at, body, &made); err != nil {
				return done, err
			}
			if done.ID, err = id(made.ID); err == nil && (made.Guild != in.GuildID || in.EventID != "" && made.ID != in.EventID) {
				err = errors.New("the answer is of another event than was asked for")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in eventChange, s eventState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			now, _, err := r.event(ctx, in.GuildID, discord.EventID(w.ID))
			switch {
			case in.Action == "delete" && gone(err):
				return found, nil
			case in.Action == "delete" && err == nil:
				return found, errors.New("the event is still there")
			case err != nil:
				return found, err
			}
			return mcpcore.Reading{Drift: now.differ(*s.Wanted)}, nil
		},
	}.on(rest)
}

// checkEventArguments refuses arguments that do not go with the action.
func checkEventArguments(c *mcpcore.Call) *mcpcore.Issue {
	action := c.Text("action")
	with := func(path, message string) *mcpcore.Issue {
		return issue(path, "%s with the action %s", message, action)
	}
	given := slices.DeleteFunc([]string{"name", "description", "place", "channelId", "location", "startTime", "endTime", "recurrence", "coverImage"},
		func(f string) bool { return !c.Has(f) })
	switch {
	case (action == "create") == c.Has("eventId"):
		return with("eventId", "is needed, or does not go,")
	case (action == "transition") != c.Has("status"):
		return with("status", "is needed, or does not go,")
	case action == "create" && (!c.Has("name") || !c.Has("place") || !c.Has("startTime")):
		return with("name", "place and startTime are needed too")
	case action == "update" && len(given) == 0:
		return with("name", "or something else must be given")
	case (action == "transition" || action == "delete") && len(given) > 0:
		return with(given[0], "does not go")
	}
	return nil
}

func planEvent(ctx context.Context, r *reads, in eventChange) (plan mcpcore.Change[eventState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	channels, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	var open []struct {
		ID discord.EventID `json:"id"`
	}
	if err := r.get(ctx, routeEvents, inGuild(in.GuildID), &open); err != nil {
		return plan, err
	}
	s := eventState{Guild: bot.Guild, Permission: bot.evidence(), Open: len(open), Limit: guildEvents, Channels: snapshot(channels)}
	wanted, need := event{Status: "scheduled"}, discord.CreateEvents
	if in.Action == "create" {
		if s.Open >= s.Limit {
			return plan, refused("full", "the guild has %d events that are not over, and can have %d", s.Open, s.Limit)
		}
	} else {
		now, creator, err := r.event(ctx, in.GuildID, in.EventID)
		if err != nil {
			return plan, err
		}
		if creator != bot.Bot || bot.held.Has(discord.ManageEvents) {
			need = discord.ManageEvents // for its own the bot needs either
		}
		if now.Status == in.Status {
			wanted, s.Now = now, &now
			return eventPlan(in, s, wanted), nil
		}
		if now.Status == "completed" || now.Status == "canceled" {
			return plan, refused("over", "the event is %s", now.Status)
		}
		if err := now.host(&bot, channels, need); err != nil {
			return plan, err
		}
		wanted, s.Now = now, &now
	}
	switch in.Action {
	case "transition":
		legal := map[string][]string{"scheduled": {"active", "canceled"}, "active": {"completed"}}[s.Now.Status]
		if !slices.Contains(legal, in.Status) {
			return plan, refused("transition", "an event that is %s becomes %s", s.Now.Status, strings.Join(legal, " or "))
		}
		wanted.Status = in.Status
	case "create", "update":
		if wanted, err = in.onto(wanted, r.Call.Has); err != nil {
			return plan, err
		}
		if err := wanted.fault(r.Call.Now(), s.Now); err != nil {
			return plan, err
		}
		if err := wanted.host(&bot, channels, need); err != nil {
			return plan, err
		}
	}
	return eventPlan(in, s, wanted), nil
}

// eventPlan is the plan that makes an event as it is wanted.
func eventPlan(in eventChange, s eventState, wanted event) mcpcore.Change[eventState] {
	plan := mcpcore.Change[eventState]{Action: in.Action, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "event", Value: wanted.Name}}}
	if in.Action == "delete" {
		plan.State, plan.Risks = s, []string{"irreversible"}
		return plan
	}
	var before event
	if s.Now != nil {
		before = *s.Now
	}
	s.Wanted, s.Changed = &wanted, wanted.differ(before)
	if in.Cover != "" && !slices.Contains(s.Changed, "cover") {
		s.Changed = append(s.Changed, "cover") // what the one that is there shows is not known
	}
	if plan.Current = s.Now != nil && len(s.Changed) == 0; plan.Current {
		plan.Action = "none"
	}
	for _, field := range s.Changed {
		i := slices.Index(eventFields, field)
		if value := wanted.fields()[i]; field != "description" && field != "recurrence" {
			plan.Facts = append(plan.Facts, mcpcore.Fact{Name: field, Value: value})
		} else {
			plan.Facts = append(plan.Facts, mcpcore.Fact{Name: field, Value: "changes"})
		}
	}
	plan.State = s
	return plan
}

// onto is an event with what was given. An event that moves between a channel
// and outside loses what only the other has.
func (in eventChange) onto(e event, given func(string) bool) (event, error) {
	if given("name") {
		e.Name = strings.TrimSpace(in.Name)
	}
	if given("description") {
		e.Description = strings.TrimSpace(in.Description)
	}
	if given("place") {
		if e.Place = in.Place; e.Place == "external" {
			e.Channel = ""
		} else {
			e.Location = ""
		}
	}
	if given("channelId") {
		e.Channel = in.ChannelID
	}
	if given("location") {
		e.Location = strings.TrimSpace(in.Location)
	}
	for _, t := range []struct {
		name  string
		value *string
		to    *string
	}{{"startTime", &in.Start, &e.Start}, {"endTime", in.End, &e.End}} {
		if !given(t.name) {
			continue
		}
		if *t.to = ""; t.value == nil {
			continue
		}
		at, err := time.Parse(time.RFC3339, *t.value)
		if err != nil {
			return e, refused("time", "%s is no moment with a time zone", *t.value)
		}
		*t.to = moment(at)
	}
	if given("recurrence") {
		if e.Recurrence = nil; in.Recurrence != nil {
			r := *in.Recurrence
			r.tidy()
			e.Recurrence = &r
		}
	}
	if given("coverImage") {
		data, err := picture(in.Cover, coverBytes, "image/jpeg", "image/png")
		if err != nil {
			return e, err
		}
		e.Cover = digest(data)
	}
	return e, nil
}
