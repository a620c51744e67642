package blueprint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Conn is the way to Discord. It is safe for concurrent use. An error is an
// [*mcpcore.Error], or what ended the context.
type Conn interface {
	// Do sends one request and is the body of Discord's answer.
	Do(ctx context.Context, r Request) (json.RawMessage, error)
}

// Request is one request of Discord's API.
type Request struct {
	Route  string            // "METHOD /template", one of Routes
	Path   map[string]string // a value for each name in the template
	Query  url.Values        // nil for none
	Body   json.RawMessage   // nil for none
	Reason string            // of the audit log; "" for none
}

// The routes that read.
const (
	routeMe         = "GET /users/@me"
	routeGuild      = "GET /guilds/{guild_id}"
	routeMember     = "GET /guilds/{guild_id}/members/{user_id}"
	routeRoles      = "GET /guilds/{guild_id}/roles"
	routeChannels   = "GET /guilds/{guild_id}/channels"
	routeRules      = "GET /guilds/{guild_id}/auto-moderation/rules"
	routeOnboarding = "GET /guilds/{guild_id}/onboarding"
	routeWelcome    = "GET /guilds/{guild_id}/welcome-screen"
	routeMessages   = "GET /channels/{channel_id}/messages"
)

// The routes that write.
const (
	makeRole      = "POST /guilds/{guild_id}/roles"
	editRole      = "PATCH /guilds/{guild_id}/roles/{role_id}"
	moveRoles     = "PATCH /guilds/{guild_id}/roles"
	makeChannel   = "POST /guilds/{guild_id}/channels"
	editChannel   = "PATCH /channels/{channel_id}"
	moveChannels  = "PATCH /guilds/{guild_id}/channels"
	editGuild     = "PATCH /guilds/{guild_id}"
	setWelcome    = "PATCH /guilds/{guild_id}/welcome-screen"
	setOnboarding = "PUT /guilds/{guild_id}/onboarding"
	makeRule      = "POST /guilds/{guild_id}/auto-moderation/rules"
	editRule      = "PATCH /guilds/{guild_id}/auto-moderation/rules/{rule_id}"
	sendMessage   = "POST /channels/{channel_id}/messages"
)

// Reads are the routes that [Read] uses, and Writes those that an [Applier] uses
// beside them.
func Reads() []string {
	return []string{routeMe, routeGuild, routeMember, routeRoles, routeChannels, routeRules, routeOnboarding, routeWelcome, routeMessages}
}

// Writes are the routes that change a guild. No route deletes.
func Writes() []string {
	return []string{makeRole, editRole, moveRoles, makeChannel, editChannel, moveChannels, editGuild, setWelcome, setOnboarding, makeRule, editRule, sendMessage}
}

// get reads one thing of a guild.
func get(ctx context.Context, conn Conn, route string, path map[string]string, query url.Values, out any) error {
	raw, err := conn.Do(ctx, Request{Route: route, Path: path, Query: query})
	if err != nil {
		return err
	}
	return decode(route, raw, out)
}

func decode(route string, raw json.RawMessage, out any) error {
	if err := json.Unmarshal(raw, out); err != nil {
		return &responseError{fmt.Sprintf("the answer of %s cannot be read", route), err}
	}
	return nil
}

// responseError is an answer of Discord that cannot be what was asked for.
type responseError struct {
	what  string
	cause error
}

func (e *responseError) Error() string { return e.what }
func (e *responseError) Unwrap() error { return e.cause }

// code is Discord's error code in an error, 0 for none.
func discordCode(err error) int {
	if e, ok := errors.AsType[*mcpcore.Error](err); ok {
		switch n := e.Fields["discord_code"].(type) {
		case int:
			return n
		case int64:
			return int(n)
		case float64:
			return int(n)
		}
	}
	return 0
}
