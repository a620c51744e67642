package discordtools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// builder is a bench on an empty guild, whose server may carry blueprints out
// there.
type builder struct {
	*bench
	guild discord.GuildID
}

func newBuilder(t *testing.T, change ...func(*discordtools.Deps)) *builder {
	t.Helper()
	world := sandbox.New(sandbox.Options{})
	guild := world.AddGuild(sandbox.Guild{Name: "Empty"}, discord.ViewChannel|discord.SendMessages|discord.ReadMessageHistory|discord.Connect|discord.Speak)
	role := world.AddRole(guild, sandbox.Role{Name: "Bot", Permissions: discord.Administrator})
	world.AddMember(guild, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{role}})
	b := startOn(t, world, append([]func(*discordtools.Deps){func(d *discordtools.Deps) {
		d.Config.ExpectedBot, d.Config.AllowedGuilds, d.Clock = sandbox.BotID, []discord.GuildID{guild}, nil
	}}, change...)...)
	return &builder{b, guild}
}

type planAnswer struct {
	Status   string `json:"status"`
	Plan     string `json:"plan_id"`
	Approval string `json:"approval_id"`
	Ref      string `json:"plan_ref"`
	Token    string `json:"plan_token"`
	Blockers []struct {
		Code string `json:"code"`
	} `json:"blockers"`
	Summary struct {
		Total int `json:"total_operations"`
	} `json:"summary"`
}

func (b *builder) plan(args string) (p planAnswer) {
	b.Helper()
	a := b.call("guild_blueprint_plan", args)
	if a.code != "" {
		b.Fatalf("plan %s: %s", args, a.data)
	}
	b.read(a, &p)
	return p
}

func (b *builder) read(a answer, v any) {
	b.Helper()
	if err := json.Unmarshal(a.data, v); err != nil {
		b.Fatal(err)
	}
}

type applyAnswer struct {
	Status   string `json:"status"`
	Next     string `json:"next_action"`
	Blockers []struct {
		Code string `json:"code"`
	} `json:"blockers"`
	Progress struct {
		Left int `json:"remaining"`
	} `json:"progress"`
	Evidence struct {
		Readback string `json:"readback"`
	} `json:"evidence"`
}

func (b *builder) applyArgs(p planAnswer) string {
	return fmt.Sprintf(`{"guild_id":%q,"expected_bot_id":%q,"plan_ref":%q,"approval_id":%q`, b.guild, sandbox.BotID, p.Ref, p.Approval)
}

func (b *builder) apply(p planAnswer) (v applyAnswer) {
	b.Helper()
	a := b.call("guild_blueprint_apply", b.applyArgs(p)+`,"operation_budget":50,"__confirm":true}`)
	if a.code != "" {
		b.Fatalf("apply: %s", a.data)
	}
	b.read(a, &v)
	return v
}

// TestBlueprintTools goes the whole way as an agent does.
func TestBlueprintTools(t *testing.T) {
	t.Parallel()
	b := newBuilder(t)
	compiled := b.call("guild_blueprint_compile", `{"request":"small study group","preferred_primary_code":"no-such-1","template_codes":["no-such-2"]}`)
	covered.note("guild_blueprint_compile", compiled.code == "")
	var c struct {
		Blueprint json.RawMessage `json:"blueprint"`
	}
	b.read(compiled, &c)
	p := b.plan(fmt.Sprintf(`{"blueprint":%s,"guild_id":%q,"expected_bot_id":%q,"adopt":true}`, c.Blueprint, b.guild, sandbox.BotID))
	if p.Status != "ready" || p.Ref == "" || p.Token == "" {
		t.Fatalf("the plan is %+v", p)
	}
	covered.note("guild_blueprint_plan", true)
	if a := b.call("guild_blueprint_apply", b.applyArgs(p)+"}"); a.code != mcpcore.CodeDryRun || !strings.Contains(string(a.data), "of high risk") {
		t.Fatalf("without its confirmation it answers %s", a.data)
	}
	byToken := fmt.Sprintf(`{"guild_id":%q,"expected_bot_id":%q,"plan_token":%q,"approval_id":%q,"operation_budget":3,"__confirm":true}`, b.guild, sandbox.BotID, p.Token, p.Approval)
	if a := b.call("guild_blueprint_apply", byToken); !strings.Contains(string(a.data), `"attempted_this_call":3`) {
		t.Fatalf("three operations by the token answer %s", a.data)
	}
	for calls := 0; ; calls++ {
		v := b.apply(p)
		if v.Status == "complete" && v.Evidence.Readback == "match" {
			break
		}
		if v.Next != "resume" || calls > 5 {
			t.Fatalf("apply answers %+v", v)
		}
	}
	covered.note("guild_blueprint_apply", true)
	e := b.call("guild_blueprint_evidence", fmt.Sprintf(`{"guild_id":%q,"expected_bot_id":%q,"plan_id":%q}`, b.guild, sandbox.BotID, p.Plan))
	if !strings.Contains(string(e.data), `"status":"verified"`) || !strings.Contains(e.text, "MCP_BLUEPRINT_RECEIPT {") {
		t.Errorf("the evidence is %s", e.data)
	}
	covered.note("guild_blueprint_evidence", e.code == "")
	if again := b.plan(`{"blueprint":` + string(c.Blueprint) + `}`); again.Status != "already_current" || again.Summary.Total != 0 {
		t.Errorf("a second plan is %+v", again)
	}
	if other := b.plan(`{"request":"a gaming server","preferred_primary_code":"no-such-1","template_codes":["no-such-2"]}`); other.Status != "blocked" {
		t.Errorf("another blueprint on the same names is %+v", other) // roles and channels of the same names differ
	}
}

// A plan acts with both keys alone, and only for who planned it, where it was
// planned for.
func TestBlueprintNeedsBothKeys(t *testing.T) {
	t.Parallel()
	b := newBuilder(t)
	p := b.plan(`{"request":"small support desk"}`)
	b.world.ResetRequests()
	for _, flag := range []string{"", `,"__confirm":"true"`, `,"__confirm":1`, `,"__confirm":null`, `,"__confirm":false`} {
		if a := b.call("guild_blueprint_apply", b.applyArgs(p)+flag+"}"); a.code != mcpcore.CodeDryRun {
			t.Errorf("with %q it answers %s", flag, a.data)
		}
	}
	if writes := b.world.Writes(); len(writes) > 0 {
		t.Errorf("without its confirmation it wrote %d times", len(writes))
	}
	covered.note("guild_blueprint_apply", false)
	unarmed := startOn(t, b.world, func(d *discordtools.Deps) {
		d.Config = discordtools.Config{ExpectedBot: sandbox.BotID, AllowedGuilds: []discord.GuildID{b.guild}}
		d.Clock = nil
	})
	mine := (&builder{unarmed, b.guild}).plan(`{"request":"small support desk"}`)
	if a := unarmed.call("guild_blueprint_apply", b.applyArgs(mine)+`,"__confirm":true}`); a.code != mcpcore.CodeDryRun {
		t.Errorf("without the operator's key it answers %s", a.data)
	}
	wrong := strings.Repeat("0", 64)
	for shows, r := range map[string][3]string{ // ref, approval, blocker
		"no plan":           {"", p.Approval, "PLAN_REFERENCE_XOR_REQUIRED"},
		"an unknown plan":   {"dmbpr1." + wrong, p.Approval, "PLAN_REFERENCE_INVALID"},
		"another approval":  {p.Ref, "sha256:" + wrong, "APPROVAL_MISMATCH"},
		"another server's":  {mine.Ref, mine.Approval, "PLAN_REFERENCE_INVALID"},
		"the right of both": {p.Ref, p.Approval, ""},
	} {
		args := fmt.Sprintf(`{"guild_id":%q,"expected_bot_id":%q,"approval_id":%q`, b.guild, sandbox.BotID, r[1])
		if r[0] != "" {
			args += fmt.Sprintf(`,"plan_ref":%q`, r[0])
		}
		a := b.call("guild_blueprint_apply", args+"}")
		switch {
		case r[2] == "" && a.code != mcpcore.CodeDryRun, r[2] != "" && !strings.Contains(string(a.data), `"code":"`+r[2]+`"`):
			t.Errorf("%s: %s", shows, a.data)
		}
	}
	for token, code := range map[string]string{"dmbp1.x.y.z": "PLAN_TOKEN_INVALID", p.Token + "A": "PLAN_TOKEN_INVALID"} {
		a := b.call("guild_blueprint_apply", fmt.Sprintf(`{"guild_id":%q,"expected_bot_id":%q,"approval_id":%q,"plan_token":%q,"__confirm":true}`, b.guild, sandbox.BotID, p.Approval, token))
		if !strings.Contains(string(a.data), code) {
			t.Errorf("a changed token: %s", a.data)
		}
	}
	if writes := b.world.Writes(); len(writes) > 0 {
		t.Errorf("it wrote %d times", len(writes))
	}
}

// What the configuration does not allow is answered before Discord is asked.
func TestBlueprintBoundary(t *testing.T) {
	t.Parallel()
	const other = "1234567890123456789"
	lock := func(d *discordtools.Deps) { d.Config.ExpectedBot = sandbox.BotID }
	for _, r := range []struct {
		shows      string
		change     func(*discordtools.Deps)
		guild, bot string
		want       string
	}{
		{"no bot is locked", func(d *discordtools.Deps) { d.Config.ExpectedBot = "" }, "", string(sandbox.BotID), "CONFIG_EXPECTED_BOT_REQUIRED"},
		{"another bot", nil, "", other, "EXPECTED_BOT_MISMATCH"},
		{"no guilds are listed", func(d *discordtools.Deps) { lock(d); d.Config.AllowedGuilds = nil }, "", string(sandbox.BotID), "CONFIG_GUILD_ALLOWLIST_REQUIRED"},
		{"another guild", nil, other, string(sandbox.BotID), "TARGET_GUILD_NOT_ALLOWED"},
	} {
		t.Run(r.shows, func(t *testing.T) {
			t.Parallel()
			b := newBuilder(t, func(d *discordtools.Deps) {
				if r.change != nil {
					r.change(d)
				}
			})
			guild := r.guild
			if guild == "" {
				guild = string(b.guild)
			}
			b.world.ResetRequests()
			at := fmt.Sprintf(`{"guild_id":%q,"expected_bot_id":%q`, guild, r.bot)
			for tool, args := range map[string]string{
				"guild_blueprint_plan":     `,"request":"a community"}`,
				"guild_blueprint_evidence": `,"plan_id":"` + anyDigest + `"}`,
			} {
				a := b.call(tool, at+args)
				if a.code != "" || !strings.Contains(string(a.data), `"status":"blocked"`) || !strings.Contains(string(a.data), r.want) {
					t.Errorf("%s: %s", tool, a.data)
				}
			}
			if sent := b.sent(); len(sent) > 0 {
				t.Errorf("Discord was asked %q", sent)
			}
		})
	}
	b := newBuilder(t, func(d *discordtools.Deps) { d.Config.DefaultGuild = d.Config.AllowedGuilds[0] })
	for tool, more := range map[string]string{"guild_blueprint_apply": `,"approval_id":"` + anyDigest + `"`, "guild_blueprint_evidence": `,"plan_id":"` + anyDigest + `"`} {
		a := b.call(tool, fmt.Sprintf(`{"expected_bot_id":%q%s}`, sandbox.BotID, more))
		covered.note(tool, false)
		if a.code != mcpcore.CodeValidation || !strings.Contains(string(a.data), mcpcore.IssueExplicit) {
			t.Errorf("%s takes the default guild: %s", tool, a.data)
		}
	}
	several := newBuilder(t, func(d *discordtools.Deps) { d.Config.AllowedGuilds = append(d.Config.AllowedGuilds, other) })
	a := several.call("guild_blueprint_plan", `{"request":"a community"}`)
	covered.note("guild_blueprint_plan", false)
	if a.code != mcpcore.CodeValidation || !strings.Contains(string(a.data), "target_selection_required") {
		t.Errorf("of several guilds it chose one: %s", a.data)
	}
}

// A blueprint that is not valid is refused with everything that is wrong.
func TestBlueprintPlanRefuses(t *testing.T) {
	t.Parallel()
	b := newBuilder(t)
	a := b.call("guild_blueprint_plan", `{"blueprint":{"schema_version":"guild_blueprint.v1","roles":[{"key":"a","name":"A","permissions":["ADMINISTRATOR"]}],
		"channels":[{"key":"c","name":"Not A Name","type":"text","parent_key":"x"}]}}`)
	if a.code != mcpcore.CodeValidation || !strings.Contains(string(a.data), "blueprint.channels.0.parent_key") {
		t.Errorf("a dangling key answers %s", a.data)
	}
	a = b.call("guild_blueprint_plan", `{"blueprint":{"schema_version":"guild_blueprint.v1","roles":[{"key":"a","name":"A","permissions":["ADMINISTRATOR"]}],
		"channels":[{"key":"c","name":"Not A Name","type":"text"}]}}`)
	for _, path := range []string{"blueprint.roles.0.permissions", "blueprint.channels.0.name"} {
		if a.code != mcpcore.CodeValidation || !strings.Contains(string(a.data), path) {
			t.Errorf("it does not speak of %s: %s", path, a.data)
		}
	}
	for _, tool := range []string{"guild_blueprint_compile", "templates_recommend"} {
		a := b.call(tool, `{"request":"no"}`)
		covered.note(tool, false)
		if a.code != mcpcore.CodeValidation {
			t.Errorf("%s: %s", tool, a.data)
		}
	}
}

// Progress is told before each operation.
func TestBlueprintApplyTellsItsProgress(t *testing.T) {
	t.Parallel()
	world := sandbox.New(sandbox.Options{})
	guild := world.AddGuild(sandbox.Guild{Name: "Empty"}, discord.ViewChannel)
	role := world.AddRole(guild, sandbox.Role{Name: "Bot", Permissions: discord.Administrator})
	world.AddMember(guild, sandbox.Member{User: sandbox.BotID, Roles: []discord.RoleID{role}})
	server, err := discordtools.BuildServer(discordtools.Deps{
		Session: world.Session(), Config: discordtools.Config{Armed: true, ExpectedBot: sandbox.BotID, AllowedGuilds: []discord.GuildID{guild}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ct, st := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), st, nil); err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 16)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			told <- fmt.Sprintf("%v/%v %s", r.Params.Progress, r.Params.Total, r.Params.Message)
		},
	}).Connect(t.Context(), ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	b := &builder{&bench{T: t, mcp: session, world: world}, guild}
	p := b.plan(`{"blueprint":{"schema_version":"guild_blueprint.v1","roles":[{"key":"a","name":"A"},{"key":"b","name":"B"}]}}`)
	params := &mcp.CallToolParams{Name: "guild_blueprint_apply", Arguments: json.RawMessage(b.applyArgs(p) + `,"__confirm":true}`)}
	params.SetProgressToken("p")
	if _, err := session.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`0/2 create role "B"`, `1/2 create role "A"`} {
		if got := <-told; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

// With an approval by a person switched on, a plan acts once for each approval.
func TestBlueprintApplyAsksAPerson(t *testing.T) {
	t.Parallel()
	b := newBuilder(t, func(d *discordtools.Deps) { d.Config.Person = discordtools.PersonGated })
	p := b.plan(`{"blueprint":{"schema_version":"guild_blueprint.v1","roles":[{"key":"a","name":"A"}]}}`)
	a := b.call("guild_blueprint_apply", b.applyArgs(p)+`,"__confirm":true}`)
	if a.code != mcpcore.CodeHumanRequired || len(b.world.Writes()) > 0 {
		t.Errorf("without a person it answers %s", a.data)
	}
}

// elsewhere is a store that other servers may share.
type elsewhere struct{ mcpcore.Store }

// Servers that share plans must share the ledger of what they write, or none is
// built.
func TestBlueprintsNeedALedgerOfOperations(t *testing.T) {
	t.Parallel()
	deps := discordtools.Deps{Session: sandbox.New(sandbox.Options{}).Session(), Store: elsewhere{ledger.NewStore(nil)}}
	if _, err := discordtools.BuildServer(deps); err == nil || !strings.Contains(err.Error(), "needs Operations") {
		t.Errorf("it builds without: %v", err)
	}
	deps.Operations = ledger.NewOperations(nil)
	if _, err := discordtools.BuildServer(deps); err != nil {
		t.Error(err)
	}
}
