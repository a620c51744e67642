package main_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// variables are all that the configuration page names, which is written from the
// settings, and some that libraries look at.
func variables(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`).FindAllString(string(page), -1)
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) < 50 || !slices.Contains(names, "DISCORD_TOKEN_FILE") {
		t.Fatalf("only %d variables found", len(names))
	}
	return append(names, "HOME", "TMPDIR", "TZ", "PATH", "LANG", "SSL_CERT_FILE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "PGHOST", "PGSERVICEFILE")
}

// catalog runs the check in a folder with exactly this environment.
func catalog(t *testing.T, path, dir string, env []string) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "catalog", "--check", "--json")
	cmd.Dir, cmd.Env = dir, append([]string{}, env...)
	return end(ctx, t, cmd, "")
}

// TestCatalogCheckHasNoSurroundings: a check without an environment and one in
// which every known variable is garbage give the same bytes. Files that they name
// are not made, addresses that they name not called, and a pipe, which would hold
// up whoever opens it, is not opened.
func TestCatalogCheckHasNoSurroundings(t *testing.T) {
	t.Parallel()
	clean := catalog(t, binary, t.TempDir(), nil)
	if clean.status != 0 || clean.stderr != "" {
		t.Fatalf("exit status %d, stderr: %s", clean.status, clean.stderr)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	called := make(chan struct{}, 1)
	go func() {
		if c, err := listener.Accept(); err == nil {
			_ = c.Close()
			called <- struct{}{}
		}
	}()
	dir := t.TempDir()
	address := "http://" + listener.Addr().String()
	special := map[string]string{
		"DISCORD_TOKEN": canary, "DISCORD_TOKEN_FILE": pipe(t, dir), "MCP_AUDIT_FILE": filepath.Join(dir, "audit.jsonl"), "MCP_AUDIT_SINK": "file",
		"MCP_LEDGER": "sqlite:" + filepath.Join(dir, "ledger.db"), "DISCORD_API_BASE": address, "OTEL_ENABLED": "true",
		"OTEL_EXPORTER_OTLP_ENDPOINT": address, "HTTP_PROXY": address, "HTTPS_PROXY": address, "MCP_EMOJI_GG_URL": address,
		"MCP_HUMAN_APPROVAL": "writes", "MCP_DM_CONSENT_MODE": "require", "ALLOWED_GUILDS": guild, "MCP_CATEGORIES": "meta", "MCP_DRY_RUN": "false",
	}
	var garbage, meaningful []string
	for _, name := range variables(t) {
		garbage = append(garbage, name+"=\x01{{garbage}}\xff "+name)
		meaningful = append(meaningful, name+"="+special[name])
	}
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string][]string{"garbage": garbage, "settings of a server": meaningful} {
		e := catalog(t, binary, dir, env)
		if diff := cmp.Diff(clean, e, cmp.AllowUnexported(ended{})); diff != "" {
			t.Errorf("with %s in the environment the check is another one:\n%s", name, diff)
		}
	}
	after, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(before) != len(after) {
		t.Errorf("files were made: %v", after)
	}
	select {
	case <-called:
		t.Error("an address was called")
	default:
	}
}

// TestCatalogReport pins the report: fixed statements, identity, counts, one
// digest.
func TestCatalogReport(t *testing.T) {
	t.Parallel()
	e := run(t, []string{"DISCORD_TOKEN"}, "", "catalog", "--check", "--json")
	var report map[string]any
	if err := json.Unmarshal([]byte(e.stdout), &report); err != nil {
		t.Fatalf("%v in %s; stderr: %s", err, e.stdout, e.stderr)
	}
	contract := strings.TrimSpace(run(t, nil, "", "tools", "--contract").stdout)
	for name, want := range map[string]any{
		"schema_version": 1., "status": "ok", "execution_guard": "CATALOG_ONLY", "credentials_required": false,
		"discord_execution": "disabled", "activity_evidence_created": false, "authority_granted": false, "protocol_era_count": 2.,
		"manifest_digest": fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(contract))),
	} {
		if report[name] != want {
			t.Errorf("%s is %v, want %v", name, report[name], want)
		}
		delete(report, name)
	}
	if v, ok := report["server_version"].(string); !ok || v != strings.TrimSpace(run(t, nil, "", "version").stdout) {
		t.Errorf("server_version is %v", report["server_version"])
	}
	delete(report, "server_version")
	served, done := agent(t, eras[1], nil, "serve", "--sandbox")
	defer done()
	if name := served.InitializeResult().ServerInfo.Name; report["server_name"] != name {
		t.Errorf("server_name is %v, a server's %s", report["server_name"], name)
	}
	delete(report, "server_name")
	for name, v := range report {
		classes, _ := v.(map[string]any)
		_, number := v.(float64)
		if !strings.HasSuffix(name, "_count") && name != "access_class_counts" || !number && len(classes) != 6 {
			t.Errorf("the report holds %s: %v", name, v)
		}
	}
	tools := strings.Count(run(t, nil, "", "tools").stdout, "\n")
	if report["tool_count"] != float64(tools) {
		t.Errorf("tool_count is %v, there are %d", report["tool_count"], tools)
	}
	if text := run(t, nil, "", "catalog", "--check"); text.status != 0 || !strings.Contains(text.stdout, fmt.Sprintf("%d tools", tools)) {
		t.Errorf("--check: %+v", text)
	}
	if wrong := run(t, nil, "", "catalog", "--json"); wrong.status != 2 || wrong.stdout != "" || !strings.Contains(wrong.stderr, "--json goes with --check") {
		t.Errorf("--json alone: %+v", wrong)
	}
}

// TestCatalogAnswersEveryCallAlike sends calls with the same id, so that the whole
// lines that come back must be equal.
func TestCatalogAnswersEveryCallAlike(t *testing.T) {
	t.Parallel()
	meta := map[string]string{
		eras[0]: "",
		eras[1]: `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},`,
	}
	var told []string
	for _, era := range eras {
		p := serve(t, []string{"MCP_WRITE_MODE=nonsense", "MCP_DRY_RUN=false"}, "catalog")
		if era == eras[0] {
			p.handshake()
		}
		var first string
		for _, params := range []string{
			`"name":"messages_read","arguments":{"channel_id":"` + general + `"}`, // known and valid
			`"name":"messages_read","arguments":{"channel_id":7}`,                 // known and not valid
			`"name":"members_ban","arguments":{"guild_id":"` + guild + `","user_id":"1200000000000000001","__confirm":true}`,
			`"name":"mcp_pipeline","arguments":{"steps":[{"tool":"messages_read","args":{"channel_id":"` + general + `"}}]}`,
			`"name":"discord_intent_plan"`, // known, without arguments
			`"name":"no_such_tool","arguments":{}`,
			`"name":"CATALOG_ONLY","arguments":{}`,
			`"name":"","arguments":[1]`,
			`"name":"messages_read","arguments":"text"`,
			`"name":"messages_read","arguments":null,"requestState":"x","inputResponses":{}`,
		} {
			p.send(`{"jsonrpc":"2.0","id":"same","method":"tools/call","params":{` + meta[era] + params + `}}`)
			m := p.next()
			switch {
			case m.Error != nil:
				t.Errorf("%s: %s: %+v", era, params, m.Error)
			case first == "":
				first = string(m.Result)
			case first != string(m.Result):
				t.Errorf("%s: %s is answered with\n%s\nand not with\n%s", era, params, m.Result, first)
			}
		}
		var result struct {
			Type              string          `json:"resultType"`
			Content           json.RawMessage `json:"content"`
			StructuredContent json.RawMessage `json:"structuredContent"`
		}
		if err := json.Unmarshal([]byte(first), &result); err != nil {
			t.Fatal(err)
		}
		if (result.Type == "complete") != (era == eras[1]) || !bytes.Contains(result.StructuredContent, []byte(`"code":"CATALOG_ONLY"`)) {
			t.Errorf("%s: the answer is %s", era, first)
		}
		told = append(told, string(result.Content)+string(result.StructuredContent))
		_ = p.in.Close()
		if e := p.wait(); e.status != 0 || e.stderr != "" {
			t.Errorf("%s: exit status %d, stderr: %s", era, e.status, e.stderr)
		}
	}
	if told[0] != told[1] {
		t.Errorf("the eras are told\n%s\nand\n%s", told[0], told[1])
	}
}

// TestCatalogListsWhatAServerLists, byte for byte, and gives out the access
// contract.
func TestCatalogListsWhatAServerLists(t *testing.T) {
	t.Parallel()
	var definitions []*mcp.Tool
	if err := json.Unmarshal([]byte(run(t, nil, "", "tools", "--json").stdout), &definitions); err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Tools []json.RawMessage }
	if err := json.Unmarshal([]byte(run(t, nil, "", "tools", "--contract").stdout), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, era := range eras {
		s, done := agent(t, era, []string{"DISCORD_TOKEN"}, "catalog")
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(definitions, list.Tools); diff != "" {
			t.Errorf("%s: the catalogue lists something else:\n%s", era, diff)
		}
		if a := ask(t, s, "messages_send", `{}`); a.Code != "CATALOG_ONLY" {
			t.Errorf("%s: %+v", era, a)
		}
		res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "discord://connector/tool-access/messages_send"})
		if err != nil {
			t.Fatal(err)
		}
		var entry struct {
			AuthorityGranted *bool
			Tool             json.RawMessage
		}
		if err := json.Unmarshal([]byte(res.Contents[0].Text), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.AuthorityGranted == nil || *entry.AuthorityGranted ||
			!slices.ContainsFunc(manifest.Tools, func(raw json.RawMessage) bool { return bytes.Equal(raw, entry.Tool) }) {
			t.Errorf("%s: the entry is %s", era, res.Contents[0].Text)
		}
		done()
	}
}
