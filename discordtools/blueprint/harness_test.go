package blueprint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// site is a sandbox with an empty guild whose bot is an administrator.
type site struct {
	*testing.T
	world *sandbox.Discord
	guild discord.GuildID
	conn  blueprint.Conn
	store mcpcore.Store
	ops   mcpcore.OperationLedger
}

var everyone = discord.ViewChannel | discord.SendMessages | discord.ReadMessageHistory | discord.Connect | discord.Speak

// onSite runs a test on a site of its own, in a time of its own, in which nobody
// waits.
func onSite(t *testing.T, test func(s *site)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newSite(t)) })
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, world: sandbox.New(sandbox.Options{}), store: ledger.NewStore(nil), ops: ledger.NewOperations(nil)}
	s.guild = s.addGuild(discord.Administrator)
	client, err := discordtools.NewClient(s.world.Session(), discordtools.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.conn = discordtools.BlueprintConn(client)
	return s
}

// addGuild adds an empty guild in which the bot's own role has the permissions.
func (s *site) addGuild(p discord.Permissions) discord.GuildID {
	id := s.world.AddGuild(sandbox.Guild{Name: "Empty"}, everyone)
	role := s.world.AddRole(id, sandbox.Role{Name: "Bot", Permissions: p})
	s.world.AddMember(id, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{role}})
	return id
}

func (s *site) sealer() *blueprint.Sealer {
	s.Helper()
	sealer, err := blueprint.NewSealer([]byte(strings.Repeat("k", 32)))
	if err != nil {
		s.Fatal(err)
	}
	return sealer
}

func (s *site) applier() *blueprint.Applier {
	return &blueprint.Applier{
		Conn: s.conn, Records: blueprint.Records{Store: s.store, Sealer: s.sealer()}, Operations: s.ops, Clock: time.Now,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// draft compares the guild with a document.
func (s *site) draft(d *blueprint.Document, adopt bool) *blueprint.Draft {
	s.Helper()
	g, err := blueprint.Read(s.Context(), s.conn, s.guild, sandbox.BotID, d, nil)
	if err != nil {
		s.Fatalf("read the guild: %v", err)
	}
	return blueprint.Compare(d, g, blueprint.Bindings{}, adopt)
}

// plan is the plan of a draft that has one.
func (s *site) plan(d *blueprint.Document) *blueprint.Plan {
	s.Helper()
	f := s.draft(d, false)
	if len(f.Blockers) > 0 {
		s.Fatalf("blocked:\n%s", f.Diff())
	}
	return f.Plan()
}

// apply carries a plan out in one call.
func (s *site) apply(p *blueprint.Plan, budget int) *blueprint.Outcome {
	s.Helper()
	return s.applier().Apply(s.Context(), blueprint.Order{Plan: p, Principal: "stdio", Budget: budget})
}

// build carries a document out to the end, and demands that what comes is what
// was shown.
func (s *site) build(d *blueprint.Document) *blueprint.Plan {
	s.Helper()
	p := s.plan(d)
	o := s.apply(p, 1000)
	if done := o.Status == blueprint.Complete || o.Status == blueprint.AlreadyCurrent && len(p.Operations) == 0; !done || o.Readback != blueprint.Match {
		s.Fatalf("applied: %s", show(o))
	}
	came := s.draft(d, false).Trees()
	if got, want := bare(came.Before)+bare(came.Roles.Before), bare(p.Trees.After)+bare(p.Trees.Roles.After); got != want {
		s.Errorf("shown was\n%s\nand it is\n%s", want, got)
	}
	return p
}

// requests are what Discord was sent, as "METHOD /route".
func (s *site) requests() (all []string) {
	for _, r := range s.world.Requests() {
		all = append(all, r.Method+" "+r.Route)
	}
	return all
}

func show(o *blueprint.Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, next %s, %d left, readback %s\n", o.Status, o.Next, o.Left, o.Readback)
	if o.Failure != nil {
		op := "none"
		if o.Failure.Operation != nil {
			op = *o.Failure.Operation
		}
		fmt.Fprintf(&b, "failure %s at %s\n", o.Failure.Code, op)
	}
	for _, p := range o.Blockers {
		fmt.Fprintf(&b, "! %s %s\n", p.Code, p.Message)
	}
	for _, w := range o.Warnings {
		fmt.Fprintf(&b, "# %s\n", w)
	}
	return b.String()
}

// compile is the blueprint of a request.
func compile(request string) *blueprint.Document {
	return blueprint.Compile(blueprint.Brief{Request: request})
}

func canonical(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// claims are what the ledger of operations holds.
func (s *site) claims() []mcpcore.Held {
	s.Helper()
	held, err := s.ops.Claims(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return held
}
