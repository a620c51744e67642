package components_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/internal/components"
)

func parse(t testing.TB, layout string) (list []json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal([]byte(layout), &list); err != nil {
		t.Fatalf("%s: %v", layout, err)
	}
	return list
}

// Pieces of layouts.
const (
	words = `{"type":10,"content":"x"}`
	press = `{"type":2,"style":1,"label":"x","custom_id":"a"}`
	photo = `{"type":11,"media":{"url":"https://a.example/i.png"}}`
)

// times is the JSON n times; # in it becomes the number.
func times(n int, item string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(item, "#", fmt.Sprint(i))
	}
	return strings.Join(all, ",")
}

func long(n int) string { return strings.Repeat("ü", n) }

func row(inside string) string      { return `{"type":1,"components":[` + inside + `]}` }
func box(inside string) string      { return `{"type":17,"components":[` + inside + `]}` }
func button(members string) string  { return row(`{"type":2,` + members + `}`) }
func choose(t int, m string) string { return row(fmt.Sprintf(`{"type":%d,"custom_id":"s"%s}`, t, m)) }
func options(list string) string    { return choose(3, `,"options":[`+list+`]`) }
func section(in, beside string) string {
	return `{"type":9,"components":[` + in + `],"accessory":` + beside + `}`
}
func gallery(items string) string { return `{"type":12,"items":[` + items + `]}` }

// TestCheck has an accepted and a refused layout for each limit and each rule of
// what stands where. want lists what is told, as "path code".
func TestCheck(t *testing.T) {
	t.Parallel()
	const option, shot = `{"label":"#","value":"#"}`, `{"media":{"url":"https://a.example/i.png"}}`
	for _, r := range []struct {
		shows, layout string
		want          []string // nil is accepted
	}{
		// The message.
		{"every kind at the top", row(press) + "," + section(words, photo) + "," + words + "," + gallery(shot) + `,{"type":13,"file":{"url":"attachment://a.txt"}},{"type":14},` + box(words), nil},
		{"nothing", ``, []string{"components SCHEMA_too_small"}},
		{"forty", times(40, words), nil},
		{"forty-one", times(41, words), []string{"components OVER_40"}},
		{"forty with nested ones and an accessory", box(section(words, photo)) + "," + times(36, words), nil},
		{"forty-one with nested ones and an accessory", box(section(words, photo)) + "," + times(37, words), []string{"components OVER_40"}},
		{"four thousand characters", `{"type":10,"content":"` + long(2000) + `"},` + box(`{"type":10,"content":"`+long(2000)+`"}`), nil},
		{"four thousand and one", `{"type":10,"content":"` + long(2000) + `"},` + box(`{"type":10,"content":"`+long(2001)+`"}`), []string{"components TEXT_OVER_4000"}},
		{"not objects", `1,"x",null,[]`, []string{"components.0 SCHEMA_invalid_type", "components.1 SCHEMA_invalid_type", "components.2 SCHEMA_invalid_type", "components.3 SCHEMA_invalid_type"}},
		{"no type", `{"content":"x"}`, []string{"components.0.type SCHEMA_invalid_type"}},
		{"a type as text", `{"type":"10","content":"x"}`, []string{"components.0.type SCHEMA_invalid_type"}},
		{"a type with a fraction", `{"type":10.5,"content":"x"}`, []string{"components.0.type SCHEMA_invalid_type"}},
		{"types that do not exist", `{"type":15},{"type":0},{"type":99},` + box(`{"type":16},{"type":20}`), []string{
			"components.0.type UNKNOWN_TYPE", "components.1.type UNKNOWN_TYPE", "components.2.type UNKNOWN_TYPE", "components.3.components.0.type UNKNOWN_TYPE", "components.3.components.1.type UNKNOWN_TYPE"}},
		{"types of modals", `{"type":4},{"type":18},{"type":19},{"type":21},{"type":22},` + row(`{"type":23}`), []string{
			"components.0.type MODAL_ONLY", "components.1.type MODAL_ONLY", "components.2.type MODAL_ONLY", "components.3.type MODAL_ONLY", "components.4.type MODAL_ONLY", "components.5.components.0.type MODAL_ONLY"}},
		{"unknown ones first, then values, then structure", box(box(words)) + `,{"type":10},{"type":15}`, []string{
			"components.2.type UNKNOWN_TYPE", "components.1.content SCHEMA_invalid_type", "components.0.components.0 CONTAINER_IN_CONTAINER"}},
		{"a member that is none", `{"type":10,"contents":"x"}`, []string{"components.0.contents SCHEMA_unrecognized_keys", "components.0.content SCHEMA_invalid_type"}},
		{"ids", `{"type":10,"content":"x","id":1},{"type":10,"content":"x","id":2147483647},{"type":14,"id":0},{"type":14,"id":0},{"type":14,"id":null}`, nil},
		{"an id twice", `{"type":10,"content":"x","id":7},` + box(`{"type":14,"id":7}`), []string{"components.1.components.0.id DUPLICATE_ID"}},
		{"ids out of range", `{"type":14,"id":-1},{"type":14,"id":2147483648}`, []string{"components.0.id SCHEMA_too_small", "components.1.id SCHEMA_too_big"}},
		{"custom_ids", row(press + `,{"type":2,"style":1,"label":"x","custom_id":"b"}`), nil},
		{"a custom_id twice", row(press) + "," + section(words, press) + "," + row(`{"type":5,"custom_id":"a"}`), []string{"components.1.accessory.custom_id DUPLICATE_CUSTOM_ID", "components.2.components.0.custom_id DUPLICATE_CUSTOM_ID"}},

		// Places.
		{"every kind in a container", box(row(press) + "," + section(words, photo) + "," + words + "," + gallery(shot) + `,{"type":13,"file":{"url":"attachment://a.txt"}},{"type":14}`), nil},
		{"a container of many", box(times(39, words)), nil},
		{"an empty container", box(""), []string{"components.0.components SCHEMA_too_small"}},
		{"a container without components", `{"type":17}`, []string{"components.0.components SCHEMA_invalid_type"}},
		{"a container whose components are no list", `{"type":17,"components":{}}`, []string{"components.0.components SCHEMA_invalid_type"}},
		{"a container in a container", box(box(words)), []string{"components.0.components.0 CONTAINER_IN_CONTAINER"}},
		{"a button alone", press + "," + box(press), []string{"components.0 MISPLACED", "components.1.components.0 MISPLACED", "components.1.components.0.custom_id DUPLICATE_CUSTOM_ID"}},
		{"a select alone", `{"type":5,"custom_id":"a"}`, []string{"components.0 MISPLACED"}},
		{"a thumbnail alone", photo + "," + box(photo), []string{"components.0 THUMBNAIL_STANDALONE", "components.1.components.0 THUMBNAIL_STANDALONE"}},
		{"text in a row", row(words), []string{"components.0.components.0 MISPLACED"}},
		{"a section in a section", section(section(words, photo), photo), []string{"components.0.components.0 MISPLACED"}},
		{"a row in a row", row(row(press)), []string{"components.0.components.0 MISPLACED"}},
		{"a container in a section", section(box(words), photo), []string{"components.0.components.0 MISPLACED"}},

		// Action rows.
		{"five buttons", row(times(5, `{"type":2,"style":2,"label":"x","custom_id":"#"}`)), nil},
		{"six buttons", row(times(6, `{"type":2,"style":2,"label":"x","custom_id":"#"}`)), []string{"components.0 ACTIONROW_OVER_5"}},
		{"an empty row", row(""), []string{"components.0.components SCHEMA_too_small"}},
		{"one select", choose(8, ""), nil},
		{"two selects", row(`{"type":5,"custom_id":"a"},{"type":6,"custom_id":"b"}`), []string{"components.0 SELECT_NOT_ALONE"}},
		{"a select beside a button", row(press + `,{"type":5,"custom_id":"b"}`), []string{"components.0 SELECT_NOT_ALONE"}},

		// Sections.
		{"three texts and a thumbnail", section(times(3, words), photo), nil},
		{"a button beside", section(words, press), nil},
		{"no text", section("", photo), []string{"components.0.components SCHEMA_too_small"}},
		{"four texts", section(times(4, words), photo), []string{"components.0.components SCHEMA_too_big"}},
		{"no accessory", `{"type":9,"components":[` + words + `]}`, []string{"components.0 SECTION_NO_ACCESSORY"}},
		{"a null accessory", section(words, "null"), []string{"components.0 SECTION_NO_ACCESSORY"}},
		{"a text beside", section(words, words), []string{"components.0.accessory INVALID_ACCESSORY"}},
		{"a container beside", section(words, box(words)), []string{"components.0.accessory INVALID_ACCESSORY"}},
		{"a select beside", section(words, `{"type":5,"custom_id":"a"}`), []string{"components.0.accessory INVALID_ACCESSORY"}},
		{"a faulty button beside", section(words, `{"type":2,"style":1,"label":"x"}`), []string{"components.0.accessory BUTTON_NO_ID_OR_URL"}},

		// Texts.
		{"one character", words, nil},
		{"an empty text", `{"type":10,"content":""}`, []string{"components.0.content SCHEMA_too_small"}},
		{"a text that is null", `{"type":10,"content":null}`, []string{"components.0.content SCHEMA_invalid_type"}},
		{"a text that is a number", `{"type":10,"content":5}`, []string{"components.0.content SCHEMA_invalid_type"}},
		{"a text too long", `{"type":10,"content":"` + long(4001) + `"}`, []string{"components.0.content SCHEMA_too_big", "components TEXT_OVER_4000"}},

		// Media.
		{"galleries of one and ten", gallery(shot) + "," + gallery(times(10, shot)), nil},
		{"a gallery of none", gallery(""), []string{"components.0.items GALLERY_RANGE"}},
		{"a gallery of eleven", gallery(times(11, shot)), []string{"components.0.items GALLERY_RANGE"}},
		{"a gallery without items", `{"type":12}`, []string{"components.0.items SCHEMA_invalid_type"}},
		{"a gallery item in full", gallery(`{"media":{"url":"attachment://a.png"},"description":"` + long(1024) + `","spoiler":true},{"media":{"url":"http://a.example"},"description":null}`), nil},
		{"what Discord answers is taken back", gallery(`{"media":{"id":"1","url":"https://a.example","proxy_url":"x","width":1,"height":null,"content_type":"image/png","attachment_id":"1"},"description":null,"spoiler":false}`), nil},
		{"gallery items with faults", gallery(`{"media":{"url":"https://a.example"},"description":"` + long(1025) + `"},{"media":{"url":"https://a.example"},"description":""},{"media":{}},{},{"media":{"url":"ftp://a.example"}},{"media":{"url":"attachment://"}},{"media":{"url":"https://a.example"},"spoiler":1}`), []string{
			"components.0.items.0.description SCHEMA_too_big", "components.0.items.1.description SCHEMA_too_small", "components.0.items.2.media.url SCHEMA_invalid_type",
			"components.0.items.3.media SCHEMA_invalid_type", "components.0.items.4.media.url SCHEMA_invalid_format", "components.0.items.5.media.url SCHEMA_invalid_format", "components.0.items.6.spoiler SCHEMA_invalid_type"}},
		{"addresses that are none", gallery(`{"media":{"url":"a.example"}},{"media":{"url":"https://"}},{"media":{"url":"javascript:x"}},{"media":{"url":"https://a.example/a b"}},{"media":{"url":"{{place}}"}}`), []string{
			"components.0.items.0.media.url SCHEMA_invalid_format", "components.0.items.1.media.url SCHEMA_invalid_format", "components.0.items.2.media.url SCHEMA_invalid_format", "components.0.items.3.media.url SCHEMA_invalid_format", "components.0.items.4.media.url SCHEMA_invalid_format"}},
		{"an address as long as may be", gallery(`{"media":{"url":"https://a.example/` + strings.Repeat("a", 2048-18) + `"}}`), nil},
		{"an address too long", gallery(`{"media":{"url":"https://a.example/` + strings.Repeat("a", 2049-18) + `"}}`), []string{"components.0.items.0.media.url SCHEMA_too_big"}},
		{"a thumbnail in full", section(words, `{"type":11,"media":{"url":"attachment://a.png"},"description":"x","spoiler":true}`), nil},
		{"a thumbnail without media", section(words, `{"type":11}`), []string{"components.0.accessory.media SCHEMA_invalid_type"}},
		{"a thumbnail's description too long", section(words, `{"type":11,"media":{"url":"attachment://a.png"},"description":"`+long(1025)+`"}`), []string{"components.0.accessory.description SCHEMA_too_big"}},
		{"a file", `{"type":13,"file":{"url":"attachment://a.txt"},"spoiler":true,"name":"a.txt","size":5}`, nil},
		{"a file elsewhere", `{"type":13,"file":{"url":"https://a.example/a.txt"}}`, []string{"components.0.file.url FILE_UNSUPPORTED"}},
		{"a file without a name", `{"type":13,"file":{"url":"attachment://"}}`, []string{"components.0.file.url FILE_UNSUPPORTED"}},
		{"no file", `{"type":13}`, []string{"components.0.file SCHEMA_invalid_type"}},

		// Separators and containers.
		{"separators", `{"type":14},{"type":14,"divider":false,"spacing":1},{"type":14,"spacing":2},{"type":14,"spacing":null}`, nil},
		{"separators with faults", `{"type":14,"spacing":0},{"type":14,"spacing":3},{"type":14,"divider":"no"}`, []string{"components.0.spacing SCHEMA_too_small", "components.1.spacing SCHEMA_too_big", "components.2.divider SCHEMA_invalid_type"}},
		{"colours", `{"type":17,"components":[` + words + `],"accent_color":0,"spoiler":true},{"type":17,"components":[` + words + `],"accent_color":16777215},{"type":17,"components":[` + words + `],"accent_color":null}`, nil},
		{"colours that are none", `{"type":17,"components":[` + words + `],"accent_color":-1},{"type":17,"components":[` + words + `],"accent_color":16777216},{"type":17,"components":[` + words + `],"accent_color":"#fff"}`, []string{
			"components.0.accent_color SCHEMA_too_small", "components.1.accent_color SCHEMA_too_big", "components.2.accent_color SCHEMA_invalid_type"}},

		// Buttons.
		{"styles that are pressed", row(`{"type":2,"style":1,"label":"x","custom_id":"1"},{"type":2,"style":2,"label":"x","custom_id":"2"},{"type":2,"style":3,"label":"x","custom_id":"3"},{"type":2,"style":4,"label":"` + long(80) + `","custom_id":"` + long(100) + `","disabled":true}`), nil},
		{"a link", button(`"style":5,"label":"x","url":"https://a.example"`) + "," + button(`"style":5,"label":"x","url":"discord://-/channels/1"`), nil},
		{"a product", button(`"style":6,"sku_id":"790000000000000001","disabled":false`), nil},
		{"an emoji for a label", button(`"style":1,"custom_id":"a","emoji":{"name":"⚓"}`) + "," + button(`"style":1,"custom_id":"b","emoji":{"id":"760000000000000001","animated":true}`), nil},
		{"no style", button(`"label":"x","custom_id":"a"`), []string{"components.0.components.0.style SCHEMA_invalid_type"}},
		{"styles that are none", button(`"style":0,"label":"x","custom_id":"a"`) + "," + button(`"style":7,"label":"x","custom_id":"b"`), []string{"components.0.components.0.style SCHEMA_too_small", "components.1.components.0.style SCHEMA_too_big"}},
		{"no custom_id and no url", button(`"style":1,"label":"x"`) + "," + button(`"style":5,"label":"x"`), []string{"components.0.components.0 BUTTON_NO_ID_OR_URL", "components.1.components.0 BUTTON_NO_ID_OR_URL"}},
		{"a url where a custom_id belongs", button(`"style":1,"label":"x","url":"https://a.example"`), []string{"components.0.components.0.custom_id SCHEMA_invalid_type", "components.0.components.0.url SCHEMA_invalid_value"}},
		{"a custom_id where a url belongs", button(`"style":5,"label":"x","custom_id":"a"`), []string{"components.0.components.0.url SCHEMA_invalid_type", "components.0.components.0.custom_id SCHEMA_invalid_value"}},
		{"a link with a custom_id", button(`"style":5,"label":"x","url":"https://a.example","custom_id":"a"`), []string{"components.0.components.0.custom_id SCHEMA_invalid_value"}},
		{"a product of a button that is pressed", button(`"style":1,"label":"x","custom_id":"a","sku_id":"790000000000000001"`), []string{"components.0.components.0.sku_id SCHEMA_invalid_value"}},
		{"no product", button(`"style":6`), []string{"components.0.components.0.sku_id SCHEMA_invalid_type"}},
		{"a product with more", button(`"style":6,"sku_id":"790000000000000001","label":"x","emoji":{"name":"⚓"},"custom_id":"a","url":"https://a.example"`), []string{
			"components.0.components.0.custom_id SCHEMA_invalid_value", "components.0.components.0.url SCHEMA_invalid_value", "components.0.components.0.label SCHEMA_invalid_value", "components.0.components.0.emoji SCHEMA_invalid_value"}},
		{"no face", button(`"style":1,"custom_id":"a"`) + "," + button(`"style":1,"custom_id":"b","label":""`), []string{"components.0.components.0 BUTTON_NO_LABEL_OR_EMOJI", "components.1.components.0 BUTTON_NO_LABEL_OR_EMOJI"}},
		{"a label too long", button(`"style":1,"custom_id":"a","label":"` + long(81) + `"`), []string{"components.0.components.0.label SCHEMA_too_big"}},
		{"a custom_id too long", button(`"style":1,"custom_id":"` + long(101) + `","label":"x"`), []string{"components.0.components.0.custom_id SCHEMA_too_big"}},
		{"an empty custom_id", button(`"style":1,"custom_id":"","label":"x"`), []string{"components.0.components.0.custom_id SCHEMA_too_small"}},
		{"an address as long as a link takes", button(`"style":5,"label":"x","url":"https://a.example/` + strings.Repeat("a", 512-18) + `"`), nil},
		{"an address too long for a link", button(`"style":5,"label":"x","url":"https://a.example/` + strings.Repeat("a", 513-18) + `"`), []string{"components.0.components.0.url SCHEMA_too_big"}},
		{"a link to a script", button(`"style":5,"label":"x","url":"javascript:alert(1)"`), []string{"components.0.components.0.url SCHEMA_invalid_format"}},
		{"emojis that are none", button(`"style":1,"custom_id":"a","emoji":{}`) + "," + button(`"style":1,"custom_id":"b","emoji":"⚓"`) + "," + button(`"style":1,"custom_id":"c","emoji":{"id":"1"}`) + "," + button(`"style":1,"custom_id":"d","emoji":{"name":"`+long(33)+`"}`), []string{
			"components.0.components.0.emoji SCHEMA_invalid_value", "components.1.components.0.emoji SCHEMA_invalid_type", "components.2.components.0.emoji.id SCHEMA_invalid_format", "components.3.components.0.emoji.name SCHEMA_too_big"}},

		// Selects.
		{"each select", options(option) + "," + strings.ReplaceAll(times(4, `{"type":1,"components":[{"type":T,"custom_id":"#"}]}`), "T", "5"), nil},
		{"a string select in full", choose(3, `,"placeholder":"`+long(150)+`","min_values":0,"max_values":25,"disabled":true,"required":false,"options":[`+times(25, `{"label":"`+long(98)+`#","value":"#","description":"`+long(100)+`","emoji":{"name":"⚓"},"default":true}`)+`]`), nil},
		{"no options", choose(3, ""), []string{"components.0.components.0.options SCHEMA_invalid_type"}},
		{"an empty list of options", options(""), []string{"components.0.components.0.options SCHEMA_too_small"}},
		{"twenty-six options", options(times(26, option)), []string{"components.0.components.0.options SCHEMA_too_big"}},
		{"options with faults", options(`{"label":"","value":"a"},{"label":"x","value":"` + long(101) + `"},{"label":"` + long(101) + `","value":"b"},{"label":"x","value":"c","description":"` + long(101) + `"},{"label":"x"},{"label":"x","value":"d","default":1}`), []string{
			"components.0.components.0.options.0.label SCHEMA_too_small", "components.0.components.0.options.1.value SCHEMA_too_big", "components.0.components.0.options.2.label SCHEMA_too_big",
			"components.0.components.0.options.3.description SCHEMA_too_big", "components.0.components.0.options.4.value SCHEMA_invalid_type", "components.0.components.0.options.5.default SCHEMA_invalid_type"}},
		{"an option's value twice", options(`{"label":"x","value":"a"},{"label":"y","value":"a"}`), []string{"components.0.components.0.options.1.value DUPLICATE_OPTION"}},
		{"two options chosen where one may be", options(`{"label":"x","value":"a","default":true},{"label":"y","value":"b","default":true}`), []string{"components.0.components.0.options SELECT_RANGE"}},
		{"options of a user select", choose(5, `,"options":[]`), []string{"components.0.components.0.options SCHEMA_unrecognized_keys"}},
		{"no custom_id of a select", row(`{"type":6}`), []string{"components.0.components.0.custom_id SCHEMA_invalid_type"}},
		{"a placeholder too long", choose(5, `,"placeholder":"`+long(151)+`"`), []string{"components.0.components.0.placeholder SCHEMA_too_big"}},
		{"numbers of values", choose(5, `,"min_values":0,"max_values":1`) + `,{"type":1,"components":[{"type":6,"custom_id":"b","min_values":25,"max_values":25}]}`, nil},
		{"numbers of values out of range", choose(5, `,"min_values":-1,"max_values":0`) + `,{"type":1,"components":[{"type":6,"custom_id":"b","min_values":26,"max_values":26}]}`, []string{
			"components.0.components.0.max_values SCHEMA_too_small", "components.0.components.0.min_values SCHEMA_too_small", "components.1.components.0.max_values SCHEMA_too_big", "components.1.components.0.min_values SCHEMA_too_big"}},
		{"more values than may be", choose(5, `,"min_values":2`), []string{"components.0.components.0.min_values SELECT_RANGE"}},
		{"default values", choose(5, `,"default_values":[{"type":"user","id":"720000000000000001"}]`) + `,{"type":1,"components":[{"type":7,"custom_id":"b","max_values":2,"default_values":[{"type":"user","id":"720000000000000001"},{"type":"role","id":"750000000000000001"}]}]}`, nil},
		{"default values of another kind", choose(6, `,"default_values":[{"type":"user","id":"720000000000000001"}]`) + `,{"type":1,"components":[{"type":8,"custom_id":"b","default_values":[{"type":"channel","id":"1"}]}]}`, []string{
			"components.0.components.0.default_values.0.type SCHEMA_invalid_value", "components.1.components.0.default_values.0.id SCHEMA_invalid_format"}},
		{"more default values than may be", choose(5, `,"default_values":[{"type":"user","id":"720000000000000001"},{"type":"user","id":"720000000000000002"}]`), []string{"components.0.components.0.default_values SELECT_RANGE"}},
		{"types of channels", choose(8, `,"channel_types":[0,5,16]`), nil},
		{"types of channels that are none", choose(8, `,"channel_types":[17,"0"]`) + `,{"type":1,"components":[{"type":5,"custom_id":"b","channel_types":[0]}]}`, []string{
			"components.0.components.0.channel_types.0 SCHEMA_too_big", "components.0.components.0.channel_types.1 SCHEMA_invalid_type", "components.1.components.0.channel_types SCHEMA_unrecognized_keys"}},
	} {
		t.Run(r.shows, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, i := range components.Check("components", parse(t, "["+r.layout+"]"), nil) {
				got = append(got, i.Path+" "+i.Code)
				if i.Message == "" || i.Message != strings.TrimSpace(i.Message) || strings.HasSuffix(i.Message, ".") {
					t.Errorf("%s: the message is %q", i.Path, i.Message)
				}
			}
			if !slices.Equal(got, r.want) {
				t.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(r.want, "\n\t"))
			}
		})
	}
}

func TestFilesThatAreSent(t *testing.T) {
	t.Parallel()
	layout := parse(t, `[{"type":13,"file":{"url":"attachment://a.txt"}},`+gallery(`{"media":{"url":"attachment://b.png"}},{"media":{"url":"https://a.example"}}`)+`]`)
	var asked []string
	issues := components.Check("parts", layout, func(name string) bool { asked = append(asked, name); return name == "a.txt" })
	if len(issues) != 1 || issues[0].Path != "parts.1.items.0.media.url" || issues[0].Code != "FILE_NOT_SENT" || issues[0].Hint == "" {
		t.Errorf("told %v", issues)
	}
	if !slices.Equal(asked, []string{"a.txt", "b.png"}) {
		t.Errorf("asked of %v", asked)
	}
}

func TestIssuesSayWhatToDo(t *testing.T) {
	t.Parallel()
	for layout, want := range map[string]components.Issue{
		`[{"type":10,"contnt":"x","content":"x"}]`: {"components.0.contnt", "SCHEMA_unrecognized_keys", `is not a member here; did you mean "content"?`, ""},
		`[{"type":14,"zzzzzzzz":1}]`:               {"components.0.zzzzzzzz", "SCHEMA_unrecognized_keys", "is not a member here; there are: divider, id, spacing, type", ""},
		`[{"type":23}]`:                            {"components.0.type", "MODAL_ONLY", "a checkbox (type 23) stands in a modal, not in a message", "Ask with a button or a select here, and open a modal when it is used."},
		`[{"type":99}]`: {"components.0.type", "UNKNOWN_TYPE", "there is no component of type 99",
			"There are: 1 action row, 2 button, 3 string select, 5 user select, 6 role select, 7 mentionable select, 8 channel select, 9 section, 10 text display, 11 thumbnail, 12 media gallery, 13 file, 14 separator, 17 container."},
		`[{"type":1,"components":[{"type":14}]}]`: {"components.0.components.0", "MISPLACED", "a separator does not stand in an action row",
			"There may stand: button (2), string select (3), user select (5), role select (6), mentionable select (7), channel select (8)."},
	} {
		if got := components.Check("components", parse(t, layout), nil); len(got) != 1 || got[0] != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", layout, got, want)
		}
	}
}

func TestNoMoreIssuesThanTheLimit(t *testing.T) {
	t.Parallel()
	if got := components.Check("components", parse(t, "["+times(500, `{"type":99}`)+"]"), nil); len(got) != 100 {
		t.Errorf("told %d issues", len(got))
	}
	name := strings.Repeat("n", 100_000)
	for _, i := range components.Check("components", parse(t, `[{"type":14,"`+name+`":1}]`), nil) {
		if len(i.Path)+len(i.Message) > 400 {
			t.Errorf("a long name is repeated whole: %d bytes", len(i.Path)+len(i.Message))
		}
	}
}

func TestCheckAccessory(t *testing.T) {
	t.Parallel()
	for accessory, want := range map[string]string{
		photo: "", press: "", `{"type":2,"style":5,"label":"x","url":"https://a.example"}`: "", `{"type":2,"style":6,"sku_id":"790000000000000001"}`: "",
		words: "accessory INVALID_ACCESSORY", `{}`: "accessory.type SCHEMA_invalid_type", `5`: "accessory SCHEMA_invalid_type",
		`{"type":11}`: "accessory.media SCHEMA_invalid_type",
	} {
		got := ""
		for _, i := range components.CheckAccessory("accessory", json.RawMessage(accessory)) {
			got += i.Path + " " + i.Code
		}
		if got != want {
			t.Errorf("%s: told %q, want %q", accessory, got, want)
		}
	}
}

func TestCheckMedia(t *testing.T) {
	t.Parallel()
	for address, good := range map[string]bool{
		"https://a.example/i.png": true, "HTTP://a.example": true, "attachment://a.png": true,
		"attachment://": false, "ftp://a.example": false, "a.png": false, "": false, "https://a.example/" + strings.Repeat("a", 2048): false,
	} {
		if got := len(components.CheckMedia("url", address)) == 0; got != good {
			t.Errorf("%.40q is accepted: %v", address, got)
		}
	}
}

// FuzzCheck: whatever the layout, nothing panics, and what is accepted is within
// Discord's counts.
func FuzzCheck(f *testing.F) {
	for _, t := range components.Templates() {
		layout, err := json.Marshal(t.Fill(nil))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(layout)
	}
	f.Add([]byte(`[{"type":17,"components":[{"type":9,"components":[null],"accessory":{"type":2}},{"type":1,"components":{}}]},5]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var layout []json.RawMessage
		if json.Unmarshal(raw, &layout) != nil {
			return
		}
		issues := components.Check("components", layout, nil)
		_ = components.Text(layout)
		if r := components.NewReview(layout); len(issues) == 0 && (r.TotalNodes > components.MaxNodes || r.TotalNodes == 0) {
			t.Errorf("accepted with %d components: %s", r.TotalNodes, raw)
		}
	})
}
