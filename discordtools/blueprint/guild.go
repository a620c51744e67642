package blueprint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Guild is a guild as it was read: what a document can speak of, and nothing of
// what its members say.
type Guild struct {
	Settings   liveSettings    `json:"settings"`
	Bot        liveBot         `json:"bot"`
	Roles      []liveRole      `json:"roles"`    // from the lowest up
	Channels   []liveChannel   `json:"channels"` // in Discord's order, categories among them
	Rules      []liveRule      `json:"rules"`
	Onboarding *liveOnboarding `json:"onboarding"` // nil where the guild is no Community
	Welcome    *liveWelcome    `json:"welcome"`    // nil where there is none
	Cards      []liveCard      `json:"cards"`
	Unread     []string        `json:"-"` // channels whose messages are too many to read all
}

const (
	unknownWelcome = 10069
	community      = "COMMUNITY"
	welcomeShown   = "WELCOME_SCREEN_ENABLED"
)

// Read reads the guild for a document: seven requests at most, of which two are
// sent to Communities alone, and the messages of the channels into which the
// document publishes. bound are the channels that are known to be the
// document's; nil for none. It changes nothing.
func Read(ctx context.Context, conn Conn, id discord.GuildID, bot discord.UserID, d *Document, bound map[Symbol]string) (*Guild, error) {
	g := &Guild{Bot: liveBot{ID: bot}}
	at := map[string]string{"guild_id": string(id)}
	if err := together(ctx,
		func(ctx context.Context) error { return get(ctx, conn, routeGuild, at, nil, &g.Settings) },
		func(ctx context.Context) error {
			return get(ctx, conn, routeMember, map[string]string{"guild_id": string(id), "user_id": string(bot)}, nil, &g.Bot)
		},
		func(ctx context.Context) error { return get(ctx, conn, routeRoles, at, nil, &g.Roles) },
		func(ctx context.Context) error { return get(ctx, conn, routeChannels, at, nil, &g.Channels) },
		func(ctx context.Context) error { return g.readRules(ctx, conn, at, d) },
	); err != nil {
		return nil, err
	}
	if g.Settings.has(community) {
		if err := together(ctx,
			func(ctx context.Context) error { return get(ctx, conn, routeOnboarding, at, nil, &g.Onboarding) },
			func(ctx context.Context) error { return g.readWelcome(ctx, conn, at) },
		); err != nil {
			return nil, err
		}
	}
	g.tidy()
	if err := g.verify(id); err != nil {
		return nil, err
	}
	if err := g.readCards(ctx, conn, d, bound); err != nil {
		return nil, err
	}
	return g, nil
}

// readRules reads AutoMod's rules, which takes MANAGE_GUILD: a document that says
// nothing of them does without.
func (g *Guild) readRules(ctx context.Context, conn Conn, at map[string]string, d *Document) error {
	err := get(ctx, conn, routeRules, at, nil, &g.Rules)
	if e, ok := errors.AsType[*mcpcore.Error](err); ok && e.Code == mcpcore.CodePermission && d != nil && d.AutoMod == nil {
		return nil
	}
	return err
}

// readWelcome takes a welcome screen that is not there for none.
func (g *Guild) readWelcome(ctx context.Context, conn Conn, at map[string]string) error {
	err := get(ctx, conn, routeWelcome, at, nil, &g.Welcome)
	if discordCode(err) == unknownWelcome {
		g.Welcome = nil
		return nil
	}
	return err
}

// together does all at once; the first error ends the others.
func together(ctx context.Context, all ...func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wait sync.WaitGroup
	for _, do := range all {
		wait.Go(func() {
			if err := do(ctx); err != nil {
				stop(err)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// tidy puts everything into an order of its own, so that equal guilds are equal.
func (g *Guild) tidy() {
	if g.Settings.Description != nil && *g.Settings.Description == "" {
		g.Settings.Description = nil
	}
	slices.Sort(g.Settings.Features)
	slices.Sort(g.Bot.Roles)
	slices.SortFunc(g.Roles, func(a, b liveRole) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), discord.CompareIDs(b.ID, a.ID))
	})
	slices.SortFunc(g.Channels, func(a, b liveChannel) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), discord.CompareIDs(a.ID, b.ID))
	})
	for i := range g.Channels {
		c := &g.Channels[i]
		slices.SortFunc(c.Overwrites, func(a, b liveOverwrite) int { return discord.CompareIDs(a.ID, b.ID) })
		if c.Topic != nil && *c.Topic == "" {
			c.Topic = nil
		}
	}
	g.Rules = slices.DeleteFunc(g.Rules, func(r liveRule) bool {
		return discord.CheckID(string(r.ID)) != nil || discord.CheckID(string(r.Creator)) != nil // Discord's own, which nobody can change
	})
	slices.SortFunc(g.Rules, func(a, b liveRule) int { return discord.CompareIDs(a.ID, b.ID) })
	for i := range g.Rules {
		r := &g.Rules[i]
		slices.Sort(r.ExemptRoles)
		slices.Sort(r.ExemptChannels)
	}
}

// verify refuses what is not of this guild.
func (g *Guild) verify(id discord.GuildID) error {
	if g.Settings.ID != id {
		return &responseError{what: "Discord told another guild than the one asked for"}
	}
	for _, c := range g.Channels {
		if c.Guild != "" && c.Guild != id || discord.CheckID(string(c.ID)) != nil {
			return &responseError{what: fmt.Sprintf("Discord told a channel that is not of the guild: %.40q", string(c.ID))}
		}
	}
	for _, r := range g.Rules {
		if r.Guild != "" && r.Guild != id {
			return &responseError{what: fmt.Sprintf("Discord told a rule that is not of the guild: %.40q", string(r.ID))}
		}
	}
	return nil
}

// Of a channel's messages so many are read.
const (
	pageSize   = 100
	maxHistory = 1000
)

// readCards looks for publications of the document in their channels, the
// oldest messages first.
func (g *Guild) readCards(ctx context.Context, conn Conn, d *Document, bound map[Symbol]string) error {
	if d == nil {
		return nil
	}
	wanted := map[discord.ChannelID]map[Symbol]bool{}
	for _, p := range d.publications() {
		id := discord.ChannelID(bound[p.Channel])
		if c := d.channel(p.Channel); id == "" && c != nil {
			if there := g.channelsLike(c.Name, channelTypes[c.Type]); len(there) == 1 {
				id = there[0].ID
			}
		}
		if id == "" || g.channel(id) == nil {
			continue
		}
		if wanted[id] == nil {
			wanted[id] = map[Symbol]bool{}
		}
		wanted[id][p.Key] = true
	}
	for _, id := range sortedKeys(wanted) {
		if err := g.readHistory(ctx, conn, id, wanted[id], maxHistory); err != nil {
			return err
		}
	}
	return nil
}

// readHistory reads a channel's messages until all that is wanted is found. A
// nil wanted takes every card of the bot's. A channel whose history the bot may
// not read has none to show.
func (g *Guild) readHistory(ctx context.Context, conn Conn, id discord.ChannelID, wanted map[Symbol]bool, most int) error {
	after, open := "0", len(wanted)
	for read := 0; read < most; {
		var page []struct {
			ID         discord.MessageID           `json:"id"`
			Channel    discord.ChannelID           `json:"channel_id"`
			Author     struct{ ID discord.UserID } `json:"author"`
			Components []json.RawMessage           `json:"components"`
		}
		query := url.Values{"limit": {strconv.Itoa(pageSize)}, "after": {after}}
		if err := get(ctx, conn, routeMessages, map[string]string{"channel_id": string(id)}, query, &page); err != nil {
			return err
		}
		for _, m := range page {
			if m.Channel != id {
				return &responseError{what: "Discord told a message of another channel"}
			}
			if discord.CompareIDs(string(m.ID), after) > 0 {
				after = string(m.ID)
			}
			tree := layoutTree(m.Components)
			key := marked(tree)
			if m.Author.ID != g.Bot.ID || key == "" || wanted != nil && !wanted[key] {
				continue
			}
			if !slices.ContainsFunc(g.Cards, func(c liveCard) bool { return c.Channel == id && c.Key == key }) {
				open--
			}
			g.Cards = append(g.Cards, liveCard{key, id, m.ID, cardDigest(tree), tree})
		}
		if read += len(page); len(page) < pageSize || wanted != nil && open <= 0 {
			return nil
		}
	}
	g.Unread = append(g.Unread, string(id))
	return nil
}

// ID is the digest of the guild as it was read.
func (g *Guild) ID() string { return digestOf(g) }

func (g *Guild) role(id discord.RoleID) *liveRole {
	return find(g.Roles, func(r *liveRole) bool { return r.ID == id })
}

func (g *Guild) channel(id discord.ChannelID) *liveChannel {
	return find(g.Channels, func(c *liveChannel) bool { return c.ID == id })
}

func (g *Guild) rule(id discord.RuleID) *liveRule {
	return find(g.Rules, func(r *liveRule) bool { return r.ID == id })
}

// everyone is the role of all members.
func (g *Guild) everyone() *liveRole { return g.role(discord.RoleID(g.Settings.ID)) }

func (g *Guild) rolesLike(name string) (all []*liveRole) {
	for i := range g.Roles {
		if r := &g.Roles[i]; r.Name == name && string(r.ID) != string(g.Settings.ID) {
			all = append(all, r)
		}
	}
	return all
}

func (g *Guild) channelsLike(name string, of discord.ChannelType) (all []*liveChannel) {
	for i := range g.Channels {
		if c := &g.Channels[i]; c.Type == of && c.Name == name {
			all = append(all, c)
		}
	}
	return all
}

// rank is the bot's highest role, nil when it has none above @everyone, and what
// the bot may do in the guild.
func (g *Guild) rank() (top *liveRole, may discord.Permissions) {
	held := []discord.Permissions{}
	if e := g.everyone(); e != nil {
		held = append(held, e.Permissions.set())
	}
	for i := range g.Roles {
		if r := &g.Roles[i]; slices.Contains(g.Bot.Roles, r.ID) {
			held, top = append(held, r.Permissions.set()), r
		}
	}
	return top, discord.Base(g.Settings.Owner == g.Bot.ID, held...)
}

// inChannel is what the bot may do in a channel.
func (g *Guild) inChannel(c liveChannel) discord.Permissions {
	_, base := g.rank()
	over := make([]discord.Overwrite, len(c.Overwrites))
	for i, o := range c.Overwrites {
		over[i] = discord.Overwrite{ID: o.ID, Type: o.Type, Allow: o.Allow.set(), Deny: o.Deny.set()}
	}
	return discord.InChannel(base, g.Settings.ID, g.Bot.ID, g.Bot.Roles, over)
}
