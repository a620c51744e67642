package discordtools

import (
	"context"

	"github.com/guildwarden/guildwarden/discordtools/blueprint"
	"github.com/guildwarden/guildwarden/mcpcore"
)

// check is what layer 3 does: a plan gets the guild and the bot that it leaves
// out, apply and evidence must name theirs, and what the configuration or the
// plan does not allow is answered before anybody is asked.
func (b *blueprints) check(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
	if b == nil {
		return nil, nil
	}
	switch call.Tool().Name {
	case "guild_blueprint_plan":
		return b.checkPlan(ctx, call)
	case "guild_blueprint_apply", "guild_blueprint_evidence":
	default:
		return nil, nil
	}
	if explicit := call.Has("guild_id") && !call.Filled("guild_id"); !explicit && call.Fits("guild_id") {
		return nil, mcpcore.Invalid(mcpcore.Issue{Path: "guild_id", Message: "must be named in the call itself", Code: mcpcore.IssueExplicit})
	}
	if !call.Fits() {
		return nil, nil // which the next layer refuses
	}
	t := targetOf(call)
	if call.Tool().Name == "guild_blueprint_evidence" {
		problems, err := b.allows(ctx, t)
		if err != nil || len(problems) == 0 {
			return nil, err
		}
		v := blockedReview(call.Text("plan_id"), t, problems)
		return mcpcore.View(&v)
	}
	p, problems, err := b.named(ctx, call)
	if err != nil || len(problems) == 0 {
		return nil, err
	}
	v := blockedApply(t, p, problems)
	return mcpcore.View(&v)
}

// allows says what keeps a blueprint from the target.
func (b *blueprints) allows(ctx context.Context, t target) ([]blueprint.Problem, error) {
	if problems := b.boundary(t); len(problems) > 0 {
		return problems, nil
	}
	return b.verified(ctx)
}

func (b *blueprints) checkPlan(ctx context.Context, call *mcpcore.Call) (*mcpcore.Result, error) {
	if len(b.guilds) == 1 {
		call.Default("guild_id", string(b.guilds[0]))
	}
	if b.bot != "" {
		call.Default("expected_bot_id", string(b.bot))
	}
	if !call.Fits() {
		return nil, nil
	}
	if len(b.guilds) > 1 && !call.Has("guild_id") {
		return nil, mcpcore.Invalid(mcpcore.Issue{Path: "guild_id", Message: "is needed: this server allows several guilds", Code: "target_selection_required"})
	}
	t := targetOf(call)
	problems, err := b.allows(ctx, t)
	if err != nil || len(problems) == 0 {
		return nil, err
	}
	v := blockedPlan(call.Text("request"), t, problems)
	return mcpcore.View(&v)
}
