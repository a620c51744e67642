package sandbox

import (
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type guildView struct {
	ID                discord.GuildID        `json:"id"`
	Name              string                 `json:"name"`
	Icon              *string                `json:"icon"`
	Description       *string                `json:"description"`
	HomeHeader        *string                `json:"home_header"`
	Splash            *string                `json:"splash"`
	DiscoverySplash   *string                `json:"discovery_splash"`
	Features          []string               `json:"features"`
	Banner            *string                `json:"banner"`
	Owner             discord.UserID         `json:"owner_id"`
	Application       *discord.ApplicationID `json:"application_id"`
	Region            string                 `json:"region"`
	AFKChannel        *discord.ChannelID     `json:"afk_channel_id"`
	AFKTimeout        int                    `json:"afk_timeout"`
	SystemChannel     *discord.ChannelID     `json:"system_channel_id"`
	SystemFlags       int                    `json:"system_channel_flags"`
	WidgetEnabled     bool                   `json:"widget_enabled"`
	WidgetChannel     *discord.ChannelID     `json:"widget_channel_id"`
	Verification      int                    `json:"verification_level"`
	Roles             []roleView             `json:"roles"`
	Notifications     int                    `json:"default_message_notifications"`
	MFALevel          int                    `json:"mfa_level"`
	ContentFilter     int                    `json:"explicit_content_filter"`
	MaxPresences      *int                   `json:"max_presences"`
	MaxMembers        int                    `json:"max_members"`
	MaxStageUsers     int                    `json:"max_stage_video_channel_users"`
	MaxVideoUsers     int                    `json:"max_video_channel_users"`
	Vanity            *string                `json:"vanity_url_code"`
	PremiumTier       int                    `json:"premium_tier"`
	Boosts            int                    `json:"premium_subscription_count"`
	Locale            string                 `json:"preferred_locale"`
	RulesChannel      *discord.ChannelID     `json:"rules_channel_id"`
	SafetyChannel     *discord.ChannelID     `json:"safety_alerts_channel_id"`
	UpdatesChannel    *discord.ChannelID     `json:"public_updates_channel_id"`
	ProgressBar       bool                   `json:"premium_progress_bar_enabled"`
	NSFW              bool                   `json:"nsfw"`
	NSFWLevel         int                    `json:"nsfw_level"`
	Emojis            []emojiView            `json:"emojis"`
	Stickers          []stickerView          `json:"stickers"`
	Incidents         *incidentsView         `json:"incidents_data"`
	ApproximateCount  *int                   `json:"approximate_member_count,omitempty"`
	ApproximateOnline *int                   `json:"approximate_presence_count,omitempty"`
}

type incidentsView struct {
	InvitesOff *string `json:"invites_disabled_until"`
	DMsOff     *string `json:"dms_disabled_until"`
}

func viewGuild(g *guild) guildView {
	v := guildView{
		ID: g.ID, Name: g.Name, Icon: textOrNull(g.Icon), Description: textOrNull(g.Description),
		HomeHeader: textOrNull(g.HomeHeader), Splash: textOrNull(g.Splash), DiscoverySplash: textOrNull(g.DiscoverySplash),
		Features: list(g.Features), Banner: textOrNull(g.Banner), Owner: g.Guild.Owner, Region: "deprecated",
		AFKChannel: textOrNull(g.AFKChannel), AFKTimeout: orDefault(g.AFKTimeout, 300),
		SystemChannel: textOrNull(g.SystemChannel), SystemFlags: g.SystemFlags, WidgetEnabled: g.WidgetEnabled,
		WidgetChannel: textOrNull(g.WidgetChannel), Verification: g.Verification, Roles: mapped(g.rolesByRank(), viewRole),
		Notifications: g.Notifications, MFALevel: g.MFALevel, ContentFilter: g.ContentFilter, MaxMembers: 500_000,
		MaxStageUsers: 50, MaxVideoUsers: 25, Vanity: textOrNull(g.Vanity), PremiumTier: g.PremiumTier, Boosts: g.Boosts,
		Locale: g.Locale, RulesChannel: textOrNull(g.RulesChannel), SafetyChannel: textOrNull(g.SafetyChannel),
		UpdatesChannel: textOrNull(g.UpdatesChannel), ProgressBar: g.ProgressBar,
		NSFW: g.NSFWLevel == 1 || g.NSFWLevel == 3, NSFWLevel: g.NSFWLevel, Emojis: mapped(sorted(g.emojis), viewEmoji),
		Stickers: mapped(sorted(g.stickers), func(s *Sticker) stickerView { return viewSticker(s, g.ID) }),
	}
	if v.Locale == "" {
		v.Locale = "en-US"
	}
	if !g.InvitesOffTill.IsZero() || !g.DMsOffTill.IsZero() {
		v.Incidents = &incidentsView{stampOrNull(g.InvitesOffTill), stampOrNull(g.DMsOffTill)}
	}
	return v
}

// count adds what with_counts asks for. Half of the members count as online.
func (v *guildView) count(g *guild) {
	all, online := g.counts()
	v.ApproximateCount, v.ApproximateOnline = &all, &online
}

func (g *guild) counts() (all, online int) { return len(g.members), (len(g.members) + 1) / 2 }

type myGuildView struct {
	ID                discord.GuildID `json:"id"`
	Name              string          `json:"name"`
	Icon              *string         `json:"icon"`
	Banner            *string         `json:"banner"`
	Owner             bool            `json:"owner"`
	Permissions       string          `json:"permissions"`
	Features          []string        `json:"features"`
	ApproximateCount  *int            `json:"approximate_member_count,omitempty"`
	ApproximateOnline *int            `json:"approximate_presence_count,omitempty"`
}
