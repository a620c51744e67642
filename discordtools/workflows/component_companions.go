package workflows

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/internal/components"
	"github.com/guildwarden/guildwarden/mcpcore"
)

type layoutPreview struct {
	Text     string             `json:"text" jsonschema:"the layout as plain text"`
	Sendable bool               `json:"sendable" jsonschema:"whether the workflow takes it; the origins of its links are another matter"`
	Issues   []components.Issue `json:"issues"`
	Origins  []string           `json:"linkOrigins"`
	Count    int                `json:"components" jsonschema:"nested ones counted"`
	Risks    []string           `json:"risks"`
}

type templateInput struct {
	Template string            `json:"template" jsonschema:"announcement takes title, body, cta_label, cta_url; poll_results question, bars_text, winner; release_notes version, headline, changelog, download_url" enum:"announcement,poll_results,release_notes"`
	Vars     map[string]string `json:"vars" jsonschema:"a text for each place of the template"`
}

type templateCompiled struct {
	Components []json.RawMessage `json:"components" jsonschema:"for plan_component_message and execute_component_message"`
}

// layoutCompanions draw a layout and make one of a template. They read nothing.
func layoutCompanions(rest discordtools.REST) []mcpcore.Tool {
	local := mcpcore.Tool{Category: "interactions", Scope: mcpcore.LocalScope}
	preview, compile := local, local
	preview.Name, preview.Title = "preview_component_layout", "Draw a layout"
	preview.Doc = "Draws a layout as plain text and tells what stands against posting it. Nothing is sent."
	preview.Redact = []string{"components"}
	compile.Name, compile.Title = "compile_component_template", "Fill a template"
	compile.Doc = "Makes a layout of a ready template and your texts. Nothing is sent."
	compile.Redact, compile.Rules = []string{"vars"}, []mcpcore.Rule{templateRule}
	return []mcpcore.Tool{
		companion(rest, compile, func(_ context.Context, _ *reads, in templateInput) (templateCompiled, error) {
			return templateCompiled{components.Named(in.Template).Fill(in.Vars)}, nil
		}),
		companion(rest, preview, func(_ context.Context, _ *reads, in layoutContent) (layoutPreview, error) {
			review := components.NewReview(in.raw())
			p := layoutPreview{
				Text: components.Text(in.raw()), Issues: components.Check("components", in.raw(), nil), Count: review.TotalNodes, Risks: review.Risks(),
			}
			wanted, err := parts(in.raw(), true)
			if err == nil {
				p.Origins, err = origins(wanted)
			}
			if err != nil {
				p.Issues = append(p.Issues, components.Issue{Path: "components", Code: mcpcore.IssueRule, Message: err.Error()})
			}
			p.Sendable = len(p.Issues) == 0
			return p, nil
		}),
	}
}

// templateRule demands a text for each place, and for nothing else.
var templateRule = mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
	places, vars := components.Named(c.Text("template")).Vars, argument[map[string]string](c, "vars")
	for _, place := range places {
		if strings.TrimSpace(vars[place]) == "" {
			return &mcpcore.Issue{Path: "vars." + place, Message: "is a place of the template and needs a text", Code: mcpcore.IssueRule}
		}
	}
	for name := range vars {
		if !slices.Contains(places, name) {
			return &mcpcore.Issue{Path: "vars." + name, Message: "is no place of the template", Code: mcpcore.IssueRule}
		}
	}
	return nil
}}
