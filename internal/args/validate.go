package args

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/guildwarden/guildwarden/internal/schema"
)

// Validator checks fitted arguments against a published schema.
type Validator struct {
	compiled *jsonschema.Schema
	root     *schema.Schema
}

// Compile prepares a validator. It takes about half a millisecond, so it is
// done on a tool's first call.
func Compile(s *schema.Schema) (*Validator, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.JSON()))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: checkTime})
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is ever loaded
	const at = "mem:///input.json"
	if err := c.AddResource(at, doc); err != nil {
		return nil, fmt.Errorf("add schema: %w", err)
	}
	compiled, err := c.Compile(at)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	return &Validator{compiled, s}, nil
}

// checkTime demands an offset, without which a time lands hours off.
func checkTime(v any) error {
	if s, ok := v.(string); ok {
		_, err := time.Parse(time.RFC3339, s)
		return err
	}
	return nil
}

// Validate reports everything that is wrong with object, in the order of paths.
func (v *Validator) Validate(object map[string]any) []Issue {
	err := v.compiled.Validate(object)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []Issue{{"", "the arguments cannot be checked", codeValue}}
	}
	var issues []Issue
	walk(invalid, func(leaf *jsonschema.ValidationError) { issues = append(issues, v.issues(leaf)...) })
	slices.SortStableFunc(issues, func(a, b Issue) int { return cmp.Compare(a.Path, b.Path) })
	return issues
}

func walk(e *jsonschema.ValidationError, leaf func(*jsonschema.ValidationError)) {
	if len(e.Causes) == 0 {
		leaf(e)
		return
	}
	for _, cause := range e.Causes {
		walk(cause, leaf)
	}
}

func (v *Validator) issues(e *jsonschema.ValidationError) []Issue {
	path := ""
	for _, key := range e.InstanceLocation {
		path = join(path, key)
	}
	one := func(code, format string, args ...any) []Issue {
		return []Issue{{path, fmt.Sprintf(format, args...), code}}
	}
	node := v.node(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		var all []Issue
		for _, name := range k.Missing {
			all = append(all, Issue{join(path, name), "is required", codeType})
		}
		return all
	case *kind.AdditionalProperties:
		var all []Issue
		for _, name := range k.Properties {
			all = append(all, Issue{join(path, name), "is not an argument here", codeUnknown})
		}
		return all
	case *kind.Type:
		return one(codeType, "must be %s, this is %s", words(k.Want), word(k.Got))
	case *kind.Enum:
		return one(codeValue, "must be one of %s", list(k.Want))
	case *kind.Pattern:
		if node != nil && node.ID {
			return one(codeFormat, "must be an id: 17 to 20 digits")
		}
		return one(codeFormat, "must match %s", k.Want)
	case *kind.Format:
		if k.Want == "date-time" {
			return one(codeFormat, "must be a time with an offset, such as 2031-05-01T18:00:00+02:00 or 2031-05-01T18:00:00Z")
		}
		return one(codeFormat, "must be a valid %s", k.Want)
	case *kind.MinLength:
		return one(codeSmall, "must have at least %d characters, this has %d", k.Want, k.Got)
	case *kind.MaxLength:
		return one(codeBig, "must have at most %d characters, this has %d", k.Want, k.Got)
	case *kind.MinItems:
		return one(codeSmall, "must have at least %d items, this has %d", k.Want, k.Got)
	case *kind.MaxItems:
		return one(codeBig, "must have at most %d items, this has %d", k.Want, k.Got)
	case *kind.Minimum:
		return one(codeSmall, "must be at least %s", plain(node, func(s *schema.Schema) string { return string(s.Minimum) }, k.Want.RatString()))
	case *kind.Maximum:
		return one(codeBig, "must be at most %s", plain(node, func(s *schema.Schema) string { return string(s.Maximum) }, k.Want.RatString()))
	case *kind.UniqueItems:
		return one(codeValue, "must not repeat an item: items %d and %d are the same", k.Duplicates[0], k.Duplicates[1])
	}
	return one(codeValue, "breaks the schema's rule %s", strings.Join(e.ErrorKind.KeywordPath(), "."))
}

// node finds the schema of the place in the arguments, or nil.
func (v *Validator) node(at []string) *schema.Schema {
	s := v.root
	for _, key := range at {
		switch {
		case s == nil:
			return nil
		case s.Type == "array":
			s = s.Items
		default:
			p, ok := s.Property(key)
			if !ok {
				return s.Values
			}
			s = p.Schema
		}
	}
	return s
}

func plain(node *schema.Schema, bound func(*schema.Schema) string, fallback string) string {
	if node != nil && bound(node) != "" {
		return bound(node)
	}
	return fallback
}

var typeWords = map[string]string{
	"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
	"array": "a list", "object": "an object", "null": "null",
}

func word(t string) string { return cmp.Or(typeWords[t], t) }

func words(types []string) string {
	var all []string
	for _, t := range types {
		if t != "null" {
			all = append(all, word(t))
		}
	}
	if len(all) < len(types) {
		all = append(all, word("null"))
	}
	return strings.Join(all, " or ")
}

func list(values []any) string {
	all := make([]string, len(values))
	for i, v := range values {
		if all[i] = fmt.Sprint(v); v == nil {
			all[i] = "null"
		}
	}
	return strings.Join(all, ", ")
}
