package mcpcore_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
)

type (
	nothing struct{}
	inner   struct {
		Tags  []string            `json:"tags"`
		By    map[string][]string `json:"by"`
		Again *inner              `json:"again,omitempty"`
	}
	page struct {
		Names []string `json:"names"`
	}
	lists struct {
		page
		Items  []inner           `json:"items"`
		Points []*inner          `json:"points"`
		Map    map[string]inner  `json:"map"`
		Nested [][]string        `json:"nested"`
		None   map[string]string `json:"none"`
		Raw    json.RawMessage   `json:"raw"`
		Bytes  []byte            `json:"bytes"`
		Left   []string          `json:"left,omitempty"`
		Null   *string           `json:"null"`
		Any    any               `json:"any"`
	}
)

// shows is a server with one tool that returns what it is told.
func shows[Out any](t *testing.T, make func() Out) *client {
	t.Helper()
	d := &desk{}
	deps := d.deps()
	deps.Tools = []mcpcore.Tool{mcpcore.Define(mcpcore.Tool{
		Name: "show", Doc: "Shows.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope,
	}, func(context.Context, *mcpcore.Call, nothing) (Out, error) { return make(), nil })}
	return connect(t, deps)
}

func TestL47NilListsAreEmptyLists(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		out  lists
		want string
	}{
		"everything nil": {lists{}, `{"names":[],"items":[],"points":[],"map":{},"nested":[],"none":{},"raw":null,"bytes":"","null":null,"any":null}`},
		"nil further down": {lists{
			Items: []inner{{Again: &inner{}}}, Points: []*inner{{}}, Map: map[string]inner{"a": {By: map[string][]string{"x": nil}}}, Nested: [][]string{nil},
			Raw: json.RawMessage(`[1]`), Bytes: []byte("ab"),
		}, `{"names":[],"items":[{"tags":[],"by":{},"again":{"tags":[],"by":{}}}],"points":[{"tags":[],"by":{}}],"map":{"a":{"tags":[],"by":{"x":[]}}},"nested":[[]],"none":{},"raw":[1],"bytes":"YWI=","null":null,"any":null}`},
	} {
		a := shows(t, func() lists { return row.out }).passed(t, "show", "")
		if a.text != row.want {
			t.Errorf("%s: %s\nwant %s", name, a.text, row.want)
		}
	}
}

const angles = `<@1> a && b <https://x/?a=1&b=2>`

type message struct {
	Content string `json:"content"`
}

type spoken struct {
	message
}

func (s spoken) Text() string { return "says " + s.Content }

func TestL49AnglesRoundTrip(t *testing.T) {
	t.Parallel()
	a := shows(t, func() message { return message{angles} }).passed(t, "show", "")
	if a.data["content"] != angles || a.text != `{"content":"`+angles+`"}` {
		t.Errorf("data %v, text %s", a.data, a.text)
	}
	a = shows(t, func() spoken { return spoken{message{angles}} }).passed(t, "show", "")
	if a.data["content"] != angles || a.text != "says "+angles {
		t.Errorf("data %v, text %s", a.data, a.text)
	}
	// And the way in: arguments, preview, refusal.
	d := &desk{}
	c := connect(t, d.deps())
	c.passed(t, "ticket_update", `{"guild_id":"700000000000000001","title":"`+angles+`"}`)
	if got, want := d.runs()[0], `ticket_update {"guild_id":"700000000000000001","title":"`+angles+`"}`; got != want {
		t.Errorf("the handler got %s, want %s", got, want)
	}
	p := c.refused(t, "notice_send", `{"guild_id":"700000000000000001","title":"`+angles+`"}`, mcpcore.CodePayloadRequired)
	if !strings.Contains(p.text, angles) || p.data["preview"].(map[string]any)["payload"].(map[string]any)["title"] != angles {
		t.Errorf("the preview is %s", p.text)
	}
}

func TestLongJSONIsNotRepeatedAsText(t *testing.T) {
	t.Parallel()
	a := shows(t, func() message { return message{strings.Repeat("x", mcpcore.MaxText)} }).passed(t, "show", "")
	if len(a.text) > 200 || len(a.data["content"].(string)) != mcpcore.MaxText {
		t.Errorf("text of %d bytes: %.100s", len(a.text), a.text)
	}
}

func TestDroppedArgumentsAreTold(t *testing.T) {
	t.Parallel()
	d := &desk{}
	a := connect(t, d.deps()).passed(t, "tickets_list", `{"limit":5,"querry":"x","toolCallId":"y"}`)
	if !strings.Contains(a.text, "Ignored, because this tool does not take it: querry.") {
		t.Errorf("the text is %s", a.text)
	}
	if got := d.runs()[0]; got != `tickets_list {"limit":5}` {
		t.Errorf("the handler got %s", got)
	}
}

// Handlers that make results themselves.
func TestRawResults(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		res *mcpcore.Result
		ok  bool
	}{
		"an object":       {&mcpcore.Result{Data: json.RawMessage(` {"content":"x"} `)}, true},
		"text and notes":  {&mcpcore.Result{Data: json.RawMessage(`{"content":"x"}`), Text: "x", Notes: []string{"a note"}}, true},
		"a list":          {&mcpcore.Result{Data: json.RawMessage(`[]`)}, false},
		"white space":     {&mcpcore.Result{Data: json.RawMessage(` `)}, false},
		"not JSON at all": {&mcpcore.Result{Data: json.RawMessage(`{"canary`)}, false},
		"nothing":         {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deps := new(desk).deps()
			deps.Tools = []mcpcore.Tool{mcpcore.New(mcpcore.Tool{Name: "show", Doc: "Shows.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope},
				typeOf[nothing](), typeOf[message](), func(context.Context, *mcpcore.Call) (*mcpcore.Result, error) { return row.res, nil })}
			c := connect(t, deps)
			if !row.ok {
				if a := c.refused(t, "show", "", mcpcore.CodeInternal); strings.Contains(a.everything(), "canary") {
					t.Errorf("%s", a.everything())
				}
				return
			}
			a := c.passed(t, "show", "")
			if a.data["content"] != "x" || row.res.Notes != nil && !strings.HasSuffix(a.text, "\n\nA note.") {
				t.Errorf("data %v, text %q", a.data, a.text)
			}
		})
	}
}

func TestViewOfWhatIsNoStruct(t *testing.T) {
	t.Parallel()
	list := []int{1}
	for _, out := range []any{nil, message{}, (*message)(nil), &list} {
		if res, err := mcpcore.View(out); err == nil {
			t.Errorf("%T became %s", out, res.Data)
		}
	}
	if res, err := mcpcore.View(&message{"x"}); err != nil || string(res.Data) != `{"content":"x"}` {
		t.Errorf("%v, %v", res, err)
	}
}

// What a person reads before a decision cannot be turned around by what it
// shows.
func TestPreviewShowsDirectionsAndControls(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	tool := d.delete()
	tool.Facts = func(context.Context, *mcpcore.Call) (mcpcore.Facts, error) {
		return mcpcore.Facts{{Name: "title", Value: "a\u202eb\nc\u2028d\u0085"}}, nil
	}
	deps.Tools[2] = tool
	a := connect(t, deps).refused(t, "ticket_delete", `{"ticket":7,"form":{"color":"a\u202eb\u2066"}}`, mcpcore.CodeDryRun)
	if strings.ContainsAny(a.text, "\u202e\u2066\u2028\u0085") || !strings.Contains(a.text, `"a\u202eb\nc\u2028d\u0085"`) || !strings.Contains(a.text, `a\u202eb\u2066`) {
		t.Errorf("the text is %q", a.text)
	}
}
