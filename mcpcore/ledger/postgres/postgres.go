// Package postgres keeps approvals in a PostgreSQL database, for the replicas of
// a server. It links the driver github.com/jackc/pgx.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/guildwarden/guildwarden/mcpcore/ledger/sql"
)

// Open is the ledger in the database of a URL, postgres://user@host/database; as
// with psql a password may stand in it, in PGPASSWORD or in ~/.pgpass, and
// search_path=… chooses the schema. The tables are made when they are missing.
// The secret is the operator's state key, of at least 32 bytes, and the same for
// all replicas; with another one it answers [sql.ErrKey].
//
// Time is the database's, so that replicas agree on it. No error shows the
// password.
func Open(address string, secret []byte) (*sql.Ledger, error) { return open(address, secret, nil) }

// connections is how many of them one process takes at most.
const connections = 8

func open(address string, secret []byte, clock func() time.Time) (*sql.Ledger, error) {
	config, err := read(address)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	l, err := sql.Open(ctx, db, sql.PostgreSQL, secret, clock)
	if err != nil {
		_ = db.Close()
		return nil, hide(err, config.Password)
	}
	return l, nil
}

// read parses the URL. What it cannot read it does not repeat: nobody knows
// where in it the password is.
func read(address string) (*pgx.ConnConfig, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Fragment != "", u.User == nil && strings.Contains(address, "@"):
		return nil, errors.New("the URL cannot be read; characters such as / ? # @ % in a password are written as %2F %3F %23 %40 %25")
	case u.Scheme != "postgres" && u.Scheme != "postgresql":
		return nil, errors.New("the URL does not begin with postgres://")
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		encoded, _ := u.User.Password()
		return nil, hide(errors.New(err.Error()), encoded, url.QueryEscape(encoded), url.PathEscape(encoded), u.Query().Get("password"))
	}
	return config, nil
}

// hide takes secrets out of an error.
func hide(err error, secrets ...string) error {
	text := err.Error()
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
