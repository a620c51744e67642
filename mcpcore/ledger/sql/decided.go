package sql

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Decided lists what a person decided, the newest proposal first, at most limit
// of them, as long as it is known: for one lifetime after it expired. The id of
// what was used is not kept.
func (l *Ledger) Decided(ctx context.Context, limit int) (all []mcpcore.Approval, err error) {
	err = l.read(ctx, func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		rows, err := tx.QueryContext(ctx, l.translate.Replace(selectRow+
			`WHERE purpose = $1 AND sealed_decision IS NOT NULL AND forgotten_at > $2 ORDER BY seq DESC LIMIT $3`),
			string(mcpcore.ForPerson), now.UnixNano(), limit)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // Err tells
		for rows.Next() {
			r, err := l.scan(rows)
			if err != nil {
				return err
			}
			if r.sealedID != nil {
				if _, err := l.reveal(r); err != nil {
					return err
				}
			}
			all = append(all, r.Approval)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list what was decided: %w", err)
	}
	return all, nil
}
