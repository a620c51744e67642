package discordtools

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Types of answers to an interaction that say something.
//
// Source: https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type.
const (
	respondMessage  = 4
	respondDeferred = 5
	respondUpdate   = 7
	respondChoices  = 8
	respondModal    = 9
)

type interactionsRespond struct {
	InteractionID discord.InteractionID    `json:"interaction_id" jsonschema:"interaction"`
	Token         discord.InteractionToken `json:"interaction_token" jsonschema:"the interaction's token, a secret"`
	Type          int                      `json:"type" jsonschema:"4 a message, 5 deferred, 6 deferred update, 7 update of the message with the component, 8 choices of an autocomplete, 9 a modal, 12 an activity, 1 pong" enum:"1,4,5,6,7,8,9,12"`
	Data          *responseData            `json:"data,omitempty" jsonschema:"what the type takes: a message; flags alone; choices; or custom_id, title and components"`
	WithResponse  bool                     `json:"with_response,omitempty" in:"query" jsonschema:"answer with the message"`
}

type responseData struct {
	Content string   `json:"content,omitempty" maxLength:"2000"`
	TTS     bool     `json:"tts,omitempty"`
	Embeds  []embed  `json:"embeds,omitempty" maxItems:"10"`
	Files   []upload `json:"files,omitempty" maxItems:"10"`
	allowedMentions
	Components  []json.RawMessage `json:"components,omitempty" jsonschema:"action rows; of a modal also labels and text displays" maxItems:"5"`
	Attachments []attachmentInput `json:"attachments,omitempty" jsonschema:"attachments that stay, of an update" maxItems:"10"`
	Poll        *pollInput        `json:"poll,omitempty"`
	Flags       int               `json:"flags,omitempty" jsonschema:"sum of 4 hides link previews, 64 only the user sees it, 4096 sends silently" enum:"0,4,64,68,4096,4100,4160,4164"`
	Choices     []responseChoice  `json:"choices,omitempty" maxItems:"25"`
	CustomID    string            `json:"custom_id,omitempty" jsonschema:"comes back with what the user enters" minLength:"1" maxLength:"100"`
	Title       string            `json:"title,omitempty" minLength:"1" maxLength:"45"`
}

type responseChoice struct {
	Name  string          `json:"name" minLength:"1" maxLength:"100"`
	Value json.RawMessage `json:"value" jsonschema:"text or number, as the option's type is"`
}

// takes is what the data of an answer may hold, by its type, and what of it must
// be there: all of needs, or one of any.
type takes struct{ may, needs, any []string }

var (
	messageParts  = []string{"content", "embeds", "files", "components", "attachments", "poll"}
	responseTakes = map[int]takes{
		respondMessage:  {may: append([]string{"tts", "allowed_mentions", "flags"}, messageParts...), any: messageParts},
		respondDeferred: {may: []string{"flags"}},
		respondUpdate:   {may: append([]string{"allowed_mentions", "flags"}, messageParts...)},
		respondChoices:  {may: []string{"choices"}, needs: []string{"choices"}},
		respondModal:    {may: []string{"custom_id", "title", "components"}, needs: []string{"custom_id", "title", "components"}},
	}
)

// responseRule demands the data that the type of the answer takes, and holds a
// message to the rules of messages.
var responseRule = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	kind, _ := argument[int](call, "type")
	data, _ := argument[map[string]json.RawMessage](call, "data")
	t, speaks := responseTakes[kind]
	if !speaks && call.Has("data") {
		return contradiction("data", "does not go with type %d", kind)
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if !slices.Contains(t.may, name) {
			return contradiction("data."+name, "does not go with type %d", kind)
		}
	}
	has := func(name string) bool { v := string(data[name]); return v != "" && v != `""` && v != "[]" }
	for _, name := range t.needs {
		if !has(name) {
			return contradiction("data."+name, "is required for type %d", kind)
		}
	}
	switch {
	case t.any != nil && !slices.ContainsFunc(t.any, has):
		return contradiction("data", "give at least one of %s", strings.Join(t.any, ", "))
	case kind == respondMessage && has("files") && has("attachments"):
		return contradiction("data.attachments", "excludes files; give one of them")
	case kind != respondModal:
		if issue := componentsIssue("data.components", data["components"]); issue != nil {
			return issue
		}
	}
	return mentionIssue("data.allowed_mentions", data["allowed_mentions"])
}}

type interactionAnswered struct {
	Acknowledged bool           `json:"acknowledged" from:"@true"`
	Message      *answerMessage `json:"message,omitempty" from:"resource.message"`
}

type answerMessage struct {
	ID        discord.MessageID `json:"id"`
	ChannelID discord.ChannelID `json:"channel_id"`
	Flags     int               `json:"flags"`
}

func answerInteraction(ctx context.Context, a *api, in interactionsRespond) (v interactionAnswered, err error) {
	var made []member
	var parts []Part
	if in.Data != nil {
		says := in.Type == respondMessage || in.Type == respondUpdate
		var data json.RawMessage
		if data, parts, err = nestedMessage(a.call, "data", in.Data.Files, says); err != nil {
			return v, err
		}
		made = []member{{"data", data}}
	}
	r, err := a.request(made...)
	if err != nil {
		return v, err
	}
	r.Form = parts
	reply, err := a.deliver(ctx, r)
	if err != nil {
		return v, err
	}
	return v, a.project(reply, &v)
}
