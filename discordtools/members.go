package discordtools

import (
	"context"
	"errors"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// members reads, changes and removes the members of a guild, and its bans.
//
// Source: https://docs.discord.com/developers/resources/guild.
func members() category {
	return category{Name: "members", Scope: mcpcore.GuildScope, Tools: []declaration{
		read[membersList, membersPage]{
			Name:  "members_list",
			Title: "List members",
			Doc: `Lists members of a guild by user id. To go on, call again with after set to
				next_after. To find somebody by name use members_search.`,
			Route:   "GET /guilds/{guild_id}/members",
			Intents: discord.GuildMembers,
			Set:     []added{limit(100)},
			Fence:   fence.ChannelTopic,
			Run:     listMembers,
		},
		read[membersSearch, membersFound]{
			// POST /guilds/{guild_id}/members-search, which finds parts of names as
			// well, is not in Discord's published API; this search is.
			Name:  "members_search",
			Title: "Search members",
			Doc: `Finds members whose user name or nickname starts with a text, whatever its case.
				Discord gives the first ones only: raise limit or give more of the name.`,
			Route: "GET /guilds/{guild_id}/members/search",
			Set:   []added{limit(25)},
			Fence: fence.Username,
		},
		read[memberRef, memberOne]{
			Name:  "members_get",
			Title: "Get a member",
			Doc: `Reads one member: names, roles, when they joined, whether they are timed out. For a
				user outside the guild use users_get.`,
			Route: routeMember,
			Fence: fence.Username,
		},
		read[guildRef, memberOne]{
			Name:  "members_get_current_user",
			Title: "Get the bot's membership",
			Doc:   `Reads the bot as a member of a guild: its nickname and its roles there.`,
			Calls: []string{routeMe, routeMember},
			Fence: fence.Username,
			Run:   getMyMembership,
		},
		write[membersModify, memberModified]{
			Name:  "members_modify",
			Title: "Change a member",
			Doc: `Changes a member: nickname, roles, timeout, voice. roles replaces all roles; for one
				role use members_add_role or members_remove_role. mute, deaf and channel_id need the
				member in a voice channel.`,
			Route:      "PATCH /guilds/{guild_id}/members/{user_id}",
			Repeatable: true,
			NeedsWhen: []mcpcore.Need{
				{Arg: "nick", Permissions: discord.ManageNicknames},
				{Arg: "roles", Permissions: discord.ManageRoles},
				{Arg: "mute", Permissions: discord.MuteMembers},
				{Arg: "deaf", Permissions: discord.DeafenMembers},
				{Arg: "channel_id", Permissions: discord.MoveMembers},
				{Arg: "channel_id", Unless: "null", Permissions: discord.Connect},
				{Arg: "communication_disabled_until", Permissions: discord.ModerateMembers},
			},
			Outranks: "user_id",
			Fence:    fence.Username,
			Run:      modifyMember,
		},
		write[membersModifyMe, memberMe]{
			Name:       "members_modify_current",
			Title:      "Change the bot's membership",
			Doc:        `Changes the bot's own nickname and profile in one guild; users_modify_current changes it everywhere.`,
			Route:      "PATCH /guilds/{guild_id}/members/@me",
			Repeatable: true,
			Needs:      discord.ChangeNickname,
			Redact:     []string{"avatar", "banner"},
			Fence:      fence.Username,
		},
		write[memberRole, memberRoleAdded]{
			Name:     "members_add_role",
			Title:    "Give a member a role",
			Doc:      `Gives a member one role; their other roles stay. The role must be below the bot's highest.`,
			Route:    "PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}",
			Needs:    discord.ManageRoles,
			Outranks: "role_id",
		},
		write[memberRole, memberRoleRemoved]{
			Name:     "members_remove_role",
			Title:    "Take a role from a member",
			Doc:      `Takes one role from a member; their other roles stay. The role must be below the bot's highest.`,
			Route:    "DELETE /guilds/{guild_id}/members/{user_id}/roles/{role_id}",
			Needs:    discord.ManageRoles,
			Outranks: "role_id",
		},
		destroy[memberTarget, memberKicked]{
			Name:  "members_kick",
			Title: "Kick a member",
			Doc: `Removes a member from a guild. They can rejoin with an invite; members_ban prevents
				that, a timeout (members_modify) only silences them.`,
			Route:    "DELETE /guilds/{guild_id}/members/{user_id}",
			Calls:    []string{routeMember},
			Needs:    discord.KickMembers,
			Outranks: "user_id",
			Facts:    kickFacts,
		},
		destroy[membersBan, memberBanned]{
			Name:  "members_ban",
			Title: "Ban a user",
			Doc: `Bans a user from a guild, whether or not they are in it, and can delete their recent
				messages. They cannot rejoin until members_unban. For a softer removal use members_kick.`,
			Route:    "PUT /guilds/{guild_id}/bans/{user_id}",
			Calls:    []string{routeMember, routeUser},
			Needs:    discord.BanMembers,
			Outranks: "user_id",
			Facts:    banFacts,
		},
		destroy[membersBulkBan, membersBulkBanned]{
			Name:  "members_bulk_ban",
			Title: "Ban several users",
			Doc: `Bans several users from a guild and can delete their recent messages. Those who could
				not be banned are in failed_users: banned already, or not below the bot.`,
			Route:    "POST /guilds/{guild_id}/bulk-ban",
			Calls:    []string{routeUser},
			Needs:    discord.BanMembers | discord.ManageGuild,
			Outranks: "user_ids",
			Facts:    bulkBanFacts,
		},
		write[memberTarget, memberUnbanned]{
			Name:  "members_unban",
			Title: "Lift a ban",
			Doc:   `Lifts a user's ban. They are not invited back; they can rejoin with an invite.`,
			Route: "DELETE /guilds/{guild_id}/bans/{user_id}",
			Needs: discord.BanMembers,
			Run:   unban,
		},
		read[memberRef, ban]{
			Name:  "members_get_ban",
			Title: "Get a ban",
			Doc:   `Reads the ban of one user and its reason. Not found means that the user is not banned.`,
			Route: "GET /guilds/{guild_id}/bans/{user_id}",
			Needs: discord.BanMembers,
			Fence: fence.AuditReason,
		},
		read[membersListBans, bansPage]{
			Name:  "members_list_bans",
			Title: "List bans",
			Doc: `Lists the bans of a guild by user id, with their reasons. To go on, call again with
				after set to next_after, or before to next_before.`,
			Route: "GET /guilds/{guild_id}/bans",
			Needs: discord.BanMembers,
			Rules: []mcpcore.Rule{mcpcore.Exclusive("before", "after")},
			Set:   []added{limit(100)},
			Fence: fence.AuditReason,
		},
	}}
}

// memberRef is a user, seen from a guild.
type memberRef struct {
	guildRef
	UserID discord.UserID `json:"user_id" jsonschema:"user"`
}

// memberTarget is a memberRef with a reason for the audit log.
type memberTarget struct {
	memberRef
	auditReason
}

// memberNames are who a member is.
type memberNames struct {
	UserID     discord.UserID `json:"user_id" from:"user.id"`
	Username   string         `json:"username" from:"user.username"`
	GlobalName *string        `json:"global_name" from:"user.global_name"`
	Nick       *string        `json:"nick"`
	Bot        bool           `json:"bot,omitempty" from:"user.bot"`
}

type membersList struct {
	guildRef
	After discord.UserID `json:"after,omitempty" jsonschema:"only users with a greater id"`
	Limit int            `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"1000" default:"100"`
}

type membersPage struct {
	Members []memberItem `json:"members" from:"@reply"`
	page
	NextAfter      discord.UserID `json:"next_after,omitempty" from:"@derived"`
	UntrustedNames string         `json:"untrusted_names" from:"@derived"`
}

type memberItem struct {
	memberNames
	Roles    []discord.RoleID `json:"roles"`
	JoinedAt *string          `json:"joined_at"`
	Timeout  string           `json:"communication_disabled_until,omitempty"`
}

func (v *membersPage) derive(*mcpcore.Call) {
	if v.HasMore && v.Count > 0 {
		v.NextAfter = v.Members[v.Count-1].UserID
	}
	names := make([]memberNames, len(v.Members))
	for i, m := range v.Members {
		names[i] = m.memberNames
	}
	v.UntrustedNames = fencedJSON(fence.ChannelTopic, names)
}

// listMembers explains the refusal that names no permission: it is for want of
// an intent.
func listMembers(ctx context.Context, a *api, _ membersList) (v membersPage, err error) {
	reply, err := a.send(ctx)
	if refused, ok := errors.AsType[*mcpcore.Error](err); ok && refused.Code == mcpcore.CodePermission {
		return v, refused.WithHint("Listing members takes the application's GUILD_MEMBERS intent. The operator can enable it in Discord's developer portal, under Bot. Until then use members_search or members_get.")
	}
	if err != nil {
		return v, err
	}
	return v, a.project(reply, &v)
}

type membersSearch struct {
	guildRef
	Query string `json:"query" jsonschema:"beginning of a user name or nickname" minLength:"1" maxLength:"100"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"1000" default:"25"`
	offset
}

type membersFound struct {
	Matches []memberNames `json:"matches" from:"@reply"`
	part
}

type memberOne struct {
	memberItem
	PremiumSince *string `json:"premium_since"`
	Pending      bool    `json:"pending"`
	Mute         bool    `json:"mute,omitempty"`
	Deaf         bool    `json:"deaf,omitempty"`
	Flags        int     `json:"flags,omitempty"`
	Avatar       string  `json:"avatar,omitempty" jsonschema:"of this guild"`
}

func getMyMembership(ctx context.Context, a *api, _ guildRef) (v memberOne, err error) {
	bot, err := a.botID(ctx)
	if err != nil {
		return v, err
	}
	return v, a.show(ctx, routeMember, sub{Path: map[string]string{"user_id": string(bot)}}, &v)
}
