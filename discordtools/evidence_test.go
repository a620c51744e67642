package discordtools_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

func enforced(d *discordtools.Deps) { d.Config.Access = middleware.Enforce }

// without takes permissions from the bot's role and from everyone.
func without(p discord.Permissions) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) {
		for _, id := range []discord.RoleID{sandbox.DemoBotRole, discord.RoleID(sandbox.DemoGuild)} {
			r, _ := d.Role(sandbox.DemoGuild, id)
			d.SetRolePermissions(sandbox.DemoGuild, id, r.Permissions&^p)
		}
	}
}

// onlyIn takes a permission from the bot in the guild and gives it in a channel.
func onlyIn(c discord.ChannelID, p discord.Permissions) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) {
		without(p)(d)
		d.SetOverwrite(c, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Allow: p})
	}
}

// TestEnforcedOnDiscord lets the built-in evidence speak: what is refused is
// refused before a write, what is allowed is allowed by Discord as well.
func TestEnforcedOnDiscord(t *testing.T) {
	t.Parallel()
	const (
		denied  = mcpcore.CodeAccessDenied
		unknown = mcpcore.CodeAccessUnknown
	)
	in := `{"guild_id":` + id(guild)
	send := func(c discord.ChannelID) string { return `{"channel_id":` + id(c) + `,"content":"Ahoy"}` }
	kick := func(u discord.UserID) string { return in + `,"user_id":` + id(u) + `,"__confirm":true}` }
	for _, row := range []struct {
		shows, tool, args string
		setup             func(*sandbox.Discord)
		code              mcpcore.Code
		want              string
	}{
		{shows: "everyday", tool: "messages_send", args: send(sandbox.DemoGeneral)},
		{shows: "without the permission", tool: "messages_send", args: send(sandbox.DemoGeneral), setup: without(discord.SendMessages), code: denied, want: `{"missing_permissions":["SEND_MESSAGES"],"missing_intents":[],"hierarchy":"satisfied"}`},
		{shows: "taken by an overwrite on the member", tool: "messages_send", args: send(sandbox.DemoGeneral), code: denied, want: `{"missing_permissions":["SEND_MESSAGES"]}`, setup: func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.BotID), Type: 1, Deny: discord.SendMessages})
		}},
		{shows: "given by an overwrite on the role", tool: "messages_send", args: send(sandbox.DemoAnnouncements)},
		{shows: "hidden channel", tool: "messages_send", args: send(sandbox.DemoStaff), code: unknown},
		{shows: "thread", tool: "messages_send", args: send(sandbox.DemoThread), setup: without(discord.SendMessages)},
		{shows: "thread without its permission", tool: "messages_send", args: send(sandbox.DemoThread), setup: without(discord.SendMessagesInThreads), code: denied, want: `{"missing_permissions":["SEND_MESSAGES_IN_THREADS"]}`},
		{shows: "thread of a closed channel", tool: "messages_send", args: send(sandbox.DemoThread), code: denied, want: `{"missing_permissions":["SEND_MESSAGES_IN_THREADS"]}`, setup: func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.BotID), Type: 1, Deny: discord.SendMessagesInThreads})
		}},
		{shows: "reading with the intent", tool: "messages_read", args: `{"channel_id":` + id(general) + `}`},
		{shows: "without history", tool: "messages_read", args: `{"channel_id":` + id(general) + `}`, setup: without(discord.ReadMessageHistory), code: denied, want: `{"missing_permissions":["READ_MESSAGE_HISTORY"]}`},
		{shows: "members with the intent", tool: "members_list", args: in + `}`},
		{shows: "below the bot", tool: "members_kick", args: kick(sandbox.DemoMember)},
		{shows: "above the bot", tool: "members_kick", args: kick(sandbox.DemoAdmin), code: denied, want: `{"missing_permissions":[],"hierarchy":"not_satisfied"}`},
		{shows: "the owner", tool: "members_kick", args: kick(sandbox.DemoOwner), code: denied, want: `{"hierarchy":"not_satisfied"}`},
		{shows: "somebody who is not there", tool: "members_ban", args: kick(sandbox.DemoReader)},
		{shows: "itself", tool: "members_modify", args: in + `,"user_id":` + id(sandbox.BotID) + `,"nick":"Keeper"}`},
		{shows: "one of many above", tool: "members_bulk_ban", args: in + `,"user_ids":[` + id(sandbox.DemoMember) + `,` + id(sandbox.DemoAdmin) + `],"__confirm":true}`, code: denied, want: `{"hierarchy":"not_satisfied"}`},
		{shows: "role below", tool: "members_add_role", args: in + `,"user_id":` + id(tomo) + `,"role_id":` + id(sandbox.DemoModeratorRole) + `}`},
		{shows: "role above", tool: "members_add_role", args: in + `,"user_id":` + id(tomo) + `,"role_id":` + id(sandbox.DemoAdminRole) + `}`, code: denied, want: `{"hierarchy":"not_satisfied"}`},
		{shows: "managed role", tool: "roles_modify", args: in + `,"role_id":` + id(sandbox.DemoBotRole) + `,"name":"x"}`, code: denied, want: `{"hierarchy":"not_satisfied"}`},
		{shows: "everyone", tool: "roles_modify", args: in + `,"role_id":` + id(guild) + `,"mentionable":false}`},
		{shows: "role that is not there", tool: "roles_delete", args: in + `,"role_id":` + id(nobody) + `,"__confirm":true}`, code: unknown},
		{shows: "roles in an order", tool: "roles_modify_positions", args: in + `,"positions":[{"id":` + id(sandbox.DemoMutedRole) + `,"position":2}]}`},
		{shows: "roles in an order, one above", tool: "roles_modify_positions", args: in + `,"positions":[{"id":` + id(sandbox.DemoAdminRole) + `,"position":2}]}`, code: denied},
		{shows: "administrator", tool: "guild_modify", args: in + `,"name":"Lighthouse"}`, setup: func(d *sandbox.Discord) {
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.Administrator)
		}},
		{shows: "administrator, whatever a channel says", tool: "messages_send", args: send(sandbox.DemoStaff), setup: func(d *sandbox.Discord) {
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.Administrator)
		}},
		{shows: "a setting that names a hidden channel", tool: "guild_modify", args: in + `,"afk_channel_id":null,"system_channel_id":` + id(sandbox.DemoStaff) + `}`},
		{shows: "a setting that names a channel which would allow it", tool: "guild_modify", args: in + `,"system_channel_id":` + id(general) + `}`, setup: onlyIn(sandbox.DemoGeneral, discord.ManageGuild), code: denied, want: `{"missing_permissions":["MANAGE_GUILD"]}`},
		{shows: "a hidden channel", tool: "guild_modify_widget", args: in + `,"enabled":true,"channel_id":` + id(sandbox.DemoStaff) + `}`},
		{shows: "a channel which would allow it", tool: "guild_modify_widget", args: in + `,"channel_id":` + id(general) + `}`, setup: onlyIn(sandbox.DemoGeneral, discord.ManageGuild), code: denied, want: `{"missing_permissions":["MANAGE_GUILD"]}`},
		{shows: "channels which would allow it", tool: "onboarding_modify", args: in + `,"prompts":[],"default_channel_ids":[` + id(general) + `],"enabled":false,"mode":0}`, setup: onlyIn(sandbox.DemoGeneral, discord.ManageGuild), code: denied, want: `{"missing_permissions":["MANAGE_GUILD"]}`},
		{shows: "a hidden channel among the default ones", tool: "onboarding_modify", args: in + `,"prompts":[],"default_channel_ids":[` + id(sandbox.DemoStaff) + `],"enabled":false,"mode":0}`},
		{shows: "nothing declared for these arguments", tool: "members_modify", args: in + `,"user_id":` + id(tomo) + `,"flags":4}`, code: unknown, want: `{"reason":"the tool declares no requirement for these arguments"}`},
		{shows: "an argument that calls for more", tool: "members_modify", args: in + `,"user_id":` + id(tomo) + `,"mute":true}`, setup: without(discord.MuteMembers), code: denied, want: `{"missing_permissions":["MUTE_MEMBERS"]}`},
		{shows: "a guild without the bot", tool: "roles_create", args: `{"guild_id":` + id(nobody) + `,"name":"x"}`, code: unknown},
		{shows: "following into the channel that counts", tool: "channels_follow_announcement", args: `{"channel_id":` + id(sandbox.DemoAnnouncements) + `,"webhook_channel_id":` + id(sandbox.DemoClubGeneral) + `}`, code: denied, want: `{"missing_permissions":["MANAGE_WEBHOOKS"]}`},
		{shows: "following within", tool: "channels_follow_announcement", args: `{"channel_id":` + id(sandbox.DemoAnnouncements) + `,"webhook_channel_id":` + id(general) + `}`},
		{shows: "in the webhook's channel", tool: "webhooks_modify", args: `{"webhook_id":` + id(hook) + `,"name":"x"}`},
		{shows: "a webhook that cannot be read", tool: "webhooks_modify", args: `{"webhook_id":` + id(hook) + `,"name":"x"}`, setup: without(discord.ManageWebhooks), code: unknown},
		{shows: "a webhook moved to where it may not", tool: "webhooks_modify", args: `{"webhook_id":` + id(hook) + `,"channel_id":` + id(general) + `}`, setup: func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: discord.ManageWebhooks})
		}, code: denied, want: `{"missing_permissions":["MANAGE_WEBHOOKS"]}`},
		{shows: "by a token", tool: "webhooks_execute", args: `{` + byHook + `,"content":"x"}`, setup: without(discord.ManageWebhooks)},
		{shows: "nothing to weigh", tool: "users_get", args: `{"user_id":` + id(tomo) + `}`},
	} {
		t.Run(row.tool+"/"+row.shows, func(t *testing.T) {
			t.Parallel()
			b := start(t, enforced)
			if row.setup != nil {
				row.setup(b.world)
			}
			a := b.call(row.tool, row.args)
			if a.code != row.code {
				t.Fatalf("code %q, want %q\n%s", a.code, row.code, a.data)
			}
			if row.want != "" {
				if diff := missing(t, a.data, row.want); diff != "" {
					t.Errorf("answer %s\nlacks %s", a.data, diff)
				}
			}
			if writes := b.world.Writes(); row.code != "" && len(writes) > 0 {
				t.Errorf("Discord saw %s %s", writes[0].Method, writes[0].Path)
			}
		})
	}
}

func TestWithoutTheIntentReadingIsDenied(t *testing.T) {
	t.Parallel()
	b := startOn(t, sandbox.DemoWith(sandbox.Options{WithoutMessageContent: true}), enforced)
	a := b.call("messages_read", `{"channel_id":`+id(general)+`}`)
	if diff := missing(t, a.data, `{"code":"RUNTIME_ACCESS_DENIED","missing_intents":["MESSAGE_CONTENT"],"missing_permissions":[]}`); diff != "" {
		t.Errorf("answer %s\nlacks %s", a.data, diff)
	}
}

func TestTimeoutLeavesSeeingAndReading(t *testing.T) {
	t.Parallel()
	d := sandbox.New(sandbox.Options{Clock: func() time.Time { return now }})
	owner := d.AddUser(sandbox.User{Name: "owner"})
	g := d.AddGuild(sandbox.Guild{Name: "g", Owner: owner}, discord.ViewChannel|discord.SendMessages|discord.ReadMessageHistory)
	d.AddMember(g, sandbox.Member{User: owner})
	d.AddMember(g, sandbox.Member{User: sandbox.BotID, TimeoutUntil: now.Add(time.Hour)})
	c := d.AddChannel(sandbox.Channel{Guild: g, Type: discord.GuildText, Name: "c"})
	b := startOn(t, d, enforced)
	a := b.call("messages_send", `{"channel_id":`+id(c)+`,"content":"x"}`)
	if diff := missing(t, a.data, `{"code":"RUNTIME_ACCESS_DENIED","missing_permissions":["SEND_MESSAGES"]}`); diff != "" {
		t.Errorf("answer %s\nlacks %s", a.data, diff)
	}
	if a := b.call("messages_read", `{"channel_id":`+id(c)+`}`); a.code != "" {
		t.Errorf("reading answers %s", a.data)
	}
}

func TestChangeIsSeenAfterAWrite(t *testing.T) {
	t.Parallel()
	b := start(t, enforced) // whose clock stands still, so that nothing expires
	read := `{"channel_id":` + id(general) + `}`
	if a := b.call("messages_read", read); a.code != "" {
		t.Fatalf("at first: %s", a.data)
	}
	without(discord.ReadMessageHistory)(b.world) // somebody else does
	if a := b.call("messages_read", read); a.code == mcpcore.CodeAccessDenied {
		t.Error("within five seconds a reading tool reads the evidence again")
	}
	if a := b.call("messages_send", `{"channel_id":`+id(general)+`,"content":"x"}`); a.code != "" {
		t.Fatalf("the write: %s", a.data)
	}
	if a := b.call("messages_read", read); a.code != mcpcore.CodeAccessDenied {
		t.Errorf("after a write the old evidence counts: %s", a.data)
	}
	b2 := start(t, enforced)
	without(discord.ManageNicknames)(b2.world)
	nick := `{"guild_id":` + id(guild) + `,"user_id":` + id(tomo) + `,"nick":"x"}`
	if a := b2.call("members_modify", nick); a.code != mcpcore.CodeAccessDenied {
		t.Fatalf("at first: %s", a.data)
	}
	b2.world.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, sandbox.DemoPermissions)
	if a := b2.call("members_modify", nick); a.code != "" {
		t.Errorf("a write looks at old evidence: %s", a.data)
	}
}

func TestWarnOnlyLogs(t *testing.T) {
	t.Parallel()
	b := start(t, func(d *discordtools.Deps) { d.Config.Access = middleware.Warn })
	without(discord.ManageNicknames)(b.world)
	if a := b.call("members_modify", `{"guild_id":`+id(guild)+`,"user_id":`+id(tomo)+`,"nick":"x"}`); a.code != mcpcore.CodePermission {
		t.Errorf("code %q, want Discord's own refusal\n%s", a.code, a.data)
	}
}

// plainGuild is evidence of a guild g1 with the channel c1, in which the bot has the
// role r1.
func plainGuild() *shelf {
	s := furnished()
	s.put("/users/@me", `{"id":"750000000000000001","bot":true}`)
	s.put("/applications/@me", `{"id":"750000000000000001","flags":0}`)
	s.put("/guilds/"+g1, `{"id":"`+g1+`","owner_id":"750000000000000002"}`)
	s.put("/guilds/"+g1+"/roles", `[{"id":"`+g1+`","position":0,"permissions":"1024"},{"id":"`+r1+`","position":2,"permissions":"2"},{"id":"`+r2+`","position":2,"permissions":"0"},{"id":"720000000000000009","position":1,"permissions":"0"}]`)
	s.put("/guilds/"+g1+"/members/750000000000000001", `{"user":{"id":"750000000000000001"},"roles":["`+r1+`"]}`)
	s.put("/guilds/"+g1+"/members/750000000000000003", `{"user":{"id":"750000000000000003"},"roles":["720000000000000008"]}`)
	return s
}

func TestEvidenceOfDiscord(t *testing.T) {
	t.Parallel()
	ref := func(kind mcpcore.EvidenceKind, key string) mcpcore.EvidenceRef {
		return mcpcore.EvidenceRef{Kind: kind, Key: key}
	}
	inGuild, inChannel := ref(middleware.EvidenceGuild, g1), ref(middleware.EvidenceChannel, c1)
	role := func(id string) mcpcore.EvidenceRef {
		return ref(middleware.EvidenceHierarchy, middleware.HierarchyKey(g1, discord.KindRole, id))
	}
	user := func(id string) mcpcore.EvidenceRef {
		return ref(middleware.EvidenceHierarchy, middleware.HierarchyKey(g1, discord.KindUser, id))
	}
	flags := func(n int) [2]string { return [2]string{"/applications/@me", fmt.Sprintf(`{"flags":%d}`, n)} }
	const me = "/guilds/" + g1 + "/members/750000000000000001"
	owned := [2]string{"/guilds/" + g1, `{"id":"` + g1 + `","owner_id":"750000000000000001"}`}
	for name, row := range map[string]struct {
		ref  mcpcore.EvidenceRef
		put  [2]string // path and body that differ
		want any       // nil is partial, an error's text is an error
	}{
		"identity":                      {ref: ref(middleware.EvidenceIdentity, ""), want: discord.UserID("750000000000000001")},
		"a person's account":            {ref: ref(middleware.EvidenceIdentity, ""), put: [2]string{"/users/@me", `{"id":"750000000000000001"}`}},
		"an account without an id":      {ref: ref(middleware.EvidenceIdentity, ""), put: [2]string{"/users/@me", `{"bot":true}`}, want: "no account"},
		"no intents":                    {ref: ref(middleware.EvidenceIntents, ""), want: discord.Intents(0)},
		"members":                       {ref: ref(middleware.EvidenceIntents, ""), put: flags(1 << 14), want: discord.GuildMembers},
		"members, in few guilds":        {ref: ref(middleware.EvidenceIntents, ""), put: flags(1 << 15), want: discord.GuildMembers},
		"content":                       {ref: ref(middleware.EvidenceIntents, ""), put: flags(1 << 18), want: discord.MessageContent},
		"content, in few guilds":        {ref: ref(middleware.EvidenceIntents, ""), put: flags(1<<19 | 1<<12), want: discord.MessageContent | discord.GuildPresences},
		"flags untold":                  {ref: ref(middleware.EvidenceIntents, ""), put: [2]string{"/applications/@me", `{}`}},
		"guild":                         {ref: inGuild, want: middleware.GuildRights{Guild: g1, Permissions: discord.ViewChannel | discord.KickMembers}},
		"owner":                         {ref: inGuild, put: owned, want: middleware.GuildRights{Guild: g1, Permissions: discord.KnownPermissions}},
		"another guild":                 {ref: inGuild, put: [2]string{"/guilds/" + g1, `{"id":"` + g2 + `","owner_id":"750000000000000002"}`}},
		"no owner":                      {ref: inGuild, put: [2]string{"/guilds/" + g1, `{"id":"` + g1 + `"}`}},
		"another member":                {ref: inGuild, put: [2]string{me, `{"user":{"id":"750000000000000009"},"roles":[]}`}},
		"a role nobody described":       {ref: inGuild, put: [2]string{me, `{"user":{"id":"750000000000000001"},"roles":["720000000000000008"]}`}},
		"such a role, as owner":         {ref: inGuild, put: owned, want: middleware.GuildRights{Guild: g1, Permissions: discord.KnownPermissions}},
		"no everyone":                   {ref: inGuild, put: [2]string{"/guilds/" + g1 + "/roles", `[{"id":"` + r1 + `","permissions":"2"}]`}},
		"a role twice":                  {ref: inGuild, put: [2]string{"/guilds/" + g1 + "/roles", `[{"id":"` + g1 + `","permissions":"0"},{"id":"` + r1 + `","permissions":"2"},{"id":"` + r1 + `","permissions":"8"}]`}},
		"permissions that are no set":   {ref: inGuild, put: [2]string{"/guilds/" + g1 + "/roles", `[{"id":"` + g1 + `","permissions":"x"},{"id":"` + r1 + `","permissions":"2"}]`}},
		"timed out":                     {ref: inGuild, put: [2]string{me, `{"user":{"id":"750000000000000001"},"roles":["` + r1 + `"],"communication_disabled_until":"2026-03-14T16:00:00Z"}`}, want: middleware.GuildRights{Guild: g1, Permissions: discord.ViewChannel}},
		"a timeout that ended":          {ref: inGuild, put: [2]string{me, `{"user":{"id":"750000000000000001"},"roles":["` + r1 + `"],"communication_disabled_until":"2026-03-14T15:00:00Z"}`}, want: middleware.GuildRights{Guild: g1, Permissions: discord.ViewChannel | discord.KickMembers}},
		"channel":                       {ref: inChannel, want: middleware.ChannelRights{Guild: g1, Permissions: discord.ViewChannel | discord.KickMembers}},
		"channel that is hidden":        {ref: inChannel, put: [2]string{"/channels/" + c1, `{"id":"` + c1 + `","guild_id":"` + g1 + `","permission_overwrites":[{"id":"` + g1 + `","type":0,"allow":"0","deny":"1024"}]}`}, want: middleware.ChannelRights{Guild: g1, Permissions: discord.KickMembers}},
		"channel without overwrites":    {ref: inChannel, put: [2]string{"/channels/" + c1, `{"id":"` + c1 + `","guild_id":"` + g1 + `"}`}},
		"overwrites that are no sets":   {ref: inChannel, put: [2]string{"/channels/" + c1, `{"id":"` + c1 + `","guild_id":"` + g1 + `","permission_overwrites":[{"id":"` + g1 + `","type":0,"allow":"-","deny":"0"}]}`}},
		"another channel":               {ref: ref(middleware.EvidenceChannel, "710000000000000004")},
		"channel of no guild":           {ref: inChannel, put: [2]string{"/channels/" + c1, `{"id":"` + c1 + `","permission_overwrites":[]}`}},
		"direct message":                {ref: ref(middleware.EvidenceChannel, "710000000000000003"), want: middleware.ChannelRights{Type: discord.DM, Permissions: discord.KnownPermissions}},
		"thread":                        {ref: ref(middleware.EvidenceChannel, c2), put: [2]string{"/channels/" + c2, `{"id":"` + c2 + `","type":11,"guild_id":"` + g1 + `","parent_id":"` + c1 + `"}`}, want: middleware.ChannelRights{Guild: g1, Type: discord.PublicThread, Permissions: discord.ViewChannel | discord.KickMembers}},
		"thread of nothing":             {ref: ref(middleware.EvidenceChannel, c2), put: [2]string{"/channels/" + c2, `{"id":"` + c2 + `","type":11,"guild_id":"` + g1 + `"}`}},
		"thread of itself":              {ref: ref(middleware.EvidenceChannel, c2), put: [2]string{"/channels/" + c2, `{"id":"` + c2 + `","type":11,"guild_id":"` + g1 + `","parent_id":"` + c2 + `"}`}},
		"thread of a channel elsewhere": {ref: ref(middleware.EvidenceChannel, c2), put: [2]string{"/channels/" + c2, `{"id":"` + c2 + `","type":11,"guild_id":"` + g2 + `","parent_id":"` + c1 + `"}`}},
		"webhook":                       {ref: ref(middleware.EvidenceWebhook, w1), want: middleware.Place{Guild: g1, Channel: c1}},
		"webhook of nothing":            {ref: ref(middleware.EvidenceWebhook, w1), put: [2]string{"/webhooks/" + w1, `{"id":"` + w1 + `"}`}},
		"invite":                        {ref: ref(middleware.EvidenceInvite, "abc"), want: middleware.Place{Guild: g1}},
		"role below":                    {ref: role("720000000000000009"), want: middleware.Satisfied},
		"everyone":                      {ref: role(g1), want: middleware.Satisfied},
		"its own role":                  {ref: role(r1), want: middleware.NotSatisfied},
		"younger role, same position":   {ref: role(r2), want: middleware.Satisfied},
		"its own role, as owner":        {ref: role(r1), put: owned, want: middleware.Satisfied},
		"role that is not there":        {ref: role("720000000000000008")},
		"itself":                        {ref: user("750000000000000001"), want: middleware.Satisfied},
		"the owner":                     {ref: user("750000000000000002"), want: middleware.NotSatisfied},
		"not a member":                  {ref: user("750000000000000004"), want: middleware.Satisfied},
		"a member with unknown roles":   {ref: user("750000000000000003")},
		"another member than asked":     {ref: user("750000000000000005"), put: [2]string{"/guilds/" + g1 + "/members/750000000000000005", `{"user":{"id":"750000000000000006"},"roles":[]}`}},
		"something else than a rank":    {ref: ref(middleware.EvidenceHierarchy, middleware.HierarchyKey(g1, discord.KindEmoji, r1))},
		"a key that is none":            {ref: ref(middleware.EvidenceHierarchy, g1), want: "no key"},
		"a kind that is none":           {ref: ref("ticket", "1"), want: "no evidence"},
		"no channel":                    {ref: ref(middleware.EvidenceChannel, "799999999999999999"), want: "DISCORD_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := plainGuild()
			if row.put[0] != "" {
				s.put(row.put[0], row.put[1])
			}
			e := discordtools.NewEvidence(s, discordtools.EvidenceOptions{Now: func() time.Time { return now }})
			got, err := e.Resolve(t.Context(), row.ref)
			text, fails := row.want.(string)
			switch {
			case fails && (err == nil || !strings.Contains(err.Error(), text)):
				t.Errorf("error %v, want %q in it", err, text)
			case fails:
			case err != nil:
				t.Errorf("error %v", err)
			case row.want == nil && (got.Complete || got.Data != nil):
				t.Errorf("it is complete: %+v", got)
			case row.want != nil && (!got.Complete || got.Data != row.want):
				t.Errorf("got %+v, want %+v", got, row.want)
			}
			s.sent()
			if again, _ := e.Resolve(t.Context(), row.ref); again != got {
				t.Errorf("a second answer differs: %+v", again)
			}
			reads := slices.DeleteFunc(s.sent(), func(r string) bool { return strings.HasSuffix(r, "@me") })
			if kept := row.want != nil && !fails; kept && len(reads) > 0 || !kept && len(reads) == 0 && row.ref.Kind != middleware.EvidenceIdentity && row.ref.Kind != middleware.EvidenceIntents && row.ref.Kind != "ticket" && row.ref.Key != g1 {
				t.Errorf("the second time Discord saw %v", reads)
			}
		})
	}
}

func TestEvidenceLivesForAMoment(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ life, lives time.Duration }{{0, 5 * time.Second}, {time.Second, time.Second}, {time.Hour, time.Minute}, {-1, 5 * time.Second}} {
		s, at := plainGuild(), now
		e := discordtools.NewEvidence(s, discordtools.EvidenceOptions{Life: row.life, Now: func() time.Time { return at }})
		ask := func() int {
			s.sent()
			if got, err := e.Resolve(t.Context(), mcpcore.EvidenceRef{Kind: middleware.EvidenceGuild, Key: g1}); err != nil || !got.Complete {
				t.Fatalf("%+v %v", got, err)
			}
			return len(s.sent())
		}
		first := ask()
		at = at.Add(row.lives - 1)
		within := ask()
		at = at.Add(1)
		after := ask()
		e.Forget()
		if forgotten := ask(); first != 4 || within != 0 || after != 3 || forgotten != 3 {
			t.Errorf("life %v: %d reads, within %d, after %d, forgotten %d", row.life, first, within, after, forgotten)
		}
	}
}

// A read that began before a write tells the time before it.
func TestEvidenceUnderWayIsNotKeptWhenForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := plainGuild()
		s.delay = time.Second
		e := discordtools.NewEvidence(s, discordtools.EvidenceOptions{})
		ask := func() {
			if got, err := e.Resolve(t.Context(), mcpcore.EvidenceRef{Kind: middleware.EvidenceInvite, Key: "abc"}); err != nil || !got.Complete {
				t.Errorf("%+v %v", got, err)
			}
		}
		var asking sync.WaitGroup
		asking.Go(ask)
		synctest.Wait()
		e.Forget()
		asking.Wait()
		ask()
		ask()
		if seen := s.sent(); len(seen) != 2 {
			t.Errorf("%d reads, want the one before and one after: %v", len(seen), seen)
		}
		e.Forget()
		asking.Go(ask)
		synctest.Wait()
		e.Forget()
		asking.Go(ask) // does not join the one that began before
		asking.Wait()
		if seen := s.sent(); len(seen) != 2 {
			t.Errorf("%d reads, want one each: %v", len(seen), seen)
		}
	})
}

// TestGuardsOnlyRead lets the resolvers answer everything and looks at what they
// send.
func TestGuardsOnlyRead(t *testing.T) {
	t.Parallel()
	s := plainGuild()
	e := discordtools.NewEvidence(s, discordtools.EvidenceOptions{Now: func() time.Time { return now }})
	for _, kind := range e.Kinds() {
		for _, key := range []string{"", g1, c1, c2, w1, "abc", middleware.HierarchyKey(g1, discord.KindUser, "750000000000000003"), middleware.HierarchyKey(g1, discord.KindRole, r2)} {
			_, _ = e.Resolve(t.Context(), mcpcore.EvidenceRef{Kind: kind, Key: key})
		}
	}
	g := discordtools.NewGuildResolver(s, nil)
	for _, kind := range []discord.Kind{discord.KindChannel, discord.KindWebhook, discord.KindInvite, discord.KindTemplate, discord.KindSticker, discord.KindRole, discord.KindOverwrite} {
		for _, key := range []string{c1, w1, "abc", r1} {
			_, _ = g.GuildOf(t.Context(), middleware.GuildRef{Kind: kind, ID: key, In: g1, Channel: c1, Fresh: true})
		}
	}
	_ = discordtools.VerifyIdentity(t.Context(), s, "750000000000000001")
	seen := s.sent()
	for _, r := range seen {
		if !strings.HasPrefix(r, "GET ") {
			t.Errorf("a guard sent %s", r)
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d requests: this test looks at too little", len(seen))
	}
}
