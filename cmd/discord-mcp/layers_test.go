package main_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
)

// overLoopback serves a demo world on a port, so that a process of its own
// speaks with it while the test reads what arrived. base is the setting that
// leads there. The world takes the tests' token for its own.
func overLoopback(t *testing.T) (world *sandbox.Discord, base string) {
	t.Helper()
	world = sandbox.Demo()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bot "+canary {
			r.Header.Set("Authorization", "Bot "+world.Token())
		}
		res, err := world.RoundTrip(r)
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		for name, values := range res.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(s.Close)
	return world, "DISCORD_API_BASE=" + s.URL + "/api/v10"
}

// wrote is what the world was asked to change, since it was last asked.
func wrote(world *sandbox.Discord) string {
	var sent []string
	for _, r := range world.Writes() {
		sent = append(sent, r.Method+" "+r.Path)
	}
	world.ResetRequests()
	return strings.Join(sent, ", ")
}

// TestEachLayerHoldsTheBinary sends calls through the binary, for each layer
// that a setting governs one that it refuses and one that it lets through, and
// looks at what reached Discord: of a refused call nothing that changes
// anything, of the other exactly its one write.
func TestEachLayerHoldsTheBinary(t *testing.T) {
	t.Parallel()
	const (
		club   = string(sandbox.DemoClub)
		lounge = string(sandbox.DemoLounge)
		send   = "POST /channels/" + general + "/messages"
		create = "POST /guilds/" + guild + "/channels"
		hello  = `{"channel_id":"` + general + `","content":"hello"}`
		gone   = `{"channel_id":"` + lounge + `","__confirm":true}`
	)
	const (
		hi      = `{"channel_id":"` + general + `","components":[{"type":10,"content":"Hi"}]`
		other   = `{"channel_id":"` + general + `","components":[{"type":10,"content":"Ho"}]`
		by      = `,"__confirm":true,"__confirm_hash":"<payload_hash>","__confirm_id":"<approval_id>"}`
		tomo    = `{"recipient_id":"` + string(sandbox.DemoMember) + `"`
		noor    = `{"recipient_id":"` + string(sandbox.DemoNewcomer) + `"`
		agreed  = `,"__consent":true,"__consent_hash":"<consent_hash>","__consent_id":"<consent_id>"}`
		layout  = "components_v2_send"
		delete  = "channels_delete"
		deleted = "DELETE /channels/" + lounge
		opened  = "POST /users/@me/channels"
	)
	bot := "DISCORD_EXPECTED_BOT_ID=" + string(sandbox.BotID)
	type step struct {
		// args may hold the name of a field of an earlier answer, such as
		// <approval_id>.
		tool, args string
		code       string // "" where it passes
		wrote      string
	}
	for _, row := range []struct {
		name  string
		env   []string
		steps []step
	}{
		{"validate", nil, []step{
			{"messages_send", `{"channel_id":"` + general + `","content":5}`, "VALIDATION_FAILED", ""},
			{"messages_send", `{"channel_id":"` + general + `","contents":"hello"}`, "VALIDATION_FAILED", ""},
			{"messages_send", hello, "", send},
		}},
		{"no default guild", nil, []step{
			{"channels_create_guild_channel", `{"name":"attic"}`, "VALIDATION_FAILED", ""},
		}},
		{"default guild", []string{"DISCORD_DEFAULT_GUILD_ID=" + guild}, []step{
			{"channels_create_guild_channel", `{"guild_id":"attic","name":"attic"}`, "VALIDATION_FAILED", ""},
			{"channels_create_guild_channel", `{"name":"attic"}`, "", create},
		}},
		{"guild scope", []string{"ALLOWED_GUILDS=" + guild}, []step{
			{"messages_send", `{"channel_id":"` + string(sandbox.DemoClubGeneral) + `","content":"hello"}`, "GUILD_NOT_ALLOWED", ""},
			{"channels_create_guild_channel", `{"guild_id":"` + club + `","name":"attic"}`, "GUILD_NOT_ALLOWED", ""},
			{"messages_send", `{"channel_id":"1200000000000009999","content":"hello"}`, "GUILD_SCOPE_UNRESOLVED", ""},
			{"messages_send", hello, "", send},
		}},
		{"a default guild is no way around the allowed ones", []string{"ALLOWED_GUILDS=" + guild, "DISCORD_DEFAULT_GUILD_ID=" + guild}, []step{
			{"channels_create_guild_channel", `{"guild_id":"` + club + `","name":"attic"}`, "GUILD_NOT_ALLOWED", ""},
			{"channels_create_guild_channel", `{"name":"attic"}`, "", create},
		}},
		{"no identity lock", nil, []step{
			{"users_modify_current", `{"username":"Keeper"}`, "BOT_SCOPE_UNRESOLVED", ""},
		}},
		{"identity lock", []string{bot}, []step{
			{"users_modify_current", `{"username":"Keeper"}`, "", "PATCH /users/@me"},
		}},
		{"category", []string{"MCP_CATEGORIES=messages"}, []step{
			{"channels_create_guild_channel", `{"guild_id":"` + guild + `","name":"attic"}`, "SCOPE_REJECTED", ""},
			{"messages_send", hello, "", send},
		}},
		{"access", []string{"MCP_ACCESS_MODE=enforce"}, []step{
			{"channels_create_guild_channel", `{"guild_id":"` + club + `","name":"attic"}`, "RUNTIME_ACCESS_DENIED", ""},
			{"channels_create_guild_channel", `{"guild_id":"1200000000000009999","name":"attic"}`, "RUNTIME_ACCESS_UNKNOWN", ""},
			{"channels_create_guild_channel", `{"guild_id":"` + guild + `","name":"attic"}`, "", create},
		}},
		{"write mode", []string{"MCP_WRITE_MODE=preview", "MCP_DRY_RUN=false"}, []step{
			{"messages_send", hello, "WRITE_PREVIEW", ""},
			{"channels_delete", gone, "WRITE_PREVIEW", ""},
			{"messages_read", `{"channel_id":"` + general + `"}`, "", ""},
		}},
		{"the operator's key is missing", nil, []step{
			{"channels_delete", gone, "DRY_RUN_PREVIEW", ""},
		}},
		{"two keys", []string{"MCP_DRY_RUN=false"}, []step{
			{"channels_delete", `{"channel_id":"` + lounge + `"}`, "DRY_RUN_PREVIEW", ""},
			{"channels_delete", `{"channel_id":"` + lounge + `","__confirm":"true"}`, "DRY_RUN_PREVIEW", ""},
			{"channels_delete", gone, "", "DELETE /channels/" + lounge},
		}},
		{"a preview is demanded", []string{"MCP_DRY_RUN=false", "MCP_REQUIRE_PREVIEW=true"}, []step{
			{delete, gone, "PREVIEW_REQUIRED", ""},
			{delete, gone, "PREVIEW_REQUIRED", ""}, // the refusal was none
			{delete, `{"channel_id":"` + lounge + `"}`, "DRY_RUN_PREVIEW", ""},
			{delete, `{"channel_id":"` + lounge + `","audit_reason":"another call","__confirm":true}`, "PREVIEW_REQUIRED", ""},
			{delete, gone, "", deleted},
		}},
		{"facts", []string{"MCP_DRY_RUN=false"}, []step{
			{delete, `{"channel_id":"` + lounge + `"}`, "DRY_RUN_PREVIEW", ""},
			{"channels_modify", `{"channel_id":"` + lounge + `","name":"Lounge II"}`, "", "PATCH /channels/" + lounge},
			{delete, gone, "FACTS_CHANGED", ""},
			{delete, gone, "", deleted}, // the refusal showed the new ones
		}},
		{"consent is advice", nil, []step{
			{"users_create_dm", tomo + `}`, "", opened},
		}},
		{"consent", []string{"MCP_DM_CONSENT_MODE=require"}, []step{
			{"users_create_dm", tomo + `}`, "DM_CONSENT_REQUIRED", ""},
			{"users_create_dm", tomo + `,"__consent":true}`, "DM_CONSENT_REQUIRED", ""},
			{"users_create_dm", noor + agreed, "DM_CONSENT_REQUIRED", ""}, // and the consent in hand is hers now
			{"users_create_dm", tomo + agreed, "DM_CONSENT_REQUIRED", ""},
			{"users_create_dm", tomo + agreed, "", opened},
			{"users_create_dm", tomo + agreed, "DM_CONSENT_REJECTED", ""},
			{"users_create_dm", tomo + `,"__consent":true,"__consent_hash":"<consent_hash>","__consent_id":"nobody-issued-it"}`, "DM_CONSENT_REJECTED", ""},
		}},
		{"payload, not armed", nil, []step{
			{layout, hi + `}`, "PAYLOAD_CONFIRMATION_REQUIRED", ""},
			{layout, hi + by, "PAYLOAD_CONFIRMATION_REQUIRED", ""},
		}},
		{"payload", []string{"MCP_DRY_RUN=false"}, []step{
			{layout, hi + `}`, "PAYLOAD_CONFIRMATION_REQUIRED", ""},
			{layout, hi + `,"__confirm":true}`, "PAYLOAD_CONFIRMATION_REQUIRED", ""},
			{layout, other + by, "PAYLOAD_CONFIRMATION_MISMATCH", ""}, // and what is in hand is for the other
			{layout, hi + by, "PAYLOAD_CONFIRMATION_MISMATCH", ""},
			{layout, hi + `,"__confirm":true,"__confirm_hash":"<payload_hash>","__confirm_id":"nobody-issued-it"}`, "PAYLOAD_CONFIRMATION_APPROVAL_MISSING", ""},
			{layout, strings.Replace(hi, general, string(sandbox.DemoShowcase), 1) + by, "PAYLOAD_CONFIRMATION_MISMATCH", ""},
			{layout, hi + `}`, "PAYLOAD_CONFIRMATION_REQUIRED", ""},
			{layout, hi + by, "", send},
			{layout, hi + by, "PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED", ""},
		}},
		{"nobody can be asked", []string{"MCP_DRY_RUN=false", "MCP_HUMAN_APPROVAL=gated"}, []step{
			{delete, gone, "HUMAN_APPROVAL_REQUIRED", ""},
			{"messages_send", hello, "", send},
		}},
		{"nobody can be asked about any write", []string{"MCP_HUMAN_APPROVAL=writes"}, []step{
			{"messages_send", hello, "HUMAN_APPROVAL_REQUIRED", ""},
			{"messages_read", `{"channel_id":"` + general + `"}`, "", ""},
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			world, base := overLoopback(t)
			s, end := agent(t, eras[1], append([]string{base}, row.env...), "serve")
			defer end()
			earlier := map[string]any{}
			for _, step := range row.steps {
				for name, value := range earlier {
					step.args = strings.ReplaceAll(step.args, "<"+name+">", fmt.Sprint(value))
				}
				got := ask(t, s, step.tool, step.args)
				maps.Copy(earlier, got.fields)
				for _, name := range []string{"approval_id", "payload_hash", "consent_id", "consent_hash"} {
					if value, ok := got.fields[name].(string); ok && !strings.Contains(got.text, value) {
						t.Errorf("%s: who reads the text alone does not see %s: %s", step.tool, name, got.text)
					}
				}
				if got.Code != step.code {
					t.Errorf("%s %s: got %q, want %q: %s", step.tool, step.args, got.Code, step.code, got.text)
				}
				if sent := wrote(world); sent != step.wrote {
					t.Errorf("%s %s: Discord got %q, want %q", step.tool, step.args, sent, step.wrote)
				}
			}
		})
	}
}

// TestUnwritableAuditStopsWrites takes the folder of the audit file away while
// the binary serves, and puts it back.
func TestUnwritableAuditStopsWrites(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "audit")
	file := filepath.Join(folder, "audit.jsonl")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	world, base := overLoopback(t)
	s, end := agent(t, eras[1], []string{base, "MCP_AUDIT_SINK=file", "MCP_AUDIT_FILE=" + file}, "serve")
	defer end()
	hello := `{"channel_id":"` + general + `","content":"hello"}`
	sends := func(when, code, want string) {
		t.Helper()
		if got := ask(t, s, "messages_send", hello); got.Code != code {
			t.Errorf("%s: got %q, want %q: %s", when, got.Code, code, got.text)
		}
		if sent := wrote(world); sent != want {
			t.Errorf("%s: Discord got %q, want %q", when, sent, want)
		}
	}
	sends("before", "", "POST /channels/"+general+"/messages")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	sends("without the folder", "AUDIT_UNAVAILABLE", "")
	if got := ask(t, s, "messages_read", `{"channel_id":"`+general+`"}`); got.Code != "" {
		t.Errorf("what only reads is refused: %+v", got)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	sends("repaired", "", "POST /channels/"+general+"/messages")
}
