package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// roleMay is an overwrite of a role that is set.
func roleMay(in discord.ChannelID, id discord.RoleID, allow, deny discord.Permissions) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.SetOverwrite(in, discord.Overwrite{ID: discord.OverwriteID(id), Allow: allow, Deny: deny})
	}
}

// synced gives the general channel what its category has.
func synced(d *sandbox.Discord) {
	d.EditChannel(sandbox.DemoGeneral, func(c *sandbox.Channel) {
		c.Overwrites = []discord.Overwrite{{ID: discord.OverwriteID(sandbox.DemoMutedRole), Deny: discord.SendMessages | discord.AddReactions | discord.Speak}}
	})
}

func syncing() scene {
	of := func(channel, parent discord.ChannelID, acknowledged string) string {
		return `{"guildId":"1200000000000000001","channelId":"` + string(channel) + `","parentId":"` + string(parent) + `","acknowledgeFullReplacement":` + acknowledged +
			`,"acknowledgeFuturePropagation":true,"acknowledgeEditorsStopped":true,"auditReason":"canary-reason"}`
	}
	const general, category = sandbox.DemoGeneral, sandbox.DemoCommunity
	personal := func(in discord.ChannelID) func(d *sandbox.Discord) {
		return func(d *sandbox.Discord) {
			d.SetOverwrite(in, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoMember), Type: discord.OverwriteMember, Allow: discord.EmbedLinks})
		}
	}
	protecting := func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sandbox.DemoMember)} }
	return scene{
		Subject: operationtest.Subject{
			Workflow: "channel-permission-sync", Plan: "plan_channel_permission_sync", Execute: "execute_channel_permission_sync",
			Args:     of(general, category, "true"),
			Sends:    []string{`PATCH /channels/1200000000000000313 {"permission_overwrites":[{"id":"1200000000000000205","type":0,"allow":"0","deny":"2099264"}]}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(general)}}},
			Resource: string(general), Secrets: []string{"canary", "Lighthouse", "general", "Community"},
			Refusals: []operationtest.Refusal{
				{Name: "not acknowledged", Args: of(general, category, "false"), Code: mcpcore.CodeValidation},
				{Name: "another category", Args: of(general, sandbox.DemoInfo, "true"), Code: mcpcore.CodePlanRefused, Reason: "other-parent"},
				{Name: "a thread", Args: of(sandbox.DemoThread, general, "true"), Code: mcpcore.CodePlanRefused, Reason: "thread",
					Policy: permits("channel-permission-sync", "channels", string(sandbox.DemoThread))},
				{Name: "a protected member's that goes", Code: mcpcore.CodeProtected, Policy: protecting, Before: world(personal(general))},
				{Name: "a protected member's that comes", Code: mcpcore.CodeProtected, Policy: protecting, Before: world(personal(category))},
				{Name: "what the bot lacks", Code: mcpcore.CodePermission, Before: world(roleMay(category, sandbox.DemoEventsRole, discord.ViewCreatorMonetizationAnalytics, 0))},
				{Name: "a channel that the bot may not manage", Code: mcpcore.CodePermission, Before: weaker(discord.ManageChannels)},
				{Name: "permissions that the bot may not manage", Code: mcpcore.CodePermission, Before: weaker(discord.ManageRoles)},
				{Name: "a category that the bot cannot see", Code: mcpcore.CodePermission, Before: world(roleMay(category, sandbox.DemoBotRole, 0, discord.ViewChannel))},
				blocked("manage-roles", roleMay(category, sandbox.DemoEventsRole, discord.ManageRoles, 0)),
				blocked("unknown-bits", roleMay(category, sandbox.DemoEventsRole, 1<<60, 0)),
				blocked("lockout", roleMay(category, sandbox.DemoBotRole, 0, discord.ManageChannels)),
				blocked("too-many-targets", func(d *sandbox.Discord) {
					for range 101 {
						role := d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "x", Position: 1})
						roleMay(category, role, 0, discord.SendMessages)(d)
					}
				}),
			},
		},
		Route: "PATCH /channels/{channel_id}", ReadBack: "GET /channels/{channel_id}", Skip: 8,
		Before: func(d *sandbox.Discord) {
			roleMay(general, sandbox.DemoEventsRole, discord.EmbedLinks, 0)(d)
			roleMay(general, sandbox.DemoMutedRole, 0, discord.SendMessages)(d)
		},
		Change: roleMay(general, sandbox.DemoEventsRole, discord.AttachFiles, 0),
		Settle: synced,
	}
}

func TestChannelPermissionSync(t *testing.T) {
	t.Parallel()
	syncing().run(t)
}

// The plan names each overwrite that comes, goes or changes.
func TestChannelPermissionSyncChanges(t *testing.T) {
	t.Parallel()
	s := syncing().observed(roleMay(sandbox.DemoCommunity, sandbox.DemoMemberRole, discord.EmbedLinks, 0))
	changes, err := json.Marshal(s.plans(t)["affected"])
	if want := `[{"action":"add","id":"1200000000000000204"},{"action":"change","id":"1200000000000000205"},{"action":"remove","id":"1200000000000000206"}]`; err != nil || !strings.Contains(string(changes), want) {
		t.Errorf("the plan tells %s, want %s", changes, want)
	}
}

// A category without overwrites takes all of the channel's.
func TestChannelPermissionSyncWithNone(t *testing.T) {
	t.Parallel()
	s := syncing().observed(roleMay(sandbox.DemoLounge, sandbox.DemoEventsRole, 0, discord.Speak)).with("000313", "000316", "000302", "000303")
	s.Permit.Scopes["channels"] = []string{string(sandbox.DemoLounge)}
	s.sends(t, `PATCH /channels/1200000000000000316 {"permission_overwrites":[]}`)
}

func TestChannelPermissionSyncReadsBack(t *testing.T) {
	t.Parallel()
	const read = "GET /channels/{channel_id}"
	syncing().after(read, `"position":7`, `"position":8`).drifts(t, "position")
	syncing().afterWrite(roleMay(sandbox.DemoCommunity, sandbox.DemoEventsRole, 0, discord.Speak)).drifts(t, "parent_overwrites")
	syncing().afterWrite(func(d *sandbox.Discord) {
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoEventsRole, discord.Speak)
	}).drifts(t, "roles")
	for name, s := range map[string]scene{
		"opened again":     syncing().afterWrite(roleMay(sandbox.DemoGeneral, sandbox.DemoEventsRole, discord.EmbedLinks, 0)),
		"not as written":   syncing().answered(syncing().Route, `"deny":"2099264"`, `"deny":"2048"`),
		"another channel":  syncing().answered(syncing().Route, string(sandbox.DemoGeneral), string(sandbox.DemoShowcase)),
		"of another guild": syncing().answered(syncing().Route, `"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`),
	} {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
}
