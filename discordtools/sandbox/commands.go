package sandbox

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// commandRoutes are the application's commands, everywhere and in a guild.
//
// Source: https://docs.discord.com/developers/interactions/application-commands.
var commandRoutes = []route{
	{method: "GET", path: "/applications/{application_id}/commands", handle: inCommands(listCommands)},
	{method: "POST", path: "/applications/{application_id}/commands", handle: inCommands(createCommand)},
	{method: "PUT", path: "/applications/{application_id}/commands", handle: inCommands(replaceCommands)},
	{method: "GET", path: "/applications/{application_id}/commands/{command_id}", handle: onCommand(getCommand)},
	{method: "PATCH", path: "/applications/{application_id}/commands/{command_id}", handle: onCommand(editCommand)},
	{method: "DELETE", path: "/applications/{application_id}/commands/{command_id}", handle: onCommand(deleteCommand)},
	{method: "GET", path: "/applications/{application_id}/guilds/{guild_id}/commands", handle: inCommands(listCommands)},
	{method: "POST", path: "/applications/{application_id}/guilds/{guild_id}/commands", handle: inCommands(createCommand)},
	{method: "PUT", path: "/applications/{application_id}/guilds/{guild_id}/commands", handle: inCommands(replaceCommands)},
	{method: "GET", path: "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}", handle: onCommand(getCommand)},
	{method: "PATCH", path: "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}", handle: onCommand(editCommand)},
	{method: "DELETE", path: "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}", handle: onCommand(deleteCommand)},
}

// Types of commands.
const (
	SlashCommand = 1
	UserMenu     = 2
	MessageMenu  = 3
	EntryPoint   = 4
)

// commandsOf is how many commands of a type fit, everywhere and in each guild.
var commandsOf = map[int]int{SlashCommand: 100, UserMenu: 15, MessageMenu: 15, EntryPoint: 1}

var (
	errNoCommand    = notFound(10063, "Unknown application command")
	errCommandsFull = badRequest(30032, "Maximum number of application commands reached")
)

// Command is a command of the bot's application.
type Command struct {
	ID               discord.CommandID
	Guild            discord.GuildID // "" is everywhere
	Type             int             // 0 means SlashCommand
	Name             string
	Names            map[string]string // by locale
	Description      string
	Descriptions     map[string]string
	Options          []CommandOption
	Needs            *discord.Permissions // what members need to use it; nil is nothing
	NSFW             bool
	IntegrationTypes []int // nil means guilds alone
	Contexts         []int
	WithoutDMs       bool
	Handler          int
	Version          string // "" is made
}

// CommandOption is an option of a command or subcommand.
type CommandOption struct {
	Type         int               `json:"type"`
	Name         string            `json:"name"`
	Names        map[string]string `json:"name_localizations,omitempty"`
	Description  string            `json:"description"`
	Descriptions map[string]string `json:"description_localizations,omitempty"`
	Required     bool              `json:"required,omitempty"`
	Choices      []CommandChoice   `json:"choices,omitempty"`
	ChannelTypes []int             `json:"channel_types,omitempty"`
	MinValue     *float64          `json:"min_value,omitempty"`
	MaxValue     *float64          `json:"max_value,omitempty"`
	MinLength    *int              `json:"min_length,omitempty"`
	MaxLength    *int              `json:"max_length,omitempty"`
	Autocomplete bool              `json:"autocomplete,omitempty"`
	Options      []CommandOption   `json:"options,omitempty"`
}

// CommandChoice is a value that people can choose: a string or a float64.
type CommandChoice struct {
	Name  string            `json:"name"`
	Names map[string]string `json:"name_localizations,omitempty"`
	Value any               `json:"value"`
}

type commandMap map[discord.CommandID]*Command

// AddCommand adds a command of the bot's application.
func (d *Discord) AddCommand(c Command) discord.CommandID {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.world.app.commands
	if c.Guild != "" {
		all = known(d.world.guilds, c.Guild).commands
	}
	named(&d.world, &c.ID)
	unused(all, c.ID)
	c.Type = orDefault(c.Type, SlashCommand)
	if c.Version == "" {
		c.Version = d.world.issue()
	}
	all[c.ID] = &c
	return c.ID
}

// Commands lists the commands of a guild, those that are everywhere for "", the
// oldest first.
func (d *Discord) Commands(of discord.GuildID) []Command {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.world.app.commands
	if of != "" {
		all = known(d.world.guilds, of).commands
	}
	return mapped(sorted(all), func(c *Command) Command { return *c })
}

// commandSet is where a request's commands are.
type commandSet struct {
	guild *guild // nil is everywhere
	all   commandMap
}

func (s *commandSet) id() discord.GuildID {
	if s.guild == nil {
		return ""
	}
	return s.guild.ID
}

// find is the command of a name and type, nil when there is none.
func (s *commandSet) find(name string, kind int) *Command {
	for _, c := range s.all {
		if c.Name == name && c.Type == kind {
			return c
		}
	}
	return nil
}

// inCommands resolves {application_id}, and {guild_id} where the path has it.
func inCommands(handle func(*exchange, *commandSet) (answer, error)) handler {
	return inApplication(func(x *exchange) (answer, error) {
		guild, named := x.params["guild_id"]
		if !named {
			return handle(x, &commandSet{all: x.app.commands})
		}
		g, err := x.guild(discord.GuildID(guild))
		if err != nil {
			return refuse(err)
		}
		return handle(x, &commandSet{guild: g, all: g.commands})
	})
}

// onCommand resolves {command_id} as well.
func onCommand(handle func(*exchange, *commandSet, *Command) (answer, error)) handler {
	return inCommands(func(x *exchange, s *commandSet) (answer, error) {
		c := s.all[id[discord.CommandID](x, "command_id")]
		if c == nil {
			return refuse(errNoCommand)
		}
		return handle(x, s, c)
	})
}

type commandView struct {
	ID               discord.CommandID     `json:"id"`
	Application      discord.ApplicationID `json:"application_id"`
	Guild            discord.GuildID       `json:"guild_id,omitempty"`
	Version          string                `json:"version"`
	Needs            *string               `json:"default_member_permissions"`
	Type             int                   `json:"type"`
	Name             string                `json:"name"`
	Names            *map[string]string    `json:"name_localizations,omitempty"`
	Description      string                `json:"description"`
	Descriptions     *map[string]string    `json:"description_localizations,omitempty"`
	DMs              *bool                 `json:"dm_permission,omitempty"`
	Contexts         *[]int                `json:"contexts,omitempty"`
	IntegrationTypes []int                 `json:"integration_types,omitempty"`
	Options          []CommandOption       `json:"options,omitempty"`
	NSFW             bool                  `json:"nsfw"`
	Handler          int                   `json:"handler,omitempty"`
}

func viewCommand(c *Command) commandView {
	v := commandView{
		ID: c.ID, Application: ApplicationID, Guild: c.Guild, Version: c.Version, Type: c.Type, Name: c.Name, Names: &c.Names,
		Description: c.Description, Descriptions: &c.Descriptions, Options: c.Options, NSFW: c.NSFW, Handler: c.Handler,
	}
	if c.Needs != nil {
		needs := bits(*c.Needs)
		v.Needs = &needs
	}
	if c.Guild == "" {
		dms := !c.WithoutDMs
		v.DMs, v.Contexts, v.IntegrationTypes = &dms, &c.Contexts, c.IntegrationTypes
		if v.IntegrationTypes == nil {
			v.IntegrationTypes = []int{0}
		}
	}
	return v
}

// unlocalized is the command without its texts in other languages.
func unlocalized(c *Command) commandView {
	v := viewCommand(c)
	v.Names, v.Descriptions, v.Options = nil, nil, withoutLocales(c.Options)
	return v
}

func withoutLocales(options []CommandOption) []CommandOption {
	bare := slices.Clone(options)
	for i := range bare {
		o := &bare[i]
		o.Names, o.Descriptions, o.Options, o.Choices = nil, nil, withoutLocales(o.Options), slices.Clone(o.Choices)
		for k := range o.Choices {
			o.Choices[k].Names = nil
		}
	}
	return bare
}

func listCommands(x *exchange, s *commandSet) (answer, error) {
	localized, err := x.flag("with_localizations")
	if err != nil {
		return refuse(err)
	}
	view := unlocalized
	if localized {
		view = viewCommand
	}
	return ok(mapped(sorted(s.all), view))
}

func getCommand(_ *exchange, _ *commandSet, c *Command) (answer, error) { return ok(viewCommand(c)) }

// createCommand replaces a command that has the name and type already.
func createCommand(x *exchange, s *commandSet) (answer, error) {
	var f newCommandForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	made := Command{Guild: s.id(), Type: f.Type.or(SlashCommand), Name: f.Name}
	f.commandForm.apply(&made)
	if err := checkCommand("", &made); err != nil {
		return refuse(err)
	}
	made.Version = x.issue()
	if old := s.find(made.Name, made.Type); old != nil {
		made.ID = old.ID
		*old = made
		return ok(viewCommand(old))
	}
	if s.count(made.Type) >= commandsOf[made.Type] {
		return refuse(errCommandsFull)
	}
	made.ID = discord.CommandID(x.issue())
	s.all[made.ID] = &made
	return created(viewCommand(&made))
}

func (s *commandSet) count(kind int) (n int) {
	for _, c := range s.all {
		if c.Type == kind {
			n++
		}
	}
	return n
}

func editCommand(x *exchange, s *commandSet, c *Command) (answer, error) {
	var f commandEditForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	edited := *c
	f.Name.into(&edited.Name)
	f.commandForm.apply(&edited)
	if err := checkCommand("", &edited); err != nil {
		return refuse(err)
	}
	if other := s.find(edited.Name, edited.Type); other != nil && other != c {
		return refuse(invalid("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique"))
	}
	if edited.Name != c.Name {
		x.forgetGrants(c.ID)
	}
	edited.Version = x.issue()
	*c = edited
	return ok(viewCommand(c))
}

func deleteCommand(x *exchange, s *commandSet, c *Command) (answer, error) {
	delete(s.all, c.ID)
	x.forgetGrants(c.ID)
	return done()
}

// replaceCommands keeps the ids of commands that are known by id, or by name and
// type.
func replaceCommands(x *exchange, s *commandSet) (answer, error) {
	var all []draftForm
	if err := x.bind(&all); err != nil {
		return refuse(err)
	}
	drafts, err := s.drafts(all)
	if err != nil {
		return refuse(err)
	}
	kept := commandMap{}
	for i := range drafts {
		c := &drafts[i]
		if old := s.all[c.ID]; old != nil && old.Name != c.Name {
			x.forgetGrants(c.ID)
		}
		if c.ID == "" {
			c.ID = discord.CommandID(x.issue())
		}
		c.Version = x.issue()
		kept[c.ID] = c
	}
	for id := range s.all {
		if kept[id] == nil {
			x.forgetGrants(id)
		}
	}
	if s.guild == nil {
		x.app.commands = kept
	} else {
		s.guild.commands = kept
	}
	return ok(mapped(sorted(kept), viewCommand))
}
