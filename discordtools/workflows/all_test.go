package workflows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// names are the toolsets and tools by which agents and prompts know these
// workflows, also from other servers: plan, execute and verify, and the reading
// tools of the same toolset. They are typed in, so that no name changes unnoticed.
var names = map[string]struct {
	toolset string
	tools   string
	reads   string
}{
	"automod-change":               {"automod", "plan_automod_change execute_automod_change verify_automod_change", "list_automod_rules get_automod_rule"},
	"bulk-guild-ban":               {"bulk-bans", "plan_bulk_guild_ban execute_bulk_guild_ban", ""},
	"bulk-member-role-change":      {"member-roles", "plan_bulk_member_role_change execute_bulk_member_role_change", ""},
	"channel-creation":             {"channel-creation", "plan_channel_creation execute_channel_creation", ""},
	"channel-deletion":             {"channel-deletion", "plan_channel_deletion execute_channel_deletion", ""},
	"channel-metadata-change":      {"channel-metadata", "plan_channel_metadata_change execute_channel_metadata_change", "list_voice_regions list_guild_voice_regions get_voice_channel_status"},
	"channel-ordering":             {"channel-ordering", "plan_channel_order execute_channel_order", "audit_channel_order"},
	"channel-permission-overwrite": {"permission-overwrites", "plan_channel_permission_overwrite execute_channel_permission_overwrite", "list_channel_permission_overwrites"},
	"component-message":            {"interactions", "plan_component_message execute_component_message verify_component_message", "compile_component_template preview_component_layout list_message_reactions list_reaction_users"},
	"embed-message":                {"embed-messages", "plan_embed_message execute_embed_message verify_embed_message", "preview_embed_message"},
	"guild-expression-change":      {"guild-expressions", "plan_guild_expression_change execute_guild_expression_change", "list_guild_emojis get_guild_emoji list_guild_stickers get_guild_sticker"},
	"guild-incident-action-change": {"guild-incidents", "plan_guild_incident_action_change execute_guild_incident_action_change", "get_guild_incident_actions"},
	"guild-prune":                  {"guild-prunes", "plan_guild_prune execute_guild_prune", ""},
	"guild-settings-change":        {"guild-settings", "plan_guild_settings_change execute_guild_settings_change", "get_guild_settings"},
	"invite-deletion":              {"invites", "plan_invite_deletion execute_invite_deletion", "list_guild_invites get_guild_invite get_guild_vanity_url"},
	"member-moderation":            {"moderation", "plan_member_moderation execute_member_moderation", ""},
	"member-role-change":           {"member-roles", "plan_member_role_change execute_member_role_change", ""},
	"message-deletion":             {"deletion", "plan_message_deletion delete_messages", ""},
	"message-pin":                  {"pins", "plan_message_pin execute_message_pin", "list_message_pins"},
	"role-configuration":           {"role-configuration", "plan_role_configuration execute_role_configuration", ""},
	"role-creation":                {"role-creation", "plan_role_creation execute_role_creation", ""},
	"role-deletion":                {"role-deletion", "plan_role_deletion execute_role_deletion", "audit_role_deletion"},
	"role-ordering":                {"role-ordering", "plan_role_order execute_role_order", "audit_role_order"},
	"scheduled-event-change":       {"scheduled-events", "plan_scheduled_event_change execute_scheduled_event_change", "list_scheduled_events get_scheduled_event list_scheduled_event_users"},
	"thread-governance-change":     {"thread-governance", "plan_thread_change execute_thread_change", "get_thread_state get_thread_membership"},
	"webhook-change":               {"webhooks", "plan_webhook_change execute_webhook_change", webhookTools},
	"webhook-creation":             {"webhooks", "plan_webhook_creation execute_webhook_creation", webhookTools},
	"webhook-deletion":             {"webhooks", "plan_webhook_deletion execute_webhook_deletion", webhookTools},
}

const webhookTools = "audit_guild_webhooks list_channel_webhooks get_channel_webhook get_webhook_message"

// elsewhere are the reading tools that are no part of a workflow here: the direct
// tools that read the same.
var elsewhere = map[string]string{
	"list_automod_rules": "automod_list_rules", "get_automod_rule": "automod_get_rule",
	"list_voice_regions": "voice_list_regions", "list_guild_voice_regions": "guild_list_voice_regions",
	"list_channel_permission_overwrites": "channels_get",
	"list_message_reactions":             "messages_get", "list_reaction_users": "reactions_list",
	"list_guild_emojis": "emojis_list_guild", "get_guild_emoji": "emojis_get",
	"list_guild_stickers": "stickers_list_guild", "get_guild_sticker": "stickers_get_guild_sticker",
	"get_guild_incident_actions": "guild_get", "get_guild_settings": "guild_get",
	"get_guild_invite": "invites_get", "get_guild_vanity_url": "guild_get_vanity_url",
	"list_message_pins":     "messages_list_pins",
	"list_scheduled_events": "events_list", "get_scheduled_event": "events_get", "list_scheduled_event_users": "events_list_users",
	"get_thread_state": "channels_get", "get_thread_membership": "threads_get_member",
	"audit_guild_webhooks": "webhooks_list_guild", "list_channel_webhooks": "webhooks_list_channel",
	"get_channel_webhook": "webhooks_get", "get_webhook_message": "webhooks_get_message",
}

// Tools that nothing here replaces, and ours that are not among the names, with
// the reason.
var (
	missing = map[string]string{"get_voice_channel_status": "no route of the REST API reads it"}
	added   = map[string]string{"audit_channel_deletion": "the readiness of a deletion, which roles have there too"}
)

func TestWorkflowsHaveTheirNames(t *testing.T) {
	t.Parallel()
	client, err := discordtools.NewClient(sandbox.New(sandbox.Options{}).Session(), discordtools.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	direct := map[string]bool{}
	for _, tool := range discordtools.Tools(client) {
		direct[tool.Name] = true
	}
	open := maps.Clone(names)
	for _, w := range declared(t) {
		want, known := open[w.Name]
		if !known {
			t.Errorf("%s is not among the names, or declared twice", w.Name)
			continue
		}
		delete(open, w.Name)
		if w.Category != want.toolset {
			t.Errorf("%s is in the toolset %s, want %s", w.Name, w.Category, want.toolset)
		}
		ours := map[string]bool{}
		for _, tool := range w.Tools() {
			ours[tool.Name] = true
		}
		for _, name := range strings.Fields(want.tools) {
			if !ours[name] {
				t.Errorf("%s has no %s", w.Name, name)
			}
			delete(ours, name)
		}
		for _, name := range strings.Fields(want.reads) {
			switch {
			case ours[name]:
				delete(ours, name)
			case missing[name] == "" && !direct[elsewhere[name]]:
				t.Errorf("%s has no %s, and %q reads the same", w.Name, name, elsewhere[name])
			}
		}
		for name := range ours {
			if added[name] == "" {
				t.Errorf("%s has %s, which is not among the names", w.Name, name)
			}
		}
	}
	for name := range open {
		t.Errorf("%s is not declared", name)
	}
}

// All is in the order of names, so that a new one has one place.
func TestAllIsSorted(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, w := range declared(t) {
		listed = append(listed, w.Name)
	}
	if !slices.IsSorted(listed) {
		t.Errorf("All lists %v", listed)
	}
}

// Every declared workflow has a test that runs a scene of it: [scene.run] checks
// the rules and kills processes between the durable steps, on both stores.
func TestEveryWorkflowRunsTheRules(t *testing.T) {
	t.Parallel()
	ran := sources(t).scenes()
	for _, w := range declared(t) {
		if ran[w.Name] == nil {
			t.Errorf("no test runs a scene of %s", w.Name)
		}
		delete(ran, w.Name)
	}
	for name := range ran {
		t.Errorf("a scene of %s is run, which is not declared", name)
	}
}

// tests are the functions of this package's test files, by name.
type tests map[string]*ast.FuncDecl

func sources(t *testing.T) tests {
	t.Helper()
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	all := tests{}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				all[fn.Name.Name] = fn
			}
		}
	}
	return all
}

// optional are the fields of a scene without which some rule is left out, and
// Race.
var optional = []string{"Rename", "Settle", "Race"}

// scenes are the workflows of the scenes that tests run, each with the optional
// fields that some scene of it sets.
func (all tests) scenes() map[string]map[string]bool {
	ran := map[string]map[string]bool{}
	for name, test := range all {
		if !strings.HasPrefix(name, "Test") {
			continue
		}
		ast.Inspect(test.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			run, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || run.Sel.Name != "run" {
				return true
			}
			r := receiver{tests: all, seen: map[ast.Node]bool{}, fields: map[string]bool{}}
			r.look(test, run.X)
			for _, w := range r.workflows {
				if ran[w] == nil {
					ran[w] = map[string]bool{}
				}
				maps.Copy(ran[w], r.fields)
			}
			return true
		})
	}
	return ran
}

// receiver is what the receiver of one run(t) is made of.
type receiver struct {
	tests
	seen      map[ast.Node]bool
	workflows []string
	fields    map[string]bool
}

// look goes through an expression or a body of a function: its literals, what its
// variables were given, and the functions that it calls.
func (r *receiver) look(fn *ast.FuncDecl, in ast.Node) {
	if r.seen[in] {
		return
	}
	r.seen[in] = true
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				r.set(key.Name, n.Value)
			}
		case *ast.Ident:
			if called := r.tests[n.Name]; called != nil {
				r.look(called, called.Body)
				return true
			}
			r.given(fn, n.Name)
		}
		return true
	})
}

// given looks at what a function gives one of its variables, and its fields.
func (r *receiver) given(fn *ast.FuncDecl, name string) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, to := range set.Lhs {
			value := set.Rhs[min(i, len(set.Rhs)-1)] // one call may give several
			switch to := to.(type) {
			case *ast.Ident:
				if to.Name == name {
					r.look(fn, value)
				}
			case *ast.SelectorExpr:
				if v, ok := to.X.(*ast.Ident); ok && v.Name == name {
					r.set(to.Sel.Name, value)
				}
			}
		}
		return true
	})
}

// set notes a field of a scene.
func (r *receiver) set(field string, value ast.Expr) {
	if none, ok := value.(*ast.Ident); ok && none.Name == "nil" {
		return
	}
	if slices.Contains(optional, field) {
		r.fields[field] = true
	}
	if text, ok := value.(*ast.BasicLit); ok && field == "Workflow" {
		if name, err := strconv.Unquote(text.Value); err == nil {
			r.workflows = append(r.workflows, name)
		}
	}
}
