package sandbox

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// locales are the languages of Discord's clients.
//
// Source: https://docs.discord.com/developers/reference#locales.
var locales = strings.Fields(`ar bg cs da de el en-GB en-US es-419 es-ES fi fr he hi hr hu id it ja ko lt nl no pl pt-BR ro ru sv-SE th tr
	uk vi zh-CN zh-TW`)

// commandForm is what a request says of a command beside its name.
type commandForm struct {
	Names            opt[map[string]string]   `json:"name_localizations" minLength:"1" maxLength:"32"`
	Description      opt[string]              `json:"description" maxLength:"100"`
	Descriptions     opt[map[string]string]   `json:"description_localizations" minLength:"1" maxLength:"100"`
	Options          opt[[]commandOptionForm] `json:"options" maxItems:"25"`
	Needs            opt[discord.Permissions] `json:"default_member_permissions"`
	DMs              opt[bool]                `json:"dm_permission"`
	Contexts         opt[[]int]               `json:"contexts" minItems:"1"`
	IntegrationTypes opt[[]int]               `json:"integration_types" minItems:"1"`
	NSFW             opt[bool]                `json:"nsfw"`
	Handler          opt[int]                 `json:"handler" enum:"1,2"`
}

type newCommandForm struct {
	Name string   `json:"name" minLength:"1" maxLength:"32"`
	Type opt[int] `json:"type" enum:"1,2,3,4"`
	commandForm
}

type commandEditForm struct {
	Name opt[string] `json:"name" minLength:"1" maxLength:"32" null:"no"`
	commandForm
}

type draftForm struct {
	ID opt[discord.CommandID] `json:"id"`
	newCommandForm
}

type commandOptionForm struct {
	Type         int                      `json:"type" enum:"1,2,3,4,5,6,7,8,9,10,11"`
	Name         string                   `json:"name" minLength:"1" maxLength:"32"`
	Names        opt[map[string]string]   `json:"name_localizations" minLength:"1" maxLength:"32"`
	Description  string                   `json:"description" minLength:"1" maxLength:"100"`
	Descriptions opt[map[string]string]   `json:"description_localizations" minLength:"1" maxLength:"100"`
	Required     opt[bool]                `json:"required"`
	Choices      opt[[]choiceForm]        `json:"choices" maxItems:"25"`
	ChannelTypes opt[[]int]               `json:"channel_types"`
	MinValue     opt[float64]             `json:"min_value"`
	MaxValue     opt[float64]             `json:"max_value"`
	MinLength    opt[int]                 `json:"min_length" minimum:"0" maximum:"6000"`
	MaxLength    opt[int]                 `json:"max_length" minimum:"1" maximum:"6000"`
	Autocomplete opt[bool]                `json:"autocomplete"`
	Options      opt[[]commandOptionForm] `json:"options" maxItems:"25"`
}

type choiceForm struct {
	Name  string                 `json:"name" minLength:"1" maxLength:"100"`
	Names opt[map[string]string] `json:"name_localizations" minLength:"1" maxLength:"100"`
	Value json.RawMessage        `json:"value"`
}

// apply writes what was sent into a command. What only commands everywhere have
// is left out in guilds.
func (f *commandForm) apply(c *Command) {
	f.Names.into(&c.Names)
	f.Description.into(&c.Description)
	f.Descriptions.into(&c.Descriptions)
	if f.Options.sent {
		c.Options = optionsOf(f.Options.value)
	}
	if f.Needs.sent {
		c.Needs = f.Needs.pointer()
	}
	f.NSFW.into(&c.NSFW)
	f.Handler.into(&c.Handler)
	if c.Guild == "" {
		c.WithoutDMs = !f.DMs.or(!c.WithoutDMs)
		f.Contexts.into(&c.Contexts)
		f.IntegrationTypes.into(&c.IntegrationTypes)
	}
}

func optionsOf(forms []commandOptionForm) []CommandOption {
	return mapped(forms, func(f commandOptionForm) CommandOption {
		return CommandOption{
			Type: f.Type, Name: f.Name, Names: f.Names.value, Description: f.Description, Descriptions: f.Descriptions.value,
			Required: f.Required.value, ChannelTypes: f.ChannelTypes.value, MinValue: f.MinValue.pointer(), MaxValue: f.MaxValue.pointer(),
			MinLength: f.MinLength.pointer(), MaxLength: f.MaxLength.pointer(), Autocomplete: f.Autocomplete.value,
			Options: optionsOf(f.Options.value),
			Choices: mapped(f.Choices.value, func(c choiceForm) CommandChoice {
				var v any
				_ = json.Unmarshal(c.Value, &v) // the body is valid JSON
				return CommandChoice{c.Name, c.Names.value, v}
			}),
		}
	})
}

// drafts are the commands of a whole list, with the ids of those that are there.
func (s *commandSet) drafts(forms []draftForm) ([]Command, error) {
	var f form
	seen, counts := map[string]bool{}, map[int]int{}
	all := make([]Command, len(forms))
	for i, d := range forms {
		at := strconv.Itoa(i)
		c := Command{ID: d.ID.value, Guild: s.id(), Type: d.Type.or(SlashCommand), Name: d.Name}
		if c.ID != "" && s.all[c.ID] == nil {
			return nil, errNoCommand
		}
		if old := s.find(c.Name, c.Type); c.ID == "" && old != nil {
			c.ID = old.ID
		}
		d.commandForm.apply(&c)
		f.command(at, &c)
		key := strconv.Itoa(c.Type) + c.Name
		if seen[key] || seen[string(c.ID)] && c.ID != "" {
			f.add(at, "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		seen[key], seen[string(c.ID)] = true, true
		if counts[c.Type]++; counts[c.Type] > commandsOf[c.Type] {
			return nil, errCommandsFull
		}
		all[i] = c
	}
	return all, f.err()
}

// checkCommand checks what tags cannot say.
func checkCommand(path string, c *Command) error {
	var f form
	f.command(path, c)
	return f.err()
}

func (f *form) command(path string, c *Command) {
	at := func(name string) string { return join(path, name) }
	f.locales(at("name_localizations"), c.Names)
	f.locales(at("description_localizations"), c.Descriptions)
	if c.Type == EntryPoint && c.Guild != "" {
		f.add(at("type"), "APPLICATION_COMMAND_INVALID_TYPE", "Entry point commands cannot be guild commands")
	}
	if c.Type != SlashCommand {
		if c.Type != EntryPoint && c.Description != "" {
			f.add(at("description"), "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_INVALID", "Context menu commands cannot have description")
		}
		if len(c.Options) > 0 {
			f.add(at("options"), "APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS_INVALID", "Context menu commands cannot have options")
		}
		return
	}
	f.commandName(at("name"), c.Name)
	if c.Description == "" {
		f.add(at("description"), "BASE_TYPE_REQUIRED", "This field is required")
	}
	size := utf8.RuneCountInString(c.Name + c.Description)
	if size += f.options(at("options"), c.Options, 0); size > 8000 {
		f.add(path, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)")
	}
}

// commandChars is what names of slash commands and of options are made of. How
// many is no part of it: 32 copies of these classes would take milliseconds of
// every start.
var commandChars = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]+$`)

func (f *form) commandName(path, name string) {
	if utf8.RuneCountInString(name) > 32 || !commandChars.MatchString(name) || strings.ToLower(name) != name {
		f.add(path, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
}

func (f *form) locales(path string, texts map[string]string) {
	for locale := range texts {
		if !slices.Contains(locales, locale) {
			f.add(join(path, locale), "BASE_TYPE_CHOICES", "Value must be one of {%s}.", strings.Join(locales, ", "))
		}
	}
}

// Types of options.
const (
	optionSub     = 1
	optionGroup   = 2
	optionText    = 3
	optionInteger = 4
	optionChannel = 7
	optionNumber  = 10
)

// options checks a list of options so many levels down, and counts the characters
// that have a limit.
func (f *form) options(path string, all []CommandOption, level int) (size int) {
	names := map[string]bool{}
	optional, nests := false, 0
	for i, o := range all {
		at := join(path, strconv.Itoa(i))
		f.commandName(join(at, "name"), o.Name)
		f.locales(join(at, "name_localizations"), o.Names)
		f.locales(join(at, "description_localizations"), o.Descriptions)
		size += utf8.RuneCountInString(o.Name + o.Description)
		if names[o.Name] {
			f.add(join(at, "name"), "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option name already exists")
		}
		names[o.Name] = true
		if o.Type == optionSub || o.Type == optionGroup {
			nests++
			if o.Type == optionSub && level > 1 || o.Type == optionGroup && level > 0 {
				f.add(join(at, "type"), "BASE_TYPE_CHOICES", "Value must be one of {3, 4, 5, 6, 7, 8, 9, 10, 11}.")
			}
			next := level + 1
			if o.Type == optionSub {
				next = 2
			}
			size += f.options(join(at, "options"), o.Options, next)
			continue
		}
		if o.Required && optional {
			f.add(at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		}
		optional = optional || !o.Required
		size += f.choices(at, o)
	}
	if nests > 0 && nests < len(all) {
		f.add(path, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types are mutually exclusive to all other types")
	}
	return size
}

func (f *form) choices(at string, o CommandOption) (size int) {
	if len(o.Choices) > 0 && o.Autocomplete {
		f.add(join(at, "choices"), "APPLICATION_COMMAND_AUTOCOMPLETE_CHOICES", "Autocomplete options cannot have choices")
	}
	for k, c := range o.Choices {
		path := join(join(join(at, "choices"), strconv.Itoa(k)), "value")
		text, isText := c.Value.(string)
		n, isNumber := c.Value.(float64)
		size += utf8.RuneCountInString(c.Name + text)
		switch {
		case o.Type == optionText && !isText:
			f.add(path, "STRING_TYPE_CONVERT", "Could not interpret %q as string.", c.Value)
		case o.Type == optionInteger && (!isNumber || n != math.Trunc(n)):
			f.add(path, "NUMBER_TYPE_COERCE", "Value is not int.")
		case o.Type == optionNumber && !isNumber:
			f.add(path, "NUMBER_TYPE_COERCE", "Value is not float.")
		}
	}
	return size
}
