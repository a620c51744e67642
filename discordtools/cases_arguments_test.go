package discordtools_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// desk is a client of a server whose Discord takes everything.
type desk struct {
	*bench
	rest  *sinkREST
	tools map[string]*mcp.Tool
}

func startDesk(t *testing.T, rest *sinkREST) *desk {
	t.Helper()
	server, err := discordtools.BuildServer(discordtools.Deps{
		REST: rest, Config: discordtools.Config{Armed: true, ExpectedBot: sandbox.BotID}, Clock: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{bench: &bench{T: t, mcp: connect(t, server)}, rest: rest, tools: map[string]*mcp.Tool{}}
	list, err := d.mcp.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		d.tools[tool.Name] = tool
	}
	for _, name := range []string{"messages_send", "members_get_current_user", "skus_list"} { // what they ask is remembered
		d.try(name, usual(d.tools[name], tree(t, d.tools[name].InputSchema)))
	}
	return d
}

// try calls a tool and gives the answer and the paths of its issues.
func (d *desk) try(tool string, args any) (a answer, paths []string) {
	d.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		d.Fatal(err)
	}
	a = d.call(tool, string(raw))
	return a, a.issues(d.T)
}

// issues are the paths of what is wrong with the arguments.
func (a answer) issues(t *testing.T) (paths []string) {
	t.Helper()
	var e struct{ Issues []mcpcore.Issue }
	if err := json.Unmarshal(a.data, &e); err != nil {
		t.Fatal(err)
	}
	for _, i := range e.Issues {
		paths = append(paths, i.Path)
	}
	return paths
}

// requests is how many requests were sent so far.
func (s *sinkREST) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// usual are arguments with which a tool can be called.
func usual(tool *mcp.Tool, input map[string]any) map[string]any {
	properties := input["properties"].(map[string]any)
	given := map[string]any{}
	for i, r := range asList(input["required"]) {
		given[r.(string)] = sample(r.(string), properties[r.(string)].(map[string]any), i)
	}
	for i, c := range companions[tool.Name] {
		name, value, stated := strings.Cut(c, "=")
		if given[name] = json.RawMessage(value); !stated {
			given[name] = sample(name, properties[name].(map[string]any), i)
		}
	}
	return given
}

// idPlaces are the places of ids in a schema; "0" stands for an item of a list.
func idPlaces(schema map[string]any, at []string) (all [][]string) {
	if pattern, _ := schema["pattern"].(string); strings.HasPrefix(pattern, "^[0-9]{17,20}") {
		return [][]string{slices.Clone(at)}
	}
	inner, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		all = append(all, idPlaces(inner[name].(map[string]any), append(at, name))...)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		all = append(all, idPlaces(items, append(at, "0"))...)
	}
	return all
}

// put is a value of the schema in which the place holds v.
func put(have any, schema map[string]any, at []string, v any) any {
	if len(at) == 0 {
		return v
	}
	if items, ok := schema["items"].(map[string]any); ok {
		list, _ := have.([]any)
		if len(list) == 0 {
			list = []any{sample(at[0], items, 0)}
		}
		list[0] = put(list[0], items, at[1:], v)
		return list
	}
	object, _ := have.(map[string]any)
	if object = maps.Clone(object); object == nil { // samples may be shared
		object = sample("", schema, 0).(map[string]any)
	}
	inner := schema["properties"].(map[string]any)[at[0]].(map[string]any)
	object[at[0]] = put(object[at[0]], inner, at[1:], v)
	return object
}

// badIDs are texts that are no ids, among them some that would lead a request
// elsewhere.
var badIDs = []string{
	"710000000000000001/../../guilds/700000000000000002", "710000000000000001?limit=1", "710000000000000001#", "710000000000000001%2F..",
	"@me", "", " 710000000000000001", "710000000000000001\n", "0", "-5", "7e17", "0x9DA49C4E2D20001", "710000000000000001234", "99999999999999999999",
	"７１００００００００００００００１",
}

// withIDs are usual arguments in which each place of an id holds v, and the
// paths of those places.
func withIDs(tool *mcp.Tool, input map[string]any, v any) (given map[string]any, paths []string) {
	given = usual(tool, input)
	for _, at := range idPlaces(input, nil) {
		given = put(given, input, at, v).(map[string]any)
		paths = append(paths, strings.Join(at, "."))
	}
	return given, paths
}

// L02 Id that is not an id reaches the URL path.
func TestL02EveryIDIsAnID(t *testing.T) {
	t.Parallel()
	d := startDesk(t, &sinkREST{})
	places, before := 0, d.rest.requests()
	for name, tool := range d.tools {
		input := tree(t, tool.InputSchema)
		for _, bad := range badIDs {
			given, paths := withIDs(tool, input, bad)
			if len(paths) == 0 {
				break
			}
			places += len(paths)
			a, issues := d.try(name, given)
			for _, path := range paths {
				if a.code != mcpcore.CodeValidation || !slices.Contains(issues, path) {
					t.Errorf("%s: %s = %q: code %q, issues %q", name, path, bad, a.code, issues)
				}
			}
		}
		if sent := d.rest.requests(); sent != before {
			t.Errorf("%s: a text that is no id reached Discord", name)
		}
		for _, good := range []string{"710000000000000001", "18446744073709551615"} {
			given, paths := withIDs(tool, input, good)
			a, _ := d.try(name, given)
			for _, path := range paths {
				if strings.Contains(a.text, path+": must be an id") || strings.Contains(a.text, path+": is not an id") {
					t.Errorf("%s: %s = %q is refused: %s", name, path, good, a.text)
				}
			}
		}
		before = d.rest.requests()
	}
	if places < 150*len(badIDs) {
		t.Errorf("only %d ids were replaced: this test looks at too little", places)
	}
}

// L02 Id that is not an id reaches the URL path.
func TestL02OtherSegmentsAreEscaped(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.world.ResetRequests()
	for _, tool := range []string{"reactions_create", "reactions_list", "reactions_delete_own", "reactions_delete_user", "reactions_delete_all"} {
		for _, emoji := range []string{"👍/@me", "👍/../../pins", "..", ".", "%2F..%2F", "👍?limit=1", "👍#x", "a:760000000000000001/x", "👍\r\nX-Extra: 1", ""} {
			a := b.call(tool, fmt.Sprintf(`{"channel_id":%s,"message_id":%s,"user_id":%s,"emoji":%q,"__confirm":true}`,
				id(general), id(sandbox.DemoPoll), id(sandbox.DemoMember), emoji))
			if a.code != mcpcore.CodeValidation {
				t.Errorf("%s %q: code %q: %s", tool, emoji, a.code, a.text)
			}
		}
	}
	for _, answer := range []string{`"1/../2"`, `"@me"`, `-1`, `1.5`, `""`} {
		if a := b.call("polls_get_voters", `{"channel_id":`+id(general)+`,"message_id":`+id(sandbox.DemoPoll)+`,"answer_id":`+answer+`}`); a.code != mcpcore.CodeValidation {
			t.Errorf("answer_id %s: code %q", answer, a.code)
		}
	}
	if got := b.sent(); len(got) > 0 {
		t.Errorf("Discord saw %q", got)
	}
	// An emoji of several code points is one segment, escaped once.
	if a := b.call("reactions_create", `{"channel_id":`+id(general)+`,"message_id":`+id(sandbox.DemoPoll)+`,"emoji":"1️⃣"}`); a.code != "" {
		t.Errorf("a legitimate emoji: %s", a.text)
	}
	if got := b.world.Requests()[0].Route; got != "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me" {
		t.Errorf("it went to %s", got)
	}
}

// L01 Id sent as a bare JSON number.
func TestL01IDAsNumber(t *testing.T) {
	t.Parallel()
	d := startDesk(t, &sinkREST{})
	before := d.rest.requests()
	for name, tool := range d.tools {
		input := tree(t, tool.InputSchema)
		for _, number := range []string{"1287654321098765433", "1.287654321098765433e18", "1287654321098765433.0"} {
			given, paths := withIDs(tool, input, json.Number(number))
			if len(paths) == 0 {
				break
			}
			a, issues := d.try(name, given)
			for _, path := range paths {
				if a.code != mcpcore.CodeValidation || !slices.Contains(issues, path) {
					t.Errorf("%s: %s = %s: code %q, issues %q", name, path, number, a.code, issues)
				}
			}
			if n := strings.Count(a.text, "write the id in quotes"); n != len(paths) {
				t.Errorf("%s: %d of %d ids are explained: %s", name, n, len(paths), a.text)
			}
		}
		if d.rest.requests() != before {
			t.Errorf("%s: an id that is a number reached Discord", name)
		}
	}
}

// L01 Id sent as a bare JSON number.
func TestL01IDsInResultsAreText(t *testing.T) {
	t.Parallel()
	b := startOn(t, canaryWorld())
	ids := 0
	for name, given := range b.readings() {
		a := b.call(name, given)
		var result any
		dec := json.NewDecoder(strings.NewReader(string(a.data)))
		dec.UseNumber()
		if err := dec.Decode(&result); err != nil {
			t.Fatal(err)
		}
		walkSchema(result, func(object map[string]any) {
			for key, v := range object {
				if n, ok := v.(json.Number); ok && len(n) >= 16 {
					t.Errorf("%s: %s is the number %s", name, key, n)
				}
				if s, ok := v.(string); ok && (key == "id" || strings.HasSuffix(key, "_id")) && len(s) >= 17 {
					ids++
				}
			}
		})
	}
	if ids < 30 {
		t.Errorf("only %d ids were seen: this test looks at too little", ids)
	}
}

// readings are calls of every reading tool in the canary world.
func (b *bench) readings() map[string]string {
	b.Helper()
	calls := map[string]string{}
	for name, tool := range listed(b.T) {
		if !tool.Annotations.ReadOnlyHint {
			continue
		}
		given := map[string]any{}
		for _, r := range asList(tree(b.T, tool.InputSchema)["required"]) {
			if v := canaryArg(name, r.(string)); v != nil {
				given[r.(string)] = v
			}
		}
		raw, err := json.Marshal(given)
		if err != nil {
			b.Fatal(err)
		}
		calls[name] = string(raw)
	}
	return calls
}

// L03 Numbers, booleans, arrays and objects arrive as strings.
func TestL03ValuesAsText(t *testing.T) {
	t.Parallel()
	d := startDesk(t, &sinkREST{})
	for name, tool := range d.tools {
		input := tree(t, tool.InputSchema)
		for arg, p := range input["properties"].(map[string]any) {
			schema := p.(map[string]any)
			if arg == "__confirm" || typeOf(schema) == "string" || arg == "template_codes" { // which are remembered, so that the second call sends nothing
				continue
			}
			given := usual(tool, input)
			for _, c := range companions[name+"."+arg] {
				other, value, _ := strings.Cut(c, "=")
				if given[other] = json.RawMessage(value); value == "" {
					given[other] = sample(other, input["properties"].(map[string]any)[other].(map[string]any), 7)
				}
			}
			value := sample(arg, schema, 3)
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if input["properties"].(map[string]any)["__confirm"] != nil {
				given["__confirm"] = true
			}
			given[arg] = value
			plain, sent := d.told(name, given)
			given[arg] = string(text)
			if asText, sentOf := d.told(name, given); asText.code != plain.code || sentOf != sent {
				t.Errorf("%s: %s as text %s: code %q instead of %q, sent\n%s instead of\n%s", name, arg, text, asText.code, plain.code, sentOf, sent)
			}
			for _, wrong := range []string{"?", string(text) + "?", " " + string(text), "null"} {
				before := d.rest.requests()
				given[arg] = wrong
				if a, issues := d.try(name, given); a.code != mcpcore.CodeValidation || !slices.Contains(issues, arg) {
					t.Errorf("%s: %s as text %q: code %q, issues %q", name, arg, wrong, a.code, issues)
				}
				if d.rest.requests() != before {
					t.Errorf("%s: %s as text %q reached Discord", name, arg, wrong)
				}
			}
		}
	}
}

// told calls a tool and gives what Discord got of it.
func (d *desk) told(tool string, args any) (answer, string) {
	d.Helper()
	d.rest.mu.Lock()
	d.rest.seen = nil
	d.rest.mu.Unlock()
	a, _ := d.try(tool, args)
	var lines []string
	for line := range strings.SplitSeq(d.rest.all(), "\n") {
		before, _, _ := strings.Cut(line, `,"nonce":`) // new with each call
		lines = append(lines, before)
	}
	slices.Sort(lines) // some tools send side by side
	return a, strings.Join(lines, "\n")
}

func typeOf(schema map[string]any) string {
	if list, ok := schema["type"].([]any); ok {
		return fmt.Sprint(list[0])
	}
	return fmt.Sprint(schema["type"])
}

// L03 Numbers, booleans, arrays and objects arrive as strings.
func TestL03TextStaysText(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{
			shows: "a list in the content", tool: "messages_send", args: `{"channel_id":` + id(general) + `,"content":"[1,2]","embeds":"[{\"title\":\"[3]\",\"color\":\"5\"}]"}`,
			sent: []string{
				"POST /channels/" + general + `/messages {"content":"[1,2]","embeds":[{"title":"[3]","color":5}],"allowed_mentions":"*","tts":false,"nonce":"*","enforce_nonce":true}`,
				"GET /channels/" + general,
			},
		},
		{
			shows: "a list of ids and a flag", tool: "members_bulk_ban", args: `{"guild_id":` + id(guild) + `,"user_ids":"[\"` + string(sandbox.DemoTimedOut) + `\"]","__confirm":true}`,
			sent: []string{"POST /guilds/" + guild + `/bulk-ban {"user_ids":[` + id(sandbox.DemoTimedOut) + `]}`},
		},
		{
			shows: "an object that is none", tool: "messages_send", args: `{"channel_id":` + id(general) + `,"content":"x","message_reference":"{\"message_id\":12}"}`,
			code: mcpcore.CodeValidation, says: "message_reference.message_id: must be text: write the id in quotes",
		},
	})
}

// wire sends lines of JSON-RPC to a server of a demo world and reads the answers.
func wire(t *testing.T, world *sandbox.Discord) func(line string) *jsonrpc.Response {
	t.Helper()
	server, err := discordtools.BuildServer(discordtools.Deps{Session: world.Session(), Config: discordtools.Config{ExpectedBot: sandbox.BotID}})
	if err != nil {
		t.Fatal(err)
	}
	client, served := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), served, nil); err != nil {
		t.Fatal(err)
	}
	conn, err := client.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	send := func(line string) {
		t.Helper()
		m, err := jsonrpc.DecodeMessage([]byte(line))
		if err == nil {
			err = conn.Write(t.Context(), m)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	exchange := func(line string) *jsonrpc.Response {
		t.Helper()
		send(line)
		for {
			m, err := conn.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := m.(*jsonrpc.Response); ok {
				return r
			}
		}
	}
	exchange(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return exchange
}

// L04 Absent, null and empty arguments.
func TestL04AbsentArguments(t *testing.T) {
	t.Parallel()
	world := sandbox.Demo()
	exchange := wire(t, world)
	exchange(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"skus_list"}}`) // which bot this is, is remembered
	none := 0
	for name, tool := range listed(t) {
		if len(asList(tree(t, tool.InputSchema)["required"])) > 0 || !tool.Annotations.ReadOnlyHint || name == "guild_blueprint_plan" { // which needs a request or a blueprint
			continue
		}
		none++
		var first []string
		for _, args := range []string{"", `,"arguments":{}`, `,"arguments":null`} {
			world.ResetRequests()
			r := exchange(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + name + `"` + args + `}}`)
			var result struct{ IsError bool }
			if r.Error != nil || json.Unmarshal(r.Result, &result) != nil || result.IsError {
				t.Errorf("%s%s: %v %s", name, args, r.Error, r.Result)
			}
			sent := (&bench{T: t, world: world}).sent()
			if first == nil {
				first = sent
			}
			if !slices.Equal(sent, first) {
				t.Errorf("%s%s: Discord saw %q, want %q", name, args, sent, first)
			}
		}
	}
	if none < 4 {
		t.Errorf("only %d tools need no arguments: this test looks at too little", none)
	}
	world.ResetRequests()
	for _, args := range []string{`[]`, `"x"`, `5`, `true`, `["710000000000000001"]`} {
		for _, tool := range []string{"users_get_current", "messages_read", "messages_send"} {
			r := exchange(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`)
			var result struct {
				IsError           bool
				StructuredContent struct{ Code mcpcore.Code }
			}
			if r.Error == nil && (json.Unmarshal(r.Result, &result) != nil || !result.IsError || result.StructuredContent.Code != mcpcore.CodeValidation) {
				t.Errorf("%s with %s: %s", tool, args, r.Result)
			}
		}
	}
	if got := world.Requests(); len(got) > 0 {
		t.Errorf("arguments that are no object reached Discord: %v", got)
	}
}

// L04 Absent, null and empty arguments.
func TestL04NullAndEmptyFilters(t *testing.T) {
	t.Parallel()
	d := startDesk(t, &sinkREST{})
	for name, tool := range d.tools {
		if !tool.Annotations.ReadOnlyHint {
			continue
		}
		input := tree(t, tool.InputSchema)
		required := asList(input["required"])
		plain, sent := d.told(name, usual(tool, input))
		given := usual(tool, input)
		for arg, p := range input["properties"].(map[string]any) {
			if slices.Contains(required, any(arg)) {
				continue
			}
			given[arg] = nil
			if schema := p.(map[string]any); typeOf(schema) == "string" {
				empty := usual(tool, input)
				empty[arg] = ""
				if same, sentEmpty := d.told(name, empty); same.code == "" && sentEmpty == sent && string(same.data) == string(plain.data) {
					continue
				}
				a, issues := d.try(name, empty)
				if a.code != mcpcore.CodeValidation || !slices.Contains(issues, arg) {
					t.Errorf("%s: an empty %s is neither refused nor the same as none: code %q", name, arg, a.code)
				}
			}
		}
		if name == "guild_blueprint_plan" { // null is no request
			continue
		}
		if a, sentNull := d.told(name, given); a.code != plain.code || sentNull != sent {
			t.Errorf("%s: with null everywhere: code %q, sent\n%s instead of\n%s", name, a.code, sentNull, sent)
		}
	}
}

// L07 Host adds its own keys to the arguments.
func TestL07HostKeysAndUnknownKeys(t *testing.T) {
	t.Parallel()
	d := startDesk(t, &sinkREST{})
	host := map[string]any{
		"toolCallId": "call_zqhost", "tool_call_id": "zqhost", "sessionId": "zqhost", "chatInput": "zqhost", "request_heartbeat": true, "_meta": map[string]any{"a": "zqhost"},
	}
	for name, tool := range d.tools {
		input := tree(t, tool.InputSchema)
		properties := input["properties"].(map[string]any)
		confirmed := func() map[string]any {
			given := usual(tool, input)
			if properties["__confirm"] != nil {
				given["__confirm"] = true
			}
			return given
		}
		plain, sent := d.told(name, confirmed())
		given := confirmed()
		maps.Copy(given, host)
		if a, sentHost := d.told(name, given); a.code != plain.code || sentHost != sent {
			t.Errorf("%s: with keys of a host: code %q instead of %q, sent\n%s instead of\n%s", name, a.code, plain.code, sentHost, sent)
		}

		given = confirmed()
		given["zqunknown"] = "zqvalue"
		a, sentUnknown := d.told(name, given)
		switch {
		case strings.Contains(sentUnknown, "zqunknown") || strings.Contains(sentUnknown, "zqvalue"):
			t.Errorf("%s: an unknown key reached Discord: %s", name, sentUnknown)
		case slices.Contains([]string{"guild_blueprint_plan", "guild_blueprint_evidence"}, name) && strings.Contains(a.text, "MCP_BLUEPRINT_RECEIPT"): // answered before its arguments are fitted
		case tool.Annotations.ReadOnlyHint:
			if a.code != plain.code || sentUnknown != sent || plain.code == "" && !strings.Contains(a.text, "zqunknown") {
				t.Errorf("%s: an unknown key was not dropped and told: code %q: %s", name, a.code, a.text)
			}
		default:
			if a.code != mcpcore.CodeValidation || !slices.Contains(a.issues(t), "zqunknown") || sentUnknown != "" {
				t.Errorf("%s: an unknown key was not refused: code %q, sent %q", name, a.code, sentUnknown)
			}
		}

		for i, r := range asList(input["required"]) { // a typing error
			given = confirmed()
			wrong := misspelt(r.(string))
			given[wrong] = given[r.(string)]
			delete(given, r.(string))
			a, sentWrong := d.told(name, given)
			if a.code != mcpcore.CodeValidation || sentWrong != "" || !strings.Contains(a.text, r.(string)) {
				t.Errorf("%s: %s for argument %d: code %q: %s", name, wrong, i, a.code, a.text)
			}
			if !tool.Annotations.ReadOnlyHint && !strings.Contains(a.text, "did you mean "+strconv.Quote(r.(string))) {
				t.Errorf("%s: %s is not explained: %s", name, wrong, a.text)
			}
		}
	}
}

// misspelt is a name without its second letter.
func misspelt(name string) string { return name[:1] + name[2:] }
