package surface_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

type nothing struct{}

// ware is one of the category, or of the workflow when role is not Alone.
func ware(name, category string, effect mcpcore.Effect, workflow string, role mcpcore.Role) mcpcore.Tool {
	return mcpcore.Define(mcpcore.Tool{
		Name: name, Title: name, Doc: "Does " + name + ".", Category: category, Effect: effect, Scope: mcpcore.LocalScope,
		Part: mcpcore.Part{Workflow: workflow, Role: role},
	}, func(context.Context, *mcpcore.Call, nothing) (nothing, error) { return nothing{}, nil })
}

func bookshop() []mcpcore.Tool {
	return []mcpcore.Tool{
		ware("book_list", "books", mcpcore.Read, "", mcpcore.Alone),
		ware("book_sell", "books", mcpcore.Write, "", mcpcore.Alone),
		ware("till_read", "till", mcpcore.Read, "", mcpcore.Alone),
		ware("plan_refund", "till", mcpcore.Read, "refund", mcpcore.Plan),
		ware("execute_refund", "till", mcpcore.Destroy, "refund", mcpcore.Execute),
		ware("plan_recount", "till", mcpcore.Read, "recount", mcpcore.Plan),
		ware("execute_recount", "till", mcpcore.Write, "recount", mcpcore.Execute),
	}
}

var counter = surface.Toolset{Name: "counter", Workflows: []string{"recount"}, Tools: []string{"book_sell", "no_such_tool"}}

func names(tools []mcpcore.Tool) string {
	var all []string
	for _, t := range tools {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

func TestAllNamesEveryToolset(t *testing.T) {
	t.Parallel()
	var got []string
	empty := surface.Toolset{Name: "empty", Tools: []string{"no_such_tool"}}
	for _, s := range surface.All(bookshop(), counter, surface.ReadOnly, empty) {
		got = append(got, s.Name)
		if s.Doc == "" {
			t.Errorf("%s says nothing", s.Name)
		}
	}
	if want := []string{"category:books", "category:till", "counter", "read-only", "refund"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSelectGivesExactlyWhatIsNamed(t *testing.T) {
	t.Parallel()
	all := surface.All(bookshop(), counter, surface.ReadOnly)
	for picked, want := range map[string]string{
		"category:books":         "book_list book_sell",
		"category:till":          "till_read",
		"read-only":              "book_list till_read", // no plan without its execution
		"refund":                 "plan_refund execute_refund",
		"counter":                "book_sell plan_recount execute_recount",
		"category:books,refund":  "book_list book_sell plan_refund execute_refund",
		"refund,read-only":       "book_list till_read plan_refund execute_refund",
		"category:books,counter": "book_list book_sell plan_recount execute_recount",
	} {
		by, err := surface.Parse(strings.Split(picked, ","), all)
		if err != nil {
			t.Errorf("%s: %v", picked, err)
			continue
		}
		if got := names(surface.Select(bookshop(), by)); got != want {
			t.Errorf("%s selects %s, want %s", picked, got, want)
		}
	}
	if got := surface.Select(bookshop(), nil); len(got) != len(bookshop()) {
		t.Errorf("nil selects %s", names(got))
	}
}

// A toolset that names one tool of a workflow holds the workflow.
func TestToolsetHoldsAWorkflowWhole(t *testing.T) {
	t.Parallel()
	one := surface.Toolset{Tools: []string{"execute_refund"}}
	if got := names(one.Of(bookshop())); got != "plan_refund execute_refund" {
		t.Errorf("got %s", got)
	}
}

func TestParseNamesTheNearest(t *testing.T) {
	t.Parallel()
	all := surface.All(bookshop(), counter, surface.ReadOnly)
	for name, says := range map[string]string{
		"books":              `did you mean "category:books"?`,
		"category:bocks":     `did you mean "category:books"?`,
		"readonly":           `did you mean "read-only"?`,
		"Refund":             `did you mean "refund"?`,
		"something-else":     `there is no toolset "something-else"`,
		"":                   `there is no toolset ""`,
		" refund":            `there is no toolset`,
		"empty":              `there is no toolset`,
		"category:":          `there is no toolset`,
		"recount":            `there is no toolset "recount"`, // it is in counter
		"category:books,foo": `there is no toolset`,
	} {
		by, err := surface.Parse([]string{"refund", name}, all)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v with %d toolsets, want %s", name, err, len(by), says)
		}
	}
	if _, err := surface.Parse([]string{"books", "tills"}, all); err == nil || strings.Count(err.Error(), "there is no toolset") != 2 {
		t.Errorf("not every problem is told: %v", err)
	}
	if by, err := surface.Parse(nil, all); by != nil || err != nil {
		t.Errorf("nil is %v, %v", by, err)
	}
	if _, err := surface.Parse([]string{}, all); err == nil {
		t.Error("a list without a name opens everything")
	}
}
