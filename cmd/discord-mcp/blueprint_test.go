package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A captured guild is the same as its document; an edited document differs, and
// says how.
func TestBlueprintCommands(t *testing.T) {
	t.Parallel()
	const guild = "1200000000000000001"
	captured := run(t, nil, "", "blueprint", "capture", guild, "--sandbox")
	if captured.status != 0 || !json.Valid([]byte(captured.stdout)) {
		t.Fatalf("capture: exit status %d; stderr:\n%s", captured.status, captured.stderr)
	}
	file := filepath.Join(t.TempDir(), "guild.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(captured.stdout)
	if e := run(t, nil, "", "blueprint", "diff", file, "--guild", guild, "--sandbox"); e.status != 0 || !strings.Contains(e.stdout, "as the blueprint wants it") {
		t.Errorf("diff with the guild itself: exit status %d\n%s%s", e.status, e.stdout, e.stderr)
	}
	edited := strings.Replace(captured.stdout, `"name": "general"`, `"name": "plaza"`, 1)
	if edited == captured.stdout {
		t.Fatalf("the demo guild has no channel general:\n%s", captured.stdout)
	}
	if e := run(t, nil, edited, "blueprint", "diff", "-", "--guild", guild, "--sandbox"); e.status != 1 || !strings.Contains(e.stdout, `+ create text channel "plaza" (low)`) {
		t.Errorf("diff with an edited blueprint: exit status %d\n%s%s", e.status, e.stdout, e.stderr)
	}
	write(edited)
	e := run(t, []string{"ALLOWED_GUILDS=" + guild}, "", "blueprint", "plan", file, "--sandbox")
	var plan struct {
		Operations []struct{ Action string }
		Trees      struct{ After []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(e.stdout), &plan); err != nil || e.status != 1 || len(plan.Operations) == 0 || plan.Operations[0].Action != "create" || len(plan.Trees.After) == 0 {
		t.Errorf("plan: exit status %d, %v\n%s%s", e.status, err, e.stdout, e.stderr)
	}
	for name, row := range map[string]struct {
		env    []string
		args   []string
		stderr string
	}{
		"another guild": {[]string{"ALLOWED_GUILDS=1234567890123456789"}, []string{"capture", guild, "--sandbox"}, "not among ALLOWED_GUILDS"},
		"no guild":      {nil, []string{"diff", file, "--sandbox"}, "which guild?"},
		"no id":         {nil, []string{"capture", "here", "--sandbox"}, "not an id"},
		"no such guild": {nil, []string{"capture", "1234567890123456789", "--sandbox"}, "read the guild"},
		"no file":       {nil, []string{"plan", file + ".missing", "--sandbox"}, "no such file"},
		"another bot":   {[]string{"DISCORD_EXPECTED_BOT_ID=1234567890123456789"}, []string{"capture", guild, "--sandbox"}, "BOT_SCOPE_UNRESOLVED"},
		"no arguments":  {nil, []string{"capture"}, "accepts 1 arg"},
	} {
		if e := run(t, row.env, "", append([]string{"blueprint"}, row.args...)...); e.status != 2 || !strings.Contains(e.stderr, row.stderr) {
			t.Errorf("%s: exit status %d, stderr %q lacks %q", name, e.status, e.stderr, row.stderr)
		}
	}
	if e := run(t, nil, `{"schema_version":"guild_blueprint.v1","more":1}`, "blueprint", "plan", "-", "--guild", guild, "--sandbox"); e.status != 2 || !strings.Contains(e.stderr, "more is not an argument here") {
		t.Errorf("an invalid blueprint: exit status %d, stderr %q", e.status, e.stderr)
	}
	if e := run(t, nil, "", "blueprint", "schema"); e.status != 0 || !strings.Contains(e.stdout, "guild_blueprint.v1") {
		t.Errorf("schema: exit status %d, stderr %q", e.status, e.stderr)
	}
}

func TestTemplateCatalogue(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "templates.json")
	if err := os.WriteFile(file, []byte(`{"schema_version":1,"version":"mine","records":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := run(t, []string{"MCP_TEMPLATE_CATALOG=" + file}, "", "call", "templates_recommend", `{"request":"a gaming server"}`, "--sandbox"); e.status != 0 || !strings.Contains(e.stdout, `"mine"`) {
		t.Errorf("exit status %d\n%s%s", e.status, e.stdout, e.stderr)
	}
	for path, want := range map[string]string{file + ".missing": "MCP_TEMPLATE_CATALOG", os.DevNull: ""} {
		e := run(t, []string{"MCP_TEMPLATE_CATALOG=" + path}, "", "call", "templates_recommend", `{"request":"a gaming server"}`, "--sandbox")
		if want != "" && (e.status != 2 || !strings.Contains(e.stderr, want)) || want == "" && e.status != 0 {
			t.Errorf("%s: exit status %d, stderr %q", path, e.status, e.stderr)
		}
	}
}
