package discordtools_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

const (
	meetup, gameNight, devTalk = string(sandbox.DemoMeetup), string(sandbox.DemoGameNight), string(sandbox.DemoDevTalk)
	eventsPath                 = "/guilds/" + guild + "/scheduled-events"
	stage                      = string(sandbox.DemoStage)
)

// anEvent are arguments that name an event of the demo guild, and more.
func anEvent(event, more string) string {
	return `{"guild_id":` + id(guild) + `,"event_id":` + id(event) + more + `}`
}

func TestEvents(t *testing.T) {
	t.Parallel()
	g := `{"guild_id":` + id(guild)
	const starts, ends = `"scheduled_start_time":"2026-05-01T18:00:00+02:00"`, `"scheduled_end_time":"2026-05-01T22:00:00+02:00"`
	const place = `"entity_metadata":{"location":"Pier"}`
	started := func(d *sandbox.Discord) {
		d.AddEvent(sandbox.DemoGuild, sandbox.Event{ID: "1200000000000000799", Name: "Now", Location: "Pier", Start: now, End: now.Add(time.Hour), Status: sandbox.EventActive})
	}
	ended := func(d *sandbox.Discord) {
		d.AddEvent(sandbox.DemoGuild, sandbox.Event{ID: "1200000000000000799", Name: "Then", Location: "Pier", Start: now, End: now, Status: sandbox.EventCompleted})
	}
	run(t, []row{
		{
			shows: "elsewhere", tool: "events_create", args: g + `,"name":"Walk","entity_type":3,` + starts + `,` + ends + `,` + place + `,"audit_reason":"spring"}`,
			sent: []string{"POST " + eventsPath + ` {"name":"Walk","entity_type":3,` + starts + `,` + ends + `,` + place + `,"privacy_level":2}`},
			want: `{"id":"*","guild_id":` + id(guild) + `,"name":"Walk","scheduled_start_time":"2026-05-01T16:00:00.000000+00:00","status":1,"entity_type":3,"channel_id":null,"location":"Pier","creator_id":` + id(sandbox.BotID) + `}`,
			says: "<untrusted_discord_channel_topic",
		},
		{
			shows: "on a stage", tool: "events_create", args: g + `,"name":"Talk","entity_type":1,"channel_id":` + id(stage) + `,` + starts + `,"privacy_level":2,"description":"Fog"}`,
			sent: []string{"POST " + eventsPath + ` {"name":"Talk","entity_type":1,"channel_id":` + id(stage) + `,` + starts + `,"privacy_level":2,"description":"Fog"}`},
			want: `{"entity_type":1,"channel_id":` + id(stage) + `,"scheduled_end_time":null,"description":"Fog"}`,
		},
		{
			shows: "in a voice channel, every other Friday, with a cover", tool: "events_create",
			args: g + `,"name":"Play","entity_type":2,"channel_id":` + id(lounge) + `,` + starts + `,"image":` + id(uri("image/png", 3)) + `,"recurrence_rule":{"start":"2026-05-01T18:00:00+02:00","frequency":2,"interval":2,"by_weekday":[4]}}`,
			sent: []string{"POST " + eventsPath + ` {"name":"Play","entity_type":2,"channel_id":` + id(lounge) + `,` + starts + `,"image":` + id(uri("image/png", 3)) + `,"recurrence_rule":{"start":"2026-05-01T18:00:00+02:00","frequency":2,"interval":2,"by_weekday":[4]},"privacy_level":2}`},
			want: `{"recurrence_rule":{"start":"2026-05-01T16:00:00.000000+00:00","frequency":2,"interval":2,"by_weekday":[4]},"image":"*"}`,
		},
		{
			shows: "Discord refuses the channel", tool: "events_create", args: g + `,"name":"Play","entity_type":2,"channel_id":` + id(general) + `,` + starts + `}`,
			sent: []string{"POST " + eventsPath + ` {"name":"Play","entity_type":2,"channel_id":` + id(general) + `,` + starts + `,"privacy_level":2}`}, code: mcpcore.CodeValidation, says: "kind of channel",
		},
		{
			shows: "the bot may not", tool: "events_create", args: `{"guild_id":` + id(sandbox.DemoClub) + `,"name":"Walk","entity_type":3,` + starts + `,` + ends + `,` + place + `}`,
			sent: []string{"POST /guilds/" + string(sandbox.DemoClub) + `/scheduled-events {"name":"Walk","entity_type":3,` + starts + `,` + ends + `,` + place + `,"privacy_level":2}`}, code: mcpcore.CodePermission,
		},
		{
			shows: "one with the number of interested", tool: "events_get", args: anEvent(gameNight, `,"with_user_count":true`), sent: []string{"GET " + eventsPath + "/" + gameNight + "?with_user_count=true"},
			want: `{"name":"Game night","user_count":3,"channel_id":` + id(lounge) + `,"recurrence_rule":{"frequency":2,"interval":1,"by_weekday":[4]},"untrusted_text":"*"}`,
		},
		{
			shows: "an unknown one", tool: "events_get", args: anEvent("1200000000000000798", ""), sent: []string{"GET " + eventsPath + "/1200000000000000798"}, code: mcpcore.CodeNotFound, says: "List the guild's events",
		},
		{
			shows: "all that are not over", tool: "events_list", setup: ended, args: g + `}`, sent: []string{"GET " + eventsPath},
			want: `{"count":3,"events":[{"id":` + id(gameNight) + `},{"id":` + id(devTalk) + `},{"id":` + id(meetup) + `,"location":"*"}]}`, says: "<untrusted_discord_username",
		},
		{
			shows: "from the second on, with counts", tool: "events_list", args: g + `,"with_user_count":true,"offset":2}`, sent: []string{"GET " + eventsPath + "?with_user_count=true"},
			want: `{"count":1,"events":[{"id":` + id(meetup) + `,"user_count":0}]}`,
		},
		{
			shows: "a guild without the bot", tool: "events_list", args: `{"guild_id":"1200000000000009999"}`, sent: []string{"GET /guilds/1200000000000009999/scheduled-events"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "who is interested", tool: "events_list_users", args: anEvent(gameNight, ""), sent: []string{"GET " + eventsPath + "/" + gameNight + "/users?limit=100"},
			want: `{"count":3,"event_id":` + id(gameNight) + `,"users":[{"user_id":` + id(sandbox.DemoOwner) + `,"username":"marina","bot":false},{"username":"saltwick"},{"user_id":` + id(tomo) + `}]}`,
		},
		{
			shows: "a page with members", tool: "events_list_users", args: anEvent(gameNight, `,"limit":1,"with_member":true,"after":`+id(sandbox.DemoModerator)),
			sent: []string{"GET " + eventsPath + "/" + gameNight + "/users?after=" + string(sandbox.DemoModerator) + "&limit=1&with_member=true"},
			want: `{"users":[{"nick":"Tomo","roles":["*","*"]}],"has_more":true,"next_after":` + id(tomo) + `}`,
		},
		{
			shows: "a page before", tool: "events_list_users", args: anEvent(gameNight, `,"limit":1,"before":`+id(tomo)),
			sent: []string{"GET " + eventsPath + "/" + gameNight + "/users?before=" + tomo + "&limit=1"}, want: `{"users":[{"username":"saltwick"}],"next_before":` + id(sandbox.DemoModerator) + `}`,
		},
		{
			shows: "both cursors", tool: "events_list_users", args: anEvent(gameNight, `,"before":`+id(tomo)+`,"after":`+id(tomo)), code: mcpcore.CodeValidation, says: "excludes before",
		},
		{
			shows: "several at once", tool: "events_modify", args: anEvent(meetup, `,"name":"Picnic","description":null,"scheduled_start_time":"2026-06-01T12:00:00Z","scheduled_end_time":"2026-06-01T18:00:00Z","entity_metadata":{"location":"Park"},"privacy_level":2`),
			sent: []string{"PATCH " + eventsPath + "/" + meetup + ` {"name":"Picnic","description":null,"scheduled_start_time":"2026-06-01T12:00:00Z","scheduled_end_time":"2026-06-01T18:00:00Z","entity_metadata":{"location":"Park"},"privacy_level":2}`},
			want: `{"name":"Picnic","description":null,"location":"Park","scheduled_start_time":"2026-06-01T12:00:00.000000+00:00"}`,
		},
		{
			shows: "elsewhere takes the channel away", tool: "events_modify", args: anEvent(gameNight, `,"entity_type":3,`+ends+`,`+place),
			sent: []string{"PATCH " + eventsPath + "/" + gameNight + ` {"entity_type":3,` + ends + `,` + place + `,"channel_id":null}`}, want: `{"entity_type":3,"channel_id":null,"location":"Pier"}`,
		},
		{
			shows: "on a stage instead", tool: "events_modify", args: anEvent(gameNight, `,"entity_type":1,"channel_id":`+id(stage)+`,"image":null,"recurrence_rule":null`),
			sent: []string{"PATCH " + eventsPath + "/" + gameNight + ` {"entity_type":1,"channel_id":` + id(stage) + `,"image":null,"recurrence_rule":null}`}, want: `{"entity_type":1,"channel_id":` + id(stage) + `}`,
		},
		{
			shows: "start", tool: "events_modify", args: anEvent(devTalk, `,"status":2`), sent: []string{"PATCH " + eventsPath + "/" + devTalk + ` {"status":2}`}, want: `{"status":2,"entity_id":"*"}`,
		},
		{
			shows: "end", tool: "events_modify", setup: started, args: anEvent("1200000000000000799", `,"status":3`), sent: []string{"PATCH " + eventsPath + `/1200000000000000799 {"status":3}`}, want: `{"status":3}`,
		},
		{
			shows: "cancel what is active", tool: "events_modify", setup: started, args: anEvent("1200000000000000799", `,"status":4`),
			sent: []string{"PATCH " + eventsPath + `/1200000000000000799 {"status":4}`}, code: mcpcore.CodeValidation, says: "status",
		},
		{
			shows: "what is over", tool: "events_modify", setup: ended, args: anEvent("1200000000000000799", `,"name":"x"`),
			sent: []string{"PATCH " + eventsPath + `/1200000000000000799 {"name":"x"}`}, code: mcpcore.CodeValidation, says: "over or cancelled",
		},
		{shows: "nothing to change", tool: "events_modify", args: anEvent(meetup, `,"audit_reason":"x"`), code: mcpcore.CodeValidation, says: "at least one of name"},
		{
			shows: "preview", tool: "events_delete", args: anEvent(gameNight, ""), sent: []string{"GET " + eventsPath + "/" + gameNight + "?with_user_count=true"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"event","value":"Game night"},{"value":"scheduled"},{"name":"starts"},{"name":"channel","value":` + id(lounge) + `},{"name":"repeats"},{"name":"interested","value":"3"}]}`,
		},
		{
			shows: "preview of one elsewhere", tool: "events_delete", args: anEvent(meetup, ""), sent: []string{"GET " + eventsPath + "/" + meetup + "?with_user_count=true"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{},{},{},{"name":"place","value":"Old lighthouse, pier 4"},{"name":"interested","value":"0"}]}`,
		},
		{
			shows: "confirmed", tool: "events_delete", args: anEvent(meetup, `,"audit_reason":"rain","__confirm":true`), sent: []string{"DELETE " + eventsPath + "/" + meetup},
			want: `{"deleted":true,"event_id":` + id(meetup) + `}`,
		},
	})
}

// L18 Time fields
func TestL18Events(t *testing.T) {
	t.Parallel()
	b := start(t)
	const starts, ends, place = `"scheduled_start_time":"2031-05-01T18:00:00Z"`, `"scheduled_end_time":"2031-05-01T20:00:00Z"`, `"entity_metadata":{"location":"Pier"}`
	create := func(more string) string { return `{"guild_id":` + id(guild) + `,"name":"Walk",` + more + `}` }
	for _, c := range []struct{ tool, args, says string }{
		{"events_create", create(`"entity_type":3,"scheduled_start_time":"2031-05-01T18:00:00",` + ends + `,` + place), "with an offset"},
		{"events_create", create(`"entity_type":3,"scheduled_start_time":"2031-05-01",` + ends + `,` + place), "with an offset"},
		{"events_create", create(`"entity_type":3,"scheduled_start_time":"tomorrow",` + ends + `,` + place), "with an offset"},
		{"events_create", create(`"entity_type":3,"scheduled_start_time":"2031-05-01T18:00:00+9999",` + ends + `,` + place), "with an offset"},
		{"events_create", create(`"entity_type":3,"scheduled_start_time":"2031-02-30T18:00:00Z",` + ends + `,` + place), "with an offset"},
		{"events_create", create(`"entity_type":3,"scheduled_start_time":"2026-03-14T15:00:00Z",` + ends + `,` + place), "it is 2026-03-14T15:09:26Z now"},
		{"events_create", create(`"entity_type":3,` + starts + `,` + place), "scheduled_end_time: is required"},
		{"events_create", create(`"entity_type":3,` + starts + `,` + ends), "entity_metadata.location: is required"},
		{"events_create", create(`"entity_type":3,` + starts + `,` + ends + `,` + place + `,"channel_id":` + id(lounge)), "channel_id: excludes entity_type 3"},
		{"events_create", create(`"entity_type":3,` + starts + `,"scheduled_end_time":"2031-05-01T18:00:00Z",` + place), "must be after"},
		{"events_create", create(`"entity_type":2,` + starts), "channel_id: is required with entity_type 2: the voice channel"},
		{"events_create", create(`"entity_type":1,` + starts), "channel_id: is required with entity_type 1: the stage channel"},
		{"events_create", create(`"entity_type":2,` + starts + `,` + place + `,"channel_id":` + id(lounge)), "entity_metadata: is for entity_type 3"},
		{"events_modify", anEvent(gameNight, `,"entity_type":3,`+ends), "entity_metadata.location: is required"},
		{"events_modify", anEvent(gameNight, `,"entity_type":3,`+place), "scheduled_end_time: is required"},
		{"events_modify", anEvent(gameNight, `,"entity_type":3,`+place+`,"scheduled_end_time":null`), "scheduled_end_time: is required"},
		{"events_modify", anEvent(gameNight, `,"entity_type":2,"channel_id":null`), "channel_id: is required"},
		{"events_modify", anEvent(gameNight, `,"scheduled_start_time":"2020-01-01T00:00:00Z"`), "lies in the past"},
		{"events_modify", anEvent(gameNight, `,"scheduled_start_time":"2031-05-01T18:00:00+02:00","scheduled_end_time":"2031-05-01T15:00:00Z"`), "must be after"},
	} {
		if a := b.call(c.tool, c.args); a.code != mcpcore.CodeValidation || !strings.Contains(a.text, c.says) {
			t.Errorf("%s %s: code %q: %s", c.tool, c.args, a.code, a.text)
		}
	}
	if got := b.sent(); len(got) != 0 {
		t.Errorf("Discord saw %q", got)
	}
}

// TestRecurrenceRules: the combinations that Discord does not take are refused
// before it is asked, and it takes those that pass.
func TestRecurrenceRules(t *testing.T) {
	t.Parallel()
	b := start(t)
	for rule, says := range map[string]string{
		`"frequency":3`: "", `"frequency":3,"by_weekday":[0,1,2,3,4]`: "", `"frequency":3,"by_weekday":[6,0,1,2,3]`: "", `"frequency":3,"by_weekday":[6,0]`: "",
		`"frequency":3,"by_weekday":[4,5]`: "", `"frequency":3,"by_weekday":[5,6]`: "", `"frequency":3,"by_weekday":[1,2,3,4,5]`: "",
		`"frequency":2,"by_weekday":[2]`: "", `"frequency":2,"by_weekday":[2],"interval":2`: "", `"frequency":2`: "",
		`"frequency":1,"by_n_weekday":[{"n":4,"day":2}]`: "", `"frequency":0,"by_month":[7],"by_month_day":[24]`: "",
		`"frequency":3,"by_weekday":[0,2]`:                                 "by_weekday: is one of the sets",
		`"frequency":3,"interval":2`:                                       "interval: is 1 unless",
		`"frequency":2,"interval":3`:                                       "interval: must be at most 2",
		`"frequency":2,"by_weekday":[2,3]`:                                 "by_weekday: holds one day",
		`"frequency":1,"by_weekday":[2]`:                                   "by_weekday: is for frequency 2",
		`"frequency":2,"by_n_weekday":[{"n":4,"day":2}]`:                   "by_n_weekday: is for frequency 1",
		`"frequency":1,"by_n_weekday":[{"n":6,"day":2}]`:                   "n: must be at most 5",
		`"frequency":0,"by_month":[7]`:                                     "go together",
		`"frequency":1,"by_month":[7],"by_month_day":[24]`:                 "are for frequency 0",
		`"frequency":2,"by_weekday":[2],"by_month":[7],"by_month_day":[1]`: "exclude each other",
		`"frequency":3,"count":4`:                                          "count: is not an argument here",
		`"frequency":4`:                                                    "must be one of",
	} {
		b.world.ResetRequests()
		a := b.call("events_modify", anEvent(meetup, `,"recurrence_rule":{"start":"2026-05-01T14:00:00Z",`+rule+`}`))
		if passes := a.code == "" && len(b.sent()) == 1; passes != (says == "") || !strings.Contains(a.text, says) {
			t.Errorf("%s: code %q, Discord saw %q\n%s", rule, a.code, b.sent(), a.text)
		}
	}
}

// TestEventOfAnotherGuild: an event is held to the guild that the call is about,
// also where Discord is not told that guild.
func TestEventOfAnotherGuild(t *testing.T) {
	t.Parallel()
	b := start(t, homeOnly)
	theirs := b.world.AddEvent(sandbox.DemoClub, sandbox.Event{Name: "Reading", Location: "Library", Start: now})
	open := func(event discord.EventID) string {
		return `{"channel_id":` + id(stage) + `,"topic":"Fog","guild_scheduled_event_id":` + id(event) + `}`
	}
	for _, call := range [][2]string{
		{"stage_instances_create", open(theirs)}, {"events_modify", anEvent(string(theirs), `,"name":"x"`)}, {"events_delete", anEvent(string(theirs), `,"__confirm":true`)},
		{"events_get", anEvent(string(theirs), "")},
	} {
		if a := b.call(call[0], call[1]); a.code != mcpcore.CodeGuildUnresolved {
			t.Errorf("%s: code %q: %s", call[0], a.code, a.text)
		}
	}
	if writes := b.world.Writes(); len(writes) > 0 {
		t.Errorf("Discord saw %s %s", writes[0].Method, writes[0].Path)
	}
	b.world.Inject(sandbox.Fault{Method: "GET", Route: "/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}", Status: 500, Times: 10})
	if a := b.call("stage_instances_create", open(sandbox.DemoDevTalk)); a.code != mcpcore.CodeGuildUnresolved {
		t.Errorf("what cannot be read: code %q: %s", a.code, a.text)
	}
	b = start(t, homeOnly)
	if a := b.call("stage_instances_create", open(sandbox.DemoDevTalk)); a.code != "" {
		t.Errorf("the legitimate call: %s", a.text)
	}
}

// TestEventsEnforce: what an event's place calls for is asked for before it is
// sent.
func TestEventsEnforce(t *testing.T) {
	t.Parallel()
	b := start(t, func(d *discordtools.Deps) { d.Config.Access = middleware.Enforce })
	b.world.SetOverwrite(sandbox.DemoStage, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: discord.MuteMembers})
	args := `{"guild_id":` + id(guild) + `,"name":"Talk","entity_type":%d,"channel_id":%q,"scheduled_start_time":"2031-05-01T18:00:00Z"}`
	if a := b.call("events_create", fmt.Sprintf(args, 1, stage)); a.code != mcpcore.CodeAccessDenied || !strings.Contains(a.text, "MUTE_MEMBERS") {
		t.Errorf("code %q: %s", a.code, a.text)
	}
	if a := b.call("events_create", fmt.Sprintf(args, 2, lounge)); a.code != "" {
		t.Errorf("the legitimate call: %s", a.text)
	}
}
