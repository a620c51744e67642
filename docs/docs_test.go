// Package docs_test keeps the pages true: tables that follow from the code are
// held against it, and links lead somewhere.
package docs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/middleware"
)

var update = flag.Bool("update", false, "write the generated tables anew")

const tableMark = "<!-- table: written by go test ./docs -update -->\n"

func TestErrorsListsTheWholeTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("errors.md")
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(page), tableMark)
	if !found {
		t.Fatal("errors.md has no mark for the table")
	}
	want := "\n" + codeTable(t)
	if *update {
		if err := os.WriteFile("errors.md", []byte(before+tableMark+want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if after != want {
		t.Error("the table in errors.md is not mcpcore's; run: go test ./docs -update")
	}
}

// codeTable is the table of codes in the order of the source, whose comments
// say when each is used.
func codeTable(t *testing.T) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../mcpcore/code.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| code | when | category | retriable | what to do next |\n|---|---|---|---|---|\n")
	known := mcpcore.Codes()
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		name, err := strconv.Unquote(lit.Value)
		if err != nil || !slices.Contains(known, mcpcore.Code(name)) {
			return true
		}
		known = slices.DeleteFunc(known, func(c mcpcore.Code) bool { return c == mcpcore.Code(name) })
		c := mcpcore.Code(name)
		again := "no"
		if c.Retriable() {
			again = "yes"
		}
		when := strings.TrimSpace(spec.Comment.Text())
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c, strings.ReplaceAll(when, "|", `\|`), c.Category(), again, c.Hint())
		return true
	})
	if len(known) > 0 {
		t.Errorf("code.go does not declare %v", known)
	}
	return b.String()
}

func TestPagesGiveTheChainInItsOrder(t *testing.T) {
	t.Parallel()
	layers := middleware.Standard(middleware.Options{})
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("middleware.md")
	if err != nil {
		t.Fatal(err)
	}
	var chain []string
	for i, layer := range layers {
		if row := fmt.Sprintf("| %d | `%s` |", i+1, layer.Name); !strings.Contains(string(readme), row) {
			t.Errorf("README.md has no row %q", row)
		}
		if item := fmt.Sprintf("\n%d. **%s** ", i+1, layer.Name); !strings.Contains(string(page), item) {
			t.Errorf("middleware.md has no item %q", item)
		}
		chain = append(chain, layer.Name)
	}
	if line := strings.Join(append(chain, "interlock", "handler"), " → "); !strings.Contains(strings.Join(strings.Fields(string(page)), " "), line) {
		t.Errorf("middleware.md does not show %s", line)
	}
	if extra := fmt.Sprintf("| %d |", len(layers)+1); strings.Contains(string(readme), extra) {
		t.Errorf("README.md has a layer too many: %s", extra)
	}
}

// TestContributingShowsWhatIsThere: what the page shows of a tool is that tool's
// own source.
func TestContributingShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	var source string
	for _, name := range []string{"stage_instances.go", "stage_instances_test.go"} {
		text, err := os.ReadFile("../discordtools/" + name)
		if err != nil {
			t.Fatal(err)
		}
		source += " " + strings.Join(strings.Fields(string(text)), " ")
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) != 3 {
		t.Errorf("it shows %d pieces; a literal, an input and rows are meant", len(blocks))
	}
	for _, b := range blocks {
		code, _, _ := strings.Cut(b, "```")
		if !strings.Contains(source, strings.Join(strings.Fields(code), " ")) {
			t.Errorf("this is no longer the source:\n%s", code)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	inner, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) == 0 || len(inner) == 0 {
		t.Fatal("no pages found")
	}
	for _, page := range append(pages, inner...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			to, _, _ := strings.Cut(m[1], "#")
			if to == "" || strings.Contains(to, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), to)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, to)
			}
		}
	}
}
