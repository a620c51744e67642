package console_test

import (
	"bytes"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/console"
)

// waiting is an approval as a ledger lists it.
func waiting() mcpcore.Approval {
	return mcpcore.Approval{
		ID: "0f9c6f3e-4c8b-4c39-9f0e-6f2f4f7a2c11", Expires: time.Date(2031, 5, 1, 18, 15, 0, 123, time.UTC),
		Proposal: mcpcore.Proposal{
			Purpose: mcpcore.ForPerson, Tool: "members_ban", Principal: "stdio", Fingerprint: "aa", Facts: "bb", Shown: json.RawMessage(`"Ban a member?"`),
		},
	}
}

func signed(t *testing.T, a console.Approvers, token string, about mcpcore.Approval, approve bool, reason string) mcpcore.Decision {
	t.Helper()
	d, ok := a.Sign(token, about, approve, reason)
	if !ok {
		t.Fatal("it is not signed")
	}
	return d
}

func TestADecisionThatAnApproverMade(t *testing.T) {
	t.Parallel()
	ana, anaSet := made(t, "ana")
	ben, benSet := made(t, "ben")
	a := parsed(t, anaSet+","+benSet)
	for _, row := range []struct {
		token, by, reason string
		approve           bool
	}{{ana, "ana", "", true}, {ana, "ana", "not \"today\"", false}, {ben, "ben", "ü", true}} {
		about := waiting()
		d := signed(t, a, row.token, about, row.approve, row.reason)
		if d.By != row.by || d.Approve != row.approve || d.Reason != row.reason {
			t.Errorf("decided %+v, want %+v", d, row)
		}
		about.Decision = &d
		if err := a.Check(about); err != nil {
			t.Errorf("%+v: %v", row, err)
		}
		about.Expires = about.Expires.In(time.FixedZone("", 3600)) // the same moment
		if err := a.Check(about); err != nil {
			t.Errorf("in another zone: %v", err)
		}
		secret, _ := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(row.token[4:]))
		if len(secret) != 32 || bytes.Contains(d.Proof, secret) {
			t.Errorf("the proof holds the token's secret of %d bytes", len(secret))
		}
	}
}

func TestOnlyAnApproverSigns(t *testing.T) {
	t.Parallel()
	ana, set := made(t, "ana")
	other, _ := made(t, "ana")
	for name, token := range map[string]string{"another's": other, "nothing": "", "the setting": set, "spaces": " " + ana} {
		if d, ok := parsed(t, set).Sign(token, waiting(), true, ""); ok || d.Approve || d.Proof != nil {
			t.Errorf("%s signs %+v", name, d)
		}
	}
	if _, ok := (console.Approvers{}).Sign(ana, waiting(), true, ""); ok {
		t.Error("nobody signs")
	}
}

// TestADecisionThatNobodyMade has all that an agent can read: the settings, the
// ledger, its key, and decisions about other calls.
func TestADecisionThatNobodyMade(t *testing.T) {
	t.Parallel()
	ana, anaSet := made(t, "ana")
	ben, benSet := made(t, "ben")
	mallory, mallorySet := made(t, "ana") // their own token under another's name
	a := parsed(t, anaSet+","+benSet)
	yes := signed(t, a, ana, waiting(), true, "fine")
	no := signed(t, a, ana, waiting(), false, "")
	bens := signed(t, a, ben, waiting(), true, "fine")
	forged := signed(t, parsed(t, mallorySet), mallory, waiting(), true, "fine")
	proof := func(edit func([]byte) []byte) []byte { return edit(bytes.Clone(yes.Proof)) }
	for name, row := range map[string]struct {
		d    *mcpcore.Decision
		edit func(*mcpcore.Approval)
		says string
	}{
		"nothing":                {nil, nil, "no proof"},
		"no proof":               {&mcpcore.Decision{By: "ana", Approve: true}, nil, "no proof"},
		"a public key alone":     {&mcpcore.Decision{By: "ana", Approve: true, Proof: yes.Proof[:32]}, nil, "no proof"},
		"a cut off signature":    {&mcpcore.Decision{By: "ana", Approve: true, Reason: "fine", Proof: yes.Proof[:95]}, nil, "no proof"},
		"more than a signature":  {&mcpcore.Decision{By: "ana", Approve: true, Reason: "fine", Proof: proof(func(p []byte) []byte { return append(p, 0) })}, nil, "no proof"},
		"zeros":                  {&mcpcore.Decision{By: "ana", Approve: true, Reason: "fine", Proof: make([]byte, 96)}, nil, "nobody who may"},
		"a signature of zeros":   {&mcpcore.Decision{By: "ana", Approve: true, Reason: "fine", Proof: proof(func(p []byte) []byte { clear(p[32:]); return p })}, nil, "something else"},
		"another signature":      {&mcpcore.Decision{By: "ana", Approve: true, Reason: "fine", Proof: proof(func(p []byte) []byte { p[40] ^= 1; return p })}, nil, "something else"},
		"a key of one's own":     {&forged, nil, "nobody who may"},
		"her key, my signature":  {&mcpcore.Decision{By: "ana", Approve: true, Reason: "fine", Proof: append(bytes.Clone(yes.Proof[:32]), forged.Proof[32:]...)}, nil, "something else"},
		"a no turned into a yes": {&mcpcore.Decision{By: "ana", Approve: true, Proof: no.Proof}, nil, "something else"},
		"a yes turned into a no": {&mcpcore.Decision{By: "ana", Reason: "fine", Proof: yes.Proof}, nil, "something else"},
		"another reason":         {&mcpcore.Decision{By: "ana", Approve: true, Reason: "finer", Proof: yes.Proof}, nil, "something else"},
		"no reason":              {&mcpcore.Decision{By: "ana", Approve: true, Proof: yes.Proof}, nil, "something else"},
		"another's name":         {&mcpcore.Decision{By: "ben", Approve: true, Reason: "fine", Proof: yes.Proof}, nil, "of ana, and the decision says"},
		"her name on another's":  {&mcpcore.Decision{By: "ana", Approve: true, Reason: "fine", Proof: bens.Proof}, nil, "of ben, and the decision says"},
		"no name":                {&mcpcore.Decision{Approve: true, Reason: "fine", Proof: yes.Proof}, nil, "of ana, and the decision says"},
		"about another id":       {&yes, func(a *mcpcore.Approval) { a.ID = "7b0c8c1e-0000-4000-8000-000000000000" }, "something else"},
		"about another call":     {&yes, func(a *mcpcore.Approval) { a.Fingerprint = "ab" }, "something else"},
		"about other facts":      {&yes, func(a *mcpcore.Approval) { a.Facts = "" }, "something else"},
		"about another tool":     {&yes, func(a *mcpcore.Approval) { a.Tool = "members_kick" }, "something else"},
		"of another principal":   {&yes, func(a *mcpcore.Approval) { a.Principal = "stdi" }, "something else"},
		"that expires later":     {&yes, func(a *mcpcore.Approval) { a.Expires = a.Expires.Add(time.Nanosecond) }, "something else"},
		"shown something else":   {&yes, func(a *mcpcore.Approval) { a.Shown = json.RawMessage(`"Read a message?"`) }, "something else"},
		"shown nothing":          {&yes, func(a *mcpcore.Approval) { a.Shown = nil }, "something else"},
		"fields moved":           {&yes, func(a *mcpcore.Approval) { a.Fingerprint, a.Facts = "aab", "b" }, "something else"},
	} {
		about := waiting()
		about.Decision = row.d
		if row.edit != nil {
			row.edit(&about)
		}
		if err := a.Check(about); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want something about %q", name, err, row.says)
		}
	}
	about := waiting()
	about.Decision = &yes
	if err := a.Check(about); err != nil {
		t.Errorf("the genuine one: %v", err)
	}
	for name, left := range map[string]console.Approvers{"removed": parsed(t, benSet), "nobody left": {}, "a new token": parsed(t, mallorySet)} {
		if err := left.Check(about); err == nil {
			t.Errorf("%s: it still counts", name)
		}
	}
}

// What was signed stays checkable only while the message does not change.
func TestAProofStaysGood(t *testing.T) {
	t.Parallel()
	proof, err := hex.DecodeString("83f942ace47d916369bb2ede6d516774b325455e73e03f53043c945f960ee21f520588e95d45b46c2597b2d74d47c9c7d86c397782c27a0913da287c96136e0db988de829c756500b4215423cdfea7fee7476a9ddd8879fc7806765a54615f05")
	if err != nil {
		t.Fatal(err)
	}
	about := waiting()
	about.Decision = &mcpcore.Decision{By: "ana", Approve: true, Reason: "fine", Proof: proof}
	if err := parsed(t, "ana=sha256:471717a6e22c3fa50694bbcb5920aaec62657055687675f1706fea0741e31913").Check(about); err != nil {
		t.Error(err)
	}
}
