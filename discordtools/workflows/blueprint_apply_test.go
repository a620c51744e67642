package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/discordtools/workflows"
	"github.com/guildwarden/guildwarden/internal/postgrestest"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// halt stands between a server and Discord. It stops before the first write until
// it is let go.
type halt struct {
	discordtools.REST
	once            sync.Once
	reached, resume chan struct{}
}

func newHalt(rest discordtools.REST) *halt {
	return &halt{REST: rest, reached: make(chan struct{}), resume: make(chan struct{})}
}

func (h *halt) Do(ctx context.Context, r discordtools.Request) (*discordtools.Response, error) {
	if r.Method != "GET" {
		h.once.Do(func() { close(h.reached); <-h.resume })
	}
	return h.REST.Do(ctx, r)
}

// shared is a world that servers share, and the ledger of all of them: one in a
// database, or in memory, of each server alone.
type shared struct {
	*testing.T
	world         *sandbox.Discord
	guild, second discord.GuildID
	ledger        order
}

func newShared(t *testing.T, kind, address string) *shared {
	s := &shared{T: t, world: sandbox.New(sandbox.Options{}), ledger: order{Kind: kind, Address: address}}
	for _, id := range []*discord.GuildID{&s.guild, &s.second} {
		*id = s.world.AddGuild(sandbox.Guild{Name: "Empty"}, discord.ViewChannel|discord.SendMessages|discord.ReadMessageHistory|discord.Connect|discord.Speak)
		role := s.world.AddRole(*id, sandbox.Role{Name: "Bot", Permissions: discord.Administrator, Position: 9})
		s.world.AddMember(*id, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{role}})
	}
	return s
}

// replica is one of the servers: with a connection of its own to the ledger, whose
// clock may be ahead.
func (s *shared) replica(ahead time.Duration, between func(discordtools.REST) discordtools.REST) *caller {
	s.Helper()
	var approvals mcpcore.Ledger = ledger.NewMemory(nil)
	var ops mcpcore.OperationLedger = durable{ledger.NewOperations(nil)}
	if s.ledger.Kind != "" {
		l, err := s.ledger.open()
		if err != nil {
			s.Fatal(err)
		}
		s.Cleanup(func() { _ = l.Close() })
		approvals, ops = l, s.ledger.later(s.T, ahead)
	}
	var rest discordtools.REST
	var err error
	if rest, err = discordtools.NewClient(s.world.Session(), discordtools.ClientOptions{}); err != nil {
		s.Fatal(err)
	}
	if between != nil {
		rest = between(rest)
	}
	server, err := discordtools.BuildServer(discordtools.Deps{
		REST: rest, Workflows: workflows.All, Ledger: approvals, Operations: ops, StateKey: secret,
		Config: discordtools.Config{Armed: true, ExpectedBot: sandbox.BotID, AllowedGuilds: []discord.GuildID{s.guild, s.second}},
		Permits: mcpcore.WorkflowPolicy{Permits: map[string]mcpcore.Permit{
			"guild-blueprint": {Enabled: true, Scopes: map[string][]string{
				"guilds": {string(s.guild)},
				"phases": {"roles", "categories", "channels", "guild", "ordering", "welcome", "onboarding", "automod", "publications"},
			}, Limits: map[string]int{"maxOperations": 10}},
			"role-creation": {Enabled: true, Scopes: map[string][]string{"guilds": {string(s.guild), string(s.second)}}},
		}},
	})
	if err != nil {
		s.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(s.Context(), far, nil); err != nil {
		s.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
		},
	}).Connect(s.Context(), near, nil)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = session.Close() })
	return &caller{T: s.T, session: session}
}

// planned is a plan of two roles, as the arguments that carry it out.
func (s *shared) planned(c *caller) string {
	s.Helper()
	var p struct {
		Ref      string `json:"plan_ref"`
		Approval string `json:"approval_id"`
	}
	c.call("guild_blueprint_plan", fmt.Sprintf(`{"guild_id":%q,"blueprint":{"schema_version":"guild_blueprint.v1","roles":[{"key":"a","name":"A"},{"key":"b","name":"B"}]}}`, s.guild))
	if err := json.Unmarshal([]byte(c.raw), &p); err != nil || p.Ref == "" {
		s.Fatalf("the plan is %s", c.raw)
	}
	return fmt.Sprintf(`{"guild_id":%q,"expected_bot_id":%q,"approval_id":%q,"plan_ref":%q,"__confirm":true}`, s.guild, sandbox.BotID, p.Approval, p.Ref)
}

func (c *caller) wants(tool, args string, says ...string) {
	c.Helper()
	c.call(tool, args)
	for _, want := range says {
		if !strings.Contains(c.raw, want) {
			c.Errorf("%s answers %s, want %s", tool, c.raw, want)
		}
	}
}

func roleIn(guild discord.GuildID, key int) string {
	return fmt.Sprintf(`{"guildId":%q,"name":"Another %d","operationKey":"canary-key-00000000%d"}`, guild, key, key)
}

// What applies a blueprint and a reviewed workflow never write one guild at once,
// through whichever servers of one ledger.
func TestBlueprintsAndWorkflowsExcludeEachOther(t *testing.T) {
	t.Parallel()
	for kind, address := range map[string]func(t *testing.T) string{
		"sqlite": func(t *testing.T) string { return filepath.Join(t.TempDir(), "ledger.db") },
		"postgres": func(t *testing.T) string {
			postgrestest.Server(t)
			return postgrestest.Schema(t)
		},
	} {
		const apply, execute = "guild_blueprint_apply", "execute_role_creation"
		t.Run("apply is under way, "+kind, func(t *testing.T) {
			t.Parallel()
			s := newShared(t, kind, address(t))
			var stop *halt
			one := s.replica(0, func(rest discordtools.REST) discordtools.REST { stop = newHalt(rest); return stop })
			two := s.replica(0, nil)
			args := s.planned(one)
			var wait sync.WaitGroup
			wait.Go(func() { one.wants(apply, args, `"status":"complete"`) })
			<-stop.reached
			two.wants(execute, roleIn(s.guild, 11), "TARGET_BUSY", "guild/roles:"+string(s.guild))
			two.wants(apply, args, `"status":"busy"`, `"next_action":"resume"`)
			two.wants(execute, roleIn(s.second, 12), `"status":"completed"`)
			close(stop.resume)
			wait.Wait()
			two.wants(execute, roleIn(s.guild, 11), `"status":"completed"`)
		})
		t.Run("a workflow is under way, "+kind, func(t *testing.T) {
			t.Parallel()
			s := newShared(t, kind, address(t))
			var stop *halt
			one := s.replica(0, func(rest discordtools.REST) discordtools.REST { stop = newHalt(rest); return stop })
			two := s.replica(0, nil)
			args := s.planned(two)
			var wait sync.WaitGroup
			wait.Go(func() { one.wants(execute, roleIn(s.guild, 11), `"status":"completed"`) })
			<-stop.reached
			two.wants(apply, args, `"status":"busy"`)
			if writes := s.world.Writes(); len(writes) != 0 {
				t.Errorf("%d writes", len(writes))
			}
			close(stop.resume)
			wait.Wait()
			two.wants(apply, args, `"status":"stale"`)
			two.wants(apply, s.planned(two), `"status":"complete"`)
		})
		t.Run("what became of a write is not known, "+kind, func(t *testing.T) {
			t.Parallel()
			s := newShared(t, kind, address(t))
			one, two, later := s.replica(0, nil), s.replica(0, nil), s.replica(time.Hour, nil)
			args := s.planned(one)
			s.world.Inject(sandbox.Fault{Method: "POST", Reset: true, AfterExecution: true})
			one.wants(apply, args, `"status":"partial"`, `"next_action":"resume"`)
			two.wants(execute, roleIn(s.guild, 11), "TARGET_BUSY")
			later.wants(execute, roleIn(s.guild, 11), "TARGET_QUARANTINED")
			later.wants(execute, roleIn(s.second, 12), `"status":"completed"`)
			two.wants(apply, args, `"status":"complete"`) // another server goes on, and makes no role twice
			if roles := s.world.Roles(s.guild); len(roles) != 4 {
				t.Errorf("there are %d roles", len(roles))
			}
			two.wants(execute, roleIn(s.guild, 11), `"status":"completed"`)
		})
		t.Run("an operator must look, "+kind, func(t *testing.T) {
			t.Parallel()
			s := newShared(t, kind, address(t))
			one, later := s.replica(0, nil), s.replica(time.Hour, nil)
			args := s.planned(one)
			s.world.Inject(sandbox.Fault{Method: "POST", Reset: true, AfterExecution: true})
			one.wants(apply, args, `"status":"partial"`)
			s.world.AddRole(s.guild, sandbox.Role{Name: "Foreign", Position: 1})
			later.wants(apply, args, `"status":"stale"`)
			later.wants(execute, roleIn(s.guild, 11), "TARGET_QUARANTINED")
			later.wants(apply, s.planned(later), `"status":"blocked"`, "TARGET_QUARANTINED", "operations resolve claim_")
			ops := s.ledger.later(t, time.Hour)
			held, err := ops.Claims(t.Context())
			if err != nil || len(held) != 1 || held[0].State != mcpcore.ClaimQuarantined {
				t.Fatalf("held: %+v, %v", held, err)
			}
			if err := ops.Resolve(t.Context(), held[0].ID, "Ada"); err != nil {
				t.Fatal(err)
			}
			later.wants(apply, s.planned(later), `"status":"complete"`)
		})
	}
}
