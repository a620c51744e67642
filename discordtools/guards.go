package discordtools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// guards is what the layers that look at Discord need of it.
type guards struct {
	scope    middleware.Scope
	access   middleware.Access
	evidence []mcpcore.EvidenceResolver // the embedder's before ours
}

// forgetful is a resolver that remembers answers.
type forgetful interface{ Forget() }

func newGuards(deps *Deps, rest REST) guards {
	c := deps.Config
	ours := NewEvidence(rest, EvidenceOptions{Now: deps.Clock})
	g := guards{
		scope: middleware.Scope{
			Guilds: c.AllowedGuilds, Bot: c.ExpectedBot, UserScoped: c.UserScoped, Resolver: NewGuildResolver(rest, deps.Clock),
			Verify: func(ctx context.Context) error { return ours.me.is(ctx, c.ExpectedBot) },
		},
		access:   middleware.Access{Mode: c.Access, Bot: c.ExpectedBot, Logger: deps.Logger},
		evidence: append(slices.Clone(deps.Evidence), ours),
	}
	g.access.Forget = func() {
		for _, r := range g.evidence {
			if f, ok := r.(forgetful); ok {
				f.Forget()
			}
		}
	}
	return g
}

// checkScope finds what is wrong with the configuration of scopes, and a chain
// that would not keep it.
func checkScope(c Config, chain []mcpcore.Middleware) (problems []error) {
	problem := func(format string, with ...any) { problems = append(problems, fmt.Errorf(format, with...)) }
	for _, g := range c.AllowedGuilds {
		if discord.CheckID(string(g)) != nil {
			problem("AllowedGuilds: %.40q is not a guild's id", string(g))
		}
	}
	if c.AllowedGuilds != nil && c.DefaultGuild != "" && !slices.Contains(c.AllowedGuilds, c.DefaultGuild) {
		problem("the default guild %s is not among the allowed ones", c.DefaultGuild)
	}
	if c.ExpectedBot != "" && discord.CheckID(string(c.ExpectedBot)) != nil {
		problem("ExpectedBot: %.40q is not a bot's id", string(c.ExpectedBot))
	}
	if c.UserScoped && c.ExpectedBot == "" {
		problem("UserScoped needs ExpectedBot")
	}
	if c.Access < middleware.Advisory || c.Access > middleware.Enforce {
		problem("Access: there is no mode %d", c.Access)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(chain, func(m mcpcore.Middleware) bool { return m.Name == name })
	}
	if (c.AllowedGuilds != nil || c.ExpectedBot != "") && !has("guild_scope") {
		problems = append(problems, errors.New("AllowedGuilds and ExpectedBot are kept by the layer guild_scope, which the chain lacks"))
	}
	if c.Access != middleware.Advisory && !has("runtime_access") {
		problems = append(problems, errors.New("Access is kept by the layer runtime_access, which the chain lacks"))
	}
	return problems
}
