package discordtools

import (
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// channels finds, makes, changes and deletes channels, their overwrites and
// their posts, and lists threads.
//
// Source: https://docs.discord.com/developers/resources/channel.
func channels() category {
	return category{Name: "channels", Scope: mcpcore.ChannelScope, Tools: []declaration{
		write[channelsCreate, channelMade]{
			Name:  "channels_create_guild_channel",
			Title: "Create a channel",
			Doc: `Creates a channel in a guild: text, voice, category, announcement, stage, forum or media.
				Without permission_overwrites it takes those of its category; for a private channel give
				them here, so that nobody sees it for a moment. Announcement, stage, forum and media
				channels need a Community guild.`,
			Route: "POST /guilds/{guild_id}/channels",
			Scope: mcpcore.GuildScope,
			Needs: discord.ManageChannels,
			Rules: []mcpcore.Rule{overwritesRule, tagsRule, reactionRule, forumRule},
			Fence: fence.ChannelTopic,
		},
		destroy[channelTarget, channelDeleted]{
			Name:  "channels_delete",
			Title: "Delete a channel",
			Doc: `Deletes a channel or thread with all its messages, for good. The channels of a deleted
				category stay, without a category. To close a thread and keep it, archive it with
				channels_modify.`,
			Route: "DELETE /channels/{channel_id}",
			Calls: []string{routeChannel, routeGuildChannels, routeActiveThreads},
			Needs: discord.ViewChannel | discord.ManageChannels,
			Facts: channelFacts,
		},
		write[overwriteTarget, overwriteDeleted]{
			Name:  "channels_delete_permissions",
			Title: "Delete a permission overwrite",
			Doc: `Removes what a channel allows or denies to one role or member; what their roles give
				counts again. This can open a channel that the overwrite hid.`,
			Route: "DELETE /channels/{channel_id}/permissions/{overwrite_id}",
			Needs: discord.ManageRoles,
		},
		write[channelsFollow, channelFollowed]{
			Name:  "channels_follow_announcement",
			Title: "Follow an announcement channel",
			Doc: `Has what an announcement channel publishes posted to another channel, also of another
				guild, through a webhook made there. Delete that webhook to stop it.`,
			Route:   "POST /channels/{channel_id}/followers",
			Needs:   discord.ViewChannel | discord.ManageWebhooks,
			NeedsIn: "webhook_channel_id",
			Crosses: true,
		},
		write[channelsPost, postMade]{
			Name:  "channels_forum_create_thread",
			Title: "Create a forum post",
			Doc: `Starts a post in a forum or media channel: a thread and its first message. Nobody is
				notified unless message.allowed_mentions says so. The forum's tags are in channels_get.
				In a text channel, start a thread on a message with messages_create_thread.`,
			Route:  "POST /channels/{channel_id}/threads",
			Calls:  []string{routeChannel},
			Needs:  discord.ViewChannel | discord.SendMessages,
			Rules:  []mcpcore.Rule{firstMessageRule},
			Redact: []string{"message"},
			Run:    createPost,
		},
		read[channelRef, channelOne]{
			Name:  "channels_get",
			Title: "Get a channel",
			Doc: `Reads a channel, category, forum or thread: topic, permission overwrites, tags, voice and
				thread settings.`,
			Route: routeChannel,
			Needs: discord.ViewChannel,
			Fence: fence.ChannelTopic,
		},
		read[channelsList, channelsPage]{
			Name:  "channels_list",
			Title: "List channels",
			Doc: `Lists a guild's channels and categories, also those hidden from the bot: can_view and
				can_read_history say what it may read. Threads are not among them: see
				channels_list_active_threads_guild.`,
			Route: routeGuildChannels,
			Calls: []string{routeMe, routeMember, routeRoles},
			Scope: mcpcore.GuildScope,
			Fence: fence.ChannelTopic,
			Run:   listChannels,
		},
		read[threadsActive, threadsActivePage]{
			Name:  "channels_list_active_threads_guild",
			Title: "List active threads",
			Doc: `Lists the threads and forum posts of a guild that are not archived and that the bot can
				see, newest first. For the posts of one forum give parent_id.`,
			Route: routeActiveThreads,
			Scope: mcpcore.GuildScope,
			Fence: fence.Message,
			Run:   listActiveThreads,
		},
		read[threadsJoined, threadsJoinedPage]{
			Name:  "channels_list_joined_private_archived_threads",
			Title: "List joined private archived threads",
			Doc: `Lists archived private threads of a channel that the bot is in, newest first. To go on,
				call again with before set to next_before.`,
			Route: "GET /channels/{channel_id}/users/@me/threads/archived/private",
			Needs: discord.ViewChannel | discord.ReadMessageHistory,
			Fence: fence.Message,
		},
		read[threadsArchived, threadsArchivedPage]{
			Name:  "channels_list_private_archived_threads",
			Title: "List private archived threads",
			Doc: `Lists all archived private threads of a channel, last archived first. To go on, call
				again with before set to next_before.`,
			Route: "GET /channels/{channel_id}/threads/archived/private",
			Needs: discord.ViewChannel | discord.ReadMessageHistory | discord.ManageThreads,
			Fence: fence.Message,
		},
		read[threadsArchived, threadsArchivedPage]{
			Name:  "channels_list_public_archived_threads",
			Title: "List public archived threads",
			Doc: `Lists archived public threads of a channel, or archived posts of a forum, last archived
				first. To go on, call again with before set to next_before.`,
			Route: "GET /channels/{channel_id}/threads/archived/public",
			Needs: discord.ViewChannel | discord.ReadMessageHistory,
			Fence: fence.Message,
		},
		write[channelsModify, channelModified]{
			Name:  "channels_modify",
			Title: "Change a channel",
			Doc: `Changes the given settings of a channel or thread; the others stay.
				permission_overwrites replaces all overwrites; for a single one use
				channels_modify_permissions. available_tags replaces a forum's tags: list each tag to keep
				with its id. An archived thread takes changes only together with archived: false, which
				its members see.`,
			Route:      "PATCH /channels/{channel_id}",
			Calls:      []string{routeChannel},
			Repeatable: true,
			Needs:      discord.ViewChannel | discord.ManageChannels,
			Rules: []mcpcore.Rule{
				mcpcore.Requires("remove_available_tag_ids", "available_tags"), changeRule, kindRule,
				overwritesRule, tagsRule, reactionRule,
			},
			Fence: fence.ChannelTopic,
			Run:   modifyChannel,
		},
		write[overwritePut, overwriteUpdated]{
			Name:  "channels_modify_permissions",
			Title: "Set a permission overwrite",
			Doc: `Sets what a channel allows and denies to one role or member, instead of what was set for
				them before. What is in neither set is decided by their roles. For everyone give the
				guild's id as a role.`,
			Route: "PUT /channels/{channel_id}/permissions/{overwrite_id}",
			Needs: discord.ManageRoles,
			Rules: []mcpcore.Rule{allowDenyRule},
		},
		write[channelRef, typingTriggered]{
			Name:       "channels_trigger_typing",
			Title:      "Show as typing",
			Doc:        `Shows the bot as typing in a channel or thread for ten seconds or until it sends a message.`,
			Route:      "POST /channels/{channel_id}/typing",
			Repeatable: true,
			Needs:      discord.ViewChannel | discord.SendMessages,
		},
	}}
}

// atChannel is the path of a route with {channel_id} alone.
func atChannel(id discord.ChannelID) map[string]string {
	return map[string]string{"channel_id": string(id)}
}

// atGuild is the path of a route with {guild_id} alone.
func atGuild(id discord.GuildID) map[string]string {
	return map[string]string{"guild_id": string(id)}
}
