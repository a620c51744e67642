package discordtools_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// subject is a tool with what a client receives of it.
type subject struct {
	mcpcore.Tool
	input, output map[string]any
	bytes         int
}

func (s subject) properties() map[string]any {
	p, _ := s.input["properties"].(map[string]any)
	return p
}

// invariants are rules that hold for every tool. A rule gives what is wrong,
// "" when nothing is.
var invariants = []struct {
	name string
	rule func(subject) string
}{
	{"name is portable and its category's", func(s subject) string { // L46 Catalogue too big, names too long, pages ignored
		if !regexp.MustCompile(`^[a-z][a-z0-9_]{2,44}$`).MatchString(s.Name) {
			return "must match [a-z][a-z0-9_]{2,44}"
		}
		return ""
	}},
	{"root of the input is a flat object", func(s subject) string { // L44 Combinators at the root of an input schema
		for _, word := range []string{"anyOf", "oneOf", "allOf", "not", "if", "$ref", "enum"} {
			if _, ok := s.input[word]; ok {
				return "has " + word
			}
		}
		if s.input["type"] != "object" || s.input["additionalProperties"] != false {
			return "is not a closed object"
		}
		if _, ok := s.input["properties"].(map[string]any); !ok {
			return "has no properties"
		}
		return ""
	}},
	{"inputs have no combinator and no reference at any depth", func(s subject) string {
		var found string
		walkSchema(s.input, func(node map[string]any) {
			for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref", "$defs"} {
				if _, ok := node[word]; ok {
					found = word
				}
			}
		})
		return found
	}},
	{"every argument is described", func(s subject) string {
		for _, name := range slices.Sorted(maps.Keys(s.properties())) {
			if p := s.properties()[name].(map[string]any); p["description"] == nil || p["description"] == "" {
				return name
			}
		}
		return ""
	}},
	{"every argument has a type", func(s subject) string {
		for _, name := range slices.Sorted(maps.Keys(s.properties())) {
			if s.properties()[name].(map[string]any)["type"] == nil {
				return name
			}
		}
		return ""
	}},
	{"ids are text with a pattern", func(s subject) string {
		for name, p := range s.properties() {
			p := p.(map[string]any)
			if strings.HasSuffix(name, "_id") && !strings.HasPrefix(name, "__") && (fmt.Sprint(p["type"]) != "string" && fmt.Sprint(p["type"]) != "[string null]" || p["pattern"] == nil) && !slices.Contains(numbered, name) {
				return name
			}
		}
		return ""
	}},
	{"confirmation fields stand on gated tools alone", func(s subject) string { // L34 Confirmation flag never reaches the gate
		_, has := s.properties()["__confirm"]
		if gated := s.EffectiveGate() == mcpcore.TwoKey || s.EffectiveGate() == mcpcore.Payload; has != gated {
			return fmt.Sprintf("gate %s, __confirm %v", s.EffectiveGate(), has)
		}
		return ""
	}},
	{"destructive tools are gated, and what is gated shows facts", func(s subject) string { // L19 Destructive call dressed as harmless
		if s.Effect == mcpcore.Destroy && s.EffectiveGate() != mcpcore.TwoKey {
			return "is not two-key"
		}
		if (s.Effect == mcpcore.Destroy || s.EffectiveGate() == mcpcore.Payload) && s.Facts == nil {
			return "shows no facts"
		}
		return ""
	}},
	{"a DELETE of something that does not come back is destructive", func(s subject) string {
		reversible := []string{"messages_unpin", "reactions_delete_own", "reactions_delete_user", "members_unban", "members_remove_role",
			"threads_leave", "threads_remove_member", "channels_delete_permissions"}
		if s.Effect == mcpcore.Write && len(s.Routes) > 0 && strings.HasPrefix(s.Routes[0], "DELETE ") && !slices.Contains(reversible, s.Name) {
			return s.Routes[0]
		}
		return ""
	}},
	{"a tool that reads sends no write", func(s subject) string {
		for _, r := range s.Routes {
			if s.Effect == mcpcore.Read && !strings.HasPrefix(r, "GET ") {
				return r
			}
		}
		return ""
	}},
	{"writing text never notifies by itself", func(s subject) string { // L20 Unwanted pings
		if _, writes := s.properties()["content"]; writes && s.Effect != mcpcore.Read && s.properties()["allowed_mentions"] == nil {
			return "takes content and no allowed_mentions"
		}
		return ""
	}},
	{"a tool acts by a token or as the bot", func(s subject) string { // L40 Webhook and interaction tokens in logs and traces
		_, given := s.properties()["token"]
		_, answers := s.properties()["interaction_token"]
		for _, r := range s.Routes {
			if strings.Contains(r, "_token}") != (given || answers) || (given || answers) && !s.Anonymous {
				return r
			}
		}
		return ""
	}},
	{"output is an object of a success or an error", func(s subject) string { // L47 Result does not match the published output schema
		branches, _ := s.output["anyOf"].([]any)
		if s.output["type"] != "object" || len(branches) != 2 {
			return "is not type object with two branches"
		}
		return ""
	}},
	{"a tool of a guild that names channels says where its permissions count", func(s subject) string {
		channel := ""
		for _, at := range s.IDs() {
			if at.Kind == discord.KindChannel {
				channel = at.Path
			}
		}
		asks := s.Scope == mcpcore.GuildScope && channel != "" && (s.Needs != 0 || len(s.NeedsWhen) > 0)
		switch there := slices.Contains(countInChannels, s.Name); {
		case asks && s.NeedsIn == "" && !there:
			return "names " + channel + ", and has neither NeedsIn nor a place in countInChannels"
		case there && (!asks || s.NeedsIn != ""):
			return "need not be in countInChannels"
		}
		return ""
	}},
	{"doc is written for agents", func(s subject) string {
		d := s.Description()
		switch {
		case len(d) < 20:
			return "is too short to choose by"
		case strings.Contains(d, "\n") || strings.Contains(d, "  "):
			return "has unfolded white space"
		case !strings.HasSuffix(d, "."):
			return "does not end with a full stop"
		}
		return ""
	}},
	{"it has a title and a category", func(s subject) string {
		if s.Title == "" || s.Category == "" {
			return "lacks one"
		}
		return ""
	}},
	{"no argument is a path or an address to fetch", func(s subject) string { // L62 Upload of any local file, L63 Server fetches a URL for the caller
		for name := range s.properties() {
			if name == "path" || name == "file_path" || name == "filename" || name == "file_url" || name == "image_url" {
				return name
			}
		}
		return ""
	}},
	{"its schema compiles", func(s subject) string {
		if err := s.Compile(); err != nil {
			return err.Error()
		}
		return ""
	}},
}

// countInChannels are tools of a guild whose permissions count in the channel
// that is named: the category of a new channel, an event's channel, a voice
// channel.
var countInChannels = []string{
	"channels_create_guild_channel", "events_create", "events_modify",
	"guild_modify_current_voice_state", "guild_modify_user_voice_state", "members_modify",
}

// numbered are arguments that end in _id and are not snowflakes.
var numbered = []string{"answer_id", "instance_id"}

func TestInvariants(t *testing.T) {
	t.Parallel()
	definitions := listed(t)
	for _, tool := range tools(t) {
		d := definitions[tool.Name]
		if d == nil {
			t.Errorf("%s is not listed", tool.Name)
			continue
		}
		s := subject{Tool: tool, input: tree(t, d.InputSchema), output: tree(t, d.OutputSchema), bytes: bytesOf(t, d)}
		for _, i := range invariants {
			if wrong := i.rule(s); wrong != "" {
				t.Errorf("%s: %s: %s", tool.Name, i.name, wrong)
			}
		}
	}
}

// TestSize holds the list small: clients pay for it in every conversation.
func TestSize(t *testing.T) {
	t.Parallel()
	total, n := 0, 0
	for _, d := range listed(t) {
		total += bytesOf(t, d)
		n++
	}
	if average := total / n; average > 1800 {
		t.Errorf("a tool takes %d bytes on average, at most 1800 is meant", average)
	}
}

func tree(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func walkSchema(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, inner := range v {
			walkSchema(inner, visit)
		}
	case []any:
		for _, inner := range v {
			walkSchema(inner, visit)
		}
	}
}
