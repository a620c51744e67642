package discordtools

import (
	"encoding/json"
	"fmt"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// applicationRef is the application that a call acts on.
type applicationRef struct {
	ApplicationID discord.ApplicationID `json:"application_id,omitempty" jsonschema:"the bot's own when left out"`
}

type commandRef struct {
	CommandID discord.CommandID `json:"command_id" jsonschema:"command"`
}

type globalCommand struct {
	applicationRef
	commandRef
}

type guildCommand struct {
	applicationRef
	guildRef
	commandRef
}

// localName and localText are values of localizations: a name and a description.
type (
	localName string
	localText string
)

func (localName) JSONSchema() string { return `{"type":"string","minLength":1,"maxLength":32}` }
func (localText) JSONSchema() string { return `{"type":"string","minLength":1,"maxLength":100}` }

// commandName is the name of a new command.
type commandName struct {
	Name string `json:"name" jsonschema:"slash commands: lower case, no spaces" minLength:"1" maxLength:"32"`
}

// commandFields are what a command has beside its name.
//
// Source: https://docs.discord.com/developers/interactions/application-commands#application-command-object.
type commandFields struct {
	NameLocalizations        *map[string]localName  `json:"name_localizations,omitempty" jsonschema:"by locale, such as de or en-GB"`
	Description              string                 `json:"description,omitempty" jsonschema:"of slash commands, which must have one" maxLength:"100"`
	DescriptionLocalizations *map[string]localText  `json:"description_localizations,omitempty" jsonschema:"by locale"`
	Options                  []commandOption        `json:"options,omitempty" jsonschema:"of slash commands, required ones first. Types: 1 subcommand, 2 group of those, 3 text, 4 integer, 5 boolean, 6 user, 7 channel, 8 role, 9 user or role, 10 number, 11 file" maxItems:"25"`
	MemberPermissions        *discord.PermissionSet `json:"default_member_permissions,omitempty" jsonschema:"who has these may use it; 0 administrators alone, null everyone"`
	DMPermission             *bool                  `json:"dm_permission,omitempty" jsonschema:"deprecated: use contexts"`
	DefaultPermission        *bool                  `json:"default_permission,omitempty" jsonschema:"deprecated: use default_member_permissions"`
	Type                     int                    `json:"type,omitempty" jsonschema:"1 slash (when left out), 2 user menu, 3 message menu, 4 entry point of an activity; cannot be changed" enum:"1,2,3,4"`
	NSFW                     bool                   `json:"nsfw,omitempty" jsonschema:"age-restricted"`
	IntegrationTypes         []int                  `json:"integration_types,omitempty" jsonschema:"where the application is installed: 0 guilds, 1 users; global commands only" enum:"0,1" minItems:"1" uniqueItems:"true"`
	Contexts                 *[]int                 `json:"contexts,omitempty" jsonschema:"where it can be used: 0 guilds, 1 the bot's direct messages, 2 others; global commands only" enum:"0,1,2" minItems:"1" uniqueItems:"true"`
	Handler                  int                    `json:"handler,omitempty" jsonschema:"of type 4: 1 the application answers, 2 Discord starts the activity" enum:"1,2"`
}

// commandOption is an option of a command, or of a subcommand. A group holds
// subcommands and these hold options: nothing goes deeper.
type commandOption struct {
	Type                     int                   `json:"type" minimum:"1" maximum:"11"`
	Name                     string                `json:"name" minLength:"1" maxLength:"32"`
	NameLocalizations        *map[string]localName `json:"name_localizations,omitempty"`
	Description              string                `json:"description" minLength:"1" maxLength:"100"`
	DescriptionLocalizations *map[string]localText `json:"description_localizations,omitempty"`
	Required                 bool                  `json:"required,omitempty"`
	Choices                  []commandChoice       `json:"choices,omitempty" maxItems:"25"`
	ChannelTypes             []int                 `json:"channel_types,omitempty" uniqueItems:"true"`
	MinValue                 float64               `json:"min_value,omitempty"`
	MaxValue                 float64               `json:"max_value,omitempty"`
	MinLength                int                   `json:"min_length,omitempty" minimum:"0" maximum:"6000"`
	MaxLength                int                   `json:"max_length,omitempty" minimum:"1" maximum:"6000"`
	Autocomplete             bool                  `json:"autocomplete,omitempty"`
	Options                  []commandOption       `json:"options,omitempty" maxItems:"25"`
}

type commandChoice struct {
	Name              string                `json:"name" minLength:"1" maxLength:"100"`
	NameLocalizations *map[string]localText `json:"name_localizations,omitempty"`
	Value             json.RawMessage       `json:"value"` // text or number, as the option's type says
}

type commandsCreateGlobal struct {
	applicationRef
	commandName
	commandFields
}

type commandsCreateGuild struct {
	applicationRef
	guildRef
	commandName
	commandFields
}

// commandEdit is what can be changed of a command.
type commandEdit struct {
	Name string `json:"name,omitempty" jsonschema:"slash commands: lower case, no spaces" minLength:"1" maxLength:"32"`
	commandFields
}

type commandsModifyGlobal struct {
	globalCommand
	commandEdit
}

type commandsModifyGuild struct {
	guildCommand
	commandEdit
}

// commandDraft is a command of a whole list.
type commandDraft struct {
	ID discord.CommandID `json:"id,omitempty" jsonschema:"of an existing one that gets another name"`
	commandName
	commandFields
}

// commandDrafts is the whole list.
type commandDrafts struct {
	Commands []commandDraft `json:"commands" in:"wholebody" jsonschema:"all there will be; [] deletes all" maxItems:"130"`
}

type commandsOverwriteGlobal struct {
	applicationRef
	commandDrafts
}

type commandsOverwriteGuild struct {
	applicationRef
	guildRef
	commandDrafts
}

type commandsListGlobal struct {
	applicationRef
	Localizations bool `json:"with_localizations,omitempty" jsonschema:"also names and descriptions in other languages"`
	offset
}

type commandsListGuild struct {
	applicationRef
	guildRef
	Localizations bool `json:"with_localizations,omitempty" jsonschema:"also names and descriptions in other languages"`
	offset
}

// choicesRule demands of each choice a value of its option's type, which the
// schema cannot say.
var choicesRule = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	if options, ok := argument[[]commandOption](call, "options"); ok {
		return choiceIssue("options", options)
	}
	drafts, _ := argument[[]commandDraft](call, "commands")
	for i, d := range drafts {
		if issue := choiceIssue(fmt.Sprintf("commands.%d.options", i), d.Options); issue != nil {
			return issue
		}
	}
	return nil
}}

func choiceIssue(path string, options []commandOption) *mcpcore.Issue {
	for i, o := range options {
		at := fmt.Sprintf("%s.%d", path, i)
		for k, c := range o.Choices {
			text := len(c.Value) > 0 && c.Value[0] == '"'
			number := len(c.Value) > 0 && (c.Value[0] == '-' || c.Value[0] >= '0' && c.Value[0] <= '9')
			where := fmt.Sprintf("%s.choices.%d.value", at, k)
			switch {
			case !text && !number:
				return contradiction(where, "must be a text or a number")
			case o.Type == optionText && number:
				return contradiction(where, "must be a text, as the option is one (type 3)")
			case (o.Type == optionInteger || o.Type == optionNumber) && text:
				return contradiction(where, "must be a number, as the option is one (type %d)", o.Type)
			}
		}
		if issue := choiceIssue(at+".options", o.Options); issue != nil {
			return issue
		}
	}
	return nil
}

// Types of options that take choices.
const (
	optionText    = 3
	optionInteger = 4
	optionNumber  = 10
)
