package workflows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func moderation() scene {
	of := func(user discord.UserID, more string) string {
		return `{"guildId":"1200000000000000001","userId":"` + string(user) + `",` + more + `,"auditReason":"canary-reason"}`
	}
	asked := func(reason string, user discord.UserID, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(user, more), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	invalid := func(more string) operationtest.Refusal {
		return operationtest.Refusal{Name: more, Args: of(sandbox.DemoNewcomer, more), Code: mcpcore.CodeValidation}
	}
	lacking := func(action string, p discord.Permissions) operationtest.Refusal {
		return operationtest.Refusal{Name: "a bot that may not " + action, Args: of(sandbox.DemoNewcomer, action), Code: mcpcore.CodePermission,
			Before: world(func(d *sandbox.Discord) {
				d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, sandbox.DemoPermissions&^p)
			})}
	}
	const ban, kick, unban = `"action":"ban","deleteMessageSeconds":3600`, `"action":"kick"`, `"action":"unban"`
	const timeout, lift = `"action":"timeout","timeoutMinutes":10`, `"action":"remove-timeout"`
	return scene{
		Subject: operationtest.Subject{
			Workflow: "member-moderation", Plan: "plan_member_moderation", Execute: "execute_member_moderation",
			Args:     of(sandbox.DemoNewcomer, ban),
			Sends:    []string{`PUT /guilds/1200000000000000001/bans/1200000000000000105 {"delete_message_seconds":3600}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}}},
			Resource: string(sandbox.DemoNewcomer), Secrets: []string{"canary", "Lighthouse", "pebble"},
			Refusals: []operationtest.Refusal{
				asked("self", sandbox.BotID, kick), asked("owner", sandbox.DemoOwner, ban), asked("member-hierarchy", sandbox.DemoAdmin, kick),
				asked("member-missing", sandbox.DemoReader, kick), asked("member-missing", sandbox.DemoReader, timeout), asked("member-missing", sandbox.DemoReader, lift),
				asked("user-missing", "1200000000000000199", ban),
				{Name: "an administrator", Args: of(sandbox.DemoModerator, timeout), Code: mcpcore.CodePlanRefused, Reason: "administrator",
					Before: world(func(d *sandbox.Discord) {
						d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoModeratorRole, discord.Administrator)
					})},
				{Name: "a protected user", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sandbox.DemoNewcomer)} }},
				lacking(ban, discord.BanMembers), lacking(unban, discord.BanMembers), lacking(kick, discord.KickMembers),
				lacking(timeout, discord.ModerateMembers), lacking(lift, discord.ModerateMembers),
				invalid(`"action":"timeout"`), invalid(`"action":"timeout","timeoutMinutes":40320`), invalid(`"action":"kick","timeoutMinutes":1`),
				invalid(`"action":"kick","deleteMessageSeconds":1`), invalid(`"action":"ban","deleteMessageSeconds":604801`), invalid(`"action":"shout"`),
			},
		},
		Route: "PUT /guilds/{guild_id}/bans/{user_id}", ReadBack: "GET /guilds/{guild_id}/bans/{user_id}", Skip: 4,
		Change: holding(sandbox.DemoMutedRole),
		Rename: func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Nick = "another" }) },
		Settle: func(d *sandbox.Discord) { d.AddBan(sandbox.DemoGuild, sandbox.Ban{User: sandbox.DemoNewcomer}) },
	}
}

func TestMemberModeration(t *testing.T) {
	t.Parallel()
	moderation().run(t)
}

// as is the scene with another action on the newcomer.
func (s scene) as(action string) scene {
	s.Args = `{"guildId":"1200000000000000001","userId":"1200000000000000105","action":` + action + `}`
	return s
}

func timedOut(d *sandbox.Discord) {
	newcomer(d, func(m *sandbox.Member) { m.TimeoutUntil = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) })
}

func TestMemberModerationActions(t *testing.T) {
	t.Parallel()
	const guild, user = `/guilds/1200000000000000001/`, `1200000000000000105`
	banned := func(d *sandbox.Discord) { d.AddBan(sandbox.DemoGuild, sandbox.Ban{User: sandbox.DemoNewcomer}) }
	moderation().as(`"kick"`).sends(t, "DELETE "+guild+"members/"+user)
	moderation().as(`"ban"`).sends(t, "PUT "+guild+"bans/"+user+` {"delete_message_seconds":0}`)
	moderation().as(`"unban"`).observed(banned).sends(t, "DELETE "+guild+"bans/"+user)
	moderation().as(`"remove-timeout"`).observed(timedOut).sends(t, "PATCH "+guild+"members/"+user+` {"communication_disabled_until":null}`)
	for _, s := range []scene{moderation().as(`"unban"`), moderation().as(`"remove-timeout"`), moderation().as(`"ban"`).observed(banned)} {
		if e, _ := s.once(t); e.Status != "already-current" || e.Writes != 0 {
			t.Errorf("%s is answered %+v", s.Args, e)
		}
	}
}

// A timeout runs from the write, and what is read back is that very end.
func TestMemberModerationTimeout(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s := moderation().as(`"timeout","timeoutMinutes":10`).observed(func(made *sandbox.Discord) { d = made })
	s.Clock = time.Now
	before := time.Now().Truncate(time.Second)
	e, _ := s.once(t)
	m, _ := d.Member(sandbox.DemoGuild, sandbox.DemoNewcomer)
	if early, late := before.Add(10*time.Minute), time.Now().Add(10*time.Minute); e.Status != "completed" || e.Writes != 1 || m.TimeoutUntil.Before(early) || m.TimeoutUntil.After(late) {
		t.Errorf("it answers %+v, and the timeout ends at %s, not from %s to %s", e, m.TimeoutUntil, early, late)
	}
}

// What is read back decides, whatever was answered.
func TestMemberModerationReadsBack(t *testing.T) {
	t.Parallel()
	back := func(d *sandbox.Discord) { d.AddMember(sandbox.DemoGuild, sandbox.Member{User: sandbox.DemoNewcomer}) }
	for name, s := range map[string]scene{
		"kicked and back":        moderation().as(`"kick"`).afterWrite(back),
		"timed out for another":  moderation().as(`"timeout","timeoutMinutes":10`).afterWrite(timedOut),
		"timed out and let off":  moderation().as(`"timeout","timeoutMinutes":10`).afterWrite(back),
		"let off, and timed out": moderation().as(`"remove-timeout"`).observed(timedOut).afterWrite(timedOut),
		"unbanned, and banned": moderation().as(`"unban"`).observed(func(d *sandbox.Discord) { d.AddBan(sandbox.DemoGuild, sandbox.Ban{User: sandbox.DemoNewcomer}) }).
			afterWrite(func(d *sandbox.Discord) { d.AddBan(sandbox.DemoGuild, sandbox.Ban{User: sandbox.DemoNewcomer}) }),
		"kicked, and the guild is gone": moderation().as(`"kick"`).afterWrite(func(d *sandbox.Discord) {
			d.Inject(sandbox.Fault{Method: "GET", Route: "/guilds/{guild_id}/members/{user_id}", Status: 404})
		}),
	} {
		s.Clock = time.Now
		if e, r := s.once(t); e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain || e.Writes != 1 {
			t.Errorf("%s: it answers %s and keeps %s", name, fmt.Sprint(e), r.Status)
		}
	}
}
