package workflows

import (
	"bytes"
	"context"
	"encoding/json"

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

// forum is a forum or media channel with its tags, in their order.
type forum struct {
	place
	tags    []forumTag
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
	var c struct {
		channel
		Flags int             `json:"flags"`
		Tags  json.RawMessage `json:"available_tags"`
	}
	if err := r.get(ctx, routeChannel, inChannel(id), &c); err != nil {
		return f, err
	}
	if err := c.of(f.Guild.ID, id); err != nil {
		return f, err
	}
	f.demands = c.Flags&flagRequireTag != 0
	f.tags, err = forumTags(c.Tags)
	return f, err
}

// forumTags reads tags, of which all must be known: what is not, a change would
// lose.
func forumTags(raw json.RawMessage) (tags []forumTag, err error) {
	all := json.NewDecoder(bytes.NewReader(raw))
	all.DisallowUnknownFields()
	if err := all.Decode(&tags); err != nil || tags == nil {
		return nil, incomplete("the tags of the forum")
	}
	for _, t := range tags {
		if t.ID == "" || t.Name == "" {
			return nil, incomplete("the tags of the forum")
		}
	}
	return tags, nil
}

// tagOf is the tag with an id.
func tagOf(all []forumTag, id discord.TagID) (forumTag, bool) {
	for _, t := range all {
		if t.ID == id {
			return t, true
		}
	}
	return forumTag{}, false
}
