package discordtools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type channelRef struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel or thread"`
}

// channelTarget is a channelRef with a reason for the audit log.
type channelTarget struct {
	channelRef
	auditReason
}

// overwriteInput is a permission overwrite.
//
// Source: https://docs.discord.com/developers/resources/channel#overwrite-object.
type overwriteInput struct {
	ID    discord.OverwriteID   `json:"id" jsonschema:"role or member; the guild's id is everyone"`
	Type  int                   `json:"type" jsonschema:"0 role, 1 member" enum:"0,1"`
	Allow discord.PermissionSet `json:"allow,omitempty"`
	Deny  discord.PermissionSet `json:"deny,omitempty"`
}

// emojiInput names an emoji: one of the guild by its id, a unicode one by itself.
type emojiInput struct {
	EmojiID   *discord.EmojiID `json:"emoji_id,omitempty" jsonschema:"of a custom emoji"`
	EmojiName *string          `json:"emoji_name,omitempty" jsonschema:"a unicode emoji" maxLength:"100"`
}

func (e emojiInput) both() bool {
	return e.EmojiID != nil && *e.EmojiID != "" && e.EmojiName != nil && *e.EmojiName != ""
}

// tagInput is a tag that a forum offers.
//
// Source: https://docs.discord.com/developers/resources/channel#forum-tag-object.
type tagInput struct {
	Name      string `json:"name" maxLength:"20"`
	Moderated *bool  `json:"moderated,omitempty" jsonschema:"only moderators can set it"`
	emojiInput
}

// tagChange is a tag to keep or change, or without an id a new one.
type tagChange struct {
	ID discord.TagID `json:"id,omitempty" jsonschema:"of an existing tag"`
	tagInput
}

type channelsCreate struct {
	guildRef
	Name               string            `json:"name" jsonschema:"name; text channels write it in lower case with hyphens" minLength:"1" maxLength:"100"`
	Type               int               `json:"type,omitempty" jsonschema:"0 text, 2 voice, 4 category, 5 announcement, 13 stage, 15 forum, 16 media" enum:"0,2,4,5,13,15,16" default:"0"`
	Topic              string            `json:"topic,omitempty" jsonschema:"topic; guidelines in forums, elsewhere 1024 characters" maxLength:"4096"`
	Bitrate            int               `json:"bitrate,omitempty" jsonschema:"of a voice channel" minimum:"8000"`
	UserLimit          int               `json:"user_limit,omitempty" jsonschema:"0 for none; 99 in voice, 10000 on stages" minimum:"0" maximum:"10000"`
	RateLimitPerUser   int               `json:"rate_limit_per_user,omitempty" jsonschema:"slow mode in seconds" minimum:"0" maximum:"21600"`
	Position           int               `json:"position,omitempty" jsonschema:"order in the list" minimum:"0"`
	Overwrites         []overwriteInput  `json:"permission_overwrites,omitempty" jsonschema:"instead of the category's; sets are decimal strings" maxItems:"100"`
	ParentID           discord.ChannelID `json:"parent_id,omitempty" jsonschema:"category"`
	NSFW               bool              `json:"nsfw,omitempty" jsonschema:"age-restricted"`
	RTCRegion          string            `json:"rtc_region,omitempty" jsonschema:"voice region; automatic when left out"`
	VideoQuality       int               `json:"video_quality_mode,omitempty" jsonschema:"1 auto, 2 full" enum:"1,2"`
	AutoArchive        int               `json:"default_auto_archive_duration,omitempty" jsonschema:"minutes until threads are archived" enum:"60,1440,4320,10080"`
	Reaction           emojiInput        `json:"default_reaction_emoji,omitempty" jsonschema:"offered on posts"`
	ThreadRateLimit    int               `json:"default_thread_rate_limit_per_user,omitempty" jsonschema:"slow mode of new threads in seconds" minimum:"0" maximum:"21600"`
	AvailableTags      []tagInput        `json:"available_tags,omitempty" jsonschema:"tags of a forum" maxItems:"20"`
	DefaultSortOrder   int               `json:"default_sort_order,omitempty" jsonschema:"posts by 0 latest activity, 1 creation" enum:"0,1"`
	DefaultForumLayout int               `json:"default_forum_layout,omitempty" jsonschema:"0 unset, 1 list, 2 gallery" enum:"0,1,2"`
	DefaultTagSetting  string            `json:"default_tag_setting,omitempty" jsonschema:"of several tags picked, a post needs all or some" enum:"match_all,match_some"`
	auditReason
}

type channelsModify struct {
	channelRef
	Name               string             `json:"name,omitempty" jsonschema:"name" minLength:"1" maxLength:"100"`
	Archived           bool               `json:"archived,omitempty" jsonschema:"thread: true closes, false opens it again"`
	Locked             bool               `json:"locked,omitempty" jsonschema:"thread: true lets only moderators open it again"`
	Invitable          bool               `json:"invitable,omitempty" jsonschema:"private thread: members may add others"`
	AutoArchive        int                `json:"auto_archive_duration,omitempty" jsonschema:"thread: minutes without activity until it is archived" enum:"60,1440,4320,10080"`
	AppliedTags        []discord.TagID    `json:"applied_tags,omitempty" jsonschema:"post: its tags by id, instead of those it has" maxItems:"5" uniqueItems:"true"`
	Type               int                `json:"type,omitempty" jsonschema:"0 text or 5 announcement; other kinds cannot change" enum:"0,5"`
	Position           int                `json:"position,omitempty" jsonschema:"order in the list" minimum:"0"`
	Topic              *string            `json:"topic,omitempty" jsonschema:"topic; guidelines in forums, elsewhere 1024 characters" maxLength:"4096"`
	NSFW               bool               `json:"nsfw,omitempty" jsonschema:"age-restricted"`
	RateLimitPerUser   *int               `json:"rate_limit_per_user,omitempty" jsonschema:"slow mode in seconds" minimum:"0" maximum:"21600"`
	Bitrate            int                `json:"bitrate,omitempty" jsonschema:"of a voice channel" minimum:"8000"`
	UserLimit          *int               `json:"user_limit,omitempty" jsonschema:"0 for none; 99 in voice, 10000 on stages" minimum:"0" maximum:"10000"`
	Overwrites         []overwriteInput   `json:"permission_overwrites,omitempty" jsonschema:"instead of all that there are; sets are decimal strings" maxItems:"100"`
	ParentID           *discord.ChannelID `json:"parent_id,omitempty" jsonschema:"category; null for none"`
	RTCRegion          *string            `json:"rtc_region,omitempty" jsonschema:"voice region; null is automatic"`
	VideoQuality       int                `json:"video_quality_mode,omitempty" jsonschema:"1 auto, 2 full" enum:"1,2"`
	DefaultArchive     *int               `json:"default_auto_archive_duration,omitempty" jsonschema:"minutes until new threads are archived" enum:"60,1440,4320,10080"`
	Flags              int                `json:"flags,omitempty" jsonschema:"all flags: 2 pins a post, 16 demands a tag on posts, 32768 hides downloads" minimum:"0"`
	AvailableTags      []tagChange        `json:"available_tags,omitempty" jsonschema:"all tags of a forum, kept ones with id" maxItems:"20"`
	RemoveTags         []discord.TagID    `json:"remove_available_tag_ids,omitempty" in:"local" jsonschema:"tags that available_tags leaves out, to show that it is meant" maxItems:"20" uniqueItems:"true"`
	Reaction           *emojiInput        `json:"default_reaction_emoji,omitempty" jsonschema:"offered on posts; null for none"`
	ThreadRateLimit    int                `json:"default_thread_rate_limit_per_user,omitempty" jsonschema:"slow mode of new threads in seconds" minimum:"0" maximum:"21600"`
	DefaultSortOrder   *int               `json:"default_sort_order,omitempty" jsonschema:"posts by 0 latest activity, 1 creation" enum:"0,1"`
	DefaultForumLayout int                `json:"default_forum_layout,omitempty" jsonschema:"0 unset, 1 list, 2 gallery" enum:"0,1,2"`
	DefaultTagSetting  string             `json:"default_tag_setting,omitempty" jsonschema:"of several tags picked, a post needs all or some" enum:"match_all,match_some"`
	auditReason
}

// The arguments of channels_modify that only threads, or only other channels,
// have.
var (
	ofThreads  = []string{"archived", "locked", "invitable", "auto_archive_duration", "applied_tags"}
	ofChannels = []string{
		"type", "position", "topic", "nsfw", "permission_overwrites", "parent_id", "default_auto_archive_duration", "available_tags",
		"default_reaction_emoji", "default_thread_rate_limit_per_user", "default_sort_order", "default_forum_layout", "default_tag_setting",
	}
)

// kindRule refuses a mixture of which Discord would ignore one half.
var kindRule = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	thread := slices.IndexFunc(ofThreads, call.Has)
	channel := slices.IndexFunc(ofChannels, call.Has)
	if thread < 0 || channel < 0 {
		return nil
	}
	return contradiction(ofChannels[channel], "is of channels, and %s of threads; leave out what does not fit the target", ofThreads[thread])
}}

// forumRule refuses a forum's settings on what will not be a forum.
var forumRule = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	if t, _ := argument[discord.ChannelType](call, "type"); t.HoldsPosts() {
		return nil
	}
	for _, name := range []string{"available_tags", "default_reaction_emoji", "default_sort_order", "default_forum_layout", "default_tag_setting"} {
		if call.Has(name) {
			return contradiction(name, "needs type 15 (forum) or 16 (media)")
		}
	}
	return nil
}}

// overwritesRule refuses overwrites that contradict themselves or each other.
var overwritesRule = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	list, _ := argument[[]overwriteInput](call, "permission_overwrites")
	seen := map[discord.OverwriteID]bool{}
	for i, o := range list {
		at := fmt.Sprintf("permission_overwrites.%d", i)
		if seen[o.ID] {
			return contradiction(at+".id", "stands twice; a role or member has one overwrite")
		}
		seen[o.ID] = true
		if issue := overlap(at+".deny", o.Allow, o.Deny); issue != nil {
			return issue
		}
	}
	return nil
}}

// allowDenyRule is [overwritesRule] for a single overwrite.
var allowDenyRule = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	return overlap("deny", discord.PermissionSet(call.Text("allow")), discord.PermissionSet(call.Text("deny")))
}}

func overlap(path string, allow, deny discord.PermissionSet) *mcpcore.Issue {
	both := allow.Overlap(deny)
	if len(both) == 0 {
		return nil
	}
	return contradiction(path, "%s is in allow and in deny; leave it in one", strings.Join(both, ", "))
}

const oneEmoji = "excludes emoji_id; give one of them"

// tagsRule refuses tags with two emojis, an id that stands twice, and a tag that
// is both kept and removed.
var tagsRule = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	list, _ := argument[[]tagChange](call, "available_tags")
	gone, _ := argument[[]discord.TagID](call, "remove_available_tag_ids")
	seen := map[discord.TagID]bool{}
	for i, t := range list {
		at := fmt.Sprintf("available_tags.%d", i)
		switch {
		case t.both():
			return contradiction(at+".emoji_name", oneEmoji)
		case t.ID != "" && seen[t.ID]:
			return contradiction(at+".id", "stands twice")
		case t.ID != "" && slices.Contains(gone, t.ID):
			return contradiction(at+".id", "is in remove_available_tag_ids as well; keep the tag or remove it")
		}
		seen[t.ID] = true
	}
	return nil
}}

var reactionRule = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	if e, _ := argument[emojiInput](call, "default_reaction_emoji"); e.both() {
		return contradiction("default_reaction_emoji.emoji_name", oneEmoji)
	}
	return nil
}}

// overwriteRef is a permission overwrite of a channel.
type overwriteRef struct {
	ChannelID   discord.ChannelID   `json:"channel_id" jsonschema:"channel, not a thread"`
	OverwriteID discord.OverwriteID `json:"overwrite_id" jsonschema:"role or member"`
}

// overwriteTarget is an overwriteRef with a reason for the audit log.
type overwriteTarget struct {
	overwriteRef
	auditReason
}

type overwritePut struct {
	overwriteRef
	Type  int                   `json:"type" jsonschema:"what overwrite_id is: 0 role, 1 member" enum:"0,1"`
	Allow discord.PermissionSet `json:"allow,omitempty" jsonschema:"permission bits as a decimal string; none when left out"`
	Deny  discord.PermissionSet `json:"deny,omitempty" jsonschema:"permission bits as a decimal string; none when left out"`
	auditReason
}

type channelsFollow struct {
	ChannelID        discord.ChannelID `json:"channel_id" jsonschema:"announcement channel"`
	WebhookChannelID discord.ChannelID `json:"webhook_channel_id" jsonschema:"channel to post to"`
	auditReason
}

type channelsList struct {
	guildRef
	Type     *int              `json:"type,omitempty" in:"local" jsonschema:"only this type: 0 text, 2 voice, 4 category, 5 announcement, 13 stage, 15 forum, 16 media" enum:"0,2,4,5,13,15,16"`
	ParentID discord.ChannelID `json:"parent_id,omitempty" in:"local" jsonschema:"only channels of this category"`
	offset
}

type threadsActive struct {
	guildRef
	ParentID discord.ChannelID `json:"parent_id,omitempty" in:"local" jsonschema:"only threads of this channel, or posts of this forum"`
	offset
}

type threadsArchived struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel or forum"`
	Before    string            `json:"before,omitempty" jsonschema:"only archived before this time" format:"date-time"`
	Limit     int               `json:"limit,omitempty" jsonschema:"how many" minimum:"2" maximum:"100"`
}

type threadsJoined struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel"`
	Before    discord.Snowflake `json:"before,omitempty" jsonschema:"only threads older than this id"`
	Limit     int               `json:"limit,omitempty" jsonschema:"how many" minimum:"2" maximum:"100"`
}
