package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func channelOrdering() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "channel-ordering", Plan: "plan_channel_order", Execute: "execute_channel_order",
			Args:     ordered(sandbox.DemoShowcase, "above", sandbox.DemoGeneral),
			Sends:    []string{`PATCH /guilds/1200000000000000001/channels [{"id":"1200000000000000314","position":0},{"id":"1200000000000000313","position":1},{"id":"1200000000000000315","position":2}]`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoGuild)}}},
			Resource: string(sandbox.DemoShowcase), Secrets: []string{"canary", "Lighthouse", "general"},
		},
		Route: "PATCH /guilds/{guild_id}/channels", ReadBack: "GET /guilds/{guild_id}/channels", Skip: 4,
		Change: func(d *sandbox.Discord) { d.EditChannel(sandbox.DemoLounge, func(c *sandbox.Channel) { c.Position++ }) },
		Rename: func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoGeneral, func(c *sandbox.Channel) { c.Name = "chat" })
		},
		Settle: func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoShowcase, func(c *sandbox.Channel) { c.Position = 0 })
		},
	}
}

func ordered(c discord.ChannelID, placement string, anchor discord.ChannelID) string {
	return `{"guildId":"1200000000000000001","channelId":"` + string(c) + `","placement":"` + placement + `","anchorId":"` + string(anchor) + `","auditReason":"canary-reason"}`
}

// onlyIn lets the bot manage channels in these alone.
func onlyIn(channels ...discord.ChannelID) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, sandbox.DemoPermissions&^discord.ManageChannels)
		for _, c := range channels {
			d.SetOverwrite(c, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Allow: discord.ManageChannels})
		}
	}
}

func TestChannelOrdering(t *testing.T) {
	t.Parallel()
	s := channelOrdering()
	other := func(name, reason string, c, anchor discord.ChannelID, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: ordered(c, "below", anchor), Before: world(before), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	nothing := func(*sandbox.Discord) {}
	lacks := func(name string, anchor discord.ChannelID, in ...discord.ChannelID) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: ordered(sandbox.DemoShowcase, "below", anchor), Before: world(onlyIn(in...)), Code: mcpcore.CodePermission}
	}
	s.Refusals = []operationtest.Refusal{
		other("next to itself", "same", sandbox.DemoGeneral, sandbox.DemoGeneral, nothing),
		other("a thread", "channel-missing", sandbox.DemoThread, sandbox.DemoGeneral, nothing),
		other("next to a channel of another guild", "channel-missing", sandbox.DemoGeneral, sandbox.DemoClubGeneral, nothing),
		other("text next to voice", "family", sandbox.DemoGeneral, sandbox.DemoLounge, nothing),
		other("text next to a category", "family", sandbox.DemoGeneral, sandbox.DemoCommunity, nothing),
		other("into a full category", "parent-full", sandbox.DemoShowcase, sandbox.DemoRules, func(d *sandbox.Discord) {
			for range 48 {
				d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: "x", Parent: sandbox.DemoInfo})
			}
		}),
		{Name: "a group with what nobody knows", Code: mcpcore.CodeAccessUnknown, Before: world(func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Type: discord.GuildDirectory, Name: "x", Parent: sandbox.DemoCommunity})
		})},
		lacks("a bot that may not", sandbox.DemoGeneral),
		lacks("a bot that may only where it goes to", sandbox.DemoRules, sandbox.DemoInfo, sandbox.DemoShowcase),
		lacks("a bot that may only where it comes from", sandbox.DemoRules, sandbox.DemoCommunity, sandbox.DemoShowcase),
		lacks("a bot that may not change what moves", sandbox.DemoRules, sandbox.DemoCommunity, sandbox.DemoInfo),
	}
	s.run(t)
}

func TestChannelOrders(t *testing.T) {
	t.Parallel()
	s := channelOrdering()
	s.writes(t, ordered(sandbox.DemoShowcase, "below", sandbox.DemoRules),
		`PATCH /guilds/1200000000000000001/channels [{"id":"1200000000000000311","position":0},{"id":"1200000000000000314","position":1,"lock_permissions":false,"parent_id":"1200000000000000301"},{"id":"1200000000000000312","position":2}]`)
	s.writes(t, ordered(sandbox.DemoCommunity, "above", sandbox.DemoInfo),
		`PATCH /guilds/1200000000000000001/channels [{"id":"1200000000000000302","position":0},{"id":"1200000000000000301","position":1},{"id":"1200000000000000303","position":2},{"id":"1200000000000000304","position":3}]`)
	s.writes(t, ordered(sandbox.DemoLounge, "below", sandbox.DemoStage),
		`PATCH /guilds/1200000000000000001/channels [{"id":"1200000000000000317","position":0},{"id":"1200000000000000316","position":1}]`)
	// Out of its category.
	s.Before = func(d *sandbox.Discord) {
		d.AddChannel(sandbox.Channel{ID: spare, Guild: sandbox.DemoGuild, Name: "spare"})
	}
	s.writes(t, ordered(sandbox.DemoShowcase, "above", spare),
		`PATCH /guilds/1200000000000000001/channels [{"id":"1200000000000000314","position":0,"lock_permissions":false,"parent_id":null},{"id":"1200000000000000398","position":1}]`)
	// Without MANAGE_CHANNELS in the guild, it is enough in the categories.
	s.Before = onlyIn(sandbox.DemoCommunity, sandbox.DemoGeneral, sandbox.DemoShowcase, sandbox.DemoHelp)
	s.writes(t, s.Args, s.Sends...)
}

func TestChannelOrderThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := channelOrdering()
	s.after(s.ReadBack, `"position":0`, `"position":9`).ends(t, "another order", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.after(s.ReadBack, `"parent_id":"1200000000000000302"`, `"parent_id":"1200000000000000301"`).ends(t, "another category", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.after(s.ReadBack, `"position":10`, `"position":100`).ends(t, "others that moved", "", "completed-with-drift", mcpcore.StatusCompleted)
	s.after(s.ReadBack, `"deny":"2099264"`, `"deny":"0"`).ends(t, "other overwrites", "", "completed-with-drift", mcpcore.StatusCompleted)
}

func TestChannelOrderAudit(t *testing.T) {
	t.Parallel()
	s := channelOrdering()
	s.Before = func(d *sandbox.Discord) {
		onlyIn(sandbox.DemoCommunity)(d)
		d.EditChannel(sandbox.DemoShowcase, func(c *sandbox.Channel) { c.Position = 7 })
	}
	told, err := json.Marshal(s.reads(t, "audit_channel_order", `{"guildId":"1200000000000000001"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"ambiguous":true,"botMayOrder":true,"channels":[{"id":"1200000000000000313","name":"general","position":7},{"id":"1200000000000000314","name":"showcase","position":7},{"id":"1200000000000000315","name":"help","position":9}],"family":"text","parentId":"1200000000000000302"}`,
		`{"ambiguous":false,"botMayOrder":false,"channels":[{"id":"1200000000000000301"`,
	} {
		if !strings.Contains(string(told), want) {
			t.Errorf("it does not tell %s: %s", want, told)
		}
	}
}
