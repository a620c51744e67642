package workflows_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// Every workflow has a prompt that plans it and stops. It is named after the plan
// tool, whatever the workflow is called.
func TestEveryWorkflowHasItsPrompt(t *testing.T) {
	t.Parallel()
	permits := mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{}}
	for _, w := range workflows.All(nil) {
		permits.Permits[w.Name] = mcpcore.Permit{Enabled: true}
	}
	s := serve(t, discordtools.Config{}, permits).session
	schemas := map[string]any{}
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		schemas[tool.Name] = tool.InputSchema
	}
	listed := map[string]*mcp.Prompt{}
	for p, err := range s.Prompts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		listed[p.Name] = p
	}
	for _, w := range workflows.All(nil) {
		plan, execute := w.Tools()[0], w.Tools()[1]
		p := listed["review_"+strings.TrimPrefix(plan.Name, "plan_")]
		if p == nil {
			t.Errorf("%s has no prompt", w.Name)
			continue
		}
		given := map[string]string{}
		for _, a := range p.Arguments {
			if strings.HasPrefix(a.Name, "acknowledge") || a.Name == "operationKey" {
				t.Errorf("%s takes %q, which the agent gives", p.Name, a.Name)
			}
			if a.Name == "token" || a.Name == "data" {
				t.Errorf("%s takes %q, a secret or a file", p.Name, a.Name)
			}
			if a.Required {
				given[a.Name] = sample(t, schemas[plan.Name], a.Name)
			}
		}
		res, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: given})
		if err != nil {
			t.Errorf("%s with %v: %v", p.Name, given, err)
			continue
		}
		text := res.Messages[0].Content.(*mcp.TextContent).Text
		if !strings.Contains(text, "Plan it with "+plan.Name+", and stop there.") || !strings.Contains(text, "Do not call "+execute.Name+" ") {
			t.Errorf("%s does not stop after planning:\n%s", p.Name, text)
		}
	}
}

// sample is a value that an argument of a tool's input takes.
func sample(t *testing.T, input any, arg string) string {
	t.Helper()
	var in struct {
		Properties map[string]struct {
			Type    any    `json:"type"`
			Pattern string `json:"pattern"`
			Enum    []any  `json:"enum"`
			Minimum any    `json:"minimum"`
		} `json:"properties"`
	}
	raw, err := json.Marshal(input)
	if err == nil {
		err = json.Unmarshal(raw, &in)
	}
	if err != nil {
		t.Fatal(err)
	}
	switch p := in.Properties[arg]; {
	case p.Enum != nil:
		return fmt.Sprint(p.Enum[0])
	case p.Minimum != nil:
		return fmt.Sprint(p.Minimum)
	case p.Type == "boolean":
		return "true"
	case p.Pattern != "":
		word, _, _ := strings.Cut(strings.TrimPrefix(p.Pattern, "^"), "[")
		for _, text := range []string{"1200000000000000001", "2031-05-01T18:00:00Z", "https://example.com/", word + strings.Repeat("0", 32)} {
			if regexp.MustCompile(p.Pattern).MatchString(text) {
				return text
			}
		}
	}
	return "a sample text"
}
