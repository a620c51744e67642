package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// forumTagsMost is how many tags a forum has at most.
//
// Source: https://docs.discord.com/developers/resources/channel#channel-object-channel-structure.
const forumTagsMost = 20

type forumTagChange struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"forum or media channel"`
	Action    string            `json:"action" jsonschema:"what is done to one tag" enum:"create,update-metadata,delete"`
	TagID     discord.TagID     `json:"tagId,omitempty" jsonschema:"update-metadata, delete: the tag"`
	Name      string            `json:"name,omitempty" jsonschema:"its name; create needs it" minLength:"1" maxLength:"20"`
	Moderated bool              `json:"moderated,omitempty" jsonschema:"whether only who may MANAGE_THREADS sets and removes it"`
	Emoji     string            `json:"emoji,omitempty" jsonschema:"a Unicode emoji or the id of one of the guild's; an empty text for none" maxLength:"64"`
	reason
}

type forumTagState struct {
	placeSeen
	Tags     []forumTag    `json:"tags" jsonschema:"as they are"`
	Wanted   []forumTag    `json:"wanted" jsonschema:"as they will be, in this order"`
	Existing discord.TagID `json:"existingTag,omitempty"`
	Changed  []string      `json:"changed,omitempty"`
}

type forumTagBody struct {
	Tags []forumTag `json:"available_tags"`
}

type forumTagAudit struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"forum or media channel"`
}

type forumTagInventory struct {
	placeSeen
	Tags    []forumTag `json:"tags" jsonschema:"in their order"`
	Limit   int        `json:"limit" jsonschema:"how many there can be"`
	Demands bool       `json:"requiresTag" jsonschema:"whether each post needs one"`
	Unknown bool       `json:"unknownFields" jsonschema:"whether they have fields that are unknown here, which blocks changes"`
	May     bool       `json:"mayChange" jsonschema:"whether the bot may change them"`
}

const forumTagNeeds = discord.ViewChannel | discord.ManageChannels

// forumTagging changes one tag of a forum and keeps all others.
func forumTagging(rest discordtools.REST) mcpcore.Workflow {
	return change[forumTagChange, forumTagState]{
		Name: "forum-tag-change", Category: "forum-tags", Title: "Change a forum's tags",
		Doc: `Creates, changes or deletes one tag of a forum or media channel. All others stay, in their order. A new tag that is there
			already as it is wanted is left. How many posts carry a tag that is deleted is not counted: they lose it.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ChannelScope, Needs: forumTagNeeds,
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "forums whose tags may be changed"}},
		Rules:  []mcpcore.Rule{{Check: forumTagRule}},
		Audits: []mcpcore.Tool{companion(rest, mcpcore.Tool{
			Name: "audit_forum_tags", Title: "Look at a forum's tags", Category: "forum-tags",
			Doc:   "Tells a forum's tags in their order, how many there can be, and whether the bot may change them. Posts are not counted.",
			Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel, Routes: placeRoutes,
		}, func(ctx context.Context, r *reads, in forumTagAudit) (forumTagInventory, error) {
			f, err := r.forum(ctx, in.ChannelID)
			if err == nil {
				err = f.needs(discord.ViewChannel)
			}
			return forumTagInventory{f.placeSeen, f.tags, forumTagsMost, f.demands, f.unknown, f.may.Has(forumTagNeeds)}, err
		})},
		Reads: append(slices.Clone(placeRoutes), expressionKinds["emoji"].list), Write: []string{routeChannelEdit},
		Plan: planForumTag,
		Targets: func(in forumTagChange, s forumTagState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), all("channels", s.Guild.ID)}
		},
		Apply: func(ctx context.Context, w *write, in forumTagChange, s forumTagState) (mcpcore.Written, error) {
			var answer forumWire
			done := mcpcore.Written{ID: string(in.TagID)}
			if err := w.send(ctx, routeChannelEdit, inChannel(in.ChannelID), forumTagBody{s.Wanted}, &answer); err != nil {
				return done, err
			}
			tags, _, err := answer.tags(s.Guild.ID, in.ChannelID)
			if err != nil {
				return done, err
			}
			made, err := s.are(tags)
			if in.TagID == "" {
				done.ID = string(made)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in forumTagChange, s forumTagState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			f, err := r.forum(ctx, in.ChannelID)
			if err != nil {
				return found, err
			}
			id := discord.TagID(w.ID)
			now, there := tagOf(f.tags, id)
			if wanted, wants := s.wanted(id); there != wants || there && !now.like(wanted) {
				return found, errors.New("the tag is not as it was changed")
			}
			made, others := s.are(f.tags)
			var d drift
			d.unless(others == nil && (made == "" || made == id), "tags")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// forumTagRule holds each action to its arguments.
func forumTagRule(c *mcpcore.Call) *mcpcore.Issue {
	action := c.Text("action")
	set := c.Has("name") || c.Has("moderated") || c.Has("emoji")
	switch {
	case (action == "create") == c.Has("tagId"):
		return issue("tagId", "is needed to change or delete a tag, and not to create one")
	case action == "create" && !c.Has("name"), c.Has("name") && strings.TrimSpace(c.Text("name")) == "":
		return issue("name", "is empty; a tag needs one")
	case set == (action == "delete"):
		return issue("action", "takes name, moderated or emoji, one at least; delete takes none of them")
	}
	return nil
}

// onto is a tag with what was given.
func (in *forumTagChange) onto(t forumTag, given func(string) bool) forumTag {
	if given("name") {
		t.Name = strings.TrimSpace(in.Name)
	}
	if given("moderated") {
		t.Moderated = in.Moderated
	}
	if given("emoji") {
		t.EmojiID, t.EmojiName = nil, nil
		if id := discord.EmojiID(in.Emoji); discord.CheckID(in.Emoji) == nil {
			t.EmojiID = &id
		} else if in.Emoji != "" {
			t.EmojiName = &in.Emoji
		}
	}
	return t
}

// are checks tags against those that are wanted: all of them, in their order. made
// is the id of the new one.
func (s *forumTagState) are(tags []forumTag) (made discord.TagID, err error) {
	same := len(tags) == len(s.Wanted)
	for i := range min(len(tags), len(s.Wanted)) {
		wanted := s.Wanted[i]
		same = same && tags[i].like(wanted)
		if _, old := tagOf(s.Tags, tags[i].ID); wanted.ID == "" && !old {
			made = tags[i].ID
			continue
		}
		same = same && tags[i].ID == wanted.ID
	}
	if !same {
		return made, errors.New("the tags of the forum are not as they were to be")
	}
	return made, nil
}

// wanted is how the tag that was changed is wanted, if it is: a new one has no id
// among those.
func (s *forumTagState) wanted(id discord.TagID) (forumTag, bool) {
	if _, old := tagOf(s.Tags, id); !old {
		id = ""
	}
	return tagOf(s.Wanted, id)
}

func planForumTag(ctx context.Context, r *reads, in forumTagChange) (plan mcpcore.Change[forumTagState], err error) {
	f, err := r.forum(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if err := f.needs(forumTagNeeds); err != nil {
		return plan, err
	}
	if f.unknown {
		return plan, refused("unknown-tag-field", "the tags have fields that this server does not know, and would lose")
	}
	s := forumTagState{placeSeen: f.placeSeen, Tags: f.tags, Wanted: slices.Clone(f.tags)}
	i := slices.IndexFunc(f.tags, func(t forumTag) bool { return t.ID == in.TagID })
	if i < 0 && in.TagID != "" {
		return plan, refused("tag-missing", "the forum has no tag %s", in.TagID)
	}
	plan = mcpcore.Change[forumTagState]{Action: in.Action, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "forum", Value: s.Channel.Name}}}
	switch in.Action {
	case "delete":
		s.Wanted = slices.Delete(s.Wanted, i, i+1)
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "tag", Value: f.tags[i].Name})
		plan.Risks, plan.Warnings = []string{"irreversible"}, []string{"How many posts carry the tag is not counted. They lose it."}
	case "update-metadata":
		was, is := f.tags[i], in.onto(f.tags[i], r.Call.Has)
		s.Wanted[i] = is
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "tag", Value: was.Name})
		s.Changed = setting(&plan, field{"name", was.Name, is.Name},
			field{"moderated", fmt.Sprint(was.Moderated), fmt.Sprint(is.Moderated)}, field{"emoji", was.emoji(), is.emoji()})
		err = r.tagFits(ctx, &f, is)
	default:
		tag, alike := in.onto(forumTag{}, r.Call.Has), []discord.TagID(nil)
		for _, t := range f.tags {
			if t.like(tag) {
				alike = append(alike, t.ID)
			}
		}
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "creates", Value: strings.TrimSpace(tag.Name + " " + tag.emoji())},
			mcpcore.Fact{Name: "moderated", Value: fmt.Sprint(tag.Moderated)})
		if s.Existing, err = joining(&plan, "tags", alike, len(f.tags), forumTagsMost); err == nil && !plan.Current {
			s.Wanted = append(s.Wanted, tag)
			err = r.tagFits(ctx, &f, tag)
		}
	}
	plan.State = s
	return plan, err
}

// tagFits refuses a tag whose name another bears, and one with an emoji that the
// guild does not have.
func (r *reads) tagFits(ctx context.Context, f *forum, tag forumTag) error {
	for _, t := range f.tags {
		if t.Name == tag.Name && t.ID != tag.ID {
			return refused("name-taken", "the forum has another tag of that name")
		}
	}
	if tag.EmojiID == nil {
		return nil
	}
	emojis, err := r.expressions(ctx, "emoji", f.Guild.ID)
	if err != nil {
		return err
	}
	if one, _ := pickExpression(emojis, discord.Snowflake(*tag.EmojiID)); one == nil {
		return refused("emoji-missing", "the guild has no emoji %s", *tag.EmojiID)
	}
	return nil
}
