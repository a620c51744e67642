package discordtools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/internal/schema"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// planTags are the struct tags of an input beside JSON Schema's:
//
//	in:"path"       named in the route's template (the default for such names)
//	in:"query"      the query string (the default for GET and DELETE)
//	in:"body"       the JSON body (the default for the other methods)
//	in:"wholebody"  the body is this argument alone
//	in:"reason"     the audit-log reason (the default for audit_reason)
//	in:"bearer"     an OAuth2 access token that authorizes the request instead of the bot's
//	in:"files"      files sent along: a list of [upload]
//	in:"form"       a field of a multipart form
//	in:"formfile"   the file of a multipart form, as a data URI
//	in:"packed"     body arguments, as one JSON object in a text
//	in:"local"      not sent; Run uses it
//	wire:"name"     its name at Discord
//	join:","        a list sent as one text
//	as:"emoji"      a text in a form of its own, see forms
//	maxBytes:"9"    how long the data of a data URI may be, decoded
//	filename:"x"    name of a formfile, without the ending that its type gives
var planTags = []string{"in", "wire", "join", "as", "maxBytes", "filename"}

// plan is where each argument of a tool goes.
type plan struct {
	method, template string
	names            []string // of the template
	args             []placed
	set              []added
	rules            []mcpcore.Rule
	view             *projection
	own              bool // {application_id} is the bot's own where the caller leaves it out
}

type placed struct {
	name, wire, in, join string
	as                   *form
	maxBytes             int    // 0 for no limit
	filename             string // of a formfile
}

// repeats reports whether the method alone says that a repetition has the same
// effect.
func repeats(method string) bool { return method == "GET" || method == "PUT" || method == "DELETE" }

var inTemplate = regexp.MustCompile(`\{([a-z_]+)\}`)

func templateNames(template string) []string {
	var names []string
	for _, m := range inTemplate.FindAllStringSubmatch(template, -1) {
		names = append(names, m[1])
	}
	return names
}

func newPlan(route string, in, out reflect.Type, set []added) (*plan, error) {
	input, err := schema.Of(in, planTags...)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	p := &plan{set: set}
	if route != "" {
		var ok bool
		if p.method, p.template, ok = strings.Cut(route, " "); !ok || !strings.HasPrefix(p.template, "/") {
			return nil, fmt.Errorf("route %q is not METHOD /template", route)
		}
		p.names = templateNames(p.template)
	}
	for _, prop := range input.Properties {
		a := placed{name: prop.Name, wire: cmp.Or(prop.Tags["wire"], prop.Name), in: prop.Tags["in"], join: prop.Tags["join"]}
		if a.in == "" {
			a.in = p.place(a.wire)
		}
		if !slices.Contains(places, a.in) {
			return nil, fmt.Errorf("argument %s: unknown place %q", a.name, a.in)
		}
		if as := prop.Tags["as"]; as != "" {
			f, ok := forms[as]
			if !ok {
				return nil, fmt.Errorf("argument %s: unknown form %q", a.name, as)
			}
			a.as = &f
		}
		if most := prop.Tags["maxBytes"]; most != "" {
			if a.maxBytes, err = strconv.Atoi(most); err != nil || a.maxBytes < 1 {
				return nil, fmt.Errorf("argument %s: maxBytes %q is not a size", a.name, most)
			}
		}
		a.filename = cmp.Or(prop.Tags["filename"], a.wire)
		if a.as != nil || a.maxBytes > 0 || a.in == "formfile" {
			p.rules = append(p.rules, a.rule())
		}
		p.own = p.own || a.in == "path" && a.wire == "application_id" && !prop.Required
		p.args = append(p.args, a)
	}
	for _, name := range p.names {
		if !slices.ContainsFunc(p.args, func(a placed) bool { return a.in == "path" && a.wire == name }) {
			return nil, fmt.Errorf("route %s: no argument gives {%s}", route, name)
		}
	}
	if p.view, err = newProjection(out); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return p, nil
}

var places = []string{"path", "query", "body", "wholebody", "reason", "bearer", "files", "form", "formfile", "packed", "local"}

func (p *plan) place(wire string) string {
	switch {
	case slices.Contains(p.names, wire):
		return "path"
	case wire == "audit_reason":
		return "reason"
	case p.method == "GET" || p.method == "DELETE":
		return "query"
	}
	return "body"
}

// placeOf is where a member that the server adds goes: where the argument of
// that name goes, or would go.
func (p *plan) placeOf(wire string) string {
	for _, a := range p.args {
		if a.wire == wire && (a.in == "query" || a.in == "body") {
			return a.in
		}
	}
	return p.place(wire)
}

// argument is the name of the argument that fills a place in the path.
func (p *plan) argument(wire string) string {
	for _, a := range p.args {
		if a.in == "path" && a.wire == wire {
			return a.name
		}
	}
	return wire
}

// packed is the argument that carries those of the body, with their names.
func (p *plan) packed() (packed mcpcore.Packed) {
	for _, a := range p.args {
		switch a.in {
		case "packed":
			packed.Arg = a.name
		case "body":
			packed.Names = append(packed.Names, a.name)
		}
	}
	if packed.Arg == "" {
		return mcpcore.Packed{}
	}
	return packed
}

// takesBody reports whether the route has a JSON body, which is then sent also
// when no argument is in it.
func (p *plan) takesBody() bool {
	return slices.ContainsFunc(p.args, func(a placed) bool { return a.in == "body" || a.in == "wholebody" })
}

// scalar is a JSON value as it stands in a path or a query.
func scalar(raw json.RawMessage, join string) string {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		_ = json.Unmarshal(raw, &s) // raw is canonical JSON
		return s
	}
	if len(raw) > 0 && raw[0] == '[' {
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		parts := make([]string, len(list))
		for i, item := range list {
			parts[i] = scalar(item, join)
		}
		return strings.Join(parts, cmp.Or(join, ","))
	}
	return string(raw)
}
