package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// nicknaming renames a member, or the bot.
func nicknaming(user discord.UserID, nick string) scene {
	of := func(user discord.UserID, nick string) string {
		return `{"guildId":"1200000000000000001","userId":"` + string(user) + `","nick":` + nick + `,"auditReason":"canary-reason"}`
	}
	asked := func(reason string, user discord.UserID) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(user, nick), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	guild := []string{"1200000000000000001"}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "member-nickname-change", Plan: "plan_member_nickname_change", Execute: "execute_member_nickname_change",
			Args:     of(user, nick),
			Sends:    []string{`PATCH /guilds/1200000000000000001/members/1200000000000000105 {"nick":` + nick + `}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": guild, "othersIn": guild}},
			Resource: string(user), Secrets: []string{"canary", "Lighthouse", "pebble"},
			Refusals: []operationtest.Refusal{
				asked("owner", sandbox.DemoOwner), asked("member-hierarchy", sandbox.DemoAdmin), asked("member-missing", sandbox.DemoReader),
				blocked("administrator", administrating),
				blocked("pending", func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Pending = true }) }),
				{Name: "a protected user", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(user)} }},
				{Name: "others where the bot alone may be renamed", Code: mcpcore.CodeWorkflowScope, Policy: permits("member-nickname-change", "guilds", guild...)},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: weaker(discord.ManageNicknames)},
				{Name: "a bot that may not rename itself", Args: of(sandbox.BotID, nick), Code: mcpcore.CodePermission, Before: weaker(discord.ChangeNickname)},
				{Name: "an empty nickname", Args: of(user, `""`), Code: mcpcore.CodeValidation},
				{Name: "33 characters", Args: of(user, `"ééééééééééééééééééééééééééééééééé"`), Code: mcpcore.CodeValidation},
			},
		},
		Route: "PATCH /guilds/{guild_id}/members/{user_id}", ReadBack: "GET /guilds/{guild_id}/members/{user_id}", Skip: 8,
		Change: nicked("another"), Settle: nicked("canary Pebble"),
	}
}

func nicked(nick string) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Nick = nick }) }
}

// administrating makes the newcomer an administrator below the bot.
func administrating(d *sandbox.Discord) {
	holding(sandbox.DemoEventsRole)(d)
	d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoEventsRole, discord.Administrator)
}

func TestMemberNicknameChange(t *testing.T) {
	t.Parallel()
	nicknaming(sandbox.DemoNewcomer, `"canary Pebble"`).run(t)
}

// The bot needs neither the scope of other members nor to stand above itself.
func TestMemberNicknameChangeOfTheBot(t *testing.T) {
	t.Parallel()
	s := nicknaming(sandbox.BotID, `"Keeper"`)
	delete(s.Permit.Scopes, "othersIn")
	s.sends(t, `PATCH /guilds/1200000000000000001/members/@me {"nick":"Keeper"}`)
	long := nicknaming(sandbox.DemoNewcomer, `"éééééééééééééééééééééééééééééééé"`)
	long.sends(t, `PATCH /guilds/1200000000000000001/members/1200000000000000105 {"nick":"éééééééééééééééééééééééééééééééé"}`)
	nicknaming(sandbox.DemoNewcomer, `null`).observed(nicked("another")).sends(t, `PATCH /guilds/1200000000000000001/members/1200000000000000105 {"nick":null}`)
}

// A nickname that reads like none is not taken for none.
func TestMemberNicknameChangeToNone(t *testing.T) {
	t.Parallel()
	s := nicknaming(sandbox.DemoNewcomer, `"none"`)
	s.sends(t, s.Sends...)
}

func TestMemberNicknameChangeReadsBack(t *testing.T) {
	t.Parallel()
	nick := func() scene { return nicknaming(sandbox.DemoNewcomer, `"canary  Pebble"`) }
	nick().afterWrite(nicked("canary Pebble")).drifts(t, "nick")
	nick().afterWrite(func(d *sandbox.Discord) {
		newcomer(d, func(m *sandbox.Member) { m.Roles = []discord.RoleID{sandbox.DemoEventsRole} })
	}).drifts(t, "roles")
	for name, s := range map[string]scene{
		"renamed again":    nick().afterWrite(nicked("another")),
		"not renamed":      nick().answered("PATCH /guilds/{guild_id}/members/{user_id}", "canary", "other"),
		"another answered": nick().answered("PATCH /guilds/{guild_id}/members/{user_id}", string(sandbox.DemoNewcomer), string(sandbox.DemoMember)),
	} {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
}
