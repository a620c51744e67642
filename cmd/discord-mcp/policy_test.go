package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
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

const (
	creation = `"workflows":{"channel-creation":{"enabled":true,"scopes":{"guilds":["` + guild + `"]}}}`
	harbour  = `{"guildId":"` + guild + `","kind":"text","name":"harbour","parentId":"` + string(sandbox.DemoCommunity) + `","operationKey":"a-channel-0000001"}`
)

// TestPolicyAtAClient has what a document enables, and what it does not, at a
// real client in both eras.
func TestPolicyAtAClient(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		members string // "" for no document
		args    string
		code    string // "" where it is done
		says    string
	}{
		"no document":   {"", harbour, "WORKFLOW_OFF", "workflows.channel-creation.enabled: true in the file of --policy would allow it"},
		"off":           {strings.Replace(creation, "true", "false", 1), harbour, "WORKFLOW_OFF", "workflows.channel-creation.enabled: true in policy.json would allow it"},
		"another guild": {strings.Replace(creation, guild, "1200000000000000002", 1), harbour, "WORKFLOW_SCOPE_REJECTED", "workflows.channel-creation.scopes.guilds in policy.json"},
		"on":            {creation, harbour, "", "completed"},
		"a group":       {`"groups":{"guilds":{"ours":["` + guild + `"]}},` + strings.Replace(creation, guild, "@ours", 1), harbour, "", "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, era := range eras {
				args := []string{"serve", "--sandbox"}
				if row.members != "" {
					args = append(args, "--policy", policyFile(t, row.members))
				}
				u := says("accept", true)
				s, end := agentWith(t, u.options(), era, nil, args...)
				listed := listedBy(t, s)
				if on := row.members != "" && !strings.Contains(row.members, "false"); slices.Contains(listed, "execute_channel_creation") != on || slices.Contains(listed, "list_activity") != on {
					t.Errorf("%s: listed in spite of the policy, or not", era)
				}
				got := ask(t, s, "execute_channel_creation", row.args)
				if got.Code != row.code || !strings.Contains(got.text, row.says) {
					t.Errorf("%s: got %q, want %q and something about %q: %s", era, got.Code, row.code, row.says, got.text)
				}
				if asked := u.questions(); (len(asked) == 1) != (row.code == "") {
					t.Errorf("%s: asked %q", era, asked)
				}
				there := strings.Contains(ask(t, s, "channels_list", `{"guild_id":"`+guild+`"}`).text, "harbour")
				if there != (row.code == "") {
					t.Errorf("%s: the channel is there: %t", era, there)
				}
				end()
			}
		})
	}
}

// In the reviewed style the direct tools with a gate are not there; the others
// are.
func TestWriteStyleAtAClient(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		for style, there := range map[string]bool{"direct": true, "reviewed": false} {
			s, end := agent(t, era, []string{"MCP_DRY_RUN=false", "MCP_WRITE_STYLE=" + style}, "serve", "--sandbox")
			listed := listedBy(t, s)
			for _, name := range []string{"channels_delete", "components_v2_send", "users_create_dm"} {
				if slices.Contains(listed, name) != there {
					t.Errorf("%s, %s: %s is listed: %t", era, style, name, !there)
				}
			}
			step := `{"steps":[{"tool":"channels_delete","args":` + closing + `}]}`
			if there {
				if got := ask(t, s, "channels_delete", closing); got.Code != "" {
					t.Errorf("%s: %s", era, got.text)
				}
			} else {
				notThere(t, s, "channels_delete", closing)
				if got := ask(t, s, "mcp_pipeline", step); !strings.Contains(got.text, "no tool of that name") && !strings.Contains(got.text, "TOOL_NOT_AVAILABLE") {
					t.Errorf("%s: as a step: %s", era, got.text)
				}
				if got := ask(t, s, "channels_get", `{"channel_id":"`+lounge+`"}`); got.Code != "" {
					t.Errorf("%s: the channel is gone: %s", era, got.text)
				}
			}
			if got := ask(t, s, "messages_send", greet); got.Code != "" {
				t.Errorf("%s, %s: %s", era, style, got.text)
			}
			end()
		}
	}
}

func TestPolicyCommands(t *testing.T) {
	t.Parallel()
	good := policyFile(t, `"protectedUsers":["1200000000000000101"],"toolsets":["read-only"],"surface":"full",`+
		`"workflows":{"role-deletion":{"enabled":true,"scopes":{"roles":["1200000000000000206"]}},"channel-creation":{"enabled":true}}`)
	e := run(t, nil, "", "policy", "check", good)
	if e.status != 0 || e.stderr != "" {
		t.Fatalf("%+v", e)
	}
	for _, want := range []string{
		"policy.json enables 2 of ", "role-deletion: Delete a role. It destroys, and needs MCP_DRY_RUN=false.",
		"roles (roles that may be deleted): 1200000000000000206", "guilds (guilds in which channels may be created): none, so whatever needs one is refused",
		"tools: plan_role_deletion, execute_role_deletion, audit_role_deletion", "users whom no workflow may act on: 1200000000000000101",
		"the only toolsets: read-only", "the surface: full", "MCP_LEDGER",
	} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("nothing about %q in:\n%s", want, e.stdout)
		}
	}
	bad := policyFile(t, `"workflows":{"role-deletion":{"enabled":"yes","scopes":{"role":[]}},"chanel-creation":{"enabled":true}}`)
	e = run(t, nil, "", "policy", "check", bad)
	want := `policy.json: workflows.chanel-creation: there is no such workflow; did you mean "channel-creation"?
policy.json: workflows.role-deletion.enabled: must be true or false, without quotes
policy.json: workflows.role-deletion.scopes.role: there is no such scope of role-deletion; did you mean "roles"?
`
	if e.status != 1 || e.stdout != "" || e.stderr != want {
		t.Errorf("exit status %d, stdout %q\ngot  %s\nwant %s", e.status, e.stdout, e.stderr, want)
	}
	if e = run(t, nil, "", "policy", "check", filepath.Join(t.TempDir(), "none.json")); e.status != 2 || !strings.Contains(e.stderr, "none.json") {
		t.Errorf("a file that is not there: %+v", e)
	}
	if e = run(t, nil, "", "policy", "check"); e.status != 2 {
		t.Errorf("no file: %+v", e)
	}
	if e = run(t, nil, "", "policy", "schema"); e.status != 0 || !json.Valid([]byte(e.stdout)) || !strings.Contains(e.stdout, "roles that may be deleted") {
		t.Errorf("schema: %+v", e)
	}
}

// What a policy asks of the other settings, and what is wrong with it, stops the
// start with words.
func TestPolicyStopsTheStart(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		env     []string
		members string
		says    []string
	}{
		"no ledger":      {nil, creation, []string{"MCP_LEDGER: policy.json enables channel-creation", "MCP_STATE_KEY"}},
		"other toolsets": {[]string{"MCP_TOOLSETS=read-only"}, `"toolsets":["default"]`, []string{`MCP_TOOLSETS is "read-only", and toolsets of policy.json is "default"`}},
		"two problems":   {[]string{"MCP_WRITE_MODE=no"}, `"surfaces":"full"`, []string{"MCP_WRITE_MODE", `policy.json: surfaces: there is no such member of a policy; did you mean "surface"?`}},
	} {
		e := run(t, row.env, "", "serve", "--policy", policyFile(t, row.members))
		if e.status != 1 || e.stdout != "" {
			t.Errorf("%s: exit status %d, stdout %q", name, e.status, e.stdout)
		}
		for _, want := range row.says {
			if !strings.Contains(e.stderr, want) {
				t.Errorf("%s: nothing about %q in:\n%s", name, want, e.stderr)
			}
		}
	}
}

func TestToolsSelectedByAPolicy(t *testing.T) {
	t.Parallel()
	list := func(env []string, args ...string) string {
		t.Helper()
		e := run(t, env, "", append([]string{"tools"}, args...)...)
		if e.status != 0 {
			t.Fatalf("%+v", e)
		}
		return e.stdout
	}
	if all := list(nil); !strings.Contains(all, "execute_role_deletion") || !strings.Contains(all, "roles_delete ") {
		t.Error("a tool is not listed")
	}
	selected := list([]string{"MCP_WRITE_STYLE=reviewed"}, "--selected", "--policy", policyFile(t, creation))
	if !strings.Contains(selected, "execute_channel_creation") || strings.Contains(selected, "execute_role_deletion") || strings.Contains(selected, "roles_delete ") {
		t.Errorf("got\n%s", selected)
	}
	if sets := list(nil, "--toolsets"); !strings.Contains(sets, "role-deletion") {
		t.Errorf("got\n%s", sets)
	}
}
