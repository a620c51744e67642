package discordtools

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// command is a command as facts name one.
type command struct {
	ID          discord.CommandID `json:"id"`
	Name        string            `json:"name"`
	Type        int               `json:"type"`
	Description string            `json:"description"`
	Options     []struct{}        `json:"options"`
}

var commandKinds = map[int]string{1: "slash command", 2: "user menu", 3: "message menu", 4: "entry point"}

func (c command) kind() string {
	if kind, known := commandKinds[c.Type]; known {
		return kind
	}
	return unknown
}

// String is how people see the command.
func (c command) String() string {
	if c.Type == 1 {
		return "/" + c.Name
	}
	return c.Name + " (" + c.kind() + ")"
}

func commandFacts(route string) func(context.Context, *api) (mcpcore.Facts, error) {
	return func(ctx context.Context, a *api) (mcpcore.Facts, error) {
		var c command
		if err := a.do(ctx, route, sub{}, &c); err != nil {
			return nil, err
		}
		facts := mcpcore.Facts{{Name: "command", Value: c.Name}, {Name: "kind", Value: c.kind()}}
		if c.Description != "" {
			facts = append(facts, mcpcore.Fact{Name: "description", Value: excerpt(c.Description)})
		}
		return append(facts, mcpcore.Fact{Name: "options", Value: strconv.Itoa(len(c.Options))}), nil
	}
}

// overwriteFacts compares the commands there are, which route lists, with those
// that there will be. Discord knows a command again by its id, otherwise by name
// and type.
func overwriteFacts(route string) func(context.Context, *api) (mcpcore.Facts, error) {
	return func(ctx context.Context, a *api) (mcpcore.Facts, error) {
		drafts, _ := argument[[]commandDraft](a.call, "commands")
		var there []command
		if err := a.do(ctx, route, sub{}, &there); err != nil {
			return nil, err
		}
		byID, byName := map[discord.CommandID]bool{}, map[string]bool{}
		for _, d := range drafts {
			if d.ID != "" {
				byID[d.ID] = true
			} else {
				byName[command{Name: d.Name, Type: cmp.Or(d.Type, 1)}.String()] = true
			}
		}
		var gone []string
		for _, c := range there {
			if !byID[c.ID] && !byName[c.String()] {
				gone = append(gone, c.String())
			}
		}
		kept := len(there) - len(gone)
		facts := mcpcore.Facts{{Name: "commands deleted", Value: strconv.Itoa(len(gone))}}
		if len(gone) > 0 {
			facts = append(facts, mcpcore.Fact{Name: "deleted", Value: strings.Join(gone, ", ")})
		}
		return append(facts,
			mcpcore.Fact{Name: "commands kept or changed", Value: strconv.Itoa(kept)},
			mcpcore.Fact{Name: "commands created", Value: strconv.Itoa(max(0, len(drafts)-kept))},
		), nil
	}
}
