package workflows_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// Messages that are recent whenever the tests run, one that is old, and some
// that are added where a row needs them.
const (
	recentOne discord.MessageID = "4400000000000000001"
	recentTwo discord.MessageID = "4400000000000000002"
	oldOne    discord.MessageID = "1200000000000000599"
	someOne   discord.MessageID = "1400000000000000001"
)

func deletion() scene {
	args := func(ids ...discord.MessageID) string {
		return fmt.Sprintf(`{"channelId":"%s","messageIds":%s,"acknowledgeIrreversible":true,"auditReason":"canary-reason"}`, sandbox.DemoGeneral, quoted(ids...))
	}
	// of is a refusal of deleting one message as it is described.
	of := func(name string, m sandbox.Message, code mcpcore.Code, reason string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: args(someOne), Code: code, Reason: reason, Before: world(func(d *sandbox.Discord) {
			m.ID = someOne
			d.AddMessage(sandbox.DemoGeneral, m)
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ViewChannel)
		})}
	}
	var many []discord.MessageID
	for i := range 101 {
		many = append(many, discord.MessageID(fmt.Sprint(1300000000000000000+i)))
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "message-deletion", Plan: "plan_message_deletion", Execute: "delete_messages",
			Args: args(recentTwo, oldOne, recentOne),
			Sends: []string{
				fmt.Sprintf(`POST /channels/%s/messages/bulk-delete {"messages":["%s","%s"]}`, sandbox.DemoGeneral, recentOne, recentTwo),
				fmt.Sprintf(`DELETE /channels/%s/messages/%s`, sandbox.DemoGeneral, oldOne),
			},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Resource: string(sandbox.DemoGeneral), Secrets: []string{"canary", "general", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "not acknowledged", Code: mcpcore.CodeValidation,
					Args: fmt.Sprintf(`{"channelId":"%s","messageIds":["%s"],"acknowledgeIrreversible":false}`, sandbox.DemoGeneral, oldOne)},
				{Name: "more than a hundred", Code: mcpcore.CodeValidation, Args: args(many...)},
				{Name: "a message twice", Code: mcpcore.CodeValidation, Args: args(oldOne, oldOne)},
				{Name: "a bot that cannot read the history", Code: mcpcore.CodePermission, Before: without(discord.ReadMessageHistory)},
				{Name: "a bot that may not delete others'", Args: args(oldOne), Code: mcpcore.CodePermission, Before: allow(discord.ViewChannel)},
				{Name: "own messages together without MANAGE_MESSAGES", Code: mcpcore.CodePermission,
					Args: args("4500000000000000001", "4500000000000000002"), Before: world(func(d *sandbox.Discord) {
						d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: "4500000000000000001", Content: "x"})
						d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: "4500000000000000002", Content: "x"})
						d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ViewChannel)
					})},
				of("AutoMod's message without MANAGE_MESSAGES", sandbox.Message{Type: 24, Content: "x"}, mcpcore.CodePermission, ""),
				of("a webhook's message without MANAGE_MESSAGES", sandbox.Message{Webhook: "1200000000000000701", Content: "x"}, mcpcore.CodePermission, ""),
				of("a message of Discord's own", sandbox.Message{Type: 3}, mcpcore.CodePlanRefused, "system-message"),
			},
		},
		Route: "POST /channels/{channel_id}/messages/bulk-delete", ReadBack: "GET /channels/{channel_id}/messages", Skip: 4,
		Before: func(d *sandbox.Discord) {
			for _, id := range []discord.MessageID{oldOne, recentOne, recentTwo} {
				d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: id, Author: sandbox.DemoMember, Content: "canary-text"})
			}
		},
		Change: func(d *sandbox.Discord) {
			d.ChangeMessage(sandbox.DemoGeneral, oldOne, func(m *sandbox.Message) { m.Content = "canary-edited" })
		},
		Settle: func(d *sandbox.Discord) { d.RemoveMessages(sandbox.DemoGeneral, oldOne, recentOne, recentTwo) },
	}
}

func TestMessageDeletion(t *testing.T) {
	t.Parallel()
	deletion().run(t)
}

// The bot's own message needs no permission but to be seen.
func TestOwnMessageIsDeleted(t *testing.T) {
	t.Parallel()
	s := deletion()
	s.Before = func(d *sandbox.Discord) {
		d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: oldOne, Content: "mine"})
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.ViewChannel)
	}
	if e, _ := s.once(t); e.Status != "completed" || e.Writes != 1 {
		t.Errorf("it answers %+v", e)
	}
}

// What is refused after others were deleted is told as not done; what somebody
// else deleted meanwhile is done.
func TestMessagesDeletedInPart(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		fault  sandbox.Fault
		faster bool // somebody else
		status string
		failed []string
	}{
		"refused":       {fault: sandbox.Fault{Status: 403}, status: "partial", failed: []string{string(oldOne)}},
		"a lost answer": {fault: sandbox.Fault{Reset: true, AfterExecution: true}, status: "outcome-uncertain"},
		"gone already":  {faster: true, status: "completed"},
	} {
		var d *sandbox.Discord
		s := deletion()
		before := s.Before
		s.Before = func(made *sandbox.Discord) {
			d = made
			before(d)
			if row.fault.Method, row.fault.Route = "DELETE", "/channels/{channel_id}/messages/{message_id}"; !row.faster {
				d.Inject(row.fault)
			}
		}
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return meanwhile{rest, func(r discordtools.Request) {
				if r.Method == "DELETE" && row.faster {
					d.RemoveMessages(sandbox.DemoGeneral, oldOne)
				}
			}}
		}
		if e, _ := s.once(t); e.Status != row.status || !slices.Equal(e.Failed, row.failed) || e.Writes != 2 {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
}
