package sandbox

import (
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type eventView struct {
	eventBase
	Metadata *eventPlaceView `json:"entity_metadata"`
}

// eventBase is an event as an invite shows it.
type eventBase struct {
	ID          discord.EventID    `json:"id"`
	Guild       discord.GuildID    `json:"guild_id"`
	Channel     *discord.ChannelID `json:"channel_id"`
	CreatorID   *discord.UserID    `json:"creator_id"`
	Creator     userView           `json:"creator"`
	Name        string             `json:"name"`
	Description *string            `json:"description"`
	Image       *string            `json:"image"`
	Start       string             `json:"scheduled_start_time"`
	End         *string            `json:"scheduled_end_time"`
	Privacy     int                `json:"privacy_level"`
	Status      int                `json:"status"`
	Type        int                `json:"entity_type"`
	Entity      *string            `json:"entity_id"`
	Recurrence  *recurrenceView    `json:"recurrence_rule"`
	Exceptions  []null             `json:"guild_scheduled_event_exceptions"`
	UserCount   *int               `json:"user_count,omitempty"`
}

type eventPlaceView struct {
	Location string `json:"location"`
}

type recurrenceView struct {
	Start     string     `json:"start"`
	End       *string    `json:"end"`
	Frequency int        `json:"frequency"`
	Interval  int        `json:"interval"`
	Weekdays  []int      `json:"by_weekday"`
	NWeekdays []NWeekday `json:"by_n_weekday"`
	Months    []int      `json:"by_month"`
	MonthDays []int      `json:"by_month_day"`
	YearDays  []int      `json:"by_year_day"`
	Count     *int       `json:"count"`
}

type eventUserView struct {
	Event    discord.EventID `json:"guild_scheduled_event_id"`
	UserID   discord.UserID  `json:"user_id"`
	User     userView        `json:"user"`
	Member   *memberView     `json:"member,omitempty"`
	Response int             `json:"response"`
}

func (x *exchange) viewEvent(g *guild, e *Event, counted bool) eventView {
	v := eventView{eventBase: eventBase{
		ID: e.ID, Guild: g.ID, Channel: textOrNull(e.Channel), CreatorID: textOrNull(e.Creator), Creator: x.user(e.Creator),
		Name: e.Name, Description: textOrNull(e.Description), Image: textOrNull(e.Image), Start: stamp(e.Start), End: stampOrNull(e.End),
		Privacy: 2, Status: e.Status, Type: e.Type, Entity: textOrNull(e.Stage), Exceptions: []null{},
	}}
	if e.Type == EventElsewhere {
		v.Metadata = &eventPlaceView{e.Location}
	}
	if r := e.Recurrence; r != nil {
		v.Recurrence = &recurrenceView{
			Start: stamp(r.Start), Frequency: r.Frequency, Interval: orDefault(r.Interval, 1), Weekdays: r.Weekdays, NWeekdays: r.NWeekdays,
			Months: r.Months, MonthDays: r.MonthDays,
		}
	}
	if n := len(e.Users); counted {
		v.UserCount = &n
	}
	return v
}
