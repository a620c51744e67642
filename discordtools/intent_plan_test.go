package discordtools_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// auditing adds the tool that a verification uses where the server lacks it.
func auditing(d *discordtools.Deps) {
	rest, err := discordtools.NewClient(d.Session, discordtools.ClientOptions{})
	if err != nil || slices.ContainsFunc(discordtools.Tools(rest), func(t mcpcore.Tool) bool { return t.Name == "permissions_audit_channel" }) {
		return
	}
	d.Tools = append(d.Tools, mcpcore.Define(mcpcore.Tool{
		Name: "permissions_audit_channel", Doc: "Stands in.", Category: "permissions", Effect: mcpcore.Read, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel,
	}, func(context.Context, *mcpcore.Call, struct {
		GuildID   discord.GuildID   `json:"guild_id" jsonschema:"guild"`
		ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel"`
	}) (v struct{}, err error) {
		return v, nil
	}))
}

func TestIntentPlan(t *testing.T) {
	t.Parallel()
	in := `"guild_id":` + id(guild) + `,"channel_id":` + id(general)
	lock := `{"id":"lock-channel","action":"write","tool":"channels_modify_permissions","purpose":"*",
		"args":{"channel_id":` + id(general) + `,"overwrite_id":` + id(guild) + `,"type":0,"allow":"0","deny":"2048"},
		"access":{"auth":"bot","permissions":["MANAGE_ROLES"],"intents":[],"scope":"channel","hierarchy":"none"},"depends_on":[],"requires_approval":true}`
	say := func(after string) string {
		return `{"id":"announce","action":"write","tool":"messages_send","args":{"channel_id":` + id(general) + `,"content":"Closed for today."},
			"access":{"permissions":["VIEW_CHANNEL","SEND_MESSAGES"]},"depends_on":[` + after + `],"requires_approval":true}`
	}
	check := func(after string) string {
		return `{"id":"verify-channel","action":"verify","tool":"permissions_audit_channel","args":{"guild_id":` + id(guild) + `,"channel_id":` + id(general) + `},
			"access":{"permissions":["VIEW_CHANNEL"],"scope":"channel"},"depends_on":[` + after + `],"requires_approval":false}`
	}
	row1 := func(shows, intent, extra, want string) row {
		return row{shows: shows, tool: "discord_intent_plan", args: `{"intent":` + id(intent) + `,` + in + extra + `}`, deps: auditing, want: want}
	}
	const bits, words = `,"allow":"0","deny":"2048"`, `,"announcement":"Closed for today."`
	none := `"steps":[],"access":{"permissions":[],"scopes":[]},"approval_boundary":"none","verification_step_id":null`
	run(t, []row{
		row1("a lock", "lock_channel", bits, `{"schema_version":"discord_intent_plan.v1","status":"ready","intent":"lock_channel","target":{`+in+`},"steps":[`+lock+`],
			"access":{"permissions":["MANAGE_ROLES"],"scopes":["channel"]},"approval_boundary":"per_write","verification_step_id":null,"plan_digest":"*","warnings":[]}`),
		row1("an announcement", "announce", words, `{"status":"ready","steps":[`+say("")+`],"approval_boundary":"per_write","warnings":[]}`),
		row1("a check", "verify", "", `{"status":"ready","intent":"verify","steps":[`+check("")+`],"approval_boundary":"none","verification_step_id":"verify-channel","warnings":[]}`),
		row1("all of it", "lock_and_announce", bits+words, `{"status":"ready","steps":[`+lock+`,`+say(`"lock-channel"`)+`,`+check(`"lock-channel","announce"`)+`],
			"access":{"permissions":["MANAGE_ROLES","SEND_MESSAGES","VIEW_CHANNEL"],"scopes":["channel"]},"approval_boundary":"per_write","verification_step_id":"verify-channel","warnings":["*"]}`),
		row1("its name in another form", "  Lock - Channel ", bits, `{"status":"ready","intent":"lock_channel"}`),
		row1("its name in Vietnamese", "Khóa kênh và thông báo", bits+words, `{"status":"ready","intent":"lock_and_announce"}`),
		row1("another name", "announce-and-lock", bits+words, `{"intent":"lock_and_announce"}`),
		row1("a check in Vietnamese", "KIỂM TRA", "", `{"intent":"verify"}`),
		row1("an intent that is none", "delete everything", "", `{"status":"unsupported","intent":null,`+none+`,"warnings":["*"]}`),
		row1("a lock without bits", "lock_channel", "", `{"status":"needs_input","intent":"lock_channel",`+none+`,"warnings":["*"]}`),
		row1("a lock with half the bits", "lock_channel", `,"deny":"2048"`, `{"status":"needs_input",`+none+`}`),
		row1("bits on both sides", "lock_channel", `,"allow":"3072","deny":"2048"`, `{"status":"needs_input","warnings":["allow and deny both name SEND_MESSAGES"]}`),
		row1("nothing to announce", "announce", "", `{"status":"needs_input",`+none+`,"warnings":["announcement is needed"]}`),
		row1("only spaces to announce", "lock_and_announce", bits+`,"announcement":"  "`, `{"status":"needs_input","warnings":["announcement is needed"]}`),
		{shows: "bits that are none", tool: "discord_intent_plan", args: `{"intent":"lock_channel",` + in + `,"allow":"0","deny":"-1"}`, code: mcpcore.CodeValidation},
		{shows: "no channel", tool: "discord_intent_plan", args: `{"intent":"verify","guild_id":` + id(guild) + `}`, code: mcpcore.CodeValidation},
		{
			shows: "a foreign guild", tool: "discord_intent_plan", args: `{"intent":"verify","guild_id":` + id(sandbox.DemoClub) + `,"channel_id":` + id(general) + `}`,
			deps: func(d *discordtools.Deps) { d.Config.AllowedGuilds = []discord.GuildID{sandbox.DemoGuild} }, code: mcpcore.CodeGuildNotAllowed,
		},
	})
}

// The same plan has the same digest, which is that of the rest of it.
func TestIntentPlanDigest(t *testing.T) {
	t.Parallel()
	b := start(t, auditing)
	plan := func(deny string) (whole map[string]any, digest string) {
		a := b.call("discord_intent_plan", `{"intent":"lock_channel","guild_id":`+id(guild)+`,"channel_id":`+id(general)+`,"allow":"0","deny":"`+deny+`"}`)
		if err := json.Unmarshal(a.data, &whole); err != nil {
			t.Fatal(err)
		}
		digest, _ = whole["plan_digest"].(string)
		delete(whole, "plan_digest")
		return whole, digest
	}
	whole, first := plan("2048")
	raw, err := json.Marshal(whole) // sorted, and nothing in it is escaped
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(raw); first != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("the digest is %s, and the plan\n%s", first, raw)
	}
	if _, again := plan("2048"); again != first {
		t.Errorf("the same plan is %s and %s", first, again)
	}
	if _, other := plan("1024"); other == first {
		t.Error("another plan has the same digest")
	}
}

// Every step of every plan is a call that its tool takes.
func TestIntentPlanRuns(t *testing.T) {
	t.Parallel()
	world := sandbox.Demo()
	b := startOn(t, world, auditing)
	a := b.call("discord_intent_plan", `{"intent":"lock_and_announce","guild_id":`+id(guild)+`,"channel_id":`+id(general)+`,"allow":"0","deny":"8192","announcement":"Closed."}`)
	var plan struct {
		Steps []struct {
			Tool string          `json:"tool"`
			Args json.RawMessage `json:"args"`
		}
	}
	if err := json.Unmarshal(a.data, &plan); err != nil {
		t.Fatal(err)
	}
	steps, err := json.Marshal(plan.Steps)
	if err != nil {
		t.Fatal(err)
	}
	if got := ran(t, b.call("mcp_pipeline", `{"steps":`+string(steps)+`}`)); got != "step_0 success, step_1 success, step_2 success" {
		t.Error(got)
	}
}
