package mcpcore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
)

// Resource is a document that clients read by its address, declared as data. It
// has exactly one of Text, Make and Tool.
//
// A resource with a Tool is live: reading it is a call of that tool, through the
// whole chain, with everything a call from a client meets there. The client gets
// the text that the tool answers with, always inside a fence; a refusal is an
// error of the protocol that carries the code. Nothing is asked of the client on
// the way. When the tool is hidden or not in the server, neither is the resource.
//
// Listing resources makes no call.
type Resource struct {
	// URI is the address. A segment written {name} is a variable, which makes it
	// the address of many documents: they are listed as one template. A value is
	// one to a hundred letters, digits, _ or -; what does not fit is not found.
	// Where one resource of a scheme has variables, declare all that have: the SDK
	// may not find a template of that scheme which was added to the server by hand.
	URI   string
	Name  string // ^[a-z][a-z0-9_]{0,63}$, unique among the resources
	Title string // for people; of a live one the tool's when empty
	Doc   string // for agents: what is in it; of a live one what follows from its tool when empty

	MIMEType string // of Text and Make; "text/markdown" when empty. Live ones are text/plain

	Text string // a document of ours

	// Make makes the document when it is read, from the variables of the address;
	// found is false where there is none. It must be safe for concurrent use and
	// reach nothing outside the process: it passes no guard. A variable called
	// tool is completed with the names of the server's tools.
	Make func(variables map[string]string) (text string, found bool)

	// Tool is a tool that reads. Its arguments are the variables of the address,
	// by name, and Args.
	Tool string
	Args json.RawMessage // an object; nil for none
	// Without are members of the tool's answer that the document leaves out: what
	// somebody must ask for, because it gives access or was said in confidence. The
	// document is then the rest of the answer as JSON.
	Without []string
}

const (
	// staticFor is how long a client may keep a document of ours. It changes with
	// the process alone.
	staticFor = time.Hour
	private   = "private"
)

// address is a URI, or a template of one, in its segments.
type address []string

func parseAddress(uri string) address { return strings.Split(uri, "/") }

// variable is the name of a segment that is one.
func variable(segment string) (name string, is bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}

func (a address) variables() (names []string) {
	for _, s := range a {
		if name, is := variable(s); is {
			names = append(names, name)
		}
	}
	return names
}

var segmentValue = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// match is the values of the variables in a URI.
func (a address) match(uri string) (map[string]string, bool) {
	segments := parseAddress(uri)
	if len(segments) != len(a) {
		return nil, false
	}
	values := map[string]string{}
	for i, s := range segments {
		name, is := variable(a[i])
		switch {
		case is && segmentValue.MatchString(s):
			values[name] = s
		case is || s != a[i]:
			return nil, false
		}
	}
	return values, true
}

// documented adds to a server's options what its resources and prompts need.
func (d *Deps) documented(o *mcp.ServerOptions) *mcp.ServerOptions {
	if len(d.Resources) > 0 {
		o.Capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	if len(d.Prompts) > 0 {
		o.Capabilities.Prompts = &mcp.PromptCapabilities{}
	}
	if len(d.Resources)+len(d.Prompts) > 0 {
		o.CompletionHandler = d.complete
	}
	return o
}

// lists reports whether the resource is there.
func (d *Deps) lists(r *Resource) bool { return r.Tool == "" || d.offered(r.Tool) != nil }

// offered is a tool that clients can see, nil when there is none of the name.
func (d *Deps) offered(name string) *Tool {
	t := d.tool(name)
	if t == nil || d.hides(t) {
		return nil
	}
	return t
}

// tool is nil when there is none of the name. A tool is too big to be copied while
// looking for it.
func (d *Deps) tool(name string) *Tool {
	for i := range d.Tools {
		if d.Tools[i].Name == name {
			return &d.Tools[i]
		}
	}
	return nil
}

func (k *core) read(r *Resource, at address, mime string) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		values, ok := at.match(req.Params.URI)
		if !ok {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		text, cached := r.Text, mcp.Cacheable{TTLMs: int(staticFor.Milliseconds()), CacheScope: private}
		switch {
		case r.Tool != "":
			answer, err := k.look(ctx, req, r, values)
			if err != nil {
				return nil, err.protocol()
			}
			text, cached.TTLMs = answer, 0
		case r.Make != nil:
			if text, ok = r.Make(values); !ok {
				return nil, mcp.ResourceNotFoundError(req.Params.URI)
			}
		}
		return &mcp.ReadResourceResult{Cacheable: cached, Contents: []*mcp.ResourceContents{{MIMEType: mime, Text: text}}}, nil
	}
}

// arguments are those of the call that reads the resource.
func (r *Resource) arguments(values map[string]string) json.RawMessage {
	all := map[string]any{}
	if r.Args != nil {
		all, _ = args.Parse(r.Args) // it was checked
	}
	for name, v := range values {
		all[name] = v
	}
	return compact(all)
}

// look calls the resource's tool and is the text it answers with. It is a call
// like any other, but one that asks its client nothing.
func (k *core) look(ctx context.Context, req *mcp.ReadResourceRequest, r *Resource, values map[string]string) (string, *Error) {
	b, raw := k.tools[r.Tool], r.arguments(values)
	principal, leave, refused := k.admit(ctx, &mcp.CallToolRequest{
		Session: req.Session, Extra: req.Extra,
		Params: &mcp.CallToolParamsRaw{Meta: req.Params.Meta, Name: b.tool.Name, Arguments: raw},
	})
	if refused != nil {
		k.refuse(ctx, b, refused)
		return "", refused
	}
	defer leave()
	c := newCall(k.deps, b, uuid.NewString(), principal, raw)
	res, err := k.run(ctx, c)
	if err != nil {
		return "", asError(err)
	}
	told := *res
	if len(r.Without) > 0 {
		told.Text = ""
		if told.Data, err = without(res.Data, r.Without); err != nil {
			return "", classify(ctx, err)
		}
	}
	if told.Text == "" || len(told.Data) > MaxText { // a text may then point to the data, which a resource lacks
		told.Text = fence.Text(fence.Resource, string(told.Data))
	}
	return told.reply(c).Content[0].(*mcp.TextContent).Text, nil
}

// without is an object less some of its members.
func without(data json.RawMessage, names []string) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read an answer: %w", err)
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return slices.Contains(names, name) })
	return canon.Marshal(all)
}

// protocol is the error where the protocol has no result that could carry it.
func (e *Error) protocol() error {
	m := e.masked()
	hint := m.Hint
	if hint == "" {
		hint = m.Code.Hint()
	}
	words := string(m.Code)
	for _, part := range []string{m.Detail, hint} {
		if part != "" {
			words = strings.TrimSuffix(words, ".") + ". " + sentence(part)
		}
	}
	data, _ := e.envelope().StructuredContent.(json.RawMessage)
	wire := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: words, Data: data}
	if m.Code.Category() == Server {
		wire.Code = jsonrpc.CodeInternalError
	}
	return wire
}

var (
	resourceURI  = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://([A-Za-z0-9._~@-]+|\{[a-z][a-z0-9_]*\})(/([A-Za-z0-9._~@-]+|\{[a-z][a-z0-9_]*\}))*$`)
	variableName = regexp.MustCompile(`\{[^}]*\}`)
)

// checkResources finds what is wrong with the resources.
func (d *Deps) checkResources(problem func(string, ...any)) {
	names, addresses := map[string]bool{}, map[string]bool{}
	for i := range d.Resources {
		r := &d.Resources[i]
		wrong := func(format string, with ...any) { problem("resource %q: %w", r.Name, fmt.Errorf(format, with...)) }
		shape := variableName.ReplaceAllString(r.URI, "{}")
		switch {
		case !toolName.MatchString(r.Name):
			wrong("the name must match %s", toolName)
		case names[r.Name]:
			wrong("it is declared twice")
		case !resourceURI.MatchString(r.URI):
			wrong("%q is not an address of segments that are text or a {variable}", r.URI)
		case addresses[shape]:
			wrong("another one has the address %s", r.URI)
		}
		names[r.Name], addresses[shape] = true, true
		kinds := 0
		for _, is := range []bool{r.Text != "", r.Make != nil, r.Tool != ""} {
			if is {
				kinds++
			}
		}
		switch {
		case kinds != 1:
			wrong("it must have exactly one of Text, Make and Tool")
		case r.Tool == "" && r.Doc == "":
			wrong("it has no doc")
		case r.Tool == "" && (r.Args != nil || r.Without != nil), r.Tool != "" && r.MIMEType != "":
			wrong("it has what only the other kind of resource has")
		case r.Text != "" && len(parseAddress(r.URI).variables()) > 0:
			wrong("it is one text with an address of many")
		case r.Tool != "":
			d.checkLive(r, wrong)
		}
	}
}

// checkLive demands that the resource calls a tool that reads, with arguments that
// it takes. A tool that is not there is no fault: tools are filtered.
func (d *Deps) checkLive(r *Resource, wrong func(string, ...any)) {
	t := d.tool(r.Tool)
	if t == nil || t.impl == nil || t.impl.input == nil {
		return
	}
	for _, name := range r.Without {
		if !answersWith(t, name) {
			wrong("%s answers with no member %q", t.Name, name)
		}
	}
	if t.Effect != Read {
		wrong("%s does not only read", t.Name)
	}
	given := map[string]any{}
	if r.Args != nil {
		object, fault := args.Parse(r.Args)
		if fault != nil {
			wrong("Args: %s", fault.Message)
			return
		}
		given = object
	}
	for _, name := range parseAddress(r.URI).variables() {
		if _, twice := given[name]; twice {
			wrong("%q is given twice", name)
		}
		given[name] = ""
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !t.Takes(name) {
			wrong("%s takes no argument %q", t.Name, name)
		}
	}
	for _, p := range t.impl.input.Properties {
		if _, ok := given[p.Name]; p.Required && !ok {
			wrong("%s needs the argument %q", t.Name, p.Name)
		}
	}
}

// answersWith reports whether a tool's result has the member.
func answersWith(t *Tool, name string) bool {
	var out struct {
		AnyOf []struct{ Properties map[string]json.RawMessage }
	}
	if err := json.Unmarshal(t.impl.output, &out); err != nil || len(out.AnyOf) == 0 {
		return false
	}
	_, ok := out.AnyOf[0].Properties[name]
	return ok
}
