package discordtools

import (
	"context"
	"sync"
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

// categories are the subjects, one file each.
func categories() []category {
	return []category{
		auditLog(),
		guild(),
		onboarding(),
		voice(),
		channels(),
		messages(),
		members(),
		roles(),
		users(),
		threads(),
		reactions(),
		invites(),
		emojis(),
		stickers(),
		polls(),
	}
}

// shared is what all tools of one connection have in common.
type shared struct {
	rest REST
	now  func() time.Time

	mu     sync.Mutex
	bot    discord.UserID
	guilds map[discord.ChannelID]discord.GuildID
}

// maxGuilds bounds the memory of which guild a channel is in.
const maxGuilds = 1024

// guildOf is the guild of a channel, "" for a direct message or when it cannot
// be read. It is remembered: a channel never changes its guild. The tool must
// declare "GET /channels/{channel_id}".
func (a *api) guildOf(ctx context.Context, channel discord.ChannelID) discord.GuildID {
	a.mu.Lock()
	guild, known := a.guilds[channel]
	a.mu.Unlock()
	if known {
		return guild
	}
	var reply struct {
		GuildID discord.GuildID `json:"guild_id"`
	}
	if err := a.do(ctx, "GET /channels/{channel_id}", sub{Path: map[string]string{"channel_id": string(channel)}}, &reply); err != nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.guilds == nil || len(a.guilds) >= maxGuilds {
		a.guilds = map[discord.ChannelID]discord.GuildID{}
	}
	a.guilds[channel] = reply.GuildID
	return reply.GuildID
}

// botID is the bot's own id, asked once per connection. The tool must declare
// "GET /users/@me".
func (a *api) botID(ctx context.Context) (discord.UserID, error) {
	a.mu.Lock()
	bot := a.bot
	a.mu.Unlock()
	if bot != "" {
		return bot, nil
	}
	var me struct {
		ID discord.UserID `json:"id"`
	}
	if err := a.do(ctx, "GET /users/@me", sub{}, &me); err != nil {
		return "", err
	}
	a.mu.Lock()
	a.bot = me.ID
	a.mu.Unlock()
	return me.ID, nil
}
