package sql

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// patience is how long a call waits for the database.
const patience = 10 * time.Second

// Ledger keeps approvals in a database. It is safe for concurrent use, and any
// number of ledgers in any number of processes may share the database.
type Ledger struct {
	db    *sql.DB
	seal  seal
	clock func() time.Time // nil for the database's
	dialect

	sweeper sweeper
}

var _ mcpcore.Ledger = (*Ledger)(nil)

// Open makes or updates the tables of the ledger, which all begin with
// guildwarden_approvals or guildwarden_operations, and sweeps the approvals. The secret is the operator's state
// key, of at least 32 bytes; with another one than before it answers [ErrKey]. A
// nil clock is the dialect's.
func Open(ctx context.Context, db *sql.DB, d Dialect, secret []byte, clock func() time.Time) (*Ledger, error) {
	l := &Ledger{db: db, clock: clock}
	var (
		known bool
		err   error
	)
	if l.dialect, known = dialects[d]; !known {
		return nil, fmt.Errorf("open ledger: no dialect %d", d)
	}
	if l.seal, err = newSeal(secret); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	if l.clock == nil && l.dialect.clock == "" {
		l.clock = time.Now
	}
	if err := l.write(ctx, func(ctx context.Context, tx *sql.Tx, _ time.Time) error { return l.migrate(ctx, tx) }); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	if err := l.sweep(ctx); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return l, nil
}

// Close ends the sweeping and closes the database. An embedder that has other
// uses for the database need not call it.
func (l *Ledger) Close() error {
	l.sweeper.stop()
	return l.db.Close()
}

// Ready is an error when the database cannot be reached, or has lost the tables.
func (l *Ledger) Ready(ctx context.Context) error {
	var rows int
	if err := l.db.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM guildwarden_approvals LIMIT 1) AS kept").Scan(&rows); err != nil {
		return fmt.Errorf("reach ledger: %w", err)
	}
	return nil
}

// work is what is done in a transaction. When it fails, nothing was done.
type work func(ctx context.Context, tx *sql.Tx, now time.Time) error

func (l *Ledger) transact(ctx context.Context, o sql.TxOptions, turn string, do work) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tx, err := l.db.BeginTx(ctx, &o)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // says that it is over when it was committed
	if turn != "" {
		if err := l.exec(ctx, tx, turn); err != nil {
			return err
		}
	}
	now, err := l.now(ctx, tx)
	if err != nil {
		return err
	}
	if err := do(ctx, tx, now); err != nil {
		return err
	}
	return tx.Commit()
}

// read does work that changes nothing.
func (l *Ledger) read(ctx context.Context, do work) error {
	return l.transact(ctx, sql.TxOptions{Isolation: l.isolation, ReadOnly: true}, "", do)
}

// change does work on rows that it finds by their ids.
func (l *Ledger) change(ctx context.Context, do work) error {
	return l.transact(ctx, sql.TxOptions{Isolation: l.isolation}, "", do)
}

// write does work that must not meet its like.
func (l *Ledger) write(ctx context.Context, do work) error {
	return l.transact(ctx, sql.TxOptions{Isolation: l.isolation}, l.turn, do)
}

func (l *Ledger) now(ctx context.Context, tx *sql.Tx) (time.Time, error) {
	if l.clock != nil {
		return time.Unix(0, l.clock().UnixNano()), nil
	}
	var ns int64
	err := l.row(ctx, tx, l.dialect.clock).Scan(&ns)
	return time.Unix(0, ns), err
}

// Propose implements [mcpcore.Ledger].
func (l *Ledger) Propose(ctx context.Context, p mcpcore.Proposal) (mcpcore.Approval, error) {
	var (
		a       mcpcore.Approval
		changed *mcpcore.FactsWere
	)
	err := l.write(ctx, func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		if p.Purpose == mcpcore.ForPerson {
			r, err := l.alive(ctx, tx, p.Purpose, p.Fingerprint, now)
			switch {
			case err != nil:
				return err
			case r != nil && r.Facts == p.Facts:
				a, err = l.reveal(r)
				return err
			case r != nil:
				if err := l.exec(ctx, tx, `DELETE FROM guildwarden_approvals WHERE id_hash = $1`, r.hash); err != nil {
					return err
				}
				if r.Decision != nil && r.Decision.Approve {
					changed = &mcpcore.FactsWere{Facts: r.Facts}
					return nil
				}
			}
		}
		r := ledger.NewRecord(p, now)
		a = r.Approval
		if err := l.insert(ctx, tx, &r); err != nil {
			return err
		}
		return l.exec(ctx, tx, `DELETE FROM guildwarden_approvals WHERE purpose = $1 AND seq <=
			(SELECT seq FROM guildwarden_approvals WHERE purpose = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)`, string(p.Purpose), mcpcore.MaxApprovals)
	})
	switch {
	case err != nil:
		return mcpcore.Approval{}, fmt.Errorf("propose: %w", err)
	case changed != nil:
		return mcpcore.Approval{}, changed
	}
	l.sweepIn(a.Lifetime) //nolint:contextcheck // the sweep is done long after the call
	return a, nil
}

// Preview implements [mcpcore.Ledger].
func (l *Ledger) Preview(ctx context.Context, f mcpcore.Fingerprint) (mcpcore.Approval, error) {
	var a mcpcore.Approval
	err := l.read(ctx, func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		r, err := l.alive(ctx, tx, mcpcore.ForPreview, f, now)
		switch {
		case err != nil:
			return err
		case r == nil:
			return mcpcore.ErrApprovalMissing
		}
		a, err = l.reveal(r)
		return err
	})
	if err != nil {
		return mcpcore.Approval{}, fmt.Errorf("look for a preview: %w", err)
	}
	return a, nil
}

// Pending implements [mcpcore.Ledger].
func (l *Ledger) Pending(ctx context.Context, by mcpcore.Filter) (waiting []mcpcore.Approval, err error) {
	err = l.read(ctx, func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		rows, err := tx.QueryContext(ctx, l.translate.Replace(selectRow+
			`WHERE purpose = $1 AND sealed_decision IS NULL AND spent_at IS NULL AND expires_at > $2 ORDER BY seq`), string(mcpcore.ForPerson), now.UnixNano())
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // Err tells
		for rows.Next() {
			r, err := l.scan(rows)
			if err != nil {
				return err
			}
			if !by.Match(r.Proposal) {
				continue
			}
			a, err := l.reveal(r)
			if err != nil {
				return err
			}
			waiting = append(waiting, a)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list what is pending: %w", err)
	}
	return waiting, nil
}

// Decide implements [mcpcore.Ledger].
func (l *Ledger) Decide(ctx context.Context, id mcpcore.ApprovalID, d mcpcore.Decision) error {
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	err = l.change(ctx, func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		for hash := hashOf(id); ; {
			r, err := l.byID(ctx, tx, hash)
			if err != nil {
				return err
			}
			if r == nil {
				return mcpcore.ErrApprovalMissing
			}
			if err := r.Decidable(now); err != nil {
				return err
			}
			if _, err := l.reveal(r); err != nil { // a row that was changed gets no decision
				return err
			}
			decided, err := l.changed(ctx, tx, `UPDATE guildwarden_approvals SET sealed_decision = $1, sealed_shown = NULL
				WHERE id_hash = $2 AND sealed_decision IS NULL AND spent_at IS NULL AND expires_at > $3`,
				l.seal.box(text, r.place(decisionBox)...), hash, now.UnixNano())
			if decided || err != nil {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	return nil
}

// use is one of the approvals of a Spend.
type use struct {
	mcpcore.Spend
	hash  []byte
	taken bool
}

// Spend implements [mcpcore.Ledger]. When it fails without a reason of the
// contract, because the database went away, the approvals may be used up.
func (l *Ledger) Spend(ctx context.Context, spends ...mcpcore.Spend) error {
	err := l.change(ctx, func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		uses := make([]*use, 0, len(spends))
		for _, s := range spends {
			uses = append(uses, &use{Spend: s, hash: hashOf(s.ID)})
		}
		if err := l.look(ctx, tx, uses, now); err != nil {
			return err
		}
		// All take rows in one order, so that nobody waits for somebody who waits.
		for _, u := range slices.SortedStableFunc(slices.Values(uses), func(a, b *use) int { return bytes.Compare(a.hash, b.hash) }) {
			for !u.taken {
				var err error
				if u.taken, err = l.take(ctx, tx, u, now); err != nil {
					return err
				}
				if !u.taken { // somebody else was quicker
					if err := l.look(ctx, tx, uses, now); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("spend: %w", err)
	}
	return nil
}

// look tells the first of the approvals that cannot be spent.
func (l *Ledger) look(ctx context.Context, tx *sql.Tx, uses []*use, now time.Time) error {
	for _, u := range uses {
		if u.taken {
			continue
		}
		r, err := l.byID(ctx, tx, u.hash)
		if err != nil {
			return err
		}
		why := mcpcore.ErrApprovalMissing
		if r != nil {
			why = r.Spendable(u.Spend, now)
		}
		if why != nil {
			return &mcpcore.NotSpent{ID: u.ID, Why: why}
		}
	}
	return nil
}

// take spends an approval in one statement and reports whether it did.
func (l *Ledger) take(ctx context.Context, tx *sql.Tx, u *use, now time.Time) (bool, error) {
	return l.changed(ctx, tx, `UPDATE guildwarden_approvals SET spent_at = $1, sealed_id = NULL, sealed_shown = NULL
		WHERE id_hash = $2 AND fingerprint = $3 AND facts = $4 AND spent_at IS NULL AND expires_at > $1
		AND purpose <> $5 AND (purpose <> $6 OR sealed_decision IS NOT NULL)`,
		now.UnixNano(), u.hash, string(u.Fingerprint), string(u.Facts), string(mcpcore.ForPreview), string(mcpcore.ForPerson))
}
