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
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
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

func parse(raw []byte) (any, *Issue) {
	r := reader{json.NewDecoder(bytes.NewReader(raw))}
	r.UseNumber()
	v, issue := r.value("", 0)
	if issue != nil {
		return nil, issue
	}
	if _, err := r.Token(); !errors.Is(err, io.EOF) {
		return nil, &Issue{"", "something follows the JSON value", codeFormat}
	}
	return v, nil
}

type reader struct{ *json.Decoder }

func (r reader) value(path string, depth int) (any, *Issue) {
	if depth > maxDepth {
		return nil, &Issue{path, fmt.Sprintf("nested deeper than %d levels", maxDepth), codeFormat}
	}
	token, err := r.Token()
	if err != nil {
		return nil, &Issue{path, "not valid JSON", codeFormat}
	}
	switch token {
	case json.Delim('{'):
		return r.object(path, depth)
	case json.Delim('['):
		list := []any{}
		for r.More() {
			v, issue := r.value(join(path, strconv.Itoa(len(list))), depth+1)
			if issue != nil {
				return nil, issue
			}
			list = append(list, v)
		}
		_, err = r.Token()
		return list, invalid(path, err)
	}
	if n, ok := token.(json.Number); ok && !sane.MatchString(string(n)) {
		return nil, &Issue{path, "is a number with too many digits", codeFormat}
	}
	return token, nil
}

// sane bounds numbers, so that exact arithmetic on them stays cheap.
var sane = regexp.MustCompile(`^-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?$`)

func (r reader) object(path string, depth int) (any, *Issue) {
	object := map[string]any{}
	var seen map[string]string // folded key to the key as written
	for r.More() {
		token, err := r.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, invalid(path, errors.New("no key"))
		}
		if seen == nil {
			seen = map[string]string{}
		}
		if before, twice := seen[fold(key)]; twice {
			if before == key {
				return nil, &Issue{join(path, key), "stands twice; give each key once", codeUnknown}
			}
			return nil, &Issue{join(path, key), fmt.Sprintf("differs from %q only in case; give one of them", join("", before)), codeUnknown}
		}
		seen[fold(key)] = key
		v, issue := r.value(join(path, key), depth+1)
		if issue != nil {
			return nil, issue
		}
		object[key] = v
	}
	_, err := r.Token()
	return object, invalid(path, err)
}

func invalid(path string, err error) *Issue {
	if err == nil {
		return nil
	}
	return &Issue{path, "not valid JSON", codeFormat}
}

// fold maps keys that encoding/json would take for the same one to one text.
func fold(key string) string {
	return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, key)
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
