package discordtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// taggedChannel is what a change of tags is checked against.
type taggedChannel struct {
	Type discord.ChannelType `json:"type"`
	tagFields
}

// modifyChannel sends the change. A change of tags is checked against the
// channel before, and read back after.
func modifyChannel(ctx context.Context, a *api, in channelsModify) (v channelModified, err error) {
	tags := a.call.Has("available_tags") || a.call.Has("applied_tags")
	var before taggedChannel
	if tags {
		if err := a.do(ctx, routeChannel, sub{}, &before); err != nil {
			return v, err
		}
		if issues := before.refuse(a.call, in); len(issues) > 0 {
			return v, mcpcore.Invalid(issues...)
		}
	}
	reply, err := a.send(ctx)
	if err != nil {
		return v, archivedHint(err)
	}
	if err := a.project(reply, &v); err != nil {
		return v, err
	}
	if tags {
		err = a.verifyTags(ctx, in, before)
		v.TagsVerified = err == nil
	}
	return v, err
}

// archivedHint says how a thread that is archived can be changed.
func archivedHint(err error) error {
	if e, ok := errors.AsType[*mcpcore.Error](err); ok && e.Fields["discord_code"] == 50083 {
		return e.WithHint("The thread is archived. If its members may see it reopened, send archived: false in the same call; archive it again afterwards.")
	}
	return err
}

// refuse says what is wrong with a change of the channel's tags.
func (c taggedChannel) refuse(call *mcpcore.Call, in channelsModify) (issues []mcpcore.Issue) {
	wrong := func(path, format string, args ...any) { issues = append(issues, *contradiction(path, format, args...)) }
	if call.Has("applied_tags") {
		if !c.Type.IsThread() {
			wrong("applied_tags", "belong to a post, this is a %s; its own tags are available_tags", c.Type)
		}
		return issues
	}
	if !c.Type.HoldsPosts() {
		wrong("available_tags", "belong to a forum or media channel, this is a %s", c.Type)
		return issues
	}
	var kept, lost []discord.TagID
	for i, t := range in.AvailableTags {
		if t.ID != "" && !c.offers(t.ID) {
			wrong(fmt.Sprintf("available_tags.%d.id", i), "is no tag of this channel; leave the id out for a new tag")
		}
		kept = append(kept, t.ID)
	}
	for i, id := range in.RemoveTags {
		if !c.offers(id) {
			wrong(fmt.Sprintf("remove_available_tag_ids.%d", i), "is no tag of this channel")
		}
	}
	for _, t := range c.AvailableTags {
		if !slices.Contains(kept, t.ID) && !slices.Contains(in.RemoveTags, t.ID) {
			lost = append(lost, t.ID)
		}
	}
	if len(lost) > 0 {
		wrong("available_tags", "would drop existing tags: %s; list them with their ids, or name them in remove_available_tag_ids", joinIDs(lost))
	}
	return issues
}

func (c taggedChannel) offers(id discord.TagID) bool {
	return slices.ContainsFunc(c.AvailableTags, func(t tagView) bool { return t.ID == id })
}

func joinIDs[T ~string](ids []T) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = string(id)
	}
	return strings.Join(all, ", ")
}

// verifyTags reads the channel back and compares its tags with those asked for.
func (a *api) verifyTags(ctx context.Context, in channelsModify, before taggedChannel) error {
	failed := func(format string, args ...any) error {
		return mcpcore.Errorf(mcpcore.CodeTagVerification, format, args...).
			With("channel_id", string(in.ChannelID)).With("patch_succeeded", true)
	}
	var after taggedChannel
	if err := a.do(ctx, routeChannel, sub{}, &after); err != nil {
		return failed("the channel was changed, but its tags could not be read back: %w", err)
	}
	asked := statedTags(a.call)
	if a.call.Has("applied_tags") && !sameIDs(in.AppliedTags, after.AppliedTags) || asked != nil && !after.match(asked, before) {
		return failed("the channel was changed, but its tags are not those asked for")
	}
	return nil
}

func sameIDs(a, b []discord.TagID) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// statedTag is a tag as the caller wrote it: nil for what was left out.
type statedTag struct {
	ID        discord.TagID   `json:"id"`
	Name      string          `json:"name"`
	Moderated json.RawMessage `json:"moderated"`
	EmojiID   json.RawMessage `json:"emoji_id"`
	EmojiName json.RawMessage `json:"emoji_name"`
}

func statedTags(call *mcpcore.Call) []statedTag {
	list, ok := argument[[]statedTag](call, "available_tags")
	if ok && list == nil {
		list = []statedTag{}
	}
	return list
}

// match reports whether the channel has exactly the tags asked for. The order
// does not count, nor what was not stated of a tag.
func (c taggedChannel) match(asked []statedTag, before taggedChannel) bool {
	if len(asked) != len(c.AvailableTags) {
		return false
	}
	left := slices.Clone(c.AvailableTags)
	for _, want := range asked {
		i := slices.IndexFunc(left, func(have tagView) bool {
			known := have.ID == want.ID || want.ID == "" && !before.offers(have.ID)
			return known && want.describes(have)
		})
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func (t statedTag) describes(have tagView) bool {
	moderated := fmt.Sprint(have.Moderated)
	return strings.TrimSpace(t.Name) == have.Name &&
		(t.Moderated == nil || string(t.Moderated) == moderated || string(t.Moderated) == "null" && !have.Moderated) &&
		stated(t.EmojiID, have.EmojiID) && stated(t.EmojiName, have.EmojiName)
}

// stated reports whether an emoji is the one that was stated, if one was.
func stated[T ~string](want json.RawMessage, have *T) bool {
	if want == nil {
		return true
	}
	var text T
	if err := json.Unmarshal(want, &text); err != nil {
		return false
	}
	var is T
	if have != nil {
		is = *have
	}
	return emoji.Plain(string(text)) == emoji.Plain(string(is))
}
