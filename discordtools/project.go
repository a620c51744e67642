package discordtools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// viewTag says where a field of a view comes from. Without it the field is the
// member of the reply that has the same name.
//
//	from:"id"            another member
//	from:"author.id"     a member further down
//	from:"a.b|a.c"       the first that is there and not null
//	from:"@reply"        the whole reply
//	from:"@count"        the number of items of the field that is the whole reply
//	from:"@arg"          the argument of the same name; "@arg.name" for another
//	from:"@list"         the list of the view, filled by Run
//	from:"@true"         true: it was done, or there would be an error
//	from:"@derived"      set by the view's derive method
const viewTag = "from"

// deriver is a view that works out fields from others, after projection.
type deriver interface{ derive(call *mcpcore.Call) }

// projection copies what a view shows out of a reply. Decoding is the filter:
// what no field asks for is dropped.
type projection struct {
	of     reflect.Type
	fields []projected
}

type projected struct {
	index    int
	name     string     // in the view
	paths    [][]string // alternatives in the reply
	special  string     // what follows @, without arg's name
	arg      string
	embedded *projection // of an embedded struct, which shares the parent's node
}

// projections holds what was made: a type's projection never changes.
var projections sync.Map // reflect.Type to *projection

func newProjection(t reflect.Type) (*projection, error) {
	if p, ok := projections.Load(t); ok {
		return p.(*projection), nil
	}
	p := &projection{of: t}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "" {
			inner, err := newProjection(f.Type)
			if err != nil {
				return nil, err
			}
			p.fields = append(p.fields, projected{index: i, embedded: inner})
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		field := projected{index: i, name: name}
		from := f.Tag.Get(viewTag)
		switch special, arg, _ := strings.Cut(strings.TrimPrefix(from, "@"), "."); {
		case from == "":
			field.paths = [][]string{{name}}
		case from[0] != '@':
			for path := range strings.SplitSeq(from, "|") {
				field.paths = append(field.paths, strings.Split(path, "."))
			}
		case special == "arg":
			field.special, field.arg = special, arg
			if arg == "" {
				field.arg = name
			}
		case special == "reply", special == "list", special == "count", special == "true", special == "derived":
			field.special = special
		default:
			return nil, fmt.Errorf("%s.%s: unknown source %q", t, f.Name, from)
		}
		p.fields = append(p.fields, field)
	}
	projections.Store(t, p)
	return p, nil
}

// decodeReply reads a reply into a JSON tree; an empty body is an empty object.
func decodeReply(body []byte) (any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return map[string]any{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("decode reply: %w", err)
	}
	return tree, nil
}

// project fills the view, a pointer to a struct, from the reply.
func (a *api) project(reply *Response, view any) error {
	tree, err := decodeReply(reply.Body)
	if err != nil {
		return err
	}
	return a.projectTree(tree, view)
}

func (a *api) projectTree(tree, view any) error {
	v := reflect.ValueOf(view).Elem()
	p := a.plan.view
	if v.Type() != p.of {
		var err error
		if p, err = newProjection(v.Type()); err != nil {
			return err
		}
	}
	return p.fill(v, tree, a.call)
}

func (p *projection) fill(v reflect.Value, node any, call *mcpcore.Call) error {
	count := -1
	for _, f := range p.fields {
		field := v.Field(f.index)
		if f.embedded != nil {
			if err := f.embedded.fill(field, node, call); err != nil {
				return err
			}
			continue
		}
		var value any
		switch f.special {
		case "derived", "list":
			continue
		case "true":
			value = true
		case "arg":
			if call == nil || !call.Has(f.arg) {
				continue
			}
			raw, _ := call.Arg(f.arg)
			if err := json.Unmarshal(raw, field.Addr().Interface()); err != nil {
				return fmt.Errorf("view %s: %w", f.name, err)
			}
			continue
		case "reply":
			value = node
			if list, ok := node.([]any); ok {
				count = len(list)
			}
		case "count":
			value = json.Number(strconv.Itoa(max(count, 0)))
		default:
			value = find(node, f.paths)
		}
		if err := assign(field, value, call); err != nil {
			return fmt.Errorf("view %s: %w", f.name, err)
		}
	}
	return nil
}

func find(node any, paths [][]string) any {
	for _, path := range paths {
		at := node
		for _, key := range path {
			m, ok := at.(map[string]any)
			if !ok {
				at = nil
				break
			}
			at = m[key]
		}
		if at != nil {
			return at
		}
	}
	return nil
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// assign sets one field. null and absent leave the zero value.
func assign(field reflect.Value, value any, call *mcpcore.Call) error {
	if value == nil {
		return nil
	}
	if field.Type() == rawMessage {
		field.SetBytes(canon.Append(nil, value))
		return nil
	}
	switch field.Kind() {
	case reflect.Pointer:
		inner := reflect.New(field.Type().Elem())
		if err := assign(inner.Elem(), value, call); err != nil {
			return err
		}
		field.Set(inner)
		return nil
	case reflect.Struct:
		p, err := newProjection(field.Type())
		if err != nil {
			return err
		}
		return p.fill(field, value, call)
	case reflect.Slice:
		return assignList(field, value, call)
	case reflect.String:
		switch s := value.(type) {
		case string:
			field.SetString(s)
			return nil
		case json.Number:
			field.SetString(string(s))
			return nil
		}
	case reflect.Bool:
		if b, ok := value.(bool); ok {
			field.SetBool(b)
			return nil
		}
	case reflect.Int, reflect.Int64:
		if n, ok := value.(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				field.SetInt(i)
				return nil
			}
		}
	case reflect.Float64:
		if n, ok := value.(json.Number); ok {
			f, err := n.Float64()
			field.SetFloat(f)
			return err
		}
	default:
		return json.Unmarshal(canon.Append(nil, value), field.Addr().Interface())
	}
	return fmt.Errorf("the reply holds %T where %s is expected", value, field.Type())
}

func assignList(field reflect.Value, value any, call *mcpcore.Call) error {
	list, ok := value.([]any)
	if !ok {
		return fmt.Errorf("the reply holds %T where a list is expected", value)
	}
	field.Set(reflect.MakeSlice(field.Type(), len(list), len(list)))
	if elem := field.Type().Elem(); elem.Kind() == reflect.Struct {
		p, err := newProjection(elem)
		if err != nil {
			return err
		}
		for i, item := range list {
			if err := p.fill(field.Index(i), item, call); err != nil {
				return err
			}
		}
		return nil
	}
	for i, item := range list {
		if err := assign(field.Index(i), item, call); err != nil {
			return err
		}
	}
	return nil
}
