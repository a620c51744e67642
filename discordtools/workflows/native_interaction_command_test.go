package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const nativeCommandName = "canary-ask"

// nativeCommand is the command as it is installed.
func nativeCommand() sandbox.Command {
	needs := discord.Administrator
	return sandbox.Command{
		ID: someCommand, Guild: sandbox.DemoGuild, Name: nativeCommandName, Description: "Ask the agent for something", Needs: &needs,
		Options: []sandbox.CommandOption{{Type: 3, Name: "request", Description: "What it is to do", Required: true}},
	}
}

func addNativeCommand(d *sandbox.Discord) { d.AddCommand(nativeCommand()) }

func nativeCommanding(action string) scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "native-interaction-command", Plan: "plan_native_interaction_command", Execute: "execute_native_interaction_command",
			Args: ofGuild(`"action":"` + action + `","name":"` + nativeCommandName + `"`),
			Sends: []string{`POST /applications/1100000000000000001/guilds/1200000000000000001/commands {"type":1,"name":"canary-ask","name_localizations":null,` +
				`"description":"Ask the agent for something","description_localizations":null,"options":[{"type":3,"name":"request","description":"What it is to do","required":true}],` +
				`"default_member_permissions":"8","nsfw":false}`},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoGuild)}, "names": {nativeCommandName}}},
			Secrets: []string{"canary", "Lighthouse"},
		},
		Route: "POST /applications/{application_id}/guilds/{guild_id}/commands", ReadBack: "GET /applications/{application_id}/guilds/{guild_id}/commands", Skip: 8,
		Change: anotherCommand(sandbox.DemoGuild),
	}
}

func TestNativeCommandIsInstalled(t *testing.T) {
	t.Parallel()
	s := nativeCommanding("install")
	s.Settle = addNativeCommand
	drifting := func(name string, change func(*sandbox.Command)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: "drift", Before: world(func(d *sandbox.Discord) {
			c := nativeCommand()
			change(&c)
			d.AddCommand(c)
		})}
	}
	s.Refusals = []operationtest.Refusal{
		drifting("one with another description", func(c *sandbox.Command) { c.Description = "x" }),
		drifting("one that everyone may use", func(c *sandbox.Command) { c.Needs = nil }),
		drifting("one with another option", func(c *sandbox.Command) { c.Options = nil }),
		{Name: "two of them", Code: mcpcore.CodePlanRefused, Reason: "ambiguous", Before: world(func(d *sandbox.Discord) {
			addNativeCommand(d)
			c := nativeCommand()
			c.ID = ""
			d.AddCommand(c)
		})},
		{Name: "another name", Args: ofGuild(`"action":"install","name":"canary-other"`), Code: mcpcore.CodeWorkflowScope},
		{Name: "a name with a capital", Args: ofGuild(`"action":"install","name":"Ask"`), Code: mcpcore.CodeValidation},
	}
	s.run(t)
}

func TestNativeCommandIsRemoved(t *testing.T) {
	t.Parallel()
	s := nativeCommanding("remove")
	s.Sends = []string{`DELETE /applications/1100000000000000001/guilds/1200000000000000001/commands/1200000000000000851`}
	s.Route, s.Resource = "DELETE /applications/{application_id}/guilds/{guild_id}/commands/{command_id}", string(someCommand)
	s.Before = addNativeCommand
	s.Refusals = []operationtest.Refusal{{
		Name: "one that was changed", Code: mcpcore.CodePlanRefused, Reason: "drift",
		Before: world(func(d *sandbox.Discord) { d.ChangeCommand(someCommand, func(c *sandbox.Command) { c.NSFW = true }) }),
	}}
	s.run(t)
}

func TestNativeCommandThatIsNotThere(t *testing.T) {
	t.Parallel()
	if e, _ := nativeCommanding("remove").once(t); e.Status != "already-current" || e.Writes != 0 {
		t.Errorf("it answers %+v", e)
	}
}
