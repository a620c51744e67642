package workflows_test

import (
	"fmt"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// cloning clones a channel of the demo guild.
func cloning(source discord.ChannelID, body string) scene {
	of := func(id discord.ChannelID) string {
		return `{"guildId":"1200000000000000001","channelId":"` + string(id) + `","name":"canary-harbour","auditReason":"canary-reason"}`
	}
	another := func(reason string, id discord.ChannelID, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{Name: reason, Args: of(id), Code: mcpcore.CodePlanRefused, Reason: reason, Before: world(before), Policy: func(p *mcpcore.WorkflowPolicy) {
			p.Permits["channel-cloning"] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}, "sources": {string(id)}}}
		}}
	}
	with := func(p discord.Permissions) func(d *sandbox.Discord) {
		return roleMay(source, sandbox.DemoEventsRole, p, 0)
	}
	fill := func(n int, parent discord.ChannelID) func(d *sandbox.Discord) {
		return func(d *sandbox.Discord) {
			for range n {
				d.AddChannel(sandbox.Channel{Guild: sandbox.DemoGuild, Name: "x", Parent: parent})
			}
		}
	}
	return scene{
		Subject: operationtest.Subject{
			Workflow: "channel-cloning", Plan: "plan_channel_clone", Execute: "execute_channel_clone",
			Args: of(source), Sends: []string{`POST /guilds/1200000000000000001/channels ` + body},
			Permit:  mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"guilds": {"1200000000000000001"}, "sources": {string(source)}}},
			Secrets: []string{"canary", "Lighthouse", "showcase", "Screenshots"},
			Refusals: []operationtest.Refusal{
				another("thread", sandbox.DemoThread, func(*sandbox.Discord) {}),
				another("not-carried", sandbox.DemoHelp, func(*sandbox.Discord) {}), // it requires a tag
				blocked("unknown-bits", with(1<<60)), blocked("manage-roles", with(discord.ManageRoles)),
				blocked("full", fill(500, "")), blocked("parent-full", fill(50, sandbox.DemoCommunity)),
				{Name: "what the bot lacks", Code: mcpcore.CodePermission, Before: world(with(discord.ViewCreatorMonetizationAnalytics))},
				{Name: "a bot that may not", Code: mcpcore.CodePermission, Before: weaker(discord.ManageChannels)},
				{Name: "a channel that the bot cannot see", Code: mcpcore.CodePermission, Before: world(roleMay(source, sandbox.DemoBotRole, 0, discord.ViewChannel))},
				{Name: "a category that the bot may not manage", Code: mcpcore.CodePermission,
					Before: world(roleMay(sandbox.DemoCommunity, sandbox.DemoBotRole, 0, discord.ManageChannels))},
			},
		},
		Route: "POST /guilds/{guild_id}/channels", ReadBack: "GET /channels/{channel_id}", Skip: 4,
		Change: func(d *sandbox.Discord) {
			d.EditChannel(source, func(c *sandbox.Channel) { c.SlowMode = 60 })
		},
	}
}

const mutedOnly = `"permission_overwrites":[{"id":"1200000000000000205","type":0,"allow":"0","deny":"2099264"}]`

func cloningShowcase() scene {
	return cloning(sandbox.DemoShowcase, `{"default_thread_rate_limit_per_user":0,"name":"canary-harbour","nsfw":false,"parent_id":"1200000000000000302",`+mutedOnly+
		`,"rate_limit_per_user":30,"topic":"Screenshots, fan art, high scores","type":0}`)
}

func TestChannelCloning(t *testing.T) {
	t.Parallel()
	cloningShowcase().run(t)
}

// Each kind has settings of its own: a forum is cloned with its tags in their
// order, a category without its channels.
func TestChannelCloningOfKinds(t *testing.T) {
	t.Parallel()
	for source, body := range map[discord.ChannelID]string{
		sandbox.DemoLounge: `{"bitrate":64000,"name":"canary-harbour","nsfw":false,"parent_id":"1200000000000000303","permission_overwrites":[],"rate_limit_per_user":0,"type":2,"user_limit":12,"video_quality_mode":1}`,
		sandbox.DemoStage: `{"bitrate":64000,"name":"canary-harbour","nsfw":false,"parent_id":"1200000000000000303","permission_overwrites":[],"rate_limit_per_user":0,` +
			`"topic":"Once a month we show what we are building","type":13,"user_limit":0,"video_quality_mode":1}`,
		sandbox.DemoAnnouncements: `{"default_thread_rate_limit_per_user":0,"name":"canary-harbour","nsfw":false,"parent_id":"1200000000000000301","permission_overwrites":[` +
			`{"id":"1200000000000000001","type":0,"allow":"0","deny":"34359740416"},{"id":"1200000000000000202","type":0,"allow":"34359740416","deny":"0"},` +
			`{"id":"1200000000000000203","type":0,"allow":"2048","deny":"0"}],"rate_limit_per_user":0,"topic":"Releases, game nights and patch notes","type":5}`,
		sandbox.DemoCommunity: `{"name":"canary-harbour","nsfw":false,` + mutedOnly + `,"type":4}`,
		sandbox.DemoHelp: `{"available_tags":[{"name":"Bug","moderated":false,"emoji_id":null,"emoji_name":"🐛"},{"name":"Idea","moderated":false,"emoji_id":null,"emoji_name":"💡"},` +
			`{"name":"Solved","moderated":true,"emoji_id":null,"emoji_name":null}],"default_forum_layout":0,"default_reaction_emoji":{"emoji_id":null,"emoji_name":"👍"},` +
			`"default_thread_rate_limit_per_user":0,"name":"canary-harbour","nsfw":false,"parent_id":"1200000000000000302",` + mutedOnly +
			`,"rate_limit_per_user":0,"topic":"One question per post. Say which version you play.","type":15}`,
	} {
		s := cloning(source, body).observed(func(d *sandbox.Discord) {
			d.EditChannel(sandbox.DemoHelp, func(c *sandbox.Channel) { c.Flags = 0 })
		})
		s.sends(t, s.Sends...)
	}
}

func TestChannelCloningReadsBack(t *testing.T) {
	t.Parallel()
	const read, create = "GET /channels/{channel_id}", "POST /guilds/{guild_id}/channels"
	for from, to := range map[string][2]string{
		`"rate_limit_per_user":30`:            {`"rate_limit_per_user":31`, "rate_limit_per_user"},
		`"topic":"Screenshots`:                {`"topic":"screenshots`, "topic"},
		`"name":"canary-harbour"`:             {`"name":"other"`, "name"},
		`"parent_id":"1200000000000000302"`:   {`"parent_id":null`, "parent_id"},
		`"deny":"2099264"`:                    {`"deny":"2048"`, "permission_overwrites"},
		`"last_message_id":null`:              {`"last_message_id":null,"bitrate":64000`, "bitrate"},
		`"default_thread_rate_limit_per_user`: {`"available_tags":[{"name":"x"}],"default_thread_rate_limit_per_user`, "available_tags"},
	} {
		cloningShowcase().after(read, from, to[0]).drifts(t, to[1])
	}
	cloningShowcase().afterWrite(func(d *sandbox.Discord) {
		d.EditChannel(sandbox.DemoGeneral, func(c *sandbox.Channel) { c.Position = 70 })
	}).drifts(t, "layout")
	for name, s := range map[string]scene{
		"another type":      cloningShowcase().answered(create, `"type":0,"last`, `"type":5,"last`),
		"another guild":     cloningShowcase().after(create, `"guild_id":"1200000000000000001"`, `"guild_id":"1200000000000000002"`),
		"read as of a kind": cloningShowcase().after(read, `"type":0,"last`, `"type":5,"last`),
	} {
		s.ends(t, name, mcpcore.CodeOutcomeUnknown, "outcome-uncertain", mcpcore.StatusUncertain)
	}
}

// What is set on a channel and carried by no creation is not left out in silence.
func TestChannelCloningCarriesAll(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{`"flags":32768`, `"theme_color":5`, `"icon_emoji":{"name":"x"}`} {
		s := cloningShowcase().answered("GET /channels/{channel_id}", `"flags":0`, setting)
		if e, _ := s.once(t); e.Code != mcpcore.CodePlanRefused || e.Writes != 0 {
			t.Errorf("with %s it answers %s", setting, fmt.Sprint(e))
		}
	}
}
