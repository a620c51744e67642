package sandbox

import (
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	const all, one = "/guilds/{guild}/templates", "/guilds/{guild}/templates/crew"
	add := func(d *Discord) {
		d.AddTemplate(DemoGuild, Template{Code: "crew", Name: "Crew", Uses: 3, Created: noon.AddDate(0, -1, 0)})
	}
	changed := func(change func(*Discord)) func(*Discord) {
		return func(d *Discord) { add(d); change(d) }
	}
	without := func(d *Discord) {
		add(d)
		d.world.guilds[DemoGuild].roles[DemoBotRole].Permissions &^= discord.ManageGuild
	}
	rows(t, []row{
		{name: "none", method: "GET", path: all, status: 200, has: `[]`},
		{name: "list", method: "GET", path: all, status: 200, has: `[{"code":"crew","name":"Crew","description":null,"usage_count":3,"creator_id":"{owner}"`, before: add},
		{name: "list without the permission", method: "GET", path: all, status: 403, code: 50013, before: without},
		{name: "get", method: "GET", path: "/guilds/templates/crew", status: 200, has: `"source_guild_id":"{guild}"`, before: add},
		{name: "clean", method: "GET", path: "/guilds/templates/crew", status: 200, has: `"is_dirty":null`, before: add},
		{name: "get without the permission", method: "GET", path: "/guilds/templates/crew", status: 200, before: without},
		{name: "get unknown", method: "GET", path: "/guilds/templates/ghost", status: 404, code: 10057},
		{name: "create", method: "POST", path: all, body: `{"name":"Crew","description":"all aboard"}`, status: 200, has: `"description":"all aboard","usage_count":0,"creator_id":"{bot}"`},
		{name: "create without a name", method: "POST", path: all, body: `{}`, status: 400, code: 50035},
		{name: "create a second one", method: "POST", path: all, body: `{"name":"Crew"}`, status: 400, code: 30031, before: add},
		{name: "sync", method: "PUT", path: one, status: 200, has: `"updated_at":"2026-06-01T12:00:00.000000+00:00"`, before: add},
		{name: "sync that of another guild", method: "PUT", path: "/guilds/{guild}/templates/reads", status: 404, code: 10057, before: func(d *Discord) {
			d.AddTemplate(DemoClub, Template{Code: "reads", Name: "Reads"})
		}},
		{name: "sync without the permission", method: "PUT", path: one, status: 403, code: 50013, before: without},
		{name: "edit", method: "PATCH", path: one, body: `{"name":"Hands","description":null}`, status: 200, has: `"name":"Hands"`, before: add},
		{name: "edit to nothing", method: "PATCH", path: one, body: `{"name":""}`, status: 400, code: 50035, before: add},
		{name: "delete", method: "DELETE", path: one, status: 200, has: `"code":"crew"`, before: add, after: func(t *testing.T, d *Discord) {
			if _, there := d.Template(DemoGuild); there {
				t.Error("it is still there")
			}
		}},
		{name: "delete none", method: "DELETE", path: one, status: 404, code: 10057},

		{name: "no managed role", method: "GET", path: "/guilds/templates/crew", status: 200, before: add,
			has: `"roles":[{"id":0,"name":"@everyone","permissions":"`, after: func(t *testing.T, d *Discord) {
				if n := len(snapshotOfDemo(t, d).Roles); n != 6 {
					t.Errorf("%d roles, want the six that no integration manages", n)
				}
			}},
		{name: "types that templates have", method: "GET", path: "/guilds/templates/crew", status: 200, before: add, after: func(t *testing.T, d *Discord) {
			for _, c := range snapshotOfDemo(t, d).Channels {
				if !templated(c.Type) {
					t.Errorf("%s is a %s", c.Name, c.Type)
				}
				if c.Name == "general" && (c.Parent == nil || *c.Parent != "2" || len(c.Overwrites) != 1 || c.Overwrites[0].ID != "1") {
					t.Errorf("general is in %v with the overwrites %v", c.Parent, c.Overwrites)
				}
			}
		}},
		{name: "dirty by a role", method: "GET", path: "/guilds/templates/crew", status: 200, has: `"is_dirty":true`, before: changed(func(d *Discord) {
			d.SetRolePermissions(DemoGuild, DemoMemberRole, discord.Connect)
		})},
		{name: "dirty by a channel", method: "GET", path: "/guilds/templates/crew", status: 200, has: `"is_dirty":true`, before: changed(func(d *Discord) {
			d.AddChannel(Channel{Guild: DemoGuild, Name: "new"})
		})},
		{name: "not by what it does not hold", method: "GET", path: "/guilds/templates/crew", status: 200, has: `"is_dirty":null`, before: changed(func(d *Discord) {
			d.AddChannel(Channel{Guild: DemoGuild, Type: discord.GuildStageVoice, Name: "new", Position: 99})
			d.SetOverwrite(DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(DemoMember), Type: 1, Deny: discord.SendMessages})
		})},
		{name: "clean after a sync", method: "PUT", path: one, status: 200, has: `"is_dirty":null`, before: changed(func(d *Discord) {
			d.SetRolePermissions(DemoGuild, DemoMemberRole, discord.Connect)
		})},
	})
}

func snapshotOfDemo(t *testing.T, d *Discord) (s templateGuild) {
	t.Helper()
	return get[struct {
		S templateGuild `json:"serialized_source_guild"`
	}](t, d, "GET", "/guilds/templates/crew", "").S
}

func TestTemplateOfAGuildIsAddedOnce(t *testing.T) {
	t.Parallel()
	d := Demo()
	if code := d.AddTemplate(DemoGuild, Template{Name: "Crew", Synced: time.Now()}); len(code) != 12 {
		t.Errorf("code %q", code)
	}
	defer func() {
		if recover() == nil {
			t.Error("a second one was added")
		}
	}()
	d.AddTemplate(DemoGuild, Template{Name: "Crew"})
}
