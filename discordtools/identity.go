package discordtools

import (
	"context"
	"errors"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// ErrOtherBot is the cause of a [VerifyIdentity] that found another account than
// the expected bot. It is final: the token belongs to one account.
var ErrOtherBot = errors.New("the token belongs to another account")

// VerifyIdentity reads the account that rest acts as (GET /users/@me) and
// demands that it is the expected bot. The error is an [*mcpcore.Error]:
// BOT_SCOPE_UNRESOLVED with [ErrOtherBot] as its cause when it is another
// account, and what rest answered when it could not be read.
//
// [BuildServer] with [Config.ExpectedBot] does the same before the first call. A
// program that serves calls it beside, to end at once instead of refusing every
// call.
func VerifyIdentity(ctx context.Context, rest REST, expected discord.UserID) error {
	i := identity{rest: rest}
	return i.is(ctx, expected)
}

// identity is which account a connection acts as. It never changes, so that it
// is read once. It is safe for concurrent use.
type identity struct {
	rest REST
	read memory[struct{}, account]
}

type account struct {
	ID  discord.UserID `json:"id"`
	Bot bool           `json:"bot"`
}

func (i *identity) account(ctx context.Context) (account, error) {
	return i.read.get(ctx, struct{}{}, func(ctx context.Context) (me account, keep bool, err error) {
		if err := get(ctx, i.rest, routeMe, nil, &me); err != nil {
			return account{}, false, err
		}
		if discord.CheckID(string(me.ID)) != nil {
			return account{}, false, errors.New("Discord told no account")
		}
		return me, true, nil
	})
}

// is refuses unless the account is the bot.
func (i *identity) is(ctx context.Context, bot discord.UserID) error {
	me, err := i.account(ctx)
	if _, told := errors.AsType[*mcpcore.Error](err); told || ctx.Err() != nil {
		return err
	}
	e := &mcpcore.Error{Code: mcpcore.CodeBotUnresolved, Fields: map[string]any{"resource": "bot " + string(bot)}, Cause: err}
	switch {
	case err != nil:
		e.Detail = "which bot this server acts as cannot be told"
	case me.ID != bot:
		e.Detail = "the token belongs to the account " + string(me.ID) + ", and this server is locked to " + string(bot)
	case !me.Bot:
		e.Detail = "the token belongs to an account that is not a bot's"
	default:
		return nil
	}
	if err == nil {
		e.Cause = ErrOtherBot
		e.Hint = "No call can pass. The operator must give this server the token of the expected bot, or correct DISCORD_EXPECTED_BOT_ID."
	}
	return e
}
