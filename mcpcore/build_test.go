package mcpcore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/middleware"
)

// resolver gives evidence of the kinds it is made of.
type resolver []mcpcore.EvidenceKind

func (r resolver) Kinds() []mcpcore.EvidenceKind { return r }
func (r resolver) Resolve(context.Context, mcpcore.EvidenceRef) (mcpcore.Evidence, error) {
	return mcpcore.Evidence{Complete: true}, nil
}

// faults are ways to break working deps, each with what BuildServer says.
var faults = []struct {
	name  string
	wrong func(d *mcpcore.Deps)
	says  string
}{
	{"no tools", func(d *mcpcore.Deps) { d.Tools = nil }, "no tools"},
	{"a bad name", func(d *mcpcore.Deps) { d.Tools[0].Name = "Tickets List" }, `tool "Tickets List": the name must match`},
	{"a duplicate", func(d *mcpcore.Deps) { d.Tools = append(d.Tools, d.Tools[0]) }, `tool "tickets_list" is declared twice`},
	{"no doc", func(d *mcpcore.Deps) { d.Tools[0].Doc = " \n " }, `tool "tickets_list": it has no doc`},
	{"no effect", func(d *mcpcore.Deps) { d.Tools[0].Effect = 0 }, `tool "tickets_list": it states no effect`},
	{"an unknown effect", func(d *mcpcore.Deps) { d.Tools[0].Effect = 9 }, `tool "tickets_list": it states no effect`},
	{"no scope", func(d *mcpcore.Deps) { d.Tools[0].Scope = 0 }, `tool "tickets_list": it states no scope`},
	{"an unknown gate", func(d *mcpcore.Deps) { d.Tools[1].Gate = 99 }, `tool "ticket_update": its gate is unknown`},
	{"a read with a gate", func(d *mcpcore.Deps) { d.Tools[0].Gate = mcpcore.TwoKey }, `tool "tickets_list": it only reads and has the gate two-key`},
	{"an unknown struct tag", func(d *mcpcore.Deps) {
		d.Tools[0] = mcpcore.Define(d.Tools[0], func(context.Context, *mcpcore.Call, struct {
			A int `json:"a" minimun:"1"`
		}) (done, error) {
			return done{}, nil
		})
	}, `unknown tag "minimun"`},
	{"an output that is no struct", func(d *mcpcore.Deps) {
		d.Tools[0] = mcpcore.Define(d.Tools[0], func(context.Context, *mcpcore.Call, ticketsList) (string, error) { return "", nil })
	}, `output: string is not a struct`},
	{"no types", func(d *mcpcore.Deps) { d.Tools[0] = mcpcore.New(d.Tools[0], nil, nil, nil) }, `input: <nil> is not a struct`},
	{"not made with Define", func(d *mcpcore.Deps) {
		d.Tools[0] = mcpcore.Tool{Name: "bare", Doc: "Bare.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope}
	}, `tool "bare": it was not made with Define`},
	{"broken before it was a tool", func(d *mcpcore.Deps) { d.Tools[0] = mcpcore.Broken(d.Tools[0], errors.New("no such route")) }, `tool "tickets_list": no such route`},
	{"no handler", func(d *mcpcore.Deps) { d.Tools[0] = mcpcore.Define[ticketsList, done](d.Tools[0], nil) }, `tool "tickets_list": it has no handler`},
	{"an argument named like an authorization", func(d *mcpcore.Deps) {
		d.Tools[0] = mcpcore.Define(d.Tools[0], func(context.Context, *mcpcore.Call, struct {
			Confirm bool `json:"__confirm"`
		}) (done, error) {
			return done{}, nil
		})
	}, `its argument "__confirm" is an authorization field`},
	{"outranks nothing", func(d *mcpcore.Deps) { d.Tools[0].Outranks = "user_id" }, `Outranks names "user_id"`},
	{"redacts nothing", func(d *mcpcore.Deps) { d.Tools[0].Redact = []string{"contents"} }, `it speaks of "contents"`},
	{"packed in nothing", func(d *mcpcore.Deps) { d.Tools[0].Packed = mcpcore.Packed{Arg: "payload"} }, `Packed is "payload"`},
	{"packed in itself", func(d *mcpcore.Deps) {
		d.Tools[0].Packed = mcpcore.Packed{Arg: "query", Names: []string{"query"}}
	}, `Packed is "query"`},
	{"packs nothing", func(d *mcpcore.Deps) {
		d.Tools[0].Packed = mcpcore.Packed{Arg: "query", Names: []string{"nothing"}}
	}, `it speaks of "nothing"`},
	{"needs by nothing", func(d *mcpcore.Deps) { d.Tools[0].NeedsWhen = []mcpcore.Need{{Arg: "pinned"}} }, `it speaks of "pinned"`},
	{"a rule without a check", func(d *mcpcore.Deps) { d.Tools[0].Rules = []mcpcore.Rule{{Doc: "Be nice."}} }, `rule 1 has no check`},
	{"a rule with two checks", func(d *mcpcore.Deps) {
		d.Tools[0].Rules = []mcpcore.Rule{{Check: func(*mcpcore.Call) *mcpcore.Issue { return nil }, All: func(*mcpcore.Call) []mcpcore.Issue { return nil }}}
	}, `rule 1 has no check, or two`},
	{"a payload that no gate asks about", func(d *mcpcore.Deps) {
		d.Tools[1].Payload = func(*mcpcore.Call) (mcpcore.PayloadReview, error) { return mcpcore.PayloadReview{}, nil }
	}, `tool "ticket_update": it reviews a payload and its gate is none`},
	{"two keys and nothing that confirms", func(d *mcpcore.Deps) { d.Policies = nil }, `tool "ticket_delete": it is two-key, and no precondition confirms it`},
	{"consent and nothing that asks for it", func(d *mcpcore.Deps) { d.Tools[1].Gate = mcpcore.Consent }, `tool "ticket_update": its gate is consent, and no precondition keeps that gate`},
	{"reviewed and nothing that reviews", func(d *mcpcore.Deps) { d.Tools[1].Gate = mcpcore.Reviewed }, `tool "ticket_update": its gate is reviewed, and no precondition keeps that gate`},
	{"a payload without a ledger", func(d *mcpcore.Deps) { d.Ledger = nil }, `tool "notice_send": its gate needs a ledger`},
	{"evidence that nobody gives", func(d *mcpcore.Deps) {
		d.Tools[0].Require = []mcpcore.Precondition{{Name: "known", Needs: []mcpcore.EvidenceKind{"identity"}, Check: allow}}
	}, `precondition "known" needs evidence "identity", and no resolver gives it`},
	{"a precondition without a check", func(d *mcpcore.Deps) { d.Tools[0].Require = []mcpcore.Precondition{{Name: "known"}} }, `a precondition has no name or no check`},
	{"a policy without a name", func(d *mcpcore.Deps) { d.Policies = append(d.Policies, mcpcore.Policy{}) }, `a policy has no name`},
	{"a nil resolver", func(d *mcpcore.Deps) { d.Evidence = []mcpcore.EvidenceResolver{nil} }, `an evidence resolver is nil`},
	{"a negative limit", func(d *mcpcore.Deps) { d.InFlight = -1 }, `cannot be negative`},
	{"an empty chain", func(d *mcpcore.Deps) { d.Chain = nil }, `the chain is empty`},
	{"no validate", without("validate"), `the chain has no layer for the guard "validate"`},
	{"no check", without("preconditions"), `the chain has no layer for the guard "check"`},
	{"no approve", without("approval"), `the chain has no layer for the guard "approve"`},
	{"no audit", without("audit"), `the chain has no layer for the guard "audit"`},
	{"a guard too far out", func(d *mcpcore.Deps) {
		last := len(d.Chain) - 1
		d.Chain[last-1], d.Chain[last] = d.Chain[last], d.Chain[last-1]
	}, `the layer for the guard "audit" stands too far out`},
	{"a layer twice", func(d *mcpcore.Deps) { d.Chain = append(d.Chain, d.Chain[0]) }, `layer "telemetry" stands twice`},
	{"a layer that is nothing", func(d *mcpcore.Deps) { d.Chain = append(d.Chain, mcpcore.Middleware{Name: "x"}) }, `has no name or no Wrap`},
	{"a layer that wraps in nothing", func(d *mcpcore.Deps) {
		d.Chain = append(d.Chain, mcpcore.Middleware{Name: "x", Wrap: func(mcpcore.Handler) mcpcore.Handler { return nil }})
	}, `layer "x" wraps next in nothing`},
	{"a guard that is none", func(d *mcpcore.Deps) { d.Chain[0].Guard = "chek" }, `layer "telemetry" has the unknown guard "chek"`},
}

func allow(context.Context, *mcpcore.Call) error { return nil }

func without(layer string) func(d *mcpcore.Deps) {
	return func(d *mcpcore.Deps) {
		d.Chain = slices.DeleteFunc(d.Chain, func(m mcpcore.Middleware) bool { return m.Name == layer })
	}
}

func TestBuildServerNamesEachFault(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			deps := new(desk).deps()
			f.wrong(&deps)
			server, err := mcpcore.BuildServer(deps)
			if server != nil || err == nil {
				t.Fatal("it built")
			}
			if !strings.Contains(err.Error(), f.says) {
				t.Errorf("it says %q, want %q", err, f.says)
			}
		})
	}
}

func TestBuildServerReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	deps := new(desk).deps()
	together := []string{
		"a duplicate", "no doc", "no scope", "outranks nothing", "redacts nothing", "a payload without a ledger",
		"two keys and nothing that confirms", "a policy without a name", "a nil resolver", "no audit", "a layer twice",
	}
	for _, f := range faults {
		if slices.Contains(together, f.name) {
			f.wrong(&deps)
		}
	}
	_, err := mcpcore.BuildServer(deps)
	if err == nil {
		t.Fatal("it built")
	}
	for _, f := range faults {
		if slices.Contains(together, f.name) && !strings.Contains(err.Error(), f.says) {
			t.Errorf("it does not say %q:\n%v", f.says, err)
		}
	}
}

func TestBuildServerBuildsWhatIsWhole(t *testing.T) {
	t.Parallel()
	for name, right := range map[string]func(d *mcpcore.Deps){
		"everything":         func(*mcpcore.Deps) {},
		"a guard not needed": func(d *mcpcore.Deps) { d.Tools = d.Tools[:1]; d.Ledger = nil; without("audit")(d) },
		"consent with a precondition that keeps it": func(d *mcpcore.Deps) {
			d.Tools[1].Gate = mcpcore.Consent
			d.Tools[1].Require = []mcpcore.Precondition{{Name: "consent", Gate: mcpcore.Consent, Check: allow}}
		},
		"evidence that is given": func(d *mcpcore.Deps) {
			d.Tools[0].Require = []mcpcore.Precondition{{Name: "known", Needs: []mcpcore.EvidenceKind{"identity"}, Check: allow}}
			d.Evidence = []mcpcore.EvidenceResolver{resolver{"ticket"}, resolver{"identity"}}
		},
		"a layer of one's own": func(d *mcpcore.Deps) {
			d.Chain = slices.Insert(d.Chain, 5, mcpcore.Middleware{Name: "own", Wrap: func(n mcpcore.Handler) mcpcore.Handler { return n }})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deps := new(desk).deps()
			right(&deps)
			connect(t, deps).passed(t, "tickets_list", goodList)
		})
	}
}

// What is done to the lists of Deps after the server is built is not seen.
func TestBuildServerCopiesDeps(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	deps.Tools[0].Require = []mcpcore.Precondition{{Name: "known", Needs: []mcpcore.EvidenceKind{"identity"}, Check: func(ctx context.Context, call *mcpcore.Call) error {
		_, err := call.Evidence(ctx, "identity", "")
		return err
	}}}
	deps.Evidence = []mcpcore.EvidenceResolver{resolver{"identity"}}
	c := connect(t, deps)
	deps.Evidence[0], deps.Tools[0], deps.Chain[0] = resolver{"other"}, mcpcore.Tool{}, mcpcore.Middleware{}
	c.passed(t, "tickets_list", goodList)
}

func TestStandardChainBuildsInThisOrderAlone(t *testing.T) {
	t.Parallel()
	for i := range middleware.Standard(middleware.Options{}) {
		deps := new(desk).deps()
		guards := slices.DeleteFunc(slices.Clone(deps.Chain), func(m mcpcore.Middleware) bool { return m.Guard == "" })
		if i+1 >= len(guards) {
			break
		}
		guards[i], guards[i+1] = guards[i+1], guards[i]
		deps.Chain = guards
		if _, err := mcpcore.BuildServer(deps); err == nil {
			t.Errorf("it built with %s before %s", guards[i].Name, guards[i+1].Name)
		}
	}
}
