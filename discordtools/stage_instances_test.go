package discordtools_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestStageInstances(t *testing.T) {
	t.Parallel()
	c := `{"channel_id":` + id(stage)
	live := func(d *sandbox.Discord) { d.AddStage(sandbox.Stage{Channel: sandbox.DemoStage, Topic: "Fog"}) }
	onEvent := func(d *sandbox.Discord) {
		d.AddStage(sandbox.Stage{Channel: sandbox.DemoStage, Topic: "Fog", Event: sandbox.DemoDevTalk})
	}
	run(t, []row{
		{
			shows: "open", tool: "stage_instances_create", args: c + `,"topic":"Fog","audit_reason":"monthly"}`,
			sent: []string{`POST /stage-instances {"channel_id":` + id(stage) + `,"topic":"Fog"}`},
			want: `{"id":"*","guild_id":` + id(guild) + `,"channel_id":` + id(stage) + `,"topic":"Fog","privacy_level":2}`,
		},
		{
			shows: "open and tell everyone", tool: "stage_instances_create", args: c + `,"topic":"Fog","privacy_level":2,"send_start_notification":true}`,
			sent: []string{`POST /stage-instances {"channel_id":` + id(stage) + `,"topic":"Fog","privacy_level":2,"send_start_notification":true}`}, want: `{"topic":"Fog"}`,
		},
		{
			shows: "open for an event", tool: "stage_instances_create", args: c + `,"topic":"Fog","guild_scheduled_event_id":` + id(devTalk) + `}`,
			sent: []string{`POST /stage-instances {"channel_id":` + id(stage) + `,"topic":"Fog","guild_scheduled_event_id":` + id(devTalk) + `}`}, want: `{"guild_scheduled_event_id":` + id(devTalk) + `}`,
		},
		{
			shows: "open for an event elsewhere", tool: "stage_instances_create", args: c + `,"topic":"Fog","guild_scheduled_event_id":` + id(meetup) + `}`,
			sent: []string{`POST /stage-instances {"channel_id":` + id(stage) + `,"topic":"Fog","guild_scheduled_event_id":` + id(meetup) + `}`}, code: mcpcore.CodeValidation, says: "of another kind",
		},
		{
			shows: "open an open one", tool: "stage_instances_create", setup: live, args: c + `,"topic":"Clouds"}`,
			sent: []string{`POST /stage-instances {"channel_id":` + id(stage) + `,"topic":"Clouds"}`}, code: mcpcore.CodeValidation, says: "already live",
		},
		{
			shows: "no stage channel", tool: "stage_instances_create", args: `{"channel_id":` + id(lounge) + `,"topic":"Fog"}`,
			sent: []string{`POST /stage-instances {"channel_id":` + id(lounge) + `,"topic":"Fog"}`}, code: mcpcore.CodeValidation, says: "kind of channel",
		},
		{shows: "no topic", tool: "stage_instances_create", args: c + `,"topic":""}`, code: mcpcore.CodeValidation, says: "topic: must have at least 1"},
		{shows: "one", tool: "stage_instances_get", setup: live, args: c + `}`, sent: []string{"GET /stage-instances/" + stage}, want: `{"topic":"Fog","untrusted_text":"*"}`, says: "<untrusted_discord_channel_topic"},
		{shows: "none", tool: "stage_instances_get", args: c + `}`, sent: []string{"GET /stage-instances/" + stage}, code: mcpcore.CodeNotFound, says: "no live stage"},
		{
			shows: "another topic", tool: "stage_instances_modify", setup: live, args: c + `,"topic":"Clouds","privacy_level":2}`,
			sent: []string{"PATCH /stage-instances/" + stage + ` {"topic":"Clouds","privacy_level":2}`}, want: `{"topic":"Clouds"}`,
		},
		{shows: "nothing to change", tool: "stage_instances_modify", args: c + `}`, code: mcpcore.CodeValidation, says: "at least one of topic"},
		{
			shows: "preview", tool: "stage_instances_delete", setup: onEvent, args: c + `}`, sent: []string{"GET /stage-instances/" + stage, "GET /channels/" + stage}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"topic","value":"Fog"},{"name":"channel","value":"Dev Talks"},{"name":"event that ends with it","value":` + id(devTalk) + `}]}`,
		},
		{shows: "preview of none", tool: "stage_instances_delete", args: c + `}`, sent: []string{"GET /stage-instances/" + stage}, code: mcpcore.CodeNotFound},
		{
			shows: "confirmed", tool: "stage_instances_delete", setup: live, args: c + `,"audit_reason":"over","__confirm":true}`,
			sent: []string{"DELETE /stage-instances/" + stage}, want: `{"deleted":true,"channel_id":` + id(stage) + `}`,
		},
	})
}

// TestStageOfAnotherGuild: a stage channel is held to the allowed guilds.
func TestStageOfAnotherGuild(t *testing.T) {
	t.Parallel()
	b := start(t, homeOnly)
	theirs := b.world.AddChannel(sandbox.Channel{Guild: sandbox.DemoClub, Type: discord.GuildStageVoice, Name: "Readings"})
	b.world.AddStage(sandbox.Stage{Channel: theirs, Topic: "Chapter nine"})
	for _, call := range [][2]string{
		{"stage_instances_create", `{"channel_id":` + id(theirs) + `,"topic":"x"}`}, {"stage_instances_get", `{"channel_id":` + id(theirs) + `}`},
		{"stage_instances_modify", `{"channel_id":` + id(theirs) + `,"topic":"x"}`}, {"stage_instances_delete", `{"channel_id":` + id(theirs) + `,"__confirm":true}`},
	} {
		if a := b.call(call[0], call[1]); a.code != mcpcore.CodeGuildNotAllowed {
			t.Errorf("%s: code %q: %s", call[0], a.code, a.text)
		}
	}
	if writes := b.world.Writes(); len(writes) > 0 {
		t.Errorf("Discord saw %s %s", writes[0].Method, writes[0].Path)
	}
	if a := b.call("stage_instances_create", `{"channel_id":`+id(stage)+`,"topic":"Fog"}`); a.code != "" {
		t.Errorf("the legitimate call: %s", a.text)
	}
}
