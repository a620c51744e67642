package discordtools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type membersModify struct {
	memberRef
	Nick      *string            `json:"nick,omitempty" jsonschema:"null removes it" maxLength:"32"`
	Roles     []discord.RoleID   `json:"roles,omitempty" jsonschema:"all roles they are to have" maxItems:"350" uniqueItems:"true"`
	Mute      bool               `json:"mute,omitempty" jsonschema:"in voice channels"`
	Deaf      bool               `json:"deaf,omitempty" jsonschema:"in voice channels"`
	ChannelID *discord.ChannelID `json:"channel_id,omitempty" jsonschema:"voice channel to move them to; null disconnects"`
	Timeout   *string            `json:"communication_disabled_until,omitempty" jsonschema:"timed out until then, at most 28 days; null ends a timeout" format:"date-time"`
	Flags     int                `json:"flags,omitempty" jsonschema:"4 lets them past verification, 0 does not" minimum:"0"`
	auditReason
}

type memberModified struct {
	UserID  discord.UserID   `json:"user_id" from:"@arg"`
	Nick    *string          `json:"nick"`
	Roles   []discord.RoleID `json:"roles"`
	Timeout string           `json:"communication_disabled_until,omitempty"`
}

// The longest timeout, and what is left of it for clocks that differ and for the
// time the request takes.
//
// Source: https://docs.discord.com/developers/resources/guild#modify-guild-member.
const (
	maxTimeout    = 28 * 24 * time.Hour
	timeoutMargin = time.Minute
)

// checkTimeout refuses an end that Discord would refuse, and one that would
// silently do nothing.
func checkTimeout(until *string, now time.Time) error {
	if until == nil {
		return nil
	}
	issue := mcpcore.Issue{Path: "communication_disabled_until", Code: mcpcore.IssueRule}
	last := now.Add(maxTimeout - timeoutMargin).UTC().Truncate(time.Second)
	switch end, err := time.Parse(time.RFC3339Nano, *until); {
	case err != nil:
		issue.Message, issue.Code = "must be a time with an offset, such as 2031-05-01T18:00:00Z", mcpcore.IssueFormat
	case !end.After(now):
		issue.Message = fmt.Sprintf("lies in the past, it is %s now; null ends a timeout", now.UTC().Format(time.RFC3339))
	case end.After(last):
		issue.Message = fmt.Sprintf("is too far ahead: a timeout lasts 28 days at most, now until %s", last.Format(time.RFC3339))
	default:
		return nil
	}
	return mcpcore.Invalid(issue)
}

func modifyMember(ctx context.Context, a *api, in membersModify) (v memberModified, err error) {
	if err := checkTimeout(in.Timeout, a.now()); err != nil {
		return v, err
	}
	reply, err := a.send(ctx)
	if refused, ok := errors.AsType[*mcpcore.Error](err); ok && refused.Code == mcpcore.CodePermission && in.Timeout != nil {
		return v, refused.WithHint("Discord times out neither the guild's owner nor members with ADMINISTRATOR, whatever the bot may do. Otherwise the bot needs MODERATE_MEMBERS and a role above the member's highest.")
	}
	if err != nil {
		return v, err
	}
	return v, a.project(reply, &v)
}

type membersModifyMe struct {
	guildRef
	Nick   *string `json:"nick,omitempty" jsonschema:"null removes it" maxLength:"32"`
	Avatar *string `json:"avatar,omitempty" as:"image" jsonschema:"image as a data URI; null removes it"`
	Banner *string `json:"banner,omitempty" as:"image" jsonschema:"image as a data URI; null removes it"`
	Bio    *string `json:"bio,omitempty" jsonschema:"null removes it" maxLength:"190"`
	auditReason
}

type memberMe struct {
	Nick   *string `json:"nick"`
	Avatar string  `json:"avatar,omitempty"`
	Banner string  `json:"banner,omitempty"`
}

type memberRole struct {
	memberRef
	RoleID discord.RoleID `json:"role_id" jsonschema:"role"`
	auditReason
}

type memberRoleAdded struct {
	Added  bool           `json:"added" from:"@true"`
	UserID discord.UserID `json:"user_id" from:"@arg"`
	RoleID discord.RoleID `json:"role_id" from:"@arg"`
}

type memberRoleRemoved struct {
	Removed bool           `json:"removed" from:"@true"`
	UserID  discord.UserID `json:"user_id" from:"@arg"`
	RoleID  discord.RoleID `json:"role_id" from:"@arg"`
}
