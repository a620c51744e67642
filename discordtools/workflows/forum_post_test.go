package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func inHelp(more string) string { return in(sandbox.DemoHelp, more) }

// forumPosting starts a post in help that notifies a member.
func forumPosting() scene {
	const tags = `"tagIds":["1200000000000000332","1200000000000000331"]`
	return scene{
		Subject: operationtest.Subject{
			Workflow: "forum-post", Plan: "plan_forum_post", Execute: "execute_forum_post",
			Args: inHelp(`"name":"canary-title","content":" canary-text <@1200000000000000104>",` + tags + `,"mentionUserIds":["1200000000000000104"],"autoArchiveDuration":60,"rateLimitPerUser":5,"auditReason":"canary-reason"`),
			Sends: []string{`POST /channels/1200000000000000315/threads {"name":"canary-title","auto_archive_duration":60,"rate_limit_per_user":5,` +
				`"applied_tags":["1200000000000000332","1200000000000000331"],"message":{"content":"canary-text <@1200000000000000104>",` + notifiesOne + `}}`},
			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{
				"channels": {string(sandbox.DemoHelp)}, "mentionUsers": {string(sandbox.DemoMember)},
			}},
			Secrets: []string{"canary", "Lighthouse", "help"},
		},
		Route: "POST /channels/{channel_id}/threads", ReadBack: "GET /channels/{channel_id}", Skip: 8,
		Change: func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoHelp, func(c *sandbox.Channel) { c.Tags[0].Name = "Defect" })
		},
	}
}

func TestForumPost(t *testing.T) {
	t.Parallel()
	s := forumPosting()
	plain := func(more string) string { return inHelp(`"name":"x","content":"y",` + more) }
	bug := fmt.Sprintf(`"tagIds":["%s"]`, sandbox.DemoBugTag)
	lacks := func(p discord.Permissions, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: "without " + p.String(), Code: mcpcore.CodePermission, Args: plain(more), Before: world(func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoHelp, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: p})
		})}
	}
	s.Refusals = []operationtest.Refusal{
		{Name: "a text channel", Code: mcpcore.CodePlanRefused, Reason: "no-forum", Policy: permits(s.Workflow, "channels", string(sandbox.DemoGeneral)),
			Args: ofGeneral(`"name":"x","content":"y"`)},
		{Name: "a media channel", Code: mcpcore.CodePlanRefused, Reason: "no-forum", Before: world(func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoHelp, func(c *sandbox.Channel) { c.Type = discord.GuildMedia })
		})},
		{Name: "no tag", Code: mcpcore.CodePlanRefused, Reason: "tag-required", Args: inHelp(`"name":"x","content":"y"`)},
		{Name: "a tag of another forum", Code: mcpcore.CodePlanRefused, Reason: "tag-missing", Args: plain(`"tagIds":["1200000000000000339"]`)},
		{Name: "six tags", Code: mcpcore.CodeValidation, Args: plain(`"tagIds":` + quoted(
			"1200000000000000331", "1200000000000000332", "1200000000000000333", "1200000000000000334", "1200000000000000335", "1200000000000000336"))},
		{Name: "a user whom the text does not mention", Code: mcpcore.CodePlanRefused, Reason: "not-mentioned", Args: plain(bug + `,"mentionUserIds":["1200000000000000104"]`)},
		{Name: "a user whom the policy does not name", Code: mcpcore.CodeWorkflowScope, Args: plain(bug + `,"mentionUserIds":["1200000000000000101"]`)},
		{Name: "no title", Code: mcpcore.CodeValidation, Args: inHelp(`"name":" ","content":"y",` + bug)},
		{Name: "no text", Code: mcpcore.CodeValidation, Args: inHelp(`"name":"x","content":" ",` + bug)},
		{Name: "a duration that Discord does not have", Code: mcpcore.CodeValidation, Args: plain(bug + `,"autoArchiveDuration":61`)},
		{Name: "a slow mode beyond six hours", Code: mcpcore.CodeValidation, Args: plain(bug + `,"rateLimitPerUser":21601`)},
		lacks(discord.ViewChannel, bug), lacks(discord.ReadMessageHistory, bug), lacks(discord.SendMessages, bug),
		lacks(discord.ManageThreads, fmt.Sprintf(`"tagIds":["%s"]`, sandbox.DemoSolvedTag)),
	}
	s.run(t)
}

func TestForumPosts(t *testing.T) {
	t.Parallel()
	s := forumPosting()
	s.writes(t, inHelp(`"name":"x","content":"y","tagIds":["1200000000000000333"]`),
		`POST /channels/1200000000000000315/threads {"name":"x","applied_tags":["1200000000000000333"],"message":{"content":"y","allowed_mentions":{"parse":[],"users":[],"replied_user":false}}}`)
	s.Before = func(d *sandbox.Discord) {
		d.EditChannel(sandbox.DemoHelp, func(c *sandbox.Channel) { c.Flags = 0 })
	}
	s.writes(t, inHelp(`"name":"x","content":"y"`),
		`POST /channels/1200000000000000315/threads {"name":"x","message":{"content":"y","allowed_mentions":{"parse":[],"users":[],"replied_user":false}}}`)
}

func TestForumPostThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := forumPosting()
	const message = "GET /channels/{channel_id}/messages/{message_id}"
	for name, row := range map[string][3]string{
		"in another forum": {s.Route, `"parent_id":"1200000000000000315"`, `"parent_id":"1200000000000000314"`},
		"another's":        {s.Route, `"owner_id":"1100000000000000001"`, `"owner_id":"1200000000000000104"`},
		"without an id":    {s.Route, `"id":"14`, `"id":"x`},
		"locked":           {s.ReadBack, `"locked":false`, `"locked":true`},
		"another's text":   {message, `"id":"1100000000000000001"`, `"id":"1200000000000000104"`},
	} {
		s.after(row[0], row[1], row[2]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	s.after(s.ReadBack, `canary-title`, `else`).drifts(t, "name")
	s.after(s.ReadBack, `"auto_archive_duration":60`, `"auto_archive_duration":1440`).drifts(t, "autoArchiveDuration")
	s.after(s.ReadBack, `"applied_tags":["1200000000000000332",`, `"applied_tags":[`).drifts(t, "tags")
	s.after(message, `canary-text`, `else`).drifts(t, "content")
	s.after(message, `"mention_everyone":false`, `"mention_everyone":true`).drifts(t, "mentions")
}
