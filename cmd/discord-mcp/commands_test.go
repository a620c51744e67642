package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestDemoShowsEveryStepAndEnds(t *testing.T) {
	t.Parallel()
	e := run(t, nil, "", "demo")
	if e.status != 0 {
		t.Fatalf("exit status %d; stdout:\n%s\nstderr:\n%s", e.status, e.stdout, e.stderr)
	}
	if strings.Contains(e.stdout, "\x1b") {
		t.Error("escape codes in a pipe")
	}
	rest := e.stdout
	for _, want := range []string{ // in this order
		"no token, no network", "An agent sees",
		"1. ", "channels_list", "general",
		"2. ", "messages_send", "sent as ",
		"3. ", "messages_read", "Patch 1.4.3",
		"4. ", "messages_delete", "DRY_RUN_PREVIEW",
		"5. ", `"__confirm":true`, "DRY_RUN_PREVIEW",
		"6. ", "MCP_DRY_RUN=false", "messages_delete", "deleted",
		"7. ", `"intent"`, `"outcome"`,
		"serve --sandbox",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is missing or out of order in:\n%s", want, e.stdout)
		}
		rest = after
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	target := `{"channel_id":"` + general + `"}`
	for name, row := range map[string]struct {
		args   []string
		stdin  string
		status int
		stdout string // what the JSON on stdout holds; "" is no output at all
		stderr string
	}{
		"success":                {[]string{"messages_read", target}, "", 0, "messages", ""},
		"arguments from stdin":   {[]string{"messages_read", "-"}, target + "\n", 0, "messages", ""},
		"refused":                {[]string{"messages_delete", `{"channel_id":"` + general + `","message_id":"1200000000000000503"}`}, "", 1, "code", "DRY_RUN_PREVIEW"},
		"failed at Discord":      {[]string{"messages_get", `{"channel_id":"` + general + `","message_id":"1200000000000000999"}`}, "", 1, "code", "DISCORD_NOT_FOUND"},
		"malformed arguments":    {[]string{"messages_read", `{"channel":"x"}`}, "", 1, "code", "VALIDATION_FAILED"},
		"no arguments":           {[]string{"messages_read"}, "", 1, "code", "channel_id"},
		"unknown tool":           {[]string{"no_such_tool", `{}`}, "", 2, "", `unknown tool "no_such_tool"; to see all there are, run: discord-mcp tools`},
		"no JSON":                {[]string{"messages_read", `{`}, "", 2, "", "not valid JSON"},
		"no JSON on stdin":       {[]string{"messages_read", "-"}, "", 2, "", "not valid JSON"},
		"no tool":                {nil, "", 2, "", "name of a tool"},
		"arguments without JSON": {[]string{"messages_read", "channel_id", general}, "", 2, "", "one quoted JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := run(t, nil, row.stdin, append([]string{"call", "--sandbox"}, row.args...)...)
			if e.status != row.status {
				t.Errorf("exit status %d, want %d", e.status, row.status)
			}
			if !strings.Contains(e.stderr, row.stderr) {
				t.Errorf("nothing about %q on stderr:\n%s", row.stderr, e.stderr)
			}
			if row.stdout == "" {
				if e.stdout != "" {
					t.Errorf("something on stdout: %q", e.stdout)
				}
				return
			}
			var result map[string]json.RawMessage
			if err := json.Unmarshal([]byte(e.stdout), &result); err != nil {
				t.Fatalf("stdout is not JSON: %v\n%s", err, e.stdout)
			}
			if _, ok := result[row.stdout]; !ok {
				t.Errorf("no %q in %s", row.stdout, e.stdout)
			}
		})
	}
}

func TestCallWithoutATokenCannotStart(t *testing.T) {
	t.Parallel()
	e := run(t, []string{"DISCORD_TOKEN"}, "", "call", "messages_read", "{}")
	if e.status != 2 || e.stdout != "" || !strings.Contains(e.stderr, "DISCORD_TOKEN is not set") {
		t.Errorf("%+v", e)
	}
}

// TestToolsNeedsNoSettings gives settings that keep a server from starting.
func TestToolsNeedsNoSettings(t *testing.T) {
	t.Parallel()
	env := []string{"DISCORD_TOKEN", "MCP_WRITE_MODE=nonsense", "MCP_CATEGORIES=meta"}
	text := run(t, env, "", "tools")
	if text.status != 0 || text.stderr != "" {
		t.Errorf("exit status %d, stderr: %s", text.status, text.stderr)
	}
	full := run(t, env, "", "tools", "--json")
	if full.status != 0 || full.stderr != "" {
		t.Errorf("--json: exit status %d, stderr: %s", full.status, full.stderr)
	}
	var tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if err := json.Unmarshal([]byte(full.stdout), &tools); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(text.stdout) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !regexp.MustCompile(`^(read|write|destroy)$`).MatchString(fields[1]) {
			t.Errorf("a line without name, effect, gate and title: %q", line)
			continue
		}
		names[fields[0]] = true
	}
	for _, tool := range tools {
		if !names[tool.Name] || tool.Description == "" || len(tool.InputSchema) == 0 {
			t.Errorf("%s is not complete, or only in --json", tool.Name)
		}
	}
	if len(names) != len(tools) || !names["messages_send"] {
		t.Errorf("%d tools as text, %d as JSON", len(names), len(tools))
	}
}

// TestToolsPrintsTheAccessContract: the document covers what the list names,
// depends on no setting, and is the same wherever the test runs.
func TestToolsPrintsTheAccessContract(t *testing.T) {
	t.Parallel()
	plain := run(t, []string{"DISCORD_TOKEN"}, "", "tools", "--contract")
	poisoned := run(t, []string{"MCP_WRITE_MODE=nonsense", "MCP_CATEGORIES=meta", "MCP_HUMAN_APPROVAL=writes"}, "", "tools", "--contract")
	if plain.status != 0 || plain.stderr != "" || plain.stdout != poisoned.stdout {
		t.Errorf("exit status %d, stderr: %s; equal with other settings: %t", plain.status, plain.stderr, plain.stdout == poisoned.stdout)
	}
	var page bytes.Buffer
	if err := json.Indent(&page, []byte(plain.stdout), "", " "); err != nil {
		t.Fatal(err)
	}
	golden(t, "access.json", page.String())
	golden(t, "access.digest", fmt.Sprintf("sha256:%x\n", sha256.Sum256([]byte(strings.TrimSuffix(plain.stdout, "\n")))))
	var manifest struct {
		AuthorityGranted *bool                          `json:"authorityGranted"`
		Tools            []struct{ Name, Class string } `json:"tools"`
	}
	if err := json.Unmarshal([]byte(plain.stdout), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.AuthorityGranted == nil || *manifest.AuthorityGranted {
		t.Error("the contract grants authority, or does not say that it grants none")
	}
	names := map[string]bool{}
	for line := range strings.Lines(run(t, nil, "", "tools").stdout) {
		names[strings.Fields(line)[0]] = true
	}
	for _, tool := range manifest.Tools {
		if !names[tool.Name] || tool.Class == "" {
			t.Errorf("%+v is not a tool of the list", tool)
		}
	}
	if len(names) != len(manifest.Tools) {
		t.Errorf("%d tools, %d entries", len(names), len(manifest.Tools))
	}
	if both := run(t, nil, "", "tools", "--contract", "--json"); both.status == 0 {
		t.Error("--contract and --json at once")
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	e := run(t, nil, "", "version")
	if e.status != 0 || strings.TrimSpace(e.stdout) == "" || strings.Count(e.stdout, "\n") != 1 || e.stderr != "" {
		t.Errorf("%+v", e)
	}
}

func TestMistypedCommandLinePointsToHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"srve"}, {"serve", "--sandbx"}, {"--nonsense"}, {"demo", "now"}} {
		e := run(t, nil, "", args...)
		if e.status != 2 || e.stdout != "" || !strings.Contains(e.stderr, "--help") {
			t.Errorf("%v: %+v", args, e)
		}
	}
	if e := run(t, nil, "", "--help"); e.status != 0 || !strings.Contains(e.stdout, "demo") {
		t.Errorf("--help: %+v", e)
	}
}
