package discordtools

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/internal/canon"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// blueprints is what the tools of blueprints share: who they may act as and
// where, and what they keep.
type blueprints struct {
	records blueprint.Records
	writes  mcpcore.OperationLedger
	bot     discord.UserID
	guilds  []discord.GuildID
	me      *identity
	now     func() time.Time
}

// newBlueprints takes the operator's state key, a store and a ledger of
// operations; nil are a random key, and a store and a ledger of this process. A
// store that others may share needs a ledger that they share too.
func newBlueprints(rest REST, c Config, key []byte, store mcpcore.Store, writes mcpcore.OperationLedger, now func() time.Time) (*blueprints, error) {
	if key == nil {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // which never fails
	}
	if _, here := store.(*ledger.Store); writes == nil && store != nil && !here {
		return nil, errors.New("plans of blueprints are kept in a Ledger or Store that other servers may share, which needs Operations, a ledger of operations that they share too (MCP_LEDGER)")
	}
	if writes == nil {
		writes = ledger.NewOperations(now)
	}
	if store == nil {
		store = ledger.NewStore(now)
	}
	sealer, err := blueprint.NewSealer(key)
	if err != nil {
		return nil, err
	}
	return &blueprints{blueprint.Records{Store: store, Sealer: sealer}, writes, c.ExpectedBot, c.AllowedGuilds, &identity{rest: rest}, now}, nil
}

// boundary says what in the configuration keeps a blueprint from a guild.
// Nothing is asked of Discord while there is something.
func (b *blueprints) boundary(t target) (all []blueprint.Problem) {
	block := func(code, message, hint string) {
		all = append(all, blueprint.Problem{Code: code, Message: message, Hint: hint})
	}
	switch {
	case b.bot == "":
		block("CONFIG_EXPECTED_BOT_REQUIRED", "this server is not locked to a bot", "Ask the operator to set DISCORD_EXPECTED_BOT_ID.")
	case t.Bot == "":
		block("TARGET_BOT_SELECTION_REQUIRED", "the call does not say which bot it is for", "Give expected_bot_id.")
	case t.Bot != b.bot:
		block("EXPECTED_BOT_MISMATCH", "this server is locked to another bot", "Give the bot that this server is locked to, or use its own server.")
	}
	switch {
	case b.guilds == nil:
		block("CONFIG_GUILD_ALLOWLIST_REQUIRED", "this server is not held to any guilds", "Ask the operator to set ALLOWED_GUILDS.")
	case t.Guild == "":
		block("TARGET_GUILD_SELECTION_REQUIRED", "the call does not say which guild it is for", "Give guild_id.")
	case !slices.Contains(b.guilds, t.Guild):
		block("TARGET_GUILD_NOT_ALLOWED", "this server does not allow that guild", "Choose an allowed guild, or ask the operator to add it to ALLOWED_GUILDS.")
	}
	return all
}

// verified says what keeps the bot from being the expected one.
func (b *blueprints) verified(ctx context.Context) ([]blueprint.Problem, error) {
	err := b.me.is(ctx, b.bot)
	if errors.Is(err, ErrOtherBot) {
		return []blueprint.Problem{{Code: "EXPECTED_BOT_MISMATCH", Message: "the token belongs to another account than the bot that this server is locked to", Hint: "The operator must give this server the expected bot's token."}}, nil
	}
	return nil, err
}

// fixing are problems that only the operator can solve.
var fixing = []string{
	"CONFIG_EXPECTED_BOT_REQUIRED", "TARGET_BOT_SELECTION_REQUIRED", "EXPECTED_BOT_MISMATCH",
	"CONFIG_GUILD_ALLOWLIST_REQUIRED", "TARGET_GUILD_SELECTION_REQUIRED", "TARGET_GUILD_NOT_ALLOWED",
}

func nextFor(problems []blueprint.Problem) string {
	for _, p := range problems {
		if slices.Contains(fixing, p.Code) {
			return blueprint.NextFix
		}
	}
	return blueprint.NextReplan
}

// named is the plan that a call names, or what is wrong with it. The same answer
// is given before the arguments are frozen and after.
func (b *blueprints) named(ctx context.Context, call *mcpcore.Call) (*blueprint.Plan, []blueprint.Problem, error) {
	block := func(code, message, hint string) []blueprint.Problem {
		return []blueprint.Problem{{Code: code, Message: message, Hint: hint}}
	}
	const anew = "Plan anew with guild_blueprint_plan."
	t := targetOf(call)
	ref, token := call.Text("plan_ref"), call.Text("plan_token")
	var p *blueprint.Plan
	var err error
	switch {
	case (ref == "") == (token == ""):
		return nil, block("PLAN_REFERENCE_XOR_REQUIRED", "the call needs a plan_ref or a plan_token, one of them", "Give the one that the plan came with."), nil
	case ref != "":
		if p, err = b.records.Plan(ctx, ref, call.Principal()); err != nil {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			return nil, block("PLAN_REFERENCE_INVALID", "no plan of this caller has that reference, or not any more", anew+" A plan_token works without a reference."), nil
		}
	default:
		p, err = b.records.Sealer.Open(token, call.Principal())
		if errors.Is(err, blueprint.ErrTokenTooLarge) {
			return nil, block("PLAN_TOKEN_TOO_LARGE", "the token is longer than any that was issued", anew), nil
		}
		if err != nil {
			return nil, block("PLAN_TOKEN_INVALID", "the token was not issued here for this caller, or was changed", anew), nil
		}
	}
	var all []blueprint.Problem
	if p.Target != t {
		all = append(all, block("PLAN_TARGET_MISMATCH", "the plan is for another guild or bot", "Name the guild and the bot of the plan, or plan anew.")...)
	}
	if call.Text("approval_id") != b.records.Sealer.Approval(p, call.Principal()) {
		all = append(all, block("APPROVAL_MISMATCH", "the approval is not that of the plan", "Give the approval_id that the plan came with.")...)
	}
	if len(all) > 0 {
		return p, all, nil
	}
	if all = b.boundary(t); len(all) == 0 {
		all, err = b.verified(ctx)
	}
	return p, all, err
}

func targetOf(call *mcpcore.Call) target {
	return target{Guild: discord.GuildID(call.Text("guild_id")), Bot: discord.UserID(call.Text("expected_bot_id"))}
}

// receipt is the last line of an answer's text, for hosts that keep only text.
func receipt(v any) string {
	raw, err := canon.Marshal(v)
	if err != nil {
		return ""
	}
	return "\nMCP_BLUEPRINT_RECEIPT " + string(raw)
}

type receiptLine struct {
	Schema   string   `json:"schema_version"`
	Phase    string   `json:"phase"`
	Status   string   `json:"status"`
	Target   *target  `json:"target,omitempty"`
	Plan     *string  `json:"plan_id,omitempty"`
	ID       *string  `json:"blueprint_id,omitempty"`
	Approval *string  `json:"approval_id,omitempty"`
	Ref      *string  `json:"plan_ref,omitempty"`
	Evidence *string  `json:"evidence_id,omitempty"`
	Next     string   `json:"next_action,omitempty"`
	Left     *int     `json:"remaining,omitempty"`
	Blockers []string `json:"blockers,omitempty"`
}

const receiptSchema = "discord_mcp_blueprint_text_receipt.v1"

func codesOf(problems []blueprint.Problem) (codes []string) {
	for _, p := range problems {
		codes = append(codes, p.Code)
	}
	return codes
}
