package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// unreacting removes reactions of the sketch, under which three people reacted
// with two emojis.
func unreacting(more string) scene {
	return scene{
		Subject: operationtest.Subject{
			Workflow: "reaction-moderation", Plan: "plan_reaction_moderation", Execute: "execute_reaction_moderation",
			Args:     fmt.Sprintf(`{"channelId":"%s","messageId":"%s","auditReason":"canary-reason",%s}`, sandbox.DemoShowcase, sandbox.DemoSketch, more),
			Resource: string(sandbox.DemoSketch), Secrets: []string{"canary", "Lighthouse", "showcase", "sketch"},
			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"channels": {string(sandbox.DemoShowcase)}}},
		},
		ReadBack: "GET /channels/{channel_id}/messages/{message_id}", Skip: 4,
		Change: underSketch(func(m *sandbox.Message) { m.Reactions[0].Users = append(m.Reactions[0].Users, sandbox.DemoMember) }),
		Rename: underSketch(func(m *sandbox.Message) { m.Content = "canary-words" }),
		Settle: underSketch(func(m *sandbox.Message) { m.Reactions = nil }),
	}
}

const underSketchPath = "/channels/1200000000000000314/messages/1200000000000000504/reactions"

func underSketch(f func(m *sandbox.Message)) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { d.ChangeMessage(sandbox.DemoShowcase, sandbox.DemoSketch, f) }
}

func reactedSelf(m *sandbox.Message) {
	m.Reactions[1].Users = append(m.Reactions[1].Users, sandbox.BotID)
}

func ofOne() scene {
	s := unreacting(`"scope":"user","emoji":"🔥","userId":"1200000000000000103"`)
	s.Route, s.Sends = "DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/{user_id}", []string{"DELETE " + underSketchPath + "/🔥/1200000000000000103"}
	return s
}

func ofEmoji() scene {
	s := unreacting(`"scope":"emoji","emoji":"<:lighthouse:1200000000000000401>"`)
	s.Route, s.Sends = "DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}", []string{"DELETE " + underSketchPath + "/lighthouse:1200000000000000401"}
	return s
}

func ofAll() scene {
	s := unreacting(`"scope":"all"`)
	s.Route, s.Sends = "DELETE /channels/{channel_id}/messages/{message_id}/reactions", []string{"DELETE " + underSketchPath}
	return s
}

func TestReactionModeration(t *testing.T) {
	t.Parallel()
	s := ofOne()
	weak := func(name string, p discord.Permissions) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
			d.SetOverwrite(sandbox.DemoShowcase, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: p})
		})}
	}
	invalid := func(name, more string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodeValidation, Args: unreacting(more).Args}
	}
	s.Refusals = []operationtest.Refusal{
		weak("a channel that cannot be seen", discord.ViewChannel),
		weak("a history that cannot be read", discord.ReadMessageHistory),
		weak("a bot that manages no messages", discord.ManageMessages),
		{Name: "a voice channel that cannot be joined", Code: mcpcore.CodePermission, Policy: permits(s.Workflow, "channels", string(pollRoom)), Before: world(addRoom(discord.Connect)),
			Args: fmt.Sprintf(`{"channelId":"%s","messageId":"%s","scope":"all"}`, pollRoom, sandbox.DemoSketch)},
		{Name: "no such message", Code: mcpcore.CodeNotFound, Policy: permits(s.Workflow, "channels", string(sandbox.DemoGeneral)),
			Args: fmt.Sprintf(`{"channelId":"%s","messageId":"%s","scope":"all"}`, sandbox.DemoGeneral, sandbox.DemoSketch)},
		{Name: "a protected user", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sandbox.DemoModerator)} }},
		{Name: "the bot", Code: mcpcore.CodePlanRefused, Reason: "own-reaction",
			Args: unreacting(`"scope":"user","emoji":"🔥","userId":"` + string(sandbox.BotID) + `"`).Args},
		{Name: "an emoji of the bot's", Code: mcpcore.CodePlanRefused, Reason: "own-reaction", Args: ofEmoji().Args, Before: world(underSketch(reactedSelf))},
		{Name: "all, with one of the bot's", Code: mcpcore.CodePlanRefused, Reason: "own-reaction", Args: ofAll().Args, Before: world(underSketch(reactedSelf))},
		invalid("a user without an emoji", `"scope":"user","userId":"1200000000000000103"`),
		invalid("a user's without the user", `"scope":"user","emoji":"🔥"`),
		invalid("all with an emoji", `"scope":"all","emoji":"🔥"`),
		invalid("an emoji with a user", `"scope":"emoji","emoji":"🔥","userId":"1200000000000000103"`),
		invalid("a shortcode", `"scope":"emoji","emoji":":fire:"`),
	}
	s.run(t)
}

func TestReactionsOfAnEmoji(t *testing.T) {
	t.Parallel()
	ofEmoji().run(t)
}

func TestAllReactions(t *testing.T) {
	t.Parallel()
	ofAll().run(t)
}

// Removing one emoji is free where the bot reacted with another, and protects
// nobody: the plan says so.
func TestReactionsOfOthersAlone(t *testing.T) {
	t.Parallel()
	s := ofOne().with("🔥", "lighthouse:1200000000000000401", "1200000000000000103", string(sandbox.DemoAdmin))
	s.observed(underSketch(reactedSelf)).sends(t, "DELETE "+underSketchPath+"/lighthouse:1200000000000000401/"+string(sandbox.DemoAdmin))
	s = ofAll()
	s.Protected = []string{string(sandbox.DemoModerator)}
	s.sends(t, s.Sends...)
	if told := fmt.Sprint(s.plans(t)["warnings"]); told != "[Everybody's reactions go, also those of protected users.]" {
		t.Errorf("the plan warns of %s", told)
	}
	for name, more := range map[string]string{
		"a user who did not react": `"scope":"user","emoji":"🔥","userId":"1200000000000000104"`, "an emoji that nobody chose": `"scope":"emoji","emoji":"👍"`,
		"a user with an emoji that nobody chose": `"scope":"user","emoji":"👍","userId":"1200000000000000103"`,
	} {
		unreacting(more).ends(t, name, "", "already-current", "")
	}
}

func TestReactionsThatAreNotAsRemoved(t *testing.T) {
	t.Parallel()
	open := func(s scene, name string) {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
	again := func(i int, user discord.UserID) func(*sandbox.Discord) {
		return underSketch(func(m *sandbox.Message) {
			m.Reactions = []sandbox.Reaction{{Emoji: sandbox.EmojiRef{Name: "🔥"}, Users: []discord.UserID{user, sandbox.DemoOwner}}, {Emoji: sandbox.EmojiRef{ID: sandbox.DemoEmoji, Name: "lighthouse"}, Users: []discord.UserID{user}}}[i:]
		})
	}
	open(ofOne().afterWrite(again(0, sandbox.DemoModerator)), "the user's is there")
	open(ofEmoji().afterWrite(again(0, sandbox.DemoModerator)), "the emoji is there")
	open(ofAll().afterWrite(again(1, sandbox.DemoModerator)), "one is there")
	open(ofAll().after(ofAll().ReadBack, string(sandbox.DemoSketch), "1200000000000000599"), "another message")
	ofOne().afterWrite(again(0, sandbox.DemoMember)).drifts(t, "reactions")
	ofAll().answered(ofAll().ReadBack, `"normal":2`, `"normal":1`).ends(t, "counts that do not add up", mcpcore.CodeAccessUnknown, "", "")
}
