package discordtools

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Resources are the documents that a server with the configuration offers: pages
// of ours, and what its reading tools answer, under addresses of their own. They
// are ordinary values: filter them, add your own, pass them on.
//
// What gives access or was said in confidence has a tool and no resource: invite,
// vanity and template codes, reasons of bans, welcome screens and onboarding.
func Resources(c Config) []mcpcore.Resource {
	return slices.Concat(pages(c), livePages(), infos(c))
}

// live is a resource that a tool answers: its address, whose variables are the
// tool's arguments, and its name.
type live struct{ uri, name, tool string }

// livePages are the live resources.
func livePages() []mcpcore.Resource {
	const guild, channel = "discord://guilds/{guild_id}", "discord://channels/{channel_id}"
	rows := []live{
		{"discord://guilds", "guilds", "users_list_current_user_guilds"},
		{"discord://application", "application", "application_get_current"},
		{"discord://application/emojis", "application_emojis", "app_emojis_list"},
		{"discord://application/role-connection-metadata", "application_role_connection_metadata", "application_get_role_connection_metadata"},
		{"discord://application/skus", "application_skus", "skus_list"},
		{"discord://soundboard/defaults", "soundboard_defaults", "soundboard_list_default_sounds"},
		{"discord://voice/regions", "voice_regions", "voice_list_regions"},

		{"discord://application/commands/{guild_id}", "guild_commands", "commands_list_guild"},
		{guild + "/profile", "guild", "guild_get"},
		{guild + "/automod-rules", "guild_automod_rules", "automod_list_rules"},
		{guild + "/channels", "guild_channels", "channels_list"},
		{guild + "/emojis", "guild_emojis", "emojis_list_guild"},
		{guild + "/integrations", "guild_integrations", "guild_list_integrations"},
		{guild + "/members/{user_id}", "guild_member", "members_get"},
		{guild + "/members/{user_id}/voice-state", "guild_member_voice_state", "voice_get_user_state"},
		{guild + "/roles", "guild_roles", "roles_list"},
		{guild + "/scheduled-events", "guild_events", "events_list"},
		{guild + "/scheduled-events/{event_id}", "guild_event", "events_get"},
		{guild + "/soundboard", "guild_soundboard", "soundboard_list_guild_sounds"},
		{guild + "/soundboard/{sound_id}", "guild_sound", "soundboard_get_guild_sound"},
		{guild + "/stickers", "guild_stickers", "stickers_list_guild"},
		{guild + "/voice-regions", "guild_voice_regions", "guild_list_voice_regions"},
		{guild + "/webhooks", "guild_webhooks", "webhooks_list_guild"},
		{guild + "/widget-settings", "guild_widget_settings", "guild_get_widget_settings"},
		{guild + "/channels/{channel_id}/access", "channel_access", "permissions_audit_channel"},
		{channel, "channel", "channels_get"},
		{channel + "/messages/{message_id}", "channel_message", "messages_get"},
		{channel + "/webhooks", "channel_webhooks", "webhooks_list_channel"},
	}
	all := make([]mcpcore.Resource, len(rows))
	for i, r := range rows {
		all[i] = mcpcore.Resource{URI: r.uri, Name: r.name, Tool: r.tool}
	}
	return all
}

// maxInfos is how many guilds have an entry of their own in the list.
const maxInfos = 25

// infos are the guilds that the operator named, for clients that show no
// templates.
func infos(c Config) (all []mcpcore.Resource) {
	guilds := knownGuilds(c)
	for _, g := range guilds[:min(len(guilds), maxInfos)] {
		all = append(all, mcpcore.Resource{
			URI: fmt.Sprintf("discord://guild/%s/info", g), Name: "guild_" + string(g) + "_info", Title: "Guild " + string(g),
			Tool: "guild_get", Args: json.RawMessage(fmt.Sprintf(`{"guild_id":%q}`, g)),
		})
	}
	return all
}

// knownGuilds are those that the configuration names, each once.
func knownGuilds(c Config) []discord.GuildID {
	all := slices.Clone(c.AllowedGuilds)
	if c.DefaultGuild != "" {
		all = append(all, c.DefaultGuild)
	}
	slices.Sort(all)
	return slices.Compact(slices.DeleteFunc(all, func(g discord.GuildID) bool { return discord.CheckID(string(g)) != nil }))
}

// known are the ids that complete arguments: those that the operator named.
func known(c Config) map[discord.Kind][]string {
	var guilds []string
	for _, g := range knownGuilds(c) {
		guilds = append(guilds, string(g))
	}
	ids := map[discord.Kind][]string{discord.KindGuild: guilds}
	if c.ExpectedBot != "" {
		ids[discord.KindUser] = []string{string(c.ExpectedBot)}
	}
	return ids
}
