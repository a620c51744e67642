package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeChannelPositions = "PATCH /guilds/{guild_id}/channels"

type channelOrder struct {
	GuildID   discord.GuildID   `json:"guildId" jsonschema:"guild of the channels"`
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel to move"`
	Placement string            `json:"placement" jsonschema:"where it comes to stand" enum:"above,below"`
	AnchorID  discord.ChannelID `json:"anchorId" jsonschema:"channel of the same family that it comes to stand next to, in whose category"`
	reason
}

type guildOnly struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild to look at"`
}

type channelOrderState struct {
	Guild      guildSeen           `json:"guild"`
	Permission evidence            `json:"permission"`
	Target     standsAt            `json:"target"`
	Anchor     discord.ChannelID   `json:"anchorId"`
	Family     string              `json:"family"`
	Parent     discord.ChannelID   `json:"parentId,omitempty"`
	Crosses    bool                `json:"crossesParents"`
	Before     []discord.ChannelID `json:"before" jsonschema:"the affected group as it stands"`
	After      []discord.ChannelID `json:"after" jsonschema:"as it will stand, numbered from 0"`
	Layout     string              `json:"layout" jsonschema:"digest of how all visible channels stand"`
	Others     string              `json:"others" jsonschema:"digest of those outside the affected group"`
}

// channelPosition is what Discord is told of one channel.
type channelPosition struct {
	ID       discord.ChannelID `json:"id"`
	Position int               `json:"position"`
	Sync     *bool             `json:"lock_permissions,omitempty"`
	Parent   *parentID         `json:"parent_id,omitempty"`
}

// parentID is a category, null for none.
type parentID discord.ChannelID

func (p parentID) MarshalJSON() ([]byte, error) {
	if p == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(p))
}

// channelOrdering moves a channel above or below another.
func channelOrdering(rest discordtools.REST) mcpcore.Workflow {
	return change[channelOrder, channelOrderState]{
		Name: "channel-ordering", Noun: "channel_order", Category: "channel-ordering", Title: "Move a channel in the list",
		Doc: `Moves one channel directly above or below another of its family: categories, text channels with forums, or
			voice channels with stages. In another category it keeps its own overwrites. The group it comes to is
			numbered anew from 0; the order of the others in it stays.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose channels may be ordered")},
		Audits: []mcpcore.Tool{companion(rest, mcpcore.Tool{
			Name: "audit_channel_order", Title: "Look at the order of channels", Category: "channel-ordering",
			Doc:   "Lists the channels that the bot can see in the groups in which they are ordered, top first, and says where positions are ambiguous and where the bot may order.",
			Scope: mcpcore.GuildScope, Routes: append(slices.Clone(standingRoutes), routeChannels),
		}, auditChannelOrder)},
		Reads: append(slices.Clone(standingRoutes), routeChannels),
		Write: []string{routeChannelPositions},
		Plan:  planChannelOrder,
		Targets: func(in channelOrder, s channelOrderState) []mcpcore.Target {
			claims := []mcpcore.Target{all("channels", in.GuildID), theChannel(in.ChannelID), theChannel(in.AnchorID)}
			for _, parent := range []discord.ChannelID{s.Target.Parent, s.Parent} {
				if parent != "" {
					claims = append(claims, theChannel(parent))
				}
			}
			return claims
		},
		Apply: func(ctx context.Context, w *write, in channelOrder, s channelOrderState) (mcpcore.Written, error) {
			err := w.send(ctx, routeChannelPositions, inGuild(in.GuildID), s.positions(), nil)
			return mcpcore.Written{ID: string(in.ChannelID)}, err
		},
		ReadBack: func(ctx context.Context, r *reads, in channelOrder, s channelOrderState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			list, err := r.channels(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			if !slices.Equal(ids(group(list, s.Parent, s.Family)), s.After) {
				return found, errors.New("the channels do not stand as they were ordered")
			}
			i := indexOf(list, in.ChannelID)
			var d drift
			d.unless(snapshot(sortedOverwrites(list[i].Overwrites)) == snapshot(s.Target.Overwrites), "overwrites")
			d.unless(snapshot(layout(list, s.After...)) == s.Others, "other_channels")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// positions is the request: the whole group, and for the channel that comes to
// another category that one, without taking over its overwrites.
func (s *channelOrderState) positions() []channelPosition {
	var moves []channelPosition
	for i, id := range s.After {
		move := channelPosition{ID: id, Position: i}
		if id == s.Target.ID && s.Crosses {
			parent, sync := parentID(s.Parent), false
			move.Parent, move.Sync = &parent, &sync
		}
		moves = append(moves, move)
	}
	return moves
}

func planChannelOrder(ctx context.Context, r *reads, in channelOrder) (plan mcpcore.Change[channelOrderState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	list, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	target, anchor := indexOf(list, in.ChannelID), indexOf(list, in.AnchorID)
	switch {
	case in.ChannelID == in.AnchorID:
		return plan, refused("same", "a channel cannot stand next to itself")
	case target < 0 || anchor < 0:
		return plan, refused("channel-missing", "the guild has no such channels that the bot can see; threads are not ordered")
	}
	moved, next := list[target], list[anchor]
	s := channelOrderState{
		Guild: bot.Guild, Permission: bot.evidence(), Target: layout([]channel{moved})[0], Anchor: next.ID, Family: family(moved.Type),
		Parent: next.Parent, Crosses: moved.Parent != next.Parent, Layout: snapshot(layout(list)),
	}
	if s.Family == "" || s.Family != family(next.Type) {
		return plan, refused("family", "a %s does not stand in one order with a %s", moved.Type, next.Type)
	}
	if err := s.allowed(&bot, list, moved); err != nil {
		return plan, err
	}
	s.Before = ids(group(list, s.Parent, s.Family))
	s.After = slices.DeleteFunc(slices.Clone(s.Before), func(id discord.ChannelID) bool { return id == moved.ID })
	at := slices.Index(s.After, next.ID)
	if in.Placement == "below" {
		at++
	}
	s.After = slices.Insert(s.After, at, moved.ID)
	s.Others = snapshot(layout(list, s.After...))
	plan = mcpcore.Change[channelOrderState]{
		Action: "move", State: s,
		Facts:    mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}},
		Unbound:  mcpcore.Facts{{Name: "channel", Value: moved.Name}, {Name: in.Placement, Value: next.Name}},
		Warnings: []string{"Channels that the bot cannot see keep their positions and may come to stand elsewhere among the others."},
	}
	if slices.Equal(s.Before, s.After) {
		plan.Action, plan.Current = "none", true
		return plan, nil
	}
	for _, id := range s.After {
		a := mcpcore.Affected{ID: string(id), Action: "number", Name: list[indexOf(list, id)].Name}
		if id == moved.ID {
			a.Action = "move"
		}
		plan.Affected = append(plan.Affected, a)
	}
	return plan, nil
}

// allowed refuses a move for which the bot lacks permissions or the category has
// no room.
func (s *channelOrderState) allowed(bot *standing, list []channel, moved channel) error {
	const manage = discord.ViewChannel | discord.ManageChannels
	children := 0
	for _, c := range list {
		if s.Parent != "" && c.Parent == s.Parent {
			children++
		}
		if (c.Parent == s.Parent || c.Parent == moved.Parent) && family(c.Type) == "" {
			return incomplete(fmt.Sprintf("the channel %s, of a kind that is not known", c.ID))
		}
	}
	for _, parent := range []discord.ChannelID{s.Parent, moved.Parent} {
		if err := mayOrder(bot, list, parent); err != nil {
			return err
		}
	}
	if !s.Crosses {
		return nil
	}
	may, err := bot.in(moved)
	if err != nil {
		return err
	}
	if err := lacks(may, manage, "the channel"); err != nil {
		return err
	}
	if children >= categoryChildren {
		return refused("parent-full", "the category has %d channels, and can have %d", children, categoryChildren)
	}
	return nil
}

// mayOrder refuses a category, or "" for the guild, in which the bot cannot
// order channels.
func mayOrder(bot *standing, list []channel, parent discord.ChannelID) error {
	if bot.needs(discord.ManageChannels) == nil {
		return nil
	}
	i := indexOf(list, parent)
	if i < 0 {
		return bot.needs(discord.ManageChannels)
	}
	may, err := bot.in(list[i])
	if err != nil {
		return err
	}
	return lacks(may, discord.ViewChannel|discord.ManageChannels, "the category")
}

// family is of what a channel stands in one order with; "" for a kind that is
// not known.
func family(t discord.ChannelType) string {
	switch {
	case t == discord.GuildCategory:
		return "category"
	case slices.Contains(textKinds, t):
		return "text"
	case slices.Contains(voiceKinds, t):
		return "voice"
	}
	return ""
}

// group are the channels of a family in a category, top first: of two at one
// position the older one is above.
func group(list []channel, parent discord.ChannelID, of string) []channel {
	var all []channel
	for _, c := range list {
		if c.Parent == parent && family(c.Type) == of {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b channel) int {
		if a.Position != b.Position {
			return a.Position - b.Position
		}
		return discord.CompareIDs(a.ID, b.ID)
	})
	return all
}

func ids(list []channel) []discord.ChannelID {
	all := make([]discord.ChannelID, len(list))
	for i, c := range list {
		all[i] = c.ID
	}
	return all
}

func indexOf(list []channel, id discord.ChannelID) int {
	return slices.IndexFunc(list, func(c channel) bool { return c.ID == id })
}

// channelOrders is how the channels of a guild are ordered.
type channelOrders struct {
	Guild      guildSeen      `json:"guild"`
	Permission evidence       `json:"permission"`
	Groups     []orderedGroup `json:"groups"`
	Layout     string         `json:"layout" jsonschema:"digest of how all visible channels stand"`
	Unknown    int            `json:"unknownKinds" jsonschema:"channels of kinds that are not known and are in no group"`
}

type orderedGroup struct {
	Parent    discord.ChannelID `json:"parentId,omitempty"`
	Family    string            `json:"family"`
	Channels  []orderedChannel  `json:"channels"`
	Ambiguous bool              `json:"ambiguous" jsonschema:"whether several stand at one position, where their age decides"`
	MayOrder  bool              `json:"botMayOrder"`
}

type orderedChannel struct {
	ID       discord.ChannelID `json:"id"`
	Name     string            `json:"name"`
	Position int               `json:"position"`
}

func auditChannelOrder(ctx context.Context, r *reads, in guildOnly) (all channelOrders, err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return all, err
	}
	list, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return all, err
	}
	all.Guild, all.Permission, all.Layout = bot.Guild, bot.evidence(), snapshot(layout(list))
	parents := []discord.ChannelID{""}
	for _, c := range group(list, "", "category") {
		parents = append(parents, c.ID)
	}
	for _, parent := range parents {
		for _, of := range []string{"category", "text", "voice"} {
			g := orderedGroup{Parent: parent, Family: of, MayOrder: mayOrder(&bot, list, parent) == nil}
			for i, c := range group(list, parent, of) {
				g.Ambiguous = g.Ambiguous || i > 0 && g.Channels[i-1].Position == c.Position
				g.Channels = append(g.Channels, orderedChannel{c.ID, c.Name, c.Position})
			}
			if len(g.Channels) > 0 {
				all.Groups = append(all.Groups, g)
			}
		}
	}
	for _, c := range list {
		if family(c.Type) == "" {
			all.Unknown++
		}
	}
	return all, nil
}
