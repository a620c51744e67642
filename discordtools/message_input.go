package discordtools

import (
	"encoding/json"
	"strings"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// auditReason is the last argument of tools whose act Discord's audit log keeps.
type auditReason struct {
	AuditReason string `json:"audit_reason,omitempty" jsonschema:"why, for the guild's audit log" minLength:"1" maxLength:"512"`
}

// embed is a rich embed.
//
// Source: https://docs.discord.com/developers/resources/message#embed-object.
type embed struct {
	Title       string       `json:"title,omitempty" maxLength:"256"`
	Description string       `json:"description,omitempty" maxLength:"4096"`
	URL         string       `json:"url,omitempty" maxLength:"2048"`
	Color       int          `json:"color,omitempty" jsonschema:"0xRRGGBB as a number" minimum:"0" maximum:"16777215"`
	Timestamp   string       `json:"timestamp,omitempty" format:"date-time"`
	Author      *embedAuthor `json:"author,omitempty"`
	Footer      *embedFooter `json:"footer,omitempty"`
	Image       *embedMedia  `json:"image,omitempty"`
	Thumbnail   *embedMedia  `json:"thumbnail,omitempty"`
	Fields      []embedField `json:"fields,omitempty" maxItems:"25"`
}

type embedAuthor struct {
	Name    string `json:"name" maxLength:"256"`
	URL     string `json:"url,omitempty" maxLength:"2048"`
	IconURL string `json:"icon_url,omitempty" maxLength:"2048"`
}

type embedFooter struct {
	Text    string `json:"text" maxLength:"2048"`
	IconURL string `json:"icon_url,omitempty" maxLength:"2048"`
}

type embedMedia struct {
	URL string `json:"url" jsonschema:"https address, or attachment://name of a file sent along" maxLength:"2048"`
}

type embedField struct {
	Name   string `json:"name" maxLength:"256"`
	Value  string `json:"value" maxLength:"1024"`
	Inline bool   `json:"inline,omitempty"`
}

// mentions says whom a message may notify.
type mentions struct {
	Parse       []string         `json:"parse,omitempty" jsonschema:"kinds that mentions in the text may notify" enum:"users,roles,everyone" maxItems:"3" uniqueItems:"true"`
	Users       []discord.UserID `json:"users,omitempty" jsonschema:"or just these users" maxItems:"100" uniqueItems:"true"`
	Roles       []discord.RoleID `json:"roles,omitempty" jsonschema:"or just these roles" maxItems:"100" uniqueItems:"true"`
	RepliedUser bool             `json:"replied_user,omitempty" jsonschema:"notify the author of the message replied to"`
}

// allowedMentions is the argument of every tool that writes text others see.
type allowedMentions struct {
	AllowedMentions *mentions `json:"allowed_mentions,omitempty" jsonschema:"whom the message notifies; nobody when left out"`
}

// noMentions is the safe default: whatever the text says, nobody is notified.
var noMentions = added{"allowed_mentions", func(*mcpcore.Call) string { return `{"parse":[],"replied_user":false}` }}

// mentionRules refuse what Discord would, or what notifies more than was meant.
var mentionRules = []mcpcore.Rule{{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	raw, _ := call.Arg("allowed_mentions")
	return mentionIssue("allowed_mentions", raw)
}}}

// mentionIssue is [mentionRules] for allowed mentions at any place, nil for
// none.
func mentionIssue(path string, raw json.RawMessage) *mcpcore.Issue {
	if string(raw) == "null" {
		return contradiction(path, "null would notify everybody the text mentions; leave it out to notify nobody")
	}
	var m mentions
	if raw == nil || json.Unmarshal(raw, &m) != nil {
		return nil // the schema has spoken
	}
	for _, kind := range m.Parse {
		if kind == "users" && len(m.Users) > 0 || kind == "roles" && len(m.Roles) > 0 {
			return contradiction(path+"."+kind, "excludes %q in parse; give the list or the kind", kind)
		}
	}
	return nil
}

// oneTime keeps a repeated send from posting twice.
//
// Source: https://docs.discord.com/developers/resources/message#create-message.
var oneTime = []added{
	{"nonce", func(call *mcpcore.Call) string {
		return string(canon.AppendString(nil, strings.ReplaceAll(call.ID(), "-", "")[:25]))
	}},
	{"enforce_nonce", func(*mcpcore.Call) string { return "true" }},
}

// pollInput is a poll that is sent with a message.
//
// Source: https://docs.discord.com/developers/resources/poll#poll-create-request-object.
type pollInput struct {
	Question    pollText     `json:"question"`
	Answers     []pollAnswer `json:"answers" minItems:"1" maxItems:"10"`
	Duration    int          `json:"duration,omitempty" jsonschema:"hours, 24 when left out" minimum:"1" maximum:"768"`
	Multiselect bool         `json:"allow_multiselect,omitempty"`
}

type pollText struct {
	Text string `json:"text" minLength:"1" maxLength:"300"`
}

type pollAnswer struct {
	Media pollMedia `json:"poll_media"`
}

type pollMedia struct {
	Text  string     `json:"text,omitempty" maxLength:"55"`
	Emoji *pollEmoji `json:"emoji,omitempty"`
}

type pollEmoji struct {
	ID   discord.EmojiID `json:"id,omitempty" jsonschema:"of a custom emoji"`
	Name string          `json:"name,omitempty" jsonschema:"a unicode emoji" maxLength:"32"`
}

// messageReference makes a message a reply or a forward.
type messageReference struct {
	MessageID       discord.MessageID `json:"message_id"`
	ChannelID       discord.ChannelID `json:"channel_id,omitempty" jsonschema:"needed to forward from another channel"`
	Type            int               `json:"type,omitempty" jsonschema:"0 reply, 1 forward" enum:"0,1"`
	FailIfNotExists bool              `json:"fail_if_not_exists,omitempty"`
}
