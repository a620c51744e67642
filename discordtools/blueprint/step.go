package blueprint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// body is the fields that are to be sent as one JSON object: all of something
// new, otherwise those that differ. A field that names what is not there is an
// error.
func body(fields []field) (json.RawMessage, error) {
	sent := map[string]any{}
	for _, f := range fields {
		if f.same {
			continue
		}
		if f.open {
			return nil, fmt.Errorf("%w: %s", errUnresolved, f.name)
		}
		sent[f.name] = f.want
	}
	return canonical(sent), nil
}

var errUnresolved = errors.New("what the operation names is not there yet")

// step sends one operation and puts what Discord answered into the guild, as far
// as it is known. It is the id of what was made or changed.
func (a *Applier) step(ctx context.Context, f *Draft, op Operation, blueprint string) (string, error) {
	guild := string(f.Guild.Settings.ID)
	at := map[string]string{"guild_id": guild}
	fields, err := body(f.diffs[op.ID])
	if err != nil {
		return "", err
	}
	r := Request{Path: at, Body: fields, Reason: fmt.Sprintf("guildwarden blueprint %.12s %s", strings.TrimPrefix(blueprint, "sha256:"), op.ID)}
	b := &f.Bindings
	switch op.Resource {
	case resRole:
		return f.stepRole(ctx, a.Conn, op, r)
	case resCategory:
		return f.stepChannel(ctx, a.Conn, op, r, b.Categories)
	case resChannel:
		return f.stepChannel(ctx, a.Conn, op, r, b.Channels)
	case resRoleOrder:
		moves, _ := f.roleMoves()
		r.Route, r.Body = moveRoles, canonical(moves)
		var told []liveRole
		if err := a.ask(ctx, r, &told); err != nil {
			return "", err
		}
		if len(told) != len(f.Guild.Roles) {
			return "", &responseError{what: "Discord told another number of roles"}
		}
		f.Guild.Roles = told
		f.Guild.tidy()
		return guild, nil
	case resOrder:
		return guild, f.stepOrder(ctx, a, r)
	case resGuild:
		r.Route = editGuild
		var told liveSettings
		if err := a.ask(ctx, r, &told); err != nil {
			return "", err
		}
		if told.ID != f.Guild.Settings.ID {
			return "", errOtherGuild
		}
		f.Guild.Settings = told
		f.Guild.tidy()
		if op.Risk == high { // which brings parts that were not there to read before
			return guild, f.reread(ctx, a.Conn, at)
		}
		return guild, nil
	case resWelcome:
		r.Route = setWelcome
		var told liveWelcome
		if err := a.ask(ctx, r, &told); err != nil {
			return "", err
		}
		f.Guild.Welcome = &told
		return guild, get(ctx, a.Conn, routeGuild, at, nil, &f.Guild.Settings)
	case resOnboarding:
		return guild, f.stepOnboarding(ctx, a, r)
	case resRule:
		return f.stepRule(ctx, a, op, r)
	case resCard:
		return f.stepCard(ctx, a, op, r)
	}
	return "", errUnknownOperation
}

var (
	errOtherGuild       = errors.New("the answer is of another guild")
	errUnknownOperation = errors.New("the plan names an operation that there is not")
)

// ask sends a request and decodes the answer.
func (a *Applier) ask(ctx context.Context, r Request, out any) error {
	raw, err := a.Conn.Do(ctx, r)
	if err != nil {
		return err
	}
	return decode(r.Route, raw, out)
}

func (f *Draft) stepRole(ctx context.Context, conn Conn, op Operation, r Request) (string, error) {
	id := f.Bindings.Roles[op.Key]
	r.Route = makeRole
	if op.Action == doUpdate {
		r.Route, r.Path = editRole, map[string]string{"guild_id": string(f.Guild.Settings.ID), "role_id": id}
	}
	var told liveRole
	raw, err := conn.Do(ctx, r)
	if err != nil {
		return "", err
	}
	if err := decode(r.Route, raw, &told); err != nil {
		return "", err
	}
	if discord.CheckID(string(told.ID)) != nil || op.Action == doUpdate && string(told.ID) != id {
		return "", &responseError{what: "Discord answered with another role"}
	}
	if there := f.Guild.role(told.ID); there != nil {
		*there = told
	} else {
		for i := range f.Guild.Roles { // below which the new one went
			if f.Guild.Roles[i].Position >= max(told.Position, 1) {
				f.Guild.Roles[i].Position++
			}
		}
		f.Guild.Roles = append(f.Guild.Roles, told)
	}
	f.Guild.tidy()
	f.Bindings.Roles[op.Key] = string(told.ID)
	return string(told.ID), nil
}

func (f *Draft) stepChannel(ctx context.Context, conn Conn, op Operation, r Request, bound map[Symbol]string) (string, error) {
	id := bound[op.Key]
	r.Route = makeChannel
	if op.Action == doUpdate {
		r.Route, r.Path = editChannel, map[string]string{"channel_id": id}
	}
	raw, err := conn.Do(ctx, r)
	if err != nil {
		return "", err
	}
	var told liveChannel
	if err := decode(r.Route, raw, &told); err != nil {
		return "", err
	}
	switch {
	case discord.CheckID(string(told.ID)) != nil || op.Action == doUpdate && string(told.ID) != id:
		return "", &responseError{what: "Discord answered with another channel"}
	case told.Guild != "" && told.Guild != f.Guild.Settings.ID:
		return "", errOtherGuild
	}
	if there := f.Guild.channel(told.ID); there != nil {
		*there = told
	} else {
		f.Guild.Channels = append(f.Guild.Channels, told)
	}
	f.Guild.tidy()
	bound[op.Key] = string(told.ID)
	return string(told.ID), nil
}

func (f *Draft) stepOrder(ctx context.Context, a *Applier, r Request) error {
	moves := f.channelMoves()
	if len(moves) == 0 {
		return nil // what was made landed where it belongs
	}
	r.Route, r.Body = moveChannels, canonical(moves)
	if _, err := a.Conn.Do(ctx, r); err != nil {
		return err
	}
	for _, m := range moves {
		if c := f.Guild.channel(discord.ChannelID(m.ID)); c != nil {
			c.Position = m.Position
		}
	}
	f.Guild.tidy()
	return nil
}

// reread reads what a guild got when it became a Community.
func (f *Draft) reread(ctx context.Context, conn Conn, at map[string]string) error {
	g := f.Guild
	if err := together(ctx,
		func(ctx context.Context) error { return get(ctx, conn, routeRoles, at, nil, &g.Roles) },
		func(ctx context.Context) error { return get(ctx, conn, routeOnboarding, at, nil, &g.Onboarding) },
		func(ctx context.Context) error { return g.readWelcome(ctx, conn, at) },
		func(ctx context.Context) error { return g.readRules(ctx, conn, at, f.Document) },
	); err != nil {
		return err // the next call finds that it was done
	}
	g.tidy()
	return nil
}

func (f *Draft) stepOnboarding(ctx context.Context, a *Applier, r Request) error {
	r.Route = setOnboarding
	fields := f.onboardingFields(f.Document.Onboarding)
	for i := range fields {
		fields[i].same = false // Discord replaces it as a whole
		prompts, ok := fields[i].want.([]sentPrompt)
		if !ok {
			continue
		}
		for j := range prompts {
			if prompts[j].ID == "" { // which Discord replaces by one of its own
				prompts[j].ID = discord.IDAt(a.Clock().Add(time.Duration(j) * time.Millisecond))
			}
		}
	}
	var err error
	if r.Body, err = body(fields); err != nil {
		return err
	}
	var told liveOnboarding
	if err := a.ask(ctx, r, &told); err != nil {
		return err
	}
	if told.Guild != "" && told.Guild != f.Guild.Settings.ID {
		return errOtherGuild
	}
	f.Guild.Onboarding = &told
	return nil
}

func (f *Draft) stepRule(ctx context.Context, a *Applier, op Operation, r Request) (string, error) {
	id := f.Bindings.Rules[op.Key]
	r.Route = makeRule
	if op.Action == doUpdate {
		r.Route, r.Path = editRule, map[string]string{"guild_id": string(f.Guild.Settings.ID), "rule_id": id}
	}
	var told liveRule
	if err := a.ask(ctx, r, &told); err != nil {
		return "", err
	}
	switch {
	case discord.CheckID(string(told.ID)) != nil || op.Action == doUpdate && string(told.ID) != id:
		return "", &responseError{what: "Discord answered with another rule"}
	case told.Guild != "" && told.Guild != f.Guild.Settings.ID:
		return "", errOtherGuild
	}
	if there := f.Guild.rule(told.ID); there != nil {
		*there = told
	} else {
		f.Guild.Rules = append(f.Guild.Rules, told)
	}
	f.Guild.tidy()
	f.Bindings.Rules[op.Key] = string(told.ID)
	return string(told.ID), nil
}

// sentCard is a message of components.
type sentCard struct {
	Flags        int             `json:"flags"`
	Components   json.RawMessage `json:"components"`
	Mentions     noMentions      `json:"allowed_mentions"`
	Nonce        string          `json:"nonce"`
	EnforceNonce bool            `json:"enforce_nonce"`
}

// waits are how long is waited for a channel that was just made.
var waits = []time.Duration{250 * time.Millisecond, 750 * time.Millisecond, 1500 * time.Millisecond}

var errNotReady = errors.New("the channel is not ready for messages yet")

func (f *Draft) stepCard(ctx context.Context, a *Applier, op Operation, r Request) (string, error) {
	i := slices.IndexFunc(f.Document.publications(), func(p Publication) bool { return p.Key == op.Key })
	if i < 0 {
		return "", errUnknownOperation
	}
	p := f.Document.Components.Publications[i]
	channel := f.Bindings.Channels[p.Channel]
	card := p.card(f.Bindings.Channels)
	if channel == "" || card == nil {
		return "", errUnresolved
	}
	r.Route, r.Path, r.Reason = sendMessage, map[string]string{"channel_id": channel}, ""
	r.Body = canonical(sentCard{
		Flags: componentsFlag, Components: card, Mentions: noMentions{Parse: []string{}}, EnforceNonce: true,
		Nonce: nonce(f.Guild.Settings.ID, f.Guild.Bot.ID, channel, string(p.Key), card),
	})
	var told struct {
		ID      discord.MessageID `json:"id"`
		Channel discord.ChannelID `json:"channel_id"`
		Author  struct {
			ID discord.UserID `json:"id"`
		} `json:"author"`
		Components []json.RawMessage `json:"components"`
	}
	for try := 0; ; try++ {
		err := a.ask(ctx, r, &told)
		if err == nil {
			break
		}
		e, ok := errors.AsType[*mcpcore.Error](err)
		if !ok || e.Code != mcpcore.CodeNotFound {
			return "", err
		}
		if try == len(waits) {
			return "", errNotReady
		}
		if err := a.wait(ctx, waits[try]); err != nil {
			return "", err
		}
	}
	if discord.CheckID(string(told.ID)) != nil || string(told.Channel) != channel || told.Author.ID != f.Guild.Bot.ID {
		return "", &responseError{what: "Discord answered with another message"}
	}
	tree := layoutTree(told.Components)
	f.Guild.Cards = append(f.Guild.Cards, liveCard{p.Key, told.Channel, told.ID, cardDigest(tree), tree})
	f.Bindings.Publications[op.Key] = string(told.ID)
	return string(told.ID), nil
}

// look reads again what an operation is about, right before it, and puts it into
// a copy of the guild.
//
// A guild that becomes a Community is read as a whole: behind that, more than
// settings is not as it was before.
func (a *Applier) look(ctx context.Context, f *Draft, op Operation) (*Guild, error) {
	if op.Resource == resGuild && op.Risk == high {
		return Read(ctx, a.Conn, f.Guild.Settings.ID, f.Guild.Bot.ID, f.Document, f.Bindings.Channels)
	}
	now := *f.Guild
	now.Roles, now.Channels, now.Rules = slices.Clone(now.Roles), slices.Clone(now.Channels), slices.Clone(now.Rules)
	now.Cards, now.Unread = slices.Clone(now.Cards), nil
	at := map[string]string{"guild_id": string(now.Settings.ID)}
	var err error
	switch op.Resource {
	case resRole, resRoleOrder:
		now.Roles = nil
		err = get(ctx, a.Conn, routeRoles, at, nil, &now.Roles)
	case resCategory, resChannel, resOrder:
		now.Channels = nil
		err = get(ctx, a.Conn, routeChannels, at, nil, &now.Channels)
	case resGuild:
		now.Settings = liveSettings{}
		err = get(ctx, a.Conn, routeGuild, at, nil, &now.Settings)
	case resWelcome:
		now.Welcome = nil
		err = now.readWelcome(ctx, a.Conn, at)
	case resOnboarding:
		now.Onboarding = nil
		err = get(ctx, a.Conn, routeOnboarding, at, nil, &now.Onboarding)
	case resRule:
		now.Rules = nil
		err = now.readRules(ctx, a.Conn, at, f.Document)
	case resCard:
		now.Cards = nil
		err = now.readCards(ctx, a.Conn, f.Document, f.Bindings.Channels)
	}
	if err != nil {
		return nil, err
	}
	now.tidy()
	return &now, now.verify(f.Guild.Settings.ID)
}
