package schema

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// unroll is how often a type may stand inside itself.
const unroll = 3

// Described is a type that brings its own schema.
type Described interface{ JSONSchema() string }

var (
	described = reflect.TypeFor[Described]()
	rawJSON   = reflect.TypeFor[json.RawMessage]()
)

// keyword is a constraint tag: the types it constrains and what it sets. On
// another type it would be ignored, so there it is an error.
type keyword struct {
	on  []string
	set func(s *Schema, v string) error
}

var (
	onNumbers = []string{"integer", "number"}
	onText    = []string{"string"}
	onLists   = []string{"array"}
	onScalars = []string{"string", "integer", "number", "boolean"}
)

var keywords = map[string]keyword{
	"minimum":   {onNumbers, number(jsonNumber, func(s *Schema) *json.Number { return &s.Minimum })},
	"maximum":   {onNumbers, number(jsonNumber, func(s *Schema) *json.Number { return &s.Maximum })},
	"minLength": {onText, number(count, func(s *Schema) *json.Number { return &s.MinLength })},
	"maxLength": {onText, number(count, func(s *Schema) *json.Number { return &s.MaxLength })},
	"minItems":  {onLists, number(count, func(s *Schema) *json.Number { return &s.MinItems })},
	"maxItems":  {onLists, number(count, func(s *Schema) *json.Number { return &s.MaxItems })},
	"format":    {onText, func(s *Schema, v string) error { s.Format = v; return nil }},
	"pattern": {onText, func(s *Schema, v string) error {
		s.Pattern, s.ID = v, s.ID || v == idPattern
		_, err := regexp.Compile(v)
		return err
	}},
	"uniqueItems": {onLists, func(s *Schema, v string) (err error) { s.Unique, err = strconv.ParseBool(v); return err }},
	"enum": {onScalars, func(s *Schema, v string) error {
		for word := range strings.SplitSeq(v, ",") {
			value, err := s.literal(word)
			if err != nil {
				return err
			}
			s.Enum = append(s.Enum, value)
		}
		return nil
	}},
	"default": {onScalars, func(s *Schema, v string) (err error) { s.Default, err = s.literal(v); return err }},
}

// Keywords are the constraint tags, sorted.
func Keywords() []string { return slices.Sorted(maps.Keys(keywords)) }

// The forms of numbers in tags: what JSON can write.
var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	whole      = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	count      = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
)

func number(form *regexp.Regexp, field func(*Schema) *json.Number) func(*Schema, string) error {
	return func(s *Schema, v string) error {
		if !form.MatchString(v) {
			return fmt.Errorf("%q is not a number that it takes", v)
		}
		*field(s) = json.Number(v)
		return nil
	}
}

// literal reads a tag's value as the node's own type.
func (s *Schema) literal(v string) (any, error) {
	switch s.Type {
	case "string":
		return v, nil
	case "integer":
		if whole.MatchString(v) {
			return json.Number(v), nil
		}
	case "number":
		if jsonNumber.MatchString(v) {
			return json.Number(v), nil
		}
	case "boolean":
		return strconv.ParseBool(v)
	}
	return nil, fmt.Errorf("%q is not a value of type %s", v, s.Type)
}

// Of builds the schema of a struct type. Tags named in extra are allowed and
// kept in [Property.Tags]. The result is shared and must not be changed. The
// error joins everything that is wrong.
func Of(t reflect.Type, extra ...string) (*Schema, error) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	key := built{t, strings.Join(extra, ",")}
	if s, ok := cache.Load(key); ok {
		return s.(*Schema), nil
	}
	b := &builder{extra: extra, depth: map[reflect.Type]int{}}
	s := b.object(t, t.Name())
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	cache.Store(key, s)
	return s, nil
}

// cache holds what was built: a type's schema never changes.
var cache sync.Map // built to *Schema

type built struct {
	of    reflect.Type
	extra string
}

type builder struct {
	extra []string
	depth map[reflect.Type]int
	errs  []error
}

func (b *builder) fail(where, format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
}

// of is nil when t stands too deep inside itself.
func (b *builder) of(t reflect.Type, where string) *Schema {
	switch {
	case t.Kind() == reflect.Pointer:
		if s := b.of(t.Elem(), where); s != nil {
			s.Nullable = true
			return s
		}
		return nil
	case t.Kind() == reflect.Interface, t == rawJSON:
		return &Schema{}
	case t.Implements(described):
		s := b.parse(reflect.Zero(t).Interface().(Described).JSONSchema(), where)
		if s != nil {
			s.Go = t
		}
		return s
	case implementsAny(t, ownForm...), implementsAny(reflect.PointerTo(t), ownForm...):
		b.fail(where, "%s has a JSON form of its own; give it a method JSONSchema() string", t)
		return nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return &Schema{Type: "string"} // base64, as encoding/json has it
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Int, reflect.Int64:
		return &Schema{Type: "integer"}
	case reflect.Int8, reflect.Int16, reflect.Int32:
		limit := int64(1) << (t.Bits() - 1)
		return &Schema{Type: "integer", Minimum: numeral(-limit), Maximum: numeral(limit - 1)}
	case reflect.Uint, reflect.Uint64:
		return &Schema{Type: "integer", Minimum: "0"}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return &Schema{Type: "integer", Minimum: "0", Maximum: numeral(1<<t.Bits() - 1)}
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Slice, reflect.Array:
		items := b.of(t.Elem(), where+"[]")
		if items == nil {
			return nil
		}
		return &Schema{Type: "array", Items: items}
	case reflect.Map:
		values := b.of(t.Elem(), where+"{}")
		if values == nil {
			return nil
		}
		return &Schema{Type: "object", Go: t, Open: true, Values: values}
	case reflect.Struct:
		if b.depth[t] >= unroll {
			return nil
		}
		return b.object(t, where)
	}
	b.fail(where, "a %s has no schema", t)
	return nil
}

func numeral(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// ownForm are the interfaces by which a type tells encoding/json how it is
// written or read; its Go kind says nothing about that then.
var ownForm = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

func implementsAny(t reflect.Type, of ...reflect.Type) bool {
	return slices.ContainsFunc(of, t.Implements)
}

func (b *builder) object(t reflect.Type, where string) *Schema {
	b.depth[t]++
	defer func() { b.depth[t]-- }()
	s := &Schema{Type: "object"}
	for i := range t.NumField() {
		b.field(s, t.Field(i), []int{i}, where)
	}
	return s
}

func (b *builder) field(s *Schema, f reflect.StructField, index []int, where string) {
	where += "." + f.Name
	if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "" {
		for i := range f.Type.NumField() {
			b.field(s, f.Type.Field(i), append(slices.Clone(index), i), where)
		}
		return
	}
	tags, err := parseTags(string(f.Tag))
	if err != nil {
		b.fail(where, "%v", err)
		return
	}
	name, options, _ := strings.Cut(tags["json"], ",")
	if name == "-" {
		return
	}
	if options != "" && options != "omitempty" && options != "omitzero" {
		b.fail(where, "json option %q is not omitempty or omitzero", options)
		return
	}
	if name == "" || !f.IsExported() {
		b.fail(where, "needs an exported name and a json name")
		return
	}
	for _, p := range s.Properties {
		if strings.EqualFold(p.Name, name) { // encoding/json would take one for the other
			b.fail(where, "%q is declared twice", name)
			return
		}
	}
	node := b.of(f.Type, where)
	if node == nil {
		return
	}
	p := Property{Name: name, Schema: node, Index: index, Required: options == ""}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		value := tags[key]
		k, isKeyword := keywords[key]
		switch {
		case key == "json":
		case key == "jsonschema":
			node.Description = value
		case isKeyword:
			target := node
			if node.Type == "array" && node.Items != nil && key != "default" && !slices.Contains(k.on, "array") {
				target = node.Items // on a list, value constraints are its items'
			}
			if !slices.Contains(k.on, target.Type) {
				b.fail(where, "%s constrains %s, and this is %s", key, strings.Join(k.on, " or "), cmp.Or(target.Type, "anything"))
			} else if err := k.set(target, value); err != nil {
				b.fail(where, "%s: %v", key, err)
			}
		case slices.Contains(b.extra, key):
			if p.Tags == nil {
				p.Tags = map[string]string{}
			}
			p.Tags[key] = value
		default:
			b.fail(where, "unknown tag %q; there are json, jsonschema, %s", key, strings.Join(append(Keywords(), b.extra...), ", "))
		}
	}
	s.Properties = append(s.Properties, p)
}

// parseTags splits a struct tag into all its keys, which reflect cannot do.
func parseTags(tag string) (map[string]string, error) {
	tags := map[string]string{}
	for tag = strings.TrimLeft(tag, " "); tag != ""; tag = strings.TrimLeft(tag, " ") {
		key, rest, ok := strings.Cut(tag, `:"`)
		if !ok || key == "" || strings.ContainsAny(key, ` "`) {
			return nil, fmt.Errorf("malformed tag near %q", tag)
		}
		quoted, err := strconv.QuotedPrefix(`"` + rest)
		if err != nil {
			return nil, fmt.Errorf("malformed value of tag %q", key)
		}
		if _, twice := tags[key]; twice {
			return nil, fmt.Errorf("tag %q stands twice", key)
		}
		tags[key], _ = strconv.Unquote(quoted)
		tag = rest[len(quoted)-1:]
	}
	return tags, nil
}

// wire is the subset of JSON Schema that a [Described] type may return.
type wire struct {
	Type        any             `json:"type"`
	Description string          `json:"description"`
	Format      string          `json:"format"`
	Pattern     string          `json:"pattern"`
	Enum        []any           `json:"enum"`
	Default     any             `json:"default"`
	Minimum     json.Number     `json:"minimum"`
	Maximum     json.Number     `json:"maximum"`
	MinLength   json.Number     `json:"minLength"`
	MaxLength   json.Number     `json:"maxLength"`
	MinItems    json.Number     `json:"minItems"`
	MaxItems    json.Number     `json:"maxItems"`
	Items       json.RawMessage `json:"items"`

	AdditionalProperties bool `json:"additionalProperties"`
}

const idPattern = "^[0-9]{17,20}$"

func (b *builder) parse(text, where string) *Schema {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	var w wire
	if err := dec.Decode(&w); err != nil {
		b.fail(where, "its own schema: %v", err)
		return nil
	}
	s := &Schema{
		Description: w.Description, Format: w.Format, Pattern: w.Pattern, ID: w.Pattern == idPattern,
		Enum: w.Enum, Default: w.Default, Minimum: w.Minimum, Maximum: w.Maximum,
		MinLength: w.MinLength, MaxLength: w.MaxLength, MinItems: w.MinItems, MaxItems: w.MaxItems,
	}
	switch kind := w.Type.(type) {
	case string:
		s.Type = kind
	case nil:
	default:
		b.fail(where, "its own schema: type must be one name")
	}
	s.Open, s.Foreign = w.AdditionalProperties, w.AdditionalProperties
	if w.Items != nil {
		s.Items = b.parse(string(w.Items), where+"[]")
	}
	return s
}
