package discordtools

import (
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// guild reads and changes a guild's own settings, and prunes it.
//
// Source: https://docs.discord.com/developers/resources/guild.
func guild() category {
	return category{Name: "guild", Scope: mcpcore.GuildScope, Tools: append(blueprintTools(), []declaration{
		read[guildRef, guildOne]{
			Name:  "guild_get",
			Title: "Get a guild",
			Doc: `Reads a guild's settings, features and approximate member counts. Its channels, roles
				and members have tools of their own.`,
			Route: routeGuild,
			Set:   []added{{"with_counts", func(*mcpcore.Call) string { return "true" }}},
			Fence: fence.ChannelTopic,
		},
		write[guildModify, guildModified]{
			Name:  "guild_modify",
			Title: "Change a guild's settings",
			Doc: `Changes the settings given and leaves the others; null clears. owner_id hands the whole
				guild over for good and only the present owner can do it: never set it unless a person asked
				for exactly that. features replaces the list: send what guild_get shows with your change.`,
			Route:      "PATCH /guilds/{guild_id}",
			Repeatable: true,
			Needs:      discord.ManageGuild,
			NeedsIn:    "guild_id",
			Redact:     []string{"icon", "splash", "discovery_splash", "banner", "home_header"},
			Fence:      fence.ChannelTopic,
		},
		read[guildRef, vanityURL]{
			Name:  "guild_get_vanity_url",
			Title: "Get the vanity invite",
			Doc:   `Reads the guild's vanity invite code and how often it was used. code is null when it has none.`,
			Route: "GET /guilds/{guild_id}/vanity-url",
			Needs: discord.ManageGuild,
		},
		read[guildRef, voiceRegions]{
			Name:  "guild_list_voice_regions",
			Title: "List a guild's voice regions",
			Doc:   `Lists the voice regions that channels of this guild can use, those for it alone included.`,
			Route: "GET /guilds/{guild_id}/regions",
		},
		read[guildPruneCount, pruneCount]{
			Name:  "guild_get_prune_count",
			Title: "Count whom a prune would kick",
			Doc: `Counts the members a prune with the same arguments would kick, kicking nobody: inactive
				members without roles and, with include_roles, only members all of whose roles are listed.`,
			Route: routePrune,
			Needs: discord.ManageGuild | discord.KickMembers,
			Set:   []added{pruneDays},
		},
		destroy[guildBeginPrune, guildPruned]{
			Name:  "guild_begin_prune",
			Title: "Prune inactive members",
			Doc: `Kicks every member who was inactive for so many days and has no role. With
				include_roles also inactive members who have roles, but only members all of whose roles are
				listed: whoever has one that is not listed stays.`,
			Route: "POST /guilds/{guild_id}/prune",
			Calls: []string{routeGuild, routePrune},
			Needs: discord.ManageGuild | discord.KickMembers,
			Set:   []added{pruneDays},
			Facts: pruneFacts,
		},
		read[guildRef, integrationsList]{
			Name:  "guild_list_integrations",
			Title: "List integrations",
			Doc:   `Lists the guild's integrations (bots, Twitch, YouTube), 50 at most.`,
			Route: routeIntegrations,
			Needs: discord.ManageGuild,
			Fence: fence.Username,
		},
		destroy[integrationRef, integrationDeleted]{
			Name:  "guild_delete_integration",
			Title: "Remove an integration",
			Doc: `Removes an integration from the guild for good. Its bot is kicked and its webhooks are
				deleted. Do not remove the bot you act through.`,
			Route: "DELETE /guilds/{guild_id}/integrations/{integration_id}",
			Calls: []string{routeIntegrations},
			Needs: discord.ManageGuild,
			Facts: integrationFacts,
		},
		read[guildRef, welcomeScreen]{
			Name:  "guild_get_welcome_screen",
			Title: "Get the welcome screen",
			Doc:   `Reads what new members of a Community guild are shown. One that is off needs MANAGE_GUILD.`,
			Route: "GET /guilds/{guild_id}/welcome-screen",
			Fence: fence.ChannelTopic,
		},
		write[welcomeModify, welcomeModified]{
			Name:  "guild_modify_welcome_screen",
			Title: "Change the welcome screen",
			Doc: `Changes the welcome screen of a Community guild. welcome_channels replaces the whole
				list; what is left out stays.`,
			Route:      "PATCH /guilds/{guild_id}/welcome-screen",
			Repeatable: true,
			Needs:      discord.ManageGuild,
			NeedsIn:    "guild_id",
			Fence:      fence.ChannelTopic,
		},
		read[guildRef, widget]{
			Name:  "guild_get_widget",
			Title: "Get the public widget",
			Doc: `Reads the guild's public widget as anyone on the web sees it, without the bot's
				credentials. It must be enabled: see guild_get_widget_settings.`,
			Route:     "GET /guilds/{guild_id}/widget.json",
			Anonymous: true,
			Fence:     fence.Username,
		},
		read[widgetImage, widgetImageURL]{
			Name:  "guild_get_widget_image_url",
			Title: "Get the widget's image address",
			Doc:   `Builds the address of the widget's PNG image. Nothing is asked of Discord.`,
			Scope: mcpcore.LocalScope,
			Run:   widgetImageAddress,
		},
		read[guildRef, widgetSettings]{
			Name:  "guild_get_widget_settings",
			Title: "Get the widget's settings",
			Doc:   `Reads whether the public widget is on, and the channel it invites to.`,
			Route: "GET /guilds/{guild_id}/widget",
			Needs: discord.ManageGuild,
		},
		write[widgetModify, widgetSettings]{
			Name:       "guild_modify_widget",
			Title:      "Change the widget's settings",
			Doc:        `Switches the public widget on or off, and sets the channel it invites to. Once on, anyone on the web can read it.`,
			Route:      "PATCH /guilds/{guild_id}/widget",
			Repeatable: true,
			Needs:      discord.ManageGuild,
			NeedsIn:    "guild_id",
		},
		write[voiceModifySelf, voiceModifiedSelf]{
			Name:  "guild_modify_current_voice_state",
			Title: "Change the bot's part on a stage",
			Doc: `Moves the bot between speakers and audience of the stage it is in, or raises its hand.
				It must have joined the stage before.`,
			Route:      "PATCH /guilds/{guild_id}/voice-states/@me",
			Repeatable: true,
			NeedsWhen: []mcpcore.Need{
				{Arg: "channel_id"},
				{Arg: "suppress", Equals: "false", Permissions: discord.MuteMembers},
				{Arg: "request_to_speak_timestamp", Equals: "null"},
				{Arg: "request_to_speak_timestamp", Permissions: discord.RequestToSpeak},
			},
		},
		write[voiceModifyUser, voiceModifiedUser]{
			Name:  "guild_modify_user_voice_state",
			Title: "Change a member's part on a stage",
			Doc: `Invites a member of a stage's audience to speak, or moves a speaker to the audience.
				They must be in that stage channel. To mute, deafen or move somebody use members_modify.`,
			Route:      "PATCH /guilds/{guild_id}/voice-states/{user_id}",
			Repeatable: true,
			Needs:      discord.MuteMembers,
			Outranks:   "user_id",
		},
	}...)}
}

// guildRef is the argument of tools that take a guild alone.
type guildRef struct {
	GuildID discord.GuildID `json:"guild_id" jsonschema:"guild"`
}
