package discordtools

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/internal/schema"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// TestTheGrammarIsExplained holds docs/declaring.md complete: every field of a
// declaration and of a tool, every tag and every value that the grammar gives
// one, stands in a table of the page.
func TestTheGrammarIsExplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/declaring.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string // the first cells of tables, where things are explained
	for line := range strings.Lines(string(text)) {
		if cells := strings.SplitN(line, " | ", 2); strings.HasPrefix(line, "| `") && len(cells) == 2 {
			rows = append(rows, cells[0])
		}
	}
	explained := func(what string) {
		if !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, what) }) {
			t.Errorf("no table of docs/declaring.md explains %s", what)
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[spec[struct{}, struct{}]](), reflect.TypeFor[mcpcore.Tool]()} {
		for _, f := range reflect.VisibleFields(of) {
			if f.IsExported() {
				explained("`" + f.Name + "`")
			}
		}
	}
	for _, tag := range slices.Concat(planTags, schema.Keywords(), []string{viewTag}) {
		explained("`" + tag + `:"`)
	}
	for _, place := range places {
		explained(`in:"` + place + `"`)
	}
	for form := range maps.Keys(forms) {
		explained(`as:"` + form + `"`)
	}
	for _, source := range append(sources, "arg", "arg.name") {
		explained(`from:"@` + source + `"`)
	}
	for _, always := range []string{"`json`", "`jsonschema`", "`omitempty`"} {
		if !strings.Contains(string(text), always) {
			t.Errorf("docs/declaring.md does not speak of %s", always)
		}
	}
}
