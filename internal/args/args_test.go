package args_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/schema"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type (
	embed struct {
		Title string `json:"title,omitempty" maxLength:"10"`
		Color int    `json:"color,omitempty" minimum:"0" maximum:"16777215"`
	}
	component struct {
		Type    int    `json:"type"`
		Content string `json:"content,omitempty"`
	}
	input struct {
		ChannelID  discord.ChannelID  `json:"channel_id"`
		MessageIDs []discord.UserID   `json:"message_ids,omitempty" maxItems:"3" uniqueItems:"true"`
		Before     *discord.MessageID `json:"before,omitempty"`
		Content    string             `json:"content,omitempty" minLength:"1" maxLength:"20" pattern:"^[^!]*$"`
		Limit      int                `json:"limit,omitempty" minimum:"1" maximum:"100"`
		Delta      int                `json:"delta,omitempty"`
		Ratio      float64            `json:"ratio,omitempty"`
		NSFW       bool               `json:"nsfw,omitempty"`
		Topic      *string            `json:"topic,omitempty" enum:"a,b"`
		Sort       string             `json:"sort,omitempty" enum:"asc,desc"`
		At         string             `json:"at,omitempty" format:"date-time"`
		Embeds     []embed            `json:"embeds,omitempty" maxItems:"2"`
		Form       *embed             `json:"form,omitempty"`
		Components []component        `json:"components,omitempty"`
		Labels     map[string]string  `json:"labels,omitempty"`
		Any        json.RawMessage    `json:"any,omitempty"`
		Action     string             `json:"action,omitempty"`
	}
)

func schemaOf[T any](t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Of(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read does what a call does: parse, fit, validate. It is the canonical JSON, or
// what is wrong.
func read(t testing.TB, raw string, strict bool) (string, []args.Issue, []string) {
	t.Helper()
	s := schemaOf[input](t)
	v, err := args.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	object, issue := args.Parse([]byte(raw))
	if issue != nil {
		return "", []args.Issue{*issue}, nil
	}
	issues, dropped := args.Fit(object, s, strict)
	issues = append(issues, v.Validate(object)...)
	return string(canon.Append(nil, object)), issues, dropped
}

const (
	id   = `"710000000000000001"`
	head = `{"channel_id":` + id
)

// accepts demands that raw is read as want.
func accepts(t *testing.T, raw, want string) {
	t.Helper()
	got, issues, _ := read(t, raw, true)
	if len(issues) > 0 {
		t.Errorf("%s is refused: %v", raw, issues)
	} else if got != want {
		t.Errorf("%s is read as %s, want %s", raw, got, want)
	}
}

// refuses demands an issue at the path that says the words.
func refuses(t *testing.T, raw, path, says string) {
	t.Helper()
	_, issues, _ := read(t, raw, true)
	for _, i := range issues {
		if i.Path == path && strings.Contains(i.Message, says) && i.Code != "" {
			return
		}
	}
	t.Errorf("%.200s: no issue at %q that says %q in %v", raw, path, says, issues)
}

func TestL01IDSentAsNumber(t *testing.T) {
	t.Parallel()
	const says = "write the id in quotes"
	refuses(t, `{"channel_id":1287654321098765433}`, "channel_id", says)
	refuses(t, `{"channel_id":1.287654321098765433e18}`, "channel_id", says)
	refuses(t, `{"channel_id":1287654321098765433.0}`, "channel_id", says)
	refuses(t, head+`,"message_ids":[1287654321098765433]}`, "message_ids.0", says)
	refuses(t, head+`,"message_ids":"[1287654321098765433]"}`, "message_ids.0", says)
	refuses(t, head+`,"before":1287654321098765433}`, "before", says)
	accepts(t, `{"channel_id":"1287654321098765433","message_ids":["1287654321098765433"]}`, `{"channel_id":"1287654321098765433","message_ids":["1287654321098765433"]}`)
}

func TestL02IDThatIsNone(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"710000000000000001/../../guilds/700000000000000002", "710000000000000001?limit=1", "@me", "", " 710000000000000001",
		"0", "-5", "710000000000000001234", "７１００００００００００００００１", "710000000000000001\\n", "abcdefghijklmnopqrst",
	} {
		refuses(t, `{"channel_id":"`+bad+`"}`, "channel_id", "must be an id: 17 to 20 digits")
	}
	refuses(t, `{"channel_id":"99999999999999999999"}`, "channel_id", "does not fit 64 bits")
	accepts(t, `{"channel_id":"18446744073709551615"}`, `{"channel_id":"18446744073709551615"}`)
}

func TestL03ValuesAsText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"limit":"50"`:   `"limit":50`,
		`"delta":"-0"`:   `"delta":-0`,
		`"ratio":"1.50"`: `"ratio":1.50`,
		`"nsfw":"true"`:  `"nsfw":true`,
		`"message_ids":"[\"720000000000000001\"]"`:          `"message_ids":["720000000000000001"]`,
		`"components":"[{\"type\":10,\"content\":\"Hi\"}]"`: `"components":[{"content":"Hi","type":10}]`,
		`"components":["{\"type\":\"10\"}"]`:                `"components":[{"type":10}]`,
		`"form":"{\"title\":\"x\",\"color\":\"5\"}"`:        `"form":{"color":5,"title":"x"}`,
		`"content":"[1,2]"`:                                 `"content":"[1,2]"`, // wanted as text
		`"content":"true"`:                                  `"content":"true"`,
		`"any":"[1,2]"`:                                     `"any":"[1,2]"`,
		`"labels":{"a":"5"}`:                                `"labels":{"a":"5"}`,
		`"labels":"{\"a\":\"5\"}"`:                          `"labels":{"a":"5"}`,
	} {
		members := []string{`"channel_id":` + id, want}
		slices.Sort(members)
		accepts(t, head+`,`+raw+`}`, `{`+strings.Join(members, ",")+`}`)
	}
	for raw, says := range map[string]string{
		`"limit":"fifty"`:                    "must be a whole number, this is text",
		`"limit":" 50"`:                      "must be a whole number, this is text",
		`"limit":"50 "`:                      "must be a whole number, this is text",
		`"limit":"050"`:                      "must be a whole number, this is text",
		`"limit":"5e1"`:                      "must be a whole number, this is text",
		`"limit":"50,"`:                      "must be a whole number, this is text",
		`"limit":""`:                         "must be a whole number, this is text",
		`"limit":"null"`:                     "must be a whole number, this is text",
		`"limit":"1e999999999"`:              "must be a whole number, this is text",
		`"nsfw":"yes"`:                       "must be true or false, this is text",
		`"nsfw":"1"`:                         "must be true or false, this is text",
		`"nsfw":1`:                           "must be true or false, this is a number",
		`"message_ids":"720000000000000001"`: "must be a list, this is text",
		`"message_ids":"{}"`:                 "must be a list, this is text",
		`"form":"[]"`:                        "must be an object or null, this is text",
		`"form":"null"`:                      "must be an object or null, this is text",
		`"content":5`:                        "must be text, this is a number",
	} {
		name, _, _ := strings.Cut(raw[1:], `"`)
		refuses(t, head+`,`+raw+`}`, name, says)
	}
}

func TestL04AbsentNullAndEmpty(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "  ", "null", " null ", "{}"} {
		object, issue := args.Parse([]byte(raw))
		if issue != nil || object == nil || len(object) != 0 {
			t.Errorf("%q is %v, %v", raw, object, issue)
		}
	}
	accepts(t, head+`,"limit":null,"content":null,"message_ids":null,"labels":null}`, head+`}`)
	accepts(t, head+`,"before":null,"topic":null,"form":null,"any":null}`, `{"any":null,"before":null,"channel_id":`+id+`,"form":null,"topic":null}`)
	accepts(t, head+`,"embeds":[{"title":null}]}`, `{"channel_id":`+id+`,"embeds":[{}]}`)
	accepts(t, head+`,"embeds":[],"labels":{}}`, `{"channel_id":`+id+`,"embeds":[],"labels":{}}`)
	refuses(t, `{"channel_id":null}`, "channel_id", "is required")
	refuses(t, `{}`, "channel_id", "is required")
	refuses(t, head+`,"before":""}`, "before", "must be an id")
	refuses(t, head+`,"content":""}`, "content", "at least 1 characters")
	refuses(t, head+`,"embeds":[null]}`, "embeds.0", "must be an object, this is null")
	refuses(t, head+`,"components":[{"type":null}]}`, "components.0.type", "is required")
	for raw, is := range map[string]string{"[]": "a list", "5": "a number", `"x"`: "text", "true": "a boolean"} {
		refuses(t, raw, "", "arguments must be a JSON object, this is "+is)
	}
}

func TestL07HostKeysAndUnknownKeys(t *testing.T) {
	t.Parallel()
	host := `,"toolCallId":"call","tool_call_id":1,"sessionId":"s","chatInput":{"__confirm":true},"request_heartbeat":true,"_meta":{}`
	accepts(t, head+host+`}`, head+`}`)
	accepts(t, head+`,"action":"mine"}`, `{"action":"mine","channel_id":`+id+`}`) // declared, so it is not the host's
	refuses(t, head+`,"form":{"sessionId":"s"}}`, "form.sessionId", "is not an argument here")

	refuses(t, `{"chanel_id":`+id+`}`, "chanel_id", `did you mean "channel_id"?`)
	refuses(t, head+`,"LIMIT":5}`, "LIMIT", `did you mean "limit"?`)
	refuses(t, head+`,"embeds":[{"colour":5}]}`, "embeds.0.colour", `did you mean "color"?`)
	refuses(t, head+`,"embeds":[{"footer":5}]}`, "embeds.0.footer", "there are: color, title")
	refuses(t, head+`,"embeds":"[{\"footer\":5}]"}`, "embeds.0.footer", "there are: color, title")

	// A tool that reads drops and reports them.
	got, issues, dropped := read(t, head+`,"chanel":5,"embeds":[{"footer":5,"title":"x"}],"toolCallId":"x"}`, false)
	if want := `{"channel_id":` + id + `,"embeds":[{"title":"x"}]}`; got != want || len(issues) > 0 {
		t.Errorf("read as %s, %v", got, issues)
	}
	if !slices.Equal(dropped, []string{"chanel", "embeds.0.footer"}) {
		t.Errorf("dropped %v", dropped)
	}
}

func TestRepeatedKeysAtEveryDepth(t *testing.T) {
	t.Parallel()
	for raw, path := range map[string]string{
		`{"a":1,"a":1}`:                        "a",
		`{"a":{"b":1,"c":2,"b":3}}`:            "a.b",
		`{"a":[0,{"b":1,"b":1}]}`:              "a.1.b",
		`{"a":1,"\u0061":1}`:                   "a",
		`{"":1,"":1}`:                          "",
		`{"__confirm":false,"__confirm":true}`: "__confirm",
	} {
		if _, issue := args.Parse([]byte(raw)); issue == nil || issue.Path != path || !strings.Contains(issue.Message, "stands twice") {
			t.Errorf("%s: %v, want an issue at %s", raw, issue, path)
		}
	}
	for raw, path := range map[string]string{
		`{"content":1,"Content":1}`:            "Content",
		`{"a":{"user_id":1,"USER_ID":2}}`:      "a.USER_ID",
		`{"a":{"mask":1,"ma\u017fk":2}}`:       "a.maſk",
		`{"a":{"kind":1,"\u212aind":2}}`:       "a.\u212aind",
		`{"__confirm":false,"__Confirm":true}`: "__Confirm",
	} {
		if _, issue := args.Parse([]byte(raw)); issue == nil || issue.Path != path || !strings.Contains(issue.Message, "only in case") {
			t.Errorf("%s: %v, want an issue at %s", raw, issue, path)
		}
	}
	refuses(t, head+`,"components":"[{\"type\":1,\"type\":2}]"}`, "components", "0.type stands twice")
	refuses(t, head+`,"components":"[{\"type\":1,\"Type\":2}]"}`, "components", "only in case")
	if _, issue := args.Parse([]byte(`{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}]}`)); issue != nil {
		t.Errorf("the same key in different places is refused: %v", issue)
	}
	long := strings.Repeat("k", 100_000)
	if _, issue := args.Parse([]byte(`{"` + long + `":1,"` + strings.ToUpper(long) + `":1}`)); issue == nil || len(issue.Message)+len(issue.Path) > 400 {
		t.Errorf("a long key is repeated whole")
	}
}

// encoding/json takes keys for the same when SimpleFold does.
func TestEveryFoldingIsKnown(t *testing.T) {
	t.Parallel()
	for r := rune(0x21); r <= unicode.MaxRune; r++ {
		next := unicode.SimpleFold(r)
		if next == r || r == '"' || r == '\\' {
			continue
		}
		if _, issue := args.Parse(fmt.Appendf(nil, `{"x%c":1,"x%c":2}`, r, next)); issue == nil {
			t.Errorf("%U and %U are two keys", r, next)
		}
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	object, issue := args.Parse([]byte(`{"a":1,"__confirm":true,"__confirm_hash":"h","__confirm_id":null,"__consent":0,"__consent_hash":[],"__consent_id":{}}`))
	if issue != nil {
		t.Fatal(issue)
	}
	taken := args.TakeAuthorization(object)
	if got := slices.Sorted(maps.Keys(taken)); !slices.Equal(got, slices.Sorted(slices.Values(args.Authorization))) {
		t.Errorf("took %v", got)
	}
	if taken["__confirm"] != true || len(object) != 1 {
		t.Errorf("took %v and left %v", taken, object)
	}
	if got := args.TakeAuthorization(map[string]any{"a": 1}); got != nil {
		t.Errorf("took %v of nothing", got)
	}
	for raw, path := range map[string]string{
		`"form":{"__confirm":true}`:           "form.__confirm",
		`"embeds":[{"__confirm_hash":"x"}]`:   "embeds.0.__confirm_hash",
		`"labels":{"__consent":"x"}`:          "labels.__consent",
		`"any":{"a":[{"__confirm_id":1}]}`:    "any.a.0.__confirm_id",
		`"any":[[{"__confirm":true}]]`:        "any.0.0.__confirm",
		`"embeds":"[{\"__confirm\":true}]"`:   "embeds.0.__confirm",
		`"form":"{\"__confirm\":true}"`:       "form.__confirm",
		`"labels":"{\"__confirm\":\"true\"}"`: "labels.__confirm",
	} {
		for _, strict := range []bool{true, false} {
			_, issues, _ := read(t, head+`,`+raw+`}`, strict)
			if !slices.ContainsFunc(issues, func(i args.Issue) bool { return i.Path == path && strings.Contains(i.Message, "top level") }) {
				t.Errorf("strict %v, %s: %v", strict, raw, issues)
			}
		}
	}
}

func TestAllIssuesAtOnceInAgentWords(t *testing.T) {
	t.Parallel()
	_, issues, _ := read(t, `{"channel_id":5,"message_ids":["1","720000000000000001","720000000000000001","720000000000000002"],
		"content":"!`+strings.Repeat("x", 30)+`","limit":500,"delta":1.5,"nsfw":"no","topic":"c","sort":"up","at":"2031-05-01T18:00:00",
		"embeds":[{"title":"`+strings.Repeat("x", 11)+`","color":-1},{"color":16777216},{}],"components":[{}],"zzzzzzzz":1}`, true)
	got := map[string][]string{}
	for _, i := range issues {
		got[i.Path] = append(got[i.Path], i.Code+" "+i.Message)
	}
	for path, want := range map[string][]string{
		"channel_id":        {"invalid_type must be text: write the id in quotes, numbers above 2^53 lose digits", "invalid_type must be text, this is a number"},
		"message_ids":       {"too_big must have at most 3 items, this has 4", "invalid_value must not repeat an item: items 1 and 2 are the same"},
		"message_ids.0":     {"invalid_format must be an id: 17 to 20 digits"},
		"content":           {"invalid_format must match ^[^!]*$", "too_big must have at most 20 characters, this has 31"},
		"limit":             {"too_big must be at most 100"},
		"delta":             {"invalid_type must be a whole number in plain digits", "invalid_type must be a whole number, this is a number"},
		"nsfw":              {"invalid_type must be true or false, this is text"},
		"topic":             {"invalid_value must be one of a, b, null"},
		"sort":              {"invalid_value must be one of asc, desc"},
		"at":                {"invalid_format must be a time with an offset, such as 2031-05-01T18:00:00+02:00 or 2031-05-01T18:00:00Z"},
		"embeds":            {"too_big must have at most 2 items, this has 3"},
		"embeds.0.title":    {"too_big must have at most 10 characters, this has 11"},
		"embeds.0.color":    {"too_small must be at least 0"},
		"embeds.1.color":    {"too_big must be at most 16777215"},
		"components.0.type": {"invalid_type is required"},
		"zzzzzzzz":          nil,
	} {
		slices.Sort(got[path])
		slices.Sort(want)
		if want != nil && !slices.Equal(got[path], want) {
			t.Errorf("%s: %q, want %q", path, got[path], want)
		}
		if want == nil && len(got[path]) == 0 {
			t.Errorf("%s: no issue", path)
		}
		delete(got, path)
	}
	if len(got) > 0 {
		t.Errorf("issues that nobody expects: %v", got)
	}
}

func TestNoValueOfTheCallerIsRepeated(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"channel_id":"canary"}`, head + `,"content":"canary!canary canary canary"}`, head + `,"limit":"canary"}`,
		head + `,"sort":"canary"}`, head + `,"at":"canary"}`, head + `,"topic":"canary"}`, head + `,"zzzzzzzzzzz":"canary"}`,
		head + `,"embeds":"canary"}`, head + `,"message_ids":["canary","canary"]}`, head + `,"any":{"__confirm":"canary"}}`,
		head + `,"embeds":[{"zzzzzzzzzzz":"canary"}]}`, head + `,"labels":{"a":{"canary":1}}}`, `"canary"`, `{"a":canary}`,
		head + `,"form":"{\"a\":\"canary\",\"a\":\"canary\"}"}`,
	} {
		_, issues, _ := read(t, raw, true)
		if len(issues) == 0 {
			t.Errorf("%s is accepted", raw)
		}
		for _, i := range issues {
			if strings.Contains(i.Message+i.Path, "canary") {
				t.Errorf("%s: %v", raw, i)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"1e999999999", "-1e-999999999", "1e100", strings.Repeat("9", 41), "0." + strings.Repeat("1", 41), strings.Repeat("9", 1_000_000)} {
		for _, raw := range []string{`{"ratio":` + n + `}`, `{"any":[` + n + `]}`, head + `,"embeds":"[{\"color\":` + n + `}]"}`} {
			// Exact arithmetic on these would take minutes.
			if _, issues, _ := read(t, raw, true); len(issues) == 0 {
				t.Errorf("%.40s is accepted", raw)
			}
		}
	}
	accepts(t, head+`,"ratio":1e99}`, `{"channel_id":`+id+`,"ratio":1e99}`)
	accepts(t, head+`,"delta":9223372036854775807,"ratio":1.10}`, `{"channel_id":`+id+`,"delta":9223372036854775807,"ratio":1.10}`)
	accepts(t, head+`,"any":123456789012345678901234567890}`, `{"any":123456789012345678901234567890,"channel_id":`+id+`}`)
	refuses(t, head+`,"delta":99999999999999999999}`, "delta", "does not fit 64 bits")
	refuses(t, head+`,"delta":-99999999999999999999}`, "delta", "does not fit 64 bits")
	refuses(t, head+`,"delta":1e3}`, "delta", "whole number in plain digits")
	refuses(t, head+`,"limit":50.0}`, "limit", "whole number in plain digits")
}

func TestDepth(t *testing.T) {
	t.Parallel()
	nest := func(n int) string { return `{"any":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	if _, issue := args.Parse([]byte(nest(64))); issue != nil {
		t.Errorf("64 levels: %v", issue)
	}
	for _, n := range []int{65, 9_000} {
		if _, issue := args.Parse([]byte(nest(n))); issue == nil || !strings.Contains(issue.Message, "deeper than 64") || len(issue.Path) > 1000 {
			t.Errorf("%d levels: %v", n, issue)
		}
	}
	refuses(t, head+`,"embeds":"`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`"}`, "embeds", "must be a list, this is text")
}

func TestNotJSON(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a" 1}`, `{1:2}`, `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":[}`, `{"a":{]`, `{]`,
		`{"a":1}}`, `{"a":1}{}`, `{"a":1} x`, `{a:1}`, `{'a':1}`, `{"a":NaN}`, `{"a":01}`, `{"a":+1}`, `{"a":.5}`, `{"a":"` + "\n" + `"}`, "\ufeff{}", `{"a":tru}`,
	} {
		if object, issue := args.Parse([]byte(raw)); issue == nil {
			t.Errorf("%s is read as %v", raw, object)
		}
	}
}

func TestManyFaultsStayFew(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(head)
	for i := range 20_000 {
		fmt.Fprintf(&b, `,"unknown_key_%d":1`, i)
	}
	b.WriteString(`}`)
	object, issue := args.Parse([]byte(b.String()))
	if issue != nil {
		t.Fatal(issue)
	}
	issues, _ := args.Fit(object, schemaOf[input](t), true)
	if len(issues) != args.MaxIssues {
		t.Errorf("%d issues", len(issues))
	}
	if _, dropped := args.Fit(object, schemaOf[input](t), false); len(dropped) != args.MaxIssues || len(object) != 1 {
		t.Errorf("told %d of the dropped keys and kept %d", len(dropped), len(object))
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"channel_id", "content", "limit", "message_ids"}
	for key, want := range map[string]string{
		"chanel_id": "channel_id", "ChannelId": "channel_id", "limt": "limit", "LIMIT": "limit", "message_id": "message_ids",
		"contents": "content", "nothing_like_it": "", "": "", strings.Repeat("x", 10_000): "",
	} {
		if got := args.Nearest(key, names); got != want {
			t.Errorf("%.20s is near %q, want %q", key, got, want)
		}
	}
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	names := []string{"content", "embeds", "delta"}
	for raw, want := range map[string]string{
		`{"any":"{\"content\":\"x\",\"delta\":12345678901234567890}","limit":1}`: `{"content":"x","delta":12345678901234567890,"limit":1}`,
		`{"any":" {} ","content":"x"}`:                                           `{"content":"x"}`,
		`{"content":"x"}`:                                                        `{"content":"x"}`,
		`{"any":null}`:                                                           `{"any":null}`,
		`{"any":{"content":"x"}}`:                                                `{"any":{"content":"x"}}`,
		`{"any":""}`:                                                             "any: is not valid JSON",
		`{"any":"[1]"}`:                                                          "any: must be a JSON object in a text, this is a list",
		`{"any":"{\"content\":\"x\",\"content\":\"y\"}"}`:                        "any.content: stands twice; give each key once",
		`{"any":"{\"delta\":{\"a\":1,\"A\":2}}"}`:                                "any.delta.A: differs from \"a\" only in case; give one of them",
		`{"any":"{\"content\":\"x\"}","content":"x"}`:                            "any.content: is an argument of the call as well; give one of them",
		`{"any":"{\"limit\":1}"}`:                                                "any.limit: is not an argument here; there are: content, embeds, delta",
		`{"any":"{\"__confirm\":true}"}`:                                         "any.__confirm: is not an argument here; there are: content, embeds, delta",
		`{"any":"{\"any\":\"{}\"}"}`:                                             "any.any: is not an argument here; there are: content, embeds, delta",
		`{"any":"{\"Content\":\"x\"}"}`:                                          "any.Content: is not an argument here; there are: content, embeds, delta",
		`{"any":"` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `"}`: "any." + strings.Repeat("0.", 64) + "0: nested deeper than 64 levels",
	} {
		object, fault := args.Parse([]byte(raw))
		if fault != nil {
			t.Fatalf("%s: %v", raw, fault)
		}
		got := ""
		if issue := args.Unpack(object, "any", names); issue != nil {
			got = issue.Path + ": " + issue.Message
		} else {
			got = string(canon.Append(nil, object))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}
