package sandbox

import (
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// commandPermissionRoutes are who may use a command in a guild. Bots read it;
// people change it.
//
// Source: https://docs.discord.com/developers/interactions/application-commands#permissions.
var commandPermissionRoutes = []route{
	{method: "GET", path: "/applications/{application_id}/guilds/{guild_id}/commands/permissions", handle: inCommands(listGrants)},
	{method: "GET", path: "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}/permissions", handle: inCommands(getGrants)},
	{method: "PUT", path: "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}/permissions", handle: inCommands(putGrants), scope: scopeCommandPermissions},
}

// scopeCommandPermissions is the OAuth2 scope by which a person lets the
// application change who may use its commands.
const scopeCommandPermissions = "applications.commands.permissions.update"

const auditCommandPermissions = 121

var errNoGrants = notFound(10066, "Unknown application command permissions")

// CommandGrant opens a command in a guild to a role (Type 1), a user (2) or a
// channel (3), or closes it to them.
type CommandGrant struct {
	ID    discord.GranteeID `json:"id"`
	Type  int               `json:"type" enum:"1,2,3"`
	Allow bool              `json:"permission"`
}

// SetCommandGrants says who may use a command in a guild; the application's id
// names all commands.
func (d *Discord) SetCommandGrants(in discord.GuildID, command discord.CommandID, grants ...CommandGrant) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known(d.world.guilds, in).grants[command] = grants
}

// CommandGrants is who may use a command in a guild, nil where nothing is said.
func (d *Discord) CommandGrants(in discord.GuildID, command discord.CommandID) []CommandGrant {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(known(d.world.guilds, in).grants[command])
}

// forgetGrants drops what is said of a command that is gone or has another name.
func (x *exchange) forgetGrants(command discord.CommandID) {
	for _, g := range x.guilds {
		delete(g.grants, command)
	}
}

type grantsView struct {
	ID          discord.CommandID     `json:"id"`
	Application discord.ApplicationID `json:"application_id"`
	Guild       discord.GuildID       `json:"guild_id"`
	Permissions []CommandGrant        `json:"permissions"`
}

func (g *guild) viewGrants(command discord.CommandID) grantsView {
	return grantsView{command, ApplicationID, g.ID, list(g.grants[command])}
}

func listGrants(_ *exchange, s *commandSet) (answer, error) {
	var all []discord.CommandID
	for command := range s.guild.grants {
		all = append(all, command)
	}
	slices.SortFunc(all, discord.CompareIDs)
	return ok(mapped(all, s.guild.viewGrants))
}

func getGrants(x *exchange, s *commandSet) (answer, error) {
	command := id[discord.CommandID](x, "command_id")
	if !x.grantable(s, command) {
		return refuse(errNoCommand)
	}
	if s.guild.grants[command] == nil {
		return refuse(errNoGrants)
	}
	return ok(s.guild.viewGrants(command))
}

// grantable reports whether there is such a command, here or everywhere, or it
// stands for all.
func (x *exchange) grantable(s *commandSet, command discord.CommandID) bool {
	return s.all[command] != nil || x.app.commands[command] != nil || command == discord.CommandID(ApplicationID)
}

// putGrants acts as the person whose token it was.
func putGrants(x *exchange, s *commandSet) (answer, error) {
	command := id[discord.CommandID](x, "command_id")
	if !x.grantable(s, command) {
		return refuse(errNoCommand)
	}
	if err := x.needInGuild(s.guild, discord.ManageGuild|discord.ManageRoles); err != nil {
		return refuse(err)
	}
	var f struct {
		Permissions []CommandGrant `json:"permissions" maxItems:"100"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	var bad form
	for i, grant := range f.Permissions {
		if !x.reaches(s.guild, grant) {
			bad.add("permissions."+strconv.Itoa(i)+".id", "APPLICATION_COMMAND_PERMISSIONS_ID_INVALID", "Unknown role, user or channel")
		}
	}
	if err := bad.err(); err != nil {
		return refuse(err)
	}
	old := s.guild.grants[command]
	s.guild.grants[command] = f.Permissions
	if len(f.Permissions) == 0 {
		delete(s.guild.grants, command)
	}
	x.audit(s.guild.ID, auditCommandPermissions, string(command), AuditOptions{}, grantChanges(old, f.Permissions)...)
	return ok(s.guild.viewGrants(command))
}

// reaches reports whether a grant is about somebody of the guild. The guild's id is
// everyone, one less is all channels.
func (x *exchange) reaches(g *guild, grant CommandGrant) bool {
	switch grant.Type {
	case 1:
		return g.roles[discord.RoleID(grant.ID)] != nil
	case 2:
		return x.users[discord.UserID(grant.ID)] != nil
	}
	c := x.channels[discord.ChannelID(grant.ID)]
	return c != nil && c.Guild == g.ID || number(grant.ID) == number(g.ID)-1
}

// grantChanges are the changes of an audit entry, each under the id of whom it is
// about.
func grantChanges(old, now []CommandGrant) (all []AuditChange) {
	of := func(list []CommandGrant, id discord.GranteeID) *CommandGrant {
		for i := range list {
			if list[i].ID == id {
				return &list[i]
			}
		}
		return nil
	}
	for _, grant := range now {
		all = append(all, changed(string(grant.ID), of(old, grant.ID), &grant)...)
	}
	for _, grant := range old {
		if of(now, grant.ID) == nil {
			all = append(all, changed(string(grant.ID), &grant, nil)...)
		}
	}
	return all
}
