package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/middleware"
)

// facts is a resolver of what it is told: "kind key" to an answer, an error, or
// nothing, which is partial.
type facts struct {
	mu     sync.Mutex
	known  map[string]any
	asked  []string
	forgot int
}

func (f *facts) Kinds() []mcpcore.EvidenceKind {
	return []mcpcore.EvidenceKind{
		middleware.EvidenceIdentity, middleware.EvidenceIntents, middleware.EvidenceGuild, middleware.EvidenceChannel,
		middleware.EvidenceWebhook, middleware.EvidenceInvite, middleware.EvidenceHierarchy,
	}
}

func (f *facts) Resolve(_ context.Context, ref mcpcore.EvidenceRef) (mcpcore.Evidence, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	question := strings.TrimSpace(string(ref.Kind) + " " + ref.Key)
	f.asked = append(f.asked, question)
	switch v := f.known[question].(type) {
	case nil:
		return mcpcore.Evidence{}, nil
	case error:
		return mcpcore.Evidence{}, v
	default:
		return mcpcore.Evidence{Complete: true, Data: v}, nil
	}
}

func (f *facts) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgot++
}

const voice1, thread1 = "710000000000000021", "710000000000000031"

// granted is a bot with SEND_MESSAGES and KICK_MEMBERS at home.
func granted() *facts {
	const p = discord.ViewChannel | discord.SendMessages | discord.KickMembers
	return &facts{known: map[string]any{
		"identity": discord.UserID(bot), "intents": discord.GuildMembers,
		"guild " + string(home):   middleware.GuildRights{Guild: home, Permissions: p},
		"channel " + chan1:        middleware.ChannelRights{Guild: home, Type: discord.GuildText, Permissions: p},
		"channel " + chan1b:       middleware.ChannelRights{Guild: home, Type: discord.GuildText, Permissions: discord.ViewChannel},
		"channel " + chan2:        middleware.ChannelRights{Guild: other, Type: discord.GuildText, Permissions: p},
		"channel " + thread1:      middleware.ChannelRights{Guild: home, Type: discord.PublicThread, Permissions: p | discord.ManageChannels},
		"channel " + direct:       middleware.ChannelRights{Type: discord.DM, Permissions: discord.KnownPermissions},
		"channel " + lost:         mcpcore.Errorf(mcpcore.CodeNotFound, "canary"),
		"webhook " + hook1:        middleware.Place{Guild: home, Channel: chan1b},
		"invite home":             middleware.Place{Guild: home, Channel: chan1},
		"invite guild":            middleware.Place{Guild: home},
		"hierarchy " + low:        middleware.Satisfied,
		"hierarchy " + high:       middleware.NotSatisfied,
		"hierarchy " + lowRole:    middleware.Satisfied,
		"hierarchy " + highRole:   middleware.NotSatisfied,
		"hierarchy " + weirdRole:  middleware.Standing("nonsense"),
		"hierarchy " + brokenRole: errors.New("canary"),
	}}
}

const lowUser, highUser = "760000000000000001", "760000000000000002"

var (
	low        = middleware.HierarchyKey(home, discord.KindUser, lowUser)
	high       = middleware.HierarchyKey(home, discord.KindUser, highUser)
	lowRole    = middleware.HierarchyKey(home, discord.KindRole, role1)
	highRole   = middleware.HierarchyKey(home, discord.KindRole, role2)
	weirdRole  = middleware.HierarchyKey(home, discord.KindRole, "720000000000000003")
	brokenRole = middleware.HierarchyKey(home, discord.KindRole, "720000000000000004")
)

// The inputs of tools that demand something.
type (
	kick struct {
		Guild discord.GuildID  `json:"guild_id" jsonschema:"guild"`
		User  discord.UserID   `json:"user_id,omitempty" jsonschema:"user"`
		Users []discord.UserID `json:"user_ids,omitempty" jsonschema:"users"`
		Order []place          `json:"positions,omitempty" jsonschema:"roles"`
	}
	place struct {
		ID discord.RoleID `json:"id"`
	}
	edit struct {
		Guild   discord.GuildID    `json:"guild_id" jsonschema:"guild"`
		Nick    string             `json:"nick,omitempty" jsonschema:"name"`
		Channel *discord.ChannelID `json:"channel_id,omitempty" jsonschema:"channel"`
		Raise   *string            `json:"raise,omitempty" jsonschema:"hand"`
		Other   string             `json:"other,omitempty" jsonschema:"other"`
	}
	follow struct {
		From discord.ChannelID   `json:"channel_id" jsonschema:"channel"`
		To   discord.ChannelID   `json:"to_id" jsonschema:"channel"`
		More []discord.ChannelID `json:"more,omitempty" jsonschema:"channels"`
	}
)

func demanding() []mcpcore.Tool {
	needs := func(p discord.Permissions) func(*mcpcore.Tool) { return func(t *mcpcore.Tool) { t.Needs = p } }
	outranks := func(arg string) func(*mcpcore.Tool) { return func(t *mcpcore.Tool) { t.Outranks = arg } }
	return []mcpcore.Tool{
		tool[kick]("kick", mcpcore.Write, mcpcore.GuildScope, needs(discord.KickMembers), outranks("user_id")),
		tool[kick]("kick_many", mcpcore.Write, mcpcore.GuildScope, needs(discord.KickMembers), outranks("user_ids")),
		tool[kick]("order", mcpcore.Write, mcpcore.GuildScope, outranks("positions")),
		tool[kick]("ban", mcpcore.Write, mcpcore.GuildScope, needs(discord.BanMembers|discord.KickMembers), outranks("user_id")),
		tool[kick]("members", mcpcore.Read, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.Intents = discord.GuildMembers }),
		tool[kick]("contents", mcpcore.Read, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.Intents = discord.GuildMembers | discord.MessageContent }),
		tool[kick]("free", mcpcore.Read, mcpcore.GuildScope),
		tool[post]("send", mcpcore.Write, mcpcore.ChannelScope, needs(discord.SendMessages)),
		tool[post]("see", mcpcore.Read, mcpcore.ChannelScope),
		tool[post]("rename", mcpcore.Write, mcpcore.ChannelScope, needs(discord.ManageChannels)),
		tool[follow]("intersect", mcpcore.Write, mcpcore.ChannelScope, needs(discord.SendMessages)),
		tool[follow]("follow", mcpcore.Write, mcpcore.ChannelScope, needs(discord.SendMessages), func(t *mcpcore.Tool) { t.NeedsIn, t.Crosses = "to_id", true }),
		tool[hook]("hook", mcpcore.Write, mcpcore.ChannelScope, needs(discord.SendMessages)),
		tool[hook]("execute", mcpcore.Write, mcpcore.ChannelScope, needs(discord.Administrator), func(t *mcpcore.Tool) { t.Anonymous = true }),
		tool[code]("code", mcpcore.Write, mcpcore.GuildScope, needs(discord.SendMessages)),
		tool[settings]("here", mcpcore.Write, mcpcore.LocalScope, needs(discord.Administrator)),
		tool[anywhere]("adrift", mcpcore.Write, mcpcore.GlobalScope, needs(discord.KickMembers)),
		tool[edit]("edit", mcpcore.Write, mcpcore.GuildScope, func(t *mcpcore.Tool) {
			t.NeedsWhen = []mcpcore.Need{
				{Arg: "nick", Permissions: discord.ManageNicknames},
				{Arg: "channel_id", Permissions: discord.SendMessages},
				{Arg: "channel_id", Unless: "null", Permissions: discord.Connect},
				{Arg: "raise", Permissions: discord.RequestToSpeak},
				{Arg: "raise", Equals: "null"},
			}
		}),
	}
}

func weighed(mode middleware.AccessMode, f *facts, log *slog.Logger) []mcpcore.Middleware {
	return middleware.Standard(middleware.Options{Access: middleware.Access{Mode: mode, Bot: bot, Forget: f.Forget, Logger: log}})
}

func resolving(f *facts, tools ...mcpcore.Tool) func(*mcpcore.Deps) {
	return func(d *mcpcore.Deps) { d.Tools, d.Evidence = tools, []mcpcore.EvidenceResolver{f} }
}

func TestEnforcedAccess(t *testing.T) {
	t.Parallel()
	const (
		denied  = "RUNTIME_ACCESS_DENIED"
		unknown = "RUNTIME_ACCESS_UNKNOWN"
		in      = `{"guild_id":"` + string(home) + `"`
	)
	set := func(question string, answer any) func(*facts) {
		return func(f *facts) { f.known[question] = answer }
	}
	for _, row := range []struct {
		name, tool, args, code string
		change                 func(*facts)
		permissions, intents   []string
		hierarchy, reason      string
	}{
		{name: "all is there", tool: "kick", args: in + `,"user_id":"` + lowUser + `"}`},
		{name: "above its target", tool: "kick", args: in + `,"user_id":"` + highUser + `"}`, code: denied, hierarchy: "not_satisfied"},
		{name: "one of several is above", tool: "kick_many", args: in + `,"user_ids":["` + lowUser + `","` + highUser + `"]}`, code: denied, hierarchy: "not_satisfied"},
		{name: "several below", tool: "kick_many", args: in + `,"user_ids":["` + lowUser + `"]}`},
		{name: "an argument that is no target", tool: "kick_many", args: in + `,"user_id":"` + highUser + `"}`},
		{name: "roles in a list", tool: "order", args: in + `,"positions":[{"id":"` + role1 + `"}]}`},
		{name: "a role in a list is above", tool: "order", args: in + `,"positions":[{"id":"` + role1 + `"},{"id":"` + role2 + `"}]}`, code: denied, hierarchy: "not_satisfied"},
		{name: "a standing that is none", tool: "order", args: in + `,"positions":[{"id":"720000000000000003"}]}`, code: unknown, reason: "positions.0.id"},
		{name: "a standing that cannot be read", tool: "order", args: in + `,"positions":[{"id":"720000000000000004"}]}`, code: unknown, reason: "cannot be told"},
		{name: "a standing that is not complete", tool: "kick", args: in + `,"user_id":"` + lost + `"}`, code: unknown, reason: "user_id"},
		{name: "a permission is missing", tool: "ban", args: in + `,"user_id":"` + lowUser + `"}`, code: denied, permissions: []string{"BAN_MEMBERS"}},
		{name: "everything is missing", tool: "ban", args: in + `,"user_id":"` + highUser + `"}`, code: denied, permissions: []string{"KICK_MEMBERS", "BAN_MEMBERS"}, hierarchy: "not_satisfied",
			change: set("guild "+string(home), middleware.GuildRights{Guild: home})},
		{name: "no requirement at all", tool: "free", args: in + `}`, change: set("identity", errors.New("canary"))},
		{name: "no identity", tool: "kick", args: in + `}`, code: unknown, reason: "identity", change: set("identity", errors.New("canary"))},
		{name: "partial identity", tool: "kick", args: in + `}`, code: unknown, reason: "identity", change: set("identity", nil)},
		{name: "another bot", tool: "kick", args: in + `}`, code: denied, change: set("identity", discord.UserID(foreignBot))},
		{name: "no guild", tool: "kick", args: in + `}`, code: unknown, reason: "DISCORD_AUTH_INVALID", change: set("guild "+string(home), mcpcore.Errorf(mcpcore.CodeAuthInvalid, "canary"))},
		{name: "partial guild", tool: "kick", args: in + `}`, code: unknown, reason: "permissions", change: set("guild "+string(home), nil)},
		{name: "evidence of another type", tool: "kick", args: in + `}`, code: unknown, change: set("guild "+string(home), "all of them")},
		{name: "intent", tool: "members", args: in + `}`},
		{name: "one intent is missing", tool: "contents", args: in + `}`, code: denied, intents: []string{"MESSAGE_CONTENT"}},
		{name: "intents unknown", tool: "members", args: in + `}`, code: unknown, reason: "intents", change: set("intents", nil)},
		{name: "unknown goes before denied", tool: "ban", args: in + `,"user_id":"` + lost + `"}`, code: unknown},

		{name: "channel", tool: "send", args: `{"channel_id":"` + chan1 + `"}`},
		{name: "not in this channel", tool: "send", args: `{"channel_id":"` + chan1b + `"}`, code: denied, permissions: []string{"SEND_MESSAGES"}},
		{name: "channel that is not there", tool: "send", args: `{"channel_id":"` + lost + `"}`, code: unknown, reason: "DISCORD_NOT_FOUND"},
		{name: "nested channels do not count", tool: "send", args: `{"channel_id":"` + chan1 + `","from":{"channel_id":"` + lost + `"}}`},
		{name: "a channel is seen", tool: "see", args: `{"channel_id":"` + chan1b + `"}`},
		{name: "a channel is not seen", tool: "see", args: `{"channel_id":"` + chan1 + `"}`, code: denied, permissions: []string{"VIEW_CHANNEL"},
			change: set("channel "+chan1, middleware.ChannelRights{Guild: home})},
		{name: "direct message", tool: "send", args: `{"channel_id":"` + direct + `"}`},
		{name: "thread without its permission", tool: "send", args: `{"channel_id":"` + thread1 + `"}`, code: denied, permissions: []string{"SEND_MESSAGES_IN_THREADS"}},
		{name: "thread with its permission", tool: "send", args: `{"channel_id":"` + thread1 + `"}`,
			change: set("channel "+thread1, middleware.ChannelRights{Guild: home, Type: discord.PrivateThread, Permissions: discord.ViewChannel | discord.SendMessagesInThreads})},
		{name: "thread is managed otherwise", tool: "rename", args: `{"channel_id":"` + thread1 + `"}`, code: denied, permissions: []string{"MANAGE_THREADS"}},
		{name: "two channels", tool: "intersect", args: `{"channel_id":"` + chan1 + `","to_id":"` + chan1b + `"}`, code: denied, permissions: []string{"SEND_MESSAGES"}},
		{name: "two channels and a list", tool: "intersect", args: `{"channel_id":"` + chan1 + `","to_id":"` + chan1 + `","more":["` + chan1b + `"]}`, code: denied, permissions: []string{"SEND_MESSAGES"}},
		{name: "channels of two guilds", tool: "intersect", args: `{"channel_id":"` + chan1 + `","to_id":"` + chan2 + `"}`, code: unknown},
		{name: "the channel that counts", tool: "follow", args: `{"channel_id":"` + chan1b + `","to_id":"` + chan2 + `"}`},
		{name: "the channel that counts lacks it", tool: "follow", args: `{"channel_id":"` + chan1 + `","to_id":"` + chan1b + `"}`, code: denied, permissions: []string{"SEND_MESSAGES"}},
		{name: "where a webhook is", tool: "hook", args: `{"webhook_id":"` + hook1 + `"}`, code: denied, permissions: []string{"SEND_MESSAGES"}},
		{name: "a webhook that is not there", tool: "hook", args: `{"webhook_id":"` + lost + `"}`, code: unknown},
		{name: "by a token", tool: "execute", args: `{"webhook_id":"` + lost + `"}`},
		{name: "where an invite leads", tool: "code", args: `{"code":"home"}`},
		{name: "an invite to a guild", tool: "code", args: `{"code":"guild"}`},
		{name: "here", tool: "here", args: in + `}`},
		{name: "nowhere", tool: "adrift", args: `{}`, code: unknown, reason: "names no guild and no channel"},

		{name: "an argument calls for more", tool: "edit", args: in + `,"nick":"x"}`, code: denied, permissions: []string{"MANAGE_NICKNAMES"}},
		{name: "null does not call for it", tool: "edit", args: in + `,"channel_id":null}`},
		{name: "a value does", tool: "edit", args: in + `,"channel_id":"` + chan1 + `"}`, code: denied, permissions: []string{"CONNECT"}},
		{name: "an exact value wins", tool: "edit", args: in + `,"raise":null}`},
		{name: "another value does not", tool: "edit", args: in + `,"raise":"now"}`, code: denied, permissions: []string{"REQUEST_TO_SPEAK"}},
		{name: "nothing is said of it", tool: "edit", args: in + `,"other":"x"}`, code: unknown, reason: "no requirement"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := granted()
			if row.change != nil {
				row.change(f)
			}
			got, data := serve(t, weighed(middleware.Enforce, f, nil), resolving(f, demanding()...)).call(row.tool, row.args)
			if row.code == "" {
				if !strings.HasPrefix(got, "{") {
					t.Errorf("answers %s: %v", got, data)
				}
				return
			}
			if got != row.code || data["tool"] != row.tool {
				t.Fatalf("answers %s, want %s: %v", got, row.code, data)
			}
			if strings.Contains(fmt.Sprint(data), "canary") {
				t.Errorf("it repeats what was said: %v", data)
			}
			if got == unknown {
				if reason, _ := data["reason"].(string); !strings.Contains(reason, row.reason) || reason == "" {
					t.Errorf("the reason is %q, want %q in it", reason, row.reason)
				}
				return
			}
			if row.hierarchy == "" {
				row.hierarchy = "satisfied"
			}
			want := fmt.Sprint(row.permissions, row.intents, row.hierarchy)
			if got := fmt.Sprint(data["missing_permissions"], data["missing_intents"], data["hierarchy"]); got != want && !(row.permissions == nil && row.intents == nil && row.hierarchy == "satisfied") {
				t.Errorf("it misses %s, want %s", got, want)
			}
		})
	}
}

func TestAdvisoryAsksNothing(t *testing.T) {
	t.Parallel()
	f := granted()
	s := serve(t, weighed(middleware.Advisory, f, nil), resolving(f, demanding()...))
	if got, _ := s.call("ban", `{"guild_id":"`+string(other)+`","user_id":"`+highUser+`"}`); !strings.HasPrefix(got, "{") {
		t.Errorf("answers %s", got)
	}
	if len(f.asked) > 0 {
		t.Errorf("asked %v", f.asked)
	}
}

func TestWarnLogsAndGoesOn(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := granted()
	s := serve(t, weighed(middleware.Warn, f, slog.New(slog.NewJSONHandler(&log, nil))), resolving(f, demanding()...))
	for _, call := range [][2]string{
		{"ban", `{"guild_id":"` + string(home) + `","user_id":"` + highUser + `"}`}, {"send", `{"channel_id":"` + lost + `"}`},
		{"kick", `{"guild_id":"` + string(home) + `","user_id":"` + lowUser + `"}`},
	} {
		if got, _ := s.call(call[0], call[1]); !strings.HasPrefix(got, "{") {
			t.Errorf("%s answers %s", call[0], got)
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("want a line for each gap:\n%s", log.String())
	}
	for i, want := range [][]string{
		{`"level":"WARN"`, `"tool":"ban"`, `"code":"RUNTIME_ACCESS_DENIED"`, `"missing_permissions":["BAN_MEMBERS"]`, `"hierarchy":"not_satisfied"`},
		{`"tool":"send"`, `"code":"RUNTIME_ACCESS_UNKNOWN"`, `"reason":"the bot's permissions: DISCORD_NOT_FOUND"`},
	} {
		for _, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("%s\nlacks %s", lines[i], w)
			}
		}
	}
	if strings.Contains(log.String(), "canary") {
		t.Errorf("it repeats what Discord said: %s", log.String())
	}
}

func TestWritesForgetEvidenceBeforeAndAfter(t *testing.T) {
	t.Parallel()
	for _, mode := range []middleware.AccessMode{middleware.Advisory, middleware.Warn, middleware.Enforce} {
		f := granted()
		s := serve(t, weighed(mode, f, nil), resolving(f, demanding()...))
		s.call("free", `{"guild_id":"`+string(home)+`"}`)
		if f.forgot != 0 {
			t.Errorf("mode %d: a read forgets", mode)
		}
		s.call("kick", `{"guild_id":"`+string(home)+`","user_id":"`+lowUser+`"}`)
		if f.forgot != 2 {
			t.Errorf("mode %d: a write forgets %d times", mode, f.forgot)
		}
	}
}

func TestEvidenceIsAskedOncePerCall(t *testing.T) {
	t.Parallel()
	f := granted()
	s := serve(t, weighed(middleware.Enforce, f, nil), resolving(f, demanding()...))
	s.call("intersect", `{"channel_id":"`+chan1+`","to_id":"`+chan1+`","more":["`+chan1+`"]}`)
	if want := []string{"identity", "channel " + chan1}; !slices.Equal(f.asked, want) {
		t.Errorf("asked %v, want %v", f.asked, want)
	}
}
