package discordtools

import (
	"context"
	"strconv"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// interactions answers people who used the bot: commands, buttons, forms. What
// happened reaches the bot elsewhere; whoever got it passes the interaction's
// token on, a secret that counts for 15 minutes. No result holds it, and these
// routes are sent without the bot's token.
//
// Source: https://docs.discord.com/developers/interactions/receiving-and-responding.
func interactions() category {
	return category{Name: "interactions", Scope: mcpcore.ChannelScope, Tools: []declaration{
		write[interactionsFollowUp, tokenMessageRef]{
			Name:  "interactions_create_followup",
			Title: "Send a follow-up",
			Doc: `Sends another message after an interaction was answered, for 15 minutes. After a
				deferred response the first one becomes that response. Nobody is notified unless
				allowed_mentions says so.`,
			Route:     "POST /webhooks/{webhook_id}/{webhook_token}",
			Rules:     tokenMessageRules,
			Redact:    private,
			Set:       []added{noMentions},
			Anonymous: true,
			Run:       followUp,
		},
		write[interactionsRespond, interactionAnswered]{
			Name:  "interactions_create_response",
			Title: "Answer an interaction",
			Doc: `Gives the first answer to an interaction, within 3 seconds and once. For more time
				defer it (type 5) and write the answer with interactions_edit_original_response. Nobody is
				notified unless allowed_mentions says so.`,
			Route:     "POST /interactions/{interaction_id}/{interaction_token}/callback",
			Rules:     []mcpcore.Rule{responseRule},
			Redact:    []string{"data"},
			Anonymous: true,
			Run:       answerInteraction,
		},
		destroy[followUpRef, followUpDeleted]{
			Name:      "interactions_delete_followup",
			Title:     "Delete a follow-up",
			Doc:       `Deletes a follow-up message for good, an ephemeral one too.`,
			Route:     "DELETE /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
			Calls:     []string{routeWebhookMessage},
			Anonymous: true,
			Facts: func(ctx context.Context, a *api) (mcpcore.Facts, error) {
				return messageFactsAt(ctx, a, routeWebhookMessage, nil)
			},
		},
		destroy[interactionRef, responseDeleted]{
			Name:      "interactions_delete_original_response",
			Title:     "Delete the response",
			Doc:       `Deletes the response to an interaction for good. Follow-ups stay.`,
			Route:     "DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original",
			Calls:     []string{routeOriginal},
			Anonymous: true,
			Facts: func(ctx context.Context, a *api) (mcpcore.Facts, error) {
				return messageFactsAt(ctx, a, routeOriginal, nil)
			},
		},
		write[interactionsEditFollowUp, tokenMessageEdited]{
			Name:       "interactions_edit_followup",
			Title:      "Edit a follow-up",
			Doc:        `Changes a follow-up message. What is not given stays. Nobody is notified unless allowed_mentions says so.`,
			Route:      "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
			Repeatable: true,
			Rules:      tokenEditRules,
			Redact:     private,
			Set:        []added{noMentions},
			Anonymous:  true,
		},
		write[interactionsEditOriginal, tokenMessageEdited]{
			Name:  "interactions_edit_original_response",
			Title: "Edit the response",
			Doc: `Changes the response to an interaction, or writes the one that was deferred. What is not
				given stays. Nobody is notified unless allowed_mentions says so.`,
			Route:      "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original",
			Repeatable: true,
			Rules:      tokenEditRules,
			Redact:     private,
			Set:        []added{noMentions},
			Anonymous:  true,
		},
		read[followUpRef, interactionMessage]{
			Name:      "interactions_get_followup",
			Title:     "Get a follow-up",
			Doc:       `Reads a follow-up message, an ephemeral one too.`,
			Route:     routeWebhookMessage,
			Anonymous: true,
		},
		read[interactionRef, interactionMessage]{
			Name:      "interactions_get_original_response",
			Title:     "Get the response",
			Doc:       `Reads the response to an interaction, an ephemeral one too.`,
			Route:     routeOriginal,
			Anonymous: true,
		},
	}}
}

const routeOriginal = "GET /webhooks/{webhook_id}/{webhook_token}/messages/@original"

// ephemeral is the flag of a message that only the user of the interaction sees.
const ephemeral = 1 << 6

type interactionRef struct {
	ApplicationID discord.ApplicationID    `json:"application_id" wire:"webhook_id" jsonschema:"the bot's application"`
	Token         discord.InteractionToken `json:"interaction_token" wire:"webhook_token" jsonschema:"the interaction's token, a secret"`
}

type followUpRef struct {
	interactionRef
	MessageID discord.MessageID `json:"message_id" jsonschema:"message"`
}

type interactionsFollowUp struct {
	interactionRef
	tokenMessage
	Flags     int  `json:"flags,omitempty" jsonschema:"sum of 4 hides link previews, 64 only the user sees it, 4096 sends silently" enum:"0,4,64,68,4096,4100,4160,4164"`
	Ephemeral bool `json:"ephemeral,omitempty" in:"local" jsonschema:"only the user sees it: adds 64 to flags"`
}

func followUp(ctx context.Context, a *api, in interactionsFollowUp) (v tokenMessageRef, err error) {
	var made []member
	if in.Ephemeral {
		made = []member{{"flags", []byte(strconv.Itoa(in.Flags | ephemeral))}}
	}
	reply, err := a.send(ctx, made...)
	if err != nil {
		return v, err
	}
	return v, a.project(reply, &v)
}

type interactionsEditFollowUp struct {
	followUpRef
	tokenEdit
}

type interactionsEditOriginal struct {
	interactionRef
	tokenEdit
}

type followUpDeleted struct {
	Deleted   bool              `json:"deleted" from:"@true"`
	MessageID discord.MessageID `json:"message_id" from:"@arg"`
}

type responseDeleted struct {
	Deleted bool `json:"deleted" from:"@true"`
}

type interactionMessage struct {
	tokenMessageView
	UntrustedMessages string `json:"untrusted_messages" from:"@derived"`
	remarks
}

func (v *interactionMessage) derive(*mcpcore.Call) {
	v.remarks, v.UntrustedMessages = finish(v.shown()), v.Text()
}
