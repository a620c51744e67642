package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func profiling() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-profile-change", Plan: "plan_guild_profile_change", Execute: "execute_guild_profile_change",
			Args:   ofGuild(`"name":"canary guild","description":"canary words","auditReason":"canary-reason"`),
			Sends:  []string{`PATCH /guilds/1200000000000000001 {"name":"canary guild","description":"canary words"}`},
			Permit: guildPermit, Resource: string(sandbox.DemoGuild), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "nothing", Args: ofGuild(`"auditReason":"x"`), Code: mcpcore.CodeValidation},
				{Name: "a name of one letter", Args: ofGuild(`"name":"x"`), Code: mcpcore.CodeValidation},
				{Name: "a name with space around it", Args: ofGuild(`"name":" harbour "`), Code: mcpcore.CodeValidation},
				{Name: "no name", Args: ofGuild(`"name":null`), Code: mcpcore.CodeValidation},
				{Name: "a description of nothing", Args: ofGuild(`"description":"  "`), Code: mcpcore.CodeValidation},
				{Name: "a picture", Args: ofGuild(`"name":"harbour","icon":"data:image/png;base64,AAAA"`), Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: allow(discord.ManageRoles)},
			},
		},
		Route: "PATCH /guilds/{guild_id}", ReadBack: "GET /guilds/{guild_id}", Skip: 8,
		Change: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Description = "Small games." })
		},
		Settle: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Name, g.Description = "canary guild", "canary words" })
		},
	}
}

func TestGuildProfileChange(t *testing.T) {
	t.Parallel()
	profiling().run(t)
}

func TestGuildProfileIsSparse(t *testing.T) {
	t.Parallel()
	profiling().writes(t, ofGuild(`"description":null`), `PATCH /guilds/1200000000000000001 {"description":null}`)
	profiling().writes(t, ofGuild(`"name":"Harbour","description":"We make small games about big weather."`), `PATCH /guilds/1200000000000000001 {"name":"Harbour"}`)
}

func TestGuildProfileThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	s := profiling()
	for name, other := range map[string][2]string{
		"another guild": {`"id":"1200000000000000001","name"`, `"id":"1200000000000000002","name"`}, "another name": {`"canary guild"`, `"harbour"`},
		"another description": {`"canary words"`, `null`}, "a picture": {`"icon":null`, `"icon":"abc"`},
	} {
		s.answered(s.Route, other[0], other[1]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	s.answered(s.ReadBack, `"name":"Lighthouse Games"`, `"name":""`).ends(t, "a guild without a name", mcpcore.CodeAccessUnknown, "", "")
	s.afterWrite(func(d *sandbox.Discord) {
		d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Name, g.Description, g.Icon = "Harbour", "", "abc" })
	}).drifts(t, "name", "description", "media")
}
