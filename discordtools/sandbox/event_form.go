package sandbox

import (
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type eventForm struct {
	Name        opt[string]            `json:"name" minLength:"1" maxLength:"100" null:"no"`
	Description opt[string]            `json:"description" maxLength:"1000"`
	Privacy     opt[int]               `json:"privacy_level" enum:"2" null:"no"`
	Start       opt[time.Time]         `json:"scheduled_start_time" null:"no"`
	End         opt[time.Time]         `json:"scheduled_end_time"`
	Type        opt[int]               `json:"entity_type" enum:"1,2,3"`
	Channel     opt[discord.ChannelID] `json:"channel_id"`
	Metadata    opt[eventPlaceForm]    `json:"entity_metadata"`
	Image       opt[string]            `json:"image"`
	Recurrence  opt[recurrenceForm]    `json:"recurrence_rule"`
	Status      opt[int]               `json:"status" enum:"1,2,3,4"`
}

type eventPlaceForm struct {
	Location opt[string] `json:"location" minLength:"1" maxLength:"100"`
}

// fillEvent puts a form into an event, after checking what comes of it and what
// the bot may: need, and what the event's place takes.
func (x *exchange) fillEvent(g *guild, e *Event, f eventForm, need discord.Permissions) error {
	if f.Start.has() && !f.Start.value.After(x.now) {
		return invalid("scheduled_start_time", "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST", "Cannot schedule event in the past.")
	}
	f.Name.into(&e.Name)
	f.Description.into(&e.Description)
	f.Start.into(&e.Start)
	f.End.into(&e.End)
	f.Channel.into(&e.Channel)
	if f.Type.has() {
		e.Type = f.Type.value
	}
	if e.Type == EventElsewhere {
		f.Metadata.value.Location.into(&e.Location)
	} else {
		e.Location = "" // what is sent for others is discarded
	}
	if err := e.check(); err != nil {
		return err
	}
	if err := x.needPlace(g, e, need); err != nil {
		return err
	}
	if err := picture("image", f.Image, &e.Image); err != nil {
		return err
	}
	if f.Recurrence.sent {
		if e.Recurrence = nil; f.Recurrence.has() {
			r, err := f.Recurrence.value.rule()
			if err != nil {
				return err
			}
			e.Recurrence = r
		}
	}
	return nil
}

// check demands what an event's type needs. The codes of these violations are
// not documented.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-object-field-requirements-by-entity-type.
func (e *Event) check() error {
	var f form
	elsewhere := e.Type == EventElsewhere
	if !elsewhere && e.Channel == "" {
		f.add("channel_id", "BASE_TYPE_REQUIRED", "This field is required")
	}
	if elsewhere && e.Channel != "" {
		f.add("channel_id", "BASE_TYPE_CHOICES", "Must be null for external events.")
	}
	if elsewhere && e.Location == "" {
		f.add("entity_metadata.location", "BASE_TYPE_REQUIRED", "This field is required")
	}
	if elsewhere && e.End.IsZero() {
		f.add("scheduled_end_time", "BASE_TYPE_REQUIRED", "This field is required")
	}
	if !e.End.IsZero() && !e.End.After(e.Start) {
		f.add("scheduled_end_time", "BASE_TYPE_CHOICES", "Must be after scheduled_start_time.")
	}
	return f.err()
}

// eventManager is what changing an event takes: for one's own either permission
// is enough.
func (x *exchange) eventManager(g *guild, e *Event) discord.Permissions {
	if e.Creator == x.actor && !x.world.inGuild(g, x.actor).Has(discord.ManageEvents) {
		return discord.CreateEvents
	}
	return discord.ManageEvents
}

// needPlace demands need and what the place of an event takes: in its channel, or
// in the guild for one elsewhere.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-permissions-requirements.
func (x *exchange) needPlace(g *guild, e *Event, need discord.Permissions) error {
	if e.Type == EventElsewhere {
		return x.needInGuild(g, need)
	}
	c, err := x.channel(e.Channel)
	switch {
	case err != nil:
		return err
	case c.Guild != g.ID:
		return errUnknownChannel
	case e.Type == EventOnStage && c.Type != discord.GuildStageVoice, e.Type == EventInVoice && c.Type != discord.GuildVoice:
		return errChannelType
	case e.Type == EventOnStage:
		need |= stageModerator
	default:
		need |= discord.Connect
	}
	return x.need(c, need)
}

// Recurrence is how an event repeats.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event#guild-scheduled-event-recurrence-rule-object.
type Recurrence struct {
	Start     time.Time
	Frequency int // 0 yearly, 1 monthly, 2 weekly, 3 daily
	Interval  int
	Weekdays  []int // 0 is Monday
	NWeekdays []NWeekday
	Months    []int
	MonthDays []int
}

// NWeekday is the nth of a day within a month.
type NWeekday struct {
	N   int `json:"n" minimum:"1" maximum:"5"`
	Day int `json:"day" minimum:"0" maximum:"6"`
}

type recurrenceForm struct {
	Start     time.Time       `json:"start"`
	Frequency int             `json:"frequency" enum:"0,1,2,3"`
	Interval  opt[int]        `json:"interval" minimum:"1"`
	Weekdays  opt[[]int]      `json:"by_weekday" maxItems:"7"`
	NWeekdays opt[[]NWeekday] `json:"by_n_weekday" maxItems:"7"`
	Months    opt[[]int]      `json:"by_month" maxItems:"12"`
	MonthDays opt[[]int]      `json:"by_month_day" maxItems:"33"`
	End       opt[time.Time]  `json:"end"`
	YearDays  opt[[]int]      `json:"by_year_day"`
	Count     opt[int]        `json:"count"`
}

// rule refuses what Discord's system limitations exclude. The codes of these
// violations are not documented.
func (f recurrenceForm) rule() (*Recurrence, error) {
	var wrong form
	bad := func(member, message string) { wrong.add("recurrence_rule."+member, "BASE_TYPE_CHOICES", message) }
	weekdays, nth, dates := f.Weekdays.value, f.NWeekdays.value, len(f.Months.value)+len(f.MonthDays.value)
	if f.End.has() || f.YearDays.has() || f.Count.has() {
		bad("count", "end, by_year_day and count cannot be set.")
	}
	if len(weekdays) > 0 && len(nth) > 0 || len(weekdays) > 0 && dates > 0 || len(nth) > 0 && dates > 0 {
		bad("by_weekday", "Mutually exclusive.")
	}
	if i := f.Interval.or(1); i != 1 && (f.Frequency != 2 || i != 2) {
		bad("interval", "Must be 1, or 2 for weekly events.")
	}
	if len(weekdays) > 0 && (f.Frequency < 2 || f.Frequency == 2 && len(weekdays) != 1 || f.Frequency == 3 && !dailySet(weekdays)) {
		bad("by_weekday", "Not a known set of weekdays.")
	}
	if len(nth) > 0 && (f.Frequency != 1 || len(nth) != 1) {
		bad("by_n_weekday", "One day, for monthly events.")
	}
	if dates > 0 && (f.Frequency != 0 || len(f.Months.value) != 1 || len(f.MonthDays.value) != 1) {
		bad("by_month", "One month and one day, for yearly events.")
	}
	return &Recurrence{f.Start, f.Frequency, f.Interval.or(1), weekdays, nth, f.Months.value, f.MonthDays.value}, wrong.err()
}

// dailySet reports whether a daily event may be on these days.
func dailySet(days []int) bool {
	set := 0
	for _, d := range days {
		if d < 0 || d > 6 {
			return false
		}
		set |= 1 << d
	}
	return slices.Contains([]int{0b0011111, 0b0111110, 0b1001111, 0b0110000, 0b1100000, 0b1000001}, set)
}
