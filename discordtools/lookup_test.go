package discordtools_test

import (
	"context"
	"encoding/json"
	"maps"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func lookup(t *testing.T) (*sandbox.Discord, *discordtools.Lookup) {
	t.Helper()
	world := sandbox.Demo()
	client, err := discordtools.NewClient(world.Session(), discordtools.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return world, discordtools.NewLookup(client)
}

func TestNamesOfIdentifiers(t *testing.T) {
	t.Parallel()
	_, look := lookup(t)
	got := look.Names(t.Context(), []mcpcore.ID{
		{Path: "guild_id", Kind: discord.KindGuild, Value: string(sandbox.DemoGuild)},
		{Path: "channel_id", Kind: discord.KindChannel, Value: string(sandbox.DemoGeneral)},
		{Path: "user_id", Kind: discord.KindUser, Value: string(sandbox.DemoNewcomer)},
		{Path: "roles.0", Kind: discord.KindRole, Value: string(sandbox.DemoModeratorRole)},
		{Path: "hidden", Kind: discord.KindChannel, Value: string(sandbox.DemoStaff)}, // from the bot
		{Path: "gone", Kind: discord.KindUser, Value: "1299999999999999999"},
		{Path: "cursor", Kind: discord.KindNothing, Value: "1200000000000000001"},
		{Path: "emoji_id", Kind: discord.KindEmoji, Value: string(sandbox.DemoEmoji)},
		{Path: "empty", Kind: discord.KindMessage},
	})
	want := map[string]string{"guild_id": "Lighthouse Games", "channel_id": "#general", "user_id": "pebble42", "roles.0": "@Moderator", "emoji_id": "lighthouse"}
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := look.Names(t.Context(), []mcpcore.ID{{Path: "roles.0", Kind: discord.KindRole, Value: string(sandbox.DemoModeratorRole)}}); len(got) != 0 {
		t.Errorf("a role without its guild: %q", got)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if got := look.Names(done, []mcpcore.ID{{Path: "guild_id", Kind: discord.KindGuild, Value: string(sandbox.DemoGuild)}}); len(got) != 0 {
		t.Errorf("after its time: %q", got)
	}
}

func TestCurrentStateOfATarget(t *testing.T) {
	t.Parallel()
	_, look := lookup(t)
	ids := []mcpcore.ID{{Path: "channel_id", Kind: discord.KindChannel, Value: string(sandbox.DemoGeneral)}}
	now := look.Current(t.Context(), []string{"PATCH /channels/{channel_id}", "GET /guilds/{guild_id}"}, ids)
	var name string
	if err := json.Unmarshal(now["name"], &name); err != nil || name != "general" {
		t.Errorf("%s: %v", now["name"], err)
	}
	for what, routes := range map[string][]string{
		"nothing is changed":    {"POST /channels/{channel_id}/messages"},
		"an id that is missing": {"PATCH /channels/{channel_id}/messages/{message_id}"},
		"no routes":             nil,
		"no such route":         {"PATCH /channels/{channel_id}/nothing"},
	} {
		if now := look.Current(t.Context(), routes, ids); now != nil {
			t.Errorf("%s: %v", what, now)
		}
	}
}
