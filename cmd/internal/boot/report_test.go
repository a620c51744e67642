package boot_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/cmd/internal/boot"
)

// valueOf is the setting of a name.
func valueOf(t *testing.T, r boot.Report, name string) boot.Setting {
	t.Helper()
	i := slices.IndexFunc(r.Settings, func(s boot.Setting) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("the report has no %s", name)
	}
	return r.Settings[i]
}

func TestReportSaysWhereAValueComesFrom(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		set     string
		sandbox bool
		value   string
		source  boot.Source
	}{
		{"MCP_WRITE_MODE=preview", false, "preview", boot.FromEnvironment},
		{"MCP_WRITE_MODE=", false, "allow", boot.FromDefault},
		{"MCP_WRITE_MODE=nonsense", false, "nonsense", boot.FromEnvironment},
		{"MCP_BULKHEAD_LIMIT=7", false, "7", boot.FromEnvironment},
		{"MCP_BULKHEAD_LIMIT=", false, "100", boot.FromDefault},
		{"MCP_CATEGORIES=messages, meta", false, "messages, meta", boot.FromEnvironment},
		{"MCP_CATEGORIES=", false, "", boot.FromDefault},
		{"LOG_LEVEL=de\nbug", false, `"de\nbug"`, boot.FromEnvironment},
		{"DISCORD_TOKEN=" + token, false, boot.Hidden, boot.FromEnvironment},
		{"DISCORD_TOKEN=" + token, true, "", boot.FromSandbox},
		{"DISCORD_TOKEN_FILE=/run/secrets/token", false, "/run/secrets/token", boot.FromEnvironment},
		{"DISCORD_TOKEN_FILE=/run/secrets/token", true, "", boot.FromSandbox},
		{"DISCORD_TOKEN_FILE=nobody-may-see-me", false, boot.Hidden, boot.FromEnvironment}, // no such file: perhaps what belongs into one
		{"DISCORD_API_BASE=http://127.0.0.1:8080/api/v10", false, "http://127.0.0.1:8080/api/v10", boot.FromEnvironment},
		{"DISCORD_API_BASE=http://ana:pass@127.0.0.1:8080/api?key=pass#pass", false, "http://[REDACTED]@127.0.0.1:8080/api?[REDACTED]", boot.FromEnvironment},
		{"DISCORD_API_BASE=ana:pass@127.0.0.1", false, boot.Hidden, boot.FromEnvironment},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://ana@127.0.0.1:4318", false, "http://[REDACTED]@127.0.0.1:4318", boot.FromEnvironment},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://ana:pa/ss@127.0.0.1:4318", false, boot.Hidden, boot.FromEnvironment},
		{"OTEL_EXPORTER_OTLP_HEADERS=x-key=secret", false, boot.Hidden, boot.FromEnvironment},
		{"MCP_LEDGER=", false, "memory", boot.FromDefault},
		{"MCP_LEDGER=memory", false, "memory", boot.FromEnvironment},
		{"MCP_LEDGER=sqlite:/var/lib/approvals.db", false, "sqlite:/var/lib/approvals.db", boot.FromEnvironment},
		{"MCP_LEDGER=postgres://ana:pass@ledger:5432/x?sslmode=require", false, "postgres://[REDACTED]@ledger:5432/x?[REDACTED]", boot.FromEnvironment},
		{"MCP_LEDGER=postgres://ana:pa/ss@ledger/x", false, boot.Hidden, boot.FromEnvironment},
		{"MCP_LEDGER=host=ledger password=pass", false, boot.Hidden, boot.FromEnvironment},
		{"MCP_APPROVERS=" + ana + ", " + strings.Replace(ana[:len(ana)-1]+"1", "ana", "ben", 1), false, "ana=sha256:[REDACTED],ben=sha256:[REDACTED]", boot.FromEnvironment},
		{"MCP_APPROVERS=ana=pass", false, boot.Hidden, boot.FromEnvironment},
		{"MCP_APPROVERS=", false, "", boot.FromDefault},
		{"MCP_STATE_KEY=" + strings.Repeat("k", 32), false, boot.Hidden, boot.FromEnvironment},
	} {
		name, _, _ := strings.Cut(row.set, "=")
		got := valueOf(t, boot.Examine([]string{row.set}, row.sandbox), name)
		if got.Value != row.value || got.Source != row.source {
			t.Errorf("%s is %q from %s, want %q from %s", row.set, got.Value, got.Source, row.value, row.source)
		}
	}
}

// TestReportStartsExactlyWhenAServerDoes compares it with Read, which decides.
func TestReportStartsExactlyWhenAServerDoes(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		vars     []string
		problems int
		warnings int
	}{
		"nothing":  {nil, 1, 0},
		"token":    {with(), 0, 0},
		"warning":  {with("MCP_DRYRUN=false"), 0, 1},
		"problems": {with("MCP_WRITE_MODE=x", "MCP_BULKHEAD_LIMIT=x", "MCP_RETRY_JITTER=x", "MCP_LEDGER=x", "MCP_DRYRUN=x"), 4, 1},
		"telemetry": {with("OTEL_ENABLED=1", "OTEL_TRACES_SAMPLER=x", "OTEL_TRACES_SAMPLER_ARG=x", "OTEL_METRIC_EXPORT_INTERVAL=x",
			"OTEL_EXPORTER_OTLP_ENDPOINT=x"), 4, 0},
		"telemetry off": {with("OTEL_TRACES_SAMPLER=x"), 0, 0},
	} {
		for _, sandbox := range []bool{false, true} {
			r := boot.Examine(row.vars, sandbox)
			_, err := boot.Read(row.vars, sandbox)
			if r.Starts != (err == nil) || r.Sandbox != sandbox {
				t.Errorf("%s, sandbox %t: starts is %t, Read says %v", name, sandbox, r.Starts, err)
			}
			want := row.problems
			if sandbox && name == "nothing" {
				want = 0
			}
			if len(r.Problems) != want || len(r.Warnings) != row.warnings {
				t.Errorf("%s, sandbox %t: problems %q, warnings %q", name, sandbox, r.Problems, r.Warnings)
			}
		}
	}
}

// TestReportShowsNoSecretWhereverItIs puts secrets into every variable there is.
func TestReportShowsNoSecretWhereverItIs(t *testing.T) {
	t.Parallel()
	const password = "nobody-may-see-this-password"
	for _, name := range boot.Names() {
		for _, value := range []string{
			token, "Bot " + token, "x," + token, "https://ana:" + password + "@127.0.0.1:1/x",
			"https://127.0.0.1/?token=" + password, "postgres://ana:" + password + "@ledger/x",
			"https://ana:pass9@h/",
		} {
			for _, sandbox := range []bool{false, true} {
				vars := []string{"OTEL_ENABLED=1", name + "=" + value}
				b, err := json.Marshal(boot.Examine(vars, sandbox))
				if err != nil {
					t.Fatal(err)
				}
				_, problems := boot.Read(vars, sandbox)
				text := string(b)
				if problems != nil {
					text += problems.Error()
				}
				for _, secret := range []string{password, "pass9", token[:16], token[len(token)-16:]} {
					if strings.Contains(text, secret) {
						t.Errorf("%s=%s, sandbox %t: a secret is shown in %s", name, value, sandbox, text)
					}
				}
			}
		}
	}
}

// TestReportKnowsASecretInTheWrongPlace repeats values that only their variable
// tells to be secret.
func TestReportKnowsASecretInTheWrongPlace(t *testing.T) {
	t.Parallel()
	const key, header = "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZSwgdHdpY2U=", "Basic bm9ib2R5OnNlZXM="
	bare := strings.Repeat("nobody-sees-me_", 4) // no shape but its length
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(bare+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := []string{
		"DISCORD_TOKEN_FILE=" + file, "MCP_STATE_KEY=" + key, "OTEL_EXPORTER_OTLP_HEADERS=authorization=Basic%20bm9ib2R5OnNlZXM=",
		"NODE_ENV=" + key, "OTEL_SERVICE_NAME=the " + header, "OTEL_SERVICE_VERSION=the " + bare, "OTEL_RESOURCE_ATTRIBUTES=a=" + bare,
		"DISCORD_API_BASE_HOSTS=Basic%20bm9ib2R5OnNlZXM=", "MCP_CATEGORIES=" + key, "ALLOWED_GUILDS=" + header + "," + key,
	}
	r := boot.Examine(vars, false)
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{key[:16], "bm9ib2R5OnNlZXM", bare} {
		if strings.Contains(string(b), secret) {
			t.Errorf("%q is shown in %s", secret, b)
		}
	}
	if _, err := boot.Read(vars, false); err == nil || strings.Contains(err.Error(), key[:16]) {
		t.Errorf("Read shows the key: %v", err)
	}
	if got := valueOf(t, r, "OTEL_SERVICE_NAME"); got.Value != "the [REDACTED]" {
		t.Errorf("what is beside a secret is gone: %q", got.Value)
	}
	if got := valueOf(t, r, "DISCORD_TOKEN_FILE"); got.Value != file {
		t.Errorf("the path of the token's file is %q", got.Value)
	}
}

func TestReportLooksAtFilesAndMakesNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := filepath.Join(dir, "there.jsonl")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		file   string
		more   string
		starts bool
	}{
		{there, "", true},
		{filepath.Join(dir, "new.jsonl"), "", true},
		{dir, "", false},
		{filepath.Join(dir, "missing", "new.jsonl"), "", false},
		{filepath.Join(there, "new.jsonl"), "", false},
		{dir, "MCP_AUDIT_ENABLED=false", true},
	} {
		for name, vars := range map[string][]string{
			"MCP_AUDIT_FILE": {"MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + row.file, row.more},
			"MCP_LEDGER":     {"MCP_LEDGER=sqlite:" + row.file, "MCP_STATE_KEY=" + strings.Repeat("k", 32)},
		} {
			if name == "MCP_LEDGER" && row.more != "" {
				continue
			}
			r := boot.Examine(with(vars...), false)
			if r.Starts != row.starts || row.starts != (len(r.Problems) == 0) {
				t.Errorf("%s: starts is %t: %q", vars, r.Starts, r.Problems)
			}
			if !row.starts && !strings.HasPrefix(r.Problems[0], name+" ") {
				t.Errorf("%s: %q", vars, r.Problems)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder has %v (%v)", files, err)
	}
}
