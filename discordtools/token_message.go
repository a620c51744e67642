package discordtools

import (
	"encoding/json"
	"fmt"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// tokenMessage is what a webhook or an answer to an interaction says. The flags
// of these tools leave out the one that marks Components V2 (32768), and
// legacyComponents refuses layouts that need it: those messages are sent by tools
// whose gate is an approval of the payload.
//
// Source: https://docs.discord.com/developers/resources/webhook#execute-webhook.
type tokenMessage struct {
	Content string   `json:"content,omitempty" jsonschema:"text in Discord's Markdown" maxLength:"2000"`
	TTS     bool     `json:"tts,omitempty" jsonschema:"read aloud to those who view the channel"`
	Embeds  []embed  `json:"embeds,omitempty" jsonschema:"rich embeds, 6000 characters in all" maxItems:"10"`
	Files   []upload `json:"files,omitempty" in:"files" jsonschema:"files to attach, 10 MiB each" maxItems:"10"`
	allowedMentions
	Components  []json.RawMessage `json:"components,omitempty" jsonschema:"action rows" maxItems:"5"`
	Attachments []attachmentInput `json:"attachments,omitempty" jsonschema:"attachments known to Discord; give new ones in files" maxItems:"10"`
	Poll        *pollInput        `json:"poll,omitempty" jsonschema:"a poll"`
	packedBody
}

// tokenEdit is what changes of one. Its poll is an open object, since the tools
// that send one publish its shape.
type tokenEdit struct {
	Content *string  `json:"content,omitempty" jsonschema:"new text; null removes it" maxLength:"2000"`
	Embeds  *[]embed `json:"embeds,omitempty" jsonschema:"new embeds instead of the old; null removes them" maxItems:"10"`
	filesEdit
	allowedMentions
	Components *[]json.RawMessage         `json:"components,omitempty" jsonschema:"action rows instead of the old; null removes them" maxItems:"5"`
	Poll       map[string]json.RawMessage `json:"poll,omitempty" jsonschema:"a poll as when sending, into a deferred response alone"`
	Flags      int                        `json:"flags,omitempty" jsonschema:"4 hides link previews, 0 shows them" enum:"0,4"`
	packedBody
}

// filesEdit is what becomes of a message's files when it is edited.
type filesEdit struct {
	Files []upload `json:"files,omitempty" in:"files" jsonschema:"files to attach, 10 MiB each; what attachments does not list goes" maxItems:"10"`
	keptFiles
}

// keptFiles are those that the message has already.
type keptFiles struct {
	Attachments []attachmentInput `json:"attachments,omitempty" jsonschema:"attachments that stay" maxItems:"10"`
}

type packedBody struct {
	Payload string `json:"payload_json,omitempty" in:"packed" jsonschema:"arguments of the message as one JSON object in a text, instead of one by one"`
}

// private are the arguments of a message that audits and previews leave out.
var private = []string{"content", "embeds", "files", "components", "attachments", "poll", "payload_json"}

var (
	tokenMessageRules = append([]mcpcore.Rule{
		mcpcore.AnyOf("content", "embeds", "files", "components", "attachments", "poll"),
		mcpcore.Exclusive("attachments", "files"), legacyComponents,
	}, mentionRules...)
	tokenEditRules = append([]mcpcore.Rule{
		anyGiven("content", "embeds", "files", "components", "attachments", "poll", "flags"), legacyComponents,
	}, mentionRules...)
)

// legacyComponents lets action rows through: every other component belongs to
// Components V2, which a message that is edited may have been sent with.
var legacyComponents = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	raw, _ := call.Arg("components")
	return componentsIssue("components", raw)
}}

// componentsIssue is [legacyComponents] for components at any place, nil for none.
func componentsIssue(path string, raw json.RawMessage) *mcpcore.Issue {
	const actionRow = 1
	var all []json.RawMessage
	if raw == nil || json.Unmarshal(raw, &all) != nil {
		return nil // the schema has spoken
	}
	for i, c := range all {
		var head struct {
			Type int `json:"type"`
		}
		if json.Unmarshal(c, &head) != nil || head.Type != actionRow {
			return contradiction(fmt.Sprintf("%s.%d", path, i), "must be an action row, of type 1; Components V2 is sent with components_v2_send")
		}
	}
	return nil
}

type tokenMessageRef struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	ChannelID discord.ChannelID `json:"channel_id"`
}

type tokenMessageEdited struct {
	tokenMessageRef
	EditedAt string `json:"edited_timestamp,omitempty"`
}

// tokenMessageView is a message that was read by a token.
type tokenMessageView struct {
	tokenMessageRef
	messageFields
}

func (v *tokenMessageView) shown() shown { return shown{v.MessageID, &v.messageFields} }

// Text is the message in a fence.
func (v *tokenMessageView) Text() string { return fenced(v.ChannelID, v.shown()) }

// secretNote goes with a result that holds a token.
const secretNote = "The token is in the structured content alone. Whoever has it can use the webhook: keep it to yourself."
