package discordtools_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// sinkREST takes every request, answers with nothing, and remembers them all.
type sinkREST struct {
	object string // what it answers reads of one object with; "" is {}
	list   string // and of lists; "" is []
	mu     sync.Mutex
	seen   []discordtools.Request
}

func (s *sinkREST) Do(_ context.Context, r discordtools.Request) (*discordtools.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r)
	body := cmp.Or(s.object, "{}")
	if r.Method == "GET" && (r.Route == "/users/@me" || r.Route == "/applications/@me") {
		body = `{"id":` + id(sandbox.BotID) + `,"bot":true}`
	}
	if r.Method == "GET" && strings.HasSuffix(r.Route, "s") || bytes.HasPrefix(r.Body, []byte("[")) {
		body = cmp.Or(s.list, "[]")
	}
	return &discordtools.Response{Status: 200, Header: http.Header{}, Body: []byte(body)}, nil
}

// reset forgets what was sent.
func (s *sinkREST) reset(object string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.object, s.seen = object, nil
}

// all is everything that was sent, in one text.
func (s *sinkREST) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, r := range s.seen {
		fmt.Fprintf(&b, "%s %s %v %v %s %s%s\n", r.Method, r.Route, r.Path, r.Query, r.Body, r.Reason, r.Bearer)
		for _, p := range r.Form {
			fmt.Fprintf(&b, "%s %s %s\n", p.Name, p.Filename, p.Data)
		}
	}
	return b.String()
}

// local are arguments that change the result and not the request, by tool.
var local = map[string][]string{
	"channels_list":                          {"offset", "parent_id", "type"},
	"channels_list_active_threads_guild":     {"offset", "parent_id"},
	"channels_modify":                        {"remove_available_tag_ids"},
	"components_v2_preview":                  {"components"},
	"components_v2_validate":                 {"components"},
	"components_v2_send":                     {"flags"},            // one bit of what is sent
	"components_v2_send_from_template":       {"template", "vars"}, // of which the layout is made
	"discord_intent_plan":                    {"intent", "announcement", "allow", "deny"},
	"emojis_list_guild":                      {"offset"},
	"events_list":                            {"offset"},
	"interactions_create_followup":           {"ephemeral"}, // a bit of flags
	"intelligence_classify_messages":         {"categories"},
	"intelligence_draft_response":            {"intent", "tone"},
	"intelligence_extract_entities":          {"entity_types"},
	"intelligence_moderate_content":          {"content", "policy"},
	"intelligence_summarize_channel":         {"style"},
	"invites_list_channel":                   {"offset"},
	"mcp_pipeline":                           {"steps"},
	"members_search":                         {"offset"},
	"messages_search_recent":                 {"query"},
	"roles_list":                             {"offset", "with_counts"}, // the latter asks another route
	"soundboard_list_guild_sounds":           {"offset"},
	"stickers_list_guild":                    {"offset"},
	"stickers_create_guild_sticker":          {"file_format"}, // refused where the data is another
	"threads_list_members":                   {"offset"},
	"webhooks_create":                        {"reveal_token"},
	"webhooks_list_channel":                  {"offset"},
	"webhooks_list_guild":                    {"offset"},
	"app_emojis_list":                        {"offset"},
	"commands_get_guild_command_permissions": {"offset"},
	"commands_list_global":                   {"offset"},
	"commands_list_guild":                    {"offset"},
	"skus_list":                              {"offset"},
	"permissions_audit_channel":              {"actions", "offset"},
	"permissions_explain":                    {"action", "requested_permissions", "role_id", "target_role_id"},
	"templates_diff":                         {"guild_id"}, // compared with the template's
	"templates_get":                          {"offset"},
	"inspiration_emoji_gg_search":            {"limit", "query"},

	// Which compare and look, and act by a plan.
	"templates_recommend":      {"request"},
	"guild_blueprint_compile":  {"request"},
	"guild_blueprint_plan":     {"adopt", "blueprint", "expected_bot_id", "guild_id", "preferred_primary_code", "request", "template_codes"},
	"guild_blueprint_apply":    {"approval_id", "expected_bot_id", "guild_id", "operation_budget", "plan_ref", "plan_token"},
	"guild_blueprint_evidence": {"expected_bot_id", "guild_id", "plan_id"},
}

// TestL06EveryArgumentArrives sets each argument of each tool to a value of its
// own and looks for it in what Discord gets, which must be something else without
// the argument. For those in local, calls of other tests must have set them:
// [TestMain] looks.
//
// L06 A declared parameter is accepted and ignored.
func TestL06EveryArgumentArrives(t *testing.T) {
	t.Parallel()
	for name, tool := range listed(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rest := &sinkREST{}
			server, err := discordtools.BuildServer(discordtools.Deps{
				REST: rest, Config: discordtools.Config{Armed: true, ExpectedBot: sandbox.BotID}, Clock: func() time.Time { return now },
			})
			if err != nil {
				t.Fatal(err)
			}
			session := connect(t, server)
			input := tree(t, tool.InputSchema)
			properties := input["properties"].(map[string]any)
			var required []string
			for _, r := range asList(input["required"]) {
				required = append(required, r.(string))
			}
			for _, arg := range slices.Sorted(maps.Keys(properties)) {
				if strings.HasPrefix(arg, "__") {
					continue
				}
				given := map[string]any{}
				for i, r := range slices.Concat(required, companions[name], companions[name+"."+arg]) {
					name, value, stated := strings.Cut(r, "=")
					if given[name] = json.RawMessage(value); !stated {
						given[r] = sample(r, properties[r].(map[string]any), i)
					}
				}
				value := sample(arg, properties[arg].(map[string]any), 90)
				given[arg] = value
				if properties["__confirm"] != nil && properties["__confirm_hash"] == nil {
					given["__confirm"] = true
				}
				does := func() string { return rest.does(t, session, tool, given, cmp.Or(objects[name+"."+arg], objects[name])) }
				sent := does()
				delete(given, arg)
				if !slices.Contains(local[name], arg) && arg != "application_id" && does() == sent { // which is the bot's own without it
					t.Errorf("%s: without it the same is sent\n%s", arg, sent)
				}
				marks := marksOf(value)
				switch arg {
				case "file_data": // its bytes are sent, not their base64
					marks = []string{"PNG"}
				case "payload_json": // what it carries is sent
					marks = []string{"zqpacked"}
				}
				arrives := !slices.ContainsFunc(marks, func(m string) bool { return !strings.Contains(sent, m) })
				switch elsewhere := slices.Contains(local[name], arg); {
				case !arrives && !elsewhere:
					t.Errorf("%s: %s is not in what was sent\n%s", arg, marks, sent)
				case arrives && elsewhere && len(strings.Join(marks, "")) > 4:
					t.Errorf("%s arrives, remove it from local", arg)
				}
			}
		})
	}
}

// does is what a call does: what it sends, or what it answers where that is all.
func (s *sinkREST) does(t *testing.T, session *mcp.ClientSession, tool *mcp.Tool, args map[string]any, object string) string {
	t.Helper()
	s.reset(object)
	answer := callOn(t, session, tool.Name, args)
	if strings.Contains(string(answer.data), `"payload_hash"`) {
		preview, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		answer = callOn(t, session, tool.Name, json.RawMessage(confirming(t, string(preview), answer.data)))
	}
	if !*tool.Annotations.OpenWorldHint {
		return string(answer.data)
	}
	return nonces.ReplaceAllString(s.all(), "")
}

var nonces = regexp.MustCompile(`"nonce":"\w+",?`) // new with each call

func asList(v any) []any { list, _ := v.([]any); return list }

// companions are arguments that a tool, or another argument, needs beside it,
// with a value where it matters.
const anyDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

var companions = map[string][]string{
	"automod_create_rule":                                  {`trigger_metadata={"keyword_filter":["zqword"]}`},
	"automod_modify_rule":                                  {"name"},
	"commands_modify_global":                               {"name"},
	"guild_blueprint_apply":                                {`approval_id="` + anyDigest + `"`, `plan_ref="dmbpr1.` + anyDigest[7:] + `"`},
	"guild_blueprint_evidence":                             {`plan_id="` + anyDigest + `"`},
	"guild_blueprint_plan":                                 {"request"},
	"commands_modify_guild":                                {"name"},
	"channels_create_guild_channel.available_tags":         {"type=15"},
	"channels_create_guild_channel.default_forum_layout":   {"type=15"},
	"channels_create_guild_channel.default_reaction_emoji": {"type=15"},
	"channels_create_guild_channel.default_sort_order":     {"type=15"},
	"channels_create_guild_channel.default_tag_setting":    {"type=15"},
	"channels_modify.audit_reason":                         {"name"},
	"channels_modify.channel_id":                           {"name"},
	"components_v2_edit.files":                             {`components=[{"type":13,"file":{"url":"attachment://zqname"}}]`},
	"components_v2_send.files":                             {`components=[{"type":13,"file":{"url":"attachment://zqname"}}]`},
	"components_v2_send_from_template":                     {`template="poll_results"`},
	"emojis_modify":                                        {"name"},
	"events_create":                                        {`entity_metadata={"location":"Pier"}`, `scheduled_end_time="2026-03-16T10:00:00Z"`},
	"events_create.channel_id":                             {"entity_type=2", "entity_metadata={}"},
	"events_create.scheduled_end_time":                     {`scheduled_start_time="2026-03-15T09:00:00Z"`},
	"events_modify":                                        {"name"},
	"events_modify.entity_type":                            {`entity_metadata={"location":"Pier"}`, `scheduled_end_time="2026-03-16T10:00:00Z"`},
	"interactions_create_followup":                         {"content"},
	"interactions_create_response.data":                    {"type=4"},
	"interactions_edit_followup":                           {"content"},
	"interactions_edit_original_response":                  {"content"},
	"invites_create_channel.target_application_id":         {"target_type=2"},
	"invites_create_channel.target_type":                   {"target_application_id"},
	"invites_create_channel.target_user_id":                {"target_type=1"},
	"messages_edit":                                        {"content"},
	"messages_send":                                        {"content"},
	"soundboard_modify_guild_sound":                        {"name"},
	"stage_instances_modify":                               {"topic"},
	"permissions_explain.channel_id":                       {"role_id", `action="view_channel"`},
	"permissions_explain.guild_id":                         {"role_id", `requested_permissions=["SPEAK"]`},
	"permissions_explain.role_id":                          {`requested_permissions=["SPEAK"]`},
	"permissions_explain.target_role_id":                   {"user_id", `action="assign_role"`},
	"permissions_explain.target_user_id":                   {"user_id", `action="kick_member"`},
	"permissions_explain.user_id":                          {`requested_permissions=["SPEAK"]`},
	"stickers_create_guild_sticker.file_format":            {`file_data="data:image/gif;base64,R0lGODlhAQABAAAAACw="`},
	"stickers_modify_guild_sticker":                        {"name"},
	"webhooks_edit_message":                                {"content"},
	"webhooks_execute":                                     {"content"},
	"webhooks_execute.applied_tags":                        {"thread_name"},
	"webhooks_modify":                                      {"name"},
	"webhooks_modify_with_token":                           {"name"},
	"templates_modify":                                     {"name"},
}

// objects are what a tool, or one argument of it, must find at Discord.
var objects = map[string]string{
	"channels_forum_create_thread":   `{"type":15}`,
	"channels_modify.available_tags": `{"type":15}`,
	"channels_modify.applied_tags":   `{"type":11}`,
}

func callOn(t *testing.T, session *mcp.ClientSession, tool string, args any) answer {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return answer{data: data, text: res.Content[0].(*mcp.TextContent).Text}
}

// special are arguments whose form no schema states.
var special = map[string]any{
	"accessory":        map[string]any{"type": 11, "media": map[string]any{"url": "https://zqaccessory.example"}},
	"component":        map[string]any{"type": 10, "content": "zqcomponent"},
	"message":          map[string]any{"content": "zqmessage"},
	"data":             map[string]any{"content": "zqdata"},
	"components":       []any{map[string]any{"type": 1, "components": []any{map[string]any{"type": 2, "style": 5, "label": "zqbutton", "url": "https://a.example"}}}},
	"payload_json":     `{"embeds":[{"title":"zqpacked"}]}`,
	"emoji":            "party:760000000000000001",
	"application_id":   string(sandbox.ApplicationID), // which the identity lock lets through
	"code":             "abcDEF12",
	"emoji_name":       "🦆",
	"sound":            "data:audio/mpeg;base64,enFzb3VuZA==",
	"trigger_metadata": map[string]any{"keyword_filter": []any{"zqkeyword"}},
}

// typeName is the JSON Schema type of a special value.
func typeName(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return "string"
}

const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// sample is a valid value that is recognised again.
func sample(name string, p map[string]any, n int) any {
	kind := fmt.Sprint(p["type"])
	if list, ok := p["type"].([]any); ok {
		kind = fmt.Sprint(list[0])
	}
	if v, ok := special[name]; ok && kind == typeName(v) {
		return v
	}
	if enum := slices.DeleteFunc(slices.Clone(asList(p["enum"])), func(v any) bool { return v == nil }); len(enum) > 0 {
		return enum[len(enum)-1]
	}
	switch kind {
	case "boolean":
		return true
	case "integer", "number":
		low, _ := p["minimum"].(float64)
		high, ok := p["maximum"].(float64)
		if !ok {
			high = low + 1000
		}
		return json.Number(fmt.Sprint(int64(low + (high-low)*3/4)))
	case "array":
		items, _ := p["items"].(map[string]any)
		list := []any{}
		for i := range max(1, number(p["minItems"])) {
			list = append(list, sample(strings.TrimSuffix(name, "s"), items, n+i))
		}
		return list
	case "object":
		o := map[string]any{}
		inner, _ := p["properties"].(map[string]any)
		for _, r := range asList(p["required"]) {
			o[r.(string)] = sample(r.(string), inner[r.(string)].(map[string]any), n)
		}
		if len(o) == 0 {
			for _, k := range slices.Sorted(maps.Keys(inner)) {
				o[k] = sample(k, inner[k].(map[string]any), n)
				break
			}
		}
		return o
	}
	return sampleText(name, p, n)
}

func sampleText(name string, p map[string]any, n int) string {
	pattern, _ := p["pattern"].(string)
	description, _ := p["description"].(string)
	switch {
	case p["format"] == "date-time":
		return "2026-03-15T10:00:00Z"
	case p["format"] == "uri":
		return "https://zq.example/" + name
	case strings.HasPrefix(pattern, "^[0-9]{17"), strings.Contains(description, "or ISO time"):
		return discord.IDAt(now.Add(time.Duration(n-1000) * time.Second))
	case strings.HasPrefix(pattern, "^[0-9]"):
		return fmt.Sprint(1024 + n)
	case strings.Contains(description, "http or https address"):
		return "https://zq" + name + ".example"
	case strings.Contains(description, "data URI") && name == "data":
		return "aGVsbG8="
	case strings.Contains(description, "data URI") || strings.Contains(description, "data:"):
		return pixel
	}
	text := "zq" + strings.ReplaceAll(name, "_", "")
	if least := number(p["minLength"]); len(text) < least {
		text += strings.Repeat("x", least-len(text))
	}
	if most := number(p["maxLength"]); most > 0 && len(text) > most {
		text = text[:most]
	}
	return text
}

func number(v any) int { f, _ := v.(float64); return int(f) }

// marksOf are the texts by which a value is found again.
func marksOf(v any) (marks []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			marks = append(marks, marksOf(inner)...)
		}
	case []any:
		for _, inner := range v {
			marks = append(marks, marksOf(inner)...)
		}
	case string:
		switch v {
		case "aGVsbG8=":
			return []string{"hello"}
		default:
			return []string{v}
		}
	default:
		return []string{fmt.Sprint(v)}
	}
	return marks
}
