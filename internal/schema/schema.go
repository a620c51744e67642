// Package schema builds the JSON Schemas that tools publish from Go structs and
// their tags. It writes the flat, conservative subset that every client and
// model API accepts: closed objects, no references, no combinators in inputs.
//
//	type banInput struct {
//		GuildID discord.GuildID `json:"guild_id" jsonschema:"guild to ban from"`
//		Erase   int             `json:"delete_message_seconds,omitempty" jsonschema:"also delete …" minimum:"0" maximum:"604800"`
//	}
//
// A field without omitempty is required. A pointer field also takes null. The
// tag jsonschema is the description; the constraint tags are named after JSON
// Schema's keywords. An unknown tag is an error, so that a misspelt constraint
// cannot pass for one.
package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/internal/canon"
)

// Schema is one node.
type Schema struct {
	Type        string       // "object", "array", "string", "integer", "number", "boolean"; "" allows anything
	Nullable    bool         // null is allowed and means "clear"
	ID          bool         // a snowflake: text only, fits 64 bits
	Go          reflect.Type // of a map and of a type that brings its own schema; else nil
	Description string
	Format      string
	Pattern     string
	Enum        []any
	Default     any
	Minimum     json.Number
	Maximum     json.Number
	MinLength   json.Number
	MaxLength   json.Number
	MinItems    json.Number
	MaxItems    json.Number
	Unique      bool
	Items       *Schema    // of an array; nil allows anything
	Properties  []Property // of an object, in declaration order
	Open        bool       // of an object: other keys are allowed
	Foreign     bool       // of an open object: another tool's arguments, which are left as they are
	Values      *Schema    // of an open object: what the other keys hold; nil allows anything
}

// Property is a member of an object.
type Property struct {
	Name     string
	Required bool
	Schema   *Schema
	Tags     map[string]string // the field's tags that the caller of Of asked for
	Index    []int             // where the field is in its struct
}

// Property finds a member by name.
func (s *Schema) Property(name string) (*Property, bool) {
	for i := range s.Properties {
		if s.Properties[i].Name == name {
			return &s.Properties[i], true
		}
	}
	return nil, false
}

// Clone is a copy whose list of properties can be changed. The nodes below are
// shared.
func (s *Schema) Clone() *Schema {
	c := *s
	c.Properties = append([]Property(nil), s.Properties...)
	return &c
}

// JSON is the schema as it is published.
func (s *Schema) JSON() json.RawMessage { return s.append(nil) }

func (s *Schema) append(b []byte) []byte {
	b = append(b, '{')
	key := func(k string) {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(canon.AppendString(b, k), ':')
	}
	text := func(k, v string) {
		if v != "" {
			key(k)
			b = canon.AppendString(b, v)
		}
	}
	number := func(k string, v json.Number) {
		if v != "" {
			key(k)
			b = append(b, v...)
		}
	}
	if s.Nullable && s.Type != "" {
		key("type")
		b = append(b, `["`+s.Type+`","null"]`...)
	} else {
		text("type", s.Type)
	}
	text("description", s.Description)
	if len(s.Enum) > 0 {
		key("enum")
		if s.Nullable { // or null, which the type allows, would not be one of them
			b = canon.Append(b, append(slices.Clone(s.Enum), nil))
		} else {
			b = canon.Append(b, s.Enum)
		}
	}
	if s.Default != nil {
		key("default")
		b = canon.Append(b, s.Default)
	}
	text("format", s.Format)
	text("pattern", s.Pattern)
	number("minimum", s.Minimum)
	number("maximum", s.Maximum)
	number("minLength", s.MinLength)
	number("maxLength", s.MaxLength)
	number("minItems", s.MinItems)
	number("maxItems", s.MaxItems)
	if s.Unique {
		key("uniqueItems")
		b = append(b, "true"...)
	}
	if s.Items != nil {
		key("items")
		b = s.Items.append(b)
	}
	if s.Type == "object" {
		b = s.appendObject(b)
	}
	return append(b, '}')
}

func (s *Schema) appendObject(b []byte) []byte {
	b = append(b, `,"properties":{`...)
	var required []any
	for i, p := range s.Properties {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(canon.AppendString(b, p.Name), ':')
		b = p.Schema.append(b)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	b = append(b, '}')
	if len(required) > 0 {
		b = canon.Append(append(b, `,"required":`...), required)
	}
	switch {
	case !s.Open:
		b = append(b, `,"additionalProperties":false`...)
	case s.Values != nil:
		b = s.Values.append(append(b, `,"additionalProperties":`...))
	}
	return b
}

// Output is the schema of a tool's result: the success as one level of named
// and typed members, or an error, since clients validate error results as well.
func Output(success *Schema) json.RawMessage {
	b := []byte(`{"type":"object","anyOf":[{"properties":{`)
	var required []any
	for i, p := range success.Properties {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(canon.AppendString(b, p.Name), ':')
		switch {
		case p.Schema.Type == "":
			b = append(b, "{}"...)
		case p.Schema.Nullable:
			b = append(b, `{"type":["`+p.Schema.Type+`","null"]}`...)
		default:
			b = append(b, `{"type":`+strconv.Quote(p.Schema.Type)+`}`...)
		}
		if p.Required {
			required = append(required, p.Name)
		}
	}
	b = append(b, '}')
	if len(required) > 0 {
		b = canon.Append(append(b, `,"required":`...), required)
	}
	return append(b, `},{"properties":{"code":{"type":"string"}},"required":["code"]}]}`...)
}
