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

// reviewed are the toolsets of Discord's workflows that hold several of them, or
// one under another name than its own.
var reviewed = []surface.Toolset{
	{Name: "announcement-crossposts", Workflows: []string{"announcement-crosspost"}},
	{Name: "announcement-subscriptions", Workflows: []string{"announcement-subscription"}},
	{Name: "application-commands", Workflows: []string{"global-application-command-change", "guild-application-command-change"}},
	{Name: "application-emojis", Workflows: []string{"application-emoji-change"}},
	{Name: "application-entitlement-changes", Workflows: []string{"application-entitlement-consumption", "application-test-entitlement-change"}},
	{Name: "application-security", Workflows: []string{"application-intent-enablement"}},
	{Name: "attachments", Workflows: []string{"attachment-message"}},
	{Name: "automod", Workflows: []string{"automod-change"}},
	{Name: "bot-profile", Workflows: []string{"bot-profile-change"}},
	{Name: "bulk-bans", Workflows: []string{"bulk-guild-ban"}},
	{Name: "channel-metadata", Workflows: []string{"channel-metadata-change", "voice-channel-status-change"}},
	{Name: "deletion", Workflows: []string{"message-deletion"}},
	{Name: "direct-messages", Workflows: []string{"direct-message-change"}},
	{Name: "embed-messages", Workflows: []string{"embed-message"}},
	{Name: "forum-posts", Workflows: []string{"forum-post"}},
	{Name: "forum-tags", Workflows: []string{"forum-tag-change"}},
	{Name: "guild-blueprints", Workflows: []string{"guild-blueprint"}},
	{Name: "guild-community", Workflows: []string{"guild-community-change"}},
	{Name: "guild-expressions", Workflows: []string{"guild-expression-change"}},
	{Name: "guild-incidents", Workflows: []string{"guild-incident-action-change"}},
	{Name: "guild-profile", Workflows: []string{"guild-profile-change"}},
	{Name: "guild-prunes", Workflows: []string{"guild-prune"}},
	{Name: "guild-scaffolds", Workflows: []string{"guild-scaffold"}},
	{Name: "guild-settings", Workflows: []string{"guild-settings-change"}},
	{Name: "guild-templates", Workflows: []string{"guild-template-change"}},
	{Name: "integrations", Workflows: []string{"integration-deletion"}},
	{Name: "interactions", Workflows: []string{"component-message", "reaction-moderation"}},
	{Name: "invites", Workflows: []string{"invite-creation", "invite-deletion"}},
	{Name: "linked-roles", Workflows: []string{"application-role-connection-metadata-change"}},
	{Name: "member-nicknames", Workflows: []string{"member-nickname-change"}},
	{Name: "member-roles", Workflows: []string{"bulk-member-role-change", "member-role-change"}},
	{Name: "member-verification", Workflows: []string{"member-verification-change"}},
	{Name: "message-forwarding", Workflows: []string{"message-forward"}},
	{Name: "moderation", Workflows: []string{"member-moderation"}},
	{Name: "native-interactions", Workflows: []string{"native-interaction-command"}},
	{Name: "onboarding", Workflows: []string{"onboarding-change"}},
	{Name: "permission-overwrites", Workflows: []string{"channel-permission-overwrite"}},
	{Name: "permission-sync", Workflows: []string{"channel-permission-sync"}},
	{Name: "pins", Workflows: []string{"message-pin"}},
	{Name: "polls", Workflows: []string{"poll-creation", "poll-end"}},
	{Name: "scheduled-events", Workflows: []string{"scheduled-event-change"}},
	{Name: "soundboard", Workflows: []string{"guild-soundboard-change"}},
	{Name: "stage-instances", Workflows: []string{"stage-instance-change"}},
	{Name: "thread-governance", Workflows: []string{"thread-governance-change"}},
	{Name: "threads", Workflows: []string{"thread-creation"}},
	{Name: "voice-moderation", Workflows: []string{"member-voice-change"}},
	{Name: "webhooks", Workflows: []string{"webhook-change", "webhook-creation", "webhook-deletion", "webhook-message-deletion"}},
	{Name: "welcome-screen", Workflows: []string{"welcome-screen-change"}},
	{Name: "widget-settings", Workflows: []string{"widget-settings-change"}},
}

// Toolsets are the toolsets of the tools, which may be more or fewer than
// Discord's: see [surface.All].
func Toolsets(tools []mcpcore.Tool) []surface.Toolset {
	return surface.All(tools, append([]surface.Toolset{everyday, surface.ReadOnly}, reviewed...)...)
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
