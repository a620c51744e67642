package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const someHook discord.WebhookID = "1200000000000000711"

// in is arguments for a channel.
func in(channel discord.ChannelID, more string) string {
	return fmt.Sprintf(`{"channelId":"%s",%s}`, channel, more)
}

func addHook(d *sandbox.Discord) {
	d.AddWebhook(sandbox.Webhook{ID: someHook, Channel: sandbox.DemoGeneral, Name: "canary-hook", By: sandbox.DemoAdmin})
}

func anotherHook(d *sandbox.Discord) {
	d.AddWebhook(sandbox.Webhook{Channel: sandbox.DemoGeneral, Name: "another", By: sandbox.DemoAdmin})
}

func manyHooks(in discord.ChannelID) func(*operationtest.World) {
	return world(func(d *sandbox.Discord) {
		for i := range 15 {
			d.AddWebhook(sandbox.Webhook{Channel: in, Name: fmt.Sprint("hook ", i), By: sandbox.DemoAdmin})
		}
	})
}

// channelsOf lets a workflow act on channels.
func channelsOf(workflow string, ids ...discord.ChannelID) func(*mcpcore.WorkflowPolicy) {
	return func(p *mcpcore.WorkflowPolicy) {
		var all []string
		for _, id := range ids {
			all = append(all, string(id))
		}
		p.Permits[workflow] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": all}}
	}
}

// hookRefusals are those of every change of webhooks in general. more are the
// arguments beside the channel.
func hookRefusals(workflow, more string) []operationtest.Refusal {
	elsewhere := func(name string, to discord.ChannelID, code mcpcore.Code, reason string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: in(to, more), Policy: channelsOf(workflow, to), Code: code, Reason: reason}
	}
	return []operationtest.Refusal{
		{Name: "a channel that cannot be seen", Code: mcpcore.CodePermission, Before: without(discord.ViewChannel)},
		{Name: "webhooks that may not be managed", Code: mcpcore.CodePermission, Before: without(discord.ManageWebhooks)},
		elsewhere("a category", sandbox.DemoInfo, mcpcore.CodePlanRefused, "channel-type"),
		elsewhere("a thread", sandbox.DemoThread, mcpcore.CodePlanRefused, "channel-type"),
	}
}

func hooking() scene {
	const name = `"name":"canary-name","auditReason":"canary-reason"`
	return scene{
		Subject: operationtest.Subject{
			Workflow: "webhook-creation", Plan: "plan_webhook_creation", Execute: "execute_webhook_creation",
			Args:   in(sandbox.DemoGeneral, name),
			Sends:  []string{`POST /channels/1200000000000000313/webhooks {"name":"canary-name"}`},
			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}}, Secrets: []string{"canary", "Lighthouse"},
			Refusals: append(hookRefusals("webhook-creation", name),
				operationtest.Refusal{Name: "a full channel", Code: mcpcore.CodePlanRefused, Reason: "channel-full", Before: manyHooks(sandbox.DemoGeneral)},
				operationtest.Refusal{Name: "a name of Discord's", Args: in(sandbox.DemoGeneral, `"name":"My DISCORD hook"`), Code: mcpcore.CodeValidation},
				operationtest.Refusal{Name: "another name of Discord's", Args: in(sandbox.DemoGeneral, `"name":"Clyde"`), Code: mcpcore.CodeValidation},
				operationtest.Refusal{Name: "no name", Args: in(sandbox.DemoGeneral, `"name":" "`), Code: mcpcore.CodeValidation},
			),
		},
		Route: "POST /channels/{channel_id}/webhooks", ReadBack: "GET /channels/{channel_id}/webhooks", Skip: 4,
		Change: anotherHook,
	}
}

func TestWebhookCreation(t *testing.T) {
	t.Parallel()
	hooking().run(t)
}

// The token is in no answer: not in the plan, not in the end, not in the receipt.
func TestWebhookTokenIsNotTold(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s := hooking()
	s.Before = func(made *sandbox.Discord) { d = made }
	c := s.client(t)
	c.want(s.Execute, s.Args, "completed")
	told := c.raw
	c.call("list_activity", `{}`)
	told += c.raw
	c.call(s.Plan, strings.TrimSuffix(s.Args, "}")+`,"operationKey":"`+secondKey+`"}`)
	told += c.raw
	made := d.Webhooks(sandbox.DemoGuild)
	for _, h := range made {
		if h.Token == "" || strings.Contains(told, h.Token) {
			t.Errorf("of %+v the token is told: %s", h, told)
		}
	}
	if !slices.ContainsFunc(made, func(h sandbox.Webhook) bool { return h.Name == "canary-name" && strings.Contains(told, string(h.ID)) }) {
		t.Errorf("the id of none of %v is told: %s", made, told)
	}
}

func movingWebhook() scene {
	more := `"webhookId":"` + string(someHook) + `","name":"canary-new","destinationChannelId":"` + string(sandbox.DemoShowcase) + `","auditReason":"canary-reason"`
	to := func(name string, to discord.ChannelID, code mcpcore.Code, reason string, before func(*operationtest.World)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: in(sandbox.DemoGeneral, `"webhookId":"`+string(someHook)+`","destinationChannelId":"`+string(to)+`"`),
			Policy: channelsOf("webhook-change", sandbox.DemoGeneral, to), Code: code, Reason: reason, Before: before}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "webhook-change", Plan: "plan_webhook_change", Execute: "execute_webhook_change",
			Args:     in(sandbox.DemoGeneral, more),
			Sends:    []string{`PATCH /webhooks/1200000000000000711 {"name":"canary-new","channel_id":"1200000000000000314"}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral), string(sandbox.DemoShowcase)}}},
			Resource: string(someHook), Secrets: []string{"canary", "Lighthouse"},
			Refusals: append(hookRefusals("webhook-change", more),
				operationtest.Refusal{Name: "nothing to change", Args: in(sandbox.DemoGeneral, `"webhookId":"`+string(someHook)+`"`), Code: mcpcore.CodeValidation},
				operationtest.Refusal{Name: "a webhook of another channel", Code: mcpcore.CodePlanRefused, Reason: "webhook-missing",
					Before: world(func(d *sandbox.Discord) { d.MoveWebhook(someHook, sandbox.DemoRules) })},
				operationtest.Refusal{Name: "a webhook that follows", Args: in(sandbox.DemoGeneral, `"webhookId":"1200000000000000712","name":"x"`), Code: mcpcore.CodePlanRefused, Reason: "not-incoming",
					Before: world(func(d *sandbox.Discord) {
						d.AddWebhook(sandbox.Webhook{ID: "1200000000000000712", Type: 2, Channel: sandbox.DemoGeneral, Source: sandbox.DemoAnnouncements})
					})},
				operationtest.Refusal{Name: "a destination that the policy does not name", Policy: channelsOf("webhook-change", sandbox.DemoGeneral), Code: mcpcore.CodeWorkflowScope},
				operationtest.Refusal{Name: "a full destination", Code: mcpcore.CodePlanRefused, Reason: "channel-full", Before: manyHooks(sandbox.DemoShowcase)},
				to("a destination without the permission", sandbox.DemoShowcase, mcpcore.CodePermission, "", world(func(d *sandbox.Discord) {
					d.SetOverwrite(sandbox.DemoShowcase, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: discord.ManageWebhooks})
				})),
				to("a category as destination", sandbox.DemoInfo, mcpcore.CodePlanRefused, "channel-type", nil),
				to("another guild", sandbox.DemoClubGeneral, mcpcore.CodePlanRefused, "other-guild", world(func(d *sandbox.Discord) {
					d.SetOverwrite(sandbox.DemoClubGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.BotID), Type: 1, Allow: discord.ManageWebhooks})
				})),
			),
		},
		Route: "PATCH /webhooks/{webhook_id}", ReadBack: "GET /channels/{channel_id}/webhooks", Skip: 8,
		Before: addHook, Change: anotherHook,
		Settle: func(d *sandbox.Discord) {
			d.ChangeWebhook(someHook, func(h *sandbox.Webhook) { h.Name = "canary-new" })
		},
	}
}

func TestWebhookChange(t *testing.T) {
	t.Parallel()
	s := movingWebhook()
	s.Settle = nil // a webhook that moved is not in its source any more
	s.run(t)
}

func TestWebhookRename(t *testing.T) {
	t.Parallel()
	s := movingWebhook()
	s.Args = in(sandbox.DemoGeneral, `"webhookId":"`+string(someHook)+`","name":"canary-new","destinationChannelId":"`+string(sandbox.DemoGeneral)+`"`)
	s.Sends, s.Refusals, s.Skip = []string{`PATCH /webhooks/1200000000000000711 {"name":"canary-new"}`}, nil, 4
	s.run(t)
}

func TestWebhookDeletion(t *testing.T) {
	t.Parallel()
	more := func(id discord.WebhookID) string {
		return `"webhookId":"` + string(id) + `","acknowledgeIrreversible":true,"auditReason":"canary-reason"`
	}
	s := scene{
		Subject: operationtest.Subject{
			Workflow: "webhook-deletion", Plan: "plan_webhook_deletion", Execute: "execute_webhook_deletion",
			Args: in(sandbox.DemoGeneral, more(someHook)), Sends: []string{`DELETE /webhooks/1200000000000000711`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Resource: string(someHook), Secrets: []string{"canary", "Lighthouse"},
			Refusals: append(hookRefusals("webhook-deletion", more(someHook)),
				operationtest.Refusal{Name: "not acknowledged", Args: in(sandbox.DemoGeneral, `"webhookId":"`+string(someHook)+`","acknowledgeIrreversible":false`), Code: mcpcore.CodeValidation},
				operationtest.Refusal{Name: "a webhook of another channel", Code: mcpcore.CodePlanRefused, Reason: "webhook-missing",
					Before: world(func(d *sandbox.Discord) { d.MoveWebhook(someHook, sandbox.DemoRules) })},
				operationtest.Refusal{Name: "a webhook of an application", Args: in(sandbox.DemoGeneral, more("1200000000000000712")), Code: mcpcore.CodePlanRefused, Reason: "not-incoming",
					Before: world(func(d *sandbox.Discord) {
						d.AddWebhook(sandbox.Webhook{ID: "1200000000000000712", Type: 3, Channel: sandbox.DemoGeneral})
					})},
			),
		},
		Route: "DELETE /webhooks/{webhook_id}", ReadBack: "GET /channels/{channel_id}/webhooks", Skip: 4,
		Before: addHook, Change: anotherHook,
	}
	s.run(t)
}

// What happens between the write and its read-back is told, and what proves that
// the write is not there leaves the outcome open.
func TestWebhooksThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		scene  scene
		before func(d *sandbox.Discord)
		nth    int // of the readings of webhooks
		do     func(d *sandbox.Discord)
		status string
		drift  string
	}{
		"another is made after a creation": {hooking(), nil, 5, anotherHook, "completed-with-drift", "[webhooks]"},
		"another is made after a move":     {movingWebhook(), addHook, 10, anotherHook, "completed-with-drift", "[sourceWebhooks]"},
		"it is moved on": {movingWebhook(), addHook, 9, func(d *sandbox.Discord) { d.MoveWebhook(someHook, sandbox.DemoRules) },
			"outcome-uncertain", "[]"},
	} {
		var d *sandbox.Discord
		seen := 0
		row.scene.Before = func(made *sandbox.Discord) {
			if d = made; row.before != nil {
				row.before(d)
			}
		}
		row.scene.REST = func(rest discordtools.REST) discordtools.REST {
			return meanwhile{rest, func(r discordtools.Request) {
				if r.Method == "GET" && r.Route == "/channels/{channel_id}/webhooks" {
					if seen++; seen == row.nth {
						row.do(d)
					}
				}
			}}
		}
		if e, _ := row.scene.once(t); e.Status != row.status || fmt.Sprint(e.Drift) != row.drift {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
}
