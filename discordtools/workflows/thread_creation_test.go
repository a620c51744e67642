package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// threading starts a thread on a message of general.
func threading() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "thread-creation", Plan: "plan_thread_creation", Execute: "execute_thread_creation",
			Args:     in(sandbox.DemoGeneral, `"kind":"from-message","messageId":"`+string(someOne)+`","name":" canary-thread ","autoArchiveDuration":60,"rateLimitPerUser":0,"auditReason":"canary-reason"`),
			Sends:    []string{`POST /channels/1200000000000000313/messages/` + string(someOne) + `/threads {"name":"canary-thread","auto_archive_duration":60,"rate_limit_per_user":0}`},
			Permit:   mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Resource: string(someOne), Secrets: []string{"canary", "Lighthouse", "general"},
		},
		Route: "POST /channels/{channel_id}/messages/{message_id}/threads", ReadBack: "GET /channels/{channel_id}", Skip: 8,
		Before: posted(sandbox.DemoGeneral, sandbox.Message{ID: someOne, Author: sandbox.DemoMember, Content: "canary-content"}),
		Change: func(d *sandbox.Discord) {
			d.EditMessage(sandbox.DemoGeneral, someOne, func(m *sandbox.Message) { m.Content = "canary-edited" })
		},
		Settle: func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{ID: discord.ChannelID(someOne), Guild: sandbox.DemoGuild, Type: discord.PublicThread, Parent: sandbox.DemoGeneral,
				Name: "before", Thread: &sandbox.Thread{Owner: sandbox.DemoMember, Archived: true}})
		},
	}
}

func TestThreadCreation(t *testing.T) {
	t.Parallel()
	s := threading()
	in := func(c discord.ChannelID, name, reason, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePlanRefused, Reason: reason, Policy: permits(s.Workflow, "channels", string(c)), Args: in(c, more)}
	}
	lacks := func(p discord.Permissions, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: "without " + p.String(), Code: mcpcore.CodePermission, Before: without(p), Args: ofGeneral(more)}
	}
	wrong := func(name, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodeValidation, Args: ofGeneral(more)}
	}
	const public, private = `"kind":"standalone-public","name":"x"`, `"kind":"standalone-private","name":"x"`
	s.Refusals = []operationtest.Refusal{
		in(sandbox.DemoAnnouncements, "a private thread of an announcement channel", "channel-type", private),
		in(sandbox.DemoHelp, "a forum", "channel-type", public), in(sandbox.DemoLounge, "a voice channel", "channel-type", public),
		in(sandbox.DemoThread, "a thread", "channel-type", public), in(sandbox.DemoInfo, "a category", "channel-type", public),
		lacks(discord.ViewChannel, public), lacks(discord.CreatePublicThreads, public), lacks(discord.CreatePrivateThreads, private),
		{Name: "a history that cannot be read", Code: mcpcore.CodePermission, Before: without(discord.ReadMessageHistory)},
		{Name: "no such message", Code: mcpcore.CodeNotFound, Args: ofGeneral(`"kind":"from-message","messageId":"1200000000000000599","name":"x"`)},
		wrong("no message", `"kind":"from-message","name":"x"`), wrong("a message too many", public+`,"messageId":"`+string(someOne)+`"`),
		wrong("a public thread to which members are added", public+`,"invitable":true`), wrong("no name", `"kind":"standalone-public","name":" "`),
	}
	s.run(t)
}

func ofGeneral(more string) string { return in(sandbox.DemoGeneral, more) }

func TestThreadsThatAreStarted(t *testing.T) {
	t.Parallel()
	s := threading()
	s.writes(t, ofGeneral(`"kind":"standalone-public","name":"x"`), `POST /channels/1200000000000000313/threads {"name":"x","type":11}`)
	s.writes(t, ofGeneral(`"kind":"standalone-private","name":"x","invitable":false,"rateLimitPerUser":5`),
		`POST /channels/1200000000000000313/threads {"name":"x","rate_limit_per_user":5,"type":12,"invitable":false}`)
	s.Permit.Scopes = map[string][]string{"channels": {string(sandbox.DemoAnnouncements)}}
	s.writes(t, in(sandbox.DemoAnnouncements, `"kind":"standalone-public","name":"x"`), `POST /channels/1200000000000000312/threads {"name":"x","type":10}`)
	s.writes(t, in(sandbox.DemoAnnouncements, `"kind":"from-message","messageId":"`+string(sandbox.DemoNews)+`","name":"x"`),
		`POST /channels/1200000000000000312/messages/1200000000000000502/threads {"name":"x"}`)
}

func TestThreadThatIsNotAsStarted(t *testing.T) {
	t.Parallel()
	s := threading()
	for name, row := range map[string][3]string{
		"in another channel":        {s.Route, `"parent_id":"1200000000000000313"`, `"parent_id":"1200000000000000314"`},
		"another's":                 {s.Route, `"owner_id":"1100000000000000001"`, `"owner_id":"1200000000000000104"`},
		"of another type":           {s.Route, `"type":11`, `"type":12`},
		"on another message":        {s.Route, `"id":"` + string(someOne) + `"`, `"id":"1200000000000000599"`},
		"locked":                    {s.ReadBack, `"locked":false`, `"locked":true`},
		"archived":                  {s.ReadBack, `"archived":false`, `"archived":true`},
		"another's by what is read": {s.ReadBack, `"owner_id":"1100000000000000001"`, `"owner_id":"1200000000000000104"`},
	} {
		s.after(row[0], row[1], row[2]).ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	s.after(s.ReadBack, `canary-thread`, `else`).drifts(t, "name")
	s.after(s.ReadBack, `"auto_archive_duration":60`, `"auto_archive_duration":1440`).drifts(t, "autoArchiveDuration")
	s.after(s.ReadBack, `"rate_limit_per_user":0`, `"rate_limit_per_user":9`).drifts(t, "rateLimitPerUser")
	s.Args = ofGeneral(`"kind":"standalone-private","name":"x","invitable":false`)
	s.after(s.ReadBack, `"invitable":false`, `"invitable":true`).drifts(t, "invitable")
}
