package discordtools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// entry is the id of the n-th act of [acts].
func entry(n int) string { return discord.IDAt(now.Add(time.Duration(n-1000) * time.Minute)) }

// acts records n timeouts by two moderators, the oldest first, with a reason of
// the given length.
func acts(n, length int) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) {
		for i := range n {
			by := []discord.UserID{sandbox.DemoModerator, sandbox.DemoAdmin}[i%2]
			d.AddAuditEntry(sandbox.DemoGuild, sandbox.AuditEntry{
				ID: entry(i), Action: 24, User: by, Target: string(sandbox.DemoTimedOut), Reason: strings.Repeat("x", length),
				Changes: []sandbox.AuditChange{{Key: "nick", Old: json.RawMessage(`"carl"`), New: json.RawMessage(`"` + strings.Repeat("y", length) + `"`)}},
			})
		}
	}
}

func TestAuditLog(t *testing.T) {
	t.Parallel()
	at := `{"guild_id":"` + guild + `"`
	path := "GET /guilds/" + guild + "/audit-logs?"
	run(t, []row{
		{
			shows: "limit always sent, newest first", tool: "audit_log_get", setup: acts(3, 4), args: at + `}`, sent: []string{path + "limit=50"},
			want: `{"count":3,"oldest_id":"` + entry(0) + `","newest_id":"` + entry(2) + `","entries":[{"id":"` + entry(2) + `","action_type":24,"user_id":` + id(sandbox.DemoModerator) +
				`,"user_name":"Ines","target_id":` + id(sandbox.DemoTimedOut) + `,"reason":"xxxx","changes":[{"key":"nick","old_value":"carl","new_value":"yyyy"}]},{"user_name":"Ben"},{}]}`,
			says: "<untrusted_discord_audit_reason",
		},
		{
			shows: "filters", tool: "audit_log_get", setup: acts(4, 1),
			args: at + `,"user_id":` + id(sandbox.DemoAdmin) + `,"action_type":24,"target_id":` + id(sandbox.DemoTimedOut) + `,"limit":9}`,
			sent: []string{path + "action_type=24&limit=9&target_id=" + string(sandbox.DemoTimedOut) + "&user_id=" + string(sandbox.DemoAdmin)}, want: `{"count":2}`,
		},
		{
			shows: "what other tools did, nobody as null", tool: "audit_log_get", args: at + `}`, sent: []string{path + "limit=50"},
			setup: func(d *sandbox.Discord) { d.AddAuditEntry(sandbox.DemoGuild, sandbox.AuditEntry{Action: 21}) },
			want:  `{"entries":[{"user_id":null,"target_id":null,"action_type":21}]}`,
		},
		{
			shows: "empty", tool: "audit_log_get", args: at + `}`, sent: []string{path + "limit=50"}, want: `{"entries":[],"count":0}`,
		},
		{
			shows: "without the permission", tool: "audit_log_get", args: `{"guild_id":` + id(sandbox.DemoClub) + `}`,
			sent: []string{"GET /guilds/" + string(sandbox.DemoClub) + "/audit-logs?limit=50"}, code: mcpcore.CodePermission,
		},
	})
}

// L59 History and member lists end at the first page
func TestL59AuditLogGoesOn(t *testing.T) {
	t.Parallel()
	at := `{"guild_id":"` + guild + `"`
	path := "GET /guilds/" + guild + "/audit-logs?"
	run(t, []row{
		{
			shows: "a full page says so", tool: "audit_log_get", setup: acts(5, 1), args: at + `,"limit":2}`, sent: []string{path + "limit=2"},
			want: `{"has_more":true,"oldest_id":"` + entry(3) + `"}`,
		},
		{
			shows: "further back", tool: "audit_log_get", setup: acts(5, 1), args: at + `,"limit":2,"before":"` + entry(3) + `"}`,
			sent: []string{path + "before=" + entry(3) + "&limit=2"}, want: `{"oldest_id":"` + entry(1) + `","newest_id":"` + entry(2) + `"}`,
		},
		{
			shows: "further on, oldest first", tool: "audit_log_get", setup: acts(5, 1), args: at + `,"limit":2,"after":"` + entry(0) + `"}`,
			sent: []string{path + "after=" + entry(0) + "&limit=2"}, want: `{"has_more":true,"oldest_id":"` + entry(1) + `","newest_id":"` + entry(2) + `"}`,
		},
		{
			shows: "both cursors", tool: "audit_log_get", args: at + `,"before":"` + entry(3) + `","after":"` + entry(1) + `"}`,
			code: mcpcore.CodeValidation, says: "excludes before",
		},
		{shows: "a date as a cursor", tool: "audit_log_get", args: at + `,"before":"2026-03-01"}`, code: mcpcore.CodeValidation, says: "before"},
	})
	b := start(t)
	acts(11, 1)(b.world)
	seen := map[string]bool{}
	for args := at + `,"limit":4}`; ; {
		var page struct {
			Entries []struct {
				ID string `json:"id"`
			} `json:"entries"`
			HasMore  bool   `json:"has_more"`
			OldestID string `json:"oldest_id"`
		}
		if err := json.Unmarshal(b.call("audit_log_get", args).data, &page); err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			seen[e.ID] = true
		}
		if !page.HasMore {
			break
		}
		args = fmt.Sprintf(`%s,"limit":4,"before":%q}`, at, page.OldestID)
	}
	if len(seen) != 11 {
		t.Errorf("paging saw %d of 11 entries", len(seen))
	}
}

// L48 Answers too large for the client
func TestL48AuditLogIsBounded(t *testing.T) {
	t.Parallel()
	b := start(t)
	acts(100, 500)(b.world)
	a := b.call("audit_log_get", `{"guild_id":"`+guild+`","limit":100}`)
	var page struct {
		Entries   []struct{ ID string }
		Count     int
		Truncated bool
		HasMore   bool   `json:"has_more"`
		OldestID  string `json:"oldest_id"`
	}
	if err := json.Unmarshal(a.data, &page); err != nil {
		t.Fatal(err)
	}
	last := len(page.Entries) - 1
	if len(a.data) > 64<<10 || !page.Truncated || !page.HasMore || page.Count != last+1 || last >= 99 || page.OldestID != page.Entries[last].ID {
		t.Errorf("%d bytes, %d entries, count %d, truncated %t, more %t, oldest %s", len(a.data), last+1, page.Count, page.Truncated, page.HasMore, page.OldestID)
	}
	small := b.call("audit_log_get", `{"guild_id":"`+guild+`","limit":5}`)
	if strings.Contains(string(small.data), "truncated") {
		t.Errorf("a small page says that it was cut: %s", small.data)
	}
}
