package discordtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func kickFacts(ctx context.Context, a *api) (mcpcore.Facts, error) { return a.readMember(ctx) }

// unknownMember is Discord's code for a user who is not in the guild.
const unknownMember = 10007

// banFacts also knows users who are not in the guild.
func banFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var in membersBan
	if err := a.call.Bind(&in); err != nil {
		return nil, err
	}
	facts, err := a.readMember(ctx)
	if missing, ok := errors.AsType[*mcpcore.Error](err); ok && missing.Fields["discord_code"] == unknownMember {
		var user person
		if user, err = a.readUser(ctx, in.UserID); err == nil {
			facts = mcpcore.Facts{{Name: "user", Value: user.String()}, {Name: "member", Value: "no"}}
		}
	}
	if err != nil {
		return nil, err
	}
	return append(facts, in.fact()), nil
}

// namedUsers is how many of many users facts name.
const namedUsers = 5

func bulkBanFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var in membersBulkBan
	if err := a.call.Bind(&in); err != nil {
		return nil, err
	}
	names := make([]string, 0, namedUsers)
	for _, id := range in.UserIDs[:min(namedUsers, len(in.UserIDs))] {
		user, err := a.readUser(ctx, id)
		if missing, ok := errors.AsType[*mcpcore.Error](err); ok && missing.Code == mcpcore.CodeNotFound {
			user.Username = string(id) + " (unknown)"
		} else if err != nil {
			return nil, err
		}
		names = append(names, user.String())
	}
	facts := mcpcore.Facts{{Name: "users", Value: strconv.Itoa(len(in.UserIDs))}, {Name: "the first of them", Value: strings.Join(names, ", ")}}
	return append(facts, in.fact()), nil
}

// erasure says how far back a ban deletes messages.
type erasure struct {
	Seconds int `json:"delete_message_seconds,omitempty" jsonschema:"also delete their messages of the last so many seconds" minimum:"0" maximum:"604800"`
}

func (e erasure) fact() mcpcore.Fact {
	if e.Seconds == 0 {
		return mcpcore.Fact{Name: "messages", Value: "stay"}
	}
	return mcpcore.Fact{Name: "messages", Value: fmt.Sprintf("of the last %d seconds are deleted", e.Seconds)}
}

type membersBan struct {
	memberRef
	erasure
	auditReason
}

// memberEcho is a memberRef, repeated in a view.
type memberEcho struct {
	UserID  discord.UserID  `json:"user_id" from:"@arg"`
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
}

type memberBanned struct {
	Banned bool `json:"banned" from:"@true"`
	memberEcho
}

type memberKicked struct {
	Kicked bool `json:"kicked" from:"@true"`
	memberEcho
}

type memberUnbanned struct {
	Unbanned bool `json:"unbanned" from:"@true"`
	memberEcho
}

// unban sends an empty object: Discord's description of this DELETE demands a
// body, and gives it no members.
func unban(ctx context.Context, a *api, in memberTarget) (v memberUnbanned, err error) {
	return v, a.show(ctx, "DELETE /guilds/{guild_id}/bans/{user_id}", sub{Body: json.RawMessage("{}")}, &v)
}

type membersBulkBan struct {
	guildRef
	UserIDs []discord.UserID `json:"user_ids" jsonschema:"users, in the guild or not" minItems:"1" maxItems:"200" uniqueItems:"true"`
	erasure
	auditReason
}

type membersBulkBanned struct {
	Banned      []discord.UserID `json:"banned_users"`
	Failed      []discord.UserID `json:"failed_users"`
	BannedCount int              `json:"banned_count" from:"@derived"`
	FailedCount int              `json:"failed_count" from:"@derived"`
}

func (v *membersBulkBanned) derive(*mcpcore.Call) {
	v.BannedCount, v.FailedCount = len(v.Banned), len(v.Failed)
}

type ban struct {
	UserID     discord.UserID `json:"user_id" from:"user.id"`
	Username   string         `json:"username" from:"user.username"`
	GlobalName string         `json:"global_name,omitempty" from:"user.global_name"`
	Reason     *string        `json:"reason"`
}

type membersListBans struct {
	guildRef
	Before discord.UserID `json:"before,omitempty" jsonschema:"only users with a smaller id"`
	After  discord.UserID `json:"after,omitempty" jsonschema:"only users with a greater id"`
	Limit  int            `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"1000" default:"100"`
}

type bansPage struct {
	Bans []ban `json:"bans" from:"@reply"`
	page
	onward[discord.UserID]
}

func (v *bansPage) derive(call *mcpcore.Call) {
	if n := len(v.Bans); n > 0 {
		v.lead(call, v.page, v.Bans[0].UserID, v.Bans[n-1].UserID)
	}
}
