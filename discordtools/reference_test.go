package discordtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/internal/beside"
	"github.com/guildwarden/guildwarden/internal/openapi"
	"github.com/guildwarden/guildwarden/internal/schema"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// meant are differences from the reference that are deliberate, each with its
// reason.
var meant = map[string]string{
	"channels_create_guild_channel: input.type: is one of [0 2 4 5 13 15 16], there anything":      "the types that Discord makes in a guild; it refuses all others",
	"channels_forum_create_thread: input.message.content: maxLength 2000, there 4000":              "4000 are a subscriber's; a bot's message has 2000 and is refused beyond",
	"channels_modify: input.applied_tags: a repetition is refused":                                 repeatedTags,
	"channels_modify: input.remove_available_tag_ids: a repetition is refused":                     repeatedTags,
	"channels_modify: input.type: is one of [0 5], there anything":                                 "Discord changes text to announcement channels and back, nothing else",
	"application_modify_current: input.integration_types_config: is closed, there open":            "guilds and users are all the kinds of installation",
	"commands_edit_command_permissions: input.bearer_token: maxLength 512, there <nil>":            "an access token of Discord is far shorter",
	"components_v2_build_media_gallery: input.items[].url: maxLength 2048, there <nil>":            "Discord takes no longer address",
	"components_v2_send: input.allowed_mentions.parse: maxItems 3, there <nil>":                    "there are three words",
	"interactions_create_response: input.type: 10 is refused":                                      "Discord takes it no longer",
	"mcp_pipeline: input.steps[].tool: maxLength 64, there <nil>":                                  "no tool has a longer name",
	"emojis_create: input.name: pattern ^[A-Za-z0-9_]*$, there ":                                   emojiNames,
	"emojis_modify: input.name: pattern ^[A-Za-z0-9_]*$, there ":                                   emojiNames,
	"guild_get_prune_count: output.pruned: may be null":                                            "Discord may answer null, and 0 would be a lie",
	"guild_list_integrations: output.integrations[].name: may be null":                             "Discord may answer null",
	"guild_modify: input.features[]: maxLength 100, there <nil>":                                   "no feature has a longer name",
	"guild_modify_welcome_screen: input.welcome_channels[].emoji_name: maxLength 100, there <nil>": "no emoji has a longer name",
	"users_create_dm: gate consent, there none":                                                    "the consent that the reference asks for by MCP_DM_CONSENT_MODE is a gate here",
	"users_create_dm: input.__consent: is not there":                                               consentFields,
	"users_create_dm: input.__consent_hash: is not there":                                          consentFields,
	"users_create_dm: input.__consent_id: is not there":                                            consentFields,
}

const (
	repeatedTags  = "the reference refuses it as well, when it reads the channel"
	emojiNames    = "Discord refuses all other characters"
	consentFields = "a field stands where it does something: under MCP_DM_CONSENT_MODE=require"
)

// referenced is a tool as the reference has it.
type referenced struct {
	Name        string `json:"name"`
	Category    string `json:"category"`
	ReadOnly    bool   `json:"readOnly"`
	Destructive bool   `json:"destructive"`
	Idempotent  bool   `json:"idempotent"`
	OpenWorld   bool   `json:"openWorld"`
	Confirm     string `json:"confirm"`
	Input       node   `json:"input"`
	Output      node   `json:"output"`
}

// TestReference holds what clients receive against the reference's tools: every
// call that works there works here, and every answer has what it has there. It
// looks at names, categories, inputs, hints, gates and what outputs always have,
// at any depth.
func TestReference(t *testing.T) {
	t.Parallel()
	path, ok := beside.Find("DISCORD_TOOLS_REFERENCE", "reference/tools.json")
	if !ok {
		t.Skip("NOT CHECKED against the reference's tools: set DISCORD_TOOLS_REFERENCE to the path of tools.json, or put it at ../shared/reference/tools.json beside the project")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []referenced
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	described, ok := openapi.Find()
	if !ok {
		t.Skip(openapi.Absent + "; without it nobody can tell which bounds are Discord's own")
	}
	against := versus{readOracle(t, described)}
	ours := wholeSurface(t)
	used := map[string]bool{}
	report := func(wrong string) {
		if _, deliberate := meant[wrong]; !deliberate {
			t.Error(wrong)
		}
		used[wrong] = true
	}
	for _, ref := range all {
		tool, there := ours[ref.Name]
		switch {
		case !there:
			t.Errorf("%s is not there", ref.Name)
			continue
		}
		delete(ours, ref.Name)
		for _, wrong := range against.compare(t, ref, tool) {
			report(ref.Name + ": " + wrong)
		}
	}
	for name := range ours {
		report(name + ": is not in the reference")
	}
	for d := range meant {
		if !used[d] {
			t.Errorf("no longer a difference, remove it: %s", d)
		}
	}
}

// surfaced is a tool of ours: what a client receives, and what it is made of.
type surfaced struct {
	*mcp.Tool
	tool mcpcore.Tool
	made contract
}

func wholeSurface(t *testing.T) map[string]surfaced {
	t.Helper()
	server, err := BuildServer(Deps{REST: nowhere{}})
	if err != nil {
		t.Fatal(err)
	}
	ct, st := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), st, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]surfaced{}
	s := &shared{now: time.Now}
	for _, c := range categories() {
		for _, d := range c.Tools {
			tool := d.tool(s, c)
			all[tool.Name] = surfaced{tool: tool, made: d.(interface{ contract() contract }).contract()}
		}
	}
	for _, listed := range list.Tools {
		v := all[listed.Name]
		v.Tool = listed
		all[listed.Name] = v
	}
	return all
}

// versus compares with the reference. Where ours is narrower than the reference,
// but as narrow as Discord itself, it is no difference.
type versus struct{ discord oracle }

// compare lists what of the reference's tool is not here.
func (o versus) compare(t *testing.T, r referenced, s surfaced) (problems []string) {
	t.Helper()
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if s.tool.Category != r.Category {
		problem("category %s, there %s", s.tool.Category, r.Category)
	}
	a := s.Annotations
	for _, hint := range []struct {
		name        string
		ours, there bool
	}{
		{"readOnly", a.ReadOnlyHint, r.ReadOnly}, {"destructive", a.DestructiveHint != nil && *a.DestructiveHint, r.Destructive},
		{"idempotent", a.IdempotentHint, r.Idempotent}, {"openWorld", a.OpenWorldHint == nil || *a.OpenWorldHint, r.OpenWorld},
	} {
		if hint.ours != hint.there {
			problem("%s %t, there %t", hint.name, hint.ours, hint.there)
		}
	}
	gates := map[string]mcpcore.Gate{"none": mcpcore.NoGate, "two_key": mcpcore.TwoKey, "payload_hash": mcpcore.Payload}
	if gate := s.tool.EffectiveGate(); gate != gates[r.Confirm] {
		problem("gate %s, there %s", gate, r.Confirm)
	}
	input := treeOf(t, s.InputSchema)
	problems = append(problems, o.refuses(input, r.Input, nil, "input")...)
	mine, _ := input["properties"].(node)
	yours, _ := r.Input["properties"].(node)
	for _, name := range sortedKeys(yours) {
		if p, ok := mine[name].(node); ok {
			problems = append(problems, o.accepts(p, yours[name].(node), o.own(t, s.made, name), "input."+name)...)
		}
	}
	view, err := schema.Of(s.made.out, append(planTags, viewTag)...)
	if err != nil {
		t.Fatal(err)
	}
	var out node
	if err := json.Unmarshal(view.JSON(), &out); err != nil {
		t.Fatal(err)
	}
	return append(problems, gives(out, r.Output, "output")...)
}

func treeOf(t *testing.T, v any) (n node) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// choices are the schemas that a value may have, null apart.
func choices(n node) (all []node, null bool) {
	for _, word := range []string{"anyOf", "oneOf"} {
		for _, v := range asList(n[word]) {
			inner, none := choices(v.(node))
			all, null = append(all, inner...), null || none
		}
	}
	if len(all) > 0 || null {
		return all, null
	}
	switch kind := n["type"].(type) {
	case string:
		if kind == "null" {
			return nil, true
		}
	case []any:
		null = slices.Contains(kind, any("null"))
	}
	return []node{n}, null
}

// kinds are the types of a schema, null apart; none where it takes anything.
func kinds(n node) (all []string) {
	switch kind := n["type"].(type) {
	case string:
		return []string{kind}
	case []any:
		for _, k := range kind {
			if k != "null" {
				all = append(all, k.(string))
			}
		}
	}
	if c, ok := n["const"]; ok && all == nil {
		switch c.(type) {
		case string:
			return []string{"string"}
		case bool:
			return []string{"boolean"}
		case float64:
			return []string{"integer"}
		}
	}
	return all
}

// accepts lists what a value that fits theirs may be and ours refuses.
func (o versus) accepts(ours, theirs node, own []node, path string) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, path+": "+fmt.Sprintf(format, args...))
	}
	if len(ours) == 0 || ours["type"] == nil {
		return nil
	}
	mine, takesNull := choices(ours)
	yours, null := choices(theirs)
	if null && !takesNull {
		problem("null is refused")
	}
	var words []string // where theirs is a choice of constants
	for _, y := range yours {
		if c, ok := y["const"]; ok {
			words = append(words, fmt.Sprint(c))
			if !fits(mine[0], y) {
				problem("is %v, there %v", kinds(mine[0]), kinds(y))
				return problems
			}
			continue
		}
		if !fits(mine[0], y) {
			problem("is %v, there %v", kinds(mine[0]), kinds(y))
			continue
		}
		problems = append(problems, o.narrower(mine[0], y, own, path)...)
	}
	if enum := valuesOf(mine[0]); words != nil && enum != nil {
		for _, w := range words {
			if !slices.Contains(enum, w) {
				problem("%s is refused", w)
			}
		}
	}
	return problems
}

// fits reports whether ours takes the types of theirs.
func fits(ours, theirs node) bool {
	for _, k := range kinds(theirs) {
		if !slices.Contains(kinds(ours), k) && !(k == "integer" && slices.Contains(kinds(ours), "number")) && !(k == "number" && slices.Contains(kinds(ours), "integer")) {
			return false
		}
	}
	return true
}

func valuesOf(n node) (all []string) {
	for _, v := range asList(n["enum"]) {
		if v != nil {
			all = append(all, fmt.Sprint(v))
		}
	}
	return all
}

// own is what Discord says of an argument; nothing for one that it is not sent
// as such.
func (o versus) own(t *testing.T, c contract, name string) []node {
	t.Helper()
	op := o.discord.operation(c.route)
	if op == nil {
		return nil
	}
	p, err := newPlan(c.route, c.in, c.out, c.set)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range p.args {
		if a.name == name {
			theirs, _ := o.discord.argument(c.route, op, a)
			return theirs
		}
	}
	return nil
}

// narrower lists bounds of ours that neither theirs nor Discord has.
func (o versus) narrower(ours, theirs node, own []node, path string) (problems []string) {
	problem := func(word, format string, args ...any) {
		if !slices.ContainsFunc(own, func(n node) bool { return n[word] != nil && fmt.Sprint(n[word]) == fmt.Sprint(ours[word]) }) {
			problems = append(problems, path+": "+fmt.Sprintf(format, args...))
		}
	}
	for _, word := range []string{"maximum", "maxLength", "maxItems"} {
		if mine, ok := bound(ours, word); ok {
			if yours, ok := bound(theirs, word); (!ok || mine < yours) && !(word == "maxItems" && rows(mine, path)) && !(word == "maxLength" && shorter(theirs, int(mine))) {
				problem(word, "%s %v, there %v", word, ours[word], theirs[word])
			}
		}
	}
	for _, word := range []string{"minimum", "minLength", "minItems"} {
		if mine, ok := bound(ours, word); ok && mine > 0 && !(word == "minLength" && mine == 1 && neverEmpty(theirs)) {
			if yours, ok := bound(theirs, word); !ok || mine > yours {
				problem(word, "%s %v, there %v", word, ours[word], theirs[word])
			}
		}
	}
	snowflake := ours["pattern"] == idPattern && slices.ContainsFunc(own, func(n node) bool { return n["format"] == "snowflake" })
	if p, ok := ours["pattern"].(string); ok && p != setPattern && !snowflake {
		if theirs, _ := theirs["pattern"].(string); !intact(p) && p != theirs && !covers(p, theirs) {
			problem("pattern", "pattern %s, there %s", p, theirs)
		}
	}
	if f, ok := ours["format"]; ok && f != theirs["format"] {
		problem("format", "format %v, there %v", f, theirs["format"])
	}
	if ours["uniqueItems"] == true && theirs["uniqueItems"] != true {
		problem("uniqueItems", "a repetition is refused")
	}
	problems = append(problems, chosen(ours, theirs, own, path)...)
	if items, ok := theirs["items"].(node); ok {
		mine, _ := ours["items"].(node)
		var inner []node
		for _, n := range own {
			inner = append(inner, o.discord.alternatives(n["items"])...)
		}
		problems = append(problems, o.accepts(mine, items, inner, path+"[]")...)
	}
	problems = append(problems, o.refuses(ours, theirs, own, path)...)
	mine, _ := ours["properties"].(node)
	yours, _ := theirs["properties"].(node)
	for _, name := range sortedKeys(yours) {
		if p, ok := mine[name].(node); ok {
			problems = append(problems, o.accepts(p, yours[name].(node), o.discord.members(own, name), path+"."+name)...)
		}
	}
	return problems
}

// rows is the one bound of ours that Discord has and its description lacks: a
// message has at most five action rows.
func rows(n float64, path string) bool { return n == 5 && strings.HasSuffix(path, ".components") }

// intact reports whether a pattern is that of credentials, which go into a path or
// a header and must leave both intact; Discord's own have no other characters.
func intact(pattern string) bool {
	return pattern == "^[A-Za-z0-9_-][A-Za-z0-9._~=+-]*$" || pattern == "^[A-Za-z0-9._~+/=-]*$"
}

// neverEmpty reports whether the empty text fits a schema of the reference never.
func neverEmpty(theirs node) bool {
	p, patterned := theirs["pattern"].(string)
	return theirs["format"] == "uri" || patterned && !regexp.MustCompile(p).MatchString("")
}

// covers reports whether each text that fits theirs fits ours, for patterns that
// are rows of characters.
func covers(ours, theirs string) bool {
	mine, yours := rowsOf(ours), rowsOf(theirs)
	return mine != nil && slices.EqualFunc(mine, yours, func(mine, yours row) bool {
		for i := 0; i < len(yours.of); i += 2 {
			if !mine.has(yours.of[i], yours.of[i+1]) {
				return false
			}
		}
		return mine.low <= yours.low && (mine.high < 0 || yours.high >= 0 && yours.high <= mine.high)
	})
}

// shorter reports whether the pattern of a schema takes no longer text.
func shorter(theirs node, most int) bool {
	pattern, _ := theirs["pattern"].(string)
	n := 0
	for _, r := range rowsOf(pattern) {
		if r.high < 0 {
			return false
		}
		n += r.high
	}
	return n > 0 && n <= most
}

// row is so many characters of some ranges, -1 for any number.
type row struct {
	of        []rune
	low, high int
}

func (r row) has(from, to rune) bool {
	for i := 0; i < len(r.of); i += 2 {
		if r.of[i] <= from && to <= r.of[i+1] {
			return true
		}
	}
	return false
}

// rowsOf reads a pattern such as ^[a-z][0-9]{2,32}$, nil for any other kind.
func rowsOf(pattern string) (all []row) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || re.Sub[0].Op != syntax.OpBeginText || re.Sub[len(re.Sub)-1].Op != syntax.OpEndText {
		return nil
	}
	for _, sub := range re.Sub[1 : len(re.Sub)-1] {
		r, class := row{low: 1, high: 1}, sub
		switch sub.Op {
		case syntax.OpStar:
			r, class = row{low: 0, high: -1}, sub.Sub[0]
		case syntax.OpPlus:
			r, class = row{low: 1, high: -1}, sub.Sub[0]
		case syntax.OpRepeat:
			r, class = row{low: sub.Min, high: sub.Max}, sub.Sub[0]
		}
		if class.Op != syntax.OpCharClass {
			return nil
		}
		r.of = class.Rune
		all = append(all, r)
	}
	return all
}

const (
	idPattern  = "^[0-9]{17,20}$"
	setPattern = "^[0-9]{1,32}$" // of a permission set, wider than any
)

// chosen lists words of theirs that ours refuses, where ours is a choice that is
// not Discord's own.
func chosen(ours, theirs node, own []node, path string) (problems []string) {
	enum := valuesOf(ours)
	if enum == nil {
		return nil
	}
	there := valuesOf(theirs)
	if there == nil {
		there = between(theirs)
	}
	if there == nil && strings.HasSuffix(path, "flags") && slices.Contains(enum, "0") {
		return nil // sums of the flags that a bot may set; Components V2 (32768) has tools of its own
	}
	if there == nil && !slices.ContainsFunc(own, func(n node) bool { return sameWords(values(n), enum) }) {
		return []string{fmt.Sprintf("%s: is one of %v, there anything", path, enum)}
	}
	for _, v := range there {
		if !slices.Contains(enum, v) {
			problems = append(problems, fmt.Sprintf("%s: %s is refused", path, v))
		}
	}
	return problems
}

func sameWords(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// between are the whole numbers that theirs takes, nil where they are many.
func between(n node) (all []string) {
	low, ok := bound(n, "minimum")
	high, bounded := bound(n, "maximum")
	if !ok || !bounded || high-low > 50 {
		return nil
	}
	for v := low; v <= high; v++ {
		all = append(all, strconv.Itoa(int(v)))
	}
	return all
}

func bound(n node, word string) (float64, bool) {
	f, ok := n[word].(float64)
	return f, ok
}

// refuses lists members of an object that theirs has and ours refuses, and those
// that ours demands and Discord does not.
func (o versus) refuses(ours, theirs node, own []node, path string) (problems []string) {
	mine, _ := ours["properties"].(node)
	yours, _ := theirs["properties"].(node)
	if open, _ := theirs["additionalProperties"].(bool); ours["additionalProperties"] == false && (open || theirs["propertyNames"] != nil) {
		if !slices.ContainsFunc(own, func(n node) bool { return n["properties"] != nil }) {
			problems = append(problems, path+": is closed, there open")
		}
	}
	for _, name := range sortedKeys(yours) {
		if mine[name] == nil && ours["additionalProperties"] == false {
			problems = append(problems, path+"."+name+": is not there")
		}
	}
	for _, r := range asList(ours["required"]) {
		discords := slices.ContainsFunc(own, func(n node) bool { return slices.Contains(asList(n["required"]), r) })
		if !slices.Contains(asList(theirs["required"]), r) && !discords {
			problems = append(problems, fmt.Sprintf("%s.%s: is required", path, r))
		}
	}
	return problems
}

func sortedKeys(n node) []string {
	keys := make([]string, 0, len(n))
	for k := range n {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// gives lists what theirs always has and ours may lack or have otherwise.
func gives(ours, theirs node, path string) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, path+": "+fmt.Sprintf(format, args...))
	}
	if ours == nil || ours["type"] == nil {
		return nil
	}
	mine, mayBeNull := choices(ours)
	yours, null := choices(theirs)
	if mayBeNull && !null {
		problem("may be null")
	}
	var fitting node
	for _, y := range yours {
		if fits(y, mine[0]) {
			fitting = y
			break
		}
	}
	if fitting == nil {
		problem("is %v, there %v", kinds(mine[0]), theirs)
		return problems
	}
	if items, ok := fitting["items"].(node); ok {
		own, _ := mine[0]["items"].(node)
		problems = append(problems, gives(own, items, path+"[]")...)
	}
	members, _ := mine[0]["properties"].(node)
	wanted, _ := fitting["properties"].(node)
	for _, r := range asList(fitting["required"]) {
		name := r.(string)
		switch member, there := members[name].(node); {
		case !there && members == nil:
		case !there:
			problems = append(problems, path+"."+name+": is not there")
		case !slices.Contains(asList(mine[0]["required"]), r):
			problems = append(problems, path+"."+name+": is not always there")
		default:
			inner, there := wanted[name].(node)
			if !there {
				inner, _ = fitting["additionalProperties"].(node)
			}
			problems = append(problems, gives(member, inner, path+"."+name)...)
		}
	}
	return problems
}

// nowhere is a Discord that is never asked.
type nowhere struct{}

func (nowhere) Do(context.Context, Request) (*Response, error) {
	return nil, errors.New("nothing is asked here")
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		ours, theirs string
		want         bool
	}{
		{"^[a-z0-9_]*$", "^[a-z0-9_]+$", true},
		{"^[0-9]{1,20}$", `^\d{17,20}$`, true},
		{"^[A-Za-z][a-z_]{0,63}$", "^[a-z][a-z]{0,63}$", true},
		{"^[0-9]{17,20}$", `^\d{1,20}$`, false},
		{"^[0-9]{17,20}$", `^\d+$`, false},
		{"^[a-z]*$", "^[A-Za-z]*$", false},
		{"^[a-z]*$", "", false},
		{"^data:[a-z]*$", "^data:[a-z]*$", false},
	} {
		if got := covers(p.ours, p.theirs); got != p.want {
			t.Errorf("%s covers %s: %t", p.ours, p.theirs, got)
		}
	}
}
