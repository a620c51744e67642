package mcpcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// on reports whether the policy enables the workflow.
func (p *WorkflowPolicy) on(workflow string) bool { return p.Permits[workflow].Enabled }

// Hides reports whether the tool is one of a workflow that the policy does not
// enable: no client gets to see it. The audits of a workflow stand by themselves.
func (p *WorkflowPolicy) Hides(t *Tool) bool { return t.flow() != nil && !p.on(t.Part.Workflow) }

func (p *WorkflowPolicy) source() string { return cmp.Or(p.Source, "the workflow policy") }

// off refuses what a policy does not allow and says which line of it would.
func (p *WorkflowPolicy) off(code Code, workflow, line, format string, with ...any) *Error {
	path := "workflows." + workflow + "." + line
	return Errorf(code, format, with...).With("workflow", workflow).With("policy", path).
		WithHint("Ask the operator: %s in %s would allow it. A change of the policy needs a restart.", path, p.source())
}

// permit is the precondition of a workflow's tools: the operator enabled it and
// named what it is to act on.
func (f *flow) permit(gate Gate, protects []string) Precondition {
	if gate != Reviewed {
		gate = ByEffect
	}
	return Precondition{
		Name: "workflow_policy", Gate: gate,
		Doc: "Acts only where the operator's policy enables the workflow, on the targets that it names, and never on a user that it protects.",
		Check: func(_ context.Context, c *Call) error {
			if p := &c.deps.Permits; !p.on(f.name) {
				return p.off(CodeWorkflowOff, f.name, `enabled: true`, "the workflow %s is off", f.name)
			}
			for _, s := range f.scopes {
				if s.Arg == "" {
					continue
				}
				for _, id := range texts(c.args[s.Arg]) {
					if err := c.Permitted(s.Name, id); err != nil {
						return err
					}
				}
			}
			for _, arg := range protects {
				for _, id := range texts(c.args[arg]) {
					if err := c.Protected(id); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// texts is an argument that is a text or a list of texts.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case []any:
		for _, item := range v {
			all = append(all, texts(item)...)
		}
	}
	return all
}

// Permitted refuses an id that the operator's policy does not name in that scope
// of the call's workflow: WORKFLOW_SCOPE_REJECTED. A Plan calls it for what it
// found and no argument names.
func (c *Call) Permitted(scope, id string) error {
	p, name := &c.deps.Permits, c.tool.Part.Workflow
	if slices.Contains(p.Permits[name].Scopes[scope], id) {
		return nil
	}
	return p.off(CodeWorkflowScope, name, "scopes."+scope, "the policy does not let %s act on %s in its scope %s", name, id, scope)
}

// Protected refuses a user whom the operator's policy protects: TARGET_PROTECTED.
func (c *Call) Protected(user string) error {
	if !slices.Contains(c.deps.Permits.Protected, user) {
		return nil
	}
	return Errorf(CodeProtected, "the policy protects the user %s", user).With("workflow", c.tool.Part.Workflow)
}

// ProtectedUsers are the users whom the operator's policy protects.
func (c *Call) ProtectedUsers() []string { return slices.Clone(c.deps.Permits.Protected) }

// Receipt is what is kept of an earlier operation of the call's workflow, by the
// operation key that it was executed with: for a Plan that undoes what the workflow
// did. It is [ErrReceiptMissing] when there is none.
func (c *Call) Receipt(ctx context.Context, operationKey string) (Receipt, error) {
	f := c.tool.flow()
	if f == nil || c.deps.Operations == nil {
		return Receipt{}, ErrReceiptMissing
	}
	r, err := c.deps.Operations.Receipt(ctx, f.name, HashKey(operationKey))
	if err != nil && !errors.Is(err, ErrReceiptMissing) {
		return Receipt{}, c.noOperations(ctx, err)
	}
	return r, err
}

// Limit is the bound of that name for the call's workflow: the policy's, or the
// declaration's default. 0 for a name that the workflow does not declare.
func (c *Call) Limit(name string) int {
	f := c.tool.flow()
	if f == nil {
		return 0
	}
	for _, l := range f.limits {
		if l.Name == name {
			if n, set := c.deps.Permits.Permits[f.name].Limits[name]; set {
				return min(n, l.Max)
			}
			return l.Default
		}
	}
	return 0
}

// checkWorkflows finds what is wrong between the workflows, their policy and
// their ledger.
func (d *Deps) checkWorkflows(problem func(string, ...any)) {
	flows, roles := map[string]*flow{}, map[string][]Role{}
	enabled := false
	for i := range d.Tools {
		t := &d.Tools[i]
		if f := t.flow(); f != nil {
			if first := flows[f.name]; first != nil && first != f {
				problem("workflow %q is declared twice", f.name)
			}
			flows[f.name] = f
			enabled = enabled || d.Permits.on(f.name)
		}
		roles[t.Part.Workflow] = append(roles[t.Part.Workflow], t.Part.Role)
	}
	for _, name := range slices.Sorted(maps.Keys(flows)) {
		if !slices.Contains(roles[name], Plan) || !slices.Contains(roles[name], Execute) {
			problem("workflow %q needs all of its tools", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Permits.Permits)) {
		if err := d.Permits.Permits[name].check(name, flows); err != nil {
			problem("%s: %w", d.Permits.source(), err)
		}
	}
	switch {
	case !enabled:
	case d.Operations == nil:
		problem("the policy enables workflows, which need Operations, a ledger of operations (MCP_LEDGER)")
	case !d.Operations.Durable() && !d.Volatile:
		problem("the policy enables workflows, and the ledger of their operations ends with the process: take one in a database (MCP_LEDGER), or say Volatile in a sandbox")
	}
}

func (p Permit) check(name string, flows map[string]*flow) error {
	f := flows[name]
	if f == nil {
		return fmt.Errorf("there is no workflow %q; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(flows)), ", "))
	}
	var problems []error
	for _, scope := range slices.Sorted(maps.Keys(p.Scopes)) {
		if !slices.ContainsFunc(f.scopes, func(s PolicyScope) bool { return s.Name == scope }) {
			problems = append(problems, fmt.Errorf("workflows.%s.scopes has no %q", name, scope))
		}
	}
	for _, limit := range slices.Sorted(maps.Keys(p.Limits)) {
		i := slices.IndexFunc(f.limits, func(l PolicyLimit) bool { return l.Name == limit })
		switch {
		case i < 0:
			problems = append(problems, fmt.Errorf("workflows.%s.limits has no %q", name, limit))
		case p.Limits[limit] < 0 || p.Limits[limit] > f.limits[i].Max:
			problems = append(problems, fmt.Errorf("workflows.%s.limits.%s is %d, and can be 0 to %d", name, limit, p.Limits[limit], f.limits[i].Max))
		}
	}
	return errors.Join(problems...)
}
