package sandbox

import (
	"maps"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// integrationRoutes are the applications and accounts tied to a guild.
var integrationRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/integrations", handle: inGuild(discord.ManageGuild, listIntegrations)},
	{method: "DELETE", path: "/guilds/{guild_id}/integrations/{integration_id}", handle: inGuild(discord.ManageGuild, deleteIntegration)},
}

const auditIntegrationDelete = 82

var errUnknownIntegration = notFound(10005, "Unknown Integration")

// Integration is an application that was added to a guild, or an account that was
// connected to it.
type Integration struct {
	ID          discord.IntegrationID
	Type        string // "" is "discord", an application
	Application discord.ApplicationID
	Name        string
	Description string
	Bot         discord.UserID // "" when it came without a bot
	AddedBy     discord.UserID
	Scopes      []string // nil is what applications ask for
}

// AddIntegration adds an application to a guild. Its bot must be a user; it is
// not made a member.
func (d *Discord) AddIntegration(in discord.GuildID, i Integration) discord.IntegrationID {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	named(&d.world, &i.ID)
	unused(g.integrations, i.ID)
	if i.Bot != "" {
		known(d.world.users, i.Bot)
	}
	if i.Application == "" {
		i.Application = discord.ApplicationID(i.Bot)
	}
	if g.integrations == nil {
		g.integrations = map[discord.IntegrationID]*Integration{}
	}
	g.integrations[i.ID] = &i
	return i.ID
}

// Integrations lists a guild's integrations, the oldest first.
func (d *Discord) Integrations(of discord.GuildID) []Integration {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.world.guilds[of]
	if g == nil {
		return nil
	}
	return mapped(sorted(g.integrations), func(i *Integration) Integration { return *i })
}

type integrationView struct {
	ID          discord.IntegrationID       `json:"id"`
	Type        string                      `json:"type"`
	Name        string                      `json:"name"`
	Account     accountView                 `json:"account"`
	Enabled     bool                        `json:"enabled"`
	Application *integrationApplicationView `json:"application,omitempty"`
	Scopes      []string                    `json:"scopes,omitempty"`
	User        *userView                   `json:"user,omitempty"`
}

type accountView struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type integrationApplicationView struct {
	ID          discord.ApplicationID `json:"id"`
	Name        string                `json:"name"`
	Icon        *string               `json:"icon"`
	Description string                `json:"description"`
	Type        *int                  `json:"type"`
	Bot         *userView             `json:"bot,omitempty"`
}

func (x *exchange) viewIntegration(i *Integration) integrationView {
	v := integrationView{ID: i.ID, Type: i.Type, Name: i.Name, Account: accountView{string(i.Application), i.Name}, Enabled: true, Scopes: i.Scopes}
	if i.Type == "" {
		v.Type, v.Application = "discord", &integrationApplicationView{ID: i.Application, Name: i.Name, Description: i.Description}
		if i.Scopes == nil {
			v.Scopes = []string{"applications.commands"}
		}
	}
	if i.Bot != "" && i.Type == "" {
		bot := x.user(i.Bot)
		v.Application.Bot = &bot
		if i.Scopes == nil {
			v.Scopes = []string{"bot", "applications.commands"}
		}
	}
	if i.AddedBy != "" {
		by := x.user(i.AddedBy)
		v.User = &by
	}
	return v
}

func listIntegrations(x *exchange, g *guild) (answer, error) {
	all := sorted(g.integrations)
	return ok(mapped(all[:min(len(all), 50)], x.viewIntegration))
}

// deleteIntegration takes the integration's bot, its role and its webhooks along.
func deleteIntegration(x *exchange, g *guild) (answer, error) {
	i := g.integrations[id[discord.IntegrationID](x, "integration_id")]
	if i == nil {
		return refuse(errUnknownIntegration)
	}
	delete(g.integrations, i.ID)
	if i.Bot != "" {
		delete(g.members, i.Bot)
		delete(g.voice, i.Bot)
		maps.DeleteFunc(g.roles, func(_ discord.RoleID, r *Role) bool { return r.Managed && r.Bot == i.Bot })
		maps.DeleteFunc(x.webhooks, func(_ discord.WebhookID, h *Webhook) bool { return h.Guild == g.ID && h.By == i.Bot })
	}
	x.audit(g.ID, auditIntegrationDelete, string(i.ID), AuditOptions{}, changed("name", &i.Name, nil)...)
	return done()
}
