package discordtools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/internal/openapi"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// forger is a Discord that answers every request with what its description says
// of the route, with the canary in every text there is.
type forger struct {
	root  map[string]any
	mu    sync.Mutex
	forum bool // the channels are forums
	told  bool // an answer held a canary
}

// forgedID is every id that is told.
var forgedID = discord.IDAt(now.Add(-time.Hour))

// noUsers are routes that tell only what Discord itself wrote.
var noUsers = []string{"/voice/regions", "/guilds/{guild_id}/regions", "/sticker-packs", "/sticker-packs/{pack_id}"}

func (f *forger) Do(_ context.Context, r discordtools.Request) (*discordtools.Response, error) {
	op, _ := f.at("paths", r.Route, strings.ToLower(r.Method)).(map[string]any)
	res := &discordtools.Response{Status: 204, Header: http.Header{}}
	responses, _ := op["responses"].(map[string]any)
	for _, status := range []string{"200", "201"} {
		content, _ := f.deref(responses[status])["content"].(map[string]any)
		body, ok := content["application/json"].(map[string]any)
		if !ok {
			continue
		}
		made := f.value(body["schema"], "", 0)
		if o, ok := made.(map[string]any); ok && (r.Route == "/users/@me" || r.Route == "/applications/@me") {
			o["id"], o["bot"] = sandbox.BotID, true // who the server is locked to
		}
		f.mu.Lock()
		if o, ok := made.(map[string]any); ok && f.forum && r.Route == "/channels/{channel_id}" {
			o["type"] = discord.GuildForum
		}
		f.mu.Unlock()
		raw, err := json.Marshal(made)
		if err != nil {
			return nil, err
		}
		if slices.Contains(noUsers, r.Route) {
			raw = bytes.ReplaceAll(raw, []byte("CANARY"), []byte("Discord"))
		}
		f.mu.Lock()
		f.told = f.told || strings.Contains(string(raw), "CANARY")
		f.mu.Unlock()
		res.Status, res.Body = 200, raw
		break
	}
	return res, nil
}

// begin says whether channels are forums from now on, and whether a canary was
// told since the last time.
func (f *forger) begin(forum bool) (told bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	told, f.told, f.forum = f.told, false, forum
	return told
}

func (f *forger) at(path ...string) any {
	var v any = f.root
	for _, p := range path {
		o, _ := v.(map[string]any)
		v = o[p]
	}
	return v
}

func (f *forger) deref(v any) map[string]any {
	o, _ := v.(map[string]any)
	if ref, ok := o["$ref"].(string); ok {
		return f.deref(f.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
	}
	return o
}

// value is a value of a schema. At some depth objects hold no more than they must.
func (f *forger) value(schema any, name string, depth int) any {
	s := f.deref(schema)
	if c, ok := s["const"]; ok {
		return c
	}
	if list := asList(s["enum"]); len(list) > 0 {
		return list[0]
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		for _, choice := range asList(s[word]) {
			if v := f.value(choice, name, depth+1); v != nil {
				return v
			}
		}
	}
	switch kind := typeOf(s); {
	case s["allOf"] != nil, kind == "object", s["properties"] != nil:
		return f.object(s, depth)
	case kind == "array" || kind == "null" && s["items"] != nil:
		if depth > 12 {
			return []any{}
		}
		return []any{f.value(s["items"], name, depth+1)}
	case kind == "boolean":
		return true
	case kind == "integer" || kind == "number":
		return max(1, number(s["minimum"]))
	case kind == "string":
		return f.text(s, name)
	}
	return nil
}

func (f *forger) object(s map[string]any, depth int) map[string]any {
	o := map[string]any{}
	for _, part := range asList(s["allOf"]) {
		if inner, ok := f.value(part, "", depth+1).(map[string]any); ok {
			maps.Copy(o, inner)
		}
	}
	members, _ := s["properties"].(map[string]any)
	for name, member := range members {
		if depth < 12 || slices.Contains(asList(s["required"]), any(name)) && depth < 24 {
			if v := f.value(member, name, depth+1); v != nil {
				o[name] = v
			}
		}
	}
	if more, ok := s["additionalProperties"].(map[string]any); ok && depth < 12 {
		if v := f.value(more, "", depth+1); v != nil {
			o["1"] = v
		}
	}
	return o
}

func (f *forger) text(s map[string]any, name string) string {
	pattern, _ := s["pattern"].(string)
	switch {
	case s["format"] == "snowflake", strings.HasPrefix(pattern, "^(0|[1-9]"):
		return forgedID
	case s["format"] == "date-time":
		return "2026-03-14T15:00:00Z"
	case name == "deny":
		return "0"
	case strings.HasPrefix(pattern, "^[0-9]"), name == "permissions", name == "allow":
		return "8"
	case s["format"] == "uri":
		return "https://a.example/"
	case slices.Contains([]string{"code", "session_id", "launch_id", "instance_id", "id"}, name):
		return "made-by-Discord"
	}
	return canary
}

// forgedArgs are what a tool needs beside its required arguments, or instead.
var forgedArgs = map[string]string{
	"application_modify_current": `{"description":"new"}`,
	"channels_modify":            `{"name":"new"}`,
	"messages_bulk_delete":       `{"message_ids":["` + forgedID + `","1200000000000000905"]}`,
	"permissions_explain":        `{"user_id":"` + forgedID + `","channel_id":"` + forgedID + `","action":"view_channel"}`,
}

// unforged are tools that do not act on what is forged, with their code.
var unforged = map[string]mcpcore.Code{
	"inspiration_emoji_gg_search": mcpcore.CodePrecondition, // asks another service, and has a canary of its own
}

// TestEveryToolFences lets every tool, on replies in which all that Discord's
// users may have written is the canary, read, preview and act: no canary may
// stand outside a fence in the text that agents read. None is left out.
func TestEveryToolFences(t *testing.T) {
	t.Parallel()
	path, ok := openapi.Find()
	if !ok {
		t.Skip(openapi.Absent)
	}
	raw, err := openapi.Corrected(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{}
	if err := json.Unmarshal(raw, &f.root); err != nil {
		t.Fatal(err)
	}
	server, err := discordtools.BuildServer(discordtools.Deps{
		REST: f, Config: discordtools.Config{Armed: true, ExpectedBot: sandbox.BotID}, Clock: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, mcp: connect(t, server)}
	check := func(name string, args map[string]any) (raw []byte, a answer) {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		a = b.call(name, string(raw))
		if rest := fenced.ReplaceAllString(a.text, ""); strings.Contains(rest, "CANARY") {
			t.Errorf("%s: text of a user stands outside a fence:\n%s", name, rest)
		}
		for _, fence := range fenced.FindAllString(a.text, -1) {
			if n := strings.Count(fence, "</untrusted_discord_"); n != 1 {
				t.Errorf("%s: a fence with %d ends:\n%s", name, n, fence)
			}
		}
		return raw, a
	}
	told := 0
	for name, tool := range listed(t) {
		f.begin(name == "channels_forum_create_thread")
		input := tree(t, tool.InputSchema)
		properties := input["properties"].(map[string]any)
		given := usual(tool, input)
		for arg := range given {
			if pattern, _ := properties[arg].(map[string]any)["pattern"].(string); strings.HasPrefix(pattern, "^[0-9]{17") && arg != "application_id" {
				given[arg] = forgedID
			}
		}
		if more, ok := forgedArgs[name]; ok {
			if err := json.Unmarshal([]byte(more), &given); err != nil {
				t.Fatal(err)
			}
		}
		raw, a := check(name, given)
		switch {
		case properties["__confirm_hash"] != nil && a.code == mcpcore.CodePayloadRequired:
			given = nil
			if err := json.Unmarshal([]byte(confirming(t, string(raw), a.data)), &given); err != nil {
				t.Fatal(err)
			}
			_, a = check(name, given)
		case properties["__confirm"] != nil && a.code == mcpcore.CodeDryRun:
			given["__confirm"] = true
			_, a = check(name, given)
		}
		if a.code != unforged[name] {
			t.Errorf("%s: code %q, want %q: %s", name, a.code, unforged[name], short(a.data))
		}
		if f.begin(false) {
			told++
		}
	}
	if told < 140 {
		t.Errorf("only %d tools were told a canary: this test looks at too little", told)
	}
}
