package sandbox

import (
	"slices"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestReactions(t *testing.T) {
	t.Parallel()
	const path = "/channels/{showcase}/messages/{sketch}/reactions"
	const fire, wave = "/%F0%9F%94%A5", "/%F0%9F%91%8B"
	counts := func(want ...int) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			t.Helper()
			m, _ := d.Message(DemoShowcase, DemoSketch)
			var got []int
			for _, r := range m.Reactions {
				got = append(got, len(r.Users))
			}
			if !slices.Equal(got, want) {
				t.Errorf("reactions %v, want %v", got, want)
			}
		}
	}
	twenty := func(d *Discord) {
		m := d.world.channels[DemoShowcase].messages[0]
		for i := len(m.Reactions); i < 20; i++ {
			m.Reactions = append(m.Reactions, Reaction{Emoji: EmojiRef{Name: string(rune(0x1F600 + i))}, Users: []discord.UserID{DemoMember}})
		}
	}
	rows(t, []row{
		{name: "add", method: "PUT", path: path + wave + "/@me", status: 204, after: counts(2, 1, 1)},
		{name: "join", method: "PUT", path: path + fire + "/@me", status: 204, after: counts(3, 1)},
		{name: "the guild's own", method: "PUT", path: path + "/lighthouse:{emoji}/@me", status: 204, after: counts(2, 2)},
		{name: "unknown emoji", method: "PUT", path: path + "/thumbsup/@me", status: 400, code: 10014},
		{name: "unknown custom emoji", method: "PUT", path: path + "/x:{nowhere}/@me", status: 400, code: 10014},
		{name: "a new one without ADD_REACTIONS", method: "PUT", path: path + wave + "/@me", status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoShowcase, discord.AddReactions) }},
		{name: "an old one without ADD_REACTIONS", method: "PUT", path: path + fire + "/@me", status: 204,
			before: func(d *Discord) { deny(d, DemoShowcase, discord.AddReactions) }},
		{name: "the twenty-first", method: "PUT", path: path + wave + "/@me", status: 400, code: 30010, before: twenty},
		{name: "in an archived thread", method: "PUT", path: "/channels/{archived}/messages/{mine}/reactions" + wave + "/@me", status: 400, code: 50083,
			before: func(d *Discord) { d.AddMessage(DemoArchived, Message{ID: mine}) }},
		{name: "list", method: "GET", path: path + fire, status: 200, has: `"username":"saltwick"`},
		{name: "list after", method: "GET", path: path + fire + "?after={owner}&limit=1", status: 200, has: `[{"id":"{mod}"`},
		{name: "list bursts", method: "GET", path: path + fire + "?type=1", status: 200, has: `[]`},
		{name: "list, bad limit", method: "GET", path: path + fire + "?limit=101", status: 400, code: 50035},
		{name: "remove another's", method: "DELETE", path: path + fire + "/{mod}", status: 204, after: counts(1, 1)},
		{name: "remove another's without the permission", method: "DELETE", path: path + fire + "/{mod}", status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoShowcase, discord.ManageMessages) }},
		{name: "remove of an emoji that is not there", method: "DELETE", path: path + wave + "/@me", status: 400, code: 10014},
		{name: "remove one's own", method: "DELETE", path: path + fire + "/@me", status: 204,
			before: func(d *Discord) {
				r := &d.world.channels[DemoShowcase].messages[0].Reactions[0]
				r.Users = append(r.Users, BotID)
			}, after: counts(2, 1)},
		{name: "clear an emoji", method: "DELETE", path: path + fire, status: 204, after: counts(1)},
		{name: "clear all", method: "DELETE", path: path, status: 204, after: counts()},
		{name: "clear all without the permission", method: "DELETE", path: path, status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoShowcase, discord.ManageMessages) }},
	})
}

func TestUnicodeEmoji(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"👍": true, "👍🏽": true, "❤️": true, "1️⃣": true, "🇩🇪": true, "👩‍🚀": true, "©️": true,
		"": false, "1": false, "x": false, "thumbsup": false, "👍x": false, " ": false,
	} {
		if got := isUnicodeEmoji(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}

func TestPins(t *testing.T) {
	t.Parallel()
	pinned := func(in discord.ChannelID, id discord.MessageID, want bool) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			t.Helper()
			if m, _ := d.Message(in, id); m.Pinned.IsZero() == want {
				t.Errorf("pinned at %v", m.Pinned)
			}
		}
	}
	rows(t, []row{
		{name: "list", method: "GET", path: "/channels/{rules}/messages/pins", status: 200, has: `"has_more":false`},
		{name: "list before", method: "GET", path: "/channels/{rules}/messages/pins?before=2015-02-01T00:00:00Z&limit=1", status: 200, has: `"items":[]`},
		{name: "list, more", method: "GET", path: "/channels/{general}/messages/pins?limit=1", status: 200, has: `"has_more":true`,
			before: func(d *Discord) {
				for _, m := range d.world.channels[DemoGeneral].messages[:2] {
					m.Pinned = noon
				}
			}},
		{name: "list, bad limit", method: "GET", path: "/channels/{rules}/messages/pins?limit=51", status: 400, code: 50035},
		{name: "list, old form", method: "GET", path: "/channels/{rules}/pins", status: 200, has: `"pinned":true`},
		{name: "pin", method: "PUT", path: "/channels/{general}/messages/pins/{poll}", status: 204, after: func(t *testing.T, d *Discord) {
			pinned(DemoGeneral, DemoPoll, true)(t, d)
			all := d.Messages(DemoGeneral)
			if last := all[len(all)-1]; last.Type != typePinNotice || last.Reference.Message != DemoPoll {
				t.Errorf("no notice, but %+v", last)
			}
			if log := d.AuditLog(DemoGuild); len(log) != 1 || log[0].Action != auditMessagePin {
				t.Errorf("audit log %+v", log)
			}
		}},
		{name: "pin, old form", method: "PUT", path: "/channels/{general}/pins/{poll}", status: 204, after: pinned(DemoGeneral, DemoPoll, true)},
		{name: "pin twice", method: "PUT", path: "/channels/{rules}/messages/pins/{rule}", status: 204, after: func(t *testing.T, d *Discord) {
			if n := len(d.Messages(DemoRules)); n != 1 {
				t.Errorf("%d messages", n)
			}
		}},
		{name: "pin without the permission", method: "PUT", path: "/channels/{general}/messages/pins/{poll}", status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoGeneral, discord.PinMessages) }},
		{name: "pin too many", method: "PUT", path: "/channels/{general}/messages/pins/{poll}", status: 400, code: 30003,
			before: func(d *Discord) {
				for range maxPins {
					d.AddMessage(DemoGeneral, Message{Content: "x", Pinned: noon})
				}
			}},
		{name: "pin nothing", method: "PUT", path: "/channels/{general}/messages/pins/{nowhere}", status: 404, code: 10008},
		{name: "unpin", method: "DELETE", path: "/channels/{rules}/messages/pins/{rule}", status: 204, after: pinned(DemoRules, DemoRulesMessage, false)},
		{name: "unpin without the permission", method: "DELETE", path: "/channels/{rules}/messages/pins/{rule}", status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoRules, discord.PinMessages) }},
	})
}
