package discordtools

import (
	"cmp"
	"context"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// widget is what anyone can see of a guild.
//
// Source: https://docs.discord.com/developers/resources/guild#guild-widget-object.
type widget struct {
	ID       discord.GuildID `json:"id"`
	Name     string          `json:"name"`
	Invite   *string         `json:"instant_invite"`
	Presence int             `json:"presence_count" jsonschema:"online members"`
	Channels []widgetChannel `json:"channels" jsonschema:"voice channels that everyone sees"`
	Members  []widgetMember  `json:"members" jsonschema:"online members, 100 at most"`
	Count    int             `json:"members_count" from:"@derived" jsonschema:"members shown"`
}

func (v *widget) derive(*mcpcore.Call) { v.Count = len(v.Members) }

type widgetChannel struct {
	ID       discord.ChannelID `json:"id"`
	Name     string            `json:"name"`
	Position int               `json:"position"`
}

// widgetMember has no user id: Discord does not show it to the public.
type widgetMember struct {
	Username  string            `json:"username"`
	Status    string            `json:"status"`
	ChannelID discord.ChannelID `json:"channel_id,omitempty" jsonschema:"voice channel they are in"`
}

type widgetImage struct {
	guildRef
	Style string `json:"style,omitempty" jsonschema:"look of the image" enum:"shield,banner1,banner2,banner3,banner4" default:"shield"`
}

type widgetImageURL struct {
	URL   string `json:"url" format:"uri"`
	Style string `json:"style" enum:"shield,banner1,banner2,banner3,banner4"`
}

// widgetImageAddress builds an address from an id that is digits alone and a
// style of the list.
func widgetImageAddress(_ context.Context, _ *api, in widgetImage) (widgetImageURL, error) {
	style := cmp.Or(in.Style, "shield")
	return widgetImageURL{URL: "https://discord.com/api/guilds/" + string(in.GuildID) + "/widget.png?style=" + style, Style: style}, nil
}

type widgetSettings struct {
	Enabled   bool               `json:"enabled"`
	ChannelID *discord.ChannelID `json:"channel_id"`
}

type widgetModify struct {
	guildRef
	Enabled   bool               `json:"enabled,omitempty" jsonschema:"whether the widget is public"`
	ChannelID *discord.ChannelID `json:"channel_id,omitempty" jsonschema:"channel it invites to; null for no invite"`
	auditReason
}
