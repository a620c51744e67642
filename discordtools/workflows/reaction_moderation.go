package workflows

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeReactions      = "GET /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}"
	routeReactionsClear = "DELETE /channels/{channel_id}/messages/{message_id}/reactions"
	routeReactionsEmoji = "DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}"
	routeReactionsUser  = "DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/{user_id}"
)

type reactionRemoval struct {
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel or thread of the message"`
	MessageID discord.MessageID `json:"messageId"`
	Scope     string            `json:"scope" jsonschema:"what goes: one user's reaction with one emoji, all with one emoji, or all of the message" enum:"user,emoji,all"`
	Emoji     string            `json:"emoji,omitempty" jsonschema:"👍, or name:id of a custom emoji; for the scopes user and emoji" minLength:"1" maxLength:"128"`
	UserID    discord.UserID    `json:"userId,omitempty" jsonschema:"whose reaction; for the scope user"`
	reason
}

type reactionState struct {
	placeSeen
	Message discord.MessageID `json:"messageId"`
	Now     []reactionCount   `json:"reactions"`
	Reacted bool              `json:"reacted" jsonschema:"there is something to remove"`
	Wanted  []reactionCount   `json:"wanted"`
}

// reactionCount is how often an emoji stands under a message.
type reactionCount struct {
	ID     discord.EmojiID `json:"emojiId,omitempty"`
	Name   string          `json:"emojiName"`
	Normal int             `json:"normal"`
	Burst  int             `json:"burst"`
	Own    bool            `json:"own" jsonschema:"the bot reacted so too"`
}

func (c reactionCount) is(e emoji.Emoji) bool {
	return e.Same(emoji.Emoji{ID: c.ID, Name: c.Name})
}

// reactionModeration removes reactions of others.
func reactionModeration(rest discordtools.REST) mcpcore.Workflow {
	return change[reactionRemoval, reactionState]{
		Name: "reaction-moderation", Category: "interactions", Title: "Remove reactions",
		Doc: `Removes from a message one user's reaction, all reactions with one emoji, or all. Protected users are safe from the scope user
			alone: the others take everybody's. What would take a reaction of the bot's own is refused; reactions_delete_own takes
			that back. The reason is not sent: Discord takes none here.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ReadMessageHistory | discord.ManageMessages,
		Scopes:   []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels and threads, each by itself, in which reactions may be removed"}},
		Protects: []string{"userId"}, Rules: []mcpcore.Rule{reactionRule},
		Reads: append(slices.Clone(placeRoutes), routeMessage, routeReactions), Write: []string{routeReactionsClear, routeReactionsEmoji, routeReactionsUser},
		Plan: planReactions,
		Targets: func(in reactionRemoval, _ reactionState) []mcpcore.Target {
			return []mcpcore.Target{theMessage(in.ChannelID, in.MessageID)}
		},
		Apply: func(ctx context.Context, w *write, in reactionRemoval, _ reactionState) (mcpcore.Written, error) {
			route := map[string]string{"user": routeReactionsUser, "emoji": routeReactionsEmoji, "all": routeReactionsClear}[in.Scope]
			return mcpcore.Written{ID: string(in.MessageID)}, w.sendWith(ctx, route, discordtools.Request{Path: in.path()}, nil, nil)
		},
		ReadBack: func(ctx context.Context, r *reads, in reactionRemoval, s reactionState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			_, now, err := r.reactions(ctx, in)
			if err != nil {
				return found, err
			}
			if left, err := r.removable(ctx, in, now); err != nil || left.there() {
				return found, errors.Join(err, errors.New("the reactions are still there, or nobody knows"))
			}
			var d drift
			d.unless(snapshot(now) == snapshot(s.Wanted), "reactions")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// reactionRule demands what the scope takes, and an emoji that is one.
var reactionRule = mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
	scope := c.Text("scope")
	switch {
	case c.Has("emoji") != (scope != "all"):
		return issue("emoji", "goes with the scopes user and emoji, which need it")
	case c.Has("userId") != (scope == "user"):
		return issue("userId", "goes with the scope user, which needs it")
	case scope == "all":
		return nil
	}
	if _, err := emoji.Read(c.Text("emoji")); err != nil {
		return issue("emoji", "%v", err)
	}
	return nil
}}

func planReactions(ctx context.Context, r *reads, in reactionRemoval) (plan mcpcore.Change[reactionState], err error) {
	at, err := r.place(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if err := at.needs(at.reading() | discord.ManageMessages); err != nil {
		return plan, err
	}
	m, now, err := r.reactions(ctx, in)
	if err != nil {
		return plan, err
	}
	goes, err := r.removable(ctx, in, now)
	switch {
	case err != nil:
		return plan, err
	case in.UserID == at.bot.Bot, in.Scope != "user" && slices.ContainsFunc(now, func(c reactionCount) bool { return c.Own && in.takes(c) }):
		return plan, refused("own-reaction", "the bot itself reacted so, and takes that back with reactions_delete_own")
	}
	s := reactionState{placeSeen: at.placeSeen, Message: m.ID, Now: now, Reacted: goes.there(), Wanted: goes.from(now)}
	plan = mcpcore.Change[reactionState]{
		Action: "remove", State: s, Risks: []string{"irreversible"}, Estimate: goes.Normal + goes.Burst,
		Facts:   mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}, {Name: "author", Value: string(m.Author.ID)}},
		Unbound: mcpcore.Facts{{Name: "says", Value: excerpt(m.Content)}},
	}
	for _, c := range now {
		if in.takes(c) {
			plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "reactions with " + c.Name, Value: strconv.Itoa(c.Normal + c.Burst)})
		}
	}
	if in.Scope == "user" {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "of the user", Value: string(in.UserID)})
	} else {
		plan.Warnings = []string{"Everybody's reactions go, also those of protected users."}
	}
	if !s.Reacted {
		nothing(&plan)
	}
	return plan, nil
}

func (in reactionRemoval) path() path {
	at := onMessage(in.ChannelID, in.MessageID)
	if name, err := emoji.Read(in.Emoji); err == nil {
		at["emoji_name"] = name
	}
	if in.UserID != "" {
		at["user_id"] = string(in.UserID)
	}
	return at
}

// takes reports whether reactions with an emoji go, or some of them.
func (in reactionRemoval) takes(c reactionCount) bool {
	read, err := emoji.Read(in.Emoji)
	return in.Scope == "all" || err == nil && c.is(emoji.Of(read))
}

// reactions reads a message and how often which emoji stands under it, in an order
// of their own.
func (r *reads) reactions(ctx context.Context, in reactionRemoval) (m message, all []reactionCount, err error) {
	var wire struct {
		message
		Reactions []struct {
			Emoji struct {
				ID   discord.EmojiID `json:"id"`
				Name string          `json:"name"`
			} `json:"emoji"`
			Count   int `json:"count"`
			Details struct {
				Burst  int `json:"burst"`
				Normal int `json:"normal"`
			} `json:"count_details"`
			Me      bool `json:"me"`
			MeBurst bool `json:"me_burst"`
		} `json:"reactions"`
	}
	if err := r.get(ctx, routeMessage, onMessage(in.ChannelID, in.MessageID), &wire); err != nil {
		return m, nil, err
	}
	if m = wire.message; m.ID != in.MessageID || m.Channel != in.ChannelID || m.Author.ID == "" {
		return m, nil, incomplete("the message")
	}
	all = []reactionCount{}
	for _, w := range wire.Reactions {
		if w.Count != w.Details.Normal+w.Details.Burst || w.Count < 1 || w.Emoji.ID == "" && w.Emoji.Name == "" {
			return m, nil, incomplete("the reactions of the message")
		}
		all = append(all, reactionCount{w.Emoji.ID, emoji.Plain(w.Emoji.Name), w.Details.Normal, w.Details.Burst, w.Me || w.MeBurst})
	}
	slices.SortFunc(all, func(a, b reactionCount) int {
		return strings.Compare(string(a.ID)+":"+a.Name, string(b.ID)+":"+b.Name)
	})
	return m, all, nil
}

// reactionsGone is how many reactions a removal takes.
type reactionsGone struct {
	reactionRemoval
	Normal, Burst int
}

func (g reactionsGone) there() bool { return g.Normal+g.Burst > 0 }

// from are the counts that the removal leaves.
func (g reactionsGone) from(all []reactionCount) []reactionCount {
	left := []reactionCount{}
	for _, c := range all {
		if g.takes(c) {
			if g.Scope != "user" {
				continue
			}
			if c.Normal, c.Burst = c.Normal-g.Normal, c.Burst-g.Burst; c.Normal+c.Burst == 0 {
				continue
			}
		}
		left = append(left, c)
	}
	return left
}

// removable counts what a removal takes; whether one user reacted, in either kind,
// it reads.
func (r *reads) removable(ctx context.Context, in reactionRemoval, all []reactionCount) (g reactionsGone, err error) {
	g.reactionRemoval = in
	for _, c := range all {
		if in.takes(c) && in.Scope != "user" {
			g.Normal, g.Burst = g.Normal+c.Normal, g.Burst+c.Burst
		}
	}
	if in.Scope != "user" || !slices.ContainsFunc(all, in.takes) {
		return g, nil
	}
	user, err := strconv.ParseUint(string(in.UserID), 10, 64)
	if err != nil || user == 0 {
		return g, incomplete("the user")
	}
	at := onMessage(in.ChannelID, in.MessageID)
	at["emoji_name"] = in.path()["emoji_name"]
	for kind, count := range []*int{&g.Normal, &g.Burst} {
		var next []struct {
			ID discord.UserID `json:"id"`
		}
		query := map[string][]string{"after": {strconv.FormatUint(user-1, 10)}, "limit": {"1"}, "type": {strconv.Itoa(kind)}}
		if err := r.query(ctx, routeReactions, at, query, &next); err != nil {
			return g, err
		}
		if len(next) > 0 && next[0].ID == in.UserID {
			*count = 1
		}
	}
	return g, nil
}
