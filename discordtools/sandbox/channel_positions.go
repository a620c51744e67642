package sandbox

import (
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// channelMove gives a channel a place.
//
// Source: https://docs.discord.com/developers/resources/guild#modify-guild-channel-positions.
type channelMove struct {
	ID       discord.ChannelID      `json:"id"`
	Position opt[int]               `json:"position" minimum:"0"`
	Parent   opt[discord.ChannelID] `json:"parent_id"`
	Lock     opt[bool]              `json:"lock_permissions"`
}

// moveChannels sets positions and categories, all or none. It takes
// MANAGE_CHANNELS in each of the channels.
func moveChannels(x *exchange, g *guild) (answer, error) {
	var moves []channelMove
	if err := x.bind(&moves); err != nil {
		return refuse(err)
	}
	for i, m := range moves {
		c := x.channels[m.ID]
		if c == nil || c.Guild != g.ID || c.Thread != nil {
			return refuse(errUnknownChannel)
		}
		if err := x.need(c, discord.ManageChannels); err != nil {
			return refuse(err)
		}
		if parent := x.channels[m.Parent.value]; m.Parent.has() && (parent == nil || parent.Guild != g.ID || parent.Type != discord.GuildCategory || c.Type == discord.GuildCategory) {
			return refuse(invalid(strconv.Itoa(i)+".parent_id", "CHANNEL_PARENT_INVALID", "Category does not exist"))
		}
	}
	for _, m := range moves {
		c := x.channels[m.ID]
		old := c.clone()
		m.Position.into(&c.Position)
		m.Parent.into(&c.Parent)
		if parent := x.channels[c.Parent]; m.Lock.value && parent != nil {
			c.Overwrites = parent.clone().Overwrites
		}
		if changes := diff(&old, &c.Channel); len(changes) > 0 {
			x.audit(g.ID, auditChannelUpdate, string(c.ID), AuditOptions{}, changes...)
		}
	}
	return done()
}
