package discordtools

import (
	"fmt"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Where an event is.
const (
	eventOnStage   = 1
	eventInVoice   = 2
	eventElsewhere = 3
)

// eventPlace demands what an entity_type needs beside it and refuses what it
// excludes. Without entity_type an event stays what it is.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-object-field-requirements-by-entity-type.
var eventPlace = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	kind, given := argument[int](call, "entity_type")
	metadata, _ := argument[eventMetadata](call, "entity_metadata")
	switch {
	case !given:
		return nil
	case kind != eventElsewhere && call.Text("channel_id") == "":
		return contradiction("channel_id", "is required with entity_type %d: the %s", kind, map[int]string{eventOnStage: "stage channel", eventInVoice: "voice channel"}[kind])
	case kind != eventElsewhere && metadata.Location != "":
		return contradiction("entity_metadata", "is for entity_type 3; an event in a channel has no other place")
	case kind != eventElsewhere:
		return nil
	case call.Text("channel_id") != "":
		return contradiction("channel_id", "excludes entity_type 3: such an event is in no channel")
	case metadata.Location == "":
		return contradiction("entity_metadata.location", "is required with entity_type 3")
	case call.Text("scheduled_end_time") == "":
		return contradiction("scheduled_end_time", "is required with entity_type 3")
	}
	return nil
}}

// eventTimes demands that an event ends after it starts.
var eventTimes = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	start, errStart := time.Parse(time.RFC3339, call.Text("scheduled_start_time"))
	end, errEnd := time.Parse(time.RFC3339, call.Text("scheduled_end_time"))
	if errStart != nil || errEnd != nil || end.After(start) {
		return nil
	}
	return contradiction("scheduled_end_time", "must be after scheduled_start_time")
}}

// recurrence is how an event repeats, as far as applications can set it.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-recurrence-rule-object.
type recurrence struct {
	Start     string     `json:"start" jsonschema:"of the first date, as a rule scheduled_start_time" format:"date-time"`
	Frequency int        `json:"frequency" jsonschema:"0 yearly, 1 monthly, 2 weekly, 3 daily" enum:"0,1,2,3"`
	Interval  int        `json:"interval,omitempty" jsonschema:"1; weekly also 2" minimum:"1" maximum:"2"`
	Weekdays  []int      `json:"by_weekday,omitempty" jsonschema:"0 Monday to 6 Sunday; weekly: one; daily: 0-4, 1-5, 6 and 0-3, or two in a row from 4 to 0" minimum:"0" maximum:"6" maxItems:"7" uniqueItems:"true"`
	NWeekdays []nWeekday `json:"by_n_weekday,omitempty" jsonschema:"monthly: one" maxItems:"1"`
	Months    []int      `json:"by_month,omitempty" jsonschema:"yearly, with by_month_day: one" minimum:"1" maximum:"12" maxItems:"1"`
	MonthDays []int      `json:"by_month_day,omitempty" minimum:"1" maximum:"31" maxItems:"1"`
}

// nWeekday is the nth of a day within a month.
type nWeekday struct {
	N   int `json:"n" jsonschema:"5 is the last" minimum:"1" maximum:"5"`
	Day int `json:"day" minimum:"0" maximum:"6"`
}

// How often an event repeats.
const (
	yearly  = 0
	monthly = 1
	weekly  = 2
	daily   = 3
)

// weekdaySets are the days on which a daily event may be.
var weekdaySets = [][]int{{0, 1, 2, 3, 4}, {1, 2, 3, 4, 5}, {0, 1, 2, 3, 6}, {4, 5}, {5, 6}, {0, 6}}

// recurrenceRules refuses the combinations that Discord does not take.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-recurrence-rule-object.
var recurrenceRules = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	r, given := argument[*recurrence](call, "recurrence_rule")
	if !given || r == nil {
		return nil
	}
	member, why := r.wrong()
	if why == "" {
		return nil
	}
	return contradiction("recurrence_rule."+member, "%s", why)
}}

// wrong is the member that does not fit and why, "" when all do.
func (r *recurrence) wrong() (member, why string) {
	days := slices.Sorted(slices.Values(r.Weekdays))
	ways := 0
	for _, given := range []bool{len(r.Weekdays) > 0, len(r.NWeekdays) > 0, len(r.Months)+len(r.MonthDays) > 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways > 1:
		return "by_weekday", "by_weekday, by_n_weekday, and by_month with by_month_day exclude each other"
	case r.Interval > 1 && r.Frequency != weekly:
		return "interval", "is 1 unless frequency is 2, weekly"
	case len(days) > 0 && r.Frequency != daily && r.Frequency != weekly:
		return "by_weekday", "is for frequency 2, weekly, and 3, daily"
	case len(days) > 1 && r.Frequency == weekly:
		return "by_weekday", "holds one day when frequency is 2, weekly; for several use 3, daily"
	case len(days) > 0 && r.Frequency == daily && !slices.ContainsFunc(weekdaySets, func(set []int) bool { return slices.Equal(set, days) }):
		return "by_weekday", fmt.Sprintf("is one of the sets %v when frequency is 3, daily", weekdaySets)
	case len(r.NWeekdays) > 0 && r.Frequency != monthly:
		return "by_n_weekday", "is for frequency 1, monthly"
	case len(r.Months)+len(r.MonthDays) > 0 && r.Frequency != yearly:
		return "by_month", "by_month and by_month_day are for frequency 0, yearly"
	case len(r.Months) != len(r.MonthDays):
		return "by_month", "by_month and by_month_day go together"
	}
	return "", ""
}
