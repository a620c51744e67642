package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// commandSet is where commands are: everywhere, or in a guild.
type commandSet struct{ list, create, edit, delete string }

func commandsAt(base string) commandSet {
	return commandSet{"GET " + base, "POST " + base, "PATCH " + base + "/{command_id}", "DELETE " + base + "/{command_id}"}
}

func (s commandSet) writes() []string { return []string{s.create, s.edit, s.delete} }

// Types of commands.
const (
	slashCommand = 1
	entryPoint   = 4
)

// commandKinds are the types of commands, and how many of each there can be.
//
// Source: https://docs.discord.com/developers/interactions/application-commands#registering-a-command.
var commandKinds = map[int]struct {
	name string
	most int
}{slashCommand: {"slash command", 100}, 2: {"user menu", 15}, 3: {"message menu", 15}, entryPoint: {"entry point", 1}}

// embedded is the flag of an application that has an activity.
//
// Source: https://docs.discord.com/developers/resources/application#application-object-application-flags.
const embedded = 1 << 17

// commandChange is what both kinds of changes take.
type commandChange struct {
	Action       string            `json:"action" enum:"create,update,delete"`
	ID           discord.CommandID `json:"commandId,omitempty" jsonschema:"command to update or delete"`
	Command      commandDefinition `json:"command,omitempty" jsonschema:"for create and update, the whole command, as commands_get_global and commands_get_guild tell it; what is left out, it will not have"`
	Irreversible bool              `json:"acknowledgeIrreversible,omitempty" jsonschema:"with delete, true: the command and who may use it are gone for good"`
}

// commandArguments refuses arguments that do not go with the action.
var commandArguments = mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
	action := c.Text("action")
	switch {
	case (action == "create") == c.Has("commandId"):
		return issue("commandId", "is needed with update and delete, and does not go with create")
	case (action == "delete") == c.Has("command"):
		return issue("command", "is needed with create and update, and does not go with delete")
	case action == "delete" && !argument[bool](c, "acknowledgeIrreversible"):
		return issue("acknowledgeIrreversible", "must be true with delete")
	}
	return nil
}}

// commandState is what a plan finds of commands.
type commandState struct {
	Application applicationSeen    `json:"application"`
	Guild       *guildSeen         `json:"guild,omitempty"`
	Permission  *evidence          `json:"permission,omitempty"`
	Embedded    *bool              `json:"embedded,omitempty" jsonschema:"of an entry point: whether the application has an activity"`
	ID          discord.CommandID  `json:"commandId,omitempty"`
	Now         *commandDefinition `json:"current"`
	Version     discord.Snowflake  `json:"version,omitempty"`
	Wanted      *commandDefinition `json:"wanted"`
	Changed     []string           `json:"changedFields"`
	Count       int                `json:"ofItsType"`
	Limit       int                `json:"ofItsTypeLimit"`
	Others      string             `json:"others" jsonschema:"digest of all other commands with all their languages"`
	Resets      bool               `json:"resetsPermissions" jsonschema:"who may use it is forgotten"`
	Grants      int                `json:"permissions" jsonschema:"how many say in the guild who may use it"`
	Kept        string             `json:"permissionsKept,omitempty" jsonschema:"digest of who may use which command in the guild, where it stays"`
}

func (s *commandState) guild() discord.GuildID {
	if s.Guild == nil {
		return ""
	}
	return s.Guild.ID
}

// command is a command as Discord tells it.
type command struct {
	ID          discord.CommandID     `json:"id"`
	Application discord.ApplicationID `json:"application_id"`
	Guild       discord.GuildID       `json:"guild_id,omitempty"`
	Version     discord.Snowflake     `json:"version"`
	commandDefinition
}

// commands reads all commands of a set, with all languages, by id.
func (r *reads) commands(ctx context.Context, set commandSet, s *commandState) (all []command, err error) {
	if err := r.query(ctx, set.list, s.path(""), map[string][]string{"with_localizations": {"true"}}, &all); err != nil {
		return nil, err
	}
	for i := range all {
		c := &all[i]
		if c.ID == "" || c.Application != s.Application.ID || c.Guild != s.guild() || c.Name == "" {
			return nil, incomplete("the commands")
		}
		c.tidy()
	}
	slices.SortFunc(all, func(a, b command) int { return discord.CompareIDs(a.ID, b.ID) })
	return all, nil
}

// path is the path of a set, or of one of its commands.
func (s *commandState) path(of discord.CommandID) path {
	at := path{"application_id": string(s.Application.ID)}
	if s.Guild != nil {
		at["guild_id"] = string(s.Guild.ID)
	}
	if of != "" {
		at["command_id"] = string(of)
	}
	return at
}

// pickCommand is the command of an id, and a digest of the others.
func pickCommand(all []command, id discord.CommandID) (one *command, others string) {
	one, rest := apart(all, func(e command) bool { return e.ID == id })
	return one, snapshot(rest)
}

// planCommand plans a change of a set, of which s knows where it is, by an
// application with these flags.
func (r *reads) planCommand(ctx context.Context, set commandSet, in commandChange, s commandState, flags int64) (plan mcpcore.Change[commandState], err error) {
	all, err := r.commands(ctx, set, &s)
	if err != nil {
		return plan, err
	}
	var now *command
	now, s.Others = pickCommand(all, in.ID)
	if in.Action != "create" {
		if now == nil {
			return plan, refused("command-missing", "there is no command %s", in.ID)
		}
		s.ID, s.Now, s.Version = now.ID, &now.commandDefinition, now.Version
	}
	if in.Action != "delete" {
		s.Wanted = &in.Command
		if err := s.fits(all, in.ID, flags); err != nil {
			return plan, err
		}
	}
	s.Resets = in.Action == "delete" || s.Now != nil && s.Now.Name != s.Wanted.Name
	shown := s.Now
	if shown == nil {
		shown = s.Wanted
	}
	kind := commandKinds[shown.Type]
	if s.Limit = kind.most; s.Guild != nil {
		if err := r.commandGrants(ctx, in.ID, &s); err != nil {
			return plan, err
		}
	}
	plan = mcpcore.Change[commandState]{Action: in.Action, Facts: append(s.where(), mcpcore.Fact{Name: kind.name, Value: shown.Name})}
	for _, c := range all {
		if c.Type == shown.Type {
			s.Count++
		}
	}
	switch in.Action {
	case "create":
		if _, err := joining[commandState, discord.CommandID](&plan, kind.name+"s", nil, s.Count, s.Limit); err != nil {
			return plan, err
		}
		plan.Facts = append(plan.Facts, shown.facts()...)
	case "update":
		s.Changed = setting(&plan, s.Now.fields(*s.Wanted)...)
	default:
		plan.Risks = []string{"irreversible"}
	}
	if s.Resets {
		plan.Risks = append(plan.Risks, "permission-reset")
		plan.Warnings = append(plan.Warnings, s.resetWarning())
	}
	plan.State = s
	return plan, nil
}

func (s *commandState) where() mcpcore.Facts {
	if s.Guild == nil {
		return mcpcore.Facts{{Name: "where", Value: "everywhere the application is installed"}}
	}
	return mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}
}

func (s *commandState) resetWarning() string {
	if s.Guild == nil {
		return "Who may use the command is forgotten in every guild; in which guilds something was said of it cannot be told."
	}
	return fmt.Sprintf("Who may use the command is forgotten; so many roles, members and channels were named: %d.", s.Grants)
}

// fits checks the wanted command against those that are there.
func (s *commandState) fits(all []command, of discord.CommandID, flags int64) error {
	w := s.Wanted
	if w.tidy(); w.Type == entryPoint {
		has := flags&embedded != 0
		s.Embedded = &has
	}
	if err := w.check(s.Guild == nil); err != nil {
		return err
	}
	switch {
	case s.Now != nil && s.Now.Type != w.Type:
		return refused("type", "the command is a %s, and that cannot be changed", commandKinds[s.Now.Type].name)
	case w.Type == entryPoint && s.Guild != nil:
		return refused("definition", "an entry point is a global command")
	case w.Type == entryPoint && !*s.Embedded:
		return refused("not-embedded", "the application has no activity, so it has no entry point")
	}
	if slices.ContainsFunc(all, func(c command) bool { return c.ID != of && c.Type == w.Type && c.Name == w.Name }) {
		return refused("name-taken", "there is another %s of that name, which would be replaced", commandKinds[w.Type].name)
	}
	return nil
}

// grants are who may use a command in a guild.
type grants struct {
	ID          discord.CommandID     `json:"id"`
	Application discord.ApplicationID `json:"application_id"`
	Guild       discord.GuildID       `json:"guild_id"`
	Permissions []grant               `json:"permissions"`
}

type grant struct {
	ID    discord.GranteeID `json:"id"`
	Type  int               `json:"type"`
	Allow bool              `json:"permission"`
}

const routeCommandGrants = "GET /applications/{application_id}/guilds/{guild_id}/commands/permissions"

// commandGrants reads who may use the commands in the guild. Those of the command
// are no part of what is kept where the change forgets them.
func (r *reads) commandGrants(ctx context.Context, of discord.CommandID, s *commandState) error {
	var all []grants
	if err := r.get(ctx, routeCommandGrants, s.path(""), &all); err != nil {
		return err
	}
	kept := []grants{}
	s.Grants = 0
	for _, g := range all {
		if g.ID == "" || g.Application != s.Application.ID || g.Guild != s.Guild.ID || g.Permissions == nil {
			return incomplete("who may use the commands")
		}
		if g.ID == of {
			s.Grants = len(g.Permissions)
		}
		if g.ID != of || !s.Resets {
			slices.SortFunc(g.Permissions, func(a, b grant) int { return strings.Compare(string(a.ID), string(b.ID)) })
			kept = append(kept, g)
		}
	}
	slices.SortFunc(kept, func(a, b grants) int { return discord.CompareIDs(a.ID, b.ID) })
	s.Kept = snapshot(kept)
	return nil
}

// send makes the change and looks at the answer.
func (s *commandState) send(ctx context.Context, w *write, set commandSet, in commandChange) (done mcpcore.Written, err error) {
	var c command
	switch in.Action {
	case "delete":
		return mcpcore.Written{ID: string(in.ID)}, w.send(ctx, set.delete, s.path(in.ID), nil, nil)
	case "update":
		err = w.send(ctx, set.edit, s.path(in.ID), s.Wanted.body(s.Guild == nil, false), &c)
	default:
		err = w.send(ctx, set.create, s.path(""), s.Wanted.body(s.Guild == nil, true), &c)
	}
	if err != nil {
		return done, err
	}
	if done.ID, err = id(c.ID); err != nil {
		return done, err
	}
	switch {
	case in.ID != "" && c.ID != in.ID || c.Application != s.Application.ID || c.Guild != s.guild() || c.Type != s.Wanted.Type:
		err = errors.New("the answer is of another command than was asked for")
	case in.Action == "create" && w.status != http.StatusCreated:
		err = errors.New("the answer is of a command that was there")
	}
	return done, err
}

// commandReadBack reads all commands again.
func (r *reads) commandReadBack(ctx context.Context, set commandSet, s commandState, written mcpcore.Written) (found mcpcore.Reading, err error) {
	all, err := r.commands(ctx, set, &s)
	if err != nil {
		return found, err
	}
	var d drift
	now, others := pickCommand(all, discord.CommandID(written.ID))
	switch {
	case (now == nil) != (s.Wanted == nil):
		return found, errors.New("the command is there where it should not be, or is not there")
	case now != nil:
		for _, f := range now.fields(*s.Wanted) {
			d.unless(f.Now == f.Wanted, f.Name)
		}
	}
	d.unless(others == s.Others, "otherCommands")
	if s.Guild != nil {
		kept := s.Kept
		if err := r.commandGrants(ctx, discord.CommandID(written.ID), &s); err != nil {
			return found, err
		}
		d.unless(s.Kept == kept, "permissions")
	}
	return mcpcore.Reading{Drift: d}, nil
}

// compact is a value as one text, to compare and to show.
func compact(v any) string {
	raw, err := canon.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("workflows: encode a field: %v", err)) // of our own structs
	}
	return string(raw)
}

// isNumber reports whether a JSON value is a number.
func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}
