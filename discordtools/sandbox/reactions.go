package sandbox

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// reactionRoutes add, list and remove reactions.
var reactionRoutes = []route{
	{method: "PUT", path: reactionPath + "/{emoji_name}/@me", handle: onMessage(discord.ReadMessageHistory, react)},
	{method: "DELETE", path: reactionPath + "/{emoji_name}/@me", handle: onMessage(0, unreact)},
	{method: "DELETE", path: reactionPath + "/{emoji_name}/{user_id}", handle: onMessage(discord.ManageMessages, unreactOther)},
	{method: "GET", path: reactionPath + "/{emoji_name}", handle: onMessage(discord.ReadMessageHistory, listReactions)},
	{method: "DELETE", path: reactionPath + "/{emoji_name}", handle: onMessage(discord.ManageMessages, clearEmoji)},
	{method: "DELETE", path: reactionPath, handle: onMessage(discord.ManageMessages, clearReactions)},
}

const reactionPath = "/channels/{channel_id}/messages/{message_id}/reactions"

var errTooManyReactions = badRequest(30010, "Maximum number of reactions reached (20)")

// reaction is the place of an emoji among a message's reactions, or -1.
func (m *Message) reaction(e EmojiRef) int {
	return slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Emoji.same(e) })
}

// react adds the bot's reaction. A new emoji takes ADD_REACTIONS, one from
// another guild USE_EXTERNAL_EMOJIS.
func react(x *exchange, c *channel, m *Message) (answer, error) {
	e, err := x.pathEmoji()
	if err != nil {
		return refuse(err)
	}
	if c.Thread != nil && c.Thread.Archived {
		return refuse(errThreadArchived)
	}
	i := m.reaction(e)
	if i < 0 {
		need := discord.AddReactions
		if g := x.guilds[c.Guild]; e.ID != "" && g != nil && g.emojis[e.ID] == nil {
			need |= discord.UseExternalEmojis
		}
		if err := x.need(c, need); err != nil {
			return refuse(err)
		}
		if len(m.Reactions) >= 20 {
			return refuse(errTooManyReactions)
		}
		m.Reactions = append(m.Reactions, Reaction{Emoji: e})
		i = len(m.Reactions) - 1
	}
	if r := &m.Reactions[i]; !slices.Contains(r.Users, x.actor) {
		r.Users = append(r.Users, x.actor)
	}
	return done()
}

func unreact(x *exchange, _ *channel, m *Message) (answer, error) { return x.unreact(m, x.actor) }

func unreactOther(x *exchange, _ *channel, m *Message) (answer, error) {
	u := id[discord.UserID](x, "user_id")
	if x.users[u] == nil {
		return refuse(errUnknownUser)
	}
	return x.unreact(m, u)
}

func (x *exchange) unreact(m *Message, u discord.UserID) (answer, error) {
	e, err := x.pathEmoji()
	if err != nil {
		return refuse(err)
	}
	i := m.reaction(e)
	if i < 0 {
		return refuse(errUnknownEmoji)
	}
	r := &m.Reactions[i]
	r.Users = slices.DeleteFunc(r.Users, func(other discord.UserID) bool { return other == u })
	if len(r.Users) == 0 {
		m.Reactions = slices.Delete(m.Reactions, i, i+1)
	}
	return done()
}

// listReactions lists who chose an emoji, by id. Burst reactions (type 1) do not
// exist here.
func listReactions(x *exchange, _ *channel, m *Message) (answer, error) {
	e, err := x.pathEmoji()
	if err != nil {
		return refuse(err)
	}
	kind, err := x.number("type", 0, 0, 1)
	if err != nil {
		return refuse(err)
	}
	var who []discord.UserID
	if i := m.reaction(e); i >= 0 && kind == 0 {
		who = slices.Clone(m.Reactions[i].Users)
		slices.SortFunc(who, discord.CompareIDs)
	}
	who, err = page(x, who, func(u discord.UserID) string { return string(u) }, 25, 100)
	if err != nil {
		return refuse(err)
	}
	return ok(mapped(who, x.user))
}

func clearEmoji(x *exchange, _ *channel, m *Message) (answer, error) {
	e, err := x.pathEmoji()
	if err != nil {
		return refuse(err)
	}
	m.Reactions = slices.DeleteFunc(m.Reactions, func(r Reaction) bool { return r.Emoji.same(e) })
	return done()
}

func clearReactions(_ *exchange, _ *channel, m *Message) (answer, error) {
	m.Reactions = nil
	return done()
}
