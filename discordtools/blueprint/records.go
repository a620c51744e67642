package blueprint

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Kinds of records.
const (
	planKind       = "blueprint_plan"
	checkpointKind = "blueprint_checkpoint"
	evidenceKind   = "blueprint_evidence"
)

// PlanLife is how long a plan can be found by its reference.
const PlanLife = 24 * time.Hour

// Records keeps plans, checkpoints and evidence in a store, each authenticated.
type Records struct {
	Store  mcpcore.Store
	Sealer *Sealer
}

// ErrNoRecord says that there is none.
var ErrNoRecord = errors.New("there is no such record")

// SavePlan keeps a plan for PlanLife and is its reference.
func (r Records) SavePlan(ctx context.Context, p *Plan, principal string) (string, error) {
	ref := r.Sealer.Ref(p, principal)
	name := strings.TrimPrefix(ref, refPrefix)
	last, _, err := r.Store.Load(ctx, planKind, name)
	if err != nil {
		return "", err
	}
	_, err = r.Store.Save(ctx, planKind, name, last, r.Sealer.wrap(planKind, principal, name, p), PlanLife)
	if errors.Is(err, mcpcore.ErrStale) { // somebody saved the same plan
		err = nil
	}
	return ref, err
}

// Plan is the plan of a reference; ErrNoRecord when it is not there any more.
func (r Records) Plan(ctx context.Context, ref, principal string) (*Plan, error) {
	name := strings.TrimPrefix(ref, refPrefix)
	raw, _, err := r.load(ctx, planKind, principal, name)
	if err != nil {
		return nil, err
	}
	p, err := readPlan(raw)
	if err == nil && r.Sealer.Ref(p, principal) != ref {
		err = errTampered
	}
	return p, err
}

func (r Records) load(ctx context.Context, kind, principal, name string) (json.RawMessage, int64, error) {
	version, data, err := r.Store.Load(ctx, kind, name)
	switch {
	case err != nil:
		return nil, 0, err
	case version == 0:
		return nil, 0, ErrNoRecord
	}
	raw, err := r.Sealer.unwrap(kind, principal, name, data)
	return raw, version, err
}

// Checkpoint is how far a plan was carried out.
type Checkpoint struct {
	SchemaVersion string     `json:"schema_version"`
	PlanID        string     `json:"plan_id"`
	BlueprintID   string     `json:"blueprint_id"`
	Target        Target     `json:"target"`
	Version       int        `json:"version"`
	Status        string     `json:"status"` // applying, partial or complete
	Bindings      Bindings   `json:"bindings"`
	Completed     []string   `json:"completed_operation_ids"`
	Doing         *Operation `json:"doing"` // may have been sent; nil for none
	Expected      state      `json:"expected"`
	LastError     *Failure   `json:"last_error"`

	// Write is the key of Doing's write in the ledger of operations.
	Write mcpcore.KeyHash `json:"operation_key_hash,omitempty"`

	stored int64 // version in the store
}

const (
	checkpointVersion = "guild_blueprint_checkpoint.v1"
	statusApplying    = "applying"
	statusPartial     = "partial"
	statusComplete    = "complete"
)

var errIdentity = errors.New("the checkpoint is of another plan or target")

// checkpoint is a plan's, nil when it was never begun.
func (r Records) checkpoint(ctx context.Context, p *Plan, principal string) (*Checkpoint, error) {
	raw, stored, err := r.load(ctx, checkpointKind, principal, p.id)
	switch {
	case errors.Is(err, ErrNoRecord):
		return nil, nil
	case err != nil:
		return nil, err
	}
	c := &Checkpoint{stored: stored}
	if err := json.Unmarshal(raw, c); err != nil {
		return nil, errTampered
	}
	if c.PlanID != p.id || c.BlueprintID != p.BlueprintID || c.Target != p.Target || c.SchemaVersion != checkpointVersion {
		return nil, errIdentity
	}
	return c, nil
}

// saveCheckpoint writes the next version.
func (r Records) saveCheckpoint(ctx context.Context, c *Checkpoint, principal string) error {
	next := *c
	next.Version++
	next.Completed = slices.Clone(c.Completed)
	slices.Sort(next.Completed)
	stored, err := r.Store.Save(ctx, checkpointKind, c.PlanID, c.stored, r.Sealer.wrap(checkpointKind, principal, c.PlanID, &next), 0)
	if err != nil {
		return err
	}
	c.Version, c.stored = next.Version, stored
	return nil
}
