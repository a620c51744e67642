package components

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/internal/args"
)

// The codes of a value that is not what its member takes.
const (
	wrongType   = "SCHEMA_invalid_type"
	wrongValue  = "SCHEMA_invalid_value"
	wrongFormat = "SCHEMA_invalid_format"
	tooSmall    = "SCHEMA_too_small"
	tooBig      = "SCHEMA_too_big"
	unknownKey  = "SCHEMA_unrecognized_keys"
)

// fields are the members that an object may have.
type fields map[string]field

type field struct {
	want  want  // nil takes anything
	holds *slot // components stand here
	must  bool
}

// want says what is wrong with one value.
type want func(c *checker, path string, raw json.RawMessage)

// shape is an object with the given members and no others.
func shape(of fields) want {
	return func(c *checker, path string, raw json.RawMessage) {
		if n, ok := c.object(raw, path); ok {
			c.members(n, of)
		}
	}
}

func list(least, most int, of want) want {
	return func(c *checker, path string, raw json.RawMessage) {
		all, ok := c.items(raw, path)
		if !ok {
			return
		}
		c.count(path, len(all), least, most)
		for i, item := range all {
			of(c, path+"."+strconv.Itoa(i), item)
		}
	}
}

func text(least, most int) want {
	return func(c *checker, path string, raw json.RawMessage) {
		s, ok := c.string(raw, path)
		if !ok {
			return
		}
		switch n := utf8.RuneCountInString(s); {
		case n < least:
			c.value(path, tooSmall, "must have at least %d characters", least)
		case n > most:
			c.value(path, tooBig, "must have at most %d characters, this has %d", most, n)
		}
	}
}

var digits = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,15})$`)

func whole(least, most int) want {
	return func(c *checker, path string, raw json.RawMessage) {
		if !digits.Match(raw) {
			c.value(path, wrongType, "must be a whole number, this is %s", nameOf(raw))
			return
		}
		switch n, _ := strconv.Atoi(string(raw)); {
		case n < least:
			c.value(path, tooSmall, "must be at least %d", least)
		case n > most:
			c.value(path, tooBig, "must be at most %d", most)
		}
	}
}

func flag(c *checker, path string, raw json.RawMessage) {
	if s := string(raw); s != "true" && s != "false" {
		c.value(path, wrongType, "must be true or false, this is %s", nameOf(raw))
	}
}

func oneOf(words ...string) want {
	return func(c *checker, path string, raw json.RawMessage) {
		if s, ok := c.string(raw, path); ok && !slices.Contains(words, s) {
			c.value(path, wrongValue, "must be %s", strings.Join(words, " or "))
		}
	}
}

var id = regexp.MustCompile(`^[0-9]{17,20}$`)

func snowflake(c *checker, path string, raw json.RawMessage) {
	if s, ok := c.string(raw, path); ok && !id.MatchString(s) {
		c.value(path, wrongFormat, "must be an id: 17 to 20 digits")
	}
}

// address is a URL with one of the schemes.
func address(most int, schemes ...string) want {
	limit := text(1, most)
	return func(c *checker, path string, raw json.RawMessage) {
		s, ok := c.string(raw, path)
		if !ok {
			return
		}
		limit(c, path, raw)
		if !isAddress(s, schemes) {
			c.value(path, wrongFormat, "must be an address that begins with %s://", strings.Join(schemes, ":// or "))
		}
	}
}

func isAddress(s string, schemes []string) bool {
	u, err := url.Parse(s)
	return err == nil && slices.Contains(schemes, strings.ToLower(u.Scheme)) && u.Host != "" && !strings.ContainsAny(s, " \t\r\n")
}

const attachment = "attachment://"

// source is where a picture or a file comes from.
func source(shows func(c *checker, path, address string)) want {
	of := fields{
		"url": {want: func(c *checker, path string, raw json.RawMessage) {
			if s, ok := c.string(raw, path); ok {
				shows(c, path, s)
			}
		}, must: true},
		"id": told, "proxy_url": told, "width": told, "height": told, "content_type": told, "attachment_id": told,
		"placeholder": told, "placeholder_version": told, "loading_state": told, "flags": told,
	}
	return shape(of)
}

// media is a picture or video: an address, or a file sent along.
var media = source(picture)

func picture(c *checker, path, s string) {
	switch name, sent := strings.CutPrefix(s, attachment); {
	case utf8.RuneCountInString(s) > 2048:
		c.value(path, tooBig, "must have at most 2048 characters")
	case sent:
		c.file(path, name)
	case !isAddress(s, []string{"http", "https"}):
		c.value(path, wrongFormat, "must be an address that begins with http://, https:// or %s", attachment)
	}
}

// attached is a file sent along.
var attached = source(func(c *checker, path, s string) {
	if name, sent := strings.CutPrefix(s, attachment); sent && name != "" {
		c.file(path, name)
		return
	}
	c.broken(path, "FILE_UNSUPPORTED", "a file component shows a file that is sent along, not an address",
		"Name it as "+attachment+"name; link to a file elsewhere with a link button.")
})

// emoji is an emoji of a button or an option.
func emoji(c *checker, path string, raw json.RawMessage) {
	n, ok := c.object(raw, path)
	if !ok {
		return
	}
	c.members(n, fields{"id": {want: snowflake}, "name": {want: text(0, 32)}, "animated": {want: flag}})
	if !n.has("id") && n.text("name") == "" {
		c.value(path, wrongValue, "must have the id of a custom emoji, or a unicode emoji as its name")
	}
}

func (c *checker) object(raw json.RawMessage, path string) (node, bool) {
	n, ok := read(raw, path)
	if !ok {
		c.value(path, wrongType, "must be an object, this is %s", nameOf(raw))
	}
	return n, ok
}

func (c *checker) items(raw json.RawMessage, path string) (all []json.RawMessage, ok bool) {
	if json.Unmarshal(raw, &all) != nil {
		c.value(path, wrongType, "must be a list, this is %s", nameOf(raw))
		return nil, false
	}
	return all, true
}

func (c *checker) string(raw json.RawMessage, path string) (s string, ok bool) {
	if json.Unmarshal(raw, &s) != nil {
		c.value(path, wrongType, "must be text, this is %s", nameOf(raw))
		return "", false
	}
	return s, true
}

func (c *checker) count(path string, n, least, most int) {
	switch {
	case n < least:
		c.value(path, tooSmall, "must have at least %d items", least)
	case most > 0 && n > most:
		c.value(path, tooBig, "must have at most %d items, this has %d", most, n)
	}
}

// members checks an object's members in the order of their names.
func (c *checker) members(n node, of fields) {
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		if _, known := of[name]; known {
			continue
		}
		names := slices.Sorted(maps.Keys(of))
		if near := args.Nearest(name, names); near != "" {
			c.value(join(n.path, name), unknownKey, "is not a member here; did you mean %q?", near)
		} else {
			c.value(join(n.path, name), unknownKey, "is not a member here; there are: %s", strings.Join(names, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		f := of[name]
		raw, given := n.get(name)
		switch {
		case !given && f.must:
			c.value(n.path+"."+name, wrongType, "is required")
		case !given:
		case f.holds != nil:
			c.hold(raw, n.path+"."+name, f.holds)
		case f.want != nil:
			f.want(c, n.path+"."+name, raw)
		}
	}
}

// join bounds how much of a caller's name is repeated.
func join(path, name string) string {
	if len(name) > 64 {
		name = strings.ToValidUTF8(name[:64], "") + "…"
	}
	return path + "." + name
}

func nameOf(raw json.RawMessage) string {
	switch {
	case len(raw) == 0 || raw[0] == 'n':
		return "null"
	case raw[0] == '{':
		return "an object"
	case raw[0] == '[':
		return "a list"
	case raw[0] == '"':
		return "text"
	case raw[0] == 't', raw[0] == 'f':
		return "a boolean"
	}
	return fmt.Sprintf("the number %.20s", raw)
}
