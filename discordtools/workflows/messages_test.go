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
