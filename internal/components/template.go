package components

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/guildwarden/guildwarden/internal/canon"
)

// Template is a ready layout with places for texts, written {{name}}.
type Template struct {
	Name string
	Vars []string // the names of its places, in order
	text string
}

// Templates are the layouts that are ready.
func Templates() []Template {
	all := make([]Template, 0, len(templates))
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		all = append(all, Named(name))
	}
	return all
}

// Named is one of the layouts that are ready; one without text and places where
// there is none of the name.
func Named(name string) Template {
	t := Template{Name: name, text: templates[name]}
	for _, m := range place.FindAllStringSubmatch(t.text, -1) {
		if !slices.Contains(t.Vars, m[1]) {
			t.Vars = append(t.Vars, m[1])
		}
	}
	return t
}

var place = regexp.MustCompile(`\{\{(\w+)\}\}`)

// Fill is the layout with the given texts in their places. A place of which
// there is no text stays as written; a text is never searched for places.
func (t Template) Fill(vars map[string]string) []json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader([]byte(t.text)))
	dec.UseNumber()
	var layout []any
	if err := dec.Decode(&layout); err != nil {
		panic("components: the template " + t.Name + " is not JSON: " + err.Error()) // cannot be: all are tested
	}
	filled := make([]json.RawMessage, len(layout))
	for i, c := range layout {
		filled[i] = canon.Append(nil, fill(c, vars))
	}
	return filled
}

func fill(v any, vars map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = fill(inner, vars)
		}
	case []any:
		for i, inner := range v {
			v[i] = fill(inner, vars)
		}
	case string:
		return place.ReplaceAllStringFunc(v, func(p string) string {
			if text, ok := vars[p[2:len(p)-2]]; ok {
				return text
			}
			return p
		})
	}
	return v
}

// templates by name. Their own texts are English.
var templates = map[string]string{
	"announcement": `[{"type":17,"accent_color":5793266,"components":[
		{"type":10,"content":"# {{title}}"},
		{"type":10,"content":"{{body}}"},
		{"type":14},
		{"type":1,"components":[{"type":2,"style":5,"label":"{{cta_label}}","url":"{{cta_url}}"}]}]}]`,

	"incident_status": `[{"type":17,"accent_color":16711680,"components":[
		{"type":10,"content":"# {{status_emoji}} {{title}}"},
		{"type":10,"content":"{{summary}}"},
		{"type":14},
		{"type":1,"components":[
			{"type":2,"style":1,"label":"Acknowledge","custom_id":"{{ack_custom_id}}"},
			{"type":2,"style":3,"label":"Resolve","custom_id":"{{resolve_custom_id}}"}]}]}]`,

	"poll_results": `[{"type":17,"accent_color":16776960,"components":[
		{"type":10,"content":"# {{question}}"},
		{"type":10,"content":"{{bars_text}}"},
		{"type":14},
		{"type":10,"content":"**Winner:** {{winner}}"}]}]`,

	"release_notes": `[{"type":17,"accent_color":65280,"components":[
		{"type":10,"content":"# {{version}}"},
		{"type":10,"content":"{{headline}}"},
		{"type":14},
		{"type":10,"content":"{{changelog}}"},
		{"type":1,"components":[{"type":2,"style":5,"label":"Download","url":"{{download_url}}"}]}]}]`,

	"welcome_card": `[{"type":17,"accent_color":16711935,"components":[
		{"type":9,"components":[
			{"type":10,"content":"# Welcome, {{username}}!"},
			{"type":10,"content":"Please read <#{{rules_channel_id}}> first."}],
			"accessory":{"type":11,"media":{"url":"{{avatar_url}}"}}},
		{"type":1,"components":[{"type":2,"style":3,"label":"Become a member","custom_id":"welcome_claim_{{role_id_member}}"}]}]}]`,
}
