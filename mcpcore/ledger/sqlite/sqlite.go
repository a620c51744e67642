// Package sqlite keeps approvals in a file, for the processes of one machine.
// It links the driver modernc.org/sqlite.
package sqlite

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/guildwarden/guildwarden/mcpcore/ledger/sql"
)

// Open is the ledger in the file at path, which is made when it is missing and
// has mode 0600 from then on; its folder must exist and be on a local disk. The
// secret is the operator's state key, of at least 32 bytes; with another one
// than before it answers [sql.ErrKey]. A file that is damaged, or is something
// else, is an error and stays as it is.
//
// An approval is on the disk when it is issued, and its end when it is spent:
// neither a killed process nor a power failure takes that back. Several
// processes may open one file.
func Open(path string, secret []byte) (*sql.Ledger, error) { return open(path, secret, nil) }

func open(path string, secret []byte, clock func() time.Time) (*sql.Ledger, error) {
	path, err := claim(path)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	db, err := stdsql.Open("sqlite", source(path))
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", path, err)
	}
	db.SetMaxOpenConns(1) // writers take turns, and better here than by trying
	l, err := use(db, secret, clock)
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("%s: %w", path, explain(err))
	}
	return l, nil
}

// claim makes the file its owner's alone, and makes it where there is none. An
// existing file is not opened: to close it would free the locks that other
// ledgers of this process hold.
func claim(path string) (string, error) {
	if path == "" {
		return "", errors.New("the file has no name")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	switch f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); {
	case err == nil:
		return path, f.Close()
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("the folder of %s is not there; make it, and the file is made at the start: %w", path, os.ErrNotExist)
	case !errors.Is(err, os.ErrExist):
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return path, os.Chmod(path, 0o600)
	}
	return path, nil
}

// source names the file to the driver.
func source(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "secure_delete(1)"},
		"_txlock": {"immediate"},
	}.Encode()}
	return u.String()
}

// use looks whether the file is whole before anything is written.
func use(db *stdsql.DB, secret []byte, clock func() time.Time) (*sql.Ledger, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := connect(ctx, db); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	var whole string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&whole); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	if whole != "ok" {
		return nil, fmt.Errorf("open ledger: %w: %s", errDamaged, whole)
	}
	return sql.Open(ctx, db, sql.SQLite, secret, clock)
}

// connect waits its turn to put a new file into WAL mode, which several processes
// do that start at once: busy_timeout does not count for that.
func connect(ctx context.Context, db *stdsql.DB) error {
	for {
		err := db.PingContext(ctx)
		if !answers(err, busy) {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// What SQLite answers.
//
// Source: https://www.sqlite.org/rescode.html.
const (
	busy         = 5
	corrupt      = 11
	notADatabase = 26
)

// answers reports whether the error is one of the primary result codes.
func answers(err error, codes ...int) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && slices.Contains(codes, e.Code()&0xff)
}

var errDamaged = errors.New("the file is damaged or no SQLite database; move it away to begin a new one")

// explain says in words what SQLite answers to a damaged file.
func explain(err error) error {
	if answers(err, corrupt, notADatabase) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}
