package workflows_test

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

// permits lets a workflow act on other ids than its scene does.
func permits(workflow, scope string, ids ...string) func(*mcpcore.WorkflowPolicy) {
	return func(p *mcpcore.WorkflowPolicy) {
		p.Permits[workflow] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{scope: ids}}
	}
}

// weaker takes permissions from the bot's role.
func weaker(p discord.Permissions) func(*operationtest.World) {
	return world(func(d *sandbox.Discord) {
		d.SetRolePermissions(sandbox.DemoGuild, sandbox.DemoBotRole, sandbox.DemoPermissions&^p)
		d.SetRolePermissions(sandbox.DemoGuild, discord.RoleID(sandbox.DemoGuild), discord.ViewChannel&^p)
	})
}

// replaced answers requests of a route with from written as to.
type replaced struct {
	discordtools.REST
	route, from, to string
	written         *atomic.Bool // nil, or whether there was a write: before it nothing is replaced
}

func (l replaced) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	if r.Method != "GET" && l.written != nil {
		l.written.Store(true)
	}
	res, err := l.REST.Do(ctx, r)
	if err == nil && r.Method+" "+r.Route == l.route && (l.written == nil || l.written.Load()) {
		res.Body = bytes.ReplaceAll(res.Body, []byte(l.from), []byte(l.to))
	}
	return res, err
}

// answered is the scene, with from written as to in the answers of a route.
func (s scene) answered(route, from, to string) scene {
	s.REST = func(rest discordtools.REST) discordtools.REST { return replaced{rest, route, from, to, nil} }
	return s
}

// after is the scene, with from written as to in the answers of a route that come
// after the write.
func (s scene) after(route, from, to string) scene {
	s.REST = func(rest discordtools.REST) discordtools.REST {
		return replaced{rest, route, from, to, new(atomic.Bool)}
	}
	return s
}

// ends executes the scene and wants it to end so.
func (s scene) ends(t *testing.T, name string, code mcpcore.Code, status string, kept mcpcore.Status) {
	t.Helper()
	if e, r := s.once(t); e.Code != code || e.Status != status || r.Status != kept {
		t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
	}
}

// writes executes the scene with other arguments and wants these writes.
func (s scene) writes(t *testing.T, args string, lines ...string) {
	t.Helper()
	s.Args = args
	s.sends(t, lines...)
}

// plans is what the scene's plan tells, or another of its reading tools.
func (s scene) plans(t *testing.T) map[string]any {
	t.Helper()
	return s.reads(t, s.Plan, strings.TrimSuffix(s.Args, "}")+`,"operationKey":"`+firstKey+`"}`)
}

func (s scene) reads(t *testing.T, tool, args string) (told map[string]any) {
	t.Helper()
	c := s.client(t)
	c.call(tool, args)
	c.into(&told)
	return told
}
