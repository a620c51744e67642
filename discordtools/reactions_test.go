package discordtools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	showcase   = string(sandbox.DemoShowcase)
	sketch     = string(sandbox.DemoSketch)
	lighthouse = "lighthouse:" + string(sandbox.DemoEmoji)

	reactionsPath = "/channels/" + showcase + "/messages/" + sketch + "/reactions"
)

// onSketch are arguments that name the message with reactions, and more.
func onSketch(more string) string {
	return `{"channel_id":` + id(showcase) + `,"message_id":` + id(sketch) + more + `}`
}

func TestReactions(t *testing.T) {
	t.Parallel()
	crowd := func(d *sandbox.Discord) {
		var who []discord.UserID
		for i := range 250 {
			who = append(who, d.AddUser(sandbox.User{Name: fmt.Sprintf("fan%d", i)}))
		}
		d.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: "1200000000000000990", Author: sandbox.DemoMember, Reactions: []sandbox.Reaction{{Emoji: sandbox.EmojiRef{Name: "🎉"}, Users: who}}})
	}
	run(t, []row{
		{
			shows: "a new one", tool: "reactions_create", args: onSketch(`,"emoji":"👋"`),
			sent: []string{"PUT " + reactionsPath + "/👋/@me"}, want: `{"reacted":true,"channel_id":"*","message_id":"*","emoji":"👋"}`,
		},
		{
			shows: "unknown message", tool: "reactions_create", args: `{"channel_id":` + id(showcase) + `,"message_id":"1200000000000009999","emoji":"👋"}`,
			sent: []string{"PUT /channels/" + showcase + "/messages/1200000000000009999/reactions/👋/@me"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "own", tool: "reactions_delete_own", args: onSketch(`,"emoji":"🔥"`),
			sent: []string{"DELETE " + reactionsPath + "/🔥/@me"}, want: `{"deleted":true,"emoji":"🔥"}`,
		},
		{
			shows: "an emoji nobody chose", tool: "reactions_delete_own", args: onSketch(`,"emoji":"👋"`),
			sent: []string{"DELETE " + reactionsPath + "/👋/@me"}, code: mcpcore.CodeValidation, says: "name:id",
		},
		{
			shows: "a member's", tool: "reactions_delete_user", args: onSketch(`,"emoji":"🔥","user_id":` + id(sandbox.DemoModerator) + `,"audit_reason":"rude"`),
			sent: []string{"DELETE " + reactionsPath + "/🔥/" + string(sandbox.DemoModerator)}, want: `{"deleted":true,"emoji":"🔥","user_id":` + id(sandbox.DemoModerator) + `}`,
		},
		{
			shows: "not in a club channel", tool: "reactions_delete_user",
			args: `{"channel_id":` + id(sandbox.DemoClubGeneral) + `,"message_id":` + id(sketch) + `,"emoji":"🔥","user_id":` + id(sandbox.DemoReader) + `}`,
			sent: []string{"DELETE /channels/" + string(sandbox.DemoClubGeneral) + "/messages/" + sketch + "/reactions/🔥/" + string(sandbox.DemoReader)}, code: mcpcore.CodePermission,
		},
		{
			shows: "who, with names in a fence", tool: "reactions_list", args: onSketch(`,"emoji":"🔥"`),
			sent: []string{"GET " + reactionsPath + "/🔥?limit=25"}, says: "<untrusted_discord_username",
			want: `{"count":2,"users":[{"user_id":` + id(sandbox.DemoOwner) + `,"username":"marina","bot":false},{"username":"saltwick"}],"channel_id":` + id(showcase) + `,"message_id":` + id(sketch) + `,"emoji":"🔥"}`,
		},
		{
			shows: "burst reactions of a custom emoji", tool: "reactions_list", args: onSketch(`,"emoji":` + id(lighthouse) + `,"type":1,"limit":3`),
			sent: []string{"GET " + reactionsPath + "/" + lighthouse + "?limit=3&type=1"}, want: `{"count":0,"users":[]}`,
		},
		{
			shows: "L59 History and member lists end at the first page", tool: "reactions_list", setup: crowd,
			args: `{"channel_id":` + id(general) + `,"message_id":"1200000000000000990","emoji":"🎉","limit":100,"after":"1200000000000000000"}`,
			sent: []string{"GET /channels/" + general + "/messages/1200000000000000990/reactions/🎉?after=1200000000000000000&limit=100"},
			want: `{"count":100,"has_more":true,"next_after":"*"}`,
		},
		{
			shows: "L59 a cursor that is no id", tool: "reactions_list", args: onSketch(`,"emoji":"🔥","after":"0"`),
			code: mcpcore.CodeValidation, says: "after: must be an id",
		},
		{
			shows: "preview counts what will go", tool: "reactions_delete_all", args: onSketch(``),
			sent: []string{"GET /channels/" + showcase + "/messages/" + sketch}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"author","value":"tomasz.k (Tomasz)"},{"name":"text"},{"name":"reactions that will go","value":"3"},{"name":"emojis","value":"2 × 🔥, 1 × lighthouse"}]}`,
		},
		{
			shows: "preview of one emoji", tool: "reactions_delete_all", args: onSketch(`,"emoji":"<:lighthouse:` + string(sandbox.DemoEmoji) + `>"`),
			sent: []string{"GET /channels/" + showcase + "/messages/" + sketch}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{},{},{"value":"1"},{"value":"1 × lighthouse"}]}`,
		},
		{
			shows: "preview of a missing message", tool: "reactions_delete_all", args: `{"channel_id":` + id(showcase) + `,"message_id":"1200000000000009999"}`,
			sent: []string{"GET /channels/" + showcase + "/messages/1200000000000009999"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "all", tool: "reactions_delete_all", args: onSketch(`,"__confirm":true`),
			sent: []string{"DELETE " + reactionsPath}, want: `{"deleted":true,"scope":"all"}`,
		},
		{
			shows: "one emoji", tool: "reactions_delete_all", args: onSketch(`,"emoji":"🔥","__confirm":true`),
			sent: []string{"DELETE " + reactionsPath + "/🔥"}, want: `{"deleted":true,"scope":"emoji"}`,
		},
	})
}

// reactionTools are the five tools with what each needs beside the emoji, and
// its request up to and after the emoji.
var reactionTools = []struct{ tool, more, before, after string }{
	{"reactions_create", "", "PUT " + reactionsPath + "/", "/@me"},
	{"reactions_delete_own", "", "DELETE " + reactionsPath + "/", "/@me"},
	{"reactions_delete_user", `,"user_id":` + id(sandbox.DemoOwner), "DELETE " + reactionsPath + "/", "/" + string(sandbox.DemoOwner)},
	{"reactions_list", "", "GET " + reactionsPath + "/", "?limit=25"},
	{"reactions_delete_all", `,"__confirm":true`, "DELETE " + reactionsPath + "/", ""},
}

// L10 Emoji in reaction routes
func TestL10EmojiInReactionRoutes(t *testing.T) {
	t.Parallel()
	const family = "👨‍👩‍👧‍👦"
	accepted := map[string]string{ // as given, and on the wire once decoded
		"👍": "👍", "1️⃣": "1️⃣", "#️⃣": "#️⃣", "*️⃣": "*️⃣", "❤": "❤", "❤️": "❤️", family: family, "👍🏽": "👍🏽", "🇫🇮": "🇫🇮", "ℹ️": "ℹ️",
		lighthouse: lighthouse, "<:" + lighthouse + ">": lighthouse, "<a:" + lighthouse + ">": lighthouse,
	}
	refused := []string{
		string(sandbox.DemoEmoji), ":thumbsup:", "thumbsup", "+1", "👍 ", "👍 👍", "👍👎", "👍/../@me", "%F0%9F%91%8D", "<:" + lighthouse, lighthouse + ">",
		"lighthouse:12", "lighthouse:99999999999999999999", "1", "é", "日", "@me", "..", strings.Repeat("👍\u200d", 20) + "👍",
	}
	for _, r := range reactionTools {
		t.Run(r.tool, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			for given, wire := range accepted {
				ref := sandbox.EmojiRef{Name: given}
				if wire == lighthouse {
					ref = sandbox.EmojiRef{ID: sandbox.DemoEmoji, Name: "lighthouse"}
				}
				message := b.world.AddMessage(sandbox.DemoShowcase, sandbox.Message{Reactions: []sandbox.Reaction{{Emoji: ref, Users: []discord.UserID{sandbox.BotID, sandbox.DemoOwner}}}})
				b.world.ResetRequests()
				a := b.call(r.tool, `{"channel_id":`+id(showcase)+`,"message_id":`+id(message)+r.more+`,"emoji":`+id(given)+`}`)
				want := strings.ReplaceAll(r.before+wire+r.after, sketch, string(message))
				if got := b.sent(); a.code != "" || len(got) != 1 || got[0] != want {
					t.Errorf("%q: code %q, Discord saw %q, want %q", given, a.code, got, want)
				}
			}
			b.world.ResetRequests()
			for _, given := range refused {
				a := b.call(r.tool, onSketch(r.more+`,"emoji":`+id(given)))
				if a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "👍, or a custom one as name:id") {
					t.Errorf("%q: code %q: %s", given, a.code, a.text)
				}
			}
			if got := b.sent(); len(got) != 0 {
				t.Errorf("Discord saw %q", got)
			}
		})
	}
}
