package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// closed is a private thread of the demo world's general to which nobody adds
// anybody.
const closed discord.ChannelID = "1200000000000000397"

func inThread(id discord.ChannelID, rest string) string {
	return `{"guildId":"1200000000000000001","threadId":"` + string(id) + `",` + rest + `}`
}

func governing() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "thread-governance-change", Plan: "plan_thread_change", Execute: "execute_thread_change",
			Args:  inThread(sandbox.DemoThread, `"action":"rename","name":"canary-name","auditReason":"canary-reason"`),
			Sends: []string{`PATCH /channels/1200000000000000321 {"name":"canary-name"}`},
			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{
				"guilds": {string(sandbox.DemoGuild)}, "threads": {string(sandbox.DemoThread)},
			}},
			Resource: string(sandbox.DemoThread), Secrets: []string{"canary", "Lighthouse", "Storm level"},
		},
		Route: "PATCH /channels/{channel_id}", ReadBack: "GET /channels/{channel_id}", Skip: 8,
		Before: func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{ID: closed, Guild: sandbox.DemoGuild, Type: discord.PrivateThread, Name: "closed", Parent: sandbox.DemoGeneral,
				Thread: &sandbox.Thread{Owner: sandbox.DemoModerator, Members: []sandbox.ThreadMember{{User: sandbox.BotID}, {User: sandbox.DemoModerator}, {User: sandbox.DemoAdmin}, {User: sandbox.DemoOwner}}}})
		},
		Change: func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoThread, func(c *sandbox.Channel) { c.SlowMode = 5 })
		},
		Settle: func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoThread, func(c *sandbox.Channel) { c.Name = "canary-name" })
		},
	}
}

// everywhere lets the workflow act on all that its tests need.
func everywhere(p *mcpcore.WorkflowPolicy) {
	p.Permits["thread-governance-change"] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{
		"guilds":  {string(sandbox.DemoGuild)},
		"threads": {string(sandbox.DemoThread), string(sandbox.DemoArchived), string(sandbox.DemoGeneral), string(sandbox.DemoPost), string(closed)},
		"users": {string(sandbox.DemoModerator), string(sandbox.DemoMember), string(sandbox.DemoAdmin), string(sandbox.DemoOwner),
			string(sandbox.DemoNewcomer), string(sandbox.DemoReader), string(sandbox.BotID)},
	}}
}

func TestThreadGovernanceChange(t *testing.T) {
	t.Parallel()
	s := governing()
	no := func(name string, code mcpcore.Code, reason string, thread discord.ChannelID, args string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Policy: everywhere, Code: code, Reason: reason, Args: inThread(thread, args)}
	}
	plan := func(reason string, thread discord.ChannelID, args string) operationtest.Refusal {
		return no(reason+": "+args, mcpcore.CodePlanRefused, reason, thread, args)
	}
	lacks := func(p discord.Permissions, thread discord.ChannelID, args string) operationtest.Refusal {
		r := no("a bot without "+p.String()+": "+args, mcpcore.CodePermission, "", thread, args)
		r.Before = weaker(p)
		return r
	}
	const member, mod = `"userId":"1200000000000000104"`, `"userId":"1200000000000000103"`
	protected := no("a protected member", mcpcore.CodeProtected, "", sandbox.DemoThread, `"action":"remove-member",`+member)
	protected.Policy = func(p *mcpcore.WorkflowPolicy) {
		everywhere(p)
		p.Protected = []string{string(sandbox.DemoMember)}
	}
	hidden := plan("cannot-see", sandbox.DemoThread, `"action":"add-member",`+mod)
	hidden.Before = world(func(d *sandbox.Discord) {
		d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoModerator), Type: discord.OverwriteMember, Deny: discord.ViewChannel})
	})
	s.Refusals = []operationtest.Refusal{
		no("an action without its argument", mcpcore.CodeValidation, "", sandbox.DemoThread, `"action":"rename"`),
		no("an argument of another action", mcpcore.CodeValidation, "", sandbox.DemoThread, `"action":"archive","name":"x"`),
		{Name: "a member out of scope", Code: mcpcore.CodeWorkflowScope, Args: inThread(sandbox.DemoThread, `"action":"add-member",`+mod)},
		plan("no-thread", sandbox.DemoGeneral, `"action":"archive"`),
		plan("not-private", sandbox.DemoThread, `"action":"set-invitable","invitable":true`),
		plan("archived", sandbox.DemoArchived, `"action":"rename","name":"x"`), plan("archived", sandbox.DemoArchived, `"action":"lock"`),
		plan("archived", sandbox.DemoArchived, `"action":"join"`), plan("archived", sandbox.DemoArchived, `"action":"add-member",`+member),
		plan("self", sandbox.DemoThread, `"action":"remove-member","userId":"`+string(sandbox.BotID)+`"`),
		plan("owner", closed, `"action":"remove-member","userId":"1200000000000000101"`),
		plan("administrator", closed, `"action":"remove-member","userId":"1200000000000000102"`),
		plan("member-missing", sandbox.DemoThread, `"action":"add-member","userId":"1200000000000000107"`),
		hidden, protected,
		lacks(discord.ManageThreads, sandbox.DemoThread, `"action":"archive"`), lacks(discord.ManageThreads, sandbox.DemoThread, `"action":"remove-member",`+member),
		lacks(discord.ManageThreads, closed, `"action":"add-member",`+member), lacks(discord.ManageThreads, sandbox.DemoArchived, `"action":"unarchive"`),
		lacks(discord.SendMessagesInThreads, sandbox.DemoArchived, `"action":"unarchive"`),
		lacks(discord.SendMessagesInThreads, sandbox.DemoThread, `"action":"add-member",`+mod),
	}
	s.run(t)
}

func TestThreadChanges(t *testing.T) {
	t.Parallel()
	s := governing()
	p := mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{}}
	everywhere(&p)
	s.Permit = p.Permits[s.Workflow]
	const thread, archived, private = "/channels/1200000000000000321", "/channels/1200000000000000322", "/channels/1200000000000000397"
	for _, row := range []struct {
		id         discord.ChannelID
		args, want string
	}{
		{sandbox.DemoThread, `"action":"archive"`, "PATCH " + thread + ` {"archived":true}`},
		{sandbox.DemoArchived, `"action":"unarchive"`, "PATCH " + archived + ` {"archived":false}`},
		{sandbox.DemoThread, `"action":"lock"`, "PATCH " + thread + ` {"locked":true}`},
		{sandbox.DemoThread, `"action":"set-auto-archive-duration","autoArchiveDuration":60`, "PATCH " + thread + ` {"auto_archive_duration":60}`},
		{sandbox.DemoThread, `"action":"set-slowmode","rateLimitPerUser":10`, "PATCH " + thread + ` {"rate_limit_per_user":10}`},
		{closed, `"action":"set-invitable","invitable":true`, "PATCH " + private + ` {"invitable":true}`},
		{sandbox.DemoPost, `"action":"join"`, "PUT /channels/1200000000000000323/thread-members/@me"},
		{sandbox.DemoThread, `"action":"leave"`, "DELETE " + thread + "/thread-members/@me"},
		{sandbox.DemoThread, `"action":"add-member","userId":"1200000000000000103"`, "PUT " + thread + "/thread-members/1200000000000000103"},
		{sandbox.DemoThread, `"action":"remove-member","userId":"1200000000000000104"`, "DELETE " + thread + "/thread-members/1200000000000000104"},
	} {
		s.writes(t, inThread(row.id, row.args), row.want)
	}
	for _, row := range []struct {
		id   discord.ChannelID
		args string
	}{
		{sandbox.DemoArchived, `"action":"archive"`}, {sandbox.DemoThread, `"action":"unarchive"`}, {sandbox.DemoThread, `"action":"unlock"`},
		{sandbox.DemoThread, `"action":"join"`}, {sandbox.DemoPost, `"action":"leave"`},
		{sandbox.DemoThread, `"action":"add-member","userId":"1200000000000000104"`}, {sandbox.DemoThread, `"action":"remove-member","userId":"1200000000000000103"`},
	} {
		s.Args = inThread(row.id, row.args)
		s.ends(t, s.Args, "", "already-current", "")
	}
}

func TestThreadThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := governing()
	open := func(s scene, name string) {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	open(s.answered(s.Route, `"type":11`, `"type":12`), "another type")
	open(s.answered(s.Route, `canary-name`, `something else`), "another name")
	open(s.answered(s.Route, `"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`), "another guild")
	open(s.after(s.ReadBack, `canary-name`, `something else`), "another name read back")
	s.after(s.ReadBack, `canary-name`, `Canary-Name`).ends(t, "a name written otherwise", "", "completed-with-drift", mcpcore.StatusCompleted)
	s.after(s.ReadBack, `"locked":false`, `"locked":true`).ends(t, "locked meanwhile", "", "completed-with-drift", mcpcore.StatusCompleted)
	s.Args = inThread(sandbox.DemoThread, `"action":"lock"`)
	open(s.after(s.ReadBack, `"locked":true`, `"locked":false`), "not locked")
}
