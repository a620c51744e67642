package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const (
	ofMuted  = inGeneral + `"targetType":"role","targetId":"1200000000000000205",`
	ofMember = inGeneral + `"targetType":"member","targetId":"1200000000000000104",`
)

func overwriting() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "channel-permission-overwrite", Plan: "plan_channel_permission_overwrite", Execute: "execute_channel_permission_overwrite",
			Args:     ofMuted + `"mode":"update","allow":["READ_MESSAGE_HISTORY"],"deny":["CREATE_PUBLIC_THREADS"],"inherit":["ADD_REACTIONS"],"auditReason":"canary-reason"}`,
			Sends:    []string{`PUT /channels/1200000000000000313/permissions/1200000000000000205 {"type":0,"allow":"65536","deny":"34361837568"}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Resource: string(sandbox.DemoMutedRole), Secrets: []string{"canary", "Lighthouse", "34361837568", "HISTORY"},
		},
		Route: "PUT /channels/{channel_id}/permissions/{overwrite_id}", ReadBack: "GET /channels/{channel_id}", Skip: 4,
		Change: func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoEventsRole), Deny: discord.AddReactions})
		},
		Settle: func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{
				ID: discord.OverwriteID(sandbox.DemoMutedRole), Allow: discord.ReadMessageHistory,
				Deny: discord.SendMessages | discord.Speak | discord.CreatePublicThreads,
			})
		},
	}
}

func TestChannelPermissionOverwrite(t *testing.T) {
	t.Parallel()
	s := overwriting()
	no := func(name string, code mcpcore.Code, reason, args string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: code, Reason: reason, Args: args}
	}
	elsewhere := func(name, reason string, c discord.ChannelID, rest string) operationtest.Refusal {
		r := no(name, mcpcore.CodePlanRefused, reason, `{"guildId":"1200000000000000001","channelId":"`+string(c)+`",`+rest)
		r.Policy = permits(s.Workflow, "channels", string(c))
		return r
	}
	has := func(name, reason string, p discord.Permissions) operationtest.Refusal {
		r := no(name, mcpcore.CodePlanRefused, reason, "")
		r.Before = world(func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoMutedRole), Deny: p})
		})
		return r
	}
	const botRole = `"targetType":"role","targetId":"1200000000000000202",`
	protected := no("a protected member", mcpcore.CodeProtected, "", ofMember+`"mode":"update","deny":["ADD_REACTIONS"]}`)
	protected.Policy = func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sandbox.DemoMember)} }
	s.Refusals = []operationtest.Refusal{
		no("an update of nothing", mcpcore.CodeValidation, "", ofMuted+`"mode":"update"}`),
		no("a deletion of permissions", mcpcore.CodeValidation, "", ofMuted+`"mode":"delete","deny":["ADD_REACTIONS"]}`),
		no("a permission named twice", mcpcore.CodeValidation, "", ofMuted+`"mode":"update","allow":["ADD_REACTIONS"],"inherit":["ADD_REACTIONS"]}`),
		no("no permission", mcpcore.CodeValidation, "", ofMuted+`"mode":"update","allow":["FLY"]}`),
		no("a role that is not there", mcpcore.CodePlanRefused, "role-missing", inGeneral+`"targetType":"role","targetId":"1200000000000000298","mode":"update","deny":["ADD_REACTIONS"]}`),
		no("a member who is not there", mcpcore.CodePlanRefused, "member-missing", inGeneral+`"targetType":"member","targetId":"1200000000000000107","mode":"update","deny":["ADD_REACTIONS"]}`),
		no("what counts in the guild alone", mcpcore.CodePlanRefused, "not-of-channels", ofMuted+`"mode":"update","deny":["KICK_MEMBERS"]}`),
		no("managing roles", mcpcore.CodePlanRefused, "manage-roles", ofMuted+`"mode":"update","allow":["MANAGE_ROLES"]}`),
		no("what the bot has not", mcpcore.CodePermission, "", ofMuted+`"mode":"update","allow":["USE_EMBEDDED_ACTIVITIES"]}`),
		no("shutting itself out", mcpcore.CodePlanRefused, "lockout", inGeneral+botRole+`"mode":"update","deny":["VIEW_CHANNEL"]}`),
		elsewhere("shutting itself out by a deletion", "lockout", sandbox.DemoModLog, botRole+`"mode":"delete"}`),
		elsewhere("a thread", "thread", sandbox.DemoThread, botRole+`"mode":"delete"}`),
		elsewhere("a channel of another guild", "other-guild", sandbox.DemoClubGeneral, botRole+`"mode":"delete"}`),
		has("what nobody knows", "unknown-bits", 1<<60), has("what there is of the guild", "not-of-channels", discord.KickMembers),
		{Name: "another type", Code: mcpcore.CodePlanRefused, Reason: "other-type", Before: world(func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoMutedRole), Type: discord.OverwriteMember})
		})},
		protected,
		{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: weaker(discord.ManageRoles)},
	}
	s.run(t)
}

func TestChannelOverwrites(t *testing.T) {
	t.Parallel()
	s := overwriting()
	const general = "/channels/1200000000000000313/permissions/"
	s.writes(t, ofMuted+`"mode":"delete"}`, "DELETE "+general+"1200000000000000205")
	s.writes(t, ofMember+`"mode":"update","deny":["SEND_MESSAGES"]}`, "PUT "+general+`1200000000000000104 {"type":1,"allow":"0","deny":"2048"}`)
	// Who left can lose what is still there of them.
	s.Before = func(d *sandbox.Discord) {
		d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoReader), Type: discord.OverwriteMember})
	}
	s.writes(t, inGeneral+`"targetType":"member","targetId":"1200000000000000107","mode":"delete"}`, "DELETE "+general+"1200000000000000107")
	// An administrator gives what others may not.
	s.Before = func(d *sandbox.Discord) {
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.Administrator)
	}
	s.writes(t, ofMember+`"mode":"update","allow":["MANAGE_ROLES"]}`, "PUT "+general+`1200000000000000104 {"type":1,"allow":"268435456","deny":"0"}`)

	s.Before, s.Args = nil, ofMember+`"mode":"delete"}`
	s.ends(t, "no overwrite", "", "already-current", "")
	s.Args = ofMember + `"mode":"update","inherit":["ADD_REACTIONS"]}`
	s.ends(t, "an overwrite of nothing", "", "already-current", "")
}

func TestOverwriteThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := overwriting()
	s.after(s.ReadBack, `"34361837568"`, `"2048"`).ends(t, "others denied", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.after(s.ReadBack, `"id":"1200000000000000205"`, `"id":"1200000000000000206"`).ends(t, "no overwrite", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	s.after(s.ReadBack, `"permission_overwrites":[`, `"permission_overwrites":[{"id":"1200000000000000206","type":0,"allow":"0","deny":"0"},`).ends(t, "another overwrite", "", "completed-with-drift", mcpcore.StatusCompleted)
	s.Args = ofMuted + `"mode":"delete"}`
	s.after(s.ReadBack, `"permission_overwrites":[`, `"permission_overwrites":[{"id":"1200000000000000205","type":0,"allow":"0","deny":"0"}`).ends(t, "still there", mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
}
