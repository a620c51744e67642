package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestSendMessage(t *testing.T) {
	t.Parallel()
	const post = "/channels/{general}/messages"
	long := strings.Repeat("ü", 2001)
	rows(t, []row{
		{name: "text", method: "POST", path: post, body: `{"content":"Ahoy"}`, status: 200, has: `"content":"Ahoy"`},
		{name: "two thousand characters", method: "POST", path: post, body: `{"content":"` + long[2:] + `"}`, status: 200},
		{name: "too long", method: "POST", path: post, body: `{"content":"` + long + `"}`, status: 400, code: 50035, has: `"content":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 2000 or fewer in length."}]}`},
		{name: "empty", method: "POST", path: post, body: `{"content":" "}`, status: 400, code: 50006},
		{name: "no body", method: "POST", path: post, status: 400, code: 50006},
		{name: "null is absent", method: "POST", path: post, body: `{"content":"x","embeds":null,"flags":null,"poll":null,"message_reference":null}`, status: 200},
		{name: "not JSON", method: "POST", path: post, body: `{"content":`, status: 400, code: 50109},
		{name: "wrong type", method: "POST", path: post, body: `{"content":7}`, status: 400, code: 50035, has: "STRING_TYPE_CONVERT"},
		{name: "unknown channel", method: "POST", path: "/channels/{nowhere}/messages", body: `{"content":"x"}`, status: 404, code: 10003},
		{name: "not an id", method: "POST", path: "/channels/general/messages", body: `{"content":"x"}`, status: 400, code: 50035, has: "is not snowflake"},
		{name: "hidden channel", method: "POST", path: "/channels/{staff}/messages", body: `{"content":"x"}`, status: 403, code: 50001},
		{name: "read-only channel", method: "POST", path: "/channels/{reads}/messages", body: `{"content":"x"}`, status: 403, code: 50013},
		{name: "category", method: "POST", path: "/channels/{category}/messages", body: `{"content":"x"}`, status: 400, code: 50008},
		{name: "forum", method: "POST", path: "/channels/{help}/messages", body: `{"content":"x"}`, status: 400, code: 50008},
		{name: "voice channel", method: "POST", path: "/channels/{lounge}/messages", body: `{"content":"x"}`, status: 200},
		{name: "embed", method: "POST", path: post, body: `{"embeds":[{"title":"T","url":"https://a.example","color":255,"timestamp":"2026-06-01T12:00:00Z","author":{"name":"A"},"image":{"url":"https://a.example/i.png"},"footer":{"text":"f"},"fields":[{"name":"n","value":"v"}]}]}`, status: 200, has: `"inline":false`},
		{name: "embed field without value", method: "POST", path: post, body: `{"embeds":[{"title":"T"},{"fields":[{"name":"n"}]}]}`, status: 400, code: 50035, has: `"embeds":{"1":{"fields":{"0":{"value"`},
		{name: "empty embed", method: "POST", path: post, body: `{"embeds":[{}]}`, status: 400, code: 50035, has: `"description"`},
		{name: "embeds of more than 6000", method: "POST", path: post, body: `{"embeds":[{"description":"` + strings.Repeat("a", 4000) + `"},{"description":"` + strings.Repeat("a", 2001) + `"}]}`, status: 400, code: 50035, has: "MAX_EMBED_SIZE_EXCEEDED"},
		{name: "eleven embeds", method: "POST", path: post, body: `{"embeds":[` + strings.Repeat(`{"title":"t"},`, 10) + `{"title":"t"}]}`, status: 400, code: 50035, has: "10 or fewer"},
		{name: "embed with a bad address", method: "POST", path: post, body: `{"embeds":[{"title":"t","url":"ftp://a.example"}]}`, status: 400, code: 50035, has: "URL_TYPE_INVALID_SCHEME"},
		{name: "reply", method: "POST", path: post, body: `{"content":"yes","message_reference":{"message_id":"{poll}"}}`, status: 200, has: `"referenced_message":{`},
		{name: "reply to nothing", method: "POST", path: post, body: `{"content":"yes","message_reference":{"message_id":"{nowhere}"}}`, status: 400, code: 50035, has: "REPLIES_UNKNOWN_MESSAGE"},
		{name: "reply to nothing that may fail", method: "POST", path: post, body: `{"content":"yes","message_reference":{"message_id":"{nowhere}","fail_if_not_exists":false}}`, status: 200},
		{name: "forward", method: "POST", path: post, body: `{"message_reference":{"type":1,"channel_id":"{showcase}","message_id":"{sketch}"}}`, status: 200, has: `"message_snapshots":[{"message":{`},
		{name: "forward from a hidden channel", method: "POST", path: post, body: `{"message_reference":{"type":1,"channel_id":"{staff}","message_id":"{sketch}"}}`, status: 403, code: 50001},
		{name: "sticker", method: "POST", path: post, body: `{"sticker_ids":["{sticker}"]}`, status: 200, has: `"sticker_items":[{"id":"{sticker}"`},
		{name: "unknown sticker", method: "POST", path: post, body: `{"sticker_ids":["{nowhere}"]}`, status: 400, code: 50081},
		{name: "poll", method: "POST", path: post, body: `{"poll":{"question":{"text":"When?"},"answers":[{"poll_media":{"text":"Now","emoji":{"name":"⚓"}}},{"poll_media":{"text":"Later"}}],"duration":1}}`, status: 200, has: `"expiry":"2026-06-01T13:00:00`},
		{name: "poll without answers", method: "POST", path: post, body: `{"poll":{"question":{"text":"When?"},"answers":[]}}`, status: 400, code: 50035},
		{name: "poll without the permission", method: "POST", path: "/channels/{clubgeneral}/messages", body: `{"poll":{"question":{"text":"When?"},"answers":[{"poll_media":{"text":"Now"}}]}}`, status: 403, code: 50013,
			before: func(d *Discord) {
				d.world.guilds[DemoClub].roles[discord.RoleID(DemoClub)].Permissions &^= discord.SendPolls
			}},
		{name: "silent", method: "POST", path: post, body: `{"content":"psst","flags":4096}`, status: 200, has: `"flags":4096`},
		{name: "a flag that cannot be set is dropped", method: "POST", path: post, body: `{"content":"psst","flags":1}`, status: 200, has: `"flags":0`},
		{name: "contradicting allowed_mentions", method: "POST", path: post, body: `{"content":"x","allowed_mentions":{"parse":["users"],"users":["{member}"]}}`, status: 400, code: 50035, has: "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"},
		{name: "unknown kind of mention", method: "POST", path: post, body: `{"content":"x","allowed_mentions":{"parse":["here"]}}`, status: 400, code: 50035, has: "BASE_TYPE_CHOICES"},
		{name: "archived thread opens", method: "POST", path: "/channels/{archived}/messages", body: `{"content":"again"}`, status: 200,
			after: func(t *testing.T, d *Discord) {
				if c, _ := d.Channel(DemoArchived); c.Thread.Archived {
					t.Error("the thread is still archived")
				}
			}},
		{name: "layout", method: "POST", path: post, body: `{"flags":32768,"components":[{"type":17,"accent_color":1,"components":[{"type":10,"content":"hi"},{"type":9,"components":[{"type":10,"content":"x"}],"accessory":{"type":11,"media":{"url":"https://a.example/i.png"}}},{"type":14},{"type":1,"components":[{"type":2,"style":1,"custom_id":"a","label":"A"},{"type":2,"style":5,"url":"https://a.example","label":"B"}]}]},{"type":12,"items":[{"media":{"url":"https://a.example/i.png"}}]}]}`, status: 200, has: `"type":17`},
		{name: "layout with content", method: "POST", path: post, body: `{"flags":32768,"content":"x","components":[{"type":10,"content":"hi"}]}`, status: 400, code: 50035, has: "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"},
		{name: "layout without the flag", method: "POST", path: post, body: `{"components":[{"type":10,"content":"hi"}]}`, status: 400, code: 50035, has: "BASE_TYPE_CHOICES"},
		{name: "select", method: "POST", path: post, body: `{"content":"x","components":[{"type":1,"components":[{"type":3,"custom_id":"s","options":[{"label":"l","value":"v"}]}]}]}`, status: 200, has: `"options":[{"label":"l"`},
		{name: "button without custom_id", method: "POST", path: post, body: `{"content":"x","components":[{"type":1,"components":[{"type":2,"style":1,"label":"l"}]}]}`, status: 400, code: 50035, has: `"custom_id"`},
		{name: "custom_id twice", method: "POST", path: post, body: `{"content":"x","components":[{"type":1,"components":[{"type":2,"style":1,"label":"l","custom_id":"a"},{"type":2,"style":1,"label":"l","custom_id":"a"}]}]}`, status: 400, code: 50035, has: "COMPONENT_CUSTOM_ID_DUPLICATED"},
	})
}

func TestReplyNeedsHistory(t *testing.T) {
	t.Parallel()
	rows(t, []row{{
		name: "refused", method: "POST", path: "/channels/{general}/messages", body: `{"content":"x","message_reference":{"message_id":"{poll}"}}`,
		status: 403, code: 160002, before: func(d *Discord) { deny(d, DemoGeneral, discord.ReadMessageHistory) },
	}})
}

// deny takes permissions from the bot in a channel.
func deny(d *Discord, c discord.ChannelID, p discord.Permissions) {
	d.SetOverwrite(c, discord.Overwrite{ID: discord.OverwriteID(BotID), Type: discord.OverwriteMember, Deny: p})
}

func TestNotified(t *testing.T) {
	t.Parallel()
	all := "@everyone <@{member}> <@&{mods}> <@&{events}>"
	everybody := Mentions{Everyone: true, Roles: []discord.RoleID{DemoModeratorRole, DemoEventsRole}, Users: []discord.UserID{DemoMember}}
	for _, c := range []struct {
		name, channel, body string
		want                Mentions
	}{
		{"no allowed_mentions", "{general}", `{"content":"` + all + `"}`, everybody},
		{"nothing allowed", "{general}", `{"content":"` + all + `","allowed_mentions":{"parse":[]}}`, Mentions{}},
		{"users", "{general}", `{"content":"` + all + `","allowed_mentions":{"parse":["users"]}}`, Mentions{Users: []discord.UserID{DemoMember}}},
		{"one role", "{general}", `{"content":"` + all + `","allowed_mentions":{"roles":["{events}"]}}`, Mentions{Roles: []discord.RoleID{DemoEventsRole}}},
		{"everyone", "{general}", `{"content":"` + all + `","allowed_mentions":{"parse":["everyone"]}}`, Mentions{Everyone: true}},
		{"without MENTION_EVERYONE", "{clubgeneral}", `{"content":"@here <@{reader}>"}`, Mentions{Users: []discord.UserID{DemoReader}}},
		{"a user of no account", "{general}", `{"content":"<@{nowhere}>"}`, Mentions{}},
		{"a reply", "{general}", `{"content":"x","message_reference":{"message_id":"{poll}"}}`, Mentions{Users: []discord.UserID{DemoModerator}}},
		{"a quiet reply", "{general}", `{"content":"x","message_reference":{"message_id":"{poll}"},"allowed_mentions":{"parse":[]}}`, Mentions{}},
		{"the bot itself", "{general}", `{"content":"<@{bot}>"}`, Mentions{}},
		{"a layout", "{general}", `{"flags":32768,"components":[{"type":10,"content":"<@{member}>"}]}`, Mentions{Users: []discord.UserID{DemoMember}}},
		{"an embed pings nobody", "{general}", `{"embeds":[{"description":"@everyone <@{member}>"}]}`, Mentions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := demo(t)
			channel := discord.ChannelID(demoNames.Replace(c.channel))
			sent := get[messageReply](t, d, "POST", "/channels/"+string(channel)+"/messages", demoNames.Replace(c.body))
			m, _ := d.Message(channel, sent.ID)
			if fmt.Sprint(m.Notified) != fmt.Sprint(c.want) {
				t.Errorf("notified %v, want %v", m.Notified, c.want)
			}
		})
	}
}

type messageReply struct {
	ID      discord.MessageID `json:"id"`
	Content string            `json:"content"`
}

func ids(list []messageReply) (out []discord.MessageID) {
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out
}

func TestReadMessagesPages(t *testing.T) {
	t.Parallel()
	d := demo(t)
	d.AddChannel(Channel{ID: "1200000000000009000", Guild: DemoGuild, Type: discord.GuildText, Name: "log"})
	var all []discord.MessageID
	for i := range 10 {
		all = append(all, d.AddMessage("1200000000000009000", Message{ID: d.message(noon, time.Duration(10-i)*time.Minute), Content: "x"}))
	}
	for _, c := range []struct {
		query string
		want  []int // places in all
	}{
		{"", []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
		{"?limit=3", []int{9, 8, 7}},
		{"?limit=2&before=" + string(all[5]), []int{4, 3}},
		{"?limit=2&after=" + string(all[5]), []int{7, 6}},
		{"?limit=3&around=" + string(all[5]), []int{6, 5, 4}},
		{"?limit=4&around=" + string(all[9]), []int{9, 8, 7, 6}},
		{"?before=" + string(all[0]), nil},
	} {
		got := ids(get[[]messageReply](t, d, "GET", "/channels/1200000000000009000/messages"+c.query, ""))
		var want []discord.MessageID
		for _, i := range c.want {
			want = append(want, all[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", c.query, got, want)
		}
	}
}

func TestReadMessages(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "list", method: "GET", path: "/channels/{general}/messages", status: 200, has: "Good morning, keepers!"},
		{name: "limit too high", method: "GET", path: "/channels/{general}/messages?limit=101", status: 400, code: 50035, has: "NUMBER_TYPE_MAX"},
		{name: "limit too low", method: "GET", path: "/channels/{general}/messages?limit=0", status: 400, code: 50035, has: "NUMBER_TYPE_MIN"},
		{name: "two cursors", method: "GET", path: "/channels/{general}/messages?before={poll}&after={poll}", status: 400, code: 50035},
		{name: "hidden", method: "GET", path: "/channels/{staff}/messages", status: 403, code: 50001},
		{name: "nothing without history", method: "GET", path: "/channels/{general}/messages", status: 200, has: "[]",
			before: func(d *Discord) { deny(d, DemoGeneral, discord.ReadMessageHistory) }},
		{name: "one", method: "GET", path: "/channels/{showcase}/messages/{sketch}", status: 200, has: `"count":2`},
		{name: "one in another channel", method: "GET", path: "/channels/{general}/messages/{sketch}", status: 404, code: 10008},
		{name: "one without history", method: "GET", path: "/channels/{general}/messages/{poll}", status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoGeneral, discord.ReadMessageHistory) }},
	})
}

func TestMessageContentIntent(t *testing.T) {
	t.Parallel()
	d := checked(t, DemoWith(Options{WithoutMessageContent: true}))
	mentions := d.AddMessage(DemoGeneral, Message{Author: DemoMember, Content: "hello <@" + string(BotID) + ">", Mentions: Mentions{Users: []discord.UserID{BotID}}})
	own := d.AddMessage(DemoGeneral, Message{Content: "my words"})
	other := d.AddMessage(DemoGeneral, Message{Author: DemoMember, Content: "their words"})
	for id, want := range map[discord.MessageID]string{mentions: "hello <@" + string(BotID) + ">", own: "my words", other: ""} {
		if m := get[messageReply](t, d, "GET", "/channels/"+string(DemoGeneral)+"/messages/"+string(id), ""); m.Content != want {
			t.Errorf("content %q, want %q", m.Content, want)
		}
	}
}

func TestNonce(t *testing.T) {
	t.Parallel()
	now := noon
	d := checked(t, DemoWith(Options{Clock: func() time.Time { return now }}))
	path := "/channels/" + string(DemoGeneral) + "/messages"
	first := get[messageReply](t, d, "POST", path, `{"content":"once","nonce":"n1","enforce_nonce":true}`)
	if again := get[messageReply](t, d, "POST", path, `{"content":"once","nonce":"n1","enforce_nonce":true}`); again.ID != first.ID {
		t.Error("the same nonce sent a second message")
	}
	if other := get[messageReply](t, d, "POST", path, `{"content":"once","nonce":"n2","enforce_nonce":true}`); other.ID == first.ID {
		t.Error("another nonce gave the old message")
	}
	if loose := get[messageReply](t, d, "POST", path, `{"content":"once","nonce":"n1"}`); loose.ID == first.ID {
		t.Error("a nonce that is not enforced gave the old message")
	}
	now = now.Add(10 * time.Minute)
	if late := get[messageReply](t, d, "POST", path, `{"content":"once","nonce":"n1","enforce_nonce":true}`); late.ID == first.ID {
		t.Error("a nonce was kept for ten minutes")
	}
	if status, _ := do(t, d, "POST", path, `{"content":"x","nonce":"`+strings.Repeat("a", 26)+`"}`); status != 400 {
		t.Errorf("a nonce of 26 characters: status %d", status)
	}
}

func TestEditMessage(t *testing.T) {
	t.Parallel()
	const path = "/channels/{general}/messages/{mine}"
	rows(t, []row{
		{name: "content", method: "PATCH", path: path, body: `{"content":"new"}`, status: 200, has: `"edited_timestamp":"2026-06-01T12:00:00.000000+00:00"`},
		{name: "keeps what is absent", method: "PATCH", path: path, body: `{"embeds":[{"title":"t"}]}`, status: 200, has: `"content":"mine"`},
		{name: "null clears", method: "PATCH", path: path, body: `{"content":null,"embeds":[{"title":"t"}]}`, status: 200, has: `"content":""`},
		{name: "nothing left", method: "PATCH", path: path, body: `{"content":""}`, status: 400, code: 50006,
			after: func(t *testing.T, d *Discord) {
				if m, _ := d.Message(DemoGeneral, mine); m.Content != "mine" {
					t.Errorf("a refused edit left %q", m.Content)
				}
			}},
		{name: "another's", method: "PATCH", path: "/channels/{general}/messages/{poll}", body: `{"content":"x"}`, status: 403, code: 50005},
		{name: "another's embeds hidden", method: "PATCH", path: "/channels/{news}/messages/{release}", body: `{"flags":4}`, status: 200, has: `"embeds":[]`},
		{name: "unknown", method: "PATCH", path: "/channels/{general}/messages/{nowhere}", body: `{"content":"x"}`, status: 404, code: 10008},
		{name: "an edit pings nobody", method: "PATCH", path: path, body: `{"content":"@everyone"}`, status: 200, has: `"mention_everyone":true`,
			after: func(t *testing.T, d *Discord) {
				if m, _ := d.Message(DemoGeneral, mine); !m.Notified.Nobody() {
					t.Errorf("notified %v", m.Notified)
				}
			}},
		{name: "in an archived thread", method: "PATCH", path: "/channels/{archived}/messages/{mine}", body: `{"content":"x"}`, status: 400, code: 50083,
			before: func(d *Discord) { d.AddMessage(DemoArchived, Message{ID: mine, Content: "x"}) }},
	})
}

func TestDeleteMessage(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "own", method: "DELETE", path: "/channels/{general}/messages/{mine}", status: 204,
			after: func(t *testing.T, d *Discord) {
				if _, there := d.Message(DemoGeneral, mine); there {
					t.Error("the message is still there")
				}
				if n := len(d.AuditLog(DemoGuild)); n != 0 {
					t.Errorf("%d audit entries for the bot's own message", n)
				}
			}},
		{name: "another's", method: "DELETE", path: "/channels/{general}/messages/{poll}", status: 204,
			after: func(t *testing.T, d *Discord) {
				if log := d.AuditLog(DemoGuild); len(log) != 1 || log[0].Action != auditMessageDelete || log[0].Target != string(DemoModerator) {
					t.Errorf("audit log %+v", log)
				}
			}},
		{name: "another's without MANAGE_MESSAGES", method: "DELETE", path: "/channels/{general}/messages/{poll}", status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoGeneral, discord.ManageMessages) }},
		{name: "twice", method: "DELETE", path: "/channels/{general}/messages/{nowhere}", status: 404, code: 10008},
		{name: "in an archived thread", method: "DELETE", path: "/channels/{archived}/messages/{mine}", status: 204,
			before: func(d *Discord) { d.AddMessage(DemoArchived, Message{ID: mine, Content: "x"}) }},
		{name: "a system message", method: "DELETE", path: "/channels/{thread}/messages/{mine}", status: 403, code: 50021,
			before: func(d *Discord) { d.AddMessage(DemoThread, Message{ID: mine, Type: typeThreadStarter}) }},
	})
}

func TestBulkDelete(t *testing.T) {
	t.Parallel()
	const path = "/channels/{general}/messages/bulk-delete"
	second := discord.IDAt(noon.Add(-time.Hour))
	add := func(d *Discord) {
		d.AddMessage(DemoGeneral, Message{ID: discord.MessageID(second), Author: DemoTimedOut, Content: "x"})
	}
	rows(t, []row{
		{name: "two", method: "POST", path: path, body: `{"messages":["{mine}","` + second + `"]}`, status: 204, before: add,
			after: func(t *testing.T, d *Discord) {
				if _, there := d.Message(DemoGeneral, discord.MessageID(second)); there {
					t.Error("the message is still there")
				}
				if log := d.AuditLog(DemoGuild); len(log) != 1 || log[0].Options.Count != "2" {
					t.Errorf("audit log %+v", log)
				}
			}},
		{name: "one", method: "POST", path: path, body: `{"messages":["{mine}"]}`, status: 400, code: 50016},
		{name: "too old", method: "POST", path: path, body: `{"messages":["{mine}","{poll}"]}`, status: 400, code: 50034,
			after: func(t *testing.T, d *Discord) {
				if _, there := d.Message(DemoGeneral, mine); !there {
					t.Error("a refused call deleted")
				}
			}},
		{name: "duplicates", method: "POST", path: path, body: `{"messages":["{mine}","{mine}"]}`, status: 400, code: 50034},
		{name: "without the permission", method: "POST", path: "/channels/{clubgeneral}/messages/bulk-delete", body: `{"messages":["{mine}","` + second + `"]}`, status: 403, code: 50013},
	})
}

func TestCrosspost(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "publishes to followers", method: "POST", path: "/channels/{news}/messages/{release}/crosspost", status: 200, has: `"flags":1`,
			before: func(d *Discord) {
				d.world.webhooks["1200000000000009100"] = &Webhook{ID: "1200000000000009100", Type: 2, Guild: DemoClub, Channel: DemoClubGeneral, Source: DemoAnnouncements, Name: "News"}
			},
			after: func(t *testing.T, d *Discord) {
				all := d.Messages(DemoClubGeneral)
				if last := all[len(all)-1]; last.Flags != flagIsCrosspost || last.Reference.Message != DemoNews {
					t.Errorf("the follower got %+v", last)
				}
			}},
		{name: "twice", method: "POST", path: "/channels/{news}/messages/{release}/crosspost", status: 400, code: 40033,
			before: func(d *Discord) { d.world.channels[DemoAnnouncements].messages[0].Flags = flagCrossposted }},
		{name: "text channel", method: "POST", path: "/channels/{general}/messages/{mine}/crosspost", status: 400, code: 50024},
		{name: "another's without MANAGE_MESSAGES", method: "POST", path: "/channels/{news}/messages/{release}/crosspost", status: 403, code: 50013,
			before: func(d *Discord) { deny(d, DemoAnnouncements, discord.ManageMessages) }},
	})
}
