package discordtools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/internal/openapi"
	"github.com/guildwarden/guildwarden/internal/schema"
)

// contract is what a declaration promises about Discord.
type contract struct {
	tool   string
	route  string
	calls  []string
	in     reflect.Type
	out    reflect.Type
	set    []added
	custom bool // Run makes the view, perhaps of several replies
}

func (d read[In, Out]) contract() contract    { return contractOf(spec[In, Out](d)) }
func (d write[In, Out]) contract() contract   { return contractOf(spec[In, Out](d)) }
func (d destroy[In, Out]) contract() contract { return contractOf(spec[In, Out](d)) }

func contractOf[In, Out any](d spec[In, Out]) contract {
	return contract{d.Name, d.Route, d.Calls, reflect.TypeFor[In](), reflect.TypeFor[Out](), d.Set, d.Run != nil}
}

// deliberate are differences from Discord's description that are meant, each
// with its reason. What the description itself has wrong is corrected by
// openapi.Differences.
var deliberate = map[string]string{
	`invites_get: argument with_expiration: GET /invites/{code} has no query "with_expiration"`: "an argument of older callers, which Discord takes and ignores: expires_at always comes",
	"guild_modify: argument owner_id: PATCH /guilds/{guild_id} has no body \"owner_id\"":        "documented at https://docs.discord.com/developers/resources/guild#modify-guild",
	"channels_forum_create_thread: message.files: does not exist there":                         "files are sent as parts of a form",
	"members_list: after: is string here and nothing like it there":                             "an id; the description has it as an integer, the documentation as a snowflake",
	"interactions_create_response: data.files: does not exist there":                            "files are sent as parts of a form",
}

// TestContract holds every declaration against Discord's own description,
// corrected: each route exists, each argument exists there under that name with
// bounds equal or tighter, each field of a view exists in the reply.
func TestContract(t *testing.T) {
	t.Parallel()
	path, ok := openapi.Find()
	if !ok {
		t.Skip(openapi.Absent)
	}
	doc := readOracle(t, path)
	used := map[string]bool{}
	for _, c := range categories() {
		for _, d := range c.Tools {
			contract := d.(interface{ contract() contract }).contract()
			for _, wrong := range doc.check(contract) {
				if _, meant := deliberate[wrong]; meant {
					used[wrong] = true
					continue
				}
				t.Error(wrong)
			}
		}
	}
	for d := range deliberate {
		if !used[d] {
			t.Errorf("no longer a difference, remove it: %s", d)
		}
	}
}

// oracle is Discord's OpenAPI document.
type oracle struct{ root map[string]any }

type node = map[string]any

func readOracle(t *testing.T, path string) (o oracle) {
	t.Helper()
	raw, err := openapi.Corrected(path)
	if err == nil {
		err = json.Unmarshal(raw, &o.root)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o oracle) check(c contract) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, c.tool+": "+fmt.Sprintf(format, args...))
	}
	for _, call := range c.calls {
		if o.operation(call) == nil {
			problem("route %s does not exist", call)
		}
	}
	if c.route == "" {
		return problems
	}
	op := o.operation(c.route)
	if op == nil {
		problem("route %s does not exist", c.route)
		return problems
	}
	p, err := newPlan(c.route, c.in, c.out, c.set)
	if err != nil {
		problem("%v", err)
		return problems
	}
	input, err := schema.Of(c.in, planTags...)
	if err != nil {
		problem("%v", err)
		return problems
	}
	for i, a := range p.args {
		s := input.Properties[i].Schema
		theirs, sent := o.argument(c.route, op, a)
		if !sent {
			continue
		}
		if len(theirs) == 0 {
			problem("argument %s: %s has no %s %q", a.name, c.route, a.in, a.wire)
			continue
		}
		if a.join == "" && a.in != "formfile" {
			for _, wrong := range o.tighter(s, theirs, a.name) {
				problem("%s", wrong)
			}
		}
	}
	for _, s := range c.set {
		if p.placeOf(s.Name) == "body" && len(o.members(o.requestBody(op), s.Name)) == 0 {
			problem("Set: %s has no body member %q", c.route, s.Name)
		}
	}
	if !c.custom {
		for _, wrong := range o.shows(p.view, o.replies(op), "") {
			problem("view: %s", wrong)
		}
	}
	return problems
}

// argument is what Discord says of an argument, false for one that it is not
// sent as such.
func (o oracle) argument(route string, op node, a placed) (theirs []node, sent bool) {
	switch a.in {
	case "query":
		return o.parameter(route, op, a.wire), true
	case "body":
		return o.members(o.requestBody(op), a.wire), true
	case "wholebody":
		return o.requestBody(op), true
	case "form", "formfile":
		return o.members(o.content(op["requestBody"], "multipart/form-data"), a.wire), true
	}
	return nil, false
}

func (o oracle) operation(route string) node {
	method, template, _ := strings.Cut(route, " ")
	item, _ := o.root["paths"].(node)[template].(node)
	op, _ := item[strings.ToLower(method)].(node)
	return op
}

func (o oracle) parameter(route string, op node, name string) []node {
	_, template, _ := strings.Cut(route, " ")
	item := o.root["paths"].(node)[template].(node)
	for _, list := range []any{op["parameters"], item["parameters"]} {
		for _, p := range asList(list) {
			p := o.deref(p.(node))
			if p["name"] == name && p["in"] == "query" {
				return o.alternatives(p["schema"])
			}
		}
	}
	return nil
}

func (o oracle) requestBody(op node) []node { return o.content(op["requestBody"], "application/json") }

func (o oracle) content(holder any, kind string) []node {
	h, ok := holder.(node)
	if !ok {
		return nil
	}
	content, _ := o.deref(h)["content"].(node)
	media, _ := content[kind].(node)
	return o.alternatives(media["schema"])
}

// replies are the schemas of every success.
func (o oracle) replies(op node) (all []node) {
	for status, r := range op["responses"].(node) {
		if strings.HasPrefix(status, "2") {
			all = append(all, o.content(r, "application/json")...)
		}
	}
	return all
}

func (o oracle) deref(n node) node {
	for {
		ref, ok := n["$ref"].(string)
		if !ok {
			return n
		}
		var at any = o.root
		for key := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(node)[key]
		}
		n = at.(node)
	}
}

// alternatives flattens references and combinators into what a value may be,
// null left out.
func (o oracle) alternatives(v any) (all []node) {
	n, ok := v.(node)
	if !ok {
		return nil
	}
	n = o.deref(n)
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		list := asList(n[word])
		if len(list) > 0 && isConst(list) {
			continue // an enumeration with titles
		}
		for _, inner := range list {
			all = append(all, o.alternatives(inner)...)
		}
	}
	if len(all) == 0 && n["type"] != "null" {
		all = append(all, n)
	} else if n["properties"] != nil {
		all = append(all, n)
	}
	return all
}

func isConst(list []any) bool {
	return slices.ContainsFunc(list, func(v any) bool { n, _ := v.(node); return n["const"] != nil })
}

func asList(v any) []any { list, _ := v.([]any); return list }

// members are what the objects among the alternatives hold under a name.
func (o oracle) members(objects []node, name string) (all []node) {
	for _, n := range objects {
		if properties, ok := n["properties"].(node); ok && properties[name] != nil {
			all = append(all, o.alternatives(properties[name])...)
		} else if !ok {
			all = append(all, o.alternatives(n["additionalProperties"])...)
		}
	}
	return all
}

// tighter reports bounds of ours that allow more than every alternative of
// theirs does.
func (o oracle) tighter(ours *schema.Schema, theirs []node, path string) (problems []string) {
	if ours.Type == "" {
		return nil
	}
	var fitting []node
	for _, n := range theirs {
		if hasType(n, ours.Type) {
			fitting = append(fitting, n)
		}
	}
	if len(fitting) == 0 {
		return []string{fmt.Sprintf("%s: is %s here and nothing like it there", path, ours.Type)}
	}
	bounds := []struct {
		name   string
		ours   json.Number
		atMost bool
	}{
		{"maximum", ours.Maximum, true}, {"maxLength", ours.MaxLength, true}, {"maxItems", ours.MaxItems, true},
		{"minimum", ours.Minimum, false}, {"minLength", ours.MinLength, false}, {"minItems", ours.MinItems, false},
	}
	for _, b := range bounds {
		if !slices.ContainsFunc(fitting, func(n node) bool {
			return within(b.ours, n[b.name], b.atMost) || values(n) != nil && len(ours.Enum) > 0
		}) {
			problems = append(problems, fmt.Sprintf("%s: %s %q allows more than %v", path, b.name, b.ours, fitting[0][b.name]))
		}
	}
	for _, v := range ours.Enum {
		if !slices.ContainsFunc(fitting, func(n node) bool {
			vs := values(n)
			return vs == nil || slices.Contains(vs, fmt.Sprint(v))
		}) {
			problems = append(problems, fmt.Sprintf("%s: %v is not among %v", path, v, values(fitting[0])))
		}
	}
	for _, p := range ours.Properties {
		inner := o.members(fitting, p.Name)
		if len(inner) == 0 {
			problems = append(problems, fmt.Sprintf("%s.%s: does not exist there", path, p.Name))
			continue
		}
		problems = append(problems, o.tighter(p.Schema, inner, path+"."+p.Name)...)
	}
	if ours.Items != nil {
		var items []node
		for _, n := range fitting {
			items = append(items, o.alternatives(n["items"])...)
		}
		if len(items) > 0 {
			problems = append(problems, o.tighter(ours.Items, items, path+"[]")...)
		}
	}
	return problems
}

// hasType reports whether a value of our type may stand where n describes one.
func hasType(n node, want string) bool {
	types := []string{}
	switch t := n["type"].(type) {
	case string:
		types = append(types, t)
	case []any:
		for _, v := range t {
			types = append(types, fmt.Sprint(v))
		}
	case nil:
		return true
	}
	return slices.Contains(types, want) || want == "integer" && slices.Contains(types, "number") || want == "number" && slices.Contains(types, "integer")
}

func within(ours json.Number, theirs any, atMost bool) bool {
	limit, ok := theirs.(float64)
	if !ok {
		return true // no bound there
	}
	if ours == "" {
		return !atMost && limit <= 1 // an id's or a flag's own floor
	}
	n, err := strconv.ParseFloat(string(ours), 64)
	return err == nil && (atMost && n <= limit || !atMost && n >= limit)
}

// values are what an enumeration allows; nil for none.
func values(n node) (all []string) {
	for _, v := range asList(n["enum"]) {
		all = append(all, fmt.Sprint(v))
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		for _, v := range asList(n[word]) {
			if c, ok := v.(node)["const"]; ok {
				all = append(all, fmt.Sprint(c))
			}
		}
	}
	return all
}

// shows reports fields of a view whose source no reply has.
func (o oracle) shows(p *projection, replies []node, path string) (problems []string) {
	for _, f := range p.fields {
		field := p.of.Field(f.index)
		at := strings.TrimPrefix(path+"."+field.Name, ".")
		var found []node
		switch {
		case f.embedded != nil:
			inner := replies
			for _, steps := range f.paths {
				for _, step := range steps {
					inner = o.members(inner, step)
				}
			}
			problems = append(problems, o.shows(f.embedded, inner, path)...)
			continue
		case f.special == "reply":
			found = replies
		case f.special != "":
			continue
		default:
			for _, steps := range f.paths {
				inner := replies
				for _, step := range steps {
					inner = o.members(inner, step)
				}
				if len(inner) == 0 {
					problems = append(problems, fmt.Sprintf("%s: the reply has no %s", at, strings.Join(steps, ".")))
				}
				found = append(found, inner...)
			}
		}
		problems = append(problems, o.inside(field.Type, found, at)...)
	}
	return problems
}

// inside goes on into the structs of a view.
func (o oracle) inside(t reflect.Type, found []node, at string) []string {
	switch t.Kind() {
	case reflect.Pointer:
		return o.inside(t.Elem(), found, at)
	case reflect.Slice:
		var items []node
		for _, n := range found {
			items = append(items, o.alternatives(n["items"])...)
		}
		return o.inside(t.Elem(), items, at+"[]")
	case reflect.Struct:
		p, err := newProjection(t)
		if err != nil {
			return []string{err.Error()}
		}
		return o.shows(p, found, at)
	}
	return nil
}
