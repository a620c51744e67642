package sandbox

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestInvites(t *testing.T) {
	t.Parallel()
	const make = "/channels/{general}/invites"
	add := func(d *Discord) {
		d.AddInvite(Invite{Code: "harbour7", Channel: DemoGeneral, Inviter: DemoOwner, MaxAge: 3600, MaxUses: 10, Uses: 4})
	}
	old := func(d *Discord) {
		d.AddInvite(Invite{Code: "old", Channel: DemoGeneral, MaxAge: 60, Created: noon.Add(-time.Minute)})
		d.AddInvite(Invite{Code: "used", Channel: DemoGeneral, MaxUses: 1, Uses: 1})
		d.AddInvite(Invite{Code: "reads", Channel: DemoClubReads, Inviter: DemoOwner})
	}
	some := func(d *Discord) {
		d.AddInvite(Invite{Code: "some", Channel: DemoGeneral, Users: []discord.UserID{DemoReader}})
		d.AddInvite(Invite{Code: "club", Channel: DemoClubGeneral, Inviter: DemoOwner, Users: []discord.UserID{DemoReader}})
	}
	last := func(action int) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			t.Helper()
			if log := d.AuditLog(DemoGuild); len(log) == 0 || log[len(log)-1].Action != action {
				t.Errorf("the audit log ends with %v, want action %d", log, action)
			}
		}
	}
	rows(t, []row{
		{name: "defaults", method: "POST", path: make, body: `{}`, status: 200, has: `"expires_at":"2026-06-02T12:00:00`, after: last(auditInviteCreate)},
		{name: "for ever", method: "POST", path: make, body: `{"max_age":0,"max_uses":5,"temporary":true}`, status: 200, has: `"expires_at":null`},
		{name: "too old", method: "POST", path: make, body: `{"max_age":5184001}`, status: 400, code: 50035, has: "NUMBER_TYPE_MAX"},
		{name: "too many uses", method: "POST", path: make, body: `{"max_uses":101}`, status: 400, code: 50035},
		{name: "to a category", method: "POST", path: "/channels/{category}/invites", body: `{}`, status: 400, code: 50024},
		{name: "to a thread", method: "POST", path: "/channels/{thread}/invites", body: `{}`, status: 400, code: 50024},
		{name: "to a hidden channel", method: "POST", path: "/channels/{staff}/invites", body: `{}`, status: 403, code: 50001},
		{name: "without the permission", method: "POST", path: "/channels/{clubgeneral}/invites", body: `{}`, status: 403, code: 50013,
			before: func(d *Discord) {
				d.world.guilds[DemoClub].roles[discord.RoleID(DemoClub)].Permissions &^= discord.CreateInstantInvite
			}},
		{name: "to a stream", method: "POST", path: "/channels/{lounge}/invites", body: `{"target_type":1,"target_user_id":"{member}"}`, status: 200, has: `"target_user":{`},
		{name: "to a stream in a text channel", method: "POST", path: make, body: `{"target_type":1,"target_user_id":"{member}"}`, status: 400, code: 50035, has: "GUILD_INVITE_INVALID_TARGET_TYPE"},
		{name: "to an activity", method: "POST", path: "/channels/{lounge}/invites", body: `{"target_type":2,"target_application_id":"{bot}"}`, status: 200, has: `"target_application":{`},
		{name: "to an activity without it", method: "POST", path: "/channels/{lounge}/invites", body: `{"target_type":2}`, status: 400, code: 50035},
		{name: "with a role", method: "POST", path: make, body: `{"role_ids":["{events}"]}`, status: 200, has: `"roles":[{"id":"{events}"`},
		{name: "with a higher role", method: "POST", path: make, body: `{"role_ids":["` + string(DemoAdminRole) + `"]}`, status: 403, code: 50013},
		{name: "of a channel", method: "GET", path: make, status: 200, has: `"uses":4`, before: add},
		{name: "of a channel without MANAGE_CHANNELS", method: "GET", path: "/channels/{clubgeneral}/invites", status: 403, code: 50013},
		{name: "of a guild", method: "GET", path: "/guilds/{guild}/invites", status: 200, has: `"code":"harbour7"`, before: add},
		{name: "of a guild without MANAGE_GUILD", method: "GET", path: "/guilds/{club}/invites", status: 403, code: 50013},
		{name: "one", method: "GET", path: "/invites/harbour7?with_counts=true&guild_scheduled_event_id={nowhere}", status: 200, has: `"approximate_member_count":7`, before: add},
		{name: "unknown", method: "GET", path: "/invites/nothing", status: 404, code: 10006},
		{name: "too late", method: "GET", path: "/invites/old", status: 404, code: 10006, before: old},
		{name: "used up", method: "GET", path: "/invites/used", status: 404, code: 10006, before: old},
		{name: "a bad event", method: "GET", path: "/invites/harbour7?guild_scheduled_event_id=x", status: 400, code: 50035, before: add},
		{name: "revoked", method: "DELETE", path: "/invites/harbour7", status: 200, has: `"code":"harbour7"`, before: add, after: last(auditInviteDelete)},
		{name: "revoked twice", method: "DELETE", path: "/invites/nothing", status: 404, code: 10006},
		{name: "for some users", method: "GET", path: "/invites/some/target-users", status: 200, has: "user_id\n" + string(DemoReader) + "\n", before: some},
		{name: "for some users, read at once", method: "GET", path: "/invites/some/target-users/job-status", status: 200, has: `{"status":1,"total_users":1,"processed_users":0`, before: some},
		{name: "for some users, not to be seen", method: "GET", path: "/invites/club/target-users", status: 403, code: 50013, before: some},
		{name: "for everybody", method: "GET", path: "/invites/harbour7/target-users", status: 404, code: 10006, before: add},
		{name: "revoked without the permission", method: "DELETE", path: "/invites/reads", status: 403, code: 50013, before: old},
	})
}

// TestInviteReuse shows that a like invite comes back unless a new one is
// demanded, and that uses are nothing for the public.
func TestInviteReuse(t *testing.T) {
	t.Parallel()
	type invite struct{ Code string }
	d := demo(t)
	const path = "/channels/" + string(DemoGeneral) + "/invites"
	first := get[invite](t, d, "POST", path, `{"max_uses":3}`)
	if again := get[invite](t, d, "POST", path, `{"max_uses":3}`); again != first {
		t.Errorf("a like invite is %v, want %v", again, first)
	}
	for _, body := range []string{`{"max_uses":3,"unique":true}`, `{"max_uses":4}`} {
		if other := get[invite](t, d, "POST", path, body); other == first {
			t.Errorf("%s gave %v again", body, other)
		}
	}
	_, reply := do(t, d, "GET", "/invites/"+first.Code, "")
	if strings.Contains(string(reply), `"uses"`) {
		t.Errorf("uses are public: %s", reply)
	}
}

// TestInviteNeedsNoToken shows that an invite is public.
func TestInviteNeedsNoToken(t *testing.T) {
	t.Parallel()
	d := demo(t)
	code := d.AddInvite(Invite{Channel: DemoGeneral})
	r := request(t, d, "GET", "/invites/"+code, "")
	r.Header.Del("Authorization")
	if status, reply := send(t, d, r); status != http.StatusOK {
		t.Errorf("status %d: %s", status, reply)
	}
	r = request(t, d, "DELETE", "/invites/"+code, "")
	r.Header.Del("Authorization")
	if status, reply := send(t, d, r); status != http.StatusUnauthorized {
		t.Errorf("revoking it: status %d: %s", status, reply)
	}
}
