package discordtools

import "github.com/guildwarden/guildwarden/mcpcore/discord"

// guildCommandOrAll is a command, or the application for what counts for all.
type guildCommandOrAll struct {
	applicationRef
	guildRef
	CommandID discord.CommandID `json:"command_id" jsonschema:"command, or the application's id for what counts for all"`
}

type commandPermissionsList struct {
	applicationRef
	guildRef
	offset
}

type commandPermissionsEdit struct {
	guildCommandOrAll
	Permissions []commandGrant `json:"permissions" jsonschema:"all there will be; type 1 role, 2 user, 3 channel; the guild's id is everyone, one less all channels" maxItems:"100"`
	BearerToken string         `json:"bearer_token" in:"bearer" jsonschema:"OAuth2 access token of a person, without Bearer" minLength:"1" maxLength:"512" pattern:"^[A-Za-z0-9._~+/=-]*$"`
}

// commandGrant opens a command to somebody, or closes it.
//
// Source: https://docs.discord.com/developers/interactions/application-commands#application-command-permissions-object.
type commandGrant struct {
	ID         discord.GranteeID `json:"id"`
	Type       int               `json:"type" enum:"1,2,3"`
	Permission bool              `json:"permission"`
}

type commandPermissions struct {
	ID            string                `json:"id"`
	ApplicationID discord.ApplicationID `json:"application_id"`
	GuildID       discord.GuildID       `json:"guild_id"`
	Permissions   []commandGrant        `json:"permissions"`
}

type commandPermissionsPage struct {
	Permissions []commandPermissions `json:"permissions" from:"@reply"`
	part
}
