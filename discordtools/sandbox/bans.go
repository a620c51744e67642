package sandbox

import (
	"net/http"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// banRoutes read, set and lift the bans of a guild.
var banRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/bans", handle: inGuild(discord.BanMembers, listBans)},
	{method: "GET", path: "/guilds/{guild_id}/bans/{user_id}", handle: onBan(getBan)},
	{method: "PUT", path: "/guilds/{guild_id}/bans/{user_id}", handle: inGuild(discord.BanMembers, createBan)},
	{method: "DELETE", path: "/guilds/{guild_id}/bans/{user_id}", handle: onBan(deleteBan)},
	{method: "POST", path: "/guilds/{guild_id}/bulk-ban", handle: inGuild(discord.BanMembers|discord.ManageGuild, bulkBan)},
}

// Actions of the audit log about bans.
const (
	auditBanAdd    = 22
	auditBanRemove = 23
)

var (
	errUnknownBan = notFound(10026, "Unknown Ban")
	errNobody     = &apiError{status: http.StatusBadRequest, code: 500000, message: "Failed to ban users"}
)

// Ban keeps a user out of a guild.
type Ban struct {
	User   discord.UserID
	Reason string // "" is none
}

// AddBan bans a user, who is no member from then on.
func (d *Discord) AddBan(in discord.GuildID, b Ban) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	known(d.world.users, b.User)
	g.ban(b)
}

// LiftBan lifts a user's ban.
func (d *Discord) LiftBan(in discord.GuildID, u discord.UserID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(known(d.world.guilds, in).bans, u)
}

// Bans lists a guild's bans by the users' ids.
func (d *Discord) Bans(in discord.GuildID) []Ban {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.world.guilds[in]; g != nil {
		return sorted(g.bans)
	}
	return nil
}

func (g *guild) ban(b Ban) {
	if g.bans == nil {
		g.bans = map[discord.UserID]Ban{}
	}
	g.bans[b.User] = b
	g.remove(b.User)
}

// onBan resolves {guild_id} and {user_id} to a ban.
func onBan(handle func(*exchange, *guild, Ban) (answer, error)) handler {
	return inGuild(discord.BanMembers, func(x *exchange, g *guild) (answer, error) {
		b, banned := g.bans[id[discord.UserID](x, "user_id")]
		if !banned {
			return refuse(errUnknownBan)
		}
		return handle(x, g, b)
	})
}

type banView struct {
	User   userView `json:"user"`
	Reason *string  `json:"reason"`
}

func (w *world) viewBan(b Ban) banView { return banView{w.user(b.User), textOrNull(b.Reason)} }

// listBans pages by the users' ids, the smallest first. Of two cursors before
// counts.
func listBans(x *exchange, g *guild) (answer, error) {
	if x.query.Get("before") != "" {
		x.query.Del("after")
	}
	some, err := page(x, sorted(g.bans), func(b Ban) string { return string(b.User) }, 1000, 1000)
	if err != nil {
		return refuse(err)
	}
	return ok(mapped(some, x.viewBan))
}

func getBan(x *exchange, _ *guild, b Ban) (answer, error) { return ok(x.viewBan(b)) }

// eraseForm says how far back a banned user's messages are deleted.
type eraseForm struct {
	Seconds opt[int] `json:"delete_message_seconds" minimum:"0" maximum:"604800"`
	Days    opt[int] `json:"delete_message_days" minimum:"0" maximum:"7"`
}

func (f eraseForm) span() time.Duration {
	return time.Duration(f.Seconds.or(f.Days.or(0)*24*60*60)) * time.Second
}

func createBan(x *exchange, g *guild) (answer, error) {
	var f eraseForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	u := id[discord.UserID](x, "user_id")
	switch {
	case x.users[u] == nil:
		return refuse(errUnknownUser)
	case !g.outranks(x.actor, u) || u == x.actor:
		return refuse(errMissingPermissions)
	}
	if _, banned := g.bans[u]; !banned {
		x.shutOut(g, u, f.span())
	}
	return done()
}

// shutOut bans a user and deletes what they wrote lately.
func (x *exchange) shutOut(g *guild, u discord.UserID, span time.Duration) {
	g.ban(Ban{User: u, Reason: reason(x.header.Get("X-Audit-Log-Reason"))})
	for _, c := range x.channels {
		if c.Guild == g.ID && span > 0 {
			c.messages = slices.DeleteFunc(c.messages, func(m *Message) bool {
				return m.Author == u && x.now.Sub(sentAt(m.ID)) <= span
			})
		}
	}
	x.audit(g.ID, auditBanAdd, string(u), AuditOptions{})
}

func deleteBan(x *exchange, g *guild, b Ban) (answer, error) {
	delete(g.bans, b.User)
	x.audit(g.ID, auditBanRemove, string(b.User), AuditOptions{})
	return done()
}

// bulkBan bans whom it can: no ban of someone who is banned, unknown or not below
// the bot.
func bulkBan(x *exchange, g *guild) (answer, error) {
	var f struct {
		Users []discord.UserID `json:"user_ids" minItems:"1" maxItems:"200"`
		eraseForm
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	v := struct {
		Banned []discord.UserID `json:"banned_users"`
		Failed []discord.UserID `json:"failed_users"`
	}{[]discord.UserID{}, []discord.UserID{}}
	for _, u := range f.Users {
		if _, banned := g.bans[u]; banned || x.users[u] == nil || !g.outranks(x.actor, u) || u == x.actor {
			v.Failed = append(v.Failed, u)
			continue
		}
		x.shutOut(g, u, f.span())
		v.Banned = append(v.Banned, u)
	}
	if len(v.Banned) == 0 {
		return refuse(errNobody)
	}
	return ok(v)
}
