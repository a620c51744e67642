package mcpcore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type noticePost struct {
	GuildID discord.GuildID  `json:"guild_id" jsonschema:"guild"`
	Note    string           `json:"note,omitempty" jsonschema:"private note" maxLength:"5"`
	Roles   []discord.RoleID `json:"roles,omitempty" jsonschema:"roles"`
	Payload string           `json:"payload_json,omitempty" jsonschema:"the rest as JSON"`
}

// TestPackedArgumentsAreArguments: what an argument carries is validated, seen by
// guards and redacted as if it had been given by itself.
func TestPackedArgumentsAreArguments(t *testing.T) {
	t.Parallel()
	var ids []mcpcore.ID
	var seen, shown string
	tool := mcpcore.Define(mcpcore.Tool{
		Name: "notice_post", Title: "Post", Doc: "Posts a notice.", Category: "tickets", Effect: mcpcore.Write, Scope: mcpcore.GuildScope,
		Redact: []string{"note", "payload_json"}, Packed: mcpcore.Packed{Arg: "payload_json", Names: []string{"note", "roles"}},
		Rules: []mcpcore.Rule{{Check: func(call *mcpcore.Call) *mcpcore.Issue {
			if call.Text("note") == "bad" {
				return &mcpcore.Issue{Path: "note", Message: "is bad"}
			}
			return nil
		}}},
	}, func(_ context.Context, call *mcpcore.Call, _ noticePost) (done, error) {
		ids, seen, shown = call.IDs(), string(call.Args()), string(call.Preview())
		return done{Done: true}, nil
	})
	d := (&desk{}).deps()
	d.Tools = append(d.Tools, tool)
	c := connect(t, d)
	for args, want := range map[string]string{
		`{"guild_id":"700000000000000001","payload_json":"{\"note\":\"long note\"}"}`:                                      "note: must have at most 5",
		`{"guild_id":"700000000000000001","payload_json":"{\"roles\":[1]}"}`:                                               "roles.0: must be text",
		`{"guild_id":"700000000000000001","payload_json":"{\"note\":\"bad\"}"}`:                                            "note: is bad",
		`{"guild_id":"700000000000000001","payload_json":"{\"guild_id\":\"700000000000000002\"}"}`:                         "payload_json.guild_id: is not an argument here",
		`{"guild_id":"700000000000000001","note":"a","payload_json":"{\"note\":\"b\"}"}`:                                   "payload_json.note: is an argument of the call as well",
		`{"guild_id":"700000000000000001","payload_json":"{\"__confirm\":true}"}`:                                          "payload_json.__confirm: is not an argument here",
		`{"guild_id":"700000000000000001","payload_json":"secret note"}`:                                                   "payload_json: is not valid JSON",
		`{"guild_id":"700000000000000001","payload_json":"{\"note\":\"bad\",\"Note\":\"secret\"}"}`:                        `payload_json.Note: differs from "note"`,
		`{"guild_id":"700000000000000001","payload_json":{"note":"a"}}`:                                                    "payload_json: must be text",
		`{"guild_id":"700000000000000001","payload_json":"{\"note\":\"a\",\"\":1}"}`:                                       "is not an argument here",
		`{"guild_id":"700000000000000001","payload_json":"{\"roles\":[\"700000000000000001\"],\"note\":null}","note":"x"}`: "payload_json.note: is an argument",
	} {
		r := c.refused(t, "notice_post", args, mcpcore.CodeValidation)
		if !strings.Contains(r.text, want) || strings.Contains(r.text, "secret") {
			t.Errorf("%s: %s", args, r.text)
		}
	}
	c.passed(t, "notice_post", `{"guild_id":"700000000000000001","payload_json":"{\"note\":\"ok\",\"roles\":[\"740000000000000001\"]}"}`)
	if want := `{"guild_id":"700000000000000001","note":"ok","roles":["740000000000000001"]}`; seen != want {
		t.Errorf("the call is %s, want %s", seen, want)
	}
	if len(ids) != 2 || ids[1].Path != "roles.0" || ids[1].Kind != discord.KindRole {
		t.Errorf("guards see %v", ids)
	}
	if !strings.Contains(shown, "REDACTED") || strings.Contains(shown, `"ok"`) {
		t.Errorf("a preview shows %s", shown)
	}
}
