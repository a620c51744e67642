package sandbox

import (
	"fmt"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// widgetRoutes are a guild's public widget and its settings.
var widgetRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/widget", handle: inGuild(discord.ManageGuild, getWidgetSettings)},
	{method: "PATCH", path: "/guilds/{guild_id}/widget", handle: inGuild(discord.ManageGuild, modifyWidget)},
	{method: "GET", path: "/guilds/{guild_id}/widget.json", handle: getWidget, open: true},
}

var errWidgetDisabled = forbidden(50004, "Widget Disabled")

type widgetSettingsView struct {
	Enabled bool               `json:"enabled"`
	Channel *discord.ChannelID `json:"channel_id"`
}

func viewWidgetSettings(g *guild) widgetSettingsView {
	return widgetSettingsView{g.WidgetEnabled, textOrNull(g.WidgetChannel)}
}

func getWidgetSettings(_ *exchange, g *guild) (answer, error) { return ok(viewWidgetSettings(g)) }

func modifyWidget(x *exchange, g *guild) (answer, error) {
	var f struct {
		Enabled opt[bool]              `json:"enabled"`
		Channel opt[discord.ChannelID] `json:"channel_id"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if c := x.channels[f.Channel.value]; f.Channel.has() && (c == nil || c.Guild != g.ID || c.Thread != nil) {
		return refuse(invalid("channel_id", "CHANNEL_INVALID", "Channel is not part of this guild."))
	}
	old := g.Guild
	if f.Enabled.has() {
		g.WidgetEnabled = f.Enabled.value
	}
	f.Channel.into(&g.WidgetChannel)
	if changes := guildChanges(old, g.Guild); len(changes) > 0 {
		x.audit(g.ID, auditGuildUpdate, string(g.ID), AuditOptions{}, changes...)
	}
	return ok(viewWidgetSettings(g))
}

type widgetView struct {
	ID       discord.GuildID     `json:"id"`
	Name     string              `json:"name"`
	Invite   *string             `json:"instant_invite"`
	Channels []widgetChannelView `json:"channels"`
	Members  []widgetMemberView  `json:"members"`
	Presence int                 `json:"presence_count"`
}

type widgetChannelView struct {
	ID       discord.ChannelID `json:"id"`
	Name     string            `json:"name"`
	Position int               `json:"position"`
}

// widgetMemberView has a number instead of the user's id.
type widgetMemberView struct {
	ID            string            `json:"id"`
	Username      string            `json:"username"`
	Discriminator string            `json:"discriminator"`
	Avatar        *string           `json:"avatar"`
	Status        string            `json:"status"`
	AvatarURL     string            `json:"avatar_url"`
	Channel       discord.ChannelID `json:"channel_id,omitempty"`
}

// getWidget shows a widget to anyone: the voice channels that everyone can
// enter, and the first hundred of those who are online.
func getWidget(x *exchange) (answer, error) {
	g := x.guilds[id[discord.GuildID](x, "guild_id")]
	switch {
	case g == nil:
		return refuse(errUnknownGuild)
	case !g.WidgetEnabled:
		return refuse(errWidgetDisabled)
	}
	v := widgetView{ID: g.ID, Name: g.Name, Channels: []widgetChannelView{}, Members: []widgetMemberView{}}
	_, v.Presence = g.counts()
	if g.WidgetChannel != "" {
		invite := "https://discord.com/invite/w" + string(g.WidgetChannel)
		v.Invite = &invite
	}
	for _, c := range x.guildChannels(g.ID) {
		if c.Type == discord.GuildVoice && x.everyone(g, c).Has(discord.ViewChannel|discord.Connect) {
			v.Channels = append(v.Channels, widgetChannelView{c.ID, c.Name, c.Position})
		}
	}
	for i, m := range sorted(g.members) {
		if i == min(v.Presence, 100) {
			break
		}
		u := x.user(m.User)
		name := u.Username
		if u.GlobalName != nil {
			name = *u.GlobalName
		}
		if m.Nick != "" {
			name = m.Nick
		}
		shown := widgetMemberView{
			ID: fmt.Sprint(i), Username: name, Discriminator: "0000", Status: "online",
			AvatarURL: fmt.Sprintf("https://cdn.discordapp.com/widget-avatars/%d/w", i),
		}
		if s := g.voice[m.User]; s != nil {
			shown.Channel = s.Channel
		}
		v.Members = append(v.Members, shown)
	}
	return ok(v)
}

// everyone is what a member without roles may do in a channel.
func (x *exchange) everyone(g *guild, c *channel) discord.Permissions {
	base := discord.Base(false, g.roles[discord.RoleID(g.ID)].Permissions)
	return implied(discord.InChannel(base, g.ID, "", nil, c.Overwrites), c.Type)
}

// SetWidget switches a guild's widget on or off; channel is what it invites to,
// "" for nothing.
func (d *Discord) SetWidget(in discord.GuildID, on bool, channel discord.ChannelID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	g.WidgetEnabled, g.WidgetChannel = on, channel
}
