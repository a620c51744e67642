package schema_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/guildwarden/guildwarden/internal/schema"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func of[T any](t *testing.T, extra ...string) *schema.Schema {
	t.Helper()
	s, err := schema.Of(reflect.TypeFor[T](), extra...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compile demands that the published schema is one.
func compile(t *testing.T, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///schema.json")
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s
}

func accepts(t *testing.T, s *jsonschema.Schema, instance string) bool {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(instance))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v) == nil
}

// member is what a type with the one field f publishes for it.
func member[T any](t *testing.T) string {
	t.Helper()
	published := of[T](t).JSON()
	compile(t, published)
	var root struct {
		Properties struct {
			F json.RawMessage `json:"f"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(published, &root); err != nil {
		t.Fatal(err)
	}
	return string(root.Properties.F)
}

type tiny int8

func TestEveryKeywordAndType(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]string{
		"text": {member[struct {
			F string `json:"f"`
		}](t), `{"type":"string"}`},
		"description": {member[struct {
			F string `json:"f" jsonschema:"say \"x\", <y>"`
		}](t), `{"type":"string","description":"say \"x\", <y>"}`},
		"lengths": {member[struct {
			F string `json:"f" minLength:"1" maxLength:"9"`
		}](t), `{"type":"string","minLength":1,"maxLength":9}`},
		"pattern": {member[struct {
			F string `json:"f" pattern:"^a\\d$"`
		}](t), `{"type":"string","pattern":"^a\\d$"}`},
		"format": {member[struct {
			F string `json:"f" format:"uri"`
		}](t), `{"type":"string","format":"uri"}`},
		"enum": {member[struct {
			F string `json:"f" enum:"a,b" default:"a"`
		}](t), `{"type":"string","enum":["a","b"],"default":"a"}`},
		"whole": {member[struct {
			F int `json:"f" minimum:"-1" maximum:"9" default:"0"`
		}](t), `{"type":"integer","default":0,"minimum":-1,"maximum":9}`},
		"whole enum": {member[struct {
			F int `json:"f" enum:"1,5"`
		}](t), `{"type":"integer","enum":[1,5]}`},
		"unsigned": {member[struct {
			F uint `json:"f"`
		}](t), `{"type":"integer","minimum":0}`},
		"a byte": {member[struct {
			F uint8 `json:"f"`
		}](t), `{"type":"integer","minimum":0,"maximum":255}`},
		"32 bits": {member[struct {
			F uint32 `json:"f" maximum:"7"`
		}](t), `{"type":"integer","minimum":0,"maximum":7}`},
		"named": {member[struct {
			F tiny `json:"f"`
		}](t), `{"type":"integer","minimum":-128,"maximum":127}`},
		"number": {member[struct {
			F float64 `json:"f" minimum:"0.5" default:"1e3"`
		}](t), `{"type":"number","default":1e3,"minimum":0.5}`},
		"number enum": {member[struct {
			F float64 `json:"f" enum:"0.5,1"`
		}](t), `{"type":"number","enum":[0.5,1]}`},
		"truth": {member[struct {
			F bool `json:"f" default:"true"`
		}](t), `{"type":"boolean","default":true}`},
		"a false": {member[struct {
			F bool `json:"f" default:"false"`
		}](t), `{"type":"boolean","default":false}`},
		"list": {member[struct {
			F []string `json:"f" minItems:"1" maxItems:"5" uniqueItems:"true" maxLength:"3" enum:"a,b"`
		}](t), `{"type":"array","minItems":1,"maxItems":5,"uniqueItems":true,"items":{"type":"string","enum":["a","b"],"maxLength":3}}`},
		"bytes": {member[struct {
			F []byte `json:"f"`
		}](t), `{"type":"string"}`},
		"map": {member[struct {
			F map[string]int `json:"f"`
		}](t), `{"type":"object","properties":{},"additionalProperties":{"type":"integer"}}`},
		"open map": {member[struct {
			F map[string]any `json:"f"`
		}](t), `{"type":"object","properties":{},"additionalProperties":{}}`},
		"anything": {member[struct {
			F any `json:"f" jsonschema:"x"`
		}](t), `{"description":"x"}`},
		"raw": {member[struct {
			F json.RawMessage `json:"f"`
		}](t), `{}`},
		"pointer": {member[struct {
			F *string `json:"f" maxLength:"3"`
		}](t), `{"type":["string","null"],"maxLength":3}`},
		"pointer enum": {member[struct {
			F *string `json:"f" enum:"a"`
		}](t), `{"type":["string","null"],"enum":["a",null]}`},
		"pointer raw": {member[struct {
			F *json.RawMessage `json:"f"`
		}](t), `{}`},
		"object": {member[struct {
			F struct {
				A int `json:"a"`
			} `json:"f"`
		}](t), `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`},
		"id": {member[struct {
			F discord.GuildID `json:"f" jsonschema:"guild"`
		}](t), `{"type":"string","description":"guild","pattern":"^[0-9]{17,20}$"}`},
		"pointer id": {member[struct {
			F *discord.GuildID `json:"f"`
		}](t), `{"type":["string","null"],"pattern":"^[0-9]{17,20}$"}`},
		"ids": {member[struct {
			F []discord.GuildID `json:"f" maxItems:"2"`
		}](t), `{"type":"array","maxItems":2,"items":{"type":"string","pattern":"^[0-9]{17,20}$"}}`},
		"own schema": {member[struct {
			F weekday `json:"f" jsonschema:"which"`
		}](t), `{"type":"string","description":"which","enum":["mon","tue"],"default":"mon","format":"x","pattern":"^","minLength":3,"maxLength":3}`},
		"own list": {member[struct {
			F weekdays `json:"f"`
		}](t), `{"type":"array","description":"days","minItems":1,"maxItems":7,"items":{"type":"integer","minimum":0,"maximum":6}}`},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s publishes %s, want %s", name, pair[0], pair[1])
		}
	}
}

type weekday string

func (weekday) JSONSchema() string {
	return `{"type":"string","enum":["mon","tue"],"default":"mon","format":"x","pattern":"^","minLength":3,"maxLength":3}`
}

type weekdays []int

func (weekdays) JSONSchema() string {
	return `{"type":"array","description":"days","minItems":1,"maxItems":7,"items":{"type":"integer","minimum":0,"maximum":6}}`
}

type badSchema string

func (badSchema) JSONSchema() string { return `{"type":"string","oneOf":[]}` }

type twoTypes string

func (twoTypes) JSONSchema() string { return `{"type":["string","null"]}` }

type base struct {
	GuildID discord.GuildID `json:"guild_id"`
	Reason  string          `json:"reason,omitempty"`
}

type node struct {
	Name  string          `json:"name"`
	Kids  []node          `json:"kids,omitempty"`
	Left  *node           `json:"left,omitempty"`
	Named map[string]node `json:"named,omitempty"`
}

// structOf is a struct of texts with the given tags, also with those that vet
// would not let through.
func structOf(tags ...reflect.StructTag) reflect.Type {
	var fields []reflect.StructField
	for i, tag := range tags {
		fields = append(fields, reflect.StructField{Name: string(rune('A' + i)), Type: reflect.TypeFor[string](), Tag: tag})
	}
	return reflect.StructOf(fields)
}

func TestFaultsAreAllReported(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		of   reflect.Type
		says []string
	}{
		"unknown tags": {reflect.TypeFor[struct {
			A string `json:"a" minLenght:"1"`
			B string `json:"b" Pattern:"x"`
		}](), []string{`.A: unknown tag "minLenght"`, `.B: unknown tag "Pattern"`}},
		"a duplicate": {structOf(`json:"a"`, `json:"a"`, `json:"A"`), []string{`.B: "a" is declared twice`, `.C: "A" is declared twice`}},
		"a duplicate of an embedded field": {reflect.TypeFor[struct {
			base
			Other string `json:"reason"`
		}](), []string{`.Other: "reason" is declared twice`}},
		"no name": {reflect.TypeFor[struct{ A string }](), []string{"needs an exported name and a json name"}},
		"not exported": {reflect.StructOf([]reflect.StructField{{
			Name: "a", PkgPath: "x", Type: reflect.TypeFor[string](), Tag: `json:"a"`,
		}}), []string{"needs an exported name"}},
		"option string": {reflect.TypeFor[struct {
			A int `json:"a,string"`
		}](), []string{`json option "string"`}},
		"malformed tags": {structOf(`json:"a" minimum:5`, `json:"b" minimum:"5`, `json:"c" json:"d"`),
			[]string{".A: malformed tag", ".B: malformed value", `.C: tag "json" stands twice`}},
		"bad values": {reflect.TypeFor[struct {
			A int      `json:"a" minimum:"+5"`
			B string   `json:"b" maxLength:"-1"`
			C string   `json:"c" maxLength:"1.5"`
			D float64  `json:"d" maximum:"Inf"`
			E float64  `json:"e" maximum:"0x10"`
			F string   `json:"f" pattern:"("`
			G int      `json:"g" enum:"1,x"`
			H int      `json:"h" default:"007"`
			I bool     `json:"i" default:"maybe"`
			J []string `json:"j" uniqueItems:"maybe"`
		}](), []string{".A: minimum", ".B: maxLength", ".C: maxLength", ".D: maximum", ".E: maximum", ".F: pattern", ".G: enum", ".H: default", ".I: default", ".J: uniqueItems"}},
		"constraints of other types": {reflect.TypeFor[struct {
			A int            `json:"a" maxLength:"5"`
			B string         `json:"b" minimum:"5"`
			C string         `json:"c" maxItems:"5"`
			D bool           `json:"d" pattern:"x"`
			E []int          `json:"e" maxLength:"5"`
			F map[string]int `json:"f" minimum:"5"`
			G []int          `json:"g" default:"5"`
			H any            `json:"h" enum:"a"`
		}](), []string{".A: maxLength", ".B: minimum", ".C: maxItems", ".D: pattern", ".E: maxLength", ".F: minimum", ".G: default", ".H: enum constrains string or integer or number or boolean, and this is anything"}},
		"no schema": {reflect.TypeFor[struct {
			A chan int   `json:"a"`
			B func()     `json:"b"`
			C complex128 `json:"c"`
		}](), []string{".A: a chan int", ".B: a func()", ".C: a complex128"}},
		"a form of its own": {reflect.TypeFor[struct {
			A time.Time     `json:"a"`
			B *time.Time    `json:"b"`
			C []time.Time   `json:"c"`
			D json.Number   `json:"d,omitempty"`
			E reflect.Value `json:"e"`
		}](), []string{".A: time.Time has a JSON form of its own", ".B: time.Time", ".C[]: time.Time"}},
		"a schema that is none": {reflect.TypeFor[struct {
			A badSchema `json:"a"`
			B twoTypes  `json:"b"`
		}](), []string{".A: its own schema", ".B: its own schema: type must be one name"}},
		"no struct": {reflect.TypeFor[string](), []string{"string is not a struct"}},
		"nothing":   {nil, []string{"<nil> is not a struct"}},
	} {
		s, err := schema.Of(row.of)
		if err == nil {
			t.Errorf("%s builds: %s", name, s.JSON())
			continue
		}
		for _, says := range row.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v\ndoes not say %q", name, err, says)
			}
		}
	}
}

func TestEmbeddedFieldsStandAsTheirOwn(t *testing.T) {
	t.Parallel()
	type in struct {
		base
		Text string `json:"text,omitzero"`
		Skip string `json:"-"`
	}
	s := of[in](t)
	if got, want := string(s.JSON()), `{"type":"object","properties":{"guild_id":{"type":"string","pattern":"^[0-9]{17,20}$"},"reason":{"type":"string"},"text":{"type":"string"}},"required":["guild_id"],"additionalProperties":false}`; got != want {
		t.Errorf("publishes %s, want %s", got, want)
	}
	v := reflect.ValueOf(in{base: base{Reason: "why"}, Text: "what"})
	for name, want := range map[string]string{"reason": "why", "text": "what"} {
		p, ok := s.Property(name)
		if !ok || v.FieldByIndex(p.Index).String() != want {
			t.Errorf("%s is not where it says", name)
		}
	}
	if p, _ := s.Property("guild_id"); !p.Required || !p.Schema.ID {
		t.Errorf("guild_id is %+v", p)
	}
}

func TestPointerTakesNull(t *testing.T) {
	t.Parallel()
	s := compile(t, of[struct {
		Topic *string          `json:"topic,omitempty" enum:"a,b"`
		Guild *discord.GuildID `json:"guild,omitempty"`
		Name  string           `json:"name,omitempty"`
	}](t).JSON())
	for instance, want := range map[string]bool{
		`{"topic":null}`: true, `{"topic":"a"}`: true, `{"topic":"c"}`: false, `{"guild":null}`: true, `{"guild":"x"}`: false, `{"name":null}`: false, `{}`: true,
	} {
		if accepts(t, s, instance) != want {
			t.Errorf("%s: accepted is %v", instance, !want)
		}
	}
}

func TestRecursionIsUnrolledThreeLevels(t *testing.T) {
	t.Parallel()
	published := of[node](t).JSON()
	s := compile(t, published)
	for instance, want := range map[string]bool{
		`{"name":"1"}`: true,
		`{"name":"1","kids":[{"name":"2","left":{"name":"3"}}]}`:                             true,
		`{"name":"1","named":{"a":{"name":"2","named":{"b":{"name":"3"}}}}}`:                 true,
		`{"name":"1","kids":[{"name":"2","left":{"name":"3","left":{"name":"4"}}}]}`:         false,
		`{"name":"1","named":{"a":{"name":"2","named":{"b":{"name":"3","named":{}}}}}}`:      false,
		`{"name":"1","named":{"a":{"name":"2","named":{"b":{"name":"3","named":{"c":5}}}}}}`: false,
	} {
		if accepts(t, s, instance) != want {
			t.Errorf("%s: accepted is %v by %s", instance, !want, published)
		}
	}
}

func TestExtraTagsAreKept(t *testing.T) {
	t.Parallel()
	type in struct {
		A string `json:"a" wire:"b" in:"query"`
	}
	s := of[in](t, "wire", "in")
	if p, _ := s.Property("a"); p.Tags["wire"] != "b" || p.Tags["in"] != "query" || len(p.Tags) != 2 {
		t.Errorf("tags are %v", p.Tags)
	}
	if _, err := schema.Of(reflect.TypeFor[in](), "wire"); err == nil || !strings.Contains(err.Error(), `unknown tag "in"`) {
		t.Errorf("without the permission: %v", err)
	}
}

func TestCloneLeavesTheOriginal(t *testing.T) {
	t.Parallel()
	s := of[base](t)
	before := string(s.JSON())
	c := s.Clone()
	c.Properties[0].Required = false
	c.Properties = append(c.Properties, schema.Property{Name: "x", Schema: &schema.Schema{Type: "string"}})
	if string(s.JSON()) != before || string(c.JSON()) == before {
		t.Errorf("the original is %s, the clone %s", s.JSON(), c.JSON())
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	out := schema.Output(of[struct {
		Names []string          `json:"names"`
		By    map[string]string `json:"by,omitempty"`
		Link  *string           `json:"link"`
		Any   any               `json:"any,omitempty"`
		Count int               `json:"count" minimum:"0"`
	}](t))
	want := `{"type":"object","anyOf":[{"properties":{"names":{"type":"array"},"by":{"type":"object"},"link":{"type":["string","null"]},"any":{},"count":{"type":"integer"}},"required":["names","link","count"]},{"properties":{"code":{"type":"string"}},"required":["code"]}]}`
	if string(out) != want {
		t.Errorf("publishes %s, want %s", out, want)
	}
	s := compile(t, out)
	for instance, want := range map[string]bool{
		`{"names":[],"link":null,"count":0}`:             true,
		`{"names":[],"link":"x","count":0,"later":true}`: true,
		`{"names":null,"link":"x","count":0}`:            false,
		`{"link":"x","count":0}`:                         false,
		`{"code":"INTERNAL_ERROR","retriable":true}`:     true,
		`[]`: false,
	} {
		if accepts(t, s, instance) != want {
			t.Errorf("%s: accepted is %v", instance, !want)
		}
	}
	compile(t, schema.Output(of[struct{}](t)))
}

func TestASchemaIsBuiltOnce(t *testing.T) {
	t.Parallel()
	if first, second := of[base](t), of[base](t); first != second {
		t.Error("it was built twice")
	}
	if of[base](t) == of[base](t, "wire") {
		t.Error("two permissions share one schema")
	}
}
