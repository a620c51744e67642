package workflows_test

import (
	"fmt"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// posting is a post's arguments in general; more follows the channel.
func posting(action, more string) string {
	return postingIn(sandbox.DemoGeneral, action, more)
}

func postingIn(in discord.ChannelID, action, more string) string {
	return fmt.Sprintf(`{"channelId":"%s","action":"%s",%s}`, in, action, more)
}

// postPermit allows posts in general that notify one member.
var postPermit = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{
	"channels": {string(sandbox.DemoGeneral)}, "mentionUsers": {string(sandbox.DemoMember)},
}}

// postRefusals are those of every post. content is what is posted, as JSON
// members; it mentions the member.
func postRefusals(workflow, content string) []operationtest.Refusal {
	edit := func(name, reason string, m sandbox.Message) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: posting("edit", `"messageId":"`+string(someOne)+`",`+content), Code: mcpcore.CodePlanRefused, Reason: reason,
			Before: world(func(d *sandbox.Discord) {
				m.ID = someOne
				d.AddMessage(sandbox.DemoGeneral, m)
			})}
	}
	elsewhere := func(name string, in discord.ChannelID, code mcpcore.Code, reason string, before func(d *sandbox.Discord)) operationtest.Refusal {
		return operationtest.Refusal{Name: name, Args: postingIn(in, "create", content), Code: code, Reason: reason, Before: world(before),
			Policy: func(p *mcpcore.WorkflowPolicy) {
				permit := p.Permits[workflow]
				scopes := map[string][]string{}
				for name, ids := range permit.Scopes {
					scopes[name] = ids
				}
				scopes["channels"] = []string{string(in)}
				p.Permits[workflow] = mcpcore.Permit{Enabled: true, Scopes: scopes}
			}}
	}
	thread := func(archived, locked bool) func(d *sandbox.Discord) {
		return func(d *sandbox.Discord) {
			d.AddChannel(sandbox.Channel{ID: "1200000000000000398", Guild: sandbox.DemoGuild, Type: discord.PublicThread, Parent: sandbox.DemoGeneral,
				Name: "x", Thread: &sandbox.Thread{Owner: sandbox.DemoMember, Archived: archived, Locked: locked}})
			if locked {
				d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, discord.EmbedLinks)
			}
		}
	}
	return []operationtest.Refusal{
		{Name: "a channel that cannot be seen", Code: mcpcore.CodePermission, Before: without(discord.ViewChannel)},
		{Name: "a history that cannot be read", Code: mcpcore.CodePermission, Before: without(discord.ReadMessageHistory)},
		{Name: "a channel that cannot be posted into", Code: mcpcore.CodePermission, Before: without(discord.SendMessages)},
		{Name: "no message content intent", Code: mcpcore.CodePlanRefused, Reason: "intent-missing", Before: world(func(d *sandbox.Discord) { d.SetApplicationFlags(0) })},
		{Name: "a user whom the text does not mention", Code: mcpcore.CodePlanRefused, Reason: "not-mentioned",
			Args: posting("create", `"mentionUserIds":["`+string(sandbox.DemoMember)+`"],`+plainer(content))},
		{Name: "a user whom the policy does not name", Code: mcpcore.CodeWorkflowScope,
			Args: posting("create", `"mentionUserIds":["`+string(sandbox.DemoOwner)+`"],`+content)},
		{Name: "an edit of nothing", Code: mcpcore.CodeValidation, Args: posting("edit", content)},
		{Name: "a new message with an id", Code: mcpcore.CodeValidation, Args: posting("create", `"messageId":"`+string(someOne)+`",`+content)},
		{Name: "a message that is not there", Code: mcpcore.CodeNotFound, Args: posting("edit", `"messageId":"`+string(someOne)+`",`+content)},
		elsewhere("an archived thread", "1200000000000000398", mcpcore.CodePlanRefused, "thread-closed", thread(true, false)),
		elsewhere("a locked thread", "1200000000000000398", mcpcore.CodePlanRefused, "thread-closed", thread(false, true)),
		elsewhere("a forum", sandbox.DemoHelp, mcpcore.CodePlanRefused, "no-text", func(*sandbox.Discord) {}),
		edit("another's message", "not-own", sandbox.Message{Author: sandbox.DemoMember, Content: "x"}),
		edit("a webhook's message", "not-own", sandbox.Message{Webhook: "1200000000000000701", Content: "x"}),
		edit("a pinned message", "pinned", sandbox.Message{Content: "x", Pinned: at}),
		edit("a reply", "not-plain", sandbox.Message{Content: "x", Type: 19, Reference: &sandbox.Reference{Channel: sandbox.DemoGeneral, Message: sandbox.DemoPoll}}),
		edit("a message with a sticker", "not-plain", sandbox.Message{Content: "x", Stickers: []discord.StickerID{sandbox.DemoSticker}}),
	}
}

// plainer is content without its mention.
func plainer(content string) string {
	return strings.ReplaceAll(content, "<@"+string(sandbox.DemoMember)+">", "somebody")
}
