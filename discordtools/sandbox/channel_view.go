package sandbox

import (
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type channelView struct {
	ID          discord.ChannelID   `json:"id"`
	Type        discord.ChannelType `json:"type"`
	LastMessage *discord.MessageID  `json:"last_message_id"`
	Flags       int                 `json:"flags"`
	LastPin     *string             `json:"last_pin_timestamp,omitempty"`
	Guild       discord.GuildID     `json:"guild_id,omitempty"`
	Name        string              `json:"name,omitempty"`
	*parentView
	SlowMode   *int             `json:"rate_limit_per_user,omitempty"`
	Position   *int             `json:"position,omitempty"`
	Overwrites *[]overwriteView `json:"permission_overwrites,omitempty"`
	NSFW       *bool            `json:"nsfw,omitempty"`
	*topicView
	*voiceView
	*forumView
	ThreadArchive *int        `json:"default_auto_archive_duration,omitempty"`
	ThreadSlow    *int        `json:"default_thread_rate_limit_per_user,omitempty"`
	Recipients    *[]userView `json:"recipients,omitempty"`
	*threadView
}

type parentView struct {
	Parent *discord.ChannelID `json:"parent_id"`
}

type topicView struct {
	Topic *string `json:"topic"`
}

type voiceView struct {
	Bitrate      int     `json:"bitrate"`
	UserLimit    int     `json:"user_limit"`
	Region       *string `json:"rtc_region"`
	VideoQuality int     `json:"video_quality_mode"`
}

type forumView struct {
	Tags       []tagView     `json:"available_tags"`
	Reaction   *reactionView `json:"default_reaction_emoji"`
	SortOrder  *int          `json:"default_sort_order"`
	Layout     int           `json:"default_forum_layout"`
	TagSetting string        `json:"default_tag_setting,omitempty"`
}

type reactionView struct {
	ID   *discord.EmojiID `json:"emoji_id"`
	Name *string          `json:"emoji_name"`
}

type tagView struct {
	ID        discord.TagID    `json:"id"`
	Name      string           `json:"name"`
	Moderated bool             `json:"moderated"`
	EmojiID   *discord.EmojiID `json:"emoji_id"`
	EmojiName *string          `json:"emoji_name"`
}

type overwriteView struct {
	ID    discord.OverwriteID `json:"id"`
	Type  int                 `json:"type"`
	Allow string              `json:"allow"`
	Deny  string              `json:"deny"`
}

type threadView struct {
	Owner     discord.UserID    `json:"owner_id"`
	Metadata  threadMetadata    `json:"thread_metadata"`
	Messages  int               `json:"message_count"`
	Members   int               `json:"member_count"`
	TotalSent int               `json:"total_message_sent"`
	Applied   []discord.TagID   `json:"applied_tags,omitempty"`
	Member    *threadMemberView `json:"member,omitempty"`
}

type threadMetadata struct {
	Archived    bool   `json:"archived"`
	ArchivedAt  string `json:"archive_timestamp"`
	AutoArchive int    `json:"auto_archive_duration"`
	Locked      bool   `json:"locked"`
	Created     string `json:"create_timestamp"`
	Invitable   *bool  `json:"invitable,omitempty"`
}

type threadMemberView struct {
	ID     discord.ChannelID `json:"id"`
	User   discord.UserID    `json:"user_id"`
	Joined string            `json:"join_timestamp"`
	Flags  int               `json:"flags"`
	Member *memberView       `json:"member,omitempty"`
}

// viewChannel is a channel as the bot gets it.
func (x *exchange) viewChannel(c *channel) channelView {
	v := channelView{ID: c.ID, Type: c.Type, Flags: c.Flags, LastPin: stampOrNull(c.LastPin), Guild: c.Guild, Name: c.Name}
	if n := len(c.messages); n > 0 {
		v.LastMessage = &c.messages[n-1].ID
	}
	if c.Guild == "" {
		people := []userView{}
		for _, u := range c.Recipients {
			if u != x.actor {
				people = append(people, x.user(u))
			}
		}
		v.Recipients = &people
		return v
	}
	v.parentView = &parentView{textOrNull(c.Parent)}
	if c.Type != discord.GuildCategory {
		v.SlowMode = &c.SlowMode
	}
	if c.Type == discord.GuildVoice || c.Type == discord.GuildStageVoice {
		v.voiceView = &voiceView{orDefault(c.Bitrate, 64_000), c.UserLimit, textOrNull(c.Region), orDefault(c.VideoQuality, 1)}
	}
	if c.Thread != nil {
		v.threadView = x.viewThread(c)
		return v
	}
	over := mapped(c.Overwrites, viewOverwrite)
	v.Position, v.NSFW, v.Overwrites = &c.Position, &c.NSFW, &over
	switch c.Type {
	case discord.GuildForum, discord.GuildMedia:
		v.forumView = viewForum(c)
		fallthrough
	case discord.GuildText, discord.GuildAnnouncement:
		v.topicView = &topicView{textOrNull(c.Topic)}
		v.ThreadSlow = &c.ThreadSlowMode
		if c.ThreadArchive != 0 {
			v.ThreadArchive = &c.ThreadArchive
		}
	case discord.GuildStageVoice:
		v.topicView = &topicView{textOrNull(c.Topic)}
	}
	return v
}

func viewForum(c *channel) *forumView {
	v := &forumView{Tags: mapped(c.Tags, viewTag), SortOrder: c.SortOrder, Layout: c.Layout, TagSetting: c.TagSetting}
	if c.Reaction != nil {
		v.Reaction = &reactionView{textOrNull(c.Reaction.ID), reactionName(c.Reaction)}
	}
	return v
}

func viewTag(t Tag) tagView {
	v := tagView{ID: t.ID, Name: t.Name, Moderated: t.Moderated}
	if t.Emoji != nil {
		v.EmojiID, v.EmojiName = textOrNull(t.Emoji.ID), reactionName(t.Emoji)
	}
	return v
}

// reactionName is null for a guild's own emoji, where the id says all.
func reactionName(e *EmojiRef) *string {
	if e.ID != "" {
		return nil
	}
	return &e.Name
}

func viewOverwrite(o discord.Overwrite) overwriteView {
	return overwriteView{o.ID, o.Type, bits(o.Allow), bits(o.Deny)}
}

func (x *exchange) viewThread(c *channel) *threadView {
	t := c.Thread
	v := &threadView{
		Owner: t.Owner, Messages: c.replies(), Members: min(len(t.Members), 50), TotalSent: t.TotalSent, Applied: t.Applied,
		Metadata: threadMetadata{
			Archived: t.Archived, ArchivedAt: stamp(t.ArchivedAt), AutoArchive: orDefault(t.AutoArchive, 1440), Locked: t.Locked,
			Created: stamp(discord.IDTime(string(c.ID))),
		},
	}
	if c.Type == discord.PrivateThread {
		v.Metadata.Invitable = &t.Invitable
	}
	for _, m := range t.Members {
		if m.User == x.actor {
			v.Member = &threadMemberView{ID: c.ID, User: m.User, Joined: stamp(m.Joined)}
		}
	}
	return v
}

// replies counts a thread's messages without the one it starts with.
func (c *channel) replies() int {
	n := len(c.messages)
	if n > 0 && (c.messages[0].Type == typeThreadStarter || string(c.messages[0].ID) == string(c.ID)) {
		n--
	}
	return n
}
