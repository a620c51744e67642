package sandbox

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// pruneRoutes remove members who have long been inactive.
var pruneRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/prune", handle: inGuild(discord.ManageGuild|discord.KickMembers, countPrune)},
	{method: "POST", path: "/guilds/{guild_id}/prune", handle: inGuild(discord.ManageGuild|discord.KickMembers, prune)},
}

const auditMemberPrune = 21

type pruneView struct {
	Pruned *int `json:"pruned"`
}

func countPrune(x *exchange, g *guild) (answer, error) {
	days, err := x.number("days", 7, 1, 30)
	if err != nil {
		return refuse(err)
	}
	var roles []discord.RoleID
	for _, s := range x.query["include_roles"] {
		for part := range strings.SplitSeq(s, ",") {
			if _, err := strconv.ParseUint(part, 10, 64); err != nil {
				return refuse(invalid("include_roles", "NUMBER_TYPE_COERCE", "Value %q is not snowflake.", part))
			}
			roles = append(roles, discord.RoleID(part))
		}
	}
	n := len(x.prunable(g, days, roles))
	return ok(pruneView{&n})
}

func prune(x *exchange, g *guild) (answer, error) {
	var f struct {
		Days  opt[int]              `json:"days" minimum:"1" maximum:"30"`
		Count opt[bool]             `json:"compute_prune_count"`
		Roles opt[[]discord.RoleID] `json:"include_roles" maxItems:"100"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	days := f.Days.or(7)
	gone := x.prunable(g, days, f.Roles.value)
	for _, u := range gone {
		delete(g.members, u)
		delete(g.voice, u)
	}
	n := len(gone)
	x.audit(g.ID, auditMemberPrune, "", AuditOptions{Days: strconv.Itoa(days), Removed: strconv.Itoa(n)})
	if !f.Count.or(true) {
		return ok(pruneView{})
	}
	return ok(pruneView{&n})
}

// prunable lists the members who were not seen for so many days and have no
// role but those given. Joining, writing a message and being in a voice channel
// is being seen. Neither the owner nor a bot is ever among them.
func (x *exchange) prunable(g *guild, days int, roles []discord.RoleID) []discord.UserID {
	since := x.now.AddDate(0, 0, -days)
	seen := x.lastSeen(g)
	var all []discord.UserID
	for _, m := range sorted(g.members) {
		u := x.users[m.User]
		if m.User == g.Owner || u != nil && u.Bot || g.voice[m.User] != nil || seen[m.User].After(since) {
			continue
		}
		if !slices.ContainsFunc(m.Roles, func(r discord.RoleID) bool { return !slices.Contains(roles, r) }) {
			all = append(all, m.User)
		}
	}
	return all
}

// lastSeen is when each member joined or last wrote a message.
func (x *exchange) lastSeen(g *guild) map[discord.UserID]time.Time {
	seen := map[discord.UserID]time.Time{}
	for u, m := range g.members {
		seen[u] = m.Joined
	}
	for _, c := range x.channels {
		if c.Guild != g.ID {
			continue
		}
		for _, m := range c.messages {
			if at := sentAt(m.ID); at.After(seen[m.Author]) {
				seen[m.Author] = at
			}
		}
	}
	return seen
}
