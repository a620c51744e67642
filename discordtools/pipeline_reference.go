package discordtools

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
)

// stepResults are what the steps of a pipeline answered so far, by the names under
// which later steps can refer to them.
type stepResults map[string]any

// keep adds a result under its names.
func (r stepResults) keep(data json.RawMessage, names ...string) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // ids and permission bits keep their digits
	var v any
	if dec.Decode(&v) != nil {
		return // it is a tool's result, which is JSON
	}
	for _, name := range names {
		if name != "" {
			r[name] = v
		}
	}
}

// pathOf is the parts of a reference: names and indexes, the first of them a
// step.
func pathOf(reference string) (parts []string) {
	for part := range strings.SplitSeq(strings.NewReplacer("[", ".", "]", "").Replace(reference), ".") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// find is the value that a reference names. Nothing is found in null, text,
// numbers and booleans.
func (r stepResults) find(reference string) (any, bool) {
	parts := pathOf(reference)
	if len(parts) == 0 {
		return nil, false
	}
	v, ok := r[parts[0]]
	for _, part := range parts[1:] {
		switch holder := v.(type) {
		case map[string]any:
			v, ok = holder[part]
		case []any:
			i, err := strconv.Atoi(part)
			if ok = err == nil && i >= 0 && i < len(holder); ok {
				v = holder[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return v, ok
}

// holds reports whether the condition of a step is met: its value is there and
// is not null, false, zero or an empty text.
func (r stepResults) holds(condition string) bool {
	if m := wholeReference.FindStringSubmatch(strings.TrimSpace(condition)); m != nil {
		condition = m[1]
	}
	v, ok := r.find(condition)
	if !ok {
		return false
	}
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		n, err := v.Float64()
		return err != nil || n != 0
	}
	return true
}

// The forms of a reference in a text: one among others, and all there is.
var (
	oneReference   = regexp.MustCompile(`\{\{([^{}]+)\}\}`)
	wholeReference = regexp.MustCompile(`^\{\{([^{}]+)\}\}$`)
)

// maxFilled is how many bytes of results the arguments of one step can take in.
const maxFilled = 1 << 20

var errFilled = errors.New("the results that args refers to are larger than 1 MiB together")

// argFiller puts results into the arguments of a step, once: what it puts there is
// not looked at again, so no text in a result can refer to anything.
type argFiller struct {
	stepResults
	room    int
	depends bool // a reference names a step that may have a result
	known   map[string]bool
}

// fill is args with the results in place of the references. The fields that
// confirm a call stay as they are: a person or an agent sets them, no result.
func (f *argFiller) fill(raw json.RawMessage) (json.RawMessage, error) {
	object, fault := args.Parse(raw)
	if fault != nil {
		return raw, nil // the step's validation says what is wrong
	}
	confirmation := args.TakeAuthorization(object)
	f.room = maxFilled
	filled := f.value(object).(map[string]any)
	for name, v := range confirmation {
		filled[name] = v
	}
	if f.room < 0 {
		return nil, errFilled
	}
	return canon.Append(nil, filled), nil
}

// nothingFound takes the place of a value that a reference did not find.
type nothingFound struct{}

func (f *argFiller) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			if filled := f.value(member); filled != (nothingFound{}) {
				out[name] = filled
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			if out[i] = f.value(item); out[i] == (nothingFound{}) {
				out[i] = nil // a list does not close up around it
			}
		}
		return out
	case string:
		return f.text(v)
	}
	return v
}

func (f *argFiller) text(s string) any {
	if m := wholeReference.FindStringSubmatch(s); m != nil {
		v, ok := f.look(m[1])
		if !ok {
			return nothingFound{}
		}
		f.room -= len(canon.Append(nil, v))
		return v
	}
	return oneReference.ReplaceAllStringFunc(s, func(match string) string {
		v, ok := f.look(match[2 : len(match)-2])
		if !ok || f.room < 0 {
			return match
		}
		text, isText := v.(string)
		if !isText {
			text = string(canon.Append(nil, v))
		}
		f.room -= len(text)
		return text
	})
}

// look finds a value, and notes whether the reference is to a step at all.
func (f *argFiller) look(path string) (any, bool) {
	if parts := pathOf(path); len(parts) > 0 && f.known[parts[0]] {
		f.depends = true
	}
	return f.find(path)
}
