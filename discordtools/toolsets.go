package discordtools

import (
	"encoding/json"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

// everyday is what a moderator's day needs, in so few tools that they fit beside
// others under the smallest limit that clients have, 40 tools.
var everyday = surface.Toolset{
	Name: "default", Doc: "what running a community needs every day",
	Tools: []string{
		"users_list_current_user_guilds", "guild_get", "audit_log_get", "permissions_explain",
		"channels_list", "channels_get", "channels_create_guild_channel", "channels_modify", "channels_modify_permissions",
		"messages_read", "messages_get", "messages_search_recent", "messages_send", "messages_edit", "messages_delete", "messages_bulk_delete",
		"messages_pin", "messages_create_thread", "channels_list_active_threads_guild", "reactions_create",
		"members_search", "members_get", "members_modify", "members_add_role", "members_remove_role",
		"members_kick", "members_ban", "members_unban",
		"roles_list", "invites_create_channel", "events_list", "events_create",
	},
}

// reviewed are the toolsets of Discord's workflows that hold several of them, one
// under another name than its own, or direct tools beside one: those that read what
// it is about, and that write what needs no review.
var reviewed = []surface.Toolset{
	{Name: "announcement-crossposts", Workflows: []string{"announcement-crosspost"}},
	{Name: "announcement-subscriptions", Workflows: []string{"announcement-subscription"}, Tools: []string{"webhooks_list_channel"}},
	{Name: "application-commands", Workflows: []string{"global-application-command-change", "guild-application-command-change"}, Tools: []string{
		"commands_list_global", "commands_list_guild", "commands_get_command_permissions",
	}},
	{Name: "application-emojis", Workflows: []string{"application-emoji-change"}, Tools: []string{"app_emojis_list", "app_emojis_get"}},
	{Name: "application-entitlement-changes", Workflows: []string{"application-entitlement-consumption", "application-test-entitlement-change"}},
	{Name: "application-security", Workflows: []string{"application-intent-enablement"}},
	{Name: "attachments", Workflows: []string{"attachment-message"}},
	{Name: "automod", Workflows: []string{"automod-change"}, Tools: []string{"automod_list_rules", "automod_get_rule"}},
	{Name: "bot-profile", Workflows: []string{"bot-profile-change"}, Tools: []string{"users_get_current"}},
	{Name: "bulk-bans", Workflows: []string{"bulk-guild-ban"}},
	{Name: "channel-metadata", Workflows: []string{"channel-metadata-change", "voice-channel-status-change"}, Tools: []string{
		"voice_list_regions", "guild_list_voice_regions",
	}},
	{Name: "deletion", Workflows: []string{"message-deletion"}},
	{Name: "direct-messages", Workflows: []string{"direct-message-change"}},
	{Name: "embed-messages", Workflows: []string{"embed-message"}},
	{Name: "forum-posts", Workflows: []string{"forum-post"}},
	{Name: "forum-tags", Workflows: []string{"forum-tag-change"}},
	{Name: "guild-blueprints", Workflows: []string{"guild-blueprint"}},
	{Name: "guild-community", Workflows: []string{"guild-community-change"}},
	{Name: "guild-expressions", Workflows: []string{"guild-expression-change"}, Tools: []string{
		"emojis_list_guild", "emojis_get", "stickers_list_guild", "stickers_get_guild_sticker",
	}},
	{Name: "guild-incidents", Workflows: []string{"guild-incident-action-change"}, Tools: []string{"guild_get"}},
	{Name: "guild-profile", Workflows: []string{"guild-profile-change"}, Tools: []string{"guild_get"}},
	{Name: "guild-prunes", Workflows: []string{"guild-prune"}},
	{Name: "guild-scaffolds", Workflows: []string{"guild-scaffold"}},
	{Name: "guild-settings", Workflows: []string{"guild-settings-change"}, Tools: []string{"guild_get"}},
	{Name: "guild-templates", Workflows: []string{"guild-template-change"}},
	{Name: "integrations", Workflows: []string{"integration-deletion"}, Tools: []string{"guild_list_integrations"}},
	{Name: "interactions", Workflows: []string{"component-message", "reaction-moderation"}, Tools: []string{
		"messages_get", "reactions_list", "reactions_create", "reactions_delete_own",
	}},
	{Name: "invites", Workflows: []string{"invite-creation", "invite-deletion"}, Tools: []string{"invites_get", "guild_get_vanity_url"}},
	{Name: "linked-roles", Workflows: []string{"application-role-connection-metadata-change"}, Tools: []string{
		"application_get_role_connection_metadata",
	}},
	{Name: "member-nicknames", Workflows: []string{"member-nickname-change"}},
	{Name: "member-roles", Workflows: []string{"bulk-member-role-change", "member-role-change"}},
	{Name: "member-verification", Workflows: []string{"member-verification-change"}},
	{Name: "message-forwarding", Workflows: []string{"message-forward"}},
	{Name: "moderation", Workflows: []string{"member-moderation"}},
	{Name: "native-interactions", Workflows: []string{"native-interaction-command"}, Tools: []string{
		"interactions_create_response", "interactions_create_followup",
	}},
	{Name: "onboarding", Workflows: []string{"onboarding-change"}, Tools: []string{"onboarding_get"}},
	{Name: "permission-overwrites", Workflows: []string{"channel-permission-overwrite"}, Tools: []string{"channels_get"}},
	{Name: "permission-sync", Workflows: []string{"channel-permission-sync"}},
	{Name: "pins", Workflows: []string{"message-pin"}, Tools: []string{"messages_list_pins"}},
	{Name: "polls", Workflows: []string{"poll-creation", "poll-end"}, Tools: []string{"messages_get", "polls_get_voters"}},
	{Name: "scheduled-events", Workflows: []string{"scheduled-event-change"}, Tools: []string{
		"events_list", "events_get", "events_list_users",
	}},
	{Name: "soundboard", Workflows: []string{"guild-soundboard-change"}, Tools: []string{
		"soundboard_list_default_sounds", "soundboard_list_guild_sounds", "soundboard_get_guild_sound", "soundboard_send_sound",
		"permissions_explain",
	}},
	{Name: "stage-instances", Workflows: []string{"stage-instance-change"}, Tools: []string{"stage_instances_get"}},
	{Name: "thread-governance", Workflows: []string{"thread-governance-change"}, Tools: []string{"channels_get", "threads_get_member"}},
	{Name: "threads", Workflows: []string{"thread-creation"}, Tools: []string{
		"channels_list_active_threads_guild", "channels_list_public_archived_threads", "channels_list_private_archived_threads",
	}},
	{Name: "voice-moderation", Workflows: []string{"member-voice-change"}, Tools: []string{"voice_get_user_state"}},
	{Name: "webhooks", Workflows: []string{"webhook-change", "webhook-creation", "webhook-deletion", "webhook-message-deletion"}, Tools: []string{
		"webhooks_list_guild", "webhooks_list_channel", "webhooks_get", "webhooks_get_message", "webhooks_execute",
		"webhooks_edit_message",
	}},
	{Name: "welcome-screen", Workflows: []string{"welcome-screen-change"}, Tools: []string{"guild_get_welcome_screen"}},
	{Name: "widget-settings", Workflows: []string{"widget-settings-change"}, Tools: []string{"guild_get_widget_settings"}},
}

// plain are toolsets of direct tools alone, under the names that they have beside
// those of workflows. None has the name of a category, which would pass for it.
var plain = []surface.Toolset{
	{Name: "application-monetization", Doc: "what the application sells and who has it", Tools: []string{"entitlements_list", "entitlements_get", "skus_list", "subscriptions_list", "subscriptions_get"}},
	{Name: "audit-logs", Doc: "who changed what", Tools: []string{"audit_log_get"}},
	{Name: "bans", Doc: "who is banned", Tools: []string{"members_list_bans", "members_get_ban"}},
	{Name: "connector", Doc: "what the application is, and where", Tools: []string{
		"users_list_current_user_guilds", "application_get_current", "commands_list_global", "application_get_role_connection_metadata",
		"skus_list", "application_get_activity_instance",
	}},
	{Name: "guilds", Doc: "which guilds and channels there are, and who may see them", Tools: []string{
		"users_list_current_user_guilds", "channels_list", "channels_get", "permissions_explain",
	}},
	{Name: "message-writes", Doc: "messages that the bot sends and edits", Tools: []string{"messages_send", "messages_edit", "channels_trigger_typing"}},
}

// Toolsets are the toolsets of the tools, which may be more or fewer than
// Discord's: see [surface.All].
func Toolsets(tools []mcpcore.Tool) []surface.Toolset {
	return surface.All(tools, slices.Concat([]surface.Toolset{everyday, surface.ReadOnly}, plain, reviewed)...)
}

// selected are the tools that the configuration leaves.
func (c *Config) selected(tools []mcpcore.Tool) ([]mcpcore.Tool, error) {
	if c.Toolsets != nil {
		picked, err := surface.Parse(c.Toolsets, Toolsets(tools))
		if err != nil {
			return tools, err
		}
		tools = surface.Select(tools, picked)
	}
	if c.ReviewedOnly {
		tools = slices.DeleteFunc(slices.Clone(tools), func(t mcpcore.Tool) bool { return t.Part.Workflow == "" && t.EffectiveGate() != mcpcore.NoGate })
	}
	return tools, nil
}

// found are the tools with the one that finds the others, where a session does
// not begin with them all. access is what is said of each that is found.
func (c *Config) found(tools []mcpcore.Tool, access func(*mcpcore.Tool) json.RawMessage) []mcpcore.Tool {
	if !c.Progressive {
		return tools
	}
	d := surface.Discovery{Name: discover, Category: "meta", Tools: tools, Toolsets: Toolsets(tools), Synonyms: synonyms, Access: access}
	return append(slices.Clone(tools), d.Tool())
}

// discover is the name of the tool that finds tools.
const discover = "discover_discord_tools"

// opening says which tools a session begins with; nil for all.
func (c *Config) opening() func(*mcpcore.Tool) bool {
	if !c.Progressive {
		return nil
	}
	return func(t *mcpcore.Tool) bool { return t.Name == discover }
}
