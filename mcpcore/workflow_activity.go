package mcpcore

import (
	"context"
	"slices"
)

type activityInput struct {
	Workflow string `json:"workflow,omitempty" jsonschema:"of this workflow alone, such as role-deletion"`
	Status   string `json:"status,omitempty" jsonschema:"with this status alone" enum:"reserved,pending,paused,completed,failed,uncertain"`
	Limit    int    `json:"limit,omitempty" jsonschema:"how many, 20 without it" minimum:"1" maximum:"100"`
}

type activityView struct {
	Receipts []receiptView `json:"receipts" jsonschema:"the newest first"`
	Held     []heldView    `json:"held" jsonschema:"targets that are being written, or are quarantined"`
}

type heldView struct {
	Claim    ClaimID    `json:"claimId"`
	State    ClaimState `json:"state"`
	Workflow string     `json:"workflow"`
	Targets  []string   `json:"targets"`
}

const activityName = "list_activity"

// Activity is the tool that lists what reviewed workflows did. [BuildServer] adds
// it when one of them is enabled and the tool is not there yet.
func Activity() Tool {
	return Define(Tool{
		Name: activityName, Title: "List what reviewed workflows did", Category: "meta", Effect: Read, Repeatable: true, Scope: LocalScope,
		Doc: "Lists the receipts of reviewed workflows and the targets that are held. It tells ids and outcomes, no content. A quarantined target is released by the operator alone.",
	}, func(ctx context.Context, c *Call, in activityInput) (v activityView, err error) {
		if in.Limit == 0 {
			in.Limit = 20
		}
		receipts, err := c.deps.Operations.Receipts(ctx, ReceiptFilter{Workflow: in.Workflow, Status: Status(in.Status), Limit: in.Limit})
		if err != nil {
			return v, c.noOperations(ctx, err)
		}
		for _, r := range receipts {
			v.Receipts = append(v.Receipts, r.view())
		}
		held, err := c.deps.Operations.Claims(ctx)
		if err != nil {
			return v, c.noOperations(ctx, err)
		}
		for _, h := range held {
			if h.State != ClaimFree && (in.Workflow == "" || in.Workflow == h.Workflow) {
				v.Held = append(v.Held, heldView{h.ID, h.State, h.Workflow, h.Targets})
			}
		}
		return v, nil
	})
}

// addActivity adds the tool where a workflow is enabled that can have done
// something.
func (d *Deps) addActivity() {
	there := slices.ContainsFunc(d.Tools, func(t Tool) bool { return t.Name == activityName })
	if !there && d.Operations != nil && slices.ContainsFunc(d.Tools, func(t Tool) bool { return t.flow() != nil && d.Permits.on(t.Part.Workflow) }) {
		d.Tools = append(d.Tools, Activity())
	}
}
