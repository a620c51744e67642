package mcpcore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/mcpcore"
)

// posting is the notice tool with a review of its payload: what it sends is
// made of its arguments.
func posting(d *desk, target *string) mcpcore.Tool {
	n := d.notice()
	n.Redact = []string{"title"}
	n.Payload = func(c *mcpcore.Call) (mcpcore.PayloadReview, error) {
		if c.Text("title") == "bad" {
			return mcpcore.PayloadReview{}, mcpcore.Errorf(mcpcore.CodeValidation, "cannot be made")
		}
		type at struct {
			Board string `json:"board"`
		}
		return mcpcore.PayloadReview{
			Target: at{*target}, Sent: "[" + c.Text("title") + "]", Shown: strings.Repeat("x", len(c.Text("title"))),
			RiskFlags: []string{"loud"}, Details: []mcpcore.Detail{{Name: "letters", Value: len(c.Text("title"))}},
		}, nil
	}
	return mcpcore.Define(n, runs[ticketUpdate](d))
}

func TestReviewOfAPayload(t *testing.T) {
	t.Parallel()
	d, l, board := &desk{}, newLedger(), "b1"
	deps := d.deps()
	deps.Ledger, deps.Tools = l, []mcpcore.Tool{posting(d, &board)}
	c := connect(t, deps)

	p := c.refused(t, "notice_send", goodUpdate, mcpcore.CodePayloadRequired)
	preview, err := json.Marshal(p.data["preview"])
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"approval_expires_at":"2031-05-01T18:05:00Z","approval_id":%q,"letters":4,"payload":"xxxx","payload_hash":%q,"risk_flags":["loud"],"target":{"board":"b1"},"tool":"notice_send"}`, l.issued[0].ID, p.data["payload_hash"])
	if string(preview) != want {
		t.Errorf("the preview is\n%s, want\n%s", preview, want)
	}
	if flags, _ := json.Marshal(p.data["risk_flags"]); string(flags) != `["loud"]` {
		t.Errorf("the flags are %s", flags)
	}
	if strings.Contains(p.everything(), "Fire") {
		t.Errorf("a private text is shown: %s", p.text)
	}
	if shown := l.issued[0].Shown; shown != nil {
		t.Errorf("the ledger keeps %s, which nobody will ask for", shown)
	}

	// What is sent is hashed, so arguments that make the same have one hash.
	if other := c.call(t, "notice_send", `{"guild_id":"700000000000000002","title":"Fire"}`); other.data["payload_hash"] != p.data["payload_hash"] {
		t.Error("another argument changed the hash of the same payload")
	}
	if other := c.call(t, "notice_send", `{"guild_id":"700000000000000001","title":"Fine"}`); other.data["payload_hash"] == p.data["payload_hash"] {
		t.Error("another payload has the same hash")
	}
	// The target is bound beside it.
	board = "b2"
	c.refused(t, "notice_send", confirmWith(goodUpdate, p), mcpcore.CodeApprovalMismatch)
	board = "b1"
	c.passed(t, "notice_send", confirmWith(goodUpdate, p))
	issued := len(l.issued)
	c.refused(t, "notice_send", strings.Replace(goodUpdate, "Fire", "bad", 1), mcpcore.CodeValidation)
	if len(l.issued) != issued {
		t.Error("an approval was issued for what cannot be made")
	}
}

// An approval is for one bot.
func TestApprovalOfAnotherBot(t *testing.T) {
	t.Parallel()
	d, l := &desk{}, newLedger()
	with := func(bot string) *client {
		deps := d.deps()
		deps.Ledger, deps.Identity = l, bot
		return connect(t, deps)
	}
	args := confirmed(t, with("740000000000000001"))
	for _, bot := range []string{"740000000000000002", ""} {
		with(bot).refused(t, "notice_send", args, mcpcore.CodeApprovalMismatch)
	}
	if d.runs() != nil {
		t.Errorf("ran %v", d.runs())
	}
	with("740000000000000001").passed(t, "notice_send", args)
}

// A rule that finds several things tells all of them, up to the limit.
func TestRuleOfManyIssues(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	n := 3
	tool := d.update()
	tool.Rules = []mcpcore.Rule{{All: func(c *mcpcore.Call) (all []mcpcore.Issue) {
		for i := range n {
			all = append(all, mcpcore.Issue{Path: fmt.Sprintf("title.%d", i), Message: "is wrong", Code: mcpcore.IssueRule})
		}
		return all
	}}}
	deps.Tools = []mcpcore.Tool{mcpcore.Define(tool, func(context.Context, *mcpcore.Call, ticketUpdate) (done, error) { return done{}, nil })}
	c := connect(t, deps)
	for _, row := range []struct{ found, told int }{{3, 3}, {500, 100}} {
		n = row.found
		if got := len(c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeValidation).issues()); got != row.told {
			t.Errorf("of %d issues %d are told", row.found, got)
		}
	}
	n = 0
	c.passed(t, "ticket_update", goodUpdate)
}
