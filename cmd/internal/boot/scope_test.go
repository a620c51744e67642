package boot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

func TestScopeSettingsReachTheServer(t *testing.T) {
	t.Parallel()
	const first, second = "1200000000000000001", "1200000000000000002"
	for _, row := range []struct {
		vars []string
		want discordtools.Config
	}{
		{nil, discordtools.Config{}},
		{[]string{"ALLOWED_GUILDS="}, discordtools.Config{}},
		{[]string{"ALLOWED_GUILDS= " + first + " ,," + second}, discordtools.Config{AllowedGuilds: []discord.GuildID{first, second}}},
		{[]string{"DISCORD_EXPECTED_BOT_ID=" + first}, discordtools.Config{ExpectedBot: first}},
		{[]string{"DISCORD_EXPECTED_BOT_ID=" + first, "MCP_ALLOW_USER_SCOPED=yes"}, discordtools.Config{ExpectedBot: first, UserScoped: true}},
		{[]string{"MCP_ALLOW_USER_SCOPED=TRUE"}, discordtools.Config{}},
		{[]string{"MCP_ACCESS_MODE=warn"}, discordtools.Config{Access: middleware.Warn}},
		{[]string{"MCP_ACCESS_MODE=enforce"}, discordtools.Config{Access: middleware.Enforce}},
		{[]string{"MCP_EMOJI_GG_URL=https://emoji.gg/api/"}, discordtools.Config{EmojiGG: "https://emoji.gg/api/"}},
	} {
		c, err := boot.Read(with(row.vars...), false)
		if err != nil {
			t.Fatalf("%v: %v", row.vars, err)
		}
		deps, done, err := boot.Deps(c, boot.Options{Stderr: new(strings.Builder)})
		if err != nil {
			t.Fatal(err)
		}
		got := deps.Config
		if !slices.Equal(got.AllowedGuilds, row.want.AllowedGuilds) || (got.AllowedGuilds == nil) != (row.want.AllowedGuilds == nil) ||
			got.ExpectedBot != row.want.ExpectedBot || got.UserScoped != row.want.UserScoped || got.Access != row.want.Access || got.EmojiGG != row.want.EmojiGG {
			t.Errorf("%v: %+v", row.vars, got)
		}
		if err := done(); err != nil {
			t.Error(err)
		}
	}
}

func TestDefaultGuildIsAnAllowedOne(t *testing.T) {
	t.Parallel()
	const first, second = "1200000000000000001", "1200000000000000002"
	if _, err := boot.Read(with("ALLOWED_GUILDS="+first+","+second, "DISCORD_DEFAULT_GUILD_ID="+second), false); err != nil {
		t.Errorf("an allowed one: %v", err)
	}
	_, err := boot.Read(with("ALLOWED_GUILDS="+first, "DISCORD_DEFAULT_GUILD_ID="+second), false)
	if err == nil || !strings.Contains(err.Error(), "DISCORD_DEFAULT_GUILD_ID must be one of ALLOWED_GUILDS") {
		t.Errorf("another one: %v", err)
	}
}
