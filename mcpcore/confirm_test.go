package mcpcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/preconditions"
)

// TestL34TwoKeys turns both keys in every way.
func TestL34TwoKeys(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		confirm string // a member of the arguments
		turned  bool
	}{
		{`,"__confirm":true`, true},
		{``, false},
		{`,"__confirm":false`, false},
		{`,"__confirm":"true"`, false},
		{`,"__confirm":1`, false},
		{`,"__confirm":null`, false},
		{`,"__confirm":[true]`, false},
		{`,"__confirm":{"__confirm":true}`, false},
	} {
		for _, armed := range []bool{true, false} {
			d, s := &desk{}, &sink{}
			deps := d.deps()
			deps.Audit, deps.Policies = s, []mcpcore.Policy{preconditions.TwoKeys(armed)}
			c := connect(t, deps)
			args := `{"ticket":7,"reason":"canary-private","form":{"token":"canary-token","color":"red"}` + row.confirm + `}`
			if armed && row.turned {
				c.passed(t, "ticket_delete", args)
				want := `ticket_delete {"form":{"color":"red","token":"canary-token"},"reason":"canary-private","ticket":7}`
				if got := d.runs(); len(got) != 1 || got[0] != want {
					t.Errorf("%s: the handler got %v", args, got)
				}
				for _, e := range s.events {
					if got, want := string(e.Args), `{"form":{"color":"red","token":"[REDACTED:12ch]"},"reason":"[REDACTED:14ch]","ticket":7}`; got != want {
						t.Errorf("the %s records %s, want %s", e.Phase, got, want)
					}
				}
				continue
			}
			a := c.refused(t, "ticket_delete", args, mcpcore.CodeDryRun)
			preview, err := json.Marshal(a.data["preview"])
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(preview), `{"form":{"color":"red","token":"[REDACTED:12ch]"},"reason":"[REDACTED:14ch]","ticket":7}`; got != want {
				t.Errorf("armed %v, %s: the preview is %s, want %s", armed, args, got, want)
			}
			if strings.Contains(a.everything(), "canary") {
				t.Errorf("a secret reached the client: %s", a.everything())
			}
			if facts, _ := json.Marshal(a.data["facts"]); string(facts) != `[{"name":"title","value":"Printer on fire"}]` || !strings.Contains(a.text, `title: "Printer on fire"`) {
				t.Errorf("the facts are %s in\n%s", facts, a.text)
			}
			if d.runs() != nil || s.phases() != "" {
				t.Errorf("armed %v, %s: ran %v, recorded %q", armed, args, d.runs(), s.phases())
			}
		}
	}
}

func TestL34NestedConfirmationIsRefused(t *testing.T) {
	t.Parallel()
	d := &desk{}
	c := connect(t, d.deps())
	for tool, args := range map[string]string{
		"ticket_delete": `{"ticket":7,"form":{"__confirm":true}}`,
		"ticket_update": `{"guild_id":"700000000000000001","title":"x","form":{"__confirm_id":"a"}}`,
	} {
		a := c.refused(t, tool, args, mcpcore.CodeValidation)
		for path, message := range a.issues() {
			if !strings.HasPrefix(path, "form.__confirm") || !strings.Contains(message, "top level") {
				t.Errorf("%s: %s %s", tool, path, message)
			}
		}
	}
	if d.runs() != nil {
		t.Errorf("ran %v", d.runs())
	}
}

func TestL34FieldsArePublishedOnGatedToolsAlone(t *testing.T) {
	t.Parallel()
	c := connect(t, new(desk).deps())
	field := regexp.MustCompile(`__[a-z_]+`)
	for tool, want := range map[string][]string{
		"tickets_list":  nil,
		"ticket_update": nil,
		"ticket_delete": {"__confirm"},
		"notice_send":   {"__confirm", "__confirm_hash", "__confirm_id"},
	} {
		schema := c.tools[tool].InputSchema.(map[string]any)
		var got []string
		for name := range schema["properties"].(map[string]any) {
			if field.MatchString(name) {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s publishes %v, want %v", tool, got, want)
		}
		required, _ := schema["required"].([]any)
		for _, required := range required {
			if field.MatchString(required.(string)) {
				t.Errorf("%s requires %v", tool, required)
			}
		}
	}
}

// A flag where it does nothing is taken off and changes nothing.
func TestL34FlagOnOtherTools(t *testing.T) {
	t.Parallel()
	d := &desk{}
	c := connect(t, d.deps())
	c.passed(t, "tickets_list", `{"limit":5,"__confirm":true}`)
	c.passed(t, "ticket_update", `{"guild_id":"700000000000000001","title":"x","__confirm":true,"__consent_id":"a"}`)
	if got := d.runs(); !slices.Equal(got, []string{`tickets_list {"limit":5}`, `ticket_update {"guild_id":"700000000000000001","title":"x"}`}) {
		t.Errorf("the handlers got %v", got)
	}
}

func TestPayloadIsSentOnceWithItsApproval(t *testing.T) {
	t.Parallel()
	d, l, s := &desk{}, newLedger(), &sink{}
	deps := d.deps()
	deps.Ledger, deps.Audit = l, s
	c := connect(t, deps)

	p := c.refused(t, "notice_send", goodUpdate, mcpcore.CodePayloadRequired)
	if got := p.data["approval_expires_at"]; got != "2031-05-01T18:05:00Z" {
		t.Errorf("expires at %v", got)
	}
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(p.data["payload_hash"].(string)) {
		t.Errorf("hash is %v", p.data["payload_hash"])
	}
	args := confirmWith(goodUpdate, p)
	c.passed(t, "notice_send", args)
	if got := d.runs(); len(got) != 1 || got[0] != "notice_send "+goodUpdate {
		t.Errorf("the handler got %v", got)
	}
	c.refused(t, "notice_send", args, mcpcore.CodeApprovalReplayed)
	if got, want := s.phases(), "notice_send intent  ;notice_send outcome success ;notice_send intent  ;notice_send outcome tool_error PAYLOAD_CONFIRMATION_APPROVAL_REPLAYED;"; got != want {
		t.Errorf("recorded %s, want %s", got, want)
	}
	for _, e := range s.events {
		if strings.Contains(string(e.Args), "__confirm") || strings.Contains(string(e.Args), p.data["approval_id"].(string)) {
			t.Errorf("recorded %s", e.Args)
		}
	}
}

func TestPayloadRefusals(t *testing.T) {
	t.Parallel()
	other := `{"guild_id":"700000000000000001","title":"Flood"}`
	for _, row := range []struct {
		name string
		args func(t *testing.T, c *client, l *ledger) string
		want mcpcore.Code
	}{
		{"no confirmation", func(*testing.T, *client, *ledger) string { return goodUpdate }, mcpcore.CodePayloadRequired},
		{"confirmed without a hash", func(*testing.T, *client, *ledger) string {
			return strings.TrimSuffix(goodUpdate, "}") + `,"__confirm":true}`
		}, mcpcore.CodePayloadRequired},
		{"hash and id without the confirmation", func(t *testing.T, c *client, _ *ledger) string {
			return strings.Replace(confirmed(t, c), `"__confirm":true`, `"__confirm":"true"`, 1)
		}, mcpcore.CodePayloadRequired},
		{"no id", func(t *testing.T, c *client, _ *ledger) string {
			return regexp.MustCompile(`,"__confirm_id":"[^"]*"`).ReplaceAllString(confirmed(t, c), "")
		}, mcpcore.CodePayloadRequired},
		{"another payload", func(t *testing.T, c *client, _ *ledger) string {
			return strings.Replace(confirmed(t, c), "Fire", "Flood", 1)
		}, mcpcore.CodePayloadMismatch},
		{"an approval of another payload", func(t *testing.T, c *client, _ *ledger) string {
			a, b := c.call(t, "notice_send", goodUpdate), c.call(t, "notice_send", other)
			a.data["approval_id"] = b.data["approval_id"]
			return confirmWith(goodUpdate, a)
		}, mcpcore.CodeApprovalMismatch},
		{"an id nobody issued", func(t *testing.T, c *client, _ *ledger) string {
			return regexp.MustCompile(`("__confirm_id":)"[^"]*"`).ReplaceAllString(confirmed(t, c), `$1"approval-9"`)
		}, mcpcore.CodeApprovalMissing},
		{"too late", func(t *testing.T, c *client, l *ledger) string {
			args := confirmed(t, c)
			l.pass(6 * time.Minute)
			return args
		}, mcpcore.CodeApprovalExpired},
		{"a ledger that is down at the preview", func(_ *testing.T, _ *client, l *ledger) string {
			l.down = errors.New("canary-dsn")
			return goodUpdate
		}, mcpcore.CodeLedger},
		{"a ledger that is down at the end", func(t *testing.T, c *client, l *ledger) string {
			args := confirmed(t, c)
			l.down = errors.New("canary-dsn")
			return args
		}, mcpcore.CodeLedger},
		{"a person who has not decided", func(t *testing.T, c *client, l *ledger) string {
			args := confirmed(t, c)
			l.down = fmt.Errorf("canary: %w", mcpcore.ErrApprovalPending)
			return args
		}, mcpcore.CodeHumanPending},
		{"a person who said no", func(t *testing.T, c *client, l *ledger) string {
			args := confirmed(t, c)
			l.down = fmt.Errorf("canary: %w", mcpcore.ErrApprovalRefused)
			return args
		}, mcpcore.CodeHumanRefused},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d, l := &desk{}, newLedger()
			deps := d.deps()
			deps.Ledger = l
			c := connect(t, deps)
			a := c.refused(t, "notice_send", row.args(t, c, l), row.want)
			if d.runs() != nil {
				t.Errorf("the handler ran: %v", d.runs())
			}
			if strings.Contains(a.everything(), "canary") {
				t.Errorf("the ledger's own words reached the client: %s", a.everything())
			}
			if row.want == mcpcore.CodePayloadMismatch && a.data["approval_id"] != string(l.issued[1].ID) {
				t.Error("the refusal offers no fresh approval")
			}
		})
	}
}

func TestReceivedHashIsEchoedOnlyWhenItIsOne(t *testing.T) {
	t.Parallel()
	c := connect(t, new(desk).deps())
	hash := strings.Repeat("0a", 32)
	for sent, want := range map[string]string{
		hash: hash, strings.ToUpper(hash): "[invalid]", "canary": "[invalid]", strings.Repeat("<script>", 8): "[invalid]",
	} {
		args := strings.TrimSuffix(goodUpdate, "}") + `,"__confirm":true,"__confirm_hash":"` + sent + `"}`
		if a := c.refused(t, "notice_send", args, mcpcore.CodePayloadMismatch); a.data["received_hash"] != want {
			t.Errorf("%s is answered by %v", sent, a.data["received_hash"])
		}
	}
}

// Both keys are needed for a payload too.
func TestPayloadOfAServerThatIsNotArmed(t *testing.T) {
	t.Parallel()
	d, l := &desk{}, newLedger()
	deps := d.deps()
	deps.Ledger, deps.Armed = l, false
	c := connect(t, deps)
	a := c.refused(t, "notice_send", confirmed(t, c), mcpcore.CodePayloadRequired)
	if !strings.Contains(a.text, "MCP_DRY_RUN=false") {
		t.Errorf("it does not say who must do what: %s", a.text)
	}
	if d.runs() != nil || l.spends != 0 {
		t.Errorf("ran %v, spent %d", d.runs(), l.spends)
	}
}

// An approval is its principal's own.
func TestApprovalOfSomebodyElse(t *testing.T) {
	t.Parallel()
	d := &desk{}
	deps := d.deps()
	who := "ann"
	deps.Identify = func(context.Context, *mcp.CallToolRequest) (string, error) { return who, nil }
	c := connect(t, deps)
	args := confirmed(t, c)
	who = "bob"
	c.refused(t, "notice_send", args, mcpcore.CodeApprovalMismatch)
	who = "ann"
	c.passed(t, "notice_send", args)
}

func TestOfConcurrentCallsOneSpends(t *testing.T) {
	t.Parallel()
	d := &desk{}
	c := connect(t, d.deps())
	args := confirmed(t, c)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if a := c.call(t, "notice_send", args); a.IsError && a.code() != mcpcore.CodeApprovalReplayed {
				t.Errorf("answers %s", a.code())
			}
		})
	}
	wg.Wait()
	if got := len(d.runs()); got != 1 {
		t.Errorf("the handler ran %d times", got)
	}
}

func TestFailingHandlerDoesNotGiveTheApprovalBack(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"an error": func() error { return mcpcore.Errorf(mcpcore.CodeServerError, "Discord has trouble") },
		"a panic":  func() error { panic("canary") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &desk{}
			deps := d.deps()
			failing := mcpcore.Define(d.notice(), func(context.Context, *mcpcore.Call, ticketUpdate) (done, error) { return done{}, fail() })
			deps.Tools = []mcpcore.Tool{failing}
			c := connect(t, deps)
			args := confirmed(t, c)
			if a := c.call(t, "notice_send", args); !a.IsError {
				t.Error("it passed")
			}
			c.refused(t, "notice_send", args, mcpcore.CodeApprovalReplayed)
		})
	}
}

// Number tokens keep their form in the hash: 1 and 1.0 are two payloads.
func TestHashIsOfTheExactTokens(t *testing.T) {
	t.Parallel()
	type priced struct {
		Price float64        `json:"price"`
		Extra map[string]any `json:"extra,omitempty"`
	}
	deps := new(desk).deps()
	tool := mcpcore.Define(new(desk).notice(), func(context.Context, *mcpcore.Call, priced) (done, error) { return done{}, nil })
	deps.Tools = []mcpcore.Tool{tool}
	c := connect(t, deps)
	hashes := map[any]string{}
	for _, args := range []string{`{"price":1}`, `{"price":1.0}`, `{"price":1,"extra":{}}`, `{"price":1,"extra":{"a":[1,2]}}`, `{"price":1,"extra":{"a":[2,1]}}`} {
		hash := c.call(t, "notice_send", args).data["payload_hash"]
		if before, twice := hashes[hash]; twice {
			t.Errorf("%s and %s have one hash", before, args)
		}
		hashes[hash] = args
	}
	a := c.call(t, "notice_send", `{"price":1,"extra":{"b":1,"a":2}}`).data["payload_hash"]
	b := c.call(t, "notice_send", ` { "extra" : {"a":2, "b":1}, "price" : 1 } `).data["payload_hash"]
	if a != b {
		t.Error("the order of keys and white space change the hash")
	}
}

// What cannot be read cannot be confirmed.
func TestFactsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		facts func(context.Context, *mcpcore.Call) (mcpcore.Facts, error)
		want  mcpcore.Code
	}{
		"an error": {func(context.Context, *mcpcore.Call) (mcpcore.Facts, error) { return nil, errors.New("canary") }, mcpcore.CodeInternal},
		"an agent's word": {func(context.Context, *mcpcore.Call) (mcpcore.Facts, error) {
			return nil, mcpcore.Errorf(mcpcore.CodeNotFound, "gone")
		}, mcpcore.CodeNotFound},
		"a panic": {func(context.Context, *mcpcore.Call) (mcpcore.Facts, error) { panic("canary") }, mcpcore.CodeInternal},
	} {
		d := &desk{}
		deps := d.deps()
		tool := d.delete()
		tool.Facts = row.facts
		deps.Tools = []mcpcore.Tool{tool}
		if a := connect(t, deps).refused(t, "ticket_delete", `{"ticket":7}`, row.want); strings.Contains(a.everything(), "canary") {
			t.Errorf("%s reached the client: %s", name, a.everything())
		}
	}
}
