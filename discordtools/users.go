package discordtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// users reads accounts, and what the bot's own account has to do with guilds
// and people.
//
// Source: https://docs.discord.com/developers/resources/user.
func users() category {
	return category{Name: "users", Tools: []declaration{
		read[struct{}, currentUser]{
			Name:     "users_get_current",
			Title:    "Get the bot's account",
			Doc:      `Reads the bot's own account. For its nickname and roles in a guild use members_get_current_user.`,
			Route:    routeMe,
			Scope:    mcpcore.ApplicationScope,
			Unlocked: true,
			Fence:    fence.Username,
		},
		read[userRef, userOne]{
			Name:  "users_get",
			Title: "Get a user",
			Doc:   `Reads any user's public account, also of someone outside the bot's guilds. For roles and nickname use members_get.`,
			Route: routeUser,
			Scope: mcpcore.GlobalScope,
			Fence: fence.Username,
		},
		write[usersModify, userModified]{
			Name:  "users_modify_current",
			Title: "Change the bot's account",
			Doc: `Changes the bot's user name, avatar or banner in every guild; Discord allows it a few
				times an hour. For one guild use members_modify_current.`,
			Route:      "PATCH /users/@me",
			Scope:      mcpcore.ApplicationScope,
			Repeatable: true,
			Redact:     []string{"avatar", "banner"},
			Fence:      fence.Username,
		},
		write[usersCreateDM, dmOpened]{
			Name:  "users_create_dm",
			Title: "Open a direct message channel",
			Doc: `Opens the channel for direct messages with a user, or finds the one there is; nothing
				is sent yet. Write to people only when they agreed to it: Discord stops bots that do not.`,
			Route:      "POST /users/@me/channels",
			Gate:       mcpcore.Consent,
			Scope:      mcpcore.UserScope,
			Repeatable: true,
			Run:        openDM,
		},
		read[usersListGuilds, guildsPage]{
			Name:  "users_list_current_user_guilds",
			Title: "List the bot's guilds",
			Doc: `Lists the guilds the bot is in by id, with what it may do there. To go on, call again
				with after set to next_after, or before to next_before.`,
			Route: "GET /users/@me/guilds",
			Scope: mcpcore.GlobalScope,
			Rules: []mcpcore.Rule{mcpcore.Exclusive("before", "after")},
			Set:   []added{limit(200)},
			Fence: fence.ChannelTopic,
		},
		destroy[guildRef, guildLeft]{
			Name:  "users_leave_guild",
			Title: "Leave a guild",
			Doc: `Makes the bot leave a guild. It cannot return by itself: somebody with MANAGE_GUILD
				must add it again, and the bot's own role is lost.`,
			Route: "DELETE /users/@me/guilds/{guild_id}",
			Calls: []string{routeGuild},
			Scope: mcpcore.GuildScope,
			Facts: leaveFacts,
		},
	}}
}

// userFields are what every view of an account shows.
type userFields struct {
	ID         discord.UserID `json:"id"`
	Username   string         `json:"username"`
	GlobalName *string        `json:"global_name"`
	Avatar     *string        `json:"avatar"`
}

type currentUser struct {
	userFields
	Bot      bool `json:"bot"`
	Verified bool `json:"verified,omitempty"`
}

type userRef struct {
	UserID discord.UserID `json:"user_id" jsonschema:"user"`
}

type userOne struct {
	userFields
	Bot           bool   `json:"bot"`
	System        bool   `json:"system,omitempty"`
	Banner        string `json:"banner,omitempty"`
	AccentColor   *int   `json:"accent_color,omitempty"`
	PublicFlags   int    `json:"public_flags,omitempty"`
	CreatedAt     string `json:"created_at" from:"@derived"`
	UntrustedText string `json:"untrusted_text" from:"@derived"`
}

func (v *userOne) derive(*mcpcore.Call) {
	v.CreatedAt = discord.IDTime(string(v.ID)).Format("2006-01-02T15:04:05Z07:00")
	v.UntrustedText = fencedJSON(fence.Username, struct {
		Username   string  `json:"username"`
		GlobalName *string `json:"global_name"`
	}{v.Username, v.GlobalName})
}

type usersModify struct {
	Username string  `json:"username,omitempty" jsonschema:"new user name" minLength:"2" maxLength:"32"`
	Avatar   *string `json:"avatar,omitempty" as:"image" jsonschema:"image as a data URI; null removes it"`
	Banner   *string `json:"banner,omitempty" as:"image" jsonschema:"image as a data URI; null removes it"`
}

type userModified struct {
	userFields
	Banner *string `json:"banner"`
}

type usersCreateDM struct {
	RecipientID discord.UserID `json:"recipient_id" jsonschema:"user to write to"`
}

type dmOpened struct {
	ChannelID    discord.ChannelID `json:"channel_id" from:"id"`
	Type         int               `json:"type"`
	RecipientIDs []discord.UserID  `json:"recipient_ids" from:"@derived"`
}

// openOutcome is what an error means after a consent was spent: where the
// channel may have been opened all the same, another try needs another consent.
func openOutcome(call *mcpcore.Call, err error) error {
	e, ok := errors.AsType[*mcpcore.Error](err)
	if !ok || !call.Approved(mcpcore.ForConsent) {
		return err
	}
	switch e.Code {
	case mcpcore.CodeOutcomeUnknown, mcpcore.CodeTimeout, mcpcore.CodeUpstreamTimeout, mcpcore.CodeServerError:
		return (&mcpcore.Error{Code: mcpcore.CodeDMUnknown, Detail: "the channel may have been opened", Cause: err}).
			With("recipient_id", call.Text("recipient_id")).With("outcome", "unknown")
	}
	return err
}

func openDM(ctx context.Context, a *api, _ usersCreateDM) (v dmOpened, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, openOutcome(a.call, err)
	}
	var c struct {
		Recipients []person `json:"recipients"`
	}
	if err := json.Unmarshal(reply.Body, &c); err != nil {
		return v, fmt.Errorf("decode recipients: %w", err)
	}
	for _, r := range c.Recipients {
		v.RecipientIDs = append(v.RecipientIDs, r.ID)
	}
	return v, a.project(reply, &v)
}

type usersListGuilds struct {
	Before     discord.Snowflake `json:"before,omitempty" jsonschema:"only guilds with a smaller id"`
	After      discord.Snowflake `json:"after,omitempty" jsonschema:"only guilds with a greater id"`
	Limit      int               `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"200" default:"200"`
	WithCounts bool              `json:"with_counts,omitempty" jsonschema:"also how many members they have"`
}

type guildsPage struct {
	Guilds []myGuild `json:"guilds" from:"@reply"`
	page
	onward[discord.GuildID]
	UntrustedNames string `json:"untrusted_names" from:"@derived"`
}

type myGuild struct {
	ID          discord.GuildID       `json:"id"`
	Name        string                `json:"name"`
	Owner       bool                  `json:"owner"`
	Permissions discord.PermissionSet `json:"permissions"`
	Features    []string              `json:"features"`
	Members     *int                  `json:"approximate_member_count,omitempty"`
	Online      *int                  `json:"approximate_presence_count,omitempty"`
}

func (v *guildsPage) derive(call *mcpcore.Call) {
	if n := len(v.Guilds); n > 0 {
		v.lead(call, v.page, v.Guilds[0].ID, v.Guilds[n-1].ID)
	}
	v.UntrustedNames = fencedNames(fence.ChannelTopic, v.Guilds, func(g myGuild) titled[discord.GuildID] { return titled[discord.GuildID]{g.ID, g.Name} })
}

type guildLeft struct {
	Left    bool            `json:"left" from:"@true"`
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
}

func leaveFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var g struct {
		Name    string `json:"name"`
		Members *int   `json:"approximate_member_count"`
	}
	if err := a.do(ctx, routeGuild, sub{Query: url.Values{"with_counts": {"true"}}}, &g); err != nil {
		return nil, err
	}
	return mcpcore.Facts{{Name: "guild", Value: g.Name}, {Name: "members, about", Value: countOf(g.Members)}}, nil
}
