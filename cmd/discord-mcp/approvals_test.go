package main_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
)

func TestApproverNew(t *testing.T) {
	t.Parallel()
	env := []string{"DISCORD_TOKEN", "MCP_WRITE_MODE=nonsense"} // no setting is read
	e := run(t, env, "", "approver", "new", "ana")
	if e.status != 0 || e.stderr != "" {
		t.Fatalf("%+v", e)
	}
	var token, setting string
	for _, word := range strings.Fields(e.stdout) {
		if strings.HasPrefix(word, "gwa_") {
			token = word
		}
		if strings.HasPrefix(word, "ana=") {
			setting = word
		}
	}
	approvers, err := console.ParseApprovers(setting)
	if err != nil {
		t.Fatalf("%v: %s", err, e.stdout)
	}
	if name, ok := approvers.Verify(token); !ok || name != "ana" || strings.Count(e.stdout, token) != 1 || !strings.Contains(e.stdout, "MCP_APPROVERS") {
		t.Errorf("%s", e.stdout)
	}
	if again := run(t, env, "", "approver", "new", "ana"); strings.Contains(again.stdout, token) {
		t.Error("the same token twice")
	}
	for _, args := range [][]string{{"Ana Maria"}, {""}, {"ana=sha256:00"}, {"ana", "ben"}, nil} {
		if e := run(t, env, "", append([]string{"approver", "new"}, args...)...); e.status != 2 || e.stdout != "" || e.stderr == "" {
			t.Errorf("%q: %+v", args, e)
		}
	}
}

func TestApprovalsNeedALedgerThatOthersReach(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "approvals.db")
	const approvers = "MCP_APPROVERS=ana=sha256:0000000000000000000000000000000000000000000000000000000000000000"
	for name, row := range map[string]struct {
		env  []string
		says []string
	}{
		"nothing set":      {[]string{approvers}, []string{"MCP_LEDGER is memory", "sqlite:", "MCP_STATE_KEY"}},
		"memory":           {[]string{approvers, "MCP_LEDGER=memory", stateKey}, []string{"MCP_LEDGER is memory", "sqlite:"}},
		"no key":           {[]string{approvers, "MCP_LEDGER=sqlite:" + missing}, []string{"MCP_STATE_KEY", "openssl rand"}},
		"a short key":      {[]string{approvers, "MCP_LEDGER=sqlite:" + missing, "MCP_STATE_KEY=hunter2"}, []string{"MCP_STATE_KEY needs", "openssl rand"}},
		"no such file":     {[]string{approvers, "MCP_LEDGER=sqlite:" + missing, stateKey}, []string{missing, "whole path"}},
		"nonsense":         {[]string{approvers, "MCP_LEDGER=redis://x", stateKey}, []string{"MCP_LEDGER must be memory, sqlite:PATH or an address that begins with postgres://"}},
		"several problems": {[]string{"MCP_APPROVERS=ana", "MCP_LEDGER=x", "MCP_STATE_KEY=short"}, []string{"MCP_APPROVERS: item 1", "MCP_LEDGER must", "MCP_STATE_KEY needs"}},
	} {
		for _, args := range [][]string{{"list"}, {"list", "--json"}, {"decide", "some-id", "--approve"}} {
			e := run(t, append([]string{"DISCORD_TOKEN"}, row.env...), "", append([]string{"approvals"}, args...)...)
			if e.status != 2 || e.stdout != "" {
				t.Errorf("%s, %v: %+v", name, args, e)
			}
			for _, want := range row.says {
				// Whether there is a terminal is asked before whether there is a file.
				if !strings.Contains(e.stderr, want) && !(name == "no such file" && args[0] == "decide") {
					t.Errorf("%s, %v: nothing about %q in %s", name, args, want, e.stderr)
				}
			}
			if strings.Contains(e.stderr, "hunter2") {
				t.Errorf("%s: the key is shown: %s", name, e.stderr)
			}
		}
	}
}

func TestApprovalsTakeTheirArgumentsOnly(t *testing.T) {
	t.Parallel()
	token, _, err := console.NewApprover("ana")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		args []string
		says string
	}{
		"no command":         {nil, ""},
		"list of something":  {[]string{"list", "x"}, "--help"},
		"no id":              {[]string{"decide", "--approve"}, "takes the id"},
		"the token with it":  {[]string{"decide", "x", token, "--approve"}, "asked for on the terminal"},
		"the token as flag":  {[]string{"decide", "x", "--approve", "--token=" + token}, "unknown flag"},
		"neither":            {[]string{"decide", "x"}, "--approve or --refuse"},
		"both":               {[]string{"decide", "x", "--approve", "--refuse"}, "--approve or --refuse"},
		"a long reason":      {[]string{"decide", "x", "--refuse", "--reason", strings.Repeat("a", 301)}, "shorter"},
		"a reason in lines":  {[]string{"decide", "x", "--refuse", "--reason", "a\nb"}, "one line"},
		"a token as reason":  {[]string{"decide", "x", "--refuse", "--reason", "with " + token}, "leave that out"},
		"an escape sequence": {[]string{"decide", "x", "--refuse", "--reason", "a\x1b[2Jb"}, "one line"},
	} {
		e := run(t, nil, "", append([]string{"approvals"}, row.args...)...)
		if e.status != 2 || !strings.Contains(e.stderr, row.says) || strings.Contains(e.stdout+e.stderr, token[4:]) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestApprovalsList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if e := r.run(nil, "", "approvals", "list"); e.status != 0 || !strings.HasPrefix(e.stdout, "Nothing waits for a person in postgres://[REDACTED]@127.0.0.1:") {
		t.Errorf("%+v", e)
	}
	if e := r.run(nil, "", "approvals", "list", "--json"); e.status != 0 || e.stdout != "[]\n" {
		t.Errorf("%+v", e)
	}
	id := string(r.waits())
	if again := string(r.waits()); again != id {
		t.Errorf("the same call asks twice: %s, %s", id, again)
	}
	text := r.run([]string{"MCP_APPROVERS="}, "", "approvals", "list") // it needs nobody's hash
	machine := r.run(nil, "", "approvals", "list", "--json")
	var all []struct {
		ID, Tool, Principal, Question string
		Issued, Expires               time.Time
	}
	if err := json.Unmarshal([]byte(machine.stdout), &all); err != nil || len(all) != 1 {
		t.Fatalf("%v: %+v", err, machine)
	}
	if a := all[0]; a.ID != id || a.Tool != "messages_delete" || a.Principal != "stdio" || !strings.Contains(a.Question, "\nmessage_id: \"1200000000000000503\"\n") ||
		a.Expires.Sub(a.Issued) != mcpcore.MaxLifetime {
		t.Errorf("%+v", a)
	}
	for _, want := range append(strings.Split(all[0].Question, "\n"), id, "messages_delete", "stdio", all[0].Expires.Format(time.RFC3339), "approvals decide") {
		if !strings.Contains(text.stdout, want) {
			t.Errorf("no %q in\n%s", want, text.stdout)
		}
	}
	r.passes(mcpcore.MaxLifetime)
	if e := r.run(nil, "", "approvals", "list"); !strings.Contains(e.stdout, "Nothing waits") {
		t.Errorf("what expired still waits: %+v", e)
	}
}

// TestApprovalsListShowsNoControlCharacters has a ledger that holds them raw, as
// the kernel never writes them.
func TestApprovalsListShowsNoControlCharacters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const evil = "a\x1b[2J\x07\r\u0085\u200b\u202eb"
	shown, err := json.Marshal("Delete?\nname: " + evil)
	if err != nil {
		t.Fatal(err)
	}
	for i, raw := range []json.RawMessage{shown, json.RawMessage(`{"name":"` + "\u202e\u009b2J" + `"}`)} {
		_, err := r.Propose(t.Context(), mcpcore.Proposal{
			Purpose: mcpcore.ForPerson, Tool: "t" + evil, Principal: evil + "\nfake line", Fingerprint: mcpcore.Fingerprint(rune('a' + i)), Shown: raw,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{}, {"--json"}} {
		e := r.run(nil, "", append([]string{"approvals", "list"}, args...)...)
		if e.status != 0 || !strings.Contains(e.stdout, "Delete?") || strings.Contains(e.stdout, "\nfake line") {
			t.Errorf("%+v", e)
		}
		for _, c := range e.stdout {
			if c != '\n' && !unicode.IsPrint(c) {
				t.Errorf("%v: raw %U in %q", args, c, e.stdout)
			}
		}
	}
}

func TestLedgerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, more := range map[string][]string{
		"another key": {"MCP_STATE_KEY=another key, which is long enough for one"},
		"nobody home": {"MCP_LEDGER=postgres://guildwarden:" + r.secret + "@127.0.0.1:1/approvals"},
	} {
		if e := r.run(more, "", "approvals", "list"); e.status != 2 || e.stdout != "" || !strings.HasPrefix(e.stderr, "MCP_LEDGER: ") {
			t.Errorf("%s: %+v", name, e)
		}
		if e := r.run(more, "", "serve", "--sandbox"); e.status != 1 || !strings.Contains(e.stderr, "MCP_LEDGER: ") {
			t.Errorf("%s: a server starts: %+v", name, e)
		}
	}
}
