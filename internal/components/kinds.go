package components

// kind is what a type of component is.
type kind struct {
	name    string
	modal   bool   // it stands in modals, not in messages
	members fields // beside type and id
	rule    func(c *checker, n node)
}

// slot is a place for components.
type slot struct {
	name  string // for people
	takes []int
	one   bool // it holds one, not a list
	least int
	most  int // 0 where the message's own limit is the only one
}

var (
	inMessage   = &slot{name: "a message", takes: []int{ActionRow, Section, TextDisplay, MediaGallery, File, Separator, Container}, least: 1}
	inContainer = &slot{name: "a container", takes: []int{ActionRow, Section, TextDisplay, MediaGallery, File, Separator}, least: 1}
	inRow       = &slot{name: "an action row", takes: []int{Button, StringSelect, UserSelect, RoleSelect, MentionableSelect, ChannelSelect}, least: 1}
	inSection   = &slot{name: "a section", takes: []int{TextDisplay}, least: 1, most: 3}
	asAccessory = &slot{name: "an accessory", takes: []int{Thumbnail, Button}, one: true}
)

// kinds are the types that Discord publishes.
var kinds = map[int]kind{
	ActionRow: {name: "action row", members: fields{"components": {holds: inRow, must: true}}, rule: rowRule},
	Button: {name: "button", rule: buttonRule, members: fields{
		"style": {want: whole(1, 6), must: true}, "label": {want: text(0, 80)}, "emoji": {want: emoji}, "disabled": {want: flag},
		"custom_id": {want: text(1, 100)}, "url": {want: address(512, "http", "https", "discord")}, "sku_id": {want: snowflake},
	}},
	StringSelect: {name: "string select", rule: selectRule, members: choosing(fields{
		"options": {want: list(1, 25, shape(fields{
			"label": {want: text(1, 100), must: true}, "value": {want: text(1, 100), must: true},
			"description": {want: text(0, 100)}, "emoji": {want: emoji}, "default": {want: flag},
		})), must: true},
	})},
	UserSelect:        {name: "user select", rule: selectRule, members: choosing(preset("user"))},
	RoleSelect:        {name: "role select", rule: selectRule, members: choosing(preset("role"))},
	MentionableSelect: {name: "mentionable select", rule: selectRule, members: choosing(preset("user", "role"))},
	ChannelSelect: {name: "channel select", rule: selectRule, members: choosing(preset("channel"), fields{
		"channel_types": {want: list(0, 100, whole(0, 16))},
	})},
	Section: {name: "section", rule: sectionRule, members: fields{
		"components": {holds: inSection, must: true}, "accessory": {holds: asAccessory},
	}},
	TextDisplay: {name: "text display", rule: textRule, members: fields{"content": {want: text(1, MaxText), must: true}}},
	Thumbnail: {name: "thumbnail", members: fields{
		"media": {want: media, must: true}, "description": {want: text(1, 1024)}, "spoiler": {want: flag},
	}},
	MediaGallery: {name: "media gallery", rule: galleryRule, members: fields{
		"items": {want: list(0, 0, shape(fields{
			"media": {want: media, must: true}, "description": {want: text(1, 1024)}, "spoiler": {want: flag},
		})), must: true},
	}},
	File: {name: "file", members: fields{
		"file": {want: attached, must: true}, "spoiler": {want: flag}, "name": told, "size": told,
	}},
	Separator: {name: "separator", members: fields{"divider": {want: flag}, "spacing": {want: whole(1, 2)}}},
	Container: {name: "container", members: fields{
		"components": {holds: inContainer, must: true}, "accent_color": {want: whole(0, 0xFFFFFF)}, "spoiler": {want: flag},
	}},

	TextInput:     {name: "text input", modal: true},
	Label:         {name: "label", modal: true},
	FileUpload:    {name: "file upload", modal: true},
	RadioGroup:    {name: "radio group", modal: true},
	CheckboxGroup: {name: "checkbox group", modal: true},
	Checkbox:      {name: "checkbox", modal: true},
}

// told is a member that Discord answers with and ignores when it is sent back.
var told = field{}

// choosing are the members of every select, and more.
func choosing(more ...fields) fields {
	all := fields{
		"custom_id": {want: text(1, 100), must: true}, "placeholder": {want: text(0, 150)}, "disabled": {want: flag}, "required": {want: flag},
		"min_values": {want: whole(0, 25)}, "max_values": {want: whole(1, 25)},
	}
	for _, m := range more {
		for name, f := range m {
			all[name] = f
		}
	}
	return all
}

// preset are the values that a select of the given things has chosen at first.
func preset(of ...string) fields {
	return fields{"default_values": {want: list(0, 25, shape(fields{
		"id": {want: snowflake, must: true}, "type": {want: oneOf(of...), must: true},
	}))}}
}
