package workflows

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type nativeCommandChange struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild of the command"`
	Action  string          `json:"action" enum:"install,remove"`
	Name    string          `json:"name" jsonschema:"of the slash command" minLength:"1" maxLength:"32" pattern:"^[a-z0-9_-]+$"`
}

// nativeInteractionCommand installs and removes the one command by which people ask
// the agent for something.
func nativeInteractionCommand(rest discordtools.REST) mcpcore.Workflow {
	return change[nativeCommandChange, commandState]{
		Name: "native-interaction-command", Category: "native-interactions", Title: "Install the command to ask the agent",
		Doc: `Installs or removes a slash command of a guild with one text, request, by which people ask the agent for
			something. At first administrators alone may use it; the guild's integration settings open it to others. All else of it is
			fixed. One of the same name that is otherwise made is left alone.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Locked: true,
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds in which the command may be installed and removed"),
			{Name: "names", Arg: "name", Doc: "what the command may be called", Pattern: `^[a-z0-9_-]{1,32}$`},
		},
		Reads: append(slices.Concat(standingRoutes, applicationRoutes), guildCommands.list, routeCommandGrants),
		Write: []string{guildCommands.create, guildCommands.delete},
		Plan: func(ctx context.Context, r *reads, in nativeCommandChange) (plan mcpcore.Change[commandState], err error) {
			s, flags, err := r.guildCommandPlace(ctx, in.GuildID)
			if err != nil {
				return plan, err
			}
			there, err := r.commands(ctx, guildCommands, &s)
			if err != nil {
				return plan, err
			}
			found, err := in.find(there)
			if err != nil {
				return plan, err
			}
			if (found != "") == (in.Action == "install") {
				plan.State, plan.Facts = s, append(s.where(), mcpcore.Fact{Name: "slash command", Value: in.Name})
				nothing(&plan)
				return plan, nil
			}
			plan, err = r.planCommand(ctx, guildCommands, in.as(found), s, flags)
			plan.Action = in.Action
			return plan, err
		},
		Targets: func(in nativeCommandChange, _ commandState) []mcpcore.Target {
			return []mcpcore.Target{all("application-commands", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in nativeCommandChange, s commandState) (mcpcore.Written, error) {
			return s.send(ctx, w, guildCommands, in.as(s.ID))
		},
		ReadBack: func(ctx context.Context, r *reads, _ nativeCommandChange, s commandState, w mcpcore.Written) (mcpcore.Reading, error) {
			return r.commandReadBack(ctx, guildCommands, s, w)
		},
	}.on(rest)
}

// definition is the one form that the command has.
func (in nativeCommandChange) definition() commandDefinition {
	administrators := discord.PermissionSet("8")
	return commandDefinition{
		Type: slashCommand, Name: in.Name, Description: "Ask the agent for something", Needs: &administrators,
		Options: []commandOption{{Type: optionText, Name: "request", Description: "What it is to do", Required: true}},
	}
}

// find is the command among those that are there, "" when it is not.
func (in nativeCommandChange) find(there []command) (found discord.CommandID, err error) {
	for _, c := range there {
		if c.Name != in.Name || c.Type != slashCommand {
			continue
		}
		for _, f := range c.fields(in.definition()) {
			if f.Now != f.Wanted {
				return "", refused("drift", "the guild has a command /%s whose %s is not that of the command to install or remove", in.Name, f.Name)
			}
		}
		if found != "" {
			return "", refused("ambiguous", "the guild has several commands /%s", in.Name)
		}
		found = c.ID
	}
	return found, nil
}

// as is the change of commands in general that it makes.
func (in nativeCommandChange) as(found discord.CommandID) commandChange {
	if in.Action == "remove" {
		return commandChange{Action: "delete", ID: found}
	}
	return commandChange{Action: "create", Command: in.definition()}
}
