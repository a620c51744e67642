package discordtools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// api is what one call may do with Discord: its declared routes, nothing else.
type api struct {
	*shared
	call      *mcpcore.Call
	plan      *plan
	anonymous bool
}

// send sends the call's own route by the plain rule: arguments named in the
// template into the path, the rest into query or body, exactly the keys that
// the caller gave, and what the declaration adds.
func (a *api) send(ctx context.Context) (*Response, error) {
	r, err := a.request()
	if err != nil {
		return nil, err
	}
	return a.rest.Do(ctx, r)
}

func (a *api) request() (Request, error) {
	p := a.plan
	r := Request{
		Method: p.method, Route: p.template, Path: map[string]string{}, Query: url.Values{},
		Anonymous: a.anonymous, Repeatable: a.call.Tool().Repeatable && p.method != "POST" && p.method != "PATCH" || p.method == "GET",
	}
	body := object{}
	var uploads []upload
	for _, arg := range p.args {
		raw, given := a.call.Arg(arg.name)
		if !given {
			continue
		}
		if arg.as != nil && raw[0] == '"' {
			text, err := arg.as.read(a.call.Text(arg.name))
			if err != nil {
				return r, mcpcore.Invalid(mcpcore.Issue{Path: arg.name, Message: err.Error(), Code: mcpcore.IssueFormat})
			}
			raw = canon.AppendString(nil, text)
		}
		switch arg.in {
		case "path":
			r.Path[arg.wire] = scalar(raw, arg.join)
		case "query":
			r.Query.Set(arg.wire, scalar(raw, arg.join))
		case "body":
			body.set(arg.wire, raw)
		case "wholebody":
			r.Body = raw
		case "reason":
			r.Reason = a.call.Text(arg.name)
		case "files":
			if err := json.Unmarshal(raw, &uploads); err != nil {
				return r, fmt.Errorf("read files: %w", err)
			}
		case "form":
			r.Form = append(r.Form, Part{Name: arg.wire, Data: []byte(scalar(raw, arg.join))})
		case "formfile":
			part, err := formFile(arg.wire, arg.filename, a.call.Text(arg.name))
			if err != nil {
				return r, mcpcore.Invalid(mcpcore.Issue{Path: arg.name, Message: err.Error(), Code: mcpcore.IssueFormat})
			}
			r.Form = append(r.Form, part)
		}
	}
	for _, s := range p.set {
		v := json.RawMessage(s.Value(a.call))
		switch inQuery := p.place(s.Name) == "query"; {
		case len(v) == 0:
		case inQuery && !r.Query.Has(s.Name):
			r.Query.Set(s.Name, scalar(v, ""))
		case !inQuery && !body.has(s.Name):
			body.set(s.Name, v)
		}
	}
	if len(uploads) > 0 {
		if err := attach(&r, &body, uploads); err != nil {
			return r, err
		}
	}
	if r.Body == nil && len(body) > 0 {
		r.Body = body.json()
	}
	if r.Body == nil && r.Form == nil && p.takesBody() {
		r.Body = json.RawMessage("{}")
	}
	return r, nil
}

// sub is a request of a declared route beside the plain rule.
type sub struct {
	Path   map[string]string
	Query  url.Values
	Body   json.RawMessage
	Reason string
	// Repeatable says that a repetition has the same effect; GET always is.
	Repeatable bool
}

// do sends one request on a declared route and decodes the reply into out,
// which may be nil.
func (a *api) do(ctx context.Context, route string, s sub, out any) error {
	if !slices.Contains(a.call.Tool().Routes, route) {
		return fmt.Errorf("%s uses the undeclared route %s", a.call.Tool().Name, route)
	}
	method, template, _ := strings.Cut(route, " ")
	reply, err := a.rest.Do(ctx, Request{
		Method: method, Route: template, Path: s.Path, Query: s.Query, Body: s.Body, Reason: s.Reason,
		Repeatable: s.Repeatable || method == "GET",
	})
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(reply.Body, out); err != nil {
		return fmt.Errorf("decode reply of %s: %w", route, err)
	}
	return nil
}

// object is a JSON object in the order in which its members were set.
type object []member

type member struct {
	name string
	raw  json.RawMessage
}

func (o *object) set(name string, raw json.RawMessage) { *o = append(*o, member{name, raw}) }

func (o object) has(name string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.name == name })
}

func (o object) json() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(canon.AppendString(b, m.name), ':')
		b = append(b, m.raw...)
	}
	return append(b, '}')
}
