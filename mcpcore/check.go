package mcpcore

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/internal/args"
)

var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// check finds everything that is wrong with deps.
func (d *Deps) check() error {
	var problems []error
	problem := func(format string, with ...any) { problems = append(problems, fmt.Errorf(format, with...)) }
	if len(d.Tools) == 0 {
		problem("no tools")
	}
	seen := map[string]bool{}
	for i := range d.Tools {
		t := &d.Tools[i]
		if seen[t.Name] {
			problem("tool %q is declared twice", t.Name)
		}
		seen[t.Name] = true
		for _, err := range d.checkTool(t) {
			problem("tool %q: %w", t.Name, err)
		}
	}
	if d.Opening != nil && len(d.Tools) > 0 && !slices.ContainsFunc(d.Tools, func(t Tool) bool { return d.Opening(&t) && !d.hides(&t) }) {
		problem("Opening opens no tool, so that no call could reveal one")
	}
	d.checkChain(problem)
	d.checkWorkflows(problem)
	d.checkResources(problem)
	d.checkPrompts(problem)
	for _, p := range d.Policies {
		if p.Name == "" {
			problem("a policy has no name")
		}
	}
	if slices.Contains(d.Evidence, nil) {
		problem("an evidence resolver is nil")
	}
	if d.RequirePreview && d.Ledger == nil {
		problem("RequirePreview needs a Ledger to note previews in")
	}
	if d.Deadline < 0 || d.InFlight < 0 {
		problem("Deadline and InFlight cannot be negative")
	}
	return errors.Join(problems...)
}

func (d *Deps) checkTool(t *Tool) (problems []error) {
	problem := func(format string, with ...any) { problems = append(problems, fmt.Errorf(format, with...)) }
	if !toolName.MatchString(t.Name) {
		problem("the name must match %s", toolName)
	}
	if strings.TrimSpace(t.Doc) == "" {
		problem("it has no doc")
	}
	if t.Effect < Read || t.Effect > Destroy {
		problem("it states no effect")
	}
	if t.Scope < GuildScope || t.Scope > ExternalScope {
		problem("it states no scope")
	}
	if t.Gate < ByEffect || t.Gate > Reviewed {
		problem("its gate is unknown")
	}
	if t.Effect == Read && t.Steps != nil {
		problem("it only reads and makes steps, which may write")
	}
	if t.Effect == Read && t.EffectiveGate() != NoGate {
		problem("it only reads and has the gate %s", t.EffectiveGate())
	}
	switch {
	case t.impl == nil:
		problem("it was not made with Define")
		return problems
	case t.impl.err != nil:
		problem("%w", t.impl.err)
	case t.impl.run == nil:
		problem("it has no handler")
	}
	for _, name := range args.Authorization {
		if t.Takes(name) {
			problem("its argument %q is an authorization field, which no handler gets to see", name)
		}
	}
	for i, r := range t.Rules {
		if (r.Check == nil) == (r.All == nil) {
			problem("rule %d has no check, or two", i+1)
		}
	}
	if t.Outranks != "" && !t.Takes(t.Outranks) {
		problem("Outranks names %q, which is not an argument", t.Outranks)
	}
	if t.NeedsIn != "" && !t.Takes(t.NeedsIn) {
		problem("NeedsIn names %q, which is not an argument", t.NeedsIn)
	}
	for _, layer := range d.Chain {
		if layer.Check == nil {
			continue
		}
		if err := layer.Check(t); err != nil {
			problem("layer %q: %w", layer.Name, err)
		}
	}
	if t.Packed.Arg != "" && (!t.Takes(t.Packed.Arg) || slices.Contains(t.Packed.Names, t.Packed.Arg)) {
		problem("Packed is %q, which must be an argument that does not carry itself", t.Packed.Arg)
	}
	for _, n := range slices.Concat(t.Redact, needArgs(t.NeedsWhen), t.Packed.Names) {
		if !t.Takes(n) {
			problem("it speaks of %q, which is not an argument", n)
		}
	}
	if d.Ledger == nil {
		switch {
		case t.EffectiveGate() == Payload:
			problem("its gate needs a ledger, and there is none")
		case d.person(t):
			problem("a person must approve it, which needs a ledger, and there is none")
		case t.flow() != nil && t.EffectiveGate() == Reviewed && d.Permits.on(t.Part.Workflow):
			problem("a person reviews it, which needs a ledger, and there is none")
		}
	}
	if t.Payload != nil && t.EffectiveGate() != Payload {
		problem("it reviews a payload and its gate is %s", t.EffectiveGate())
	}
	gate := t.EffectiveGate()
	kept := gate == NoGate || gate == Payload
	for _, p := range d.preconditions(t) {
		kept = kept || p.Gate == gate
		if p.Name == "" || p.Check == nil {
			problem("a precondition has no name or no check")
		}
		for _, name := range p.Fields {
			if authorization[name] == nil {
				problem("precondition %q reads %q, which is not an authorization field", p.Name, name)
			}
		}
		for _, kind := range p.Needs {
			if d.resolver(kind) == nil {
				problem("precondition %q needs evidence %q, and no resolver gives it", p.Name, kind)
			}
		}
	}
	switch {
	case kept:
	case gate == TwoKey:
		problem("it is two-key, and no precondition confirms it; add preconditions.ConfirmRequired")
	default:
		problem("its gate is %s, and no precondition keeps that gate", gate)
	}
	return problems
}

func needArgs(needs []Need) (names []string) {
	for _, n := range needs {
		names = append(names, n.Arg)
	}
	return names
}

// checkChain demands a layer for every guard that some tool needs, in order.
func (d *Deps) checkChain(problem func(string, ...any)) {
	if len(d.Chain) == 0 {
		problem("the chain is empty; use middleware.Standard")
	}
	names, at := map[string]bool{}, map[Guard]int{}
	for i, layer := range d.Chain {
		if layer.Name == "" || layer.Wrap == nil {
			problem("layer %d has no name or no Wrap", i+1)
		}
		if names[layer.Name] {
			problem("layer %q stands twice", layer.Name)
		}
		names[layer.Name] = true
		if layer.Guard != "" {
			at[layer.Guard] = i + 1
		}
		if layer.Guard != "" && !slices.ContainsFunc(guardNames, func(g namedGuard) bool { return g.name == layer.Guard }) {
			problem("layer %q has the unknown guard %q", layer.Name, layer.Guard)
		}
	}
	var needed guards
	for i := range d.Tools {
		needed |= d.needs(&d.Tools[i])
	}
	last := 0
	for _, g := range guardNames {
		switch {
		case !needed.has(g.bit) && at[g.name] == 0:
		case at[g.name] == 0:
			problem("the chain has no layer for the guard %q", g.name)
		case at[g.name] < last:
			problem("the layer for the guard %q stands too far out", g.name)
		default:
			last = at[g.name]
		}
	}
}
