package workflows_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// ofTheApplication is arguments for the bot's application.
func ofTheApplication(more string) string {
	return fmt.Sprintf(`{"applicationId":"%s",%s}`, sandbox.ApplicationID, more)
}

// applicationPermit allows a workflow on the bot's application.
var applicationPermit = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"applications": {string(sandbox.ApplicationID)}}}

// otherApplication is the refusal of an application that is not the bot's, though
// the policy names it.
func otherApplication(workflow, more string) operationtest.Refusal {
	const other = "1200000000000000999"
	return operationtest.Refusal{
		Name: "another application", Args: `{"applicationId":"` + other + `",` + more + `}`, Code: mcpcore.CodeBotUnresolved,
		Policy: func(p *mcpcore.WorkflowPolicy) {
			p.Permits[workflow] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"applications": {other}}}
		},
	}
}

const (
	lampCommand = `"command":{"name":"canary-lamp","description":"canary light","name_localizations":{"de":"canary-lampe"},"default_member_permissions":"8192",` +
		`"options":[{"type":3,"name":"colour","description":"which","required":true,"choices":[{"name":"Red","value":"red"}]},{"type":7,"name":"where","description":"where","channel_types":[5,0]}]}`
	someCommand discord.CommandID = "1200000000000000851"
)

// addCommand adds a command that the changes of the tests are made to.
func addCommand(guild discord.GuildID) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddCommand(sandbox.Command{ID: someCommand, Guild: guild, Name: "canary-old", Description: "old"})
		d.SetCommandGrants(sandbox.DemoGuild, someCommand, sandbox.CommandGrant{ID: discord.GranteeID(sandbox.DemoModeratorRole), Type: 1, Allow: true})
	}
}

func anotherCommand(guild discord.GuildID) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddCommand(sandbox.Command{Guild: guild, Name: "another", Description: "x"})
	}
}

func guildCommanding() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-application-command-change", Plan: "plan_guild_application_command_change", Execute: "execute_guild_application_command_change",
			Args: ofGuild(`"action":"create",` + lampCommand),
			Sends: []string{`POST /applications/` + string(sandbox.ApplicationID) + `/guilds/1200000000000000001/commands {"type":1,"name":"canary-lamp","name_localizations":{"de":"canary-lampe"},` +
				`"description":"canary light","description_localizations":null,"options":[{"type":3,"name":"colour","description":"which","required":true,"choices":[{"name":"Red","value":"red"}]},` +
				`{"type":7,"name":"where","description":"where","channel_types":[0,5]}],"default_member_permissions":"8192","nsfw":false}`},
			Permit: guildPermit, Secrets: []string{"canary", "Lighthouse"},
		},
		Route: "POST /applications/{application_id}/guilds/{guild_id}/commands", ReadBack: "GET /applications/{application_id}/guilds/{guild_id}/commands", Skip: 4,
		Change: anotherCommand(sandbox.DemoGuild),
	}
}

func (s scene) withCommand(action, more string) scene {
	s.Args = ofGuild(`"action":"` + action + `","commandId":"` + string(someCommand) + `"` + more)
	s.Before, s.Route, s.Resource = addCommand(sandbox.DemoGuild), map[string]string{
		"update": "PATCH /applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
		"delete": "DELETE /applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
	}[action], string(someCommand)
	s.Refusals = nil
	return s
}

// commandRefusals are those of every set of commands; of makes arguments, more is
// what a definition of that set has besides.
func commandRefusals(guild discord.GuildID, of func(string) string, more string) []operationtest.Refusal {
	define := func(name, definition string, reason string, before func(*sandbox.Discord)) operationtest.Refusal {
		r := operationtest.Refusal{Name: name, Args: of(`"action":"create","command":{` + definition + more + `}`), Code: mcpcore.CodePlanRefused, Reason: reason}
		if before != nil {
			r.Before = world(before)
		}
		return r
	}
	option := func(name, options string) operationtest.Refusal {
		return define(name, `"name":"x","description":"x","options":[`+options+`]`, "definition", nil)
	}
	invalid := func(name, args string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: of(args), Code: mcpcore.CodeValidation}
	}
	const update = `"action":"update","commandId":"1200000000000000851","command":{"name":"x","description":"x"`
	many := func(kind, n int) func(*sandbox.Discord) {
		return func(d *sandbox.Discord) {
			for i := range n {
				c := sandbox.Command{Guild: guild, Type: kind, Name: fmt.Sprint("canary-", i)}
				if kind == sandbox.SlashCommand {
					c.Description = "x"
				}
				d.AddCommand(c)
			}
		}
	}
	return []operationtest.Refusal{
		invalid("a creation of something that is there", `"action":"create","commandId":"1200000000000000851",`+lampCommand),
		invalid("an update of nothing", `"action":"update",`+lampCommand),
		invalid("an update without a command", `"action":"update","commandId":"1200000000000000851"`),
		invalid("a deletion with a command", `"action":"delete","commandId":"1200000000000000851","acknowledgeIrreversible":true,`+lampCommand),
		invalid("a deletion that is not acknowledged", `"action":"delete","commandId":"1200000000000000851"`),
		{Name: "a command that is not there", Args: of(update + more + `}`), Code: mcpcore.CodePlanRefused, Reason: "command-missing"},
		{Name: "another type", Args: of(`"action":"update","commandId":"1200000000000000851","command":{"type":2,"name":"x"` + more + `}`), Code: mcpcore.CodePlanRefused, Reason: "type", Before: world(addCommand(guild))},
		define("a name that is taken", `"name":"canary-old","description":"x"`, "name-taken", addCommand(guild)),
		{Name: "a name that another has", Args: of(`"action":"update","commandId":"1200000000000000851","command":{"name":"another","description":"x"` + more + `}`), Code: mcpcore.CodePlanRefused, Reason: "name-taken",
			Before: world(func(d *sandbox.Discord) { addCommand(guild)(d); anotherCommand(guild)(d) })},
		define("too many commands", `"name":"x","description":"x"`, "full", many(sandbox.SlashCommand, 99)), // and one that is there
		define("too many user menus", `"type":2,"name":"X"`, "full", many(sandbox.UserMenu, 15)),
		define("no description", `"name":"x"`, "definition", nil),
		define("a long name in German", `"name":"x","description":"x","name_localizations":{"de":"`+strings.Repeat("x", 33)+`"}`, "definition", nil),
		option("a long name of an option", `{"type":3,"name":"x","description":"x","name_localizations":{"de":"`+strings.Repeat("x", 33)+`"}}`),
		define("a name with a capital", `"name":"Lamp","description":"x"`, "definition", nil),
		define("a menu with a description", `"type":3,"name":"Lamp","description":"x"`, "definition", nil),
		define("a menu with options", `"type":3,"name":"Lamp","options":[{"type":3,"name":"x","description":"x"}]`, "definition", nil),
		define("a handler of a slash command", `"name":"x","description":"x","handler":1`, "definition", nil),
		option("two options of one name", `{"type":3,"name":"x","description":"x"},{"type":4,"name":"x","description":"x"}`),
		option("an option with a space", `{"type":3,"name":"x y","description":"x"}`),
		option("a required option at the end", `{"type":3,"name":"x","description":"x"},{"type":3,"name":"y","description":"x","required":true}`),
		option("a subcommand beside an option", `{"type":3,"name":"x","description":"x"},{"type":1,"name":"y","description":"x"}`),
		option("a group in a group", `{"type":2,"name":"x","description":"x","options":[{"type":2,"name":"y","description":"x"}]}`),
		option("a subcommand in a subcommand", `{"type":1,"name":"x","description":"x","options":[{"type":1,"name":"y","description":"x"}]}`),
		option("options in a text", `{"type":3,"name":"x","description":"x","options":[{"type":3,"name":"y","description":"x"}]}`),
		option("a number as a text", `{"type":3,"name":"x","description":"x","choices":[{"name":"x","value":1}]}`),
		option("a text as a number", `{"type":4,"name":"x","description":"x","choices":[{"name":"x","value":"1"}]}`),
		option("choices to complete", `{"type":3,"name":"x","description":"x","autocomplete":true,"choices":[{"name":"x","value":"1"}]}`),
		option("too much text", bigOptions()),
	}
}

// bigOptions are options of more than eight thousand characters.
func bigOptions() string {
	var b bytes.Buffer
	for i := range 4 {
		fmt.Fprintf(&b, `{"type":3,"name":"o%d","description":"x","choices":[`, i)
		for k := range 25 {
			fmt.Fprintf(&b, `{"name":"%d","value":"%0100d"},`, k, k)
		}
		b.Truncate(b.Len() - 1)
		b.WriteString("]},")
	}
	b.Truncate(b.Len() - 1)
	return b.String()
}

func TestGuildCommandCreation(t *testing.T) {
	t.Parallel()
	s := guildCommanding()
	s.Refusals = append(commandRefusals(sandbox.DemoGuild, ofGuild, ""),
		operationtest.Refusal{Name: "an entry point", Args: ofGuild(`"action":"create","command":{"type":4,"name":"launch","handler":2}`), Code: mcpcore.CodePlanRefused, Reason: "definition"},
		operationtest.Refusal{Name: "contexts", Args: ofGuild(`"action":"create","command":{"name":"x","description":"x","contexts":[0]}`), Code: mcpcore.CodePlanRefused, Reason: "definition"},
		operationtest.Refusal{Name: "a guild that the bot is not in", Args: `{"guildId":"1200000000000000009","action":"create",` + lampCommand + `}`, Code: mcpcore.CodeNotFound,
			Policy: func(p *mcpcore.WorkflowPolicy) {
				p.Permits["guild-application-command-change"] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000009"}}}
			},
		},
	)
	s.run(t)
}

func TestGuildCommandUpdate(t *testing.T) {
	t.Parallel()
	s := guildCommanding().withCommand("update", `,"command":{"name":"canary-new","description":"new"}`)
	s.Sends = []string{`PATCH /applications/` + string(sandbox.ApplicationID) + `/guilds/1200000000000000001/commands/1200000000000000851 ` +
		`{"name":"canary-new","name_localizations":null,"description":"new","description_localizations":null,"options":[],"default_member_permissions":null,"nsfw":false}`}
	s.Settle = func(d *sandbox.Discord) {
		d.ChangeCommand(someCommand, func(c *sandbox.Command) { c.Name, c.Description = "canary-new", "new" })
	}
	s.run(t)
}

func TestGuildCommandDeletion(t *testing.T) {
	t.Parallel()
	s := guildCommanding().withCommand("delete", `,"acknowledgeIrreversible":true`)
	s.Sends = []string{`DELETE /applications/` + string(sandbox.ApplicationID) + `/guilds/1200000000000000001/commands/1200000000000000851`}
	s.Change = func(d *sandbox.Discord) {
		d.SetCommandGrants(sandbox.DemoGuild, sandbox.DemoFog) // who may use another one
	}
	s.run(t)
}

func globalCommanding() scene {
	const more = `"acknowledgeGlobalExposure":true,`
	create := func(args string) string { return ofTheApplication(more + args) }
	const everywhere = `,"integration_types":[1,0],"contexts":[2,0]`
	return scene{
		Subject: operationtest.Subject{
			Workflow: "global-application-command-change", Plan: "plan_global_application_command_change", Execute: "execute_global_application_command_change",
			Args: create(`"action":"create","command":{"name":"canary-lamp","description":"canary light"` + everywhere + `}`),
			Sends: []string{`POST /applications/` + string(sandbox.ApplicationID) + `/commands {"type":1,"name":"canary-lamp","name_localizations":null,"description":"canary light",` +
				`"description_localizations":null,"options":[],"default_member_permissions":null,"nsfw":false,"integration_types":[0,1],"contexts":[0,2]}`},
			Permit: applicationPermit, Secrets: []string{"canary", "Lighthouse"},
			Refusals: append(commandRefusals("", create, everywhere),
				otherApplication("global-application-command-change", more+`"action":"create","command":{"name":"x","description":"x"`+everywhere+`}`),
				operationtest.Refusal{Name: "not acknowledged", Args: ofTheApplication(`"action":"create","command":{"name":"x","description":"x"` + everywhere + `}`), Code: mcpcore.CodeValidation},
				operationtest.Refusal{Name: "no contexts", Args: create(`"action":"create","command":{"name":"x","description":"x","integration_types":[0]}`), Code: mcpcore.CodePlanRefused, Reason: "definition"},
				operationtest.Refusal{Name: "no installation", Args: create(`"action":"create","command":{"name":"x","description":"x","contexts":[0]}`), Code: mcpcore.CodePlanRefused, Reason: "definition"},
				operationtest.Refusal{Name: "an entry point without an activity", Args: create(`"action":"create","command":{"type":4,"name":"launch","handler":2` + everywhere + `}`), Code: mcpcore.CodePlanRefused, Reason: "not-embedded"},
				operationtest.Refusal{Name: "a second entry point", Args: create(`"action":"create","command":{"type":4,"name":"launch","handler":2` + everywhere + `}`), Code: mcpcore.CodePlanRefused, Reason: "full",
					Before: world(func(d *sandbox.Discord) { activity(d); d.AddCommand(sandbox.Command{Type: 4, Name: "go", Handler: 2}) })},
				operationtest.Refusal{Name: "an entry point without a handler", Args: create(`"action":"create","command":{"type":4,"name":"launch"` + everywhere + `}`), Code: mcpcore.CodePlanRefused, Reason: "definition", Before: world(activity)},
				operationtest.Refusal{Name: "a deletion that forgets", Args: create(`"action":"delete","commandId":"1200000000000000801","acknowledgeIrreversible":true`), Code: mcpcore.CodePlanRefused, Reason: "permission-reset"},
				operationtest.Refusal{Name: "a new name that forgets", Args: create(`"action":"update","commandId":"1200000000000000801","command":{"name":"x","description":"x"` + everywhere + `}`), Code: mcpcore.CodePlanRefused, Reason: "permission-reset"},
			),
		},
		Route: "POST /applications/{application_id}/commands", ReadBack: "GET /applications/{application_id}/commands", Skip: 4,
		Change: anotherCommand(""),
	}
}

func activity(d *sandbox.Discord) { d.SetApplicationFlags(1 << 17) }

func TestGlobalCommandCreation(t *testing.T) {
	t.Parallel()
	globalCommanding().run(t)
}

func TestGlobalCommandDeletion(t *testing.T) {
	t.Parallel()
	s := globalCommanding()
	s.Args = ofTheApplication(`"acknowledgeGlobalExposure":true,"acknowledgePermissionReset":true,"acknowledgeIrreversible":true,"action":"delete","commandId":"1200000000000000801"`)
	s.Sends, s.Refusals = []string{`DELETE /applications/` + string(sandbox.ApplicationID) + `/commands/1200000000000000801`}, nil
	s.Route, s.Resource = "DELETE /applications/{application_id}/commands/{command_id}", string(sandbox.DemoRoll)
	s.run(t)
}

func TestEntryPoint(t *testing.T) {
	t.Parallel()
	s := globalCommanding()
	s.Args = ofTheApplication(`"acknowledgeGlobalExposure":true,"action":"create","command":{"type":4,"name":"Launch","handler":2,"integration_types":[0],"contexts":[0]}`)
	s.Before = activity
	if e, r := s.once(t); e.Status != "completed" || r.Status != mcpcore.StatusCompleted {
		t.Errorf("it answers %+v and keeps %+v", e, r)
	}
}

// What happens to commands between the write and its read-back is told; an answer
// about something else leaves the outcome open.
func TestCommandsThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	const list = "/applications/{application_id}/guilds/{guild_id}/commands"
	for name, row := range map[string]struct {
		scene  scene
		do     func(d *sandbox.Discord)
		status string
		drift  string
	}{
		"another one is made":     {guildCommanding(), anotherCommand(sandbox.DemoGuild), "completed-with-drift", "[otherCommands]"},
		"another one's users are": {guildCommanding(), func(d *sandbox.Discord) { d.SetCommandGrants(sandbox.DemoGuild, sandbox.DemoFog) }, "completed-with-drift", "[permissions]"},
		"it is changed on": {guildCommanding().withCommand("update", `,"command":{"name":"canary-new","description":"new"}`), func(d *sandbox.Discord) {
			d.ChangeCommand(someCommand, func(c *sandbox.Command) { c.Description, c.NSFW = "newer", true })
		}, "completed-with-drift", "[description nsfw]"},
		"it is there again": {guildCommanding().withCommand("delete", `,"acknowledgeIrreversible":true`), addCommand(sandbox.DemoGuild), "outcome-uncertain", "[]"},
	} {
		var d *sandbox.Discord
		before := row.scene.Before
		row.scene.Before = func(made *sandbox.Discord) {
			if d = made; before != nil {
				before(d)
			}
		}
		row.scene.REST = later(&d, list, 5, row.do)
		if e, _ := row.scene.once(t); e.Status != row.status || fmt.Sprint(e.Drift) != row.drift {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
	for name, f := range map[string]func(r *discordtools.Response){
		"a command that was there": func(r *discordtools.Response) { r.Status = 200 },
		"a command of another guild": func(r *discordtools.Response) {
			r.Body = bytes.Replace(r.Body, []byte(`"guild_id":"12`), []byte(`"guild_id":"13`), 1)
		},
		"a command of another type": func(r *discordtools.Response) {
			r.Body = bytes.Replace(r.Body, []byte(`"type":1,`), []byte(`"type":2,`), 1)
		},
		"another application's": func(r *discordtools.Response) {
			r.Body = bytes.Replace(r.Body, []byte(`"application_id":"1`), []byte(`"application_id":"2`), 1)
		},
		"a command that has no id":    func(r *discordtools.Response) { r.Body = bytes.Replace(r.Body, []byte(`"id":"`), []byte(`"id":"x`), 1) },
		"an answer without a command": func(r *discordtools.Response) { r.Body = []byte(`[]`) },
	} {
		s := guildCommanding()
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return answering{rest, nil, func(r *discordtools.Response) *discordtools.Response { f(r); return r }}
		}
		if e, r := s.once(t); e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain || e.Writes != 1 {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
}

// reading is a REST whose readings of a route are answered otherwise.
type reading struct {
	discordtools.REST
	route    string
	from, to string
}

func (o reading) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	res, err := o.REST.Do(ctx, r)
	if err == nil && r.Method == "GET" && r.Route == o.route {
		res.Body = bytes.Replace(res.Body, []byte(o.from), []byte(o.to), 1)
	}
	return res, err
}

// A plan speaks of the application that the token belongs to, and of what it read
// whole.
func TestApplicationsThatAreNotTheBots(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		route, from, to string
		code            mcpcore.Code
	}{
		"another application":      {"/applications/@me", `"id":"1100000000000000001"`, `"id":"1100000000000000002"`, mcpcore.CodePlanRefused},
		"another bot":              {"/applications/@me", `"bot":{"id":"1`, `"bot":{"id":"2`, mcpcore.CodeAccessUnknown},
		"an application unflagged": {"/applications/@me", `"flags":557056`, `"flag":1`, mcpcore.CodeAccessUnknown},
		"another one's command":    {"/applications/{application_id}/commands", `"application_id":"1`, `"application_id":"2`, mcpcore.CodeAccessUnknown},
		"a guild's command":        {"/applications/{application_id}/commands", `"version"`, `"guild_id":"1200000000000000001","version"`, mcpcore.CodeAccessUnknown},
	} {
		s := globalCommanding()
		s.REST = func(rest discordtools.REST) discordtools.REST { return reading{rest, row.route, row.from, row.to} }
		if e, _ := s.once(t); e.Code != row.code || e.Writes != 0 {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
}
