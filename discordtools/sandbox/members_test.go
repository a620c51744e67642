package sandbox

import (
	"slices"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// inVoice puts the demo member into the lounge.
func inVoice(d *Discord) {
	d.AddVoiceState(DemoGuild, VoiceState{User: DemoMember, Channel: DemoLounge})
}

// mayNot takes permissions from the bot's role.
func mayNot(p discord.Permissions) func(*Discord) {
	return func(d *Discord) { d.world.guilds[DemoGuild].roles[DemoBotRole].Permissions &^= p }
}

func TestReadMembers(t *testing.T) {
	t.Parallel()
	const all = "/guilds/{guild}/members"
	rows(t, []row{
		{name: "one unless asked for more", method: "GET", path: all, status: 200, has: `"id":"{bot}"`},
		{name: "after a user", method: "GET", path: all + "?limit=1&after={admin}", status: 200, has: `"id":"{mod}"`},
		{name: "more than a page", method: "GET", path: all + "?limit=1001", status: 400, code: 50035, has: "NUMBER_TYPE_MAX"},
		{name: "of a guild without the bot", method: "GET", path: "/guilds/{nowhere}/members", status: 404, code: 10004},
		{name: "by nickname", method: "GET", path: all + "/search?query=tOMo", status: 200, has: `"id":"{member}"`},
		{name: "by user name", method: "GET", path: all + "/search?query=salt&limit=5", status: 200, has: `"id":"{mod}"`},
		{name: "nobody", method: "GET", path: all + "/search?query=zebra", status: 200, has: `[]`},
		{name: "without a query", method: "GET", path: all + "/search", status: 400, code: 50035, has: `"query"`},
		{name: "not a member", method: "GET", path: all + "/{reader}", status: 404, code: 10007},
	})
}

func TestEditMember(t *testing.T) {
	t.Parallel()
	const member, admin, owner = "/guilds/{guild}/members/{member}", "/guilds/{guild}/members/{admin}", "/guilds/{guild}/members/{owner}"
	newcomer := "/guilds/{guild}/members/" + string(DemoNewcomer) // is not in voice
	at := func(d time.Duration) string {
		return `{"communication_disabled_until":"` + noon.Add(d).Format(time.RFC3339) + `"}`
	}
	rows(t, []row{
		{name: "nothing", method: "PATCH", path: member, body: `{}`, status: 200, has: `"nick":"Tomo"`},
		{name: "nickname", method: "PATCH", path: member, body: `{"nick":"Tom"}`, status: 200, has: `"nick":"Tom"`,
			after: func(t *testing.T, d *Discord) {
				if e := d.AuditLog(DemoGuild); len(e) != 1 || e[0].Action != auditMemberUpdate || e[0].Changes[0].Key != "nick" {
					t.Errorf("audit log %+v", e)
				}
			}},
		{name: "no nickname", method: "PATCH", path: member, body: `{"nick":null}`, status: 200, has: `"nick":null`},
		{name: "long nickname", method: "PATCH", path: member, body: `{"nick":"123456789012345678901234567890123"}`, status: 400, code: 50035},
		{name: "nickname of someone higher", method: "PATCH", path: admin, body: `{"nick":"x"}`, status: 403, code: 50013},
		{name: "nickname without the permission", method: "PATCH", path: member, body: `{"nick":"x"}`, status: 403, code: 50013, before: mayNot(discord.ManageNicknames)},
		{name: "roles", method: "PATCH", path: member, body: `{"roles":["{muted}"]}`, status: 200, has: `"roles":["{muted}"]`,
			after: func(t *testing.T, d *Discord) {
				e := d.AuditLog(DemoGuild)
				if len(e) != 1 || e[0].Action != auditMemberRoleUpdate || len(e[0].Changes) != 2 || e[0].Changes[0].Key != "$add" {
					t.Errorf("audit log %+v", e)
				}
			}},
		{name: "a role above the bot", method: "PATCH", path: member, body: `{"roles":["` + string(DemoAdminRole) + `"]}`, status: 403, code: 50013},
		{name: "a managed role", method: "PATCH", path: member, body: `{"roles":["` + string(DemoBotRole) + `"]}`, status: 400, code: 50028},
		{name: "an unknown role", method: "PATCH", path: member, body: `{"roles":["{nowhere}"]}`, status: 404, code: 10011},
		{name: "roles without the permission", method: "PATCH", path: member, body: `{"roles":[]}`, status: 403, code: 50013, before: mayNot(discord.ManageRoles)},
		{name: "timeout", method: "PATCH", path: member, body: at(time.Hour), status: 200, has: `"communication_disabled_until":"2026-06-01T13:00:00`},
		{name: "timeout of 28 days", method: "PATCH", path: member, body: at(28 * 24 * time.Hour), status: 200},
		{name: "timeout of more", method: "PATCH", path: member, body: at(28*24*time.Hour + time.Second), status: 400, code: 50035, has: "INVALID_COMMUNICATION_DISABLED_TIMESTAMP"},
		{name: "end of a timeout", method: "PATCH", path: "/guilds/{guild}/members/" + string(DemoTimedOut), body: `{"communication_disabled_until":null}`, status: 200, has: `"communication_disabled_until":null`},
		{name: "timeout of an administrator", method: "PATCH", path: admin, body: at(time.Hour), status: 403, code: 50013,
			before: func(d *Discord) { d.world.guilds[DemoGuild].roles[DemoBotRole].Position = 9 }},
		{name: "timeout of the owner", method: "PATCH", path: owner, body: at(time.Hour), status: 403, code: 50013},
		{name: "timeout without the permission", method: "PATCH", path: member, body: at(time.Hour), status: 403, code: 50013, before: mayNot(discord.ModerateMembers)},
		{name: "mute outside voice", method: "PATCH", path: newcomer, body: `{"mute":true}`, status: 400, code: 40032},
		{name: "mute", method: "PATCH", path: member, body: `{"mute":true}`, status: 200, has: `"mute":true`, before: inVoice},
		{name: "deafen", method: "PATCH", path: member, body: `{"deaf":true}`, status: 200, has: `"deaf":true`, before: inVoice},
		{name: "move", method: "PATCH", path: member, body: `{"channel_id":"{stage}"}`, status: 200, before: inVoice,
			after: func(t *testing.T, d *Discord) {
				if s, _ := d.VoiceState(DemoGuild, DemoMember); s.Channel != DemoStage {
					t.Errorf("is in %s", s.Channel)
				}
			}},
		{name: "move to a text channel", method: "PATCH", path: member, body: `{"channel_id":"{general}"}`, status: 400, code: 50024, before: inVoice},
		{name: "move to an unknown channel", method: "PATCH", path: member, body: `{"channel_id":"{nowhere}"}`, status: 404, code: 10003, before: inVoice},
		{name: "move without the permission", method: "PATCH", path: member, body: `{"channel_id":"{stage}"}`, status: 403, code: 50013,
			before: func(d *Discord) { inVoice(d); mayNot(discord.MoveMembers)(d) }},
		{name: "disconnect", method: "PATCH", path: member, body: `{"channel_id":null}`, status: 200, before: inVoice,
			after: func(t *testing.T, d *Discord) {
				if _, there := d.VoiceState(DemoGuild, DemoMember); there {
					t.Error("is still connected")
				}
			}},
		{name: "flags that cannot be set are dropped", method: "PATCH", path: member, body: `{"flags":7}`, status: 200, has: `"flags":4`},
		{name: "one wrong part changes nothing", method: "PATCH", path: newcomer, body: `{"nick":"x","mute":true}`, status: 400, code: 40032,
			after: func(t *testing.T, d *Discord) {
				if m, _ := d.Member(DemoGuild, DemoNewcomer); m.Nick != "" {
					t.Errorf("nickname is %q", m.Nick)
				}
			}},
		{name: "the bot's nickname", method: "PATCH", path: "/guilds/{guild}/members/@me", body: `{"nick":"Keeper","avatar":"data:image/png;base64,AAAA"}`, status: 200, has: `"nick":"Keeper"`},
		{name: "the bot's nickname without the permission", method: "PATCH", path: "/guilds/{guild}/members/@me", body: `{"nick":"Keeper"}`, status: 403, code: 50013,
			before: func(d *Discord) {
				mayNot(discord.ChangeNickname | discord.ManageNicknames)(d)
				d.world.guilds[DemoGuild].roles[discord.RoleID(DemoGuild)].Permissions &^= discord.ChangeNickname
			}},
		{name: "the bot's avatar from an address", method: "PATCH", path: "/guilds/{guild}/members/@me", body: `{"avatar":"https://a.example/a.png"}`, status: 400, code: 50035, has: "Invalid image data"},
	})
}

func TestMemberRolesAndKick(t *testing.T) {
	t.Parallel()
	const member = "/guilds/{guild}/members/{member}"
	holds := func(want bool, role discord.RoleID) func(*testing.T, *Discord) {
		return func(t *testing.T, d *Discord) {
			if m, _ := d.Member(DemoGuild, DemoMember); slices.Contains(m.Roles, role) != want {
				t.Errorf("roles %v", m.Roles)
			}
		}
	}
	rows(t, []row{
		{name: "give", method: "PUT", path: member + "/roles/{muted}", status: 204, after: holds(true, DemoMutedRole)},
		{name: "give again", method: "PUT", path: member + "/roles/{events}", status: 204, after: holds(true, DemoEventsRole)},
		{name: "take", method: "DELETE", path: member + "/roles/{events}", status: 204, after: holds(false, DemoEventsRole)},
		{name: "unknown role", method: "PUT", path: member + "/roles/{nowhere}", status: 404, code: 10011},
		{name: "unknown member", method: "PUT", path: "/guilds/{guild}/members/{reader}/roles/{muted}", status: 404, code: 10007},
		{name: "everyone", method: "PUT", path: member + "/roles/{everyone}", status: 400, code: 50028},
		{name: "a managed role", method: "PUT", path: member + "/roles/" + string(DemoBotRole), status: 400, code: 50028},
		{name: "a higher role", method: "PUT", path: member + "/roles/" + string(DemoAdminRole), status: 403, code: 50013},
		{name: "without the permission", method: "DELETE", path: member + "/roles/{events}", status: 403, code: 50013, before: mayNot(discord.ManageRoles)},
		{name: "kick", method: "DELETE", path: member, status: 204, before: inVoice, after: func(t *testing.T, d *Discord) {
			_, member := d.Member(DemoGuild, DemoMember)
			_, connected := d.VoiceState(DemoGuild, DemoMember)
			if log := d.AuditLog(DemoGuild); member || connected || len(log) != 1 || log[0].Action != auditMemberKick {
				t.Errorf("member %v, connected %v, audit log %+v", member, connected, log)
			}
		}},
		{name: "kick someone higher", method: "DELETE", path: "/guilds/{guild}/members/{admin}", status: 403, code: 50013},
		{name: "kick the owner", method: "DELETE", path: "/guilds/{guild}/members/{owner}", status: 403, code: 50013},
		{name: "kick without the permission", method: "DELETE", path: member, status: 403, code: 50013, before: mayNot(discord.KickMembers)},
		{name: "kick a stranger", method: "DELETE", path: "/guilds/{guild}/members/{reader}", status: 404, code: 10007},
	})
}

func TestBans(t *testing.T) {
	t.Parallel()
	const bans = "/guilds/{guild}/bans"
	banned := func(d *Discord) {
		d.AddBan(DemoGuild, Ban{User: DemoReader, Reason: "spam"})
		d.AddBan(DemoGuild, Ban{User: DemoNewcomer})
	}
	rows(t, []row{
		{name: "list", method: "GET", path: bans, status: 200, before: banned, has: `"reason":"spam"`},
		{name: "before counts", method: "GET", path: bans + "?before={reader}&after={reader}", status: 200, before: banned, has: `"reason":null`},
		{name: "list without the permission", method: "GET", path: bans, status: 403, code: 50013, before: mayNot(discord.BanMembers)},
		{name: "get", method: "GET", path: bans + "/{reader}", status: 200, before: banned, has: `"username":"dog.eared"`},
		{name: "not banned", method: "GET", path: bans + "/{reader}", status: 404, code: 10026},
		{name: "ban a member and their messages", method: "PUT", path: bans + "/" + string(DemoTimedOut), body: `{"delete_message_seconds":86400}`, status: 204,
			after: func(t *testing.T, d *Discord) {
				for _, m := range d.Messages(DemoGeneral) {
					if m.Author == DemoTimedOut {
						t.Errorf("%q is left", m.Content)
					}
				}
				if log := d.AuditLog(DemoGuild); len(log) != 1 || log[0].Action != auditBanAdd || len(d.Bans(DemoGuild)) != 1 {
					t.Errorf("audit log %+v, bans %v", log, d.Bans(DemoGuild))
				}
			}},
		{name: "ban a member alone", method: "PUT", path: bans + "/" + string(DemoTimedOut), body: `{}`, status: 204, after: func(t *testing.T, d *Discord) {
			if !slices.ContainsFunc(d.Messages(DemoGeneral), func(m Message) bool { return m.Author == DemoTimedOut }) {
				t.Error("their messages are gone")
			}
		}},
		{name: "ban a stranger", method: "PUT", path: bans + "/{reader}", body: `{}`, status: 204},
		{name: "ban twice", method: "PUT", path: bans + "/{reader}", body: `{}`, status: 204, before: banned},
		{name: "ban nobody", method: "PUT", path: bans + "/{nowhere}", status: 404, code: 10013},
		{name: "ban someone higher", method: "PUT", path: bans + "/{admin}", status: 403, code: 50013},
		{name: "ban the owner", method: "PUT", path: bans + "/{owner}", status: 403, code: 50013},
		{name: "more than seven days of messages", method: "PUT", path: bans + "/{reader}", body: `{"delete_message_seconds":604801}`, status: 400, code: 50035},
		{name: "lift", method: "DELETE", path: bans + "/{reader}", body: `{}`, status: 204, before: banned},
		{name: "lift what is not", method: "DELETE", path: bans + "/{reader}", status: 404, code: 10026},
		{name: "several", method: "POST", path: "/guilds/{guild}/bulk-ban", body: `{"user_ids":["{reader}","{admin}","{nowhere}"]}`, status: 200,
			has: `{"banned_users":["{reader}"],"failed_users":["{admin}","{nowhere}"]}`},
		{name: "several and none", method: "POST", path: "/guilds/{guild}/bulk-ban", body: `{"user_ids":["{admin}"]}`, status: 400, code: 500000},
		{name: "several without MANAGE_GUILD", method: "POST", path: "/guilds/{guild}/bulk-ban", body: `{"user_ids":["{reader}"]}`, status: 403, code: 50013, before: mayNot(discord.ManageGuild)},
		{name: "several, no ids", method: "POST", path: "/guilds/{guild}/bulk-ban", status: 400, code: 50035, has: "BASE_TYPE_REQUIRED"},
	})
}

func TestAccount(t *testing.T) {
	t.Parallel()
	rows(t, []row{
		{name: "a user", method: "GET", path: "/users/{reader}", status: 200, has: `"global_name":"Noor"`},
		{name: "no user", method: "GET", path: "/users/{nowhere}", status: 404, code: 10013},
		{name: "rename the bot", method: "PATCH", path: "/users/@me", body: `{"username":"Keeper","banner":"data:image/png;base64,AAAA"}`, status: 200, has: `"username":"Keeper"`},
		{name: "a short name", method: "PATCH", path: "/users/@me", body: `{"username":"K"}`, status: 400, code: 50035},
		{name: "an avatar that is none", method: "PATCH", path: "/users/@me", body: `{"username":"Keeper","avatar":"x"}`, status: 400, code: 50035, has: "IMAGE_INVALID"},
		{name: "open a conversation", method: "POST", path: "/users/@me/channels", body: `{"recipient_id":"{member}"}`, status: 200, has: `"recipients":[{"id":"{member}"`},
		{name: "with nobody", method: "POST", path: "/users/@me/channels", body: `{"recipient_id":"{nowhere}"}`, status: 404, code: 10013},
		{name: "with itself", method: "POST", path: "/users/@me/channels", body: `{"recipient_id":"{bot}"}`, status: 403, code: 50007},
		{name: "leave", method: "DELETE", path: "/users/@me/guilds/{club}", status: 204, after: func(t *testing.T, d *Discord) {
			if status, _ := do(t, d, "GET", demoNames.Replace("/guilds/{club}"), ""); status != 403 {
				t.Errorf("status %d", status)
			}
		}},
		{name: "leave where it is not", method: "DELETE", path: "/users/@me/guilds/{nowhere}", status: 404, code: 10004},
	})
	t.Run("one channel for one user", func(t *testing.T) {
		t.Parallel()
		d := demo(t)
		open := func() messageReply {
			return get[messageReply](t, d, "POST", "/users/@me/channels", demoNames.Replace(`{"recipient_id":"{member}"}`))
		}
		if a, b := open(), open(); a.ID != b.ID {
			t.Errorf("opened %s and %s", a.ID, b.ID)
		}
	})
}
