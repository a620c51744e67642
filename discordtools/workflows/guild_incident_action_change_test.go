package workflows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// Deadlines count from now on, so that these worlds have the present time.
func locking() (s scene, until time.Time) {
	now := time.Now().UTC().Truncate(time.Second)
	until = now.Add(12 * time.Hour)
	invites := func(value string) string { return ofGuild(`"invitesDisabledUntil":` + value) }
	moment := func(d time.Duration) string { return `"` + now.Add(d).Format(time.RFC3339) + `"` }
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-incident-action-change", Plan: "plan_guild_incident_action_change", Execute: "execute_guild_incident_action_change",
			Args:   ofGuild(fmt.Sprintf(`"invitesDisabledUntil":"%s","directMessagesDisabledUntil":null,"auditReason":"canary-reason"`, until.In(time.FixedZone("", 3600)).Format(time.RFC3339))),
			Sends:  []string{fmt.Sprintf(`PUT /guilds/1200000000000000001/incident-actions {"invites_disabled_until":"%s","dms_disabled_until":null}`, until.Format(time.RFC3339))},
			Permit: guildPermit, Resource: string(sandbox.DemoGuild), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "nothing", Args: ofGuild(`"auditReason":"x"`), Code: mcpcore.CodeValidation},
				{Name: "no moment", Args: invites(`"tomorrow"`), Code: mcpcore.CodeValidation},
				{Name: "the past", Args: invites(moment(-time.Minute)), Code: mcpcore.CodePlanRefused, Reason: "deadline"},
				{Name: "more than a day ahead", Args: invites(moment(25 * time.Hour)), Code: mcpcore.CodePlanRefused, Reason: "deadline"},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: allow(discord.ManageRoles)},
				{Name: "permissions that nobody knows", Code: mcpcore.CodePlanRefused, Reason: "unknown-permissions", Before: allow(discord.ManageGuild | 1<<62)},
			},
		},
		Route: "PUT /guilds/{guild_id}/incident-actions", ReadBack: "GET /guilds/{guild_id}", Skip: 8, Clock: func() time.Time { return now },
		Before: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.DMsOffTill = now.Add(time.Hour) })
		},
		Change: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.DMsOffTill = now.Add(2 * time.Hour) })
		},
		Settle: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.InvitesOffTill, g.DMsOffTill = until, time.Time{} })
		},
	}, until
}

func TestGuildIncidentActionChange(t *testing.T) {
	t.Parallel()
	s, _ := locking()
	s.run(t)
}

// The reason stays here, and a deadline that was not given is not sent; when it
// changes all the same, that is told.
func TestIncidentActionsAreSparse(t *testing.T) {
	t.Parallel()
	for drifts, want := range map[bool]string{false: "completed", true: "completed-with-drift"} {
		var d *sandbox.Discord
		s, until := locking()
		seen, before := 0, s.Before
		s.Args = ofGuild(fmt.Sprintf(`"invitesDisabledUntil":"%s","auditReason":"canary-reason"`, until.Format(time.RFC3339)))
		s.Before = func(made *sandbox.Discord) { d = made; before(d) }
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return meanwhile{rest, func(r discordtools.Request) {
				if r.Method == "GET" && r.Route == "/guilds/{guild_id}" {
					if seen++; seen == 9 && drifts {
						d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.DMsOffTill = time.Time{} })
					}
				}
			}}
		}
		e, _ := s.once(t)
		w := d.Writes()
		if e.Status != want || drifts && fmt.Sprint(e.Drift) != "[directMessagesDisabledUntil]" {
			t.Errorf("it answers %+v", e)
		}
		if len(w) != 1 || w[0].Reason != "" || string(w[0].Body) != fmt.Sprintf(`{"invites_disabled_until":"%s"}`, until.Format(time.RFC3339)) {
			t.Errorf("it sends %+v", w)
		}
	}
}
