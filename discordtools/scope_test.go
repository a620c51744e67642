package discordtools_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// locked locks a server to the sandbox's bot.
func locked(d *discordtools.Deps) { d.Config.ExpectedBot = sandbox.BotID }

// homeOnly allows the demo guild alone.
func homeOnly(d *discordtools.Deps) {
	d.Config.AllowedGuilds = []discord.GuildID{sandbox.DemoGuild}
}

func TestIdentityIsVerifiedOnce(t *testing.T) {
	t.Parallel()
	b := start(t, locked)
	if b.world.ResetRequests(); len(b.world.Requests()) > 0 {
		t.Error("the start asked Discord")
	}
	for range 3 {
		if a := b.call("guild_get", `{"guild_id":`+id(guild)+`}`); a.code != "" {
			t.Fatalf("the legitimate call: %s", a.data)
		}
	}
	asked := 0
	for _, r := range b.world.Requests() {
		if r.Path == "/users/@me" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestAnotherBotIsRefusedEverything(t *testing.T) {
	t.Parallel()
	b := start(t, func(d *discordtools.Deps) { d.Config.ExpectedBot = discord.UserID(nobody) })
	for _, call := range [][2]string{
		{"guild_get", `{"guild_id":` + id(guild) + `}`}, {"messages_send", `{"channel_id":` + id(general) + `,"content":"x"}`},
		{"users_modify_current", `{"username":"Keeper"}`}, {"users_get_current", `{}`},
		{"guild_get_widget_image_url", `{"guild_id":` + id(guild) + `}`},
	} {
		if a := b.call(call[0], call[1]); a.code != mcpcore.CodeBotUnresolved || !strings.Contains(a.text, string(sandbox.BotID)) {
			t.Errorf("%s: %s", call[0], a.data)
		}
	}
	for _, r := range b.world.Requests() {
		if r.Path != "/users/@me" {
			t.Errorf("Discord saw %s %s", r.Method, r.Path)
		}
	}
}

func TestIdentityIsAskedAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	b := start(t, locked)
	b.world.Inject(sandbox.Fault{Method: "GET", Route: "/users/@me", Status: 403})
	read := `{"guild_id":` + id(guild) + `}`
	if a := b.call("guild_get", read); a.code != mcpcore.CodePermission {
		t.Errorf("unverified: %s", a.data)
	}
	if a := b.call("guild_get", read); a.code != "" {
		t.Errorf("verified: %s", a.data)
	}
}

func TestVerifyIdentity(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		me    string // "" is no answer
		code  mcpcore.Code
		final bool
	}{
		"the bot":            {me: `{"id":"750000000000000001","bot":true}`},
		"another bot":        {me: `{"id":"750000000000000002","bot":true}`, code: mcpcore.CodeBotUnresolved, final: true},
		"a person":           {me: `{"id":"750000000000000001"}`, code: mcpcore.CodeBotUnresolved, final: true},
		"an answer of no id": {me: `{"bot":true}`, code: mcpcore.CodeBotUnresolved},
		"no answer":          {code: mcpcore.CodeNotFound},
	} {
		s := &shelf{}
		if row.me != "" {
			s.put("/users/@me", row.me)
		}
		err := discordtools.VerifyIdentity(t.Context(), s, "750000000000000001")
		e, told := errors.AsType[*mcpcore.Error](err)
		if (err != nil) != (row.code != "") || err != nil && (!told || e.Code != row.code) || errors.Is(err, discordtools.ErrOtherBot) != row.final {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := discordtools.VerifyIdentity(ended, &shelf{delay: time.Hour}, "750000000000000001"); err == nil || errors.Is(err, discordtools.ErrOtherBot) {
		t.Errorf("a context that is done: %v", err)
	}
}

// L33 A restriction that restricts nothing
func TestL33WhatCannotBeHeldIsNeitherListedNorRun(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(*discordtools.Config)
		hidden map[string]mcpcore.Code
		listed []string
	}{
		{"an allowlist alone", func(*discordtools.Config) {}, map[string]mcpcore.Code{
			"users_create_dm": mcpcore.CodeGuildUnresolved, "users_modify_current": mcpcore.CodeBotUnresolved,
		}, []string{"users_get_current", "users_get", "guild_get"}},
		{"with the lock", func(c *discordtools.Config) { c.ExpectedBot = sandbox.BotID }, map[string]mcpcore.Code{
			"users_create_dm": mcpcore.CodeGuildUnresolved,
		}, []string{"users_modify_current"}},
		{"with the lock and users let through", func(c *discordtools.Config) { c.ExpectedBot, c.UserScoped = sandbox.BotID, true },
			nil, []string{"users_modify_current", "users_create_dm"}},
		{"without an allowlist", func(c *discordtools.Config) { c.AllowedGuilds = nil }, nil, []string{"users_modify_current", "users_create_dm"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := start(t, homeOnly, func(d *discordtools.Deps) { row.change(&d.Config) })
			list, err := b.mcp.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			there := func(name string) bool {
				return slices.ContainsFunc(list.Tools, func(d *mcp.Tool) bool { return d.Name == name })
			}
			for name, code := range row.hidden {
				if there(name) {
					t.Errorf("%s is listed", name)
				}
				args := map[string]string{"users_create_dm": `{"recipient_id":` + id(tomo) + `}`, "users_modify_current": `{"username":"Keeper"}`}[name]
				res, err := b.mcp.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
				if err != nil {
					t.Fatal(err)
				}
				if got := res.StructuredContent.(map[string]any)["code"]; got != string(code) {
					t.Errorf("%s answers %v, want %s", name, got, code)
				}
			}
			for _, name := range row.listed {
				if !there(name) {
					t.Errorf("%s is not listed", name)
				}
			}
			if writes := b.world.Writes(); len(writes) > 0 {
				t.Errorf("Discord saw %s %s", writes[0].Method, writes[0].Path)
			}
		})
	}
}

func TestWhatHasNoGuildIsRefused(t *testing.T) {
	t.Parallel()
	b := start(t, homeOnly)
	dm := b.world.AddChannel(sandbox.Channel{Type: discord.DM, Recipients: []discord.UserID{sandbox.DemoMember}})
	thread := b.world.AddChannel(sandbox.Channel{Guild: sandbox.DemoClub, Type: discord.PublicThread, Name: "t", Parent: sandbox.DemoClubGeneral, Thread: &sandbox.Thread{Owner: sandbox.DemoReader}})
	for _, row := range []struct {
		shows, tool, args string
		code              mcpcore.Code
	}{
		{"a direct message", "messages_send", `{"channel_id":` + id(dm) + `,"content":"x"}`, mcpcore.CodeGuildUnresolved},
		{"another guild's thread", "messages_send", `{"channel_id":` + id(thread) + `,"content":"x"}`, mcpcore.CodeGuildNotAllowed},
		{"this guild's thread", "messages_send", `{"channel_id":` + id(sandbox.DemoThread) + `,"content":"x"}`, ""},
		{"a channel that is not there", "messages_send", `{"channel_id":` + id(nobody) + `,"content":"x"}`, mcpcore.CodeGuildUnresolved},
		{"leaving another guild", "users_leave_guild", `{"guild_id":` + id(sandbox.DemoClub) + `,"__confirm":true}`, mcpcore.CodeGuildNotAllowed},
		{"a forward from another guild", "messages_send", `{"channel_id":` + id(general) + `,"message_reference":{"type":1,"message_id":` + id(news) + `,"channel_id":` + id(sandbox.DemoClubReads) + `}}`, mcpcore.CodeGuildNotAllowed},
		{"followed into another guild", "channels_follow_announcement", `{"channel_id":` + id(sandbox.DemoAnnouncements) + `,"webhook_channel_id":` + id(sandbox.DemoClubGeneral) + `}`, mcpcore.CodeGuildNotAllowed},
	} {
		b.world.ResetRequests()
		a := b.call(row.tool, row.args)
		if a.code != row.code {
			t.Errorf("%s: code %q, want %q\n%s", row.shows, a.code, row.code, a.data)
		}
		if writes := b.world.Writes(); (len(writes) > 0) != (row.code == "") {
			t.Errorf("%s: %d writes", row.shows, len(writes))
		}
	}
}

func TestFailingDiscordIsNoPermission(t *testing.T) {
	t.Parallel()
	for _, fault := range []sandbox.Fault{{Status: 500, Times: 9}, {Status: 403}, {Reset: true, Times: 9}, {Truncate: true, Times: 9}} {
		b := start(t, homeOnly)
		fault.Method, fault.Route = "GET", "/channels/{channel_id}"
		b.world.Inject(fault)
		if a := b.call("messages_send", `{"channel_id":`+id(general)+`,"content":"x"}`); a.code != mcpcore.CodeGuildUnresolved {
			t.Errorf("%+v: %s", fault, a.data)
		}
		if writes := b.world.Writes(); len(writes) > 0 {
			t.Errorf("%+v: Discord saw a write", fault)
		}
	}
}

// ticket is a tool that an embedder brings.
func ticket[In any](effect mcpcore.Effect) mcpcore.Tool {
	type out struct {
		Done bool `json:"done"`
	}
	return mcpcore.Define(mcpcore.Tool{
		Name: "ticket_close", Title: "Close", Doc: "Closes a ticket of a guild.", Category: "tickets", Effect: effect, Gate: mcpcore.NoGate, Scope: mcpcore.GuildScope,
	}, func(context.Context, *mcpcore.Call, In) (out, error) { return out{true}, nil })
}

func TestToolsOfOnesOwnAreHeldToo(t *testing.T) {
	t.Parallel()
	type place struct {
		Desk struct {
			Channel discord.ChannelID `json:"channel_id" jsonschema:"channel"`
		} `json:"desk" jsonschema:"where"`
	}
	b := start(t, homeOnly, func(d *discordtools.Deps) { d.Tools = []mcpcore.Tool{ticket[place](mcpcore.Write)} })
	if a := b.call("ticket_close", `{"desk":{"channel_id":`+id(general)+`}}`); a.code != "" {
		t.Errorf("here: %s", a.data)
	}
	if a := b.call("ticket_close", `{"desk":{"channel_id":`+id(sandbox.DemoClubGeneral)+`}}`); a.code != mcpcore.CodeGuildNotAllowed {
		t.Errorf("elsewhere: %s", a.data)
	}
	type anywhere struct {
		Number int `json:"number" jsonschema:"number of the ticket"`
	}
	deps := discordtools.Deps{Session: b.world.Session(), Tools: []mcpcore.Tool{ticket[anywhere](mcpcore.Write)}}
	if _, err := discordtools.BuildServer(deps); err != nil {
		t.Errorf("without an allowlist: %v", err)
	}
	homeOnly(&deps)
	if _, err := discordtools.BuildServer(deps); err == nil || !strings.Contains(err.Error(), `tool "ticket_close"`) {
		t.Errorf("with an allowlist it starts: %v", err)
	}
	deps.Tools = []mcpcore.Tool{ticket[anywhere](mcpcore.Read)}
	if _, err := discordtools.BuildServer(deps); err != nil {
		t.Errorf("a tool that reads stops the start: %v", err)
	}
}

func TestContradictingScopesDoNotBuild(t *testing.T) {
	t.Parallel()
	drop := func(name string) func([]mcpcore.Middleware) []mcpcore.Middleware {
		return func(chain []mcpcore.Middleware) []mcpcore.Middleware {
			return slices.DeleteFunc(chain, func(m mcpcore.Middleware) bool { return m.Name == name })
		}
	}
	for name, row := range map[string]struct {
		config discordtools.Config
		chain  func([]mcpcore.Middleware) []mcpcore.Middleware
		says   string // "" builds
	}{
		"all of it": {config: discordtools.Config{AllowedGuilds: []discord.GuildID{sandbox.DemoGuild}, DefaultGuild: sandbox.DemoGuild, ExpectedBot: sandbox.BotID,
			UserScoped: true, Access: middleware.Enforce}},
		"nothing":                          {chain: drop("guild_scope")},
		"a guild that is none":             {config: discordtools.Config{AllowedGuilds: []discord.GuildID{"home"}}, says: "AllowedGuilds"},
		"a default guild outside":          {config: discordtools.Config{AllowedGuilds: []discord.GuildID{sandbox.DemoClub}, DefaultGuild: sandbox.DemoGuild}, says: "default guild"},
		"a bot that is none":               {config: discordtools.Config{ExpectedBot: "me"}, says: "ExpectedBot"},
		"users without the lock":           {config: discordtools.Config{UserScoped: true}, says: "UserScoped"},
		"a mode that is none":              {config: discordtools.Config{Access: 7}, says: "mode 7"},
		"an allowlist without its layer":   {config: discordtools.Config{AllowedGuilds: []discord.GuildID{sandbox.DemoGuild}}, chain: drop("guild_scope"), says: "guild_scope"},
		"a lock without its layer":         {config: discordtools.Config{ExpectedBot: sandbox.BotID}, chain: drop("guild_scope"), says: "guild_scope"},
		"enforced access without a layer":  {config: discordtools.Config{Access: middleware.Enforce}, chain: drop("runtime_access"), says: "runtime_access"},
		"a chain that drops another layer": {config: discordtools.Config{Access: middleware.Enforce}, chain: drop("default_guild")},
	} {
		_, err := discordtools.BuildServer(discordtools.Deps{Session: sandbox.Demo().Session(), Config: row.config, Chain: row.chain})
		if (err != nil) != (row.says != "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// forgets is an embedder's resolver that knows the guild and remembers it.
type forgets struct{ forgot int }

func (f *forgets) Kinds() []mcpcore.EvidenceKind {
	return []mcpcore.EvidenceKind{middleware.EvidenceGuild}
}

func (f *forgets) Resolve(context.Context, mcpcore.EvidenceRef) (mcpcore.Evidence, error) {
	return mcpcore.Evidence{Complete: true, Data: middleware.GuildRights{Guild: sandbox.DemoGuild}}, nil
}

func (f *forgets) Forget() { f.forgot++ }

func TestResolverOfOnesOwnGoesFirst(t *testing.T) {
	t.Parallel()
	f := &forgets{}
	b := start(t, enforced, func(d *discordtools.Deps) { d.Evidence = []mcpcore.EvidenceResolver{f} })
	if a := b.call("roles_create", `{"guild_id":`+id(guild)+`,"name":"x"}`); a.code != mcpcore.CodeAccessDenied {
		t.Errorf("code %q", a.code)
	}
	if f.forgot != 2 {
		t.Errorf("it was told to forget %d times", f.forgot)
	}
}
