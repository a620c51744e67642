package surface_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// request is what somebody asks for, and the tool that they mean.
type request struct{ tool, text string }

// requests reads a file of testdata: a tool, and below it what people say who
// mean it.
func requests(t *testing.T, file string) (all []request) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	tool := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		text, indented := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case indented:
			all = append(all, request{tool, text})
		default:
			tool = line
		}
	}
	return all
}

// found is the part of a discovery's answer that the tests look at.
type found struct {
	Surface      string
	TotalMatches int
	Matches      []struct {
		Name, Title, Summary, Toolset, Risk, Gate, Description string
		Enabled                                                bool
		Annotations, InputSchema                               json.RawMessage
	}
	NewlyEnabledToolNames []string
	RefreshToolsList      bool
	Toolsets              []struct {
		Name                         string
		AvailableTools, EnabledTools int
	}
}

func (f found) names() (names []string) {
	for _, m := range f.Matches {
		names = append(names, m.Name)
	}
	return names
}

// agent is a client's session with a Discord server in a sandbox.
type agent struct {
	*testing.T
	*mcp.ClientSession
}

func connect(t *testing.T, c discordtools.Config) agent {
	t.Helper()
	server, err := discordtools.BuildServer(discordtools.Deps{Session: sandbox.Demo().Session(), Config: c})
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return agent{t, session}
}

// discover asks for tools with the arguments, which must be answered.
func (a agent) discover(args map[string]any) (f found) {
	a.Helper()
	res, err := a.CallTool(a.Context(), &mcp.CallToolParams{Name: "discover_discord_tools", Arguments: args})
	if err != nil {
		a.Fatal(err)
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		a.Fatal(err)
	}
	if err := json.Unmarshal(b, &f); err != nil || res.IsError {
		a.Fatalf("%v in %s", err, b)
	}
	return f
}

// TestRecall holds discovery against what people ask for, through a client. Run
// it with -v to see the figures, and what of the requests that the ranking may be
// tuned on is not found first.
func TestRecall(t *testing.T) {
	t.Parallel()
	a := connect(t, discordtools.Config{Progressive: true})
	asked, first, five := 0, 0, 0
	report := func(what string, asked, first, five int) (at1, at5 float64) {
		at1, at5 = float64(first)/float64(asked), float64(five)/float64(asked)
		t.Logf("%s: %d requests, recall at 1: %.3f, at 5: %.3f", what, asked, at1, at5)
		return at1, at5
	}
	for _, file := range []string{"requests.txt", "held.txt"} {
		n, n1, n5 := 0, 0, 0
		for _, r := range requests(t, file) {
			names := a.discover(map[string]any{"query": r.text}).names()
			at := slices.Index(names, r.tool)
			n++
			if at == 0 {
				n1++
			}
			if at >= 0 {
				n5++
			}
			if at != 0 && file == "requests.txt" {
				t.Logf("%d  %q means %s: %v", at+1, r.text, r.tool, names)
			}
		}
		report(file, n, n1, n5)
		asked, first, five = asked+n, first+n1, five+n5
	}
	if asked < 150 {
		t.Fatalf("only %d requests", asked)
	}
	if at1, at5 := report("all", asked, first, five); at1 < 0.80 || at5 < 0.95 {
		t.Error("want at least 0.80 and 0.95")
	}
}
