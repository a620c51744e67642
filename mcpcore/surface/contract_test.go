package surface_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
	"github.com/guildwarden/guildwarden/mcpcore/surface"
)

type input struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel"`
	Loud      bool              `json:"loud,omitempty" jsonschema:"with sound"`
}

type secretInput struct {
	Token discord.WebhookToken `json:"token" jsonschema:"token"`
}

type output struct {
	OK bool `json:"ok"`
}

// tool is a tool in which only what matters to the contract differs.
func tool[In any](name string, effect mcpcore.Effect, scope mcpcore.Scope, change func(*mcpcore.Tool)) mcpcore.Tool {
	t := mcpcore.Tool{Name: name, Title: "A tool", Doc: "Does something.", Category: "tickets", Effect: effect, Scope: scope}
	if change != nil {
		change(&t)
	}
	return mcpcore.Define(t, func(context.Context, *mcpcore.Call, In) (output, error) { return output{true}, nil })
}

// part is a tool of the workflow ticket-change.
func part(name string, role mcpcore.Role, change func(*mcpcore.Tool)) mcpcore.Tool {
	effect := mcpcore.Read
	if role == mcpcore.Execute {
		effect = mcpcore.Write
	}
	return tool[input](name, effect, mcpcore.ChannelScope, func(t *mcpcore.Tool) {
		t.Part = mcpcore.Part{Workflow: "ticket-change", Role: role}
		if role == mcpcore.Execute {
			t.Gate = mcpcore.Reviewed
		}
		if change != nil {
			change(t)
		}
	})
}

func workflow() []mcpcore.Tool {
	return []mcpcore.Tool{
		part("plan_ticket_change", mcpcore.Plan, nil), part("execute_ticket_change", mcpcore.Execute, nil),
		part("verify_ticket_change", mcpcore.Verify, nil), part("list_ticket_states", mcpcore.Companion, nil),
	}
}

func contract(t *testing.T, tools []mcpcore.Tool, policies ...mcpcore.Policy) *surface.Contract {
	t.Helper()
	c, err := surface.NewContract(tools, nil, policies...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClassesFollowFromTheDeclaration(t *testing.T) {
	t.Parallel()
	tools := append(workflow(),
		tool[input]("here", mcpcore.Read, mcpcore.LocalScope, nil),
		tool[input]("look", mcpcore.Read, mcpcore.GuildScope, nil),
		tool[input]("ask", mcpcore.Read, mcpcore.ExternalScope, nil),
		tool[input]("change", mcpcore.Write, mcpcore.GuildScope, nil),
		tool[input]("change_here", mcpcore.Write, mcpcore.LocalScope, nil),
		tool[input]("remove", mcpcore.Destroy, mcpcore.GuildScope, nil),
		tool[input]("public", mcpcore.Read, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.Anonymous = true }),
		tool[secretInput]("by_token", mcpcore.Write, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.Anonymous = true }),
		tool[input]("run", mcpcore.Write, mcpcore.LocalScope, func(t *mcpcore.Tool) {
			t.Steps = func(*mcpcore.Call) ([]mcpcore.Step, error) { return nil, nil }
		}),
	)
	c := contract(t, tools)
	for name, want := range map[string]string{
		"plan_ticket_change":    "reviewed-plan ticket-change bot-token all-listed none",
		"execute_ticket_change": "reviewed-execution ticket-change bot-token all-listed reviewed",
		"verify_ticket_change":  "receipt-verification ticket-change bot-token all-listed none",
		"list_ticket_states":    "live-read ticket-change bot-token all-listed none",
		"here":                  "local category:tickets none none none",
		"look":                  "live-read category:tickets bot-token none none",
		"ask":                   "live-read category:tickets external-service none none",
		"change":                "guarded-write category:tickets bot-token none none",
		"change_here":           "guarded-write category:tickets none none none",
		"remove":                "guarded-write category:tickets bot-token none two-key",
		"public":                "live-read category:tickets none none none",
		"by_token":              "guarded-write category:tickets token-in-arguments none none",
		"run":                   "guarded-write category:tickets by-step by-step none",
	} {
		a, ok := c.Access(name)
		got := strings.Join([]string{string(a.Class), a.Toolset, string(a.Authentication), string(a.Permissions.Mode), a.Gate.Kind}, " ")
		if !ok || got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	a, _ := c.Access("verify_ticket_change")
	want := &surface.Membership{Name: "ticket-change", Role: "verify", Companions: []string{"execute_ticket_change", "list_ticket_states", "plan_ticket_change"}}
	if diff := cmp.Diff(want, a.Workflow); diff != "" {
		t.Error(diff)
	}
}

func TestEntrySaysWhatACallDemands(t *testing.T) {
	t.Parallel()
	send := tool[input]("send", mcpcore.Destroy, mcpcore.ChannelScope, func(t *mcpcore.Tool) {
		t.Needs, t.NeedsIn, t.Outranks, t.Intents = discord.SendMessages, "channel_id", "channel_id", discord.MessageContent
		t.NeedsWhen = []mcpcore.Need{{Arg: "loud", Equals: "true", Permissions: discord.SendTTSMessages}, {Arg: "loud", Unless: "false"}}
		t.Require = []mcpcore.Precondition{{Name: "open", Fields: []string{"__confirm"}}}
		t.Routes, t.Locked, t.Crosses = []string{"POST /channels/{channel_id}/messages"}, true, true
	})
	c := contract(t, []mcpcore.Tool{send}, mcpcore.Policy{
		Name: "careful", Person: true, Require: []mcpcore.Precondition{{Name: "asked", Fields: []string{"__consent"}}},
	}, mcpcore.Policy{Name: "of others", Match: func(t *mcpcore.Tool) bool { return t.Name == "other" }, Require: []mcpcore.Precondition{{Name: "never"}}})
	const want = `{"authentication":"bot-token","class":"guarded-write","crossesGuilds":true,"effect":"destroy",` +
		`"gate":{"fields":["__confirm","__consent"],"kind":"two-key","person":true,"preconditions":["open"]},"identityLock":true,` +
		`"intents":["MESSAGE_CONTENT"],"name":"send","outranks":"channel_id","permissions":{"always":["VIEW_CHANNEL","SEND_MESSAGES"],` +
		`"in":"channel_id","mode":"conditional","when":[{"argument":"loud","equals":true,"permissions":["SEND_TTS_MESSAGES"]},` +
		`{"argument":"loud","permissions":[],"unless":false}]},"repeatable":false,"routes":["POST /channels/{channel_id}/messages"],` +
		`"targetScope":"channel","toolset":"category:tickets"}`
	if got := string(c.Of(&send)); got != want {
		t.Errorf("the entry is\n%s\nwant\n%s", got, want)
	}
	if other := tool[input]("other", mcpcore.Read, mcpcore.LocalScope, nil); c.Of(&other) != nil {
		t.Error("a tool that is not covered has an entry")
	}
}

// TestDocumentsAreOne holds the documents against each other: none grants
// anything, all have the digest of the same manifest, and that is of its bytes
// alone.
func TestDocumentsAreOne(t *testing.T) {
	t.Parallel()
	tools := append(workflow(), tool[input]("look", mcpcore.Read, mcpcore.GuildScope, nil))
	c := contract(t, tools)
	entry, ok := c.Entry("look")
	if !ok {
		t.Fatal("no entry")
	}
	if _, ok := c.Entry("looks"); ok {
		t.Error("an unknown tool has an entry")
	}
	for name, document := range map[string][]byte{surface.ManifestFormat: c.Manifest(), surface.IndexFormat: c.Index(), surface.EntryFormat: entry} {
		var d struct {
			Format           string
			AuthorityGranted *bool
			ManifestDigest   string
		}
		if err := json.Unmarshal(document, &d); err != nil {
			t.Fatal(err)
		}
		if d.Format != name || d.AuthorityGranted == nil || *d.AuthorityGranted {
			t.Errorf("%s: %+v", name, d)
		}
		if name != surface.ManifestFormat && d.ManifestDigest != c.Digest() {
			t.Errorf("%s has the digest %s, the manifest %s", name, d.ManifestDigest, c.Digest())
		}
	}
	slices.Reverse(tools)
	if again := contract(t, tools); again.Digest() != c.Digest() || string(again.Manifest()) != string(c.Manifest()) {
		t.Error("the contract depends on the order of the tools")
	}
	tools[0].Needs = discord.BanMembers
	if contract(t, tools).Digest() == c.Digest() {
		t.Error("another requirement has the same digest")
	}
	c.Manifest()[0] = 'x'
	if c.Manifest()[0] != '{' {
		t.Error("a caller can change the manifest")
	}
	if empty := contract(t, nil); empty.Len() != 0 || !json.Valid(empty.Index()) || strings.Contains(string(empty.Manifest()), "null") {
		t.Errorf("the contract of no tools is %s", empty.Manifest())
	}
}

func TestTopology(t *testing.T) {
	t.Parallel()
	without := func(names ...string) []mcpcore.Tool {
		return slices.DeleteFunc(workflow(), func(t mcpcore.Tool) bool { return slices.Contains(names, t.Name) })
	}
	with := func(t mcpcore.Tool) []mcpcore.Tool { return append(workflow(), t) }
	for name, row := range map[string]struct {
		tools []mcpcore.Tool
		want  string // "" builds
	}{
		"a whole workflow":             {workflow(), ""},
		"without what it may lack":     {without("verify_ticket_change", "list_ticket_states"), ""},
		"two names":                    {append(without(), tool[input]("list_ticket_states", mcpcore.Read, mcpcore.LocalScope, nil)), `tool "list_ticket_states" is declared twice`},
		"a plan alone":                 {without("execute_ticket_change"), `workflow "ticket-change" has no execute tool`},
		"an execute alone":             {without("plan_ticket_change"), `workflow "ticket-change" has no plan tool`},
		"a companion alone":            {[]mcpcore.Tool{part("list_ticket_states", mcpcore.Companion, nil)}, `workflow "ticket-change" has no plan tool`},
		"a verify alone":               {[]mcpcore.Tool{part("verify_ticket_change", mcpcore.Verify, nil)}, `has no execute tool`},
		"two plans":                    {with(part("plan_ticket", mcpcore.Plan, nil)), `has 2 plan tools: plan_ticket, plan_ticket_change`},
		"two executes":                 {with(part("execute_ticket", mcpcore.Execute, nil)), `has 2 execute tools`},
		"two verifies":                 {with(part("verify_ticket", mcpcore.Verify, nil)), `has 2 verify tools`},
		"an execute without its gate":  {with(part("x", mcpcore.Execute, func(t *mcpcore.Tool) { t.Gate = mcpcore.TwoKey })), `tool "x": it executes a reviewed plan and its gate is two-key`},
		"an execute that reads":        {with(part("x", mcpcore.Execute, func(t *mcpcore.Tool) { t.Effect, t.Gate = mcpcore.Read, mcpcore.NoGate })), `tool "x": it is an execute tool and changes nothing`},
		"a plan that writes":           {with(part("x", mcpcore.Plan, func(t *mcpcore.Tool) { t.Effect = mcpcore.Write })), `tool "x": it is a plan and changes something`},
		"a companion that writes":      {with(part("x", mcpcore.Companion, func(t *mcpcore.Tool) { t.Effect = mcpcore.Write })), `tool "x": it is a companion and changes something`},
		"called reviewed, no workflow": {with(tool[input]("x", mcpcore.Write, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.Gate = mcpcore.Reviewed })), `tool "x": its gate is reviewed and it executes no plan`},
		"a companion of no workflow":   {with(part("x", mcpcore.Companion, func(t *mcpcore.Tool) { t.Part.Workflow = "" })), `tool "x": it is a companion of no workflow`},
		"a workflow without a role":    {with(part("x", mcpcore.Alone, nil)), `tool "x": it is of the workflow "ticket-change" and has no role`},
		"an unknown role":              {with(part("x", 9, nil)), `tool "x": it has no known role`},
		"a workflow like a category":   {with(part("x", mcpcore.Companion, func(t *mcpcore.Tool) { t.Part.Workflow = "category:x" })), `the name of its workflow, "category:x", must match`},
		"a gate before a read":         {with(tool[input]("x", mcpcore.Read, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.Gate = mcpcore.TwoKey })), `tool "x": it only reads and has the gate two-key`},
		"a local tool with a route":    {with(tool[input]("x", mcpcore.Read, mcpcore.LocalScope, func(t *mcpcore.Tool) { t.Routes = []string{"GET /users/@me"} })), `tool "x": it is local and uses the route GET /users/@me`},
		"no title":                     {with(tool[input]("x", mcpcore.Read, mcpcore.LocalScope, func(t *mcpcore.Tool) { t.Title = " " })), `tool "x": it has no title`},
		"no doc":                       {with(tool[input]("x", mcpcore.Read, mcpcore.LocalScope, func(t *mcpcore.Tool) { t.Doc = "" })), `tool "x": it has no doc`},
		"no schemas":                   {with(mcpcore.Tool{Name: "x", Title: "X", Doc: "X.", Effect: mcpcore.Read, Scope: mcpcore.LocalScope}), `tool "x": it has no output schema`},
		"no scope":                     {with(tool[input]("x", mcpcore.Read, 0, nil)), `tool "x": it has no known scope`},
		"a condition that is no JSON":  {with(tool[input]("x", mcpcore.Read, mcpcore.GuildScope, func(t *mcpcore.Tool) { t.NeedsWhen = []mcpcore.Need{{Arg: "loud", Equals: "yes"}} })), `tool "x": NeedsWhen of "loud" compares with "yes"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := surface.NewContract(row.tools, nil)
			switch {
			case row.want == "" && err != nil:
				t.Error(err)
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("the error is %v, want %s", err, row.want)
			}
		})
	}
}
