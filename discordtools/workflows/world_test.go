package workflows_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// scene is a change of a workflow in the demo world.
type scene struct {
	operationtest.Subject
	// Route is the write's, "DELETE /guilds/{guild_id}/roles/{role_id}", and
	// ReadBack that of the first request after it.
	Route, ReadBack string
	// Race is the Args of the same change on other targets. Where there are, processes
	// race on both, which is the engine's matter more than the workflow's.
	Race string
	// Skip is how many requests to ReadBack's route come before the write.
	Skip int

	// REST stands between the server and the sandbox, to answer otherwise; nil for
	// nothing.
	REST func(discordtools.REST) discordtools.REST

	// Base is where another process serves the world; "" for one of its own.
	Base string

	// Ledger stands before the ledger of operations, to know what happened before; nil
	// for nothing.
	Ledger func(mcpcore.OperationLedger) mcpcore.OperationLedger

	Protected []string // users whom the policy of [scene.once] protects

	Clock  func() time.Time         // of the demo world; nil is always at
	Before func(d *sandbox.Discord) // makes the demo world fit
	Change func(d *sandbox.Discord) // see [operationtest.World]
	Rename func(d *sandbox.Discord)
	Settle func(d *sandbox.Discord)
}

// at is when the demo worlds of these tests are made.
var at = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

func (s scene) run(t *testing.T) {
	t.Helper()
	if order := os.Getenv(child); order != "" {
		s.serve(t, order)
		return
	}
	if testing.Short() && s.Race == "" {
		t.Skip("-short runs the rules on the workflow that processes race on")
	}
	s.World = s.world
	operationtest.Workflow(t, s.Subject)
	s.stores(t)
}

func (s scene) world(t *testing.T) *operationtest.World {
	t.Helper()
	clock := s.Clock
	if clock == nil {
		clock = func() time.Time { return at }
	}
	d := sandbox.DemoWith(sandbox.Options{Clock: clock})
	if s.Before != nil {
		s.Before(d)
	}
	d.ResetRequests()
	on := func(f func(*sandbox.Discord)) func() {
		if f == nil {
			return nil
		}
		return func() { f(d) }
	}
	return &operationtest.World{
		Any: d, Change: on(s.Change), Rename: on(s.Rename), Settle: on(s.Settle),
		Serve: func(u operationtest.Setup) (*mcp.Server, error) {
			session := d.Session()
			if s.Base != "" {
				session.Client = http.DefaultClient
			}
			rest, err := discordtools.NewClient(session, discordtools.ClientOptions{Base: s.Base})
			if err != nil {
				return nil, err
			}
			if s.Ledger != nil {
				u.Operations = s.Ledger(u.Operations)
			}
			return discordtools.BuildServer(discordtools.Deps{
				REST: s.between(rest), Config: discordtools.Config{Armed: u.Armed, ExpectedBot: sandbox.BotID, Toolsets: []string{toolsetOf()[s.Workflow]}},
				Workflows: workflows.All, Permits: u.Permits, Operations: u.Operations,
				Ledger: u.Ledger, Approver: u.Approver, Audit: u.Audit, StateKey: u.StateKey, Clock: u.Clock,
			})
		},
		Writes: func() (lines []string) {
			for _, r := range d.Writes() {
				lines = append(lines, line(r))
			}
			return lines
		},
		Reads: func() (n int) {
			for _, r := range d.Requests() {
				if r.Method == "GET" && r.Path != "/users/@me" { // which every server reads, to know who it is
					n++
				}
			}
			return n
		},
		Fail: func(f operationtest.Fault) bool {
			method, route := cut(s.Route)
			fault := sandbox.Fault{Method: method, Route: route}
			switch f {
			case operationtest.Forbidden:
				fault.Status = 403
			case operationtest.Limited:
				fault.RateLimit = "user"
			case operationtest.Failing:
				fault.Status = 500
			case operationtest.Reset:
				fault.Reset = true
			case operationtest.Lost:
				fault.Reset, fault.AfterExecution = true, true
			case operationtest.Garbled:
				fault.Truncate, fault.AfterExecution = true, true
			case operationtest.Unread:
				method, route := cut(s.ReadBack)
				fault = sandbox.Fault{Method: method, Route: route, Status: 403, Skip: s.Skip, Times: 9}
			}
			d.Inject(fault)
			return true
		},
	}
}

// toolsetOf is the toolset of a workflow: a scene's servers, of which it starts
// hundreds, have no more tools than they need.
var toolsetOf = sync.OnceValue(func() map[string]string {
	of := map[string]string{}
	for _, w := range workflows.All(nil) {
		of[w.Name] = w.Category
	}
	return of
})

func (s scene) between(rest discordtools.REST) discordtools.REST {
	if s.REST == nil {
		return rest
	}
	return s.REST(rest)
}

// answering is a REST whose writes are answered otherwise: what f makes of the
// true answer, or an error before anything is sent.
type answering struct {
	discordtools.REST
	unsent error
	f      func(*discordtools.Response) *discordtools.Response
}

func (a answering) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	if r.Method == "GET" {
		return a.REST.Do(ctx, r)
	}
	if a.unsent != nil {
		return nil, a.unsent
	}
	res, err := a.REST.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	return a.f(res), nil
}

// once executes the scene's change in a world of its own and tells how it ended
// and what is kept of it.
func (s scene) once(t *testing.T) (ended, mcpcore.Receipt) {
	t.Helper()
	ops := ledger.NewOperations(nil)
	e := s.execute(t, s.world(t), durable{ops}, firstKey)
	r, err := ops.Receipt(t.Context(), s.Workflow, mcpcore.HashKey(firstKey))
	if err != nil && !errors.Is(err, mcpcore.ErrReceiptMissing) {
		t.Fatal(err)
	}
	return e, r
}

// durable is a ledger that a server takes for one that outlives it.
type durable struct{ mcpcore.OperationLedger }

func (durable) Durable() bool { return true }

func cut(route string) (method, template string) {
	_, _ = fmt.Sscan(route, &method, &template) // both or the test fails on them
	return method, template
}

// line is a write as scenes say it.
func line(r sandbox.Request) string {
	if len(r.Body) == 0 {
		return r.Method + " " + r.Path
	}
	if kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind == "multipart/form-data" {
		return r.Method + " " + r.Path + parts(r.Body, params["boundary"])
	}
	return r.Method + " " + r.Path + " " + string(r.Body)
}

// parts is a form without its boundary: fields, and of files their types and
// lengths.
func parts(body []byte, boundary string) (all string) {
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := form.NextPart()
		if err != nil {
			return all
		}
		data, err := io.ReadAll(p)
		switch {
		case err != nil:
			return all + " " + err.Error()
		case p.FileName() == "":
			all += fmt.Sprintf(" %s=%s", p.FormName(), data)
		default:
			all += fmt.Sprintf(" %s=%s of %d bytes", p.FormName(), p.Header.Get("Content-Type"), len(data))
		}
	}
}
