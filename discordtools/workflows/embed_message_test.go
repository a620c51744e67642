package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const (
	embedsJSON  = `"content":"canary-hello <@1200000000000000104>","embeds":[{"title":" canary-title ","color":5,"fields":[{"name":"canary-name","value":"canary-value"}],"footer":{"text":"canary-foot"}}]`
	embedsSent  = `"content":"canary-hello <@1200000000000000104>","embeds":[{"title":"canary-title","color":5,"footer":{"text":"canary-foot"},"fields":[{"name":"canary-name","value":"canary-value"}]}]`
	notifiesOne = `"allowed_mentions":{"parse":[],"users":["1200000000000000104"],"replied_user":false}`
)

func embedding() scene {
	refusals := append(postRefusals("embed-message", embedsJSON),
		operationtest.Refusal{Name: "embeds that may not be sent", Code: mcpcore.CodePermission, Before: without(discord.EmbedLinks)},
		operationtest.Refusal{Name: "an address in the text", Code: mcpcore.CodeValidation, Args: posting("create", `"content":"see HTTPS://a.example","embeds":[{"title":"x"}]`)},
		operationtest.Refusal{Name: "an embed with an address", Code: mcpcore.CodeValidation, Args: posting("create", `"embeds":[{"title":"x","url":"https://a.example"}]`)},
		operationtest.Refusal{Name: "an embed with a picture", Code: mcpcore.CodeValidation, Args: posting("create", `"embeds":[{"title":"x","image":{"url":"https://a.example/a.png"}}]`)},
		operationtest.Refusal{Name: "an empty embed", Code: mcpcore.CodeValidation, Args: posting("create", `"embeds":[{"title":"x"},{"color":5}]`)},
		operationtest.Refusal{Name: "no embed", Code: mcpcore.CodeValidation, Args: posting("create", `"embeds":[]`)},
		operationtest.Refusal{Name: "eleven embeds", Code: mcpcore.CodeValidation, Args: posting("create", `"embeds":[`+strings.Repeat(`{"title":"x"},`, 10)+`{"title":"x"}]`)},
		operationtest.Refusal{Name: "more than 6000 characters", Code: mcpcore.CodeValidation,
			Args: posting("create", fmt.Sprintf(`"embeds":[{"description":"%s"},{"description":"%s"}]`, strings.Repeat("x", 3000), strings.Repeat("y", 3001)))},
		operationtest.Refusal{Name: "a message of components", Args: posting("edit", `"messageId":"`+string(someOne)+`",`+embedsJSON), Code: mcpcore.CodePlanRefused,
			Reason: "components-v2", Before: world(func(d *sandbox.Discord) {
				d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: someOne, Flags: 1 << 15, Components: []sandbox.Component{{Type: 10, Content: "x"}}})
			})},
	)
	return scene{
		Subject: operationtest.Subject{
			Workflow: "embed-message", Plan: "plan_embed_message", Execute: "execute_embed_message", Verify: "verify_embed_message",
			Args:   posting("create", `"mentionUserIds":["1200000000000000104"],`+embedsJSON),
			Sends:  []string{`POST /channels/1200000000000000313/messages {` + embedsSent + `,` + notifiesOne + `}`},
			Permit: postPermit, Secrets: []string{"canary", "Lighthouse", "general"}, Refusals: refusals,
		},
		Route: "POST /channels/{channel_id}/messages", ReadBack: "GET /channels/{channel_id}/messages/{message_id}",
		Change: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) },
	}
}

func embedEditing() scene {
	s := embedding()
	s.Args = posting("edit", `"messageId":"`+string(someOne)+`",`+embedsJSON)
	s.Sends = []string{`PATCH /channels/1200000000000000313/messages/` + string(someOne) + ` {` + embedsSent +
		`,"allowed_mentions":{"parse":[],"users":[],"replied_user":false},"attachments":[],"components":[],"flags":0}`}
	s.Permit = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}}
	s.Refusals = nil
	s.Route, s.Skip, s.Resource = "PATCH /channels/{channel_id}/messages/{message_id}", 4, string(someOne)
	s.Before = func(d *sandbox.Discord) {
		d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: someOne, Content: "before", Attachments: []sandbox.Attachment{{Name: "a.txt"}}})
	}
	s.Change = func(d *sandbox.Discord) {
		d.ChangeMessage(sandbox.DemoGeneral, someOne, func(m *sandbox.Message) { m.Content = "otherwise" })
	}
	s.Settle = func(d *sandbox.Discord) {
		color := 5
		d.ChangeMessage(sandbox.DemoGeneral, someOne, func(m *sandbox.Message) {
			m.Content, m.Attachments = "canary-hello <@1200000000000000104>", nil
			m.Embeds = []sandbox.Embed{{Title: "canary-title", Color: &color, Fields: []sandbox.EmbedField{{Name: "canary-name", Value: "canary-value"}},
				Footer: &sandbox.EmbedFooter{Text: "canary-foot"}}}
		})
	}
	return s
}

func TestEmbedMessage(t *testing.T) {
	t.Parallel()
	embedding().run(t)
}

func TestEmbedMessageEdit(t *testing.T) {
	t.Parallel()
	embedEditing().run(t)
}

// What somebody changes between the write and its read-back is told.
func TestEmbedMessageDrifts(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*sandbox.Message)
		drift  string
	}{
		"text":     {func(m *sandbox.Message) { m.Content = "x" }, "[content]"},
		"embeds":   {func(m *sandbox.Message) { m.Embeds[0].URL = "https://a.example" }, "[embeds]"},
		"mentions": {func(m *sandbox.Message) { m.Mentions.Everyone = true }, "[mentions]"},
	} {
		var d *sandbox.Discord
		s, reads := embedEditing(), 0
		before := s.Before
		s.Before = func(made *sandbox.Discord) { d = made; before(d) }
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return meanwhile{rest, func(r discordtools.Request) {
				if r.Method == "GET" && r.Route == "/channels/{channel_id}/messages/{message_id}" {
					if reads++; reads == 5 {
						d.ChangeMessage(sandbox.DemoGeneral, someOne, row.change)
					}
				}
			}}
		}
		if e, _ := s.once(t); e.Status != "completed-with-drift" || fmt.Sprint(e.Drift) != row.drift {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
}
