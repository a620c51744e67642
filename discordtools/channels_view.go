package discordtools

import (
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// emojiRef is an emoji of a tag or channel: a custom one by its id, a unicode
// one by its name.
type emojiRef struct {
	EmojiID   *discord.EmojiID `json:"emoji_id"`
	EmojiName *string          `json:"emoji_name"`
}

// tagView is a tag that a forum offers.
type tagView struct {
	ID        discord.TagID `json:"id"`
	Name      string        `json:"name"`
	Moderated bool          `json:"moderated"`
	emojiRef
}

// tagFields are the tags of a forum, or of a post.
type tagFields struct {
	AvailableTags []tagView       `json:"available_tags,omitempty"`
	AppliedTags   []discord.TagID `json:"applied_tags,omitempty"`
}

type overwriteView struct {
	ID    discord.OverwriteID   `json:"id"`
	Type  int                   `json:"type"`
	Allow discord.PermissionSet `json:"allow"`
	Deny  discord.PermissionSet `json:"deny"`
}

// threadState is a thread's own state.
type threadState struct {
	Archived         bool   `json:"archived"`
	Locked           bool   `json:"locked"`
	AutoArchive      int    `json:"auto_archive_duration"`
	ArchiveTimestamp string `json:"archive_timestamp"`
	Invitable        *bool  `json:"invitable,omitempty"`
}

type channelOne struct {
	ID                 discord.ChannelID  `json:"id"`
	Name               *string            `json:"name"`
	Type               int                `json:"type"`
	GuildID            discord.GuildID    `json:"guild_id,omitempty"`
	ParentID           *discord.ChannelID `json:"parent_id,omitempty"`
	Position           *int               `json:"position,omitempty"`
	NSFW               bool               `json:"nsfw"`
	Topic              *string            `json:"topic"`
	RateLimitPerUser   int                `json:"rate_limit_per_user"`
	Flags              int                `json:"flags,omitempty"`
	Overwrites         []overwriteView    `json:"permission_overwrites,omitempty"`
	Bitrate            int                `json:"bitrate,omitempty"`
	UserLimit          int                `json:"user_limit,omitempty"`
	RTCRegion          string             `json:"rtc_region,omitempty"`
	VideoQuality       int                `json:"video_quality_mode,omitempty"`
	DefaultArchive     int                `json:"default_auto_archive_duration,omitempty"`
	ThreadRateLimit    int                `json:"default_thread_rate_limit_per_user,omitempty"`
	Reaction           *emojiRef          `json:"default_reaction_emoji,omitempty"`
	DefaultSortOrder   *int               `json:"default_sort_order,omitempty"`
	DefaultForumLayout int                `json:"default_forum_layout,omitempty"`
	DefaultTagSetting  string             `json:"default_tag_setting,omitempty"`
	LastMessageID      discord.MessageID  `json:"last_message_id,omitempty"`
	OwnerID            discord.UserID     `json:"owner_id,omitempty"`
	MessageCount       *int               `json:"message_count,omitempty"`
	MemberCount        *int               `json:"member_count,omitempty"`
	Thread             *threadState       `json:"thread,omitempty" from:"thread_metadata"`
	tagFields
	remarks
}

// holdsPosts explains an id whose channel has no messages of its own.
const holdsPosts = "This id is a forum or media channel: it holds posts, not messages. List its posts with channels_list_active_threads_guild (parent_id) and channels_list_public_archived_threads, and read one of them."

func (v *channelOne) derive(*mcpcore.Call) {
	if discord.ChannelType(v.Type).HoldsPosts() {
		v.Warnings = []string{holdsPosts}
	}
}

type channelMade struct {
	ID            discord.ChannelID  `json:"id"`
	Name          string             `json:"name"`
	Type          int                `json:"type"`
	ParentID      *discord.ChannelID `json:"parent_id"`
	Position      int                `json:"position,omitempty"`
	AvailableTags []tagView          `json:"available_tags,omitempty"`
}

type channelModified struct {
	ID       discord.ChannelID  `json:"id"`
	Name     *string            `json:"name"`
	Type     int                `json:"type"`
	ParentID *discord.ChannelID `json:"parent_id"`
	Thread   *threadState       `json:"thread,omitempty" from:"thread_metadata"`
	tagFields
	TagsVerified bool `json:"tags_verified,omitempty" from:"@derived" jsonschema:"read back and as asked for"`
}

type channelDeleted struct {
	Deleted   bool              `json:"deleted" from:"@true"`
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
}

// overwriteEcho is an overwriteRef, repeated in a view.
type overwriteEcho struct {
	ChannelID   discord.ChannelID   `json:"channel_id" from:"@arg"`
	OverwriteID discord.OverwriteID `json:"overwrite_id" from:"@arg"`
}

type overwriteDeleted struct {
	Deleted bool `json:"deleted" from:"@true"`
	overwriteEcho
}

type overwriteUpdated struct {
	Updated bool `json:"updated" from:"@true"`
	overwriteEcho
}

type channelFollowed struct {
	ChannelID discord.ChannelID `json:"channel_id"`
	WebhookID discord.WebhookID `json:"webhook_id"`
}

type typingTriggered struct {
	OK        bool              `json:"ok" from:"@true"`
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
}

type channelsPage struct {
	Channels []channelItem `json:"channels" from:"@list"`
	part
	remarks
}

type channelItem struct {
	ID             discord.ChannelID  `json:"id"`
	Name           string             `json:"name"`
	Type           int                `json:"type"`
	Position       int                `json:"position"`
	ParentID       *discord.ChannelID `json:"parent_id"`
	NSFW           bool               `json:"nsfw"`
	CanView        *bool              `json:"can_view" from:"@derived" jsonschema:"null when unknown"`
	CanReadHistory *bool              `json:"can_read_history" from:"@derived" jsonschema:"null when unknown"`
	AvailableTags  []tagView          `json:"available_tags,omitempty"`
}

// threadItem is a thread in a list.
type threadItem struct {
	ID           discord.ChannelID  `json:"id"`
	Name         string             `json:"name"`
	Type         int                `json:"type"`
	ParentID     *discord.ChannelID `json:"parent_id"`
	OwnerID      *discord.UserID    `json:"owner_id"`
	Locked       bool               `json:"locked" from:"thread_metadata.locked"`
	MessageCount int                `json:"message_count"`
	AppliedTags  []discord.TagID    `json:"applied_tags,omitempty"`
}

type threadsActivePage struct {
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
	Threads []activeThread  `json:"threads" from:"@list"`
	part
}

type activeThread struct {
	threadItem
	Archived bool `json:"archived" from:"thread_metadata.archived"`
}

type archivedThread struct {
	threadItem
	ArchiveTimestamp *string `json:"archive_timestamp" from:"thread_metadata.archive_timestamp"`
}

// archivedFields are one page of archived threads.
type archivedFields struct {
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	Threads   []archivedThread  `json:"threads"`
	toldPage
}

// last is the item a next page starts after, nil when there is none.
func (v *archivedFields) last() *archivedThread {
	if !v.HasMore || v.Count == 0 {
		return nil
	}
	return &v.Threads[v.Count-1]
}

type threadsArchivedPage struct {
	archivedFields
	NextBefore string `json:"next_before,omitempty" from:"@derived"`
}

func (v *threadsArchivedPage) derive(*mcpcore.Call) {
	if t := v.last(); t != nil && t.ArchiveTimestamp != nil {
		v.NextBefore = *t.ArchiveTimestamp
	}
}

type threadsJoinedPage struct {
	archivedFields
	NextBefore discord.ChannelID `json:"next_before,omitempty" from:"@derived"`
}

func (v *threadsJoinedPage) derive(*mcpcore.Call) {
	if t := v.last(); t != nil {
		v.NextBefore = t.ID
	}
}
