package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/policy"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

type seat struct {
	Hall  string   `json:"hallId" jsonschema:"hall"`
	Users []string `json:"userIds" jsonschema:"who leaves" minItems:"1"`
}

type seats struct {
	Taken []string `json:"taken"`
}

// removal frees seats in halls: a workflow without Discord.
func removal(emptied *[]string) mcpcore.Workflow {
	return mcpcore.Operation[seat, seats]{
		Name: "seat-removal", Title: "Free seats", Doc: "Frees seats.", Category: "halls", Effect: mcpcore.Write, Scope: mcpcore.LocalScope,
		Scopes: []mcpcore.PolicyScope{
			{Name: "guilds", Arg: "hallId", Doc: "halls whose seats may be freed"},
			{Name: "alertChannels", Doc: "where it may be told"},
		},
		Limits:   []mcpcore.PolicyLimit{{Name: "maxSeats", Default: 5, Max: 20, Doc: "seats at once"}},
		Protects: []string{"userIds"},
		Plan: func(_ context.Context, c *mcpcore.Call, in seat) (mcpcore.Change[seats], error) {
			if len(in.Users) > c.Limit("maxSeats") {
				return mcpcore.Change[seats]{}, mcpcore.Errorf(mcpcore.CodePlanRefused, "too many seats")
			}
			return mcpcore.Change[seats]{Action: "free", State: seats{in.Users}}, nil
		},
		Targets: func(in seat, _ seats) []mcpcore.Target { return []mcpcore.Target{{Kind: "hall", ID: in.Hall}} },
		Apply: func(_ context.Context, _ *mcpcore.Call, in seat, _ seats) (mcpcore.Written, error) {
			*emptied = append(*emptied, in.Users...)
			return mcpcore.Written{ID: in.Hall}, nil
		},
		ReadBack: func(context.Context, *mcpcore.Call, seat, seats, mcpcore.Written) (mcpcore.Reading, error) {
			return mcpcore.Reading{}, nil
		},
	}.Workflow()
}

// invoices is another, whose ids are not Discord's.
func invoices() mcpcore.Workflow {
	return mcpcore.Operation[struct {
		Customer string `json:"customer" jsonschema:"who"`
	}, seats]{
		Name: "invoice-sending", Title: "Send an invoice", Doc: "Sends.", Category: "post", Effect: mcpcore.Destroy, Scope: mcpcore.LocalScope,
		Scopes: []mcpcore.PolicyScope{{Name: "customers", Arg: "customer", Doc: "who may get invoices", Pattern: `[a-z]+(-[a-z]+)*`}},
	}.Workflow()
}

func declared() policy.Declared {
	return policy.Declared{
		Workflows: []mcpcore.Workflow{removal(new([]string)), invoices()},
		Toolsets:  []surface.Toolset{{Name: "category:halls"}, {Name: "read-only"}, {Name: "seat-removal"}},
	}
}

const whole = `{
  "$schema": "policy.schema.json",
  "schemaVersion": 1,
  "protectedUsers": ["@staff", "1200000000000000109"],
  "groups": {
    "users": {"staff": ["1200000000000000101", "1200000000000000102"]},
    "guilds": {"halls": ["1200000000000000001"]}
  },
  "toolsets": ["seat-removal", "read-only"],
  "surface": "progressive",
  "workflows": {
    "seat-removal": {
      "enabled": true,
      "scopes": {"guilds": ["@halls", "1200000000000000002"], "alertChannels": []},
      "limits": {"maxSeats": 2}
    },
    "invoice-sending": {"enabled": false, "scopes": {"customers": ["lantern-cafe"]}}
  }
}`

func TestDocumentSaysWhatIsAllowed(t *testing.T) {
	t.Parallel()
	got, err := declared().Parse("policy.json", []byte("\ufeff"+whole))
	if err != nil {
		t.Fatal(err)
	}
	want := policy.Policy{
		Toolsets: []string{"seat-removal", "read-only"}, Surface: policy.Progressive,
		Workflows: mcpcore.WorkflowPolicy{
			Source:    "policy.json",
			Protected: []string{"1200000000000000101", "1200000000000000102", "1200000000000000109"},
			Permits: map[string]mcpcore.Permit{
				"seat-removal": {
					Enabled: true, Limits: map[string]int{"maxSeats": 2},
					Scopes: map[string][]string{"guilds": {"1200000000000000001", "1200000000000000002"}, "alertChannels": {}},
				},
				"invoice-sending": {Scopes: map[string][]string{"customers": {"lantern-cafe"}}},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := got.Enabled(); len(got) != 1 || got[0] != "seat-removal" {
		t.Errorf("it enables %v", got)
	}
	least, err := declared().Parse("policy.json", []byte(`{"schemaVersion":1}`))
	if err != nil || least.Enabled() != nil || least.Toolsets != nil || least.Surface != "" {
		t.Errorf("the least document says %+v, %v", least, err)
	}
}

// problem is a change of the whole document that makes it wrong, and what is
// said about it.
type problem struct{ old, new, says string }

// ofForm can be told by the schema, ofSense not.
var ofForm = []problem{
	{`"schemaVersion": 1,`, ``, `policy.json: schemaVersion: is missing: 1`},
	{`"schemaVersion": 1`, `"schemaVersion": 2`, `policy.json: schemaVersion: must be 1`},
	{`"schemaVersion": 1`, `"schemaVersion": "1"`, `policy.json: schemaVersion: must be 1`},
	{`"protectedUsers"`, `"protectedUser"`, `policy.json: protectedUser: there is no such member of a policy; did you mean "protectedUsers"?`},
	{`"seat-removal": {`, `"seat-removl": {`, `policy.json: workflows.seat-removl: there is no such workflow; did you mean "seat-removal"?`},
	{`"seat-removal": {`, `"bulk-ban": {`, `policy.json: workflows.bulk-ban: there is no such workflow; there are: invoice-sending, seat-removal`},
	{`"enabled": true,`, ``, `policy.json: workflows.seat-removal.enabled: is missing: true or false, without quotes`},
	{`"enabled": true`, `"enabled": "true"`, `policy.json: workflows.seat-removal.enabled: must be true or false, without quotes`},
	{`"enabled": true`, `"enabled": null`, `policy.json: workflows.seat-removal.enabled: must be true or false, without quotes`},
	{`{"guilds": ["@halls"`, `{"guild": ["@halls"`, `policy.json: workflows.seat-removal.scopes.guild: there is no such scope of seat-removal; did you mean "guilds"?`},
	{`"1200000000000000002"`, `1200000000000000002`, `policy.json: workflows.seat-removal.scopes.guilds[1]: must be a text, in quotes`},
	{`"1200000000000000002"`, `"12000"`, `policy.json: workflows.seat-removal.scopes.guilds[1]: "12000" must be an id of 17 to 20 digits, or a group such as "@name"`},
	{`"1200000000000000002"`, `"@halls"`, `policy.json: workflows.seat-removal.scopes.guilds[1]: is the same as item 0; name it once`},
	{`["@halls", "1200000000000000002"]`, `"@halls"`, `policy.json: workflows.seat-removal.scopes.guilds: must be a list, in [ ]`},
	{`["@halls", "1200000000000000002"]`, many(1001), `policy.json: workflows.seat-removal.scopes.guilds: must have at most 1000 items, and has 1001`},
	{`"maxSeats": 2`, `"maxSeats": 21`, `policy.json: workflows.seat-removal.limits.maxSeats: must be a whole number from 0 to 20`},
	{`"maxSeats": 2`, `"maxSeats": -1`, `policy.json: workflows.seat-removal.limits.maxSeats: must be a whole number from 0 to 20`},
	{`"maxSeats": 2`, `"maxSeats": 1.5`, `policy.json: workflows.seat-removal.limits.maxSeats: must be a whole number from 0 to 20`},
	{`"maxSeats": 2`, `"maxUsers": 2`, `policy.json: workflows.seat-removal.limits.maxUsers: there is no such limit of seat-removal; there are: maxSeats`},
	{`["lantern-cafe"]}`, `["lantern-cafe"]},"limits":{}`, `policy.json: workflows.invoice-sending.limits: there is no such member of a workflow; there are: enabled, scopes`},
	{`"lantern-cafe"`, `"Lantern Cafe"`, `policy.json: workflows.invoice-sending.scopes.customers[0]: "Lantern Cafe" must be of the form [a-z]+(-[a-z]+)*`},
	{`"lantern-cafe"`, `"@friends"`, `policy.json: workflows.invoice-sending.scopes.customers[0]: "@friends" must be of the form [a-z]+(-[a-z]+)*`},
	{`"progressive"`, `"progrssive"`, `policy.json: surface: there is no surface "progrssive"; did you mean "progressive"?`},
	{`"read-only"`, `"halls"`, `policy.json: toolsets[1]: there is no toolset "halls"; did you mean "category:halls"?`},
	{`["seat-removal", "read-only"]`, `[]`, `policy.json: toolsets: must name at least one`},
	{`"groups": {`, `"groups": {"webhooks": {},`, `policy.json: groups.webhooks: there is no such kind of ids; there are: channels, guilds, roles, users`},
	{`"1200000000000000101"`, `"@halls"`, `policy.json: groups.users.staff[0]: "@halls" must be an id of 17 to 20 digits`},
	{`{"staff": ["1200000000000000101", "1200000000000000102"]}`, `{"staff": []}`, `policy.json: groups.users.staff: must name at least one`},
	{`"staff":`, `"The Staff":["1200000000000000103"],"staff":`, `policy.json: groups.users.The Staff: a group is named in lower-case letters, digits, - and _, such as "night-watch"`},
}

var ofSense = []problem{
	{`"@halls"`, `"@hals"`, `policy.json: workflows.seat-removal.scopes.guilds[0]: there is no group "hals" in groups.guilds; did you mean "@halls"?`},
	{`"@halls"`, `"@staff"`, `policy.json: workflows.seat-removal.scopes.guilds[0]: @staff is a group of users, and here stand guilds`},
	{`"alertChannels": []`, `"alertChannels": ["@loud"]`, `policy.json: workflows.seat-removal.scopes.alertChannels[0]: there is no group "loud" in groups.channels, which has none`},
	{`"@staff", "1200000000000000109"`, `"@staff", "1200000000000000101"`, `policy.json: protectedUsers[1]: 1200000000000000101 stands there twice, through @staff and its own id`},
	{`"1200000000000000002"`, `"99999999999999999999"`, `policy.json: workflows.seat-removal.scopes.guilds[1]: 99999999999999999999 is too large for an id`},
	{`"1200000000000000102"`, `"99999999999999999999"`, `policy.json: groups.users.staff[1]: 99999999999999999999 is too large for an id`},
	// What a schema never sees.
	{`"surface": "progressive"`, `"surface": "full", "surface": "progressive"`, `policy.json: surface stands twice; give each key once`},
	{`"surface": "progressive"`, `"Surface": "full", "surface": "progressive"`, `policy.json: surface differs from "Surface" only in case; give one of them`},
}

func many(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(1200000000000001000 + i)
	}
	b, _ := json.Marshal(list)
	return string(b)
}

// compiled is the published schema in the hands of somebody else.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	raw, err := declared().Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///schema", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///schema")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each row is one problem, told with its place and what to write, and the
// published schema judges alike.
func TestProblemsSayWhereAndWhatInstead(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	valid := func(text string) bool {
		t.Helper()
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		return schema.Validate(doc) == nil
	}
	if !valid(whole) || !valid(`{"schemaVersion":1}`) {
		t.Error("the schema refuses a good document")
	}
	for i, row := range append(ofForm, ofSense...) {
		text := strings.Replace(whole, row.old, row.new, 1)
		if text == whole {
			t.Errorf("row %d changes nothing: %s", i, row.old)
			continue
		}
		_, err := declared().Parse("policy.json", []byte(text))
		if err == nil || err.Error() != row.says {
			t.Errorf("%s\ngot  %v\nwant %s", row.new, err, row.says)
		}
		if i < len(ofForm) && valid(text) {
			t.Errorf("the schema takes %s", row.new)
		}
		if i >= len(ofForm)+2 && i < len(ofForm)+6 && !valid(text) {
			t.Errorf("the schema refuses %s", row.new)
		}
	}
}

func TestAllProblemsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"enabled": true`, `"enabled": 1`, `"@halls"`, `"@hals"`, `"maxSeats": 2`, `"maxSeats": 99`, `"surface"`, `"surfaces"`).Replace(whole)
	_, err := declared().Parse("policy.json", []byte(text))
	for _, want := range []string{"surfaces: ", "seat-removal.enabled: ", "limits.maxSeats: ", `no group "hals"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in:\n%v", want, err)
		}
	}
	if got := strings.Count(err.Error(), "\n"); got != 3 {
		t.Errorf("%d lines:\n%v", got+1, err)
	}
}

func TestWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"": "line 1 is not JSON", "{\n\"schemaVersion\": 1,\n}": "line 3 is not JSON", "[]": "a policy is a JSON object", "null": "a policy is a JSON object",
		`{"schemaVersion":1} {}`: "is not JSON", `{"schemaVersion":1}` + strings.Repeat(" ", policy.MaxBytes): "at most 131072 bytes",
	} {
		if _, err := declared().Parse("policy.json", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
	token := "MTIwMDAwMDAwMDAwMDAwMDAwMQ.G-fake." + strings.Repeat("not_a_Secret-", 3)
	_, err := declared().Parse("policy.json", []byte(strings.Replace(whole, "lantern-cafe", token, 1)))
	if err == nil || strings.Contains(err.Error(), "not_a_Secret") {
		t.Errorf("got %v", err)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "rules.json")
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := declared().Load(path)
	if err != nil || p.Workflows.Source != "rules.json" {
		t.Errorf("source %q, %v", p.Workflows.Source, err)
	}
	if _, err := declared().Load(filepath.Join(dir, "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := declared().Load(dir); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder: %v", err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := declared().Load(path); err == nil || !strings.Contains(err.Error(), "chmod o-w") {
		t.Errorf("a file that everybody can write: %v", err)
	}
}
