package workflows_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/discordtools/sandbox"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/operationtest"
)

func flagged(flags int) func(*sandbox.Discord) {
	return func(d *sandbox.Discord) { d.SetApplicationFlags(flags) }
}

// Flags of an application: its members and its contents, an activity, and one that
// nobody documents.
const (
	flagMembers  = 1 << 15
	flagContent  = 1 << 19
	flagActivity = 1 << 17
	flagNobodys  = 1 << 27
)

func enabling(intent string) scene {
	args := func(more string) string { return ofTheApplication(more + `"rationale":"canary-reason"`) }
	const acknowledged = `"acknowledgePrivilegeExpansion":true,`
	return scene{
		Subject: operationtest.Subject{
			Workflow: "application-intent-enablement", Plan: "plan_application_intent_enablement", Execute: "execute_application_intent_enablement",
			Args: args(acknowledged + `"intent":"` + intent + `",`),
			Permit: mcpcore.Permit{Enabled: true, Scopes: map[string][]string{
				"applications": {string(sandbox.ApplicationID)}, "intents": {intent},
			}},
			Resource: string(sandbox.ApplicationID), Secrets: []string{"canary"},
			Refusals: []operationtest.Refusal{
				otherApplication("application-intent-enablement", acknowledged+`"intent":"`+intent+`","rationale":"x"`),
				{Name: "not acknowledged", Args: args(`"intent":"` + intent + `",`), Code: mcpcore.CodeValidation},
				{Name: "no reason", Args: ofTheApplication(acknowledged + `"intent":"` + intent + `"`), Code: mcpcore.CodeValidation},
				{Name: "presences", Args: args(acknowledged + `"intent":"GUILD_PRESENCES",`), Code: mcpcore.CodeValidation},
				{Name: "raw flags", Args: args(acknowledged + `"intent":"` + intent + `","flags":8192,`), Code: mcpcore.CodeValidation},
				{Name: "an intent that the policy does not name", Code: mcpcore.CodeWorkflowScope, Policy: func(p *mcpcore.WorkflowPolicy) {
					p.Permits["application-intent-enablement"] = mcpcore.Permit{Enabled: true, Scopes: map[string][]string{"applications": {string(sandbox.ApplicationID)}}}
				}},
			},
		},
		Route: "PATCH /applications/@me", ReadBack: "GET /applications/@me", Skip: 4,
	}
}

func enablingContent() scene {
	s := enabling("MESSAGE_CONTENT")
	const has = flagMembers | flagActivity | flagNobodys
	s.Sends = []string{fmt.Sprintf(`PATCH /applications/@me {"flags":%d}`, has|flagContent)}
	s.Before, s.Change, s.Settle = flagged(has), flagged(has&^flagNobodys), flagged(has|flagContent)
	return s
}

func TestContentIntentEnablement(t *testing.T) {
	t.Parallel()
	enablingContent().run(t)
}

func TestMembersIntentEnablement(t *testing.T) {
	t.Parallel()
	s := enabling("GUILD_MEMBERS")
	s.Sends = []string{fmt.Sprintf(`PATCH /applications/@me {"flags":%d}`, flagContent|flagMembers)}
	s.Before, s.Change, s.Settle = flagged(flagContent), flagged(flagContent|flagActivity), flagged(flagMembers)
	s.Refusals = nil
	s.run(t)
}

// An application that Discord approved has an intent by another flag.
func TestIntentThatIsApproved(t *testing.T) {
	t.Parallel()
	for intent, flags := range map[string]int{"MESSAGE_CONTENT": 1 << 18, "GUILD_MEMBERS": 1 << 14} {
		s := enabling(intent)
		s.Before = flagged(flags)
		if e, _ := s.once(t); e.Status != "already-current" || e.Writes != 0 {
			t.Errorf("%s: it answers %+v", intent, e)
		}
	}
}

// The flags of the application are bound and not shown.
func TestApplicationFlagsAreNotTold(t *testing.T) {
	t.Parallel()
	s := enablingContent()
	c := s.client(t)
	c.call(s.Plan, strings.TrimSuffix(s.Args, "}")+`,"operationKey":"`+secondKey+`"}`)
	told := c.raw
	c.want(s.Execute, s.Args, "completed")
	told += c.raw
	const has = flagMembers | flagActivity | flagNobodys
	for _, flags := range []int{has, has | flagContent} {
		if strings.Contains(told, fmt.Sprint(flags)) {
			t.Errorf("%d is in %s", flags, told)
		}
	}
	if !strings.Contains(told, `"flags":"sha256:`) {
		t.Errorf("no digest is in %s", told)
	}
}

// What else changes is told; an intent that is not there, or an answer that says
// something else, leaves the outcome open.
func TestIntentThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	const has = flagMembers | flagActivity | flagNobodys
	for name, row := range map[string]struct {
		flags  int
		status string
		drift  string
	}{
		"another flag is set":    {has | flagContent | 1<<13, "completed-with-drift", "[otherFlags]"},
		"another one is taken":   {flagContent, "completed-with-drift", "[otherFlags]"},
		"it is approved instead": {has | 1<<18, "completed-with-drift", "[otherFlags]"},
		"it is disabled":         {has, "outcome-uncertain", "[]"},
	} {
		var d *sandbox.Discord
		s := enablingContent()
		before := s.Before
		s.Before = func(made *sandbox.Discord) { d = made; before(d) }
		s.REST = later(&d, "/applications/@me", 5, flagged(row.flags))
		if e, _ := s.once(t); e.Status != row.status || fmt.Sprint(e.Drift) != row.drift {
			t.Errorf("%s: it answers %+v", name, e)
		}
	}
	for name, row := range map[string]struct{ from, to string }{
		"another application":  {`"id":"1100000000000000001"`, `"id":"1100000000000000002"`},
		"fewer flags":          {fmt.Sprintf(`"flags":%d`, has|flagContent), fmt.Sprintf(`"flags":%d`, flagContent)},
		"without the intent":   {fmt.Sprintf(`"flags":%d`, has|flagContent), fmt.Sprintf(`"flags":%d`, has)},
		"no flags":             {fmt.Sprintf(`"flags":%d`, has|flagContent), `"flag":1`},
		"something else at it": {fmt.Sprintf(`"flags":%d`, has|flagContent), `"flags":"x"`},
	} {
		s := enablingContent()
		s.REST = func(rest discordtools.REST) discordtools.REST {
			return answering{rest, nil, func(r *discordtools.Response) *discordtools.Response {
				if !bytes.Contains(r.Body, []byte(row.from)) {
					t.Errorf("%s: %s is not in %s", name, row.from, r.Body)
				}
				r.Body = bytes.Replace(r.Body, []byte(row.from), []byte(row.to), 1)
				return r
			}}
		}
		if e, r := s.once(t); e.Code != mcpcore.CodeOutcomeUnknown || r.Status != mcpcore.StatusUncertain || e.Writes != 1 {
			t.Errorf("%s: it answers %+v and keeps %+v", name, e, r)
		}
	}
}
