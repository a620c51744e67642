package sandbox

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Template is a guild's template. A guild has one at most. What it holds of the
// guild is taken when it is added, made or synced.
//
// Source: https://docs.discord.com/developers/resources/guild-template.
type Template struct {
	Code        string
	Name        string
	Description string
	Uses        int
	Creator     discord.UserID // "" is the guild's owner
	Created     time.Time      // zero: when it was added
	Synced      time.Time      // zero: when it was made

	snapshot json.RawMessage
}

// templateRoutes make, read, sync and delete templates. Whoever has a code may
// read by it, a member or not.
var templateRoutes = []route{
	{method: "GET", path: "/guilds/templates/{code}", handle: getTemplate},
	{method: "GET", path: "/guilds/{guild_id}/templates", handle: inGuild(discord.ManageGuild, listTemplates)},
	{method: "POST", path: "/guilds/{guild_id}/templates", handle: inGuild(discord.ManageGuild, createTemplate)},
	{method: "PUT", path: "/guilds/{guild_id}/templates/{code}", handle: onTemplate(syncTemplate)},
	{method: "PATCH", path: "/guilds/{guild_id}/templates/{code}", handle: onTemplate(editTemplate)},
	{method: "DELETE", path: "/guilds/{guild_id}/templates/{code}", handle: onTemplate(deleteTemplate)},
}

var (
	errNoTemplate  = notFound(10057, "Unknown Guild Template")
	errHasTemplate = badRequest(30031, "Guild already has a template")
)

// AddTemplate gives a guild its template and returns the code, which it makes
// where there is none.
func (d *Discord) AddTemplate(in discord.GuildID, t Template) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	if g.template != nil {
		panic(fmt.Sprintf("sandbox: guild %s has a template", in))
	}
	if t.Created.IsZero() {
		t.Created = d.world.clock()
	}
	if t.Synced.IsZero() {
		t.Synced = t.Created
	}
	if t.Creator == "" {
		t.Creator = g.Owner
	}
	d.world.keepTemplate(g, &t)
	return t.Code
}

func (w *world) keepTemplate(g *guild, t *Template) {
	if t.Code == "" {
		t.Code = rand.Text()[:12]
	}
	t.snapshot = w.snapshot(g)
	g.template = t
}

// Template is a guild's template, false where it has none.
func (d *Discord) Template(of discord.GuildID) (Template, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.world.guilds[of]; g != nil && g.template != nil {
		return *g.template, true
	}
	return Template{}, false
}

// onTemplate resolves {guild_id} and {code}, which must be of that guild.
func onTemplate(handle func(*exchange, *guild) (answer, error)) handler {
	return inGuild(discord.ManageGuild, func(x *exchange, g *guild) (answer, error) {
		if g.template == nil || g.template.Code != x.params["code"] {
			return refuse(errNoTemplate)
		}
		return handle(x, g)
	})
}

type templateView struct {
	Code        string          `json:"code"`
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Uses        int             `json:"usage_count"`
	CreatorID   discord.UserID  `json:"creator_id"`
	Creator     userView        `json:"creator"`
	Created     string          `json:"created_at"`
	Updated     string          `json:"updated_at"`
	Source      discord.GuildID `json:"source_guild_id"`
	Serialized  json.RawMessage `json:"serialized_source_guild"`
	Dirty       *bool           `json:"is_dirty"`
}

func (w *world) viewTemplate(g *guild) templateView {
	t := g.template
	v := templateView{
		Code: t.Code, Name: t.Name, Description: textOrNull(t.Description), Uses: t.Uses, CreatorID: t.Creator, Creator: w.user(t.Creator),
		Created: stamp(t.Created), Updated: stamp(t.Synced), Source: g.ID, Serialized: t.snapshot,
	}
	if dirty := !bytes.Equal(t.snapshot, w.snapshot(g)); dirty {
		v.Dirty = &dirty
	}
	return v
}

func getTemplate(x *exchange) (answer, error) {
	for _, g := range x.guilds {
		if g.template != nil && g.template.Code == x.params["code"] {
			return ok(x.viewTemplate(g))
		}
	}
	return refuse(errNoTemplate)
}

func listTemplates(x *exchange, g *guild) (answer, error) {
	all := []templateView{}
	if g.template != nil {
		all = append(all, x.viewTemplate(g))
	}
	return ok(all)
}

type templateForm struct {
	Name        string      `json:"name" minLength:"1" maxLength:"100"`
	Description opt[string] `json:"description" maxLength:"120"`
}

func createTemplate(x *exchange, g *guild) (answer, error) {
	var f templateForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if g.template != nil {
		return refuse(errHasTemplate)
	}
	x.keepTemplate(g, &Template{Name: f.Name, Description: f.Description.value, Creator: x.actor, Created: x.now, Synced: x.now})
	return ok(x.viewTemplate(g))
}

func syncTemplate(x *exchange, g *guild) (answer, error) {
	g.template.snapshot, g.template.Synced = x.snapshot(g), x.now
	return ok(x.viewTemplate(g))
}

type templateEdit struct {
	Name        opt[string] `json:"name" minLength:"1" maxLength:"100" null:"no"`
	Description opt[string] `json:"description" maxLength:"120"`
}

func editTemplate(x *exchange, g *guild) (answer, error) {
	var f templateEdit
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	f.Name.into(&g.template.Name)
	f.Description.into(&g.template.Description)
	return ok(x.viewTemplate(g))
}

func deleteTemplate(x *exchange, g *guild) (answer, error) {
	v := x.viewTemplate(g)
	g.template = nil
	return ok(v)
}
