package discordtools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/ledger"
)

// consent is a consenting server, and its ledger on a clock of the test's.
func consent(t *testing.T, change ...func(*discordtools.Deps)) (b *bench, pass func(time.Duration)) {
	t.Helper()
	at := now
	b = start(t, append(change, func(d *discordtools.Deps) {
		d.Config.RequireConsent = true
		d.Config.Armed = false // consent does not depend on the operator's key
		d.Ledger = ledger.NewMemory(func() time.Time { return at })
	})...)
	b.world.ResetRequests()
	return b, func(d time.Duration) { at = at.Add(d) }
}

// consented is a call with the fields of the refusal that asked for them.
func consented(t *testing.T, to string, refusal answer) string {
	t.Helper()
	var e struct {
		Hash    string    `json:"consent_hash"`
		ID      string    `json:"consent_id"`
		To      string    `json:"recipient_id"`
		Expires time.Time `json:"consent_expires_at"`
	}
	if err := json.Unmarshal(refusal.data, &e); err != nil || e.Hash == "" || e.ID == "" || e.To == "" || !e.Expires.Equal(now.Add(5*time.Minute)) {
		t.Fatalf("the refusal is %s: %v", refusal.data, err)
	}
	return `{"recipient_id":` + id(to) + `,"__consent":true,"__consent_hash":` + id(e.Hash) + `,"__consent_id":` + id(e.ID) + `}`
}

func TestConsent(t *testing.T) {
	t.Parallel()
	ask := `{"recipient_id":` + id(tomo) + `}`
	for _, row := range []struct {
		name   string
		args   func(t *testing.T, b *bench, pass func(time.Duration)) string
		want   mcpcore.Code
		reason string
	}{
		{"nothing", func(*testing.T, *bench, func(time.Duration)) string { return ask }, mcpcore.CodeConsentRequired, ""},
		{"all of it", func(t *testing.T, b *bench, _ func(time.Duration)) string {
			return consented(t, tomo, b.call("users_create_dm", ask))
		}, "", ""},
		{"not plainly true", func(t *testing.T, b *bench, _ func(time.Duration)) string {
			return strings.Replace(consented(t, tomo, b.call("users_create_dm", ask)), `"__consent":true`, `"__consent":"true"`, 1)
		}, mcpcore.CodeConsentRequired, ""},
		{"another recipient", func(t *testing.T, b *bench, _ func(time.Duration)) string {
			return consented(t, noor, b.call("users_create_dm", ask))
		}, mcpcore.CodeConsentRequired, ""},
		{"another's approval", func(t *testing.T, b *bench, _ func(time.Duration)) string {
			mine, theirs := b.call("users_create_dm", ask), b.call("users_create_dm", `{"recipient_id":`+id(noor)+`}`)
			var a, o map[string]any
			if json.Unmarshal(mine.data, &a) != nil || json.Unmarshal(theirs.data, &o) != nil {
				t.Fatal("not JSON")
			}
			return strings.Replace(consented(t, tomo, mine), a["consent_id"].(string), o["consent_id"].(string), 1)
		}, mcpcore.CodeConsentRejected, "mismatch"},
		{"an id nobody issued", func(t *testing.T, b *bench, _ func(time.Duration)) string {
			args := consented(t, tomo, b.call("users_create_dm", ask))
			return args[:strings.Index(args, `"__consent_id"`)] + `"__consent_id":"0b9de35b-42ab-4ea9-a7c5-6a3a1f5d6f11"}`
		}, mcpcore.CodeConsentRejected, "missing"},
		{"too late", func(t *testing.T, b *bench, pass func(time.Duration)) string {
			args := consented(t, tomo, b.call("users_create_dm", ask))
			pass(5 * time.Minute)
			return args
		}, mcpcore.CodeConsentRejected, "expired"},
		{"twice", func(t *testing.T, b *bench, _ func(time.Duration)) string {
			args := consented(t, tomo, b.call("users_create_dm", ask))
			if a := b.call("users_create_dm", args); a.code != "" {
				t.Fatalf("the first is refused: %s", a.data)
			}
			b.world.ResetRequests()
			return args
		}, mcpcore.CodeConsentRejected, "replayed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b, pass := consent(t)
			a := b.call("users_create_dm", row.args(t, b, pass))
			if a.code != row.want {
				t.Fatalf("answers %s", a.data)
			}
			if row.reason != "" && !strings.Contains(string(a.data), `"reason":"`+row.reason+`"`) {
				t.Errorf("the reason is in %s", a.data)
			}
			if sent := len(b.sent()) == 1; sent != (row.want == "") {
				t.Errorf("Discord saw %v", b.sent())
			}
		})
	}
}

// The consent of one bot is not another's.
func TestConsentIsForItsBot(t *testing.T) {
	t.Parallel()
	ask := `{"recipient_id":` + id(tomo) + `}`
	shared := ledger.NewMemory(func() time.Time { return now })
	b, _ := consent(t, func(d *discordtools.Deps) { d.Ledger = shared })
	other := start(t, func(d *discordtools.Deps) {
		d.Config.RequireConsent, d.Config.ExpectedBot, d.Ledger = true, sandbox.BotID, shared
	})
	args := consented(t, tomo, b.call("users_create_dm", ask))
	if a := other.call("users_create_dm", args); a.code != mcpcore.CodeConsentRequired {
		t.Errorf("it answers %s", a.data)
	}
}

// The fields are published where they do something.
func TestConsentFieldsArePublishedWhereTheyAreRead(t *testing.T) {
	t.Parallel()
	asking, _ := consent(t)
	for b, want := range map[*bench]int{asking: 1, start(t): 0} {
		list, err := b.mcp.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, tool := range list.Tools {
			raw, _ := json.Marshal(tool.InputSchema)
			if strings.Contains(string(raw), `"__consent_id"`) {
				got++
			}
		}
		if got != want {
			t.Errorf("%d tools publish them, want %d", got, want)
		}
	}
}

// After a consent was spent, an answer that leaves it open whether the channel
// was opened says so; without one, opening it again is harmless.
func TestOutcomeOfAConsentedCall(t *testing.T) {
	t.Parallel()
	ask := `{"recipient_id":` + id(tomo) + `}`
	fault := sandbox.Fault{Method: "POST", Route: "/users/@me/channels", Status: 502, Times: 20}
	b, _ := consent(t)
	args := consented(t, tomo, b.call("users_create_dm", ask))
	b.world.Inject(fault)
	a := b.call("users_create_dm", args)
	if a.code != mcpcore.CodeDMUnknown || !strings.Contains(string(a.data), `"outcome":"unknown"`) || !strings.Contains(string(a.data), tomo) {
		t.Errorf("it answers %s", a.data)
	}
	if a := b.call("users_create_dm", args); a.code != mcpcore.CodeConsentRejected {
		t.Errorf("the consent can be used again: %s", a.data)
	}
	free := start(t)
	free.world.Inject(fault)
	if a := free.call("users_create_dm", ask); a.code != mcpcore.CodeOutcomeUnknown {
		t.Errorf("without a consent it answers %s", a.data)
	}
}

// A destructive call acts on what its preview showed.
func TestFactsOfAChannelThatChanged(t *testing.T) {
	t.Parallel()
	b := start(t)
	args := `{"channel_id":` + id(general) + `,"__confirm":true}`
	if a := b.call("channels_delete", `{"channel_id":`+id(general)+`}`); a.code != mcpcore.CodeDryRun {
		t.Fatalf("the preview is %s", a.data)
	}
	if a := b.call("channels_modify", `{"channel_id":`+id(general)+`,"name":"keep-me"}`); a.code != "" {
		t.Fatalf("renaming: %s", a.data)
	}
	b.world.ResetRequests()
	a := b.call("channels_delete", args)
	if a.code != mcpcore.CodeFactsChanged || !strings.Contains(a.text, "keep-me") {
		t.Errorf("it answers %s", a.data)
	}
	for _, r := range b.sent() {
		if !strings.HasPrefix(r, "GET ") {
			t.Errorf("Discord saw %s", r)
		}
	}
	if a := b.call("channels_delete", args); a.code != "" {
		t.Errorf("with what is there now it answers %s", a.data)
	}
}

// With a person, the whole way through Discord's tools: the default asks the
// client's user.
func TestPersonApprovesADiscordCall(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		mode  discordtools.PersonMode
		tool  string
		args  string
		asked int
	}{
		{discordtools.PersonGated, "channels_delete", `{"channel_id":` + id(general) + `,"__confirm":true}`, 1},
		{discordtools.PersonGated, "messages_send", `{"channel_id":` + id(general) + `,"content":"hello"}`, 0},
		{discordtools.PersonWrites, "messages_send", `{"channel_id":` + id(general) + `,"content":"hello"}`, 1},
		{discordtools.PersonWrites, "channels_get", `{"channel_id":` + id(general) + `}`, 0},
		{discordtools.PersonOff, "channels_delete", `{"channel_id":` + id(general) + `,"__confirm":true}`, 0},
	} {
		for _, agrees := range []bool{true, false} {
			world := sandbox.DemoWith(sandbox.Options{Clock: func() time.Time { return now }})
			server, err := discordtools.BuildServer(discordtools.Deps{
				Session: world.Session(), Config: discordtools.Config{Armed: true, Person: row.mode},
			})
			if err != nil {
				t.Fatal(err)
			}
			near, far := mcp.NewInMemoryTransports()
			if _, err := server.Connect(t.Context(), far, nil); err != nil {
				t.Fatal(err)
			}
			var questions []string
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					questions = append(questions, r.Params.Message)
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": agrees}}, nil
				},
			})
			session, err := client.Connect(t.Context(), near, nil)
			if err != nil {
				t.Fatal(err)
			}
			world.ResetRequests()
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: row.tool, Arguments: json.RawMessage(row.args)})
			if err != nil {
				t.Fatal(err)
			}
			if len(questions) != row.asked || res.IsError != (row.asked == 1 && !agrees) {
				t.Errorf("%s %s, agrees %v: asked %q, answered %v", row.mode, row.tool, agrees, questions, res.StructuredContent)
			}
			for _, r := range world.Requests() {
				if res.IsError && r.Method != "GET" {
					t.Errorf("%s was refused and Discord saw %s %s", row.tool, r.Method, r.Path)
				}
			}
			if row.tool == "channels_delete" && row.asked == 1 && !strings.Contains(questions[0], `name: "general"`) {
				t.Errorf("the question lacks the facts: %s", questions[0])
			}
			_ = session.Close()
		}
	}
	if _, err := discordtools.BuildServer(discordtools.Deps{
		Session: sandbox.Demo().Session(), Config: discordtools.Config{Person: "sometimes"},
	}); err == nil || !strings.Contains(err.Error(), "sometimes") {
		t.Errorf("an unknown mode: %v", err)
	}
}
