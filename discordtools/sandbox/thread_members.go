package sandbox

import (
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// threadMemberRoutes are about who follows a thread.
var threadMemberRoutes = []route{
	{method: "GET", path: "/channels/{channel_id}/thread-members", handle: inThread(listThreadMembers)},
	{method: "PUT", path: "/channels/{channel_id}/thread-members/@me", handle: inThread(joinThread)},
	{method: "DELETE", path: "/channels/{channel_id}/thread-members/@me", handle: inThread(leaveThread)},
	{method: "GET", path: "/channels/{channel_id}/thread-members/{user_id}", handle: inThread(getThreadMember)},
	{method: "PUT", path: "/channels/{channel_id}/thread-members/{user_id}", handle: inThread(addThreadMember)},
	{method: "DELETE", path: "/channels/{channel_id}/thread-members/{user_id}", handle: inThread(removeThreadMember)},
}

// threadListRoutes find threads.
var threadListRoutes = []route{
	{method: "GET", path: "/guilds/{guild_id}/threads/active", handle: inGuild(0, listActiveThreads)},
	{method: "GET", path: "/channels/{channel_id}/threads/archived/public", handle: inChannel(discord.ReadMessageHistory, listPublicArchived)},
	{method: "GET", path: "/channels/{channel_id}/threads/archived/private", handle: inChannel(discord.ReadMessageHistory|discord.ManageThreads, listPrivateArchived)},
	{method: "GET", path: "/channels/{channel_id}/users/@me/threads/archived/private", handle: inChannel(discord.ReadMessageHistory, listMyArchived)},
}

// inThread resolves {channel_id} to a thread.
func inThread(handle func(*exchange, *channel, *Thread) (answer, error)) handler {
	return inChannel(0, func(x *exchange, c *channel) (answer, error) {
		if c.Thread == nil {
			return refuse(errChannelType)
		}
		return handle(x, c, c.Thread)
	})
}

func (x *exchange) viewThreadMember(c *channel, m ThreadMember, whole bool) threadMemberView {
	v := threadMemberView{ID: c.ID, User: m.User, Joined: stamp(m.Joined)}
	if member := x.guilds[c.Guild].members[m.User]; whole && member != nil {
		view := x.member(member)
		v.Member = &view
	}
	return v
}

// listThreadMembers lists everyone at once; with_member pages, with the guild
// members.
func listThreadMembers(x *exchange, c *channel, t *Thread) (answer, error) {
	whole, err := x.flag("with_member")
	if err != nil {
		return refuse(err)
	}
	all := slices.Clone(t.Members)
	slices.SortFunc(all, func(a, b ThreadMember) int { return discord.CompareIDs(a.User, b.User) })
	paged, err := page(x, all, func(m ThreadMember) string { return string(m.User) }, 100, 100)
	if err != nil {
		return refuse(err)
	}
	if whole {
		all = paged
	}
	return ok(mapped(all, func(m ThreadMember) threadMemberView { return x.viewThreadMember(c, m, whole) }))
}

func getThreadMember(x *exchange, c *channel, t *Thread) (answer, error) {
	whole, err := x.flag("with_member")
	if err != nil {
		return refuse(err)
	}
	i := t.index(id[discord.UserID](x, "user_id"))
	if i < 0 {
		return refuse(errUnknownMember)
	}
	return ok(x.viewThreadMember(c, t.Members[i], whole))
}

func (t *Thread) index(u discord.UserID) int {
	return slices.IndexFunc(t.Members, func(m ThreadMember) bool { return m.User == u })
}

func joinThread(x *exchange, _ *channel, t *Thread) (answer, error) {
	if t.Archived {
		return refuse(errThreadArchived)
	}
	t.join(x.actor, x.now)
	return done()
}

func leaveThread(x *exchange, _ *channel, t *Thread) (answer, error) {
	if t.Archived {
		return refuse(errThreadArchived)
	}
	t.leave(x.actor)
	return done()
}

func (t *Thread) leave(u discord.UserID) {
	t.Members = slices.DeleteFunc(t.Members, func(m ThreadMember) bool { return m.User == u })
}

// addThreadMember takes the right to write in the thread, and in a private
// thread that is not invitable MANAGE_THREADS.
func addThreadMember(x *exchange, c *channel, t *Thread) (answer, error) {
	u := id[discord.UserID](x, "user_id")
	if t.Archived {
		return refuse(errThreadArchived)
	}
	if err := x.need(c, discord.SendMessagesInThreads); err != nil {
		return refuse(err)
	}
	if c.Type == discord.PrivateThread && !t.Invitable && t.Owner != x.actor {
		if err := x.need(c, discord.ManageThreads); err != nil {
			return refuse(err)
		}
	}
	switch {
	case x.users[u] == nil:
		return refuse(errUnknownUser)
	case x.guilds[c.Guild].members[u] == nil:
		return refuse(errUnknownMember)
	case !x.inChannel(x.channels[c.Parent], u).Has(discord.ViewChannel):
		return refuse(errMissingAccess)
	}
	t.join(u, x.now)
	return done()
}

// removeThreadMember takes MANAGE_THREADS, or being the creator of a private
// thread.
func removeThreadMember(x *exchange, c *channel, t *Thread) (answer, error) {
	u := id[discord.UserID](x, "user_id")
	if t.Archived {
		return refuse(errThreadArchived)
	}
	if c.Type != discord.PrivateThread || t.Owner != x.actor {
		if err := x.need(c, discord.ManageThreads); err != nil {
			return refuse(err)
		}
	}
	if t.index(u) < 0 {
		return refuse(errUnknownMember)
	}
	t.leave(u)
	return done()
}

type threadsView struct {
	Threads []channelView      `json:"threads"`
	Members []threadMemberView `json:"members"`
	More    bool               `json:"has_more"`
}

// viewThreads gives threads with the bot's own membership of them.
func (x *exchange) viewThreads(list []*channel, more bool) threadsView {
	v := threadsView{Threads: mapped(list, x.viewChannel), Members: []threadMemberView{}, More: more}
	for _, c := range list {
		if i := c.Thread.index(x.actor); i >= 0 {
			v.Members = append(v.Members, x.viewThreadMember(c, c.Thread.Members[i], false))
		}
	}
	return v
}

// listActiveThreads gives the threads that the bot can see, the newest first.
func listActiveThreads(x *exchange, g *guild) (answer, error) {
	all := x.threads(func(c *channel) bool {
		return c.Guild == g.ID && !c.Thread.Archived && x.allowed(c, discord.ViewChannel)
	})
	slices.Reverse(all)
	return ok(x.viewThreads(all, false))
}

func listPublicArchived(x *exchange, c *channel) (answer, error) {
	return x.archivedBefore(c, func(t *channel) bool { return t.Type != discord.PrivateThread })
}

func listPrivateArchived(x *exchange, c *channel) (answer, error) {
	return x.archivedBefore(c, func(t *channel) bool { return t.Type == discord.PrivateThread })
}

// archivedBefore pages archived threads by when they were archived, the latest
// first.
func (x *exchange) archivedBefore(c *channel, kind func(*channel) bool) (answer, error) {
	limit, err := x.number("limit", 50, 2, 100)
	if err != nil {
		return refuse(err)
	}
	before, err := x.moment("before")
	if err != nil {
		return refuse(err)
	}
	all := x.threads(func(t *channel) bool {
		at := t.Thread.ArchivedAt.Truncate(time.Microsecond)
		return t.Parent == c.ID && t.Thread.Archived && kind(t) && (before.IsZero() || at.Before(before))
	})
	slices.SortStableFunc(all, func(a, b *channel) int { return b.Thread.ArchivedAt.Compare(a.Thread.ArchivedAt) })
	return ok(x.viewThreads(all[:min(limit, len(all))], len(all) > limit))
}

// listMyArchived pages the private threads that the bot is in by id, the newest
// first.
func listMyArchived(x *exchange, c *channel) (answer, error) {
	limit, err := x.number("limit", 50, 2, 100)
	if err != nil {
		return refuse(err)
	}
	before, err := x.cursor("before")
	if err != nil {
		return refuse(err)
	}
	all := x.threads(func(t *channel) bool {
		return t.Parent == c.ID && t.Thread.Archived && t.Type == discord.PrivateThread && t.Thread.has(x.actor) &&
			(before == "" || number(t.ID) < number(before))
	})
	slices.Reverse(all)
	return ok(x.viewThreads(all[:min(limit, len(all))], len(all) > limit))
}
