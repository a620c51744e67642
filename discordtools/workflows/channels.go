package workflows

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeChannelEdit = "PATCH /channels/{channel_id}"

func inChannel(id discord.ChannelID) path { return path{"channel_id": string(id)} }

// of refuses a channel of another guild than the one that was named.
func (c *channel) of(guild discord.GuildID, id discord.ChannelID) error {
	switch {
	case c.ID != id:
		return incomplete("the channel " + string(id))
	case c.Guild != guild:
		return refused("other-guild", "%s is no channel of the guild %s", id, guild)
	}
	return nil
}

// direct refuses a thread: what is planned is for channels alone.
func (c *channel) direct() error {
	if c.Type.IsThread() {
		return refused("thread", "%s is a thread, and this is for channels", c.ID)
	}
	return nil
}

// channel reads a channel or a thread of the guild.
func (r *reads) channel(ctx context.Context, guild discord.GuildID, id discord.ChannelID) (c channel, err error) {
	if err := r.get(ctx, routeChannel, inChannel(id), &c); err != nil {
		return c, err
	}
	return c, c.of(guild, id)
}

// may is what the bot may do in a channel of the guild, or in a thread, where
// the overwrites of its parent count.
func (r *reads) may(ctx context.Context, bot *standing, c channel) (discord.Permissions, error) {
	if c.Type.IsThread() {
		parent, err := r.channel(ctx, bot.Guild.ID, c.Parent)
		if err != nil {
			return 0, err
		}
		c.Overwrites = parent.Overwrites
	}
	return bot.in(c)
}

// needsIn refuses a plan for which the bot lacks permissions in a channel or a
// thread.
func (r *reads) needsIn(ctx context.Context, bot *standing, c channel, p discord.Permissions) error {
	may, err := r.may(ctx, bot, c)
	if err != nil {
		return err
	}
	return lacks(may, p, "the channel")
}

// errOtherChannel is of an answer that is not about the channel that was
// written.
var errOtherChannel = errors.New("the answer is of another channel than was written")

// standsAt is where a channel stands in its guild, and who may do what there.
type standsAt struct {
	ID         discord.ChannelID   `json:"id"`
	Type       discord.ChannelType `json:"type"`
	Parent     discord.ChannelID   `json:"parentId,omitempty"`
	Position   int                 `json:"position"`
	Overwrites []overwrite         `json:"overwrites"`
}

// layout is how the channels of a guild stand, those left out that but names.
// Lists by id give equal layouts for equal guilds.
func layout(list []channel, but ...discord.ChannelID) []standsAt {
	var all []standsAt
	for _, c := range list {
		if !slices.Contains(but, c.ID) {
			all = append(all, standsAt{c.ID, c.Type, c.Parent, c.Position, sortedOverwrites(c.Overwrites)})
		}
	}
	return all
}

// sortedOverwrites are a channel's overwrites in an order of their own.
func sortedOverwrites(all []overwrite) []overwrite {
	return slices.SortedFunc(slices.Values(all), func(a, b overwrite) int { return discord.CompareIDs(a.ID, b.ID) })
}
