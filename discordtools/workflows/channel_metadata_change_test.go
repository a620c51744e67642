package workflows_test

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const inGeneral = `{"guildId":"1200000000000000001","channelId":"1200000000000000313",`

func metadata() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "channel-metadata-change", Plan: "plan_channel_metadata_change", Execute: "execute_channel_metadata_change",
			Args:     inGeneral + `"topic":"canary-topic","rateLimitPerUser":5,"auditReason":"canary-reason"}`,
			Sends:    []string{`PATCH /channels/1200000000000000313 {"rate_limit_per_user":5,"topic":"canary-topic"}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Resource: string(sandbox.DemoGeneral), Secrets: []string{"canary", "Lighthouse"},
		},
		Route: "PATCH /channels/{channel_id}", ReadBack: "GET /channels/{channel_id}", Skip: 4,
		Change: func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoEventsRole), Deny: discord.AddReactions})
		},
		Settle: func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoGeneral, func(c *sandbox.Channel) { c.Topic, c.SlowMode = "canary-topic", 5 })
		},
	}
}

func TestChannelMetadataChange(t *testing.T) {
	t.Parallel()
	s := metadata()
	other := func(name, reason string, channel discord.ChannelID, fields string) operationtest.Refusal {
		return operationtest.Refusal{
			Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Policy: permits(s.Workflow, "channels", string(channel)),
			Args: `{"guildId":"1200000000000000001","channelId":"` + string(channel) + `",` + fields + `}`,
		}
	}
	s.Refusals = []operationtest.Refusal{
		{Name: "nothing to change", Args: inGeneral + `"auditReason":"x"}`, Code: mcpcore.CodeValidation},
		other("a thread", "thread", sandbox.DemoThread, `"name":"x"`),
		other("a channel of another guild", "other-guild", sandbox.DemoClubGeneral, `"name":"x"`),
		other("a bitrate of text", "field-not-there", sandbox.DemoGeneral, `"bitrate":64000`),
		other("a topic of voice", "field-not-there", sandbox.DemoLounge, `"topic":"x"`),
		other("a slow mode of a category", "field-not-there", sandbox.DemoCommunity, `"rateLimitPerUser":5`),
		other("a forum's topic outside forums", "topic-too-long", sandbox.DemoGeneral, `"topic":"`+strings.Repeat("x", 1025)+`"`),
		other("too many in voice", "user-limit", sandbox.DemoLounge, `"userLimit":100`),
		other("more bits than the boosts give", "bitrate", sandbox.DemoLounge, `"bitrate":96001`),
		other("more bits than a stage has", "bitrate", sandbox.DemoStage, `"bitrate":64001`),
		other("a region that is none", "region", sandbox.DemoLounge, `"rtcRegion":"atlantis"`),
		other("a region that is given up", "region", sandbox.DemoLounge, `"rtcRegion":"sydney"`),
		{Name: "a bot that may not manage", Code: mcpcore.CodePermission, Before: weaker(discord.ManageChannels)},
		{Name: "a bot that may not connect", Code: mcpcore.CodePermission, Before: weaker(discord.Connect),
			Policy: permits(s.Workflow, "channels", string(sandbox.DemoLounge)),
			Args:   `{"guildId":"1200000000000000001","channelId":"` + string(sandbox.DemoLounge) + `","name":"x"}`},
	}
	s.run(t)
}

func TestChannelFields(t *testing.T) {
	t.Parallel()
	s := metadata()
	s.Permit.Scopes = map[string][]string{"channels": {string(sandbox.DemoGeneral), string(sandbox.DemoLounge), string(sandbox.DemoHelp)}}
	s.writes(t, inGeneral+`"topic":null,"name":"general","nsfw":true}`, `PATCH /channels/1200000000000000313 {"nsfw":true,"topic":null}`)
	s.writes(t, inGeneral+`"defaultThreadRateLimitPerUser":60,"defaultAutoArchiveDuration":60}`,
		`PATCH /channels/1200000000000000313 {"default_auto_archive_duration":60,"default_thread_rate_limit_per_user":60}`)
	s.writes(t, `{"guildId":"1200000000000000001","channelId":"1200000000000000316","bitrate":96000,"userLimit":0,"rtcRegion":"rotterdam","videoQualityMode":2,"name":"Big Lounge"}`,
		`PATCH /channels/1200000000000000316 {"bitrate":96000,"name":"Big Lounge","rtc_region":"rotterdam","user_limit":0,"video_quality_mode":2}`)
	// Discord writes names its own way.
	s.writes(t, inGeneral+`"name":"General Talk"}`, `PATCH /channels/1200000000000000313 {"name":"General Talk"}`)
}

func TestChannelFieldsThatAreNotAsWritten(t *testing.T) {
	t.Parallel()
	const edit, read = "PATCH /channels/{channel_id}", "GET /channels/{channel_id}"
	s := metadata()
	s.answered(edit, `"rate_limit_per_user":5`, `"rate_limit_per_user":6`).ends(t, "another value", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.answered(edit, `"type":0`, `"type":5`).ends(t, "another type", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.answered(edit, `"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`).ends(t, "another guild", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.after(read, `canary-topic`, `something else`).ends(t, "another topic", "", "completed-with-drift", mcpcore.StatusCompleted)
	s.after(read, `"flags":0`, `"flags":1`).ends(t, "another field", "", "completed-with-drift", mcpcore.StatusCompleted)
}
