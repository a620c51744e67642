// Package args decodes the raw arguments of a call. Everything that looks at
// arguments reads what this package made of them, so that no two layers can
// understand the same bytes differently.
//
// Numbers keep their digits, repeated keys and keys that differ only in case
// are refused at every depth, null and absent are told apart.
package args

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The codes of an [Issue].
const (
	codeType    = "invalid_type"
	codeValue   = "invalid_value"
	codeUnknown = "unrecognized_keys"
	codeFormat  = "invalid_format"
	codeSmall   = "too_small"
	codeBig     = "too_big"
)

// Issue is one thing that is wrong; see mcpcore.Issue.
type Issue struct{ Path, Message, Code string }

// maxDepth bounds the nesting that is read.
const maxDepth = 64

// Parse reads raw as one JSON object into a tree of map[string]any, []any,
// string, json.Number, bool and nil. Absent and null arguments are an empty
// object.
func Parse(raw []byte) (map[string]any, *Issue) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]any{}, nil
	}
	v, issue := parse(raw)
	if issue != nil {
		return nil, issue
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, &Issue{"", "arguments must be a JSON object, this is " + nameOf(v), codeType}
	}
	return object, nil
}

// parse builds the tree of one JSON value. The syntax is encoding/json's to
// judge, so that both always agree on it.
func parse(raw []byte) (any, *Issue) {
	if !json.Valid(raw) {
		return nil, &Issue{"", "is not valid JSON", codeFormat}
	}
	r := reader{raw: raw}
	return r.value("", 0)
}

// reader walks through valid JSON.
type reader struct {
	raw []byte
	at  int
}

// next is the next byte that is not white space. It is not taken.
func (r *reader) next() byte {
	for {
		switch c := r.raw[r.at]; c {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return c
		}
	}
}

// took takes the next byte when it is c.
func (r *reader) took(c byte) bool {
	if r.next() != c {
		return false
	}
	r.at++
	return true
}

func (r *reader) value(path string, depth int) (any, *Issue) {
	if depth > maxDepth {
		return nil, &Issue{path, fmt.Sprintf("nested deeper than %d levels", maxDepth), codeFormat}
	}
	switch r.next() {
	case '{':
		return r.object(path, depth)
	case '[':
		return r.list(path, depth)
	case '"':
		return r.text(), nil
	case 't':
		r.at += len("true")
		return true, nil
	case 'f':
		r.at += len("false")
		return false, nil
	case 'n':
		r.at += len("null")
		return nil, nil
	}
	start := r.at
	for r.at < len(r.raw) && strings.IndexByte("+-.0123456789Ee", r.raw[r.at]) >= 0 {
		r.at++
	}
	n := r.raw[start:r.at]
	if !sane.Match(n) {
		return nil, &Issue{path, "is a number with too many digits", codeFormat}
	}
	return json.Number(n), nil
}

// sane bounds numbers, so that exact arithmetic on them stays cheap.
var sane = regexp.MustCompile(`^-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?$`)

func (r *reader) text() string {
	start, plain := r.at, true
	for r.at++; r.raw[r.at] != '"'; r.at++ {
		switch c := r.raw[r.at]; {
		case c == '\\':
			r.at++
			plain = false
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	r.at++
	quoted := r.raw[start:r.at]
	if plain {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // a valid string has a value
	return s
}

func (r *reader) list(path string, depth int) (any, *Issue) {
	r.at++
	list := []any{}
	for !r.took(']') {
		r.took(',')
		v, issue := r.value(join(path, strconv.Itoa(len(list))), depth+1)
		if issue != nil {
			return nil, issue
		}
		list = append(list, v)
	}
	return list, nil
}

func (r *reader) object(path string, depth int) (any, *Issue) {
	r.at++
	object := map[string]any{}
	var seen map[string]string // folded key to the key as written
	for !r.took('}') {
		r.took(',')
		r.next()
		key := r.text()
		folded := fold(key)
		if folded != key && seen == nil {
			seen = make(map[string]string, len(object)+1)
			for k := range object { // each is its own folding
				seen[k] = k
			}
		}
		before, twice := key, false
		if seen != nil {
			before, twice = seen[folded]
			seen[folded] = key
		} else {
			_, twice = object[key]
		}
		if twice && before == key {
			return nil, &Issue{join(path, key), "stands twice; give each key once", codeUnknown}
		}
		if twice {
			return nil, &Issue{join(path, key), fmt.Sprintf("differs from %q only in case; give one of them", join("", before)), codeUnknown}
		}
		r.took(':')
		v, issue := r.value(join(path, key), depth+1)
		if issue != nil {
			return nil, issue
		}
		object[key] = v
	}
	return object, nil
}

// fold maps keys that encoding/json would take for the same one to one text.
func fold(key string) string {
	for i := range len(key) {
		if c := key[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, key)
		}
	}
	return key
}

// maxKey bounds how much of a caller's key is repeated in a message.
const maxKey = 64

func join(path, key string) string {
	if len(key) > maxKey {
		key = strings.ToValidUTF8(key[:maxKey], "") + "…"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func nameOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list"
	}
	return "an object"
}
