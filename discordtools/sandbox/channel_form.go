package sandbox

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// channelForm is what creating and changing a guild channel take.
type channelForm struct {
	Name           opt[string]              `json:"name" minLength:"1" maxLength:"100" null:"no"`
	Type           opt[discord.ChannelType] `json:"type" enum:"0,2,4,5,13,15,16"`
	Position       opt[int]                 `json:"position" minimum:"0"`
	Topic          opt[string]              `json:"topic"`
	Bitrate        opt[int]                 `json:"bitrate" minimum:"8000"`
	UserLimit      opt[int]                 `json:"user_limit" minimum:"0"`
	NSFW           opt[bool]                `json:"nsfw"`
	SlowMode       opt[int]                 `json:"rate_limit_per_user" minimum:"0" maximum:"21600"`
	Parent         opt[discord.ChannelID]   `json:"parent_id"`
	Overwrites     opt[[]overwriteForm]     `json:"permission_overwrites" maxItems:"100"`
	Region         opt[string]              `json:"rtc_region"`
	VideoQuality   opt[int]                 `json:"video_quality_mode" enum:"1,2"`
	ThreadArchive  opt[int]                 `json:"default_auto_archive_duration" enum:"60,1440,4320,10080"`
	Reaction       opt[reactionForm]        `json:"default_reaction_emoji"`
	ThreadSlowMode opt[int]                 `json:"default_thread_rate_limit_per_user" minimum:"0" maximum:"21600"`
	SortOrder      opt[int]                 `json:"default_sort_order" enum:"0,1"`
	Layout         opt[int]                 `json:"default_forum_layout" enum:"0,1,2"`
	TagSetting     opt[string]              `json:"default_tag_setting" enum:"match_all,match_some"`
	Flags          opt[int]                 `json:"flags"`
	Tags           opt[[]tagForm]           `json:"available_tags" maxItems:"20"`
}

type reactionForm struct {
	ID   opt[discord.EmojiID] `json:"emoji_id"`
	Name opt[string]          `json:"emoji_name"`
}

type tagForm struct {
	ID        opt[discord.TagID]   `json:"id"`
	Name      string               `json:"name" minLength:"1" maxLength:"20"`
	EmojiID   opt[discord.EmojiID] `json:"emoji_id"`
	EmojiName opt[string]          `json:"emoji_name"`
	Moderated opt[bool]            `json:"moderated"`
}

// Flags of channels that can be set.
const (
	flagPinned       = 1 << 1  // a post
	flagRequireTag   = 1 << 4  // a forum
	flagHideDownload = 1 << 15 // a media channel
)

// shape applies a form to a channel whose type is settled, after checking it.
func (x *exchange) shape(g *guild, c *channel, f channelForm) error {
	if err := x.fits(g, c, f); err != nil {
		return err
	}
	f.Name.into(&c.Name)
	if isTextual(c.Type) {
		c.Name = textName(c.Name)
	}
	f.Topic.into(&c.Topic)
	f.Bitrate.into(&c.Bitrate)
	f.UserLimit.into(&c.UserLimit)
	f.NSFW.into(&c.NSFW)
	f.SlowMode.into(&c.SlowMode)
	f.Parent.into(&c.Parent)
	f.Region.into(&c.Region)
	f.VideoQuality.into(&c.VideoQuality)
	f.ThreadArchive.into(&c.ThreadArchive)
	f.ThreadSlowMode.into(&c.ThreadSlowMode)
	f.Layout.into(&c.Layout)
	f.TagSetting.into(&c.TagSetting)
	if f.SortOrder.sent {
		c.SortOrder = f.SortOrder.pointer()
	}
	if f.Flags.has() {
		c.Flags = f.Flags.value & (flagRequireTag | flagHideDownload)
	}
	if f.Reaction.sent {
		c.Reaction = nil
		if r := f.Reaction.value; r.ID.value != "" || r.Name.value != "" {
			ref, err := x.emoji(r.ID.value, r.Name.value)
			if err != nil {
				return err
			}
			c.Reaction = &ref
		}
	}
	if f.Overwrites.has() {
		c.Overwrites = nil
		for _, o := range f.Overwrites.value {
			made, err := x.overwrite(g, nil, o)
			if err != nil {
				return err
			}
			c.Overwrites = append(c.Overwrites, made)
		}
	}
	return x.tags(c, f.Tags)
}

// fits checks what depends on the kind of the channel and on its guild.
func (x *exchange) fits(g *guild, c *channel, f channelForm) error {
	var bad form
	longest := 1024
	if c.Type.HoldsPosts() {
		longest = 4096
	}
	if utf8.RuneCountInString(f.Topic.value) > longest {
		bad.add("topic", "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", longest)
	}
	if f.Parent.has() {
		parent := x.channels[f.Parent.value]
		switch {
		case parent == nil || parent.Guild != g.ID:
			bad.add("parent_id", "CHANNEL_PARENT_INVALID", "Category does not exist")
		case parent.Type != discord.GuildCategory || c.Type == discord.GuildCategory:
			bad.add("parent_id", "CHANNEL_PARENT_INVALID_TYPE", "Not a category")
		case c.Parent != parent.ID && x.children(parent.ID) >= 50:
			bad.add("parent_id", "CHANNEL_PARENT_MAX_CHANNELS", "Maximum number of channels in category reached (50)")
		}
	}
	if most := 96_000 + 32_000*[]int{0, 1, 5, 9}[min(g.PremiumTier, 3)]; f.Bitrate.value > most {
		bad.add("bitrate", "NUMBER_TYPE_MAX", "int value should be less than or equal to %d.", most)
	}
	if most := map[discord.ChannelType]int{discord.GuildVoice: 99, discord.GuildStageVoice: 10_000}[c.Type]; most > 0 && f.UserLimit.value > most {
		bad.add("user_limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to %d.", most)
	}
	switch c.Type {
	case discord.GuildAnnouncement, discord.GuildStageVoice, discord.GuildForum, discord.GuildMedia:
		if f.Type.has() && !g.has("COMMUNITY") {
			bad.add("type", "BASE_TYPE_CHOICES", "Value must be one of {0, 2, 4}.")
		}
	}
	return bad.err()
}

func (w *world) children(category discord.ChannelID) (n int) {
	for _, c := range w.channels {
		if c.Parent == category {
			n++
		}
	}
	return n
}

// tags replaces a forum's tags; one that is listed with its id keeps it.
func (x *exchange) tags(c *channel, list opt[[]tagForm]) error {
	if !list.has() {
		return nil
	}
	var made []Tag
	for i, t := range list.value {
		tag := Tag{ID: t.ID.value, Name: t.Name, Moderated: t.Moderated.value}
		known := slices.ContainsFunc(c.Tags, func(old Tag) bool { return old.ID == tag.ID })
		switch {
		case tag.ID != "" && !known:
			return invalid("available_tags."+strconv.Itoa(i)+".id", "UNKNOWN_TAG", "Unknown tag")
		case slices.ContainsFunc(made, func(other Tag) bool { return other.Name == tag.Name }):
			return badRequest(40061, "Tag names must be unique")
		}
		if t.EmojiID.value != "" || t.EmojiName.value != "" {
			ref, err := x.emoji(t.EmojiID.value, t.EmojiName.value)
			if err != nil {
				return err
			}
			tag.Emoji = &ref
		}
		if tag.ID == "" {
			tag.ID = discord.TagID(x.issue())
		}
		made = append(made, tag)
	}
	c.Tags = made
	return nil
}
