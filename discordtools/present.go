package discordtools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// maxData is how many bytes of JSON a view may have. Hosts refuse results above
// some 25,000 tokens, so a longer list is cut at an item and says so.
const maxData = 64 << 10

// present makes the result of a view, a pointer to a struct: fields that follow
// from others, then the text. A view with Text() speaks for itself; otherwise
// the text is the view as JSON, inside a fence where Discord users wrote some
// of it. The view's own fenced copies are left out there, so that everything is
// said once.
func present(call *mcpcore.Call, view any, kind fence.Kind) (*mcpcore.Result, error) {
	res, err := render(call, view)
	if err != nil {
		return nil, err
	}
	if len(res.Data) > maxData && cut(reflect.ValueOf(view).Elem()) {
		if res, err = render(call, view); err != nil {
			return nil, err
		}
	}
	if res.Text != "" || kind == "" {
		return res, nil
	}
	text, err := withoutFenced(res.Data, reflect.TypeOf(view).Elem())
	if err != nil {
		return nil, err
	}
	if len(text) > mcpcore.MaxText {
		text = fmt.Appendf(nil, "%d bytes, in the structured content; ask for less at once if you cannot see it", len(text))
	}
	res.Text = fence.Text(kind, string(text))
	return res, nil
}

func render(call *mcpcore.Call, view any) (*mcpcore.Result, error) {
	if d, ok := view.(deriver); ok {
		d.derive(call)
	}
	return mcpcore.View(view)
}

// withoutFenced is the view's JSON in declaration order, less its fenced copies.
func withoutFenced(data json.RawMessage, view reflect.Type) (json.RawMessage, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("read view: %w", err)
	}
	var rest object
	for _, f := range reflect.VisibleFields(view) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if raw, ok := whole[name]; ok && !strings.HasPrefix(name, "untrusted_") {
			rest.set(name, raw)
		}
	}
	return rest.json(), nil
}

// page is part of every view that is one list: what a caller must know to read
// on.
type page struct {
	Count     int  `json:"count" from:"@derived"`
	HasMore   bool `json:"has_more,omitempty" from:"@derived" jsonschema:"more follow"`
	Truncated bool `json:"truncated,omitempty" from:"@derived" jsonschema:"cut because of its size"`
}

// of counts the items shown. A full page has more behind it; so has a cut one.
func (p *page) of(shown, limit int) {
	p.Count = shown
	p.HasMore = p.Truncated || limit > 0 && shown >= limit
}

// cut shortens the view's list to what fits and marks its page. It reports
// whether there was anything to cut.
func cut(v reflect.Value) bool {
	p, err := newProjection(v.Type())
	if err != nil {
		return false
	}
	mark := v.FieldByName("Truncated")
	for _, f := range p.fields {
		if f.special != "reply" && f.special != "list" || v.Field(f.index).Kind() != reflect.Slice || !mark.IsValid() {
			continue
		}
		list := v.Field(f.index)
		keep, size := 0, 0
		for ; keep < list.Len(); keep++ {
			item, err := canon.Marshal(list.Index(keep).Interface())
			if err != nil {
				return false
			}
			if size += len(item); size > maxData/2 && keep > 0 {
				break
			}
		}
		if keep == list.Len() {
			return false
		}
		list.SetLen(keep)
		mark.SetBool(true)
		return true
	}
	return false
}

// limitOf is the call's limit, or what the tool takes when it gives none.
func limitOf(call *mcpcore.Call, otherwise int) int {
	raw, ok := call.Arg("limit")
	if !ok {
		return otherwise
	}
	n := otherwise
	_ = json.Unmarshal(raw, &n) // validated as a whole number
	return n
}

// fencedJSON is a fenced copy of texts that Discord users wrote.
func fencedJSON(kind fence.Kind, v any) string {
	b, err := canon.Marshal(v)
	if err != nil {
		return ""
	}
	return fence.Text(kind, string(b))
}
