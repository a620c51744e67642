package args

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/internal/schema"
)

// Authorization names the fields that confirm a call. They stand at the top
// level of the arguments, beside the tool's own.
var Authorization = []string{"__confirm", "__confirm_hash", "__confirm_id", "__consent", "__consent_hash", "__consent_id"}

// hostKeys are keys that MCP hosts add to the arguments by themselves. They are
// dropped from the top level, unless the tool declares them.
var hostKeys = []string{"toolCallId", "tool_call_id", "sessionId", "action", "chatInput", "request_heartbeat", "_meta"}

// TakeAuthorization removes the authorization fields from the top level of
// object and returns them. It is nil when there are none.
func TakeAuthorization(object map[string]any) map[string]any {
	var taken map[string]any
	for _, name := range Authorization {
		if v, ok := object[name]; ok {
			if taken == nil {
				taken = map[string]any{}
			}
			taken[name] = v
			delete(object, name)
		}
	}
	return taken
}

// Unpack replaces the argument called name, a text that is a JSON object, by
// that object's members: whatever looks at arguments later sees them as if they
// had been given one by one. Only the members in names may be there, and none
// that object has as well. A value that is no text is left as it is.
func Unpack(object map[string]any, name string, names []string) *Issue {
	text, ok := object[name].(string)
	if !ok {
		return nil
	}
	v, issue := parse(bytes.TrimSpace([]byte(text)))
	if issue != nil {
		return &Issue{strings.TrimSuffix(name+"."+issue.Path, "."), issue.Message, issue.Code}
	}
	packed, ok := v.(map[string]any)
	if !ok {
		return &Issue{name, "must be a JSON object in a text, this is " + nameOf(v), codeType}
	}
	delete(object, name)
	for _, key := range slices.Sorted(maps.Keys(packed)) {
		switch _, twice := object[key]; {
		case !slices.Contains(names, key):
			return &Issue{join(name, key), "is not an argument here; there are: " + strings.Join(names, ", "), codeUnknown}
		case twice:
			return &Issue{join(name, key), "is an argument of the call as well; give one of them", codeUnknown}
		}
		object[key] = packed[key]
	}
	return nil
}

// Fit makes object what the schema asks for, in place, as far as that changes
// no meaning:
//
//   - keys that hosts inject are dropped;
//   - an unknown key is an issue when strict, otherwise it is dropped and
//     reported;
//   - null for an optional argument that cannot be cleared is as good as absent;
//   - text that is exactly a value of the wanted type becomes that value.
//
// Ids as numbers and whole numbers that are not plain digits are issues. What
// else is wrong is left to the schema's validator.
func Fit(object map[string]any, s *schema.Schema, strict bool) (issues []Issue, dropped []string) {
	for _, key := range hostKeys {
		if _, declared := s.Property(key); !declared {
			delete(object, key)
		}
	}
	f := fitter{strict: strict}
	f.object(object, s, "")
	return f.issues, f.dropped
}

type fitter struct {
	strict  bool
	issues  []Issue
	dropped []string
}

// MaxIssues bounds how many issues, and how many dropped keys, are told.
const MaxIssues = 100

func (f *fitter) issue(path, code, format string, args ...any) {
	if len(f.issues) < MaxIssues {
		f.issues = append(f.issues, Issue{path, fmt.Sprintf(format, args...), code})
	}
}

func (f *fitter) object(object map[string]any, s *schema.Schema, path string) {
	if s.Foreign {
		return // another call's to look into
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := join(path, key)
		if slices.Contains(Authorization, key) {
			f.issue(at, codeUnknown, "is a confirmation and stands at the top level only")
			continue
		}
		p, known := s.Property(key)
		switch {
		case !known && s.Open:
			if s.Values == nil {
				f.refuseAuthorization(object[key], at)
			} else {
				object[key] = f.value(object[key], s.Values, at)
			}
		case !known && f.strict:
			f.unknown(key, s, at)
		case !known:
			delete(object, key)
			if len(f.dropped) < MaxIssues {
				f.dropped = append(f.dropped, at)
			}
		case object[key] == nil && !p.Schema.Nullable && p.Schema.Type != "":
			delete(object, key) // a missing required argument is the validator's to report
		default:
			object[key] = f.value(object[key], p.Schema, at)
		}
	}
}

func (f *fitter) unknown(key string, s *schema.Schema, at string) {
	if len(f.issues) >= MaxIssues {
		return // looking for the nearest name costs too much to do it for nothing
	}
	names := make([]string, len(s.Properties))
	for i, p := range s.Properties {
		names[i] = p.Name
	}
	if near := Nearest(key, names); near != "" {
		f.issue(at, codeUnknown, "is not an argument here; did you mean %q?", near)
		return
	}
	slices.Sort(names)
	if len(names) == 0 {
		f.issue(at, codeUnknown, "is not an argument here; there are none")
		return
	}
	f.issue(at, codeUnknown, "is not an argument here; there are: %s", strings.Join(names, ", "))
}

// refuseAuthorization looks for confirmations inside a value of any shape.
func (f *fitter) refuseAuthorization(v any, path string) {
	switch v := v.(type) {
	case map[string]any:
		f.object(v, anyObject, path)
	case []any:
		for i, item := range v {
			f.refuseAuthorization(item, join(path, strconv.Itoa(i)))
		}
	}
}

var anyObject = &schema.Schema{Type: "object", Open: true}

func (f *fitter) value(v any, s *schema.Schema, path string) any {
	if text, ok := v.(string); ok && s.Type != "string" && s.Type != "" {
		v = f.convert(text, s, path)
	}
	switch s.Type {
	case "":
		f.refuseAuthorization(v, path)
	case "string":
		f.text(v, s, path)
	case "integer":
		if n, ok := v.(json.Number); ok {
			f.whole(string(n), path)
		}
	case "array":
		if list, ok := v.([]any); ok && s.Items != nil {
			for i := range list {
				list[i] = f.value(list[i], s.Items, join(path, strconv.Itoa(i)))
			}
		}
	case "object":
		if object, ok := v.(map[string]any); ok {
			f.object(object, s, path)
		}
	}
	return v
}

var wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func (f *fitter) whole(n, path string) {
	if !wholeNumber.MatchString(n) {
		f.issue(path, codeType, "must be a whole number in plain digits")
		return
	}
	_, signed := strconv.ParseInt(n, 10, 64)
	_, unsigned := strconv.ParseUint(n, 10, 64)
	if signed != nil && unsigned != nil {
		f.issue(path, codeSize(n), "does not fit 64 bits")
	}
}

func codeSize(n string) string {
	if strings.HasPrefix(n, "-") {
		return codeSmall
	}
	return codeBig
}

func (f *fitter) text(v any, s *schema.Schema, path string) {
	switch v := v.(type) {
	case json.Number:
		if s.ID {
			f.issue(path, codeType, "must be text: write the id in quotes, numbers above 2^53 lose digits")
		}
	case string:
		if _, err := strconv.ParseUint(v, 10, 64); s.ID && len(v) == 20 && errors.Is(err, strconv.ErrRange) {
			f.issue(path, codeFormat, "is not an id: it does not fit 64 bits")
		}
	}
}

// convert reads text as a value of the wanted type, and gives it back unchanged
// where it is not exactly one.
func (f *fitter) convert(text string, s *schema.Schema, path string) any {
	v, issue := parse([]byte(text))
	if issue != nil {
		if issue.Code == codeUnknown { // well-formed but with repeated keys
			f.issue(path, issue.Code, "is JSON in which %s %s", issue.Path, issue.Message)
		}
		return text
	}
	var fits bool
	switch v := v.(type) {
	case bool:
		fits = s.Type == "boolean"
	case json.Number:
		fits = s.Type == "number" || s.Type == "integer" && wholeNumber.MatchString(string(v))
	case []any:
		fits = s.Type == "array"
	case map[string]any:
		fits = s.Type == "object"
	case nil:
		return text
	}
	if !fits || strings.TrimSpace(text) != text {
		return text
	}
	return v
}

// Nearest is the name that key was probably meant to be, or "".
func Nearest(key string, names []string) string {
	best, limit := "", max(2, len(key)/3)+1
	for _, name := range names {
		if d := distance(fold(key), name, limit); d < limit {
			best, limit = name, d
		}
	}
	return best
}

// distance is Levenshtein's, or limit when it is not below limit.
func distance(a, b string, limit int) int {
	if len(a) > 2*maxKey || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
