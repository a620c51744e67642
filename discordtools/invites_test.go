package discordtools_test

import (
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// harbour is an invite of the owner's to general.
func harbour(d *sandbox.Discord) {
	d.AddInvite(sandbox.Invite{Code: "harbour7", Channel: sandbox.DemoGeneral, Inviter: sandbox.DemoOwner, MaxAge: 3600, MaxUses: 10, Uses: 4, Created: now.Add(-time.Minute)})
}

func TestInvites(t *testing.T) {
	t.Parallel()
	const lounge = string(sandbox.DemoLounge)
	foreign := func(d *sandbox.Discord) {
		d.AddInvite(sandbox.Invite{Code: "reads", Channel: sandbox.DemoClubReads, Inviter: sandbox.DemoOwner})
	}
	run(t, []row{
		{
			shows: "never ends", tool: "invites_create_channel", args: `{"channel_id":` + id(general) + `,"max_age":0,"max_uses":1,"temporary":false,"unique":true,"audit_reason":"guest"}`,
			sent: []string{"POST /channels/" + general + `/invites {"max_age":0,"max_uses":1,"temporary":false,"unique":true}`},
			want: `{"code":"*","url":"*","expires_at":null,"max_age":0,"max_uses":1,"temporary":false,"unique":true,"inviter_id":` + id(sandbox.BotID) + `}`,
		},
		{
			shows: "Discord's own defaults", tool: "invites_create_channel", args: `{"channel_id":` + id(general) + `}`,
			sent: []string{"POST /channels/" + general + "/invites {}"}, want: `{"max_age":86400,"expires_at":"2026-03-15T15:09:26.000000+00:00","unique":false}`,
		},
		{
			shows: "to a stream, with a role", tool: "invites_create_channel",
			args: `{"channel_id":` + id(lounge) + `,"target_type":1,"target_user_id":` + id(sandbox.DemoMember) + `,"role_ids":[` + id(sandbox.DemoMemberRole) + `]}`,
			sent: []string{"POST /channels/" + lounge + `/invites {"target_type":1,"target_user_id":` + id(sandbox.DemoMember) + `,"role_ids":[` + id(sandbox.DemoMemberRole) + `]}`},
			want: `{"code":"*"}`,
		},
		{
			shows: "a stream of nobody", tool: "invites_create_channel", args: `{"channel_id":` + id(lounge) + `,"target_type":1}`,
			code: mcpcore.CodeValidation, says: "target_user_id: is required with target_type 1",
		},
		{
			shows: "an activity and a user", tool: "invites_create_channel",
			args: `{"channel_id":` + id(lounge) + `,"target_type":2,"target_application_id":` + id(sandbox.ApplicationID) + `,"target_user_id":` + id(sandbox.DemoMember) + `}`,
			code: mcpcore.CodeValidation, says: "target_user_id: goes with target_type 1 only",
		},
		{
			shows: "with the roles of an admin", tool: "invites_create_channel", args: `{"channel_id":` + id(general) + `,"role_ids":[` + id(sandbox.DemoAdminRole) + `]}`,
			sent: []string{"POST /channels/" + general + `/invites {"role_ids":[` + id(sandbox.DemoAdminRole) + `]}`}, code: mcpcore.CodePermission,
		},
		{
			shows: "names in a fence", tool: "invites_get", setup: harbour, args: `{"code":"harbour7","with_counts":true}`,
			sent: []string{"GET /invites/harbour7?with_counts=true"}, says: "<untrusted_discord_channel_topic",
			want: `{"code":"harbour7","url":"https://discord.gg/harbour7","channel_id":` + id(general) + `,"guild_id":` + id(guild) + `,"inviter_name":"Marina Holt","approximate_member_count":7,"untrusted_names":"*"}`,
		},
		{
			shows: "with an event", tool: "invites_get", setup: harbour, args: `{"code":"harbour7","guild_scheduled_event_id":"1200000000000000888"}`,
			sent: []string{"GET /invites/harbour7?guild_scheduled_event_id=1200000000000000888"}, want: `{"guild_name":"Lighthouse Games"}`,
		},
		{
			shows: "expired", tool: "invites_get", args: `{"code":"gone"}`,
			sent: []string{"GET /invites/gone"}, code: mcpcore.CodeNotFound, says: "used up or expired",
		},
		{
			shows: "with uses", tool: "invites_list_channel", setup: harbour, args: `{"channel_id":` + id(general) + `}`,
			sent: []string{"GET /channels/" + general + "/invites"}, says: "<untrusted_discord_username",
			want: `{"count":1,"invites":[{"code":"harbour7","uses":4,"max_uses":10,"max_age":3600,"temporary":false,"created_at":"*","expires_at":"*","inviter_name":"Marina Holt"}]}`,
		},
		{
			shows: "where the bot does not manage", tool: "invites_list_channel", args: `{"channel_id":` + id(sandbox.DemoClubGeneral) + `}`,
			sent: []string{"GET /channels/" + string(sandbox.DemoClubGeneral) + "/invites"}, code: mcpcore.CodePermission,
		},
		{
			shows: "preview says where it leads", tool: "invites_delete", setup: harbour, args: `{"code":"harbour7"}`,
			sent: []string{"GET /invites/harbour7", "GET /channels/" + general + "/invites"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"name":"guild","value":"Lighthouse Games"},{"name":"channel","value":"general"},{"name":"inviter","value":"marina (Marina Holt)"},{"name":"uses","value":"4 of 10"},{"name":"ends","value":"2026-03-14T16:08:26.000000+00:00"}]}`,
		},
		{
			shows: "preview without a look at the uses", tool: "invites_delete", setup: foreign, args: `{"code":"reads"}`,
			sent: []string{"GET /invites/reads", "GET /channels/" + string(sandbox.DemoClubReads) + "/invites"}, code: mcpcore.CodeDryRun,
			want: `{"facts":[{"value":"Harbour Book Club"},{},{},{"value":"unknown"},{"value":"never"}]}`,
		},
		{
			shows: "preview of none", tool: "invites_delete", args: `{"code":"gone"}`, sent: []string{"GET /invites/gone"}, code: mcpcore.CodeNotFound,
		},
		{
			shows: "confirmed", tool: "invites_delete", setup: harbour, args: `{"code":"harbour7","audit_reason":"leaked","__confirm":true}`,
			sent: []string{"DELETE /invites/harbour7"}, want: `{"deleted":true,"code":"harbour7"}`,
		},
	})
}

// L02 Id that is not an id reaches the URL path
func TestL02InviteCodeIsACode(t *testing.T) {
	t.Parallel()
	b := start(t)
	harbour(b.world)
	b.world.ResetRequests()
	for _, code := range []string{
		"harbour7/../../guilds/" + guild, "a/b", "a%2Fb", "a?with_counts=true", "a#b", "..", ".", " harbour7", "harbour7 ", "@me", "haf\u200bbour", "ｈarbour",
		strings.Repeat("a", 33),
	} {
		for _, tool := range []string{"invites_get", "invites_delete"} {
			if a := b.call(tool, `{"code":`+id(code)+`}`); a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "code: must be an invite's code") {
				t.Errorf("%s %q: code %q: %s", tool, code, a.code, a.text)
			}
		}
	}
	for _, address := range []string{"https://discord.gg/harbour7", "discord.gg/harbour7", "https://discord.com/invite/harbour7?event=1", "https://discordapp.com/invite/harbour7"} {
		if a := b.call("invites_get", `{"code":`+id(address)+`}`); a.code != mcpcore.CodeValidation || !strings.Contains(a.text, "code alone") {
			t.Errorf("%q: code %q: %s", address, a.code, a.text)
		}
	}
	if a := b.call("invites_get", `{"code":""}`); a.code != mcpcore.CodeValidation {
		t.Errorf("empty: code %q", a.code)
	}
	if got := b.sent(); len(got) != 0 {
		t.Errorf("Discord saw %q", got)
	}
}

// TestInviteLookupIsAnonymous shows that an invite is looked up without the
// bot's token, and that with_expiration goes out for who still sends it.
func TestInviteLookupIsAnonymous(t *testing.T) {
	t.Parallel()
	world := sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return now }})
	harbour(world)
	server, err := discordtools.BuildServer(discordtools.Deps{Session: world.Session(), Audit: &recorder{}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, world: world, mcp: connect(t, server)} // not held against Discord's description, which has with_expiration no more
	if a := b.call("invites_get", `{"code":"harbour7","with_expiration":true}`); a.code != "" {
		t.Fatalf("code %q: %s", a.code, a.text)
	}
	requests := world.Requests()
	if len(requests) != 1 || requests[0].Query.Get("with_expiration") != "true" || requests[0].Header.Get("Authorization") != "" {
		t.Errorf("Discord saw %v with %q", b.sent(), requests[0].Header.Get("Authorization"))
	}
}
