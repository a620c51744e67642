package sandbox

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// roleRoutes read, make, change, order and delete the roles of a guild.
var roleRoutes = []route{
	{method: "POST", path: "/guilds/{guild_id}/roles", handle: inGuild(discord.ManageRoles, createRole)},
	{method: "PATCH", path: "/guilds/{guild_id}/roles", handle: inGuild(discord.ManageRoles, moveRoles)},
	{method: "GET", path: "/guilds/{guild_id}/roles/member-counts", handle: inGuild(0, countRoleMembers)},
	{method: "GET", path: "/guilds/{guild_id}/roles/{role_id}", handle: onRole(0, getRole)},
	{method: "PATCH", path: "/guilds/{guild_id}/roles/{role_id}", handle: onRole(discord.ManageRoles, editRole)},
	{method: "DELETE", path: "/guilds/{guild_id}/roles/{role_id}", handle: onRole(discord.ManageRoles, deleteRole)},
}

// Actions of the audit log about roles.
const (
	auditRoleCreate = 30
	auditRoleUpdate = 31
	auditRoleDelete = 32
)

const maxRoles = 250

var errTooManyRoles = badRequest(30005, "Maximum number of guild roles reached (250)")

// onRole resolves {guild_id}, with need, and {role_id}.
func onRole(need discord.Permissions, handle func(*exchange, *guild, *Role) (answer, error)) handler {
	return inGuild(need, func(x *exchange, g *guild) (answer, error) {
		r := g.roles[id[discord.RoleID](x, "role_id")]
		if r == nil {
			return refuse(errUnknownRole)
		}
		return handle(x, g, r)
	})
}

func getRole(_ *exchange, _ *guild, r *Role) (answer, error) { return ok(viewRole(r)) }

// countRoleMembers counts who holds each role, @everyone left out.
func countRoleMembers(_ *exchange, g *guild) (answer, error) {
	counts := map[discord.RoleID]int{}
	for id := range g.roles {
		if string(id) != string(g.ID) {
			counts[id] = 0
		}
	}
	for _, m := range g.members {
		for _, id := range m.Roles {
			counts[id]++
		}
	}
	return ok(counts)
}

// roleForm is what can be said of a role.
//
// Source: https://docs.discord.com/developers/resources/guild#create-guild-role.
type roleForm struct {
	Name        opt[string]              `json:"name" minLength:"1" maxLength:"100"`
	Permissions opt[discord.Permissions] `json:"permissions"`
	Color       opt[int]                 `json:"color" minimum:"0" maximum:"16777215"`
	Colors      opt[roleColorsForm]      `json:"colors"`
	Hoist       opt[bool]                `json:"hoist"`
	Mentionable opt[bool]                `json:"mentionable"`
	Icon        opt[string]              `json:"icon"`
	Emoji       opt[string]              `json:"unicode_emoji" maxLength:"100"`
}

type roleColorsForm struct {
	Primary   opt[int] `json:"primary_color" minimum:"0" maximum:"16777215"`
	Secondary opt[int] `json:"secondary_color" minimum:"0" maximum:"16777215"`
	Tertiary  opt[int] `json:"tertiary_color" minimum:"0" maximum:"16777215"`
}

// The colours of the one holographic style there is.
const (
	holographicPrimary   = 11127295
	holographicSecondary = 16759788
	holographicTertiary  = 16761760
)

// shapeRole applies a form to a role. The bot can give and take permissions that
// it has itself.
func (x *exchange) shapeRole(g *guild, r *Role, f roleForm) error {
	held := x.world.inGuild(g, x.actor)
	if f.Permissions.has() && !held.Has(discord.Administrator) && !held.Has(r.Permissions^f.Permissions.value) {
		return errMissingPermissions
	}
	if (f.Icon.has() || f.Emoji.has()) && !g.has("ROLE_ICONS") {
		return errNeedsBoosts
	}
	if f.Emoji.has() && !isUnicodeEmoji(f.Emoji.value) {
		return errUnknownEmoji
	}
	if err := picture("icon", f.Icon, &r.Icon); err != nil {
		return err
	}
	if f.Name.has() {
		r.Name = f.Name.value
	}
	r.Permissions = f.Permissions.or(r.Permissions)
	f.Emoji.into(&r.UnicodeEmoji)
	f.Hoist.into(&r.Hoist)
	f.Mentionable.into(&r.Mentionable)
	if f.Color.sent {
		r.Color, r.Secondary, r.Tertiary = f.Color.value, nil, nil
	}
	return g.paint(r, f.Colors)
}

// paint sets a role's colours.
func (g *guild) paint(r *Role, f opt[roleColorsForm]) error {
	if !f.has() {
		return nil
	}
	c := f.value
	if (c.Secondary.has() || c.Tertiary.has()) && !g.has("ENHANCED_ROLE_COLORS") {
		return errNeedsBoosts
	}
	if c.Tertiary.has() && (c.Primary.value != holographicPrimary || c.Secondary.value != holographicSecondary || c.Tertiary.value != holographicTertiary) {
		return invalid("colors.tertiary_color", "INVALID_ROLE_COLORS", "Invalid holographic colors")
	}
	r.Color, r.Secondary, r.Tertiary = c.Primary.value, nil, nil
	if c.Secondary.has() {
		r.Secondary = &c.Secondary.value
	}
	if c.Tertiary.has() {
		r.Tertiary = &c.Tertiary.value
	}
	return nil
}

// createRole makes a role below all others but @everyone, with the permissions
// of @everyone where none are given.
func createRole(x *exchange, g *guild) (answer, error) {
	var f roleForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if len(g.roles) >= maxRoles {
		return refuse(errTooManyRoles)
	}
	r := &Role{Name: "new role", Position: 1}
	if !f.Permissions.has() {
		r.Permissions = g.roles[discord.RoleID(g.ID)].Permissions
	}
	if err := x.shapeRole(g, r, f); err != nil {
		return refuse(err)
	}
	for _, other := range g.roles {
		if other.Position > 0 {
			other.Position++
		}
	}
	r.ID = discord.RoleID(x.issue())
	g.roles[r.ID] = r
	x.audit(g.ID, auditRoleCreate, string(r.ID), AuditOptions{}, diffRole(&Role{}, r)...)
	return ok(viewRole(r))
}

// editRole changes a role below the bot's highest. @everyone keeps its name.
func editRole(x *exchange, g *guild, r *Role) (answer, error) {
	var f roleForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if !g.above(x.actor, r) {
		return refuse(errMissingPermissions)
	}
	if string(r.ID) == string(g.ID) {
		f.Name = opt[string]{}
	}
	edited := *r
	if err := x.shapeRole(g, &edited, f); err != nil {
		return refuse(err)
	}
	changes := diffRole(r, &edited)
	*r = edited
	x.audit(g.ID, auditRoleUpdate, string(r.ID), AuditOptions{}, changes...)
	return ok(viewRole(r))
}

// deleteRole takes a role from the guild, its members and its channels.
func deleteRole(x *exchange, g *guild, r *Role) (answer, error) {
	switch {
	case string(r.ID) == string(g.ID) || r.Managed:
		return refuse(errInvalidRole)
	case !g.above(x.actor, r):
		return refuse(errMissingPermissions)
	}
	delete(g.roles, r.ID)
	for _, m := range g.members {
		m.Roles = without(m.Roles, []discord.RoleID{r.ID})
	}
	for _, c := range x.channels {
		if i := c.overwriteOf(discord.OverwriteID(r.ID)); c.Guild == g.ID && i >= 0 {
			c.Overwrites = slices.Delete(slices.Clone(c.Overwrites), i, i+1)
		}
	}
	x.audit(g.ID, auditRoleDelete, string(r.ID), AuditOptions{}, diffRole(r, &Role{})...)
	return done()
}

// moveRoles sets positions. A role can be moved from and to places below the
// bot's highest role; @everyone stays at the bottom.
func moveRoles(x *exchange, g *guild) (answer, error) {
	var moves []struct {
		ID       discord.RoleID `json:"id"`
		Position opt[int]       `json:"position" minimum:"0"`
	}
	if err := x.bind(&moves); err != nil {
		return refuse(err)
	}
	for _, move := range moves {
		r := g.roles[move.ID]
		if r == nil {
			return refuse(errUnknownRole)
		}
		if !move.Position.has() || move.Position.value == r.Position {
			continue
		}
		there := &Role{ID: r.ID, Position: move.Position.value}
		switch {
		case string(r.ID) == string(g.ID):
			return refuse(errInvalidRole)
		case !g.above(x.actor, r) || !g.above(x.actor, there):
			return refuse(errMissingPermissions)
		}
	}
	for _, move := range moves {
		r := g.roles[move.ID]
		if now := move.Position.or(r.Position); now != r.Position {
			x.audit(g.ID, auditRoleUpdate, string(r.ID), AuditOptions{}, changed("position", r.Position, now)...)
			r.Position = now
		}
	}
	return ok(mapped(g.rolesByRank(), viewRole))
}

// diffRole lists what changed, under the keys of the audit log.
func diffRole(old, now *Role) []AuditChange {
	all := changed("name", old.Name, now.Name)
	all = append(all, changed("permissions", bits(old.Permissions), bits(now.Permissions))...)
	all = append(all, changed("color", old.Color, now.Color)...)
	all = append(all, changed("hoist", old.Hoist, now.Hoist)...)
	all = append(all, changed("mentionable", old.Mentionable, now.Mentionable)...)
	all = append(all, changed("icon_hash", textOrNull(old.Icon), textOrNull(now.Icon))...)
	return append(all, changed("unicode_emoji", textOrNull(old.UnicodeEmoji), textOrNull(now.UnicodeEmoji))...)
}
