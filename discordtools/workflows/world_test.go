package workflows_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// scene is a change of a workflow in the demo world.
type scene struct {
	operationtest.Subject
	// Route is the write's, "DELETE /guilds/{guild_id}/roles/{role_id}", and
	// ReadBack that of the first request after it.
	Route, ReadBack string
	Race            bool // processes race on it too, which is the engine's matter more than the workflow's
	// Skip is how many requests to ReadBack's route come before the write.
	Skip int

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
	s.World = s.world
	operationtest.Workflow(t, s.Subject)
	s.stores(t)
}

func (s scene) world(t *testing.T) *operationtest.World {
	t.Helper()
	d := sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return at }})
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
			return discordtools.BuildServer(discordtools.Deps{
				Session: d.Session(), Config: discordtools.Config{Armed: u.Armed},
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
		Reads: func() int { return len(d.Requests()) - len(d.Writes()) },
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

func cut(route string) (method, template string) {
	_, _ = fmt.Sscan(route, &method, &template) // both or the test fails on them
	return method, template
}

// line is a write as scenes say it.
func line(r sandbox.Request) string {
	if len(r.Body) == 0 {
		return r.Method + " " + r.Path
	}
	return r.Method + " " + r.Path + " " + string(r.Body)
}
