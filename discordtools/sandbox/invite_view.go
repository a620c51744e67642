package sandbox

import (
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type inviteView struct {
	Type    int             `json:"type"`
	Code    string          `json:"code"`
	Inviter *userView       `json:"inviter,omitempty"`
	Expires *string         `json:"expires_at"`
	Guild   inviteGuild     `json:"guild"`
	GuildID discord.GuildID `json:"guild_id"`
	Channel inviteChannel   `json:"channel"`
	Target  int             `json:"target_type,omitempty"`
	User    *userView       `json:"target_user,omitempty"`
	App     *inviteApp      `json:"target_application,omitempty"`
	Roles   []inviteRole    `json:"roles,omitempty"`
	Members *int            `json:"approximate_member_count,omitempty"`
	Online  *int            `json:"approximate_presence_count,omitempty"`
	Event   *eventBase      `json:"guild_scheduled_event,omitempty"`
	*inviteUse
}

// inviteUse is what those who manage an invite see of it.
type inviteUse struct {
	Uses      int    `json:"uses"`
	MaxUses   int    `json:"max_uses"`
	MaxAge    int    `json:"max_age"`
	Temporary bool   `json:"temporary"`
	Created   string `json:"created_at"`
}

type inviteGuild struct {
	ID           discord.GuildID `json:"id"`
	Name         string          `json:"name"`
	Splash       *string         `json:"splash"`
	Banner       *string         `json:"banner"`
	Description  *string         `json:"description"`
	Icon         *string         `json:"icon"`
	Features     []string        `json:"features"`
	Verification int             `json:"verification_level"`
	Vanity       *string         `json:"vanity_url_code"`
	NSFWLevel    int             `json:"nsfw_level"`
	NSFW         bool            `json:"nsfw"`
	Boosts       int             `json:"premium_subscription_count"`
}

type inviteChannel struct {
	ID   discord.ChannelID   `json:"id"`
	Type discord.ChannelType `json:"type"`
	Name *string             `json:"name"`
}

type inviteApp struct {
	ID          discord.ApplicationID `json:"id"`
	Name        string                `json:"name"`
	Icon        *string               `json:"icon"`
	Description string                `json:"description"`
	Type        *int                  `json:"type"`
	VerifyKey   string                `json:"verify_key"`
	Flags       int                   `json:"flags"`
	FlagsNew    string                `json:"flags_new"`
}

type inviteRole struct {
	ID       discord.RoleID `json:"id"`
	Name     string         `json:"name"`
	Position int            `json:"position"`
	Color    int            `json:"color"`
	Colors   roleColors     `json:"colors"`
	Icon     *string        `json:"icon"`
	Emoji    *string        `json:"unicode_emoji"`
}

func (x *exchange) viewInvite(i *Invite, c *channel, g *guild, managed bool) inviteView {
	v := inviteView{
		Code: i.Code, Expires: stampOrNull(i.over()), GuildID: g.ID, Target: i.Target,
		Guild: inviteGuild{
			ID: g.ID, Name: g.Name, Splash: textOrNull(g.Splash), Banner: textOrNull(g.Banner), Description: textOrNull(g.Description),
			Icon: textOrNull(g.Icon), Features: list(g.Features), Verification: g.Verification, Vanity: textOrNull(g.Vanity),
			NSFWLevel: g.NSFWLevel, NSFW: g.NSFWLevel == 1 || g.NSFWLevel == 3, Boosts: g.Boosts,
		},
		Channel: inviteChannel{c.ID, c.Type, textOrNull(c.Name)},
	}
	if i.Inviter != "" {
		u := x.user(i.Inviter)
		v.Inviter = &u
	}
	if i.User != "" {
		u := x.user(i.User)
		v.User = &u
	}
	if i.App != "" {
		v.App = &inviteApp{ID: i.App, Name: "Activity", FlagsNew: "0"}
	}
	for _, id := range i.Roles {
		if r := g.roles[id]; r != nil {
			v.Roles = append(v.Roles, inviteRole{
				ID: r.ID, Name: r.Name, Position: r.Position, Color: r.Color, Colors: roleColors{r.Color, r.Secondary, r.Tertiary},
				Icon: textOrNull(r.Icon), Emoji: textOrNull(r.UnicodeEmoji),
			})
		}
	}
	if managed {
		v.inviteUse = &inviteUse{i.Uses, i.MaxUses, i.MaxAge, i.Temporary, stamp(i.Created)}
	}
	return v
}
