package discordtools

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Routes that facts read, and tools beside their own.
const (
	routeMe            = "GET /users/@me"
	routeUser          = "GET /users/{user_id}"
	routeGuild         = "GET /guilds/{guild_id}"
	routeGuildChannels = "GET /guilds/{guild_id}/channels"
	routeRoles         = "GET /guilds/{guild_id}/roles"
	routeMember        = "GET /guilds/{guild_id}/members/{user_id}"
	routeActiveThreads = "GET /guilds/{guild_id}/threads/active"
	routeChannel       = "GET /channels/{channel_id}"
	routeMessages      = "GET /channels/{channel_id}/messages"
	routeMessage       = "GET /channels/{channel_id}/messages/{message_id}"
)

// unknown is a fact that could not be read.
const unknown = "unknown"

// countOf is a number that Discord may leave out.
func countOf(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(*n)
}

// excerpt is the beginning of a text, on one line.
func excerpt(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return s
}

// person is a user as facts name one.
type person struct {
	ID         discord.UserID `json:"id"`
	Username   string         `json:"username"`
	GlobalName string         `json:"global_name"`
	Bot        bool           `json:"bot"`
}

// String is the name by which people know the user.
func (p person) String() string {
	s := p.Username
	if p.GlobalName != "" {
		s += " (" + p.GlobalName + ")"
	}
	if p.Bot {
		s += ", a bot"
	}
	return s
}

// readUser reads who a user is.
func (a *api) readUser(ctx context.Context, user discord.UserID) (p person, err error) {
	return p, a.do(ctx, routeUser, sub{Path: map[string]string{"user_id": string(user)}}, &p)
}

// readMember reads the facts of the member that the call names.
func (a *api) readMember(ctx context.Context) (mcpcore.Facts, error) {
	var m struct {
		User   person           `json:"user"`
		Nick   string           `json:"nick"`
		Roles  []discord.RoleID `json:"roles"`
		Joined string           `json:"joined_at"`
	}
	if err := a.do(ctx, routeMember, sub{}, &m); err != nil {
		return nil, err
	}
	facts := mcpcore.Facts{{Name: "user", Value: m.User.String()}}
	if m.Nick != "" {
		facts = append(facts, mcpcore.Fact{Name: "nickname", Value: m.Nick})
	}
	return append(facts, mcpcore.Fact{Name: "roles", Value: strconv.Itoa(len(m.Roles))}, mcpcore.Fact{Name: "joined", Value: m.Joined}), nil
}

// writing is a message as facts show one.
type writing struct {
	author person
	messageFields
}

// readMessage reads the message that the call names by the route.
func (a *api) readMessage(ctx context.Context, route string, query url.Values) (w writing, err error) {
	reply, err := a.ask(ctx, route, sub{Query: query})
	if err != nil {
		return w, err
	}
	var m struct {
		Author person `json:"author"`
	}
	if err := json.Unmarshal(reply.Body, &m); err != nil {
		return w, err
	}
	w.author = m.Author
	return w, a.project(reply, &w.messageFields)
}
