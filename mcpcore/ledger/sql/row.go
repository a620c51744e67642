package sql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// row is an approval as the table holds it: without its id and what is shown
// until they are revealed.
type row struct {
	ledger.Record
	hash        []byte
	sealedID    []byte
	sealedShown []byte
}

func hashOf(id mcpcore.ApprovalID) []byte {
	sum := sha256.Sum256([]byte(id))
	return sum[:]
}

func (l *Ledger) exec(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	_, err := tx.ExecContext(ctx, l.translate.Replace(statement), args...)
	return err
}

func (l *Ledger) row(ctx context.Context, tx *sql.Tx, query string, args ...any) *sql.Row {
	return tx.QueryRowContext(ctx, l.translate.Replace(query), args...)
}

// changed runs a statement and reports whether it changed a row.
func (l *Ledger) changed(ctx context.Context, tx *sql.Tx, statement string, args ...any) (bool, error) {
	res, err := tx.ExecContext(ctx, l.translate.Replace(statement), args...)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// insert writes the approval behind all others of its purpose.
func (l *Ledger) insert(ctx context.Context, tx *sql.Tx, r *ledger.Record) error {
	w := row{Record: *r, hash: hashOf(r.ID)}
	if r.Purpose == mcpcore.ForPerson || r.Purpose == mcpcore.ForPreview { // whose ids are asked for
		w.sealedID = l.seal.box([]byte(r.ID), w.place(idBox)...)
	}
	if len(r.Shown) > 0 {
		w.sealedShown = l.seal.box(r.Shown, w.place(shownBox)...)
	}
	return l.exec(ctx, tx, `INSERT INTO guildwarden_approvals
		(id_hash, purpose, seq, tool, principal, fingerprint, facts, issued_at, expires_at, forgotten_at, sealed_id, sealed_shown)
		VALUES ($1, $2, (SELECT coalesce(max(seq), 0) + 1 FROM guildwarden_approvals WHERE purpose = $2), $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		w.hash, string(r.Purpose), r.Tool, r.Principal, string(r.Fingerprint), string(r.Facts),
		r.Issued.UnixNano(), r.Expires.UnixNano(), r.Expires.Add(r.Lifetime).UnixNano(), w.sealedID, w.sealedShown)
}

const selectRow = `SELECT id_hash, purpose, tool, principal, fingerprint, facts, issued_at, expires_at, spent_at IS NOT NULL,
	sealed_id, sealed_shown, sealed_decision FROM guildwarden_approvals `

// scan reads what selectRow selects, and opens the decision.
func (l *Ledger) scan(from interface{ Scan(into ...any) error }) (*row, error) {
	var (
		r               row
		issued, expires int64
		sealedDecision  []byte
	)
	err := from.Scan(&r.hash, &r.Purpose, &r.Tool, &r.Principal, &r.Fingerprint, &r.Facts, &issued, &expires, &r.Spent,
		&r.sealedID, &r.sealedShown, &sealedDecision)
	if err != nil {
		return nil, err
	}
	r.Issued, r.Expires = time.Unix(0, issued), time.Unix(0, expires)
	r.Lifetime = r.Expires.Sub(r.Issued)
	if sealedDecision == nil {
		return &r, nil
	}
	text, err := l.seal.open(sealedDecision, r.place(decisionBox)...)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.Decision); err != nil {
		return nil, fmt.Errorf("read decision: %w", err)
	}
	return &r, nil
}

// find is the one row that the query selects, nil for none.
func (l *Ledger) find(ctx context.Context, tx *sql.Tx, where string, args ...any) (*row, error) {
	r, err := l.scan(l.row(ctx, tx, selectRow+where, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return r, err
}

// alive is the newest approval of the fingerprint that can still be used.
func (l *Ledger) alive(ctx context.Context, tx *sql.Tx, purpose mcpcore.Purpose, f mcpcore.Fingerprint, now time.Time) (*row, error) {
	return l.find(ctx, tx, `WHERE fingerprint = $1 AND purpose = $2 AND spent_at IS NULL AND expires_at > $3 ORDER BY seq DESC LIMIT 1`,
		string(f), string(purpose), now.UnixNano())
}

func (l *Ledger) byID(ctx context.Context, tx *sql.Tx, hash []byte) (*row, error) {
	return l.find(ctx, tx, `WHERE id_hash = $1`, hash)
}

// reveal gives the approval its id and what is shown.
func (l *Ledger) reveal(r *row) (mcpcore.Approval, error) {
	id, err := l.seal.open(r.sealedID, r.place(idBox)...)
	if err != nil {
		return mcpcore.Approval{}, err
	}
	r.ID = mcpcore.ApprovalID(id)
	if r.sealedShown != nil {
		if r.Shown, err = l.seal.open(r.sealedShown, r.place(shownBox)...); err != nil {
			return mcpcore.Approval{}, err
		}
	}
	return r.Approval, nil
}
