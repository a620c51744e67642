package sandbox

import (
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestOnboarding(t *testing.T) {
	t.Parallel()
	const path = "/guilds/{guild}/onboarding"
	prompt := func(id, option string) string {
		return `{"prompts":[{"id":"` + id + `","title":"Why?","options":[` + option + `]}]}`
	}
	const plain = `{"title":"Because"}`
	more := func(d *Discord) {
		for range 4 {
			d.AddChannel(Channel{Guild: DemoGuild, Type: discord.GuildText, Name: "room"})
		}
	}
	rows(t, []row{
		{name: "shown", method: "GET", path: path, status: 200, has: `"emoji":{"id":null,"name":"🎲","animated":false}`},
		{name: "none", method: "GET", path: "/guilds/{club}/onboarding", status: 200, has: `"prompts":[]`},
		{name: "a known prompt keeps its id", method: "PUT", path: path, body: prompt(DemoPrompt, plain), status: 200, has: `"id":"` + DemoPrompt + `","title":"Why?"`},
		{name: "what is left out goes", method: "PUT", path: path, body: `{"prompts":[]}`, status: 200, has: `"prompts":[]`, after: func(t *testing.T, d *Discord) {
			log := d.AuditLog(DemoGuild)
			if len(log) != 2 || log[0].Action != auditPromptDelete || log[1].Action != auditOnboardingUpdate {
				t.Errorf("recorded %+v", log)
			}
		}},
		{name: "a new prompt gets another id", method: "PUT", path: path, body: prompt("1", plain), status: 200, after: func(t *testing.T, d *Discord) {
			if p := d.Onboarding(DemoGuild).Prompts; len(p) != 1 || p[0].ID == "1" || discord.CheckID(p[0].ID) != nil {
				t.Errorf("prompts %+v", p)
			}
		}},
		{name: "a prompt without an id", method: "PUT", path: path, body: `{"prompts":[{"title":"Why?","options":[` + plain + `]}]}`, status: 400, code: 50035, has: `"id"`},
		{name: "no options", method: "PUT", path: path, body: prompt("1", ""), status: 400, code: 50035},
		{name: "a role of the guild", method: "PUT", path: path, body: prompt("1", `{"title":"x","role_ids":["{events}"],"channel_ids":["{help}"]}`), status: 200, has: `"role_ids":["{events}"]`},
		{name: "a managed role", method: "PUT", path: path, body: prompt("1", `{"title":"x","role_ids":["`+string(DemoBotRole)+`"]}`), status: 400, code: 50035, has: "INVALID_ROLE"},
		{name: "an unknown channel", method: "PUT", path: path, body: `{"default_channel_ids":["{nowhere}"]}`, status: 400, code: 50035},
		{name: "too few channels", method: "PUT", path: path, body: `{"enabled":true}`, status: 400, code: 350000},
		{name: "enough channels", method: "PUT", path: path, body: `{"enabled":true,"default_channel_ids":["{rules}","{news}","{general}","{showcase}","{help}","{lounge}","{stage}"]}`, status: 200, has: `"enabled":true`},
		{name: "not enough to write in", method: "PUT", path: path, body: `{"enabled":true,"default_channel_ids":["{rules}","{news}","{modlog}","{general}","{showcase}","{help}","{lounge}"]}`, status: 400, code: 350000, before: more},
		{name: "without the permission", method: "PUT", path: "/guilds/{club}/onboarding", body: `{"enabled":false}`, status: 403, code: 50013},
		{name: "not a Community guild", method: "PUT", path: path, body: `{"enabled":false}`, status: 403, code: 50001,
			before: func(d *Discord) { d.world.guilds[DemoGuild].setFeature("COMMUNITY", false) }},
	})
}
