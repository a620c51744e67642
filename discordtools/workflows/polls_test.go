package workflows_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const (
	ownPoll  discord.MessageID = "1200000000000000592"
	pollRoom discord.ChannelID = "1200000000000000396" // for voices
)

// pollArgs are a poll's arguments.
func pollArgs(in discord.ChannelID, more string) string {
	return fmt.Sprintf(`{"channelId":"%s","question":" canary-question ","answers":[{"text":"canary-yes","emoji":"👍"},{"text":" canary-no "}],"durationHours":24%s}`, in, more)
}

// asked is what is sent for it, with the nonce of the first key.
func asked(in discord.ChannelID, multi bool) string {
	return fmt.Sprintf(`POST /channels/%s/messages {"poll":{"question":{"text":"canary-question"},"answers":[{"poll_media":{"text":"canary-yes","emoji":{"name":"👍"}}},`+
		`{"poll_media":{"text":"canary-no"}}],"allow_multiselect":%t,"layout_type":1,"duration":24},"allowed_mentions":{"parse":[],"users":[],"replied_user":false},`+
		`"nonce":"%s","enforce_nonce":true}`, in, multi, nonceOf(firstKey))
}

// nonceOf is the nonce of an operation key.
func nonceOf(key string) string {
	return strings.TrimPrefix(string(mcpcore.HashKey(key)), "sha256:")[:25]
}

func pollPosting() scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "poll-creation", Plan: "plan_poll_creation", Execute: "execute_poll_creation",
			Args: pollArgs(sandbox.DemoGeneral, ""), Sends: []string{asked(sandbox.DemoGeneral, false)},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Secrets: []string{"canary", "Lighthouse", "general"},
		},
		Route: "POST /channels/{channel_id}/messages", ReadBack: "GET /channels/{channel_id}/messages/{message_id}",
		Change: func(d *sandbox.Discord) { d.AddRole(sandbox.DemoGuild, sandbox.Role{Name: "another"}) },
	}
}

// addRoom adds a voice channel in which the bot lacks permissions.
func addRoom(deny discord.Permissions) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddChannel(sandbox.Channel{ID: pollRoom, Guild: sandbox.DemoGuild, Type: discord.GuildVoice, Name: "canary-voice"})
		d.SetOverwrite(pollRoom, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: deny})
	}
}

// closedThread adds a thread that is archived or locked, which a bot that
// manages no threads cannot open.
func closedThread(archived, locked bool) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddChannel(sandbox.Channel{ID: closed, Guild: sandbox.DemoGuild, Type: discord.PublicThread, Parent: sandbox.DemoGeneral, Name: "x",
			Thread: &sandbox.Thread{Owner: sandbox.DemoMember, Archived: archived, Locked: locked}})
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.SendPolls)
	}
}

func TestPollCreation(t *testing.T) {
	t.Parallel()
	s := pollPosting()
	invalid := func(name, from, to string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodeValidation, Args: strings.Replace(s.Args, from, to, 1)}
	}
	elsewhere := func(name string, in discord.ChannelID, code mcpcore.Code, reason string, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: code, Reason: reason, Args: pollArgs(in, ""), Policy: permits(s.Workflow, "channels", string(in)), Before: world(before)}
	}
	ofChannel := elsewhere("a thread by its channel's entry", sandbox.DemoThread, mcpcore.CodeWorkflowScope, "", func(*sandbox.Discord) {})
	ofChannel.Policy = nil
	s.Refusals = []operationtest.Refusal{
		{Name: "a channel that cannot be seen", Code: mcpcore.CodePermission, Before: without(discord.ViewChannel)},
		{Name: "a history that cannot be read", Code: mcpcore.CodePermission, Before: without(discord.ReadMessageHistory)},
		{Name: "a channel that cannot be posted into", Code: mcpcore.CodePermission, Before: without(discord.SendMessages)},
		{Name: "no polls", Code: mcpcore.CodePermission, Before: without(discord.SendPolls)},
		elsewhere("a thread that cannot be posted into", sandbox.DemoThread, mcpcore.CodePermission, "", func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoGeneral, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: discord.SendMessagesInThreads})
		}),
		elsewhere("a voice channel that cannot be joined", pollRoom, mcpcore.CodePermission, "", addRoom(discord.Connect)),
		elsewhere("a forum", sandbox.DemoHelp, mcpcore.CodePlanRefused, "no-text", func(*sandbox.Discord) {}),
		elsewhere("an archived thread", closed, mcpcore.CodePlanRefused, "thread-closed", closedThread(true, false)),
		elsewhere("a locked thread", closed, mcpcore.CodePlanRefused, "thread-closed", closedThread(false, true)),
		ofChannel,
		invalid("one answer", `,{"text":" canary-no "}`, ""),
		invalid("eleven answers", `{"text":" canary-no "}`, strings.Repeat(`{"text":"x"},`, 9)+`{"text":"y"}`),
		invalid("a long question", "canary-question", strings.Repeat("x", 299)),
		invalid("a long answer", " canary-no ", strings.Repeat("x", 56)),
		invalid("a blank question", " canary-question ", "  "),
		invalid("a blank answer", " canary-no ", " "),
		invalid("a custom emoji", "👍", "lighthouse:1200000000000000401"),
		invalid("a word as an emoji", "👍", "thumbsup"),
		invalid("no time", `"durationHours":24`, `"durationHours":0`),
		invalid("more than 32 days", `"durationHours":24`, `"durationHours":769`),
		invalid("text above the poll", `"durationHours":24`, `"durationHours":24,"content":"x"`),
	}
	s.run(t)
}

func TestPollsArePosted(t *testing.T) {
	t.Parallel()
	s := pollPosting()
	s.Permit.Scopes = map[string][]string{"channels": {string(sandbox.DemoThread), string(pollRoom)}}
	s.Before = addRoom(discord.ManageMessages)
	s.writes(t, pollArgs(sandbox.DemoThread, `,"allowMultiselect":true`), asked(sandbox.DemoThread, true))
	s.writes(t, pollArgs(pollRoom, ""), asked(pollRoom, false))
}

func TestPollThatIsNotAsPosted(t *testing.T) {
	t.Parallel()
	s := pollPosting()
	open := func(s scene, name string) {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	open(s.answered(s.Route, `"channel_id":"1200000000000000313"`, `"channel_id":"1200000000000000314"`), "a poll in another channel")
	open(s.answered(s.Route, `"id":"1100000000000000001"`, `"id":"1100000000000000002"`), "somebody else's poll")
	open(s.after(s.ReadBack, `"poll":`, `"pall":`), "no poll")
	open(s.after(s.ReadBack, `"results":`, `"outcome":`), "a poll without results")
	s.after(s.ReadBack, "canary-no", "canary-nay").drifts(t, "poll")
	s.after(s.ReadBack, "👍", "👎").drifts(t, "poll")
	s.after(s.ReadBack, `"allow_multiselect":false`, `"allow_multiselect":true`).drifts(t, "poll")
	s.after(s.ReadBack, "2026-03-15T15:", "2026-03-15T16:").drifts(t, "durationHours")
	s.after(s.ReadBack, `"is_finalized":false`, `"is_finalized":true`).drifts(t, "durationHours")
	s.after(s.ReadBack, `"content":""`, `"content":"x"`).drifts(t, "message")
	s.after(s.ReadBack, `"mention_everyone":false`, `"mention_everyone":true`).drifts(t, "mentions")
	s.with("👍", "❤️").after(s.ReadBack, "❤️", "❤").ends(t, "an emoji without its selector", "", "completed", mcpcore.StatusCompleted)
}

// ending is an end of a poll of the bot's with two votes.
func ending() scene {
	now := time.Now()
	return scene{
		Subject: operationtest.Subject{
			Workflow: "poll-end", Plan: "plan_poll_end", Execute: "execute_poll_end",
			Args:  fmt.Sprintf(`{"channelId":"%s","messageId":"%s"}`, sandbox.DemoGeneral, ownPoll),
			Sends: []string{"POST /channels/1200000000000000313/polls/1200000000000000592/expire"}, Resource: string(ownPoll),
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoGeneral)}}},
			Secrets: []string{"canary", "Lighthouse", "general"},
		},
		Route: "POST /channels/{channel_id}/polls/{message_id}/expire", ReadBack: "GET /channels/{channel_id}/messages/{message_id}", Skip: 4,
		Clock:  func() time.Time { return now },
		Before: addPoll(sandbox.Message{}),
		Change: changePoll(func(p *sandbox.Poll) { p.Answers[1].Voters = append(p.Answers[1].Voters, sandbox.DemoModerator) }),
		Settle: changePoll(func(p *sandbox.Poll) { p.Final, p.Expires = true, time.Now() }),
	}
}

func addPoll(m sandbox.Message) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		m.ID = ownPoll
		m.Poll = &sandbox.Poll{Question: "canary-question", Expires: time.Now().Add(24 * time.Hour).Truncate(time.Second), Answers: []sandbox.PollAnswer{
			{Text: "canary-yes", Emoji: &sandbox.EmojiRef{Name: "👍"}, Voters: []discord.UserID{sandbox.DemoMember, sandbox.DemoAdmin}}, {Text: "canary-no"},
		}}
		d.AddMessage(sandbox.DemoGeneral, m)
	}
}

func changePoll(f func(p *sandbox.Poll)) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.ChangeMessage(sandbox.DemoGeneral, ownPoll, func(m *sandbox.Message) { f(m.Poll) })
	}
}

func TestPollEnd(t *testing.T) {
	t.Parallel()
	s := ending()
	instead := func(name string, code mcpcore.Code, reason string, id discord.MessageID, in discord.ChannelID) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: code, Reason: reason, Args: fmt.Sprintf(`{"channelId":"%s","messageId":"%s"}`, in, id),
			Policy: permits(s.Workflow, "channels", string(in))}
	}
	room := instead("a voice channel that cannot be joined", mcpcore.CodePermission, "", ownPoll, pollRoom)
	room.Before = world(addRoom(discord.Connect))
	hooked := instead("a webhook's poll", mcpcore.CodePlanRefused, "not-own", ownPoll, sandbox.DemoGeneral)
	hooked.Before = world(changeMessage(func(m *sandbox.Message) { m.Webhook = "1200000000000000701" }))
	plain := instead("a message without a poll", mcpcore.CodePlanRefused, "no-poll", ownPoll, sandbox.DemoGeneral)
	plain.Before = world(changeMessage(func(m *sandbox.Message) { m.Poll = nil }))
	s.Refusals = []operationtest.Refusal{
		{Name: "a channel that cannot be seen", Code: mcpcore.CodePermission, Before: without(discord.ViewChannel)},
		{Name: "a history that cannot be read", Code: mcpcore.CodePermission, Before: without(discord.ReadMessageHistory)},
		{Name: "a bot that manages no messages", Code: mcpcore.CodePermission, Before: without(discord.ManageMessages)},
		room, hooked, plain,
		instead("another's poll", mcpcore.CodePlanRefused, "not-own", sandbox.DemoPoll, sandbox.DemoGeneral),
		instead("no such message", mcpcore.CodeNotFound, "", ownPoll, sandbox.DemoThread),
	}
	s.run(t)
}

func changeMessage(f func(m *sandbox.Message)) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { d.ChangeMessage(sandbox.DemoGeneral, ownPoll, f) }
}

func TestPollThatIsNotAsEnded(t *testing.T) {
	t.Parallel()
	s := ending()
	open := func(s scene, name string) {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	goesOn := func(route string) scene {
		s := s
		s.REST = func(rest discordtools.REST) discordtools.REST {
			now := s.Clock().UTC()
			later := replaced{rest, route, now.Format(`"expiry":"2006-01-02`), now.AddDate(1, 0, 0).Format(`"expiry":"2006-01-02`), new(atomic.Bool)}
			return replaced{later, route, `"is_finalized":true`, `"is_finalized":false`, new(atomic.Bool)}
		}
		return s
	}
	open(s.answered(s.Route, `"id":"1200000000000000592"`, `"id":"1200000000000000593"`), "another poll")
	open(goesOn(s.Route), "an answer with an open poll")
	open(goesOn(s.ReadBack), "a poll that goes on")
	s.after(s.ReadBack, `"is_finalized":true`, `"is_finalized":false`).drifts(t, "finalized")
	s.after(s.ReadBack, `"count":2`, `"count":3`).drifts(t, "votes")
	s.after(s.ReadBack, "canary-yes", "canary-aye").drifts(t, "poll")
	s.observed(changePoll(func(p *sandbox.Poll) { p.Expires = time.Now().Add(-time.Minute) })).ends(t, "a poll that ran out", "", "already-current", "")
}
