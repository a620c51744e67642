package discordtools

import (
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// threads says who follows a thread. Threads are started with
// messages_create_thread and channels_forum_create_thread, and listed, changed
// and deleted as channels.
//
// Source: https://docs.discord.com/developers/resources/channel#thread-member-object.
func threads() category {
	return category{Name: "threads", Scope: mcpcore.ChannelScope, Tools: []declaration{
		write[threadMemberTarget, threadMemberAdded]{
			Name:  "threads_add_member",
			Title: "Add a member to a thread",
			Doc: `Adds a member of the guild to a thread. They must be able to see its channel. An
				archived thread takes nobody: open it first with channels_modify.`,
			Route: "PUT " + routeThreadMember,
			Needs: discord.ViewChannel | discord.SendMessagesInThreads,
		},
		read[threadsGetMember, threadMemberOne]{
			Name:  "threads_get_member",
			Title: "Get a thread member",
			Doc:   `Says whether and since when a user follows a thread; not found means they do not.`,
			Route: "GET " + routeThreadMember,
			Needs: discord.ViewChannel,
			Set:   []added{withMember},
			Fence: fence.Username,
		},
		write[threadRef, threadJoined]{
			Name:  "threads_join",
			Title: "Join a thread",
			Doc:   `Adds the bot itself to a thread that is not archived.`,
			Route: "PUT /channels/{channel_id}/thread-members/@me",
			Needs: discord.ViewChannel,
		},
		write[threadRef, threadLeft]{
			Name:  "threads_leave",
			Title: "Leave a thread",
			Doc: `Takes the bot itself out of a thread that is not archived. Into a private one it comes
				back only with MANAGE_THREADS, or when somebody adds it.`,
			Route: "DELETE /channels/{channel_id}/thread-members/@me",
			Needs: discord.ViewChannel,
		},
		read[threadsListMembers, threadMembersPage]{
			Name:  "threads_list_members",
			Title: "List thread members",
			Doc: `Lists who follows a thread, all at once. With with_member it adds names and roles and
				comes in pages: to go on, call again with after set to next_after.`,
			Route:   "GET /channels/{channel_id}/thread-members",
			Scope:   mcpcore.GuildScope,
			Intents: discord.GuildMembers,
			Set:     []added{withMember, {"limit", membersLimit}},
			Fence:   fence.Username,
		},
		write[threadMemberTarget, threadMemberRemoved]{
			Name:  "threads_remove_member",
			Title: "Remove a thread member",
			Doc: `Removes a member from a thread that is not archived. They can join a public one again; to
				keep someone out, use channels_modify_permissions or members_ban.`,
			Route: "DELETE " + routeThreadMember,
			Needs: discord.ViewChannel | discord.ManageThreads,
		},
	}}
}

const routeThreadMember = "/channels/{channel_id}/thread-members/{user_id}"

// withMember asks for guild members where the caller does.
var withMember = added{"with_member", func(call *mcpcore.Call) string {
	if raw, _ := call.Arg("with_member"); string(raw) == "true" {
		return "true"
	}
	return ""
}}

// membersLimit is how many members come with names unless the caller says.
func membersLimit(call *mcpcore.Call) string {
	if withMember.Value(call) == "" {
		return ""
	}
	return "100"
}

type threadRef struct {
	ThreadID discord.ChannelID `json:"thread_id" wire:"channel_id" jsonschema:"thread or forum post"`
}

type threadMemberTarget struct {
	threadRef
	UserID discord.UserID `json:"user_id" jsonschema:"member"`
}

// threadEcho is a threadRef, and threadMemberEcho a threadMemberTarget, repeated
// in a view.
type threadEcho struct {
	ThreadID discord.ChannelID `json:"thread_id" from:"@arg"`
}

type threadMemberEcho struct {
	threadEcho
	UserID discord.UserID `json:"user_id" from:"@arg"`
}

type threadsGetMember struct {
	threadMemberTarget
	WithMember bool `json:"with_member,omitempty" in:"local" jsonschema:"add name and roles"`
}

type threadsListMembers struct {
	threadRef
	WithMember bool           `json:"with_member,omitempty" in:"local" jsonschema:"add names and roles, in pages"`
	After      discord.UserID `json:"after,omitempty" jsonschema:"only users with a greater id; needs with_member"`
	Limit      int            `json:"limit,omitempty" jsonschema:"how many, 100 when left out; needs with_member" minimum:"1" maximum:"100"`
	offset
}

// threadMemberFields are what is known of someone who follows a thread.
type threadMemberFields struct {
	JoinTimestamp *string      `json:"join_timestamp"`
	Flags         *int         `json:"flags"`
	Member        *guildMember `json:"member,omitempty"`
}

type guildMember struct {
	Username   string           `json:"username" from:"user.username"`
	GlobalName string           `json:"global_name,omitempty" from:"user.global_name"`
	Nick       string           `json:"nick,omitempty"`
	Bot        bool             `json:"bot,omitempty" from:"user.bot"`
	Roles      []discord.RoleID `json:"roles"`
}

type threadMemberOne struct {
	threadMemberEcho
	threadMemberFields
}

type threadMembersPage struct {
	threadEcho
	Members []threadMember `json:"members" from:"@reply"`
	part
	NextAfter *discord.UserID `json:"next_after,omitempty" from:"@derived"`
}

type threadMember struct {
	UserID *discord.UserID `json:"user_id"`
	threadMemberFields
}

// derive: Discord gives pages to calls with with_member alone.
func (v *threadMembersPage) derive(call *mcpcore.Call) {
	switch paged := withMember.Value(call) != ""; {
	case !paged:
		v.HasMore = v.Truncated
	case v.HasMore && v.Count > 0:
		v.NextAfter, v.NextOffset = v.Members[v.Count-1].UserID, 0
	}
}

type threadMemberAdded struct {
	Added bool `json:"added" from:"@true"`
	threadMemberEcho
}

type threadMemberRemoved struct {
	Removed bool `json:"removed" from:"@true"`
	threadMemberEcho
}

type threadJoined struct {
	Joined bool `json:"joined" from:"@true"`
	threadEcho
}

type threadLeft struct {
	Left bool `json:"left" from:"@true"`
	threadEcho
}
