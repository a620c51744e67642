package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

var _ mcpcore.Store = (*Ledger)(nil)

// recordTable holds the records of the store, sealed. Versions of a kind only
// grow, so that a record which was forgotten and made again has another one.
var recordTable = []string{
	`CREATE TABLE IF NOT EXISTS guildwarden_records (
		kind       TEXT NOT NULL,
		name       TEXT NOT NULL,
		version    INTEGER NOT NULL,
		expires_at INTEGER NOT NULL,
		sealed     BLOB NOT NULL,
		PRIMARY KEY (kind, name)
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE IF NOT EXISTS guildwarden_records_last (
		kind    TEXT NOT NULL PRIMARY KEY,
		version INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`,
}

var errRecordChanged = errors.New("the record was changed in the database by something that does not know MCP_STATE_KEY")

// recordPlace is where a record's box belongs.
func recordPlace(kind, name string, version int64) []string {
	return []string{"guildwarden record", kind, name, strconv.FormatInt(version, 10)}
}

// Load implements [mcpcore.Store].
func (l *Ledger) Load(ctx context.Context, kind, name string) (version int64, data []byte, err error) {
	err = l.read(ctx, func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		version, data, err = l.record(ctx, tx, kind, name, now)
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("load %s: %w", kind, err)
	}
	return version, data, nil
}

// record is a record whose life is not over, version 0 for none.
func (l *Ledger) record(ctx context.Context, tx *sql.Tx, kind, name string, now time.Time) (version int64, data []byte, err error) {
	var expires int64
	var box []byte
	switch err := l.row(ctx, tx, `SELECT version, expires_at, sealed FROM guildwarden_records WHERE kind = $1 AND name = $2`, kind, name).
		Scan(&version, &expires, &box); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil, nil
	case err != nil:
		return 0, nil, err
	case expires != 0 && expires <= now.UnixNano():
		return 0, nil, nil
	}
	if data, err = l.seal.open(box, recordPlace(kind, name, version)...); err != nil {
		return 0, nil, errRecordChanged
	}
	return version, data, nil
}

// Save implements [mcpcore.Store].
func (l *Ledger) Save(ctx context.Context, kind, name string, last int64, data []byte, life time.Duration) (version int64, err error) {
	if len(data) > mcpcore.MaxStored {
		return 0, fmt.Errorf("save %s: %d bytes are more than %d", kind, len(data), mcpcore.MaxStored)
	}
	err = l.write(ctx, func(ctx context.Context, tx *sql.Tx, now time.Time) error {
		there, _, err := l.record(ctx, tx, kind, name, now)
		switch {
		case err != nil:
			return err
		case there != last:
			return mcpcore.ErrStale
		}
		if err := l.row(ctx, tx, `INSERT INTO guildwarden_records_last (kind, version) VALUES ($1, 1)
			ON CONFLICT (kind) DO UPDATE SET version = guildwarden_records_last.version + 1 RETURNING version`, kind).Scan(&version); err != nil {
			return err
		}
		var expires int64
		if life > 0 {
			expires = now.Add(life).UnixNano()
		}
		if err := l.exec(ctx, tx, `DELETE FROM guildwarden_records WHERE kind = $1 AND expires_at <> 0 AND expires_at <= $2`, kind, now.UnixNano()); err != nil {
			return err
		}
		return l.exec(ctx, tx, `INSERT INTO guildwarden_records (kind, name, version, expires_at, sealed) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (kind, name) DO UPDATE SET version = excluded.version, expires_at = excluded.expires_at, sealed = excluded.sealed`,
			kind, name, version, expires, l.seal.box(data, recordPlace(kind, name, version)...))
	})
	if err != nil {
		return 0, fmt.Errorf("save %s: %w", kind, err)
	}
	return version, nil
}

// Drop implements [mcpcore.Store].
func (l *Ledger) Drop(ctx context.Context, kind, name string, version int64) error {
	err := l.write(ctx, func(ctx context.Context, tx *sql.Tx, _ time.Time) error {
		return l.exec(ctx, tx, `DELETE FROM guildwarden_records WHERE kind = $1 AND name = $2 AND version = $3`, kind, name, version)
	})
	if err != nil {
		return fmt.Errorf("drop %s: %w", kind, err)
	}
	return nil
}
