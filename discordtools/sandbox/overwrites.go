package sandbox

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// overwriteRoutes change what a role or member may do in one channel.
var overwriteRoutes = []route{
	{method: "PUT", path: "/channels/{channel_id}/permissions/{overwrite_id}", handle: inChannel(discord.ManageRoles, putOverwrite)},
	{method: "DELETE", path: "/channels/{channel_id}/permissions/{overwrite_id}", handle: inChannel(discord.ManageRoles, deleteOverwrite)},
}

type overwriteForm struct {
	ID    discord.OverwriteID      `json:"id"`
	Type  opt[int]                 `json:"type" enum:"0,1"`
	Allow opt[discord.Permissions] `json:"allow"`
	Deny  opt[discord.Permissions] `json:"deny"`
}

// overwrite checks a form. The bot can give and take what it has itself: in
// the guild, or in c where that is not nil; MANAGE_ROLES needs an administrator
// or an overwrite in c that allows it to the bot.
func (x *exchange) overwrite(g *guild, c *channel, f overwriteForm) (discord.Overwrite, error) {
	o := discord.Overwrite{ID: f.ID, Type: f.Type.value, Allow: f.Allow.value, Deny: f.Deny.value}
	known := o.Type == discord.OverwriteMember && x.users[discord.UserID(o.ID)] != nil
	if o.Type == discord.OverwriteRole {
		known = g.roles[discord.RoleID(o.ID)] != nil
		if !known && !f.Type.has() && g.members[discord.UserID(o.ID)] != nil {
			o.Type, known = discord.OverwriteMember, true
		}
	}
	if !known {
		return o, errUnknownOverwrite
	}
	held := x.world.inGuild(g, x.actor)
	if held.Has(discord.Administrator) {
		return o, nil
	}
	grants := held &^ discord.ManageRoles
	if c != nil {
		grants |= x.inChannel(c, x.actor) &^ discord.ManageRoles
		if x.holdsManageRoles(g, c) {
			return o, nil
		}
	}
	if !grants.Has(o.Allow | o.Deny) {
		return o, errMissingPermissions
	}
	return o, nil
}

// holdsManageRoles reports whether an overwrite of the channel itself gives the
// bot MANAGE_ROLES.
func (x *exchange) holdsManageRoles(g *guild, c *channel) bool {
	m := g.members[x.actor]
	return slices.ContainsFunc(c.Overwrites, func(o discord.Overwrite) bool {
		mine := o.Type == discord.OverwriteMember && discord.UserID(o.ID) == x.actor ||
			o.Type == discord.OverwriteRole && (slices.Contains(m.Roles, discord.RoleID(o.ID)) || string(o.ID) == string(g.ID))
		return mine && o.Allow.Has(discord.ManageRoles)
	})
}

func putOverwrite(x *exchange, c *channel) (answer, error) {
	if c.Guild == "" || c.Thread != nil {
		return refuse(errChannelType)
	}
	var f struct {
		Type  opt[int]                 `json:"type" enum:"0,1"`
		Allow opt[discord.Permissions] `json:"allow"`
		Deny  opt[discord.Permissions] `json:"deny"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	o, err := x.overwrite(x.guilds[c.Guild], c, overwriteForm{id[discord.OverwriteID](x, "overwrite_id"), f.Type, f.Allow, f.Deny})
	if err != nil {
		return refuse(err)
	}
	action := auditOverwriteCreate
	var old discord.Overwrite
	if i := c.overwriteOf(o.ID); i >= 0 {
		action, old = auditOverwriteUpdate, c.Overwrites[i]
		c.Overwrites[i] = o
	} else {
		c.Overwrites = append(c.Overwrites, o)
	}
	changes := append(changed("allow", bits(old.Allow), bits(o.Allow)), changed("deny", bits(old.Deny), bits(o.Deny))...)
	x.audit(c.Guild, action, string(c.ID), x.overwriteOptions(c, o), changes...)
	return done()
}

func deleteOverwrite(x *exchange, c *channel) (answer, error) {
	i := c.overwriteOf(id[discord.OverwriteID](x, "overwrite_id"))
	if i < 0 {
		return refuse(errUnknownOverwrite)
	}
	old := c.Overwrites[i]
	c.Overwrites = slices.Delete(c.Overwrites, i, i+1)
	x.audit(c.Guild, auditOverwriteDelete, string(c.ID), x.overwriteOptions(c, old))
	return done()
}

func (c *channel) overwriteOf(id discord.OverwriteID) int {
	return slices.IndexFunc(c.Overwrites, func(o discord.Overwrite) bool { return o.ID == id })
}

func (x *exchange) overwriteOptions(c *channel, o discord.Overwrite) AuditOptions {
	if o.Type == discord.OverwriteMember {
		return AuditOptions{ID: string(o.ID), Type: "1"}
	}
	options := AuditOptions{ID: string(o.ID), Type: "0"}
	if r := x.guilds[c.Guild].roles[discord.RoleID(o.ID)]; r != nil {
		options.RoleName = r.Name
	}
	return options
}
