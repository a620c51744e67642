package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Types of components, as Discord numbers them.
//
// Source: https://docs.discord.com/developers/components/reference.
const (
	actionRow    = 1
	button       = 2
	stringSelect = 3
	section      = 9
	textDisplay  = 10
	thumbnail    = 11
	mediaGallery = 12
	fileShown    = 13
	separator    = 14
	container    = 17
)

// message is a message as it will look. Nothing of it is ever fetched.
type message struct {
	Text  []block // its content; nil in a message of components
	Parts []part
	Files []string
}

// part is a component as it is drawn.
type part struct {
	Kind      string // row, button, select, section, text, thumbnail, gallery, file, separator, container or unknown
	Parts     []part
	Accessory *part
	Text      []block

	Label    string // on a button or a select, or what a medium is described as
	Style    string // of a button: primary, secondary, success, danger, link or premium
	Hint     string // what pressing it does, or where a medium is
	Options  []string
	Colour   string // #rrggbb of a container; "" for none
	Disabled bool
	Spoiler  bool
	Line     bool // of a separator that is drawn
	Wide     bool
}

// component is one as it is sent.
type component struct {
	Type        int         `json:"type"`
	Components  []component `json:"components"`
	Accessory   *component  `json:"accessory"`
	Content     string      `json:"content"`
	Label       string      `json:"label"`
	Style       int         `json:"style"`
	Emoji       *emoji      `json:"emoji"`
	CustomID    string      `json:"custom_id"`
	URL         string      `json:"url"`
	SKU         string      `json:"sku_id"`
	Placeholder string      `json:"placeholder"`
	Options     []option    `json:"options"`
	Disabled    bool        `json:"disabled"`
	Spoiler     bool        `json:"spoiler"`
	Description string      `json:"description"`
	Media       medium      `json:"media"`
	Items       []component `json:"items"` // of a gallery: media, description and spoiler
	File        medium      `json:"file"`
	Accent      *int        `json:"accent_color"`
	Divider     *bool       `json:"divider"`
	Spacing     int         `json:"spacing"`
}

type emoji struct {
	Name string `json:"name"`
}

type option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

type medium struct {
	URL string `json:"url"`
}

const maxDepth = 8

// drawn is the message that a call sends; nil when it sends none, or one of a
// shape that cannot be drawn.
func drawn(payload json.RawMessage) *message {
	var sent struct {
		Content    *string     `json:"content"`
		Components []component `json:"components"`
		Files      []struct {
			Name string `json:"name"`
		} `json:"files"`
	}
	if json.Unmarshal(payload, &sent) != nil || sent.Content == nil && sent.Components == nil {
		return nil
	}
	m := &message{}
	if sent.Content != nil && *sent.Content != "" {
		m.Text = markdown(*sent.Content)
	}
	for _, c := range sent.Components {
		m.Parts = append(m.Parts, c.draw(0))
	}
	for _, f := range sent.Files {
		m.Files = append(m.Files, f.Name)
	}
	return m
}

func (c component) draw(depth int) part {
	if depth > maxDepth {
		return part{Kind: "unknown", Label: "something nested too deep to be drawn"}
	}
	p := part{Disabled: c.Disabled, Spoiler: c.Spoiler}
	for _, inner := range c.Components {
		p.Parts = append(p.Parts, inner.draw(depth+1))
	}
	if c.Accessory != nil {
		a := c.Accessory.draw(depth + 1)
		p.Accessory = &a
	}
	switch c.Type {
	case actionRow:
		p.Kind = "row"
	case button:
		p.Kind = "button"
		p.face(c)
	case stringSelect, 5, 6, 7, 8:
		p.Kind, p.Label, p.Hint = "select", c.Placeholder, "answers to "+c.CustomID
		for _, o := range c.Options {
			p.Options = append(p.Options, strings.TrimSuffix(o.Label+" · "+o.Description, " · "))
		}
		if p.Label == "" {
			p.Label = map[int]string{stringSelect: "Choose", 5: "Choose users", 6: "Choose roles", 7: "Choose users or roles", 8: "Choose channels"}[c.Type]
		}
	case section:
		p.Kind = "section"
	case textDisplay:
		p.Kind, p.Text = "text", markdown(c.Content)
	case thumbnail:
		p.Kind, p.Label, p.Hint = "thumbnail", c.Description, mediumAt(c.Media.URL)
	case mediaGallery:
		p.Kind = "gallery"
		for _, item := range c.Items {
			p.Parts = append(p.Parts, part{Kind: "thumbnail", Label: item.Description, Hint: mediumAt(item.Media.URL), Spoiler: item.Spoiler})
		}
	case fileShown:
		p.Kind, p.Hint = "file", mediumAt(c.File.URL)
	case separator:
		p.Kind, p.Line, p.Wide = "separator", c.Divider == nil || *c.Divider, c.Spacing == 2
	case container:
		p.Kind = "container"
		if c.Accent != nil && *c.Accent >= 0 && *c.Accent <= 0xFFFFFF {
			p.Colour = fmt.Sprintf("#%06x", *c.Accent)
		}
	default:
		p.Kind, p.Label = "unknown", fmt.Sprintf("a component of type %d, which cannot be drawn", c.Type)
	}
	return p
}

// face is how a button looks.
func (p *part) face(c component) {
	p.Label, p.Hint = c.Label, "answers to "+c.CustomID
	if c.Emoji != nil {
		p.Label = strings.TrimSpace(c.Emoji.Name + " " + p.Label)
	}
	switch c.Style {
	case 1:
		p.Style = "primary"
	case 3:
		p.Style = "success"
	case 4:
		p.Style = "danger"
	case 5:
		p.Style, p.Hint = "link", "leads to "+c.URL
	case 6:
		p.Style, p.Hint = "premium", "sells "+c.SKU
		p.Label = "a product"
	default:
		p.Style = "secondary"
	}
}

// mediumAt is where a medium is, in short: the host comes first.
func mediumAt(raw string) string {
	if name, ok := strings.CutPrefix(raw, "attachment://"); ok {
		return "attached: " + name
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return u.Host + u.EscapedPath()
}
