package mcpcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	memory "github.com/guildwarden/guildwarden/mcpcore/ledger"
	"github.com/guildwarden/guildwarden/preconditions"
)

// personDeps are deps whose writes a person must approve.
func personDeps(d *desk, a mcpcore.Approver) mcpcore.Deps {
	deps := d.deps()
	deps.Policies = append(deps.Policies, preconditions.PersonForWrites())
	deps.Approver = a
	return deps
}

// user is a client's user who answers as told and counts the questions.
type user struct {
	asked  atomic.Int64
	last   atomic.Value // the question, as text
	answer *mcp.ElicitResult
	err    error
}

func (u *user) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		u.asked.Add(1)
		u.last.Store(r.Params.Message)
		return u.answer, u.err
	}}
}

func yes() *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}
}

func TestPersonAtTheClient(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		user *user // nil for a client that cannot ask
		want mcpcore.Code
		says string
	}{
		{"a yes", &user{answer: yes()}, "", `"done":true`},
		{"a no", &user{answer: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": false}}}, mcpcore.CodeHumanRefused, "refused this"},
		{"a decline", &user{answer: &mcp.ElicitResult{Action: "decline"}}, mcpcore.CodeHumanRefused, "refused this"},
		{"a yes on a decline", &user{answer: &mcp.ElicitResult{Action: "decline", Content: map[string]any{"approve": true}}}, mcpcore.CodeHumanRefused, "refused this"},
		{"a closed window", &user{answer: &mcp.ElicitResult{Action: "cancel"}}, mcpcore.CodeHumanRefused, "closed without an answer"},
		{"nobody to ask", nil, mcpcore.CodeHumanRequired, "approval console"},
	} {
		for _, era := range eras {
			t.Run(row.name+" "+era, func(t *testing.T) {
				t.Parallel()
				d, s, l := &desk{}, &sink{}, newLedger()
				deps := personDeps(d, mcpcore.AtClient{})
				deps.Audit, deps.Ledger = s, l
				var o *mcp.ClientOptions
				if row.user != nil {
					o = row.user.options()
				}
				client := join(t, deps, era, o)
				got := say(t, client, &mcp.CallToolParams{Name: "ticket_update", Arguments: json.RawMessage(goodUpdate)})
				if !strings.Contains(got, row.says) || row.want != "" && !strings.Contains(got, string(row.want)) {
					t.Errorf("got %s", got)
				}
				if acted := len(d.runs()) == 1; acted != (row.want == "") {
					t.Errorf("ran %v", d.runs())
				}
				if row.want == "" && (len(s.events) != 2 || s.events[1].ApprovedBy != "the client's user" || l.spends != 1) {
					t.Errorf("recorded %+v, spent %d", s.events, l.spends)
				}
				// What only reads asks nobody.
				if got := say(t, client, &mcp.CallToolParams{Name: "tickets_list", Arguments: json.RawMessage(goodList)}); !strings.Contains(got, `"done":true`) {
					t.Errorf("a read answers %s", got)
				}
			})
		}
	}
}

// A client that fails to ask, or whose form comes back without a plain true,
// gets no further either.
func TestPersonWhoIsNotReached(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]*user{
		"an error":            {err: errors.New("canary: no window")},
		"a text that is true": {answer: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": "true"}}},
		"an empty form":       {answer: &mcp.ElicitResult{Action: "accept"}},
		"another field":       {answer: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}},
		"an unknown action":   {answer: &mcp.ElicitResult{Action: "maybe", Content: map[string]any{"approve": true}}},
	} {
		for _, era := range eras {
			d := &desk{}
			client := join(t, personDeps(d, mcpcore.AtClient{}), era, u.options())
			res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "ticket_update", Arguments: json.RawMessage(goodUpdate)})
			if err == nil && !res.IsError {
				t.Errorf("%s, %s: it passed", era, name)
			}
			if d.runs() != nil {
				t.Errorf("%s, %s: ran %v", era, name, d.runs())
			}
		}
	}
}

// An answer counts for one call: sent again it is refused, and in a first call
// it is to no question.
func TestAnswerOfAPersonIsSpent(t *testing.T) {
	t.Parallel()
	d := &desk{}
	s := byHand(t, personDeps(d, mcpcore.AtClient{}))
	p := &mcp.CallToolParams{Name: "ticket_update", Arguments: json.RawMessage(goodUpdate)}
	asked, err := s.CallTool(t.Context(), p)
	if err != nil || !asked.NeedsInput() || d.runs() != nil {
		t.Fatalf("no question: %+v, %v", asked, err)
	}
	p.InputResponses = mcp.InputResponseMap{"approve": yes()}
	if got := invalid(t, s, p); !strings.Contains(got, "no question") {
		t.Errorf("a forged answer: %s", got)
	}
	p.RequestState = asked.RequestState
	changed := *p
	changed.Arguments = json.RawMessage(strings.Replace(goodUpdate, "Fire", "Flood", 1))
	if got := invalid(t, s, &changed); !strings.Contains(got, "no question") {
		t.Errorf("other arguments: %s", got)
	}
	if d.runs() != nil {
		t.Fatalf("ran %v", d.runs())
	}
	var wg sync.WaitGroup
	for range 8 { // of the same answer at once, one acts
		wg.Go(func() {
			same := *p
			say(t, s, &same)
		})
	}
	wg.Wait()
	if got := say(t, s, p); !strings.Contains(got, "HUMAN_APPROVAL_REQUIRED") || !strings.Contains(got, "used already") {
		t.Errorf("the answer again: %s", got)
	}
	if len(d.runs()) != 1 {
		t.Errorf("ran %v", d.runs())
	}
}

// decide answers the only pending question.
func decide(t *testing.T, l mcpcore.Ledger, approve bool) mcpcore.Approval {
	t.Helper()
	waiting, err := l.Pending(t.Context(), mcpcore.Filter{})
	if err != nil || len(waiting) != 1 {
		t.Fatalf("pending %+v, %v", waiting, err)
	}
	if err := l.Decide(t.Context(), waiting[0].ID, mcpcore.Decision{By: "ann", Approve: approve, Reason: "canary-reason"}); err != nil {
		t.Fatal(err)
	}
	return waiting[0]
}

func TestPersonInTheLedger(t *testing.T) {
	t.Parallel()
	d, s, l := &desk{}, &sink{}, newLedger()
	deps := personDeps(d, mcpcore.InLedger{Where: "the console"})
	deps.Ledger, deps.Audit = l, s
	c := connect(t, deps)

	a := c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanPending)
	again := c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanPending)
	if a.data["approval_id"] == "" || a.data["approval_id"] != again.data["approval_id"] || a.data["approval_expires_at"] != "2031-05-01T18:15:00Z" {
		t.Errorf("asked with %v, then with %v", a.data, again.data)
	}
	if !strings.Contains(a.text, "the console") {
		t.Errorf("it does not say where to decide: %s", a.text)
	}
	if got := decide(t, l, true); string(got.ID) != a.data["approval_id"] {
		t.Errorf("decided %s", got.ID)
	}
	other := strings.Replace(goodUpdate, "Fire", "Flood", 1)
	b := c.refused(t, "ticket_update", other, mcpcore.CodeHumanPending)
	if b.data["approval_id"] == a.data["approval_id"] {
		t.Error("other arguments found the decision")
	}
	c.passed(t, "ticket_update", goodUpdate)
	if e := s.events[len(s.events)-1]; e.ApprovedBy != "ann" {
		t.Errorf("recorded %+v", e)
	}
	c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanPending) // the next one needs a decision of its own

	if err := l.Decide(t.Context(), mcpcore.ApprovalID(b.data["approval_id"].(string)), mcpcore.Decision{By: "ann", Reason: "canary-no"}); err != nil {
		t.Fatal(err)
	}
	r := c.refused(t, "ticket_update", other, mcpcore.CodeHumanRefused)
	if r.data["refused_by"] != "ann" || r.data["reason"] != "canary-no" {
		t.Errorf("refused with %v", r.data)
	}
	c.refused(t, "ticket_update", other, mcpcore.CodeHumanRefused) // a refusal stands
	l.pass(16 * time.Minute)
	c.refused(t, "ticket_update", other, mcpcore.CodeHumanPending) // for as long as a question does
	if len(d.runs()) != 1 {
		t.Errorf("ran %v", d.runs())
	}
}

func TestDecisionIsForItsPrincipal(t *testing.T) {
	t.Parallel()
	d, l := &desk{}, newLedger()
	deps := personDeps(d, mcpcore.InLedger{})
	who := "ann"
	deps.Ledger, deps.Identify = l, func(context.Context, *mcp.CallToolRequest) (string, error) { return who, nil }
	c := connect(t, deps)
	c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanPending)
	decide(t, l, true)
	who = "bob"
	c.refused(t, "ticket_update", goodUpdate, mcpcore.CodeHumanPending)
	who = "ann"
	c.passed(t, "ticket_update", goodUpdate)
}

// changing is a delete tool whose facts are those of the moment.
func changing(d *desk, title *atomic.Value) mcpcore.Tool {
	tool := d.delete()
	tool.Facts = func(context.Context, *mcpcore.Call) (mcpcore.Facts, error) {
		return mcpcore.Facts{{Name: "title", Value: title.Load().(string)}}, nil
	}
	return tool
}

// What was decided was decided about the facts of then.
func TestDecisionIsAboutItsFacts(t *testing.T) {
	t.Parallel()
	d, l := &desk{}, newLedger()
	var title atomic.Value
	title.Store("Printer on fire")
	deps := personDeps(d, mcpcore.InLedger{})
	deps.Tools, deps.Ledger = []mcpcore.Tool{changing(d, &title)}, l
	c := connect(t, deps)
	c.refused(t, "ticket_delete", `{"ticket":7}`, mcpcore.CodeDryRun)
	call := `{"ticket":7,"__confirm":true}`
	c.refused(t, "ticket_delete", call, mcpcore.CodeHumanPending)
	if shown := decide(t, l, true).Shown; !strings.Contains(string(shown), "Printer on fire") {
		t.Errorf("the person saw %s", shown)
	}
	title.Store("House on fire")
	a := c.refused(t, "ticket_delete", call, mcpcore.CodeFactsChanged)
	if !strings.Contains(a.text, "House on fire") {
		t.Errorf("it does not show what is there now: %s", a.text)
	}
	c.refused(t, "ticket_delete", call, mcpcore.CodeFactsChanged) // the person's yes is gone
	c.refused(t, "ticket_delete", call, mcpcore.CodeHumanPending)
	decide(t, l, true)
	c.passed(t, "ticket_delete", call)
	if len(d.runs()) != 1 {
		t.Errorf("ran %v", d.runs())
	}
}

// The payload's approval and the person's are spent together or not at all.
func TestPersonBesideAPayload(t *testing.T) {
	t.Parallel()
	d, l := &desk{}, newLedger()
	deps := personDeps(d, mcpcore.InLedger{})
	deps.Ledger = l
	c := connect(t, deps)
	args := confirmed(t, c)
	c.refused(t, "notice_send", args, mcpcore.CodeHumanPending)
	if l.spends != 0 {
		t.Error("the payload's approval was spent without the person's")
	}
	decide(t, l, true)
	c.passed(t, "notice_send", args)
	c.refused(t, "notice_send", args, mcpcore.CodeHumanPending)
	decide(t, l, true)
	c.refused(t, "notice_send", args, mcpcore.CodeApprovalReplayed)
	if len(d.runs()) != 1 {
		t.Errorf("ran %v", d.runs())
	}
}

// A call waits for a decision as long as it was told to.
func TestCallWaitsForADecision(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		after time.Duration
		want  mcpcore.Code
	}{{3 * time.Second, ""}, {time.Hour, mcpcore.CodeHumanPending}} {
		synctest.Test(t, func(t *testing.T) {
			d, l := &desk{}, memory.NewMemory(nil)
			deps := personDeps(d, mcpcore.InLedger{Wait: 10 * time.Second})
			deps.Ledger = l
			var told atomic.Int64
			session := join(t, deps, eras[1], &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				if r.Params.Message == "waiting for a person" && r.Params.Total == 10 {
					told.Add(1)
				}
			}})
			later := time.AfterFunc(row.after, func() {
				if waiting, _ := l.Pending(context.Background(), mcpcore.Filter{}); len(waiting) == 1 {
					_ = l.Decide(context.Background(), waiting[0].ID, mcpcore.Decision{By: "ann", Approve: true})
				}
			})
			defer later.Stop()
			began := time.Now()
			p := &mcp.CallToolParams{Name: "ticket_update", Arguments: json.RawMessage(goodUpdate)}
			p.SetProgressToken("p")
			if got := say(t, session, p); strings.Contains(got, string(mcpcore.CodeHumanPending)) != (row.want != "") {
				t.Errorf("decided after %s it answers %s", row.after, got)
			}
			if took := time.Since(began); took > 11*time.Second {
				t.Errorf("it waited %s", took)
			}
			synctest.Wait()
			if told.Load() == 0 || told.Load() > 3 {
				t.Errorf("the client was told %d times", told.Load())
			}
		})
	}
}

// theirs is an approver of an embedder's own.
type theirs func(context.Context, mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error)

func (f theirs) Ask(ctx context.Context, r mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
	return f(ctx, r)
}

func TestApproverOfOnesOwn(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		ask  theirs
		want mcpcore.Code
	}{
		{"a yes for this call", func(context.Context, mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
			return mcpcore.ApprovalState{Decision: &mcpcore.Decision{By: "eve", Approve: true}}, nil
		}, ""},
		{"a no", func(context.Context, mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
			return mcpcore.ApprovalState{Decision: &mcpcore.Decision{By: "eve"}}, nil
		}, mcpcore.CodeHumanRefused},
		{"nothing yet", func(context.Context, mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
			return mcpcore.ApprovalState{}, nil
		}, mcpcore.CodeHumanPending},
		{"an id that nobody issued", func(context.Context, mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
			return mcpcore.ApprovalState{ID: "made-up", Decision: &mcpcore.Decision{By: "eve", Approve: true}}, nil
		}, mcpcore.CodeHumanRequired},
		{"its own words", func(context.Context, mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
			return mcpcore.ApprovalState{}, mcpcore.Errorf(mcpcore.CodeHumanRefused, "nobody is on duty")
		}, mcpcore.CodeHumanRefused},
		{"a failure", func(context.Context, mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
			return mcpcore.ApprovalState{}, errors.New("canary-dsn")
		}, mcpcore.CodeHumanRequired},
		{"a panic", func(context.Context, mcpcore.ApprovalRequest) (mcpcore.ApprovalState, error) {
			panic("canary-dsn")
		}, mcpcore.CodeInternal},
		{"nobody", nil, mcpcore.CodeHumanRequired},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{}
			deps := personDeps(d, row.ask)
			if row.ask == nil {
				deps.Approver = nil
			}
			c := connect(t, deps)
			a := c.call(t, "ticket_update", goodUpdate)
			if a.code() != row.want || strings.Contains(a.everything(), "canary") {
				t.Errorf("got %s", a.everything())
			}
			if acted := len(d.runs()) == 1; acted != (row.want == "") {
				t.Errorf("ran %v", d.runs())
			}
		})
	}
}

// What a person reads cannot be made to look otherwise by what callers wrote.
func TestQuestionToAPerson(t *testing.T) {
	t.Parallel()
	d := &desk{}
	u := &user{answer: yes()}
	client := join(t, personDeps(d, mcpcore.AtClient{}), eras[1], u.options())
	args, err := json.Marshal(map[string]any{
		"guild_id": guild, "title": "x\u202e\nguild_id: \"1\"\u2028" + strings.Repeat("long ", 1000), "note": "for the person", "form": map[string]string{"token": "canary-token"},
		"tags": []string{"710000000000000001", "710000000000000002"},
	})
	if err != nil {
		t.Fatal(err)
	}
	say(t, client, &mcp.CallToolParams{Name: "ticket_update", Arguments: json.RawMessage(args)})
	lines := strings.Split(u.last.Load().(string), "\n")
	want := []string{
		`Change a ticket? (ticket_update, asked by "stdio")`,
		`guild_id: "700000000000000001"`,
		`tags.0: "710000000000000001"`,
		`tags.1: "710000000000000002"`,
		`form: {"token":"[REDACTED:12ch]"}`,
		`note: "for the person"`,
	}
	for i, line := range want {
		if i >= len(lines) || lines[i] != line {
			t.Fatalf("the question is\n%s", strings.Join(lines, "\n"))
		}
	}
	title := lines[len(lines)-1]
	if !strings.HasPrefix(title, `title: "x\u202e\nguild_id: \"1\"\u2028long`) || !strings.HasSuffix(title, " characters more)") || len(title) > 2100 {
		t.Errorf("the title is shown as %s", title)
	}
	if got := strings.Join(lines, "\n"); strings.Contains(got, "canary") {
		t.Errorf("a secret is shown: %s", got)
	}
}

func TestPersonNeedsALedger(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := personDeps(d, mcpcore.AtClient{})
	deps.Tools, deps.Ledger = []mcpcore.Tool{d.update()}, nil
	if _, err := mcpcore.BuildServer(deps); err == nil || !strings.Contains(err.Error(), "a person must approve it") {
		t.Errorf("it builds: %v", err)
	}
	reads := d.list()
	reads.Person = true // a tool can ask for it whatever its effect
	deps.Tools, deps.Policies, deps.Ledger, deps.Approver = []mcpcore.Tool{reads}, nil, newLedger(), nil
	connect(t, deps).refused(t, "tickets_list", goodList, mcpcore.CodeHumanRequired)
}

// A preview counts for what it showed.
func TestPreviewIsHeldAgainstItsConfirmation(t *testing.T) {
	t.Parallel()
	for _, demand := range []bool{false, true} {
		t.Run(fmt.Sprint("demanded ", demand), func(t *testing.T) {
			t.Parallel()
			d, s, l := &desk{}, &sink{}, newLedger()
			var title atomic.Value
			title.Store("Printer on fire")
			deps := d.deps()
			deps.Tools, deps.Ledger, deps.Audit, deps.RequirePreview = []mcpcore.Tool{changing(d, &title)}, l, s, demand
			c := connect(t, deps)
			confirm := `{"ticket":7,"__confirm":true}`
			if demand {
				c.refused(t, "ticket_delete", confirm, mcpcore.CodePreviewRequired)
			} else {
				c.passed(t, "ticket_delete", confirm)
				if e := s.events[len(s.events)-1]; !e.Unexpected {
					t.Error("an unexpected confirmation is not marked")
				}
			}
			before := len(d.runs())
			c.refused(t, "ticket_delete", `{"ticket":7}`, mcpcore.CodeDryRun)
			if demand { // a preview of other arguments is none of these
				c.refused(t, "ticket_delete", `{"ticket":8,"__confirm":true}`, mcpcore.CodePreviewRequired)
			}
			title.Store("House on fire")
			c.refused(t, "ticket_delete", confirm, mcpcore.CodeFactsChanged)
			if len(d.runs()) != before {
				t.Errorf("ran %v", d.runs())
			}
			c.passed(t, "ticket_delete", confirm) // the refusal showed what is there now
			if e := s.events[len(s.events)-1]; e.Unexpected {
				t.Error("an expected confirmation is marked")
			}
			l.pass(16 * time.Minute)
			if demand {
				c.refused(t, "ticket_delete", confirm, mcpcore.CodePreviewRequired)
			}
		})
	}
}

func TestPreviewsNeedTheirLedger(t *testing.T) {
	t.Parallel()
	d, l := &desk{}, newLedger()
	deps := d.deps()
	deps.Ledger = l
	c := connect(t, deps)
	l.down = errors.New("canary-dsn")
	for _, args := range []string{`{"ticket":7}`, `{"ticket":7,"__confirm":true}`} {
		if a := c.refused(t, "ticket_delete", args, mcpcore.CodeLedger); strings.Contains(a.everything(), "canary") {
			t.Errorf("the ledger's words reached the client: %s", a.text)
		}
	}
	c.passed(t, "tickets_list", goodList)
	if len(d.runs()) != 1 {
		t.Errorf("ran %v", d.runs())
	}
	deps.Ledger, deps.RequirePreview, deps.Tools = nil, true, []mcpcore.Tool{d.list()}
	if _, err := mcpcore.BuildServer(deps); err == nil || !strings.Contains(err.Error(), "RequirePreview") {
		t.Errorf("it builds: %v", err)
	}
}

// A call that makes steps asks once, with every step that a person must approve
// and its final arguments.
func TestPersonApprovesSteps(t *testing.T) {
	t.Parallel()
	step := func(tool, args, more string) string { return `{"tool":"` + tool + `","args":` + args + more + `}` }
	update, list := step("ticket_update", `{"guild_id":"700000000000000001","title":"Fire","note":"for the person"}`, ""), step("tickets_list", goodList, "")
	for _, row := range []struct {
		name   string
		steps  []string
		agrees bool
		asked  int64
		ran    int
		says   string
	}{
		{"two writes and a read", []string{update, list, step("ticket_update", `{"guild_id":"700000000000000002","title":"Flood"}`, "")}, true, 1, 3, `"code":""`},
		{"a no", []string{list, update}, false, 1, 0, "HUMAN_APPROVAL_REFUSED"},
		{"reads alone", []string{list, list}, false, 0, 2, `"code":""`},
		{"a later one that depends", []string{update, step("ticket_update", `{}`, `,"depends":true,"give":`+goodUpdate)}, true, 0, 0, "step 2 (ticket_update), and its arguments depend"},
		{"a read that depends", []string{update, step("tickets_list", `{}`, `,"depends":true,"give":`+goodList)}, true, 1, 2, `"code":""`},
		{"too much to read", slices.Repeat([]string{step("ticket_update", `{"guild_id":"700000000000000001","title":"`+strings.Repeat("long ", 80)+`","form":{"color":"`+strings.Repeat("red ", 200)+`"}}`, "")}, 20), true, 0, 0, "too much to be shown"},
	} {
		for _, era := range eras {
			t.Run(row.name+" "+era, func(t *testing.T) {
				t.Parallel()
				d, l := &desk{}, newLedger()
				deps := personDeps(d, mcpcore.AtClient{})
				deps.Ledger = l
				deps.Tools = append(deps.Tools, relaying(nil))
				u := &user{answer: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": row.agrees}}}
				client := join(t, deps, era, u.options())
				got := say(t, client, &mcp.CallToolParams{Name: "relay", Arguments: json.RawMessage(`{"steps":[` + strings.Join(row.steps, ",") + `]}`)})
				if !strings.Contains(got, row.says) || u.asked.Load() != row.asked || len(d.runs()) != row.ran {
					t.Errorf("got %s, asked %d times, ran %v", got, u.asked.Load(), d.runs())
				}
				if question, _ := u.last.Load().(string); row.asked == 1 &&
					(!strings.Contains(question, `Change a ticket (ticket_update) {"guild_id":"700000000000000001","note":"for the person","title":"Fire"}`) || strings.Contains(question, "tickets_list")) {
					t.Errorf("the question is\n%s", question)
				}
			})
		}
	}
}
