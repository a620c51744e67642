package discordtools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// into decodes the structured answer.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.data, v); err != nil {
		t.Fatalf("%v: %s", err, a.data)
	}
}

// object is arguments as JSON.
func object(t *testing.T, pairs ...any) string {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// written adds n messages of a member, one a second, and gives their ids, the
// oldest first.
func written(d *sandbox.Discord, in discord.ChannelID, n int, from time.Time, m sandbox.Message) (ids []discord.MessageID) {
	if m.Author == "" {
		m.Author = sandbox.DemoMember
	}
	content := m.Content
	for i := range n {
		m.ID = discord.MessageID(d.IDAt(from.Add(time.Duration(i) * time.Second)))
		m.Content = content + strconv.Itoa(i)
		ids = append(ids, d.AddMessage(in, m))
	}
	return ids
}

// bulk is what a bulk delete answers.
type bulk struct {
	Count    int                 `json:"count"`
	Deleted  []discord.MessageID `json:"deleted_ids"`
	TooOld   []discord.MessageID `json:"too_old"`
	NotFound []discord.MessageID `json:"not_found"`
}

// L14 Bulk delete edge cases.
func TestL14BulkDeleteEdges(t *testing.T) {
	t.Parallel()
	const limit = 14 * 24 * time.Hour
	one := func(age time.Duration) func(d *sandbox.Discord) discord.MessageID {
		return func(d *sandbox.Discord) discord.MessageID {
			return written(d, sandbox.DemoGeneral, 1, now.Add(-age), sandbox.Message{})[0]
		}
	}
	rows := []struct {
		shows    string
		fresh    int
		more     func(*sandbox.Discord) discord.MessageID // another id
		tooOld   bool                                     // what becomes of it
		notFound bool
	}{
		{"fresh ones", 50, nil, false, false},
		{"two", 2, nil, false, false},
		{"a hundred", 100, nil, false, false},
		{"one of 15 days among 50", 50, one(limit + 24*time.Hour), true, false},
		{"one exactly at the limit", 50, one(limit), true, false},
		{"one a minute before it: the request takes time", 50, one(limit - time.Minute), true, false},
		{"one an hour before it", 50, one(limit - time.Hour), false, false},
		{"one that no longer exists", 50, func(*sandbox.Discord) discord.MessageID {
			return discord.MessageID(discord.IDAt(now.Add(-30 * time.Minute)))
		}, false, true},
		{"one of another channel", 50, func(d *sandbox.Discord) discord.MessageID {
			return written(d, sandbox.DemoShowcase, 1, now.Add(-50*time.Minute), sandbox.Message{})[0]
		}, false, true},
	}
	for _, r := range rows {
		t.Run(r.shows, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			ids := written(b.world, sandbox.DemoGeneral, r.fresh, now.Add(-2*time.Hour), sandbox.Message{Content: "spam"})
			all, going := slices.Clone(ids), slices.Clone(ids)
			if r.more != nil {
				extra := r.more(b.world)
				all = slices.Insert(all, len(all)/2, extra)
				if !r.tooOld && !r.notFound {
					going = slices.Insert(going, len(going)/2, extra)
				}
			}
			before := len(b.world.Messages(sandbox.DemoGeneral))

			preview := b.call("messages_bulk_delete", object(t, "channel_id", general, "message_ids", all))
			var shown struct{ Facts mcpcore.Facts }
			preview.into(t, &shown)
			want := map[string]int{"will be deleted": len(going), "too old, will stay": count(r.tooOld), "not found": count(r.notFound)}
			for _, f := range shown.Facts {
				n, listed := want[f.Name]
				if number, _, _ := strings.Cut(f.Value, ":"); listed && number != fmt.Sprint(n) {
					t.Errorf("preview: %s is %q, want %d", f.Name, f.Value, n)
				}
				if f.Name == "authors" && !strings.HasPrefix(f.Value, "tomasz.k (Tomasz): ") {
					t.Errorf("preview: authors are %q", f.Value)
				}
			}
			if preview.code != mcpcore.CodeDryRun || len(shown.Facts) != 4 {
				t.Fatalf("preview: code %q, facts %v", preview.code, shown.Facts)
			}

			a := b.call("messages_bulk_delete", object(t, "channel_id", general, "message_ids", all, "__confirm", true))
			var got bulk
			a.into(t, &got)
			if a.code != "" || got.Count != len(going) || !slices.Equal(got.Deleted, going) || len(got.TooOld) != count(r.tooOld) || len(got.NotFound) != count(r.notFound) {
				t.Fatalf("code %q: %s", a.code, a.text)
			}
			if after := len(b.world.Messages(sandbox.DemoGeneral)); before-after != len(going) {
				t.Errorf("%d messages are gone, %d were told", before-after, len(going))
			}
		})
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// A deletion that looks through pages tells how far it is.
func TestBulkDeleteTellsItsProgress(t *testing.T) {
	t.Parallel()
	scratch := written(sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return now }}), sandbox.DemoGeneral, 130, now.Add(-2*time.Hour), sandbox.Message{})
	setup := func(d *sandbox.Discord) {
		written(d, sandbox.DemoGeneral, 130, now.Add(-2*time.Hour), sandbox.Message{})
	}
	args := object(t, "channel_id", general, "message_ids", []discord.MessageID{scratch[0], scratch[129]}, "__confirm", true)
	tellsProgress(t, setup, "messages_bulk_delete", args, "0/4 looking for the messages", "1/4 looking for the messages", "3/4 deleting 2 messages")
}

// L14 Bulk delete edge cases.
func TestL14BulkDeleteRefusals(t *testing.T) {
	t.Parallel()
	b := start(t)
	ids := written(b.world, sandbox.DemoGeneral, 101, now.Add(-time.Hour), sandbox.Message{})
	old := written(b.world, sandbox.DemoGeneral, 2, now.Add(-16*24*time.Hour), sandbox.Message{})
	gone := []discord.MessageID{discord.MessageID(discord.IDAt(now.Add(-3 * time.Hour))), discord.MessageID(discord.IDAt(now.Add(-4 * time.Hour)))}
	for _, r := range []struct {
		shows string
		ids   []discord.MessageID
		code  mcpcore.Code
		says  string
	}{
		{"one", ids[:1], mcpcore.CodeValidation, "message_ids: must have at least 2 items, this has 1"},
		{"none", []discord.MessageID{}, mcpcore.CodeValidation, "message_ids: must have at least 2 items, this has 0"},
		{"101", ids, mcpcore.CodeValidation, "message_ids: must have at most 100 items, this has 101"},
		{"the same twice", []discord.MessageID{ids[0], ids[1], ids[0]}, mcpcore.CodeValidation, "message_ids: must not repeat an item"},
		{"all too old", old, mcpcore.CodeValidation, "one by one with messages_delete"},
		{"none of them there", gone, mcpcore.CodeNotFound, "none of the messages is in this channel"},
	} {
		before := len(b.world.Messages(sandbox.DemoGeneral))
		a := b.call("messages_bulk_delete", object(t, "channel_id", general, "message_ids", r.ids, "__confirm", true))
		if a.code != r.code || !strings.Contains(strings.ToLower(a.text), strings.ToLower(r.says)) {
			t.Errorf("%s: code %q: %s", r.shows, a.code, a.text)
		}
		if after := len(b.world.Messages(sandbox.DemoGeneral)); after != before {
			t.Errorf("%s: %d messages are gone", r.shows, before-after)
		}
	}
}

// L18 Time fields.
func TestL18PinsBefore(t *testing.T) {
	t.Parallel()
	b := start(t)
	var pinned []discord.MessageID // the latest pin first
	for i := range 3 {
		at := now.Add(-time.Duration(i+1) * time.Hour)
		pinned = append(pinned, b.world.AddMessage(sandbox.DemoGeneral, sandbox.Message{
			ID: discord.MessageID(b.world.IDAt(at)), Author: sandbox.DemoMember, Content: "pin", Pinned: at,
		}))
	}
	for before, want := range map[string]int{
		"2026-03-14T15:09:26Z":      3,
		"2026-03-14T15:09:26+00:00": 3,
		"2026-03-14T15:09:26+02:00": 1, // 13:09:26 at UTC, two hours earlier
		"2026-03-14T10:09:26-05:00": 3,
		"2000-01-01T00:00:00Z":      0,
		"2200-01-01T00:00:00Z":      3,
	} {
		a := b.call("messages_list_pins", object(t, "channel_id", general, "before", before))
		var got struct {
			Pins []struct {
				ID discord.MessageID `json:"message_id"`
			}
		}
		a.into(t, &got)
		if a.code != "" || len(got.Pins) != want || want > 0 && got.Pins[want-1].ID != pinned[2] {
			t.Errorf("before %s: code %q, %d pins, want %d", before, a.code, len(got.Pins), want)
		}
	}
	b.world.ResetRequests()
	for _, before := range []string{
		"2031-05-01T18:00:00", "2031-05-01", "2031-05-01 18:00:00Z", "1777777777", "tomorrow", "2031-13-01T00:00:00Z", "", string(pinned[0]),
	} {
		a := b.call("messages_list_pins", object(t, "channel_id", general, "before", before))
		if a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "before: must be a time with an offset") {
			t.Errorf("before %q: code %q: %s", before, a.code, a.text)
		}
	}
	if got := b.sent(); len(got) > 0 {
		t.Errorf("Discord saw %q", got)
	}
}

// loud mentions everybody there is.
const loud = "Deploy done @everyone @here <@&" + string(sandbox.DemoEventsRole) + "> <@&" + string(sandbox.DemoMemberRole) + "> <@" + string(sandbox.DemoMember) + "> <@!" + string(sandbox.DemoOwner) + ">"

// last is the latest message of a channel.
func last(t *testing.T, d *sandbox.Discord, in discord.ChannelID) sandbox.Message {
	t.Helper()
	all := d.Messages(in)
	if len(all) == 0 {
		t.Fatalf("%s has no message", in)
	}
	return all[len(all)-1]
}

// L20 Unwanted pings.
func TestL20NobodyIsPinged(t *testing.T) {
	t.Parallel()
	ownID := discord.MessageID(discord.IDAt(now.Add(-time.Hour)))
	rows := []struct {
		shows, tool string
		args        []any
	}{
		{"text", "messages_send", []any{"channel_id", general, "content", loud}},
		{"text with null elsewhere", "messages_send", []any{"channel_id", general, "content", loud, "embeds", nil}},
		{"an embed", "messages_send", []any{"channel_id", general, "embeds", []any{map[string]any{"title": loud, "description": loud}}}},
		{"text and an embed", "messages_send", []any{"channel_id", general, "content", loud, "embeds", []any{map[string]any{"description": loud}}}},
		{"a reply", "messages_send", []any{"channel_id", general, "content", loud, "message_reference", map[string]any{"message_id": sandbox.DemoPoll}}},
		{"a reply, its author not to be told", "messages_send", []any{
			"channel_id", general, "content", loud, "message_reference", map[string]any{"message_id": sandbox.DemoPoll},
			"allowed_mentions", map[string]any{"parse": []any{}, "replied_user": false},
		}},
		{"empty lists", "messages_send", []any{"channel_id", general, "content", loud, "allowed_mentions", map[string]any{"parse": []any{}, "users": []any{}, "roles": []any{}}}},
		{"no member at all", "messages_send", []any{"channel_id", general, "content", loud, "allowed_mentions", map[string]any{}}},
		{"a forward", "messages_send", []any{
			"channel_id", general, "message_reference", map[string]any{"type": 1, "message_id": sandbox.DemoSketch, "channel_id": sandbox.DemoShowcase},
		}},
		{"a poll", "messages_send", []any{"channel_id", general, "content", loud, "poll", map[string]any{
			"question": map[string]any{"text": "?"}, "answers": []any{map[string]any{"poll_media": map[string]any{"text": "yes"}}},
		}}},
		{"a file", "messages_send", []any{"channel_id", general, "content", loud, "files", []any{map[string]any{"name": "a.txt", "data": "data:text/plain;base64,aGVsbG8="}}}},
		{"an edit", "messages_edit", []any{"channel_id", general, "message_id", ownID, "content", loud}},
		{"an edit of embeds", "messages_edit", []any{"channel_id", general, "message_id", ownID, "embeds", []any{map[string]any{"description": loud}}}},
	}
	for _, r := range rows {
		t.Run(r.tool+"/"+r.shows, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			b.world.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: ownID, Content: "quiet"})
			b.world.ResetRequests()
			if a := b.call(r.tool, object(t, r.args...)); a.code != "" {
				t.Fatalf("code %q: %s", a.code, a.text)
			}
			m := last(t, b.world, sandbox.DemoGeneral)
			if r.tool == "messages_edit" {
				m, _ = b.world.Message(sandbox.DemoGeneral, ownID)
			}
			for _, is := range []sandbox.Mentions{m.Notified, m.Mentions} {
				if is.Everyone || len(is.Roles) > 0 || len(is.Users) > 0 {
					t.Errorf("it mentions %+v", is)
				}
			}
			for _, q := range b.world.Requests() {
				if q.Method != "GET" && !strings.Contains(string(q.Body), `"allowed_mentions":{`) {
					t.Errorf("%s %s says nothing of mentions: %s", q.Method, q.Path, short(q.Body))
				}
			}
		})
	}
}

// L20 Unwanted pings.
func TestL20MentionsAreOpenedByName(t *testing.T) {
	t.Parallel()
	member, owner, events := sandbox.DemoMember, sandbox.DemoOwner, sandbox.DemoEventsRole
	rows := []struct {
		shows string
		args  []any
		want  sandbox.Mentions
	}{
		{"one user", []any{"allowed_mentions", map[string]any{"users": []any{member}}}, sandbox.Mentions{Users: []discord.UserID{member}}},
		{"all users", []any{"allowed_mentions", map[string]any{"parse": []any{"users"}}}, sandbox.Mentions{Users: []discord.UserID{member, owner}}},
		{"one role", []any{"allowed_mentions", map[string]any{"roles": []any{events}}}, sandbox.Mentions{Roles: []discord.RoleID{events}}},
		{"everyone", []any{"allowed_mentions", map[string]any{"parse": []any{"everyone"}}}, sandbox.Mentions{Everyone: true}},
		{"a user and a role", []any{"allowed_mentions", map[string]any{"users": []any{member}, "roles": []any{events}}},
			sandbox.Mentions{Users: []discord.UserID{member}, Roles: []discord.RoleID{events}}},
		{"the author replied to", []any{"allowed_mentions", map[string]any{"replied_user": true}, "message_reference", map[string]any{"message_id": "1200000000000000599"}},
			sandbox.Mentions{Users: []discord.UserID{sandbox.DemoNewcomer}}},
	}
	for _, r := range rows {
		t.Run(r.shows, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			b.world.AddMessage(sandbox.DemoGeneral, sandbox.Message{ID: "1200000000000000599", Author: sandbox.DemoNewcomer, Content: "hello?"})
			if a := b.call("messages_send", object(t, append(r.args, "channel_id", general, "content", loud)...)); a.code != "" {
				t.Fatalf("code %q: %s", a.code, a.text)
			}
			got := last(t, b.world, sandbox.DemoGeneral).Notified
			if got.Everyone != r.want.Everyone || !slices.Equal(got.Users, r.want.Users) || !slices.Equal(got.Roles, r.want.Roles) {
				t.Errorf("notified %+v, want %+v", got, r.want)
			}
		})
	}
}

// L20 Unwanted pings.
func TestL20ContradictionsAreRefused(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.world.ResetRequests()
	for _, allowed := range []string{
		`{"parse":["users"],"users":["720000000000000001"]}`, `{"parse":["roles"],"roles":["740000000000000001"]}`,
		`{"parse":["users","roles","everyone"],"roles":["740000000000000001"]}`, `{"parse":["here"]}`, `{"parse":["users","users"]}`,
		`{"users":["everyone"]}`, `null`, `{"parse":"users"}`, `{"reply":true}`,
	} {
		for _, call := range [][2]string{
			{"messages_send", `{"channel_id":` + id(general) + `,"content":"x","allowed_mentions":` + allowed + `}`},
			{"messages_edit", `{"channel_id":` + id(general) + `,"message_id":` + id(news) + `,"content":"x","allowed_mentions":` + allowed + `}`},
			{"channels_forum_create_thread", `{"channel_id":` + id(sandbox.DemoHelp) + `,"name":"x","applied_tags":[` + id(sandbox.DemoBugTag) + `],"message":{"content":"x","allowed_mentions":` + allowed + `}}`},
		} {
			a := b.call(call[0], call[1])
			if null := allowed == "null" && a.code == ""; a.code != mcpcore.CodeValidation && !null {
				t.Errorf("%s with %s: code %q", call[0], allowed, a.code)
			}
		}
	}
	for _, q := range b.world.Requests() { // null is as good as left out
		if q.Method != "GET" && !strings.Contains(string(q.Body), `"allowed_mentions":{"parse":[],"replied_user":false}`) {
			t.Errorf("Discord saw %s", q.Body)
		}
	}
}

// L30 Empty message text without the content intent.
func TestL30WithheldText(t *testing.T) {
	t.Parallel()
	const hint = "MESSAGE CONTENT intent"
	quiet := sandbox.DemoLounge // a channel without messages
	for _, without := range []bool{false, true} {
		for shows, r := range map[string]struct {
			messages []sandbox.Message
			withheld bool // for an application without the intent
		}{
			"others' text":             {[]sandbox.Message{{Content: "secret"}, {Content: "plan"}}, true},
			"others' embeds":           {[]sandbox.Message{{Embeds: []sandbox.Embed{{Title: "secret"}}}}, true},
			"others' files":            {[]sandbox.Message{{Attachments: []sandbox.Attachment{{Name: "a.txt", Size: 1}}}}, true},
			"others' poll":             {[]sandbox.Message{{Poll: &sandbox.Poll{Question: "secret?", Answers: []sandbox.PollAnswer{{Text: "yes"}}}}}, true},
			"some of it":               {[]sandbox.Message{{Author: sandbox.BotID, Content: "mine"}, {Content: "secret"}}, true},
			"the bot's own":            {[]sandbox.Message{{Author: sandbox.BotID, Content: "mine"}}, false},
			"where it is mentioned":    {[]sandbox.Message{{Content: "hey <@" + string(sandbox.BotID) + ">", Mentions: sandbox.Mentions{Users: []discord.UserID{sandbox.BotID}}}}, false},
			"stickers alone":           {[]sandbox.Message{{Stickers: []discord.StickerID{sandbox.DemoSticker}}}, false},
			"the bot's poll":           {[]sandbox.Message{{Author: sandbox.BotID, Poll: &sandbox.Poll{Question: "when?", Answers: []sandbox.PollAnswer{{Text: "now"}}}}}, false},
			"somebody joined":          {[]sandbox.Message{{Type: 7}}, false},
			"a pin was made":           {[]sandbox.Message{{Type: 6}}, false},
			"a voice message, loading": {[]sandbox.Message{{Flags: 1 << 13}}, false},
		} {
			t.Run(fmt.Sprintf("%s/%v", shows, without), func(t *testing.T) {
				t.Parallel()
				b := startOn(t, sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return now }, WithoutMessageContent: without}))
				var ids []discord.MessageID
				for i, m := range r.messages {
					if m.Author == "" {
						m.Author = sandbox.DemoMember
					}
					at := now.Add(time.Duration(i-10) * time.Minute)
					m.ID, m.Pinned = discord.MessageID(b.world.IDAt(at)), at
					ids = append(ids, b.world.AddMessage(quiet, m))
				}
				want := r.withheld && without
				for tool, args := range map[string]string{
					"messages_read":          object(t, "channel_id", quiet),
					"messages_get":           object(t, "channel_id", quiet, "message_id", ids[len(ids)-1]),
					"messages_search_recent": object(t, "channel_id", quiet, "query", "zebra"),
					"messages_list_pins":     object(t, "channel_id", quiet),
				} {
					a := b.call(tool, args)
					var got struct{ Warnings []string }
					a.into(t, &got)
					warned := slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.Contains(w, hint) })
					if a.code != "" || warned != want || strings.Contains(a.text, hint) != want {
						t.Errorf("%s: code %q, warned %v, want %v\n%s", tool, a.code, warned, want, a.text)
					}
				}
			})
		}
	}
}

// L49 Escaped angle brackets in results.
func TestL49AnglesRoundTrip(t *testing.T) {
	t.Parallel()
	const angles = "<@720000000000000001> a && b <https://x.example/?a=1&b=2> <:party:760000000000000001> <t:1700000000:R>"
	b := start(t)
	send := func(content string) string {
		t.Helper()
		a := b.call("messages_send", object(t, "channel_id", general, "content", content, "embeds", []any{map[string]any{"description": content}}))
		if a.code != "" {
			t.Fatalf("code %q: %s", a.code, a.text)
		}
		return last(t, b.world, sandbox.DemoGeneral).Content
	}
	content := angles
	for range 3 { // read it, quote it
		if stored := send(content); stored != angles {
			t.Fatalf("Discord has %q", stored)
		}
		m := last(t, b.world, sandbox.DemoGeneral)
		a := b.call("messages_get", object(t, "channel_id", general, "message_id", m.ID))
		var got struct {
			Content string
			Embeds  []struct{ Description string }
		}
		a.into(t, &got)
		if got.Content != angles || got.Embeds[0].Description != angles {
			t.Fatalf("read as %q and %q", got.Content, got.Embeds[0].Description)
		}
		if !strings.Contains(a.text, angles) {
			t.Errorf("the text shows it otherwise:\n%s", a.text)
		}
		content = got.Content
	}
	for _, q := range b.world.Requests() {
		if strings.Contains(string(q.Body), `\u00`) {
			t.Errorf("sent as %s", q.Body)
		}
	}
	const name = "<b> & co"
	b.call("messages_create_thread", object(t, "channel_id", general, "message_id", sandbox.DemoPoll, "name", name))
	events := b.audit.all()
	if args := string(events[len(events)-1].Args); !strings.Contains(args, name) {
		t.Errorf("the audit holds %s", args)
	}
}

// messagesSeen is what reading tools tell.
type messagesSeen struct {
	Messages []struct{ ID discord.MessageID }
	HasMore  bool              `json:"has_more"`
	Oldest   discord.MessageID `json:"oldest_id"`
	Newest   discord.MessageID `json:"newest_id"`
}

// L59 History and member lists end at the first page.
func TestL59HistoryGoesOn(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{100, 37, 50} {
		for _, cursor := range []string{"before", "after"} {
			t.Run(fmt.Sprint(cursor, limit), func(t *testing.T) {
				t.Parallel()
				b := start(t)
				want := written(b.world, sandbox.DemoLounge, 250, now.Add(-time.Hour), sandbox.Message{Content: "m"})
				args := []any{"channel_id", sandbox.DemoLounge, "limit", limit}
				if cursor == "after" {
					args = append(args, "after", discord.IDAt(now.Add(-2*time.Hour)))
				}
				var got []discord.MessageID
				for range 10 {
					a := b.call("messages_read", object(t, args...))
					var page messagesSeen
					a.into(t, &page)
					if a.code != "" || page.HasMore != (len(page.Messages) == limit) {
						t.Fatalf("code %q, %d messages, has_more %v", a.code, len(page.Messages), page.HasMore)
					}
					for _, m := range page.Messages {
						got = append(got, m.ID)
					}
					if !page.HasMore {
						break
					}
					next := page.Oldest
					if cursor == "after" {
						next = page.Newest
					}
					args = []any{"channel_id", sandbox.DemoLounge, "limit", limit, cursor, next}
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%d messages came, want each of %d once", len(got), len(want))
				}
			})
		}
	}
}

// L59 History and member lists end at the first page.
func TestL59SearchGoesOn(t *testing.T) {
	t.Parallel()
	b := start(t)
	written(b.world, sandbox.DemoLounge, 250, now.Add(-time.Hour), sandbox.Message{Content: "m"}) // m0 is on the third page
	args := []any{"channel_id", sandbox.DemoLounge, "query", "m0"}
	for page := 1; ; page++ {
		var got struct {
			Matches []struct{ Content string }
			Scanned int               `json:"scanned_count"`
			Oldest  discord.MessageID `json:"oldest_scanned_id"`
		}
		a := b.call("messages_search_recent", object(t, args...))
		a.into(t, &got)
		if a.code != "" || got.Oldest == "" {
			t.Fatalf("code %q, no way on: %s", a.code, a.text)
		}
		if len(got.Matches) > 0 {
			if page != 3 || got.Matches[0].Content != "m0" || got.Scanned != 50 {
				t.Errorf("found on page %d of %d: %v", page, got.Scanned, got.Matches)
			}
			return
		}
		if page == 4 {
			t.Fatal("m0 was not found")
		}
		args = []any{"channel_id", sandbox.DemoLounge, "query", "m0", "before", got.Oldest}
	}
}

// L59 History and member lists end at the first page.
func TestL59CursorsAreIDsOrTimes(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.world.ResetRequests()
	for _, tool := range []string{"messages_read", "messages_search_recent"} {
		for _, args := range []string{
			`"before":"2026-03-14T00:00:00"`, `"before":"2026-03-14"`, `"before":"yesterday"`, `"after":""`, `"after":"0"`, `"after":0`, `"before":` + id(news) + `,"after":` + id(news), `"limit":101`, `"limit":0`,
		} {
			if a := b.call(tool, `{"channel_id":`+id(general)+`,"query":"x",`+args+`}`); a.code != mcpcore.CodeValidation {
				t.Errorf("%s with %s: code %q", tool, args, a.code)
			}
		}
	}
	if got := b.sent(); len(got) > 0 {
		t.Errorf("Discord saw %q", got)
	}
	at, far := discord.IDAt(time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)), discord.IDAt(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, call := range []struct{ tool, args, asks string }{
		{"messages_read", `"channel_id":` + id(general) + `,"before":"2026-03-14T17:00:00+02:00"`, "before=" + at},
		{"messages_read", `"channel_id":` + id(general) + `,"after":"2026-03-14T15:00:00Z"`, "after=" + at},
		{"messages_read", `"channel_id":` + id(general) + `,"around":"2026-03-14T15:00:00Z"`, "around=" + at},
		{"messages_search_recent", `"channel_id":` + id(general) + `,"query":"x","after":"2200-01-01T00:00:00Z"`, "after=" + far},
		{"audit_log_get", `"guild_id":` + id(guild) + `,"before":"2026-03-14T15:00:00Z"`, "before=" + at},
	} {
		b.world.ResetRequests()
		if a := b.call(call.tool, `{`+call.args+`}`); a.code != "" || !strings.Contains(strings.Join(b.sent(), " "), call.asks) {
			t.Errorf("%s %s: code %q, Discord saw %q", call.tool, call.args, a.code, b.sent())
		}
	}
}
