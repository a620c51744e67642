package sandbox

import (
	"maps"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// eventRoutes are the scheduled events of a guild. Nothing happens by time
// alone: no event starts, ends or is cancelled by itself.
//
// Source: https://docs.discord.com/developers/resources/guild-scheduled-event.
var eventRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/scheduled-events", handle: inGuild(0, listEvents)},
	{method: "POST", path: "/guilds/{guild_id}/scheduled-events", handle: inGuild(0, createEvent)},
	{method: "GET", path: "/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}", handle: onEvent(getEvent)},
	{method: "PATCH", path: "/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}", handle: onEvent(editEvent)},
	{method: "DELETE", path: "/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}", handle: onEvent(deleteEvent)},
	{method: "GET", path: "/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}/users", handle: onEvent(listEventUsers)},
}

const (
	auditEventCreate = 100
	auditEventUpdate = 101
	auditEventDelete = 102

	maxEvents = 100 // that are not over
)

var (
	errUnknownEvent = notFound(10070, "Unknown Guild Scheduled Event")
	errEventsFull   = badRequest(30038, "Maximum number of uncompleted guild scheduled events reached (100)")
	errEventOver    = badRequest(180000, "Cannot update a finished event")
)

// Where an event is, and how it stands.
const (
	EventOnStage   = 1
	EventInVoice   = 2
	EventElsewhere = 3

	EventScheduled = 1
	EventActive    = 2
	EventCompleted = 3
	EventCancelled = 4
)

// Event is a scheduled event of a guild.
type Event struct {
	ID          discord.EventID
	Name        string
	Description string
	Image       string            // hash
	Type        int               // 0 follows from Channel
	Channel     discord.ChannelID // "" is elsewhere
	Location    string            // elsewhere
	Start, End  time.Time         // a zero End is none
	Status      int               // 0 is scheduled
	Stage       string            // id of the live stage it runs on
	Creator     discord.UserID    // "" is the bot
	Recurrence  *Recurrence
	Users       []discord.UserID // who is interested
}

// AddEvent adds a scheduled event.
func (d *Discord) AddEvent(in discord.GuildID, e Event) discord.EventID {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	named(&d.world, &e.ID)
	unused(g.events, e.ID)
	if e.Type == 0 {
		e.Type = EventElsewhere
	}
	if e.Channel != "" {
		if c := known(d.world.channels, e.Channel); c.Type == discord.GuildStageVoice {
			e.Type = EventOnStage
		} else {
			e.Type = EventInVoice
		}
	}
	e.Status = orDefault(e.Status, EventScheduled)
	if e.Creator == "" {
		e.Creator = BotID
	}
	g.setEvent(e.clone())
	return e.ID
}

// Event is an event of a guild.
func (d *Discord) Event(in discord.GuildID, id discord.EventID) (Event, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.world.guilds[in]; g != nil && g.events[id] != nil {
		return *g.events[id].clone(), true
	}
	return Event{}, false
}

func (e Event) clone() *Event {
	e.Users = slices.Clone(e.Users)
	if e.Recurrence != nil {
		r := *e.Recurrence
		e.Recurrence = &r
	}
	return &e
}

func (g *guild) setEvent(e *Event) {
	if g.events == nil {
		g.events = map[discord.EventID]*Event{}
	}
	g.events[e.ID] = e
}

func (e *Event) over() bool { return e.Status == EventCompleted || e.Status == EventCancelled }

// onEvent resolves {guild_id} and {guild_scheduled_event_id}. An event in a
// channel is for those who see it.
func onEvent(handle func(*exchange, *guild, *Event) (answer, error)) handler {
	return inGuild(0, func(x *exchange, g *guild) (answer, error) {
		e := g.events[id[discord.EventID](x, "guild_scheduled_event_id")]
		switch {
		case e == nil:
			return refuse(errUnknownEvent)
		case !x.sees(e):
			return refuse(errMissingAccess)
		}
		return handle(x, g, e)
	})
}

func (x *exchange) sees(e *Event) bool {
	c := x.channels[e.Channel]
	return c == nil || x.allowed(c, discord.ViewChannel)
}

// listEvents gives those that are not over.
func listEvents(x *exchange, g *guild) (answer, error) {
	counts, err := x.flag("with_user_count")
	if err != nil {
		return refuse(err)
	}
	all := slices.DeleteFunc(sorted(g.events), func(e *Event) bool { return e.over() || !x.sees(e) })
	return ok(mapped(all, func(e *Event) eventView { return x.viewEvent(g, e, counts) }))
}

func getEvent(x *exchange, g *guild, e *Event) (answer, error) {
	counts, err := x.flag("with_user_count")
	if err != nil {
		return refuse(err)
	}
	return ok(x.viewEvent(g, e, counts))
}

func createEvent(x *exchange, g *guild) (answer, error) {
	var f eventForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if err := demand(field{"name", f.Name.has()}, field{"scheduled_start_time", f.Start.has()}, field{"privacy_level", f.Privacy.has()}, field{"entity_type", f.Type.has()}); err != nil {
		return refuse(err)
	}
	if f.Type.value != EventElsewhere && f.Metadata.value.Location.has() {
		return refuse(invalid("entity_metadata", "GUILD_SCHEDULED_EVENT_ENTITY_METADATA_UNSUPPORTED", "Entity metadata is not supported for this entity type."))
	}
	e := &Event{Status: EventScheduled, Creator: x.actor}
	if err := x.fillEvent(g, e, f, discord.CreateEvents); err != nil {
		return refuse(err)
	}
	open := 0
	for _, other := range g.events {
		if !other.over() {
			open++
		}
	}
	if open >= maxEvents {
		return refuse(errEventsFull)
	}
	e.ID = discord.EventID(x.issue())
	g.setEvent(e)
	x.audit(g.ID, auditEventCreate, string(e.ID), AuditOptions{}, changed("name", nil, &e.Name)...)
	return ok(x.viewEvent(g, e, false))
}

// editEvent changes an event, or starts, ends or cancels it. An event on a stage
// opens it when it starts and closes it when it ends.
func editEvent(x *exchange, g *guild, e *Event) (answer, error) {
	var f eventForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	need := x.eventManager(g, e)
	if err := x.needPlace(g, e, need); err != nil {
		return refuse(err)
	}
	if e.over() {
		return refuse(errEventOver)
	}
	if e.Status == EventActive && f.Start.has() {
		return refuse(invalid("scheduled_start_time", "GUILD_SCHEDULED_EVENT_SCHEDULE_INVALID_START_BY_STATUS", "Cannot update start time of an event that has started."))
	}
	edited := e.clone()
	if err := x.fillEvent(g, edited, f, need); err != nil {
		return refuse(err)
	}
	if f.Status.has() && f.Status.value != e.Status {
		if err := x.moveEvent(g, edited, f.Status.value); err != nil {
			return refuse(err)
		}
	}
	changes := append(changed("name", e.Name, edited.Name), changed("status", e.Status, edited.Status)...)
	changes = append(changes, changed("scheduled_start_time", stamp(e.Start), stamp(edited.Start))...)
	changes = append(changes, changed("entity_type", e.Type, edited.Type)...)
	*e = *edited
	x.audit(g.ID, auditEventUpdate, string(e.ID), AuditOptions{}, changes...)
	return ok(x.viewEvent(g, e, false))
}

// moveEvent takes an event to another status.
func (x *exchange) moveEvent(g *guild, e *Event, to int) error {
	switch {
	case e.Status == EventScheduled && to == EventActive:
		if e.Type == EventOnStage {
			if x.stages[e.Channel] != nil {
				return errStageForEvent
			}
			e.Stage = x.openStage(Stage{Channel: e.Channel, Topic: e.Name, Event: e.ID}).ID
		}
	case e.Status == EventScheduled && to == EventCancelled:
	case e.Status == EventActive && to == EventCompleted:
		if s := x.stages[e.Channel]; s != nil && s.ID == e.Stage {
			delete(x.stages, e.Channel)
		}
		e.Stage = ""
	default:
		return invalid("status", "GUILD_SCHEDULED_EVENT_STATUS_INVALID_TRANSITION", "Invalid status transition.")
	}
	e.Status = to
	return nil
}

func deleteEvent(x *exchange, g *guild, e *Event) (answer, error) {
	if err := x.needPlace(g, e, x.eventManager(g, e)); err != nil {
		return refuse(err)
	}
	if s := x.stages[e.Channel]; s != nil && s.Event == e.ID {
		s.Event = ""
	}
	delete(g.events, e.ID)
	x.audit(g.ID, auditEventDelete, string(e.ID), AuditOptions{}, changed("name", &e.Name, nil)...)
	return done()
}

// listEventUsers gives who is interested by id. With both cursors, before alone
// counts.
func listEventUsers(x *exchange, g *guild, e *Event) (answer, error) {
	members, err := x.flag("with_member")
	if err != nil {
		return refuse(err)
	}
	if x.query.Has("before") && x.query.Has("after") {
		x.query = maps.Clone(x.query) // the log keeps the one that was sent
		x.query.Del("after")
	}
	users := slices.SortedFunc(slices.Values(e.Users), discord.CompareIDs)
	users, err = page(x, users, func(u discord.UserID) string { return string(u) }, 100, 100)
	if err != nil {
		return refuse(err)
	}
	return ok(mapped(users, func(u discord.UserID) eventUserView {
		v := eventUserView{Event: e.ID, UserID: u, User: x.user(u), Response: 1}
		if m := g.members[u]; m != nil && members {
			member := x.member(m)
			v.Member = &member
		}
		return v
	}))
}
