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
	"github.com/guildwarden/guildwarden/mcpcore"
)

// names are the toolsets and tools by which agents and prompts know these
// workflows, also from other servers: plan, execute and verify, and the reading
// tools of the same toolset. They are typed in, so that no name changes unnoticed.
var names = map[string]struct {
	toolset string
	tools   string
	reads   string
}{
	"announcement-crosspost":                      {"announcement-crossposts", "plan_announcement_crosspost execute_announcement_crosspost", ""},
	"announcement-subscription":                   {"announcement-subscriptions", "plan_announcement_subscription execute_announcement_subscription", "list_announcement_subscriptions"},
	"application-emoji-change":                    {"application-emojis", "plan_application_emoji_change execute_application_emoji_change", "list_application_emojis get_application_emoji"},
	"application-entitlement-consumption":         {"application-entitlement-changes", "plan_application_entitlement_consumption execute_application_entitlement_consumption", ""},
	"application-intent-enablement":               {"application-security", "plan_application_intent_enablement execute_application_intent_enablement", ""},
	"application-role-connection-metadata-change": {"linked-roles", "plan_application_role_connection_metadata_change execute_application_role_connection_metadata_change", ""},
	"application-test-entitlement-change":         {"application-entitlement-changes", "plan_application_test_entitlement_change execute_application_test_entitlement_change", ""},
	"attachment-message":                          {"attachments", "plan_attachment_message execute_attachment_message", ""},
	"automod-change":                              {"automod", "plan_automod_change execute_automod_change verify_automod_change", "list_automod_rules get_automod_rule"},
	"bot-profile-change":                          {"bot-profile", "plan_bot_profile_change execute_bot_profile_change", "get_current_bot_profile"},
	"bulk-guild-ban":                              {"bulk-bans", "plan_bulk_guild_ban execute_bulk_guild_ban", ""},
	"bulk-member-role-change":                     {"member-roles", "plan_bulk_member_role_change execute_bulk_member_role_change", ""},
	"channel-cloning":                             {"channel-cloning", "plan_channel_clone execute_channel_clone", ""},
	"channel-creation":                            {"channel-creation", "plan_channel_creation execute_channel_creation", ""},
	"channel-deletion":                            {"channel-deletion", "plan_channel_deletion execute_channel_deletion", ""},
	"channel-metadata-change":                     {"channel-metadata", "plan_channel_metadata_change execute_channel_metadata_change", "list_voice_regions list_guild_voice_regions get_voice_channel_status"},
	"channel-ordering":                            {"channel-ordering", "plan_channel_order execute_channel_order", "audit_channel_order"},
	"channel-permission-overwrite":                {"permission-overwrites", "plan_channel_permission_overwrite execute_channel_permission_overwrite", "list_channel_permission_overwrites"},
	"channel-permission-sync":                     {"permission-sync", "plan_channel_permission_sync execute_channel_permission_sync", ""},
	"component-message":                           {"interactions", "plan_component_message execute_component_message verify_component_message", "compile_component_template preview_component_layout list_message_reactions list_reaction_users"},
	"direct-message-change":                       {"direct-messages", "plan_direct_message_change execute_direct_message_change verify_direct_message_change", "list_direct_messages get_direct_message"},
	"embed-message":                               {"embed-messages", "plan_embed_message execute_embed_message verify_embed_message", "preview_embed_message"},
	"forum-post":                                  {"forum-posts", "plan_forum_post execute_forum_post", ""},
	"forum-tag-change":                            {"forum-tags", "plan_forum_tag_change execute_forum_tag_change", "audit_forum_tags"},
	"global-application-command-change":           {"application-commands", "plan_global_application_command_change execute_global_application_command_change", ""},
	"guild-application-command-change":            {"application-commands", "plan_guild_application_command_change execute_guild_application_command_change", ""},
	"guild-blueprint":                             {"guild-blueprints", "plan_guild_blueprint execute_guild_blueprint verify_guild_blueprint", "compile_guild_blueprint_starter preview_guild_blueprint capture_guild_blueprint"},
	"guild-community-change":                      {"guild-community", "plan_guild_community_change execute_guild_community_change", "audit_guild_community"},
	"guild-departure":                             {"guild-departure", "plan_guild_departure execute_guild_departure", ""},
	"guild-expression-change":                     {"guild-expressions", "plan_guild_expression_change execute_guild_expression_change", "list_guild_emojis get_guild_emoji list_guild_stickers get_guild_sticker"},
	"guild-incident-action-change":                {"guild-incidents", "plan_guild_incident_action_change execute_guild_incident_action_change", "get_guild_incident_actions"},
	"guild-profile-change":                        {"guild-profile", "plan_guild_profile_change execute_guild_profile_change", "get_guild_profile"},
	"guild-prune":                                 {"guild-prunes", "plan_guild_prune execute_guild_prune", ""},
	"guild-scaffold":                              {"guild-scaffolds", "plan_guild_scaffold execute_guild_scaffold verify_guild_scaffold", ""},
	"guild-settings-change":                       {"guild-settings", "plan_guild_settings_change execute_guild_settings_change", "get_guild_settings"},
	"guild-soundboard-change":                     {"soundboard", "plan_guild_soundboard_change execute_guild_soundboard_change", "list_default_soundboard_sounds list_guild_soundboard_sounds get_guild_soundboard_sound check_soundboard_playback"},
	"guild-template-change":                       {"guild-templates", "plan_guild_template_change execute_guild_template_change", "list_guild_templates"},
	"integration-deletion":                        {"integrations", "plan_guild_integration_deletion execute_guild_integration_deletion", "list_guild_integrations"},
	"invite-creation":                             {"invites", "plan_invite_creation execute_invite_creation", "list_guild_invites get_guild_invite get_guild_vanity_url"},
	"invite-deletion":                             {"invites", "plan_invite_deletion execute_invite_deletion", "list_guild_invites get_guild_invite get_guild_vanity_url"},
	"member-moderation":                           {"moderation", "plan_member_moderation execute_member_moderation", ""},
	"member-nickname-change":                      {"member-nicknames", "plan_member_nickname_change execute_member_nickname_change", ""},
	"member-role-change":                          {"member-roles", "plan_member_role_change execute_member_role_change", ""},
	"member-verification-change":                  {"member-verification", "plan_member_verification_change execute_member_verification_change", ""},
	"member-voice-change":                         {"voice-moderation", "plan_member_voice_change execute_member_voice_change", "get_member_voice_state"},
	"message-deletion":                            {"deletion", "plan_message_deletion delete_messages", ""},
	"message-forward":                             {"message-forwarding", "plan_message_forward execute_message_forward", ""},
	"message-pin":                                 {"pins", "plan_message_pin execute_message_pin", "list_message_pins"},
	"native-interaction-command":                  {"native-interactions", "plan_native_interaction_command execute_native_interaction_command", "list_pending_discord_interactions list_discord_interaction_continuations"},
	"onboarding-change":                           {"onboarding", "plan_onboarding_change execute_onboarding_change", "get_guild_onboarding"},
	"poll-creation":                               {"polls", "plan_poll_creation execute_poll_creation", "get_poll list_poll_answer_voters"},
	"poll-end":                                    {"polls", "plan_poll_end execute_poll_end", "get_poll list_poll_answer_voters"},
	"reaction-moderation":                         {"interactions", "plan_reaction_moderation execute_reaction_moderation", "list_message_reactions list_reaction_users"},
	"role-configuration":                          {"role-configuration", "plan_role_configuration execute_role_configuration", ""},
	"role-creation":                               {"role-creation", "plan_role_creation execute_role_creation", ""},
	"role-deletion":                               {"role-deletion", "plan_role_deletion execute_role_deletion", "audit_role_deletion"},
	"role-ordering":                               {"role-ordering", "plan_role_order execute_role_order", "audit_role_order"},
	"scheduled-event-change":                      {"scheduled-events", "plan_scheduled_event_change execute_scheduled_event_change", "list_scheduled_events get_scheduled_event list_scheduled_event_users"},
	"stage-instance-change":                       {"stage-instances", "plan_stage_instance_change execute_stage_instance_change", "list_stage_instances get_stage_instance"},
	"thread-creation":                             {"threads", "plan_thread_creation execute_thread_creation", "list_active_threads list_archived_threads"},
	"thread-governance-change":                    {"thread-governance", "plan_thread_change execute_thread_change", "get_thread_state get_thread_membership"},
	"voice-channel-status-change":                 {"channel-metadata", "plan_voice_channel_status_change execute_voice_channel_status_change", "list_voice_regions list_guild_voice_regions get_voice_channel_status"},
	"webhook-change":                              {"webhooks", "plan_webhook_change execute_webhook_change", webhookTools},
	"webhook-creation":                            {"webhooks", "plan_webhook_creation execute_webhook_creation", webhookTools},
	"webhook-deletion":                            {"webhooks", "plan_webhook_deletion execute_webhook_deletion", webhookTools},
	"webhook-message-deletion":                    {"webhooks", "plan_webhook_message_deletion execute_webhook_message_deletion", webhookTools},
	"welcome-screen-change":                       {"welcome-screen", "plan_guild_welcome_screen_change execute_guild_welcome_screen_change", "get_guild_welcome_screen"},
	"widget-settings-change":                      {"widget-settings", "plan_guild_widget_settings_change execute_guild_widget_settings_change", "get_guild_widget_settings"},
}

const webhookTools = "audit_guild_webhooks list_channel_webhooks get_channel_webhook get_webhook_message"

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
	for _, w := range declared(t) {
		for _, tool := range w.Tools() {
			if tool.Part.Role == mcpcore.Audit { // of one workflow of its toolset, for all of them
				direct[tool.Name] = true
			}
		}
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
			case missing[name] == "" && !direct[elsewhere[name]] && !direct[name]:
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
var optional = []string{"Children", "Rename", "Settle", "Race"}

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
