package middleware_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

const third discord.GuildID = "700000000000000003"

// The inputs of tools that act in guilds.
type (
	post struct {
		Channel  discord.ChannelID   `json:"channel_id" jsonschema:"channel"`
		Roles    []discord.RoleID    `json:"roles,omitempty" jsonschema:"roles"`
		Stickers []discord.StickerID `json:"stickers,omitempty" jsonschema:"stickers"`
		From     *postSource         `json:"from,omitempty" jsonschema:"where from"`
		Message  discord.MessageID   `json:"message_id,omitempty" jsonschema:"message"`
		User     discord.UserID      `json:"user_id,omitempty" jsonschema:"user"`
		Event    discord.EventID     `json:"event_id,omitempty" jsonschema:"event"`
		Rule     discord.RuleID      `json:"rule_id,omitempty" jsonschema:"rule"`
		Sound    discord.SoundID     `json:"sound_id,omitempty" jsonschema:"sound"`
	}
	postSource struct {
		Channel discord.ChannelID `json:"channel_id"`
	}
	settings struct {
		Guild      discord.GuildID     `json:"guild_id" jsonschema:"guild"`
		Channel    *discord.ChannelID  `json:"channel_id,omitempty" jsonschema:"channel"`
		Channels   []discord.ChannelID `json:"channels,omitempty" jsonschema:"channels"`
		Overwrites []overwrite         `json:"overwrites,omitempty" jsonschema:"overwrites"`
		After      discord.Snowflake   `json:"after,omitempty" jsonschema:"cursor"`
	}
	overwrite struct {
		ID discord.OverwriteID `json:"id"`
	}
	hook struct {
		Webhook discord.WebhookID    `json:"webhook_id" jsonschema:"webhook"`
		Token   discord.WebhookToken `json:"webhook_token,omitempty" jsonschema:"token"`
	}
	code struct {
		Invite discord.InviteCode `json:"code,omitempty" jsonschema:"code"`
	}
	blueprint struct {
		Template discord.TemplateCode `json:"template" jsonschema:"code"`
	}
	sticker struct {
		Sticker discord.StickerID `json:"sticker_id" jsonschema:"sticker"`
	}
	app struct {
		Application discord.ApplicationID `json:"application_id,omitempty" jsonschema:"application"`
		Guild       discord.GuildID       `json:"guild_id,omitempty" jsonschema:"guild"`
	}
	owner struct {
		Owner discord.OwnerID `json:"owner_id" jsonschema:"guild or user"`
	}
	grants struct {
		Guild discord.GuildID   `json:"guild_id" jsonschema:"guild"`
		To    discord.GranteeID `json:"to" jsonschema:"role, member or channel"`
	}
	reply struct {
		Interaction discord.InteractionID `json:"interaction_id" jsonschema:"interaction"`
	}
	untyped struct {
		Guild  discord.GuildID `json:"guild_id" jsonschema:"guild"`
		Ticket string          `json:"thing_id" jsonschema:"thing" pattern:"^[0-9]{17,20}$"`
	}
	person struct {
		User discord.UserID `json:"user_id" jsonschema:"user"`
	}
)

// tool shows what it got.
func tool[In any](name string, effect mcpcore.Effect, scope mcpcore.Scope, edit ...func(*mcpcore.Tool)) mcpcore.Tool {
	t := mcpcore.Tool{Name: name, Doc: "Shows.", Category: "c", Effect: effect, Gate: mcpcore.NoGate, Scope: scope}
	for _, f := range edit {
		f(&t)
	}
	return mcpcore.Define(t, func(_ context.Context, call *mcpcore.Call, _ In) (seen, error) { return seen{string(call.Args())}, nil })
}

func scoped() []mcpcore.Tool {
	return []mcpcore.Tool{
		tool[post]("post", mcpcore.Write, mcpcore.ChannelScope),
		tool[post]("forward", mcpcore.Write, mcpcore.ChannelScope, func(t *mcpcore.Tool) { t.Crosses = true }),
		tool[settings]("settings", mcpcore.Write, mcpcore.GuildScope),
		tool[hook]("hook", mcpcore.Write, mcpcore.ChannelScope), tool[hook]("hook_get", mcpcore.Read, mcpcore.ChannelScope),
		tool[code]("code", mcpcore.Read, mcpcore.GuildScope), tool[blueprint]("template", mcpcore.Write, mcpcore.GuildScope),
		tool[sticker]("sticker", mcpcore.Read, mcpcore.GlobalScope), tool[person]("user", mcpcore.Read, mcpcore.GlobalScope),
		tool[settings]("local", mcpcore.Write, mcpcore.LocalScope),
		tool[app]("app", mcpcore.Write, mcpcore.ApplicationScope),
		tool[app]("app_here", mcpcore.Write, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.Locked = true }),
		tool[owner]("gift", mcpcore.Write, mcpcore.ApplicationScope, func(t *mcpcore.Tool) { t.Unlocked = true }), tool[grants]("grant", mcpcore.Write, mcpcore.GuildScope),
		tool[app]("whoami", mcpcore.Read, mcpcore.ApplicationScope, func(t *mcpcore.Tool) { t.Unlocked = true }),
		tool[reply]("reply", mcpcore.Write, mcpcore.ChannelScope), tool[person]("dm", mcpcore.Write, mcpcore.UserScope),
		tool[untyped]("untyped", mcpcore.Read, mcpcore.GuildScope), tool[person]("nowhere", mcpcore.Read, mcpcore.GuildScope),
	}
}

// index is a resolver that knows what it is told. It remembers the questions.
type index struct {
	mu    sync.Mutex
	known map[string]discord.GuildID // "kind id" to guild
	asked []middleware.GuildRef
	err   error
}

func (i *index) GuildOf(_ context.Context, ref middleware.GuildRef) (discord.GuildID, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = append(i.asked, ref)
	guild, ok := i.known[string(ref.Kind)+" "+ref.ID]
	if ref.In != "" && ref.Kind != discord.KindChannel {
		if guild != ref.In {
			guild = ""
		}
		return guild, i.err
	}
	if !ok {
		return "", cmpErr(i.err, mcpcore.Errorf(mcpcore.CodeNotFound, "canary"))
	}
	return guild, nil
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// Ids of the two worlds: what ends in 1 is home's, in 2 the other guild's.
const (
	chan1, chan1b, chan2 = "710000000000000001", "710000000000000011", "710000000000000002"
	role1, role2         = "720000000000000001", "720000000000000002"
	hook1, hook2         = "730000000000000001", "730000000000000002"
	sticker0, sticker2   = "740000000000000000", "740000000000000002"
	part1, part2         = "760000000000000001", "760000000000000002" // events, rules, sounds
	direct, lost         = "710000000000000009", "799999999999999999"
	bot, foreignBot      = "750000000000000001", "750000000000000002"
)

func newIndex() *index {
	return &index{known: map[string]discord.GuildID{
		"channel " + chan1: home, "channel " + chan1b: home, "channel " + chan2: other, "channel " + direct: "",
		"role " + role1: home, "role " + role2: other, "overwrite " + role1: home, "overwrite " + role2: other,
		"webhook " + hook1: home, "webhook " + hook2: other, "invite home": home, "invite other": other, "invite group": "",
		"template home": home, "template other": other, "sticker " + sticker0: "", "sticker " + sticker2: other, "sticker 740000000000000001": home,
		"event " + part1: home, "event " + part2: other, "rule " + part1: home, "rule " + part2: other, "sound " + part1: home, "sound " + part2: other,
		"owner " + string(home): home, "owner " + string(other): other, "owner " + bot: "", "grantee " + role1: home, "grantee " + role2: other,
	}}
}

func held(s middleware.Scope) []mcpcore.Middleware {
	return middleware.Standard(middleware.Options{Scope: s})
}

func only(tools ...mcpcore.Tool) func(*mcpcore.Deps) {
	return func(d *mcpcore.Deps) { d.Tools = tools }
}

func TestGuildScope(t *testing.T) {
	t.Parallel()
	s := serve(t, held(middleware.Scope{Guilds: []discord.GuildID{home, third}, Resolver: newIndex()}), only(scoped()...))
	const (
		ok         = ""
		outside    = "GUILD_NOT_ALLOWED"
		unresolved = "GUILD_SCOPE_UNRESOLVED"
	)
	for _, row := range []struct{ name, tool, args, code string }{
		{"channel", "post", `{"channel_id":"` + chan1 + `"}`, ok},
		{"another guild's channel", "post", `{"channel_id":"` + chan2 + `"}`, outside},
		{"a direct message", "post", `{"channel_id":"` + direct + `"}`, unresolved},
		{"a channel that is not there", "post", `{"channel_id":"` + lost + `"}`, unresolved},
		{"role", "post", `{"channel_id":"` + chan1 + `","roles":["` + role1 + `"]}`, ok},
		{"everyone", "post", `{"channel_id":"` + chan1 + `","roles":["` + string(home) + `"]}`, ok},
		{"another guild's role", "post", `{"channel_id":"` + chan1 + `","roles":["` + role1 + `","` + role2 + `"]}`, unresolved},
		{"another guild's everyone", "post", `{"channel_id":"` + chan1 + `","roles":["` + string(other) + `"]}`, unresolved},
		{"sticker", "post", `{"channel_id":"` + chan1 + `","stickers":["740000000000000001"]}`, ok},
		{"Discord's sticker", "post", `{"channel_id":"` + chan1 + `","stickers":["` + sticker0 + `"]}`, ok},
		{"another guild's sticker", "post", `{"channel_id":"` + chan1 + `","stickers":["` + sticker2 + `"]}`, outside},
		{"nested channel", "post", `{"channel_id":"` + chan1 + `","from":{"channel_id":"` + chan1b + `"}}`, ok},
		{"another guild's nested channel", "post", `{"channel_id":"` + chan1 + `","from":{"channel_id":"` + chan2 + `"}}`, outside},
		{"event", "post", `{"channel_id":"` + chan1 + `","event_id":"` + part1 + `"}`, ok},
		{"another guild's event", "post", `{"channel_id":"` + chan1 + `","event_id":"` + part2 + `"}`, unresolved},
		{"rule", "post", `{"channel_id":"` + chan1 + `","rule_id":"` + part1 + `"}`, ok},
		{"another guild's rule", "post", `{"channel_id":"` + chan1 + `","rule_id":"` + part2 + `"}`, unresolved},
		{"sound", "post", `{"channel_id":"` + chan1 + `","sound_id":"` + part1 + `"}`, ok},
		{"another guild's sound", "post", `{"channel_id":"` + chan1 + `","sound_id":"` + part2 + `"}`, unresolved},
		{"message and user", "post", `{"channel_id":"` + chan1 + `","message_id":"` + lost + `","user_id":"` + lost + `"}`, ok},
		{"guild", "settings", `{"guild_id":"` + string(home) + `"}`, ok},
		{"the other allowed guild", "settings", `{"guild_id":"` + string(third) + `"}`, ok},
		{"another guild", "settings", `{"guild_id":"` + string(other) + `"}`, outside},
		{"guild and its channel", "settings", `{"guild_id":"` + string(home) + `","channel_id":"` + chan1 + `"}`, ok},
		{"guild and no channel", "settings", `{"guild_id":"` + string(home) + `","channel_id":null}`, ok},
		{"guild and another's channel", "settings", `{"guild_id":"` + string(home) + `","channel_id":"` + chan2 + `"}`, outside},
		{"two allowed guilds", "settings", `{"guild_id":"` + string(third) + `","channel_id":"` + chan1 + `"}`, unresolved},
		{"overwrite", "settings", `{"guild_id":"` + string(home) + `","overwrites":[{"id":"` + role1 + `"},{"id":"` + string(home) + `"}]}`, ok},
		{"another guild's overwrite", "settings", `{"guild_id":"` + string(home) + `","overwrites":[{"id":"` + role1 + `"},{"id":"` + role2 + `"}]}`, unresolved},
		{"cursor", "settings", `{"guild_id":"` + string(home) + `","after":"` + string(other) + `"}`, ok},
		{"many channels", "settings", `{"guild_id":"` + string(home) + `","channels":["` + chan1 + `","` + chan1b + `","` + chan1 + `"]}`, ok},
		{"many channels, one of another's", "settings", `{"guild_id":"` + string(home) + `","channels":["` + chan1 + `","` + chan1b + `","` + chan2 + `"]}`, outside},
		{"webhook", "hook", `{"webhook_id":"` + hook1 + `"}`, ok},
		{"another guild's webhook", "hook", `{"webhook_id":"` + hook2 + `","webhook_token":"t"}`, outside},
		{"invite", "code", `{"code":"home"}`, ok},
		{"another guild's invite", "code", `{"code":"other"}`, outside},
		{"a group's invite", "code", `{"code":"group"}`, unresolved},
		{"no invite", "code", `{}`, unresolved},
		{"template", "template", `{"template":"home"}`, ok},
		{"another guild's template", "template", `{"template":"other"}`, outside},
		{"Discord's own, read", "sticker", `{"sticker_id":"` + sticker0 + `"}`, ok},
		{"another guild's, read", "sticker", `{"sticker_id":"` + sticker2 + `"}`, outside},
		{"a user, read", "user", `{"user_id":"` + lost + `"}`, ok},
		{"a local tool", "local", `{"guild_id":"` + string(home) + `","channel_id":"` + lost + `"}`, ok},
		{"a local tool on another guild", "local", `{"guild_id":"` + string(other) + `"}`, outside},
		{"an interaction", "reply", `{"interaction_id":"` + lost + `"}`, unresolved},
		{"a user outside guilds", "dm", `{"user_id":"` + lost + `"}`, unresolved},
		{"ids without a kind", "untyped", `{"guild_id":"` + string(home) + `","thing_id":"` + lost + `"}`, unresolved},
		{"nothing that tells a guild", "nowhere", `{"user_id":"` + lost + `"}`, unresolved},
		{"the application", "app", `{}`, "BOT_SCOPE_UNRESOLVED"},
		{"the application, in a guild", "app_here", `{"guild_id":"` + string(home) + `"}`, "BOT_SCOPE_UNRESOLVED"},
		{"which bot this is", "whoami", `{}`, ok},
		{"a guild that owns", "gift", `{"owner_id":"` + string(home) + `"}`, ok},
		{"a user who owns", "gift", `{"owner_id":"` + bot + `"}`, ok},
		{"another guild that owns", "gift", `{"owner_id":"` + string(other) + `"}`, outside},
		{"an owner that is not there", "gift", `{"owner_id":"` + lost + `"}`, unresolved},
		{"grantee", "grant", `{"guild_id":"` + string(home) + `","to":"` + role1 + `"}`, ok},
		{"everyone is granted", "grant", `{"guild_id":"` + string(home) + `","to":"` + string(home) + `"}`, ok},
		{"another guild's grantee", "grant", `{"guild_id":"` + string(home) + `","to":"` + role2 + `"}`, unresolved},
		{"forwarded within", "forward", `{"channel_id":"` + chan1 + `","from":{"channel_id":"` + chan1b + `"}}`, ok},
		{"forwarded from outside", "forward", `{"channel_id":"` + chan1 + `","from":{"channel_id":"` + chan2 + `"}}`, outside},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, data := s.call(row.tool, row.args)
			if row.code == ok && strings.HasPrefix(got, "{") {
				return
			}
			if got != row.code {
				t.Errorf("%s %s answers %s, want %q", row.tool, row.args, got, row.code)
			}
			if strings.Contains(data["detail"].(string), "canary") {
				t.Errorf("it repeats what Discord said: %v", data["detail"])
			}
			switch got {
			case outside:
				if data["guild_id"] != string(other) {
					t.Errorf("it names the guild %v", data["guild_id"])
				}
			case unresolved:
				if data["resource"] == "" {
					t.Errorf("it does not say what cannot be told: %v", data)
				}
			}
		})
	}
}

func TestToolsThatCrossMayTouchAllowedGuilds(t *testing.T) {
	t.Parallel()
	s := serve(t, held(middleware.Scope{Guilds: []discord.GuildID{home, other}, Resolver: newIndex()}), only(scoped()...))
	both := `{"channel_id":"` + chan1 + `","from":{"channel_id":"` + chan2 + `"},"roles":["` + role2 + `"]}`
	if got, _ := s.call("forward", both); !strings.HasPrefix(got, "{") {
		t.Errorf("forward answers %s", got)
	}
	s.want("post", both, "GUILD_SCOPE_UNRESOLVED")
}

func TestWithoutAnAllowlistNothingIsAsked(t *testing.T) {
	t.Parallel()
	i := newIndex()
	s := serve(t, held(middleware.Scope{Resolver: i}), only(scoped()...))
	for tool, args := range map[string]string{
		"post": `{"channel_id":"` + lost + `"}`, "settings": `{"guild_id":"` + string(other) + `"}`, "nowhere": `{"user_id":"` + lost + `"}`,
		"dm": `{"user_id":"` + lost + `"}`, "reply": `{"interaction_id":"` + lost + `"}`,
	} {
		if got, _ := s.call(tool, args); !strings.HasPrefix(got, "{") {
			t.Errorf("%s answers %s", tool, got)
		}
	}
	if len(i.asked) > 0 {
		t.Errorf("asked %v", i.asked)
	}
}

func TestEmptyAllowlistAllowsNoGuild(t *testing.T) {
	t.Parallel()
	s := serve(t, held(middleware.Scope{Guilds: []discord.GuildID{}, Resolver: newIndex()}), only(scoped()...))
	s.want("settings", `{"guild_id":"`+string(home)+`"}`, "GUILD_NOT_ALLOWED")
	s.want("post", `{"channel_id":"`+chan1+`"}`, "GUILD_NOT_ALLOWED")
}

func TestWithoutAResolverOnlyGuildsPass(t *testing.T) {
	t.Parallel()
	s := serve(t, held(middleware.Scope{Guilds: []discord.GuildID{home}}), only(scoped()...))
	s.want("post", `{"channel_id":"`+chan1+`"}`, "GUILD_SCOPE_UNRESOLVED")
	if got, _ := s.call("settings", `{"guild_id":"`+string(home)+`"}`); !strings.HasPrefix(got, "{") {
		t.Errorf("settings answers %s", got)
	}
}

func TestResolverIsAskedWhatItNeeds(t *testing.T) {
	t.Parallel()
	i := newIndex()
	s := serve(t, held(middleware.Scope{Guilds: []discord.GuildID{home}, Resolver: i}), only(scoped()...))
	s.call("hook", `{"webhook_id":"`+hook1+`","webhook_token":"secret"}`)
	s.call("hook_get", `{"webhook_id":"`+hook1+`"}`)
	s.call("settings", `{"guild_id":"`+string(home)+`","channel_id":"`+chan1+`","overwrites":[{"id":"`+role1+`"}]}`)
	s.call("settings", `{"guild_id":"`+string(home)+`","channels":["`+chan1+`","`+chan1b+`","`+chan1+`"]}`)
	s.call("post", `{"channel_id":"`+chan1+`"}`)
	want := []middleware.GuildRef{
		{Kind: discord.KindWebhook, ID: hook1, Token: "secret", Fresh: true},
		{Kind: discord.KindWebhook, ID: hook1},
		{Kind: discord.KindChannel, ID: chan1, Fresh: true},
		{Kind: discord.KindOverwrite, ID: role1, In: home, Channel: chan1, Fresh: true},
		{Kind: discord.KindChannel, ID: chan1, In: home, Fresh: true},
		{Kind: discord.KindChannel, ID: chan1b, In: home, Fresh: true},
		{Kind: discord.KindChannel, ID: chan1, Fresh: true},
	}
	if !slices.Equal(i.asked, want) {
		t.Errorf("asked %+v\nwant %+v", i.asked, want)
	}
}

// A token is in no answer, whatever goes wrong.
func TestRefusalsKeepTheToken(t *testing.T) {
	t.Parallel()
	s := serve(t, held(middleware.Scope{Guilds: []discord.GuildID{home}, Resolver: newIndex()}), only(scoped()...))
	for _, id := range []string{hook2, lost} {
		_, data := s.call("hook", `{"webhook_id":"`+id+`","webhook_token":"canary-token"}`)
		for name, v := range data {
			if text, ok := v.(string); ok && strings.Contains(text, "canary-token") {
				t.Errorf("%s shows it: %s", name, text)
			}
		}
	}
}

func TestUnprovableToolsAreHiddenOrStopTheStart(t *testing.T) {
	t.Parallel()
	locked := middleware.Scope{Guilds: []discord.GuildID{home}, Bot: bot, UserScoped: true, Verify: func(context.Context) error { return nil }}
	open := middleware.Scope{Guilds: []discord.GuildID{home}}
	for _, row := range []struct {
		name          string
		tool          mcpcore.Tool
		scope         middleware.Scope
		hides, starts bool
	}{
		{"writes in a guild that nothing tells", tool[person]("x", mcpcore.Write, mcpcore.GuildScope), open, true, false},
		{"destroys in a channel that nothing tells", tool[anywhere]("x", mcpcore.Destroy, mcpcore.ChannelScope), open, true, false},
		{"writes everywhere", tool[anywhere]("x", mcpcore.Write, mcpcore.GlobalScope), open, true, false},
		{"writes with an id of no kind", tool[untyped]("x", mcpcore.Write, mcpcore.GuildScope), open, true, false},
		{"writes, and nobody has an allowlist", tool[person]("x", mcpcore.Write, mcpcore.GuildScope), middleware.Scope{}, false, true},
		{"reads in a guild that nothing tells", tool[person]("x", mcpcore.Read, mcpcore.GuildScope), open, true, true},
		{"reads everywhere", tool[anywhere]("x", mcpcore.Read, mcpcore.GlobalScope), open, false, true},
		{"writes in a guild", tool[settings]("x", mcpcore.Write, mcpcore.GuildScope), open, false, true},
		{"writes here", tool[untyped]("x", mcpcore.Write, mcpcore.LocalScope), open, false, true},
		{"answers interactions", tool[reply]("x", mcpcore.Write, mcpcore.ChannelScope), locked, true, true},
		{"writes to users", tool[person]("x", mcpcore.Write, mcpcore.UserScope), open, true, true},
		{"writes to users, let through", tool[person]("x", mcpcore.Write, mcpcore.UserScope), locked, false, true},
		{"changes the application", tool[app]("x", mcpcore.Write, mcpcore.ApplicationScope), open, true, true},
		{"acts as the application in a guild", tool[app]("x", mcpcore.Write, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.Locked = true }), open, true, true},
		{"acts as the locked application in a guild", tool[app]("x", mcpcore.Write, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.Locked = true }), locked, false, true},
		{"changes the locked application", tool[app]("x", mcpcore.Write, mcpcore.ApplicationScope), locked, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.scope.Hides(&row.tool); got != row.hides {
				t.Errorf("hidden: %v", got)
			}
			_, err := mcpcore.BuildServer(mcpcore.Deps{Tools: []mcpcore.Tool{row.tool}, Chain: held(row.scope)})
			if (err == nil) != row.starts {
				t.Fatalf("error %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), `tool "x": layer "guild_scope": it writes`) {
				t.Errorf("the message does not name the tool and the layer: %v", err)
			}
		})
	}
}

func TestIdentityLock(t *testing.T) {
	t.Parallel()
	otherBot := mcpcore.Errorf(mcpcore.CodeBotUnresolved, "another bot")
	verified := func(err error) func(context.Context) error {
		return func(context.Context) error { return err }
	}
	for _, row := range []struct {
		name, tool, args, code string
		scope                  middleware.Scope
	}{
		{"no lock", "app", `{}`, "BOT_SCOPE_UNRESOLVED", middleware.Scope{}},
		{"no lock, as the application in a guild", "app_here", `{"guild_id":"` + string(home) + `"}`, "BOT_SCOPE_UNRESOLVED", middleware.Scope{}},
		{"locked, in a guild", "app_here", `{"guild_id":"` + string(home) + `","application_id":"` + bot + `"}`, "", middleware.Scope{Bot: bot, Verify: verified(nil)}},
		{"locked, another's id, in a guild", "app_here", `{"guild_id":"` + string(home) + `","application_id":"` + foreignBot + `"}`, "BOT_SCOPE_UNRESOLVED", middleware.Scope{Bot: bot, Verify: verified(nil)}},
		{"locked, in another guild", "app_here", `{"guild_id":"` + string(other) + `"}`, "GUILD_NOT_ALLOWED", middleware.Scope{Bot: bot, Verify: verified(nil), Guilds: []discord.GuildID{home}}},
		{"no lock, and no need of it", "whoami", `{}`, "", middleware.Scope{}},
		{"no lock, in a guild", "settings", `{"guild_id":"` + string(home) + `"}`, "", middleware.Scope{}},
		{"locked", "app", `{}`, "", middleware.Scope{Bot: bot, Verify: verified(nil)}},
		{"locked, its own id", "app", `{"application_id":"` + bot + `"}`, "", middleware.Scope{Bot: bot, Verify: verified(nil)}},
		{"locked, another's id", "app", `{"application_id":"` + foreignBot + `"}`, "BOT_SCOPE_UNRESOLVED", middleware.Scope{Bot: bot, Verify: verified(nil)}},
		{"another bot", "app", `{}`, "BOT_SCOPE_UNRESOLVED", middleware.Scope{Bot: bot, Verify: verified(otherBot)}},
		{"another bot, in a guild", "settings", `{"guild_id":"` + string(home) + `"}`, "BOT_SCOPE_UNRESOLVED", middleware.Scope{Bot: bot, Verify: verified(otherBot)}},
		{"another bot, here", "local", `{"guild_id":"` + string(home) + `"}`, "BOT_SCOPE_UNRESOLVED", middleware.Scope{Bot: bot, Verify: verified(otherBot)}},
		{"Discord does not say", "settings", `{"guild_id":"` + string(home) + `"}`, "DISCORD_TIMEOUT", middleware.Scope{Bot: bot, Verify: verified(mcpcore.Errorf(mcpcore.CodeTimeout, "no answer"))}},
		{"it fails", "settings", `{"guild_id":"` + string(home) + `"}`, "INTERNAL_ERROR", middleware.Scope{Bot: bot, Verify: verified(errors.New("canary"))}},
		{"nobody can tell", "settings", `{"guild_id":"` + string(home) + `"}`, "BOT_SCOPE_UNRESOLVED", middleware.Scope{Bot: bot}},
		{"locked application in another guild", "app", `{"guild_id":"` + string(other) + `"}`, "GUILD_NOT_ALLOWED", middleware.Scope{Bot: bot, Verify: verified(nil), Guilds: []discord.GuildID{home}}},
		{"locked application in this guild", "app", `{"guild_id":"` + string(home) + `"}`, "", middleware.Scope{Bot: bot, Verify: verified(nil), Guilds: []discord.GuildID{home}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, data := serve(t, held(row.scope), only(scoped()...)).call(row.tool, row.args)
			if row.code == "" && !strings.HasPrefix(got, "{") || row.code != "" && got != row.code {
				t.Errorf("answers %s, want %q: %v", got, row.code, data)
			}
		})
	}
}
