package sandbox

import (
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// applicationRoutes are about the bot's application.
var applicationRoutes = []route{
	{method: "GET", path: "/applications/@me", handle: getApplication},
}

// Flags of an application that is in few guilds and has the intent.
//
// Source: https://docs.discord.com/developers/resources/application#application-object-application-flags.
const (
	flagMembersLimited = 1 << 15
	flagContentLimited = 1 << 19
)

type applicationView struct {
	ID           discord.ApplicationID `json:"id"`
	Name         string                `json:"name"`
	Icon         *string               `json:"icon"`
	Description  string                `json:"description"`
	Type         *int                  `json:"type"`
	Bot          userView              `json:"bot"`
	VerifyKey    string                `json:"verify_key"`
	Flags        int                   `json:"flags"`
	FlagsNew     string                `json:"flags_new"`
	RedirectURIs []string              `json:"redirect_uris"`
	Interactions *string               `json:"interactions_endpoint_url"`
	Connections  *string               `json:"role_connections_verification_url"`
	Owner        userView              `json:"owner"`
	Guilds       int                   `json:"approximate_guild_count"`
	Installs     int                   `json:"approximate_user_install_count"`
	Grants       int                   `json:"approximate_user_authorization_count"`
	Filter       int                   `json:"explicit_content_filter"`
	Team         *struct{}             `json:"team"`
	Scopes       []string              `json:"eligible_oauth2_scopes"`
}

// getApplication tells the flags by which Discord grants privileged intents:
// members always, message content unless [Options] takes it away.
func getApplication(x *exchange) (answer, error) {
	flags := flagMembersLimited | flagContentLimited
	if x.options.WithoutMessageContent {
		flags &^= flagContentLimited
	}
	v := applicationView{
		ID: discord.ApplicationID(x.actor), Name: x.options.BotName, Bot: x.user(x.actor), VerifyKey: "00", Flags: flags,
		FlagsNew: strconv.Itoa(flags), RedirectURIs: []string{}, Owner: x.user(DemoOwner), Scopes: []string{"bot", "applications.commands"},
	}
	for _, g := range x.guilds {
		if g.members[x.actor] != nil {
			v.Guilds++
		}
	}
	return ok(v)
}
