package workflows_test

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// publishing publishes a member's message of the announcement channel.
func publishing() scene {
	edit := func(f func(m *sandbox.Message)) func(d *sandbox.Discord) {
		return func(d *sandbox.Discord) { d.EditMessage(sandbox.DemoAnnouncements, someOne, f) }
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "announcement-crosspost", Plan: "plan_announcement_crosspost", Execute: "execute_announcement_crosspost",
			Args:     in(sandbox.DemoAnnouncements, `"messageId":"`+string(someOne)+`"`),
			Sends:    []string{`POST /channels/1200000000000000312/messages/` + string(someOne) + `/crosspost`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoAnnouncements)}}},
			Resource: string(someOne), Secrets: []string{"canary", "Lighthouse", "announcements"},
		},
		Route: "POST /channels/{channel_id}/messages/{message_id}/crosspost", ReadBack: "GET /channels/{channel_id}/messages/{message_id}", Skip: 4,
		Before: posted(sandbox.DemoAnnouncements, sandbox.Message{ID: someOne, Author: sandbox.DemoMember, Content: "canary-content", Embeds: []sandbox.Embed{{Title: "canary-title"}}}),
		Change: edit(func(m *sandbox.Message) { m.Embeds = []sandbox.Embed{{Title: "canary-edited"}} }),
		Settle: edit(func(m *sandbox.Message) { m.Flags = 1 }),
	}
}

// unannounced takes a permission from the bot in the announcement channel.
func unannounced(p discord.Permissions) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.SetOverwrite(sandbox.DemoAnnouncements, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Allow: discord.SendMessages &^ p, Deny: p})
	}
}

func TestAnnouncementCrosspost(t *testing.T) {
	t.Parallel()
	s := publishing()
	there := func(name, reason string, m sandbox.Message) operationtest.Refusal {
		m.ID = "1200000000000000597"
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Args: strings.ReplaceAll(s.Args, string(someOne), string(m.ID)),
			Before: world(posted(sandbox.DemoAnnouncements, m))}
	}
	elsewhere := func(name string, c discord.ChannelID) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: "channel-type", Policy: permits(s.Workflow, "channels", string(c)),
			Args: in(c, `"messageId":"`+string(someOne)+`"`)}
	}
	lacks := func(p discord.Permissions) operationtest.Refusal {
		return operationtest.Refusal{Name: "without " + p.String(), Code: mcpcore.CodePermission, Before: world(unannounced(p))}
	}
	const thread discord.ChannelID = "1200000000000000398"
	inThread := elsewhere("a thread of the channel", thread)
	inThread.Before = world(func(d *sandbox.Discord) {
		d.AddChannel(sandbox.Channel{ID: thread, Guild: sandbox.DemoGuild, Type: discord.AnnouncementThread, Parent: sandbox.DemoAnnouncements, Name: "x",
			Thread: &sandbox.Thread{Owner: sandbox.DemoMember}})
	})
	s.Refusals = []operationtest.Refusal{
		elsewhere("a text channel", sandbox.DemoGeneral), inThread,
		{Name: "no such message", Code: mcpcore.CodeNotFound, Args: in(sandbox.DemoAnnouncements, `"messageId":"1200000000000000599"`)},
		there("a reply", "not-plain", sandbox.Message{Content: "x", Type: 19, Reference: &sandbox.Reference{Channel: sandbox.DemoAnnouncements, Message: sandbox.DemoNews}}),
		there("a message of Discord", "not-plain", sandbox.Message{Type: 7}),
		there("a poll", "not-plain", sandbox.Message{Poll: &sandbox.Poll{Question: "x", Answers: []sandbox.PollAnswer{{Text: "y"}}, Expires: at.AddDate(0, 0, 1)}}),
		there("a forward", "not-plain", sandbox.Message{Forwarded: &sandbox.Message{Content: "x"},
			Reference: &sandbox.Reference{Type: 1, Channel: sandbox.DemoGeneral, Message: sandbox.DemoPoll}}),
		{Name: "no message content intent", Code: mcpcore.CodePlanRefused, Reason: "intent-missing", Before: world(func(d *sandbox.Discord) { d.SetApplicationFlags(0) })},
		lacks(discord.ViewChannel), lacks(discord.ReadMessageHistory), lacks(discord.SendMessages), lacks(discord.ManageMessages),
	}
	s.run(t)
}

// The bot's own messages take no MANAGE_MESSAGES.
func TestOwnMessageIsPublished(t *testing.T) {
	t.Parallel()
	s := publishing()
	s.Before = func(d *sandbox.Discord) {
		d.AddMessage(sandbox.DemoAnnouncements, sandbox.Message{ID: someOne, Content: "x"})
		unannounced(discord.ManageMessages)(d)
	}
	s.writes(t, s.Args, s.Sends...)
}

func TestCrosspostThatIsNotAsWritten(t *testing.T) {
	t.Parallel()
	s := publishing()
	for name, row := range map[string][3]string{
		"another message": {s.Route, `"id":"` + string(someOne) + `"`, `"id":"1200000000000000599"`},
		"another channel": {s.Route, `"channel_id":"1200000000000000312"`, `"channel_id":"1200000000000000313"`},
		"not published":   {s.Route, `"flags":1`, `"flags":0`},
		"another text":    {s.Route, `canary-content`, `else`},
		"not any more":    {s.ReadBack, `"flags":1`, `"flags":0`},
	} {
		s.after(row[0], row[1], row[2]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	s.after(s.ReadBack, `canary-title`, `else`).drifts(t, "message")
}
