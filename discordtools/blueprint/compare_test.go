package blueprint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// doc is a blueprint with the given members.
func doc(t *testing.T, members string) *blueprint.Document {
	t.Helper()
	return parse(t, `{"schema_version":"guild_blueprint.v1",`+members+`}`)
}

func codes(f *blueprint.Draft) (all []string) {
	for _, p := range f.Blockers {
		all = append(all, p.Code)
	}
	return all
}

func ids(f *blueprint.Draft) (all []string) {
	for _, op := range f.Operations {
		all = append(all, op.Action+" "+op.ID)
	}
	return all
}

// A row is a document on a guild, and what is to be done or stands in the way.
func TestCompare(t *testing.T) {
	t.Parallel()
	const role = `"roles":[{"key":"a","name":"A","color":5}]`
	const channel = `"channels":[{"key":"c","name":"c","type":"text","topic":"new"}]`
	for name, r := range map[string]struct {
		members string
		setup   func(s *site)
		rights  discord.Permissions // of the bot, ADMINISTRATOR when none
		adopt   bool
		does    []string
		blocked []string
	}{
		"nothing there":           {members: role, does: []string{"create role:a:ensure"}},
		"the same is taken":       {members: role, setup: func(s *site) { s.world.AddRole(s.guild, sandbox.Role{Name: "A", Color: 5, Position: 1}) }},
		"one that differs":        {members: role, setup: func(s *site) { s.world.AddRole(s.guild, sandbox.Role{Name: "A", Position: 1}) }, blocked: []string{"RESOURCE_CONFLICT"}},
		"one that differs, adopt": {members: role, adopt: true, setup: func(s *site) { s.lower("A") }, does: []string{"update role:a:ensure"}},
		"several": {members: role, setup: func(s *site) {
			s.world.AddRole(s.guild, sandbox.Role{Name: "A"})
			s.world.AddRole(s.guild, sandbox.Role{Name: "A"})
		}, blocked: []string{"AMBIGUOUS_RESOURCE"}},
		"an integration's":        {members: role, setup: func(s *site) { s.world.AddRole(s.guild, sandbox.Role{Name: "A", Color: 5, Managed: true}) }, blocked: []string{"RESOURCE_CONFLICT"}},
		"an integration's, adopt": {members: `"roles":[{"key":"a","name":"A","color":6}]`, adopt: true, setup: func(s *site) { s.world.AddRole(s.guild, sandbox.Role{Name: "A", Managed: true, Position: 1}) }, blocked: []string{"UNMANAGEABLE_RESOURCE"}},
		"one above the bot":       {members: role, adopt: true, setup: func(s *site) { s.world.AddRole(s.guild, sandbox.Role{Name: "A", Position: 50}) }, does: []string{"update role:a:ensure"}, blocked: []string{"BOT_ROLE_HIERARCHY"}},
		"one that must exist":     {members: `"roles":[{"key":"a","name":"A","exists":true}]`, blocked: []string{"RESOURCE_MISSING"}},
		"one that exists":         {members: `"roles":[{"key":"a","name":"A","exists":true}]`, setup: func(s *site) { s.world.AddRole(s.guild, sandbox.Role{Name: "A", Permissions: discord.Administrator}) }},
		"without MANAGE_ROLES":    {members: role, rights: discord.ManageChannels, does: []string{"create role:a:ensure"}, blocked: []string{"MISSING_PERMISSIONS"}},
		"giving what it has not":  {members: `"roles":[{"key":"a","name":"A","permissions":["KICK_MEMBERS"]}]`, rights: discord.ManageRoles, does: []string{"create role:a:ensure"}, blocked: []string{"MISSING_PERMISSIONS"}},
		"giving what it has":      {members: `"roles":[{"key":"a","name":"A","permissions":["KICK_MEMBERS"]}]`, rights: discord.ManageRoles | discord.KickMembers, does: []string{"create role:a:ensure"}},
		"a Community without ADMINISTRATOR": {
			members: `"guild":{"community":{"rules_channel_key":"c","public_updates_channel_key":"c"}},"channels":[{"key":"c","name":"c","type":"text"}]`,
			rights:  discord.ManageGuild | discord.ManageChannels, does: []string{"create channel:c:ensure", "update guild:guild:ensure"}, blocked: []string{"COMMUNITY_REQUIRES_ADMINISTRATOR"}},
		"a welcome screen without a Community": {
			members: `"guild":{"welcome_screen":{"enabled":true,"channel_keys":["c"]}},"channels":[{"key":"c","name":"c","type":"text"}]`,
			does:    []string{"create channel:c:ensure", "update welcome_screen:welcome_screen:ensure"}, blocked: []string{"RESOURCE_CONFLICT"}},
		"a channel that differs":        {members: channel, setup: func(s *site) { s.channel("c", "") }, blocked: []string{"RESOURCE_CONFLICT"}},
		"a channel that differs, adopt": {members: channel, adopt: true, setup: func(s *site) { s.channel("c", "") }, does: []string{"update channel:c:ensure"}},
		"a channel of another type": {members: channel, setup: func(s *site) {
			s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "c", Type: discord.GuildVoice})
		}, does: []string{"create channel:c:ensure"}},
		"the channel of the right category": {
			members: `"categories":[{"key":"x","name":"X"}],"channels":[{"key":"c","name":"c","type":"text","parent_key":"x"}]`,
			setup: func(s *site) {
				s.channel("c", "")
				s.channel("c", s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "X", Type: discord.GuildCategory}))
			}},
		"a trigger that is taken": {
			members: `"automod":{"rules":[{"key":"s","name":"Spam","event_type":1,"trigger_type":3,"actions":[{"type":1}],"enabled":true}]}`,
			setup: func(s *site) {
				s.world.AddAutoModRule(s.guild, sandbox.AutoModRule{Name: "Theirs", Trigger: 3, Creator: s.world.AddUser(sandbox.User{Name: "ada"})})
			}, blocked: []string{"RESOURCE_CONFLICT"}},
		"a trigger of the bot's own": {
			members: `"automod":{"rules":[{"key":"s","name":"Spam","event_type":1,"trigger_type":3,"actions":[{"type":1}],"enabled":true}]}`,
			setup:   func(s *site) { s.world.AddAutoModRule(s.guild, sandbox.AutoModRule{Name: "Mine", Trigger: 3}) }, does: []string{"update automod_rule:s:ensure"}},
		"the sixth rule of words": {
			members: `"automod":{"rules":[{"key":"w","name":"W","event_type":1,"trigger_type":1,"keyword_filter":["x"],"actions":[{"type":1}],"enabled":true}]}`,
			setup: func(s *site) {
				for i := range 6 {
					s.world.AddAutoModRule(s.guild, sandbox.AutoModRule{Name: fmt.Sprint(i), Keywords: []string{"y"}})
				}
			}, blocked: []string{"GUILD_LIMIT_REACHED"}},
		"an onboarding where @everyone may not write": {
			members: onboarding(7), setup: func(s *site) { s.world.SetRolePermissions(s.guild, discord.RoleID(s.guild), discord.ViewChannel) },
			does: []string{"create channel:c0:ensure", "create channel:c1:ensure", "create channel:c2:ensure", "create channel:c3:ensure", "create channel:c4:ensure",
				"create channel:c5:ensure", "create channel:c6:ensure", "update guild:guild:ensure", "update onboarding:onboarding:ensure"},
			blocked: []string{"ONBOARDING_REQUIREMENTS"}},
		"a channel that the bot cannot read back": {
			members: `"channels":[{"key":"c","name":"c","type":"text"}],"components_v2":{"publications":[{"key":"p","channel_key":"c","components":[{"type":10,"content":"x"}]}]}`,
			rights:  discord.ManageChannels | discord.ManageRoles,
			setup: func(s *site) {
				s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "c", Overwrites: []discord.Overwrite{{ID: discord.OverwriteID(s.guild), Deny: discord.ReadMessageHistory}}})
			}, blocked: []string{"MISSING_PERMISSIONS"}},
		"a message that was changed": {
			members: `"channels":[{"key":"c","name":"c","type":"text"}],"components_v2":{"publications":[{"key":"p","channel_key":"c","components":[{"type":10,"content":"x"}]}]}`,
			setup: func(s *site) {
				s.build(doc(s.T, `"channels":[{"key":"c","name":"c","type":"text"}],"components_v2":{"publications":[{"key":"p","channel_key":"c","components":[{"type":10,"content":"y"}]}]}`))
				s.world.ResetRequests()
			}, blocked: []string{"RESOURCE_CONFLICT"}},
		"a channel with too many messages": {
			members: `"channels":[{"key":"c","name":"c","type":"text"}],"components_v2":{"publications":[{"key":"p","channel_key":"c","components":[{"type":10,"content":"x"}]}]}`,
			setup: func(s *site) {
				c := s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "c"})
				for range 1000 {
					s.world.AddMessage(c, sandbox.Message{Content: "x"})
				}
			}, blocked: []string{"PUBLICATION_HISTORY_INCOMPLETE"}},
		"roles out of order": {
			members: `"roles":[{"key":"a","name":"A","color":5},{"key":"b","name":"B","color":5}]`,
			setup: func(s *site) {
				s.world.AddRole(s.guild, sandbox.Role{Name: "B", Color: 5, Position: 1})
				s.world.AddRole(s.guild, sandbox.Role{Name: "A", Color: 5, Position: 2})
				s.raise()
			}, does: []string{"reorder role_order:roles:ensure"}},
		"channels out of order": {
			members: `"channels":[{"key":"a","name":"a","type":"text"},{"key":"b","name":"b","type":"text"}]`,
			setup:   func(s *site) { s.channel("b", ""); s.channel("a", "") }, does: []string{"reorder channel_order:channels:ensure"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onSite(t, func(s *site) {
				if r.rights != 0 {
					s.world.SetRolePermissions(s.guild, s.roleNamed("Bot"), r.rights)
				}
				if r.setup != nil {
					r.setup(s)
				}
				f := s.draft(doc(t, r.members), r.adopt)
				if got := ids(f); !slices.Equal(got, r.does) {
					s.Errorf("it would %q, want %q", got, r.does)
				}
				if got := codes(f); !slices.Equal(got, r.blocked) {
					s.Errorf("blocked by %q, want %q", got, r.blocked)
				}
				if len(s.world.Writes()) > 0 {
					s.Error("a comparison wrote")
				}
				if len(r.blocked) > 0 {
					return
				}
				if o := s.apply(f.Plan(), 1000); o.Readback != blueprint.Match {
					s.Errorf("carried out: %s", show(o))
				}
			})
		})
	}
}

// onboarding is a document with an onboarding of n channels.
func onboarding(n int) string {
	var channels, keys []string
	for i := range n {
		channels = append(channels, fmt.Sprintf(`{"key":"c%d","name":"c%d","type":"text"}`, i, i))
		keys = append(keys, fmt.Sprintf(`"c%d"`, i))
	}
	return `"guild":{"community":{"rules_channel_key":"c0","public_updates_channel_key":"c1"}},"channels":[` + strings.Join(channels, ",") +
		`],"onboarding":{"enabled":true,"default_channel_keys":[` + strings.Join(keys, ",") + `]}`
}

// lower adds a role below the bot's.
func (s *site) lower(name string) {
	s.world.AddRole(s.guild, sandbox.Role{Name: name, Position: 1})
	s.raise()
}

// raise puts the bot's role on top, and above it nobody.
func (s *site) raise() {
	role := s.world.AddRole(s.guild, sandbox.Role{Name: "Top", Permissions: discord.Administrator})
	s.world.AddMember(s.guild, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{role}})
}

func (s *site) channel(name string, in discord.ChannelID) {
	s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: name, Parent: in})
}

// What a document does not speak of stays: other roles and channels, settings
// that it leaves out, overwrites of members and of roles that it does not know.
func TestOthersStay(t *testing.T) {
	t.Parallel()
	onSite(t, func(s *site) {
		user := s.world.AddUser(sandbox.User{Name: "ada"})
		other := s.world.AddRole(s.guild, sandbox.Role{Name: "Other", Position: 1})
		s.raise()
		c := s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "team", Topic: "kept", SlowMode: 7, Overwrites: []discord.Overwrite{
			{ID: discord.OverwriteID(user), Type: discord.OverwriteMember, Allow: discord.SendMessages}, {ID: discord.OverwriteID(other), Allow: discord.AddReactions},
		}})
		s.channel("elsewhere", "")
		f := s.draft(doc(t, `"channels":[{"key":"t","name":"team","type":"text","overwrites":[{"subject":{"kind":"everyone"},"deny":["SEND_MESSAGES"]}]}]`), true)
		if o := s.apply(f.Plan(), 1000); o.Status != blueprint.Complete {
			s.Fatalf("%s", show(o))
		}
		got, _ := s.world.Channel(c)
		if got.Topic != "kept" || got.SlowMode != 7 || len(got.Overwrites) != 3 {
			s.Errorf("the channel is %+v", got)
		}
		for _, r := range s.world.Writes() {
			if r.Method == "DELETE" {
				s.Errorf("it deleted %s", r.Path)
			}
		}
		if len(s.world.Channels(s.guild)) != 2 {
			s.Errorf("there are %d channels", len(s.world.Channels(s.guild)))
		}
	})
}

// A name of Discord's users cannot pretend to be a line of ours.
func TestDiffIsOneLineEach(t *testing.T) {
	t.Parallel()
	onSite(t, func(s *site) {
		s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "x\n+ create role \"Admin\" (low)\u202e", Type: discord.GuildVoice})
		if text := s.draft(doc(t, `"roles":[{"key":"a","name":"A"}]`), false).Diff(); strings.Contains(text, "\n+ create role \"Admin\"") || strings.ContainsRune(text, '\u202e') {
			s.Errorf("the diff is\n%s", text)
		}
	})
}
