package workflows_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// kinds say which workflows a rule is about, by the words with which operationtest
// leaves it out for the others.
var kinds = map[string]struct {
	words string
	holds func(w mcpcore.Workflow, scene map[string]bool) bool
}{
	"":                          {"every workflow", nil},
	"the world refuses nothing": {"every workflow", nil}, // Discord refuses each
	"the plan shows nothing that it does not bind": {"plans that show people what may change meanwhile", func(_ mcpcore.Workflow, scene map[string]bool) bool {
		return scene["Rename"]
	}},
	"the change cannot be there already": {"changes that can be there already", func(_ mcpcore.Workflow, scene map[string]bool) bool {
		return scene["Settle"]
	}},
	"it does not destroy": {"those that destroy", func(w mcpcore.Workflow, _ map[string]bool) bool {
		return w.Effect == mcpcore.Destroy
	}},
	"it has no writes that are operations of their own": {"changes of several writes with a receipt each", func(_ mcpcore.Workflow, scene map[string]bool) bool {
		return scene["Children"]
	}},
	"there is nothing to verify": {"those that verify", func(w mcpcore.Workflow, _ map[string]bool) bool {
		return slices.ContainsFunc(w.Tools(), func(tool mcpcore.Tool) bool { return strings.HasPrefix(tool.Name, "verify_") })
	}},
}

// rules says which rules of operationtest hold for which workflows and stores.
func rules(t *testing.T) string {
	t.Helper()
	src, all := sources(t).scenes(), declared(t)
	var order []string
	of := map[string][]string{} // rules by whom they hold for
	add := func(who, rule string) {
		if of[who] == nil {
			order = append(order, who)
		}
		of[who] = append(of[who], rule)
	}
	for _, r := range suite(t, "Workflow", "workflow.go", "rules.go", "children.go") {
		kind, known := kinds[r.unless]
		if !known {
			t.Errorf("%q is left out where %q; say in kinds whom it holds for", r.name, r.unless)
		}
		who := kind.words
		if kind.holds != nil {
			var names []string
			for _, w := range all {
				if kind.holds(w, src[w.Name]) {
					names = append(names, "`"+w.Name+"`")
				}
			}
			who = fmt.Sprintf("%s, %d: %s", kind.words, len(names), strings.Join(names, ", "))
		}
		add(who, r.name)
	}
	var b strings.Builder
	b.WriteString("\n`operationtest.Workflow` checks these on a change of each workflow in the sandbox, which counts what is sent:\n\n| for | rules |\n|---|---|\n")
	for _, who := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", who, strings.Join(of[who], "; "))
	}
	order, of = nil, map[string][]string{}
	for _, r := range suite(t, "Run", "ledger.go", "children.go") {
		switch r.unless {
		case "":
			add("memory, SQLite, PostgreSQL", r.name)
		case "it keeps nothing outside the process":
			add("SQLite, PostgreSQL", r.name)
		default:
			t.Errorf("%q is left out where %q: on which stores does it hold?", r.name, r.unless)
		}
	}
	var raced, parts []string
	for _, w := range all {
		if src[w.Name]["Children"] {
			parts = append(parts, "`"+w.Name+"`")
		}
		if src[w.Name]["Race"] {
			raced = append(raced, "`"+w.Name+"`")
		}
	}
	add("SQLite, PostgreSQL, with every workflow", "a process that is killed after "+steps(t)+" leaves what the next one has to find, and nothing is written twice")
	add("SQLite, PostgreSQL, with "+strings.Join(parts, ", "), "a process that is killed between two writes, or after the last, leaves an operation that goes on under its key in another one, and one that is killed within a write leaves quarantine")
	add("SQLite, PostgreSQL, with "+strings.Join(raced, ", "), "of processes that execute at once on one target exactly one writes, and on other targets they write at the same time")
	b.WriteString("\n`operationtest.Run` checks these on the ledgers, and the scenes of `discordtools/workflows` those of several processes:\n\n| for | rules |\n|---|---|\n")
	for _, who := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", who, strings.Join(of[who], "; "))
	}
	return b.String() + "\n"
}

// rule is one of a suite's: its name, and the words with which it leaves itself
// out.
type rule struct{ name, unless string }

// suite are the rules that a function of operationtest runs, in their order.
func suite(t *testing.T, function string, files ...string) (all []rule) {
	t.Helper()
	methods := map[string]*ast.FuncDecl{}
	var run *ast.FuncDecl
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), "../../mcpcore/operationtest/"+name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch fn, ok := d.(*ast.FuncDecl); {
			case ok && fn.Recv != nil:
				methods[fn.Name.Name] = fn
			case ok && fn.Name.Name == function:
				run = fn
			}
		}
	}
	if run == nil {
		t.Fatalf("operationtest has no %s", function)
	}
	ast.Inspect(run.Body, func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok || len(row.Elts) != 2 {
			return true
		}
		name, text := row.Elts[0].(*ast.BasicLit)
		check, method := row.Elts[1].(*ast.SelectorExpr)
		if text && method {
			all = append(all, rule{words(name), skips(methods[check.Sel.Name])})
		}
		return true
	})
	if len(all) < 20 {
		t.Errorf("%s runs %v: this looks at the wrong place", function, all)
	}
	return all
}

// skips are the words with which a check leaves itself out, "" for never.
func skips(check *ast.FuncDecl) (why string) {
	ast.Inspect(check.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
			if skip, ok := call.Fun.(*ast.SelectorExpr); ok && skip.Sel.Name == "Skip" {
				if text, ok := call.Args[0].(*ast.BasicLit); ok {
					why = words(text)
				}
			}
		}
		return true
	})
	return why
}

func words(lit *ast.BasicLit) string {
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return lit.Value
	}
	return s
}

var step = regexp.MustCompile(`\{"([a-z ]+)", (?:""|mcpcore\.Status\w+), mcpcore\.Claim`)

// steps are those after which [scene.killed] kills a process.
func steps(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("killed_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range step.FindAllStringSubmatch(string(text), -1) {
		all = append(all, "`"+m[1]+"`")
	}
	if len(all) < 2 {
		t.Fatalf("killed_test.go kills at %v", all)
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}
