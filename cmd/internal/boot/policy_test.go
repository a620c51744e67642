package boot_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// policyFile is a document with these members beside its version.
func policyFile(t *testing.T, members string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(path, []byte(`{"schemaVersion":1,`+members+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const deletion = `"workflows":{"role-deletion":{"enabled":true,"scopes":{"roles":["1200000000000000299"]}}}`

func TestPolicyAgreesWithTheSettings(t *testing.T) {
	t.Parallel()
	const key = "MCP_STATE_KEY=0123456789012345678901234567890123456789"
	for name, row := range map[string]struct {
		members string
		sandbox bool
		vars    []string
		says    []string // of the error; nil where it starts
	}{
		"a lasting ledger": {deletion, false, []string{"MCP_LEDGER=sqlite:x.db", key}, nil},
		"none":             {deletion, false, nil, []string{"MCP_LEDGER: policy.json enables role-deletion", "sqlite:", "MCP_STATE_KEY"}},
		"in the sandbox":   {deletion, true, nil, nil},
		"nothing enabled":  {`"workflows":{"role-deletion":{"enabled":false}}`, false, nil, nil},
		"same toolsets":    {`"toolsets":["read-only","default"]`, false, []string{"MCP_TOOLSETS=default, read-only"}, nil},
		"other toolsets":   {`"toolsets":["read-only"]`, false, []string{"MCP_TOOLSETS=default"}, []string{`MCP_TOOLSETS is "default"`, `toolsets of policy.json is "read-only"`, "set one of them"}},
		"same surface":     {`"surface":"progressive"`, false, []string{"MCP_TOOL_SURFACE=progressive"}, nil},
		"other surface":    {`"surface":"progressive"`, false, []string{"MCP_TOOL_SURFACE=full"}, []string{`MCP_TOOL_SURFACE is "full"`, `surface of policy.json is "progressive"`}},
		"a console of ana": {deletion, false, []string{"MCP_APPROVAL_CHANNEL=console", "MCP_APPROVERS=" + ana, "MCP_LEDGER=sqlite:x.db", key}, nil},
		"all at once": {deletion + `,"surface":"progressive","toolsets":["read-only"]`, false, []string{"MCP_TOOL_SURFACE=full", "MCP_TOOLSETS=default"},
			[]string{"MCP_LEDGER: ", "MCP_TOOL_SURFACE is", "MCP_TOOLSETS is"}},
		"a slip": {`"workflow":{}`, true, nil, []string{`policy.json: workflow: there is no such member of a policy; did you mean "workflows"?`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := boot.Read(with(row.vars...), row.sandbox)
			if err != nil {
				t.Fatal(err)
			}
			err = c.ReadPolicy(policyFile(t, row.members), row.sandbox)
			if (err == nil) != (row.says == nil) {
				t.Fatalf("got %v", err)
			}
			for _, want := range row.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("nothing about %q in %v", want, err)
				}
			}
		})
	}
}

func TestPolicyIsTakenOver(t *testing.T) {
	t.Parallel()
	c, err := boot.Read(with("MCP_WRITE_STYLE=reviewed", "MCP_APPROVERS="+ana), true)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) != 1 {
		t.Errorf("without workflows it warns of %q", c.Warnings)
	}
	if err := c.ReadPolicy(policyFile(t, deletion+`,"surface":"progressive","toolsets":["read-only","role-deletion"],"protectedUsers":["1200000000000000101"]`), true); err != nil {
		t.Fatal(err)
	}
	d := c.Discord()
	if !d.Progressive || !d.ReviewedOnly || !slices.Equal(d.Toolsets, []string{"read-only", "role-deletion"}) {
		t.Errorf("got %+v", d)
	}
	p := c.Permits()
	if p.Source != "policy.json" || !p.Permits["role-deletion"].Enabled || !slices.Equal(p.Protected, []string{"1200000000000000101"}) {
		t.Errorf("got %+v", p)
	}
	if len(c.Warnings) != 0 { // who is asked is not idle
		t.Errorf("it warns of %q", c.Warnings)
	}
	without, err := boot.Read(with("MCP_TOOLSETS=read-only"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := without.ReadPolicy(policyFile(t, deletion), true); err != nil || !slices.Equal(without.Warnings, []string{"policy.json enables role-deletion, and no toolset that is picked holds it"}) {
		t.Errorf("%v, warnings %q", err, without.Warnings)
	}
	none := boot.Config{}
	if err := none.ReadPolicy("", false); err != nil || none.Permits().Source != "the file of --policy" {
		t.Errorf("without a document: %v, %+v", err, none.Permits())
	}
}

// What the lists of everything show is on nothing.
func TestEverythingActsOnNothing(t *testing.T) {
	t.Parallel()
	p := boot.Everything()
	for _, w := range boot.Declared().Workflows {
		if got := p.Permits[w.Name]; !got.Enabled || len(got.Scopes) != 0 {
			t.Errorf("%s: %+v", w.Name, got)
		}
	}
	if !slices.ContainsFunc(boot.Tools(), func(t mcpcore.Tool) bool { return t.Name == "list_activity" }) {
		t.Error("the activity is not listed")
	}
}

// The example of the page is a document that works.
func TestExampleOfThePolicyPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```json\n")
	example, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("the page has no example")
	}
	p, err := boot.Declared().Parse("policy.json", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Enabled(); !slices.Equal(got, []string{"channel-creation", "role-deletion"}) {
		t.Errorf("it enables %v", got)
	}
	if got := p.Workflows.Permits["role-deletion"].Scopes["roles"]; len(got) != 2 {
		t.Errorf("roles are %v", got)
	}
}
