package sandbox

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestAuditLog(t *testing.T) {
	t.Parallel()
	const path = "/guilds/{guild}/audit-logs"
	ids := []string{"1500000000000000001", "1500000000000000002", "1500000000000000003", "1500000000000000004"}
	acts := func(d *Discord) {
		for i, id := range ids {
			e := AuditEntry{ID: id, Action: 20 + i%2*4, User: DemoModerator, Target: string(DemoMember)}
			if i == 3 {
				e.User, e.Target, e.Reason = DemoAdmin, "", "why not"
			}
			d.AddAuditEntry(DemoGuild, e)
		}
	}
	for _, r := range []struct {
		name, query string
		want        []string
	}{
		{"newest first", "", []string{ids[3], ids[2], ids[1], ids[0]}},
		{"limit", "?limit=2", []string{ids[3], ids[2]}},
		{"before", "?before=" + ids[2], []string{ids[1], ids[0]}},
		{"before, nearest first", "?limit=1&before=" + ids[2], []string{ids[1]}},
		{"after, oldest first", "?after=" + ids[0], []string{ids[1], ids[2], ids[3]}},
		{"after, nearest first", "?limit=1&after=" + ids[0], []string{ids[1]}},
		{"user", "?user_id=" + string(DemoAdmin), []string{ids[3]}},
		{"target", "?target_id=" + string(DemoMember) + "&limit=2", []string{ids[2], ids[1]}},
		{"action", "?action_type=24", []string{ids[3], ids[1]}},
		{"both filters", "?action_type=24&user_id=" + string(DemoModerator), []string{ids[1]}},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			d := demo(t)
			acts(d)
			reply := get[struct {
				Entries []struct {
					ID string `json:"id"`
				} `json:"audit_log_entries"`
			}](t, d, "GET", demoNames.Replace(path)+r.query, "")
			var got []string
			for _, e := range reply.Entries {
				got = append(got, e.ID)
			}
			if !slices.Equal(got, r.want) {
				t.Errorf("got %v, want %v", got, r.want)
			}
		})
	}
	rows(t, []row{
		{name: "nobody and nothing are null", method: "GET", path: path, before: func(d *Discord) { d.AddAuditEntry(DemoGuild, AuditEntry{Action: 21}) }, status: 200, has: `"user_id":null,"target_id":null`},
		{name: "who acted comes along", method: "GET", path: path, before: acts, status: 200, has: `"username":"saltwick"`},
		{name: "limit of 101", method: "GET", path: path + "?limit=101", status: 400, code: 50035},
		{name: "without the permission", method: "GET", path: "/guilds/{club}/audit-logs", status: 403, code: 50013},
	})
	d := demo(t)
	r := request(t, d, "PATCH", "/channels/"+string(DemoGeneral), `{"topic":"Fog"}`)
	r.Header.Set("X-Audit-Log-Reason", "weather%20report")
	if status, reply := send(t, d, r); status != 200 {
		t.Fatalf("%d %s", status, reply)
	}
	reply := get[struct {
		Entries []auditEntryView `json:"audit_log_entries"`
	}](t, d, "GET", demoNames.Replace(path), "")
	if len(reply.Entries) != 1 || reply.Entries[0].Action != auditChannelUpdate || reply.Entries[0].Reason != "weather report" ||
		len(reply.Entries[0].Changes) != 1 || string(reply.Entries[0].Changes[0].New) != `"Fog"` {
		b, _ := json.Marshal(reply)
		t.Errorf("what another route did reads %s", b)
	}
}
