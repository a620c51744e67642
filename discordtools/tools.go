package discordtools

import (
	"context"
	"errors"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Tools is every Discord tool, on the given connection, sorted by category.
// They are ordinary values: filter them, add your own with [mcpcore.Define],
// pass them on. Those that ask other services than Discord are switched off:
// [Config] names the addresses. What blueprints keep ends with these values, and
// [BuildServer] lets them share a ledger with workflows.
func Tools(rest REST) []mcpcore.Tool {
	b, _ := newBlueprints(rest, Config{}, nil, nil, nil, time.Now) // nothing of which can be wrong
	return toolsAt(rest, Config{}, time.Now, nil, b)
}

func toolsAt(rest REST, c Config, now func() time.Time, list *catalogue, b *blueprints) []mcpcore.Tool {
	s := &shared{rest: rest, now: now, emojiGG: newEmojiGG(c.EmojiGG, now), catalogue: list, blueprints: b}
	s.templates.life, s.templates.now = templateLife, now
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
		appEmojis(), application(), auditLog(), automod(), channels(), commands(), componentsV2(), emojis(), events(), guild(),
		inspiration(), intelligence(), interactions(), invites(), members(), messages(), meta(), monetization(), onboarding(),
		permissions(), polls(), reactions(), roles(), soundboard(), stageInstances(), stickers(), templates(), threads(), users(),
		voice(), webhooks(),
	}
}

// shared is what all tools of one connection have in common.
type shared struct {
	rest    REST
	now     func() time.Time
	bot     memory[struct{}, discord.UserID]
	app     memory[struct{}, discord.ApplicationID]
	guilds  memory[discord.ChannelID, discord.GuildID]
	emojiGG *emojiGG

	catalogue  *catalogue
	templates  memory[codeOfTemplate, looked]
	blueprints *blueprints
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

// applicationID is the application that the call names, otherwise the bot's own,
// which is asked once per connection.
func (a *api) applicationID(ctx context.Context) (discord.ApplicationID, error) {
	if id := a.call.Text("application_id"); id != "" {
		return discord.ApplicationID(id), nil
	}
	return a.app.get(ctx, struct{}{}, func(ctx context.Context) (discord.ApplicationID, bool, error) {
		var app struct {
			ID discord.ApplicationID `json:"id"`
		}
		err := a.do(ctx, routeApplication, sub{}, &app)
		if err == nil && app.ID == "" {
			err = errors.New("Discord told no application")
		}
		return app.ID, true, err
	})
}
