package discordtools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// invites makes, reads and revokes invites.
//
// Source: https://docs.discord.com/developers/resources/invite.
func invites() category {
	return category{Name: "invites", Scope: mcpcore.GuildScope, Tools: []declaration{
		write[invitesCreate, inviteMade]{
			Name:  "invites_create_channel",
			Title: "Create an invite",
			Doc: `Creates an invite to a channel. Unless unique is true, a similar invite of the bot is
				given back instead of a new one. Whoever has the link can join: set max_age and max_uses.`,
			Route:     "POST /channels/{channel_id}/invites",
			Scope:     mcpcore.ChannelScope,
			Needs:     discord.ViewChannel | discord.CreateInstantInvite,
			NeedsWhen: []mcpcore.Need{{Arg: "role_ids", Permissions: discord.ManageRoles}},
			Rules:     []mcpcore.Rule{inviteTarget},
		},
		destroy[inviteRevoke, inviteRevoked]{
			Name:  "invites_delete",
			Title: "Revoke an invite",
			Doc:   `Revokes an invite for good: its link stops working everywhere it was posted.`,
			Route: "DELETE /invites/{code}",
			Calls: []string{routeInvite, routeChannelInvites},
			Needs: discord.ManageChannels,
			Facts: inviteFacts,
		},
		read[invitesGet, inviteOne]{
			Name:      "invites_get",
			Title:     "Look up an invite",
			Doc:       `Looks up where an invite leads, also to guilds the bot is not in. Uses are in invites_list_channel.`,
			Route:     routeInvite,
			Anonymous: true,
			Fence:     fence.ChannelTopic,
		},
		read[invitesList, invitesPage]{
			Name:  "invites_list_channel",
			Title: "List a channel's invites",
			Doc:   `Lists the invites to one channel with their uses, ends and makers.`,
			Route: routeChannelInvites,
			Scope: mcpcore.ChannelScope,
			Needs: discord.ViewChannel | discord.ManageChannels,
			Fence: fence.Username,
		},
	}}
}

const (
	routeInvite         = "GET /invites/{code}"
	routeChannelInvites = "GET /channels/{channel_id}/invites"
)

type invitesCreate struct {
	ChannelID discord.ChannelID     `json:"channel_id" jsonschema:"channel to invite to"`
	MaxAge    int                   `json:"max_age,omitempty" jsonschema:"seconds until it ends; 0 never, a day when left out" minimum:"0" maximum:"5184000"`
	MaxUses   int                   `json:"max_uses,omitempty" jsonschema:"0 for no limit" minimum:"0" maximum:"100"`
	Temporary bool                  `json:"temporary,omitempty" jsonschema:"members leave when they go offline unless they got a role"`
	Unique    bool                  `json:"unique,omitempty" jsonschema:"always a new invite"`
	Target    int                   `json:"target_type,omitempty" jsonschema:"in a voice channel: 1 a stream, 2 an activity" enum:"1,2"`
	User      discord.UserID        `json:"target_user_id,omitempty" jsonschema:"whose stream"`
	App       discord.ApplicationID `json:"target_application_id,omitempty" jsonschema:"which activity"`
	Roles     []discord.RoleID      `json:"role_ids,omitempty" jsonschema:"roles for whoever joins by it" maxItems:"250" uniqueItems:"true"`
	auditReason
}

// inviteTarget demands target_type and what it is about together, and no other.
var inviteTarget = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	raw, _ := call.Arg("target_type")
	for _, part := range []struct{ kind, name string }{{"1", "target_user_id"}, {"2", "target_application_id"}} {
		switch wanted := string(raw) == part.kind; {
		case wanted && !call.Has(part.name):
			return contradiction(part.name, "is required with target_type %s", part.kind)
		case !wanted && call.Has(part.name):
			return contradiction(part.name, "goes with target_type %s only", part.kind)
		}
	}
	return nil
}}

type inviteMade struct {
	Code      string            `json:"code"`
	URL       string            `json:"url" from:"@derived"`
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	ExpiresAt *string           `json:"expires_at"`
	MaxAge    int               `json:"max_age"`
	MaxUses   int               `json:"max_uses"`
	Temporary bool              `json:"temporary"`
	Unique    bool              `json:"unique" from:"@arg"`
	InviterID discord.UserID    `json:"inviter_id,omitempty" from:"inviter.id"`
}

func (v *inviteMade) derive(*mcpcore.Call) { v.URL = inviteURL(v.Code) }

func inviteURL(code string) string { return "https://discord.gg/" + url.PathEscape(code) }

// inviteRef is an invite by its code.
type inviteRef struct {
	Code discord.InviteCode `json:"code" as:"invite" jsonschema:"the code alone: what follows discord.gg/" minLength:"1" maxLength:"100"`
}

type inviteRevoke struct {
	inviteRef
	auditReason
}

type inviteRevoked struct {
	Deleted bool   `json:"deleted" from:"@true"`
	Code    string `json:"code" from:"@arg"`
}

type invitesGet struct {
	inviteRef
	Counts     bool            `json:"with_counts,omitempty" jsonschema:"also how many members, and how many online"`
	Expiration bool            `json:"with_expiration,omitempty" jsonschema:"for older callers; expires_at always comes"`
	EventID    discord.EventID `json:"guild_scheduled_event_id,omitempty" jsonschema:"an event to show with it"`
}

type inviteOne struct {
	Code           string             `json:"code"`
	URL            string             `json:"url" from:"@derived"`
	ChannelID      *discord.ChannelID `json:"channel_id" from:"channel.id"`
	ChannelName    string             `json:"channel_name,omitempty" from:"channel.name"`
	GuildID        discord.GuildID    `json:"guild_id,omitempty" from:"guild_id|guild.id"`
	GuildName      string             `json:"guild_name,omitempty" from:"guild.name"`
	InviterID      discord.UserID     `json:"inviter_id,omitempty" from:"inviter.id"`
	InviterName    string             `json:"inviter_name,omitempty" from:"inviter.global_name|inviter.username"`
	ExpiresAt      *string            `json:"expires_at"`
	Members        *int               `json:"approximate_member_count,omitempty"`
	Online         *int               `json:"approximate_presence_count,omitempty"`
	Target         int                `json:"target_type,omitempty"`
	EventID        discord.EventID    `json:"guild_scheduled_event_id,omitempty" from:"guild_scheduled_event.id"`
	EventName      string             `json:"guild_scheduled_event_name,omitempty" from:"guild_scheduled_event.name"`
	UntrustedNames string             `json:"untrusted_names" from:"@derived"`
}

func (v *inviteOne) derive(*mcpcore.Call) {
	v.URL = inviteURL(v.Code)
	v.UntrustedNames = fencedJSON(fence.ChannelTopic, struct {
		Guild   string `json:"guild,omitempty"`
		Channel string `json:"channel,omitempty"`
		Inviter string `json:"inviter,omitempty"`
		Event   string `json:"event,omitempty"`
	}{v.GuildName, v.ChannelName, v.InviterName, v.EventName})
}

type invitesList struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel of a guild"`
	offset
}

type invitesPage struct {
	Invites []inviteItem `json:"invites" from:"@reply"`
	part
}

type inviteItem struct {
	Code        string         `json:"code"`
	Uses        int            `json:"uses"`
	MaxUses     int            `json:"max_uses"`
	MaxAge      int            `json:"max_age"`
	Temporary   bool           `json:"temporary"`
	CreatedAt   string         `json:"created_at,omitempty"`
	ExpiresAt   *string        `json:"expires_at"`
	InviterID   discord.UserID `json:"inviter_id,omitempty" from:"inviter.id"`
	InviterName string         `json:"inviter_name,omitempty" from:"inviter.global_name|inviter.username"`
}

// inviteFacts are where the invite leads, who made it and how often it was
// used. Uses are shown to those alone who manage the channel.
func inviteFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var i struct {
		Guild   standing `json:"guild"`
		Channel standing `json:"channel"`
		Inviter person   `json:"inviter"`
		Expires string   `json:"expires_at"`
	}
	if err := a.do(ctx, routeInvite, sub{}, &i); err != nil {
		return nil, err
	}
	uses := unknown
	var all []struct {
		Code    string `json:"code"`
		Uses    int    `json:"uses"`
		MaxUses int    `json:"max_uses"`
	}
	err := a.do(ctx, routeChannelInvites, sub{Path: atChannel(i.Channel.ID)}, &all)
	if refused, ok := errors.AsType[*mcpcore.Error](err); ok && refused.Code != mcpcore.CodePermission && refused.Code != mcpcore.CodeNotFound {
		return nil, err
	}
	for _, other := range all {
		if other.Code != a.call.Text("code") {
			continue
		}
		if uses = strconv.Itoa(other.Uses); other.MaxUses > 0 {
			uses += fmt.Sprintf(" of %d", other.MaxUses)
		}
	}
	return mcpcore.Facts{
		{Name: "guild", Value: i.Guild.Name}, {Name: "channel", Value: i.Channel.Name}, {Name: "inviter", Value: i.Inviter.String()},
		{Name: "uses", Value: uses}, {Name: "ends", Value: cmp.Or(i.Expires, "never")},
	}, nil
}
