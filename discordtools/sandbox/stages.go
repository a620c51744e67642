package sandbox

import (
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// stageRoutes open, change and close stages. A stage does not close by itself
// when nobody speaks.
//
// Source: https://docs.discord.com/developers/resources/stage-instance.
var stageRoutes = []route{
	{method: "POST", path: "/stage-instances", handle: createStage},
	{method: "GET", path: "/stage-instances/{channel_id}", handle: onLiveStage(0, getStage)},
	{method: "PATCH", path: "/stage-instances/{channel_id}", handle: onLiveStage(stageModerator, editStage)},
	{method: "DELETE", path: "/stage-instances/{channel_id}", handle: onLiveStage(stageModerator, deleteStage)},
}

const (
	auditStageCreate = 83
	auditStageUpdate = 84
	auditStageDelete = 85
)

// stageModerator is who may open, change and close a stage.
const stageModerator = discord.ManageChannels | discord.MuteMembers | discord.MoveMembers

var (
	errUnknownStage  = notFound(10067, "Unknown Stage Instance")
	errStageOpen     = badRequest(150006, "The Stage is already open")
	errStageForEvent = badRequest(180002, "Failed to create stage needed for stage event")
	errEventEntity   = badRequest(50091, "The entity type of the event is different from the entity you are trying to start the event for")
)

// Stage is a stage channel's live stage.
type Stage struct {
	ID       string
	Channel  discord.ChannelID
	Topic    string
	Privacy  int             // 0 means 2, members only
	Event    discord.EventID // "" is none
	Notified bool            // opening it pinged @everyone
}

// AddStage makes a stage channel live.
func (d *Discord) AddStage(s Stage) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	known(d.world.channels, s.Channel)
	unused(d.world.stages, s.Channel)
	return d.world.openStage(s).ID
}

// Stage is a stage channel's live stage, and whether there is one.
func (d *Discord) Stage(in discord.ChannelID) (Stage, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return copied(d.world.stages[in])
}

func (w *world) openStage(s Stage) *Stage {
	if s.ID == "" {
		s.ID = w.issue()
	}
	s.Privacy = orDefault(s.Privacy, 2)
	if w.stages == nil {
		w.stages = map[discord.ChannelID]*Stage{}
	}
	w.stages[s.Channel] = &s
	return &s
}

// onLiveStage resolves {channel_id} to its live stage.
func onLiveStage(need discord.Permissions, handle func(*exchange, *channel, *Stage) (answer, error)) handler {
	return inChannel(need, func(x *exchange, c *channel) (answer, error) {
		s := x.stages[c.ID]
		if s == nil {
			return refuse(errUnknownStage)
		}
		return handle(x, c, s)
	})
}

func createStage(x *exchange) (answer, error) {
	var f struct {
		Channel discord.ChannelID    `json:"channel_id"`
		Topic   string               `json:"topic" minLength:"1" maxLength:"120"`
		Privacy opt[int]             `json:"privacy_level" enum:"1,2"`
		Event   opt[discord.EventID] `json:"guild_scheduled_event_id"`
		Notify  opt[bool]            `json:"send_start_notification"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	c, err := x.channel(f.Channel)
	switch {
	case err != nil:
		return refuse(err)
	case c.Type != discord.GuildStageVoice:
		return refuse(errChannelType)
	}
	need := stageModerator
	if f.Notify.value {
		need |= discord.MentionEveryone
	}
	if err := x.need(c, need); err != nil {
		return refuse(err)
	}
	if x.stages[c.ID] != nil {
		return refuse(errStageOpen)
	}
	var event *Event
	if f.Event.has() {
		event = x.guilds[c.Guild].events[f.Event.value]
		switch {
		case event == nil:
			return refuse(errUnknownEvent)
		case event.Type != EventOnStage || event.Channel != c.ID:
			return refuse(errEventEntity)
		case event.over():
			return refuse(errEventOver)
		}
	}
	s := x.openStage(Stage{Channel: c.ID, Topic: f.Topic, Privacy: f.Privacy.value, Event: f.Event.value, Notified: f.Notify.value})
	if event != nil {
		event.Status, event.Stage = EventActive, s.ID
	}
	x.audit(c.Guild, auditStageCreate, s.ID, AuditOptions{Channel: c.ID}, changed("topic", nil, &s.Topic)...)
	return ok(viewStage(c, s))
}

func getStage(_ *exchange, c *channel, s *Stage) (answer, error) { return ok(viewStage(c, s)) }

func editStage(x *exchange, c *channel, s *Stage) (answer, error) {
	var f struct {
		Topic   opt[string] `json:"topic" minLength:"1" maxLength:"120" null:"no"`
		Privacy opt[int]    `json:"privacy_level" enum:"1,2" null:"no"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	old := *s
	f.Topic.into(&s.Topic)
	f.Privacy.into(&s.Privacy)
	changes := append(changed("topic", old.Topic, s.Topic), changed("privacy_level", old.Privacy, s.Privacy)...)
	x.audit(c.Guild, auditStageUpdate, s.ID, AuditOptions{Channel: c.ID}, changes...)
	return ok(viewStage(c, s))
}

// deleteStage closes a stage; the event that runs on it is completed.
func deleteStage(x *exchange, c *channel, s *Stage) (answer, error) {
	delete(x.stages, c.ID)
	if e := x.guilds[c.Guild].events[s.Event]; e != nil {
		e.Status, e.Stage = EventCompleted, ""
	}
	x.audit(c.Guild, auditStageDelete, s.ID, AuditOptions{Channel: c.ID}, changed("topic", &s.Topic, nil)...)
	return done()
}

type stageView struct {
	ID      string            `json:"id"`
	Guild   discord.GuildID   `json:"guild_id"`
	Channel discord.ChannelID `json:"channel_id"`
	Topic   string            `json:"topic"`
	Privacy int               `json:"privacy_level"`
	Hidden  bool              `json:"discoverable_disabled"`
	Event   *discord.EventID  `json:"guild_scheduled_event_id"`
}

func viewStage(c *channel, s *Stage) stageView {
	return stageView{ID: s.ID, Guild: c.Guild, Channel: c.ID, Topic: s.Topic, Privacy: s.Privacy, Event: textOrNull(s.Event)}
}
