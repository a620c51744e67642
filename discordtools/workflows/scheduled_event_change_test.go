package workflows_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const someEvent discord.EventID = "1200000000000000821"

// The beginnings of pictures, by which they are known.
const pngHead, gifHead = "\x89PNG\r\n\x1a\n", "GIF89a"

// dataURI is data of a kind, of so many bytes.
func dataURI(kind, head string, n int) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(head+strings.Repeat("x", n-len(head))))
}

func addEvent(status int, by discord.UserID) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddEvent(sandbox.DemoGuild, sandbox.Event{
			ID: someEvent, Name: "canary-event", Channel: sandbox.DemoLounge, Start: time.Date(2031, 5, 1, 18, 0, 0, 0, time.UTC), Status: status, Creator: by,
		})
	}
}

func planning() scene {
	const outside = `"name":"canary-meet","description":"canary-words","place":"external","location":"canary-pier",`
	cover := dataURI("image/png", pngHead, 16)
	create := func(name, more, reason string) operationtest.Refusal {
		r := operationtest.Refusal{Name: name, Args: ofGuild(`"action":"create",` + more), Code: mcpcore.CodePlanRefused, Reason: reason}
		if reason == "" {
			r.Code = mcpcore.CodeValidation
		}
		return r
	}
	of := func(name, action, more string, code mcpcore.Code, reason string, before func(*sandbox.Discord)) operationtest.Refusal {
		r := operationtest.Refusal{Name: name, Args: ofGuild(`"action":"` + action + `","eventId":"` + string(someEvent) + `"` + more), Code: code, Reason: reason}
		if before != nil {
			r.Before = world(before)
		}
		return r
	}
	both := func(f ...func(*sandbox.Discord)) func(*sandbox.Discord) {
		return func(d *sandbox.Discord) {
			for _, f := range f {
				f(d)
			}
		}
	}
	may := func(p discord.Permissions) func(*sandbox.Discord) {
		return func(d *sandbox.Discord) { d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, p) }
	}
	const start, voice = `"startTime":"2031-05-01T18:00:00Z"`, `"name":"x","place":"voice","channelId":"1200000000000000316",`
	return scene{
		Subject: operationtest.Subject{
			Workflow: "scheduled-event-change", Plan: "plan_scheduled_event_change", Execute: "execute_scheduled_event_change",
			Args: ofGuild(`"action":"create",` + outside + `"startTime":"2031-05-01T20:00:00+02:00","endTime":"2031-05-01T20:00:00Z","recurrence":{"frequency":"weekly","byWeekday":[3]},` +
				`"coverImage":"` + cover + `","auditReason":"canary-reason"`),
			Sends: []string{`POST /guilds/1200000000000000001/scheduled-events {"name":"canary-meet","description":"canary-words","privacy_level":2,` +
				`"scheduled_start_time":"2031-05-01T18:00:00Z","scheduled_end_time":"2031-05-01T20:00:00Z","entity_type":3,"channel_id":null,"entity_metadata":{"location":"canary-pier"},` +
				`"recurrence_rule":{"start":"2031-05-01T18:00:00Z","frequency":2,"interval":1,"by_weekday":[3]},"image":"` + cover + `"}`},
			Permit: guildPermit, Secrets: []string{"canary", "Lighthouse", cover},
			Refusals: []operationtest.Refusal{
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: allow(discord.ManageEvents)},
				{Name: "a voice channel that cannot be joined", Args: ofGuild(`"action":"create",` + voice + start), Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetOverwrite(sandbox.DemoLounge, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: discord.Connect})
				})},
				{Name: "a stage that the bot does not moderate", Args: ofGuild(`"action":"create","name":"x","place":"stage","channelId":"1200000000000000317",` + start), Code: mcpcore.CodePermission,
					Before: allow(discord.CreateEvents)},
				{Name: "a full guild", Code: mcpcore.CodePlanRefused, Reason: "full", Before: world(func(d *sandbox.Discord) {
					for range 100 {
						d.AddEvent(sandbox.DemoGuild, sandbox.Event{Name: "x", Location: "y", Start: time.Date(2031, 5, 1, 18, 0, 0, 0, time.UTC)})
					}
				})},
				create("an id for a new event", voice+start+`,"eventId":"1200000000000000821"`, ""),
				create("no start", `"name":"x","place":"voice","channelId":"1200000000000000316"`, ""),
				create("a status for a new event", voice+start+`,"status":"active"`, ""),
				create("a start in the past", voice+`"startTime":"2020-05-01T18:00:00Z"`, "time"),
				create("an end before the start", voice+start+`,"endTime":"2031-05-01T18:00:00Z"`, "time"),
				create("voice without a channel", `"name":"x","place":"voice",`+start, "place"),
				create("voice with a location", voice+`"location":"x",`+start, "place"),
				create("outside without an end", `"name":"x","place":"external","location":"y",`+start, "place"),
				create("outside in a channel", outside+`"endTime":"2031-05-01T19:00:00Z","channelId":"1200000000000000316",`+start, "place"),
				create("a text channel", `"name":"x","place":"voice","channelId":"1200000000000000313",`+start, "channel"),
				create("another guild's channel", `"name":"x","place":"voice","channelId":"1200000000000000341",`+start, "channel"),
				create("a recurrence that Discord does not take", voice+start+`,"recurrence":{"frequency":"daily","byWeekday":[0,2]}`, "recurrence"),
				create("a cover of another kind", voice+start+`,"coverImage":"`+dataURI("image/gif", gifHead, 16)+`"`, "picture"),
				create("a cover that is none", voice+start+`,"coverImage":"`+dataURI("image/png", gifHead, 16)+`"`, "picture"),
				create("a cover by its path", voice+start+`,"coverImage":"/etc/hostname"`, "picture"),
				create("a name of spaces", `"name":" ","place":"voice","channelId":"1200000000000000316",`+start, "name"),
				of("an event that is not there", "delete", "", mcpcore.CodeNotFound, "", nil),
				of("another's event without MANAGE_EVENTS", "delete", "", mcpcore.CodePermission, "", both(addEvent(1, sandbox.DemoOwner), may(discord.CreateEvents|discord.Connect))),
				of("an own event with neither", "delete", "", mcpcore.CodePermission, "", both(addEvent(1, ""), may(discord.Connect))),
				of("a completed event changed", "update", `,"name":"y"`, mcpcore.CodePlanRefused, "over", addEvent(3, "")),
				of("a canceled event deleted", "delete", "", mcpcore.CodePlanRefused, "over", addEvent(4, "")),
				of("an event that ends before it began", "transition", `,"status":"completed"`, mcpcore.CodePlanRefused, "transition", addEvent(1, "")),
				of("an event that began and is called off", "transition", `,"status":"canceled"`, mcpcore.CodePlanRefused, "transition", addEvent(2, "")),
				of("another start of one that began", "update", `,"startTime":"2031-06-01T18:00:00Z"`, mcpcore.CodePlanRefused, "time", addEvent(2, "")),
				of("nothing to change", "update", "", mcpcore.CodeValidation, "", addEvent(1, "")),
				of("a change by the way", "transition", `,"status":"active","name":"y"`, mcpcore.CodeValidation, "", addEvent(1, "")),
			},
		},
		Route: "POST /guilds/{guild_id}/scheduled-events", ReadBack: "GET /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}",
		Change: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) },
	}
}

// moving on is another action on an event that is there.
func onEvent(action, more, sends string) scene {
	s := planning()
	s.Args = ofGuild(`"action":"` + action + `","eventId":"` + string(someEvent) + `"` + more)
	s.Sends, s.Refusals, s.Resource, s.Skip = []string{sends}, nil, string(someEvent), 4
	s.Route = strings.Split(sends, " ")[0] + " /guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}"
	s.Before = addEvent(sandbox.EventScheduled, "")
	s.Change = func(d *sandbox.Discord) {
		d.ChangeEvent(sandbox.DemoGuild, someEvent, func(e *sandbox.Event) { e.Description = "another" })
	}
	return s
}

func TestScheduledEventCreated(t *testing.T) {
	t.Parallel()
	planning().run(t)
}

func TestScheduledEventUpdated(t *testing.T) {
	t.Parallel()
	s := onEvent("update", `,"name":"canary-new","place":"external","location":"canary-pier","endTime":"2031-05-01T20:00:00Z"`,
		`PATCH /guilds/1200000000000000001/scheduled-events/1200000000000000821 {"name":"canary-new","scheduled_end_time":"2031-05-01T20:00:00Z","entity_type":3,"channel_id":null,"entity_metadata":{"location":"canary-pier"}}`)
	s.Settle = func(d *sandbox.Discord) {
		d.ChangeEvent(sandbox.DemoGuild, someEvent, func(e *sandbox.Event) {
			e.Name, e.Type, e.Channel, e.Location, e.End = "canary-new", sandbox.EventElsewhere, "", "canary-pier", time.Date(2031, 5, 1, 20, 0, 0, 0, time.UTC)
		})
	}
	s.run(t)
}

func TestScheduledEventMovedOn(t *testing.T) {
	t.Parallel()
	s := onEvent("transition", `,"status":"canceled"`, `PATCH /guilds/1200000000000000001/scheduled-events/1200000000000000821 {"status":4}`)
	s.Settle = func(d *sandbox.Discord) {
		d.ChangeEvent(sandbox.DemoGuild, someEvent, func(e *sandbox.Event) { e.Status = sandbox.EventCancelled })
	}
	s.run(t)
}

func TestScheduledEventDeleted(t *testing.T) {
	t.Parallel()
	onEvent("delete", "", `DELETE /guilds/1200000000000000001/scheduled-events/1200000000000000821`).run(t)
}

// An event begins and ends, own events take either permission, and what Discord
// makes otherwise of one is told.
func TestScheduledEventsFurther(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		status      int
		more        string
		permissions discord.Permissions
		want        int
	}{
		"begins":                   {sandbox.EventScheduled, `,"status":"active"`, sandbox.DemoPermissions, sandbox.EventActive},
		"ends":                     {sandbox.EventActive, `,"status":"completed"`, sandbox.DemoPermissions, sandbox.EventCompleted},
		"own, CREATE_EVENTS alone": {sandbox.EventScheduled, `,"status":"active"`, discord.CreateEvents | discord.Connect, sandbox.EventActive},
		"own, MANAGE_EVENTS alone": {sandbox.EventScheduled, `,"status":"active"`, discord.ManageEvents | discord.Connect, sandbox.EventActive},
	} {
		var d *sandbox.Discord
		s := onEvent("transition", row.more, "PATCH /")
		s.Before = func(made *sandbox.Discord) {
			d = made
			addEvent(row.status, "")(d)
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, row.permissions)
		}
		e, _ := s.once(t)
		if now, _ := d.Event(sandbox.DemoGuild, someEvent); e.Status != "completed" || now.Status != row.want {
			t.Errorf("%s: it answers %+v and is %d", name, e, now.Status)
		}
	}
	var d *sandbox.Discord
	s := onEvent("update", `,"coverImage":"`+dataURI("image/png", pngHead, 16)+`"`, "PATCH /")
	s.Before = func(made *sandbox.Discord) { d = made; addEvent(sandbox.EventScheduled, "")(d) }
	s.REST = later(&d, "/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}", 5, func(d *sandbox.Discord) {
		d.ChangeEvent(sandbox.DemoGuild, someEvent, func(e *sandbox.Event) { e.Image, e.Name = "", "otherwise" })
	})
	if e, _ := s.once(t); e.Status != "completed-with-drift" || fmt.Sprint(e.Drift) != "[name cover]" {
		t.Errorf("it answers %+v", e)
	}
}
