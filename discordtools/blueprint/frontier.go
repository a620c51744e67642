package blueprint

import (
	"context"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// Frontier are the operations that can be planned exactly now, at most so many:
// those of the first phase in which something is due. What comes behind them names
// what they make.
func (f *Draft) Frontier(most int) []Operation {
	n := 0
	for n < len(f.Operations) && n < most && f.Operations[n].Phase == f.Operations[0].Phase {
		n++
	}
	return slices.Clone(f.Operations[:n])
}

// Targets are what the operations write, for a ledger of operations.
func (f *Draft) Targets(ops []Operation) (all []mcpcore.Target) {
	all = collected(f.Guild.Settings.ID, ops)
	for _, op := range ops {
		all = append(all, f.thing(op)...)
	}
	return all
}

// Due reports whether the operation is among what is to be done, and is the id of
// what it is about, "" where there is none yet.
func (f *Draft) Due(op Operation) (id string, due bool) { return f.idOf(op), f.due(op) }

// Do sends one operation of the draft, once, and is the id of what was made or
// changed. The draft's guild is then as Discord answered. The caller sees to it
// that nobody else writes meanwhile; what carries a whole plan out is [Applier.Apply].
func (a *Applier) Do(ctx context.Context, f *Draft, op Operation) (id string, err error) {
	return a.step(ctx, f, op, f.Document.ID())
}

// Look reads again what an operation was about, and compares anew.
func (a *Applier) Look(ctx context.Context, f *Draft, op Operation) (*Draft, error) {
	now, err := a.look(ctx, f, op)
	if err != nil {
		return nil, err
	}
	return Compare(f.Document, now, f.Bindings, f.adopt), nil
}

// Operations are one for each thing that the document speaks of, in the order of
// their phases: what it takes at most. They have no summary and no risk, which
// depend on a guild.
func (d *Document) Operations() (all []Operation) {
	add := func(phase Phase, action, resource string, key Symbol) {
		all = append(all, Operation{ID: operationID(resource, key), Phase: phase, Action: action, Resource: resource, Key: key})
	}
	for i := range d.Roles {
		if !d.Roles[i].Exists {
			add(PhaseRoles, doCreate, resRole, d.Roles[i].Key)
		}
	}
	for i := range d.Categories {
		add(PhaseCategories, doCreate, resCategory, d.Categories[i].Key)
	}
	for i := range d.Channels {
		add(PhaseChannels, doCreate, resChannel, d.Channels[i].Key)
	}
	if d.Guild != nil {
		add(PhaseGuild, doUpdate, resGuild, resGuild)
	}
	if len(d.Roles) > 1 {
		add(PhaseOrdering, doReorder, resRoleOrder, "roles")
	}
	if len(d.Categories)+len(d.Channels) > 1 {
		add(PhaseOrdering, doReorder, resOrder, "channels")
	}
	if d.Guild != nil && d.Guild.Welcome != nil {
		add(PhaseWelcome, doUpdate, resWelcome, resWelcome)
	}
	if d.Onboarding != nil {
		add(PhaseOnboarding, doUpdate, resOnboarding, resOnboarding)
	}
	if d.AutoMod != nil {
		for i := range d.AutoMod.Rules {
			add(PhaseAutoMod, doCreate, resRule, d.AutoMod.Rules[i].Key)
		}
	}
	for _, p := range d.publications() {
		add(PhasePublications, doSend, resCard, p.Key)
	}
	return all
}

func operationID(resource string, key Symbol) string {
	return fmt.Sprintf("%s:%s:ensure", resource, key)
}
