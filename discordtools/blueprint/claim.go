package blueprint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/internal/claims"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Workflow is what the writes of an [Applier] are called in a ledger of
// operations: each has a claim, a key and a receipt of its own.
const Workflow = "guild-blueprint-apply"

// How long the parts of an operation may take. The look before it and the write
// end before the lease of its claim does.
const (
	Lease    = 90 * time.Second // of a claim
	StepTime = 30 * time.Second // a write, and the look before it
	fresh    = 15 * time.Second // how old a claim may be when the look begins
)

// Why an operation is not begun.
var (
	errLost        = errors.New("the claim was lost")
	errUnavailable = errors.New("the ledger of operations did not answer")
)

// operation names the write that is done while the checkpoint is at the version.
func (s *Sealer) operation(plan, principal string, version int) mcpcore.KeyHash {
	return mcpcore.HashKey(s.mac("operation", principal, plan, strconv.Itoa(version)))
}

// collections are what of a guild an operation changes.
func collections(op Operation) []string {
	switch op.Resource {
	case resRole, resRoleOrder:
		return []string{"roles"}
	case resCategory, resChannel, resOrder, resCard:
		return []string{"channels"}
	case resGuild:
		if op.Risk == high { // a new Community gets defaults of Discord's
			return []string{"guild-settings", "roles", "channels", "automod", "onboarding", "welcome-screen"}
		}
		return []string{"guild-settings"}
	case resWelcome:
		return []string{"welcome-screen"}
	case resOnboarding:
		return []string{"onboarding"}
	case resRule:
		return []string{"automod"}
	}
	return nil
}

// collected are the collections that the operations change.
func collected(guild discord.GuildID, ops []Operation) (all []mcpcore.Target) {
	for _, op := range ops {
		for _, name := range collections(op) {
			all = append(all, claims.All(name, guild))
		}
	}
	return all
}

// thing is what is there already of what an operation is about: a role, or a
// channel.
func (f *Draft) thing(op Operation) []mcpcore.Target {
	channel := ""
	switch op.Resource {
	case resRole:
		if id := f.Bindings.Roles[op.Key]; id != "" {
			return []mcpcore.Target{claims.Role(discord.RoleID(id))}
		}
	case resCategory:
		channel = f.Bindings.Categories[op.Key]
	case resChannel:
		channel = f.Bindings.Channels[op.Key]
	case resCard:
		channel = f.Bindings.Channels[f.Document.cardChannel(op.Key)]
	}
	if channel == "" {
		return nil
	}
	return []mcpcore.Target{claims.Channel(discord.ChannelID(channel))}
}

// targets are what a call claims: the collections that any of the operations
// changes, so that nobody comes between two of them, and what is there already of
// the one that is due.
func (r *run) targets(due *Operation) []mcpcore.Target {
	all := collected(r.Plan.Target.Guild, r.Plan.Operations)
	if r.draft != nil {
		all = append(all, collected(r.Plan.Target.Guild, r.draft.Operations)...)
		if due != nil {
			all = append(all, r.draft.thing(*due)...)
		}
	}
	return all
}

// take claims what the next write needs. A claim that was just made and covers it
// stays; another one is given back first.
func (r *run) take(ctx context.Context, version int, due *Operation) error {
	w := mcpcore.Wanted{
		Workflow: Workflow, Key: r.Records.Sealer.operation(r.Plan.id, r.Principal, version), Lease: Lease, Targets: r.targets(due),
		Plan: mcpcore.Digest("hmac-sha256:" + r.Records.Sealer.mac("digest", r.Principal, r.Plan.id)),
	}
	if c := r.claim; c != nil {
		if c.Key == w.Key && slices.Equal(c.Targets, w.Canonical()) && r.Clock().Sub(r.taken) < fresh {
			return nil
		}
		r.giveBack(ctx)
	}
	began := r.Clock()
	c, err := r.Operations.Claim(ctx, w)
	switch {
	case err == nil:
		r.claim, r.taken = &c, began
	case errors.Is(err, mcpcore.ErrTargetBusy) || errors.Is(err, mcpcore.ErrTargetQuarantined):
		return err
	default:
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return nil
}

// giveBack releases the claim. A write of it whose outcome is open keeps it.
func (r *run) giveBack(ctx context.Context) {
	if r.claim == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = r.Operations.Release(ctx, *r.claim) // which is free when its lease is over
	r.claim = nil
}

// begin spends the key of the claim and records that the write will be sent now.
func (r *run) begin(ctx context.Context) error {
	reservation := mcpcore.Reservation{Activity: r.Activity, Request: mcpcore.Fingerprint(r.Records.Sealer.mac("request", r.Principal, r.Plan.id))}
	if _, err := r.Operations.Reserve(ctx, *r.claim, reservation); err != nil {
		if errors.Is(err, mcpcore.ErrClaimLost) || errors.Is(err, mcpcore.ErrKeySpent) {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		r.open = r.end(ctx, mcpcore.Ending{Status: mcpcore.StatusFailed, Error: mcpcore.CodeLedger}) != nil // the answer may be lost, and the key spent
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	if _, err := r.Operations.Pending(ctx, *r.claim, StepTime); err != nil {
		r.open = r.end(ctx, mcpcore.Ending{Status: mcpcore.StatusFailed, Error: mcpcore.CodeClaimLost}) != nil // nothing was sent
		if errors.Is(err, mcpcore.ErrClaimLost) {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return nil
}

// end says how the write of the claim ended.
func (r *run) end(ctx context.Context, e mcpcore.Ending) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := r.Operations.Finish(ctx, *r.claim, e)
	return err
}

// written sends the write and says in the ledger how it ended, as far as that is
// known. What is not known stays open: then nobody else gets the targets until
// the same plan is gone on with, or an operator has looked.
func (r *run) written(ctx context.Context, op Operation) (id string, err error) {
	until := r.Clock().Add(StepTime)
	if err := r.begin(ctx); err != nil {
		return "", err
	}
	now := r.Clock()
	within, cancel := context.WithTimeout(ctx, until.Sub(now))
	defer cancel()
	// Both clocks: the monotonic one stands still while a machine sleeps.
	if within.Err() != nil || !now.Round(0).Before(until.Round(0)) {
		err = mcpcore.NotDone(errLost)
	} else {
		id, err = r.step(within, r.draft, op, r.Plan.BlueprintID)
	}
	switch {
	case err == nil:
		r.compare(r.draft.Guild, r.draft.Bindings)
		e := mcpcore.Ending{Status: mcpcore.StatusCompleted, ResourceID: id, Verification: mcpcore.Match}
		if r.draft.due(op) {
			e.Verification = mcpcore.Drift
		}
		if failed := r.end(ctx, e); failed != nil { // the next call tells
			r.open, err = true, fmt.Errorf("%w: %w", errUnavailable, failed)
		}
	case mcpcore.IsNotDone(err), errors.Is(err, errUnresolved), errors.Is(err, errUnknownOperation), errors.Is(err, errNotReady):
		r.open = r.end(ctx, mcpcore.Ending{Status: mcpcore.StatusFailed, Error: codeOf(err)}) != nil
	default:
		r.open = true
	}
	return id, err
}

// due reports whether the operation is among what is to be done.
func (f *Draft) due(op Operation) bool {
	return slices.ContainsFunc(f.Operations, func(o Operation) bool { return o.ID == op.ID })
}

// codeOf is the other side's code, where it has one.
func codeOf(err error) mcpcore.Code {
	if e, ok := errors.AsType[*mcpcore.Error](err); ok {
		return e.Code
	}
	return mcpcore.CodeOperationFailed
}

// left is the claim of the write that the checkpoint says may have been sent, if
// its outcome is open and its sender is gone; nil otherwise.
func (r *run) left(ctx context.Context) (*mcpcore.Held, error) {
	if r.point == nil || r.point.Write == "" || r.point.Doing == nil {
		return nil, nil
	}
	held, err := r.Operations.Claims(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnavailable, err)
	}
	for _, h := range held {
		if h.Workflow != Workflow || h.Key != r.point.Write || h.Receipt == nil {
			continue
		}
		open := h.Receipt.Status == mcpcore.StatusReserved || h.Receipt.Status == mcpcore.StatusPending
		if open && (h.State == mcpcore.ClaimQuarantined || r.point.Status == statusPartial) {
			return &h, nil
		}
	}
	return nil, nil
}

// settle ends the write that an earlier call of the plan left open: the guild was
// read, nobody else changed it, and it shows what became of the write.
func (r *run) settle(ctx context.Context, h *mcpcore.Held) error {
	e := mcpcore.Ending{Status: mcpcore.StatusFailed, Error: mcpcore.CodeOperationFailed}
	if h.Receipt.Status == mcpcore.StatusPending && !r.draft.due(*r.point.Doing) {
		e = mcpcore.Ending{Status: mcpcore.StatusCompleted, ResourceID: r.draft.idOf(*r.point.Doing), Verification: mcpcore.Match}
	}
	if _, err := r.Operations.Finish(ctx, h.Claim, e); err != nil && !errors.Is(err, mcpcore.ErrReceiptFinished) {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	if err := r.Operations.Release(ctx, h.Claim); err != nil {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return nil
}

// idOf is the id of what an operation is about.
func (f *Draft) idOf(op Operation) string {
	b := f.Bindings
	switch op.Resource {
	case resRole:
		return b.Roles[op.Key]
	case resCategory:
		return b.Categories[op.Key]
	case resChannel:
		return b.Channels[op.Key]
	case resRule:
		return b.Rules[op.Key]
	case resCard:
		return b.Publications[op.Key]
	}
	return string(f.Guild.Settings.ID)
}

// held ends the call because its targets are not free. Whoever has them is told
// by the claim's name.
func (r *run) held(ctx context.Context, err error) {
	h, ok := errors.AsType[*mcpcore.TargetHeld](err)
	switch {
	case !ok:
		r.failed(r.begun(), "", err)
	case errors.Is(err, mcpcore.ErrTargetQuarantined):
		r.Blockers = append(r.Blockers, Problem{
			Code: string(mcpcore.CodeQuarantined), Resource: &h.Target, Message: "an earlier write of " + h.Target + " has no known outcome",
			Hint: "If a plan of yours was cut off, go on with that one. Otherwise the operator looks at the guild and releases the claim with discord-mcp operations resolve " + string(h.Claim) + ".",
		})
		r.stop(r.begun(), nil, NextFix)
	case len(r.Attempts) > 0: // somebody came between two operations
		r.stop(Partial, &Failure{Code: string(mcpcore.CodeTargetBusy), Retriable: true}, NextResume)
	default:
		r.stop(Busy, nil, NextResume)
	}
	if len(r.Attempts) > 0 {
		r.unfinished(ctx, nil)
	}
}
