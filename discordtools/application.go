package discordtools

import (
	"encoding/json"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/internal/redact"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// application reads and changes the bot's application itself.
//
// Source: https://docs.discord.com/developers/resources/application.
func application() category {
	return category{Name: "application", Scope: mcpcore.ApplicationScope, Tools: []declaration{
		read[activityInstanceRef, activityInstance]{
			Name:  "application_get_activity_instance",
			Title: "Get an activity instance",
			Doc:   `Reads who takes part in a running instance of the application's activity, and where. Not found means that it has ended.`,
			Route: "GET /applications/{application_id}/activity-instances/{instance_id}",
		},
		read[struct{}, applicationOne]{
			Name:     "application_get_current",
			Title:    "Get the application",
			Doc:      `Reads the bot's application: which one it is, how it is installed and where its events go. Credentials in addresses are masked. For the bot's account use users_get_current.`,
			Route:    routeApplication,
			Unlocked: true,
			Fence:    fence.ChannelTopic,
		},
		read[applicationRef, roleConnections]{
			Name:  "application_get_role_connection_metadata",
			Title: "Get role connection metadata",
			Doc:   `Reads the fields by which guilds can demand something of a linked account before they give a role.`,
			Route: "GET /applications/{application_id}/role-connections/metadata",
			Fence: fence.ChannelTopic,
		},
		write[applicationModify, applicationOne]{
			Name:  "application_modify_current",
			Title: "Change the application",
			Doc: `Changes the bot's application for everybody. A new interactions_endpoint_url takes all interactions away from
				the bot's connection: Discord tests the address first. The name and privileged intents of large bots are changed in
				the developer portal.`,
			Route:      "PATCH /applications/@me",
			Repeatable: true,
			Rules:      []mcpcore.Rule{anyBeside()},
			Redact:     []string{"icon", "cover_image"},
			Fence:      fence.ChannelTopic,
		},
		write[roleConnectionsModify, roleConnections]{
			Name:  "application_modify_role_connection_metadata",
			Title: "Replace role connection metadata",
			Doc: `Replaces all fields of linked accounts: those left out are deleted, and guilds that demand them stop giving
				their roles. Start from application_get_role_connection_metadata.`,
			Route: "PUT /applications/{application_id}/role-connections/metadata",
			Fence: fence.ChannelTopic,
		},
	}}
}

const routeApplication = "GET /applications/@me"

// applicationOne leaves out what is nobody's business: keys, redirects, the team.
type applicationOne struct {
	ID              discord.ApplicationID `json:"id"`
	Name            string                `json:"name"`
	Description     *string               `json:"description"`
	Icon            *string               `json:"icon"`
	CoverImage      *string               `json:"cover_image"`
	BotPublic       *bool                 `json:"bot_public,omitempty"`
	CodeGrant       *bool                 `json:"bot_require_code_grant,omitempty"`
	Flags           int                   `json:"flags"`
	Tags            []string              `json:"tags"`
	OwnerID         discord.UserID        `json:"owner_id,omitempty" from:"owner.id"`
	Guilds          *int                  `json:"approximate_guild_count,omitempty"`
	UserInstalls    *int                  `json:"approximate_user_install_count,omitempty"`
	Install         *installView          `json:"install_params,omitempty"`
	Installs        json.RawMessage       `json:"integration_types_config,omitempty"`
	CustomInstall   string                `json:"custom_install_url,omitempty"`
	Interactions    *string               `json:"interactions_endpoint_url"`
	RoleConnections *string               `json:"role_connections_verification_url"`
	EventURL        *string               `json:"event_webhooks_url"`
	EventStatus     int                   `json:"event_webhooks_status,omitempty" jsonschema:"1 off, 2 on, 3 switched off by Discord"`
	EventTypes      []string              `json:"event_webhooks_types,omitempty"`
	UntrustedText   string                `json:"untrusted_text" from:"@derived"`
}

type installView struct {
	Scopes      []string              `json:"scopes"`
	Permissions discord.PermissionSet `json:"permissions"`
}

func (v *applicationOne) derive(*mcpcore.Call) {
	v.CustomInstall = redact.Text(v.CustomInstall)
	for _, address := range []*string{v.Interactions, v.RoleConnections, v.EventURL} {
		if address != nil {
			*address = redact.Text(*address)
		}
	}
	v.UntrustedText = fencedJSON(fence.ChannelTopic, struct {
		Name        string  `json:"name"`
		Description *string `json:"description"`
	}{v.Name, v.Description})
}

type applicationModify struct {
	Description     string         `json:"description,omitempty" maxLength:"400" jsonschema:"shown on the application's profile"`
	Icon            *string        `json:"icon,omitempty" as:"image" jsonschema:"image as a data URI; null removes it"`
	CoverImage      *string        `json:"cover_image,omitempty" as:"image" jsonschema:"image of invites as a data URI; null removes it"`
	Interactions    *string        `json:"interactions_endpoint_url,omitempty" format:"uri" maxLength:"2048" jsonschema:"https address that gets all interactions; null: the bot's connection"`
	RoleConnections *string        `json:"role_connections_verification_url,omitempty" format:"uri" maxLength:"2048" jsonschema:"where people link their account; null removes it"`
	Install         *installParams `json:"install_params,omitempty" jsonschema:"default authorization link; null removes it"`
	Installs        *installTypes  `json:"integration_types_config,omitempty" jsonschema:"by kind of installation"`
	CustomInstall   *string        `json:"custom_install_url,omitempty" format:"uri" maxLength:"2048" jsonschema:"authorization link of one's own; null removes it"`
	Tags            []string       `json:"tags,omitempty" maxItems:"5" maxLength:"20" uniqueItems:"true" jsonschema:"what it is about"`
	Flags           int            `json:"flags,omitempty" jsonschema:"all flags there will be; only 8192 presence, 32768 members and 524288 message content can be changed"`
	EventURL        *string        `json:"event_webhooks_url,omitempty" format:"uri" maxLength:"2048" jsonschema:"https address that gets webhook events; null removes it"`
	EventStatus     int            `json:"event_webhooks_status,omitempty" enum:"1,2" jsonschema:"1 off, 2 on"`
	EventTypes      []string       `json:"event_webhooks_types,omitempty" uniqueItems:"true" jsonschema:"such as APPLICATION_AUTHORIZED"`
}

type installParams struct {
	Scopes      []string              `json:"scopes,omitempty" minItems:"1" uniqueItems:"true"`
	Permissions discord.PermissionSet `json:"permissions,omitempty"`
}

type installTypes struct {
	Guild *installType `json:"0,omitempty" jsonschema:"for guilds"`
	User  *installType `json:"1,omitempty" jsonschema:"for users"`
}

type installType struct {
	Params *installParams `json:"oauth2_install_params,omitempty"`
}

type activityInstanceRef struct {
	applicationRef
	InstanceID string `json:"instance_id" jsonschema:"instance, from the activity's own code" minLength:"1" maxLength:"64"`
}

type activityInstance struct {
	ApplicationID discord.ApplicationID `json:"application_id"`
	InstanceID    string                `json:"instance_id"`
	LaunchID      string                `json:"launch_id"`
	Location      activityPlace         `json:"location"`
	Users         []discord.UserID      `json:"users"`
}

type activityPlace struct {
	ID        string            `json:"id"`
	Kind      string            `json:"kind" jsonschema:"gc guild channel, pc private channel"`
	ChannelID discord.ChannelID `json:"channel_id"`
	GuildID   discord.GuildID   `json:"guild_id,omitempty"`
}
