package workflows

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type forumPost struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"forum"`
	newThread
	Content string           `json:"content" jsonschema:"text of the first message" minLength:"1" maxLength:"2000"`
	Tags    []discord.TagID  `json:"tagIds,omitempty" jsonschema:"tags of the forum" maxItems:"5" uniqueItems:"true"`
	Notify  []discord.UserID `json:"mentionUserIds,omitempty" jsonschema:"users to notify, each of whom the text mentions as <@id>; nobody else is" maxItems:"25" uniqueItems:"true"`
	reason
}

type forumPostState struct {
	placeSeen
	Wanted  newThread        `json:"wanted"`
	Content string           `json:"content"`
	Tags    []forumTag       `json:"tags"`
	Demands bool             `json:"requiresTag"`
	Notify  []discord.UserID `json:"notifies"`
}

type forumPostBody struct {
	newThreadBody
	Tags    []discord.TagID `json:"applied_tags,omitempty"`
	Message forumPostText   `json:"message"`
}

type forumPostText struct {
	Content  string          `json:"content"`
	Mentions allowedMentions `json:"allowed_mentions"`
}

// postedThread is a post of a forum: a thread with tags.
type postedThread struct {
	thread
	Tags []discord.TagID `json:"applied_tags"`
}

// forumPosting starts a post in a forum.
func forumPosting(rest discordtools.REST, paced *pace) mcpcore.Workflow {
	return change[forumPost, forumPostState]{
		Name: "forum-post", Category: "forum-posts", Title: "Start a forum post",
		Doc: `Starts a post in a forum, not in a media channel: a title, a plain text and up to 5 of the forum's tags, without files and
			embeds. It notifies the listed users alone.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ReadMessageHistory | discord.SendMessages,
		Scopes: []mcpcore.PolicyScope{
			{Name: "channels", Arg: "channelId", Doc: "forums to post into"},
			{Name: "mentionUsers", Arg: "mentionUserIds", Doc: "users whom a post may notify"},
		},
		Rules: []mcpcore.Rule{newThreadRule, {Check: func(c *mcpcore.Call) *mcpcore.Issue {
			if strings.TrimSpace(c.Text("content")) == "" {
				return issue("content", "is empty")
			}
			return nil
		}}},
		Redact: []string{"content"},
		Reads:  append(slices.Clone(placeRoutes), routeMessage), Write: []string{routeThreadStart},
		Paced: posts(paced, func(in forumPost, _ forumPostState) discord.ChannelID { return in.ChannelID }),
		Plan:  planForumPost,
		Targets: func(in forumPost, _ forumPostState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID)}
		},
		Apply: func(ctx context.Context, w *write, in forumPost, s forumPostState) (done mcpcore.Written, err error) {
			var made postedThread
			text := forumPostText{s.Content, notifies(s.Notify)}
			if err := w.send(ctx, routeThreadStart, inChannel(in.ChannelID), forumPostBody{s.Wanted.body(), in.Tags, text}, &made); err != nil {
				return done, err
			}
			if done.ID, err = id(made.ID); err == nil {
				err = made.started(s.Permission.Bot, s.placeSeen, discord.PublicThread)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in forumPost, s forumPostState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			var t postedThread
			post := discord.ChannelID(w.ID)
			if err := r.get(ctx, routeChannel, inChannel(post), &t); err != nil {
				return found, err
			}
			if err := t.of(s.Guild.ID, post); err != nil {
				return found, err
			}
			if err := t.started(s.Permission.Bot, s.placeSeen, discord.PublicThread); err != nil {
				return found, err
			}
			m, err := r.message(ctx, post, discord.MessageID(post))
			if err == nil && !m.wroteIt(s.Permission.Bot) {
				err = errors.New("the bot did not write what the post starts with")
			}
			return mcpcore.Reading{Drift: s.compare(t, m)}, err
		},
	}.on(rest)
}

// compare names what of a post and its first message differs.
func (s *forumPostState) compare(t postedThread, m message) (d drift) {
	s.Wanted.compare(t.thread, &d)
	same := len(t.Tags) == len(s.Tags)
	for _, tag := range s.Tags {
		same = same && slices.Contains(t.Tags, tag.ID)
	}
	d.unless(same, "tags")
	d.unless(m.Content == s.Content && len(m.Attachments)+len(m.Components)+len(m.Stickers) == 0 && m.Poll == nil, "content")
	d.unless(m.mentionsOnly(s.Notify), "mentions")
	return d
}

func planForumPost(ctx context.Context, r *reads, in forumPost) (plan mcpcore.Change[forumPostState], err error) {
	f, err := r.forum(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if f.kind != discord.GuildForum {
		return plan, refused("no-forum", "%s, a %s, is no forum", in.ChannelID, f.kind)
	}
	if err := f.needs(discord.ViewChannel | discord.ReadMessageHistory | discord.SendMessages); err != nil {
		return plan, err
	}
	s := forumPostState{
		placeSeen: f.placeSeen, Wanted: in.newThread.tidy(), Content: strings.TrimSpace(in.Content), Tags: []forumTag{}, Demands: f.demands,
		Notify: slices.Sorted(slices.Values(in.Notify)),
	}
	plan = mcpcore.Change[forumPostState]{Action: "create", Facts: append(mcpcore.Facts{
		{Name: "guild", Value: s.Guild.Name}, {Name: "forum", Value: s.Channel.Name}, {Name: "title", Value: s.Wanted.Name}, {Name: "text", Value: s.Content},
	}, s.Wanted.facts()...)}
	for _, user := range s.Notify {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "notifies", Value: string(user)})
	}
	for _, id := range in.Tags {
		tag, there := tagOf(f.tags, id)
		if !there {
			return plan, refused("tag-missing", "the forum has no tag %s", id)
		}
		if tag.Moderated {
			if err := f.needs(discord.ManageThreads); err != nil {
				return plan, err
			}
		}
		s.Tags = append(s.Tags, tag)
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "tag", Value: tag.Name})
	}
	if s.Demands && len(s.Tags) == 0 {
		return plan, refused("tag-required", "the forum wants a tag on each post")
	}
	plan.State = s
	return plan, mentioned(s.Notify, s.Content)
}
