package sandbox

import (
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestPermissions(t *testing.T) {
	t.Parallel()
	const view, talk, manage = discord.ViewChannel, discord.SendMessages | discord.SendMessagesInThreads, discord.ManageMessages
	build := func() (*Discord, discord.GuildID, discord.RoleID, discord.ChannelID, discord.UserID) {
		d := New(Options{Clock: func() time.Time { return noon }})
		g := d.AddGuild(Guild{Name: "g"}, view|talk|discord.ReadMessageHistory)
		r := d.AddRole(g, Role{Name: "r", Permissions: manage})
		c := d.AddChannel(Channel{Guild: g, Type: discord.GuildText, Name: "c"})
		u := d.AddMember(g, Member{User: d.AddUser(User{Name: "u"}), Roles: []discord.RoleID{r}})
		return d, g, r, c, u
	}
	for _, c := range []struct {
		name    string
		change  func(d *Discord, g discord.GuildID, r discord.RoleID, c *channel, u discord.UserID)
		has, no discord.Permissions
	}{
		{"roles add up", nil, view | talk | manage, discord.ManageChannels},
		{"everyone's overwrite denies", func(_ *Discord, g discord.GuildID, _ discord.RoleID, c *channel, _ discord.UserID) {
			c.Overwrites = []discord.Overwrite{{ID: discord.OverwriteID(g), Deny: manage}}
		}, view | talk, manage},
		{"a role's overwrite goes after everyone's", func(_ *Discord, g discord.GuildID, r discord.RoleID, c *channel, _ discord.UserID) {
			c.Overwrites = []discord.Overwrite{{ID: discord.OverwriteID(r), Allow: talk}, {ID: discord.OverwriteID(g), Deny: talk}}
		}, talk, 0},
		{"a member's overwrite goes last", func(_ *Discord, _ discord.GuildID, r discord.RoleID, c *channel, u discord.UserID) {
			c.Overwrites = []discord.Overwrite{{ID: discord.OverwriteID(u), Type: 1, Deny: talk}, {ID: discord.OverwriteID(r), Allow: talk}}
		}, view, talk},
		{"nothing without view", func(_ *Discord, g discord.GuildID, _ discord.RoleID, c *channel, _ discord.UserID) {
			c.Overwrites = []discord.Overwrite{{ID: discord.OverwriteID(g), Deny: view}}
		}, 0, talk | manage},
		{"a timeout leaves reading", func(d *Discord, g discord.GuildID, _ discord.RoleID, _ *channel, u discord.UserID) {
			d.world.guilds[g].members[u].TimeoutUntil = noon.Add(time.Minute)
		}, view | discord.ReadMessageHistory, talk | manage},
		{"a timeout ends", func(d *Discord, g discord.GuildID, _ discord.RoleID, _ *channel, u discord.UserID) {
			d.world.guilds[g].members[u].TimeoutUntil = noon.Add(-time.Minute)
		}, talk | manage, 0},
		{"an administrator is past overwrites and timeouts", func(d *Discord, g discord.GuildID, r discord.RoleID, c *channel, u discord.UserID) {
			d.world.guilds[g].roles[r].Permissions = discord.Administrator
			d.world.guilds[g].members[u].TimeoutUntil = noon.Add(time.Minute)
			c.Overwrites = []discord.Overwrite{{ID: discord.OverwriteID(g), Deny: view}}
		}, discord.KnownPermissions, 0},
		{"the owner as well", func(d *Discord, g discord.GuildID, _ discord.RoleID, c *channel, u discord.UserID) {
			d.world.guilds[g].Owner = u
			c.Overwrites = []discord.Overwrite{{ID: discord.OverwriteID(u), Type: 1, Deny: view}}
		}, discord.KnownPermissions, 0},
		{"a stranger has none", func(d *Discord, g discord.GuildID, _ discord.RoleID, _ *channel, u discord.UserID) {
			delete(d.world.guilds[g].members, u)
		}, 0, discord.KnownPermissions},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, g, r, ch, u := build()
			if c.change != nil {
				c.change(d, g, r, d.world.channels[ch], u)
			}
			thread := d.AddChannel(Channel{Guild: g, Type: discord.PublicThread, Name: "t", Parent: ch})
			for _, place := range []discord.ChannelID{ch, thread} {
				p := d.Permissions(g, place, u)
				if !p.Has(c.has) || p&c.no != 0 {
					t.Errorf("%s: %s", place, p)
				}
			}
		})
	}
}

func TestPrivateThreadIsForItsMembers(t *testing.T) {
	t.Parallel()
	d := demo(t)
	thread := d.AddChannel(Channel{Guild: DemoGuild, Type: discord.PrivateThread, Name: "p", Parent: DemoGeneral,
		Thread: &Thread{Owner: DemoOwner, Members: []ThreadMember{{DemoMember, noon}}}})
	for u, sees := range map[discord.UserID]bool{DemoMember: true, DemoNewcomer: false, DemoModerator: true, DemoOwner: true} {
		if got := d.Permissions(DemoGuild, thread, u).Has(discord.ViewChannel); got != sees {
			t.Errorf("%s sees it: %t", u, got)
		}
	}
}

func TestHierarchy(t *testing.T) {
	t.Parallel()
	d := Demo()
	g := d.world.guilds[DemoGuild]
	for _, c := range []struct {
		actor, target discord.UserID
		want          bool
	}{
		{BotID, DemoModerator, true}, {BotID, DemoNewcomer, true}, {BotID, DemoAdmin, false}, {BotID, DemoOwner, false},
		{DemoOwner, DemoAdmin, true}, {DemoAdmin, DemoOwner, false}, {DemoModerator, DemoModerator, false},
		{DemoMember, DemoTimedOut, false}, {BotID, DemoReader, true}, {DemoReader, DemoMember, false},
	} {
		if got := g.outranks(c.actor, c.target); got != c.want {
			t.Errorf("%s outranks %s: %t", c.actor, c.target, got)
		}
	}
	for r, want := range map[discord.RoleID]bool{DemoModeratorRole: true, DemoBotRole: false, DemoAdminRole: false} {
		if got := g.above(BotID, g.roles[r]); got != want {
			t.Errorf("the bot is above %s: %t", r, got)
		}
	}
	a, b := &Role{ID: "1200000000000000001", Position: 3}, &Role{ID: "1200000000000000002", Position: 3}
	if compareRoles(a, b) <= 0 {
		t.Error("of equal positions the smaller id is higher")
	}
}
