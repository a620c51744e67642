package workflows

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeChannelCreate = "POST /guilds/{guild_id}/channels"

// What a guild and a category hold at most.
//
// Source: https://support.discord.com/hc/en-us/articles/33694251638295.
const (
	guildChannels    = 500
	categoryChildren = 50
)

type channelCreate struct {
	GuildID  discord.GuildID   `json:"guildId" jsonschema:"guild to create it in"`
	Kind     string            `json:"kind" jsonschema:"what is created" enum:"category,text,forum"`
	Name     string            `json:"name" jsonschema:"name" minLength:"1" maxLength:"100"`
	ParentID discord.ChannelID `json:"parentId,omitempty" jsonschema:"category to create it in"`
	Topic    string            `json:"topic,omitempty" jsonschema:"topic, or a forum's guidelines" maxLength:"1024"`
	reason
}

type channelCreateState struct {
	Guild      guildSeen         `json:"guild"`
	Permission evidence          `json:"permission"`
	Parent     *channelSeen      `json:"parent"`
	Target     channelTarget     `json:"target"`
	Existing   discord.ChannelID `json:"existingChannel,omitempty"`
	Inventory  channelInventory  `json:"visibleInventory"`
}

type channelSeen struct {
	ID   discord.ChannelID `json:"id"`
	Name string            `json:"name"`
}

type channelTarget struct {
	Kind  string              `json:"kind"`
	Type  discord.ChannelType `json:"type"`
	Name  string              `json:"name"`
	Topic string              `json:"topic"`
}

type channelInventory struct {
	Guild       int    `json:"guildChannels"`
	GuildLimit  int    `json:"guildLimit"`
	Parent      int    `json:"parentChildren"`
	ParentLimit int    `json:"parentLimit"`
	Channels    string `json:"channels" jsonschema:"digest of all visible channels"`
}

// channelKinds are what can be created: additive kinds, without overwrites and
// positions.
var channelKinds = map[string]discord.ChannelType{
	"category": discord.GuildCategory, "text": discord.GuildText, "forum": discord.GuildForum,
}

// channelCreation makes a category, a text channel or a forum that is not there
// yet.
func channelCreation(rest discordtools.REST) mcpcore.Workflow {
	return change[channelCreate, channelCreateState]{
		Name: "channel-creation", Category: "channel-creation", Title: "Create a channel",
		Doc: `Creates a category, a text channel or a forum, with its parent's overwrites and at the end of
			the list. A channel of that kind and place whose name is the same but for case, spaces and
			dashes counts as there already.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageChannels | discord.ViewChannel,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds in which channels may be created")},
		Rules: []mcpcore.Rule{{Check: func(c *mcpcore.Call) *mcpcore.Issue {
			if c.Text("kind") == "category" && (c.Has("parentId") || c.Has("topic")) {
				return issue("kind", "a category has no parentId and no topic")
			}
			return nil
		}}},
		Reads: append(slices.Clone(standingRoutes), routeChannels, routeChannel),
		Write: []string{routeChannelCreate},
		Plan:  planChannelCreation,
		Targets: func(in channelCreate, _ channelCreateState) []mcpcore.Target {
			return []mcpcore.Target{all("channels", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in channelCreate, s channelCreateState) (mcpcore.Written, error) {
			return w.channel(ctx, in.GuildID, s.Target.in(in.ParentID))
		},
		ReadBack: func(ctx context.Context, r *reads, in channelCreate, s channelCreateState, w mcpcore.Written) (mcpcore.Reading, error) {
			return r.madeChannel(ctx, in.GuildID, s.Target.in(in.ParentID), w)
		},
	}.on(rest)
}

type channelBody struct {
	Name   string              `json:"name"`
	Type   discord.ChannelType `json:"type"`
	Parent discord.ChannelID   `json:"parent_id,omitempty"`
	Topic  string              `json:"topic,omitempty"`
}

func (t channelTarget) in(parent discord.ChannelID) channelBody {
	return channelBody{t.Name, t.Type, parent, t.Topic}
}

// channel makes a channel.
func (w *write) channel(ctx context.Context, guild discord.GuildID, body channelBody) (done mcpcore.Written, err error) {
	var made channel
	if err := w.send(ctx, routeChannelCreate, inGuild(guild), body, &made); err != nil {
		return done, err
	}
	if done.ID, err = id(made.ID); err == nil && (made.Type != body.Type || made.Guild != guild) {
		err = fmt.Errorf("the answer is of another channel than was asked for")
	}
	return done, err
}

// madeChannel reads a channel that was made.
func (r *reads) madeChannel(ctx context.Context, guild discord.GuildID, body channelBody, w mcpcore.Written) (found mcpcore.Reading, err error) {
	var c channel
	if err := r.get(ctx, routeChannel, path{"channel_id": w.ID}, &c); err != nil {
		return found, err
	}
	if string(c.ID) != w.ID || c.Guild != guild || c.Type != body.Type {
		return found, fmt.Errorf("what was read back is not what was made")
	}
	var d drift
	d.channel(c, body)
	return mcpcore.Reading{Drift: d}, nil
}

// channel reports the fields of a channel that are not as they should be. Discord
// writes the names of text channels its own way.
func (d *drift) channel(now channel, want channelBody) {
	d.unless(logical(now.Name) == logical(want.Name), "name")
	d.unless(now.Parent == want.Parent, "parentId")
	d.unless(now.Topic == nil && want.Topic == "" || now.Topic != nil && *now.Topic == want.Topic, "topic")
}

// existing are the channels of the list that are there under the name, in the same
// place.
func (b channelBody) existing(list []channel) (same []discord.ChannelID) {
	for _, c := range list {
		if c.Type == b.Type && c.Parent == b.Parent && logical(c.Name) == logical(b.Name) {
			same = append(same, c.ID)
		}
	}
	return same
}

// childrenOf is how many of the channels are in a category.
func childrenOf(list []channel, category discord.ChannelID) (n int) {
	for _, c := range list {
		if category != "" && c.Parent == category {
			n++
		}
	}
	return n
}

// category is one of the list in which the bot can make channels.
func (s *standing) category(list []channel, id discord.ChannelID) (c channel, err error) {
	i := slices.IndexFunc(list, func(c channel) bool { return c.ID == id && c.Type == discord.GuildCategory })
	if i < 0 {
		return c, refused("parent-missing", "%s is no category of the guild that the bot can see", id)
	}
	may, err := s.in(list[i])
	if err != nil {
		return c, err
	}
	return list[i], lacks(may, discord.ManageChannels|discord.ViewChannel, "the category")
}

func planChannelCreation(ctx context.Context, r *reads, in channelCreate) (plan mcpcore.Change[channelCreateState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageChannels|discord.ViewChannel)
	if err != nil {
		return plan, err
	}
	list, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := channelCreateState{
		Guild: bot.Guild, Permission: bot.evidence(),
		Target:    channelTarget{in.Kind, channelKinds[in.Kind], in.Name, in.Topic},
		Inventory: channelInventory{Guild: len(list), GuildLimit: guildChannels, ParentLimit: categoryChildren, Channels: snapshot(list)},
	}
	if in.ParentID != "" {
		parent, err := bot.category(list, in.ParentID)
		if err != nil {
			return plan, err
		}
		s.Parent = &channelSeen{parent.ID, parent.Name}
	}
	s.Inventory.Parent = childrenOf(list, in.ParentID)
	same := s.Target.in(in.ParentID).existing(list)
	plan = mcpcore.Change[channelCreateState]{
		Action:   "create",
		Facts:    mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "creates", Value: in.Kind + " " + in.Name}},
		Warnings: []string{"The inventory holds the channels that the bot can see; there may be others."},
	}
	if s.Parent != nil {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "in", Value: s.Parent.Name})
	}
	if s.Existing, err = joining(&plan, "channels", same, s.Inventory.Guild, guildChannels); err != nil {
		return plan, err
	}
	if !plan.Current && s.Inventory.Parent >= categoryChildren {
		return plan, refused("parent-full", "the category has %d channels, and can have %d", s.Inventory.Parent, categoryChildren)
	}
	plan.State = s
	return plan, nil
}

// logical is a name as people tell them apart: without case, and with spaces,
// underscores and dashes alike.
func logical(name string) string {
	folded := strings.ToLower(norm.NFKC.String(name))
	return strings.Join(strings.FieldsFunc(folded, func(r rune) bool { return r == ' ' || r == '_' || r == '-' }), "-")
}
