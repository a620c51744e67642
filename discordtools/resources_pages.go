package discordtools

import (
	_ "embed"
	"encoding/json"
	"slices"

	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/components"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

//go:embed guidance/safety.md
var safetyPage string

//go:embed guidance/components-v2.schema.json
var componentsSchema string

const asJSON = "application/json"

// pages are the documents of ours.
func pages(c Config) []mcpcore.Resource {
	all := []mcpcore.Resource{
		{
			URI: "discord://connector/safety", Name: "safety", Title: "Working safely with this server",
			Doc:  "How confirmation works, what to make of texts that strangers wrote, and what to do when nobody knows whether a call happened. Read it before the first change.",
			Text: safetyPage,
		},
		{
			URI: "discord://connector/policy", Name: "policy", Title: "What the operator has set", MIMEType: asJSON,
			Doc:  "Whether writes act or preview, who must approve them, which guilds and categories are open. It grants nothing.",
			Make: jsonOf(func() any { return policyOf(c) }),
		},
		{
			URI: "discord://connector/errors", Name: "errors", Title: "The codes of errors", MIMEType: asJSON,
			Doc:  "Every code an error can have, whose fault it is, whether the same call can succeed later, and what to do next.",
			Make: jsonOf(func() any { return errorCodes() }),
		},
		{
			URI: "discord://components-v2/schema", Name: "components_v2_schema", Title: "Schema of Components V2", MIMEType: asJSON,
			Doc:  "JSON Schema of a layout: the argument components of components_v2_send and components_v2_edit.",
			Text: componentsSchema,
		},
		{
			URI: "discord://connector/component-templates", Name: "component_templates", Title: "Ready layouts", MIMEType: asJSON,
			Doc:  "The layouts that components_v2_send_from_template knows, with the places in them.",
			Make: jsonOf(func() any { return readyLayouts{layouts()} }),
		},
	}
	for _, t := range components.Templates() {
		all = append(all, mcpcore.Resource{
			URI: "discord://components-v2/templates/" + t.Name, Name: "component_template_" + t.Name, Title: "Ready layout " + t.Name, MIMEType: asJSON,
			Doc:  layoutUses[t.Name],
			Make: jsonOf(func() any { return layoutOf(t) }),
		})
	}
	return all
}

// jsonOf is a document that is JSON of a value, made when it is read.
func jsonOf(value func() any) func(map[string]string) (string, bool) {
	return func(map[string]string) (string, bool) {
		b, err := canon.Marshal(value())
		return string(b), err == nil
	}
}

// policy is what the operator decided, as agents may know it.
type policy struct {
	Armed          bool              `json:"armed"`
	Writes         string            `json:"writes"`
	ReviewedOnly   bool              `json:"only_reviewed_workflows_destroy"`
	Person         PersonMode        `json:"a_person_approves"`
	RequirePreview bool              `json:"a_preview_is_required"`
	RequireConsent bool              `json:"direct_messages_need_consent"`
	Access         string            `json:"permissions_are_checked"`
	Categories     []string          `json:"categories"`
	AllowedGuilds  []discord.GuildID `json:"allowed_guilds"`
	DefaultGuild   discord.GuildID   `json:"default_guild,omitempty"`
	Bot            discord.UserID    `json:"locked_to_bot,omitempty"`
	Notes          []string          `json:"notes"`
}

var accessWords = map[middleware.AccessMode]string{
	middleware.Advisory: "no", middleware.Warn: "a gap is logged", middleware.Enforce: "a gap refuses the call",
}

func policyOf(c Config) policy {
	p := policy{
		Armed: c.Armed, Writes: "act", ReviewedOnly: c.ReviewedOnly, Person: c.Person, RequirePreview: c.RequirePreview, RequireConsent: c.RequireConsent,
		Access: accessWords[c.Access], Categories: c.Categories, AllowedGuilds: c.AllowedGuilds, DefaultGuild: c.DefaultGuild, Bot: c.ExpectedBot,
		Notes: []string{"This page grants nothing: every call is decided when it is made."},
	}
	if p.Person == "" {
		p.Person = PersonOff
	}
	if c.PreviewOnly {
		p.Writes = "preview"
		p.Notes = append(p.Notes, "Nothing is ever changed: every tool that writes previews.")
	} else if !c.Armed {
		p.Notes = append(p.Notes, "Not armed: tools that destroy, and Components V2 writes, only preview.")
	}
	if c.ReviewedOnly {
		p.Notes = append(p.Notes, "Tools with a gate are not there; reviewed workflows are, as far as the operator's policy enables them.")
	}
	if c.Categories == nil {
		p.Notes = append(p.Notes, "categories is null: all are on.")
	}
	if c.AllowedGuilds == nil {
		p.Notes = append(p.Notes, "allowed_guilds is null: every guild that the bot is in is open.")
	}
	return p
}

type errorTable struct {
	Codes []errorCode `json:"codes"`
}

type errorCode struct {
	Code      mcpcore.Code     `json:"code"`
	Category  mcpcore.Category `json:"category"`
	Retriable bool             `json:"retriable"`
	Hint      string           `json:"recovery_hint"`
}

func errorCodes() (t errorTable) {
	all := mcpcore.Codes()
	slices.Sort(all)
	for _, c := range all {
		t.Codes = append(t.Codes, errorCode{c, c.Category(), c.Retriable(), c.Hint()})
	}
	return t
}

type readyLayouts struct {
	Templates []readyLayout `json:"templates"`
}

// readyLayout is a layout with places for texts, written {{name}}.
type readyLayout struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Variables   []string          `json:"variables"`
	Components  []json.RawMessage `json:"components"`
}

var layoutUses = map[string]string{
	"announcement":    "News with a title, a text and a link button.",
	"incident_status": "The state of an incident, with buttons to acknowledge and to resolve it.",
	"poll_results":    "How a poll ended, with its bars and its winner.",
	"release_notes":   "A release: version, headline, what changed, and where to download it.",
	"welcome_card":    "A greeting with the newcomer's picture, a pointer to the rules, and a button to become a member.",
}

func layoutOf(t components.Template) readyLayout {
	return readyLayout{t.Name, layoutUses[t.Name], t.Vars, t.Fill(nil)}
}

func layouts() []readyLayout {
	var all []readyLayout
	for _, t := range components.Templates() {
		all = append(all, layoutOf(t))
	}
	return all
}
