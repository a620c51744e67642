package surface

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Discovery makes the tool that finds tools for an agent, and shows them to its
// session where that began with a part of them.
type Discovery struct {
	Name     string // of the tool; "discover_discord_tools" when empty
	Category string // of the tool
	Tools    []mcpcore.Tool
	Toolsets []Toolset
	Synonyms []Synonym
	// Access is what the access contract says of a tool, one JSON object. nil
	// leaves it out.
	Access func(t *mcpcore.Tool) json.RawMessage
}

type discoverInput struct {
	Query   string `json:"query,omitempty" jsonschema:"what you want to do, in a few words, or a tool's name" maxLength:"200" pattern:"\\S"`
	Detail  string `json:"detail,omitempty" jsonschema:"full adds descriptions and inputs" enum:"compact,full" default:"compact"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many tools at most" minimum:"1" maximum:"8" default:"5"`
	Risk    string `json:"risk,omitempty" jsonschema:"only tools of this risk" enum:"destructive,external-read,local-read,write"`
	Toolset string `json:"toolset,omitempty" jsonschema:"only tools of this toolset" minLength:"1" maxLength:"100"`
}

type discovered struct {
	SchemaVersion int            `json:"schemaVersion"`
	Status        string         `json:"status"`
	Surface       string         `json:"surface"` // full or progressive
	Detail        string         `json:"detail"`
	TotalMatches  int            `json:"totalMatches"`
	Matches       []match        `json:"matches"`
	NewlyEnabled  []string       `json:"newlyEnabledToolNames"`
	Refresh       bool           `json:"refreshToolsList"`
	Toolsets      []toolsetCount `json:"toolsets"`
}

type match struct {
	Name         string `json:"name"`
	Title        string `json:"title"`
	Summary      string `json:"summary"`
	Toolset      string `json:"toolset"`
	Workflow     string `json:"workflow,omitempty"`
	WorkflowRole string `json:"workflowRole,omitempty"`
	Risk         string `json:"risk"`
	Gate         string `json:"gate"`
	Enabled      bool   `json:"enabled"`
	Access       object `json:"access,omitempty"`
	Description  string `json:"description,omitempty"`
	Hints        object `json:"annotations,omitempty"`
	InputSchema  object `json:"inputSchema,omitempty"`
}

type toolsetCount struct {
	Name      string `json:"name"`
	Available int    `json:"availableTools"`
	Enabled   int    `json:"enabledTools"`
}

// object is any JSON object.
type object json.RawMessage

// JSONSchema is an object of any members.
func (object) JSONSchema() string { return `{"type":"object","additionalProperties":true}` }

// MarshalJSON is the object itself.
func (o object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// maxSummary is how long a summary may be, in letters.
const maxSummary = 200

// Tool is the discovery tool. It is local: it asks nothing of anybody, and what
// it was asked stands in no answer, log, record or trace.
func (d Discovery) Tool() mcpcore.Tool {
	d.Tools, d.Toolsets, d.Synonyms = slices.Clone(d.Tools), slices.Clone(d.Toolsets), slices.Clone(d.Synonyms)
	f := &finder{Discovery: d}
	f.members = sync.OnceValue(func() map[string][]string {
		members := make(map[string][]string, len(d.Toolsets))
		for i := range d.Toolsets {
			for _, t := range d.Toolsets[i].Of(d.Tools) {
				members[d.Toolsets[i].Name] = append(members[d.Toolsets[i].Name], t.Name)
			}
		}
		return members
	})
	f.homes = sync.OnceValue(func() map[string]string {
		homes := make(map[string]string, len(d.Tools))
		for i := range d.Tools {
			homes[d.Tools[i].Name] = home(&d.Tools[i], d.Toolsets)
		}
		return homes
	})
	f.index = sync.OnceValue(func() *index {
		all := make([]*mcpcore.Tool, len(d.Tools))
		for i := range d.Tools {
			all[i] = &d.Tools[i]
		}
		return newIndex(all, d.Synonyms)
	})
	return mcpcore.Define(mcpcore.Tool{
		Name: cmp.Or(d.Name, "discover_discord_tools"), Title: "Find tools", Category: d.Category,
		Doc: `Finds the tools for what you want to do and enables them for this session: say it in a few words, then list the
			tools again and call them by their own names. Tools that are not enabled cannot be called. Without a query, risk
			and toolset it only counts the tools of each toolset. It enables and permits nothing beyond what the operator
			chose, and contacts nobody.`,
		Effect: mcpcore.Read, Scope: mcpcore.LocalScope, Repeatable: true, Redact: []string{"query"},
	}, f.find)
}

// finder is a Discovery at work. What it works with is made on the first call.
type finder struct {
	Discovery
	members func() map[string][]string // the tools of each toolset
	homes   func() map[string]string   // toolset by tool
	index   func() *index
}

func (f *finder) find(_ context.Context, call *mcpcore.Call, in discoverInput) (discovered, error) {
	v := discovered{SchemaVersion: 1, Status: "ok", Surface: "full", Detail: cmp.Or(in.Detail, "compact")}
	if call.Progressive() {
		v.Surface = "progressive"
	}
	holds, err := f.filter(in)
	if err != nil {
		return v, err
	}
	found, exact := f.matches(in)
	found = slices.DeleteFunc(found, func(t *mcpcore.Tool) bool { return !call.Reveals(t.Name) || !holds(t) })
	v.TotalMatches = len(found)
	found = found[:min(len(found), cmp.Or(in.Limit, 5))]
	names := make([]string, len(found))
	for i, t := range found {
		names[i] = t.Name
	}
	v.NewlyEnabled = call.Reveal(names...)
	v.Refresh = len(v.NewlyEnabled) > 0
	for _, t := range found {
		m := match{
			Name: t.Name, Title: t.Title, Summary: summary(t), Toolset: f.homes()[t.Name], Workflow: t.Part.Workflow,
			Risk: risk(t), Gate: t.EffectiveGate().String(), Enabled: call.Shows(t.Name),
		}
		if m.Workflow != "" {
			m.WorkflowRole = t.Part.Role.String()
		}
		if f.Access != nil {
			m.Access = object(f.Access(t))
		}
		if v.Detail == "full" || exact {
			if err := m.define(call.Definition(t.Name)); err != nil {
				return v, err
			}
		}
		v.Matches = append(v.Matches, m)
	}
	v.Toolsets = f.count(call)
	return v, nil
}

// matches are the tools that are asked for, the likeliest first, and whether they
// are one that was named. Without a question there are none.
func (f *finder) matches(in discoverInput) (found []*mcpcore.Tool, exact bool) {
	if in.Query == "" {
		if in.Risk != "" || in.Toolset != "" {
			found = slices.Clone(f.index().tools)
			slices.SortFunc(found, func(a, b *mcpcore.Tool) int { return strings.Compare(a.Name, b.Name) })
		}
		return found, false
	}
	hits := f.index().search(in.Query)
	for _, h := range hits {
		found = append(found, h.tool)
	}
	return found, len(hits) == 1 && hits[0].named
}

// filter is what risk and toolset let through.
func (f *finder) filter(in discoverInput) (func(*mcpcore.Tool) bool, error) {
	if in.Toolset != "" {
		if _, err := Parse([]string{in.Toolset}, f.Toolsets); err != nil {
			return nil, mcpcore.Invalid(mcpcore.Issue{Path: "toolset", Message: err.Error() + "; without arguments this tool names them all", Code: mcpcore.IssueRule})
		}
	}
	return func(t *mcpcore.Tool) bool {
		return (in.Risk == "" || in.Risk == risk(t)) && (in.Toolset == "" || slices.Contains(f.members()[in.Toolset], t.Name))
	}, nil
}

// count says of each toolset how many of its tools there are and are enabled.
func (f *finder) count(call *mcpcore.Call) (counts []toolsetCount) {
	for i := range f.Toolsets {
		c := toolsetCount{Name: f.Toolsets[i].Name}
		for _, name := range f.members()[c.Name] {
			if call.Reveals(name) {
				c.Available++
			}
			if call.Shows(name) {
				c.Enabled++
			}
		}
		if c.Available > 0 {
			counts = append(counts, c)
		}
	}
	return counts
}

// define adds what clients get of the tool.
func (m *match) define(t *mcp.Tool) error {
	if t == nil {
		return fmt.Errorf("%s has no definition", m.Name)
	}
	hints, err := json.Marshal(t.Annotations)
	if err != nil {
		return fmt.Errorf("encode annotations of %s: %w", m.Name, err)
	}
	input, ok := t.InputSchema.(json.RawMessage)
	if !ok {
		return fmt.Errorf("the input schema of %s is a %T", m.Name, t.InputSchema)
	}
	m.Description, m.Hints, m.InputSchema = t.Description, hints, object(input)
	return nil
}

// summary is the first sentence of a tool's doc.
func summary(t *mcpcore.Tool) string {
	first, _, more := strings.Cut(strings.Join(strings.Fields(t.Doc), " "), ". ")
	if more {
		first += "."
	}
	if letters := []rune(first); len(letters) > maxSummary {
		first = strings.TrimSpace(string(letters[:maxSummary-1])) + "…"
	}
	return first
}

// risk is what a call of the tool may do, in the words of the filter.
func risk(t *mcpcore.Tool) string {
	switch {
	case t.Effect == mcpcore.Destroy:
		return "destructive"
	case t.Effect == mcpcore.Write:
		return "write"
	case t.Scope == mcpcore.LocalScope:
		return "local-read"
	}
	return "external-read"
}

// Text is what was found, for clients that show no structured content.
func (v *discovered) Text() string {
	var b strings.Builder
	for _, m := range v.Matches {
		fmt.Fprintf(&b, "%s (%s, %s): %s\n", m.Name, m.Risk, m.Toolset, m.Summary)
		if len(m.InputSchema) > 0 { // empty for a compact match
			fmt.Fprintf(&b, "  input: %s\n", m.InputSchema)
		}
	}
	switch {
	case v.Refresh:
		fmt.Fprintf(&b, "Newly enabled: %s. List the tools again to call them.", strings.Join(v.NewlyEnabled, ", "))
	case len(v.Matches) > 0:
		b.WriteString("All of them were enabled already.")
	default:
		b.WriteString("Found no tool. Say it in other words, or name one of the toolsets:")
		for _, s := range v.Toolsets {
			fmt.Fprintf(&b, " %s (%d)", s.Name, s.Available)
		}
	}
	return b.String()
}
