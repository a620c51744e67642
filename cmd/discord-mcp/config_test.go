package main_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		if len(got) > 8<<10 {
			got = ""
		}
		t.Errorf("%s differs; if it is meant, run: go test ./cmd/discord-mcp -run %s -update\n%s", name, t.Name(), got)
	}
}

// whole sets every variable but DISCORD_TOKEN_FILE, secrets among them.
var whole = []string{
	"DISCORD_EXPECTED_BOT_ID=1200000000000000002", "DISCORD_DEFAULT_GUILD_ID=" + guild, "ALLOWED_GUILDS=" + guild, "MCP_CATEGORIES=messages,channels",
	"MCP_ALLOW_USER_SCOPED=1", "MCP_DRY_RUN=false", "MCP_WRITE_MODE=preview", "MCP_ACCESS_MODE=enforce",
	"MCP_TOOLSETS=read-only,role-deletion", "MCP_TOOL_SURFACE=progressive", "MCP_WRITE_STYLE=reviewed", "MCP_TEMPLATE_CATALOG=./templates.json",
	"MCP_REQUIRE_PREVIEW=true", "MCP_DM_CONSENT_MODE=require", "MCP_HUMAN_APPROVAL=gated", "MCP_APPROVAL_CHANNEL=console", "MCP_APPROVAL_WAIT=10s",
	"MCP_APPROVERS=ana=sha256:" + strings.Repeat("01", 32) + ",ben=sha256:" + strings.Repeat("02", 32),
	"MCP_LEDGER=postgres://ana:canary-pass@ledger/approvals?sslpassword=canary-pass",
	"DISCORD_API_BASE=http://proxy.internal:8080/api/v10", "DISCORD_API_BASE_HOSTS=proxy.internal",
	"MCP_RETRY_ENABLED=false", "MCP_RETRY_MAX_ATTEMPTS=4", "MCP_RETRY_BASE_DELAY_MS=100", "MCP_RETRY_MAX_DELAY_MS=5000", "MCP_RETRY_JITTER=none",
	"MCP_TIMEOUT_DEFAULT_MS=5000", "MCP_CIRCUIT_ENABLED=false", "MCP_CIRCUIT_FAILURE_THRESHOLD=5", "MCP_CIRCUIT_HALF_OPEN_AFTER_MS=5000",
	"MCP_BULKHEAD_LIMIT=10", "MCP_EMOJI_GG_URL=https://emoji.gg/api/",
	"DISCORD_MCP_ACCESS_TOKEN=canary-access-canary-access-canary", "MCP_HTTP_HOSTS=agents.example.com", "MCP_HTTP_ORIGINS=https://chat.example.com",
	"MCP_HTTP_MAX_BODY_BYTES=1024", "MCP_HTTP_MAX_IN_FLIGHT=64", "MCP_HTTP_MAX_SESSIONS=10", "MCP_HTTP_SESSION_TIMEOUT=5m", "MCP_HTTP_REPLICA=east",
	"MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=./never-written.jsonl", "MCP_AUDIT_ENABLED=true", "MCP_AUDIT_REQUIRED=false",
	"MCP_STATE_KEY=canary-key-canary-key-canary-key-canary", "OTEL_ENABLED=1", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318",
	"OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "OTEL_EXPORTER_OTLP_HEADERS=authorization=Basic%20canary-header", "OTEL_TRACES_SAMPLER=traceidratio",
	"OTEL_TRACES_SAMPLER_ARG=0.5", "OTEL_METRIC_EXPORT_INTERVAL=60000", "OTEL_CONSOLE_EXPORTER=1", "OTEL_SERVICE_NAME=bot", "OTEL_SERVICE_VERSION=1.2.3",
	"OTEL_RESOURCE_ATTRIBUTES=region=eu", "NODE_ENV=production", "LOG_LEVEL=warn",
}

// wrong adds what keeps a server from starting, with secrets in it.
var wrong = append(slices.Clone(whole),
	"DISCORD_TOKEN_FILE="+canary, "DISCORD_API_BASE=http://ana:canary-pass@proxy.internal/", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318/?key=canary-key",
	"ALLOWED_GUILDS="+guild+","+canary, "LOG_LEVEL="+canary, "MCP_EMOJI_GG_URL=https://ana:canary-pass@emoji.gg/api/", "NODE_ENV=Basic canary-header", "MCP_RETRY_MAX_ATTEMPTS=many", "MCP_LEDGER=redis://ana:canary-pass@ledger/",
	"MCP_APPROVERS=ana=canary,ben=gwa_"+strings.Repeat("canary", 9), "MCP_APPROVAL_WAIT=forever",
	"DISCORD_MCP_ACCESS_TOKEN=canary-access", "MCP_HTTP_HOSTS=*", "MCP_HTTP_REPLICA=far.east",
	"MCP_WRITE_MOD=preview", "OTEL_EXPORTER_OTLP_HEADER=a=canary-header", "GATEWAY=1",
)

type configReport struct {
	Starts, Sandbox bool
	Settings        []struct {
		Name, Value, Source, Group, Takes, About string
		Secret                                   bool
	}
	Problems, Warnings []string
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		env    []string
		flags  []string
		status int
	}{
		"whole":   {whole, nil, 0},
		"wrong":   {wrong, nil, 1},
		"sandbox": {[]string{"DISCORD_TOKEN"}, []string{"--sandbox"}, 0},
		"nothing": {[]string{"DISCORD_TOKEN"}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := run(t, row.env, "", append([]string{"config"}, row.flags...)...)
			machine := run(t, row.env, "", append([]string{"config", "--json"}, row.flags...)...)
			for form, e := range map[string]ended{".txt": text, ".json": machine} {
				if e.status != row.status || e.stderr != "" {
					t.Errorf("%s: exit status %d, want %d; stderr: %s", form, e.status, row.status, e.stderr)
				}
				if strings.Contains(e.stdout, "canary") || strings.Contains(e.stdout, canary[:16]) {
					t.Errorf("%s shows a secret:\n%s", form, e.stdout)
				}
				golden(t, "config_"+name+form, e.stdout)
			}
			var r configReport
			if err := json.Unmarshal([]byte(machine.stdout), &r); err != nil {
				t.Fatal(err)
			}
			if r.Starts != (row.status == 0) || r.Sandbox != (len(row.flags) > 0) {
				t.Errorf("starts is %t, sandbox is %t", r.Starts, r.Sandbox)
			}
			for _, s := range r.Settings {
				if name == "whole" && s.Name != "DISCORD_TOKEN_FILE" && s.Source != "environment" {
					t.Errorf("%s is not in the test's environment", s.Name)
				}
				if !strings.Contains(text.stdout, s.Name+" ") || !strings.Contains(text.stdout, s.Value) || s.Group == "" || s.Takes == "" || s.About == "" {
					t.Errorf("not whole, or only in the JSON form: %+v", s)
				}
			}
			for _, line := range slices.Concat(r.Problems, r.Warnings) {
				if !strings.Contains(text.stdout, "- "+line+"\n") {
					t.Errorf("only in the JSON form: %s", line)
				}
			}
			if _, err := os.Stat("never-written.jsonl"); err == nil {
				t.Error("it made the audit file")
			}
		})
	}
}

func TestConfigTakesNoArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"config", "LOG_LEVEL"}, {"config", "--jsn"}} {
		if e := run(t, nil, "", args...); e.status != 2 || e.stdout != "" || !strings.Contains(e.stderr, "--help") {
			t.Errorf("%v: %+v", args, e)
		}
	}
}
