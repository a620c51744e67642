package discordtools

import (
	"context"
	"fmt"
	"strconv"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
)

func compileBlueprint(ctx context.Context, a *api, in compileWish) (v blueprintCompiled, err error) {
	d, found, err := a.compiled(ctx, in.wish)
	if err != nil {
		return v, err
	}
	id, c := d.ID(), found.Verification
	stated, err := canon.Marshal(d.Stated())
	if err != nil {
		return v, fmt.Errorf("write blueprint: %w", err)
	}
	return blueprintCompiled{
		Status: statusOf(found), Request: in.Request, Source: sourceOf(found), ID: &id, Blueprint: stated,
		Verification: compiledVerified{c.Records, c.Candidates, c.Inspected, c.Requests, c.Kept, c.Verified, c.Failed, c.Rejected, "passed", len(d.JSON())},
		Warnings:     warningsOf(in.wish, found, d),
	}, nil
}

// compiled is the blueprint of a request.
func (a *api) compiled(ctx context.Context, in wish) (*blueprint.Document, templateRecommended, error) {
	found, err := a.recommend(ctx, in)
	if err != nil {
		return nil, found, err
	}
	b := blueprint.Brief{Request: in.Request, Basis: &blueprint.Basis{Interpretation: "verified_structural_signals_and_capability_modules"}}
	for _, c := range found.chosen() {
		b.More = append(b.More, c.Effective...)
		b.Basis.Signals = append(b.Basis.Signals, c.Structural...)
	}
	if p := found.Primary; p != nil {
		b.Basis.Channels, b.Basis.Categories, b.Basis.Roles = p.Blueprint.Channels, p.Blueprint.Categories, p.Blueprint.Roles
	}
	return blueprint.Compile(b), found, nil
}

func statusOf(found templateRecommended) string {
	if found.failed && found.Primary == nil {
		return "partial"
	}
	return "ready"
}

func sourceOf(found templateRecommended) blueprintSource {
	return blueprintSource{found.Version, found.Primary, found.Inspirations, "discard_source_and_regenerate"}
}

func warningsOf(in wish, found templateRecommended, d *blueprint.Document) (all []string) {
	if len(d.Capabilities) == 0 {
		all = append(all, "nothing in the request says what kind of guild it is to be; this is a community")
	}
	if in.Preferred != "" && !found.Verification.Selected {
		all = append(all, "the preferred template was not used; rejected_candidates of templates_recommend says why")
	}
	if found.failed {
		all = append(all, "some templates could not be looked at")
	}
	return all
}

func planBlueprint(ctx context.Context, a *api, in blueprintPlan) (v blueprintPlanned, err error) {
	t := target{Guild: in.GuildID, Bot: in.Bot}
	if problems := a.blueprints.boundary(t); len(problems) > 0 {
		return blockedPlan(in.Request, t, problems), nil
	}
	if problems, err := a.blueprints.verified(ctx); err != nil || len(problems) > 0 {
		return blockedPlan(in.Request, t, problems), err
	}
	v.Request, v.Target = in.Request, &t
	var d *blueprint.Document
	if raw, given := a.call.Arg("blueprint"); given {
		var issues []mcpcore.Issue
		if d, issues = blueprint.Parse(raw); issues != nil {
			return v, mcpcore.Invalid(issues...)
		}
	} else {
		w := wish{in.Request, in.Preferred, in.Codes}
		var found templateRecommended
		if d, found, err = a.compiled(ctx, w); err != nil {
			return v, err
		}
		source, c := sourceOf(found), found.Verification
		v.Source, v.Warnings = &source, warningsOf(w, found, d)
		v.Verification = plannedVerified{Records: c.Records, Inspected: c.Inspected, Requests: c.Requests, Kept: c.Kept, Verified: c.Verified}
		if v.Blueprint, err = canon.Marshal(d.Stated()); err != nil {
			return v, fmt.Errorf("write blueprint: %w", err)
		}
	}
	g, err := blueprint.Read(ctx, callConn{a}, in.GuildID, in.Bot, d, nil)
	if err != nil {
		return v, fmt.Errorf("read the guild: %w", err)
	}
	f := blueprint.Compare(d, g, blueprint.Bindings{}, in.Adopt)
	return v, a.planned(ctx, &v, f)
}

// planned fills the answer from a draft, and keeps its plan.
func (a *api) planned(ctx context.Context, v *blueprintPlanned, f *blueprint.Draft) error {
	p := f.Plan()
	id, snapshot, plan, sum, trees := p.BlueprintID, p.Snapshot, p.ID(), blueprint.Summarize(f.Operations), f.Trees()
	v.BlueprintID, v.Snapshot, v.Summary, v.Permissions = &id, &snapshot, &sum, &f.Rights
	if raw, err := canon.Marshal(trees); err == nil && len(raw) <= maxTrees {
		v.Trees = &trees
	}
	v.Operations, v.Blockers = firstOf(f.Operations, maxOperations), f.Blockers
	v.Warnings = append(v.Warnings, f.Warnings...)
	v.Verification.Validation, v.Verification.Readback = "passed", "passed"
	if len(f.Operations) > maxOperations {
		v.Warnings = append(v.Warnings, fmt.Sprintf("only the first %d of %d operations are listed; the text shows all", maxOperations, len(f.Operations)))
	}
	switch {
	case len(f.Blockers) > 0:
		v.Status = "blocked"
	case len(f.Operations) > blueprint.MaxOperations:
		return mcpcore.Errorf(mcpcore.CodeValidation, "the plan has %d operations, and at most %d are carried out", len(f.Operations), blueprint.MaxOperations)
	default:
		v.Status = "ready"
		if f.Current() {
			v.Status = "already_current"
		}
		r, who := a.blueprints.records, a.call.Principal()
		approval := r.Sealer.Approval(p, who)
		v.Plan, v.Approval = &plan, &approval
		if token, err := r.Sealer.Token(p, who); err == nil {
			v.Token = &token
		}
		if ref, err := r.SavePlan(ctx, p, who); err == nil {
			v.Ref = &ref
		} else if v.Token == nil {
			return &mcpcore.Error{Code: mcpcore.CodeLedger, Detail: "the plan is too large for a token and could not be kept", Cause: err}
		} else {
			v.Warnings = append(v.Warnings, "the plan could not be kept, so that it has no plan_ref; plan_token works")
		}
	}
	v.Spoken = fence.Text(fence.ChannelTopic, cutText(f.Diff())) + receipt(receiptLine{
		Schema: receiptSchema, Phase: "plan", Status: v.Status, Target: v.Target, Plan: v.Plan, ID: v.BlueprintID, Approval: v.Approval, Ref: v.Ref, Blockers: codesOf(v.Blockers),
	})
	return nil
}

// maxTrees is how many bytes of trees an answer shows; the text has them always.
const maxTrees = 24 << 10

// cutText is a text that hosts take.
func cutText(s string) string {
	const most = 48 << 10
	if len(s) <= most {
		return s
	}
	return s[:most] + "\n(the rest is left out for its size)"
}

func blockedPlan(request string, t target, problems []blueprint.Problem) blueprintPlanned {
	v := blueprintPlanned{Status: "blocked", Request: request, Blockers: problems}
	v.Verification.Validation, v.Verification.Readback = "not_run", "not_run"
	if t.Guild != "" && t.Bot != "" {
		v.Target = &t
	}
	v.Spoken = problemText(problems) + receipt(receiptLine{Schema: receiptSchema, Phase: "plan", Status: v.Status, Target: v.Target, Blockers: codesOf(problems)})
	return v
}

// problemText is what stands in the way, in our own words.
func problemText(problems []blueprint.Problem) (s string) {
	for _, p := range problems {
		s += p.Code + ": " + p.Message + ". " + p.Hint + "\n"
	}
	return s
}

func applyBlueprint(ctx context.Context, a *api, in blueprintApply) (blueprintApplied, error) {
	p, problems, err := a.blueprints.named(ctx, a.call)
	if err != nil {
		return blueprintApplied{}, err
	}
	if len(problems) > 0 {
		return blockedApply(target{Guild: in.GuildID, Bot: in.Bot}, p, problems), nil
	}
	budget := in.Budget
	if budget == 0 {
		budget = 25
	}
	a.speak() // from the first operation on, not of the readings before it
	out := (&blueprint.Applier{Conn: callConn{a}, Records: a.blueprints.records, Clock: a.now, Operations: a.blueprints.writes}).Apply(ctx, blueprint.Order{
		Plan: p, Principal: a.call.Principal(), Activity: a.call.ID(), Budget: budget,
		Progress: func(ctx context.Context, done, total int, words string) {
			a.tell(ctx, float64(done), float64(total), words)
		},
	})
	plan, id, zero := p.ID(), p.BlueprintID, out.Left
	v := blueprintApplied{
		Status: out.Status, Plan: &plan, BlueprintID: &id, Target: p.Target, Attempts: out.Attempts, Blockers: out.Blockers, Error: out.Failure, Next: out.Next, Warnings: out.Warnings,
		Progress: appliedProgress{out.Planned, out.Due, len(out.Attempts), len(out.Completed), out.Left, out.Version},
		Evidence: appliedEvidence{true, out.Before != nil, out.Readback, out.Before, out.After, out.Persisted, out.Bindings, firstOf(out.Completed, 2*maxOperations), out.Evidence},
	}
	var evidence *string
	if out.Evidence != nil {
		evidence = &out.Evidence.ID
	}
	v.Spoken = fmt.Sprintf("%s: %d operations in this call, %d left. Read-back: %s. Next: %s.\n", out.Status, len(out.Attempts), out.Left, out.Readback, out.Next) +
		problemText(out.Blockers) + failureText(out.Failure) +
		receipt(receiptLine{Schema: receiptSchema, Phase: "apply", Status: string(out.Status), Target: &p.Target, Plan: &plan, ID: &id, Next: out.Next, Left: &zero, Evidence: evidence, Blockers: codesOf(out.Blockers)})
	return v, nil
}

func failureText(f *blueprint.Failure) string {
	if f == nil {
		return ""
	}
	at := ""
	if f.Operation != nil {
		at = " at " + *f.Operation
	}
	return f.Code + at + ".\n"
}

func blockedApply(t target, p *blueprint.Plan, problems []blueprint.Problem) blueprintApplied {
	v := blueprintApplied{Status: blueprint.Blocked, Target: t, Blockers: problems, Next: nextFor(problems), Evidence: appliedEvidence{Readback: blueprint.NotRun}}
	if p != nil {
		plan, id := p.ID(), p.BlueprintID
		v.Plan, v.BlueprintID = &plan, &id
		v.Progress = appliedProgress{Planned: len(p.Operations), Left: len(p.Operations)}
	}
	v.Spoken = problemText(problems) + receipt(receiptLine{Schema: receiptSchema, Phase: "apply", Status: "blocked", Target: &t, Plan: v.Plan, ID: v.BlueprintID, Next: v.Next, Blockers: codesOf(problems)})
	return v
}

// blueprintPictures are the guild as it was planned from, and as it will be.
func blueprintPictures(ctx context.Context, a *api) ([]mcpcore.Picture, error) {
	p, problems, err := a.blueprints.named(ctx, a.call)
	if err != nil || len(problems) > 0 {
		return nil, err // which the call itself answers
	}
	return p.Pictures(), nil
}

// blueprintFacts are what a person sees before a plan is carried out.
func blueprintFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	p, problems, err := a.blueprints.named(ctx, a.call)
	if err != nil || len(problems) > 0 {
		return nil, err // which the call itself answers
	}
	var g struct {
		Name string `json:"name"`
	}
	if err := a.do(ctx, routeGuild, sub{Path: map[string]string{"guild_id": string(p.Target.Guild)}}, &g); err != nil {
		return nil, err
	}
	sum := blueprint.Summarize(p.Operations)
	facts := mcpcore.Facts{
		{Name: "guild", Value: g.Name + " (" + string(p.Target.Guild) + ")"}, {Name: "plan", Value: p.ID()},
		{Name: "operations", Value: fmt.Sprintf("%d: %d create, %d change, %d reorder, %d send", sum.Total, sum.Create, sum.Update, sum.Reorder, sum.Send)},
		{Name: "of high risk", Value: strconv.Itoa(sum.High)},
	}
	for _, op := range p.Operations {
		if op.Risk == "high" {
			facts = append(facts, mcpcore.Fact{Name: "high risk", Value: op.Summary})
		}
	}
	return facts, nil
}
