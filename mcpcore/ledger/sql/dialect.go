package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Dialect is the SQL that a database speaks.
type Dialect int

// The dialects.
const (
	// SQLite needs transactions that begin with the write lock: with the driver
	// modernc.org/sqlite, _txlock=immediate. Its clock is that of the process.
	SQLite Dialect = iota + 1
	// PostgreSQL has one clock for all processes, the server's.
	PostgreSQL
)

// dialect is what differs. Statements are written with $1 and SQLite's types.
type dialect struct {
	translate *strings.Replacer
	isolation sql.IsolationLevel
	clock     string // nanoseconds since 1970; "" for the process's clock
	turn      string // waits until no other transaction has it, until the end of this one; "" where every transaction waits
	migrated  string // whether there are tables
	fit       string // why the database loses what it said it kept, as a text; "" for nothing
}

var dialects = map[Dialect]dialect{
	SQLite: {
		translate: strings.NewReplacer("$", "?"),
		migrated:  `SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'guildwarden_approvals_meta'`,
		fit:       `SELECT ''`,
	},
	PostgreSQL: {
		translate: strings.NewReplacer("BLOB", "BYTEA", "INTEGER", "BIGINT", " STRICT, WITHOUT ROWID", ""),
		isolation: sql.LevelReadCommitted,
		clock:     `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000`,
		turn:      `SELECT pg_advisory_xact_lock(7455813204987126134)`, // any number, but always the same
		migrated:  `SELECT to_regclass('guildwarden_approvals_meta') IS NOT NULL`,
		fit:       `SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN 'synchronous_commit is off' ELSE '' END`,
	},
}

// migrations lead from no tables to those of this version. One that was released
// does not change any more. Times are nanoseconds since 1970.
var migrations = [][]string{{
	`CREATE TABLE guildwarden_approvals (
		id_hash         BLOB NOT NULL PRIMARY KEY,
		purpose         TEXT NOT NULL,
		seq             INTEGER NOT NULL,
		tool            TEXT NOT NULL,
		principal       TEXT NOT NULL,
		fingerprint     TEXT NOT NULL,
		facts           TEXT NOT NULL,
		issued_at       INTEGER NOT NULL,
		expires_at      INTEGER NOT NULL,
		forgotten_at    INTEGER NOT NULL,
		spent_at        INTEGER,
		sealed_id       BLOB,
		sealed_shown    BLOB,
		sealed_decision BLOB
	) STRICT, WITHOUT ROWID`,
	`CREATE UNIQUE INDEX guildwarden_approvals_order ON guildwarden_approvals (purpose, seq)`,
	`CREATE INDEX guildwarden_approvals_fingerprint ON guildwarden_approvals (fingerprint)`,
}, { // which outlive the others, when those are dropped to begin with another key
	`CREATE TABLE IF NOT EXISTS guildwarden_operations_meta (
		one   INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
		epoch INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`,
	`INSERT INTO guildwarden_operations_meta (one, epoch) VALUES (1, 0) ON CONFLICT DO NOTHING`,
	`CREATE TABLE IF NOT EXISTS guildwarden_operations_claims (
		claim_id    TEXT NOT NULL PRIMARY KEY,
		epoch       INTEGER NOT NULL UNIQUE,
		workflow    TEXT NOT NULL,
		key_hash    TEXT NOT NULL,
		plan_digest TEXT NOT NULL,
		made_at     INTEGER NOT NULL,
		lease_until INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE IF NOT EXISTS guildwarden_operations_targets (
		target   TEXT NOT NULL PRIMARY KEY,
		claim_id TEXT NOT NULL
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS guildwarden_operations_targets_claim ON guildwarden_operations_targets (claim_id)`,
	`CREATE TABLE IF NOT EXISTS guildwarden_operations_receipts (
		workflow     TEXT NOT NULL,
		key_hash     TEXT NOT NULL,
		seq          INTEGER NOT NULL UNIQUE,
		plan_digest  TEXT NOT NULL,
		activity     TEXT NOT NULL,
		parent       TEXT NOT NULL,
		claim_id     TEXT NOT NULL,
		request      TEXT NOT NULL,
		status       TEXT NOT NULL,
		resource     TEXT NOT NULL,
		verification TEXT NOT NULL,
		error        TEXT NOT NULL,
		resolved     INTEGER NOT NULL,
		reserved_at  INTEGER NOT NULL,
		deadline_at  INTEGER NOT NULL,
		finished_at  INTEGER NOT NULL,
		PRIMARY KEY (workflow, key_hash)
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE IF NOT EXISTS guildwarden_operations_resolved (
		claim_id    TEXT NOT NULL PRIMARY KEY,
		resolved_by TEXT NOT NULL,
		resolved_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`,
}, { // receipts of children, which earlier versions would not know: a parent can be paused
	`CREATE INDEX IF NOT EXISTS guildwarden_operations_receipts_parent ON guildwarden_operations_receipts (parent)`,
	`CREATE INDEX IF NOT EXISTS guildwarden_operations_receipts_claim ON guildwarden_operations_receipts (claim_id)`,
}}

const metaTable = `CREATE TABLE guildwarden_approvals_meta (
	one       INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
	version   INTEGER NOT NULL,
	key_check BLOB NOT NULL
) STRICT, WITHOUT ROWID`

// migrate makes the tables those of this version. Of several processes that
// start at once one does it and the others wait.
func (l *Ledger) migrate(ctx context.Context, tx *sql.Tx) error {
	var unfit string
	if err := l.row(ctx, tx, l.fit).Scan(&unfit); err != nil {
		return err
	}
	if unfit != "" {
		return fmt.Errorf("%s: after a crash of the database a spent approval could be spent again", unfit)
	}
	var migrated bool
	if err := l.row(ctx, tx, l.migrated).Scan(&migrated); err != nil {
		return err
	}
	if !migrated {
		if err := l.exec(ctx, tx, metaTable); err != nil {
			return err
		}
		if err := l.exec(ctx, tx, `INSERT INTO guildwarden_approvals_meta (one, version, key_check) VALUES (1, 0, $1)`, l.seal.box(nil, keyCheck)); err != nil {
			return err
		}
	}
	var (
		version int
		check   []byte
	)
	switch err := l.row(ctx, tx, `SELECT version, key_check FROM guildwarden_approvals_meta`).Scan(&version, &check); {
	case errors.Is(err, sql.ErrNoRows):
		return errors.New("the table guildwarden_approvals_meta lost its row")
	case err != nil:
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("a newer version made the ledger: its tables are version %d, and this one knows %d", version, len(migrations))
	}
	if _, err := l.seal.open(check, keyCheck); err != nil {
		return ErrKey
	}
	for _, statement := range recordTable {
		if err := l.exec(ctx, tx, statement); err != nil {
			return err
		}
	}
	if version == len(migrations) {
		return nil
	}
	for _, step := range migrations[version:] {
		for _, statement := range step {
			if err := l.exec(ctx, tx, statement); err != nil {
				return err
			}
		}
	}
	return l.exec(ctx, tx, `UPDATE guildwarden_approvals_meta SET version = $1`, len(migrations))
}
