package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeEvents = "GET /guilds/{guild_id}/scheduled-events"
	routeEvent  = "GET /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}"

	guildEvents = 100 // that are not over
)

// Discord's numbers of where an event is and how it stands.
const (
	onStage   = 1
	elsewhere = 3

	eventScheduled = 1
	eventActive    = 2
	eventCompleted = 3
	eventCancelled = 4
)

var (
	eventPlaces   = map[string]int{"stage": onStage, "voice": 2, "external": elsewhere}
	eventStatuses = map[string]int{"scheduled": eventScheduled, "active": eventActive, "completed": eventCompleted, "canceled": eventCancelled}
	frequencies   = []string{"yearly", "monthly", "weekly", "daily"}

	// weekdaySets are the days on which a daily event may be; 0 is Monday.
	weekdaySets = [][]int{{0, 1, 2, 3, 4}, {1, 2, 3, 4, 5}, {0, 1, 2, 3, 6}, {4, 5}, {5, 6}, {0, 6}}
)

// recurrence is how an event repeats, as far as applications can set it.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-recurrence-rule-object.
type recurrence struct {
	Frequency string     `json:"frequency" enum:"yearly,monthly,weekly,daily"`
	Interval  int        `json:"interval,omitempty" jsonschema:"1; weekly also 2" minimum:"1" maximum:"2"`
	Weekdays  []int      `json:"byWeekday,omitempty" jsonschema:"0 Monday to 6 Sunday; weekly: one; daily: 0-4, 1-5, 6 and 0-3, or two in a row from 4 to 0" minimum:"0" maximum:"6" maxItems:"7" uniqueItems:"true"`
	NWeekdays []nWeekday `json:"byNWeekday,omitempty" jsonschema:"monthly: one" maxItems:"1"`
	Months    []int      `json:"byMonth,omitempty" jsonschema:"yearly, with byMonthDay: one" minimum:"1" maximum:"12" maxItems:"1"`
	MonthDays []int      `json:"byMonthDay,omitempty" minimum:"1" maximum:"31" maxItems:"1"`
}

// nWeekday is the nth of a day within a month.
type nWeekday struct {
	N   int `json:"n" jsonschema:"5 is the last" minimum:"1" maximum:"5"`
	Day int `json:"day" minimum:"0" maximum:"6"`
}

type recurrenceWire struct {
	Start     time.Time  `json:"start"`
	Frequency int        `json:"frequency"`
	Interval  int        `json:"interval"`
	Weekdays  []int      `json:"by_weekday,omitempty"`
	NWeekdays []nWeekday `json:"by_n_weekday,omitempty"`
	Months    []int      `json:"by_month,omitempty"`
	MonthDays []int      `json:"by_month_day,omitempty"`
}

// fault is a combination that Discord does not take.
func (r *recurrence) fault() error {
	days := slices.Sorted(slices.Values(r.Weekdays))
	ways := min(len(r.Weekdays), 1) + len(r.NWeekdays) + min(len(r.Months)+len(r.MonthDays), 1)
	daily := slices.ContainsFunc(weekdaySets, func(set []int) bool { return slices.Equal(set, days) })
	switch f := r.Frequency; {
	case ways > 1, r.Interval > 1 && f != "weekly", len(days) > 0 && f != "daily" && f != "weekly", len(days) > 1 && f == "weekly",
		len(days) > 0 && f == "daily" && !daily, len(r.NWeekdays) > 0 && f != "monthly", len(r.Months)+len(r.MonthDays) > 0 && f != "yearly",
		len(r.Months) != len(r.MonthDays):
		return refused("recurrence", "Discord takes no events that repeat like that")
	}
	return nil
}

// eventWire is an event as Discord tells it.
type eventWire struct {
	ID          discord.EventID   `json:"id"`
	Guild       discord.GuildID   `json:"guild_id"`
	Channel     discord.ChannelID `json:"channel_id"`
	Creator     discord.UserID    `json:"creator_id"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Image       string            `json:"image"`
	Start       time.Time         `json:"scheduled_start_time"`
	End         *time.Time        `json:"scheduled_end_time"`
	Status      int               `json:"status"`
	Type        int               `json:"entity_type"`
	Metadata    *eventLocation    `json:"entity_metadata"`
	Recurrence  *recurrenceWire   `json:"recurrence_rule"`
}

type eventLocation struct {
	Location string `json:"location"`
}

// event is an event as plans bind it and as its arguments name it.
type event struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Place       string            `json:"place"`
	Channel     discord.ChannelID `json:"channelId"`
	Location    string            `json:"location"`
	Start       string            `json:"startTime"`
	End         string            `json:"endTime"`
	Recurrence  *recurrence       `json:"recurrence"`
	Status      string            `json:"status"`
	Cover       string            `json:"cover" jsonschema:"Discord's hash of the picture, a digest of one that is sent, or nothing"`
}

var eventFields = []string{"name", "description", "place", "channelId", "location", "startTime", "endTime", "recurrence", "status", "cover"}

// fields are the event's as texts, in the order of eventFields, without what the
// cover shows.
func (e event) fields() []string {
	repeats := ""
	if e.Recurrence != nil {
		repeats = snapshot(e.Recurrence)
	}
	cover := "no"
	if e.Cover != "" {
		cover = "yes"
	}
	return []string{e.Name, e.Description, e.Place, string(e.Channel), e.Location, e.Start, e.End, repeats, e.Status, cover}
}

// differ are the fields in which two events are not the same.
func (e event) differ(other event) (fields []string) {
	mine, theirs := e.fields(), other.fields()
	for i, field := range eventFields {
		if mine[i] != theirs[i] {
			fields = append(fields, field)
		}
	}
	return fields
}

// event is the event as plans bind it.
func (w eventWire) event() (e event, err error) {
	e = event{
		Name: w.Name, Description: w.Description, Channel: w.Channel, Cover: w.Image, Start: moment(w.Start),
		Place: nameOf(eventPlaces, w.Type), Status: nameOf(eventStatuses, w.Status),
	}
	if w.ID == "" || w.Start.IsZero() || eventPlaces[e.Place] == 0 || eventStatuses[e.Status] == 0 {
		return e, incomplete("the event")
	}
	if w.End != nil {
		e.End = moment(*w.End)
	}
	if w.Metadata != nil {
		e.Location = w.Metadata.Location
	}
	if r := w.Recurrence; r != nil {
		if r.Frequency < 0 || r.Frequency >= len(frequencies) {
			return e, incomplete("the event")
		}
		e.Recurrence = &recurrence{frequencies[r.Frequency], r.Interval, r.Weekdays, r.NWeekdays, r.Months, r.MonthDays}
		e.Recurrence.tidy()
	}
	return e, nil
}

// tidy makes equal recurrences equal byte for byte.
func (r *recurrence) tidy() {
	r.Interval = max(r.Interval, 1)
	r.Weekdays = slices.Sorted(slices.Values(r.Weekdays))
}

// wire is the recurrence from a moment on.
func (r *recurrence) wire(start string) (*recurrenceWire, error) {
	from, err := time.Parse(time.RFC3339, start)
	return &recurrenceWire{from, slices.Index(frequencies, r.Frequency), r.Interval, r.Weekdays, r.NWeekdays, r.Months, r.MonthDays}, err
}

// moment is a time as plans bind it.
func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// event reads one event.
func (r *reads) event(ctx context.Context, guild discord.GuildID, id discord.EventID) (e event, creator discord.UserID, err error) {
	var w eventWire
	if err := r.get(ctx, routeEvent, path{"guild_id": string(guild), "guild_scheduled_event_id": string(id)}, &w); err != nil {
		return e, "", err
	}
	if w.ID != id || w.Guild != guild {
		return e, "", incomplete("the event")
	}
	e, err = w.event()
	return e, w.Creator, err
}

// host refuses an event that the bot may not have where it is: need there, and
// what a voice channel or stage takes.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-permissions-requirements.
func (e event) host(bot *standing, channels []channel, need discord.Permissions) error {
	if e.Place == "external" {
		return bot.needs(need)
	}
	kind := discord.GuildVoice
	need |= discord.ViewChannel | discord.Connect
	if e.Place == "stage" {
		kind = discord.GuildStageVoice
		need |= discord.ManageChannels | discord.MuteMembers | discord.MoveMembers
	}
	i := slices.IndexFunc(channels, func(c channel) bool { return c.ID == e.Channel && c.Type == kind })
	if i < 0 {
		return refused("channel", "%s is no %s of the guild that the bot can see", e.Channel, kind)
	}
	held, err := bot.in(channels[i])
	if err != nil {
		return err
	}
	return lacks(held, need, "the event's channel")
}

// fault is what an event may not be. before is the event as it was, nil for a new
// one.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-object-field-requirements-by-entity-type.
func (e event) fault(now time.Time, before *event) error {
	start, errStart := time.Parse(time.RFC3339, e.Start)
	if e.Start == "" || errStart != nil {
		return refused("time", "an event has a start")
	}
	moved := before == nil || before.Start != e.Start
	switch {
	case strings.TrimSpace(e.Name) == "":
		return refused("name", "an event has a name")
	case moved && before != nil && before.Status == "active":
		return refused("time", "an event that has begun keeps its start")
	case moved && !start.After(now):
		return refused("time", "an event starts in the future")
	case e.Place == "external" && (e.Channel != "" || e.Location == "" || e.End == ""):
		return refused("place", "an external event has a location and an end, and no channel")
	case e.Place != "external" && (e.Channel == "" || e.Location != ""):
		return refused("place", "an event on a stage or in voice has a channel, and no location")
	}
	if e.End != "" {
		if end, err := time.Parse(time.RFC3339, e.End); err != nil || !end.After(start) {
			return refused("time", "an event ends after it starts")
		}
	}
	if e.Recurrence != nil {
		return e.Recurrence.fault()
	}
	return nil
}

// eventBody is what of an event is sent.
type eventBody struct {
	Name        string          `json:"name,omitempty"`
	Description *string         `json:"description,omitempty"`
	Privacy     int             `json:"privacy_level,omitempty"`
	Start       string          `json:"scheduled_start_time,omitempty"`
	End         json.RawMessage `json:"scheduled_end_time,omitempty"`
	Type        int             `json:"entity_type,omitempty"`
	Channel     json.RawMessage `json:"channel_id,omitempty"`
	Metadata    *eventLocation  `json:"entity_metadata,omitempty"`
	Recurrence  json.RawMessage `json:"recurrence_rule,omitempty"`
	Status      int             `json:"status,omitempty"`
	Image       string          `json:"image,omitempty"`
}

// body is the whole of a new event, and what changes of another. cover is the
// picture that is sent.
func (e event) body(changed []string, created bool, cover string) (b eventBody, err error) {
	has := func(field string) bool { return slices.Contains(changed, field) }
	if has("name") {
		b.Name = e.Name
	}
	if has("description") {
		b.Description = &e.Description
	}
	if has("startTime") {
		b.Start = e.Start
	}
	if has("endTime") {
		b.End = orNull(e.End)
	}
	if has("place") || has("channelId") || has("location") {
		b.Type = eventPlaces[e.Place]
		if b.Channel = orNull(e.Channel); e.Place == "external" {
			b.Metadata = &eventLocation{e.Location}
		}
	}
	if has("recurrence") || has("startTime") && e.Recurrence != nil {
		b.Recurrence = json.RawMessage("null")
		if e.Recurrence != nil {
			wire, err := e.Recurrence.wire(e.Start)
			if err != nil {
				return b, fmt.Errorf("start of the recurrence: %w", err)
			}
			if b.Recurrence, err = json.Marshal(wire); err != nil {
				return b, err
			}
		}
	}
	if created {
		b.Privacy = 2 // the guild's members, the only one there is
	} else if has("status") {
		b.Status = eventStatuses[e.Status]
	}
	b.Image = cover
	return b, nil
}
