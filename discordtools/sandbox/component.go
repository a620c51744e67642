package sandbox

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Types of components.
//
// Source: https://docs.discord.com/developers/components/reference.
const (
	actionRow         = 1
	button            = 2
	stringSelect      = 3
	userSelect        = 5
	roleSelect        = 6
	mentionableSelect = 7
	channelSelect     = 8
	section           = 9
	textDisplay       = 10
	thumbnail         = 11
	mediaGallery      = 12
	fileComponent     = 13
	separator         = 14
	container         = 17
)

// Component is a part of a message's layout; which fields count depends on its
// Type.
type Component struct {
	Type, ID    int
	Components  []Component // of rows, sections and containers
	Accessory   *Component  // of a section
	Content     string      // of a text display
	CustomID    string
	Label       string
	Placeholder string
	URL         string // of a link button
	Style       int
	Disabled    bool
	Emoji       *EmojiRef
	SKU         discord.SKUID
	Min, Max    int // values of a select
	Options     []SelectOption
	Defaults    []SelectDefault
	Channels    []int // types that a channel select offers
	Media       []Media
	Color       *int // of a container
	Spoiler     bool
	Divider     bool
	Spacing     int
}

// SelectOption is a choice of a string select.
type SelectOption struct {
	Label, Value, Description string
	Emoji                     *EmojiRef
	Default                   bool
}

// SelectDefault is what a select has chosen at first: Type user, role, channel.
type SelectDefault struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

type componentForm struct {
	Type        int                  `json:"type"`
	ID          opt[int]             `json:"id" minimum:"0"`
	Components  opt[[]componentForm] `json:"components"`
	Accessory   opt[*componentForm]  `json:"accessory"`
	Content     opt[string]          `json:"content" minLength:"1" maxLength:"4000"`
	CustomID    opt[string]          `json:"custom_id" minLength:"1" maxLength:"100"`
	Label       opt[string]          `json:"label" maxLength:"80"`
	Placeholder opt[string]          `json:"placeholder" maxLength:"150"`
	URL         opt[string]          `json:"url" format:"link" maxLength:"512"`
	Style       opt[int]             `json:"style" enum:"1,2,3,4,5,6"`
	Disabled    opt[bool]            `json:"disabled"`
	Emoji       opt[emojiForm]       `json:"emoji"`
	SKU         opt[discord.SKUID]   `json:"sku_id"`
	Min         opt[int]             `json:"min_values" minimum:"0" maximum:"25"`
	Max         opt[int]             `json:"max_values" minimum:"1" maximum:"25"`
	Options     opt[[]optionForm]    `json:"options" minItems:"1" maxItems:"25"`
	Channels    opt[[]int]           `json:"channel_types"`
	Defaults    opt[[]struct {
		ID   discord.OverwriteID `json:"id"`
		Type string              `json:"type"`
	}] `json:"default_values" maxItems:"25"`
	Items       opt[[]mediaForm] `json:"items" minItems:"1" maxItems:"10"`
	Media       opt[mediaURL]    `json:"media"`
	File        opt[mediaURL]    `json:"file"`
	Description opt[string]      `json:"description" maxLength:"1024"`
	Color       opt[int]         `json:"accent_color" minimum:"0" maximum:"16777215"`
	Spoiler     opt[bool]        `json:"spoiler"`
	Divider     opt[bool]        `json:"divider"`
	Spacing     opt[int]         `json:"spacing" enum:"1,2"`
}

type optionForm struct {
	Label       string         `json:"label" minLength:"1" maxLength:"100"`
	Value       string         `json:"value" minLength:"1" maxLength:"100"`
	Description opt[string]    `json:"description" maxLength:"100"`
	Emoji       opt[emojiForm] `json:"emoji"`
	Default     opt[bool]      `json:"default"`
}

type mediaForm struct {
	Media       mediaURL    `json:"media"`
	Description opt[string] `json:"description" maxLength:"1024"`
	Spoiler     opt[bool]   `json:"spoiler"`
}

type mediaURL struct {
	URL string `json:"url" format:"media" maxLength:"2048"`
}

// Limits of a layout.
const (
	maxNodes       = 40
	maxLegacyRows  = 5
	maxDisplayText = 4000
)

// layout reads the components of one message.
type layout struct {
	form   form
	x      *exchange
	m      *Message
	v2     bool
	nodes  int
	text   int
	custom map[string]bool
	ids    map[int]bool // that the caller chose
	used   map[int]bool
	next   int
}

// components reads and checks the layout of m, whose flags say whether it is a
// Components V2 message: those carry nothing but components and files.
func (x *exchange) components(list []componentForm, m *Message) ([]Component, error) {
	l := layout{x: x, m: m, v2: m.Flags&flagComponentsV2 != 0, custom: map[string]bool{}, ids: map[int]bool{}, used: map[int]bool{}}
	if l.v2 {
		l.exclusive()
	}
	l.claim(list)
	out := l.list("components", list, l.top())
	if !l.v2 && len(list) > maxLegacyRows {
		l.form.add("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and %d in length.", maxLegacyRows)
	}
	if l.nodes > maxNodes {
		l.form.add("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "The maximum number of components (%d) has been exceeded.", maxNodes)
	}
	if l.text > maxDisplayText {
		l.form.add("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", "Components displayable text size exceeds maximum size of %d", maxDisplayText)
	}
	return out, l.form.err()
}

// exclusive notes what a Components V2 message may not carry.
func (l *layout) exclusive() {
	m := l.m
	for _, legacy := range []struct {
		name string
		used bool
	}{
		{"content", m.Content != ""}, {"embeds", len(m.Embeds) > 0}, {"poll", m.Poll != nil}, {"sticker_ids", len(m.Stickers) > 0},
	} {
		if legacy.used {
			l.form.add(legacy.name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
				"The '%s' field cannot be used when using MessageFlags.IS_COMPONENTS_V2", legacy.name)
		}
	}
}

// claim notes the ids that the caller chose; the rest are counted around them.
func (l *layout) claim(list []componentForm) {
	for _, c := range list {
		if c.ID.value > 0 {
			l.ids[c.ID.value] = true
		}
		l.claim(c.Components.value)
		if c.Accessory.has() {
			l.claim([]componentForm{*c.Accessory.value})
		}
	}
}

func (l *layout) top() []int {
	if l.v2 {
		return []int{actionRow, section, textDisplay, mediaGallery, fileComponent, separator, container}
	}
	return []int{actionRow}
}

func (l *layout) list(path string, list []componentForm, allowed []int) []Component {
	out := make([]Component, 0, len(list))
	for i, f := range list {
		out = append(out, l.one(path+"."+strconv.Itoa(i), f, allowed))
	}
	return out
}

func (l *layout) one(path string, f componentForm, allowed []int) Component {
	l.nodes++
	c := Component{
		Type: f.Type, ID: f.ID.value, Content: f.Content.value, CustomID: f.CustomID.value, Label: f.Label.value,
		Placeholder: f.Placeholder.value, URL: f.URL.value, Style: f.Style.value, Disabled: f.Disabled.value, SKU: f.SKU.value,
		Min: f.Min.or(1), Max: f.Max.or(1), Channels: f.Channels.value, Color: f.Color.pointer(), Spoiler: f.Spoiler.value,
		Divider: f.Divider.or(true), Spacing: f.Spacing.or(1),
	}
	if c.ID == 0 {
		for l.next++; l.ids[l.next]; l.next++ {
		}
		c.ID = l.next
	}
	l.need(path+".id", !l.used[c.ID], "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated")
	l.used[c.ID] = true
	if !slices.Contains(allowed, f.Type) {
		l.form.add(path+".type", "BASE_TYPE_CHOICES", "Value must be one of {%s}.", strings.Join(mapped(allowed, strconv.Itoa), ", "))
		return c
	}
	switch f.Type {
	case actionRow:
		l.row(path, f, &c)
	case button:
		l.button(path, f, &c)
	case stringSelect, userSelect, roleSelect, mentionableSelect, channelSelect:
		l.choose(path, f, &c)
	case section:
		l.need(path+".components", len(f.Components.value) >= 1 && len(f.Components.value) <= 3, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 3 in length.")
		c.Components = l.list(path+".components", f.Components.value, []int{textDisplay})
		if l.need(path+".accessory", f.Accessory.has(), "BASE_TYPE_REQUIRED", "This field is required"); f.Accessory.has() {
			a := l.one(path+".accessory", *f.Accessory.value, []int{button, thumbnail})
			c.Accessory = &a
		}
	case textDisplay:
		l.need(path+".content", f.Content.has(), "BASE_TYPE_REQUIRED", "This field is required")
		l.text += utf8.RuneCountInString(c.Content)
	case thumbnail:
		l.need(path+".media", f.Media.has(), "BASE_TYPE_REQUIRED", "This field is required")
		c.Media = []Media{l.medium(path+".media", f.Media.value.URL, f.Description, f.Spoiler)}
	case fileComponent:
		l.need(path+".file.url", strings.HasPrefix(f.File.value.URL, ownFile), "URL_TYPE_INVALID_SCHEME", "Scheme must be one of ('attachment').")
		c.Media = []Media{l.media(path+".file", f.File.value.URL)}
	case mediaGallery:
		l.need(path+".items", f.Items.has(), "BASE_TYPE_REQUIRED", "This field is required")
		for i, m := range f.Items.value {
			c.Media = append(c.Media, l.medium(path+".items."+strconv.Itoa(i)+".media", m.Media.URL, m.Description, m.Spoiler))
		}
	case container:
		l.need(path+".components", len(f.Components.value) >= 1, "BASE_TYPE_REQUIRED", "This field is required")
		c.Components = l.list(path+".components", f.Components.value, []int{actionRow, section, textDisplay, mediaGallery, fileComponent, separator})
	}
	return c
}

// row holds up to five buttons or exactly one select.
func (l *layout) row(path string, f componentForm, c *Component) {
	inner := f.Components.value
	l.need(path+".components", len(inner) >= 1 && len(inner) <= 5, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	allowed := []int{button, stringSelect, userSelect, roleSelect, mentionableSelect, channelSelect}
	if len(inner) > 1 {
		allowed = []int{button}
	}
	c.Components = l.list(path+".components", inner, allowed)
}

func (l *layout) button(path string, f componentForm, c *Component) {
	c.Emoji = l.emoji(path, f.Emoji)
	switch c.Style {
	case 0:
		l.need(path+".style", false, "BASE_TYPE_REQUIRED", "This field is required")
	case 5:
		l.need(path+".url", c.URL != "", "BASE_TYPE_REQUIRED", "This field is required")
		l.need(path+".custom_id", c.CustomID == "", "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
	case 6:
		l.need(path+".sku_id", c.SKU != "", "BASE_TYPE_REQUIRED", "This field is required")
		l.need(path, c.Label == "" && c.Emoji == nil && c.CustomID == "" && c.URL == "", "BUTTON_COMPONENT_PREMIUM_FIELDS", "A premium button cannot have a label, an emoji, a custom id or a url")
	default:
		l.unique(path, c.CustomID)
		l.need(path+".url", c.URL == "", "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
	}
	if c.Style != 6 {
		l.need(path, c.Label != "" || c.Emoji != nil, "BUTTON_COMPONENT_MISSING_LABEL_OR_EMOJI", "A button must have a label or emoji")
	}
}

func (l *layout) choose(path string, f componentForm, c *Component) {
	l.unique(path, c.CustomID)
	l.need(path+".max_values", c.Max >= c.Min, "SELECT_COMPONENT_MIN_VALUES_TOO_HIGH", "min_values must not exceed max_values")
	if f.Type == stringSelect {
		l.need(path+".options", f.Options.has(), "BASE_TYPE_REQUIRED", "This field is required")
	}
	seen := map[string]bool{}
	for i, o := range f.Options.value {
		at := path + ".options." + strconv.Itoa(i)
		l.need(at+".value", !seen[o.Value], "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
		seen[o.Value] = true
		c.Options = append(c.Options, SelectOption{o.Label, o.Value, o.Description.value, l.emoji(at, o.Emoji), o.Default.value})
	}
	for _, d := range f.Defaults.value {
		c.Defaults = append(c.Defaults, SelectDefault{string(d.ID), d.Type})
	}
}

func (l *layout) unique(path, custom string) {
	l.need(path+".custom_id", custom != "", "BASE_TYPE_REQUIRED", "This field is required")
	l.need(path+".custom_id", custom == "" || !l.custom[custom], "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	l.custom[custom] = true
}

func (l *layout) emoji(path string, e opt[emojiForm]) *EmojiRef {
	if !e.has() {
		return nil
	}
	ref, err := l.x.emoji(e.value.ID.value, e.value.Name.value)
	if err != nil {
		l.form.add(path+".emoji.name", "BUTTON_COMPONENT_INVALID_EMOJI", "Invalid emoji")
	}
	return &ref
}

func (l *layout) need(path string, holds bool, code, message string) {
	if !holds {
		l.form.add(path, code, message)
	}
}

// walk visits a layout, accessories included.
func walk(list []Component, visit func(*Component)) {
	for i := range list {
		visit(&list[i])
		walk(list[i].Components, visit)
		if a := list[i].Accessory; a != nil {
			visit(a)
		}
	}
}
