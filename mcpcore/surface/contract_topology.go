package surface

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
)

var workflowName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// faults finds what is wrong with the tools as a whole, in their order.
func faults(tools []mcpcore.Tool) (problems []error) {
	problem := func(format string, with ...any) { problems = append(problems, fmt.Errorf(format, with...)) }
	seen := map[string]bool{}
	for i := range tools {
		t := &tools[i]
		if seen[t.Name] {
			problem("tool %q is declared twice", t.Name)
		}
		seen[t.Name] = true
		for _, what := range incomplete(t) {
			problem("tool %q: %s", t.Name, what)
		}
		for _, what := range misplaced(t) {
			problem("tool %q: %s", t.Name, what)
		}
	}
	for _, w := range workflowNames(tools) {
		for _, role := range []struct {
			mcpcore.Role
			least, most int
		}{{mcpcore.Plan, 1, 1}, {mcpcore.Execute, 1, 1}, {mcpcore.Verify, 0, 1}} {
			names := inRole(tools, w, role.Role)
			switch {
			case len(names) < role.least:
				problem("workflow %q has no %s tool; its tools are of use together alone", w, role.Role)
			case len(names) > role.most:
				problem("workflow %q has %d %s tools: %s", w, len(names), role.Role, strings.Join(names, ", "))
			}
		}
	}
	return problems
}

// incomplete says what of an entry, or of the definition that it belongs to, a
// tool leaves open.
func incomplete(t *mcpcore.Tool) (what []string) {
	for _, missing := range []struct {
		yes  bool
		what string
	}{
		{strings.TrimSpace(t.Title) == "", "title"},
		{strings.TrimSpace(t.Doc) == "", "doc"},
		{len(t.InputSchema()) == 0, "input schema"},
		{len(t.OutputSchema()) == 0, "output schema"},
		{t.Effect.String() == "unknown", "known effect"},
		{t.Scope.String() == "unknown", "known scope"},
		{t.EffectiveGate().String() == "unknown", "known gate"},
		{t.Part.Role.String() == "unknown", "known role"},
	} {
		if missing.yes {
			what = append(what, "it has no "+missing.what)
		}
	}
	for _, n := range t.NeedsWhen {
		for _, text := range []string{n.Equals, n.Unless} {
			if text != "" && !json.Valid([]byte(text)) {
				what = append(what, fmt.Sprintf("NeedsWhen of %q compares with %q, which is not a JSON value", n.Arg, text))
			}
		}
	}
	return what
}

// misplaced says how a tool contradicts its class.
func misplaced(t *mcpcore.Tool) (what []string) {
	say := func(wrong bool, format string, with ...any) {
		if wrong {
			what = append(what, fmt.Sprintf(format, with...))
		}
	}
	role, reads, gate := t.Part.Role, t.Effect == mcpcore.Read, t.EffectiveGate()
	alone := role == mcpcore.Alone
	say(alone && t.Part.Workflow != "", "it is of the workflow %q and has no role there", t.Part.Workflow)
	say(!alone && t.Part.Workflow == "", "it is a %s of no workflow", role)
	say(t.Part.Workflow != "" && !workflowName.MatchString(t.Part.Workflow), "the name of its workflow, %q, must match %s", t.Part.Workflow, workflowName)
	say(!alone && role != mcpcore.Execute && !reads, "it is a %s and changes something; only an execute tool may", role)
	say(role == mcpcore.Execute && reads, "it is an execute tool and changes nothing")
	say(role == mcpcore.Execute && gate != mcpcore.Reviewed, "it executes a reviewed plan and its gate is %s; it must be %s", gate, mcpcore.Reviewed)
	say(role != mcpcore.Execute && gate == mcpcore.Reviewed, "its gate is %s and it executes no plan", gate)
	say(reads && gate != mcpcore.NoGate, "it only reads and has the gate %s", gate)
	say(t.Scope == mcpcore.LocalScope && len(t.Routes) > 0, "it is local and uses the route %s", strings.Join(t.Routes, ", "))
	return what
}

// workflowNames are the workflows that tools make up, sorted. Audits alone make up
// none.
func workflowNames(tools []mcpcore.Tool) (names []string) {
	for _, t := range tools {
		if p := t.Part; p.Together() && !slices.Contains(names, p.Workflow) {
			names = append(names, p.Workflow)
		}
	}
	slices.Sort(names)
	return names
}

// inRole are the tools with a role in a workflow, sorted.
func inRole(tools []mcpcore.Tool, workflow string, role mcpcore.Role) (names []string) {
	for _, t := range tools {
		if t.Part == (mcpcore.Part{Workflow: workflow, Role: role}) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}

// workflows are those of tools without [faults], by name.
func workflows(tools []mcpcore.Tool) (all []Workflow) {
	for _, name := range workflowNames(tools) {
		w := Workflow{
			Name: name, Plan: inRole(tools, name, mcpcore.Plan)[0], Execute: inRole(tools, name, mcpcore.Execute)[0],
			Companions: listed(slices.Concat(inRole(tools, name, mcpcore.Audit), inRole(tools, name, mcpcore.Companion))),
		}
		if verify := inRole(tools, name, mcpcore.Verify); len(verify) > 0 {
			w.Verify = verify[0]
		}
		all = append(all, w)
	}
	return all
}
