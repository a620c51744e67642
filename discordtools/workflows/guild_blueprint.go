package workflows

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// manifest is a blueprint as a caller keeps it.
type manifest map[string]json.RawMessage

type blueprintBuild struct {
	GuildID   discord.GuildID `json:"guildId" jsonschema:"guild to make like the blueprint"`
	Blueprint manifest        `json:"blueprint" jsonschema:"the whole blueprint; keep it, and give the same each time"`
	Adopt     bool            `json:"adopt,omitempty" jsonschema:"change what has a part's name and differs, instead of stopping there"`
}

type blueprintState struct {
	Guild      guildSeen             `json:"guild"`
	Bot        discord.UserID        `json:"botId"`
	Rights     blueprint.Rights      `json:"permission"`
	Manifest   string                `json:"manifest" jsonschema:"digest of the blueprint"`
	Snapshot   string                `json:"snapshot" jsonschema:"digest of the guild"`
	Phase      blueprint.Phase       `json:"phase,omitempty"`
	Operations []blueprint.Operation `json:"operations" jsonschema:"what this call does"`
	Left       blueprint.PhaseCounts `json:"left" jsonschema:"operations that are due, by phase"`

	done  []blueprint.Operation                           `json:"-"` // by this operation key, in earlier calls
	draft *blueprint.Draft                                `json:"-"`
	again func(context.Context) (*blueprint.Draft, error) `json:"-"` // the guild read anew, once for all that is done
	one   *blueprint.Operation                            `json:"-"` // which a child is about
}

// guildBlueprint is the workflow guild-blueprint. The engine of blueprints does the
// work; here a phase of it is planned, reviewed and written at a time.
func guildBlueprint(rest discordtools.REST) mcpcore.Workflow {
	return change[blueprintBuild, blueprintState]{
		Name: "guild-blueprint", Category: "guild-blueprints", Title: "Make a guild like a blueprint",
		Doc: `Makes a guild like a blueprint, one phase of it in each call: roles, categories, channels, guild,
			ordering, welcome, onboarding, automod, publications. While something is left the status is paused: send
			the same call again, with the same operationKey, and a person approves the next phase. What the
			blueprint leaves out is left alone, and nothing is ever deleted.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Rules: []mcpcore.Rule{manifestRule},
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds that may be made like a blueprint"),
			{Name: "phases", Doc: "phases that may be carried out", Pattern: "^(roles|categories|channels|guild|ordering|welcome|onboarding|automod|publications)$"},
		},
		Limits:     []mcpcore.PolicyLimit{{Name: "maxOperations", Default: 25, Max: 50, Doc: "operations of one call"}},
		Reads:      blueprint.Reads(),
		Write:      blueprint.Writes(),
		Takes:      5 * time.Minute,
		Companions: blueprintCompanions(rest),
		Plan:       planGuildBlueprint,
		Targets: func(_ blueprintBuild, s blueprintState) []mcpcore.Target {
			return append(s.draft.Targets(s.Operations), all("blueprint", s.Guild.ID)) // one at a time, also between phases
		},
		Children: func(_ blueprintBuild, s blueprintState) (row []mcpcore.Child[blueprintState]) {
			for i, op := range slices.Concat(s.done, s.Operations) {
				one := s
				one.one = &op
				row = append(row, mcpcore.Child[blueprintState]{Name: op.ID, State: one, Current: i < len(s.done)})
			}
			return row
		},
		Apply: func(ctx context.Context, w *write, _ blueprintBuild, s blueprintState) (mcpcore.Written, error) {
			id, err := applier(blueprintConn{&reads{w.rest, nil, blueprint.Reads()}, w}).Do(ctx, s.draft, *s.one)
			return mcpcore.Written{ID: id}, err
		},
		ReadBack: readBackBlueprint,
		Verify: func(ctx context.Context, r *reads, in blueprintBuild, _ mcpcore.Receipt) (mcpcore.Reading, error) {
			f, err := r.draft(ctx, in)
			var d drift
			if err == nil && len(f.Blockers) > 0 {
				d = append(d, "blocked")
			}
			for _, op := range f.Operations {
				d.unless(slices.Contains(d, string(op.Phase)), string(op.Phase))
			}
			return mcpcore.Reading{Drift: d}, err
		},
	}.on(rest)
}

// manifestRule refuses a blueprint that is not valid, and says all that is wrong
// with it.
var manifestRule = mcpcore.Rule{All: func(c *mcpcore.Call) []mcpcore.Issue {
	raw, _ := c.Arg("blueprint")
	return blueprint.Issues("blueprint", raw)
}}

// draft compares the guild with the blueprint.
func (r *reads) draft(ctx context.Context, in blueprintBuild) (*blueprint.Draft, error) {
	raw, err := json.Marshal(in.Blueprint)
	if err != nil {
		return &blueprint.Draft{}, fmt.Errorf("encode the blueprint: %w", err)
	}
	doc, issues := blueprint.Parse(raw)
	if issues != nil {
		return &blueprint.Draft{}, mcpcore.Invalid(issues...)
	}
	var me struct {
		ID discord.UserID `json:"id"`
	}
	if err := r.get(ctx, routeMe, nil, &me); err != nil {
		return &blueprint.Draft{}, err
	}
	g, err := blueprint.Read(ctx, blueprintConn{reads: r}, in.GuildID, me.ID, doc, nil)
	if err != nil {
		return &blueprint.Draft{}, err
	}
	return blueprint.Compare(doc, g, blueprint.Bindings{}, in.Adopt), nil
}

func planGuildBlueprint(ctx context.Context, r *reads, in blueprintBuild) (plan mcpcore.Change[blueprintState], err error) {
	f, err := r.draft(ctx, in)
	if err != nil {
		return plan, err
	}
	if len(f.Blockers) > 0 {
		return plan, blocked(f.Blockers)
	}
	ops := f.Frontier(r.Call.Limit("maxOperations"))
	g := &f.Guild.Settings
	s := blueprintState{
		Guild: guildSeen{g.ID, g.Name, g.Owner}, Bot: f.Guild.Bot.ID, Rights: f.Rights, Manifest: f.Document.ID(), Snapshot: f.Guild.ID(),
		Operations: ops, Left: blueprint.Summarize(f.Operations).ByPhase, draft: f,
		again: once(func(ctx context.Context) (*blueprint.Draft, error) { return r.draft(ctx, in) }),
	}
	for _, op := range f.Document.Operations() {
		if _, ok := r.Call.Completed(op.ID); ok {
			if _, due := f.Due(op); !due { // what is due again is not as it was done
				s.done = append(s.done, op)
			}
		}
	}
	for _, op := range ops {
		s.Phase = op.Phase
		if err := r.Call.Permitted("phases", string(op.Phase)); err != nil {
			return plan, err
		}
		plan.Affected = append(plan.Affected, mcpcore.Affected{ID: op.ID, Action: op.Action, Name: op.Summary})
		if op.Risk == "high" && plan.Risks == nil {
			plan.Risks = []string{"high"}
		}
	}
	plan.Action, plan.Current, plan.More, plan.State = "build", len(ops) == 0, len(f.Operations) > len(ops), s
	plan.Facts = mcpcore.Facts{
		{Name: "guild", Value: g.Name}, {Name: "phase", Value: cmp.Or(string(s.Phase), "none")}, {Name: "left after it", Value: fmt.Sprint(len(f.Operations) - len(ops))},
	}
	plan.Pictures, plan.Warnings = f.Plan().Pictures(), f.Warnings
	return plan, nil
}

// blocked refuses a plan for what stands in the way: the first of it in words.
func blocked(all []blueprint.Problem) error {
	first := all[0]
	return mcpcore.Errorf(mcpcore.CodePlanRefused, "%s", first.Message).With("blockers", all).
		With("reason", strings.ReplaceAll(strings.ToLower(first.Code), "_", "-")).WithHint("%s", first.Hint)
}

// readBackBlueprint reads what an operation was about. What an earlier call did is
// proven by one reading of the whole guild.
func readBackBlueprint(ctx context.Context, r *reads, _ blueprintBuild, s blueprintState, w mcpcore.Written) (found mcpcore.Reading, err error) {
	var now *blueprint.Draft
	if slices.ContainsFunc(s.done, func(op blueprint.Operation) bool { return op.ID == s.one.ID }) {
		now, err = s.again(ctx)
	} else {
		now, err = applier(blueprintConn{reads: r}).Look(ctx, s.draft, *s.one)
	}
	if err != nil {
		return found, err
	}
	id, due := now.Due(*s.one)
	if id != w.ID {
		return found, errors.New("what was made is not there")
	}
	var d drift
	d.unless(!due, s.one.Resource)
	return mcpcore.Reading{ID: id, Drift: d}, nil
}

// once remembers the first answer.
func once[T any](f func(context.Context) (T, error)) func(context.Context) (T, error) {
	var mu sync.Mutex
	var get func() (T, error)
	return func(ctx context.Context) (T, error) {
		mu.Lock()
		defer mu.Unlock()
		if get == nil {
			get = sync.OnceValues(func() (T, error) { return f(ctx) })
		}
		return get()
	}
}

// blueprintConn is the way of package blueprint to Discord: the declared reads, and
// where there is a write, its one request.
type blueprintConn struct {
	reads *reads
	write *write
}

// Do implements [blueprint.Conn].
func (c blueprintConn) Do(ctx context.Context, r blueprint.Request) (raw json.RawMessage, err error) {
	if strings.HasPrefix(r.Route, "GET ") {
		err = c.reads.query(ctx, r.Route, r.Path, r.Query, &raw)
		return raw, err
	}
	if c.write == nil {
		return nil, mcpcore.NotDone(errors.New("a plan writes nothing"))
	}
	err = c.write.sendWith(ctx, r.Route, discordtools.Request{Path: r.Path, Query: r.Query, Reason: r.Reason}, r.Body, &raw)
	return raw, err
}

// applier sends single operations. It waits for nothing: a channel that is not
// ready for a message ends the operation.
func applier(conn blueprint.Conn) *blueprint.Applier {
	return &blueprint.Applier{Conn: conn, Clock: time.Now, Wait: func(context.Context, time.Duration) error {
		return mcpcore.NotDone(errors.New("the channel is not ready for messages yet"))
	}}
}
