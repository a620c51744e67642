package discordtools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/components"
	"github.com/guildwarden/guildwarden/mcpcore"
)

type layoutContainer struct {
	Components []layoutPart `json:"components" jsonschema:"what it holds: action rows, sections, texts, galleries, files, separators" minItems:"1" maxItems:"40"`
	Color      *int         `json:"accent_color,omitempty" jsonschema:"0xRRGGBB as a number, of the bar at its side; null for none" minimum:"0" maximum:"16777215"`
	Spoiler    bool         `json:"spoiler,omitempty" jsonschema:"hidden until it is clicked"`
}

// layoutMade is a component to put into a layout.
type layoutMade struct {
	Component json.RawMessage `json:"component" from:"@derived"`
}

func buildContainer(_ context.Context, a *api, _ layoutContainer) (layoutMade, error) {
	return made(components.Container, a.given("components", "accent_color", "spoiler")...), nil
}

// made is a component of the type with the given members.
func made(kind int, members ...member) layoutMade {
	c := object{{"type", fmt.Append(nil, kind)}}
	return layoutMade{append(c, members...).json()}
}

// given are the call's arguments of the names, as the caller wrote them.
func (a *api) given(names ...string) (all []member) {
	for _, name := range names {
		if raw, ok := a.call.Arg(name); ok {
			all = append(all, member{name, raw})
		}
	}
	return all
}

type layoutSection struct {
	Text      []string   `json:"text" jsonschema:"texts in Discord's Markdown, one below the other" minItems:"1" maxItems:"3" minLength:"1" maxLength:"4000"`
	Accessory layoutPart `json:"accessory" jsonschema:"beside them: a thumbnail {type 11, media {url}} or a button {type 2, style, label, custom_id or url}"`
}

func buildSection(_ context.Context, a *api, in layoutSection) (layoutMade, error) {
	texts := []byte{'['}
	for i, t := range in.Text {
		if i > 0 {
			texts = append(texts, ',')
		}
		texts = append(texts, made(components.TextDisplay, member{"content", canon.AppendString(nil, t)}).Component...)
	}
	return made(components.Section, append([]member{{"components", append(texts, ']')}}, a.given("accessory")...)...), nil
}

// accessoryRule refuses what Discord would refuse beside a section.
var accessoryRule = mcpcore.Rule{All: func(call *mcpcore.Call) []mcpcore.Issue {
	raw, _ := call.Arg("accessory")
	return layoutIssues(components.CheckAccessory("accessory", raw))
}}

type layoutGallery struct {
	Items []galleryItem `json:"items" jsonschema:"pictures and videos" minItems:"1" maxItems:"10"`
}

type galleryItem struct {
	URL         string `json:"url" jsonschema:"http or https address, or attachment://name of a file sent along" minLength:"1" maxLength:"2048"`
	Description string `json:"description,omitempty" jsonschema:"alt text" maxLength:"1024"`
	Spoiler     bool   `json:"spoiler,omitempty" jsonschema:"hidden until it is clicked"`
}

// galleryMedium is a galleryItem as Discord takes it.
type galleryMedium struct {
	Media       mediaSource `json:"media"`
	Description string      `json:"description,omitempty"`
	Spoiler     bool        `json:"spoiler,omitempty"`
}

type mediaSource struct {
	URL string `json:"url"`
}

func buildGallery(_ context.Context, _ *api, in layoutGallery) (layoutMade, error) {
	items := make([]galleryMedium, len(in.Items))
	for i, item := range in.Items {
		items[i] = galleryMedium{mediaSource{item.URL}, item.Description, item.Spoiler}
	}
	raw, err := canon.Marshal(items)
	if err != nil {
		return layoutMade{}, fmt.Errorf("encode gallery: %w", err)
	}
	return made(components.MediaGallery, member{"items", raw}), nil
}

// galleryRule refuses addresses that Discord shows nothing of.
var galleryRule = mcpcore.Rule{All: func(call *mcpcore.Call) (all []mcpcore.Issue) {
	items, _ := argument[[]galleryItem](call, "items")
	for i, item := range items {
		all = append(all, layoutIssues(components.CheckMedia(fmt.Sprintf("items.%d.url", i), item.URL))...)
	}
	return all
}}

// layoutDraft is a layout that may be anything.
type layoutDraft struct {
	Components []json.RawMessage `json:"components" jsonschema:"the layout of a message"`
}

type layoutDrawn struct {
	ASCII string `json:"ascii" from:"@derived"`
}

// Text is the drawing.
func (v *layoutDrawn) Text() string { return v.ASCII }

func drawLayout(_ context.Context, _ *api, in layoutDraft) (layoutDrawn, error) {
	return layoutDrawn{components.Text(in.Components)}, nil
}

type layoutChecked struct {
	Valid  bool               `json:"valid" from:"@derived"`
	Issues []components.Issue `json:"issues" from:"@derived"`
}

func checkLayout(_ context.Context, _ *api, in layoutDraft) (layoutChecked, error) {
	issues := components.Check("components", in.Components, nil)
	return layoutChecked{len(issues) == 0, issues}, nil
}
