package discordtools

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// onward is where to go on in a list that Discord sorts by id.
type onward[ID ~string] struct {
	NextAfter  ID `json:"next_after,omitempty" from:"@derived"`
	NextBefore ID `json:"next_before,omitempty" from:"@derived"`
}

// lead sets the cursors of a page that shows the items from first to last. It
// goes on towards greater ids, with before towards smaller ones, and where it was
// cut on both sides. A list with the greatest id first goes the other way.
func (o *onward[ID]) lead(call *mcpcore.Call, p page, first, last ID) {
	back := call.Has("before")
	if discord.CompareIDs(last, first) < 0 {
		first, last, back = last, first, !call.Has("after")
	}
	if p.HasMore && back {
		o.NextBefore = first
	}
	if p.HasMore && (!back || p.Truncated) {
		o.NextAfter = last
	}
}

// cursor is an argument with which a next call goes on where a page ended.
type cursor struct{ arg, value string }

// leading is a view whose cursors are not in fields that say which argument
// they are for.
type leading interface {
	cursors(call *mcpcore.Call) []cursor
}

// cursors are how to go on from the page that a view shows: towards either
// side, where there are two. nil where nothing leads on.
func cursors(call *mcpcore.Call, view any) []cursor {
	if l, ok := view.(leading); ok {
		return l.cursors(call)
	}
	v := reflect.ValueOf(view).Elem()
	var found []cursor
	for _, way := range [...]struct{ field, arg string }{{"NextBefore", "before"}, {"NextAfter", "after"}, {"NextOffset", "offset"}} {
		f := v.FieldByName(way.field)
		if !f.IsValid() || f.IsZero() || way.arg == "offset" && found != nil {
			continue
		}
		if f = reflect.Indirect(f); f.Kind() == reflect.String {
			found = append(found, cursor{way.arg, fmt.Sprintf("%q", f.String())})
		} else {
			found = append(found, cursor{way.arg, fmt.Sprint(f.Int())})
		}
	}
	return found
}

// ends are the cursors of a page of history that shows what is between two
// ids: back, or on where the call looked on, or both where it looked around.
func ends[ID ~string](call *mcpcore.Call, oldest, newest ID) []cursor {
	back, on := cursor{"before", fmt.Sprintf("%q", oldest)}, cursor{"after", fmt.Sprintf("%q", newest)}
	switch {
	case oldest == "":
		return nil
	case call.Has("around"):
		return []cursor{back, on}
	case call.Has("after"):
		return []cursor{on}
	}
	return []cursor{back}
}

// goOn says in words how the next call reads on: a host may show a model the
// text alone.
func goOn(call *mcpcore.Call, found []cursor) string {
	ways := make([]string, len(found))
	for i, c := range found {
		ways[i] = c.arg + " " + c.value
	}
	switch {
	case found != nil:
		return "go on with " + strings.Join(ways, " or ")
	case call.Tool().Takes("limit"):
		return "ask with a greater limit, or for something narrower"
	}
	return "ask for something narrower"
}

// follows says that more follow behind the page that a view shows, and how to
// read on; "" when the page is the last.
func follows(call *mcpcore.Call, view any) string {
	v := reflect.ValueOf(view).Elem()
	more, offset := v.FieldByName("HasMore"), v.FieldByName("NextOffset")
	switch known := v.FieldByName("toldPage").IsValid(); {
	case offset.IsValid() && offset.Int() > 0, known && more.Bool():
		return "More follow: " + goOn(call, cursors(call, view))
	case more.IsValid() && more.Bool(): // a full page may be the last
		return "There may be more: " + goOn(call, cursors(call, view))
	}
	return ""
}
