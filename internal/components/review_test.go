package components_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/internal/components"
)

func TestReview(t *testing.T) {
	t.Parallel()
	layout := parse(t, `[`+box(
		section(`{"type":10,"content":"Secret https://B.example/x, <http://a.example:80/>"},{"type":10,"content":"üüü"}`, `{"type":11,"media":{"url":"https://user:pw@c.example/i.png"}}`)+","+
			row(`{"type":2,"style":1,"label":"Secret","custom_id":"order-42"},{"type":2,"style":5,"label":"x","url":"https://discord.com@evil.example/"}`))+","+
		choose(3, `,"options":[{"label":"see HTTPS://d.example)","value":"v"}]`)+`]`)
	r := components.NewReview(layout)
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"totalNodes":10,"typeCounts":{"1":2,"10":2,"11":1,"17":1,"2":2,"3":1,"9":1},"textNodes":2,"maxTextLength":50,` +
		`"externalUrlHosts":["a.example","b.example","c.example","d.example","evil.example"],"interactiveCount":3,` +
		`"customIdLengths":[8,1],"customIdHashes":["1a6d05308fab7603","d4c89c91474b0e55"]}`
	if string(got) != want {
		t.Errorf("the review is\n%s, want\n%s", got, want)
	}
	if strings.Contains(string(got), "Secret") || strings.Contains(string(got), "order-42") || strings.Contains(string(got), "pw") {
		t.Errorf("the review tells a text: %s", got)
	}
}

func TestSameCustomIDsHaveTheSameHash(t *testing.T) {
	t.Parallel()
	hashes := components.NewReview(parse(t, `[`+row(press)+","+row(press)+","+row(`{"type":2,"custom_id":"b"}`)+`]`)).CustomIDHashes
	if len(hashes) != 3 || hashes[0] != hashes[1] || hashes[1] == hashes[2] {
		t.Errorf("the hashes are %v", hashes)
	}
}

func TestBoundsOfAReview(t *testing.T) {
	t.Parallel()
	r := components.NewReview(parse(t, `[`+times(300, `{"type":10,"content":"https://h#.example"}`)+`]`))
	if r.TotalNodes != 100 || r.TextNodes != 100 {
		t.Errorf("counted %d components, %d texts", r.TotalNodes, r.TextNodes)
	}
	if len(r.ExternalURLHosts) != 20 || !slices.IsSorted(r.ExternalURLHosts) || r.ExternalURLHosts[0] != "h0.example" {
		t.Errorf("the hosts are %v", r.ExternalURLHosts)
	}
	empty, err := json.Marshal(components.NewReview(nil))
	if err != nil || strings.Contains(string(empty), "null") {
		t.Errorf("of nothing: %s, %v", empty, err)
	}
}

func TestRisks(t *testing.T) {
	t.Parallel()
	const external, interactive, near = "external_urls", "interactive_components", "component_count_near_limit"
	for _, r := range []struct {
		layout string
		want   []string
	}{
		{words, nil},
		{`{"type":10,"content":"ftp://a.example attachment://a http:/x"}`, nil},
		{`{"type":10,"content":"see hTTp://a.example"}`, []string{external}},
		{`{"type":10,"content":"https://"}`, []string{external}},
		{section(words, photo), []string{external}},
		{section(words, `{"type":11,"media":{"url":"attachment://a.png"}}`), nil},
		{row(press), []string{interactive}},
		{row(`{"type":2,"style":6,"sku_id":"1"}`), []string{interactive}},
		{choose(8, ""), []string{interactive}},
		{`{"type":99,"custom_id":"x"}`, []string{interactive}},
		{times(31, words), nil},
		{times(32, words), []string{near}},
		{box(times(30, words)), nil},
		{box(times(31, words)), []string{near}},
		{times(32, `5`), []string{near}},
		{row(`{"type":2,"style":5,"url":"https://a.example"}`) + "," + times(30, words), []string{external, interactive, near}},
	} {
		if got := components.NewReview(parse(t, "["+r.layout+"]")).Risks(); !slices.Equal(got, r.want) {
			t.Errorf("%.60s: %v, want %v", r.layout, got, r.want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for layout, want := range map[string]string{
		`{"type":10,"content":"# Hi\nthere"}`: "# Hi\nthere",
		`{"type":17,"accent_color":255,"spoiler":true,"components":[{"type":10,"content":"a\nb"},{"type":14},` + section(words, photo) + `]}`: "[container #0000FF spoiler]\n  a\n  b\n  " + strings.Repeat("-", 40) + "\n  [section]\n    x\n    [thumbnail] https://a.example/i.png",
		box(words): "[container]\n  x",
		row(press + `,{"type":2,"style":5,"label":"Go","emoji":{"name":"⚓"},"url":"https://a.example"},{"type":2,"style":6,"sku_id":"7"},{"type":2,"style":1,"emoji":{"id":"9"},"custom_id":"b","disabled":true}`): "[action row]\n  [x] (a)\n  [⚓ Go] -> https://a.example\n  [product 7]\n  [9] (b) disabled",
		gallery(`{"media":{"url":"attachment://a.png"},"description":"a cat","spoiler":true}`):                                                                                                                     "[media gallery: 1 item]\n  attachment://a.png (a cat) spoiler",
		gallery(""): "[media gallery: 0 items]",
		`{"type":13,"file":{"url":"attachment://a.txt"},"spoiler":true}`: "[file] attachment://a.txt spoiler",
		options(`{"label":"x","value":"y"}`):                             "[action row]\n  [string select] (s): 1 option",
		choose(6, `,"placeholder":"Who?","disabled":true`):               "[action row]\n  [role select] (s) Who? disabled",
		`{"type":99},{"type":"x"},{"type":18},5,{}`:                      "[unknown type 99]\n[unknown type \"x\"]\n[label, for modals alone]\n[not a component]\n[unknown type ]",
		``: "",
	} {
		if got := components.Text(parse(t, "["+layout+"]")); got != want {
			t.Errorf("%s\nis drawn\n%s\nwant\n%s", layout, got, want)
		}
	}
}

// Values for each template's places, as an agent would give them.
var filling = map[string]map[string]string{
	"announcement":    {"title": "Movie night", "body": "Saturday at eight.", "cta_label": "Details", "cta_url": "https://a.example/movie"},
	"incident_status": {"status_emoji": "🔥", "title": "Login is down", "summary": "We are on it.", "ack_custom_id": "ack:1", "resolve_custom_id": "resolve:1"},
	"poll_results":    {"question": "Tea or coffee?", "bars_text": "Tea ███ 3\nCoffee ██ 2", "winner": "Tea"},
	"release_notes":   {"version": "1.4.0", "headline": "Faster", "changelog": "- quicker start", "download_url": "https://a.example/1.4.0"},
	"welcome_card":    {"username": "Ann", "avatar_url": "https://a.example/ann.png", "role_id_member": "750000000000000001", "rules_channel_id": "710000000000000001"},
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	colors := map[string]string{"announcement": "5793266", "incident_status": "16711680", "poll_results": "16776960", "release_notes": "65280", "welcome_card": "16711935"}
	all := components.Templates()
	if len(all) != len(filling) {
		t.Errorf("%d templates, %d fillings", len(all), len(filling))
	}
	for _, tpl := range all {
		vars := filling[tpl.Name]
		for _, name := range tpl.Vars {
			if vars[name] == "" {
				t.Errorf("%s: nothing for %s", tpl.Name, name)
			}
		}
		if len(vars) != len(tpl.Vars) {
			t.Errorf("%s has the places %v", tpl.Name, tpl.Vars)
		}
		layout := tpl.Fill(vars)
		if issues := components.Check("components", layout, nil); len(issues) > 0 {
			t.Errorf("%s: %v", tpl.Name, issues)
		}
		text := fmt.Sprintf("%s", layout)
		if strings.Contains(text, "{{") || !strings.Contains(text, `"accent_color":`+colors[tpl.Name]) {
			t.Errorf("%s becomes %s", tpl.Name, text)
		}
		for name, v := range vars {
			if b, _ := json.Marshal(v); !strings.Contains(text, strings.Trim(string(b), `"`)) {
				t.Errorf("%s: %s is nowhere in %s", tpl.Name, name, text)
			}
		}
	}
}

// What has no text stays, and a text is no template.
func TestPlacesThatStay(t *testing.T) {
	t.Parallel()
	for _, tpl := range components.Templates() {
		if tpl.Name != "announcement" {
			continue
		}
		text := fmt.Sprintf("%s", tpl.Fill(map[string]string{"title": `{{body}} "quoted" \ {{nothing}}`, "other": "x"}))
		for _, want := range []string{`# {{body}} \"quoted\" \\ {{nothing}}`, `"content":"{{body}}"`, `"url":"{{cta_url}}"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
		if again := fmt.Sprintf("%s", tpl.Fill(nil)); !strings.Contains(again, "# {{title}}") {
			t.Errorf("filling changed the template: %s", again)
		}
		if issues := components.Check("components", tpl.Fill(nil), nil); len(issues) != 1 || !strings.HasSuffix(issues[0].Path, ".url") {
			t.Errorf("unfilled: %v", issues)
		}
	}
}
