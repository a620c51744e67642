package console_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

var gaps = regexp.MustCompile(`\s+`)

// drawing is the message of a page, without what says how it is laid out.
func drawing(t *testing.T, page string) string {
	t.Helper()
	_, m, found := strings.Cut(page, `aria-label="The message as it will look">`)
	m, _, ended := strings.Cut(m, `</section>`)
	if !found || !ended {
		t.Fatalf("there is no message in\n%s", page)
	}
	return strings.NewReplacer("<bdi>", "", "</bdi>", "", "> <", "><").Replace(gaps.ReplaceAllString(m, " "))
}

func TestMarkdownIsDrawnAsDiscordDrawsIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# Title":                        `<p class="h1">Title</p>`,
		"## Title":                       `<p class="h2">Title</p>`,
		"### Title":                      `<p class="h3">Title</p>`,
		"-# small":                       `<p class="sub">small</p>`,
		"> quoted":                       `<p class="quote">quoted</p>`,
		"- one\n* two":                   `<p class="item">one</p><p class="item">two</p>`,
		"#no title":                      `<p>#no title</p>`,
		"a **b** c":                      `<p>a <strong>b</strong> c</p>`,
		"*a* _b_ __c__ ~~d~~":            `<p><em>a</em> <em>b</em> <u>c</u> <s>d</s></p>`,
		"**a *b***":                      `<strong>a *b</strong>*`,
		"2 * 3 * 4":                      `<p>2 * 3 * 4</p>`,
		`\*not\*`:                        `<p>*not*</p>`,
		"`x **y**`":                      `<p><code>x **y**</code></p>`,
		"||hidden||":                     `class="spoiler" title="hidden until it is clicked">hidden</span>`,
		"[here](https://evil.example/a)": `<span class="link">here <span class="to">→ https://evil.example/a</span></span>`,
		"[https://good.example](https://evil.example)": `https://good.example</span><span class="to">→ https://evil.example</span>`,
		"see https://x.example/y now":                  `see <span class="link">https://x.example/y</span> now`,
		"[x](javascript:alert(1))":                     `[x](javascript:alert(1))`,
		"<@1200000000000000103> @everyone":             `<span class="mention">&lt;@1200000000000000103&gt;</span> <span class="mention">@everyone</span>`,
		"```go\nfunc\n```":                             `aria-label="code">go func</pre>`,
		"```\nnever ends":                              `<p>` + "``` never ends" + `</p>`,
		"**":                                           `<p>**</p>`,
		"[a](b":                                        `<p>[a](b</p>`,
		strings.Repeat("*", 4000):                      `***`,
		strings.Repeat("[", 4000):                      `[[[`,
		strings.Repeat("**a __b ", 500):                `a`,
	} {
		d := open(t)
		args, err := json.Marshal(map[string]any{"content": text})
		if err != nil {
			t.Fatal(err)
		}
		a := d.waits(mcpcore.Shown{Effect: "write", Args: args})
		if got := drawing(t, d.signsIn().get("/console/approvals/"+string(a.ID)).text); !strings.Contains(got, want) {
			t.Errorf("%.60q is drawn as\n%.500s\nwant\n%s", text, got, want)
		}
	}
}

func TestAnEditShowsWhatItReplaces(t *testing.T) {
	t.Parallel()
	d := open(t, func(o *console.Options) {
		o.Current = func(ctx, console.Target) map[string]json.RawMessage {
			return map[string]json.RawMessage{"content": json.RawMessage(`"the old text"`), "components": json.RawMessage(`[]`), "author": json.RawMessage(`{}`)}
		}
	})
	a := d.waits(mcpcore.Shown{
		Effect: "write", Risks: []string{"edit_existing_message"}, Routes: []string{"PATCH /channels/{channel_id}/messages/{message_id}"},
		IDs:  []mcpcore.ID{{Path: "message_id", Kind: discord.KindMessage, Value: "1200000000000000503"}},
		Args: json.RawMessage(`{"message_id":"1200000000000000503","components":[{"type":10,"content":"the new text"}]}`),
	})
	page := d.signsIn().get("/console/approvals/" + string(a.ID)).text
	before, after := strings.Index(page, "the old text"), strings.Index(page, "the new text")
	if !strings.Contains(page, "As the message looks now") || before < 0 || after < before || !strings.Contains(page, "replaces what a message says now") {
		t.Errorf("%s", page)
	}
}

// TestAnyShapeIsDrawn has layouts that Discord would not take: a page is made of
// each, and what cannot be drawn is said.
func TestAnyShapeIsDrawn(t *testing.T) {
	t.Parallel()
	deep := `{"type":10,"content":"x"}`
	for range 60 {
		deep = `{"type":17,"components":[` + deep + `]}`
	}
	for args, want := range map[string]string{
		`{"components":[` + deep + `]}`:                                    "nested too deep",
		`{"components":[{"type":99}]}`:                                     "type 99",
		`{"components":[{}]}`:                                              "type 0",
		`{"components":[{"type":17,"accent_color":-5,"components":null}]}`: `class="container"`,
		`{"components":[{"type":12,"items":[{"media":{"url":"::::"}}]}]}`:  "::::",
		`{"components":"nonsense"}`:                                        "nonsense",
		`{"components":[{"type":"x"}]}`:                                    `x`,
		`{"content":7}`:                                                    "7",
		`{"content":null,"components":null}`:                               "null",
		`[1,2]`:                                                            "",
	} {
		d := open(t)
		a := d.waits(mcpcore.Shown{Effect: "write", Args: json.RawMessage(args)})
		if got := d.signsIn().get("/console/approvals/" + string(a.ID)); got.StatusCode != 200 || !strings.Contains(got.text, want) {
			t.Errorf("%.80s: %s, nothing about %q", args, got.Status, want)
		}
	}
}
