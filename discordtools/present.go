package discordtools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// maxData is how many bytes of JSON a view may have. Hosts refuse results above
// some 25,000 tokens, so a longer list is cut at an item and says so.
const maxData = 64 << 10

// present makes the result of a view, a pointer to a struct: fields that follow
// from others, then the text. A view with Text() speaks for itself; otherwise
// the text is the view as JSON, inside a fence where Discord users wrote some
// of it. Our own words stand behind the fence, and the view's fenced copies are
// left out of it, so that everything is said once.
func present(a *api, view any, kind fence.Kind) (*mcpcore.Result, error) {
	v := reflect.ValueOf(view).Elem()
	list, err := listOf(v)
	if err != nil {
		return nil, err
	}
	next := v.FieldByName("NextOffset")
	skipped := 0
	if next.IsValid() {
		skipped = skip(a.call, list)
	}
	res, err := render(a, view, list, skipped)
	if err != nil {
		return nil, err
	}
	said := follows(a.call, view)
	if len(res.Data) > maxData && cut(a.call, v, list) {
		if next.IsValid() {
			next.SetInt(int64(skipped + list.Len()))
		}
		if res, err = render(a, view, list, skipped); err != nil {
			return nil, err
		}
		said = fmt.Sprintf("Only %d of the list are shown, for its size: %s, or ask for less", list.Len(), goOn(a.call, cursors(a.call, view)))
	}
	if r, ok := view.(interface{ said() []string }); ok && (res.Text != "" || kind != "") {
		res.Notes = append(res.Notes, r.said()...)
	}
	if said != "" {
		res.Notes = append(res.Notes, said)
	}
	if res.Text != "" || kind == "" {
		return res, nil
	}
	text, err := unfenced(res.Data, v.Type())
	if err != nil {
		return nil, err
	}
	res.Text = fmt.Sprintf("The result has %d bytes and is in the structured content. Ask for less at once if you cannot see it.", len(res.Data))
	if len(text) <= mcpcore.MaxText {
		res.Text = fence.Text(kind, string(text))
	}
	return res, nil
}

// render works out what follows from a view's other fields and encodes it. The
// first items of its list, skipped, are not in it.
func render(a *api, view any, list reflect.Value, skipped int) (*mcpcore.Result, error) {
	if p, ok := view.(interface{ of(shown, limit int) }); ok && list.IsValid() {
		p.of(list.Len(), max(0, a.limit()-skipped))
	}
	if d, ok := view.(deriver); ok {
		d.derive(a.call)
	}
	return mcpcore.View(view)
}

var secretType = reflect.TypeFor[discord.WebhookToken]()

// unfenced is the view's JSON in declaration order, less its fenced copies, our
// own words and secrets.
func unfenced(data json.RawMessage, view reflect.Type) (json.RawMessage, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("read view: %w", err)
	}
	var rest object
	for _, f := range reflect.VisibleFields(view) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if raw, ok := whole[name]; ok && name != "warnings" && !strings.HasPrefix(name, "untrusted_") && f.Type != secretType {
			rest.set(name, raw)
		}
	}
	return rest.json(), nil
}

// remarks are words of ours to the agent, apart from what Discord's users wrote.
type remarks struct {
	Warnings []string `json:"warnings,omitempty" from:"@derived"`
}

func (r *remarks) said() []string { return r.Warnings }

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

// toldPage is a page of a reply that says itself whether more follow.
type toldPage struct {
	Count     int  `json:"count" from:"@derived"`
	HasMore   bool `json:"has_more"`
	Truncated bool `json:"truncated,omitempty" from:"@derived" jsonschema:"cut because of its size"`
}

func (p *toldPage) of(shown, _ int) { p.Count, p.HasMore = shown, p.HasMore || p.Truncated }

// limit is how many items the call asks for, 0 where Discord decides.
func (a *api) limit() int {
	if n, given := argument[int](a.call, "limit"); given {
		return n
	}
	for _, s := range a.plan.set {
		if s.Name == "limit" {
			n, _ := strconv.Atoi(s.Value(a.call))
			return n
		}
	}
	return 0
}

// offset is an argument of tools whose list Discord gives whole, without a
// cursor; part is the page that goes with it.
type offset struct {
	Offset int `json:"offset,omitempty" in:"local" jsonschema:"skip so many: next_offset of a list that was cut" minimum:"0"`
}

type part struct {
	page
	NextOffset int `json:"next_offset,omitempty" from:"@derived"`
}

// listOf is the view's list, the zero value when it has none that may be cut:
// such a view has a field Truncated.
func listOf(v reflect.Value) (reflect.Value, error) {
	p, err := newProjection(v.Type())
	if err != nil || !v.FieldByName("Truncated").IsValid() {
		return reflect.Value{}, err
	}
	return p.list(v), nil
}

func (p *projection) list(v reflect.Value) reflect.Value {
	for _, f := range p.fields {
		field := v.Field(f.index)
		switch {
		case f.embedded != nil:
			if inner := f.embedded.list(field); inner.IsValid() {
				return inner
			}
		case f.special != "derived" && f.special != "arg" && field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			return field
		}
	}
	return reflect.Value{}
}

// skip leaves out the items before the call's offset and says how many.
func skip(call *mcpcore.Call, list reflect.Value) int {
	n, given := argument[int](call, "offset")
	if !given || !list.IsValid() {
		return 0
	}
	n = min(n, list.Len())
	list.Set(list.Slice(n, list.Len()))
	return n
}

// anchored is a view that says which item of its list must stay when the list
// is cut, so that the next call goes on without a gap. Otherwise it is the first.
type anchored interface{ anchor(call *mcpcore.Call) int }

// cut shortens the view's list to what fits around its anchor and marks the
// view. It reports whether there was anything to cut.
func cut(call *mcpcore.Call, v, list reflect.Value) bool {
	if !list.IsValid() || list.Len() < 2 {
		return false
	}
	sizes := make([]int, list.Len())
	for i := range sizes {
		item, err := canon.Marshal(list.Index(i).Interface())
		if err != nil {
			return false
		}
		sizes[i] = len(item)
	}
	var at int
	if a, ok := v.Addr().Interface().(anchored); ok {
		at = a.anchor(call)
	}
	from, to := at, at+1 // what stays
	for size, up := sizes[at], false; to-from < len(sizes); up = !up {
		next := to
		if up && from > 0 || to == len(sizes) {
			next = from - 1
		}
		if size += sizes[next]; size > maxData/2 {
			list.Set(list.Slice(from, to))
			v.FieldByName("Truncated").SetBool(true)
			return true
		}
		from, to = min(from, next), max(to, next+1)
	}
	return false
}

// titled is the name that users gave something.
type titled[ID ~string] struct {
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

// fencedNames is a fenced copy of the names of a list.
func fencedNames[T any, ID ~string](kind fence.Kind, items []T, of func(T) titled[ID]) string {
	names := make([]titled[ID], len(items))
	for i, item := range items {
		names[i] = of(item)
	}
	return fencedJSON(kind, names)
}

// fencedJSON is a fenced copy of texts that Discord users wrote.
func fencedJSON(kind fence.Kind, v any) string {
	b, err := canon.Marshal(v)
	if err != nil {
		return ""
	}
	return fence.Text(kind, string(b))
}
