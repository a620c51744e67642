package workflows

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeUser = "GET /users/{user_id}"
	routeBan  = "GET /guilds/{guild_id}/bans/{user_id}"
)

// What Discord says where a member, a user or a ban is not there. That the guild is
// not there is something else, and proves nothing.
const (
	unknownMember = 10007
	unknownUser   = 10013
	unknownBan    = 10026
)

// unknown reports whether Discord says one of these.
func unknown(err error, what ...int) bool {
	e, ok := errors.AsType[*mcpcore.Error](err)
	if !ok {
		return false
	}
	code, _ := e.Fields["discord_code"].(int)
	return slices.Contains(what, code)
}

func ofMember(guild discord.GuildID, id discord.UserID) path {
	return path{"guild_id": string(guild), "user_id": string(id)}
}

// memberSeen is a member as plans bind them: all that decides, and no names.
type memberSeen struct {
	ID            discord.UserID   `json:"id"`
	Bot           bool             `json:"bot"`
	Roles         []discord.RoleID `json:"roles"`
	HighestRole   discord.RoleID   `json:"highestRole"`
	Administrator bool             `json:"administrator"`
	Pending       bool             `json:"pending"`
	TimedOut      bool             `json:"timedOut"`
	TimeoutUntil  string           `json:"timeoutUntil,omitempty"`

	name string       `json:"-"`
	top  role         `json:"-"`
	held discord.Bits `json:"-"`
}

// seen is a member as the bot's guild has them.
func (s *standing) seen(m member) (v *memberSeen, err error) {
	if m.User.ID == "" || m.Roles == nil {
		return nil, incomplete("a member")
	}
	v = &memberSeen{ID: m.User.ID, Bot: m.User.Bot, Roles: slices.Sorted(slices.Values(m.Roles)), Pending: m.Pending, name: m.User.Username}
	if m.Nick != nil && *m.Nick != "" {
		v.name = *m.Nick + ", " + v.name
	}
	if m.Timeout != nil {
		v.TimedOut, v.TimeoutUntil = m.Timeout.After(s.now), m.Timeout.UTC().Format(time.RFC3339Nano)
	}
	if v.top, v.held, err = s.rights(v.ID, v.Roles); err != nil {
		return nil, err
	}
	v.HighestRole, v.Administrator = v.top.ID, v.held.Has(discord.Administrator)
	return v, nil
}

// member reads a member; nil is a user who is none.
func (r *reads) member(ctx context.Context, s *standing, id discord.UserID) (*memberSeen, error) {
	_, seen, err := r.memberWhole(ctx, s, id)
	return seen, err
}

// memberWhole is [reads.member] with all that Discord tells of the member.
func (r *reads) memberWhole(ctx context.Context, s *standing, id discord.UserID) (m member, seen *memberSeen, err error) {
	switch err := r.get(ctx, routeMember, ofMember(s.Guild.ID, id), &m); {
	case unknown(err, unknownMember, unknownUser):
		return m, nil, nil
	case err != nil:
		return m, nil, err
	case m.User.ID != id:
		return m, nil, incomplete("the member")
	}
	seen, err = s.seen(m)
	return m, seen, err
}

// ordinary refuses a user on whom the bot may not act, who is no member, or who is
// an administrator.
func (s *standing) ordinary(id discord.UserID, m *memberSeen) error {
	if err := s.acts(id, m); err != nil {
		return err
	}
	switch {
	case m == nil:
		return refused("member-missing", "the user %s is no member of the guild", id)
	case m.Administrator:
		return refused("administrator", "the member %s is an administrator", id)
	}
	return nil
}

// acts refuses to act on a user on whom nobody may, or whom the bot does not stand
// above. m is nil for a user who is no member.
func (s *standing) acts(id discord.UserID, m *memberSeen) error {
	switch {
	case id == s.Bot:
		return refused("self", "the bot does not act on itself")
	case id == s.Guild.Owner:
		return refused("owner", "nobody acts on the owner of the guild")
	case m != nil && !s.above(m.top):
		return refused("member-hierarchy", "the bot's highest role is not above that of the member %s", id)
	}
	return nil
}

// user reads a user's name and whether they are a bot; a user whom Discord does
// not know is refused.
func (r *reads) user(ctx context.Context, id discord.UserID) (name string, bot bool, err error) {
	var u struct {
		ID       discord.UserID `json:"id"`
		Username string         `json:"username"`
		Bot      bool           `json:"bot"`
	}
	switch err := r.get(ctx, routeUser, path{"user_id": string(id)}, &u); {
	case unknown(err, unknownUser):
		return "", false, refused("user-missing", "there is no user %s", id)
	case err != nil:
		return "", false, err
	case u.ID != id:
		return "", false, incomplete("the user")
	}
	return u.Username, u.Bot, nil
}

// banned reports whether a user is banned.
func (r *reads) banned(ctx context.Context, guild discord.GuildID, id discord.UserID) (bool, error) {
	var ban struct {
		User struct {
			ID discord.UserID `json:"id"`
		} `json:"user"`
	}
	switch err := r.get(ctx, routeBan, ofMember(guild, id), &ban); {
	case unknown(err, unknownBan):
		return false, nil
	case err != nil:
		return false, err
	case ban.User.ID != id:
		return false, incomplete("the ban")
	}
	return true, nil
}
