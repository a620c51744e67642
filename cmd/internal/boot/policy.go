package boot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/policy"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

// noPolicy is what explanations call the document of a server that has none.
const noPolicy = "the file of --policy"

// Tools are all that a server can have, on no connection: to look at, not to
// call.
func Tools() []mcpcore.Tool {
	tools := append(discordtools.Tools(nil), mcpcore.Activity())
	for _, w := range workflows.All(nil) {
		tools = append(tools, w.Tools()...)
	}
	return tools
}

// Declared is what a policy document can speak of.
func Declared() policy.Declared {
	return policy.Declared{Workflows: workflows.All(nil), Toolsets: discordtools.Toolsets(Tools())}
}

// Everything enables all workflows, on nothing: for lists of what there can be.
func Everything() mcpcore.WorkflowPolicy {
	p := mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{}}
	for _, w := range workflows.All(nil) {
		p.Permits[w.Name] = mcpcore.Permit{Enabled: true}
	}
	return p
}

// Permits is what the document of --policy allows, after [Config.ReadPolicy].
func (c Config) Permits() mcpcore.WorkflowPolicy {
	p := c.allowed
	p.Source = cmp.Or(p.Source, noPolicy)
	return p
}

// ReadPolicy reads the document of --policy into the settings; a path of "" is
// none. The error joins what is wrong with the document and with what it asks of
// the other settings.
func (c *Config) ReadPolicy(path string, sandbox bool) error {
	if path == "" {
		return nil
	}
	declared := Declared()
	p, err := declared.Load(path)
	if err != nil {
		return err
	}
	c.allowed = p.Workflows
	problems := []error{c.agree(p)}
	enabled := p.Enabled()
	if len(enabled) == 0 {
		return errors.Join(problems...)
	}
	place, err := parseLedger(c.Ledger) // whose error was told
	if err == nil && !place.shared() && !sandbox {
		problems = append(problems, fmt.Errorf("MCP_LEDGER: %s enables %s, and what a workflow did must outlive the server; %s",
			p.Workflows.Source, strings.Join(enabled, ", "), otherLedger))
	}
	c.Warnings = slices.DeleteFunc(slices.Clone(c.Warnings), func(w string) bool { return w == nobodyAsked })
	if picked, err := surface.Parse(c.Toolsets, declared.Toolsets); err == nil {
		left := surface.Select(Tools(), picked)
		for _, name := range enabled {
			if !slices.ContainsFunc(left, func(t mcpcore.Tool) bool { return t.Part.Workflow == name && t.Part.Role == mcpcore.Plan }) {
				c.Warnings = append(c.Warnings, fmt.Sprintf("%s enables %s, and no toolset that is picked holds it", p.Workflows.Source, name))
			}
		}
	}
	return errors.Join(problems...)
}

// agree takes over what the document says of the surface, and refuses what the
// environment says otherwise.
func (c *Config) agree(p policy.Policy) error {
	var problems []error
	differ := func(name, variable, here, there string) {
		problems = append(problems, fmt.Errorf("%s is %s, and %s of %s is %s; set one of them, or both alike", variable, here, name, p.Workflows.Source, there))
	}
	sorted := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	switch {
	case p.Toolsets == nil:
	case c.Toolsets == nil:
		c.Toolsets = p.Toolsets
	case !slices.Equal(sorted(c.Toolsets), sorted(p.Toolsets)):
		differ("toolsets", "MCP_TOOLSETS", quoted(strings.Join(c.Toolsets, ",")), quoted(strings.Join(p.Toolsets, ",")))
	}
	switch {
	case p.Surface == "":
	case c.ToolSurface == "":
		c.ToolSurface = string(p.Surface)
	case c.ToolSurface != string(p.Surface):
		differ("surface", "MCP_TOOL_SURFACE", quoted(c.ToolSurface), quoted(string(p.Surface)))
	}
	return errors.Join(problems...)
}
