package blueprint

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Evidence says what was proven when a plan was carried out to the end.
type Evidence struct {
	SchemaVersion string     `json:"schema_version"`
	ID            string     `json:"evidence_id"`
	Recorded      string     `json:"recorded_at"`
	Invariants    Invariants `json:"plan_invariants"`
	Observed      Observed   `json:"observed"`
}

// Invariants are what the plan was held to.
type Invariants struct {
	Counts Counts `json:"expected_counts"`
	Safety struct {
		Source    bool `json:"source_permissions_applied"`
		Dangerous int  `json:"dangerous_generated_permissions"`
		Grants    int  `json:"bot_permission_grants"`
		Managed   int  `json:"discord_managed_role_mutations"`
	} `json:"safety_policy"`
}

// Counts are how many of each the blueprint has.
type Counts struct {
	Identity   int `json:"identity"`
	Roles      int `json:"roles"`
	Categories int `json:"categories"`
	Channels   int `json:"channels"`
	Ordering   int `json:"ordering"`
	Guild      int `json:"guild"`
	Welcome    int `json:"welcome_screen"`
	Onboarding int `json:"onboarding"`
	AutoMod    int `json:"automod"`
	Components int `json:"components_v2"`
}

// Observed is what was read.
type Observed struct {
	Initial   string   `json:"initial_snapshot_id"`
	Final     string   `json:"final_snapshot_id"`
	Version   int      `json:"checkpoint_version"`
	Completed []string `json:"completed_operation_ids"`
	Bindings  Bindings `json:"bindings"`
	Match     bool     `json:"blueprint_readback_match"`
}

const evidenceVersion = "guild_blueprint_activity_evidence.v1"

// proof is the record of evidence.
type proof struct {
	Evidence
	PlanID      string          `json:"plan_id"`
	BlueprintID string          `json:"blueprint_id"`
	Target      Target          `json:"target"`
	Blueprint   json.RawMessage `json:"blueprint"`
	Operations  int             `json:"initial_operation_count"`
	Policy      Policy          `json:"policy"`
}

var errConflict = errors.New("other evidence is kept of the plan")

// counts are how many of each the document has.
func (d *Document) counts() Counts {
	c := Counts{Identity: 2, Ordering: 2, Guild: 1, Welcome: 1, Onboarding: 1, Roles: len(d.Roles), Categories: len(d.Categories), Channels: len(d.Channels), Components: len(d.publications())}
	if d.Onboarding != nil {
		for _, p := range d.Onboarding.Prompts {
			c.Onboarding += 1 + len(p.Options)
		}
	}
	if d.AutoMod != nil {
		c.AutoMod = len(d.AutoMod.Rules)
	}
	return c
}

// prove keeps what the call proved. Evidence that is there already stays as it
// is.
func (r Records) prove(ctx context.Context, of *run) (*Evidence, error) {
	there, err := r.evidence(ctx, of.Plan.id, of.Principal)
	switch {
	case err == nil && there.Target == of.Plan.Target && there.BlueprintID == of.Plan.BlueprintID:
		return &there.Evidence, nil
	case err == nil:
		return nil, errConflict
	case !errors.Is(err, ErrNoRecord):
		return nil, err
	}
	completed := slices.Clone(of.point.Completed)
	slices.Sort(completed)
	p := &proof{
		Evidence: Evidence{
			SchemaVersion: evidenceVersion, Recorded: of.Clock().UTC().Format(time.RFC3339),
			Invariants: Invariants{Counts: of.Plan.doc.counts()},
			Observed:   Observed{of.Plan.Snapshot, *of.After, of.point.Version, completed, of.draft.Bindings, true},
		},
		PlanID: of.Plan.id, BlueprintID: of.Plan.BlueprintID, Target: of.Plan.Target, Blueprint: of.Plan.Blueprint,
		Operations: len(of.Plan.Operations), Policy: of.Plan.Policy,
	}
	p.ID = digestOf(p)
	_, err = r.Store.Save(ctx, evidenceKind, p.PlanID, 0, r.Sealer.wrap(evidenceKind, of.Principal, p.PlanID, p), 0)
	if errors.Is(err, mcpcore.ErrStale) {
		err = errConflict
	}
	return &p.Evidence, err
}

// evidence is what is kept of a plan.
func (r Records) evidence(ctx context.Context, plan, principal string) (*proof, error) {
	raw, _, err := r.load(ctx, evidenceKind, principal, plan)
	if err != nil {
		return nil, err
	}
	p := &proof{}
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, errTampered
	}
	bare := *p
	bare.ID = ""
	if p.PlanID != plan || p.SchemaVersion != evidenceVersion || digestOf(bare) != p.ID {
		return nil, errTampered
	}
	return p, nil
}

// Review is what is kept of a plan, and whether it still holds.
type Review struct {
	Status     string // verified, drifted, not_found or blocked
	Blueprint  *string
	Evidence   *Evidence
	Operations *int // of the plan
	Draft      *Draft
	Blockers   []Problem
	Unchanged  *bool // the guild is exactly as it was read then
}

// Review looks whether what was proven of a plan still holds. It changes
// nothing.
func (a *Applier) Review(ctx context.Context, plan, principal string, target Target) *Review {
	v := &Review{Status: "blocked", Blockers: []Problem{}}
	block := func(code, message, hint string) *Review {
		v.Blockers = append(v.Blockers, Problem{Code: code, Message: message, Hint: hint})
		return v
	}
	p, err := a.Records.evidence(ctx, plan, principal)
	switch {
	case errors.Is(err, ErrNoRecord):
		v.Status = "not_found"
		return v
	case errors.Is(err, errTampered):
		return block("ACTIVITY_EVIDENCE_UNVERIFIABLE", "the record is malformed, was changed, or is another caller's", "Do not rely on it. Plan anew.")
	case err != nil:
		return block("ACTIVITY_EVIDENCE_UNAVAILABLE", "the record cannot be read now", "Try again, or have the operator look at the ledger.")
	case p.Target != target:
		return block("EVIDENCE_TARGET_MISMATCH", "the record is of another guild or bot", "Name the guild and the bot that the plan was for.")
	}
	doc, issues := Parse(p.Blueprint)
	if issues != nil {
		return block("ACTIVITY_EVIDENCE_UNVERIFIABLE", "the record's blueprint cannot be read", "Plan anew.")
	}
	v.Blueprint, v.Evidence, v.Operations = &p.BlueprintID, &p.Evidence, &p.Operations
	g, err := Read(ctx, a.Conn, target.Guild, target.Bot, doc, p.Observed.Bindings.Channels)
	if err != nil {
		return block("DISCORD_READBACK_UNAVAILABLE", "the guild cannot be read now", "Try again.")
	}
	v.Draft = Compare(doc, g, p.Observed.Bindings, p.Policy.Drift == "update")
	v.Blockers = v.Draft.Blockers
	same := g.ID() == p.Observed.Final
	v.Unchanged = &same
	v.Status = "drifted"
	if v.Draft.Current() {
		v.Status = "verified"
	}
	return v
}
