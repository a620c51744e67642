package sql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

var _ mcpcore.OperationLedger = operations{}

// Operations is the ledger of operations in the same database, in tables of its
// own, which begin with guildwarden_operations. Any number of them in any number
// of processes may share the database. It ends with the ledger.
//
// Nothing in its tables is sealed: they hold ids, digests and fixed words.
func (l *Ledger) Operations() mcpcore.OperationLedger { return operations{l} }

// operations is a Ledger whose methods are those of operations: Pending means
// something else there.
type operations struct{ l *Ledger }

// Durable implements [mcpcore.OperationLedger].
func (o operations) Durable() bool { return true }

// do is work that waits its turn: operations are few, and each of them looks at
// what others hold. What the work gave is worth nothing when it failed.
func (o operations) do(ctx context.Context, name string, do work) error {
	if err := o.l.write(ctx, do); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Claim implements [mcpcore.OperationLedger].
func (o operations) Claim(ctx context.Context, w mcpcore.Wanted) (c mcpcore.Claim, err error) {
	if err := ledger.CheckWanted(w); err != nil {
		return c, err
	}
	targets := w.Canonical()
	err = o.do(ctx, "claim", func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		for _, target := range targets {
			held, err := o.holder(ctx, tx, target)
			if err != nil || held == nil {
				if err != nil {
					return err
				}
				continue
			}
			r, err := o.receipt(ctx, tx, held.Workflow, held.Key)
			if err != nil {
				return err
			}
			if err := ledger.HeldBy(held, r, target, now); err != nil {
				return err
			}
			if err := o.drop(ctx, tx, held.ID); err != nil {
				return err
			}
		}
		c = mcpcore.Claim{
			ID: ledger.NewClaimID(), Workflow: w.Workflow, Key: w.Key, Plan: w.Plan, Targets: targets, Made: now, Lease: now.Add(w.Lease),
		}
		if err := o.l.exec(ctx, tx, `UPDATE guildwarden_operations_meta SET epoch = epoch + 1`); err != nil {
			return err
		}
		if err := o.l.row(ctx, tx, `SELECT epoch FROM guildwarden_operations_meta`).Scan(&c.Epoch); err != nil {
			return err
		}
		if err := o.l.exec(ctx, tx, `INSERT INTO guildwarden_operations_claims (claim_id, epoch, workflow, key_hash, plan_digest, made_at, lease_until)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, string(c.ID), c.Epoch, c.Workflow, string(c.Key), string(c.Plan), now.UnixNano(), c.Lease.UnixNano()); err != nil {
			return err
		}
		for _, target := range targets {
			if err := o.l.exec(ctx, tx, `INSERT INTO guildwarden_operations_targets (target, claim_id) VALUES ($1, $2)`, target, string(c.ID)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return mcpcore.Claim{}, err
	}
	return c, nil
}

// Reserve implements [mcpcore.OperationLedger].
func (o operations) Reserve(ctx context.Context, c mcpcore.Claim, r mcpcore.Reservation) (receipt mcpcore.Receipt, err error) {
	err = o.do(ctx, "reserve", func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		spent, err := o.receipt(ctx, tx, c.Workflow, c.Key)
		switch {
		case err != nil:
			return err
		case spent != nil:
			return &mcpcore.KeySpent{Receipt: *spent}
		}
		held, err := o.held(ctx, tx, c)
		switch {
		case err != nil:
			return err
		case held == nil || !now.Before(held.Lease):
			return mcpcore.ErrClaimLost
		}
		receipt = mcpcore.Receipt{
			Workflow: held.Workflow, Key: held.Key, Plan: held.Plan, Activity: r.Activity, Parent: r.Parent, Claim: held.ID,
			Status: mcpcore.StatusReserved, Reserved: now, Request: r.Request,
		}
		return o.l.exec(ctx, tx, `INSERT INTO guildwarden_operations_receipts
			(workflow, key_hash, seq, plan_digest, activity, parent, claim_id, status, reserved_at, request,
			 resource, verification, error, resolved, deadline_at, finished_at)
			VALUES ($1, $2, (SELECT coalesce(max(seq), 0) + 1 FROM guildwarden_operations_receipts), $3, $4, $5, $6, $7, $8, $9, '', '', '', 0, 0, 0)`,
			receipt.Workflow, string(receipt.Key), string(receipt.Plan), receipt.Activity, string(receipt.Parent), string(receipt.Claim),
			string(receipt.Status), now.UnixNano(), string(receipt.Request))
	})
	if err != nil {
		return mcpcore.Receipt{}, err
	}
	return receipt, nil
}

// Pending implements [mcpcore.OperationLedger].
func (o operations) Pending(ctx context.Context, c mcpcore.Claim, write time.Duration) (receipt mcpcore.Receipt, err error) {
	err = o.do(ctx, "record the pending write", func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		held, err := o.held(ctx, tx, c)
		if err != nil {
			return err
		}
		r, err := o.receipt(ctx, tx, c.Workflow, c.Key)
		switch {
		case err != nil:
			return err
		case held == nil || r == nil || r.Claim != c.ID || r.Status != mcpcore.StatusReserved || now.Add(write).After(held.Lease):
			return mcpcore.ErrClaimLost
		}
		r.Status, r.Deadline = mcpcore.StatusPending, now.Add(write)
		receipt = *r
		return o.save(ctx, tx, r)
	})
	if err != nil {
		return mcpcore.Receipt{}, err
	}
	return receipt, nil
}

// Finish implements [mcpcore.OperationLedger].
func (o operations) Finish(ctx context.Context, c mcpcore.Claim, e mcpcore.Ending) (receipt mcpcore.Receipt, err error) {
	if err := e.Check(); err != nil {
		return mcpcore.Receipt{}, err
	}
	err = o.do(ctx, "finish", func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		r, err := o.receipt(ctx, tx, c.Workflow, c.Key)
		switch {
		case err != nil:
			return err
		case r == nil || r.Claim != c.ID:
			return mcpcore.ErrReceiptMissing
		case r.Finished.IsZero():
		case r.Resolved || e != r.Ending():
			return mcpcore.ErrReceiptFinished
		default:
			receipt = *r
			return nil
		}
		r.Status, r.ResourceID, r.Verification, r.Error, r.Finished = e.Status, e.ResourceID, e.Verification, e.Error, now
		receipt = *r
		return o.save(ctx, tx, r)
	})
	if err != nil {
		return mcpcore.Receipt{}, err
	}
	return receipt, nil
}

// Release implements [mcpcore.OperationLedger].
func (o operations) Release(ctx context.Context, c mcpcore.Claim) error {
	return o.do(ctx, "release", func(ctx context.Context, tx *sql.Tx, _ time.Time) error {
		held, err := o.held(ctx, tx, c)
		if err != nil || held == nil {
			return err
		}
		r, err := o.receipt(ctx, tx, c.Workflow, c.Key)
		if err != nil || r != nil && r.Claim == c.ID && !r.Status.Settled() {
			return err
		}
		return o.drop(ctx, tx, c.ID)
	})
}

// Receipt implements [mcpcore.OperationLedger].
func (o operations) Receipt(ctx context.Context, workflow string, k mcpcore.KeyHash) (receipt mcpcore.Receipt, err error) {
	err = o.l.read(ctx, func(ctx context.Context, tx *sql.Tx, _ time.Time) error {
		r, err := o.receipt(ctx, tx, workflow, k)
		if err != nil {
			return err
		}
		if r == nil {
			return mcpcore.ErrReceiptMissing
		}
		receipt = *r
		return nil
	})
	if err != nil {
		return mcpcore.Receipt{}, fmt.Errorf("read receipt: %w", err)
	}
	return receipt, nil
}

// Receipts implements [mcpcore.OperationLedger].
func (o operations) Receipts(ctx context.Context, f mcpcore.ReceiptFilter) (found []mcpcore.Receipt, err error) {
	err = o.l.read(ctx, func(ctx context.Context, tx *sql.Tx, _ time.Time) error {
		all, err := o.receipts(ctx, tx, `WHERE ($1 = '' OR workflow = $1) AND ($2 = '' OR status = $2) ORDER BY seq DESC LIMIT $3`,
			f.Workflow, string(f.Status), f.Most())
		found = all
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list receipts: %w", err)
	}
	return found, nil
}

// Claims implements [mcpcore.OperationLedger].
func (o operations) Claims(ctx context.Context) (all []mcpcore.Held, err error) {
	err = o.l.read(ctx, func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		claims, err := o.claims(ctx, tx, `ORDER BY epoch`)
		if err != nil {
			return err
		}
		for _, c := range claims {
			r, err := o.receipt(ctx, tx, c.Workflow, c.Key)
			if err != nil {
				return err
			}
			h := mcpcore.Held{Claim: c, State: c.StateOf(r, now)}
			if r != nil && r.Claim == c.ID {
				h.Receipt = r
			}
			all = append(all, h)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	return all, nil
}

// Resolve implements [mcpcore.OperationLedger].
func (o operations) Resolve(ctx context.Context, id mcpcore.ClaimID, by string) error {
	return o.do(ctx, "resolve", func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		claims, err := o.claims(ctx, tx, `WHERE claim_id = $1`, string(id))
		if err != nil {
			return err
		}
		if len(claims) == 0 {
			var before bool
			err := o.l.row(ctx, tx, `SELECT count(*) > 0 FROM guildwarden_operations_resolved WHERE claim_id = $1`, string(id)).Scan(&before)
			if err == nil && !before {
				err = mcpcore.ErrClaimMissing
			}
			return err
		}
		c := claims[0]
		r, err := o.receipt(ctx, tx, c.Workflow, c.Key)
		if err != nil {
			return err
		}
		ours := r != nil && r.Claim == id
		if now.Before(c.Lease) || ours && now.Before(r.Deadline) {
			return mcpcore.ErrClaimLive
		}
		if ours && !r.Status.Settled() {
			if r.Resolved = true; r.Status != mcpcore.StatusUncertain {
				r.Status, r.Error, r.Finished = mcpcore.StatusUncertain, mcpcore.CodeOutcomeUnknown, now
			}
			if err := o.save(ctx, tx, r); err != nil {
				return err
			}
		}
		if err := o.l.exec(ctx, tx, `INSERT INTO guildwarden_operations_resolved (claim_id, resolved_by, resolved_at) VALUES ($1, $2, $3)`,
			string(id), by, now.UnixNano()); err != nil {
			return err
		}
		return o.drop(ctx, tx, id)
	})
}

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
		SET status = $1, resource = $2, verification = $3, error = $4, resolved = $5, deadline_at = $6, finished_at = $7 WHERE workflow = $8 AND key_hash = $9`,
		string(r.Status), r.ResourceID, string(r.Verification), string(r.Error), resolved, nanos(r.Deadline), nanos(r.Finished), r.Workflow, string(r.Key))
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
