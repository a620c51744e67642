package sandbox

import (
	"slices"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// feature gives the demo guild a feature.
func feature(name string) func(*Discord) {
	return func(d *Discord) {
		g := d.world.guilds[DemoGuild]
		g.Features = append(slices.Clone(g.Features), name)
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	const roles = "/guilds/{guild}/roles"
	rows(t, []row{
		{name: "new", method: "POST", path: roles, body: `{}`, status: 200, has: `"name":"new role"`, after: func(t *testing.T, d *Discord) {
			all := d.Roles(DemoGuild)
			if all[1].Name != "new role" || all[1].Permissions != demoEveryone || all[2].ID != DemoMutedRole {
				t.Errorf("the lowest roles are %+v", all[:3])
			}
			if log := d.AuditLog(DemoGuild); len(log) != 1 || log[0].Action != auditRoleCreate {
				t.Errorf("audit log %+v", log)
			}
		}},
		{name: "new with everything", method: "POST", path: roles, body: `{"name":"Keeper","permissions":"1024","color":255,"hoist":true,"mentionable":true}`, status: 200, has: `"permissions":"1024"`},
		{name: "new with more than the bot has", method: "POST", path: roles, body: `{"permissions":"8"}`, status: 403, code: 50013},
		{name: "new without the permission", method: "POST", path: roles, status: 403, code: 50013, before: mayNot(discord.ManageRoles)},
		{name: "the 251st", method: "POST", path: roles, status: 400, code: 30005, before: func(d *Discord) {
			for len(d.Roles(DemoGuild)) < maxRoles {
				d.AddRole(DemoGuild, Role{Name: "x", Position: 1})
			}
		}},
		{name: "an icon without the feature", method: "POST", path: roles, body: `{"unicode_emoji":"⚓"}`, status: 403, code: 50101},
		{name: "an icon", method: "POST", path: roles, body: `{"unicode_emoji":"⚓"}`, status: 200, has: `"unicode_emoji":"⚓"`, before: feature("ROLE_ICONS")},
		{name: "a gradient without the feature", method: "POST", path: roles, body: `{"colors":{"primary_color":1,"secondary_color":2}}`, status: 403, code: 50101},
		{name: "a gradient", method: "POST", path: roles, body: `{"colors":{"primary_color":1,"secondary_color":2}}`, status: 200, has: `"secondary_color":2`, before: feature("ENHANCED_ROLE_COLORS")},
		{name: "one", method: "GET", path: roles + "/{mods}", status: 200, has: `"name":"Moderator"`},
		{name: "none", method: "GET", path: roles + "/{nowhere}", status: 404, code: 10011},
		{name: "counts leave everyone out", method: "GET", path: roles + "/member-counts", status: 200, has: `"{mods}":1,`},
		{name: "change", method: "PATCH", path: roles + "/{mods}", body: `{"name":"Mods","color":null}`, status: 200, has: `"name":"Mods"`},
		{name: "unknown bits survive", method: "PATCH", path: roles + "/{muted}", body: `{"color":1}`, status: 200, has: `"permissions":"4611686018427387905"`,
			before: func(d *Discord) { d.world.guilds[DemoGuild].roles[DemoMutedRole].Permissions = 4611686018427387905 }},
		{name: "a bit the bot lacks stays as it is", method: "PATCH", path: roles + "/{muted}", body: `{"permissions":"4611686018427388929"}`, status: 200,
			before: func(d *Discord) { d.world.guilds[DemoGuild].roles[DemoMutedRole].Permissions = 4611686018427387905 }},
		{name: "a higher role", method: "PATCH", path: roles + "/" + string(DemoAdminRole), body: `{"name":"x"}`, status: 403, code: 50013},
		{name: "its own role", method: "PATCH", path: roles + "/" + string(DemoBotRole), body: `{"name":"x"}`, status: 403, code: 50013},
		{name: "everyone keeps its name", method: "PATCH", path: roles + "/{everyone}", body: `{"name":"x","permissions":"1024"}`, status: 200, has: `"name":"@everyone","permissions":"1024"`},
		{name: "permissions as hex", method: "PATCH", path: roles + "/{muted}", body: `{"permissions":"0x400"}`, status: 400, code: 50035},
		{name: "delete", method: "DELETE", path: roles + "/{muted}", status: 204, after: func(t *testing.T, d *Discord) {
			c, _ := d.Channel(DemoGeneral)
			if _, there := d.Role(DemoGuild, DemoMutedRole); there || len(c.Overwrites) != 0 {
				t.Errorf("there %v, overwrites %v", there, c.Overwrites)
			}
		}},
		{name: "delete from members", method: "DELETE", path: roles + "/{events}", status: 204, after: func(t *testing.T, d *Discord) {
			if m, _ := d.Member(DemoGuild, DemoMember); slices.Contains(m.Roles, DemoEventsRole) {
				t.Errorf("roles %v", m.Roles)
			}
		}},
		{name: "delete everyone", method: "DELETE", path: roles + "/{everyone}", status: 400, code: 50028},
		{name: "delete a managed role", method: "DELETE", path: roles + "/" + string(DemoBotRole), status: 400, code: 50028},
		{name: "delete a higher role", method: "DELETE", path: roles + "/" + string(DemoAdminRole), status: 403, code: 50013},
		{name: "move", method: "PATCH", path: roles, body: `[{"id":"{muted}","position":4},{"id":"{mods}","position":1}]`, status: 200, after: func(t *testing.T, d *Discord) {
			if r, _ := d.Role(DemoGuild, DemoMutedRole); r.Position != 4 {
				t.Errorf("position %d", r.Position)
			}
		}},
		{name: "move above the bot", method: "PATCH", path: roles, body: `[{"id":"{muted}","position":6}]`, status: 403, code: 50013},
		{name: "move a higher role", method: "PATCH", path: roles, body: `[{"id":"` + string(DemoAdminRole) + `","position":1}]`, status: 403, code: 50013},
		{name: "move everyone", method: "PATCH", path: roles, body: `[{"id":"{everyone}","position":2}]`, status: 400, code: 50028},
		{name: "move an unknown role", method: "PATCH", path: roles, body: `[{"id":"{nowhere}","position":1}]`, status: 404, code: 10011},
	})
}
