package workflows_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore"
)

var update = flag.Bool("update", false, "write the generated parts of docs/workflows.md anew")

// declared are Discord's workflows as an embedder gets them.
func declared(t *testing.T) []mcpcore.Workflow {
	t.Helper()
	client, err := discordtools.NewClient(sandbox.New(sandbox.Options{}).Session(), discordtools.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return workflows.All(client)
}

// TestWorkflowsPage writes the table and the code of docs/workflows.md from the
// declarations, and holds them against these.
func TestWorkflowsPage(t *testing.T) {
	t.Parallel()
	const path = "../../docs/workflows.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now := string(page)
	for mark, text := range map[string]string{"table": table(declared(t)), "rules": rules(t), "code": code(t), "names": standIns(declared(t))} {
		begin := "<!-- " + mark + ": written by go test ./discordtools/workflows -run TestWorkflowsPage -update -->\n"
		before, rest, found := strings.Cut(now, begin)
		_, after, ended := strings.Cut(rest, "<!-- end of "+mark+" -->\n")
		if !found || !ended {
			t.Fatalf("%s has no marks for the %s", path, mark)
		}
		now = before + begin + text + "<!-- end of " + mark + " -->\n" + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if now != string(page) {
		t.Error("docs/workflows.md is not what is declared; run: go test ./discordtools/workflows -run TestWorkflowsPage -update")
	}
}

func table(all []mcpcore.Workflow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d workflows:\n\n| workflow and toolset | tools | effect | scopes: the policy must name | limits: it may bound |\n|---|---|---|---|---|\n", len(all))
	for _, w := range all {
		var tools, scopes, limits []string
		for _, tool := range w.Tools() {
			tools = append(tools, "`"+tool.Name+"`")
		}
		for _, s := range w.Scopes {
			scopes = append(scopes, fmt.Sprintf("`%s`: %s", s.Name, s.Doc))
		}
		for _, l := range w.Limits {
			limits = append(limits, fmt.Sprintf("`%s`: %s; %d without it, at most %d", l.Name, l.Doc, l.Default, l.Max))
		}
		fmt.Fprintf(&b, "| `%s`, `%s` | %s | %s | %s | %s |\n", w.Name, w.Category, strings.Join(tools, ", "), w.Effect, strings.Join(scopes, "; "), strings.Join(limits, "; "))
	}
	return b.String() + "\n"
}

// literal is the declaration of one workflow as it is written.
type literal struct {
	name, file  string
	source      string // from its type to its closing brace
	lines, size int    // of the literal and of its file
}

// literals are all declarations, the shortest first.
func literals(t *testing.T) (all []literal) {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			kind, ok := lit.Type.(*ast.IndexListExpr)
			if !ok {
				return true
			}
			if of, ok := kind.X.(*ast.Ident); !ok || of.Name != "change" {
				return true
			}
			source := string(text[files.Position(lit.Pos()).Offset:files.Position(lit.End()).Offset])
			_, name, _ := strings.Cut(source, `Name: "`)
			name, _, _ = strings.Cut(name, `"`)
			all = append(all, literal{name, path, source, strings.Count(source, "\n") + 1, strings.Count(string(text), "\n")})
			return false
		})
	}
	slices.SortStableFunc(all, func(a, b literal) int { return a.lines - b.lines })
	return all
}

// code shows the shortest and the longest declaration and says how long all are.
func code(t *testing.T) string {
	all := literals(t)
	if n := len(declared(t)); len(all) != n {
		t.Fatalf("%d declarations are found of %d", len(all), n)
	}
	over := 0
	for _, l := range all {
		if l.lines > 60 {
			over++
		}
	}
	sizes := slices.Clone(all)
	slices.SortStableFunc(sizes, func(a, b literal) int { return a.size - b.size })
	short, long, middle := all[0], all[len(all)-1], len(all)/2
	var b strings.Builder
	fmt.Fprintf(&b, "\nThe %d declarations take %d to %d lines each, half of them %d or more", len(all), short.lines, long.lines, all[middle].lines)
	if over > 0 {
		fmt.Fprintf(&b, "; %d take more than 60", over)
	}
	b.WriteString(".\n")
	fmt.Fprintf(&b, "That is the literal alone. With its input, its state, and the functions that did not fit into it, a workflow's file has %d lines\n(`%s`) to %d (`%s`), half of them %d or more;\n",
		sizes[0].size, sizes[0].file, sizes[len(sizes)-1].size, sizes[len(sizes)-1].file, sizes[middle].size)
	b.WriteString("what several need, such as `standing.go` and `channel_uses.go`, comes on top.\n")
	fmt.Fprintf(&b, "\nThe shortest, of `%s`, names a plan that stands beside it:\n\n```go\n%s\n```\n", short.file, outdent(short.source))
	fmt.Fprintf(&b, "\nThe longest, of `%s`, holds its plan:\n\n```go\n%s\n```\n\n", long.file, outdent(long.source))
	return b.String()
}

// outdent takes away the tab that the declaring function's body has.
func outdent(source string) string { return strings.ReplaceAll(source, "\n\t", "\n") }
