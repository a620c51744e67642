package discordtools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// value is one value of a reply, valid JSON without white space around it; nil
// is none. It is taken apart only as far as a view asks: a view shows few of the
// members that Discord sends.
type value []byte

// decodeReply checks a reply. An empty one is no value.
func decodeReply(body []byte) (value, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return nil, nil
	}
	if !json.Valid(body) {
		return nil, fmt.Errorf("decode reply: %d bytes that are no JSON", len(body))
	}
	return body, nil
}

// none reports null or nothing.
func (v value) none() bool { return len(v) == 0 || v[0] == 'n' }

// kind is what the value is, for errors.
func (v value) kind() string {
	switch {
	case v.none():
		return "nothing"
	case v[0] == '{':
		return "an object"
	case v[0] == '[':
		return "a list"
	case v[0] == '"':
		return "a text"
	case v[0] == 't', v[0] == 'f':
		return "a boolean"
	}
	return "a number"
}

// text is the value of a JSON string, quotes included.
func (v value) text() string {
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return strings.ToValidUTF8(string(inner), "\uFFFD")
	}
	var s string
	_ = json.Unmarshal(v, &s) // v is valid JSON
	return s
}

// property is a member of an object.
type property struct {
	name  value // as it stands there, quotes included
	value value
}

func (p property) is(name string) bool {
	return string(p.name[1:len(p.name)-1]) == name || bytes.IndexByte(p.name, '\\') >= 0 && p.name.text() == name
}

// properties appends the members of an object to all; none of anything else.
func (v value) properties(all []property) []property {
	if len(v) == 0 || v[0] != '{' {
		return all
	}
	for i := v.skip(1); v[i] != '}'; {
		end := v.end(i)
		p := property{name: v[i:end]}
		i = v.skip(v.skip(end) + 1) // over the colon
		end = v.end(i)
		p.value = v[i:end]
		all = append(all, p)
		if i = v.skip(end); v[i] == ',' {
			i = v.skip(i + 1)
		}
	}
	return all
}

// named is the last of the members that has the name, nil where it is absent or
// null.
func named(all []property, name string) value {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].is(name) {
			if all[i].value.none() {
				return nil
			}
			return all[i].value
		}
	}
	return nil
}

// items are the items of a list; none of anything else.
func (v value) items() []value {
	if len(v) == 0 || v[0] != '[' {
		return nil
	}
	all := make([]value, 0, 16)
	for i := v.skip(1); v[i] != ']'; {
		end := v.end(i)
		all = append(all, v[i:end])
		if i = v.skip(end); v[i] == ',' {
			i = v.skip(i + 1)
		}
	}
	return all
}

// skip is the first position from i on without white space.
func (v value) skip(i int) int {
	for v[i] == ' ' || v[i] == '\n' || v[i] == '\t' || v[i] == '\r' {
		i++
	}
	return i
}

// end is where the value ends that begins at i.
func (v value) end(i int) int {
	for depth := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			for i++; v[i] != '"'; i++ {
				if v[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // behind a number or a word
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return len(v)
}
