package boot_test

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/audit"
)

const page = "http://127.0.0.1:3001/console"

func TestAConsoleInThisProcess(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		vars    []string
		sandbox bool
		says    string // what stops it
		token   bool
		asks    bool // the console does
	}{
		"nobody may decide":               {[]string{"MCP_HUMAN_APPROVAL=gated"}, false, "MCP_APPROVERS: the console does not open", false, false},
		"nobody may decide, nor is asked": {nil, false, "MCP_APPROVERS: the console does not open", false, false},
		"a ledger in memory":              {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVERS=" + ana}, false, "", false, true},
		"by name":                         {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVERS=" + ana, "MCP_APPROVAL_CHANNEL=console"}, true, "", false, true},
		"the client is asked":             {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVERS=" + ana, "MCP_APPROVAL_CHANNEL=elicitation"}, false, "", false, false},
		"a sandbox":                       {[]string{"MCP_HUMAN_APPROVAL=writes"}, true, "", true, true},
		"a sandbox with spaces":           {[]string{"MCP_HUMAN_APPROVAL=writes", "MCP_APPROVERS= "}, true, "", true, true},
		"a sandbox with approvers":        {[]string{"MCP_HUMAN_APPROVAL=writes", "MCP_APPROVERS=" + ana}, true, "", false, true},
		"a sandbox with a slip":           {[]string{"MCP_HUMAN_APPROVAL=writes", "MCP_APPROVERS=ana"}, true, "MCP_APPROVERS: item 1", false, false},
	} {
		c, token, err := boot.ReadConsole(with(row.vars...), row.sandbox, page)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) || (token != "") != row.token {
			t.Errorf("%s: %v, token %q", name, err, token)
			continue
		}
		if row.says != "" {
			continue
		}
		in, asks := c.Approver().(mcpcore.InLedger)
		if asks != row.asks || asks && (in.Where != page || in.Check == nil) {
			t.Errorf("%s: asks through %#v", name, c.Approver())
		}
	}
}

func TestTheConsoleSharesTheServersLedgerAndRecords(t *testing.T) {
	t.Parallel()
	c, token, err := boot.ReadConsole(with("MCP_HUMAN_APPROVAL=writes", "MCP_AUDIT_SINK=stderr"), true, page)
	if err != nil || token == "" {
		t.Fatal(err)
	}
	var stderr strings.Builder
	deps, done, err := boot.Deps(c, boot.Options{Sandbox: sandbox.Demo(), Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = done() }()
	if deps.Ledger != nil {
		t.Fatalf("the ledger is %T before", deps.Ledger)
	}
	made, err := boot.Console(c, &deps, "console.example.org")
	if err != nil || made == nil || deps.Ledger == nil {
		t.Fatalf("%v, the ledger is %v", err, deps.Ledger)
	}
	if _, err := discordtools.BuildServer(deps); err != nil {
		t.Error(err)
	}
	if err := deps.Audit.Record(t.Context(), mcpcore.AuditEvent{Phase: mcpcore.Outcome, Tool: "messages_send"}); err != nil || !strings.Contains(stderr.String(), "messages_send") {
		t.Errorf("%v: the sink of the settings got %q", err, &stderr)
	}
	if _, err := boot.Console(c, &deps, "*"); err == nil {
		t.Error("any host passes")
	}
	if slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "not asked") }) {
		t.Errorf("warns %q", c.Warnings)
	}
	deps.Audit, err = audit.File(filepath.Join(t.TempDir(), "audit.jsonl"), audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	file := deps.Audit
	if _, err := boot.Console(c, &deps); err != nil || deps.Audit != file {
		t.Errorf("%v: beside a file there is %T", err, deps.Audit)
	}
}

func TestWhereTheConsoleOfAServerOverHTTPIs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ hosts, listens, want string }{
		{"", "127.0.0.1:3000", "http://127.0.0.1:3000/console"},
		{"", "[::1]:3000", "http://[::1]:3000/console"},
		{"", "192.0.2.1:3000", "http://192.0.2.1:3000/console"},
		{"", "0.0.0.0:3000", "http://127.0.0.1:3000/console"},
		{"", "[::]:3000", "http://127.0.0.1:3000/console"},
		{"agents.example.com, other.example.com", "127.0.0.1:3000", "https://agents.example.com/console"},
		{"agents.example.com:8443", "0.0.0.0:3000", "https://agents.example.com:8443/console"},
		{"localhost:8080", "0.0.0.0:3000", "http://localhost:8080/console"},
		{"127.0.0.2:8080", "127.0.0.1:3000", "http://127.0.0.2:8080/console"},
	} {
		c, token, err := boot.ReadHTTP(with("MCP_APPROVERS="+ana, "MCP_HTTP_HOSTS="+row.hosts), false)
		if err != nil || token != "" || c.Console == "" {
			t.Fatalf("%+v: %v, %q, console %q", row, err, token, c.Console)
		}
		at, err := net.ResolveTCPAddr("tcp", row.listens)
		if err != nil {
			t.Fatal(err)
		}
		if got := boot.ConsoleAt(c, at); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
	if c, token, err := boot.ReadHTTP(with("MCP_APPROVERS= "), false); err != nil || token != "" || c.Console != "" {
		t.Errorf("without approvers: %v, %q, console %q", err, token, c.Console)
	}
	if c, token, err := boot.ReadHTTP(with(), true); err != nil || token == "" || c.Console == "" {
		t.Errorf("a sandbox: %v, token %q, console %q", err, token, c.Console)
	}
}
