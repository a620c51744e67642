package sql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// drop forgets a claim and frees its targets.
func (o operations) drop(ctx context.Context, tx *sql.Tx, id mcpcore.ClaimID) error {
	return cmp.Or(
		o.l.exec(ctx, tx, `DELETE FROM guildwarden_operations_targets WHERE claim_id = $1`, string(id)),
		o.l.exec(ctx, tx, `DELETE FROM guildwarden_operations_claims WHERE claim_id = $1`, string(id)),
	)
}

// held is the claim as it is kept, nil when it is not held any more.
func (o operations) held(ctx context.Context, tx *sql.Tx, c mcpcore.Claim) (*mcpcore.Claim, error) {
	return one(o.claims(ctx, tx, `WHERE claim_id = $1 AND epoch = $2`, string(c.ID), c.Epoch))
}

// holder is the claim that holds a target, nil for none.
func (o operations) holder(ctx context.Context, tx *sql.Tx, target string) (*mcpcore.Claim, error) {
	return one(o.claims(ctx, tx, `WHERE claim_id = (SELECT claim_id FROM guildwarden_operations_targets WHERE target = $1)`, target))
}

func one[T any](all []T, err error) (*T, error) {
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func (o operations) claims(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]mcpcore.Claim, error) {
	all, err := query(ctx, o.l, tx, `SELECT claim_id, epoch, workflow, key_hash, plan_digest, made_at, lease_until FROM guildwarden_operations_claims `+where,
		func(rows *sql.Rows) (c mcpcore.Claim, err error) {
			var made, lease int64
			err = rows.Scan(&c.ID, &c.Epoch, &c.Workflow, &c.Key, &c.Plan, &made, &lease)
			c.Made, c.Lease = time.Unix(0, made), time.Unix(0, lease)
			return c, err
		}, args...)
	for i := range all {
		if all[i].Targets, err = query(ctx, o.l, tx, `SELECT target FROM guildwarden_operations_targets WHERE claim_id = $1 ORDER BY target`,
			func(rows *sql.Rows) (target string, err error) { return target, rows.Scan(&target) }, string(all[i].ID)); err != nil {
			return nil, err
		}
	}
	return all, err
}

func (o operations) receipt(ctx context.Context, tx *sql.Tx, workflow string, k mcpcore.KeyHash) (*mcpcore.Receipt, error) {
	return one(o.receipts(ctx, tx, `WHERE workflow = $1 AND key_hash = $2`, workflow, string(k)))
}

func (o operations) receipts(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]mcpcore.Receipt, error) {
	return query(ctx, o.l, tx, `SELECT workflow, key_hash, plan_digest, activity, parent, claim_id, status, resource, verification, error, resolved,
		reserved_at, deadline_at, finished_at, request FROM guildwarden_operations_receipts `+where,
		func(rows *sql.Rows) (r mcpcore.Receipt, err error) {
			var resolved, reserved, deadline, finished int64
			err = rows.Scan(&r.Workflow, &r.Key, &r.Plan, &r.Activity, &r.Parent, &r.Claim, &r.Status, &r.ResourceID, &r.Verification, &r.Error, &resolved,
				&reserved, &deadline, &finished, &r.Request)
			r.Resolved = resolved != 0
			r.Reserved, r.Deadline, r.Finished = moment(reserved), moment(deadline), moment(finished)
			if err == nil && !r.Status.Known() {
				err = errors.New("a receipt has a status that this version does not know")
			}
			return r, err
		}, args...)
}

// save writes what of a receipt can change.
func (o operations) save(ctx context.Context, tx *sql.Tx, r *mcpcore.Receipt) error {
	resolved := 0
	if r.Resolved {
		resolved = 1
	}
	return o.l.exec(ctx, tx, `UPDATE guildwarden_operations_receipts
		SET status = $1, resource = $2, verification = $3, error = $4, resolved = $5, deadline_at = $6, finished_at = $7,
			plan_digest = $8, activity = $9, claim_id = $10 WHERE workflow = $11 AND key_hash = $12`,
		string(r.Status), r.ResourceID, string(r.Verification), string(r.Error), resolved, nanos(r.Deadline), nanos(r.Finished),
		string(r.Plan), r.Activity, string(r.Claim), r.Workflow, string(r.Key))
}

// moment and nanos keep the zero time as 0.
func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func query[T any](ctx context.Context, l *Ledger, tx *sql.Tx, statement string, scan func(*sql.Rows) (T, error), args ...any) (all []T, err error) {
	rows, err := tx.QueryContext(ctx, l.translate.Replace(statement), args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
