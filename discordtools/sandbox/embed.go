package sandbox

import (
	"cmp"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxEmbedText is what all embeds of a message may hold together.
const maxEmbedText = 6000

// Embed is a rich embed of a message.
//
// Source: https://docs.discord.com/developers/resources/message#embed-object.
type Embed struct {
	Kind        string       `json:"-"` // "" is rich
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	URL         string       `json:"url,omitempty"`
	Timestamp   time.Time    `json:"timestamp,omitzero"`
	Color       *int         `json:"color,omitempty"`
	Author      *EmbedAuthor `json:"author,omitempty"`
	Footer      *EmbedFooter `json:"footer,omitempty"`
	Image       *EmbedMedia  `json:"image,omitempty"`
	Thumbnail   *EmbedMedia  `json:"thumbnail,omitempty"`
	Fields      []EmbedField `json:"fields,omitempty"`
}

// EmbedAuthor is the line above an embed's title.
type EmbedAuthor struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
	Icon string `json:"icon_url,omitempty"`
}

// EmbedFooter is the line below an embed.
type EmbedFooter struct {
	Text string `json:"text"`
	Icon string `json:"icon_url,omitempty"`
}

// EmbedMedia is a picture in an embed.
type EmbedMedia struct {
	URL string `json:"url"`
}

// EmbedField is a heading with text.
type EmbedField struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline"`
}

type embedView struct {
	Type string `json:"type"`
	Embed
}

func viewEmbed(e Embed) embedView { return embedView{cmp.Or(e.Kind, "rich"), e} }

type embedForm struct {
	Title       opt[string]      `json:"title" maxLength:"256"`
	Description opt[string]      `json:"description" maxLength:"4096"`
	URL         opt[string]      `json:"url" format:"uri" maxLength:"2048"`
	Timestamp   opt[time.Time]   `json:"timestamp"`
	Color       opt[int]         `json:"color" minimum:"0" maximum:"16777215"`
	Author      opt[embedAuthor] `json:"author"`
	Footer      opt[embedFooter] `json:"footer"`
	Image       opt[embedMedia]  `json:"image"`
	Thumbnail   opt[embedMedia]  `json:"thumbnail"`
	Fields      opt[[]struct {
		Name   string    `json:"name" maxLength:"256"`
		Value  string    `json:"value" maxLength:"1024"`
		Inline opt[bool] `json:"inline"`
	}] `json:"fields" maxItems:"25"`
}

type embedAuthor struct {
	Name opt[string] `json:"name" maxLength:"256"`
	URL  opt[string] `json:"url" format:"uri" maxLength:"2048"`
	Icon opt[string] `json:"icon_url" format:"media" maxLength:"2048"`
}

type embedFooter struct {
	Text opt[string] `json:"text" maxLength:"2048"`
	Icon opt[string] `json:"icon_url" format:"media" maxLength:"2048"`
}

type embedMedia struct {
	URL opt[string] `json:"url" format:"media" maxLength:"2048"`
}

// embeds reads the embeds of a message.
func embeds(list []embedForm) ([]Embed, error) {
	var f form
	out := make([]Embed, len(list))
	total := 0
	for i, from := range list {
		path := "embeds." + strconv.Itoa(i)
		e := Embed{
			Title: from.Title.value, Description: from.Description.value, URL: from.URL.value, Timestamp: from.Timestamp.value,
			Image: from.Image.value.view(), Thumbnail: from.Thumbnail.value.view(),
		}
		if from.Color.has() {
			e.Color = &from.Color.value
		}
		if a := from.Author.value; a.Name.value != "" {
			e.Author = &EmbedAuthor{a.Name.value, a.URL.value, a.Icon.value}
			total += utf8.RuneCountInString(a.Name.value)
		}
		if t := from.Footer.value; t.Text.value != "" {
			e.Footer = &EmbedFooter{t.Text.value, t.Icon.value}
			total += utf8.RuneCountInString(t.Text.value)
		}
		for j, field := range from.Fields.value {
			at := path + ".fields." + strconv.Itoa(j)
			if field.Name == "" {
				f.add(at+".name", "BASE_TYPE_REQUIRED", "This field is required")
			}
			if field.Value == "" {
				f.add(at+".value", "BASE_TYPE_REQUIRED", "This field is required")
			}
			e.Fields = append(e.Fields, EmbedField{field.Name, field.Value, field.Inline.value})
			total += utf8.RuneCountInString(field.Name + field.Value)
		}
		if e.empty() {
			f.add(path+".description", "BASE_TYPE_REQUIRED", "This field is required")
		}
		total += utf8.RuneCountInString(e.Title + e.Description)
		out[i] = e
	}
	if total > maxEmbedText {
		f.add("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of %d", maxEmbedText)
	}
	return out, f.err()
}

func (m embedMedia) view() *EmbedMedia {
	if m.URL.value == "" {
		return nil
	}
	return &EmbedMedia{m.URL.value}
}

func (e *Embed) empty() bool {
	return e.Title == "" && e.Description == "" && e.Author == nil && e.Footer == nil && e.Image == nil &&
		e.Thumbnail == nil && len(e.Fields) == 0
}
