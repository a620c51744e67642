package policy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// problems collects what is wrong with a document.
type problems struct {
	source string
	all    []error
}

func (p *problems) add(at, format string, with ...any) {
	if at != "" {
		at += ": "
	}
	p.all = append(p.all, fmt.Errorf(p.source+": "+at+format, with...))
}

func (p *problems) joined() error { return errors.Join(p.all...) }

// item is the place of a list's item.
func item(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// quoted is a text of the document for a message.
func quoted(text string) string { return fmt.Sprintf("%.60q", mcpcore.Redact(text)) }

// validate holds the tree against the schema. The error is one of the
// declarations.
func (d Declared) validate(tree map[string]any, p *problems) error {
	form := d.schema()
	raw, err := d.Schema()
	if err != nil {
		return fmt.Errorf("write the schema of policies: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("read the schema of policies: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is ever loaded
	const at = "mem:///policy.json"
	if err := c.AddResource(at, doc); err != nil {
		return fmt.Errorf("the schema of policies: %w", err)
	}
	compiled, err := c.Compile(at)
	if err != nil {
		return fmt.Errorf("compile the schema of policies: %w", err)
	}
	err = compiled.Validate(tree)
	if invalid, is := errors.AsType[*jsonschema.ValidationError](err); is {
		first := len(p.all)
		p.walk(invalid, form)
		slices.SortStableFunc(p.all[first:], func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return nil
	}
	return err
}

func (p *problems) walk(e *jsonschema.ValidationError, form *schema) {
	for _, cause := range e.Causes {
		p.walk(cause, form)
	}
	if len(e.Causes) == 0 {
		at, node := locate(e.InstanceLocation, form)
		p.say(at, node, e.ErrorKind)
	}
}

// locate is the place and the form of what the keys lead to.
func locate(keys []string, form *schema) (at string, node *schema) {
	node = form
	for _, key := range keys {
		switch member := node.Properties[key]; {
		case node.Items != nil:
			at, node = at+"["+key+"]", node.Items
		case member != nil:
			at, node = under(at, key), member
		default:
			at = under(at, key)
			for _, named := range node.Named {
				node = named
			}
		}
	}
	return at, node
}

// under is the place of a member.
func under(at, key string) string {
	if len(key) > 64 {
		key = strings.ToValidUTF8(key[:64], "") + "…"
	}
	if at == "" {
		return key
	}
	return at + "." + key
}

// say tells what is wrong at a place of that form, and what to write instead.
func (p *problems) say(at string, s *schema, wrong jsonschema.ErrorKind) {
	switch k := wrong.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			p.add(under(at, name), "is missing: %s", s.Properties[name].wants())
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			if s.Named != nil {
				p.add(under(at, name), "a group is named in lower-case letters, digits, - and _, such as %q", "night-watch")
				continue
			}
			p.add(under(at, name), "there is no such %s%s", s.what, oneOf(name, slices.Sorted(maps.Keys(s.Properties))))
		}
	case *kind.Type:
		p.add(at, "must be %s", s.wants())
	case *kind.Const:
		p.add(at, "must be %s", s.wants())
	case *kind.Enum:
		text, _ := k.Got.(string)
		p.add(at, "there is no %s %s%s", s.what, quoted(text), oneOf(text, s.Enum))
	case *kind.Pattern:
		p.add(at, "%s must be %s", quoted(k.Got), s.what)
	case *kind.UniqueItems:
		p.add(item(at, k.Duplicates[1]), "is the same as item %d; name it once", k.Duplicates[0])
	case *kind.Minimum, *kind.Maximum:
		p.add(at, "must be %s", s.wants())
	case *kind.MinItems:
		p.add(at, "must name at least one")
	case *kind.MaxItems:
		p.add(at, "must have at most %d items, and has %d", k.Want, k.Got)
	case *kind.MaxProperties:
		p.add(at, "must have at most %d members, and has %d", k.Want, k.Got)
	default:
		p.add(at, "breaks the rule %s of the schema", strings.Join(wrong.KeywordPath(), "."))
	}
}

// wants says what to write there.
func (s *schema) wants() string {
	switch {
	case s.Const != 0:
		return strconv.Itoa(s.Const)
	case s.Type == "boolean":
		return "true or false, without quotes"
	case s.Type == "integer":
		return fmt.Sprintf("a whole number from %d to %d", *s.Minimum, *s.Maximum)
	case s.Type == "array":
		return "a list, in [ ]"
	case s.Type == "object":
		return "an object, in { }"
	}
	return "a text, in quotes"
}

// oneOf completes a refusal with the name that was meant, or with all.
func oneOf(name string, there []string) string {
	bare := make([]string, len(there)) // category:polls is what polls is meant to be
	for i, of := range there {
		bare[i] = of[strings.LastIndex(of, ":")+1:]
	}
	near := args.Nearest(name, there)
	if i := slices.Index(bare, args.Nearest(name, bare)); near == "" && i >= 0 {
		near = there[i]
	}
	switch {
	case near != "":
		return fmt.Sprintf("; did you mean %q?", near)
	case len(there) == 0:
		return "; there is none"
	case len(there) > 40:
		return fmt.Sprintf("; the schema names all %d", len(there))
	}
	return "; there are: " + strings.Join(there, ", ")
}
