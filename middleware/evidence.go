package middleware

import (
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// The kinds of evidence that [RuntimeAccess] asks for, what their keys are and
// what [mcpcore.Evidence.Data] holds when it is complete.
const (
	// EvidenceIdentity is which bot this is. Key "", data a [discord.UserID].
	EvidenceIdentity mcpcore.EvidenceKind = "identity"
	// EvidenceIntents is which privileged intents Discord grants the
	// application. Key "", data [discord.Intents].
	EvidenceIntents mcpcore.EvidenceKind = "intents"
	// EvidenceGuild is what the bot may do in a guild, channels aside. Key a
	// guild's id, data [GuildRights].
	EvidenceGuild mcpcore.EvidenceKind = "guild"
	// EvidenceChannel is what the bot may do in a channel. Key a channel's id,
	// data [ChannelRights].
	EvidenceChannel mcpcore.EvidenceKind = "channel"
	// EvidenceWebhook and EvidenceInvite are where those lead. Key the webhook's
	// id or the invite's code, data [Place].
	EvidenceWebhook mcpcore.EvidenceKind = "webhook"
	EvidenceInvite  mcpcore.EvidenceKind = "invite"
	// EvidenceHierarchy is whether the bot stands above a user or a role. Key
	// as [HierarchyKey] writes it, data [Standing].
	EvidenceHierarchy mcpcore.EvidenceKind = "hierarchy"
)

// GuildRights is what the bot may do in a guild.
type GuildRights struct {
	Guild       discord.GuildID
	Permissions discord.Permissions // a running timeout taken into account
}

// ChannelRights is what the bot may do in a channel.
type ChannelRights struct {
	Guild       discord.GuildID // "" for direct messages
	Type        discord.ChannelType
	Permissions discord.Permissions // overwrites and a running timeout taken into account
}

// Place is where something is.
type Place struct {
	Guild   discord.GuildID
	Channel discord.ChannelID // "" for the guild itself
}

// Standing is how the bot's highest role compares with a target.
type Standing string

// The standings, as refusals write them.
const (
	Satisfied       Standing = "satisfied"
	NotSatisfied    Standing = "not_satisfied"
	UnknownStanding Standing = "unknown"
)

// HierarchyKey is the key of [EvidenceHierarchy]: kind is user or role.
func HierarchyKey(guild discord.GuildID, kind discord.Kind, id string) string {
	return string(guild) + ":" + string(kind) + ":" + id
}
