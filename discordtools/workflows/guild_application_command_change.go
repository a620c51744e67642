package workflows

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

var guildCommands = commandsAt("/applications/{application_id}/guilds/{guild_id}/commands")

type guildCommandChange struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild of the command"`
	commandChange
}

// guildApplicationCommandChange makes, replaces or deletes a command of one guild.
func guildApplicationCommandChange(rest discordtools.REST) mcpcore.Workflow {
	return change[guildCommandChange, commandState]{
		Name: "guild-application-command-change", Category: "application-commands", Title: "Change a command of a guild",
		Doc: `Creates, replaces or deletes one of the application's commands in a guild, by its exact id. The command is given
			whole. A new name, as a deletion, forgets who may use it. One of the same name and type is never replaced.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Locked: true,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose commands of the application may be changed")},
		Rules:  []mcpcore.Rule{commandArguments},
		Reads:  append(slices.Concat(standingRoutes, applicationRoutes), guildCommands.list, routeCommandGrants), Write: guildCommands.writes(),
		Plan: func(ctx context.Context, r *reads, in guildCommandChange) (plan mcpcore.Change[commandState], err error) {
			s, flags, err := r.guildCommandPlace(ctx, in.GuildID)
			if err != nil {
				return plan, err
			}
			return r.planCommand(ctx, guildCommands, in.commandChange, s, flags)
		},
		Targets: func(in guildCommandChange, _ commandState) []mcpcore.Target {
			return []mcpcore.Target{all("application-commands", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in guildCommandChange, s commandState) (mcpcore.Written, error) {
			return s.send(ctx, w, guildCommands, in.commandChange)
		},
		ReadBack: func(ctx context.Context, r *reads, _ guildCommandChange, s commandState, w mcpcore.Written) (mcpcore.Reading, error) {
			return r.commandReadBack(ctx, guildCommands, s, w)
		},
	}.on(rest)
}

// guildCommandPlace is a guild that the bot is a member of.
func (r *reads) guildCommandPlace(ctx context.Context, guild discord.GuildID) (s commandState, flags int64, err error) {
	if s.Application, flags, err = r.application(ctx, ""); err != nil {
		return s, 0, err
	}
	bot, err := r.standing(ctx, guild)
	if err != nil {
		return s, 0, err
	}
	may := bot.evidence()
	s.Guild, s.Permission = &bot.Guild, &may
	return s, flags, nil
}
