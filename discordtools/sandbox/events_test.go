package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// lacking takes permissions from the bot in the demo guild.
func lacking(p discord.Permissions) func(*Discord) {
	return func(d *Discord) { d.world.guilds[DemoGuild].roles[DemoBotRole].Permissions &^= p }
}

// audited demands that the demo guild's audit log ends with an action.
func audited(action int) func(*testing.T, *Discord) {
	return func(t *testing.T, d *Discord) {
		t.Helper()
		if log := d.AuditLog(DemoGuild); len(log) == 0 || log[len(log)-1].Action != action {
			t.Errorf("the audit log ends with %v, want action %d", log, action)
		}
	}
}

const (
	allEvents = "/guilds/{guild}/scheduled-events"
	meetup    = allEvents + "/" + string(DemoMeetup)
	gameNight = allEvents + "/" + string(DemoGameNight)
	devTalk   = allEvents + "/" + string(DemoDevTalk)
)

func TestEvents(t *testing.T) {
	t.Parallel()
	const starts = `"scheduled_start_time":"2026-07-01T18:00:00Z"`
	stage := `{"name":"Talk","privacy_level":2,"entity_type":1,"channel_id":"{stage}",` + starts
	voice := `{"name":"Play","privacy_level":2,"entity_type":2,"channel_id":"{lounge}",` + starts
	place := `{"name":"Walk","privacy_level":2,"entity_type":3,"entity_metadata":{"location":"Pier"},"scheduled_end_time":"2026-07-01T20:00:00+00:00",` + starts
	status := func(s int) func(*Discord) {
		return func(d *Discord) { d.world.guilds[DemoGuild].events[DemoDevTalk].Status = s }
	}
	rows(t, []row{
		{name: "list what is not over", method: "GET", path: allEvents, status: 200, has: `"name":"Summer meetup"`},
		{name: "list with counts", method: "GET", path: allEvents + "?with_user_count=true", status: 200, has: `"user_count":3`},
		{name: "list in a guild without", method: "GET", path: "/guilds/{club}/scheduled-events", status: 200, has: `[]`},
		{name: "get", method: "GET", path: gameNight + "?with_user_count=true", status: 200, has: `"by_weekday":[4]`},
		{name: "get unknown", method: "GET", path: allEvents + "/{nowhere}", status: 404, code: 10070},
		{name: "get of another guild", method: "GET", path: "/guilds/{club}/scheduled-events/" + string(DemoMeetup), status: 404, code: 10070},
		{name: "get in a hidden channel", method: "GET", path: gameNight, status: 403, code: 50001, before: func(d *Discord) {
			d.SetOverwrite(DemoLounge, discord.Overwrite{ID: discord.OverwriteID(DemoBotRole), Deny: discord.ViewChannel})
		}},

		{name: "on a stage", method: "POST", path: allEvents, body: stage + `}`, status: 200, has: `"entity_type":1`, after: audited(auditEventCreate)},
		{name: "in a voice channel", method: "POST", path: allEvents, body: voice + `}`, status: 200, has: `"channel_id":"{lounge}"`},
		{name: "elsewhere", method: "POST", path: allEvents, body: place + `}`, status: 200, has: `"entity_metadata":{"location":"Pier"}`},
		{name: "with an image", method: "POST", path: allEvents, body: place + `,"image":"` + imageURI("image/png", 9) + `"}`, status: 200, has: `"image":"`},
		{name: "with a broken image", method: "POST", path: allEvents, body: place + `,"image":"data:image/png;base64,"}`, status: 400, code: 50035, has: "IMAGE_INVALID"},
		{name: "with nothing", method: "POST", path: allEvents, body: `{}`, status: 400, code: 50035, has: `"entity_type":{"_errors"`},
		{name: "in the past", method: "POST", path: allEvents, body: strings.Replace(place, "2026-07-01T18", "2025-07-01T18", 1) + `}`, status: 400, code: 50035, has: "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST"},
		{name: "without an offset", method: "POST", path: allEvents, body: strings.Replace(place, "18:00:00Z", "18:00:00", 1) + `}`, status: 400, code: 50035, has: "DATE_TIME_TYPE_PARSE"},
		{name: "elsewhere without a place", method: "POST", path: allEvents, body: strings.Replace(place, `{"location":"Pier"}`, `{}`, 1) + `}`, status: 400, code: 50035, has: `"location":{"_errors"`},
		{name: "elsewhere without an end", method: "POST", path: allEvents, body: strings.Replace(place, `"scheduled_end_time":"2026-07-01T20:00:00+00:00",`, ``, 1) + `}`, status: 400, code: 50035, has: `"scheduled_end_time"`},
		{name: "elsewhere in a channel", method: "POST", path: allEvents, body: place + `,"channel_id":"{lounge}"}`, status: 400, code: 50035, has: `"channel_id"`},
		{name: "ends before it starts", method: "POST", path: allEvents, body: strings.Replace(place, "T20:00", "T17:00", 1) + `}`, status: 400, code: 50035, has: `"scheduled_end_time"`},
		{name: "in no channel", method: "POST", path: allEvents, body: strings.Replace(voice, `"channel_id":"{lounge}",`, ``, 1) + `}`, status: 400, code: 50035, has: `"channel_id"`},
		{name: "in a voice channel with a place", method: "POST", path: allEvents, body: voice + `,"entity_metadata":{"location":"Pier"}}`, status: 400, code: 50035, has: "ENTITY_METADATA_UNSUPPORTED"},
		{name: "on a voice channel as a stage", method: "POST", path: allEvents, body: strings.Replace(stage, "{stage}", "{lounge}", 1) + `}`, status: 400, code: 50024},
		{name: "in an unknown channel", method: "POST", path: allEvents, body: strings.Replace(voice, "{lounge}", "{nowhere}", 1) + `}`, status: 404, code: 10003},
		{name: "in another guild's channel", method: "POST", path: allEvents, body: strings.Replace(voice, "{lounge}", "{clubgeneral}", 1) + `}`, status: 404, code: 10003},
		{name: "on a stage without MUTE_MEMBERS", method: "POST", path: allEvents, body: stage + `}`, status: 403, code: 50013, before: lacking(discord.MuteMembers)},
		{name: "elsewhere without CREATE_EVENTS", method: "POST", path: allEvents, body: place + `}`, status: 403, code: 50013, before: lacking(discord.CreateEvents)},
		{name: "one too many", method: "POST", path: allEvents, body: place + `}`, status: 400, code: 30038, before: func(d *Discord) {
			for range maxEvents - 3 {
				d.AddEvent(DemoGuild, Event{Name: "Walk", Location: "Pier", Start: noon})
			}
		}},

		{name: "rename", method: "PATCH", path: meetup, body: `{"name":"Autumn meetup"}`, status: 200, has: `"name":"Autumn meetup"`, after: audited(auditEventUpdate)},
		{name: "clear the description", method: "PATCH", path: gameNight, body: `{"description":null}`, status: 200, has: `"description":null`},
		{name: "stop repeating", method: "PATCH", path: gameNight, body: `{"recurrence_rule":null}`, status: 200, has: `"recurrence_rule":null`},
		{name: "move elsewhere", method: "PATCH", path: gameNight, body: `{"entity_type":3,"channel_id":null,"entity_metadata":{"location":"Pier"},"scheduled_end_time":"2027-01-01T00:00:00Z"}`, status: 200, has: `"channel_id":null`},
		{name: "move elsewhere and keep the channel", method: "PATCH", path: gameNight, body: `{"entity_type":3,"entity_metadata":{"location":"Pier"},"scheduled_end_time":"2027-01-01T00:00:00Z"}`, status: 400, code: 50035, has: `"channel_id"`},
		{name: "take the end from one elsewhere", method: "PATCH", path: meetup, body: `{"scheduled_end_time":null}`, status: 400, code: 50035},
		{name: "a place for one in a channel is discarded", method: "PATCH", path: gameNight, body: `{"entity_metadata":{"location":"Pier"}}`, status: 200, has: `"entity_metadata":null`},
		{name: "into the past", method: "PATCH", path: meetup, body: `{"scheduled_start_time":"2026-05-01T00:00:00Z"}`, status: 400, code: 50035, has: "SCHEDULE_PAST"},
		{name: "another's without MANAGE_EVENTS", method: "PATCH", path: gameNight, body: `{"name":"x"}`, status: 403, code: 50013, before: lacking(discord.ManageEvents)},
		{name: "the bot's own without MANAGE_EVENTS", method: "PATCH", path: meetup, body: `{"name":"x"}`, status: 200, before: lacking(discord.ManageEvents)},

		{name: "start", method: "PATCH", path: meetup, body: `{"status":2}`, status: 200, has: `"status":2`},
		{name: "cancel", method: "PATCH", path: meetup, body: `{"status":4}`, status: 200, has: `"status":4`},
		{name: "complete before it starts", method: "PATCH", path: meetup, body: `{"status":3}`, status: 400, code: 50035, has: `"status"`},
		{name: "schedule an active one", method: "PATCH", path: devTalk, body: `{"status":1}`, status: 400, code: 50035, before: status(EventActive)},
		{name: "cancel an active one", method: "PATCH", path: devTalk, body: `{"status":4}`, status: 400, code: 50035, before: status(EventActive)},
		{name: "complete an active one", method: "PATCH", path: devTalk, body: `{"status":3}`, status: 200, has: `"status":3`, before: status(EventActive)},
		{name: "move the start of an active one", method: "PATCH", path: devTalk, body: `{"scheduled_start_time":"2027-01-01T00:00:00Z"}`, status: 400, code: 50035, has: "INVALID_START_BY_STATUS", before: status(EventActive)},
		{name: "change a completed one", method: "PATCH", path: devTalk, body: `{"name":"x"}`, status: 400, code: 180000, before: status(EventCompleted)},
		{name: "change a cancelled one", method: "PATCH", path: devTalk, body: `{"name":"x"}`, status: 400, code: 180000, before: status(EventCancelled)},
		{name: "start on a stage that is live", method: "PATCH", path: devTalk, body: `{"status":2}`, status: 400, code: 180002, before: func(d *Discord) { d.AddStage(Stage{Channel: DemoStage, Topic: "x"}) }},

		{name: "delete", method: "DELETE", path: meetup, status: 204, after: audited(auditEventDelete)},
		{name: "delete without the permissions", method: "DELETE", path: devTalk, status: 403, code: 50013, before: lacking(discord.MoveMembers)},
		{name: "the audit log shows it", method: "GET", path: "/guilds/{guild}/audit-logs", status: 200, has: `"guild_scheduled_events":[{"id":"` + string(DemoMeetup), before: func(d *Discord) {
			d.AddAuditEntry(DemoGuild, AuditEntry{Action: auditEventUpdate, User: DemoOwner, Target: string(DemoMeetup)})
		}},
		{name: "an invite shows it", method: "GET", path: "/invites/abc?guild_scheduled_event_id=" + string(DemoMeetup), status: 200, has: `"guild_scheduled_event":{"id":"` + string(DemoMeetup), before: func(d *Discord) {
			d.AddInvite(Invite{Code: "abc", Channel: DemoGeneral})
		}},
	})
}

func TestRecurrence(t *testing.T) {
	t.Parallel()
	var all []row
	for rule, fits := range map[string]bool{
		`"frequency":3`: true, `"frequency":3,"by_weekday":[0,1,2,3,4]`: true, `"frequency":3,"by_weekday":[6,0,1,2,3]`: true,
		`"frequency":3,"by_weekday":[5,6]`: true, `"frequency":3,"by_weekday":[0,2]`: false, `"frequency":3,"interval":2`: false,
		`"frequency":2,"by_weekday":[2],"interval":2`: true, `"frequency":2,"by_weekday":[2],"interval":3`: false, `"frequency":2,"by_weekday":[2,3]`: false,
		`"frequency":1,"by_n_weekday":[{"n":4,"day":2}]`: true, `"frequency":1,"by_n_weekday":[{"n":6,"day":2}]`: false,
		`"frequency":1,"by_n_weekday":[{"n":4,"day":2},{"n":1,"day":2}]`: false, `"frequency":2,"by_n_weekday":[{"n":4,"day":2}]`: false,
		`"frequency":0,"by_month":[7],"by_month_day":[24]`: true, `"frequency":0,"by_month":[7]`: false, `"frequency":1,"by_month":[7],"by_month_day":[24]`: false,
		`"frequency":3,"count":4`: false, `"frequency":3,"end":"2027-07-01T00:00:00Z"`: false, `"frequency":3,"count":null,"end":null`: true,
		`"frequency":2,"by_weekday":[2],"by_month":[7],"by_month_day":[24]`: false, `"frequency":4`: false,
	} {
		r := row{name: rule, method: "PATCH", path: meetup, body: `{"recurrence_rule":{"start":"2026-07-01T14:00:00Z",` + rule + `}}`, status: 400, code: 50035, has: `"recurrence_rule"`}
		if fits {
			r.status, r.code = 200, 0
		}
		all = append(all, r)
	}
	rows(t, all)
}

func TestEventUsers(t *testing.T) {
	t.Parallel()
	users := gameNight + "/users"
	rows(t, []row{
		{name: "by id", method: "GET", path: users, status: 200, has: `[{"guild_scheduled_event_id":"` + string(DemoGameNight) + `","user_id":"{owner}"`},
		{name: "first", method: "GET", path: users + "?limit=1", status: 200, has: `"user_id":"{owner}"`},
		{name: "after", method: "GET", path: users + "?after={owner}&limit=1", status: 200, has: `"user_id":"{mod}"`},
		{name: "before", method: "GET", path: users + "?before={member}&limit=1", status: 200, has: `"user_id":"{mod}"`},
		{name: "before wins over after", method: "GET", path: users + "?before={mod}&after={mod}", status: 200, has: `"user_id":"{owner}"`},
		{name: "with members", method: "GET", path: users + "?with_member=true&after={mod}", status: 200, has: `"nick":"Tomo"`},
		{name: "too many", method: "GET", path: users + "?limit=101", status: 400, code: 50035},
	})
}

// TestStageEvent: an event on a stage opens the stage when it starts and closes
// it when it ends, and the other way round.
func TestStageEvent(t *testing.T) {
	t.Parallel()
	d := demo(t)
	path := demoNames.Replace(devTalk)
	get[any](t, d, "PATCH", path, `{"status":2}`)
	s, live := d.Stage(DemoStage)
	if e, _ := d.Event(DemoGuild, DemoDevTalk); !live || s.Topic != e.Name || e.Stage != s.ID || s.Event != e.ID {
		t.Fatalf("stage %+v, event %+v", s, e)
	}
	get[any](t, d, "PATCH", path, `{"status":3}`)
	if _, live := d.Stage(DemoStage); live {
		t.Error("the stage outlives its event")
	}
	next := d.AddEvent(DemoGuild, Event{Name: "Again", Channel: DemoStage, Start: noon.Add(time.Hour)})
	get[any](t, d, "POST", "/stage-instances", `{"channel_id":"`+string(DemoStage)+`","topic":"Again","guild_scheduled_event_id":"`+string(next)+`"}`)
	if e, _ := d.Event(DemoGuild, next); e.Status != EventActive || e.Stage == "" {
		t.Errorf("opening its stage leaves the event at %+v", e)
	}
	get[any](t, d, "DELETE", "/stage-instances/"+string(DemoStage), "")
	if e, _ := d.Event(DemoGuild, next); e.Status != EventCompleted {
		t.Errorf("closing its stage leaves the event at %+v", e)
	}
}

func TestStages(t *testing.T) {
	t.Parallel()
	const one = "/stage-instances/{stage}"
	live := func(d *Discord) { d.AddStage(Stage{Channel: DemoStage, Topic: "Fog"}) }
	create := func(more string) string { return `{"channel_id":"{stage}","topic":"Fog"` + more + `}` }
	rows(t, []row{
		{name: "open", method: "POST", path: "/stage-instances", body: create(""), status: 200, has: `"privacy_level":2`, after: audited(auditStageCreate)},
		{name: "open and notify", method: "POST", path: "/stage-instances", body: create(`,"send_start_notification":true`), status: 200, after: func(t *testing.T, d *Discord) {
			if s, _ := d.Stage(DemoStage); !s.Notified {
				t.Error("nobody was notified")
			}
		}},
		{name: "notify without MENTION_EVERYONE", method: "POST", path: "/stage-instances", body: create(`,"send_start_notification":true`), status: 403, code: 50013, before: lacking(discord.MentionEveryone)},
		{name: "open without MOVE_MEMBERS", method: "POST", path: "/stage-instances", body: create(""), status: 403, code: 50013, before: lacking(discord.MoveMembers)},
		{name: "open an open one", method: "POST", path: "/stage-instances", body: create(""), status: 400, code: 150006, before: live},
		{name: "open a voice channel", method: "POST", path: "/stage-instances", body: `{"channel_id":"{lounge}","topic":"Fog"}`, status: 400, code: 50024},
		{name: "without a topic", method: "POST", path: "/stage-instances", body: `{"channel_id":"{stage}"}`, status: 400, code: 50035},
		{name: "for an unknown event", method: "POST", path: "/stage-instances", body: create(`,"guild_scheduled_event_id":"{nowhere}"`), status: 404, code: 10070},
		{name: "for an event elsewhere", method: "POST", path: "/stage-instances", body: create(`,"guild_scheduled_event_id":"` + string(DemoMeetup) + `"`), status: 400, code: 50091},
		{name: "for one that is over", method: "POST", path: "/stage-instances", body: create(`,"guild_scheduled_event_id":"` + string(DemoDevTalk) + `"`), status: 400, code: 180000, before: func(d *Discord) {
			d.world.guilds[DemoGuild].events[DemoDevTalk].Status = EventCancelled
		}},
		{name: "get", method: "GET", path: one, status: 200, has: `"topic":"Fog"`, before: live},
		{name: "get one that is not live", method: "GET", path: one, status: 404, code: 10067},
		{name: "change", method: "PATCH", path: one, body: `{"topic":"Clouds"}`, status: 200, has: `"topic":"Clouds"`, before: live, after: audited(auditStageUpdate)},
		{name: "change without MANAGE_CHANNELS", method: "PATCH", path: one, body: `{"topic":"Clouds"}`, status: 403, code: 50013, before: func(d *Discord) {
			live(d)
			lacking(discord.ManageChannels)(d)
		}},
		{name: "close", method: "DELETE", path: one, status: 204, before: live, after: audited(auditStageDelete)},
		{name: "close one that is not live", method: "DELETE", path: one, status: 404, code: 10067},
	})
}
