package workflows_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const (
	layoutJSON = `"components":[{"type":17,"accent_color":5,"components":[{"type":10,"content":"canary-text <@1200000000000000104>"},{"type":14},` +
		`{"type":1,"components":[{"type":2,"style":5,"label":"canary-label","url":"https://Lighthouse.example/canary"}]}]}]`
	layoutSent = `"flags":32768,"components":[{"type":17,"accent_color":5,"components":[{"type":10,"content":"canary-text <@1200000000000000104>"},{"type":14,"divider":true,"spacing":1},` +
		`{"type":1,"components":[{"type":2,"style":5,"label":"canary-label","url":"https://Lighthouse.example/canary"}]}]}]`
)

func layingOut() scene {
	permit := mcpcore.Permit{Enabled: true, Scopes: map[string][]string{
		"channels": {string(sandbox.DemoGeneral)}, "mentionUsers": {string(sandbox.DemoMember)}, "linkOrigins": {"https://lighthouse.example"},
	}}
	of := func(name, layout string, code mcpcore.Code) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: posting("create", `"components":[`+layout+`]`), Code: code}
	}
	link := func(url string) string {
		return `{"type":1,"components":[{"type":2,"style":5,"label":"x","url":"` + url + `"}]}`
	}
	const text = `{"type":10,"content":"x"}`
	refusals := append(postRefusals("component-message", layoutJSON),
		of("nothing", ``, mcpcore.CodeValidation),
		of("a container in a container", `{"type":17,"components":[{"type":17,"components":[`+text+`]}]}`, mcpcore.CodeValidation),
		of("more than 4000 characters", `{"type":10,"content":"`+strings.Repeat("x", 4001)+`"}`, mcpcore.CodeValidation),
		of("more than 40 components", `{"type":17,"components":[`+strings.Repeat(text+",", 40)+text+`]}`, mcpcore.CodeValidation),
		of("a button that is pressed", `{"type":1,"components":[{"type":2,"style":1,"label":"x","custom_id":"a"}]}`, mcpcore.CodeValidation),
		of("a select", `{"type":1,"components":[{"type":5,"custom_id":"a"}]}`, mcpcore.CodeValidation),
		of("a picture", `{"type":12,"items":[{"media":{"url":"https://lighthouse.example/i.png"}}]}`, mcpcore.CodeValidation),
		of("a number of Discord's", `{"type":10,"content":"x","id":7}`, mcpcore.CodeValidation),
		of("an address without TLS", link("http://lighthouse.example/"), mcpcore.CodeValidation),
		of("an address of the client", link("discord://-/users/1"), mcpcore.CodeValidation),
		of("an address with a user name", link("https://lighthouse.example@evil.example/"), mcpcore.CodeValidation),
		of("an origin that the policy does not name", link("https://evil.example/"), mcpcore.CodeWorkflowScope),
		of("another port of the origin", link("https://lighthouse.example:8443/"), mcpcore.CodeWorkflowScope),
		operationtest.Refusal{Name: "a message of text", Args: posting("edit", `"messageId":"`+string(someOne)+`",`+layoutJSON), Code: mcpcore.CodePlanRefused,
			Reason: "no-components-v2", Before: world(func(d *sandbox.Discord) {
				d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: someOne, Content: "x"})
			})},
	)
	return scene{
		Subject: operationtest.Subject{
			Workflow: "component-message", Plan: "plan_component_message", Execute: "execute_component_message", Verify: "verify_component_message",
			Args:   posting("create", `"mentionUserIds":["1200000000000000104"],`+layoutJSON),
			Sends:  []string{`POST /channels/1200000000000000313/messages {` + layoutSent + `,` + notifiesOne + `}`},
			Permit: permit, Secrets: []string{"canary", "Lighthouse", "general"}, Refusals: refusals,
		},
		Route: "POST /channels/{channel_id}/messages", ReadBack: "GET /channels/{channel_id}/messages/{message_id}",
		Change: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) },
	}
}

func TestComponentMessage(t *testing.T) {
	t.Parallel()
	layingOut().run(t)
}

func TestComponentMessageEdit(t *testing.T) {
	t.Parallel()
	s := layingOut()
	s.Args = posting("edit", `"messageId":"`+string(someOne)+`",`+layoutJSON)
	s.Sends = []string{`PATCH /channels/1200000000000000313/messages/` + string(someOne) + ` {` + layoutSent + `,"allowed_mentions":{"parse":[],"users":[],"replied_user":false}}`}
	s.Permit = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}, "linkOrigins": {"https://lighthouse.example"}}}
	s.Refusals = nil
	s.Route, s.Skip, s.Resource = "PATCH /channels/{channel_id}/messages/{message_id}", 4, string(someOne)
	s.Before = func(d *sandbox.Discord) {
		d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: someOne, Flags: 1 << 15, Components: []sandbox.Component{{Type: 10, ID: 1, Content: "before"}}})
	}
	s.Change = func(d *sandbox.Discord) {
		d.ChangeMessage(sandbox.DemoGeneral, someOne, func(m *sandbox.Message) { m.Components[0].Content = "otherwise" })
	}
	s.Settle = func(d *sandbox.Discord) {
		color := 5
		d.ChangeMessage(sandbox.DemoGeneral, someOne, func(m *sandbox.Message) {
			m.Components = []sandbox.Component{{Type: 17, ID: 1, Color: &color, Components: []sandbox.Component{
				{Type: 10, ID: 2, Content: "canary-text <@1200000000000000104>"}, {Type: 14, ID: 3, Divider: true, Spacing: 1},
				{Type: 1, ID: 4, Components: []sandbox.Component{{Type: 2, ID: 5, Style: 5, Label: "canary-label", URL: "https://Lighthouse.example/canary"}}},
			}}}
		})
	}
	s.run(t)
}

// What became of a post later is found by the receipt: that it is there, was
// changed, or is gone.
func TestPostsAreVerifiedLater(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]scene{"components": layingOut(), "embeds": embedding()} {
		var d *sandbox.Discord
		s.Before = func(made *sandbox.Discord) { d = made }
		c := s.client(t)
		c.want(s.Execute, s.Args, "completed")
		c.want(s.Verify, s.Args, "verified")
		id := discord.MessageID(c.field("resourceId"))
		d.ChangeMessage(sandbox.DemoGeneral, id, func(m *sandbox.Message) {
			m.Embeds, m.Components = nil, []sandbox.Component{{Type: 10, ID: 1, Content: "x"}}
		})
		c.want(s.Verify, s.Args, "drifted")
		if got := c.field("drift"); got != "["+name+"]" {
			t.Errorf("%s: drift %s", name, got)
		}
		d.RemoveMessages(sandbox.DemoGeneral, id)
		c.want(s.Verify, s.Args, "absent")
	}
}

func TestLayoutCompanions(t *testing.T) {
	t.Parallel()
	c := layingOut().client(t)
	c.call("preview_component_layout", `{`+layoutJSON+`}`)
	if c.field("sendable") != "true" || c.field("linkOrigins") != "[https://lighthouse.example]" {
		t.Errorf("it is drawn as %s", c.raw)
	}
	c.call("preview_component_layout", `{"components":[{"type":1,"components":[{"type":2,"style":1,"label":"x","custom_id":"a"}]}]}`)
	if c.field("sendable") != "false" || !strings.Contains(c.raw, "link buttons") {
		t.Errorf("a button is drawn as %s", c.raw)
	}
	for name, vars := range map[string]string{
		"announcement":  `{"title":"a","body":"b","cta_label":"c","cta_url":"https://lighthouse.example/x"}`,
		"poll_results":  `{"question":"a","bars_text":"b","winner":"c"}`,
		"release_notes": `{"version":"a","headline":"b","changelog":"c","download_url":"https://lighthouse.example/x"}`,
	} {
		c.call("compile_component_template", fmt.Sprintf(`{"template":%q,"vars":%s}`, name, vars))
		var made struct{ Components json.RawMessage }
		c.into(&made)
		c.keyed(layingOut().Plan, posting("create", `"components":`+string(made.Components)))
		if c.field("status") != "planned" {
			t.Errorf("the layout of %s is planned as %s", name, c.raw)
		}
		for _, wrong := range []string{`{}`, strings.Replace(vars, "}", `,"more":"x"}`, 1)} {
			c.call("compile_component_template", fmt.Sprintf(`{"template":%q,"vars":%s}`, name, wrong))
			if c.field("code") != string(mcpcore.CodeValidation) {
				t.Errorf("%s with %s answers %s", name, wrong, c.raw)
			}
		}
	}
	c = embedding().client(t)
	c.call("preview_embed_message", `{`+embedsJSON+`}`)
	if c.field("characters") != "46" || !strings.Contains(c.raw, "canary-value") {
		t.Errorf("embeds are drawn as %s", c.raw)
	}
}
