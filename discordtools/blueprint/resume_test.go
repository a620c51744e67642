package blueprint_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// killed is a connection, a store and a ledger of a process that dies: from the
// given moment on none of them reaches anything. The moments are the steps that
// can be seen from outside: requests, saves and what the ledger of operations is
// told.
type killed struct {
	mcpcore.OperationLedger
	conn   blueprint.Conn
	store  mcpcore.Store
	left   int  // steps until it dies
	behind bool // the last step still happens, and its answer is lost
	dead   bool
}

// dying does a step, if the process lives or the last one still happens.
func dying[T any](k *killed, do func() (T, error)) (v T, err error) {
	if k.step() {
		return do()
	}
	if k.behind && k.left == -1 {
		_, _ = do()
	}
	return v, errDead
}

func (k *killed) Claim(ctx context.Context, w mcpcore.Wanted) (mcpcore.Claim, error) {
	return dying(k, func() (mcpcore.Claim, error) { return k.OperationLedger.Claim(ctx, w) })
}

func (k *killed) Reserve(ctx context.Context, c mcpcore.Claim, r mcpcore.Reservation) (mcpcore.Receipt, error) {
	return dying(k, func() (mcpcore.Receipt, error) { return k.OperationLedger.Reserve(ctx, c, r) })
}

func (k *killed) Pending(ctx context.Context, c mcpcore.Claim, write time.Duration) (mcpcore.Receipt, error) {
	return dying(k, func() (mcpcore.Receipt, error) { return k.OperationLedger.Pending(ctx, c, write) })
}

func (k *killed) Finish(ctx context.Context, c mcpcore.Claim, e mcpcore.Ending) (mcpcore.Receipt, error) {
	return dying(k, func() (mcpcore.Receipt, error) { return k.OperationLedger.Finish(ctx, c, e) })
}

func (k *killed) Release(ctx context.Context, c mcpcore.Claim) error {
	_, err := dying(k, func() (bool, error) { return true, k.OperationLedger.Release(ctx, c) })
	return err
}

var errDead = errors.New("the process is dead")

func (k *killed) step() bool {
	k.left--
	if k.left < 0 {
		k.dead = true
	}
	return !k.dead
}

func (k *killed) Do(ctx context.Context, r blueprint.Request) (json.RawMessage, error) {
	if !strings.HasPrefix(r.Route, "GET ") {
		return dying(k, func() (json.RawMessage, error) { return k.conn.Do(ctx, r) })
	}
	if k.dead {
		return nil, errDead
	}
	return k.conn.Do(ctx, r)
}

func (k *killed) Load(ctx context.Context, kind, name string) (int64, []byte, error) {
	if k.dead {
		return 0, nil, errDead
	}
	return k.store.Load(ctx, kind, name)
}

func (k *killed) Save(ctx context.Context, kind, name string, last int64, data []byte, life time.Duration) (int64, error) {
	return dying(k, func() (int64, error) { return k.store.Save(ctx, kind, name, last, data, life) })
}

func (k *killed) Drop(ctx context.Context, kind, name string, version int64) error {
	if k.dead {
		return errDead
	}
	return k.store.Drop(ctx, kind, name, version)
}

// names are the names of everything in a guild, in order, so that a duplicate or
// a gap shows.
func (s *site) names() string {
	f := s.draft(&blueprint.Document{SchemaVersion: blueprint.Version}, false)
	var b strings.Builder
	t := f.Trees()
	for _, n := range t.Roles.Before {
		fmt.Fprintln(&b, n.Name)
	}
	var walk func([]blueprint.Node, string)
	walk = func(nodes []blueprint.Node, in string) {
		for _, n := range nodes {
			fmt.Fprintln(&b, in+n.Name, n.Kind, n.Private)
			walk(n.Inside, in+"  ")
		}
	}
	walk(t.Before, "")
	for _, r := range s.world.AutoModRules(s.guild) {
		fmt.Fprintln(&b, r.Name)
	}
	var messages []string
	for _, c := range s.world.Channels(s.guild) {
		messages = append(messages, fmt.Sprint(c.Name, len(s.world.Messages(c.ID))))
	}
	slices.Sort(messages)
	fmt.Fprintln(&b, messages)
	o := s.world.Onboarding(s.guild)
	fmt.Fprintln(&b, o.Enabled, len(o.Prompts), len(o.DefaultChannels))
	return b.String()
}

// short is a blueprint with every kind of operation and few of each.
const short = `{"schema_version":"guild_blueprint.v1",
	"guild":{"name":"Built","description":"By a test","community":{"rules_channel_key":"rules","public_updates_channel_key":"news"},
		"welcome_screen":{"enabled":true,"description":"Hello","channel_keys":["rules","news"]}},
	"roles":[{"key":"low","name":"Low","color":1},{"key":"high","name":"High","hoist":true,"permissions":["MANAGE_MESSAGES"]}],
	"categories":[{"key":"talk","name":"Talk"},{"key":"staff","name":"Staff","private":true,"overwrites":[
		{"subject":{"kind":"everyone"},"deny":["VIEW_CHANNEL"]},{"subject":{"kind":"role","key":"high"},"allow":["VIEW_CHANNEL"]},{"subject":{"kind":"bot"},"allow":["VIEW_CHANNEL"]}]}],
	"channels":[
		{"key":"rules","name":"rules","type":"text","topic":"Rules"},{"key":"news","name":"news","type":"text","topic":"News"},
		{"key":"posts","name":"posts","type":"forum","parent_key":"talk","forum_tags":[{"key":"a","name":"A"},{"key":"b","name":"B","moderated":true}]},
		{"key":"one","name":"one","type":"text","parent_key":"talk"},{"key":"two","name":"two","type":"text","parent_key":"talk"},
		{"key":"three","name":"three","type":"text","parent_key":"talk"},{"key":"four","name":"four","type":"text","parent_key":"talk"},
		{"key":"five","name":"five","type":"text","parent_key":"talk","nsfw":false,"slowmode_seconds":5},
		{"key":"room","name":"Room","type":"voice","parent_key":"talk","user_limit":5},
		{"key":"log","name":"log","type":"text","parent_key":"staff","overwrites":[]}],
	"onboarding":{"enabled":true,"mode":0,"default_channel_keys":["rules","news","one","two","three","four","five"],
		"prompts":[{"key":"who","title":"Who?","options":[{"key":"me","title":"Me","role_keys":["low"]},{"key":"you","title":"You","channel_keys":["one"]}]}]},
	"automod":{"rules":[
		{"key":"words","name":"Words","event_type":1,"trigger_type":1,"keyword_filter":["bad"],"actions":[{"type":1}],"enabled":true,"exempt_role_keys":["high"]},
		{"key":"spam","name":"Spam","event_type":1,"trigger_type":3,"actions":[{"type":2,"alert_channel_key":"log"}],"enabled":true}]},
	"components_v2":{"publications":[{"key":"hello","channel_key":"rules","components":[{"type":10,"content":"Read this, then go to <#{{channel:one}}>."}]},
		{"key":"box","channel_key":"news","components":[{"type":17,"components":[{"type":10,"content":"News"},{"type":14}]}]}]}}`

func parse(t *testing.T, text string) *blueprint.Document {
	t.Helper()
	d, issues := blueprint.Parse([]byte(text))
	if issues != nil {
		t.Fatalf("%+v", issues)
	}
	return d
}

// want is how a guild looks in which nothing went wrong.
func want(t *testing.T, d *blueprint.Document) (names string, steps int) {
	t.Helper()
	onSite(t, func(s *site) {
		p := s.build(d)
		names, steps = s.names(), len(p.Operations)
	})
	return names, steps
}

// TestKilled kills the process before and after every write, every save and every
// word to the ledger of operations, and goes on with another: the guild is always
// the same, with nothing twice, and nothing is left open in the ledger.
func TestKilled(t *testing.T) {
	t.Parallel()
	d := parse(t, short)
	names, steps := want(t, d)
	for at := range 7*steps + 6 {
		for _, behind := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %d, answer lost %t", at, behind), func(t *testing.T) {
				t.Parallel()
				onSite(t, func(s *site) {
					p := s.plan(d)
					k := &killed{OperationLedger: s.ops, conn: s.conn, store: s.store, left: at, behind: behind}
					dying := s.applier()
					dying.Conn, dying.Records.Store, dying.Operations = k, k, k
					dying.Apply(s.Context(), blueprint.Order{Plan: p, Principal: "stdio", Budget: 1000})
					if held := s.claims(); k.dead && len(held) > 0 {
						if o := s.apply(p, 1000); o.Status != blueprint.Busy && o.Status != blueprint.AlreadyCurrent { // which only forgot to give it back
							s.Fatalf("while the dead one's claim lasts it answers %s", show(o))
						}
						time.Sleep(blueprint.Lease)
					}
					s.resumed(p, names)
					for _, h := range s.claims() {
						if h.State != mcpcore.ClaimFree {
							s.Errorf("still held: %+v", h)
						}
					}
				})
			})
		}
	}
}

// resumed goes on with a plan and demands the guild that is wanted.
func (s *site) resumed(p *blueprint.Plan, names string) {
	s.Helper()
	o := s.apply(p, 1000)
	if (o.Status != blueprint.Complete && o.Status != blueprint.AlreadyCurrent) || o.Readback != blueprint.Match {
		s.Fatalf("gone on: %s", show(o))
	}
	if got := s.names(); got != names {
		s.Errorf("the guild is\n%s\nwant\n%s", got, names)
	}
	if f := s.draft(p.Document(), false); !f.Current() {
		s.Errorf("something is left:\n%s", f.Diff())
	}
}

// TestFaults has Discord fail at every write: with a rate limit, an error, a
// connection that breaks and an answer that is cut, before and after the write
// was executed. Going on ends in the same guild.
func TestFaults(t *testing.T) {
	t.Parallel()
	d := parse(t, short)
	names, _ := want(t, d)
	writes := map[string]int{}
	onSite(t, func(s *site) {
		s.build(d)
		for _, r := range s.world.Writes() {
			writes[r.Method]++
		}
	})
	for _, kind := range []struct {
		name  string
		fault sandbox.Fault
	}{
		{"429", sandbox.Fault{RateLimit: "user"}},
		{"500", sandbox.Fault{Status: 500}},
		{"502 after", sandbox.Fault{Status: 502, HTML: true, AfterExecution: true}},
		{"reset", sandbox.Fault{Reset: true}},
		{"reset after", sandbox.Fault{Reset: true, AfterExecution: true}},
		{"truncated", sandbox.Fault{Truncate: true}},
	} {
		for method, most := range writes {
			for at := range most {
				t.Run(fmt.Sprintf("%s of %s %d", kind.name, method, at), func(t *testing.T) {
					t.Parallel()
					onSite(t, func(s *site) {
						p := s.plan(d)
						f := kind.fault
						f.Method, f.Skip = method, at
						s.world.Inject(f)
						for range 4 {
							o := s.apply(p, 1000)
							if o.Status == blueprint.Complete {
								break
							}
							if o.Next != blueprint.NextResume {
								s.Fatalf("not to be gone on with: %s", show(o))
							}
						}
						s.resumed(p, names)
					})
				})
			}
		}
	}
}

// TestReadFaults has Discord fail at every read: nothing is done on what was not
// seen, and going on ends in the same guild.
func TestReadFaults(t *testing.T) {
	t.Parallel()
	d := parse(t, short)
	names, _ := want(t, d)
	reads := 0
	onSite(t, func(s *site) {
		p := s.plan(d)
		s.world.ResetRequests()
		s.apply(p, 1000)
		reads = len(s.world.Requests()) - len(s.world.Writes())
	})
	for at := 0; at < reads; at += 2 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			onSite(t, func(s *site) {
				p := s.plan(d)
				s.world.Inject(sandbox.Fault{Method: "GET", Skip: at, Times: 4, Truncate: true})
				for range 8 { // those at the end strike later ones
					s.apply(p, 1000)
				}
				s.resumed(p, names)
			})
		})
	}
}

// TestBudget does a few operations in each call.
func TestBudget(t *testing.T) {
	t.Parallel()
	d := parse(t, short)
	names, steps := want(t, d)
	onSite(t, func(s *site) {
		p := s.plan(d)
		calls := 0
		for ; ; calls++ {
			o := s.apply(p, 3)
			if len(o.Attempts) > 3 {
				s.Fatalf("%d operations in a call", len(o.Attempts))
			}
			if o.Status == blueprint.Complete {
				break
			}
			if o.Status != blueprint.Partial || o.Next != blueprint.NextResume || calls > steps {
				s.Fatalf("%s", show(o))
			}
		}
		if calls+1 != (steps+2)/3 {
			s.Errorf("%d calls for %d operations", calls+1, steps)
		}
		s.resumed(p, names)
	})
}

// foreign are changes by somebody else.
var foreign = map[string]func(s *site){
	"a new role":             func(s *site) { s.world.AddRole(s.guild, sandbox.Role{Name: "Foreign", Position: 1}) },
	"a new channel":          func(s *site) { s.world.AddChannel(sandbox.Channel{Guild: s.guild, Name: "foreign"}) },
	"everyone's permissions": func(s *site) { s.world.SetRolePermissions(s.guild, discord.RoleID(s.guild), everyone|discord.Stream) },
	"a rule": func(s *site) {
		s.world.AddAutoModRule(s.guild, sandbox.AutoModRule{Name: "Foreign", Keywords: []string{"x"}})
	},
}

// TestForeignChanges has somebody else change the guild between plan and apply,
// and during apply after each operation: it is seen, and stops the plan with the
// right status. A plan made anew then ends well.
func TestForeignChanges(t *testing.T) {
	t.Parallel()
	d := parse(t, short)
	_, steps := want(t, d)
	for name, change := range foreign {
		t.Run(name+" before", func(t *testing.T) {
			t.Parallel()
			onSite(t, func(s *site) {
				p := s.plan(d)
				change(s)
				s.world.ResetRequests()
				o := s.apply(p, 1000)
				if o.Status != blueprint.Stale || o.Next != blueprint.NextReplan || o.Blockers[0].Code != blueprint.CodeSnapshotStale {
					s.Fatalf("%s", show(o))
				}
				if writes := s.world.Writes(); len(writes) > 0 {
					s.Errorf("it wrote %d times", len(writes))
				}
				s.build(d)
			})
		})
		for at := 1; at < steps; at += 2 {
			t.Run(fmt.Sprintf("%s after %d", name, at), func(t *testing.T) {
				t.Parallel()
				onSite(t, func(s *site) {
					p := s.plan(d)
					a := s.applier()
					done := 0
					o := a.Apply(s.Context(), blueprint.Order{Plan: p, Principal: "stdio", Budget: 1000, Progress: func(context.Context, int, int, string) {
						if done++; done == at+1 {
							change(s)
						}
					}})
					if o.Status != blueprint.Stale || o.Next != blueprint.NextReplan {
						s.Fatalf("%s", show(o))
					}
					if again := s.apply(p, 1000); again.Status != blueprint.Stale || len(again.Attempts) > 0 {
						s.Errorf("the stale plan acts again: %s", show(again))
					}
					s.build(d)
				})
			})
		}
	}
}

// A plan that was carried out never acts again, also when the guild has drifted.
func TestConsumed(t *testing.T) {
	t.Parallel()
	onSite(t, func(s *site) {
		d := parse(t, short)
		p := s.build(d)
		target := blueprint.Target{Guild: s.guild, Bot: sandbox.BotID}
		s.world.SetRolePermissions(s.guild, s.roleNamed("High"), 0)
		s.world.ResetRequests()
		o := s.apply(p, 1000)
		if o.Status != blueprint.Blocked || o.Blockers[0].Code != blueprint.CodeConsumed || len(s.world.Writes()) > 0 {
			s.Errorf("it acts again: %s", show(o))
		}
		if v := s.applier().Review(s.Context(), p.ID(), "stdio", target); v.Status != "drifted" || *v.Unchanged {
			s.Errorf("the drift is not seen: %s", v.Status)
		}
		if v := s.applier().Review(s.Context(), p.ID(), "somebody else", target); v.Status != "blocked" || v.Blockers[0].Code != "ACTIVITY_EVIDENCE_UNVERIFIABLE" {
			s.Errorf("somebody else's evidence is %s", v.Status)
		}
		if v := s.applier().Review(s.Context(), "sha256:"+strings.Repeat("0", 64), "stdio", target); v.Status != "not_found" {
			s.Errorf("evidence that is not there is %s", v.Status)
		}
		if v := s.applier().Review(s.Context(), p.ID(), "stdio", blueprint.Target{Guild: "1234567890123456789", Bot: sandbox.BotID}); v.Status != "blocked" || v.Blockers[0].Code != "EVIDENCE_TARGET_MISMATCH" {
			s.Errorf("evidence of another guild is %s", v.Status)
		}
	})
}

func (s *site) roleNamed(name string) discord.RoleID {
	for _, r := range s.world.Roles(s.guild) {
		if r.Name == name {
			return r.ID
		}
	}
	s.Fatalf("there is no role %s", name)
	return ""
}

// Of two calls at once one works, and the other is told so.
func TestBusy(t *testing.T) {
	t.Parallel()
	onSite(t, func(s *site) {
		p := s.plan(parse(t, short))
		var other *blueprint.Outcome
		o := s.applier().Apply(s.Context(), blueprint.Order{Plan: p, Principal: "stdio", Budget: 1000, Progress: func(context.Context, int, int, string) {
			if other == nil {
				other = s.apply(p, 1000) //nolint:contextcheck // another call, with a context of its own
			}
		}})
		if o.Status != blueprint.Complete || other.Status != blueprint.Busy || other.Next != blueprint.NextResume {
			s.Errorf("the first: %sthe other: %s", show(o), show(other))
		}
	})
}

// slow is a ledger whose process is stopped for a while at a step of the nth write.
type slow struct {
	mcpcore.OperationLedger
	step  string
	left  int
	sleep func()
}

func (l *slow) stop(step string) {
	if l.step != step {
		return
	}
	if l.left--; l.left == -1 {
		l.sleep()
	}
}

func (l *slow) Reserve(ctx context.Context, c mcpcore.Claim, r mcpcore.Reservation) (mcpcore.Receipt, error) {
	l.stop("before it is reserved")
	receipt, err := l.OperationLedger.Reserve(ctx, c, r)
	l.stop("before it is pending")
	return receipt, err
}

func (l *slow) Pending(ctx context.Context, c mcpcore.Claim, write time.Duration) (mcpcore.Receipt, error) {
	receipt, err := l.OperationLedger.Pending(ctx, c, write)
	l.stop("before it is sent")
	return receipt, err
}

// A process that was stopped until its claim was over, or too old for a write,
// sends nothing, whether somebody else has the targets by then or not. The same call
// again goes on.
func TestStoppedProcessesWriteNothing(t *testing.T) {
	t.Parallel()
	d := parse(t, short)
	names, _ := want(t, d)
	for _, step := range []string{"before it is reserved", "before it is pending", "before it is sent"} {
		for _, taken := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, taken over %t", step, taken), func(t *testing.T) {
				t.Parallel()
				onSite(t, func(s *site) {
					p := s.plan(d)
					var other mcpcore.Claim
					written := 0
					a := s.applier()
					a.Operations = &slow{s.ops, step, 3, func() {
						written = len(s.world.Writes())
						time.Sleep(blueprint.Lease)
						if taken && step == "before it is reserved" { // later it is quarantined
							var err error
							if other, err = s.ops.Claim(s.Context(), mcpcore.Wanted{
								Workflow: "role-creation", Key: "k", Lease: time.Minute, Targets: []mcpcore.Target{{Kind: "guild/roles", ID: string(s.guild)}},
							}); err != nil {
								s.Error(err)
							}
						}
					}}
					o := a.Apply(s.Context(), blueprint.Order{Plan: p, Principal: "stdio", Budget: 1000})
					if o.Status != blueprint.Partial || o.Failure == nil || o.Failure.Code != "APPLY_LOCK_LOST" || o.Next != blueprint.NextResume {
						s.Errorf("%s", show(o))
					}
					if now := len(s.world.Writes()); now != written || written != 3 {
						s.Errorf("%d writes, of which %d after it was stopped", now, now-written)
					}
					if other.ID != "" {
						if o := s.apply(p, 1000); o.Status != blueprint.Busy {
							s.Errorf("while somebody else has it: %s", show(o))
						}
						if err := s.ops.Release(s.Context(), other); err != nil {
							s.Error(err)
						}
					}
					s.resumed(p, names)
				})
			})
		}
	}
}
