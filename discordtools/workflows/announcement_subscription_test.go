package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func follow(source, target discord.ChannelID) string {
	return fmt.Sprintf(`{"action":"subscribe","sourceChannelId":"%s","targetChannelId":"%s","auditReason":"canary-reason"}`, source, target)
}

func unfollow(id discord.WebhookID) string {
	return fmt.Sprintf(`{"action":"unsubscribe","targetChannelId":"%s","webhookId":"%s","auditReason":"canary-reason"}`, sandbox.DemoGeneral, id)
}

// follows has general follow a channel.
func follows(source discord.ChannelID) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddWebhook(sandbox.Webhook{ID: "1200000000000000712", Type: 2, Channel: sandbox.DemoGeneral, Source: source, Name: "canary-news", By: sandbox.DemoAdmin})
	}
}

func subscribing() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "announcement-subscription", Plan: "plan_announcement_subscription", Execute: "execute_announcement_subscription",
			Args:  follow(sandbox.DemoAnnouncements, sandbox.DemoGeneral),
			Sends: []string{`POST /channels/1200000000000000312/followers {"webhook_channel_id":"1200000000000000313"}`},
			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{
				"sources": {string(sandbox.DemoAnnouncements)}, "targets": {string(sandbox.DemoGeneral)},
			}},
			Secrets: []string{"canary", "Lighthouse", "announcements"},
		},
		Route: "POST /channels/{channel_id}/followers", ReadBack: "GET /channels/{channel_id}/webhooks", Skip: 4,
		Change: anotherHook, Settle: follows(sandbox.DemoAnnouncements),
	}
}

func unsubscribing() scene {
	s := subscribing()
	s.Args, s.Sends, s.Resource = unfollow("1200000000000000712"), []string{"DELETE /webhooks/1200000000000000712"}, "1200000000000000712"
	s.Permit.Scopes = map[string][]string{"targets": {string(sandbox.DemoGeneral)}}
	s.Route, s.Before, s.Settle = "DELETE /webhooks/{webhook_id}", follows(sandbox.DemoAnnouncements), nil
	return s
}

func TestAnnouncementSubscription(t *testing.T) {
	t.Parallel()
	s := subscribing()
	between := func(name string, source, target discord.ChannelID, code mcpcore.Code, reason string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: follow(source, target), Code: code, Reason: reason, Policy: func(p *mcpcore.WorkflowPolicy) {
			p.Permits[s.Workflow] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"sources": {string(source)}, "targets": {string(target)}}}
		}}
	}
	unseen := blocked("source-unknown", func(d *sandbox.Discord) {
		d.AddWebhook(sandbox.Webhook{Type: 2, Channel: sandbox.DemoGeneral, Name: "x"})
	})
	twice := blocked("ambiguous", func(d *sandbox.Discord) {
		follows(sandbox.DemoAnnouncements)(d)
		d.AddWebhook(sandbox.Webhook{Type: 2, Channel: sandbox.DemoGeneral, Source: sandbox.DemoAnnouncements, Name: "again"})
	})
	s.Refusals = []operationtest.Refusal{
		between("a text channel as the source", sandbox.DemoShowcase, sandbox.DemoGeneral, mcpcore.CodePlanRefused, "source-type"),
		between("an announcement channel as the target", sandbox.DemoAnnouncements, sandbox.DemoAnnouncements, mcpcore.CodePlanRefused, "target-type"),
		between("a thread as the target", sandbox.DemoAnnouncements, sandbox.DemoThread, mcpcore.CodePlanRefused, "channel-type"),
		between("another guild without the permission", sandbox.DemoAnnouncements, sandbox.DemoClubGeneral, mcpcore.CodePermission, ""),
		{Name: "a source that the policy does not name", Code: mcpcore.CodeWorkflowScope, Args: follow(sandbox.DemoShowcase, sandbox.DemoGeneral)},
		{Name: "a target that the policy does not name", Code: mcpcore.CodeWorkflowScope, Args: follow(sandbox.DemoAnnouncements, sandbox.DemoShowcase)},
		{Name: "a source that cannot be seen", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoAnnouncements, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: discord.ViewChannel})
		})},
		{Name: "a target that cannot be seen", Code: mcpcore.CodePermission, Before: without(discord.ViewChannel)},
		{Name: "webhooks that may not be managed", Code: mcpcore.CodePermission, Before: without(discord.ManageWebhooks)},
		{Name: "full", Code: mcpcore.CodePlanRefused, Reason: "full", Before: manyHooks(sandbox.DemoGeneral)},
		unseen, twice,
		{Name: "no source", Code: mcpcore.CodeValidation, Args: fmt.Sprintf(`{"action":"subscribe","targetChannelId":"%s"}`, sandbox.DemoGeneral)},
		{Name: "no webhook", Code: mcpcore.CodeValidation, Args: fmt.Sprintf(`{"action":"unsubscribe","targetChannelId":"%s"}`, sandbox.DemoGeneral)},
	}
	s.run(t)
}

func TestAnnouncementUnsubscription(t *testing.T) {
	t.Parallel()
	s := unsubscribing()
	s.Refusals = []operationtest.Refusal{
		{Name: "a webhook that is not there", Code: mcpcore.CodePlanRefused, Reason: "webhook-missing", Args: unfollow("1200000000000000799")},
		{Name: "a webhook that follows nothing", Code: mcpcore.CodePlanRefused, Reason: "not-follower", Args: unfollow(someHook), Before: world(addHook)},
	}
	s.run(t)
}

// A channel of another guild is followed where the policy names both.
func TestSubscriptionBetweenGuilds(t *testing.T) {
	t.Parallel()
	s := subscribing()
	s.Permit.Scopes = map[string][]string{"sources": {string(sandbox.DemoAnnouncements)}, "targets": {string(sandbox.DemoClubGeneral)}}
	s.Before = func(d *sandbox.Discord) {
		d.SetOverwrite(sandbox.DemoClubGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.BotID), Type: 1, Allow: discord.ManageWebhooks})
	}
	s.writes(t, follow(sandbox.DemoAnnouncements, sandbox.DemoClubGeneral), `POST /channels/1200000000000000312/followers {"webhook_channel_id":"`+string(sandbox.DemoClubGeneral)+`"}`)
}

func TestSubscriptionThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := subscribing()
	for name, row := range map[string][3]string{
		"another source":           {s.Route, `"channel_id":"1200000000000000312"`, `"channel_id":"1200000000000000314"`},
		"no webhook":               {s.Route, `"webhook_id":"14`, `"webhook_id":"x`},
		"another source read back": {s.ReadBack, `"id":"1200000000000000312"`, `"id":"1200000000000000314"`},
		"another type":             {s.ReadBack, `"type":2`, `"type":1`},
	} {
		s.after(row[0], row[1], row[2]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	s.afterWrite(anotherHook).drifts(t, "webhooks")
	unsubscribing().afterWrite(anotherHook).drifts(t, "webhooks")
	unsubscribing().afterWrite(follows(sandbox.DemoAnnouncements)).ends(t, "still there", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
}
