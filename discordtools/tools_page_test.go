package discordtools_test

import (
	"bytes"
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
)

// TestToolsPage writes docs/TOOLS.md from the declarations, and holds it against
// them.
func TestToolsPage(t *testing.T) {
	t.Parallel()
	all, about := tools(t), categoryDocs(t)
	definitions := listed(t)
	var page bytes.Buffer
	fmt.Fprintf(&page, "# Tools\n\nWritten from the declarations by `go test ./discordtools -run TestToolsPage -update`: %d tools.\n\n", len(all))
	page.WriteString("Every argument is checked before anything is sent. An id is text of 17 to 20 digits. What is said of confirmation follows from\n" +
		"a tool's effect; [confirmation](confirmation.md) explains it, [scope](scope.md) what scope and permissions mean.\n\n")
	names := map[string][]mcpcore.Tool{}
	var categories []string
	for _, tool := range all {
		if names[tool.Category] == nil {
			categories = append(categories, tool.Category)
		}
		names[tool.Category] = append(names[tool.Category], tool)
	}
	for _, c := range categories {
		fmt.Fprintf(&page, "- [%s](#%s): %d\n", c, c, len(names[c]))
	}
	for _, c := range categories {
		if about[c] == "" {
			t.Errorf("the function that declares %s has no comment", c)
		}
		fmt.Fprintf(&page, "\n## %s\n\n%s\n", c, about[c])
		for _, tool := range names[c] {
			describe(&page, tool, tree(t, definitions[tool.Name].InputSchema))
		}
	}
	golden(t, "../docs/TOOLS.md", page.Bytes())
}

// categoryDocs are the comments on the functions that declare categories, as
// Markdown, by the category's name.
func categoryDocs(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			if name := declares(fn); name != "" {
				docs[name] = markdown(fn)
			}
		}
	}
	return docs
}

// declares is the name of the category that a function returns, "" for any other
// function.
func declares(fn *ast.FuncDecl) (name string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if kind, ok := lit.Type.(*ast.Ident); !ok || kind.Name != "category" {
			return true
		}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok || kv.Key.(*ast.Ident).Name != "Name" {
				continue
			}
			if v, ok := kv.Value.(*ast.BasicLit); ok {
				name, _ = strconv.Unquote(v.Value)
			}
		}
		return false
	})
	return name
}

// markdown is a function's comment without the function's name, its source as a
// link.
func markdown(fn *ast.FuncDecl) string {
	text, source, _ := strings.Cut(fn.Doc.Text(), "\nSource: ")
	text = strings.Join(strings.Fields(strings.TrimPrefix(text, fn.Name.Name+" ")), " ")
	text = strings.ToUpper(text[:1]) + text[1:]
	if source = strings.TrimSuffix(strings.TrimSpace(source), "."); source != "" {
		text += " [Documentation](" + source + ")."
	}
	return text
}

// describe writes one tool.
func describe(page *bytes.Buffer, tool mcpcore.Tool, input map[string]any) {
	fmt.Fprintf(page, "\n### %s\n\n**%s.** %s\n\n", tool.Name, tool.Title, shownText(tool.Description()))
	effect := tool.Effect.String()
	if tool.Repeatable && tool.Effect != mcpcore.Read {
		effect += ", a repetition has the same effect"
	}
	fmt.Fprintf(page, "- Effect: %s\n- Confirmation required: %s\n- Permissions: %s\n- Scope: %s\n", effect, confirmations[tool.EffectiveGate()], permissionsOf(tool), tool.Scope)
	if len(tool.Routes) > 0 {
		fmt.Fprintf(page, "- Discord sees: `%s`\n", strings.Join(tool.Routes, "`, `"))
	}
	properties, _ := input["properties"].(map[string]any)
	if len(properties) == 0 {
		return
	}
	page.WriteString("\n| argument | | about |\n|---|---|---|\n")
	required := asList(input["required"])
	order := make([]string, 0, len(properties))
	for name := range properties {
		order = append(order, name)
	}
	slices.SortFunc(order, func(a, b string) int { // what is required goes first
		x, y := slices.Contains(required, any(a)), slices.Contains(required, any(b))
		switch {
		case x == y:
			return strings.Compare(a, b)
		case x:
			return -1
		}
		return 1
	})
	for _, name := range order {
		p := properties[name].(map[string]any)
		shown := "`" + name + "`"
		if slices.Contains(required, any(name)) {
			shown += ", required"
		}
		about, _ := p["description"].(string)
		fmt.Fprintf(page, "| %s | %s | %s |\n", shown, inCell(kindOf(p)), inCell(about))
	}
}

// confirmations say what each gate asks for.
var confirmations = map[mcpcore.Gate]string{
	mcpcore.NoGate:   "no",
	mcpcore.TwoKey:   "yes, two keys: `MCP_DRY_RUN=false` by the operator and `__confirm: true` in the call; otherwise a preview",
	mcpcore.Payload:  "yes, of exactly this payload: the first call previews, the second brings its hash and id",
	mcpcore.Consent:  "the recipient's, where the operator asks for it",
	mcpcore.Reviewed: "yes, a plan that was reviewed",
}

// permissionsOf are the permissions and intents that a tool declares.
func permissionsOf(tool mcpcore.Tool) string {
	var all []string
	for _, p := range tool.Needs.Names() {
		all = append(all, "`"+p+"`")
	}
	for _, n := range tool.NeedsWhen {
		when := "with `" + n.Arg + "`"
		if n.Equals != "" {
			when += " `" + n.Equals + "`"
		}
		all = append(all, "`"+strings.Join(n.Permissions.Names(), "`, `")+"` "+when)
	}
	for _, i := range tool.Intents.Names() {
		all = append(all, "the intent `"+i+"`")
	}
	if tool.Outranks != "" {
		all = append(all, "to stand above `"+tool.Outranks+"`")
	}
	if tool.NeedsIn != "" {
		all = append(all, "all in `"+tool.NeedsIn+"`")
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}

// kindOf says in words what values an argument takes.
func kindOf(p map[string]any) string {
	if enum := slices.DeleteFunc(slices.Clone(asList(p["enum"])), func(v any) bool { return v == nil }); len(enum) > 0 {
		words := make([]string, len(enum))
		for i, v := range enum {
			words[i] = fmt.Sprintf("`%v`", v)
		}
		return strings.Join(words, ", ") + orNull(p)
	}
	bounds := func(low, high string) string {
		least, most := p[low], p[high]
		switch {
		case least != nil && most != nil:
			return fmt.Sprintf(" %v to %v", least, most)
		case most != nil:
			return fmt.Sprintf(" up to %v", most)
		case least != nil:
			return fmt.Sprintf(" from %v", least)
		}
		return ""
	}
	kind := typeOf(p)
	switch kind {
	case "string":
		switch pattern, _ := p["pattern"].(string); {
		case strings.HasPrefix(pattern, "^[0-9]{17"):
			kind = "id"
		case p["format"] != nil:
			kind = fmt.Sprint(p["format"])
		default:
			if n := bounds("minLength", "maxLength"); n != "" {
				kind = "text," + n + " long"
			} else {
				kind = "text"
			}
		}
	case "integer", "number":
		kind += bounds("minimum", "maximum")
	case "array":
		kind = "list"
		if n := bounds("minItems", "maxItems"); n != "" {
			kind += "," + n + ","
		}
		if items, ok := p["items"].(map[string]any); ok {
			kind += " of " + strings.Replace(kindOf(items), "object of", "objects of", 1)
		}
	case "object":
		inner, _ := p["properties"].(map[string]any)
		names := make([]string, 0, len(inner))
		for name := range inner {
			names = append(names, "`"+name+"`")
		}
		slices.Sort(names)
		kind = "object"
		if len(names) > 0 {
			kind += " of " + strings.Join(names, ", ")
		}
	}
	if d := p["default"]; d != nil {
		kind += fmt.Sprintf(", `%v` when left out", d)
	}
	return kind + orNull(p)
}

func orNull(p map[string]any) string {
	if slices.Contains(asList(p["type"]), any("null")) {
		return ", or null"
	}
	return ""
}

// shownText is text as Markdown shows it, without tags.
func shownText(s string) string { return strings.ReplaceAll(s, "<", "&lt;") }

func inCell(s string) string { return strings.ReplaceAll(shownText(s), "|", `\|`) }

var counts = regexp.MustCompile(`\b([0-9]+) (tools|categories)\b`)

// TestPagesCountTheTools: wherever a page gives the number of tools or of
// categories, it is that of the declarations.
func TestPagesCountTheTools(t *testing.T) {
	t.Parallel()
	all := tools(t)
	categories := map[string]bool{}
	for _, tool := range all {
		categories[tool.Category] = true
	}
	want := map[string]int{"tools": len(all), "categories": len(categories)}
	found := 0
	for _, page := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "doc.go"} {
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		now := string(text)
		if _, unreleased, ok := strings.Cut(now, "## [Unreleased]"); ok { // a release keeps the count that it had
			now, _, _ = strings.Cut(unreleased, "\n## [")
		}
		for _, m := range counts.FindAllStringSubmatch(now, -1) {
			if found++; m[1] != strconv.Itoa(want[m[2]]) {
				t.Errorf("%s speaks of %s, there are %d", page, m[0], want[m[2]])
			}
		}
	}
	if found == 0 {
		t.Error("no page counts the tools: this test looks at nothing")
	}
}
