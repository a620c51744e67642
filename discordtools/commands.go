package discordtools

import (
	"context"
	"net/http"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// commands registers what people find behind the slash and in context menus. Global
// commands are everywhere the application is, guild commands in one guild; they
// are separate sets.
//
// Source: https://docs.discord.com/developers/interactions/application-commands.
func commands() category {
	return category{Name: "commands", Scope: mcpcore.ApplicationScope, Tools: []declaration{
		destroy[commandsOverwriteGlobal, commandsSaved]{
			Name:  "commands_bulk_overwrite_global",
			Title: "Replace all global commands",
			Doc: `Replaces all global commands by a list: what is not in it is deleted, with its permissions in
				every guild, and [] deletes all. Start from commands_list_global; for one command use commands_create_global.`,
			Route: "PUT /applications/{application_id}/commands",
			Calls: []string{routeCommands},
			Rules: []mcpcore.Rule{choicesRule},
			Fence: fence.ChannelTopic,
			Facts: overwriteFacts(routeCommands),
		},
		destroy[commandsOverwriteGuild, commandsSaved]{
			Name:  "commands_bulk_overwrite_guild",
			Title: "Replace all commands of a guild",
			Doc: `Replaces the application's commands in a guild by a list: what is not in it is deleted, with its
				permissions, and [] deletes all. Global commands stay. Start from commands_list_guild.`,
			Route:  "PUT /applications/{application_id}/guilds/{guild_id}/commands",
			Calls:  []string{routeGuildCommands},
			Scope:  mcpcore.GuildScope,
			Locked: true,
			Rules:  []mcpcore.Rule{choicesRule},
			Fence:  fence.ChannelTopic,
			Facts:  overwriteFacts(routeGuildCommands),
		},
		write[commandsCreateGlobal, commandMade]{
			Name:  "commands_create_global",
			Title: "Create a global command",
			Doc: `Creates a command wherever the application is. One of the same name and type is replaced
				instead: created is then false. Try new commands in one guild with commands_create_guild.`,
			Route:      "POST /applications/{application_id}/commands",
			Repeatable: true,
			Rules:      []mcpcore.Rule{choicesRule},
			Fence:      fence.ChannelTopic,
			Run:        createCommand[commandsCreateGlobal],
		},
		write[commandsCreateGuild, commandMade]{
			Name:       "commands_create_guild",
			Title:      "Create a command in a guild",
			Doc:        `Creates a command in one guild, at once. One of the same name and type is replaced instead: created is then false.`,
			Route:      "POST /applications/{application_id}/guilds/{guild_id}/commands",
			Scope:      mcpcore.GuildScope,
			Locked:     true,
			Repeatable: true,
			Rules:      []mcpcore.Rule{choicesRule},
			Fence:      fence.ChannelTopic,
			Run:        createCommand[commandsCreateGuild],
		},
		destroy[globalCommand, commandDeleted]{
			Name:  "commands_delete_global",
			Title: "Delete a global command",
			Doc:   `Deletes a global command everywhere, with its permissions in every guild.`,
			Route: "DELETE /applications/{application_id}/commands/{command_id}",
			Calls: []string{routeCommand},
			Facts: commandFacts(routeCommand),
		},
		destroy[guildCommand, guildCommandDeleted]{
			Name:   "commands_delete_guild",
			Title:  "Delete a command of a guild",
			Doc:    `Deletes a command of one guild, with its permissions. A global command is deleted with commands_delete_global.`,
			Route:  "DELETE /applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
			Calls:  []string{routeGuildCommand},
			Scope:  mcpcore.GuildScope,
			Locked: true,
			Facts:  commandFacts(routeGuildCommand),
		},
		write[commandPermissionsEdit, commandPermissions]{
			Name:  "commands_edit_command_permissions",
			Title: "Set who may use a command",
			Doc: `Replaces who may use a command in a guild. Discord refuses this to bots: it takes the OAuth2 access
				token of a person who has MANAGE_GUILD and MANAGE_ROLES there and granted
				applications.commands.permissions.update. People do it in Server Settings > Integrations; without a token set
				default_member_permissions with commands_modify_guild.`,
			Route:     "PUT /applications/{application_id}/guilds/{guild_id}/commands/{command_id}/permissions",
			Scope:     mcpcore.GuildScope,
			Anonymous: true,
			Redact:    []string{"bearer_token"},
		},
		read[guildCommandOrAll, commandPermissions]{
			Name:   "commands_get_command_permissions",
			Title:  "Get who may use a command",
			Doc:    `Reads who may use a command in a guild. Not found means that it has no permissions of its own and follows the application's.`,
			Route:  "GET /applications/{application_id}/guilds/{guild_id}/commands/{command_id}/permissions",
			Scope:  mcpcore.GuildScope,
			Locked: true,
		},
		read[globalCommand, commandOne]{
			Name:  "commands_get_global",
			Title: "Get a global command",
			Doc:   `Reads a global command with its options, in the form that commands_modify_global takes.`,
			Route: routeCommand,
			Fence: fence.ChannelTopic,
		},
		read[guildCommand, guildCommandOne]{
			Name:   "commands_get_guild",
			Title:  "Get a command of a guild",
			Doc:    `Reads a command of one guild with its options, in the form that commands_modify_guild takes.`,
			Route:  routeGuildCommand,
			Scope:  mcpcore.GuildScope,
			Locked: true,
			Fence:  fence.ChannelTopic,
		},
		read[commandPermissionsList, commandPermissionsPage]{
			Name:   "commands_get_guild_command_permissions",
			Title:  "List who may use commands",
			Doc:    `Lists who may use the application's commands in a guild. The entry whose id is the application's counts for all commands without an entry.`,
			Route:  "GET /applications/{application_id}/guilds/{guild_id}/commands/permissions",
			Scope:  mcpcore.GuildScope,
			Locked: true,
		},
		read[commandsListGlobal, commandsPage]{
			Name:  "commands_list_global",
			Title: "List global commands",
			Doc:   `Lists the application's global commands with their options. Commands of one guild are listed with commands_list_guild.`,
			Route: routeCommands,
			Fence: fence.ChannelTopic,
		},
		read[commandsListGuild, commandsPage]{
			Name:   "commands_list_guild",
			Title:  "List commands of a guild",
			Doc:    `Lists the application's own commands in one guild with their options. Global commands are not among them.`,
			Route:  routeGuildCommands,
			Scope:  mcpcore.GuildScope,
			Locked: true,
			Fence:  fence.ChannelTopic,
		},
		write[commandsModifyGlobal, commandSaved]{
			Name:  "commands_modify_global",
			Title: "Change a global command",
			Doc: `Changes a global command. What is given replaces the whole of it: give all options, not the new one. A new
				name deletes the command's permissions.`,
			Route:      "PATCH /applications/{application_id}/commands/{command_id}",
			Repeatable: true,
			Rules:      []mcpcore.Rule{anyBeside("application_id", "command_id"), choicesRule},
			Fence:      fence.ChannelTopic,
		},
		write[commandsModifyGuild, commandSaved]{
			Name:  "commands_modify_guild",
			Title: "Change a command of a guild",
			Doc: `Changes a command of one guild. What is given replaces the whole of it: give all options, not the new one. A
				new name deletes the command's permissions.`,
			Route:      "PATCH /applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
			Scope:      mcpcore.GuildScope,
			Locked:     true,
			Repeatable: true,
			Rules:      []mcpcore.Rule{anyBeside("application_id", "guild_id", "command_id"), choicesRule},
			Fence:      fence.ChannelTopic,
		},
	}}
}

const (
	routeCommands      = "GET /applications/{application_id}/commands"
	routeCommand       = "GET /applications/{application_id}/commands/{command_id}"
	routeGuildCommands = "GET /applications/{application_id}/guilds/{guild_id}/commands"
	routeGuildCommand  = "GET /applications/{application_id}/guilds/{guild_id}/commands/{command_id}"
)

// createCommand says whether the command is new: Discord takes a name that is
// there for a change.
func createCommand[In any](ctx context.Context, a *api, _ In) (v commandMade, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	v.Created = reply.Status == http.StatusCreated
	return v, a.project(reply, &v)
}

type commandDeleted struct {
	Deleted   bool              `json:"deleted" from:"@true"`
	CommandID discord.CommandID `json:"command_id" from:"@arg"`
}

type guildCommandDeleted struct {
	commandDeleted
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
}
