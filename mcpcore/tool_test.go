package mcpcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
)

type ruled struct {
	Content string   `json:"content,omitempty"`
	Files   []string `json:"files,omitempty"`
	Poll    *string  `json:"poll,omitempty"`
	Reply   string   `json:"reply,omitempty"`
	Fail    bool     `json:"fail,omitempty"`
	Small   int8     `json:"small,omitempty"`
	Ratio   float32  `json:"ratio,omitempty"`
}

func (d *desk) ruled() mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: "say", Doc: "Says\n\t\tsomething.", Effect: mcpcore.Write, Scope: mcpcore.LocalScope,
		Rules: []mcpcore.Rule{
			mcpcore.AnyOf("content", "files", "poll"), mcpcore.Exclusive("files", "poll"), mcpcore.Requires("fail", "reply"),
		},
	}, runs[ruled](d))
}

func TestRules(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	deps.Tools = []mcpcore.Tool{d.ruled()}
	c := connect(t, deps)
	const any = "give at least one of content, files, poll"
	for _, row := range []struct {
		args   string
		issues map[string]string // nil passes
	}{
		{`{"content":"x"}`, nil},
		{`{"files":["x"]}`, nil},
		{`{"poll":null}`, nil},
		{`{"content":"x","fail":true,"reply":"y"}`, nil},
		{`{"content":"x","files":["a"],"reply":"y"}`, nil},
		{`{}`, map[string]string{"": any}},
		{`{"content":"","files":[]}`, map[string]string{"": any}},
		{`{"files":["a"],"poll":"b"}`, map[string]string{"poll": "excludes files; give one of them"}},
		{`{"content":"x","fail":true}`, map[string]string{"reply": "is required when fail is given"}},
		{`{"files":[],"poll":"b","fail":false}`, map[string]string{"poll": "excludes files; give one of them", "reply": "is required when fail is given"}},
		{`{"small":1000}`, map[string]string{"small": "must be at most 127"}}, // the schema first
	} {
		if row.issues == nil {
			c.passed(t, "say", row.args)
			continue
		}
		a := c.refused(t, "say", row.args, mcpcore.CodeValidation)
		got := a.issues()
		if len(got) != len(row.issues) {
			t.Errorf("%s: %v, want %v", row.args, got, row.issues)
		}
		for path, message := range row.issues {
			if got[path] != message || !strings.Contains(a.text, message[1:]) { // its first letter may be upper case
				t.Errorf("%s: %q is %q, want %q\n%s", row.args, path, got[path], message, a.text)
			}
		}
	}
	want := "Says something. Give at least one of content, files, poll. Give at most one of files, poll. fail needs reply."
	if got := c.tools["say"].Description; got != want {
		t.Errorf("the description is %q, want %q", got, want)
	}
}

// What the schema lets through and the Go type cannot hold is still the
// caller's to mend.
func TestValueThatTheTypeCannotHold(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	deps.Tools = []mcpcore.Tool{d.ruled()}
	c := connect(t, deps)
	a := c.refused(t, "say", `{"content":"x","ratio":1e99}`, mcpcore.CodeValidation)
	if _, ok := a.issues()["ratio"]; !ok {
		t.Errorf("the issues are %v", a.issues())
	}
}

func TestAllIssuesReachTheAgent(t *testing.T) {
	t.Parallel()
	c := connect(t, new(desk).deps())
	a := c.refused(t, "ticket_update", `{"guild_id":5,"title":"","tags":["x"],"titel":"canary"}`, mcpcore.CodeValidation)
	want := map[string]string{
		"guild_id": "must be text: write the id in quotes, numbers above 2^53 lose digits",
		"title":    "must have at least 1 characters, this has 0",
		"tags.0":   "must be an id: 17 to 20 digits",
		"titel":    `is not an argument here; did you mean "title"?`,
	}
	got := a.issues()
	if len(got) != len(want) || len(a.data["issues"].([]any)) != len(want) {
		t.Errorf("the issues are %v", a.data["issues"])
	}
	for path, message := range want {
		if got[path] != message || !strings.Contains(a.text, "- "+path+": "+message+"\n") {
			t.Errorf("%s is %q in\n%s", path, got[path], a.text)
		}
	}
	if strings.Contains(a.everything(), "canary") {
		t.Errorf("a value of the caller is repeated: %s", a.everything())
	}
	var members []string
	for i := range 500 {
		members = append(members, `"unknown_`+strings.Repeat("x", i%7)+string(rune('a'+i%26))+string(rune('a'+i/26))+`":1`)
	}
	if n := len(c.refused(t, "ticket_update", `{`+strings.Join(members, ",")+`}`, mcpcore.CodeValidation).issues()); n > 100 || n < 50 {
		t.Errorf("%d issues are told", n)
	}
}

func TestCallTellsWhatItIs(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	deps.Tools = []mcpcore.Tool{mcpcore.Define(d.update(), func(ctx context.Context, c *mcpcore.Call, in ticketUpdate) (done, error) {
		tag, has := c.Arg("tags")
		_, none := c.Arg("form")
		args := c.Args()
		clear(args) // a copy
		for name, ok := range map[string]bool{
			"id": c.ID() != "", "tool": c.Tool().Name == "ticket_update", "principal": c.Principal() == "stdio", "transport": c.Transport() == "stdio",
			"has": c.Has("title") && !c.Has("form"), "text": c.Text("title") == "x" && c.Text("tags") == "" && c.Text("form") == "",
			"arg": has && !none && string(tag) == `["700000000000000001"]`, "names": slices.Equal(c.Names(), []string{"guild_id", "tags", "title"}),
			"args":          string(c.Args()) == `{"guild_id":"700000000000000001","tags":["700000000000000001"],"title":"x"}`,
			"authorization": c.Confirmed() && c.Authorization("__confirm_id") == "a" && c.Authorization("__confirm") == "" && c.Authorization("title") == "",
			"bound":         in.Title == "x" && len(in.Tags) == 1,
		} {
			if !ok {
				return done{}, mcpcore.Errorf(mcpcore.CodePrecondition, "%s is wrong", name)
			}
		}
		c.Default("note", "late") // frozen
		if c.Has("note") {
			return done{}, errors.New("the arguments changed")
		}
		if facts, err := c.Facts(ctx); facts != nil || err != nil {
			return done{}, errors.New("facts of a tool without")
		}
		return done{}, nil
	})}
	connect(t, deps).passed(t, "ticket_update", `{"title":"x","guild_id":"700000000000000001","tags":["700000000000000001"],"__confirm":true,"__confirm_id":"a"}`)
}

func TestToolOutsideAServer(t *testing.T) {
	t.Parallel()
	d := &desk{}
	list, bare := d.list(), mcpcore.Tool{Name: "bare"}
	broken := mcpcore.Broken(mcpcore.Tool{Name: "broken"}, errors.New("no such route"))
	if err := list.Compile(); err != nil {
		t.Error(err)
	}
	if err := bare.Compile(); err == nil || !strings.Contains(err.Error(), "not made with Define") {
		t.Errorf("bare: %v", err)
	}
	if err := broken.Compile(); err == nil || !strings.Contains(err.Error(), "no such route") {
		t.Errorf("broken: %v", err)
	}
	for _, tool := range []*mcpcore.Tool{&bare, &broken} {
		if tool.InputSchema() != nil || tool.OutputSchema() != nil || tool.Takes("x") {
			t.Errorf("%s has schemas", tool.Name)
		}
	}
	if !list.Takes("query") || list.Takes("x") || !json.Valid(list.InputSchema()) || !json.Valid(list.OutputSchema()) {
		t.Error("a whole tool lacks something")
	}
	update := d.update()
	if a, b := string(update.InputSchema()), string(update.InputSchema("guild_id")); a == b || string(update.InputSchema()) != a {
		t.Error("an argument that is filled changes nothing, or too much")
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	var got []string
	for e := mcpcore.Effect(-1); e < 5; e++ {
		got = append(got, e.String())
	}
	for g := mcpcore.Gate(-1); g < 7; g++ {
		got = append(got, g.String())
	}
	for s := mcpcore.Scope(-1); s < 9; s++ {
		got = append(got, s.String())
	}
	want := []string{
		"unknown", "unknown", "read", "write", "destroy", "unknown",
		"unknown", "by effect", "none", "two-key", "payload", "consent", "reviewed", "unknown",
		"unknown", "unknown", "guild", "channel", "application", "user", "global", "local", "external", "unknown",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the words are %q", got)
	}
}
