package sandbox

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// guildRoutes read guilds, roles and members.
var guildRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}", handle: inGuild(0, getGuild)},
	{method: "GET", path: "/guilds/{guild_id}/channels", handle: inGuild(0, listChannels)},
	{method: "POST", path: "/guilds/{guild_id}/channels", handle: inGuild(discord.ManageChannels, createChannel)},
	{method: "PATCH", path: "/guilds/{guild_id}/channels", handle: inGuild(0, moveChannels)},
	{method: "GET", path: "/guilds/{guild_id}/roles", handle: inGuild(0, listRoles)},
	{method: "GET", path: "/guilds/{guild_id}/members/{user_id}", handle: inGuild(0, getMember)},
}

func getGuild(x *exchange, g *guild) (answer, error) {
	counts, err := x.flag("with_counts")
	if err != nil {
		return refuse(err)
	}
	v := viewGuild(g)
	if counts {
		v.count(g)
	}
	return ok(v)
}

// listChannels leaves threads out; unlike people, bots get channels that they
// cannot view as well.
func listChannels(x *exchange, g *guild) (answer, error) {
	return ok(mapped(x.guildChannels(g.ID), x.viewChannel))
}

// guildChannels are a guild's channels without threads, by position.
func (w *world) guildChannels(id discord.GuildID) []*channel {
	var all []*channel
	for _, c := range w.channels {
		if c.Guild == id && c.Thread == nil {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *channel) int {
		if a.Position != b.Position {
			return a.Position - b.Position
		}
		return discord.CompareIDs(a.ID, b.ID)
	})
	return all
}

func listRoles(_ *exchange, g *guild) (answer, error) {
	return ok(mapped(g.rolesByRank(), viewRole))
}

func getMember(x *exchange, g *guild) (answer, error) {
	u := id[discord.UserID](x, "user_id")
	m := g.members[u]
	switch {
	case m == nil && x.users[u] == nil:
		return refuse(errUnknownUser)
	case m == nil:
		return refuse(errUnknownMember)
	}
	return ok(x.member(m))
}
