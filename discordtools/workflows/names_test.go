package workflows_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// besides are further tools of toolsets by which agents know them from other
// servers: what they read, and what they write that nobody has to review. Where a
// toolset has the name of a category, the category is it.
var besides = map[string]string{
	"application-monetization": "audit_application_entitlements audit_application_subscriptions get_application_entitlement",
	"audit-logs":               "list_guild_audit_entries get_guild_audit_entry",
	"bans":                     "list_guild_bans get_guild_ban",
	"connector": "get_connector_status audit_bot_installations audit_application_posture audit_application_commands " +
		"audit_application_role_connection_metadata audit_application_skus inspect_application_activity_instance",
	"coordination":     "list_coordination_addresses list_coordination_notes send_coordination_note",
	"guilds":           "list_guilds list_channels get_channel explain_channel_access",
	"interactions":     "add_reaction add_reactions remove_own_reaction",
	"category:members": "get_guild_member list_guild_members search_guild_members",
	"message-writes":   "send_message edit_own_message signal_command_processing",
	"category:messages": "read_messages get_message read_message_attachment list_message_replies search_messages recall_conversation " +
		"catch_up_messages analyze_community_activity",
	"native-interactions":  "respond_to_discord_interaction send_discord_interaction_followup",
	"category:permissions": "explain_principal_permissions audit_channel_role_access",
	"category:roles":       "list_roles get_role",
	"soundboard":           "play_soundboard_sound",
	"webhooks":             "send_webhook_message edit_webhook_message",
}

// elsewhere are the tools that are no part of a workflow here: the direct tools that
// do the same.
var elsewhere = map[string]string{
	"list_announcement_subscriptions": "webhooks_list_channel",
	"list_automod_rules":              "automod_list_rules", "get_automod_rule": "automod_get_rule",
	"list_voice_regions": "voice_list_regions", "list_guild_voice_regions": "guild_list_voice_regions",
	"list_channel_permission_overwrites": "channels_get",
	"list_message_reactions":             "messages_get", "list_reaction_users": "reactions_list",
	"list_guild_emojis": "emojis_list_guild", "get_guild_emoji": "emojis_get",
	"list_guild_stickers": "stickers_list_guild", "get_guild_sticker": "stickers_get_guild_sticker",
	"get_guild_incident_actions": "guild_get", "get_guild_settings": "guild_get",
	"get_guild_invite": "invites_get", "get_guild_vanity_url": "guild_get_vanity_url",
	"list_message_pins":     "messages_list_pins",
	"list_scheduled_events": "events_list", "get_scheduled_event": "events_get", "list_scheduled_event_users": "events_list_users",
	"get_thread_state": "channels_get", "get_thread_membership": "threads_get_member",
	"audit_guild_webhooks": "webhooks_list_guild", "list_channel_webhooks": "webhooks_list_channel",
	"get_channel_webhook": "webhooks_get", "get_webhook_message": "webhooks_get_message",
	"list_application_emojis": "app_emojis_list", "get_application_emoji": "app_emojis_get",
	"get_current_bot_profile": "users_get_current",

	"get_guild_profile":              "guild_get",
	"list_default_soundboard_sounds": "soundboard_list_default_sounds", "list_guild_soundboard_sounds": "soundboard_list_guild_sounds",
	"get_guild_soundboard_sound": "soundboard_get_guild_sound", "check_soundboard_playback": "permissions_explain",
	"list_guild_templates":    "templates_list",
	"list_guild_integrations": "guild_list_integrations",
	"get_member_voice_state":  "voice_get_user_state",
	"get_guild_onboarding":    "onboarding_get",
	"get_poll":                "messages_get", "list_poll_answer_voters": "polls_get_voters",
	"get_stage_instance":  "stage_instances_get",
	"list_active_threads": "channels_list_active_threads_guild", "list_archived_threads": "channels_list_public_archived_threads",
	"get_guild_welcome_screen": "guild_get_welcome_screen", "get_guild_widget_settings": "guild_get_widget_settings",
	"add_reaction": "reactions_create", "add_reactions": "reactions_create", "remove_own_reaction": "reactions_delete_own",
	"play_soundboard_sound": "soundboard_send_sound",
	"send_webhook_message":  "webhooks_execute", "edit_webhook_message": "webhooks_edit_message",
	"respond_to_discord_interaction": "interactions_create_response", "send_discord_interaction_followup": "interactions_create_followup",
	"audit_application_entitlements": "entitlements_list", "audit_application_subscriptions": "subscriptions_list", "get_application_entitlement": "entitlements_get",
	"list_guild_audit_entries": "audit_log_get", "get_guild_audit_entry": "audit_log_get",
	"list_guild_bans": "members_list_bans", "get_guild_ban": "members_get_ban",
	"audit_bot_installations": "users_list_current_user_guilds", "audit_application_posture": "application_get_current",
	"audit_application_commands": "commands_list_global", "audit_application_role_connection_metadata": "application_get_role_connection_metadata",
	"audit_application_skus": "skus_list", "inspect_application_activity_instance": "application_get_activity_instance",
	"list_guilds": "users_list_current_user_guilds", "list_channels": "channels_list", "get_channel": "channels_get", "explain_channel_access": "permissions_explain",
	"get_guild_member": "members_get", "list_guild_members": "members_list", "search_guild_members": "members_search",
	"send_message": "messages_send", "edit_own_message": "messages_edit", "signal_command_processing": "channels_trigger_typing",
	"read_messages": "messages_read", "get_message": "messages_get", "search_messages": "messages_search_recent",
	"catch_up_messages":             "messages_read",
	"explain_principal_permissions": "permissions_explain", "audit_channel_role_access": "permissions_audit_channel",
	"list_roles": "roles_list", "get_role": "roles_list",
}

// Tools that nothing here replaces, and ours that are not among the names, with
// the reason.
var (
	missing = map[string]string{
		"get_voice_channel_status":               "no route of the REST API reads it",
		"list_pending_discord_interactions":      "interactions come to the application's own address or through the gateway",
		"list_discord_interaction_continuations": "interactions come to the application's own address or through the gateway",
		"get_connector_status":                   "`discord-mcp config` and `/readyz` are for the operator, `list_activity` for agents",
		"list_coordination_addresses":            "notes between agents are messages: `messages_read`",
		"list_coordination_notes":                "notes between agents are messages: `messages_read`",
		"send_coordination_note":                 "notes between agents are messages: `messages_send`",
		"read_message_attachment":                "`messages_get` has the address of each file; files are not fetched",
		"list_message_replies":                   "`messages_read` has what each message answers",
		"recall_conversation":                    "`messages_read`, with the prompt `find_messages`",
		"analyze_community_activity":             "`messages_read`, with the prompt `catch_up`",
	}
	added = map[string]string{"audit_channel_deletion": "the readiness of a deletion, which roles have there too"}
)

// The direct tools that stand for those of a toolset are in it, so that whoever picks
// it has them.
func TestToolsetsHoldWhatTheyRead(t *testing.T) {
	t.Parallel()
	all := discordtools.Tools(nil)
	for _, w := range declared(t) {
		all = append(all, w.Tools()...)
	}
	held := map[string]map[string]bool{}
	for _, s := range discordtools.Toolsets(all) {
		held[s.Name] = map[string]bool{}
		for _, tool := range s.Of(all) {
			held[s.Name][tool.Name] = true
		}
	}
	for toolset, known := range toolsets() {
		for _, name := range known {
			if stand := elsewhere[name]; !held[toolset][name] && missing[name] == "" && !held[toolset][stand] {
				t.Errorf("the toolset %s has neither %s nor %q", toolset, name, stand)
			}
		}
	}
}

// toolsets are the reading and unreviewed tools of every toolset, by the names that
// they are known by.
func toolsets() map[string][]string {
	all := map[string][]string{}
	for _, w := range names {
		all[w.toolset] = append(all[w.toolset], strings.Fields(w.reads)...)
	}
	for toolset, more := range besides {
		all[toolset] = append(all[toolset], strings.Fields(more)...)
	}
	for toolset, known := range all {
		slices.Sort(known)
		all[toolset] = slices.Compact(known)
	}
	return all
}

// standIns is the table of the tools that have another name here, or none.
func standIns(all []mcpcore.Workflow) string {
	ours := map[string]bool{}
	for _, w := range all {
		for _, tool := range w.Tools() {
			ours[tool.Name] = true
		}
	}
	var b strings.Builder
	b.WriteString("\n| toolset | known as | here |\n|---|---|---|\n")
	known := toolsets()
	for _, toolset := range slices.Sorted(maps.Keys(known)) {
		for _, name := range known[toolset] {
			here := missing[name]
			if stand := elsewhere[name]; stand != "" {
				here = "`" + stand + "`"
			}
			if here != "" && !ours[name] {
				fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", toolset, name, here)
			}
		}
	}
	return b.String() + "\n"
}
