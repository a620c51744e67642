package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Options are what a [Console] is made of. Ledger and Approvers are needed.
type Options struct {
	Ledger    mcpcore.Ledger // the server's own, or one that shares its store
	Approvers Approvers

	// StateKey seals what a browser carries while somebody is signed in, at least 32
	// bytes; replicas share it. nil is a random one, so that sessions end with the
	// process.
	StateKey []byte

	// Path is where the console is mounted, without a slash at its end; "" is
	// /console.
	Path string

	// Hosts are the names under which browsers reach it, besides those of loopback:
	// console.example.org, or with a port where only that one counts.
	Hosts []string

	// Names tells what identifiers name now, by their Path; nil tells none. What it
	// does not know it leaves out. The names come from Discord and are not trusted.
	Names func(ctx context.Context, ids []mcpcore.ID) map[string]string

	// Current reads how the target of a call is now, by the names of the arguments
	// that would change it; nil reads nothing.
	Current func(ctx context.Context, call Target) map[string]json.RawMessage

	Records Records          // for the history; nil has none
	Logger  *slog.Logger     // nil discards
	Clock   func() time.Time // nil is time.Now
}

// Target is a call as [Options.Current] gets it.
type Target struct {
	Tool   string
	Routes []string
	IDs    []mcpcore.ID
}

// Records reads audit events. It is safe for concurrent use.
type Records interface {
	// Recent lists the events of calls that ended, the newest first, at most limit
	// of them.
	Recent(ctx context.Context, limit int) ([]mcpcore.AuditEvent, error)
}

// Console is the page on which approvers decide. It serves everything below its
// path, and is safe for concurrent use:
//
//	c, err := console.New(console.Options{Ledger: ledger, Approvers: approvers, StateKey: key})
//	…
//	mux.Handle("/console/", c)
//	deps.Approver = mcpcore.InLedger{Where: "https://bot.example.org/console", Check: approvers.Check}
//
// docs/console.md says what it guarantees.
type Console struct {
	o        Options
	handler  http.Handler
	seal     sealer
	attempts *attempts
	live     *live
	names    names
}

var (
	pathShape = regexp.MustCompile(`^(?:/[A-Za-z0-9._~-]+)+$`)
	hostShape = regexp.MustCompile(`^[a-z0-9.-]+(?::[0-9]{1,5})?$|^\[[0-9a-f:]+\](?::[0-9]{1,5})?$`)
)

// New makes a console. The error joins everything that is wrong.
func New(o Options) (*Console, error) {
	o.Path = cmp.Or(o.Path, "/console")
	o.Hosts = slices.Clone(o.Hosts)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	var problems []error
	if o.Ledger == nil {
		problems = append(problems, errors.New("the console needs the ledger in which calls wait"))
	}
	if o.Approvers.Names() == nil {
		problems = append(problems, errors.New("the console does not open without approvers; make one with: discord-mcp approver new NAME"))
	}
	if !pathShape.MatchString(o.Path) || strings.Contains(o.Path, "..") {
		problems = append(problems, errors.New("the console's path must be like /console, without a slash at its end"))
	}
	for i, h := range o.Hosts {
		if o.Hosts[i] = strings.ToLower(strings.TrimSpace(h)); !hostShape.MatchString(o.Hosts[i]) {
			problems = append(problems, fmt.Errorf("%q is no host as browsers send it, such as console.example.org", h))
		}
	}
	seal, err := newSealer(o.StateKey)
	if err := errors.Join(append(problems, err)...); err != nil {
		return nil, err
	}
	c := &Console{o: o, seal: seal, attempts: newAttempts(o.Clock), live: newLive(o.Ledger, o.Logger)}
	c.handler = c.guarded(c.routes())
	return c, nil
}

// ServeHTTP implements [http.Handler].
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Close ends the live updates, for which a server that shuts down would wait.
// Pages are served on.
func (c *Console) Close() { c.live.close() }

func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	at := func(pattern string, h http.HandlerFunc) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.Handle(method+" "+c.o.Path+path, h)
	}
	at("GET /{$}", c.signedIn(c.list))
	at("GET /waiting", c.signedIn(c.waiting))
	at("GET /events", c.signedIn(c.events))
	at("GET /approvals/{id}", c.signedIn(c.show))
	at("POST /approvals/{id}", c.signedIn(c.decide))
	at("GET /history", c.signedIn(c.history))
	at("POST /signout", c.signedIn(c.signOut))
	at("GET /signin", c.signInForm)
	at("POST /signin", c.signIn)
	for name, kind := range assets {
		at("GET /"+name, asset(name, kind))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == c.o.Path {
			http.Redirect(w, r, c.o.Path+"/", http.StatusSeeOther)
			return
		}
		c.fail(w, r, http.StatusNotFound, "There is no such page", "Nothing is served at this address.")
	})
	return mux
}

// CheckBearer refuses a bearer token of agents that is also the token of an
// approver: whoever holds it could approve what they ask for.
func (a Approvers) CheckBearer(token string) error {
	name, ok := a.Verify(strings.TrimSpace(token))
	if !ok {
		return nil
	}
	return fmt.Errorf("the bearer token is the token with which %s approves, so that every agent could approve itself; make another for one of the two", name)
}
