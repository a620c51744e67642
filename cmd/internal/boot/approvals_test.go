package boot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
)

const (
	sealed   = "MCP_STATE_KEY=correct horse battery staple, twice a day"
	database = "MCP_LEDGER=postgres://ana:nobody-may-see-me@ledger/approvals"
)

func TestSettingsOfApprovalsThatCannotWorkTogether(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		vars []string
		says []string // one for each problem
	}{
		"nothing":                {nil, nil},
		"elicitation":            {[]string{"MCP_HUMAN_APPROVAL=gated"}, nil},
		"elicitation, by name":   {[]string{"MCP_HUMAN_APPROVAL=writes", "MCP_APPROVAL_CHANNEL=elicitation"}, nil},
		"auto, approvers alone":  {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVERS=" + ana}, nil},
		"auto, a ledger alone":   {[]string{"MCP_HUMAN_APPROVAL=gated", database, sealed}, nil},
		"auto":                   {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVERS=" + ana, database, sealed}, nil},
		"console":                {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVAL_CHANNEL=console", "MCP_APPROVERS=" + ana, database, sealed}, nil},
		"console, nobody asked":  {[]string{"MCP_APPROVAL_CHANNEL=console"}, []string{"discord-mcp approver new NAME", "set MCP_LEDGER to"}}, // workflows would ask
		"console, workflows":     {[]string{"MCP_APPROVAL_CHANNEL=console", "MCP_APPROVERS=" + ana, database, sealed}, nil},
		"console, off, memory":   {[]string{"MCP_APPROVAL_CHANNEL=console", "MCP_APPROVERS=" + ana}, []string{"with discord-mcp-http"}},
		"console, nobody there":  {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVAL_CHANNEL=console", database, sealed}, []string{"discord-mcp approver new NAME"}},
		"console, memory":        {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVAL_CHANNEL=console", "MCP_APPROVERS=" + ana}, []string{"set MCP_LEDGER to"}},
		"console, nothing":       {[]string{"MCP_HUMAN_APPROVAL=writes", "MCP_APPROVAL_CHANNEL=console"}, []string{"discord-mcp approver new NAME", "set MCP_LEDGER to"}},
		"no key":                 {[]string{database}, []string{"needs MCP_STATE_KEY; a good one is made by: openssl rand -base64 32"}},
		"console, a bad ledger":  {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVAL_CHANNEL=console", "MCP_APPROVERS=" + ana, "MCP_LEDGER=x"}, []string{"MCP_LEDGER must be"}},
		"console, a bad hash":    {[]string{"MCP_HUMAN_APPROVAL=gated", "MCP_APPROVAL_CHANNEL=console", "MCP_APPROVERS=ana", database, sealed}, []string{"MCP_APPROVERS: item 1"}},
		"each approver":          {[]string{"MCP_APPROVERS=ana,ben," + ana}, []string{"MCP_APPROVERS: item 1", "MCP_APPROVERS: item 2"}},
		"several at once":        {[]string{"MCP_HUMAN_APPROVAL=yes", "MCP_APPROVAL_CHANNEL=phone", "MCP_APPROVAL_WAIT=1h", "MCP_APPROVERS=x", "MCP_LEDGER=x"}, []string{"MCP_HUMAN_APPROVAL must", "MCP_APPROVAL_CHANNEL must", "MCP_APPROVAL_WAIT must be a time such as 30s, 0s to 90s", "MCP_APPROVERS: item 1", "MCP_LEDGER must"}},
		"a channel, and no mode": {[]string{"MCP_HUMAN_APPROVAL=yes", "MCP_APPROVAL_CHANNEL=elicitation"}, []string{"MCP_HUMAN_APPROVAL must be one of: off, gated, writes"}},
	} {
		for _, inSandbox := range []bool{false, true} {
			r := boot.Examine(with(row.vars...), inSandbox)
			if len(r.Problems) != len(row.says) {
				t.Errorf("%s, sandbox %t: %q", name, inSandbox, r.Problems)
				continue
			}
			for _, want := range row.says {
				if !slices.ContainsFunc(r.Problems, func(p string) bool { return strings.Contains(p, want) }) {
					t.Errorf("%s, sandbox %t: nothing about %q in %q", name, inSandbox, want, r.Problems)
				}
			}
			if _, err := boot.Read(with(row.vars...), inSandbox); (err == nil) != r.Starts {
				t.Errorf("%s, sandbox %t: starts is %t, Read says %v", name, inSandbox, r.Starts, err)
			}
		}
	}
}

func TestApproversWhoAreNotAskedAreAWarning(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		vars []string
		says string
	}{
		{[]string{"MCP_APPROVERS=" + ana}, "nobody is asked while MCP_HUMAN_APPROVAL is off"},
		{[]string{"MCP_APPROVERS=" + ana, "MCP_HUMAN_APPROVAL=gated"}, "to ask them, set MCP_LEDGER"},
		{[]string{"MCP_APPROVERS=" + ana, "MCP_HUMAN_APPROVAL=gated", "MCP_APPROVAL_CHANNEL=elicitation", database, sealed}, "because MCP_APPROVAL_CHANNEL is elicitation"},
		{[]string{"MCP_APPROVERS=" + ana, "MCP_HUMAN_APPROVAL=gated", database, sealed}, ""},
		{[]string{"MCP_HUMAN_APPROVAL=gated"}, ""},
	} {
		c, err := boot.Read(with(row.vars...), false)
		switch {
		case err != nil:
			t.Errorf("%q: %v", row.vars, err)
		case row.says == "" && len(c.Warnings) > 0, row.says != "" && (len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], row.says)):
			t.Errorf("%q warns %q, want something about %q", row.vars, c.Warnings, row.says)
		}
	}
}

func TestApprovalSettingsReachTheServer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		vars  []string
		want  discordtools.Config
		asked bool
	}{
		{nil, discordtools.Config{Person: "off"}, false},
		{[]string{"MCP_REQUIRE_PREVIEW=true"}, discordtools.Config{Person: "off", RequirePreview: true}, false},
		{[]string{"MCP_DM_CONSENT_MODE=require"}, discordtools.Config{Person: "off", RequireConsent: true}, false},
		{[]string{"MCP_HUMAN_APPROVAL=gated"}, discordtools.Config{Person: discordtools.PersonGated}, true},
		{[]string{"MCP_HUMAN_APPROVAL=writes"}, discordtools.Config{Person: discordtools.PersonWrites}, true},
	} {
		for _, inSandbox := range []bool{false, true} {
			c, err := boot.Read(with(row.vars...), inSandbox)
			if err != nil {
				t.Fatal(err)
			}
			options := boot.Options{Stderr: new(strings.Builder)}
			if inSandbox {
				options.Sandbox = sandbox.Demo()
			}
			deps, done, err := boot.Deps(c, options)
			if err != nil {
				t.Fatal(err)
			}
			got := deps.Config
			if got.Person != row.want.Person || got.RequirePreview != row.want.RequirePreview || got.RequireConsent != row.want.RequireConsent {
				t.Errorf("%q: %+v", row.vars, got)
			}
			if _, console := deps.Approver.(mcpcore.InLedger); (deps.Approver != nil) != row.asked || console {
				t.Errorf("%q: asks through %T", row.vars, deps.Approver)
			}
			if deps.Ledger != nil {
				t.Errorf("%q: the ledger is %T, not the server's own", row.vars, deps.Ledger)
			}
			if _, err := discordtools.BuildServer(deps); err != nil {
				t.Errorf("%q: %v", row.vars, err)
			}
			if err := done(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestConsoleAsksInTheLedger(t *testing.T) {
	t.Parallel()
	c, err := boot.Read(with("MCP_APPROVERS="+ana, "MCP_HUMAN_APPROVAL=gated", "MCP_APPROVAL_WAIT=1m30s", database, sealed), false)
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := c.Approver().(mcpcore.InLedger); !ok || a.Wait != 90*time.Second || !strings.Contains(a.Where, "discord-mcp approvals decide") {
		t.Errorf("it asks through %#v", c.Approver())
	}
}

// TestConsoleTakesDecisionsOfApproversAlone asks Check, which holds what the
// settings say against a decision.
func TestConsoleTakesDecisionsOfApproversAlone(t *testing.T) {
	t.Parallel()
	token, setting, err := console.NewApprover("eva")
	if err != nil {
		t.Fatal(err)
	}
	check := func(list string) (console.Approvers, func(mcpcore.Approval) error) {
		t.Helper()
		c, err := boot.Read(with("MCP_APPROVERS="+list, "MCP_HUMAN_APPROVAL=gated", database, sealed), false)
		if err != nil {
			t.Fatal(err)
		}
		a, err := boot.ReadApprovals([]string{"MCP_APPROVERS=" + list, database, sealed})
		if err != nil {
			t.Fatal(err)
		}
		in, ok := c.Approver().(mcpcore.InLedger)
		if !ok || in.Check == nil {
			t.Fatalf("it asks through %#v, which takes the ledger's word", c.Approver())
		}
		return a.Approvers, in.Check
	}
	both, takes := check(ana + "," + setting)
	about := mcpcore.Approval{ID: "an-id"}
	d, known := both.Sign(token, about, true, "")
	if about.Decision = &d; !known {
		t.Fatal("eva is not known")
	}
	if err := takes(about); err != nil {
		t.Error(err)
	}
	if _, takes := check(ana); takes(about) == nil {
		t.Error("who was removed still decides")
	}
	about.Decision = &mcpcore.Decision{By: "eva", Approve: true}
	if takes(about) == nil {
		t.Error("a decision needs no proof")
	}
}

func TestReadApprovalsTakesOtherSettingsAsTheyAre(t *testing.T) {
	t.Parallel()
	a, err := boot.ReadApprovals([]string{"MCP_APPROVERS=" + ana, database, sealed, "LOG_LEVEL=nonsense"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Approvers.Names(), []string{"ana"}) || a.Ledger != "postgres://[REDACTED]@ledger/approvals" {
		t.Errorf("%v, %s", a.Approvers.Names(), a.Ledger)
	}
}
