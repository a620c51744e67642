package mcpcore_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

func TestWhatIsShownFollowsFromTheCall(t *testing.T) {
	t.Parallel()
	p := prove(t)
	secret := strings.Replace(goodUpdate, "Fire", "Fire Bearer "+strings.Repeat("a", 30), 1)
	a := p.asks(secret)
	s, err := mcpcore.ReadShown(a.Shown)
	if err != nil {
		t.Fatal(err)
	}
	if s.Effect != "write" || s.Scope == "" || s.Gate == "" || !strings.Contains(s.Question, "ticket_update") || len(s.Args) == 0 {
		t.Errorf("shown %s", a.Shown)
	}
	if strings.Contains(string(a.Shown), strings.Repeat("a", 30)) {
		t.Errorf("a secret is shown: %s", a.Shown)
	}
	p.l.pass(16 * time.Minute)
	if again := p.asks(secret); string(again.Shown) != string(a.Shown) {
		t.Errorf("the identical call shows\n%s\nand\n%s", a.Shown, again.Shown)
	}
}

// A token is an identifier to whoever checks the call, and a secret to whoever
// decides about it.
func TestTokensAreNotShown(t *testing.T) {
	t.Parallel()
	type hook struct {
		GuildID     discord.GuildID          `json:"guild_id"`
		WebhookID   discord.WebhookID        `json:"webhook_id"`
		Token       discord.WebhookToken     `json:"token"`
		Interaction discord.InteractionToken `json:"interaction_token"`
	}
	approvers, err := console.ParseApprovers("")
	if err != nil {
		t.Fatal(err)
	}
	l := newLedger()
	deps := personDeps(&desk{}, mcpcore.InLedger{Check: approvers.Check})
	deps.Ledger = l
	deps.Tools = []mcpcore.Tool{mcpcore.Define(mcpcore.Tool{
		Name: "hook_cut", Title: "Cut a hook", Doc: "Cuts a hook.", Category: "hooks", Effect: mcpcore.Write, Scope: mcpcore.GuildScope,
	}, func(context.Context, *mcpcore.Call, hook) (v struct {
		Cut bool `json:"cut"`
	}, err error) {
		return v, nil
	})}
	connect(t, deps).refused(t, "hook_cut", `{"guild_id":"`+string(guild)+`","webhook_id":"710000000000000001","token":"canary-token","interaction_token":"canary-other"}`, mcpcore.CodeHumanPending)
	waiting, err := l.Pending(t.Context(), mcpcore.Filter{})
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%v, %v", waiting, err)
	}
	if shown := string(waiting[0].Shown); strings.Contains(shown, "canary") || !strings.Contains(shown, "710000000000000001") {
		t.Errorf("it shows %s", shown)
	}
}

func TestShownIsReadInEveryForm(t *testing.T) {
	t.Parallel()
	for raw, question := range map[string]string{
		`"Ban a member?"`:                         "Ban a member?",
		` "x" `:                                   "x",
		`{"question":"Ban?","effect":"destroy"}`:  "Ban?",
		`{"question":"Ban?","from":"the future"}`: "Ban?",
		`{"title":"no question"}`:                 "",
		`{}`:                                      "",
		`null`:                                    "",
		``:                                        "",
		`[1]`:                                     "",
		`{"question":7}`:                          "",
	} {
		s, err := mcpcore.ReadShown(json.RawMessage(raw))
		if s.Question != question || (err == nil) != (question != "") {
			t.Errorf("%s: %+v, %v", raw, s, err)
		}
	}
}

// A decision that was signed about the question alone, as earlier versions store
// it, is still one about this call; one about another question is none.
func TestADecisionAboutTheQuestionAlone(t *testing.T) {
	t.Parallel()
	p := prove(t)
	for _, row := range []struct {
		change func(string) string
		acts   bool
	}{
		{func(q string) string { return q }, true},
		{func(q string) string { return strings.Replace(q, "Fire", "Rain", 1) }, false},
	} {
		a := p.asks(goodUpdate)
		s, err := mcpcore.ReadShown(a.Shown)
		if err != nil {
			t.Fatal(err)
		}
		old := a
		old.Shown, err = json.Marshal(row.change(s.Question))
		if err != nil {
			t.Fatal(err)
		}
		p.writes(a, p.signs(old, true, ""))
		runs := len(p.d.runs())
		if row.acts {
			p.passed(t, "ticket_update", goodUpdate)
		} else {
			p.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanRequired)
		}
		if acted := len(p.d.runs()) > runs; acted != row.acts {
			t.Errorf("acted: %t", acted)
		}
	}
}

func TestShownOfALongText(t *testing.T) {
	t.Parallel()
	p := prove(t)
	long := strings.Repeat("é", 4003)
	s, err := mcpcore.ReadShown(p.asks(strings.Replace(goodUpdate, "Fire", long, 1)).Shown)
	if err != nil {
		t.Fatal(err)
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(s.Args, &args); err != nil {
		t.Fatal(err)
	}
	cut := func(raw json.RawMessage) bool { return strings.Contains(string(raw), "characters more)") }
	if !slices.ContainsFunc(slices.Collect(maps.Values(args)), cut) {
		t.Errorf("%s", s.Args)
	}
}

// asking is an approver that keeps what it was asked, and says no.
type asking struct{ shown []json.RawMessage }

func (a *asking) Ask(_ context.Context, r mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
	a.shown = append(a.shown, r.Shown)
	return mcpcore.ApprovalState{Decision: &mcpcore.Decision{By: "ann"}}, nil
}

func TestShownOfSteps(t *testing.T) {
	t.Parallel()
	d, a := &desk{}, &asking{}
	deps := personDeps(d, a)
	deps.Ledger = newLedger()
	deps.Tools = append(deps.Tools, relaying(nil))
	c := connect(t, deps)
	c.refused(t, "relay", `{"steps":[{"tool":"tickets_list","args":`+goodList+`},{"tool":"ticket_update","args":`+goodUpdate+`}]}`, mcpcore.CodeHumanRefused)
	s, err := mcpcore.ReadShown(a.shown[0])
	if err != nil || len(s.Steps) != 1 || s.Args != nil || s.Effect != "write" {
		t.Fatalf("%v: %s", err, a.shown[0])
	}
	want := mcpcore.ShownStep{
		Number: 2, Tool: "ticket_update", Title: "Change a ticket", Effect: "write", Args: json.RawMessage(goodUpdate),
		IDs: []mcpcore.ID{{Path: "guild_id", Kind: discord.KindGuild, Value: string(guild)}},
	}
	if diff := cmp.Diff(want, s.Steps[0]); diff != "" {
		t.Error(diff)
	}
}
