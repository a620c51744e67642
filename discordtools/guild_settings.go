package discordtools

import (
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type guildOne struct {
	ID             discord.GuildID    `json:"id"`
	Name           string             `json:"name"`
	Description    *string            `json:"description"`
	Icon           *string            `json:"icon"`
	OwnerID        discord.UserID     `json:"owner_id"`
	MemberCount    int                `json:"member_count,omitempty" from:"approximate_member_count" jsonschema:"approximate"`
	OnlineCount    int                `json:"online_count,omitempty" from:"approximate_presence_count" jsonschema:"approximate"`
	PremiumTier    int                `json:"premium_tier"`
	Boosts         int                `json:"premium_subscription_count,omitempty"`
	Locale         string             `json:"preferred_locale"`
	Features       []string           `json:"features"`
	Verification   int                `json:"verification_level"`
	Notifications  int                `json:"default_message_notifications"`
	ContentFilter  int                `json:"explicit_content_filter"`
	MFALevel       int                `json:"mfa_level"`
	NSFWLevel      int                `json:"nsfw_level"`
	Vanity         *string            `json:"vanity_url_code"`
	AFKChannel     *discord.ChannelID `json:"afk_channel_id"`
	AFKTimeout     int                `json:"afk_timeout"`
	SystemChannel  *discord.ChannelID `json:"system_channel_id"`
	SystemFlags    int                `json:"system_channel_flags"`
	RulesChannel   *discord.ChannelID `json:"rules_channel_id"`
	UpdatesChannel *discord.ChannelID `json:"public_updates_channel_id"`
	SafetyChannel  *discord.ChannelID `json:"safety_alerts_channel_id"`
	ProgressBar    bool               `json:"premium_progress_bar_enabled"`
	WidgetEnabled  bool               `json:"widget_enabled"`
}

// guildModify is a change of settings.
//
// Source: https://docs.discord.com/developers/resources/guild#modify-guild.
type guildModify struct {
	guildRef
	Name            string             `json:"name,omitempty" jsonschema:"new name" minLength:"2" maxLength:"100"`
	Description     *string            `json:"description,omitempty" jsonschema:"for a Community guild" maxLength:"300"`
	Icon            *string            `json:"icon,omitempty" as:"image" jsonschema:"image as a data URI; null removes it"`
	Banner          *string            `json:"banner,omitempty" as:"image" jsonschema:"image as a data URI; needs the BANNER feature"`
	Splash          *string            `json:"splash,omitempty" as:"image" jsonschema:"invite background as a data URI; needs INVITE_SPLASH"`
	DiscoverySplash *string            `json:"discovery_splash,omitempty" as:"image" jsonschema:"image as a data URI; needs DISCOVERABLE"`
	HomeHeader      *string            `json:"home_header,omitempty" as:"image" jsonschema:"image as a data URI, for the server guide"`
	OwnerID         discord.UserID     `json:"owner_id,omitempty" jsonschema:"DANGEROUS: new owner of the guild; only the present owner can hand it over"`
	Verification    int                `json:"verification_level,omitempty" jsonschema:"0 none, 1 e-mail, 2 registered 5 minutes, 3 member 10 minutes, 4 phone" minimum:"0" maximum:"4"`
	Notifications   int                `json:"default_message_notifications,omitempty" jsonschema:"0 all messages, 1 mentions only" minimum:"0" maximum:"1"`
	ContentFilter   int                `json:"explicit_content_filter,omitempty" jsonschema:"scan media of: 0 nobody, 1 members without roles, 2 everyone" minimum:"0" maximum:"2"`
	AFKChannel      *discord.ChannelID `json:"afk_channel_id,omitempty" jsonschema:"voice channel for the idle"`
	AFKTimeout      int                `json:"afk_timeout,omitempty" jsonschema:"seconds until idle" enum:"60,300,900,1800,3600"`
	SystemChannel   *discord.ChannelID `json:"system_channel_id,omitempty" jsonschema:"where joins and boosts are announced"`
	SystemFlags     int                `json:"system_channel_flags,omitempty" jsonschema:"bits that suppress: 1 joins, 2 boosts, 4 setup tips, 8 join stickers, 16 subscriptions, 32 their stickers" minimum:"0"`
	RulesChannel    *discord.ChannelID `json:"rules_channel_id,omitempty" jsonschema:"a Community guild needs one"`
	UpdatesChannel  *discord.ChannelID `json:"public_updates_channel_id,omitempty" jsonschema:"for Discord's notices to moderators; a Community guild needs one"`
	SafetyChannel   *discord.ChannelID `json:"safety_alerts_channel_id,omitempty" jsonschema:"for Discord's safety alerts"`
	Locale          string             `json:"preferred_locale,omitempty" jsonschema:"language of the guild" enum:"ar,bg,cs,da,de,el,en-GB,en-US,es-419,es-ES,fi,fr,he,hi,hr,hu,id,it,ja,ko,lt,nl,no,pl,pt-BR,ro,ru,sv-SE,th,tr,uk,vi,zh-CN,zh-TW"`
	Features        []string           `json:"features,omitempty" jsonschema:"COMMUNITY, DISCOVERABLE, INVITES_DISABLED and RAID_ALERTS_DISABLED can change; the first two need ADMINISTRATOR" maxItems:"1521" maxLength:"100" uniqueItems:"true"`
	ProgressBar     bool               `json:"premium_progress_bar_enabled,omitempty" jsonschema:"show the boost progress bar"`
	auditReason
}

type guildModified struct {
	ID            discord.GuildID `json:"id"`
	Name          string          `json:"name"`
	Description   *string         `json:"description"`
	Icon          *string         `json:"icon"`
	OwnerID       discord.UserID  `json:"owner_id"`
	Locale        string          `json:"preferred_locale"`
	Features      []string        `json:"features"`
	UntrustedText string          `json:"untrusted_text" from:"@derived"`
}

func (v *guildModified) derive(*mcpcore.Call) {
	v.UntrustedText = fencedJSON(fence.ChannelTopic, struct {
		Name        string  `json:"name"`
		Description *string `json:"description"`
	}{v.Name, v.Description})
}

type vanityURL struct {
	Code *string `json:"code"`
	Uses int     `json:"uses"`
}
