package discordtools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// api is what one call may do with Discord: its declared routes, nothing else.
type api struct {
	*shared
	call      *mcpcore.Call
	plan      *plan
	anonymous bool // on its own route

	mu     sync.Mutex
	asked  int  // requests so far
	speaks bool // the progress is told in words of Run's own
}

// speak keeps the call's requests from being counted: it tells by itself how far
// it is.
func (a *api) speak() {
	a.mu.Lock()
	a.speaks = true
	a.mu.Unlock()
}

// tell tells how far the call is, instead of counting its requests.
func (a *api) tell(ctx context.Context, done, total float64, words string) {
	a.speak()
	a.call.Progress(ctx, done, total, words)
}

// count tells of each request after the first, in their order.
func (a *api) count(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked++; a.asked > 1 && !a.speaks {
		a.call.Progress(ctx, float64(a.asked-1), 0, fmt.Sprintf("request %d to Discord", a.asked))
	}
}

// send sends the call's own route by the plain rule: arguments named in the
// template into the path, the rest into query or body, exactly the keys that
// the caller gave, and what the declaration adds. made are members of the body
// that Run made.
func (a *api) send(ctx context.Context, made ...member) (*Response, error) {
	r, err := a.request(made...)
	if err != nil {
		return nil, err
	}
	return a.deliver(ctx, r)
}

// deliver is the one way to Discord: it refuses routes that the tool does not
// declare. Where the caller left out the application it is the bot's own.
func (a *api) deliver(ctx context.Context, r Request) (*Response, error) {
	if route := r.Method + " " + r.Route; !slices.Contains(a.call.Tool().Routes, route) {
		return nil, fmt.Errorf("%s uses the undeclared route %s", a.call.Tool().Name, route)
	}
	if id, names := r.Path["application_id"]; names && id == "" {
		own, err := a.applicationID(ctx)
		if err != nil {
			return nil, err
		}
		r.Path["application_id"] = string(own)
	}
	a.count(ctx)
	r.Repeatable = repeats(r.Method)
	own := r.Method == a.plan.method && r.Route == a.plan.template
	r.Anonymous = a.anonymous && own || strings.Contains(r.Route, "_token}") // which authorizes the request by itself
	return a.rest.Do(ctx, r)
}

// request is the call's own request by the plain rule, with what Run made of
// members of its body.
func (a *api) request(made ...member) (Request, error) {
	p := a.plan
	r := Request{Method: p.method, Route: p.template, Path: map[string]string{}, Query: url.Values{}}
	if p.own {
		r.Path["application_id"] = "" // for deliver
	}
	var body object
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
		case "bearer":
			r.Bearer = a.call.Text(arg.name)
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
		switch inQuery := p.placeOf(s.Name) == "query"; {
		case len(v) == 0:
		case inQuery && !r.Query.Has(s.Name):
			r.Query.Set(s.Name, scalar(v, ""))
		case !inQuery && !body.has(s.Name):
			body.set(s.Name, v)
		}
	}
	if len(uploads) > 0 {
		parts, attachments, err := attach("files", uploads)
		if err != nil {
			return r, err
		}
		r.Form = append(r.Form, parts...)
		body.set("attachments", joinLists(body.get("attachments"), attachments))
	}
	for _, m := range made {
		body.set(m.name, m.raw)
	}
	if r.Body == nil && len(body) > 0 {
		r.Body = body.json()
	}
	if r.Body == nil && r.Form == nil && p.takesBody() {
		r.Body = json.RawMessage("{}")
	}
	return r, nil
}

// sub is a request of a declared route beside the plain rule. What its route
// names in the path is the call's argument that goes there, unless Path has it;
// a write carries the call's audit_reason.
type sub struct {
	Path  map[string]string
	Query url.Values
	Body  json.RawMessage
}

// ask sends one request on a declared route, "METHOD /template".
func (a *api) ask(ctx context.Context, route string, s sub) (*Response, error) {
	method, template, _ := strings.Cut(route, " ")
	r := Request{Method: method, Route: template, Path: map[string]string{}, Query: s.Query, Body: s.Body}
	for _, name := range templateNames(template) {
		value, given := s.Path[name]
		if !given {
			value = a.call.Text(a.plan.argument(name))
		}
		r.Path[name] = value
	}
	if method != "GET" {
		r.Reason = a.call.Text("audit_reason")
	}
	return a.deliver(ctx, r)
}

// do is [api.ask] with the reply decoded into out, which may be nil.
func (a *api) do(ctx context.Context, route string, s sub, out any) error {
	reply, err := a.ask(ctx, route, s)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(reply.Body, out); err != nil {
		return fmt.Errorf("decode reply of %s: %w", route, err)
	}
	return nil
}

// show is [api.ask] with the reply projected into view.
func (a *api) show(ctx context.Context, route string, s sub, view any) error {
	reply, err := a.ask(ctx, route, s)
	if err != nil {
		return err
	}
	return a.project(reply, view)
}

// object is a JSON object in the order in which its members were set.
type object []member

type member struct {
	name string
	raw  json.RawMessage
}

// set adds a member or replaces it.
func (o *object) set(name string, raw json.RawMessage) {
	if i := slices.IndexFunc(*o, func(m member) bool { return m.name == name }); i >= 0 {
		(*o)[i].raw = raw
		return
	}
	*o = append(*o, member{name, raw})
}

func (o object) has(name string) bool { return o.get(name) != nil }

// get is a member's value, nil for none.
func (o object) get(name string) json.RawMessage {
	if i := slices.IndexFunc(o, func(m member) bool { return m.name == name }); i >= 0 {
		return o[i].raw
	}
	return nil
}

// joinLists is the items of two JSON lists in one; a is nil for none.
func joinLists(a, b json.RawMessage) json.RawMessage {
	if len(a) <= len("[]") || a[0] != '[' {
		return b
	}
	return append(append(slices.Clone(a[:len(a)-1]), ','), b[1:]...)
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
