package sandbox

import (
	"encoding/json"
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// templateGuild is what a template holds of its guild. Roles and channels have
// small numbers instead of ids, counted within the snapshot.
type templateGuild struct {
	Name          string            `json:"name"`
	Description   *string           `json:"description"`
	Region        *string           `json:"region"`
	Verification  int               `json:"verification_level"`
	Notifications int               `json:"default_message_notifications"`
	ContentFilter int               `json:"explicit_content_filter"`
	Locale        string            `json:"preferred_locale"`
	AFKChannel    *string           `json:"afk_channel_id"`
	AFKTimeout    int               `json:"afk_timeout"`
	SystemChannel *string           `json:"system_channel_id"`
	SystemFlags   int               `json:"system_channel_flags"`
	Roles         []snapshotRole    `json:"roles"`
	Channels      []snapshotChannel `json:"channels"`
}

type snapshotRole struct {
	ID          int        `json:"id"`
	Name        string     `json:"name"`
	Permissions string     `json:"permissions"`
	Color       int        `json:"color"`
	Colors      roleColors `json:"colors"`
	Hoist       bool       `json:"hoist"`
	Mentionable bool       `json:"mentionable"`
	Icon        *string    `json:"icon"`
	Emoji       *string    `json:"unicode_emoji"`
}

type snapshotChannel struct {
	ID            int                 `json:"id"`
	Type          discord.ChannelType `json:"type"`
	Name          string              `json:"name"`
	Position      int                 `json:"position"`
	Topic         *string             `json:"topic"`
	Bitrate       int                 `json:"bitrate"`
	UserLimit     int                 `json:"user_limit"`
	NSFW          bool                `json:"nsfw"`
	SlowMode      int                 `json:"rate_limit_per_user"`
	Parent        *string             `json:"parent_id"`
	ThreadArchive *int                `json:"default_auto_archive_duration"`
	Overwrites    []overwriteView     `json:"permission_overwrites"`
	Tags          []snapshotTag       `json:"available_tags"` // null is none
	Template      string              `json:"template"`
	Reaction      *reactionView       `json:"default_reaction_emoji"`
	ThreadSlow    *int                `json:"default_thread_rate_limit_per_user"`
	SortOrder     *int                `json:"default_sort_order"`
	Layout        *int                `json:"default_forum_layout"`
	TagSetting    *string             `json:"default_tag_setting"`
	Theme         *int                `json:"theme_color"`
}

type snapshotTag struct {
	ID        *int             `json:"id"`
	Name      string           `json:"name"`
	EmojiID   *discord.EmojiID `json:"emoji_id"`
	EmojiName *string          `json:"emoji_name"`
	Moderated bool             `json:"moderated"`
}

// templated reports whether templates have channels of this type.
func templated(t discord.ChannelType) bool {
	switch t {
	case discord.GuildText, discord.GuildVoice, discord.GuildCategory, discord.GuildForum:
		return true
	}
	return false
}

// snapshot is what a template of the guild would hold now: no managed roles, no
// overwrites of members.
func (w *world) snapshot(g *guild) json.RawMessage {
	s := templateGuild{
		Name: g.Name, Description: textOrNull(g.Description), Verification: g.Verification, Notifications: g.Notifications,
		ContentFilter: g.ContentFilter, Locale: g.Locale, AFKTimeout: orDefault(g.AFKTimeout, 300), SystemFlags: g.SystemFlags,
		Roles: []snapshotRole{}, Channels: []snapshotChannel{},
	}
	if s.Locale == "" {
		s.Locale = "en-US"
	}
	roles := map[discord.OverwriteID]string{}
	for _, r := range g.rolesByRank() {
		if r.Managed {
			continue
		}
		n := len(s.Roles)
		roles[discord.OverwriteID(r.ID)] = strconv.Itoa(n)
		s.Roles = append(s.Roles, snapshotRole{
			ID: n, Name: r.Name, Permissions: bits(r.Permissions), Color: r.Color, Colors: roleColors{r.Color, r.Secondary, r.Tertiary},
			Hoist: r.Hoist, Mentionable: r.Mentionable, Emoji: textOrNull(r.UnicodeEmoji),
		})
	}
	var channels []*channel
	numbers := map[discord.ChannelID]*string{}
	for _, c := range w.guildChannels(g.ID) {
		if templated(c.Type) {
			channels = append(channels, c)
			n := strconv.Itoa(len(channels))
			numbers[c.ID] = &n
		}
	}
	for i, c := range channels {
		s.Channels = append(s.Channels, snapshotOf(c, i+1, numbers[c.Parent], roles))
	}
	s.AFKChannel, s.SystemChannel = numbers[g.AFKChannel], numbers[g.SystemChannel]
	b, err := json.Marshal(s)
	if err != nil {
		panic("sandbox: " + err.Error())
	}
	return b
}

func snapshotOf(c *channel, n int, parent *string, roles map[discord.OverwriteID]string) snapshotChannel {
	v := snapshotChannel{
		ID: n, Type: c.Type, Name: c.Name, Position: c.Position, Topic: textOrNull(c.Topic), Bitrate: orDefault(c.Bitrate, 64_000),
		UserLimit: c.UserLimit, NSFW: c.NSFW, SlowMode: c.SlowMode, Parent: parent, Overwrites: []overwriteView{},
	}
	for _, o := range c.Overwrites {
		if number, there := roles[o.ID]; there && o.Type == discord.OverwriteRole {
			v.Overwrites = append(v.Overwrites, overwriteView{discord.OverwriteID(number), o.Type, bits(o.Allow), bits(o.Deny)})
		}
	}
	if c.ThreadArchive != 0 {
		v.ThreadArchive = &c.ThreadArchive
	}
	if c.Type == discord.GuildForum {
		f := viewForum(c)
		v.Tags, v.Reaction, v.SortOrder, v.Layout, v.ThreadSlow = []snapshotTag{}, f.Reaction, f.SortOrder, &f.Layout, &c.ThreadSlowMode
		v.TagSetting = textOrNull(c.TagSetting)
		for i, t := range f.Tags {
			v.Tags = append(v.Tags, snapshotTag{&i, t.Name, t.EmojiID, t.EmojiName, t.Moderated})
		}
	}
	return v
}
