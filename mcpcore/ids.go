package mcpcore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/internal/schema"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// IDPath is a place in a tool's input where an identifier stands. The type of
// the field says so, at any depth: [discord.GuildID] and its kin.
type IDPath struct {
	// Path is dotted, * being any item of a list or any member of an open
	// object: permission_overwrites.*.id.
	Path string
	// Kind is what it names; "" where the type is a plain text whose pattern is
	// that of identifiers.
	Kind discord.Kind
}

// ID is an identifier in a call's arguments.
type ID struct {
	Path  string       `json:"path"` // without *: permission_overwrites.0.id
	Kind  discord.Kind `json:"kind,omitempty"`
	Value string       `json:"value"`
}

// IDs lists the places of identifiers in the tool's input, in its order. It is
// worked out once; the list is the caller's. Values without a schema, such as
// [json.RawMessage], are not looked into.
func (t *Tool) IDs() []IDPath {
	if t.impl == nil {
		return nil
	}
	all := make([]IDPath, len(t.impl.ids))
	for i, p := range t.impl.ids {
		all[i] = IDPath{strings.Join(p.steps, "."), p.kind}
	}
	return all
}

// IDs lists the identifiers in the frozen arguments. It is nil before
// [Call.Validate].
func (c *Call) IDs() []ID {
	if !c.guard.has(guardValidate) {
		return nil
	}
	return c.idsIn(c.args)
}

// idsIn are those in a copy of the arguments.
func (c *Call) idsIn(args any) (found []ID) {
	for _, p := range c.tool.impl.ids {
		found = p.find(found, args, 0, "")
	}
	return found
}

type idPath struct {
	steps []string
	kind  discord.Kind
}

// find appends the identifiers at the path below v. Null is none.
func (p idPath) find(found []ID, v any, step int, at string) []ID {
	if step == len(p.steps) {
		if s, ok := v.(string); ok {
			found = append(found, ID{Path: strings.TrimPrefix(at, "."), Kind: p.kind, Value: s})
		}
		return found
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			found = p.find(found, item, step+1, at+"."+strconv.Itoa(i))
		}
	case map[string]any:
		if name := p.steps[step]; name != anyMember {
			return p.find(found, v[name], step+1, at+"."+name)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) { // a person is shown them in this order, each time
			found = p.find(found, v[name], step+1, at+"."+name)
		}
	}
	return found
}

const anyMember = "*"

// idPaths lists the places of identifiers below s.
func idPaths(s *schema.Schema, steps []string) (paths []idPath, err error) {
	below := func(s *schema.Schema, step string) {
		if s == nil || err != nil {
			return
		}
		var more []idPath
		more, err = idPaths(s, append(slices.Clip(steps), step))
		paths = append(paths, more...)
	}
	if kind, ok := kindOf(s.Go); ok || s.ID {
		return []idPath{{steps, kind}}, nil
	}
	if s.Go != nil && s.Go.Kind() == reflect.Map {
		if _, ok := kindOf(s.Go.Key()); ok {
			return nil, fmt.Errorf("%s: the keys of an object cannot be ids, which nothing would guard; take a list of objects", strings.Join(steps, "."))
		}
	}
	for _, p := range s.Properties {
		below(p.Schema, p.Name)
	}
	below(s.Values, anyMember)
	below(s.Items, anyMember)
	return paths, err
}

func kindOf(t reflect.Type) (discord.Kind, bool) {
	if t == nil || t.Kind() != reflect.String {
		return "", false
	}
	id, ok := reflect.Zero(t).Interface().(discord.Identifier)
	if !ok {
		return "", false
	}
	return id.Kind(), true
}
