package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// flagRequireTag is set on a forum whose posts need a tag.
const flagRequireTag = 1 << 4

// forumTag is a tag that posts of a forum can carry.
type forumTag struct {
	ID        discord.TagID    `json:"id,omitempty"`
	Name      string           `json:"name"`
	Moderated bool             `json:"moderated"`
	EmojiID   *discord.EmojiID `json:"emoji_id"`
	EmojiName *string          `json:"emoji_name"`
}

// emoji is the tag's emoji, the id of one of the guild's or a Unicode one.
func (t forumTag) emoji() string {
	switch {
	case t.EmojiID != nil:
		return string(*t.EmojiID)
	case t.EmojiName != nil:
		return *t.EmojiName
	}
	return ""
}

// like reports whether two tags are the same to people.
func (t forumTag) like(other forumTag) bool {
	return t.Name == other.Name && t.Moderated == other.Moderated && t.emoji() == other.emoji()
}

// forum is a forum or media channel with its tags, in their order.
type forum struct {
	place
	tags    []forumTag
	unknown bool // there is more of them than is known here, which a change would lose
	demands bool // a tag on each post
}

// forum reads a forum and the bot's standing.
func (r *reads) forum(ctx context.Context, id discord.ChannelID) (f forum, err error) {
	if f.place, err = r.place(ctx, id); err != nil {
		return f, err
	}
	if !f.kind.HoldsPosts() {
		return f, refused("no-forum", "%s, a %s, is no forum", id, f.kind)
	}
	var c forumWire
	if err := r.get(ctx, routeChannel, inChannel(id), &c); err != nil {
		return f, err
	}
	f.demands = c.Flags&flagRequireTag != 0
	f.tags, f.unknown, err = c.tags(f.Guild.ID, id)
	return f, err
}

// forumWire is a forum as Discord tells it.
type forumWire struct {
	channel
	Flags int             `json:"flags"`
	Tags  json.RawMessage `json:"available_tags"`
}

// tags are the forum's tags, and whether they have fields that are unknown here.
func (c *forumWire) tags(guild discord.GuildID, id discord.ChannelID) (tags []forumTag, unknown bool, err error) {
	if err := c.of(guild, id); err != nil {
		return nil, false, err
	}
	nameless := func(t forumTag) bool { return t.ID == "" || t.Name == "" }
	if err := json.Unmarshal(c.Tags, &tags); err != nil || tags == nil || slices.ContainsFunc(tags, nameless) {
		return nil, false, incomplete("the tags of the forum")
	}
	strict := json.NewDecoder(bytes.NewReader(c.Tags))
	strict.DisallowUnknownFields()
	return tags, strict.Decode(new([]forumTag)) != nil, nil
}

// tagOf is the tag with an id.
func tagOf(all []forumTag, id discord.TagID) (forumTag, bool) {
	i := slices.IndexFunc(all, func(t forumTag) bool { return t.ID == id })
	if i < 0 {
		return forumTag{}, false
	}
	return all[i], true
}
