package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/internal/components"
)

// Pieces of layouts.
const (
	hi    = `{"type":10,"content":"hi"}`
	press = `{"type":2,"style":1,"label":"x","custom_id":"a"}`
	photo = `{"type":11,"media":{"url":"https://a.example/i.png"}}`
)

func repeated(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

// numbered is the items with # made their numbers.
func numbered(n int, item string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(item, "#", fmt.Sprint(i))
	}
	return strings.Join(all, ",")
}

// TestLayouts sends layouts of Components V2. What the sandbox refuses is what
// the tools refuse before: the two were written apart.
func TestLayouts(t *testing.T) {
	t.Parallel()
	const choices, length, required, misplaced = "BASE_TYPE_CHOICES", "BASE_TYPE_BAD_LENGTH", "BASE_TYPE_REQUIRED", `"type":{"_errors":[{"code":"BASE_TYPE_CHOICES"`
	for _, r := range []struct{ name, layout, refused string }{
		{"a text", hi, ""},
		{"every kind", `{"type":17,"accent_color":16777215,"components":[` + hi + `,{"type":9,"components":[` + hi + `],"accessory":` + photo + `},{"type":14,"spacing":2,"divider":false},{"type":1,"components":[` + press + `]},{"type":12,"items":[{"media":{"url":"https://a.example"},"description":"d","spoiler":true}]}]}`, ""},
		{"forty", repeated(40, hi), ""},
		{"forty-one", `{"type":17,"components":[` + repeated(40, hi) + `]}`, "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"},
		{"forty-one with an accessory", repeated(38, hi) + `,{"type":9,"components":[` + hi + `],"accessory":` + photo + `}`, "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"},
		{"a container of many", `{"type":17,"components":[` + repeated(39, hi) + `]}`, ""},
		{"four thousand characters", `{"type":10,"content":"` + strings.Repeat("a", 2000) + `"},{"type":17,"components":[{"type":10,"content":"` + strings.Repeat("ü", 2000) + `"}]}`, ""},
		{"four thousand and one", `{"type":10,"content":"` + strings.Repeat("a", 2000) + `"},{"type":17,"components":[{"type":10,"content":"` + strings.Repeat("ü", 2001) + `"}]}`, "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"},
		{"an unknown type", `{"type":99}`, misplaced},
		{"a type of modals", `{"type":18,"label":"x"}`, misplaced},
		{"a checkbox in a row", `{"type":1,"components":[{"type":23,"custom_id":"a"}]}`, misplaced},
		{"a container in a container", `{"type":17,"components":[{"type":17,"components":[` + hi + `]}]}`, misplaced},
		{"an empty container", `{"type":17,"components":[]}`, required},
		{"a thumbnail alone", photo, misplaced},
		{"a button alone", press, misplaced},
		{"a section without an accessory", `{"type":9,"components":[` + hi + `]}`, `"accessory":{"_errors":[{"code":"BASE_TYPE_REQUIRED"`},
		{"a section with a text beside", `{"type":9,"components":[` + hi + `],"accessory":` + hi + `}`, choices},
		{"a section of four", `{"type":9,"components":[` + repeated(4, hi) + `],"accessory":` + photo + `}`, length},
		{"a gallery of none", `{"type":12,"items":[]}`, length},
		{"a gallery of eleven", `{"type":12,"items":[` + repeated(11, `{"media":{"url":"https://a.example"}}`) + `]}`, length},
		{"a row of five", `{"type":1,"components":[` + numbered(5, `{"type":2,"style":1,"label":"x","custom_id":"#"}`) + `]}`, ""},
		{"a row of six", `{"type":1,"components":[` + numbered(6, `{"type":2,"style":1,"label":"x","custom_id":"#"}`) + `]}`, length},
		{"a select beside a button", `{"type":1,"components":[` + press + `,{"type":5,"custom_id":"b"}]}`, choices},
		{"a custom_id twice", `{"type":1,"components":[` + press + `]},{"type":9,"components":[` + hi + `],"accessory":` + press + `}`, "COMPONENT_CUSTOM_ID_DUPLICATED"},
		{"an id twice", `{"type":14,"id":7},{"type":14,"id":7}`, "COMPONENT_ID_DUPLICATED"},
		{"ids around those given", `{"type":14},{"type":14,"id":1},{"type":14,"id":0}`, ""},
		{"a link into Discord", `{"type":1,"components":[{"type":2,"style":5,"label":"x","url":"discord://-/channels/1"}]}`, ""},
		{"a link elsewhere", `{"type":1,"components":[{"type":2,"style":5,"label":"x","url":"ftp://a.example"}]}`, "URL_TYPE_INVALID_SCHEME"},
		{"a link with a custom_id", `{"type":1,"components":[{"type":2,"style":5,"label":"x","url":"https://a.example","custom_id":"a"}]}`, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE"},
		{"a button without a face", `{"type":1,"components":[{"type":2,"style":1,"custom_id":"a"}]}`, "BUTTON_COMPONENT_MISSING_LABEL_OR_EMOJI"},
		{"a product", `{"type":1,"components":[{"type":2,"style":6,"sku_id":"1200000000000000777"}]}`, ""},
		{"a product with a label", `{"type":1,"components":[{"type":2,"style":6,"sku_id":"1200000000000000777","label":"x"}]}`, "BUTTON_COMPONENT_PREMIUM_FIELDS"},
		{"more values than may be", `{"type":1,"components":[{"type":5,"custom_id":"a","min_values":2}]}`, "SELECT_COMPONENT_MIN_VALUES_TOO_HIGH"},
		{"an option twice", `{"type":1,"components":[{"type":3,"custom_id":"a","options":[{"label":"x","value":"v"},{"label":"y","value":"v"}]}]}`, "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED"},
		{"a file elsewhere", `{"type":13,"file":{"url":"https://a.example/a.txt"}}`, "URL_TYPE_INVALID_SCHEME"},
		{"a file that was not sent", `{"type":13,"file":{"url":"attachment://a.txt"}}`, `"file":{"url":{"_errors":[{"code":"UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND"`},
		{"a picture that was not sent", `{"type":12,"items":[{"media":{"url":"attachment://a.png"}}]}`, `"items":{"0":{"media":{"url":{"_errors":[{"code":"UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND"`},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			status, reply := do(t, demo(t), "POST", "/channels/"+string(DemoGeneral)+"/messages", `{"flags":32768,"components":[`+r.layout+`]}`)
			if good := r.refused == ""; good != (status == 200) || !strings.Contains(string(reply), r.refused) || !good && !strings.Contains(string(reply), `"code":50035`) {
				t.Errorf("status %d, want %q: %s", status, r.refused, reply)
			}
			var layout []json.RawMessage
			if err := json.Unmarshal([]byte("["+r.layout+"]"), &layout); err != nil {
				t.Fatal(err)
			}
			if issues := components.Check("components", layout, func(string) bool { return false }); (len(issues) == 0) != (status == 200) {
				t.Errorf("the tools say %v, the sandbox %d", issues, status)
			}
		})
	}
}

// A message of components stays one, and one of text becomes one when it says
// that it gives up the rest.
func TestEditToComponentsV2(t *testing.T) {
	t.Parallel()
	const path = "/channels/{general}/messages/{mine}"
	v2 := func(d *Discord) {
		d.AddMessage(DemoGeneral, Message{ID: mine, Author: BotID, Flags: flagComponentsV2, Components: []Component{{Type: textDisplay, ID: 1, Content: "old"}}})
	}
	const legacy, nulls = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", `"content":null,"embeds":null,"sticker_ids":null`
	replaced := func(d *Discord) { d.world.channels[DemoGeneral].remove(mine); v2(d) }
	stays := func(t *testing.T, d *Discord) {
		if m, _ := d.Message(DemoGeneral, mine); m.Flags&flagComponentsV2 == 0 || m.Content != "" {
			t.Errorf("the message is %+v", m)
		}
	}
	rows(t, []row{
		{name: "with nulls", method: "PATCH", path: path, body: `{"flags":32768,` + nulls + `,"components":[` + hi + `]}`, status: 200, has: `"flags":32768`, after: stays},
		{name: "without nulls", method: "PATCH", path: path, body: `{"flags":32768,"components":[` + hi + `]}`, status: 400, code: 50035, has: `"content":{"_errors":[{"code":"` + legacy},
		{name: "with a sticker left", method: "PATCH", path: path, body: `{"flags":32768,"content":null,"components":[` + hi + `]}`, status: 400, code: 50035, has: `"sticker_ids":{"_errors":[{"code":"` + legacy,
			before: func(d *Discord) {
				d.world.channels[DemoGeneral].remove(mine)
				d.AddMessage(DemoGeneral, Message{ID: mine, Author: BotID, Content: "x", Stickers: nil})
				_, m := d.world.channels[DemoGeneral].find(mine)
				m.Stickers = append(m.Stickers, DemoSticker)
			}},
		{name: "a poll", method: "PATCH", path: path, body: `{"flags":32768,` + nulls + `,"components":[` + hi + `]}`, status: 400, code: 50035, has: `"poll":{"_errors":[{"code":"` + legacy,
			before: func(d *Discord) {
				_, m := d.world.channels[DemoGeneral].find(mine)
				m.Poll = &Poll{Question: "?", Answers: []PollAnswer{{Text: "a"}}}
			}},
		{name: "without the flag", method: "PATCH", path: path, body: `{"components":[` + hi + `]}`, status: 400, code: 50035, has: "BASE_TYPE_CHOICES"},
		{name: "another layout", method: "PATCH", path: path, body: `{"components":[` + hi + `]}`, status: 200, has: `"content":"hi"`, before: replaced, after: stays},
		{name: "the flag does not go", method: "PATCH", path: path, body: `{"flags":0,"components":[` + hi + `]}`, status: 200, has: `"flags":32768`, before: replaced, after: stays},
		{name: "no text into it", method: "PATCH", path: path, body: `{"content":"x"}`, status: 400, code: 50035, has: legacy, before: replaced, after: stays},
		{name: "no embeds into it", method: "PATCH", path: path, body: `{"embeds":[{"title":"x"}]}`, status: 400, code: 50035, has: legacy, before: replaced, after: stays},
		{name: "no text back", method: "PATCH", path: path, body: `{"flags":0,"content":"x","components":[]}`, status: 400, code: 50035, has: legacy, before: replaced, after: stays},
		{name: "nothing left", method: "PATCH", path: path, body: `{"components":[]}`, status: 400, code: 50006, before: replaced, after: stays},
		{name: "just a change of flags", method: "PATCH", path: path, body: `{"flags":4}`, status: 200, has: `"content":"old"`, before: replaced, after: stays},
	})
}

// A file that a layout shows is shown by the layout alone.
func TestFilesOfLayouts(t *testing.T) {
	t.Parallel()
	d := demo(t)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("payload_json", `{"flags":32768,"attachments":[{"id":"0"},{"id":"1"}],"components":[{"type":13,"file":{"url":"attachment://log.txt"}},{"type":12,"items":[{"media":{"url":"attachment://log.txt"}}]}]}`)
	for i, name := range []string{"log.txt", "other.txt"} {
		part, err := form.CreateFormFile(fmt.Sprintf("files[%d]", i), name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte("words"))
	}
	_ = form.Close()
	r := request(t, d, http.MethodPost, "/channels/"+string(DemoGeneral)+"/messages", body.String())
	r.Header.Set("Content-Type", form.FormDataContentType())
	status, reply := send(t, d, r)
	var m struct {
		Attachments []struct{ Filename string }
		Components  []struct {
			Name string
			File struct {
				URL        string
				Attachment string `json:"attachment_id"`
			}
		}
	}
	if err := json.Unmarshal(reply, &m); err != nil || status != 200 {
		t.Fatalf("status %d: %s", status, reply)
	}
	if len(m.Attachments) != 1 || m.Attachments[0].Filename != "other.txt" {
		t.Errorf("the attachments are %v", m.Attachments)
	}
	if c := m.Components[0]; c.Name != "log.txt" || c.File.Attachment == "" || !strings.HasPrefix(c.File.URL, "https://cdn.discordapp.com/attachments/") || !strings.HasSuffix(c.File.URL, "/log.txt") {
		t.Errorf("the file is %+v", c)
	}
}
