package discordtools

import (
	"encoding/json"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// commandBrief is what tells one command from another.
type commandBrief struct {
	ID   discord.CommandID `json:"id"`
	Name string            `json:"name"`
	Type int               `json:"type"`
}

// commandSaved is a command after it was changed.
type commandSaved struct {
	commandBrief
	ApplicationID discord.ApplicationID `json:"application_id"`
	GuildID       discord.GuildID       `json:"guild_id,omitempty"`
	Description   string                `json:"description"`
	Version       discord.Snowflake     `json:"version"`
}

type commandMade struct {
	commandSaved
	Created bool `json:"created" from:"@derived" jsonschema:"false: it replaced the one of this name"`
}

// commandItem is a command whole, in the form in which it is given.
type commandItem struct {
	commandBrief
	Description              string                 `json:"description"`
	NameLocalizations        map[string]string      `json:"name_localizations,omitempty"`
	DescriptionLocalizations map[string]string      `json:"description_localizations,omitempty"`
	Options                  []json.RawMessage      `json:"options,omitempty"`
	MemberPermissions        *discord.PermissionSet `json:"default_member_permissions"`
	NSFW                     bool                   `json:"nsfw,omitempty"`
	IntegrationTypes         []int                  `json:"integration_types,omitempty"`
	Contexts                 []int                  `json:"contexts,omitempty"`
	Handler                  int                    `json:"handler,omitempty"`
}

type commandOne struct {
	commandItem
	ApplicationID discord.ApplicationID `json:"application_id"`
	Version       discord.Snowflake     `json:"version"`
	UntrustedText string                `json:"untrusted_text" from:"@derived"`
}

func (v *commandOne) derive(*mcpcore.Call) {
	v.UntrustedText = fencedJSON(fence.ChannelTopic, struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}{v.Name, v.Description})
}

type guildCommandOne struct {
	commandOne
	GuildID discord.GuildID `json:"guild_id"`
}

type commandsPage struct {
	Commands []commandItem `json:"commands" from:"@reply"`
	part
	UntrustedText string `json:"untrusted_text" from:"@derived"`
}

func (v *commandsPage) derive(*mcpcore.Call) {
	type named struct {
		ID          discord.CommandID `json:"id"`
		Name        string            `json:"name"`
		Description string            `json:"description"`
	}
	texts := make([]named, len(v.Commands))
	for i, c := range v.Commands {
		texts[i] = named{c.ID, c.Name, c.Description}
	}
	v.UntrustedText = fencedJSON(fence.ChannelTopic, texts)
}

// commandsSaved is the list after it was replaced.
type commandsSaved struct {
	Commands []commandBrief `json:"commands" from:"@reply"`
	Count    int            `json:"count" from:"@count"`
}
