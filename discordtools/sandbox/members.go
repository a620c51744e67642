package sandbox

import (
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// memberRoutes list, find, change and remove the members of a guild.
var memberRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/members", handle: inGuild(0, listMembers)},
	{method: "GET", path: "/guilds/{guild_id}/members/search", handle: inGuild(0, searchMembers)},
	{method: "PATCH", path: "/guilds/{guild_id}/members/@me", handle: inGuild(0, editMe)},
	{method: "PATCH", path: "/guilds/{guild_id}/members/{user_id}", handle: onMember(editMember)},
	{method: "DELETE", path: "/guilds/{guild_id}/members/{user_id}", handle: onMember(kickMember)},
	{method: "PUT", path: "/guilds/{guild_id}/members/{user_id}/roles/{role_id}", handle: onMember(addMemberRole)},
	{method: "DELETE", path: "/guilds/{guild_id}/members/{user_id}/roles/{role_id}", handle: onMember(removeMemberRole)},
}

// Actions of the audit log about members.
const (
	auditMemberKick       = 20
	auditMemberUpdate     = 24
	auditMemberRoleUpdate = 25
	auditMemberMove       = 26
	auditMemberDisconnect = 27
)

var errInvalidRole = badRequest(50028, "Invalid Role")

// onMember resolves {guild_id} and {user_id}.
func onMember(handle func(*exchange, *guild, *Member) (answer, error)) handler {
	return inGuild(0, func(x *exchange, g *guild) (answer, error) {
		m := g.members[id[discord.UserID](x, "user_id")]
		if m == nil {
			return refuse(errUnknownMember)
		}
		return handle(x, g, m)
	})
}

// remove takes a user out of the guild, and out of its voice channels.
func (g *guild) remove(u discord.UserID) {
	delete(g.members, u)
	delete(g.voice, u)
}

func (g *guild) membersByAge() []*Member { return sorted(g.members) }

func listMembers(x *exchange, g *guild) (answer, error) {
	some, err := page(x, g.membersByAge(), func(m *Member) string { return string(m.User) }, 1, 1000)
	if err != nil {
		return refuse(err)
	}
	return ok(mapped(some, x.member))
}

// searchMembers finds members whose user name or nickname starts with the
// query, whatever its case.
func searchMembers(x *exchange, g *guild) (answer, error) {
	query := strings.ToLower(x.query.Get("query"))
	if n := len([]rune(query)); n < 1 || n > 100 {
		return refuse(invalid("query", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."))
	}
	limit, err := x.number("limit", 1, 1, 1000)
	if err != nil {
		return refuse(err)
	}
	found := slices.DeleteFunc(g.membersByAge(), func(m *Member) bool {
		return !strings.HasPrefix(strings.ToLower(x.user(m.User).Username), query) && !strings.HasPrefix(strings.ToLower(m.Nick), query)
	})
	return ok(mapped(found[:min(limit, len(found))], x.member))
}

// editMe changes the bot's own membership. Only the nickname takes a permission.
func editMe(x *exchange, g *guild) (answer, error) {
	var f struct {
		Nick   opt[string] `json:"nick" maxLength:"32"`
		Avatar opt[string] `json:"avatar"`
		Banner opt[string] `json:"banner"`
		Bio    opt[string] `json:"bio" maxLength:"190"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	m := g.members[x.actor]
	edited := *m
	if f.Nick.sent {
		if held := x.world.inGuild(g, x.actor); held&(discord.ChangeNickname|discord.ManageNicknames) == 0 {
			return refuse(errMissingPermissions)
		}
		f.Nick.into(&edited.Nick)
	}
	if err := picture("avatar", f.Avatar, &edited.Avatar); err != nil {
		return refuse(err)
	}
	if err := picture("banner", f.Banner, &edited.Banner); err != nil {
		return refuse(err)
	}
	changes := diffMember(m, &edited)
	*m = edited
	if len(changes) > 0 {
		x.audit(g.ID, auditMemberUpdate, string(x.actor), AuditOptions{}, changes...)
	}
	return ok(x.member(m))
}

// kickMember takes KICK_MEMBERS and a higher role.
func kickMember(x *exchange, g *guild, m *Member) (answer, error) {
	if err := x.needInGuild(g, discord.KickMembers); err != nil {
		return refuse(err)
	}
	if !g.outranks(x.actor, m.User) {
		return refuse(errMissingPermissions)
	}
	g.remove(m.User)
	x.audit(g.ID, auditMemberKick, string(m.User), AuditOptions{})
	return done()
}

// assignable resolves {role_id} to a role that the bot may give and take.
func (x *exchange) assignable(g *guild) (*Role, error) {
	if err := x.needInGuild(g, discord.ManageRoles); err != nil {
		return nil, err
	}
	r := g.roles[id[discord.RoleID](x, "role_id")]
	if r == nil {
		return nil, errUnknownRole
	}
	return r, x.mayAssign(g, r)
}

// mayAssign demands that a role can be given by hand, and by the bot.
func (x *exchange) mayAssign(g *guild, r *Role) error {
	switch {
	case string(r.ID) == string(g.ID) || r.Managed:
		return errInvalidRole
	case !g.above(x.actor, r):
		return errMissingPermissions
	}
	return nil
}

func addMemberRole(x *exchange, g *guild, m *Member) (answer, error) {
	r, err := x.assignable(g)
	if err != nil {
		return refuse(err)
	}
	if !slices.Contains(m.Roles, r.ID) {
		m.Roles = append(slices.Clone(m.Roles), r.ID)
		x.auditRoles(g, m.User, []discord.RoleID{r.ID}, nil)
	}
	return done()
}

func removeMemberRole(x *exchange, g *guild, m *Member) (answer, error) {
	r, err := x.assignable(g)
	if err != nil {
		return refuse(err)
	}
	if i := slices.Index(m.Roles, r.ID); i >= 0 {
		m.Roles = slices.Delete(slices.Clone(m.Roles), i, i+1)
		x.auditRoles(g, m.User, nil, []discord.RoleID{r.ID})
	}
	return done()
}

// auditRoles records roles that a member was given and lost.
func (x *exchange) auditRoles(g *guild, u discord.UserID, given, lost []discord.RoleID) {
	type named struct {
		ID   discord.RoleID `json:"id"`
		Name string         `json:"name"`
	}
	var changes []AuditChange
	for key, roles := range map[string][]discord.RoleID{"$add": given, "$remove": lost} {
		if len(roles) == 0 {
			continue
		}
		list := mapped(roles, func(id discord.RoleID) named { return named{id, g.roles[id].Name} })
		c := changed(key, nil, list)
		c[0].Old = nil
		changes = append(changes, c...)
	}
	if len(changes) > 0 {
		slices.SortFunc(changes, func(a, b AuditChange) int { return strings.Compare(a.Key, b.Key) })
		x.audit(g.ID, auditMemberRoleUpdate, string(u), AuditOptions{}, changes...)
	}
}
