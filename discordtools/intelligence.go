package discordtools

import (
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// intelligence lets the client's own model look at messages: to sum them up, to
// sort them, to find things in them, to draft an answer. It sends nothing to
// anybody else, and where the client offers no model it gives what there is to
// look at instead. It changes nothing.
//
// Source: https://modelcontextprotocol.io/specification/2025-11-25/client/sampling,
// https://docs.discord.com/developers/resources/message.
func intelligence() category {
	return category{Name: "intelligence", Scope: mcpcore.ChannelScope, Tools: []declaration{
		read[summarizeChannel, channelSummary]{
			Name:  "intelligence_summarize_channel",
			Title: "Summarise a channel",
			Doc: `Has your client's model sum up the latest messages of a channel, with topics and action items. Without a
				model it gives the messages, for you to sum up.`,
			Route:   routeMessages,
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
			Set:     []added{limit(50)},
			Fence:   fence.Message,
			Run:     summarizeLatest,
		},
		read[classifyMessages, classifiedMessages]{
			Name:  "intelligence_classify_messages",
			Title: "Sort messages into categories",
			Doc: `Has your client's model put each of the latest messages of a channel into one of your categories. Without a
				model it gives the messages, for you to sort.`,
			Route:   routeMessages,
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
			Set:     []added{limit(25)},
			Fence:   fence.Message,
			Run:     classifyLatest,
		},
		read[draftResponse, draftedResponse]{
			Name:  "intelligence_draft_response",
			Title: "Draft a response",
			Doc: `Has your client's model draft a message that fits the latest ones of a channel and your intent. It posts
				nothing: read the draft, then use messages_send. Without a model it gives the messages, for you to write.`,
			Route:   routeMessages,
			Varies:  true,
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
			Set:     []added{limit(10)},
			Fence:   fence.Message,
			Run:     draftMessage,
		},
		read[extractEntities, extractedEntities]{
			Name:  "intelligence_extract_entities",
			Title: "Find things in messages",
			Doc: `Has your client's model find decisions, action items, dates and the like in the latest messages of a
				channel. Without a model it gives the messages, for you to look through.`,
			Route:   routeMessages,
			Needs:   discord.ViewChannel | discord.ReadMessageHistory,
			Intents: discord.MessageContent,
			Set:     []added{limit(50)},
			Fence:   fence.Message,
			Run:     extractThings,
		},
		read[moderateContent, moderatedContent]{
			Name:  "intelligence_moderate_content",
			Title: "Judge a text by a policy",
			Doc: `Has your client's model judge a text by a policy: allow, flag or block, with reasons. It acts on nothing,
				and a text can try to talk the model round. Without a model it gives the text and the policy, for you to judge.`,
			Scope:  mcpcore.GlobalScope,
			Redact: []string{"content"},
			Fence:  fence.Message,
			Run:    moderateText,
		},
	}}
}

type summarizeChannel struct {
	channelRef
	Limit int    `json:"limit,omitempty" jsonschema:"how many messages to look at" minimum:"10" maximum:"100" default:"50"`
	Style string `json:"style,omitempty" in:"local" jsonschema:"form of the summary" enum:"bullet,paragraph,executive" default:"bullet"`
}

type channelSummary struct {
	Summary     *string           `json:"summary,omitempty" from:"@derived"`
	KeyTopics   *[]string         `json:"key_topics,omitempty" from:"@derived"`
	ActionItems *[]string         `json:"action_items,omitempty" from:"@derived"`
	Used        int               `json:"message_count_used" from:"@derived"`
	SamplingOn  bool              `json:"sampling_used" from:"@derived"`
	Raw         *[]plainMessage   `json:"raw_messages,omitempty" from:"@derived"`
	ChannelID   discord.ChannelID `json:"channel_id" from:"@derived"`
	Style       string            `json:"style,omitempty" from:"@derived"`
	Meta        *noModel          `json:"_meta,omitempty" from:"@derived"`
	remarks
}

type classifyMessages struct {
	channelRef
	Categories []string `json:"categories" in:"local" jsonschema:"names of the categories" minItems:"2" maxItems:"20" minLength:"1" maxLength:"50"`
	Limit      int      `json:"limit,omitempty" jsonschema:"how many messages to look at" minimum:"5" maximum:"100" default:"25"`
}

type classifiedMessages struct {
	Classifications *[]classification `json:"classifications,omitempty" from:"@derived"`
	Count           *int              `json:"count,omitempty" from:"@derived"`
	SamplingOn      bool              `json:"sampling_used" from:"@derived"`
	Raw             *[]plainMessage   `json:"raw_messages,omitempty" from:"@derived"`
	Categories      *[]string         `json:"categories,omitempty" from:"@derived"`
	ChannelID       discord.ChannelID `json:"channel_id" from:"@derived"`
	Meta            *noModel          `json:"_meta,omitempty" from:"@derived"`
	remarks
}

type classification struct {
	MessageID  discord.MessageID `json:"message_id"`
	Author     string            `json:"author"`
	Category   string            `json:"category"`
	Confidence float64           `json:"confidence"`
}

type draftResponse struct {
	channelRef
	Limit  int    `json:"context_message_count,omitempty" wire:"limit" jsonschema:"how many messages to look at" minimum:"1" maximum:"50" default:"10"`
	Intent string `json:"intent" in:"local" jsonschema:"what the message is to achieve" minLength:"5" maxLength:"500"`
	Tone   string `json:"tone,omitempty" in:"local" jsonschema:"how it is to sound" enum:"friendly,formal,concise,detailed" default:"friendly"`
}

type draftedResponse struct {
	Draft      *string           `json:"draft,omitempty" from:"@derived"`
	Reasoning  *string           `json:"reasoning,omitempty" from:"@derived"`
	SamplingOn bool              `json:"sampling_used" from:"@derived"`
	Raw        *[]plainMessage   `json:"raw_context,omitempty" from:"@derived"`
	Intent     string            `json:"intent,omitempty" from:"@derived"`
	Tone       string            `json:"tone,omitempty" from:"@derived"`
	ChannelID  discord.ChannelID `json:"channel_id" from:"@derived"`
	Meta       *noModel          `json:"_meta,omitempty" from:"@derived"`
	remarks
}

type extractEntities struct {
	channelRef
	Limit int      `json:"limit,omitempty" jsonschema:"how many messages to look at" minimum:"5" maximum:"100" default:"50"`
	Types []string `json:"entity_types,omitempty" in:"local" jsonschema:"what to find; decisions and action items when absent" minItems:"1" enum:"user_mention,channel_ref,date,decision,action_item,url,code_snippet"`
}

type extractedEntities struct {
	Entities   *[]entity         `json:"entities,omitempty" from:"@derived"`
	Count      *int              `json:"count,omitempty" from:"@derived"`
	SamplingOn bool              `json:"sampling_used" from:"@derived"`
	Raw        *[]plainMessage   `json:"raw_messages,omitempty" from:"@derived"`
	Types      *[]string         `json:"entity_types,omitempty" from:"@derived"`
	ChannelID  discord.ChannelID `json:"channel_id" from:"@derived"`
	Meta       *noModel          `json:"_meta,omitempty" from:"@derived"`
	remarks
}

type entity struct {
	Type    string            `json:"type"`
	Value   string            `json:"value"`
	Source  discord.MessageID `json:"source_message_id,omitempty"`
	Context string            `json:"context,omitempty"`
}

type moderateContent struct {
	Content string `json:"content" in:"local" jsonschema:"text to judge" minLength:"1" maxLength:"4000"`
	Policy  string `json:"policy,omitempty" in:"local" jsonschema:"rules to judge by; a common one when absent" minLength:"10" maxLength:"2000"`
}

type moderatedContent struct {
	Decision   string    `json:"decision,omitempty" from:"@derived"` // allow, flag or block
	Reasons    *[]string `json:"reasons,omitempty" from:"@derived"`
	Confidence *float64  `json:"confidence,omitempty" from:"@derived"`
	SamplingOn bool      `json:"sampling_used" from:"@derived"`
	Content    string    `json:"content,omitempty" from:"@derived"`
	Policy     string    `json:"policy,omitempty" from:"@derived"`
	Meta       *noModel  `json:"_meta,omitempty" from:"@derived"`
	remarks
}

// plainMessage is a message for whoever looks at it instead of a model.
type plainMessage struct {
	ID      discord.MessageID `json:"id"`
	Author  string            `json:"author"`
	Content string            `json:"content"`
}

// noModel says that no model looked.
type noModel struct {
	Fallback   string `json:"fallback"` // host_llm_should_process
	Intent     string `json:"intent"`
	SamplingOn bool   `json:"sampling_used"` // false
}
