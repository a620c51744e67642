package sql

import (
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
		was, err := o.receipt(ctx, tx, c.Workflow, c.Key)
		if err != nil {
			return err
		}
		var parent *mcpcore.Receipt
		if r.Parent != "" {
			if parent, err = o.receipt(ctx, tx, c.Workflow, r.Parent); err != nil {
				return err
			}
		}
		held, err := o.held(ctx, tx, c)
		if err != nil {
			return err
		}
		made, err := ledger.Reserved(held, c.Key, was, parent, r, now)
		if err != nil {
			return err
		}
		if receipt = *made; was != nil {
			return o.save(ctx, tx, made)
		}
		if r.Parent != "" {
			if err := o.save(ctx, tx, parent); err != nil {
				return err
			}
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
		if r.Parent != "" {
			parent, err := o.receipt(ctx, tx, r.Workflow, r.Parent)
			if err != nil {
				return err
			}
			if parent == nil {
				return errors.New("a receipt lost its parent")
			}
			parent.ChildEnded(e, now)
			if err := o.save(ctx, tx, parent); err != nil {
				return err
			}
		}
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
		all, err := o.receipts(ctx, tx, `WHERE ($1 = '' OR workflow = $1) AND ($2 = '' OR status = $2) AND ($3 = '' OR parent = $3)
			ORDER BY seq DESC LIMIT $4`, f.Workflow, string(f.Status), string(f.Parent), f.Most())
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
		receipts, err := o.receipts(ctx, tx, `WHERE claim_id = $1`, string(id))
		if err != nil {
			return err
		}
		for i := range receipts {
			if receipts[i].Status.Settled() {
				continue
			}
			ledger.Resolved(&receipts[i], now)
			if err := o.save(ctx, tx, &receipts[i]); err != nil {
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
