package components

import (
	"encoding/json"
	"fmt"
	"strings"
)

// rule is how a separator is drawn.
var rule = strings.Repeat("-", 40)

// Text draws a layout of any shape as plain text, one level two spaces further
// in than the one above. It draws what it can read and checks nothing.
func Text(layout []json.RawMessage) string {
	var d drawing
	d.list(layout, 0)
	return strings.TrimSuffix(d.String(), "\n")
}

type drawing struct{ strings.Builder }

func (d *drawing) line(depth int, format string, with ...any) {
	for l := range strings.SplitSeq(fmt.Sprintf(format, with...), "\n") {
		d.WriteString(strings.TrimRight(strings.Repeat("  ", depth)+l, " ") + "\n")
	}
}

func (d *drawing) list(all []json.RawMessage, depth int) {
	for _, raw := range all {
		if n, ok := read(raw, ""); ok {
			d.component(n, depth)
		} else {
			d.line(depth, "[not a component]")
		}
	}
}

func (d *drawing) component(n node, depth int) {
	switch k := n.kind(); k {
	case TextDisplay:
		d.line(depth, "%s", n.text("content"))
	case Separator:
		d.line(depth, "%s", rule)
	case Button:
		d.line(depth, "%s", button(n))
	case Thumbnail:
		media, _ := n.child("media")
		d.line(depth, "[thumbnail] %s", described(media.text("url"), n))
	case MediaGallery:
		d.line(depth, "[media gallery: %s]", counted(len(n.list("items")), "item"))
		for _, raw := range n.list("items") {
			item, _ := read(raw, "")
			media, _ := item.child("media")
			d.line(depth+1, "%s", described(media.text("url"), item))
		}
	case File:
		file, _ := n.child("file")
		d.line(depth, "[file] %s", described(file.text("url"), n))
	case ActionRow, Section, Container:
		d.line(depth, "[%s%s]", kinds[k].name, look(n))
		d.list(n.list("components"), depth+1)
		if a, ok := n.child("accessory"); ok {
			d.component(a, depth+1)
		}
	default:
		known, ok := kinds[k]
		switch {
		case !ok:
			d.line(depth, "[unknown type %.20s]", n.members["type"])
		case known.modal:
			d.line(depth, "[%s, for modals alone]", known.name)
		default:
			d.line(depth, "%s", choice(n, known))
		}
	}
}

// look is how a container looks.
func look(n node) string {
	s := ""
	if color := n.whole("accent_color", -1); color >= 0 {
		s = fmt.Sprintf(" #%06X", color)
	}
	if n.yes("spoiler") {
		s += " spoiler"
	}
	return s
}

func button(n node) string {
	face := n.text("label")
	if e, ok := n.child("emoji"); ok {
		name := e.text("name")
		if name == "" {
			name = e.text("id")
		}
		face = strings.TrimSpace(name + " " + face)
	}
	s := "[" + face + "]"
	switch n.whole("style", 0) {
	case 5:
		s += " -> " + n.text("url")
	case 6:
		s = "[product " + n.text("sku_id") + "]"
	default:
		s += " (" + n.text("custom_id") + ")"
	}
	return s + disabled(n)
}

func choice(n node, k kind) string {
	s := fmt.Sprintf("[%s] (%s)", k.name, n.text("custom_id"))
	if p := n.text("placeholder"); p != "" {
		s += " " + p
	}
	if n.kind() == StringSelect {
		s += ": " + counted(len(n.list("options")), "option")
	}
	return s + disabled(n)
}

func disabled(n node) string {
	if n.yes("disabled") {
		return " disabled"
	}
	return ""
}

func described(address string, n node) string {
	if d := n.text("description"); d != "" {
		address += " (" + d + ")"
	}
	if n.yes("spoiler") {
		address += " spoiler"
	}
	return address
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
