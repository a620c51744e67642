package blueprint

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Inventory counts what was read.
type Inventory struct {
	ID    string `json:"snapshot_id"`
	Guild struct {
		ID       discord.GuildID `json:"id"`
		Name     string          `json:"name"`
		Features []string        `json:"features"`
	} `json:"guild"`
	Bot       discord.UserID `json:"bot_id"`
	Resources struct {
		Roles      int `json:"roles"`
		Categories int `json:"categories"`
		Channels   int `json:"channels"`
		Rules      int `json:"automod_rules"`
		Messages   int `json:"recent_messages"`
	} `json:"resources"`
	Onboarding *bool `json:"onboarding_enabled"`
	Welcome    *bool `json:"welcome_screen_configured"`
}

// Inventory counts what was read.
func (g *Guild) Inventory() (v Inventory) {
	v.ID, v.Bot = g.ID(), g.Bot.ID
	v.Guild.ID, v.Guild.Name, v.Guild.Features = g.Settings.ID, g.Settings.Name, slices.Clone(g.Settings.Features)
	r := &v.Resources
	r.Roles, r.Rules, r.Messages = len(g.Roles), len(g.Rules), len(g.Cards)
	for _, c := range g.Channels {
		if c.Type == discord.GuildCategory {
			r.Categories++
		} else {
			r.Channels++
		}
	}
	if g.Settings.has(community) {
		on, there := g.Onboarding != nil && g.Onboarding.Enabled, g.Welcome != nil
		v.Onboarding, v.Welcome = &on, &there
	}
	return v
}
