package discordtools

import (
	"context"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Tools is every Discord tool, on the given connection, sorted by category.
// They are ordinary values: filter them, add your own with [mcpcore.Define],
// pass them on.
func Tools(rest REST) []mcpcore.Tool { return toolsAt(rest, time.Now) }

func toolsAt(rest REST, now func() time.Time) []mcpcore.Tool {
	s := &shared{rest: rest, now: now}
	var tools []mcpcore.Tool
	for _, c := range categories() {
		for _, d := range c.Tools {
			tools = append(tools, d.tool(s, c))
		}
	}
	return tools
}

// categories are the subjects, one file each, in alphabetical order.
func categories() []category {
	return []category{
		auditLog(), automod(), channels(), componentsV2(), emojis(), events(), guild(), intelligence(), interactions(), invites(),
		members(), messages(), meta(), onboarding(), polls(), reactions(), roles(), soundboard(), stageInstances(), stickers(), threads(),
		users(), voice(), webhooks(),
	}
}

// shared is what all tools of one connection have in common.
type shared struct {
	rest   REST
	now    func() time.Time
	bot    memory[struct{}, discord.UserID]
	guilds memory[discord.ChannelID, discord.GuildID]
}

// guildOf is the guild of a channel, "" for a direct message or when it cannot
// be read. It is remembered: a channel never changes its guild. The tool must
// declare [routeChannel].
func (a *api) guildOf(ctx context.Context, channel discord.ChannelID) discord.GuildID {
	guild, _ := a.guilds.get(ctx, channel, func(ctx context.Context) (discord.GuildID, bool, error) {
		var c standing
		err := a.do(ctx, routeChannel, sub{Path: atChannel(channel)}, &c)
		return c.GuildID, true, err
	})
	return guild
}

// botID is the bot's own id, asked once per connection. The tool must declare
// [routeMe].
func (a *api) botID(ctx context.Context) (discord.UserID, error) {
	return a.bot.get(ctx, struct{}{}, func(ctx context.Context) (discord.UserID, bool, error) {
		var me person
		err := a.do(ctx, routeMe, sub{}, &me)
		return me.ID, me.ID != "", err
	})
}
