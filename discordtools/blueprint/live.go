package blueprint

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/discordtools/internal/wire"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type liveSettings struct {
	ID            discord.GuildID   `json:"id"`
	Name          string            `json:"name"`
	Description   *string           `json:"description"`
	Locale        string            `json:"preferred_locale"`
	Verification  int               `json:"verification_level"`
	Notifications int               `json:"default_message_notifications"`
	ContentFilter int               `json:"explicit_content_filter"`
	AFKChannel    discord.ChannelID `json:"afk_channel_id"`
	AFKTimeout    int               `json:"afk_timeout"`
	SystemChannel discord.ChannelID `json:"system_channel_id"`
	RulesChannel  discord.ChannelID `json:"rules_channel_id"`
	Updates       discord.ChannelID `json:"public_updates_channel_id"`
	SafetyChannel discord.ChannelID `json:"safety_alerts_channel_id"`
	Features      []string          `json:"features"`
	Owner         discord.UserID    `json:"owner_id"`
}

func (s *liveSettings) has(feature string) bool { return slices.Contains(s.Features, feature) }

type liveBot struct {
	ID    discord.UserID   `json:"id"`
	Roles []discord.RoleID `json:"roles"`
}

type liveRole struct {
	ID          discord.RoleID `json:"id"`
	Name        string         `json:"name"`
	Color       int            `json:"color"`
	Hoist       bool           `json:"hoist"`
	Mentionable bool           `json:"mentionable"`
	Permissions bits           `json:"permissions"`
	Position    int            `json:"position"`
	Managed     bool           `json:"managed"`
}

// bits is a set of permissions as Discord writes one.
type bits discord.Permissions

func (b *bits) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	n, err := strconv.ParseUint(s, 10, 64)
	*b = bits(n)
	return err
}

func (b bits) MarshalJSON() ([]byte, error) {
	return []byte(strconv.Quote(strconv.FormatUint(uint64(b), 10))), nil
}

func (b bits) set() discord.Permissions { return discord.Permissions(b) }

type liveOverwrite struct {
	ID    discord.OverwriteID `json:"id"`
	Type  int                 `json:"type"`
	Allow bits                `json:"allow"`
	Deny  bits                `json:"deny"`
}

type liveChannel struct {
	ID         discord.ChannelID   `json:"id"`
	Guild      discord.GuildID     `json:"guild_id"`
	Type       discord.ChannelType `json:"type"`
	Name       string              `json:"name"`
	Parent     discord.ChannelID   `json:"parent_id"`
	Position   int                 `json:"position"`
	Topic      *string             `json:"topic"`
	NSFW       bool                `json:"nsfw"`
	SlowMode   int                 `json:"rate_limit_per_user"`
	Overwrites []liveOverwrite     `json:"permission_overwrites"`
	Tags       []liveTag           `json:"available_tags"`

	Bitrate        int        `json:"bitrate"`
	UserLimit      int        `json:"user_limit"`
	ThreadArchive  int        `json:"default_auto_archive_duration"`
	ThreadSlowMode int        `json:"default_thread_rate_limit_per_user"`
	SortOrder      *int       `json:"default_sort_order"`
	Layout         int        `json:"default_forum_layout"`
	Reaction       *liveEmoji `json:"default_reaction_emoji"`
	Flags          int        `json:"flags"`
}

const flagRequireTag = 1 << 4

type liveEmoji struct {
	ID   *string `json:"emoji_id"`
	Name *string `json:"emoji_name"`
}

type liveTag struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Moderated bool    `json:"moderated"`
	EmojiID   *string `json:"emoji_id"`
	EmojiName *string `json:"emoji_name"`
}

type liveRule struct {
	wire.Rule
	Creator discord.UserID `json:"creator_id"`
}

type liveOnboarding struct {
	Guild    discord.GuildID     `json:"guild_id"`
	Prompts  []livePrompt        `json:"prompts"`
	Defaults []discord.ChannelID `json:"default_channel_ids"`
	Enabled  bool                `json:"enabled"`
	Mode     int                 `json:"mode"`
}

type livePrompt struct {
	ID           string       `json:"id"`
	Type         int          `json:"type"`
	Title        string       `json:"title"`
	SingleSelect bool         `json:"single_select"`
	Required     bool         `json:"required"`
	InOnboarding bool         `json:"in_onboarding"`
	Options      []liveOption `json:"options"`
}

type liveOption struct {
	ID          string              `json:"id"`
	Title       string              `json:"title"`
	Description *string             `json:"description"`
	Emoji       liveOptionEmoji     `json:"emoji"`
	Roles       []discord.RoleID    `json:"role_ids"`
	Channels    []discord.ChannelID `json:"channel_ids"`
}

type liveOptionEmoji struct {
	ID   *string `json:"id"`
	Name *string `json:"name"`
}

type liveWelcome struct {
	Description *string              `json:"description"`
	Channels    []liveWelcomeChannel `json:"welcome_channels"`
}

type liveWelcomeChannel struct {
	Channel     discord.ChannelID `json:"channel_id"`
	Description string            `json:"description"`
	EmojiID     *string           `json:"emoji_id"`
	EmojiName   *string           `json:"emoji_name"`
}

// liveCard is a message of the bot's own that carries a mark.
type liveCard struct {
	Key     Symbol            `json:"key"`
	Channel discord.ChannelID `json:"channel_id"`
	Message discord.MessageID `json:"message_id"`
	Digest  string            `json:"digest"`

	layout []any
}
