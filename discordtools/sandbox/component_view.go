package sandbox

import (
	"encoding/json"
	"path"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// MarshalJSON writes the component as Discord answers it.
func (c Component) MarshalJSON() ([]byte, error) {
	head := componentHead{c.Type, c.ID}
	switch c.Type {
	case actionRow:
		return json.Marshal(struct {
			componentHead
			Components []Component `json:"components"`
		}{head, list(c.Components)})
	case button:
		return json.Marshal(struct {
			componentHead
			CustomID string        `json:"custom_id,omitempty"`
			Style    int           `json:"style"`
			Label    string        `json:"label,omitempty"`
			Disabled bool          `json:"disabled,omitempty"`
			Emoji    *emojiRefView `json:"emoji,omitempty"`
			URL      string        `json:"url,omitempty"`
			SKU      discord.SKUID `json:"sku_id,omitempty"`
		}{head, c.CustomID, c.Style, c.Label, c.Disabled, pointEmoji(c.Emoji), c.URL, c.SKU})
	case section:
		return json.Marshal(struct {
			componentHead
			Components []Component `json:"components"`
			Accessory  *Component  `json:"accessory"`
		}{head, list(c.Components), c.Accessory})
	case textDisplay:
		return json.Marshal(struct {
			componentHead
			Content string `json:"content"`
		}{head, c.Content})
	case thumbnail:
		m := c.Media[0]
		return json.Marshal(struct {
			componentHead
			mediaItem
		}{head, mediaItem{unfurl(m), textOrNull(m.Description), m.Spoiler}})
	case mediaGallery:
		return json.Marshal(struct {
			componentHead
			Items []mediaItem `json:"items"`
		}{head, mapped(c.Media, func(m Media) mediaItem { return mediaItem{unfurl(m), textOrNull(m.Description), m.Spoiler} })})
	case fileComponent:
		return json.Marshal(struct {
			componentHead
			File    unfurled `json:"file"`
			Name    string   `json:"name"`
			Size    *int     `json:"size"`
			Spoiler bool     `json:"spoiler"`
		}{head, unfurl(c.Media[0]), path.Base(c.Media[0].URL), nil, c.Spoiler})
	case separator:
		return json.Marshal(struct {
			componentHead
			Spacing int  `json:"spacing"`
			Divider bool `json:"divider"`
		}{head, c.Spacing, c.Divider})
	case container:
		return json.Marshal(struct {
			componentHead
			Color      *int        `json:"accent_color"`
			Components []Component `json:"components"`
			Spoiler    bool        `json:"spoiler"`
		}{head, c.Color, list(c.Components), c.Spoiler})
	}
	return json.Marshal(struct {
		componentHead
		CustomID    string          `json:"custom_id"`
		Placeholder string          `json:"placeholder,omitempty"`
		Min         int             `json:"min_values"`
		Max         int             `json:"max_values"`
		Disabled    bool            `json:"disabled,omitempty"`
		Options     *[]optionView   `json:"options,omitempty"`
		Defaults    []SelectDefault `json:"default_values,omitempty"`
		Channels    []int           `json:"channel_types,omitempty"`
	}{head, c.CustomID, c.Placeholder, c.Min, c.Max, c.Disabled, c.options(), c.Defaults, c.Channels})
}

type componentHead struct {
	Type int `json:"type"`
	ID   int `json:"id"`
}

type mediaItem struct {
	Media       unfurled `json:"media"`
	Description *string  `json:"description"`
	Spoiler     bool     `json:"spoiler"`
}

type optionView struct {
	Label       string        `json:"label"`
	Value       string        `json:"value"`
	Description string        `json:"description,omitempty"`
	Emoji       *emojiRefView `json:"emoji,omitempty"`
	Default     bool          `json:"default,omitempty"`
}

// options are the choices of a string select; other selects have none.
func (c Component) options() *[]optionView {
	if c.Type != stringSelect {
		return nil
	}
	all := mapped(c.Options, func(o SelectOption) optionView {
		return optionView{o.Label, o.Value, o.Description, pointEmoji(o.Emoji), o.Default}
	})
	return &all
}

func pointEmoji(e *EmojiRef) *emojiRefView {
	if e == nil {
		return nil
	}
	v := viewEmojiRef(*e)
	return &v
}
