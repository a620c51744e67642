package workflows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// spare is a channel that some scenes add.
const spare discord.ChannelID = "1200000000000000398"

func channelDeletion() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "channel-deletion", Plan: "plan_channel_deletion", Execute: "execute_channel_deletion",
			Args: withoutChannel(spare), Sends: []string{"DELETE /channels/1200000000000000398"},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(spare)}}},
			Resource: string(spare), Secrets: []string{"canary", "Lighthouse"},
		},
		Route: "DELETE /channels/{channel_id}", ReadBack: "GET /guilds/{guild_id}/channels", Skip: 4,
		Before: func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{ID: spare, Guild: sandbox.DemoGuild, Name: "canary-spare", Parent: sandbox.DemoCommunity, Position: 20})
			d.AddWebhook(sandbox.Webhook{Channel: spare, By: sandbox.DemoOwner, Name: "canary-hook"})
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Type: discord.PublicThread, Name: "canary-thread", Parent: spare})
			for _, t := range []discord.ChannelType{discord.PublicThread, discord.PrivateThread} {
				d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Type: t, Name: "canary-archived", Parent: spare, Thread: &sandbox.Thread{Archived: true}})
			}
		},
		Change: func(d *sandbox.Discord) {
			d.AddInvite(sandbox.Invite{Channel: spare, Inviter: sandbox.DemoMember})
		},
	}
}

func withoutChannel(c discord.ChannelID) string {
	return `{"guildId":"1200000000000000001","channelId":"` + string(c) + `","acknowledgeIrreversible":true,"acknowledgeNoRecoveryArtifact":true,"auditReason":"canary-reason"}`
}

func TestChannelDeletion(t *testing.T) {
	t.Parallel()
	s := channelDeletion()
	blocked := func(reason string, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Before: world(before), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	other := func(name, reason string, c discord.ChannelID, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{
			Name: name, Args: withoutChannel(c), Policy: permits(s.Workflow, "channels", string(c)), Before: world(before),
			Code: mcpcore.CodePlanRefused, Reason: reason,
		}
	}
	nothing := func(*sandbox.Discord) {}
	missing := func(name string, p discord.Permissions) operationtest.Refusal {
		return operationtest.Refusal{Name: "a bot without " + name, Code: mcpcore.CodePermission, Before: weaker(p)}
	}
	s.Refusals = []operationtest.Refusal{
		other("a thread", "thread", sandbox.DemoThread, nothing),
		other("a channel of another guild", "other-guild", sandbox.DemoClubGeneral, nothing),
		other("a category with channels", "children", sandbox.DemoCommunity, nothing),
		other("the channel of the rules", "settings", sandbox.DemoRules, nothing),
		other("the channel of system messages", "settings", sandbox.DemoGeneral, nothing),
		other("the channel of an event", "events", spare, func(d *sandbox.Discord) {
			d.EditChannel(spare, func(c *sandbox.Channel) { c.Type = discord.GuildVoice })
			d.AddEvent(sandbox.DemoGuild, sandbox.Event{Name: "Talk", Channel: spare, Start: at.Add(time.Hour)})
		}),
		other("a live stage", "stage", spare, func(d *sandbox.Discord) {
			d.EditChannel(spare, func(c *sandbox.Channel) { c.Type = discord.GuildStageVoice })
			d.AddStage(sandbox.Stage{Channel: spare, Topic: "Now"})
		}),
		blocked("onboarding", func(d *sandbox.Discord) {
			d.SetOnboarding(sandbox.DemoGuild, sandbox.Onboarding{DefaultChannels: []discord.ChannelID{spare}})
		}),
		blocked("welcome-screen", func(d *sandbox.Discord) {
			d.SetWelcomeScreen(sandbox.DemoGuild, sandbox.WelcomeScreen{Channels: []sandbox.WelcomeChannel{{Channel: spare, Description: "Look"}}})
		}),
		blocked("automod", func(d *sandbox.Discord) {
			d.AddAutoModRule(sandbox.DemoGuild, sandbox.AutoModRule{Name: "Words", Keywords: []string{"x"}, Actions: []sandbox.AutoModAction{{Type: 2, Channel: spare}}})
		}),
		blocked("commands", func(d *sandbox.Discord) {
			id := d.AddCommand(sandbox.Command{Name: "look", Description: "Look"})
			d.SetCommandGrants(sandbox.DemoGuild, id, sandbox.CommandGrant{ID: discord.GranteeID(spare), Type: 3, Allow: true})
		}),
		{Name: "not acknowledged", Code: mcpcore.CodeValidation,
			Args: `{"guildId":"1200000000000000001","channelId":"1200000000000000398","acknowledgeIrreversible":true,"acknowledgeNoRecoveryArtifact":false}`},
		missing("MANAGE_GUILD", discord.ManageGuild), missing("MANAGE_CHANNELS", discord.ManageChannels),
		missing("MANAGE_WEBHOOKS", discord.ManageWebhooks), missing("MANAGE_THREADS", discord.ManageThreads),
		missing("READ_MESSAGE_HISTORY", discord.ReadMessageHistory),
	}
	s.run(t)
}

func TestDeletedChannelThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	s := channelDeletion()
	const list = "GET /guilds/{guild_id}/channels"
	s.answered(s.Route, `"type":0`, `"type":2`).ends(t, "another type", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.answered(s.Route, `"id":"1200000000000000398"`, `"id":"1200000000000000313"`).ends(t, "another channel", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.after(list, `"id":"1200000000000000313"`, `"id":"1200000000000000398"`).ends(t, "still there", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.after(list, `"position":7`, `"position":70`).ends(t, "another that moved", "", "completed-with-drift", mcpcore.StatusCompleted)
}

// What falls with a channel does not stand in its way, and is told and bound.
func TestDeletedChannelTellsWhatIsLost(t *testing.T) {
	t.Parallel()
	s := channelDeletion()
	before := s.Before
	s.Before = func(d *sandbox.Discord) {
		before(d)
		d.AddInvite(sandbox.Invite{Channel: spare})
		for i := range 101 {
			thread := &sandbox.Thread{Archived: true, ArchivedAt: at.Add(-time.Duration(i+1) * time.Hour)}
			d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Type: discord.PublicThread, Name: "x", Parent: spare, Thread: thread})
		}
	}
	plan := s.plans(t)
	holds, _ := plan["state"].(map[string]any)["holds"].(map[string]any)
	if fmt.Sprint(holds["activeThreads"], holds["archivedThreads"], len(holds["webhooks"].([]any)), holds["invites"]) != "1 103 1 1" {
		t.Errorf("it tells %v", holds)
	}
}
