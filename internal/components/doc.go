// Package components knows the layouts of Discord's Components V2: what may
// stand where and how much of it, what there is to see of a layout without its
// texts, how one looks, and a few ready ones. It is pure: a layout goes in as
// the JSON that will be sent, and nothing is read or changed.
//
// Source: https://docs.discord.com/developers/components/reference.
package components

import (
	"encoding/json"
	"strconv"
)

// Types of components.
const (
	ActionRow         = 1
	Button            = 2
	StringSelect      = 3
	TextInput         = 4
	UserSelect        = 5
	RoleSelect        = 6
	MentionableSelect = 7
	ChannelSelect     = 8
	Section           = 9
	TextDisplay       = 10
	Thumbnail         = 11
	MediaGallery      = 12
	File              = 13
	Separator         = 14
	Container         = 17
	Label             = 18
	FileUpload        = 19
	RadioGroup        = 21
	CheckboxGroup     = 22
	Checkbox          = 23
)

// Flag is the message flag IS_COMPONENTS_V2. A message that has it keeps it.
const Flag = 1 << 15

// Limits of one message.
const (
	MaxNodes = 40   // components, nested ones and accessories counted
	MaxText  = 4000 // characters of all text displays together
)

// node is one object of a layout.
type node struct {
	path    string // dotted, from the layout's own
	members map[string]json.RawMessage
}

// get is a member that is there and not null.
func (n node) get(name string) (json.RawMessage, bool) {
	raw, ok := n.members[name]
	return raw, ok && string(raw) != "null"
}

func (n node) has(name string) bool { _, ok := n.get(name); return ok }

// text is a member that is text, or "".
func (n node) text(name string) (s string) {
	if raw, ok := n.get(name); ok {
		_ = json.Unmarshal(raw, &s) // what is no text is for Check to tell
	}
	return s
}

// whole is a member that is a whole number, or without.
func (n node) whole(name string, without int) int {
	raw, ok := n.get(name)
	if i, err := strconv.Atoi(string(raw)); ok && err == nil {
		return i
	}
	return without
}

func (n node) yes(name string) bool { return string(n.members[name]) == "true" }

// kind is the component's type, 0 for none.
func (n node) kind() int { return n.whole("type", 0) }

// list is a member that is a list.
func (n node) list(name string) (all []json.RawMessage) {
	if raw, ok := n.get(name); ok {
		_ = json.Unmarshal(raw, &all)
	}
	return all
}

// child is a member that is an object.
func (n node) child(name string) (node, bool) {
	raw, ok := n.get(name)
	if !ok {
		return node{}, false
	}
	return read(raw, n.path+"."+name)
}

// read takes an object apart.
func read(raw json.RawMessage, path string) (node, bool) {
	n := node{path: path}
	return n, json.Unmarshal(raw, &n.members) == nil && n.members != nil
}

// walk visits every object that stands where a component may, an accessory
// before its section's components.
func walk(list []json.RawMessage, path string, visit func(node)) {
	for i, raw := range list {
		n, ok := read(raw, path+"."+strconv.Itoa(i))
		if !ok {
			continue
		}
		visit(n)
		if a, ok := n.child("accessory"); ok {
			visit(a)
		}
		walk(n.list("components"), n.path+".components", visit)
	}
}
