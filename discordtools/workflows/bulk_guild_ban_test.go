package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func bulkBanning() scene {
	of := func(user discord.UserID) string {
		return `{"guildId":"1200000000000000001","userIds":["` + string(user) + `","1200000000000000105"],"deleteMessageSeconds":60,"auditReason":"canary-reason"}`
	}
	asked := func(reason string, user discord.UserID) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(user), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	const other discord.UserID = "1200000000000000161"
	bot := func(member bool) func(d *sandbox.Discord) {
		return func(d *sandbox.Discord) {
			if d.AddUser(sandbox.User{ID: other, Name: "robot", Bot: true}); member {
				d.AddMember(sandbox.DemoGuild, sandbox.Member{User: other})
			}
		}
	}
	lacking := func(p discord.Permissions) operationtest.Refusal {
		return operationtest.Refusal{Name: "a bot without " + p.String(), Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
			d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, sandbox.DemoPermissions&^p)
		})}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "bulk-guild-ban", Plan: "plan_bulk_guild_ban", Execute: "execute_bulk_guild_ban",
			Args:     of(sandbox.DemoReader),
			Sends:    []string{`POST /guilds/1200000000000000001/bulk-ban {"user_ids":["1200000000000000105","1200000000000000107"],"delete_message_seconds":60}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}}},
			Resource: string(sandbox.DemoGuild), Secrets: []string{"canary", "Lighthouse", "pebble", "dog.eared"},
			Refusals: []operationtest.Refusal{
				asked("self", sandbox.BotID), asked("owner", sandbox.DemoOwner), asked("member-hierarchy", sandbox.DemoAdmin), asked("user-missing", "1200000000000000199"),
				{Name: "a bot who is a member", Args: of(other), Before: world(bot(true)), Code: mcpcore.CodePlanRefused, Reason: "bot"},
				{Name: "a bot who is none", Args: of(other), Before: world(bot(false)), Code: mcpcore.CodePlanRefused, Reason: "bot"},
				blocked("banned", func(d *sandbox.Discord) { d.AddBan(sandbox.DemoGuild, sandbox.Ban{User: sandbox.DemoReader}) }),
				{Name: "a protected user", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sandbox.DemoReader)} }},
				{Name: "one user", Args: `{"guildId":"1200000000000000001","userIds":["1200000000000000105"]}`, Code: mcpcore.CodeValidation},
				{Name: "one user twice", Args: of(sandbox.DemoNewcomer), Code: mcpcore.CodeValidation},
				lacking(discord.BanMembers), lacking(discord.ManageGuild),
			},
		},
		Route: "POST /guilds/{guild_id}/bulk-ban", ReadBack: "GET /guilds/{guild_id}/bans/{user_id}", Skip: 8,
		Change: holding(sandbox.DemoMutedRole),
		Rename: func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Nick = "another" }) },
	}
}

func TestBulkGuildBan(t *testing.T) {
	t.Parallel()
	bulkBanning().run(t)
}

// beforeWrite changes the world when everything was planned, before the write.
func (s scene) beforeWrite(f func(d *sandbox.Discord)) scene {
	var d *sandbox.Discord
	s = s.observed(func(made *sandbox.Discord) { d = made })
	s.REST = func(rest discordtools.REST) discordtools.REST { return preceded{rest, func() { f(d) }} }
	return s
}

// preceded is a REST before whose writes something happens.
type preceded struct {
	discordtools.REST
	f func()
}

func (p preceded) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	if r.Method != "GET" {
		p.f()
	}
	return p.REST.Do(ctx, r)
}

// Each of the users is read back: who is not banned has failed, and an answer that
// says otherwise drifts.
func TestBulkGuildBanInPart(t *testing.T) {
	t.Parallel()
	const reader = string(sandbox.DemoReader)
	promoted := func(d *sandbox.Discord) {
		d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.DemoReader, Roles: []discord.RoleID{sandbox.DemoAdminRole}})
	}
	says := func(banned, failed string) func(discordtools.REST) discordtools.REST {
		return func(rest discordtools.REST) discordtools.REST {
			return answering{rest, nil, func(r *discordtools.Response) *discordtools.Response {
				r.Body = fmt.Appendf(nil, `{"banned_users":[%s],"failed_users":[%s]}`, banned, failed)
				return r
			}}
		}
	}
	answered := func(banned, failed string) scene {
		s := bulkBanning()
		s.REST = says(banned, failed)
		return s
	}
	for name, row := range map[string]struct {
		s      scene
		status string
		failed []string
		drift  []string
	}{
		"one is refused":              {bulkBanning().beforeWrite(promoted), "partial", []string{reader}, nil},
		"one failed and is banned":    {answered(`"1200000000000000105"`, `"1200000000000000107"`), "completed-with-drift", nil, []string{"bans"}},
		"one is missing":              {answered(`"1200000000000000105"`, ``), "outcome-uncertain", nil, nil},
		"one is there twice":          {answered(`"1200000000000000105","1200000000000000107"`, `"1200000000000000107"`), "outcome-uncertain", nil, nil},
		"one is another":              {answered(`"1200000000000000105","1200000000000000106"`, ``), "outcome-uncertain", nil, nil},
		"one is banned and is let in": {bulkBanning().afterWrite(func(d *sandbox.Discord) { d.LiftBan(sandbox.DemoGuild, sandbox.DemoReader) }), "partial-with-drift", []string{reader}, []string{"bans"}},
	} {
		e, r := row.s.once(t)
		if e.Status != row.status || !slices.Equal(e.Failed, row.failed) || !slices.Equal(e.Drift, row.drift) || e.Writes != 1 {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
}

// A set that is large is planned and read back whole.
func TestBulkGuildBanOfMany(t *testing.T) {
	t.Parallel()
	const many = 40
	var d *sandbox.Discord
	s := bulkBanning().observed(func(made *sandbox.Discord) {
		d = made
		for i := range many {
			d.AddUser(sandbox.User{ID: discord.UserID(fmt.Sprint(1200000000000003000 + i)), Name: fmt.Sprint("spam", i)})
		}
	})
	s.Clock = time.Now
	s.Args = `{"guildId":"1200000000000000001","userIds":[`
	for i := range many {
		s.Args += fmt.Sprintf(`"%d",`, 1200000000000003000+many-1-i)
	}
	s.Args = s.Args[:len(s.Args)-1] + `]}`
	if e, _ := s.once(t); e.Status != "completed" || e.Writes != 1 || len(d.Bans(sandbox.DemoGuild)) != many {
		t.Errorf("it answers %+v, and %d are banned", e, len(d.Bans(sandbox.DemoGuild)))
	}
}
