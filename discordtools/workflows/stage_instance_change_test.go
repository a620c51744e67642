package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const someStage = "1200000000000000881"

// staged makes the demo stage live.
func staged(topic string) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddStage(sandbox.Stage{ID: someStage, Channel: sandbox.DemoStage, Topic: topic})
	}
}

func onAStage(more string, sends ...string) scene {
	of := func(channel discord.ChannelID, more string) string {
		return `{"guildId":"1200000000000000001","channelId":"` + string(channel) + `","action":` + more + `,"auditReason":"canary-reason"}`
	}
	at := func(name, more string, reason string, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: of(sandbox.DemoStage, more), Code: mcpcore.CodePlanRefused, Reason: reason, Before: world(before)}
	}
	invalid := func(more string) operationtest.Refusal {
		return operationtest.Refusal{Name: more, Args: of(sandbox.DemoStage, more), Code: mcpcore.CodeValidation}
	}
	evented := func(d *sandbox.Discord) {
		d.AddStage(sandbox.Stage{Channel: sandbox.DemoStage, Topic: "old", Event: "1200000000000000801"})
	}
	channel := []string{string(sandbox.DemoStage)}
	s := scene{
		Subject: operationtest.Subject{
			Workflow: "stage-instance-change", Plan: "plan_stage_instance_change", Execute: "execute_stage_instance_change",
			Args: of(sandbox.DemoStage, more), Sends: sends,
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": channel, "notifyFrom": channel}},
			Secrets: []string{"canary", "Lighthouse", "Dev Talks"},
			Refusals: []operationtest.Refusal{
				{Name: "no stage", Args: of(sandbox.DemoLounge, `"start","topic":"x"`), Code: mcpcore.CodePlanRefused, Reason: "no-stage",
					Policy: permits("stage-instance-change", "channels", string(sandbox.DemoLounge))},
				at("live already", `"start","topic":"x"`, "already-live", staged("y")),
				at("not live", `"update","topic":"x"`, "stage-missing", func(*sandbox.Discord) {}),
				at("an event's, updated", `"update","topic":"x"`, "scheduled-event", evented),
				at("an event's, ended", `"end"`, "scheduled-event", evented),
				at("a public one", `"update","topic":"x"`, "public", func(d *sandbox.Discord) {
					d.AddStage(sandbox.Stage{Channel: sandbox.DemoStage, Topic: "old", Privacy: 1})
				}),
				{Name: "a notification that the policy does not let", Args: of(sandbox.DemoStage, `"start","topic":"x","sendStartNotification":true`), Code: mcpcore.CodeWorkflowScope,
					Policy: permits("stage-instance-change", "channels", channel...)},
				{Name: "a notification that the bot may not send", Args: of(sandbox.DemoStage, `"start","topic":"x","sendStartNotification":true`), Code: mcpcore.CodePermission,
					Before: weaker(discord.MentionEveryone)},
				invalid(`"start"`), invalid(`"update"`), invalid(`"end","topic":"x"`), invalid(`"update","topic":"x","sendStartNotification":true`),
				invalid(fmt.Sprintf(`"start","topic":"%0121d"`, 0)),
			},
		},
		Route: "POST /stage-instances", ReadBack: "GET /stage-instances/{channel_id}", Skip: 4,
		Change: roleMay(sandbox.DemoStage, sandbox.DemoBotRole, 0, discord.UseSoundboard),
		Settle: staged("canary topic"),
	}
	for _, p := range []discord.Permissions{discord.Connect, discord.ManageChannels, discord.MuteMembers, discord.MoveMembers} {
		s.Refusals = append(s.Refusals, operationtest.Refusal{Name: "a bot without " + p.String(), Code: mcpcore.CodePermission, Before: weaker(p)})
	}
	return s
}

func startingStage() scene {
	return onAStage(`"start","topic":"canary topic","sendStartNotification":true`,
		`POST /stage-instances {"channel_id":"1200000000000000317","topic":"canary topic","privacy_level":2,"send_start_notification":true}`)
}

func TestStageInstanceChange(t *testing.T) {
	t.Parallel()
	startingStage().run(t)
}

func TestStageInstanceChangeActions(t *testing.T) {
	t.Parallel()
	quiet := onAStage(`"start","topic":"x"`)
	delete(quiet.Permit.Scopes, "notifyFrom")
	quiet.sends(t, `POST /stage-instances {"channel_id":"1200000000000000317","topic":"x","privacy_level":2,"send_start_notification":false}`)
	onAStage(`"update","topic":"x"`).observed(staged("y")).sends(t, `PATCH /stage-instances/1200000000000000317 {"topic":"x"}`)
	onAStage(`"end"`).observed(staged("y")).sends(t, `DELETE /stage-instances/1200000000000000317`)
	for _, s := range []scene{onAStage(`"end"`), onAStage(`"update","topic":"y"`).observed(staged("y"))} {
		if e, _ := s.once(t); e.Status != "already-current" || e.Writes != 0 {
			t.Errorf("%s is answered %+v", s.Args, e)
		}
	}
}

func TestStageInstanceChangeReadsBack(t *testing.T) {
	t.Parallel()
	const read = "GET /stage-instances/{channel_id}"
	update := func() scene { return onAStage(`"update","topic":"x"`).observed(staged("y")) }
	update().after(read, `"topic":"x"`, `"topic":"z"`).drifts(t, "topic")
	for name, s := range map[string]scene{
		"another stage":      update().after(read, someStage, "1200000000000000882"),
		"a public stage":     update().after(read, `"privacy_level":2`, `"privacy_level":1`),
		"still live":         onAStage(`"end"`).observed(staged("y")).afterWrite(staged("z")),
		"a public start":     startingStage().answered("POST /stage-instances", `"privacy_level":2`, `"privacy_level":1`),
		"another's channel":  startingStage().answered("POST /stage-instances", string(sandbox.DemoStage), string(sandbox.DemoLounge)),
		"another's was told": update().answered("PATCH /stage-instances/{channel_id}", someStage, "1200000000000000882"),
	} {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
}

func TestListStageInstances(t *testing.T) {
	t.Parallel()
	told := startingStage().observed(staged("y")).reads(t, "list_stage_instances", `{"guildId":"1200000000000000001"}`)
	if got := fmt.Sprint(told["stages"]); told["stageChannels"] != 1.0 || got != "[map[channel_id:1200000000000000317 guild_id:1200000000000000001 guild_scheduled_event_id:<nil> id:1200000000000000881 privacy_level:2 topic:y]]" {
		t.Errorf("it lists %v", told)
	}
}
