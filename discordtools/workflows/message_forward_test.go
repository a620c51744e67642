package workflows_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func forwardArgs(source discord.ChannelID, id discord.MessageID, target discord.ChannelID) string {
	return fmt.Sprintf(`{"sourceChannelId":"%s","messageId":"%s","targetChannelId":"%s"}`, source, id, target)
}

// forwardSent is the request for a forward.
func forwardSent(source discord.ChannelID, id discord.MessageID, target discord.ChannelID) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%s", source, id, target))
	return fmt.Sprintf(`POST /channels/%s/messages {"message_reference":{"type":1,"channel_id":"%s","message_id":"%s","fail_if_not_exists":true},`+
		`"allowed_mentions":{"parse":[],"users":[],"replied_user":false},"flags":4096,"nonce":"%s","enforce_nonce":true}`,
		target, source, id, hex.EncodeToString(sum[:])[:25])
}

// betweenChannels lets a workflow act from one channel to another.
func betweenChannels(workflow string, source, target discord.ChannelID) func(p *mcpcore.WorkflowPolicy) {
	return func(p *mcpcore.WorkflowPolicy) {
		p.Permits[workflow] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"sources": {string(source)}, "targets": {string(target)}}}
	}
}

// passingOn forwards a member's message with a file from general to announcements.
func passingOn() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "message-forward", Plan: "plan_message_forward", Execute: "execute_message_forward",
			Args:  forwardArgs(sandbox.DemoGeneral, someOne, sandbox.DemoAnnouncements),
			Sends: []string{forwardSent(sandbox.DemoGeneral, someOne, sandbox.DemoAnnouncements)},
			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{
				"sources": {string(sandbox.DemoGeneral)}, "targets": {string(sandbox.DemoAnnouncements)},
			}},
			Secrets: []string{"canary", "Lighthouse", "announcements"},
		},
		Route: "POST /channels/{channel_id}/messages", ReadBack: "GET /channels/{channel_id}/messages/{message_id}", Skip: 4,
		Before: posted(sandbox.DemoGeneral, sandbox.Message{ID: someOne, Author: sandbox.DemoMember, Content: "canary-content",
			Attachments: []sandbox.Attachment{{ID: "1200000000000000699", Name: "canary.txt", Size: 9}}}),
		Change: func(d *sandbox.Discord) {
			d.EditMessage(sandbox.DemoGeneral, someOne, func(m *sandbox.Message) { m.Content = "canary-edited" })
		},
	}
}

func TestMessageForward(t *testing.T) {
	t.Parallel()
	s := passingOn()
	between := func(name, reason string, source, target discord.ChannelID) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Args: forwardArgs(source, someOne, target),
			Policy: betweenChannels(s.Workflow, source, target)}
	}
	there := func(name string, m sandbox.Message) operationtest.Refusal {
		m.ID = "1200000000000000597"
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: "not-plain",
			Args: forwardArgs(sandbox.DemoGeneral, m.ID, sandbox.DemoAnnouncements), Before: world(posted(sandbox.DemoGeneral, m))}
	}
	lacks := func(where string, before func(*operationtest.World)) operationtest.Refusal {
		return operationtest.Refusal{Name: where, Code: mcpcore.CodePermission, Before: before}
	}
	abroad := between("another guild that the policy does not name apart", "", sandbox.DemoGeneral, sandbox.DemoClubGeneral)
	abroad.Code = mcpcore.CodeWorkflowScope
	s.Refusals = []operationtest.Refusal{
		between("out of a thread", "source-type", sandbox.DemoThread, sandbox.DemoAnnouncements), between("into a thread", "target-type", sandbox.DemoGeneral, sandbox.DemoThread),
		between("out of a voice channel", "source-type", sandbox.DemoLounge, sandbox.DemoGeneral), between("into a forum", "target-type", sandbox.DemoGeneral, sandbox.DemoHelp),
		{Name: "into its own channel", Code: mcpcore.CodeValidation, Args: forwardArgs(sandbox.DemoGeneral, someOne, sandbox.DemoGeneral),
			Policy: betweenChannels(s.Workflow, sandbox.DemoGeneral, sandbox.DemoGeneral)},
		abroad,
		{Name: "a source that the policy does not name", Code: mcpcore.CodeWorkflowScope, Args: forwardArgs(sandbox.DemoShowcase, sandbox.DemoSketch, sandbox.DemoAnnouncements)},
		{Name: "a target that the policy does not name", Code: mcpcore.CodeWorkflowScope, Args: forwardArgs(sandbox.DemoGeneral, someOne, sandbox.DemoShowcase)},
		blocked("age-restricted", func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoGeneral, func(c *sandbox.Channel) { c.NSFW = true })
		}),
		there("a poll", sandbox.Message{Poll: &sandbox.Poll{Question: "x", Answers: []sandbox.PollAnswer{{Text: "y"}}, Expires: at.AddDate(0, 0, 1)}}),
		there("a message of Discord", sandbox.Message{Type: 7}),
		there("a forward", sandbox.Message{Forwarded: &sandbox.Message{Content: "x"}, Flags: 1 << 14,
			Reference: &sandbox.Reference{Type: 1, Channel: sandbox.DemoGeneral, Message: sandbox.DemoPoll}}),
		{Name: "no such message", Code: mcpcore.CodeNotFound, Args: forwardArgs(sandbox.DemoGeneral, "1200000000000000599", sandbox.DemoAnnouncements)},
		{Name: "no message content intent", Code: mcpcore.CodePlanRefused, Reason: "intent-missing", Before: world(func(d *sandbox.Discord) { d.SetApplicationFlags(0) })},
		lacks("a source that cannot be seen", without(discord.ViewChannel)), lacks("a source that cannot be read", without(discord.ReadMessageHistory)),
		lacks("a target that cannot be seen", world(unannounced(discord.ViewChannel))), lacks("a target that cannot be read", world(unannounced(discord.ReadMessageHistory))),
		lacks("a target that cannot be posted into", world(unannounced(discord.SendMessages))),
	}
	s.run(t)
}

func TestForwards(t *testing.T) {
	t.Parallel()
	s := passingOn()
	// What is said among adults stays among adults.
	s.Before = func(d *sandbox.Discord) {
		passingOn().Before(d)
		for _, c := range []discord.ChannelID{sandbox.DemoGeneral, sandbox.DemoAnnouncements} {
			d.EditChannel(c, func(c *sandbox.Channel) { c.NSFW = true })
		}
	}
	s.writes(t, s.Args, s.Sends...)
	s.Before = posted(sandbox.DemoGeneral, sandbox.Message{ID: someOne, Content: "x", Type: 19, Reference: &sandbox.Reference{Channel: sandbox.DemoGeneral, Message: sandbox.DemoPoll}})
	s.writes(t, s.Args, s.Sends...)
	s.Before = passingOn().Before
	s.Permit.Scopes = map[string][]string{
		"sources": {string(sandbox.DemoGeneral)}, "targets": {string(sandbox.DemoClubGeneral)}, "crossGuildTargets": {string(sandbox.DemoClubGeneral)},
	}
	s.writes(t, forwardArgs(sandbox.DemoGeneral, someOne, sandbox.DemoClubGeneral), forwardSent(sandbox.DemoGeneral, someOne, sandbox.DemoClubGeneral))
}

func TestForwardThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := passingOn()
	s.after(s.ReadBack, `"id":"1200000000000000699"`, `"id":"1200000000000000698"`).ends(t, "a copy of the file", "", "completed", mcpcore.StatusCompleted)
	for name, row := range map[string][3]string{
		"in another channel":          {s.Route, `"channel_id":"1200000000000000312"`, `"channel_id":"1200000000000000314"`},
		"another's":                   {s.Route, `"id":"1100000000000000001"`, `"id":"1200000000000000104"`},
		"without an id":               {s.Route, `"id":"14`, `"id":"x`},
		"of another message":          {s.Route, `"message_id":"` + string(someOne) + `"`, `"message_id":"1200000000000000599"`},
		"a reply":                     {s.Route, `"message_reference":{"type":1`, `"message_reference":{"type":0`},
		"another text":                {s.Route, `canary-content`, `else`},
		"another file":                {s.ReadBack, `"size":9`, `"size":8`},
		"another text read back":      {s.ReadBack, `canary-content`, `else`},
		"nothing carried":             {s.ReadBack, `"message_snapshots"`, `"message_snapshot"`},
		"somebody notified":           {s.ReadBack, `"mention_everyone":false`, `"mention_everyone":true`},
		"another message than it was": {s.ReadBack, `"id":"14`, `"id":"15`},
	} {
		s.after(row[0], row[1], row[2]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
}
