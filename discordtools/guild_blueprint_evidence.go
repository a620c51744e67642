package discordtools

import (
	"context"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/internal/fence"
)

func reviewBlueprint(ctx context.Context, a *api, in blueprintEvidence) (v blueprintReviewed, err error) {
	t := target{Guild: in.GuildID, Bot: in.Bot}
	problems := a.blueprints.boundary(t)
	if len(problems) == 0 {
		if problems, err = a.blueprints.verified(ctx); err != nil {
			return v, err
		}
	}
	if len(problems) > 0 {
		return blockedReview(in.Plan, t, problems), nil
	}
	r := (&blueprint.Applier{Conn: callConn{a}, Records: a.blueprints.records, Clock: a.now}).Review(ctx, in.Plan, a.call.Principal(), t)
	v = blueprintReviewed{Status: r.Status, Plan: in.Plan, BlueprintID: r.Blueprint, Target: t}
	v.Verification = reviewedVerified{Identity: true, Guild: r.Draft != nil, Readback: blueprint.NotRun, Unchanged: r.Unchanged, Blockers: r.Blockers}
	if e := r.Evidence; e != nil {
		v.EvidenceID = &e.ID
		v.Record = &reviewedRecord{e.SchemaVersion, e.Recorded, *r.Operations, e.Invariants, e.Observed}
	}
	if f := r.Draft; f != nil {
		inventory := f.Guild.Inventory()
		v.Verification.Current, v.Verification.Warnings = &inventory, f.Warnings
		v.Verification.Left, v.Verification.Readback = firstOf(f.Operations, maxOperations), blueprint.Match
		if r.Status != "verified" {
			v.Verification.Readback = blueprint.Drift
		}
	}
	text := "The evidence is " + r.Status + ".\n" + problemText(r.Blockers)
	if r.Draft != nil && r.Status == "drifted" {
		text += fence.Text(fence.ChannelTopic, cutText(r.Draft.Diff()))
	}
	v.Spoken = text + receipt(receiptLine{Schema: receiptSchema, Phase: "evidence", Status: r.Status, Target: &t, Plan: &in.Plan, ID: r.Blueprint, Evidence: v.EvidenceID, Blockers: codesOf(r.Blockers)})
	return v, nil
}

func blockedReview(plan string, t target, problems []blueprint.Problem) blueprintReviewed {
	v := blueprintReviewed{Status: "blocked", Plan: plan, Target: t}
	v.Verification = reviewedVerified{Readback: blueprint.NotRun, Blockers: problems}
	v.Spoken = problemText(problems) + receipt(receiptLine{Schema: receiptSchema, Phase: "evidence", Status: "blocked", Target: &t, Plan: &plan, Blockers: codesOf(problems)})
	return v
}
