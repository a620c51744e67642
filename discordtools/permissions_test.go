package discordtools_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// TestPermissions: the tools read side by side, so that the requests of a row
// have no order.
func TestPermissions(t *testing.T) {
	t.Parallel()
	const (
		explain = "permissions_explain"
		audit   = "permissions_audit_channel"
		high    = discord.Permissions(1 << 60) // without a name
	)
	of := func(who, more string) string { return `{"guild_id":` + id(guild) + `,` + who + more + `}` }
	user := func(u discord.UserID) string { return `"user_id":` + id(u) }
	role := func(r discord.RoleID) string { return `"role_id":` + id(r) }
	in := func(c discord.ChannelID, action string) string {
		return `,"channel_id":` + id(c) + `,"action":"` + action + `"`
	}
	on := func(action string, u discord.UserID) string {
		return `,"action":"` + action + `","target_user_id":` + id(u)
	}
	give := func(r discord.RoleID) string { return `,"action":"assign_role","target_role_id":` + id(r) }
	base := func(more ...string) []string {
		return append(more, "GET /guilds/"+guild, "GET /guilds/"+guild+"/roles")
	}
	member := func(u discord.UserID) string { return "GET /guilds/" + guild + "/members/" + string(u) }
	channel := func(c discord.ChannelID) string { return "GET /channels/" + string(c) }
	private := func(d *sandbox.Discord) {
		d.AddChannel(sandbox.Channel{ID: "1200000000000000399", Guild: sandbox.DemoGuild, Type: discord.PrivateThread, Name: "whispers", Parent: sandbox.DemoGeneral})
	}
	for _, r := range []row{
		{shows: "a member sends", tool: explain, args: of(user(sandbox.DemoMember), in(sandbox.DemoGeneral, "send_messages")),
			sent: base(member(sandbox.DemoMember), channel(sandbox.DemoGeneral)),
			want: `{"guild_id":` + id(guild) + `,"channel_id":` + id(general) + `,"permission_source_channel_id":` + id(general) + `,"subject_type":"member","subject_id":` + id(sandbox.DemoMember) + `,
				"action":"send_messages","requested_permissions":["VIEW_CHANNEL","SEND_MESSAGES"],"allowed":true,"unknown_permission_bits":"0","missing_permissions":[],"ineffective_permissions":[],"implicit_denies":[],
				"administrator":false,"guild_owner":false,"subject_timed_out":false,"applied_role_ids":[` + id(sandbox.DemoMemberRole) + `,` + id(sandbox.DemoEventsRole) + `,` + id(guild) + `],
				"role_hierarchy_check":{"status":"not_applicable","allowed":null,"actor_top_role_id":null,"target_top_role_id":null},"warnings":[],"confidence":"complete"}`},
		{shows: "a role by itself, muted", tool: explain, args: of(role(sandbox.DemoMutedRole), in(sandbox.DemoGeneral, "send_messages")),
			sent: base(channel(sandbox.DemoGeneral)),
			want: `{"subject_type":"role","subject_id":` + id(muted) + `,"allowed":false,"missing_permissions":["SEND_MESSAGES"],"applied_role_ids":[` + id(muted) + `,` + id(guild) + `],
				"decision_trace":[{"stage":"guild_everyone","before":"0","deny":"0"},{"stage":"guild_roles"},{"stage":"channel_everyone","allow":"0","deny":"0"},{"stage":"channel_roles","allow":"0","deny":"2099264"}]}`},
		{shows: "@everyone", tool: explain, args: of(role(discord.RoleID(guild)), in(sandbox.DemoStaff, "view_channel")), setup: administrator,
			sent: base(channel(sandbox.DemoStaff)), want: `{"allowed":false,"missing_permissions":["VIEW_CHANNEL"],"applied_role_ids":[` + id(guild) + `]}`},
		{shows: "permissions of a guild", tool: explain, args: of(user(sandbox.DemoModerator), `,"requested_permissions":["KICK_MEMBERS","MANAGE_EMOJIS_AND_STICKERS"]`),
			sent: base(member(sandbox.DemoModerator)),
			want: `{"channel_id":null,"permission_source_channel_id":null,"action":null,"requested_permissions":["KICK_MEMBERS","MANAGE_EMOJIS_AND_STICKERS"],"allowed":false,"missing_permissions":["MANAGE_EMOJIS_AND_STICKERS"],
				"decision_trace":[{"stage":"guild_everyone"},{"stage":"guild_roles"}]}`},
		{shows: "held and worth nothing", tool: explain, args: of(user(sandbox.DemoMember), in(sandbox.DemoRules, "view_channel")+`,"requested_permissions":["EMBED_LINKS","KICK_MEMBERS"]`),
			sent: base(member(sandbox.DemoMember), channel(sandbox.DemoRules)),
			want: `{"allowed":false,"missing_permissions":["KICK_MEMBERS"],"ineffective_permissions":["EMBED_LINKS"],
				"implicit_denies":[{"permission":"EMBED_LINKS","missing_prerequisites":["SEND_MESSAGES"],"reason":"nothing can be sent there"}]}`},
		{shows: "a voice channel nobody may join", tool: explain, args: of(user(sandbox.DemoMember), in(sandbox.DemoLounge, "view_channel")+`,"requested_permissions":["SPEAK"]`),
			setup: func(d *sandbox.Discord) {
				d.SetOverwrite(sandbox.DemoLounge, discord.Overwrite{ID: discord.OverwriteID(guild), Deny: discord.Connect})
			},
			sent: base(member(sandbox.DemoMember), channel(sandbox.DemoLounge)), want: `{"allowed":false,"ineffective_permissions":["SPEAK"],"implicit_denies":[{"missing_prerequisites":["CONNECT"]}]}`},
		{shows: "an administrator, whatever the channel says", tool: explain, args: of(user(sandbox.DemoAdmin), in(sandbox.DemoStaff, "manage_channel")), setup: administrator,
			sent: base(member(sandbox.DemoAdmin), channel(sandbox.DemoStaff)),
			want: `{"allowed":true,"administrator":true,"decision_trace":[{"stage":"guild_everyone"},{"stage":"guild_roles"},{"stage":"administrator"}]}`},
		{shows: "the owner", tool: explain, args: of(user(sandbox.DemoOwner), in(sandbox.DemoGeneral, "manage_channel")),
			sent: base(member(sandbox.DemoOwner), channel(sandbox.DemoGeneral)), want: `{"allowed":true,"guild_owner":true,"decision_trace":[{},{},{"stage":"guild_owner"}]}`},
		{shows: "during a timeout", tool: explain, args: of(user(sandbox.DemoTimedOut), in(sandbox.DemoGeneral, "send_messages")),
			sent: base(member(sandbox.DemoTimedOut), channel(sandbox.DemoGeneral)),
			want: `{"allowed":false,"subject_timed_out":true,"effective_permissions":"66560","missing_permissions":["SEND_MESSAGES"],"decision_trace":[{},{},{},{},{"stage":"channel_member"},{"stage":"member_timeout","after":"66560"}]}`},
		{shows: "a thread has its channel's overwrites", tool: explain, args: of(role(sandbox.DemoMutedRole), in(sandbox.DemoThread, "send_messages")),
			sent: base(channel(sandbox.DemoThread), channel(sandbox.DemoGeneral)),
			want: `{"permission_source_channel_id":` + id(general) + `,"requested_permissions":["VIEW_CHANNEL","SEND_MESSAGES_IN_THREADS"],"allowed":true}`},
		{shows: "what takes managing a thread", tool: explain, args: of(user(sandbox.DemoModerator), in(sandbox.DemoThread, "manage_channel")),
			sent: base(member(sandbox.DemoModerator), channel(sandbox.DemoThread), channel(sandbox.DemoGeneral)), want: `{"requested_permissions":["VIEW_CHANNEL","MANAGE_THREADS"],"allowed":true}`},
		{shows: "a private thread", tool: explain, args: of(user(sandbox.DemoMember), in("1200000000000000399", "view_channel")), setup: private,
			sent: base(member(sandbox.DemoMember), channel("1200000000000000399"), channel(sandbox.DemoGeneral)), want: `{"allowed":null,"confidence":"partial","warnings":["*"]}`, says: "private"},
		{shows: "a private thread that one may manage", tool: explain, args: of(user(sandbox.DemoModerator), in("1200000000000000399", "view_channel")), setup: private,
			sent: base(member(sandbox.DemoModerator), channel("1200000000000000399"), channel(sandbox.DemoGeneral)), want: `{"allowed":true,"confidence":"complete"}`},
		{shows: "bits without a name stay", tool: explain, args: of(user(sandbox.DemoModerator), `,"requested_permissions":["KICK_MEMBERS"]`), setup: func(d *sandbox.Discord) {
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoModeratorRole, high|discord.KickMembers)
		}, sent: base(member(sandbox.DemoModerator)), want: `{"allowed":true,"unknown_permission_bits":"1152921504606846976","confidence":"complete"}`},
		{shows: "an overwrite of what channels have no say in", tool: explain, args: of(user(sandbox.DemoMember), in(sandbox.DemoLounge, "view_channel")), setup: func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoLounge, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoMember), Type: 1, Allow: discord.BanMembers})
		}, sent: base(member(sandbox.DemoMember), channel(sandbox.DemoLounge)), says: "BAN_MEMBERS, in which Discord gives channels no say"},

		{shows: "a role below", tool: explain, args: of(user(sandbox.BotID), give(sandbox.DemoModeratorRole)), sent: base(member(sandbox.BotID)),
			want: `{"allowed":true,"role_hierarchy_check":{"status":"allowed","allowed":true,"actor_top_role_id":` + id(sandbox.DemoBotRole) + `,"target_top_role_id":` + id(sandbox.DemoModeratorRole) + `}}`},
		{shows: "a role above", tool: explain, args: of(user(sandbox.BotID), give(sandbox.DemoAdminRole)), sent: base(member(sandbox.BotID)),
			want: `{"allowed":false,"missing_permissions":[],"role_hierarchy_check":{"status":"denied","allowed":false}}`},
		{shows: "a role of the same place, younger", tool: explain, args: of(user(sandbox.BotID), give("1200000000000000299")), sent: base(member(sandbox.BotID)), setup: func(d *sandbox.Discord) {
			d.AddRole(sandbox.DemoGuild, sandbox.Role{ID: "1200000000000000299", Name: "Crew", Position: 5})
		}, want: `{"role_hierarchy_check":{"status":"allowed"}}`},
		{shows: "a role of the same place, older", tool: explain, args: of(user(sandbox.BotID), give("1200000000000000199")), sent: base(member(sandbox.BotID)), setup: func(d *sandbox.Discord) {
			d.AddRole(sandbox.DemoGuild, sandbox.Role{ID: "1200000000000000199", Name: "Crew", Position: 5})
		}, want: `{"role_hierarchy_check":{"status":"denied"}}`},
		{shows: "a managed role", tool: explain, args: of(user(sandbox.DemoAdmin), give(sandbox.DemoBotRole)), sent: base(member(sandbox.DemoAdmin)), want: `{"allowed":false,"role_hierarchy_check":{"status":"denied"}}`, says: "integration"},
		{shows: "@everyone as a target", tool: explain, args: of(user(sandbox.DemoOwner), give(discord.RoleID(guild))), sent: base(member(sandbox.DemoOwner)), want: `{"allowed":false,"role_hierarchy_check":{"status":"denied"}}`},
		{shows: "without the permission", tool: explain, args: of(user(sandbox.DemoModerator), `,"action":"remove_role","target_role_id":`+id(sandbox.DemoMutedRole)), sent: base(member(sandbox.DemoModerator)),
			want: `{"allowed":false,"missing_permissions":["MANAGE_ROLES"],"role_hierarchy_check":{"status":"allowed"}}`},
		{shows: "a member below", tool: explain, args: of(user(sandbox.DemoModerator), on("kick_member", sandbox.DemoMember)), sent: base(member(sandbox.DemoModerator), member(sandbox.DemoMember)),
			want: `{"allowed":true,"role_hierarchy_check":{"status":"allowed","target_top_role_id":` + id(sandbox.DemoMemberRole) + `}}`},
		{shows: "a member above", tool: explain, args: of(user(sandbox.DemoModerator), on("kick_member", sandbox.DemoAdmin)), sent: base(member(sandbox.DemoModerator), member(sandbox.DemoAdmin)), want: `{"allowed":false,"role_hierarchy_check":{"status":"denied"}}`},
		{shows: "the owner as a target", tool: explain, args: of(user(sandbox.DemoAdmin), on("ban_member", sandbox.DemoOwner)), sent: base(member(sandbox.DemoAdmin), member(sandbox.DemoOwner)), want: `{"allowed":false}`, says: "owner"},
		{shows: "oneself", tool: explain, args: of(user(sandbox.DemoAdmin), on("kick_member", sandbox.DemoAdmin)), sent: base(member(sandbox.DemoAdmin), member(sandbox.DemoAdmin)), want: `{"allowed":false}`, says: "themselves"},
		{shows: "an administrator's timeout", tool: explain, args: of(user(sandbox.DemoOwner), on("timeout_member", sandbox.DemoAdmin)), sent: base(member(sandbox.DemoOwner), member(sandbox.DemoAdmin)), want: `{"allowed":false}`, says: "cannot be timed out"},
		{shows: "the owner acts", tool: explain, args: of(user(sandbox.DemoOwner), on("ban_member", sandbox.DemoAdmin)), sent: base(member(sandbox.DemoOwner), member(sandbox.DemoAdmin)), want: `{"allowed":true}`},
		{shows: "a ban of somebody who is not there", tool: explain, args: of(user(sandbox.DemoAdmin), on("ban_member", sandbox.DemoReader)), sent: base(member(sandbox.DemoAdmin), member(sandbox.DemoReader)),
			want: `{"allowed":true,"role_hierarchy_check":{"status":"allowed","target_top_role_id":null}}`},
		{shows: "a kick of somebody who is not there", tool: explain, args: of(user(sandbox.DemoAdmin), on("kick_member", sandbox.DemoReader)), sent: base(member(sandbox.DemoAdmin), member(sandbox.DemoReader)), code: mcpcore.CodeNotFound},

		{shows: "a role that is not there", tool: explain, args: of(role("1200000000000000298"), `,"requested_permissions":["SPEAK"]`), sent: base(), code: mcpcore.CodeNotFound, says: "roles_list",
			want: `{"resource_type":"role","suggested_tool":"roles_list"}`},
		{shows: "a channel of another guild", tool: explain, args: of(user(sandbox.DemoMember), in(sandbox.DemoClubGeneral, "view_channel")), sent: base(member(sandbox.DemoMember), channel(sandbox.DemoClubGeneral)),
			code: mcpcore.CodeValidation, says: "discord_response.channel.guild_id"},
		{shows: "a channel that the bot cannot see", tool: explain, args: of(user(sandbox.DemoMember), in(sandbox.DemoStaff, "view_channel")), sent: base(member(sandbox.DemoMember), channel(sandbox.DemoStaff)), code: mcpcore.CodePermission},
		{shows: "allowed and denied at once", tool: explain, args: of(user(sandbox.DemoMember), in(sandbox.DemoLounge, "view_channel")), setup: func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoLounge, discord.Overwrite{ID: discord.OverwriteID(guild), Allow: discord.Speak, Deny: discord.Speak})
		}, sent: base(member(sandbox.DemoMember), channel(sandbox.DemoLounge)), code: mcpcore.CodeValidation, says: "discord_response.channel.permission_overwrites.0"},
		{shows: "member and role", tool: explain, args: of(user(sandbox.DemoMember), `,`+role(sandbox.DemoMutedRole)+`,"requested_permissions":["SPEAK"]`), code: mcpcore.CodeValidation, says: "role_id: excludes user_id"},
		{shows: "neither member nor role", tool: explain, args: of(`"requested_permissions":["SPEAK"]`, ``), code: mcpcore.CodeValidation, says: "Give one of user_id, role_id"},
		{shows: "nothing asked", tool: explain, args: of(user(sandbox.DemoMember), ``), code: mcpcore.CodeValidation, says: "Give at least one of action, requested_permissions"},
		{shows: "no channel", tool: explain, args: of(user(sandbox.DemoMember), `,"action":"view_channel"`), code: mcpcore.CodeValidation, says: "channel_id: is required with action view_channel"},
		{shows: "a role cannot kick", tool: explain, args: of(role(sandbox.DemoMutedRole), on("kick_member", sandbox.DemoMember)), code: mcpcore.CodeValidation, says: "user_id: is required with action kick_member"},
		{shows: "no target", tool: explain, args: of(user(sandbox.DemoMember), `,"action":"assign_role"`), code: mcpcore.CodeValidation, says: "target_role_id: is required"},
		{shows: "a target of another kind", tool: explain, args: of(user(sandbox.DemoMember), on("assign_role", sandbox.DemoMember)+`,"target_role_id":`+id(muted)), code: mcpcore.CodeValidation, says: "target_user_id: does not go with action assign_role"},
		{shows: "a target without an action", tool: explain, args: of(user(sandbox.DemoMember), `,"requested_permissions":["SPEAK"],"target_user_id":`+id(sandbox.DemoAdmin)), code: mcpcore.CodeValidation, says: "goes with an action on it only"},
		{shows: "no permission of that name", tool: explain, args: of(user(sandbox.DemoMember), `,"requested_permissions":["FLY"]`), code: mcpcore.CodeValidation},

		{shows: "every role, the highest first", tool: audit, args: of(`"channel_id":`+id(sandbox.DemoRules), ``), sent: []string{channel(sandbox.DemoRules), "GET /guilds/" + guild + "/roles"}, says: "<untrusted_discord_channel_topic",
			want: `{"guild_id":` + id(guild) + `,"channel_id":` + id(sandbox.DemoRules) + `,"permission_source_channel_id":` + id(sandbox.DemoRules) + `,"requested_actions":["view_channel","send_messages","manage_channel"],"roles":[
				{"id":` + id(sandbox.DemoAdminRole) + `,"name":"Admin","position":6,"managed":false,"administrator":true,"actions":{"view_channel":true,"send_messages":true,"manage_channel":true}},
				{"name":"Guildwarden Demo","managed":true,"actions":{"view_channel":true,"send_messages":true,"manage_channel":true}},
				{"name":"Moderator","actions":{"view_channel":true,"send_messages":true,"manage_channel":false}},
				{"name":"Member","actions":{"send_messages":false}},{"name":"Game Night"},{"name":"Muted"},{"name":"@everyone","actions":{"view_channel":true,"send_messages":false}}],
				"summary":{"role_count":7,"by_action":{"view_channel":{"allowed":7,"denied":0,"unknown":0},"send_messages":{"allowed":3,"denied":4,"unknown":0},"manage_channel":{"allowed":2,"denied":5,"unknown":0}}},
				"member_overwrite_count":0,"unknown_permission_bits":"0","warnings":[],"confidence":"complete"}`},
		{shows: "one action, in a thread", tool: audit, args: of(`"channel_id":`+id(sandbox.DemoThread), `,"actions":["manage_channel"]`), sent: []string{channel(sandbox.DemoThread), channel(sandbox.DemoGeneral), "GET /guilds/" + guild + "/roles"},
			want: `{"permission_source_channel_id":` + id(general) + `,"requested_actions":["manage_channel"],"roles":[{},{},{"name":"Moderator","actions":{"manage_channel":true}},{},{},{},{"actions":{"manage_channel":false}}],"summary":{"by_action":{"manage_channel":{"allowed":3,"denied":4,"unknown":0}}}}`},
		{shows: "from the fifth role on", tool: audit, args: of(`"channel_id":`+id(sandbox.DemoRules), `,"offset":5`), sent: []string{channel(sandbox.DemoRules), "GET /guilds/" + guild + "/roles"}, want: `{"count":2,"roles":[{"name":"Muted"},{"name":"@everyone"}]}`},
		{shows: "a private thread, and a member's overwrite", tool: audit, args: of(`"channel_id":"1200000000000000399"`, `,"actions":["view_channel"]`), setup: func(d *sandbox.Discord) {
			private(d)
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoMember), Type: 1, Deny: discord.ViewChannel | high})
		}, sent: []string{channel("1200000000000000399"), channel(sandbox.DemoGeneral), "GET /guilds/" + guild + "/roles"},
			want: `{"roles":[{},{},{"name":"Moderator","actions":{"view_channel":true}},{"name":"Member","actions":{"view_channel":null}},{},{},{}],"summary":{"by_action":{"view_channel":{"allowed":3,"denied":0,"unknown":4}}},"member_overwrite_count":1,
				"unknown_permission_bits":"1152921504606846976","warnings":["*","*","*"],"confidence":"partial"}`},
		{shows: "a channel of another guild", tool: audit, args: of(`"channel_id":`+id(sandbox.DemoClubGeneral), ``), sent: []string{channel(sandbox.DemoClubGeneral), "GET /guilds/" + guild + "/roles"}, code: mcpcore.CodeValidation, says: "discord_response.channel.guild_id"},
		{shows: "hidden from the bot", tool: audit, args: of(`"channel_id":`+id(sandbox.DemoStaff), ``), sent: []string{channel(sandbox.DemoStaff), "GET /guilds/" + guild + "/roles"}, code: mcpcore.CodePermission},
	} {
		t.Run(r.tool+"/"+r.shows, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			if r.setup != nil {
				r.setup(b.world)
			}
			b.world.ResetRequests()
			a := b.call(r.tool, r.args)
			if a.code != r.code {
				t.Fatalf("code %q, want %q\n%s", a.code, r.code, a.data)
			}
			got := b.sent()
			slices.Sort(got)
			slices.Sort(r.sent)
			if !slices.Equal(got, r.sent) {
				t.Errorf("Discord saw\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(r.sent, "\n\t"))
			}
			if r.want != "" {
				if diff := missing(t, a.data, r.want); diff != "" {
					t.Errorf("answer %s\nlacks %s", a.data, diff)
				}
			}
			if !strings.Contains(a.text, r.says) {
				t.Errorf("text\n%s\nlacks %q", a.text, r.says)
			}
			covered.note(r.tool, r.code == "")
		})
	}
}

// administrator lets the bot see everything.
func administrator(d *sandbox.Discord) {
	d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.Administrator)
}

// told is a Discord that tells what it is given, by route and id.
type told map[string]any

func (d told) Do(_ context.Context, r discordtools.Request) (*discordtools.Response, error) {
	key := r.Route
	for _, name := range []string{"user_id", "channel_id"} {
		if v := r.Path[name]; v != "" {
			key += " " + v
		}
	}
	v, ok := d[key]
	if !ok {
		return nil, &mcpcore.Error{Code: mcpcore.CodeNotFound, Detail: key}
	}
	body, err := json.Marshal(v)
	if err != nil {
		return nil, errors.New("cannot be told")
	}
	return &discordtools.Response{Status: 200, Header: http.Header{}, Body: body}, nil
}

// TestPermissionsOfWhatDiscordLeavesOut: what is not there makes an answer
// partial, and what contradicts itself makes none.
func TestPermissionsOfWhatDiscordLeavesOut(t *testing.T) {
	t.Parallel()
	const user, channel, thread = "1200000000000000801", "1200000000000000802", "1200000000000000803"
	type object = map[string]any
	world := func() told {
		return told{
			"/guilds/{guild_id}":                           object{"id": guild, "owner_id": "1200000000000000809"},
			"/guilds/{guild_id}/roles":                     []object{{"id": guild, "permissions": "3072", "name": "@everyone"}},
			"/guilds/{guild_id}/members/{user_id} " + user: object{"user": object{"id": user}, "roles": []string{}},
			"/channels/{channel_id} " + channel:            object{"id": channel, "guild_id": guild, "type": 0, "permission_overwrites": []object{}},
			"/channels/{channel_id} " + thread:             object{"id": thread, "guild_id": guild, "type": 11, "parent_id": channel},
		}
	}
	ask := `{"guild_id":` + id(guild) + `,"user_id":"` + user + `","action":"view_channel","channel_id":"`
	for name, c := range map[string]struct {
		change func(told)
		of     string
		code   mcpcore.Code
		want   string
		audit  string // what the audit of the channel says; "" for the same code
		says   string
	}{
		"all there": {of: channel, want: `{"allowed":true,"confidence":"complete"}`, audit: `{"roles":[{"actions":{"view_channel":true}}],"confidence":"complete"}`},
		"a thread":  {of: thread, want: `{"allowed":true,"permission_source_channel_id":"` + channel + `"}`, audit: `{"confidence":"complete"}`},
		"bits above 64": {of: channel, want: `{"allowed":true,"base_permissions":"1180591620717411306496","unknown_permission_bits":"1180591620717411303424","effective_permissions":"1180591620717411306496"}`,
			audit: `{"unknown_permission_bits":"1180591620717411303424","confidence":"partial"}`,
			change: func(d told) {
				d["/guilds/{guild_id}/roles"] = []object{{"id": guild, "permissions": "1180591620717411306496"}}
			}},
		"a role that is not described": {of: channel, want: `{"allowed":null,"confidence":"partial","warnings":["*"]}`, audit: `{"confidence":"complete"}`, change: func(d told) {
			d["/guilds/{guild_id}/members/{user_id} "+user] = object{"user": object{"id": user}, "roles": []string{"1200000000000000808"}}
		}},
		"no roles of the member": {of: channel, want: `{"allowed":null,"confidence":"partial"}`, audit: `{"confidence":"complete"}`, change: func(d told) {
			d["/guilds/{guild_id}/members/{user_id} "+user] = object{"user": object{"id": user}}
		}},
		"no overwrites": {of: channel, want: `{"allowed":null,"confidence":"partial","permission_source_channel_id":"` + channel + `"}`, audit: `{"roles":[{"actions":{"view_channel":null}}],"confidence":"partial"}`, change: func(d told) {
			d["/channels/{channel_id} "+channel] = object{"id": channel, "guild_id": guild, "type": 0}
		}},
		"a thread of nothing": {of: thread, want: `{"allowed":null,"confidence":"partial","permission_source_channel_id":null}`, audit: `{"permission_source_channel_id":null,"confidence":"partial"}`, change: func(d told) {
			d["/channels/{channel_id} "+thread] = object{"id": thread, "guild_id": guild, "type": 11, "parent_id": nil}
		}},
		"a thread of a channel that is gone": {of: thread, want: `{"allowed":null,"confidence":"partial"}`, audit: `{"confidence":"partial"}`, change: func(d told) { delete(d, "/channels/{channel_id} "+channel) }},
		"another channel": {of: channel, code: mcpcore.CodeValidation, says: "discord_response.channel.id", change: func(d told) {
			d["/channels/{channel_id} "+channel] = object{"id": thread, "guild_id": guild, "type": 0}
		}},
		"another guild": {of: channel, code: mcpcore.CodeValidation, says: "discord_response.guild.id", audit: `{"confidence":"complete"}`, change: func(d told) {
			d["/guilds/{guild_id}"] = object{"id": channel, "owner_id": user}
		}},
		"another member": {of: channel, code: mcpcore.CodeValidation, says: "discord_response.member.user.id", audit: `{"confidence":"complete"}`, change: func(d told) {
			d["/guilds/{guild_id}/members/{user_id} "+user] = object{"user": object{"id": channel}, "roles": []string{}}
		}},
		"a role twice": {of: channel, code: mcpcore.CodeValidation, says: "discord_response.roles.1.id", change: func(d told) {
			d["/guilds/{guild_id}/roles"] = []object{{"id": guild, "permissions": "0"}, {"id": guild, "permissions": "8"}}
		}},
		"no @everyone": {of: channel, code: mcpcore.CodeValidation, says: "discord_response.roles", change: func(d told) { d["/guilds/{guild_id}/roles"] = []object{} }},
		"no permissions": {of: channel, code: mcpcore.CodeValidation, says: "discord_response.roles.0.permissions", change: func(d told) {
			d["/guilds/{guild_id}/roles"] = []object{{"id": guild, "permissions": "-1"}}
		}},
		"an overwrite twice": {of: channel, code: mcpcore.CodeValidation, says: "discord_response.channel.permission_overwrites.1.id", change: func(d told) {
			o := object{"id": guild, "type": 0, "allow": "0", "deny": "0"}
			d["/channels/{channel_id} "+channel] = object{"id": channel, "guild_id": guild, "type": 0, "permission_overwrites": []object{o, o}}
		}},
		"an overwrite of nothing": {of: channel, code: mcpcore.CodeValidation, says: "discord_response.channel.permission_overwrites.0.deny", change: func(d told) {
			d["/channels/{channel_id} "+channel] = object{"id": channel, "guild_id": guild, "type": 0, "permission_overwrites": []object{{"id": guild, "type": 0, "allow": "0", "deny": ""}}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := world()
			if c.change != nil {
				c.change(d)
			}
			b := startOn(t, sandbox.Demo(), func(deps *discordtools.Deps) { deps.REST = d })
			a := b.call("permissions_explain", ask+c.of+`"}`)
			if a.code != c.code || c.want != "" && missing(t, a.data, c.want) != "" || !strings.Contains(a.text, c.says) {
				t.Errorf("code %q, want %q, %s and %q in\n%s", a.code, c.code, c.want, c.says, a.data)
			}
			a = b.call("permissions_audit_channel", `{"guild_id":`+id(guild)+`,"channel_id":"`+c.of+`"}`)
			if want := c.audit; want != "" && (a.code != "" || missing(t, a.data, want) != "") || want == "" && a.code != c.code {
				t.Errorf("audit: code %q, want %q\n%s", a.code, cmp.Or(want, string(c.code)), a.data)
			}
		})
	}
}
