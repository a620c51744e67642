package operationtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
)

func (p *play) off() {
	p.setup.Permits = mcpcore.WorkflowPolicy{Source: "the test's policy"}
	s := p.connect(false)
	for _, tool := range []string{p.Plan, p.Execute} {
		r := p.call(s, tool, p.args(""))
		p.want(r, mcpcore.CodeWorkflowOff, "")
		if line := "workflows." + p.Workflow + ".enabled: true"; !strings.Contains(r.raw, line) || !strings.Contains(r.raw, "the test's policy") {
			p.Errorf("it does not say that %s would turn it on: %s", line, r.raw)
		}
	}
	list, err := s.ListTools(p.Context(), nil)
	if err != nil {
		p.Fatal(err)
	}
	for _, t := range list.Tools {
		if t.Name == p.Plan || t.Name == p.Execute || p.Verify != "" && t.Name == p.Verify {
			p.Errorf("%s is listed and off", t.Name)
		}
	}
	p.untouched()
	if n := p.world.Reads(); n > 0 {
		p.Errorf("%d requests were made for a workflow that is off", n)
	}
}

func (p *play) scope() {
	if len(p.Permit.Scopes) == 0 {
		p.Fatal("the subject's permit names no targets")
	}
	for name := range p.Permit.Scopes {
		q := newPlay(p.T, p.Subject)
		permit := q.Permit
		permit.Scopes = map[string][]string{}
		for other, ids := range q.Permit.Scopes {
			if other != name {
				permit.Scopes[other] = ids
			}
		}
		q.setup.Permits.Permits = map[string]mcpcore.Permit{q.Workflow: permit}
		r := q.do(mcpcore.CodeWorkflowScope, "")
		if !strings.Contains(r.raw, "workflows."+q.Workflow+".scopes."+name) {
			p.Errorf("without %s it answers %s", name, r.raw)
		}
		q.untouched()
	}
}

func (p *play) tools() {
	list, err := p.connect(false).ListTools(p.Context(), nil)
	if err != nil {
		p.Fatal(err)
	}
	found := map[string]*mcp.Tool{}
	for _, t := range list.Tools {
		found[t.Name] = t
	}
	plan, execute := found[p.Plan], found[p.Execute]
	switch {
	case plan == nil || execute == nil || p.Verify != "" && found[p.Verify] == nil:
		p.Fatalf("of %s, %s and %s some are not listed", p.Plan, p.Execute, p.Verify)
	case !plan.Annotations.ReadOnlyHint:
		p.Error("the plan is not read-only")
	case execute.Annotations.ReadOnlyHint || execute.Annotations.IdempotentHint:
		p.Error("executing is read-only or repeatable")
	}
}

func (p *play) plans() {
	s := p.connect(false)
	first, second := p.call(s, p.Plan, p.args("")), p.call(s, p.Plan, p.args(""))
	p.want(first, "", "planned")
	for _, member := range []string{"schemaVersion", "createdAt", "digest", "operationKeyHash", "action", "targets", "warnings", "state"} {
		if first.fields[member] == nil {
			p.Errorf("the plan has no %s: %s", member, first.raw)
		}
	}
	if first.fields["digest"] != second.fields["digest"] {
		p.Errorf("two plans of one state differ:\n%s\n%s", first.raw, second.raw)
	}
	if strings.Contains(first.raw+first.text, p.key) {
		p.Errorf("the plan tells the key: %s\n%s", first.raw, first.text)
	}
	if !strings.Contains(first.text, fmt.Sprint(first.fields["digest"])) {
		p.Errorf("the text does not tell the digest: %s", first.text)
	}
	p.untouched()
	if n := p.audit.count(); n > 0 {
		p.Errorf("%d audit events of plans", n)
	}
}

func (p *play) acts() {
	for _, era := range []string{era25, era26} {
		q := newPlay(p.T, p.Subject)
		q.era = era
		r := q.do("", "completed")
		q.wrote(q.Sends)
		q.held("", 0)
		receipt := q.receipt(mcpcore.StatusCompleted)
		if receipt.Verification != mcpcore.Match || q.Resource != "" && receipt.ResourceID != q.Resource {
			p.Errorf("%s: the receipt is %+v", era, receipt)
		}
		if r.fields["operationKeyHash"] != string(mcpcore.HashKey(q.key)) || strings.Contains(r.raw, q.key) {
			p.Errorf("%s: %s", era, r.raw)
		}
		if n := q.audit.count(); n != 2 {
			p.Errorf("%s: %d audit events", era, n)
		}
	}
}

func (p *play) detached() {
	s := p.connect(false)
	plan := p.call(s, p.Plan, p.args(""))
	digest := fmt.Sprint(plan.fields["digest"])
	wrong := p.call(s, p.Execute, p.args("", `"planDigest":"hmac-sha256:`+strings.Repeat("0", 64)+`"`))
	p.want(wrong, mcpcore.CodePlanChanged, "plan-changed")
	if wrong.fields["actualDigest"] != digest || wrong.fields["expectedDigest"] == nil {
		p.Errorf("it does not tell the digests: %s", wrong.raw)
	}
	p.untouched()
	p.want(p.call(s, p.Execute, p.args("", `"planDigest":"`+digest+`"`)), "", "completed")
	p.wrote(p.Sends)
}

func (p *play) console() {
	p.setup.Approver, p.user = mcpcore.InLedger{}, nil
	s := p.connect(false)
	p.want(p.call(s, p.Execute, p.args("")), mcpcore.CodeHumanPending, "")
	p.untouched()
	waiting, err := p.setup.Ledger.Pending(p.Context(), mcpcore.Filter{})
	if err != nil || len(waiting) != 1 {
		p.Fatalf("waiting: %v, %v", waiting, err)
	}
	if strings.Contains(string(waiting[0].Shown), p.key) || !strings.Contains(string(waiting[0].Shown), "hmac-sha256:") {
		p.Errorf("a person sees %s", waiting[0].Shown)
	}
	if err := p.setup.Ledger.Decide(p.Context(), waiting[0].ID, mcpcore.Decision{By: "Ada", Approve: true}); err != nil {
		p.Fatal(err)
	}
	p.want(p.call(s, p.Execute, p.args("")), "", "completed")
	p.wrote(p.Sends)

	q := newPlay(p.T, p.Subject)
	q.setup.Approver, q.user = mcpcore.InLedger{}, nil
	s = q.connect(false)
	before := q.call(s, q.Plan, q.args(""))
	q.want(q.call(s, q.Execute, q.args("")), mcpcore.CodeHumanPending, "")
	if waiting, err = q.setup.Ledger.Pending(p.Context(), mcpcore.Filter{}); err != nil || len(waiting) != 1 {
		p.Fatalf("waiting: %v, %v", waiting, err)
	}
	if err := q.setup.Ledger.Decide(p.Context(), waiting[0].ID, mcpcore.Decision{By: "Ada", Approve: true}); err != nil {
		p.Fatal(err)
	}
	q.world.Change()
	r := q.call(s, q.Execute, q.args(""))
	q.want(r, mcpcore.CodePlanChanged, "plan-changed")
	if r.fields["expectedDigest"] != before.fields["digest"] || r.fields["actualDigest"] == before.fields["digest"] {
		p.Errorf("it does not tell the digests: %s", r.raw)
	}
	q.untouched()

	q = newPlay(p.T, p.Subject)
	q.setup.Approver, q.user = mcpcore.InLedger{}, nil
	s = q.connect(false)
	q.want(q.call(s, q.Execute, q.args("")), mcpcore.CodeHumanPending, "")
	if waiting, err = q.setup.Ledger.Pending(p.Context(), mcpcore.Filter{}); err != nil || len(waiting) != 1 {
		p.Fatalf("waiting: %v, %v", waiting, err)
	}
	if err := q.setup.Ledger.Decide(p.Context(), waiting[0].ID, mcpcore.Decision{By: "Ada"}); err != nil {
		p.Fatal(err)
	}
	q.want(q.call(s, q.Execute, q.args("")), mcpcore.CodeHumanRefused, "confirmation-declined")
	q.untouched()
}

func (p *play) mute() {
	for _, era := range []string{era25, era26} {
		q := newPlay(p.T, p.Subject)
		q.era, q.user = era, nil
		q.do(mcpcore.CodeHumanRequired, "")
		q.untouched()
	}
}

func (p *play) declined() {
	for _, row := range []struct {
		answer *mcp.ElicitResult
		status string
	}{
		{&mcp.ElicitResult{Action: "decline"}, "confirmation-declined"},
		{&mcp.ElicitResult{Action: "cancel"}, "confirmation-declined"},
		{&mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": false}}, "confirmation-invalid"},
	} {
		for _, era := range []string{era25, era26} {
			q := newPlay(p.T, p.Subject)
			q.era, q.user = era, func() *mcp.ElicitResult { return row.answer }
			q.do(mcpcore.CodeHumanRefused, row.status)
			q.untouched()
		}
	}
}

// ask makes the first call by hand and gives the second one.
func (p *play) ask(s *mcp.ClientSession) *mcp.CallToolParams {
	p.Helper()
	call := &mcp.CallToolParams{Name: p.Execute, Arguments: p.args("")}
	res, err := s.CallTool(p.Context(), call)
	if err != nil || !res.NeedsInput() || res.RequestState == "" {
		p.Fatalf("nobody is asked: %+v, %v", res, err)
	}
	call.RequestState, call.InputResponses = res.RequestState, mcp.InputResponseMap{"approve": yes()}
	return call
}

func (p *play) send(s *mcp.ClientSession, call *mcp.CallToolParams) reply {
	p.Helper()
	res, err := s.CallTool(p.Context(), call)
	if err != nil {
		p.Fatal(err)
	}
	return p.read(res)
}

// invalid wants a call to be refused by the protocol because of its answer.
func (p *play) invalid(s *mcp.ClientSession, call *mcp.CallToolParams, name string) {
	p.Helper()
	res, err := s.CallTool(p.Context(), call)
	var data struct {
		Code   mcpcore.Code
		Status string
	}
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code != jsonrpc.CodeInvalidParams || json.Unmarshal(e.Data, &data) != nil || data.Code != mcpcore.CodeValidation || data.Status != "confirmation-invalid" {
		p.Errorf("%s: %+v, %v with %+v", name, res, err, data)
	}
}

func (p *play) forged() {
	s := p.connect(true)
	good := p.ask(s)
	for name, forge := range map[string]func(c *mcp.CallToolParams){
		"no state": func(c *mcp.CallToolParams) { c.RequestState = "" },
		"a changed state": func(c *mcp.CallToolParams) {
			b := []byte(c.RequestState)
			b[len(b)/2] ^= 1
			c.RequestState = string(b)
		},
		"another key": func(c *mcp.CallToolParams) {
			c.Arguments = json.RawMessage(strings.Replace(string(p.args("")), p.key, p.key+"2", 1))
		},
		"another tool": func(c *mcp.CallToolParams) { c.Name = p.Plan },
	} {
		call := *good
		forge(&call)
		p.invalid(s, &call, name)
		p.untouched()
	}
	p.pass(mcpcore.MaxLifetime + time.Second)
	p.invalid(s, good, "too late")
	p.untouched()
}

func (p *play) replayed() {
	s := p.connect(true)
	call := p.ask(s)
	p.want(p.send(s, call), "", "completed")
	p.want(p.send(s, call), mcpcore.CodeKeyConflict, "operation-key-conflict")
	p.wrote(p.Sends)
}

func (p *play) changed() {
	s := p.connect(true)
	before := p.call(s, p.Plan, p.args(""))
	call := p.ask(s)
	p.world.Change()
	r := p.send(s, call)
	p.want(r, mcpcore.CodePlanChanged, "plan-changed")
	if r.fields["expectedDigest"] != before.fields["digest"] || r.fields["actualDigest"] == before.fields["digest"] {
		p.Errorf("it does not tell the digests: %s", r.raw)
	}
	p.untouched()
	// The key is free: the new plan can be approved with it.
	p.want(p.send(s, p.ask(s)), "", "completed")

	// What changes after the approval was spent, and after the claim.
	for _, step := range []string{"Claim"} {
		q := newPlay(p.T, p.Subject)
		q.ops.before = map[string]func() error{step: func() error { q.world.Change(); return nil }}
		q.do(mcpcore.CodePlanChanged, "plan-changed")
		q.untouched()
	}
}

func (p *play) renamed() {
	if p.world.Rename == nil {
		p.Skip("the plan shows nothing that it does not bind")
	}
	s := p.connect(true)
	call := p.ask(s)
	p.world.Rename()
	p.want(p.send(s, call), "", "completed")
	p.wrote(p.Sends)
}

func (p *play) current() {
	if p.world.Settle == nil {
		p.Skip("the change cannot be there already")
	}
	p.world.Settle()
	p.user = nil // nobody is asked
	p.want(p.call(p.connect(false), p.Plan, p.args("")), "", "already-current")
	p.do("", "already-current")
	p.untouched()
	if n := p.audit.count(); n > 0 {
		p.Errorf("%d audit events", n)
	}
}

func (p *play) spent() {
	p.do("", "completed")
	before := p.world.Reads()
	p.do(mcpcore.CodeKeyConflict, "operation-key-conflict")
	p.wrote(p.Sends)
	if p.world.Reads() != before {
		p.Error("it read for a key that is spent")
	}

	q := newPlay(p.T, p.Subject)
	if q.world.Fail(Forbidden) {
		q.do(mcpcore.CodePermission, "failed")
		sent := q.world.Writes()
		q.do(mcpcore.CodeKeyConflict, "operation-key-conflict")
		q.wrote(sent)
	}
}

func (p *play) refusedByOther() {
	if !p.world.Fail(Forbidden) {
		p.Skip("the world refuses nothing")
	}
	p.do(mcpcore.CodePermission, "failed")
	p.wrote(p.Sends[:1])
	p.receipt(mcpcore.StatusFailed)
	p.held("", 0)
	p.key = "canary-key-0000000002"
	p.do("", "completed")
}

func (p *play) uncertain() {
	for _, fault := range []Fault{Limited, Failing, Reset, Lost, Garbled, Unread} {
		q := newPlay(p.T, p.Subject)
		if !q.world.Fail(fault) {
			continue
		}
		r := q.do(mcpcore.CodeOutcomeUnknown, "outcome-uncertain")
		if fault != Unread {
			q.wrote(q.Sends[:1])
		} else {
			q.wrote(q.first())
		}
		q.receipt(mcpcore.StatusUncertain)
		q.held(mcpcore.ClaimQuarantined, 1)
		if p.Failed() {
			p.Fatalf("after %s", fault)
		}
		sent := q.world.Writes()
		q.do(mcpcore.CodeKeyConflict, "operation-key-conflict")
		first := q.key
		q.key = "canary-key-0000000002"
		// Not by waiting either.
		q.pass(24 * time.Hour)
		other := q.call(q.connect(false), q.Execute, q.args(""))
		if other.code == "" && other.status != "already-current" || other.code == mcpcore.CodeOutcomeUnknown {
			p.Errorf("after %s the target is written again: %s", fault, other.raw)
		}
		q.wrote(sent)
		claim, _ := r.fields["claimId"].(string)
		if err := q.ops.Resolve(p.Context(), mcpcore.ClaimID(claim), "Ada"); err != nil {
			p.Errorf("resolve: %v", err)
		}
		q.held("", 0)
		q.key = first
		if receipt := q.receipt(mcpcore.StatusUncertain); !receipt.Resolved {
			p.Error("the receipt does not say that it was resolved")
		}
	}
}

var errDown = errors.New("the database is gone")

func (p *play) ledgerFails() {
	for _, step := range []string{"Claim", "Reserve", "Pending"} {
		q := newPlay(p.T, p.Subject)
		q.ops.before = map[string]func() error{step: func() error { return errDown }}
		q.do(mcpcore.CodeLedger, "")
		q.wrote(nil)
		q.held("", 0)
	}
	for _, step := range []string{"Reserve", "Pending"} { // was done, and its answer is lost
		q := newPlay(p.T, p.Subject)
		q.ops.lost = step
		q.do(mcpcore.CodeLedger, "")
		q.wrote(nil)
		q.receipt(mcpcore.StatusFailed)
		q.held("", 0)
	}
}

func (p *play) unfinished() {
	p.ops.before = map[string]func() error{"Finish": func() error { return errDown }}
	p.do("", "completed-operation-record-failed")
	p.wrote(p.first())
	p.receipt(mcpcore.StatusPending)
	p.pass(24 * time.Hour)
	p.held(mcpcore.ClaimQuarantined, 1)
}

func (p *play) auditFails() {
	p.audit.fail = true
	p.do(mcpcore.CodeAuditUnavailable, "")
	p.untouched()
}

func (p *play) paused() {
	for _, step := range []string{"Reserve", "Pending"} {
		q := newPlay(p.T, p.Subject)
		q.ops.before = map[string]func() error{step: func() error { q.pass(time.Hour); return nil }}
		q.do(mcpcore.CodeClaimLost, "claim-lost")
		q.wrote(nil)
	}
}

func (p *play) unarmed() {
	p.setup.Armed = false
	tool, err := p.connect(false).ListTools(p.Context(), nil)
	if err != nil {
		p.Fatal(err)
	}
	i := slices.IndexFunc(tool.Tools, func(t *mcp.Tool) bool { return t.Name == p.Execute })
	if i < 0 || !*tool.Tools[i].Annotations.DestructiveHint {
		p.Skip("it does not destroy")
	}
	p.do(mcpcore.CodeDryRun, "")
	p.untouched()
}

func (p *play) contentFree() {
	p.do("", "completed")
	receipts, err := p.ops.Receipts(p.Context(), mcpcore.ReceiptFilter{})
	want := 1
	if p.Children {
		want += len(p.Sends)
	}
	if err != nil || len(receipts) != want {
		p.Fatalf("receipts: %v, %v", receipts, err)
	}
	kept := fmt.Sprintf("%+v", receipts)
	for _, secret := range append(p.Secrets, p.key) {
		if strings.Contains(kept, secret) {
			p.Errorf("the receipt holds %q: %s", secret, kept)
		}
	}
	if strings.Contains(string(p.audit.all[0].Args), p.key) {
		p.Errorf("the audit holds the key: %s", p.audit.all[0].Args)
	}
}

func (p *play) verifies() {
	if p.Verify == "" {
		p.Skip("there is nothing to verify")
	}
	s := p.connect(false)
	before := p.world.Reads()
	p.want(p.call(s, p.Verify, p.args("")), "", "absent")
	if p.world.Reads() != before {
		p.Error("it read without a receipt")
	}
	p.do("", "completed")
	p.want(p.call(s, p.Verify, p.args("")), "", "verified")
	p.setup.StateKey = []byte(strings.Repeat("x", 32))
	s = p.connect(false)
	before = p.world.Reads()
	p.want(p.call(s, p.Verify, p.args("")), "", "blocked")
	if p.world.Reads() != before {
		p.Error("it read for a request that is not the receipt's")
	}
	p.wrote(p.Sends)
}

func (p *play) refusals() {
	for _, row := range p.Refusals {
		q := newPlay(p.T, p.Subject)
		if row.Before != nil {
			row.Before(q.world)
		}
		if row.Policy != nil {
			row.Policy(&q.setup.Permits)
		}
		s := q.connect(false)
		for _, tool := range []string{q.Plan, q.Execute} {
			r := q.call(s, tool, q.args(row.Args))
			if r.code != row.Code || row.Reason != "" && r.fields["reason"] != row.Reason {
				p.Errorf("%s: %s answers %s, want %s %s", row.Name, tool, r.raw, row.Code, row.Reason)
			}
		}
		q.untouched()
	}
}
