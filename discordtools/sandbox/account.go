package sandbox

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// accountRoutes are about users: the bot's own account, others, and what the
// bot has to do with them.
var accountRoutes = []route{
	{method: "GET", path: "/users/{user_id}", handle: getUser},
	{method: "PATCH", path: "/users/@me", handle: editAccount},
	{method: "POST", path: "/users/@me/channels", handle: openDM},
	{method: "DELETE", path: "/users/@me/guilds/{guild_id}", handle: leaveGuild},
}

var errCannotWrite = forbidden(50007, "Cannot send messages to this user")

// picture stores the hash of an image that was sent as a data URI; null removes
// the image.
func picture(path string, sent opt[string], hash *string) error {
	if !sent.has() || sent.value == "" {
		sent.into(hash)
		return nil
	}
	h, err := pictureHash(path, sent.value)
	if err == nil {
		*hash = h
	}
	return err
}

func getUser(x *exchange) (answer, error) {
	u := x.users[id[discord.UserID](x, "user_id")]
	if u == nil {
		return refuse(errUnknownUser)
	}
	return ok(viewUser(u))
}

// editAccount changes the bot's own account.
func editAccount(x *exchange) (answer, error) {
	var f struct {
		Username opt[string] `json:"username" minLength:"2" maxLength:"32" null:"no"`
		Avatar   opt[string] `json:"avatar"`
		Banner   opt[string] `json:"banner"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	u := x.users[x.actor]
	edited := *u
	if err := picture("avatar", f.Avatar, &edited.Avatar); err != nil {
		return refuse(err)
	}
	if err := picture("banner", f.Banner, &edited.Banner); err != nil {
		return refuse(err)
	}
	edited.Name = f.Username.or(u.Name)
	*u = edited
	return getMe(x)
}

// openDM gives the channel for direct messages with a user, the same each time.
// Bots do not write to each other.
func openDM(x *exchange) (answer, error) {
	var f struct {
		Recipient discord.UserID `json:"recipient_id"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	u := x.users[f.Recipient]
	switch {
	case u == nil:
		return refuse(errUnknownUser)
	case u.Bot || u.System:
		return refuse(errCannotWrite)
	}
	for _, c := range x.channels {
		if c.Type == discord.DM && slices.Contains(c.Recipients, u.ID) {
			return ok(x.viewChannel(c))
		}
	}
	c := &channel{Channel: Channel{ID: discord.ChannelID(x.issue()), Type: discord.DM, Recipients: []discord.UserID{u.ID}}}
	x.channels[c.ID] = c
	return ok(x.viewChannel(c))
}

func leaveGuild(x *exchange) (answer, error) {
	g := x.guilds[id[discord.GuildID](x, "guild_id")]
	if g == nil || g.members[x.actor] == nil {
		return refuse(errUnknownGuild)
	}
	delete(g.members, x.actor)
	return done()
}
