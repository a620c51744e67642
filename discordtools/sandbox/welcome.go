package sandbox

import (
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// welcomeRoutes are what a Community guild shows to who is new.
var welcomeRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/welcome-screen", handle: inGuild(0, getWelcome)},
	{method: "PATCH", path: "/guilds/{guild_id}/welcome-screen", handle: inGuild(discord.ManageGuild, modifyWelcome)},
}

const welcomeEnabled = "WELCOME_SCREEN_ENABLED" // the feature that says so

var errUnknownWelcome = notFound(10069, "Unknown Guild Welcome Screen")

// WelcomeScreen is a guild's welcome screen. The guild's feature
// WELCOME_SCREEN_ENABLED says whether it is shown.
type WelcomeScreen struct {
	Description string
	Channels    []WelcomeChannel
}

// WelcomeChannel is a channel that a welcome screen points to.
type WelcomeChannel struct {
	Channel     discord.ChannelID
	Description string
	Emoji       *EmojiRef
}

// SetWelcomeScreen gives a guild a welcome screen and enables it.
func (d *Discord) SetWelcomeScreen(in discord.GuildID, s WelcomeScreen) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	s.Channels = slices.Clone(s.Channels)
	g.welcome = &s
	g.setFeature(welcomeEnabled, true)
}

// WelcomeScreen is a guild's welcome screen, and whether it has one.
func (d *Discord) WelcomeScreen(of discord.GuildID) (WelcomeScreen, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.world.guilds[of]
	if g == nil || g.welcome == nil {
		return WelcomeScreen{}, false
	}
	s := *g.welcome
	s.Channels = slices.Clone(s.Channels)
	return s, true
}

func (g *Guild) setFeature(name string, on bool) {
	if g.has(name) == on {
		return
	}
	g.Features = slices.DeleteFunc(slices.Clone(g.Features), func(f string) bool { return f == name })
	if on {
		g.Features = append(g.Features, name)
	}
}

type welcomeView struct {
	Description *string              `json:"description"`
	Channels    []welcomeChannelView `json:"welcome_channels"`
}

type welcomeChannelView struct {
	Channel     discord.ChannelID `json:"channel_id"`
	Description string            `json:"description"`
	EmojiID     *discord.EmojiID  `json:"emoji_id"`
	EmojiName   *string           `json:"emoji_name"`
}

func viewWelcome(s *WelcomeScreen) welcomeView {
	return welcomeView{textOrNull(s.Description), mapped(s.Channels, func(c WelcomeChannel) welcomeChannelView {
		v := welcomeChannelView{Channel: c.Channel, Description: c.Description}
		if c.Emoji != nil {
			v.EmojiID, v.EmojiName = textOrNull(c.Emoji.ID), textOrNull(c.Emoji.Name)
		}
		return v
	})}
}

// getWelcome shows one that is switched off to those who may change it.
func getWelcome(x *exchange, g *guild) (answer, error) {
	if g.welcome == nil {
		return refuse(errUnknownWelcome)
	}
	if !g.has(welcomeEnabled) {
		if err := x.needInGuild(g, discord.ManageGuild); err != nil {
			return refuse(err)
		}
	}
	return ok(viewWelcome(g.welcome))
}

type welcomeForm struct {
	Enabled     opt[bool]                 `json:"enabled"`
	Description opt[string]               `json:"description" maxLength:"140"`
	Channels    opt[[]welcomeChannelForm] `json:"welcome_channels" maxItems:"5"`
}

type welcomeChannelForm struct {
	Channel     discord.ChannelID    `json:"channel_id"`
	Description string               `json:"description" minLength:"1" maxLength:"50"`
	EmojiID     opt[discord.EmojiID] `json:"emoji_id"`
	EmojiName   opt[string]          `json:"emoji_name"`
}

func modifyWelcome(x *exchange, g *guild) (answer, error) {
	var f welcomeForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if !g.has("COMMUNITY") {
		return refuse(errMissingAccess)
	}
	now := WelcomeScreen{}
	if g.welcome != nil {
		now = *g.welcome
	}
	if f.Channels.sent {
		now.Channels = nil
	}
	for i, c := range f.Channels.value {
		if ch := x.channels[c.Channel]; ch == nil || ch.Guild != g.ID || ch.Thread != nil {
			return refuse(invalid(fmt.Sprintf("welcome_channels.%d.channel_id", i), "CHANNEL_INVALID", "Channel is not part of this guild."))
		}
		shown := WelcomeChannel{Channel: c.Channel, Description: c.Description}
		if c.EmojiID.has() || c.EmojiName.or("") != "" {
			ref, err := x.emoji(c.EmojiID.or(""), c.EmojiName.or(""))
			if err != nil {
				return refuse(err)
			}
			shown.Emoji = &ref
		}
		now.Channels = append(now.Channels, shown)
	}
	f.Description.into(&now.Description)
	old := g.Guild
	g.welcome = &now
	if f.Enabled.has() {
		g.setFeature(welcomeEnabled, f.Enabled.value)
	}
	x.audit(g.ID, auditGuildUpdate, string(g.ID), AuditOptions{}, guildChanges(old, g.Guild)...)
	return ok(viewWelcome(g.welcome))
}
