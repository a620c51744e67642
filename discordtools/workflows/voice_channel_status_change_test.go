package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func statusing(status string) scene {
	of := func(channel discord.ChannelID, status string) string {
		return `{"guildId":"1200000000000000001","channelId":"` + string(channel) + `","status":` + status + `,"auditReason":"canary-reason"}`
	}
	lounge := func(allow, deny discord.Permissions) func(d *sandbox.Discord) {
		return func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoLounge, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Allow: allow, Deny: deny})
		}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "voice-channel-status-change", Plan: "plan_voice_channel_status_change", Execute: "execute_voice_channel_status_change",
			Args:     of(sandbox.DemoLounge, status),
			Sends:    []string{`PUT /channels/1200000000000000316/voice-status {"status":` + status + `}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoLounge)}}},
			Resource: string(sandbox.DemoLounge), Secrets: []string{"canary", "Lighthouse", "Lounge"},
			Refusals: []operationtest.Refusal{
				{Name: "a stage", Args: of(sandbox.DemoStage, status), Code: mcpcore.CodePlanRefused, Reason: "not-voice",
					Policy: permits("voice-channel-status-change", "channels", string(sandbox.DemoStage))},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: weaker(discord.SetVoiceChannelStatus)},
				{Name: "a bot that is elsewhere", Code: mcpcore.CodePermission, Before: weaker(discord.ManageChannels)},
				{Name: "a hidden channel", Code: mcpcore.CodePermission, Before: world(lounge(0, discord.ViewChannel))},
				{Name: "an empty status", Args: of(sandbox.DemoLounge, `""`), Code: mcpcore.CodeValidation},
				{Name: "501 characters", Args: of(sandbox.DemoLounge, fmt.Sprintf(`"%0501d"`, 0)), Code: mcpcore.CodeValidation},
			},
		},
		Route: "PUT /channels/{channel_id}/voice-status", ReadBack: "GET /channels/{channel_id}", Skip: 4,
		Change: lounge(discord.Connect, 0),
	}
}

func TestVoiceChannelStatusChange(t *testing.T) {
	t.Parallel()
	statusing(`"canary talk"`).run(t)
}

// A bot that speaks in the channel need not manage it. Nothing tells that a status
// is there already.
func TestVoiceChannelStatusChangeWhereItSpeaks(t *testing.T) {
	t.Parallel()
	s := statusing(`null`).observed(func(d *sandbox.Discord) {
		weaker(discord.ManageChannels)(&operationtest.World{Any: d})
		d.AddVoiceState(sandbox.DemoGuild, sandbox.VoiceState{User: sandbox.BotID, Channel: sandbox.DemoLounge})
	})
	s.sends(t, s.Sends...)
	var d *sandbox.Discord
	again := statusing(`"same"`).observed(func(made *sandbox.Discord) {
		d = made
		d.EditChannel(sandbox.DemoLounge, func(c *sandbox.Channel) { c.Status = "same" })
	})
	again.sends(t, again.Sends...)
}

func TestVoiceChannelStatusChangeReadsBack(t *testing.T) {
	t.Parallel()
	statusing(`"x"`).after("GET /channels/{channel_id}", `"position":10`, `"position":11`).drifts(t, "position")
	statusing(`"x"`).afterWrite(statusing(`"x"`).Change).drifts(t, "permission_overwrites")
	statusing(`"x"`).after("GET /channels/{channel_id}", `"type":2`, `"type":13`).
		ends(t, "another type", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
}
