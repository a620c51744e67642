package workflows

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// localText is a name or a description in another language.
type localText string

func (localText) JSONSchema() string { return `{"type":"string","minLength":1,"maxLength":100}` }

// commandDefinition is the whole of a command, under the names that Discord gives
// it, so that what was read can be given.
//
// Source: https://docs.discord.com/developers/interactions/application-commands#application-command-object.
type commandDefinition struct {
	Type         int                    `json:"type,omitempty" jsonschema:"1 slash command (when left out), 2 user menu, 3 message menu, 4 entry point of an activity; cannot be changed" enum:"1,2,3,4"`
	Name         string                 `json:"name" jsonschema:"slash commands: lower case, no spaces" minLength:"1" maxLength:"32"`
	Names        map[string]localText   `json:"name_localizations,omitempty" jsonschema:"by locale, such as de or en-GB"`
	Description  string                 `json:"description,omitempty" jsonschema:"of slash commands, which must have one" maxLength:"100"`
	Descriptions map[string]localText   `json:"description_localizations,omitempty" jsonschema:"by locale"`
	Options      []commandOption        `json:"options,omitempty" jsonschema:"of slash commands, required ones first. Types: 1 subcommand, 2 group of those, 3 text, 4 integer, 5 boolean, 6 user, 7 channel, 8 role, 9 user or role, 10 number, 11 file" maxItems:"25"`
	Needs        *discord.PermissionSet `json:"default_member_permissions,omitempty" jsonschema:"who has these may use it at first; 0 administrators alone, null everyone"`
	NSFW         bool                   `json:"nsfw,omitempty" jsonschema:"age-restricted"`
	Installs     []int                  `json:"integration_types,omitempty" jsonschema:"of global commands, which must say it: where the application is installed, 0 guilds, 1 users" enum:"0,1" uniqueItems:"true"`
	Contexts     []int                  `json:"contexts,omitempty" jsonschema:"of global commands, which must say it: where it can be used, 0 guilds, 1 the bot's direct messages, 2 others" enum:"0,1,2" uniqueItems:"true"`
	Handler      int                    `json:"handler,omitempty" jsonschema:"of an entry point: 1 the application answers, 2 Discord starts the activity" enum:"1,2"`
}

// commandOption is an option of a command, or of a subcommand.
type commandOption struct {
	Type         int                  `json:"type" minimum:"1" maximum:"11"`
	Name         string               `json:"name" minLength:"1" maxLength:"32"`
	Names        map[string]localText `json:"name_localizations,omitempty"`
	Description  string               `json:"description" minLength:"1" maxLength:"100"`
	Descriptions map[string]localText `json:"description_localizations,omitempty"`
	Required     bool                 `json:"required,omitempty"`
	Choices      []commandChoice      `json:"choices,omitempty" maxItems:"25"`
	Channels     []int                `json:"channel_types,omitempty" uniqueItems:"true"`
	MinValue     *float64             `json:"min_value,omitempty"`
	MaxValue     *float64             `json:"max_value,omitempty"`
	MinLength    *int                 `json:"min_length,omitempty" minimum:"0" maximum:"6000"`
	MaxLength    *int                 `json:"max_length,omitempty" minimum:"1" maximum:"6000"`
	Autocomplete bool                 `json:"autocomplete,omitempty"`
	Options      []commandOption      `json:"options,omitempty" maxItems:"25"`
}

type commandChoice struct {
	Name  string               `json:"name" minLength:"1" maxLength:"100"`
	Names map[string]localText `json:"name_localizations,omitempty"`
	Value json.RawMessage      `json:"value"` // text or number, as the option's type says
}

// tidy gives equal commands one form.
func (c *commandDefinition) tidy() {
	if c.Type == 0 {
		c.Type = slashCommand
	}
	slices.Sort(c.Installs)
	slices.Sort(c.Contexts)
	tidyOptions(c.Options)
}

func tidyOptions(all []commandOption) {
	for i := range all {
		slices.Sort(all[i].Channels)
		tidyOptions(all[i].Options)
	}
}

// Types of options that hold others, and of those that take texts.
const (
	optionSub   = 1
	optionGroup = 2
	optionText  = 3
)

// commandChars is what names of slash commands and of their options are made of.
//
// Source: https://docs.discord.com/developers/interactions/application-commands#application-command-object-application-command-naming.
var commandChars = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]+$`)

func badCommandName(name string) bool {
	return !commandChars.MatchString(name) || strings.ToLower(name) != name
}

func longNames(all map[string]localText) bool {
	for _, name := range all {
		if utf8.RuneCountInString(string(name)) > 32 {
			return true
		}
	}
	return false
}

// largestCommand is how many characters the names, descriptions and values of a
// command have together at most.
const largestCommand = 8000

// check refuses what Discord would refuse, and what is not said of a global
// command.
func (c *commandDefinition) check(global bool) error {
	bad := func(format string, with ...any) error { return refused("definition", format, with...) }
	switch {
	case global && (len(c.Installs) == 0 || len(c.Contexts) == 0):
		return bad("a global command must say its integration_types and contexts")
	case !global && (len(c.Installs) > 0 || len(c.Contexts) > 0):
		return bad("integration_types and contexts are of global commands")
	case (c.Type == entryPoint) != (c.Handler != 0):
		return bad("an entry point needs a handler, and nothing else has one")
	case c.Type == slashCommand && (c.Description == "" || badCommandName(c.Name)):
		return bad("a slash command has a description and a name in lower case without spaces")
	case longNames(c.Names):
		return bad("a name in another language has more than 32 characters")
	case c.Type != slashCommand && len(c.Options) > 0:
		return bad("only slash commands have options")
	case c.Type != slashCommand && c.Type != entryPoint && c.Description+compact(c.Descriptions) != "null":
		return bad("menus have no description")
	}
	size := utf8.RuneCountInString(c.Name + c.Description)
	if err := checkOptions(c.Options, 0, &size); err != nil {
		return err
	}
	if size > largestCommand {
		return bad("the command has %d characters of names, descriptions and values; it may have %d", size, largestCommand)
	}
	return nil
}

// checkOptions checks options so many levels down.
func checkOptions(all []commandOption, level int, size *int) error {
	names, nests, optional := map[string]bool{}, 0, false
	for _, o := range all {
		bad := func(what string) error { return refused("definition", "the option %s %s", o.Name, what) }
		nest := o.Type == optionSub || o.Type == optionGroup
		switch {
		case badCommandName(o.Name) || names[o.Name]:
			return bad("needs a name of its own, in lower case without spaces")
		case longNames(o.Names):
			return bad("has a name in another language of more than 32 characters")
		case o.Type == optionSub && level > 1 || o.Type == optionGroup && level > 0:
			return bad("stands too deep")
		case !nest && len(o.Options) > 0:
			return bad("has options, which only subcommands and groups have")
		case !nest && o.Required && optional:
			return bad("is required and must stand before those that are not")
		case o.Autocomplete && len(o.Choices) > 0:
			return bad("has choices, so it completes nothing")
		}
		for _, choice := range o.Choices {
			text := strings.HasPrefix(string(choice.Value), `"`)
			if o.Type == optionText && !text || o.Type != optionText && !isNumber(choice.Value) {
				return bad("has choices whose values are not of its type")
			}
			*size += utf8.RuneCountInString(choice.Name)
			if text {
				*size += utf8.RuneCount(choice.Value) - 2
			}
		}
		names[o.Name], optional = true, optional || !o.Required
		*size += utf8.RuneCountInString(o.Name + o.Description)
		if nest {
			nests++
		}
		next := level + 1
		if o.Type == optionSub {
			next = 2
		}
		if err := checkOptions(o.Options, next, size); err != nil {
			return err
		}
	}
	if nests > 0 && nests < len(all) {
		return refused("definition", "subcommands and groups stand beside no other options")
	}
	return nil
}

// fields are the parts of a command beside those of another.
func (c commandDefinition) fields(other commandDefinition) []field {
	one, two := c.named(), other.named()
	for i := range one {
		one[i].Wanted = two[i].Now
	}
	return one
}

func (c commandDefinition) named() []field {
	list := func(v any, n int) string {
		if n == 0 {
			return "none"
		}
		return compact(v)
	}
	return []field{
		{Name: "name", Now: c.Name},
		{Name: "name_localizations", Now: list(c.Names, len(c.Names))},
		{Name: "description", Now: c.Description},
		{Name: "description_localizations", Now: list(c.Descriptions, len(c.Descriptions))},
		{Name: "options", Now: list(c.Options, len(c.Options))},
		{Name: "default_member_permissions", Now: c.users()},
		{Name: "nsfw", Now: compact(c.NSFW)},
		{Name: "integration_types", Now: list(c.Installs, len(c.Installs))},
		{Name: "contexts", Now: list(c.Contexts, len(c.Contexts))},
		{Name: "handler", Now: compact(c.Handler)},
	}
}

// facts are what a person sees of a new command.
func (c *commandDefinition) facts() mcpcore.Facts {
	names := make([]string, len(c.Options))
	for i, o := range c.Options {
		names[i] = o.Name
	}
	facts := mcpcore.Facts{
		{Name: "description", Value: orNone(c.Description)}, {Name: "options", Value: orNone(strings.Join(names, ", "))}, {Name: "who may use it at first", Value: c.users()},
	}
	if len(c.Installs) > 0 {
		facts = append(facts,
			mcpcore.Fact{Name: "for what is installed in", Value: inWords(c.Installs, "guilds", "users' accounts")},
			mcpcore.Fact{Name: "to be used in", Value: inWords(c.Contexts, "guilds", "the bot's direct messages", "other direct messages")})
	}
	return facts
}

// users says who may use the command where nobody said otherwise.
func (c *commandDefinition) users() string {
	if c.Needs == nil {
		return "everyone"
	}
	set, err := c.Needs.Bits()
	if err != nil {
		return string(*c.Needs)
	}
	if set == (discord.Bits{}) {
		return "administrators alone"
	}
	return "who has " + strings.Join(set.Names(), ", ")
}

// inWords names the numbers of a list.
func inWords(all []int, words ...string) string {
	named := make([]string, len(all))
	for i, n := range all {
		named[i] = words[n]
	}
	return strings.Join(named, ", ")
}

// commandBody is a whole command as it is sent: what it does not have is said.
type commandBody struct {
	Type         int                    `json:"type,omitempty"`
	Name         string                 `json:"name"`
	Names        map[string]localText   `json:"name_localizations"`
	Description  string                 `json:"description"`
	Descriptions map[string]localText   `json:"description_localizations"`
	Options      []commandOption        `json:"options,omitzero"`
	Needs        *discord.PermissionSet `json:"default_member_permissions"`
	NSFW         bool                   `json:"nsfw"`
	Installs     []int                  `json:"integration_types,omitempty"`
	Contexts     []int                  `json:"contexts,omitempty"`
	Handler      int                    `json:"handler,omitempty"`
}

func (c *commandDefinition) body(global, create bool) commandBody {
	b := commandBody{0, c.Name, c.Names, c.Description, c.Descriptions, nil, c.Needs, c.NSFW, c.Installs, c.Contexts, c.Handler}
	if create {
		b.Type = c.Type
	}
	if c.Type == slashCommand {
		b.Options = append([]commandOption{}, c.Options...)
	}
	return b
}
