package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const pinned discord.MessageID = "1200000000000000598"

func pin(c discord.ChannelID, state string) string {
	return `{"guildId":"1200000000000000001","channelId":"` + string(c) + `","messageId":"` + string(pinned) + `","state":"` + state + `","auditReason":"canary-reason"}`
}

func pinning() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "message-pin", Plan: "plan_message_pin", Execute: "execute_message_pin",
			Args: pin(sandbox.DemoGeneral, "pinned"), Sends: []string{"PUT /channels/1200000000000000313/messages/pins/1200000000000000598"},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Resource: string(pinned), Secrets: []string{"canary", "Lighthouse", "general"},
		},
		Route: "PUT /channels/{channel_id}/messages/pins/{message_id}", ReadBack: "GET /channels/{channel_id}/messages/{message_id}", Skip: 4,
		Before: posted(sandbox.DemoGeneral, sandbox.Message{ID: pinned, Author: sandbox.DemoMember, Content: "canary-content"}),
		Change: editing(func(m *sandbox.Message) { m.Content = "canary-edited" }),
		Rename: func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoGeneral, func(c *sandbox.Channel) { c.Name = "chat" })
		},
		Settle: editing(func(m *sandbox.Message) { m.Pinned = at }),
	}
}

func posted(c discord.ChannelID, m sandbox.Message) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { d.AddMessage(c, m) }
}

func editing(f func(m *sandbox.Message)) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { d.EditMessage(sandbox.DemoGeneral, pinned, f) }
}

func TestMessagePin(t *testing.T) {
	t.Parallel()
	s := pinning()
	elsewhere := func(name string, code mcpcore.Code, reason string, c discord.ChannelID, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{
			Name: name, Code: code, Reason: reason, Policy: permits(s.Workflow, "channels", string(c)), Args: pin(c, "pinned"), Before: world(before),
		}
	}
	nothing := func(*sandbox.Discord) {}
	private := func(d *sandbox.Discord) {
		d.AddChannel(sandbox.Channel{ID: closed, Guild: sandbox.DemoGuild, Type: discord.PrivateThread, Name: "closed", Parent: sandbox.DemoGeneral,
			Thread: &sandbox.Thread{Owner: sandbox.DemoModerator}})
		d.AddMessage(closed, sandbox.Message{ID: pinned, Author: sandbox.DemoModerator, Content: "x"})
	}
	threadOfChannel := elsewhere("a thread by its channel's entry", mcpcore.CodeWorkflowScope, "", sandbox.DemoThread, nothing)
	threadOfChannel.Policy = nil
	s.Refusals = []operationtest.Refusal{
		elsewhere("a channel of another guild", mcpcore.CodePlanRefused, "other-guild", sandbox.DemoClubGeneral, nothing),
		elsewhere("no such message", mcpcore.CodeNotFound, "", sandbox.DemoThread, nothing),
		elsewhere("an archived thread", mcpcore.CodePlanRefused, "archived", sandbox.DemoArchived, nothing),
		elsewhere("a private thread without the bot", mcpcore.CodePlanRefused, "not-in-thread", closed, private),
		threadOfChannel,
		{Name: "a message of Discord", Code: mcpcore.CodePlanRefused, Reason: "system-message", Before: world(editing(func(m *sandbox.Message) { m.Type = 7 }))},
		{Name: "a bot that may not pin", Code: mcpcore.CodePermission, Before: weaker(discord.PinMessages)},
		{Name: "a bot that may not read", Code: mcpcore.CodePermission, Before: weaker(discord.ReadMessageHistory)},
	}
	s.run(t)
}

func TestMessagePins(t *testing.T) {
	t.Parallel()
	s := pinning()
	// MANAGE_MESSAGES is not needed.
	before := s.Before
	s.Before = func(d *sandbox.Discord) {
		before(d)
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, sandbox.DemoPermissions&^discord.ManageMessages)
	}
	s.writes(t, s.Args, s.Sends...)
	s.Before = func(d *sandbox.Discord) {
		before(d)
		editing(func(m *sandbox.Message) { m.Pinned = at })(d)
	}
	s.writes(t, pin(sandbox.DemoGeneral, "unpinned"), "DELETE /channels/1200000000000000313/messages/pins/1200000000000000598")
	s.Before = before
	s.Args = pin(sandbox.DemoGeneral, "unpinned")
	s.ends(t, "unpinned already", "", "already-current", "")
	s.Permit.Scopes = map[string][]string{"channels": {string(sandbox.DemoThread)}}
	s.Before = posted(sandbox.DemoThread, sandbox.Message{ID: pinned, Author: sandbox.DemoMember, Content: "x"})
	s.writes(t, pin(sandbox.DemoThread, "pinned"), "PUT /channels/1200000000000000321/messages/pins/1200000000000000598")
}

func TestPinThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := pinning()
	s.after(s.ReadBack, `"pinned":true`, `"pinned":false`).ends(t, "not pinned", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.after(s.ReadBack, `"id":"1200000000000000598"`, `"id":"1200000000000000597"`).ends(t, "another message", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.after(s.ReadBack, `canary-content`, `edited`).ends(t, "edited meanwhile", "", "completed-with-drift", mcpcore.StatusCompleted)
}
