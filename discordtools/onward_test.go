package discordtools_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// way is what a result says in words about reading on.
var way = regexp.MustCompile(`[Gg]o on with (\w+) ("[^"]+"|[0-9]+)`)

// TestPagesSayInWordsHowToReadOn reads every list that has pages to its end and
// looks at the words alone, as a model does that is shown no structured content.
// A page with more behind it names the argument and its value, the last names
// none, and what came is everything, once.
func TestPagesSayInWordsHowToReadOn(t *testing.T) {
	t.Parallel()
	in := map[string]any{"guild_id": sandbox.DemoGuild}
	of := func(at map[string]any, more ...any) map[string]any {
		all := maps.Clone(at)
		for i := 0; i < len(more); i += 2 {
			all[more[i].(string)] = more[i+1]
		}
		return all
	}
	channel := map[string]any{"channel_id": sandbox.DemoGeneral}
	cursors := map[string]struct { // tools with a cursor: small pages of a small world
		args map[string]any
		list string
		want int
	}{
		"audit_log_get":                                 {of(in, "limit", 2), "entries", 5},
		"channels_list_public_archived_threads":         {of(channel, "limit", 2), "threads", 6},
		"channels_list_private_archived_threads":        {of(channel, "limit", 2), "threads", 5},
		"channels_list_joined_private_archived_threads": {of(channel, "limit", 2), "threads", 5},
		"entitlements_list":                             {of(map[string]any{}, "limit", 2), "entitlements", 3},
		"events_list_users":                             {of(in, "event_id", gameNight, "limit", 2), "users", 3},
		"members_list":                                  {of(in, "limit", 2), "members", 7},
		"members_list_bans":                             {of(in, "limit", 2), "bans", 5},
		"messages_read":                                 {map[string]any{"channel_id": sandbox.DemoLounge, "limit": 2}, "messages", 6},
		"messages_search_recent":                        {map[string]any{"channel_id": sandbox.DemoLounge, "limit": 2, "query": "page"}, "matches", 5},
		"messages_list_pins":                            {map[string]any{"channel_id": sandbox.DemoLounge, "limit": 2}, "pins", 5},
		"polls_get_voters":                              {map[string]any{"channel_id": sandbox.DemoLounge, "message_id": "1200000000000008100", "answer_id": 1, "limit": 2}, "voters", 3},
		"reactions_list":                                {map[string]any{"channel_id": sandbox.DemoLounge, "message_id": "1200000000000008100", "emoji": "👍", "limit": 2}, "users", 3},
		"subscriptions_list":                            {map[string]any{"sku_id": sandbox.DemoPremium, "user_id": sandbox.DemoOwner, "limit": 2}, "subscriptions", 4},
		"threads_list_members":                          {map[string]any{"thread_id": sandbox.DemoThread, "with_member": true, "limit": 1}, "members", 2},
		"users_list_current_user_guilds":                {of(map[string]any{}, "limit", 1), "guilds", 2},
	}
	offsets := map[string]struct { // tools whose list comes whole: what is too long for a result
		args map[string]any
		list string
		from string // the route's own list is multiplied
		many int    // how many items it then has; 0 is 1500
	}{
		"app_emojis_list":                        {nil, "emojis", "/emojis", 0},
		"channels_list":                          {in, "channels", "/channels", 0},
		"channels_list_active_threads_guild":     {in, "threads", "/threads/active", 0},
		"commands_get_guild_command_permissions": {in, "permissions", "/commands/permissions", 0},
		"commands_list_global":                   {nil, "commands", "/commands", 400},
		"commands_list_guild":                    {in, "commands", "/commands", 0},
		"emojis_list_guild":                      {in, "emojis", "/emojis", 0},
		"events_list":                            {in, "events", "/scheduled-events", 300},
		"invites_list_channel":                   {channel, "invites", "/invites", 600},
		"members_search":                         {of(in, "query", "mar", "limit", 1000), "matches", "/search", 900},
		"permissions_audit_channel":              {of(in, "channel_id", sandbox.DemoGeneral), "roles", "/roles", 0},
		"roles_list":                             {in, "roles", "/roles", 0},
		"skus_list":                              {nil, "skus", "/skus", 0},
		"soundboard_list_guild_sounds":           {in, "sounds", "/soundboard-sounds", 0},
		"stickers_list_guild":                    {in, "stickers", "/stickers", 0},
		"threads_list_members":                   {map[string]any{"thread_id": sandbox.DemoThread}, "members", "/thread-members", 0},
		"webhooks_list_channel":                  {channel, "webhooks", "/webhooks", 0},
		"webhooks_list_guild":                    {in, "webhooks", "/webhooks", 0},
	}
	for name, tool := range listed(t) {
		success := tree(t, tool.OutputSchema)["anyOf"].([]any)[0].(map[string]any)["properties"].(map[string]any)
		pages := success["has_more"] != nil || success["next_offset"] != nil || success["truncated"] != nil
		_, isCursor := cursors[name]
		_, isOffset := offsets[name]
		if pages != (isCursor || isOffset || name == "templates_get") { // whose channels TestTemplates reads on
			t.Errorf("%s: has pages %v; this test reads them %v", name, pages, isCursor || isOffset)
		}
	}
	for name, r := range cursors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startOn(t, paged(), locked)
			if got, pages := b.onward(name, r.args, r.list); got != r.want || pages < 2 {
				t.Errorf("%d items on %d pages, want %d on several", got, pages, r.want)
			}
			most := of(r.args, "limit", tree(t, listed(t)[name].InputSchema)["properties"].(map[string]any)["limit"].(map[string]any)["maximum"])
			if got, pages := b.onward(name, most, r.list); got != r.want || pages != 1 {
				t.Errorf("at once: %d items on %d pages, want %d on one", got, pages, r.want)
			}
		})
	}
	for name, r := range offsets {
		t.Run(name+" whole", func(t *testing.T) {
			t.Parallel()
			world := paged()
			if got, pages := startOn(t, world, locked).onward(name, r.args, r.list); got == 0 || pages != 1 {
				t.Errorf("%d items on %d pages, want one page", got, pages)
			}
			session := world.Session()
			var mu sync.Mutex
			var grown []byte
			made := cmp.Or(r.many, 1500)
			session.Client = &http.Client{Transport: &between{world: world, edit: func(_ int, q *http.Request) (*http.Response, error) {
				res, err := world.RoundTrip(q)
				if err != nil || q.Method != http.MethodGet || !strings.HasSuffix(q.URL.Path, r.from) {
					return res, err
				}
				defer func() { _ = res.Body.Close() }()
				mu.Lock()
				defer mu.Unlock()
				if grown == nil {
					body, err := io.ReadAll(res.Body)
					if err != nil {
						return nil, err
					}
					grown = manifold(t, body, made)
				}
				return reply(q, res.StatusCode, string(grown), "Content-Type", "application/json"), nil
			}}}
			b := startOn(t, world, locked, func(d *discordtools.Deps) { d.Session = session })
			if got, pages := b.onward(name, r.args, r.list); got != made || pages < 2 {
				t.Errorf("%d items on %d pages, want %d on several", got, pages, made)
			}
		})
	}
}

// onward reads a list to its end by the words of each page. It gives the number
// of different items and of pages.
func (b *bench) onward(tool string, args map[string]any, list string) (items, pages int) {
	b.Helper()
	args = maps.Clone(args)
	if args == nil {
		args = map[string]any{}
	}
	seen := map[string]bool{}
	for pages = 1; pages < 300; pages++ {
		raw, err := json.Marshal(args)
		if err != nil {
			b.Fatal(err)
		}
		a := b.call(tool, string(raw))
		if a.code != "" {
			b.Fatalf("%s: %s", raw, a.text)
		}
		result := tree(b.T, jsonOf(a.data))
		for _, item := range asList(result[list]) {
			one, err := json.Marshal(item)
			if err != nil {
				b.Fatal(err)
			}
			if seen[string(one)] {
				b.Errorf("page %d repeats %s", pages, one)
			}
			seen[string(one)] = true
		}
		words := way.FindStringSubmatch(a.text[max(0, len(a.text)-200):])
		more := result["has_more"] == true || result["next_offset"] != nil
		if more != (words != nil) {
			b.Errorf("page %d: more %v, and the text ends with %s", pages, more, a.text[max(0, len(a.text)-200):])
		}
		if words == nil {
			break
		}
		args[words[1]] = json.RawMessage(words[2])
	}
	return len(seen), pages
}

// paged is the demo world with more than one small page of everything.
func paged() *sandbox.Discord {
	d := sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return now }})
	readers := []discord.UserID{sandbox.DemoOwner, sandbox.DemoAdmin, sandbox.DemoMember}
	for i := range 5 {
		at := now.Add(-time.Duration(i+1) * time.Hour)
		u := d.AddUser(sandbox.User{Name: fmt.Sprint("gone", i)})
		d.AddAuditEntry(sandbox.DemoGuild, sandbox.AuditEntry{ID: d.IDAt(at), Action: 22, User: sandbox.DemoOwner, Target: string(u)})
		d.AddBan(sandbox.DemoGuild, sandbox.Ban{User: u})
		d.AddMessage(sandbox.DemoLounge, sandbox.Message{ID: discord.MessageID(d.IDAt(at)), Author: sandbox.DemoMember, Content: fmt.Sprint("page ", i), Pinned: at})
		for _, kind := range []discord.ChannelType{discord.PublicThread, discord.PrivateThread} {
			d.AddChannel(sandbox.Channel{
				Guild: sandbox.DemoGuild, Type: kind, Name: fmt.Sprint("over ", i), Parent: sandbox.DemoGeneral,
				Thread: &sandbox.Thread{Owner: sandbox.BotID, Archived: true, ArchivedAt: at, Members: []sandbox.ThreadMember{{User: sandbox.BotID}}},
			})
		}
	}
	d.AddWebhook(sandbox.Webhook{Channel: sandbox.DemoGeneral, By: sandbox.DemoOwner, Name: "hook", Token: "a-token"})
	d.AddInvite(sandbox.Invite{Code: "first", Channel: sandbox.DemoGeneral, Inviter: sandbox.DemoOwner})
	for i := range 3 {
		d.AddSubscription(sandbox.Subscription{User: sandbox.DemoOwner, SKUs: []discord.SKUID{sandbox.DemoPremium}, Start: now.Add(-time.Duration(i) * time.Hour), End: now})
	}
	d.AddMessage(sandbox.DemoLounge, sandbox.Message{
		ID: "1200000000000008100", Author: sandbox.DemoMember, Content: "vote",
		Poll:      &sandbox.Poll{Question: "When?", Answers: []sandbox.PollAnswer{{Text: "Now", Voters: readers}}},
		Reactions: []sandbox.Reaction{{Emoji: sandbox.EmojiRef{Name: "👍"}, Users: readers}},
	})
	return d
}

// manifold is a reply whose list, the whole or its longest member, has each of
// its items, under other ids, so often that there are n.
func manifold(t *testing.T, body []byte, n int) []byte {
	t.Helper()
	var whole any
	if err := json.Unmarshal(body, &whole); err != nil {
		t.Fatal(err)
	}
	grow := func(list []any) (grown []any) {
		for i := range n {
			raw, _ := json.Marshal(list[i%len(list)])
			if i < len(list) {
				grown = append(grown, list[i])
				continue
			}
			var item map[string]any
			_ = json.Unmarshal(raw, &item)
			for _, key := range []string{"id", "user_id", "sound_id"} {
				if item[key] != nil {
					item[key] = fmt.Sprint(1300000000000000000 + i)
				}
			}
			if item["code"] != nil {
				item["code"] = fmt.Sprint("copy", i)
			}
			if u, ok := item["user"].(map[string]any); ok {
				u["id"] = fmt.Sprint(1300000000000000000 + i)
			}
			grown = append(grown, item)
		}
		return grown
	}
	switch w := whole.(type) {
	case []any:
		whole = grow(w)
	case map[string]any:
		longest := ""
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if l, ok := w[key].([]any); ok && (longest == "" || len(l) > len(w[longest].([]any))) {
				longest = key
			}
		}
		w[longest] = grow(w[longest].([]any))
	}
	many, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return many
}
