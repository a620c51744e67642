package workflows_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// allow sets what the bot's own role may do in the demo guild.
func allow(p discord.Permissions) func(*operationtest.World) {
	return world(func(d *sandbox.Discord) { d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, p) })
}

// without takes permissions from everybody in general.
func without(p discord.Permissions) func(*operationtest.World) {
	return world(func(d *sandbox.Discord) {
		d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: p})
	})
}

// quoted is a JSON array of ids.
func quoted[ID ~string](ids ...ID) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = fmt.Sprintf("%q", string(id))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// meanwhile is a REST on which something happens before each request.
type meanwhile struct {
	discordtools.REST
	before func(discordtools.Request)
}

func (m meanwhile) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	m.before(r)
	return m.REST.Do(ctx, r)
}

// later has something happen before the nth reading of a route.
func later(d **sandbox.Discord, route string, nth int, do func(d *sandbox.Discord)) func(discordtools.REST) discordtools.REST {
	seen := 0
	return func(rest discordtools.REST) discordtools.REST {
		return meanwhile{rest, func(r discordtools.Request) {
			if r.Method == "GET" && r.Route == route {
				if seen++; seen == nth {
					do(*d)
				}
			}
		}}
	}
}
