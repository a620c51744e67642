package sandbox

import (
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

var (
	errBotsCannot   = forbidden(20001, "Bots cannot use this endpoint")
	errMissingScope = forbidden(50026, "Missing required OAuth2 scope")
)

// grantedAccess is what a person let the application do in their name.
type grantedAccess struct {
	user   discord.UserID
	scopes []string
}

// Authorize lets the application act for a user, as OAuth2 would, and gives the
// access token. Routes that take one refuse the bot's token.
func (d *Discord) Authorize(user discord.UserID, scopes ...string) string {
	token := "sandbox-access-" + d.IDAt(d.options.Clock())
	d.access(token, user, scopes...)
	return token
}

func (d *Discord) access(token string, user discord.UserID, scopes ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known(d.world.users, user)
	d.world.access[token] = grantedAccess{user, scopes}
}

// actor is who a request acts as.
func (d *Discord) actor(r *route, authorization string) (discord.UserID, error) {
	isBot := authorization == "Bot "+d.token
	switch {
	case r.open, r.scope == "" && isBot:
		return BotID, nil
	case isBot:
		return "", errBotsCannot
	}
	token, bearer := strings.CutPrefix(authorization, "Bearer ")
	access, known := d.world.access[token]
	switch {
	case !bearer || !known || r.scope == "":
		return "", errUnauthorized
	case !slices.Contains(access.scopes, r.scope):
		return "", errMissingScope
	}
	return access.user, nil
}
