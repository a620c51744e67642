package discordtools_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

var update = flag.Bool("update", false, "write the golden files anew")

// tools are Discord's tools as an embedder gets them.
func tools(t testing.TB) []mcpcore.Tool {
	t.Helper()
	client, err := discordtools.NewClient(sandbox.New(sandbox.Options{}).Session(), discordtools.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return discordtools.Tools(client)
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: go test ./discordtools -run %s -update", err, t.Name())
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what agents get now.\nfirst difference: %s\nIf it is meant, say why in the commit and run: go test ./discordtools -run %s -update",
			path, firstDifference(got, want), t.Name())
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n  now:    %.300s\n  golden: %.300s", i+1, a, b)
		}
	}
	return "none"
}

// listed is what a client receives, by name.
func listed(t *testing.T) map[string]*mcp.Tool {
	t.Helper()
	list, err := start(t).mcp.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if list.NextCursor != "" {
		t.Fatal("the list has more than one page")
	}
	all := map[string]*mcp.Tool{}
	for _, tool := range list.Tools {
		all[tool.Name] = tool
	}
	return all
}

// Size is a feature: what the whole list may take, and what every agent pays for
// of it.
const (
	mostListed = 380_000 // the answer to tools/list
	mostRead   = 260_000 // names, texts and inputs of it
)

// TestSurface pins what agents see: a line per tool, per category the exact
// definitions that a client receives, and what the whole of them takes.
func TestSurface(t *testing.T) {
	t.Parallel()
	definitions := listed(t)
	var lines bytes.Buffer
	byCategory := map[string][]*mcp.Tool{}
	all := tools(t)
	slices.SortFunc(all, func(a, b mcpcore.Tool) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Name, b.Name))
	})
	for _, tool := range all {
		size := bytesOf(t, definitions[tool.Name])
		byCategory[tool.Category] = append(byCategory[tool.Category], definitions[tool.Name])
		repeat := ""
		if tool.Repeatable {
			repeat = "repeatable"
		}
		fmt.Fprintf(&lines, "%-44s %-8s %-8s %-11s %-11s %5d  %s", tool.Name, tool.Effect, tool.EffectiveGate(), repeat, tool.Scope, size, strings.Join(tool.Routes, "; "))
		if tool.Needs != 0 {
			fmt.Fprintf(&lines, "  needs %s", tool.Needs)
		}
		lines.WriteByte('\n')
	}
	listed, read := weigh(t, definitions)
	fmt.Fprintf(&lines, "%d tools, one page of %d bytes (at most %d), names, texts and inputs %d (at most %d)\n", len(all), listed, mostListed, read, mostRead)
	if listed > mostListed || read > mostRead {
		t.Errorf("the list takes %d bytes and its names, texts and inputs %d; at most %d and %d", listed, read, mostListed, mostRead)
	}
	golden(t, "testdata/surface.txt", lines.Bytes())
	for category, definitions := range byCategory {
		b, err := json.MarshalIndent(definitions, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/surface/"+category+".json", append(b, '\n'))
	}
}

// weigh is how many bytes the list takes, and how many of them its names, texts
// and inputs.
func weigh(t *testing.T, definitions map[string]*mcp.Tool) (listed, read int) {
	t.Helper()
	var all mcp.ListToolsResult
	for _, d := range definitions {
		all.Tools = append(all.Tools, d)
		read += bytesOf(t, &mcp.Tool{Name: d.Name, Title: d.Title, Description: d.Description, InputSchema: d.InputSchema})
	}
	return bytesOf(t, &all), read
}

func bytesOf(t testing.TB, v any) int {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return len(b)
}
