package main_test

import (
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
)

// TestWhoCanWriteTheLedgerCannotDecide has all that the server's environment
// holds: the ledger, opened with the state key, and who may decide. A token alone
// is missing.
func TestWhoCanWriteTheLedgerCannotDecide(t *testing.T) {
	t.Parallel()
	forged := func(d mcpcore.Decision, edit func(*mcpcore.Decision)) mcpcore.Decision {
		edit(&d)
		return d
	}
	for name, forge := range map[string]func(*rig, mcpcore.ApprovalID) mcpcore.Decision{
		"a yes": func(*rig, mcpcore.ApprovalID) mcpcore.Decision {
			return mcpcore.Decision{By: "ana", Approve: true, Reason: "canary-reason"}
		},
		"a no": func(*rig, mcpcore.ApprovalID) mcpcore.Decision {
			return mcpcore.Decision{By: "ana", Reason: "canary-reason"}
		},
		"a token of one's own": func(r *rig, id mcpcore.ApprovalID) mcpcore.Decision {
			token, setting, err := console.NewApprover("ana")
			if err != nil {
				r.t.Fatal(err)
			}
			mine, err := console.ParseApprovers(setting)
			if err != nil {
				r.t.Fatal(err)
			}
			a, _ := r.waiting(id)
			d, ok := mine.Sign(token, a, true, "")
			if !ok {
				r.t.Fatal("it is not signed")
			}
			return d
		},
		"a yes to another call": func(r *rig, _ mcpcore.ApprovalID) mcpcore.Decision {
			_, other := r.calls(nil, "messages_delete", `{"channel_id":"`+string(sandbox.DemoShowcase)+`","message_id":"`+string(sandbox.DemoSketch)+`","__confirm":true}`)
			return r.signed(other.ID, true, "")
		},
		"another reason": func(r *rig, id mcpcore.ApprovalID) mcpcore.Decision {
			return forged(r.signed(id, true, "fine"), func(d *mcpcore.Decision) { d.Reason = "canary-reason" })
		},
		"a no turned into a yes": func(r *rig, id mcpcore.ApprovalID) mcpcore.Decision {
			return forged(r.signed(id, false, ""), func(d *mcpcore.Decision) { d.Approve = true })
		},
		"another name": func(r *rig, id mcpcore.ApprovalID) mcpcore.Decision {
			return forged(r.signed(id, true, ""), func(d *mcpcore.Decision) { d.By = "ben" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFileRig(t)
			id := r.waits()
			if err := r.Decide(t.Context(), id, forge(r, id)); err != nil {
				t.Fatal(err)
			}
			e, answer := r.act()
			if e.status != 1 || answer.Code != mcpcore.CodeHumanRequired || answer.ID != id || answer.By != "" || answer.Reason != "" {
				t.Errorf("%+v", e)
			}
			if !strings.Contains(e.stderr, `"level":"ERROR"`) || !strings.Contains(e.stderr, "decision without proof") || strings.Contains(e.stdout+e.stderr, "canary-reason") {
				t.Errorf("logged %s", e.stderr)
			}
		})
	}
}

// Who may not decide any more has decided nothing that is still open.
func TestADecisionEndsWithItsApprover(t *testing.T) {
	t.Parallel()
	r := newFileRig(t)
	id := r.waits()
	if err := r.Decide(t.Context(), id, r.signed(id, true, "")); err != nil {
		t.Fatal(err)
	}
	if e, answer := r.act("MCP_APPROVERS=" + r.bens); e.status != 1 || answer.Code != mcpcore.CodeHumanRequired {
		t.Errorf("without ana: %+v", e)
	}
	if e, _ := r.act(); e.status != 0 {
		t.Errorf("with her: %+v", e)
	}
	if again := r.waits(); again == id {
		t.Error("one decision serves two calls")
	}
}
