// Package claims names what writes to Discord claim in a ledger of operations, so
// that whatever writes the same thing meets there. What is in a collection
// changes when one of its things is made, moved or deleted.
package claims

import (
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Role is one role.
func Role(id discord.RoleID) mcpcore.Target { return mcpcore.Target{Kind: "role", ID: string(id)} }

// Channel is one channel.
func Channel(id discord.ChannelID) mcpcore.Target {
	return mcpcore.Target{Kind: "channel", ID: string(id)}
}

// Member is one member of a guild.
func Member(guild discord.GuildID, id discord.UserID) mcpcore.Target {
	return mcpcore.Target{Kind: "member", ID: string(guild) + "/" + string(id)}
}

// Message is one message.
func Message(channel discord.ChannelID, id discord.MessageID) mcpcore.Target {
	return mcpcore.Target{Kind: "message", ID: string(channel) + "/" + string(id)}
}

// All is a collection of a guild: "channels", "roles", "invites".
func All(collection string, guild discord.GuildID) mcpcore.Target {
	return mcpcore.Target{Kind: "guild/" + collection, ID: string(guild)}
}
