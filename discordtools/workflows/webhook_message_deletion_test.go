package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const hookToken = "canary-token-0123456789"

// byHook is arguments for a message of the webhook of general.
func byHook(token, more string) string {
	return in(sandbox.DemoGeneral, fmt.Sprintf(`"webhookId":"%s","token":"%s","messageId":"%s","acknowledgeIrreversible":true%s`, someHook, token, someOne, more))
}

func retracting() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "webhook-message-deletion", Plan: "plan_webhook_message_deletion", Execute: "execute_webhook_message_deletion",
			Args:     byHook(hookToken, `,"localReason":"canary-reason"`),
			Sends:    []string{"DELETE /webhooks/" + string(someHook) + "/" + hookToken + "/messages/" + string(someOne)},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Resource: string(someOne), Secrets: []string{"canary", "Lighthouse", "general"},
		},
		Route: "DELETE /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}", ReadBack: "GET /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}", Skip: 4,
		Before: func(d *sandbox.Discord) {
			d.AddWebhook(sandbox.Webhook{ID: someHook, Channel: sandbox.DemoGeneral, Name: "canary-hook", By: sandbox.DemoAdmin, Token: hookToken})
			hookSaid(sandbox.DemoGeneral)(d)
		},
		Change: func(d *sandbox.Discord) {
			d.EditMessage(sandbox.DemoGeneral, someOne, func(m *sandbox.Message) { m.Embeds = []sandbox.Embed{{Title: "x"}} })
		},
	}
}

func hookSaid(c discord.ChannelID) func(d *sandbox.Discord) {
	return posted(c, sandbox.Message{ID: someOne, Author: discord.UserID(someHook), Webhook: someHook, AuthorName: "x", Content: "canary-content"})
}

func TestWebhookMessageDeletion(t *testing.T) {
	t.Parallel()
	s := retracting()
	plan := func(name, reason, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Args: byHook(hookToken, more)}
	}
	elsewhere := func(name string, c discord.ChannelID, reason string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Policy: permits(s.Workflow, "channels", string(c)),
			Args: strings.Replace(s.Args, string(sandbox.DemoGeneral), string(c), 1)}
	}
	s.Refusals = []operationtest.Refusal{
		elsewhere("another channel than the webhook's", sandbox.DemoShowcase, "webhook-missing"), elsewhere("a thread", sandbox.DemoThread, "channel-type"),
		plan("a thread of another channel", "thread-missing", `,"threadId":"`+string(sandbox.DemoPost)+`"`),
		plan("a channel as the thread", "thread-missing", `,"threadId":"`+string(sandbox.DemoShowcase)+`"`),
		{Name: "another token", Code: mcpcore.CodeAuthInvalid, Args: byHook("canary-else", "")},
		{Name: "no token", Code: mcpcore.CodeValidation, Args: byHook("", "")},
		{Name: "a token with a path", Code: mcpcore.CodeValidation, Args: byHook("../x", "")},
		{Name: "not acknowledged", Code: mcpcore.CodeValidation, Args: strings.Replace(s.Args, "true", "false", 1)},
		{Name: "no such message", Code: mcpcore.CodeNotFound, Args: strings.Replace(s.Args, string(someOne), "1200000000000000599", 1)},
		{Name: "another's message", Code: mcpcore.CodeNotFound, Args: strings.Replace(s.Args, string(someOne), string(sandbox.DemoPoll), 1)},
		{Name: "a message of another thread", Code: mcpcore.CodeNotFound, Args: byHook(hookToken, `,"threadId":"`+string(sandbox.DemoThread)+`"`)},
		{Name: "a channel that cannot be seen", Code: mcpcore.CodePermission, Before: without(discord.ViewChannel)},
	}
	s.run(t)
}

func TestWebhookMessageInThreadIsDeleted(t *testing.T) {
	t.Parallel()
	s := retracting()
	before := s.Before
	s.Before = func(d *sandbox.Discord) {
		before(d)
		d.AddMessage(sandbox.DemoThread, sandbox.Message{ID: "1200000000000000597", Author: discord.UserID(someHook), Webhook: someHook, Content: "x"})
	}
	args := strings.Replace(byHook(hookToken, `,"threadId":"`+string(sandbox.DemoThread)+`"`), string(someOne), "1200000000000000597", 1)
	s.writes(t, args, "DELETE /webhooks/"+string(someHook)+"/"+hookToken+"/messages/1200000000000000597")
}

// The token is in no plan, answer or receipt, and the request goes without the
// bot's own credentials.
func TestWebhookTokenStaysUntold(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s := retracting().observed(func(made *sandbox.Discord) { d = made })
	c := s.client(t)
	c.call(s.Plan, strings.TrimSuffix(s.Args, "}")+`,"operationKey":"`+secondKey+`"}`)
	told := c.raw
	c.want(s.Execute, s.Args, "completed")
	told += c.raw
	c.call("list_activity", `{}`)
	told += c.raw
	for _, args := range []string{byHook("canary-else", ""), s.Args} {
		c.keyed(s.Plan, args)
		told += c.raw
	}
	if strings.Contains(told, hookToken) || strings.Contains(told, "canary-else") {
		t.Errorf("the token is told: %s", told)
	}
	for _, r := range d.Requests() {
		if strings.Contains(r.Path, hookToken) && r.Header.Get("Authorization") != "" {
			t.Errorf("%s %s bears the bot's credentials", r.Method, r.Path)
		}
	}
}

// The person who decides is not shown the token either.
func TestWebhookTokenIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	var question string
	s := retracting()
	server, err := s.world(t).Serve(operationtest.Setup{
		Permits:    mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{s.Workflow: s.Permit}},
		Operations: durable{ledger.NewOperations(nil)}, Ledger: ledger.NewMemory(nil), Approver: mcpcore.AtClient{}, StateKey: secret, Armed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			question = r.Params.Message
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	}).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	args := strings.TrimSuffix(s.Args, "}") + `,"operationKey":"` + firstKey + `"}`
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: s.Execute, Arguments: json.RawMessage(args)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(question, string(someOne)) || strings.Contains(question, hookToken) {
		t.Errorf("the question is\n%s", question)
	}
}

// A message is proven gone while its webhook is there and where it was.
func TestWebhookMessageThatIsNotProvenGone(t *testing.T) {
	t.Parallel()
	s := retracting()
	for name, f := range map[string]func(d *sandbox.Discord){
		"still there":       hookSaid(sandbox.DemoGeneral),
		"its webhook moved": func(d *sandbox.Discord) { d.MoveWebhook(someHook, sandbox.DemoShowcase) },
		"its token is another": func(d *sandbox.Discord) {
			d.ChangeWebhook(someHook, func(h *sandbox.Webhook) { h.Token = "else" })
		},
	} {
		s.afterWrite(f).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
}
