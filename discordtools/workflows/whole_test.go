package workflows_test

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// TestNoPartOfAWorkflowStandsAlone: whichever toolset, category or style of
// writing is picked, a client is listed all tools of a workflow or none.
func TestNoPartOfAWorkflowStandsAlone(t *testing.T) {
	t.Parallel()
	permits := mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{}}
	parts := map[string][]string{}
	all := discordtools.Tools(nil)
	for _, w := range workflows.All(nil) {
		permits.Permits[w.Name] = mcpcore.Permit{Enabled: true}
		for _, tool := range w.Tools() {
			all = append(all, tool)
			if tool.Part.Together() {
				parts[w.Name] = append(parts[w.Name], tool.Name)
			}
		}
	}
	configs := map[string]discordtools.Config{"all": {}, "reviewed alone": {ReviewedOnly: true}}
	for _, s := range discordtools.Toolsets(all) {
		configs["toolset "+s.Name] = discordtools.Config{Toolsets: []string{s.Name}}
		if category, ok := strings.CutPrefix(s.Name, "category:"); ok {
			configs["category "+category] = discordtools.Config{Categories: []string{category}}
		}
	}
	shown := map[string]bool{}
	for name, c := range configs {
		t.Run(name, func(t *testing.T) { // which ends with its server
			listed := serve(t, c, permits).listed()
			for workflow, tools := range parts {
				n := 0
				for _, tool := range tools {
					if listed[tool] {
						n++
					}
				}
				if n != 0 && n != len(tools) {
					t.Errorf("%d of %v are listed", n, tools)
				}
				shown[workflow] = shown[workflow] || n > 0 && strings.HasPrefix(name, "toolset ")
			}
		})
	}
	for workflow := range parts {
		if !shown[workflow] {
			t.Errorf("no toolset shows %s", workflow)
		}
	}
	if len(parts) < 20 {
		t.Errorf("only %d workflows: this test looks at too little", len(parts))
	}
}
