package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// ofGuild is arguments for the demo guild.
func ofGuild(more string) string { return fmt.Sprintf(`{"guildId":"%s",%s}`, sandbox.DemoGuild, more) }

// guildPermit allows a workflow in the demo guild.
var guildPermit = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {string(sandbox.DemoGuild)}}}

func settling() scene {
	const everything = `"verificationLevel":"high","defaultMessageNotifications":"all_messages","explicitContentFilter":"members_without_roles","afkChannelId":"1200000000000000316",` +
		`"afkTimeoutSeconds":900,"systemChannelId":null,"suppressedSystemNotifications":["setup_tips","join_messages"],"premiumProgressBarEnabled":true,"auditReason":"canary-reason"`
	return scene{
		Subject: operationtest.Subject{
			Workflow: "guild-settings-change", Plan: "plan_guild_settings_change", Execute: "execute_guild_settings_change",
			Args: ofGuild(everything),
			Sends: []string{`PATCH /guilds/1200000000000000001 {"verification_level":3,"default_message_notifications":0,"explicit_content_filter":1,` +
				`"afk_channel_id":"1200000000000000316","afk_timeout":900,"system_channel_id":null,"system_channel_flags":5,"premium_progress_bar_enabled":true}`},
			Permit: guildPermit, Resource: string(sandbox.DemoGuild), Secrets: []string{"canary", "Lighthouse"},
			Refusals: []operationtest.Refusal{
				{Name: "nothing", Args: ofGuild(`"auditReason":"x"`), Code: mcpcore.CodeValidation},
				{Name: "a raw number", Args: ofGuild(`"verificationLevel":3`), Code: mcpcore.CodeValidation},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: allow(discord.ManageRoles)},
				{Name: "a text channel for the idle", Args: ofGuild(`"afkChannelId":"1200000000000000313"`), Code: mcpcore.CodePlanRefused, Reason: "afk-channel"},
				{Name: "a voice channel for notices", Args: ofGuild(`"systemChannelId":"1200000000000000316"`), Code: mcpcore.CodePlanRefused, Reason: "system-channel"},
				{Name: "a channel of another guild", Args: ofGuild(`"systemChannelId":"1200000000000000341"`), Code: mcpcore.CodePlanRefused, Reason: "system-channel"},
				{Name: "notices that nobody knows", Code: mcpcore.CodePlanRefused, Reason: "unknown-notices", Before: world(func(d *sandbox.Discord) {
					d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.SystemFlags = 1 << 6 })
				})},
				{Name: "a level that nobody knows", Code: mcpcore.CodeAccessUnknown, Before: world(func(d *sandbox.Discord) {
					d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Verification = 9 })
				})},
			},
		},
		Route: "PATCH /guilds/{guild_id}", ReadBack: "GET /guilds/{guild_id}", Skip: 8,
		Change: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.SystemChannel = sandbox.DemoShowcase })
		},
		Settle: func(d *sandbox.Discord) {
			d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) {
				g.Verification, g.Notifications, g.ContentFilter, g.AFKChannel, g.AFKTimeout = 3, 0, 1, sandbox.DemoLounge, 900
				g.SystemChannel, g.SystemFlags, g.ProgressBar = "", 5, true
			})
		},
	}
}

func TestGuildSettingsChange(t *testing.T) {
	t.Parallel()
	settling().run(t)
}

// Settings that were not asked for are not sent, and notices that nobody knows
// stay as they are.
func TestGuildSettingsAreSparse(t *testing.T) {
	t.Parallel()
	s := settling()
	s.Args = ofGuild(`"premiumProgressBarEnabled":true,"verificationLevel":"low"`) // which it has already
	var d *sandbox.Discord
	s.Before = func(made *sandbox.Discord) {
		d = made
		d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.SystemFlags = 1<<6 | 1 })
	}
	e, _ := s.once(t)
	if w := d.Writes(); e.Status != "completed" || len(w) != 1 || string(w[0].Body) != `{"premium_progress_bar_enabled":true}` {
		t.Errorf("it answers %+v and sends %+v", e, w)
	}
}

// A setting that is not as it was wanted is told by its name, also one that was
// not asked for.
func TestGuildSettingsDrift(t *testing.T) {
	t.Parallel()
	var d *sandbox.Discord
	s, seen := settling(), 0
	s.Args = ofGuild(`"verificationLevel":"high"`)
	s.Before = func(made *sandbox.Discord) { d = made }
	s.REST = func(rest discordtools.REST) discordtools.REST {
		return meanwhile{rest, func(r discordtools.Request) {
			if r.Method == "GET" && r.Route == "/guilds/{guild_id}" {
				if seen++; seen == 9 {
					d.ChangeGuild(sandbox.DemoGuild, func(g *sandbox.Guild) { g.Verification, g.AFKTimeout = 0, 60 })
				}
			}
		}}
	}
	if e, _ := s.once(t); e.Status != "completed-with-drift" || fmt.Sprint(e.Drift) != "[verificationLevel afkTimeoutSeconds]" {
		t.Errorf("it answers %+v", e)
	}
}
