package discordtools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// there is a Discord in which the target of each gated tool is found, so that
// facts can be told.
func there(tool string, given map[string]any) *sinkREST {
	switch tool {
	case "invites_delete":
		return &sinkREST{object: `{"code":"abcDEF12","channel":{"id":"710000000000000001","name":"x"}}`}
	case "guild_delete_integration":
		return &sinkREST{list: fmt.Sprintf(`[{"id":%q,"name":"x","type":"discord","account":{"id":"1","name":"x"}}]`, given["integration_id"])}
	}
	return &sinkREST{}
}

// writes is how many requests other than reads were sent.
func (s *sinkREST) writes() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.seen {
		if r.Method != "GET" {
			n++
		}
	}
	return n
}

// L34 Confirmation flag never reaches the gate.
func TestL34OnlyTrueConfirms(t *testing.T) {
	t.Parallel()
	gated := 0
	for name, tool := range listed(t) {
		input := tree(t, tool.InputSchema)
		properties := input["properties"].(map[string]any)
		if properties["__confirm"] == nil || properties["__confirm_hash"] != nil || name == "guild_blueprint_apply" { // see TestBlueprintNeedsBothKeys
			continue
		}
		gated++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDesk(t, there(name, usual(tool, input)))
			refused := func(shows string, given map[string]any, codes ...mcpcore.Code) {
				t.Helper()
				before := d.rest.writes()
				a, _ := d.try(name, given)
				if !slices.Contains(codes, a.code) {
					t.Errorf("%s: code %q: %s", shows, a.code, a.text)
				}
				if d.rest.writes() != before {
					t.Errorf("%s: it acted", shows)
				}
			}
			refused("without the flag", usual(tool, input), mcpcore.CodeDryRun)
			for _, flag := range []any{"true", 1, nil, false, []any{true}, map[string]any{"__confirm": true}, "yes"} {
				given := usual(tool, input)
				given["__confirm"] = flag
				refused(fmt.Sprintf("__confirm: %#v", flag), given, mcpcore.CodeDryRun)
			}
			for arg := range properties {
				if arg == "__confirm" {
					continue
				}
				given := usual(tool, input)
				given[arg] = map[string]any{"__confirm": true}
				refused("nested in "+arg, given, mcpcore.CodeValidation, mcpcore.CodeDryRun)
			}
			for _, wrong := range []string{"confirm", "_confirm", "__Confirm", "__confirmed"} {
				given := usual(tool, input)
				given[wrong] = true
				refused(wrong, given, mcpcore.CodeValidation)
			}

			before := d.rest.writes()
			given := usual(tool, input)
			given["__confirm"] = true
			a, _ := d.try(name, given)
			if a.code != "" || d.rest.writes() == before {
				t.Errorf("confirmed: code %q, %d writes: %s", a.code, d.rest.writes()-before, a.text)
			}
			if strings.Contains(d.rest.all(), "__confirm") {
				t.Error("the flag reached Discord")
			}

			unarmed := there(name, given)
			server, err := discordtools.BuildServer(discordtools.Deps{REST: unarmed, Config: discordtools.Config{ExpectedBot: sandbox.BotID}})
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{T: t, mcp: connect(t, server)}
			raw, err := json.Marshal(given)
			if err != nil {
				t.Fatal(err)
			}
			if a := b.call(name, string(raw)); a.code != mcpcore.CodeDryRun || unarmed.writes() > 0 {
				t.Errorf("confirmed without the operator's key: code %q, %d writes", a.code, unarmed.writes())
			}
		})
	}
	if gated < 10 {
		t.Errorf("only %d tools are gated: this test looks at too little", gated)
	}
}

// L34 Confirmation flag never reaches the gate.
func TestL34FlagElsewhereIsHarmless(t *testing.T) {
	t.Parallel()
	d := startDesk(t, &sinkREST{})
	for name, tool := range d.tools {
		input := tree(t, tool.InputSchema)
		if input["properties"].(map[string]any)["__confirm"] != nil {
			continue
		}
		plain, sent := d.told(name, usual(tool, input))
		given := usual(tool, input)
		given["__confirm"] = true
		if a, sentFlag := d.told(name, given); a.code != plain.code || sentFlag != sent {
			t.Errorf("%s: code %q instead of %q, sent\n%s instead of\n%s", name, a.code, plain.code, sentFlag, sent)
		}
	}
}

// tooLong are names that callers know from elsewhere and that a long prefix of
// a host takes over 64 characters.
var tooLong = []string{
	"channels_list_joined_private_archived_threads", "application_get_role_connection_metadata", "application_modify_role_connection_metadata",
}

// L46 Catalogue too big, names too long, pages ignored.
func TestL46CatalogueFitsHosts(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	all := listed(t) // one page, or it fails
	total := 0
	for name, tool := range all {
		total += bytesOf(t, tool)
		if !names.MatchString(name) {
			t.Errorf("%s: a host refuses such a name", name)
		}
		if len("mcp__discord__"+name) > 64 || len("mcp__plugin_team_discord__"+name) > 64 && !slices.Contains(tooLong, name) {
			t.Errorf("%s: with a host's prefix it has over 64 characters", name)
		}
	}
	if total > 1800*len(all) {
		t.Errorf("%d tools take %d bytes", len(all), total)
	}
	// A host that takes 40 tools gets a profile.
	server, err := discordtools.BuildServer(discordtools.Deps{REST: &sinkREST{}, Config: discordtools.Config{Categories: []string{"messages", "channels", "reactions"}}})
	if err != nil {
		t.Fatal(err)
	}
	profile, err := connect(t, server).ListTools(t.Context(), nil)
	if err != nil || len(profile.Tools) == 0 || len(profile.Tools) >= 40 || profile.NextCursor != "" {
		t.Errorf("a profile of three categories: %v, %d tools", err, len(profile.Tools))
	}
}

// L46 Catalogue too big, names too long, pages ignored.
func TestL46CursorsAndPages(t *testing.T) {
	t.Parallel()
	exchange := wire(t, sandbox.Demo())
	for _, params := range []string{"", `,"params":{}`, `,"params":{"cursor":""}`} {
		r := exchange(`{"jsonrpc":"2.0","id":2,"method":"tools/list"` + params + `}`)
		var page struct {
			Tools      []json.RawMessage
			NextCursor *string
		}
		if r.Error != nil || json.Unmarshal(r.Result, &page) != nil || page.NextCursor != nil || len(page.Tools) != len(tools(t)) {
			t.Errorf("tools/list%s: %v, %d tools, cursor %v", params, r.Error, len(page.Tools), page.NextCursor)
		}
	}
	for _, cursor := range []string{`"garbage"`, `"AAAA"`, `"eyJsYXN0IjoxfQ"`, `"\u0000"`} {
		r := exchange(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":` + cursor + `}}`)
		var refused struct{ Code int }
		if r.Error == nil {
			t.Errorf("cursor %s is taken", cursor)
			continue
		}
		raw, err := json.Marshal(r.Error)
		if err != nil || json.Unmarshal(raw, &refused) != nil || refused.Code != -32602 {
			t.Errorf("cursor %s: %s", cursor, raw)
		}
	}
}

// L46 Catalogue too big, names too long, pages ignored.
func TestL46NamesAreUnique(t *testing.T) {
	t.Parallel()
	type nothing struct{}
	own := func(name string) mcpcore.Tool {
		return mcpcore.Define(mcpcore.Tool{
			Name: name, Title: "Own", Doc: "Does nothing.", Category: "own", Effect: mcpcore.Read, Scope: mcpcore.LocalScope,
		}, func(context.Context, *mcpcore.Call, nothing) (nothing, error) { return nothing{}, nil })
	}
	for _, r := range []struct {
		tools []mcpcore.Tool
		twice string
	}{
		{[]mcpcore.Tool{own("messages_send")}, "messages_send"},
		{[]mcpcore.Tool{own("own_tool"), own("own_tool")}, "own_tool"},
		{[]mcpcore.Tool{own("own_tool"), own("own_other")}, ""},
	} {
		_, err := discordtools.BuildServer(discordtools.Deps{REST: &sinkREST{}, Tools: r.tools})
		if r.twice == "" && err != nil || r.twice != "" && (err == nil || !strings.Contains(err.Error(), r.twice)) {
			t.Errorf("%q twice: %v", r.twice, err)
		}
	}
}

// L47 Result does not match the published output schema. What calls answer is
// held against the schema by the bench.
func TestL47OddShapesFitTheSchema(t *testing.T) {
	t.Parallel()
	const direct, group, stranger = "1200000000000000951", "1200000000000000952", "1200000000000000953"
	b := start(t)
	b.world.AddUser(sandbox.User{ID: stranger, Name: "no.global.name"})
	b.world.AddChannel(sandbox.Channel{ID: direct, Type: discord.DM, Recipients: []discord.UserID{stranger}})
	b.world.AddMessage(direct, sandbox.Message{ID: "1200000000000000954", Author: stranger, Content: "hi"})
	b.world.AddChannel(sandbox.Channel{ID: group, Guild: sandbox.DemoGuild, Type: discord.GuildVoice, Name: "empty"})
	b.world.AddMember(sandbox.DemoGuild, sandbox.Member{User: stranger})
	for _, r := range []struct{ tool, args, want string }{
		{"channels_get", `{"channel_id":"` + direct + `"}`, `{"id":"` + direct + `","name":null,"type":1}`},
		{"channels_get", `{"channel_id":` + id(sandbox.DemoThread) + `}`, `{"type":11}`},
		{"channels_get", `{"channel_id":` + id(sandbox.DemoArchived) + `}`, `{"type":11}`},
		{"channels_get", `{"channel_id":` + id(sandbox.DemoHelp) + `}`, `{"type":15}`},
		{"channels_get", `{"channel_id":"` + group + `"}`, `{"type":2}`},
		{"messages_read", `{"channel_id":"` + direct + `"}`, `{"messages":[{"author_name":"no.global.name","content":"hi"}]}`},
		{"messages_read", `{"channel_id":"` + group + `"}`, `{"messages":[],"count":0}`},
		{"messages_list_pins", `{"channel_id":"` + group + `"}`, `{"pins":[],"count":0}`},
		{"users_get", `{"user_id":"` + stranger + `"}`, `{"global_name":null}`},
		{"members_get", `{"guild_id":` + id(guild) + `,"user_id":"` + stranger + `"}`, `{"roles":[]}`},
		{"members_search", `{"guild_id":` + id(guild) + `,"query":"zzz"}`, `{"matches":[],"count":0}`},
	} {
		a := b.call(r.tool, r.args)
		if a.code != "" {
			t.Errorf("%s %s: code %q: %s", r.tool, r.args, a.code, a.text)
		} else if missing(t, a.data, r.want) != "" {
			t.Errorf("%s %s: %s lacks %s", r.tool, r.args, a.data, r.want)
		}
	}
}

// L47 Result does not match the published output schema.
func TestL47EmptyRepliesFitTheSchema(t *testing.T) {
	t.Parallel()
	answered := map[string]bool{}
	for _, d := range []*desk{startDesk(t, &sinkREST{}), startDesk(t, &sinkREST{object: "[]"})} { // which of them fits, says the route
		for name, tool := range d.tools {
			a, _ := d.try(name, usual(tool, tree(t, tool.InputSchema))) // call validates the answer
			if a.code == "" && strings.Contains(string(a.data), `"has_more":true`) {
				t.Errorf("%s: an empty reply has more: %s", name, a.data)
			}
			answered[name] = answered[name] || a.code != mcpcore.CodeInternal
		}
	}
	for name, is := range answered {
		if !is {
			t.Errorf("%s fails on an empty reply", name)
		}
	}
}

// L47 Result does not match the published output schema.
func TestL47FutureFieldsAreTolerated(t *testing.T) {
	t.Parallel()
	world := canaryWorld()
	session := world.Session()
	session.Client = &http.Client{Transport: &between{world: world, edit: func(_ int, q *http.Request) (*http.Response, error) {
		res, err := world.RoundTrip(q)
		if err != nil || res.StatusCode != http.StatusOK {
			return res, err
		}
		var body any
		dec := json.NewDecoder(res.Body)
		dec.UseNumber()
		if err := dec.Decode(&body); err != nil {
			return nil, err
		}
		walkSchema(body, func(o map[string]any) {
			o["zz_future"] = []any{json.Number("1"), nil, "x"}
		})
		raw, err := json.Marshal(body)
		return reply(q, 200, string(raw), "Content-Type", "application/json"), err
	}}}
	plain, future := startOn(t, canaryWorld()), startOn(t, world, func(d *discordtools.Deps) { d.Session = session })
	nonce := regexp.MustCompile(`nonce=\\?"[0-9a-f]{16}\\?"|\d{4}-\d\d-\d\dT[0-9:.+]*|\b1[3-9]\d{17}\b`) // and when the worlds were made, in times and in ids
	read := 0
	for name, args := range plain.readings() {
		want, got := plain.call(name, args), future.call(name, args)
		if want.code == "" {
			read++
		}
		if g, w := nonce.ReplaceAllString(string(got.data), ""), nonce.ReplaceAllString(string(want.data), ""); got.code != want.code || g != w && !strings.Contains(g, "zz_future") {
			t.Errorf("%s: code %q\n%s\nwithout the new fields: code %q\n%s", name, got.code, g, want.code, w)
		}
	}
	if read < 30 {
		t.Errorf("only %d tools read something: this test looks at too little", read)
	}
}

// trail is how a list goes on: the members of a result that hold the next
// cursor, and the arguments they become.
type trail map[string]string

// follow calls a tool until nothing follows and gives the ids of all items. Each
// answer must be small enough for a host.
func follow(b *bench, tool string, args map[string]any, list, key string, on trail) (ids []string, pages int) {
	b.Helper()
	args = maps.Clone(args)
	for pages = 1; ; pages++ {
		raw, err := json.Marshal(args)
		if err != nil {
			b.Fatal(err)
		}
		a := b.call(tool, string(raw))
		if a.code != "" {
			b.Fatalf("%s %s: code %q: %s", tool, raw, a.code, a.text)
		}
		const most = 64 << 10
		if size := plainBytes(b.T, a.data); size > most || len(a.text) > most+2<<10 {
			b.Errorf("%s: %d bytes of data, %d of text", tool, size, len(a.text))
		}
		var result map[string]any
		a.into(b.T, &result)
		for _, item := range asList(result[list]) {
			ids = append(ids, item.(map[string]any)[key].(string))
		}
		truncated := result["truncated"] == true
		if truncated && (result["has_more"] != true && result["scanned_count"] == nil || !strings.Contains(a.text, "for its size")) {
			b.Errorf("%s: a cut list does not say so: %s", tool, a.text[max(0, len(a.text)-300):])
		}
		if result["has_more"] != true && !truncated {
			return ids, pages
		}
		next := ""
		for from, to := range on {
			if v, ok := result[from]; ok {
				args[to], next = v, to
			}
		}
		if next == "" && strings.Contains(a.text, "for something narrower") { // a search has no cursor
			return ids, pages
		}
		if next == "" || pages > 200 {
			b.Fatalf("%s: page %d has more and does not say where", tool, pages)
		}
	}
}

// plainBytes is how long JSON is without escapes of <, > and &.
func plainBytes(t *testing.T, data []byte) int {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value(t, data)); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// large is a bench whose exchanges are not held against Discord's description,
// which takes long where there is much.
func large(t *testing.T, world *sandbox.Discord) *bench {
	t.Helper()
	server, err := discordtools.BuildServer(discordtools.Deps{Session: world.Session(), Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{T: t, world: world, mcp: connect(t, server)}
}

// everything demands each of want once, in any order.
func everything(t *testing.T, shows string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d items came, %d of them different; want each of %d once", shows, len(got), len(slices.Compact(got)), len(want))
	}
}

func texts[T ~string](ids []T) (all []string) {
	for _, id := range ids {
		all = append(all, string(id))
	}
	return all
}

// L48 Answers too large for the client.
func TestL48LongMessages(t *testing.T) {
	t.Parallel()
	b := large(t, sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return now }}))
	long := strings.Repeat("a long text with <angles> & \"quotes\" ", 50)
	users := []discord.UserID{sandbox.DemoMember, sandbox.DemoOwner}
	want := texts(written(b.world, sandbox.DemoLounge, 130, now.Add(-2*time.Hour), sandbox.Message{
		Content: long, Embeds: []sandbox.Embed{{Title: "t", Description: long, Fields: []sandbox.EmbedField{{Name: "n", Value: long[:900]}}}},
		Reactions: []sandbox.Reaction{{Emoji: sandbox.EmojiRef{Name: "👍"}, Users: users}, {Emoji: sandbox.EmojiRef{Name: "🔥"}, Users: users}},
	}))
	base := map[string]any{"channel_id": sandbox.DemoLounge, "limit": 100}
	with := func(name string, v any) map[string]any {
		m := maps.Clone(base)
		m[name] = v
		return m
	}
	got, pages := follow(b, "messages_read", base, "messages", "id", trail{"oldest_id": "before"})
	everything(t, "back", got, want)
	if pages < 5 {
		t.Errorf("%d pages: nothing was cut, this test looks at nothing", pages)
	}
	got, _ = follow(b, "messages_read", with("after", discord.IDAt(now.Add(-3*time.Hour))), "messages", "id", trail{"newest_id": "after"})
	everything(t, "forth", got, want)
	got, _ = follow(b, "messages_search_recent", with("query", "angles"), "matches", "message_id", trail{"oldest_scanned_id": "before"})
	everything(t, "search", got, want)

	a := b.call("messages_read", object(t, "channel_id", sandbox.DemoLounge, "limit", 100, "around", want[60]))
	if !strings.Contains(string(a.data), `"id":"`+want[60]+`"`) || !strings.Contains(string(a.data), `"truncated":true`) {
		t.Errorf("around: the message itself was cut: %.300s", a.data)
	}
	if a := b.call("messages_get", object(t, "channel_id", sandbox.DemoLounge, "message_id", want[0])); !strings.Contains(string(a.data), "a long text") {
		t.Errorf("one message: %s", a.data)
	}
}

// crowded is a demo world whose guild is full: a thousand members and bans, and
// as many channels, roles, emojis, threads, invites and pins as there may be.
func crowded() *sandbox.Discord {
	d := sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return now }})
	long := strings.Repeat("long name of a thing ", 4)
	for i := range 1000 {
		name := fmt.Sprintf("crowd%04d", i)
		u := d.AddUser(sandbox.User{ID: discord.UserID(d.IDAt(now.Add(-time.Duration(i) * time.Hour))), Name: name, GlobalName: long[:30]})
		d.AddMember(sandbox.DemoGuild, sandbox.Member{User: u, Nick: long[:30], Roles: []discord.RoleID{sandbox.DemoMemberRole, sandbox.DemoEventsRole}})
		out := d.AddUser(sandbox.User{ID: discord.UserID(d.IDAt(now.Add(-time.Duration(i)*time.Hour - time.Minute))), Name: "out" + name})
		d.AddBan(sandbox.DemoGuild, sandbox.Ban{User: out, Reason: long})
	}
	for i := range 440 {
		c := d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Type: discord.GuildText, Name: fmt.Sprint(long, i), Topic: long, Overwrites: []discord.Overwrite{
			{ID: discord.OverwriteID(sandbox.DemoMutedRole), Deny: discord.SendMessages},
			{ID: discord.OverwriteID(sandbox.DemoEventsRole), Allow: discord.SendMessages},
		}})
		d.AddInvite(sandbox.Invite{Code: fmt.Sprint("crowd", i), Channel: sandbox.DemoGeneral, Inviter: sandbox.DemoOwner})
		d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Type: discord.PublicThread, Name: fmt.Sprint(long, i), Parent: c, Thread: &sandbox.Thread{Owner: sandbox.DemoMember}})
	}
	for i := range 240 {
		d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: fmt.Sprint(strings.Repeat("🗼", 90), i), Permissions: discord.KnownPermissions})
		d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{Name: fmt.Sprintf("still%027d", i), By: sandbox.DemoOwner})
		d.AddEmoji(sandbox.DemoGuild, sandbox.Emoji{Name: fmt.Sprintf("moving%026d", i), Roles: []discord.RoleID{sandbox.DemoMemberRole}, Animated: true, By: sandbox.DemoOwner})
	}
	for i := range 120 {
		at := now.Add(-time.Duration(i) * time.Minute)
		d.AddMessage(sandbox.DemoLounge, sandbox.Message{ID: discord.MessageID(d.IDAt(at)), Author: sandbox.DemoMember, Content: strings.Repeat(long, 20), Pinned: at})
	}
	return d
}

// L48 Answers too large for the client.
func TestL48LongListsGoOn(t *testing.T) {
	t.Parallel()
	d := crowded()
	b := large(t, d)
	inGuild := map[string]any{"guild_id": sandbox.DemoGuild}
	with := func(name string, v any) map[string]any {
		m := maps.Clone(inGuild)
		m[name] = v
		return m
	}
	var channels, roles, members, bans []string
	for _, c := range d.Channels(sandbox.DemoGuild) {
		channels = append(channels, string(c.ID))
	}
	for _, r := range d.Roles(sandbox.DemoGuild) {
		roles = append(roles, string(r.ID))
	}
	for _, x := range d.Bans(sandbox.DemoGuild) {
		bans = append(bans, string(x.User))
	}
	for _, r := range []struct {
		tool      string
		args      map[string]any
		list, key string
		on        trail
		want      []string // nil: as many as count
		count     int
	}{
		{"channels_list", inGuild, "channels", "id", trail{"next_offset": "offset"}, channels, 0},
		{"channels_list_active_threads_guild", inGuild, "threads", "id", trail{"next_offset": "offset"}, nil, 442},
		{"roles_list", inGuild, "roles", "id", trail{"next_offset": "offset"}, roles, 0},
		{"emojis_list_guild", inGuild, "emojis", "id", trail{"next_offset": "offset"}, nil, 481},
		{"invites_list_channel", map[string]any{"channel_id": sandbox.DemoGeneral}, "invites", "code", trail{"next_offset": "offset"}, nil, 440},
		{"members_list", with("limit", 1000), "members", "user_id", trail{"next_after": "after"}, members, 1007},
		{"members_list_bans", with("limit", 1000), "bans", "user_id", trail{"next_after": "after"}, bans, 0},
		{"members_search", map[string]any{"guild_id": sandbox.DemoGuild, "query": "crowd", "limit": 1000}, "matches", "user_id", trail{"next_offset": "offset"}, nil, 1000},
		{"messages_list_pins", map[string]any{"channel_id": sandbox.DemoLounge}, "pins", "message_id", trail{"next_before": "before"}, nil, 120},
	} {
		got, pages := follow(b, r.tool, r.args, r.list, r.key, r.on)
		if r.want != nil {
			everything(t, r.tool, got, r.want)
		} else if unique := slices.Compact(slices.Sorted(slices.Values(got))); len(unique) != r.count || len(got) != r.count {
			t.Errorf("%s: %d items came, %d of them different, want %d once each", r.tool, len(got), len(unique), r.count)
		}
		if pages < 2 {
			t.Errorf("%s: one page of %d: this test looks at nothing", r.tool, len(got))
		}
	}
}

// L48 Answers too large for the client.
func TestL48WritesAreNeverCut(t *testing.T) {
	t.Parallel()
	for name, tool := range listed(t) {
		if tool.Annotations.ReadOnlyHint {
			continue
		}
		walkSchema(tree(t, tool.OutputSchema), func(node map[string]any) {
			if properties, ok := node["properties"].(map[string]any); ok && properties["truncated"] != nil {
				t.Errorf("%s: its result may be cut, and a write cannot be asked again", name)
			}
		})
	}
}
