package workflows

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
)

var globalCommands = commandsAt("/applications/{application_id}/commands")

type globalCommandChange struct {
	ofApplication
	commandChange
	Everywhere bool `json:"acknowledgeGlobalExposure" jsonschema:"true: it changes in every guild and for every user of the application"`
	Resets     bool `json:"acknowledgePermissionReset,omitempty" jsonschema:"with delete and with a new name, true: who may use it is forgotten in every guild"`
}

// globalApplicationCommandChange makes, replaces or deletes a command that is
// everywhere. It does not look into guilds.
func globalApplicationCommandChange(rest discordtools.REST) mcpcore.Workflow {
	return change[globalCommandChange, commandState]{
		Name: "global-application-command-change", Category: "application-commands", Title: "Change a global command",
		Doc: `Creates, replaces or deletes a command everywhere the application is installed, by its exact id. The command is
			given whole, with where it can be used. A new name, as a deletion, forgets who may use it in every guild. One of the same
			name and type is never replaced.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ApplicationScope,
		Scopes:      []mcpcore.PolicyScope{theApplication("applications whose global commands may be changed")},
		Acknowledge: []string{"acknowledgeGlobalExposure"}, Rules: []mcpcore.Rule{commandArguments},
		Reads: append(slices.Clone(applicationRoutes), globalCommands.list), Write: globalCommands.writes(),
		Plan: func(ctx context.Context, r *reads, in globalCommandChange) (plan mcpcore.Change[commandState], err error) {
			var s commandState
			var flags int64
			if s.Application, flags, err = r.application(ctx, in.ApplicationID); err != nil {
				return plan, err
			}
			if plan, err = r.planCommand(ctx, globalCommands, in.commandChange, s, flags); err != nil {
				return plan, err
			}
			if plan.State.Resets && !in.Resets {
				return plan, refused("permission-reset", "acknowledgePermissionReset must be true: who may use the command is forgotten in every guild")
			}
			plan.Risks = append(plan.Risks, "global-exposure")
			plan.Warnings = append(plan.Warnings, "It is so for every guild and user of the application at once.")
			return plan, nil
		},
		Targets: func(in globalCommandChange, _ commandState) []mcpcore.Target {
			return []mcpcore.Target{allOf("commands", in.ApplicationID)}
		},
		Apply: func(ctx context.Context, w *write, in globalCommandChange, s commandState) (mcpcore.Written, error) {
			return s.send(ctx, w, globalCommands, in.commandChange)
		},
		ReadBack: func(ctx context.Context, r *reads, _ globalCommandChange, s commandState, w mcpcore.Written) (mcpcore.Reading, error) {
			return r.commandReadBack(ctx, globalCommands, s, w)
		},
	}.on(rest)
}
