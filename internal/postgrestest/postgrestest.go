// Package postgrestest gives tests a PostgreSQL server: one that the environment
// names, or one that it starts. The test links the driver "pgx", which the
// package mcpcore/ledger/postgres brings.
package postgrestest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Where names the server of the tests in the environment: a URL, or "local" for
// one that is started here and must be there. Without it the tests that need one
// are left out where there is none to start.
const Where = "GUILDWARDEN_POSTGRES"

// password is one that must be written in another form in a URL, and never in an
// error.
const password = "canary p@ss/w:rd%20#?"

var errNone = errors.New("there is no PostgreSQL here (initdb, pg_ctl); install Debian's package postgresql, or name a server in " + Where)

// Server is the URL of the tests' server. Without one the test is left out.
func Server(t testing.TB) string {
	t.Helper()
	address, err := oneServer()
	if errors.Is(err, errNone) && os.Getenv(Where) != "local" {
		t.Skip("LEFT OUT: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return address
}

var stop = func() {}

// Stop ends the server that was started, if one was. TestMain calls it.
func Stop() { stop() }

var oneServer = sync.OnceValues(func() (address string, err error) {
	if named := os.Getenv(Where); named != "" && named != "local" {
		return named, nil
	}
	initdb, ctl := program("initdb"), program("pg_ctl")
	if initdb == "" || ctl == "" {
		return "", errNone
	}
	dir, err := os.MkdirTemp("", "guildwarden-pg-")
	if err != nil {
		return "", err
	}
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
		return "", err
	}
	as, err := newOwner(dir, secret)
	if err != nil {
		return "", err
	}
	// It stops the server when this process ends, however it ends.
	guard := exec.Command("sh", "-c", `read -r _; "$0" -D "$1/data" -m immediate stop; rm -rf "$1"`, ctl, dir)
	as(guard)
	end, err := guard.StdinPipe()
	if err != nil {
		return "", err
	}
	if err := guard.Start(); err != nil {
		return "", err
	}
	stop = func() {
		_ = end.Close()
		_ = guard.Wait()
		_ = os.RemoveAll(dir)
	}
	options := "-c listen_addresses= -c unix_socket_directories=" + dir
	if bench := flag.Lookup("test.bench"); bench == nil || bench.Value.String() == "" {
		options += " -c fsync=off" // tests kill their own processes and not the server
	}
	for _, cmd := range []*exec.Cmd{
		exec.Command(initdb, "-D", dir+"/data", "-U", "guildwarden", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--no-locale", "--no-sync"),
		exec.Command(ctl, "-D", dir+"/data", "-w", "-l", dir+"/log", "-o", options, "start"),
	} {
		as(cmd)
		if out, err := cmd.CombinedOutput(); err != nil {
			log, _ := os.ReadFile(dir + "/log")
			return "", fmt.Errorf("%s: %w\n%s%s", cmd, err, out, log)
		}
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword("guildwarden", password), Path: "/postgres", RawQuery: url.Values{"host": {dir}}.Encode()}
	return u.String(), nil
})

// program finds one of PostgreSQL's, "" when it is not there.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// newOwner gives the files to the user that the server runs as, and the function
// that makes a command run as that user: PostgreSQL does not run as root.
func newOwner(files ...string) (as func(*exec.Cmd), err error) {
	if os.Getuid() != 0 {
		return func(*exec.Cmd) {}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	var uid, gid int
	if _, err := fmt.Sscan(u.Uid, &uid); err != nil {
		return nil, err
	}
	if _, err := fmt.Sscan(u.Gid, &gid); err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := os.Chown(f, uid, gid); err != nil {
			return nil, err
		}
	}
	return func(cmd *exec.Cmd) {
		runAs(cmd, uint32(uid), uint32(gid))
		cmd.Dir = "/"
	}, nil
}

// Schema makes an empty schema and gives the URL that leads into it.
func Schema(t testing.TB) string {
	t.Helper()
	address := Server(t)
	name := "guildwarden_" + strings.ToLower(rand.Text())
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), "DROP SCHEMA "+name+" CASCADE")
		if err = errors.Join(err, db.Close()); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}
