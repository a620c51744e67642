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

// A guild that was built is captured as a document whose plan against it is
// empty, and which rebuilds it in an empty guild.
func TestCapture(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*blueprint.Document{
		"short": parse(t, short), "gaming": compile("a gaming server with events"), "small": compile("a small open source project"), "creator": compile("for musicians"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onSite(t, func(s *site) {
				s.build(d)
				built := s.names()
				c, err := blueprint.Capture(s.Context(), s.conn, s.guild, sandbox.BotID)
				if err != nil {
					s.Fatal(err)
				}
				for _, l := range c.Left {
					if !strings.Contains(l, `"Bot"`) { // the administrator's role, which is the test's
						s.Errorf("left out: %s", l)
					}
				}
				if f := s.draft(c.Document, false); !f.Current() {
					s.Errorf("the plan against the guild itself is not empty:\n%s", f.Diff())
				}
				again, issues := blueprint.Parse(c.Document.JSON())
				if issues != nil || again.ID() != c.Document.ID() {
					s.Fatalf("what was captured does not parse to itself: %+v", issues)
				}
				plain, issues := blueprint.Parse(c.Document.Plain())
				if issues != nil || plain.ID() != c.Document.ID() {
					s.Errorf("without what follows from the rest it is another document: %+v", issues)
				}
				s.guild = s.addGuild(discord.Administrator)
				s.build(c.Document)
				if rebuilt := s.names(); rebuilt != built {
					s.Errorf("rebuilt is\n%s\nwant\n%s", rebuilt, built)
				}
			})
		})
	}
}

// What a document may not hold is left out and told: roles that are dangerous or
// not the guild's own, overwrites of members, names that stand twice. The rest
// is planned against the guild without a change.
func TestCaptureLeavesOut(t *testing.T) {
	t.Parallel()
	onSite(t, func(s *site) {
		admin := s.world.AddRole(s.guild, sandbox.Role{Name: "Admin", Permissions: discord.Administrator})
		s.world.AddRole(s.guild, sandbox.Role{Name: "Other Bot", Managed: true})
		s.world.AddRole(s.guild, sandbox.Role{Name: "Twin"})
		s.world.AddRole(s.guild, sandbox.Role{Name: "Twin"})
		s.world.AddRole(s.guild, sandbox.Role{Name: "🎉", Permissions: discord.ManageMessages})
		user := s.world.AddUser(sandbox.User{Name: "ada"})
		talk := s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "Talk", Type: discord.GuildCategory})
		s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "general", Parent: talk})
		general := s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "general"})
		s.world.SetOverwrite(general, discord.Overwrite{ID: discord.OverwriteID(user), Type: discord.OverwriteMember, Allow: discord.ManageMessages})
		s.world.SetOverwrite(general, discord.Overwrite{ID: discord.OverwriteID(admin), Allow: discord.ViewChannel})
		s.world.SetOverwrite(talk, discord.Overwrite{ID: discord.OverwriteID(admin), Allow: discord.ManageChannels})
		c, err := blueprint.Capture(s.Context(), s.conn, s.guild, sandbox.BotID)
		if err != nil {
			s.Fatal(err)
		}
		for _, want := range []string{`role "Other Bot": it belongs to an integration`, `role "Twin": several`, `role "Admin" is named as one that must exist`, "overwrites of members", "MANAGE_CHANNELS"} {
			if !slices.ContainsFunc(c.Left, func(l string) bool { return strings.Contains(l, want) }) {
				s.Errorf("it does not tell %q in\n%s", want, strings.Join(c.Left, "\n"))
			}
		}
		if f := s.draft(c.Document, false); !f.Current() {
			s.Errorf("the plan against the guild itself is not empty:\n%s", f.Diff())
		}
		var keys []string
		for _, ch := range c.Document.Channels {
			keys = append(keys, string(ch.Key))
		}
		if fmt.Sprint(keys) != "[general general_2]" {
			s.Errorf("channels are called %s", keys)
		}
		s.guild = s.addGuild(discord.Administrator)
		f := s.draft(c.Document, false)
		if len(f.Blockers) == 0 || f.Blockers[0].Code != blueprint.CodeMissing {
			s.Errorf("an empty guild has no Admin, and the plan is\n%s", f.Diff())
		}
	})
}

// A guild of 250 channels and 200 roles is planned in one pass, without a request
// for each.
func TestLargeGuild(t *testing.T) {
	t.Parallel()
	onSite(t, func(s *site) {
		for i := range 199 {
			s.world.AddRole(s.guild, sandbox.Role{Name: fmt.Sprintf("Role %d", i), Permissions: discord.SendMessages, Position: i + 2})
		}
		var in discord.ChannelID
		for i := range 250 {
			if i%25 == 0 {
				in = s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: fmt.Sprintf("Category %d", i), Type: discord.GuildCategory})
				continue
			}
			s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: fmt.Sprintf("channel-%d", i), Parent: in})
		}
		c, err := blueprint.Capture(s.Context(), s.conn, s.guild, sandbox.BotID)
		if err != nil {
			s.Fatal(err)
		}
		if len(c.Document.Channels) != 240 || len(c.Document.Categories) != 10 || len(c.Document.Roles) != 199 {
			s.Fatalf("captured %d channels, %d categories, %d roles", len(c.Document.Channels), len(c.Document.Categories), len(c.Document.Roles))
		}
		s.world.ResetRequests()
		f := s.draft(c.Document, false)
		if !f.Current() {
			s.Errorf("the plan is not empty:\n%.2000s", f.Diff())
		}
		got := s.requests()
		slices.Sort(got)
		want := []string{
			"GET /guilds/{guild_id}", "GET /guilds/{guild_id}/auto-moderation/rules", "GET /guilds/{guild_id}/channels",
			"GET /guilds/{guild_id}/members/{user_id}", "GET /guilds/{guild_id}/roles",
		}
		if !slices.Equal(got, want) {
			s.Errorf("Discord saw %d requests:\n%s", len(got), strings.Join(got, "\n"))
		}
		if token, err := s.sealer().Token(f.Plan(), "stdio"); err != nil || len(token) > blueprint.MaxToken {
			s.Errorf("the plan does not fit a token: %v", err)
		}
		if again := blueprint.Compare(c.Document, f.Guild, blueprint.Bindings{}, false); again.Plan().ID() != f.Plan().ID() {
			s.Error("the same guild gives another plan")
		}
	})
}
