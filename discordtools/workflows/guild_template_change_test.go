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

const noTemplate = `"template":"template_00000000000000000000000000000000"`

func addTemplate(d *sandbox.Discord) {
	d.AddTemplate(sandbox.DemoGuild, sandbox.Template{Code: "canarycode", Name: "canary-old", Description: "canary words", Uses: 2, Creator: sandbox.DemoAdmin})
}

// templating renames a template, by the reference that the list gives it.
func templating(t *testing.T) (s scene, reference string) {
	t.Helper()
	s = scene{
		Subject: operationtest.Subject{
			Workflow: "guild-template-change", Plan: "plan_guild_template_change", Execute: "execute_guild_template_change",
			Sends:  []string{`PATCH /guilds/1200000000000000001/templates/canarycode {"name":"canary-new","description":null}`},
			Permit: guildPermit, Secrets: []string{"canary", "Lighthouse"},
		},
		Route: "PATCH /guilds/{guild_id}/templates/{code}", ReadBack: "GET /guilds/{guild_id}/templates", Skip: 4,
		Before: addTemplate,
		Change: func(d *sandbox.Discord) {
			d.ChangeTemplate(sandbox.DemoGuild, func(t *sandbox.Template) { t.Description = "canary others" })
		},
		Rename: func(d *sandbox.Discord) { d.ChangeTemplate(sandbox.DemoGuild, func(t *sandbox.Template) { t.Uses++ }) },
		Settle: func(d *sandbox.Discord) {
			d.ChangeTemplate(sandbox.DemoGuild, func(t *sandbox.Template) { t.Name, t.Description = "canary-new", "" })
		},
	}
	raw, err := json.Marshal(s.reads(t, "list_guild_templates", `{"guildId":"1200000000000000001"}`)["templates"])
	var told []struct {
		Template string `json:"template"`
		Name     string `json:"name"`
		Uses     int    `json:"uses"`
		Channels int    `json:"channels"`
		Roles    int    `json:"roles"`
	}
	if err != nil || strings.Contains(string(raw), "canarycode") {
		t.Fatalf("the list tells %s, %v", raw, err)
	}
	if err := json.Unmarshal(raw, &told); err != nil || len(told) != 1 || told[0].Name != "canary-old" || told[0].Uses != 2 || told[0].Channels == 0 || told[0].Roles == 0 {
		t.Fatalf("the list tells %s, %v", raw, err)
	}
	s.Args = ofGuild(fmt.Sprintf(`"action":"metadata-update","template":%q,"name":"canary-new","description":null,"auditReason":"canary-reason"`, told[0].Template))
	s.Resource = told[0].Template
	return s, fmt.Sprintf(`"template":%q`, told[0].Template)
}

func TestGuildTemplateChange(t *testing.T) {
	t.Parallel()
	s, _ := templating(t)
	invalid := func(name, args string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: ofGuild(args), Code: mcpcore.CodeValidation}
	}
	s.Refusals = []operationtest.Refusal{
		invalid("a code", `"action":"delete","template":"canarycode"`), invalid("one that is made by reference", `"action":"create","name":"x",`+noTemplate),
		invalid("none that is deleted", `"action":"delete"`), invalid("one without a name", `"action":"create","description":"x"`),
		invalid("nothing to update", `"action":"metadata-update",`+noTemplate), invalid("a name to synchronize", `"action":"synchronize","name":"x",`+noTemplate),
		{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: weaker(discord.ManageGuild)},
		{Name: "a reference of nothing", Args: ofGuild(`"action":"delete",` + noTemplate), Code: mcpcore.CodePlanRefused, Reason: "template-missing"},
		{Name: "a second one", Args: ofGuild(`"action":"create","name":"x"`), Code: mcpcore.CodePlanRefused, Reason: "full"},
	}
	s.run(t)
}

func TestTemplateIsMadeSynchronizedAndDeleted(t *testing.T) {
	t.Parallel()
	s, reference := templating(t)
	const at = " /guilds/1200000000000000001/templates/canarycode"
	s.writes(t, ofGuild(`"action":"delete",`+reference), "DELETE"+at)
	s.writes(t, ofGuild(`"action":"synchronize",`+reference), "PUT"+at)
	s.writes(t, ofGuild(`"action":"metadata-update","description":"Ahoy",`+reference), "PATCH"+at+` {"description":"Ahoy"}`)

	clean := s.answered(s.ReadBack, `"is_dirty":null`, `"is_dirty":false`)
	clean.Args = ofGuild(`"action":"synchronize",` + reference)
	clean.ends(t, "one that holds what the guild is", "", "already-current", "")

	s.Before = nil
	s.writes(t, ofGuild(`"action":"create","name":"Ahoy"`), `POST /guilds/1200000000000000001/templates {"name":"Ahoy"}`)
	s.Args = ofGuild(`"action":"create","name":"Ahoy","description":"A harbour"`)
	if _, kept := s.once(t); !strings.HasPrefix(kept.ResourceID, "template_") {
		t.Errorf("of one that was made it keeps %+v", kept)
	}
}

func TestTemplateThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	s, reference := templating(t)
	open := func(s scene, name string) {
		t.Helper()
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	open(s.answered(s.Route, "canarycode", "other"), "the answer is of another")
	open(s.answered(s.Route, "canary-new", "other"), "the answer has another name")
	open(s.answered(s.Route, `"source_guild_id":"1200000000000000001"`, `"source_guild_id":"1200000000000000002"`), "the answer is of another guild")
	open(s.after(s.ReadBack, "canarycode", "other"), "it is another")
	open(s.after(s.ReadBack, "canary-new", "other"), "it has another name")
	open(s.after(s.ReadBack, `"creator_id":"1200000000000000102"`, `"creator_id":"1200000000000000103"`), "it is somebody else's")
	open(s.after(s.ReadBack, `"afk_timeout":300`, `"afk_timeout":60`), "it holds something else")
	open(s.after(s.ReadBack, `[{"code":"canarycode"`, `[{"code":"x","name":"x","source_guild_id":"1200000000000000001","serialized_source_guild":{}},{"code":"canarycode"`), "there is another beside it")
	s.answered(s.ReadBack, `"source_guild_id"`, `"s"`).ends(t, "a template of no guild", mcpcore.CodeAccessUnknown, "", "")

	sync := s
	sync.Args = ofGuild(`"action":"synchronize",` + reference)
	open(sync.after(s.ReadBack, `"is_dirty":null`, `"is_dirty":true`), "it is not what the guild is")
	sync.answered("GET /guilds/{guild_id}/channels", `"permission_overwrites"`, `"p"`).ends(t, "channels that are not whole", mcpcore.CodeAccessUnknown, "", "")

	remove := s.afterWrite(addTemplate)
	remove.Args = ofGuild(`"action":"delete",` + reference)
	open(remove, "it is still there")

	s.Before, s.Args = nil, ofGuild(`"action":"create","name":"Ahoy"`)
	open(s.after(s.ReadBack, `"creator_id"`, `"c"`), "it is not the bot's")
	open(s.answered("POST /guilds/{guild_id}/templates", `"Ahoy"`, `"Hoy"`), "it has another name than was given")
}
