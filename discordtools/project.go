package discordtools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

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
//
// On an embedded struct it says where the struct's own fields are looked for.
const viewTag = "from"

// sources are what may follow @ alone.
var sources = []string{"reply", "count", "list", "true", "derived"}

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
	embedded *projection // of an embedded struct, which shares the parent's node unless it has a path
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
			field := projected{index: i, embedded: inner}
			if from := f.Tag.Get(viewTag); from != "" {
				field.paths = [][]string{strings.Split(from, ".")}
			}
			p.fields = append(p.fields, field)
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
		case slices.Contains(sources, special):
			field.special = special
		default:
			return nil, fmt.Errorf("%s.%s: unknown source %q", t, f.Name, from)
		}
		p.fields = append(p.fields, field)
	}
	projections.Store(t, p)
	return p, nil
}

// roomy is how many members of an object are held without an allocation.
const roomy = 32

// project fills the view, a pointer to a struct, from the reply.
func (a *api) project(reply *Response, view any) error {
	whole, err := decodeReply(reply.Body)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(view).Elem()
	p := a.plan.view
	if v.Type() != p.of {
		if p, err = newProjection(v.Type()); err != nil {
			return err
		}
	}
	var room [roomy]property
	return p.fill(v, whole, whole.properties(room[:0]), a.call)
}

// fill sets the fields of a struct from an object of the reply, of which all are
// the members.
func (p *projection) fill(v reflect.Value, whole value, all []property, call *mcpcore.Call) error {
	count := 0
	for _, f := range p.fields {
		field := v.Field(f.index)
		from := whole
		switch f.special {
		case "derived", "list":
			continue
		case "true":
			field.SetBool(true)
			continue
		case "count":
			field.SetInt(int64(count))
			continue
		case "arg":
			if call == nil || !call.Has(f.arg) {
				continue
			}
			raw, _ := call.Arg(f.arg)
			if err := json.Unmarshal(raw, field.Addr().Interface()); err != nil {
				return fmt.Errorf("view %s: %w", f.name, err)
			}
			continue
		case "":
			if f.paths != nil {
				from = find(all, f.paths)
			}
		}
		if f.embedded != nil {
			inner := all
			if f.paths != nil {
				inner = from.properties(nil)
			}
			if err := f.embedded.fill(field, from, inner, call); err != nil {
				return err
			}
			continue
		}
		if err := assign(field, from, call); err != nil {
			return fmt.Errorf("view %s: %w", f.name, err)
		}
		if f.special == "reply" && field.Kind() == reflect.Slice {
			count = field.Len()
		}
	}
	return nil
}

// find is the first of the alternatives that is there and not null.
func find(all []property, paths [][]string) value {
	var room [roomy]property
	for _, path := range paths {
		at := named(all, path[0])
		for _, name := range path[1:] {
			at = named(at.properties(room[:0]), name)
		}
		if at != nil {
			return at
		}
	}
	return nil
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// assign sets one field. null and absent leave the zero value.
func assign(field reflect.Value, v value, call *mcpcore.Call) error {
	if v.none() {
		return nil
	}
	if field.Type() == rawMessage {
		field.SetBytes(bytes.Clone(v))
		return nil
	}
	switch field.Kind() {
	case reflect.Pointer:
		inner := reflect.New(field.Type().Elem())
		if err := assign(inner.Elem(), v, call); err != nil {
			return err
		}
		field.Set(inner)
		return nil
	case reflect.Struct:
		p, err := newProjection(field.Type())
		if err != nil {
			return err
		}
		var room [roomy]property
		return p.fill(field, v, v.properties(room[:0]), call)
	case reflect.Slice:
		return assignList(field, v, call)
	case reflect.String:
		switch v.kind() {
		case "a text":
			field.SetString(v.text())
			return nil
		case "a number": // an id may come as one
			field.SetString(string(v))
			return nil
		}
	case reflect.Bool:
		if v.kind() == "a boolean" {
			field.SetBool(v[0] == 't')
			return nil
		}
	case reflect.Int, reflect.Int64:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			field.SetInt(n)
			return nil
		}
	case reflect.Float64:
		if n, err := strconv.ParseFloat(string(v), 64); err == nil {
			field.SetFloat(n)
			return nil
		}
	default:
		return json.Unmarshal(v, field.Addr().Interface())
	}
	return fmt.Errorf("the reply holds %s where %s is expected", v.kind(), field.Type())
}

func assignList(list reflect.Value, v value, call *mcpcore.Call) error {
	if v[0] != '[' {
		return fmt.Errorf("the reply holds %s where a list is expected", v.kind())
	}
	items := v.items()
	list.Set(reflect.MakeSlice(list.Type(), len(items), len(items)))
	for i, item := range items {
		if err := assign(list.Index(i), item, call); err != nil {
			return err
		}
	}
	return nil
}
