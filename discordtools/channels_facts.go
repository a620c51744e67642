package discordtools

import (
	"context"
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// standing is where a channel stands.
type standing struct {
	ID       discord.ChannelID   `json:"id"`
	Name     string              `json:"name"`
	Type     discord.ChannelType `json:"type"`
	GuildID  discord.GuildID     `json:"guild_id"`
	ParentID discord.ChannelID   `json:"parent_id"`
	Messages int                 `json:"message_count"` // of a thread
}

// channelFacts tells which channel it is and what goes with it.
func channelFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var c standing
	if err := a.do(ctx, routeChannel, sub{}, &c); err != nil {
		return nil, err
	}
	facts := mcpcore.Facts{{Name: "kind", Value: c.Type.String()}, {Name: "name", Value: c.Name}}
	add := func(name, value string) { facts = append(facts, mcpcore.Fact{Name: name, Value: value}) }
	switch {
	case c.GuildID == "":
	case c.Type.IsThread():
		add("in", a.parentName(ctx, c))
		add("messages", strconv.Itoa(c.Messages))
	default:
		parent, children := a.neighbours(ctx, c)
		if c.Type == discord.GuildCategory {
			add("channels that stay without a category", children)
			break
		}
		add("category", parent)
		switch c.Type {
		case discord.GuildForum, discord.GuildMedia:
			add("active posts", a.activeThreads(ctx, c))
		case discord.GuildText, discord.GuildAnnouncement:
			add("active threads", a.activeThreads(ctx, c))
		}
	}
	return facts, nil
}

func (a *api) parentName(ctx context.Context, c standing) string {
	var parent standing
	if err := a.do(ctx, routeChannel, sub{Path: atChannel(c.ParentID)}, &parent); err != nil {
		return unknown
	}
	return parent.Name
}

// neighbours is the name of a channel's category and the number of channels
// that have the channel as theirs.
func (a *api) neighbours(ctx context.Context, c standing) (parent, children string) {
	var all []standing
	if err := a.do(ctx, routeGuildChannels, sub{Path: atGuild(c.GuildID)}, &all); err != nil {
		return unknown, unknown
	}
	n := 0
	parent = "none"
	for _, other := range all {
		if other.ParentID == c.ID {
			n++
		}
		if other.ID == c.ParentID {
			parent = other.Name
		}
	}
	return parent, strconv.Itoa(n)
}

func (a *api) activeThreads(ctx context.Context, c standing) string {
	var reply struct {
		Threads []standing `json:"threads"`
	}
	if err := a.do(ctx, routeActiveThreads, sub{Path: atGuild(c.GuildID)}, &reply); err != nil {
		return unknown
	}
	n := 0
	for _, t := range reply.Threads {
		if t.ParentID == c.ID {
			n++
		}
	}
	return strconv.Itoa(n)
}
