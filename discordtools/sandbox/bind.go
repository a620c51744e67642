package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// opt is a member of a body that may be absent or null; both are kept apart
// from its zero value. A member that is not an opt is required.
type opt[T any] struct {
	sent  bool // the key was there, with a value or null
	null  bool
	value T
}

// has reports whether a value was given.
func (o opt[T]) has() bool { return o.sent && !o.null }

// or is the value given, otherwise def.
func (o opt[T]) or(def T) T {
	if o.has() {
		return o.value
	}
	return def
}

// into stores what was sent: a value, or for null the zero value.
func (o opt[T]) into(dst *T) {
	if o.sent {
		*dst = o.value
	}
}

func (o *opt[T]) parts() (sent, null *bool, value any) { return &o.sent, &o.null, &o.value }

type optional interface {
	parts() (sent, null *bool, value any)
}

// binder decodes JSON into the struct of a body and notes every violation under
// its path. Struct tags carry JSON Schema's keywords: minLength, maxLength,
// minimum, maximum, minItems, maxItems, enum (comma separated), format:"uri" (or
// "media", which may also name a file of the message, or "link", which may lead
// into Discord), and null:"no" on an opt that null may not clear. Keys without a field are
// ignored, as Discord does.
type binder struct{ form form }

// bind decodes a body. An empty body is an empty object.
func bind(raw []byte, dst any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	if !json.Valid(raw) {
		return errInvalidJSON
	}
	var b binder
	b.value("", raw, reflect.ValueOf(dst).Elem(), "")
	return b.form.err()
}

func (b *binder) value(path string, raw json.RawMessage, v reflect.Value, tag reflect.StructTag) {
	raw = bytes.TrimSpace(raw)
	switch dst := v.Addr().Interface().(type) {
	case optional:
		sent, null, value := dst.parts()
		if *sent = true; string(raw) != "null" {
			b.value(path, raw, reflect.ValueOf(value).Elem(), tag)
		} else if *null = true; tag.Get("null") == "no" {
			b.form.add(path, "BASE_TYPE_REQUIRED", "This field is required")
		}
		return
	case *json.RawMessage:
		*dst = slices.Clone(raw)
		return
	case *discord.Permissions:
		b.permissions(path, raw, dst)
		return
	case *time.Time:
		b.moment(path, raw, dst)
		return
	}
	if string(raw) == "null" {
		b.form.add(path, "BASE_TYPE_REQUIRED", "This field is required")
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		b.value(path, raw, v.Elem(), tag)
	case reflect.Struct:
		b.object(path, raw, v)
	case reflect.Slice:
		b.list(path, raw, v, tag)
	case reflect.Map:
		b.texts(path, raw, v, tag)
	case reflect.String:
		if s, ok := v.Interface().(interface{ JSONSchema() string }); ok && s.JSONSchema() == discord.IDSchema {
			b.snowflake(path, raw, v)
			return
		}
		b.text(path, raw, v, tag)
	case reflect.Bool:
		if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
			b.form.add(path, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")
		}
	case reflect.Int, reflect.Int64, reflect.Float64:
		b.amount(path, raw, v, tag)
	default:
		panic(fmt.Sprintf("sandbox: a body cannot hold %s", v.Type()))
	}
}

func (b *binder) object(path string, raw json.RawMessage, v reflect.Value) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		b.form.add(path, "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
		return
	}
	b.members(path, members, v)
}

func (b *binder) members(path string, members map[string]json.RawMessage, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			b.members(path, members, v.Field(i))
			continue
		}
		name := f.Tag.Get("json")
		if name == "" {
			continue
		}
		at := join(path, name)
		raw, ok := members[name]
		if ok {
			b.value(at, raw, v.Field(i), f.Tag)
		} else if _, may := v.Field(i).Addr().Interface().(optional); !may {
			b.form.add(at, "BASE_TYPE_REQUIRED", "This field is required")
		}
	}
}

func (b *binder) list(path string, raw json.RawMessage, v reflect.Value, tag reflect.StructTag) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		b.form.add(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
		return
	}
	b.length(path, len(items), tag.Get("minItems"), tag.Get("maxItems"))
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		b.value(join(path, strconv.Itoa(i)), item, v.Index(i), "")
	}
}

// texts is an object of texts under any names; the tag is about the texts.
func (b *binder) texts(path string, raw json.RawMessage, v reflect.Value, tag reflect.StructTag) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		b.form.add(path, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for name, member := range members {
		text := reflect.New(v.Type().Elem()).Elem()
		b.text(join(path, name), member, text, tag)
		v.SetMapIndex(reflect.ValueOf(name), text)
	}
}

func (b *binder) text(path string, raw json.RawMessage, v reflect.Value, tag reflect.StructTag) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		b.form.add(path, "STRING_TYPE_CONVERT", "Could not interpret %q as string.", string(raw))
		return
	}
	b.length(path, utf8.RuneCountInString(s), tag.Get("minLength"), tag.Get("maxLength"))
	b.choice(path, s, tag)
	if format := tag.Get("format"); format != "" && s != "" {
		b.uri(path, s, schemes[format])
	}
	v.SetString(s)
}

// schemes are those of each format of an address.
var schemes = map[string][]string{
	"uri": {"http", "https"}, "media": {"http", "https", "attachment"}, "link": {"http", "https", "discord"},
}

// uri accepts addresses of the schemes.
func (b *binder) uri(path, s string, schemes []string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "":
		b.form.add(path, "URL_TYPE_INVALID_URL", "Not a well formed URL.")
	case !slices.Contains(schemes, u.Scheme):
		b.form.add(path, "URL_TYPE_INVALID_SCHEME", "Scheme %q is not supported. Scheme must be one of ('%s').", u.Scheme, strings.Join(schemes, "', '"))
	}
}

func (b *binder) snowflake(path string, raw json.RawMessage, v reflect.Value) {
	s := strings.Trim(string(raw), `"`)
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		b.form.add(path, "NUMBER_TYPE_COERCE", "Value %q is not snowflake.", s)
		return
	}
	v.SetString(s)
}

func (b *binder) permissions(path string, raw json.RawMessage, dst *discord.Permissions) {
	p, err := discord.PermissionSet(strings.Trim(string(raw), `"`)).Permissions()
	if err != nil {
		b.form.add(path, "NUMBER_TYPE_COERCE", "Value %q is not int.", strings.Trim(string(raw), `"`))
		return
	}
	*dst = p
}

func (b *binder) moment(path string, raw json.RawMessage, dst *time.Time) {
	if json.Unmarshal(raw, dst) != nil {
		b.form.add(path, "DATE_TIME_TYPE_PARSE", "Could not parse %s. Should be ISO8601.", strings.Trim(string(raw), `"`))
	}
}

func (b *binder) amount(path string, raw json.RawMessage, v reflect.Value, tag reflect.StructTag) {
	s := strings.Trim(string(raw), `"`)
	n, err := strconv.ParseFloat(s, 64)
	whole := v.Kind() != reflect.Float64
	if i, errInt := strconv.ParseInt(s, 10, 64); whole {
		if err = errInt; err == nil {
			v.SetInt(i)
		}
	} else if err == nil {
		v.SetFloat(n)
	}
	if err != nil {
		b.form.add(path, "NUMBER_TYPE_COERCE", "Value %q is not %s.", s, kindWord(whole))
		return
	}
	if low, err := strconv.ParseFloat(tag.Get("minimum"), 64); err == nil && n < low {
		b.form.add(path, "NUMBER_TYPE_MIN", "%s value should be greater than or equal to %v.", kindWord(whole), tag.Get("minimum"))
	}
	if high, err := strconv.ParseFloat(tag.Get("maximum"), 64); err == nil && n > high {
		b.form.add(path, "NUMBER_TYPE_MAX", "%s value should be less than or equal to %v.", kindWord(whole), tag.Get("maximum"))
	}
	b.choice(path, s, tag)
}

func kindWord(whole bool) string {
	if whole {
		return "int"
	}
	return "float"
}

func (b *binder) choice(path, s string, tag reflect.StructTag) {
	if list := tag.Get("enum"); list != "" && !slices.Contains(strings.Split(list, ","), s) {
		b.form.add(path, "BASE_TYPE_CHOICES", "Value must be one of {%s}.", strings.ReplaceAll(list, ",", ", "))
	}
}

// length checks a count of characters or items; "" is no bound.
func (b *binder) length(path string, n int, low, high string) {
	lowest, errLow := strconv.Atoi(low)
	highest, errHigh := strconv.Atoi(high)
	tooFew, tooMany := errLow == nil && n < lowest, errHigh == nil && n > highest
	switch {
	case !tooFew && !tooMany:
	case errLow == nil && errHigh == nil:
		b.form.add(path, "BASE_TYPE_BAD_LENGTH", "Must be between %d and %d in length.", lowest, highest)
	case tooMany:
		b.form.add(path, "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", highest)
	default:
		b.form.add(path, "BASE_TYPE_MIN_LENGTH", "Must be %d or more in length.", lowest)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// field is one that a form may lack.
type field struct {
	name string
	sent bool
}

// demand refuses a form that lacks one of the fields.
func demand(fields ...field) error {
	var missing form
	for _, f := range fields {
		if !f.sent {
			missing.add(f.name, "BASE_TYPE_REQUIRED", "This field is required")
		}
	}
	return missing.err()
}
