// Package surface says which of a server's tools a client gets: all of them, the
// toolsets that an operator picks, or, progressively, those that an agent asked
// for. It reduces and never authorises: a tool that is left out cannot be called,
// and one that is shown passes the chain as ever.
//
//	all := surface.All(tools, surface.ReadOnly)
//	picked, err := surface.Parse([]string{"read-only", "category:messages"}, all)
//	tools = surface.Select(tools, picked)
package surface

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/internal/args"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// Toolset is a named set of tools. A tool is of it when one of its fields says
// so. The tools of a reviewed workflow are of it together or not at all: an
// Effect or a Category does not hold them, and a name among Tools holds the whole
// workflow. The zero value holds nothing.
type Toolset struct {
	Name string // "member-roles", "category:messages"
	Doc  string // what it is for, one sentence

	Category  string         // tools of this category that are of no workflow
	Effect    mcpcore.Effect // tools of this effect that are of no workflow
	Workflows []string
	Tools     []string // by name; names of none are passed over
}

// ReadOnly holds every tool that only reads.
var ReadOnly = Toolset{Name: "read-only", Doc: "every tool that only reads", Effect: mcpcore.Read}

// categoryPrefix begins the names of the toolsets of categories.
const categoryPrefix = "category:"

// holds reports whether the tool is of the set; workflows are those of the set,
// with the ones of tools that it names.
func (s *Toolset) holds(t *mcpcore.Tool, workflows []string) bool {
	if slices.Contains(workflows, t.Part.Workflow) {
		return true
	}
	if t.Part.Together() {
		return false
	}
	return s.Category != "" && t.Category == s.Category || s.Effect != 0 && t.Effect == s.Effect || slices.Contains(s.Tools, t.Name)
}

// Of is the tools of the set, in their order.
func (s *Toolset) Of(tools []mcpcore.Tool) []mcpcore.Tool {
	workflows := slices.Clone(s.Workflows)
	for i := range tools {
		if t := &tools[i]; t.Part.Together() && slices.Contains(s.Tools, t.Name) {
			workflows = append(workflows, t.Part.Workflow)
		}
	}
	var of []mcpcore.Tool
	for i := range tools {
		if s.holds(&tools[i], workflows) {
			of = append(of, tools[i])
		}
	}
	return of
}

// All is every toolset of the tools, sorted by name: "category:" and the name for
// each category, the named ones that hold something, and one called after each
// workflow that no named one lists. A named one without a doc says which of its
// workflows the tools are of.
func All(tools []mcpcore.Tool, named ...Toolset) []Toolset {
	var all []Toolset
	listed := map[string]bool{}
	for _, s := range named {
		var held []string
		for _, w := range s.Workflows {
			listed[w] = true
			if slices.ContainsFunc(tools, func(t mcpcore.Tool) bool { return t.Part.Workflow == w }) {
				held = append(held, w)
			}
		}
		if s.Doc == "" && len(held) > 0 {
			s.Doc = docOf(held...)
		}
		if len(s.Of(tools)) > 0 {
			all = append(all, s)
		}
	}
	seen := map[string]bool{}
	for i := range tools {
		s := Toolset{Name: categoryPrefix + tools[i].Category, Doc: "the category " + tools[i].Category, Category: tools[i].Category}
		if w := tools[i].Part.Workflow; w != "" {
			s = Toolset{Name: w, Doc: docOf(w), Workflows: []string{w}}
			if listed[w] {
				continue
			}
		} else if s.Category == "" {
			continue
		}
		if !seen[s.Name] {
			seen[s.Name] = true
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Toolset) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// docOf is the doc of a toolset that holds these workflows.
func docOf(workflows ...string) string {
	if len(workflows) == 1 {
		return "the reviewed workflow " + workflows[0]
	}
	return "the reviewed workflows " + strings.Join(workflows, ", ")
}

// UnknownError is the error of a name that is no toolset's.
type UnknownError struct {
	Name    string // as it was given
	Nearest string // the toolset that it was probably meant to be; "" for none
}

// Error quotes the beginning of the name.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("there is no toolset %.60q", e.Name)
	if e.Nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return text
}

// Parse is the toolsets of the names. nil names are nil toolsets, which
// [Select] takes for all tools. The error joins an [*UnknownError] for each name that
// is none; a list without a name is an error too: a slip must not open what was
// meant to be closed.
func Parse(names []string, all []Toolset) (picked []Toolset, err error) {
	if names == nil {
		return nil, nil
	}
	if len(names) == 0 {
		return nil, errors.New("no toolset is named")
	}
	var problems []error
	for _, name := range names {
		i := slices.IndexFunc(all, func(s Toolset) bool { return s.Name == name })
		if i >= 0 {
			picked = append(picked, all[i])
			continue
		}
		problems = append(problems, &UnknownError{name, nearest(name, all)})
	}
	return picked, errors.Join(problems...)
}

// nearest is the toolset that a name was probably meant to be; "" for none. The
// prefix of a category may be missing.
func nearest(name string, all []Toolset) string {
	names := make([]string, len(all))
	bare := make([]string, len(all))
	for i, s := range all {
		names[i], bare[i] = s.Name, strings.TrimPrefix(s.Name, categoryPrefix)
	}
	if near := args.Nearest(strings.TrimPrefix(name, categoryPrefix), bare); near != "" {
		return names[slices.Index(bare, near)]
	}
	return args.Nearest(name, names)
}

// Select is the tools that the toolsets hold, in their order; all of them when
// by is nil.
func Select(tools []mcpcore.Tool, by []Toolset) []mcpcore.Tool {
	if by == nil {
		return tools
	}
	held := map[string]bool{}
	for i := range by {
		for _, t := range by[i].Of(tools) {
			held[t.Name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t mcpcore.Tool) bool { return !held[t.Name] })
}

// home is the toolset that a tool is found under: that of its workflow or of its
// category; "" for neither.
func home(t *mcpcore.Tool, all []Toolset) string {
	for i := range all {
		s := &all[i]
		if w := t.Part.Workflow; w != "" && slices.Contains(s.Workflows, w) || w == "" && t.Category != "" && s.Category == t.Category {
			return s.Name
		}
	}
	return ""
}
