package discordtools

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// pruneSelection is whom a prune hits.
//
// Source: https://docs.discord.com/developers/resources/guild#begin-guild-prune.
type pruneSelection struct {
	guildRef
	Days int `json:"days,omitempty" jsonschema:"inactive for so many days" minimum:"1" maximum:"30" default:"7"`
}

type guildPruneCount struct {
	pruneSelection
	IncludeRoles []discord.RoleID `json:"include_roles,omitempty" join:"," jsonschema:"also members all of whose roles are among these" maxItems:"100" uniqueItems:"true"`
}

type guildBeginPrune struct {
	pruneSelection
	IncludeRoles []discord.RoleID `json:"include_roles,omitempty" jsonschema:"also members all of whose roles are among these" maxItems:"100" uniqueItems:"true"`
	ComputeCount bool             `json:"compute_prune_count,omitempty" jsonschema:"false in a large guild: how many were pruned is then unknown" default:"true"`
	auditReason
}

type pruneCount struct {
	Pruned *int `json:"pruned" jsonschema:"would be kicked; null is unknown"`
}

type guildPruned struct {
	Pruned  *int            `json:"pruned" jsonschema:"were kicked; null is unknown"`
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
	remarks
}

func (v *guildPruned) derive(*mcpcore.Call) {
	if v.Pruned == nil {
		v.Warnings = []string{"How many members were pruned is unknown: Discord was not asked to count. It is not 0; the audit log says it."}
	}
}

const routePrune = "GET /guilds/{guild_id}/prune"

// inactiveDays is how long a member who is pruned was inactive, unless the
// caller says. It is always sent, so that a count and the prune that follows
// mean the same.
const inactiveDays = 7

var pruneDays = added{"days", func(*mcpcore.Call) string { return strconv.Itoa(inactiveDays) }}

// pruneFacts counts with exactly what the prune will be given.
func pruneFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var in guildBeginPrune
	if err := a.call.Bind(&in); err != nil {
		return nil, err
	}
	var g struct {
		Name  string `json:"name"`
		Roles []struct {
			ID   discord.RoleID `json:"id"`
			Name string         `json:"name"`
		} `json:"roles"`
	}
	if err := a.do(ctx, routeGuild, sub{}, &g); err != nil {
		return nil, err
	}
	names := map[discord.RoleID]string{}
	for _, r := range g.Roles {
		names[r.ID] = r.Name
	}
	query := url.Values{"days": {strconv.Itoa(cmp.Or(in.Days, inactiveDays))}}
	ids, roles := make([]string, len(in.IncludeRoles)), make([]string, len(in.IncludeRoles))
	for i, id := range in.IncludeRoles {
		name, known := names[id]
		if !known {
			return nil, mcpcore.Invalid(*contradiction(fmt.Sprintf("include_roles.%d", i), "%s is no role of this guild; list its roles", id))
		}
		ids[i], roles[i] = string(id), name
	}
	whose := "no role at all"
	if len(ids) > 0 {
		query.Set("include_roles", strings.Join(ids, ","))
		whose = "no role, or none but " + strings.Join(roles, ", ")
	}
	var count pruneCount
	if err := a.do(ctx, routePrune, sub{Query: query}, &count); err != nil {
		return nil, err
	}
	return mcpcore.Facts{
		{Name: "guild", Value: g.Name}, {Name: "members to be kicked", Value: countOf(count.Pruned)},
		{Name: "inactive for days", Value: query.Get("days")}, {Name: "who have", Value: whose},
	}, nil
}
