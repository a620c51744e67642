package workflows_test

import (
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

const sideRoom discord.ChannelID = "1200000000000000391"

// speaking puts the newcomer into a channel, with a second voice channel beside
// the lounge.
func speaking(in discord.ChannelID) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddChannel(sandbox.Channel{ID: sideRoom, Guild: sandbox.DemoGuild, Type: discord.GuildVoice, Name: "Side room", Parent: sandbox.DemoVoiceCategory})
		d.AddVoiceState(sandbox.DemoGuild, sandbox.VoiceState{User: sandbox.DemoNewcomer, Channel: in})
	}
}

// speaks moves the newcomer to where they speak then.
func speaks(in discord.ChannelID) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) {
		d.AddVoiceState(sandbox.DemoGuild, sandbox.VoiceState{User: sandbox.DemoNewcomer, Channel: in})
	}
}

func silent(mute, deaf bool) func(d *sandbox.Discord) {
	return func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Mute, m.Deaf = mute, deaf }) }
}

func inVoice(more string) scene {
	of := func(user discord.UserID, more string) string {
		return `{"guildId":"1200000000000000001","userId":"` + string(user) + `","action":` + more + `,"auditReason":"canary-reason"}`
	}
	const move, off, mute, deafen = `"move","channelId":"1200000000000000391"`, `"disconnect"`, `"set-server-mute","enabled":true`, `"set-server-deafen","enabled":true`
	asked := func(reason string, user discord.UserID) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(user, move), Code: mcpcore.CodePlanRefused, Reason: reason}
	}
	invalid := func(more string) operationtest.Refusal {
		return operationtest.Refusal{Name: more, Args: of(sandbox.DemoNewcomer, more), Code: mcpcore.CodeValidation}
	}
	lacking := func(more string, p discord.Permissions) operationtest.Refusal {
		return operationtest.Refusal{Name: "a bot that may not " + more, Args: of(sandbox.DemoNewcomer, more), Code: mcpcore.CodePermission, Before: weaker(p)}
	}
	beyond := func(name string, channels ...string) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Code: mcpcore.CodeWorkflowScope, Policy: func(p *mcpcore.WorkflowPolicy) {
			p.Permits["member-voice-change"] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}, "channels": channels}}
		}}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "member-voice-change", Plan: "plan_member_voice_change", Execute: "execute_member_voice_change",
			Args:  of(sandbox.DemoNewcomer, more),
			Sends: []string{`PATCH /guilds/1200000000000000001/members/1200000000000000105 {"channel_id":"1200000000000000391"}`},
			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{
				"guilds": {"1200000000000000001"}, "channels": {string(sandbox.DemoLounge), string(sideRoom), string(sandbox.DemoStage)},
			}},
			Resource: string(sandbox.DemoNewcomer), Secrets: []string{"canary", "Lighthouse", "pebble", "Side room"},
			Refusals: []operationtest.Refusal{
				asked("self", sandbox.BotID), asked("owner", sandbox.DemoOwner), asked("member-hierarchy", sandbox.DemoAdmin),
				asked("member-missing", sandbox.DemoReader), asked("not-in-voice", sandbox.DemoTimedOut),
				{Name: "a bot", Args: of(anotherBot, move), Code: mcpcore.CodePlanRefused, Reason: "bot", Before: world(func(d *sandbox.Discord) {
					d.AddUser(sandbox.User{ID: anotherBot, Name: "robot", Bot: true})
					d.AddMember(sandbox.DemoGuild, sandbox.Member{User: anotherBot})
				})},
				blocked("administrator", administrating),
				blocked("pending", func(d *sandbox.Discord) { newcomer(d, func(m *sandbox.Member) { m.Pending = true }) }),
				blocked("not-voice", speaks(sandbox.DemoStage)),
				{Name: "to a stage", Args: of(sandbox.DemoNewcomer, `"move","channelId":"1200000000000000317"`), Code: mcpcore.CodePlanRefused, Reason: "not-voice"},
				blocked("destination-hidden", func(d *sandbox.Discord) {
					d.SetOverwrite(sideRoom, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoGuild), Deny: discord.ViewChannel})
					d.SetOverwrite(sideRoom, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Allow: discord.ViewChannel})
				}),
				{Name: "a protected user", Code: mcpcore.CodeProtected, Policy: func(p *mcpcore.WorkflowPolicy) { p.Protected = []string{string(sandbox.DemoNewcomer)} }},
				beyond("where the member is, which the policy does not name", string(sideRoom)),
				beyond("a destination that the policy does not name", string(sandbox.DemoLounge)),
				lacking(move, discord.MoveMembers), lacking(off, discord.MoveMembers), lacking(mute, discord.MuteMembers), lacking(deafen, discord.DeafenMembers),
				lacking(mute, discord.Connect),
				{Name: "a destination that the bot cannot join", Code: mcpcore.CodePermission, Before: world(func(d *sandbox.Discord) {
					d.SetOverwrite(sideRoom, discord.Overwrite{ID: discord.OverwriteID(sandbox.DemoBotRole), Deny: discord.Connect})
				})},
				invalid(`"move"`), invalid(`"disconnect","enabled":true`), invalid(`"set-server-mute"`), invalid(`"set-server-mute","enabled":true,"channelId":"1200000000000000391"`),
			},
		},
		Route: "PATCH /guilds/{guild_id}/members/{user_id}", ReadBack: "GET /guilds/{guild_id}/voice-states/{user_id}", Skip: 4,
		Before: speaking(sandbox.DemoLounge), Change: silent(true, false), Settle: speaks(sideRoom),
		Rename: nicked("another"),
	}
}

const moves = `"move","channelId":"1200000000000000391"`

func TestMemberVoiceChange(t *testing.T) {
	t.Parallel()
	inVoice(moves).run(t)
}

func TestMemberVoiceChangeActions(t *testing.T) {
	t.Parallel()
	const line = `PATCH /guilds/1200000000000000001/members/1200000000000000105 `
	inVoice(`"disconnect"`).sends(t, line+`{"channel_id":null}`)
	inVoice(`"set-server-mute","enabled":true`).sends(t, line+`{"mute":true}`)
	inVoice(`"set-server-mute","enabled":false`).observed(silent(true, false)).sends(t, line+`{"mute":false}`)
	inVoice(`"set-server-deafen","enabled":true`).sends(t, line+`{"deaf":true}`)
	for _, s := range []scene{
		inVoice(`"set-server-mute","enabled":false`), inVoice(`"set-server-deafen","enabled":false`), inVoice(`"disconnect"`).with("000105", "000106"),
	} {
		if e, _ := s.once(t); e.Status != "already-current" || e.Writes != 0 {
			t.Errorf("%s is answered %+v", s.Args, e)
		}
	}
}

func TestMemberVoiceChangeReadsBack(t *testing.T) {
	t.Parallel()
	inVoice(moves).afterWrite(silent(true, false)).drifts(t, "mute")
	inVoice(moves).afterWrite(silent(false, true)).drifts(t, "deaf")
	inVoice(`"set-server-mute","enabled":true`).afterWrite(speaks(sideRoom)).drifts(t, "channelId")
	for name, s := range map[string]scene{
		"moved back":         inVoice(moves).afterWrite(speaks(sandbox.DemoLounge)),
		"there again":        inVoice(`"disconnect"`).afterWrite(speaks(sandbox.DemoLounge)),
		"heard again":        inVoice(`"set-server-mute","enabled":true`).afterWrite(silent(false, false)),
		"muted by no answer": inVoice(`"set-server-mute","enabled":true`).answered("PATCH /guilds/{guild_id}/members/{user_id}", `"mute":true`, `"mute":false`),
		"another answered":   inVoice(moves).answered("PATCH /guilds/{guild_id}/members/{user_id}", string(sandbox.DemoNewcomer), string(sandbox.DemoMember)),
	} {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
}
