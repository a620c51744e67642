package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Identity is which bot the token must belong to.
type Identity struct {
	rest discordtools.REST
	bot  discord.UserID // "" for any
	log  *slog.Logger
}

// IdentityOf is the one of a server of these parts.
func IdentityOf(deps discordtools.Deps) (Identity, error) {
	rest, err := discordtools.NewClient(deps.Session, deps.Client)
	return Identity{rest, deps.Config.ExpectedBot, deps.Logger}, err
}

// Watch finds out beside the serving, so that no handshake waits for Discord; it
// tries again while Discord cannot be asked. Calls meanwhile wait for an answer of
// their own. It returns an error when the token belongs to another account, and
// nil when it belongs to the bot or ctx is done.
func (i Identity) Watch(ctx context.Context) error {
	if i.bot == "" {
		return nil
	}
	const longest = time.Minute
	for wait := time.Second; ; wait = min(2*wait, longest) {
		err := discordtools.VerifyIdentity(ctx, i.rest, i.bot)
		switch {
		case err == nil:
			i.log.Info("the token belongs to the expected bot", "bot", i.bot)
			return nil
		case errors.Is(err, discordtools.ErrOtherBot):
			return fmt.Errorf("DISCORD_EXPECTED_BOT_ID: %w", err)
		case ctx.Err() != nil:
			return nil
		}
		i.log.Warn("which bot the token belongs to is not known yet", "error", err, "again_in", wait)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}
