package components

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/internal/args"
)

// Issue is one thing that Discord would refuse in a layout.
type Issue struct {
	Path    string `json:"path"` // dotted, such as components.0.custom_id
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"fix_hint,omitempty"`
}

// Check finds what Discord would refuse in the layout of a message, all at once
// up to a limit: types that do not exist first, then values, then structure.
// path is where the layout stands. sent says whether the message brings a file of
// the name; nil takes any name.
func Check(path string, layout []json.RawMessage, sent func(file string) bool) []Issue {
	c := newChecker(sent)
	if len(layout) == 0 {
		c.value(path, tooSmall, "must have at least 1 item")
	}
	for i, raw := range layout {
		c.component(raw, path+"."+strconv.Itoa(i), inMessage)
	}
	nodes := 0
	walk(layout, path, func(node) { nodes++ })
	if nodes > MaxNodes {
		c.broken(path, "OVER_40", fmt.Sprintf("has %d components, nested ones and accessories counted; a message holds at most %d", nodes, MaxNodes),
			"Join neighbouring text displays, or send two messages.")
	}
	if c.text > MaxText {
		c.broken(path, "TEXT_OVER_4000", fmt.Sprintf("has %d characters in its text displays; a message holds at most %d", c.text, MaxText),
			"Shorten the texts, or send two messages.")
	}
	return c.all()
}

// CheckAccessory finds what Discord would refuse in the accessory of a section.
func CheckAccessory(path string, accessory json.RawMessage) []Issue {
	c := newChecker(nil)
	c.hold(accessory, path, asAccessory)
	return c.all()
}

// CheckMedia finds what Discord would refuse in the address of a picture or
// video.
func CheckMedia(path, address string) []Issue {
	c := newChecker(nil)
	picture(c, path, address)
	return c.all()
}

// checker walks through a layout and notes what is wrong.
type checker struct {
	kinds                     map[int]kind // which hold lists of each other
	sent                      func(file string) bool
	unknown, values, breaches []Issue
	customs                   map[string]bool
	ids                       map[int]bool
	text                      int
}

func newChecker(sent func(file string) bool) *checker {
	return &checker{kinds: kinds, sent: sent, customs: map[string]bool{}, ids: map[int]bool{}}
}

func (c *checker) all() []Issue {
	all := slices.Concat(c.unknown, c.values, c.breaches)
	return all[:min(len(all), args.MaxIssues)]
}

// value notes a value that is not what its member takes.
func (c *checker) value(path, code, message string, with ...any) {
	c.values = append(c.values, Issue{Path: path, Code: code, Message: fmt.Sprintf(message, with...)})
}

// broken notes a breach of a rule of structure.
func (c *checker) broken(path, code, message, hint string) {
	c.breaches = append(c.breaches, Issue{path, code, message, hint})
}

// file notes a name of which no file is sent along.
func (c *checker) file(path, name string) {
	switch {
	case name == "":
		c.value(path, wrongFormat, "must name the file behind %s", attachment)
	case c.sent != nil && !c.sent(name):
		c.broken(path, "FILE_NOT_SENT", "no file of this name is sent along", "Add it to files under the same name.")
	}
}

// hold checks what stands in a slot.
func (c *checker) hold(raw json.RawMessage, path string, in *slot) {
	if in.one {
		c.component(raw, path, in)
		return
	}
	all, ok := c.items(raw, path)
	if !ok {
		return
	}
	c.count(path, len(all), in.least, in.most)
	for i, item := range all {
		c.component(item, path+"."+strconv.Itoa(i), in)
	}
}

// component checks one component where it stands.
func (c *checker) component(raw json.RawMessage, path string, in *slot) {
	n, ok := c.object(raw, path)
	if !ok {
		return
	}
	given, ok := n.get("type")
	if !ok {
		c.value(path+".type", wrongType, "is required")
		return
	}
	if !digits.Match(given) {
		c.value(path+".type", wrongType, "must be a whole number, this is %s", nameOf(given))
		return
	}
	k, ok := c.kinds[n.kind()]
	switch {
	case !ok:
		c.unknown = append(c.unknown, Issue{path + ".type", "UNKNOWN_TYPE", fmt.Sprintf("there is no component of type %.20s", given), c.known()})
		return
	case k.modal:
		c.broken(path+".type", "MODAL_ONLY", fmt.Sprintf("a %s (type %d) stands in a modal, not in a message", k.name, n.kind()),
			"Ask with a button or a select here, and open a modal when it is used.")
		return
	case !slices.Contains(in.takes, n.kind()):
		c.misplaced(n, k, in)
	}
	c.identify(n)
	of := fields{"type": told, "id": {want: whole(0, 1<<31-1)}}
	maps.Copy(of, k.members)
	c.members(n, of)
	if k.rule != nil {
		k.rule(c, n)
	}
}

// misplaced notes a component that may not stand where it does.
func (c *checker) misplaced(n node, k kind, in *slot) {
	switch {
	case in == asAccessory:
		c.broken(n.path, "INVALID_ACCESSORY", "the accessory of a section is a thumbnail or a button, this is a "+k.name, "")
	case n.kind() == Container && in == inContainer:
		c.broken(n.path, "CONTAINER_IN_CONTAINER", "a container holds no container", "Put its components beside the others, or the container at the top.")
	case n.kind() == Thumbnail:
		c.broken(n.path, "THUMBNAIL_STANDALONE", "a thumbnail stands as the accessory of a section alone", "Show a picture by itself with a media gallery.")
	default:
		names := make([]string, len(in.takes))
		for i, t := range in.takes {
			names[i] = fmt.Sprintf("%s (%d)", c.kinds[t].name, t)
		}
		c.broken(n.path, "MISPLACED", fmt.Sprintf("a %s does not stand in %s", k.name, in.name), "There may stand: "+strings.Join(names, ", ")+".")
	}
}

// identify notes ids that stand twice in the message.
func (c *checker) identify(n node) {
	if custom := n.text("custom_id"); custom != "" {
		if c.customs[custom] {
			c.broken(n.path+".custom_id", "DUPLICATE_CUSTOM_ID", "this custom_id stands twice in the message", "Give each button and select its own.")
		}
		c.customs[custom] = true
	}
	if id := n.whole("id", 0); id > 0 {
		if c.ids[id] {
			c.broken(n.path+".id", "DUPLICATE_ID", "this id stands twice in the message", "Leave id out: Discord numbers the components.")
		}
		c.ids[id] = true
	}
}

// known lists the types that a message takes.
func (c *checker) known() string {
	var names []string
	for _, t := range slices.Sorted(maps.Keys(c.kinds)) {
		if !c.kinds[t].modal {
			names = append(names, fmt.Sprintf("%d %s", t, c.kinds[t].name))
		}
	}
	return "There are: " + strings.Join(names, ", ") + "."
}

func rowRule(c *checker, n node) {
	inside := n.list("components")
	if len(inside) > 5 {
		c.broken(n.path, "ACTIONROW_OVER_5", fmt.Sprintf("an action row holds at most 5 buttons, this has %d components", len(inside)), "Begin another action row.")
	}
	for _, raw := range inside {
		if one, ok := read(raw, ""); ok && len(inside) > 1 && slices.Contains(selects, one.kind()) {
			c.broken(n.path, "SELECT_NOT_ALONE", "a select fills its action row", "Give each select an action row of its own.")
			return
		}
	}
}

var selects = []int{StringSelect, UserSelect, RoleSelect, MentionableSelect, ChannelSelect}

// buttonRule: a button is pressed (styles 1 to 4), leads to an address (5), or
// sells (6), and has what that needs and nothing else.
func buttonRule(c *checker, n node) {
	style := n.whole("style", 0)
	needs := map[int]string{5: "url", 6: "sku_id"}[style]
	switch {
	case style < 1 || style > 6:
		return // it was told
	case needs == "":
		needs = "custom_id"
	}
	if style != 6 && !n.has("custom_id") && !n.has("url") {
		c.broken(n.path, "BUTTON_NO_ID_OR_URL", fmt.Sprintf("a button of style %d needs %s", style, needs), "")
	} else if !n.has(needs) {
		c.value(n.path+"."+needs, wrongType, "is required with style %d", style)
	}
	for _, other := range []string{"custom_id", "url", "sku_id"} {
		if other != needs && n.has(other) {
			c.value(n.path+"."+other, wrongValue, "does not go with style %d", style)
		}
	}
	for _, face := range []string{"label", "emoji"} {
		if style == 6 && n.has(face) {
			c.value(n.path+"."+face, wrongValue, "does not go with style 6; Discord shows the product's own")
		}
	}
	if style != 6 && n.text("label") == "" && !n.has("emoji") {
		c.broken(n.path, "BUTTON_NO_LABEL_OR_EMOJI", "a button needs a label or an emoji", "")
	}
}

func selectRule(c *checker, n node) {
	least, most := n.whole("min_values", 1), n.whole("max_values", 1)
	if least > most {
		c.broken(n.path+".min_values", "SELECT_RANGE", fmt.Sprintf("min_values %d is above max_values %d", least, most), "max_values is 1 when left out.")
	}
	chosen := n.list("default_values")
	if len(chosen) > 0 && (len(chosen) < least || len(chosen) > most) {
		c.broken(n.path+".default_values", "SELECT_RANGE", fmt.Sprintf("%d default values are outside min_values %d to max_values %d", len(chosen), least, most), "")
	}
	values, defaults := map[string]bool{}, 0
	for i, raw := range n.list("options") {
		o, ok := read(raw, n.path+".options."+strconv.Itoa(i))
		if !ok {
			continue
		}
		if v := o.text("value"); v != "" {
			if values[v] {
				c.broken(o.path+".value", "DUPLICATE_OPTION", "this value stands twice in the select", "Give each option its own value.")
			}
			values[v] = true
		}
		if o.yes("default") {
			defaults++
		}
	}
	if defaults > most {
		c.broken(n.path+".options", "SELECT_RANGE", fmt.Sprintf("%d options are chosen at first, max_values is %d", defaults, most), "")
	}
}

func sectionRule(c *checker, n node) {
	if !n.has("accessory") {
		c.broken(n.path, "SECTION_NO_ACCESSORY", "a section has an accessory: a thumbnail or a button", "Add one, or use text displays without a section.")
	}
}

func galleryRule(c *checker, n node) {
	raw, ok := n.get("items")
	var items []json.RawMessage
	if !ok || json.Unmarshal(raw, &items) != nil {
		return // it was told
	}
	if len(items) < 1 || len(items) > 10 {
		c.broken(n.path+".items", "GALLERY_RANGE", fmt.Sprintf("a media gallery shows 1 to 10 items, this has %d", len(items)), "")
	}
}

func textRule(c *checker, n node) { c.text += utf8.RuneCountInString(n.text("content")) }
