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
// What gives access or was said in confidence has a tool and stands in no
// resource: invite, vanity and template codes, reasons of bans, welcome screens and
// onboarding.
func Resources(c Config) []mcpcore.Resource {
	return slices.Concat(pages(c), livePages(), infos(c))
}

// live is a resource that a tool answers: its address, whose variables are the
// tool's arguments, its name, and what of the answer is left out.
type live struct {
	uri, name, tool string
	without         []string
}

// livePages are the live resources.
func livePages() []mcpcore.Resource {
	const guild, channel = "discord://guilds/{guild_id}", "discord://channels/{channel_id}"
	rows := []live{
		{"discord://guilds", "guilds", "users_list_current_user_guilds", nil},
		{"discord://application", "application", "application_get_current", nil},
		{"discord://application/emojis", "application_emojis", "app_emojis_list", nil},
		{"discord://application/role-connection-metadata", "application_role_connection_metadata", "application_get_role_connection_metadata", nil},
		{"discord://application/skus", "application_skus", "skus_list", nil},
		{"discord://soundboard/defaults", "soundboard_defaults", "soundboard_list_default_sounds", nil},
		{"discord://voice/regions", "voice_regions", "voice_list_regions", nil},

		{"discord://application/commands/{guild_id}", "guild_commands", "commands_list_guild", nil},
		{guild + "/profile", "guild", "guild_get", confidential},
		{guild + "/automod-rules", "guild_automod_rules", "automod_list_rules", nil},
		{guild + "/bans/{user_id}", "guild_ban", "members_get_ban", []string{"reason"}},
		{guild + "/channels", "guild_channels", "channels_list", nil},
		{guild + "/emojis", "guild_emojis", "emojis_list_guild", nil},
		{guild + "/integrations", "guild_integrations", "guild_list_integrations", nil},
		{guild + "/members/{user_id}", "guild_member", "members_get", nil},
		{guild + "/members/{user_id}/voice-state", "guild_member_voice_state", "voice_get_user_state", []string{"session_id"}},
		{guild + "/roles", "guild_roles", "roles_list", nil},
		{guild + "/scheduled-events", "guild_events", "events_list", nil},
		{guild + "/scheduled-events/{event_id}", "guild_event", "events_get", nil},
		{guild + "/soundboard", "guild_soundboard", "soundboard_list_guild_sounds", nil},
		{guild + "/soundboard/{sound_id}", "guild_sound", "soundboard_get_guild_sound", nil},
		{guild + "/stickers", "guild_stickers", "stickers_list_guild", nil},
		{guild + "/voice-regions", "guild_voice_regions", "guild_list_voice_regions", nil},
		{guild + "/webhooks", "guild_webhooks", "webhooks_list_guild", nil},
		{guild + "/widget-settings", "guild_widget_settings", "guild_get_widget_settings", nil},
		{guild + "/channels/{channel_id}/access", "channel_access", "permissions_audit_channel", nil},
		{channel, "channel", "channels_get", nil},
		{channel + "/messages/{message_id}", "channel_message", "messages_get", nil},
		{channel + "/webhooks", "channel_webhooks", "webhooks_list_channel", nil},
	}
	all := make([]mcpcore.Resource, len(rows))
	for i, r := range rows {
		all[i] = mcpcore.Resource{URI: r.uri, Name: r.name, Tool: r.tool, Without: r.without}
	}
	return all
}

// confidential is what a guild's own resource leaves out: its vanity invite.
var confidential = []string{"vanity_url_code"}

// maxInfos is how many guilds have an entry of their own in the list.
const maxInfos = 25

// infos are the guilds that the operator named, for clients that show no
// templates.
func infos(c Config) (all []mcpcore.Resource) {
	guilds := knownGuilds(c)
	for _, g := range guilds[:min(len(guilds), maxInfos)] {
		all = append(all, mcpcore.Resource{
			URI: fmt.Sprintf("discord://guild/%s/info", g), Name: "guild_" + string(g) + "_info", Title: "Guild " + string(g),
			Tool: "guild_get", Args: json.RawMessage(fmt.Sprintf(`{"guild_id":%q}`, g)), Without: confidential,
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
