package discordtools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/components"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// componentsV2 makes, checks and sends messages that consist of components
// alone. What is sent needs the approval of exactly that payload.
//
// Source: https://docs.discord.com/developers/components/reference.
func componentsV2() category {
	return category{Name: "components_v2", Scope: mcpcore.ChannelScope, Tools: []declaration{
		read[layoutContainer, layoutMade]{
			Name:  "components_v2_build_container",
			Title: "Build a container",
			Doc: `Makes a container of components. Nothing is sent and nesting is not checked; check the
				whole layout with components_v2_validate.`,
			Scope: mcpcore.LocalScope,
			Run:   buildContainer,
		},
		read[layoutGallery, layoutMade]{
			Name:  "components_v2_build_media_gallery",
			Title: "Build a media gallery",
			Doc:   `Makes a media gallery of addresses. Nothing is sent.`,
			Scope: mcpcore.LocalScope,
			Rules: []mcpcore.Rule{galleryRule},
			Run:   buildGallery,
		},
		read[layoutSection, layoutMade]{
			Name:  "components_v2_build_section",
			Title: "Build a section",
			Doc:   `Makes a section: texts with a thumbnail or a button beside them. Nothing is sent.`,
			Scope: mcpcore.LocalScope,
			Rules: []mcpcore.Rule{accessoryRule},
			Run:   buildSection,
		},
		write[componentsEdit, messageEdited]{
			Name:  "components_v2_edit",
			Title: "Edit a Components V2 message",
			Doc: `Replaces the layout of one of the bot's own messages. A message of text and embeds
				becomes a Components V2 message for good: its text, embeds and stickers go, and a poll
				cannot be edited this way. With files, of the old ones only those in attachments stay.
				Nobody is notified again unless allowed_mentions says so.`,
			Route:     "PATCH /channels/{channel_id}/messages/{message_id}",
			Calls:     []string{routeChannel, routeMessage},
			Gate:      mcpcore.Payload,
			Needs:     discord.ViewChannel,
			NeedsWhen: []mcpcore.Need{{Arg: "files", Permissions: discord.AttachFiles}},
			Rules:     append([]mcpcore.Rule{layoutRule}, mentionRules...),
			Redact:    []string{"components", "files", "attachments"},
			Set:       append([]added{layoutFlags, noMentions}, legacyNulls...),
			Facts:     replacedFacts,
			Payload:   reviewEdit,
		},
		read[layoutDraft, layoutDrawn]{
			Name:  "components_v2_preview",
			Title: "Draw a layout",
			Doc:   `Draws a layout as plain text. Nothing is sent and nothing is checked.`,
			Scope: mcpcore.LocalScope,
			Run:   drawLayout,
		},
		write[componentsSend, componentsSent]{
			Name:  "components_v2_send",
			Title: "Send a Components V2 message",
			Doc: `Sends a message that consists of components. Nobody is notified unless allowed_mentions
				says so. Files are shown by the components that name them as attachment://name.`,
			Route:     "POST /channels/{channel_id}/messages",
			Calls:     []string{routeChannel},
			Gate:      mcpcore.Payload,
			Needs:     discord.ViewChannel | discord.SendMessages,
			NeedsWhen: []mcpcore.Need{{Arg: "files", Permissions: discord.AttachFiles}, {Arg: "message_reference", Permissions: discord.ReadMessageHistory}},
			Rules:     append([]mcpcore.Rule{layoutRule}, mentionRules...),
			Redact:    []string{"components", "files"},
			Set:       append([]added{layoutFlags, noMentions}, oneTime...),
			Facts:     placeFacts,
			Payload:   reviewSend,
			Run:       sendComponents,
		},
		write[templateSend, templateSent]{
			Name:  "components_v2_send_from_template",
			Title: "Send a ready layout",
			Doc: `Sends a ready layout with texts of yours in it. announcement: title, body, cta_label,
				cta_url. incident_status: status_emoji, title, summary, ack_custom_id, resolve_custom_id.
				poll_results: question, bars_text, winner. release_notes: version, headline, changelog,
				download_url. welcome_card: username, avatar_url, role_id_member, rules_channel_id.
				A place without a text stays as {{name}}. Nobody is notified.`,
			Route:   "POST /channels/{channel_id}/messages",
			Calls:   []string{routeChannel},
			Gate:    mcpcore.Payload,
			Needs:   discord.ViewChannel | discord.SendMessages,
			Rules:   []mcpcore.Rule{templateRule},
			Redact:  []string{"vars"},
			Set:     append([]added{layoutFlags, noMentions}, oneTime...),
			Facts:   placeFacts,
			Payload: reviewTemplate,
			Run:     sendTemplate,
		},
		read[layoutDraft, layoutChecked]{
			Name:  "components_v2_validate",
			Title: "Check a layout",
			Doc: `Checks a layout against all that Discord demands of a message and tells every fault at
				once. Nothing is sent.`,
			Scope: mcpcore.LocalScope,
			Run:   checkLayout,
		},
	}}
}

// layoutPart is one component as the caller wrote it. Package components checks
// it: a schema of every kind would fill an agent's context.
type layoutPart map[string]json.RawMessage

// layout is the argument of the tools that send one.
type layout struct {
	Components []layoutPart `json:"components" jsonschema:"by type: 1 action row {components}, 9 section {components, accessory}, 10 text {content}, 12 gallery {items}, 13 file {file}, 14 separator, 17 container {components}; in rows 2 buttons or one select 3, 5-8" minItems:"1" maxItems:"40"`
	Files      []upload     `json:"files,omitempty" in:"files" jsonschema:"files that components name as attachment://name, 10 MiB each" maxItems:"10"`
	allowedMentions
}

type componentsSend struct {
	channelRef
	layout
	Reference *messageReply `json:"message_reference,omitempty" jsonschema:"message of the channel to reply to"`
	Flags     int           `json:"flags,omitempty" in:"local" jsonschema:"4096 sends silently" enum:"0,4096"`
}

// messageReply makes a message a reply.
type messageReply struct {
	MessageID       discord.MessageID `json:"message_id"`
	FailIfNotExists bool              `json:"fail_if_not_exists,omitempty"`
}

type componentsSent struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	ChannelID discord.ChannelID `json:"channel_id"`
	JumpURL   string            `json:"jump_url" from:"@derived"`
	Count     int               `json:"component_count" from:"@derived" jsonschema:"at the top level"`
}

func sendComponents(ctx context.Context, a *api, in componentsSend) (v componentsSent, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	if err := a.project(reply, &v); err != nil {
		return v, err
	}
	v.JumpURL, v.Count = a.jumpURL(ctx, v.ChannelID, v.MessageID), len(in.Components)
	return v, nil
}

type componentsEdit struct {
	messageRef
	layout
	keptFiles
}

// layoutFlags marks a message as one of components alone, for good.
var layoutFlags = added{"flags", func(call *mcpcore.Call) string {
	if silent, _ := call.Arg("flags"); string(silent) == "4096" {
		return "36864"
	}
	return "32768"
}}

// legacyNulls turn a message of text and embeds into one of components: Discord
// demands that it says so. Of a Components V2 message they change nothing.
//
// Source: https://docs.discord.com/developers/components/reference#component-reference.
var legacyNulls = []added{{"content", null}, {"embeds", null}, {"sticker_ids", null}}

func null(*mcpcore.Call) string { return "null" }

type templateSend struct {
	channelRef
	Template string            `json:"template" in:"local" enum:"announcement,incident_status,poll_results,release_notes,welcome_card" jsonschema:"which layout"`
	Vars     map[string]string `json:"vars" in:"local" jsonschema:"text for each {{name}} of the layout"`
}

// filled is the layout that the call sends, with the given texts.
func (in templateSend) filled(vars map[string]string) []json.RawMessage {
	return components.Named(in.Template).Fill(vars)
}

type templateSent struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	ChannelID discord.ChannelID `json:"channel_id"`
	JumpURL   string            `json:"jump_url" from:"@derived"`
	Template  string            `json:"template" from:"@arg"`
}

func sendTemplate(ctx context.Context, a *api, in templateSend) (v templateSent, err error) {
	parts, err := canon.Marshal(in.filled(in.Vars))
	if err != nil {
		return v, fmt.Errorf("encode layout: %w", err)
	}
	reply, err := a.send(ctx, member{"components", parts})
	if err != nil {
		return v, err
	}
	if err := a.project(reply, &v); err != nil {
		return v, err
	}
	v.JumpURL = a.jumpURL(ctx, v.ChannelID, v.MessageID)
	return v, nil
}
